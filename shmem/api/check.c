/* SPDX-License-Identifier: BSD-3-Clause */
/* check.c: wrong arguments, each named with its value and the values that are valid. */

#include "shmem/api/check.h"
#include "shmem/collective/collective.h"
#include "shmem/context.h"
#include "shmem/partition/partition.h"
#include "shmem/transport/rma.h"
#include <shmem/types.h>

static void check_pe(const char *call, int pe)
{
    msp_job_require(call);
    if ((unsigned)pe >= (unsigned)msp_job.pe_count) {
        msp_fatal("%s: pe %d does not exist: PEs are 0 to %d", call, pe, msp_job.pe_count - 1);
    }
}

void msp_check_context(const char *call, const void *handle, int pe)
{
    const struct msp_context *context = msp_context_live(handle);

    msp_job_require(call);
    if (handle == SHMEM_CTX_INVALID) {
        msp_fatal("%s: ctx is SHMEM_CTX_INVALID", call);
    }
    if (context == NULL) {
        msp_fatal("%s: ctx %p is no context, or was destroyed", call, handle);
    }
    if ((unsigned)pe >= (unsigned)msp_context_size(context)) {
        msp_fatal("%s: pe %d is not in the context's team: its PEs are 0 to %d", call, pe,
                  msp_context_size(context) - 1);
    }
}

void msp_refuse_context(const char *call, const void *handle, int pe)
{
    msp_check_context(call, handle, pe);
    /* A stale handle, whose index is another context's now. */
    msp_fatal("%s: pe %d: ctx %p is no context, or was destroyed", call, pe, handle);
}

static void check_alignment(const char *call, const char *argument, const void *address,
                            size_t element_bytes)
{
    /* long double and complex numbers need the alignment of their words only. */
    size_t align_bytes = (element_bytes > 8) ? 8 : element_bytes;

    if ((uintptr_t)address % align_bytes != 0) {
        msp_fatal("%s: %s %p is not on a boundary of %zu bytes", call, argument, address,
                  align_bytes);
    }
}

static void check_local(const char *call, const char *argument, const void *address)
{
    if (address == NULL) {
        msp_fatal("%s: %s is NULL", call, argument);
    }
}

/* Copies to and from this PE itself. */
static void check_overlap(const char *call, const void *dest, const void *source, size_t size_bytes,
                          int pe)
{
    uintptr_t to   = (uintptr_t)dest;
    uintptr_t from = (uintptr_t)source;

    if ((pe == msp_job.pe) && (to != from) && (to - from < size_bytes || from - to < size_bytes)) {
        msp_fatal("%s: dest %p and source %p overlap: they are less than %zu bytes apart, on "
                  "PE %d itself",
                  call, dest, source, size_bytes, pe);
    }
}

/* In a partition: the bytes are of one live block. */
static void check_block(const char *call, const void *address, size_t size_bytes)
{
    const struct msp_partition *partition = msp_partition_of(address);
    struct msp_symmetric_block block;
    size_t offset;

    if ((partition == NULL) || (size_bytes == 0)) {
        return;
    }
    offset = (size_t)((const char *)address - msp_segments[partition->segment].base);
    if (msp_symmetric_heap_find(partition->heap, offset, &block) != MEMSPAN_OK) {
        msp_fatal("%s: no live block of partition %d is at %p; it was probably freed before", call,
                  partition->id, address);
    }
    offset -= block.offset_bytes;
    if ((offset > block.size_bytes) || (size_bytes > block.size_bytes - offset)) {
        msp_fatal("%s: %zu bytes at %p run past the end of a block of %zu bytes, from its byte %zu "
                  "on",
                  call, size_bytes, address, block.size_bytes, offset);
    }
}

void msp_check_put(const char *call, const void *dest, const void *source, size_t size_bytes,
                   size_t element_bytes, int pe)
{
    check_pe(call, pe);
    if (size_bytes == 0) {
        return;
    }
    check_local(call, "source", source);
    check_alignment(call, "dest", dest, element_bytes);
    msp_rma_require(call, dest, size_bytes, pe);
    check_block(call, dest, size_bytes);
    check_overlap(call, dest, source, size_bytes, pe);
}

void msp_check_get(const char *call, const void *dest, const void *source, size_t size_bytes,
                   size_t element_bytes, int pe)
{
    check_pe(call, pe);
    if (size_bytes == 0) {
        return;
    }
    check_local(call, "dest", dest);
    check_alignment(call, "source", source, element_bytes);
    msp_rma_require(call, source, size_bytes, pe);
    check_block(call, source, size_bytes);
    check_overlap(call, dest, source, size_bytes, pe);
}

/* From the first element to the last; 0 where these are more bytes than there are: msp_rma refuses
 * them. */
static size_t extent_of(ptrdiff_t stride, size_t block_count, size_t count, size_t element_bytes)
{
    size_t extent;

    return ((count == 0) || __builtin_mul_overflow((size_t)stride, count - 1, &extent) ||
            __builtin_add_overflow(extent, block_count, &extent) ||
            __builtin_mul_overflow(extent, element_bytes, &extent))
               ? 0
               : extent;
}

void msp_check_strided(const char *call, const void *symmetric, ptrdiff_t dest_stride,
                       ptrdiff_t source_stride, size_t block_count, size_t count,
                       size_t element_bytes, int pe, bool is_dest)
{
    size_t extent;

    check_pe(call, pe);
    if ((dest_stride < 1) || ((size_t)dest_stride < block_count)) {
        msp_fatal("%s: dst %td is less than %zu, the elements of a block", call, dest_stride,
                  block_count);
    }
    if ((source_stride < 1) || ((size_t)source_stride < block_count)) {
        msp_fatal("%s: sst %td is less than %zu, the elements of a block", call, source_stride,
                  block_count);
    }
    check_alignment(call, "the symmetric address", symmetric, element_bytes);
    extent = extent_of(is_dest ? dest_stride : source_stride, block_count, count, element_bytes);
    if (extent != 0) {
        msp_rma_require(call, symmetric, extent, pe);
        check_block(call, symmetric, extent);
    }
}

void msp_check_word(const char *call, const char *argument, const void *address, size_t size_bytes,
                    int pe)
{
    check_pe(call, pe);
    check_local(call, argument, address);
    check_alignment(call, argument, address, size_bytes);
    msp_rma_require(call, address, size_bytes, pe);
    check_block(call, address, size_bytes);
}

void msp_check_symmetric(const char *call, const char *argument, const void *address,
                         size_t size_bytes)
{
    if (size_bytes != 0) {
        check_local(call, argument, address);
        msp_rma_require(call, address, size_bytes, msp_job.pe);
        check_block(call, address, size_bytes);
    }
}

void msp_check_agreement(const char *call, struct msp_team *team, const char *argument,
                         uint64_t value)
{
    msp_collective_check(call, team, argument, value);
}

struct msp_team *msp_check_team(const char *call, const char *argument, const void *handle)
{
    struct msp_team *team = msp_team_of(handle);

    msp_job_require(call);
    if (MSP_LIKELY((team != NULL) && (team->pe >= 0))) {
        return team;
    }
    if (handle == SHMEM_TEAM_INVALID) {
        msp_fatal("%s: %s is SHMEM_TEAM_INVALID: only members of a team call its collectives", call,
                  argument);
    }
    msp_fatal("%s: %s %p is no team of this PE's, or was destroyed", call, argument, handle);
}

struct msp_team *msp_require_team(const char *call, const char *argument, const void *handle)
{
    struct msp_team *team = msp_check_team(call, argument, handle);

    team->call = call;
    return team;
}

void msp_require_pointer(const char *call, const char *argument, const void *pointer)
{
    check_local(call, argument, pointer);
}

void msp_require_result(const char *call, const char *argument, const void *pointer)
{
    msp_job_require(call);
    check_local(call, argument, pointer);
}

void msp_refuse_comparison(const char *call, int comparison)
{
    msp_fatal("%s: cmp %d is none of SHMEM_CMP_EQ, NE, GT, GE, LT, LE", call, comparison);
}

void msp_refuse_signal_operator(const char *call, int operator_)
{
    msp_fatal("%s: sig_op %d is neither SHMEM_SIGNAL_SET nor SHMEM_SIGNAL_ADD", call, operator_);
}
