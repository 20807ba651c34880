/* SPDX-License-Identifier: BSD-3-Clause */
/* remote_share.c: tokens of the driver's, and what they opened. What could not be opened is
 * remembered too, so that a PE's way to another does not change. */

#include "shmem/transport/driver_share.h"
#include "shmem/error.h"
#include "shmem/job.h"
#include <pthread.h>
#include <stdlib.h>

/* Stands for what cannot be opened. */
static char closed;

/* By number, then by local index; NULL: not tried. */
static char **opened[MSP_REMOTE_SHARE_MAX];
static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER; /* guards opening and closing */

void msp_remote_share_offer(struct msp_remote_token *token, const void *base, int device)
{
    size_t size = sizeof token->bytes;

    if (memspan_share_export(base, token->bytes, &size) != MEMSPAN_OK) {
        msp_debug_note("memory of device %d is reached through its PE: %s", device,
                       memspan_error_text());
        size = 0;
    }
    atomic_store_explicit(&token->size_bytes, (unsigned)size, memory_order_release);
}

static char *open_token(const struct msp_remote_token *token)
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

/* The row of a number, made when it is first needed; NULL without memory for it. */
static char **row_of(unsigned number)
{
    if (opened[number] == NULL) {
        opened[number] = calloc((size_t)msp_job.local_count, sizeof *opened[number]);
    }
    return opened[number];
}

char *msp_remote_share_open(const struct msp_remote_token *token, unsigned number, int local_index)
{
    char **row;
    char *address = NULL;

    if (number >= MSP_REMOTE_SHARE_MAX) {
        return NULL;
    }
    pthread_mutex_lock(&open_lock);
    row = row_of(number);
    if (row != NULL) {
        address = row[local_index];
        if (address == NULL) {
            address          = open_token(token);
            row[local_index] = address;
        }
    }
    pthread_mutex_unlock(&open_lock);
    return (address == &closed) ? NULL : address;
}

void msp_remote_share_close(unsigned number)
{
    int i;

    if (number >= MSP_REMOTE_SHARE_MAX) {
        return;
    }
    pthread_mutex_lock(&open_lock);
    for (i = 0; (opened[number] != NULL) && (i < msp_job.local_count); i++) {
        char *address = opened[number][i];

        if ((address != NULL) && (address != &closed)) {
            (void)memspan_share_close(address);
        }
    }
    free(opened[number]);
    opened[number] = NULL;
    pthread_mutex_unlock(&open_lock);
}
