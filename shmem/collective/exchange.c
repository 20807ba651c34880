/* SPDX-License-Identifier: BSD-3-Clause */
/* exchange.c: flags, counters and inboxes between groups. */

#include "shmem/collective/exchange.h"
#include "shmem/collective/sync.h"
#include "shmem/control/wait.h"
#include <string.h>

enum { PHASES = 2, CASTS = 16, CAST_PHASES = 2, FEW_BYTES = 56 };

/* A flag and a few bytes that come with it. */
struct line {
    _Alignas(MSP_CACHE_LINE_BYTES) unsigned char data[FEW_BYTES];
    _Atomic uint64_t number;
};

/* Messages that have come, of all exchanges; and how many of them were waited for. A message of a
 * turn's next use cannot come before those of this one have been waited for. */
struct count {
    _Atomic uint64_t come;
    uint64_t expected; /* this PE's own */
};

/* A team's flags in a PE's slot: written by PEs of other groups. */
struct mail {
    struct line round[MSP_EXCHANGE_TURNS][MSP_EXCHANGE_ALL_ROUNDS];
    struct count arrivals[MSP_EXCHANGE_TURNS][PHASES];
    struct count casts[CASTS][CAST_PHASES];
};

struct boxes {
    _Alignas(MSP_CACHE_LINE_BYTES) char in[MSP_EXCHANGE_TURNS][MSP_EXCHANGE_IN_BYTES];
    char out[MSP_EXCHANGE_TURNS][MSP_EXCHANGE_OUT_BYTES];
};

_Static_assert(sizeof(struct mail) <= MSP_TEAM_MAIL_BYTES, "flags fit");
_Static_assert(sizeof(struct boxes) <= MSP_TEAM_INBOX_BYTES, "inboxes fit");
_Static_assert(MSP_TEAM_MAIL_BYTES % MSP_CACHE_LINE_BYTES == 0, "lines are aligned");

static struct mail *mail_of(const struct msp_team *team)
{
    char *area = MSP_CONTROL_AREA(msp_job.local_index, MAIL);

    return (struct mail *)(void *)(area + ((size_t)team->index * MSP_TEAM_MAIL_BYTES));
}

static struct boxes *boxes_of(const struct msp_team *team)
{
    char *area = MSP_CONTROL_AREA(msp_job.local_index, INBOX);

    return (struct boxes *)(void *)(area + ((size_t)team->index * MSP_TEAM_INBOX_BYTES));
}

static unsigned turn_of(const struct msp_team *team, int ahead)
{
    return (unsigned)(team->sync_count + (uint64_t)ahead) % MSP_EXCHANGE_TURNS;
}

/* ---- inside a group ---- */

void msp_exchange_begin(struct msp_team *team)
{
    team->sync_count++;
}

void msp_exchange_arrive(struct msp_team *team)
{
    msp_sync_gather(&team->groups->local);
}

void msp_exchange_leave(struct msp_team *team)
{
    msp_sync_release(&team->groups->local);
}

void msp_exchange_sync_group(struct msp_team *team)
{
    msp_sync_gather(&team->groups->local);
    msp_sync_release(&team->groups->local);
}

char *msp_exchange_in(const struct msp_team *team, int ahead)
{
    return boxes_of(team)->in[turn_of(team, ahead)];
}

char *msp_exchange_out(const struct msp_team *team)
{
    return boxes_of(team)->out[turn_of(team, 0)];
}

const void *msp_exchange_place(const struct msp_team *team, int member, const void *place)
{
    const struct msp_team *local = &team->groups->local;
    ptrdiff_t offset = (const char *)place - (const char *)msp_control_slot(msp_job.local_index);

    return (const char *)msp_control_slot(msp_team_local_index(local, member)) + offset;
}

/* ---- rounds ---- */

void msp_exchange_send(const struct msp_team *team, int round, int pe, const void *data,
                       size_t size_bytes, size_t at)
{
    unsigned turn     = turn_of(team, 0);
    struct line *line = &mail_of(team)->round[turn][round];
    void *dest =
        (size_bytes <= FEW_BYTES) ? (void *)line->data : (void *)(boxes_of(team)->in[turn] + at);

    msp_message_send(team, pe, dest, data, size_bytes, &line->number, team->sync_count, false);
}

void *msp_exchange_receive(const struct msp_team *team, int round, size_t size_bytes, size_t at)
{
    unsigned turn     = turn_of(team, 0);
    struct line *line = &mail_of(team)->round[turn][round];

    MSP_WAIT(atomic_load_explicit(&line->number, memory_order_acquire) >= team->sync_count);
    return (size_bytes <= FEW_BYTES) ? (void *)line->data : (void *)(boxes_of(team)->in[turn] + at);
}

void msp_exchange_rounds(const struct msp_team *team, uint64_t *most_p)
{
    const struct msp_groups *groups = team->groups;
    size_t bytes                    = (most_p != NULL) ? sizeof *most_p : 0;
    int round                       = 0;
    int distance;

    for (distance = 1; distance < groups->count; distance *= 2, round++) {
        int to = (groups->own + distance) % groups->count;
        const void *data;
        uint64_t theirs;

        msp_exchange_send(team, round, msp_exchange_leader(team, to), most_p, bytes, 0);
        data = msp_exchange_receive(team, round, bytes, 0);
        if (most_p != NULL) {
            memcpy(&theirs, data, sizeof theirs);
            *most_p = (theirs > *most_p) ? theirs : *most_p;
        }
    }
}

/* Bruck's: a leader has the blocks of @p have groups from its own on, and gets as many from the one
 * that is so many ahead. */
void msp_exchange_gather(const struct msp_team *team, size_t block_bytes)
{
    const struct msp_groups *groups = team->groups;
    char *blocks                    = msp_exchange_in(team, 0);
    int round                       = 0;
    int have;

    for (have = 1; have < groups->count; have *= 2, round++) {
        int left          = groups->count - have;
        int to            = (groups->own + left) % groups->count;
        size_t size_bytes = (size_t)((left < have) ? left : have) * block_bytes;
        size_t at         = (size_t)have * block_bytes;
        void *received;

        msp_exchange_send(team, round, msp_exchange_leader(team, to), blocks, size_bytes, at);
        received = msp_exchange_receive(team, round, size_bytes, at);
        if (received != blocks + at) {
            memcpy(blocks + at, received, size_bytes);
        }
    }
}

/* ---- phases ---- */

static void put(const struct msp_team *team, int pe, void *dest, const void *source,
                size_t size_bytes, struct count *count)
{
    msp_message_send(team, pe, dest, source, size_bytes, &count->come, 1, true);
}

static void await(struct count *count, uint64_t more)
{
    uint64_t expected = count->expected + more;

    MSP_WAIT(atomic_load_explicit(&count->come, memory_order_acquire) >= expected);
    count->expected = expected;
}

void msp_exchange_put(const struct msp_team *team, int pe, void *dest, const void *source,
                      size_t size_bytes, int ahead, int phase)
{
    put(team, pe, dest, source, size_bytes, &mail_of(team)->arrivals[turn_of(team, ahead)][phase]);
}

void msp_exchange_await(const struct msp_team *team, int phase, uint64_t count)
{
    await(&mail_of(team)->arrivals[turn_of(team, 0)][phase], count);
}

/* ---- broadcasts ---- */

int msp_exchange_next_broadcast(struct msp_team *team)
{
    uint64_t at = team->message_count++ % CASTS;

    if (at == CASTS - 1) {
        msp_exchange_barrier(team, NULL);
    }
    return (int)at;
}

void msp_exchange_cast(const struct msp_team *team, int pe, void *dest, const void *source,
                       size_t size_bytes, int counter, int phase)
{
    put(team, pe, dest, source, size_bytes, &mail_of(team)->casts[counter][phase]);
}

void msp_exchange_await_cast(const struct msp_team *team, int counter, int phase, uint64_t count)
{
    await(&mail_of(team)->casts[counter][phase], count);
}

/* ---- barriers ---- */

/* The votes of a group's members stand in their out boxes, and the answer in its leader's. */
static void vote(struct msp_team *team, uint64_t *most_p)
{
    const struct msp_team *local = &team->groups->local;
    uint64_t *own                = (uint64_t *)(void *)msp_exchange_out(team);
    int member;

    *own = *most_p;
    msp_exchange_arrive(team);
    if (msp_exchange_leads(team)) {
        for (member = 1; member < local->size; member++) {
            const uint64_t *theirs = msp_exchange_place(team, member, own);

            *own = (*theirs > *own) ? *theirs : *own;
        }
        msp_exchange_rounds(team, own);
    }
    msp_exchange_leave(team);
    *most_p = *(const uint64_t *)msp_exchange_place(team, 0, own);
}

void msp_exchange_barrier(struct msp_team *team, uint64_t *most_p)
{
    msp_exchange_begin(team);
    if (most_p != NULL) {
        vote(team, most_p);
        return;
    }
    msp_exchange_arrive(team);
    if (msp_exchange_leads(team)) {
        msp_exchange_rounds(team, NULL);
    }
    msp_exchange_leave(team);
}
