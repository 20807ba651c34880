/* SPDX-License-Identifier: BSD-3-Clause */
/* random [SEED [ROUNDS]]: every collective on random teams, with random sizes and types, in place
 * and apart, in variables and in the heap, against what one PE can work out by itself. All PEs draw
 * the same numbers. */

#include "tests/shmem/check.h"
#include <complex.h>
#include <shmemx.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 20, GUARD = 64 };

static _Alignas(64) char static_source[ROOM];
static _Alignas(64) char static_dest[ROOM + GUARD];
static char *heap_source;
static char *heap_dest;
static uint64_t state;
static uint64_t message;

/* A call's arguments, the same on all members but for the PE. */
struct round {
    shmem_team_t team;
    int pe;
    int size;
    int root;
    size_t count;
    ptrdiff_t to_stride;
    ptrdiff_t from_stride;
    void *dest;
    void *source;
    bool in_place;
};

/* What stands at @p i of PE @p pe's source: few and small, so that sums are exact in every type and
 * products do not leave the range of an int. */
static int number_at(int pe, size_t i)
{
    return (int)((message + (uint64_t)(pe * 7) + (i * 3) + (i >> 5)) % 5);
}
/* For those that compare: negative ones, which are the largest of unsigned types. */
static int signed_at(int pe, size_t i)
{
    return number_at(pe, i) - 2;
}
static int factor_at(int pe, size_t i)
{
    return (pe % 16 == (int)((i + message) % 3)) ? 2 : 1;
}

static void guard(const struct round *round, size_t bytes)
{
    memset((char *)round->dest + bytes, 0x5a, GUARD);
}

static void check_guard(const char *call, const struct round *round, size_t bytes)
{
    int i;

    for (i = 0; i < GUARD; i++) {
        CHECK(((char *)round->dest)[bytes + (size_t)i] == 0x5a,
              "%s wrote past the end of dest: %zu elements, %d PEs", call, round->count,
              round->size);
    }
}

/* ---- reductions and scans ---- */

#define FOLD_sum(a, b)  ((a) + (b))
#define FOLD_prod(a, b) ((a) * (b))
#define FOLD_min(a, b)  (((b) < (a)) ? (b) : (a))
#define FOLD_max(a, b)  (((b) > (a)) ? (b) : (a))
#define FOLD_and(a, b)  ((a) & (b))
#define FOLD_or(a, b)   ((a) | (b))
#define FOLD_xor(a, b)  ((a) ^ (b))
#define TERM_sum        number_at
#define TERM_prod       factor_at
#define TERM_min        signed_at
#define TERM_max        signed_at
#define TERM_and        number_at
#define TERM_or         number_at
#define TERM_xor        number_at

#define REDUCE(NAME, TYPE, OP)                                                                     \
    static void NAME##_##OP(struct round *round)                                                   \
    {                                                                                              \
        TYPE *source = round->source;                                                              \
        TYPE *dest   = round->in_place ? round->source : round->dest;                              \
        size_t i;                                                                                  \
                                                                                                   \
        for (i = 0; i < round->count; i++) {                                                       \
            source[i] = (TYPE)TERM_##OP(round->pe, i);                                             \
        }                                                                                          \
        guard(round, round->count * sizeof(TYPE));                                                 \
        CHECK(shmem_##NAME##_##OP##_reduce(round->team, dest, source, round->count) == 0,          \
              "status");                                                                           \
        for (i = 0; i < round->count; i++) {                                                       \
            TYPE expected = (TYPE)TERM_##OP(0, i);                                                 \
            int pe;                                                                                \
                                                                                                   \
            for (pe = 1; pe < round->size; pe++) {                                                 \
                expected = (TYPE)FOLD_##OP(expected, (TYPE)TERM_##OP(pe, i));                      \
            }                                                                                      \
            CHECK(dest[i] == expected, #NAME "_" #OP "_reduce: element %zu of %zu, %d PEs", i,     \
                  round->count, round->size);                                                      \
        }                                                                                          \
        check_guard(#NAME "_" #OP "_reduce", round, round->count * sizeof(TYPE));                  \
    }
MEMSPAN_SHMEM_REDUCE_BITS_TYPES(REDUCE, and)
MEMSPAN_SHMEM_REDUCE_BITS_TYPES(REDUCE, or)
MEMSPAN_SHMEM_REDUCE_BITS_TYPES(REDUCE, xor)
MEMSPAN_SHMEM_RMA_TYPES(REDUCE, max)
MEMSPAN_SHMEM_RMA_TYPES(REDUCE, min)
MEMSPAN_SHMEM_REDUCE_SUM_TYPES(REDUCE, sum)
MEMSPAN_SHMEM_REDUCE_SUM_TYPES(REDUCE, prod)

#define LAST_inscan(pe) (pe)
#define LAST_exscan(pe) ((pe)-1)
#define SCAN(NAME, TYPE, OP)                                                                       \
    static void NAME##_##OP(struct round *round)                                                   \
    {                                                                                              \
        TYPE *source = round->source;                                                              \
        TYPE *dest   = round->in_place ? round->source : round->dest;                              \
        size_t i;                                                                                  \
                                                                                                   \
        for (i = 0; i < round->count; i++) {                                                       \
            source[i] = (TYPE)number_at(round->pe, i);                                             \
        }                                                                                          \
        guard(round, round->count * sizeof(TYPE));                                                 \
        CHECK(shmem_##NAME##_sum_##OP(round->team, dest, source, round->count) == 0, "status");    \
        for (i = 0; i < round->count; i++) {                                                       \
            TYPE expected = 0;                                                                     \
            int pe;                                                                                \
                                                                                                   \
            for (pe = 0; pe <= LAST_##OP(round->pe); pe++) {                                       \
                expected = (TYPE)(expected + (TYPE)number_at(pe, i));                              \
            }                                                                                      \
            CHECK(dest[i] == expected, #NAME "_sum_" #OP ": element %zu of %zu, %d PEs", i,        \
                  round->count, round->size);                                                      \
        }                                                                                          \
        check_guard(#NAME "_sum_" #OP, round, round->count * sizeof(TYPE));                        \
    }
MEMSPAN_SHMEM_REDUCE_SUM_TYPES(SCAN, inscan)
MEMSPAN_SHMEM_REDUCE_SUM_TYPES(SCAN, exscan)

/* ---- data movement ----
 *
 * Of these a program must have dest ready in all PEs before any of them calls. */

#define MOVE(NAME, TYPE, OP)                                                                       \
    static void NAME##_fill(struct round *round, size_t count)                                     \
    {                                                                                              \
        size_t i;                                                                                  \
                                                                                                   \
        for (i = 0; i < count; i++) {                                                              \
            ((TYPE *)round->source)[i] = (TYPE)((round->pe * 11) + (int)(i % 101));                \
        }                                                                                          \
    }                                                                                              \
    /* @p count elements at @p to are those at @p from of PE @p pe's source, @p step apart. */     \
    static void NAME##_expect(const struct round *round, const char *call, const TYPE *to,         \
                              ptrdiff_t to_step, int pe, size_t from, ptrdiff_t step,              \
                              size_t count)                                                        \
    {                                                                                              \
        size_t i;                                                                                  \
                                                                                                   \
        for (i = 0; i < count; i++) {                                                              \
            size_t at = from + (i * (size_t)step);                                                 \
                                                                                                   \
            CHECK(to[i * (size_t)to_step] == (TYPE)((pe * 11) + (int)(at % 101)),                  \
                  "shmem_" #NAME "_%s: element %zu of %zu from PE %d of %d, root %d", call, i,     \
                  count, pe, round->size, round->root);                                            \
        }                                                                                          \
    }                                                                                              \
    static void NAME##_broadcast(struct round *round)                                              \
    {                                                                                              \
        NAME##_fill(round, round->count);                                                          \
        guard(round, round->count * sizeof(TYPE));                                                 \
        shmem_team_sync(round->team);                                                              \
        CHECK(shmem_##NAME##_broadcast(round->team, round->dest, round->source, round->count,      \
                                       round->root) == 0,                                          \
              "status");                                                                           \
        NAME##_expect(round, "broadcast", round->dest, 1, round->root, 0, 1, round->count);        \
        check_guard("broadcast", round, round->count * sizeof(TYPE));                              \
    }                                                                                              \
    static void NAME##_fcollect(struct round *round)                                               \
    {                                                                                              \
        int pe;                                                                                    \
                                                                                                   \
        NAME##_fill(round, round->count);                                                          \
        guard(round, round->count *(size_t)round->size * sizeof(TYPE));                            \
        shmem_team_sync(round->team);                                                              \
        CHECK(shmem_##NAME##_fcollect(round->team, round->dest, round->source, round->count) == 0, \
              "status");                                                                           \
        for (pe = 0; pe < round->size; pe++) {                                                     \
            NAME##_expect(round, "fcollect", (TYPE *)round->dest + ((size_t)pe * round->count), 1, \
                          pe, 0, 1, round->count);                                                 \
        }                                                                                          \
        check_guard("fcollect", round, round->count *(size_t)round->size * sizeof(TYPE));          \
    }                                                                                              \
    static void NAME##_collect(struct round *round)                                                \
    {                                                                                              \
        TYPE *to = round->dest;                                                                    \
        int pe;                                                                                    \
                                                                                                   \
        NAME##_fill(round, part_of(round, round->pe));                                             \
        shmem_team_sync(round->team);                                                              \
        CHECK(shmem_##NAME##_collect(round->team, round->dest, round->source,                      \
                                     part_of(round, round->pe)) == 0,                              \
              "status");                                                                           \
        for (pe = 0; pe < round->size; pe++) {                                                     \
            NAME##_expect(round, "collect", to, 1, pe, 0, 1, part_of(round, pe));                  \
            to += part_of(round, pe);                                                              \
        }                                                                                          \
    }                                                                                              \
    static void NAME##_alltoall(struct round *round)                                               \
    {                                                                                              \
        int pe;                                                                                    \
                                                                                                   \
        NAME##_fill(round, round->count *(size_t)round->size);                                     \
        guard(round, round->count *(size_t)round->size * sizeof(TYPE));                            \
        shmem_team_sync(round->team);                                                              \
        CHECK(shmem_##NAME##_alltoall(round->team, round->dest, round->source, round->count) == 0, \
              "status");                                                                           \
        for (pe = 0; pe < round->size; pe++) {                                                     \
            NAME##_expect(round, "alltoall", (TYPE *)round->dest + ((size_t)pe * round->count), 1, \
                          pe, (size_t)round->pe * round->count, 1, round->count);                  \
        }                                                                                          \
        check_guard("alltoall", round, round->count *(size_t)round->size * sizeof(TYPE));          \
    }                                                                                              \
    static void NAME##_alltoalls(struct round *round)                                              \
    {                                                                                              \
        size_t part = round->count / 4;                                                            \
        int pe;                                                                                    \
                                                                                                   \
        NAME##_fill(round, part *(size_t)round->size *(size_t)round->from_stride);                 \
        shmem_team_sync(round->team);                                                              \
        CHECK(shmem_##NAME##_alltoalls(round->team, round->dest, round->source, round->to_stride,  \
                                       round->from_stride, part) == 0,                             \
              "status");                                                                           \
        for (pe = 0; pe < round->size; pe++) {                                                     \
            NAME##_expect(round, "alltoalls",                                                      \
                          (TYPE *)round->dest + ((size_t)pe * part * (size_t)round->to_stride),    \
                          round->to_stride, pe,                                                    \
                          (size_t)round->pe * part * (size_t)round->from_stride,                   \
                          round->from_stride, part);                                               \
        }                                                                                          \
    }

/* Some have nothing to add. */
static size_t part_of(const struct round *round, int pe)
{
    return (round->count * (size_t)((pe * 5 + (int)(message % 7)) % 4)) / 4;
}
MEMSPAN_SHMEM_RMA_TYPES(MOVE, move)

/* ---- what is drawn ---- */

typedef void (*call_t)(struct round *round);

#define REDUCE_ENTRY(NAME, TYPE, OP) {NAME##_##OP, sizeof(TYPE)},
#define MOVE_ENTRY(NAME, TYPE, OP)                                                                 \
    {NAME##_broadcast, sizeof(TYPE)}, {NAME##_fcollect, sizeof(TYPE)},                             \
        {NAME##_collect, sizeof(TYPE)}, {NAME##_alltoall, sizeof(TYPE)},                           \
        {NAME##_alltoalls, sizeof(TYPE)},

static const struct entry {
    call_t call;
    size_t element_bytes;
} entries[] = {MEMSPAN_SHMEM_REDUCE_BITS_TYPES(REDUCE_ENTRY, and)
                   MEMSPAN_SHMEM_REDUCE_BITS_TYPES(REDUCE_ENTRY, or)
                       MEMSPAN_SHMEM_REDUCE_BITS_TYPES(REDUCE_ENTRY, xor)
                           MEMSPAN_SHMEM_RMA_TYPES(REDUCE_ENTRY, max)
                               MEMSPAN_SHMEM_RMA_TYPES(REDUCE_ENTRY, min)
                                   MEMSPAN_SHMEM_REDUCE_SUM_TYPES(REDUCE_ENTRY, sum)
                                       MEMSPAN_SHMEM_REDUCE_SUM_TYPES(REDUCE_ENTRY, prod)
                                           MEMSPAN_SHMEM_REDUCE_SUM_TYPES(REDUCE_ENTRY, inscan)
                                               MEMSPAN_SHMEM_REDUCE_SUM_TYPES(REDUCE_ENTRY, exscan)
                                                   MEMSPAN_SHMEM_RMA_TYPES(MOVE_ENTRY, move)};

enum { ENTRIES = sizeof entries / sizeof entries[0] };

static uint64_t below(uint64_t limit)
{
    return check_random(&state) % limit;
}

/* Elements of each PE's part: few most of the time, all that there is room for sometimes. */
static size_t draw_count(size_t element_bytes, int size)
{
    static const size_t limits[] = {4, 16, 64, 600, 3000, 20000, SIZE_MAX};
    /* Strides of alltoalls are up to 4, on a fourth of the elements. */
    size_t room  = (ROOM - GUARD) / (element_bytes * (size_t)size);
    size_t limit = limits[below(sizeof limits / sizeof limits[0])];

    return below(((limit < room) ? limit : room) + 1);
}

static void run_round(shmem_team_t team, unsigned pick)
{
    const struct entry *entry = &entries[pick % ENTRIES];
    struct round round        = {
               .team = team, .pe = shmem_team_my_pe(team), .size = shmem_team_n_pes(team)};

    message           = below(1000);
    round.root        = (int)below((uint64_t)round.size);
    round.count       = draw_count(entry->element_bytes, round.size);
    round.to_stride   = (ptrdiff_t)(1 + below(4));
    round.from_stride = (ptrdiff_t)(1 + below(4));
    round.source      = (below(2) != 0) ? heap_source : static_source;
    round.dest        = (below(2) != 0) ? heap_dest : static_dest;
    round.in_place    = (below(3) == 0);
    entry->call(&round);
}

/* A team of the world's, or of one of the parts that the world falls into; those who are in none
 * draw the same numbers and stand by. */
static void run_on_random_team(int rounds)
{
    int count  = shmem_n_pes();
    int size   = 1 + (int)below((uint64_t)count);
    int stride = (size == 1) ? 1 : 1 + (int)below((uint64_t)((count - 1) / (size - 1)));
    int start  = (int)below((uint64_t)(count - ((size - 1) * stride)));
    uint64_t seed;
    shmem_team_t team;
    int i;

    if (below(3) == 0) {
        start += (size - 1) * stride;
        stride = -stride;
    }
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, size, NULL, 0, &team) == 0,
          "start %d, stride %d, size %d", start, stride, size);
    seed = check_random(&state);
    if (team != SHMEM_TEAM_INVALID) {
        CHECK(shmem_team_n_pes(team) == size, "%d", size);
        for (i = 0; i < rounds; i++) {
            run_round(team, (unsigned)below(1 << 20));
        }
        shmem_team_destroy(team);
    }
    state = seed;
}

/* All the teams of an axis at once: rows and columns do not wait for each other. */
static void run_on_axes(int rounds)
{
    int x_range = 1 + (int)below((uint64_t)shmem_n_pes());
    shmem_team_t axes[2];
    uint64_t seed;
    int axis;
    int i;

    CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, x_range, NULL, 0, &axes[0], NULL, 0, &axes[1]) == 0,
          "xrange %d", x_range);
    seed = check_random(&state);
    for (axis = 0; axis < 2; axis++) {
        for (i = 0; i < rounds; i++) {
            run_round(axes[axis], (unsigned)below(1 << 20));
        }
        /* Rows of different length draw different numbers. */
        state = seed + (uint64_t)axis;
        shmem_team_destroy(axes[axis]);
    }
    state = seed;
}

/* All teams of some colors at once, with PEs in random order; one PE in eight is in none. Those of
 * a color draw the same numbers. */
static void run_on_colors(int rounds)
{
    uint64_t colors = 1 + below(3);
    int color       = 0;
    int key         = 0;
    uint64_t seed;
    shmem_team_t team;
    int pe;
    int i;

    for (pe = 0; pe < shmem_n_pes(); pe++) {
        int drawn_color = (below(8) == 0) ? SHMEMX_TEAM_NO_COLOR : (int)below(colors);
        int drawn_key   = (int)below(100) - 50;

        color = (pe == shmem_my_pe()) ? drawn_color : color;
        key   = (pe == shmem_my_pe()) ? drawn_key : key;
    }
    CHECK(shmemx_team_split_color(SHMEM_TEAM_WORLD, color, key, NULL, 0, &team) == 0, "color %d",
          color);
    seed  = check_random(&state);
    state = seed + (uint64_t)color + 1;
    for (i = 0; (i < rounds) && (team != SHMEM_TEAM_INVALID); i++) {
        run_round(team, (unsigned)below(1 << 20));
    }
    shmem_team_destroy(team);
    state = seed;
}

/* Sums that are rounded have the same bits on all PEs, whatever the order. */
static void round_alike(void)
{
    enum { NUMBERS = 500 };
    static const size_t counts[] = {1, 7, NUMBERS};
    static double theirs[NUMBERS];
    double *dest   = (double *)(void *)heap_dest;
    double *source = (double *)(void *)heap_source;

    for (size_t i = 0; i < NUMBERS; i++) {
        source[i] = 1.0 / (double)(3 + i + (size_t)(shmem_my_pe() * 17));
    }
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        CHECK(shmem_double_sum_reduce(SHMEM_TEAM_WORLD, dest, source, counts[i]) == 0, "status");
        shmem_barrier_all();
        shmem_double_get(theirs, dest, counts[i], 0);
        CHECK(memcmp(dest, theirs, counts[i] * sizeof(double)) == 0,
              "sums of %zu numbers differ from PE 0's", counts[i]);
        shmem_barrier_all();
    }
}

/* A large part may be written again after the call, though that of the last PE is small. */
static void collect_unlike(void)
{
    enum { LARGE = 100000, CALLS = 10 };
    int64_t *dest   = (int64_t *)(void *)heap_dest;
    int64_t *source = (int64_t *)(void *)heap_source;
    size_t mine     = (shmem_my_pe() == 0) ? LARGE : 1;

    for (int call = 1; call <= CALLS; call++) {
        for (size_t i = 0; i < mine; i++) {
            source[i] = call;
        }
        shmem_barrier_all();
        CHECK(shmem_int64_collect(SHMEM_TEAM_WORLD, dest, source, mine) == 0, "status");
        memset(source, 0, mine * sizeof *source);
        for (size_t i = 0; i < LARGE; i++) {
            CHECK(dest[i] == call, "element %zu is %ld, not %d", i, (long)dest[i], call);
        }
        shmem_barrier_all();
    }
}

/* The root of broadcasts waits for no PE: the others follow, however far ahead it is. One that is
 * ahead of a broadcast whose root is another does not end it. */
static void run_ahead(void)
{
    enum { CALLS = 340, ROW = 17 };
    int64_t *dest   = (int64_t *)(void *)heap_dest;
    int64_t *source = (int64_t *)(void *)heap_source;
    int i;

    for (i = 0; i < CALLS; i++) {
        dest[i]   = -1;
        source[i] = (shmem_my_pe() * 1000) + i;
    }
    shmem_barrier_all();
    for (i = 0; i < CALLS; i++) {
        int root = ((i < CALLS / 2) || (i % ROW == 0)) ? 0 : (1 % shmem_n_pes());

        CHECK(shmem_int64_broadcast(SHMEM_TEAM_WORLD, &dest[i], &source[i], 1, root) == 0, "%d", i);
        CHECK(dest[i] == (root * 1000) + i, "broadcast %d has %ld", i, (long)dest[i]);
    }
    shmem_barrier_all();
}

int main(int argc, char **argv)
{
    int rounds = (argc > 2) ? atoi(argv[2]) : 2;
    unsigned i;

    state = (argc > 1) ? strtoull(argv[1], NULL, 0) : 1;
    shmem_init();
    heap_source = shmem_malloc(ROOM);
    heap_dest   = shmem_malloc(ROOM + GUARD);
    for (i = 0; i < (unsigned)rounds * ((shmem_n_pes() > 8) ? 10 : 40); i++) {
        run_on_random_team(6);
        run_on_axes(2);
        if (i % 4 == 0) {
            run_on_colors(5);
        }
    }
    run_ahead();
    round_alike();
    collect_unlike();
    /* Each of them at least once, by all. */
    for (i = 0; i < ENTRIES; i++) {
        run_round(SHMEM_TEAM_WORLD, i);
    }
    shmem_finalize();
    return 0;
}
