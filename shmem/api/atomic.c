/* SPDX-License-Identifier: BSD-3-Clause */
/* atomic.c: atomic operations on one word of another PE, for every type and by the old names.
 *
 * All of them are one function, of which the compiler leaves a few instructions where the operation
 * and the size are constants. Values travel as the bits of an unsigned word. */

#include "shmem/transport/atomic.h"
#include "shmem/api/routine.h"
#include "shmem/control/wait.h"

/* What update() does with a mapped word of one width. */
#define DEFINE_APPLY(WORD)                                                                         \
    static MSP_ALWAYS_INLINE WORD apply_##WORD(enum msp_atomic operation, WORD *to, WORD value,    \
                                               WORD condition)                                     \
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
DEFINE_APPLY(uint32_t)
DEFINE_APPLY(uint64_t)

/* Not marked cold: with another cold call on its way, GCC takes the whole of update() for cold. */
static __attribute__((noinline)) uint64_t
update_slow(const char *call, const struct msp_context *context, enum msp_atomic operation,
            const void *dest, size_t size_bytes, uint64_t value, uint64_t condition, int pe)
{
    if ((operation == MSP_ATOMIC_FETCH) && (pe == msp_job.pe)) {
        msp_wait_poll();
    } else if ((operation == MSP_ATOMIC_FETCH) || (operation == MSP_ATOMIC_COMPARE_SWAP)) {
        msp_wait_poll_at(dest);
    }
    if (msp_job.checks) {
        msp_check_word(call, (operation == MSP_ATOMIC_FETCH) ? "source" : "dest", dest, size_bytes,
                       pe);
    }
    return msp_atomic_slow(call, context, operation, dest, size_bytes, value, condition, pe);
}

/* The old bits. A program may fetch a word in a loop, or try to swap it, for what others do to it:
 * that goes the slow way, on which others run now and then, for a word of its own and where PEs
 * share processors. */
static MSP_ALWAYS_INLINE uint64_t update(const char *call, const struct msp_context *context,
                                         enum msp_atomic operation, const void *dest,
                                         size_t size_bytes, uint64_t value, uint64_t condition,
                                         int pe)
{
    bool is_poll = (operation == MSP_ATOMIC_FETCH) && (pe == msp_job.pe);
    bool is_far  = ((operation == MSP_ATOMIC_FETCH) || (operation == MSP_ATOMIC_COMPARE_SWAP))
                       ? msp_job.polls_yield
                       : msp_job.checks;
    unsigned index;
    void *to = msp_segment_peer(dest, size_bytes, pe, &index);
    uint64_t old;

    if (MSP_LIKELY((to != NULL) && !is_far && !is_poll)) {
        if (size_bytes == sizeof(uint32_t)) {
            old = apply_uint32_t(operation, to, (uint32_t)value, (uint32_t)condition);
        } else {
            old = apply_uint64_t(operation, to, value, condition);
        }
        if (operation != MSP_ATOMIC_FETCH) {
            msp_doorbell_notify_at((int)index, dest, size_bytes);
        }
        return old;
    }
    return update_slow(call, context, operation, dest, size_bytes, value, condition, pe);
}

/* The bits of a value of 4 or 8 bytes, and back. */
static MSP_ALWAYS_INLINE uint64_t bits_of(const void *value, size_t size_bytes)
{
    uint32_t half = 0;
    uint64_t bits = 0;

    if (size_bytes == sizeof half) {
        memcpy(&half, value, sizeof half);
        return half;
    }
    memcpy(&bits, value, sizeof bits);
    return bits;
}

static MSP_ALWAYS_INLINE void value_of(uint64_t bits, void *value, size_t size_bytes)
{
    uint32_t half = (uint32_t)bits;

    if (size_bytes == sizeof half) {
        memcpy(value, &half, sizeof half);
    } else {
        memcpy(value, &bits, sizeof bits);
    }
}

/* The same for values of a type. */
#define DEFINE_TYPED(NAME, TYPE, A)                                                                \
    static MSP_ALWAYS_INLINE TYPE update_##NAME(                                                   \
        const char *call, const struct msp_context *context, enum msp_atomic operation,            \
        const TYPE *dest, TYPE value, TYPE condition, int pe)                                      \
    {                                                                                              \
        TYPE old;                                                                                  \
                                                                                                   \
        value_of(update(call, context, operation, dest, sizeof(TYPE),                              \
                        bits_of(&value, sizeof value), bits_of(&condition, sizeof condition), pe), \
                 &old, sizeof old);                                                                \
        return old;                                                                                \
    }
MEMSPAN_SHMEM_AMO_EXTENDED_TYPES(DEFINE_TYPED, )

/* Which operation a routine's name stands for. */
#define OPERATION_set       MSP_ATOMIC_SET
#define OPERATION_swap      MSP_ATOMIC_SWAP
#define OPERATION_add       MSP_ATOMIC_ADD
#define OPERATION_and       MSP_ATOMIC_AND
#define OPERATION_or        MSP_ATOMIC_OR
#define OPERATION_xor       MSP_ATOMIC_XOR
#define OPERATION_fetch_add MSP_ATOMIC_ADD
#define OPERATION_fetch_and MSP_ATOMIC_AND
#define OPERATION_fetch_or  MSP_ATOMIC_OR
#define OPERATION_fetch_xor MSP_ATOMIC_XOR
#define UPDATE(NAME, OPERATION, WORD, VALUE, CONDITION)                                            \
    update_##NAME(MSP_CALL, context, OPERATION, WORD, VALUE, CONDITION, pe)

#define FETCH(NAME, TYPE, OP)                                                                      \
    MSP_ROUTINE_TWINS(TYPE, NAME##_atomic_##OP,                                                    \
                      return UPDATE(NAME, MSP_ATOMIC_FETCH, source, 0, 0), const TYPE *source,     \
                      int pe)
#define SET(NAME, TYPE, OP)                                                                        \
    MSP_ROUTINE_TWINS(void, NAME##_atomic_##OP,                                                    \
                      (void)UPDATE(NAME, OPERATION_##OP, dest, value, 0), TYPE *dest, TYPE value,  \
                      int pe)
#define SWAP(NAME, TYPE, OP)                                                                       \
    MSP_ROUTINE_TWINS(TYPE, NAME##_atomic_##OP,                                                    \
                      return UPDATE(NAME, OPERATION_##OP, dest, value, 0), TYPE * dest,            \
                      TYPE value, int pe)
#define COMPARE(NAME, TYPE, OP)                                                                    \
    MSP_ROUTINE_TWINS(TYPE, NAME##_atomic_##OP,                                                    \
                      return UPDATE(NAME, MSP_ATOMIC_COMPARE_SWAP, dest, value, cond),             \
                      TYPE * dest, TYPE cond, TYPE value, int pe)
#define FETCH_INC(NAME, TYPE, OP)                                                                  \
    MSP_ROUTINE_TWINS(TYPE, NAME##_atomic_##OP, return UPDATE(NAME, MSP_ATOMIC_ADD, dest, 1, 0),   \
                      TYPE * dest, int pe)
#define INC(NAME, TYPE, OP)                                                                        \
    MSP_ROUTINE_TWINS(void, NAME##_atomic_##OP, (void)UPDATE(NAME, MSP_ATOMIC_ADD, dest, 1, 0),    \
                      TYPE *dest, int pe)
MEMSPAN_SHMEM_AMO_EXTENDED_TYPES(FETCH, fetch)
MEMSPAN_SHMEM_AMO_EXTENDED_TYPES(SET, set)
MEMSPAN_SHMEM_AMO_EXTENDED_TYPES(SWAP, swap)
MEMSPAN_SHMEM_AMO_TYPES(COMPARE, compare_swap)
MEMSPAN_SHMEM_AMO_TYPES(FETCH_INC, fetch_inc)
MEMSPAN_SHMEM_AMO_TYPES(INC, inc)
MEMSPAN_SHMEM_AMO_TYPES(SWAP, fetch_add)
MEMSPAN_SHMEM_AMO_TYPES(SET, add)
MEMSPAN_SHMEM_AMO_BITS_TYPES(SWAP, fetch_and)
MEMSPAN_SHMEM_AMO_BITS_TYPES(SET, and)
MEMSPAN_SHMEM_AMO_BITS_TYPES(SWAP, fetch_or)
MEMSPAN_SHMEM_AMO_BITS_TYPES(SET, or)
MEMSPAN_SHMEM_AMO_BITS_TYPES(SWAP, fetch_xor)
MEMSPAN_SHMEM_AMO_BITS_TYPES(SET, xor)

/* ---- non-blocking: the old value is there when they return ---- */

#define FETCH_NBI(NAME, TYPE, OP)                                                                  \
    MSP_ROUTINE_TWINS(void, NAME##_atomic_##OP##_nbi,                                              \
                      *fetch = UPDATE(NAME, MSP_ATOMIC_FETCH, source, 0, 0), TYPE * fetch,         \
                      const TYPE *source, int pe)
#define SWAP_NBI(NAME, TYPE, OP)                                                                   \
    MSP_ROUTINE_TWINS(void, NAME##_atomic_##OP##_nbi,                                              \
                      *fetch = UPDATE(NAME, OPERATION_##OP, dest, value, 0), TYPE * fetch,         \
                      TYPE * dest, TYPE value, int pe)
#define COMPARE_NBI(NAME, TYPE, OP)                                                                \
    MSP_ROUTINE_TWINS(void, NAME##_atomic_##OP##_nbi,                                              \
                      *fetch = UPDATE(NAME, MSP_ATOMIC_COMPARE_SWAP, dest, value, cond),           \
                      TYPE * fetch, TYPE * dest, TYPE cond, TYPE value, int pe)
#define FETCH_INC_NBI(NAME, TYPE, OP)                                                              \
    MSP_ROUTINE_TWINS(void, NAME##_atomic_##OP##_nbi,                                              \
                      *fetch = UPDATE(NAME, MSP_ATOMIC_ADD, dest, 1, 0), TYPE * fetch,             \
                      TYPE * dest, int pe)
MEMSPAN_SHMEM_AMO_EXTENDED_TYPES(FETCH_NBI, fetch)
MEMSPAN_SHMEM_AMO_EXTENDED_TYPES(SWAP_NBI, swap)
MEMSPAN_SHMEM_AMO_TYPES(COMPARE_NBI, compare_swap)
MEMSPAN_SHMEM_AMO_TYPES(FETCH_INC_NBI, fetch_inc)
MEMSPAN_SHMEM_AMO_TYPES(SWAP_NBI, fetch_add)
MEMSPAN_SHMEM_AMO_BITS_TYPES(SWAP_NBI, fetch_and)
MEMSPAN_SHMEM_AMO_BITS_TYPES(SWAP_NBI, fetch_or)
MEMSPAN_SHMEM_AMO_BITS_TYPES(SWAP_NBI, fetch_xor)

/* ---- by the names before 1.4 ---- */

#define OLD_UPDATE(NAME, OPERATION, WORD, VALUE, CONDITION)                                        \
    update_##NAME(MSP_CALL, msp_context_default(), OPERATION, WORD, VALUE, CONDITION, pe)
#define OLD_FETCH(NAME, TYPE, OP)                                                                  \
    MSP_ROUTINE(TYPE, shmem_##NAME##_##OP, const TYPE *source, int pe)                             \
    {                                                                                              \
        return OLD_UPDATE(NAME, MSP_ATOMIC_FETCH, source, 0, 0);                                   \
    }
#define OLD_SET(NAME, TYPE, OP)                                                                    \
    MSP_ROUTINE(void, shmem_##NAME##_##OP, TYPE *dest, TYPE value, int pe)                         \
    {                                                                                              \
        (void)OLD_UPDATE(NAME, OPERATION_##OP, dest, value, 0);                                    \
    }
#define OLD_SWAP(NAME, TYPE, OP)                                                                   \
    MSP_ROUTINE(TYPE, shmem_##NAME##_##OP, TYPE *dest, TYPE value, int pe)                         \
    {                                                                                              \
        return OLD_UPDATE(NAME, OPERATION_##OP, dest, value, 0);                                   \
    }
#define OLD_COMPARE(NAME, TYPE, OP)                                                                \
    MSP_ROUTINE(TYPE, shmem_##NAME##_##OP, TYPE *dest, TYPE cond, TYPE value, int pe)              \
    {                                                                                              \
        return OLD_UPDATE(NAME, MSP_ATOMIC_COMPARE_SWAP, dest, value, cond);                       \
    }
#define OLD_FETCH_INC(NAME, TYPE, OP)                                                              \
    MSP_ROUTINE(TYPE, shmem_##NAME##_##OP, TYPE *dest, int pe)                                     \
    {                                                                                              \
        return OLD_UPDATE(NAME, MSP_ATOMIC_ADD, dest, 1, 0);                                       \
    }
#define OLD_INC(NAME, TYPE, OP)                                                                    \
    MSP_ROUTINE(void, shmem_##NAME##_##OP, TYPE *dest, int pe)                                     \
    {                                                                                              \
        (void)OLD_UPDATE(NAME, MSP_ATOMIC_ADD, dest, 1, 0);                                        \
    }
#define OPERATION_fadd MSP_ATOMIC_ADD
MEMSPAN_SHMEM_OLD_AMO_EXTENDED_TYPES(OLD_FETCH, fetch)
MEMSPAN_SHMEM_OLD_AMO_EXTENDED_TYPES(OLD_SET, set)
MEMSPAN_SHMEM_OLD_AMO_EXTENDED_TYPES(OLD_SWAP, swap)
MEMSPAN_SHMEM_OLD_AMO_TYPES(OLD_COMPARE, cswap)
MEMSPAN_SHMEM_OLD_AMO_TYPES(OLD_FETCH_INC, finc)
MEMSPAN_SHMEM_OLD_AMO_TYPES(OLD_INC, inc)
MEMSPAN_SHMEM_OLD_AMO_TYPES(OLD_SWAP, fadd)
MEMSPAN_SHMEM_OLD_AMO_TYPES(OLD_SET, add)
