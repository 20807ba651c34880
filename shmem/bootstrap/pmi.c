/* SPDX-License-Identifier: BSD-3-Clause */
/* Started by a launcher that speaks PMI-1 over an inherited socket: MPICH's and Intel MPI's mpiexec
 * (hydra), srun --mpi=pmi2, Flux. No library is needed: a request is a line of words, and so is its
 * reply ("cmd=get kvsname=job key=k", "cmd=get_result rc=0 value=v").
 *
 * Values are text of limited length, so bytes go as hexadecimal digits, in several pieces where
 * they are many. A value that was put is seen after the barrier of all PEs, the only one that PMI-1
 * has. */

#include "core/base/variable.h"
#include "shmem/bootstrap/sources.h"
#include "shmem/option.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    LINE_BYTES = 8192, /* of a request or a reply, at most */
    NAME_BYTES = 257,  /* of the name of a job's values */
    KEY_BYTES  = 64,
    VALUE_MIN  = 64,   /* that a launcher must take */
    VALUE_MAX  = 4096, /* that this side sends at a time */
    PES_MAX    = 1 << 24,
    END_MS     = 2000,  /* for a reply at the end of the process */
    REPLY_MS   = 60000, /* for replies that launchers give at once */
    ABORT_MS   = 5000,  /* of a launcher that is to end the job */
};

static struct {
    int fd;    /* -1: no connection */
    pid_t pid; /* the process that has the connection */
    int pe;
    int pe_count;
    bool is_open; /* a job is on */
    unsigned job; /* the number of this process's job: launchers keep the values of earlier ones */
    size_t value_max;
    int *local_pes;
    char name[NAME_BYTES];
    char launcher[96];
    char input[LINE_BYTES];
    size_t input_bytes;
} pmi = {.fd = -1};

/* Guards the socket and its input: a request and its reply belong together. */
static pthread_mutex_t pmi_lock = PTHREAD_MUTEX_INITIALIZER;

static memspan_status_t refuse_reply(const char *request, const char *reply)
{
    return msp_error_native(MEMSPAN_ERR_DRIVER, "pmi", request, 0, reply, NULL,
                            "the launcher's reply to \"%s\" is malformed, or a refusal: \"%.80s\"",
                            request, reply);
}

/* ---- lines ---- */

static memspan_status_t send_line(const char *line)
{
    size_t left = strlen(line);

    while (left > 0) {
        ssize_t sent = send(pmi.fd, line, left, MSG_NOSIGNAL);

        if ((sent < 0) && (errno == EINTR)) {
            continue;
        }
        if (sent <= 0) {
            return memspan_error(MEMSPAN_ERR_OFF, "the launcher's connection has ended (%s)",
                                 strerror(errno));
        }
        line += sent;
        left -= (size_t)sent;
    }
    return MEMSPAN_OK;
}

/* Removes the first line of the input, without its end. */
static bool take_line(char line[LINE_BYTES])
{
    char *end = memchr(pmi.input, '\n', pmi.input_bytes);
    size_t length;

    if (end == NULL) {
        return false;
    }
    length = (size_t)(end - pmi.input);
    memcpy(line, pmi.input, length);
    line[length] = '\0';
    pmi.input_bytes -= length + 1;
    memmove(pmi.input, end + 1, pmi.input_bytes);
    return true;
}

/* limit_ms < 0: none. */
static memspan_status_t receive_line(char line[LINE_BYTES], int limit_ms)
{
    while (!take_line(line)) {
        struct pollfd event = {.fd = pmi.fd, .events = POLLIN};
        ssize_t got;
        int ready;

        if (pmi.input_bytes == sizeof pmi.input) {
            return memspan_error(MEMSPAN_ERR_DRIVER,
                                 "the launcher sends a line of more than %d bytes",
                                 (int)LINE_BYTES);
        }
        ready = poll(&event, 1, limit_ms);
        if (ready == 0) {
            return memspan_error(MEMSPAN_ERR_DRIVER, "the launcher does not answer for %d s",
                                 limit_ms / 1000);
        }
        got = (ready > 0)
                  ? recv(pmi.fd, pmi.input + pmi.input_bytes, sizeof pmi.input - pmi.input_bytes, 0)
                  : -1;
        if ((got < 0) && (errno == EINTR)) {
            continue;
        }
        if (got <= 0) {
            return memspan_error(MEMSPAN_ERR_OFF, "the launcher's connection has ended");
        }
        pmi.input_bytes += (size_t)got;
    }
    return MEMSPAN_OK;
}

/* The value of @p word in a line of "word=value"; NULL: it has none. A value ends with a blank. */
static const char *find_word(const char *line, const char *word, size_t *length_p)
{
    const size_t bytes = strlen(word);

    while (*line != '\0') {
        if ((strncmp(line, word, bytes) == 0) && (line[bytes] == '=')) {
            *length_p = strcspn(line + bytes + 1, " ");
            return line + bytes + 1;
        }
        line += strcspn(line, " ");
        line += strspn(line, " ");
    }
    return NULL;
}

static bool has_word(const char *line, const char *word, const char *value)
{
    size_t length     = 0;
    const char *found = find_word(line, word, &length);

    return (found != NULL) && (length == strlen(value)) && (strncmp(found, value, length) == 0);
}

/* A request and its reply, which names itself @p reply_name. Under the lock. */
static memspan_status_t exchange(const char *request, const char *reply_name, int limit_ms,
                                 char reply[LINE_BYTES])
{
    memspan_status_t status = send_line(request);

    if (status == MEMSPAN_OK) {
        status = receive_line(reply, limit_ms);
    }
    if ((status == MEMSPAN_OK) && !has_word(reply, "cmd", reply_name)) {
        status = refuse_reply(reply_name, reply);
    }
    return status;
}

static memspan_status_t ask(const char *request, const char *reply_name, char reply[LINE_BYTES])
{
    return exchange(request, reply_name, REPLY_MS, reply);
}

/* ---- values ---- */

static bool name_piece(char key[KEY_BYTES], const char *name, int pe, unsigned piece)
{
    int length = snprintf(key, KEY_BYTES, "%s.%u.%d.%u", name, pmi.job, pe, piece);

    return (length > 0) && (length < KEY_BYTES);
}

static memspan_status_t put_piece(const char *key, const char *text)
{
    char request[LINE_BYTES];
    char reply[LINE_BYTES];
    memspan_status_t status;

    snprintf(request, sizeof request, "cmd=put kvsname=%s key=%s value=%s\n", pmi.name, key, text);
    status = ask(request, "put_result", reply);
    return ((status == MEMSPAN_OK) && !has_word(reply, "rc", "0")) ? refuse_reply("put", reply)
                                                                   : status;
}

/* *text_p is in the reply and ends with a blank, or with the reply. */
static memspan_status_t get_piece(const char *key, char reply[LINE_BYTES], const char **text_p)
{
    char request[LINE_BYTES];
    size_t length;
    memspan_status_t status;

    snprintf(request, sizeof request, "cmd=get kvsname=%s key=%s\n", pmi.name, key);
    status = ask(request, "get_result", reply);
    if (status != MEMSPAN_OK) {
        return status;
    }
    *text_p = find_word(reply, "value", &length);
    return (has_word(reply, "rc", "0") && (*text_p != NULL)) ? MEMSPAN_OK : MEMSPAN_ERR_NOT_FOUND;
}

/* "BYTES:DIGITS" is the first piece, the others are digits. */
static memspan_status_t put_all(const char *name, const unsigned char *data, size_t size_bytes)
{
    memspan_status_t status = MEMSPAN_OK;
    size_t done             = 0;
    unsigned piece          = 0;

    do {
        char text[VALUE_MAX + 1];
        char key[KEY_BYTES];
        size_t length = 0;

        if (piece == 0) {
            length = (size_t)snprintf(text, sizeof text, "%zu:", size_bytes);
        }
        while ((done < size_bytes) && (length + 2 < pmi.value_max)) {
            length += (size_t)snprintf(text + length, sizeof text - length, "%02x", data[done++]);
        }
        if (!name_piece(key, name, pmi.pe, piece++)) {
            return memspan_error(MEMSPAN_ERR_LIMIT, "\"%s\" is too long for a key of PMI", name);
        }
        status = put_piece(key, text);
    } while ((status == MEMSPAN_OK) && (done < size_bytes));
    return status;
}

static int digit_of(char letter)
{
    static const char digits[] = "0123456789abcdef";
    const char *found          = (letter != '\0') ? strchr(digits, letter) : NULL;

    return (found != NULL) ? (int)(found - digits) : -1;
}

/* Bytes from digits, as many as there are; false: these are none, or too many. */
static bool read_digits(const char *text, unsigned char *data, size_t size_bytes, size_t *done_p)
{
    const size_t before = *done_p;

    while ((*text != '\0') && (*text != ' ')) {
        const int high = digit_of(text[0]);
        const int low  = (high >= 0) ? digit_of(text[1]) : -1;

        if ((low < 0) || (*done_p == size_bytes)) {
            return false;
        }
        data[(*done_p)++] = (unsigned char)((high << 4) | low);
        text += 2;
    }
    return (*done_p > before) || (*done_p == size_bytes);
}

static memspan_status_t refuse_value(int pe, const char *name)
{
    return memspan_error(MEMSPAN_ERR_DRIVER, "the launcher's value \"%s\" of PE %d is malformed",
                         name, pe);
}

static memspan_status_t get_all(int pe, const char *name, unsigned char *data, size_t *size_p)
{
    size_t size_bytes = 0;
    size_t done       = 0;
    unsigned piece    = 0;

    do {
        char reply[LINE_BYTES];
        char key[KEY_BYTES];
        const char *text = "";
        memspan_status_t status =
            name_piece(key, name, pe, piece) ? get_piece(key, reply, &text) : MEMSPAN_ERR_NOT_FOUND;

        if (status == MEMSPAN_ERR_NOT_FOUND) {
            return memspan_error(status, "PE %d has not distributed \"%s\"", pe, name);
        }
        if (status != MEMSPAN_OK) {
            return status;
        }
        if (piece++ == 0) {
            int length = 0;

            if ((sscanf(text, "%9zu:%n", &size_bytes, &length) != 1) || (length == 0)) {
                return refuse_value(pe, name);
            }
            if (size_bytes > *size_p) {
                return memspan_error(MEMSPAN_ERR_LIMIT,
                                     "PE %d distributed %zu bytes as \"%s\", %zu are expected", pe,
                                     size_bytes, name, *size_p);
            }
            text += length;
        }
        if (!read_digits(text, data, size_bytes, &done)) {
            return refuse_value(pe, name);
        }
    } while (done < size_bytes);
    *size_p = size_bytes;
    return MEMSPAN_OK;
}

/* ---- the table ---- */

static memspan_status_t pmi_put(const char *key, const void *data, size_t size_bytes)
{
    memspan_status_t status;

    pthread_mutex_lock(&pmi_lock);
    status = put_all(key, data, size_bytes);
    pthread_mutex_unlock(&pmi_lock);
    return status;
}

static memspan_status_t pmi_get(int pe, const char *key, void *data, size_t *size_p)
{
    memspan_status_t status;

    pthread_mutex_lock(&pmi_lock);
    status = get_all(pe, key, data, size_p);
    pthread_mutex_unlock(&pmi_lock);
    return status;
}

/* The launcher ends a job of which a PE has ended, so nothing watches the others. The barrier at
 * the end of a job has no limit: PEs may be late by any time. */
static memspan_status_t pmi_barrier(void)
{
    const uint64_t limit_s = msp_shmem_option_number(MEMSPAN_SHMEM_START_TIMEOUT);
    const bool is_limited  = (msp_bootstrap_watch == NULL) && (limit_s > 0) && (limit_s < 1000000);
    char reply[LINE_BYTES];
    memspan_status_t status;

    pthread_mutex_lock(&pmi_lock);
    status =
        exchange("cmd=barrier_in\n", "barrier_out", is_limited ? (int)limit_s * 1000 : -1, reply);
    pthread_mutex_unlock(&pmi_lock);
    return status;
}

/* Without the lock: another thread may hold it and wait for a barrier. This process waits to be
 * ended: were it gone before the others, they would report that it has failed. */
static void pmi_abort(int status, const char *message)
{
    const int code = msp_bootstrap_exit_code(status);
    char request[64];

    (void)message; /* has been printed */
    if (pmi.is_open) {
        snprintf(request, sizeof request, "cmd=abort exitcode=%d\n", code);
        if (send_line(request) == MEMSPAN_OK) {
            struct pollfd hang_up = {.fd = pmi.fd};

            (void)poll(&hang_up, 1, ABORT_MS);
        }
    }
    _exit(code);
}

static void pmi_close(void)
{
    pmi.is_open = false;
    free(pmi.local_pes);
    pmi.local_pes = NULL;
}

/* ---- opening ---- */

/* A child of fork() has no connection. A job that has not ended is a failure for the launcher.
 *
 * After all handlers of exit: an MPI library in this process may have the same connection and end
 * it in one of those (MPICH from 4.2 on), and hydra closes it at the first cmd=finalize. MPICH's
 * write would be ended by SIGPIPE; ours may fail. */
__attribute__((destructor)) static void disconnect(void)
{
    char reply[LINE_BYTES];

    if ((pmi.fd >= 0) && (pmi.pid == getpid()) && !pmi.is_open) {
        (void)exchange("cmd=finalize\n", "finalize_ack", END_MS, reply);
        pmi.fd = -1;
    }
}

/* A number of the environment below @p limit; -1: there is none. */
static int number_of(const char *name, int limit)
{
    const char *text = msp_variable_text(name);
    char *end        = NULL;
    long number      = (text != NULL) ? strtol(text, &end, 10) : -1;

    return ((text != NULL) && (end != text) && (*end == '\0') && (number >= 0) && (number < limit))
               ? (int)number
               : -1;
}

static bool is_socket(int fd)
{
    int type         = 0;
    socklen_t length = sizeof type;

    return (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0) && (type == SOCK_STREAM);
}

static memspan_status_t greet(void)
{
    char reply[LINE_BYTES];
    size_t length = 0;
    memspan_status_t status =
        ask("cmd=init pmi_version=1 pmi_subversion=1\n", "response_to_init", reply);
    const char *found;

    if ((status == MEMSPAN_OK) && !has_word(reply, "rc", "0")) {
        status = refuse_reply("init", reply);
    }
    status = (status == MEMSPAN_OK) ? ask("cmd=get_maxes\n", "maxes", reply) : status;
    if (status != MEMSPAN_OK) {
        return status;
    }
    found         = find_word(reply, "vallen_max", &length);
    pmi.value_max = (found != NULL) ? strtoul(found, NULL, 10) : 0;
    if (pmi.value_max < VALUE_MIN) {
        return refuse_reply("get_maxes", reply);
    }
    pmi.value_max = (pmi.value_max < VALUE_MAX) ? pmi.value_max : VALUE_MAX;
    status        = ask("cmd=get_my_kvsname\n", "my_kvsname", reply);
    if (status != MEMSPAN_OK) {
        return status;
    }
    found = find_word(reply, "kvsname", &length);
    if ((found == NULL) || (length == 0) || (length >= NAME_BYTES)) {
        return refuse_reply("get_my_kvsname", reply);
    }
    snprintf(pmi.name, sizeof pmi.name, "%.*s", (int)length, found);
    return MEMSPAN_OK;
}

/* Once: a launcher takes a PE that leaves for one that has ended. */
static memspan_status_t connect_launcher(void)
{
    memspan_status_t status;

    if (pmi.fd >= 0) {
        return (pmi.pid == getpid())
                   ? MEMSPAN_OK
                   : memspan_error(MEMSPAN_ERR_FORKED, "the launcher's connection is the parent's");
    }
    pmi.fd       = number_of("PMI_FD", 1 << 20);
    pmi.pe_count = number_of("PMI_SIZE", PES_MAX);
    pmi.pe       = number_of("PMI_RANK", (pmi.pe_count > 0) ? pmi.pe_count : 0);
    pmi.pid      = getpid();
    if ((pmi.pe < 0) || !is_socket(pmi.fd)) {
        pmi.fd = -1;
        return memspan_error(MEMSPAN_ERR_OFF, "PMI_FD, PMI_RANK and PMI_SIZE name no connection");
    }
    /* MPI_Finalize() closes the launcher's, and another file may get the number. */
    pmi.fd = fcntl(pmi.fd, F_DUPFD_CLOEXEC, 3);
    if (pmi.fd < 0) {
        return memspan_error(MEMSPAN_ERR_LIMIT, "no descriptor for the launcher's connection (%s)",
                             strerror(errno));
    }
    status = greet();
    if ((status == MEMSPAN_OK) && (at_quick_exit(disconnect) != 0)) {
        status = memspan_error(MEMSPAN_ERR_NO_MEMORY, "the end of the program cannot be watched");
    }
    if (status != MEMSPAN_OK) {
        close(pmi.fd);
        pmi.fd = -1;
    }
    return status;
}

/* PEs of this one's node. Where the launcher has no mapping, each PE is alone on its node. */
static memspan_status_t fill_local(struct msp_bootstrap_job *job)
{
    static int is_said;
    char reply[LINE_BYTES];
    const char *mapping     = "";
    memspan_status_t status = get_piece("PMI_process_mapping", reply, &mapping);
    const int node          = (status == MEMSPAN_OK) ? msp_pmi_mapping_node(mapping, pmi.pe) : -1;
    int pe;

    if ((status != MEMSPAN_OK) && (status != MEMSPAN_ERR_NOT_FOUND)) {
        return status;
    }
    if ((node == MSP_PMI_MAPPING_MALFORMED) && (pmi.pe == 0)) {
        msp_warn_once(&is_said,
                      "the launcher's PMI_process_mapping \"%.*s\" cannot be read: the PEs of a "
                      "host do not share memory, they use the network; oshrun and launchers with "
                      "PMIx start them together",
                      (int)strcspn(mapping, " "), mapping);
    }
    pmi.local_pes = calloc((size_t)pmi.pe_count, sizeof *pmi.local_pes);
    if (pmi.local_pes == NULL) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for the numbers of %d PEs",
                             pmi.pe_count);
    }
    for (pe = 0; pe < pmi.pe_count; pe++) {
        if ((pe == pmi.pe) || ((node >= 0) && (msp_pmi_mapping_node(mapping, pe) == node))) {
            job->local_index = (pe == pmi.pe) ? job->local_count : job->local_index;
            pmi.local_pes[job->local_count++] = pe;
        }
    }
    job->local_pes = pmi.local_pes;
    return MEMSPAN_OK;
}

/* Where no launcher has set PMI_FD, the error record stays as it is. */
static memspan_status_t pmi_open(struct msp_bootstrap_job *job_p)
{
    struct msp_bootstrap_claim claim;
    struct msp_bootstrap_job job;
    memspan_status_t status;

    if (msp_variable_text("PMI_FD") == NULL) {
        return MEMSPAN_ERR_OFF;
    }
    pthread_mutex_lock(&pmi_lock);
    status = connect_launcher();
    claim  = msp_bootstrap_find_claim();
    snprintf(pmi.launcher, sizeof pmi.launcher, "%s, PMI-1",
             (claim.launcher != NULL) ? claim.launcher : "a PMI launcher");
    job = (struct msp_bootstrap_job){
        .pe = pmi.pe, .pe_count = pmi.pe_count, .launcher = pmi.launcher};
    snprintf(job.job_id, sizeof job.job_id, "%.*s", (int)sizeof job.job_id - 1, pmi.name);
    status = (status == MEMSPAN_OK) ? fill_local(&job) : status;
    pthread_mutex_unlock(&pmi_lock);
    if (status == MEMSPAN_OK) {
        pmi.job++;
        pmi.is_open = true;
        *job_p      = job;
    }
    return status;
}

const struct msp_bootstrap msp_bootstrap_pmi = {
    .name         = "pmi",
    .is_joint     = true,
    .open         = pmi_open,
    .put          = pmi_put,
    .barrier      = pmi_barrier,
    .node_barrier = pmi_barrier,
    .get          = pmi_get,
    .abort        = pmi_abort,
    .close        = pmi_close,
};
