/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocators made, used and destroyed by all threads of a team at once; memory freed by a thread
 * that did not allocate it. */
#include <omp.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 50, BLOCKS = 32 };

int main(void)
{
    static unsigned char *block[THREADS][BLOCKS];
    int bad = 0;

#pragma omp parallel num_threads(THREADS) reduction(+ : bad)
    {
        int me = omp_get_thread_num();
        int round;
        int i;

        for (round = 0; round < ROUNDS; round++) {
            omp_alloctrait_t traits[] = {{omp_atk_alignment, (omp_uintptr_t)(16 << (round % 5))},
                                         {omp_atk_pool_size, 1 << 20},
                                         {omp_atk_fallback, omp_atv_null_fb}};
            omp_allocator_handle_t a  = omp_init_allocator(omp_default_mem_space, 3, traits);

            for (i = 0; i < BLOCKS; i++) {
                block[me][i] = (unsigned char *)omp_alloc((size_t)(i + 1) * 40, a);
                if (block[me][i] == NULL) {
                    bad++;
                } else {
                    memset(block[me][i], me + i, (size_t)(i + 1) * 40);
                }
            }
#pragma omp barrier
            for (i = 0; i < BLOCKS; i++) {
                int other        = (me + 1) % THREADS;
                unsigned char *p = block[other][i];
                if ((p[0] != (unsigned char)(other + i)) || (p[(i + 1) * 40 - 1] != p[0])) {
                    bad++;
                }
                omp_free(p, omp_null_allocator);
            }
#pragma omp barrier
            omp_destroy_allocator(a);
        }
    }
    printf("bad: %d\n", bad);
    return bad != 0;
}
