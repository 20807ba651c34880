/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues: the order of one, that of two, and memory that is freed and allocated in that order. */

#include "conform.h"
#include <memspan/omp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    BYTES  = 100001,
    ROUNDS = 20,
    LARGE  = 40 << 20 /* goes back to the driver when it is freed */
};

static memspan_queue_h open_queue(void)
{
    memspan_queue_h queue = MEMSPAN_QUEUE_NULL;

    CHECK_OK(memspan_queue_open(conform_device()->number, MEMSPAN_QUEUE_OWN, NULL, 0, &queue));
    return queue;
}

static void check_filled(const unsigned char *bytes, unsigned char byte, memspan_kind_t kind)
{
    CHECK_BYTES((bytes[0] == byte) && (memcmp(bytes, bytes + 1, BYTES - 1) == 0), "%s: %u, not %u",
                memspan_kind_name(kind), bytes[0], byte);
}

/* A block that was freed serves the next request, and its last bytes were read before. */
static void a_queue_keeps_its_order(void)
{
    unsigned char *out[ROUNDS];
    memspan_queue_h queue = open_queue();
    struct conform_memory m;

    for (int k = 0; conform_kind(k, &m); k++) {
        for (int i = 0; i < ROUNDS; i++) {
            unsigned char *block = memspan_alloc_on(m.allocator, BYTES, queue);
            out[i]               = malloc(BYTES);
            CHECK((block != NULL) && (out[i] != NULL));
            CHECK_OK(memspan_fill_on(queue, block, (unsigned char)(i + 1), BYTES));
            CHECK_OK(memspan_copy_on(queue, out[i], block, BYTES));
            CHECK_OK(memspan_free_on(block, queue));
        }
        CHECK_OK(memspan_queue_synchronize(queue));
        for (int i = 0; i < ROUNDS; i++) {
            check_filled(out[i], (unsigned char)(i + 1), m.kind);
            free(out[i]);
        }
        (void)memspan_trim();
        (void)memspan_trim();
        conform_done(&m);
    }
    CHECK_OK(memspan_queue_close(queue));
}

/* One fills, the other copies after it, and the first overwrites after that. */
static void a_queue_waits_for_another(void)
{
    unsigned char *out  = malloc(BYTES);
    memspan_queue_h one = open_queue();
    memspan_queue_h two = open_queue();
    struct conform_memory m;

    for (int k = 0; conform_kind(k, &m); k++) {
        unsigned char *source = memspan_alloc_on(m.allocator, BYTES, one);
        unsigned char *target = memspan_alloc_on(m.allocator, BYTES, two);

        CHECK((source != NULL) && (target != NULL));
        CHECK_OK(memspan_fill_on(one, source, 7, BYTES));
        CHECK_OK(memspan_queue_wait(two, one));
        CHECK_OK(memspan_copy_on(two, target, source, BYTES));
        CHECK_OK(memspan_queue_wait(one, two));
        CHECK_OK(memspan_fill_on(one, source, 9, BYTES));
        CHECK_OK(memspan_copy_on(two, out, target, BYTES));
        CHECK_OK(memspan_used_on(target, two));
        CHECK_OK(memspan_free_on(target, one));
        CHECK_OK(memspan_free_on(source, one));
        CHECK_OK(memspan_queue_synchronize(two));
        check_filled(out, 7, m.kind);
        CHECK_OK(memspan_queue_synchronize(one));
        (void)memspan_trim();
        (void)memspan_trim();
        conform_done(&m);
    }
    CHECK_OK(memspan_queue_close(one));
    CHECK_OK(memspan_queue_close(two));
    free(out);
}

/* ---- functions on queues ---- */

/* What a function does, and what it has found. */
struct deed {
    const unsigned char *seen;
    memspan_kind_t kind;
    memspan_queue_h other;
    void *large;
    atomic_bool may_end;
    atomic_bool is_done;
};

static void look(void *argument)
{
    struct deed *deed = argument;

    check_filled(deed->seen, 3, deed->kind);
    atomic_store(&deed->is_done, true);
}

/* After the work before it, and before the work after it. */
static void a_function_keeps_the_order(void)
{
    unsigned char *out    = malloc(BYTES);
    memspan_queue_h queue = open_queue();
    struct conform_memory m;

    for (int k = 0; conform_kind(k, &m); k++) {
        struct deed deed     = {.seen = out, .kind = m.kind};
        unsigned char *block = memspan_alloc_on(m.allocator, BYTES, queue);

        CHECK((block != NULL) && (out != NULL));
        CHECK_OK(memspan_fill_on(queue, block, 3, BYTES));
        CHECK_OK(memspan_copy_on(queue, out, block, BYTES));
        CHECK_OK(memspan_call_on(queue, look, &deed));
        CHECK_OK(memspan_fill_on(queue, block, 5, BYTES));
        CHECK_OK(memspan_copy_on(queue, out, block, BYTES));
        CHECK_OK(memspan_free_on(block, queue));
        CHECK_OK(memspan_queue_synchronize(queue));
        CHECK(atomic_load(&deed.is_done));
        check_filled(out, 5, m.kind);
        (void)memspan_trim();
        conform_done(&m);
    }
    CHECK_OK(memspan_queue_close(queue));
    free(out);
}

static void do_nothing(void *argument)
{
    (void)argument;
}

/* One that a driver has held. */
static memspan_queue_h open_used_queue(void)
{
    memspan_queue_h queue = open_queue();

    CHECK_OK(memspan_call_on(queue, do_nothing, NULL));
    CHECK_OK(memspan_queue_synchronize(queue));
    return queue;
}

static void close_and_free(void *argument)
{
    struct deed *deed = argument;

    CHECK_OK(memspan_queue_close(deed->other));
    CHECK_OK(memspan_free(deed->large));
    atomic_store(&deed->is_done, true);
}

static void await_leave(void *argument)
{
    struct deed *deed = argument;

    while (!atomic_load(&deed->may_end)) {
        nanosleep(&(struct timespec){0, 100000}, NULL);
    }
    atomic_store(&deed->is_done, true);
}

/* What closes waits for the queue that is closed, and memory goes back later: a driver would wait
 * for the queue whose function this is. A wrong wait never ends. */
static void a_function_closes_another_queue(void)
{
    memspan_queue_h queue = open_queue();
    struct conform_memory m;

    for (int k = 0; conform_kind(k, &m); k++) {
        struct deed deed = {.other = open_used_queue(), .large = memspan_alloc(m.allocator, LARGE)};

        CHECK_OK(memspan_call_on(queue, close_and_free, &deed));
        CHECK_OK(memspan_queue_synchronize(queue));
        CHECK(atomic_load(&deed.is_done));
        conform_done(&m);
    }
    CHECK_OK(memspan_queue_close(queue));
}

struct own_close {
    memspan_queue_h queue;
    memspan_status_t status;
};

static void close_own(void *argument)
{
    struct own_close *own = argument;

    own->status = memspan_queue_close(own->queue);
}

/* A queue that waits for the function stays; one that has nothing to wait for goes. */
static void a_function_closes_its_queue(void)
{
    memspan_queue_info_t info = {.struct_size = sizeof(info)};
    struct own_close own      = {.queue = open_used_queue()};

    CHECK_OK(memspan_queue_describe(own.queue, &info));
    CHECK_OK(memspan_call_on(own.queue, close_own, &own));
    if (info.called_after_wait != 0) {
        CHECK(own.status == MEMSPAN_OK, "%d", own.status);
        CHECK_STATUS(memspan_queue_close(own.queue), MEMSPAN_ERR_NOT_FOUND);
        return;
    }
    CHECK_OK(memspan_queue_synchronize(own.queue));
    CHECK(own.status == MEMSPAN_ERR_CONFLICT, "%d", own.status);
    CHECK_OK(memspan_queue_close(own.queue));
}

static void a_queue_closes_beside_a_function(void)
{
    memspan_queue_info_t info = {.struct_size = sizeof(info)};
    memspan_queue_h queue     = open_used_queue();
    struct deed deed          = {.may_end = false};

    CHECK_OK(memspan_queue_describe(queue, &info));
    atomic_store(&deed.may_end, info.called_after_wait != 0); /* it runs in the call */
    CHECK_OK(memspan_call_on(queue, await_leave, &deed));
    CHECK_OK(memspan_queue_close(open_used_queue()));
    atomic_store(&deed.may_end, true);
    CHECK_OK(memspan_queue_synchronize(queue));
    CHECK(atomic_load(&deed.is_done));
    CHECK_OK(memspan_queue_close(queue));
}

/* The same by a queue and by its interop object. */
static memspan_status_t attach(bool by_interop, void *block, memspan_queue_h queue)
{
    omp_interop_t object = omp_interop_none;

    if (by_interop && (queue != MEMSPAN_QUEUE_NULL)) {
        CHECK_OK(memspan_interop_of_queue(queue, &object));
    }
    return by_interop ? memspan_omp_attach(block, object) : memspan_queue_attach(block, queue);
}

/* A driver's refusal of memory that it could attach has the driver's reason. */
static bool attaches(const struct conform_memory *m)
{
    static const char *const drivers[] = {"emu", "cuda", "hip"};
    const char *backend                = conform_device()->info.backend;
    bool is_one                        = false;

    for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++) {
        is_one = is_one || (strcmp(backend, drivers[i]) == 0);
    }
    return is_one && (m->kind == MEMSPAN_KIND_MANAGED);
}

static void check_attachment(const struct conform_memory *m, bool by_interop)
{
    memspan_queue_h queue   = open_queue();
    unsigned char *block    = memspan_alloc(m->allocator, LARGE);
    memspan_status_t status = attach(by_interop, block, queue);

    CHECK(block != NULL, "%s", memspan_error_text());
    if (status == MEMSPAN_OK) {
        CHECK(attaches(m), "%s is attached", memspan_kind_name(m->kind));
        CHECK_OK(memspan_fill_on(queue, block, 7, BYTES));
        CHECK_OK(memspan_queue_synchronize(queue));
        conform_wait();
        check_filled(block, 7, m->kind);
        CHECK_OK(attach(by_interop, block, MEMSPAN_QUEUE_NULL));
        CHECK_OK(attach(by_interop, block, queue));
    } else {
        CHECK((status == MEMSPAN_ERR_UNSUPPORTED) || attaches(m), "%s", memspan_error_text());
        CHECK(strcmp(conform_device()->info.backend, "emu") != 0 || !attaches(m), "%s",
              memspan_error_text());
        CHECK(memspan_error_last()->message[0] != '\0');
    }
    CHECK_OK(memspan_free_on(block, queue));
    CHECK_OK(memspan_queue_close(queue));
}

static void memory_is_attached_or_refused(void)
{
    struct conform_memory m;

    for (int k = 0; conform_kind(k, &m); k++) {
        check_attachment(&m, false);
        check_attachment(&m, true);
        conform_done(&m);
    }
}

const struct conform_case conform_queue_cases[] = {
    {"memory_is_attached_or_refused", memory_is_attached_or_refused},
    {"a_queue_keeps_its_order", a_queue_keeps_its_order},
    {"a_queue_waits_for_another", a_queue_waits_for_another},
    {"a_function_keeps_the_order", a_function_keeps_the_order},
    {"a_function_closes_another_queue", a_function_closes_another_queue},
    {"a_function_closes_its_queue", a_function_closes_its_queue},
    {"a_queue_closes_beside_a_function", a_queue_closes_beside_a_function},
    {NULL, NULL},
};
