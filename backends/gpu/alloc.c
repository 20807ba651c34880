/* SPDX-License-Identifier: BSD-3-Clause */
/* alloc.c: a request becomes a block.
 *
 * Drivers promise little about alignment and give a lot: memory is taken as it comes, and with
 * space to spare only where that was not enough. */

#include "backends/gpu/common.h"
#include "backends/gpu/gpu.h"
#include "core/base/platform.h"
#include "core/topology/pages.h"
#include "core/topology/topology.h"
#include <stdlib.h>
#include <unistd.h>

/* "Suitably aligned for any kind of variable": 256 bytes in practice. No driver promises it: the
 * space to spare follows the address that came. */
enum { DRIVER_ALIGN_BYTES = 256 };

static memspan_status_t check_request(const struct gpu_device *device,
                                      const memspan_request_t *request)
{
    const struct gpu_state *state   = device->state;
    const struct gpu_driver *driver = state->driver;
    bool managed                    = request->kind == MEMSPAN_KIND_MANAGED;
    uint64_t most_bytes =
        (driver->most_bytes != NULL)
            ? driver->most_bytes(device, request->kind)
            : gpu_most_bytes(&device->info, request->kind, device->facts.integrated,
                             atomic_load(&device->managed_bytes));
    memspan_status_t status =
        gpu_check_request(state->services, driver->name, &device->info, request, most_bytes);

    if (status != MEMSPAN_OK) {
        return status;
    }
    if (((request->kind == MEMSPAN_KIND_DEVICE) || managed) &&
        ((request->flags & MEMSPAN_REQUEST_STRICT) != 0) && (request->node_count > 0)) {
        return gpu_refuse(state, MEMSPAN_ERR_UNSUPPORTED, "drop the NUMA node",
                          "%s does not put %s memory on a NUMA node", driver->title,
                          memspan_kind_name(request->kind));
    }
    if (managed && (driver->moves_integrated || !device->facts.integrated) &&
        ((request->flags & MEMSPAN_REQUEST_PINNED) != 0)) {
        return gpu_refuse(state, MEMSPAN_ERR_UNSUPPORTED, "ask for host-pinned or device memory",
                          "managed memory of %s cannot be pinned: its driver moves it",
                          device->info.name);
    }
    return (driver->check != NULL) ? driver->check(device, request) : MEMSPAN_OK;
}

/* ---- giving back ---- */

/* The device may still use host pages that it reaches by itself, and munmap() does not wait. */
static memspan_status_t give_back_pages(struct gpu_device *device, struct gpu_block *block)
{
    memspan_status_t status = MEMSPAN_OK;
    gpu_result_t answer     = gpu_wait_for_users(device, true);

    if (gpu_is_captured(answer.code)) {
        return gpu_error(device->state, answer, "%zu bytes of host pages stay: they may be in use",
                         block->size_bytes);
    }
    if (block->registration != NULL) {
        status = gpu_unregister(device->state, block->registration);
    }
    msp_pages_give_back(block->base, block->size_bytes);
    if ((status == MEMSPAN_OK) && (answer.code != GPU_SUCCESS) &&
        (answer.code != GPU_DEINITIALIZED)) {
        status =
            gpu_error(device->state, answer, "work on %s failed before %zu bytes were given back",
                      device->info.name, block->size_bytes);
    }
    return status;
}

static gpu_result_t give_to_driver(struct gpu_device *device, const struct gpu_block *block)
{
    if (block->made == GPU_MADE_MANAGED) {
        atomic_fetch_sub(&device->managed_bytes, block->size_bytes);
    }
    return device->state->driver->give(device, block->made, block->base);
}

memspan_status_t gpu_give_back(struct gpu_device *device, struct gpu_block *block)
{
    gpu_result_t answer;

    if (device->state->driver->unshare != NULL) {
        device->state->driver->unshare(block);
    }
    if (block->made == GPU_MADE_MAPPED) {
        return device->state->driver->give_mapped(device, block);
    }
    if (block->made == GPU_MADE_PAGES) {
        return give_back_pages(device, block);
    }
    answer = give_to_driver(device, block);
    /* At the end of the process the driver may have ended first, with all that was its own. */
    if ((answer.code == GPU_SUCCESS) || (answer.code == GPU_DEINITIALIZED)) {
        if (answer.code == GPU_SUCCESS) {
            gpu_spares_give(device, false); /* the driver has just waited */
        }
        return MEMSPAN_OK;
    }
    return gpu_error(device->state, answer, "%zu bytes of %s could not be given back",
                     block->size_bytes, device->info.name);
}

/* The driver has ended, or the program has reset the device: their memory went with it, and memory
 * with the same address now has another owner. */
static void forget(struct gpu_device *device, struct gpu_block *block)
{
    if (block->made == GPU_MADE_MANAGED) {
        atomic_fetch_sub(&device->managed_bytes, block->size_bytes);
    }
    if (block->registration != NULL) {
        gpu_registration_forget(device->state, block->registration);
    }
    /* While the process ends a kernel may still use them: they go with it. */
    if ((block->made == GPU_MADE_PAGES) && !atomic_load(&device->state->ended)) {
        msp_pages_give_back(block->base, block->size_bytes);
    }
    if (block->fd >= 0) {
        close(block->fd);
    }
}

/* ---- by kind ---- */

/* At most DRIVER_ALIGN_BYTES: the next address may be less aligned than this one. */
static size_t alignment_of(const void *base)
{
    size_t lowest = (uintptr_t)base & (~(uintptr_t)base + 1);

    return (lowest < DRIVER_ALIGN_BYTES) ? lowest : DRIVER_ALIGN_BYTES;
}

/* The bytes that aligning an address can take, where it has the alignment @p has already. */
static size_t spare_bytes(size_t align, size_t has)
{
    return (align > has) ? align - has : 0;
}

static bool fits_aligned(const struct gpu_block *block, const memspan_request_t *request)
{
    size_t skipped = (0 - (uintptr_t)block->base) & (request->align_bytes - 1);

    return skipped <= block->size_bytes - request->size_bytes;
}

memspan_status_t gpu_take(struct gpu_device *device, enum gpu_made made,
                          const memspan_request_t *request, struct gpu_block *block)
{
    struct gpu_state *state = device->state;
    size_t align            = request->align_bytes;
    size_t spare            = spare_bytes(align, DRIVER_ALIGN_BYTES);
    bool on_host            = (made == GPU_MADE_HOST);
    void *base              = NULL;
    gpu_result_t answer;
    memspan_status_t status;

    block->made       = made;
    block->size_bytes = request->size_bytes;
    /* Pinned pages come as pages come. Pinning is slow: once seen, it is not tried again. */
    if (on_host && atomic_load(&state->host_unaligned)) {
        block->size_bytes += spare;
    }
    for (;;) {
        answer      = state->driver->take(device, made, block->size_bytes, &base);
        block->base = base;
        if (answer.code != GPU_SUCCESS) {
            return gpu_error(state, answer, "no %zu bytes of %s memory on %s", block->size_bytes,
                             memspan_kind_name(request->kind), device->info.name);
        }
        if (block->base == NULL) {
            return gpu_error(state, answer, "the driver gave no address for %zu bytes on %s",
                             block->size_bytes, device->info.name);
        }
        if (made == GPU_MADE_MANAGED) {
            atomic_fetch_add(&device->managed_bytes, block->size_bytes);
        }
        if (fits_aligned(block, request)) {
            return MEMSPAN_OK;
        }
        spare = spare_bytes(align, alignment_of(block->base));
        if (on_host) {
            atomic_store(&state->host_unaligned, true);
        }
        status = gpu_give_back(device, block);
        if (status != MEMSPAN_OK) {
            return status;
        }
        block->size_bytes = request->size_bytes + spare;
    }
}

static unsigned migratable(const struct gpu_device *device)
{
    return device->facts.integrated ? 0u : (unsigned)MEMSPAN_BLOCK_MIGRATABLE;
}

static memspan_status_t take_managed(struct gpu_device *device, const memspan_request_t *request,
                                     struct gpu_block *block, memspan_block_t *given)
{
    memspan_status_t status = gpu_take(device, GPU_MADE_MANAGED, request, block);

    given->flags |= migratable(device);
    if (status != MEMSPAN_OK) {
        return status;
    }
    status = device->state->driver->advise(device, request, block);
    if ((status != MEMSPAN_OK) && (give_to_driver(device, block).code != GPU_SUCCESS)) {
        gpu_forget_error(device->state);
    }
    return status;
}

/* Memory that is to live on a device whose memory is a NUMA node of the system. */
static void prefer_device(const struct gpu_device *device, const memspan_request_t *request,
                          const memspan_block_t *given)
{
    const struct gpu_state *state = device->state;
    int where                     = request->resident_ordinal;
    int node =
        ((where >= 0) && (where < state->device_count)) ? state->devices[where]->facts.node : -1;

    if ((node >= 0) && (request->node_count == 0) && (request->part_count == 0)) {
        (void)msp_topology_bind(given->address, request->size_bytes, &node, 1, false, false);
    }
}

memspan_status_t gpu_take_pages(struct gpu_device *device, const memspan_request_t *request,
                                struct gpu_block *block, memspan_block_t *given)
{
    struct gpu_state *state = device->state;
    bool pinned             = (request->kind == MEMSPAN_KIND_HOST_PINNED) ||
                  ((request->flags & MEMSPAN_REQUEST_PINNED) != 0);
    void *seen_at           = NULL;
    memspan_status_t status = msp_pages_take(state->services, state->driver->name, request, given);

    if (status != MEMSPAN_OK) {
        return status;
    }
    prefer_device(device, request, given);
    block->made       = GPU_MADE_PAGES;
    block->base       = given->address;
    block->size_bytes = given->size_bytes;
    if (!pinned) {
        given->flags |= migratable(device);
        return MEMSPAN_OK;
    }
    status = gpu_register(device, block->base, block->size_bytes, &seen_at, &block->registration);
    if (status != MEMSPAN_OK) {
        msp_pages_give_back(block->base, block->size_bytes);
        return status;
    }
    given->flags |= MEMSPAN_BLOCK_PINNED;
    if (seen_at != block->base) {
        (void)gpu_give_back(device, block);
        return gpu_refuse(state, MEMSPAN_ERR_UNSUPPORTED, "drop the NUMA node",
                          "%s sees pages of ours at another address", device->info.name);
    }
    return MEMSPAN_OK;
}

/* Where pages are to lie somewhere, they are ours: the driver's own come from anywhere. */
memspan_status_t gpu_take_pinned(struct gpu_device *device, const memspan_request_t *request,
                                 struct gpu_block *block, memspan_block_t *given)
{
    bool placed = (request->node_count > 0) || (request->part_count > 0) ||
                  (request->page_size_bytes > msp_page_size());

    if (placed && device->facts.same_address) {
        return gpu_take_pages(device, request, block, given);
    }
    if (placed && ((request->flags & MEMSPAN_REQUEST_STRICT) != 0)) {
        return gpu_refuse(device->state, MEMSPAN_ERR_UNSUPPORTED, "drop the NUMA node",
                          "%s sees host pages at another address", device->info.name);
    }
    given->flags |= MEMSPAN_BLOCK_PINNED;
    return gpu_take(device, GPU_MADE_HOST, request, block);
}

memspan_status_t gpu_take_block(struct gpu_device *device, const memspan_request_t *request,
                                struct gpu_block *block, memspan_block_t *given)
{
    const struct gpu_driver *driver = device->state->driver;

    switch (request->kind) {
    case MEMSPAN_KIND_DEVICE:
        gpu_peers_enable(device);
        given->flags |= MEMSPAN_BLOCK_PINNED;
        return driver->take_device(device, request, block, given);
    case MEMSPAN_KIND_HOST_PINNED:
        return gpu_take_pinned(device, request, block, given);
    case MEMSPAN_KIND_COHERENT:
        return device->facts.pageable ? gpu_take_pages(device, request, block, given)
                                      : driver->take_coherent(device, request, block, given);
    default:
        return take_managed(device, request, block, given);
    }
}

memspan_status_t gpu_alloc(void *state, int ordinal, const memspan_request_t *request,
                           memspan_block_t *block_p)
{
    memspan_block_t given = {.node = -1};
    struct gpu_device *device;
    struct gpu_block *block;
    struct gpu_visit visit;
    memspan_status_t status = gpu_device_get(state, ordinal, &device);

    if (status == MEMSPAN_OK) {
        status = check_request(device, request);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    block = calloc(1, device->state->driver->block_size);
    if (block == NULL) {
        return gpu_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for a block");
    }
    block->device = device;
    block->fd     = -1;
    status        = gpu_enter(state, ordinal, GPU_TO_ALLOCATE, &visit);
    if (status == MEMSPAN_OK) {
        block->epoch = atomic_load(&device->epoch);
        status       = device->state->driver->take_block(device, request, block, &given);
        gpu_leave(&visit);
    }
    if (status != MEMSPAN_OK) {
        free(block);
        return status;
    }
    given.address    = (void *)(((uintptr_t)block->base + request->align_bytes - 1) &
                             ~((uintptr_t)request->align_bytes - 1));
    given.size_bytes = request->size_bytes;
    given.cookie     = block;
    gpu_block_insert(state, block);
    *block_p = given;
    return MEMSPAN_OK;
}

/* Memory that a device may still be writing to has no other owner: it is kept until the end. */
static memspan_status_t keep(struct gpu_device *device, struct gpu_block *block)
{
    struct gpu_state *state = device->state;

    pthread_mutex_lock(&state->lock);
    block->next = state->kept;
    state->kept = block;
    pthread_mutex_unlock(&state->lock);
    state->services->log(MEMSPAN_LOG_WARN, state->driver->name,
                         "%zu bytes of %s are kept: it may still use them: %s", block->size_bytes,
                         device->info.name, memspan_error_text());
    return memspan_error_last()->status;
}

void gpu_kept_drop(struct gpu_state *state)
{
    while (state->kept != NULL) {
        struct gpu_block *block = state->kept;
        state->kept             = block->next;
        if (gpu_give_back(block->device, block) != MEMSPAN_OK) {
            gpu_log_record(state, MEMSPAN_LOG_WARN, "closing");
        }
        free(block);
    }
}

static memspan_status_t give_back_or_keep(struct gpu_device *device, struct gpu_block *block)
{
    const struct gpu_driver *driver = device->state->driver;
    memspan_status_t waited         = MEMSPAN_OK;
    memspan_status_t status         = MEMSPAN_OK;
    bool idle                       = true;

    if (block->epoch != atomic_load(&device->epoch)) {
        forget(device, block);
    } else {
        waited = (driver->settle != NULL) ? driver->settle(device, &idle) : MEMSPAN_OK;
        if (!idle) {
            return keep(device, block);
        }
        status = gpu_give_back(device, block);
    }
    free(block);
    return (status == MEMSPAN_OK) ? waited : status;
}

memspan_status_t gpu_free(void *opaque, int ordinal, const memspan_block_t *given)
{
    struct gpu_state *state = opaque;
    struct gpu_block *block;
    struct gpu_visit visit;
    memspan_status_t status;

    if ((given == NULL) || (given->cookie == NULL)) {
        return gpu_refuse(state, MEMSPAN_ERR_INVALID, NULL, "no block to give back");
    }
    block  = given->cookie;
    status = gpu_enter(state, ordinal, GPU_TO_GIVE_BACK, &visit);
    if ((status != MEMSPAN_OK) && (status != MEMSPAN_ERR_OFF)) {
        return status;
    }
    gpu_block_remove(state, block);
    if (status == MEMSPAN_ERR_OFF) {
        forget(state->devices[ordinal], block);
        free(block);
        return MEMSPAN_OK;
    }
    status = give_back_or_keep(visit.device, block);
    gpu_leave(&visit);
    return status;
}
