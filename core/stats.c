/* SPDX-License-Identifier: BSD-3-Clause */
/* stats.c: counters, summed when somebody asks. */

#include "core/allocator_record.h"
#include "core/base/error.h"
#include "core/base/option.h"
#include "core/pool.h"
#include <stdio.h>
#include <unistd.h>

static uint64_t get(_Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static void add(memspan_allocator_stats_t *sum, struct memspan_counters *c, bool limited)
{
    uint64_t bytes     = get(&c->live_bytes);
    uint64_t live      = get(&c->live_count);
    uint64_t allocated = get(&c->allocated_count);

    sum->live_bytes += bytes;
    sum->live_count += live;
    sum->peak_bytes += get(&c->peak_bytes);
    sum->charged_bytes +=
        limited ? get(&c->charged_bytes) : bytes + live * MEMSPAN_CHARGE_OVERHEAD_BYTES;
    sum->allocated_count += allocated;
    /* A block is live a moment before it counts as allocated. */
    sum->freed_count += (allocated > live) ? allocated - live : 0;
    sum->failed_count += get(&c->failed_count);
    sum->fallback_count += get(&c->fallback_count);
}

static uint64_t held_by(const struct memspan_allocator *a)
{
    struct memspan_provider *p = atomic_load_explicit(&a->provider, memory_order_acquire);

    return (p == NULL) ? 0 : atomic_load_explicit(&p->held_bytes, memory_order_relaxed);
}

static void sum_all(memspan_allocator_stats_t *sum)
{
    struct memspan_allocator *a;
    struct memspan_provider *p;
    size_t i;

    for (i = 0; (a = memspan_allocator_at(i)) != NULL; i++) {
        add(sum, &a->counters, a->traits.pool_size != SIZE_MAX);
    }
    add(sum, &memspan_counters_of_the_gone, true);
    for (p = memspan_provider_first(); p != NULL; p = p->next) {
        sum->held_bytes += atomic_load_explicit(&p->held_bytes, memory_order_relaxed);
    }
}

memspan_status_t memspan_allocator_get_stats(memspan_allocator_h handle,
                                             memspan_allocator_stats_t *stats_p)
{
    memspan_allocator_stats_t stats = {.struct_size = sizeof(stats)};
    struct memspan_allocator *a;

    if (stats_p == NULL) {
        return memspan_error(MEMSPAN_ERR_INVALID, "nowhere to put the counters (NULL)");
    }
    if (handle == MEMSPAN_ALLOCATOR_NULL) {
        sum_all(&stats);
        return memspan_struct_write(stats_p, &stats, sizeof(stats));
    }
    a = memspan_allocator_resolve(handle);
    if (a == NULL) {
        return memspan_error_last()->status;
    }
    add(&stats, &a->counters, a->traits.pool_size != SIZE_MAX);
    stats.held_bytes = held_by(a);
    return memspan_struct_write(stats_p, &stats, sizeof(stats));
}

static bool print_line(int fd, const char *name, const char *kind,
                       const memspan_allocator_stats_t *s)
{
    char line[512];
    int n = snprintf(line, sizeof(line),
                     "memspan stats %s kind=%s allocated=%llu freed=%llu live=%llu live_bytes=%llu "
                     "peak_bytes=%llu failed=%llu fallbacks=%llu held_bytes=%llu\n",
                     name, kind, (unsigned long long)s->allocated_count,
                     (unsigned long long)s->freed_count, (unsigned long long)s->live_count,
                     (unsigned long long)s->live_bytes, (unsigned long long)s->peak_bytes,
                     (unsigned long long)s->failed_count, (unsigned long long)s->fallback_count,
                     (unsigned long long)s->held_bytes);

    return write(fd, line, (size_t)n) == n;
}

memspan_status_t memspan_stats_print(int fd)
{
    memspan_allocator_stats_t stats;
    struct memspan_allocator *a;
    char name[48];
    size_t i;
    bool ok = true;

    for (i = 0; ok && ((a = memspan_allocator_at(i)) != NULL); i++) {
        stats = (memspan_allocator_stats_t){0};
        add(&stats, &a->counters, a->traits.pool_size != SIZE_MAX);
        if (stats.allocated_count + stats.failed_count == 0) {
            continue;
        }
        stats.held_bytes = held_by(a);
        if (a->name[0] == '\0') {
            snprintf(name, sizeof(name), "allocator:%u.%u", a->index, a->generation);
        } else {
            snprintf(name, sizeof(name), "%s", a->name);
        }
        ok = print_line(fd, name, memspan_kind_name(a->plan.kind_given), &stats);
    }
    if (ok) {
        stats = (memspan_allocator_stats_t){0};
        sum_all(&stats);
        ok = print_line(fd, "all", "any", &stats);
    }
    return ok ? MEMSPAN_OK
              : memspan_error(MEMSPAN_ERR_INVALID, "file descriptor %d cannot be written to", fd);
}

__attribute__((destructor)) static void print_at_exit(void)
{
    if (memspan_option_choice(MEMSPAN_OPTION_STATS) == 1) {
        memspan_stats_print(STDERR_FILENO);
    }
}

size_t memspan_trim(void)
{
    struct memspan_provider *p;
    size_t total = 0;

    for (p = memspan_provider_first(); p != NULL; p = p->next) {
        total += memspan_pool_trim(p->pool);
    }
    return total;
}

memspan_status_t memspan_check(void)
{
    memspan_status_t status = MEMSPAN_OK;
    struct memspan_provider *p;

    for (p = memspan_provider_first(); (status == MEMSPAN_OK) && (p != NULL); p = p->next) {
        status = memspan_pool_check(p->pool);
    }
    return status;
}
