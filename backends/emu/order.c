/* SPDX-License-Identifier: BSD-3-Clause */
/* order.c: whether work uses memory between its allocation and its free.
 *
 * Each queue counts its operations and has a vector clock: how many of each other queue's precede
 * what it does next. Events carry clocks from queue to queue, and waiting carries them to the host,
 * which all later calls follow. An operation follows another one when its clock has that one's
 * number: whether the device happens to run them in that order does not matter.
 *
 * A block has the list of its accesses: its allocation in the order of a queue, and its uses since.
 * A use that does not follow the allocation, a free that does not follow every use, and a use of
 * memory whose free was called, stop the program, and both calls are reported.
 *
 * A part that is open for the host and its network (memspan_share_host_open()) is a use that
 * nothing follows until it is closed: a free before that is reported.
 *
 * Invariant: no false positive. What is not known counts as ordered: allocations by
 * memspan_alloc(), memory of queues without a clock, accesses beyond ACCESSES_MAX. */

#include "backends/emu/emu.h"
#include "core/base/log.h"
#include "core/base/platform.h"
#include <execinfo.h>
#include <stdlib.h>

enum { ACCESSES_MAX = 4096, REPORT_BYTES = 20000 };

/* The host and its network, in the place of a queue. */
enum { HOST_QUEUE = UINT32_MAX };

enum access_type { ALLOCATED, USED, ATTACHED, DETACHED, FREED };

struct emu_access {
    const char *low;
    const char *high;
    enum access_type type;
    const char *what;
    uint32_t index; /* of the queue's clock */
    unsigned queue; /* its number */
    uint64_t number;
    int caller_count;
    void *callers[EMU_CALLERS_MAX];
};

/* ---- clocks ---- */

void emu_clock_open(struct emu_queue *queue)
{
    struct emu *emu = queue->device->emu;

    if (queue->clock != NULL) {
        return; /* its operations go on counting */
    }
    queue->index = EMU_NO_CLOCK;
    queue->clock = (emu->clock_count < EMU_CLOCKS) ? calloc(1, sizeof(*queue->clock)) : NULL;
    if (queue->clock != NULL) {
        queue->index        = emu->clock_count++;
        queue->clock->count = emu->clock_count; /* up to its own */
    }
}

void emu_clock_join(struct emu_clock *clock, const struct emu_clock *other)
{
    uint32_t i;

    if ((clock == NULL) || (other == NULL)) {
        return;
    }
    while (clock->count < other->count) {
        clock->at[clock->count++] = 0;
    }
    for (i = 0; i < other->count; i++) {
        clock->at[i] = (other->at[i] > clock->at[i]) ? other->at[i] : clock->at[i];
    }
}

void emu_clock_read(const struct emu_queue *queue, struct emu_clock *clock_p)
{
    const struct emu_device *device = queue->device;
    const struct emu_queue *q;

    clock_p->count = 0;
    emu_clock_join(clock_p, queue->clock);
    for (q = (queue == &device->own) ? device->queues : NULL; q != NULL; q = q->next) {
        emu_clock_join(clock_p, q->clock);
    }
}

static bool follows(const struct emu_clock *clock, const struct emu_access *earlier)
{
    uint64_t known = (earlier->index < clock->count) ? clock->at[earlier->index] : 0;

    return known >= earlier->number;
}

/* ---- reports ---- */

static void write_queue(struct emu_writer *w, unsigned queue)
{
    if (queue == 0) {
        emu_write_text(w, "the device's own queue");
    } else {
        emu_write_text(w, "queue ");
        emu_write_number(w, queue);
    }
}

/* "  LABEL" has the width of a column. */
static void write_access(struct emu_writer *w, const char *label, const struct emu_access *a)
{
    emu_write_text(w, label);
    emu_write_text(w, a->what);
    if (a->index != EMU_NO_CLOCK) {
        emu_write_text(w, ", operation ");
        emu_write_number(w, a->number);
        emu_write_text(w, " of ");
        write_queue(w, a->queue);
    }
    emu_write_text(w, "\n");
    emu_write_callers(w, "  called by  ", a->callers, a->caller_count);
}

static const char *rule_of(const struct emu_access *earlier, const struct emu_access *later)
{
    if (earlier->type == ATTACHED) {
        return "memory that is attached to a queue is for the work of that queue alone, and the "
               "host's after\n              memspan_queue_synchronize() of it";
    }
    if (later->type == ATTACHED) {
        return "work that uses the memory precedes its attachment to another queue: "
               "memspan_queue_wait(),\n              or memspan_queue_synchronize()";
    }
    if (later->type == DETACHED) {
        return "the host has waited for the work of a queue before memory is detached from it";
    }
    if (earlier->type == FREED) {
        return "memory is the program's until the call that frees it, also on a queue";
    }
    if (earlier->queue == HOST_QUEUE) {
        return "memory that is open for the host and its network is closed before the free:\n      "
               "        memspan_share_host_close()";
    }
    if (later->type == USED) {
        return "memory of memspan_alloc_on() is for later work of its queue, and for work that "
               "follows it:\n              memspan_queue_wait(), or memspan_queue_synchronize()";
    }
    return "a free follows all work that uses the memory: memspan_used_on(), "
           "memspan_queue_wait(), or\n              memspan_queue_synchronize()";
}

__attribute__((noreturn, cold)) static void report(const struct emu_block *block,
                                                   const struct emu_access *earlier,
                                                   const struct emu_access *later)
{
    static char text[REPORT_BYTES];
    struct emu_writer w = {text, sizeof(text), 0};

    emu_write_text(&w, "memspan: emu");
    emu_write_number(&w, (uint64_t)block->home);
    emu_write_text(&w, (earlier->type == ATTACHED) ? ": memory of a queue is used by other work"
                       : (later->type == ATTACHED) ? ": memory may be in use by another queue"
                       : (later->type == DETACHED) ? ": memory may be in use by its queue"
                       : (earlier->type == FREED)  ? ": memory is used after its free"
                       : (later->type == USED)     ? ": memory may be used before its allocation"
                                                   : ": memory may be used after its free");
    emu_write_text(&w, "\n  address     ");
    emu_write_hexadecimal(&w, (uintptr_t)later->low);
    emu_write_text(&w, ", in ");
    emu_write_number(&w, block->size_bytes);
    emu_write_text(&w, " bytes taken from the device at ");
    emu_write_hexadecimal(&w, (uintptr_t)block->base);
    emu_write_text(&w, "\n  rule        ");
    emu_write_text(&w, rule_of(earlier, later));
    emu_write_text(&w, "\n");
    write_access(&w, "  first       ", earlier);
    write_access(&w, "  then        ", later);
    msp_report_write(text, w.used);
    abort();
}

/* ---- accesses of a block ---- */

static struct emu_access describe(const struct emu_queue *queue, enum access_type type,
                                  const char *what, const void *address, size_t size_bytes)
{
    struct emu_access a = {.low   = address,
                           .high  = (const char *)address + ((size_bytes > 0) ? size_bytes : 1),
                           .type  = type,
                           .what  = what,
                           .index = EMU_NO_CLOCK};

    if (queue != NULL) {
        a.index  = queue->index;
        a.queue  = queue->number;
        a.number = queue->clock->at[queue->index];
    }
    a.caller_count = backtrace(a.callers, EMU_CALLERS_MAX);
    return a;
}

static bool overlap(const struct emu_access *a, const struct emu_access *b)
{
    return (a->low < b->high) && (b->low < a->high);
}

static void drop(struct emu_block *block, size_t i)
{
    block->accesses[i] = block->accesses[--block->access_count];
}

static void drop_overlapping(struct emu_block *block, const struct emu_access *a)
{
    size_t i = block->access_count;

    while (i-- > 0) {
        if (overlap(&block->accesses[i], a)) {
            drop(block, i);
        }
    }
}

/* Uses that the host has waited for: everything later follows them. */
static void drop_done(struct emu_block *block, const struct emu_clock *host)
{
    size_t i = block->access_count;

    while (i-- > 0) {
        if ((block->accesses[i].type == USED) && follows(host, &block->accesses[i])) {
            drop(block, i);
        }
    }
}

static void drop_attachment(struct emu_block *block)
{
    size_t i = block->access_count;

    while (i-- > 0) {
        if (block->accesses[i].type == ATTACHED) {
            drop(block, i);
        }
    }
}

static void enter(struct emu_block *block, const struct emu_access *a)
{
    struct emu_access *grown;
    size_t capacity;

    if (block->access_count == block->access_capacity) {
        capacity = (block->access_capacity == 0) ? 4 : 2 * block->access_capacity;
        grown    = (capacity > ACCESSES_MAX)
                       ? NULL
                       : realloc(block->accesses, capacity * sizeof(*block->accesses));
        if (grown == NULL) {
            return;
        }
        block->accesses        = grown;
        block->access_capacity = capacity;
    }
    block->accesses[block->access_count++] = *a;
}

/* The same queue's earlier use of the same bytes needs no entry of its own. */
static void enter_use(struct emu *emu, struct emu_block *block, const struct emu_access *use)
{
    size_t i;

    for (i = 0; i < block->access_count; i++) {
        struct emu_access *a = &block->accesses[i];

        if ((a->type == USED) && (a->index == use->index) && (a->low == use->low) &&
            (a->high == use->high)) {
            *a = *use;
            return;
        }
    }
    if (block->access_count == block->access_capacity) {
        drop_done(block, &emu->host);
    }
    enter(block, use);
}

/* Accesses of these bytes that @p later does not follow. */
static void check(const struct emu_block *block, const struct emu_clock *clock,
                  const struct emu_access *later)
{
    size_t i;

    for (i = 0; i < block->access_count; i++) {
        const struct emu_access *a = &block->accesses[i];
        bool matters               = (a->type != ATTACHED) &&
                       ((a->type == FREED) || (a->type == ALLOCATED) == (later->type == USED));

        if (matters && overlap(a, later) && ((a->type == FREED) || !follows(clock, a))) {
            report(block, a, later);
        }
    }
}

static void begin(struct emu *emu, struct emu_queue *queue)
{
    emu_clock_join(queue->clock, &emu->host);
    queue->clock->at[queue->index]++;
}

/* A copy or fill without a queue is the host's, which waits for what the device does first. */
static bool is_right(const struct emu_block *block, const struct emu_queue *queue, bool is_kernel)
{
    return (block->attached == NULL) || (block->attached == queue) ||
           (!is_kernel && (queue->number == 0) && !block->attached_busy);
}

static void check_attached(const struct emu_block *block, const struct emu_queue *queue,
                           const struct emu_access *use, bool is_kernel)
{
    size_t i;

    for (i = 0; (i < block->access_count) && !is_right(block, queue, is_kernel); i++) {
        if (block->accesses[i].type == ATTACHED) {
            report(block, &block->accesses[i], use);
        }
    }
}

void emu_order_use(struct emu *emu, struct emu_queue *queue, const void *address, size_t size_bytes,
                   const char *what, bool is_new)
{
    struct emu_block *block = emu_arena_holds(emu, address) ? emu_arena_find(emu, address) : NULL;
    struct emu_access use;

    if (queue->clock == NULL) {
        return;
    }
    if (is_new) {
        begin(emu, queue);
    }
    if (block != NULL) {
        use = describe(queue, USED, what, address, size_bytes);
        check(block, queue->clock, &use);
        check_attached(block, queue, &use, size_bytes == 0);
        if (atomic_load(&block->state) == EMU_BLOCK_LIVE) {
            enter_use(emu, block, &use);
        }
    }
}

static bool any_is_lost(const struct emu *emu)
{
    bool lost = false;
    int i;

    for (i = 0; i < emu->device_count; i++) {
        lost = lost || atomic_load(&emu->devices[i].lost);
    }
    return lost;
}

/* Nothing on a lost device can be waited for. Work on the device's own queue comes before a free by
 * the ring's order: programs that launch on it and free were right before there were queues. */
static bool is_exempt(const struct emu *emu, const struct emu_access *a)
{
    return (a->queue != HOST_QUEUE) &&
           ((a->type == ALLOCATED) || (a->queue == 0) || any_is_lost(emu));
}

void emu_order_free(struct emu *emu, struct emu_block *block)
{
    struct emu_access last =
        describe(NULL, FREED, "a free by the host", block->base, block->size_bytes);
    size_t i;

    drop_attachment(block);
    i = block->access_count;
    while (i-- > 0) {
        if (block->accesses[i].type == FREED) {
            return; /* checked, for uses after it */
        }
        if (is_exempt(emu, &block->accesses[i])) {
            drop(block, i);
        }
    }
    check(block, &emu->host, &last);
    block->access_count = 0;
    for (i = 0; i < (size_t)emu->device_count; i++) {
        emu_late_run(&emu->devices[i].own);
    }
}

/* ---- attached to a queue ---- */

/* Lock held. The work so far precedes: of the queue, or, detached, of what the host has waited
 * for. */
static void attach(struct emu *emu, struct emu_block *block, struct emu_queue *queue)
{
    const char *what    = (queue != NULL) ? "an attachment" : "a detachment";
    struct emu_access a = describe(queue, (queue != NULL) ? ATTACHED : DETACHED, what, block->base,
                                   block->size_bytes);

    drop_attachment(block);
    if (!any_is_lost(emu)) {
        check(block, (queue != NULL) ? queue->clock : &emu->host, &a);
    }
    block->attached = queue;
    if (queue != NULL) {
        enter(block, &a);
    }
}

memspan_status_t emu_attach(void *state, int ordinal, void *opaque, const memspan_block_t *given)
{
    struct emu *emu = state;
    struct emu_device *device;
    struct emu_block *block;
    struct emu_queue *queue = opaque;
    memspan_status_t status = emu_enter(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    pthread_mutex_lock(&emu->lock);
    status = emu_arena_get(emu, given->address, given->size_bytes, &block);
    if ((status == MEMSPAN_OK) && (queue != block->attached) &&
        ((queue == NULL) || (queue->clock != NULL))) {
        if (queue != NULL) {
            begin(emu, queue);
        }
        attach(emu, block, queue);
    }
    pthread_mutex_unlock(&emu->lock);
    return status;
}

/* ---- open for the host and its network ---- */

static const char open_for_host[] = "memspan_share_host_open()";

memspan_status_t emu_host_open(void *state, int ordinal, const void *address, size_t size_bytes,
                               void **host_p)
{
    struct emu *emu = state;
    struct emu_device *device;
    struct emu_access a;
    struct emu_block *block;
    memspan_status_t status = emu_enter(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    a        = describe(NULL, USED, open_for_host, address, size_bytes);
    a.queue  = HOST_QUEUE;
    a.number = 1;
    pthread_mutex_lock(&emu->lock);
    status = emu_arena_get(emu, address, size_bytes, &block);
    if (status == MEMSPAN_OK) {
        enter(block, &a);
        *host_p = emu_arena_window(emu, address);
    }
    pthread_mutex_unlock(&emu->lock);
    return status;
}

memspan_status_t emu_host_close(void *state, int ordinal, const void *address, size_t size_bytes)
{
    struct emu *emu = state;
    struct emu_device *device;
    struct emu_block *block;
    size_t i;
    memspan_status_t status = emu_enter_lost(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    pthread_mutex_lock(&emu->lock);
    status = emu_arena_get(emu, address, size_bytes, &block);
    i      = (status == MEMSPAN_OK) ? block->access_count : 0;
    while ((i > 0) && ((block->accesses[i - 1].what != open_for_host) ||
                       (block->accesses[i - 1].low != (const char *)address) ||
                       (block->accesses[i - 1].high != (const char *)address + size_bytes))) {
        i--;
    }
    if (i > 0) {
        drop(block, i - 1);
    }
    pthread_mutex_unlock(&emu->lock);
    return ((i > 0) || (status != MEMSPAN_OK))
               ? status
               : emu_refuse(emu, MEMSPAN_ERR_NOT_FOUND, NULL,
                            "%zu bytes at %p are not open for the host", size_bytes, address);
}

/* ---- members of the table ---- */

static struct emu_block *find(const struct emu *emu, const struct emu_queue *queue,
                              const void *address)
{
    struct emu_block *block = emu_arena_holds(emu, address) ? emu_arena_find(emu, address) : NULL;

    return ((block != NULL) && (queue->clock != NULL) &&
            (atomic_load(&block->state) == EMU_BLOCK_LIVE))
               ? block
               : NULL;
}

memspan_status_t emu_queue_allocated(void *state, int ordinal, void *opaque, const void *address,
                                     size_t size_bytes)
{
    struct emu *emu = state;
    struct emu_device *device;
    struct emu_access a;
    struct emu_block *block;
    struct emu_queue *queue;
    memspan_status_t status = emu_enter(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    pthread_mutex_lock(&emu->lock);
    queue = emu_queue_get(device, opaque);
    block = find(emu, queue, address);
    if (block != NULL) {
        begin(emu, queue);
        a = describe(queue, ALLOCATED, "an allocation", address, size_bytes);
        drop_overlapping(block, &a);
        enter(block, &a);
    }
    pthread_mutex_unlock(&emu->lock);
    return MEMSPAN_OK;
}

/* Blocks of less than a page share one of the device. */
static bool is_whole(const struct emu_block *block, const struct emu_access *a)
{
    return (a->low == block->base) &&
           ((size_t)(a->high - a->low) + msp_page_size() > block->size_bytes);
}

memspan_status_t emu_queue_freed(void *state, int ordinal, void *opaque, const void *address,
                                 size_t size_bytes)
{
    struct emu *emu = state;
    struct emu_device *device;
    struct emu_access a;
    struct emu_block *block;
    struct emu_queue *queue;
    uint64_t number;
    memspan_status_t status = emu_enter(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    pthread_mutex_lock(&emu->lock);
    queue = emu_queue_get(device, opaque);
    block = find(emu, queue, address);
    if (block != NULL) {
        begin(emu, queue);
        a = describe(queue, FREED, "a free", address, size_bytes);
        check(block, queue->clock, &a);
        drop_overlapping(block, &a);
        if (is_whole(block, &a)) {
            enter(block, &a); /* for uses after the block is the device's again */
        }
    }
    emu_late_run(queue);
    number = queue->submitted;
    pthread_mutex_unlock(&emu->lock);
    return emu_process_wait(device, number);
}
