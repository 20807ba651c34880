/* SPDX-License-Identifier: BSD-3-Clause */
/* import.c: host pages in the driver's table.
 *
 * A page can be registered once in a process, for all devices (portable). So registrations are
 * counted here: the second device of a list finds the first one's registration, and so does an
 * import of a part of it. Pages that the program registered itself are used as they are, if all of
 * them are and the device sees them; "already registered" is also the answer where only some are.
 */

#include "backends/gpu/gpu.h"
#include <stdlib.h>

/* A registration goes with the context that it was made in. */
static bool is_there(const struct gpu_registration *r)
{
    return r->epoch == atomic_load(&r->home->epoch);
}

/* The registration that holds the range or a part of it, or NULL; registrations do not overlap.
 * Lock held, as for all until gpu_register(). */
static struct gpu_registration *find(const struct gpu_device *device, const char *address,
                                     size_t size_bytes)
{
    struct gpu_registration *r = device->state->registrations;

    while ((r != NULL) &&
           (!is_there(r) || (r->home->group != device->group) ||
            (r->address >= address + size_bytes) || (address >= r->address + r->size_bytes))) {
        r = r->next;
    }
    return r;
}

static memspan_status_t refuse_part(const struct gpu_state *state, const void *address,
                                    size_t size_bytes)
{
    return gpu_refuse(state, MEMSPAN_ERR_CONFLICT, "import the pages that are registered, or none",
                      "a part of %zu bytes at %p is registered already, by another call",
                      size_bytes, address);
}

static memspan_status_t check_reuse(const struct gpu_state *state, const struct gpu_registration *r,
                                    const char *address, size_t size_bytes)
{
    if (state->driver->check_reuse != NULL) {
        return state->driver->check_reuse(r, address, size_bytes);
    }
    return ((r->address <= address) && (r->address + r->size_bytes >= address + size_bytes))
               ? MEMSPAN_OK
               : refuse_part(state, address, size_bytes);
}

/* Whether the driver has all of the range as host memory, in one registration or several, or none
 * of it; where both ends are unknown, the middle is not queried. */
static memspan_status_t look_for_theirs(const struct gpu_state *state, const char *address,
                                        size_t size_bytes, bool *known_p)
{
    const char *end = address + size_bytes;
    const char *at  = address;

    while (at < end) {
        struct gpu_pointer p    = {0};
        memspan_status_t status = state->driver->query_pointer(state, at, &p);
        const char *next        = p.base + p.size_bytes;

        if (status != MEMSPAN_OK) {
            return status;
        }
        if (at == address) {
            *known_p = p.known;
        }
        if ((p.known != *known_p) || (p.known && (p.managed || !p.on_host))) {
            return refuse_part(state, address, size_bytes);
        }
        /* Where the driver does not report the range, the last byte stands for the rest. */
        at = (p.known && (p.size_bytes > 0) && (next > at)) ? next
                                                            : ((at == end - 1) ? end : end - 1);
    }
    return MEMSPAN_OK;
}

/* *ours_p: it was not there before. */
static memspan_status_t register_range(struct gpu_device *device, void *address, size_t size_bytes,
                                       bool *ours_p)
{
    struct gpu_state *state = device->state;
    bool known              = false;
    memspan_status_t status = MEMSPAN_OK;
    gpu_result_t answer;

    if (state->driver->registers_twice) {
        status = look_for_theirs(state, address, size_bytes, &known);
    }
    if ((status != MEMSPAN_OK) || known) {
        *ours_p = false;
        return status;
    }
    answer  = state->driver->register_pages(device, address, size_bytes);
    *ours_p = (answer.code == GPU_SUCCESS);
    if (answer.code == GPU_PAGES_ALREADY_REGISTERED) {
        gpu_forget_error(state);
        status = look_for_theirs(state, address, size_bytes, &known);
        return ((status == MEMSPAN_OK) && !known) ? refuse_part(state, address, size_bytes)
                                                  : status;
    }
    return *ours_p ? MEMSPAN_OK
                   : gpu_error(state, answer, "%zu bytes of host pages at %p cannot be registered",
                               size_bytes, address);
}

static memspan_status_t add(struct gpu_device *device, void *address, size_t size_bytes,
                            struct gpu_registration **made_p)
{
    struct gpu_state *state       = device->state;
    struct gpu_registration *made = calloc(1, sizeof(*made));
    bool ours                     = false;
    memspan_status_t status;

    if (made == NULL) {
        return gpu_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for a record");
    }
    status = register_range(device, address, size_bytes, &ours);
    if (status != MEMSPAN_OK) {
        free(made);
        return status;
    }
    *made                = (struct gpu_registration){.next       = state->registrations,
                                                     .address    = address,
                                                     .size_bytes = size_bytes,
                                                     .home       = device,
                                                     .epoch      = atomic_load(&device->epoch),
                                                     .ours       = ours};
    state->registrations = made;
    *made_p              = made;
    return MEMSPAN_OK;
}

/* False: there is no such registration. *last_p: it was the last reference, and its record is in @p
 * dropped. */
static bool drop(struct gpu_state *state, const struct gpu_registration *registration,
                 struct gpu_registration *dropped, bool *last_p)
{
    struct gpu_registration **link = &state->registrations;

    while ((*link != NULL) && (*link != registration)) {
        link = &(*link)->next;
    }
    if (*link == NULL) {
        return false;
    }
    *last_p = (--(*link)->references <= 0);
    if (*last_p) {
        struct gpu_registration *r = *link;
        *dropped                   = *r;
        *link                      = r->next;
        free(r);
    }
    return true;
}

static memspan_status_t remove_one(struct gpu_state *state,
                                   const struct gpu_registration *registration)
{
    struct gpu_registration r = {0};
    gpu_result_t answer       = {"", GPU_SUCCESS};
    bool last                 = false;

    if (!drop(state, registration, &r, &last)) {
        return gpu_refuse(state, MEMSPAN_ERR_NOT_FOUND, NULL, "these host pages are not imported");
    }
    if (last && r.ours && is_there(&r)) {
        answer = state->driver->unregister_pages(r.home, r.address);
    }
    return ((answer.code == GPU_SUCCESS) || (answer.code == GPU_DEINITIALIZED))
               ? MEMSPAN_OK
               : gpu_error(state, answer, "%zu bytes at %p cannot be given back", r.size_bytes,
                           (void *)r.address);
}

memspan_status_t gpu_register(struct gpu_device *device, void *address, size_t size_bytes,
                              void **seen_at_p, struct gpu_registration **registration_p)
{
    struct gpu_state *state    = device->state;
    struct gpu_registration *r = NULL;
    void *seen_at              = address;
    gpu_result_t answer        = {"", GPU_SUCCESS};
    memspan_status_t status;

    pthread_mutex_lock(&state->lock);
    r      = find(device, address, size_bytes);
    status = (r != NULL) ? check_reuse(state, r, address, size_bytes)
                         : add(device, address, size_bytes, &r);
    if (status == MEMSPAN_OK) {
        r->references++;
        if (state->driver->seen_at != NULL) {
            answer = state->driver->seen_at(device, address, &seen_at);
        }
        if (answer.code != GPU_SUCCESS) {
            (void)remove_one(state, r);
            status = gpu_error(state, answer, "%s does not see host pages at %p", device->info.name,
                               address);
        }
    }
    pthread_mutex_unlock(&state->lock);
    if (status == MEMSPAN_OK) {
        *seen_at_p      = seen_at;
        *registration_p = r;
    }
    return status;
}

memspan_status_t gpu_unregister(struct gpu_state *state,
                                const struct gpu_registration *registration)
{
    memspan_status_t status;

    pthread_mutex_lock(&state->lock);
    status = remove_one(state, registration);
    pthread_mutex_unlock(&state->lock);
    return status;
}

void gpu_registration_forget(struct gpu_state *state, const struct gpu_registration *registration)
{
    struct gpu_registration r;
    bool last;

    pthread_mutex_lock(&state->lock);
    (void)drop(state, registration, &r, &last);
    pthread_mutex_unlock(&state->lock);
}

memspan_status_t gpu_import(void *opaque, int ordinal, void *address, size_t size_bytes,
                            void **address_p, void **cookie_p)
{
    const struct gpu_state *state         = opaque;
    struct gpu_registration *registration = NULL;
    struct gpu_device *device             = NULL;
    memspan_status_t status               = gpu_device_get(opaque, ordinal, &device);
    struct gpu_visit visit;

    if (status != MEMSPAN_OK) {
        return status;
    }
    if (!device->facts.same_address && device->facts.needs_no_import) {
        *address_p = address;
        *cookie_p  = NULL;
        return MEMSPAN_OK;
    }
    if (!device->facts.registers) {
        return gpu_refuse(state, MEMSPAN_ERR_UNSUPPORTED, NULL, "%s does not take host pages: %s",
                          device->info.name, state->driver->names[GPU_NAME_NO_REGISTER]);
    }
    status = gpu_enter(opaque, ordinal, GPU_TO_ALLOCATE, &visit);
    if (status != MEMSPAN_OK) {
        return status;
    }
    status = gpu_register(device, address, size_bytes, address_p, &registration);
    gpu_leave(&visit);
    if (status == MEMSPAN_OK) {
        *cookie_p = registration;
    }
    return status;
}

memspan_status_t gpu_release(void *state, int ordinal, void *address, size_t size_bytes,
                             void *cookie)
{
    struct gpu_visit visit;
    memspan_status_t waited = MEMSPAN_OK;
    memspan_status_t status;
    bool idle;

    (void)address;
    (void)size_bytes;
    if (cookie == NULL) {
        return MEMSPAN_OK;
    }
    status = gpu_enter(state, ordinal, GPU_TO_GIVE_BACK, &visit);
    if (status == MEMSPAN_ERR_OFF) {
        gpu_registration_forget(state, cookie);
        return MEMSPAN_OK;
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    if (visit.device->state->driver->settle != NULL) {
        waited = visit.device->state->driver->settle(visit.device, &idle);
    }
    status = gpu_unregister(state, cookie);
    gpu_leave(&visit);
    return (status == MEMSPAN_OK) ? waited : status;
}
