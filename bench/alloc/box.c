/* SPDX-License-Identifier: BSD-3-Clause */
/* A backend whose device memory is 256 MiB of address space without access (PROT_NONE): an
 * allocator that puts a record into it is stopped by the processor. It copies nothing and runs
 * nothing; its queues are names.
 *
 * Invariant: used_bytes is what is allocated, never above the capacity. */

#include <errno.h>
#include <memspan/backend.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define BOX_NAME "benchbox"

enum { PAGE_BYTES = 65536 }; /* a GPU's small page */

static const size_t capacity_bytes = (size_t)256 << 20;
static const memspan_services_t *services;
static _Atomic size_t used_bytes;

static memspan_status_t box_open(const memspan_services_t *offered, void **state_p)
{
    services = offered;
    *state_p = &used_bytes;
    return MEMSPAN_OK;
}

static void box_close(void *state)
{
    (void)state;
}

static int box_device_count(void *state)
{
    (void)state;
    return 1;
}

static memspan_status_t box_device_describe(void *state, int ordinal, memspan_device_info_t *info_p)
{
    (void)state;
    (void)ordinal;
    (void)snprintf(info_p->name, sizeof(info_p->name), "Address space");
    (void)snprintf(info_p->vendor, sizeof(info_p->vendor), "Memspan benchmarks");
    (void)snprintf(info_p->driver, sizeof(info_p->driver), BOX_NAME " 1.0");
    (void)snprintf(info_p->uid, sizeof(info_p->uid), BOX_NAME "-0");
    (void)snprintf(info_p->capacity_source, sizeof(info_p->capacity_source), "driver");
    info_p->pci_address[0]     = '\0';
    info_p->numa_node          = -1;
    info_p->capacity_bytes     = capacity_bytes;
    info_p->free_bytes         = capacity_bytes - atomic_load(&used_bytes);
    info_p->alloc_max_bytes    = capacity_bytes;
    info_p->page_size_bytes    = PAGE_BYTES;
    info_p->kinds              = 1u << MEMSPAN_KIND_DEVICE;
    info_p->kinds_without_gain = 0;
    info_p->kinds_migratable   = 0;
    info_p->capabilities       = MEMSPAN_CAN_SHARE_ADDRESSES;
    return MEMSPAN_OK;
}

static memspan_reach_t box_reach(void *state, int home, memspan_kind_t kind, int from)
{
    (void)state;
    if ((home != 0) || (kind != MEMSPAN_KIND_DEVICE) || (from != 0)) {
        return (memspan_reach_t){MEMSPAN_ACCESS_NONE, MEMSPAN_COHERENCE_NONE};
    }
    return (memspan_reach_t){MEMSPAN_ACCESS_LOCAL, MEMSPAN_COHERENCE_ATOMIC};
}

/* Takes @p size_bytes off the capacity, or nothing. */
static bool charge(size_t size_bytes)
{
    size_t used = atomic_load(&used_bytes);

    do {
        if (size_bytes > capacity_bytes - used) {
            return false;
        }
    } while (!atomic_compare_exchange_weak(&used_bytes, &used, used + size_bytes));
    return true;
}

static memspan_status_t box_alloc(void *state, int ordinal, const memspan_request_t *request,
                                  memspan_block_t *block_p)
{
    size_t reserved_bytes = request->size_bytes + request->align_bytes;
    char *reserved;
    char *address;

    (void)state;
    (void)ordinal;
    if (!charge(request->size_bytes)) {
        return services->fail(MEMSPAN_ERR_NO_MEMORY, BOX_NAME, "box_alloc", 2, "the box is full",
                              NULL, "%zu bytes do not fit in the box", request->size_bytes);
    }
    reserved =
        mmap(NULL, reserved_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED) {
        atomic_fetch_sub(&used_bytes, request->size_bytes);
        return services->fail(MEMSPAN_ERR_NO_MEMORY, BOX_NAME, "mmap", errno, strerror(errno), NULL,
                              "no address space for %zu bytes", request->size_bytes);
    }
    address = reserved + (request->align_bytes - (uintptr_t)reserved % request->align_bytes) %
                             request->align_bytes;
    if (address > reserved) {
        (void)munmap(reserved, (size_t)(address - reserved));
    }
    (void)munmap(address + request->size_bytes,
                 (size_t)(reserved + reserved_bytes - address) - request->size_bytes);
    *block_p = (memspan_block_t){.address         = address,
                                 .size_bytes      = request->size_bytes,
                                 .page_size_bytes = PAGE_BYTES,
                                 .flags           = MEMSPAN_BLOCK_PINNED,
                                 .node            = -1};
    return MEMSPAN_OK;
}

static memspan_status_t box_free(void *state, int ordinal, const memspan_block_t *block)
{
    (void)state;
    (void)ordinal;
    (void)munmap(block->address, block->size_bytes);
    atomic_fetch_sub(&used_bytes, block->size_bytes);
    return MEMSPAN_OK;
}

/* ---- queues: nothing runs, and no event happens before it is waited for ---- */

static memspan_status_t box_copy(void *state, int ordinal, void *queue, void *to, const void *from,
                                 size_t size_bytes)
{
    (void)state, (void)ordinal, (void)queue, (void)to, (void)from, (void)size_bytes;
    return MEMSPAN_OK;
}

static memspan_status_t box_fill(void *state, int ordinal, void *queue, void *to,
                                 unsigned char byte, size_t size_bytes)
{
    (void)state, (void)ordinal, (void)queue, (void)to, (void)byte, (void)size_bytes;
    return MEMSPAN_OK;
}

static memspan_status_t box_synchronize(void *state, int ordinal, void *queue)
{
    (void)state, (void)ordinal, (void)queue;
    return MEMSPAN_OK;
}

static memspan_status_t box_queue_create(void *state, int ordinal, void **queue_p)
{
    (void)ordinal;
    *queue_p = state;
    return MEMSPAN_OK;
}

static memspan_status_t box_queue_destroy(void *state, int ordinal, void *queue)
{
    (void)state, (void)ordinal, (void)queue;
    return MEMSPAN_OK;
}

static memspan_status_t box_event_record(void *state, int ordinal, void *queue, void **event_p)
{
    (void)ordinal, (void)queue;
    *event_p = state;
    return MEMSPAN_OK;
}

static memspan_status_t box_event(void *state, int ordinal, void *queue, void *event)
{
    (void)state, (void)ordinal, (void)queue, (void)event;
    return MEMSPAN_OK;
}

static memspan_status_t box_event_done(void *state, int ordinal, void *event, int *done_p)
{
    (void)state, (void)ordinal, (void)event;
    *done_p = 0;
    return MEMSPAN_OK;
}

static const memspan_backend_t table = {
    .abi             = MEMSPAN_BACKEND_ABI,
    .struct_size     = sizeof(table),
    .name            = BOX_NAME,
    .title           = "Address space without access",
    .open            = box_open,
    .close           = box_close,
    .device_count    = box_device_count,
    .device_describe = box_device_describe,
    .reach           = box_reach,
    .copy            = box_copy,
    .fill            = box_fill,
    .synchronize     = box_synchronize,
    .queue_create    = box_queue_create,
    .queue_destroy   = box_queue_destroy,
    .event_record    = box_event_record,
    .event_wait      = box_event,
    .event_done      = box_event_done,
    .event_destroy   = box_queue_destroy,
    .alloc           = box_alloc,
    .free            = box_free,
};

__attribute__((visibility("default"))) const memspan_backend_t *memspan_backend_entry(void);

__attribute__((visibility("default"))) const memspan_backend_t *memspan_backend_entry(void)
{
    return &table;
}
