/* SPDX-License-Identifier: BSD-3-Clause */
/* wait.c: waits and tests on words of this PE that others change.
 *
 * A word is compared as a number of one of a few forms (width, signedness); typed routines only
 * select it. Waits on one word are compiled for each form, for the sake of their latency; those on
 * many words go through one description. */

#include "shmem/control/wait.h"
#include "shmem/api/routine.h"
#include "shmem/transport/own.h"
#include <string.h>

/* X(form, type). */
#define FORM_MAP(X)                                                                                \
    X(S16, int16_t)                                                                                \
    X(U16, uint16_t)                                                                               \
    X(S32, int32_t)                                                                                \
    X(U32, uint32_t)                                                                               \
    X(S64, int64_t)                                                                                \
    X(U64, uint64_t)
enum form {
#define FORM_ENUM(form, type) form,
    FORM_MAP(FORM_ENUM)
#undef FORM_ENUM
};

#define FORM_OF(TYPE)                                                                              \
    ((sizeof(TYPE) == 2)   ? (((TYPE)-1 < (TYPE)1) ? S16 : U16)                                    \
     : (sizeof(TYPE) == 4) ? (((TYPE)-1 < (TYPE)1) ? S32 : U32)                                    \
                           : (((TYPE)-1 < (TYPE)1) ? S64 : U64))

static void check_words(const char *call, const void *words, size_t size_bytes)
{
    msp_job_require(call);
    if (size_bytes != 0) {
        msp_require_pointer(call, "ivar", words);
    }
    if (!msp_job.checks) {
        return;
    }
    msp_check_symmetric(call, "ivar", words, size_bytes);
}

static inline void look_at(const char *call, const void *words, size_t size_bytes)
{
    if (MSP_UNLIKELY(!msp_job.is_on || msp_job.checks || (words == NULL))) {
        check_words(call, words, size_bytes);
    }
}

/* True, with the word's bits, when the host cannot load it. */
static inline bool load_far(const void *word, size_t size_bytes, uint64_t *bits_p)
{
    return MSP_UNLIKELY(msp_job_has_device_memory()) && msp_own_load(word, size_bytes, bits_p);
}

/* ---- one word ---- */

#define COMPARE(have, comparison, want, act)                                                       \
    switch (comparison) {                                                                          \
    case SHMEM_CMP_EQ:                                                                             \
        act((have) == (want));                                                                     \
    case SHMEM_CMP_NE:                                                                             \
        act((have) != (want));                                                                     \
    case SHMEM_CMP_GT:                                                                             \
        act((have) > (want));                                                                      \
    case SHMEM_CMP_GE:                                                                             \
        act((have) >= (want));                                                                     \
    case SHMEM_CMP_LT:                                                                             \
        act((have) < (want));                                                                      \
    case SHMEM_CMP_LE:                                                                             \
        act((have) <= (want));                                                                     \
    default:                                                                                       \
        msp_refuse_comparison(call, comparison);                                                   \
    }
#define ANSWER(condition) return (condition)
#define WAIT_FOR(condition)                                                                        \
    MSP_WAIT_AT(word, sizeof *word, condition);                                                    \
    return have

/* fits_S32(): whether a value fits; test_S32(): whether the word's does, *have_p; wait_S32(): until
 * it does, the value that did. */
#define DEFINE_ONE(form, type)                                                                     \
    static inline bool fits_##form(const char *call, type have, int comparison, type want)         \
    {                                                                                              \
        COMPARE(have, comparison, want, ANSWER)                                                    \
    }                                                                                              \
    static inline bool test_##form(const char *call, const type *word, int comparison, type want,  \
                                   type *have_p)                                                   \
    {                                                                                              \
        uint64_t bits;                                                                             \
                                                                                                   \
        *have_p = load_far(word, sizeof *word, &bits) ? (type)bits                                 \
                                                      : __atomic_load_n(word, __ATOMIC_ACQUIRE);   \
        return fits_##form(call, *have_p, comparison, want);                                       \
    }                                                                                              \
    static type wait_##form(const char *call, const type *word, int comparison, type want)         \
    {                                                                                              \
        type have;                                                                                 \
                                                                                                   \
        look_at(call, word, sizeof *word);                                                         \
        if (MSP_UNLIKELY(msp_job_has_device_memory())) {                                           \
            MSP_WAIT_AT(word, sizeof *word, test_##form(call, word, comparison, want, &have));     \
            return have;                                                                           \
        }                                                                                          \
        COMPARE((have = __atomic_load_n(word, __ATOMIC_ACQUIRE)), comparison, want, WAIT_FOR)      \
    }
FORM_MAP(DEFINE_ONE)

static void wait_one(const char *call, enum form form, const void *ivar, int comparison,
                     uint64_t want)
{
    switch (form) {
#define WAIT_CASE(form_, type)                                                                     \
    case form_:                                                                                    \
        (void)wait_##form_(call, ivar, comparison, (type)want);                                    \
        break;
        FORM_MAP(WAIT_CASE)
#undef WAIT_CASE
    }
}

static bool fits_one(const char *call, enum form form, const void *ivar, int comparison,
                     uint64_t want)
{
    switch (form) {
#define FITS_CASE(form_, type)                                                                     \
    case form_: {                                                                                  \
        type have;                                                                                 \
                                                                                                   \
        return test_##form_(call, ivar, comparison, (type)want, &have);                            \
    }
        FORM_MAP(FITS_CASE)
#undef FITS_CASE
    }
    return false;
}

static int test_one(const char *call, enum form form, const void *ivar, int comparison,
                    uint64_t want, size_t size_bytes)
{
    look_at(call, ivar, size_bytes);
    if (fits_one(call, form, ivar, comparison, want)) {
        return 1;
    }
    msp_wait_poll();
    return 0;
}

#define WAIT(NAME, TYPE, OP)                                                                       \
    MSP_ROUTINE(void, shmem_##NAME##_wait_until, TYPE *ivar, int cmp, TYPE cmp_value)              \
    {                                                                                              \
        wait_one(MSP_CALL, FORM_OF(TYPE), ivar, cmp, (uint64_t)cmp_value);                         \
    }
#define TEST(NAME, TYPE, OP)                                                                       \
    MSP_ROUTINE(int, shmem_##NAME##_test, TYPE *ivar, int cmp, TYPE cmp_value)                     \
    {                                                                                              \
        return test_one(MSP_CALL, FORM_OF(TYPE), ivar, cmp, (uint64_t)cmp_value, sizeof(TYPE));    \
    }
#define OLD_WAIT(NAME, TYPE, OP)                                                                   \
    MSP_ROUTINE(void, shmem_##NAME##_wait, TYPE *ivar, TYPE cmp_value)                             \
    {                                                                                              \
        wait_one(MSP_CALL, FORM_OF(TYPE), ivar, SHMEM_CMP_NE, (uint64_t)cmp_value);                \
    }
MEMSPAN_SHMEM_AMO_TYPES(WAIT, )
MEMSPAN_SHMEM_OLD_WAIT_TYPES(WAIT, )
MEMSPAN_SHMEM_AMO_TYPES(TEST, )
MEMSPAN_SHMEM_OLD_WAIT_TYPES(TEST, )
MEMSPAN_SHMEM_ACTIVE_BITS_TYPES(OLD_WAIT, )

MSP_ROUTINE(void, shmem_wait_until, long *ivar, int cmp, long cmp_value)
{
    (void)wait_S64(MSP_CALL, ivar, cmp, cmp_value);
}

MSP_ROUTINE(void, shmem_wait, long *ivar, long cmp_value)
{
    (void)wait_S64(MSP_CALL, ivar, SHMEM_CMP_NE, cmp_value);
}

MSP_ROUTINE(uint64_t, shmem_signal_wait_until, uint64_t *sig_addr, int cmp, uint64_t cmp_value)
{
    return wait_U64(MSP_CALL, sig_addr, cmp, cmp_value);
}

/* ---- many words ---- */

struct words {
    const char *call;
    const char *ivars;
    const int *status; /* a nonzero one excludes its word; NULL: none does */
    const char *wants; /* one value, or one for each word */
    size_t count;
    size_t size_bytes; /* of a word */
    enum form form;
    int comparison;
    bool is_vector;
};

static bool counts(const struct words *words, size_t i)
{
    return (words->status == NULL) || (words->status[i] == 0);
}

static uint64_t want_of(const struct words *words, size_t i)
{
    const char *want = words->wants + (words->is_vector ? i * words->size_bytes : 0);
    uint16_t quarter = 0;
    uint32_t half    = 0;
    uint64_t whole   = 0;

    if (words->size_bytes == sizeof quarter) {
        memcpy(&quarter, want, sizeof quarter);
        return quarter;
    }
    if (words->size_bytes == sizeof half) {
        memcpy(&half, want, sizeof half);
        return half;
    }
    memcpy(&whole, want, sizeof whole);
    return whole;
}

static bool fits(const struct words *words, size_t i)
{
    return fits_one(words->call, words->form, words->ivars + (i * words->size_bytes),
                    words->comparison, want_of(words, i));
}

static bool is_empty(const struct words *words)
{
    size_t i;

    for (i = 0; i < words->count; i++) {
        if (counts(words, i)) {
            return false;
        }
    }
    return true;
}

static size_t span_bytes(const struct words *words)
{
    return msp_bytes_of(words->count, words->size_bytes);
}

static bool all_fit(const struct words *words)
{
    size_t i;

    for (i = 0; i < words->count; i++) {
        if (counts(words, i) && !fits(words, i)) {
            return false;
        }
    }
    return true;
}

/* The index of a word that fits. The search starts behind the one found before, for fairness. */
static size_t find_any(const struct words *words)
{
    static _Thread_local size_t turn;
    size_t i;

    for (i = 0; i < words->count; i++) {
        size_t at = (turn + i) % words->count;

        if (counts(words, at) && fits(words, at)) {
            turn = at + 1;
            return at;
        }
    }
    return SIZE_MAX;
}

static size_t find_some(const struct words *words, size_t *indices)
{
    size_t found = 0;
    size_t i;

    for (i = 0; i < words->count; i++) {
        if (counts(words, i) && fits(words, i)) {
            indices[found++] = i;
        }
    }
    return found;
}

/* The other arrays, if there are words; @p indices: not NULL if none are written. */
static void require_arrays(const struct words *words, const void *indices)
{
    if (words->count != 0) {
        msp_require_pointer(words->call, "cmp_values", words->wants);
        msp_require_pointer(words->call, "indices", indices);
    }
}

static void wait_until_all(const struct words *words)
{
    size_t i;

    require_arrays(words, words);
    for (i = 0; i < words->count; i++) {
        if (counts(words, i)) {
            wait_one(words->call, words->form, words->ivars + (i * words->size_bytes),
                     words->comparison, want_of(words, i));
        }
    }
}

static int test_all(const struct words *words)
{
    look_at(words->call, words->ivars, span_bytes(words));
    require_arrays(words, words);
    if (all_fit(words)) {
        return 1;
    }
    msp_wait_poll();
    return 0;
}

static size_t test_any(const struct words *words)
{
    size_t found;

    look_at(words->call, words->ivars, span_bytes(words));
    require_arrays(words, words);
    found = find_any(words);
    if (found == SIZE_MAX) {
        msp_wait_poll();
    }
    return found;
}

static size_t wait_until_any(const struct words *words)
{
    size_t found = SIZE_MAX;

    look_at(words->call, words->ivars, span_bytes(words));
    require_arrays(words, words);
    if (!is_empty(words)) {
        MSP_WAIT_AT(words->ivars, span_bytes(words), (found = find_any(words)) != SIZE_MAX);
    }
    return found;
}

static size_t test_some(const struct words *words, size_t *indices)
{
    size_t found;

    look_at(words->call, words->ivars, span_bytes(words));
    require_arrays(words, indices);
    found = find_some(words, indices);
    if (found == 0) {
        msp_wait_poll();
    }
    return found;
}

static size_t wait_until_some(const struct words *words, size_t *indices)
{
    size_t found = 0;

    look_at(words->call, words->ivars, span_bytes(words));
    require_arrays(words, indices);
    if (!is_empty(words)) {
        MSP_WAIT_AT(words->ivars, span_bytes(words), (found = find_some(words, indices)) != 0);
    }
    return found;
}

#define WORDS(TYPE, VALUES, IS_VECTOR)                                                             \
    (&(const struct words){.call       = MSP_CALL,                                                 \
                           .ivars      = (const char *)ivars,                                      \
                           .status     = status,                                                   \
                           .wants      = (const char *)(VALUES),                                   \
                           .count      = nelems,                                                   \
                           .size_bytes = sizeof(TYPE),                                             \
                           .form       = FORM_OF(TYPE),                                            \
                           .comparison = cmp,                                                      \
                           .is_vector  = (IS_VECTOR)})

#define MANY(RESULT, GIVE, NAME, TYPE, OP)                                                         \
    MSP_ROUTINE(RESULT, shmem_##NAME##_##OP, TYPE *ivars, size_t nelems, const int *status,        \
                int cmp, TYPE cmp_value)                                                           \
    {                                                                                              \
        GIVE OP(WORDS(TYPE, &cmp_value, false));                                                   \
    }                                                                                              \
    MSP_ROUTINE(RESULT, shmem_##NAME##_##OP##_vector, TYPE *ivars, size_t nelems,                  \
                const int *status, int cmp, const TYPE *cmp_values)                                \
    {                                                                                              \
        GIVE OP(WORDS(TYPE, cmp_values, true));                                                    \
    }
#define WAIT_ALL(NAME, TYPE, OP) MANY(void, , NAME, TYPE, OP)
#define TEST_ALL(NAME, TYPE, OP) MANY(int, return, NAME, TYPE, OP)
#define ANY(NAME, TYPE, OP)      MANY(size_t, return, NAME, TYPE, OP)
#define SOME(NAME, TYPE, OP)                                                                       \
    MSP_ROUTINE(size_t, shmem_##NAME##_##OP, TYPE *ivars, size_t nelems, size_t *indices,          \
                const int *status, int cmp, TYPE cmp_value)                                        \
    {                                                                                              \
        return OP(WORDS(TYPE, &cmp_value, false), indices);                                        \
    }                                                                                              \
    MSP_ROUTINE(size_t, shmem_##NAME##_##OP##_vector, TYPE *ivars, size_t nelems, size_t *indices, \
                const int *status, int cmp, const TYPE *cmp_values)                                \
    {                                                                                              \
        return OP(WORDS(TYPE, cmp_values, true), indices);                                         \
    }
MEMSPAN_SHMEM_AMO_TYPES(WAIT_ALL, wait_until_all)
MEMSPAN_SHMEM_AMO_TYPES(ANY, wait_until_any)
MEMSPAN_SHMEM_AMO_TYPES(SOME, wait_until_some)
MEMSPAN_SHMEM_AMO_TYPES(TEST_ALL, test_all)
MEMSPAN_SHMEM_AMO_TYPES(ANY, test_any)
MEMSPAN_SHMEM_AMO_TYPES(SOME, test_some)
MEMSPAN_SHMEM_OLD_WAIT_TYPES(WAIT_ALL, wait_until_all)
MEMSPAN_SHMEM_OLD_WAIT_TYPES(ANY, wait_until_any)
MEMSPAN_SHMEM_OLD_WAIT_TYPES(SOME, wait_until_some)
MEMSPAN_SHMEM_OLD_WAIT_TYPES(TEST_ALL, test_all)
MEMSPAN_SHMEM_OLD_WAIT_TYPES(ANY, test_any)
MEMSPAN_SHMEM_OLD_WAIT_TYPES(SOME, test_some)
