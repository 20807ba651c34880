/* SPDX-License-Identifier: BSD-3-Clause */
/* rma.c: put, get and atomics through a target, strided copies, and wrong arguments. */

#include "shmem/transport/rma.h"
#include "shmem/transport/atomic.h"
#include "shmem/transport/executable.h"
#include <dlfcn.h>
#include <memspan/allocator.h>
#include <memspan/transfer.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    /* A driver's copy takes as long as so many bytes more of one. */
    GATHER_GAP_BYTES = 8 << 10,
    GATHER_MAX_BYTES = 8 << 20,
};

/* ---- wrong arguments ---- */

static const char *segment_name(const struct msp_segment *segment, char *text, size_t size)
{
    if (segment == &msp_segments[MSP_SEGMENT_DATA]) {
        return "the executable's variables";
    }
    snprintf(text, size, "partition %d", segment->partition);
    return text;
}

static bool reaches(const struct msp_segment *segment, int pe)
{
    return (msp_job_local_index(pe) < 0) ? (msp_job.transport != NULL)
                                         : ((segment->fd >= 0) || segment->is_served);
}

/* An address in no segment, by what is there. */
static _Noreturn void refuse_address(const char *call, const void *address)
{
    enum msp_executable_part part = msp_executable_part_at(address);
    const char *difference        = msp_executable_difference();
    Dl_info object;

    if (part == MSP_EXECUTABLE_CONSTANT) {
        msp_fatal("%s: %p is not symmetric: it is read-only data of the executable, as const "
                  "variables are; they are the same in every PE, without a call",
                  call, address);
    }
    if (part == MSP_EXECUTABLE_VARIABLE) {
        msp_fatal("%s: %p is not symmetric: it is a variable of the executable, and %s; use "
                  "shmem_malloc()",
                  call, address,
                  (difference[0] != '\0') ? difference
                                          : "the linker has placed it apart from the others");
    }
    if (dladdr(address, &object) != 0) {
        msp_fatal("%s: %p is not symmetric: it is a variable of the shared library %s, and only "
                  "those of the executable are; link it statically, or use shmem_malloc()",
                  call, address, object.dli_fname);
    }
    msp_fatal("%s: %p is not symmetric: it lies neither in a partition nor in a global or "
              "static variable of the executable; allocate it with shmem_malloc()",
              call, address);
}

const struct msp_segment *msp_rma_require(const char *call, const void *address, size_t size_bytes,
                                          int pe)
{
    const struct msp_segment *segment = msp_segment_of(address);
    size_t offset                     = (size_t)((uintptr_t)address - (uintptr_t)segment->base);
    char text[32];

    msp_job_require(call);
    if ((unsigned)pe >= (unsigned)msp_job.pe_count) {
        msp_fatal("%s: pe %d does not exist: PEs are 0 to %d", call, pe, msp_job.pe_count - 1);
    }
    if (offset >= segment->size_bytes) {
        refuse_address(call, address);
    }
    if (size_bytes > segment->size_bytes - offset) {
        msp_fatal("%s: %zu bytes at %p run past the end of %s (%zu bytes are left there)", call,
                  size_bytes, address, segment_name(segment, text, sizeof text),
                  segment->size_bytes - offset);
    }
    if (!msp_segment_has_pe(segment, pe)) {
        msp_fatal("%s: %p is in %s, a space of a team; PE %d is not in that team", call, address,
                  segment_name(segment, text, sizeof text), pe);
    }
    if (!reaches(segment, pe)) {
        msp_fatal("%s: nothing here reaches %s of PE %d", call,
                  segment_name(segment, text, sizeof text), pe);
    }
    return segment;
}

/* ---- mapped memory and copies ---- */

void *msp_rma_mapped(const struct msp_segment *segment, const void *address, int pe)
{
    int index = msp_job_local_index(pe);

    if (pe == msp_job.pe) {
        return (void *)(uintptr_t)address;
    }
    if ((segment->fd < 0) || (index < 0)) {
        return NULL;
    }
    return (void *)((uintptr_t)address + (uintptr_t)segment->to_window +
                    ((size_t)index * segment->stride_bytes));
}

bool msp_rma_host_may_touch(const void *address)
{
    const struct msp_segment *segment = msp_segment_of(address);

    if ((uintptr_t)address - (uintptr_t)segment->base < segment->size_bytes) {
        return segment->host_touches;
    }
    return memspan_pointer_kind(address) != MEMSPAN_KIND_DEVICE;
}

void msp_rma_move(const char *call, void *to, const void *from, size_t size_bytes)
{
    if (to == from) {
        return; /* drivers refuse it */
    }
    if (msp_rma_host_touches(to) && msp_rma_host_touches(from)) {
        msp_rma_copy(to, from, size_bytes);
    } else if (memspan_copy(to, from, size_bytes) != MEMSPAN_OK) {
        msp_fatal_error(call);
    }
}

void msp_put_slow(const char *call, const struct msp_context *context, void *dest,
                  const void *source, size_t size_bytes, int pe, unsigned flags)
{
    struct msp_target target;

    msp_job_require(call);
    if (size_bytes != 0) {
        target = msp_target_resolve(call, context, dest, size_bytes, pe);
        msp_target_put(&target, source, size_bytes, flags);
    }
}

void msp_get_slow(const char *call, const struct msp_context *context, void *dest,
                  const void *source, size_t size_bytes, int pe, unsigned flags)
{
    struct msp_target target;

    msp_job_require(call);
    if (size_bytes != 0) {
        target = msp_target_resolve(call, context, source, size_bytes, pe);
        msp_target_get(&target, dest, size_bytes, flags);
    }
}

/* ---- strided ---- */

/* From the first byte of the first block to the last of the last one; SIZE_MAX, which fits no
 * segment, when that overflows or runs backwards. */
static size_t span(ptrdiff_t stride_bytes, size_t block_bytes, size_t block_count)
{
    size_t size_bytes;

    if (((stride_bytes < 0) && (block_count > 1)) ||
        __builtin_mul_overflow((size_t)stride_bytes, block_count - 1, &size_bytes) ||
        __builtin_add_overflow(size_bytes, block_bytes, &size_bytes)) {
        return SIZE_MAX;
    }
    return size_bytes;
}

/* Wraps around where strides are too large: each block is checked then. */
static void *block_at(const void *first, ptrdiff_t stride_bytes, size_t i)
{
    return (void *)((uintptr_t)first + (i * (size_t)stride_bytes));
}

static void copy_blocks(char *to, const char *from, ptrdiff_t to_stride, ptrdiff_t from_stride,
                        size_t block_bytes, size_t block_count)
{
    size_t i;

    for (i = 0; i < block_count; i++, to += to_stride, from += from_stride) {
        msp_rma_copy(to, from, block_bytes);
    }
}

void msp_rma_move_blocks(const char *call, void *to, ptrdiff_t to_stride, const void *from,
                         ptrdiff_t from_stride, size_t block_bytes, size_t block_count)
{
    if (msp_rma_host_touches(to) && msp_rma_host_touches(from)) {
        copy_blocks(to, from, to_stride, from_stride, block_bytes, block_count);
    } else if (memspan_copy_blocks(to, (size_t)to_stride, from, (size_t)from_stride, block_bytes,
                                   block_count) != MEMSPAN_OK) {
        msp_fatal_error(call);
    }
}

void msp_rma_gather(const char *call, char *to, const char *from, ptrdiff_t stride_bytes,
                    size_t block_bytes, size_t block_count)
{
    size_t span_bytes = span(stride_bytes, block_bytes, block_count);
    char *copy        = NULL;

    if (!msp_rma_host_touches(from) && (block_count > 1) &&
        (span_bytes / block_count <= GATHER_GAP_BYTES) && (span_bytes <= GATHER_MAX_BYTES)) {
        copy = malloc(span_bytes);
    }
    if (copy != NULL) {
        msp_rma_move(call, copy, from, span_bytes);
        from = copy;
    }
    msp_rma_move_blocks(call, to, (ptrdiff_t)block_bytes, from, stride_bytes, block_bytes,
                        block_count);
    free(copy);
}

static __attribute__((noinline, cold)) void put_strided_far(const char *call,
                                                            const struct msp_context *context,
                                                            void *dest, const void *source,
                                                            const struct msp_blocks *blocks, int pe)
{
    size_t span_bytes = span(blocks->target_stride_bytes, blocks->block_bytes, blocks->block_count);
    struct msp_target target;
    size_t i;

    if (span_bytes != SIZE_MAX) {
        target = msp_target_resolve(call, context, dest, span_bytes, pe);
        msp_target_put_strided(&target, source, blocks);
        return;
    }
    for (i = 0; i < blocks->block_count; i++) {
        void *there = block_at(dest, blocks->target_stride_bytes, i);
        void *here  = block_at(source, blocks->local_stride_bytes, i);

        msp_put_slow(call, context, there, here, blocks->block_bytes, pe, 0);
    }
}

static __attribute__((noinline, cold)) void get_strided_far(const char *call,
                                                            const struct msp_context *context,
                                                            const void *source, void *dest,
                                                            const struct msp_blocks *blocks, int pe)
{
    size_t span_bytes = span(blocks->target_stride_bytes, blocks->block_bytes, blocks->block_count);
    struct msp_target target;
    size_t i;

    if (span_bytes != SIZE_MAX) {
        target = msp_target_resolve(call, context, source, span_bytes, pe);
        msp_target_get_strided(&target, dest, blocks);
        return;
    }
    for (i = 0; i < blocks->block_count; i++) {
        void *there = block_at(source, blocks->target_stride_bytes, i);
        void *here  = block_at(dest, blocks->local_stride_bytes, i);

        msp_get_slow(call, context, here, there, blocks->block_bytes, pe, 0);
    }
}

void msp_put_strided(const char *call, const struct msp_context *context, void *dest,
                     const void *source, ptrdiff_t dest_stride_bytes, ptrdiff_t source_stride_bytes,
                     size_t block_bytes, size_t block_count, int pe)
{
    size_t span_bytes;
    unsigned index;
    void *to;

    if ((block_count == 0) || (block_bytes == 0)) {
        msp_job_require(call);
        return;
    }
    span_bytes = span(dest_stride_bytes, block_bytes, block_count);
    to         = msp_peer_resolve(dest, span_bytes, pe, &index);
    if (MSP_LIKELY((to != NULL) && msp_rma_host_touches(source))) {
        copy_blocks(to, source, dest_stride_bytes, source_stride_bytes, block_bytes, block_count);
        msp_peer_notify(index, dest, span_bytes);
        return;
    }
    put_strided_far(
        call, context, dest, source,
        &(struct msp_blocks){dest_stride_bytes, source_stride_bytes, block_bytes, block_count}, pe);
}

void msp_get_strided(const char *call, const struct msp_context *context, void *dest,
                     const void *source, ptrdiff_t dest_stride_bytes, ptrdiff_t source_stride_bytes,
                     size_t block_bytes, size_t block_count, int pe)
{
    size_t span_bytes;
    const void *from;
    unsigned index;

    if ((block_count == 0) || (block_bytes == 0)) {
        msp_job_require(call);
        return;
    }
    span_bytes = span(source_stride_bytes, block_bytes, block_count);
    from       = msp_peer_resolve(source, span_bytes, pe, &index);
    if (MSP_LIKELY((from != NULL) && msp_rma_host_touches(dest))) {
        copy_blocks(dest, from, dest_stride_bytes, source_stride_bytes, block_bytes, block_count);
        msp_rma_got();
        return;
    }
    get_strided_far(
        call, context, source, dest,
        &(struct msp_blocks){source_stride_bytes, dest_stride_bytes, block_bytes, block_count}, pe);
}

/* ---- questions ---- */

void *msp_rma_pointer(const void *address, int pe)
{
    const struct msp_segment *segment = msp_segment_of(address);
    size_t offset                     = (size_t)((uintptr_t)address - (uintptr_t)segment->base);

    if (((unsigned)pe >= (unsigned)msp_job.pe_count) || (offset >= segment->size_bytes) ||
        !msp_segment_has_pe(segment, pe) || !segment->host_touches) {
        return NULL;
    }
    return msp_rma_mapped(segment, address, pe);
}

bool msp_rma_reaches(const void *address, int pe)
{
    const struct msp_segment *segment = msp_segment_of(address);
    size_t offset                     = (size_t)((uintptr_t)address - (uintptr_t)segment->base);

    return ((unsigned)pe < (unsigned)msp_job.pe_count) && (offset < segment->size_bytes) &&
           msp_segment_has_pe(segment, pe) && reaches(segment, pe);
}

/* ---- atomics ---- */

void msp_atomic_post_slow(const char *call, const struct msp_context *context,
                          enum msp_atomic operation, const void *dest, size_t size_bytes,
                          uint64_t value, uint64_t condition, int pe, void *fetch)
{
    struct msp_target target = msp_target_resolve(call, context, dest, size_bytes, pe);

    msp_target_atomic(&target,
                      &(struct msp_atomic_request){.operation  = operation,
                                                   .size_bytes = (unsigned)size_bytes,
                                                   .value      = value,
                                                   .condition  = condition,
                                                   .fetch      = fetch},
                      MSP_OP_NONBLOCKING);
}

uint64_t msp_atomic_slow(const char *call, const struct msp_context *context,
                         enum msp_atomic operation, const void *dest, size_t size_bytes,
                         uint64_t value, uint64_t condition, int pe)
{
    struct msp_target target = msp_target_resolve(call, context, dest, size_bytes, pe);
    uint64_t old             = 0;

    msp_target_atomic(&target,
                      &(struct msp_atomic_request){.operation  = operation,
                                                   .size_bytes = (unsigned)size_bytes,
                                                   .value      = value,
                                                   .condition  = condition,
                                                   .fetch      = &old},
                      0);
    return msp_bits_of(&old, size_bytes);
}
