/* SPDX-License-Identifier: BSD-3-Clause */
/* scope.c: which team or contention group a thread is in, for pools that belong to one.
 *
 * OpenMP names neither. A parallel team is told apart by the thread numbers that lead to it, so a
 * region that comes later on the same path is the same team here: its predecessor has ended, and
 * what that one allocated and did not free still counts. Threads outside of parallel regions are
 * teams of their own. Of contention groups there are those of a teams construct, and else one. */

#include "core/allocator.h"
#include "core/omp/runtime.h"
#include <unistd.h>

static int ask(enum memspan_omp_real which, int argument)
{
    uintptr_t routine = memspan_omp_real(which);

    if (routine == 0) {
        return 0;
    }
    return (which == MEMSPAN_OMP_REAL_GET_ANCESTOR_THREAD_NUM) ? ((int (*)(int))routine)(argument)
                                                               : ((int (*)(void))routine)();
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 29);
}

uint64_t memspan_allocator_scope(bool team)
{
    uint64_t hash = mix(1, (uint64_t)ask(MEMSPAN_OMP_REAL_GET_TEAM_NUM, 0));
    int level;
    int i;

    if (!team) {
        return hash;
    }
    level = ask(MEMSPAN_OMP_REAL_GET_LEVEL, 0);
    if (level == 0) {
        return mix(mix(hash, 2), (uint64_t)gettid());
    }
    hash = mix(mix(hash, 3), (uint64_t)level);
    for (i = 1; i < level; i++) {
        hash = mix(hash, (uint64_t)ask(MEMSPAN_OMP_REAL_GET_ANCESTOR_THREAD_NUM, i));
    }
    return hash;
}
