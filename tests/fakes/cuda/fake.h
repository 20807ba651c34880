/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_FAKES_CUDA_FAKE_H
#define MEMSPAN_TESTS_FAKES_CUDA_FAKE_H

/* A pretended CUDA driver: the front of tests/fakes/gpu. Its environment begins with FAKE_CUDA_,
 * and has besides:
 *   VERSION=13000
 *   LIES=peer|managed|vmm|fabric|imex|pointer|null|uuid */

/* The driver's handles are the pretended GPU's. */
#define CUstream_st fake_stream
#define CUevent_st  fake_event
#define CUmod_st    fake_module
#define CUfunc_st   fake_function

#include "backends/cuda/cuda_api.h"
#include "tests/fakes/gpu/calls.h"

struct CUctx_st {
    int device;
    int retained;          /* of one that a program makes: 1, and 0 when it is destroyed */
    unsigned long long id; /* another one after each reset */
    bool reset;            /* by the program, and not retained since */
    unsigned flags;
};

/* The context that is current on this thread, if it can be used: CUDA_SUCCESS, none, or lost. */
cuda_result_t fake_current(struct CUctx_st **context_p);

#define FAKE_PROTOTYPE(name, older, optional, arguments) FAKE_API cuda_result_t name arguments;
CUDA_CALL_MAP(FAKE_PROTOTYPE)
#undef FAKE_PROTOTYPE
FAKE_API cuda_result_t cuDeviceGetUuid(cuda_uuid_t *uuid, cuda_device_t device);
FAKE_API cuda_result_t cuDevicePrimaryCtxRelease(cuda_device_t device);

/* What programs call and the backend does not. */
FAKE_API cuda_result_t cuStreamBeginCapture_v2(cuda_stream_t stream, int mode);
FAKE_API cuda_result_t cuStreamEndCapture(cuda_stream_t stream, void **graph);
FAKE_API cuda_result_t cuGraphDestroy(void *graph);
FAKE_API cuda_result_t cuMemcpyDtoD_v2(cuda_address_t to, cuda_address_t from, size_t size);
FAKE_API cuda_result_t cuDevicePrimaryCtxReset_v2(cuda_device_t device);
FAKE_API cuda_result_t cuCtxCreate_v2(cuda_context_t *context, unsigned flags,
                                      cuda_device_t device);
FAKE_API cuda_result_t cuCtxDestroy_v2(cuda_context_t context);

/* For the tests. */
FAKE_API int fake_cuda_depth(void);
/* cuCtxGetCurrent(), which is not counted and does not fail. */
FAKE_API cuda_result_t fake_cuda_current(cuda_context_t *context);
/* As cudaDeviceReset(): what is in the device's context goes, references to it stay. */
FAKE_API void fake_cuda_reset_device(int device);
/* The driver ends. */
FAKE_API void fake_cuda_end(void);

#endif /* MEMSPAN_TESTS_FAKES_CUDA_FAKE_H */
