/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_FAKES_CUDA_PRETENDED_H
#define MEMSPAN_TESTS_FAKES_CUDA_PRETENDED_H

#include "backends/cuda/cuda.h"
#include "tests/fakes/suite/pretended.h"

extern const memspan_backend_t msp_backend_cuda;

/* More of the fake's own calls, and some of the driver's. */
extern struct driver {
    int (*depth)(void);
    struct cuda_calls cu;
    cuda_result_t (*current)(cuda_context_t *context);
    void (*reset_device)(int device);
    void (*end)(void);
    cuda_result_t (*copy)(cuda_address_t to, cuda_address_t from, size_t size);
} driver;

#endif /* MEMSPAN_TESTS_FAKES_CUDA_PRETENDED_H */
