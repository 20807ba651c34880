/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_TRANSPORT_ATOMIC_H
#define MEMSPAN_SHMEM_TRANSPORT_ATOMIC_H

/* Atomic operations on one word of 4 or 8 bytes of another PE: the processor's own where it is
 * mapped here, its transport's elsewhere. Values travel as the bits of an unsigned word. */

#include "shmem/transport/rma.h"

/* The processor's operation: the old bits. */
#define MSP_DEFINE_ATOMIC(WORD)                                                                    \
    static MSP_ALWAYS_INLINE WORD msp_atomic_##WORD(enum msp_atomic operation, WORD *to,           \
                                                    WORD value, WORD condition)                    \
    {                                                                                              \
        switch (operation) {                                                                       \
        case MSP_ATOMIC_FETCH:                                                                     \
            return __atomic_load_n(to, __ATOMIC_ACQUIRE);                                          \
        case MSP_ATOMIC_SET:                                                                       \
            __atomic_store_n(to, value, __ATOMIC_RELEASE);                                         \
            return 0;                                                                              \
        case MSP_ATOMIC_SWAP:                                                                      \
            return __atomic_exchange_n(to, value, __ATOMIC_ACQ_REL);                               \
        case MSP_ATOMIC_COMPARE_SWAP:                                                              \
            (void)__atomic_compare_exchange_n(to, &condition, value, 0, __ATOMIC_ACQ_REL,          \
                                              __ATOMIC_ACQUIRE);                                   \
            return condition;                                                                      \
        case MSP_ATOMIC_ADD:                                                                       \
            return __atomic_fetch_add(to, value, __ATOMIC_ACQ_REL);                                \
        case MSP_ATOMIC_AND:                                                                       \
            return __atomic_fetch_and(to, value, __ATOMIC_ACQ_REL);                                \
        case MSP_ATOMIC_OR:                                                                        \
            return __atomic_fetch_or(to, value, __ATOMIC_ACQ_REL);                                 \
        case MSP_ATOMIC_XOR:                                                                       \
            return __atomic_fetch_xor(to, value, __ATOMIC_ACQ_REL);                                \
        }                                                                                          \
        return 0;                                                                                  \
    }
MSP_DEFINE_ATOMIC(uint32_t)
MSP_DEFINE_ATOMIC(uint64_t)

static MSP_ALWAYS_INLINE uint64_t msp_atomic_apply(enum msp_atomic operation, void *word,
                                                   size_t size_bytes, uint64_t value,
                                                   uint64_t condition)
{
    return (size_bytes == sizeof(uint32_t))
               ? msp_atomic_uint32_t(operation, word, (uint32_t)value, (uint32_t)condition)
               : msp_atomic_uint64_t(operation, word, value, condition);
}

/* On the word at @p to, which is @p dest of the PE with that local index (msp_peer_resolve()). */
static MSP_ALWAYS_INLINE uint64_t msp_atomic_near(enum msp_atomic operation, void *to,
                                                  unsigned index, const void *dest,
                                                  size_t size_bytes, uint64_t value,
                                                  uint64_t condition)
{
    uint64_t old = msp_atomic_apply(operation, to, size_bytes, value, condition);

    if (MSP_LIKELY(operation != MSP_ATOMIC_FETCH)) {
        msp_peer_notify(index, dest, size_bytes);
    }
    return old;
}

/* Elsewhere, or fatal when the address, the size or the PE is wrong: the old bits. */
uint64_t msp_atomic_slow(const char *call, const struct msp_context *context,
                         enum msp_atomic operation, const void *dest, size_t size_bytes,
                         uint64_t value, uint64_t condition, int pe) __attribute__((cold));

/* The same, complete after quiet: old bits to @p fetch then, NULL: they are not needed. */
void msp_atomic_post_slow(const char *call, const struct msp_context *context,
                          enum msp_atomic operation, const void *dest, size_t size_bytes,
                          uint64_t value, uint64_t condition, int pe, void *fetch)
    __attribute__((cold));

static inline uint64_t msp_atomic(const char *call, const struct msp_context *context,
                                  enum msp_atomic operation, const void *dest, size_t size_bytes,
                                  uint64_t value, uint64_t condition, int pe)
{
    unsigned index;
    void *to = msp_peer_resolve(dest, size_bytes, pe, &index);

    if (MSP_LIKELY(to != NULL)) {
        return msp_atomic_near(operation, to, index, dest, size_bytes, value, condition);
    }
    return msp_atomic_slow(call, context, operation, dest, size_bytes, value, condition, pe);
}

/* Signals: set or add on a uint64_t. @p adds: SHMEM_SIGNAL_ADD. */
static inline void msp_signal(const char *call, const struct msp_context *context, uint64_t *signal,
                              uint64_t value, bool adds, int pe)
{
    enum msp_atomic operation = adds ? MSP_ATOMIC_ADD : MSP_ATOMIC_SET;
    unsigned index;
    uint64_t *to = msp_peer_resolve(signal, sizeof *signal, pe, &index);

    if (MSP_LIKELY(to != NULL)) {
        if (adds) {
            __atomic_fetch_add(to, value, __ATOMIC_ACQ_REL);
        } else {
            __atomic_store_n(to, value, __ATOMIC_RELEASE);
        }
        msp_peer_notify(index, signal, sizeof *signal);
        return;
    }
    msp_atomic_post_slow(call, context, operation, signal, sizeof *signal, value, 0, pe, NULL);
}

/* The bits of a value of 2, 4 or 8 bytes, and back. */
static MSP_ALWAYS_INLINE uint64_t msp_bits_of(const void *value, size_t size_bytes)
{
    uint16_t quarter = 0;
    uint32_t half    = 0;
    uint64_t bits    = 0;

    if (size_bytes == sizeof bits) {
        memcpy(&bits, value, sizeof bits);
        return bits;
    }
    if (size_bytes == sizeof half) {
        memcpy(&half, value, sizeof half);
        return half;
    }
    memcpy(&quarter, value, sizeof quarter);
    return quarter;
}

static MSP_ALWAYS_INLINE void msp_bits_to(void *value, uint64_t bits, size_t size_bytes)
{
    uint32_t half = (uint32_t)bits;

    if (size_bytes == sizeof half) {
        memcpy(value, &half, sizeof half);
    } else {
        memcpy(value, &bits, sizeof bits);
    }
}

#endif /* MEMSPAN_SHMEM_TRANSPORT_ATOMIC_H */
