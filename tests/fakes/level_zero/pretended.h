/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_FAKES_LEVEL_ZERO_PRETENDED_H
#define MEMSPAN_TESTS_FAKES_LEVEL_ZERO_PRETENDED_H

#include "backends/level_zero/level_zero.h"
#include "tests/fakes/suite/pretended.h"

extern const memspan_backend_t msp_backend_level_zero;

/* More of the fake's own calls. */
extern struct driver {
    unsigned long long (*used)(int device);
    void *(*foreign)(int type, size_t size);
    void (*foreign_free)(void *pointer);
} driver;

/* pretended_find() opens the backend once, since the loader starts its drivers only once. */

#endif /* MEMSPAN_TESTS_FAKES_LEVEL_ZERO_PRETENDED_H */
