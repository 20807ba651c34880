/* SPDX-License-Identifier: BSD-3-Clause */
/* queue_stats.c: the counters of queues, for queries and statistics. Those of closed queues are
 * added up. */

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/debug/watcher.h"
#include "core/engine/kept.h"
#include "core/queue.h"
#include <stdio.h>
#include <unistd.h>

static memspan_queue_info_t closed; /* under the lock of edges */
static uint64_t closed_count;

/* Queue locked. */
static memspan_queue_info_t read_counts(const struct msp_queue *q)
{
    memspan_queue_info_t info = q->counts;
    const struct msp_kept *kept;

    for (kept = q->kept; kept != NULL; kept = kept->next) {
        info.kept_bytes += kept->bytes;
    }
    return info;
}

memspan_status_t memspan_queue_describe(memspan_queue_h handle, memspan_queue_info_t *info_p)
{
    memspan_queue_info_t info;
    struct msp_queue *q;

    if (info_p == NULL) {
        return memspan_error(MEMSPAN_ERR_INVALID, "no structure for the description of a queue");
    }
    q = msp_queue_acquire(handle);
    if (q == NULL) {
        return memspan_error_last()->status;
    }
    info = read_counts(q);
    msp_queue_release(q);
    return msp_struct_write(info_p, &info, sizeof(info));
}

/* ---- the trace ---- */

static void trace(const struct msp_queue *q, struct msp_queue_event *e)
{
    if (e->started_ns != 0) {
        e->device     = q->device->number;
        e->queue      = q->index;
        e->generation = q->generation;
        msp_trace_queue(e);
    }
}

void msp_queue_trace(const struct msp_queue *q, const char *name, const void *address,
                     size_t size_bytes, uint64_t started_ns)
{
    trace(q, &(struct msp_queue_event){.name       = name,
                                       .address    = address,
                                       .size_bytes = size_bytes,
                                       .started_ns = started_ns});
}

void msp_queue_trace_order(const struct msp_queue *q, const struct msp_queue *other,
                           uint64_t started_ns)
{
    trace(q, &(struct msp_queue_event){.name             = "wait",
                                       .started_ns       = started_ns,
                                       .other            = other->index,
                                       .other_generation = other->generation});
}

/* ---- printing ---- */

static bool print(int fd, const char *name, const memspan_queue_info_t *info)
{
    char line[512];
    size_t used = 0;

    if (info->allocated_count + info->freed_count + info->called_count + info->waited_ns == 0) {
        return true;
    }
    msp_text_append(
        line, sizeof(line), &used,
        "memspan stats %s allocated=%llu reused_in_order=%llu reused_after_event=%llu "
        "reused_after_wait=%llu freed=%llu freed_after_wait=%llu kept_bytes=%llu "
        "called=%llu called_after_wait=%llu waited_ns=%llu\n",
        name, (unsigned long long)info->allocated_count, (unsigned long long)info->reused_in_order,
        (unsigned long long)info->reused_after_event, (unsigned long long)info->reused_after_wait,
        (unsigned long long)info->freed_count, (unsigned long long)info->freed_after_wait,
        (unsigned long long)info->kept_bytes, (unsigned long long)info->called_count,
        (unsigned long long)info->called_after_wait, (unsigned long long)info->waited_ns);
    return write(fd, line, used) == (ssize_t)used;
}

static bool print_open(int fd, struct msp_queue *q)
{
    memspan_queue_info_t info = {0};
    char name[64];

    msp_lock(&q->lock);
    if (msp_queue_is_open(q)) {
        info = read_counts(q);
    }
    snprintf(name, sizeof(name), "queue:%u.%u device=%d", q->index, q->generation, info.device);
    msp_unlock(&q->lock);
    return print(fd, name, &info);
}

static bool print_all(int fd)
{
    memspan_queue_info_t info;
    char name[64];
    bool ok = true;
    uint32_t i;

    for (i = 1; ok && (i < msp_queue_count()); i++) {
        ok = print_open(fd, msp_queue_at(i));
    }
    msp_queue_lock_edges();
    info = closed;
    snprintf(name, sizeof(name), "queues closed=%llu", (unsigned long long)closed_count);
    msp_queue_unlock_edges();
    return ok && print(fd, name, &info);
}

void msp_queue_count_open(void)
{
    atomic_store_explicit(&msp_stats_queues, print_all, memory_order_release);
}

void msp_queue_count_closed(const memspan_queue_info_t *info)
{
    closed_count++;
    closed.allocated_count += info->allocated_count;
    closed.reused_in_order += info->reused_in_order;
    closed.reused_after_event += info->reused_after_event;
    closed.reused_after_wait += info->reused_after_wait;
    closed.freed_count += info->freed_count;
    closed.freed_after_wait += info->freed_after_wait;
    closed.called_count += info->called_count;
    closed.called_after_wait += info->called_after_wait;
    closed.waited_ns += info->waited_ns;
}
