/* SPDX-License-Identifier: BSD-3-Clause */
/* No launcher: a job of one. It gets the values that it puts. */

#include "shmem/bootstrap/sources.h"
#include "shmem/error.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct item {
    struct item *next;
    size_t size_bytes;
    const char *key; /* behind the data */
    char data[];
};

static struct item *items; /* the newest first */

static memspan_status_t single_open(struct msp_bootstrap_job *job_p)
{
    static const int self = 0;

    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    struct msp_bootstrap_job job = {
        .pe_count = 1, .local_count = 1, .local_pes = &self, .launcher = "none"};
    snprintf(job.job_id, sizeof(job.job_id), "single-%d-%llx", (int)getpid(),
             (unsigned long long)now.tv_sec * 1000000000ULL + (unsigned long long)now.tv_nsec);
    *job_p = job;
    return MEMSPAN_OK;
}

static memspan_status_t single_put(const char *key, const void *data, size_t size_bytes)
{
    size_t key_size   = strlen(key) + 1;
    struct item *item = malloc(sizeof(*item) + size_bytes + key_size);
    if (item == NULL) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for %zu bytes of \"%s\"", size_bytes,
                             key);
    }
    if (size_bytes > 0) {
        memcpy(item->data, data, size_bytes);
    }
    item->key        = memcpy(item->data + size_bytes, key, key_size);
    item->size_bytes = size_bytes;
    item->next       = items;
    items            = item;
    return MEMSPAN_OK;
}

static memspan_status_t single_barrier(void)
{
    return MEMSPAN_OK;
}

static memspan_status_t single_get(int pe, const char *key, void *data, size_t *size_p)
{
    if (pe != 0) {
        return memspan_error(MEMSPAN_ERR_INVALID, "there is no PE %d in a job of 1", pe);
    }
    const struct item *item = items;
    while (item != NULL && strcmp(item->key, key) != 0) {
        item = item->next;
    }
    if (item == NULL) {
        return memspan_error(MEMSPAN_ERR_NOT_FOUND, "PE 0 has not distributed \"%s\"", key);
    }
    if (item->size_bytes > *size_p) {
        return memspan_error(MEMSPAN_ERR_LIMIT,
                             "PE 0 distributed %zu bytes as \"%s\", %zu are expected",
                             item->size_bytes, key, *size_p);
    }
    memcpy(data, item->data, item->size_bytes);
    *size_p = item->size_bytes;
    return MEMSPAN_OK;
}

static void single_abort(int status, const char *message)
{
    (void)message; /* has been printed */
    _exit(msp_bootstrap_exit_code(status));
}

static void single_close(void)
{
    while (items != NULL) {
        struct item *item = items;
        items             = item->next;
        free(item);
    }
}

const struct msp_bootstrap msp_bootstrap_single = {
    .name         = "single",
    .open         = single_open,
    .put          = single_put,
    .barrier      = single_barrier,
    .node_barrier = single_barrier,
    .get          = single_get,
    .abort        = single_abort,
    .close        = single_close,
};
