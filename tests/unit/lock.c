/* SPDX-License-Identifier: BSD-3-Clause */
/* Debug builds end a program that takes locks against their ranks. */

#include "core/base/lock.h"
#include <criterion/criterion.h>
#include <signal.h>

#ifndef NDEBUG
static msp_lock_t outer = MSP_LOCK_INIT(MSP_RANK_ALLOCATORS);
static msp_lock_t inner = MSP_LOCK_INIT(MSP_RANK_POOLS);

Test(lock, ascending_ranks)
{
    int i;

    for (i = 0; i < 2; i++) {
        msp_lock(&outer);
        msp_lock(&inner);
        msp_unlock(&outer);
        msp_unlock(&inner);
    }
}

Test(lock, a_lower_rank_under_a_higher_one, .signal = SIGABRT)
{
    msp_lock(&inner);
    msp_lock(&outer);
}

Test(lock, the_same_rank_twice, .signal = SIGABRT)
{
    msp_lock_t other;

    msp_lock_init(&other, MSP_RANK_POOLS);
    msp_lock(&inner);
    msp_lock(&other);
}

Test(lock, a_wait_without_a_lock)
{
    msp_lock(&outer);
    msp_unlock(&outer);
    msp_rank_check_wait("a test");
}

Test(lock, a_wait_under_a_lock, .signal = SIGABRT)
{
    msp_lock(&outer);
    msp_rank_check_wait("a test");
}

Test(lock, trying_is_right_in_any_order)
{
    msp_lock(&inner);
    cr_assert(msp_lock_try(&outer));
    msp_unlock(&outer);
    msp_unlock(&inner);
}
#endif
