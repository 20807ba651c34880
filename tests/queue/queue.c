/* SPDX-License-Identifier: BSD-3-Clause */
/* queue.c: what each call of memspan/queue.h promises, and bad input. */

#include "tests/queue/queue.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

memspan_allocator_h allocator;

/* Before the library opens its backends. */
__attribute__((constructor)) static void name_plugin(void)
{
    setenv("MEMSPAN_BACKEND_PATH", LATE, 1);
}

/* A function of the plug-in. */
static void *from_plugin(const char *name)
{
    void *library = dlopen(LATE, RTLD_NOW | RTLD_NOLOAD);

    cr_assert_neq(library, NULL, "%s", dlerror());
    return dlsym(library, name);
}

unsigned calls(void)
{
    static unsigned (*late_calls)(void);

    if (late_calls == NULL) {
        *(void **)&late_calls = from_plugin("late_calls");
    }
    return late_calls();
}

void refuse(unsigned calls_refused)
{
    void (*late_refuse)(unsigned);

    *(void **)&late_refuse = from_plugin("late_refuse");
    late_refuse(calls_refused);
}

/* Queues and events of the driver. */
static int driver_objects(void)
{
    int (*fake_gpu_live)(void);

    *(void **)&fake_gpu_live = from_plugin("fake_gpu_live");
    return fake_gpu_live();
}

static void *native_new(void)
{
    void *(*function)(void);

    *(void **)&function = from_plugin("late_native_new");
    return function();
}

static void native_end(void *native)
{
    void (*function)(void *);

    *(void **)&function = from_plugin("late_native_end");
    function(native);
}

memspan_queue_h open_on(int device)
{
    memspan_queue_h queue = MEMSPAN_QUEUE_NULL;

    DONE(memspan_queue_open(device, MEMSPAN_QUEUE_OWN, NULL, 0, &queue));
    return queue;
}

memspan_queue_info_t info_of(memspan_queue_h queue)
{
    memspan_queue_info_t info = {.struct_size = sizeof(info)};

    DONE(memspan_queue_describe(queue, &info));
    return info;
}

static uint64_t live_bytes(void)
{
    memspan_allocator_stats_t stats = {.struct_size = sizeof(stats)};

    DONE(memspan_allocator_get_stats(allocator, &stats));
    return stats.live_bytes;
}

void set_up(void)
{
    int device = 0;
    memspan_space_h space;
    memspan_trait_t traits[] = {{MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB},
                                {MEMSPAN_TRAIT_POOL_SIZE, (uintptr_t)10 * BYTES}};

    DONE(memspan_space_get(&device, 1, MEMSPAN_SPACE_DEFAULT, &space));
    DONE(memspan_allocator_create(space, traits, 2, &allocator));
}

void tear_down(void)
{
    DONE(memspan_allocator_destroy(allocator));
    in_order();
    cr_expect_eq(driver_objects(), 0, "%d objects of the driver are left", driver_objects());
}

TestSuite(queue, .init = set_up, .fini = tear_down);

Test(queue, a_free_serves_its_queue_without_the_driver)
{
    memspan_queue_h queue = open_on(0);
    void *first           = memspan_alloc_on(allocator, BYTES, queue);
    unsigned before;
    void *second;
    int i;

    cr_assert_neq(first, NULL);
    cr_expect_eq(live_bytes(), BYTES);
    DONE(memspan_fill_on(queue, first, 1, BYTES));
    before = calls();
    for (i = 0; i < 100; i++) {
        DONE(memspan_free_on(first, queue));
        cr_expect_eq(live_bytes(), 0, "%llu bytes are live", (unsigned long long)live_bytes());
        second = memspan_alloc_on(allocator, BYTES, queue);
        cr_expect_eq(second, first);
    }
    cr_expect_eq(calls(), before, "%u driver calls", calls() - before);
    cr_expect_eq(info_of(queue).reused_in_order, 100);
    cr_expect_eq(info_of(queue).allocated_count, 101);
    cr_expect_eq(info_of(queue).freed_count, 100);
    cr_expect_eq(info_of(queue).freed_after_wait, 0);
    DONE(memspan_free_on(second, queue));
    cr_expect_geq(info_of(queue).kept_bytes, BYTES);
    DONE(memspan_queue_close(queue));
}

/* The bytes that the first queue is still to read are there when it does. */
Test(queue, another_queue_waits_by_an_event)
{
    memspan_queue_h one  = open_on(0);
    memspan_queue_h two  = open_on(0);
    unsigned char *copy  = malloc(BYTES);
    unsigned char *block = memspan_alloc_on(allocator, BYTES, one);
    unsigned char *second;

    DONE(memspan_fill_on(one, block, 7, BYTES));
    DONE(memspan_copy_on(one, copy, block, BYTES));
    DONE(memspan_free_on(block, one));
    second = memspan_alloc_on(allocator, BYTES, two);
    cr_expect_eq(second, block, "the memory was not reused");
    DONE(memspan_fill_on(two, second, 9, BYTES));
    DONE(memspan_queue_synchronize(two)); /* runs what it waits for */
    cr_expect((copy[0] == 7) && (copy[BYTES - 1] == 7), "%u %u", copy[0], copy[BYTES - 1]);
    cr_expect_eq(info_of(two).reused_after_wait + info_of(two).reused_after_event, 1);
    cr_expect_eq(info_of(two).waited_ns, 0);
    DONE(memspan_free_on(second, two));
    DONE(memspan_queue_close(one));
    DONE(memspan_queue_close(two));
    free(copy);
}

/* After an explicit wait, the other queue's memory needs no event. */
Test(queue, a_wait_is_known)
{
    memspan_queue_h one  = open_on(0);
    memspan_queue_h two  = open_on(0);
    unsigned char *block = memspan_alloc_on(allocator, BYTES, one);
    unsigned before;

    DONE(memspan_fill_on(one, block, 7, BYTES));
    DONE(memspan_free_on(block, one));
    DONE(memspan_queue_wait(two, one));
    before = calls();
    cr_expect_eq(memspan_alloc_on(allocator, BYTES, two), block);
    cr_expect_eq(calls(), before);
    cr_expect_eq(info_of(two).reused_after_event, 1);
    DONE(memspan_queue_synchronize(two));
    DONE(memspan_free(block));
    DONE(memspan_queue_close(one));
    DONE(memspan_queue_close(two));
}

Test(queue, a_second_user_is_waited_for)
{
    memspan_queue_h one  = open_on(0);
    memspan_queue_h two  = open_on(0);
    unsigned char *copy  = malloc(BYTES);
    unsigned char *block = memspan_alloc_on(allocator, BYTES, one);

    DONE(memspan_fill_on(one, block, 7, BYTES));
    DONE(memspan_queue_wait(two, one));
    DONE(memspan_copy_on(two, copy, block, BYTES));
    DONE(memspan_used_on(block, two));
    DONE(memspan_free_on(block, one));
    cr_expect_eq(memspan_alloc_on(allocator, BYTES, one), block);
    DONE(memspan_fill_on(one, block, 9, BYTES));
    DONE(memspan_queue_synchronize(one));
    cr_expect((copy[0] == 7) && (copy[BYTES - 1] == 7), "%u %u", copy[0], copy[BYTES - 1]);
    DONE(memspan_free_on(block, one));
    DONE(memspan_queue_close(two));
    DONE(memspan_queue_close(one));
    free(copy);
}

/* A block that was freed is not live: each call on it is refused. */
Test(queue, what_was_freed_is_not_live)
{
    memspan_queue_h queue = open_on(0);
    void *block           = memspan_alloc_on(allocator, BYTES, queue);
    void *small           = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 100);

    DONE(memspan_free_on(block, queue));
    REFUSED(memspan_free_on(block, queue), MEMSPAN_ERR_NOT_FOUND, "no live block");
    REFUSED(memspan_free(block), MEMSPAN_ERR_NOT_FOUND, "no live block");
    REFUSED(memspan_used_on(block, queue), MEMSPAN_ERR_NOT_FOUND, "not the start");
    REFUSED(memspan_free_on(&queue, queue), MEMSPAN_ERR_NOT_FOUND, "not in memory of Memspan");
    DONE(memspan_free_on(NULL, queue));
    DONE(memspan_free_on(small, queue));
    REFUSED(memspan_free_on(small, queue), MEMSPAN_ERR_NOT_FOUND, "live block");
    cr_expect_eq(info_of(queue).freed_after_wait, 1);
    DONE(memspan_queue_close(queue));
}

/* pool_size counts what the program has, not what queues keep. */
Test(queue, limits_and_memory_that_is_kept)
{
    memspan_queue_h queue = open_on(0);
    void *blocks[10];
    int i;

    for (i = 0; i < 9; i++) {
        blocks[i] = memspan_alloc_on(allocator, BYTES, queue);
        cr_assert_neq(blocks[i], NULL, "%s", memspan_error_text());
    }
    REFUSED_NULL(memspan_alloc_on(allocator, (size_t)2 * BYTES, queue), MEMSPAN_ERR_LIMIT,
                 "pool_size");
    for (i = 0; i < 9; i++) {
        DONE(memspan_free_on(blocks[i], queue));
    }
    for (i = 0; i < 9; i++) {
        blocks[i] = memspan_alloc_on(allocator, BYTES, queue);
        cr_assert_neq(blocks[i], NULL, "%s", memspan_error_text());
    }
    blocks[9] = memspan_alloc(allocator, BYTES - 100);
    cr_assert_neq(blocks[9], NULL);
    REFUSED_NULL(memspan_alloc_on(allocator, BYTES, queue), MEMSPAN_ERR_LIMIT, "pool_size");
    for (i = 0; i < 10; i++) {
        DONE(memspan_free_on(blocks[i], queue));
    }
    REFUSED_NULL(memspan_alloc_on(allocator, SIZE_MAX, queue), MEMSPAN_ERR_NO_MEMORY, "bytes");
    cr_expect_eq(memspan_alloc_on(allocator, 0, queue), NULL);
    DONE(memspan_queue_synchronize(queue));
    (void)memspan_trim(); /* records an event that is complete next time */
    (void)memspan_trim();
    cr_expect_eq(info_of(queue).kept_bytes, 0);
    DONE(memspan_queue_close(queue));
}

static memspan_queue_h adopt(void *native, unsigned flags)
{
    memspan_queue_h queue = MEMSPAN_QUEUE_NULL;

    DONE(memspan_queue_open(0, MEMSPAN_QUEUE_CUDA, native, flags, &queue));
    return queue;
}

/* More than the device will have done in a few calls. */
static void fill_often(memspan_queue_h queue, void *block, unsigned char byte, int times)
{
    int i;

    for (i = 0; i < times; i++) {
        DONE(memspan_fill_on(queue, block, byte, BYTES));
    }
}

/* The program's queue may be gone after the free: the event was recorded then, and no later. */
Test(queue, a_native_queue_may_end_first)
{
    memspan_queue_h two   = open_on(0);
    void *native          = native_new();
    memspan_queue_h queue = adopt(native, 0);
    unsigned char *block  = memspan_alloc_on(allocator, BYTES, queue);

    fill_often(queue, block, 7, 100);
    DONE(memspan_free_on(block, queue));
    native_end(native);
    cr_expect_eq(memspan_alloc_on(allocator, BYTES, two), block);
    DONE(memspan_queue_synchronize(two)); /* which waits for the event */
    DONE(memspan_free(block));
    (void)memspan_trim();
    DONE(memspan_queue_close(queue));
    DONE(memspan_queue_close(two));
}

/* The same of a queue that used a block of another one. */
Test(queue, a_native_user_may_end_first)
{
    memspan_queue_h two   = open_on(0);
    void *native          = native_new();
    memspan_queue_h queue = adopt(native, 0);
    unsigned char *block  = memspan_alloc_on(allocator, BYTES, two);

    DONE(memspan_queue_wait(queue, two));
    fill_often(queue, block, 7, 100);
    DONE(memspan_used_on(block, queue));
    native_end(native);
    DONE(memspan_free_on(block, two)); /* orders by the event of the use */
    cr_expect_eq(memspan_alloc_on(allocator, BYTES, two), block);
    DONE(memspan_fill_on(two, block, 8, BYTES));
    DONE(memspan_queue_synchronize(two));
    DONE(memspan_free(block));
    DONE(memspan_queue_close(queue));
    DONE(memspan_queue_close(two));
}

Test(queue, a_lasting_native_queue_costs_no_event)
{
    void *native          = native_new();
    memspan_queue_h queue = adopt(native, MEMSPAN_QUEUE_LASTING);
    unsigned char *block  = memspan_alloc_on(allocator, BYTES, queue);
    unsigned before       = calls();

    DONE(memspan_free_on(block, queue));
    cr_expect_eq(calls(), before);
    DONE(memspan_queue_close(queue));
    native_end(native);
}

Test(queue, a_native_queue_is_found_again)
{
    void *native          = native_new();
    memspan_queue_h queue = MEMSPAN_QUEUE_NULL;
    memspan_queue_h again = MEMSPAN_QUEUE_NULL;

    DONE(memspan_queue_get(0, MEMSPAN_QUEUE_CUDA, native, MEMSPAN_QUEUE_LASTING, &queue));
    DONE(memspan_queue_get(0, MEMSPAN_QUEUE_CUDA, native, MEMSPAN_QUEUE_LASTING, &again));
    cr_assert_eq(queue, again);
    DONE(memspan_queue_get(1, MEMSPAN_QUEUE_CUDA, native, MEMSPAN_QUEUE_LASTING, &again));
    cr_assert_neq(queue, again, "of another device");
    DONE(memspan_queue_close(again));
    DONE(memspan_queue_get(0, MEMSPAN_QUEUE_CUDA, native, 0, &again));
    cr_assert_neq(queue, again, "with other flags");
    DONE(memspan_queue_close(again));
    DONE(memspan_queue_get(0, MEMSPAN_QUEUE_CUDA, native_new(), MEMSPAN_QUEUE_LASTING, &again));
    cr_assert_neq(queue, again, "another native queue");
    DONE(memspan_queue_close(again));
    DONE(memspan_queue_close(queue));
    DONE(memspan_queue_get(0, MEMSPAN_QUEUE_CUDA, native, MEMSPAN_QUEUE_LASTING, &again));
    cr_assert_neq(queue, again, "the earlier one is closed");
    DONE(memspan_queue_close(again));
    cr_assert_eq(memspan_queue_get(0, MEMSPAN_QUEUE_CUDA, NULL, 0, &again), MEMSPAN_ERR_INVALID);
    cr_assert_eq(memspan_queue_get(0, MEMSPAN_QUEUE_OWN, NULL, 0, &again), MEMSPAN_ERR_INVALID);
    cr_assert_eq(memspan_queue_get(0, MEMSPAN_QUEUE_CUDA, native, MEMSPAN_QUEUE_LASTING, NULL),
                 MEMSPAN_ERR_INVALID);
}

/* A command list is for one thread at a time: no later call on another queue records its event. */
Test(queue, a_command_list_is_used_by_its_own_calls)
{
    memspan_queue_h two   = open_on(0);
    void *native          = native_new();
    memspan_queue_h queue = MEMSPAN_QUEUE_NULL;
    unsigned char *block;

    DONE(memspan_queue_open(0, MEMSPAN_QUEUE_LEVEL_ZERO, native, MEMSPAN_QUEUE_LASTING, &queue));
    block = memspan_alloc_on(allocator, BYTES, queue);
    fill_often(queue, block, 7, 100);
    DONE(memspan_free_on(block, queue));
    native_end(native); /* a record from now on ends the process */
    cr_expect_eq(memspan_alloc_on(allocator, BYTES, two), block);
    DONE(memspan_free_on(block, two));
    DONE(memspan_queue_close(queue));
    DONE(memspan_queue_close(two));
}

/* What a queue has waited for since its last event, those that wait for the event have not. */
Test(queue, an_event_covers_what_came_before_it)
{
    memspan_queue_h one   = open_on(0);
    memspan_queue_h three = open_on(0);
    void *native          = native_new();
    memspan_queue_h two   = adopt(native, 0);
    unsigned char *copy   = malloc((size_t)2 * BYTES);
    unsigned char *small  = memspan_alloc_on(allocator, BYTES, two);
    unsigned char *large  = memspan_alloc_on(allocator, (size_t)2 * BYTES, one);
    int i;

    fill_often(two, small, 3, 300);
    DONE(memspan_free_on(small, two));
    DONE(memspan_fill_on(one, large, 7, (size_t)2 * BYTES));
    for (i = 0; i < 60; i++) { /* much work is left */
        DONE(memspan_copy_on(one, copy, large, (size_t)2 * BYTES));
    }
    DONE(memspan_free_on(large, one));
    DONE(memspan_queue_wait(two, one));
    cr_expect_eq(memspan_alloc_on(allocator, BYTES, three), small);
    cr_expect_eq(memspan_alloc_on(allocator, (size_t)2 * BYTES, three), large);
    DONE(memspan_fill_on(three, large, 9, (size_t)2 * BYTES));
    DONE(memspan_queue_synchronize(three));
    DONE(memspan_queue_synchronize(one));
    cr_expect((copy[0] == 7) && (copy[2 * BYTES - 1] == 7), "%u %u", copy[0], copy[2 * BYTES - 1]);
    DONE(memspan_free(large));
    DONE(memspan_free(small));
    DONE(memspan_queue_close(three));
    DONE(memspan_queue_close(two));
    DONE(memspan_queue_close(one));
    native_end(native);
    free(copy);
}

/* ---- attached memory ---- */

enum { ATTACHABLE = 40 << 20 };

static void *attached(void)
{
    void *(*function)(void);

    *(void **)&function = from_plugin("late_attached");
    return function();
}

static memspan_allocator_h managed_allocator(void)
{
    int devices[]            = {0, MEMSPAN_HOST};
    memspan_trait_t traits[] = {{MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB},
                                {MEMSPAN_TRAIT_MEMORY_ACCESS, MEMSPAN_VALUE_MANAGED}};
    memspan_space_h space;
    memspan_allocator_h managed;

    DONE(memspan_space_get(devices, 2, MEMSPAN_SPACE_DEFAULT, &space));
    DONE(memspan_allocator_create(space, traits, 2, &managed));
    return managed;
}

Test(queue, managed_memory_is_attached)
{
    memspan_allocator_h managed = managed_allocator();
    memspan_queue_h one         = open_on(0);
    memspan_queue_h two         = open_on(0);
    unsigned char *block        = memspan_alloc_on(managed, ATTACHABLE, one);
    unsigned char *small        = memspan_alloc_on(managed, BYTES, one);

    cr_assert((block != NULL) && (small != NULL), "%s", memspan_error_text());
    DONE(memspan_queue_attach(block, one));
    cr_expect_not_null(attached());
    REFUSED(memspan_queue_attach(small, one), MEMSPAN_ERR_UNSUPPORTED, "a part of an allocation");
    cr_expect_not_null(strstr(memspan_error_last()->hint, "bytes or more"));
    DONE(memspan_queue_attach(block, MEMSPAN_QUEUE_NULL));
    cr_expect_null(attached());
    DONE(memspan_queue_attach(block, one));
    DONE(memspan_free_on(block, two)); /* the queue does not keep it */
    cr_expect_eq(info_of(two).kept_bytes, 0);
    cr_expect_eq(info_of(two).freed_after_wait, 1);
    block = memspan_alloc_on(managed, ATTACHABLE, two);
    DONE(memspan_free_on(block, two));
    cr_expect_geq(info_of(two).kept_bytes, ATTACHABLE, "what is not attached is kept");
    DONE(memspan_free_on(small, one));
    DONE(memspan_queue_close(one));
    DONE(memspan_queue_close(two));
    DONE(memspan_allocator_destroy(managed));
}

Test(queue, memory_that_is_not_attached)
{
    memspan_allocator_h managed = managed_allocator();
    memspan_queue_h queue       = open_on(0);
    memspan_queue_h host        = open_on(MEMSPAN_HOST);
    unsigned char *block        = memspan_alloc(allocator, BYTES);
    unsigned char *large        = memspan_alloc(managed, ATTACHABLE);

    REFUSED(memspan_queue_attach(block, queue), MEMSPAN_ERR_UNSUPPORTED, "only managed memory");
    REFUSED(memspan_queue_attach(large + 1, queue), MEMSPAN_ERR_NOT_FOUND, "not the start");
    REFUSED(memspan_queue_attach(NULL, queue), MEMSPAN_ERR_NOT_FOUND, "not the start");
    REFUSED(memspan_queue_attach(large, host), MEMSPAN_ERR_INVALID, "not of backend late");
    DONE(memspan_queue_close(queue));
    REFUSED(memspan_queue_attach(large, queue), MEMSPAN_ERR_NOT_FOUND, "no queue");
    cr_expect_null(attached());
    DONE(memspan_free(block));
    DONE(memspan_free(large));
    DONE(memspan_queue_close(host));
    DONE(memspan_allocator_destroy(managed));
}

/* Before it is refused, a request waits for memory that work still uses. */
Test(queue, a_full_device_is_waited_for)
{
    enum { HALF = 50 << 20 };
    memspan_queue_h one = open_on(0);
    memspan_queue_h two = open_on(0);
    int device          = 0;
    memspan_space_h space;
    memspan_allocator_h unlimited;
    memspan_trait_t null_fb = {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB};
    unsigned char *block;
    unsigned char byte = 0;

    DONE(memspan_space_get(&device, 1, MEMSPAN_SPACE_DEFAULT, &space));
    DONE(memspan_allocator_create(space, &null_fb, 1, &unlimited));
    block = memspan_alloc_on(unlimited, HALF, one);
    cr_assert_neq(block, NULL, "%s", memspan_error_text());
    fill_often(one, block, 7, 100);
    DONE(memspan_copy_on(one, &byte, block, 1));
    DONE(memspan_free_on(block, one));
    block = memspan_alloc_on(unlimited, HALF + (20 << 20), two);
    cr_assert_neq(block, NULL, "%s", memspan_error_text());
    cr_expect_eq(byte, 7, "the first queue was not waited for");
    cr_expect_gt(info_of(one).waited_ns, 0);
    REFUSED_NULL(memspan_alloc_on(unlimited, HALF, one), MEMSPAN_ERR_NO_MEMORY, "do not fit");
    DONE(memspan_free_on(block, two));
    DONE(memspan_queue_close(one));
    DONE(memspan_queue_close(two));
    DONE(memspan_allocator_destroy(unlimited));
}

/* Queues of two drivers, of which the host's does its work in the call. */
Test(queue, the_host_has_queues_too)
{
    memspan_queue_h host = open_on(MEMSPAN_HOST);
    memspan_queue_h two  = open_on(0);
    unsigned char *copy  = memspan_alloc_on(MEMSPAN_ALLOCATOR_DEFAULT, BYTES, host);
    unsigned char *block = memspan_alloc_on(allocator, BYTES, two);

    DONE(memspan_fill_on(two, block, 5, BYTES));
    DONE(memspan_queue_wait(host, two));
    DONE(memspan_copy_on(host, copy, block, BYTES));
    cr_expect((copy[0] == 5) && (copy[BYTES - 1] == 5));
    DONE(memspan_fill_on(host, copy, 6, BYTES));
    cr_expect_eq(copy[BYTES - 1], 6);
    DONE(memspan_queue_wait(two, host));
    DONE(memspan_free_on(copy, host));
    DONE(memspan_free_on(block, two));
    cr_expect_eq(info_of(host).device, MEMSPAN_HOST);
    cr_expect_eq(info_of(host).has_events, 0);
    cr_expect_eq(info_of(two).has_events, 1);
    DONE(memspan_queue_close(host));
    DONE(memspan_queue_close(two));
}

Test(queue, bad_arguments)
{
    memspan_queue_h queue = open_on(0);
    memspan_queue_h other = queue;
    memspan_queue_h none  = MEMSPAN_QUEUE_NULL;
    memspan_queue_info_t info;
    char byte = 0;

    REFUSED(memspan_queue_open(0, MEMSPAN_QUEUE_OWN, NULL, 0, NULL), MEMSPAN_ERR_INVALID, "handle");
    REFUSED(memspan_queue_open(NO_DEVICE, MEMSPAN_QUEUE_OWN, NULL, 0, &other),
            MEMSPAN_ERR_NOT_FOUND, "12345");
    REFUSED(memspan_queue_open(0, MEMSPAN_QUEUE_OWN, &byte, 0, &other), MEMSPAN_ERR_INVALID,
            "type");
    REFUSED(memspan_queue_open(0, (memspan_queue_type_t)77, NULL, 0, &other), MEMSPAN_ERR_INVALID,
            "77");
    REFUSED(memspan_queue_open(0, MEMSPAN_QUEUE_CUDA, NULL, 8, &other), MEMSPAN_ERR_INVALID, "0x8");
    REFUSED(memspan_queue_open(0, MEMSPAN_QUEUE_CUDA, NULL, 0, &other), MEMSPAN_ERR_INVALID,
            "NULL");
    REFUSED(memspan_queue_open(0, MEMSPAN_QUEUE_HIP, NULL, 0, &other), MEMSPAN_ERR_UNSUPPORTED,
            "late");
    cr_expect_eq(other, queue, "written on failure");
    REFUSED(memspan_queue_describe(queue, NULL), MEMSPAN_ERR_INVALID, "description");
    info.struct_size = 0;
    REFUSED(memspan_queue_describe(queue, &info), MEMSPAN_ERR_INVALID, "struct_size");
    DONE(memspan_queue_close(MEMSPAN_QUEUE_NULL));
    DONE(memspan_queue_close(queue));
    REFUSED(memspan_queue_close(queue), MEMSPAN_ERR_NOT_FOUND, "no queue");
    REFUSED(memspan_queue_synchronize(queue), MEMSPAN_ERR_NOT_FOUND, "no queue");
    REFUSED(memspan_queue_wait(none, none), MEMSPAN_ERR_NOT_FOUND, "no queue");
    REFUSED(memspan_queue_describe(queue, &info), MEMSPAN_ERR_NOT_FOUND, "no queue");
    REFUSED_NULL(memspan_alloc_on(allocator, 8, queue), MEMSPAN_ERR_NOT_FOUND, "no queue");
    REFUSED(memspan_free_on(&byte, none), MEMSPAN_ERR_NOT_FOUND, "no queue");
    REFUSED(memspan_copy_on(queue, &byte, &byte, 1), MEMSPAN_ERR_NOT_FOUND, "no queue");
    REFUSED(memspan_fill_on(queue, &byte, 1, 1), MEMSPAN_ERR_NOT_FOUND, "no queue");
    REFUSED(memspan_prefetch_on(queue, &byte, 1, 0), MEMSPAN_ERR_NOT_FOUND, "no queue");
    REFUSED(memspan_kernel_launch_on(queue, NULL), MEMSPAN_ERR_NOT_FOUND, "no queue");
}

/* The number of a closed queue names no later one. */
Test(queue, handles_have_generations)
{
    memspan_queue_h first = open_on(0);
    memspan_queue_h second;
    memspan_queue_h many[1100];
    memspan_status_t status = MEMSPAN_OK;
    int count;

    DONE(memspan_queue_close(first));
    second = open_on(0);
    cr_expect_neq(first, second);
    REFUSED(memspan_queue_synchronize(first), MEMSPAN_ERR_NOT_FOUND, "no queue");
    for (count = 0; (count < 1100) && (status == MEMSPAN_OK); count++) {
        status = memspan_queue_open(0, MEMSPAN_QUEUE_OWN, NULL, 0, &many[count]);
    }
    cr_expect_eq(status, MEMSPAN_ERR_LIMIT, "%s after %d", memspan_error_text(), count);
    cr_expect_eq(count, 1023);
    while (count-- > 1) {
        DONE(memspan_queue_close(many[count - 1]));
    }
    DONE(memspan_queue_close(second));
}

/* ---- tables that are refused ---- */

static void check_lacking(const char *member, const char *reason)
{
    memspan_backend_info_t info = {.struct_size = sizeof(info)};
    int i                       = 0;

    setenv("LATE_LACKS", member, 1); /* no backend is open in this process */
    while ((i < memspan_backend_count()) && (strcmp(info.name, "late") != 0)) {
        DONE(memspan_backend_describe(i++, &info));
    }
    cr_assert_str_eq(info.name, "late");
    cr_expect_eq(info.status, MEMSPAN_ERR_ABI);
    cr_expect_not_null(strstr(info.reason, reason), "%s", info.reason);
}

#define LACKS(member, reason)                                                                      \
    Test(tables, without_##member)                                                                 \
    {                                                                                              \
        check_lacking(#member, reason);                                                            \
    }
LACKS(event_record, "event_record is NULL")
LACKS(event_wait, "event_wait is NULL")
LACKS(event_done, "event_done is NULL")
LACKS(event_destroy, "event_destroy is NULL")
LACKS(end, "event_destroy is NULL")
LACKS(queues, "queue_destroy is NULL")
Test(queue, a_forked_child_has_none)
{
    memspan_queue_h queue = open_on(0);
    void *block           = memspan_alloc_on(allocator, BYTES, queue);
    int status            = 0;
    pid_t child;

    DONE(memspan_free_on(block, queue));
    child = fork();
    if (child == 0) {
        bool right = (memspan_queue_synchronize(queue) == MEMSPAN_ERR_FORKED) &&
                     (memspan_alloc_on(allocator, BYTES, queue) == NULL);
        _exit(right ? 0 : 1);
    }
    waitpid(child, &status, 0);
    cr_expect_eq(status, 0);
    DONE(memspan_queue_close(queue));
}
