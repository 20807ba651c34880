/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_program.c: what a program does with CUDA beside the library, on a real driver: it allocates
 * while it captures a stream, is served pinned memory, frees when it ends, and resets its device.
 * Says a line for each, and ends with 1 when one is not as it should be, 77 without a device. */

#include "tests/hardware/cuda.h"
#include <memspan/memspan.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int bad;
static void *kept; /* freed by the handler of the process's end */

__attribute__((format(printf, 2, 3))) static void check(bool fine, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    printf("%s: ", fine ? "right" : "WRONG");
    vprintf(format, args);
    printf("%s%s\n", fine ? "" : ": ", fine ? "" : memspan_error_text());
    va_end(args);
    bad |= fine ? 0 : 1;
}

static memspan_allocator_h make_allocator(bool host)
{
    static const int devices[]    = {0, MEMSPAN_HOST};
    memspan_trait_t pinned        = {MEMSPAN_TRAIT_PINNED, MEMSPAN_VALUE_TRUE};
    memspan_space_h space         = MEMSPAN_SPACE_NULL;
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;

    if (memspan_space_get(devices, host ? 2 : 1, MEMSPAN_SPACE_NULL, &space) == MEMSPAN_OK) {
        (void)memspan_allocator_create(space, &pinned, host ? 1 : 0, &allocator);
    }
    return allocator;
}

/* A block of its own, so that the driver is asked. */
static void take_and_free(memspan_allocator_h allocator, const char *what)
{
    void *memory = memspan_alloc(allocator, (size_t)64 << 20);

    check(memory != NULL, "%s is taken", what);
    check((memory != NULL) && (memspan_free(memory) == MEMSPAN_OK), "%s is freed", what);
}

static void try_capture(void)
{
    memspan_allocator_h device = make_allocator(false);
    memspan_allocator_h pinned = make_allocator(true);
    void *context              = NULL;
    void *stream               = NULL;
    void *graph                = NULL;
    int code                   = 0;

    if ((cu.retain(&context, 0) != 0) || (cu.push(context) != 0) ||
        (cu.stream_create(&stream, 1) != 0) || (cu.capture(stream, 0) != 0)) {
        check(false, "no stream can be captured");
        return;
    }
    take_and_free(device, "device memory during a capture");
    take_and_free(pinned, "pinned memory during a capture");
    code = cu.end_capture(stream, &graph);
    check((code == 0) && (graph != NULL), "the capture ends with %d", code);
    if (graph != NULL) {
        (void)cu.graph_destroy(graph);
    }
    (void)cu.stream_destroy(stream);
    (void)cu.pop(&context);
    (void)cu.release(0);
    (void)memspan_allocator_destroy(device);
    (void)memspan_allocator_destroy(pinned);
}

static void try_reset(void)
{
    memspan_allocator_h device = make_allocator(false);
    void *before               = memspan_alloc(device, (size_t)64 << 20);
    int code                   = cu.reset(0);

    check(code == 0, "the device is reset: %d", code);
    check(memspan_free(before) == MEMSPAN_OK, "memory of before the reset is forgotten");
    take_and_free(device, "device memory after a reset");
    (void)memspan_allocator_destroy(device);
}

static void free_at_the_end(void)
{
    bool fine = memspan_free(kept) == MEMSPAN_OK;

    check(fine, "memory is freed when the process ends");
    fflush(stdout);
    if (!fine) {
        _exit(1);
    }
}

int main(void)
{
    memspan_device_info_t info = {.struct_size = sizeof(info)};

    if (!find_driver() || (atexit(free_at_the_end) != 0) ||
        (memspan_device_describe(0, &info) != MEMSPAN_OK)) {
        printf("no CUDA device, or a driver from before captures\n");
        _exit(77);
    }
    printf("%s, %s\n", info.name, info.driver);
    try_capture();
    try_reset();
    kept = memspan_alloc(make_allocator(false), (size_t)64 << 20);
    check(kept != NULL, "memory that is kept to the end");
    return bad;
}
