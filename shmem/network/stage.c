/* SPDX-License-Identifier: BSD-3-Clause */
/* stage.c: staging buffers, kept in a list; leases of the area STAGE. */

#include "shmem/network/stage.h"
#include "shmem/control/memory.h"
#include "shmem/job.h"
#include "shmem/partition/placement.h"
#include "shmem/transport/rma.h"
#include <memspan/allocator.h>
#include <memspan/import.h>
#include <pthread.h>
#include <stdlib.h>

enum {
    KEPT_MAX    = 2 * MSP_NETWORK_STAGE_SLOTS,
    LEASE_BYTES = MSP_NETWORK_STAGE_SLOTS * MSP_NETWORK_STAGE_BYTES,
    LEASE_COUNT = sizeof((struct msp_control_offsets *)0)->STAGE / LEASE_BYTES,
};

_Static_assert(offsetof(struct msp_control_offsets, STAGE) % MSP_NETWORK_STAGE_BYTES == 0,
               "a slot lies in one chunk of registered memory");

static struct msp_network_stage *kept;
static unsigned kept_count;
static pthread_mutex_t stage_lock = PTHREAD_MUTEX_INITIALIZER; /* guards both */

/* NULL: its driver pins no host memory, or has none left. */
static char *take_pinned(int device)
{
    memspan_space_h space;

    return ((device >= 0) &&
            (msp_device_memory_space(device, MEMSPAN_KIND_HOST_PINNED, &space) == MEMSPAN_OK))
               ? msp_device_memory_alloc(space, MSP_NETWORK_STAGE_BYTES, false)
               : NULL;
}

static struct msp_network_stage *make(const char *call, int device)
{
    struct msp_network_stage *stage = calloc(1, sizeof *stage);

    if (stage == NULL) {
        msp_fatal("%s: no memory for a staging buffer", call);
    }
    stage->memory    = take_pinned(device);
    stage->device    = device;
    stage->is_pinned = (stage->memory != NULL);
    if (!stage->is_pinned) {
        stage->memory = aligned_alloc(MSP_DEVICE_MEMORY_ALIGN_BYTES, MSP_NETWORK_STAGE_BYTES);
    }
    if (stage->memory == NULL) {
        msp_fatal("%s: no memory for a staging buffer of %d bytes", call, MSP_NETWORK_STAGE_BYTES);
    }
    return stage;
}

static void destroy(struct msp_network_stage *stage)
{
    if (stage->is_pinned) {
        (void)memspan_free(stage->memory);
    } else {
        free(stage->memory);
    }
    free(stage);
}

struct msp_network_stage *msp_network_stage_take(const char *call, const void *device_address)
{
    int device = msp_device_memory_home(device_address);
    struct msp_network_stage **place;
    struct msp_network_stage *found;

    pthread_mutex_lock(&stage_lock);
    for (place = &kept; (*place != NULL) && ((*place)->device != device); place = &(*place)->next) {
    }
    found = *place;
    if (found != NULL) {
        *place = found->next;
        kept_count--;
    }
    pthread_mutex_unlock(&stage_lock);
    return (found != NULL) ? found : make(call, device);
}

void msp_network_stage_give(struct msp_network_stage *stage)
{
    bool is_kept;

    pthread_mutex_lock(&stage_lock);
    is_kept = (kept_count < KEPT_MAX);
    if (is_kept) {
        stage->next = kept;
        kept        = stage;
        kept_count++;
    }
    pthread_mutex_unlock(&stage_lock);
    if (!is_kept) {
        destroy(stage);
    }
}

/* ---- leases ---- */

static struct {
    atomic_bool is_leased;
    bool was_pinned; /* tried, by the worker */
    void *imported;  /* NULL: its driver does not pin it */
} leases[LEASE_COUNT];

static char *lease_memory(unsigned lease)
{
    return (char *)MSP_CONTROL_AREA(msp_job.local_index, STAGE) + ((size_t)lease * LEASE_BYTES);
}

uint64_t msp_network_stage_lease(void)
{
    unsigned i;

    for (i = 0; i < LEASE_COUNT; i++) {
        if (!atomic_exchange(&leases[i].is_leased, true)) {
            return offsetof(struct msp_control_offsets, STAGE) + ((uint64_t)i * LEASE_BYTES);
        }
    }
    return MSP_NETWORK_NO_LEASE;
}

/* The lease of a place in the control memory; LEASE_COUNT: it is none. */
static unsigned lease_of(uint64_t place)
{
    uint64_t offset = place - offsetof(struct msp_control_offsets, STAGE);

    return (offset < (uint64_t)LEASE_COUNT * LEASE_BYTES) ? (unsigned)(offset / LEASE_BYTES)
                                                          : (unsigned)LEASE_COUNT;
}

void msp_network_stage_release(uint64_t lease)
{
    unsigned index = lease_of(lease);

    if ((index < LEASE_COUNT) &&
        (lease == offsetof(struct msp_control_offsets, STAGE) + ((uint64_t)index * LEASE_BYTES))) {
        atomic_store(&leases[index].is_leased, false);
    }
}

/* Once: pinned for the first device that uses it. */
static void pin(unsigned lease, const void *device_address)
{
    int device = msp_device_memory_home(device_address);

    leases[lease].was_pinned = true;
    if ((device >= 0) &&
        (memspan_import(lease_memory(lease), LEASE_BYTES, &device, 1) == MEMSPAN_OK)) {
        leases[lease].imported = lease_memory(lease);
    }
}

void msp_network_stage_copy(const char *call, bool to_device, void *device_address, uint64_t place,
                            size_t size_bytes)
{
    unsigned lease = lease_of(place);
    char *slot     = (char *)msp_control_slot(msp_job.local_index) + place;

    if ((lease == LEASE_COUNT) || (size_bytes > MSP_NETWORK_STAGE_BYTES) ||
        (lease_of(place + size_bytes - 1) != lease)) {
        msp_fatal("%s: %zu bytes at %llu of the control memory are no staging area", call,
                  size_bytes, (unsigned long long)place);
    }
    if (!leases[lease].was_pinned) {
        pin(lease, device_address);
    }
    msp_rma_move(call, to_device ? device_address : slot, to_device ? slot : device_address,
                 size_bytes);
}

static void close_leases(void)
{
    unsigned i;

    for (i = 0; i < LEASE_COUNT; i++) {
        if (leases[i].imported != NULL) {
            (void)memspan_import_release(leases[i].imported);
        }
        leases[i].imported   = NULL;
        leases[i].was_pinned = false;
        atomic_store(&leases[i].is_leased, false);
    }
}

void msp_network_stage_close(void)
{
    close_leases();
    while (kept != NULL) {
        struct msp_network_stage *stage = kept;

        kept = stage->next;
        destroy(stage);
    }
    kept_count = 0;
}
