/* SPDX-License-Identifier: BSD-3-Clause */
/* An allocate clause whose allocator has run out, null_fb: the program must end, not go on with a
 * null pointer. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
    omp_alloctrait_t traits[] = {{omp_atk_pool_size, 64}, {omp_atk_fallback, omp_atv_null_fb}};
    omp_allocator_handle_t a  = omp_init_allocator(omp_default_mem_space, 2, traits);
    char x[4096];

    x[0] = 1;
#pragma omp parallel num_threads(1) private(x) allocate(a : x)
    {
        x[0] = 2;
        printf("went on with %d\n", x[0]);
    }
    return 0;
}
