/* SPDX-License-Identifier: BSD-3-Clause */
#include <memspan/memspan.h>
#include <stdio.h>

int main(void)
{
    void *block = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 4096);
    puts(memspan_version());
    return ((block != NULL) && (memspan_free(block) == MEMSPAN_OK)) ? 0 : 1;
}
