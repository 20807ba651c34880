/* SPDX-License-Identifier: BSD-3-Clause */
/* tcp.c: the driver over TCP with a kernel that has little room, strangers at its port, and without
 * descriptors or memory, where this process is connected to itself. */

#include "shmem/network/tcp/tcp.h"
#include "tests/shmem/network/tcp_kernel.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
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
    cr_expect_leq(pe, 1);
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

static void setup(void)
{
    const struct msp_network_job job = {
        .pe = 0, .pe_count = 2, .local_count = 1, .is_one_network = true};
    struct msp_network_limits limits;
    const struct msp_network_region region = {.base = memory, .size_bytes = sizeof memory};
    struct msp_network_memory *registered;
    unsigned char bytes[MSP_NETWORK_KEY_MAX];
    size_t key_bytes     = sizeof bytes;
    size_t address_bytes = sizeof address;

    driver = memspan_network_driver(&services);
    cr_assert_eq(driver->open(&job, &limits), MEMSPAN_OK, "%s", said);
    cr_assert_eq(driver->queue_open(true, &queue), MEMSPAN_OK);
    cr_assert_eq(driver->queue_address(queue, &address, &address_bytes), MEMSPAN_OK);
    cr_assert_eq(driver->memory_register(&region, bytes, &key_bytes, &registered), MEMSPAN_OK);
    cr_assert_eq(driver->peer_open(queue, 0, &address, address_bytes, &peer), MEMSPAN_OK);
    cr_assert_eq(driver->key_open(peer, bytes, key_bytes, &key), MEMSPAN_OK);
}

TestSuite(tcp, .init = setup, .timeout = 60);

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
    tcp_kernel_room_bytes = piece_bytes;
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
    tcp_kernel_room_bytes = SIZE_MAX;
    wait_for(queue, result, &count);
}

Test(tcp, words_are_whole)
{
    get_word(queue, peer, 0);
    put_in_pieces(13, 0, UINT64_C(0x0101010101010101));
    put_in_pieces(4099, UINT64_C(0x0101010101010101), UINT64_C(0x0202020202020202));
    put_in_pieces(3, UINT64_C(0x0202020202020202), UINT64_C(0x0303030303030303));
}

/* Copies that the kernel has no room for fill a link up to a limit, and leave it: it is as empty as
 * before. */
Test(tcp, copies_leave)
{
    const size_t each  = MSP_TCP_COPY_MAX;
    struct count count = {.request = {.complete = complete}};
    enum msp_network_result result;
    unsigned round;
    unsigned kept;

    get_word(queue, peer, 0);
    for (round = 0; round < 3; round++) {
        tcp_kernel_room_bytes = 0;
        kept                  = 0;
        while ((result = driver->put(peer, key, (uint64_t)(uintptr_t)memory, source, each,
                                     &count.request)) == MSP_NETWORK_DONE) {
            kept++;
        }
        cr_expect_eq(result, MSP_NETWORK_BUSY);
        cr_expect_geq(kept, MSP_TCP_COPIES_MAX / each - 1, "busy behind %u copies", kept);
        cr_expect_leq(kept, MSP_TCP_COPIES_MAX / each + 1);
        tcp_kernel_room_bytes = SIZE_MAX;
        count.completions     = 0;
        while ((result = driver->flush(peer, &count.request)) == MSP_NETWORK_BUSY) {
            (void)driver->queue_progress(queue);
        }
        wait_for(queue, result, &count);
        cr_expect_eq(count.status, MEMSPAN_OK);
    }
}

/* ---- strangers ---- */

static int call_port(void)
{
    const struct sockaddr_in to = {.sin_family = AF_INET,
                                   .sin_port   = htons(address.places[0].port),
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
    const struct msp_tcp_frame frames[] = {{.kind = MSP_TCP_HELLO, .size_bytes = 2},
                                           {.kind = MSP_TCP_HELLO, .size_bytes = UINT64_MAX},
                                           {.kind = MSP_TCP_PUT, .size_bytes = 8},
                                           {.kind = MSP_TCP_MESSAGE, .header_bytes = 32},
                                           {.kind = 99},
                                           {.kind = MSP_TCP_WELCOME},
                                           {.kind = MSP_TCP_CHALLENGE},
                                           {.kind = MSP_TCP_PROOF}};
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

/* ---- greetings ---- */

static void say(int fd, struct msp_tcp_frame frame)
{
    cr_assert_eq(send(fd, &frame, sizeof frame, MSG_NOSIGNAL), sizeof frame);
}

static struct msp_tcp_frame hear(int fd)
{
    struct msp_tcp_frame frame = {.kind = 255};

    while ((recv(fd, &frame, sizeof frame, MSG_DONTWAIT) < 0) && (errno == EAGAIN)) {
        (void)driver->queue_progress(queue);
    }
    return frame;
}

/* PE 1 greets; @p key: that it takes for the listener's. */
static int greet_as(struct msp_tcp_key with, bool checks)
{
    struct msp_tcp_greeting greeting = {.asked = 77, .pe = 1, .to = 0, .shares = 1};
    const int fd                     = call_port();
    struct msp_tcp_frame challenge;

    say(fd, (struct msp_tcp_frame){.kind = MSP_TCP_HELLO, .asks = 1, .size_bytes = 1, .place = 77});
    challenge = hear(fd);
    cr_assert_eq(challenge.kind, MSP_TCP_CHALLENGE);
    greeting.answered = challenge.place;
    if (checks) {
        cr_expect_eq(challenge.size_bytes, msp_tcp_prove(&with, MSP_TCP_LISTENER, &greeting));
    }
    say(fd, (struct msp_tcp_frame){.kind  = MSP_TCP_PROOF,
                                   .place = msp_tcp_prove(&with, MSP_TCP_CALLER, &greeting)});
    return fd;
}

Test(tcp, proof_is_wrong)
{
    struct msp_tcp_key wrong = address.key;

    get_word(queue, peer, 0);
    wrong.words[1] ^= 1;
    expect_closed(greet_as(wrong, false));
    cr_expect_eq(failures, 0);
}

/* The listener's proof and number, as the caller's. */
Test(tcp, proof_is_reflected)
{
    const int fd = call_port();
    struct msp_tcp_frame challenge;

    get_word(queue, peer, 0);
    say(fd, (struct msp_tcp_frame){.kind = MSP_TCP_HELLO, .asks = 1, .size_bytes = 1, .place = 77});
    challenge = hear(fd);
    say(fd, (struct msp_tcp_frame){.kind = MSP_TCP_PROOF, .place = challenge.size_bytes});
    expect_closed(fd);
}

/* A caller does not believe what listens at the address of its PE. */
Test(tcp, listener_is_another)
{
    struct msp_tcp_address elsewhere = address;
    struct msp_network_queue *another;
    struct msp_network_peer *of;

    elsewhere.key.words[0] ^= 1;
    cr_assert_eq(driver->queue_open(false, &another), MEMSPAN_OK, "%s", said);
    cr_assert_eq(driver->peer_open(another, 0, &elsewhere, sizeof elsewhere, &of), MEMSPAN_OK);
    while (failures == 0) {
        (void)driver->queue_progress(queue);
        (void)driver->queue_progress(another);
    }
    driver->peer_close(of, true);
    driver->queue_close(another);
}

/* Nor does it tell it its own proof. */
Test(tcp, listener_has_no_proof)
{
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t place_bytes    = sizeof place;
    struct msp_tcp_address elsewhere = address;
    const int listener               = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct msp_network_peer *of;
    int fd;

    cr_assert_eq(bind(listener, (const void *)&place, sizeof place), 0);
    cr_assert_eq(listen(listener, 4), 0);
    cr_assert_eq(getsockname(listener, (void *)&place, &place_bytes), 0);
    for (unsigned i = 0; i < elsewhere.count; i++) {
        elsewhere.places[i].port = ntohs(place.sin_port);
    }
    cr_assert_eq(driver->peer_open(queue, 1, &elsewhere, sizeof elsewhere, &of), MEMSPAN_OK);
    fd = accept(listener, NULL, NULL);
    cr_assert_eq(hear(fd).kind, MSP_TCP_HELLO);
    say(fd, (struct msp_tcp_frame){.kind = MSP_TCP_CHALLENGE, .size_bytes = 5, .place = 6});
    expect_closed(fd);
    close(listener);
    driver->peer_close(of, true);
}

/* ---- a PE that does not do as others do ---- */

/* It has the key, so that it is a failed PE afterwards, and nothing else. */
Test(tcp, hostile_peer)
{
    const uint64_t place                = (uint64_t)(uintptr_t)memory;
    const struct msp_tcp_frame frames[] = {
        {.kind = MSP_TCP_DATA},
        {.kind = MSP_TCP_DATA, .size_bytes = 8},
        {.kind = MSP_TCP_ACK, .place = 1},
        {.kind = MSP_TCP_ACK, .place = UINT64_MAX},
        {.kind = MSP_TCP_HELLO, .size_bytes = 1},
        {.kind = MSP_TCP_CHALLENGE},
        {.kind = MSP_TCP_PROOF},
        {.kind = MSP_TCP_WELCOME},
        {.kind = MSP_TCP_BYE + 1},
        {.kind = 255},
        {.kind = MSP_TCP_PUT, .size_bytes = 8, .place = place + sizeof memory},
        {.kind = MSP_TCP_PUT, .size_bytes = UINT64_MAX, .place = place + 8},
        {.kind = MSP_TCP_PUT, .size_bytes = 8, .place = place - 8},
        {.kind = MSP_TCP_PUT, .key = 9, .size_bytes = 8, .place = place},
        {.kind = MSP_TCP_GET, .size_bytes = 8, .place = place + sizeof memory - 4},
        {.kind = MSP_TCP_GET, .size_bytes = UINT64_MAX - 7, .place = place + 8},
        {.kind = MSP_TCP_GET, .key = UINT32_MAX, .size_bytes = 8, .place = place},
        {.kind = MSP_TCP_MESSAGE, .header_bytes = MSP_TCP_HEADER_MAX + 1},
        {.kind = MSP_TCP_MESSAGE, .size_bytes = MSP_TCP_MESSAGE_MAX + 1},
        {.kind = MSP_TCP_MESSAGE, .size_bytes = UINT64_MAX}};
    size_t i;

    get_word(queue, peer, 0);
    for (i = 0; i < sizeof frames / sizeof frames[0]; i++) {
        const int fd = greet_as(address.key, true);

        cr_assert_eq(hear(fd).kind, MSP_TCP_WELCOME);
        failures = 0;
        say(fd, frames[i]);
        expect_closed(fd);
        cr_expect_eq(failures, 1, "%zu", i);
    }
    get_word(queue, peer, 0);
}

/* It asks on and on, and takes no answer: there is an end of what is kept for it. */
Test(tcp, answers_have_a_limit)
{
    enum { GETS = 500, GETS_MAX = 600000 };
    static struct msp_tcp_frame gets[GETS];
    const int fd  = greet_as(address.key, true);
    size_t asked  = 0;
    size_t offset = 0;
    size_t i;

    cr_assert_eq(hear(fd).kind, MSP_TCP_WELCOME);
    for (i = 0; i < GETS; i++) {
        gets[i] = (struct msp_tcp_frame){.kind       = MSP_TCP_GET,
                                         .size_bytes = MSP_TCP_WORDS_MAX,
                                         .place      = (uint64_t)(uintptr_t)memory};
    }
    tcp_kernel_room_bytes = 0;
    while ((failures == 0) && (asked < GETS_MAX)) {
        const ssize_t sent = send(fd, (const char *)gets + offset, sizeof gets - offset,
                                  MSG_DONTWAIT | MSG_NOSIGNAL);

        offset = (sent > 0) ? ((offset + (size_t)sent) % sizeof gets) : offset;
        asked += (sent > 0) ? ((size_t)sent / sizeof gets[0]) : 0;
        (void)driver->queue_progress(queue);
    }
    tcp_kernel_room_bytes = SIZE_MAX;
    cr_expect_eq(failures, 1, "%zu gets", asked);
    cr_expect_gt(asked, MSP_TCP_ANSWERS_MAX / (2 * MSP_TCP_WORDS_MAX), "%zu gets", asked);
    close(fd);
    get_word(queue, peer, 0);
}

/* Both ends of a connection find out that the other host is gone without a word. */
Test(tcp, half_open_connections_are_found)
{
    const struct msp_tcp_link *link;
    socklen_t bytes = sizeof(int);
    int is_on;
    int seconds;
    unsigned count = 0;

    get_word(queue, peer, 0);
    for (link = queue->links; link != NULL; link = link->next) {
        cr_assert_eq(getsockopt(link->fd, SOL_SOCKET, SO_KEEPALIVE, &is_on, &bytes), 0);
        cr_assert_eq(getsockopt(link->fd, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, &bytes), 0);
        cr_expect_neq(is_on, 0);
        cr_expect_leq(seconds, 60);
        count++;
    }
    cr_expect_eq(count, 2);
}

/* Of a PE that is a peer here: none of its gets waits for it. */
Test(tcp, data_that_was_not_asked_for)
{
    struct msp_network_peer *other;
    int fd;

    get_word(queue, peer, 0);
    fd = greet_as(address.key, true);
    cr_assert_eq(hear(fd).kind, MSP_TCP_WELCOME);
    cr_assert_eq(driver->peer_open(queue, 1, &address, sizeof address, &other), MEMSPAN_OK);
    say(fd, (struct msp_tcp_frame){.kind = MSP_TCP_DATA});
    expect_closed(fd);
    cr_expect_eq(failures, 1);
    driver->peer_close(other, true);
}

/* The segment ends while it is being put to. */
Test(tcp, put_outlives_memory)
{
    uint64_t *short_lived                  = aligned_alloc(64, 4096);
    const struct msp_network_region region = {.base = short_lived, .size_bytes = 4096};
    struct msp_network_memory *registered;
    unsigned char bytes[MSP_NETWORK_KEY_MAX];
    size_t key_bytes = sizeof bytes;
    uint32_t number;
    int fd;

    cr_assert_eq(driver->memory_register(&region, bytes, &key_bytes, &registered), MEMSPAN_OK);
    memcpy(&number, bytes, sizeof number);
    memset(short_lived, 0, 4096);
    memset(source, 7, 4096);
    fd = greet_as(address.key, true);
    cr_assert_eq(hear(fd).kind, MSP_TCP_WELCOME);
    say(fd, (struct msp_tcp_frame){.kind       = MSP_TCP_PUT,
                                   .key        = number,
                                   .size_bytes = 4096,
                                   .place      = (uint64_t)(uintptr_t)short_lived});
    cr_assert_eq(send(fd, source, 2048, 0), 2048);
    while (__atomic_load_n(&short_lived[255], __ATOMIC_RELAXED) != source[255]) {
        (void)driver->queue_progress(queue);
    }
    driver->memory_release(registered);
    cr_assert_eq(send(fd, (const char *)source + 2048, 2048, 0), 2048);
    expect_closed(fd);
    cr_expect_eq(short_lived[256], 0);
    free(short_lived);
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
    cr_assert_gt(child, 0);
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

/* Few at a time, each for seconds: afterwards none has a descriptor. */
Test(tcp, strangers_leave)
{
    int fds[MSP_TCP_STRANGERS_MAX + 8];
    int timeout_ms = -1;
    size_t i;

    get_word(queue, peer, 0);
    for (i = 0; i < sizeof fds / sizeof fds[0]; i++) {
        fds[i] = call_port();
    }
    while (!queue->has_callers || (queue->strangers < MSP_TCP_STRANGERS_MAX)) {
        (void)driver->queue_progress(queue);
    }
    cr_expect_eq(queue->strangers, MSP_TCP_STRANGERS_MAX);
    cr_expect(driver->queue_arm(queue, &timeout_ms));
    cr_expect(timeout_ms <= MSP_TCP_GREETING_MS, "%d", timeout_ms);
    while (queue->strangers + queue->has_callers > 0) {
        (void)driver->queue_progress(queue);
        usleep(1000);
    }
    for (i = 0; i < sizeof fds / sizeof fds[0]; i++) {
        expect_closed(fds[i]);
    }
    get_word(queue, peer, 0);
    cr_expect_eq(warnings, 0);
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
    cr_assert_gt(child, 0);
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
    tcp_kernel_room_bytes    = 0;
    tcp_kernel_has_no_memory = true;
    cr_expect_eq(driver->put(peer, key, (uint64_t)(uintptr_t)memory, source, 8, &unused),
                 MSP_NETWORK_BUSY);
    while (count.completions == 0) {
        (void)driver->queue_progress(queue);
    }
    cr_expect_eq(count.status, MEMSPAN_ERR_UNREACHABLE);
    cr_expect_neq(failures, 0);
}
