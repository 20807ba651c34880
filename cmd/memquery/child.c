/* SPDX-License-Identifier: BSD-3-Clause */
/* child.c: run work that may crash, hang or end the process.
 *
 * The child formats its answer in memory and sends it at the end in one frame, so that half an
 * answer is never taken for one; then it leaves by _exit(), since drivers also crash while they are
 * unloaded. What drivers print goes into a second pipe: standard output belongs to the answer.
 *
 * The parent waits for data, for the child's end and for signals in one poll(). Signals that would
 * end this process are blocked meanwhile and read from a descriptor: the children are killed first
 * and the signal is raised again after. */

#include "child.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
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
    ERROR_KEPT_BYTES = 64 * 1024,        /* of a driver that talks without end */
    ANSWER_MAX_BYTES = 64 * 1024 * 1024, /* no machine's description is longer */
    KILL_WAIT_MS     = 2000              /* a process stuck in the kernel does not die */
};

static const uint64_t frame_magic = UINT64_C(0x6d656d7175657279); /* "memquery" */

struct frame {
    uint64_t magic;
    int64_t code;
    uint64_t size_bytes;
};

struct child {
    pid_t pid;
    int out;   /* read end of the answer's pipe; -1 at its end */
    int error; /* read end of the other; -1 at its end */
    int signals;
    sigset_t old_mask;
    struct bytes answer; /* with its frame */
    int ended_by;        /* signal that ends this process; 0 none */
};

/* ---- in the child ---- */

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

static void be_a_child(pid_t parent, const int *out, const int *error, const sigset_t *mask)
{
    static const struct rlimit no_core = {0, 0};
    int null;

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(EXIT_PROBE); /* the parent died before that took effect */
    }
    setrlimit(RLIMIT_CORE, &no_core);
    null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0) {
        dup2(null, STDIN_FILENO);
    }
    dup2(error[1], STDOUT_FILENO);
    dup2(error[1], STDERR_FILENO);
    close(out[0]);
    close(error[0]);
    sigprocmask(SIG_SETMASK, mask, NULL);
}

__attribute__((noreturn)) static void work_and_leave(child_work_t work, void *context, int fd)
{
    struct frame frame = {.magic = frame_magic};
    char *text         = NULL;
    size_t length      = 0;
    FILE *out          = open_memstream(&text, &length);

    if (out == NULL) {
        _exit(EXIT_PROBE);
    }
    frame.code = work(context, out);
    fclose(out);
    fflush(NULL);
    frame.size_bytes = length;
    if (write_all(fd, &frame, sizeof(frame))) {
        write_all(fd, text, length);
    }
    _exit(EXIT_YES);
}

/* ---- in the parent ---- */

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + ((double)now.tv_nsec * 1e-9);
}

/* Signals that would end this process now, and the child's end. */
static void find_signals(sigset_t *set)
{
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction action;
    size_t i;

    sigemptyset(set);
    sigaddset(set, SIGCHLD);
    for (i = 0; i < sizeof(ending) / sizeof(ending[0]); i++) {
        if ((sigaction(ending[i], NULL, &action) == 0) && (action.sa_handler != SIG_IGN)) {
            sigaddset(set, ending[i]);
        }
    }
}

static bool start(struct child *child, child_work_t work, void *context)
{
    pid_t parent = getpid();
    sigset_t watched;
    int out[2];
    int error[2];

    signal(SIGCHLD, SIG_DFL); /* an inherited SIG_IGN would throw the child's end away */
    find_signals(&watched);
    sigprocmask(SIG_BLOCK, &watched, &child->old_mask);
    child->signals = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
    if (child->signals < 0) {
        goto err_unblock;
    }
    if (pipe2(out, O_CLOEXEC) != 0) {
        goto err_close_signals;
    }
    if (pipe2(error, O_CLOEXEC) != 0) {
        goto err_close_out;
    }
    fflush(NULL); /* or the child would print it again */
    child->pid = fork();
    if (child->pid == 0) {
        be_a_child(parent, out, error, &child->old_mask);
        work_and_leave(work, context, out[1]);
    }
    if (child->pid < 0) {
        goto err_close_error;
    }
    setpgid(child->pid, child->pid); /* whoever of the two is first */
    close(out[1]);
    close(error[1]);
    child->out   = out[0];
    child->error = error[0];
    return true;

err_close_error:
    close(error[0]);
    close(error[1]);
err_close_out:
    close(out[0]);
    close(out[1]);
err_close_signals:
    close(child->signals);
err_unblock:
    text_complain("cannot start a process to probe the drivers: %s", strerror(errno));
    sigprocmask(SIG_SETMASK, &child->old_mask, NULL);
    return false;
}

/* Read once. Closes the descriptor and sets it to -1 at its end. */
static void take(int *fd, struct bytes *bytes, size_t room_bytes)
{
    char buffer[16384];
    ssize_t got = read(*fd, buffer, sizeof(buffer));

    if ((got < 0) && ((errno == EINTR) || (errno == EAGAIN))) {
        return;
    }
    if (got <= 0) {
        close(*fd);
        *fd = -1;
        return;
    }
    if (bytes->size_bytes + (size_t)got > room_bytes) {
        size_t kept = room_bytes / 2; /* the end is what tells most */

        kept = (bytes->size_bytes < kept) ? bytes->size_bytes : kept;
        memmove(bytes->data, bytes->data + bytes->size_bytes - kept, kept);
        bytes->size_bytes = kept;
    }
    bytes->data = realloc(bytes->data, bytes->size_bytes + (size_t)got);
    if (bytes->data == NULL) {
        text_complain("out of memory");
        exit(EXIT_PROBE); /* the child ends with its parent */
    }
    memcpy(bytes->data + bytes->size_bytes, buffer, (size_t)got);
    bytes->size_bytes += (size_t)got;
}

/* True once the child has ended; it is not reaped, so that its group's number stays its own. */
static bool has_ended(const struct child *child)
{
    siginfo_t info = {0};

    return (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0) &&
           (info.si_pid == child->pid);
}

static void read_signals(struct child *child)
{
    struct signalfd_siginfo info;

    while (read(child->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo != SIGCHLD) {
            child->ended_by = (int)info.ssi_signo;
        }
    }
}

/* Take what there is, waiting at most @p wait_ms for it; false when nothing came. */
static bool serve(struct child *child, struct child_result *result, int wait_ms)
{
    struct pollfd fds[3] = {
        {.fd = child->out, .events = POLLIN},
        {.fd = child->error, .events = POLLIN},
        {.fd = child->signals, .events = POLLIN},
    };

    if (poll(fds, 3, wait_ms) <= 0) {
        return false;
    }
    if (fds[0].revents != 0) {
        take(&child->out, &child->answer, ANSWER_MAX_BYTES);
    }
    if (fds[1].revents != 0) {
        take(&child->error, &result->error, ERROR_KEPT_BYTES);
    }
    if (fds[2].revents != 0) {
        read_signals(child);
    }
    return (fds[0].revents != 0) || (fds[1].revents != 0);
}

/* Until the child has ended, the time is up, or a signal came. Only the time that the child had is
 * counted: one that answered while we were stopped has answered. */
static bool wait_for_end(struct child *child, struct child_result *result)
{
    double end_s = now_s() + result->limit_s;

    while (!has_ended(child) && (child->ended_by == 0)) {
        double left_s = end_s - now_s();

        if (left_s <= 0) {
            return false;
        }
        /* The signal may precede poll(): look again at least four times a second. */
        serve(child, result, (left_s < 0.25) ? 1 + (int)(left_s * 1000) : 250);
    }
    return child->ended_by == 0;
}

static void kill_and_reap(struct child *child, int *status_p)
{
    int waited_ms;

    kill(-child->pid, SIGKILL);
    kill(child->pid, SIGKILL);
    for (waited_ms = 0; waited_ms < KILL_WAIT_MS; waited_ms += 10) {
        if (waitpid(child->pid, status_p, WNOHANG) != 0) {
            return;
        }
        poll(NULL, 0, 10);
    }
}

static void judge(const struct child *child, int status, struct child_result *result)
{
    struct frame frame = {0};

    if (child->answer.size_bytes >= sizeof(frame)) {
        memcpy(&frame, child->answer.data, sizeof(frame));
    }
    if ((frame.magic == frame_magic) &&
        (frame.size_bytes == child->answer.size_bytes - sizeof(frame))) {
        result->end            = CHILD_ANSWERED;
        result->code           = (int)frame.code;
        result->out.size_bytes = (size_t)frame.size_bytes;
        result->out.data       = text_calloc(result->out.size_bytes, 1);
        memcpy(result->out.data, child->answer.data + sizeof(frame), result->out.size_bytes);
    } else if (WIFSIGNALED(status)) {
        result->end  = CHILD_CRASHED;
        result->code = WTERMSIG(status);
    } else {
        result->end  = CHILD_LEFT;
        result->code = WEXITSTATUS(status);
    }
}

void child_run(child_work_t work, void *context, double limit_s, struct child_result *result_p)
{
    struct child_result result = {.end = CHILD_NOT_MADE, .limit_s = limit_s};
    struct child child         = {.out = -1, .error = -1};
    bool in_time;
    int status = 0;

    if (!start(&child, work, context)) {
        *result_p = result;
        return;
    }
    in_time = wait_for_end(&child, &result);
    /* A helper of a driver may hold the pipes open for ever: what is in them now is all. */
    while (in_time && serve(&child, &result, 0)) {
    }
    kill_and_reap(&child, &status);
    close(child.signals);
    if (child.out >= 0) {
        close(child.out);
    }
    if (child.error >= 0) {
        close(child.error);
    }
    sigprocmask(SIG_SETMASK, &child.old_mask, NULL);
    if (child.ended_by != 0) {
        text_complain("ended by signal %d (%s)", child.ended_by, strsignal(child.ended_by));
        signal(child.ended_by, SIG_DFL);
        raise(child.ended_by);
    }
    judge(&child, status, &result);
    if (!in_time && (result.end != CHILD_ANSWERED)) {
        result.end = CHILD_HUNG;
    }
    free(child.answer.data);
    *result_p = result;
}

void child_result_free(struct child_result *result)
{
    free(result->out.data);
    free(result->error.data);
    result->out   = (struct bytes){0};
    result->error = (struct bytes){0};
}
