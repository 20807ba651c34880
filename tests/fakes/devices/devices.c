/* SPDX-License-Identifier: BSD-3-Clause */
/* devices.c: a backend of pretended devices, built from the public headers alone.
 *
 * FAKEA_DEVICES / FAKEB_DEVICES (by FAKE_NAME) lists what each device is:
 *   discrete   all kinds; its own memory is closed to the host, as on a card
 *   managed    device and managed memory only
 *   unified    coherent and managed memory; managed buys nothing
 *   torn       all kinds but managed, without atomics between host and device
 *   weak       device, managed and coherent memory, which one side at a time may use
 *   pinned     device and host-pinned memory
 *   import     device memory, and imports host pages at the same address
 *   elsewhere  the same, but sees imported pages at another address
 * FAKE_CAPACITY is the bytes of each device (64 MiB when unset); FAKE_FAIL_AT=N makes the N-th
 * allocation and every later one fail; FAKE_ZEROED=1 says of fresh memory that it is zero, where
 * that was asked for. FAKE_OPENING: the driver is opened on a thread of its own, and meanwhile
 *   forks   starts a program and waits for it, as drivers do that load their kernel module
 *   asks    asks the library how many devices there are, as runtimes inside drivers do
 *   late    takes one and a half seconds
 *   starts  starts a thread
 * control.h: any call can be made to fail, and is counted.
 *
 * Device memory is a memory file mapped twice: without access where the program has the address,
 * with access where the "device" works. Touching a device address from host code is a fault. */

#include "control.h"
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <memspan/backend.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEVICES_MAX = 8, BLOCKS_MAX = 4096 };

enum sort { DISCRETE, MANAGED, UNIFIED, TORN, WEAK, PINNED, IMPORT, ELSEWHERE, SORTS };
static const char *const sort_names[SORTS] = {"discrete", "managed", "unified", "torn",
                                              "weak",     "pinned",  "import",  "elsewhere"};

#define BIT(kind) (1u << MEMSPAN_KIND_##kind)
static const unsigned sort_kinds[SORTS] = {
    BIT(DEVICE) | BIT(MANAGED) | BIT(COHERENT) | BIT(HOST_PINNED),
    BIT(DEVICE) | BIT(MANAGED),
    BIT(MANAGED) | BIT(COHERENT) | BIT(HOST_PINNED),
    BIT(DEVICE) | BIT(COHERENT) | BIT(HOST_PINNED),
    BIT(DEVICE) | BIT(MANAGED) | BIT(COHERENT),
    BIT(DEVICE) | BIT(HOST_PINNED),
    BIT(DEVICE),
    BIT(DEVICE),
};

struct block {
    char *address;
    char *view;
    size_t size_bytes;
    int ordinal;
};

static const memspan_services_t *services;
static enum sort sorts[DEVICES_MAX];
static int device_count;
static uint64_t used_bytes[DEVICES_MAX];
static uint64_t capacity_bytes = UINT64_C(64) << 20;
static long allocations_left   = -1;
static int zeroed;
static struct block blocks[BLOCKS_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards blocks, used_bytes */

MEMSPAN_API extern struct fake_control fake_control;
struct fake_control fake_control;

static memspan_status_t fail(memspan_status_t status, const char *call, long code, const char *what)
{
    return services->fail(status, FAKE_NAME, call, code, "", NULL, "%s", what);
}

/* Counts down to the call that a test wants to fail. */
static int is_due(atomic_long *left)
{
    long now = atomic_load(left);

    if ((now == 1) && (atomic_load(&fake_control.go_on_failing) != 0)) {
        return 1;
    }
    while ((now > 0) && !atomic_compare_exchange_weak(left, &now, now - 1)) {
    }
    return now == 1;
}

static int must_fail(enum fake_call call)
{
    int due = is_due(&fake_control.fail_in[call]);

    atomic_fetch_add(&fake_control.count[call], 1);
    return is_due(&fake_control.fail_any_in) || due;
}

/* Only in the child: taken in the parent before fork() it would stand in a lock order with locks
 * that this driver knows nothing of. */
static void after_fork(void)
{
    pthread_mutex_init(&lock, NULL);
}

static int opens_so(const char *how)
{
    const char *text = getenv("FAKE_OPENING");

    return (text != NULL) && ((how == NULL) || (strcmp(text, how) == 0));
}

static void start_program(void)
{
    pid_t child = fork();

    if (child == 0) {
        _exit(0);
    }
    (void)waitpid(child, NULL, 0);
}

__attribute__((noreturn)) static void hang(void)
{
    for (;;) {
        pause();
    }
}

static void ask_back(void)
{
    int (*count)(void) = NULL;

    *(void **)&count = dlsym(RTLD_DEFAULT, "memspan_device_count");
    (void)count();
}

static void *look_at_mask(void *unused)
{
    sigset_t mask;

    (void)pthread_sigmask(SIG_SETMASK, NULL, &mask);
    atomic_store(&fake_control.blocks_term, sigismember(&mask, SIGTERM) ? 1 : -1);
    return unused;
}

static void start_thread(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, look_at_mask, NULL) == 0) {
        pthread_join(thread, NULL);
    }
}

static memspan_status_t open_driver(const memspan_services_t *given, void **state_p)
{
    char variable[64] = FAKE_NAME "_DEVICES";
    const char *text;
    char *c;

    services = given;
    if (opens_so("forks")) {
        start_program();
    } else if (opens_so("asks")) {
        ask_back();
    } else if (opens_so("late")) {
        usleep(1500000);
    } else if (opens_so("hangs")) {
        hang();
    } else if (opens_so("starts")) {
        start_thread();
    }
    for (c = variable; *c != '\0'; c++) {
        *c = (char)((*c >= 'a' && *c <= 'z') ? *c - 32 : *c);
    }
    text = getenv(variable);
    if (text == NULL) {
        return fail(MEMSPAN_ERR_OFF, "getenv", 0, "no pretended devices were asked for");
    }
    while (*text != '\0') {
        size_t length = strcspn(text, ",");
        int s;

        for (s = 0; (s < SORTS) && ((strlen(sort_names[s]) != length) ||
                                    (strncmp(sort_names[s], text, length) != 0));
             s++) {
        }
        if ((s == SORTS) || (device_count == DEVICES_MAX)) {
            return fail(MEMSPAN_ERR_CONFIG, "getenv", 0, "a device is of no known sort");
        }
        sorts[device_count++] = (enum sort)s;
        text += length + (text[length] == ',');
    }
    if (getenv("FAKE_CAPACITY") != NULL) {
        capacity_bytes = strtoull(getenv("FAKE_CAPACITY"), NULL, 10);
    }
    if (getenv("FAKE_FAIL_AT") != NULL) {
        allocations_left = strtol(getenv("FAKE_FAIL_AT"), NULL, 10) - 1;
    }
    zeroed = (getenv("FAKE_ZEROED") != NULL);
    pthread_atfork(NULL, NULL, after_fork);
    *state_p = sorts;
    return MEMSPAN_OK;
}

static void close_driver(void *state)
{
    (void)state;
    atomic_fetch_add(&fake_control.closed, 1);
}

static int count_devices(void *state)
{
    (void)state;
    if (opens_so("count_hangs")) {
        hang();
    }
    if (opens_so("absurd")) {
        return INT_MAX;
    }
    return device_count;
}

static memspan_status_t describe(void *state, int ordinal, memspan_device_info_t *info)
{
    enum sort sort = sorts[ordinal];

    (void)state;
    if (opens_so("describe_hangs")) {
        hang();
    }
    snprintf(info->name, sizeof(info->name), "pretended %s device", sort_names[sort]);
    snprintf(info->uid, sizeof(info->uid), FAKE_NAME "-%d", ordinal);
    snprintf(info->capacity_source, sizeof(info->capacity_source), "driver");
    info->capacity_bytes = capacity_bytes;
    pthread_mutex_lock(&lock);
    info->free_bytes = capacity_bytes - used_bytes[ordinal];
    pthread_mutex_unlock(&lock);
    info->alloc_max_bytes = capacity_bytes;
    info->page_size_bytes = 4096;
    info->kinds           = sort_kinds[sort];
    info->capabilities    = MEMSPAN_CAN_SHARE_ADDRESSES;
    if (sort == UNIFIED) {
        info->kinds_without_gain = BIT(MANAGED);
        info->capabilities |= MEMSPAN_CAN_UNIFIED_PHYSICAL | MEMSPAN_CAN_HOST_ATOMICS;
        snprintf(info->kind_note[MEMSPAN_KIND_MANAGED], sizeof(info->kind_note[0]),
                 "its memory is the host's, nothing would move");
    }
    if ((sort == IMPORT) || (sort == ELSEWHERE)) {
        info->capabilities |= MEMSPAN_CAN_IMPORT;
    }
    return MEMSPAN_OK;
}

static memspan_reach_t reach(void *state, int home, memspan_kind_t kind, int from)
{
    static const memspan_reach_t copy_only = {MEMSPAN_ACCESS_COPY, MEMSPAN_COHERENCE_NONE};
    memspan_reach_t r                      = {MEMSPAN_ACCESS_REMOTE, MEMSPAN_COHERENCE_ATOMIC};

    (void)state;
    if ((sort_kinds[sorts[home]] & (1u << kind)) == 0) {
        return (memspan_reach_t){MEMSPAN_ACCESS_NONE, MEMSPAN_COHERENCE_NONE};
    }
    if (kind == MEMSPAN_KIND_DEVICE) {
        r.access = MEMSPAN_ACCESS_LOCAL;
        return (from == home) ? r : copy_only;
    }
    if ((from != MEMSPAN_HOST) && ((sort_kinds[sorts[from]] & (1u << kind)) == 0)) {
        return copy_only;
    }
    if (kind == MEMSPAN_KIND_MANAGED) {
        return (memspan_reach_t){MEMSPAN_ACCESS_FAULT, MEMSPAN_COHERENCE_SYNC};
    }
    if (sorts[home] == TORN) {
        r.coherence = MEMSPAN_COHERENCE_CONCURRENT;
    } else if (sorts[home] == WEAK) {
        r.coherence = MEMSPAN_COHERENCE_SYNC;
    }
    return r;
}

/* Lock held, as in what follows. */
static struct block *find(const void *address)
{
    int i;

    for (i = 0; i < BLOCKS_MAX; i++) {
        const char *a = address;
        if ((blocks[i].address != NULL) && (a >= blocks[i].address) &&
            (a < blocks[i].address + blocks[i].size_bytes)) {
            return &blocks[i];
        }
    }
    return NULL;
}

/* Reserves more than is needed and keeps the aligned middle. */
static char *map_aligned(int fd, size_t size, size_t align, int protection)
{
    char *raw =
        mmap(NULL, size + align, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    char *address;

    if (raw == MAP_FAILED) {
        return NULL;
    }
    address = (char *)(((uintptr_t)raw + align - 1) & ~(uintptr_t)(align - 1));
    if (address > raw) {
        munmap(raw, (size_t)(address - raw));
    }
    munmap(address + size, align - (size_t)(address - raw));
    return (mmap(address, size, protection, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) ? NULL
                                                                                          : address;
}

static struct block *unused_block(void)
{
    int i;

    for (i = 0; (i < BLOCKS_MAX) && (blocks[i].address != NULL); i++) {
    }
    return (i < BLOCKS_MAX) ? &blocks[i] : NULL;
}

/* Both views of a block, or neither. */
static memspan_status_t map_block(struct block *b, const memspan_request_t *request)
{
    int protection = (request->kind == MEMSPAN_KIND_DEVICE) ? PROT_NONE : PROT_READ | PROT_WRITE;
    int fd         = memfd_create("fake", MFD_CLOEXEC);

    if ((fd < 0) || (ftruncate(fd, (off_t)request->size_bytes) != 0)) {
        return fail(MEMSPAN_ERR_DRIVER, "memfd_create", errno, "no memory file");
    }
    b->view    = mmap(NULL, request->size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    b->address = map_aligned(fd, request->size_bytes, request->align_bytes, protection);
    close(fd);
    if ((b->view == MAP_FAILED) || (b->address == NULL)) {
        return fail(MEMSPAN_ERR_NO_MEMORY, "mmap", errno, "no addresses are left");
    }
    return MEMSPAN_OK;
}

static memspan_status_t alloc_locked(int ordinal, const memspan_request_t *request,
                                     memspan_block_t *block_p)
{
    struct block *b   = unused_block();
    struct block made = {NULL, NULL, request->size_bytes, ordinal};
    memspan_status_t status;

    if (must_fail(FAKE_ALLOC) || (b == NULL) || (allocations_left == 0) ||
        (used_bytes[ordinal] + request->size_bytes > capacity_bytes)) {
        return fail(MEMSPAN_ERR_NO_MEMORY, "fakeMalloc", 2, "the pretended device is full");
    }
    if ((atomic_load(&fake_control.limit_bytes) != 0) &&
        (request->size_bytes > (size_t)atomic_load(&fake_control.limit_bytes))) {
        return fail(MEMSPAN_ERR_LIMIT, "fakeMalloc", 3, "one allocation is not that large");
    }
    allocations_left -= (allocations_left > 0);
    status = map_block(&made, request);
    if (status != MEMSPAN_OK) {
        return status;
    }
    *b = made;
    used_bytes[ordinal] += request->size_bytes;
    atomic_fetch_add(&fake_control.blocks, 1);
    atomic_fetch_add(&fake_control.bytes, (long)request->size_bytes);
    *block_p = (memspan_block_t){
        .address         = b->address,
        .size_bytes      = b->size_bytes,
        .page_size_bytes = 4096,
        .node            = -1,
        .cookie          = b->address,
        .flags =
            ((request->kind == MEMSPAN_KIND_MANAGED) ? (unsigned)MEMSPAN_BLOCK_MIGRATABLE : 0u) |
            (zeroed ? (unsigned)MEMSPAN_BLOCK_ZEROED : 0u)};
    return MEMSPAN_OK;
}

/* Sanitizers map what no program has: only what was just unmapped is certain to be free. */
static uintptr_t unmapped(size_t size_bytes)
{
    enum { BOUNDARY = 1 << 20 };
    void *pages = mmap(NULL, size_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (pages == MAP_FAILED) {
        abort();
    }
    munmap(pages, size_bytes);
    return ((uintptr_t)pages + BOUNDARY - 1) & ~(uintptr_t)(BOUNDARY - 1);
}

/* The cookie still knows the block. */
static void spoil(memspan_block_t *block)
{
    uintptr_t address = (uintptr_t)block->address;

    switch (atomic_load(&fake_control.gives)) {
    case FAKE_NOWHERE:
        address = 0;
        break;
    case FAKE_SMALL:
        block->size_bytes--;
        break;
    case FAKE_CROOKED:
        address += 4096;
        break;
    case FAKE_WILD:
        address |= (uintptr_t)1 << 62;
        break;
    case FAKE_UNMAPPED:
        address = unmapped(2 * block->size_bytes);
        break;
    default:
        break;
    }
    block->address = (void *)address;
}

static memspan_status_t alloc(void *state, int ordinal, const memspan_request_t *request,
                              memspan_block_t *block_p)
{
    memspan_status_t status;

    (void)state;
    pthread_mutex_lock(&lock);
    status = alloc_locked(ordinal, request, block_p);
    pthread_mutex_unlock(&lock);
    if (status == MEMSPAN_OK) {
        spoil(block_p);
    }
    return status;
}

/* Names a range, and gives up. */
static memspan_status_t resize(void *state, int ordinal, const memspan_request_t *request,
                               memspan_block_t *block_p, memspan_resize_accept_t accept,
                               void *context)
{
    uintptr_t address = (uintptr_t)block_p->address;
    size_t size       = request->size_bytes;

    (void)state;
    (void)ordinal;
    switch (atomic_load(&fake_control.resizes_to)) {
    case FAKE_NOWHERE:
        address = 0;
        break;
    case FAKE_SMALL:
        size -= 4096;
        break;
    case FAKE_CROOKED:
        address += 4096;
        break;
    case FAKE_WILD:
        address |= (uintptr_t)1 << 62;
        break;
    default:
        return MEMSPAN_ERR_UNSUPPORTED;
    }
    atomic_fetch_add(&fake_control.resized, accept(context, (void *)address, size));
    return fail(MEMSPAN_ERR_NO_MEMORY, "fakeResize", 2, "the pretended device resizes nothing");
}

static memspan_status_t free_locked(int ordinal, const memspan_block_t *block)
{
    struct block *b = find(block->cookie);

    if ((b == NULL) || (b->address != block->cookie) || (b->ordinal != ordinal)) {
        return fail(MEMSPAN_ERR_DRIVER, "fakeFree", 1, "that is no block of this device");
    }
    if (must_fail(FAKE_FREE)) {
        return fail(MEMSPAN_ERR_DRIVER, "fakeFree", 5, "the pretended device keeps it");
    }
    used_bytes[ordinal] -= b->size_bytes;
    atomic_fetch_sub(&fake_control.blocks, 1);
    atomic_fetch_sub(&fake_control.bytes, (long)b->size_bytes);
    munmap(b->address, b->size_bytes);
    munmap(b->view, b->size_bytes);
    memset(b, 0, sizeof(*b));
    return MEMSPAN_OK;
}

static memspan_status_t release_block(void *state, int ordinal, const memspan_block_t *block)
{
    memspan_status_t status;

    (void)state;
    pthread_mutex_lock(&lock);
    status = free_locked(ordinal, block);
    pthread_mutex_unlock(&lock);
    return status;
}

static memspan_status_t import(void *state, int ordinal, void *address, size_t size_bytes,
                               void **address_p, void **cookie_p)
{
    (void)state;
    (void)size_bytes;
    usleep((unsigned)atomic_load(&fake_control.import_ms) * 1000);
    if (must_fail(FAKE_IMPORT)) {
        return fail(MEMSPAN_ERR_NO_MEMORY, "fakeRegister", 6, "no more pages can be imported");
    }
    atomic_fetch_add(&fake_control.imports, 1);
    *address_p = (char *)address + ((sorts[ordinal] == ELSEWHERE) ? 65536 : 0);
    *cookie_p  = address;
    return MEMSPAN_OK;
}

static memspan_status_t release_import(void *state, int ordinal, void *address, size_t size_bytes,
                                       void *cookie)
{
    (void)state;
    (void)ordinal;
    (void)size_bytes;
    if (must_fail(FAKE_RELEASE)) {
        return fail(MEMSPAN_ERR_DRIVER, "fakeUnregister", 5, "the pages cannot be released");
    }
    if (cookie != address) {
        return fail(MEMSPAN_ERR_DRIVER, "fakeUnregister", 1, "never imported");
    }
    atomic_fetch_sub(&fake_control.imports, 1);
    return MEMSPAN_OK;
}

/* Where the pretended device works on an address. */
static char *view_of(const void *address)
{
    char *view = (char *)(uintptr_t)address;
    struct block *b;

    pthread_mutex_lock(&lock);
    b = find(address);
    if (b != NULL) {
        view = b->view + ((const char *)address - b->address);
    }
    pthread_mutex_unlock(&lock);
    return view;
}

static memspan_status_t copy(void *state, int ordinal, void *queue, void *to, const void *from,
                             size_t size_bytes)
{
    (void)state;
    (void)ordinal;
    (void)queue;
    if (must_fail(FAKE_COPY)) {
        return fail(MEMSPAN_ERR_DRIVER, "fakeMemcpy", 7, "the copy was not made");
    }
    memcpy(view_of(to), view_of(from), size_bytes);
    return MEMSPAN_OK;
}

static memspan_status_t fill(void *state, int ordinal, void *queue, void *to, unsigned char byte,
                             size_t size_bytes)
{
    (void)state;
    (void)ordinal;
    (void)queue;
    if (must_fail(FAKE_FILL)) {
        return fail(MEMSPAN_ERR_DRIVER, "fakeMemset", 7, "the bytes were not set");
    }
    memset(view_of(to), byte, size_bytes);
    return MEMSPAN_OK;
}

static memspan_status_t synchronize(void *state, int ordinal, void *queue)
{
    (void)state;
    (void)ordinal;
    (void)queue;
    return must_fail(FAKE_SYNCHRONIZE)
               ? fail(MEMSPAN_ERR_DRIVER, "fakeSynchronize", 7, "the work before failed")
               : MEMSPAN_OK;
}

static memspan_backend_t table = {
    .abi             = MEMSPAN_BACKEND_ABI,
    .struct_size     = sizeof(memspan_backend_t),
    .name            = FAKE_NAME,
    .title           = "Pretended devices",
    .open            = open_driver,
    .close           = close_driver,
    .device_count    = count_devices,
    .device_describe = describe,
    .reach           = reach,
    .alloc           = alloc,
    .free            = release_block,
    .import          = import,
    .release         = release_import,
    .copy            = copy,
    .fill            = fill,
    .synchronize     = synchronize,
};

MEMSPAN_API const memspan_backend_t *memspan_backend_entry(void);

const memspan_backend_t *memspan_backend_entry(void)
{
    if (opens_so("resizes")) {
        table.resize = resize;
    }
    if (opens_so("entry_hangs")) {
        hang();
    }
    table.flags = opens_so(NULL) ? 0 : MEMSPAN_BACKEND_OPENS_HERE;
    return &table;
}
