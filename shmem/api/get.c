/* SPDX-License-Identifier: BSD-3-Clause */
/* get.c: shmem_get and its family: block, non-blocking, one element. */

#include "shmem/api/routine.h"
#include "shmem/rma.h"
#include "shmem/wait.h"

/* What is not mapped, what is wrong, what is checked. */
static __attribute__((noinline, cold)) void get_far(const char *call,
                                                    const struct memspan_context *context,
                                                    void *dest, const void *source,
                                                    size_t size_bytes, size_t element_bytes, int pe)
{
    if (memspan_job.checks) {
        memspan_check_get(call, dest, source, size_bytes, element_bytes, pe);
    }
    if (size_bytes <= sizeof(uint64_t)) {
        memspan_wait_poll_at(source);
    }
    memspan_get(call, context, dest, source, size_bytes, pe);
}

static __attribute__((noinline, cold)) void
get_nbi_far(const char *call, const struct memspan_context *context, void *dest, const void *source,
            size_t size_bytes, size_t element_bytes, int pe)
{
    if (memspan_job.checks) {
        memspan_check_get(call, dest, source, size_bytes, element_bytes, pe);
    }
    if (size_bytes <= sizeof(uint64_t)) {
        memspan_wait_poll_at(source);
    }
    memspan_get_nbi(call, context, dest, source, size_bytes, pe);
}

typedef void get_far_fn(const char *call, const struct memspan_context *context, void *dest,
                        const void *source, size_t size_bytes, size_t element_bytes, int pe);

static MEMSPAN_ALWAYS_INLINE void get_near(get_far_fn *far, const char *call,
                                           const struct memspan_context *context, void *dest,
                                           const void *source, size_t count, size_t element_bytes,
                                           int pe)
{
    size_t size_bytes = memspan_bytes_of(count, element_bytes);
    size_t word_bytes = (element_bytes == 1) ? 8 : element_bytes;
    unsigned index;
    const void *from = memspan_segment_peer(source, size_bytes, pe, &index);

    if (MEMSPAN_UNLIKELY((from == NULL) ||
                         (memspan_job.polls_yield | memspan_job.has_device_memory))) {
        far(call, context, dest, source, size_bytes, element_bytes, pe);
    } else if (MEMSPAN_LIKELY(size_bytes == word_bytes)) {
        memcpy(dest, from, word_bytes);
    } else {
        memspan_rma_copy(dest, from, size_bytes);
    }
}
#define get(...)     get_near(get_far, __VA_ARGS__)
#define get_nbi(...) get_near(get_nbi_far, __VA_ARGS__)

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

/* From this PE itself, or where PEs share processors: a program may do so in a loop for what others
 * put there, and these run now and then. */
static __attribute__((noinline)) void g_far(const char *call, const struct memspan_context *context,
                                            void *value, const void *source, size_t size_bytes,
                                            int pe)
{
    if (pe == memspan_job.pe) {
        memspan_wait_poll();
    }
    get_far(call, context, value, source, size_bytes, size_bytes, pe);
}

/* A load from the other PE's memory. */
#define G(NAME, TYPE, OP)                                                                          \
    static MEMSPAN_ALWAYS_INLINE TYPE g_##NAME(                                                    \
        const char *call, const struct memspan_context *context, const TYPE *source, int pe)       \
    {                                                                                              \
        unsigned index;                                                                            \
        const TYPE *from = memspan_segment_peer(source, sizeof(TYPE), pe, &index);                 \
        TYPE value;                                                                                \
                                                                                                   \
        if (MEMSPAN_LIKELY((from != NULL) && (pe != memspan_job.pe) &&                             \
                           !memspan_job.polls_yield)) {                                            \
            return *(const volatile TYPE *)from;                                                   \
        }                                                                                          \
        g_far(call, context, &value, source, sizeof(TYPE), pe);                                    \
        return value;                                                                              \
    }                                                                                              \
    MEMSPAN_ROUTINE_TWINS(TYPE, NAME##_##OP, return g_##NAME(MEMSPAN_CALL, context, source, pe),   \
                          const TYPE *source, int pe)
MEMSPAN_SHMEM_RMA_TYPES(G, g)
