/* SPDX-License-Identifier: BSD-3-Clause */
/* Which way a process believes to have been started, and the two that fool themselves: a launcher
 * that says N where one is seen, and one without a channel. */

#include "shmem/bootstrap/sources.h"
#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *const traces[] = {
    "SHMEMX_LAUNCH",   "PMIX_NAMESPACE",       "PMIX_RANK",
    "PMI_SIZE",        "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS",
    "MPI_LOCALNRANKS", "FLUX_JOB_SIZE",        "PALS_RANKID"};

static void forget(void)
{
    for (size_t i = 0; i < sizeof(traces) / sizeof(traces[0]); i++) {
        unsetenv(traces[i]);
    }
}

static const struct msp_bootstrap *bootstrap;
static struct msp_bootstrap_job job;

static void expect_refused(memspan_status_t expected, const char *words, const char *more)
{
    memspan_status_t status = msp_bootstrap_open(&bootstrap, &job);
    cr_assert(status == expected, "%d is not %d", status, expected);
    cr_assert(strstr(memspan_error_text(), words) != NULL, "\"%s\" does not say \"%s\"",
              memspan_error_text(), words);
    cr_assert(strstr(memspan_error_text(), more) != NULL, "\"%s\" does not say \"%s\"",
              memspan_error_text(), more);
}

TestSuite(start, .init = forget);

Test(start, without_a_launcher_it_is_a_job_of_one)
{
    char data[8];
    size_t size = sizeof(data);
    cr_assert(msp_bootstrap_open(&bootstrap, &job) == MEMSPAN_OK);
    cr_assert(job.pe == 0 && job.pe_count == 1 && job.local_count == 1 && job.local_pes[0] == 0);
    cr_assert(strlen(job.job_id) > 0 && strcmp(job.launcher, "none") == 0);
    cr_assert(bootstrap->put("k", "one", 3) == MEMSPAN_OK);
    cr_assert(bootstrap->put("k", "two", 3) == MEMSPAN_OK);
    cr_assert(bootstrap->barrier() == MEMSPAN_OK);
    cr_assert(bootstrap->get(0, "k", data, &size) == MEMSPAN_OK);
    cr_assert(size == 3 && memcmp(data, "two", 3) == 0);
    cr_assert(bootstrap->get(0, "l", data, &size) == MEMSPAN_ERR_NOT_FOUND);
    cr_assert(bootstrap->get(1, "k", data, &size) == MEMSPAN_ERR_INVALID);
    size = 2;
    cr_assert(bootstrap->get(0, "k", data, &size) == MEMSPAN_ERR_LIMIT);
    bootstrap->close();
}

Test(start, several_where_one_is_seen)
{
    setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
    expect_refused(MEMSPAN_ERR_CONFLICT, "started 4 processes (OMPI_COMM_WORLD_SIZE)", "libpmix");
    forget();
    setenv("PMI_SIZE", "2", 1);
    expect_refused(MEMSPAN_ERR_CONFLICT, "started 2 processes (PMI_SIZE)", "oshrun -n");
    forget();
    setenv("SLURM_STEP_NUM_TASKS", "3", 1);
    expect_refused(MEMSPAN_ERR_CONFLICT, "srun started 3 processes", "--mpi=pmix");
    forget();
    setenv("PALS_RANKID", "0", 1);
    expect_refused(MEMSPAN_ERR_CONFLICT, "PALS", "--pmi=pmix");
}

Test(start, one_of_one_is_well)
{
    setenv("OMPI_COMM_WORLD_SIZE", "1", 1);
    setenv("PMI_SIZE", "1", 1);
    cr_assert(msp_bootstrap_open(&bootstrap, &job) == MEMSPAN_OK, "%s", memspan_error_text());
    cr_assert(job.pe_count == 1);
}

Test(start, a_server_that_does_not_answer)
{
    setenv("PMIX_NAMESPACE", "none", 1);
    setenv("PMIX_RANK", "0", 1);
    expect_refused(MEMSPAN_ERR_CONFLICT, "PMIX_NAMESPACE is set", "unset PMIX_NAMESPACE");
}

Test(start, a_channel_that_is_malformed)
{
    static const char *const bad[] = {"",         "7",        "7:0:1",   "x:0:1:2",
                                      "7:0:1:2x", "-1:0:1:2", "7:-1:1:2"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        setenv("SHMEMX_LAUNCH", bad[i], 1);
        expect_refused(MEMSPAN_ERR_CONFIG, "SHMEMX_LAUNCH=", "oshrun");
    }
    setenv("SHMEMX_LAUNCH", "977:0:1:1000000", 1);
    expect_refused(MEMSPAN_ERR_INVALID, "not open", "oshrun");
}

/* One look is not enough to call a PE dead, and a zombie is. */
Test(start, a_peer_that_has_died_is_noticed, .timeout = 20)
{
    int peer  = -1;
    pid_t pid = fork();
    if (pid == 0) {
        pause();
    }
    int pids[3] = {0, (int)getpid(), (int)pid};
    for (int i = 0; i < 8; i++) {
        cr_assert(!msp_bootstrap_peer_died(pids, 3, &peer));
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    }
    cr_assert_gt(pid, 0);
    kill(pid, SIGKILL);
    siginfo_t info;
    cr_assert(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0);
    cr_assert(!msp_bootstrap_peer_died(pids, 3, &peer));
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    cr_assert(!msp_bootstrap_peer_died(pids, 3, &peer));
    nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
    cr_assert(msp_bootstrap_peer_died(pids, 3, &peer));
    cr_assert(peer == 2);
    waitpid(pid, NULL, 0);
    cr_assert(msp_bootstrap_peer_died(pids, 3, &peer));
    pids[2] = 0;
    cr_assert(!msp_bootstrap_peer_died(pids, 3, &peer), "0 is no process");
    cr_assert(!msp_bootstrap_peer_died(pids + 1, 1, &peer));
}
