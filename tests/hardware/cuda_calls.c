/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_calls.c [MIB]: what our calls cost beside the driver's own, on the device 0: medians in
 * microseconds of a copy of 8 bytes with its wait, of an empty wait, of a launch beside a fill of 4
 * bytes and beside an empty kernel, with its wait and alone, and the bandwidth of copies within the
 * device and of daxpy, which reads three streams and writes one. 77 without a driver. */

#include "tests/hardware/cuda.h"
#include <memspan/memspan.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CALLS = 501 };

/* It has the name and the parameters of ours, and does nothing. */
static const char empty_kernel[] =
    ".version 4.0\n"
    ".target sm_50\n"
    ".address_size 64\n"
    ".visible .entry memspan_fill(.param .u64 p_n, .param .b64 p_a, .param .u64 p_x,\n"
    "                             .param .u64 p_y, .param .u64 p_z)\n"
    "{\n"
    "    ret;\n"
    "}\n";

static struct {
    void *stream;
    void *empty;
    char *device[2];
    char host[8];
    size_t bytes;
} bench;

static bool load_empty(void)
{
    void *module = NULL;

    return (cu.load(&module, empty_kernel, 0, NULL, NULL) == 0) &&
           (cu.function(&bench.empty, module, "memspan_fill") == 0);
}

static unsigned long long at(const void *pointer)
{
    return (unsigned long long)(uintptr_t)pointer;
}

static bool our_wait(void)
{
    return memspan_device_synchronize(0) == MEMSPAN_OK;
}

static bool their_wait(void)
{
    return cu.wait(bench.stream) == 0;
}

static bool our_copy(void)
{
    return (memspan_copy(bench.device[0], bench.host, sizeof(bench.host)) == MEMSPAN_OK) &&
           our_wait();
}

static bool their_copy(void)
{
    return (cu.copy(at(bench.device[0]), at(bench.host), sizeof(bench.host), bench.stream) == 0) &&
           their_wait();
}

static bool our_start(void)
{
    memspan_kernel_call_t call = {sizeof(call), MEMSPAN_KERNEL_FILL, 1, 1.0, NULL,
                                  NULL,         bench.device[0]};

    return memspan_kernel_launch(0, &call) == MEMSPAN_OK;
}

static bool our_launch(void)
{
    return our_start() && our_wait();
}

static bool their_start(void)
{
    uint64_t zero      = 0;
    void *arguments[5] = {&zero, &zero, &zero, &zero, &zero};

    return cu.launch(bench.empty, 1, 1, 1, 32, 1, 1, 0, bench.stream, arguments, NULL) == 0;
}

static bool their_launch(void)
{
    return their_start() && their_wait();
}

static bool their_fill(void)
{
    return (cu.fill(at(bench.device[0]), 1, 1, bench.stream) == 0) && their_wait();
}

static bool our_large(void)
{
    return (memspan_copy(bench.device[0], bench.device[1], bench.bytes) == MEMSPAN_OK) &&
           our_wait();
}

static bool their_large(void)
{
    return (cu.copy(at(bench.device[0]), at(bench.device[1]), bench.bytes, bench.stream) == 0) &&
           their_wait();
}

static bool our_daxpy(void)
{
    size_t half                = bench.bytes / 2;
    memspan_kernel_call_t call = {
        sizeof(call),    MEMSPAN_KERNEL_DAXPY,   half / sizeof(double), 1.0,
        bench.device[1], bench.device[1] + half, bench.device[0]};

    return (memspan_kernel_launch(0, &call) == MEMSPAN_OK) && our_wait();
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The median of a call in microseconds, without what follows it (NULL: nothing); negative where
 * one fails. */
static double median_us(bool (*call)(void), bool (*then)(void), int count)
{
    static double times[CALLS];
    int i;

    for (i = -10; i < count; i++) {
        struct timespec from;
        struct timespec to;
        clock_gettime(CLOCK_MONOTONIC, &from);
        if (!call()) {
            return -1;
        }
        clock_gettime(CLOCK_MONOTONIC, &to);
        if ((then != NULL) && !then()) {
            return -1;
        }
        if (i >= 0) {
            times[i] =
                (double)(to.tv_sec - from.tv_sec) * 1e6 + (double)(to.tv_nsec - from.tv_nsec) / 1e3;
        }
    }
    qsort(times, (size_t)count, sizeof(times[0]), compare);
    return times[count / 2];
}

struct pair {
    const char *what;
    bool (*ours)(void);
    bool (*theirs)(void);
    bool (*our_end)(void);
    bool (*their_end)(void);
};

static const struct pair pairs[] = {
    {"nothing to wait for", our_wait, their_wait, NULL, NULL},
    {"8 bytes to the device", our_copy, their_copy, NULL, NULL},
    {"1 double; a 4-byte fill", our_launch, their_fill, NULL, NULL},
    {"1 double; empty kernel", our_launch, their_launch, NULL, NULL},
    {"the same without waiting", our_start, their_start, our_wait, their_wait},
};

static bool print_pairs(void)
{
    bool fine = true;
    size_t i;

    for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        const struct pair *p = &pairs[i];
        double our_us        = median_us(p->ours, p->our_end, CALLS);
        double their_us      = median_us(p->theirs, p->their_end, CALLS);

        printf("%-24s ours %9.2f us, the driver's %9.2f us, difference %7.2f us\n", p->what, our_us,
               their_us, our_us - their_us);
        fine = fine && (our_us >= 0) && (their_us >= 0);
    }
    return fine;
}

static bool print_rates(void)
{
    double our_us    = median_us(our_large, NULL, 11);
    double their_us  = median_us(their_large, NULL, 11);
    double stream_us = median_us(our_daxpy, NULL, 11);
    double traffic   = 2e-3 * (double)bench.bytes;

    printf("copies within the device, read and written: ours %.0f GB/s, the driver's %.0f GB/s; "
           "daxpy %.0f GB/s\n",
           traffic / our_us, traffic / their_us, traffic / stream_us);
    return (our_us > 0) && (their_us > 0) && (stream_us > 0);
}

int main(int argc, char **argv)
{
    static const int device[]     = {0};
    memspan_space_h space         = MEMSPAN_SPACE_NULL;
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;
    void *context                 = NULL;
    bool fine;

    bench.bytes = (size_t)((argc > 1) ? atoi(argv[1]) : 1024) << 20;
    if (!find_driver() ||
        (memspan_space_get(device, 1, MEMSPAN_SPACE_NULL, &space) != MEMSPAN_OK) ||
        (memspan_allocator_create(space, NULL, 0, &allocator) != MEMSPAN_OK)) {
        printf("no CUDA device: %s\n", memspan_error_text());
        return 77;
    }
    bench.device[0] = memspan_alloc(allocator, bench.bytes);
    bench.device[1] = memspan_alloc(allocator, bench.bytes);
    if ((bench.device[0] == NULL) || (bench.device[1] == NULL) || (cu.retain(&context, 0) != 0) ||
        (cu.push(context) != 0) || (cu.stream_create(&bench.stream, 1) != 0) || !load_empty()) {
        printf("no memory, stream or kernel: %s\n", memspan_error_text());
        return 1;
    }
    fine = print_pairs();
    fine = print_rates() && fine;
    (void)memspan_free(bench.device[0]);
    (void)memspan_free(bench.device[1]);
    return fine ? 0 : 1;
}
