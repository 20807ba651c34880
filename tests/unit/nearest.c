/* SPDX-License-Identifier: BSD-3-Clause */
/* partition=nearest: every block is asked for on the node of the thread that asks, not on that of
 * the thread that happened to take the chunk. The machine has two nodes on paper; what its memory
 * then is does not matter here, only what was asked. */

#include "core/engine/provider.h"
#include <criterion/criterion.h>
#include <memspan/allocator.h>
#include <stdlib.h>

Test(nearest, a_block_is_asked_for_where_its_thread_runs)
{
    static const memspan_trait_t traits[] = {{MEMSPAN_TRAIT_PARTITION, MEMSPAN_VALUE_NEAREST},
                                             {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB}};
    const struct msp_provider *p;
    memspan_allocator_h allocator;
    int spread = 0;
    int here   = 0;

    setenv("HWLOC_SYNTHETIC", "numa:2 pu:1", 1);
    setenv("MEMSPAN_LOG", "error", 1);
    cr_assert_eq(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, traits, 2, &allocator), MEMSPAN_OK,
                 "%s", memspan_error_text());
    memspan_free(memspan_alloc(allocator, 100));
    for (p = msp_provider_first(); p != NULL; p = p->next) {
        spread += (p->spec.spread == MEMSPAN_SPREAD_NEAREST) && (p->spec.node_count == 2);
        here += (p->spec.spread == MEMSPAN_SPREAD_ANY) && (p->spec.node_count == 1) &&
                (p->spec.nodes[0] == msp_numa_node_here());
    }
    cr_expect_eq(spread, 1, "the plan is over both nodes");
    cr_expect_eq(here, 1, "the block was asked for on this thread's node");
}
