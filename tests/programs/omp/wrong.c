/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that frees a block twice, in a parallel region, or leaves one behind: what the guard
 * says of unmodified programs. */

#include <omp.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    int twice = (argc > 1) && (strcmp(argv[1], "twice") == 0);

#pragma omp parallel num_threads(2)
    {
        char *block = omp_alloc(40, omp_high_bw_mem_alloc);

        block[39] = (char)omp_get_thread_num();
#pragma omp barrier
        if (!twice || (omp_get_thread_num() == 0)) {
            omp_free(block, omp_high_bw_mem_alloc);
        }
        if (twice && (omp_get_thread_num() == 0)) {
            omp_free(block, omp_null_allocator);
        }
    }
    if (!twice) {
        char *left = omp_alloc(123, omp_default_mem_alloc);
        left[0]    = 1;
    }
    puts("done");
    return 0;
}
