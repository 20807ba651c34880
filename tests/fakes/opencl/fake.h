/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_FAKES_OPENCL_FAKE_H
#define MEMSPAN_TESTS_FAKES_OPENCL_FAKE_H

/* A pretended OpenCL, as libOpenCL.so.1: small, strict, and breakable on demand. Of tests/fakes/gpu
 * it has the environment, the faults and the counts; its objects are its own.
 *
 * Commands run late: when something waits for them, never before, so that a missing wait shows.
 * On a device whose memory is apart, coarse-grain memory has a copy for the device; the host's is
 * spoilt while it is unmapped, so that a missing map or unmap shows. Kernels are known by name and
 * done by the host.
 *
 * Its environment begins with FAKE_OPENCL_, and has besides:
 *   SVM=MASK       CL_DEVICE_SVM_CAPABILITIES (default 11)
 *   APART=1        the devices' memory is not the host's; else they are processors
 *   PLATFORMS=N    (default 1)    DEVICES=N of each (default 1)
 *   MEMORY=BYTES   capacity of each platform (default 64 MiB)
 *   VERSION=TEXT   "OpenCL 1.2" (default "OpenCL 3.0")
 *   LACKS=identity|doubles: a uuid and an address of zeros; no double precision
 *   HANG=1, CRASH=1: in clGetPlatformIDs */

#include "backends/opencl/opencl_api.h"
#include "tests/fakes/gpu/gpu.h"

#define FAKE_DECLARE(name, optional, result, arguments) FAKE_API result name arguments;
OPENCL_CALL_MAP(FAKE_DECLARE)
#undef FAKE_DECLARE

enum { FAKE_PLATFORMS = 4, FAKE_DEVICES = 4, FAKE_ARGS = 8 };

struct _cl_platform_id {
    int index;
};

struct _cl_device_id {
    struct _cl_platform_id *platform;
    int index;
};

struct _cl_context {
    int references;
    struct _cl_platform_id *platform;
    cl_uint device_count;
    cl_device_id devices[FAKE_DEVICES];
    size_t used_bytes;
};

struct _cl_mem {
    struct _cl_context *context;
    size_t size;
    char *data; /* where kernels see it */
    bool own_data;
};

struct _cl_program {
    struct _cl_context *context;
    bool built;
};

struct fake_arg {
    bool set;
    bool is_address; /* clSetKernelArgSVMPointer */
    size_t size;
    unsigned char bytes[8];
};

struct _cl_kernel {
    struct _cl_program *program;
    char name[32];
    struct fake_arg args[FAKE_ARGS];
    void *pointers[64];
    size_t pointer_count;
};

struct _cl_event {
    struct _cl_command_queue *queue;
    bool done;
    bool flushed;
    int references; /* the caller's, and the command's */
};

struct fake_block {
    struct fake_block *next;
    struct _cl_context *context;
    char *base;
    char *copy; /* the device's, where it has one */
    size_t size;
    bool coarse;
    bool mapped;       /* as the host has been told */
    bool mapped_there; /* as commands have been run */
};

enum fake_command_type {
    FAKE_MAP,
    FAKE_UNMAP,
    FAKE_COPY,
    FAKE_FILL,
    FAKE_MOVE,
    FAKE_RUN,
    FAKE_WAIT,
    FAKE_MARK
};

struct fake_command {
    struct fake_command *next;
    enum fake_command_type type;
    struct _cl_context *context;
    void *to;
    const void *from;
    size_t size;
    unsigned char pattern[128];
    size_t pattern_size;
    size_t first;
    struct _cl_kernel kernel; /* as it was when it was enqueued */
    struct _cl_event *wait;
    struct _cl_event *event;
};

struct _cl_command_queue {
    struct _cl_command_queue *next;
    int references;
    struct _cl_context *context;
    cl_device_id device;
    cl_bitfield properties;
    struct fake_command *commands;
};

struct fake {
    cl_ulong svm;
    bool apart;
    bool crash;
    int platforms;
    char version[32];
    struct fake_block *blocks;
    struct _cl_command_queue *queues;
};
extern struct fake fake;

/* Every entry begins with it; true when this call is to fail, with a code of its own. */
static inline bool fake_fails(const char *name)
{
    (void)fake_enter(name, true);
    return gpu.forced != 0;
}

/* The end of every entry. */
static inline cl_int fake_answer(cl_int code)
{
    gpu.forced = 0;
    return fake_leave(code);
}

#define BEGIN_OR_FAIL(code)                                                                        \
    do {                                                                                           \
        if (fake_fails(__func__)) {                                                                \
            return fake_answer(code);                                                              \
        }                                                                                          \
    } while (0)
/* Also when the call is made to fail: what is released goes, what was enqueued is over. */
#define DO_ANYWAY(release)                                                                         \
    do {                                                                                           \
        bool fails_ = fake_fails(__func__);                                                        \
        release;                                                                                   \
        return fake_answer(fails_ ? OPENCL_OUT_OF_RESOURCES : OPENCL_SUCCESS);                     \
    } while (0)

struct fake_block *fake_block_at(const void *address);
/* Where a device finds @p address: memory of another context is host memory to it. */
char *fake_there(const struct _cl_context *context, const void *address);

/* The end of a question: the answer is copied to where it is wanted, if it fits. */
cl_int fake_give(const void *value, size_t size, size_t room, void *to, size_t *size_p);

/* Run what is enqueued, up to and with the command of @p last (NULL: all). */
void fake_run(struct _cl_command_queue *queue, const struct _cl_event *last);
void fake_kernel_run(const struct fake_command *command);

#endif /* MEMSPAN_TESTS_FAKES_OPENCL_FAKE_H */
