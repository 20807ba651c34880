/* SPDX-License-Identifier: BSD-3-Clause */
/* active [LEVEL]: the forms with an active set, all of them, on all sets, at a thread level (0 to
 * 3: at the highest one, all PEs together go the way of any other set). The pSync is as it was, and
 * the root's dest too. */

#include "tests/shmem/check.h"
#include <complex.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 4096, TURNS = 2 };

static long sync_words[TURNS][SHMEM_SYNC_SIZE];
static long barrier_words[SHMEM_BARRIER_SYNC_SIZE];
static _Alignas(16) char static_source[64 * ROOM];
static _Alignas(16) char static_dest[64 * ROOM];
static char *heap_source;
static char *heap_dest;
static _Alignas(16) char work[ROOM];
static int me;
static unsigned turn;

struct set {
    int start;
    int log_stride;
    int size;
    int pe;
    int count;
    void *dest;
    void *source;
};

/* Two in turn: a call may not use words that another one is still leaving. */
static long *next_sync(void)
{
    return sync_words[++turn % TURNS];
}

static void check_sync(const struct set *set)
{
    enum { PUTS = 16, WORDS = 512 }; /* larger than what travels with the flag of a barrier */
    static long put[PUTS][WORDS];
    static long source[WORDS];
    int next = set->start + (((set->pe + 1) % set->size) << set->log_stride);
    int word;
    int i;

    source[WORDS - 1] = set->size;
    memset(put, 0, sizeof put);
    shmem_sync(set->start, set->log_stride, set->size, barrier_words);
    for (i = 0; i < PUTS; i++) {
        shmem_long_put_nbi(put[i], source, WORDS, next);
    }
    shmem_barrier(set->start, set->log_stride, set->size, barrier_words);
    for (i = 0; i < PUTS; i++) {
        CHECK(put[i][WORDS - 1] == set->size, "put %d before shmem_barrier() has not arrived", i);
    }
    for (i = 0; i < TURNS; i++) {
        for (word = 0; word < SHMEM_SYNC_SIZE; word++) {
            CHECK(sync_words[i][word] == SHMEM_SYNC_VALUE, "pSync[%d] is %ld", word,
                  sync_words[i][word]);
        }
    }
    shmem_sync(set->start, set->log_stride, set->size, barrier_words);
}

#define FOLD_sum(a, b)  ((a) + (b))
#define FOLD_prod(a, b) ((a) * (b))
#define FOLD_min(a, b)  (((b) < (a)) ? (b) : (a))
#define FOLD_max(a, b)  (((b) > (a)) ? (b) : (a))
#define FOLD_and(a, b)  ((a) & (b))
#define FOLD_or(a, b)   ((a) | (b))
#define FOLD_xor(a, b)  ((a) ^ (b))

/* Ones beyond PE 20: products must fit an int. */
#define TERM(pe, i) (((pe) < 20) ? ((((pe)*5 + (i)*3) % 2) + 1) : 1)
#define TO_ALL(NAME, TYPE, OP)                                                                     \
    static void NAME##_##OP(const struct set *set)                                                 \
    {                                                                                              \
        TYPE *source = set->source;                                                                \
        TYPE *dest   = (set->count % 2 == 0) ? set->source : set->dest;                            \
        int i;                                                                                     \
                                                                                                   \
        for (i = 0; i < set->count; i++) {                                                         \
            source[i] = (TYPE)TERM(set->pe, i);                                                    \
        }                                                                                          \
        shmem_##NAME##_##OP##_to_all(dest, source, set->count, set->start, set->log_stride,        \
                                     set->size, (TYPE *)(void *)work, next_sync());                \
        for (i = 0; i < set->count; i++) {                                                         \
            TYPE expected = (TYPE)TERM(0, i);                                                      \
            int pe;                                                                                \
                                                                                                   \
            for (pe = 1; pe < set->size; pe++) {                                                   \
                expected = (TYPE)FOLD_##OP(expected, (TYPE)TERM(pe, i));                           \
            }                                                                                      \
            CHECK(dest[i] == expected, #NAME "_" #OP "_to_all: %d of %d, set %d %d %d", i,         \
                  set->count, set->start, set->log_stride, set->size);                             \
        }                                                                                          \
    }
MEMSPAN_SHMEM_ACTIVE_BITS_TYPES(TO_ALL, and)
MEMSPAN_SHMEM_ACTIVE_BITS_TYPES(TO_ALL, or)
MEMSPAN_SHMEM_ACTIVE_BITS_TYPES(TO_ALL, xor)
MEMSPAN_SHMEM_ACTIVE_TYPES(TO_ALL, max)
MEMSPAN_SHMEM_ACTIVE_TYPES(TO_ALL, min)
MEMSPAN_SHMEM_ACTIVE_SUM_TYPES(TO_ALL, sum)
MEMSPAN_SHMEM_ACTIVE_SUM_TYPES(TO_ALL, prod)

#define ELEMENT(BITS, pe, i) ((uint##BITS##_t)(((pe) + 1) * 100003 + (int)(i)))
#define EXPECT(BITS, to, pe, from, step, elements)                                                 \
    do {                                                                                           \
        size_t i_;                                                                                 \
                                                                                                   \
        for (i_ = 0; i_ < (elements); i_++) {                                                      \
            CHECK((to)[i_ * (step)] == ELEMENT(BITS, pe, (from) + i_), "%zu from PE %d of %d", i_, \
                  pe, set->size);                                                                  \
        }                                                                                          \
    } while (0)
/* A program must have dest ready in all PEs before any of them calls. */
static void ready(const struct set *set)
{
    shmem_sync(set->start, set->log_stride, set->size, next_sync());
}

#define MOVE(BITS, OP)                                                                             \
    static void move##BITS(const struct set *set)                                                  \
    {                                                                                              \
        uint##BITS##_t *source = set->source;                                                      \
        uint##BITS##_t *dest   = set->dest;                                                        \
        size_t count           = (size_t)set->count;                                               \
        int root               = (int)turn % set->size;                                            \
        size_t at              = 0;                                                                \
        int pe;                                                                                    \
        size_t i;                                                                                  \
                                                                                                   \
        for (i = 0; i < count * (size_t)set->size; i++) {                                          \
            source[i] = ELEMENT(BITS, set->pe, i);                                                 \
        }                                                                                          \
        memset(dest, 0x5a, count * sizeof *dest);                                                  \
        ready(set);                                                                                \
        shmem_broadcast##BITS(dest, source, count, root, set->start, set->log_stride, set->size,   \
                              next_sync());                                                        \
        if (set->pe != root) {                                                                     \
            EXPECT(BITS, dest, root, 0, 1, count);                                                 \
        } else {                                                                                   \
            CHECK(count == 0 || *(char *)dest == 0x5a, "the root's dest was written");             \
        }                                                                                          \
        ready(set);                                                                                \
        shmem_fcollect##BITS(dest, source, count, set->start, set->log_stride, set->size,          \
                             next_sync());                                                         \
        for (pe = 0; pe < set->size; pe++) {                                                       \
            EXPECT(BITS, &dest[(size_t)pe * count], pe, 0, 1, count);                              \
        }                                                                                          \
        ready(set);                                                                                \
        shmem_collect##BITS(dest, source, count / (size_t)(1 + (set->pe % 3)), set->start,         \
                            set->log_stride, set->size, next_sync());                              \
        for (pe = 0; pe < set->size; pe++) {                                                       \
            EXPECT(BITS, &dest[at], pe, 0, 1, count / (size_t)(1 + (pe % 3)));                     \
            at += count / (size_t)(1 + (pe % 3));                                                  \
        }                                                                                          \
        ready(set);                                                                                \
        shmem_alltoall##BITS(dest, source, count, set->start, set->log_stride, set->size,          \
                             next_sync());                                                         \
        for (pe = 0; pe < set->size; pe++) {                                                       \
            EXPECT(BITS, &dest[(size_t)pe * count], pe, (size_t)set->pe *count, 1, count);         \
        }                                                                                          \
        ready(set);                                                                                \
        shmem_alltoalls##BITS(dest, source, 3, 1, count / 3, set->start, set->log_stride,          \
                              set->size, next_sync());                                             \
        for (pe = 0; pe < set->size; pe++) {                                                       \
            EXPECT(BITS, &dest[(size_t)pe * (count / 3) * 3], pe, (size_t)set->pe *(count / 3), 3, \
                   count / 3);                                                                     \
        }                                                                                          \
    }
MOVE(32, move)
MOVE(64, move)

#define ENTRY(NAME, TYPE, OP) NAME##_##OP,
static void (*const calls[])(const struct set *) = {
    MEMSPAN_SHMEM_ACTIVE_BITS_TYPES(ENTRY, and) MEMSPAN_SHMEM_ACTIVE_BITS_TYPES(ENTRY, or)
        MEMSPAN_SHMEM_ACTIVE_BITS_TYPES(ENTRY, xor) MEMSPAN_SHMEM_ACTIVE_TYPES(ENTRY, max)
            MEMSPAN_SHMEM_ACTIVE_TYPES(ENTRY, min) MEMSPAN_SHMEM_ACTIVE_SUM_TYPES(ENTRY, sum)
                MEMSPAN_SHMEM_ACTIVE_SUM_TYPES(ENTRY, prod) move32,
    move64};

static void run(struct set *set)
{
    static const int counts[] = {0, 1, 6, 130, ROOM / 16};
    int distance              = me - set->start;
    size_t c;
    size_t i;

    if ((distance < 0) || (distance % (1 << set->log_stride) != 0) ||
        ((distance >> set->log_stride) >= set->size)) {
        return;
    }
    turn    = 0;
    set->pe = distance >> set->log_stride;
    for (c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        set->count  = counts[c];
        set->source = (c % 2 == 0) ? heap_source : static_source;
        set->dest   = (c % 2 == 0) ? static_dest : heap_dest;
        for (i = 0; i < sizeof calls / sizeof calls[0]; i++) {
            calls[i](set);
        }
    }
    check_sync(set);
}

int main(int argc, char **argv)
{
    int level = (argc > 1) ? atoi(argv[1]) : SHMEM_THREAD_SINGLE;
    struct set set;
    int count;
    int got;

    CHECK(shmem_init_thread(level, &got) == 0, "level %d", level);
    me          = shmem_my_pe();
    count       = shmem_n_pes();
    heap_source = shmem_calloc(64, ROOM);
    heap_dest   = shmem_calloc(64, ROOM);
    for (set.start = 0; set.start < count; set.start += (count > 8) ? 21 : 1) {
        for (set.log_stride = 0; (1 << set.log_stride) <= count; set.log_stride++) {
            int most = 1 + ((count - 1 - set.start) >> set.log_stride);

            for (set.size = 1; set.size <= most; set.size += (count > 8) ? 31 : 1) {
                run(&set);
                shmem_sync_all(); /* another set may use the same words now */
            }
        }
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
