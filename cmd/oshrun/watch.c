/* SPDX-License-Identifier: BSD-3-Clause */
/* One loop over one poll(). Signals arrive by a descriptor: there are no handlers. */

#include "cmd/common/cli.h"
#include "cmd/common/clock.h"
#include "cmd/oshrun/oshrun.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define POLL_MS         100 /* poll interval while the job's end is undecided */
#define LEAVE_TIMEOUT_S 0.3 /* from an exit without finalize to the end of the job */
#define SAME_SIGNAL_S   0.2 /* timeout(1) signals its child and then its process group */
#define TERM_TIMEOUT_S  0.3 /* from SIGTERM to SIGKILL */

static const int watched[] = {SIGCHLD, SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                              SIGUSR1, SIGUSR2, SIGCONT, SIGTSTP, SIGWINCH};

/* Ignored signals (nohup, background jobs of a shell) stay ignored. */
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
    signal(SIGCHLD, SIG_DFL); /* if it were ignored, waitpid() would find nothing */
    sigprocmask(SIG_BLOCK, &set, before_p);
}

static int open_signals(void)
{
    sigset_t set = watched_set();
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Without PEs, signals are for the launcher, which may block on a slow reader. */
static void unblock_signals(void)
{
    sigset_t set = watched_set();
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* The first reason decides. */
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
        watch->kill_at_s = cli_clock_s() + TERM_TIMEOUT_S;
        __atomic_store_n(&watch->job->header->is_ending, 1, __ATOMIC_RELEASE);
        job_signal(watch->job, SIGTERM);
        job_signal(watch->job, SIGCONT);
    }
    if (at_once) {
        watch->kill_at_s = 0;
        job_signal(watch->job, SIGKILL);
    }
}

/* The exit code for a job's status: not 0 where the status is not 0. */
static int exit_code(int status)
{
    return status != 0 && (status & 0xff) == 0 ? 1 : status & 0xff;
}

static void report_abort(const struct watch *watch, int pe, int status)
{
    if (status != 0) {
        output_show(watch->output, pe);
        cli_complain("PE %d (pid %d) ended the job with status %d", pe,
                     (int)watch->job->pes[pe].last_pid, status);
    }
}

/* shmem_global_exit() or a fatal error, which the PE has reported. */
static bool check_abort(struct watch *watch)
{
    const struct memspan_launch_header *header = watch->job->header;
    if (watch->is_ending || !__atomic_load_n(&header->abort_ready, __ATOMIC_ACQUIRE)) {
        return watch->is_ending;
    }
    int status  = header->abort_status;
    unsigned pe = header->abort_by - 1;
    if (pe < (unsigned)watch->job->pe_count) {
        report_abort(watch, (int)pe, status);
    }
    end_job(watch, exit_code(status), false);
    return true;
}

/* Process the events of the PMIx server. */
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
            report_abort(watch, event.pe, event.status);
            end_job(watch, exit_code(event.status), false);
        }
    }
}

/* Report that the program could not be run, if a PE ended for that reason. */
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

static void handle_signal(struct watch *watch, const struct pe *record, int pe)
{
    char text[96];
    int number = WTERMSIG(record->wait_status);
    bool is_wanted =
        number == watch->forwarded || (number == SIGPIPE && output_is_broken(watch->output));
    if (!watch->is_ending && !is_wanted) {
        output_show(watch->output, pe);
        cli_complain("PE %d (pid %d) was %s; ending the job", pe, (int)record->last_pid,
                     cli_status_text(record->wait_status, text, sizeof(text)));
    }
    end_job(watch, 128 + number, false);
}

/* Decide whether the end of a PE ends the job. */
static void handle_exit(struct watch *watch, int pe)
{
    const struct pe *record = &watch->job->pes[pe];
    int code                = WEXITSTATUS(record->wait_status);
    if (check_abort(watch) || check_start(watch)) {
        return;
    }
    if (WIFSIGNALED(record->wait_status)) {
        handle_signal(watch, record, pe);
    } else if (code != 0 && record->last_state == MEMSPAN_LAUNCH_FINALIZED) {
        decide(watch, code);
    } else if (code != 0) {
        if (watch->job->alive_count > 0) {
            output_show(watch->output, pe);
            cli_complain("PE %d (pid %d) exited with status %d%s; ending the job", pe,
                         (int)record->last_pid, code,
                         record->last_state == MEMSPAN_LAUNCH_ATTACHED ? " before finalizing" : "");
        }
        end_job(watch, code, false);
    }
}

static void reap(struct watch *watch)
{
    int wait_status = 0;
    pid_t pid       = 0;
    take_events(watch);
    while ((pid = waitpid(-1, &wait_status, WNOHANG)) > 0) {
        take_events(watch); /* a PE may finalize and end between the two calls above */
        for (int pe = 0; pe < watch->job->pe_count; pe++) {
            struct pe *record = &watch->job->pes[pe];
            if (record->pid != pid) {
                continue;
            }
            record->pid         = 0;
            record->has_ended   = true;
            record->wait_status = wait_status;
            record->last_state  = job_state(watch->job, pe);
            record->ended_at_s  = cli_clock_s();
            watch->job->alive_count--;
            /* Its children, if any, are in its group. The guard forgets the group: a later process
             * of another program may get the number. */
            (void)kill(-pid, SIGKILL);
            guard_note(watch->guard, pe, 0);
            handle_exit(watch, pe);
            break;
        }
    }
    check_abort(watch);
}

/* True when a PE has ended without finalizing while others are attached. */
static bool check_early_exit(struct watch *watch)
{
    const struct job *job = watch->job;
    int waiting           = 0;
    int offender          = -1;
    for (int pe = 0; pe < job->pe_count; pe++) {
        if (job->pes[pe].has_ended) {
            if (job->pes[pe].last_state != MEMSPAN_LAUNCH_FINALIZED &&
                (offender < 0 || job->pes[pe].ended_at_s < job->pes[offender].ended_at_s)) {
                offender = pe;
            }
        } else if (job_state(job, pe) == MEMSPAN_LAUNCH_ATTACHED) {
            waiting++;
        }
    }
    if (offender < 0 || waiting == 0 || watch->is_ending) {
        return false;
    }
    if (cli_clock_s() - job->pes[offender].ended_at_s > LEAVE_TIMEOUT_S) {
        output_show(watch->output, offender);
        cli_complain("PE %d (pid %d) exited %s, and %d other%s waiting for it; ending the job",
                     offender, (int)job->pes[offender].last_pid,
                     job->pes[offender].last_state == MEMSPAN_LAUNCH_ATTACHED
                         ? "without finalizing"
                         : "without initializing",
                     waiting, waiting == 1 ? " is" : "s are");
        end_job(watch, 1, false);
    }
    return true;
}

/* All have ended with status 0, some finalized, which takes all PEs, and some not. */
static void check_end(struct watch *watch)
{
    int offender   = -1;
    bool any_ended = false;
    for (int pe = 0; pe < watch->job->pe_count; pe++) {
        uint32_t state = watch->job->pes[pe].last_state;
        any_ended      = any_ended || state == MEMSPAN_LAUNCH_FINALIZED;
        offender       = state == MEMSPAN_LAUNCH_ATTACHED ? pe : offender;
    }
    if (offender >= 0 && any_ended && !watch->is_decided) {
        cli_complain("PE %d (pid %d) exited without finalizing, as others had", offender,
                     (int)watch->job->pes[offender].last_pid);
        decide(watch, 1);
    }
}

/* SIGTERM and SIGHUP are a batch system's or a script's, which send no second one. */
static void forward_first(struct watch *watch, int number)
{
    double grace_s = watch->job->options->kill_after_s;
    char limit[48] = "";
    if (grace_s > 0 && (number == SIGTERM || number == SIGHUP)) {
        watch->give_up_s = cli_clock_s() + grace_s;
        snprintf(limit, sizeof(limit), ", and so do %g s (--kill-after)", grace_s);
    }
    cli_complain("signal %d (%s) forwarded to the PEs; a second one kills them%s", number,
                 strsignal(number), limit);
}

/* Ctrl-C reaches the launcher alone: PEs are in process groups of their own. */
static void forward(struct watch *watch, int number)
{
    switch (number) {
    case SIGINT:
    case SIGTERM:
    case SIGHUP:
    case SIGQUIT:
        if (watch->forwarded == number && cli_clock_s() - watch->forwarded_at_s < SAME_SIGNAL_S) {
            return;
        }
        watch->forwarded      = number;
        watch->forwarded_at_s = cli_clock_s();
        if (++watch->forwarded_count > 1) {
            cli_complain("signal %d (%s) again; killing the PEs", number, strsignal(number));
            end_job(watch, 128 + number, true);
        } else {
            forward_first(watch, number);
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
            forward(watch, (int)info.ssi_signo);
        }
    }
    reap(watch); /* one SIGCHLD may stand for several children */
}

static void check_times(struct watch *watch)
{
    double now = cli_clock_s();
    if (watch->deadline_s > 0 && now > watch->deadline_s && !watch->is_ending) {
        cli_complain("time limit of %g s reached (--timeout); ending the job",
                     watch->job->options->timeout_s);
        end_job(watch, EXIT_TIMEOUT, false);
    }
    if (watch->give_up_s > 0 && now > watch->give_up_s && !watch->is_ending) {
        cli_complain("PEs have not ended %g s after signal %d (--kill-after); killing them",
                     watch->job->options->kill_after_s, watch->forwarded);
        end_job(watch, 128 + watch->forwarded, true);
    }
    if (watch->is_ending && watch->kill_at_s > 0 && now > watch->kill_at_s) {
        end_job(watch, watch->status, true);
    }
}

/* The shorter of a wait, -1 being none, and the time to a point; 0: no point. */
static int shorter(int wait_ms, double until_s)
{
    double left    = (until_s - cli_clock_s()) * 1000 + 1;
    int left_ms    = left < 0 ? 0 : left > 1e9 ? 1000000000 : (int)left;
    bool has_point = until_s > 0;
    return has_point && (wait_ms < 0 || wait_ms > left_ms) ? left_ms : wait_ms;
}

/* Timeout of poll() in ms; -1: none. */
static int poll_timeout(struct watch *watch)
{
    int wait_ms = -1;
    if (watch->is_ending || check_early_exit(watch) ||
        watch->job->alive_count < watch->job->pe_count) {
        wait_ms = POLL_MS;
    }
    return watch->is_ending ? wait_ms
                            : shorter(shorter(wait_ms, watch->deadline_s), watch->give_up_s);
}

/* Orphans of the PEs are children of this process now (PR_SET_CHILD_SUBREAPER). Repeat, because
 * they have children, too. */
static void kill_orphans(const struct watch *watch)
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
        cli_complain("cannot wait for the PEs: %s", strerror(errno));
        end_job(watch, 1, true);
        free(events);
        return 1;
    }
    take_signals(watch);
    while (watch->job->alive_count > 0) {
        int wait_ms = poll_timeout(watch);
        events[0]   = (struct pollfd){.fd = watch->signal_fd, .events = POLLIN};
        events[1]   = (struct pollfd){.fd = watch->server->event_fd, .events = POLLIN};
        int count   = output_poll(watch->output, events + 2, &wait_ms);
        if (poll(events, (nfds_t)count + 2, wait_ms) > 0) {
            output_step(watch->output, events + 2, count);
        }
        if ((events[1].revents & POLLHUP) && !watch->is_ending) {
            cli_complain("the PMIx server died; ending the job");
            end_job(watch, 1, false);
        }
        take_signals(watch);
        check_times(watch);
    }
    free(events);
    check_end(watch);
    kill_orphans(watch);
    unblock_signals();
    output_finish(watch->output);
    if (output_is_lost(watch->output)) {
        decide(watch, 1);
    }
    return watch->is_decided ? watch->status : 0;
}
