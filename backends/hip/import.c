/* SPDX-License-Identifier: BSD-3-Clause */
/* import.c: host pages in the driver's table.
 *
 * Registrations are counted here: the second device of a list finds what the first one did. Pages
 * that somebody else registered are used as they are, if the device sees them: some versions of HIP
 * take the same pages twice without a word, and forget both with the first that goes.
 *
 * Where a device sees such pages no attribute tells reliably: one page of our own is tried when the
 * backend is opened, and every import says what it got. */

#include "backends/hip/hip.h"
#include "core/base/platform.h"
#include <stdlib.h>
#include <sys/mman.h>

static struct hip_registration **find(struct hip_state *state, const void *address)
{
    struct hip_registration **link = &state->registrations;

    while ((*link != NULL) && ((*link)->address != address)) {
        link = &(*link)->next;
    }
    return link;
}

/* Lock held. */
static memspan_status_t add(struct hip_device *device, void *address, size_t size_bytes,
                            struct hip_registration **link)
{
    struct hip_state *state  = device->state;
    struct hip_pointer known = {0};
    hip_result_t code        = HIP_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    struct hip_registration *made;
    memspan_status_t status = hip_pointer_ask(state, address, &known);

    if (status != MEMSPAN_OK) {
        return status;
    }
    made = calloc(1, sizeof(*made));
    if (made == NULL) {
        return hip_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for a record");
    }
    if (!known.known) {
        code = state->hip.hipHostRegister(address, size_bytes,
                                          HIP_HOST_REGISTER_PORTABLE | HIP_HOST_REGISTER_MAPPED);
    }
    if ((code != HIP_SUCCESS) && (code != HIP_ERROR_HOST_MEMORY_ALREADY_REGISTERED)) {
        free(made);
        return hip_error(state, "hipHostRegister", code,
                         "%zu bytes of host pages at %p cannot be registered", size_bytes, address);
    }
    if (code != HIP_SUCCESS) {
        hip_forget_error(state);
    }
    *made = (struct hip_registration){
        .address = address, .size_bytes = size_bytes, .ours = (code == HIP_SUCCESS)};
    *link = made;
    return MEMSPAN_OK;
}

/* Lock held. */
static memspan_status_t remove_one(struct hip_state *state, struct hip_registration **link)
{
    struct hip_registration *r = *link;
    hip_result_t code          = HIP_SUCCESS;
    char *address              = r->address;
    size_t size                = r->size_bytes;

    if (--r->references > 0) {
        return MEMSPAN_OK;
    }
    *link = r->next;
    if (r->ours) {
        code = state->hip.hipHostUnregister(r->address);
    }
    free(r);
    return ((code == HIP_SUCCESS) || (code == HIP_ERROR_DEINITIALIZED))
               ? MEMSPAN_OK
               : hip_error(state, "hipHostUnregister", code, "%zu bytes at %p cannot be given back",
                           size, (void *)address);
}

memspan_status_t hip_register(struct hip_device *device, void *address, size_t size_bytes,
                              void **seen_at_p)
{
    struct hip_state *state = device->state;
    memspan_status_t status = MEMSPAN_OK;
    void *seen_at           = NULL;
    struct hip_registration **link;
    hip_result_t code;

    pthread_mutex_lock(&state->lock);
    link = find(state, address);
    if (*link == NULL) {
        status = add(device, address, size_bytes, link);
    } else if ((*link)->size_bytes < size_bytes) {
        status = hip_refuse(state, MEMSPAN_ERR_CONFLICT, NULL,
                            "%zu of %zu bytes at %p are registered already", (*link)->size_bytes,
                            size_bytes, address);
    }
    if (status == MEMSPAN_OK) {
        (*link)->references++;
        code = state->hip.hipHostGetDevicePointer(&seen_at, address, 0);
        if (code != HIP_SUCCESS) {
            (void)remove_one(state, link);
            status = hip_error(state, "hipHostGetDevicePointer", code,
                               "%s does not see host pages at %p", device->info.name, address);
        }
    }
    pthread_mutex_unlock(&state->lock);
    if (status == MEMSPAN_OK) {
        *seen_at_p = seen_at;
    }
    return status;
}

memspan_status_t hip_unregister(struct hip_device *device, void *address)
{
    struct hip_state *state = device->state;
    struct hip_registration **link;
    memspan_status_t status;

    pthread_mutex_lock(&state->lock);
    link   = find(state, address);
    status = (*link != NULL) ? remove_one(state, link)
                             : hip_refuse(state, MEMSPAN_ERR_NOT_FOUND, NULL,
                                          "host pages at %p are not imported", address);
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
    struct hip_state *state = opaque;
    struct hip_device *device;
    memspan_status_t status = hip_device_get(state, ordinal, &device);
    int before;

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
    status = hip_register(device, address, size_bytes, address_p);
    hip_leave(device, before);
    if (status == MEMSPAN_OK) {
        *cookie_p = address;
    }
    return status;
}

memspan_status_t hip_release(void *state, int ordinal, void *address, size_t size_bytes,
                             void *cookie)
{
    struct hip_device *device;
    memspan_status_t status = hip_device_get(state, ordinal, &device);

    (void)size_bytes;
    return ((status == MEMSPAN_OK) && (cookie != NULL)) ? hip_unregister(device, address) : status;
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
    size_t size = memspan_page_size();
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
