/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_FAKES_OPENCL_PRETENDED_H
#define MEMSPAN_TESTS_FAKES_OPENCL_PRETENDED_H

#include "backends/opencl/opencl.h"
#include "tests/fakes/suite/pretended.h"

extern const memspan_backend_t msp_backend_opencl;

#endif /* MEMSPAN_TESTS_FAKES_OPENCL_PRETENDED_H */
