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
#include "core/debug/guard.h"
#include "core/device/import.h"
#include "core/device/opening.h"
#include "core/engine/allocator_record.h"
#include "core/engine/decay.h"
#include "core/engine/heap.h"
#include "core/engine/pointer_map.h"
#include "core/share.h"
#include "core/topology/topology.h"
#include <pthread.h>

static void before(void)
{
    if (msp_opening_is_here()) {
        return;
    }
    msp_omp_before_fork_outer();
    msp_allocator_before_fork();
    msp_space_before_fork();
    msp_backend_before_fork();
    msp_share_before_fork();
    msp_import_before_fork();
    msp_provider_before_fork();
    msp_thread_before_fork();
    msp_account_lock();
    msp_heap_before_fork();
    msp_provider_before_fork_inner();
    msp_map_before_fork();
    msp_topology_before_fork();
    msp_omp_before_fork_inner();
    msp_guard_before_fork();
}

static void after_inner(void)
{
    msp_guard_after_fork();
    msp_omp_after_fork_inner();
    msp_topology_after_fork();
    msp_map_after_fork();
    msp_provider_after_fork_inner();
    msp_heap_after_fork();
    msp_account_unlock();
}

static void after_outer(void)
{
    msp_provider_after_fork();
    msp_import_after_fork();
    msp_share_after_fork();
    msp_backend_after_fork();
    msp_space_after_fork();
    msp_allocator_after_fork();
    msp_omp_after_fork_outer();
}

static void after_in_parent(void)
{
    if (msp_opening_is_here()) {
        return;
    }
    after_inner();
    msp_thread_after_fork_parent();
    after_outer();
}

static void after_in_child(void)
{
    if (msp_opening_is_here()) {
        return;
    }
    after_inner();
    msp_thread_after_fork_child();
    after_outer();
    msp_decay_after_fork_child();
}

static void register_handlers(void)
{
    pthread_atfork(before, after_in_parent, after_in_child);
}

void msp_fork_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, register_handlers);
}
