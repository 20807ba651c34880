/* SPDX-License-Identifier: BSD-3-Clause */
/* replay.c: does the schedule of a tape end, and does each PE then depend on all that it must?
 *
 * Each PE has a clock, the exchanges that it has begun, and knows clocks of others: of all up to
 * CLOCKS PEs; up to SETS it knows the set of PEs that have called; else clocks of a sample. A
 * message carries what its sender knows; a wait takes it. So a message to a wrong peer shows as a
 * wait that does not end or a PE that is not known of, and one to an inbox that may be in use as
 * one whose sender does not know that its receiver has left the turn's last exchange. */

#include "replay.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { CLOCKS = 1024, SETS = 4096, SAMPLE = 64 };

/* A flag of a PE: what has arrived and has not been waited for. */
struct cell {
    uint32_t value;
    uint32_t number;
    int depth;
    double time;
};

struct pe {
    size_t next; /* event */
    int depth;
    int seen;      /* the group's releases, or of its leader, that it has waited for */
    bool is_first; /* in its first exchange */
    bool waits;
    double time;
    double free; /* its network */
    uint64_t sent;
    uint64_t received;
    uint64_t sent_bytes;
    uint64_t received_bytes;
    struct { /* broadcasts, by counter: the last one, and exchanges begun then and the time before
              */
        uint32_t number;
        uint32_t begun;
        uint32_t begun_before;
    } casts[TAPE_CASTS];
};

/* A group of several PEs. */
struct host {
    int arrived;
    int released;
    int depth[2]; /* of those that have arrived; of the release */
    double time[2];
};

static struct {
    const struct replay_network *network;
    enum replay_closure closure;
    int root;
    int column[TAPE_FLAG_MAX]; /* of flags that are used */
    int columns;
    size_t known_bytes;
    int sampled; /* PEs whose clocks are kept */
    int sample[SETS];
    bool is_set;
    int *place; /* of a PE in the sample; -1 */
    struct pe *pes;
    uint8_t *known;
    struct cell *cells;
    uint8_t *carried; /* of cells */
    struct host *hosts;
    uint8_t *host_known; /* two each */
    int *ready;
    int ready_count;
} r;

static void *pages(size_t bytes)
{
    void *memory = mmap(NULL, bytes + 1, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED) {
        abort();
    }
    return memory;
}

/* ---- what PEs know ---- */

static uint8_t *known_by(int pe)
{
    return r.known + ((size_t)pe * r.known_bytes);
}

static size_t cell_of(int pe, int flag)
{
    return ((size_t)pe * (size_t)r.columns) + (size_t)r.column[flag];
}

static void merge(uint8_t *to, const uint8_t *from)
{
    size_t i;

    if (r.is_set) {
        for (i = 0; i < r.known_bytes; i++) {
            to[i] |= from[i];
        }
        return;
    }
    for (i = 0; i < r.known_bytes; i++) {
        to[i] = (to[i] > from[i]) ? to[i] : from[i];
    }
}

/* Of PE @p i of the sample, as @p pe knows it. */
static uint32_t clock_of(int pe, int i)
{
    if (r.is_set) {
        return ((known_by(pe)[i / 8] >> (i % 8)) & 1) ? UINT32_MAX : 0;
    }
    return known_by(pe)[i];
}

static void set_clock(int pe, uint32_t clock)
{
    int i = r.place[pe];

    if (r.is_set) {
        known_by(pe)[i / 8] |= (uint8_t)(1 << (i % 8));
    } else if (i >= 0) {
        known_by(pe)[i] = (uint8_t)clock;
    }
}

/* PE @p pe knows that the others have begun so many exchanges, and 1. */
static void check_closure(int pe, uint32_t clock, bool is_end)
{
    int i;

    for (i = 0; i < r.sampled; i++) {
        int other    = r.sample[i];
        bool matters = (r.closure == REPLAY_ALL) || (is_end && (clock > 1)) ||
                       ((r.closure == REPLAY_BEFORE) && (other <= pe)) || (other == r.root);

        if (matters && (clock_of(pe, i) < clock)) {
            tape_fail("PE %d does not depend on PE %d in exchange %u", pe, other, clock - 1);
            return;
        }
    }
}

/* ---- events ---- */

static void make_ready(int pe)
{
    r.pes[pe].waits          = false;
    r.ready[r.ready_count++] = pe;
}

static void arrive(int pe, const struct tape_event *event, int depth, double time)
{
    size_t at         = cell_of(event->peer, event->flag);
    struct cell *cell = &r.cells[at];
    struct pe *peer   = &r.pes[event->peer];
    int i             = r.place[event->peer];
    uint32_t cast     = event->number % TAPE_CASTS;

    if ((cell->value != 0) && ((event->kind == TAPE_STORE) || (cell->number != event->number))) {
        tape_fail("PE %d overwrites flag %d of PE %d, exchange %u", pe, event->flag, event->peer,
                  cell->number);
    }
    if ((i >= 0) && !tape_flag_is_cast(event->flag) && (event->number > TAPE_TURNS) &&
        (clock_of(pe, i) < event->number - TAPE_TURNS + 2)) {
        tape_fail("PE %d sends into the inbox of exchange %u, in which PE %d may still be", pe,
                  event->number - TAPE_TURNS, event->peer);
    }
    if ((i >= 0) && tape_flag_is_cast(event->flag) && (event->number > TAPE_CASTS) &&
        (clock_of(pe, i) < r.pes[pe].casts[cast].begun_before + 2)) {
        tape_fail("PE %d counts for broadcast %u, and PE %d may still be in that before", pe,
                  event->number, event->peer);
    }
    cell->value  = (event->kind == TAPE_ADD) ? (cell->value + event->value) : event->value;
    cell->number = event->number;
    cell->depth  = (cell->depth > depth) ? cell->depth : depth;
    cell->time   = (cell->time > time) ? cell->time : time;
    merge(r.carried + (at * r.known_bytes), known_by(pe));
    peer->received++;
    peer->received_bytes += event->bytes;
    if (peer->waits && (tape.events[peer->next].kind == TAPE_AWAIT) &&
        (tape.events[peer->next].flag == event->flag)) {
        make_ready(event->peer);
    }
}

static void send(int pe, const struct tape_event *event)
{
    struct pe *self = &r.pes[pe];
    double start;
    double arrival;

    self->time += r.network->overhead;
    start      = (self->free > self->time) ? self->free : self->time;
    self->free = start + r.network->gap + (r.network->byte_gap * event->bytes);
    arrival    = start + r.network->latency + (r.network->byte_gap * event->bytes);
    self->sent++;
    self->sent_bytes += event->bytes;
    if (event->kind == TAPE_PUT) {
        r.pes[event->peer].received++;
        r.pes[event->peer].received_bytes += event->bytes;
        self->time = arrival + r.network->latency;
    } else {
        arrive(pe, event, self->depth + 1, arrival);
    }
}

/* False: it is still to come. */
static bool await(int pe, const struct tape_event *event)
{
    struct pe *self   = &r.pes[pe];
    size_t at         = cell_of(pe, event->flag);
    struct cell *cell = &r.cells[at];
    bool adds         = tape_flag_adds(event->flag);

    if (cell->value < event->value) {
        return false;
    }
    if ((cell->value != event->value) || (cell->number != event->number) ||
        (!adds && (event->value != event->number))) {
        tape_fail("PE %d waits for %u of exchange %u, flag %d, and finds %u of %u", pe,
                  event->value, event->number, event->flag, cell->value, cell->number);
    }
    merge(known_by(pe), r.carried + (at * r.known_bytes));
    self->depth = (self->depth > cell->depth) ? self->depth : cell->depth;
    self->time  = (self->time > cell->time) ? self->time : cell->time;
    self->time += r.network->overhead * (adds ? event->value : 1);
    cell->value = 0;
    return true;
}

/* @p at: 0 of arrivals, 1 of the release. */
static void exchange_on_host(int pe, int at, bool gives)
{
    struct pe *self   = &r.pes[pe];
    int number        = pe / tape.members;
    struct host *host = &r.hosts[number];
    uint8_t *theirs   = r.host_known + (((size_t)number * 2 + (size_t)at) * r.known_bytes);

    if (gives) {
        merge(theirs, known_by(pe));
        host->depth[at] = (host->depth[at] > self->depth) ? host->depth[at] : self->depth;
        host->time[at]  = (host->time[at] > self->time) ? host->time[at] : self->time;
        return;
    }
    merge(known_by(pe), theirs);
    self->depth = (self->depth > host->depth[at]) ? self->depth : host->depth[at];
    self->time  = (self->time > host->time[at]) ? self->time : host->time[at];
}

static void wake(int pe)
{
    if (r.pes[pe].waits && (tape.events[r.pes[pe].next].kind >= TAPE_ARRIVE)) {
        make_ready(pe);
    }
}

static bool step_on_host(int pe, const struct tape_event *event)
{
    struct host *host = &r.hosts[pe / tape.members];
    int first         = pe / tape.members * tape.members;
    int end           = (first + tape.members < tape.pes) ? (first + tape.members) : tape.pes;
    int other;

    if (event->kind == TAPE_ARRIVE) {
        if (event->peer != 0) {
            host->arrived++;
            exchange_on_host(pe, 0, true);
            wake(first);
        } else if (host->arrived < end - first - 1) {
            return false;
        } else {
            host->arrived = 0;
            exchange_on_host(pe, 0, false);
        }
        return true;
    }
    if (event->peer != 0) {
        if (host->released == r.pes[pe].seen) {
            return false;
        }
        r.pes[pe].seen++;
        exchange_on_host(pe, 1, false);
        return true;
    }
    host->released++;
    exchange_on_host(pe, 1, true);
    for (other = first + 1; other < end; other++) {
        wake(other);
    }
    return true;
}

static void note_cast(struct pe *self, const struct tape_event *event)
{
    uint32_t at = event->number % TAPE_CASTS;

    if (self->casts[at].number != event->number) {
        self->casts[at].begun_before = self->casts[at].begun;
        self->casts[at].begun        = event->begun;
        self->casts[at].number       = event->number;
    }
}

static void go_on(int pe)
{
    struct pe *self = &r.pes[pe];

    for (; self->next < tape.first[pe + 1]; self->next++) {
        const struct tape_event *event = &tape.events[self->next];
        bool is_done                   = true;

        if (self->is_first && (event->begun > 1)) {
            check_closure(pe, 2, false);
            self->is_first = false;
        }
        set_clock(pe, event->begun + 1);
        if ((event->kind < TAPE_ARRIVE) && tape_flag_is_cast(event->flag)) {
            note_cast(self, event);
        }
        if (event->kind == TAPE_AWAIT) {
            is_done = await(pe, event);
        } else if (event->kind >= TAPE_ARRIVE) {
            is_done = step_on_host(pe, event);
        } else {
            send(pe, event);
        }
        if (!is_done) {
            self->waits = true;
            return;
        }
    }
}

/* ---- all ---- */

static void choose_sample(void)
{
    int i;

    r.sampled = (tape.pes <= SETS) ? tape.pes : SAMPLE;
    r.is_set  = (tape.pes > CLOCKS) && (tape.pes <= SETS);
    for (i = 0; i < tape.pes; i++) {
        r.place[i] = -1;
    }
    for (i = 0; i < r.sampled; i++) {
        r.sample[i]          = (int)((int64_t)(tape.pes - 1) * i / (r.sampled - 1));
        r.place[r.sample[i]] = i;
    }
    if (r.root >= 0) { /* the last one of the sample, where it is none */
        r.sample[r.sampled - 1]          = (r.place[r.root] < 0) ? r.root : (tape.pes - 1);
        r.place[tape.pes - 1]            = -1;
        r.place[r.sample[r.sampled - 1]] = r.sampled - 1;
    }
}

static void open_replay(void)
{
    size_t n = (size_t)tape.pes;
    size_t i;

    r.columns = 0;
    memset(r.column, 0xff, sizeof r.column);
    for (i = 0; i < tape.count; i++) {
        const struct tape_event *event = &tape.events[i];

        if (((event->kind < TAPE_PUT) || (event->kind == TAPE_AWAIT)) &&
            (r.column[event->flag] < 0)) {
            r.column[event->flag] = r.columns++;
        }
    }
    r.place = pages(n * sizeof *r.place);
    choose_sample();
    r.known_bytes = r.is_set ? (((size_t)tape.pes + 7) / 8) : (size_t)r.sampled;
    r.pes         = pages(n * sizeof *r.pes);
    r.known       = pages(n * r.known_bytes);
    r.cells       = pages(n * (size_t)r.columns * sizeof *r.cells);
    r.carried     = pages(n * (size_t)r.columns * r.known_bytes);
    r.hosts       = pages((size_t)tape.groups * sizeof *r.hosts);
    r.host_known  = pages((size_t)tape.groups * 2 * r.known_bytes);
    r.ready       = pages(n * sizeof *r.ready);
    r.ready_count = 0;
    for (i = n; i-- > 0;) {
        r.pes[i].next     = tape.first[i];
        r.pes[i].is_first = true;
        set_clock((int)i, 1);
        make_ready((int)i);
    }
}

static void close_replay(void)
{
    size_t n = (size_t)tape.pes;

    munmap(r.place, (n * sizeof *r.place) + 1);
    munmap(r.pes, (n * sizeof *r.pes) + 1);
    munmap(r.known, (n * r.known_bytes) + 1);
    munmap(r.cells, (n * (size_t)r.columns * sizeof *r.cells) + 1);
    munmap(r.carried, (n * (size_t)r.columns * r.known_bytes) + 1);
    munmap(r.hosts, ((size_t)tape.groups * sizeof *r.hosts) + 1);
    munmap(r.host_known, ((size_t)tape.groups * 2 * r.known_bytes) + 1);
    munmap(r.ready, (n * sizeof *r.ready) + 1);
}

static void check_end(int pe)
{
    const struct pe *self = &r.pes[pe];
    size_t end            = tape.first[pe + 1];
    int flag;

    if (self->next < end) {
        tape_fail("PE %d waits for ever, for flag %d of exchange %u", pe,
                  tape.events[self->next].flag, tape.events[self->next].number);
        return;
    }
    for (flag = 0; flag < TAPE_FLAG_MAX; flag++) {
        if ((r.column[flag] >= 0) && (r.cells[cell_of(pe, flag)].value != 0)) {
            tape_fail("PE %d did not wait for a message to its flag %d", pe, flag);
        }
    }
    check_closure(pe, (end == tape.first[pe]) ? 1 : (tape.events[end - 1].begun + 1), true);
}

static uint64_t greater(uint64_t a, uint64_t b)
{
    return (a > b) ? a : b;
}

static struct replay_result sum_up(void)
{
    struct replay_result result = {.least_bytes = UINT64_MAX};
    int pe;

    for (pe = 0; pe < tape.pes; pe++) {
        const struct pe *self = &r.pes[pe];

        result.rounds     = (self->depth > result.rounds) ? self->depth : result.rounds;
        result.sent       = greater(result.sent, self->sent);
        result.hottest    = greater(result.hottest, self->sent + self->received);
        result.sent_bytes = greater(result.sent_bytes, self->sent_bytes);
        result.us         = (self->time / 1e3 > result.us) ? (self->time / 1e3) : result.us;
        if ((pe != r.root) && (self->received_bytes < result.least_bytes)) {
            result.least_bytes = self->received_bytes;
        }
    }
    return result;
}

struct replay_result replay(enum replay_closure closure, int root,
                            const struct replay_network *network)
{
    struct replay_result result;
    int pe;

    r.network = network;
    r.closure = closure;
    r.root    = root;
    open_replay();
    while (r.ready_count != 0) {
        go_on(r.ready[--r.ready_count]);
    }
    for (pe = 0; pe < tape.pes; pe++) {
        check_end(pe);
    }
    result = sum_up();
    close_replay();
    return result;
}

/* ---- without a replay ---- */

void replay_check_sizes(bool is_uniform)
{
    struct tape_event seen[TAPE_FLAG_MAX];
    size_t i;

    memset(seen, 0, sizeof seen);
    for (i = 0; i < tape.count; i++) {
        const struct tape_event *event = &tape.events[i];

        if (event->kind >= TAPE_PUT) {
            continue;
        }
        if (seen[event->flag].number != event->number) {
            seen[event->flag] = *event;
        } else if ((is_uniform || (event->kind == TAPE_STORE)) &&
                   (seen[event->flag].bytes != event->bytes)) {
            tape_fail("messages of %u and %u bytes to flag %d", seen[event->flag].bytes,
                      event->bytes, event->flag);
        }
    }
}

void replay_check_wide(int pe)
{
    uint8_t *has_sent = calloc((size_t)tape.pes, 1);
    int flag          = -1;
    int count         = 0;
    int awaited       = 0;
    size_t i;

    for (i = tape.first[pe]; (has_sent != NULL) && (i < tape.first[pe + 1]); i++) {
        const struct tape_event *event = &tape.events[i];

        if (event->kind == TAPE_PUT || event->kind == TAPE_ADD) {
            flag = (flag < 0) ? event->flag : flag;
            count++;
            if (has_sent[event->peer] || (event->peer == pe) || (event->flag != flag)) {
                tape_fail("PE %d sends to PE %d, flag %d", pe, event->peer, event->flag);
            }
            has_sent[event->peer] = 1;
        } else if ((event->kind == TAPE_AWAIT) && (event->flag == flag)) {
            awaited += (int)event->value;
        }
    }
    if ((count != tape.pes - 1) || (tape_flag_adds(flag) && (awaited != count))) {
        tape_fail("PE %d sends to %d of %d PEs, and waits for %d", pe, count, tape.pes - 1,
                  awaited);
    }
    free(has_sent);
}
