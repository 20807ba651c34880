/* SPDX-License-Identifier: BSD-3-Clause */
/* late.c: a plug-in backend whose queues run late and in any order that is allowed.
 *
 * A command is only noted. Each call of the backend then runs some commands, at random: the next of
 * any queue whose wait, if it is one, is for something that is complete. So work of two queues that
 * nothing orders takes turns in every way, and memory that is reused too early has wrong bytes.
 * Memory is the process's own: the program checks it after it has waited.
 *
 * That does not happen in every run, so each use of memory is judged by clocks, too
 * (tests/queue/judge.h): the process ends at the first that nothing orders.
 *
 * LATE_FAIL=N: of N recordings of events one fails. LATE_FAIL_NTH=N: the N-th fails. late_refuse()
 * has calls fail from now on. LATE_EVENTS=0: the driver has none. LATE_LACKS=member: the table has
 * all but that one. LATE_HOLDS=0: the host cannot hold its queues.
 *
 * Invariant: everything changes under `lock` alone. */

#define _GNU_SOURCE
#include "tests/queue/late.h"
#include "tests/queue/judge.h"
#include <memspan/backend.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { DEVICES = 2, PAGE = 4096, CAPACITY_BYTES = 96 << 20 };

struct command {
    struct command *next;
    void *to;
    const void *from;           /* NULL: a fill, or a wait */
    struct late_queue *awaited; /* a wait */
    uint64_t hold;              /* the number of a hold; 0: it is none */
    uint64_t position;
    size_t size_bytes;
    unsigned char byte;
};

struct late_queue {
    struct late_queue *next;
    struct command *first;
    struct command **last;
    uint64_t added;
    uint64_t done;
    uint64_t held;
    uint64_t released;
    struct order_stream order;
    bool gone;      /* kept for the events that name it */
    bool is_native; /* the program's */
};

struct event {
    struct late_queue *queue;
    uint64_t position;
    struct order_clock clock;
};

static const memspan_services_t *services;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct late_queue own[DEVICES];
static struct late_queue *queues;
static uint64_t random_state = 88172645463325252u;
static int fail_share;
static int fail_nth; /* 0: none */
static int records;
static bool has_failed;
static int live; /* queues and events */
static size_t used_bytes;
static unsigned calls;

/* For the tests: how many calls of the backend there were. */
__attribute__((visibility("default"))) unsigned late_calls(void);

unsigned late_calls(void)
{
    unsigned n;

    pthread_mutex_lock(&lock);
    n = calls;
    pthread_mutex_unlock(&lock);
    return n;
}

/* For the tests: what fails from now on, of enum late_call. */
static atomic_uint refused;
__attribute__((visibility("default"))) void late_refuse(unsigned calls_refused);

void late_refuse(unsigned calls_refused)
{
    atomic_store(&refused, calls_refused);
}

static memspan_status_t refuse(unsigned call, const char *name)
{
    return ((atomic_load(&refused) & call) == 0)
               ? MEMSPAN_OK
               : services->fail(MEMSPAN_ERR_DRIVER, "late", name, 1, "made to fail", NULL,
                                "%s is refused", name);
}

/* As the pretended drivers have them. */
__attribute__((visibility("default"))) const char *fake_gpu_failed_call(void);
__attribute__((visibility("default"))) const char *fake_gpu_violation(void);
__attribute__((visibility("default"))) int fake_gpu_live(void);

const char *fake_gpu_failed_call(void)
{
    return has_failed ? "event_record" : "";
}

const char *fake_gpu_violation(void)
{
    return ""; /* the process has ended */
}

int fake_gpu_live(void)
{
    return live;
}

static unsigned pick(unsigned n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)(random_state >> 33) % n;
}

/* ---- running ---- */

static void run_first(struct late_queue *q)
{
    struct command *c = q->first;

    if (c->from != NULL) {
        memcpy(c->to, c->from, c->size_bytes);
    } else if (c->to != NULL) {
        memset(c->to, c->byte, c->size_bytes);
    }
    q->first = c->next;
    q->last  = (q->first == NULL) ? &q->first : q->last;
    q->done++;
    free(c);
}

static bool is_ready(const struct late_queue *q)
{
    return (q->first != NULL) && (q->released >= q->first->hold) &&
           ((q->first->awaited == NULL) || (q->first->awaited->done >= q->first->position));
}

/* A hold is released by another thread. */
static void pause_unlocked(void)
{
    const struct timespec pause = {0, 50000};

    pthread_mutex_unlock(&lock);
    nanosleep(&pause, NULL);
    pthread_mutex_lock(&lock);
}

/* Up to a position; what it waits for comes first. */
static void run_to(struct late_queue *q, uint64_t position)
{
    while (q->done < position) {
        if (q->released < q->first->hold) {
            pause_unlocked();
            continue;
        }
        if (!is_ready(q)) {
            run_to(q->first->awaited, q->first->position);
        }
        run_first(q);
    }
}

static void run_some(void)
{
    struct late_queue *q;

    calls++;
    for (q = queues; q != NULL; q = q->next) {
        while (is_ready(q) && (pick(4) == 0)) {
            run_first(q);
        }
    }
}

/* What follows a hold that the host has not released follows work that the host has yet to submit:
 * no clock has it, so it is not judged. */
static void judge(const struct late_queue *q, const struct command *c)
{
    if (q->released < q->held) {
        return;
    }
    if (((c->from != NULL) && !order_use(&q->order, (uintptr_t)c->from, c->size_bytes, false)) ||
        ((c->to != NULL) && !order_use(&q->order, (uintptr_t)c->to, c->size_bytes, true))) {
        fprintf(stderr, "late: nothing orders two queues that use the %zu bytes at %p\n",
                c->size_bytes, c->to);
        abort();
    }
}

static void add(struct late_queue *q, const struct command *command)
{
    struct command *c = malloc(sizeof(*c));

    *c      = *command;
    c->next = NULL;
    order_add(&q->order);
    judge(q, c);
    *q->last = c;
    q->last  = &c->next;
    q->added++;
    run_some();
}

static struct late_queue *get(int ordinal, void *queue)
{
    return (queue == NULL) ? &own[ordinal] : queue;
}

/* ---- the table ---- */

static void enter_queue(struct late_queue *q)
{
    q->last = &q->first;
    q->next = queues;
    queues  = q;
    order_open(&q->order);
}

static memspan_status_t late_open(const memspan_services_t *given, void **state_p)
{
    const char *fail = getenv("LATE_FAIL");
    const char *nth  = getenv("LATE_FAIL_NTH");
    int i;

    services   = given;
    fail_share = (fail == NULL) ? 0 : atoi(fail);
    fail_nth   = (nth == NULL) ? 0 : atoi(nth);
    for (i = 0; i < DEVICES; i++) {
        enter_queue(&own[i]);
    }
    *state_p = &own;
    return MEMSPAN_OK;
}

static void late_close(void *state)
{
    (void)state;
}

static int late_device_count(void *state)
{
    (void)state;
    return DEVICES;
}

static memspan_status_t late_device_describe(void *state, int ordinal,
                                             memspan_device_info_t *info_p)
{
    (void)state;
    snprintf(info_p->name, sizeof(info_p->name), "Late device %d", ordinal);
    snprintf(info_p->vendor, sizeof(info_p->vendor), "Memspan tests");
    snprintf(info_p->uid, sizeof(info_p->uid), "late-%d", ordinal);
    info_p->pci_address[0]  = '\0';
    info_p->numa_node       = -1;
    info_p->capacity_bytes  = CAPACITY_BYTES;
    info_p->free_bytes      = CAPACITY_BYTES - used_bytes;
    info_p->alloc_max_bytes = CAPACITY_BYTES;
    info_p->page_size_bytes = PAGE;
    info_p->kinds           = 1u << MEMSPAN_KIND_DEVICE | 1u << MEMSPAN_KIND_MANAGED;
    info_p->capabilities    = MEMSPAN_CAN_SHARE_ADDRESSES;
    return MEMSPAN_OK;
}

static memspan_reach_t late_reach(void *state, int home, memspan_kind_t kind, int from)
{
    (void)state;
    (void)home;
    if (kind == MEMSPAN_KIND_MANAGED) {
        return (memspan_reach_t){MEMSPAN_ACCESS_FAULT, MEMSPAN_COHERENCE_SYNC};
    }
    if (kind != MEMSPAN_KIND_DEVICE) {
        return (memspan_reach_t){MEMSPAN_ACCESS_NONE, MEMSPAN_COHERENCE_NONE};
    }
    return (from == MEMSPAN_HOST)
               ? (memspan_reach_t){MEMSPAN_ACCESS_COPY, MEMSPAN_COHERENCE_NONE}
               : (memspan_reach_t){MEMSPAN_ACCESS_LOCAL, MEMSPAN_COHERENCE_ATOMIC};
}

static memspan_status_t late_alloc(void *state, int ordinal, const memspan_request_t *request,
                                   memspan_block_t *block_p)
{
    void *address = NULL;
    bool fits;

    (void)state;
    (void)ordinal;
    pthread_mutex_lock(&lock);
    fits = (request->size_bytes <= CAPACITY_BYTES - used_bytes);
    used_bytes += fits ? request->size_bytes : 0;
    pthread_mutex_unlock(&lock);
    if (!fits) {
        return services->fail(MEMSPAN_ERR_NO_MEMORY, "late", "alloc", 2, "full", NULL,
                              "%zu bytes do not fit", request->size_bytes);
    }
    if (posix_memalign(&address, request->align_bytes, request->size_bytes) != 0) {
        return services->fail(MEMSPAN_ERR_NO_MEMORY, "late", "posix_memalign", 0, "", NULL,
                              "no %zu bytes", request->size_bytes);
    }
    memset(address, 0xa5, request->size_bytes);
    *block_p = (memspan_block_t){.address         = address,
                                 .size_bytes      = request->size_bytes,
                                 .page_size_bytes = PAGE,
                                 .flags           = MEMSPAN_BLOCK_PINNED,
                                 .node            = -1};
    return MEMSPAN_OK;
}

static memspan_status_t late_free(void *state, int ordinal, const memspan_block_t *block)
{
    (void)state;
    (void)ordinal;
    free(block->address);
    pthread_mutex_lock(&lock);
    used_bytes -= block->size_bytes;
    pthread_mutex_unlock(&lock);
    return MEMSPAN_OK;
}

static memspan_status_t late_copy(void *state, int ordinal, void *queue, void *to, const void *from,
                                  size_t size_bytes)
{
    (void)state;
    pthread_mutex_lock(&lock);
    add(get(ordinal, queue), &(struct command){.to = to, .from = from, .size_bytes = size_bytes});
    pthread_mutex_unlock(&lock);
    return MEMSPAN_OK;
}

static memspan_status_t late_fill(void *state, int ordinal, void *queue, void *to,
                                  unsigned char byte, size_t size_bytes)
{
    (void)state;
    pthread_mutex_lock(&lock);
    add(get(ordinal, queue), &(struct command){.to = to, .byte = byte, .size_bytes = size_bytes});
    pthread_mutex_unlock(&lock);
    return MEMSPAN_OK;
}

static memspan_status_t late_synchronize(void *state, int ordinal, void *queue)
{
    struct late_queue *q    = get(ordinal, queue);
    memspan_status_t status = refuse(LATE_SYNCHRONIZE, "synchronize");

    (void)state;
    if (status != MEMSPAN_OK) {
        return status;
    }
    pthread_mutex_lock(&lock);
    calls++;
    if (q->gone) {
        fprintf(stderr, "late: a queue that is gone is waited for\n");
        abort();
    }
    order_complete(&q->order.clock);
    run_to(q, q->added);
    pthread_mutex_unlock(&lock);
    return MEMSPAN_OK;
}

static memspan_status_t late_queue_create(void *state, int ordinal, void **queue_p)
{
    struct late_queue *q = calloc(1, sizeof(*q));

    (void)state;
    (void)ordinal;
    pthread_mutex_lock(&lock);
    enter_queue(q);
    live++;
    pthread_mutex_unlock(&lock);
    *queue_p = q;
    return MEMSPAN_OK;
}

static memspan_status_t late_queue_destroy(void *state, int ordinal, void *queue)
{
    struct late_queue *q = queue;

    (void)state;
    (void)ordinal;
    if (q->is_native) {
        return MEMSPAN_OK;
    }
    pthread_mutex_lock(&lock);
    if (q->first != NULL) {
        fprintf(stderr, "late: a queue is destroyed that has work\n");
        abort();
    }
    q->gone = true;
    live--;
    order_close(&q->order);
    pthread_mutex_unlock(&lock);
    return MEMSPAN_OK;
}

/* ---- events ---- */

static memspan_status_t late_event_record(void *state, int ordinal, void *queue, void **event_p)
{
    struct event *e = *event_p;
    bool fails;

    (void)state;
    pthread_mutex_lock(&lock);
    run_some();
    fails      = ((fail_share > 0) && (pick((unsigned)fail_share) == 0)) || (++records == fail_nth);
    has_failed = has_failed || fails;
    pthread_mutex_unlock(&lock);
    if (fails || (refuse(LATE_EVENT_RECORD, "event_record") != MEMSPAN_OK)) {
        return services->fail(MEMSPAN_ERR_DRIVER, "late", "event_record", 1, "made to fail", NULL,
                              "no event");
    }
    pthread_mutex_lock(&lock);
    live += (e == NULL) ? 1 : 0;
    e           = (e == NULL) ? malloc(sizeof(*e)) : e;
    e->queue    = get(ordinal, queue);
    e->position = e->queue->added;
    e->clock    = e->queue->order.clock;
    if (e->queue->gone) {
        fprintf(stderr, "late: an event of a queue that is gone\n");
        abort();
    }
    pthread_mutex_unlock(&lock);
    *event_p = e;
    return MEMSPAN_OK;
}

static memspan_status_t late_event_wait(void *state, int ordinal, void *queue, void *event)
{
    const struct event *e   = event;
    memspan_status_t status = refuse(LATE_EVENT_WAIT, "event_wait");

    (void)state;
    if (status != MEMSPAN_OK) {
        return status;
    }
    pthread_mutex_lock(&lock);
    add(get(ordinal, queue), &(struct command){.awaited = e->queue, .position = e->position});
    order_join(&get(ordinal, queue)->order, &e->clock);
    pthread_mutex_unlock(&lock);
    return MEMSPAN_OK;
}

static memspan_status_t late_event_done(void *state, int ordinal, void *event, int *done_p)
{
    const struct event *e   = event;
    memspan_status_t status = refuse(LATE_EVENT_DONE, "event_done");

    (void)state;
    (void)ordinal;
    if (status != MEMSPAN_OK) {
        return status;
    }
    pthread_mutex_lock(&lock);
    run_some();
    *done_p = (e->queue->done >= e->position) ? 1 : 0;
    if (*done_p != 0) {
        order_complete(&e->clock);
    }
    pthread_mutex_unlock(&lock);
    return MEMSPAN_OK;
}

static memspan_status_t late_event_destroy(void *state, int ordinal, void *event)
{
    (void)state;
    (void)ordinal;
    free(event);
    pthread_mutex_lock(&lock);
    live--;
    pthread_mutex_unlock(&lock);
    return MEMSPAN_OK;
}

/* For the tests: the queue of the last attachment. */
static void *attached_to;
__attribute__((visibility("default"))) void *late_attached(void);

void *late_attached(void)
{
    return attached_to;
}

static memspan_status_t late_attach(void *state, int ordinal, void *queue,
                                    const memspan_block_t *block)
{
    (void)state;
    (void)ordinal;
    (void)block;
    attached_to = queue;
    return MEMSPAN_OK;
}

/* ---- holds ---- */

static memspan_status_t late_queue_hold(void *state, int ordinal, void *queue)
{
    struct late_queue *q = get(ordinal, queue);

    (void)state;
    pthread_mutex_lock(&lock);
    add(q, &(struct command){.hold = ++q->held});
    pthread_mutex_unlock(&lock);
    return MEMSPAN_OK;
}

static memspan_status_t late_queue_release(void *state, int ordinal, void *queue)
{
    (void)state;
    pthread_mutex_lock(&lock);
    get(ordinal, queue)->released++;
    pthread_mutex_unlock(&lock);
    return MEMSPAN_OK;
}

/* A program's own queue: of two types, for want of another. */
__attribute__((visibility("default"))) void *late_native_new(void);
__attribute__((visibility("default"))) void late_native_end(void *native);

void *late_native_new(void)
{
    void *queue = NULL;

    (void)late_queue_create(NULL, 0, &queue);
    ((struct late_queue *)queue)->is_native = true;
    pthread_mutex_lock(&lock);
    live--; /* the program's */
    pthread_mutex_unlock(&lock);
    return queue;
}

/* Its work goes on, as with drivers. */
void late_native_end(void *native)
{
    struct late_queue *q = native;

    pthread_mutex_lock(&lock);
    q->gone = true;
    pthread_mutex_unlock(&lock);
}

static memspan_status_t late_queue_adopt(void *state, int ordinal, memspan_queue_type_t type,
                                         void *native, void **queue_p)
{
    (void)state;
    if ((type != MEMSPAN_QUEUE_CUDA) && (type != MEMSPAN_QUEUE_LEVEL_ZERO)) {
        return MEMSPAN_ERR_UNSUPPORTED;
    }
    if (native == NULL) {
        return services->fail(MEMSPAN_ERR_INVALID, "late", "adopt", 1, "no queue", NULL,
                              "NULL is no queue of device %d", ordinal);
    }
    *queue_p = native;
    return MEMSPAN_OK;
}

static memspan_backend_t table = {
    .abi             = MEMSPAN_BACKEND_ABI,
    .struct_size     = sizeof(memspan_backend_t),
    .name            = "late",
    .title           = "Queues that run late",
    .open            = late_open,
    .close           = late_close,
    .device_count    = late_device_count,
    .device_describe = late_device_describe,
    .reach           = late_reach,
    .alloc           = late_alloc,
    .free            = late_free,
    .copy            = late_copy,
    .fill            = late_fill,
    .synchronize     = late_synchronize,
    .queue_create    = late_queue_create,
    .queue_destroy   = late_queue_destroy,
    .event_record    = late_event_record,
    .event_wait      = late_event_wait,
    .event_done      = late_event_done,
    .event_destroy   = late_event_destroy,
    .queue_adopt     = late_queue_adopt,
    .attach          = late_attach,
    .queue_hold      = late_queue_hold,
    .queue_release   = late_queue_release,
};

__attribute__((visibility("default"))) const memspan_backend_t *memspan_backend_entry(void);

static void leave_out(const char *member)
{
    if (strcmp(member, "event_record") == 0) {
        table.event_record = NULL;
    } else if (strcmp(member, "event_wait") == 0) {
        table.event_wait = NULL;
    } else if (strcmp(member, "event_done") == 0) {
        table.event_done = NULL;
    } else if (strcmp(member, "event_destroy") == 0) {
        table.event_destroy = NULL;
    } else if (strcmp(member, "end") == 0) { /* an older table */
        table.struct_size = offsetof(memspan_backend_t, event_destroy);
    } else {
        table.queue_create  = NULL;
        table.queue_destroy = NULL;
    }
}

const memspan_backend_t *memspan_backend_entry(void)
{
    const char *events = getenv("LATE_EVENTS");
    const char *lacks  = getenv("LATE_LACKS");
    const char *holds  = getenv("LATE_HOLDS");

    if ((holds != NULL) && (strcmp(holds, "0") == 0)) {
        table.queue_hold    = NULL;
        table.queue_release = NULL;
    }
    if ((events != NULL) && (strcmp(events, "0") == 0)) {
        table.event_record  = NULL;
        table.event_wait    = NULL;
        table.event_done    = NULL;
        table.event_destroy = NULL;
    }
    if (lacks != NULL) {
        leave_out(lacks);
    }
    return &table;
}
