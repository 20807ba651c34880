/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of CUDA's runtime that <memspan/cuda_mr.hpp> uses, as in umf/memory_provider_ops.h. */
#ifndef OTHERS_CUDA_RUNTIME_H
#define OTHERS_CUDA_RUNTIME_H

typedef struct CUstream_st *cudaStream_t;
enum cudaError_t { cudaSuccess };
extern "C" cudaError_t cudaStreamSynchronize(cudaStream_t);

#endif /* OTHERS_CUDA_RUNTIME_H */
