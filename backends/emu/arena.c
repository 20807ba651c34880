/* SPDX-License-Identifier: BSD-3-Clause */
/* arena.c: addresses of the devices' memory.
 *
 * Each device has a part of the arena, EMU_SPREAD times its memory. A search starts where the last
 * one ended, so that freed addresses stay unowned for as long as can be: a pointer that is used too
 * late strikes, and the table still has the block that was there. The table has an entry for each
 * granule; readers take no lock. */

#include "backends/emu/emu.h"
#include "core/base/platform.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { ADDRESS_BITS_MAX = 44 };

static size_t table_bytes(const struct emu *emu)
{
    return emu->arena_bytes / EMU_GRANULE_BYTES * sizeof(emu->granules[0]);
}

static void *map(size_t size, int access, int flags, int file)
{
    void *address = mmap(NULL, size, access, flags | MAP_NORESERVE, file, 0);

    return (address == MAP_FAILED) ? NULL : address;
}

/* The arena starts on a granule; the mapping around it is given back. */
static char *map_aligned(const struct emu *emu)
{
    size_t size = emu->arena_bytes;
    char *all   = map(size + EMU_GRANULE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    char *base;
    size_t before;

    if (all == NULL) {
        return NULL;
    }
    base   = all + (EMU_GRANULE_BYTES - (uintptr_t)all % EMU_GRANULE_BYTES) % EMU_GRANULE_BYTES;
    before = (size_t)(base - all);
    if (before > 0) {
        munmap(all, before);
    }
    munmap(base + size, EMU_GRANULE_BYTES - before);
    if (mmap(base, size, PROT_NONE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, emu->file, 0) ==
        MAP_FAILED) {
        munmap(base, size);
        return NULL;
    }
    return base;
}

memspan_status_t emu_file_make(const struct emu *emu, const char *name, size_t size_bytes,
                               int *file_p)
{
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    int file;

    /* Beyond the limit the system would send a signal that ends the program. */
    getrlimit(RLIMIT_FSIZE, &limit);
    if ((limit.rlim_cur != RLIM_INFINITY) && (size_bytes > limit.rlim_cur)) {
        return emu_refuse(emu, MEMSPAN_ERR_LIMIT, "raise the limit (ulimit -f)",
                          "a memory file of %zu bytes is over the limit of %llu", size_bytes,
                          (unsigned long long)limit.rlim_cur);
    }
    file = memfd_create(name, MFD_CLOEXEC);
    if (file < 0) {
        return emu_system_error(emu, "memfd_create", "no memory file of %zu bytes", size_bytes);
    }
    if (ftruncate(file, (off_t)size_bytes) != 0) {
        memspan_status_t status =
            emu_system_error(emu, "ftruncate", "no memory file of %zu bytes", size_bytes);
        close(file);
        return status;
    }
    *file_p = file;
    return MEMSPAN_OK;
}

memspan_status_t emu_arena_map(struct emu *emu)
{
    memspan_status_t status;
    size_t total;

    emu->part_bytes = msp_round_up(emu->capacity_bytes * EMU_SPREAD, EMU_GRANULE_BYTES);
    if ((emu->capacity_bytes < EMU_GRANULE_BYTES) ||
        (emu->capacity_bytes > ((uint64_t)1 << ADDRESS_BITS_MAX) / EMU_SPREAD) ||
        __builtin_mul_overflow(emu->part_bytes, (size_t)emu->device_count, &total) ||
        (total > ((size_t)1 << ADDRESS_BITS_MAX))) {
        return emu_refuse(emu, MEMSPAN_ERR_CONFIG, "MEMSPAN_EMU_MEMORY=1g is the default",
                          "%d devices of %llu bytes: a device has 64 KiB or more, and all have "
                          "4 TiB or less",
                          emu->device_count, (unsigned long long)emu->capacity_bytes);
    }
    emu->arena_bytes = total;
    status           = emu_file_make(emu, "memspan-emu", total, &emu->file);
    if (status != MEMSPAN_OK) {
        return status;
    }
    emu->arena = map_aligned(emu);
    if (emu->arena != NULL) {
        emu->window = map(total, PROT_READ | PROT_WRITE, MAP_SHARED, emu->file);
        emu->granules =
            map(table_bytes(emu), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    }
    if ((emu->arena == NULL) || (emu->window == NULL) || (emu->granules == NULL)) {
        return emu_system_error(emu, "mmap", "no %zu bytes of addresses for the devices", total);
    }
    madvise(emu->window, total, MADV_DONTFORK);
    return MEMSPAN_OK;
}

void emu_arena_unmap(struct emu *emu)
{
    if (emu->granules != NULL) {
        munmap((void *)emu->granules, table_bytes(emu));
    }
    if (emu->window != NULL) {
        munmap(emu->window, emu->arena_bytes);
    }
    if (emu->arena != NULL) {
        munmap(emu->arena, emu->arena_bytes);
    }
    if (emu->file >= 0) {
        close(emu->file);
    }
}

struct emu_block *emu_arena_find(const struct emu *emu, const void *address)
{
    size_t granule = (size_t)((const char *)address - emu->arena) / EMU_GRANULE_BYTES;

    /* Acquire pairs with the releases below: a block's record is seen whole. */
    return emu_arena_holds(emu, address)
               ? atomic_load_explicit(&emu->granules[granule], memory_order_acquire)
               : NULL;
}

memspan_status_t emu_arena_get(const struct emu *emu, const void *address, size_t size_bytes,
                               struct emu_block **block_p)
{
    struct emu_block *block = emu_arena_find(emu, address);
    size_t offset;

    if ((block == NULL) || (atomic_load(&block->state) != EMU_BLOCK_LIVE)) {
        return emu_refuse(emu, MEMSPAN_ERR_INVALID, NULL, "%p is no memory of a device%s", address,
                          (block == NULL) ? "" : " any more: it was freed");
    }
    offset = (size_t)((const char *)address - block->base);
    if ((offset > block->size_bytes) || (size_bytes > block->size_bytes - offset)) {
        return emu_refuse(emu, MEMSPAN_ERR_INVALID, NULL,
                          "%zu bytes at %p run past the end of %zu bytes at %p", size_bytes,
                          address, block->size_bytes, (void *)block->base);
    }
    *block_p = block;
    return MEMSPAN_OK;
}

static bool is_free(const struct emu *emu, size_t granule)
{
    const struct emu_block *block =
        atomic_load_explicit(&emu->granules[granule], memory_order_relaxed);

    return (block == NULL) || (atomic_load(&block->state) == EMU_BLOCK_FREED);
}

/* May a block start there? A granule stays free between two blocks. */
static bool may_start(const struct emu *emu, size_t granule, size_t first, size_t align)
{
    return ((granule == first) || is_free(emu, granule - 1)) &&
           ((uintptr_t)(emu->arena + granule * EMU_GRANULE_BYTES) % align == 0);
}

/* Where @p count free granules start in the part [first, end), searched from @p from; or @p end. */
static size_t search(const struct emu *emu, size_t first, size_t from, size_t end, size_t count,
                     size_t align)
{
    size_t run = 0;
    size_t i;

    for (i = from; i < end; i++) {
        if (!is_free(emu, i)) {
            run = 0;
        } else if ((run > 0) || may_start(emu, i, first, align)) {
            run++;
        }
        if (run == count) {
            return i + 1 - count;
        }
    }
    return end;
}

static void forget(struct emu *emu, struct emu_block *block)
{
    block->granules--;
    if (block->granules == 0) {
        block->next = emu->unused;
        emu->unused = block;
    }
}

/* Enter @p block for granules [first, first + count); earlier entries are forgotten. */
static void enter(struct emu *emu, struct emu_block *block, size_t first, size_t count)
{
    size_t i;

    for (i = first; i < first + count; i++) {
        struct emu_block *old = atomic_load_explicit(&emu->granules[i], memory_order_relaxed);

        block->granules++;
        atomic_store_explicit(&emu->granules[i], block, memory_order_release);
        if (old != NULL) {
            forget(emu, old);
        }
    }
}

static struct emu_block *take_record(struct emu *emu)
{
    struct emu_block *block = emu->unused;

    if (block != NULL) {
        emu->unused = block->next;
        return block;
    }
    block = calloc(1, sizeof(*block));
    if (block != NULL) {
        block->older = emu->records;
        emu->records = block;
    }
    return block;
}

struct emu_block *emu_arena_take(struct emu_device *device, size_t size_bytes, size_t align_bytes)
{
    struct emu *emu = device->emu;
    size_t part     = emu->part_bytes / EMU_GRANULE_BYTES;
    size_t first    = (size_t)device->ordinal * part;
    size_t count    = (size_bytes + EMU_GRANULE_BYTES - 1) / EMU_GRANULE_BYTES;
    size_t at       = search(emu, first, first + device->at, first + part, count + 1, align_bytes);
    struct emu_block *block;

    if (at == first + part) {
        at = search(emu, first, first, first + part, count + 1, align_bytes);
    }
    if (at == first + part) {
        emu_refuse(emu, MEMSPAN_ERR_NO_MEMORY, "free memory, or ask for less at a time",
                   "no %zu bytes of addresses in one piece, on a boundary of %zu, on emu%d",
                   size_bytes, align_bytes, device->ordinal);
        return NULL;
    }
    block = take_record(emu);
    if (block == NULL) {
        emu_refuse(emu, MEMSPAN_ERR_NO_MEMORY, NULL, "no memory for a block's record");
        return NULL;
    }
    block->base         = emu->arena + at * EMU_GRANULE_BYTES;
    block->size_bytes   = size_bytes;
    block->home         = device->ordinal;
    block->next         = NULL;
    block->imported     = false;
    block->granules     = 0;
    block->caller_count = 0;
    block->access_count = 0;
    atomic_store(&block->busy, 0);
    atomic_store(&block->given, 0);
    atomic_store(&block->state, EMU_BLOCK_LIVE);
    enter(emu, block, at, count);
    device->at = at + count + 1 - first;
    if (device->at >= part) {
        device->at = 0;
    }
    return block;
}

void emu_arena_give_back(struct emu *emu, struct emu_block *block)
{
    (void)emu;
    atomic_store(&block->state, EMU_BLOCK_FREED);
}
