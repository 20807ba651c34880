/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_SERVER_H
#define OSHRUN_SERVER_H

/* A PMIx server for the PEs, so that MPI and other OpenSHMEM libraries start under oshrun as well,
 * alone or in one program with ours. It is a process of its own: what libpmix starts and opens
 * stays there, and costs nothing where it is not asked for. */

#include "options.h"
#include <stddef.h>
#include <sys/types.h>

enum server_event_kind { SERVER_EVENT_CONNECTED, SERVER_EVENT_FINALIZED, SERVER_EVENT_ABORT };
struct server_event {
    enum server_event_kind kind;
    int pe;
    int status; /* of an abort */
};

struct server {
    pid_t pid;         /* of the server; 0: there is none */
    int event_fd;      /* struct server_event */
    int count;         /* of PEs */
    char folder[256];  /* of the server's files */
    char *text;        /* what variables point into */
    char ***variables; /* for each PE, NULL at the end */
};

/* True when that program may be one that needs a PMIx server. */
bool server_is_needed(const char *path);

/* True when it certainly is one; *library_p names why, until the next call. */
bool server_is_missed(const char *path, const char **library_p);

/* Start the server for a job of that name, and fetch what the PEs' environments need. False, with
 * the reason in words. */
bool server_open(struct server *server, const char *job_id, int pe_count, char *reason,
                 size_t reason_size);

void server_close(struct server *server);

/* ---- server_process.c, in the server's process ---- */

/* Serve; never returns. What each PE's environment needs goes to answer_fd: for each PE its
 * variables, each ended by a null, and an empty one; or, first, '!' and the reason why not. */
void server_run(const char *job_id, int pe_count, const char *folder, int answer_fd, int event_fd)
    __attribute__((noreturn));

#endif /* OSHRUN_SERVER_H */
