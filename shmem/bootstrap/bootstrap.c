/* SPDX-License-Identifier: BSD-3-Clause */
/* The launcher of this process, and the two failures that must not go unseen: a launcher without a
 * channel, and a PE of this host that has died under a launcher that goes on. */

#include "core/base/process.h"
#include "shmem/bootstrap/sources.h"
#include <errno.h>
#include <memspan/launch.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WATCHED_MAX 8   /* PEs that each PE watches: those after it, around */
#define CERTAIN_MS  500 /* how long a PE must have been dead: the launcher is to report first */

#define LAUNCHER_S 2 /* that Open MPI's takes to end a job on all hosts */

void (*msp_bootstrap_watch)(void);

/* A launcher has started several, and this process is about to be one alone. */
static memspan_status_t check_claim(const char *reason)
{
    struct msp_bootstrap_claim claim = msp_bootstrap_find_claim();
    if (claim.variable == NULL || claim.pe_count == 1) {
        return MEMSPAN_OK;
    }
    if (claim.pe_count == 0) {
        memspan_error(MEMSPAN_ERR_CONFLICT,
                      "%s is set: %s started this process, which cannot talk to it (%s)",
                      claim.variable, claim.launcher, reason);
    } else {
        memspan_error(MEMSPAN_ERR_CONFLICT,
                      "%s started %d processes (%s), but this one finds itself alone (%s)",
                      claim.launcher, claim.pe_count, claim.variable, reason);
    }
    return msp_error_hint("%s", claim.remedy);
}

/* A launcher's channel is memory that other processes of the user write, and PMIx loads components
 * from folders that the environment names: a program with more rights than its user is a job of
 * one. */
static memspan_status_t check_untrusted(void)
{
    if ((msp_variable_text(MEMSPAN_LAUNCH_VARIABLE) == NULL) &&
        (msp_bootstrap_find_claim().variable == NULL)) {
        return MEMSPAN_OK;
    }
    memspan_error(MEMSPAN_ERR_CONFLICT, "a launcher started this process, but %s",
                  MSP_UNTRUSTED_REASON);
    return msp_error_hint("%s", MSP_UNTRUSTED_HINT);
}

memspan_status_t msp_bootstrap_open(const struct msp_bootstrap **bootstrap_p,
                                    struct msp_bootstrap_job *job_p)
{
    static const struct msp_bootstrap *const ways[] = {&msp_bootstrap_launch, &msp_bootstrap_pmix,
                                                       &msp_bootstrap_pmi};
    char reason[256]                                = "";
    bool trusted                                    = msp_environment_is_trusted();
    for (size_t i = 0; trusted && i < sizeof(ways) / sizeof(ways[0]); i++) {
        memspan_status_t status = ways[i]->open(job_p);
        if (status == MEMSPAN_OK) {
            *bootstrap_p = ways[i];
            return MEMSPAN_OK;
        }
        if (status != MEMSPAN_ERR_OFF) {
            return status;
        }
        snprintf(reason, sizeof(reason), "%s", memspan_error_last()->message);
    }
    memspan_status_t status = trusted ? check_claim(reason) : check_untrusted();
    if (status != MEMSPAN_OK) {
        return status;
    }
    memspan_error_clear();
    status = msp_bootstrap_single.open(job_p);
    if (status == MEMSPAN_OK) {
        *bootstrap_p = &msp_bootstrap_single;
    }
    return status;
}

/* A zombie is dead too, which kill() would not detect. */
static bool is_dead(int pid)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0) {
        return kill(pid, 0) != 0 && errno == ESRCH;
    }
    struct pollfd event = {.fd = fd, .events = POLLIN};
    bool dead           = poll(&event, 1, 0) == 1;
    close(fd);
    return dead;
}

static bool find_dead(const int *pids, int count, int *local_index_p)
{
    int self = 0;
    int pid  = getpid();
    while (self < count && pids[self] != pid) {
        self++;
    }
    int watched = count - 1 < WATCHED_MAX ? count - 1 : WATCHED_MAX;
    for (int i = 1; i <= watched; i++) {
        int peer = (self + i) % count;
        if (pids[peer] > 0 && pids[peer] != pid && is_dead(pids[peer])) {
            *local_index_p = peer;
            return true;
        }
    }
    return false;
}

/* A PE that has left the last barrier may exit before another one has noticed that it may leave,
 * too. So a PE counts as failed after a while, in which the waiting one polls again. */
bool msp_bootstrap_peer_died(const int *pids, int count, int *local_index_p)
{
    static atomic_int suspect; /* local index + 1 */
    static atomic_llong since_ms;

    int peer = 0;
    if (!find_dead(pids, count, &peer)) {
        atomic_store(&suspect, 0);
        return false;
    }
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long long now_ms = (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    if (atomic_load(&suspect) != peer + 1) {
        atomic_store(&since_ms, now_ms);
        atomic_store(&suspect, peer + 1);
        return false;
    }
    if (now_ms - atomic_load(&since_ms) < CERTAIN_MS) {
        return false;
    }
    *local_index_p = peer;
    return true;
}

void msp_bootstrap_let_launcher_speak(void)
{
    struct timespec left = {.tv_sec = LAUNCHER_S};
    while (nanosleep(&left, &left) != 0) {
    }
}
