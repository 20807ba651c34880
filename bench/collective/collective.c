/* SPDX-License-Identifier: BSD-3-Clause */
/* collective [CALL[,CALL...] [MOST_BYTES]]: what a collective of all PEs takes, by size; for the
 * thresholds of shmem/collective/table.c. Microseconds of PE 0: the best batch and the median one.
 *
 * Start it as any OpenSHMEM program. collective.sh compares algorithms. */

#include <shmem.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCHES = 9, BATCH_US = 20000, CALLS_MAX = 1000 };

static char *dest;
static char *source;

static double now_us(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return ((double)time.tv_sec * 1e6) + ((double)time.tv_nsec * 1e-3);
}

/* ---- calls ---- */

static void barrier(size_t size_bytes)
{
    (void)size_bytes;
    shmem_barrier_all();
}

/* The root changes, so that no PE is ahead of the others. */
static void broadcast(size_t size_bytes)
{
    static int root;

    shmem_broadcastmem(SHMEM_TEAM_WORLD, dest, source, size_bytes, root);
    root = (root + 1) % shmem_n_pes();
}

static void reduce(size_t size_bytes)
{
    shmem_int_sum_reduce(SHMEM_TEAM_WORLD, (int *)(void *)dest, (int *)(void *)source,
                         size_bytes / sizeof(int));
}

static void scan(size_t size_bytes)
{
    shmem_int_sum_inscan(SHMEM_TEAM_WORLD, (int *)(void *)dest, (int *)(void *)source,
                         size_bytes / sizeof(int));
}

static void fcollect(size_t size_bytes)
{
    shmem_fcollectmem(SHMEM_TEAM_WORLD, dest, source, size_bytes);
}

static void collect(size_t size_bytes)
{
    shmem_collectmem(SHMEM_TEAM_WORLD, dest, source, size_bytes);
}

static void alltoall(size_t size_bytes)
{
    shmem_alltoallmem(SHMEM_TEAM_WORLD, dest, source, size_bytes);
}

/* So many bytes to the next PE, 8 at a time: the slope is what a further message takes. */
static void puts_of_8(size_t size_bytes)
{
    size_t i;

    for (i = 0; (shmem_my_pe() == 0) && (i < size_bytes); i += sizeof(long)) {
        shmem_long_p((long *)(void *)(dest + i), 1, 1 % shmem_n_pes());
    }
    shmem_quiet();
}

static void allocate(size_t size_bytes)
{
    shmem_free(shmem_malloc(size_bytes));
}

static const struct call {
    const char *name;
    void (*run)(size_t size_bytes);
    bool has_sizes;
} calls[] = {
    {"barrier", barrier, false},  {"broadcast", broadcast, true},   {"reduce", reduce, true},
    {"scan", scan, true},         {"fcollect", fcollect, true},     {"collect", collect, true},
    {"alltoall", alltoall, true}, {"malloc+free", allocate, false}, {"puts", puts_of_8, true},
};

/* ---- measuring ---- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

static double batch(const struct call *call, size_t size_bytes, int count)
{
    double start;
    int i;

    shmem_barrier_all();
    start = now_us();
    for (i = 0; i < count; i++) {
        call->run(size_bytes);
    }
    return (now_us() - start) / count;
}

/* PE 0 knows how many calls make a batch; the others must make as many. */
static int calls_of_batch(const struct call *call, size_t size_bytes)
{
    static int count;
    double one = batch(call, size_bytes, 4);

    count = (int)(BATCH_US / (one + 1));
    count = (count < 4) ? 4 : ((count > CALLS_MAX) ? CALLS_MAX : count);
    shmem_barrier_all();
    shmem_int_get(&count, &count, 1, 0);
    shmem_barrier_all();
    return count;
}

static void measure(const struct call *call, size_t size_bytes)
{
    int count = calls_of_batch(call, size_bytes);
    double times[BATCHES];
    int i;

    for (i = 0; i < BATCHES; i++) {
        times[i] = batch(call, size_bytes, count);
    }
    qsort(times, BATCHES, sizeof times[0], compare);
    if (shmem_my_pe() == 0) {
        printf("%-12s %8zu %10.2f %10.2f\n", call->name, size_bytes, times[0], times[BATCHES / 2]);
        fflush(stdout);
    }
}

static bool is_wanted(const char *list, const char *name)
{
    size_t length = strlen(name);
    const char *at;

    for (at = list; at != NULL; at = strchr(at, ',')) {
        at += (*at == ',') ? 1 : 0;
        if ((strncmp(at, name, length) == 0) && ((at[length] == ',') || (at[length] == '\0'))) {
            return true;
        }
    }
    return list == NULL;
}

int main(int argc, char **argv)
{
    const char *list = (argc > 1) ? argv[1] : NULL;
    size_t most      = (argc > 2) ? strtoull(argv[2], NULL, 0) : (512 << 10);
    size_t capacity;
    size_t i;

    shmem_init();
    capacity = most * (size_t)shmem_n_pes();
    dest     = shmem_malloc(capacity);
    source   = shmem_malloc(capacity);
    if ((dest == NULL) || (source == NULL)) {
        fprintf(stderr, "collective: no room for twice %zu bytes\n", capacity);
        return 1;
    }
    memset(source, 1, capacity);
    if (shmem_my_pe() == 0) {
        printf("%-12s %8s %10s %10s\n", "call", "bytes", "best us", "median us");
    }
    for (i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        size_t size_bytes = calls[i].has_sizes ? 8 : 64;

        if (!is_wanted(list, calls[i].name)) {
            continue;
        }
        do {
            measure(&calls[i], (calls[i].run == reduce && size_bytes == 8) ? 4 : size_bytes);
            size_bytes *= 4;
        } while (calls[i].has_sizes && (size_bytes <= most));
    }
    shmem_finalize();
    return 0;
}
