/* SPDX-License-Identifier: BSD-3-Clause */
/* instructions ALLOCATOR SIZE KIND COUNT: COUNT pairs of omp_alloc() and omp_free(), whose
 * instructions instructions.sh counts.
 *
 * ALLOCATOR: default, null, or custom with a pool limit. KIND: pair, one block at a time; swap,
 * among 32 live ones; calloc, aligned (64 bytes). */

#include <memspan/omp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { LIVE = 32, ALIGNMENT = 64 };

static omp_allocator_handle_t choose(const char *name)
{
    static const omp_alloctrait_t traits[] = {{omp_atk_pool_size, (omp_uintptr_t)4 << 30},
                                              {omp_atk_fallback, omp_atv_null_fb},
                                              {omp_atk_alignment, ALIGNMENT}};

    return (strcmp(name, "custom") == 0) ? omp_init_allocator(omp_default_mem_space, 3, traits)
           : (strcmp(name, "null") == 0) ? omp_null_allocator
                                         : omp_default_mem_alloc;
}

/* Each loop by itself: what it does besides its two calls is a few instructions. */
static bool pairs(long count, size_t size, omp_allocator_handle_t allocator)
{
    for (long i = 0; i < count; i++) {
        omp_free(omp_alloc(size, allocator), allocator);
    }
    return omp_alloc(size, allocator) != NULL;
}

static bool swaps(long count, size_t size, omp_allocator_handle_t allocator)
{
    static void *live[LIVE];

    for (long i = 0; i < count; i++) {
        void **place = &live[(unsigned)i % LIVE];

        omp_free(*place, allocator);
        *place = omp_alloc(size, allocator);
    }
    return live[LIVE - 1] != NULL;
}

static bool clears(long count, size_t size, omp_allocator_handle_t allocator)
{
    for (long i = 0; i < count; i++) {
        omp_free(omp_calloc(1, size, allocator), allocator);
    }
    return true;
}

static bool aligns(long count, size_t size, omp_allocator_handle_t allocator)
{
    for (long i = 0; i < count; i++) {
        omp_free(omp_aligned_alloc(ALIGNMENT, size, allocator), allocator);
    }
    return true;
}

static bool run(const char *kind, long count, size_t size, omp_allocator_handle_t allocator)
{
    return (strcmp(kind, "pair") == 0)   ? pairs(count, size, allocator)
           : (strcmp(kind, "swap") == 0) ? swaps(count, size, allocator)
           : (strcmp(kind, "calloc") == 0)
               ? clears(count, size, allocator)
               : (strcmp(kind, "aligned") == 0) && aligns(count, size, allocator);
}

int main(int argc, char **argv)
{
    return ((argc == 5) && run(argv[3], atol(argv[4]), (size_t)atol(argv[2]), choose(argv[1])))
               ? EXIT_SUCCESS
               : EXIT_FAILURE;
}
