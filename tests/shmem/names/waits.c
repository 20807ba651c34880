/* SPDX-License-Identifier: BSD-3-Clause */
/* waits.c: waits and tests in all forms and comparisons, on words that the PE before this one
 * changes. */

#include "tests/shmem/check.h"
#include <string.h>

#define WORDS 8

static int next;

/* Signed and unsigned, of both widths: -1 is less than 1 in some, and greater in others. */
#define COMPARE_TEST(NAME, TYPE, IS_SIGNED)                                                        \
    static void compare_##NAME(void)                                                               \
    {                                                                                              \
        static TYPE word;                                                                          \
                                                                                                   \
        word = (TYPE)-1;                                                                           \
        CHECK(shmem_##NAME##_test(&word, SHMEM_CMP_LT, 1) == (IS_SIGNED), #NAME);                  \
        CHECK(shmem_##NAME##_test(&word, SHMEM_CMP_LE, 1) == (IS_SIGNED), #NAME);                  \
        CHECK(shmem_##NAME##_test(&word, SHMEM_CMP_GT, 1) == !(IS_SIGNED), #NAME);                 \
        CHECK(shmem_##NAME##_test(&word, SHMEM_CMP_GE, 1) == !(IS_SIGNED), #NAME);                 \
        CHECK(shmem_##NAME##_test(&word, SHMEM_CMP_EQ, (TYPE)-1) == 1, #NAME);                     \
        CHECK(shmem_##NAME##_test(&word, SHMEM_CMP_NE, (TYPE)-1) == 0, #NAME);                     \
        CHECK(shmem_##NAME##_test(&word, SHMEM_CMP_LE, (TYPE)-1) == 1, #NAME);                     \
        CHECK(shmem_##NAME##_test(&word, SHMEM_CMP_GE, (TYPE)-1) == 1, #NAME);                     \
        CHECK(shmem_##NAME##_test(&word, SHMEM_CMP_GT, (TYPE)-1) == 0, #NAME);                     \
        CHECK(shmem_##NAME##_test(&word, SHMEM_CMP_LT, (TYPE)-1) == 0, #NAME);                     \
        shmem_##NAME##_wait_until(&word, SHMEM_CMP_NE, 0);                                         \
    }
COMPARE_TEST(short, short, 1)
COMPARE_TEST(ushort, unsigned short, 0)
COMPARE_TEST(int, int, 1)
COMPARE_TEST(uint, unsigned int, 0)
COMPARE_TEST(long, long, 1)
COMPARE_TEST(ulong, unsigned long, 0)
COMPARE_TEST(longlong, long long, 1)
COMPARE_TEST(ulonglong, unsigned long long, 0)
COMPARE_TEST(int32, int32_t, 1)
COMPARE_TEST(uint32, uint32_t, 0)
COMPARE_TEST(int64, int64_t, 1)
COMPARE_TEST(uint64, uint64_t, 0)
COMPARE_TEST(size, size_t, 0)
COMPARE_TEST(ptrdiff, ptrdiff_t, 1)

/* Every PE sets the words of the next one, one after another, while that one waits for them. */
#define MANY_TEST(NAME, TYPE)                                                                      \
    static void many_##NAME(void)                                                                  \
    {                                                                                              \
        static TYPE words[WORDS];                                                                  \
        TYPE wants[WORDS];                                                                         \
        size_t places[WORDS];                                                                      \
        int status[WORDS] = {0};                                                                   \
        size_t count      = 0;                                                                     \
        size_t i;                                                                                  \
                                                                                                   \
        for (i = 0; i < WORDS; i++) {                                                              \
            wants[i] = (TYPE)(i + 1);                                                              \
        }                                                                                          \
        shmem_barrier_all();                                                                       \
        CHECK(shmem_##NAME##_test_any(words, WORDS, NULL, SHMEM_CMP_NE, 0) == SIZE_MAX, #NAME);    \
        CHECK(shmem_##NAME##_test_some(words, WORDS, places, NULL, SHMEM_CMP_NE, 0) == 0, #NAME);  \
        CHECK(shmem_##NAME##_test_all(words, WORDS, NULL, SHMEM_CMP_NE, 0) == 0, #NAME);           \
        CHECK(shmem_##NAME##_test_all(words, 0, NULL, SHMEM_CMP_NE, 0) == 1, #NAME);               \
        CHECK(shmem_##NAME##_wait_until_any(words, 0, NULL, SHMEM_CMP_NE, 0) == SIZE_MAX, #NAME);  \
        shmem_barrier_all();                                                                       \
        for (i = 0; i < WORDS; i++) {                                                              \
            shmem_##NAME##_p(&words[i], wants[i], next);                                           \
        }                                                                                          \
        for (i = 0; i < WORDS; i++) { /* each is reported once */                                  \
            size_t at = shmem_##NAME##_wait_until_any(words, WORDS, status, SHMEM_CMP_NE, 0);      \
            CHECK((at < WORDS) && (status[at] == 0) && (words[at] == wants[at]), #NAME);           \
            status[at] = 1;                                                                        \
        }                                                                                          \
        CHECK(shmem_##NAME##_wait_until_any(words, WORDS, status, SHMEM_CMP_NE, 0) == SIZE_MAX,    \
              #NAME);                                                                              \
        CHECK(shmem_##NAME##_wait_until_some(words, WORDS, places, status, SHMEM_CMP_NE, 0) == 0,  \
              #NAME);                                                                              \
        shmem_##NAME##_wait_until_all(words, WORDS, status, SHMEM_CMP_EQ, 99);                     \
        shmem_##NAME##_wait_until_all(words, WORDS, NULL, SHMEM_CMP_NE, 0);                        \
        shmem_##NAME##_wait_until_all_vector(words, WORDS, NULL, SHMEM_CMP_EQ, wants);             \
        CHECK(shmem_##NAME##_test_all_vector(words, WORDS, NULL, SHMEM_CMP_EQ, wants) == 1,        \
              #NAME);                                                                              \
        wants[3] = 77;                                                                             \
        CHECK(shmem_##NAME##_test_all_vector(words, WORDS, NULL, SHMEM_CMP_EQ, wants) == 0,        \
              #NAME);                                                                              \
        CHECK(shmem_##NAME##_test_any_vector(words, WORDS, NULL, SHMEM_CMP_NE, wants) == 3,        \
              #NAME);                                                                              \
        CHECK(shmem_##NAME##_wait_until_any_vector(words, WORDS, NULL, SHMEM_CMP_NE, wants) == 3,  \
              #NAME);                                                                              \
        count = shmem_##NAME##_wait_until_some_vector(words, WORDS, places, NULL, SHMEM_CMP_EQ,    \
                                                      wants);                                      \
        CHECK((count == WORDS - 1) && (places[3] == 4), #NAME);                                    \
        count = shmem_##NAME##_test_some_vector(words, WORDS, places, NULL, SHMEM_CMP_NE, wants);  \
        CHECK((count == 1) && (places[0] == 3), #NAME);                                            \
        count = shmem_##NAME##_wait_until_some(words, WORDS, places, NULL, SHMEM_CMP_GT, 4);       \
        CHECK((count == 4) && (places[0] == 4), #NAME);                                            \
        shmem_barrier_all();                                                                       \
    }
MANY_TEST(short, short)
MANY_TEST(ushort, unsigned short)
MANY_TEST(int, int)
MANY_TEST(uint, unsigned int)
MANY_TEST(long, long)
MANY_TEST(ulonglong, unsigned long long)
MANY_TEST(int32, int32_t)
MANY_TEST(uint64, uint64_t)
MANY_TEST(size, size_t)
MANY_TEST(ptrdiff, ptrdiff_t)

/* Of words that all fit each is found in turn, and none that its status excludes. */
static void find_in_turn(void)
{
    static long words[WORDS] = {1, 1, 1, 1, 1, 1, 1, 1};
    const int status[WORDS]  = {[2] = 1, [5] = 1};
    size_t places[WORDS];
    unsigned found = 0;
    size_t i;

    for (i = 0; i < WORDS; i++) {
        found |= 1u << shmem_long_test_any(words, WORDS, NULL, SHMEM_CMP_EQ, 1);
    }
    CHECK(found == (1u << WORDS) - 1, "found %#x", found);
    CHECK(shmem_long_test_some(words, WORDS, places, status, SHMEM_CMP_EQ, 1) == WORDS - 2, "some");
    CHECK((places[1] == 1) && (places[2] == 3) && (places[4] == 6), "those that do not count");
}

/* The older names, and signals. */
static void wait_old(void)
{
    static short small;
    static long word;
    static long other;
    static uint64_t sig;
    static long data[4];
    long mine[4] = {1, 2, 3, 4};

    shmem_barrier_all();
    shmem_short_p(&small, 5, next);
    shmem_long_p(&word, 9, next);
    shmem_long_atomic_inc(&other, next);
    shmem_long_put_signal(data, mine, 4, &sig, 7, SHMEM_SIGNAL_ADD, next);
    shmem_short_wait(&small, 0);
    shmem_wait(&word, 0);
    (shmem_wait_until)(&other, SHMEM_CMP_GE, 1);
    CHECK(shmem_signal_wait_until(&sig, SHMEM_CMP_GT, 0) == 7, "the signal");
    CHECK(memcmp(data, mine, sizeof mine) == 0, "the data before the signal");
    CHECK((small == 5) && (word == 9) && (other == 1), "old waits");
    shmem_barrier_all();
    shmem_signal_set(&sig, 3, next);
    shmem_signal_wait_until(&sig, SHMEM_CMP_EQ, 3);
    shmem_barrier_all();
    shmem_signal_add(&sig, 2, next);
    while (shmem_signal_fetch(&sig) != 5) {
    }
    while (shmem_long_atomic_fetch(&other, shmem_my_pe()) != 1) {
    }
    shmem_barrier_all();
}

int main(void)
{
    shmem_init();
    next = (shmem_my_pe() + 1) % shmem_n_pes();
    compare_short();
    compare_ushort();
    compare_int();
    compare_uint();
    compare_long();
    compare_ulong();
    compare_longlong();
    compare_ulonglong();
    compare_int32();
    compare_uint32();
    compare_int64();
    compare_uint64();
    compare_size();
    compare_ptrdiff();
    many_short();
    many_ushort();
    many_int();
    many_uint();
    many_long();
    many_ulonglong();
    many_int32();
    many_uint64();
    many_size();
    many_ptrdiff();
    find_in_turn();
    wait_old();
    shmem_finalize();
    return 0;
}
