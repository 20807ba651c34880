/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_FAKES_OPENCL_FAKE_H
#define MEMSPAN_TESTS_FAKES_OPENCL_FAKE_H

/* A pretended OpenCL, as libOpenCL.so.1: small, strict, and breakable on demand.
 *
 * Commands run late: when something waits for them, never before, so that a missing wait shows.
 * On a device whose memory is apart, coarse-grain memory has a copy for the device; the host's is
 * spoilt while it is unmapped, so that a missing map or unmap shows. A broken rule is recorded as a
 * violation. Kernels are known by name and done by the host.
 *
 * The environment, read at the first call and by fake_opencl_reset():
 *   FAKE_OPENCL_FAIL_AT=N      the N-th call fails
 *   FAKE_OPENCL_FAIL_CALL=NAME that call always fails
 *   FAKE_OPENCL_SVM=MASK       CL_DEVICE_SVM_CAPABILITIES (default 11)
 *   FAKE_OPENCL_APART=1        the devices' memory is not the host's; else they are processors
 *   FAKE_OPENCL_PLATFORMS=N    (default 1)    FAKE_OPENCL_DEVICES=N of each (default 1)
 *   FAKE_OPENCL_MEMORY=BYTES   capacity of each platform (default 64 MiB)
 *   FAKE_OPENCL_VERSION=TEXT   "OpenCL 1.2" (default "OpenCL 3.0")
 *   FAKE_OPENCL_LACKS=identity|doubles: a uuid and an address of zeros; no double precision
 *   FAKE_OPENCL_HANG=1, FAKE_OPENCL_CRASH=1: in clGetPlatformIDs */

#include "backends/opencl/opencl_api.h"
#include <stdbool.h>

#define FAKE_EXPORT __attribute__((visibility("default")))

#define FAKE_DECLARE(name, optional, result, arguments) FAKE_EXPORT result name arguments;
OPENCL_CALL_MAP(FAKE_DECLARE)
#undef FAKE_DECLARE

/* Forget counters and violations, read the environment again. */
FAKE_EXPORT void fake_opencl_reset(void);
/* The call that FAIL_AT made fail; "" when it was not reached. */
FAKE_EXPORT const char *fake_opencl_failed_call(void);
/* The first rule that was broken; "" when none was. */
FAKE_EXPORT const char *fake_opencl_violation(void);
/* Objects that live, all sorts together; SVM and host copies too. */
FAKE_EXPORT int fake_opencl_live(void);
/* Times that @p name was called. */
FAKE_EXPORT unsigned fake_opencl_calls(const char *name);

enum { FAKE_PLATFORMS = 4, FAKE_DEVICES = 4, FAKE_ARGS = 8 };

struct _cl_platform_id {
    int index;
};

struct _cl_device_id {
    struct _cl_platform_id *platform;
    int index;
};

struct _cl_context {
    struct _cl_platform_id *platform;
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
    FAKE_WAIT
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
    struct _cl_context *context;
    struct fake_command *commands;
};

struct fake {
    int fail_at;
    char lacks[16];
    char fail_call[48];
    cl_ulong svm;
    bool apart;
    int platforms;
    int devices;
    size_t memory;
    char version[32];
    bool hang;
    bool crash;
    int calls;
    char failed[48];
    char violation[160];
    int live;
    struct fake_block *blocks;
    struct _cl_command_queue *queues;
};
extern struct fake fake;

/* Every entry: takes the lock, counts, and is true when this call is to fail. */
bool fake_enter(const char *name);
void fake_leave(void);
void fake_broken(const char *format, ...) __attribute__((format(printf, 1, 2)));

struct fake_block *fake_block_at(const void *address);
/* Where a device finds @p address: memory of another context is host memory to it. */
char *fake_there(const struct _cl_context *context, const void *address);

/* Run what is enqueued, up to and with the command of @p last (NULL: all). */
void fake_run(struct _cl_command_queue *queue, const struct _cl_event *last);
void fake_kernel_run(const struct fake_command *command);

#endif /* MEMSPAN_TESTS_FAKES_OPENCL_FAKE_H */
