/* SPDX-License-Identifier: BSD-3-Clause */
/* judge_driver.c: a network driver that is as late, as full and as unordered as its contract
 * (shmem/network/driver.h) allows, and ends the job where the library breaks it. What moves the
 * bytes is the driver that it is built with. PEs are processes of one machine.
 *
 * Every operation is held. Progress of its queue gives it to the driver below some steps later,
 * before or after others as their order allows, and completes it some steps after that; half of the
 * puts complete before, as their source is read, and take effect long after. A seed
 * (JUDGE_SEED) decides all of it, and which limits the driver announces. With 4 in it, messages
 * pass each other too (judge_message.c): this is more than the contract allows, and tests what is
 * above the network. Nothing but what OpenSHMEM promises has an order then.
 *
 * With JUDGE_LAZY, puts and atomic operations of a context with a queue of its own begin with the
 * next flush of that queue: late enough to see which quiet completes what.
 *
 * JUDGE_BUSY=N: so many of eight calls return BUSY (1), however little is outstanding.
 *
 * JUDGE_FAIL=KIND:N makes the Nth put, get, send or flush of a process fail at its completion,
 * KIND!:N at its call. A put that was DONE fails the next flush of its peer. */

#include "tests/shmem/network/judge.h"
#include "tests/shmem/network/wrapped.h"
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

struct judge judge;
static struct msp_network_services given_below;
static struct msp_network_driver driver;
static _Atomic uint8_t *own_released;
static struct place own_place = {.fd = -1};
static uint64_t last_serial;

/* ---- queues ---- */

/* What is held is something to progress, and the driver below does not know of it. */
static void open_descriptor(struct msp_network_queue *queue)
{
    const int below          = judge.real->queue_descriptor(queue->below);
    struct epoll_event event = {.events = EPOLLIN};

    if (below < 0) {
        return;
    }
    queue->held_fd    = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    queue->descriptor = epoll_create1(EPOLL_CLOEXEC);
    JUDGE((epoll_ctl(queue->descriptor, EPOLL_CTL_ADD, queue->held_fd, &event) == 0) &&
              (epoll_ctl(queue->descriptor, EPOLL_CTL_ADD, below, &event) == 0),
          "no descriptor");
}

static memspan_status_t open_queue(bool is_main, struct msp_network_queue **queue_p)
{
    struct msp_network_queue *queue = calloc(1, sizeof *queue);
    memspan_status_t status;

    JUDGE(queue != NULL, "no memory");
    queue->is_main    = is_main;
    queue->random     = (judge.seed << 32) | (uint64_t)getpid();
    queue->held_fd    = -1;
    queue->descriptor = -1;
    atomic_flag_clear(&queue->is_used);
    status = judge.real->queue_open(is_main, &queue->below);
    if (status != MEMSPAN_OK) {
        free(queue);
        return status;
    }
    if (is_main) {
        open_descriptor(queue);
    }
    *queue_p = queue;
    return MEMSPAN_OK;
}

static void close_queue(struct msp_network_queue *queue)
{
    JUDGE(queue->first == NULL, "a queue is closed with operations outstanding");
    if (queue->descriptor >= 0) {
        close(queue->descriptor);
        close(queue->held_fd);
    }
    judge.real->queue_close(queue->below);
    free(queue);
}

static memspan_status_t tell_address(struct msp_network_queue *queue, void *address,
                                     size_t *address_bytes_p)
{
    const size_t room       = *address_bytes_p;
    memspan_status_t status = judge.real->queue_address(queue->below, address, address_bytes_p);

    if (status == MEMSPAN_OK) {
        JUDGE(room - *address_bytes_p >= sizeof own_place, "no room for an address");
        own_place.pid = getpid();
        memcpy((char *)address + *address_bytes_p, &own_place, sizeof own_place);
        *address_bytes_p += sizeof own_place;
    }
    return status;
}

static unsigned progress(struct msp_network_queue *queue)
{
    unsigned count;

    judge_enter(queue);
    count = judge.real->queue_progress(queue->below);
    count += judge_step(queue, false);
    judge_leave(queue);
    return count;
}

static int descriptor_of(struct msp_network_queue *queue)
{
    return queue->descriptor;
}

static bool arm(struct msp_network_queue *queue, int *timeout_ms_p)
{
    const struct held *held;
    bool is_idle = true;
    uint64_t unused;

    judge_enter(queue);
    (void)!read(queue->held_fd, &unused, sizeof unused);
    for (held = queue->first; held != NULL; held = held->next) {
        is_idle = is_idle && (held->state == BELOW);
    }
    is_idle = is_idle && judge.real->queue_arm(queue->below, timeout_ms_p);
    judge_leave(queue);
    return is_idle;
}

/* ---- peers ---- */

static const _Atomic uint8_t *map_released(const struct place *place)
{
    char path[64];
    void *table = MAP_FAILED;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)place->pid, place->fd);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        table = mmap(NULL, SERIALS, PROT_READ, MAP_SHARED, fd, 0);
        close(fd);
    }
    return (table != MAP_FAILED) ? table : NULL;
}

static memspan_status_t open_peer(struct msp_network_queue *queue, int pe, const void *address,
                                  size_t address_bytes, struct msp_network_peer **peer_p)
{
    const size_t bytes            = address_bytes - sizeof(struct place);
    struct msp_network_peer *peer = calloc(1, sizeof *peer);
    struct place place;
    memspan_status_t status;

    JUDGE(peer != NULL, "no memory");
    status = judge.real->peer_open(queue->below, pe, address, bytes, &peer->below);
    if (status != MEMSPAN_OK) {
        free(peer);
        return status;
    }
    memcpy(&place, (const char *)address + bytes, sizeof place);
    peer->queue    = queue;
    peer->pe       = pe;
    peer->released = map_released(&place);
    *peer_p        = peer;
    return MEMSPAN_OK;
}

/* @p all: those, too, of which the caller was told DONE. */
static bool has_operations(const struct msp_network_peer *peer, bool all)
{
    const struct held *held = peer->queue->first;

    while ((held != NULL) && ((held->peer != peer) || (!all && (held->request == NULL)))) {
        held = held->next;
    }
    return held != NULL;
}

/* What was told DONE leaves, as far as the peer takes it. */
static void drain(struct msp_network_peer *peer)
{
    unsigned i;

    for (i = 0; (i < 1000) && has_operations(peer, true) && !judge_is_failed(peer); i++) {
        (void)judge_step(peer->queue, true);
        (void)judge.real->queue_progress(peer->queue->below);
    }
}

/* The rest. */
static void end_operations(struct msp_network_peer *peer)
{
    struct held **link = &peer->queue->first;

    while (*link != NULL) {
        struct held *held = *link;

        if ((held->peer == peer) && (held->state != BELOW)) {
            *link        = held->next;
            held->status = MEMSPAN_ERR_UNREACHABLE;
            judge_complete(held);
        } else {
            link = &held->next;
        }
    }
}

static void close_peer(struct msp_network_peer *peer, bool is_without_peer)
{
    JUDGE(is_without_peer || !has_operations(peer, false),
          "a peer is closed with operations outstanding");
    drain(peer);
    judge.real->peer_close(peer->below, is_without_peer); /* completes what it has */
    end_operations(peer);
    if (peer->released != NULL) {
        munmap((void *)(uintptr_t)peer->released, SERIALS);
    }
    free(peer);
}

static void describe_peer(struct msp_network_peer *peer, char *text, size_t text_bytes)
{
    judge.real->peer_describe(peer->below, text, text_bytes);
}

static void peer_failed(int pe, const char *reason)
{
    atomic_store(&judge.has_failed[pe % PES], true);
    judge.services->peer_failed(pe, reason);
}

/* ---- memory ---- */

static memspan_status_t register_memory(const struct msp_network_region *region, void *key,
                                        size_t *key_bytes_p, struct msp_network_memory **memory_p)
{
    struct msp_network_memory *memory = calloc(1, sizeof *memory);
    const struct label label          = {.serial = ++last_serial,
                                         .first  = (uint64_t)(uintptr_t)region->base,
                                         .end    = (uint64_t)(uintptr_t)region->base + region->size_bytes};
    memspan_status_t status;

    JUDGE(memory != NULL, "no memory");
    *key_bytes_p -= sizeof label;
    status = judge.real->memory_register(region, (char *)key + sizeof label, key_bytes_p,
                                         &memory->below);
    if (status != MEMSPAN_OK) {
        free(memory);
        return status;
    }
    memcpy(key, &label, sizeof label);
    *key_bytes_p += sizeof label;
    memory->serial = label.serial;
    *memory_p      = memory;
    return MEMSPAN_OK;
}

static void release_memory(struct msp_network_memory *memory)
{
    atomic_store(&own_released[memory->serial % SERIALS], 1);
    judge.real->memory_release(memory->below);
    free(memory);
}

static memspan_status_t open_key(struct msp_network_peer *peer, const void *key, size_t key_bytes,
                                 struct msp_network_key **key_p)
{
    struct msp_network_key *opened = calloc(1, sizeof *opened);
    memspan_status_t status;

    JUDGE((opened != NULL) && (key_bytes > sizeof opened->label), "a key of %zu bytes", key_bytes);
    memcpy(&opened->label, key, sizeof opened->label);
    status = judge.real->key_open(peer->below, (const char *)key + sizeof opened->label,
                                  key_bytes - sizeof opened->label, &opened->below);
    if (status != MEMSPAN_OK) {
        free(opened);
        return status;
    }
    *key_p = opened;
    return MEMSPAN_OK;
}

static void close_key(struct msp_network_peer *peer, struct msp_network_key *key)
{
    const struct held *held;

    for (held = peer->queue->first; held != NULL; held = held->next) {
        JUDGE((held->key != key) || judge_is_failed(peer) || (held->state == OVER),
              "a key of PE %d is closed with operations outstanding", peer->pe);
    }
    judge.real->key_close(peer->below, key->below);
    free(key);
}

/* ---- the table ---- */

/* Limits that the driver below serves, too: each makes the library take other paths. */
static void choose_limits(void)
{
    judge.shuffles          = (judge.seed & 4) != 0;
    judge.limits.is_ordered = judge.limits.is_ordered && ((judge.seed & 5) == 0);
    if ((judge.seed & 1) != 0) {
        judge.limits.put_message_max_bytes = 300;
        judge.limits.get_message_max_bytes = 500;
        judge.limits.signalled_max_bytes   = 1000;
    }
    if ((judge.seed & 2) != 0) {
        judge.limits.puts_pass_messages  = true;
        judge.limits.aggregate_max_bytes = 0;
        judge.limits.put_done_max_bytes  = 0;
        judge.limits.message_max_bytes   = 4 << 10;
    }
}

static memspan_status_t open_driver(const struct msp_network_job *job,
                                    struct msp_network_limits *limits_p)
{
    memspan_status_t status = judge.real->open(job, limits_p);
    const char *text        = getenv("JUDGE_SEED");
    const char *busy        = getenv("JUDGE_BUSY");
    const char *failing     = getenv("JUDGE_FAIL");
    unsigned kind;

    if (status != MEMSPAN_OK) {
        return status;
    }
    judge.seed    = (text != NULL) ? strtoull(text, NULL, 10) : 0;
    judge.busy    = (busy != NULL) ? strtoull(busy, NULL, 10) : 1;
    judge.is_lazy = getenv("JUDGE_LAZY") != NULL;
    judge.limits  = *limits_p;
    choose_limits();
    *limits_p = judge.limits;
    for (kind = PUT; (failing != NULL) && (kind <= FLUSH); kind++) {
        const size_t length = strlen(judge_names[kind]);

        if (strncmp(failing, judge_names[kind], length) == 0) {
            judge.failing_kind  = kind;
            judge.fails_at_call = (failing[length] == '!');
            judge.failing_call =
                strtoul(failing + length + (judge.fails_at_call ? 2 : 1), NULL, 10);
        }
    }
    own_place.fd = memfd_create("judge", MFD_CLOEXEC);
    JUDGE((own_place.fd >= 0) && (ftruncate(own_place.fd, SERIALS) == 0), "memfd_create");
    own_released = mmap(NULL, SERIALS, PROT_READ | PROT_WRITE, MAP_SHARED, own_place.fd, 0);
    JUDGE((void *)own_released != MAP_FAILED, "mmap");
    return MEMSPAN_OK;
}

static void close_driver(void)
{
    judge.real->close();
    munmap((void *)own_released, SERIALS);
    close(own_place.fd);
}

const struct msp_network_driver *memspan_network_driver(const struct msp_network_services *given)
{
    judge.services          = given;
    given_below             = *given;
    given_below.peer_failed = peer_failed;
    judge.real              = open_wrapped(&given_below);
    if (judge.real == NULL) {
        return NULL;
    }
    driver                  = *judge.real; /* describe() */
    driver.open             = open_driver;
    driver.close            = close_driver;
    driver.queue_open       = open_queue;
    driver.queue_close      = close_queue;
    driver.queue_address    = tell_address;
    driver.queue_progress   = progress;
    driver.queue_descriptor = descriptor_of;
    driver.queue_arm        = arm;
    driver.peer_open        = open_peer;
    driver.peer_close       = close_peer;
    driver.peer_describe    = (judge.real->peer_describe != NULL) ? describe_peer : NULL;
    driver.memory_register  = register_memory;
    driver.memory_release   = release_memory;
    driver.key_open         = open_key;
    driver.key_close        = close_key;
    driver.put              = judge_put;
    driver.get              = judge_get;
    driver.send             = judge_send;
    driver.flush            = judge_flush;
    driver.order            = NULL;
    return &driver;
}
