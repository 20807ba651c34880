/* SPDX-License-Identifier: BSD-3-Clause */
/* same.c: whether all members of a team mean the same. For the checked mode, and where it is worth
 * a barrier of its own. Between hosts a vote decides whether they do; the PE that differs is looked
 * for afterwards. */

#include "shmem/collective/collective.h"
#include "shmem/collective/hosts.h"
#include "shmem/collective/peer.h"
#include "shmem/collective/sync.h"
#include <stdio.h>

/* Each member's claim. One that is in another call leaves that of an earlier number behind. */
struct claim {
    uint64_t number;
    uint64_t value;
    char call[48];
    char argument[24];
};

/* An active set has no space but its pSync: there the value alone is looked at. */
enum { SYNC_WORD = 3 };

static bool compare_in_sync(struct msp_team *team, uint64_t value, int *pe_p, uint64_t *other_p)
{
    long *word = &team->active_set_sync[SYNC_WORD];
    bool same  = true;
    int pe;

    __atomic_store_n(word, (long)value, __ATOMIC_RELEASE);
    msp_collective_sync(team);
    for (pe = 0; (pe < team->size) && same; pe++) {
        long theirs;

        msp_peer_read(team, pe, word, &theirs, sizeof theirs);
        if ((uint64_t)theirs != value) {
            *pe_p    = pe;
            *other_p = (uint64_t)theirs;
            same     = false;
        }
    }
    msp_collective_sync(team);
    __atomic_store_n(word, 0, __ATOMIC_RELEASE);
    return same;
}

static void refuse_difference(const char *call, const char *argument, uint64_t value, int pe,
                              uint64_t other)
{
    msp_fatal("%s: %s is %lld here, but %lld in PE %d of the team; it must be the same in all",
              call, argument, (long long)value, (long long)other, pe);
}

/* True in every member when all give the same words: the largest of each is the least. */
static bool vote(struct msp_team *team, const uint64_t *words, int count)
{
    enum { WORDS_MAX = 2 };
    uint64_t most[2 * WORDS_MAX];
    int i;

    for (i = 0; i < count; i++) {
        most[2 * i]       = words[i];
        most[(2 * i) + 1] = ~words[i];
    }
    msp_hosts_vote(team, MSP_REDUCE_MAX, MSP_NUMBER_U64, most, (size_t)(2 * count));
    for (i = 0; i < count; i++) {
        if (most[2 * i] != ~most[(2 * i) + 1]) {
            return false;
        }
    }
    return true;
}

bool msp_collective_agrees(struct msp_team *team, uint64_t value)
{
    bool all = true;
    uint64_t other;
    int pe;

    if (team->active_set_sync != NULL) {
        return compare_in_sync(team, value, &pe, &other);
    }
    if (team->groups != NULL) {
        return vote(team, &value, 1);
    }
    msp_sync_distribute(team, &value, sizeof value);
    for (pe = 0; pe < team->size; pe++) {
        all = (*(const uint64_t *)msp_sync_read(team, pe, &other, sizeof other) == value) && all;
    }
    return all;
}

/* Texts differ where this does, in all but one of very many cases. */
static uint64_t digest_of(const struct claim *claim)
{
    const char *texts[] = {claim->call, claim->argument};
    uint64_t digest     = claim->number;
    const char *at;
    int i;

    for (i = 0; i < 2; i++) {
        for (at = texts[i]; *at != '\0'; at++) {
            digest = (digest * 1099511628211u) ^ (unsigned char)*at;
        }
    }
    return digest;
}

void msp_collective_check(const char *call, struct msp_team *team, const char *argument,
                          uint64_t value)
{
    struct claim mine = {.value = value};
    uint64_t other    = 0;
    int pe            = 0;

    if (team->active_set_sync != NULL) {
        if (!compare_in_sync(team, value, &pe, &other)) {
            refuse_difference(call, argument, value, pe, other);
        }
        return;
    }
    mine.number = team->sync_count + 1;
    snprintf(mine.call, sizeof mine.call, "%s", call);
    snprintf(mine.argument, sizeof mine.argument, "%s", argument);
    if ((team->groups != NULL) && vote(team, (const uint64_t[]){digest_of(&mine), value}, 2)) {
        return;
    }
    msp_sync_distribute(team, &mine, sizeof mine);
    for (pe = 0; pe < team->size; pe++) {
        struct claim buffer;
        struct claim theirs =
            *(const struct claim *)msp_sync_read(team, pe, &buffer, sizeof buffer);

        if (theirs.number != mine.number) {
            msp_fatal("%s: PE %d of the team is in another collective call", call, pe);
        }
        if ((strcmp(theirs.call, mine.call) != 0) ||
            (strcmp(theirs.argument, mine.argument) != 0)) {
            msp_fatal("%s: PE %d of the team is in %s", call, pe, theirs.call);
        }
        if (theirs.value != value) {
            refuse_difference(call, argument, value, pe, theirs.value);
        }
    }
}
