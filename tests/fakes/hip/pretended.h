/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_FAKES_HIP_PRETENDED_H
#define MEMSPAN_TESTS_FAKES_HIP_PRETENDED_H

#include "backends/hip/hip.h"
#include "tests/fakes/suite/pretended.h"

extern const memspan_backend_t msp_backend_hip;

/* More of the fake's own calls, and the runtime's. */
extern struct driver {
    int (*current)(void);
    int (*last_error)(void);
    int (*is_coarse)(const void *address);
    const char *(*arch)(void);
    struct hip_calls hip;
    bool old; /* ROCm 5 */
} driver;

#endif /* MEMSPAN_TESTS_FAKES_HIP_PRETENDED_H */
