/* SPDX-License-Identifier: BSD-3-Clause */
/* queue.c: queues that are closed, waited for and used by functions of others, on the devices of
 * tests/queue/late.c, which ends the process at a use of memory that nothing orders. */

#include "scenario.h"
#include <memspan/memspan.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SIZE = 1000 };

static memspan_allocator_h allocator;
static memspan_queue_h first, second, host;
static void *block;

/* Before the library reads its options. */
__attribute__((constructor)) static void name_plugin(void)
{
    char path[1024];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 16);

    snprintf(path + ((length < 0) ? 0 : length), 16, "-late.so");
    setenv("MEMSPAN_BACKEND_PATH", path, 1);
    setenv("MEMSPAN_BACKENDS", "late", 1);
}

static memspan_queue_h open_on(int device)
{
    memspan_queue_h queue;

    EXPECT(memspan_queue_open(device, MEMSPAN_QUEUE_OWN, NULL, 0, &queue) == MEMSPAN_OK);
    return queue;
}

static void begin(void)
{
    const memspan_trait_t traits[] = {{MEMSPAN_TRAIT_POOL_SIZE, 10 << 20},
                                      {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB}};
    const int device               = 0;
    memspan_space_h space;

    EXPECT(memspan_space_get(&device, 1, MEMSPAN_SPACE_DEFAULT, &space) == MEMSPAN_OK);
    EXPECT(memspan_allocator_create(space, traits, 2, &allocator) == MEMSPAN_OK);
    first  = open_on(0);
    second = open_on(0);
    host   = open_on(MEMSPAN_HOST);
    block  = memspan_alloc_on(allocator, SIZE, first);
    EXPECT(block != NULL);
}

/* ---- threads ---- */

static void close_first(void)
{
    EXPECT(memspan_queue_close(first) == MEMSPAN_OK);
}

/* By the host, where the queue is closed meanwhile. */
static void free_on(void *pointer, memspan_queue_h queue)
{
    if (memspan_free_on(pointer, queue) != MEMSPAN_OK) {
        EXPECT(memspan_free(pointer) == MEMSPAN_OK);
    }
}

static void allocate_on(memspan_queue_h queue)
{
    void *pointer = memspan_alloc_on(allocator, SIZE, queue);

    if (pointer != NULL) {
        (void)memspan_fill_on(queue, pointer, 1, SIZE);
        free_on(pointer, queue);
    }
}

static void allocate_on_first(void)
{
    allocate_on(first);
}

static void allocate_on_second(void)
{
    allocate_on(second);
}

static void free_on_first(void)
{
    free_on(block, first);
}

/* What the first queue has freed serves the second one behind it. */
static void follow_first(void)
{
    EXPECT(memspan_queue_wait(second, first) == MEMSPAN_OK);
    allocate_on(second);
}

static void wait_for_second(void)
{
    (void)memspan_queue_wait(first, second);
}

static void synchronize_first(void)
{
    (void)memspan_queue_synchronize(first);
}

/* ---- a function of a queue that uses the library ---- */

static void use_library(void *unused)
{
    (void)unused;
    EXPECT(memspan_queue_close(open_on(0)) == MEMSPAN_OK);
    allocate_on(second);
}

static void call_function(void)
{
    EXPECT(memspan_call_on(first, use_library, NULL) == MEMSPAN_OK);
    EXPECT(memspan_queue_synchronize(first) == MEMSPAN_OK);
}

static void add_up(void)
{
    EXPECT(memspan_check() == MEMSPAN_OK);
}

/* The function uses the library meanwhile. */
static void wait_on_host(void)
{
    (void)memspan_queue_wait(host, first);
}

static void call_and_close(void)
{
    EXPECT(memspan_call_on(first, use_library, NULL) == MEMSPAN_OK);
    close_first();
}

#define ENDS "no call waits for ever, and no memory is used before it is free"

static const struct scenario scenarios[] = {
    {"close-allocate", ENDS, begin, {close_first, allocate_on_first}, add_up, 0, false, NULL},
    {"close-free", ENDS, begin, {close_first, free_on_first}, add_up, 0, false, NULL},
    {"free-follow", ENDS, begin, {free_on_first, follow_first}, add_up, 0, false, NULL},
    {"wait-both", ENDS, begin, {wait_for_second, follow_first}, add_up, 0, false, NULL},
    {"function", ENDS, begin, {call_function, wait_for_second}, add_up, 0, false, NULL},
    {"function-host", ENDS, begin, {call_function, wait_on_host}, add_up, 0, false, NULL},
    {"close-function", ENDS, begin, {call_and_close}, add_up, 0, false, NULL},
    {"function-close",
     ENDS,
     begin,
     {call_function, synchronize_first, allocate_on_second},
     add_up,
     0,
     false,
     NULL},
};
SCENARIO_TABLE(scenarios)
