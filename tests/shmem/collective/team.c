/* SPDX-License-Identifier: BSD-3-Clause */
/* team: splitting, by all its rules; numbers; handles that have become stale; indices that are used
 * again at once, by other members, while the last ones are still leaving; as many as there can be.
 */

#include "tests/shmem/check.h"
#include <stdbool.h>

enum { MANY = 1200 };

static int me;
static int count;
static long value;
static long sum;
static shmem_team_t teams[MANY];

static int split(shmem_team_t parent, int start, int stride, int size, shmem_team_t *team)
{
    *team = SHMEM_TEAM_WORLD;
    return shmem_team_split_strided(parent, start, stride, size, NULL, 0, team);
}

/* The sum of its members' numbers in the world says who they are. */
static void expect_members(shmem_team_t team, int start, int stride, int size)
{
    long expected = 0;
    int i;

    for (i = 0; i < size; i++) {
        int world = start + (i * stride);

        expected += world + 1;
        CHECK(shmem_team_translate_pe(team, i, SHMEM_TEAM_WORLD) == world, "%d of %d", i, size);
        CHECK(shmem_team_translate_pe(SHMEM_TEAM_WORLD, world, team) == i, "%d", world);
        if (world == me) {
            CHECK(shmem_team_my_pe(team) == i, "%d", shmem_team_my_pe(team));
        }
    }
    for (i = 0; i < count; i++) {
        int number = shmem_team_translate_pe(SHMEM_TEAM_WORLD, i, team);

        CHECK((number == -1) || (shmem_team_translate_pe(team, number, SHMEM_TEAM_WORLD) == i),
              "PE %d has number %d: start %d, stride %d, size %d", i, number, start, stride, size);
    }
    value = me + 1;
    CHECK(shmem_long_sum_reduce(team, &sum, &value, 1) == 0, "status");
    CHECK(sum == expected, "sum %ld, not %ld: start %d, stride %d, size %d", sum, expected, start,
          stride, size);
}

static void good(int start, int stride, int size)
{
    shmem_team_t team;
    int distance   = (stride == 0) ? 1 : stride;
    int number     = (me - start) / distance;
    bool is_member = ((me - start) % distance == 0) && (number >= 0) && (number < size);

    CHECK(split(SHMEM_TEAM_WORLD, start, stride, size, &team) == 0, "start %d, stride %d, size %d",
          start, stride, size);
    CHECK((team != SHMEM_TEAM_INVALID) == is_member, "start %d, stride %d, size %d", start, stride,
          size);
    if (is_member) {
        expect_members(team, start, stride, size);
    }
    shmem_team_destroy(team);
    CHECK(shmem_team_my_pe(team) == -1, "a destroyed team has PE %d", shmem_team_my_pe(team));
    CHECK(shmem_team_n_pes(team) == -1, "a destroyed team");
}

static void bad(int start, int stride, int size)
{
    shmem_team_t team;

    CHECK(split(SHMEM_TEAM_WORLD, start, stride, size, &team) != 0, "start %d, stride %d, size %d",
          start, stride, size);
    CHECK(team == SHMEM_TEAM_INVALID, "start %d, stride %d, size %d", start, stride, size);
}

static void rules(void)
{
    shmem_team_t x;
    shmem_team_t y;

    good(0, 1, count);
    good(count - 1, -1, count);
    good(0, 0, 1);
    good(count - 1, 17, 1);
    good(0, 2, (count + 1) / 2);
    good(count / 2, 1, count - (count / 2));
    good(count - 1, -2, (count + 1) / 2);
    bad(0, 0, 2);
    bad(0, 1, 0);
    bad(0, 1, -1);
    bad(-1, 1, 1);
    bad(count, -1, 1);
    bad(0, 1, count + 1);
    bad(1, 1, count);
    bad(0, -1, 2);
    bad(0, 1 << 30, 1 << 30);
    bad(count / 2, count, 2); /* around the end and in again */
    CHECK(split(SHMEM_TEAM_INVALID, 0, 1, 1, &x) != 0 && x == SHMEM_TEAM_INVALID, "no parent");
    CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, 0, NULL, 0, &x, NULL, 0, &y) != 0, "xrange 0");
    CHECK(x == SHMEM_TEAM_INVALID && y == SHMEM_TEAM_INVALID, "xrange 0");
    shmem_team_destroy(SHMEM_TEAM_INVALID);
}

static void axes(int x_range)
{
    int width                  = (x_range < count) ? x_range : count;
    int row                    = (me / width) * width;
    shmem_team_config_t config = {.num_contexts = 3};
    shmem_team_config_t got    = {.num_contexts = -1};
    shmem_team_t x;
    shmem_team_t y;

    CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, x_range, &config, SHMEM_TEAM_NUM_CONTEXTS, &x, NULL,
                              0, &y) == 0,
          "xrange %d", x_range);
    CHECK(shmem_team_get_config(x, SHMEM_TEAM_NUM_CONTEXTS, &got) == 0 && got.num_contexts == 3,
          "%d", got.num_contexts);
    CHECK(shmem_team_get_config(y, 0, NULL) == 0, "nothing asked for");
    expect_members(x, row, 1, (row + width <= count) ? width : (count - row));
    expect_members(y, me % width, width, ((count - (me % width) - 1) / width) + 1);
    shmem_team_destroy(x);
    shmem_team_destroy(y);
}

/* Teams of teams, backwards; a context of one, which ends with it. */
static void nested(void)
{
    shmem_team_t outer;
    shmem_team_t inner;
    shmem_ctx_t context;

    CHECK(split(SHMEM_TEAM_WORLD, count - 1, -1, count, &outer) == 0, "outer");
    CHECK(split(outer, 0, 2, (count + 1) / 2, &inner) == 0, "inner");
    if (inner != SHMEM_TEAM_INVALID) {
        expect_members(inner, count - 1, -2, (count + 1) / 2);
        CHECK(shmem_team_create_ctx(inner, 0, &context) == 0, "context");
        shmem_team_sync(inner); /* value was the source of a reduction, which others may be in */
        shmem_ctx_long_p(context, &value, 77 + me,
                         (shmem_team_my_pe(inner) + 1) % shmem_team_n_pes(inner));
        shmem_ctx_quiet(context);
        shmem_team_sync(inner);
        CHECK(value >= 77, "the put of the context has not come: %ld", value);
        shmem_team_sync(inner);
    }
    shmem_team_destroy(inner);
    shmem_team_destroy(outer);
}

/* Pairs with the left and with the right neighbour in turn: the index of the team that was just
 * destroyed is free on both sides at once. */
static void neighbours(int rounds)
{
    shmem_team_t pair;
    shmem_team_t trio;
    int i;

    if (count < 3) {
        return;
    }
    CHECK(split(SHMEM_TEAM_WORLD, 0, 1, 3, &trio) == 0, "trio");
    for (i = 0; (i < rounds) && (trio != SHMEM_TEAM_INVALID); i++) {
        shmem_team_t left;

        CHECK(split(trio, 0, 1, 2, &left) == 0, "left");
        CHECK(split(trio, 1, 1, 2, &pair) == 0, "right");
        if (left != SHMEM_TEAM_INVALID) {
            shmem_team_sync(left);
            shmem_team_destroy(left);
        }
        if (pair != SHMEM_TEAM_INVALID) {
            shmem_team_t again;

            CHECK(split(pair, 0, 1, 2, &again) == 0, "again");
            expect_members(again, 1, 1, 2);
            shmem_team_destroy(again);
            shmem_team_destroy(pair);
        }
    }
    shmem_team_destroy(trio);
}

/* With room for one team the axes, which are two, fail, and that room is there still. */
static void half_of_axes(shmem_team_t last)
{
    shmem_team_t x_team;
    shmem_team_t y_team;

    shmem_team_destroy(last);
    CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, 1, NULL, 0, &x_team, NULL, 0, &y_team) != 0,
          "two teams where there is room for one");
    CHECK((x_team == SHMEM_TEAM_INVALID) && (y_team == SHMEM_TEAM_INVALID), "a team all the same");
}

static void exhaust(void)
{
    int made;
    int i;

    for (made = 0; made < MANY; made++) {
        if (split(SHMEM_TEAM_WORLD, 0, 1, count, &teams[made]) != 0) {
            break;
        }
    }
    CHECK(made > 100 && made < MANY, "%d teams", made);
    CHECK(teams[made] == SHMEM_TEAM_INVALID, "the one too many");
    half_of_axes(teams[made - 1]);
    CHECK(split(SHMEM_TEAM_WORLD, 0, 1, count, &teams[made - 1]) == 0,
          "two axes that could not be made have kept a team");
    expect_members(teams[made - 1], 0, 1, count);
    for (i = 0; i < made; i++) {
        shmem_team_destroy(teams[i]);
    }
    good(0, 1, count);
}

/* The end of a team ends its own contexts alone. */
static void contexts_of_others_stay(void)
{
    static long word;
    shmem_ctx_t context;
    shmem_team_t team;

    CHECK(split(SHMEM_TEAM_WORLD, 0, 1, count, &team) == 0, "a team");
    CHECK(shmem_ctx_create(0, &context) == 0, "a context");
    shmem_team_destroy(team);
    shmem_ctx_long_p(context, &word, 7, (me + 1) % count);
    shmem_ctx_quiet(context);
    shmem_barrier_all();
    CHECK(word == 7, "%ld", word);
    shmem_ctx_destroy(context);
}

static void strangers(void)
{
    shmem_team_config_t config;
    int near = 0;
    int pe;

    CHECK(shmem_team_my_pe(SHMEM_TEAM_INVALID) == -1, "my_pe");
    CHECK(shmem_team_n_pes(SHMEM_TEAM_INVALID) == -1, "n_pes");
    CHECK(shmem_team_translate_pe(SHMEM_TEAM_INVALID, 0, SHMEM_TEAM_WORLD) == -1, "from none");
    CHECK(shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, SHMEM_TEAM_INVALID) == -1, "to none");
    CHECK(shmem_team_translate_pe(SHMEM_TEAM_WORLD, count, SHMEM_TEAM_WORLD) == -1, "past the end");
    CHECK(shmem_team_get_config(SHMEM_TEAM_INVALID, SHMEM_TEAM_NUM_CONTEXTS, &config) != 0, "none");
    for (pe = 0; pe < count; pe++) {
        CHECK((shmem_ptr(&count, pe) != NULL) == check_is_near(pe), "PE %d", pe);
        near += check_is_near(pe);
    }
    CHECK(shmem_team_n_pes(SHMEM_TEAM_SHARED) == near, "%d", near);
    CHECK(check_is_near(me), "its own host");
}

int main(void)
{
    int x_range;

    shmem_init();
    me    = shmem_my_pe();
    count = shmem_n_pes();
    strangers();
    rules();
    for (x_range = 1; x_range <= count + 1; x_range += (count > 8) ? 9 : 1) {
        axes(x_range);
    }
    nested();
    contexts_of_others_stay();
    neighbours((count > 8) ? 20 : 300);
    if (count <= 8) {
        exhaust();
    }
    shmem_finalize();
    return 0;
}
