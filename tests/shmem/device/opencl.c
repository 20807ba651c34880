/* SPDX-License-Identifier: BSD-3-Clause */
/* opencl.c INCLUDES: OpenSHMEM in kernels of OpenCL C, on a device that does not load ordinary
 * memory of the host: puts, gets, signals, waits, atomic operations and barriers on an ordinary
 * heap, which are requests, and on a partition of the device's memory. The kernels include
 * <shmemx_device.h> as it is. Addresses are arguments as numbers, which PoCL's processors take. */

#include "tests/shmem/check.h"
#include <dlfcn.h>
#include <memspan/device.h>
#include <shmemx.h>
#include <shmemx_device.h>
#include <stdbool.h>
#include <string.h>

enum { BYTES = 20000, ITEMS = 16, HOST_WORDS = 8, ERRORS = 7 };

static const char source[] =
    "#include <shmemx_device.h>\n"
    "#define VIEW ((const shmemx_device_view_t *)view)\n"
    "__kernel void exchange(ulong view, ulong heap, ulong words, ulong bytes) {\n"
    "    long *own = (long *)words, *host = (long *)heap;\n"
    "    char *to = (char *)bytes, *from = to + 20000;\n"
    "    int me = shmemx_device_my_pe(VIEW), all = shmemx_device_n_pes(VIEW);\n"
    "    int next = (me + 1) % all, previous = (me + all - 1) % all;\n"
    "    long errors = 0;\n"
    "    for (int i = 0; i < 20000; i++) from[i] = (char)(me * 131 + i * 7);\n"
    "    shmemx_device_long_p(VIEW, &own[0], 2000 + me, next);\n"
    "    shmemx_device_fence(VIEW);\n"
    "    shmemx_device_put_signal(VIEW, to, from, 20000, (ulong *)&own[1], 5,\n"
    "                             SHMEMX_DEVICE_SIGNAL_IS_SET, next);\n"
    "    shmemx_device_long_p(VIEW, &host[0], 1000 + me, next);\n"
    "    shmemx_device_signal_wait_until(VIEW, (ulong *)&own[1], SHMEMX_DEVICE_CMP_EQ, 5);\n"
    "    errors += (own[0] == 2000 + previous) ? 0 : 1;\n"
    "    for (int i = 0; i < 20000; i++)\n"
    "        errors += (to[i] == (char)(previous * 131 + i * 7)) ? 0 : 100;\n"
    "    shmemx_device_long_wait_until(VIEW, &host[0], SHMEMX_DEVICE_CMP_EQ, 1000 + previous);\n"
    "    shmemx_device_barrier_all(VIEW);\n"
    "    errors += (shmemx_device_long_g(VIEW, &host[0], next) == 1000 + me) ? 0 : 10000000;\n"
    "    errors += (shmemx_device_ptr(VIEW, host, me) == NULL) ? 0 : 20000000;\n"
    "    errors += (shmemx_device_ptr(VIEW, own, me) == (void *)own) ? 0 : 40000000;\n"
    "    own[7] = errors;\n"
    "}\n"
    "__kernel void count(ulong view, ulong heap, ulong words, ulong bytes) {\n"
    "    shmemx_device_long_atomic_add(VIEW, (long *)heap + 1, 3, 0);\n"
    "    long old = shmemx_device_long_atomic_fetch_inc(VIEW, (long *)words + 2, 0);\n"
    "    shmemx_device_long_atomic_add(VIEW, (long *)words + 3, old, 0);\n"
    "    shmemx_device_quiet(VIEW);\n"
    "}\n";

/* ---- the part of OpenCL that is used here ---- */

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

static void *build(const char *includes)
{
    const char *text = source;
    char options[1024];
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
    snprintf(options, sizeof options, "-I%s", includes);
    code = cl.clBuildProgram(program, 1, &device, options, NULL, NULL);
    (void)cl.clGetProgramBuildInfo(program, device, BUILD_LOG, sizeof log, log, NULL);
    CHECK(code == SUCCESS, "%d: %.4000s", code, log);
    return program;
}

static void run(void *program, const char *name, size_t items, const uint64_t *arguments)
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

/* The words of the partition, on the host, which may not map them. */
static long word_of(long *words, int i)
{
    long value;

    shmem_getmem(&value, &words[i], sizeof value, shmem_my_pe());
    return value;
}

static void plan(void)
{
    shmemx_device_info_t info = {.struct_size = sizeof info};

    CHECK(shmemx_device_plan(1, &info) == 0, "%s", memspan_error_text());
    CHECK((info.device == 0) && (info.is_available == 1), "%d", info.device);
    CHECK(strcmp(info.own, "partitions") == 0, "%s", info.own);
    CHECK((strcmp(info.peers, "request") == 0) && (strcmp(info.others, "request") == 0), "%s",
          info.peers);
}

int main(int argc, char **argv)
{
    long all;
    shmemx_device_handle_t view;
    void *program;

    if ((argc < 2) || !find_device()) {
        printf("there is no PoCL\n");
        return 77;
    }
    shmem_init();
    program     = build(argv[1]);
    long *heap  = shmem_calloc(HOST_WORDS, sizeof *heap);
    long *words = shmemx_partition_calloc(HOST_WORDS, sizeof *words, 2);
    char *bytes = shmemx_partition_calloc(2, BYTES, 2);

    CHECK((heap != NULL) && (words != NULL) && (bytes != NULL), "%s", memspan_error_text());
    CHECK(shmemx_device_open(0, &view) == 0, "%s", memspan_error_text());
    plan();
    CHECK(view->is_apart == 1, "the device loads memory of the host");
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
