/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.c: what the product calls, and what the compiler makes of its memory accesses.
 *
 * The product's sources are compiled as they are, with -fsanitize=thread, and linked with these
 * functions in place of the sanitizer's (their names and arguments are those of GCC's and Clang's
 * ThreadSanitizer runtime, tsan_interface.h and tsan_interface_atomic.h). Calls of the C library
 * come here, and to waits.c, by the linker's --wrap. */

#include "memory.h"
#include "schedule.h"
#include "weaken.h"
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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
    return memory_modify(address, size, change, argument, condition,
                         weaken(place, WEAK_UPDATE, order),
                         weaken(place, WEAK_FAILURE, failure_order), place);
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
        return (uint##bits##_t)modify(address, bits / 8, change, argument, 0, order,               \
                                      __ATOMIC_RELAXED, PLACE);                                    \
    }

#define ATOMIC(bits)                                                                               \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *address, int order)   \
    {                                                                                              \
        if (!schedule_is_on()) {                                                                   \
            return *address;                                                                       \
        }                                                                                          \
        schedule_point(ACCESS_READ, (uintptr_t)address, PLACE);                                    \
        return (uint##bits##_t)memory_load(address, bits / 8, weaken(PLACE, WEAK_LOAD, order),     \
                                           PLACE);                                                 \
    }                                                                                              \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t *address, uint##bits##_t value,       \
                                     int order)                                                    \
    {                                                                                              \
        if (!schedule_is_on()) {                                                                   \
            *address = value;                                                                      \
            return;                                                                                \
        }                                                                                          \
        schedule_point(ACCESS_WRITE, (uintptr_t)address, PLACE);                                   \
        memory_store(address, bits / 8, value, weaken(PLACE, WEAK_STORE, order), PLACE);           \
    }                                                                                              \
    MODIFY(bits, exchange, set)                                                                    \
    MODIFY(bits, fetch_add, add)                                                                   \
    MODIFY(bits, fetch_sub, sub)                                                                   \
    MODIFY(bits, fetch_and, and)                                                                   \
    MODIFY(bits, fetch_or, or)                                                                     \
    MODIFY(bits, fetch_xor, xor)                                                                   \
    MODIFY(bits, fetch_nand, nand)                                                                 \
    static int compare_exchange##bits(volatile uint##bits##_t *address, uint##bits##_t *expected,  \
                                      uint##bits##_t desired, int order, int failure_order,        \
                                      const void *place)                                           \
    {                                                                                              \
        uint##bits##_t condition = *expected;                                                      \
        uint##bits##_t old       = *address;                                                       \
        if (schedule_is_on()) {                                                                    \
            old = (uint##bits##_t)modify(address, bits / 8, set_if, desired, condition, order,     \
                                         failure_order, place);                                    \
        } else if (old == condition) {                                                             \
            *address = desired;                                                                    \
        }                                                                                          \
        *expected = old;                                                                           \
        return old == condition;                                                                   \
    }                                                                                              \
    int __tsan_atomic##bits##_compare_exchange_strong(                                             \
        volatile uint##bits##_t *address, uint##bits##_t *expected, uint##bits##_t desired,        \
        int order, int failure_order)                                                              \
    {                                                                                              \
        return compare_exchange##bits(address, expected, desired, order, failure_order, PLACE);    \
    }                                                                                              \
    int __tsan_atomic##bits##_compare_exchange_weak(                                               \
        volatile uint##bits##_t *address, uint##bits##_t *expected, uint##bits##_t desired,        \
        int order, int failure_order)                                                              \
    {                                                                                              \
        return compare_exchange##bits(address, expected, desired, order, failure_order, PLACE);    \
    }
ATOMIC(8)
ATOMIC(16)
ATOMIC(32)
ATOMIC(64)

void __tsan_atomic_thread_fence(int order)
{
    if (schedule_is_on()) {
        order = weaken(PLACE, WEAK_BARRIER, order);
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
        schedule_point(ACCESS_READ, (uintptr_t)pointer, PLACE); /* a fork, before it is noted */
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
