/* SPDX-License-Identifier: BSD-3-Clause */
/* region.c: registrations of this PE's memory, made on demand and kept until the segment ends. */

#include "shmem/network/region.h"
#include "core/base/text.h"
#include "shmem/option.h"
#include "shmem/transport/segment.h"
#include <memspan/allocator.h>
#include <memspan/device.h>
#include <memspan/share.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <unistd.h>

/* A segment has at most about CHUNK_MAX chunks: a PE keeps a key for each chunk and peer that it
 * has contacted. Registering CHUNK_MIN_BYTES takes a card milliseconds. */
#define CHUNK_MIN_BYTES UINT64_C(16777216)
enum { CHUNK_MAX = 1024 };
/* The control memory is large and sparse: a chunk is the work area of 16 teams, or a slot of the
 * staging area. */
#define CONTROL_CHUNK_BYTES UINT64_C(1048576)

enum state { UNTRIED, REGISTERED, REFUSED };

struct chunk {
    enum state state;
    bool is_host; /* registered at region.host */
    struct msp_network_memory *memory;
    size_t key_bytes;
    unsigned char *key;
};

/* The registrations of one segment. */
struct region {
    struct chunk *chunks; /* chunk_count of them; NULL: the segment was never requested */
    size_t chunk_count;
    uint64_t chunk_bytes;
    const char *device_backend; /* NULL: the host's memory */
    char backend[16];
    char *host;        /* where the host reaches device memory whose pages are its own; or NULL, */
    char no_host[160]; /* and why */
    struct msp_network_region_facts facts;
};

enum mode { ON_DEMAND, ALL_AT_START, HOST_ALONE, BY_MESSAGES };

static struct {
    const struct msp_network_driver *driver; /* NULL: closed */
    struct msp_network_limits limits;
    enum mode mode;
    uint64_t wanted_chunk_bytes; /* 0: by the segment's size */
    uint64_t registered_bytes;
    int warn_key;
} network;

static struct region regions[MSP_SEGMENT_MAX] MSP_SPARSE;
static pthread_mutex_t region_lock = PTHREAD_MUTEX_INITIALIZER; /* guards both */

/* ---- how a segment is divided ---- */

static memspan_status_t read_option(void)
{
    const char *text = msp_shmem_option_text(MEMSPAN_SHMEM_REGISTER);
    uint64_t size    = 0;

    network.mode               = ON_DEMAND;
    network.wanted_chunk_bytes = 0;
    if (strcasecmp(text, "all") == 0) {
        network.mode = ALL_AT_START;
    } else if (strcasecmp(text, "host") == 0) {
        network.mode = HOST_ALONE;
    } else if (strcasecmp(text, "none") == 0) {
        network.mode = BY_MESSAGES;
    } else if (strcasecmp(text, "touched") != 0) {
        if (!msp_text_to_size(text, strlen(text), &size) || (size < msp_page_size())) {
            memspan_error(MEMSPAN_ERR_CONFIG,
                          "SHMEMX_REGISTER=%s is neither touched, all, host, none "
                          "nor the bytes of a chunk, at least a page",
                          text);
            return msp_error_hint("unset it: what other hosts touch is registered");
        }
        network.wanted_chunk_bytes = msp_round_up(size, msp_page_size());
    }
    return MEMSPAN_OK;
}

/* Of the whole segment: size_bytes is set last. */
static uint64_t extent_of(unsigned segment)
{
    return (segment == MSP_SEGMENT_CONTROL) ? msp_segments[segment].size_bytes
                                            : msp_segments[segment].stride_bytes;
}

uint64_t msp_network_region_chunk_bytes(unsigned segment)
{
    uint64_t chunk_bytes = CHUNK_MIN_BYTES;

    if (segment == MSP_SEGMENT_CONTROL) {
        return CONTROL_CHUNK_BYTES;
    }
    if (network.wanted_chunk_bytes != 0) {
        return network.wanted_chunk_bytes;
    }
    while (extent_of(segment) / chunk_bytes > CHUNK_MAX) {
        chunk_bytes *= 2;
    }
    return chunk_bytes;
}

/* Why memory is not registered in the first way that there is: the error record. */
static void note_downgrade(struct region *region)
{
    snprintf(region->facts.downgrade, sizeof region->facts.downgrade, "%s",
             memspan_error_last()->message);
}

/* The dma-buf of device memory, where its driver exports one; else the driver of the network may
 * support the address. */
static void open_dmabuf(struct region *region, struct msp_network_region *wanted)
{
    if (memspan_share_dmabuf(wanted->base, wanted->size_bytes, &wanted->dmabuf_fd,
                             &wanted->dmabuf_offset_bytes) != MEMSPAN_OK) {
        note_downgrade(region);
        wanted->dmabuf_fd = -1;
    }
}

static memspan_status_t refuse_devices(void)
{
    return memspan_error(MEMSPAN_ERR_UNSUPPORTED, "%s registers no device memory here",
                         network.driver->name);
}

/* How device memory will be registered, before it is: for the query. */
static void foresee(struct region *region, unsigned segment)
{
    struct msp_network_region page = {
        .base = msp_segments[segment].base, .size_bytes = msp_page_size(), .dmabuf_fd = -1};

    if (!network.limits.takes_device_memory) {
        (void)refuse_devices();
        note_downgrade(region);
        region->facts.is_host = (region->host != NULL);
        return;
    }
    open_dmabuf(region, &page);
    if (page.dmabuf_fd >= 0) {
        close(page.dmabuf_fd);
        region->facts.is_dmabuf = true;
    }
}

/* Device memory: whose driver has it, and whether its pages are the host's. */
static void find_backend(struct region *region, unsigned segment)
{
    memspan_pointer_info_t pointer = {.struct_size = sizeof pointer};
    memspan_device_info_t device   = {.struct_size = sizeof device};
    void *host;

    if (msp_segments[segment].host_touches) {
        return;
    }
    snprintf(region->backend, sizeof region->backend, "device");
    if ((memspan_pointer_describe(msp_segments[segment].base, &pointer) == MEMSPAN_OK) &&
        (memspan_device_describe(pointer.home, &device) == MEMSPAN_OK)) {
        snprintf(region->backend, sizeof region->backend, "%s", device.backend);
    }
    region->device_backend = region->backend;
    if ((network.mode == HOST_ALONE) || (network.mode == BY_MESSAGES)) {
        return;
    }
    if (memspan_share_host_open(msp_segments[segment].base, extent_of(segment), &host) ==
        MEMSPAN_OK) {
        region->host = host;
    } else {
        snprintf(region->no_host, sizeof region->no_host, "%s", memspan_error_last()->message);
    }
    foresee(region, segment);
}

static memspan_status_t open_region(unsigned segment)
{
    struct region *region = &regions[segment];
    uint64_t extent_bytes = extent_of(segment);
    bool is_whole         = !network.limits.pins_memory && (network.wanted_chunk_bytes == 0);

    if (region->chunks != NULL) {
        return MEMSPAN_OK;
    }
    if (extent_bytes == 0) {
        return memspan_error(MEMSPAN_ERR_NOT_FOUND, "there is no segment %u", segment);
    }
    region->chunk_bytes = is_whole ? extent_bytes : msp_network_region_chunk_bytes(segment);
    region->chunk_count = (size_t)((extent_bytes + region->chunk_bytes - 1) / region->chunk_bytes);
    region->chunks      = calloc(region->chunk_count, sizeof *region->chunks);
    if (region->chunks == NULL) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for %zu registrations",
                             region->chunk_count);
    }
    region->facts.chunk_bytes = region->chunk_bytes;
    find_backend(region, segment);
    return MEMSPAN_OK;
}

/* ---- one chunk ---- */

/* Adds this process's limit to the driver's error, where that may be the cause: privileged
 * processes are beyond it. */
static void explain_limit(uint64_t size_bytes)
{
    struct rlimit limit;
    char reason[160];
    char limit_text[24];
    char used_text[24];

    if ((getrlimit(RLIMIT_MEMLOCK, &limit) != 0) || (limit.rlim_cur == RLIM_INFINITY) ||
        (network.registered_bytes > limit.rlim_cur) ||
        (network.registered_bytes + size_bytes <= limit.rlim_cur)) {
        return;
    }
    snprintf(reason, sizeof reason, "%s", memspan_error_last()->message);
    memspan_error(
        memspan_error_last()->status,
        "%s; the limit of locked memory (RLIMIT_MEMLOCK) is %s, of which %s are registered", reason,
        msp_text_from_size(limit_text, sizeof limit_text, limit.rlim_cur),
        msp_text_from_size(used_text, sizeof used_text, network.registered_bytes));
    msp_error_hint("ulimit -l unlimited; for Slurm's jobs LimitMEMLOCK=infinity in slurmd's unit");
}

/* Why nothing of the segment will be registered; NULL: it may be. */
static const char *refusal_of(unsigned segment, char *reason, size_t reason_bytes)
{
    if (network.mode == BY_MESSAGES) {
        return "SHMEMX_REGISTER=none";
    }
    if (msp_segments[segment].host_touches) {
        return NULL;
    }
    if (network.mode == HOST_ALONE) {
        return "SHMEMX_REGISTER=host";
    }
    if (!network.limits.takes_device_memory && (regions[segment].host == NULL)) {
        snprintf(reason, reason_bytes, "%s registers no device memory here, and %s",
                 network.driver->name, regions[segment].no_host);
        return reason;
    }
    return NULL;
}

static memspan_status_t call_driver(const struct msp_network_region *wanted,
                                    struct msp_network_chunk *made,
                                    struct msp_network_memory **memory_p)
{
    memspan_status_t status;

    made->key_bytes = sizeof made->key;
    status = network.driver->memory_register(wanted, made->key, &made->key_bytes, memory_p);
    if ((status != MEMSPAN_OK) && (status != MEMSPAN_ERR_UNSUPPORTED)) {
        explain_limit(wanted->size_bytes);
    }
    return status;
}

/* By its dma-buf, where its driver exports one, else by its address. */
static memspan_status_t register_device(struct region *region, struct msp_network_region *wanted,
                                        struct msp_network_chunk *made,
                                        struct msp_network_memory **memory_p)
{
    memspan_status_t status;

    if (!network.limits.takes_device_memory) {
        return refuse_devices();
    }
    open_dmabuf(region, wanted);
    status = call_driver(wanted, made, memory_p);
    if (wanted->dmabuf_fd < 0) {
        return status;
    }
    close(wanted->dmabuf_fd); /* a registration holds the buffer */
    if (status == MEMSPAN_OK) {
        region->facts.is_dmabuf = true;
        return status;
    }
    note_downgrade(region);
    region->facts.is_dmabuf = false;
    wanted->dmabuf_fd       = -1;
    return call_driver(wanted, made, memory_p);
}

/* Device memory that the network does not take as such is registered as the pages of the host that
 * it consists of. */
static memspan_status_t register_range(unsigned segment, const struct msp_network_chunk *range,
                                       struct msp_network_chunk *made, struct chunk *chunk)
{
    struct region *region            = &regions[segment];
    struct msp_network_region wanted = {.base = msp_segments[segment].base + range->offset_bytes,
                                        .size_bytes     = range->size_bytes,
                                        .device_backend = region->device_backend,
                                        .dmabuf_fd      = -1};
    memspan_status_t status;

    if (region->device_backend == NULL) {
        return call_driver(&wanted, made, &chunk->memory);
    }
    status = register_device(region, &wanted, made, &chunk->memory);
    if ((status == MEMSPAN_OK) || (region->host == NULL)) {
        return status;
    }
    note_downgrade(region);
    wanted.base           = region->host + range->offset_bytes;
    wanted.device_backend = NULL;
    chunk->is_host        = true;
    return call_driver(&wanted, made, &chunk->memory);
}

static void note_refusal(struct region *region, unsigned segment, struct chunk *chunk)
{
    bool is_asked_for = (network.mode == BY_MESSAGES) || (region->device_backend != NULL);

    chunk->state = REFUSED;
    region->facts.refused_count++;
    snprintf(region->facts.why, sizeof region->facts.why, "%s", memspan_error_last()->message);
    if (is_asked_for) {
        msp_debug_note("segment %u is reached by messages: %s", segment, region->facts.why);
        return;
    }
    if (msp_shmem_option_is_on(MEMSPAN_SHMEM_STRICT_PARTITIONS)) {
        msp_fatal_error("registering symmetric memory with the network");
    }
    msp_warn_once(&network.warn_key,
                  "symmetric memory cannot be registered with the network, and is reached by "
                  "messages, which is slower: %s",
                  memspan_error_text());
}

static void register_chunk(struct region *region, unsigned segment,
                           const struct msp_network_chunk *range, struct chunk *chunk)
{
    struct msp_network_chunk made;
    char reason[256];
    const char *refusal     = refusal_of(segment, reason, sizeof reason);
    memspan_status_t status = (refusal != NULL)
                                  ? memspan_error(MEMSPAN_ERR_UNSUPPORTED, "%s", refusal)
                                  : register_range(segment, range, &made, chunk);

    if (status == MEMSPAN_OK) {
        chunk->key = malloc(made.key_bytes + 1);
        if (chunk->key == NULL) {
            network.driver->memory_release(chunk->memory);
            status = memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for a key");
        }
    }
    if (status != MEMSPAN_OK) {
        note_refusal(region, segment, chunk);
        return;
    }
    memcpy(chunk->key, made.key, made.key_bytes);
    chunk->key_bytes = made.key_bytes;
    chunk->state     = REGISTERED;
    region->facts.chunk_count++;
    region->facts.registered_bytes += range->size_bytes;
    region->facts.is_host = chunk->is_host;
    network.registered_bytes += range->size_bytes;
}

static memspan_status_t find_chunk(unsigned segment, uint64_t offset_bytes,
                                   struct msp_network_chunk *chunk_p)
{
    struct region *region = &regions[segment];
    memspan_status_t status;
    struct chunk *chunk;

    status = open_region(segment);
    if (status != MEMSPAN_OK) {
        return status;
    }
    chunk                 = &region->chunks[offset_bytes / region->chunk_bytes];
    chunk_p->offset_bytes = offset_bytes / region->chunk_bytes * region->chunk_bytes;
    chunk_p->size_bytes   = extent_of(segment) - chunk_p->offset_bytes;
    if (chunk_p->size_bytes > region->chunk_bytes) {
        chunk_p->size_bytes = region->chunk_bytes;
    }
    chunk_p->key_bytes = 0;
    if (chunk->state == UNTRIED) {
        register_chunk(region, segment, chunk_p, chunk);
    }
    chunk_p->address = chunk_p->offset_bytes +
                       (uintptr_t)(chunk->is_host ? region->host : msp_segments[segment].base);
    if (chunk->state == REFUSED) {
        return memspan_error(MEMSPAN_ERR_UNSUPPORTED, "%s", region->facts.why);
    }
    memcpy(chunk_p->key, chunk->key, chunk->key_bytes);
    chunk_p->key_bytes = chunk->key_bytes;
    return MEMSPAN_OK;
}

/* ---- segments ---- */

memspan_status_t msp_network_region_find(unsigned segment, uint64_t offset_bytes,
                                         struct msp_network_chunk *chunk_p)
{
    memspan_status_t status;

    pthread_mutex_lock(&region_lock);
    if ((network.driver == NULL) || (segment >= MSP_SEGMENT_MAX) ||
        (offset_bytes >= extent_of(segment))) {
        status = memspan_error(MEMSPAN_ERR_NOT_FOUND, "segment %u has no byte %llu", segment,
                               (unsigned long long)offset_bytes);
    } else {
        status = find_chunk(segment, offset_bytes, chunk_p);
    }
    pthread_mutex_unlock(&region_lock);
    return status;
}

memspan_status_t msp_network_region_add(unsigned segment)
{
    struct msp_network_chunk chunk = {.size_bytes = 0};
    memspan_status_t status        = MEMSPAN_OK;
    uint64_t at;

    if ((network.mode != ALL_AT_START) || (segment == MSP_SEGMENT_CONTROL)) {
        return MEMSPAN_OK;
    }
    for (at = 0; (at < extent_of(segment)) && (status == MEMSPAN_OK); at += chunk.size_bytes) {
        status = msp_network_region_find(segment, at, &chunk);
        status = (status == MEMSPAN_ERR_UNSUPPORTED) ? MEMSPAN_OK : status;
    }
    return status;
}

static void close_region(unsigned segment)
{
    struct region *region = &regions[segment];
    size_t i;

    for (i = 0; i < region->chunk_count; i++) {
        if (region->chunks[i].state == REGISTERED) {
            network.driver->memory_release(region->chunks[i].memory);
            free(region->chunks[i].key);
        }
    }
    network.registered_bytes -= region->facts.registered_bytes;
    if (region->host != NULL) {
        (void)memspan_share_host_close(msp_segments[segment].base, extent_of(segment));
    }
    free(region->chunks);
    memset(region, 0, sizeof *region);
}

void msp_network_region_remove(unsigned segment)
{
    pthread_mutex_lock(&region_lock);
    if (network.driver != NULL) {
        close_region(segment);
    }
    pthread_mutex_unlock(&region_lock);
}

/* ---- start and end ---- */

memspan_status_t msp_network_region_open(const struct msp_network_driver *driver,
                                         const struct msp_network_limits *limits)
{
    memset(&network, 0, sizeof network);
    network.limits = *limits;
    network.driver = driver;
    return read_option();
}

void msp_network_region_close(void)
{
    unsigned i;

    for (i = 0; i < MSP_SEGMENT_MAX; i++) {
        msp_network_region_remove(i);
    }
    pthread_mutex_lock(&region_lock);
    memset(&network, 0, sizeof network);
    pthread_mutex_unlock(&region_lock);
}

/* ---- the query ---- */

void msp_network_region_describe(unsigned segment, struct msp_network_region_facts *facts_p)
{
    pthread_mutex_lock(&region_lock);
    *facts_p = regions[segment].facts;
    pthread_mutex_unlock(&region_lock);
}

static void write_text(unsigned segment, char *text, size_t text_bytes)
{
    const struct region *region = &regions[segment];
    char chunk_text[24];
    char sum_text[24];
    char reason[256];
    const char *refusal;
    const char *how;
    bool is_whole = !network.limits.pins_memory && (network.wanted_chunk_bytes == 0);
    size_t used   = 0;

    (void)open_region(segment); /* whether the host has the pages of device memory */
    refusal = refusal_of(segment, reason, sizeof reason);
    how     = region->facts.is_dmabuf ? " (dma-buf)"
              : region->facts.is_host ? " as pages of the host"
                                      : "";
    if (refusal != NULL) {
        snprintf(text, text_bytes, "by messages, which its PE executes%s: %s",
                 msp_segments[segment].host_touches ? "" : ", large blocks through a staging area",
                 refusal);
        return;
    }
    text[0] = '\0';
    msp_text_append(text, text_bytes, &used, "by %s, registered ", network.driver->name);
    if (is_whole) {
        msp_text_append(text, text_bytes, &used, "as a whole%s", how);
    } else {
        msp_text_append(text, text_bytes, &used, "in chunks of %s%s",
                        msp_text_from_size(chunk_text, sizeof chunk_text,
                                           msp_network_region_chunk_bytes(segment)),
                        how);
    }
    msp_text_append(text, text_bytes, &used, " at first use; %u so far, %s",
                    region->facts.chunk_count,
                    msp_text_from_size(sum_text, sizeof sum_text, region->facts.registered_bytes));
    if (region->facts.downgrade[0] != '\0') {
        msp_text_append(text, text_bytes, &used, "; %s", region->facts.downgrade);
    }
    if (region->facts.refused_count != 0) {
        msp_text_append(text, text_bytes, &used, "; %u by messages: %s",
                        region->facts.refused_count, region->facts.why);
    }
}

void msp_network_region_text(unsigned segment, char *text, size_t text_bytes)
{
    text[0] = '\0';
    pthread_mutex_lock(&region_lock);
    if (network.driver != NULL) {
        write_text(segment, text, text_bytes);
    }
    pthread_mutex_unlock(&region_lock);
}

uint64_t msp_network_region_total(void)
{
    uint64_t bytes;

    pthread_mutex_lock(&region_lock);
    bytes = network.registered_bytes;
    pthread_mutex_unlock(&region_lock);
    return bytes;
}
