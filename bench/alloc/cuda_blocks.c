/* SPDX-License-Identifier: BSD-3-Clause */
/* memspan-bench-cuda-blocks [OPERATIONS]: the cost to allocate and free a small block of
 * device memory, from the library's pool and from the driver (cuMemAlloc, cuMemAllocAsync),
 * on the first CUDA device. One block at a time, and 100 blocks that live at once. Medians of 5
 * rounds.
 *
 * The few declarations of the driver are our own, to need no toolkit. */

#include "bench/common/bench.h"
#include "cmd/common/clock.h"
#include <dlfcn.h>
#include <memspan/memspan.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 5, BATCH = 100, OPERATIONS = 2000 };

/* A source of memory: allocates and frees `count` blocks of `size` bytes. False: it failed. */
struct source {
    const char *name;
    bool (*allocate)(void **blocks, int count, size_t size);
    bool (*free)(void **blocks, int count);
};

static struct {
    int (*init)(unsigned);
    int (*retain)(void **, int);
    int (*set_current)(void *);
    int (*alloc)(unsigned long long *, size_t);
    int (*free)(unsigned long long);
    int (*alloc_async)(unsigned long long *, size_t, void *);
    int (*free_async)(unsigned long long, void *);
    int (*stream_create)(void **, unsigned);
    int (*stream_synchronize)(void *);
} cu;
static void *stream;
static memspan_allocator_h allocator;

static bool allocate_ours(void **blocks, int count, size_t size)
{
    for (int i = 0; i < count; i++) {
        blocks[i] = memspan_alloc(allocator, size);
        if (blocks[i] == NULL) {
            return false;
        }
    }
    return true;
}

static bool free_ours(void **blocks, int count)
{
    for (int i = 0; i < count; i++) {
        if (memspan_free(blocks[i]) != MEMSPAN_OK) {
            return false;
        }
    }
    return true;
}

static bool allocate_plain(void **blocks, int count, size_t size)
{
    for (int i = 0; i < count; i++) {
        unsigned long long address = 0;
        if (cu.alloc(&address, size) != 0) {
            return false;
        }
        blocks[i] = (void *)(uintptr_t)address;
    }
    return true;
}

static bool free_plain(void **blocks, int count)
{
    for (int i = 0; i < count; i++) {
        if (cu.free((uintptr_t)blocks[i]) != 0) {
            return false;
        }
    }
    return true;
}

/* The host's next call may use a block only when the stream has reached it: that wait is timed. */
static bool allocate_async(void **blocks, int count, size_t size)
{
    for (int i = 0; i < count; i++) {
        unsigned long long address = 0;
        if (cu.alloc_async(&address, size, stream) != 0) {
            return false;
        }
        blocks[i] = (void *)(uintptr_t)address;
    }
    return cu.stream_synchronize(stream) == 0;
}

static bool free_async(void **blocks, int count)
{
    for (int i = 0; i < count; i++) {
        if (cu.free_async((uintptr_t)blocks[i], stream) != 0) {
            return false;
        }
    }
    return true;
}

/* Nanoseconds to allocate and free a block; below 0: it failed. */
static double measure(const struct source *s, size_t size, int batch, int operations)
{
    static void *blocks[BATCH];
    struct bench_samples rounds = {.count = 0};

    for (int r = -1; r < ROUNDS; r++) { /* the first is not counted */
        int64_t begin = cli_clock_ns();

        for (int i = 0; i < operations; i += batch) {
            if (!s->allocate(blocks, batch, size) || !s->free(blocks, batch)) {
                return -1;
            }
        }
        if (r >= 0) {
            (void)bench_samples_add(&rounds, (double)(cli_clock_ns() - begin) / operations);
        }
    }
    return bench_samples_median(&rounds);
}

static bool find(void *library, void *to, const char *name)
{
    void *address = dlsym(library, name);

    memcpy(to, &address, sizeof(address));
    return address != NULL;
}

static bool open_driver(bool *async_p)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    void *context = NULL;

    if ((library == NULL) || !find(library, &cu.init, "cuInit") ||
        !find(library, &cu.retain, "cuDevicePrimaryCtxRetain") ||
        !find(library, &cu.alloc, "cuMemAlloc_v2") || !find(library, &cu.free, "cuMemFree_v2") ||
        !find(library, &cu.set_current, "cuCtxPushCurrent_v2")) {
        return false;
    }
    if ((cu.init(0) != 0) || (cu.retain(&context, 0) != 0) || (cu.set_current(context) != 0)) {
        return false;
    }
    *async_p = find(library, &cu.alloc_async, "cuMemAllocAsync") &&
               find(library, &cu.free_async, "cuMemFreeAsync") &&
               find(library, &cu.stream_create, "cuStreamCreate") &&
               find(library, &cu.stream_synchronize, "cuStreamSynchronize") &&
               (cu.stream_create(&stream, 1) == 0);
    return true;
}

/* Our own number of the driver's first device. */
static bool open_library(memspan_device_info_t *info_p)
{
    memspan_space_h space = MEMSPAN_SPACE_NULL;
    int number;

    for (int i = 0; i < memspan_device_count(); i++) {
        info_p->struct_size = sizeof(*info_p);
        if ((memspan_device_at(i, &number) == MEMSPAN_OK) &&
            (memspan_device_describe(number, info_p) == MEMSPAN_OK) &&
            (strcmp(info_p->backend, "cuda") == 0) && (info_p->ordinal == 0)) {
            return (memspan_space_get(&number, 1, MEMSPAN_SPACE_NULL, &space) == MEMSPAN_OK) &&
                   (memspan_allocator_create(space, NULL, 0, &allocator) == MEMSPAN_OK);
        }
    }
    return false;
}

static void print_row(const struct source *sources, int count, size_t size, int batch,
                      int operations)
{
    double ours = 0;

    printf("%8zu %6d", size, batch);
    for (int s = 0; s < count; s++) {
        double ns = measure(&sources[s], size, batch, operations);

        ours = (s == 0) ? ns : ours;
        if (ns < 0) {
            printf("  %18s", "failed");
        } else {
            printf("  %10.1f (%4.0fx)", ns, ns / ours);
        }
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    static const struct source sources[] = {{"memspan", allocate_ours, free_ours},
                                            {"cuMemAlloc", allocate_plain, free_plain},
                                            {"cuMemAllocAsync", allocate_async, free_async}};
    static const size_t sizes[]          = {16, 256, 4096, 65536};
    int operations                       = (argc > 1) ? atoi(argv[1]) : OPERATIONS;
    memspan_device_info_t info           = {.struct_size = sizeof(info)};
    bool async                           = false;
    int count;

    operations = (operations < BATCH) ? BATCH : operations - operations % BATCH;
    if (!open_driver(&async) || !open_library(&info)) {
        printf("skipped: no CUDA device (%s)\n", memspan_error_text());
        return 77;
    }
    count = async ? 3 : 2;
    printf("# %s, %s; ns to allocate and free a block; median of %d rounds of %d\n", info.name,
           info.driver, ROUNDS, operations);
    printf("%8s %6s", "bytes", "alive");
    for (int s = 0; s < count; s++) {
        printf("  %18s", sources[s].name);
    }
    printf("%s\n", async ? "" : "  (the driver has no cuMemAllocAsync)");
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        print_row(sources, count, sizes[i], 1, operations);
        print_row(sources, count, sizes[i], BATCH, operations);
    }
    (void)memspan_allocator_destroy(allocator);
    return 0;
}
