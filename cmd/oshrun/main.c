/* SPDX-License-Identifier: BSD-3-Clause */
/* oshrun starts the PEs of an OpenSHMEM program on this node and ends them together; PEs on other
 * hosts are started by another launcher. Read memspan/launch.h (a PE's interface), start.c and
 * watch.c; launcher.c. */

#include "cmd/common/cli.h"
#include "cmd/common/clock.h"
#include "cmd/oshrun/oshrun.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LIBRARY_BYTES = 64 }; /* of the name of a library */

/* A closed standard descriptor would be reused by the next open(). */
static void open_standard(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0) {
            _exit(1);
        }
    }
}

/* Two pipes a PE and a few more. The previous limit is the PEs'. */
static bool allow_descriptors(int pe_count, struct rlimit *before_p)
{
    rlim_t wanted = (rlim_t)pe_count * 4 + 40;
    if (getrlimit(RLIMIT_NOFILE, before_p) != 0) {
        return false;
    }
    struct rlimit limit = *before_p;
    if (limit.rlim_cur < wanted) {
        limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    return limit.rlim_cur >= wanted;
}

/* False, after a message, when a server is required and cannot be started. A program that may run
 * without one does, and what is only not installed is not said. @p library: which of the program
 * needs a server, or "". */
static bool serve_pmix(const struct options *options, const struct job *job, const char *path,
                       struct guard *guard, struct server *server, char library[LIBRARY_BYTES])
{
    char reason[512]      = "";
    char alone[512]       = "";
    enum server_need need = server_need(path, library, LIBRARY_BYTES);
    *server               = (struct server){.event_fd = -1};
    if (need == SERVER_REQUIRED) {
        snprintf(alone, sizeof(alone),
                 "%.300s links %s, whose processes are jobs of one PE each without a PMIx server",
                 options->program[0], library);
    }
    if (options->pmix == SERVE_OFF && need == SERVER_REQUIRED) {
        cli_complain("--pmix=off: %s", alone);
    }
    if (options->pmix == SERVE_OFF || (options->pmix == SERVE_AUTO && need == SERVER_USELESS)) {
        return true;
    }
    if (server_open(server, job->header->job_id, job->pe_count, guard, reason, sizeof(reason))) {
        return true;
    }
    if (options->pmix == SERVE_ON || options->verbose || need == SERVER_REQUIRED ||
        !server->is_absent) {
        cli_complain("no PMIx server: %s%s%s", reason, alone[0] != '\0' ? "; " : "", alone);
    }
    *server = (struct server){.event_fd = -1};
    return options->pmix != SERVE_ON;
}

/* MPICH's library has PMIx only where it was built so, and Debian's was not. */
static void check_connected(const struct job *job, const struct server *server, const char *library)
{
    bool is_used = server->pid == 0 || library[0] == '\0' || job->pe_count < 2;
    for (int pe = 0; pe < job->pe_count && !is_used; pe++) {
        is_used = job->pes[pe].pmix_state != MEMSPAN_LAUNCH_STARTED;
    }
    if (!is_used) {
        cli_complain("%s links %s, but no PE has connected to the PMIx server: where they start "
                     "that library, each is a job of one PE; use its own mpiexec",
                     job->options->program[0], library);
    }
}

static bool start_all(struct watch *watch, struct starter *starter)
{
    struct job *job = watch->job;
    for (int pe = 0; pe < job->pe_count; pe++) {
        char **variables = watch->server->variables != NULL ? watch->server->variables[pe] : NULL;
        if (!start_pe(starter, &job->pes[pe], pe, variables)) {
            job_signal(job, SIGKILL);
            return false;
        }
        job->alive_count++;
        guard_note(watch->guard, pe, job->pes[pe].pid);
    }
    return true;
}

/* End by the same signal, as a shell expects after Ctrl-C. */
static void end_by_signal(int number)
{
    sigset_t set;
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core); /* the PEs' core files matter, not this one's */
    signal(number, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, number);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static int run(const struct options *options)
{
    static struct job job;
    static struct server server;
    static struct watch watch     = {.job = &job, .server = &server};
    static struct starter starter = {.job = &job};
    char library[LIBRARY_BYTES]   = "";
    int errors[2];
    signal(SIGXFSZ, SIG_IGN); /* a write beyond ulimit -f is then an error, which is reported */
    if (!allow_descriptors(options->pe_count, &starter.files)) {
        cli_complain("%d PEs need more open files than ulimit -n allows", options->pe_count);
        return 1;
    }
    starter.path = start_find(options->program[0], options->folder);
    if (!job_open(&job, options)) {
        return 1;
    }
    watch_block_signals(&starter.signals);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGTTIN, SIG_IGN);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    watch.guard = guard_open(options->pe_count);
    if (watch.guard == NULL || !serve_pmix(options, &job, start_seen(starter.path, options->folder),
                                           watch.guard, &server, library)) {
        return 1;
    }
    /* After the fork of the server: if it held an end of a pipe, PEs could not see that the
     * reader is gone. */
    watch.output        = output_open(options->pe_count, options->tag_output);
    starter.output      = watch.output;
    starter.environment = start_environment(options->settings);
    if (watch.output == NULL || starter.environment == NULL ||
        pipe2(errors, O_CLOEXEC | O_NONBLOCK) != 0) {
        server_close(&server);
        return 1;
    }
    watch.error_fd      = errors[0];
    starter.error_pe_fd = errors[1];
    if (options->timeout_s > 0) {
        watch.deadline_s = cli_clock_s() + options->timeout_s;
    }
    int status = start_all(&watch, &starter) ? 0 : 1;
    output_start(watch.output);
    if (status == 0) {
        status = watch_run(&watch);
    }
    if (status == 0 || strncmp(library, "libmpich", 8) == 0) {
        check_connected(&job, &server, library);
    }
    server_close(&server);
    guard_close(watch.guard);
    if (watch.forwarded != 0 && status == 128 + watch.forwarded) {
        end_by_signal(watch.forwarded);
    }
    return status;
}

int main(int argc, char **argv)
{
    static struct options options;
    open_standard();
    options_parse(argc, argv, &options);
    if (options.pe_count == 0) {
        options.pe_count = place_count();
    }
    if (options.launcher != NULL || options.hosts.count > 0) {
        launcher_run(&options);
    }
    return run(&options);
}
