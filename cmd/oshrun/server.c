/* SPDX-License-Identifier: BSD-3-Clause */
/* The launcher's side of the PMIx server process. */

#include "cmd/common/cli.h"
#include "cmd/oshrun/oshrun.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define START_TIMEOUT_MS 20000

/* Everything written until the end is closed, with a NUL after it; NULL without memory or data. */
static char *read_all(int fd, size_t *size_p)
{
    size_t capacity = 65536;
    size_t used     = 0;
    char *text      = malloc(capacity);
    while (text != NULL) {
        struct pollfd event = {.fd = fd, .events = POLLIN};
        if (poll(&event, 1, START_TIMEOUT_MS) == 0) {
            break;
        }
        ssize_t size = read(fd, text + used, capacity - used - 1);
        if (size <= 0 && !(size < 0 && errno == EINTR)) {
            text[used] = '\0';
            *size_p    = used;
            return text;
        }
        used += size > 0 ? (size_t)size : 0;
        if (capacity - used < 4096) {
            capacity *= 2;
            char *larger = realloc(text, capacity);
            if (larger == NULL) {
                break;
            }
            text = larger;
        }
    }
    free(text);
    return NULL;
}

/* Point variables at the words of the text. False when there are fewer lists than PEs. */
static bool split(struct server *server, size_t size)
{
    size_t word_count = 0;
    for (size_t i = 0; i < size; i++) {
        word_count += server->text[i] == '\0';
    }
    char **words      = calloc(word_count + 1, sizeof(*words));
    server->variables = calloc((size_t)server->count, sizeof(*server->variables));
    if (words == NULL || server->variables == NULL) {
        free(words);
        return false;
    }
    int pe         = 0;
    char **list    = words;
    size_t at      = 0;
    size_t written = 0;
    for (; at < size && pe < server->count; at += strlen(server->text + at) + 1) {
        if (server->text[at] != '\0') {
            words[written++] = server->text + at;
        } else {
            words[written++]        = NULL;
            server->variables[pe++] = list;
            list                    = words + written;
        }
    }
    return pe == server->count;
}

/* Noted before it is made, or the launcher could be killed in between. */
static bool make_folder(struct server *server, struct guard *guard)
{
    const char *where         = cli_environment(CLI_TMPDIR);
    unsigned long long random = 0;
    if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
        return false;
    }
    where = where != NULL && where[0] == '/' ? where : "/tmp";
    int length =
        snprintf(server->folder, sizeof(server->folder), "%s/oshrun-%016llx", where, random);
    if (length >= (int)sizeof(server->folder)) {
        errno = ENAMETOOLONG;
        return false;
    }
    guard_note_folder(guard, server->folder);
    if (mkdir(server->folder, S_IRWXU) != 0) {
        guard_note_folder(guard, "");
        return false;
    }
    return true;
}

/* Until PEs are started there is nothing to remove but the folder, and the server dies with the
 * launcher; from then on it ends by itself. */
static void start_server(const struct server *server, const char *job_id, struct guard *guard,
                         pid_t launcher, int answer_fd, int event_fd)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    guard_note_server(guard, getpid());
    if (getppid() != launcher) {
        _exit(0);
    }
    prctl(PR_SET_NAME, "oshrun pmix");
    setpgid(0, 0);
    server_run(job_id, server->count, server->folder, answer_fd, event_fd);
}

/* Wait for the environments, which come when the server is ready. */
static bool fetch(struct server *server, int answer_fd, char *reason, size_t reason_size)
{
    size_t size  = 0;
    server->text = read_all(answer_fd, &size);
    if (server->text == NULL || size == 0) {
        snprintf(reason, reason_size, "the PMIx server died at its start");
        return false;
    }
    if (server->text[0] == '!' || server->text[0] == '-') {
        server->is_absent = server->text[0] == '-';
        snprintf(reason, reason_size, "%s", server->text + 1);
        return false;
    }
    if (!split(server, size)) {
        snprintf(reason, reason_size, "the PMIx server left PEs out");
        return false;
    }
    return true;
}

bool server_open(struct server *server, const char *job_id, int pe_count, struct guard *guard,
                 char *reason, size_t reason_size)
{
    int answers[2];
    int events[2];
    *server = (struct server){.event_fd = -1, .count = pe_count};
    if (!make_folder(server, guard)) {
        snprintf(reason, reason_size, "cannot create %s: %s", server->folder, strerror(errno));
        server->folder[0] = '\0';
        return false;
    }
    if (pipe2(answers, O_CLOEXEC) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, events) != 0) {
        snprintf(reason, reason_size, "cannot create a pipe: %s", strerror(errno));
        server_close(server);
        return false;
    }
    pid_t launcher = getpid();
    pid_t pid      = fork();
    if (pid == 0) {
        close(answers[0]);
        close(events[0]);
        start_server(server, job_id, guard, launcher, answers[1], events[1]);
    }
    close(answers[1]);
    close(events[1]);
    server->pid      = pid > 0 ? pid : 0;
    server->event_fd = events[0];
    bool is_ready    = pid > 0 && fetch(server, answers[0], reason, reason_size);
    close(answers[0]);
    if (pid < 0) {
        snprintf(reason, reason_size, "cannot start the PMIx server: %s", strerror(errno));
    }
    if (!is_ready) {
        if (pid > 0) {
            kill(pid, SIGKILL);
        }
        server_close(server);
        free(server->text);
        server->text = NULL;
        return false;
    }
    fcntl(server->event_fd, F_SETFL, O_NONBLOCK);
    return true;
}

void server_close(struct server *server)
{
    if (server->pid > 0) {
        close(server->event_fd);
        server->event_fd = -1;
        while (waitpid(server->pid, NULL, 0) < 0 && errno == EINTR) {
        }
        server->pid = 0;
    }
    if (server->folder[0] != '\0') {
        cli_folder_remove(server->folder);
        server->folder[0] = '\0';
    }
}
