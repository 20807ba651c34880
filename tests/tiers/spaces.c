/* SPDX-License-Identifier: BSD-3-Clause */
/* spaces.c: OpenMP's memory spaces on a machine of four kinds of memory, verified by page. */

#include "tests/tiers/report.h"
#include <memspan/memspan.h>
#include <memspan/omp.h>

enum { LARGE_BYTES = 64 << 20 };

static void check_block(const char *what, omp_allocator_handle_t allocator, size_t size, int node)
{
    unsigned char *block = omp_alloc(size, allocator);
    size_t pages         = ((uintptr_t)block % PAGE + size + PAGE - 1) / PAGE;
    size_t there;

    CHECK(block != NULL, "%s, %zu bytes: %s", what, size, memspan_error_text());
    if (block == NULL) {
        return;
    }
    machine_touch(block, size);
    there = machine_pages_on(block, size, node);
    CHECK(there == pages, "%s, %zu bytes: %zu of %zu pages are on node %d, the first on %d", what,
          size, there, pages, node, machine_node_of(block));
    omp_free(block, allocator);
}

static void check_space(const char *name, omp_memspace_handle_t space,
                        omp_allocator_handle_t predefined, int node)
{
    omp_allocator_handle_t own = omp_init_allocator(space, 0, NULL);

    CHECK(own != omp_null_allocator, "%s: %s", name, memspan_error_text());
    for (size_t size = 64; size <= LARGE_BYTES; size *= 32) {
        check_block(name, own, size, node);
        check_block(name, predefined, size, node);
    }
    omp_destroy_allocator(own);
}

/* Memory of large_cap is that of the nodes 2, 0 and 3, best first; each has a third. */
static void check_spread(omp_alloctrait_value_t spread, size_t part_size)
{
    const int order[]               = {LARGE, USUAL, NVDIMM};
    const size_t pages              = 3 * 1024;
    const size_t share              = pages / 3;
    const omp_alloctrait_t traits[] = {{omp_atk_partition, spread}, {omp_atk_part_size, part_size}};
    omp_allocator_handle_t own =
        omp_init_allocator(omp_large_cap_mem_space, (part_size == 0) ? 1 : 2, traits);
    unsigned char *block = omp_alloc(pages * PAGE, own);
    bool right           = (block != NULL);

    CHECK(right, "partition %d: %s", (int)spread, memspan_error_text());
    if (!right) {
        return;
    }
    machine_touch(block, pages * PAGE);
    for (size_t i = 0; i < 3; i++) {
        size_t there = machine_pages_on(block, pages * PAGE, order[i]);

        CHECK(there == share, "partition %d: node %d has %zu of %zu pages", (int)spread, order[i],
              there, pages);
    }
    for (size_t i = 0; right && (i + 3 < pages); i++) {
        int node = machine_node_of(block + i * PAGE);

        if (spread == omp_atv_blocked) {
            right = (node == order[i / share]);
        } else if (part_size == PAGE) {
            right = (node == machine_node_of(block + (i + 3) * PAGE)) &&
                    (node != machine_node_of(block + (i + 1) * PAGE));
        } else {
            right = (part_size == 0) || (node == order[i * PAGE / part_size % 3]);
        }
        CHECK(right, "partition %d by %zu bytes: page %zu is on node %d", (int)spread, part_size, i,
              node);
    }
    omp_free(block, own);
    omp_destroy_allocator(own);
}

/* A node that is full refuses those who insist, and the others have what there is. */
static void check_full(void)
{
    const omp_alloctrait_t insist[] = {
        {(omp_alloctrait_key_t)MEMSPAN_TRAIT_GUARANTEE, MEMSPAN_VALUE_REQUIRED},
        {omp_atk_fallback, omp_atv_null_fb}};
    const size_t size          = (size_t)700 << 20;
    omp_allocator_handle_t own = omp_init_allocator(omp_high_bw_mem_space, 2, insist);
    void *block;

    CHECK(own != omp_null_allocator, "%s", memspan_error_text());
    check_block("high_bw, required", own, 1 << 20, FAST);
    CHECK(omp_alloc(size, own) == NULL, "700 MiB on a node of 512");
    CHECK(strstr(memspan_error_text(), "node 1") != NULL, "%s", memspan_error_text());
    omp_destroy_allocator(own);
    block = omp_alloc(size, omp_high_bw_mem_alloc);
    CHECK(block != NULL, "%s", memspan_error_text());
    omp_free(block, omp_high_bw_mem_alloc);
}

/* Huge pages are reserved on the fast node alone. */
static void check_huge(void)
{
    const size_t huge               = 2 << 20;
    const omp_alloctrait_t traits[] = {
        {(omp_alloctrait_key_t)MEMSPAN_TRAIT_GUARANTEE, MEMSPAN_VALUE_REQUIRED},
        {(omp_alloctrait_key_t)MEMSPAN_TRAIT_PAGE_SIZE, huge},
        {omp_atk_fallback, omp_atv_null_fb}};
    omp_allocator_handle_t fast  = omp_init_allocator(omp_high_bw_mem_space, 3, traits);
    omp_allocator_handle_t large = omp_init_allocator(omp_large_cap_mem_space, 3, traits);
    memspan_pointer_info_t info  = {.struct_size = sizeof info};
    void *block                  = omp_alloc(huge, fast);

    CHECK(block != NULL, "%s", memspan_error_text());
    CHECK((block != NULL) && (memspan_pointer_describe(block, &info) == MEMSPAN_OK), "%s",
          memspan_error_text());
    CHECK((info.page_size_bytes == huge) && (info.numa_node == FAST), "%zu bytes on node %d",
          info.page_size_bytes, info.numa_node);
    omp_free(block, fast);
    CHECK(omp_alloc(huge, large) == NULL, "huge pages of a node that has none");
    CHECK(strstr(memspan_error_text(), "huge pages") != NULL, "%s", memspan_error_text());
    omp_destroy_allocator(fast);
    omp_destroy_allocator(large);
}

int main(void)
{
    machine_need();
    check_space("high_bw", omp_high_bw_mem_space, omp_high_bw_mem_alloc, FAST);
    check_space("large_cap", omp_large_cap_mem_space, omp_large_cap_mem_alloc, LARGE);
    check_space("low_lat", omp_low_lat_mem_space, omp_low_lat_mem_alloc, USUAL);
    check_space("default", omp_default_mem_space, omp_default_mem_alloc, USUAL);
    check_spread(omp_atv_blocked, 0);
    check_spread(omp_atv_interleaved, 0);
    check_spread(omp_atv_interleaved, PAGE);
    check_spread(omp_atv_interleaved, 16 * PAGE);
    check_full();
    check_huge();
    return (failures == 0) ? 0 : 1;
}
