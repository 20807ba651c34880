/* SPDX-License-Identifier: BSD-3-Clause */
/* rma.c: put and get where a plain copy will not do, and what is wrong where nothing will. */

#include "shmem/transport/rma.h"
#include "shmem/transport/atomic.h"
#include "shmem/transport/order.h"
#include "shmem/transport/owner.h"
#include <memspan/allocator.h>
#include <memspan/transfer.h>
#include <stdio.h>

/* ---- what is wrong ---- */

static const char *segment_name(const struct msp_segment *segment, char *text, size_t size)
{
    if (segment == &msp_segments[MSP_SEGMENT_DATA]) {
        return "the executable's variables";
    }
    snprintf(text, size, "partition %d", segment->partition);
    return text;
}

void msp_rma_require(const char *call, const void *address, size_t size_bytes, int pe)
{
    const struct msp_segment *segment = msp_segment_of(address);
    size_t offset                     = (size_t)((uintptr_t)address - (uintptr_t)segment->base);
    char text[32];

    msp_job_require(call);
    if ((unsigned)pe >= (unsigned)msp_job.pe_count) {
        msp_fatal("%s: pe %d does not exist: PEs are 0 to %d", call, pe, msp_job.pe_count - 1);
    }
    if ((offset >= segment->size_bytes) && msp_data_segment_is_constant(address)) {
        msp_fatal("%s: %p is not symmetric: it is read-only data of the executable, as const "
                  "variables are; they are the same in every PE, without a call",
                  call, address);
    }
    if (offset >= segment->size_bytes) {
        msp_fatal("%s: %p is not symmetric: it lies neither in a partition nor in a global or "
                  "static variable of the executable; allocate it with shmem_malloc()",
                  call, address);
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
    if ((msp_job_local_index(pe) < 0) || ((segment->fd < 0) && (segment->remote == NULL))) {
        msp_fatal("%s: nothing here reaches %s of PE %d", call,
                  segment_name(segment, text, sizeof text), pe);
    }
}

/* ---- the slow way ---- */

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
    if (msp_rma_host_touches(to) && msp_rma_host_touches(from)) {
        msp_rma_copy(to, from, size_bytes);
    } else if (memspan_copy(to, from, size_bytes) != MEMSPAN_OK) {
        msp_fatal_error(call);
    }
}

/* Where a PE's memory is mapped here, also if the node's PEs are not one run of numbers. */
static void *mapped(const void *address, int pe, int *index_p)
{
    const struct msp_segment *segment = msp_segment_of(address);

    *index_p = msp_job_local_index(pe);
    if ((segment->fd < 0) || (*index_p < 0)) {
        return NULL;
    }
    return (void *)((uintptr_t)address + (uintptr_t)segment->to_window +
                    ((size_t)*index_p * segment->stride_bytes));
}

void msp_put_slow(const char *call, const struct msp_context *context, void *dest,
                  const void *source, size_t size_bytes, int pe)
{
    int index;
    void *to;

    if (size_bytes == 0) {
        msp_job_require(call);
        return;
    }
    msp_rma_require(call, dest, size_bytes, pe);
    to = mapped(dest, pe, &index);
    if (to == NULL) {
        msp_remote_put(call, msp_segment_of(dest), context, dest, source, size_bytes, pe);
    } else {
        msp_rma_move(call, to, source, size_bytes);
        msp_doorbell_notify_at(index, dest, size_bytes);
    }
}

void msp_get_slow(const char *call, const struct msp_context *context, void *dest,
                  const void *source, size_t size_bytes, int pe)
{
    const void *from;
    int index;

    if (size_bytes == 0) {
        msp_job_require(call);
        return;
    }
    msp_rma_require(call, source, size_bytes, pe);
    from = mapped(source, pe, &index);
    if (from == NULL) {
        msp_remote_get(call, msp_segment_of(source), context, dest, source, size_bytes, pe);
    } else {
        msp_rma_move(call, dest, from, size_bytes);
    }
}

/* ---- strided ---- */

/* From the first byte of the first block to the last of the last one; SIZE_MAX, which is in no
 * segment, for what is more than there can be or lies before the first one. */
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

/* Strides may be too large for addresses: what they lead to is looked at then. */
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

void msp_put_strided(const char *call, const struct msp_context *context, void *dest,
                     const void *source, ptrdiff_t dest_stride_bytes, ptrdiff_t source_stride_bytes,
                     size_t block_bytes, size_t block_count, int pe)
{
    unsigned index;
    void *to;
    size_t i;

    if ((block_count == 0) || (block_bytes == 0)) {
        msp_job_require(call);
        return;
    }
    to = msp_segment_peer(dest, span(dest_stride_bytes, block_bytes, block_count), pe, &index);
    if (MSP_LIKELY((to != NULL) && msp_rma_host_touches(source))) {
        copy_blocks(to, source, dest_stride_bytes, source_stride_bytes, block_bytes, block_count);
        msp_doorbell_notify_at((int)index, dest, span(dest_stride_bytes, block_bytes, block_count));
        return;
    }
    for (i = 0; i < block_count; i++) {
        msp_put_slow(call, context, block_at(dest, dest_stride_bytes, i),
                     block_at(source, source_stride_bytes, i), block_bytes, pe);
    }
}

void msp_get_strided(const char *call, const struct msp_context *context, void *dest,
                     const void *source, ptrdiff_t dest_stride_bytes, ptrdiff_t source_stride_bytes,
                     size_t block_bytes, size_t block_count, int pe)
{
    const void *from;
    unsigned index;
    size_t i;

    if ((block_count == 0) || (block_bytes == 0)) {
        msp_job_require(call);
        return;
    }
    from =
        msp_segment_peer(source, span(source_stride_bytes, block_bytes, block_count), pe, &index);
    if (MSP_LIKELY((from != NULL) && msp_rma_host_touches(dest))) {
        copy_blocks(dest, from, dest_stride_bytes, source_stride_bytes, block_bytes, block_count);
        return;
    }
    for (i = 0; i < block_count; i++) {
        msp_get_slow(call, context, block_at(dest, dest_stride_bytes, i),
                     block_at(source, source_stride_bytes, i), block_bytes, pe);
    }
}

/* ---- questions ---- */

void *msp_rma_pointer(const void *address, int pe)
{
    const struct msp_segment *segment = msp_segment_of(address);
    size_t offset                     = (size_t)((uintptr_t)address - (uintptr_t)segment->base);
    int index;

    if (((unsigned)pe >= (unsigned)msp_job.pe_count) || (offset >= segment->size_bytes) ||
        !msp_segment_has_pe(segment, pe)) {
        return NULL;
    }
    if (pe == msp_job.pe) {
        return segment->host_touches ? (void *)(uintptr_t)address : NULL;
    }
    return mapped(address, pe, &index);
}

bool msp_rma_reaches(const void *address, int pe)
{
    const struct msp_segment *segment = msp_segment_of(address);
    size_t offset                     = (size_t)((uintptr_t)address - (uintptr_t)segment->base);

    return ((unsigned)pe < (unsigned)msp_job.pe_count) && (offset < segment->size_bytes) &&
           msp_segment_has_pe(segment, pe) && ((segment->fd >= 0) || (segment->remote != NULL));
}

/* ---- atomics ---- */

#define APPLY(type)                                                                                \
    do {                                                                                           \
        type *at      = word;                                                                      \
        type operand  = (type)value;                                                               \
        type expected = (type)condition;                                                           \
        switch (operation) {                                                                       \
        case MSP_ATOMIC_FETCH:                                                                     \
            return __atomic_load_n(at, __ATOMIC_ACQUIRE);                                          \
        case MSP_ATOMIC_SET:                                                                       \
            __atomic_store_n(at, operand, __ATOMIC_RELEASE);                                       \
            return 0;                                                                              \
        case MSP_ATOMIC_SWAP:                                                                      \
            return __atomic_exchange_n(at, operand, __ATOMIC_ACQ_REL);                             \
        case MSP_ATOMIC_COMPARE_SWAP:                                                              \
            __atomic_compare_exchange_n(at, &expected, operand, 0, __ATOMIC_ACQ_REL,               \
                                        __ATOMIC_ACQUIRE);                                         \
            return expected;                                                                       \
        case MSP_ATOMIC_ADD:                                                                       \
            return __atomic_fetch_add(at, operand, __ATOMIC_ACQ_REL);                              \
        case MSP_ATOMIC_AND:                                                                       \
            return __atomic_fetch_and(at, operand, __ATOMIC_ACQ_REL);                              \
        case MSP_ATOMIC_OR:                                                                        \
            return __atomic_fetch_or(at, operand, __ATOMIC_ACQ_REL);                               \
        case MSP_ATOMIC_XOR:                                                                       \
            return __atomic_fetch_xor(at, operand, __ATOMIC_ACQ_REL);                              \
        }                                                                                          \
    } while (0)

uint64_t msp_atomic_apply(enum msp_atomic operation, void *word, size_t size_bytes, uint64_t value,
                          uint64_t condition)
{
    switch (size_bytes) {
    case 1:
        APPLY(uint8_t);
        break;
    case 2:
        APPLY(uint16_t);
        break;
    case 4:
        APPLY(uint32_t);
        break;
    default:
        APPLY(uint64_t);
        break;
    }
    return 0;
}

uint64_t msp_atomic_slow(const char *call, const struct msp_context *context,
                         enum msp_atomic operation, const void *dest, size_t size_bytes,
                         uint64_t value, uint64_t condition, int pe)
{
    uint64_t old;
    int index;
    void *to;

    msp_rma_require(call, dest, size_bytes, pe);
    to = mapped(dest, pe, &index);
    if (to == NULL) {
        return msp_remote_atomic(call, msp_segment_of(dest), context, operation, dest, size_bytes,
                                 value, condition, pe);
    }
    old = msp_atomic_apply(operation, to, size_bytes, value, condition);
    msp_doorbell_notify_at(index, dest, size_bytes);
    return old;
}

/* ---- order ---- */

atomic_bool msp_order_pending;

void msp_order_slow(const struct msp_context *context, bool completes)
{
    msp_remote_order(context, completes);
}
