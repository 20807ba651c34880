/* SPDX-License-Identifier: BSD-3-Clause */
/* listen() gives libpmix a pipe under the number of its socket, and the socket to a thread. The
 * thread accepts connections and reads ahead; those that pass go through the pipe to accept(). */

#include "cmd/common/clock.h"
#include "cmd/oshrun/oshrun.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALLED_BY_LIBRARIES __attribute__((visibility("default")))

enum { WAITING_MAX = 128, MESSAGE_MAX = 8192 };

/* Time for a message. However many others connect, its connection has the first part for certain.
 */
#define MESSAGE_TIMEOUT_S 2.0
#define PLACE_S           0.5

/* PMIx's header of a message, in the order of bytes of the machine until both have identified each
 * other. */
struct header {
    int32_t peer;
    uint32_t tag;
    uint32_t size_bytes;
    uint32_t padding;
};

/* Connections whose first message has not arrived, the oldest first. */
struct gate {
    int socket;
    int passed_fd; /* of the pipe, to write */
    int taken_fd;  /* of the pipe, to read: libpmix's number of it */
    int count;
    struct {
        int fd;
        double since_s;
    } waiting[WAITING_MAX];
};

enum verdict { WAIT, PASS, REFUSE };

static const char *job_name;
static struct gate gate = {.taken_fd = -1};

void gate_set_name(const char *name)
{
    job_name = name;
}

/* poll() reports a connection when it has so many bytes. */
static void set_wanted(int fd, size_t size_bytes)
{
    int bytes = (int)size_bytes;
    setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &bytes, sizeof(bytes));
}

/* Read ahead. */
static enum verdict look(int fd)
{
    char bytes[MESSAGE_MAX];
    struct header header;
    ssize_t size = recv(fd, bytes, sizeof(bytes), MSG_PEEK | MSG_DONTWAIT);
    if (size < 0) {
        return errno == EAGAIN || errno == EINTR ? WAIT : REFUSE;
    }
    if ((size_t)size < sizeof(header)) {
        return size == 0 ? REFUSE : WAIT;
    }
    memcpy(&header, bytes, sizeof(header));
    if (header.size_bytes > sizeof(bytes) - sizeof(header)) {
        return REFUSE;
    }
    if ((size_t)size < sizeof(header) + header.size_bytes) {
        set_wanted(fd, sizeof(header) + header.size_bytes);
        return WAIT;
    }
    return memmem(bytes + sizeof(header), header.size_bytes, job_name, strlen(job_name) + 1) != NULL
               ? PASS
               : REFUSE;
}

static void drop(int i)
{
    gate.count--;
    memmove(&gate.waiting[i], &gate.waiting[i + 1],
            (size_t)(gate.count - i) * sizeof(gate.waiting[0]));
}

/* Is there a place for one more? Others wait in the kernel, in their order. */
static bool has_place(void)
{
    return gate.count < WAITING_MAX || cli_clock_s() - gate.waiting[0].since_s >= PLACE_S;
}

/* Its message may be there already: that is seen before it can give its place to another. */
static void take_new(void)
{
    int fd = (int)syscall(SYS_accept4, gate.socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0 && errno != EMFILE && errno != ENFILE) {
        return;
    }
    if (gate.count == WAITING_MAX ||
        (fd < 0 && gate.count > 0 && cli_clock_s() - gate.waiting[0].since_s >= PLACE_S)) {
        close(gate.waiting[0].fd);
        drop(0);
    } else if (fd < 0) {
        usleep(1000);
    }
    if (fd >= 0) {
        set_wanted(fd, sizeof(struct header));
        gate.waiting[gate.count].fd        = fd;
        gate.waiting[gate.count++].since_s = cli_clock_s();
    }
}

/* As accept() returns it. The message that libpmix gets later may be shorter than the first one. */
static bool pass(int fd)
{
    set_wanted(fd, 1);
    return fcntl(fd, F_SETFL, 0) == 0 &&
           write(gate.passed_fd, &fd, sizeof(fd)) == (ssize_t)sizeof(fd);
}

/* Decide about a connection. False when it is no longer here. */
static bool examine(int i, int events)
{
    int fd               = gate.waiting[i].fd;
    enum verdict verdict = events != 0 ? look(fd) : WAIT;
    if (verdict == WAIT && (events & (POLLRDHUP | POLLHUP | POLLERR)) == 0 &&
        cli_clock_s() - gate.waiting[i].since_s < MESSAGE_TIMEOUT_S) {
        return true;
    }
    if (verdict != PASS || !pass(fd)) {
        close(fd);
    }
    drop(i);
    return false;
}

static void *run_gate(void *unused)
{
    (void)unused;
    for (;;) {
        bool takes                            = has_place();
        struct pollfd polled[WAITING_MAX + 1] = {
            {.fd = takes ? gate.socket : -1, .events = POLLIN}};
        for (int i = 0; i < gate.count; i++) {
            polled[i + 1] = (struct pollfd){.fd = gate.waiting[i].fd, .events = POLLIN | POLLRDHUP};
        }
        int polled_count = gate.count;
        if (poll(polled, (nfds_t)polled_count + 1, !takes ? 10 : polled_count > 0 ? 100 : -1) < 0) {
            continue;
        }
        for (int i = 0, seen = 1; seen <= polled_count; seen++) {
            i += examine(i, polled[seen].revents);
        }
        if (polled[0].revents != 0) {
            take_new();
        }
    }
    return NULL;
}

/* The thread takes no signals: they are those of the server's process. */
static bool start_thread(void)
{
    sigset_t all;
    sigset_t before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int problem = pthread_create(&thread, NULL, run_gate, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return problem == 0;
}

static bool open_gate(int fd)
{
    int ends[2];
    gate.socket = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (gate.socket < 0 || fcntl(gate.socket, F_SETFL, O_NONBLOCK) != 0 ||
        pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0 || dup3(ends[0], fd, O_CLOEXEC) < 0) {
        return false;
    }
    close(ends[0]);
    gate.taken_fd  = fd;
    gate.passed_fd = ends[1];
    return start_thread();
}

static bool is_internet(int fd)
{
    int domain       = 0;
    socklen_t length = sizeof(domain);
    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 &&
           (domain == AF_INET || domain == AF_INET6);
}

CALLED_BY_LIBRARIES int listen(int fd, int backlog)
{
    if (syscall(SYS_listen, fd, backlog) != 0) {
        return -1;
    }
    if (job_name == NULL || !is_internet(fd)) {
        return 0;
    }
    if (gate.taken_fd >= 0) {
        errno = EADDRINUSE; /* there is one gate */
        return -1;
    }
    return open_gate(fd) ? 0 : -1;
}

/* Under these names: the headers' have a transparent union. */
int gate_accept(int fd, struct sockaddr *address, socklen_t *length) __asm__("accept");
int gate_accept4(int fd, struct sockaddr *address, socklen_t *length, int flags) __asm__("accept4");

CALLED_BY_LIBRARIES int gate_accept4(int fd, struct sockaddr *address, socklen_t *length, int flags)
{
    int passed = -1;
    if (fd != gate.taken_fd || fd < 0) {
        return (int)syscall(SYS_accept4, fd, address, length, flags);
    }
    if (read(fd, &passed, sizeof(passed)) != (ssize_t)sizeof(passed)) {
        errno = EAGAIN;
        return -1;
    }
    if ((flags & SOCK_NONBLOCK) != 0) {
        fcntl(passed, F_SETFL, O_NONBLOCK);
    }
    if (address != NULL && getpeername(passed, address, length) != 0) {
        *length = 0;
    }
    return passed;
}

CALLED_BY_LIBRARIES int gate_accept(int fd, struct sockaddr *address, socklen_t *length)
{
    return gate_accept4(fd, address, length, 0);
}
