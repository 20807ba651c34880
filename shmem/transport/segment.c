/* SPDX-License-Identifier: BSD-3-Clause */
/* segment.c: the arena, and segments in it or outside.
 *
 * The addresses of the arena are tried where nothing else is put by the system, by sanitizers or by
 * drivers; all PEs must get the same ones, or each takes its own: then addresses differ between PEs
 * and everything else stays as it is. */

#include "shmem/transport/segment.h"
#include "shmem/control/agree.h"
#include "shmem/transport/transport.h"
#include <errno.h>
#include <memspan/allocator.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct msp_arena msp_arena;

/* Whole pages, to be wiped in children: the name for them is that of the array at their start. */
static struct {
    _Alignas(MSP_WIPED_BYTES) struct msp_segment table[MSP_SEGMENT_MAX];
} segment_pages MSP_SPARSE;
extern struct msp_segment msp_segments[MSP_SEGMENT_MAX] __attribute__((alias("segment_pages")));

static unsigned char unit_owner[MSP_ARENA_UNITS];
static char *windows[MSP_SEGMENT_MAX];
static struct msp_members *team_members[MSP_SEGMENT_MAX]; /* of their teams; NULL: a run of PEs */

/* Where adopted segments are, by index: read by any thread while others are made. */
static struct {
    _Atomic uintptr_t base;
    _Atomic size_t size_bytes; /* 0: there is none; written last */
} adopted[MSP_SEGMENT_MAX];
static atomic_int adopted_top; /* one past the last index that has been in use */

_Static_assert(MSP_SEGMENT_MAX <= 256, "a unit's owner is a byte");

/* Also where base pages are 64 KiB a unit is whole pages. */
enum {
    UNIT_SHIFT_MIN   = 24, /* as a rule */
    UNIT_SHIFT_TIGHT = 21, /* where addresses are limited: still whole huge pages */
    UNIT_SHIFT_MAX   = 44,
    HUGE_BYTES       = 1 << UNIT_SHIFT_TIGHT,
};

/* ---- the arena ---- */

static const uintptr_t candidates[] = {
#if defined(__x86_64__)
    UINT64_C(0x200000000000), UINT64_C(0x280000000000),
    UINT64_C(0x7e9000000000), /* where the thread sanitizer lets programs be */
#else
    UINT64_C(0x200000000000), UINT64_C(0x002000000000), /* 39-bit addresses */
#endif
};

/* The address is a hint: the thread sanitizer moves mappings that are not where it expects
 * programs. */
static void *reserve(uintptr_t address, size_t size_bytes)
{
    void *got = mmap((void *)address, size_bytes, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if ((got != MAP_FAILED) && (address != 0) && ((uintptr_t)got != address)) {
        munmap(got, size_bytes);
        got = MAP_FAILED;
    }
    return (got == MAP_FAILED) ? NULL : got;
}

/* The first candidate that all PEs get. */
static void *reserve_common(size_t size_bytes)
{
    size_t i;

    for (i = 0; i < sizeof candidates / sizeof candidates[0]; i++) {
        void *got = reserve(candidates[i], size_bytes);

        if (msp_agree_all(msp_team_job(), got != NULL)) {
            return got;
        }
        if (got != NULL) {
            munmap(got, size_bytes);
        }
    }
    return NULL;
}

/* Each PE its own, on a boundary of the unit: huge pages need it. NULL in all PEs if in one. */
static void *reserve_apart(size_t size_bytes, size_t align_bytes)
{
    char *got    = reserve(0, size_bytes + align_bytes);
    char *first  = (char *)msp_round_up((uintptr_t)got, align_bytes);
    size_t above = (got != NULL) ? (size_t)(got + align_bytes - first) : 0;

    if (!msp_agree_all(msp_team_job(), got != NULL)) {
        if (got != NULL) {
            munmap(got, size_bytes + align_bytes);
        }
        return NULL;
    }
    if (first != got) {
        munmap(got, (size_t)(first - got));
    }
    if (above != 0) {
        munmap(first + size_bytes, above);
    }
    msp_debug_note("symmetric addresses differ between PEs: no common range of %zu bytes",
                   size_bytes);
    return first;
}

/* Units such that @p share times the partitions have addresses. */
static unsigned shift_for(size_t total_bytes, size_t largest_bytes, unsigned share, unsigned shift)
{
    while ((shift <= UNIT_SHIFT_MAX) &&
           ((((size_t)MSP_ARENA_UNITS << shift) / share < total_bytes) ||
            (((size_t)MSP_ARENA_UNITS << shift) / 2 < largest_bytes))) {
        shift++;
    }
    return shift;
}

/* Under a limit on address space the arena is not all that is needed: windows on the copies of all
 * PEs, and the addresses of the program and the heaps' records. The same answer in all PEs. */
static bool leaves_addresses(size_t total_bytes)
{
    size_t windows_bytes = total_bytes * ((size_t)msp_job.local_count + 1);
    void *probe          = reserve(0, windows_bytes + ((size_t)256 << 20));

    if (probe != NULL) {
        munmap(probe, windows_bytes + ((size_t)256 << 20));
    }
    return msp_agree_all(msp_team_job(), probe != NULL);
}

/* The arena of that size; NULL in all PEs if in one. */
static void *reserve_arena(unsigned shift)
{
    size_t size_bytes = (size_t)MSP_ARENA_UNITS << shift;
    void *got         = reserve_common(size_bytes);

    msp_arena.is_common = (got != NULL);
    return (got != NULL) ? got : reserve_apart(size_bytes, (size_t)1 << shift);
}

memspan_status_t msp_arena_open(size_t total_bytes, size_t largest_bytes)
{
    /* As much again for partitions to come, and whole units for each. */
    unsigned shift    = shift_for(total_bytes, largest_bytes, 4, UNIT_SHIFT_MIN);
    unsigned tight    = shift_for(total_bytes, largest_bytes, 2, UNIT_SHIFT_TIGHT);
    void *got         = NULL;
    size_t size_bytes = 0;

    if (shift > UNIT_SHIFT_MAX) {
        return memspan_error(MEMSPAN_ERR_INVALID, "partitions of %zu bytes have no addresses",
                             total_bytes);
    }
    for (shift++; (got == NULL) && (shift > tight);) {
        size_bytes = (size_t)MSP_ARENA_UNITS << --shift;
        got        = reserve_arena(shift);
        if ((got != NULL) && (shift > tight) && !leaves_addresses(total_bytes)) {
            munmap(got, size_bytes);
            got = NULL;
        }
    }
    if (got == NULL) {
        msp_error_elsewhere(MEMSPAN_ERR_NO_MEMORY,
                            "no %zu bytes of addresses for symmetric memory, here or in another PE",
                            size_bytes);
        return msp_error_hint("a limit on address space (ulimit -v) is in the way; partitions "
                              "can be made smaller");
    }
    memset(unit_owner, MSP_SEGMENT_NONE, sizeof unit_owner);
    msp_arena.base       = (uintptr_t)got;
    msp_arena.shift      = shift;
    msp_arena.segment_of = unit_owner;
    msp_arena.unit_count = MSP_ARENA_UNITS;
    return MEMSPAN_OK;
}

void msp_arena_close(void)
{
    if (msp_arena.unit_count != 0) {
        munmap((void *)msp_arena.base, (size_t)MSP_ARENA_UNITS << msp_arena.shift);
    }
    memset(&msp_arena, 0, sizeof msp_arena);
}

/* ---- segments ---- */

/* The first run of @p count free units from @p from on; MSP_ARENA_UNITS: none. */
static unsigned free_run(unsigned from, unsigned count)
{
    unsigned length = 0;
    unsigned i;

    for (i = from; i < MSP_ARENA_UNITS; i++) {
        length = (unit_owner[i] == MSP_SEGMENT_NONE) ? (length + 1) : 0;
        if (length == count) {
            return i + 1 - count;
        }
    }
    return MSP_ARENA_UNITS;
}

/* The first index that is free from @p from on; MSP_SEGMENT_MAX: none. */
static unsigned free_index_from(unsigned from, unsigned count)
{
    unsigned i = (from > MSP_SEGMENT_FIRST) ? from : MSP_SEGMENT_FIRST;

    (void)count;
    while ((i < MSP_SEGMENT_MAX) && (msp_segments[i].size_bytes != 0)) {
        i++;
    }
    return (i < MSP_SEGMENT_MAX) ? i : MSP_SEGMENT_MAX;
}

/* The same place in every member: each names the first it has free from where the last round ended,
 * until all name the same, or one has none (@p none). */
static unsigned agree(struct msp_team *team, unsigned (*find)(unsigned from, unsigned count),
                      unsigned count, unsigned none)
{
    unsigned at = 0;

    for (;;) {
        unsigned mine = find(at, count);
        unsigned most = (unsigned)msp_agree_max(team, mine);

        if (msp_agree_all(team, mine == most) || (most >= none)) {
            return most;
        }
        at = most;
    }
}

/* The whole file, on a boundary of @p align_bytes; MAP_FAILED. */
static char *map_window(size_t file_bytes, const struct msp_segment_file *file)
{
    size_t align_bytes = file->align_bytes;

    char *got   = reserve(0, file_bytes + align_bytes);
    char *first = (char *)msp_round_up((uintptr_t)got, align_bytes);
    char *end   = got + file_bytes + align_bytes;
    void *window;

    if (got == NULL) {
        return MAP_FAILED;
    }
    window = mmap(first, file_bytes, PROT_READ | PROT_WRITE,
                  file->map_flags | MAP_NORESERVE | MAP_FIXED, file->fd, (off_t)file->offset_bytes);
    if (window == MAP_FAILED) {
        munmap(got, file_bytes + align_bytes);
        return MAP_FAILED;
    }
    if (first != got) {
        munmap(got, (size_t)(first - got));
    }
    if (first + file_bytes != end) {
        munmap(first + file_bytes, (size_t)(end - first - file_bytes));
    }
    return window;
}

static memspan_status_t map_both(int index, const struct msp_segment_file *file)
{
    struct msp_segment *segment = &msp_segments[index];
    size_t file_bytes           = segment->stride_bytes * (size_t)msp_job.local_count;
    void *own;
    void *window;

    /* Of huge pages a mapping without that flag makes sure of its share: too few are an error here
     * instead of a signal later. It does not concern others. */
    own    = mmap(segment->base, segment->stride_bytes, PROT_READ | PROT_WRITE,
                  file->map_flags | MAP_FIXED, file->fd,
                  (off_t)(file->offset_bytes + (segment->stride_bytes * (size_t)msp_job.local_index)));
    window = (own != MAP_FAILED) ? map_window(file_bytes, file) : MAP_FAILED;
    if (window == MAP_FAILED) {
        return msp_error_native(MEMSPAN_ERR_NO_MEMORY, "", "mmap", errno, strerror(errno),
                                "there may be too few huge pages for all PEs, or a limit on "
                                "address space (ulimit -v)",
                                "a partition of %zu bytes for each of %d PEs cannot be mapped",
                                segment->stride_bytes, msp_job.local_count);
    }
    windows[index]       = window;
    segment->to_window   = (intptr_t)((uintptr_t)window - (uintptr_t)segment->base);
    segment->reach_count = (unsigned)msp_job.direct_count;
    return MEMSPAN_OK;
}

static void unmap_both(int index)
{
    struct msp_segment *segment = &msp_segments[index];

    if (windows[index] != NULL) {
        munmap(windows[index], segment->stride_bytes * (size_t)msp_job.local_count);
        windows[index] = NULL;
    }
    /* The addresses stay reserved. */
    (void)mmap(segment->base, segment->stride_bytes, PROT_NONE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

static void set_owner(const struct msp_segment *segment, unsigned char owner)
{
    size_t first = ((uintptr_t)segment->base - msp_arena.base) >> msp_arena.shift;
    size_t count = (segment->stride_bytes + ((size_t)1 << msp_arena.shift) - 1) >> msp_arena.shift;

    memset(&unit_owner[first], owner, count);
}

/* An index that is free in all members. */
static memspan_status_t find_index(struct msp_team *team, unsigned *index_p)
{
    *index_p = agree(team, free_index_from, 1, MSP_SEGMENT_MAX);
    return (*index_p < MSP_SEGMENT_MAX)
               ? MEMSPAN_OK
               : memspan_error(MEMSPAN_ERR_LIMIT, "there are %d symmetric segments already",
                               MSP_SEGMENT_MAX);
}

/* Addresses that are free in all members. */
static memspan_status_t find_units(struct msp_team *team, const char *name, size_t stride_bytes,
                                   unsigned *unit_p)
{
    size_t unit_bytes = (size_t)1 << msp_arena.shift;
    size_t units      = (stride_bytes + unit_bytes - 1) >> msp_arena.shift;
    unsigned count    = (units < MSP_ARENA_UNITS) ? (unsigned)units : MSP_ARENA_UNITS;

    *unit_p = agree(team, free_run, count, MSP_ARENA_UNITS);
    if ((stride_bytes == 0) || (*unit_p >= MSP_ARENA_UNITS)) {
        memspan_error(MEMSPAN_ERR_NO_MEMORY, "no addresses are left for %s of %zu bytes", name,
                      stride_bytes);
        return msp_error_hint("partitions that the environment asks for at start are always "
                              "given addresses");
    }
    return MEMSPAN_OK;
}

memspan_status_t msp_segment_finish(struct msp_team *team, unsigned index, const char *name,
                                    memspan_status_t status)
{
    memspan_status_t registered =
        (msp_job.transport != NULL) ? msp_job.transport->segment_register(index) : MEMSPAN_OK;

    status = (status == MEMSPAN_OK) ? registered : status;
    if (msp_agree_all(team, status == MEMSPAN_OK)) {
        return MEMSPAN_OK;
    }
    return (status != MEMSPAN_OK)
               ? status
               : msp_error_elsewhere(MEMSPAN_ERR_NO_MEMORY, "another PE cannot map %s", name);
}

/* Ordinary pages can become huge ones where copies and windows lie on the same boundaries in memory
 * and in the file. */
static size_t page_for(size_t size_bytes)
{
    return (size_bytes < HUGE_BYTES) ? msp_page_size() : HUGE_BYTES;
}

/* Index, addresses and mappings; on failure nothing of them is left, and @p file stays open. */
static memspan_status_t create(struct msp_team *team, const char *name, size_t size_bytes,
                               unsigned index, unsigned unit, const struct msp_segment_file *file)
{
    struct msp_segment *segment = &msp_segments[index];
    memspan_status_t status;

    *segment =
        (struct msp_segment){.base = (char *)(msp_arena.base + ((size_t)unit << msp_arena.shift)),
                             .stride_bytes = file->stride_bytes,
                             .partition    = -1,
                             .host_touches = true,
                             .fd           = file->fd};
    status = msp_segment_finish(team, index, name, map_both((int)index, file));
    if (status != MEMSPAN_OK) {
        unmap_both((int)index);
        memset(segment, 0, sizeof *segment);
        return status;
    }
    segment->size_bytes = size_bytes;
    set_owner(segment, (unsigned char)index);
    return MEMSPAN_OK;
}

memspan_status_t msp_segment_create(struct msp_team *team, const char *name, size_t size_bytes,
                                    size_t page_bytes, int *index_p)
{
    bool is_huge                 = (page_bytes > msp_page_size());
    size_t page                  = is_huge ? page_bytes : page_for(size_bytes);
    size_t stride                = msp_round_up(size_bytes, page);
    struct msp_segment_file file = {
        .fd = -1, .map_flags = MAP_SHARED, .stride_bytes = stride, .align_bytes = page};
    memspan_status_t status;
    unsigned index;
    unsigned unit;

    status = find_index(team, &index);
    if (status == MEMSPAN_OK) {
        status = find_units(team, name, stride, &unit);
    }
    if (status == MEMSPAN_OK) {
        status = msp_agree_share_file(team, name, stride * (size_t)msp_job.local_count,
                                      is_huge ? page : 0, &file.fd);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    status = create(team, name, size_bytes, index, unit, &file);
    if (status != MEMSPAN_OK) {
        close(file.fd);
        return status;
    }
    *index_p = (int)index;
    return MEMSPAN_OK;
}

memspan_status_t msp_segment_create_in(struct msp_team *team, const char *name, size_t size_bytes,
                                       const struct msp_segment_file *file, int *index_p)
{
    memspan_status_t status;
    unsigned index;
    unsigned unit;

    status = find_index(team, &index);
    if (status == MEMSPAN_OK) {
        status = find_units(team, name, file->stride_bytes, &unit);
    }
    if (status == MEMSPAN_OK) {
        status = create(team, name, size_bytes, index, unit, file);
    }
    if (status == MEMSPAN_OK) {
        *index_p = (int)index;
    }
    return status;
}

memspan_status_t msp_segment_adopt(struct msp_team *team, void *base, size_t size_bytes,
                                   bool host_touches, int *index_p)
{
    memspan_reach_t host = {.access = MEMSPAN_ACCESS_NONE};
    memspan_status_t status;
    unsigned index;

    status = find_index(team, &index);
    if (status != MEMSPAN_OK) {
        return status;
    }
    if (!host_touches) {
        (void)memspan_pointer_reach(base, MEMSPAN_HOST, &host);
    }
    msp_segments[index] =
        (struct msp_segment){.base         = base,
                             .size_bytes   = size_bytes,
                             .stride_bytes = size_bytes,
                             .partition    = -1,
                             .host_touches = host_touches,
                             .host_updates = (host.access >= MEMSPAN_ACCESS_FAULT) &&
                                             (host.coherence == MEMSPAN_COHERENCE_ATOMIC),
                             .fd = -1};
    atomic_store_explicit(&adopted[index].base, (uintptr_t)base, memory_order_relaxed);
    atomic_store_explicit(&adopted[index].size_bytes, size_bytes, memory_order_release);
    if ((int)index >= atomic_load(&adopted_top)) {
        atomic_store(&adopted_top, (int)index + 1);
    }
    status = msp_segment_finish(team, index, "memory", MEMSPAN_OK);
    if (status != MEMSPAN_OK) {
        msp_segment_destroy((int)index);
        return status;
    }
    *index_p = (int)index;
    return MEMSPAN_OK;
}

/* Fast paths serve runs of PEs that begin with the host's first; others take the slow path. */
void msp_segment_limit(int index, const struct msp_team *team)
{
    struct msp_segment *segment = &msp_segments[index];
    unsigned run                = 0;

    segment->team_start  = team->start;
    segment->team_stride = team->stride;
    segment->team_size   = team->size;
    team_members[index]  = team->members;
    msp_members_hold(team->members);
    while ((run < segment->reach_count) &&
           msp_segment_has_pe(segment, msp_job.first_local + (int)run)) {
        run++;
    }
    segment->reach_count = run;
}

bool msp_segment_has_pe(const struct msp_segment *segment, int pe)
{
    return (segment->team_size == 0) ||
           (msp_members_number(team_members[segment - msp_segments], segment->team_start,
                               segment->team_stride, segment->team_size, pe) >= 0);
}

void msp_segment_destroy(int index)
{
    struct msp_segment *segment = &msp_segments[index];

    if (msp_job.transport != NULL) {
        msp_job.transport->segment_release((unsigned)index);
    }
    if (segment->fd >= 0) {
        set_owner(segment, MSP_SEGMENT_NONE);
        unmap_both(index);
        close(segment->fd);
    }
    msp_members_release(team_members[index]);
    team_members[index] = NULL;
    atomic_store(&adopted[index].size_bytes, 0);
    memset(segment, 0, sizeof *segment);
}

const struct msp_segment *msp_segment_find(const void *address)
{
    int top = atomic_load_explicit(&adopted_top, memory_order_acquire);
    int i;

    for (i = MSP_SEGMENT_FIRST; i < top; i++) {
        size_t size    = atomic_load_explicit(&adopted[i].size_bytes, memory_order_acquire);
        uintptr_t base = atomic_load_explicit(&adopted[i].base, memory_order_relaxed);

        if ((uintptr_t)address - base < size) {
            return &msp_segments[i];
        }
    }
    return &msp_segments[MSP_SEGMENT_NONE];
}

void msp_segment_wipe_in_children(void)
{
    if ((madvise(&msp_job, sizeof msp_job, MADV_WIPEONFORK) != 0) ||
        (madvise(&segment_pages, sizeof segment_pages, MADV_WIPEONFORK) != 0)) {
        msp_debug_note("children of _Fork() and clone() are taken for PEs: madvise: %s",
                       strerror(errno));
    }
}

uint64_t msp_segment_key(const void *address)
{
    const struct msp_segment *segment = msp_segment_of(address);
    uint64_t index                    = (uint64_t)(segment - msp_segments);

    return (index << 48) | ((uintptr_t)address - (uintptr_t)segment->base);
}
