/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTS_SHMEM_NETWORK_DRIVER_UNKIND_H
#define TESTS_SHMEM_NETWORK_DRIVER_UNKIND_H

/* A library of the network's that is late, and fails operations. It stands between a driver and the
 * real library, in the driver's plug-in: unkind_ucx.c, unkind_ofi.c.
 *
 * Completions come up to UNKIND_STEPS polls late, in another order. UNKIND_FAILS=N: the Nth one of
 * each PE, and each Nth after it, is a failure. */

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { UNKIND_STEPS = 12 };

static inline uint64_t unkind_draw(void)
{
    static _Thread_local uint64_t state;

    state = (state * UINT64_C(6364136223846793005)) + UINT64_C(1442695040888963407);
    return (state >> 33) % UNKIND_STEPS;
}

/* Whether the next completion is a failure. */
static inline bool unkind_fails(void)
{
    static unsigned long count;
    const char *text = getenv("UNKIND_FAILS");

    return (text != NULL) && (++count % strtoul(text, NULL, 10) == 0);
}

#endif /* TESTS_SHMEM_NETWORK_DRIVER_UNKIND_H */
