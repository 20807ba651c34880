/* SPDX-License-Identifier: BSD-3-Clause */
/* get.c: shmem_get and its family: block, non-blocking, one element. */

#include "shmem/api/routine.h"
#include "shmem/control/wait.h"
#include "shmem/transport/rma.h"

/* Memory that is not mapped, wrong arguments, the checked mode. */
static __attribute__((noinline, cold)) void get_far(const char *call,
                                                    const struct msp_context *context, void *dest,
                                                    const void *source, size_t size_bytes,
                                                    size_t element_bytes, int pe)
{
    if (msp_job.checks) {
        msp_check_get(call, dest, source, size_bytes, element_bytes, pe);
    }
    if (size_bytes <= sizeof(uint64_t)) {
        msp_wait_poll_at(source, pe);
    }
    msp_get(call, context, dest, source, size_bytes, pe, 0);
}

static __attribute__((noinline, cold)) void
get_nbi_far(const char *call, const struct msp_context *context, void *dest, const void *source,
            size_t size_bytes, size_t element_bytes, int pe)
{
    if (msp_job.checks) {
        msp_check_get(call, dest, source, size_bytes, element_bytes, pe);
    }
    if (size_bytes <= sizeof(uint64_t)) {
        msp_wait_poll_at(source, pe);
    }
    msp_get(call, context, dest, source, size_bytes, pe, MSP_OP_NONBLOCKING);
}

typedef void get_far_fn(const char *call, const struct msp_context *context, void *dest,
                        const void *source, size_t size_bytes, size_t element_bytes, int pe);

static MSP_ALWAYS_INLINE void get_near(get_far_fn *far, const char *call,
                                       const struct msp_context *context, void *dest,
                                       const void *source, size_t count, size_t element_bytes,
                                       int pe)
{
    size_t size_bytes = msp_bytes_of(count, element_bytes);
    size_t word_bytes = (element_bytes == 1) ? 8 : element_bytes;
    unsigned index;
    const void *from = msp_peer_resolve(source, size_bytes, pe, &index);

    if (MSP_UNLIKELY((from == NULL) || (msp_job.polls_yield | msp_job.has_device_memory))) {
        far(call, context, dest, source, size_bytes, element_bytes, pe);
    } else if (MSP_LIKELY(size_bytes == word_bytes)) {
        memcpy(dest, from, word_bytes);
        msp_rma_got();
    } else {
        msp_rma_copy(dest, from, size_bytes);
        msp_rma_got();
    }
}
#define get(...)     get_near(get_far, __VA_ARGS__)
#define get_nbi(...) get_near(get_nbi_far, __VA_ARGS__)

#define GET(NAME, TYPE, OP)                                                                        \
    MSP_ROUTINE_TWINS(void, NAME##_##OP,                                                           \
                      OP(MSP_CALL, context, dest, source, nelems, sizeof(TYPE), pe), TYPE *dest,   \
                      const TYPE *source, size_t nelems, int pe)
#define GET_SIZE(BITS, OP, SUFFIX)                                                                 \
    MSP_ROUTINE_TWINS(void, OP##BITS##SUFFIX,                                                      \
                      OP##SUFFIX(MSP_CALL, context, dest, source, nelems, (BITS) / 8, pe),         \
                      void *dest, const void *source, size_t nelems, int pe)
#define GET_MEM(OP)                                                                                \
    MSP_ROUTINE_TWINS(void, getmem##OP, get##OP(MSP_CALL, context, dest, source, nelems, 1, pe),   \
                      void *dest, const void *source, size_t nelems, int pe)
MEMSPAN_SHMEM_RMA_TYPES(GET, get)
MEMSPAN_SHMEM_RMA_SIZES(GET_SIZE, get, )
GET_MEM()
MEMSPAN_SHMEM_RMA_TYPES(GET, get_nbi)
MEMSPAN_SHMEM_RMA_SIZES(GET_SIZE, get, _nbi)
GET_MEM(_nbi)

/* ---- one element ---- */

/* From this PE itself, or where PEs are oversubscribed: a program may poll a word that others put
 * there, so they are let run now and then. */
static __attribute__((noinline)) void g_far(const char *call, const struct msp_context *context,
                                            void *value, const void *source, size_t size_bytes,
                                            int pe)
{
    if (pe == msp_job.pe) {
        msp_wait_poll();
    }
    get_far(call, context, value, source, size_bytes, size_bytes, pe);
}

/* A load from the other PE's memory. */
#define G(NAME, TYPE, OP)                                                                          \
    static MSP_ALWAYS_INLINE TYPE g_##NAME(const char *call, const struct msp_context *context,    \
                                           const TYPE *source, int pe)                             \
    {                                                                                              \
        unsigned index;                                                                            \
        const TYPE *from = msp_peer_resolve(source, sizeof(TYPE), pe, &index);                     \
        TYPE value;                                                                                \
                                                                                                   \
        if (MSP_LIKELY((from != NULL) && (pe != msp_job.pe) && !msp_job.polls_yield)) {            \
            const TYPE near = *(const volatile TYPE *)from;                                        \
                                                                                                   \
            msp_rma_got();                                                                         \
            return near;                                                                           \
        }                                                                                          \
        g_far(call, context, &value, source, sizeof(TYPE), pe);                                    \
        return value;                                                                              \
    }                                                                                              \
    MSP_ROUTINE_TWINS(TYPE, NAME##_##OP, return g_##NAME(MSP_CALL, context, source, pe),           \
                      const TYPE *source, int pe)
MEMSPAN_SHMEM_RMA_TYPES(G, g)
