/* SPDX-License-Identifier: BSD-3-Clause */
/* stats.c: counters, summed on request.
 *
 * The counts of allocators are added up over a selection of them (one, those of a memory space,
 * those of a device, all), and each pool that these use is measured once. Records of allocators are
 * looked at under the table's lock, since they are used again. Threads' own counts are published
 * first. */

#include "core/base/error.h"
#include "core/base/option.h"
#include "core/base/text.h"
#include "core/debug/follow.h"
#include "core/debug/guard.h"
#include "core/debug/watcher.h"
#include "core/device/device.h"
#include "core/engine/allocator_record.h"
#include "core/engine/decay.h"
#include "core/engine/heap.h"
#include "core/engine/kept.h"
#include "core/engine/pool.h"
#include "core/engine/retired.h"
#include <stdio.h>
#include <unistd.h>

/* ---- adding up ---- */

static uint64_t positive(_Atomic int64_t *counter)
{
    int64_t value = atomic_load_explicit(counter, memory_order_relaxed);

    return (value > 0) ? (uint64_t)value : 0;
}

/* The threads' counters have been published. */
static void add_account(memspan_allocator_stats_t *sum, struct msp_account *account)
{
    uint64_t bytes     = positive(&account->live_bytes);
    uint64_t peak      = positive(&account->peak_bytes); /* up to the last return */
    uint64_t live      = positive(&account->live_count);
    uint64_t allocated = atomic_load_explicit(&account->allocated_count, memory_order_relaxed);

    sum->live_bytes += bytes;
    sum->live_count += live;
    sum->peak_bytes += (peak > bytes) ? peak : bytes;
    sum->charged_bytes += bytes + live * MSP_CHARGE_OVERHEAD_BYTES;
    sum->allocated_count += allocated;
    sum->freed_count += (allocated > live) ? allocated - live : 0;
    sum->failed_count += atomic_load_explicit(&account->failed_count, memory_order_relaxed);
}

static void add_allocator(memspan_allocator_stats_t *sum, struct msp_allocator *a)
{
    struct msp_account *account;

    for (account = &a->account; account != NULL; account = account->next) {
        add_account(sum, account);
    }
    sum->fallback_count += atomic_load_explicit(&a->fallback_count, memory_order_relaxed);
}

/* Allocators that have ended have no live blocks; those that are ending count their own. */
static void add_group(memspan_allocator_stats_t *sum, const struct msp_retired *group)
{
    sum->allocated_count += group->allocated_count;
    sum->freed_count += group->allocated_count;
    sum->failed_count += group->failed_count;
    sum->fallback_count += group->fallback_count;
    sum->peak_bytes += group->peak_bytes;
}

static void add_pool(memspan_allocator_stats_t *sum, const struct msp_provider *p)
{
    struct msp_pool_measure m;

    msp_pool_measure(p->pool, &m);
    sum->held_bytes += m.held_bytes;
    sum->free_bytes += m.free_bytes;
    if (m.largest_free_bytes > sum->largest_free_bytes) {
        sum->largest_free_bytes = m.largest_free_bytes;
    }
    if (sum->free_bytes > 0) {
        sum->fragmentation = 1 - (double)sum->largest_free_bytes / (double)sum->free_bytes;
    }
}

static struct msp_provider *provider_of(struct msp_allocator *a)
{
    return atomic_load_explicit(&a->provider, memory_order_acquire);
}

static void add_own(memspan_allocator_stats_t *sum, struct msp_allocator *a)
{
    add_allocator(sum, a);
    if (provider_of(a) != NULL) {
        add_pool(sum, provider_of(a));
    }
}

/* While they are stopped, no allocator becomes a spare or is made of one, and the counts of spares
 * are with the retired ones'. */
static void stop_spares(void)
{
    msp_allocator_lock_table();
    (void)msp_retired_group("", MEMSPAN_KIND_HOST); /* theirs, made before the threads wait */
    msp_thread_stop_all();
    msp_allocator_publish_spares();
}

static void resume_spares(void)
{
    msp_thread_resume_all();
    msp_allocator_unlock_table();
}

static void add_all(memspan_allocator_stats_t *sum)
{
    const struct msp_retired *group;
    struct msp_allocator *a;
    struct msp_provider *p;
    size_t i;

    stop_spares();
    for (i = 0; (a = msp_allocator_at(i)) != NULL; i++) {
        add_allocator(sum, a);
    }
    for (group = msp_retired_first(); group != NULL; group = group->next) {
        add_group(sum, group);
    }
    resume_spares();
    for (p = msp_provider_first(); p != NULL; p = p->next) {
        add_pool(sum, p);
    }
}

/* True when an allocator of the space uses the provider. Table locked. */
static bool space_uses(const struct msp_space *space, const struct msp_provider *p)
{
    struct msp_allocator *a;
    size_t i;

    for (i = 0; (a = msp_allocator_at(i)) != NULL; i++) {
        if ((provider_of(a) == p) && (a->space == space)) {
            return true;
        }
    }
    return false;
}

static void add_space(memspan_allocator_stats_t *sum, const struct msp_space *space)
{
    struct msp_allocator *a;
    struct msp_provider *p;
    size_t i;

    msp_allocator_lock_table();
    for (i = 0; (a = msp_allocator_at(i)) != NULL; i++) {
        if (a->space == space) {
            add_allocator(sum, a);
        }
    }
    for (p = msp_provider_first(); p != NULL; p = p->next) {
        if (space_uses(space, p)) {
            add_pool(sum, p);
        }
    }
    msp_allocator_unlock_table();
}

static void add_device(memspan_allocator_stats_t *sum, const struct msp_device *device)
{
    struct msp_allocator *a;
    struct msp_provider *p;
    size_t i;

    msp_allocator_lock_table();
    for (i = 0; (a = msp_allocator_at(i)) != NULL; i++) {
        p = provider_of(a);
        if ((p != NULL) && (p->spec.device->number == device->number)) {
            add_allocator(sum, a);
        }
    }
    msp_allocator_unlock_table();
    for (p = msp_provider_first(); p != NULL; p = p->next) {
        if (p->spec.device->number == device->number) {
            add_pool(sum, p);
        }
    }
}

_Atomic(msp_stats_queues_fn *) msp_stats_queues;

/* ---- queries ---- */

static memspan_status_t refuse_null(void)
{
    return memspan_error(MEMSPAN_ERR_INVALID, "stats_p is NULL");
}

memspan_status_t memspan_allocator_get_stats(memspan_allocator_h handle,
                                             memspan_allocator_stats_t *stats_p)
{
    memspan_allocator_stats_t stats = {.struct_size = sizeof(stats)};
    struct msp_allocator *a;

    if (stats_p == NULL) {
        return refuse_null();
    }
    msp_heap_publish_all();
    if (handle == MEMSPAN_ALLOCATOR_NULL) {
        add_all(&stats);
        return msp_struct_write(stats_p, &stats, sizeof(stats));
    }
    a = msp_allocator_acquire(handle);
    if (a == NULL) {
        return memspan_error_last()->status;
    }
    add_own(&stats, a);
    msp_allocator_release(a);
    return msp_struct_write(stats_p, &stats, sizeof(stats));
}

memspan_status_t memspan_space_get_stats(memspan_space_h handle, memspan_allocator_stats_t *stats_p)
{
    memspan_allocator_stats_t stats = {.struct_size = sizeof(stats)};
    const struct msp_space *space   = msp_space_find(handle);

    if (stats_p == NULL) {
        return refuse_null();
    }
    if (space == NULL) {
        return memspan_error(MEMSPAN_ERR_NOT_FOUND, "0x%llx names no memory space",
                             (unsigned long long)(uintptr_t)handle);
    }
    msp_heap_publish_all();
    add_space(&stats, space);
    return msp_struct_write(stats_p, &stats, sizeof(stats));
}

memspan_status_t memspan_device_get_stats(int number, memspan_allocator_stats_t *stats_p)
{
    memspan_allocator_stats_t stats = {.struct_size = sizeof(stats)};
    const struct msp_device *device;

    if (stats_p == NULL) {
        return refuse_null();
    }
    device = msp_device_find(number);
    if (device == NULL) {
        return memspan_error_last()->status;
    }
    msp_heap_publish_all();
    add_device(&stats, device);
    return msp_struct_write(stats_p, &stats, sizeof(stats));
}

/* ---- printing ---- */

/* " NAME=BYTES", and with a unit where that is shorter to read. */
static void add_bytes(char *line, size_t size, size_t *used, const char *name, uint64_t bytes)
{
    char text[32];

    msp_text_append(line, size, used, " %s=%llu", name, (unsigned long long)bytes);
    if (bytes >= 1024) {
        msp_text_append(line, size, used, " (%s)", msp_text_from_size(text, sizeof(text), bytes));
    }
}

/* The end of a line. Thousandths by hand: the decimal point is the locale's. */
static void add_pool_text(char *line, size_t size, size_t *used, const memspan_allocator_stats_t *s)
{
    unsigned thousandths = (unsigned)(s->fragmentation * 1000 + 0.5);

    add_bytes(line, size, used, "held_bytes", s->held_bytes);
    add_bytes(line, size, used, "free_bytes", s->free_bytes);
    add_bytes(line, size, used, "largest_free_bytes", s->largest_free_bytes);
    msp_text_append(line, size, used, " fragmentation=%u.%03u\n", thousandths / 1000,
                    thousandths % 1000);
}

static void add_counters(char *line, size_t size, size_t *used, const char *name, const char *kind,
                         const memspan_allocator_stats_t *s)
{
    msp_text_append(line, size, used,
                    "memspan stats %s kind=%s allocated=%llu freed=%llu live=%llu", name, kind,
                    (unsigned long long)s->allocated_count, (unsigned long long)s->freed_count,
                    (unsigned long long)s->live_count);
    add_bytes(line, size, used, "live_bytes", s->live_bytes);
    add_bytes(line, size, used, "peak_bytes", s->peak_bytes);
    add_bytes(line, size, used, "charged_bytes", s->charged_bytes);
    msp_text_append(line, size, used, " failed=%llu fallbacks=%llu",
                    (unsigned long long)s->failed_count, (unsigned long long)s->fallback_count);
}

static bool print_line(int fd, const char *name, const char *kind,
                       const memspan_allocator_stats_t *s)
{
    char line[768];
    size_t used = 0;

    add_counters(line, sizeof(line), &used, name, kind, s);
    add_pool_text(line, sizeof(line), &used, s);
    return write(fd, line, used) == (ssize_t)used;
}

static bool print_allocator(int fd, struct msp_allocator *a)
{
    memspan_allocator_stats_t stats = {0};
    char label[MSP_LABEL_BYTES];
    const char *kind;

    msp_allocator_lock_table();
    add_own(&stats, a);
    msp_allocator_label(a, label);
    kind = memspan_kind_name((a->plan == NULL) ? MEMSPAN_KIND_NONE : a->plan->kind_given);
    msp_allocator_unlock_table();
    return (stats.allocated_count + stats.failed_count == 0) || print_line(fd, label, kind, &stats);
}

/* Of allocators that have ended: those of one name, or those without. */
static bool print_retired(int fd, const struct msp_retired *group)
{
    memspan_allocator_stats_t stats = {0};
    char line[768];
    size_t used = 0;

    add_group(&stats, group);
    if (stats.allocated_count + stats.failed_count == 0) {
        return true;
    }
    add_counters(line, sizeof(line), &used, (group->name[0] == '\0') ? "destroyed" : group->name,
                 memspan_kind_name(group->kind), &stats);
    msp_text_append(line, sizeof(line), &used, " destroyed=%llu\n",
                    (unsigned long long)group->allocator_count);
    return write(fd, line, used) == (ssize_t)used;
}

static bool print_all_retired(int fd)
{
    const struct msp_retired *next;
    struct msp_retired group;
    bool ok = true;

    msp_allocator_lock_table();
    next = msp_retired_first();
    msp_allocator_unlock_table();
    while (ok && (next != NULL)) {
        msp_allocator_lock_table();
        group = *next; /* groups stay */
        msp_allocator_unlock_table();
        ok   = print_retired(fd, &group);
        next = group.next;
    }
    return ok;
}

static bool print_provider(int fd, const struct msp_provider *p)
{
    memspan_allocator_stats_t stats = {0};
    char label[MSP_LABEL_BYTES];
    char line[512];
    size_t used = 0;

    add_pool(&stats, p);
    msp_text_append(line, sizeof(line), &used,
                    "memspan stats %s kind=%s backend=%s device=%d page_size=%zu",
                    msp_provider_label(p, label), memspan_kind_name(p->spec.kind),
                    p->spec.device->table->name, p->spec.device->number, p->spec.page_size_bytes);
    add_pool_text(line, sizeof(line), &used, &stats);
    return write(fd, line, used) == (ssize_t)used;
}

static bool print_guard(int fd)
{
    struct msp_guard_counts counts;
    char line[512];
    size_t used = 0;

    msp_guard_count(&counts);
    msp_text_append(line, sizeof(line), &used,
                    "memspan stats guard pages=%s allocated=%llu live=%llu closed=%llu "
                    "patterns=%llu refused=%llu quarantined=%llu\n",
                    counts.regions ? "guard-regions" : "mprotect",
                    (unsigned long long)counts.allocated, (unsigned long long)counts.blocks,
                    (unsigned long long)counts.closed,
                    (unsigned long long)(counts.blocks - counts.closed),
                    (unsigned long long)counts.refused, (unsigned long long)counts.quarantined);
    return write(fd, line, used) == (ssize_t)used;
}

memspan_status_t memspan_stats_print(int fd)
{
    memspan_allocator_stats_t stats = {0};
    struct msp_allocator *a;
    msp_stats_queues_fn *print_queues =
        atomic_load_explicit(&msp_stats_queues, memory_order_acquire);
    struct msp_provider *p;
    bool ok = true;
    size_t i;

    msp_heap_publish_all();
    stop_spares();
    resume_spares();
    for (i = 0; ok && ((a = msp_allocator_at(i)) != NULL); i++) {
        ok = print_allocator(fd, a);
    }
    ok = ok && print_all_retired(fd);
    for (p = msp_provider_first(); ok && (p != NULL); p = p->next) {
        ok = print_provider(fd, p);
    }
    ok = ok && ((print_queues == NULL) || print_queues(fd)) &&
         (!msp_guarding() || print_guard(fd)) && msp_follow_print(fd);
    if (ok) {
        add_all(&stats);
        ok = print_line(fd, "all", "any", &stats);
    }
    return ok ? MEMSPAN_OK
              : memspan_error(MEMSPAN_ERR_INVALID, "file descriptor %d cannot be written to", fd);
}

__attribute__((destructor)) static void print_at_exit(void)
{
    if (msp_option_choice(MSP_OPTION_STATS) == 1) {
        memspan_stats_print(STDERR_FILENO);
    }
}

size_t memspan_trim(void)
{
    struct msp_provider *p;
    size_t total = 0;

    if (msp_guarding()) {
        msp_guard_trim();
    }
    msp_heap_reclaim();
    msp_kept_call_owner(MSP_KEPT_RETURN_COMPLETE);
    msp_chunk_give_put_off();
    for (p = msp_provider_first(); p != NULL; p = p->next) {
        total += msp_pool_trim(p->pool);
    }
    return total + msp_decay_purge_all();
}

memspan_status_t memspan_check(void)
{
    memspan_status_t status = msp_heap_check();
    struct msp_provider *p;

    for (p = msp_provider_first(); (status == MEMSPAN_OK) && (p != NULL); p = p->next) {
        status = msp_pool_check(p->pool);
    }
    return status;
}
