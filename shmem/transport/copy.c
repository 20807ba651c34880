/* SPDX-License-Identifier: BSD-3-Clause */
/* copy.c: stores of 64 bytes, aligned in the destination. The first and the last block overlap the
 * loop's, so that no length needs a tail; they are read before anything is written. */

#include "shmem/transport/copy.h"

#if defined(__x86_64__)
#include <immintrin.h>

enum { LINE = 64, ROUND = 4 * LINE };

__attribute__((target("avx512f"))) static void copy_512(char *to, const char *from, size_t size)
{
    char *end      = to + size;
    size_t skipped = LINE - ((uintptr_t)to & (LINE - 1));
    __m512i first  = _mm512_loadu_si512(from);
    __m512i last[ROUND / LINE];

    for (int i = 0; i < ROUND / LINE; i++) {
        last[i] = _mm512_loadu_si512(from + size - (size_t)(i + 1) * LINE);
    }
    _mm512_storeu_si512(to, first);
    to += skipped;
    from += skipped;
    for (; end - to > ROUND; to += ROUND, from += ROUND) {
        __m512i a = _mm512_loadu_si512(from);
        __m512i b = _mm512_loadu_si512(from + LINE);
        __m512i c = _mm512_loadu_si512(from + 2 * LINE);
        __m512i d = _mm512_loadu_si512(from + 3 * LINE);
        _mm512_store_si512(to, a);
        _mm512_store_si512(to + LINE, b);
        _mm512_store_si512(to + 2 * LINE, c);
        _mm512_store_si512(to + 3 * LINE, d);
    }
    for (int i = 0; i < ROUND / LINE; i++) {
        _mm512_storeu_si512(end - (size_t)(i + 1) * LINE, last[i]);
    }
}

void msp_copy_wide(void *to, const void *from, size_t size_bytes)
{
    if (__builtin_cpu_supports("avx512f")) {
        copy_512(to, from, size_bytes);
    } else {
        memcpy(to, from, size_bytes);
    }
}

#else

void msp_copy_wide(void *to, const void *from, size_t size_bytes)
{
    memcpy(to, from, size_bytes);
}

#endif
