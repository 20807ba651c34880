/* SPDX-License-Identifier: BSD-3-Clause */
/* lock.c: locks by their standard names. */

#include "shmem/lock.h"
#include "shmem/api/routine.h"

/* Where the queue of a lock is, is worked out from its address. */
static void check(const char *call, const long *lock)
{
    memspan_job_require(call);
    if (memspan_job.checks) {
        memspan_check_word(call, "lock", lock, sizeof *lock, memspan_job.pe);
    }
}

MEMSPAN_ROUTINE(void, shmem_set_lock, long *lock)
{
    check(MEMSPAN_CALL, lock);
    memspan_lock_set(MEMSPAN_CALL, lock);
}

MEMSPAN_ROUTINE(void, shmem_clear_lock, long *lock)
{
    check(MEMSPAN_CALL, lock);
    memspan_lock_clear(MEMSPAN_CALL, lock);
}

MEMSPAN_ROUTINE(int, shmem_test_lock, long *lock)
{
    check(MEMSPAN_CALL, lock);
    return memspan_lock_try(MEMSPAN_CALL, lock) ? 0 : 1;
}
