/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_calls.c [MIB]: what our calls cost beside the driver's own, on the device 0: medians in
 * microseconds of a copy of 8 bytes with its wait, of an empty wait, of a launch beside a fill of 4
 * bytes, and the bandwidth of copies within the device. 77 without a driver. */

#include <dlfcn.h>
#include <memspan/memspan.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CALLS = 501 };

static struct {
    int (*retain)(void **context, int device);
    int (*push)(void *context);
    int (*stream_create)(void **stream, unsigned flags);
    int (*wait)(void *stream);
    int (*copy)(unsigned long long to, unsigned long long from, size_t size, void *stream);
    int (*fill)(unsigned long long to, unsigned value, size_t count, void *stream);
} cu;

static struct {
    void *stream;
    char *device[2];
    char host[8];
    size_t bytes;
} bench;

static bool find(void *library, const char *name, void *call_p)
{
    *(void **)call_p = dlsym(library, name);
    return *(void **)call_p != NULL;
}

static bool find_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

    return (library != NULL) && find(library, "cuDevicePrimaryCtxRetain", &cu.retain) &&
           find(library, "cuCtxPushCurrent_v2", &cu.push) &&
           find(library, "cuStreamCreate", &cu.stream_create) &&
           find(library, "cuStreamSynchronize", &cu.wait) &&
           find(library, "cuMemcpyAsync", &cu.copy) && find(library, "cuMemsetD32Async", &cu.fill);
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

static bool our_launch(void)
{
    memspan_kernel_call_t call = {sizeof(call), MEMSPAN_KERNEL_FILL, 1, 1.0, NULL,
                                  NULL,         bench.device[0]};

    return (memspan_kernel_launch(0, &call) == MEMSPAN_OK) && our_wait();
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

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The median of a call in microseconds; negative where it fails. */
static double median_us(bool (*call)(void), int count)
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
        if (i >= 0) {
            times[i] =
                (double)(to.tv_sec - from.tv_sec) * 1e6 + (double)(to.tv_nsec - from.tv_nsec) / 1e3;
        }
    }
    qsort(times, (size_t)count, sizeof(times[0]), compare);
    return times[count / 2];
}

static bool print_pair(const char *what, bool (*ours)(void), bool (*theirs)(void), int count)
{
    double our_us   = median_us(ours, count);
    double their_us = median_us(theirs, count);

    printf("%-24s ours %9.2f us, the driver's %9.2f us, difference %7.2f us\n", what, our_us,
           their_us, our_us - their_us);
    return (our_us >= 0) && (their_us >= 0);
}

int main(int argc, char **argv)
{
    static const int device[]     = {0};
    memspan_space_h space         = MEMSPAN_SPACE_NULL;
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;
    void *context                 = NULL;
    double our_us;
    double their_us;
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
        (cu.push(context) != 0) || (cu.stream_create(&bench.stream, 1) != 0)) {
        printf("no memory or no stream: %s\n", memspan_error_text());
        return 1;
    }
    fine = print_pair("nothing to wait for", our_wait, their_wait, CALLS) &&
           print_pair("8 bytes to the device", our_copy, their_copy, CALLS) &&
           print_pair("1 double; a 4-byte fill", our_launch, their_fill, CALLS);
    our_us   = median_us(our_large, 11);
    their_us = median_us(their_large, 11);
    printf("copies within the device, read and written: ours %.0f GB/s, the driver's %.0f GB/s\n",
           2e-3 * (double)bench.bytes / our_us, 2e-3 * (double)bench.bytes / their_us);
    (void)memspan_free(bench.device[0]);
    (void)memspan_free(bench.device[1]);
    return (fine && (our_us > 0) && (their_us > 0)) ? 0 : 1;
}
