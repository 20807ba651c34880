/* SPDX-License-Identifier: BSD-3-Clause */
/* fork.c: the lock order of the core, in one place.
 *
 *   OpenMP's making  >  allocator table  >  spaces  >  backends (opening)  >  memory opened of
 *   other processes  >  imports  >  providers  >  threads (stopping them)  >  accounts  >  records
 *   of heaps, slabs  >  records of chunks  >  pools  >  pointer map  >  topology  >  OpenMP's
 *   partitioners, tables  >  guard
 *
 * A thread that holds one of them may take those to its right, never those to its left.
 *
 * Drivers fork while they are opened, to start a program that loads their kernel module. Who waits
 * for the driver then holds locks of ours, and such a child does not come back to us: for it none
 * is taken. */

#include "core/fork.h"
#include "core/allocator_record.h"
#include "core/base/topology.h"
#include "core/decay.h"
#include "core/guard.h"
#include "core/heap.h"
#include "core/import.h"
#include "core/opening.h"
#include "core/pointer_map.h"
#include "core/share.h"
#include <pthread.h>

static void before(void)
{
    if (memspan_opening_is_here()) {
        return;
    }
    memspan_omp_before_fork_outer();
    memspan_allocator_before_fork();
    memspan_space_before_fork();
    memspan_backend_before_fork();
    memspan_share_before_fork();
    memspan_import_before_fork();
    memspan_provider_before_fork();
    memspan_thread_before_fork();
    memspan_account_lock();
    memspan_heap_before_fork();
    memspan_provider_before_fork_inner();
    memspan_map_before_fork();
    memspan_topology_before_fork();
    memspan_omp_before_fork_inner();
    memspan_guard_before_fork();
}

static void after_inner(void)
{
    memspan_guard_after_fork();
    memspan_omp_after_fork_inner();
    memspan_topology_after_fork();
    memspan_map_after_fork();
    memspan_provider_after_fork_inner();
    memspan_heap_after_fork();
    memspan_account_unlock();
}

static void after_outer(void)
{
    memspan_provider_after_fork();
    memspan_import_after_fork();
    memspan_share_after_fork();
    memspan_backend_after_fork();
    memspan_space_after_fork();
    memspan_allocator_after_fork();
    memspan_omp_after_fork_outer();
}

static void after_in_parent(void)
{
    if (memspan_opening_is_here()) {
        return;
    }
    after_inner();
    memspan_thread_after_fork_parent();
    after_outer();
}

static void after_in_child(void)
{
    if (memspan_opening_is_here()) {
        return;
    }
    after_inner();
    memspan_thread_after_fork_child();
    after_outer();
    memspan_decay_after_fork_child();
}

static void register_handlers(void)
{
    pthread_atfork(before, after_in_parent, after_in_child);
}

void memspan_fork_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, register_handlers);
}
