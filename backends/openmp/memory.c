/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c: blocks of every kind.
 *
 * No call of the runtime takes an alignment, so a block lies inside the runtime's memory: the
 * cookie remembers both. Where the memory is the host's, locking and placing it is ours to do,
 * because the runtime's "host" memory is then plain memory; elsewhere its driver has locked it. */

#include "backends/openmp/openmp.h"
#include "core/base/platform.h"
#include "core/topology/pages.h"
#include "core/topology/topology.h"
#include <stdlib.h>
#include <string.h>

/* The calls that serve a kind. */
struct provider {
    const char *name;
    openmp_alloc_fn *alloc;
    openmp_free_fn *free;
};

/* The runtime's memory for a block. */
struct raw {
    void *address;
    openmp_free_fn *free;
    bool locked;
};

static struct provider provider_of(const struct openmp *openmp, memspan_kind_t kind)
{
    const struct openmp_calls *calls = &openmp->calls;

    if ((kind == MEMSPAN_KIND_MANAGED) && (calls->alloc_shared != NULL)) {
        return (struct provider){"llvm_omp_target_alloc_shared", calls->alloc_shared,
                                 calls->free_shared};
    }
    if ((kind != MEMSPAN_KIND_DEVICE) && (kind != MEMSPAN_KIND_MANAGED) &&
        (calls->alloc_host != NULL)) {
        return (struct provider){"llvm_omp_target_alloc_host", calls->alloc_host, calls->free_host};
    }
    return (struct provider){"omp_target_alloc", calls->alloc, calls->free};
}

static memspan_status_t check_request(const struct openmp *openmp, int ordinal,
                                      const memspan_request_t *request)
{
    memspan_status_t status = openmp_check_ordinal(openmp, ordinal);
    bool is_host;

    if (status != MEMSPAN_OK) {
        return status;
    }
    is_host = openmp->is_host[ordinal];
    if ((request->kind <= MEMSPAN_KIND_NONE) || (request->kind >= MEMSPAN_KIND_COUNT) ||
        ((openmp_kinds(openmp, ordinal) & (1u << request->kind)) == 0)) {
        return openmp->services->fail(MEMSPAN_ERR_UNSUPPORTED, "openmp", "", 0, "", NULL,
                                      "OpenMP device %d has no %s memory", ordinal,
                                      memspan_kind_name(request->kind));
    }
    if ((request->size_bytes == 0) || !msp_is_power_of_two(request->align_bytes)) {
        return openmp->services->fail(MEMSPAN_ERR_INVALID, "openmp", "", 0, "", NULL,
                                      "%zu bytes on a boundary of %zu cannot be a block",
                                      request->size_bytes, request->align_bytes);
    }
    if ((request->kind == MEMSPAN_KIND_MANAGED) && !is_host &&
        ((request->flags & MEMSPAN_REQUEST_PINNED) != 0)) {
        return openmp->services->fail(MEMSPAN_ERR_UNSUPPORTED, "openmp",
                                      "llvm_omp_target_alloc_shared", 0, "",
                                      "ask for host-pinned or device memory",
                                      "managed memory of OpenMP device %d moves: it cannot be "
                                      "pinned",
                                      ordinal);
    }
    if (((request->flags & MEMSPAN_REQUEST_STRICT) != 0) && (request->node_count > 0) && !is_host) {
        return openmp->services->fail(MEMSPAN_ERR_UNSUPPORTED, "openmp", "", 0, "", NULL,
                                      "the OpenMP runtime takes no NUMA node for device %d",
                                      ordinal);
    }
    return MEMSPAN_OK;
}

/* Memory from the runtime with the block's boundary somewhere in it. Drivers' memory is aligned far
 * better than malloc()'s, so it is tried without slack first. */
static memspan_status_t take_memory(const struct openmp *openmp, int ordinal,
                                    const memspan_request_t *request, struct raw *raw,
                                    void **address_p)
{
    struct provider provider = provider_of(openmp, request->kind);
    size_t slack             = openmp->is_host[ordinal] ? request->align_bytes - 1 : 0;
    uintptr_t mask           = request->align_bytes - 1;
    uintptr_t address        = 0;

    raw->free = provider.free;
    if (request->size_bytes > SIZE_MAX - mask) {
        goto no_memory;
    }
    raw->address = provider.alloc(request->size_bytes + slack, ordinal);
    if ((raw->address != NULL) && (slack == 0) && (((uintptr_t)raw->address & mask) != 0)) {
        provider.free(raw->address, ordinal);
        raw->address = provider.alloc(request->size_bytes + mask, ordinal);
    }
    address = (uintptr_t)raw->address;
    if ((address == 0) || (address > UINTPTR_MAX - mask)) {
        goto no_memory;
    }
    *address_p = (char *)raw->address + (((address + mask) & ~mask) - address);
    return MEMSPAN_OK;

no_memory:
    return openmp->services->fail(MEMSPAN_ERR_NO_MEMORY, "openmp", provider.name, 0, "", NULL,
                                  "OpenMP device %d has no %zu bytes of %s memory", ordinal,
                                  request->size_bytes, memspan_kind_name(request->kind));
}

/* Put host pages on the requested nodes. */
static memspan_status_t place_pages(const struct openmp *openmp, const memspan_request_t *request,
                                    memspan_block_t *block)
{
    bool strict = (request->flags & MEMSPAN_REQUEST_STRICT) != 0;
    bool spread =
        (request->spread != MEMSPAN_SPREAD_ANY) && (request->spread != MEMSPAN_SPREAD_NEAREST);
    memspan_status_t status;

    if ((request->nodes == NULL) || (request->node_count == 0)) {
        return MEMSPAN_OK;
    }
    status = msp_topology_bind(block->address, block->size_bytes, request->nodes,
                               request->node_count, spread, strict);
    if (status == MEMSPAN_OK) {
        block->node = (request->node_count == 1) ? request->nodes[0] : -1;
        return MEMSPAN_OK;
    }
    if (strict) {
        return status;
    }
    openmp->services->log(MEMSPAN_LOG_DEBUG, "openmp", "%zu bytes stay where first touched",
                          block->size_bytes);
    return MEMSPAN_OK;
}

static memspan_status_t finish_host_pages(const struct openmp *openmp,
                                          const memspan_request_t *request, struct raw *raw,
                                          memspan_block_t *block)
{
    memspan_status_t status = place_pages(openmp, request, block);

    msp_pages_advise(openmp->services, request, block->address, block->size_bytes);
    block->page_size_bytes = msp_page_size();
    if ((status != MEMSPAN_OK) || ((request->kind != MEMSPAN_KIND_HOST_PINNED) &&
                                   ((request->flags & MEMSPAN_REQUEST_PINNED) == 0))) {
        return status;
    }
    status      = msp_lock_pages(openmp->services, "openmp", true, block);
    raw->locked = (block->flags & MEMSPAN_BLOCK_PINNED) != 0;
    return status;
}

static void give_back(struct raw *raw, int ordinal, const memspan_block_t *block)
{
    if (raw->locked) {
        msp_pages_unlock(block->address, block->size_bytes);
    }
    raw->free(raw->address, ordinal);
    free(raw);
}

static memspan_status_t record(struct openmp *openmp, int ordinal, memspan_kind_t kind,
                               const memspan_block_t *block)
{
    struct openmp_range range = {block->address, block->size_bytes, ordinal, kind};

    if (openmp_blocks_add(&openmp->blocks, &range)) {
        return MEMSPAN_OK;
    }
    return openmp->services->fail(MEMSPAN_ERR_NO_MEMORY, "openmp", "", 0, "", NULL,
                                  "a block at %p cannot be recorded: no memory, or its address is "
                                  "another device's too",
                                  block->address);
}

memspan_status_t openmp_alloc(void *state, int ordinal, const memspan_request_t *request,
                              memspan_block_t *block_p)
{
    struct openmp *openmp   = state;
    memspan_block_t block   = {.size_bytes = request->size_bytes, .node = -1};
    memspan_status_t status = check_request(openmp, ordinal, request);
    struct raw *raw;

    if (status != MEMSPAN_OK) {
        return status;
    }
    raw = calloc(1, sizeof(*raw));
    if (raw == NULL) {
        return openmp->services->fail(MEMSPAN_ERR_NO_MEMORY, "openmp", "calloc", 0, "", NULL,
                                      "no memory for a block's record");
    }
    status = take_memory(openmp, ordinal, request, raw, &block.address);
    if (status != MEMSPAN_OK) {
        free(raw);
        return status;
    }
    block.cookie = raw;
    if (openmp->is_host[ordinal]) {
        status = finish_host_pages(openmp, request, raw, &block);
    } else {
        block.flags = (request->kind == MEMSPAN_KIND_MANAGED) ? MEMSPAN_BLOCK_MIGRATABLE
                                                              : MEMSPAN_BLOCK_PINNED;
    }
    if (status == MEMSPAN_OK) {
        status = record(openmp, ordinal, request->kind, &block);
    }
    if (status != MEMSPAN_OK) {
        give_back(raw, ordinal, &block);
        return status;
    }
    *block_p = block;
    return MEMSPAN_OK;
}

memspan_status_t openmp_free(void *state, int ordinal, const memspan_block_t *block)
{
    struct openmp *openmp   = state;
    memspan_status_t status = openmp_check_ordinal(openmp, ordinal);

    if (status != MEMSPAN_OK) {
        return status;
    }
    /* First, because the runtime may give the same address to another thread at once. */
    openmp_blocks_remove(&openmp->blocks, block->address);
    give_back(block->cookie, ordinal, block);
    return MEMSPAN_OK;
}

memspan_status_t openmp_import(void *state, int ordinal, void *address, size_t size_bytes,
                               void **address_p, void **cookie_p)
{
    struct openmp *openmp   = state;
    memspan_status_t status = openmp_check_ordinal(openmp, ordinal);
    void *seen_at;

    if (status != MEMSPAN_OK) {
        return status;
    }
    if (openmp->is_host[ordinal]) {
        *address_p = address;
        *cookie_p  = NULL;
        return MEMSPAN_OK;
    }
    if (openmp->calls.lock == NULL) {
        return openmp->services->fail(MEMSPAN_ERR_UNSUPPORTED, "openmp", "", 0, "", NULL,
                                      "this OpenMP runtime imports no host memory");
    }
    seen_at = openmp->calls.lock(address, size_bytes, ordinal);
    if (seen_at == NULL) {
        return openmp->services->fail(MEMSPAN_ERR_DRIVER, "openmp", "llvm_omp_target_lock_mem", 0,
                                      "", NULL, "OpenMP device %d did not take %zu bytes at %p",
                                      ordinal, size_bytes, address);
    }
    *address_p = seen_at;
    *cookie_p  = NULL;
    return MEMSPAN_OK;
}

memspan_status_t openmp_release(void *state, int ordinal, void *address, size_t size_bytes,
                                void *cookie)
{
    struct openmp *openmp   = state;
    memspan_status_t status = openmp_check_ordinal(openmp, ordinal);

    (void)size_bytes;
    (void)cookie;
    if ((status == MEMSPAN_OK) && !openmp->is_host[ordinal] && (openmp->calls.lock != NULL)) {
        openmp->calls.unlock(address, ordinal);
    }
    return status;
}

/* The device runs on the host's processors: its memory is used together with them (probe.c). */
memspan_status_t openmp_host_open(void *state, int ordinal, const void *address, size_t size_bytes,
                                  void **host_p)
{
    struct openmp *openmp   = state;
    memspan_status_t status = openmp_check_ordinal(openmp, ordinal);

    (void)size_bytes;
    if (status != MEMSPAN_OK) {
        return status;
    }
    if (!openmp->is_host[ordinal]) {
        return openmp->services->fail(MEMSPAN_ERR_UNSUPPORTED, "openmp", "", 0, "", NULL,
                                      "memory of OpenMP device %d was not seen to be the host's",
                                      ordinal);
    }
    *host_p = (void *)(uintptr_t)address;
    return MEMSPAN_OK;
}

memspan_status_t openmp_host_close(void *state, int ordinal, const void *address, size_t size_bytes)
{
    (void)address;
    (void)size_bytes;
    return openmp_check_ordinal(state, ordinal);
}
