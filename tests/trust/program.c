/* SPDX-License-Identifier: BSD-3-Clause */
/* Touches everything that could open a library: devices, backends, the topology, the default
 * allocator of OpenMP, and with the argument "shmem" a job with its partitions. Prints which
 * backends are on and which libraries of drivers the process has mapped. */

#include <memspan/memspan.h>
#include <memspan/omp.h>
#include <shmem.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

static void print_libraries(void)
{
    static const char *const names[] = {"libOpenCL", "libze_",  "libcuda", "libamdhip",
                                        "libhwloc",  "libpmix", "libpocl", "hwloc_"};
    FILE *maps                       = fopen("/proc/self/maps", "r");
    char line[1024];

    while ((maps != NULL) && (fgets(line, sizeof(line), maps) != NULL)) {
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
            if (strstr(line, names[i]) != NULL) {
                printf("mapped %s\n", names[i]);
            }
        }
    }
    if (maps != NULL) {
        fclose(maps);
    }
}

static int touch_everything(void)
{
    void *block;

    printf("NUMA nodes %d\n", memspan_numa_node_count());
    printf("devices %d\n", memspan_device_count());
    for (int i = 0; i < memspan_backend_count(); i++) {
        memspan_backend_info_t info = {.struct_size = sizeof(info)};

        memspan_backend_describe(i, &info);
        printf("backend %s %s: %s\n", info.name, info.on ? "on" : "off", info.reason);
    }
    block = omp_alloc(100, omp_null_allocator);
    printf("block %s\n", (block != NULL) ? "yes" : "no");
    omp_free(block, omp_null_allocator);
    return (block != NULL) ? 0 : 1;
}

int main(int argc, char **argv)
{
    int status = 0;

    printf("secure %lu\n", getauxval(AT_SECURE));
    if ((argc > 1) && (strcmp(argv[1], "shmem") == 0)) {
        shmem_init();
        printf("PEs %d\n", shmem_n_pes());
        fflush(stdout);
        shmem_finalize();
    } else {
        status = touch_everything();
    }
    print_libraries();
    return status;
}
