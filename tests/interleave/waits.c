/* SPDX-License-Identifier: BSD-3-Clause */
/* waits.c: calls of the C library and of the kernel that wait, wake, order memory, and tell time.
 */

#include "memory.h"
#include "schedule.h"
#include "weaken.h"
#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PLACE __builtin_return_address(0)

/* The linker's names have no prototypes anywhere. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* ---- locks: what a thread holds, by address ---- */

enum { LOCKS_MAX = 256 };

static struct lock {
    uintptr_t object;
    unsigned owner; /* 0: free */
    unsigned depth;
    unsigned readers;
    bool is_recursive;
} locks[LOCKS_MAX];

static struct lock *lock_of(const void *object)
{
    unsigned i = 0;

    while ((i < LOCKS_MAX) && (locks[i].object != (uintptr_t)object) && (locks[i].object != 0)) {
        i++;
    }
    if (i == LOCKS_MAX) {
        scenario_fail("more than %d locks", LOCKS_MAX);
    }
    locks[i].object = (uintptr_t)object;
    return &locks[i];
}

static bool is_free(void *lock)
{
    return (((struct lock *)lock)->owner == 0) && (((struct lock *)lock)->readers == 0);
}

static bool is_readable(void *lock)
{
    return ((struct lock *)lock)->owner == 0;
}

static void take(struct lock *lock)
{
    lock->owner = schedule_self();
    lock->depth = 1;
    memory_acquire_from(lock->object, schedule_self());
    schedule_progress();
}

static void give(struct lock *lock)
{
    memory_release_to(lock->object, schedule_self());
    lock->owner = 0;
    schedule_progress();
}

static void lock_mutex(pthread_mutex_t *mutex, const void *place)
{
    struct lock *lock = lock_of(mutex);

    if ((lock->owner == schedule_self()) &&
        ((mutex->__data.__kind & 3) == PTHREAD_MUTEX_RECURSIVE_NP)) {
        lock->depth++;
        return;
    }
    schedule_wait(is_free, lock, false, ACCESS_WRITE, lock->object, place);
    take(lock);
}

int __real_pthread_mutex_lock(pthread_mutex_t *);
int __real_pthread_mutex_trylock(pthread_mutex_t *);
int __real_pthread_mutex_unlock(pthread_mutex_t *);

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (!schedule_is_on()) {
        return __real_pthread_mutex_lock(mutex);
    }
    lock_mutex(mutex, PLACE);
    return 0;
}

int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    struct lock *lock;

    if (!schedule_is_on()) {
        return __real_pthread_mutex_trylock(mutex);
    }
    lock = lock_of(mutex);
    schedule_point(ACCESS_WRITE, lock->object, PLACE);
    if (!is_free(lock)) {
        schedule_spin();
        return EBUSY;
    }
    take(lock);
    return 0;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    struct lock *lock;

    if (!schedule_is_on()) {
        return __real_pthread_mutex_unlock(mutex);
    }
    lock = lock_of(mutex);
    if (lock->owner != schedule_self()) {
        scenario_fail("a lock is given back by a thread that has not taken it: %s",
                      memory_place(PLACE));
    }
    if (--lock->depth == 0) {
        give(lock);
    }
    return 0;
}

int __real_pthread_rwlock_rdlock(pthread_rwlock_t *);
int __real_pthread_rwlock_wrlock(pthread_rwlock_t *);
int __real_pthread_rwlock_unlock(pthread_rwlock_t *);

int __wrap_pthread_rwlock_rdlock(pthread_rwlock_t *object)
{
    struct lock *lock;

    if (!schedule_is_on()) {
        return __real_pthread_rwlock_rdlock(object);
    }
    lock = lock_of(object);
    schedule_wait(is_readable, lock, false, ACCESS_WRITE, lock->object, PLACE);
    lock->readers++;
    memory_acquire_from(lock->object, schedule_self());
    schedule_progress();
    return 0;
}

int __wrap_pthread_rwlock_wrlock(pthread_rwlock_t *object)
{
    struct lock *lock;

    if (!schedule_is_on()) {
        return __real_pthread_rwlock_wrlock(object);
    }
    lock = lock_of(object);
    schedule_wait(is_free, lock, false, ACCESS_WRITE, lock->object, PLACE);
    take(lock);
    return 0;
}

int __wrap_pthread_rwlock_unlock(pthread_rwlock_t *object)
{
    struct lock *lock;

    if (!schedule_is_on()) {
        return __real_pthread_rwlock_unlock(object);
    }
    lock = lock_of(object);
    if (lock->owner == schedule_self()) {
        give(lock);
    } else {
        memory_release_to(lock->object, schedule_self());
        lock->readers--;
        schedule_progress();
    }
    return 0;
}

/* ---- waits: for a word, a condition, the first call of all ---- */

enum { WAITERS_MAX = 16 };

static struct waiter {
    uintptr_t object; /* 0: unused */
    bool is_woken;
} waiters[WAITERS_MAX];

static bool is_woken(void *waiter)
{
    return ((struct waiter *)waiter)->is_woken;
}

static struct waiter *add_waiter(const volatile void *object)
{
    unsigned i = 0;

    while ((i < WAITERS_MAX) && (waiters[i].object != 0)) {
        i++;
    }
    if (i == WAITERS_MAX) {
        scenario_fail("more than %d waits", WAITERS_MAX);
    }
    waiters[i] = (struct waiter){.object = (uintptr_t)object};
    return &waiters[i];
}

static long wake(const volatile void *object, long count)
{
    long woken = 0;
    unsigned i;

    for (i = 0; (i < WAITERS_MAX) && (woken < count); i++) {
        if ((waiters[i].object == (uintptr_t)object) && !waiters[i].is_woken) {
            waiters[i].is_woken = true;
            woken++;
        }
    }
    schedule_progress();
    return woken;
}

/* The kernel orders the caller's memory before it looks at the word, and before it wakes. */
static long wait_for_word(const volatile uint32_t *word, uint32_t value, bool is_limited,
                          const void *place)
{
    struct waiter *waiter;
    bool in_time;

    schedule_point(ACCESS_READ, (uintptr_t)word, place);
    memory_order(__ATOMIC_SEQ_CST, place);
    if (*word != value) {
        errno = EAGAIN;
        return -1;
    }
    waiter         = add_waiter(word);
    in_time        = schedule_wait(is_woken, waiter, is_limited, ACCESS_NONE, 0, place);
    waiter->object = 0;
    if (!in_time) {
        memory_refresh(schedule_self());
        errno = ETIMEDOUT;
        return -1;
    }
    return 0;
}

static long futex(long *arguments, const void *place)
{
    const volatile uint32_t *word = (const volatile uint32_t *)arguments[0];
    int operation                 = (int)arguments[1] & ~FUTEX_PRIVATE_FLAG;

    if (operation == FUTEX_WAIT) {
        return wait_for_word(word, (uint32_t)arguments[2], arguments[3] != 0, place);
    }
    if (operation != FUTEX_WAKE) {
        scenario_fail("futex operation %d is not in the model", operation);
    }
    if (weaken_leaves_out(place)) {
        return 0;
    }
    schedule_point(ACCESS_WRITE, (uintptr_t)word, place);
    memory_order(__ATOMIC_SEQ_CST, place);
    return wake(word, arguments[2]);
}

bool scenario_without_membarrier;

static long membarrier_call(long command, const void *place)
{
    const long known = MEMBARRIER_CMD_PRIVATE_EXPEDITED |
                       MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED | MEMBARRIER_CMD_GLOBAL_EXPEDITED |
                       MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED;

    if (scenario_without_membarrier) {
        errno = ENOSYS;
        return -1;
    }
    if (command == MEMBARRIER_CMD_QUERY) {
        return known;
    }
    if (schedule_is_on() && ((command == MEMBARRIER_CMD_PRIVATE_EXPEDITED) ||
                             (command == MEMBARRIER_CMD_GLOBAL_EXPEDITED))) {
        if (weaken_leaves_out(place)) {
            return 0;
        }
        schedule_point(ACCESS_WRITE, OBJECT_ALL, place);
        memory_barrier_of_all();
    }
    return 0;
}

long __real_syscall(long number, ...);

long __wrap_syscall(long number, ...)
{
    long arguments[6];
    va_list list;
    unsigned i;

    va_start(list, number);
    for (i = 0; i < 6; i++) {
        arguments[i] = va_arg(list, long);
    }
    va_end(list);
    if (number == SYS_membarrier) {
        return membarrier_call(arguments[0], PLACE);
    }
    if (schedule_is_on()) {
        if (number == SYS_futex) {
            return futex(arguments, PLACE);
        }
        if (number == SYS_nanosleep) {
            schedule_yield(PLACE);
            return 0;
        }
    }
    return __real_syscall(number, arguments[0], arguments[1], arguments[2], arguments[3],
                          arguments[4], arguments[5]);
}

static int wait_for_condition(pthread_cond_t *condition, pthread_mutex_t *mutex, bool is_limited,
                              const void *place)
{
    struct waiter *waiter;
    bool in_time;

    schedule_point(ACCESS_WRITE, (uintptr_t)condition, place);
    waiter = add_waiter(condition);
    give(lock_of(mutex));
    in_time        = schedule_wait(is_woken, waiter, is_limited, ACCESS_NONE, 0, place);
    waiter->object = 0;
    lock_mutex(mutex, place);
    return in_time ? 0 : ETIMEDOUT;
}

int __real_pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *);
int __real_pthread_cond_timedwait(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
int __real_pthread_cond_signal(pthread_cond_t *);
int __real_pthread_cond_broadcast(pthread_cond_t *);

int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    if (!schedule_is_on()) {
        return __real_pthread_cond_wait(condition, mutex);
    }
    return wait_for_condition(condition, mutex, false, PLACE);
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *until)
{
    if (!schedule_is_on()) {
        return __real_pthread_cond_timedwait(condition, mutex, until);
    }
    return wait_for_condition(condition, mutex, true, PLACE);
}

int __wrap_pthread_cond_signal(pthread_cond_t *condition)
{
    if (!schedule_is_on()) {
        return __real_pthread_cond_signal(condition);
    }
    if (weaken_leaves_out(PLACE)) {
        return 0;
    }
    schedule_point(ACCESS_WRITE, (uintptr_t)condition, PLACE);
    wake(condition, 1);
    return 0;
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *condition)
{
    if (!schedule_is_on()) {
        return __real_pthread_cond_broadcast(condition);
    }
    if (weaken_leaves_out(PLACE)) {
        return 0;
    }
    schedule_point(ACCESS_WRITE, (uintptr_t)condition, PLACE);
    wake(condition, WAITERS_MAX);
    return 0;
}

int __real_pthread_once(pthread_once_t *, void (*)(void));

/* A lock, and its depth once it is done. */
int __wrap_pthread_once(pthread_once_t *once, void (*function)(void))
{
    struct lock *lock;

    if (!schedule_is_on() || (*once == 2)) { /* glibc: done before the execution */
        return __real_pthread_once(once, function);
    }
    lock = lock_of(once);
    schedule_wait(is_free, lock, false, ACCESS_WRITE, lock->object, PLACE);
    take(lock);
    if (lock->readers == 0 && !lock->is_recursive) {
        lock->is_recursive = true; /* it is done */
        function();
    }
    give(lock);
    return 0;
}

/* ---- threads and time ---- */

int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

int schedule_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                            void *(*function)(void *), void *argument)
{
    if (!schedule_is_on()) {
        return __real_pthread_create(thread, attributes, function, argument);
    }
    schedule_point(ACCESS_NONE, 0, PLACE);
    *thread = schedule_handle((unsigned)schedule_create(function, argument));
    return 0;
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*function)(void *), void *argument)
{
    return schedule_pthread_create(thread, attributes, function, argument);
}

static bool has_ended(void *thread)
{
    return schedule_has_ended((unsigned)(uintptr_t)thread);
}

int __real_pthread_join(pthread_t, void **);

int __wrap_pthread_join(pthread_t thread, void **result_p)
{
    unsigned number = schedule_number(thread);

    if (!schedule_is_on()) {
        return __real_pthread_join(thread, result_p);
    }
    schedule_wait(has_ended, (void *)(uintptr_t)number, false, ACCESS_NONE, 0, PLACE);
    memory_thread_join(number);
    return 0;
}

int __wrap_sched_yield(void)
{
    if (schedule_is_on()) {
        schedule_yield(PLACE);
    }
    return 0;
}

int __real_nanosleep(const struct timespec *, struct timespec *);

int __wrap_nanosleep(const struct timespec *duration, struct timespec *left)
{
    if (!schedule_is_on()) {
        return __real_nanosleep(duration, left);
    }
    schedule_yield(PLACE);
    return 0;
}

int __wrap_usleep(unsigned duration_us)
{
    (void)duration_us;
    if (schedule_is_on()) {
        schedule_yield(PLACE);
    }
    return 0;
}

/* Which processor a thread runs on is no part of its schedule. */
int __wrap_sched_getcpu(void)
{
    return 0;
}

/* Each execution is the process that has set the scenario up. */
static pid_t pid;
pid_t __real_getpid(void);

pid_t __wrap_getpid(void)
{
    pid = (pid == 0) ? __real_getpid() : pid;
    return pid;
}

/* ---- children ---- */

enum { CHILD_S = 30 };

pid_t __real_fork(void);

/* The parent waits for it, with the turn. */
pid_t __wrap_fork(void)
{
    if (schedule_is_on()) {
        schedule_point(ACCESS_WRITE, OBJECT_ALL, PLACE);
    }
    return __real_fork();
}

static void begin_child(void)
{
    if (schedule_is_on()) {
        schedule_keep_own();
        memory_keep_own();
        pid = 0;
        alarm(CHILD_S);
    }
}

/* Before the product's handlers. */
static __attribute__((constructor(101))) void watch_fork(void)
{
    pthread_atfork(NULL, NULL, begin_child);
}

/* Time passes by steps: an execution repeats exactly. */
int __real_clock_gettime(clockid_t, struct timespec *);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    if (!schedule_is_on()) {
        return __real_clock_gettime(clock, now);
    }
    *now = (struct timespec){.tv_sec = 1000000, .tv_nsec = execution->count};
    return 0;
}
