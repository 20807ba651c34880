/* SPDX-License-Identifier: BSD-3-Clause */
/* team.c: the table of teams, and splitting. */

#include "shmem/team.h"
#include "shmem/collective/sync.h"
#include "shmem/context.h"
#include <pthread.h>
#include <string.h>

enum { WORDS = MEMSPAN_TEAM_MAX / 64 };

struct memspan_team memspan_teams[MEMSPAN_TEAM_MAX] MEMSPAN_SPARSE;

static pthread_mutex_t index_lock = PTHREAD_MUTEX_INITIALIZER; /* guards free_indices */
static uint64_t free_indices[WORDS];

_Static_assert(MEMSPAN_TEAM_MAX <= MEMSPAN_TEAM_INDEX_MASK + 1, "an index fits into a handle");

struct memspan_team *memspan_team_of(const void *handle)
{
    uintptr_t index = (uintptr_t)handle & MEMSPAN_TEAM_INDEX_MASK;
    struct memspan_team *team;

    if ((index == 0) || (index >= MEMSPAN_TEAM_MAX)) {
        return NULL;
    }
    team = &memspan_teams[index];
    return (team->is_live && (team->generation == (uintptr_t)handle >> MEMSPAN_TEAM_SHIFT)) ? team
                                                                                            : NULL;
}

void *memspan_team_handle(const struct memspan_team *team)
{
    return (team == NULL) ? NULL
                          : (void *)(((uintptr_t)team->generation << MEMSPAN_TEAM_SHIFT) |
                                     (uintptr_t)team->index);
}

/* The number of a PE of the world in a run; -1: it is not in it. */
static int number_in(int start, int stride, int size, int world_pe)
{
    int distance = world_pe - start;

    if (stride == 0) {
        return (distance == 0) ? 0 : -1;
    }
    return ((distance % stride == 0) && (distance / stride >= 0) && (distance / stride < size))
               ? distance / stride
               : -1;
}

int memspan_team_translate(const struct memspan_team *from, int pe, const struct memspan_team *to)
{
    if ((from == NULL) || (to == NULL) || (pe < 0) || (pe >= from->size)) {
        return -1;
    }
    return number_in(to->start, to->stride, to->size, memspan_team_world_pe(from, pe));
}

/* ---- indices ---- */

static bool claim(unsigned index)
{
    bool is_free;

    pthread_mutex_lock(&index_lock);
    is_free = ((free_indices[index / 64] >> (index % 64)) & 1) != 0;
    free_indices[index / 64] &= ~(UINT64_C(1) << (index % 64));
    pthread_mutex_unlock(&index_lock);
    return is_free;
}

static void unclaim(unsigned index)
{
    pthread_mutex_lock(&index_lock);
    free_indices[index / 64] |= UINT64_C(1) << (index % 64);
    pthread_mutex_unlock(&index_lock);
}

/* The first index that every member of the parent has free; 0: none. */
static unsigned first_common(struct memspan_team *parent)
{
    uint64_t mine[WORDS];
    uint64_t common[WORDS];
    int pe;
    unsigned w;

    pthread_mutex_lock(&index_lock);
    memcpy(mine, free_indices, sizeof mine);
    pthread_mutex_unlock(&index_lock);
    memspan_sync_publish(parent, mine, sizeof mine);
    memset(common, 0xff, sizeof common);
    for (pe = 0; pe < parent->size; pe++) {
        const uint64_t *theirs = memspan_sync_published(parent, pe);

        for (w = 0; w < WORDS; w++) {
            common[w] &= theirs[w];
        }
    }
    for (w = 0; w < WORDS; w++) {
        if (common[w] != 0) {
            return (w * 64) + (unsigned)__builtin_ctzll(common[w]);
        }
    }
    return 0;
}

/* An index for a new team, the same in all of the parent's members; 0: none is free. Another thread
 * may take the one that was found meanwhile, for a team of another parent: then all try again. */
static unsigned agree_on_index(struct memspan_team *parent)
{
    for (;;) {
        unsigned index = first_common(parent);
        bool is_mine   = (index != 0) && claim(index);

        if (index == 0) {
            return 0;
        }
        if (memspan_sync_all_true(parent, is_mine)) {
            return index;
        }
        if (is_mine) {
            unclaim(index);
        }
    }
}

/* ---- making ---- */

static void fill(struct memspan_team *team, int index, int start, int stride, int size)
{
    unsigned generation = team->generation;

    *team = (struct memspan_team){.index      = index,
                                  .start      = start,
                                  .stride     = stride,
                                  .size       = size,
                                  .pe         = number_in(start, stride, size, memspan_job.pe),
                                  .generation = generation,
                                  .is_live    = true};
}

/* A team of the world's PEs start, start + stride, ...: NULL in those who are not in it, and in all
 * when no index is free (*failed_p). */
static struct memspan_team *make(struct memspan_team *parent, int start, int stride, int size,
                                 int contexts, bool *failed_p)
{
    unsigned index            = agree_on_index(parent);
    bool is_member            = number_in(start, stride, size, memspan_job.pe) >= 0;
    struct memspan_team *team = NULL;

    *failed_p = (index == 0);
    if (index == 0) {
        memspan_error(MEMSPAN_ERR_LIMIT, "there are %d teams already", MEMSPAN_TEAM_MAX - 3);
        return NULL;
    }
    if (is_member) {
        team = &memspan_teams[index];
        team->generation++;
        fill(team, (int)index, start, stride, size);
        team->context_count = contexts;
        memspan_sync_reset(team);
    } else {
        unclaim(index);
    }
    /* Nobody uses the flags before all have reset theirs. */
    memspan_collective_sync(parent);
    return team;
}

static int refuse(struct memspan_team **team_p, const struct memspan_team *parent, int start,
                  int stride, int size)
{
    *team_p = NULL;
    return (int)memspan_error(
        MEMSPAN_ERR_INVALID,
        "shmem_team_split_strided: start %d, stride %d, size %d do not lie in "
        "a parent of %d PEs",
        start, stride, size, parent->size);
}

static int context_count(const shmem_team_config_t *config, long mask)
{
    return ((config != NULL) && ((mask & SHMEM_TEAM_NUM_CONTEXTS) != 0)) ? config->num_contexts : 0;
}

int memspan_team_split_strided(struct memspan_team *parent, int start, int stride, int size,
                               const shmem_team_config_t *config, long config_mask,
                               struct memspan_team **team_p)
{
    long last = (long)start + ((long)stride * ((long)size - 1));
    bool failed;

    if ((size < 1) || (start < 0) || (start >= parent->size) || (last < 0) ||
        (last >= parent->size) || ((stride == 0) && (size != 1))) {
        return refuse(team_p, parent, start, stride, size);
    }
    *team_p = make(parent, memspan_team_world_pe(parent, start),
                   (size == 1) ? 1 : stride * parent->stride, size,
                   context_count(config, config_mask), &failed);
    return failed ? (int)MEMSPAN_ERR_LIMIT : 0;
}

int memspan_team_split_2d(struct memspan_team *parent, int x_range,
                          const shmem_team_config_t *x_config, long x_mask,
                          struct memspan_team **x_team_p, const shmem_team_config_t *y_config,
                          long y_mask, struct memspan_team **y_team_p)
{
    bool failed = false;
    int x_size;
    int rows;
    int i;

    *x_team_p = NULL;
    *y_team_p = NULL;
    if (x_range < 1) {
        return (int)memspan_error(MEMSPAN_ERR_INVALID, "shmem_team_split_2d: xrange is %d",
                                  x_range);
    }
    x_size = (x_range < parent->size) ? x_range : parent->size;
    rows   = (parent->size + x_size - 1) / x_size;
    for (i = 0; (i < rows) && !failed; i++) {
        int start = i * x_size;
        int size  = (start + x_size <= parent->size) ? x_size : (parent->size - start);
        struct memspan_team *team =
            make(parent, memspan_team_world_pe(parent, start), parent->stride, size,
                 context_count(x_config, x_mask), &failed);

        *x_team_p = (team != NULL) ? team : *x_team_p;
    }
    for (i = 0; (i < x_size) && !failed; i++) {
        int size = ((parent->size - i - 1) / x_size) + 1;
        struct memspan_team *team =
            make(parent, memspan_team_world_pe(parent, i), x_size * parent->stride, size,
                 context_count(y_config, y_mask), &failed);

        *y_team_p = (team != NULL) ? team : *y_team_p;
    }
    if (failed) {
        /* Some teams were made: they are ended by those who are in them. */
        if (*x_team_p != NULL) {
            memspan_team_destroy(*x_team_p);
        }
        if (*y_team_p != NULL) {
            memspan_team_destroy(*y_team_p);
        }
        *x_team_p = NULL;
        *y_team_p = NULL;
        return (int)MEMSPAN_ERR_LIMIT;
    }
    return 0;
}

void memspan_team_destroy(struct memspan_team *team)
{
    int index = team->index;

    if (index <= MEMSPAN_TEAM_SHARED) {
        memspan_fatal("shmem_team_destroy: a predefined team cannot be destroyed");
    }
    memspan_context_destroy_team(index);
    memspan_collective_sync(team);
    team->is_live = false;
    unclaim((unsigned)index);
}

/* ---- beginning and end ---- */

void memspan_team_open(void)
{
    int i;

    memset(free_indices, 0xff, sizeof free_indices);
    free_indices[0] &= ~UINT64_C(7);
    for (i = MEMSPAN_TEAM_WORLD; i <= MEMSPAN_TEAM_SHARED; i++) {
        memspan_teams[i].generation = 0;
        memspan_teams[i].index      = i;
    }
    fill(&memspan_teams[MEMSPAN_TEAM_WORLD], MEMSPAN_TEAM_WORLD, 0, 1, memspan_job.pe_count);
    fill(&memspan_teams[MEMSPAN_TEAM_SHARED], MEMSPAN_TEAM_SHARED, memspan_job.first_local, 1,
         memspan_job.local_count);
}

void memspan_team_close(void)
{
    int i;

    for (i = 0; i < MEMSPAN_TEAM_MAX; i++) {
        memspan_teams[i].is_live = false;
    }
}
