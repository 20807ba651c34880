/* SPDX-License-Identifier: BSD-3-Clause */
/* plugged.c: the plug-in of plug.c. */

#include <shmemx.h>
#include <stdio.h>

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s: %s\n", __FILE__, __LINE__, #condition,             \
                    memspan_error_text());                                                         \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

static long own;

/* @p variable: of the executable, 3 or 4; 4 then. */
__attribute__((visibility("default"))) int play(long *variable);
int play(long *variable)
{
    long before  = *variable;
    int provided = -1;
    long *heap;
    int next;

    EXPECT(shmemx_init_try(SHMEM_THREAD_MULTIPLE, &provided) == 0);
    EXPECT(provided == SHMEM_THREAD_MULTIPLE);
    EXPECT(*variable == before);
    next = (shmem_my_pe() + 1) % shmem_n_pes();
    EXPECT(shmem_addr_accessible(variable, next));
    EXPECT(!shmem_addr_accessible(&own, next));
    heap = shmem_malloc(sizeof *heap);
    EXPECT(heap != NULL);
    shmem_long_p(heap, 7 + next, next);
    shmem_long_p(variable, 4, next);
    shmem_barrier_all();
    EXPECT(*heap == 7 + shmem_my_pe());
    EXPECT(*variable == 4);
    shmem_free(heap);
    shmem_finalize();
    EXPECT(*variable == 4);
    return 0;
}
