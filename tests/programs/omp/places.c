/* SPDX-License-Identifier: BSD-3-Clause */
/* preferred_place has the numbers of the runtime's places, also where it has bound this thread to
 * the first one. The machine is described with a node for each processor. */
#define _GNU_SOURCE
#include <memspan/memspan.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NODES = 64, IDS = 1024 };

static int node_of(int place)
{
    memspan_trait_t trait         = {MEMSPAN_TRAIT_PREFERRED_PLACE, (uintptr_t)place};
    memspan_allocator_info_t info = {.struct_size = sizeof(info)};
    memspan_allocator_h allocator;
    const char *node;

    if (memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, &trait, 1, &allocator) != MEMSPAN_OK) {
        printf("%s\n", memspan_error_text());
        return -1;
    }
    memspan_allocator_describe(allocator, &info);
    node = strstr(info.why, "node ");
    return (node == NULL) ? -1 : atoi(node + 5);
}

/* Each place of the runtime is on the node of its first processor. */
static int check_places(void)
{
    int failures = 0;
    int place;

    for (place = 0; place < omp_get_num_places(); place++) {
        int ids[IDS] = {0};
        int node     = node_of(place);

        if ((omp_get_place_num_procs(place) > IDS)) {
            continue;
        }
        omp_get_place_proc_ids(place, ids);
        if ((ids[0] < NODES) && (node != ids[0])) {
            printf("place %d begins with processor %d, and its node is %d\n", place, ids[0], node);
            failures++;
        }
    }
    return failures;
}

static int run(const char *program, const char *places, const char *bind, int processor)
{
    char *const arguments[] = {(char *)program, "child", NULL};
    int status              = 1;
    pid_t child             = fork();
    cpu_set_t mask;

    if (child == 0) {
        setenv("OMP_PLACES", places, 1);
        setenv("OMP_PROC_BIND", bind, 1);
        setenv("HWLOC_SYNTHETIC", "pack:64 [numa(memory=8GB)] core:1 pu:1", 1);
        setenv("HWLOC_THISSYSTEM", "1", 1);
        CPU_ZERO(&mask);
        CPU_SET((size_t)processor, &mask);
        if (processor >= 0) {
            sched_setaffinity(0, sizeof(mask), &mask);
        }
        execv("/proc/self/exe", arguments);
        _exit(1);
    }
    waitpid(child, &status, 0);
    if (status != 0) {
        printf("OMP_PLACES=%s OMP_PROC_BIND=%s, processor %d\n", places, bind, processor);
    }
    return status != 0;
}

static int last_processor(void)
{
    cpu_set_t mask;
    int last = -1;
    int i;

    sched_getaffinity(0, sizeof(mask), &mask);
    for (i = 0; i < NODES; i++) {
        last = CPU_ISSET((size_t)i, &mask) ? i : last;
    }
    return last;
}

int main(int argc, char **argv)
{
    static const char *const places[] = {"threads", "cores"};
    int last                          = last_processor();
    int failures                      = 0;
    size_t i;

    if (argc > 1) {
        return check_places();
    }
    for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        failures += run(argv[0], places[i], "false", -1) + run(argv[0], places[i], "true", -1) +
                    run(argv[0], places[i], "false", last) + run(argv[0], places[i], "true", last);
    }
    return failures;
}
