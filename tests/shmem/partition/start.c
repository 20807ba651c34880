/* SPDX-License-Identifier: BSD-3-Clause */
/* start.c: starts and ends a job. */

#include <shmem.h>

int main(void)
{
    shmem_init();
    shmem_finalize();
    return 0;
}
