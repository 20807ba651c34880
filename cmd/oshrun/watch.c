/* SPDX-License-Identifier: BSD-3-Clause */
/* One loop over one poll(): signals arrive as data, so nothing here runs at an unexpected moment.
 */

#include "watch.h"
#include "cmd/common/message.h"
#include "start.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_AROUND_MS   100 /* while something is undecided */
#define LEAVE_PATIENCE_S 0.3 /* between the first PE that leaves the others alone and the end */
#define TERM_PATIENCE_S  0.3 /* between SIGTERM and SIGKILL */

static const int watched[] = {SIGCHLD, SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                              SIGUSR1, SIGUSR2, SIGCONT, SIGTSTP, SIGWINCH};

/* What is ignored (nohup, a shell's background jobs) stays ignored. */
static sigset_t watched_set(void)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(watched) / sizeof(watched[0]); i++) {
        struct sigaction action;
        if (watched[i] == SIGCHLD || sigaction(watched[i], NULL, &action) != 0 ||
            action.sa_handler != SIG_IGN) {
            sigaddset(&set, watched[i]);
        }
    }
    return set;
}

void watch_block_signals(sigset_t *before_p)
{
    sigset_t set = watched_set();
    signal(SIGCHLD, SIG_DFL); /* or there would be nobody to wait for */
    sigprocmask(SIG_BLOCK, &set, before_p);
}

static int open_signals(void)
{
    sigset_t set = watched_set();
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* No PE is left to pass them on to: they are for this process, should it be waiting for a reader.
 */
static void unblock_signals(void)
{
    sigset_t set = watched_set();
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* The first reason counts. */
static void decide(struct watch *watch, int status)
{
    if (!watch->is_decided) {
        watch->is_decided = true;
        watch->status     = status;
    }
}

static void end_job(struct watch *watch, int status, bool at_once)
{
    decide(watch, status);
    if (!watch->is_ending) {
        watch->is_ending = true;
        watch->kill_at_s = now_s() + TERM_PATIENCE_S;
        __atomic_store_n(&watch->job->header->is_ending, 1, __ATOMIC_RELEASE);
        job_signal(watch->job, SIGTERM);
        job_signal(watch->job, SIGCONT);
    }
    if (at_once) {
        watch->kill_at_s = 0;
        job_signal(watch->job, SIGKILL);
    }
}

/* The status of a job as that of a process: what is not 0 stays so. */
static int exit_code(int status)
{
    return status != 0 && (status & 0xff) == 0 ? 1 : status & 0xff;
}

static void tell_abort(const struct watch *watch, int pe, int status)
{
    if (status != 0) {
        cli_complain("PE %d (pid %d) ended the job with status %d", pe,
                     (int)watch->job->pes[pe].last_pid, status);
    }
}

/* shmem_global_exit, or a fatal error: the PE has said what it had to say. */
static bool check_abort(struct watch *watch)
{
    const struct memspan_launch_header *header = watch->job->header;
    if (watch->is_ending || !__atomic_load_n(&header->abort_ready, __ATOMIC_ACQUIRE)) {
        return watch->is_ending;
    }
    int status  = header->abort_status;
    unsigned pe = header->abort_by - 1;
    if (pe < (unsigned)watch->job->pe_count) {
        tell_abort(watch, (int)pe, status);
    }
    end_job(watch, exit_code(status), false);
    return true;
}

/* What the PMIx server has heard of the PEs. */
static void take_events(struct watch *watch)
{
    struct server_event event;
    while (watch->server->event_fd >= 0 &&
           read(watch->server->event_fd, &event, sizeof(event)) == (ssize_t)sizeof(event)) {
        if (event.pe < 0 || event.pe >= watch->job->pe_count) {
            continue;
        }
        struct pe *record = &watch->job->pes[event.pe];
        if (event.kind != SERVER_EVENT_ABORT) {
            record->pmix_state = event.kind == SERVER_EVENT_CONNECTED ? MEMSPAN_LAUNCH_ATTACHED
                                                                      : MEMSPAN_LAUNCH_FINALIZED;
        } else if (!watch->is_ending) {
            tell_abort(watch, event.pe, event.status);
            end_job(watch, exit_code(event.status), false);
        }
    }
}

/* Why the program could not be run, when that is why a PE has gone. */
static bool check_start(struct watch *watch)
{
    struct start_error error;
    if (read(watch->error_fd, &error, sizeof(error)) != (ssize_t)sizeof(error)) {
        return false;
    }
    if (!watch->is_ending) {
        cli_complain("PE %d cannot run %s%s%s: %s", error.pe, watch->job->options->program[0],
                     watch->job->options->folder != NULL ? " in " : "",
                     watch->job->options->folder != NULL ? watch->job->options->folder : "",
                     strerror(error.code));
    }
    end_job(watch, error.code == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN, false);
    return true;
}

static void judge_signal(struct watch *watch, const struct pe *record, int pe)
{
    int number = WTERMSIG(record->wait_status);
    bool is_wanted =
        number == watch->forwarded || (number == SIGPIPE && output_is_broken(watch->output));
    if (!watch->is_ending && !is_wanted) {
        cli_complain("PE %d (pid %d) was killed by signal %d (%s)%s; ending the job", pe,
                     (int)record->last_pid, number, strsignal(number),
                     WCOREDUMP(record->wait_status) ? " and dumped core" : "");
    }
    end_job(watch, 128 + number, false);
}

/* What it means that a PE has gone. */
static void judge(struct watch *watch, int pe)
{
    const struct pe *record = &watch->job->pes[pe];
    int code                = WEXITSTATUS(record->wait_status);
    if (check_abort(watch) || check_start(watch)) {
        return;
    }
    if (WIFSIGNALED(record->wait_status)) {
        judge_signal(watch, record, pe);
    } else if (code != 0 && record->last_state == MEMSPAN_LAUNCH_FINALIZED) {
        decide(watch, code);
    } else if (code != 0) {
        if (watch->job->alive_count > 0) {
            cli_complain("PE %d (pid %d) exited with status %d%s; ending the job", pe,
                         (int)record->last_pid, code,
                         record->last_state == MEMSPAN_LAUNCH_ATTACHED ? " before it had finalized"
                                                                       : "");
        }
        end_job(watch, code, false);
    }
}

static void reap(struct watch *watch)
{
    int wait_status = 0;
    pid_t pid       = 0;
    take_events(watch); /* what a PE said before it went */
    while ((pid = waitpid(-1, &wait_status, WNOHANG)) > 0) {
        for (int pe = 0; pe < watch->job->pe_count; pe++) {
            struct pe *record = &watch->job->pes[pe];
            if (record->pid != pid) {
                continue;
            }
            record->pid         = 0;
            record->is_gone     = true;
            record->wait_status = wait_status;
            record->last_state  = job_state(watch->job, pe);
            record->gone_at_s   = now_s();
            watch->job->alive_count--;
            /* Of what it started, something may be left: the group lives as long as that. */
            if (kill(-pid, SIGKILL) != 0) {
                guard_note(watch->guard, pe, 0);
            }
            judge(watch, pe);
            break;
        }
    }
    check_abort(watch);
}

/* True when some PE has gone without having finalized while others are inside. */
static bool check_left(struct watch *watch)
{
    const struct job *job = watch->job;
    int waiting           = 0;
    int culprit           = -1;
    for (int pe = 0; pe < job->pe_count; pe++) {
        if (job->pes[pe].is_gone) {
            if (job->pes[pe].last_state != MEMSPAN_LAUNCH_FINALIZED &&
                (culprit < 0 || job->pes[pe].gone_at_s < job->pes[culprit].gone_at_s)) {
                culprit = pe;
            }
        } else if (job_state(job, pe) == MEMSPAN_LAUNCH_ATTACHED) {
            waiting++;
        }
    }
    if (culprit < 0 || waiting == 0 || watch->is_ending) {
        return false;
    }
    if (now_s() - job->pes[culprit].gone_at_s > LEAVE_PATIENCE_S) {
        cli_complain("PE %d (pid %d) exited %s, and %d other%s waiting for it; ending the job",
                     culprit, (int)job->pes[culprit].last_pid,
                     job->pes[culprit].last_state == MEMSPAN_LAUNCH_ATTACHED
                         ? "without having finalized"
                         : "without having initialized",
                     waiting, waiting == 1 ? " is" : "s are");
        end_job(watch, 1, false);
    }
    return true;
}

/* All have gone, each with status 0: some having finalized, which takes all of them, and some not.
 */
static void check_end(struct watch *watch)
{
    int culprit    = -1;
    bool any_ended = false;
    for (int pe = 0; pe < watch->job->pe_count; pe++) {
        uint32_t state = watch->job->pes[pe].last_state;
        any_ended      = any_ended || state == MEMSPAN_LAUNCH_FINALIZED;
        culprit        = state == MEMSPAN_LAUNCH_ATTACHED ? pe : culprit;
    }
    if (culprit >= 0 && any_ended && !watch->is_decided) {
        cli_complain("PE %d (pid %d) exited without having finalized, as others had", culprit,
                     (int)watch->job->pes[culprit].last_pid);
        decide(watch, 1);
    }
}

/* Ctrl-C comes to this process alone: the PEs are in groups of their own. */
static void pass_on(struct watch *watch, int number)
{
    switch (number) {
    case SIGINT:
    case SIGTERM:
    case SIGHUP:
    case SIGQUIT:
        watch->forwarded = number;
        if (++watch->forwarded_count > 1) {
            cli_complain("signal %d (%s) again; killing the PEs", number, strsignal(number));
            end_job(watch, 128 + number, true);
        } else {
            cli_complain("signal %d (%s) is passed on to the PEs; a second one kills them", number,
                         strsignal(number));
        }
        job_signal(watch->job, number);
        job_signal(watch->job, SIGCONT);
        break;
    case SIGTSTP:
        job_signal(watch->job, SIGTSTP);
        raise(SIGSTOP);
        break;
    default:
        job_signal(watch->job, number);
        break;
    }
}

static void take_signals(struct watch *watch)
{
    struct signalfd_siginfo info;
    while (read(watch->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo != SIGCHLD) {
            pass_on(watch, (int)info.ssi_signo);
        }
    }
    reap(watch); /* several children may be behind one SIGCHLD */
}

static void check_times(struct watch *watch)
{
    double now = now_s();
    if (watch->deadline_s > 0 && now > watch->deadline_s && !watch->is_ending) {
        cli_complain("the job has run for %g s (--timeout); ending it",
                     watch->job->options->timeout_s);
        end_job(watch, EXIT_TIMEOUT, false);
    }
    if (watch->is_ending && watch->kill_at_s > 0 && now > watch->kill_at_s) {
        end_job(watch, watch->status, true);
    }
}

/* How long nothing needs to be looked at, in ms; -1: until something happens. */
static int patience(struct watch *watch)
{
    int wait_ms = -1;
    if (watch->is_ending || check_left(watch) || watch->job->alive_count < watch->job->pe_count) {
        wait_ms = LOOK_AROUND_MS;
    }
    if (watch->deadline_s > 0) {
        double left = (watch->deadline_s - now_s()) * 1000 + 1;
        int left_ms = left < 0 ? 0 : left > 1e9 ? 1000000000 : (int)left;
        wait_ms     = wait_ms < 0 || wait_ms > left_ms ? left_ms : wait_ms;
    }
    return wait_ms;
}

/* What PEs have started and left behind has become this process's child (PR_SET_CHILD_SUBREAPER).
 * A few rounds, because those have children, too. */
static void end_leftovers(const struct watch *watch)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    for (int round = 0; round < 10; round++) {
        FILE *file = fopen(path, "re");
        bool found = false;
        int pid    = 0;
        while (file != NULL && fscanf(file, "%d", &pid) == 1) {
            if (!guard_owns(watch->guard, pid) && pid != watch->server->pid) {
                found = true;
                kill(pid, SIGKILL);
                waitpid(pid, NULL, 0);
            }
        }
        if (file != NULL) {
            fclose(file);
        }
        if (!found) {
            return;
        }
    }
}

int watch_run(struct watch *watch)
{
    struct pollfd *events = calloc((size_t)output_poll_max(watch->output) + 2, sizeof(*events));
    watch->signal_fd      = open_signals();
    if (events == NULL || watch->signal_fd < 0) {
        cli_complain("cannot watch the PEs: %s", strerror(errno));
        end_job(watch, 1, true);
        free(events);
        return 1;
    }
    take_signals(watch);
    while (watch->job->alive_count > 0) {
        int wait_ms = patience(watch);
        events[0]   = (struct pollfd){.fd = watch->signal_fd, .events = POLLIN};
        events[1]   = (struct pollfd){.fd = watch->server->event_fd, .events = POLLIN};
        int count   = output_poll(watch->output, events + 2, &wait_ms);
        if (poll(events, (nfds_t)count + 2, wait_ms) > 0) {
            output_step(watch->output, events + 2, count);
        }
        if ((events[1].revents & POLLHUP) && !watch->is_ending) {
            cli_complain("the PMIx server has died; ending the job");
            end_job(watch, 1, false);
        }
        take_signals(watch);
        check_times(watch);
    }
    free(events);
    check_end(watch);
    end_leftovers(watch);
    unblock_signals();
    output_finish(watch->output);
    if (output_is_lost(watch->output)) {
        decide(watch, 1);
    }
    return watch->is_decided ? watch->status : 0;
}
