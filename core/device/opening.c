/* SPDX-License-Identifier: BSD-3-Clause */
/* opening.c: a driver is opened, and a plug-in's table fetched, under a time limit.
 *
 * Drivers hang while they start: a device that does not come back from a reset, a service that does
 * not answer. A thread of ours waits for them; when time is up it is left behind, with all that it
 * may still touch, and the backend is off. The driver may come back yet: the state that it then
 * gave is closed again. */

#include "core/base/error.h"
#include "core/base/fork.h"
#include "core/base/option.h"
#include "core/device/backend.h"
#include "core/device/driver.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct opening {
    memspan_backend_entry_t entry; /* of a plug-in whose table is fetched; NULL: open it */
    const memspan_backend_t *table;
    struct msp_driver *driver; /* of the table, when it is opened */
    bool is_plugin;
    msp_lock_t lock; /* guards the members below */
    pthread_cond_t done;
    bool is_done;
    bool is_left; /* no thread waits any more: the one that sees both frees it */
    void *state;
    int device_count;
    memspan_status_t status;
    struct msp_error_texts texts; /* of the other thread's record, which ends with it */
    long native_code;
};

static _Thread_local bool here;

bool msp_opening_is_here(void)
{
    return here;
}

/* A driver that forks while it is opened starts a program that loads its kernel module. The thread
 * that waits for the driver holds locks, and such a child never calls the library. */
MSP_FORK_ITEM(opening) = {.is_exempt = msp_opening_is_here};

static void drop(struct opening *o)
{
    pthread_cond_destroy(&o->done);
    pthread_mutex_destroy(&o->lock.mutex);
    free(o);
}

static void keep_error(struct opening *o)
{
    const memspan_error_t *error = memspan_error_last();

    snprintf(o->texts.message, sizeof(o->texts.message), "%s", error->message);
    snprintf(o->texts.hint, sizeof(o->texts.hint), "%s", error->hint);
    snprintf(o->texts.backend, sizeof(o->texts.backend), "%s", error->backend);
    snprintf(o->texts.call, sizeof(o->texts.call), "%s", error->call);
    snprintf(o->texts.native_text, sizeof(o->texts.native_text), "%s", error->native_text);
    o->native_code = error->native_code;
}

/* A plug-in's results of the first calls are not kept: this is only to see that it returns.
 */
static void rehearse(const memspan_backend_t *table, void *state, int count)
{
    int ordinal;

    for (ordinal = 0; ordinal < count; ordinal++) {
        memspan_device_info_t info = {.struct_size = sizeof(info)};

        (void)table->device_describe(state, ordinal, &info);
    }
}

static memspan_status_t call_open(const memspan_backend_t *table, bool rehearses, void **state_p,
                                  int *count_p)
{
    memspan_status_t status;

    here   = true;
    status = table->open(&memspan_services, state_p);
    if (status == MEMSPAN_OK) {
        *count_p = table->device_count(*state_p);
        if (rehearses && (*count_p <= MSP_OPENING_DEVICES_MAX)) {
            rehearse(table, *state_p, *count_p);
        }
    }
    here = false;
    return status;
}

/* Compilers inside drivers give the thread that starts them a signal stack and leave it there; code
 * that runs at the thread's end takes it for the thread's own (the address sanitizer gives its
 * pages back). */
static memspan_status_t open_driver(const struct opening *o, void **state_p, int *count_p)
{
    bool known;
    stack_t before;
    memspan_status_t status;

    known  = (sigaltstack(NULL, &before) == 0);
    status = call_open(o->table, o->is_plugin, state_p, count_p);
    if (known) {
        (void)sigaltstack(&before, NULL);
    }
    return status;
}

static void *run(void *argument)
{
    struct opening *o              = argument;
    const memspan_backend_t *table = (o->entry != NULL) ? o->entry() : o->table;
    void *state                    = NULL;
    int count                      = 0;
    memspan_status_t status = (o->entry != NULL) ? MEMSPAN_OK : open_driver(o, &state, &count);
    bool left;

    msp_lock(&o->lock);
    o->table        = table;
    o->state        = state;
    o->device_count = count;
    o->status       = status;
    o->is_done      = true;
    left            = o->is_left;
    if (status != MEMSPAN_OK) {
        keep_error(o);
    }
    pthread_cond_signal(&o->done);
    msp_unlock(&o->lock);
    if (left) {
        if ((o->entry == NULL) && (status == MEMSPAN_OK) && msp_calls_begin(&o->driver->calls)) {
            table->close(state);
            msp_calls_end(&o->driver->calls);
        }
        drop(o);
    }
    return NULL;
}

static struct opening *make(void)
{
    struct opening *o = calloc(1, sizeof(*o));
    pthread_condattr_t attributes;

    if (o != NULL) {
        msp_lock_init(&o->lock, MSP_RANK_OPENING);
        pthread_condattr_init(&attributes);
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
        pthread_cond_init(&o->done, &attributes);
        pthread_condattr_destroy(&attributes);
    }
    return o;
}

/* Threads that the driver starts inherit the signals of this one, and stay: with the signals of the
 * thread that needs the driver they are as if the program had opened it. */
static bool start(struct opening *o)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, run, o) != 0) {
        return false;
    }
    pthread_detach(thread);
    return true;
}

/* Waits until it is done; false when time is up, and it is the thread's to release. */
static bool wait_for(struct opening *o, uint64_t limit_s)
{
    struct timespec until;
    int error = 0;
    bool done;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)((limit_s < 1000000) ? limit_s : 1000000);
    msp_lock(&o->lock);
    while (!o->is_done && (error == 0)) {
        error = pthread_cond_timedwait(&o->done, &o->lock.mutex, &until);
    }
    done       = o->is_done;
    o->is_left = !done;
    msp_unlock(&o->lock);
    return done;
}

static memspan_status_t fail_late(const char *name, const char *who, uint64_t limit_s)
{
    return msp_error_native(MEMSPAN_ERR_DRIVER, name, NULL, 0, NULL,
                            "repair or remove the driver, or leave the backend out "
                            "(MEMSPAN_BACKENDS=^NAME); MEMSPAN_DRIVER_TIMEOUT is the limit",
                            "%s did not answer within %llu s", who, (unsigned long long)limit_s);
}

static memspan_status_t open_in_time(struct msp_driver *driver, bool is_plugin, int *count_p)
{
    const memspan_backend_t *table = driver->own;
    uint64_t limit_s               = msp_option_number(MSP_OPTION_DRIVER_TIMEOUT);
    bool here_only                 = (table->flags & MEMSPAN_BACKEND_OPENS_HERE) != 0;
    bool may_be_apart = is_plugin || ((table->flags & MEMSPAN_BACKEND_OPENS_APART) != 0);
    struct opening *o = (may_be_apart && !here_only && (limit_s > 0)) ? make() : NULL;
    memspan_status_t status;

    if (o != NULL) {
        o->table     = table;
        o->driver    = driver;
        o->is_plugin = is_plugin;
    }
    if ((o != NULL) && !start(o)) {
        drop(o);
        o = NULL;
    }
    if (o == NULL) {
        return call_open(table, false, &driver->state, count_p);
    }
    if (!wait_for(o, limit_s)) {
        return fail_late(table->name, "the driver", limit_s);
    }
    status = o->status;
    if (status == MEMSPAN_OK) {
        driver->state = o->state;
        *count_p      = o->device_count;
    } else {
        msp_error_native(status, o->texts.backend, o->texts.call, o->native_code,
                         o->texts.native_text, o->texts.hint, "%s", o->texts.message);
    }
    drop(o);
    return status;
}

memspan_status_t msp_opening_run(struct msp_driver *driver, bool is_plugin, int *count_p)
{
    bool is_host = (driver->own->flags & MEMSPAN_BACKEND_IS_HOST) != 0;
    memspan_status_t status;

    if (is_host) {
        return open_in_time(driver, is_plugin, count_p);
    }
    /* Before, for an exit meanwhile; after, for the handlers that the driver has registered. */
    msp_calls_watch_exit(&driver->calls);
    if (!msp_calls_begin(&driver->calls)) {
        return msp_driver_refuse(driver);
    }
    status = open_in_time(driver, is_plugin, count_p);
    msp_calls_watch_exit(&driver->calls);
    msp_calls_end(&driver->calls);
    return status;
}

memspan_status_t msp_opening_ask(memspan_backend_entry_t entry, const char *name,
                                 const memspan_backend_t **table_p)
{
    uint64_t limit_s  = msp_option_number(MSP_OPTION_DRIVER_TIMEOUT);
    struct opening *o = (limit_s > 0) ? make() : NULL;

    if (o != NULL) {
        o->entry = entry;
    }
    if ((o != NULL) && !start(o)) {
        drop(o);
        o = NULL;
    }
    if (o == NULL) {
        *table_p = entry();
        return MEMSPAN_OK;
    }
    if (!wait_for(o, limit_s)) {
        return fail_late(name, MEMSPAN_BACKEND_ENTRY "()", limit_s);
    }
    *table_p = o->table;
    drop(o);
    return MEMSPAN_OK;
}
