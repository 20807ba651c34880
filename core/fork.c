/* SPDX-License-Identifier: BSD-3-Clause */
/* fork.c: the lock order of the core, in one place.
 *
 *   OpenMP's making  >  allocator table  >  spaces  >  backends (opening)  >  providers  >
 *   pools  >  pointer map  >  topology  >  OpenMP's partitioners, tables  >  guard
 *
 * A thread that holds one of them may take those to its right, never those to its left. */

#include "core/fork.h"
#include "core/allocator_record.h"
#include "core/base/topology.h"
#include "core/guard.h"
#include "core/pointer_map.h"
#include <pthread.h>

static void before(void)
{
    memspan_omp_before_fork_outer();
    memspan_allocator_before_fork();
    memspan_space_before_fork();
    memspan_backend_before_fork();
    memspan_provider_before_fork();
    memspan_map_before_fork();
    memspan_topology_before_fork();
    memspan_omp_before_fork_inner();
    memspan_guard_before_fork();
}

static void after(void)
{
    memspan_guard_after_fork();
    memspan_omp_after_fork_inner();
    memspan_topology_after_fork();
    memspan_map_after_fork();
    memspan_provider_after_fork();
    memspan_backend_after_fork();
    memspan_space_after_fork();
    memspan_allocator_after_fork();
    memspan_omp_after_fork_outer();
}

static void register_handlers(void)
{
    pthread_atfork(before, after, after);
}

void memspan_fork_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, register_handlers);
}
