/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_FAKES_CUDA_FAKE_H
#define MEMSPAN_TESTS_FAKES_CUDA_FAKE_H

/* A pretended CUDA driver: what it keeps. Device memory has two views: the one whose address is
 * returned cannot be touched by the host, the other is the fake's. Work on a stream is done as
 * late as it may be. One lock guards everything.
 *
 * Environment, read by fake_cuda_reset() and at the first call:
 *   FAKE_CUDA_DEVICES=n, FAKE_CUDA_MEMORY=bytes of each, FAKE_CUDA_VERSION=13000
 *   FAKE_CUDA_FIRST=n: the process sees the machine's devices from the n-th on
 *   FAKE_CUDA_ATTRIBUTES=number=value[,...]
 *   FAKE_CUDA_FAIL_AT=n: the n-th call fails; FAKE_CUDA_FAIL_CALL=name: that call always fails;
 *   FAKE_CUDA_FAIL_CODE=code: with what (719)
 *   FAKE_CUDA_LOST_AT=n: from the n-th call on the device is lost
 *   FAKE_CUDA_LIES=peer|managed|vmm|fabric|imex|pointer|null|uuid: the driver promises that, and
 * then it cannot FAKE_CUDA_HANG=1: cuInit() does not return */

#include "backends/cuda/cuda_api.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define FAKE_API __attribute__((visibility("default")))

enum { FAKE_DEVICES_MAX = 8, FAKE_ATTRIBUTES_MAX = 160, FAKE_STACK_MAX = 16, FAKE_LOST = 719 };

enum fake_kind { FAKE_DEVICE = 1, FAKE_HOST, FAKE_MANAGED, FAKE_REGISTERED, FAKE_MAPPED };

struct fake_memory {
    struct fake_memory *next;
    enum fake_kind kind;
    int device;      /* whose it is; registered and pinned pages: of the context at the time */
    uintptr_t base;  /* the address that is returned */
    size_t size;     /* that was asked for */
    size_t mapped;   /* bytes of the views */
    char *bytes;     /* the fake's own view of base */
    int fd;          /* what both views show, or -1 */
    unsigned access; /* mapped: bit for each device */
    int prefetched;  /* managed: -2 never */
    bool opened;     /* another process's */
    bool synced;     /* synchronous copies of it are complete when they return */
};

struct CUctx_st {
    int device;
    int retained;
    unsigned long long id; /* another one after each reset */
    bool reset;            /* by the program, and not retained since */
    cuda_result_t sticky;
    unsigned peers; /* bit for each device whose memory it reaches */
    unsigned flags;
};

struct fake_command {
    struct fake_command *next;
    cuda_result_t (*run)(struct CUctx_st *context, struct fake_command *command);
    struct CUfunc_st *function;
    unsigned blocks;
    unsigned threads;
    uint64_t arguments[5];
    uintptr_t to;
    uintptr_t from;
    void *snapshot; /* of pageable memory that was copied from */
    size_t size;
    unsigned value;
    unsigned width;
};

struct CUstream_st {
    struct CUstream_st *next;
    bool destroyed; /* what is pending is still done, and then it goes */
    struct CUctx_st *context;
    struct fake_command *first;
};

struct CUfunc_st {
    char name[48];
    struct CUctx_st *context;
};

struct CUmod_st {
    struct CUmod_st *next;
    struct CUfunc_st function;
};

struct fake {
    bool ready;
    bool initialised;
    int device_count;
    int first; /* the first one's number in the machine */
    size_t capacity;
    size_t used[FAKE_DEVICES_MAX];
    int version;
    int attributes[FAKE_ATTRIBUTES_MAX];
    char lies[32];
    bool hang;
    int calls;
    int fail_at;
    int lost_at;
    char fail_call[48];
    int fail_code;
    cuda_result_t forced; /* what the call that is being done will answer in spite of it */
    char failed[48];
    char violation[256];
    struct CUctx_st contexts[FAKE_DEVICES_MAX];
    struct fake_memory *memory;
    struct CUstream_st *streams;
    struct CUmod_st *modules;
    int ranges; /* reserved and not given back */
    struct {
        const struct CUctx_st *context;
        uintptr_t to;
        uintptr_t from;
        size_t size; /* 0: none */
    } late;          /* a synchronous copy of the program's that has returned and is under way */
    int handles;     /* created or opened and not released */
    bool managed_closed;
    bool capturing;      /* a stream of the program's, in the mode global */
    bool capture_spoilt; /* by a call that is not allowed meanwhile */
    bool ended;          /* the driver has, as it does before the process */
};
extern struct fake fake;

/* Every driver call: BEGIN first, and return fake_leave(code). */
cuda_result_t fake_enter(const char *name, bool releases);
cuda_result_t fake_leave(cuda_result_t code);
/* Why a call that gives back was not begun: the driver has ended, or a stream is captured. */
cuda_result_t fake_refused(void);
#define BEGIN(name)                                                                                \
    do {                                                                                           \
        cuda_result_t code_ = fake_enter((name), false);                                           \
        if (code_ != CUDA_SUCCESS) {                                                               \
            return code_;                                                                          \
        }                                                                                          \
    } while (0)
/* A call that gives something back does it even when it is made to fail: what it answers then is
 * the failure of something earlier, as with the real driver. */
#define BEGIN_RELEASE(name)                                                                        \
    do {                                                                                           \
        if (fake_enter((name), true) != CUDA_SUCCESS) {                                            \
            return fake_refused();                                                                 \
        }                                                                                          \
    } while (0)

/* The context that is current on this thread, if it can be used: CUDA_SUCCESS, none, or lost. */
cuda_result_t fake_current(struct CUctx_st **context_p);

bool fake_thread_is_relaxed(void);

void fake_broken(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool fake_lies(const char *about);

/* Memory. */
struct fake_memory *fake_find(uintptr_t address);
/* Where the fake reads what a kernel of that context reads at @p address; NULL: it may not. */
void *fake_reach(const struct CUctx_st *context, uintptr_t address, size_t size);
/* Where a copy reads or writes; unknown memory is the host's. NULL: it runs past its end. */
void *fake_any(uintptr_t address, size_t size);
struct fake_memory *fake_add(enum fake_kind kind, int device, size_t size);
void fake_remove(struct fake_memory *memory);
/* All that was taken in a device's context, or in any (-1). */
void fake_remove_all(int device);
/* Both views of @p fd, the outer one at @p at if that is not NULL. False: it cannot be. */
bool fake_map_views(struct fake_memory *memory, int fd, void *at, int protection);
/* Managed memory is the host's again, or not. */
void fake_managed_open(bool open);

/* Work. */
cuda_result_t fake_run(struct CUstream_st *stream);
cuda_result_t fake_run_all(const struct CUctx_st *context); /* NULL: of all contexts */
bool fake_busy(void);
/* The program's copy is done now. */
void fake_late_finish(void);
void fake_streams_drop(int device); /* with what is pending; -1: of all devices */
void fake_modules_drop(int device);
cuda_result_t fake_kernel(struct CUctx_st *context, struct fake_command *command);
bool fake_knows_kernel(const char *name);

#define FAKE_PROTOTYPE(name, older, optional, arguments) FAKE_API cuda_result_t name arguments;
CUDA_CALL_MAP(FAKE_PROTOTYPE)
#undef FAKE_PROTOTYPE
FAKE_API cuda_result_t cuDeviceGetUuid(cuda_uuid_t *uuid, cuda_device_t device);
FAKE_API cuda_result_t cuDevicePrimaryCtxRelease(cuda_device_t device);
FAKE_API cuda_result_t cuCtxGetCurrent(cuda_context_t *context);

/* What programs call and the backend does not. */
FAKE_API cuda_result_t cuStreamBeginCapture_v2(cuda_stream_t stream, int mode);
FAKE_API cuda_result_t cuStreamEndCapture(cuda_stream_t stream, void **graph);
FAKE_API cuda_result_t cuGraphDestroy(void *graph);
FAKE_API cuda_result_t cuMemcpyDtoD_v2(cuda_address_t to, cuda_address_t from, size_t size);
FAKE_API cuda_result_t cuDevicePrimaryCtxReset_v2(cuda_device_t device);

/* For the tests. */
FAKE_API void fake_cuda_reset(void);
FAKE_API const char *fake_cuda_failed_call(void);
FAKE_API const char *fake_cuda_violation(void);
FAKE_API int fake_cuda_live(void);
FAKE_API int fake_cuda_depth(void);
FAKE_API unsigned fake_cuda_calls(const char *name);
FAKE_API unsigned long long fake_cuda_used(int device);
/* The program captures a stream, or has ended that: true if the capture is whole. */
FAKE_API bool fake_cuda_capture(bool begin);
/* As cudaDeviceReset(): what is in the device's context goes, references to it stay. */
FAKE_API void fake_cuda_reset_device(int device);
/* The driver ends. */
FAKE_API void fake_cuda_end(void);

#endif /* MEMSPAN_TESTS_FAKES_CUDA_FAKE_H */
