/* SPDX-License-Identifier: BSD-3-Clause */
/* lock.c: a queue of PEs (MCS) in the copies of one long.
 *
 * One half of the copy on the lock's home PE is the queue's tail, a PE's number plus one. The other
 * half of each PE's copy belongs to its place in the queue: who comes next, and whether it waits
 * still. All halves are 0 when nobody holds the lock, as at first. */

#include "shmem/lock.h"
#include "shmem/atomic.h"
#include "shmem/order.h"
#include "shmem/wait.h"

_Static_assert(sizeof(long) == 2 * sizeof(uint32_t), "a lock has two halves");

#define WAITS UINT32_C(0x80000000)
#define NEXT  UINT32_C(0x7fffffff)

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
    return (int)((memspan_segment_key(lock) / sizeof *lock) % (uint64_t)memspan_job.pe_count);
}

static uint32_t change(enum memspan_atomic operation, uint32_t *half, uint32_t value,
                       uint32_t condition, int pe)
{
    unsigned index;
    void *to = memspan_segment_peer(half, sizeof *half, pe, &index);
    uint32_t old;

    if (to == NULL) {
        return (uint32_t)memspan_atomic_slow(memspan_context_default(), operation, half,
                                             sizeof *half, value, condition, pe);
    }
    old = (uint32_t)memspan_atomic_apply(operation, to, sizeof *half, value, condition);
    memspan_node_ring_at((int)index, half);
    return old;
}

static uint32_t my_place(long *lock)
{
    return __atomic_load_n(place_of(lock), __ATOMIC_ACQUIRE);
}

void memspan_lock_set(const char *call, long *lock)
{
    uint32_t me = (uint32_t)memspan_job.pe + 1;
    uint32_t before;

    memspan_rma_require(call, lock, sizeof *lock, memspan_job.pe);
    __atomic_store_n(place_of(lock), WAITS, __ATOMIC_RELAXED);
    before = change(MEMSPAN_ATOMIC_SWAP, tail_of(lock), me, 0, home_of(lock));
    if (before == 0) {
        /* Who came meanwhile may have written its number there already. */
        __atomic_fetch_and(place_of(lock), ~WAITS, __ATOMIC_ACQ_REL);
        return;
    }
    change(MEMSPAN_ATOMIC_OR, place_of(lock), me, 0, (int)before - 1);
    MEMSPAN_WAIT_AT(lock, sizeof *lock, (my_place(lock) & WAITS) == 0);
}

bool memspan_lock_try(const char *call, long *lock)
{
    uint32_t me = (uint32_t)memspan_job.pe + 1;

    memspan_rma_require(call, lock, sizeof *lock, memspan_job.pe);
    if (change(MEMSPAN_ATOMIC_COMPARE_SWAP, tail_of(lock), me, 0, home_of(lock)) != 0) {
        memspan_wait_poll();
        return false;
    }
    return true;
}

void memspan_lock_clear(const char *call, long *lock)
{
    uint32_t me = (uint32_t)memspan_job.pe + 1;
    uint32_t next;

    memspan_rma_require(call, lock, sizeof *lock, memspan_job.pe);
    if (memspan_job.checks &&
        (change(MEMSPAN_ATOMIC_FETCH, tail_of(lock), 0, 0, home_of(lock)) == 0)) {
        memspan_fatal("%s: nobody holds the lock at %p", call, (void *)lock);
    }
    memspan_quiet(memspan_context_default());
    if (((my_place(lock) & NEXT) == 0) &&
        (change(MEMSPAN_ATOMIC_COMPARE_SWAP, tail_of(lock), 0, me, home_of(lock)) == me)) {
        return;
    }
    /* Somebody is in the queue, or about to say so. */
    MEMSPAN_WAIT_AT(lock, sizeof *lock, (my_place(lock) & NEXT) != 0);
    next = my_place(lock) & NEXT;
    __atomic_store_n(place_of(lock), 0, __ATOMIC_RELAXED);
    change(MEMSPAN_ATOMIC_AND, place_of(lock), ~WAITS, 0, (int)next - 1);
}
