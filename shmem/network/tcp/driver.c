/* SPDX-License-Identifier: BSD-3-Clause */
/* driver.c: the table, error records, registered memory.
 *
 * Nothing is registered with TCP: a key is the number of a range that peers may name, so that
 * arriving data changes no other memory. */

#include "shmem/network/tcp/tcp.h"
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

struct msp_tcp msp_tcp;

struct msp_network_memory {
    char *base; /* NULL: released */
    size_t size_bytes;
    uint32_t key;
};

static struct msp_network_memory **memories; /* by key */
static uint32_t memory_count;
static pthread_mutex_t memory_lock = PTHREAD_MUTEX_INITIALIZER; /* guards both */

memspan_status_t msp_tcp_fail(memspan_status_t status, const char *call, int code, const char *hint,
                              const char *format, ...)
{
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if ((hint == NULL) && (code == EMFILE)) {
        hint = "the limit on open files (ulimit -n) is in the way";
    }
    return msp_tcp.services->fail(status, call, code, (code != 0) ? strerror(code) : NULL, hint,
                                  "%s", text);
}

/* ---- memory ---- */

char *msp_tcp_memory_at(uint32_t key, uint64_t address, uint64_t size_bytes)
{
    const struct msp_network_memory *memory = NULL;
    uint64_t first                          = 0;
    bool is_inside;

    pthread_mutex_lock(&memory_lock);
    if (key < memory_count) {
        memory = memories[key];
    }
    first     = (memory != NULL) ? (uint64_t)(uintptr_t)memory->base : 0;
    is_inside = (memory != NULL) && (address >= first) && (size_bytes <= memory->size_bytes) &&
                (address - first <= memory->size_bytes - size_bytes);
    pthread_mutex_unlock(&memory_lock);
    return is_inside ? (char *)(uintptr_t)address : NULL;
}

/* A free number, or a new one. False: no memory. */
static bool enter(struct msp_network_memory *memory)
{
    struct msp_network_memory **grown;
    uint32_t key = 0;

    while ((key < memory_count) && (memories[key] != NULL)) {
        key++;
    }
    if (key == memory_count) {
        grown = realloc(memories, (memory_count + 1) * sizeof(struct msp_network_memory *));
        if (grown == NULL) {
            return false;
        }
        memories = grown;
        memory_count++;
    }
    memory->key   = key;
    memories[key] = memory;
    return true;
}

static memspan_status_t memory_register(const struct msp_network_region *region, void *key,
                                        size_t *key_bytes_p, struct msp_network_memory **memory_p)
{
    struct msp_network_memory *memory;
    bool is_entered;

    if (region->device_backend != NULL) {
        return msp_tcp_fail(MEMSPAN_ERR_UNSUPPORTED, NULL, 0, NULL, "TCP takes no memory of %s",
                            region->device_backend);
    }
    if (*key_bytes_p < sizeof memory->key) {
        return msp_tcp_fail(MEMSPAN_ERR_INVALID, NULL, 0, NULL, "no room for a key");
    }
    memory = calloc(1, sizeof *memory);
    if (memory == NULL) {
        return msp_tcp_fail(MEMSPAN_ERR_NO_MEMORY, NULL, 0, NULL, "no memory for a registration");
    }
    memory->base       = region->base;
    memory->size_bytes = region->size_bytes;
    pthread_mutex_lock(&memory_lock);
    is_entered = enter(memory);
    pthread_mutex_unlock(&memory_lock);
    if (!is_entered) {
        free(memory);
        return msp_tcp_fail(MEMSPAN_ERR_NO_MEMORY, NULL, 0, NULL, "no memory for a registration");
    }
    memcpy(key, &memory->key, sizeof memory->key);
    *key_bytes_p = sizeof memory->key;
    *memory_p    = memory;
    return MEMSPAN_OK;
}

static void memory_release(struct msp_network_memory *memory)
{
    pthread_mutex_lock(&memory_lock);
    memories[memory->key] = NULL;
    pthread_mutex_unlock(&memory_lock);
    free(memory);
}

/* The number itself, counted from 1. */
static memspan_status_t key_open(struct msp_network_peer *peer, const void *key, size_t key_bytes,
                                 struct msp_network_key **key_p)
{
    uint32_t number;

    if (key_bytes != sizeof number) {
        return msp_tcp_fail(MEMSPAN_ERR_INVALID, NULL, 0, NULL,
                            "the key of memory of PE %d has %zu bytes", peer->pe, key_bytes);
    }
    memcpy(&number, key, sizeof number);
    *key_p = (struct msp_network_key *)((uintptr_t)number + 1);
    return MEMSPAN_OK;
}

static void key_close(struct msp_network_peer *peer, struct msp_network_key *key)
{
    (void)peer;
    (void)key;
}

/* ---- the table ---- */

static memspan_status_t driver_open(const struct msp_network_job *job,
                                    struct msp_network_limits *limits_p)
{
    memspan_status_t status;

    msp_tcp.job = *job;
    status      = msp_tcp_address_check();
    if (status != MEMSPAN_OK) {
        return status;
    }
    if (getrandom(&msp_tcp.key, sizeof msp_tcp.key, 0) != sizeof msp_tcp.key) {
        return msp_tcp_fail(MEMSPAN_ERR_DRIVER, "getrandom", 0, NULL, "no random number");
    }
    *limits_p = (struct msp_network_limits){.put_done_max_bytes  = MSP_TCP_COPY_MAX,
                                            .message_max_bytes   = MSP_TCP_MESSAGE_MAX,
                                            .signalled_max_bytes = MSP_TCP_SIGNALLED_MAX,
                                            .aggregate_max_bytes = MSP_TCP_AGGREGATE_MAX,
                                            .is_ordered          = true,
                                            .target_progresses   = true,
                                            .gets_words          = true};
    return MEMSPAN_OK;
}

static void driver_close(void)
{
    free((void *)memories);
    memories     = NULL;
    memory_count = 0;
}

static void driver_describe(char *text, size_t text_bytes)
{
    snprintf(text, text_bytes, "the kernel's TCP");
}

static const struct msp_network_driver driver = {
    .version          = MSP_NETWORK_DRIVER_VERSION,
    .name             = "tcp",
    .open             = driver_open,
    .close            = driver_close,
    .describe         = driver_describe,
    .queue_open       = msp_tcp_queue_open,
    .queue_close      = msp_tcp_queue_close,
    .queue_address    = msp_tcp_queue_address,
    .queue_progress   = msp_tcp_queue_progress,
    .queue_descriptor = msp_tcp_queue_descriptor,
    .queue_arm        = msp_tcp_queue_arm,
    .peer_open        = msp_tcp_peer_open,
    .peer_close       = msp_tcp_peer_close,
    .peer_describe    = msp_tcp_peer_describe,
    .memory_register  = memory_register,
    .memory_release   = memory_release,
    .key_open         = key_open,
    .key_close        = key_close,
    .put              = msp_tcp_put,
    .get              = msp_tcp_get,
    .send             = msp_tcp_send,
    .flush            = msp_tcp_flush,
    .order            = NULL, /* links are in order */
};

MEMSPAN_API const struct msp_network_driver *
memspan_network_driver(const struct msp_network_services *services);

const struct msp_network_driver *memspan_network_driver(const struct msp_network_services *services)
{
    if (services->version != MSP_NETWORK_DRIVER_VERSION) {
        return NULL;
    }
    msp_tcp.services = services;
    return &driver;
}
