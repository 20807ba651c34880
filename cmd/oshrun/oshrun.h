/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_H
#define OSHRUN_H

/* The records and functions of oshrun, file by file. */

#include <memspan/launch.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

/* hosts.c: the hosts of a job and how many PEs each gets, from --hosts and --hostfile. */

struct host {
    char *name;
    int pe_count;
};

struct hosts {
    struct host *items;
    size_t count;  /* 0: this host alone */
    int pe_count;  /* of all */
    void *by_name; /* tree of items */
};

/* "a:4,b:4"; a host without a number gets one PE; one that is there already gets more. False after
 * a message that begins with @p where. */
bool hosts_add_list(struct hosts *hosts, const char *where, const char *text);

/* Lines "a slots=4", "a:4" or "a"; # begins a comment. False after a message. */
bool hosts_add_file(struct hosts *hosts, const char *path);

enum serve_mode { SERVE_AUTO, SERVE_ON, SERVE_OFF };
enum binding { BIND_NONE, BIND_CORE };

/* The command line. Texts are not copied. */
struct options {
    int pe_count; /* 0: number of cores */
    bool tag_output;
    bool verbose;
    double timeout_s;    /* 0: none */
    double kill_after_s; /* from a forwarded SIGTERM or SIGHUP; 0: never */
    enum binding binding;
    enum serve_mode pmix;
    const char *folder;   /* working directory, or NULL */
    const char *launcher; /* NULL: this program itself */
    char **settings;      /* NAME=VALUE of --env, NULL at the end */
    char **inherited;     /* NAME of --env, NULL at the end */
    struct hosts hosts;   /* of --hosts and --hostfile */
    char **program;       /* with its arguments, NULL at the end */
};

enum { EXIT_USAGE = 2, EXIT_TIMEOUT = 124, EXIT_CANNOT_RUN = 126, EXIT_NOT_FOUND = 127 };

/* Reads the command line; ends the process on errors, --help and --version. */
void options_parse(int argc, char **argv, struct options *options_p);

/* job.c: the file that the PEs share with the launcher (memspan/launch.h), and the state of each
 * PE. */

struct pe {
    pid_t pid; /* and process group; 0: not started, or reaped */
    pid_t last_pid;
    bool has_ended;
    int wait_status;
    uint32_t last_state; /* at its end: enum memspan_launch_state */
    double ended_at_s;
    enum memspan_launch_state pmix_state; /* the same, from the PMIx server */
};

struct job {
    const struct options *options;
    struct memspan_launch_header *header;
    int fd; /* of the job file; PEs inherit it under this number */
    int pe_count;
    int alive_count;
    struct pe *pes;
};

/* Creates the job file. False after a message. */
bool job_open(struct job *job, const struct options *options);

/* State of a PE by the job file and by the PMIx server: attached if either has it so. */
enum memspan_launch_state job_state(const struct job *job, int pe);

/* Signal every running PE and its process group. */
void job_signal(const struct job *job, int signal);

/* guard.c: a process that ends the job when the launcher dies without doing so (kill -9). The
 * kernel kills the PEs then, but not their children. */

struct guard;

/* Call before anything else is started. NULL after a message. */
struct guard *guard_open(int group_count);

/* Process group number i; 0: it has ended. */
void guard_note(struct guard *guard, int i, pid_t group);

/* A folder to remove, with its files; before it is made. "": none. */
void guard_note_folder(struct guard *guard, const char *folder);

/* That process ends by itself and may use the folder until then. */
void guard_note_server(struct guard *guard, pid_t pid);

/* Is that process the guard? */
bool guard_owns(const struct guard *guard, pid_t pid);

/* The job has ended. */
void guard_close(struct guard *guard);

/* server.c: a PMIx server for the PEs, so that MPI and other OpenSHMEM libraries start under
 * oshrun, alone or in one program with ours. libpmix is confined to a process of its own, which is
 * started on demand. */

enum server_event_kind { SERVER_EVENT_CONNECTED, SERVER_EVENT_FINALIZED, SERVER_EVENT_ABORT };
struct server_event {
    enum server_event_kind kind;
    int pe;
    int status; /* status of an abort */
};

struct server {
    pid_t pid;         /* 0: no server */
    bool is_absent;    /* it has not started because there is no libpmix */
    int event_fd;      /* struct server_event */
    int count;         /* number of PEs */
    char folder[256];  /* the server's files */
    char *text;        /* storage of variables */
    char ***variables; /* for each PE, NULL at the end */
};

/* Whether that program needs a PMIx server; where it certainly does, the library that does. */
enum server_need { SERVER_USELESS, SERVER_OPTIONAL, SERVER_REQUIRED };
enum server_need server_need(const char *path, char *library, size_t library_size);

/* Start the server for a job of that name, and fetch the variables for the PEs' environments. The
 * guard removes its leftovers. False with the reason. */
bool server_open(struct server *server, const char *job_id, int pe_count, struct guard *guard,
                 char *reason, size_t reason_size);

void server_close(struct server *server);

/* ---- server_process.c, in the server's process ---- */

/* Serve; never returns. Writes to answer_fd, for each PE, its variables, each ended by a NUL,
 * and an empty one; or first '!' and the reason for a failure, '-' and the reason where there is no
 * libpmix. */
void server_run(const char *job_id, int pe_count, const char *folder, int answer_fd, int event_fd)
    __attribute__((noreturn));

/* server_gate.c: the gate in front of the PMIx server's port. libpmix waits without limit for a
 * connection's first message, on the thread that serves the job, and 4.2.2 dies of some malformed
 * ones. So it gets a connection only when that message is complete and has the name of the job,
 * which is random and in the environment of the PEs alone.
 *
 * This program defines listen(), accept() and accept4(), which libpmix calls. */

/* The name that first messages must have; before the server listens. Not copied. */
void gate_set_name(const char *name);

/* output.c: output of the PEs in whole lines, and input of PE 0.
 *
 * If the launcher prints to a terminal, so do the PEs, except with --tag-output: terminals are
 * written by lines, and programs can detect the terminal. Otherwise each PE prints into a pipe,
 * and lines are not mixed. A slow destination stops the reading of pipes, not the launcher. */

struct output;

/* Pipes for that many PEs. NULL after a message. */
struct output *output_open(int pe_count, bool tag_output);

/* In a new PE: set its standard input, output and error. */
void output_enter(const struct output *output, int pe);
/* In the launcher, after all forks: close the PEs' ends. */
void output_start(struct output *output);

/* Append descriptors to events (space for output_poll_max of them); returns their number.
 * *timeout_ms is lowered where something is due without an event. */
int output_poll_max(const struct output *output);
int output_poll(struct output *output, struct pollfd *events, int *timeout_ms);
/* After poll(). */
void output_step(struct output *output, const struct pollfd *events, int count);

/* Show the output that a PE has written so far, as far as the readers take it at once: its reason
 * comes before what is said of it. */
void output_show(struct output *output, int pe);

/* All PEs have ended: print the rest of their output. */
void output_finish(struct output *output);

/* Output could not be written, which was reported. */
bool output_is_lost(const struct output *output);

/* The reader of the output is gone. */
bool output_is_broken(const struct output *output);

/* place.c: binding of PEs to cores. */

/* Number of cores that this process may use; at least 1. */
int place_count(void);

/* Bind this process, which becomes that PE. */
void place_pe(enum binding binding, int pe);

/* start.c: start of PEs: environment, binding, and that they do not outlive the launcher. */

struct starter {
    const struct job *job;
    const struct output *output;
    const char *path;         /* path of the program */
    char *const *environment; /* of the launcher, without variables of other jobs */
    struct rlimit files;      /* RLIMIT_NOFILE of the PEs */
    sigset_t signals;         /* signal mask of the PEs */
    int error_fd;             /* a PE that cannot run the program sends struct start_error */
    int error_pe_fd;
};

struct start_error {
    int pe;
    int code; /* errno */
};

/* Find the program as a shell in @p folder (NULL: here) does, for a process there. Ends the process
 * with a message when there is none. */
const char *start_find(const char *program, const char *folder);

/* That path as this process sees it; valid until the next call. */
const char *start_seen(const char *path, const char *folder);

/* The environment without variables that other launchers have set for their own processes, and
 * with those of the command line. NULL without memory. */
char **start_environment(char **settings);

/* Fork PE number pe with additional variables. False after a message. */
bool start_pe(const struct starter *starter, struct pe *record, int pe, char *const *variables);

/* watch.c: from the first PE's start to the last one's end: which PE failed, the consequence for
 * the others, and the exit status.
 *
 * A job ends when all its PEs have exited. It is ended (SIGTERM, then SIGKILL) when a PE calls
 * shmem_global_exit(), is killed, exits with a status that is not 0 before it has finalized, or
 * exits while others wait for it; at its time limit; and on a signal of the user. The first of
 * these gives the status. */

struct watch {
    struct job *job;
    struct guard *guard;
    struct output *output;
    const struct server *server; /* event_fd is -1 without a server */
    int signal_fd;
    int error_fd;      /* struct start_error of PEs that could not run the program */
    double deadline_s; /* 0: none */
    double give_up_s;  /* end of the time that a forwarded signal gives the PEs; 0: none */
    double kill_at_s;  /* 0: not ending */
    int status;        /* exit status, once is_decided */
    bool is_decided;
    bool is_ending;
    int forwarded; /* the last forwarded signal that ends the job */
    double forwarded_at_s;
    int forwarded_count; /* number of these */
};

/* Block the signals that are forwarded or waited for. */
void watch_block_signals(sigset_t *before_p);

/* Run until all PEs have ended. Returns the exit status; watch->forwarded: a signal was the
 * cause. */
int watch_run(struct watch *watch);

/* launcher.c: other launchers: prterun, Open MPI's mpirun and srun start PEs on several hosts. They
 * get oshrun's arguments, in their own words. */

/* Run the launcher of the options, or the first that is installed, and end as it ends; with status
 * 124 at the time limit. Ends the process with a message when there is none. */
_Noreturn void launcher_run(const struct options *options);

#endif /* OSHRUN_H */
