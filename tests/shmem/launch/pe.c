/* SPDX-License-Identifier: BSD-3-Clause */
/* launch-pe [action [pe]]...: a PE that finds its job, tells the others who it is and hears who
 * they are, and then does what it is told, on that PE or on all:
 *
 *   exchange  (always) put, barrier, get from every PE, check
 *   print     "PE p of n, local i of m, by LAUNCHER"
 *   rounds    100 more barriers with a fresh value each time
 *   abort=S   end the job with that status
 *   exit=S    exit without finalizing
 *   kill=N    a signal to itself
 *   hang      wait for a signal
 *   watch     wait until a peer has died; then exit with status 42 by abort
 *   again     20 times, close and open again, and exchange
 *   quick     end by quick_exit()
 *   share     (first) as an MPI library: end the launcher's connection of PMI-1 at exit
 *   return=S  the exit status after all */

#include "shmem/bootstrap/sources.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct msp_bootstrap *bootstrap;
static struct msp_bootstrap_job job;
static int *pids;
static bool is_quick;

static void fail(const char *what)
{
    fprintf(stderr, "launch-pe: %s: %s\n", what, memspan_error_text());
    if (bootstrap != NULL) {
        bootstrap->abort(3, what);
    }
    exit(3);
}

static void require(memspan_status_t status, const char *what)
{
    if (status != MEMSPAN_OK) {
        fail(what);
    }
}

/* Each PE's value of this round is (round, pe). */
static void exchange(int round)
{
    int mine[2] = {round, job.pe};
    char key[32];
    snprintf(key, sizeof(key), "round.%d", round);
    require(bootstrap->put(key, mine, sizeof(mine)), "put");
    require(bootstrap->barrier(), "barrier");
    for (int pe = 0; pe < job.pe_count; pe++) {
        int theirs[2] = {-1, -1};
        size_t size   = sizeof(theirs);
        require(bootstrap->get(pe, key, theirs, &size), "get");
        if (size != sizeof(theirs) || theirs[0] != round || theirs[1] != pe) {
            fail("another value than was put");
        }
    }
}

static void exchange_pids(void)
{
    int pid = (int)getpid();
    pids    = realloc(pids, (size_t)job.local_count * sizeof(*pids));
    require(bootstrap->put("pid", &pid, sizeof(pid)), "put");
    require(bootstrap->barrier(), "barrier");
    for (int i = 0; i < job.local_count; i++) {
        size_t size = sizeof(pid);
        require(bootstrap->get(job.local_pes[i], "pid", &pids[i], &size), "get");
    }
    if (job.local_pes[job.local_index] != job.pe || pids[job.local_index] != (int)getpid()) {
        fail("this PE is not among those of its node");
    }
}

static void watch(void)
{
    int dead = -1;
    while (!msp_bootstrap_peer_died(pids, job.local_count, &dead)) {
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    }
    fprintf(stderr, "PE %d sees that PE %d has died\n", job.pe, job.local_pes[dead]);
    bootstrap->abort(42, "a PE died");
}

static bool is_action(const char *word, const char *name, int *value_p)
{
    size_t length = strlen(name);
    if (strncmp(word, name, length) != 0 || (word[length] != '\0' && word[length] != '=')) {
        return false;
    }
    *value_p = word[length] == '=' ? atoi(word + length + 1) : 0;
    return true;
}

static void act(const char *word, int *status_p)
{
    int value = 0;
    if (is_action(word, "print", &value)) {
        printf("PE %d of %d, local %d of %d, by %s\n", job.pe, job.pe_count, job.local_index,
               job.local_count, job.launcher);
        fflush(stdout);
    } else if (is_action(word, "rounds", &value)) {
        for (int round = 1; round <= 100; round++) {
            exchange(round);
        }
    } else if (is_action(word, "abort", &value)) {
        /* Not while a PMIx server still answers the others: it would fail their barrier. */
        usleep(300000);
        bootstrap->abort(value, "as told");
    } else if (is_action(word, "exit", &value)) {
        _exit(value);
    } else if (is_action(word, "kill", &value)) {
        kill(getpid(), value);
    } else if (is_action(word, "hang", &value)) {
        pause();
    } else if (is_action(word, "watch", &value)) {
        watch();
    } else if (is_action(word, "again", &value)) {
        for (int round = 0; round < 20; round++) {
            require(bootstrap->barrier(), "barrier"); /* others get what this PE has put */
            bootstrap->close();
            require(msp_bootstrap_open(&bootstrap, &job), "open again");
            exchange(1000);
        }
    } else if (is_action(word, "quick", &value)) {
        is_quick = true;
    } else if (is_action(word, "return", &value)) {
        *status_p = value;
    } else {
        fprintf(stderr, "launch-pe: no action %s\n", word);
        exit(2);
    }
}

/* As MPICH from 4.2 on: a handler of exit, and a write that SIGPIPE ends. */
static void end_pmi(void)
{
    static const char line[] = "cmd=finalize\n";
    char reply[64];
    const int fd = atoi(getenv("PMI_FD"));
    if (write(fd, line, sizeof(line) - 1) < 0 || read(fd, reply, sizeof(reply)) <= 0) {
        _exit(4);
    }
}

int main(int argc, char **argv)
{
    int status = 0;
    if (argc > 1 && strcmp(argv[1], "share") == 0) {
        atexit(end_pmi);
        argc--, argv++;
    }
    require(msp_bootstrap_open(&bootstrap, &job), "open");
    exchange(0);
    exchange_pids();
    for (int i = 1; i < argc; i++) {
        char *end  = NULL;
        long only  = i + 1 < argc ? strtol(argv[i + 1], &end, 10) : -1;
        bool given = end != NULL && end != argv[i + 1] && *end == '\0';
        if (!given || only == job.pe) {
            act(argv[i], &status);
        }
        i += given ? 1 : 0;
    }
    /* A PMIx server fails the last barrier for PEs that it has not answered yet when the first one
     * leaves. The library has a barrier of its own before it leaves. */
    (void)bootstrap->barrier();
    bootstrap->close();
    free(pids);
    if (is_quick) {
        quick_exit(status);
    }
    return status;
}
