/* SPDX-License-Identifier: BSD-3-Clause */
/* listen() gives libpmix a pipe under the number of its socket, and the socket to a thread. The
 * thread accepts connections and reads ahead; those that pass go through the pipe to accept(). */

#include "server_gate.h"
#include "job.h"
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

enum { WAITING_MAX = 64, MESSAGE_MAX = 8192 };

#define MESSAGE_TIMEOUT_S 2.0

/* PMIx's header of a message, in the order of bytes of the machine until both know each other. */
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
    int taken_fd;  /* of the pipe, to read: the number that libpmix knows */
    int count;
    struct {
        int fd;
        double until_s;
    } waiting[WAITING_MAX];
};

enum verdict { WAIT, PASS, REFUSE };

static const char *job_name;
static struct gate gate = {.taken_fd = -1};

void gate_set_name(const char *name)
{
    job_name = name;
}

/* Read ahead. While the message is not complete, poll() is to report it only with more bytes. */
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
    int all_bytes = (int)(sizeof(header) + header.size_bytes);
    if (size < all_bytes) {
        setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &all_bytes, sizeof(all_bytes));
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

static void take_new(void)
{
    int low = (int)sizeof(struct header);
    int fd  = accept4(gate.socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0 && errno != EMFILE && errno != ENFILE) {
        return;
    }
    if (gate.count > 0 && (fd < 0 || gate.count == WAITING_MAX)) {
        close(gate.waiting[0].fd);
        drop(0);
    } else if (fd < 0) {
        usleep(1000);
    }
    if (fd >= 0) {
        setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &low, sizeof(low));
        gate.waiting[gate.count].fd        = fd;
        gate.waiting[gate.count++].until_s = now_s() + MESSAGE_TIMEOUT_S;
    }
}

/* Decide about a connection. False when it is no longer here. */
static bool examine(int i, int events)
{
    int fd               = gate.waiting[i].fd;
    enum verdict verdict = events != 0 ? look(fd) : WAIT;
    if (verdict == WAIT && (events & (POLLRDHUP | POLLHUP | POLLERR)) == 0 &&
        now_s() < gate.waiting[i].until_s) {
        return true;
    }
    if (verdict != PASS || write(gate.passed_fd, &fd, sizeof(fd)) != (ssize_t)sizeof(fd)) {
        close(fd);
    }
    drop(i);
    return false;
}

static void *run_gate(void *unused)
{
    (void)unused;
    for (;;) {
        struct pollfd polled[WAITING_MAX + 1] = {{.fd = gate.socket, .events = POLLIN}};
        for (int i = 0; i < gate.count; i++) {
            polled[i + 1] = (struct pollfd){.fd = gate.waiting[i].fd, .events = POLLIN | POLLRDHUP};
        }
        int polled_count = gate.count;
        if (poll(polled, (nfds_t)polled_count + 1, polled_count > 0 ? 100 : -1) < 0) {
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

/* Under this name: accept() has a transparent union in the headers. */
int gate_accept(int fd, struct sockaddr *address, socklen_t *length) __asm__("accept");

CALLED_BY_LIBRARIES int gate_accept(int fd, struct sockaddr *address, socklen_t *length)
{
    int passed = -1;
    if (fd != gate.taken_fd || fd < 0) {
        return accept4(fd, address, length, 0);
    }
    if (read(fd, &passed, sizeof(passed)) != (ssize_t)sizeof(passed)) {
        errno = EAGAIN;
        return -1;
    }
    if (address != NULL && getpeername(passed, address, length) != 0) {
        *length = 0;
    }
    return passed;
}
