/* SPDX-License-Identifier: BSD-3-Clause */
/* import.c: host pages in the driver's table.
 *
 * A page can be registered once in a process, for all devices (portable). So registrations are
 * counted here: the second device of a list finds what the first one did. Pages that somebody else
 * registered are used as they are, if the device sees them. */

#include "backends/cuda/cuda.h"
#include <stdlib.h>

static struct cuda_registration **find(struct cuda_state *state, const void *address)
{
    struct cuda_registration **link = &state->registrations;

    while ((*link != NULL) && ((*link)->address != address)) {
        link = &(*link)->next;
    }
    return link;
}

/* Lock held. */
static memspan_status_t add(struct cuda_device *device, void *address, size_t size_bytes,
                            struct cuda_registration **link)
{
    struct cuda_state *state       = device->state;
    struct cuda_registration *made = calloc(1, sizeof(*made));
    cuda_result_t code;

    if (made == NULL) {
        return cuda_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for a record");
    }
    code = state->cu.cuMemHostRegister_v2(
        address, size_bytes, CUDA_MEMHOSTREGISTER_PORTABLE | CUDA_MEMHOSTREGISTER_DEVICEMAP);
    if ((code != CUDA_SUCCESS) && (code != CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED)) {
        free(made);
        return cuda_error(state, "cuMemHostRegister", code,
                          "%zu bytes of host pages at %p cannot be registered", size_bytes,
                          address);
    }
    *made = (struct cuda_registration){
        .address = address, .size_bytes = size_bytes, .ours = (code == CUDA_SUCCESS)};
    *link = made;
    return MEMSPAN_OK;
}

/* Lock held. */
static memspan_status_t remove_one(struct cuda_state *state, struct cuda_registration **link)
{
    struct cuda_registration *r = *link;
    cuda_result_t code          = CUDA_SUCCESS;
    char *address               = r->address;
    size_t size                 = r->size_bytes;

    if (--r->references > 0) {
        return MEMSPAN_OK;
    }
    *link = r->next;
    if (r->ours) {
        code = state->cu.cuMemHostUnregister(r->address);
    }
    free(r);
    return ((code == CUDA_SUCCESS) || (code == CUDA_ERROR_DEINITIALIZED))
               ? MEMSPAN_OK
               : cuda_error(state, "cuMemHostUnregister", code,
                            "%zu bytes at %p cannot be given back", size, (void *)address);
}

memspan_status_t cuda_register(struct cuda_device *device, void *address, size_t size_bytes,
                               void **seen_at_p)
{
    struct cuda_state *state = device->state;
    memspan_status_t status  = MEMSPAN_OK;
    cuda_address_t seen_at   = 0;
    struct cuda_registration **link;
    cuda_result_t code;

    pthread_mutex_lock(&state->lock);
    link = find(state, address);
    if (*link == NULL) {
        status = add(device, address, size_bytes, link);
    } else if ((*link)->size_bytes < size_bytes) {
        status = cuda_refuse(state, MEMSPAN_ERR_CONFLICT, NULL,
                             "%zu of %zu bytes at %p are registered already", (*link)->size_bytes,
                             size_bytes, address);
    }
    if (status == MEMSPAN_OK) {
        (*link)->references++;
        code = state->cu.cuMemHostGetDevicePointer_v2(&seen_at, address, 0);
        if (code != CUDA_SUCCESS) {
            (void)remove_one(state, link);
            status = cuda_error(state, "cuMemHostGetDevicePointer", code,
                                "%s does not see host pages at %p", device->info.name, address);
        }
    }
    pthread_mutex_unlock(&state->lock);
    if (status == MEMSPAN_OK) {
        *seen_at_p = (void *)(uintptr_t)seen_at;
    }
    return status;
}

memspan_status_t cuda_unregister(struct cuda_device *device, void *address)
{
    struct cuda_state *state = device->state;
    struct cuda_registration **link;
    memspan_status_t status;

    pthread_mutex_lock(&state->lock);
    link   = find(state, address);
    status = (*link != NULL) ? remove_one(state, link)
                             : cuda_refuse(state, MEMSPAN_ERR_NOT_FOUND, NULL,
                                           "host pages at %p are not imported", address);
    pthread_mutex_unlock(&state->lock);
    return status;
}

memspan_status_t cuda_import(void *state, int ordinal, void *address, size_t size_bytes,
                             void **address_p, void **cookie_p)
{
    struct cuda_device *device;
    memspan_status_t status = cuda_device_get(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    if (!device->facts.registers && !device->facts.pageable) {
        return cuda_refuse(state, MEMSPAN_ERR_UNSUPPORTED, NULL,
                           "%s does not take host pages (HOST_REGISTER_SUPPORTED 0)",
                           device->info.name);
    }
    if (!device->facts.same_address && device->facts.pageable) {
        *address_p = address; /* it reaches all host memory as it is */
        *cookie_p  = NULL;
        return MEMSPAN_OK;
    }
    status = cuda_enter(state, ordinal, &device);
    if (status != MEMSPAN_OK) {
        return status;
    }
    status = cuda_register(device, address, size_bytes, address_p);
    cuda_leave(device);
    if (status == MEMSPAN_OK) {
        *cookie_p = address;
    }
    return status;
}

memspan_status_t cuda_release(void *state, int ordinal, void *address, size_t size_bytes,
                              void *cookie)
{
    struct cuda_device *device;
    memspan_status_t status;

    (void)size_bytes;
    if (cookie == NULL) {
        return MEMSPAN_OK;
    }
    status = cuda_enter_to_give_back(state, ordinal, &device);
    if (status != MEMSPAN_OK) {
        return status;
    }
    status = cuda_unregister(device, address);
    cuda_leave(device);
    return status;
}
