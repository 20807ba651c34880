/* SPDX-License-Identifier: BSD-3-Clause */
/* own.c: a program with a malloc() of its own: bytes of an array, never used again. */

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Alignas(64) char memory[64 << 20];
static size_t used;

#pragma GCC visibility push(default)

void *malloc(size_t size)
{
    size_t bytes = (size + 2 * 64 - 1) & ~(size_t)63;
    char *block  = memory + used + 64;

    if ((size > sizeof memory) || (bytes > sizeof memory - used)) {
        return NULL;
    }
    memcpy(block - sizeof size, &size, sizeof size);
    used += bytes;
    return block;
}

void *calloc(size_t count, size_t size)
{
    return malloc(count * size);
}

void *realloc(void *block, size_t size)
{
    void *moved = malloc(size);
    size_t old  = 0;

    if ((block != NULL) && (moved != NULL)) {
        memcpy(&old, (char *)block - sizeof old, sizeof old);
        memcpy(moved, block, (old < size) ? old : size);
    }
    return moved;
}

void free(void *block)
{
    (void)block;
}

#pragma GCC visibility pop

int main(void)
{
    char *block = malloc(8 << 20);

    memset(block, 1, 8 << 20);
    return (block[1000] == 1) ? 0 : 1;
}
