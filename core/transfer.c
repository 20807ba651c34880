/* SPDX-License-Identifier: BSD-3-Clause */
/* transfer.c: copies, fills, prefetches and kernels, each by the driver of the memory.
 *
 * Memory of a device's driver, also where the host could touch it, is copied by that driver, in
 * order with the device's other work. Between two drivers the bytes go through host memory, a
 * window at a time. */

#include "core/transfer.h"
#include "core/base/capability.h"
#include "core/base/error.h"
#include "core/base/platform.h"
#include "core/debug/guard.h"
#include "core/device/device.h"
#include "core/device/driver.h"
#include "core/queue.h"
#include "core/share.h"
#include <memspan/transfer.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW_BYTES = 4 << 20 };

static memspan_status_t check_range(const void *pointer, size_t size_bytes, const char *side,
                                    const void *base, size_t held_bytes)
{
    size_t offset = (size_t)((const char *)pointer - (const char *)base);

    return ((offset <= held_bytes) && (size_bytes <= held_bytes - offset))
               ? MEMSPAN_OK
               : memspan_error(MEMSPAN_ERR_INVALID,
                               "the %s (%p, %zu bytes) runs past its block of %zu bytes at %p",
                               side, pointer, size_bytes, held_bytes, base);
}

/* Memory of another process, or else foreign: memory that the host may touch, as in the header.
 */
static memspan_status_t find_other_side(const void *pointer, size_t size_bytes, const char *side,
                                        const struct msp_device **device_p)
{
    struct msp_opened opened;

    if (!msp_opened_find(pointer, &opened)) {
        return MEMSPAN_OK;
    }
    *device_p = opened.device;
    return check_range(pointer, size_bytes, side, opened.base, opened.size_bytes);
}

/* One side of a transfer: the device whose driver has it, or NULL for the host's own memory. */
static memspan_status_t find_side(const void *pointer, size_t size_bytes, const char *side,
                                  const struct msp_device **device_p)
{
    struct msp_block_view view;

    *device_p = NULL;
    if (pointer == NULL) {
        return memspan_error(MEMSPAN_ERR_INVALID, "the %s of a transfer of %zu bytes is NULL", side,
                             size_bytes);
    }
    if (!msp_block_find(pointer, &view)) {
        return find_other_side(pointer, size_bytes, side, device_p);
    }
    if (view.chunk->provider->spec.device->number != MEMSPAN_HOST) {
        *device_p = view.chunk->provider->spec.device;
    }
    return check_range(pointer, size_bytes, side, view.address, view.owner.requested_bytes);
}

static memspan_status_t copy_by(const struct msp_device *d, void *to, const void *from,
                                size_t size_bytes)
{
    memspan_status_t status;

    if (d->table->copy == NULL) {
        return memspan_error(MEMSPAN_ERR_UNSUPPORTED, "backend %s cannot copy", d->table->name);
    }
    status = msp_driver_hold(d);
    if (status != MEMSPAN_OK) {
        return status;
    }
    status = d->table->copy(d->state, d->ordinal, NULL, to, from, size_bytes);
    if (status == MEMSPAN_OK) {
        status = d->table->synchronize(d->state, d->ordinal, NULL);
    }
    msp_driver_release(d);
    return status;
}

memspan_status_t msp_fill_by(const struct msp_device *d, void *to, unsigned char byte,
                             size_t size_bytes)
{
    memspan_status_t status;

    if (d->table->fill == NULL) {
        return memspan_error(MEMSPAN_ERR_UNSUPPORTED, "backend %s cannot fill", d->table->name);
    }
    status = msp_driver_hold(d);
    if (status != MEMSPAN_OK) {
        return status;
    }
    status = d->table->fill(d->state, d->ordinal, NULL, to, byte, size_bytes);
    if (status == MEMSPAN_OK) {
        status = d->table->synchronize(d->state, d->ordinal, NULL);
    }
    msp_driver_release(d);
    return status;
}

static memspan_status_t copy_through_host(const struct msp_device *to_device, char *to,
                                          const struct msp_device *from_device, const char *from,
                                          size_t size_bytes)
{
    size_t window           = (size_bytes < WINDOW_BYTES) ? size_bytes : WINDOW_BYTES;
    memspan_status_t status = MEMSPAN_OK;
    size_t done             = 0;
    char *buffer            = malloc(window);

    if (buffer == NULL) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no %zu bytes to copy through", window);
    }
    while ((status == MEMSPAN_OK) && (done < size_bytes)) {
        size_t part = (size_bytes - done < window) ? size_bytes - done : window;

        status = copy_by(from_device, buffer, from + done, part);
        if (status == MEMSPAN_OK) {
            status = copy_by(to_device, to + done, buffer, part);
        }
        done += part;
    }
    free(buffer);
    return status;
}

static memspan_status_t find_sides(const void *to, size_t to_bytes, const void *from,
                                   size_t from_bytes, const struct msp_device **to_p,
                                   const struct msp_device **from_p)
{
    memspan_status_t status = find_side(to, to_bytes, "destination", to_p);

    return (status == MEMSPAN_OK) ? find_side(from, from_bytes, "source", from_p) : status;
}

memspan_status_t memspan_copy(void *to, const void *from, size_t size_bytes)
{
    const struct msp_device *to_device;
    const struct msp_device *from_device;
    memspan_status_t status;

    if (size_bytes == 0) {
        return MEMSPAN_OK;
    }
    status = find_sides(to, size_bytes, from, size_bytes, &to_device, &from_device);
    if (status != MEMSPAN_OK) {
        return status;
    }
    if ((to_device == NULL) && (from_device == NULL)) {
        memcpy(to, from, size_bytes);
        return MEMSPAN_OK;
    }
    if ((to_device != NULL) && (from_device != NULL) && (to_device->table != from_device->table)) {
        return copy_through_host(to_device, to, from_device, from, size_bytes);
    }
    return copy_by((to_device != NULL) ? to_device : from_device, to, from, size_bytes);
}

/* ---- blocks ---- */

/* Several blocks with equal distances on each side. */
struct blocks {
    char *to;
    const char *from;
    size_t to_stride_bytes;
    size_t from_stride_bytes;
    size_t block_bytes;
    size_t block_count;
};

/* From the first byte to the last. False: it overflows, or blocks overlap. */
static bool span_of(const struct blocks *b, size_t stride_bytes, size_t *span_p)
{
    return (stride_bytes >= b->block_bytes) &&
           !__builtin_mul_overflow(stride_bytes, b->block_count - 1, span_p) &&
           !__builtin_add_overflow(*span_p, b->block_bytes, span_p);
}

/* The call of a driver; MEMSPAN_ERR_UNSUPPORTED: block by block. */
static memspan_status_t copy_at_once(const struct msp_device *d, const struct blocks *b)
{
    const memspan_backend_t *table = d->table;

    if (table->copy_blocks == NULL) {
        return MEMSPAN_ERR_UNSUPPORTED;
    }
    return table->copy_blocks(d->state, d->ordinal, NULL, b->to, b->to_stride_bytes, b->from,
                              b->from_stride_bytes, b->block_bytes, b->block_count);
}

/* The driver is waited for once. */
static memspan_status_t copy_blocks_by(const struct msp_device *d, const struct blocks *b)
{
    memspan_status_t status = msp_driver_hold(d);
    memspan_status_t ended;
    size_t i;

    if (status != MEMSPAN_OK) {
        return status;
    }
    status = copy_at_once(d, b);
    if ((status == MEMSPAN_ERR_UNSUPPORTED) && (d->table->copy != NULL)) {
        status = MEMSPAN_OK;
        for (i = 0; (status == MEMSPAN_OK) && (i < b->block_count); i++) {
            status = d->table->copy(d->state, d->ordinal, NULL, b->to + i * b->to_stride_bytes,
                                    b->from + i * b->from_stride_bytes, b->block_bytes);
        }
    }
    ended = d->table->synchronize(d->state, d->ordinal, NULL);
    msp_driver_release(d);
    return (status == MEMSPAN_OK) ? ended : status;
}

static memspan_status_t copy_each(const struct blocks *b)
{
    memspan_status_t status = MEMSPAN_OK;
    size_t i;

    for (i = 0; (status == MEMSPAN_OK) && (i < b->block_count); i++) {
        status = memspan_copy(b->to + i * b->to_stride_bytes, b->from + i * b->from_stride_bytes,
                              b->block_bytes);
    }
    return status;
}

memspan_status_t memspan_copy_blocks(void *to, size_t to_stride_bytes, const void *from,
                                     size_t from_stride_bytes, size_t block_bytes,
                                     size_t block_count)
{
    const struct blocks b = {to,          from,       to_stride_bytes, from_stride_bytes,
                             block_bytes, block_count};
    const struct msp_device *to_device;
    const struct msp_device *from_device;
    memspan_status_t status;
    size_t to_bytes;
    size_t from_bytes;

    if ((block_bytes == 0) || (block_count == 0)) {
        return MEMSPAN_OK;
    }
    if (block_count == 1) {
        return memspan_copy(to, from, block_bytes); /* strides do not matter */
    }
    if (!span_of(&b, to_stride_bytes, &to_bytes) || !span_of(&b, from_stride_bytes, &from_bytes)) {
        return memspan_error(MEMSPAN_ERR_INVALID,
                             "%zu blocks of %zu bytes overlap, or overflow a size: their strides "
                             "are %zu and %zu bytes",
                             block_count, block_bytes, to_stride_bytes, from_stride_bytes);
    }
    status = find_sides(to, to_bytes, from, from_bytes, &to_device, &from_device);
    if (status != MEMSPAN_OK) {
        return status;
    }
    if (((to_device == NULL) && (from_device == NULL)) ||
        ((to_device != NULL) && (from_device != NULL) &&
         (to_device->table != from_device->table))) {
        return copy_each(&b);
    }
    return copy_blocks_by((to_device != NULL) ? to_device : from_device, &b);
}

/* ---- fills and prefetches ---- */

memspan_status_t memspan_fill(void *to, unsigned char byte, size_t size_bytes)
{
    const struct msp_device *d;
    memspan_status_t status;

    if (size_bytes == 0) {
        return MEMSPAN_OK;
    }
    status = find_side(to, size_bytes, "destination", &d);
    if (status != MEMSPAN_OK) {
        return status;
    }
    if (d == NULL) {
        memset(to, byte, size_bytes);
        return MEMSPAN_OK;
    }
    return msp_fill_by(d, to, byte, size_bytes);
}

/* The queue's driver has the memory, or the host reaches it: the driver copies it in order. */
static bool is_served_by(const struct msp_queue *q, const struct msp_device *side)
{
    return (side == NULL) || (side->table == q->device->table);
}

/* On @p q, whose device has the memory then; NULL: on the memory's device. */
static memspan_status_t prefetch(const struct msp_queue *q, const void *pointer, size_t size_bytes,
                                 int number)
{
    const struct msp_device *to = msp_device_find(number);
    const struct msp_device *d;
    memspan_status_t status;

    if (to == NULL) {
        return memspan_error_last()->status;
    }
    status = find_side(pointer, size_bytes, "memory to prefetch", &d);
    if ((status != MEMSPAN_OK) || (size_bytes == 0)) {
        return status;
    }
    if ((d == NULL) || (d->table->prefetch == NULL)) {
        memspan_error(MEMSPAN_ERR_UNSUPPORTED, "the memory at %p does not move by prefetching",
                      pointer);
        return msp_error_hint("only managed memory of a driver that moves it does");
    }
    if (((to->number != MEMSPAN_HOST) && (to->table != d->table)) ||
        ((q != NULL) && !is_served_by(q, d))) {
        return memspan_error(MEMSPAN_ERR_UNSUPPORTED, "%s memory does not move to device %d%s",
                             d->table->name, number, (q == NULL) ? "" : " by that queue");
    }
    d = (q == NULL) ? d : q->device;
    return d->table->prefetch(d->state, d->ordinal, (q == NULL) ? NULL : q->native, pointer,
                              size_bytes,
                              (to->number == MEMSPAN_HOST) ? MEMSPAN_HOST : to->ordinal);
}

memspan_status_t memspan_prefetch(const void *pointer, size_t size_bytes, int number)
{
    return prefetch(NULL, pointer, size_bytes, number);
}

/* ---- kernels ---- */

/* Where an operand lives, and how much of it there is; false: it is unknown here. */
static bool find_operand(const void *pointer, struct msp_resource *r, const void **base_p,
                         size_t *held_bytes_p)
{
    struct msp_block_view view;
    struct msp_opened opened;

    if (msp_block_find(pointer, &view)) {
        const struct msp_provider_spec *spec = &view.chunk->provider->spec;

        *r      = (struct msp_resource){spec->device, spec->kind, -1, spec->importer_count > 0};
        *base_p = view.address;
        *held_bytes_p = view.owner.requested_bytes;
        return true;
    }
    if (msp_opened_find(pointer, &opened)) {
        *r            = (struct msp_resource){opened.device, opened.kind, -1, false};
        *base_p       = opened.base;
        *held_bytes_p = opened.size_bytes;
        return true;
    }
    return false;
}

static memspan_status_t check_operand(const struct msp_device *d, const char *name,
                                      const void *pointer, size_t size_bytes)
{
    struct msp_resource r;
    const void *base;
    size_t held_bytes;
    char label[48];
    char home[48];
    size_t offset;

    if (pointer == NULL) {
        return memspan_error(MEMSPAN_ERR_INVALID, "operand %s of the kernel is NULL", name);
    }
    if (!find_operand(pointer, &r, &base, &held_bytes)) {
        if ((d->number == MEMSPAN_HOST) ||
            ((d->info.capabilities & MEMSPAN_CAN_ACCESS_PAGEABLE) != 0) ||
            msp_import_covers(pointer, size_bytes, d)) {
            return MEMSPAN_OK;
        }
        memspan_error(MEMSPAN_ERR_INVALID,
                      "operand %s (%p) is not memory of Memspan, and %s reaches no other", name,
                      pointer, msp_device_label(d, label, sizeof(label)));
        return msp_error_hint("allocate it from a space that lists device %d", d->number);
    }
    if (msp_resource_reach(&r, d).access < MEMSPAN_ACCESS_FAULT) {
        memspan_error(MEMSPAN_ERR_INVALID, "operand %s (%p) is %s memory, which %s does not reach",
                      name, pointer, msp_resource_label(&r, home, sizeof(home)),
                      msp_device_label(d, label, sizeof(label)));
        return msp_error_hint("allocate it from a space that lists device %d", d->number);
    }
    offset = (size_t)((const char *)pointer - (const char *)base);
    if ((offset > held_bytes) || (size_bytes > held_bytes - offset)) {
        return memspan_error(MEMSPAN_ERR_INVALID,
                             "operand %s needs %zu bytes, its block of %zu ends before", name,
                             size_bytes, held_bytes);
    }
    return MEMSPAN_OK;
}

static memspan_status_t check_call(const struct msp_device *d, const memspan_kernel_call_t *call)
{
    size_t vector_bytes;
    size_t x_bytes = 0;
    size_t y_bytes = 0;
    size_t z_bytes = 0;
    size_t element = msp_element_bytes(call->kernel);
    memspan_status_t status;

    if (__builtin_mul_overflow(call->count, (element > 0) ? element : sizeof(double),
                               &vector_bytes)) {
        return memspan_error(MEMSPAN_ERR_INVALID, "%zu elements overflow a size", call->count);
    }
    switch (call->kernel) {
    case MEMSPAN_KERNEL_DAXPY:
        x_bytes = y_bytes = z_bytes = vector_bytes;
        break;
    case MEMSPAN_KERNEL_FILL:
        z_bytes = vector_bytes;
        break;
    case MEMSPAN_KERNEL_SUM:
        x_bytes = vector_bytes;
        z_bytes = sizeof(double);
        break;
    case MEMSPAN_KERNEL_CHASE:
        x_bytes = sizeof(void *);
        z_bytes = sizeof(void *);
        break;
    case MEMSPAN_KERNEL_ADD_ATOMIC:
        z_bytes = sizeof(int32_t);
        break;
    default:
        if (element == 0) {
            return memspan_error(MEMSPAN_ERR_INVALID, "there is no kernel %d", (int)call->kernel);
        }
        x_bytes = y_bytes = z_bytes = vector_bytes;
        break;
    }
    status = check_operand(d, "z", call->z, z_bytes);
    if ((status == MEMSPAN_OK) && (x_bytes > 0)) {
        status = check_operand(d, "x", call->x, x_bytes);
    }
    if ((status == MEMSPAN_OK) && (y_bytes > 0)) {
        status = check_operand(d, "y", call->y, y_bytes);
    }
    return status;
}

/* The sum of nothing and the end of an empty walk are still written. */
static bool gives_result(memspan_kernel_t kernel)
{
    return (kernel == MEMSPAN_KERNEL_SUM) || (kernel == MEMSPAN_KERNEL_CHASE);
}

static memspan_status_t launch(const struct msp_device *d, void *native,
                               const memspan_kernel_call_t *call)
{
    memspan_status_t status;

    if ((call == NULL) || (call->struct_size < sizeof(*call))) {
        return memspan_error(MEMSPAN_ERR_INVALID,
                             "the kernel's arguments are NULL, or struct_size is not set");
    }
    if (d->table->launch == NULL) {
        memspan_error(MEMSPAN_ERR_UNSUPPORTED, "backend %s has no built-in kernels",
                      d->table->name);
        return msp_error_hint("in an OpenMP program, kernels are its target regions");
    }
    if ((call->count == 0) && !gives_result(call->kernel)) {
        bool can = (d->info.capabilities & MEMSPAN_CAN_KERNELS) != 0;
        return can ? MEMSPAN_OK : d->table->launch(d->state, d->ordinal, native, call);
    }
    status = check_call(d, call);
    return (status == MEMSPAN_OK) ? d->table->launch(d->state, d->ordinal, native, call) : status;
}

memspan_status_t memspan_kernel_launch(int number, const memspan_kernel_call_t *call)
{
    const struct msp_device *d = msp_device_find(number);

    return (d == NULL) ? memspan_error_last()->status : launch(d, NULL, call);
}

/* ---- on a queue ---- */

/* Where the driver does not serve the memory, the host does the work, after the queue's. */
static memspan_status_t copy_on(struct msp_queue *q, void *to, const void *from, size_t size_bytes)
{
    const struct msp_device *d = q->device;
    const struct msp_device *to_device;
    const struct msp_device *from_device;
    memspan_status_t status =
        find_sides(to, size_bytes, from, size_bytes, &to_device, &from_device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    if ((d->table->copy != NULL) && is_served_by(q, to_device) && is_served_by(q, from_device)) {
        return d->table->copy(d->state, d->ordinal, q->native, to, from, size_bytes);
    }
    status = msp_queue_synchronize(q, MSP_WAIT_COPY);
    return (status == MEMSPAN_OK) ? memspan_copy(to, from, size_bytes) : status;
}

memspan_status_t memspan_copy_on(memspan_queue_h queue, void *to, const void *from,
                                 size_t size_bytes)
{
    struct msp_queue *q = msp_queue_enter(queue);
    uint64_t started_ns = msp_watch_now();
    memspan_status_t status;

    if (q == NULL) {
        return memspan_error_last()->status;
    }
    status = (size_bytes == 0) ? MEMSPAN_OK : copy_on(q, to, from, size_bytes);
    msp_queue_trace(q, "copy", to, size_bytes, started_ns);
    msp_queue_leave(q);
    msp_waits_flush();
    return status;
}

static memspan_status_t fill_on(struct msp_queue *q, void *to, unsigned char byte,
                                size_t size_bytes)
{
    const struct msp_device *d = q->device;
    const struct msp_device *side;
    memspan_status_t status = find_side(to, size_bytes, "destination", &side);

    if (status != MEMSPAN_OK) {
        return status;
    }
    if ((d->table->fill != NULL) && (side != NULL) && is_served_by(q, side)) {
        return d->table->fill(d->state, d->ordinal, q->native, to, byte, size_bytes);
    }
    status = msp_queue_synchronize(q, MSP_WAIT_COPY);
    return (status == MEMSPAN_OK) ? memspan_fill(to, byte, size_bytes) : status;
}

memspan_status_t memspan_fill_on(memspan_queue_h queue, void *to, unsigned char byte,
                                 size_t size_bytes)
{
    struct msp_queue *q = msp_queue_enter(queue);
    uint64_t started_ns = msp_watch_now();
    memspan_status_t status;

    if (q == NULL) {
        return memspan_error_last()->status;
    }
    status = (size_bytes == 0) ? MEMSPAN_OK : fill_on(q, to, byte, size_bytes);
    msp_queue_trace(q, "fill", to, size_bytes, started_ns);
    msp_queue_leave(q);
    msp_waits_flush();
    return status;
}

memspan_status_t memspan_prefetch_on(memspan_queue_h queue, const void *pointer, size_t size_bytes,
                                     int number)
{
    struct msp_queue *q = msp_queue_enter(queue);
    uint64_t started_ns = msp_watch_now();
    memspan_status_t status;

    if (q == NULL) {
        return memspan_error_last()->status;
    }
    status = prefetch(q, pointer, size_bytes, number);
    msp_queue_trace(q, "prefetch", pointer, size_bytes, started_ns);
    msp_queue_leave(q);
    return status;
}

memspan_status_t memspan_kernel_launch_on(memspan_queue_h queue, const memspan_kernel_call_t *call)
{
    struct msp_queue *q = msp_queue_enter(queue);
    uint64_t started_ns = msp_watch_now();
    memspan_status_t status;

    if (q == NULL) {
        return memspan_error_last()->status;
    }
    status = launch(q->device, q->native, call);
    msp_queue_trace(q, "kernel", NULL, 0, started_ns);
    msp_queue_leave(q);
    return status;
}
