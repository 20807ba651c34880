/* SPDX-License-Identifier: BSD-3-Clause */
/* calls_memory.c: allocations of every kind, where they are reached, and other processes. */

#include "tests/fakes/gpu/calls.h"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void *fake_any(uintptr_t address, size_t size)
{
    struct fake_memory *m = fake_find(address);

    return (m == NULL) ? (void *)address : fake_at(m, address, size);
}

void *fake_reach(int device, uintptr_t address, size_t size)
{
    struct fake_memory *m = fake_find(address);

    if (m == NULL) {
        return (fake_attribute(fake_rules.pageable_attribute) > 0) ? (void *)address : NULL;
    }
    if ((m->kind == FAKE_DEVICE) && (m->device != device) &&
        ((gpu.peers[device] & fake_bit(m->device)) == 0)) {
        return NULL;
    }
    if ((m->kind == FAKE_MAPPED) && ((m->access & fake_bit(device)) == 0)) {
        return NULL;
    }
    return fake_at(m, address, size);
}

/* ---- taking and giving back ---- */

int fake_check_size(size_t size, bool of_device, int *device_p)
{
    int code = fake_usable(device_p);

    if (code != 0) {
        return code;
    }
    if (size == 0) {
        return FAKE_INVALID_VALUE;
    }
    return (of_device && (fake_whole_pages(size) > gpu.capacity - gpu.used[*device_p]))
               ? FAKE_OUT_OF_MEMORY
               : 0;
}

/* As a driver's own: on a page, and on nothing larger. */
static struct fake_memory *own_pages(int device, size_t size)
{
    size_t whole = fake_whole_pages(size);
    char *range  = fake_reserve(whole + FAKE_PAGE, 1 << 16);
    struct fake_memory *m;

    if ((range == NULL) || (mprotect(range + FAKE_PAGE, whole, PROT_READ | PROT_WRITE) != 0)) {
        return NULL;
    }
    munmap(range, FAKE_PAGE);
    m        = fake_add_pages(FAKE_HOST, device, range + FAKE_PAGE, size);
    m->outer = range + FAKE_PAGE;
    return m;
}

int fake_alloc(enum fake_kind kind, size_t size, int protection, void *address_p)
{
    struct fake_memory *m;
    uintptr_t address = 0;
    int device;
    int code = fake_check_size(size, kind == FAKE_DEVICE, &device);

    if (code != 0) {
        return code;
    }
    if (!fake_lies("null")) {
        m = (kind == FAKE_HOST) ? own_pages(device, size)
                                : fake_create(kind, device, size, FAKE_PAGE, protection);
        if (m == NULL) {
            return FAKE_OUT_OF_MEMORY; /* of the machine: let it show */
        }
        m->prefetched = fake_rules.never_prefetched;
        m->context    = fake_context();
        address       = m->base;
    }
    memcpy(address_p, &address, sizeof(address));
    return 0;
}

int fake_give_back(uintptr_t address, unsigned kinds, bool opened, const char *name, int unknown)
{
    struct fake_memory *m = fake_find(address);
    int device            = -1;
    int code              = fake_usable(&device);
    int ran;

    if ((m == NULL) || (m->base != address) || ((kinds & (1u << m->kind)) == 0) ||
        (m->opened != opened)) {
        fake_broken("%s of memory that it did not make", name);
        return unknown;
    }
    if (device < 0) {
        fake_broken("%s without a context", name);
        return code;
    }
    ran = fake_run_all(-1);
    fake_late_finish();
    fake_remove(m);
    return (fake_rules.tells_of_all && (ran != 0)) ? ran : fake_sticky(device);
}

void fake_remove_all(int device, const void *context)
{
    struct fake_memory *m = gpu.memory;

    fake_late_finish();
    while (m != NULL) {
        struct fake_memory *next = m->next;
        if (((device < 0) || (m->device == device)) &&
            ((context == NULL) || (m->context == context))) {
            fake_remove(m);
        }
        m = next;
    }
}

/* ---- managed memory ---- */

int fake_managed(uintptr_t address, size_t size, int device, struct fake_memory **m_p)
{
    struct fake_memory *m = fake_find(address);
    int current;
    int code = fake_usable(&current);

    if (code != 0) {
        return code;
    }
    if ((m == NULL) || (m->kind != FAKE_MANAGED) || (fake_at(m, address, size) == NULL)) {
        return FAKE_INVALID_VALUE;
    }
    *m_p = m;
    return (device < gpu.device_count) ? 0 : FAKE_INVALID_DEVICE;
}

/* Only as a whole, and to a stream that is one: a default stream is none. */
int fake_attach(struct fake_stream *stream, uintptr_t address, size_t size, unsigned flags)
{
    enum { GLOBAL = 1, SINGLE = 4 };
    struct fake_memory *m = fake_find(address);
    int code              = fake_check_stream(stream);

    if (code != 0) {
        return code;
    }
    if ((m == NULL) || (m->kind != FAKE_MANAGED) || (m->base != address) || (size != 0) ||
        ((flags != GLOBAL) && (flags != SINGLE)) || (stream->type != FAKE_STREAM_MADE)) {
        return FAKE_INVALID_VALUE;
    }
    if (fake_is_used_elsewhere(m, stream) && (gpu.failed[0] == '\0')) {
        fake_broken("memory is attached before another stream has done its work on it");
    }
    m->attached = (flags == SINGLE) ? stream : NULL;
    fake_open(m, (m->attached != NULL) ? (stream->first == NULL) : !gpu.managed_closed);
    return 0;
}

int fake_prefetch(uintptr_t address, size_t size, int device, const struct fake_stream *stream)
{
    struct fake_memory *m;
    int code = fake_managed(address, size, device, &m);

    if (code == 0) {
        if (fake_is_used_elsewhere(m, stream) && (gpu.failed[0] == '\0')) {
            fake_broken("memory moves before another stream has done its work on it");
        }
        m->prefetched = device;
    }
    return code;
}

int fake_range_attribute(void *data, size_t size, int which, uintptr_t address, size_t count)
{
    struct fake_memory *m;
    int code = fake_managed(address, count, -1, &m);

    if ((size != sizeof(int)) || (which != FAKE_LAST_PREFETCH)) {
        return FAKE_INVALID_VALUE;
    }
    if (code == 0) {
        memcpy(data, &m->prefetched, sizeof(int));
    }
    return code;
}

/* ---- host pages ---- */

bool fake_is_known(void *address, size_t size)
{
    const struct fake_memory *m = gpu.memory;

    while ((m != NULL) && !fake_overlaps(m, (uintptr_t)address, size)) {
        m = m->next;
    }
    return m != NULL;
}

int fake_register(void *address, size_t size, unsigned flags)
{
    int device;
    int code = fake_usable(&device);

    if (code != 0) {
        return code;
    }
    if (flags != FAKE_PORTABLE_AND_MAPPED) {
        fake_broken("host pages that are not portable and mapped: flags %u", flags);
    }
    fake_add_pages(FAKE_REGISTERED, device, address, size)->context = fake_context();
    return 0;
}

int fake_host_pointer(void *seen_at_p, void *address, unsigned flags)
{
    const struct fake_memory *m = fake_find((uintptr_t)address);
    uintptr_t seen_at           = (uintptr_t)address;
    int device;
    int code = fake_usable(&device);

    if (code != 0) {
        return code;
    }
    if ((m == NULL) || (flags != 0) || ((m->kind != FAKE_HOST) && (m->kind != FAKE_REGISTERED))) {
        return FAKE_INVALID_VALUE;
    }
    if (fake_lies("pointer") || (fake_lies("large") && (m->size > FAKE_PAGE))) {
        seen_at += 1u << 30;
    }
    memcpy(seen_at_p, &seen_at, sizeof(seen_at));
    return 0;
}

/* ---- other processes: where the memory is to be found in /proc ---- */

struct ticket {
    int pid;
    int fd;
    int device; /* its number in the machine */
    size_t size;
};

int fake_ticket_make(void *handle, uintptr_t address)
{
    const struct fake_memory *m = fake_find(address);
    struct ticket ticket;
    int device;
    int code = fake_usable(&device);

    if (code != 0) {
        return code;
    }
    if ((m == NULL) || (m->kind != FAKE_DEVICE) || (m->device != device)) {
        return FAKE_INVALID_VALUE;
    }
    ticket = (struct ticket){(int)getpid(), m->fd, gpu.first + device, m->size};
    memset(handle, 0, 64);
    memcpy(handle, &ticket, sizeof(ticket));
    return 0;
}

int fake_ticket_open(const void *handle, bool flags_fit, void *address_p)
{
    struct fake_memory *m;
    struct ticket ticket;
    int current;
    int device;
    int code = fake_usable(&current);
    int fd;

    if (code != 0) {
        return code;
    }
    memcpy(&ticket, handle, sizeof(ticket));
    if ((ticket.pid == getpid()) || !flags_fit) {
        return FAKE_INVALID_CONTEXT;
    }
    /* It may be of a device that this process does not see. */
    device = ticket.device - gpu.first;
    device = fake_is_device(device) ? device : FAKE_DEVICES_MAX;
    fd     = fake_fetch(ticket.pid, ticket.fd);
    if (fd < 0) {
        return fake_rules.cannot_open;
    }
    m = fake_add(FAKE_DEVICE, device, ticket.size);
    if (!fake_map_views(m, fd, NULL, PROT_NONE)) {
        return fake_rules.cannot_open;
    }
    m->opened  = true;
    m->context = fake_context();
    gpu.peers[current] |= fake_bit(device);
    memcpy(address_p, &m->base, sizeof(m->base));
    return 0;
}

/* ---- peers ---- */

int fake_enable_peer(int device, int peer)
{
    if ((gpu.peers[device] & fake_bit(peer)) != 0) {
        return FAKE_PEERS_ALREADY;
    }
    gpu.peers[device] |= fake_bit(peer);
    return 0;
}
