/* SPDX-License-Identifier: BSD-3-Clause */
/* The gate in front of the PMIx server's port, with a clock that stands still: what it passes on is
 * as accept() would have returned it, and a connection keeps its place against later ones. */

#include "cmd/oshrun/oshrun.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { STRANGERS = 300, LIMIT_MS = 60000, NAME_BYTES = 8, MESSAGE_BYTES = 16 + NAME_BYTES };

static const char name[NAME_BYTES] = "the-job";
static struct sockaddr_in address  = {.sin_family = AF_INET};
static _Atomic int seconds;

int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    (void)clock;
    *now = (struct timespec){.tv_sec = atomic_load(&seconds)};
    return 0;
}

static int open_port(void)
{
    int fd                  = socket(AF_INET, SOCK_STREAM, 0);
    socklen_t length        = sizeof(address);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
    CHECK(getsockname(fd, (struct sockaddr *)&address, &length) == 0);
    CHECK(listen(fd, SOMAXCONN) == 0);
    return fd;
}

static int knock(void)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
    return fd;
}

/* Some bytes of a first message. */
static void say(int fd, size_t from, size_t to)
{
    uint32_t message[MESSAGE_BYTES / sizeof(uint32_t)] = {0, 0, NAME_BYTES, 0};
    memcpy(message + 4, name, NAME_BYTES);
    CHECK(send(fd, (char *)message + from, to - from, MSG_NOSIGNAL) == (ssize_t)(to - from));
}

/* False: the connection was closed instead, or there was nothing in that time. */
static bool is_passed(int port, int fd, int limit_ms)
{
    struct pollfd polled[] = {{.fd = port, .events = POLLIN}, {.fd = fd, .events = POLLRDHUP}};
    return poll(polled, 2, limit_ms) > 0 && polled[0].revents != 0;
}

static void check_message(int fd)
{
    char bytes[MESSAGE_BYTES];
    CHECK(recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT) == MESSAGE_BYTES);
    CHECK(memcmp(bytes + 16, name, NAME_BYTES) == 0);
}

/* A first message in two parts, then one byte. */
static void check_parts(int port)
{
    int client = knock();
    say(client, 0, 16);
    usleep(200000);
    say(client, 16, MESSAGE_BYTES);
    CHECK(is_passed(port, client, LIMIT_MS));
    int passed = accept(port, NULL, NULL);
    CHECK(passed >= 0 && (fcntl(passed, F_GETFL) & O_NONBLOCK) == 0);
    check_message(passed);
    struct pollfd polled = {.fd = passed, .events = POLLIN};
    CHECK(send(client, "x", 1, MSG_NOSIGNAL) == 1);
    CHECK(poll(&polled, 1, LIMIT_MS) == 1);
    close(passed);
    close(client);
}

/* libpmix of another version may call it so. */
static void check_accept4(int port)
{
    struct sockaddr_in peer;
    socklen_t length = sizeof(peer);
    int client       = knock();
    say(client, 0, MESSAGE_BYTES);
    CHECK(is_passed(port, client, LIMIT_MS));
    int passed = accept4(port, (struct sockaddr *)&peer, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
    CHECK(passed >= 0 && (fcntl(passed, F_GETFL) & O_NONBLOCK) != 0);
    CHECK((fcntl(passed, F_GETFD) & FD_CLOEXEC) != 0 && length == sizeof(peer));
    check_message(passed);
    close(passed);
    close(client);
}

/* Many silent strangers behind one PE and before another. */
static void check_flood(int port)
{
    int strangers[STRANGERS];
    int first = knock();
    for (int i = 0; i < STRANGERS; i++) {
        strangers[i] = knock();
    }
    usleep(200000);
    say(first, 0, MESSAGE_BYTES);
    CHECK(is_passed(port, first, LIMIT_MS));
    check_message(accept(port, NULL, NULL));
    int last = knock();
    say(last, 0, MESSAGE_BYTES);
    bool passed = false;
    for (int i = 0; i < LIMIT_MS / 100 && !passed; i++) {
        atomic_fetch_add(&seconds, 1);
        passed = is_passed(port, last, 100);
    }
    CHECK(passed);
    check_message(accept(port, NULL, NULL));
    for (int i = 0; i < STRANGERS; i++) {
        close(strangers[i]);
    }
}

int main(void)
{
    gate_set_name(name);
    int port = open_port();
    check_parts(port);
    check_accept4(port);
    check_flood(port);
    return 0;
}
