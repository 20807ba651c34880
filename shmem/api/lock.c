/* SPDX-License-Identifier: BSD-3-Clause */
/* lock.c: locks by their standard names. */

#include "shmem/lock.h"
#include "shmem/api/routine.h"

/* Where the queue of a lock is, is worked out from its address. */
static void check(const char *call, const long *lock)
{
    msp_job_require(call);
    if (msp_job.checks) {
        msp_check_word(call, "lock", lock, sizeof *lock, msp_job.pe);
    }
}

MSP_ROUTINE(void, shmem_set_lock, long *lock)
{
    check(MSP_CALL, lock);
    msp_lock_set(MSP_CALL, lock);
}

MSP_ROUTINE(void, shmem_clear_lock, long *lock)
{
    check(MSP_CALL, lock);
    msp_lock_clear(MSP_CALL, lock);
}

MSP_ROUTINE(int, shmem_test_lock, long *lock)
{
    check(MSP_CALL, lock);
    return msp_lock_try(MSP_CALL, lock) ? 0 : 1;
}
