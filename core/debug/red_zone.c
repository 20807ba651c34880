/* SPDX-License-Identifier: BSD-3-Clause */
/* red_zone.c: the layout of patterns and closed pages, and their checks.
 *
 * With pages:     [ pattern .. | block | pattern ][ closed page ]
 *   The block's end is as near to the closed page as its alignment lets it be. On boundaries of
 * more than a page the front is closed pages, not a pattern. Without pages:  [ pattern | block |
 * pattern ]
 *
 * A page is closed by a guard region (MADV_GUARD_INSTALL, Linux 6.13), which lives in the page
 * table and costs no mapping, or by mprotect(), which splits the mapping. A zone is closed by one
 * or by both, and opened by the same. Kernels refuse guard regions in locked memory and in reserved
 * huge pages.
 *
 * Of a backend that checks accesses (MEMSPAN_BACKEND_CHECKS): [ pattern .. | block ] in whole
 * pages, which that backend gives by themselves: it watches the addresses behind them, and the
 * pages themselves when they are given back.
 *
 * On boundaries beyond FRONT_MAX there is no front: the memory that it would take is out of
 * proportion. Only the PATTERN_MAX bytes nearest to the block are written and checked. */

#include "core/debug/red_zone.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/platform.h"
#include "core/debug/guard_report.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum {
    PATTERN       = 0xb5, /* neither text nor a small number */
    PATTERN_FREED = 0xd6,
    PATTERN_MIN   = 64,
    PATTERN_MAX   = 4096,
    DRIVER_MAX    = 256, /* a copy from a device costs more */
    FRONT_MAX     = 1 << 16,
    /* A guard region costs time by the page. The quarantine has few ranges of more than this. */
    REGION_MAX = 4 << 20,
};

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#define MADV_GUARD_REMOVE  103
#endif

/* Managed memory is the host's only while the device rests, so its driver fills it. */
static enum msp_red_zone_reach reach_of(const struct msp_provider *p)
{
    const memspan_backend_t *table = p->spec.device->table;

    if ((p->spec.kind != MEMSPAN_KIND_DEVICE) && (p->spec.kind != MEMSPAN_KIND_MANAGED) &&
        msp_provider_host_touches(p)) {
        return MSP_RED_ZONE_HOST;
    }
    return ((table->fill != NULL) && (table->copy != NULL)) ? MSP_RED_ZONE_DRIVER
                                                            : MSP_RED_ZONE_NONE;
}

/* Locked pages are few, and pages that a driver has imported are not ours alone. */
static bool host_owns_mapping(const struct msp_provider *p)
{
    return ((p->spec.device->table->flags & MEMSPAN_BACKEND_IS_HOST) != 0) &&
           (p->spec.kind == MEMSPAN_KIND_HOST) && (p->spec.importer_count == 0) &&
           ((p->spec.flags & MEMSPAN_REQUEST_PINNED) == 0);
}

static void plan_pages(struct msp_red_zone *f, size_t align)
{
    size_t page = msp_page_size();
    size_t body;

    f->closed_back_bytes = page;
    if (align <= page) {
        body               = msp_round_up(f->size_bytes, align);
        f->raw_align_bytes = page;
        f->raw_bytes       = msp_round_up(body + PATTERN_MIN, page) + page;
        f->front_bytes     = f->raw_bytes - page - body;
    } else {
        f->raw_align_bytes    = align;
        f->front_bytes        = (align <= FRONT_MAX) ? align : 0;
        f->closed_front_bytes = f->front_bytes;
        f->raw_bytes          = f->front_bytes + msp_round_up(f->size_bytes, page) + page;
    }
}

static void plan_apart(struct msp_red_zone *f, size_t align)
{
    size_t page = msp_page_size();
    size_t body = msp_round_up(f->size_bytes, (align <= page) ? align : page);

    f->raw_align_bytes = (align <= page) ? page : align;
    f->raw_bytes       = msp_round_up(body + ((align <= page) ? PATTERN_MIN : 0), page);
    f->front_bytes     = (align <= page) ? f->raw_bytes - body : 0;
}

static void plan_pattern(struct msp_red_zone *f, size_t align)
{
    f->raw_align_bytes = align;
    f->front_bytes     = (align <= FRONT_MAX) ? msp_round_up(PATTERN_MIN, align) : 0;
    f->raw_bytes       = f->front_bytes + msp_round_up(f->size_bytes, 16) + PATTERN_MIN;
}

bool msp_red_zone_plan(struct msp_provider *provider, size_t size_bytes, size_t align_bytes,
                       bool pages, struct msp_red_zone *zone_p)
{
    struct msp_red_zone f = {.provider = provider, .size_bytes = size_bytes};

    if ((size_bytes > SIZE_MAX / 4) || (align_bytes > SIZE_MAX / 4)) {
        return false;
    }
    f.reach    = reach_of(provider);
    f.closable = (f.reach == MSP_RED_ZONE_HOST) && host_owns_mapping(provider);
    f.paged    = pages && f.closable;
    f.apart    = pages && ((provider->spec.device->table->flags & MEMSPAN_BACKEND_CHECKS) != 0) &&
              (provider->spec.importer_count == 0);
    if (f.paged) {
        plan_pages(&f, align_bytes);
    } else if (f.apart) {
        plan_apart(&f, align_bytes);
    } else if (f.reach != MSP_RED_ZONE_NONE) {
        plan_pattern(&f, align_bytes);
    } else {
        f.raw_align_bytes = align_bytes;
        f.raw_bytes       = size_bytes;
    }
    *zone_p = f;
    return true;
}

void msp_red_zone_plan_bare(struct msp_provider *provider, size_t size_bytes, size_t align_bytes,
                            size_t raw_bytes, struct msp_red_zone *zone_p)
{
    *zone_p = (struct msp_red_zone){.provider        = provider,
                                    .size_bytes      = size_bytes,
                                    .raw_bytes       = raw_bytes,
                                    .raw_align_bytes = align_bytes,
                                    .reach           = reach_of(provider)};
}

/* ---- the two ranges of pattern ---- */

static size_t least(size_t a, size_t b)
{
    return (a < b) ? a : b;
}

static size_t pattern_max(const struct msp_red_zone *f)
{
    return (f->reach == MSP_RED_ZONE_DRIVER) ? DRIVER_MAX : PATTERN_MAX;
}

static size_t before_bytes(const struct msp_red_zone *f)
{
    return least(f->front_bytes - f->closed_front_bytes, pattern_max(f));
}

static size_t behind_bytes(const struct msp_red_zone *f)
{
    return least(f->raw_bytes - f->closed_back_bytes - f->front_bytes - f->size_bytes,
                 pattern_max(f));
}

static memspan_status_t driver_fill(const struct msp_device *d, void *to, size_t bytes)
{
    if (bytes == 0) {
        return MEMSPAN_OK;
    }
    return d->table->fill(d->state, d->ordinal, NULL, to, PATTERN, bytes);
}

static void fill_by_driver(struct msp_red_zone *f)
{
    const struct msp_device *d = f->provider->spec.device;
    size_t before              = before_bytes(f);
    struct msp_error_saved saved;
    memspan_status_t status;

    msp_error_save(&saved);
    status = driver_fill(d, f->address - before, before);
    if (status == MEMSPAN_OK) {
        status = driver_fill(d, f->address + f->size_bytes, behind_bytes(f));
    }
    if (status == MEMSPAN_OK) {
        status = d->table->synchronize(d->state, d->ordinal, NULL);
    }
    if (status != MEMSPAN_OK) {
        msp_log(MEMSPAN_LOG_WARN, "guard", "addresses alone are checked in the block at %p: %s",
                (void *)f->address, memspan_error_text());
        f->reach = MSP_RED_ZONE_NONE;
    }
    msp_error_restore(&saved);
}

/* ---- closed pages ---- */

bool msp_red_zone_regions(void)
{
    size_t page = msp_page_size();
    void *probe = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool taken  = (probe != MAP_FAILED) && (madvise(probe, page, MADV_GUARD_INSTALL) == 0);

    if (probe != MAP_FAILED) {
        munmap(probe, page);
    }
    return taken;
}

/* A range of which the kernel refuses a part may have guards in another: they go first. */
static bool close_by_region(struct msp_red_zone *f, unsigned char *from, size_t bytes)
{
    int saved_errno = errno;

    if (!msp_guard_settings.regions || f->split || (bytes > REGION_MAX)) {
        return false;
    }
    if (madvise(from, bytes, MADV_GUARD_INSTALL) != 0) {
        madvise(from, bytes, MADV_GUARD_REMOVE);
        errno = saved_errno;
        return false;
    }
    f->guarded = true;
    return true;
}

static bool close_by_mapping(struct msp_red_zone *f, unsigned char *from, size_t bytes)
{
    if (mprotect(from, bytes, PROT_NONE) != 0) {
        return false;
    }
    f->split = true;
    return true;
}

/* Pages that cannot be closed carry the pattern instead. */
static void close_ends(struct msp_red_zone *f, bool may_split)
{
    unsigned char *back = f->raw + f->raw_bytes - f->closed_back_bytes;

    if ((f->closed_front_bytes > 0) && !close_by_region(f, f->raw, f->closed_front_bytes) &&
        !(may_split && close_by_mapping(f, f->raw, f->closed_front_bytes))) {
        f->closed_front_bytes = 0;
        f->paged              = false;
    }
    if ((f->closed_back_bytes > 0) && !close_by_region(f, back, f->closed_back_bytes) &&
        !(may_split && close_by_mapping(f, back, f->closed_back_bytes))) {
        f->closed_back_bytes = 0;
        f->paged             = false;
    }
}

void msp_red_zone_raise(struct msp_red_zone *f, void *raw, bool may_split)
{
    f->raw     = raw;
    f->address = f->raw + f->front_bytes;
    close_ends(f, may_split);
    if (f->reach == MSP_RED_ZONE_HOST) {
        memset(f->address - before_bytes(f), PATTERN, before_bytes(f));
        memset(f->address + f->size_bytes, PATTERN, behind_bytes(f));
    } else if ((f->reach == MSP_RED_ZONE_DRIVER) && (before_bytes(f) + behind_bytes(f) > 0)) {
        fill_by_driver(f);
    }
}

/* ---- checks ---- */

/* The bytes that do not hold the pattern, from the first to the last; false when all hold it. */
static bool find_damage(const unsigned char *bytes, size_t count, unsigned char pattern,
                        size_t *first_p, size_t *last_p)
{
    size_t first = 0;
    size_t last  = count;

    while ((first < count) && (bytes[first] == pattern)) {
        first++;
    }
    if (first == count) {
        return false;
    }
    while (bytes[last - 1] == pattern) {
        last--;
    }
    *first_p = first;
    *last_p  = last - 1;
    return true;
}

/* The pattern's bytes where the host may read them; NULL when the driver does not hand them over.
 */
static const unsigned char *fetch(const struct msp_red_zone *f, const unsigned char *at,
                                  size_t bytes, unsigned char buffer[DRIVER_MAX])
{
    const struct msp_device *d = f->provider->spec.device;
    struct msp_error_saved saved;
    bool fetched;

    if (f->reach == MSP_RED_ZONE_HOST) {
        return at;
    }
    msp_error_save(&saved);
    fetched = (d->table->copy(d->state, d->ordinal, NULL, buffer, at, bytes) == MEMSPAN_OK) &&
              (d->table->synchronize(d->state, d->ordinal, NULL) == MEMSPAN_OK);
    msp_error_restore(&saved);
    return fetched ? buffer : NULL;
}

bool msp_red_zone_check(const struct msp_red_zone *f, bool host_only,
                        struct msp_red_zone_damage *damage_p)
{
    const unsigned char *end    = f->address + f->size_bytes;
    const unsigned char *before = f->address - before_bytes(f);
    unsigned char buffer[DRIVER_MAX];
    const unsigned char *bytes;
    size_t first;
    size_t last;

    if ((f->reach == MSP_RED_ZONE_NONE) || (host_only && (f->reach != MSP_RED_ZONE_HOST))) {
        return true;
    }
    bytes = (behind_bytes(f) > 0) ? fetch(f, end, behind_bytes(f), buffer) : NULL;
    if ((bytes != NULL) && find_damage(bytes, behind_bytes(f), PATTERN, &first, &last)) {
        *damage_p = (struct msp_red_zone_damage){end + first, last - first + 1, false};
        return false;
    }
    bytes = (before_bytes(f) > 0) ? fetch(f, before, before_bytes(f), buffer) : NULL;
    if ((bytes != NULL) && find_damage(bytes, before_bytes(f), PATTERN, &first, &last)) {
        *damage_p = (struct msp_red_zone_damage){before + last, last - first + 1, true};
        return false;
    }
    return true;
}

/* ---- after the free ---- */

/* The contents are dead; the physical pages need not stay in quarantine with the addresses. A guard
 * region frees them itself. */
static bool close_all(struct msp_red_zone *f)
{
    if (close_by_region(f, f->raw, f->raw_bytes)) {
        return true;
    }
    madvise(f->raw, f->raw_bytes, MADV_DONTNEED);
    return close_by_mapping(f, f->raw, f->raw_bytes);
}

void msp_red_zone_close(struct msp_red_zone *f)
{
    if (f->paged && close_all(f)) {
        f->closed_front_bytes = f->raw_bytes;
    } else if (f->reach == MSP_RED_ZONE_HOST) {
        memset(f->address, PATTERN_FREED, least(f->size_bytes, PATTERN_MAX));
    }
}

bool msp_red_zone_check_closed(const struct msp_red_zone *f, struct msp_red_zone_damage *damage_p)
{
    size_t first;
    size_t last;

    if ((f->reach != MSP_RED_ZONE_HOST) || (f->closed_front_bytes == f->raw_bytes) ||
        !find_damage(f->address, least(f->size_bytes, PATTERN_MAX), PATTERN_FREED, &first, &last)) {
        return true;
    }
    *damage_p = (struct msp_red_zone_damage){f->address + first, last - first + 1, false};
    return false;
}

bool msp_red_zone_lower(struct msp_red_zone *f)
{
    bool opened = !f->guarded || (madvise(f->raw, f->raw_bytes, MADV_GUARD_REMOVE) == 0);

    return (!f->split || (mprotect(f->raw, f->raw_bytes, PROT_READ | PROT_WRITE) == 0)) && opened;
}
