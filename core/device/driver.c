/* SPDX-License-Identifier: BSD-3-Clause */
/* driver.c: the functions of the core's table. */

#include "core/device/driver.h"
#include "core/base/error.h"
#include "core/base/lock.h"
#include <string.h>

memspan_status_t msp_driver_refuse(const struct msp_driver *driver)
{
    return msp_error_native(MEMSPAN_ERR_OFF, driver->own->name, NULL, 0, NULL, NULL,
                            "the process is ending: its driver is not called any more");
}

/* The host's functions are its backend's own. */
static struct msp_driver *driver_of(const struct msp_device *device)
{
    return ((device->table->flags & MEMSPAN_BACKEND_IS_HOST) != 0) ? NULL : device->state;
}

memspan_status_t msp_driver_hold(const struct msp_device *device)
{
    struct msp_driver *driver = driver_of(device);

    return ((driver == NULL) || msp_calls_hold(&driver->calls)) ? MEMSPAN_OK
                                                                : msp_driver_refuse(driver);
}

void msp_driver_release(const struct msp_device *device)
{
    struct msp_driver *driver = driver_of(device);

    if (driver != NULL) {
        msp_calls_release(&driver->calls);
    }
}

static memspan_status_t leave_to_exit(const struct msp_driver *driver)
{
    (void)driver;
    return MEMSPAN_OK;
}

#define check_WAITS(name)  msp_rank_check_wait(name)
#define check_PROMPT(name) ((void)0)

/* X(member, whether it may wait for work (memspan/backend.h), the result once the process ends,
 * parameters, arguments) */
#define CALL_MAP(X)                                                                                \
    X(device_describe, PROMPT, msp_driver_refuse,                                                  \
      (void *state, int ordinal, memspan_device_info_t *info_p), (d->state, ordinal, info_p))      \
    X(free, WAITS, leave_to_exit, (void *state, int ordinal, const memspan_block_t *block),        \
      (d->state, ordinal, block))                                                                  \
    X(import, WAITS, msp_driver_refuse,                                                            \
      (void *state, int ordinal, void *address, size_t size_bytes, void **address_p,               \
       void **cookie_p),                                                                           \
      (d->state, ordinal, address, size_bytes, address_p, cookie_p))                               \
    X(release, WAITS, leave_to_exit,                                                               \
      (void *state, int ordinal, void *address, size_t size_bytes, void *cookie),                  \
      (d->state, ordinal, address, size_bytes, cookie))                                            \
    X(pointer_describe, PROMPT, msp_driver_refuse,                                                 \
      (void *state, const void *pointer, memspan_pointer_facts_t *facts_p),                        \
      (d->state, pointer, facts_p))                                                                \
    X(copy, WAITS, msp_driver_refuse,                                                              \
      (void *state, int ordinal, void *queue, void *to, const void *from, size_t size_bytes),      \
      (d->state, ordinal, queue, to, from, size_bytes))                                            \
    X(fill, WAITS, msp_driver_refuse,                                                              \
      (void *state, int ordinal, void *queue, void *to, unsigned char byte, size_t size_bytes),    \
      (d->state, ordinal, queue, to, byte, size_bytes))                                            \
    X(synchronize, WAITS, msp_driver_refuse, (void *state, int ordinal, void *queue),              \
      (d->state, ordinal, queue))                                                                  \
    X(queue_create, WAITS, msp_driver_refuse, (void *state, int ordinal, void **queue_p),          \
      (d->state, ordinal, queue_p))                                                                \
    X(queue_destroy, WAITS, leave_to_exit, (void *state, int ordinal, void *queue),                \
      (d->state, ordinal, queue))                                                                  \
    X(prefetch, WAITS, msp_driver_refuse,                                                          \
      (void *state, int ordinal, void *queue, const void *pointer, size_t size_bytes, int to),     \
      (d->state, ordinal, queue, pointer, size_bytes, to))                                         \
    X(launch, WAITS, msp_driver_refuse,                                                            \
      (void *state, int ordinal, void *queue, const memspan_kernel_call_t *call),                  \
      (d->state, ordinal, queue, call))                                                            \
    X(ipc_export, WAITS, msp_driver_refuse,                                                        \
      (void *state, int ordinal, const memspan_block_t *block, void *token, size_t *token_size_p), \
      (d->state, ordinal, block, token, token_size_p))                                             \
    X(ipc_import, WAITS, msp_driver_refuse,                                                        \
      (void *state, int ordinal, const void *token, size_t token_size, memspan_block_t *block_p),  \
      (d->state, ordinal, token, token_size, block_p))                                             \
    X(ipc_close, WAITS, leave_to_exit, (void *state, int ordinal, const memspan_block_t *block),   \
      (d->state, ordinal, block))                                                                  \
    X(dmabuf_export, WAITS, msp_driver_refuse,                                                     \
      (void *state, int ordinal, const void *address, size_t size_bytes, int *fd_p,                \
       uint64_t *offset_p),                                                                        \
      (d->state, ordinal, address, size_bytes, fd_p, offset_p))                                    \
    X(resize, WAITS, msp_driver_refuse,                                                            \
      (void *state, int ordinal, const memspan_request_t *request, memspan_block_t *block_p,       \
       memspan_resize_accept_t accept, void *context),                                             \
      (d->state, ordinal, request, block_p, accept, context))                                      \
    X(connect, PROMPT, msp_driver_refuse, (void *state, int home, memspan_kind_t kind, int from),  \
      (d->state, home, kind, from))                                                                \
    X(copy_blocks, WAITS, msp_driver_refuse,                                                       \
      (void *state, int ordinal, void *queue, void *to, size_t to_stride_bytes, const void *from,  \
       size_t from_stride_bytes, size_t block_bytes, size_t block_count),                          \
      (d->state, ordinal, queue, to, to_stride_bytes, from, from_stride_bytes, block_bytes,        \
       block_count))                                                                               \
    X(event_record, PROMPT, msp_driver_refuse,                                                     \
      (void *state, int ordinal, void *queue, void **event_p),                                     \
      (d->state, ordinal, queue, event_p))                                                         \
    X(event_wait, PROMPT, msp_driver_refuse, (void *state, int ordinal, void *queue, void *event), \
      (d->state, ordinal, queue, event))                                                           \
    X(event_done, PROMPT, msp_driver_refuse, (void *state, int ordinal, void *event, int *done_p), \
      (d->state, ordinal, event, done_p))                                                          \
    X(event_destroy, PROMPT, leave_to_exit, (void *state, int ordinal, void *event),               \
      (d->state, ordinal, event))                                                                  \
    X(queue_adopt, WAITS, msp_driver_refuse,                                                       \
      (void *state, int ordinal, memspan_queue_type_t type, void *native, void **queue_p),         \
      (d->state, ordinal, type, native, queue_p))                                                  \
    X(attach, WAITS, msp_driver_refuse,                                                            \
      (void *state, int ordinal, void *queue, const memspan_block_t *block),                       \
      (d->state, ordinal, queue, block))                                                           \
    X(queue_hold, PROMPT, msp_driver_refuse, (void *state, int ordinal, void *queue),              \
      (d->state, ordinal, queue))                                                                  \
    X(queue_release, PROMPT, leave_to_exit, (void *state, int ordinal, void *queue),               \
      (d->state, ordinal, queue))                                                                  \
    X(queue_allocated, PROMPT, msp_driver_refuse,                                                  \
      (void *state, int ordinal, void *queue, const void *address, size_t size_bytes),             \
      (d->state, ordinal, queue, address, size_bytes))                                             \
    X(queue_freed, WAITS, msp_driver_refuse,                                                       \
      (void *state, int ordinal, void *queue, const void *address, size_t size_bytes),             \
      (d->state, ordinal, queue, address, size_bytes))                                             \
    X(host_open, WAITS, msp_driver_refuse,                                                         \
      (void *state, int ordinal, const void *address, size_t size_bytes, void **host_p),           \
      (d->state, ordinal, address, size_bytes, host_p))                                            \
    X(host_close, WAITS, leave_to_exit,                                                            \
      (void *state, int ordinal, const void *address, size_t size_bytes),                          \
      (d->state, ordinal, address, size_bytes))                                                    \
    X(move, WAITS, msp_driver_refuse,                                                              \
      (void *state, int ordinal, const memspan_request_t *request, memspan_block_t *block_p),      \
      (d->state, ordinal, request, block_p))

#define DEFINE_CALL(member, waits, refusal, parameters, arguments)                                 \
    static memspan_status_t call_##member parameters                                               \
    {                                                                                              \
        struct msp_driver *d = state;                                                              \
        memspan_status_t status;                                                                   \
        check_##waits(#member);                                                                    \
        if (!msp_calls_begin(&d->calls)) {                                                         \
            return refusal(d);                                                                     \
        }                                                                                          \
        status = d->own->member arguments;                                                         \
        msp_calls_end(&d->calls);                                                                  \
        return status;                                                                             \
    }
CALL_MAP(DEFINE_CALL)
#undef DEFINE_CALL

/* Drivers start their parts at first use, and register handlers of exit then. */
static memspan_status_t call_alloc(void *state, int ordinal, const memspan_request_t *request,
                                   memspan_block_t *block_p)
{
    struct msp_driver *d = state;
    memspan_status_t status;

    check_WAITS("alloc");
    if (!msp_calls_begin(&d->calls)) {
        return msp_driver_refuse(d);
    }
    status = d->own->alloc(d->state, ordinal, request, block_p);
    if ((status == MEMSPAN_OK) && !atomic_load_explicit(&d->has_given, memory_order_relaxed) &&
        !atomic_exchange(&d->has_given, true)) {
        msp_calls_watch_exit(&d->calls);
    }
    msp_calls_end(&d->calls);
    return status;
}

static int call_purge(void *state, int ordinal, const memspan_block_t *block, void *address,
                      size_t size_bytes, int first)
{
    struct msp_driver *d = state;
    int purged;

    if (!msp_calls_begin(&d->calls)) {
        return 0;
    }
    purged = d->own->purge(d->state, ordinal, block, address, size_bytes, first);
    msp_calls_end(&d->calls);
    return purged;
}

/* Those two answer from the results of open(). */
static memspan_reach_t call_reach(void *state, int home, memspan_kind_t kind, int from)
{
    const struct msp_driver *d = state;

    return d->own->reach(d->state, home, kind, from);
}

static void call_reach_source(void *state, int home, memspan_kind_t kind, int from, char *text,
                              size_t size_bytes)
{
    const struct msp_driver *d = state;

    d->own->reach_source(d->state, home, kind, from, text, size_bytes);
}

void msp_driver_init(struct msp_driver *driver, const memspan_backend_t *own)
{
    memspan_backend_t *table = &driver->table;

    driver->own = own;
    memcpy(table, own,
           (own->struct_size < sizeof(*table)) ? own->struct_size & ~(sizeof(void *) - 1)
                                               : sizeof(*table));
    table->struct_size = sizeof(*table);
#define SET_CALL(member, waits, refusal, parameters, arguments)                                    \
    table->member = (table->member != NULL) ? call_##member : NULL;
    CALL_MAP(SET_CALL)
    SET_CALL(alloc, , , , )
    SET_CALL(purge, , , , )
    SET_CALL(reach, , , , )
    SET_CALL(reach_source, , , , )
#undef SET_CALL
}
