/* SPDX-License-Identifier: BSD-3-Clause */
/* job.c: the order in which a job comes up and goes down.
 *
 * Each step is taken by all PEs of the node together and fails everywhere when it fails somewhere,
 * so that no PE waits for one that has given up. */

#include "shmem/job.h"
#include "shmem/bootstrap.h"
#include "shmem/collective/collective.h"
#include "shmem/context.h"
#include "shmem/node.h"
#include "shmem/option.h"
#include "shmem/order.h"
#include "shmem/partition.h"
#include "shmem/segment.h"
#include "shmem/team.h"
#include "shmem/wait.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct memspan_job memspan_job;

static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER; /* guards depth, was_on */
static int depth;                                             /* inits without their finalize */
static bool was_on;
static bool is_forked;

/* ---- start ---- */

static memspan_status_t join(void)
{
    struct memspan_bootstrap_job found;
    memspan_status_t status;
    int i;

    memset(&found, 0, sizeof found);
    status = memspan_bootstrap_open(&memspan_job.bootstrap, &found);
    if (status != MEMSPAN_OK) {
        return status;
    }
    memspan_job.pe           = found.pe;
    memspan_job.pe_count     = found.pe_count;
    memspan_job.local_index  = found.local_index;
    memspan_job.local_count  = found.local_count;
    memspan_job.local_pes    = found.local_pes;
    memspan_job.launcher     = found.launcher;
    memspan_job.first_local  = found.local_pes[0];
    memspan_job.direct_count = found.local_count;
    for (i = 0; i < found.local_count; i++) {
        if (found.local_pes[i] != memspan_job.first_local + i) {
            memspan_job.direct_count = 0;
        }
    }
    if (found.local_count != found.pe_count) {
        memspan_error(MEMSPAN_ERR_UNSUPPORTED, "%d of the job's %d PEs are on other nodes",
                      found.pe_count - found.local_count, found.pe_count);
        return memspan_error_hint("jobs of one node are supported so far");
    }
    return MEMSPAN_OK;
}

/* Values that must not differ between PEs: the first that does is named. */
static memspan_status_t compare_options(memspan_status_t mine)
{
    static const enum memspan_shmem_option equal[] = {
        MEMSPAN_SHMEM_SYMMETRIC_SIZE,    MEMSPAN_SHMEM_MAX_PARTITIONS,
        MEMSPAN_SHMEM_DEFAULT_PARTITION, MEMSPAN_SHMEM_STRICT_PARTITIONS,
        MEMSPAN_SHMEM_LIBOMP_PARTITION,
    };
    size_t i;

    if (!memspan_node_all(mine == MEMSPAN_OK)) {
        return (mine != MEMSPAN_OK)
                   ? mine
                   : memspan_error_elsewhere(MEMSPAN_ERR_CONFIG,
                                             "a variable is malformed on another PE");
    }
    for (i = 0; i < sizeof equal / sizeof equal[0]; i++) {
        uint64_t digest = memspan_shmem_option_digest(equal[i]);

        if (!memspan_node_all(memspan_node_max(digest) == digest)) {
            memspan_error(MEMSPAN_ERR_CONFIG, "%s differs between PEs",
                          memspan_shmem_option_name(equal[i]));
            return memspan_error_hint("hand the same environment to all of them (mpirun -x %s)",
                                      memspan_shmem_option_name(equal[i]));
        }
    }
    return MEMSPAN_OK;
}

static memspan_status_t come_up(void)
{
    memspan_status_t options = memspan_shmem_option_read();
    memspan_status_t status  = join();

    if (status == MEMSPAN_OK) {
        status = memspan_node_open();
    }
    if (status == MEMSPAN_OK) {
        memspan_wait_init();
        if (memspan_job.local_index == 0) {
            memspan_shmem_option_warn();
        }
        status = compare_options(options);
    }
    if (status == MEMSPAN_OK) {
        memspan_job.checks = memspan_shmem_option_is_on(MEMSPAN_SHMEM_CHECK) ||
                             memspan_shmem_option_is_on(MEMSPAN_SHMEM_DEBUG);
        memspan_job.polls_yield = memspan_job.checks || memspan_wait_is_crowded();
        status                  = memspan_data_segment_open();
    }
    if (status == MEMSPAN_OK) {
        status = memspan_partition_open();
    }
    if (status == MEMSPAN_OK) {
        memspan_context_open();
        memspan_team_open();
        memspan_node_fence();
    }
    return status;
}

static void come_down(void)
{
    memspan_partition_close();
    memspan_arena_close();
    memspan_data_segment_close();
    memspan_node_close();
    if (memspan_job.bootstrap != NULL) {
        memspan_job.bootstrap->close();
    }
    memset(&memspan_job, 0, sizeof memspan_job);
}

static void introduce(void)
{
    if (memspan_job.pe != 0) {
        return;
    }
    if (memspan_shmem_option_is_on(MEMSPAN_SHMEM_VERSION)) {
        printf("Memspan %s, OpenSHMEM 1.6\n", memspan_version());
    }
    if (memspan_shmem_option_is_on(MEMSPAN_SHMEM_INFO)) {
        printf("%d PEs, %d on this node, started by %s\n", memspan_job.pe_count,
               memspan_job.local_count, memspan_job.launcher);
        memspan_shmem_option_print();
        memspan_partition_print();
    }
    fflush(stdout);
}

/* Once for the node, by a PE that knows the reason; before anything ends. Where there is no control
 * memory yet, by each that does. */
static void report(const char *what, const char *call)
{
    uint64_t turn = (uint64_t)(memspan_job.local_count - memspan_job.local_index);

    if (memspan_node.bells == NULL) {
        if (!memspan_error_is_elsewhere()) {
            memspan_report(what, call);
        }
        return;
    }
    turn += memspan_error_is_elsewhere() ? 0 : (uint64_t)memspan_job.local_count;
    if (memspan_node_max(turn) == turn) {
        memspan_report(what, call);
    }
    memspan_node_fence();
}

int memspan_job_init(const char *what, const char *call, int requested_level, int *provided_p)
{
    memspan_status_t status = MEMSPAN_OK;

    pthread_mutex_lock(&init_lock);
    if (depth == 0) {
        status = come_up();
        if (status == MEMSPAN_OK) {
            memspan_job.thread_level = requested_level;
            memspan_job.is_on        = true;
            was_on                   = true;
            introduce();
        } else {
            report(what, call);
            come_down();
        }
    }
    if (status == MEMSPAN_OK) {
        depth++;
        if (provided_p != NULL) {
            *provided_p = memspan_job.thread_level;
        }
    }
    pthread_mutex_unlock(&init_lock);
    return (int)status;
}

/* ---- end ---- */

void memspan_job_finalize(void)
{
    pthread_mutex_lock(&init_lock);
    if (depth > 0) {
        if (--depth > 0) {
            memspan_collective_barrier(memspan_team_world());
        } else {
            /* A meeting of its own: it is not taken for a barrier by PEs that are not at the end.
             */
            memspan_quiet(memspan_context_default());
            atomic_store(&memspan_node.bells[memspan_job.local_index].has_left, 1);
            memspan_node_fence();
            memspan_team_close();
            memspan_context_close();
            memspan_node_fence();
            memspan_job.is_on = false;
            come_down();
        }
    }
    pthread_mutex_unlock(&init_lock);
}

bool memspan_job_is_initialized(void)
{
    return memspan_job.is_on;
}

bool memspan_job_has_ended(void)
{
    return was_on && !memspan_job.is_on && !is_forked;
}

void memspan_job_abort(int status, const char *message)
{
    if (memspan_job.bootstrap != NULL) {
        memspan_job.bootstrap->abort(status, message);
    }
    _exit(status);
}

void memspan_job_forget(void)
{
    is_forked = memspan_job.is_on || is_forked;
    memset(&memspan_job, 0, sizeof memspan_job);
    memset(memspan_segments, 0, sizeof memspan_segments);
    depth = 0;
}

/* ---- questions ---- */

int memspan_job_local_index(int pe)
{
    int low  = 0;
    int high = memspan_job.local_count - 1;

    while (low <= high) {
        int middle = low + ((high - low) / 2);

        if (memspan_job.local_pes[middle] == pe) {
            return middle;
        }
        if (memspan_job.local_pes[middle] < pe) {
            low = middle + 1;
        } else {
            high = middle - 1;
        }
    }
    return -1;
}

void memspan_job_refuse(const char *call)
{
    if (is_forked) {
        memspan_fatal("%s: this process was forked from a PE and is none itself", call);
    }
    memspan_fatal(was_on ? "%s was called after shmem_finalize()"
                         : "%s was called before shmem_init()",
                  call);
}
