/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c: allocations of every kind, what is known of an address, and the driver's own handles
 * for other processes. */

#include "fake.h"
#include <sys/mman.h>

static bool lacks(int attribute)
{
    return fake_attribute(attribute) <= 0;
}

/* ---- device and managed memory ---- */

#ifndef FAKE_CUDA_BROKEN
cuda_result_t cuMemAlloc_v2(cuda_address_t *address, size_t size)
{
    CALL("cuMemAlloc", fake_alloc(FAKE_DEVICE, size, PROT_NONE, address));
}
#endif

cuda_result_t cuMemAllocManaged(cuda_address_t *address, size_t size, unsigned flags)
{
    int protection;
    int device;
    cuda_result_t code;

    BEGIN("cuMemAllocManaged");
    code = fake_check_size(size, false, &device);
    if ((code != CUDA_SUCCESS) || (flags != CUDA_MEM_ATTACH_GLOBAL)) {
        return fake_leave((code != CUDA_SUCCESS) ? code : CUDA_ERROR_INVALID_VALUE);
    }
    if (lacks(CUDA_DEVICE_ATTRIBUTE_MANAGED_MEMORY) || fake_lies("managed")) {
        return fake_leave(CUDA_ERROR_NOT_SUPPORTED);
    }
    protection = gpu.managed_closed ? PROT_NONE : PROT_READ | PROT_WRITE;
    return fake_leave(fake_alloc(FAKE_MANAGED, size, protection, address));
}

cuda_result_t cuMemFree_v2(cuda_address_t address)
{
    CALL_RELEASE("cuMemFree", fake_give_back(address, 1u << FAKE_DEVICE | 1u << FAKE_MANAGED, false,
                                             "cuMemFree", CUDA_ERROR_INVALID_VALUE));
}

/* ---- advice and prefetching ---- */

static bool must_stay(int device)
{
    return (device >= 0) && lacks(CUDA_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS);
}

static cuda_result_t advise(cuda_address_t address, size_t size, int device)
{
    struct fake_memory *m;
    cuda_result_t code = fake_managed(address, size, device, &m);

    return ((code == CUDA_SUCCESS) && must_stay(device)) ? CUDA_ERROR_INVALID_DEVICE : code;
}

static cuda_result_t prefetch(cuda_address_t address, size_t size, int device, cuda_stream_t stream)
{
    cuda_result_t code = advise(address, size, device);

    return (code == CUDA_SUCCESS) ? fake_prefetch(address, size, device, stream) : code;
}

#ifdef FAKE_CUDA_OLD
cuda_result_t cuMemAdvise(cuda_address_t address, size_t size, cuda_advice_t advice,
                          cuda_device_t device)
{
    CALL("cuMemAdvise", advise(address, size, device));
}

cuda_result_t cuMemPrefetchAsync(cuda_address_t address, size_t size, cuda_device_t device,
                                 cuda_stream_t stream)
{
    CALL("cuMemPrefetchAsync", prefetch(address, size, device, fake_stream_of(stream)));
}
#else
static int device_of(cuda_location_t location)
{
    return (location.type == CUDA_MEM_LOCATION_TYPE_HOST) ? CUDA_DEVICE_CPU : location.id;
}

cuda_result_t cuMemAdvise_v2(cuda_address_t address, size_t size, cuda_advice_t advice,
                             cuda_location_t location)
{
    CALL("cuMemAdvise_v2", advise(address, size, device_of(location)));
}

cuda_result_t cuMemPrefetchAsync_v2(cuda_address_t address, size_t size, cuda_location_t location,
                                    unsigned flags, cuda_stream_t stream)
{
    CALL("cuMemPrefetchAsync_v2",
         prefetch(address, size, device_of(location), fake_stream_of(stream)));
}
#endif

cuda_result_t cuMemRangeGetAttribute(void *data, size_t size, cuda_range_attribute_t which,
                                     cuda_address_t address, size_t count)
{
    CALL("cuMemRangeGetAttribute", fake_range_attribute(data, size, which, address, count));
}

/* ---- host memory ---- */

cuda_result_t cuMemHostAlloc(void **address, size_t size, unsigned flags)
{
    BEGIN("cuMemHostAlloc");
    if (flags != (CUDA_MEMHOSTALLOC_PORTABLE | CUDA_MEMHOSTALLOC_DEVICEMAP)) {
        fake_broken("host memory that is not portable and mapped: flags %u", flags);
    }
    return fake_leave(fake_alloc(FAKE_HOST, size, PROT_READ | PROT_WRITE, address));
}

cuda_result_t cuMemFreeHost(void *address)
{
    CALL_RELEASE("cuMemFreeHost", fake_give_back((uintptr_t)address, 1u << FAKE_HOST, false,
                                                 "cuMemFreeHost", CUDA_ERROR_INVALID_VALUE));
}

cuda_result_t cuMemHostRegister_v2(void *address, size_t size, unsigned flags)
{
    int device;
    cuda_result_t code;

    BEGIN("cuMemHostRegister");
    code = fake_usable(&device);
    if (code != CUDA_SUCCESS) {
        return fake_leave(code);
    }
    if (lacks(CUDA_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED)) {
        return fake_leave(CUDA_ERROR_NOT_SUPPORTED);
    }
    return fake_leave(fake_is_known(address, size) ? CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED
                                                   : fake_register(address, size, flags));
}

cuda_result_t cuMemHostUnregister(void *address)
{
    CALL_RELEASE("cuMemHostUnregister",
                 fake_give_back((uintptr_t)address, 1u << FAKE_REGISTERED, false,
                                "cuMemHostUnregister", CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED));
}

cuda_result_t cuMemHostGetDevicePointer_v2(cuda_address_t *seen_at, void *address, unsigned flags)
{
    CALL("cuMemHostGetDevicePointer", fake_host_pointer(seen_at, address, flags));
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
    unsigned i;

    BEGIN("cuPointerGetAttributes");
    for (i = 0; i < count; i++) {
        answer(fake_find(address), which[i], answers[i]);
    }
    return fake_leave(CUDA_SUCCESS);
}

/* Memory of another kind than cuMemAlloc's cannot have it. */
cuda_result_t cuPointerSetAttribute(const void *value, cuda_pointer_attribute_t which,
                                    cuda_address_t address)
{
    struct fake_memory *m;

    BEGIN("cuPointerSetAttribute");
    m = fake_find(address);
    if ((which != CUDA_POINTER_ATTRIBUTE_SYNC_MEMOPS) || (m == NULL) || (m->kind != FAKE_DEVICE)) {
        return fake_leave(CUDA_ERROR_INVALID_VALUE);
    }
    m->synced = *(const unsigned *)value != 0;
    fake_late_finish();
    return fake_leave(CUDA_SUCCESS);
}

/* ---- the driver's own handles ---- */

cuda_result_t cuIpcGetMemHandle(cuda_ipc_handle_t *handle, cuda_address_t address)
{
    CALL("cuIpcGetMemHandle", fake_ticket_make(handle, address));
}

cuda_result_t cuIpcOpenMemHandle_v2(cuda_address_t *address, cuda_ipc_handle_t handle,
                                    unsigned flags)
{
    CALL("cuIpcOpenMemHandle",
         fake_ticket_open(&handle, flags == CUDA_IPC_MEM_LAZY_ENABLE_PEER_ACCESS, address));
}

cuda_result_t cuIpcCloseMemHandle(cuda_address_t address)
{
    struct fake_memory *m;

    BEGIN_RELEASE("cuIpcCloseMemHandle");
    m = fake_find(address);
    if ((m == NULL) || !m->opened || (m->base != address)) {
        fake_broken("cuIpcCloseMemHandle of what was not opened");
        return fake_leave(CUDA_ERROR_INVALID_VALUE);
    }
    fake_late_finish();
    fake_remove(m);
    return fake_leave(CUDA_SUCCESS);
}
