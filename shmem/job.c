/* SPDX-License-Identifier: BSD-3-Clause */
/* job.c: the order in which a job comes up and goes down.
 *
 * Each step is taken by all PEs together and fails in all when it fails in one, so that no PE waits
 * for one that has given up. Until the job team can vote, a failure on one of several hosts ends
 * the job; of shmemx_init_try() PEs agree through the launcher then. */

#include "shmem/job.h"
#include "shmem/bootstrap.h"
#include "shmem/bootstrap/sources.h"
#include "shmem/collective/collective.h"
#include "shmem/collective/exchange.h"
#include "shmem/collective/hosts.h"
#include "shmem/collective/sync.h"
#include "shmem/context.h"
#include "shmem/control/agree.h"
#include "shmem/control/memory.h"
#include "shmem/control/shared_file.h"
#include "shmem/control/wait.h"
#include "shmem/device/device.h"
#include "shmem/device/on_queue.h"
#include "shmem/option.h"
#include "shmem/partition/partition.h"
#include "shmem/partition/placement.h"
#include "shmem/team.h"
#include "shmem/transport/call.h"
#include "shmem/transport/choice.h"
#include "shmem/transport/order.h"
#include "shmem/transport/segment.h"
#include "shmem/transport/transport.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct msp_job msp_job MSP_SPARSE;

static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER; /* guards depth, was_on, stays_on */
static int depth;                                             /* inits without their finalize */
static bool was_on;
static bool stays_on; /* as msp_job.is_on, in children too */

/* Forked from a PE, in whichever way. */
static bool is_child(void)
{
    return stays_on && !msp_job.is_on;
}

/* ---- failures before the job team can vote ---- */

/* The outcome of a step in one PE. */
struct outcome {
    int status;
    int pe;
    char reason[200]; /* of a failure */
};

enum { OUTCOMES = 64 }; /* that a PE reads at most in a round */

/* Every @p stride-th PE has the outcome of those from its own number to the next such PE's, and
 * every OUTCOMES-th of these reads those of the others. */
static memspan_status_t merge_outcomes(const char *key, int stride, struct outcome *outcome)
{
    const struct msp_bootstrap *launcher = msp_job.bootstrap;
    memspan_status_t status              = MEMSPAN_OK;
    int64_t end                          = msp_job.pe + ((int64_t)stride * OUTCOMES);
    int64_t pe;

    if (msp_job.pe % stride == 0) {
        status = launcher->put(key, outcome, sizeof *outcome);
    }
    status = (status == MEMSPAN_OK) ? launcher->barrier() : status;
    end    = (end < msp_job.pe_count) ? end : msp_job.pe_count;
    for (pe = msp_job.pe + (int64_t)stride;
         (msp_job.pe % ((int64_t)stride * OUTCOMES) == 0) && (pe < end) && (status == MEMSPAN_OK) &&
         (outcome->status == MEMSPAN_OK);
         pe += stride) {
        size_t size_bytes = sizeof *outcome;

        status = launcher->get((int)pe, key, outcome, &size_bytes);
    }
    return status;
}

/* The first failure of all PEs, or success: PE 0 gets it from the others in rounds, and distributes
 * it. */
static memspan_status_t share_outcome(struct outcome *outcome)
{
    static unsigned step; /* the same in all PEs; launchers keep the values of earlier steps */
    const struct msp_bootstrap *launcher = msp_job.bootstrap;
    size_t size_bytes                    = sizeof *outcome;
    memspan_status_t status              = MEMSPAN_OK;
    int64_t stride;
    char key[32];

    step++;
    for (stride = 1; (stride < msp_job.pe_count) && (status == MEMSPAN_OK); stride *= OUTCOMES) {
        snprintf(key, sizeof key, "memspan.step%u.%d", step, (int)stride);
        status = merge_outcomes(key, (int)stride, outcome);
    }
    snprintf(key, sizeof key, "memspan.all%u", step);
    if ((msp_job.pe == 0) && (status == MEMSPAN_OK)) {
        status = launcher->put(key, outcome, sizeof *outcome);
    }
    status = (status == MEMSPAN_OK) ? launcher->barrier() : status;
    return (status == MEMSPAN_OK) ? launcher->get(0, key, outcome, &size_bytes) : status;
}

memspan_status_t msp_job_settle(memspan_status_t mine)
{
    struct outcome outcome = {.status = (int)mine, .pe = msp_job.pe};

    if (msp_job.pe_count == 1) {
        return mine;
    }
    if (mine != MEMSPAN_OK) {
        snprintf(outcome.reason, sizeof outcome.reason, "%s", memspan_error_text());
    }
    if (share_outcome(&outcome) != MEMSPAN_OK) {
        msp_fatal_error("shmemx_init_try");
    }
    if (outcome.status == MEMSPAN_OK) {
        return MEMSPAN_OK;
    }
    /* PE 0's values end with this job: all have read them. */
    if (msp_job.bootstrap->barrier() != MEMSPAN_OK) {
        msp_fatal_error("shmemx_init_try");
    }
    return (mine != MEMSPAN_OK) ? mine
                                : msp_error_elsewhere((memspan_status_t)outcome.status, "PE %d: %s",
                                                      outcome.pe, outcome.reason);
}

/* @p is_waited_for: by PEs that cannot be informed. */
static memspan_status_t settled(memspan_status_t mine, bool is_waited_for)
{
    if (msp_job.is_tried) {
        return msp_job_settle(mine);
    }
    if ((mine != MEMSPAN_OK) && is_waited_for) {
        msp_fatal_error("shmem_init");
    }
    return mine;
}

/* ---- start ---- */

static int player_of(int card, int hosts)
{
    int place = card % hosts;

    return ((card / hosts % 2) == 0) ? place : (hosts - 1 - place);
}

/* PEs go to hosts as cards to players, forth and back: hosts whose PEs are no run. */
static memspan_status_t deal_machine(struct msp_bootstrap_job *found, int hosts)
{
    static int *dealt;
    int mine  = player_of(found->local_index, hosts);
    int count = 0;
    int i;

    free(dealt);
    dealt = malloc((size_t)found->local_count * sizeof *dealt);
    if (dealt == NULL) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for %d PEs", found->local_count);
    }
    for (i = 0; i < found->local_count; i++) {
        if (player_of(i, hosts) == mine) {
            dealt[count++] = found->local_pes[i];
        }
    }
    found->local_index /= hosts;
    found->local_pes   = dealt;
    found->local_count = count;
    return MEMSPAN_OK;
}

/* For tests: runs of PEs become hosts. */
static memspan_status_t divide_machine(struct msp_bootstrap_job *found,
                                       struct msp_network_division division)
{
    int others = (division.others > 0) ? division.others : division.pes;
    int first  = found->local_index / (division.pes + others) * (division.pes + others);
    int count  = division.pes;
    int left;

    if (division.hosts > 0) {
        return deal_machine(found, division.hosts);
    }
    if (found->local_index - first >= division.pes) {
        first += division.pes;
        count = others;
    }
    left = found->local_count - first;
    found->local_pes += first;
    found->local_index -= first;
    found->local_count = (left < count) ? left : count;
    return MEMSPAN_OK;
}

/* Where PEs do not agree on their hosts, some wait for others that do not expect them. */
static memspan_status_t find_host(struct msp_bootstrap_job *found)
{
    struct msp_network_division division = msp_transport_choice_division();
    memspan_status_t status              = msp_bootstrap_find_host(
                     msp_job.bootstrap, found, msp_shmem_option_digest(MEMSPAN_SHMEM_TRANSPORT));

    return ((status == MEMSPAN_OK) && (division.pes != 0)) ? divide_machine(found, division)
                                                           : status;
}

static memspan_status_t join(void)
{
    struct msp_bootstrap_job found;
    memspan_status_t made = MEMSPAN_OK;
    memspan_status_t status;
    int i;

    memset(&found, 0, sizeof found);
    msp_fd_occupy_streams();
    status = msp_bootstrap_open(&msp_job.bootstrap, &found);
    if (status != MEMSPAN_OK) {
        return status;
    }
    msp_job.pe            = found.pe;
    msp_job.pe_count      = found.pe_count;
    msp_job.machine_count = found.local_count;
    if (found.local_index == 0) {
        made = msp_control_make(found.local_count);
    }
    status = find_host(&found);
    status = settled((made == MEMSPAN_OK) ? status : made, msp_job.pe_count > 1);
    if (status != MEMSPAN_OK) {
        return status;
    }
    msp_job.local_index    = found.local_index;
    msp_job.local_count    = found.local_count;
    msp_job.local_pes      = found.local_pes;
    msp_job.launcher       = found.launcher;
    msp_job.first_local    = found.local_pes[0];
    msp_job.is_one_network = found.is_one_network;
    msp_job.direct_count   = found.local_count;
    for (i = 0; i < found.local_count; i++) {
        if (found.local_pes[i] != msp_job.first_local + i) {
            msp_job.direct_count = 0;
        }
    }
    return MEMSPAN_OK;
}

/* Cards can be fetched afterwards. */
static memspan_status_t open_transport(memspan_status_t order)
{
    memspan_status_t status = (order == MEMSPAN_OK) ? msp_transport_open() : order;

    if (msp_job.is_tried) {
        return msp_job_settle(status);
    }
    return (status == MEMSPAN_OK) ? msp_job.bootstrap->barrier() : status;
}

/* Control memory and the transport. Where they fail on one of several hosts, or @p order has the
 * error that the order of transports is malformed there, the others cannot be informed. */
static memspan_status_t open_control(memspan_status_t order)
{
    bool has_hosts          = (msp_job.local_count < msp_job.pe_count);
    memspan_status_t status = msp_control_open();

    if (status == MEMSPAN_OK) {
        msp_wait_init();
        status = has_hosts ? open_transport(order) : MEMSPAN_OK;
    }
    if ((status != MEMSPAN_OK) && has_hosts && !msp_job.is_tried) {
        msp_fatal_error("shmem_init");
    }
    if ((status == MEMSPAN_OK) && has_hosts && (msp_job.pe_count > MSP_EXCHANGE_GROUP_MAX)) {
        status = memspan_error(MEMSPAN_ERR_LIMIT, "%d PEs are more than %d, on several hosts",
                               msp_job.pe_count, MSP_EXCHANGE_GROUP_MAX);
    }
    if (status == MEMSPAN_OK) {
        msp_team_open_job();
    }
    return status;
}

/* Values that must not differ between PEs: the first that does is named. Each vote is a barrier of
 * the job: the first one is of all values together. */
static memspan_status_t compare_options(memspan_status_t mine)
{
    static const enum msp_shmem_option equal[] = {
        MEMSPAN_SHMEM_SYMMETRIC_SIZE,    MEMSPAN_SHMEM_MAX_PARTITIONS,
        MEMSPAN_SHMEM_DEFAULT_PARTITION, MEMSPAN_SHMEM_STRICT_PARTITIONS,
        MEMSPAN_SHMEM_LIBOMP_PARTITION,  MEMSPAN_SHMEM_INDIRECT,
        MEMSPAN_SHMEM_REGISTER,          MEMSPAN_SHMEM_TRANSPORT,
        MEMSPAN_SHMEM_COLLECTIVE,
    };
    const size_t count   = sizeof equal / sizeof equal[0];
    struct msp_team *job = msp_team_job();
    uint64_t all         = 0;
    size_t i;

    if (!msp_agree_all(job, mine == MEMSPAN_OK)) {
        return (mine != MEMSPAN_OK) ? mine
                                    : msp_error_elsewhere(MEMSPAN_ERR_CONFIG,
                                                          "a variable is malformed on another PE");
    }
    for (i = 0; i < count; i++) {
        all = (all ^ msp_shmem_option_digest(equal[i])) * UINT64_C(0x9e3779b97f4a7c15);
        all ^= all >> 32;
    }
    if (msp_agree_first_other(job, all) < 0) {
        return MEMSPAN_OK;
    }
    for (i = 0; i < count; i++) {
        int pe = msp_agree_first_other(job, msp_shmem_option_digest(equal[i]));

        if (pe >= 0) {
            return msp_agree_refuse(msp_shmem_option_name(equal[i]), pe);
        }
    }
    return MEMSPAN_OK;
}

static memspan_status_t read_variables(memspan_status_t *order_p)
{
    memspan_status_t options = msp_shmem_option_read();

    *order_p = msp_transport_choice_read();
    return (options == MEMSPAN_OK) ? msp_table_open() : options;
}

static memspan_status_t come_up(void)
{
    memspan_status_t order   = MEMSPAN_OK;
    memspan_status_t options = read_variables(&order);
    memspan_status_t status  = join();

    if ((status == MEMSPAN_OK) && ((options != MEMSPAN_OK) || (order != MEMSPAN_OK))) {
        options = read_variables(&order); /* launchers that are not here have replaced the record */
    }
    if (status == MEMSPAN_OK) {
        status = open_control(order);
    }
    if (status == MEMSPAN_OK) {
        if (msp_job.pe == 0) {
            msp_shmem_option_warn();
        }
        status = compare_options((options == MEMSPAN_OK) ? order : options);
    }
    if (status == MEMSPAN_OK) {
        msp_job.checks = msp_shmem_option_is_on(MEMSPAN_SHMEM_CHECK) ||
                         msp_shmem_option_is_on(MEMSPAN_SHMEM_DEBUG);
        msp_job.polls_yield = msp_job.checks || msp_wait_is_oversubscribed();
        status              = msp_data_segment_open();
    }
    if (status == MEMSPAN_OK) {
        status = msp_partition_open();
    }
    if (status == MEMSPAN_OK) {
        msp_context_open();
        msp_team_open();
        msp_collective_sync(msp_team_job());
    }
    return status;
}

static void synchronise(void)
{
    msp_collective_sync(msp_team_job());
}

static void come_down(void)
{
    msp_call_close();
    msp_partition_close();
    msp_arena_close();
    msp_data_segment_close();
    msp_transport_close((msp_team_job()->size > 0) ? synchronise : NULL);
    if (msp_job.bootstrap != NULL) {
        msp_job.bootstrap->close();
        msp_job.bootstrap = NULL;
    }
    msp_control_close();
    msp_bootstrap_forget_host();
    msp_team_job()->size = 0;
    memset(&msp_job, 0, sizeof msp_job);
}

static void introduce(void)
{
    if (msp_job.pe != 0) {
        return;
    }
    if (msp_shmem_option_is_on(MEMSPAN_SHMEM_VERSION)) {
        printf("Memspan %s, OpenSHMEM 1.6\n", memspan_version());
    }
    if (msp_shmem_option_is_on(MEMSPAN_SHMEM_INFO)) {
        printf("%d PEs, %d on this host, started by %s\n", msp_job.pe_count, msp_job.local_count,
               msp_job.launcher);
        msp_shmem_option_print();
        msp_transport_choice_print();
        msp_partition_print();
    }
    fflush(stdout);
}

/* Once for the job, by a PE that has the reason; before anything ends. Before the job team can
 * vote, by each PE that does. */
static void report(const char *what, const char *call)
{
    uint64_t turn = (uint64_t)(msp_job.pe_count - msp_job.pe);

    if (what == NULL) {
        return;
    }
    if (msp_team_job()->size == 0) {
        if (!msp_error_is_elsewhere()) {
            memspan_report(what, call);
        }
        return;
    }
    turn += msp_error_is_elsewhere() ? 0 : (uint64_t)msp_job.pe_count;
    if (msp_agree_max(msp_team_job(), turn) == turn) {
        memspan_report(what, call);
    }
    msp_collective_sync(msp_team_job());
}

int msp_job_init(const char *what, const char *call, int requested_level, int *provided_p)
{
    memspan_status_t status = MEMSPAN_OK;

    if (is_child()) {
        msp_job_refuse(call);
    }
    pthread_mutex_lock(&init_lock);
    if (depth == 0) {
        msp_job.is_tried = (what == NULL);
        status           = come_up();
        if (status == MEMSPAN_OK) {
            msp_job.thread_level = requested_level;
            msp_job.has_threads  = (requested_level >= SHMEM_THREAD_MULTIPLE);
            msp_job.is_on        = true;
            was_on               = true;
            stays_on             = true;
            msp_segment_wipe_in_children();
            introduce();
        } else {
            report(what, call);
            come_down();
        }
    }
    if (status == MEMSPAN_OK) {
        depth++;
        if (provided_p != NULL) {
            *provided_p = msp_job.thread_level;
        }
    }
    pthread_mutex_unlock(&init_lock);
    return (int)status;
}

/* ---- end ---- */

void msp_job_finalize(void)
{
    pthread_mutex_lock(&init_lock);
    if (depth > 0) {
        if (--depth > 0) {
            msp_collective_barrier(msp_team_world());
        } else {
            /* The job team's: PEs that are not at the end do not take it for a barrier of theirs.
             */
            msp_on_queue_finish();
            msp_device_close_all();
            msp_quiet(msp_context_default());
            atomic_store(&msp_doorbells.by_index[msp_job.local_index].is_finalizing, 1);
            msp_collective_sync(msp_team_job());
            msp_team_close();
            msp_context_close();
            msp_collective_sync(msp_team_job());
            stays_on      = false;
            msp_job.is_on = false;
            come_down();
        }
    }
    pthread_mutex_unlock(&init_lock);
}

/* A program that exits with status 0 without shmem_finalize() is finalized: launchers take it for a
 * crash otherwise. One that exits with an error must not wait for the others. */
static void finalize_at_exit(int status, void *unused)
{
    (void)unused;
    while ((status == 0) && msp_job.is_on) {
        msp_job_finalize();
    }
}

void msp_job_watch_exit(const char *call)
{
    if (on_exit(finalize_at_exit, NULL) != 0) {
        msp_fatal("%s: the end of the program cannot be watched: on_exit() failed", call);
    }
}

/* Its driver may have come up just now. The other PEs use the memory until this one is finalized:
 * once for each device, the last place for those that are not known. */
void msp_job_add_device_memory(const void *address)
{
    enum { DEVICES_MAX = 1024 };
    static atomic_bool is_watched[DEVICES_MAX + 1];
    unsigned device = (unsigned)msp_device_memory_home(address);

    __atomic_store_n(&msp_job.has_device_memory, true, __ATOMIC_RELAXED);
    device = (device < DEVICES_MAX) ? device : DEVICES_MAX;
    if (!atomic_exchange(&is_watched[device], true)) {
        msp_job_watch_exit("memory of a device");
    }
}

bool msp_job_is_initialized(void)
{
    return msp_job.is_on;
}

bool msp_job_has_ended(void)
{
    return was_on && !msp_job.is_on && !is_child();
}

void msp_job_abort(int status, const char *message)
{
    if (msp_job.bootstrap != NULL) {
        msp_job.bootstrap->abort(status, message);
    }
    _exit(status);
}

void msp_job_forget(void)
{
    msp_team_job()->size = 0;
    memset(&msp_job, 0, sizeof msp_job);
    memset(msp_segments, 0, sizeof msp_segments);
    depth = 0;
}

/* ---- questions ---- */

int msp_job_local_index(int pe)
{
    int low  = 0;
    int high = msp_job.local_count - 1;

    while (low <= high) {
        int middle = low + ((high - low) / 2);

        if (msp_job.local_pes[middle] == pe) {
            return middle;
        }
        if (msp_job.local_pes[middle] < pe) {
            low = middle + 1;
        } else {
            high = middle - 1;
        }
    }
    return -1;
}

void msp_job_refuse(const char *call)
{
    if (is_child()) {
        msp_fatal("%s: this process was forked from a PE and is none itself", call);
    }
    msp_fatal(was_on ? "%s was called after shmem_finalize()" : "%s was called before shmem_init()",
              call);
}
