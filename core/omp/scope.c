/* SPDX-License-Identifier: BSD-3-Clause */
/* scope.c: the team or contention group of a thread, for pools that belong to one.
 *
 * OpenMP names neither. A parallel team is distinguished by the thread numbers that lead to it, so
 * a region that comes later on the same path is the same team here: its predecessor has ended, and
 * blocks that it did not free still count. Threads outside of parallel regions are teams of their
 * own. Of contention groups there are those of a teams construct, and else one. */

#include "core/allocator.h"
#include "core/omp/runtime.h"
#include <unistd.h>

static int call_runtime(enum msp_omp_real which, int argument)
{
    uintptr_t routine = msp_omp_real(which);

    if (routine == 0) {
        return 0;
    }
    return (which == MSP_OMP_REAL_GET_ANCESTOR_THREAD_NUM) ? ((int (*)(int))routine)(argument)
                                                           : ((int (*)(void))routine)();
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 29);
}

/* Of the calling thread where no other team's number leads to it: outside of parallel regions and
 * in those that are not nested. Outside, the kernel's number of the thread is read once: a child of
 * fork() goes on with the one that its blocks are charged under. */
static uint64_t scope_of_flat_team(int team, int level)
{
    static _Thread_local struct {
        bool known;
        int team;
        int level;
        uint64_t scope;
    } last;

    if (MSP_UNLIKELY(!last.known || (last.team != team) || (last.level != level))) {
        last.scope = mix(1, (uint64_t)team);
        last.scope = (level == 0) ? mix(mix(last.scope, 2), (uint64_t)gettid())
                                  : mix(mix(last.scope, 3), (uint64_t)level);
        last.team  = team;
        last.level = level;
        last.known = true;
    }
    return last.scope;
}

uint64_t msp_omp_allocator_scope(bool team)
{
    int number = call_runtime(MSP_OMP_REAL_GET_TEAM_NUM, 0);
    uint64_t hash;
    int level;
    int i;

    if (!team) {
        return mix(1, (uint64_t)number);
    }
    level = call_runtime(MSP_OMP_REAL_GET_LEVEL, 0);
    if (MSP_LIKELY(level <= 1)) {
        return scope_of_flat_team(number, level);
    }
    hash = mix(mix(mix(1, (uint64_t)number), 3), (uint64_t)level);
    for (i = 1; i < level; i++) {
        hash = mix(hash, (uint64_t)call_runtime(MSP_OMP_REAL_GET_ANCESTOR_THREAD_NUM, i));
    }
    return hash;
}
