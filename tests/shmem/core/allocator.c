/* SPDX-License-Identifier: BSD-3-Clause */
/* allocator.c: memspan_omp_symmetric_mem_alloc is shmem_malloc(3) by another name. */

#include "tests/shmem/check.h"
#include <memspan/memspan.h>
#include <memspan/omp.h>
#include <shmemx.h>
#include <string.h>

/* The default partition's, in every PE at the same offset. */
static void check_symmetric(long *memory)
{
    int to   = (shmem_my_pe() + 1) % shmem_n_pes();
    int from = (shmem_my_pe() + shmem_n_pes() - 1) % shmem_n_pes();

    CHECK(memory != NULL, "%s", memspan_error_text());
    CHECK(shmemx_partition_of(memory) == 1, "%d", shmemx_partition_of(memory));
    shmem_long_p(memory, shmem_my_pe(), to);
    shmem_barrier_all();
    CHECK(*memory == from, "%ld", *memory);
    shmem_barrier_all();
}

static size_t used_bytes(void)
{
    shmemx_partition_info_t info = {.struct_size = sizeof info};

    CHECK(shmemx_partition_info(1, &info) == 0, "%s", memspan_error_text());
    return info.used_bytes;
}

static void allocate(omp_allocator_handle_t allocator)
{
    size_t before = used_bytes();
    long *memory  = omp_alloc(4 * sizeof *memory, allocator);
    long *zeroed  = omp_calloc(4, sizeof *zeroed, allocator);
    long *aligned = omp_aligned_alloc(4096, sizeof *aligned, allocator);
    long *ours    = omp_alloc(sizeof *ours, omp_default_mem_alloc);

    CHECK((zeroed[0] == 0) && (zeroed[3] == 0), "%ld %ld", zeroed[0], zeroed[3]);
    check_symmetric(memory);
    check_symmetric(zeroed);
    CHECK((uintptr_t)aligned % 4096 == 0, "%p", (void *)aligned);
    check_symmetric(aligned);
    memory[3] = 42;
    memory    = omp_realloc(memory, 4000 * sizeof *memory, omp_null_allocator, omp_null_allocator);
    check_symmetric(memory);
    CHECK(memory[3] == 42, "%ld", memory[3]);
    *ours = 43;
    ours  = omp_realloc(ours, 2 * sizeof *ours, allocator, omp_default_mem_alloc);
    CHECK(*ours == 43, "%ld", *ours);
    shmem_barrier_all(); /* its copy follows the barrier of its allocation */
    check_symmetric(ours);
    CHECK(omp_alloc(0, allocator) == NULL, "no bytes");
    CHECK(omp_alloc((size_t)1 << 40, allocator) == NULL, "more than there is");
    CHECK(used_bytes() > before, "%zu", used_bytes());
    omp_free(memory, allocator);
    omp_free(zeroed, omp_null_allocator);
    omp_free(aligned, allocator);
    omp_free(ours, allocator);
    CHECK(used_bytes() == before, "%zu bytes, before it %zu", used_bytes(), before);
}

int main(void)
{
    omp_alloctrait_t pinned = {omp_atk_pinned, omp_atv_true};
    void *before;

    before = omp_alloc(8, memspan_omp_symmetric_mem_alloc);
    shmem_init();
    CHECK(before == NULL, "%p before shmem_init()", before);
    allocate(memspan_omp_symmetric_mem_alloc);
    allocate(omp_init_allocator(memspan_omp_symmetric_mem_space, 0, NULL));
    CHECK(omp_init_allocator(memspan_omp_symmetric_mem_space, 1, &pinned) == omp_null_allocator,
          "a trait");
    omp_destroy_allocator(memspan_omp_symmetric_mem_alloc); /* predefined: no effect */
    omp_set_default_allocator(memspan_omp_symmetric_mem_alloc);
    check_symmetric(omp_alloc(sizeof(long), omp_null_allocator));
    omp_set_default_allocator(omp_default_mem_alloc);
    shmem_finalize();
    return (omp_alloc(8, memspan_omp_symmetric_mem_alloc) == NULL) ? 0 : 1;
}
