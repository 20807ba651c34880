/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu.c: functions of a queue that close other queues and free memory, on the pretended CUDA driver
 * (tests/fakes/cuda): as the real one, it waits for all streams when it takes memory back. */

#include "scenario.h"
#include <dlfcn.h>
#include <memspan/memspan.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LARGE = 1 << 20 };

static memspan_queue_h first, second;
static void *large;
static atomic_int may_end;

/* Before the library reads its options. The driver has the real one's soname. */
__attribute__((constructor)) static void name_driver(void)
{
    char path[1024];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 16);

    snprintf(path + ((length < 0) ? 0 : length), 16, "-cuda.so");
    if (dlopen(path, RTLD_NOW | RTLD_GLOBAL) == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
    setenv("MEMSPAN_BACKENDS", "cuda", 1);
    setenv("MEMSPAN_DEVICES", "cuda:0", 1);
    setenv("MEMSPAN_DECAY_MS", "0", 1);
    setenv("FAKE_CUDA_DEVICES", "1", 1);
}

static memspan_queue_h open_queue(void)
{
    memspan_queue_h queue;

    EXPECT(memspan_queue_open(0, MEMSPAN_QUEUE_OWN, NULL, 0, &queue) == MEMSPAN_OK);
    return queue;
}

static void begin(void)
{
    first  = open_queue();
    second = open_queue();
}

/* ---- functions, and what calls them ---- */

static void call(memspan_queue_h queue, memspan_call_t function)
{
    EXPECT(memspan_call_on(queue, function, NULL) == MEMSPAN_OK);
}

static void finish(memspan_queue_h queue)
{
    EXPECT(memspan_queue_synchronize(queue) == MEMSPAN_OK);
}

static void do_nothing(void *unused)
{
    (void)unused;
}

static void close_first(void *unused)
{
    (void)unused;
    EXPECT(memspan_queue_close(first) == MEMSPAN_OK);
}

static void free_large(void *unused)
{
    (void)unused;
    EXPECT(memspan_free(large) == MEMSPAN_OK);
}

static void await_leave(void *unused)
{
    (void)unused;
    while (atomic_load(&may_end) == 0) {
        sched_yield();
    }
}

/* The first queue has been held, so it has what a driver made for that. */
static void close_in_function(void)
{
    call(first, do_nothing);
    finish(first);
    call(second, close_first);
    finish(second);
}

static void close_beside_function(void)
{
    call(first, do_nothing);
    finish(first);
    call(second, await_leave);
    close_first(NULL);
    atomic_store(&may_end, 1);
    finish(second);
}

static void take_large(void)
{
    memspan_space_h space;
    memspan_allocator_h allocator;
    const int device = 0;

    EXPECT(memspan_space_get(&device, 1, MEMSPAN_SPACE_DEFAULT, &space) == MEMSPAN_OK);
    EXPECT(memspan_allocator_create(space, NULL, 0, &allocator) == MEMSPAN_OK);
    large = memspan_alloc(allocator, LARGE);
    EXPECT(large != NULL);
}

static void free_in_function(void)
{
    take_large();
    call(second, free_large);
    finish(second);
}

#define ENDS "what a function does waits for no queue that waits for the function"

static const struct scenario scenarios[] = {
    {"function-closes", ENDS, begin, {close_in_function}, NULL, 0, false, NULL},
    {"closes-beside-function", ENDS, begin, {close_beside_function}, NULL, 0, false, NULL},
    {"function-frees", ENDS, begin, {free_in_function}, NULL, 0, false, NULL},
};
SCENARIO_TABLE(scenarios)
