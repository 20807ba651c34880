/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_BASE_PLATFORM_H
#define MEMSPAN_CORE_BASE_PLATFORM_H

/* Differences between compilers and processors, in one place. */

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#if !defined(__GLIBC__) || !defined(__BYTE_ORDER__) || (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
#error "Memspan needs the GNU C library and a little-endian processor"
#endif

#define MSP_LIKELY(x)   __builtin_expect(!!(x), 1)
#define MSP_UNLIKELY(x) __builtin_expect(!!(x), 0)
/* For the compiler: it holds. */
#define MSP_ASSUME(condition)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            __builtin_unreachable();                                                               \
        }                                                                                          \
    } while (0)

/* Of functions that are a few instructions of another one, against the compiler's own choice. */
#define MSP_ALWAYS_INLINE inline __attribute__((always_inline))

/* Of variables that the fast paths read: without it, a declaration alone is reached by way of a
 * table, because it might be in another library. */
#define MSP_HIDDEN __attribute__((visibility("hidden")))

#define MSP_CACHE_LINE_BYTES 64

/* Of functions of a few ns: where in a cache line their code begins decides about a tenth of it. */
#define MSP_LINE_ALIGNED __attribute__((aligned(MSP_CACHE_LINE_BYTES)))

/* Of large arrays that most processes never touch: they stand behind all small variables, which
 * then share a few pages. A page costs 2 us at its first touch. */
#define MSP_SPARSE __attribute__((section(".bss.memspan_sparse")))

_Static_assert(sizeof(uintptr_t) == 8, "addresses and OpenMP handles are 64 bits wide");

/* True where memspan_check() style self tests run after every change (asan, tsan and dev builds).
 */
#ifdef NDEBUG
static const bool msp_debug = false;
#else
static const bool msp_debug = true;
#endif

/* An invariant; debug builds check it. */
#ifdef NDEBUG
#define MSP_ASSERT(truth) ((void)0)
#else
#define MSP_ASSERT(truth) assert(truth)
#endif

static inline bool msp_is_power_of_two(size_t n)
{
    return (n != 0) && ((n & (n - 1)) == 0);
}

/* n rounded up to a multiple of a power of two; 0 when that overflows (n > 0). */
static inline size_t msp_round_up(size_t n, size_t power_of_two)
{
    size_t mask = power_of_two - 1;
    return (n > SIZE_MAX - mask) ? 0 : ((n + mask) & ~mask);
}

/* Size of a base page, read once. Two threads may both read it; they get the same value. */
static inline size_t msp_page_size(void)
{
    static size_t page_size;
    size_t size = __atomic_load_n(&page_size, __ATOMIC_RELAXED);

    if (MSP_UNLIKELY(size == 0)) {
        size = (size_t)sysconf(_SC_PAGESIZE);
        __atomic_store_n(&page_size, size, __ATOMIC_RELAXED);
    }
    return size;
}

#endif /* MEMSPAN_CORE_BASE_PLATFORM_H */
