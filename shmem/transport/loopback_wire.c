/* SPDX-License-Identifier: BSD-3-Clause */
/* loopback_wire.c: sockets, and the thread that reads, writes and executes.
 *
 * A PE listens at an address of the kernel's choice in the abstract name space. Sockets never
 * block: messages wait in the connection's queue. A connection that ends without a BYE is that of
 * a PE that died; the launcher is given a second to end the job before this PE does. */

#include "shmem/bootstrap.h"
#include "shmem/control/shared_file.h"
#include "shmem/control/wait.h"
#include "shmem/transport/loopback.h"
#include "shmem/transport/own.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
    QUEUED_MAX_BYTES = 32 << 20,   /* of payload, before senders wait */
    GRACE_NS         = 1000000000, /* between a PE's death and this one's message */
};

struct msp_loopback_connection {
    struct msp_loopback_connection *next;
    int fd; /* -1: closed */
    int pe; /* -1: it has not said who it is */
    bool has_bye;
    bool is_broken;
    struct msp_loopback_header in;
    size_t in_bytes;                       /* of the header */
    struct msp_loopback_message *incoming; /* whose payload is being read */
    struct msp_loopback_message *first;    /* queue */
    struct msp_loopback_message *last;
};

static pthread_mutex_t wire_lock = PTHREAD_MUTEX_INITIALIZER; /* guards connections, their queues */
static struct msp_loopback_connection *connections;
static struct msp_loopback_connection *_Atomic *outgoing; /* by PE */
static _Atomic size_t queued_bytes;

static int listener = -1;
static int wake_fd  = -1; /* an eventfd */
static pthread_t thread;
static bool runs;
static atomic_bool is_closing;

static void wake(void)
{
    const uint64_t one = 1;

    while ((write(wake_fd, &one, sizeof one) < 0) && (errno == EINTR)) {
    }
}

/* ---- queues ---- */

/* Of the first message, with the lock held: -1 with errno, or the bytes that the socket took. */
static ssize_t write_part(struct msp_loopback_connection *connection)
{
    struct msp_loopback_message *message = connection->first;
    size_t header_bytes                  = sizeof message->header;
    size_t in_header  = (message->done_bytes < header_bytes) ? message->done_bytes : header_bytes;
    size_t in_payload = message->done_bytes - in_header;
    struct iovec parts[2]    = {{(char *)&message->header + in_header, header_bytes - in_header},
                                {(char *)(uintptr_t)message->payload + in_payload,
                                 message->header.payload_bytes - in_payload}};
    const struct msghdr both = {.msg_iov = parts, .msg_iovlen = 2};
    ssize_t done             = sendmsg(connection->fd, &both, MSG_NOSIGNAL);

    message->done_bytes += (done > 0) ? (size_t)done : 0;
    return done;
}

/* The first message is sent, or is not to be. With the lock held. */
static void drop_first(struct msp_loopback_connection *connection)
{
    struct msp_loopback_message *first = connection->first;

    connection->first = first->next;
    atomic_fetch_sub(&queued_bytes, first->header.payload_bytes);
    free(first);
}

static bool is_sent(const struct msp_loopback_message *message)
{
    return message->done_bytes == sizeof message->header + message->header.payload_bytes;
}

static void enqueue(struct msp_loopback_connection *connection,
                    struct msp_loopback_message *message)
{
    message->header.pe  = msp_job.pe;
    message->next       = NULL;
    message->done_bytes = 0;
    atomic_fetch_add(&queued_bytes, message->header.payload_bytes);
    if (connection->first == NULL) {
        connection->first = message;
    } else {
        connection->last->next = message;
    }
    connection->last = message;
}

/* At once, when nothing is queued before it and the socket takes it: that saves a wake-up. */
void msp_loopback_send(int pe, struct msp_loopback_message *message)
{
    struct msp_loopback_connection *connection = atomic_load(&outgoing[pe]);
    bool is_left                               = true;

    MSP_WAIT_UNNOTIFIED(atomic_load(&queued_bytes) < QUEUED_MAX_BYTES);
    pthread_mutex_lock(&wire_lock);
    enqueue(connection, message);
    if ((connection->first == message) && (connection->fd >= 0) && (write_part(connection) > 0) &&
        is_sent(message)) {
        drop_first(connection);
        is_left = false;
    }
    pthread_mutex_unlock(&wire_lock);
    if (is_left) {
        wake();
    }
}

void msp_loopback_reply(struct msp_loopback_connection *connection,
                        struct msp_loopback_message *message)
{
    pthread_mutex_lock(&wire_lock);
    enqueue(connection, message);
    pthread_mutex_unlock(&wire_lock);
}

static struct msp_loopback_message *first_of(struct msp_loopback_connection *connection)
{
    struct msp_loopback_message *first;

    pthread_mutex_lock(&wire_lock);
    first = connection->first;
    pthread_mutex_unlock(&wire_lock);
    return first;
}

static struct msp_loopback_connection *add_connection(int fd, int pe)
{
    struct msp_loopback_connection *connection = calloc(1, sizeof *connection);

    if (connection == NULL) {
        msp_fatal("loopback: no memory for a connection");
    }
    connection->fd = fd;
    connection->pe = pe;
    pthread_mutex_lock(&wire_lock);
    connection->next = connections;
    connections      = connection;
    pthread_mutex_unlock(&wire_lock);
    return connection;
}

static struct msp_loopback_connection *first_connection(void)
{
    struct msp_loopback_connection *first;

    pthread_mutex_lock(&wire_lock);
    first = connections;
    pthread_mutex_unlock(&wire_lock);
    return first;
}

/* ---- reading and writing ---- */

static bool is_for_now(int error)
{
    return (error == EAGAIN) || (error == EWOULDBLOCK) || (error == EINTR);
}

/* The bytes that were received: 0, none now. A failure is the end of the connection. */
static size_t received(struct msp_loopback_connection *connection, ssize_t done)
{
    if (done > 0) {
        return (size_t)done;
    }
    if ((done == 0) || !is_for_now(errno)) {
        pthread_mutex_lock(&wire_lock);
        close(connection->fd);
        connection->fd = -1;
        pthread_mutex_unlock(&wire_lock);
        connection->is_broken = !connection->has_bye;
    }
    return 0;
}

static void take(struct msp_loopback_connection *connection, struct msp_loopback_message *message)
{
    switch (message->header.kind) {
    case MSP_LOOPBACK_HELLO:
        connection->pe = message->header.pe;
        free(message);
        break;
    case MSP_LOOPBACK_BYE:
        connection->has_bye = true;
        free(message);
        break;
    default:
        message->connection = connection;
        msp_loopback_accept(message);
        break;
    }
}

/* The header, then the payload; false: nothing is there to be read. */
static bool read_some(struct msp_loopback_connection *connection)
{
    struct msp_loopback_message *message = connection->incoming;
    size_t left;
    size_t got;

    if (message == NULL) {
        left = sizeof connection->in - connection->in_bytes;
        got  = received(connection, recv(connection->fd,
                                         (char *)&connection->in + connection->in_bytes, left, 0));
        connection->in_bytes += got;
        if (got != left) {
            return got != 0;
        }
        connection->in_bytes = 0;
        message              = msp_loopback_message(&connection->in, connection->in.payload_bytes);
        message->header      = connection->in;
        connection->incoming = message;
    }
    left = message->header.payload_bytes - message->done_bytes;
    if (left != 0) {
        got = received(connection,
                       recv(connection->fd, message->data + message->done_bytes, left, 0));
        message->done_bytes += got;
        if (got != left) {
            return got != 0;
        }
    }
    connection->incoming = NULL;
    take(connection, message);
    return true;
}

/* What the socket takes. A PE that has finalized reads no replies: where it does not take one,
 * read_some() finds out why, behind the BYE that may be there to be read. */
static void write_all(struct msp_loopback_connection *connection)
{
    bool goes_on = true;

    while (goes_on) {
        goes_on = false;
        pthread_mutex_lock(&wire_lock);
        if (connection->first != NULL) {
            ssize_t done = (connection->fd >= 0) ? write_part(connection) : 0;
            bool is_lost = (connection->fd < 0) || ((done < 0) && !is_for_now(errno));

            if (is_lost || is_sent(connection->first)) {
                drop_first(connection);
            }
            goes_on = is_lost || (done > 0);
        }
        pthread_mutex_unlock(&wire_lock);
    }
}

/* ---- the thread ---- */

static void accept_one(void)
{
    int fd = msp_fd_above_streams(accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC));
    struct ucred peer;
    socklen_t size = sizeof peer;

    if (fd < 0) {
        return;
    }
    if ((getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) || (peer.uid != geteuid())) {
        close(fd); /* of another user */
        return;
    }
    (void)add_connection(fd, -1);
}

/* Until there is something to do, for @p wait_ns at most (-1: for ever). */
static void sleep_on_sockets(int64_t wait_ns)
{
    static struct pollfd *polls;
    static size_t poll_max;
    const struct timespec duration = {wait_ns / 1000000000, (long)(wait_ns % 1000000000)};
    struct msp_loopback_connection *connection;
    uint64_t unused;
    size_t count = 2;

    for (connection = first_connection(); connection != NULL; connection = connection->next) {
        count++;
    }
    if (count > poll_max) {
        poll_max = 2 * count;
        polls    = realloc(polls, poll_max * sizeof *polls);
        if (polls == NULL) {
            msp_fatal("loopback: no memory for %zu connections", poll_max);
        }
    }
    polls[0] = (struct pollfd){.fd = wake_fd, .events = POLLIN};
    polls[1] = (struct pollfd){.fd = listener, .events = POLLIN};
    count    = 2;
    for (connection = first_connection(); connection != NULL; connection = connection->next) {
        short out = (first_of(connection) != NULL) ? POLLOUT : 0;

        if (count < poll_max) {
            polls[count++] = (struct pollfd){.fd = connection->fd, .events = (short)(POLLIN | out)};
        }
    }
    (void)ppoll(polls, count, (wait_ns >= 0) ? &duration : NULL, NULL);
    (void)!read(wake_fd, &unused, sizeof unused);
    if ((polls[1].revents & POLLIN) != 0) {
        accept_one();
    }
}

/* A launcher that ends the job does so at once; under others this PE does. */
static void report_death(const struct msp_loopback_connection *connection)
{
    const struct timespec grace = {GRACE_NS / 1000000000, GRACE_NS % 1000000000};

    nanosleep(&grace, NULL);
    if (connection->pe >= 0) {
        msp_fatal("PE %d has died: its connection is closed", connection->pe);
    }
}

/* True when a message is left to be written. */
static bool serve_connections(void)
{
    struct msp_loopback_connection *connection;
    bool has_more = false;

    for (connection = first_connection(); connection != NULL; connection = connection->next) {
        while ((connection->fd >= 0) && read_some(connection)) {
        }
        if (connection->is_broken && !atomic_load(&is_closing)) {
            report_death(connection);
        }
    }
    for (connection = first_connection(); connection != NULL; connection = connection->next) {
        write_all(connection);
        has_more = has_more || (first_of(connection) != NULL);
    }
    return has_more;
}

static void *run(void *unused)
{
    (void)unused;
    for (;;) {
        bool ends        = atomic_load(&is_closing);
        int64_t until_ns = msp_loopback_deliver();
        bool has_more    = serve_connections();

        if (ends && !has_more && (until_ns < 0)) {
            return NULL;
        }
        until_ns = msp_loopback_deliver();
        sleep_on_sockets(ends ? 0 : until_ns);
    }
}

/* ---- start and end ---- */

memspan_status_t msp_loopback_wire_open(void *address, size_t *address_bytes_p)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    socklen_t size        = sizeof at;
    memspan_status_t status;

    outgoing = calloc((size_t)msp_job.pe_count, sizeof *outgoing);
    listener = msp_fd_above_streams(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    wake_fd  = msp_fd_above_streams(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    /* The kernel chooses a name that is free. */
    if ((outgoing == NULL) || (listener < 0) || (wake_fd < 0) ||
        (bind(listener, (struct sockaddr *)&at, sizeof at.sun_family) != 0) ||
        (listen(listener, SOMAXCONN) != 0) ||
        (getsockname(listener, (struct sockaddr *)&at, &size) != 0)) {
        status = msp_error_native(MEMSPAN_ERR_LIMIT, "", "socket", errno, strerror(errno), NULL,
                                  "loopback: this PE cannot listen");
        msp_loopback_wire_close();
        return status;
    }
    memcpy(address, &at, size);
    *address_bytes_p = size;
    atomic_store(&is_closing, false);
    status = msp_own_thread_start(&thread, run, "the loopback transport");
    runs   = (status == MEMSPAN_OK);
    if (!runs) {
        msp_loopback_wire_close();
    }
    return status;
}

memspan_status_t msp_loopback_wire_connect(int pe, const void *address, size_t address_bytes)
{
    const struct msp_loopback_header hello = {.kind = MSP_LOOPBACK_HELLO};
    struct msp_loopback_connection *connection;
    struct sockaddr_un at;
    int fd = msp_fd_above_streams(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));

    memset(&at, 0, sizeof at);
    memcpy(&at, address, (address_bytes < sizeof at) ? address_bytes : sizeof at);
    if ((fd < 0) || (connect(fd, (struct sockaddr *)&at, (socklen_t)address_bytes) != 0) ||
        (fcntl(fd, F_SETFL, O_NONBLOCK) != 0)) {
        memspan_status_t status =
            msp_error_native(MEMSPAN_ERR_UNREACHABLE, "", "connect", errno, strerror(errno), NULL,
                             "loopback: PE %d cannot be connected", pe);

        if (fd >= 0) {
            close(fd);
            msp_bootstrap_let_launcher_speak(); /* the PE has ended, and the launcher knows how */
        }
        return status;
    }
    connection = add_connection(fd, pe);
    msp_loopback_reply(connection, msp_loopback_message(&hello, 0));
    atomic_store(&outgoing[pe], connection);
    return MEMSPAN_OK;
}

static void close_connection(struct msp_loopback_connection *connection)
{
    while (connection->first != NULL) {
        drop_first(connection);
    }
    if (connection->fd >= 0) {
        close(connection->fd);
    }
    free(connection->incoming);
    free(connection);
}

void msp_loopback_wire_close(void)
{
    const struct msp_loopback_header bye = {.kind = MSP_LOOPBACK_BYE};
    struct msp_loopback_connection *connection;
    struct msp_loopback_connection *next;

    if (runs) {
        for (connection = first_connection(); connection != NULL; connection = connection->next) {
            msp_loopback_reply(connection, msp_loopback_message(&bye, 0));
        }
        atomic_store(&is_closing, true);
        wake();
        pthread_join(thread, NULL);
        runs = false;
    }
    for (connection = connections; connection != NULL; connection = next) {
        next = connection->next;
        close_connection(connection);
    }
    connections = NULL;
    if (listener >= 0) {
        close(listener);
    }
    if (wake_fd >= 0) {
        close(wake_fd);
    }
    listener = -1;
    wake_fd  = -1;
    free((void *)outgoing);
    outgoing = NULL;
}
