/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_API_ROUTINE_H
#define MEMSPAN_SHMEM_API_ROUTINE_H

/* How the exported names are made: a routine is defined once as pshmem_x, and shmem_x is a weak
 * second name of it, which a profiling tool may define itself. Prototypes come from the same lists
 * as in the public headers, without the selecting macros of C11.
 *
 * Bodies are thin. Fast paths are inline; wrong arguments take the slow path, or are found by the
 * checked mode (check.h) behind one branch. */

#include "shmem/api/check.h"
#include "shmem/context.h"
#include <pshmem.h>
#include <shmem/routines.h>

#define MSP_ROUTINE(result, name, ...)                                                             \
    MEMSPAN_API result name(__VA_ARGS__) __attribute__((weak, alias("p" #name)));                  \
    result p##name(__VA_ARGS__)

/* The routine's name, for messages. */
#define MSP_CALL (&__func__[1])

/* A routine and its twin: the statement sees the context, and in pe the world's number. */
#define MSP_ROUTINE_TWINS(result, name, statement, ...)                                            \
    MSP_ROUTINE(result, shmem_##name, __VA_ARGS__)                                                 \
    {                                                                                              \
        const struct msp_context *context = msp_context_default();                                 \
        statement;                                                                                 \
    }                                                                                              \
    MSP_ROUTINE(result, shmem_ctx_##name, shmem_ctx_t ctx, __VA_ARGS__)                            \
    {                                                                                              \
        const struct msp_context *context = msp_context_of(ctx);                                   \
        if (MSP_UNLIKELY(msp_job.checks)) {                                                        \
            msp_check_context(MSP_CALL, ctx, pe);                                                  \
        }                                                                                          \
        if (MSP_UNLIKELY((unsigned)pe >= (unsigned)context->size) &&                               \
            ((unsigned)pe >= (unsigned)msp_context_size(context))) {                               \
            msp_refuse_context(MSP_CALL, ctx, pe);                                                 \
        }                                                                                          \
        pe = msp_context_pe(context, pe);                                                          \
        statement;                                                                                 \
    }

/* Bytes of that many elements (of 32 bytes at most); SIZE_MAX, which fits no segment, for more than
 * an address space holds. */
static MSP_ALWAYS_INLINE size_t msp_bytes_of(size_t count, size_t element_bytes)
{
    return MSP_UNLIKELY((count >> 48) != 0) ? SIZE_MAX : (count * element_bytes);
}

#endif /* MEMSPAN_SHMEM_API_ROUTINE_H */
