/* SPDX-License-Identifier: BSD-3-Clause */
/* tcp.c: the driver over TCP with a kernel that has little room, strangers at its port, and without
 * descriptors or memory, where this process is connected to itself; its choice of addresses. */

#include "shmem/network/tcp/tcp.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 6000, STRANGERS = 100, FILES_MAX = 60, WAIT_MS = 20000 };

static const struct msp_network_driver *driver;
static struct msp_network_queue *queue;
static struct msp_network_peer *peer;
static struct msp_network_key *key;
static struct msp_tcp_address address;
static uint64_t memory[WORDS];
static uint64_t source[WORDS];
static char said[512];
static char hinted[512];
static unsigned notes;
static unsigned warnings;
static unsigned failures;

/* ---- the kernel and the C library ---- */

static size_t room_bytes = SIZE_MAX; /* of the kernel, for each call */
static bool is_out_of_memory;

ssize_t __real_sendmsg(int fd, const struct msghdr *message, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags);
ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags)
{
    struct iovec piece = message->msg_iov[0];
    size_t i;

    if (room_bytes == SIZE_MAX) {
        return __real_sendmsg(fd, message, flags);
    }
    if (room_bytes == 0) {
        errno = EAGAIN;
        return -1;
    }
    for (i = 1; (piece.iov_len == 0) && (i < message->msg_iovlen); i++) {
        piece = message->msg_iov[i];
    }
    if (piece.iov_len > room_bytes) {
        piece.iov_len = room_bytes;
    }
    return __real_sendmsg(fd, &(struct msghdr){.msg_iov = &piece, .msg_iovlen = 1}, flags);
}

void *__real_malloc(size_t size_bytes);
void *__wrap_malloc(size_t size_bytes);
void *__wrap_malloc(size_t size_bytes)
{
    return is_out_of_memory ? NULL : __real_malloc(size_bytes);
}

/* ---- services ---- */

static memspan_status_t fail(memspan_status_t status, const char *call, long native_code,
                             const char *native_text, const char *hint, const char *format, ...)
{
    va_list arguments;

    (void)call;
    (void)native_code;
    (void)native_text;
    snprintf(hinted, sizeof hinted, "%s", (hint != NULL) ? hint : "");
    va_start(arguments, format);
    vsnprintf(said, sizeof said, format, arguments);
    va_end(arguments);
    return status;
}

static void note(const char *format, ...)
{
    cr_expect_not_null(format);
    notes++;
}

static void warn(const char *format, ...)
{
    cr_expect_not_null(strstr(format, "ulimit -n"));
    warnings++;
}

static void receive(const void *header, size_t header_bytes, const void *payload,
                    size_t payload_bytes)
{
    (void)header;
    (void)payload;
    cr_expect_eq(header_bytes + payload_bytes, 0, "no messages are sent here");
}

static void peer_failed(int pe, const char *reason)
{
    cr_expect_eq(pe, 0);
    cr_expect_not_null(reason);
    failures++;
}

static const struct msp_network_services services = {.version     = MSP_NETWORK_DRIVER_VERSION,
                                                     .fail        = fail,
                                                     .note        = note,
                                                     .warn        = warn,
                                                     .receive     = receive,
                                                     .peer_failed = peer_failed};

/* ---- this process ---- */

const struct msp_network_driver *memspan_network_driver(const struct msp_network_services *given);

static memspan_status_t open_driver(const char *interfaces)
{
    const struct msp_network_job job = {
        .pe = 0, .pe_count = 1, .local_count = 1, .tcp_interfaces = interfaces};
    struct msp_network_limits limits;

    driver = memspan_network_driver(&services);
    return driver->open(&job, &limits);
}

static void setup(void)
{
    const struct msp_network_region region = {.base = memory, .size_bytes = sizeof memory};
    struct msp_network_memory *registered;
    unsigned char bytes[MSP_NETWORK_KEY_MAX];
    size_t key_bytes     = sizeof bytes;
    size_t address_bytes = sizeof address;

    cr_assert_eq(open_driver(NULL), MEMSPAN_OK, "%s", said);
    cr_assert_eq(driver->queue_open(true, &queue), MEMSPAN_OK);
    cr_assert_eq(driver->queue_address(queue, &address, &address_bytes), MEMSPAN_OK);
    cr_assert_eq(driver->memory_register(&region, bytes, &key_bytes, &registered), MEMSPAN_OK);
    cr_assert_eq(driver->peer_open(queue, 0, &address, address_bytes, &peer), MEMSPAN_OK);
    cr_assert_eq(driver->key_open(peer, bytes, key_bytes, &key), MEMSPAN_OK);
}

TestSuite(tcp, .init = setup, .timeout = 60);
TestSuite(tcp_addresses, .timeout = 60);

struct count {
    struct msp_network_request request;
    unsigned completions;
    memspan_status_t status;
};

static void complete(struct msp_network_request *request, memspan_status_t status)
{
    struct count *count = (struct count *)(void *)request;

    count->completions++;
    count->status = status;
}

static void wait_for(struct msp_network_queue *used, enum msp_network_result result,
                     const struct count *count)
{
    cr_assert_neq(result, MSP_NETWORK_BUSY);
    cr_assert_neq(result, MSP_NETWORK_FAILED, "%s", said);
    while ((result == MSP_NETWORK_STARTED) && (count->completions == 0)) {
        (void)driver->queue_progress(queue);
        (void)driver->queue_progress(used);
    }
}

/* A get of the first word, by the peer of any queue. */
static void get_word(struct msp_network_queue *used, struct msp_network_peer *of, uint64_t expected)
{
    struct count count = {.request = {.complete = complete}};
    uint64_t word      = 0;

    wait_for(used,
             driver->get(of, key, (uint64_t)(uintptr_t)memory, &word, sizeof word, &count.request),
             &count);
    cr_expect_eq(count.status, MEMSPAN_OK);
    cr_expect_eq(word, expected);
}

/* ---- little room ---- */

/* A PE that waits for a word of a large put sees it as it was or as it will be. */
static void put_in_pieces(size_t piece_bytes, uint64_t before, uint64_t after)
{
    struct count count = {.request = {.complete = complete}};
    enum msp_network_result result;
    size_t front = 0;
    size_t i;

    for (i = 0; i < WORDS; i++) {
        source[i] = after;
    }
    room_bytes = piece_bytes;
    result =
        driver->put(peer, key, (uint64_t)(uintptr_t)memory, source, sizeof source, &count.request);
    cr_assert_eq(result, MSP_NETWORK_STARTED);
    while (front < WORDS) {
        (void)driver->queue_progress(queue);
        while ((front < WORDS) && (memory[front] == after)) {
            front++;
        }
        cr_assert((front == WORDS) || (memory[front] == before), "word %zu is %llx", front,
                  (unsigned long long)memory[front]);
    }
    room_bytes = SIZE_MAX;
    wait_for(queue, result, &count);
}

Test(tcp, words_are_whole)
{
    get_word(queue, peer, 0);
    put_in_pieces(13, 0, UINT64_C(0x0101010101010101));
    put_in_pieces(4099, UINT64_C(0x0101010101010101), UINT64_C(0x0202020202020202));
    put_in_pieces(3, UINT64_C(0x0202020202020202), UINT64_C(0x0303030303030303));
}

/* ---- strangers ---- */

static int call_port(void)
{
    const struct sockaddr_in to = {.sin_family = AF_INET,
                                   .sin_port   = htons(address.port),
                                   .sin_addr   = {htonl(INADDR_LOOPBACK)}};
    const int fd                = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    cr_assert_geq(fd, 0);
    cr_assert_eq(connect(fd, (const void *)&to, sizeof to), 0, "%s", strerror(errno));
    return fd;
}

/* The other end is closed by the driver. */
static void expect_closed(int fd)
{
    char byte;
    ssize_t got = -1;

    while ((got = recv(fd, &byte, 1, MSG_DONTWAIT)) < 0 && (errno == EAGAIN)) {
        (void)driver->queue_progress(queue);
    }
    cr_expect_leq(got, 0);
    close(fd);
}

Test(tcp, strangers_are_refused)
{
    const struct msp_tcp_frame frames[] = {{.kind = MSP_TCP_HELLO, .place = 1},
                                           {.kind = MSP_TCP_PUT, .size_bytes = 8},
                                           {.kind = 99},
                                           {.kind = MSP_TCP_HELLO, .size_bytes = 1}};
    size_t i;

    get_word(queue, peer, 0);
    for (i = 0; i < sizeof frames / sizeof frames[0]; i++) {
        const int fd = call_port();

        cr_assert_eq(send(fd, &frames[i], 5, 0), 5);
        get_word(queue, peer, 0);
        cr_assert_eq(send(fd, (const char *)&frames[i] + 5, sizeof frames[i] - 5, 0),
                     sizeof frames[i] - 5);
        expect_closed(fd);
    }
    get_word(queue, peer, 0);
    cr_expect_eq(failures, 0);
}

/* A child of fork() has all descriptors, so that a link that is closed here is open all the same.
 */
Test(tcp, child_has_descriptors)
{
    const int fd = call_port();
    struct pollfd event;
    pid_t child;

    get_word(queue, peer, 0);
    while (driver->queue_progress(queue) != 0) {
    }
    child = fork();
    if (child == 0) {
        alarm(60);
        pause();
        _exit(0);
    }
    cr_assert_eq(send(fd, "GET / HTTP/1.0\r\n\r\n0123456789", 28, 0), 28);
    while (notes == 0) {
        (void)driver->queue_progress(queue);
    }
    get_word(queue, peer, 0);
    while (driver->queue_progress(queue) != 0) {
    }
    cr_assert_eq(send(fd, "more", 4, 0), 4);
    event = (struct pollfd){.fd = driver->queue_descriptor(queue), .events = POLLIN};
    cr_expect_eq(poll(&event, 1, 100), 0, "what is closed still wakes the thread");
    close(fd);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void limit_files(rlim_t most)
{
    struct rlimit limit;

    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = most;
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* Of a queue of its own, whose connection takes two descriptors here. */
static void use_another_queue(void)
{
    struct msp_network_queue *another;
    struct msp_network_peer *of;

    cr_assert_eq(driver->queue_open(false, &another), MEMSPAN_OK, "%s", said);
    cr_assert_eq(driver->peer_open(another, 0, &address, sizeof address, &of), MEMSPAN_OK, "%s",
                 said);
    get_word(another, of, 0);
    driver->peer_close(of, true);
    driver->queue_close(another);
}

/* Those that say nothing give way to PEs. */
Test(tcp, silent_strangers)
{
    pid_t child;
    int ready[2];
    char byte;

    get_word(queue, peer, 0);
    cr_assert_eq(pipe(ready), 0);
    child = fork();
    if (child == 0) {
        int i;

        for (i = 0; i < STRANGERS; i++) {
            (void)call_port();
        }
        cr_assert_eq(write(ready[1], "", 1), 1);
        alarm(60);
        pause();
        _exit(0);
    }
    limit_files(FILES_MAX);
    cr_assert_eq(read(ready[0], &byte, 1), 1);
    get_word(queue, peer, 0);
    while (driver->queue_progress(queue) != 0) {
    }
    limit_files(FILES_MAX + 3); /* for the queue, and this end of its connection */
    use_another_queue();
    cr_expect_eq(warnings, 0);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/* ---- without descriptors, without memory ---- */

/* The thread sleeps meanwhile, and who connects waits. */
Test(tcp, no_descriptors)
{
    int own[FILES_MAX];
    int count      = 0;
    int timeout_ms = -1;
    struct msp_network_queue *another;
    struct pollfd event;
    int fd;

    get_word(queue, peer, 0);
    limit_files(FILES_MAX);
    fd = call_port();
    while ((own[count] = dup(STDIN_FILENO)) >= 0) {
        count++;
    }
    while (warnings == 0) {
        (void)driver->queue_progress(queue);
    }
    cr_expect_eq(driver->queue_open(false, &another), MEMSPAN_ERR_LIMIT);
    cr_expect_not_null(strstr(hinted, "ulimit -n"), "%s", hinted);
    cr_expect(driver->queue_arm(queue, &timeout_ms));
    cr_expect_geq(timeout_ms, 1);
    event = (struct pollfd){.fd = driver->queue_descriptor(queue), .events = POLLIN};
    cr_expect_eq(poll(&event, 1, 0), 0, "the thread does not sleep");
    while (count > 0) {
        close(own[--count]);
    }
    cr_assert_eq(send(fd, "no one\r\n012345678901234567890", 29, 0), 29);
    expect_closed(fd);
    timeout_ms = -1;
    cr_expect(driver->queue_arm(queue, &timeout_ms));
    cr_expect_eq(timeout_ms, -1);
}

/* An answer that can neither be sent nor kept ends the connection, and the wait for it. */
Test(tcp, no_memory)
{
    struct count count = {.request = {.complete = complete}};
    struct msp_network_request unused;
    uint64_t word = 0;

    get_word(queue, peer, 0);
    cr_assert_eq(
        driver->get(peer, key, (uint64_t)(uintptr_t)memory, &word, sizeof word, &count.request),
        MSP_NETWORK_STARTED);
    room_bytes       = 0;
    is_out_of_memory = true;
    cr_expect_eq(driver->put(peer, key, (uint64_t)(uintptr_t)memory, source, 8, &unused),
                 MSP_NETWORK_BUSY);
    while (count.completions == 0) {
        (void)driver->queue_progress(queue);
    }
    cr_expect_eq(count.status, MEMSPAN_ERR_UNREACHABLE);
    cr_expect_neq(failures, 0);
}

/* ---- interfaces ---- */

Test(tcp, interfaces)
{
    static const char *const wrong[] = {"none0", "lo,none0", ",lo",  "lo,,lo",
                                        " lo",   "lo;lo",    ",",    "loooooooooooooooooooooooo",
                                        "lo/",   "lo\n",     "lo,-", "127.0.0.1"};
    size_t i;

    for (i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        said[0] = '\0';
        cr_expect_eq(open_driver(wrong[i]), MEMSPAN_ERR_CONFIG, "%s", wrong[i]);
        cr_expect_not_null(strstr(said, "this host has no interface"), "%s: %s", wrong[i], said);
    }
    cr_expect_eq(open_driver("lo"), MEMSPAN_OK, "%s", said);
    cr_expect_eq(open_driver(""), MEMSPAN_OK, "%s", said);
}

/* ---- addresses ---- */

static unsigned own_count(void)
{
    struct msp_tcp_address own;

    cr_assert_eq(msp_tcp_address_own(&own), MEMSPAN_OK, "%s", said);
    return own.count;
}

/* 10.LAST.0.2 of a host whose other address leads nowhere. */
static memspan_status_t choose(uint8_t last, char text[MSP_TCP_TEXT])
{
    const struct msp_tcp_address theirs = {
        .network = 1,
        .port    = 1,
        .count   = 2,
        .places  = {{.prefix_bits = 24, .bytes = {10, 8, 0, 2}},
                    {.prefix_bits = 24, .bytes = {10, last, 0, 2}}}};
    struct sockaddr_storage to;

    return msp_tcp_address_choose(1, &theirs, &to, text, MSP_TCP_TEXT);
}

/* 10.7.0.1 is an interface's that has no cable at first; 10.9.0.0 is behind it. */
Test(tcp_addresses, chosen)
{
    char text[MSP_TCP_TEXT] = "";

    if ((unshare(CLONE_NEWNET) != 0) ||
        (system("ip link set lo up && ip link add v0 type veth peer name v1 && "
                "ip addr add 10.7.0.1/24 dev v0 && ip link set v0 up") != 0)) {
        cr_skip_test("no network of its own");
    }
    cr_assert_eq(open_driver(NULL), MEMSPAN_OK, "%s", said);
    cr_expect_eq(own_count(), 1, "an interface without a cable counts");
    cr_assert_eq(system("ip link set v1 up"), 0);
    while (own_count() != 2) {
        usleep(1000);
    }
    cr_assert_eq(system("ip route add 10.9.0.0/24 via 10.7.0.2"), 0);
    cr_expect_eq(choose(7, text), MEMSPAN_OK, "%s", said);
    cr_expect_str_eq(text, "tcp to 10.7.0.2 port 1");
    cr_expect_eq(choose(9, text), MEMSPAN_OK, "%s", said);
    cr_expect_str_eq(text, "tcp to 10.9.0.2 port 1");
    cr_expect_eq(choose(6, text), MEMSPAN_ERR_UNREACHABLE);
}
