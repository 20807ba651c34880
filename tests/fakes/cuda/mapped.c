/* SPDX-License-Identifier: BSD-3-Clause */
/* mapped.c: physical memory and address ranges apart, and how memory is given to other processes. A
 * handle is the number of a memfd, plus one so that it is never 0. */

#include "fake.h"
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef FAKE_CUDA_OLD

enum { GRANULE = 2 << 20 };

static size_t size_of(int fd)
{
    struct stat about;

    return (fstat(fd, &about) == 0) ? (size_t)about.st_size : 0;
}

cuda_result_t cuMemGetAllocationGranularity(size_t *granularity, const cuda_properties_t *p,
                                            cuda_granularity_t option)
{
    BEGIN("cuMemGetAllocationGranularity");
    *granularity = GRANULE;
    return fake_leave(CUDA_SUCCESS);
}

cuda_result_t cuMemCreate(cuda_handle_t *handle, size_t size, const cuda_properties_t *p,
                          unsigned long long flags)
{
    int fd;

    BEGIN("cuMemCreate");
    if ((size == 0) || (size % GRANULE != 0) || (flags != 0) ||
        (p->type != CUDA_MEM_ALLOCATION_TYPE_PINNED) ||
        (p->location.type != CUDA_MEM_LOCATION_TYPE_DEVICE) || !fake_is_device(p->location.id)) {
        return fake_leave(CUDA_ERROR_INVALID_VALUE);
    }
    if ((fake_lies("vmm") && (p->requested_handle_types != 0)) ||
        (fake_lies("fabric") && ((p->requested_handle_types & CUDA_MEM_HANDLE_TYPE_FABRIC) != 0))) {
        return fake_leave(CUDA_ERROR_NOT_PERMITTED);
    }
    if (size > gpu.capacity - gpu.used[p->location.id]) {
        return fake_leave(CUDA_ERROR_OUT_OF_MEMORY);
    }
    fd = memfd_create("pretended-gpu", MFD_CLOEXEC);
    if ((fd < 0) || (ftruncate(fd, (off_t)size) != 0)) {
        return fake_leave(CUDA_ERROR_OUT_OF_MEMORY);
    }
    gpu.objects++;
    *handle = (cuda_handle_t)fd + 1;
    return fake_leave(CUDA_SUCCESS);
}

cuda_result_t cuMemRelease(cuda_handle_t handle)
{
    BEGIN_RELEASE("cuMemRelease");
    if ((handle == 0) || (close((int)handle - 1) != 0)) {
        fake_broken("cuMemRelease of no handle");
        return fake_leave(CUDA_ERROR_INVALID_VALUE);
    }
    gpu.objects--;
    return fake_leave(CUDA_SUCCESS);
}

cuda_result_t cuMemAddressReserve(cuda_address_t *address, size_t size, size_t align,
                                  cuda_address_t wanted, unsigned long long flags)
{
    void *base;

    BEGIN("cuMemAddressReserve");
    if ((size == 0) || (size % GRANULE != 0) || (flags != 0) || (wanted != 0)) {
        return fake_leave(CUDA_ERROR_INVALID_VALUE);
    }
    base = fake_reserve(size, (align == 0) ? GRANULE : align);
    if (base == NULL) {
        return fake_leave(CUDA_ERROR_OUT_OF_MEMORY);
    }
    gpu.objects++;
    *address = (uintptr_t)base;
    return fake_leave(CUDA_SUCCESS);
}

cuda_result_t cuMemAddressFree(cuda_address_t address, size_t size)
{
    BEGIN_RELEASE("cuMemAddressFree");
    if (fake_find(address) != NULL) {
        fake_broken("cuMemAddressFree of a range that is mapped");
        return fake_leave(CUDA_ERROR_INVALID_VALUE);
    }
    munmap((void *)(uintptr_t)address, size);
    gpu.objects--;
    return fake_leave(CUDA_SUCCESS);
}

cuda_result_t cuMemMap(cuda_address_t address, size_t size, size_t offset, cuda_handle_t handle,
                       unsigned long long flags)
{
    struct fake_memory *m;

    BEGIN("cuMemMap");
    if ((handle == 0) || (offset != 0) || (flags != 0) || (size > size_of((int)handle - 1))) {
        return fake_leave(CUDA_ERROR_INVALID_VALUE);
    }
    m = fake_add(FAKE_MAPPED, 0, size);
    if (!fake_map_views(m, (int)handle - 1, (void *)(uintptr_t)address, PROT_NONE)) {
        return fake_leave(CUDA_ERROR_OUT_OF_MEMORY);
    }
    return fake_leave(CUDA_SUCCESS);
}

cuda_result_t cuMemSetAccess(cuda_address_t address, size_t size, const cuda_access_t *access,
                             size_t count)
{
    struct fake_memory *m;
    size_t i;

    BEGIN("cuMemSetAccess");
    m = fake_find(address);
    if ((m == NULL) || (m->kind != FAKE_MAPPED) || (m->size != size) || (count == 0)) {
        return fake_leave(CUDA_ERROR_INVALID_VALUE);
    }
    m->device = access[0].location.id;
    for (i = 0; i < count; i++) {
        if (access[i].flags == CUDA_MEM_ACCESS_FLAGS_PROT_READWRITE) {
            m->access |= fake_bit(access[i].location.id);
        }
    }
    return fake_leave(CUDA_SUCCESS);
}

cuda_result_t cuMemUnmap(cuda_address_t address, size_t size)
{
    struct fake_memory *m;

    BEGIN_RELEASE("cuMemUnmap");
    m = fake_find(address);
    if ((m == NULL) || (m->kind != FAKE_MAPPED) || (m->size != size)) {
        fake_broken("cuMemUnmap of what is not mapped");
        return fake_leave(CUDA_ERROR_INVALID_VALUE);
    }
    if (fake_busy()) {
        fake_broken("cuMemUnmap while work is going on");
    }
    /* The range stays, empty. */
    mmap((void *)m->base, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    fake_late_finish();
    fake_remove(m);
    return fake_leave(CUDA_SUCCESS);
}

/* What a fabric handle holds here: the driver finds the memory by it, in any process. */
struct fabric {
    pid_t pid;
    int fd;
};

cuda_result_t cuMemExportToShareableHandle(void *to, cuda_handle_t handle, cuda_handle_type_t type,
                                           unsigned long long flags)
{
    struct fabric fabric = {getpid(), (int)handle - 1};

    usleep(200); /* another thread that enters meanwhile finds it closed */
    BEGIN("cuMemExportToShareableHandle");
    if (flags != 0) {
        return fake_leave(CUDA_ERROR_INVALID_VALUE);
    }
    if (type == CUDA_MEM_HANDLE_TYPE_FABRIC) {
        memset(to, 0, sizeof(cuda_ipc_handle_t));
        memcpy(to, &fabric, sizeof(fabric));
        return fake_leave(CUDA_SUCCESS);
    }
    if (type != CUDA_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
        return fake_leave(CUDA_ERROR_NOT_SUPPORTED);
    }
    *(int *)to = fcntl((int)handle - 1, F_DUPFD_CLOEXEC, 0);
    return fake_leave(CUDA_SUCCESS);
}

cuda_result_t cuMemImportFromShareableHandle(cuda_handle_t *handle, void *from,
                                             cuda_handle_type_t type)
{
    struct fabric fabric;
    int fd;

    BEGIN("cuMemImportFromShareableHandle");
    if (type == CUDA_MEM_HANDLE_TYPE_FABRIC) {
        if (fake_lies("imex")) {
            return fake_leave(CUDA_ERROR_NOT_PERMITTED);
        }
        memcpy(&fabric, from, sizeof(fabric));
        fd = fake_fetch(fabric.pid, fabric.fd);
    } else if (type == CUDA_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) {
        fd = fcntl((int)(uintptr_t)from, F_DUPFD_CLOEXEC, 0); /* the caller's stays the caller's */
    } else {
        return fake_leave(CUDA_ERROR_NOT_SUPPORTED);
    }
    if (fd < 0) {
        return fake_leave(CUDA_ERROR_INVALID_VALUE);
    }
    gpu.objects++;
    *handle = (cuda_handle_t)fd + 1;
    return fake_leave(CUDA_SUCCESS);
}

cuda_result_t cuMemGetHandleForAddressRange(void *handle, cuda_address_t address, size_t size,
                                            cuda_range_handle_type_t type, unsigned long long flags)
{
    struct fake_memory *m;

    BEGIN("cuMemGetHandleForAddressRange");
    m = fake_find(address);
    if (flags == CUDA_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE) {
        return fake_leave(CUDA_ERROR_NOT_SUPPORTED);
    }
    if ((m == NULL) || (m->fd < 0) || (address % 4096 != 0) || (size % 4096 != 0) ||
        (size > m->mapped - (address - m->base)) || (type != 1) || (flags != 0)) {
        return fake_leave(CUDA_ERROR_INVALID_VALUE);
    }
    *(int *)handle = fcntl(m->fd, F_DUPFD_CLOEXEC, 0);
    return fake_leave(CUDA_SUCCESS);
}

#endif /* FAKE_CUDA_OLD */
