/* SPDX-License-Identifier: BSD-3-Clause */
/* box.c: a backend of one device in a box, from outside the tree: it sees the installed headers and
 * nothing else.
 *
 * The device's memory is the process's own, mapped twice: the address that callers get, and a
 * view through which copies and kernels work. The handed-out side is closed (PROT_NONE) where the
 * host has no business: device memory always, managed memory from a kernel's launch until
 * synchronize(). The processor stops an access then. It has a capacity, so that
 * memory can run out.
 *
 * Invariant: blocks[] and used_bytes change under `lock` alone. */

#define _GNU_SOURCE
#include <errno.h>
#include <memspan/backend.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef BOX_NAME
#define BOX_NAME "example"
#define BOX_OPTIONS
#endif
#ifndef BOX_ABI
#define BOX_ABI MEMSPAN_BACKEND_ABI
#endif
#ifndef BOX_ENTRY
#define BOX_ENTRY memspan_backend_entry
#endif

enum { BLOCKS_MAX = 4096, PAGE = 4096 };
static uint64_t capacity_bytes        = (uint64_t)256 << 20;
static const uint64_t alloc_max_bytes = (uint64_t)128 << 20;

struct box_block {
    char *address; /* that callers get; NULL: unused entry */
    char *view;    /* the same bytes, always open */
    size_t size_bytes;
    memspan_kind_t kind;
};

static struct box {
    const memspan_services_t *services;
    pthread_mutex_t lock;
    struct box_block blocks[BLOCKS_MAX];
    uint64_t used_bytes;
} box = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the device ---- */

static memspan_status_t box_open(const memspan_services_t *services, void **state_p)
{
    box.services = services;
#ifdef BOX_SILENT
    return MEMSPAN_ERR_DRIVER; /* against the rules: without services->fail() */
#endif
#ifdef BOX_BROKEN
    return services->fail(MEMSPAN_ERR_OFF, BOX_NAME, "box_driver_version", 7, "version 0.9",
                          "update the box driver", "the box driver is too old");
#endif
#ifdef BOX_OPTIONS
    capacity_bytes = services->option_number("MEMSPAN_EXAMPLE_CAPACITY");
#endif
    *state_p = &box;
    return MEMSPAN_OK;
}

static void box_close(void *state)
{
    (void)state;
}

static int box_device_count(void *state)
{
    (void)state;
#ifdef BOX_EMPTY
    return 0;
#else
    return 1;
#endif
}

static memspan_status_t box_device_describe(void *state, int ordinal, memspan_device_info_t *info_p)
{
    (void)state;
    (void)ordinal;
    snprintf(info_p->name, sizeof(info_p->name), "Device in a box");
    snprintf(info_p->vendor, sizeof(info_p->vendor), "Memspan tests");
    snprintf(info_p->driver, sizeof(info_p->driver), "box 1.0");
    snprintf(info_p->uid, sizeof(info_p->uid), "box-0");
    info_p->pci_address[0] = '\0';
    info_p->numa_node      = -1;
    info_p->capacity_bytes = capacity_bytes;
    snprintf(info_p->capacity_source, sizeof(info_p->capacity_source), "driver");
    pthread_mutex_lock(&box.lock);
    info_p->free_bytes = capacity_bytes - box.used_bytes;
    pthread_mutex_unlock(&box.lock);
    info_p->alloc_max_bytes = alloc_max_bytes;
    info_p->page_size_bytes = PAGE;
    info_p->kinds =
        (1u << MEMSPAN_KIND_DEVICE) | (1u << MEMSPAN_KIND_MANAGED) | (1u << MEMSPAN_KIND_COHERENT);
    info_p->kinds_without_gain = 0;
    info_p->kinds_migratable   = 1u << MEMSPAN_KIND_MANAGED;
    info_p->capabilities =
        MEMSPAN_CAN_SHARE_ADDRESSES | MEMSPAN_CAN_HOST_ATOMICS | MEMSPAN_CAN_KERNELS;
    snprintf(info_p->kind_note[MEMSPAN_KIND_HOST], sizeof(info_p->kind_note[0]),
             "the box does not reach plain host memory");
    snprintf(info_p->kind_note[MEMSPAN_KIND_HOST_PINNED], sizeof(info_p->kind_note[0]),
             "coherent memory stays put already");
    return MEMSPAN_OK;
}

static memspan_reach_t box_reach(void *state, int home, memspan_kind_t kind, int from)
{
    static const memspan_reach_t by_device[MEMSPAN_KIND_COUNT] = {
        [MEMSPAN_KIND_DEVICE]   = {MEMSPAN_ACCESS_LOCAL, MEMSPAN_COHERENCE_ATOMIC},
        [MEMSPAN_KIND_MANAGED]  = {MEMSPAN_ACCESS_LOCAL, MEMSPAN_COHERENCE_SYNC},
        [MEMSPAN_KIND_COHERENT] = {MEMSPAN_ACCESS_REMOTE, MEMSPAN_COHERENCE_ATOMIC},
    };
    static const memspan_reach_t by_host[MEMSPAN_KIND_COUNT] = {
        [MEMSPAN_KIND_DEVICE]   = {MEMSPAN_ACCESS_COPY, MEMSPAN_COHERENCE_NONE},
        [MEMSPAN_KIND_MANAGED]  = {MEMSPAN_ACCESS_FAULT, MEMSPAN_COHERENCE_SYNC},
        [MEMSPAN_KIND_COHERENT] = {MEMSPAN_ACCESS_LOCAL, MEMSPAN_COHERENCE_ATOMIC},
    };

    (void)state;
    if ((home != 0) || ((unsigned)kind >= MEMSPAN_KIND_COUNT)) {
        return (memspan_reach_t){MEMSPAN_ACCESS_NONE, MEMSPAN_COHERENCE_NONE};
    }
    return (from == MEMSPAN_HOST) ? by_host[kind] : by_device[kind];
}

/* ---- memory ---- */

static struct box_block *find_block(const void *address)
{
    for (int i = 0; i < BLOCKS_MAX; i++) {
        struct box_block *b = &box.blocks[i];

        if ((b->address != NULL) && ((const char *)address >= b->address) &&
            ((const char *)address < b->address + b->size_bytes)) {
            return b;
        }
    }
    return NULL;
}

/* Where copies and kernels find the bytes at @p address. */
static void *translate(const void *address)
{
    struct box_block *b;
    void *view;

    pthread_mutex_lock(&box.lock);
    b = find_block(address);
    view =
        (b == NULL) ? (void *)(uintptr_t)address : b->view + ((const char *)address - b->address);
    pthread_mutex_unlock(&box.lock);
    return view;
}

static memspan_status_t map_twice(struct box_block *b, size_t align_bytes)
{
    size_t room = b->size_bytes + align_bytes;
    int open    = (b->kind == MEMSPAN_KIND_DEVICE) ? PROT_NONE : (PROT_READ | PROT_WRITE);
    char *reserved;
    int file = memfd_create("box", MFD_CLOEXEC);

    if (file < 0) {
        goto err;
    }
    reserved = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    b->view  = MAP_FAILED;
    if ((reserved == MAP_FAILED) || (ftruncate(file, (off_t)b->size_bytes) != 0)) {
        goto err_close;
    }
    b->view    = mmap(NULL, b->size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    b->address = reserved + (align_bytes - (uintptr_t)reserved % align_bytes) % align_bytes;
    if ((b->view == MAP_FAILED) ||
        (mmap(b->address, b->size_bytes, open, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)) {
        goto err_unmap;
    }
    close(file);
    if (b->address > reserved) {
        munmap(reserved, (size_t)(b->address - reserved));
    }
    if (b->address + b->size_bytes < reserved + room) {
        munmap(b->address + b->size_bytes, (size_t)(reserved + room - b->address) - b->size_bytes);
    }
    return MEMSPAN_OK;

err_unmap:
    munmap(reserved, room);
    if (b->view != MAP_FAILED) {
        munmap(b->view, b->size_bytes);
    }
err_close:
    close(file);
err:
    return box.services->fail(MEMSPAN_ERR_NO_MEMORY, BOX_NAME, "mmap", errno, strerror(errno), NULL,
                              "no %zu bytes for the box", b->size_bytes);
}

static struct box_block *unused_block(void)
{
    for (int i = 0; i < BLOCKS_MAX; i++) {
        if (box.blocks[i].address == NULL) {
            return &box.blocks[i];
        }
    }
    return NULL;
}

static memspan_status_t box_alloc(void *state, int ordinal, const memspan_request_t *request,
                                  memspan_block_t *block_p)
{
    struct box_block made   = {.size_bytes = request->size_bytes, .kind = request->kind};
    memspan_status_t status = MEMSPAN_OK;
    struct box_block *b;

    (void)state;
    (void)ordinal;
    pthread_mutex_lock(&box.lock);
    b = unused_block();
    if ((b == NULL) || (request->size_bytes > alloc_max_bytes) ||
        (request->size_bytes > capacity_bytes - box.used_bytes)) {
        status = box.services->fail(MEMSPAN_ERR_NO_MEMORY, BOX_NAME, "box_alloc", 2, "box is full",
                                    NULL, "%zu bytes of %s memory do not fit in the box",
                                    request->size_bytes, memspan_kind_name(request->kind));
    } else {
        status = map_twice(&made, request->align_bytes);
    }
    if (status == MEMSPAN_OK) {
        *b = made;
        box.used_bytes += made.size_bytes;
        *block_p =
            (memspan_block_t){.address         = made.address,
                              .size_bytes      = made.size_bytes,
                              .page_size_bytes = PAGE,
                              .flags = MEMSPAN_BLOCK_ZEROED | ((made.kind == MEMSPAN_KIND_MANAGED)
                                                                   ? MEMSPAN_BLOCK_MIGRATABLE
                                                                   : MEMSPAN_BLOCK_PINNED),
                              .node  = -1};
    }
    pthread_mutex_unlock(&box.lock);
    return status;
}

static memspan_status_t box_free(void *state, int ordinal, const memspan_block_t *block)
{
    struct box_block *b;

    (void)state;
    (void)ordinal;
    pthread_mutex_lock(&box.lock);
    b = find_block(block->address);
    if ((b != NULL) && (b->address == block->address)) {
        munmap(b->address, b->size_bytes);
        munmap(b->view, b->size_bytes);
        box.used_bytes -= b->size_bytes;
        b->address = NULL;
    }
    pthread_mutex_unlock(&box.lock);
    return (b != NULL)
               ? MEMSPAN_OK
               : box.services->fail(MEMSPAN_ERR_NOT_FOUND, BOX_NAME, "box_free", 3, "not mine",
                                    NULL, "%p is not of the box", block->address);
}

/* ---- work ---- */

static memspan_status_t box_copy(void *state, int ordinal, void *queue, void *to, const void *from,
                                 size_t size_bytes)
{
    (void)state;
    (void)ordinal;
    (void)queue;
    memcpy(translate(to), translate(from), size_bytes);
    return MEMSPAN_OK;
}

#ifdef BOX_LATE_GROUP
static memspan_status_t box_host_open(void *state, int ordinal, const void *address,
                                      size_t size_bytes, void **host_p)
{
    (void)state;
    (void)ordinal;
    (void)address;
    (void)size_bytes;
    (void)host_p;
    return MEMSPAN_ERR_UNSUPPORTED;
}
#endif

#ifndef BOX_HALF_GROUP
static memspan_status_t box_fill(void *state, int ordinal, void *queue, void *to,
                                 unsigned char byte, size_t size_bytes)
{
    (void)state;
    (void)ordinal;
    (void)queue;
    memset(translate(to), byte, size_bytes);
    return MEMSPAN_OK;
}
#endif

static void protect_managed(int protection)
{
    pthread_mutex_lock(&box.lock);
    for (int i = 0; i < BLOCKS_MAX; i++) {
        if ((box.blocks[i].address != NULL) && (box.blocks[i].kind == MEMSPAN_KIND_MANAGED)) {
            (void)mprotect(box.blocks[i].address, box.blocks[i].size_bytes, protection);
        }
    }
    pthread_mutex_unlock(&box.lock);
}

static memspan_status_t box_synchronize(void *state, int ordinal, void *queue)
{
    (void)state;
    (void)ordinal;
    (void)queue;
    protect_managed(PROT_READ | PROT_WRITE);
    return MEMSPAN_OK;
}

static double sum(const double *x, size_t count)
{
    double total = 0.0;

    for (size_t i = 0; i < count; i++) {
        total += x[i];
    }
    return total;
}

static memspan_status_t box_launch(void *state, int ordinal, void *queue,
                                   const memspan_kernel_call_t *call)
{
    const double *x = translate(call->x);
    const double *y = translate(call->y);
    double *z       = translate(call->z);
    const void *at  = call->x;

    (void)state;
    (void)ordinal;
    (void)queue;
    protect_managed(PROT_NONE);
    switch (call->kernel) {
    case MEMSPAN_KERNEL_DAXPY:
        for (size_t i = 0; i < call->count; i++) {
            z[i] += call->a * x[i] + y[i];
        }
        return MEMSPAN_OK;
    case MEMSPAN_KERNEL_FILL:
        for (size_t i = 0; i < call->count; i++) {
            z[i] = call->a;
        }
        return MEMSPAN_OK;
    case MEMSPAN_KERNEL_SUM:
        z[0] = sum(x, call->count);
        return MEMSPAN_OK;
    case MEMSPAN_KERNEL_CHASE:
        for (size_t i = 0; i < call->count; i++) {
            at = *(const void *const *)translate(at);
        }
        memcpy(z, &at, sizeof(at));
        return MEMSPAN_OK;
    case MEMSPAN_KERNEL_ADD_ATOMIC:
        for (size_t i = 0; i < call->count; i++) {
            atomic_fetch_add((_Atomic uint32_t *)(void *)z, (uint32_t)(int64_t)call->a);
        }
        return MEMSPAN_OK;
    default:
        break;
    }
    return box.services->fail(MEMSPAN_ERR_UNSUPPORTED, BOX_NAME, "box_launch", 4, "no such kernel",
                              NULL, "the box has no kernel %d", (int)call->kernel);
}

#ifdef BOX_OPTIONS
static const memspan_backend_option_t options[] = {
    {"MEMSPAN_EXAMPLE_CAPACITY", MEMSPAN_OPTION_SIZE, "size", "256m", "how much the box holds"},
    {"MEMSPAN_LOG", MEMSPAN_OPTION_TEXT, "text", "", "another's: left out"},
};
#endif

static const memspan_backend_t table = {
    .abi             = BOX_ABI,
    .struct_size     = sizeof(table),
    .name            = BOX_NAME,
    .title           = "A device in a box",
    .open            = box_open,
    .close           = box_close,
    .device_count    = box_device_count,
    .device_describe = box_device_describe,
    .reach           = box_reach,
#ifndef BOX_NO_ALLOC
    .alloc = box_alloc,
#endif
    .free = box_free,
    .copy = box_copy,
#ifndef BOX_HALF_GROUP
    .fill = box_fill,
#endif
    .synchronize = box_synchronize,
    .launch      = box_launch,
#ifdef BOX_LATE_GROUP
    .host_open = box_host_open,
#endif
#ifdef BOX_OPTIONS
    .options      = options,
    .option_count = sizeof(options) / sizeof(options[0]),
#endif
};

__attribute__((visibility("default"))) const memspan_backend_t *BOX_ENTRY(void);

__attribute__((visibility("default"))) const memspan_backend_t *BOX_ENTRY(void)
{
#ifdef BOX_NO_ALLOC
    (void)box_alloc;
#endif
#ifdef BOX_NULL
    (void)table;
    return NULL;
#else
    return &table;
#endif
}
