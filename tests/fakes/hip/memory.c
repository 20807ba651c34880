/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c: allocations of every kind, what is known of an address, and other processes. */

#include "fake.h"
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#ifdef FAKE_HIP_OLD
enum { IPC_LAZY = HIP_IPC_LAZY_5 };
enum { TYPE_HOST = HIP_TYPE_HOST_5, TYPE_DEVICE = HIP_TYPE_DEVICE_5, TYPE_MANAGED = 0 };
#else
enum { IPC_LAZY = HIP_IPC_LAZY_6 };
enum { TYPE_HOST = HIP_TYPE_HOST_6, TYPE_DEVICE = HIP_TYPE_DEVICE_6, TYPE_MANAGED = 3 };
#endif

/* ---- device and managed memory ---- */

#ifndef FAKE_HIP_BROKEN
static hip_result_t take_coarse(void **address, size_t size)
{
    hip_result_t code = fake_alloc(FAKE_DEVICE, size, PROT_NONE, address);

    if ((code == HIP_SUCCESS) && (*address != NULL)) {
        fake_find((uintptr_t)*address)->coarse = true;
    }
    return code;
}

hip_result_t hipMalloc(void **address, size_t size)
{
    CALL("hipMalloc", take_coarse(address, size));
}
#endif

hip_result_t hipExtMallocWithFlags(void **address, size_t size, unsigned flags)
{
    bool large_bar;
    int device;
    hip_result_t code;

    BEGIN("hipExtMallocWithFlags");
    large_bar = fake_attribute(HIP_ATTRIBUTE_IS_LARGE_BAR) > 0;
    code      = fake_check_size(size, true, &device);
    if ((code == HIP_SUCCESS) && ((flags != HIP_DEVICE_MALLOC_FINE_GRAINED) || fake_lies("fine"))) {
        code = HIP_ERROR_INVALID_VALUE;
    }
    if (code == HIP_SUCCESS) {
        code =
            fake_alloc(FAKE_DEVICE, size, large_bar ? PROT_READ | PROT_WRITE : PROT_NONE, address);
    }
    return fake_leave(code);
}

hip_result_t hipMallocManaged(void **address, size_t size, unsigned flags)
{
    int device;
    hip_result_t code;

    BEGIN("hipMallocManaged");
    code = fake_check_size(size, false, &device);
    if ((code != HIP_SUCCESS) || (flags != HIP_MEM_ATTACH_GLOBAL)) {
        return fake_leave((code != HIP_SUCCESS) ? code : HIP_ERROR_INVALID_VALUE);
    }
    /* The real one returns host memory then, without a word. */
    if (fake_attribute(HIP_ATTRIBUTE_MANAGED_MEMORY) <= 0) {
        fake_broken("managed memory on a device that has none");
    }
    if (fake_lies("managed")) {
        return fake_leave(HIP_ERROR_OUT_OF_MEMORY);
    }
    return fake_leave(fake_alloc(FAKE_MANAGED, size, PROT_READ | PROT_WRITE, address));
}

hip_result_t hipFree(void *address)
{
    CALL_RELEASE("hipFree",
                 fake_give_back((uintptr_t)address, 1u << FAKE_DEVICE | 1u << FAKE_MANAGED, false,
                                "hipFree", HIP_ERROR_INVALID_VALUE));
}

static hip_result_t advise(const void *address, size_t size, int advice, int device)
{
    struct fake_memory *m;
    hip_result_t code = fake_managed((uintptr_t)address, size, device, &m);

    if ((code == HIP_SUCCESS) && (advice == HIP_ADVISE_SET_COARSE_GRAIN)) {
        m->coarse = true;
    }
    return code;
}

hip_result_t hipMemAdvise(const void *address, size_t size, int advice, int device)
{
    CALL("hipMemAdvise", advise(address, size, advice, device));
}

hip_result_t hipMemPrefetchAsync(const void *address, size_t size, int device, hip_stream_t stream)
{
    CALL("hipMemPrefetchAsync",
         fake_prefetch((uintptr_t)address, size, device, fake_stream_of(stream)));
}

hip_result_t hipMemRangeGetAttribute(void *data, size_t size, int which, const void *address,
                                     size_t count)
{
    CALL("hipMemRangeGetAttribute",
         fake_range_attribute(data, size, which, (uintptr_t)address, count));
}

/* ---- host memory ---- */

hip_result_t hipHostMalloc(void **address, size_t size, unsigned flags)
{
    bool loose;

    BEGIN("hipHostMalloc");
    loose = fake_lies("coherent");
    if (loose && ((flags & HIP_HOST_MALLOC_COHERENT) != 0)) {
        return fake_leave(HIP_ERROR_NOT_SUPPORTED);
    }
    if ((flags | (loose ? HIP_HOST_MALLOC_COHERENT : 0)) !=
        (HIP_HOST_MALLOC_PORTABLE | HIP_HOST_MALLOC_MAPPED | HIP_HOST_MALLOC_COHERENT)) {
        fake_broken("host memory that is not portable, mapped and coherent: flags %#x", flags);
    }
    return fake_leave(fake_alloc(FAKE_HOST, size, PROT_READ | PROT_WRITE, address));
}

hip_result_t hipHostFree(void *address)
{
    CALL_RELEASE("hipHostFree", fake_give_back((uintptr_t)address, 1u << FAKE_HOST, false,
                                               "hipHostFree", HIP_ERROR_INVALID_VALUE));
}

hip_result_t hipHostRegister(void *address, size_t size, unsigned flags)
{
    BEGIN("hipHostRegister");
    /* Some versions take it, and forget both when the first goes. */
    if (fake_is_known(address, size)) {
        fake_broken("pages are registered twice");
    }
    return fake_leave(fake_register(address, size, flags));
}

hip_result_t hipHostUnregister(void *address)
{
    CALL_RELEASE("hipHostUnregister",
                 fake_give_back((uintptr_t)address, 1u << FAKE_REGISTERED, false,
                                "hipHostUnregister", HIP_ERROR_HOST_MEMORY_NOT_REGISTERED));
}

hip_result_t hipHostGetDevicePointer(void **seen_at, void *address, unsigned flags)
{
    CALL("hipHostGetDevicePointer", fake_host_pointer(seen_at, address, flags));
}

/* ---- what is known of an address ---- */

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

hip_result_t hipIpcGetMemHandle(struct hip_ipc_handle *handle, void *address)
{
    CALL("hipIpcGetMemHandle", fake_ticket_make(handle, (uintptr_t)address));
}

hip_result_t hipIpcOpenMemHandle(void **address, struct hip_ipc_handle handle, unsigned flags)
{
    CALL("hipIpcOpenMemHandle", fake_ticket_open(&handle, flags == IPC_LAZY, address));
}

hip_result_t hipIpcCloseMemHandle(void *address)
{
    CALL_RELEASE("hipIpcCloseMemHandle",
                 fake_give_back((uintptr_t)address, 1u << FAKE_DEVICE, true, "hipIpcCloseMemHandle",
                                HIP_ERROR_INVALID_VALUE));
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
