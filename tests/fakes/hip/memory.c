/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c: allocations of every kind, what is known of an address, who may go there, and other
 * processes. */

#include "fake.h"
#include "tests/fakes/gpu_control.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef FAKE_HIP_OLD
enum { IPC_LAZY = HIP_IPC_LAZY_5 };
#else
enum { IPC_LAZY = HIP_IPC_LAZY_6 };
#endif

struct fake_memory *fake_find(uintptr_t address)
{
    struct fake_memory *m;

    for (m = fake.memory; m != NULL; m = m->next) {
        if ((address >= m->base) && (address - m->base < m->size)) {
            return m;
        }
    }
    return NULL;
}

static void *at(const struct fake_memory *m, uintptr_t address, size_t size)
{
    size_t offset = address - m->base;

    return ((offset > m->size) || (size > m->size - offset)) ? NULL : m->bytes + offset;
}

void *fake_any(uintptr_t address, size_t size)
{
    struct fake_memory *m = fake_find(address);

    return (m == NULL) ? (void *)address : at(m, address, size);
}

void *fake_reach(int device, uintptr_t address, size_t size)
{
    struct fake_memory *m = fake_find(address);

    if (m == NULL) {
        return (fake_attribute(HIP_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS) > 0) ? (void *)address : NULL;
    }
    if ((m->kind == FAKE_DEVICE) && (m->device != device) &&
        ((fake.peers[device] & (1u << m->device)) == 0)) {
        return NULL;
    }
    return at(m, address, size);
}

static struct fake_memory *add(enum fake_kind kind, size_t size)
{
    struct fake_memory *m = calloc(1, sizeof(*m));

    if (m != NULL) {
        m->kind       = kind;
        m->device     = fake_current;
        m->size       = size;
        m->mapped     = fake_whole_pages(size);
        m->fd         = -1;
        m->prefetched = HIP_CPU_DEVICE;
        m->next       = fake.memory;
        fake.memory   = m;
    }
    return m;
}

static void drop(struct fake_memory *m)
{
    struct fake_memory **link = &fake.memory;

    while (*link != m) {
        link = &(*link)->next;
    }
    *link = m->next;
    if ((m->kind == FAKE_DEVICE) && !m->opened) {
        fake.used[m->device] -= m->mapped;
    }
    if (m->kind != FAKE_REGISTERED) {
        munmap((void *)(m->base - m->lead), m->mapped);
        if (m->bytes != (char *)m->base) {
            munmap(m->bytes - m->lead, m->mapped);
        }
    }
    if (m->fd >= 0) {
        close(m->fd);
    }
    free(m);
}

/* Both views of what @p fd holds. */
static bool map_views(struct fake_memory *m, int fd, int protection)
{
    void *outer = mmap(NULL, m->mapped, protection, MAP_SHARED, fd, 0);
    void *inner = mmap(NULL, m->mapped, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    m->fd    = fd;
    m->base  = (uintptr_t)outer + m->lead;
    m->bytes = (char *)inner + m->lead;
    return (outer != MAP_FAILED) && (inner != MAP_FAILED);
}

static hip_result_t create(enum fake_kind kind, size_t size, int protection, void **address)
{
    int fd;
    struct fake_memory *m;

    if (fake_hip_lies("null")) {
        *address = NULL;
        return HIP_SUCCESS;
    }
    fd = memfd_create("pretended-gpu", MFD_CLOEXEC);
    m  = add(kind, size);
    if ((m != NULL) && fake_hip_lies("align")) {
        m->lead   = 128;
        m->mapped = fake_whole_pages(size + m->lead);
    }
    if ((fd < 0) || (m == NULL) || (ftruncate(fd, (off_t)m->mapped) != 0) ||
        !map_views(m, fd, protection)) {
        return HIP_ERROR_OUT_OF_MEMORY; /* of the machine, not of the pretence: let it show */
    }
    if (kind == FAKE_DEVICE) {
        memset(m->bytes, 0xcd, m->size); /* zeros are not promised */
        fake.used[fake_current] += m->mapped;
    }
    *address = (void *)m->base;
    return HIP_SUCCESS;
}

static hip_result_t check(size_t size, bool of_device)
{
    hip_result_t code = fake_usable();

    if (code != HIP_SUCCESS) {
        return code;
    }
    if (size == 0) {
        return HIP_ERROR_INVALID_VALUE;
    }
    return (of_device && (fake_whole_pages(size) > fake.capacity - fake.used[fake_current]))
               ? HIP_ERROR_OUT_OF_MEMORY
               : HIP_SUCCESS;
}

/* ---- device and managed memory ---- */

#ifndef FAKE_HIP_BROKEN
hip_result_t hipMalloc(void **address, size_t size)
{
    hip_result_t code;

    BEGIN("hipMalloc");
    code = check(size, true);
    code = (code == HIP_SUCCESS) ? create(FAKE_DEVICE, size, PROT_NONE, address) : code;
    if ((code == HIP_SUCCESS) && (*address != NULL)) {
        fake_find((uintptr_t)*address)->coarse = true;
    }
    return fake_leave(code);
}
#endif

hip_result_t hipExtMallocWithFlags(void **address, size_t size, unsigned flags)
{
    bool large_bar;
    hip_result_t code;

    BEGIN("hipExtMallocWithFlags");
    large_bar = fake_attribute(HIP_ATTRIBUTE_IS_LARGE_BAR) > 0;
    code      = check(size, true);
    if ((code == HIP_SUCCESS) &&
        ((flags != HIP_DEVICE_MALLOC_FINE_GRAINED) || fake_hip_lies("fine"))) {
        code = HIP_ERROR_INVALID_VALUE;
    }
    if (code == HIP_SUCCESS) {
        code = create(FAKE_DEVICE, size, large_bar ? PROT_READ | PROT_WRITE : PROT_NONE, address);
    }
    return fake_leave(code);
}

hip_result_t hipMallocManaged(void **address, size_t size, unsigned flags)
{
    hip_result_t code;

    BEGIN("hipMallocManaged");
    code = check(size, false);
    if ((code != HIP_SUCCESS) || (flags != HIP_MEM_ATTACH_GLOBAL)) {
        return fake_leave((code != HIP_SUCCESS) ? code : HIP_ERROR_INVALID_VALUE);
    }
    /* The real one returns host memory then, without a word. */
    if (fake_attribute(HIP_ATTRIBUTE_MANAGED_MEMORY) <= 0) {
        fake_broken("managed memory on a device that has none");
    }
    if (fake_hip_lies("managed")) {
        return fake_leave(HIP_ERROR_OUT_OF_MEMORY);
    }
    return fake_leave(create(FAKE_MANAGED, size, PROT_READ | PROT_WRITE, address));
}

static hip_result_t give_back(void *address, bool (*fits)(const struct fake_memory *m),
                              const char *name, hip_result_t unknown)
{
    struct fake_memory *m = fake_find((uintptr_t)address);
    hip_result_t code;

    if ((m == NULL) || (m->base != (uintptr_t)address) || !fits(m)) {
        fake_broken("%s of memory that it did not make", name);
        return unknown;
    }
    code = fake_run_all(-1);
    code = (code == HIP_SUCCESS) ? fake_usable() : code;
    drop(m);
    return code;
}

static bool is_free(const struct fake_memory *m)
{
    return ((m->kind == FAKE_DEVICE) || (m->kind == FAKE_MANAGED)) && !m->opened;
}

hip_result_t hipFree(void *address)
{
    BEGIN_RELEASE("hipFree");
    return fake_leave(give_back(address, is_free, "hipFree", HIP_ERROR_INVALID_VALUE));
}

static hip_result_t check_managed(const void *address, size_t size, int device,
                                  struct fake_memory **m_p)
{
    struct fake_memory *m = fake_find((uintptr_t)address);

    if (fake_usable() != HIP_SUCCESS) {
        return fake_usable();
    }
    if (device >= fake.device_count) {
        return HIP_ERROR_INVALID_DEVICE;
    }
    if ((m == NULL) || (m->kind != FAKE_MANAGED) || (at(m, (uintptr_t)address, size) == NULL)) {
        return HIP_ERROR_INVALID_VALUE;
    }
    *m_p = m;
    return HIP_SUCCESS;
}

hip_result_t hipMemAdvise(const void *address, size_t size, int advice, int device)
{
    struct fake_memory *m;
    hip_result_t code;

    BEGIN("hipMemAdvise");
    code = check_managed(address, size, device, &m);
    if ((code == HIP_SUCCESS) && (advice == HIP_ADVISE_SET_COARSE_GRAIN)) {
        m->coarse = true;
    }
    return fake_leave(code);
}

/* By work of another stream that is not done. */
static bool is_used_elsewhere(const struct fake_memory *m, const struct ihipStream_t *stream)
{
    const struct ihipStream_t *s;
    const struct fake_command *c;

    for (s = fake.streams; s != NULL; s = s->next) {
        for (c = s->first; (s != stream) && (c != NULL); c = c->next) {
            if ((c->to - m->base < m->size) || (c->from - m->base < m->size)) {
                return true;
            }
        }
    }
    return false;
}

hip_result_t hipMemPrefetchAsync(const void *address, size_t size, int device, hip_stream_t stream)
{
    struct fake_memory *m;
    hip_result_t code;

    BEGIN("hipMemPrefetchAsync");
    code = check_managed(address, size, device, &m);
    if (code == HIP_SUCCESS) {
        if (is_used_elsewhere(m, stream) && (fake.failed[0] == '\0') &&
            (fake.sticky[fake_current] == HIP_SUCCESS)) {
            fake_broken("memory moves before another stream has done its work on it");
        }
        m->prefetched = device;
    }
    return fake_leave(code);
}

hip_result_t hipMemRangeGetAttribute(void *data, size_t size, int which, const void *address,
                                     size_t count)
{
    struct fake_memory *m;
    hip_result_t code;

    BEGIN("hipMemRangeGetAttribute");
    code = check_managed(address, count, HIP_CPU_DEVICE, &m);
    if ((size != sizeof(int)) || (which != HIP_RANGE_LAST_PREFETCH_LOCATION)) {
        code = HIP_ERROR_INVALID_VALUE;
    }
    if (code == HIP_SUCCESS) {
        memcpy(data, &m->prefetched, sizeof(int));
    }
    return fake_leave(code);
}

/* ---- host memory ---- */

hip_result_t hipHostMalloc(void **address, size_t size, unsigned flags)
{
    struct fake_memory *m;
    hip_result_t code;
    void *pages;

    BEGIN("hipHostMalloc");
    code = check(size, false);
    if (code != HIP_SUCCESS) {
        return fake_leave(code);
    }
    if (fake_hip_lies("coherent") && ((flags & HIP_HOST_MALLOC_COHERENT) != 0)) {
        return fake_leave(HIP_ERROR_NOT_SUPPORTED);
    }
    if ((flags | (fake_hip_lies("coherent") ? HIP_HOST_MALLOC_COHERENT : 0)) !=
        (HIP_HOST_MALLOC_PORTABLE | HIP_HOST_MALLOC_MAPPED | HIP_HOST_MALLOC_COHERENT)) {
        fake_broken("host memory that is not portable, mapped and coherent: flags %#x", flags);
    }
    if (fake_hip_lies("null")) {
        *address = NULL;
        return fake_leave(HIP_SUCCESS);
    }
    pages = fake_map_on_page(fake_whole_pages(size));
    m     = (pages == MAP_FAILED) ? NULL : add(FAKE_HOST, size);
    if (m == NULL) {
        return fake_leave(HIP_ERROR_OUT_OF_MEMORY);
    }
    m->base  = (uintptr_t)pages;
    m->bytes = pages;
    *address = pages;
    return fake_leave(HIP_SUCCESS);
}

static bool is_host(const struct fake_memory *m)
{
    return m->kind == FAKE_HOST;
}

static bool is_registered(const struct fake_memory *m)
{
    return m->kind == FAKE_REGISTERED;
}

hip_result_t hipHostFree(void *address)
{
    BEGIN_RELEASE("hipHostFree");
    return fake_leave(give_back(address, is_host, "hipHostFree", HIP_ERROR_INVALID_VALUE));
}

hip_result_t hipHostRegister(void *address, size_t size, unsigned flags)
{
    struct fake_memory *m;

    BEGIN("hipHostRegister");
    if (fake_usable() != HIP_SUCCESS) {
        return fake_leave(fake_usable());
    }
    /* Some versions take it, and forget both when the first goes. */
    for (m = fake.memory; m != NULL; m = m->next) {
        if ((m->base < (uintptr_t)address + size) && ((uintptr_t)address < m->base + m->size)) {
            fake_broken("pages are registered twice");
        }
    }
    if (flags != (HIP_HOST_REGISTER_PORTABLE | HIP_HOST_REGISTER_MAPPED)) {
        fake_broken("host pages that are not portable and mapped: flags %u", flags);
    }
    m = add(FAKE_REGISTERED, size);
    if (m == NULL) {
        return fake_leave(HIP_ERROR_OUT_OF_MEMORY);
    }
    m->base  = (uintptr_t)address;
    m->bytes = address;
    return fake_leave(HIP_SUCCESS);
}

hip_result_t hipHostUnregister(void *address)
{
    BEGIN_RELEASE("hipHostUnregister");
    return fake_leave(give_back(address, is_registered, "hipHostUnregister",
                                HIP_ERROR_HOST_MEMORY_NOT_REGISTERED));
}

hip_result_t hipHostGetDevicePointer(void **seen_at, void *address, unsigned flags)
{
    struct fake_memory *m;
    bool lies;

    BEGIN("hipHostGetDevicePointer");
    m = fake_find((uintptr_t)address);
    if (fake_usable() != HIP_SUCCESS) {
        return fake_leave(fake_usable());
    }
    if ((m == NULL) || (flags != 0) || ((m->kind != FAKE_HOST) && (m->kind != FAKE_REGISTERED))) {
        return fake_leave(HIP_ERROR_INVALID_VALUE);
    }
    lies     = fake_hip_lies("pointer") || (fake_hip_lies("large") && (m->size > FAKE_PAGE));
    *seen_at = (char *)address + (lies ? 1u << 30 : 0u);
    return fake_leave(HIP_SUCCESS);
}

/* ---- what is known of an address ---- */

#ifdef FAKE_HIP_OLD
enum { TYPE_HOST = HIP_TYPE_HOST_5, TYPE_DEVICE = HIP_TYPE_DEVICE_5, TYPE_MANAGED = 0 };
#else
enum { TYPE_HOST = HIP_TYPE_HOST_6, TYPE_DEVICE = HIP_TYPE_DEVICE_6, TYPE_MANAGED = 3 };
#endif

static const int types[] = {[FAKE_DEVICE]     = TYPE_DEVICE,
                            [FAKE_HOST]       = TYPE_HOST,
                            [FAKE_MANAGED]    = TYPE_MANAGED,
                            [FAKE_REGISTERED] = TYPE_HOST};

hip_result_t hipPointerGetAttributes(struct hip_pointer_attributes *answer, const void *pointer)
{
    const struct fake_memory *m;

    BEGIN("hipPointerGetAttributes");
    m = fake_find((uintptr_t)pointer);
    memset(answer, 0, sizeof(*answer));
    if (m == NULL) {
#ifdef FAKE_HIP_OLD
        return fake_leave(HIP_ERROR_INVALID_VALUE);
#else
        answer->device = -2;
        return fake_leave(HIP_SUCCESS);
#endif
    }
    answer->type           = types[m->kind];
    answer->device         = m->device;
    answer->device_pointer = (void *)(uintptr_t)pointer;
    answer->is_managed     = (m->kind == FAKE_MANAGED);
    return fake_leave(HIP_SUCCESS);
}

hip_result_t hipMemGetAddressRange(void **base, size_t *size, void *address)
{
    const struct fake_memory *m;

    BEGIN("hipMemGetAddressRange");
    m = fake_find((uintptr_t)address);
    if (m == NULL) {
        return fake_leave(HIP_ERROR_NOT_FOUND);
    }
    *base = (void *)m->base;
    *size = m->size;
    return fake_leave(HIP_SUCCESS);
}

int fake_hip_is_coarse(const void *address)
{
    const struct fake_memory *m = fake_find((uintptr_t)address);

    return (m == NULL) ? -1 : m->coarse;
}

/* ---- other processes ---- */

struct ticket {
    int pid;
    int fd;
    int device;
    size_t size;
};

hip_result_t hipIpcGetMemHandle(struct hip_ipc_handle *handle, void *address)
{
    const struct fake_memory *m;
    struct ticket ticket;

    BEGIN("hipIpcGetMemHandle");
    m = fake_find((uintptr_t)address);
    if (fake_usable() != HIP_SUCCESS) {
        return fake_leave(fake_usable());
    }
    if ((m == NULL) || (m->kind != FAKE_DEVICE) || (m->device != fake_current)) {
        return fake_leave(HIP_ERROR_INVALID_VALUE);
    }
    ticket = (struct ticket){(int)getpid(), m->fd, m->device, m->size};
    memset(handle, 0, sizeof(*handle));
    memcpy(handle, &ticket, sizeof(ticket));
    return fake_leave(HIP_SUCCESS);
}

hip_result_t hipIpcOpenMemHandle(void **address, struct hip_ipc_handle handle, unsigned flags)
{
    struct fake_memory *m;
    struct ticket ticket;
    char path[64];
    int fd;

    BEGIN("hipIpcOpenMemHandle");
    memcpy(&ticket, &handle, sizeof(ticket));
    if (fake_usable() != HIP_SUCCESS) {
        return fake_leave(fake_usable());
    }
    if ((ticket.pid == getpid()) || (flags != IPC_LAZY)) {
        return fake_leave(HIP_ERROR_INVALID_CONTEXT);
    }
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", ticket.pid, ticket.fd);
    fd = open(path, O_RDWR | O_CLOEXEC);
    m  = (fd < 0) ? NULL : add(FAKE_DEVICE, ticket.size);
    if ((m == NULL) || !map_views(m, fd, PROT_NONE)) {
        return fake_leave(HIP_ERROR_INVALID_DEVICE_POINTER);
    }
    m->opened = true;
    *address  = (void *)m->base;
    return fake_leave(HIP_SUCCESS);
}

static bool is_opened(const struct fake_memory *m)
{
    return m->opened;
}

hip_result_t hipIpcCloseMemHandle(void *address)
{
    BEGIN_RELEASE("hipIpcCloseMemHandle");
    return fake_leave(
        give_back(address, is_opened, "hipIpcCloseMemHandle", HIP_ERROR_INVALID_VALUE));
}

int fake_hip_export(uintptr_t address, size_t size, uint64_t *offset)
{
    const struct fake_memory *m = fake_find(address);

    if ((m == NULL) || (m->kind != FAKE_DEVICE) || (address + size > m->base + m->mapped)) {
        return -1;
    }
    *offset = address - m->base;
    return fcntl(m->fd, F_DUPFD_CLOEXEC, 0);
}

#ifndef FAKE_HIP_OLD
hip_result_t hipMemGetHandleForAddressRange(void *handle, void *address, size_t size, int type,
                                            unsigned long long flags)
{
    uint64_t offset = 0;
    int fd          = -1;

    BEGIN("hipMemGetHandleForAddressRange");
    if (((((uintptr_t)address | size) & (FAKE_PAGE - 1)) == 0) &&
        (type == HIP_RANGE_HANDLE_DMA_BUF_FD) && (flags == 0)) {
        fd = fake_hip_export((uintptr_t)address, size, &offset);
    }
    if (fd < 0) {
        return fake_leave(HIP_ERROR_INVALID_VALUE);
    }
    memcpy(handle, &fd, sizeof(fd));
    return fake_leave(HIP_SUCCESS);
}
#endif
