/* SPDX-License-Identifier: BSD-3-Clause */
/* importer.c: the server, and the processes that it forks. */

#include "cmd/memquery/output/output.h"
#include "cmd/memquery/probe/probe.h"
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

_Static_assert(IMPORTER_TOKEN_MAX == MEMSPAN_SHARE_TOKEN_MAX_BYTES, "a token fits in a request");

static int channel = -1; /* the owner's end of the socket */
static unsigned limit_s; /* limit of one request */

/* ---- the other process ---- */

static int find_number(const struct importer_request *request)
{
    memspan_device_info_t info = {.struct_size = sizeof(info)};
    int number;

    for (int i = 0; memspan_device_at(i, &number) == MEMSPAN_OK; i++) {
        if ((memspan_device_describe(number, &info) == MEMSPAN_OK) &&
            (strcmp(info.backend, request->backend) == 0) && (info.ordinal == request->ordinal)) {
            return number;
        }
    }
    return MEMSPAN_HOST;
}

static void take_error(struct importer_reply *reply, const char *doing)
{
    const memspan_error_t *error = memspan_error_last();

    reply->done = 0;
    snprintf(reply->problem, sizeof(reply->problem), "%s: %s", doing, error->message);
    if (error->call[0] != '\0') {
        snprintf(reply->native, sizeof(reply->native), "%s: %ld %s", error->call,
                 error->native_code, error->native_text);
    }
    snprintf(reply->remedy, sizeof(reply->remedy), "%s", error->hint);
}

/* Read the owner's pattern, and write our own. */
static bool move_data(void *address, struct importer_reply *reply)
{
    unsigned char *data = cli_calloc(IMPORTER_BYTES, 1);
    size_t wrong        = 0;
    bool moved;

    moved = memspan_copy(data, address, IMPORTER_BYTES) == MEMSPAN_OK;
    if (!moved) {
        take_error(reply, "the other process cannot read it");
    }
    for (size_t i = 0; moved && (i < IMPORTER_BYTES); i++) {
        wrong += (data[i] != importer_byte(1, i)) ? 1 : 0;
        data[i] = importer_byte(2, i);
    }
    if (wrong > 0) {
        snprintf(reply->problem, sizeof(reply->problem),
                 "every call succeeded, but %zu of %d bytes that the other process read are not "
                 "those that were written",
                 wrong, (int)IMPORTER_BYTES);
        moved = false;
    }
    if (moved && (memspan_copy(address, data, IMPORTER_BYTES) != MEMSPAN_OK)) {
        take_error(reply, "the other process cannot write to it");
        moved = false;
    }
    free(data);
    return moved;
}

static void import(const struct importer_request *request, struct importer_reply *reply)
{
    int number    = find_number(request);
    void *address = NULL;
    size_t size   = 0;

    if (number == MEMSPAN_HOST) {
        snprintf(reply->problem, sizeof(reply->problem), "the other process has no %s:%d",
                 request->backend, request->ordinal);
        return;
    }
    if (memspan_share_import(request->token, request->token_bytes, number, &address, &size) !=
        MEMSPAN_OK) {
        take_error(reply, "the other process cannot open it");
        return;
    }
    reply->done = (size >= IMPORTER_BYTES) && move_data(address, reply);
    if ((memspan_share_close(address) != MEMSPAN_OK) && (reply->done != 0)) {
        take_error(reply, "the other process cannot close it");
    }
}

static int answer(void *context, FILE *out)
{
    struct importer_reply reply = {.done = 0};

    import(context, &reply);
    fwrite(&reply, sizeof(reply), 1, out);
    return EXIT_YES;
}

/* ---- the server ---- */

static void take_reply(const struct cli_result *result, struct importer_reply *reply)
{
    switch (result->end) {
    case CLI_EXITED:
        memcpy(reply, result->out.data, sizeof(*reply));
        return;
    case CLI_TIMED_OUT:
        snprintf(reply->problem, sizeof(reply->problem),
                 "the other process did not answer within %g s", result->limit_s);
        return;
    case CLI_KILLED:
        snprintf(reply->problem, sizeof(reply->problem),
                 "the other process crashed (signal %d, %s)", result->code,
                 strsignal(result->code));
        return;
    case CLI_LEFT:
        snprintf(reply->problem, sizeof(reply->problem),
                 "the driver ended the other process (exit status %d)", result->code);
        return;
    case CLI_NOT_STARTED:
        break;
    }
    snprintf(reply->problem, sizeof(reply->problem), "the system gave no other process");
}

static void serve_one(int fd, struct importer_request *request)
{
    struct importer_reply reply = {.done = 0};
    struct cli_result result;

    cli_child_run(&(struct cli_child){.work = answer, .context = request, .limit_s = limit_s},
                  &result);
    take_reply(&result, &reply);
    if (result.error.size_bytes > 0) {
        fwrite(result.error.data, 1, result.error.size_bytes, stderr);
    }
    (void)!send(fd, &reply, sizeof(reply), MSG_NOSIGNAL);
    cli_result_free(&result);
}

__attribute__((noreturn)) static void serve(int fd)
{
    struct importer_request request;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (recv(fd, &request, sizeof(request), 0) == (ssize_t)sizeof(request)) {
        serve_one(fd, &request);
    }
    _exit(0);
}

/* ---- the owner's side ---- */

bool importer_start(double timeout_s)
{
    int ends[2];
    pid_t pid;

    /* The owner needs part of the time limit for itself. */
    limit_s = (timeout_s < 4) ? 1 : (unsigned)(timeout_s / 3);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        return false;
    }
    pid = fork();
    if (pid == 0) {
        close(ends[0]);
        serve(ends[1]);
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return false;
    }
    channel = ends[0];
    return true;
}

bool importer_ask(const struct importer_request *request, struct importer_reply *reply_p)
{
    struct pollfd wait = {.fd = channel, .events = POLLIN};

    *reply_p = (struct importer_reply){.done = 0};
    if ((channel < 0) || (send(channel, request, sizeof(*request), MSG_NOSIGNAL) < 0)) {
        snprintf(reply_p->problem, sizeof(reply_p->problem), "there is no other process");
        return false;
    }
    if ((poll(&wait, 1, ((int)limit_s + 2) * 1000) <= 0) ||
        (recv(channel, reply_p, sizeof(*reply_p), 0) != (ssize_t)sizeof(*reply_p))) {
        *reply_p = (struct importer_reply){.done = 0};
        snprintf(reply_p->problem, sizeof(reply_p->problem), "the other process does not answer");
        close(channel);
        channel = -1;
        return false;
    }
    cli_clean(reply_p->problem);
    cli_clean(reply_p->native);
    cli_clean(reply_p->remedy);
    return true;
}
