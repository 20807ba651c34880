/* SPDX-License-Identifier: BSD-3-Clause */
/* call [quick]: PE 0 calls handlers of PE 1, which waits in a barrier: one and its quiet; 4096 with
 * their quiet, as a histogram does. */

#include "batch.h"
#include <shmem.h>
#include <shmemx.h>
#include <string.h>

enum { CALLS = 4096 };

static long bins[CALLS];
static int handler;

static void add(const void *payload, size_t size, int pe, void *data)
{
    (void)size;
    (void)pe;
    (void)data;
    bins[*(const long *)payload]++;
}

/* Of so many calls, the last of which is followed by a quiet. Returns how many calls there were. */
static size_t measure(const char *point, long calls, bool quick)
{
    struct batches batches = {.count = 0};
    size_t operations      = 1;
    size_t made            = 0;

    while (operations != 0) {
        double began_ns = batch_now_ns();

        for (size_t i = 0; i < operations; i++) {
            for (long bin = 0; bin < calls; bin++) {
                shmemx_call(SHMEM_CTX_DEFAULT, handler, &bin, sizeof(bin), 1);
            }
            shmem_quiet();
        }
        made += operations;
        operations = batches_next(&batches, operations, batch_now_ns() - began_ns, quick);
    }
    batch_print(point, batches.per_operation_ns[0] / (double)calls,
                batches_median(&batches) / (double)calls);
    return made * (size_t)calls;
}

int main(int argument_count, char **arguments)
{
    static long made;
    bool quick = (argument_count > 1) && (strcmp(arguments[1], "quick") == 0);
    long sum   = 0;
    cpu_set_t allowed;
    int pe;

    shmem_init();
    pe = shmem_my_pe();
    if ((shmem_n_pes() != 2) || (shmemx_handler_add(add, NULL, &handler) != 0)) {
        return 1;
    }
    (void)sched_getaffinity(0, sizeof(allowed), &allowed);
    batch_bind(&allowed, pe);
    shmem_barrier_all();
    if (pe == 0) {
        size_t all = measure("call-quiet", 1, quick) + measure("call-8", CALLS, quick);

        shmem_long_p(&made, (long)all, 1);
    }
    shmem_barrier_all();
    for (int i = 0; i < CALLS; i++) {
        sum += bins[i];
    }
    shmem_finalize();
    if ((pe == 1) && (sum != made)) {
        fprintf(stderr, "%ld of %ld calls were executed\n", sum, made);
        return 1;
    }
    return 0;
}
