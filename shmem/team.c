/* SPDX-License-Identifier: BSD-3-Clause */
/* team.c: the table of teams, and splitting. */

#include "shmem/team.h"
#include "shmem/collective/collective.h"
#include "shmem/collective/hosts.h"
#include "shmem/collective/peer.h"
#include "shmem/collective/sync.h"
#include "shmem/context.h"
#include "shmem/control/agree.h"
#include "shmem/control/memory.h"
#include "shmem/control/wait.h"
#include "shmem/option.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = MSP_TEAM_MAX / 64 };

struct msp_team msp_teams[MSP_TEAM_MAX] MSP_SPARSE;

static pthread_mutex_t index_lock = PTHREAD_MUTEX_INITIALIZER; /* guards both below */
static uint64_t free_indices[WORDS];
static unsigned first_unused = MSP_TEAM_SHARED + 1; /* no team from there on has ever been made */

_Static_assert(MSP_TEAM_MAX <= MSP_TEAM_INDEX_MASK + 1, "an index fits into a handle");

struct msp_team *msp_team_of(const void *handle)
{
    uintptr_t index = (uintptr_t)handle & MSP_TEAM_INDEX_MASK;
    struct msp_team *team;

    if ((index == 0) || (index >= MSP_TEAM_MAX)) {
        return NULL;
    }
    team = &msp_teams[index];
    return (team->is_live && (team->generation == (uintptr_t)handle >> MSP_TEAM_SHIFT)) ? team
                                                                                        : NULL;
}

void *msp_team_handle(const struct msp_team *team)
{
    return (team == NULL)
               ? NULL
               : (void *)(((uintptr_t)team->generation << MSP_TEAM_SHIFT) | (uintptr_t)team->index);
}

int msp_team_translate(const struct msp_team *from, int pe, const struct msp_team *to)
{
    if ((from == NULL) || (to == NULL) || (pe < 0) || (pe >= from->size)) {
        return -1;
    }
    return msp_team_number(to, msp_team_world_pe(from, pe));
}

int msp_team_first_local(const struct msp_team *team)
{
    int first = team->pe;
    int i;

    for (i = 0; i < msp_job.local_count; i++) {
        int pe = msp_team_number(team, msp_job.local_pes[i]);

        first = ((pe >= 0) && (pe < first)) ? pe : first;
    }
    return first;
}

int msp_team_local_count(const struct msp_team *team)
{
    int count = 0;
    int i;

    for (i = 0; i < msp_job.local_count; i++) {
        count += (msp_team_number(team, msp_job.local_pes[i]) >= 0) ? 1 : 0;
    }
    return count;
}

/* ---- indices ---- */

/* The agreement of the parent's members on a new team. */
struct agreed {
    unsigned index;  /* 0: none is free */
    uint64_t number; /* of the last barrier that any of them has had in that index's flags */
};

static bool claim(unsigned index)
{
    bool is_free;

    pthread_mutex_lock(&index_lock);
    is_free = ((free_indices[index / 64] >> (index % 64)) & 1) != 0;
    free_indices[index / 64] &= ~(UINT64_C(1) << (index % 64));
    first_unused = (index < first_unused) ? first_unused : (index + 1);
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
static unsigned first_common(struct msp_team *parent)
{
    uint64_t common[WORDS];
    unsigned w;

    pthread_mutex_lock(&index_lock);
    memcpy(common, free_indices, sizeof common);
    pthread_mutex_unlock(&index_lock);
    msp_hosts_vote(parent, MSP_REDUCE_AND, MSP_NUMBER_U64, common, WORDS);
    for (w = 0; w < WORDS; w++) {
        if (common[w] != 0) {
            return (w * 64) + (unsigned)__builtin_ctzll(common[w]);
        }
    }
    return 0;
}

/* True in every member when it is true in all: then *number_p is the largest number. */
static bool agree(struct msp_team *parent, bool is_mine, uint64_t number, uint64_t *number_p)
{
    uint64_t most[2] = {is_mine ? 0 : 1, number};

    msp_hosts_vote(parent, MSP_REDUCE_MAX, MSP_NUMBER_U64, most, 2);
    *number_p = most[1];
    return most[0] == 0;
}

/* An index for a new team, the same in all of the parent's members. Another thread may take the one
 * that was found meanwhile, for a team of another parent: then all try again. */
static struct agreed agree_on_index(struct msp_team *parent)
{
    struct agreed agreed = {0, 0};

    for (;;) {
        unsigned index = first_common(parent);
        bool is_mine   = (index != 0) && claim(index);

        if (index == 0) {
            msp_refuse(MEMSPAN_ERR_LIMIT, "there are %d teams already", MSP_TEAM_MAX - 3);
            return agreed;
        }
        if (agree(parent, is_mine, msp_teams[index].sync_count, &agreed.number)) {
            agreed.index = index;
            return agreed;
        }
        if (is_mine) {
            unclaim(index);
        }
    }
}

/* ---- making ---- */

/* The PEs of a team: places of a table, or of the world. */
struct run {
    int start;
    int stride;
    int size;
    struct msp_members *members;
};

static int pe_of(const struct run *run, int number)
{
    return msp_members_pe(run->members, run->start + (number * run->stride));
}

/* Without the table, where the world's numbers are a run themselves. */
static struct run straightened(struct run run)
{
    int first = pe_of(&run, 0);
    int step  = (run.size > 1) ? (pe_of(&run, 1) - first) : 1;
    int i     = 2;

    while ((run.members != NULL) && (i < run.size) && (pe_of(&run, i) == first + (i * step))) {
        i++;
    }
    return ((run.members == NULL) || (i < run.size)) ? run
                                                     : (struct run){first, step, run.size, NULL};
}

/* All PEs of a table, which is sorted where it is needed. The caller releases it. */
static struct run run_of(struct msp_members *members)
{
    struct run run =
        straightened((struct run){.stride = 1, .size = members->count, .members = members});

    if (run.members != NULL) {
        msp_members_sort(members);
    }
    return run;
}

/* The parent's PEs start, start + stride, ... */
static struct run part_of(const struct msp_team *parent, int start, int stride, int size)
{
    return straightened((struct run){.start   = parent->start + (start * parent->stride),
                                     .stride  = (size == 1) ? 1 : (stride * parent->stride),
                                     .size    = size,
                                     .members = parent->members});
}

static void fill(struct msp_team *team, int index, struct run run)
{
    unsigned generation       = team->generation;
    struct msp_groups *groups = team->groups;

    *team    = (struct msp_team){.index      = index,
                                 .start      = run.start,
                                 .stride     = run.stride,
                                 .size       = run.size,
                                 .members    = run.members,
                                 .generation = generation,
                                 .groups     = groups,
                                 .is_live    = true};
    team->pe = msp_team_number(team, msp_job.pe);
    msp_members_hold(team->members);
}

/* The team of these PEs; NULL, with the index free again, in those who are not in it. It may be
 * used at once: its members' first collective call waits for those that have not come here yet, and
 * the index is claimed in all. */
static struct msp_team *make(struct agreed agreed, struct run run, int contexts)
{
    struct msp_team *team = &msp_teams[agreed.index];

    if (msp_members_number(run.members, run.start, run.stride, run.size, msp_job.pe) < 0) {
        unclaim(agreed.index);
        return NULL;
    }
    team->generation++;
    fill(team, (int)agreed.index, run);
    team->context_count = contexts;
    msp_sync_begin(team, agreed.number);
    return team;
}

static int refuse_split(struct msp_team **team_p, const struct msp_team *parent, int start,
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

int msp_team_split_strided(struct msp_team *parent, int start, int stride, int size,
                           const shmem_team_config_t *config, long config_mask,
                           struct msp_team **team_p)
{
    static const char call[] = "shmem_team_split_strided";
    long last                = (long)start + ((long)stride * ((long)size - 1));
    struct agreed agreed;

    if (msp_job.checks) {
        msp_collective_check(call, parent, "start", (uint64_t)start);
        msp_collective_check(call, parent, "stride", (uint64_t)stride);
        msp_collective_check(call, parent, "size", (uint64_t)size);
    }
    if ((size < 1) || (start < 0) || (start >= parent->size) || (last < 0) ||
        (last >= parent->size) || ((stride == 0) && (size != 1))) {
        return refuse_split(team_p, parent, start, stride, size);
    }
    *team_p = NULL;
    agreed  = agree_on_index(parent);
    if (agreed.index == 0) {
        return (int)MEMSPAN_ERR_LIMIT;
    }
    *team_p =
        make(agreed, part_of(parent, start, stride, size), context_count(config, config_mask));
    return 0;
}

/* Teams of one axis have no PE in common, so that all of them take the same index. */
int msp_team_split_2d(struct msp_team *parent, int x_range, const shmem_team_config_t *x_config,
                      long x_mask, struct msp_team **x_team_p, const shmem_team_config_t *y_config,
                      long y_mask, struct msp_team **y_team_p)
{
    int x_size = (x_range < parent->size) ? x_range : parent->size;
    struct agreed x_agreed;
    struct agreed y_agreed;
    int row;
    int column;

    *x_team_p = NULL;
    *y_team_p = NULL;
    if (msp_job.checks) {
        msp_collective_check("shmem_team_split_2d", parent, "xrange", (uint64_t)x_range);
    }
    if (x_range < 1) {
        return (int)msp_refuse(MEMSPAN_ERR_INVALID, "shmem_team_split_2d: xrange is %d", x_range);
    }
    x_agreed = agree_on_index(parent);
    if (x_agreed.index == 0) {
        return (int)MEMSPAN_ERR_LIMIT;
    }
    y_agreed = agree_on_index(parent);
    if (y_agreed.index == 0) {
        unclaim(x_agreed.index);
        return (int)MEMSPAN_ERR_LIMIT;
    }
    row       = (parent->pe / x_size) * x_size;
    column    = parent->pe % x_size;
    *x_team_p = make(
        x_agreed,
        part_of(parent, row, 1, (row + x_size <= parent->size) ? x_size : (parent->size - row)),
        context_count(x_config, x_mask));
    *y_team_p =
        make(y_agreed, part_of(parent, column, x_size, ((parent->size - column - 1) / x_size) + 1),
             context_count(y_config, y_mask));
    return 0;
}

/* ---- splitting by color ---- */

/* Color and key as one word: the color's half is 0 where there is none, and the key's rises with
 * the key. */
static uint64_t word_of(int color, int key)
{
    return (color < 0) ? 0 : ((((uint64_t)color + 1) << 32) | ((unsigned)key ^ 0x80000000u));
}

static int by_value(const void *a, const void *b)
{
    uint64_t first  = *(const uint64_t *)a;
    uint64_t second = *(const uint64_t *)b;

    return (first > second) - (first < second);
}

/* The PEs of this one's color: their keys, above their numbers in the parent, by rising value.
 * Every PE puts its word into a vector, a window of it at a time. @p sorted NULL: only takes part.
 */
static int gather_color(struct msp_team *parent, uint64_t mine, uint64_t *sorted)
{
    uint64_t window[MSP_HOSTS_VOTE_BYTES / sizeof(uint64_t)];
    const int most = (int)(sizeof window / sizeof window[0]);
    int count      = 0;
    int first;
    int i;

    for (first = 0; first < parent->size; first += most) {
        int left = parent->size - first;
        int now  = (left < most) ? left : most;

        memset(window, 0, sizeof window);
        if ((parent->pe >= first) && (parent->pe < first + now)) {
            window[parent->pe - first] = mine;
        }
        msp_hosts_vote(parent, MSP_REDUCE_OR, MSP_NUMBER_U64, window, (size_t)now);
        for (i = 0; (i < now) && (mine != 0) && (sorted != NULL); i++) {
            if (window[i] >> 32 == mine >> 32) {
                sorted[count++] = (window[i] << 32) | (uint64_t)(first + i);
            }
        }
    }
    if (count > 1) {
        qsort(sorted, (size_t)count, sizeof *sorted, by_value);
    }
    return count;
}

/* Those PEs, in that order. False: no memory. */
static bool list_color(const struct msp_team *parent, const uint64_t *sorted, int count,
                       struct run *run_p)
{
    struct msp_members *members = msp_members_make(count);
    int i;

    if (members == NULL) {
        return false;
    }
    for (i = 0; i < count; i++) {
        members->pes[i] = msp_team_world_pe(parent, (int)(uint32_t)sorted[i]);
    }
    *run_p = run_of(members);
    if (run_p->members == NULL) {
        msp_members_release(members);
    }
    return true;
}

static struct agreed agree_on_color(struct msp_team *parent, bool is_listed, int *status_p)
{
    if (!msp_agree_all(parent, is_listed)) {
        *status_p = (int)msp_error_elsewhere(
            MEMSPAN_ERR_NO_MEMORY, "no memory for the members of a team of %d PEs", parent->size);
        return (struct agreed){0, 0};
    }
    *status_p = (int)MEMSPAN_ERR_LIMIT;
    return agree_on_index(parent);
}

/* Teams of different colors have no PE in common, so that all of them take the same index. */
int msp_team_split_color(struct msp_team *parent, int color, int key,
                         const shmem_team_config_t *config, long config_mask,
                         struct msp_team **team_p)
{
    uint64_t mine    = word_of(color, key);
    uint64_t *sorted = malloc((size_t)parent->size * sizeof *sorted);
    struct run run   = {0, 1, 0, NULL};
    bool is_listed   = (sorted != NULL);
    struct agreed agreed;
    int status;
    int count;

    *team_p = NULL;
    if (msp_job.checks) {
        msp_collective_check("shmemx_team_split_color", parent, "parent_team",
                             (uint64_t)parent->index);
    }
    count     = gather_color(parent, mine, sorted);
    is_listed = is_listed && ((count == 0) || list_color(parent, sorted, count, &run));
    free(sorted);
    agreed = agree_on_color(parent, is_listed, &status);
    if (agreed.index != 0) {
        *team_p = make(agreed, run, context_count(config, config_mask));
        status  = 0;
    }
    msp_members_release(run.members);
    return status;
}

/* ---- ending ---- */

static void retire(struct msp_team *team)
{
    msp_members_release(team->members);
    team->members = NULL;
    team->is_live = false;
}

void msp_team_destroy(struct msp_team *team)
{
    int index = team->index;

    if (index <= MSP_TEAM_SHARED) {
        msp_fatal("shmem_team_destroy: a predefined team cannot be destroyed");
    }
    msp_context_destroy_team(index);
    msp_collective_sync(team);
    msp_sync_end(team);
    retire(team);
    unclaim((unsigned)index);
}

/* ---- beginning and end ---- */

static void predefine(int index, struct run run)
{
    struct msp_team *team = &msp_teams[index];

    team->generation = 0;
    fill(team, index, run);
    msp_sync_begin(team, 0);
}

/* How many PEs share the processors of this one: before teams choose their barriers by it. Larger
 * jobs, which are not of containers of one machine, pay nothing for it. */
static void count_machine(struct msp_team *job)
{
    uint64_t machine = msp_host_machine();
    int count;

    if (job->size <= MSP_AGREE_COUNT_MAX) {
        count = msp_agree_count(job, machine);
        msp_wait_count_machine((machine != 0) ? count : msp_job.local_count);
    }
}

/* Until it is known which PEs are on which host, the job team's barriers are as if each were alone.
 */
void msp_team_open_job(void)
{
    struct msp_team *job = msp_team_job();
    unsigned i;

    /* Flags are new, and so are their numbers; handles of an earlier job stay those of none. */
    for (i = 0; i < first_unused; i++) {
        msp_teams[i].sync_count = 0;
    }
    memset(free_indices, 0xff, sizeof free_indices);
    free_indices[0] &= ~UINT64_C(7);
    msp_peer_is_indirect = false;
    msp_groups_forget();
    predefine(MSP_TEAM_JOB, (struct run){0, 1, msp_job.pe_count, NULL});
    if (job->groups != NULL) {
        msp_groups_find(job);
        count_machine(job);
        msp_sync_end(job);
        msp_sync_begin(job, job->sync_count);
    }
}

/* The PEs of this host. */
static void predefine_shared(void)
{
    struct msp_members *members = msp_members_make(msp_job.local_count);

    if (members == NULL) {
        msp_fatal("shmem_init: no memory for a team of %d PEs", msp_job.local_count);
    }
    memcpy(members->pes, msp_job.local_pes, (size_t)msp_job.local_count * sizeof members->pes[0]);
    predefine(MSP_TEAM_SHARED, run_of(members));
    msp_members_release(members);
}

void msp_team_open(void)
{
    msp_peer_is_indirect = msp_shmem_option_is_on(MEMSPAN_SHMEM_INDIRECT);
    predefine(MSP_TEAM_WORLD, (struct run){0, 1, msp_job.pe_count, NULL});
    predefine_shared();
}

void msp_team_close(void)
{
    unsigned i;

    for (i = 0; i < first_unused; i++) {
        retire(&msp_teams[i]);
    }
}
