/* SPDX-License-Identifier: BSD-3-Clause */
/* trace.c: events as text in Chrome's trace format, which Perfetto reads as well.
 *
 *   instants   alloc, free, realloc, fallback, failed; a chunk given back
 *   slices     a chunk taken, as long as the driver took
 *   counters   live bytes of each allocator, bytes held by each provider
 *   spans      the life of each block from SPAN_BYTES on
 *   rows       of queues: a slice for each call on a queue, as long as the call took; an arrow from
 *              the queue that another one waits for
 *
 * One lock guards the file and the counts; it is taken last of all locks. The time of an event is
 * read under it, so that the events of a file are in order. */

#include "core/base/error.h"
#include "core/base/fork.h"
#include "core/base/log.h"
#include "core/base/option.h"
#include "core/base/platform.h"
#include "core/base/text.h"
#include "core/debug/watch.h"
#include "core/debug/watcher.h"
#include "core/engine/allocator_record.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    EVENT_BYTES = 2048,
    LABEL_BYTES = 2 * MSP_LABEL_BYTES, /* each character may be escaped */
    SPAN_BYTES  = 1 << 20,
    QUEUES_MAX  = 1024,
    QUEUE_ROWS  = 1 << 24,
};

static msp_lock_t trace_lock = MSP_LOCK_INIT(MSP_RANK_TRACE); /* guards everything below */
static bool ended;              /* and the watch flag is still to be cleared, without the lock */
static bool child_without_file; /* a forked child opens its file with its first event */
static int process;

static _Thread_local int thread_number; /* 0: not read yet */

/* ---- text ---- */

struct text {
    char bytes[EVENT_BYTES];
    size_t used;
};

#define ADD(text, ...)                                                                             \
    msp_text_append((text)->bytes, sizeof((text)->bytes), &(text)->used, __VA_ARGS__)

/* As the inside of a JSON string. Bytes that are not ASCII may be no UTF-8, and become '?'. */
static const char *escape(const char *from, char *to, size_t size)
{
    size_t n = 0;

    for (; (*from != '\0') && (n + 3 < size); from++) {
        if ((*from == '"') || (*from == '\\')) {
            to[n++] = '\\';
            to[n++] = *from;
        } else {
            to[n++] = ((*from < ' ') || (*from > '~')) ? '?' : *from;
        }
    }
    to[n] = '\0';
    return to;
}

static uint64_t clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* ---- the file; trace_lock held ---- */

static void stop(void)
{
    msp_trace_file_close();
    child_without_file = false;
    ended              = true;
}

static void put(const struct text *t, uint64_t now_ns)
{
    enum msp_trace_file_result result;

    if (t->used >= sizeof(t->bytes) - 1) {
        return; /* cut short, hence no JSON: cannot happen with labels of these lengths */
    }
    result = msp_trace_file_append(t->bytes, t->used, now_ns);
    if (result == MSP_TRACE_FILE_OK) {
        return;
    }
    if (result == MSP_TRACE_FILE_FULL) {
        msp_log(MEMSPAN_LOG_WARN, "trace", "recording ends: the trace has reached its limit (%s)",
                msp_trace_file_limit());
    } else {
        msp_log(MEMSPAN_LOG_ERROR, "trace", "recording ends: %s", msp_trace_file_problem());
    }
    stop();
}

static void name_process(void)
{
    struct text t = {.used = 0};
    char label[LABEL_BYTES];

    ADD(&t, "{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_name\",\"args\":{\"name\":\"%s\"}}",
        process, escape(program_invocation_short_name, label, sizeof(label)));
    put(&t, clock_ns());
}

static void name_thread(void)
{
    struct text t = {.used = 0};
    char label[LABEL_BYTES];
    char given[16] = "";

    pthread_getname_np(pthread_self(), given, sizeof(given));
    ADD(&t,
        "{\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"name\":\"thread_name\",\"args\":{\"name\":\"%s\"}}",
        process, thread_number, escape(given, label, sizeof(label)));
    put(&t, clock_ns());
}

static bool open_file(bool child)
{
    process = (int)getpid();
    if (!msp_trace_file_open(msp_option_text(MSP_OPTION_TRACE), child,
                             msp_option_number(MSP_OPTION_TRACE_LIMIT))) {
        return false;
    }
    name_process();
    return true;
}

/* Unlocks. Setting the flag stops all threads, which takes locks of lower rank. */
static void leave(void)
{
    bool tell = ended;

    ended = false;
    msp_unlock(&trace_lock);
    if (tell) {
        msp_watch_set(MSP_WATCH_TRACE, false);
    }
}

/* Locks. False, without the lock, when nothing is recorded any more. */
static bool enter(void)
{
    msp_lock(&trace_lock);
    if (MSP_UNLIKELY(child_without_file)) {
        child_without_file = false;
        if (!open_file(true)) {
            msp_log(MEMSPAN_LOG_ERROR, "trace", "%s", msp_trace_file_problem());
            stop();
        }
    }
    if (!msp_trace_file_is_open()) {
        leave();
        return false;
    }
    if (MSP_UNLIKELY(thread_number == 0)) {
        thread_number = (int)syscall(SYS_gettid);
        name_thread();
    }
    return true;
}

/* ---- parts of events ---- */

/* {"ph":P,...,"name":NAME,"cat":CATEGORY: the members that every event has, its arguments to come.
 */
static void begin(struct text *t, const char *phase, const char *event, const char *category,
                  uint64_t now_ns)
{
    t->used = 0;
    ADD(t, "{\"ph\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":%llu.%03u,\"name\":\"%s\",\"cat\":\"%s\"",
        phase, process, thread_number, (unsigned long long)(now_ns / 1000),
        (unsigned)(now_ns % 1000), event, category);
}

static const char *allocator_label(const struct msp_allocator *a, char *buffer, size_t size)
{
    char plain[MSP_LABEL_BYTES];

    return escape(msp_allocator_label(a, plain), buffer, size);
}

static void add_block(struct text *t, const struct msp_block_view *block)
{
    char label[LABEL_BYTES];
    char space[LABEL_BYTES];

    ADD(t,
        ",\"args\":{\"size\":%zu,\"address\":\"%p\",\"allocator\":\"%s\",\"space\":\"%s\","
        "\"kind\":\"%s\"",
        block->owner.requested_bytes, block->address,
        allocator_label(block->owner.account->allocator, label, sizeof(label)),
        escape(block->owner.account->allocator->space->name, space, sizeof(space)),
        memspan_kind_name(block->chunk->provider->spec.kind));
}

static void put_counter(const char *what, const char *label, uint64_t bytes, uint64_t now_ns)
{
    struct text t = {.used = 0};

    ADD(&t,
        "{\"ph\":\"C\",\"pid\":%d,\"ts\":%llu.%03u,\"name\":\"%s %s\",\"args\":{\"bytes\":%llu}}",
        process, (unsigned long long)(now_ns / 1000), (unsigned)(now_ns % 1000), what, label,
        (unsigned long long)bytes);
    put(&t, now_ns);
}

static void put_live(const struct msp_allocator *a, uint64_t now_ns)
{
    char label[LABEL_BYTES];

    put_counter("live", allocator_label(a, label, sizeof(label)), a->traced_bytes, now_ns);
}

/* A block from before the trace, or from a parent process's, was never added. */
static void subtract(struct msp_allocator *a, size_t bytes)
{
    a->traced_bytes -= (bytes < a->traced_bytes) ? bytes : a->traced_bytes;
}

static void put_span(const char *phase, const struct msp_block_view *block, uint64_t now_ns)
{
    struct text t;
    char size[32];
    char label[64];

    if (block->owner.requested_bytes < SPAN_BYTES) {
        return;
    }
    snprintf(label, sizeof(label), "block of %s",
             msp_text_from_size(size, sizeof(size), block->owner.requested_bytes));
    begin(&t, phase, label, "span", now_ns);
    ADD(&t, ",\"id\":\"%p\"}", block->address);
    put(&t, now_ns);
}

/* ---- blocks ---- */

static void put_block(const char *event, const struct msp_block_view *block, uint64_t now_ns)
{
    struct text t;

    begin(&t, "i", event, "block", now_ns);
    add_block(&t, block);
    ADD(&t, "},\"s\":\"t\"}");
    put(&t, now_ns);
}

void msp_trace_allocated(const struct msp_block_view *block)
{
    uint64_t now_ns;

    if (!enter()) {
        return;
    }
    now_ns = clock_ns();
    put_block("alloc", block, now_ns);
    put_span("b", block, now_ns);
    block->owner.account->allocator->traced_bytes += block->owner.requested_bytes;
    put_live(block->owner.account->allocator, now_ns);
    leave();
}

void msp_trace_freeing(const struct msp_block_view *block)
{
    uint64_t now_ns;

    if (!enter()) {
        return;
    }
    now_ns = clock_ns();
    put_block("free", block, now_ns);
    put_span("e", block, now_ns);
    subtract(block->owner.account->allocator, block->owner.requested_bytes);
    put_live(block->owner.account->allocator, now_ns);
    leave();
}

void msp_trace_reallocated(const struct msp_block_view *old, const struct msp_block_view *block)
{
    struct text t;
    char label[LABEL_BYTES];
    uint64_t now_ns;

    if (!enter()) {
        return;
    }
    now_ns = clock_ns();
    begin(&t, "i", "realloc", "block", now_ns);
    add_block(&t, block);
    ADD(&t, ",\"old_size\":%zu,\"old_address\":\"%p\",\"old_allocator\":\"%s\"},\"s\":\"t\"}",
        old->owner.requested_bytes, old->address,
        allocator_label(old->owner.account->allocator, label, sizeof(label)));
    put(&t, now_ns);
    put_span("e", old, now_ns);
    put_span("b", block, now_ns);
    subtract(old->owner.account->allocator, old->owner.requested_bytes);
    block->owner.account->allocator->traced_bytes += block->owner.requested_bytes;
    put_live(block->owner.account->allocator, now_ns);
    if (old->owner.account->allocator != block->owner.account->allocator) {
        put_live(old->owner.account->allocator, now_ns);
    }
    leave();
}

void msp_trace_request(const struct msp_allocator *asked, const struct msp_allocator *given,
                       size_t size_bytes, const void *address)
{
    struct text t;
    char label[LABEL_BYTES];
    uint64_t now_ns;

    if (!enter()) {
        return;
    }
    now_ns = clock_ns();
    begin(&t, "i", (given == NULL) ? "failed" : "fallback", "request", now_ns);
    ADD(&t, ",\"args\":{\"size\":%zu,\"asked\":\"%s\"", size_bytes,
        allocator_label(asked, label, sizeof(label)));
    if (given != NULL) {
        ADD(&t, ",\"given\":\"%s\",\"address\":\"%p\"",
            allocator_label(given, label, sizeof(label)), address);
    }
    ADD(&t, "},\"s\":\"t\"}");
    put(&t, now_ns);
    leave();
}

void msp_trace_placement(const void *address, size_t size_bytes, const char *from, const char *to,
                         double uses, double saves)
{
    struct text t;
    uint64_t now_ns;

    if (!enter()) {
        return;
    }
    now_ns = clock_ns();
    begin(&t, "i", "moved", "placement", now_ns);
    ADD(&t,
        ",\"args\":{\"address\":\"%p\",\"size\":%zu,\"from\":\"%s\",\"to\":\"%s\",\"uses\":%.6g,"
        "\"saves\":%.6g},\"s\":\"p\"}",
        address, size_bytes, from, to, uses, saves);
    put(&t, now_ns);
    leave();
}

/* ---- chunks ---- */

static void add_chunk(struct text *t, const struct msp_chunk *chunk)
{
    const struct msp_provider_spec *spec = &chunk->provider->spec;
    char label[LABEL_BYTES];

    ADD(t,
        ",\"args\":{\"size\":%zu,\"address\":\"%p\",\"backend\":\"%s\",\"device\":%d,\"kind\":\"%"
        "s\"}",
        chunk->size_bytes, (void *)chunk->address,
        escape(spec->device->table->name, label, sizeof(label)), spec->device->number,
        memspan_kind_name(spec->kind));
}

/* Each provider has a track of its own, as in the statistics. */
static void put_held(const struct msp_provider *p, uint64_t less_bytes, uint64_t now_ns)
{
    char plain[MSP_LABEL_BYTES];
    char backend[LABEL_BYTES];
    char label[2 * LABEL_BYTES];

    snprintf(label, sizeof(label), "%s (%s%d.%s)", msp_provider_label(p, plain),
             escape(p->spec.device->table->name, backend, sizeof(backend)), p->spec.device->ordinal,
             memspan_kind_name(p->spec.kind));
    put_counter("held", label,
                atomic_load_explicit(&p->held_bytes, memory_order_relaxed) - less_bytes, now_ns);
}

void msp_trace_chunk_taken(const struct msp_chunk *chunk, uint64_t duration_ns)
{
    struct text t;
    uint64_t now_ns;

    if (!enter()) {
        return;
    }
    now_ns = clock_ns();
    begin(&t, "X", "take chunk", "chunk", now_ns - duration_ns);
    ADD(&t, ",\"dur\":%llu.%03u", (unsigned long long)(duration_ns / 1000),
        (unsigned)(duration_ns % 1000));
    add_chunk(&t, chunk);
    ADD(&t, "}");
    put(&t, now_ns);
    put_held(chunk->provider, 0, now_ns);
    leave();
}

void msp_trace_chunk_giving_back(const struct msp_chunk *chunk)
{
    struct text t;
    uint64_t now_ns;

    if (!enter()) {
        return;
    }
    now_ns = clock_ns();
    begin(&t, "i", "give chunk back", "chunk", now_ns);
    add_chunk(&t, chunk);
    ADD(&t, ",\"s\":\"t\"}");
    put(&t, now_ns);
    put_held(chunk->provider, chunk->size_bytes, now_ns);
    leave();
}

/* ---- queues ---- */

/* Rows are threads of the viewer, with numbers that no thread of the system has. */
static uint32_t row_of(uint32_t queue, uint32_t generation)
{
    return QUEUE_ROWS + (generation & 0xffff) * QUEUES_MAX + queue;
}

static void name_row(uint32_t queue, uint32_t generation, int device)
{
    static uint32_t named[QUEUES_MAX] MSP_SPARSE; /* generations */
    struct text t = {.used = 0};

    if (named[queue % QUEUES_MAX] == generation) {
        return;
    }
    named[queue % QUEUES_MAX] = generation;
    ADD(&t,
        "{\"ph\":\"M\",\"pid\":%d,\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":"
        "\"queue:%u.%u device %d\"}}",
        process, row_of(queue, generation), queue, generation, device);
    put(&t, clock_ns());
}

static void put_slice(const struct msp_queue_event *e, uint32_t row, const char *name,
                      uint64_t now_ns)
{
    struct text t        = {.used = 0};
    uint64_t duration_ns = now_ns - e->started_ns;

    ADD(&t,
        "{\"ph\":\"X\",\"pid\":%d,\"tid\":%u,\"ts\":%llu.%03u,\"dur\":%llu.%03u,\"name\":\"%s\","
        "\"cat\":\"queue\",\"args\":{\"thread\":%d",
        process, row, (unsigned long long)(e->started_ns / 1000), (unsigned)(e->started_ns % 1000),
        (unsigned long long)(duration_ns / 1000), (unsigned)(duration_ns % 1000), name,
        thread_number);
    if (e->address != NULL) {
        ADD(&t, ",\"size\":%zu,\"address\":\"%p\"", e->size_bytes, e->address);
    }
    ADD(&t, "}}");
    put(&t, now_ns);
}

static void put_arrow(const char *phase, uint32_t row, uint64_t id, uint64_t at_ns)
{
    struct text t = {.used = 0};

    ADD(&t,
        "{\"ph\":\"%s\",\"bp\":\"e\",\"pid\":%d,\"tid\":%u,\"ts\":%llu.%03u,\"id\":%llu,"
        "\"name\":\"order\",\"cat\":\"queue\"}",
        phase, process, row, (unsigned long long)(at_ns / 1000), (unsigned)(at_ns % 1000),
        (unsigned long long)id);
    put(&t, at_ns);
}

void msp_trace_queue(const struct msp_queue_event *e)
{
    static uint64_t arrow;
    uint32_t row = row_of(e->queue, e->generation);
    uint64_t now_ns;

    if (!enter()) {
        return;
    }
    now_ns = clock_ns();
    name_row(e->queue, e->generation, e->device);
    if (e->other != 0) {
        uint32_t source = row_of(e->other, e->other_generation);

        name_row(e->other, e->other_generation, e->device);
        put_slice(e, source, "event", now_ns);
        put_slice(e, row, e->name, now_ns);
        put_arrow("s", source, ++arrow, e->started_ns);
        put_arrow("f", row, arrow, now_ns);
    } else {
        put_slice(e, row, e->name, now_ns);
    }
    leave();
}

/* ---- beginning and end ---- */

void msp_trace_start(void)
{
    bool recording;

    if (msp_option_text(MSP_OPTION_TRACE)[0] == '\0') {
        return;
    }
    msp_lock(&trace_lock);
    if (!open_file(false)) {
        msp_option_refuse(MSP_OPTION_TRACE, "%s", msp_trace_file_problem());
    }
    recording = msp_trace_file_is_open();
    leave();
    if (recording) {
        msp_watch_set(MSP_WATCH_TRACE, true);
    }
}

void msp_trace_flush(void)
{
    msp_lock(&trace_lock);
    msp_trace_file_flush();
    msp_unlock(&trace_lock);
}

__attribute__((destructor)) static void finish(void)
{
    msp_lock(&trace_lock);
    if (msp_trace_file_is_open()) {
        stop();
    }
    leave();
}

/* The file is the parent's. */
static void forget_file(void)
{
    thread_number = 0;
    if (msp_trace_file_is_open()) {
        msp_trace_file_forget();
        child_without_file = true;
    }
}

MSP_FORK_ITEM(trace) = {.rank = MSP_RANK_TRACE, .lock = &trace_lock, .after_child = forget_file};
