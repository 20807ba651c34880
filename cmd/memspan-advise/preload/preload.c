/* SPDX-License-Identifier: BSD-3-Clause */
/* preload.c: memspan-advise's library in the program that it runs. It takes the place of malloc and
 * its relatives and receives libmemspan's events. It watches (LIBMEMSPAN_ADVISE names a folder for
 * the profile), or gives blocks the memory that MEMSPAN_PLACEMENT names.
 *
 * Small blocks are the next allocator's and pass through. So do calls from inside this library and
 * libmemspan, which may hold locks. */

#include "cmd/memspan-advise/preload/preload.h"
#include "cmd/common/cli.h"
#include "cmd/common/clock.h"
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <link.h>
#include <malloc.h>
#include <memspan/memspan.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const char cli_name[] = "memspan-advise";

enum { FILTER = 1 << 16, ALIGN_LEAST = 16 };

static enum { OFF, WATCHING, PLACING } mode;
static atomic_bool has_left; /* libmemspan is not called for placed blocks any more */
static const char *folder;
static pid_t owner;
static double began_s;
static uintptr_t library_start; /* of libmemspan's code */
static uintptr_t library_end;
static atomic_uint filter[FILTER]; /* how many blocks have an address of that hash */
static __thread bool inside;

static atomic_uint *filter_of(const void *address)
{
    return &filter[((uintptr_t)address >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 48];
}

static bool may_be_known(const void *address)
{
    return atomic_load_explicit(filter_of(address), memory_order_relaxed) != 0;
}

static bool is_concerned(size_t size_bytes, const void *caller)
{
    return (size_bytes >= MEMSPAN_PLACEMENT_BYTES) && (mode != OFF) && !has_left && !inside &&
           ((uintptr_t)caller - library_start >= library_end - library_start);
}

static void add(void *address, size_t size_bytes, size_t capacity_bytes, bool filled)
{
    bool inside_before = inside;

    inside = true;
    if (block_add(address, size_bytes, capacity_bytes, filled)) {
        atomic_fetch_add(filter_of(address), 1);
    }
    inside = inside_before;
}

static bool remove_known(void *address)
{
    bool known = (address != NULL) && may_be_known(address) && block_remove(address);

    if (known) {
        atomic_fetch_sub(filter_of(address), 1);
    }
    return known;
}

/* Its bytes; 0: it is not known. */
static size_t find_known(void *address)
{
    return may_be_known(address) ? block_find(address) : 0;
}

static bool is_placed(const void *address)
{
    return (mode == PLACING) && (memspan_pointer_kind(address) != MEMSPAN_KIND_NONE);
}

/* Placed memory, with the contents of @p old, which is placed or NULL, and is freed. NULL: the
 * calling code is given none, or there is none. */
static void *take_placed(size_t align_bytes, size_t size_bytes, bool zeroed, void *old)
{
    memspan_allocator_h allocator;
    void *address = NULL;

    inside    = true;
    allocator = memspan_placement_find();
    if (allocator != MEMSPAN_ALLOCATOR_NULL) {
        address = (old != NULL) ? memspan_realloc(allocator, old, size_bytes)
                  : zeroed      ? memspan_calloc(allocator, 1, size_bytes)
                                : memspan_aligned_alloc(allocator, align_bytes, size_bytes);
    }
    inside = false;
    return address;
}

/* @p capacity_bytes are taken, for a block that grows. */
static void *take_memory(size_t align_bytes, size_t size_bytes, size_t capacity_bytes, bool zeroed)
{
    void *address = (mode == PLACING) ? take_placed(align_bytes, size_bytes, zeroed, NULL) : NULL;

    if (address != NULL) {
        return address;
    }
    address = zeroed                      ? next_calloc(1, size_bytes)
              : align_bytes > ALIGN_LEAST ? next_memalign(align_bytes, capacity_bytes)
                                          : next_malloc(capacity_bytes);
    if ((address != NULL) && (mode == WATCHING)) {
        add(address, size_bytes, capacity_bytes, false);
    }
    return address;
}

static size_t usable_bytes(void *address)
{
    memspan_pointer_info_t info = {.struct_size = offsetof(memspan_pointer_info_t, kind_asked)};

    if (is_placed(address)) {
        (void)memspan_pointer_describe(address, &info);
        return info.size_bytes;
    }
    return next_usable_size(address);
}

/* ---- the C library's names ---- */

#define EXPORT __attribute__((visibility("default")))

EXPORT void *malloc(size_t size_bytes)
{
    return is_concerned(size_bytes, __builtin_return_address(0))
               ? take_memory(ALIGN_LEAST, size_bytes, size_bytes, false)
               : next_malloc(size_bytes);
}

EXPORT void *calloc(size_t count, size_t size_bytes)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size_bytes, &bytes) ||
        !is_concerned(bytes, __builtin_return_address(0))) {
        return next_calloc(count, size_bytes);
    }
    return take_memory(ALIGN_LEAST, bytes, bytes, true);
}

void *preload_take(size_t align_bytes, size_t size_bytes, const void *caller)
{
    return is_concerned(size_bytes, caller)
               ? take_memory(align_bytes, size_bytes, size_bytes, false)
               : NULL;
}

bool preload_give(void *address)
{
    int problem = errno;
    bool known  = false;

    if (is_placed(address)) {
        inside = true;
        (void)(has_left || (memspan_free(address) == MEMSPAN_OK));
        inside = false;
        errno  = problem;
        return true;
    }
    known = remove_known(address);
    if (known) {
        next_free(address);
    }
    return known;
}

EXPORT void free(void *address)
{
    if (!preload_give(address)) {
        next_free(address);
    }
}

/* A block that grows again and again is not copied each time: it gets space for half as much more.
 */
static void *take_grown(size_t size_bytes)
{
    size_t capacity_bytes = size_bytes + ((size_bytes < SIZE_MAX / 2) ? size_bytes / 2 : 0);
    void *address         = take_memory(ALIGN_LEAST, size_bytes, capacity_bytes, false);

    return (address != NULL) ? address : take_memory(ALIGN_LEAST, size_bytes, size_bytes, false);
}

/* New memory with the contents of the old. */
static void *copy(void *address, size_t old_bytes, void *moved, size_t size_bytes)
{
    if (moved != NULL) {
        memcpy(moved, address, (old_bytes < size_bytes) ? old_bytes : size_bytes);
        free(address);
    }
    return moved;
}

static void *resize_watched(void *address, size_t size_bytes, bool concerned)
{
    size_t known_bytes = find_known(address);

    if ((known_bytes == 0) && !concerned) {
        return next_realloc(address, size_bytes);
    }
    if (known_bytes == 0) {
        return copy(address, usable_bytes(address),
                    take_memory(ALIGN_LEAST, size_bytes, size_bytes, false), size_bytes);
    }
    if (concerned && block_fit(address, size_bytes)) {
        return address;
    }
    return copy(address, known_bytes, concerned ? take_grown(size_bytes) : next_malloc(size_bytes),
                size_bytes);
}

static void *resize_placing(void *address, size_t size_bytes, bool concerned)
{
    bool placed = is_placed(address);
    void *moved =
        concerned ? take_placed(ALIGN_LEAST, size_bytes, false, placed ? address : NULL) : NULL;

    if (placed && (moved != NULL)) {
        return moved;
    }
    if (!placed && (moved == NULL)) {
        return next_realloc(address, size_bytes);
    }
    return copy(address, usable_bytes(address), placed ? next_malloc(size_bytes) : moved,
                size_bytes);
}

EXPORT void *realloc(void *address, size_t size_bytes)
{
    bool concerned = is_concerned(size_bytes, __builtin_return_address(0));

    if (address == NULL) {
        return concerned ? take_memory(ALIGN_LEAST, size_bytes, size_bytes, false)
                         : next_malloc(size_bytes);
    }
    if (size_bytes == 0) {
        free(address);
        return NULL;
    }
    return (mode == PLACING) ? resize_placing(address, size_bytes, concerned)
                             : resize_watched(address, size_bytes, concerned);
}

EXPORT size_t malloc_usable_size(void *address)
{
    return (address == NULL) ? 0 : usable_bytes(address);
}

static void *take_aligned(size_t align_bytes, size_t size_bytes, const void *caller)
{
    return is_concerned(size_bytes, caller)
               ? take_memory(align_bytes, size_bytes, size_bytes, false)
               : next_memalign(align_bytes, size_bytes);
}

EXPORT void *memalign(size_t align_bytes, size_t size_bytes)
{
    return take_aligned(align_bytes, size_bytes, __builtin_return_address(0));
}

EXPORT void *aligned_alloc(size_t align_bytes, size_t size_bytes)
{
    return take_aligned(align_bytes, size_bytes, __builtin_return_address(0));
}

EXPORT void *valloc(size_t size_bytes)
{
    return take_aligned((size_t)getpagesize(), size_bytes, __builtin_return_address(0));
}

EXPORT void *pvalloc(size_t size_bytes)
{
    size_t page_bytes = (size_t)getpagesize();
    size_t bytes      = (size_bytes + page_bytes - 1) & ~(page_bytes - 1);

    if (bytes < size_bytes) {
        errno = ENOMEM;
        return NULL;
    }
    return take_aligned(page_bytes, bytes, __builtin_return_address(0));
}

EXPORT int posix_memalign(void **address_p, size_t align_bytes, size_t size_bytes)
{
    void *address;

    if ((align_bytes % sizeof(void *) != 0) || (align_bytes == 0) ||
        ((align_bytes & (align_bytes - 1)) != 0)) {
        return EINVAL;
    }
    address = take_aligned(align_bytes, size_bytes, __builtin_return_address(0));
    if (address == NULL) {
        return ENOMEM;
    }
    *address_p = address;
    return 0;
}

/* ---- libmemspan's blocks ---- */

static bool is_ordinary(const memspan_hook_block_t *block)
{
    return (block->kind == MEMSPAN_KIND_HOST) && (block->size_bytes >= MEMSPAN_PLACEMENT_BYTES);
}

static void allocated(void *data, const memspan_hook_block_t *block)
{
    if (is_ordinary(block)) {
        add(block->address, block->size_bytes, block->size_bytes, data != NULL);
    }
}

static void freeing(void *data, const memspan_hook_block_t *block)
{
    (void)data;
    (void)remove_known(block->address);
}

static void reallocated(void *data, const memspan_hook_block_t *old,
                        const memspan_hook_block_t *block)
{
    if (old->address == block->address) {
        block_resized(block->address, block->size_bytes);
    } else {
        freeing(data, old);
        allocated((void *)(uintptr_t)block, block); /* filled */
    }
}

/* ---- beginning and end ---- */

static int find_library(struct dl_phdr_info *info, size_t size, void *data)
{
    uintptr_t inside_it = (uintptr_t)data;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t start        = info->dlpi_addr + part->p_vaddr;

        if ((part->p_type == PT_LOAD) && (inside_it - start < part->p_memsz)) {
            library_start = start;
            library_end   = start + part->p_memsz;
            return 1;
        }
    }
    return 0;
}

/* Differences of large sums are a little below. */
static double at_least_0(double value)
{
    return (value > 0) ? value : 0;
}

static void print_site(const struct site *site, FILE *out)
{
    struct seen seen;
    struct site s;
    double now_s;

    block_lock();
    now_s = cli_clock_s();
    s     = *site;
    block_unlock();
    seen           = seen_of_site(&s);
    s.lifetime_s   = at_least_0(s.lifetime_s + (double)s.live_count * now_s);
    s.byte_seconds = at_least_0(s.byte_seconds + (double)s.live_bytes * now_s);
    fprintf(out, "site %" PRIu64 " %" PRIu64 " %.6f %.0f %.0f %.6f %" PRIu64 " %" PRIu64 " %s\n",
            s.count, s.peak_bytes, s.lifetime_s, s.byte_seconds, seen.rate * s.byte_seconds,
            seen.exposure_s, seen.hits, s.edges, s.frames);
}

static int print_module(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    if (info->dlpi_name[0] == '/') {
        fprintf(data, "module %s\n", info->dlpi_name);
    }
    return 0;
}

/* The most that was resident; 0 without /proc. */
static uint64_t resident_bytes(void)
{
    uint64_t kib = 0;
    char line[256];
    FILE *file = fopen("/proc/self/status", "re");

    while ((file != NULL) && (fgets(line, sizeof(line), file) != NULL)) {
        (void)sscanf(line, "VmHWM: %" SCNu64, &kib);
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return kib << 10;
}

/* A program that is linked with an allocator of its own calls that one. */
static void print_allocator(FILE *file)
{
    void *symbol = dlsym(RTLD_DEFAULT, "malloc");
    Dl_info facts;
    Dl_info own;

    if ((symbol != NULL) && (dladdr(symbol, &facts) != 0) && (dladdr(filter, &own) != 0) &&
        (facts.dli_fbase != own.dli_fbase)) {
        fprintf(file, "allocator %s\n", facts.dli_fname);
    }
}

/* The profile up to now: a file of the process's number. It is whole when it has that name. */
static void write_profile(void)
{
    struct site *sites;
    char program[4096];
    const char *name;
    char path[4096];
    char part[4100];
    uint64_t peak;
    size_t count;
    FILE *file;
    ssize_t n;

    (void)snprintf(path, sizeof(path), "%s/%d", folder, (int)owner);
    (void)snprintf(part, sizeof(part), "%s.new", path);
    file = fopen(part, "we");
    if (file == NULL) {
        return;
    }
    n                        = readlink("/proc/self/exe", program, sizeof(program) - 1);
    program[(n < 0) ? 0 : n] = '\0';
    name = (n > 0) ? program : program_invocation_name; /* /proc may be missing */
    fprintf(file, "memspan-profile 1\nprogram %s\nseconds %.3f\nsource %s\nmodule %s\n", name,
            cli_clock_s() - began_s, sample_source(), name);
    (void)dl_iterate_phdr(print_module, file);
    print_allocator(file);
    block_lock();
    count = block_sites(&sites);
    peak  = block_peak_bytes();
    block_unlock();
    fprintf(file, "memory %" PRIu64 " %" PRIu64 "\n", resident_bytes(), peak);
    for (size_t i = 0; i < count; i++) {
        print_site(&sites[i], file);
    }
    if (fclose(file) == 0) {
        (void)rename(part, path);
    }
}

/* A write beyond ulimit -f is an error here and a signal to this thread, which the program must not
 * get. */
static void save(void)
{
    const struct timespec at_once = {0};
    bool inside_before            = inside;
    sigset_t before;
    sigset_t pending;
    sigset_t limit;

    inside = true;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &limit, &before);
    write_profile();
    if (!sigismember(&pending, SIGXFSZ)) {
        (void)sigtimedwait(&limit, NULL, &at_once);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    inside = inside_before;
}

/* The profile has the samples up to here; placed blocks stay where they are. */
static void leave(void)
{
    if (has_left) {
        return;
    }
    if ((mode == WATCHING) && (getpid() == owner)) {
        sample_stop();
        save();
    }
    if (mode == WATCHING) {
        block_leave();
    }
    has_left = true;
}

__attribute__((constructor)) static void begin(void)
{
    static const memspan_hooks_t hooks = {.struct_size = sizeof(hooks),
                                          .allocated   = allocated,
                                          .freeing     = freeing,
                                          .reallocated = reallocated};
    memspan_hooks_h handle;
    char frames[MEMSPAN_CALL_SITE_BYTES];

    if (call_is_filtered()) {
        return;
    }
    folder  = cli_environment(CLI_LIBMEMSPAN_ADVISE);
    owner   = getpid();
    began_s = cli_clock_s();
    dl_iterate_phdr(find_library, (void *)(uintptr_t)memspan_alloc);
    (void)memspan_call_site(frames, sizeof(frames)); /* loads the unwinder */
    call_open(leave);
    if (folder == NULL) {
        mode = PLACING;
    } else {
        (void)memspan_hooks_add(&hooks, &handle);
        sample_start(save);
        mode = WATCHING;
    }
}

__attribute__((destructor)) static void end(void)
{
    if ((mode == WATCHING) && !has_left && (getpid() == owner)) {
        sample_stop();
        save();
    }
}
