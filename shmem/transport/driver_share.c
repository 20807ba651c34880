/* SPDX-License-Identifier: BSD-3-Clause */
/* driver_share.c: tokens of drivers, and the memory opened by them. A failure is remembered too, so
 * that the path to a peer's memory does not change. */

#include "shmem/transport/owner.h"
#include "shmem/transport/peer.h"
#include <memspan/transfer.h>
#include <pthread.h>
#include <stdlib.h>

/* Stands for memory that cannot be opened. */
static char closed;

/* By segment, then by local index; NULL: not tried. */
static char **opened[MSP_SEGMENT_MAX];
static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER; /* guards opening and closing */

/* ---- opening ---- */

void msp_driver_share_offer(int segment, int device)
{
    const struct msp_segment *own  = &msp_segments[segment];
    struct msp_driver_token *token = msp_owner_token(msp_job.local_index, own);
    size_t size                    = sizeof token->bytes;

    if (memspan_share_export(own->base, token->bytes, &size) != MEMSPAN_OK) {
        msp_debug_note("memory of device %d is reached through its PE: %s", device,
                       memspan_error_text());
        size = 0;
    }
    atomic_store_explicit(&token->size_bytes, (unsigned)size, memory_order_release);
}

static char *open_token(const struct msp_driver_token *token)
{
    unsigned size = atomic_load_explicit(&token->size_bytes, memory_order_acquire);
    void *address;

    /* PEs may see different devices: the owner's number means nothing here. */
    if ((size == 0) || (memspan_share_import(token->bytes, size, MEMSPAN_SHARE_ITS_DEVICE, &address,
                                             NULL) != MEMSPAN_OK)) {
        return &closed;
    }
    return address;
}

/* The row of a segment, made at first use; NULL without memory for it. */
static char **row_of(const struct msp_segment *segment)
{
    char ***row = &opened[segment - msp_segments];

    if (*row == NULL) {
        *row = calloc((size_t)msp_job.local_count, sizeof **row);
    }
    return *row;
}

char *msp_driver_share_address(const struct msp_target *target)
{
    int local_index                      = msp_job_local_index(target->pe);
    const struct msp_driver_token *token = msp_owner_token(local_index, target->segment);
    char *address                        = NULL;
    char **row;

    pthread_mutex_lock(&open_lock);
    row = row_of(target->segment);
    if (row != NULL) {
        if (row[local_index] == NULL) {
            row[local_index] = open_token(token);
        }
        address = row[local_index];
    }
    pthread_mutex_unlock(&open_lock);
    return ((address == NULL) || (address == &closed)) ? NULL : address + target->offset_bytes;
}

void msp_driver_share_forget(int segment)
{
    int i;

    pthread_mutex_lock(&open_lock);
    for (i = 0; (opened[segment] != NULL) && (i < msp_job.local_count); i++) {
        char *address = opened[segment][i];

        if ((address != NULL) && (address != &closed)) {
            (void)memspan_share_close(address);
        }
    }
    free(opened[segment]);
    opened[segment] = NULL;
    pthread_mutex_unlock(&open_lock);
}

void msp_driver_share_close(void)
{
    int segment;

    for (segment = 0; segment < MSP_SEGMENT_MAX; segment++) {
        msp_driver_share_forget(segment);
    }
}

/* ---- the transport ---- */

static void copy(const char *call, void *to, const void *from, size_t size_bytes)
{
    if (memspan_copy(to, from, size_bytes) != MEMSPAN_OK) {
        msp_fatal_error(call);
    }
}

static void put(const struct msp_target *target, const void *source, size_t size_bytes,
                unsigned flags)
{
    (void)flags;
    copy(target->call, target->direct, source, size_bytes);
    msp_target_notify(target, size_bytes);
}

static void get(const struct msp_target *target, void *dest, size_t size_bytes, unsigned flags)
{
    (void)flags;
    copy(target->call, dest, target->direct, size_bytes);
}

static void atomic(const struct msp_target *target, const struct msp_atomic_request *request,
                   unsigned flags)
{
    msp_transport_owner.atomic(target, request, flags);
}

static void order(const struct msp_context *context, bool completes)
{
    (void)context;
    (void)completes;
}

const struct msp_transport msp_transport_driver_share = {
    .name   = "driver-share",
    .put    = put,
    .get    = get,
    .atomic = atomic,
    .order  = order,
};
