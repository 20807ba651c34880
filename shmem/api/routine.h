/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_API_ROUTINE_H
#define MEMSPAN_SHMEM_API_ROUTINE_H

/* How the exported names are made: a routine is defined once as pshmem_x, and shmem_x is a weak
 * second name of it, which a profiling tool may define itself. Prototypes come from the same lists
 * as in the public headers, without the selecting macros of C11.
 *
 * Bodies are thin. What is called all the time has its fast path inline here; everything that is
 * wrong takes the slow path, or is found by the checked mode (check.h) behind one branch. */

#include "shmem/api/check.h"
#include "shmem/context.h"
#include <pshmem.h>
#include <shmem/routines.h>

#define MEMSPAN_ROUTINE(result, name, ...)                                                         \
    MEMSPAN_API result name(__VA_ARGS__) __attribute__((weak, alias("p" #name)));                  \
    result p##name(__VA_ARGS__)

/* What the routine is called, in messages. */
#define MEMSPAN_CALL (&__func__[1])

/* A routine and its twin: the statement sees the context, and in pe the world's number. */
#define MEMSPAN_ROUTINE_TWINS(result, name, statement, ...)                                        \
    MEMSPAN_ROUTINE(result, shmem_##name, __VA_ARGS__)                                             \
    {                                                                                              \
        const struct memspan_context *context = memspan_context_default();                         \
        statement;                                                                                 \
    }                                                                                              \
    MEMSPAN_ROUTINE(result, shmem_ctx_##name, shmem_ctx_t ctx, __VA_ARGS__)                        \
    {                                                                                              \
        const struct memspan_context *context = memspan_context_of(ctx);                           \
        if (MEMSPAN_UNLIKELY(memspan_job.checks)) {                                                \
            memspan_check_context(MEMSPAN_CALL, ctx, pe);                                          \
        }                                                                                          \
        if (MEMSPAN_UNLIKELY((unsigned)pe >= (unsigned)context->size)) {                           \
            memspan_refuse_context(MEMSPAN_CALL, ctx, pe);                                         \
        }                                                                                          \
        pe = memspan_context_pe(context, pe);                                                      \
        statement;                                                                                 \
    }

/* Bytes of that many elements (of 32 bytes at most); when they are more than there can be, a number
 * that no segment has room for. */
static MEMSPAN_ALWAYS_INLINE size_t memspan_bytes_of(size_t count, size_t element_bytes)
{
    return MEMSPAN_UNLIKELY((count >> 48) != 0) ? SIZE_MAX : (count * element_bytes);
}

#endif /* MEMSPAN_SHMEM_API_ROUTINE_H */
