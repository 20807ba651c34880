/* SPDX-License-Identifier: BSD-3-Clause */
/* work.c: copies, fills, prefetches and launches.
 *
 * Device memory that the device reaches is copied and filled by the device, in order, while the
 * program goes on. All else is done by the calling thread, through the window, after the device's
 * earlier work. */

#include "backends/emu/emu.h"

/* Copies and fills @p by_host are done here when the queue runs late, else by the caller. */
static memspan_status_t submit(struct emu_device *device, struct emu_queue *queue,
                               const struct emu_command *command, bool by_host)
{
    uint64_t number;
    memspan_status_t status;

    if (device->emu->is_late) {
        return emu_late_add(queue, command, by_host);
    }
    if (by_host) {
        return MEMSPAN_OK;
    }
    status = emu_process_submit(device, command, &number);
    if ((status == MEMSPAN_OK) && (queue->submitted < number)) {
        queue->submitted = number;
    }
    return status;
}

/* *block_p: NULL for memory that is no device's. Lock held. */
static memspan_status_t find_side(const struct emu *emu, const void *address, size_t size_bytes,
                                  struct emu_block **block_p)
{
    *block_p = NULL;
    if (address == NULL) {
        return emu_refuse(emu, MEMSPAN_ERR_INVALID, NULL, "a transfer of %zu bytes to or from NULL",
                          size_bytes);
    }
    return emu_arena_holds(emu, address) ? emu_arena_get(emu, address, size_bytes, block_p)
                                         : MEMSPAN_OK;
}

static bool is_devices_work(const struct emu_device *device, const struct emu_block *block)
{
    return (block != NULL) && (block->kind == MEMSPAN_KIND_DEVICE) &&
           ((device->reaches & (1u << block->home)) != 0);
}

/* Memory on another device may be its work's result: that comes first. A lost one has none. */
static void wait_for_home(struct emu *emu, int ordinal, const void *address)
{
    const struct emu_block *block = emu_arena_find(emu, address);
    struct emu_device *home;

    if ((block != NULL) && (block->home != ordinal)) {
        home = &emu->devices[block->home];
        (void)emu_process_wait(home, atomic_load(&home->control->ring.submitted));
    }
}

/* A copy or fill of the calling thread, after the queue's earlier work. */
static memspan_status_t do_after(struct emu_device *device, uint64_t earlier,
                                 const struct emu_command *command)
{
    memspan_status_t status = emu_process_wait(device, earlier);

    if (status == MEMSPAN_OK) {
        emu_do_by_host(device->emu, command);
    }
    return status;
}

memspan_status_t emu_copy(void *state, int ordinal, void *opaque, void *to, const void *from,
                          size_t size_bytes)
{
    struct emu *emu = state;
    struct emu_device *device;
    struct emu_queue *queue;
    struct emu_block *blocks[2];
    const struct emu_command command = {
        .op = EMU_OP_COPY, .count = size_bytes, .x = (uintptr_t)from, .z = (uintptr_t)to};
    uint64_t earlier;
    bool by_host            = false;
    memspan_status_t status = emu_enter(state, ordinal, &device);

    if ((status != MEMSPAN_OK) || (size_bytes == 0)) {
        return status;
    }
    wait_for_home(emu, ordinal, to);
    wait_for_home(emu, ordinal, from);
    pthread_mutex_lock(&emu->lock);
    queue = emu_queue_get(device, opaque);
    emu_order_use(emu, queue, to, size_bytes, "a copy", true);
    emu_order_use(emu, queue, from, size_bytes, "a copy", false);
    status = find_side(emu, to, size_bytes, &blocks[0]);
    if (status == MEMSPAN_OK) {
        status = find_side(emu, from, size_bytes, &blocks[1]);
    }
    if (status == MEMSPAN_OK) {
        by_host = !is_devices_work(device, blocks[0]) || !is_devices_work(device, blocks[1]);
        status  = submit(device, queue, &command, by_host);
    }
    earlier = queue->submitted;
    pthread_mutex_unlock(&emu->lock);
    return (by_host && !emu->is_late && (status == MEMSPAN_OK))
               ? do_after(device, earlier, &command)
               : status;
}

memspan_status_t emu_fill(void *state, int ordinal, void *opaque, void *to, unsigned char byte,
                          size_t size_bytes)
{
    struct emu *emu = state;
    struct emu_device *device;
    struct emu_queue *queue;
    struct emu_block *block          = NULL;
    const struct emu_command command = {
        .op = EMU_OP_FILL, .kernel = byte, .count = size_bytes, .z = (uintptr_t)to};
    uint64_t earlier;
    bool by_host            = false;
    memspan_status_t status = emu_enter(state, ordinal, &device);

    if ((status != MEMSPAN_OK) || (size_bytes == 0)) {
        return status;
    }
    pthread_mutex_lock(&emu->lock);
    queue = emu_queue_get(device, opaque);
    emu_order_use(emu, queue, to, size_bytes, "a fill", true);
    status = find_side(emu, to, size_bytes, &block);
    if (status == MEMSPAN_OK) {
        by_host = !is_devices_work(device, block);
        status  = submit(device, queue, &command, by_host);
    }
    earlier = queue->submitted;
    pthread_mutex_unlock(&emu->lock);
    return (by_host && !emu->is_late && (status == MEMSPAN_OK))
               ? do_after(device, earlier, &command)
               : status;
}

memspan_status_t emu_prefetch(void *state, int ordinal, void *queue, const void *pointer,
                              size_t size_bytes, int to)
{
    struct emu *emu = state;
    struct emu_device *device;
    struct emu_block *block;
    memspan_status_t status = emu_enter(state, ordinal, &device);

    (void)queue; /* nothing really moves: the owner of the pages is a note */
    if ((status != MEMSPAN_OK) || (size_bytes == 0)) {
        return status;
    }
    if ((to != MEMSPAN_HOST) && ((to < 0) || (to >= emu->device_count))) {
        return emu_refuse(emu, MEMSPAN_ERR_NOT_FOUND, NULL, "there is no emulated device %d", to);
    }
    pthread_mutex_lock(&emu->lock);
    status = emu_arena_get(emu, pointer, size_bytes, &block);
    if ((status == MEMSPAN_OK) && (block->kind != MEMSPAN_KIND_MANAGED)) {
        status = emu_refuse(emu, MEMSPAN_ERR_UNSUPPORTED, "only managed memory moves",
                            "%s memory of emu%d does not move", memspan_kind_name(block->kind),
                            block->home);
    } else if (status == MEMSPAN_OK) {
        block->resident = to;
    }
    pthread_mutex_unlock(&emu->lock);
    return status;
}

/* ---- launches ---- */

/* The operands of a kernel: bits of x, y and z. */
enum { X = 1, Y = 2, Z = 4 };
static const unsigned operands[] = {
    [MEMSPAN_KERNEL_DAXPY] = X | Y | Z, [MEMSPAN_KERNEL_FILL] = Z,
    [MEMSPAN_KERNEL_SUM] = X | Z,       [MEMSPAN_KERNEL_CHASE] = X | Z,
    [MEMSPAN_KERNEL_ADD_ATOMIC] = Z,
};

static memspan_status_t check_call(const struct emu *emu, const memspan_kernel_call_t *call)
{
    unsigned needs;
    bool combines;
    bool empty;

    if (call == NULL) {
        return emu_refuse(emu, MEMSPAN_ERR_INVALID, NULL, "no kernel call");
    }
    combines = emu_combine(
        &(struct emu_command){.op = EMU_OP_KERNEL, .kernel = (uint32_t)call->kernel}, 0, 0);
    if (!combines && ((unsigned)call->kernel >= sizeof(operands) / sizeof(operands[0]))) {
        return emu_refuse(emu, MEMSPAN_ERR_UNSUPPORTED, NULL, "there is no kernel %d",
                          (int)call->kernel);
    }
    needs = combines ? (unsigned)(X | Y | Z) : operands[call->kernel];
    empty = (call->count == 0);
    if ((call->z == NULL) || (!empty && ((needs & X) != 0) && (call->x == NULL)) ||
        (!empty && ((needs & Y) != 0) && (call->y == NULL))) {
        return emu_refuse(emu, MEMSPAN_ERR_INVALID, NULL, "a kernel was given a null address");
    }
    return MEMSPAN_OK;
}

memspan_status_t emu_launch(void *state, int ordinal, void *opaque,
                            const memspan_kernel_call_t *call)
{
    struct emu *emu = state;
    struct emu_device *device;
    struct emu_queue *queue;
    memspan_status_t status = emu_enter(state, ordinal, &device);

    if (status == MEMSPAN_OK) {
        status = check_call(emu, call);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    pthread_mutex_lock(&emu->lock);
    queue = emu_queue_get(device, opaque);
    emu_order_use(emu, queue, call->z, 0, "a kernel", true);
    emu_order_use(emu, queue, call->x, 0, "a kernel", false);
    emu_order_use(emu, queue, call->y, 0, "a kernel", false);
    status = emu_managed_close(queue, call);
    if (status == MEMSPAN_OK) {
        status = submit(device, queue,
                        &(struct emu_command){.op     = EMU_OP_KERNEL,
                                              .kernel = (uint32_t)call->kernel,
                                              .count  = call->count,
                                              .a      = call->a,
                                              .x      = (uintptr_t)call->x,
                                              .y      = (uintptr_t)call->y,
                                              .z      = (uintptr_t)call->z},
                        false);
    }
    if ((status == MEMSPAN_OK) && !emu->is_late) {
        queue->launched = queue->submitted;
    }
    pthread_mutex_unlock(&emu->lock);
    return status;
}
