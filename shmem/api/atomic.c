/* SPDX-License-Identifier: BSD-3-Clause */
/* atomic.c: atomic operations on one word of another PE, for every type and by the old names.
 *
 * All of them are update(), or post() without a result to wait for, of which the compiler leaves a
 * few instructions where the operation and the size are constants. */

#include "shmem/transport/atomic.h"
#include "shmem/api/routine.h"
#include "shmem/control/wait.h"

/* A program may poll a word by fetches or compare-and-swaps. Polls of its own words, and all where
 * PEs are oversubscribed, take the slow path, which lets others run now and then. */
static MSP_ALWAYS_INLINE bool is_far(enum msp_atomic operation, int pe)
{
    return (operation == MSP_ATOMIC_FETCH)          ? (msp_job.polls_yield | (pe == msp_job.pe))
           : (operation == MSP_ATOMIC_COMPARE_SWAP) ? msp_job.polls_yield
                                                    : msp_job.checks;
}

static void prepare(const char *call, enum msp_atomic operation, const void *dest,
                    size_t size_bytes, int pe)
{
    if ((operation == MSP_ATOMIC_FETCH) && (pe == msp_job.pe)) {
        msp_wait_poll();
    } else if ((operation == MSP_ATOMIC_FETCH) || (operation == MSP_ATOMIC_COMPARE_SWAP)) {
        msp_wait_poll_at(dest, pe);
    }
    if (msp_job.checks) {
        msp_check_word(call, (operation == MSP_ATOMIC_FETCH) ? "source" : "dest", dest, size_bytes,
                       pe);
    }
}

/* Not marked cold: with another cold call on its path, GCC takes the whole of update() for cold. */
static __attribute__((noinline)) uint64_t
update_slow(const char *call, const struct msp_context *context, enum msp_atomic operation,
            const void *dest, size_t size_bytes, uint64_t value, uint64_t condition, int pe)
{
    prepare(call, operation, dest, size_bytes, pe);
    return msp_atomic_slow(call, context, operation, dest, size_bytes, value, condition, pe);
}

static __attribute__((noinline)) void post_slow(const char *call, const struct msp_context *context,
                                                enum msp_atomic operation, const void *dest,
                                                size_t size_bytes, uint64_t value,
                                                uint64_t condition, int pe, void *fetch)
{
    prepare(call, operation, dest, size_bytes, pe);
    msp_atomic_post_slow(call, context, operation, dest, size_bytes, value, condition, pe, fetch);
}

/* The old bits. */
static MSP_ALWAYS_INLINE uint64_t update(const char *call, const struct msp_context *context,
                                         enum msp_atomic operation, const void *dest,
                                         size_t size_bytes, uint64_t value, uint64_t condition,
                                         int pe)
{
    unsigned index;
    void *to = msp_peer_resolve(dest, size_bytes, pe, &index);

    if (MSP_LIKELY((to != NULL) && !is_far(operation, pe))) {
        return msp_atomic_near(operation, to, index, dest, size_bytes, value, condition);
    }
    return update_slow(call, context, operation, dest, size_bytes, value, condition, pe);
}

/* The old bits to @p fetch, by quiet; NULL: they are not needed. */
static MSP_ALWAYS_INLINE void post(const char *call, const struct msp_context *context,
                                   enum msp_atomic operation, const void *dest, size_t size_bytes,
                                   uint64_t value, uint64_t condition, int pe, void *fetch)
{
    unsigned index;
    void *to = msp_peer_resolve(dest, size_bytes, pe, &index);

    if (MSP_LIKELY((to != NULL) && !is_far(operation, pe))) {
        uint64_t old = msp_atomic_near(operation, to, index, dest, size_bytes, value, condition);

        if (fetch != NULL) {
            msp_bits_to(fetch, old, size_bytes);
        }
        return;
    }
    post_slow(call, context, operation, dest, size_bytes, value, condition, pe, fetch);
}

/* The same for values of a type. */
#define DEFINE_TYPED(NAME, TYPE, A)                                                                \
    static MSP_ALWAYS_INLINE TYPE update_##NAME(                                                   \
        const char *call, const struct msp_context *context, enum msp_atomic operation,            \
        const TYPE *dest, TYPE value, TYPE condition, int pe)                                      \
    {                                                                                              \
        TYPE old;                                                                                  \
                                                                                                   \
        msp_bits_to(&old,                                                                          \
                    update(call, context, operation, dest, sizeof(TYPE),                           \
                           msp_bits_of(&value, sizeof value),                                      \
                           msp_bits_of(&condition, sizeof condition), pe),                         \
                    sizeof old);                                                                   \
        return old;                                                                                \
    }                                                                                              \
    static MSP_ALWAYS_INLINE void post_##NAME(const char *call, const struct msp_context *context, \
                                              enum msp_atomic operation, const TYPE *dest,         \
                                              TYPE value, TYPE condition, int pe, TYPE *fetch)     \
    {                                                                                              \
        post(call, context, operation, dest, sizeof(TYPE), msp_bits_of(&value, sizeof value),      \
             msp_bits_of(&condition, sizeof condition), pe, fetch);                                \
    }
MEMSPAN_SHMEM_AMO_EXTENDED_TYPES(DEFINE_TYPED, )

/* The operation of a routine's name. */
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
#define POST(NAME, OPERATION, WORD, VALUE, CONDITION, FETCH)                                       \
    post_##NAME(MSP_CALL, context, OPERATION, WORD, VALUE, CONDITION, pe, FETCH)

#define FETCH(NAME, TYPE, OP)                                                                      \
    MSP_ROUTINE_TWINS(TYPE, NAME##_atomic_##OP,                                                    \
                      return UPDATE(NAME, MSP_ATOMIC_FETCH, source, 0, 0), const TYPE *source,     \
                      int pe)
#define SET(NAME, TYPE, OP)                                                                        \
    MSP_ROUTINE_TWINS(void, NAME##_atomic_##OP, POST(NAME, OPERATION_##OP, dest, value, 0, NULL),  \
                      TYPE *dest, TYPE value, int pe)
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
    MSP_ROUTINE_TWINS(void, NAME##_atomic_##OP, POST(NAME, MSP_ATOMIC_ADD, dest, 1, 0, NULL),      \
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

/* ---- non-blocking ---- */

#define FETCH_NBI(NAME, TYPE, OP)                                                                  \
    MSP_ROUTINE_TWINS(void, NAME##_atomic_##OP##_nbi,                                              \
                      POST(NAME, MSP_ATOMIC_FETCH, source, 0, 0, fetch), TYPE *fetch,              \
                      const TYPE *source, int pe)
#define SWAP_NBI(NAME, TYPE, OP)                                                                   \
    MSP_ROUTINE_TWINS(void, NAME##_atomic_##OP##_nbi,                                              \
                      POST(NAME, OPERATION_##OP, dest, value, 0, fetch), TYPE *fetch, TYPE *dest,  \
                      TYPE value, int pe)
#define COMPARE_NBI(NAME, TYPE, OP)                                                                \
    MSP_ROUTINE_TWINS(void, NAME##_atomic_##OP##_nbi,                                              \
                      POST(NAME, MSP_ATOMIC_COMPARE_SWAP, dest, value, cond, fetch), TYPE *fetch,  \
                      TYPE *dest, TYPE cond, TYPE value, int pe)
#define FETCH_INC_NBI(NAME, TYPE, OP)                                                              \
    MSP_ROUTINE_TWINS(void, NAME##_atomic_##OP##_nbi,                                              \
                      POST(NAME, MSP_ATOMIC_ADD, dest, 1, 0, fetch), TYPE *fetch, TYPE *dest,      \
                      int pe)
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
#define OLD_POST(NAME, OPERATION, WORD, VALUE)                                                     \
    post_##NAME(MSP_CALL, msp_context_default(), OPERATION, WORD, VALUE, 0, pe, NULL)
#define OLD_FETCH(NAME, TYPE, OP)                                                                  \
    MSP_ROUTINE(TYPE, shmem_##NAME##_##OP, const TYPE *source, int pe)                             \
    {                                                                                              \
        return OLD_UPDATE(NAME, MSP_ATOMIC_FETCH, source, 0, 0);                                   \
    }
#define OLD_SET(NAME, TYPE, OP)                                                                    \
    MSP_ROUTINE(void, shmem_##NAME##_##OP, TYPE *dest, TYPE value, int pe)                         \
    {                                                                                              \
        OLD_POST(NAME, OPERATION_##OP, dest, value);                                               \
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
        OLD_POST(NAME, MSP_ATOMIC_ADD, dest, 1);                                                   \
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
