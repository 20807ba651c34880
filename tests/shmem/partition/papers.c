/* SPDX-License-Identifier: BSD-3-Clause */
/* papers.c: partitions by the papers' names, in a program that includes <shmem.h> alone. */
#include <shmem.h>
#include <stdint.h>
#include <string.h>

int main(void)
{
    shmem_init();
    char *block   = shmem_partition_malloc(1000, 2);
    char *aligned = shmem_partition_align(4096, 1000, 2);

    if ((block == NULL) || (aligned == NULL) || ((uintptr_t)aligned % 4096 != 0)) {
        return 1;
    }
    memset(block, 1, 1000);
    memset(aligned, 2, 1000);
    shmem_partition_free(aligned);
    shmem_partition_free(block);
    shmem_finalize();
    return 0;
}
