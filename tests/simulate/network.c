/* SPDX-License-Identifier: BSD-3-Clause */
/* network.c: a network driver that is as late, as full and as unordered as its contract
 * (shmem/network/driver.h) allows. Its packets are in the inboxes of the simulation until their
 * time has come, and their receiver looks. */

#include "shmem/job.h"
#include "shmem/network/plugin.h"
#include "simulate.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define LATE_REPORT_NS (10 * SIM_MS)

enum kind { PUT, GET, FLUSH, SEND, ANSWER };

struct sim_packet {
    struct sim_packet *next;
    uint64_t due_ns;
    enum kind kind;
    int from;
    unsigned from_queue, to_queue; /* of an answer; 0: the main one */
    uint64_t request;              /* a number of the sender's; 0: it is told nothing */
    uint64_t serial;               /* of registered memory */
    uint64_t address;
    size_t header_bytes, size_bytes;
    char data[];
};

/* In place of a pointer to a request, which may be reused. */
struct outstanding {
    struct outstanding *next;
    uint64_t number;
    struct msp_network_request *request;
    struct msp_network_peer *peer;
    void *dest;         /* of a get */
    const void *source; /* which must not change before the completion, */
    uint64_t until_ns;  /* or the arrival, of which others may tell; NULL: any */
    uint64_t sum;
    size_t size_bytes;
};

struct msp_network_queue {
    unsigned number;
    struct outstanding *first;
    bool is_used;
};

struct msp_network_peer {
    struct msp_network_queue *queue;
    int pe;
    uint64_t last_put_ns, last_send_ns; /* at the latest they arrive then */
};

struct label {
    uint64_t serial, first, end;
};

struct msp_network_key {
    struct label label;
};

struct msp_network_memory {
    uint64_t serial;
};

int sim_network_fd = -1;

static const struct msp_network_services *services;
static struct msp_network_limits limits;
static unsigned queue_count;
static uint64_t last_number, last_serial;
static int held; /* peers, keys and registered memory */

void *__real_memcpy(void *, const void *, size_t);

/* ---- packets ---- */

static uint64_t delay(void)
{
    const struct sim_profile *profile = &sim->profile;
    uint64_t ns                       = 1 + sim_draw(profile->delay_ns);

    return (sim_draw(profile->slow) == 0) ? ns * (1 + sim_draw(100)) : ns;
}

/* The victim's host is cut from all others. */
static bool is_cut(int a, int b, uint64_t when_ns)
{
    const int host = sim->pes[sim->profile.victim].host;

    return (when_ns >= sim->cut_ns) && ((sim->pes[a].host == host) != (sim->pes[b].host == host));
}

/* From when on operations of @p pe on @p other fail; SIM_NEVER: they do not, or it is told. */
static uint64_t lost_ns(int pe, int other)
{
    if (!sim->has_struck || !sim->profile.reports_failures || (pe == other) ||
        (sim->pes[pe].host == sim->pes[other].host) || sim->pes[pe].is_told[other]) {
        return SIM_NEVER;
    }
    return is_cut(pe, other, SIM_NEVER) ? sim->cut_told_ns : sim->pes[other].lost_ns;
}

/* When the driver reports it, which may be later. */
static uint64_t told_ns(int pe, int other)
{
    const uint64_t ns = lost_ns(pe, other);

    return (ns == SIM_NEVER) ? ns : ns + LATE_REPORT_NS * (sim->seed % 3);
}

static void post(int to, struct sim_packet *packet)
{
    struct sim_packet **link = &sim->pes[to].inbox;

    while ((*link != NULL) && ((*link)->due_ns <= packet->due_ns)) {
        link = &(*link)->next;
    }
    packet->next = *link;
    *link        = packet;
    sim->packets++;
    sim->puts += (packet->kind == PUT);
    sim_wake_network(to, sim_network_due(to));
}

static void drop(struct sim_packet *packet)
{
    sim->packets--;
    sim->puts -= (packet->kind == PUT);
    sim_release(packet, sizeof *packet + packet->header_bytes + packet->size_bytes);
}

static struct sim_packet *make(const struct sim_packet *what, const void *header, const void *data)
{
    struct sim_packet *packet =
        sim_allocate(sizeof *packet + what->header_bytes + what->size_bytes);

    *packet      = *what;
    packet->from = sim_pe();
    if (header != NULL) {
        __real_memcpy(packet->data, header, what->header_bytes);
    }
    if (data != NULL) {
        __real_memcpy(packet->data + what->header_bytes, data, what->size_bytes);
    }
    return packet;
}

/* Without a step of its processor. */
static bool is_stored(const struct sim_packet *packet)
{
    return sim->profile.is_hardware && (packet->kind <= FLUSH);
}

uint64_t sim_network_due(int pe)
{
    const struct sim_packet *packet = sim->pes[pe].inbox;
    uint64_t due_ns                 = SIM_NEVER;
    int i;

    while ((packet != NULL) && ((packet->to_queue != 0) || is_stored(packet))) {
        packet = packet->next;
    }
    due_ns = (packet != NULL) ? packet->due_ns : due_ns;
    for (i = 0; i < SIM_PES; i++) {
        due_ns = (told_ns(pe, i) < due_ns) ? told_ns(pe, i) : due_ns;
    }
    return due_ns;
}

/* ---- requests ---- */

static uint64_t sum_of(const char *bytes, size_t size_bytes)
{
    uint64_t sum = 0;
    size_t i;

    for (i = 0; i < size_bytes; i++) {
        sum = (sum ^ (unsigned char)bytes[i]) * UINT64_C(1099511628211);
    }
    return sum;
}

static uint64_t expect(struct msp_network_peer *peer, struct msp_network_request *request,
                       void *dest, const void *source, size_t size_bytes, uint64_t until_ns)
{
    struct outstanding *one = calloc(1, sizeof *one);

    *one = (struct outstanding){
        peer->queue->first, ++last_number, request, peer, dest, source, until_ns, 0, size_bytes};
    one->sum           = (source != NULL) ? sum_of(source, size_bytes) : 0;
    peer->queue->first = one;
    return last_number;
}

static void complete(struct outstanding **link, memspan_status_t status)
{
    struct outstanding *one             = *link;
    struct msp_network_request *request = one->request;

    SIM_EXPECT((one->source == NULL) || (sim->now_ns > one->until_ns) ||
                   (sum_of(one->source, one->size_bytes) == one->sum),
               "PE %d has changed %zu bytes at %s, the source of an operation, before its "
               "completion",
               sim_pe(), one->size_bytes, sim_place(one->source));
    *link = one->next;
    free(one);
    if (status != MEMSPAN_OK) {
        (void)services->fail(status, "simulate", 0, NULL, NULL, "the network has failed");
    }
    request->complete(request, status);
}

static void fail_all(struct msp_network_queue *queue, int pe, const struct msp_network_peer *peer)
{
    struct outstanding **link = &queue->first;

    while (*link != NULL) {
        if (((*link)->peer->pe == pe) && ((peer == NULL) || ((*link)->peer == peer))) {
            (*link)->source = NULL;
            complete(link, MEMSPAN_ERR_UNREACHABLE);
            link = &queue->first;
        } else {
            link = &(*link)->next;
        }
    }
}

static void answer(const struct sim_packet *packet, const void *data, size_t size_bytes)
{
    const struct sim_packet what = {.due_ns     = sim->now_ns + delay(),
                                    .kind       = ANSWER,
                                    .to_queue   = packet->from_queue,
                                    .request    = packet->request,
                                    .size_bytes = size_bytes};

    if (!is_cut(sim_pe(), packet->from, what.due_ns)) {
        post(packet->from, make(&what, NULL, data));
    }
}

static void take_answer(struct msp_network_queue *queue, const struct sim_packet *packet)
{
    struct outstanding **link = &queue->first;

    while ((*link != NULL) && ((*link)->number != packet->request)) {
        link = &(*link)->next;
    }
    if (*link != NULL) {
        if ((*link)->dest != NULL) {
            __real_memcpy((*link)->dest, packet->data, packet->size_bytes);
        }
        complete(link, MEMSPAN_OK);
    }
}

/* ---- progress ---- */

static void check_memory(const struct sim_packet *packet)
{
    SIM_EXPECT(sim->pes[sim_pe()].released[packet->serial % SIM_SERIALS] == 0,
               "a put or get of PE %d reaches memory of PE %d that is released", packet->from,
               sim_pe());
}

static unsigned execute(struct msp_network_queue *queue, struct sim_packet *packet)
{
    unsigned count = 1;

    switch (packet->kind) {
    case PUT:
        check_memory(packet);
        __real_memcpy((void *)(uintptr_t)packet->address, packet->data, packet->size_bytes);
        count = limits.has_uncounted_puts ? 0 : 1;
        break;
    case GET:
        check_memory(packet);
        answer(packet, (void *)(uintptr_t)packet->address, packet->size_bytes);
        break;
    case SEND:
        services->receive(packet->data, packet->header_bytes, packet->data + packet->header_bytes,
                          packet->size_bytes);
        break;
    case FLUSH:
        answer(packet, NULL, 0);
        break;
    default:
        take_answer(queue, packet);
    }
    return count;
}

static void tell_failures(struct msp_network_queue *queue)
{
    const int mine = sim_pe();
    int pe;

    for (pe = 0; pe < sim->profile.pe_count; pe++) {
        if (sim->pes[mine].is_told[pe] || (lost_ns(mine, pe) <= sim->now_ns)) {
            fail_all(queue, pe, NULL);
        }
        if ((queue->number == 0) && (told_ns(mine, pe) <= sim->now_ns)) {
            sim->pes[mine].is_told[pe] = true;
            services->peer_failed(pe, "the simulated link is down");
        }
    }
}

static void enter(struct msp_network_queue *queue)
{
    SIM_EXPECT(!queue->is_used, "two threads of PE %d are in one queue", sim_pe());
    queue->is_used = true;
    sim_point(__builtin_return_address(0));
}

/* Of what has come: for that queue; NULL: what is stored. */
static unsigned take_all(struct msp_network_queue *queue)
{
    struct sim_packet **link = &sim->pes[sim_pe()].inbox;
    unsigned count           = 0;

    while ((*link != NULL) && ((*link)->due_ns <= sim->now_ns)) {
        struct sim_packet *packet = *link;

        if (is_stored(packet) != (queue == NULL)) {
            link = &packet->next;
        } else if ((queue != NULL) && (packet->to_queue != queue->number)) {
            link = &packet->next;
        } else {
            *link = packet->next;
            count += execute(queue, packet);
            drop(packet);
            link = &sim->pes[sim_pe()].inbox;
        }
    }
    return count;
}

void sim_network_store(int pe)
{
    const struct sim_packet *first = sim->pes[pe].inbox;

    if ((first != NULL) && (first->due_ns <= sim->now_ns)) {
        (void)take_all(NULL);
    }
}

static unsigned progress(struct msp_network_queue *queue)
{
    unsigned count;

    enter(queue);
    sim_network_store(sim_pe());
    count = take_all(queue);
    if (sim->has_struck) {
        tell_failures(queue);
    }
    queue->is_used = false;
    return count;
}

static bool arm(struct msp_network_queue *queue, int *timeout_ms_p)
{
    (void)queue;
    (void)timeout_ms_p;
    return sim_network_due(sim_pe()) > sim->now_ns;
}

static int descriptor(struct msp_network_queue *queue)
{
    return ((queue->number == 0) && sim->profile.has_descriptor) ? sim_network_fd : -1;
}

/* ---- operations ---- */

static bool is_busy(void)
{
    return sim_draw(8) < sim->profile.busy;
}

/* When it arrives, behind what it must not pass. */
static uint64_t arrival(struct msp_network_peer *peer, enum kind kind)
{
    uint64_t due_ns = sim->now_ns + delay();
    uint64_t after  = 0;

    if ((kind == FLUSH) || (limits.is_ordered && (kind != GET))) {
        after = peer->last_put_ns;
    }
    if ((kind == SEND) || ((kind == PUT) && limits.is_ordered && !limits.puts_pass_messages)) {
        after = (peer->last_send_ns > after) ? peer->last_send_ns : after;
    }
    due_ns = (due_ns <= after) ? after + 1 : due_ns;
    if (kind == PUT) {
        peer->last_put_ns = (due_ns > peer->last_put_ns) ? due_ns : peer->last_put_ns;
    } else if (kind == SEND) {
        peer->last_send_ns = due_ns;
    }
    return due_ns;
}

static enum msp_network_result start(struct msp_network_peer *peer, struct sim_packet *what,
                                     const void *header, const void *data, void *dest, bool is_done,
                                     struct msp_network_request *request)
{
    if (sim->pes[sim_pe()].is_told[peer->pe]) {
        (void)services->fail(MEMSPAN_ERR_UNREACHABLE, "simulate", 0, NULL, NULL,
                             "PE %d is not reached any more", peer->pe);
        return MSP_NETWORK_FAILED;
    }
    if (is_busy()) {
        return MSP_NETWORK_BUSY;
    }
    what->due_ns     = arrival(peer, what->kind);
    what->from_queue = peer->queue->number;
    if (!is_done) {
        const bool is_answered = (what->kind == GET) || (what->kind == FLUSH);
        struct sim_packet local;

        what->request = expect(peer, request, dest, data, what->size_bytes, what->due_ns);
        local         = (struct sim_packet){.due_ns   = sim->now_ns + delay(),
                                            .kind     = ANSWER,
                                            .to_queue = peer->queue->number,
                                            .request  = what->request};
        if (!is_answered) {
            post(sim_pe(), make(&local, NULL, NULL));
        }
    }
    if (!is_cut(sim_pe(), peer->pe, what->due_ns) && !sim->pes[peer->pe].is_closed) {
        post(peer->pe, make(what, header, data));
    }
    return is_done ? MSP_NETWORK_DONE : MSP_NETWORK_STARTED;
}

static void check_key(const struct msp_network_key *key, uint64_t address, size_t size_bytes)
{
    SIM_EXPECT((address >= key->label.first) && (address <= key->label.end) &&
                   (size_bytes <= key->label.end - address),
               "PE %d: %zu bytes are outside the memory of a key", sim_pe(), size_bytes);
}

static enum msp_network_result put(struct msp_network_peer *peer, struct msp_network_key *key,
                                   uint64_t address, const void *source, size_t size_bytes,
                                   struct msp_network_request *request)
{
    struct sim_packet what = {
        .kind = PUT, .serial = key->label.serial, .address = address, .size_bytes = size_bytes};
    bool is_done = ((peer->queue->number == 0) && (size_bytes <= limits.put_done_max_bytes)) ||
                   (sim_draw(2) == 0);
    enum msp_network_result result;

    check_key(key, address, size_bytes);
    enter(peer->queue);
    result               = start(peer, &what, NULL, source, NULL, is_done, request);
    peer->queue->is_used = false;
    return result;
}

static enum msp_network_result get(struct msp_network_peer *peer, struct msp_network_key *key,
                                   uint64_t address, void *dest, size_t size_bytes,
                                   struct msp_network_request *request)
{
    struct sim_packet what = {
        .kind = GET, .serial = key->label.serial, .address = address, .size_bytes = size_bytes};
    enum msp_network_result result;

    check_key(key, address, size_bytes);
    enter(peer->queue);
    result               = start(peer, &what, NULL, NULL, dest, false, request);
    peer->queue->is_used = false;
    return result;
}

static enum msp_network_result send(struct msp_network_peer *peer, const void *header,
                                    size_t header_bytes, const void *payload, size_t payload_bytes,
                                    struct msp_network_request *request)
{
    struct sim_packet what = {
        .kind = SEND, .header_bytes = header_bytes, .size_bytes = payload_bytes};
    enum msp_network_result result;

    SIM_EXPECT(header_bytes + payload_bytes <= limits.message_max_bytes, "a message of %zu bytes",
               header_bytes + payload_bytes);
    enter(peer->queue);
    result               = start(peer, &what, header, payload, NULL, sim_draw(2) == 0, request);
    peer->queue->is_used = false;
    return result;
}

static enum msp_network_result flush(struct msp_network_peer *peer,
                                     struct msp_network_request *request)
{
    struct sim_packet what = {.kind = FLUSH};
    enum msp_network_result result;

    enter(peer->queue);
    result               = start(peer, &what, NULL, NULL, NULL, false, request);
    peer->queue->is_used = false;
    return result;
}

/* ---- queues, peers, memory ---- */

static memspan_status_t open_queue(bool is_main, struct msp_network_queue **queue_p)
{
    struct msp_network_queue *queue = calloc(1, sizeof *queue);

    queue->number = is_main ? 0 : ++queue_count;
    *queue_p      = queue;
    return MEMSPAN_OK;
}

static void close_queue(struct msp_network_queue *queue)
{
    SIM_EXPECT(queue->first == NULL, "PE %d closes a queue with operations outstanding", sim_pe());
    free(queue);
}

static memspan_status_t address_of(struct msp_network_queue *queue, void *address,
                                   size_t *address_bytes_p)
{
    (void)queue;
    memset(address, 1, 8);
    *address_bytes_p = 8;
    return MEMSPAN_OK;
}

static memspan_status_t open_peer(struct msp_network_queue *queue, int pe, const void *address,
                                  size_t address_bytes, struct msp_network_peer **peer_p)
{
    struct msp_network_peer *peer = calloc(1, sizeof *peer);

    (void)address;
    SIM_EXPECT(address_bytes == 8, "an address of %zu bytes", address_bytes);
    held++;
    peer->queue = queue;
    peer->pe    = pe;
    *peer_p     = peer;
    return MEMSPAN_OK;
}

static void close_peer(struct msp_network_peer *peer, bool is_failed)
{
    (void)is_failed;
    held--;
    fail_all(peer->queue, peer->pe, peer);
    free(peer);
}

static memspan_status_t register_memory(const struct msp_network_region *region, void *key,
                                        size_t *key_bytes_p, struct msp_network_memory **memory_p)
{
    struct msp_network_memory *memory = calloc(1, sizeof *memory);
    const struct label label          = {.serial = ++last_serial,
                                         .first  = (uint64_t)(uintptr_t)region->base,
                                         .end    = (uint64_t)(uintptr_t)region->base + region->size_bytes};

    held++;
    __real_memcpy(key, &label, sizeof label);
    *key_bytes_p   = sizeof label;
    memory->serial = label.serial;
    *memory_p      = memory;
    return MEMSPAN_OK;
}

static void release_memory(struct msp_network_memory *memory)
{
    sim->pes[sim_pe()].released[memory->serial % SIM_SERIALS] = 1;
    held--;
    free(memory);
}

static memspan_status_t open_key(struct msp_network_peer *peer, const void *key, size_t key_bytes,
                                 struct msp_network_key **key_p)
{
    struct msp_network_key *opened = calloc(1, sizeof *opened);

    (void)peer;
    SIM_EXPECT(key_bytes == sizeof opened->label, "a key of %zu bytes", key_bytes);
    held++;
    __real_memcpy(&opened->label, key, key_bytes);
    *key_p = opened;
    return MEMSPAN_OK;
}

static void close_key(struct msp_network_peer *peer, struct msp_network_key *key)
{
    (void)peer;
    held--;
    free(key);
}

/* ---- the driver ---- */

/* The same in all PEs. */
static void choose_limits(void)
{
    uint64_t random    = sim->seed ^ 0x6c696d6974;
    const uint64_t one = sim_mix(&random);

    limits = (struct msp_network_limits){
        .put_done_max_bytes    = (one & 1) ? 0 : 1 << 10,
        .message_max_bytes     = (one & 2) ? 4 << 10 : 16 << 10,
        .put_message_max_bytes = (one & 4) ? 300 : 0,
        .get_message_max_bytes = (one & 8) ? 500 : 0,
        .signalled_max_bytes   = (one & 16) ? 1000 : 0,
        .aggregate_max_bytes   = (one & 32) ? 512 : 0,
        .is_ordered            = (one & 64) != 0,
        .puts_pass_messages    = sim->profile.is_hardware || ((one & 128) != 0),
        .target_progresses     = !sim->profile.is_hardware,
        .has_uncounted_puts    = (one & 256) != 0,
        .gets_words            = (one & 512) != 0,
        .pins_memory           = (one & 1024) != 0,
    };
}

static memspan_status_t open_driver(const struct msp_network_job *job,
                                    struct msp_network_limits *limits_p)
{
    struct sim_pe *pe = &sim->pes[job->pe];

    choose_limits();
    sim_network_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    pe->is_closed  = false;
    pe->host       = msp_job.first_local;
    *limits_p      = limits;
    return MEMSPAN_OK;
}

static void close_driver(void)
{
    struct sim_pe *pe = &sim->pes[sim_pe()];

    SIM_EXPECT(held == 0, "PE %d closes the network with %d peers, keys and registrations",
               sim_pe(), held);
    close(sim_network_fd);
    sim_network_fd = -1;
    queue_count    = 0;
    pe->is_closed  = true;
    while (pe->inbox != NULL) {
        struct sim_packet *packet = pe->inbox;

        SIM_EXPECT((packet->kind != PUT) || sim->has_struck,
                   "PE %d closes the network before a put of PE %d has arrived", sim_pe(),
                   packet->from);
        pe->inbox = packet->next;
        drop(packet);
    }
}

static void describe(char *text, size_t text_bytes)
{
    snprintf(text, text_bytes, "simulated");
}

static const struct msp_network_driver driver = {
    .version          = MSP_NETWORK_DRIVER_VERSION,
    .name             = "sim",
    .open             = open_driver,
    .close            = close_driver,
    .describe         = describe,
    .queue_open       = open_queue,
    .queue_close      = close_queue,
    .queue_address    = address_of,
    .queue_progress   = progress,
    .queue_descriptor = descriptor,
    .queue_arm        = arm,
    .peer_open        = open_peer,
    .peer_close       = close_peer,
    .memory_register  = register_memory,
    .memory_release   = release_memory,
    .key_open         = open_key,
    .key_close        = close_key,
    .put              = put,
    .get              = get,
    .send             = send,
    .flush            = flush,
};

bool __wrap_msp_network_driver_exists(const char *name)
{
    return strcmp(name, driver.name) == 0;
}

memspan_status_t __wrap_msp_network_driver_load(const char *name,
                                                const struct msp_network_services *given,
                                                const struct msp_network_driver **driver_p)
{
    (void)name;
    services  = given;
    *driver_p = &driver;
    return MEMSPAN_OK;
}
