/* SPDX-License-Identifier: BSD-3-Clause */
/* import.c: host pages in the driver's table.
 *
 * Registrations are counted here: the second device of a list finds what the first one did, and so
 * does who imports a part of it. Pages that somebody else registered are used as they are, if all
 * of a range are and the device sees them: some versions of HIP take the same pages twice without a
 * word, and forget both with the first that goes.
 *
 * Where a device sees such pages no attribute tells reliably: one page of our own is tried when the
 * backend is opened, and every import says what it got. */

#include "backends/hip/hip.h"
#include "core/base/platform.h"
#include <stdlib.h>
#include <sys/mman.h>

/* The registration that holds all of the range, or NULL. *partly_p: one holds a part. Lock held, as
 * for all until hip_register(). */
static struct hip_registration *find(struct hip_state *state, const char *address,
                                     size_t size_bytes, bool *partly_p)
{
    struct hip_registration *r;

    *partly_p = false;
    for (r = state->registrations; r != NULL; r = r->next) {
        if ((r->address >= address + size_bytes) || (address >= r->address + r->size_bytes)) {
            continue;
        }
        if ((r->address <= address) && (r->address + r->size_bytes >= address + size_bytes)) {
            return r;
        }
        *partly_p = true;
    }
    return NULL;
}

static memspan_status_t refuse_part(const struct hip_state *state, const void *address,
                                    size_t size_bytes)
{
    return hip_refuse(state, MEMSPAN_ERR_CONFLICT, "import the pages that are registered, or none",
                      "a part of %zu bytes at %p is registered already, by another call",
                      size_bytes, address);
}

/* Whether the runtime knows all of the range, or none of it; of what is unknown at both its ends,
 * the middle is not asked for. */
static memspan_status_t look_for_theirs(const struct hip_state *state, const char *address,
                                        size_t size_bytes, bool *known_p)
{
    const char *end         = address + size_bytes;
    struct hip_pointer p    = {0};
    memspan_status_t status = hip_pointer_ask(state, address, &p);
    bool first              = p.known;
    const char *at          = address;

    while ((status == MEMSPAN_OK) && (at < end)) {
        const char *next = (const char *)p.base + p.size_bytes;

        if (p.known != first) {
            return refuse_part(state, address, size_bytes);
        }
        /* Where the range is not told, the last byte stands for the rest. */
        at = (p.known && (p.size_bytes > 1) && (next > at)) ? next
                                                            : ((at == end - 1) ? end : end - 1);
        if (at < end) {
            status = hip_pointer_ask(state, at, &p);
        }
    }
    *known_p = first;
    return status;
}

static memspan_status_t add(struct hip_device *device, void *address, size_t size_bytes,
                            struct hip_registration **made_p)
{
    struct hip_state *state = device->state;
    hip_result_t code       = HIP_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    bool known              = false;
    struct hip_registration *made;
    memspan_status_t status = look_for_theirs(state, address, size_bytes, &known);

    if (status != MEMSPAN_OK) {
        return status;
    }
    made = calloc(1, sizeof(*made));
    if (made == NULL) {
        return hip_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for a record");
    }
    if (!known) {
        code = state->hip.hipHostRegister(address, size_bytes,
                                          HIP_HOST_REGISTER_PORTABLE | HIP_HOST_REGISTER_MAPPED);
        if (code == HIP_ERROR_HOST_MEMORY_ALREADY_REGISTERED) {
            free(made);
            hip_forget_error(state);
            return refuse_part(state, address, size_bytes);
        }
        if (code != HIP_SUCCESS) {
            free(made);
            return hip_error(state, "hipHostRegister", code,
                             "%zu bytes of host pages at %p cannot be registered", size_bytes,
                             address);
        }
    }
    *made                = (struct hip_registration){.next       = state->registrations,
                                                     .address    = address,
                                                     .size_bytes = size_bytes,
                                                     .ours       = (code == HIP_SUCCESS)};
    state->registrations = made;
    *made_p              = made;
    return MEMSPAN_OK;
}

static memspan_status_t remove_one(struct hip_state *state,
                                   const struct hip_registration *registration)
{
    struct hip_registration **link = &state->registrations;
    hip_result_t code              = HIP_SUCCESS;
    struct hip_registration r;

    while ((*link != NULL) && (*link != registration)) {
        link = &(*link)->next;
    }
    if (*link == NULL) {
        return hip_refuse(state, MEMSPAN_ERR_NOT_FOUND, NULL, "these host pages are not imported");
    }
    if (--(*link)->references > 0) {
        return MEMSPAN_OK;
    }
    r = **link;
    free(*link);
    *link = r.next;
    if (r.ours) {
        code = state->hip.hipHostUnregister(r.address);
    }
    return ((code == HIP_SUCCESS) || (code == HIP_ERROR_DEINITIALIZED))
               ? MEMSPAN_OK
               : hip_error(state, "hipHostUnregister", code, "%zu bytes at %p cannot be given back",
                           r.size_bytes, (void *)r.address);
}

memspan_status_t hip_register(struct hip_device *device, void *address, size_t size_bytes,
                              void **seen_at_p, struct hip_registration **registration_p)
{
    struct hip_state *state    = device->state;
    memspan_status_t status    = MEMSPAN_OK;
    struct hip_registration *r = NULL;
    void *seen_at              = NULL;
    bool partly                = false;
    hip_result_t code;

    pthread_mutex_lock(&state->lock);
    r = find(state, address, size_bytes, &partly);
    if ((r == NULL) && partly) {
        status = refuse_part(state, address, size_bytes);
    } else if (r == NULL) {
        status = add(device, address, size_bytes, &r);
    }
    if (status == MEMSPAN_OK) {
        r->references++;
        code = state->hip.hipHostGetDevicePointer(&seen_at, address, 0);
        if (code != HIP_SUCCESS) {
            (void)remove_one(state, r);
            status = hip_error(state, "hipHostGetDevicePointer", code,
                               "%s does not see host pages at %p", device->info.name, address);
        }
    }
    pthread_mutex_unlock(&state->lock);
    if (status == MEMSPAN_OK) {
        *seen_at_p      = seen_at;
        *registration_p = r;
    }
    return status;
}

memspan_status_t hip_unregister(struct hip_device *device,
                                const struct hip_registration *registration)
{
    struct hip_state *state = device->state;
    memspan_status_t status;

    pthread_mutex_lock(&state->lock);
    status = remove_one(state, registration);
    pthread_mutex_unlock(&state->lock);
    return status;
}

static bool registers(const struct hip_state *state)
{
    return (state->hip.hipHostRegister != NULL) && (state->hip.hipHostUnregister != NULL) &&
           (state->hip.hipHostGetDevicePointer != NULL);
}

memspan_status_t hip_import(void *opaque, int ordinal, void *address, size_t size_bytes,
                            void **address_p, void **cookie_p)
{
    struct hip_state *state               = opaque;
    struct hip_registration *registration = NULL;
    struct hip_device *device             = NULL;
    memspan_status_t status               = hip_device_get(state, ordinal, &device);
    int before;
    int mode;

    if (status != MEMSPAN_OK) {
        return status;
    }
    if (!device->facts.same_address && device->facts.pageable) {
        *address_p = address; /* it reaches all host memory as it is */
        *cookie_p  = NULL;
        return MEMSPAN_OK;
    }
    if (!registers(state)) {
        return hip_refuse(state, MEMSPAN_ERR_UNSUPPORTED, NULL,
                          "%s does not take host pages: the driver has no hipHostRegister",
                          device->info.name);
    }
    status = hip_enter(state, ordinal, &device, &before);
    if (status != MEMSPAN_OK) {
        return status;
    }
    mode   = hip_relax(state);
    status = hip_register(device, address, size_bytes, address_p, &registration);
    hip_restore(state, mode);
    hip_leave(device, before);
    if (status == MEMSPAN_OK) {
        *cookie_p = registration;
    }
    return status;
}

memspan_status_t hip_release(void *state, int ordinal, void *address, size_t size_bytes,
                             void *cookie)
{
    struct hip_device *device = NULL;
    memspan_status_t status;
    int mode;

    (void)address;
    (void)size_bytes;
    if ((cookie == NULL) || hip_gone()) {
        return MEMSPAN_OK;
    }
    status = hip_device_get(state, ordinal, &device);
    if (status != MEMSPAN_OK) {
        return status;
    }
    mode   = hip_relax(state);
    status = hip_unregister(device, cookie);
    hip_restore(state, mode);
    return status;
}

/* ---- one page, when the backend is opened ---- */

static void try_device(struct hip_device *device, void *page)
{
    struct hip_device *entered;
    void *seen_at = NULL;
    hip_result_t code;
    int before;

    if (hip_enter(device->state, device->ordinal, &entered, &before) != MEMSPAN_OK) {
        hip_log_record(device->state, MEMSPAN_LOG_WARN, "where host pages are seen");
        return;
    }
    code = device->state->hip.hipHostGetDevicePointer(&seen_at, page, 0);
    if (code != HIP_SUCCESS) {
        hip_log_failure(device->state, "hipHostGetDevicePointer", code,
                        "where host pages are seen");
    }
    device->facts.same_address = (code == HIP_SUCCESS) && (seen_at == page);
    hip_leave(device, before);
}

static void try_types(struct hip_state *state, const void *page)
{
    struct hip_pointer_attributes answer = {.type = -1};
    hip_result_t code                    = state->hip.hipPointerGetAttributes(&answer, page);

    if (code != HIP_SUCCESS) {
        hip_log_failure(state, "hipPointerGetAttributes", code, "the numbers of memory types");
    } else if ((answer.type == HIP_TYPE_HOST_5) || (answer.type == HIP_TYPE_HOST_6)) {
        state->type_host = answer.type;
    }
}

void hip_try_page(struct hip_state *state)
{
    size_t size = msp_page_size();
    void *page  = MAP_FAILED;
    hip_result_t code;
    int i;

    state->type_host = (state->version >= HIP_VERSION_6) ? HIP_TYPE_HOST_6 : HIP_TYPE_HOST_5;
    if (registers(state)) {
        page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    if (page == MAP_FAILED) {
        return;
    }
    code = state->hip.hipHostRegister(page, size,
                                      HIP_HOST_REGISTER_PORTABLE | HIP_HOST_REGISTER_MAPPED);
    if (code != HIP_SUCCESS) {
        hip_log_failure(state, "hipHostRegister", code, "no host pages are taken");
        munmap(page, size);
        return;
    }
    try_types(state, page);
    for (i = 0; i < state->device_count; i++) {
        try_device(&state->devices[i], page);
    }
    code = state->hip.hipHostUnregister(page);
    if (code != HIP_SUCCESS) {
        hip_log_failure(state, "hipHostUnregister", code, "a page is tried");
    }
    munmap(page, size);
}
