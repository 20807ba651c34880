/* SPDX-License-Identifier: BSD-3-Clause */
#include <memspan/memspan.h>
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>

int main(void)
{
    shmem_init();
    void *block = shmem_malloc(SIZE_MAX / 2);
    int failed  = (block != NULL) || (memspan_error_text()[0] == '\0');
    shmem_finalize();
    puts(memspan_version());
    return failed;
}
