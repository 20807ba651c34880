/* SPDX-License-Identifier: BSD-3-Clause */
/* exchange.c INCLUDES: one program on each sort of device. Its kernels (exchange.h) put, get,
 * signal, wait, count and synchronise, on an ordinary heap and on a partition of the device's
 * memory. They run in target regions, or, where device 0 is PoCL's, as OpenCL C, which includes the
 * same file. PoCL loads no memory of the host: there the ordinary heap is reached by requests. */

#include "tests/shmem/check.h"
#include <dlfcn.h>
#include <memspan/allocator.h>
#include <memspan/device.h>
#include <shmemx.h>
#include <stdbool.h>
#include <string.h>

enum { ITEMS = 16, HOST_WORDS = 8 };

#define KERNEL static
#pragma omp begin declare target
#include "tests/shmem/device/exchange.h"
#pragma omp end declare target

/* ---- OpenCL: the part that is used here ---- */

enum { SUCCESS = 0, TYPE_CPU = 2, PLATFORM_NAME = 0x0902, BUILD_LOG = 0x1183 };

#define CALLS(X)                                                                                   \
    X(clGetPlatformIDs, int, (unsigned, void **, unsigned *))                                      \
    X(clGetPlatformInfo, int, (void *, unsigned, size_t, void *, size_t *))                        \
    X(clGetDeviceIDs, int, (void *, uint64_t, unsigned, void **, unsigned *))                      \
    X(clCreateContext, void *, (const intptr_t *, unsigned, void **, void *, void *, int *))       \
    X(clCreateCommandQueue, void *, (void *, void *, uint64_t, int *))                             \
    X(clCreateProgramWithSource, void *, (void *, unsigned, const char **, const size_t *, int *)) \
    X(clBuildProgram, int, (void *, unsigned, void **, const char *, void *, void *))              \
    X(clGetProgramBuildInfo, int, (void *, void *, unsigned, size_t, void *, size_t *))            \
    X(clCreateKernel, void *, (void *, const char *, int *))                                       \
    X(clSetKernelArg, int, (void *, unsigned, size_t, const void *))                               \
    X(clEnqueueNDRangeKernel, int,                                                                 \
      (void *, void *, unsigned, const size_t *, const size_t *, const size_t *, unsigned, void *, \
       void *))                                                                                    \
    X(clFinish, int, (void *))

static struct {
#define MEMBER(name, result, arguments) result(*name) arguments;
    CALLS(MEMBER)
#undef MEMBER
} cl;

static void *device;
static void *queue;

static bool load(void)
{
    void *loader = dlopen("libOpenCL.so.1", RTLD_NOW);
    bool all     = (loader != NULL);

#define LOAD(name, result, arguments)                                                              \
    *(void **)&cl.name = all ? dlsym(loader, #name) : NULL;                                        \
    all                = all && (cl.name != NULL);
    CALLS(LOAD)
#undef LOAD
    return all;
}

/* The first processor of PoCL: Memspan's device 0 with MEMSPAN_DEVICES=opencl:0. */
static bool find_device(void)
{
    void *platforms[8];
    unsigned count = 0;
    char name[64];
    unsigned i;

    if (!load() || (cl.clGetPlatformIDs(8, platforms, &count) != SUCCESS)) {
        return false;
    }
    for (i = 0; (i < count) && (i < 8); i++) {
        if ((cl.clGetPlatformInfo(platforms[i], PLATFORM_NAME, sizeof name, name, NULL) ==
             SUCCESS) &&
            (strcmp(name, "Portable Computing Language") == 0) &&
            (cl.clGetDeviceIDs(platforms[i], TYPE_CPU, 1, &device, NULL) == SUCCESS)) {
            return true;
        }
    }
    return false;
}

static void *build(const char *folder)
{
    const char *text = "#define KERNEL __kernel\n#include \"tests/shmem/device/exchange.h\"\n";
    char options[2048];
    char log[4096] = "";
    int code       = SUCCESS;
    void *context;
    void *program;

    context = cl.clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    CHECK(code == SUCCESS, "%d", code);
    queue = cl.clCreateCommandQueue(context, device, 0, &code);
    CHECK(code == SUCCESS, "%d", code);
    program = cl.clCreateProgramWithSource(context, 1, &text, NULL, &code);
    CHECK(code == SUCCESS, "%d", code);
    snprintf(options, sizeof options, "-I%s -I%s/include", folder, folder);
    code = cl.clBuildProgram(program, 1, &device, options, NULL, NULL);
    (void)cl.clGetProgramBuildInfo(program, device, BUILD_LOG, sizeof log, log, NULL);
    CHECK(code == SUCCESS, "%d: %.4000s", code, log);
    return program;
}

static void run_opencl(void *program, const char *name, size_t items, const uint64_t *arguments)
{
    const size_t one = 1;
    int code;
    void *kernel = cl.clCreateKernel(program, name, &code);
    unsigned i;

    CHECK(code == SUCCESS, "%s: %d", name, code);
    for (i = 0; i < 4; i++) {
        CHECK(cl.clSetKernelArg(kernel, i, sizeof arguments[i], &arguments[i]) == SUCCESS, "%u", i);
    }
    code = cl.clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, &one, 0, NULL, NULL);
    CHECK(code == SUCCESS, "%s: %d", name, code);
    CHECK(cl.clFinish(queue) == SUCCESS, "%s", name);
}

/* ---- OpenMP: a region on device 0, or on the host where there is none ---- */

static void run_region(const char *name, size_t items, const uint64_t *arguments)
{
    const uint64_t view = arguments[0], heap = arguments[1];
    const uint64_t words = arguments[2], bytes = arguments[3];
    const bool counts = (strcmp(name, "count") == 0);

#pragma omp target parallel for
    for (size_t i = 0; i < items; i++) {
        if (counts) {
            count(view, heap, words, bytes);
        } else {
            exchange(view, heap, words, bytes);
        }
    }
}

/* ---- both ---- */

static void run(void *program, const char *name, size_t items, const uint64_t *arguments)
{
    if (program != NULL) {
        run_opencl(program, name, items, arguments);
    } else {
        run_region(name, items, arguments);
    }
}

/* The words of the partition, on the host, which may not map them. */
static long word_of(long *words, int i)
{
    long value;

    shmem_getmem(&value, &words[i], sizeof value, shmem_my_pe());
    return value;
}

/* The library's number of the first device, which is of that backend; MEMSPAN_HOST: there is none.
 * *reaches_p: it reaches all memory of the host, as PoCL does since version 6. */
static int first_device(const char *backend, bool *reaches_p)
{
    memspan_device_info_t info = {.struct_size = sizeof info};
    int number                 = (memspan_device_count() == 0) ? MEMSPAN_HOST : 0;

    CHECK(memspan_device_describe(number, &info) == MEMSPAN_OK, "%s", memspan_error_text());
    CHECK(strcmp(info.backend, backend) == 0, "device %d is of %s", number, info.backend);
    *reaches_p = (info.capabilities & MEMSPAN_CAN_ACCESS_PAGEABLE) != 0;
    return number;
}

static void plan(int number, bool is_apart)
{
    shmemx_device_info_t info = {.struct_size = sizeof info};
    const char *own           = is_apart ? "partitions" : "load/store";
    const char *peers         = is_apart ? "request" : "load/store";

    CHECK(shmemx_device_plan(number + 1, &info) == 0, "%s", memspan_error_text());
    CHECK((info.device == number) && (info.is_available == 1), "%d", info.device);
    CHECK(strcmp(info.own, own) == 0, "%s", info.own);
    CHECK((strcmp(info.peers, peers) == 0) && (strcmp(info.others, "request") == 0), "%s",
          info.peers);
}

/* FOLDER BACKEND: the folder of the sources, and the backend of device 0 (host: none). */
int main(int argc, char **argv)
{
    long all;
    int number;
    bool is_opencl;
    bool reaches_all;
    shmemx_device_handle_t view;
    void *program = NULL;

    if (argc != 3) {
        return 2;
    }
    is_opencl = (strcmp(argv[2], "opencl") == 0);
    if (is_opencl && !find_device()) {
        printf("there is no PoCL\n");
        return 77;
    }
    shmem_init();
    number = first_device(argv[2], &reaches_all);
    if (is_opencl) {
        program = build(argv[1]);
    }
    long *heap  = shmem_calloc(HOST_WORDS, sizeof *heap);
    long *words = shmemx_partition_calloc(HOST_WORDS, sizeof *words, 2);
    char *bytes = shmemx_partition_calloc(2, BYTES, 2);

    CHECK((heap != NULL) && (words != NULL) && (bytes != NULL), "%s", memspan_error_text());
    CHECK(shmemx_device_open(number, &view) == 0, "%s", memspan_error_text());
    plan(number, is_opencl && !reaches_all);
    CHECK((memspan_pointer_kind(view) == MEMSPAN_KIND_DEVICE) ==
              ((strcmp(argv[2], "emu") == 0) || (is_opencl && reaches_all)),
          "device %d", number);
    shmem_barrier_all();

    const uint64_t arguments[] = {(uint64_t)(uintptr_t)view, (uint64_t)(uintptr_t)heap,
                                  (uint64_t)(uintptr_t)words, (uint64_t)(uintptr_t)bytes};
    run(program, "exchange", 1, arguments);
    CHECK(word_of(words, ERRORS) == 0, "%ld", word_of(words, ERRORS));
    run(program, "count", ITEMS, arguments);
    shmem_barrier_all();
    all = (long)ITEMS * shmem_n_pes();
    if (shmem_my_pe() == 0) {
        CHECK(heap[1] == 3 * all, "%ld", heap[1]);
        CHECK(word_of(words, 2) == all, "%ld", word_of(words, 2));
        CHECK(word_of(words, 3) == all * (all - 1) / 2, "%ld", word_of(words, 3));
    }
    CHECK(shmemx_device_close(view) == 0, "%s", memspan_error_text());
    shmem_finalize();
    return 0;
}
