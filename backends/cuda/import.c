/* SPDX-License-Identifier: BSD-3-Clause */
/* import.c: host pages in the driver's table.
 *
 * A page can be registered once in a process, for all devices (portable). So registrations are
 * counted here: the second device of a list finds what the first one did, and so does who imports a
 * part of it. Pages that somebody else registered are used as they are, if all of them are and the
 * device sees them; "already registered" is also the answer where only some are. */

#include "backends/cuda/cuda.h"
#include <stdlib.h>

/* A registration goes with the context that it was made in. */
static bool is_there(const struct cuda_registration *r)
{
    return r->epoch == atomic_load(&r->home->epoch);
}

/* The registration that holds all of the range, or NULL. *partly_p: one holds a part. Lock held, as
 * for all until cuda_register(). */
static struct cuda_registration *find(struct cuda_state *state, const char *address,
                                      size_t size_bytes, bool *partly_p)
{
    struct cuda_registration *r;

    *partly_p = false;
    for (r = state->registrations; r != NULL; r = r->next) {
        if (!is_there(r) || (r->address >= address + size_bytes) ||
            (address >= r->address + r->size_bytes)) {
            continue;
        }
        if ((r->address <= address) && (r->address + r->size_bytes >= address + size_bytes)) {
            return r;
        }
        *partly_p = true;
    }
    return NULL;
}

static memspan_status_t refuse_part(const struct cuda_state *state, const void *address,
                                    size_t size_bytes)
{
    return cuda_refuse(state, MEMSPAN_ERR_CONFLICT, "import the pages that are registered, or none",
                       "a part of %zu bytes at %p is registered already, by another call",
                       size_bytes, address);
}

/* Whether all of the range is host memory that the driver knows, in one registration or several. */
static memspan_status_t check_theirs(const struct cuda_state *state, const char *address,
                                     size_t size_bytes)
{
    const char *end = address + size_bytes;
    const char *at  = address;

    while (at < end) {
        struct cuda_pointer p   = {0};
        memspan_status_t status = cuda_pointer_ask(state, at, &p);
        const char *next        = (const char *)(uintptr_t)p.base + p.size_bytes;

        if (status != MEMSPAN_OK) {
            return status;
        }
        if ((p.memory_type != CUDA_MEMORYTYPE_HOST) || (p.managed != 0)) {
            return refuse_part(state, address, size_bytes);
        }
        /* Where the driver does not tell the range, the last byte stands for the rest. */
        at = (next > at) ? next : ((at == end - 1) ? end : end - 1);
    }
    return MEMSPAN_OK;
}

static memspan_status_t add(struct cuda_device *device, void *address, size_t size_bytes,
                            struct cuda_registration **made_p)
{
    struct cuda_state *state       = device->state;
    struct cuda_registration *made = calloc(1, sizeof(*made));
    memspan_status_t status        = MEMSPAN_OK;
    cuda_result_t code;

    if (made == NULL) {
        return cuda_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for a record");
    }
    code = state->cu.cuMemHostRegister_v2(
        address, size_bytes, CUDA_MEMHOSTREGISTER_PORTABLE | CUDA_MEMHOSTREGISTER_DEVICEMAP);
    if (code == CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED) {
        status = check_theirs(state, address, size_bytes);
    } else if (code != CUDA_SUCCESS) {
        status =
            cuda_error(state, "cuMemHostRegister", code,
                       "%zu bytes of host pages at %p cannot be registered", size_bytes, address);
    }
    if (status != MEMSPAN_OK) {
        free(made);
        return status;
    }
    *made                = (struct cuda_registration){.next       = state->registrations,
                                                      .address    = address,
                                                      .size_bytes = size_bytes,
                                                      .home       = device,
                                                      .epoch      = atomic_load(&device->epoch),
                                                      .ours       = (code == CUDA_SUCCESS)};
    state->registrations = made;
    *made_p              = made;
    return MEMSPAN_OK;
}

/* False: there is no such registration. @p last becomes true when it was the last reference, and
 * what it was is in @p dropped. */
static bool drop(struct cuda_state *state, const struct cuda_registration *registration,
                 struct cuda_registration *dropped, bool *last_p)
{
    struct cuda_registration **link = &state->registrations;

    while ((*link != NULL) && (*link != registration)) {
        link = &(*link)->next;
    }
    if (*link == NULL) {
        return false;
    }
    *last_p = (--(*link)->references <= 0);
    if (*last_p) {
        struct cuda_registration *r = *link;
        *dropped                    = *r;
        *link                       = r->next;
        free(r);
    }
    return true;
}

static memspan_status_t remove_one(struct cuda_state *state,
                                   const struct cuda_registration *registration)
{
    struct cuda_registration r = {0};
    cuda_result_t code         = CUDA_SUCCESS;
    bool last                  = false;

    if (!drop(state, registration, &r, &last)) {
        return cuda_refuse(state, MEMSPAN_ERR_NOT_FOUND, NULL, "these host pages are not imported");
    }
    if (last && r.ours && is_there(&r)) {
        code = state->cu.cuMemHostUnregister(r.address);
    }
    return ((code == CUDA_SUCCESS) || (code == CUDA_ERROR_DEINITIALIZED))
               ? MEMSPAN_OK
               : cuda_error(state, "cuMemHostUnregister", code,
                            "%zu bytes at %p cannot be given back", r.size_bytes,
                            (void *)r.address);
}

memspan_status_t cuda_register(struct cuda_device *device, void *address, size_t size_bytes,
                               void **seen_at_p, struct cuda_registration **registration_p)
{
    struct cuda_state *state = device->state;
    memspan_status_t status  = MEMSPAN_OK;
    cuda_address_t seen_at   = 0;
    bool partly              = false;
    struct cuda_registration *r;
    cuda_result_t code;

    pthread_mutex_lock(&state->lock);
    r = find(state, address, size_bytes, &partly);
    if ((r == NULL) && partly) {
        status = refuse_part(state, address, size_bytes);
    } else if (r == NULL) {
        status = add(device, address, size_bytes, &r);
    }
    if (status == MEMSPAN_OK) {
        r->references++;
        code = state->cu.cuMemHostGetDevicePointer_v2(&seen_at, address, 0);
        if (code != CUDA_SUCCESS) {
            (void)remove_one(state, r);
            status = cuda_error(state, "cuMemHostGetDevicePointer", code,
                                "%s does not see host pages at %p", device->info.name, address);
        }
    }
    pthread_mutex_unlock(&state->lock);
    if (status == MEMSPAN_OK) {
        *seen_at_p      = (void *)(uintptr_t)seen_at;
        *registration_p = r;
    }
    return status;
}

memspan_status_t cuda_unregister(struct cuda_device *device,
                                 const struct cuda_registration *registration)
{
    struct cuda_state *state = device->state;
    memspan_status_t status;

    pthread_mutex_lock(&state->lock);
    status = remove_one(state, registration);
    pthread_mutex_unlock(&state->lock);
    return status;
}

void cuda_registration_forget(struct cuda_state *state,
                              const struct cuda_registration *registration)
{
    struct cuda_registration r;
    bool last;

    pthread_mutex_lock(&state->lock);
    (void)drop(state, registration, &r, &last);
    pthread_mutex_unlock(&state->lock);
}

memspan_status_t cuda_import(void *state, int ordinal, void *address, size_t size_bytes,
                             void **address_p, void **cookie_p)
{
    struct cuda_registration *registration;
    struct cuda_device *device;
    memspan_status_t status = cuda_device_get(state, ordinal, &device);
    int before;

    if (status != MEMSPAN_OK) {
        return status;
    }
    if (!device->facts.same_address && device->facts.host_page_tables) {
        *address_p = address; /* it reaches all host memory as it is */
        *cookie_p  = NULL;
        return MEMSPAN_OK;
    }
    /* HMM reaches host memory as well, but no reserved huge pages, and has no atomics on pages of
     * files: imported pages may be either. */
    if (!device->facts.registers) {
        return cuda_refuse(state, MEMSPAN_ERR_UNSUPPORTED, NULL,
                           "%s does not take host pages (HOST_REGISTER_SUPPORTED 0)",
                           device->info.name);
    }
    status = cuda_enter(state, ordinal, &device, &before);
    if (status != MEMSPAN_OK) {
        return status;
    }
    status = cuda_register(device, address, size_bytes, address_p, &registration);
    cuda_leave(device, before);
    if (status == MEMSPAN_OK) {
        *cookie_p = registration;
    }
    return status;
}

memspan_status_t cuda_release(void *state, int ordinal, void *address, size_t size_bytes,
                              void *cookie)
{
    struct cuda_device *device;
    memspan_status_t status;
    int before;

    (void)address;
    (void)size_bytes;
    if (cookie == NULL) {
        return MEMSPAN_OK;
    }
    status = cuda_enter_to_give_back(state, ordinal, &device, &before);
    if (status == MEMSPAN_ERR_OFF) {
        cuda_registration_forget(state, cookie);
        return MEMSPAN_OK;
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    status = cuda_unregister(device, cookie);
    cuda_leave(device, before);
    return status;
}
