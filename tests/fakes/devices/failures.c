/* SPDX-License-Identifier: BSD-3-Clause */
/* Every call of a driver fails once, at every place of a program where it is made: what was asked
 * for is refused or had otherwise, nothing else changes, nothing is lost and nothing leaks. */

#include "control.h"
#include "machine.h"
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LARGE = 5 << 20, MEDIUM = 40000, SMALL = 100, PLACES_MAX = 400, BLOCKS = 24 };

/* ---- a program ---- */

struct part {
    unsigned char *address;
    size_t size;
    unsigned char byte;
};

struct program {
    memspan_allocator_h device, limited, shared;
    struct part parts[BLOCKS];
    int refused;
    struct fake_control *control; /* of the driver that fails */
    const char *call;             /* the call that fails */
};

static void check_message(struct program *p)
{
    const memspan_error_t *error = memspan_error_last();

    p->refused++;
    cr_assert(error->status != MEMSPAN_OK);
    cr_assert(error->message[0] != '\0');
    cr_assert(strcmp(error->call, p->call) == 0, "%s is not named: \"%s\", call \"%s\"", p->call,
              memspan_error_text(), error->call);
    cr_assert(error->native_code != 0);
    cr_assert(strncmp(error->backend, "fake", 4) == 0, "backend \"%s\"", error->backend);
}

static void paint(struct part *b, unsigned char byte)
{
    if (memspan_fill(b->address, byte, b->size) == MEMSPAN_OK) {
        b->byte = byte;
        return;
    }
    /* It said no: then what is there now is not known. */
    cr_assert_eq(memspan_fill(b->address, byte, b->size), MEMSPAN_OK, "%s", memspan_error_text());
    b->byte = byte;
}

static void look(struct part *b)
{
    static unsigned char bytes[LARGE + 1];

    if ((memspan_copy(bytes, b->address, b->size) != MEMSPAN_OK) &&
        (memspan_copy(bytes, b->address, b->size) != MEMSPAN_OK)) {
        cr_assert(false, "%s", memspan_error_text());
    }
    cr_assert_eq(bytes[0], b->byte);
    cr_assert_eq(bytes[b->size / 2], b->byte);
    cr_assert_eq(bytes[b->size - 1], b->byte);
}

static void take(struct program *p, int i, memspan_allocator_h allocator, size_t size, bool zeroed)
{
    struct part *b = &p->parts[i];

    memspan_error_clear();
    *b = (struct part){zeroed ? memspan_calloc(allocator, 1, size) : memspan_alloc(allocator, size),
                       size, 0};
    if (b->address == NULL) {
        check_message(p);
        return;
    }
    if (zeroed) {
        look(b);
    }
    paint(b, (unsigned char)(i + 1));
}

static void resize(struct program *p, int i, size_t size)
{
    struct part *b = &p->parts[i];
    void *address;

    if (b->address == NULL) {
        return;
    }
    memspan_error_clear();
    address = memspan_realloc(MEMSPAN_ALLOCATOR_NULL, b->address, size);
    if (address == NULL) {
        check_message(p);
        look(b); /* the old memory is untouched */
        return;
    }
    b->address = address;
    b->size    = (b->size < size) ? b->size : size;
    look(b);
    b->size = size;
    paint(b, b->byte);
}

static void drop(struct part *b)
{
    if (b->address != NULL) {
        look(b);
        cr_assert_eq(memspan_free(b->address), MEMSPAN_OK, "%s", memspan_error_text());
        b->address = NULL;
    }
}

static void run_program(struct program *p)
{
    memspan_allocator_h all[3] = {p->device, p->limited, p->shared};

    for (int i = 0; i < BLOCKS; i++) {
        static const size_t sizes[] = {SMALL, MEDIUM, LARGE, 3000};
        take(p, i, all[i % 3], sizes[i % 4], i % 5 == 0);
        if (i % 6 == 5) {
            drop(&p->parts[i - 3]);
        }
    }
    for (int i = 0; i < BLOCKS; i++) {
        resize(p, i, (i % 2 == 0) ? 2 * MEDIUM : SMALL / 2);
    }
    for (int i = 0; i < BLOCKS; i++) {
        drop(&p->parts[i]);
    }
    memspan_trim();
}

/* ---- the sweep ---- */

static memspan_allocator_stats_t totals(void)
{
    memspan_allocator_stats_t stats = {.struct_size = sizeof(stats)};

    cr_assert_eq(memspan_allocator_get_stats(MEMSPAN_ALLOCATOR_NULL, &stats), MEMSPAN_OK);
    return stats;
}

static void expect_nothing_lost(const struct program *p, bool driver_keeps)
{
    memspan_allocator_stats_t stats = totals();
    long bytes                      = atomic_load(&p->control->bytes);

    cr_assert_eq(stats.live_count, 0);
    cr_assert_eq(stats.live_bytes, 0);
    cr_assert_eq(stats.charged_bytes, 0, "%llu", (unsigned long long)stats.charged_bytes);
    cr_assert_eq(memspan_check(), MEMSPAN_OK, "%s", memspan_error_text());
    if (!driver_keeps) {
        cr_assert_eq(stats.held_bytes, 0, "%llu are held", (unsigned long long)stats.held_bytes);
        cr_assert_eq(bytes, 0, "the driver still has %ld bytes", bytes);
        cr_assert_eq(atomic_load(&p->control->imports), 0);
    } else { /* it may be tried again, or be given up, but not be counted otherwise than it is */
        cr_assert((stats.held_bytes == 0) || (stats.held_bytes == (uint64_t)bytes));
    }
}

static void start(struct program *p)
{
    machine_pretend("discrete", "import");
    setenv("FAKE_CAPACITY", "8589934592", 1); /* also with blocks that were not freed */
    memset(p, 0, sizeof(*p));
    cr_assert_eq(machine_allocator(DEVICES(0), "fallback=null_fb", &p->device), MEMSPAN_OK);
    cr_assert_eq(machine_allocator(DEVICES(0), "fallback=null_fb,pool_size=64m", &p->limited),
                 MEMSPAN_OK);
    cr_assert_eq(machine_allocator(DEVICES(1, MEMSPAN_HOST), "fallback=null_fb", &p->shared),
                 MEMSPAN_OK, "%s", memspan_error_text());
}

static void stop_failing(struct fake_control *control)
{
    atomic_store(&control->go_on_failing, 0);
    for (int i = 0; i < FAKE_CALLS; i++) {
        atomic_store(&control->fail_in[i], 0);
    }
}

enum {
    GO_ON    = 1, /* all calls from the n-th on fail */
    KEEPS    = 2, /* what was not freed stays with the driver */
    ABSORBED = 4  /* the library may find another way */
};

/* The n-th call of a sort fails, for every n that there is. */
static void sweep(int vendor, enum fake_call sort, const char *call, unsigned how)
{
    bool go_on = (how & GO_ON) != 0;
    struct program p;
    int refusals = 0;
    int place;

    start(&p);
    p.control = machine_control(vendor);
    p.call    = call;
    for (place = 1; place < PLACES_MAX; place++) {
        p.refused = 0;
        atomic_store(&p.control->go_on_failing, go_on);
        atomic_store(&p.control->fail_in[sort], place);
        run_program(&p);
        if (!go_on && (atomic_load(&p.control->fail_in[sort]) > 0)) {
            break; /* the program is over before */
        }
        if (go_on && (atomic_load(&p.control->fail_in[sort]) > 1)) {
            break;
        }
        stop_failing(p.control);
        refusals += p.refused;
        expect_nothing_lost(&p, (how & KEEPS) != 0);
    }
    stop_failing(p.control);
    cr_expect(place > 1, "the call is never made");
    cr_expect(place < PLACES_MAX);
    cr_expect_eq(p.refused, 0, "something was refused although nothing failed");
    printf("%s: %d places, %d refusals\n", call, place - 1, refusals);
    if ((how & (KEEPS | ABSORBED)) == 0) {
        cr_expect(refusals > 0, "no failure was ever seen");
    }
    p.refused = 0;
    run_program(&p);
    cr_expect_eq(p.refused, 0);
    expect_nothing_lost(&p, (how & KEEPS) != 0);
}

Test(failures, one_allocation)
{
    sweep(0, FAKE_ALLOC, "fakeMalloc", ABSORBED); /* smaller chunks may do instead */
}

Test(failures, all_allocations_from_one_on)
{
    sweep(0, FAKE_ALLOC, "fakeMalloc", GO_ON);
}

Test(failures, one_import)
{
    sweep(1, FAKE_IMPORT, "fakeRegister", ABSORBED);
}

Test(failures, all_imports_from_one_on)
{
    struct rlimit limit; /* two large blocks are locked at once */

    cr_assert_eq(getrlimit(RLIMIT_MEMLOCK, &limit), 0);
    if ((geteuid() != 0) && (limit.rlim_cur < 4 * (rlim_t)LARGE)) {
        cr_skip_test("locked memory is limited (ulimit -l)");
    }
    sweep(1, FAKE_IMPORT, "fakeRegister", GO_ON);
}

Test(failures, one_free)
{
    sweep(0, FAKE_FREE, "fakeFree", KEEPS);
}

Test(failures, one_release)
{
    sweep(1, FAKE_RELEASE, "fakeUnregister", KEEPS);
}

Test(failures, one_copy)
{
    sweep(0, FAKE_COPY, "fakeMemcpy", ABSORBED);
}

Test(failures, one_fill)
{
    sweep(0, FAKE_FILL, "fakeMemset", 0);
}

Test(failures, one_synchronization)
{
    sweep(0, FAKE_SYNCHRONIZE, "fakeSynchronize", 0);
}

Test(failures, a_limit_of_one_allocation)
{
    struct fake_control *control = machine_control(0);
    memspan_allocator_h device;
    void *block;

    machine_pretend("discrete", NULL);
    cr_assert_eq(machine_allocator(DEVICES(0), "fallback=null_fb", &device), MEMSPAN_OK);
    atomic_store(&control->limit_bytes, 64 << 10);
    block = memspan_alloc(device, SMALL);
    cr_assert_not_null(block, "no smaller chunk is taken: %s", memspan_error_text());
    cr_expect_leq(atomic_load(&control->bytes), 64 << 10);
    cr_expect_null(memspan_alloc(device, LARGE));
    cr_expect_eq(memspan_error_last()->status, MEMSPAN_ERR_LIMIT, "%s", memspan_error_text());
    cr_assert_eq(memspan_free(block), MEMSPAN_OK);
}

/* ---- several threads ---- */

enum { THREADS = 3, ROUNDS = 3000, LIVE = 40, FIT = 50, SIZE = 5000 };

struct storm {
    memspan_allocator_h allocator;
    unsigned seed;
    int wrong;
};

static void *allocate_in_storm(void *argument)
{
    struct storm *s    = argument;
    void *blocks[LIVE] = {NULL};

    for (int i = 0; i < ROUNDS; i++) {
        unsigned r  = (s->seed = s->seed * 1664525u + 1013904223u) >> 8;
        size_t size = (r % 50 == 0) ? LARGE : 1 + r % 60000;
        int k       = (int)(r % LIVE);
        void *now;

        if ((blocks[k] != NULL) && (r % 3 == 0)) {
            now       = memspan_realloc(MEMSPAN_ALLOCATOR_NULL, blocks[k], size);
            blocks[k] = (now != NULL) ? now : blocks[k];
            continue;
        }
        s->wrong += (memspan_free(blocks[k]) != MEMSPAN_OK);
        blocks[k] = (r % 2 == 0) ? memspan_alloc(s->allocator, size)
                                 : memspan_calloc(s->allocator, 1, size);
        if (r % 200 == 0) {
            memspan_trim();
        }
    }
    for (int k = 0; k < LIVE; k++) {
        s->wrong += (memspan_free(blocks[k]) != MEMSPAN_OK);
    }
    return NULL;
}

static int count_fits(memspan_allocator_h allocator)
{
    void *blocks[FIT + 1] = {NULL};
    int count             = 0;

    while ((count <= FIT) && ((blocks[count] = memspan_alloc(allocator, SIZE)) != NULL)) {
        count++;
    }
    for (int i = 0; i < count; i++) {
        cr_assert_eq(memspan_free(blocks[i]), MEMSPAN_OK);
    }
    return count;
}

/* Calls fail now and then while threads allocate: the limit is as exact afterwards as before. */
Test(failures, now_and_then_while_threads_allocate)
{
    static const enum fake_call calls[] = {FAKE_ALLOC, FAKE_COPY, FAKE_FILL, FAKE_SYNCHRONIZE};
    struct program p;
    struct storm storms[THREADS];
    pthread_t threads[THREADS];
    memspan_allocator_h exact;

    start(&p);
    p.control = machine_control(0);
    cr_assert_eq(machine_allocator(DEVICES(0), "fallback=null_fb,pool_size=250200", &exact),
                 MEMSPAN_OK);
    for (unsigned i = 0; i < THREADS; i++) {
        storms[i] = (struct storm){(i == 0) ? p.device : exact, i + 1, 0};
        cr_assert_eq(pthread_create(&threads[i], NULL, allocate_in_storm, &storms[i]), 0);
    }
    for (int i = 0; i < 2000; i++) {
        atomic_store(&p.control->fail_in[calls[i % 4]], 1 + i % 7);
        usleep(200);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        cr_expect_eq(storms[i].wrong, 0);
    }
    stop_failing(p.control);
    cr_expect_eq(count_fits(exact), FIT);
    memspan_trim();
    expect_nothing_lost(&p, false);
}

/* ---- memory that is none ---- */

static void expect_fault(memspan_allocator_h a, enum fake_gift gift, const char *words)
{
    struct fake_control *control = machine_control(0);

    atomic_store(&control->gives, gift);
    cr_expect_null(memspan_alloc(a, 3 << 20), "%s is believed", words);
    cr_expect_eq(memspan_error_last()->status, MEMSPAN_ERR_DRIVER, "%s", memspan_error_text());
    cr_expect_not_null(strstr(memspan_error_text(), words), "%s", memspan_error_text());
    cr_expect_not_null(strstr(memspan_error_text(), "fakea"), "%s", memspan_error_text());
    cr_expect_eq(atomic_load(&control->blocks), (gift == FAKE_NOWHERE) ? 1 : 0,
                 "what can be given back is");
    atomic_store(&control->gives, FAKE_RIGHT);
}

Test(failures, range_that_cannot_be_is_refused_and_the_block_copied)
{
    static const char words[] = "what it holds";
    char got[sizeof(words)]   = "";
    memspan_allocator_h device;
    enum fake_gift gift;
    char *block;

    setenv("FAKE_OPENING", "resizes", 1);
    machine_pretend("discrete", NULL);
    cr_assert_eq(machine_allocator(DEVICES(0), "fallback=null_fb", &device), MEMSPAN_OK);
    for (gift = FAKE_NOWHERE; gift <= FAKE_WILD; gift++) {
        block = memspan_realloc(device, memspan_alloc(device, 1 << 20), 3 << 20);
        cr_assert_not_null(block, "%s", memspan_error_text());
        cr_assert_eq(memspan_copy(block, words, sizeof(words)), MEMSPAN_OK);
        atomic_store(&machine_control(0)->resizes_to, gift);
        block = memspan_realloc(device, block, 40 << 20);
        atomic_store(&machine_control(0)->resizes_to, FAKE_RIGHT);
        cr_assert_not_null(block, "%s", memspan_error_text());
        cr_assert_eq(memspan_copy(got, block, sizeof(got)), MEMSPAN_OK);
        cr_expect_str_eq(got, words);
        cr_expect_eq(atomic_load(&machine_control(0)->resized), 0, "%d is believed", (int)gift);
        memspan_free(block);
    }
}

Test(failures, memory_that_cannot_be_is_an_error_of_the_backend)
{
    memspan_allocator_h managed;
    memspan_allocator_h device;

    machine_pretend("discrete", NULL);
    cr_assert_eq(machine_allocator(DEVICES(0), "fallback=null_fb", &device), MEMSPAN_OK);
    cr_assert_eq(machine_allocator(DEVICES(MEMSPAN_HOST, 0), "fallback=null_fb", &managed),
                 MEMSPAN_OK, "%s", memspan_error_text());
    expect_fault(device, FAKE_SMALL, "too few bytes");
    expect_fault(device, FAKE_CROOKED, "off its boundary");
    expect_fault(device, FAKE_WILD, "that no memory has");
    expect_fault(managed, FAKE_UNMAPPED, "not mapped");
    expect_fault(device, FAKE_NOWHERE, "no address");
}
