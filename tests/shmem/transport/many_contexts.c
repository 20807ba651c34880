/* SPDX-License-Identifier: BSD-3-Clause */
/* many_contexts.c: operations of more contexts than a PE remembers to acknowledge arrive at it at
 * once, and the quiet of each context ends. */

#include "tests/shmem/check.h"

enum { CONTEXTS = 12, ROUNDS = 400 };

static long counters[CONTEXTS];
static shmem_ctx_t contexts[CONTEXTS];

int main(void)
{
    int next;
    int round;
    int i;

    shmem_init();
    next = (shmem_my_pe() + 1) % shmem_n_pes();
    for (i = 0; i < CONTEXTS; i++) {
        CHECK(shmem_ctx_create(SHMEM_CTX_PRIVATE, &contexts[i]) == 0, "context %d", i);
    }
    for (round = 1; round <= ROUNDS; round++) {
        for (i = 0; i < CONTEXTS; i++) {
            shmem_ctx_long_atomic_add(contexts[i], &counters[i], 1, next);
        }
        for (i = 0; i < CONTEXTS; i++) {
            shmem_ctx_quiet(contexts[i]);
        }
        for (i = 0; i < CONTEXTS; i++) {
            long there = shmem_long_atomic_fetch(&counters[i], next);

            CHECK(there == round, "context %d, round %d: %ld", i, round, there);
        }
    }
    for (i = 0; i < CONTEXTS; i++) {
        shmem_ctx_destroy(contexts[i]);
    }
    shmem_finalize();
    return 0;
}
