/* SPDX-License-Identifier: BSD-3-Clause */
/* import.c: pages of others in drivers. A list: they are few and large. */

#include "core/base/error.h"
#include "core/base/fork.h"
#include "core/base/log.h"
#include "core/base/platform.h"
#include "core/device/device.h"
#include <stdlib.h>

struct import {
    struct import *next;
    char *address;
    size_t size_bytes;
    size_t count;
    bool is_ready; /* in all drivers; else one of them is at work on it */
    struct {
        const struct msp_device *device;
        void *cookie;
    } into[];
};

static struct import *imports;
MSP_LOCK_STATIC(import_lock, MSP_RANK_IMPORTS); /* guards imports */

/* ---- drivers ---- */

static void leave(const struct import *import, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++) {
        const struct msp_device *d = import->into[i].device;

        if (d->table->release(d->state, d->ordinal, import->address, import->size_bytes,
                              import->into[i].cookie) != MEMSPAN_OK) {
            msp_log(MEMSPAN_LOG_WARN, d->table->name, "%s", memspan_error_text());
        }
    }
}

memspan_status_t msp_import_into(const struct msp_device *d, void *address, size_t size_bytes,
                                 void **cookie_p)
{
    void *seen_at = NULL;
    void *cookie  = NULL;
    memspan_status_t status;

    if (d->table->import == NULL) {
        return memspan_error(MEMSPAN_ERR_UNSUPPORTED, "%s imports no pages", d->table->name);
    }
    status = d->table->import(d->state, d->ordinal, address, size_bytes, &seen_at, &cookie);
    if ((status == MEMSPAN_OK) && (seen_at != address)) {
        (void)d->table->release(d->state, d->ordinal, address, size_bytes, cookie);
        return memspan_error(MEMSPAN_ERR_UNREACHABLE,
                             "%s%d sees host pages at another address (%p, not %p)", d->table->name,
                             d->ordinal, seen_at, address);
    }
    if (status == MEMSPAN_OK) {
        *cookie_p = cookie;
    }
    return status;
}

static memspan_status_t enter(struct import *import)
{
    size_t i;

    for (i = 0; i < import->count; i++) {
        memspan_status_t status = msp_import_into(import->into[i].device, import->address,
                                                  import->size_bytes, &import->into[i].cookie);

        if (status != MEMSPAN_OK) {
            leave(import, i);
            return status;
        }
    }
    return MEMSPAN_OK;
}

/* ---- the list: the range is in it while drivers are at work, without the lock ---- */

static bool overlaps(const char *address, size_t size_bytes)
{
    const struct import *i;

    for (i = imports; i != NULL; i = i->next) {
        if ((address < i->address + i->size_bytes) && (i->address < address + size_bytes)) {
            return true;
        }
    }
    return false;
}

/* False: the range is taken. */
static bool add(struct import *import)
{
    bool is_free;

    msp_lock(&import_lock);
    is_free = !overlaps(import->address, import->size_bytes);
    if (is_free) {
        import->next = imports;
        imports      = import;
    }
    msp_unlock(&import_lock);
    return is_free;
}

static void drop(struct import *import)
{
    struct import **at = &imports;

    msp_lock(&import_lock);
    while (*at != import) {
        at = &(*at)->next;
    }
    *at = import->next;
    msp_unlock(&import_lock);
    free(import);
}

static memspan_status_t check(const void *address, size_t size_bytes, const int *devices,
                              size_t device_count)
{
    size_t page = msp_page_size();

    if ((address == NULL) || (size_bytes == 0) || ((uintptr_t)address % page != 0) ||
        (size_bytes % page != 0) || ((uintptr_t)address + size_bytes < (uintptr_t)address)) {
        return memspan_error(MEMSPAN_ERR_INVALID, "%zu bytes at %p are no whole pages", size_bytes,
                             address);
    }
    if ((devices == NULL) || (device_count == 0) || (device_count > 1024)) {
        return memspan_error(MEMSPAN_ERR_INVALID, "no list of 1 to 1024 devices");
    }
    return MEMSPAN_OK;
}

memspan_status_t memspan_import(void *address, size_t size_bytes, const int *devices,
                                size_t device_count)
{
    memspan_status_t status = check(address, size_bytes, devices, device_count);
    struct import *import;
    size_t i;

    if (status != MEMSPAN_OK) {
        return status;
    }
    import = calloc(1, sizeof *import + (device_count * sizeof import->into[0]));
    if (import == NULL) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory to record imported pages");
    }
    import->address    = address;
    import->size_bytes = size_bytes;
    import->count      = device_count;
    for (i = 0; i < device_count; i++) {
        import->into[i].device = msp_device_find(devices[i]);
        if (import->into[i].device == NULL) {
            free(import);
            return memspan_error_last()->status;
        }
    }
    msp_fork_prepare();
    if (!add(import)) {
        free(import);
        return memspan_error(MEMSPAN_ERR_CONFLICT, "pages at %p have been imported", address);
    }
    status = enter(import);
    if (status != MEMSPAN_OK) {
        drop(import);
        return status;
    }
    msp_lock(&import_lock);
    import->is_ready = true;
    msp_unlock(&import_lock);
    return MEMSPAN_OK;
}

memspan_status_t memspan_import_release(void *address)
{
    struct import *found;

    msp_lock(&import_lock);
    for (found = imports; (found != NULL) && ((found->address != address) || !found->is_ready);
         found = found->next) {
    }
    if (found != NULL) {
        found->is_ready = false; /* no other release finds it */
    }
    msp_unlock(&import_lock);
    if (found == NULL) {
        return memspan_error(MEMSPAN_ERR_NOT_FOUND, "no import begins at %p", address);
    }
    leave(found, found->count);
    drop(found);
    return MEMSPAN_OK;
}

bool msp_import_covers(const void *pointer, size_t size_bytes, const struct msp_device *device)
{
    const struct import *i;
    bool covers = false;
    size_t k;

    msp_lock(&import_lock);
    for (i = imports; i != NULL; i = i->next) {
        size_t offset = (size_t)((const char *)pointer - i->address);

        if (!i->is_ready || (offset >= i->size_bytes) || (size_bytes > i->size_bytes - offset)) {
            continue;
        }
        for (k = 0; k < i->count; k++) {
            covers = covers || (i->into[k].device == device);
        }
    }
    msp_unlock(&import_lock);
    return covers;
}
