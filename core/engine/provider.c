/* SPDX-License-Identifier: BSD-3-Clause */
/* provider.c: chunks from drivers.
 *
 * A chunk starts on a granule of the pointer map and is registered there before any thread sees its
 * address. Pages imported into several drivers count only where each of them answers the same
 * address: one address is the promise. */

#include "core/engine/provider.h"
#include "core/base/error.h"
#include "core/base/fork.h"
#include "core/base/log.h"
#include "core/base/option.h"
#include "core/base/platform.h"
#include "core/base/text.h"
#include "core/device/device.h"
#include "core/engine/density.h"
#include "core/engine/leak_roots.h"
#include "core/engine/pointer_map.h"
#include "core/engine/pool.h"
#include "core/engine/watch_flag.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { CHUNK_GROWTH = 16, EXACT_BYTES = 1 << 20 };

static _Atomic(struct msp_provider *) first_provider;
MSP_LOCK_STATIC(provider_lock, MSP_RANK_PROVIDERS); /* guards adding a provider */

bool msp_provider_spec_equal(const struct msp_provider_spec *a, const struct msp_provider_spec *b)
{
    return (a->device == b->device) && (a->kind == b->kind) && (a->flags == b->flags) &&
           (a->resident_ordinal == b->resident_ordinal) &&
           (a->page_size_bytes == b->page_size_bytes) && (a->spread == b->spread) &&
           (a->part_size_bytes == b->part_size_bytes) && (a->node_count == b->node_count) &&
           (a->importer_count == b->importer_count) &&
           ((a->node_count == 0) ||
            (memcmp(a->nodes, b->nodes, a->node_count * sizeof(*a->nodes)) == 0)) &&
           ((a->importer_count == 0) ||
            (memcmp(a->importers, b->importers, a->importer_count * sizeof(*a->importers)) == 0));
}

static struct msp_provider *find(const struct msp_provider_spec *spec)
{
    struct msp_provider *p;

    for (p = msp_provider_first(); (p != NULL) && !msp_provider_spec_equal(&p->spec, spec);
         p = p->next) {
    }
    return p;
}

/* Whether the driver changes the size of its blocks, and nothing else depends on their pages. */
static bool can_resize(const struct msp_provider_spec *spec)
{
    const memspan_backend_t *table = spec->device->table;

    return (table->resize != NULL) && (spec->importer_count == 0) &&
           ((spec->flags & MEMSPAN_REQUEST_SHARED) == 0) &&
           (spec->spread != MEMSPAN_SPREAD_BLOCKED);
}

/* Pinned host pages count against a limit that can be as small as 64 KiB: they are taken page by
 * page, not ahead of use. A backend that checks accesses needs each block by itself. Of ordinary
 * memory the first chunk is too small for a huge page, which takes 0.1 ms to clear, a third of the
 * cost of a process that allocates once; a process that needs more pays that once for the small
 * pages. */
static void choose_sizes(struct msp_provider *p)
{
    bool locked = (p->spec.device->number == MEMSPAN_HOST) &&
                  ((p->spec.flags & MEMSPAN_REQUEST_PINNED) != 0) && (p->spec.importer_count == 0);

    p->eager = locked || ((p->spec.device->table->flags & MEMSPAN_BACKEND_CHECKS) != 0);
    p->chunk_bytes =
        p->eager ? MSP_GRANULE_BYTES : (size_t)msp_option_number(MSP_OPTION_CHUNK_SIZE);
    if (locked) {
        p->chunk_bytes = msp_page_size();
    }
    p->chunk_max_bytes = p->eager ? MSP_GRANULE_BYTES : CHUNK_GROWTH * p->chunk_bytes;
    p->direct_bytes    = p->eager ? msp_page_size() : p->chunk_max_bytes / 2;
    if (locked) {
        /* A block that shares its page with nothing is locked alone. */
        p->direct_bytes = msp_page_size() / 2;
    }
    if (p->spec.page_size_bytes > p->chunk_bytes) {
        p->chunk_bytes = p->spec.page_size_bytes;
    }
    if (p->chunk_bytes > p->chunk_max_bytes) {
        p->chunk_max_bytes = p->chunk_bytes;
    }
    p->chunk_first_bytes = p->chunk_bytes;
    if ((p->spec.device->number == MEMSPAN_HOST) && (p->spec.kind == MEMSPAN_KIND_HOST) &&
        (p->spec.page_size_bytes <= MSP_GRANULE_BYTES) &&
        (p->chunk_bytes > CHUNK_GROWTH * MSP_GRANULE_BYTES)) {
        p->chunk_first_bytes = p->chunk_bytes / CHUNK_GROWTH;
    }
    /* Untouched pages of the host cost nothing; a driver's are there when they are taken.
     */
    p->exact_bytes    = ((p->spec.kind == MEMSPAN_KIND_HOST) && (p->spec.importer_count == 0))
                            ? SIZE_MAX
                            : EXACT_BYTES;
    p->growth_divisor = (p->exact_bytes == SIZE_MAX) ? 2 : 16;
    p->resizes        = can_resize(&p->spec);
}

static void *copy(const void *from, size_t size)
{
    void *to = malloc((size == 0) ? 1 : size);

    if ((to != NULL) && (size > 0)) {
        memcpy(to, from, size);
    }
    return to;
}

static struct msp_provider *make(const struct msp_provider_spec *spec)
{
    struct msp_provider *p = calloc(1, sizeof(*p));
    int *nodes             = copy(spec->nodes, spec->node_count * sizeof(*nodes));
    void *importers        = copy(spec->importers, spec->importer_count * sizeof(*spec->importers));

    if ((p == NULL) || (nodes == NULL) || (importers == NULL)) {
        goto err_free;
    }
    p->spec           = *spec;
    p->spec.nodes     = nodes;
    p->spec.importers = importers;
    choose_sizes(p);
    p->pool = msp_pool_create(p);
    if (p->pool == NULL) {
        goto err_free;
    }
    return p;

err_free:
    free(importers);
    free(nodes);
    free(p);
    memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for a provider's record");
    return NULL;
}

struct msp_provider *msp_provider_get(const struct msp_provider_spec *spec)
{
    struct msp_provider *p = find(spec);

    if (p != NULL) {
        return p;
    }
    msp_lock(&provider_lock);
    p = find(spec);
    if (p == NULL) {
        p = make(spec);
        if (p != NULL) {
            p->next = atomic_load_explicit(&first_provider, memory_order_relaxed);
            /* Pairs with the acquire in first(): the record is seen whole. */
            atomic_store_explicit(&first_provider, p, memory_order_release);
        }
    }
    msp_unlock(&provider_lock);
    return p;
}

struct msp_provider *msp_provider_first(void)
{
    return atomic_load_explicit(&first_provider, memory_order_acquire);
}

uint64_t msp_provider_held_bytes(void)
{
    const struct msp_provider *p;
    uint64_t held = 0;

    for (p = msp_provider_first(); p != NULL; p = p->next) {
        held += atomic_load_explicit(&p->held_bytes, memory_order_relaxed);
    }
    return held;
}

bool msp_provider_host_touches(const struct msp_provider *p)
{
    const memspan_backend_t *table = p->spec.device->table;
    memspan_reach_t reach =
        table->reach(p->spec.device->state, p->spec.device->ordinal, p->spec.kind, MEMSPAN_HOST);

    return reach.access >= MEMSPAN_ACCESS_FAULT;
}

/* ---- chunks ---- */

static struct msp_chunk *unused;
MSP_LOCK_STATIC(record_lock, MSP_RANK_CHUNKS); /* guards unused */

static struct msp_chunk *take_record(void)
{
    struct msp_chunk *chunk;

    msp_lock(&record_lock);
    chunk = unused;
    if (chunk != NULL) {
        unused = chunk->next_unused;
    }
    msp_unlock(&record_lock);
    if (chunk == NULL) {
        chunk =
            aligned_alloc(MSP_CACHE_LINE_BYTES, msp_round_up(sizeof(*chunk), MSP_CACHE_LINE_BYTES));
        msp_leak_ignore(chunk); /* the map alone may lead to it */
    }
    if (chunk != NULL) {
        memset(chunk, 0, sizeof(*chunk));
    }
    return chunk;
}

static void put_record(struct msp_chunk *chunk)
{
    free(chunk->import_cookies);
    chunk->import_cookies = NULL;
    atomic_store_explicit(&chunk->ready, false, memory_order_release);
    msp_lock(&record_lock);
    chunk->next_unused = unused;
    unused             = chunk;
    msp_unlock(&record_lock);
}

uintptr_t msp_chunk_entry(const struct msp_chunk *chunk)
{
    return msp_map_entry(chunk, chunk->provider->spec.kind, 0);
}

static void release_imports(struct msp_chunk *chunk, size_t count)
{
    const struct msp_provider_spec *spec = &chunk->provider->spec;
    size_t i;

    for (i = 0; i < count; i++) {
        const struct msp_device *d = spec->importers[i];
        if (d->table->release(d->state, d->ordinal, chunk->address, chunk->size_bytes,
                              chunk->import_cookies[i]) != MEMSPAN_OK) {
            msp_log(MEMSPAN_LOG_WARN, d->table->name, "%s", memspan_error_text());
        }
    }
}

static memspan_status_t import(struct msp_chunk *chunk)
{
    const struct msp_provider_spec *spec = &chunk->provider->spec;
    memspan_status_t status              = MEMSPAN_OK;
    size_t i;

    if (spec->importer_count == 0) {
        return MEMSPAN_OK;
    }
    chunk->import_cookies = calloc(spec->importer_count, sizeof(*chunk->import_cookies));
    if (chunk->import_cookies == NULL) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory to record imported pages");
    }
    for (i = 0; i < spec->importer_count; i++) {
        status = msp_import_into(spec->importers[i], chunk->address, chunk->size_bytes,
                                 &chunk->import_cookies[i]);
        if (status != MEMSPAN_OK) {
            break;
        }
    }
    if (status != MEMSPAN_OK) {
        release_imports(chunk, i);
        free(chunk->import_cookies);
        chunk->import_cookies = NULL;
    }
    return status;
}

static memspan_status_t ask_driver(struct msp_provider *p, memspan_request_t *request,
                                   memspan_block_t *block_p)
{
    const struct msp_device *d = p->spec.device;
    memspan_status_t status    = d->table->alloc(d->state, d->ordinal, request, block_p);

    if ((status == MEMSPAN_OK) || (request->page_size_bytes == 0) ||
        ((request->flags & MEMSPAN_REQUEST_STRICT) != 0)) {
        return status;
    }
    /* Pages of that size cannot be had: ordinary ones can, and the queries report it. */
    if (!atomic_exchange(&p->page_size_missed, true)) {
        msp_log(MEMSPAN_LOG_WARN, d->table->name, "%s; pages of the usual size are used",
                memspan_error_text());
    }
    request->page_size_bytes = 0;
    return d->table->alloc(d->state, d->ordinal, request, block_p);
}

static memspan_request_t make_request(const struct msp_provider *p, size_t size_bytes,
                                      size_t align_bytes, bool zeroed)
{
    const struct msp_provider_spec *spec = &p->spec;

    return (memspan_request_t){
        .struct_size      = sizeof(memspan_request_t),
        .kind             = spec->kind,
        .size_bytes       = size_bytes,
        .align_bytes      = align_bytes,
        .page_size_bytes  = spec->page_size_bytes,
        .flags            = spec->flags | (zeroed ? (unsigned)MEMSPAN_REQUEST_ZEROED : 0u),
        .resident_ordinal = spec->resident_ordinal,
        .nodes            = (spec->node_count > 0) ? spec->nodes : NULL,
        .node_count       = spec->node_count,
        .spread           = spec->spread,
        .part_size_bytes  = spec->part_size_bytes,
    };
}

static uint64_t new_serial(void)
{
    static _Atomic uint64_t serials;

    return atomic_fetch_add_explicit(&serials, 1, memory_order_relaxed);
}

/* Pages that drivers have imported are theirs too, locked ones are there to stay, and huge ones of
 * the kernel's reserve do not go one by one. */
static bool can_purge(const struct msp_chunk *chunk)
{
    const struct msp_provider *p   = chunk->provider;
    const memspan_backend_t *table = p->spec.device->table;

    return (table->purge != NULL) && !p->eager && (p->spec.importer_count == 0) &&
           ((chunk->block.flags & MEMSPAN_BLOCK_PINNED) == 0) &&
           (chunk->block.page_size_bytes == msp_page_size());
}

bool msp_chunk_purge(struct msp_chunk *chunk, void *address, size_t size_bytes)
{
    const struct msp_device *d = chunk->provider->spec.device;
    bool first;

    if (!chunk->can_purge) {
        return false;
    }
    first = !atomic_exchange_explicit(&chunk->purged, true, memory_order_relaxed);
    return d->table->purge(d->state, d->ordinal, &chunk->block, address, size_bytes, first) != 0;
}

void msp_chunk_refill(struct msp_chunk *chunk)
{
    if (atomic_load_explicit(&chunk->purged, memory_order_relaxed) && !chunk->sparse &&
        !atomic_load_explicit(&chunk->holed, memory_order_relaxed)) {
        msp_density_allow_again(chunk);
        atomic_store_explicit(&chunk->purged, false, memory_order_relaxed);
    }
}

/* Any address of a file's, a device's or plain pages is in the list of mappings. */
static bool is_mapped(const char *address)
{
    unsigned char resident;
    char *page = (char *)((uintptr_t)address & ~(uintptr_t)(msp_page_size() - 1));

    return (mincore(page, 1, &resident) == 0) || (errno != ENOMEM);
}

/* The mistake in a range that a driver names; NULL: nothing. */
static const char *find_fault_of_range(const memspan_request_t *request, const void *address,
                                       size_t size_bytes)
{
    if (address == NULL) {
        return "no address";
    }
    if (size_bytes < request->size_bytes) {
        return "too few bytes";
    }
    if (((uintptr_t)address & (request->align_bytes - 1)) != 0) {
        return "an address off its boundary";
    }
    return msp_map_is_range((uintptr_t)address, size_bytes) ? NULL
                                                            : "an address that no memory has";
}

/* The same of memory that alloc() gave. */
static const char *find_fault(const struct msp_provider *p, const memspan_request_t *request,
                              const memspan_block_t *block)
{
    const char *address = block->address;
    const char *fault   = find_fault_of_range(request, address, block->size_bytes);

    if (fault != NULL) {
        return fault;
    }
    return msp_provider_host_touches(p) &&
                   !(is_mapped(address) && is_mapped(address + request->size_bytes - 1))
               ? "an address that is not mapped"
               : NULL;
}

static memspan_status_t check_memory(const struct msp_provider *p, const memspan_request_t *request,
                                     const memspan_block_t *block)
{
    const struct msp_device *d = p->spec.device;
    bool is_host               = (d->table->flags & MEMSPAN_BACKEND_IS_HOST) != 0;
    const char *fault          = is_host ? NULL : find_fault(p, request, block);

    if (fault == NULL) {
        return MEMSPAN_OK;
    }
    if (block->address != NULL) {
        (void)d->table->free(d->state, d->ordinal, block);
    }
    return msp_error_native(MEMSPAN_ERR_DRIVER, d->table->name, "alloc", MEMSPAN_OK, "",
                            "repair or remove the backend; MEMSPAN_BACKENDS=^NAME leaves it out",
                            "for %zu bytes on a boundary of %zu the driver gave %zu at %p: %s",
                            request->size_bytes, request->align_bytes, block->size_bytes,
                            block->address, fault);
}

/* The driver's memory for a chunk, mapped where the importers need it. */
static memspan_status_t take_memory(struct msp_chunk *chunk, memspan_request_t *request)
{
    struct msp_provider *p     = chunk->provider;
    const struct msp_device *d = p->spec.device;
    memspan_status_t status    = ask_driver(p, request, &chunk->block);

    if (status == MEMSPAN_OK) {
        status = check_memory(p, request, &chunk->block);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    chunk->address    = chunk->block.address;
    chunk->size_bytes = request->size_bytes;
    chunk->can_purge  = can_purge(chunk);
    status            = import(chunk);
    if (status != MEMSPAN_OK) {
        goto err_free_block;
    }
    if (!msp_map_insert(chunk->address, chunk->size_bytes, msp_chunk_entry(chunk))) {
        status = memspan_error(MEMSPAN_ERR_NO_MEMORY,
                               "%s gave memory at %p, which cannot be entered in the pointer map",
                               d->table->name, (void *)chunk->address);
        goto err_release;
    }
    msp_leak_root_add(chunk->address, chunk->size_bytes);
    return MEMSPAN_OK;

err_release:
    if (chunk->import_cookies != NULL) {
        release_imports(chunk, p->spec.importer_count);
    }
err_free_block:
    d->table->free(d->state, d->ordinal, &chunk->block);
    return status;
}

memspan_status_t msp_chunk_take(const struct msp_request *request, struct msp_chunk **chunk_p)
{
    struct msp_provider *p = request->provider;
    size_t page =
        (p->spec.page_size_bytes > msp_page_size()) ? p->spec.page_size_bytes : msp_page_size();
    size_t size = msp_round_up(request->size_bytes, page);
    size_t align =
        (request->align_bytes > MSP_GRANULE_BYTES) ? request->align_bytes : MSP_GRANULE_BYTES;
    uint64_t started_ns = msp_watch_now();
    struct msp_chunk *chunk;
    memspan_request_t asked;
    memspan_status_t status;

    if ((size == 0) || (size > ((size_t)1 << (MSP_ROOT_BITS - 1)))) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "%zu bytes are more than can be addressed",
                             request->size_bytes);
    }
    msp_chunk_give_put_off();
    chunk = take_record();
    if (chunk == NULL) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for a chunk's record");
    }
    asked            = make_request(p, size, align, request->zeroed);
    asked.parts      = request->parts;
    asked.part_count = request->part_count;
    asked.flags |= request->sparse ? (unsigned)MEMSPAN_REQUEST_SPARSE : 0u;
    asked.spread    = (request->parts != NULL) ? MEMSPAN_SPREAD_PARTS : asked.spread;
    chunk->provider = p;
    chunk->sparse   = request->sparse;
    chunk->serial   = new_serial();
    status          = take_memory(chunk, &asked);
    if (status != MEMSPAN_OK) {
        put_record(chunk);
        return status;
    }
    atomic_fetch_add_explicit(&p->held_bytes, size, memory_order_relaxed);
    atomic_store_explicit(&p->given_flags, chunk->block.flags, memory_order_relaxed);
    atomic_store_explicit(&p->given_page_size, chunk->block.page_size_bytes, memory_order_relaxed);
    msp_log(MEMSPAN_LOG_DEBUG, p->spec.device->table->name, "took %zu bytes of %s memory at %p",
            size, memspan_kind_name(p->spec.kind), (void *)chunk->address);
    if (MSP_UNLIKELY(msp_watching())) {
        atomic_load(&msp_chunk_watcher)->taken(chunk, started_ns);
    }
    *chunk_p = chunk;
    return MEMSPAN_OK;
}

memspan_status_t msp_chunk_give_back(struct msp_chunk *chunk)
{
    if (MSP_UNLIKELY(msp_watching())) {
        atomic_load(&msp_chunk_watcher)->giving_back(chunk);
    }
    msp_density_leave(chunk);
    msp_chunk_note_gone(chunk);
    /* Out of the map first: the driver may give the same address to another thread at once. */
    msp_map_remove(chunk->address, chunk->size_bytes);
    msp_leak_root_drop(chunk->address, chunk->size_bytes);
    return msp_chunk_put_off(chunk) ? MEMSPAN_OK : msp_chunk_release(chunk);
}

memspan_status_t msp_chunk_release(struct msp_chunk *chunk)
{
    struct msp_provider *p     = chunk->provider;
    const struct msp_device *d = p->spec.device;
    memspan_status_t status;

    if (chunk->import_cookies != NULL) {
        release_imports(chunk, p->spec.importer_count);
    }
    atomic_fetch_sub_explicit(&p->held_bytes, chunk->size_bytes, memory_order_relaxed);
    msp_log(MEMSPAN_LOG_DEBUG, d->table->name, "gives back %zu bytes at %p", chunk->size_bytes,
            (void *)chunk->address);
    status = d->table->free(d->state, d->ordinal, &chunk->block);
    if (status != MEMSPAN_OK) {
        msp_log(MEMSPAN_LOG_WARN, d->table->name, "%s", memspan_error_text());
    }
    put_record(chunk);
    return status;
}

/* A chunk that gets another size has a new record, so that a look-up that finds the old one by its
 * address meanwhile sees one or the other whole. */
struct resized {
    struct msp_chunk *old;
    struct msp_chunk *chunk;
    const memspan_request_t *request;
    bool accepted;
};

/* The driver has the range that the chunk will have: the map leads there before the old range can
 * be reused. A pointer outside such a range is refused: then the library copies. */
static int accept_range(void *context, void *address, size_t size_bytes)
{
    struct resized *r = context;
    uintptr_t entry;

    if (find_fault_of_range(r->request, address, size_bytes) != NULL) {
        return 0;
    }
    r->chunk->address       = address;
    r->chunk->size_bytes    = size_bytes;
    r->chunk->range         = r->old->range;
    r->chunk->range.address = (uintptr_t)address;
    r->chunk->direct        = r->old->direct;
    r->chunk->direct.range  = &r->chunk->range;
    r->chunk->is_direct     = true;
    atomic_store_explicit(&r->chunk->ready, true, memory_order_release);
    entry = msp_chunk_entry(r->chunk);
    if (address == r->old->address) {
        r->accepted = msp_map_resize(address, r->old->size_bytes, size_bytes, entry);
    } else if (msp_map_insert(address, size_bytes, entry)) {
        msp_map_remove(r->old->address, r->old->size_bytes);
        r->accepted = true;
    }
    if (r->accepted) {
        msp_leak_root_drop(r->old->address, r->old->size_bytes);
        msp_leak_root_add(address, size_bytes);
    }
    return r->accepted ? 1 : 0;
}

/* The driver has failed after the range was accepted. The leaves of the map are there, and the old
 * range has remained the chunk's: this cannot fail. */
static void take_back_range(const struct resized *r)
{
    uintptr_t entry = msp_chunk_entry(r->old);

    if (r->chunk->address == r->old->address) {
        msp_map_resize(r->old->address, r->chunk->size_bytes, r->old->size_bytes, entry);
    } else {
        msp_map_remove(r->chunk->address, r->chunk->size_bytes);
        msp_map_insert(r->old->address, r->old->size_bytes, entry);
    }
    msp_leak_root_drop(r->chunk->address, r->chunk->size_bytes);
    msp_leak_root_add(r->old->address, r->old->size_bytes);
}

bool msp_chunk_resize(struct msp_chunk *old, size_t size_bytes, size_t align_bytes,
                      struct msp_chunk **chunk_p)
{
    struct msp_provider *p     = old->provider;
    const struct msp_device *d = p->spec.device;
    size_t align            = (align_bytes > MSP_GRANULE_BYTES) ? align_bytes : MSP_GRANULE_BYTES;
    struct msp_chunk *chunk = take_record();
    memspan_request_t request;
    struct resized resized = {.old = old, .chunk = chunk, .request = &request};
    memspan_status_t status;

    if (chunk == NULL) {
        return false;
    }
    msp_density_leave(old);
    request = make_request(p, msp_round_up(size_bytes, msp_page_size()), align, false);
    if (msp_density_stays_sparse(old, request.size_bytes)) {
        request.flags |= MEMSPAN_REQUEST_SPARSE;
    }
    chunk->provider = p;
    chunk->block    = old->block;
    chunk->serial   = new_serial();
    chunk->moved_to = old->moved_to;
    status =
        d->table->resize(d->state, d->ordinal, &request, &chunk->block, accept_range, &resized);
    if ((status != MEMSPAN_OK) || !resized.accepted) {
        if (resized.accepted) {
            take_back_range(&resized);
        }
        old->block = chunk->block; /* whole, but perhaps without its reserve for growth */
        put_record(chunk);
        return false;
    }
    atomic_fetch_add_explicit(&p->held_bytes, chunk->size_bytes - old->size_bytes,
                              memory_order_relaxed);
    msp_log(MEMSPAN_LOG_DEBUG, d->table->name, "%zu bytes of %s memory at %p are %zu at %p now",
            old->size_bytes, memspan_kind_name(p->spec.kind), (void *)old->address,
            chunk->size_bytes, (void *)chunk->address);
    put_record(old);
    *chunk_p = chunk;
    return true;
}

memspan_status_t msp_chunk_move(struct msp_chunk *chunk, struct msp_provider *to)
{
    struct msp_provider *from      = chunk->provider;
    const struct msp_device *d     = from->spec.device;
    const memspan_backend_t *table = d->table;
    memspan_request_t request      = make_request(to, chunk->size_bytes, 0, false);
    uint64_t started_ns            = msp_watch_now();
    memspan_status_t status;

    if (table->move == NULL) {
        return memspan_error(MEMSPAN_ERR_UNSUPPORTED, "backend %s moves no memory", table->name);
    }
    status = table->move(d->state, d->ordinal, &request, &chunk->block);
    if ((status != MEMSPAN_OK) || (to == from)) {
        return status;
    }
    if (MSP_UNLIKELY(msp_watching())) {
        atomic_load(&msp_chunk_watcher)->giving_back(chunk);
    }
    atomic_fetch_sub_explicit(&from->held_bytes, chunk->size_bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&to->held_bytes, chunk->size_bytes, memory_order_relaxed);
    chunk->provider = to;
    if (MSP_UNLIKELY(msp_watching())) {
        atomic_load(&msp_chunk_watcher)->taken(chunk, started_ns);
    }
    return MEMSPAN_OK;
}

bool msp_provider_is_host_only(const struct msp_provider *p)
{
    return (p->spec.device->number == MEMSPAN_HOST) && (p->spec.importer_count == 0);
}

void msp_provider_settle_all(bool host_only)
{
    struct msp_provider *p;

    for (p = msp_provider_first(); p != NULL; p = p->next) {
        if (!host_only || msp_provider_is_host_only(p)) {
            msp_pool_settle(p->pool);
        }
    }
}

/* ---- fork ---- */

static void lock_pools(void)
{
    struct msp_provider *p;

    for (p = msp_provider_first(); p != NULL; p = p->next) {
        msp_pool_before_fork(p->pool);
    }
}

static void unlock_pools(void)
{
    struct msp_provider *p;

    for (p = msp_provider_first(); p != NULL; p = p->next) {
        msp_pool_after_fork(p->pool);
    }
}

MSP_FORK_ITEM(pools) = {.rank         = MSP_RANK_POOLS,
                        .before       = lock_pools,
                        .after_parent = unlock_pools,
                        .after_child  = unlock_pools};
