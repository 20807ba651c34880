/* SPDX-License-Identifier: BSD-3-Clause */
/* waits.c: a table of waits, which only grows.
 *
 * The walk of a call stack may wait for the dynamic linker, so a wait under locks is only noted in
 * the thread, and entered when its call has released them. */

#include "core/debug/waits.h"
#include "core/base/fork.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "core/debug/call_stack.h"
#include <stdlib.h>

enum { ENTRIES_MAX = 256, REPORT_BYTES = 8192, FRAMES_SHOWN = 8 };

struct wait {
    const struct msp_call_stack *stack;
    enum msp_wait_reason reason;
    uint64_t count;
    uint64_t duration_ns;
};

/* What waited, and how the wait is avoided. */
static const char *const texts[MSP_WAIT_COUNT] = {
    [MSP_WAIT_OBJECT] = "memspan_free_on() of an object of up to 8 KiB of memspan_alloc(): "
                        "memspan_alloc_on() gives blocks that stay with a queue",
    [MSP_WAIT_FREE]   = "memspan_free_on() of memory that the queue cannot keep: watched by "
                        "MEMSPAN_DEBUG=guard, or on a native queue of a driver without events",
    [MSP_WAIT_EDGE]   = "an order of two queues that have no event for it: of two drivers, or of "
                        "a driver without events",
    [MSP_WAIT_REUSE]  = "memspan_alloc_on() of memory that was freed on a queue without events",
    [MSP_WAIT_EXHAUSTED] = "an allocation for which no other memory was left than what work uses",
    [MSP_WAIT_COPY]      = "a copy or fill of memory that the queue's driver does not serve",
    [MSP_WAIT_CALL]      = "memspan_call_on() with a driver whose queues the host cannot hold",
};

atomic_bool msp_waits_are_counted;

static msp_lock_t lock = MSP_LOCK_INIT(MSP_RANK_WAITS); /* guards the table */
static struct wait waits[ENTRIES_MAX];
static size_t wait_count;
static uint64_t lost_count; /* beyond the table */

/* Of the call under way, all reasons of which but the last are added to it: calls have one. In one
 * word, as memory of threads is scarce where dlopen() loads the library. */
static _Thread_local struct {
    uint64_t reason : 4;
    uint64_t count : 12;
    uint64_t duration_ns : 48;
} pending;

void msp_waits_start(void)
{
    msp_call_stack_start();
    atomic_store(&msp_waits_are_counted, true);
}

void msp_waits_note(enum msp_wait_reason reason, uint64_t duration_ns)
{
    if ((reason != MSP_WAIT_NONE) && atomic_load(&msp_waits_are_counted)) {
        pending.reason = reason;
        pending.count++;
        pending.duration_ns += duration_ns;
    }
}

static struct wait *find(const struct msp_call_stack *stack, enum msp_wait_reason reason)
{
    size_t i;

    for (i = 0; i < wait_count; i++) {
        if ((waits[i].stack == stack) && (waits[i].reason == reason)) {
            return &waits[i];
        }
    }
    if (wait_count == ENTRIES_MAX) {
        return NULL;
    }
    waits[wait_count] = (struct wait){.stack = stack, .reason = reason};
    return &waits[wait_count++];
}

void msp_waits_flush_slow(void)
{
    const struct msp_call_stack *stack;
    struct wait *entry;

    if (pending.count == 0) {
        return;
    }
    stack = msp_call_stack_here();
    msp_lock(&lock);
    entry = find(stack, pending.reason);
    if (entry != NULL) {
        entry->count += pending.count;
        entry->duration_ns += pending.duration_ns;
    } else {
        lost_count += pending.count;
    }
    msp_unlock(&lock);
    pending.count       = 0;
    pending.duration_ns = 0;
}

/* ---- the report ---- */

static int compare(const void *a, const void *b)
{
    const struct wait *x = a;
    const struct wait *y = b;

    return (x->duration_ns < y->duration_ns) - (x->duration_ns > y->duration_ns);
}

static void add_frame(char *text, size_t *used, const void *address)
{
    struct msp_symbol symbol;

    msp_symbol_find(address, &symbol);
    msp_text_append(text, REPORT_BYTES, used, "  called by   %s+0x%zx",
                    (symbol.name[0] != '\0') ? symbol.name : "?", symbol.offset);
    if (symbol.line > 0) {
        msp_text_append(text, REPORT_BYTES, used, " at %s:%u", symbol.file, symbol.line);
    }
    msp_text_append(text, REPORT_BYTES, used, "\n");
}

static void print(const struct wait *w)
{
    char text[REPORT_BYTES];
    size_t used = 0;
    size_t i;

    msp_text_append(text, sizeof(text), &used,
                    "memspan queues: the host waited %llu times, %llu us: %s\n",
                    (unsigned long long)w->count, (unsigned long long)(w->duration_ns / 1000),
                    texts[w->reason]);
    for (i = 0; (w->stack != NULL) && (i < w->stack->depth) && (i < FRAMES_SHOWN); i++) {
        /* A return address may be the next function's first byte. */
        add_frame(text, &used, (const char *)w->stack->frames[i] - 1);
    }
    msp_report_write(text, used);
}

static void print_end(uint64_t count, uint64_t duration_ns)
{
    char text[256];
    size_t used = 0;

    msp_text_append(text, sizeof(text), &used,
                    "memspan queues: %llu waits of the host, %llu us, in all\n",
                    (unsigned long long)count, (unsigned long long)(duration_ns / 1000));
    msp_report_write(text, used);
}

__attribute__((destructor)) static void print_at_exit(void)
{
    uint64_t count       = lost_count;
    uint64_t duration_ns = 0;
    size_t i;

    if (!atomic_load(&msp_waits_are_counted)) {
        return;
    }
    msp_lock(&lock);
    qsort(waits, wait_count, sizeof(waits[0]), compare);
    for (i = 0; i < wait_count; i++) {
        count += waits[i].count;
        duration_ns += waits[i].duration_ns;
        print(&waits[i]);
    }
    msp_unlock(&lock);
    print_end(count, duration_ns);
}

/* The waits are the parent's. */
static void forget(void)
{
    wait_count = 0;
    lost_count = 0;
}

MSP_FORK_ITEM(waits) = {.rank = MSP_RANK_WAITS, .lock = &lock, .after_child = forget};
