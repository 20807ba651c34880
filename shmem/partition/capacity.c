/* SPDX-License-Identifier: BSD-3-Clause */
/* capacity.c: sizes of all PEs of the host against the machine and its control groups. */

#include "core/base/platform.h"
#include "core/base/process.h"
#include "shmem/partition/placement.h"

/* Partitions have at most 2^62 bytes and nodes at most 2^20 PEs. */
static uint64_t of_all(uint64_t bytes, int pe_count)
{
    uint64_t all;

    return __builtin_mul_overflow(bytes, (uint64_t)pe_count, &all) ? UINT64_MAX : all;
}

uint64_t msp_partition_capacity_use(const struct msp_partition_request *request,
                                    const struct msp_partition_placement *placement)
{
    bool is_huge = (placement->page_size_bytes > msp_page_size());

    return (placement->is_block || placement->is_file || is_huge) ? 0 : request->size_bytes;
}

bool msp_partition_capacity_is_exceeded(uint64_t bytes, int pe_count, uint64_t *capacity_p,
                                        const char **source_p)
{
    struct msp_memory_limits limits;

    msp_memory_limits_read(&limits);
    *capacity_p = limits.capacity_bytes;
    *source_p   = limits.source;
    return of_all(bytes, pe_count) > limits.capacity_bytes;
}

static memspan_status_t refuse_request(const struct msp_partition_request *request, int pe_count,
                                       const char *what, uint64_t bytes, const char *source)
{
    memspan_error(MEMSPAN_ERR_NO_MEMORY,
                  "%s: %d PEs of %llu bytes are more than the %llu bytes that %s (%s)",
                  request->variable, pe_count, (unsigned long long)request->size_bytes,
                  (unsigned long long)bytes, what, source);
    return msp_error_hint("ask for less, or start fewer PEs on this host%s",
                          (request->policy == SHMEMX_POLICY_MANDATORY)
                              ? "; POLICY=PREFERRED takes what there is"
                              : "");
}

memspan_status_t msp_partition_capacity_check(const struct msp_partition_request *request,
                                              int pe_count,
                                              const struct msp_partition_placement *placement)
{
    /* Drivers lock the pages that they import. */
    bool is_locked  = placement->is_locked || (placement->import_count > 0);
    bool insists    = (request->policy == SHMEMX_POLICY_MANDATORY);
    uint64_t wanted = of_all(msp_partition_capacity_use(request, placement), pe_count);
    struct msp_memory_limits limits;

    if ((wanted == 0) || (!is_locked && !insists)) {
        return MEMSPAN_OK;
    }
    msp_memory_limits_read(&limits);
    if (wanted > limits.capacity_bytes) {
        return refuse_request(request, pe_count, "there are", limits.capacity_bytes, limits.source);
    }
    if (is_locked && (wanted > limits.free_bytes)) {
        return refuse_request(request, pe_count, "are free to be locked", limits.free_bytes,
                              limits.source);
    }
    return MEMSPAN_OK;
}
