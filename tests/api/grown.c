/* SPDX-License-Identifier: BSD-3-Clause */
/* A block that grows in steps of every size, and is written to its end: for valgrind, which is to
 * find nothing. */

#include <memspan/memspan.h>
#include <string.h>

static int grow(size_t step_bytes, size_t end_bytes)
{
    char *block = NULL;
    size_t size;

    for (size = step_bytes; size < end_bytes; size += step_bytes) {
        block = memspan_realloc(MEMSPAN_ALLOCATOR_DEFAULT, block, size);
        if (block == NULL) {
            return 1;
        }
        memset(block + size - step_bytes, 7, step_bytes);
    }
    return (block[0] != 7) || (memspan_free(block) != MEMSPAN_OK);
}

int main(void)
{
    return grow(1000, 100000) || grow(100000, 10000000) || grow(3000000, 40000000);
}
