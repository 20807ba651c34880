/* SPDX-License-Identifier: BSD-3-Clause */
/* put.c: shmem_put and its family: block, non-blocking, one element, with a signal. */

#include "shmem/api/routine.h"
#include "shmem/transport/atomic.h"
#include "shmem/transport/order.h"
#include "shmem/transport/rma.h"

/* Memory that is not mapped, wrong arguments, the checked mode. */
static __attribute__((noinline, cold)) void put_far(const char *call,
                                                    const struct msp_context *context, void *dest,
                                                    const void *source, size_t size_bytes,
                                                    size_t element_bytes, int pe)
{
    if (msp_job.checks) {
        msp_check_put(call, dest, source, size_bytes, element_bytes, pe);
    }
    msp_put(call, context, dest, source, size_bytes, pe, 0);
}

static __attribute__((noinline, cold)) void
put_nbi_far(const char *call, const struct msp_context *context, void *dest, const void *source,
            size_t size_bytes, size_t element_bytes, int pe)
{
    if (msp_job.checks) {
        msp_check_put(call, dest, source, size_bytes, element_bytes, pe);
    }
    msp_put(call, context, dest, source, size_bytes, pe, MSP_OP_NONBLOCKING);
}

/* More than one word, where it is mapped: out of line, so that single words need no stack. */
static __attribute__((noinline)) void put_block(void *to, const void *source, size_t size_bytes,
                                                unsigned index, const void *dest)
{
    msp_rma_copy(to, source, size_bytes);
    msp_peer_notify(index, dest, size_bytes);
}

typedef void put_far_fn(const char *call, const struct msp_context *context, void *dest,
                        const void *source, size_t size_bytes, size_t element_bytes, int pe);

static MSP_ALWAYS_INLINE void put_near(put_far_fn *far, const char *call,
                                       const struct msp_context *context, void *dest,
                                       const void *source, size_t count, size_t element_bytes,
                                       int pe)
{
    size_t size_bytes = msp_bytes_of(count, element_bytes);
    size_t word_bytes = (element_bytes == 1) ? 8 : element_bytes;
    unsigned index;
    void *to = msp_peer_resolve(dest, size_bytes, pe, &index);

    if (MSP_UNLIKELY((to == NULL) || (msp_job.checks | msp_job.has_device_memory))) {
        far(call, context, dest, source, size_bytes, element_bytes, pe);
    } else if (MSP_LIKELY(size_bytes == word_bytes)) {
        memcpy(to, source, word_bytes);
        msp_peer_notify(index, dest, word_bytes);
    } else {
        put_block(to, source, size_bytes, index, dest);
    }
}
#define put(...)     put_near(put_far, __VA_ARGS__)
#define put_nbi(...) put_near(put_nbi_far, __VA_ARGS__)

#define PUT(NAME, TYPE, OP)                                                                        \
    MSP_ROUTINE_TWINS(void, NAME##_##OP,                                                           \
                      OP(MSP_CALL, context, dest, source, nelems, sizeof(TYPE), pe), TYPE *dest,   \
                      const TYPE *source, size_t nelems, int pe)
#define PUT_SIZE(BITS, OP, SUFFIX)                                                                 \
    MSP_ROUTINE_TWINS(void, OP##BITS##SUFFIX,                                                      \
                      OP##SUFFIX(MSP_CALL, context, dest, source, nelems, (BITS) / 8, pe),         \
                      void *dest, const void *source, size_t nelems, int pe)
#define PUT_MEM(OP)                                                                                \
    MSP_ROUTINE_TWINS(void, putmem##OP, put##OP(MSP_CALL, context, dest, source, nelems, 1, pe),   \
                      void *dest, const void *source, size_t nelems, int pe)
MEMSPAN_SHMEM_RMA_TYPES(PUT, put)
MEMSPAN_SHMEM_RMA_SIZES(PUT_SIZE, put, )
PUT_MEM()
MEMSPAN_SHMEM_RMA_TYPES(PUT, put_nbi)
MEMSPAN_SHMEM_RMA_SIZES(PUT_SIZE, put, _nbi)
PUT_MEM(_nbi)

/* ---- one element ---- */

/* A store to the other PE's memory: no copy, no size. */
#define P(NAME, TYPE, OP)                                                                          \
    static MSP_ALWAYS_INLINE void p_##NAME(const char *call, const struct msp_context *context,    \
                                           TYPE *dest, TYPE value, int pe)                         \
    {                                                                                              \
        unsigned index;                                                                            \
        TYPE *to = msp_peer_resolve(dest, sizeof(TYPE), pe, &index);                               \
                                                                                                   \
        if (MSP_LIKELY((to != NULL) && !msp_job.checks)) {                                         \
            *(volatile TYPE *)to = value;                                                          \
            msp_peer_notify(index, dest, sizeof(TYPE));                                            \
        } else {                                                                                   \
            put_far(call, context, dest, &(TYPE){value}, sizeof(TYPE), sizeof(TYPE), pe);          \
        }                                                                                          \
    }                                                                                              \
    MSP_ROUTINE_TWINS(void, NAME##_##OP, p_##NAME(MSP_CALL, context, dest, value, pe), TYPE *dest, \
                      TYPE value, int pe)
MEMSPAN_SHMEM_RMA_TYPES(P, p)

/* ---- with a signal ---- */

static __attribute__((noinline, cold)) void
put_signal_far(const char *call, const struct msp_context *context, void *dest, const void *source,
               size_t size_bytes, uint64_t *signal, uint64_t value, bool adds, int pe,
               unsigned flags)
{
    struct msp_target to;
    struct msp_target at;

    if (size_bytes == 0) {
        msp_signal(call, context, signal, value, adds, pe);
        return;
    }
    to = msp_target_resolve(call, context, dest, size_bytes, pe);
    at = msp_target_resolve(call, context, signal, sizeof *signal, pe);
    msp_target_put_signal(&to, source, size_bytes, &at, value, adds, flags);
}

static void put_signal(const char *call, const struct msp_context *context, void *dest,
                       const void *source, size_t size_bytes, size_t element_bytes,
                       uint64_t *signal, uint64_t value, int signal_operator, int pe,
                       unsigned flags)
{
    bool adds = (signal_operator == SHMEM_SIGNAL_ADD);
    unsigned index;
    void *to;

    if (MSP_UNLIKELY(msp_job.checks)) {
        msp_check_put(call, dest, source, size_bytes, element_bytes, pe);
        msp_check_word(call, "sig_addr", signal, sizeof *signal, pe);
    }
    if (!adds && (signal_operator != SHMEM_SIGNAL_SET)) {
        msp_refuse_signal_operator(call, signal_operator);
    }
    to = msp_peer_resolve(dest, size_bytes, pe, &index);
    if (MSP_LIKELY((to != NULL) && msp_rma_host_touches(source))) {
        msp_rma_copy(to, source, size_bytes);
        msp_peer_notify(index, dest, size_bytes);
        msp_signal(call, context, signal, value, adds, pe);
    } else {
        put_signal_far(call, context, dest, source, size_bytes, signal, value, adds, pe, flags);
    }
}

#define PUT_SIGNAL_CALL(ELEMENT_BYTES, FLAGS)                                                      \
    put_signal(MSP_CALL, context, dest, source, msp_bytes_of(nelems, ELEMENT_BYTES),               \
               ELEMENT_BYTES, sig_addr, signal, sig_op, pe, FLAGS)
#define FLAGS_put_signal     0
#define FLAGS_put_signal_nbi MSP_OP_NONBLOCKING
#define PUT_SIGNAL(NAME, TYPE, OP)                                                                 \
    MSP_ROUTINE_TWINS(void, NAME##_##OP, PUT_SIGNAL_CALL(sizeof(TYPE), FLAGS_##OP), TYPE *dest,    \
                      const TYPE *source, size_t nelems, uint64_t *sig_addr, uint64_t signal,      \
                      int sig_op, int pe)
#define PUT_SIGNAL_SIZE(BITS, OP, SUFFIX)                                                          \
    MSP_ROUTINE_TWINS(void, OP##BITS##SUFFIX, PUT_SIGNAL_CALL((BITS) / 8, FLAGS_##OP##SUFFIX),     \
                      void *dest, const void *source, size_t nelems, uint64_t *sig_addr,           \
                      uint64_t signal, int sig_op, int pe)
#define PUT_SIGNAL_MEM(OP)                                                                         \
    MSP_ROUTINE_TWINS(void, putmem_##OP, PUT_SIGNAL_CALL(1, FLAGS_put_##OP), void *dest,           \
                      const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal,      \
                      int sig_op, int pe)
MEMSPAN_SHMEM_RMA_TYPES(PUT_SIGNAL, put_signal)
MEMSPAN_SHMEM_RMA_SIZES(PUT_SIGNAL_SIZE, put, _signal)
PUT_SIGNAL_MEM(signal)
MEMSPAN_SHMEM_RMA_TYPES(PUT_SIGNAL, put_signal_nbi)
MEMSPAN_SHMEM_RMA_SIZES(PUT_SIGNAL_SIZE, put, _signal_nbi)
PUT_SIGNAL_MEM(signal_nbi)
