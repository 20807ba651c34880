/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows and points. A worker names the points; their order here is that of tables and files. */

#include "bench/rma/rma.h"
#include <string.h>

const struct rma_row_facts rma_rows[RMA_ROW_COUNT] = {
#define ROW(symbol, name, where, help) {name, RMA_##where, help},
    RMA_ROW_MAP(ROW)
#undef ROW
};

const char *const rma_row_names[RMA_ROW_COUNT] = {
#define NAME(symbol, name, where, help) name,
    RMA_ROW_MAP(NAME)
#undef NAME
};

const char *const rma_placement_names[RMA_PLACE_COUNT] = {"apart", "together"};

const struct rma_point rma_points[] = {
    {RMA_MEMORY, "rss", "resident", "MiB", false},
    {RMA_MEMORY, "pss", "shared divided", "MiB", false},
    {RMA_PUT, "put-8", "8", "ns", false},
    {RMA_PUT, "put-64", "64", "ns", false},
    {RMA_PUT, "put-1k", "1024", "ns", false},
    {RMA_PUT, "put-8k", "8192", "ns", false},
    {RMA_PUT, "put-64k", "65536", "ns", false},
    {RMA_PUT, "put-1m", "1048576", "ns", false},
    {RMA_PUT, "put-4m", "4194304", "ns", false},
    {RMA_PUT, "put-data-8", "data 8", "ns", false},
    {RMA_PUT, "put-data-1k", "data 1024", "ns", false},
    {RMA_PUT, "put-data-8k", "data 8192", "ns", false},
    {RMA_PUT, "put-data-64k", "data 65536", "ns", false},
    {RMA_PUT, "put-data-1m", "data 1048576", "ns", false},
    {RMA_GET, "get-8", "8", "ns", false},
    {RMA_GET, "get-64", "64", "ns", false},
    {RMA_GET, "get-1k", "1024", "ns", false},
    {RMA_GET, "get-8k", "8192", "ns", false},
    {RMA_GET, "get-64k", "65536", "ns", false},
    {RMA_GET, "get-1m", "1048576", "ns", false},
    {RMA_GET, "get-4m", "4194304", "ns", false},
    {RMA_GET, "get-data-8", "data 8", "ns", false},
    {RMA_GET, "get-data-1k", "data 1024", "ns", false},
    {RMA_GET, "get-data-8k", "data 8192", "ns", false},
    {RMA_GET, "get-data-64k", "data 65536", "ns", false},
    {RMA_GET, "get-data-1m", "data 1048576", "ns", false},
    {RMA_SCALAR, "p", "p + quiet", "ns", false},
    {RMA_SCALAR, "p-64", "p, 64 a quiet", "ns", false},
    {RMA_SCALAR, "p-data", "p + quiet, data", "ns", false},
    {RMA_SCALAR, "g", "g", "ns", false},
    {RMA_SCALAR, "g-data", "g, data", "ns", false},
    {RMA_SCALAR, "put-self-8", "put 8 to self", "ns", false},
    {RMA_NBI, "nbi-8", "put 8", "M/s", true},
    {RMA_NBI, "nbi-1k", "put 1024", "M/s", true},
    {RMA_NBI, "nbi-get-8", "get 8", "M/s", true},
    {RMA_NBI, "nbi-64k", "put 65536", "GiB/s", true},
    {RMA_NBI, "nbi-1m", "put 1048576", "GiB/s", true},
    {RMA_NBI, "nbi-4m", "put 4194304", "GiB/s", true},
    {RMA_ATOMIC, "fetch-add", "fetch_add", "ns", false},
    {RMA_ATOMIC, "fetch-add-data", "fetch_add, data", "ns", false},
    {RMA_ATOMIC, "add", "add + quiet", "ns", false},
    {RMA_ATOMIC, "add-64", "add, 64 a quiet", "ns", false},
    {RMA_ATOMIC, "fetch", "fetch", "ns", false},
    {RMA_ATOMIC, "swap", "swap", "ns", false},
    {RMA_ATOMIC, "compare-swap", "compare_swap", "ns", false},
    {RMA_BARRIER, "barrier", "barrier_all", "ns", false},
    {RMA_BARRIER, "sync", "sync_all", "ns", false},
    {RMA_COLLECTIVE, "broadcast-8", "broadcast 8", "ns", false},
    {RMA_COLLECTIVE, "broadcast-64k", "broadcast 65536", "ns", false},
    {RMA_COLLECTIVE, "fcollect-8", "fcollect 8", "ns", false},
    {RMA_COLLECTIVE, "fcollect-64k", "fcollect 65536", "ns", false},
    {RMA_COLLECTIVE, "alltoall-8", "alltoall 8", "ns", false},
    {RMA_COLLECTIVE, "alltoall-64k", "alltoall 65536", "ns", false},
    {RMA_SUM, "sum-1", "1", "ns", false},
    {RMA_SUM, "sum-1024", "1024", "ns", false},
    {RMA_SUM, "sum-131072", "131072", "ns", false},
    {RMA_MALLOC, "malloc-64", "64 B", "ns", false},
    {RMA_MALLOC, "malloc-mix", "16 B..6 KiB, mixed", "ns", false},
    {RMA_VISIBLE, "visible-p", "p", "ns", false},
    {RMA_VISIBLE, "visible-data", "p, data", "ns", false},
    {RMA_VISIBLE, "visible-put", "put", "ns", false},
    {RMA_VISIBLE, "visible-1k", "1 KiB, fence, p", "ns", false},
    {RMA_START, "start-wall", "all of it", "ms", false},
    {RMA_START, "start-init", "shmem_init", "ms", false},
    {RMA_PARTITION, "partition-1", "one partition", "ns", false},
    {RMA_PARTITION, "partition-8", "one out of eight", "ns", false},
    {RMA_STENCIL, "stencil-normal", "NORMALMEM", "us", false},
    {RMA_STENCIL, "stencil-huge", "NORMALMEM, 2 MiB pages", "us", false},
    {RMA_STENCIL, "stencil-fast", "FASTMEM", "us", false},
    {RMA_STENCIL, "stencil-pinned", "PINNED", "us", false},
    {RMA_STENCIL, "stencil-managed", "MANAGED", "us", false},
    {RMA_STENCIL, "stencil-coherent", "COHERENT", "us", false},
    {RMA_STENCIL, "stencil-device", "DEVICE", "us", false},
    {RMA_STENCIL, "stencil-libomp", "LIBOMP", "us", false},
};

const size_t rma_point_count = sizeof(rma_points) / sizeof(rma_points[0]);

_Static_assert(sizeof(rma_points) / sizeof(rma_points[0]) <= RMA_POINTS_MAX,
               "figures have no room for so many points");

size_t rma_point_find(const char *name, size_t name_length)
{
    for (size_t i = 0; i < rma_point_count; i++) {
        if ((strlen(rma_points[i].name) == name_length) &&
            (strncmp(rma_points[i].name, name, name_length) == 0)) {
            return i;
        }
    }
    return rma_point_count;
}
