/* SPDX-License-Identifier: BSD-3-Clause */
/* lock.c: a queue of PEs (MCS) in the copies of one long.
 *
 * One half of the copy on the lock's home PE is the queue's tail, a PE's number plus one. The other
 * half of each PE's copy is its place in the queue: whether it is queued, which PE is next, and
 * whether its turn has come. No other PE touches the place of one that is not queued, so plain
 * stores prepare and clear it. All halves are 0 while the lock is free, as at first. */

#include "shmem/lock.h"
#include "shmem/control/wait.h"
#include "shmem/transport/atomic.h"
#include "shmem/transport/order.h"

_Static_assert(sizeof(long) == 2 * sizeof(uint32_t), "a lock has two halves");

#define QUEUED UINT32_C(0x80000000)
#define TURN   UINT32_C(0x40000000)
#define NEXT   UINT32_C(0x3fffffff)

static uint32_t *tail_of(long *lock)
{
    return (uint32_t *)(void *)lock;
}

static uint32_t *place_of(long *lock)
{
    return tail_of(lock) + 1;
}

/* Locks of an array have homes of their own. */
static int home_of(const long *lock)
{
    return (int)((msp_segment_key(lock) / sizeof *lock) % (uint64_t)msp_job.pe_count);
}

static uint32_t change(const char *call, enum msp_atomic operation, uint32_t *half, uint32_t value,
                       uint32_t condition, int pe)
{
    return (uint32_t)msp_atomic(call, msp_context_default(), operation, half, sizeof *half, value,
                                condition, pe);
}

static uint32_t my_place(long *lock)
{
    return __atomic_load_n(place_of(lock), __ATOMIC_ACQUIRE);
}

static void set_place(long *lock, uint32_t value)
{
    __atomic_store_n(place_of(lock), value, __ATOMIC_RELAXED);
}

static void require(const char *call, long *lock)
{
    msp_rma_require(call, lock, sizeof *lock, msp_job.pe);
    if ((uintptr_t)lock % sizeof *lock != 0) {
        msp_fatal("%s: lock %p is not on a boundary of %zu bytes", call, (void *)lock,
                  sizeof *lock);
    }
    if (!msp_segment_of(lock)->host_touches) {
        msp_fatal("%s: lock %p is in memory that the host cannot load; locks are variables or "
                  "in partitions of host memory",
                  call, (void *)lock);
    }
}

void msp_lock_set(const char *call, long *lock)
{
    uint32_t me = (uint32_t)msp_job.pe + 1;
    uint32_t before;

    require(call, lock);
    if ((my_place(lock) & QUEUED) != 0) {
        msp_fatal("%s: this PE has the lock at %p already, or waits for it in another thread", call,
                  (void *)lock);
    }
    set_place(lock, QUEUED);
    before = change(call, MSP_ATOMIC_SWAP, tail_of(lock), me, 0, home_of(lock));
    if (before != 0) {
        change(call, MSP_ATOMIC_OR, place_of(lock), me, 0, (int)before - 1);
        MSP_WAIT_AT(lock, sizeof *lock, (my_place(lock) & TURN) != 0);
    }
}

bool msp_lock_try(const char *call, long *lock)
{
    uint32_t me = (uint32_t)msp_job.pe + 1;

    require(call, lock);
    if ((my_place(lock) & QUEUED) != 0) {
        return false;
    }
    set_place(lock, QUEUED);
    if (change(call, MSP_ATOMIC_COMPARE_SWAP, tail_of(lock), me, 0, home_of(lock)) != 0) {
        set_place(lock, 0);
        msp_wait_poll();
        return false;
    }
    return true;
}

void msp_lock_clear(const char *call, long *lock)
{
    uint32_t me = (uint32_t)msp_job.pe + 1;
    uint32_t next;

    require(call, lock);
    if ((my_place(lock) & QUEUED) == 0) {
        msp_fatal("%s: this PE does not hold the lock at %p", call, (void *)lock);
    }
    msp_quiet(msp_context_default());
    if (((my_place(lock) & NEXT) == 0) &&
        (change(call, MSP_ATOMIC_COMPARE_SWAP, tail_of(lock), 0, me, home_of(lock)) == me)) {
        set_place(lock, 0);
        return;
    }
    /* Another PE is queued, or about to announce itself. */
    MSP_WAIT_AT(lock, sizeof *lock, (my_place(lock) & NEXT) != 0);
    next = my_place(lock) & NEXT;
    set_place(lock, 0);
    change(call, MSP_ATOMIC_OR, place_of(lock), TURN, 0, (int)next - 1);
}
