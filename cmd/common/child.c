/* SPDX-License-Identifier: BSD-3-Clause */
/* child.c: run a child that may crash, hang or end early.
 *
 * A function formats its answer in memory and sends it in one frame, so that a partial answer is
 * detected; then it leaves by _exit(), since drivers also crash while they are unloaded. Output of
 * drivers goes into a second pipe.
 *
 * The parent waits for data, for the child's end and for signals in one poll(). Signals that
 * would end this process are blocked meanwhile and read from a descriptor: the child is killed
 * first, then the signal is raised again. */

#include "cmd/common/cli.h"
#include "cmd/common/clock.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    ERROR_KEPT_BYTES = 64 * 1024,        /* of a driver that prints without end */
    OUT_MAX_BYTES    = 64 * 1024 * 1024, /* no machine's description is longer */
    KILL_WAIT_MS     = 2000              /* a process stuck in the kernel does not die */
};

static const uint64_t frame_magic = UINT64_C(0x6d656d7175657279); /* "memquery" */

struct frame {
    uint64_t magic;
    int64_t code;
    uint64_t size_bytes;
};

struct run {
    const struct cli_child *child;
    struct cli_result *result;
    pid_t pid;
    int out[2]; /* [read, write]; -1: closed */
    int error[2];
    int signals;
    sigset_t old_mask;
    int ended_by; /* signal that ends this process; 0 none */
};

static void shut(int *fd)
{
    if (*fd >= 0) {
        (void)close(*fd);
        *fd = -1;
    }
}

/* ---- in the child ---- */

bool cli_follow_parent(pid_t parent)
{
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    return getppid() == parent; /* it may have died before prctl() */
}

static bool write_all(int fd, const void *data, size_t size_bytes)
{
    const char *next = data;

    while (size_bytes > 0) {
        ssize_t written = write(fd, next, size_bytes);

        if ((written < 0) && (errno == EINTR)) {
            continue;
        }
        if (written <= 0) {
            return false;
        }
        next += written;
        size_bytes -= (size_t)written;
    }
    return true;
}

static void prepare(struct run *run, pid_t parent)
{
    static const struct rlimit no_core = {0, 0};
    int null;

    if (!cli_follow_parent(parent)) {
        _exit(EXIT_FAILURE);
    }
    setrlimit(RLIMIT_CORE, &no_core);
    null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0) {
        dup2(null, STDIN_FILENO);
    }
    dup2(run->error[1], STDOUT_FILENO);
    dup2(run->error[1], STDERR_FILENO);
    shut(&run->out[0]);
    shut(&run->error[0]);
    sigprocmask(SIG_SETMASK, &run->old_mask, NULL);
}

__attribute__((noreturn)) static void work_and_leave(const struct run *run)
{
    struct frame frame = {.magic = frame_magic};
    char *text         = NULL;
    size_t length      = 0;
    FILE *out          = open_memstream(&text, &length);

    if (out == NULL) {
        _exit(EXIT_FAILURE);
    }
    frame.code = run->child->work(run->child->context, out);
    fclose(out);
    fflush(NULL);
    frame.size_bytes = length;
    if (write_all(run->out[1], &frame, sizeof(frame))) {
        write_all(run->out[1], text, length);
    }
    _exit(EXIT_SUCCESS);
}

/* ---- its start ---- */

/* Signals that would end this process now, and the child's end. */
static void find_signals(sigset_t *set)
{
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction action;

    sigemptyset(set);
    sigaddset(set, SIGCHLD);
    for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++) {
        if ((sigaction(ending[i], NULL, &action) == 0) && (action.sa_handler != SIG_IGN)) {
            sigaddset(set, ending[i]);
        }
    }
}

static int start_work(struct run *run)
{
    pid_t parent = getpid();

    fflush(NULL); /* or the child would print it again */
    run->pid = fork();
    if (run->pid == 0) {
        prepare(run, parent);
        work_and_leave(run);
    }
    if (run->pid < 0) {
        return errno;
    }
    (void)setpgid(run->pid, run->pid); /* parent and child: one of the two is first */
    return 0;
}

static int spawn(struct run *run, posix_spawn_file_actions_t *actions,
                 posix_spawnattr_t *attributes)
{
    const struct cli_child *child = run->child;
    char *const *environment      = (child->environment != NULL) ? child->environment : environ;
    int error;

    error = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    error = (error != 0) ? error
                         : posix_spawn_file_actions_adddup2(actions, run->out[1], STDOUT_FILENO);
    error = (error != 0) ? error
                         : posix_spawn_file_actions_adddup2(actions, run->error[1], STDERR_FILENO);
    (void)posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    (void)posix_spawnattr_setsigmask(attributes, &run->old_mask);
    return (error != 0) ? error
                        : posix_spawn(&run->pid, child->path, actions, attributes, child->arguments,
                                      environment);
}

/* Not by fork(): its copies of page tables would be part of the time that the program took. */
static int start_program(struct run *run)
{
    const cpu_set_t *processors = run->child->processors;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    cpu_set_t before;
    int error = posix_spawn_file_actions_init(&actions);

    if (error != 0) {
        return error;
    }
    error = posix_spawnattr_init(&attributes);
    if (error != 0) {
        goto destroy_actions;
    }
    /* A child inherits its parent's processors. */
    if ((processors != NULL) && ((sched_getaffinity(0, sizeof(before), &before) != 0) ||
                                 (sched_setaffinity(0, sizeof(*processors), processors) != 0))) {
        error = errno;
    } else {
        error = spawn(run, &actions, &attributes);
        if (processors != NULL) {
            (void)sched_setaffinity(0, sizeof(before), &before);
        }
    }
    (void)posix_spawnattr_destroy(&attributes);
destroy_actions:
    (void)posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* 0, or an errno. */
static int start(struct run *run)
{
    sigset_t watched;
    int error;

    (void)signal(SIGCHLD, SIG_DFL); /* an inherited SIG_IGN would throw the child's end away */
    find_signals(&watched);
    sigprocmask(SIG_BLOCK, &watched, &run->old_mask);
    run->signals = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
    if ((run->signals < 0) || (pipe2(run->out, O_CLOEXEC) != 0) ||
        (pipe2(run->error, O_CLOEXEC) != 0)) {
        return errno;
    }
    error = (run->child->path != NULL) ? start_program(run) : start_work(run);
    shut(&run->out[1]);
    shut(&run->error[1]);
    return error;
}

/* ---- its run ---- */

/* Append. When @p bytes are full their first half is dropped: the end is the most informative.
 * False without memory. */
static bool append(struct cli_bytes *bytes, size_t max_bytes, const char *data, size_t size_bytes)
{
    char *grown;

    if (bytes->size_bytes + size_bytes > max_bytes) {
        size_t kept = max_bytes / 2;

        kept = (bytes->size_bytes < kept) ? bytes->size_bytes : kept;
        memmove(bytes->data, bytes->data + bytes->size_bytes - kept, kept);
        bytes->size_bytes = kept;
    }
    grown = realloc(bytes->data, bytes->size_bytes + size_bytes + 1);
    if (grown == NULL) {
        return false;
    }
    memcpy(grown + bytes->size_bytes, data, size_bytes);
    bytes->data = grown;
    bytes->size_bytes += size_bytes;
    grown[bytes->size_bytes] = '\0';
    return true;
}

/* Read once. Closes the descriptor at its end. */
static void take_output(int *fd, struct cli_bytes *bytes, size_t max_bytes)
{
    char buffer[16384];
    ssize_t got = read(*fd, buffer, sizeof(buffer));

    if ((got < 0) && ((errno == EINTR) || (errno == EAGAIN))) {
        return;
    }
    if ((got <= 0) || !append(bytes, max_bytes, buffer, (size_t)got)) {
        shut(fd);
    }
}

/* True once the child has ended. It is not reaped yet: its process group id must stay valid. */
static bool has_ended(const struct run *run)
{
    siginfo_t info = {0};

    return (waitid(P_PID, (id_t)run->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0) &&
           (info.si_pid == run->pid);
}

static void read_signals(struct run *run)
{
    struct signalfd_siginfo info;

    while (read(run->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo != SIGCHLD) {
            run->ended_by = (int)info.ssi_signo;
        }
    }
}

/* Read the available data, waiting at most @p wait_ms for it; false without data. */
static bool serve(struct run *run, int wait_ms)
{
    struct pollfd fds[3] = {
        {.fd = run->out[0], .events = POLLIN},
        {.fd = run->error[0], .events = POLLIN},
        {.fd = run->signals, .events = POLLIN},
    };

    if (poll(fds, 3, wait_ms) <= 0) {
        return false;
    }
    if (fds[0].revents != 0) {
        take_output(&run->out[0], &run->result->out, OUT_MAX_BYTES);
    }
    if (fds[1].revents != 0) {
        take_output(&run->error[0], &run->result->error, ERROR_KEPT_BYTES);
    }
    if (fds[2].revents != 0) {
        read_signals(run);
    }
    return (fds[0].revents != 0) || (fds[1].revents != 0);
}

/* Until the child has ended, the time is over, or a signal came. A child that ended while this
 * process was stopped has ended in time. */
static bool wait_for_end(struct run *run, double limit_s)
{
    double end_s = cli_clock_s() + limit_s;

    while (!has_ended(run) && (run->ended_by == 0)) {
        double left_s = end_s - cli_clock_s();

        if (left_s <= 0) {
            return false;
        }
        /* The signal may precede poll(): look again at least four times a second. */
        serve(run, (left_s < 0.25) ? 1 + (int)(left_s * 1000) : 250);
    }
    return run->ended_by == 0;
}

/* ---- its end ---- */

/* Read the data in the pipes. A process outside of the group may keep them open, and write, for
 * ever. */
static void drain(struct run *run)
{
    double end_s = cli_clock_s() + 1;

    while ((cli_clock_s() < end_s) && serve(run, 0)) {
    }
}

static void reap(const struct run *run, int *status_p, struct rusage *usage_p)
{
    for (int waited_ms = 0; waited_ms < KILL_WAIT_MS; waited_ms += 10) {
        if (wait4(run->pid, status_p, WNOHANG, usage_p) != 0) {
            return;
        }
        poll(NULL, 0, 10);
    }
}

/* Extract the answer of a function from its frame. False where it is incomplete. */
static bool unpack(struct cli_result *result)
{
    struct frame frame    = {0};
    struct cli_bytes *out = &result->out;

    if (out->size_bytes >= sizeof(frame)) {
        memcpy(&frame, out->data, sizeof(frame));
    }
    if ((frame.magic != frame_magic) || (frame.size_bytes != out->size_bytes - sizeof(frame))) {
        free(out->data);
        *out = (struct cli_bytes){0};
        return false;
    }
    result->code    = (int)frame.code;
    out->size_bytes = (size_t)frame.size_bytes;
    memmove(out->data, out->data + sizeof(frame), out->size_bytes + 1);
    return true;
}

static void judge(const struct run *run, int status, bool in_time)
{
    struct cli_result *result = run->result;

    if ((run->child->path == NULL) && unpack(result)) {
        result->end = CLI_EXITED; /* its answer is complete */
    } else if (!in_time) {
        result->end = CLI_TIMED_OUT;
    } else if (WIFSIGNALED(status)) {
        result->end  = CLI_KILLED;
        result->code = WTERMSIG(status);
    } else {
        result->end  = (run->child->path != NULL) ? CLI_EXITED : CLI_LEFT;
        result->code = WEXITSTATUS(status);
    }
}

static void finish(struct run *run)
{
    shut(&run->signals);
    for (int i = 0; i < 2; i++) {
        shut(&run->out[i]);
        shut(&run->error[i]);
    }
    sigprocmask(SIG_SETMASK, &run->old_mask, NULL);
    if (run->ended_by != 0) {
        cli_complain("ended by signal %d (%s)", run->ended_by, strsignal(run->ended_by));
        (void)signal(run->ended_by, SIG_DFL);
        (void)raise(run->ended_by);
    }
}

void cli_child_run(const struct cli_child *child, struct cli_result *result_p)
{
    struct run run = {
        .child = child, .result = result_p, .out = {-1, -1}, .error = {-1, -1}, .signals = -1};
    struct rusage usage = {0};
    double begin_s      = cli_clock_s();
    int status          = 0;
    bool in_time;

    *result_p      = (struct cli_result){.end = CLI_NOT_STARTED, .limit_s = child->limit_s};
    result_p->code = start(&run);
    if (result_p->code != 0) {
        finish(&run);
        return;
    }
    in_time = wait_for_end(&run, child->limit_s);
    if (!in_time && (run.ended_by == 0) && (child->grace_s > 0)) {
        kill(run.pid, SIGTERM);
        (void)wait_for_end(&run, child->grace_s);
    }
    kill(-run.pid, SIGKILL);
    kill(run.pid, SIGKILL);
    drain(&run);
    reap(&run, &status, &usage);
    result_p->wall_s = cli_clock_s() - begin_s;
    result_p->cpu_s  = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                      1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    finish(&run);
    judge(&run, status, in_time);
}

void cli_result_free(struct cli_result *result)
{
    free(result->out.data);
    free(result->error.data);
    result->out   = (struct cli_bytes){0};
    result->error = (struct cli_bytes){0};
}

const char *cli_status_text(int status, char *text, size_t size_bytes)
{
    if (WIFSIGNALED(status)) {
        (void)snprintf(text, size_bytes, "killed by signal %d (%s)%s", WTERMSIG(status),
                       strsignal(WTERMSIG(status)), WCOREDUMP(status) ? ", core dumped" : "");
    } else {
        (void)snprintf(text, size_bytes, "exited with status %d", WEXITSTATUS(status));
    }
    return text;
}

const char *cli_result_text(const struct cli_result *result, char *text, size_t size_bytes)
{
    switch (result->end) {
    case CLI_KILLED:
        return cli_status_text(result->code, text, size_bytes);
    case CLI_EXITED:
    case CLI_LEFT:
        return cli_status_text(W_EXITCODE(result->code, 0), text, size_bytes);
    case CLI_TIMED_OUT:
        (void)snprintf(text, size_bytes, "ran past its limit of %g s", result->limit_s);
        return text;
    case CLI_NOT_STARTED:
        break;
    }
    (void)snprintf(text, size_bytes, "cannot be started: %s", strerror(result->code));
    return text;
}
