/* SPDX-License-Identifier: BSD-3-Clause */
/* lock.c: the ranks that a thread holds, one bit each. */

#include "core/base/lock.h"

#ifndef NDEBUG
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local uint64_t held;
_Static_assert(MSP_RANK_COUNT <= 64, "a bit for each rank");

static const char *const names[] = {
#define NAME(rank, name) name,
    MSP_RANK_TABLE(NAME)
#undef NAME
};

void msp_rank_check(enum msp_rank rank)
{
    if ((held >> rank) != 0) {
        fprintf(stderr, "memspan: lock order: \"%s\" is taken under \"%s\"\n", names[rank],
                names[63 - __builtin_clzll(held)]);
        abort();
    }
}

void msp_rank_check_wait(const char *what)
{
    if (held != 0) {
        fprintf(stderr, "memspan: lock order: \"%s\" is held where the thread may wait: %s\n",
                names[63 - __builtin_clzll(held)], what);
        abort();
    }
}

void msp_rank_enter(enum msp_rank rank)
{
    held |= UINT64_C(1) << rank;
}

void msp_rank_leave(enum msp_rank rank)
{
    held &= ~(UINT64_C(1) << rank);
}
#endif
