/* SPDX-License-Identifier: BSD-3-Clause */
/* judge_operation.c: operations that are held, and judged. */

#include "tests/shmem/network/judge.h"
#include <string.h>
#include <unistd.h>

const char *const judge_names[] = {"put", "get", "send", "flush"};
static atomic_ulong calls[4]; /* by enum kind */

/* ---- judging ---- */

void judge_enter(struct msp_network_queue *queue)
{
    JUDGE(!atomic_flag_test_and_set(&queue->is_used), "two threads are in one queue");
}

void judge_leave(struct msp_network_queue *queue)
{
    atomic_flag_clear(&queue->is_used);
}

static void check_key(const struct msp_network_peer *peer, const struct msp_network_key *key,
                      uint64_t address, size_t size_bytes)
{
    JUDGE((address >= key->label.first) && (address <= key->label.end) &&
              (size_bytes <= key->label.end - address),
          "%zu bytes are outside the memory of a key of PE %d", size_bytes, peer->pe);
    JUDGE((peer->released == NULL) || (peer->released[key->label.serial % SERIALS] == 0),
          "a key of PE %d is of memory that is released", peer->pe);
}

static void check_request(const struct msp_network_queue *queue,
                          const struct msp_network_request *request)
{
    const struct held *held;

    for (held = queue->first; held != NULL; held = held->next) {
        JUDGE(held->request != request, "a request is used twice");
    }
}

/* ---- holding ---- */

uint64_t judge_draw(struct msp_network_queue *queue, uint64_t below)
{
    uint64_t x = (queue->random += UINT64_C(0x9e3779b97f4a7c15));

    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return ((x ^ (x >> 31)) >> 8) % below;
}

/* Whether the operation must not overtake @p earlier, which is held and of the same peer. */
static bool is_behind(const struct held *held, const struct held *earlier)
{
    switch (held->kind) {
    case PUT:
        return judge.limits.is_ordered &&
               ((earlier->kind == PUT) ||
                ((earlier->kind == SEND) && !judge.limits.puts_pass_messages));
    case SEND:
        return ((earlier->kind == SEND) && !(held->passes && earlier->is_passed)) ||
               ((earlier->kind == PUT) && judge.limits.is_ordered);
    case FLUSH:
        return earlier->kind == PUT;
    default:
        return false;
    }
}

static bool may_go(const struct held *held)
{
    const struct held *earlier;

    for (earlier = held->queue->first; earlier != held; earlier = earlier->next) {
        if ((earlier->state == HELD) && (earlier->peer == held->peer) && is_behind(held, earlier)) {
            return false;
        }
    }
    return true;
}

static void completed_below(struct msp_network_request *request, memspan_status_t status)
{
    struct held *held = (struct held *)(void *)request;

    held->state  = OVER;
    held->status = status;
    held->due    = held->queue->step + judge_draw(held->queue, STEPS);
}

static void issue(struct held *held)
{
    struct msp_network_peer *below = held->peer->below;
    enum msp_network_result result;

    if ((held->kind == PUT) || (held->kind == GET)) {
        check_key(held->peer, held->key, held->address, held->size_bytes);
    }
    held->state = BELOW;
    switch (held->kind) {
    case PUT:
        result = judge.real->put(below, held->key->below, held->address, held->local,
                                 held->size_bytes, &held->below);
        break;
    case GET:
        result = judge.real->get(below, held->key->below, held->address, held->local,
                                 held->size_bytes, &held->below);
        break;
    case SEND:
        result = judge.real->send(below, held->header, held->header_bytes, held->local,
                                  held->size_bytes, &held->below);
        break;
    default:
        result = judge.real->flush(below, &held->below);
    }
    if (result == MSP_NETWORK_BUSY) {
        held->state = HELD;
    } else if (result != MSP_NETWORK_STARTED) {
        completed_below(&held->below,
                        (result == MSP_NETWORK_DONE) ? MEMSPAN_OK : MEMSPAN_ERR_UNREACHABLE);
    }
}

void judge_complete(struct held *held)
{
    struct msp_network_request *request = held->request;
    memspan_status_t status             = held->status;
    bool fails                          = held->fails;

    held->queue->count--;
    if ((held->kind == FLUSH) && held->peer->has_failed_put) {
        fails = true;
    }
    if (fails && (request == NULL)) {
        held->peer->has_failed_put = true;
    } else if (fails) {
        status = judge.services->fail(MEMSPAN_ERR_DRIVER, "judge", 1, "as it was asked to", NULL,
                                      "a %s has failed", judge_names[held->kind]);
    }
    free(held);
    if (request != NULL) {
        request->complete(request, status);
    }
}

/* The source of a put may be used again; only a flush shows that it has taken effect. */
static void read_early(struct held *held)
{
    struct msp_network_request *request = held->request;

    held->reads_early = false;
    held->request     = NULL;
    held->due         = held->queue->step + judge_draw(held->queue, STEPS_READ);
    request->complete(request, MEMSPAN_OK);
}

unsigned judge_step(struct msp_network_queue *queue, bool all)
{
    struct held **link = &queue->first;
    struct held *held;
    unsigned count = 0;

    queue->step++;
    for (held = queue->first; held != NULL; held = held->next) {
        if ((held->state != HELD) || (!all && (held->due > queue->step))) {
            /* not yet */
        } else if (held->reads_early) {
            read_early(held);
        } else if (may_go(held)) {
            issue(held);
        }
        count += (held->state != BELOW) ? 1 : 0;
    }
    while ((held = *link) != NULL) {
        if ((held->state == OVER) && (all || (held->due <= queue->step))) {
            *link = held->next;
            judge_complete(held);
        } else {
            link = &held->next;
        }
    }
    return count;
}

static bool fails_now(enum kind kind)
{
    return (atomic_fetch_add(&calls[kind], 1) + 1 == judge.failing_call) &&
           (kind == judge.failing_kind);
}

bool judge_is_failed(const struct msp_network_peer *peer)
{
    return atomic_load(&judge.has_failed[peer->pe % PES]);
}

static bool is_busy(const struct msp_network_peer *peer)
{
    return !judge_is_failed(peer) &&
           ((peer->queue->count >= HELD_MAX) || (judge_draw(peer->queue, 8) < judge.busy));
}

/* Whether the caller may be told DONE, though the operation is held: the buffers are copied. Only
 * the main queue is progressed by others than its caller. */
static bool is_copied(const struct msp_network_peer *peer, const struct held *what)
{
    return peer->queue->is_main && !judge_is_failed(peer) &&
           (((what->kind == PUT) && (what->size_bytes <= judge.limits.put_done_max_bytes)) ||
            ((what->kind == SEND) && (judge_draw(peer->queue, 2) == 0)));
}

/* With JUDGE_LAZY, operations of a context with a queue of its own begin with the next flush. */
static uint64_t due_of(struct msp_network_queue *queue, const struct held *held)
{
    const bool waits =
        judge.is_lazy && !queue->is_main && ((held->kind == PUT) || judge_message_is_atomic(held));

    return waits ? UINT64_MAX : queue->step + judge_draw(queue, STEPS);
}

static void end_laziness(struct msp_network_queue *queue)
{
    struct held *held;

    for (held = queue->first; held != NULL; held = held->next) {
        held->due = (held->due == UINT64_MAX) ? queue->step : held->due;
    }
}

static void copy_buffers(struct held *held, const struct held *what)
{
    if (what->header_bytes != 0) {
        held->header = memcpy(held->copy, what->header, what->header_bytes);
    }
    if (what->size_bytes != 0) {
        held->local = memcpy(held->copy + what->header_bytes, what->local, what->size_bytes);
    }
}

static enum msp_network_result hold(struct msp_network_peer *peer, const struct held *what,
                                    struct msp_network_request *request)
{
    struct msp_network_queue *queue = peer->queue;
    const bool copies               = is_copied(peer, what);
    const bool loosens              = judge.shuffles && (what->kind == SEND);
    const bool reads_early =
        !copies && (what->kind == PUT) && !judge_is_failed(peer) && (judge_draw(queue, 2) == 0);
    const bool keeps   = copies || loosens || reads_early;
    struct held **link = &queue->first;
    const uint64_t one = 1;
    struct held *held;

    check_request(queue, request);
    if (is_busy(peer)) {
        return MSP_NETWORK_BUSY;
    }
    held = malloc(sizeof *held + (keeps ? what->header_bytes + what->size_bytes : 0));
    JUDGE(held != NULL, "no memory");
    *held                = *what;
    held->below.complete = completed_below;
    held->queue          = queue;
    held->peer           = peer;
    held->request        = copies ? NULL : request;
    held->due            = due_of(queue, what);
    held->reads_early    = reads_early;
    held->fails          = fails_now(what->kind);
    if (held->fails && judge.fails_at_call) {
        free(held);
        (void)judge.services->fail(MEMSPAN_ERR_DRIVER, "judge", 1, "as it was asked to", NULL,
                                   "a %s has failed", judge_names[what->kind]);
        return MSP_NETWORK_FAILED;
    }
    if (keeps) {
        copy_buffers(held, what);
    }
    if (loosens) {
        judge_message_loosen(held);
    }
    if (what->kind == FLUSH) {
        end_laziness(queue);
    }
    while (*link != NULL) {
        link = &(*link)->next;
    }
    *link = held;
    queue->count++;
    (void)!write(queue->held_fd, &one, sizeof one);
    return copies ? MSP_NETWORK_DONE : MSP_NETWORK_STARTED;
}

static enum msp_network_result judged(struct msp_network_peer *peer, const struct held *what,
                                      struct msp_network_request *request)
{
    enum msp_network_result result;

    judge_enter(peer->queue);
    if ((what->kind == PUT) || (what->kind == GET)) {
        check_key(peer, what->key, what->address, what->size_bytes);
    }
    result = hold(peer, what, request);
    judge_leave(peer->queue);
    return result;
}

/* ---- operations ---- */

enum msp_network_result judge_put(struct msp_network_peer *peer, struct msp_network_key *key,
                                  uint64_t address, const void *source, size_t size_bytes,
                                  struct msp_network_request *request)
{
    return judged(peer,
                  &(struct held){.kind       = PUT,
                                 .key        = key,
                                 .address    = address,
                                 .local      = (void *)(uintptr_t)source,
                                 .size_bytes = size_bytes},
                  request);
}

enum msp_network_result judge_get(struct msp_network_peer *peer, struct msp_network_key *key,
                                  uint64_t address, void *dest, size_t size_bytes,
                                  struct msp_network_request *request)
{
    return judged(
        peer,
        &(struct held){
            .kind = GET, .key = key, .address = address, .local = dest, .size_bytes = size_bytes},
        request);
}

enum msp_network_result judge_send(struct msp_network_peer *peer, const void *header,
                                   size_t header_bytes, const void *payload, size_t payload_bytes,
                                   struct msp_network_request *request)
{
    JUDGE(header_bytes + payload_bytes <= judge.limits.message_max_bytes, "a message of %zu bytes",
          header_bytes + payload_bytes);
    return judged(peer,
                  &(struct held){.kind         = SEND,
                                 .header       = header,
                                 .header_bytes = header_bytes,
                                 .local        = (void *)(uintptr_t)payload,
                                 .size_bytes   = payload_bytes},
                  request);
}

enum msp_network_result judge_flush(struct msp_network_peer *peer,
                                    struct msp_network_request *request)
{
    return judged(peer, &(struct held){.kind = FLUSH}, request);
}
