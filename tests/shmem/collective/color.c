/* SPDX-License-Identifier: BSD-3-Clause */
/* color [ROUNDS]: teams by color and key, and teams and contexts of these, against lists of their
 * PEs. A PE's color and key depend on its number alone, so that all PEs know those of all. */

#include "tests/shmem/check.h"
#include <limits.h>
#include <malloc.h>
#include <memspan/status.h>
#include <shmemx.h>
#include <stdbool.h>
#include <stdlib.h>

enum { PES = 64, MANY = 1200, CYCLES = 200, LEAST = -1 };

/* The world's numbers, by number in the team. */
struct list {
    int size;
    int pes[PES];
};

static int me;
static int count;
static int word;
static int words[PES];
static shmem_team_t teams[MANY];

/* ---- the model ---- */

static uint64_t draw(int round, int depth, int what)
{
    uint64_t state = ((uint64_t)round << 32) + ((uint64_t)depth << 16) + (uint64_t)what;

    return check_random(&state);
}

/* LEAST: none. */
static int color_of(int round, int depth, int pe)
{
    int colors = 1 + (int)(draw(round, depth, 1000) % 3);
    int color  = (int)(draw(round, depth, pe) % (uint64_t)(colors + 1)) - 1;

    return (color == colors - 1) ? INT_MAX : color;
}

static int key_of(int round, int depth, int pe)
{
    static const int ends[] = {INT_MIN, -1, 0, INT_MAX};
    uint64_t drawn          = draw(round, depth, 2000 + pe);

    switch (draw(round, depth, 3000) % 4) {
    case 0:
        return 7;
    case 1:
        return -pe;
    case 2:
        return ends[drawn % 4];
    default:
        return (int)(drawn % 1000) - 500;
    }
}

/* Those of the parent with this PE's color, by insertion. */
static struct list by_color(const struct list *parent, int round, int depth)
{
    int color        = color_of(round, depth, me);
    struct list list = {0};
    int i;

    for (i = 0; (i < parent->size) && (color != LEAST); i++) {
        int pe = parent->pes[i];
        int at;

        if (color_of(round, depth, pe) != color) {
            continue;
        }
        for (at = list.size;
             (at > 0) && (key_of(round, depth, list.pes[at - 1]) > key_of(round, depth, pe));
             at--) {
            list.pes[at] = list.pes[at - 1];
        }
        list.pes[at] = pe;
        list.size++;
    }
    return list;
}

static struct list strided(const struct list *parent, int start, int stride, int size)
{
    struct list list = {.size = size};
    int i;

    for (i = 0; i < size; i++) {
        list.pes[i] = parent->pes[start + (i * stride)];
    }
    return list;
}

static int number_in(const struct list *list, int pe)
{
    int i;

    for (i = 0; (i < list->size) && (list->pes[i] != pe); i++) {
    }
    return (i < list->size) ? i : -1;
}

/* ---- a team ---- */

static void expect(shmem_team_t team, const struct list *list, const char *what)
{
    int i;

    CHECK((team != SHMEM_TEAM_INVALID) == (number_in(list, me) >= 0), "%s: a member?", what);
    if (team == SHMEM_TEAM_INVALID) {
        return;
    }
    CHECK(shmem_team_n_pes(team) == list->size, "%s: %d PEs", what, list->size);
    CHECK(shmem_team_my_pe(team) == number_in(list, me), "%s: %d", what, shmem_team_my_pe(team));
    for (i = 0; i < list->size; i++) {
        CHECK(shmem_team_translate_pe(team, i, SHMEM_TEAM_WORLD) == list->pes[i], "%s: %d", what,
              i);
        CHECK(shmem_team_ptr(team, &word, i) == shmem_ptr(&word, list->pes[i]), "%s: %d", what, i);
    }
    for (i = 0; i < count; i++) {
        CHECK(shmem_team_translate_pe(SHMEM_TEAM_WORLD, i, team) == number_in(list, i), "%s: PE %d",
              what, i);
    }
    CHECK(shmem_team_ptr(team, &word, list->size) == NULL, "%s: past the end", what);
    word = me;
    shmem_team_sync(team);
    CHECK(shmem_int_fcollect(team, words, &word, 1) == 0, "%s: status", what);
    for (i = 0; i < list->size; i++) {
        CHECK(words[i] == list->pes[i], "%s: place %d has %d, not %d", what, i, words[i],
              list->pes[i]);
    }
    shmem_team_sync(team);
}

/* Contexts have the team's numbers. */
static void use_context(shmem_team_t team, const struct list *list)
{
    int right       = (shmem_team_my_pe(team) + 1) % list->size;
    shmem_ctx_t ctx = SHMEM_CTX_INVALID;

    CHECK(shmem_team_create_ctx(team, 0, &ctx) == 0, "%s", memspan_error_text());
    shmem_ctx_int_p(ctx, &word, 1000 + right, right);
    shmem_ctx_quiet(ctx);
    shmem_team_sync(team);
    CHECK(word == 1000 + shmem_team_my_pe(team), "%d was put", word);
    shmem_team_sync(team);
    CHECK(shmem_ctx_int_g(ctx, &word, right) == 1000 + right, "PE %d of the team", right);
    CHECK(shmem_ctx_int_atomic_fetch_add(ctx, &word, 5, right) == 1000 + right, "%d", right);
    shmem_team_sync(team);
    CHECK(shmem_int_g(&word, list->pes[right]) == 1005 + right, "PE %d", list->pes[right]);
    shmem_team_sync(team);
}

static void split_strided(shmem_team_t parent, const struct list *list, int round)
{
    int size   = 1 + (int)(draw(round, 8, 1) % (uint64_t)list->size);
    int stride = (size == 1) ? 1 : (list->size - 1) / (size - 1);
    int start  = (int)(draw(round, 8, 2) % (uint64_t)(list->size - ((size - 1) * stride)));
    struct list part;
    shmem_team_t team;

    if (round % 2 != 0) {
        start += (size - 1) * stride;
        stride = -stride;
    }
    CHECK(shmem_team_split_strided(parent, start, stride, size, NULL, 0, &team) == 0,
          "start %d, stride %d, size %d", start, stride, size);
    part = strided(list, start, stride, size);
    expect(team, &part, "strided");
    shmem_team_destroy(team);
}

static void split_2d(shmem_team_t parent, const struct list *list, int round)
{
    int width  = 1 + (int)(draw(round, 9, 1) % (uint64_t)list->size);
    int number = shmem_team_my_pe(parent);
    int row    = number / width * width;
    int column = number % width;
    struct list part;
    shmem_team_t axes[2];

    CHECK(shmem_team_split_2d(parent, width, NULL, 0, &axes[0], NULL, 0, &axes[1]) == 0,
          "xrange %d", width);
    part = strided(list, row, 1, (row + width <= list->size) ? width : (list->size - row));
    expect(axes[0], &part, "a row");
    part = strided(list, column, width, ((list->size - column - 1) / width) + 1);
    expect(axes[1], &part, "a column");
    shmem_team_destroy(axes[0]);
    shmem_team_destroy(axes[1]);
}

/* The parent's PEs by color, and what is made of them. Some parents end before their teams do. */
static void split(shmem_team_t parent, const struct list *list, int round, int depth)
{
    shmem_team_config_t config = {.num_contexts = 2 + depth};
    struct list mine           = by_color(list, round, depth);
    shmem_team_t team          = SHMEM_TEAM_WORLD;

    CHECK(shmemx_team_split_color(parent, color_of(round, depth, me), key_of(round, depth, me),
                                  &config, SHMEM_TEAM_NUM_CONTEXTS, &team) == 0,
          "%s", memspan_error_text());
    if ((depth > 0) && (round % 2 != 0)) {
        shmem_team_destroy(parent);
    }
    expect(team, &mine, "by color");
    if (team == SHMEM_TEAM_INVALID) {
        return;
    }
    config.num_contexts = 0;
    CHECK(shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &config) == 0, "config");
    CHECK(config.num_contexts == 2 + depth, "%d contexts", config.num_contexts);
    use_context(team, &mine);
    split_strided(team, &mine, round);
    split_2d(team, &mine, round);
    expect(team, &mine, "after its splits");
    if (depth < 2) {
        split(team, &mine, round, depth + 1);
    }
    if ((depth == 2) || (round % 2 == 0)) {
        shmem_team_destroy(team);
        CHECK((getenv("SHMEMX_CHECK") != NULL) || (shmem_team_n_pes(team) == -1), "destroyed");
    }
}

/* ---- spaces, limits ---- */

/* All PEs from the last one on, so that they are no run. */
static int turned(shmem_team_t *team)
{
    return shmemx_team_split_color(SHMEM_TEAM_WORLD, 0, (me + 1) % count, NULL, 0, team);
}

/* A space of such a team has its members alone. */
static void make_space(void)
{
    shmemx_space_config_t config = {.struct_size = sizeof config, .size = 64 << 10};
    bool is_member               = (count < 4) || (me != 1);
    shmemx_space_t space         = SHMEMX_SPACE_INVALID;
    shmem_team_t team;
    long *memory;
    int pe;

    CHECK(shmemx_team_split_color(SHMEM_TEAM_WORLD, is_member ? 3 : SHMEMX_TEAM_NO_COLOR,
                                  (me + 1) % count, NULL, 0, &team) == 0,
          "%s", memspan_error_text());
    CHECK((team != SHMEM_TEAM_INVALID) == is_member, "a member?");
    if (is_member) {
        CHECK(shmemx_space_create(team, &config, &space) == 0, "%s", memspan_error_text());
        memory = shmemx_space_malloc(space, sizeof *memory);
        CHECK(memory != NULL, "%s", memspan_error_text());
        *memory = me;
        shmem_team_sync(team);
        for (pe = 0; pe < count; pe++) {
            bool has_it = (count < 4) || (pe != 1);

            CHECK((shmem_ptr(memory, pe) != NULL) == (has_it && check_is_near(pe)), "PE %d", pe);
            CHECK(!has_it || (shmem_long_g(memory, pe) == pe), "PE %d", pe);
        }
        shmem_team_sync(team);
        CHECK(shmemx_space_destroy(space) == 0, "%s", memspan_error_text());
        shmem_team_destroy(team);
    }
    shmem_barrier_all();
}

static void refused(void)
{
    shmem_team_t team = SHMEM_TEAM_WORLD;

    CHECK(shmemx_team_split_color(SHMEM_TEAM_INVALID, 0, 0, NULL, 0, &team) == MEMSPAN_ERR_INVALID,
          "no parent");
    CHECK(team == SHMEM_TEAM_INVALID, "no parent");
    team = SHMEM_TEAM_WORLD;
    CHECK(shmemx_team_split_color(SHMEM_TEAM_WORLD, INT_MIN, 0, NULL, 0, &team) == 0, "no member");
    CHECK(team == SHMEM_TEAM_INVALID, "no member");
}

/* PE 0 alone has all teams in use: none of another color is made either. */
static void exhaust(void)
{
    int made = 0;
    shmem_team_t alone;
    shmem_team_t team;
    int i;

    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, NULL, 0, &alone) == 0, "PE 0");
    while ((alone != SHMEM_TEAM_INVALID) && (made < MANY) &&
           (shmemx_team_split_color(alone, 0, 0, NULL, 0, &teams[made]) == 0)) {
        made++;
    }
    shmem_barrier_all();
    CHECK(shmemx_team_split_color(SHMEM_TEAM_WORLD, me, 0, NULL, 0, &team) == MEMSPAN_ERR_LIMIT,
          "one too many");
    CHECK(team == SHMEM_TEAM_INVALID, "one too many");
    for (i = 0; i < made; i++) {
        shmem_team_destroy(teams[i]);
    }
    shmem_team_destroy(alone);
    CHECK(turned(&team) == 0, "%s", memspan_error_text());
    shmem_team_destroy(team);
}

/* Nothing is kept of teams that have ended. */
static void again_and_again(void)
{
    size_t before = 0;
    size_t after;
    int i;

    for (i = 0; i < CYCLES + 10; i++) {
        shmem_team_t team;

        if (i == 10) {
            before = mallinfo2().uordblks;
        }
        CHECK(turned(&team) == 0, "%s", memspan_error_text());
        shmem_team_destroy(team);
    }
    after = mallinfo2().uordblks;
    CHECK(after < before + (CYCLES * sizeof(int)), "%zu bytes more", after - before);
}

int main(int argc, char **argv)
{
    int rounds      = (argc > 1) ? atoi(argv[1]) : 12;
    struct list all = {0};
    int round;

    shmem_init();
    me    = shmem_my_pe();
    count = shmem_n_pes();
    for (all.size = 0; all.size < count; all.size++) {
        all.pes[all.size] = all.size;
    }
    refused();
    for (round = 0; round < rounds; round++) {
        split(SHMEM_TEAM_WORLD, &all, round, 0);
    }
    make_space();
    if (shmem_team_n_pes(SHMEM_TEAM_SHARED) == count) {
        again_and_again();
        exhaust();
    }
    shmem_finalize();
    return 0;
}
