/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.c: what the product calls, and what the compiler makes of its memory accesses.
 *
 * The product's sources are compiled as they are, with -fsanitize=thread, and linked with these
 * functions in place of the sanitizer's (their names and arguments are those of GCC's and Clang's
 * ThreadSanitizer runtime, tsan_interface.h and tsan_interface_atomic.h). Calls of the C library
 * that wait, or that order memory, come here by the linker's --wrap. */

#include "memory.h"
#include "schedule.h"
#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PLACE __builtin_return_address(0)

/* The compiler's calls have no prototypes anywhere. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* ---- plain accesses ---- */

static void plain(const volatile void *address, size_t size, bool is_write, const void *place)
{
    uintptr_t at   = (uintptr_t)address;
    uintptr_t here = (uintptr_t)&at;

    /* The thread's own stack, as far as calls reach. */
    if (schedule_is_on() && ((at < here - 4096) || (at > here + 65536))) {
        memory_access(address, size, is_write, place);
    }
}

void __tsan_init(void)
{
}

void __tsan_func_entry(void *caller)
{
    (void)caller;
}

void __tsan_func_exit(void)
{
}

#define PLAIN(size)                                                                                \
    void __tsan_read##size(void *address)                                                          \
    {                                                                                              \
        plain(address, size, false, PLACE);                                                        \
    }                                                                                              \
    void __tsan_write##size(void *address)                                                         \
    {                                                                                              \
        plain(address, size, true, PLACE);                                                         \
    }                                                                                              \
    void __tsan_unaligned_read##size(void *address)                                                \
    {                                                                                              \
        plain(address, size, false, PLACE);                                                        \
    }                                                                                              \
    void __tsan_unaligned_write##size(void *address)                                               \
    {                                                                                              \
        plain(address, size, true, PLACE);                                                         \
    }
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

void __tsan_read_range(void *address, size_t size_bytes)
{
    plain(address, size_bytes, false, PLACE);
}

void __tsan_write_range(void *address, size_t size_bytes)
{
    plain(address, size_bytes, true, PLACE);
}

/* ---- atomic ones ---- */

static bool set(uint64_t *value, uint64_t argument, uint64_t condition)
{
    (void)condition;
    *value = argument;
    return true;
}

static bool set_if(uint64_t *value, uint64_t argument, uint64_t condition)
{
    if (*value != condition) {
        return false;
    }
    *value = argument;
    return true;
}

#define CHANGE(name, expression)                                                                   \
    static bool name(uint64_t *value, uint64_t argument, uint64_t condition)                       \
    {                                                                                              \
        (void)condition;                                                                           \
        *value = expression;                                                                       \
        return true;                                                                               \
    }
CHANGE(add, *value + argument)
CHANGE(sub, *value - argument)
CHANGE(and, *value &argument)
CHANGE(or, *value | argument)
CHANGE(xor, *value ^ argument)
CHANGE(nand, ~(*value &argument))

static uint64_t modify(volatile void *address, unsigned size, memory_change *change,
                       uint64_t argument, uint64_t condition, int order, int failure_order,
                       const void *place)
{
    schedule_point(ACCESS_WRITE, (uintptr_t)address, place);
    return memory_modify(address, size, change, argument, condition, order, failure_order, place);
}

#define MODIFY(bits, name, change)                                                                 \
    uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *address,                  \
                                                uint##bits##_t argument, int order)                \
    {                                                                                              \
        if (!schedule_is_on()) {                                                                   \
            uint64_t value     = *address;                                                         \
            uint##bits##_t old = *address;                                                         \
            change(&value, argument, 0);                                                           \
            *address = (uint##bits##_t)value;                                                      \
            return old;                                                                            \
        }                                                                                          \
        return (uint##bits##_t)modify(address, bits / 8, change, argument, 0, order, order,        \
                                      PLACE);                                                      \
    }

#define ATOMIC(bits)                                                                               \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *address, int order)   \
    {                                                                                              \
        if (!schedule_is_on()) {                                                                   \
            return *address;                                                                       \
        }                                                                                          \
        schedule_point(ACCESS_READ, (uintptr_t)address, PLACE);                                    \
        return (uint##bits##_t)memory_load(address, bits / 8, order, PLACE);                       \
    }                                                                                              \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t *address, uint##bits##_t value,       \
                                     int order)                                                    \
    {                                                                                              \
        if (!schedule_is_on()) {                                                                   \
            *address = value;                                                                      \
            return;                                                                                \
        }                                                                                          \
        schedule_point(ACCESS_WRITE, (uintptr_t)address, PLACE);                                   \
        memory_store(address, bits / 8, value, order, PLACE);                                      \
    }                                                                                              \
    MODIFY(bits, exchange, set)                                                                    \
    MODIFY(bits, fetch_add, add)                                                                   \
    MODIFY(bits, fetch_sub, sub)                                                                   \
    MODIFY(bits, fetch_and, and)                                                                   \
    MODIFY(bits, fetch_or, or)                                                                     \
    MODIFY(bits, fetch_xor, xor)                                                                   \
    MODIFY(bits, fetch_nand, nand)                                                                 \
    int __tsan_atomic##bits##_compare_exchange_strong(                                             \
        volatile uint##bits##_t *address, uint##bits##_t *expected, uint##bits##_t desired,        \
        int order, int failure_order)                                                              \
    {                                                                                              \
        uint##bits##_t condition = *expected;                                                      \
        uint##bits##_t old       = *address;                                                       \
        if (schedule_is_on()) {                                                                    \
            old = (uint##bits##_t)modify(address, bits / 8, set_if, desired, condition, order,     \
                                         failure_order, PLACE);                                    \
        } else if (old == condition) {                                                             \
            *address = desired;                                                                    \
        }                                                                                          \
        *expected = old;                                                                           \
        return old == condition;                                                                   \
    }                                                                                              \
    int __tsan_atomic##bits##_compare_exchange_weak(                                               \
        volatile uint##bits##_t *address, uint##bits##_t *expected, uint##bits##_t desired,        \
        int order, int failure_order)                                                              \
    {                                                                                              \
        return __tsan_atomic##bits##_compare_exchange_strong(address, expected, desired, order,    \
                                                             failure_order);                       \
    }
ATOMIC(8)
ATOMIC(16)
ATOMIC(32)
ATOMIC(64)

void __tsan_atomic_thread_fence(int order)
{
    if (schedule_is_on()) {
        schedule_point((order == __ATOMIC_SEQ_CST) ? ACCESS_WRITE : ACCESS_NONE, OBJECT_BARRIER,
                       PLACE);
        memory_order(order, PLACE);
    }
}

void __tsan_atomic_signal_fence(int order)
{
    (void)order;
}

/* ---- memory ---- */

void __real_free(void *);
void *__real_realloc(void *, size_t);
void *__real_mmap(void *, size_t, int, int, int, off_t);
void *__real_memset(void *, int, size_t);
void *__real_memcpy(void *, const void *, size_t);
void *__real_memmove(void *, const void *, size_t);

/* Freed memory stays, so that a later use is found. */
void __wrap_free(void *pointer)
{
    if ((pointer != NULL) && schedule_is_on()) {
        memory_free(pointer, malloc_usable_size(pointer), PLACE);
    } else {
        __real_free(pointer);
    }
}

void *__wrap_realloc(void *pointer, size_t size_bytes)
{
    void *memory;

    if (!schedule_is_on() || (pointer == NULL)) {
        return __real_realloc(pointer, size_bytes);
    }
    memory = malloc(size_bytes);
    if (memory != NULL) {
        size_t old = malloc_usable_size(pointer);

        __real_memcpy(memory, pointer, (old < size_bytes) ? old : size_bytes);
        memory_free(pointer, old, PLACE);
    }
    return memory;
}

void *__wrap_mmap(void *address, size_t size_bytes, int rights, int flags, int fd, off_t at)
{
    void *memory = __real_mmap(address, size_bytes, rights, flags, fd, at);

    if (schedule_is_on() && (memory != MAP_FAILED)) {
        memory_renew(memory, size_bytes);
    }
    return memory;
}

void *__wrap_memset(void *to, int byte, size_t size_bytes)
{
    plain(to, size_bytes, true, PLACE);
    return __real_memset(to, byte, size_bytes);
}

void *__wrap_memcpy(void *to, const void *from, size_t size_bytes)
{
    plain(from, size_bytes, false, PLACE);
    plain(to, size_bytes, true, PLACE);
    return __real_memcpy(to, from, size_bytes);
}

void *__wrap_memmove(void *to, const void *from, size_t size_bytes)
{
    plain(from, size_bytes, false, PLACE);
    plain(to, size_bytes, true, PLACE);
    return __real_memmove(to, from, size_bytes);
}

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

int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    return wait_for_condition(condition, mutex, false, PLACE);
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *until)
{
    (void)until;
    return wait_for_condition(condition, mutex, true, PLACE);
}

int __wrap_pthread_cond_signal(pthread_cond_t *condition)
{
    if (schedule_is_on()) {
        schedule_point(ACCESS_WRITE, (uintptr_t)condition, PLACE);
        wake(condition, 1);
    }
    return 0;
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *condition)
{
    if (schedule_is_on()) {
        schedule_point(ACCESS_WRITE, (uintptr_t)condition, PLACE);
        wake(condition, WAITERS_MAX);
    }
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

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*function)(void *), void *argument)
{
    if (!schedule_is_on()) {
        return __real_pthread_create(thread, attributes, function, argument);
    }
    schedule_point(ACCESS_NONE, 0, PLACE);
    *thread = (pthread_t)schedule_create(function, argument);
    return 0;
}

static bool has_ended(void *thread)
{
    return schedule_has_ended((unsigned)(uintptr_t)thread);
}

int __real_pthread_join(pthread_t, void **);

int __wrap_pthread_join(pthread_t thread, void **result_p)
{
    if (!schedule_is_on()) {
        return __real_pthread_join(thread, result_p);
    }
    schedule_wait(has_ended, (void *)(uintptr_t)thread, false, ACCESS_NONE, 0, PLACE);
    memory_refresh(schedule_self());
    return 0;
}

int __wrap_sched_yield(void)
{
    if (schedule_is_on()) {
        schedule_yield(PLACE);
    }
    return 0;
}

int __wrap_nanosleep(const struct timespec *duration, struct timespec *left)
{
    (void)duration;
    (void)left;
    return __wrap_sched_yield();
}

int __wrap_usleep(unsigned duration_us)
{
    (void)duration_us;
    return __wrap_sched_yield();
}

/* Time passes by steps: an execution repeats exactly. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    (void)clock;
    *now = (struct timespec){.tv_sec = 1000, .tv_nsec = schedule_is_on() ? execution->count : 0};
    return 0;
}
