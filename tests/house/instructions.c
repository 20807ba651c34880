/* SPDX-License-Identifier: BSD-3-Clause */
/* instructions ALLOCATOR SIZE KIND COUNT: COUNT pairs of omp_alloc() and omp_free(), whose
 * instructions instructions.sh counts.
 *
 * ALLOCATOR: default, null, custom with a pool limit, or full: all of that is used up by blocks of
 * 64 bytes. KIND: pair, one block at a time; swap, among 32 live ones; calloc, aligned (64 bytes);
 * refusal, no pair but a refused request; make, an allocator is made and destroyed, too. */

#include <memspan/omp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { LIVE = 32, ALIGNMENT = 64 };

static omp_allocator_handle_t make(size_t limit)
{
    const omp_alloctrait_t traits[] = {{omp_atk_pool_size, limit},
                                       {omp_atk_fallback, omp_atv_null_fb},
                                       {omp_atk_alignment, ALIGNMENT}};

    return omp_init_allocator(omp_default_mem_space, 3, traits);
}

static omp_allocator_handle_t make_full(void)
{
    omp_allocator_handle_t allocator = make((size_t)1 << 20);

    while (omp_alloc(64, allocator) != NULL) {
    }
    return allocator;
}

static omp_allocator_handle_t choose(const char *name)
{
    return (strcmp(name, "custom") == 0) ? make((size_t)4 << 30)
           : (strcmp(name, "full") == 0) ? make_full()
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

static bool refusals(long count, size_t size, omp_allocator_handle_t allocator)
{
    bool refused = true;

    for (long i = 0; i < count; i++) {
        refused = refused && (omp_alloc(size, allocator) == NULL);
    }
    return refused;
}

static bool makes(long count, size_t size)
{
    for (long i = 0; i < count; i++) {
        omp_allocator_handle_t allocator = make((size_t)1 << 30);

        omp_free(omp_alloc(size, allocator), allocator);
        omp_destroy_allocator(allocator);
    }
    return true;
}

static bool run(const char *kind, long count, size_t size, omp_allocator_handle_t allocator)
{
    return (strcmp(kind, "pair") == 0)      ? pairs(count, size, allocator)
           : (strcmp(kind, "swap") == 0)    ? swaps(count, size, allocator)
           : (strcmp(kind, "refusal") == 0) ? refusals(count, size, allocator)
           : (strcmp(kind, "make") == 0)    ? makes(count, size)
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
