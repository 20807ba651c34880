/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c: allocations of every kind, what is known of an address, and who may go there. */

#include "fake.h"
#include "tests/fakes/gpu_control.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

void *fake_reach(const struct CUctx_st *context, uintptr_t address, size_t size)
{
    struct fake_memory *m = fake_find(address);
    unsigned own          = 1u << context->device;

    if (m == NULL) {
        bool all = fake.attributes[CUDA_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS] != 0;
        return all ? (void *)address : NULL;
    }
    if ((m->kind == FAKE_DEVICE) && (m->device != context->device) &&
        ((context->peers & (1u << m->device)) == 0)) {
        return NULL;
    }
    if ((m->kind == FAKE_MAPPED) && ((m->access & own) == 0)) {
        return NULL;
    }
    return at(m, address, size);
}

bool fake_map_views(struct fake_memory *m, int fd, void *address, int protection)
{
    void *outer = mmap(address, m->mapped, protection,
                       MAP_SHARED | ((address != NULL) ? MAP_FIXED : 0), fd, 0);
    void *inner = mmap(NULL, m->mapped, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if ((outer == MAP_FAILED) || (inner == MAP_FAILED)) {
        return false;
    }
    m->base  = (uintptr_t)outer;
    m->bytes = inner;
    m->fd    = fd;
    return true;
}

struct fake_memory *fake_add(enum fake_kind kind, int device, size_t size)
{
    struct fake_memory *m = calloc(1, sizeof(*m));

    if (m != NULL) {
        m->kind       = kind;
        m->device     = device;
        m->size       = size;
        m->mapped     = fake_whole_pages(size);
        m->fd         = -1;
        m->prefetched = -2;
        m->next       = fake.memory;
        fake.memory   = m;
    }
    return m;
}

void fake_remove(struct fake_memory *m)
{
    fake_late_finish();
    struct fake_memory **link = &fake.memory;

    while (*link != m) {
        link = &(*link)->next;
    }
    *link = m->next;
    if ((m->kind == FAKE_DEVICE) && !m->opened) {
        fake.used[m->device] -= m->mapped;
    }
    if (m->kind != FAKE_REGISTERED) {
        /* The address range of mapped memory stays reserved. */
        if (m->kind != FAKE_MAPPED) {
            munmap((void *)m->base, m->mapped);
        }
        if (m->bytes != (char *)m->base) {
            munmap(m->bytes, m->mapped);
        }
    }
    if ((m->fd >= 0) && (m->kind != FAKE_MAPPED)) {
        close(m->fd);
    }
    free(m);
}

void fake_remove_all(int device)
{
    struct fake_memory *m = fake.memory;

    while (m != NULL) {
        struct fake_memory *next = m->next;
        if ((m->device == device) || (device < 0)) {
            fake_remove(m);
        }
        m = next;
    }
}

/* Both views of fresh memory. */
static cuda_result_t create(enum fake_kind kind, int device, size_t size, int protection,
                            cuda_address_t *address)
{
    int fd;
    struct fake_memory *m;

    if (fake_lies("null")) {
        *address = 0;
        return CUDA_SUCCESS;
    }
    fd = memfd_create("pretended-gpu", MFD_CLOEXEC);
    m  = fake_add(kind, device, size);
    if ((fd < 0) || (m == NULL) || (ftruncate(fd, (off_t)m->mapped) != 0) ||
        !fake_map_views(m, fd, NULL, protection)) {
        return CUDA_ERROR_OUT_OF_MEMORY; /* of the machine, not of the pretence: let it show */
    }
    if (kind == FAKE_DEVICE) {
        memset(m->bytes, 0xcd, m->size); /* zeros are not promised */
        fake.used[device] += m->mapped;
    }
    *address = m->base;
    return CUDA_SUCCESS;
}

/* ---- device and managed memory ---- */

#ifndef FAKE_CUDA_BROKEN
cuda_result_t cuMemAlloc_v2(cuda_address_t *address, size_t size)
{
    struct CUctx_st *context;
    cuda_result_t code;

    BEGIN("cuMemAlloc");
    code = fake_current(&context);
    if (code != CUDA_SUCCESS) {
        return fake_leave(code);
    }
    if (size == 0) {
        return fake_leave(CUDA_ERROR_INVALID_VALUE);
    }
    if (fake_whole_pages(size) > fake.capacity - fake.used[context->device]) {
        return fake_leave(CUDA_ERROR_OUT_OF_MEMORY);
    }
    return fake_leave(create(FAKE_DEVICE, context->device, size, PROT_NONE, address));
}
#endif

cuda_result_t cuMemAllocManaged(cuda_address_t *address, size_t size, unsigned flags)
{
    struct CUctx_st *context;
    cuda_result_t code;
    bool closed;

    BEGIN("cuMemAllocManaged");
    closed = fake.managed_closed;
    code   = fake_current(&context);
    if (code != CUDA_SUCCESS) {
        return fake_leave(code);
    }
    if ((size == 0) || (flags != CUDA_MEM_ATTACH_GLOBAL)) {
        return fake_leave(CUDA_ERROR_INVALID_VALUE);
    }
    if ((fake.attributes[CUDA_DEVICE_ATTRIBUTE_MANAGED_MEMORY] == 0) || fake_lies("managed")) {
        return fake_leave(CUDA_ERROR_NOT_SUPPORTED);
    }
    return fake_leave(create(FAKE_MANAGED, context->device, size,
                             closed ? PROT_NONE : PROT_READ | PROT_WRITE, address));
}

cuda_result_t cuMemFree_v2(cuda_address_t address)
{
    struct CUctx_st *context = NULL;
    struct fake_memory *m;
    cuda_result_t code;

    BEGIN_RELEASE("cuMemFree");
    code = fake_current(&context);
    m    = fake_find((uintptr_t)address);
    if ((m == NULL) || (m->base != address) || m->opened ||
        ((m->kind != FAKE_DEVICE) && (m->kind != FAKE_MANAGED))) {
        fake_broken("cuMemFree of what cuMemAlloc did not give");
        return fake_leave(CUDA_ERROR_INVALID_VALUE);
    }
    if (code == CUDA_ERROR_INVALID_CONTEXT) {
        fake_broken("cuMemFree without a context");
        return fake_leave(code);
    }
    (void)fake_run_all(NULL);
    code = context->sticky;
    fake_remove(m);
    return fake_leave(code);
}

void fake_managed_open(bool open)
{
    struct fake_memory *m;

    fake.managed_closed = !open;
    for (m = fake.memory; m != NULL; m = m->next) {
        if (m->kind == FAKE_MANAGED) {
            mprotect((void *)m->base, m->mapped, open ? PROT_READ | PROT_WRITE : PROT_NONE);
        }
    }
}

/* ---- advice and prefetching ---- */

/* By work of another stream that is not done. */
static bool is_used_elsewhere(const struct fake_memory *m, const struct CUstream_st *stream)
{
    const struct CUstream_st *s;
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

static void move(struct fake_memory *m, int to, const struct CUstream_st *stream)
{
    if (is_used_elsewhere(m, stream) && (fake.failed[0] == '\0')) {
        fake_broken("memory moves before another stream has done its work on it");
    }
    m->prefetched = to;
}

static cuda_result_t check_managed(cuda_address_t address, size_t size, int device,
                                   struct fake_memory **m_p)
{
    struct CUctx_st *context;
    struct fake_memory *m = fake_find((uintptr_t)address);
    cuda_result_t code    = fake_current(&context);

    if (code != CUDA_SUCCESS) {
        return code;
    }
    if ((m == NULL) || (m->kind != FAKE_MANAGED) || (at(m, address, size) == NULL)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if ((device >= fake.device_count) ||
        ((device >= 0) &&
         (fake.attributes[CUDA_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS] == 0))) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    *m_p = m;
    return CUDA_SUCCESS;
}

#ifdef FAKE_CUDA_OLD
cuda_result_t cuMemAdvise(cuda_address_t address, size_t size, cuda_advice_t advice,
                          cuda_device_t device)
{
    struct fake_memory *m;

    BEGIN("cuMemAdvise");
    (void)advice;
    return fake_leave(check_managed(address, size, device, &m));
}

cuda_result_t cuMemPrefetchAsync(cuda_address_t address, size_t size, cuda_device_t device,
                                 cuda_stream_t stream)
{
    struct fake_memory *m;
    cuda_result_t code;

    BEGIN("cuMemPrefetchAsync");
    code = check_managed(address, size, device, &m);
    if (code == CUDA_SUCCESS) {
        move(m, device, stream);
    }
    return fake_leave(code);
}
#else
static int device_of(cuda_location_t location)
{
    return (location.type == CUDA_MEM_LOCATION_TYPE_HOST) ? CUDA_DEVICE_CPU : location.id;
}

cuda_result_t cuMemAdvise_v2(cuda_address_t address, size_t size, cuda_advice_t advice,
                             cuda_location_t location)
{
    struct fake_memory *m;

    BEGIN("cuMemAdvise_v2");
    (void)advice;
    return fake_leave(check_managed(address, size, device_of(location), &m));
}

cuda_result_t cuMemPrefetchAsync_v2(cuda_address_t address, size_t size, cuda_location_t location,
                                    unsigned flags, cuda_stream_t stream)
{
    struct fake_memory *m;
    cuda_result_t code;

    BEGIN("cuMemPrefetchAsync_v2");
    (void)flags;
    code = check_managed(address, size, device_of(location), &m);
    if (code == CUDA_SUCCESS) {
        move(m, device_of(location), stream);
    }
    return fake_leave(code);
}
#endif

cuda_result_t cuMemRangeGetAttribute(void *data, size_t size, cuda_range_attribute_t which,
                                     cuda_address_t address, size_t count)
{
    struct fake_memory *m;
    cuda_result_t code;

    BEGIN("cuMemRangeGetAttribute");
    code = check_managed(address, count, CUDA_DEVICE_CPU, &m);
    if ((size != sizeof(int)) || (which != CUDA_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION)) {
        code = CUDA_ERROR_INVALID_VALUE;
    }
    if (code == CUDA_SUCCESS) {
        memcpy(data, &m->prefetched, sizeof(int));
    }
    return fake_leave(code);
}

/* ---- host memory ---- */

cuda_result_t cuMemHostAlloc(void **address, size_t size, unsigned flags)
{
    struct CUctx_st *context;
    struct fake_memory *m;
    cuda_result_t code;
    void *pages;

    BEGIN("cuMemHostAlloc");
    code = fake_current(&context);
    if ((code != CUDA_SUCCESS) || (size == 0)) {
        return fake_leave((code != CUDA_SUCCESS) ? code : CUDA_ERROR_INVALID_VALUE);
    }
    if (flags != (CUDA_MEMHOSTALLOC_PORTABLE | CUDA_MEMHOSTALLOC_DEVICEMAP)) {
        fake_broken("host memory that is not portable and mapped: flags %u", flags);
    }
    if (fake_lies("null")) {
        *address = NULL;
        return fake_leave(CUDA_SUCCESS);
    }
    pages = fake_map_on_page(fake_whole_pages(size));
    m     = (pages == MAP_FAILED) ? NULL : fake_add(FAKE_HOST, context->device, size);
    if (m == NULL) {
        return fake_leave(CUDA_ERROR_OUT_OF_MEMORY);
    }
    m->base  = (uintptr_t)pages;
    m->bytes = pages;
    *address = pages;
    return fake_leave(CUDA_SUCCESS);
}

static cuda_result_t give_back_host(void *address, enum fake_kind kind, const char *name,
                                    cuda_result_t unknown)
{
    struct CUctx_st *context = NULL;
    struct fake_memory *m    = fake_find((uintptr_t)address);
    cuda_result_t code       = fake_current(&context);

    if ((m == NULL) || (m->base != (uintptr_t)address) || (m->kind != kind)) {
        fake_broken("%s of memory that it did not make", name);
        return unknown;
    }
    if (code == CUDA_ERROR_INVALID_CONTEXT) {
        fake_broken("%s without a context", name);
        return code;
    }
    (void)fake_run_all(NULL);
    code = context->sticky;
    fake_remove(m);
    return code;
}

cuda_result_t cuMemFreeHost(void *address)
{
    BEGIN_RELEASE("cuMemFreeHost");
    return fake_leave(
        give_back_host(address, FAKE_HOST, "cuMemFreeHost", CUDA_ERROR_INVALID_VALUE));
}

cuda_result_t cuMemHostRegister_v2(void *address, size_t size, unsigned flags)
{
    struct CUctx_st *context;
    struct fake_memory *m;
    cuda_result_t code;

    BEGIN("cuMemHostRegister");
    code = fake_current(&context);
    if (code != CUDA_SUCCESS) {
        return fake_leave(code);
    }
    if (fake.attributes[CUDA_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED] == 0) {
        return fake_leave(CUDA_ERROR_NOT_SUPPORTED);
    }
    for (m = fake.memory; m != NULL; m = m->next) {
        if ((m->base < (uintptr_t)address + size) && ((uintptr_t)address < m->base + m->size)) {
            return fake_leave(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED); /* in part, or all */
        }
    }
    if (flags != (CUDA_MEMHOSTREGISTER_PORTABLE | CUDA_MEMHOSTREGISTER_DEVICEMAP)) {
        fake_broken("host pages that are not portable and mapped: flags %u", flags);
    }
    m = fake_add(FAKE_REGISTERED, context->device, size);
    if (m == NULL) {
        return fake_leave(CUDA_ERROR_OUT_OF_MEMORY);
    }
    m->base  = (uintptr_t)address;
    m->bytes = address;
    return fake_leave(CUDA_SUCCESS);
}

cuda_result_t cuMemHostUnregister(void *address)
{
    BEGIN_RELEASE("cuMemHostUnregister");
    return fake_leave(give_back_host(address, FAKE_REGISTERED, "cuMemHostUnregister",
                                     CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED));
}

cuda_result_t cuMemHostGetDevicePointer_v2(cuda_address_t *seen_at, void *address, unsigned flags)
{
    struct CUctx_st *context;
    struct fake_memory *m;
    cuda_result_t code;

    BEGIN("cuMemHostGetDevicePointer");
    code = fake_current(&context);
    m    = fake_find((uintptr_t)address);
    if (code != CUDA_SUCCESS) {
        return fake_leave(code);
    }
    if ((m == NULL) || (flags != 0) || ((m->kind != FAKE_HOST) && (m->kind != FAKE_REGISTERED))) {
        return fake_leave(CUDA_ERROR_INVALID_VALUE);
    }
    *seen_at = (cuda_address_t)(uintptr_t)address + (fake_lies("pointer") ? 1u << 30 : 0u);
    return fake_leave(CUDA_SUCCESS);
}

/* ---- what is known of an address ---- */

static void answer(const struct fake_memory *m, int which, void *to)
{
    bool host = (m != NULL) && ((m->kind == FAKE_HOST) || (m->kind == FAKE_REGISTERED));
    bool sent = (m != NULL) && (m->kind == FAKE_MANAGED) && (m->prefetched < 0);

    switch (which) {
    case CUDA_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)to = (m == NULL) ? 0u : (unsigned)(host || sent ? 1 : 2);
        return;
    case CUDA_POINTER_ATTRIBUTE_IS_MANAGED:
        *(unsigned char *)to = (m != NULL) && (m->kind == FAKE_MANAGED); /* one byte, no more */
        return;
    case CUDA_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)to = (m == NULL) ? -2 : m->device;
        return;
    case CUDA_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *(cuda_address_t *)to = (m == NULL) ? 0 : m->base;
        return;
    case CUDA_POINTER_ATTRIBUTE_RANGE_SIZE:
        *(size_t *)to = (m == NULL) ? 0 : m->size;
        return;
    default:
        fake_broken("pointer attribute %d is not pretended", which);
    }
}

cuda_result_t cuPointerGetAttributes(unsigned count, cuda_pointer_attribute_t *which,
                                     void **answers, cuda_address_t address)
{
    const struct fake_memory *m;
    unsigned i;

    BEGIN("cuPointerGetAttributes");
    m = fake_find((uintptr_t)address);
    for (i = 0; i < count; i++) {
        answer(m, which[i], answers[i]);
    }
    return fake_leave(CUDA_SUCCESS);
}

/* Memory of another kind than cuMemAlloc's cannot have it. */
cuda_result_t cuPointerSetAttribute(const void *value, cuda_pointer_attribute_t which,
                                    cuda_address_t address)
{
    struct fake_memory *m;

    BEGIN("cuPointerSetAttribute");
    m = fake_find((uintptr_t)address);
    if ((which != CUDA_POINTER_ATTRIBUTE_SYNC_MEMOPS) || (m == NULL) || (m->kind != FAKE_DEVICE)) {
        return fake_leave(CUDA_ERROR_INVALID_VALUE);
    }
    m->synced = *(const unsigned *)value != 0;
    fake_late_finish();
    return fake_leave(CUDA_SUCCESS);
}
