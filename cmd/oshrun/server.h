/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_SERVER_H
#define OSHRUN_SERVER_H

/* A PMIx server for the PEs, so that MPI and other OpenSHMEM libraries start under oshrun, alone
 * or in one program with ours. libpmix is confined to a process of its own, which is started on
 * demand. */

#include "guard.h"
#include "options.h"
#include <stddef.h>
#include <sys/types.h>

enum server_event_kind { SERVER_EVENT_CONNECTED, SERVER_EVENT_FINALIZED, SERVER_EVENT_ABORT };
struct server_event {
    enum server_event_kind kind;
    int pe;
    int status; /* status of an abort */
};

struct server {
    pid_t pid;         /* 0: no server */
    int event_fd;      /* struct server_event */
    int count;         /* number of PEs */
    char folder[256];  /* the server's files */
    char *text;        /* storage of variables */
    char ***variables; /* for each PE, NULL at the end */
};

/* Whether that program needs a PMIx server; where it certainly does, the library that does. */
enum server_need { SERVER_USELESS, SERVER_OPTIONAL, SERVER_REQUIRED };
enum server_need server_need(const char *path, char *library, size_t library_size);

/* Start the server for a job of that name, and fetch the variables for the PEs' environments.
 * The guard removes what it leaves. False with the reason. */
bool server_open(struct server *server, const char *job_id, int pe_count, struct guard *guard,
                 char *reason, size_t reason_size);

void server_close(struct server *server);

/* ---- server_process.c, in the server's process ---- */

/* Serve; never returns. Writes to answer_fd, for each PE, its variables, each ended by a NUL,
 * and an empty one; or first '!' and the reason for a failure. */
void server_run(const char *job_id, int pe_count, const char *folder, int answer_fd, int event_fd)
    __attribute__((noreturn));

#endif /* OSHRUN_SERVER_H */
