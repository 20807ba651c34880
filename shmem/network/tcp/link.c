/* SPDX-License-Identifier: BSD-3-Clause */
/* link.c: connections, and their traffic.
 *
 * Sending never waits: items that the kernel has no space for are kept, in order. Receiving takes
 * small items through bytes[]; the rest of a body is received where it belongs, by whole words: a
 * PE that waits for a word there must not see a part of it. */

#include "shmem/network/tcp/tcp.h"
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { RECEIVES_MAX = 16 /* of one call, before other links have theirs */ };

/* ---- open, lose, close ---- */

bool msp_tcp_link_listen(struct msp_tcp_link *link, int operation, bool for_writing)
{
    struct epoll_event event = {.events = EPOLLIN | (for_writing ? (uint32_t)EPOLLOUT : 0),
                                .data   = {.ptr = link}};

    link->watches_writing = for_writing;
    return epoll_ctl(link->queue->epoll_fd, operation, link->fd, &event) == 0;
}

/* Half-open connections, whose other end is gone without a word, are found after two minutes. */
static void set_options(int fd)
{
    static const struct {
        int level;
        int name;
        int value;
    } options[] = {{IPPROTO_TCP, TCP_NODELAY, 1},
                   {SOL_SOCKET, SO_KEEPALIVE, 1},
                   {IPPROTO_TCP, TCP_KEEPIDLE, 60},
                   {IPPROTO_TCP, TCP_KEEPINTVL, 15},
                   {IPPROTO_TCP, TCP_KEEPCNT, 4}};
    size_t i;

    for (i = 0; i < sizeof options / sizeof options[0]; i++) {
        (void)setsockopt(fd, options[i].level, options[i].name, &options[i].value,
                         sizeof options[i].value);
    }
}

/* Something is to be sent, and may be. */
static bool is_sending(const struct msp_tcp_link *link)
{
    return link->hello_pending || (link->is_open && (link->rests != NULL));
}

void msp_tcp_link_watch(struct msp_tcp_link *link)
{
    if ((link->fd >= 0) && (link->watches_writing != is_sending(link))) {
        (void)msp_tcp_link_listen(link, EPOLL_CTL_MOD, is_sending(link));
    }
}

struct msp_tcp_link *msp_tcp_link_open(struct msp_network_queue *queue, int fd,
                                       struct msp_network_peer *peer)
{
    struct msp_tcp_link *link = malloc(sizeof *link);

    if (link == NULL) {
        return NULL;
    }
    memset(link, 0, offsetof(struct msp_tcp_link, bytes));
    link->queue         = queue;
    link->fd            = fd;
    link->pe            = (peer != NULL) ? peer->pe : -1;
    link->peer          = peer;
    link->is_own        = (peer != NULL);
    link->hello_pending = link->is_own;
    link->rests_end     = &link->rests;
    if (!msp_tcp_link_listen(link, EPOLL_CTL_ADD, false)) {
        free(link);
        return NULL;
    }
    if (!link->is_own) {
        link->born_ms = msp_tcp_now_ms();
        queue->strangers++;
    }
    set_options(fd);
    queue->rests += link->hello_pending ? 1 : 0;
    link->next   = queue->links;
    queue->links = link;
    return link;
}

struct msp_tcp_link *msp_tcp_link_find(struct msp_network_queue *queue, int pe)
{
    struct msp_tcp_link *link = queue->links;

    while ((link != NULL) && ((link->pe != pe) || (link->fd < 0) || link->is_leaving ||
                              !(link->is_own || link->is_shared))) {
        link = link->next;
    }
    return link;
}

/* The first waiting item is sent, or never will be. */
static void drop_rest(struct msp_tcp_link *link, memspan_status_t status)
{
    struct msp_tcp_rest *rest           = link->rests;
    struct msp_network_request *request = rest->request;

    link->rests = rest->next;
    if (link->rests == NULL) {
        link->rests_end = &link->rests;
        link->queue->rests--;
    }
    link->copied_bytes -= rest->head_bytes;
    free(rest);
    if (request != NULL) {
        request->complete(request, status);
    }
}

void msp_tcp_link_close(struct msp_tcp_link *link)
{
    struct msp_network_queue *queue = link->queue;

    if (link->fd >= 0) {
        /* A child of fork() may have the descriptor, too: epoll would go on naming the link. */
        (void)epoll_ctl(queue->epoll_fd, EPOLL_CTL_DEL, link->fd, NULL);
        close(link->fd);
        link->fd = -1;
    }
    queue->rests -= link->hello_pending ? 1 : 0;
    queue->strangers -= (!link->is_own && (link->stage != MSP_TCP_PROVED)) ? 1 : 0;
    link->stage         = MSP_TCP_PROVED;
    link->hello_pending = false;
    link->peer          = NULL;
    link->left_bytes    = 0;
    queue->has_lost     = true;
    queue->recent       = (queue->recent == link) ? NULL : queue->recent;
    while (link->rests != NULL) {
        if (link->rests->request != NULL) {
            (void)msp_tcp_fail(MEMSPAN_ERR_UNREACHABLE, NULL, 0, NULL,
                               "PE %d is not reached any more", link->pe);
        }
        drop_rest(link, MEMSPAN_ERR_UNREACHABLE);
    }
}

void msp_tcp_link_lose(struct msp_tcp_link *link, int code)
{
    struct msp_network_peer *peer = link->peer;
    const int pe                  = link->pe;
    const char *reason = (code != 0) ? strerror(code) : "the other end has closed its connection";

    if ((link->fd < 0) || msp_tcp_call_again(link, code)) {
        return;
    }
    msp_tcp_link_close(link);
    if (peer != NULL) {
        msp_tcp_peer_lose(peer, reason);
    }
    if ((pe >= 0) && !link->is_leaving) {
        msp_tcp.services->peer_failed(pe, reason);
    }
}

/* ---- sending ---- */

/* How much the kernel takes; -1: the link is lost. */
static ssize_t transmit(struct msp_tcp_link *link, struct iovec *parts, size_t count)
{
    const struct msghdr message = {.msg_iov = parts, .msg_iovlen = count};
    ssize_t sent                = sendmsg(link->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (sent >= 0) {
        return sent;
    }
    if ((errno == EAGAIN) || (errno == EINTR) || (errno == ENOBUFS)) {
        return 0;
    }
    msp_tcp_link_lose(link, errno);
    return -1;
}

/* The rest of an item, of which the kernel has @p sent bytes. */
static enum msp_network_result keep(struct msp_tcp_link *link, const struct msp_tcp_item *item,
                                    size_t sent)
{
    static const char zeros[8];
    const size_t copied_bytes = item->is_copied ? (item->payload_bytes + item->pad_bytes) : 0;
    const size_t head_bytes   = sizeof item->frame + item->frame.header_bytes + copied_bytes;
    const bool is_full        = (link->copied_bytes >= MSP_TCP_ANSWERS_MAX);
    struct msp_tcp_rest *rest = is_full ? NULL : malloc(sizeof *rest + head_bytes);
    char *at;

    if (rest == NULL) {
        if ((sent == 0) && item->may_be_busy) {
            return MSP_NETWORK_BUSY;
        }
        msp_tcp_link_lose(link, ENOMEM);
        return MSP_NETWORK_FAILED;
    }
    *rest = (struct msp_tcp_rest){.head_bytes = head_bytes, .sent_bytes = sent};
    at    = rest->head;
    memcpy(at, &item->frame, sizeof item->frame);
    at += sizeof item->frame;
    if (item->frame.header_bytes != 0) {
        memcpy(at, item->header, item->frame.header_bytes);
        at += item->frame.header_bytes;
    }
    if (!item->is_copied) {
        rest->payload       = item->payload;
        rest->payload_bytes = item->payload_bytes;
    } else if (copied_bytes != 0) {
        memcpy(at, item->payload, item->payload_bytes);
        memcpy(at + item->payload_bytes, zeros, item->pad_bytes);
    }
    /* The library's thread sends the items that the main queue keeps; those of another queue wait
     * for its caller. */
    rest->request = (item->is_copied && link->queue->is_main) ? NULL : item->request;
    link->queue->rests += (link->rests == NULL) ? 1 : 0;
    *link->rests_end = rest;
    link->rests_end  = &rest->next;
    link->copied_bytes += head_bytes;
    /* The thread may sleep already, and the caller may not come back. */
    if (link->queue->is_main) {
        msp_tcp_link_watch(link);
    }
    return (item->is_copied && (rest->request == NULL)) ? MSP_NETWORK_DONE : MSP_NETWORK_STARTED;
}

enum msp_network_result msp_tcp_link_send(struct msp_tcp_link *link,
                                          const struct msp_tcp_item *item)
{
    static const char zeros[8];
    struct iovec parts[4] = {{(void *)(uintptr_t)&item->frame, sizeof item->frame},
                             {(void *)(uintptr_t)item->header, item->frame.header_bytes},
                             {(void *)(uintptr_t)item->payload, item->payload_bytes},
                             {(void *)(uintptr_t)zeros, item->pad_bytes}};
    const size_t total =
        sizeof item->frame + item->frame.header_bytes + item->payload_bytes + item->pad_bytes;
    ssize_t sent = 0;

    if (link->is_open && (link->rests == NULL)) {
        sent = transmit(link, parts, 4);
        if (sent < 0) {
            return MSP_NETWORK_FAILED;
        }
        if ((size_t)sent == total) {
            return MSP_NETWORK_DONE;
        }
    }
    if ((sent == 0) && item->may_be_busy && (link->copied_bytes >= MSP_TCP_COPIES_MAX)) {
        return MSP_NETWORK_BUSY;
    }
    return keep(link, item, (size_t)sent);
}

bool msp_tcp_link_say(struct msp_tcp_link *link, const struct msp_tcp_frame *frame)
{
    struct iovec part  = {(void *)(uintptr_t)frame, sizeof *frame};
    const ssize_t sent = transmit(link, &part, 1);

    if ((sent > 0) && (sent < (ssize_t)sizeof *frame)) {
        msp_tcp_link_lose(link, EPROTO);
    }
    return sent == (ssize_t)sizeof *frame;
}

/* Space for a good part of the kernel's buffer. Any space would do, but makes small packets. */
static bool is_writable(const struct msp_tcp_link *link)
{
    struct pollfd ready = {.fd = link->fd, .events = POLLOUT};

    return poll(&ready, 1, 0) > 0;
}

unsigned msp_tcp_link_push(struct msp_tcp_link *link)
{
    unsigned events;

    if (!is_sending(link) || !is_writable(link)) {
        return 0;
    }
    events = link->hello_pending ? msp_tcp_hello(link) : 0;
    while (link->is_open && (link->rests != NULL)) {
        struct msp_tcp_rest *rest = link->rests;
        const size_t in_head =
            (rest->sent_bytes < rest->head_bytes) ? rest->head_bytes - rest->sent_bytes : 0;
        const size_t in_payload = (in_head != 0) ? 0 : (rest->sent_bytes - rest->head_bytes);
        struct iovec parts[2]   = {
              {rest->head + (rest->head_bytes - in_head), in_head},
              {(void *)(uintptr_t)(rest->payload + in_payload), rest->payload_bytes - in_payload}};
        const ssize_t sent = transmit(link, parts, (rest->payload_bytes != 0) ? 2 : 1);

        if (sent <= 0) {
            return events;
        }
        events++;
        rest->sent_bytes += (size_t)sent;
        if (rest->sent_bytes < rest->head_bytes + rest->payload_bytes) {
            return events;
        }
        drop_rest(link, MEMSPAN_OK);
    }
    msp_tcp_link_watch(link);
    return events;
}

/* ---- receiving ---- */

void msp_tcp_link_refuse(struct msp_tcp_link *link, const char *what)
{
    msp_tcp.services->note("tcp: %s from PE %d", what, link->pe);
    msp_tcp_link_lose(link, EPROTO);
}

static void answer(struct msp_tcp_link *link, enum msp_tcp_kind kind, uint64_t place)
{
    const struct msp_tcp_item item = {.frame     = {.kind = (uint8_t)kind, .place = place},
                                      .is_copied = true};

    (void)msp_tcp_link_send(link, &item);
}

/* A word is read in one piece. */
static void read_words(char *to, const char *from, size_t bytes)
{
    if (bytes == sizeof(uint64_t)) {
        memcpy(to, from, sizeof(uint64_t));
    } else if (bytes == sizeof(uint32_t)) {
        memcpy(to, from, sizeof(uint32_t));
    } else if (bytes == sizeof(uint16_t)) {
        memcpy(to, from, sizeof(uint16_t));
    } else {
        memcpy(to, from, bytes);
    }
}

static void answer_get(struct msp_tcp_link *link, const struct msp_tcp_frame *get)
{
    const char *from         = msp_tcp_memory_at(get->key, get->place, get->size_bytes);
    struct msp_tcp_item item = {.frame   = {.kind = MSP_TCP_DATA, .size_bytes = get->size_bytes},
                                .payload = from,
                                .payload_bytes = get->size_bytes};
    _Alignas(8) char words[MSP_TCP_WORDS_MAX];

    if (from == NULL) {
        msp_tcp_link_refuse(link, "a get of memory that is not registered");
        return;
    }
    if (get->size_bytes <= sizeof words) {
        read_words(words, from, get->size_bytes);
        item.payload   = words;
        item.is_copied = true;
    }
    (void)msp_tcp_link_send(link, &item);
}

/* Items to be sent on @p given_up are sent on @p link. */
static void take_over(struct msp_tcp_link *link, struct msp_tcp_link *given_up)
{
    if (given_up->rests != NULL) {
        link->queue->rests -= (link->rests != NULL) ? 1 : 0;
        *link->rests_end    = given_up->rests;
        link->rests_end     = given_up->rests_end;
        given_up->rests     = NULL;
        given_up->rests_end = &given_up->rests;
    }
    link->copied_bytes += given_up->copied_bytes;
    link->puts       = given_up->puts;
    link->is_unasked = given_up->is_unasked;
    link->peer       = given_up->peer;
    if (link->peer != NULL) {
        link->peer->link = link;
    }
    msp_tcp_link_close(given_up);
}

/* The link opens, unless both ends have connected and the other one's number is higher. */
void msp_tcp_link_welcome(struct msp_tcp_link *link)
{
    struct msp_tcp_link *own = NULL;

    link->queue->strangers--;
    link->stage = MSP_TCP_PROVED;
    if (link->greeting.shares != 0) {
        own = msp_tcp_link_find(link->queue, (int)link->greeting.pe);
    }
    link->pe = (int)link->greeting.pe;
    if ((own != NULL) && (msp_tcp.job.pe < link->pe)) {
        link->is_leaving = true;
        return;
    }
    link->is_shared = (link->greeting.shares != 0);
    link->is_open   = true;
    answer(link, MSP_TCP_WELCOME, 0);
    if ((own != NULL) && (link->fd >= 0)) {
        take_over(link, own);
    }
}

/* A body begins: where it belongs. */
static void begin_body(struct msp_tcp_link *link)
{
    const struct msp_tcp_frame *frame = &link->frame;

    if (frame->kind == MSP_TCP_DATA) {
        if ((link->peer == NULL) ||
            !msp_tcp_peer_expects(link->peer, frame->size_bytes, &link->to)) {
            msp_tcp_link_refuse(link, "data that was not asked for");
            return;
        }
    } else {
        link->to = msp_tcp_memory_at(frame->key, frame->place, frame->size_bytes);
        if ((link->to == NULL) && (frame->size_bytes != 0)) {
            msp_tcp_link_refuse(link, "data for memory that is not registered");
            return;
        }
    }
    link->left_bytes = frame->size_bytes;
}

static void end_body(struct msp_tcp_link *link)
{
    if (link->frame.kind == MSP_TCP_DATA) {
        msp_tcp_peer_arrived(link->peer);
        return;
    }
    atomic_thread_fence(memory_order_release); /* seen before later operations */
    link->executed++;
    if (link->frame.asks != 0) {
        answer(link, MSP_TCP_ACK, link->executed);
    }
}

/* False: not all of it is here. */
static bool take_message(struct msp_tcp_link *link, const struct msp_tcp_frame *frame)
{
    const char *header     = link->bytes + link->start + sizeof *frame;
    const size_t all_bytes = sizeof *frame + frame->header_bytes + ((frame->size_bytes + 7) & ~7u);

    if ((frame->size_bytes > MSP_TCP_MESSAGE_MAX) || (frame->header_bytes > MSP_TCP_HEADER_MAX)) {
        msp_tcp_link_refuse(link, "a message that is too long");
        return false;
    }
    if (link->end - link->start < all_bytes) {
        return false;
    }
    link->start += all_bytes;
    msp_tcp.services->receive(header, frame->header_bytes, header + frame->header_bytes,
                              frame->size_bytes);
    return true;
}

static void acknowledge(struct msp_tcp_link *link, uint64_t puts)
{
    if ((puts > link->puts) || (puts < link->acknowledged)) {
        msp_tcp_link_refuse(link, "an acknowledgement without a put");
        return;
    }
    link->acknowledged = puts;
    if (link->peer != NULL) {
        msp_tcp_peer_acknowledge(link->peer, puts);
    }
}

/* False: not all of it is here. */
static bool take_frame(struct msp_tcp_link *link)
{
    struct msp_tcp_frame frame;

    if (link->end - link->start < sizeof frame) {
        return false;
    }
    memcpy(&frame, link->bytes + link->start, sizeof frame);
    if (!link->is_open) {
        link->start += sizeof frame;
        msp_tcp_greet(link, &frame);
        return link->fd >= 0;
    }
    if (frame.kind == MSP_TCP_MESSAGE) {
        return take_message(link, &frame);
    }
    link->start += sizeof frame;
    link->frame = frame;
    if ((frame.kind == MSP_TCP_PUT) || (frame.kind == MSP_TCP_DATA)) {
        begin_body(link);
        if ((link->fd >= 0) && (link->left_bytes == 0)) {
            end_body(link);
        }
    } else if (frame.kind == MSP_TCP_GET) {
        answer_get(link, &frame);
    } else if (frame.kind == MSP_TCP_ACK) {
        acknowledge(link, frame.place);
    } else if (frame.kind == MSP_TCP_BYE) {
        link->is_leaving = true;
    } else {
        msp_tcp_link_refuse(link, "an unknown kind of frame");
    }
    return link->fd >= 0;
}

/* How many of the next @p bytes of a body end it, or a word. */
static size_t in_words(const struct msp_tcp_link *link, size_t bytes)
{
    const size_t part = (uintptr_t)(link->to + bytes) % sizeof(uint64_t);

    if (bytes >= link->left_bytes) {
        return link->left_bytes;
    }
    return (bytes > part) ? bytes - part : 0;
}

static void take_body(struct msp_tcp_link *link, const char *from, size_t bytes)
{
    if (from != NULL) {
        memcpy(link->to, from, bytes);
    }
    link->to += bytes;
    link->left_bytes -= bytes;
    if (link->left_bytes == 0) {
        end_body(link);
    }
}

/* A segment may end while a peer, against all rules, is still putting to it. */
static bool is_there(struct msp_tcp_link *link)
{
    const bool is_true = (link->frame.kind != MSP_TCP_PUT) ||
                         (msp_tcp_memory_at(link->frame.key, (uint64_t)(uintptr_t)link->to,
                                            link->left_bytes) != NULL);

    if (!is_true) {
        msp_tcp_link_refuse(link, "data for memory that is not registered any more");
    }
    return is_true;
}

/* All that is in bytes[]. */
static void consume(struct msp_tcp_link *link)
{
    bool goes_on = true;

    while (goes_on && (link->fd >= 0) && (link->start < link->end)) {
        const size_t here_bytes = link->end - link->start;

        if (link->left_bytes != 0) {
            const size_t bytes = is_there(link) ? in_words(link, here_bytes) : 0;

            if (bytes != 0) {
                link->start += bytes;
                take_body(link, link->bytes + link->start - bytes, bytes);
            }
            goes_on = (bytes != 0);
            continue;
        }
        if (link->start % sizeof(uint64_t) != 0) { /* behind a body */
            memmove(link->bytes, link->bytes + link->start, here_bytes);
            link->start = 0;
            link->end   = here_bytes;
        }
        goes_on = take_frame(link);
    }
    if (link->start == link->end) {
        link->start = 0;
        link->end   = 0;
    }
}

/* How much of a body is here in words; 0: not one, so that bytes[] takes the part that is here. */
static size_t words_here(const struct msp_tcp_link *link)
{
    int here = 0;

    return (ioctl(link->fd, FIONREAD, &here) == 0) ? in_words(link, (size_t)here) : 0;
}

/* Space in bytes[] for the next bytes to receive: the rest of a word, or items. */
static size_t free_bytes_in(struct msp_tcp_link *link)
{
    if (link->start != 0) {
        memmove(link->bytes, link->bytes + link->start, link->end - link->start);
        link->end -= link->start;
        link->start = 0;
    }
    if (link->left_bytes != 0) {
        return sizeof(uint64_t) - ((uintptr_t)(link->to + link->end) % sizeof(uint64_t));
    }
    return (link->end == 0) ? (size_t)MSP_TCP_AT_ONCE_BYTES : sizeof link->bytes - link->end;
}

/* False: there is no more. */
static bool receive_some(struct msp_tcp_link *link)
{
    const bool is_body      = (link->left_bytes != 0) && (link->start == link->end);
    const size_t body_bytes = is_body ? words_here(link) : 0;
    const size_t free_bytes = (body_bytes != 0) ? body_bytes : free_bytes_in(link);
    char *to                = (body_bytes != 0) ? link->to : link->bytes + link->end;
    ssize_t got;

    if ((body_bytes != 0) && !is_there(link)) {
        return false;
    }
    got = recv(link->fd, to, free_bytes, MSG_DONTWAIT);
    if (got <= 0) {
        if ((got == 0) || ((errno != EAGAIN) && (errno != EINTR))) {
            msp_tcp_link_lose(link, (got == 0) ? 0 : errno);
        }
        return false;
    }
    if (body_bytes != 0) {
        take_body(link, NULL, (size_t)got);
    } else {
        link->end += (size_t)got;
        consume(link);
    }
    return true;
}

unsigned msp_tcp_link_receive(struct msp_tcp_link *link)
{
    unsigned count = 0;

    while ((link->fd >= 0) && (count < RECEIVES_MAX) && receive_some(link)) {
        count++;
        if (link->left_bytes == 0) {
            break;
        }
    }
    return count;
}
