/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_BASE_LOCK_H
#define MEMSPAN_CORE_BASE_LOCK_H

/* Mutexes with a rank. A thread takes them in ascending rank only: the enum below is the lock order
 * of the library. A thread that holds one waits neither for work of a driver, nor for a thread, nor
 * calls a function of the program: what it waits for may need the lock. Debug builds check both
 * rules and abort with the names; release builds have a plain mutex. */

#include <pthread.h>
#include <stdbool.h>

/* X(rank, name) in lock order. */
#define MSP_RANK_TABLE(X)                                                                          \
    X(OMP_MAPPED, "mapped variables")                                                              \
    X(HOOKS, "hooks")                                                                              \
    X(OMP_MAKER, "OpenMP maker")                                                                   \
    X(ALLOCATABLES, "Fortran's allocatables")                                                      \
    X(ALLOCATORS, "allocator table")                                                               \
    X(QUEUE_EDGES, "order of queues")                                                              \
    X(QUEUES, "queue")                                                                             \
    X(QUEUE_CALLS, "calls on a queue")                                                             \
    X(SPACES, "spaces")                                                                            \
    X(BACKENDS, "backends")                                                                        \
    X(OPENING, "driver opening")                                                                   \
    X(SHARED, "memory of other processes")                                                         \
    X(IMPORTS, "imports")                                                                          \
    X(PROVIDERS, "providers")                                                                      \
    X(THREADS, "threads")                                                                          \
    X(ACCOUNTS, "accounts")                                                                        \
    X(HEAPS, "heap records")                                                                       \
    X(SLABS, "slab records")                                                                       \
    X(CHUNKS, "chunk records")                                                                     \
    X(POOLS, "pool")                                                                               \
    X(DENSITY, "density of blocks")                                                                \
    X(POINTER_MAP, "pointer map")                                                                  \
    X(SYMMETRIC, "symmetric heap")                                                                 \
    X(TOPOLOGY, "topology")                                                                        \
    X(OMP_PARTITIONERS, "OpenMP partitioners")                                                     \
    X(OMP_TABLES, "OpenMP tables")                                                                 \
    X(OMP_TASKS, "OpenMP tasks")                                                                   \
    X(LOOPS, "loops")                                                                              \
    X(GUARD, "guard")                                                                              \
    X(CALL_STACKS, "call stacks")                                                                  \
    X(GUARD_REPORT, "guard report")                                                                \
    X(FOLLOW, "followed blocks")                                                                   \
    X(WAITS, "waits of the host")                                                                  \
    X(TRACE, "trace")                                                                              \
    X(OPTIONS, "options")                                                                          \
    X(OPTION_PROBLEMS, "option problems")

enum msp_rank {
#define MSP_RANK_ENUM(rank, name) MSP_RANK_##rank,
    MSP_RANK_TABLE(MSP_RANK_ENUM)
#undef MSP_RANK_ENUM
        MSP_RANK_COUNT
};

typedef struct {
    pthread_mutex_t mutex;
#ifndef NDEBUG
    enum msp_rank rank;
#endif
} msp_lock_t;

#ifndef NDEBUG
#define MSP_LOCK_INIT(rank_)                                                                       \
    {                                                                                              \
        PTHREAD_MUTEX_INITIALIZER, (rank_)                                                         \
    }
#define MSP_LOCK_INIT_RECURSIVE(rank_)                                                             \
    {                                                                                              \
        PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, (rank_)                                            \
    }

/* Abort when the calling thread holds a lock of this rank or a higher one. */
void msp_rank_check(enum msp_rank rank);

void msp_rank_enter(enum msp_rank rank);
void msp_rank_leave(enum msp_rank rank);

/* Before all that may wait, and before a function of the program. Abort when the calling thread
 * holds a lock that others need meanwhile. */
void msp_rank_check_wait(const char *what);
#else
#define MSP_LOCK_INIT(rank)                                                                        \
    {                                                                                              \
        PTHREAD_MUTEX_INITIALIZER                                                                  \
    }
#define MSP_LOCK_INIT_RECURSIVE(rank)                                                              \
    {                                                                                              \
        PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP                                                     \
    }
#define msp_rank_check(rank)      ((void)0)
#define msp_rank_enter(rank)      ((void)0)
#define msp_rank_leave(rank)      ((void)0)
#define msp_rank_check_wait(what) ((void)0)
#endif

static inline void msp_lock_init(msp_lock_t *lock, enum msp_rank rank)
{
    (void)rank;
    *lock = (msp_lock_t)MSP_LOCK_INIT(rank);
}

static inline void msp_lock(msp_lock_t *lock)
{
    msp_rank_check(lock->rank);
    pthread_mutex_lock(&lock->mutex);
    msp_rank_enter(lock->rank);
}

/* A call that does not wait cannot deadlock: any order is right. */
static inline bool msp_lock_try(msp_lock_t *lock)
{
    bool taken = (pthread_mutex_trylock(&lock->mutex) == 0);

    if (taken) {
        msp_rank_enter(lock->rank);
    }
    return taken;
}

static inline void msp_unlock(msp_lock_t *lock)
{
    msp_rank_leave(lock->rank);
    pthread_mutex_unlock(&lock->mutex);
}

#endif /* MEMSPAN_CORE_BASE_LOCK_H */
