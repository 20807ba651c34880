/* SPDX-License-Identifier: BSD-3-Clause */
/* preload.c: memspan-advise's library in the program that it runs. It takes the place of malloc and
 * its relatives and receives libmemspan's events. It watches (LIBMEMSPAN_ADVISE names a folder for
 * the profile), or gives blocks the memory that MEMSPAN_PLACEMENT says.
 *
 * Small blocks are the C library's and pass through. So do calls from inside this library and
 * libmemspan, which may hold locks. */

#include "cmd/common/environment.h"
#include "cmd/memspan-advise/preload/block.h"
#include "cmd/memspan-advise/preload/sample.h"
#include <errno.h>
#include <inttypes.h>
#include <link.h>
#include <malloc.h>
#include <memspan/memspan.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char cli_name[] = "memspan-advise";

/* The C library's own; dlsym() would call malloc(). */
extern void *__libc_malloc(size_t size_bytes);
extern void *__libc_calloc(size_t count, size_t size_bytes);
extern void *__libc_realloc(void *address, size_t size_bytes);
extern void *__libc_memalign(size_t align_bytes, size_t size_bytes);
extern void __libc_free(void *address);

enum { FILTER = 1 << 14 };

static enum { OFF, WATCHING, PLACING } mode;
static const char *folder;
static pid_t owner;
static double began_s;
static uintptr_t library_start; /* of libmemspan's code */
static uintptr_t library_end;
static atomic_uint filter[FILTER]; /* how many blocks have an address of that hash */
static __thread bool inside;

static atomic_uint *filter_of(const void *address)
{
    return &filter[((uintptr_t)address >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 50];
}

static bool may_be_known(const void *address)
{
    return atomic_load_explicit(filter_of(address), memory_order_relaxed) != 0;
}

static bool is_concerned(size_t size_bytes, const void *caller)
{
    return (size_bytes >= MEMSPAN_PLACEMENT_BYTES) && (mode != OFF) && !inside &&
           ((uintptr_t)caller - library_start >= library_end - library_start);
}

static void add(void *address, size_t size_bytes, bool filled, bool placed)
{
    inside = true;
    atomic_fetch_add(filter_of(address), 1);
    block_add(address, size_bytes, filled, placed);
    inside = false;
}

static bool remove_known(void *address, struct block *block_p)
{
    bool known = (address != NULL) && may_be_known(address) && block_remove(address, block_p);

    if (known) {
        atomic_fetch_sub(filter_of(address), 1);
    }
    return known;
}

/* Placed memory; NULL: there is none for the calling code. */
static void *take_placed(size_t align_bytes, size_t size_bytes, bool zeroed)
{
    memspan_allocator_h allocator;
    void *address = NULL;

    inside    = true;
    allocator = memspan_placement_find();
    if (allocator != MEMSPAN_ALLOCATOR_NULL) {
        address = memspan_aligned_alloc(allocator, align_bytes, size_bytes);
        if ((address != NULL) && zeroed) {
            memset(address, 0, size_bytes);
        }
    }
    inside = false;
    return address;
}

static void *take(size_t align_bytes, size_t size_bytes, bool zeroed)
{
    void *address = (mode == PLACING) ? take_placed(align_bytes, size_bytes, zeroed) : NULL;
    bool placed   = address != NULL;

    if (!placed) {
        address = zeroed             ? __libc_calloc(1, size_bytes)
                  : align_bytes > 16 ? __libc_memalign(align_bytes, size_bytes)
                                     : __libc_malloc(size_bytes);
    }
    if ((address != NULL) && (placed || (mode == WATCHING))) {
        add(address, size_bytes, false, placed);
    }
    return address;
}

/* ---- the C library's names ---- */

#define EXPORT __attribute__((visibility("default")))

EXPORT void *malloc(size_t size_bytes)
{
    return is_concerned(size_bytes, __builtin_return_address(0)) ? take(16, size_bytes, false)
                                                                 : __libc_malloc(size_bytes);
}

EXPORT void *calloc(size_t count, size_t size_bytes)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size_bytes, &bytes) ||
        !is_concerned(bytes, __builtin_return_address(0))) {
        return __libc_calloc(count, size_bytes);
    }
    return take(16, bytes, true);
}

EXPORT void free(void *address)
{
    struct block block;

    if (remove_known(address, &block) && block.placed) {
        inside = true;
        (void)memspan_free(address);
        inside = false;
    } else {
        __libc_free(address);
    }
}

EXPORT void *realloc(void *address, size_t size_bytes)
{
    bool concerned     = is_concerned(size_bytes, __builtin_return_address(0));
    struct block block = {0};
    size_t old_bytes;
    void *moved;

    if ((size_bytes == 0) || ((address != NULL) && may_be_known(address))) {
        (void)block_find(address, &block);
    }
    if ((address == NULL) || (!concerned && (block.address == NULL))) {
        return concerned ? take(16, size_bytes, false) : __libc_realloc(address, size_bytes);
    }
    old_bytes = (block.address != NULL) ? block.size_bytes : malloc_usable_size(address);
    moved     = concerned ? take(16, size_bytes, false) : __libc_malloc(size_bytes);
    if (moved != NULL) {
        memcpy(moved, address, (old_bytes < size_bytes) ? old_bytes : size_bytes);
        free(address);
    }
    return moved;
}

EXPORT void *memalign(size_t align_bytes, size_t size_bytes)
{
    return is_concerned(size_bytes, __builtin_return_address(0))
               ? take(align_bytes, size_bytes, false)
               : __libc_memalign(align_bytes, size_bytes);
}

EXPORT void *aligned_alloc(size_t align_bytes, size_t size_bytes)
{
    return is_concerned(size_bytes, __builtin_return_address(0))
               ? take(align_bytes, size_bytes, false)
               : __libc_memalign(align_bytes, size_bytes);
}

EXPORT int posix_memalign(void **address_p, size_t align_bytes, size_t size_bytes)
{
    void *address;

    if ((align_bytes % sizeof(void *) != 0) || (align_bytes == 0) ||
        ((align_bytes & (align_bytes - 1)) != 0)) {
        return EINVAL;
    }
    address = is_concerned(size_bytes, __builtin_return_address(0))
                  ? take(align_bytes, size_bytes, false)
                  : __libc_memalign(align_bytes, size_bytes);
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
        add(block->address, block->size_bytes, data != NULL, false);
    }
}

static void freeing(void *data, const memspan_hook_block_t *block)
{
    struct block known;

    (void)data;
    (void)remove_known(block->address, &known);
}

static void reallocated(void *data, const memspan_hook_block_t *old,
                        const memspan_hook_block_t *block)
{
    if (old->address != block->address) {
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

__attribute__((constructor)) static void begin(void)
{
    static const memspan_hooks_t hooks = {.struct_size = sizeof(hooks),
                                          .allocated   = allocated,
                                          .freeing     = freeing,
                                          .reallocated = reallocated};
    memspan_hooks_h handle;
    char frames[MEMSPAN_CALL_SITE_BYTES];

    folder  = cli_environment(CLI_LIBMEMSPAN_ADVISE);
    owner   = getpid();
    began_s = block_now_s();
    dl_iterate_phdr(find_library, (void *)(uintptr_t)memspan_alloc);
    (void)memspan_call_site(frames, sizeof(frames)); /* loads the unwinder */
    if (folder == NULL) {
        mode = PLACING;
    } else if (block_open() && (memspan_hooks_add(&hooks, &handle) == MEMSPAN_OK)) {
        sample_start();
        mode = WATCHING;
    }
}

__attribute__((destructor)) static void end(void)
{
    double now_s = block_now_s();
    struct site *sites;
    char program[4096];
    char path[4096];
    FILE *file;
    size_t count;
    ssize_t n;

    if ((mode != WATCHING) || (getpid() != owner)) {
        return;
    }
    inside = true;
    sample_stop();
    block_close();
    count = block_sites(&sites);
    (void)snprintf(path, sizeof(path), "%s/%d", folder, (int)owner);
    file = fopen(path, "we");
    if (file == NULL) {
        return;
    }
    n                        = readlink("/proc/self/exe", program, sizeof(program) - 1);
    program[(n < 0) ? 0 : n] = '\0';
    fprintf(file, "memspan-profile 1\nprogram %s\nseconds %.3f\nsource %s\n", program,
            now_s - began_s, sample_source());
    for (size_t i = 0; i < count; i++) {
        const struct site *s = &sites[i];

        fprintf(file,
                "site %" PRIu64 " %" PRIu64 " %" PRIu64 " %.6f %.6f %" PRIu64 " %" PRIu64 " %s\n",
                s->count, s->peak_bytes, s->total_bytes, s->lifetime_s, s->exposure_s, s->hits,
                s->edges, s->frames);
    }
    (void)fclose(file);
}
