/* SPDX-License-Identifier: BSD-3-Clause */
/* get.c: shmem_get and its family: block, non-blocking, one element. */

#include "shmem/api/routine.h"
#include "shmem/rma.h"
#include "shmem/wait.h"

static inline void get(const char *call, const struct memspan_context *context, void *dest,
                       const void *source, size_t count, size_t element_bytes, int pe)
{
    size_t size_bytes = memspan_bytes_of(count, element_bytes);

    if (MEMSPAN_UNLIKELY(memspan_job.checks)) {
        memspan_check_get(call, dest, source, size_bytes, element_bytes, pe);
    }
    memspan_get(context, dest, source, size_bytes, pe);
}

static inline void get_nbi(const char *call, const struct memspan_context *context, void *dest,
                           const void *source, size_t count, size_t element_bytes, int pe)
{
    size_t size_bytes = memspan_bytes_of(count, element_bytes);

    if (MEMSPAN_UNLIKELY(memspan_job.checks)) {
        memspan_check_get(call, dest, source, size_bytes, element_bytes, pe);
    }
    memspan_get_nbi(context, dest, source, size_bytes, pe);
}

#define GET(NAME, TYPE, OP)                                                                        \
    MEMSPAN_ROUTINE_TWINS(void, NAME##_##OP,                                                       \
                          OP(MEMSPAN_CALL, context, dest, source, nelems, sizeof(TYPE), pe),       \
                          TYPE *dest, const TYPE *source, size_t nelems, int pe)
#define GET_SIZE(BITS, OP, SUFFIX)                                                                 \
    MEMSPAN_ROUTINE_TWINS(void, OP##BITS##SUFFIX,                                                  \
                          OP##SUFFIX(MEMSPAN_CALL, context, dest, source, nelems, (BITS) / 8, pe), \
                          void *dest, const void *source, size_t nelems, int pe)
#define GET_MEM(OP)                                                                                \
    MEMSPAN_ROUTINE_TWINS(void, getmem##OP,                                                        \
                          get##OP(MEMSPAN_CALL, context, dest, source, nelems, 1, pe), void *dest, \
                          const void *source, size_t nelems, int pe)
MEMSPAN_SHMEM_RMA_TYPES(GET, get)
MEMSPAN_SHMEM_RMA_SIZES(GET_SIZE, get, )
GET_MEM()
MEMSPAN_SHMEM_RMA_TYPES(GET, get_nbi)
MEMSPAN_SHMEM_RMA_SIZES(GET_SIZE, get, _nbi)
GET_MEM(_nbi)

/* ---- one element ---- */

/* A load from the other PE's memory. A program may ask its own in a loop for what others put there.
 */
#define G(NAME, TYPE, OP)                                                                          \
    static inline TYPE g_##NAME(const char *call, const struct memspan_context *context,           \
                                const TYPE *source, int pe)                                        \
    {                                                                                              \
        unsigned index;                                                                            \
        const TYPE *from = memspan_segment_peer(source, sizeof(TYPE), pe, &index);                 \
        TYPE value;                                                                                \
                                                                                                   \
        if (MEMSPAN_LIKELY((from != NULL) && !memspan_job.checks)) {                               \
            value = *(const volatile TYPE *)from;                                                  \
            if (MEMSPAN_UNLIKELY(pe == memspan_job.pe)) {                                          \
                memspan_wait_poll();                                                               \
            }                                                                                      \
            return value;                                                                          \
        }                                                                                          \
        get(call, context, &value, source, 1, sizeof(TYPE), pe);                                   \
        return value;                                                                              \
    }                                                                                              \
    MEMSPAN_ROUTINE_TWINS(TYPE, NAME##_##OP, return g_##NAME(MEMSPAN_CALL, context, source, pe),   \
                          const TYPE *source, int pe)
MEMSPAN_SHMEM_RMA_TYPES(G, g)
