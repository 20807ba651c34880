/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.c: what OpenSHMEM's code calls. Its sources are compiled as they are with
 * -fsanitize=thread, so that each of its atomic operations is a call, and a step; calls of the C
 * library come here by the linker's --wrap. */

#include "shmem/control/doorbell.h"
#include "shmem/control/wait.h"
#include "simulate.h"
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PLACE __builtin_return_address(0)

/* The compiler's and the linker's names have no prototypes anywhere. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* ---- memory ---- */

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

#define PLAIN(name)                                                                                \
    void __tsan_##name(void *address)                                                              \
    {                                                                                              \
        (void)address;                                                                             \
    }
#define PLAINS(size)                                                                               \
    PLAIN(read##size) PLAIN(write##size) PLAIN(unaligned_read##size) PLAIN(unaligned_write##size)
PLAINS(1)
PLAINS(2)
PLAINS(4)
PLAINS(8)
PLAINS(16)

void __tsan_read_range(void *address, size_t size_bytes)
{
    (void)address;
    (void)size_bytes;
}

void __tsan_write_range(void *address, size_t size_bytes)
{
    (void)address;
    (void)size_bytes;
}

/* One thread runs at a time, so that each order is the strongest. */
#define MODIFY(bits, name)                                                                         \
    uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *address,                  \
                                                uint##bits##_t argument, int order)                \
    {                                                                                              \
        (void)order;                                                                               \
        sim_point(PLACE);                                                                          \
        return __atomic_##name(address, argument, __ATOMIC_SEQ_CST);                               \
    }

#define COMPARE(bits, strength)                                                                    \
    int __tsan_atomic##bits##_compare_exchange_##strength(                                         \
        volatile uint##bits##_t *address, uint##bits##_t *expected, uint##bits##_t desired,        \
        int order, int failure_order)                                                              \
    {                                                                                              \
        (void)order;                                                                               \
        (void)failure_order;                                                                       \
        sim_point(PLACE);                                                                          \
        return __atomic_compare_exchange_n(address, expected, desired, false, __ATOMIC_SEQ_CST,    \
                                           __ATOMIC_SEQ_CST);                                      \
    }

#define ATOMIC(bits)                                                                               \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *address, int order)   \
    {                                                                                              \
        (void)order;                                                                               \
        sim_point(PLACE);                                                                          \
        return __atomic_load_n(address, __ATOMIC_SEQ_CST);                                         \
    }                                                                                              \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t *address, uint##bits##_t value,       \
                                     int order)                                                    \
    {                                                                                              \
        (void)order;                                                                               \
        sim_point(PLACE);                                                                          \
        __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                        \
    }                                                                                              \
    uint##bits##_t __tsan_atomic##bits##_exchange(volatile uint##bits##_t *address,                \
                                                  uint##bits##_t value, int order)                 \
    {                                                                                              \
        (void)order;                                                                               \
        sim_point(PLACE);                                                                          \
        return __atomic_exchange_n(address, value, __ATOMIC_SEQ_CST);                              \
    }                                                                                              \
    MODIFY(bits, fetch_add)                                                                        \
    MODIFY(bits, fetch_sub)                                                                        \
    MODIFY(bits, fetch_and)                                                                        \
    MODIFY(bits, fetch_or)                                                                         \
    MODIFY(bits, fetch_xor)                                                                        \
    MODIFY(bits, fetch_nand)                                                                       \
    COMPARE(bits, strong)                                                                          \
    COMPARE(bits, weak)
ATOMIC(8)
ATOMIC(16)
ATOMIC(32)
ATOMIC(64)

void __tsan_atomic_thread_fence(int order)
{
    (void)order;
    sim_point(PLACE);
}

void __tsan_atomic_signal_fence(int order)
{
    (void)order;
}

void *__real_memcpy(void *, const void *, size_t);
void *__real_memmove(void *, const void *, size_t);

void *__wrap_memcpy(void *to, const void *from, size_t size_bytes)
{
    sim_point(PLACE);
    return __real_memcpy(to, from, size_bytes);
}

void *__wrap_memmove(void *to, const void *from, size_t size_bytes)
{
    sim_point(PLACE);
    return __real_memmove(to, from, size_bytes);
}

/* ---- what is waited for: an address of this process, or a place of a file ---- */

enum { MAPS_MAX = 64, EVENTS = 1 /* in place of an address: of any descriptor */ };

static struct map {
    uintptr_t first, end;
    uint64_t inode;
    uint64_t offset;
} maps[MAPS_MAX];

static uint64_t own_key(const volatile void *address)
{
    return ((uint64_t)(sim_pe() + 1) << 56) ^ (uint64_t)(uintptr_t)address;
}

static uint64_t key_of(const void *address)
{
    uintptr_t at = (uintptr_t)address;
    int i;

    for (i = 0; i < MAPS_MAX; i++) {
        if ((at >= maps[i].first) && (at < maps[i].end)) {
            return (UINT64_C(255) << 56) ^ (maps[i].inode << 32) ^
                   (maps[i].offset + (at - maps[i].first));
        }
    }
    return own_key(address);
}

void *__real_mmap(void *, size_t, int, int, int, off_t);
int __real_munmap(void *, size_t);

void *__wrap_mmap(void *address, size_t size_bytes, int rights, int flags, int fd, off_t at)
{
    void *memory = __real_mmap(address, size_bytes, rights, flags, fd, at);
    struct stat facts;
    int i;

    if (((flags & MAP_SHARED) == 0) || (memory == MAP_FAILED) || (fstat(fd, &facts) != 0)) {
        return memory;
    }
    for (i = 0; i < MAPS_MAX; i++) {
        if (maps[i].end == 0) {
            maps[i] = (struct map){(uintptr_t)memory, (uintptr_t)memory + size_bytes, facts.st_ino,
                                   (uint64_t)at};
            break;
        }
    }
    return memory;
}

int __wrap_munmap(void *address, size_t size_bytes)
{
    int i;

    for (i = 0; i < MAPS_MAX; i++) {
        if ((maps[i].first >= (uintptr_t)address) &&
            (maps[i].end <= (uintptr_t)address + size_bytes)) {
            maps[i] = (struct map){0};
        }
    }
    return __real_munmap(address, size_bytes);
}

/* ---- time ---- */

#define START_S 1000

static uint64_t after(const struct timespec *duration)
{
    return (duration == NULL)
               ? SIM_NEVER
               : sim->now_ns + (uint64_t)duration->tv_sec * SIM_S + (uint64_t)duration->tv_nsec;
}

int __real_clock_gettime(clockid_t, struct timespec *);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
    if (!sim_is_on()) {
        return __real_clock_gettime(clock, time);
    }
    sim_point(PLACE);
    time->tv_sec  = START_S + (time_t)(sim->now_ns / SIM_S);
    time->tv_nsec = (long)(sim->now_ns % SIM_S);
    return 0;
}

int __real_nanosleep(const struct timespec *, struct timespec *);
int __wrap_nanosleep(const struct timespec *duration, struct timespec *left)
{
    if (!sim_is_on()) {
        return __real_nanosleep(duration, left);
    }
    (void)sim_wait(0, after(duration), false, PLACE);
    return 0;
}

unsigned __wrap_sleep(unsigned seconds)
{
    sim_sleep(seconds * SIM_S);
    return 0;
}

int __wrap_sched_yield(void)
{
    sim_yield(PLACE);
    return 0;
}

int __wrap_sched_getcpu(void)
{
    return (sim_pe() < 0) ? 0 : sim_pe() % (int)sim->profile.processors;
}

int __wrap_sched_getaffinity(pid_t pid, size_t size_bytes, cpu_set_t *set)
{
    unsigned i;

    (void)pid;
    memset(set, 0, size_bytes);
    for (i = 0; i < sim->profile.processors; i++) {
        CPU_SET(i, set);
    }
    return 0;
}

ssize_t __wrap_getrandom(void *bytes, size_t size_bytes, unsigned flags)
{
    unsigned char *to = bytes;
    size_t i;

    (void)flags;
    for (i = 0; i < size_bytes; i++) {
        to[i] = (unsigned char)sim_draw(256);
    }
    return (ssize_t)size_bytes;
}

/* ---- locks ---- */

int __real_pthread_mutex_lock(pthread_mutex_t *);
int __real_pthread_mutex_trylock(pthread_mutex_t *);
int __real_pthread_mutex_unlock(pthread_mutex_t *);

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    int status;

    if (!sim_is_on()) {
        return __real_pthread_mutex_lock(mutex);
    }
    sim_point(PLACE);
    while ((status = __real_pthread_mutex_trylock(mutex)) == EBUSY) {
        (void)sim_wait(own_key(mutex), SIM_NEVER, false, PLACE);
    }
    return status;
}

int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    sim_point(PLACE);
    return __real_pthread_mutex_trylock(mutex);
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    int status = __real_pthread_mutex_unlock(mutex);

    if (sim_is_on()) {
        sim_wake(own_key(mutex), UINT_MAX);
        sim_point(PLACE);
    }
    return status;
}

int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    (void)__real_pthread_mutex_unlock(mutex);
    sim_wake(own_key(mutex), UINT_MAX);
    (void)sim_wait(own_key(condition), SIM_NEVER, false, PLACE);
    return __wrap_pthread_mutex_lock(mutex);
}

int __wrap_pthread_cond_signal(pthread_cond_t *condition)
{
    sim_wake(own_key(condition), 1);
    sim_point(PLACE);
    return 0;
}

int __wrap_pthread_once(pthread_once_t *once, void (*function)(void))
{
    enum { RUNS = 1, OVER = 2 };

    sim_point(PLACE);
    while (*once == RUNS) {
        (void)sim_wait(own_key(once), SIM_NEVER, false, PLACE);
    }
    if (*once != OVER) {
        *once = RUNS;
        function();
        *once = OVER;
        sim_wake(own_key(once), UINT_MAX);
    }
    return 0;
}

/* ---- threads ---- */

struct start {
    void *(*function)(void *);
    void *argument;
    int slot;
};

static pthread_t handles[SIM_THREADS];
static pthread_key_t end_key;
static pthread_once_t end_once = PTHREAD_ONCE_INIT;

int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __real_pthread_once(pthread_once_t *, void (*)(void));
int __real_pthread_join(pthread_t, void **);

/* After the destructors of the product's keys: the system calls those that are set again. */
static void end(void *round)
{
    if ((uintptr_t)round < 3) {
        pthread_setspecific(end_key, (void *)((uintptr_t)round + 1));
    } else {
        sim_end_thread();
    }
}

static void make_end_key(void)
{
    (void)pthread_key_create(&end_key, end);
}

static void *run(void *start_p)
{
    struct start start = *(struct start *)start_p;

    free(start_p);
    sim_adopt(start.slot);
    pthread_setspecific(end_key, (void *)1);
    return start.function(start.argument);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*function)(void *), void *argument)
{
    struct start *start = malloc(sizeof *start);
    int slot            = sim_add_thread(sim_pe());
    int status;

    __real_pthread_once(&end_once, make_end_key);
    *start = (struct start){function, argument, slot};
    status = __real_pthread_create(thread, attributes, run, start);
    SIM_EXPECT(status == 0, "no thread could be started");
    handles[slot] = *thread;
    sim_point(PLACE);
    return status;
}

static int join(pthread_t thread, void **result_p, uint64_t until_ns)
{
    int slot = 1;

    while (!pthread_equal(handles[slot], thread) || (sim->threads[slot].pe != sim_pe())) {
        slot++;
    }
    while (sim->threads[slot].state != SIM_ENDED) {
        if (!sim_wait((uint64_t)(uintptr_t)&sim->threads[slot], until_ns, false, PLACE)) {
            return ETIMEDOUT;
        }
    }
    sim->threads[slot].state = SIM_FREE;
    handles[slot]            = 0;
    return __real_pthread_join(thread, result_p);
}

int __wrap_pthread_join(pthread_t thread, void **result_p)
{
    return join(thread, result_p, SIM_NEVER);
}

int __wrap_pthread_timedjoin_np(pthread_t thread, void **result_p, const struct timespec *until)
{
    return join(thread, result_p,
                (uint64_t)(until->tv_sec - START_S) * SIM_S + (uint64_t)until->tv_nsec);
}

int sim_thread_start(pthread_t *thread, void *(*function)(void *), void *argument)
{
    return __wrap_pthread_create(thread, NULL, function, argument);
}

void sim_thread_join(pthread_t thread)
{
    (void)join(thread, NULL, SIM_NEVER);
}

/* ---- the kernel ---- */

long __real_syscall(long number, ...);

static long futex(uint32_t *word, int operation, uint32_t value, const struct timespec *limit)
{
    const bool is_own  = ((operation & FUTEX_PRIVATE_FLAG) != 0);
    const uint64_t key = is_own ? own_key(word) : key_of(word);

    sim_point(PLACE);
    if ((operation & FUTEX_CMD_MASK) == FUTEX_WAKE) {
        sim_wake(key, value);
        return 0;
    }
    if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != value) {
        errno = EAGAIN;
        return -1;
    }
    if (!sim_wait(key, after(limit), false, PLACE)) {
        errno = ETIMEDOUT;
        return -1;
    }
    return 0;
}

long __wrap_syscall(long number, ...)
{
    va_list arguments;
    long a[6];
    int i;

    va_start(arguments, number);
    for (i = 0; i < 6; i++) {
        a[i] = va_arg(arguments, long);
    }
    va_end(arguments);
    if (!sim_is_on()) {
        return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    }
    if (number == SYS_futex) {
        return futex((uint32_t *)a[0], (int)a[1], (uint32_t)a[2], (const struct timespec *)a[3]);
    }
    if (number == SYS_membarrier) {
        sim_point(PLACE);
        errno = ENOSYS;
        return sim->profile.has_membarrier ? 0 : -1;
    }
    return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int __real_ppoll(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);

static int look(struct pollfd *fds, nfds_t count, bool *sees_network_p)
{
    const struct timespec now = {0, 0};
    struct pollfd real[4];
    int found = 0;
    nfds_t i;

    SIM_EXPECT(count <= 4, "ppoll() of %lu descriptors", (unsigned long)count);
    __real_memcpy(real, fds, count * sizeof *fds);
    for (i = 0; i < count; i++) {
        if ((fds[i].fd == sim_network_fd) && (sim_network_fd >= 0)) {
            real[i].fd      = -1;
            *sees_network_p = true;
        }
    }
    found = __real_ppoll(real, count, &now, NULL);
    for (i = 0; i < count; i++) {
        fds[i].revents = (real[i].fd == -1) ? 0 : real[i].revents;
        if ((fds[i].fd != real[i].fd) && (sim_network_due(sim_pe()) <= sim->now_ns)) {
            fds[i].revents = POLLIN;
            found++;
        }
    }
    return found;
}

int __wrap_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *limit,
                 const sigset_t *signals)
{
    const uint64_t until_ns = after(limit);
    bool sees_network       = false;
    int found;

    (void)signals;
    sim_point(PLACE);
    while (((found = look(fds, count, &sees_network)) == 0) && (sim->now_ns < until_ns)) {
        (void)sim_wait(own_key((void *)EVENTS), until_ns, sees_network, PLACE);
    }
    return found;
}

ssize_t __real_write(int, const void *, size_t);
ssize_t __wrap_write(int fd, const void *data, size_t size_bytes)
{
    ssize_t written = (ssize_t)size_bytes;

    if (!sim_is_on()) {
        return __real_write(fd, data, size_bytes);
    }
    if (fd == STDERR_FILENO) {
        sim_say(data, size_bytes);
    } else {
        written = __real_write(fd, data, size_bytes);
        sim_wake(own_key((void *)EVENTS), UINT_MAX);
    }
    sim_point(PLACE);
    return written;
}

/* The launcher is told that the job is to end. It may be slow. */
int __real_kill(pid_t, int);
int __wrap_kill(pid_t pid, int signal)
{
    if (sim_is_on() && (signal == SIGCHLD) && (pid == getppid())) {
        if (!sim->is_told_to_end) {
            sim->is_told_to_end = true;
            sim->abort_ns = sim->now_ns + sim_draw((sim_draw(4) == 0) ? 4 * SIM_S : 50 * SIM_MS);
        }
        return 0;
    }
    return __real_kill(pid, signal);
}

void __wrap__exit(int status)
{
    sim_end_process(status);
}

/* ---- lost notifications ---- */

/* Nothing was under way in the whole job, the time limit of this wait ended, and now it is over
 * without a step of another thread: what it waited for had been there, and no thread has notified
 * it. */
void __real_msp_wait_end(struct msp_waiter *waiter);
void __wrap_msp_wait_end(struct msp_waiter *waiter)
{
    if (waiter->announced && !waiter->is_unnotified && msp_doorbells.is_ordered && sim_is_on() &&
        (sim->alone == sim->current) && (sim->packets == 0)) {
        sim_fail("a notification is lost: only a time limit ends a wait of PE %d, at %s", sim_pe(),
                 sim_place(PLACE));
    }
    __real_msp_wait_end(waiter);
}
