/* SPDX-License-Identifier: BSD-3-Clause */
/* partitions.c NODES [PAGE-BYTES]: the pages of partition 2 are on these nodes, "1" or "0,2,3", an
 * equal share on each, also where a peer touches them first, and of that size. */

#include "tests/shmem/check.h"
#include "tests/tiers/machine.h"
#include <memspan/memspan.h>
#include <shmemx.h>

enum { PARTITION = 2, PAGES = 1536, BYTES = PAGES * PAGE };

static void check_shares(const unsigned char *memory, const char *nodes)
{
    size_t count = 1;
    const char *at;

    for (at = nodes; *at != '\0'; at++) {
        count += (*at == ',') ? 1 : 0;
    }
    for (at = nodes; at != NULL; at = strchr(at, ',')) {
        int node;
        size_t there;

        at += (*at == ',') ? 1 : 0;
        node  = atoi(at);
        there = machine_pages_on(memory, BYTES, node);
        CHECK(there == PAGES / count, "node %d has %zu of %d pages; the first is on %d", node,
              there, (int)PAGES, machine_node_of(memory));
    }
}

int main(int argc, char **argv)
{
    shmemx_partition_info_t info = {.struct_size = sizeof info};
    unsigned char *memory;
    void *peer;

    machine_need();
    shmem_init();
    memory = shmemx_partition_malloc(BYTES + PAGE, PARTITION);
    CHECK(memory != NULL, "%s", memspan_error_text());
    memory += -(uintptr_t)memory % PAGE;
    /* Another PE touches them first, from where it may run: the placement is the memory's. */
    peer = shmem_ptr(memory, (shmem_my_pe() + 1) % shmem_n_pes());
    CHECK(peer != NULL, "not mapped");
    machine_touch(peer, BYTES);
    shmem_barrier_all();
    machine_touch(memory, BYTES);
    check_shares(memory, argv[1]);
    CHECK(shmemx_partition_info(PARTITION, &info) == 0, "%s", memspan_error_text());
    CHECK((argc < 3) || (info.page_size_bytes == strtoul(argv[2], NULL, 10)), "pages of %zu bytes",
          info.page_size_bytes);
    shmem_finalize();
    return 0;
}
