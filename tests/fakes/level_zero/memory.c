/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c: contexts, allocations of every kind, what is known of an address, who may go there, and
 * what is handed to others. */

#include "fake.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = FAKE_PAGE, MEMMAP_TYPE = 0x20037 };

struct memmap { /* ze_external_memmap_sysmem_ext_desc_t, newer than the header */
    ze_structure_type_t stype;
    const void *pNext;
    void *pages;
    uint64_t size;
};

static bool may(ze_device_handle_t device, const struct fake_memory *m)
{
    if (m->driver != device->driver) {
        return false;
    }
    if (m->kind == FAKE_DEVICE) {
        return fake_peers(device, fake_device(m->device));
    }
    if ((m->kind == FAKE_MANAGED) && (m->device != device->number)) {
        return (fake.access[FAKE_CROSS_ACCESS] & ZE_MEMORY_ACCESS_CAP_FLAG_RW) != 0;
    }
    return true;
}

void *fake_reach(ze_device_handle_t device, uintptr_t address, size_t size)
{
    struct fake_memory *m = fake_find(address);
    bool all              = (fake.access[FAKE_SYSTEM_ACCESS] & ZE_MEMORY_ACCESS_CAP_FLAG_RW) != 0;

    if (m == NULL) {
        return all ? (void *)address : NULL;
    }
    return may(device, m) ? fake_at(m, address, size) : NULL;
}

/* A copy engine goes to all memory of its driver. */
void *fake_any(ze_device_handle_t device, uintptr_t address, size_t size)
{
    struct fake_memory *m = fake_find(address);

    if (m == NULL) {
        return (void *)address;
    }
    return ((m->driver == device->driver) || (m->kind == FAKE_REGISTERED))
               ? fake_at(m, address, size)
               : NULL;
}

void fake_shared_open(bool open)
{
    if ((fake.access[FAKE_SINGLE_ACCESS] & ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT) == 0) {
        fake_managed_open(open);
    }
}

/* ---- contexts ---- */

void *fake_fresh(size_t size, ze_context_handle_t context)
{
    if (context != NULL) {
        context->children++;
    }
    gpu.objects++;
    return calloc(1, size);
}

ze_result_t fake_gone(void *object, ze_context_handle_t context)
{
    if (context != NULL) {
        context->children--;
    }
    gpu.objects--;
    free(object);
    return fake_leave(ZE_RESULT_SUCCESS);
}

static ze_result_t context_create(ze_driver_handle_t driver, const ze_context_desc_t *desc,
                                  ze_context_handle_t *context)
{
    BEGIN("zeContextCreate");
    fake_check_type(desc->stype, ZE_STRUCTURE_TYPE_CONTEXT_DESC, "zeContextCreate");
    *context           = fake_fresh(sizeof(**context), NULL);
    (*context)->driver = driver;
    return fake_leave(ZE_RESULT_SUCCESS);
}

static ze_result_t context_destroy(ze_context_handle_t context)
{
    BEGIN_RELEASE("zeContextDestroy");
    if (context->children != 0) {
        fake_broken("a context is destroyed that %d objects are of", context->children);
    }
    return fake_gone(context, NULL);
}

/* ---- allocating ---- */

static void adopt(struct fake_memory *m, ze_context_handle_t context)
{
    m->driver  = context->driver;
    m->context = context;
    context->children++;
}

static ze_result_t create(ze_context_handle_t context, enum fake_kind kind,
                          ze_device_handle_t device, size_t size, size_t align, void **address)
{
    bool closed    = (kind == FAKE_MANAGED) && gpu.managed_closed;
    int protection = ((kind == FAKE_DEVICE) || closed) ? PROT_NONE : PROT_READ | PROT_WRITE;
    struct fake_memory *m;

    align = ((align < PAGE) || fake_lies("alignment")) ? PAGE : align;
    m     = fake_create(kind, (device == NULL) ? -1 : device->number, size, align, protection);
    if ((m == NULL) || ((kind != FAKE_DEVICE) && !fake_spoil(m))) {
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY; /* of the machine: let it show */
    }
    adopt(m, context);
    m->base |= (kind == FAKE_DEVICE) ? fake.high : 0;
    *address = fake_lies("null") ? NULL : (void *)m->base;
    return ZE_RESULT_SUCCESS;
}

/* What is chained to a descriptor. */
struct chain {
    bool relaxed;
    bool exports;
    const struct memmap *memmap;
};

static ze_result_t read_chain(const void *next, struct chain *c)
{
    memset(c, 0, sizeof(*c));
    while (next != NULL) {
        const ze_base_desc_t *d = next;
        if (d->stype == ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC) {
            const ze_relaxed_allocation_limits_exp_desc_t *relaxed = next;
            c->relaxed                                             = !fake_lacks("relaxed") &&
                         (relaxed->flags == ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE);
        } else if (d->stype == ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC) {
            c->exports = true;
        } else if ((uint32_t)d->stype == MEMMAP_TYPE) {
            c->memmap = next;
        } else {
            fake_broken("structure type %#x is chained to an allocation", (unsigned)d->stype);
        }
        next = d->pNext;
    }
    if (c->exports && fake_lacks("dmabuf")) {
        return ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
    }
    if ((c->memmap != NULL) && (strcmp(fake.import, "memmap") != 0)) {
        fake_broken("host pages for a driver that does not take any");
    }
    return (c->exports && fake_lies("dmabuf")) ? ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION
                                               : ZE_RESULT_SUCCESS;
}

static ze_result_t check_size(size_t size, size_t align, const struct chain *c)
{
    if (size == 0) {
        return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
    }
    if ((size > fake.limit) && !c->relaxed) {
        return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
    }
    if (((align & (align - 1)) != 0) || (fake_lacks("alignment") && (align > PAGE))) {
        return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
    }
    return ZE_RESULT_SUCCESS;
}

static ze_result_t alloc_device(ze_context_handle_t context, const ze_device_mem_alloc_desc_t *desc,
                                size_t size, size_t align, ze_device_handle_t device,
                                void **address)
{
    struct chain c;
    ze_result_t code;

    BEGIN("zeMemAllocDevice");
    fake_check_type(desc->stype, ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, "zeMemAllocDevice");
    if (device->driver != context->driver) {
        fake_broken("memory of one driver's device in another's context");
    }
    code = read_chain(desc->pNext, &c);
    if (code == ZE_RESULT_SUCCESS) {
        code = check_size(size, align, &c);
    }
    if ((code == ZE_RESULT_SUCCESS) &&
        (fake_whole_pages(size) > gpu.capacity - gpu.used[device->number])) {
        code = ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    if (code != ZE_RESULT_SUCCESS) {
        return fake_leave(code);
    }
    code = create(context, FAKE_DEVICE, device, size, align, address);
    if (code == ZE_RESULT_SUCCESS) {
        gpu.memory->exports = c.exports;
    }
    return fake_leave(code);
}

/* Pages that are there already. */
static ze_result_t alloc_over(ze_context_handle_t context, const struct memmap *memmap, size_t size,
                              void **address)
{
    struct fake_memory *m;

    if ((memmap->size != size) || ((uintptr_t)memmap->pages % PAGE != 0) || (size % PAGE != 0) ||
        (fake_find((uintptr_t)memmap->pages) != NULL)) {
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    m = fake_add_pages(FAKE_REGISTERED, -1, memmap->pages, size);
    adopt(m, context);
    m->base += fake_lies("pointer") ? 1u << 30 : 0u;
    *address = (void *)m->base;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t alloc_host(ze_context_handle_t context, const ze_host_mem_alloc_desc_t *desc,
                              size_t size, size_t align, void **address)
{
    struct chain c;
    ze_result_t code;

    BEGIN("zeMemAllocHost");
    fake_check_type(desc->stype, ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, "zeMemAllocHost");
    code = read_chain(desc->pNext, &c);
    if (code == ZE_RESULT_SUCCESS) {
        code = check_size(size, align, &c);
    }
    if ((code == ZE_RESULT_SUCCESS) && (c.memmap != NULL)) {
        return fake_leave(alloc_over(context, c.memmap, size, address));
    }
    return fake_leave((code == ZE_RESULT_SUCCESS)
                          ? create(context, FAKE_HOST, NULL, size, align, address)
                          : code);
}

static ze_result_t alloc_shared(ze_context_handle_t context, const ze_device_mem_alloc_desc_t *desc,
                                const ze_host_mem_alloc_desc_t *host, size_t size, size_t align,
                                ze_device_handle_t device, void **address)
{
    struct chain c;
    ze_result_t code;

    BEGIN("zeMemAllocShared");
    fake_check_type(desc->stype, ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, "zeMemAllocShared");
    fake_check_type(host->stype, ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, "zeMemAllocShared");
    code = read_chain(desc->pNext, &c);
    if (code == ZE_RESULT_SUCCESS) {
        code = check_size(size, align, &c);
    }
    if ((fake.access[FAKE_SINGLE_ACCESS] & ZE_MEMORY_ACCESS_CAP_FLAG_RW) == 0) {
        code = ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    }
    return fake_leave((code == ZE_RESULT_SUCCESS)
                          ? create(context, FAKE_MANAGED, device, size, align, address)
                          : code);
}

/* An exported descriptor is the driver's: closing it takes it from others, and the
 * driver then closes a stranger's. */
static void drop_descriptor(const struct fake_memory *m, int fd)
{
    struct stat own;
    struct stat found;

    if (fd < 0) {
        return;
    }
    if ((fstat(m->fd, &own) != 0) || (fstat(fd, &found) != 0) || (own.st_ino != found.st_ino)) {
        fake_broken("a descriptor of the driver's has been closed");
        return;
    }
    close(fd);
}

static void drop_memory(struct fake_memory *m)
{
    if (fake_is_used(m)) {
        fake_broken("memory is given back that work still waits to use");
    }
    drop_descriptor(m, m->shared_fd);
    drop_descriptor(m, m->export_fd);
    if (m->context != NULL) {
        ((ze_context_handle_t)m->context)->children--;
    }
    fake_remove(m);
}

static ze_result_t mem_free(ze_context_handle_t context, void *address)
{
    struct fake_memory *m;

    BEGIN_RELEASE("zeMemFree");
    m = fake_find((uintptr_t)address);
    if ((m == NULL) || (m->base != (uintptr_t)address) || (m->context != context) || m->opened) {
        fake_broken("zeMemFree of what was not allocated in that context");
        return fake_leave(ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
    drop_memory(m);
    return fake_leave(ZE_RESULT_SUCCESS);
}

/* ---- what is known of an address ---- */

static ze_result_t mem_properties(ze_context_handle_t context, const void *address,
                                  ze_memory_allocation_properties_t *p, ze_device_handle_t *device)
{
    static const ze_memory_type_t types[] = {
        [FAKE_DEVICE]     = ZE_MEMORY_TYPE_DEVICE,
        [FAKE_HOST]       = ZE_MEMORY_TYPE_HOST,
        [FAKE_MANAGED]    = ZE_MEMORY_TYPE_SHARED,
        [FAKE_REGISTERED] = (ze_memory_type_t)4,
    };
    struct fake_memory *m;
    bool known;

    BEGIN("zeMemGetAllocProperties");
    fake_check_type(p->stype, ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES,
                    "zeMemGetAllocProperties");
    m           = fake_find((uintptr_t)address);
    known       = (m != NULL) && (m->driver == context->driver) && (m->context != NULL);
    p->type     = known ? types[m->kind] : ZE_MEMORY_TYPE_UNKNOWN;
    p->id       = 1;
    p->pageSize = PAGE;
    if (device != NULL) {
        *device = known ? fake_device(m->device) : NULL;
    }
    if (p->pNext != NULL) {
        ze_external_memory_export_fd_t *fd = p->pNext;
        fake_check_type(fd->stype, ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD,
                        "zeMemGetAllocProperties");
        if (!known || !m->exports || (fd->flags != ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF)) {
            return fake_leave(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION);
        }
        if (m->export_fd < 0) {
            m->export_fd = dup(m->fd);
        }
        fd->fd = m->export_fd;
    }
    return fake_leave(ZE_RESULT_SUCCESS);
}

static ze_result_t mem_range(ze_context_handle_t context, const void *address, void **base,
                             size_t *size)
{
    struct fake_memory *m;

    BEGIN("zeMemGetAddressRange");
    m = fake_find((uintptr_t)address);
    if ((m == NULL) || (m->driver != context->driver)) {
        return fake_leave(ZE_RESULT_ERROR_UNKNOWN);
    }
    *base = (void *)m->base;
    *size = m->size;
    return fake_leave(ZE_RESULT_SUCCESS);
}

/* ---- other processes ---- */

/* As Intel's: the descriptor, an offset, and in newer drivers the process. */
struct handle {
    uint64_t fd;
    uint64_t offset;
    uint32_t process;
    uint32_t fd_again;
    uint64_t size;
};

/* The descriptor that a handle leads to, as one of this process; -1: none. */
static int follow_handle(const struct handle *h)
{
    int process;
    int fd;

    if (h->process == 0) {
        return dup((int)h->fd);
    }
    if (h->fd_again != h->fd) {
        fake_broken("another descriptor is in a handle that names its process");
    }
    process = (int)syscall(SYS_pidfd_open, h->process, 0u);
    fd      = (process < 0) ? -1 : (int)syscall(SYS_pidfd_getfd, process, (int)h->fd, 0u);
    if (process >= 0) {
        close(process);
    }
    return fd;
}

static ze_result_t ipc_get(ze_context_handle_t context, const void *address,
                           ze_ipc_mem_handle_t *handle)
{
    struct fake_memory *m;
    struct handle h;

    BEGIN("zeMemGetIpcHandle");
    m = fake_find((uintptr_t)address);
    if (fake_lacks("ipc") || (m == NULL) || (m->context != context) || (m->kind != FAKE_DEVICE) ||
        (m->base != (uintptr_t)address)) {
        return fake_leave(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
    }
    if (m->shared_fd < 0) {
        m->shared_fd = dup(m->fd);
    }
    h = (struct handle){.fd = (uint64_t)m->shared_fd, .size = m->size};
    if (strcmp(fake.ipc, "opaque") == 0) {
        h.process  = (uint32_t)getpid();
        h.fd_again = (uint32_t)m->shared_fd;
    }
    memset(handle, 0, sizeof(*handle));
    memcpy(handle->data, &h, sizeof(h));
    return fake_leave(ZE_RESULT_SUCCESS);
}

static ze_result_t ipc_open(ze_context_handle_t context, ze_device_handle_t device,
                            ze_ipc_mem_handle_t handle, ze_ipc_memory_flags_t flags, void **address)
{
    struct fake_memory *m;
    struct handle h;
    int fd;

    BEGIN("zeMemOpenIpcHandle");
    memcpy(&h, handle.data, sizeof(h));
    fd = follow_handle(&h);
    if ((fd < 0) || (lseek(fd, 0, SEEK_END) != (off_t)fake_whole_pages(h.size))) {
        if (fd >= 0) {
            close(fd);
        }
        return fake_leave(ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
    m         = fake_add(FAKE_DEVICE, device->number, h.size);
    m->opened = true;
    if (!fake_map_views(m, fd, NULL, PROT_NONE)) {
        return fake_leave(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    }
    adopt(m, context);
    m->base |= fake.high;
    *address = (void *)m->base;
    return fake_leave(ZE_RESULT_SUCCESS);
}

static ze_result_t ipc_close(ze_context_handle_t context, const void *address)
{
    struct fake_memory *m;

    BEGIN_RELEASE("zeMemCloseIpcHandle");
    m = fake_find((uintptr_t)address);
    if ((m == NULL) || (m->context != context) || !m->opened || (m->base != (uintptr_t)address)) {
        fake_broken("zeMemCloseIpcHandle of what was not opened");
        return fake_leave(ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
    drop_memory(m);
    return fake_leave(ZE_RESULT_SUCCESS);
}

/* ---- Intel's own calls for host pages ---- */

/* They are the driver's, not the loader's: a handle of the loader's would be no driver of ours. */
static bool is_driver(ze_driver_handle_t driver)
{
    return (driver == &fake.drivers[0]) || (driver == &fake.drivers[1]);
}

static ze_result_t intel_import(ze_driver_handle_t driver, void *pages, size_t size)
{
    struct fake_memory *m;

    BEGIN("zexDriverImportExternalPointer");
    if (!is_driver(driver)) {
        fake_broken("zexDriverImportExternalPointer with a handle that is not the driver's");
        return fake_leave(ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
    for (m = gpu.memory; m != NULL; m = m->next) {
        if ((m->driver == driver) && fake_overlaps(m, (uintptr_t)pages, size)) {
            return fake_leave(ZE_RESULT_ERROR_INVALID_ARGUMENT);
        }
    }
    fake_add_pages(FAKE_REGISTERED, -1, pages, size)->driver = driver;
    return fake_leave(ZE_RESULT_SUCCESS);
}

static struct fake_memory *find_import(ze_driver_handle_t driver, const void *pages)
{
    struct fake_memory *m;

    for (m = gpu.memory; m != NULL; m = m->next) {
        if ((m->kind == FAKE_REGISTERED) && (m->driver == driver) && (m->context == NULL) &&
            ((uintptr_t)pages >= m->base) && ((uintptr_t)pages - m->base < m->size)) {
            return m;
        }
    }
    return NULL;
}

static ze_result_t intel_release(ze_driver_handle_t driver, void *pages)
{
    struct fake_memory *m;

    BEGIN_RELEASE("zexDriverReleaseImportedPointer");
    m = find_import(driver, pages);
    if (m == NULL) {
        fake_broken("host pages are released that were not imported");
        return fake_leave(ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
    drop_memory(m);
    return fake_leave(ZE_RESULT_SUCCESS);
}

static ze_result_t intel_base(ze_driver_handle_t driver, void *pages, void **base)
{
    struct fake_memory *m;

    BEGIN("zexDriverGetHostPointerBaseAddress");
    m = find_import(driver, pages);
    if (m == NULL) {
        return fake_leave(ZE_RESULT_ERROR_INVALID_ARGUMENT);
    }
    *base = (char *)m->base + (fake_lies("pointer") ? 1u << 30 : 0u);
    return fake_leave(ZE_RESULT_SUCCESS);
}

ze_result_t fake_find_function(const char *name, void **address_p)
{
    if (strcmp(name, "zexDriverImportExternalPointer") == 0) {
        *address_p = (void *)(uintptr_t)intel_import;
    } else if (strcmp(name, "zexDriverReleaseImportedPointer") == 0) {
        *address_p = (void *)(uintptr_t)intel_release;
    } else if (strcmp(name, "zexDriverGetHostPointerBaseAddress") == 0) {
        *address_p = (void *)(uintptr_t)intel_base;
    } else {
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    return ZE_RESULT_SUCCESS;
}

/* ---- for the tests ---- */

void *fake_ze_foreign(int type, size_t size)
{
    static const enum fake_kind kinds[]       = {FAKE_HOST, FAKE_HOST, FAKE_DEVICE, FAKE_MANAGED};
    static struct _ze_context_handle_t others = {&fake.drivers[0], 0};
    void *address                             = NULL;

    (void)create(&others, kinds[type], (kinds[type] == FAKE_HOST) ? NULL : &fake.devices[0][0],
                 size, 0, &address);
    return address;
}

void fake_ze_foreign_free(void *pointer)
{
    drop_memory(fake_find((uintptr_t)pointer));
}

void fake_fill_context(ze_context_dditable_t *table)
{
    table->pfnCreate  = context_create;
    table->pfnDestroy = context_destroy;
}

void fake_fill_mem(ze_mem_dditable_t *table)
{
    table->pfnAllocShared        = alloc_shared;
    table->pfnAllocDevice        = alloc_device;
    table->pfnAllocHost          = alloc_host;
    table->pfnFree               = mem_free;
    table->pfnGetAllocProperties = mem_properties;
    table->pfnGetAddressRange    = mem_range;
    table->pfnGetIpcHandle       = ipc_get;
    table->pfnOpenIpcHandle      = ipc_open;
    table->pfnCloseIpcHandle     = ipc_close;
}
