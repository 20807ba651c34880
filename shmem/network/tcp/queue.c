/* SPDX-License-Identifier: BSD-3-Clause */
/* queue.c: polling links, and accepting new ones.
 *
 * A poll looks at the link on which something arrived last, which is where the next answer comes
 * from, by one call of the kernel. Every few polls it polls all the others by epoll. */

#include "shmem/network/tcp/tcp.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    POLLS_A_LOOK = 16,
    EVENTS       = 16,  /* read at once */
    FULL_MS      = 100, /* until it is tried again to accept connections */
};

/* ---- the listener ---- */

/* At one address of this host, and no other. -1, with errno. */
static int listen_at(const struct sockaddr_storage *at)
{
    const int on = 1;
    int fd       = socket(at->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
    int code;

    if ((fd >= 0) &&
        (((at->ss_family == AF_INET6) &&
          (setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on) != 0)) ||
         (bind(fd, (const void *)at, sizeof *at) != 0) || (listen(fd, SOMAXCONN) != 0))) {
        code = errno;
        close(fd);
        errno = code;
        fd    = -1;
    }
    return fd;
}

static uint16_t port_of(int fd)
{
    struct sockaddr_in6 bound = {0};
    socklen_t bound_bytes     = sizeof bound;

    (void)getsockname(fd, (void *)&bound, &bound_bytes);
    return ntohs(bound.sin6_port); /* where sockaddr_in has it, too */
}

/* At each address that peers may choose; one that is not usable yet is left out. */
static bool open_listeners(struct msp_network_queue *queue)
{
    struct epoll_event event    = {.events = EPOLLIN | EPOLLET, .data = {.ptr = NULL}};
    struct msp_tcp_address *own = queue->own;
    unsigned count              = 0;
    unsigned i;

    for (i = 0; i < own->count; i++) {
        const struct sockaddr_storage at = msp_tcp_address_socket(&own->places[i]);
        const int fd                     = listen_at(&at);

        if ((fd < 0) && (errno == EADDRNOTAVAIL)) {
            continue;
        }
        if (fd < 0) {
            break;
        }
        queue->listen_fds[count]  = fd;
        own->places[count]        = own->places[i];
        own->places[count++].port = port_of(fd);
        if (epoll_ctl(queue->epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0) {
            break;
        }
    }
    i          = (i < own->count) ? 0 : count; /* all must listen, and one at least */
    own->count = (uint16_t)count;
    return i > 0;
}

/* Of the listeners, the next that has one. -1: none has; errno is that of the kernel. */
static int accept_any(struct msp_network_queue *queue)
{
    int fd = -1;
    unsigned i;

    errno = EAGAIN;
    for (i = 0; (i < queue->own->count) && (fd < 0); i++) {
        do {
            fd = accept4(queue->listen_fds[i], NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        } while ((fd < 0) && ((errno == EINTR) || (errno == ECONNABORTED)));
        if ((fd < 0) && (errno != EAGAIN)) {
            break;
        }
    }
    return fd;
}

/* Where strangers are many, or take the last descriptors, one that has had its time gives way. */
static int accept_one(struct msp_network_queue *queue)
{
    int fd;

    if ((queue->strangers >= MSP_TCP_STRANGERS_MAX) &&
        (msp_tcp_strangers_close(queue, MSP_TCP_BUSY_MS) == 0)) {
        errno = EBUSY;
        return -1;
    }
    fd = accept_any(queue);
    if ((fd < 0) && (errno != EAGAIN) && (queue->strangers > 0)) {
        const int code = errno;

        errno = (msp_tcp_strangers_close(queue, MSP_TCP_BUSY_MS) > 0) ? EAGAIN : code;
        fd    = (errno == EAGAIN) ? accept_any(queue) : -1;
    }
    return fd;
}

static void warn_of_refusal(const char *what)
{
    msp_tcp.services->warn("PEs that connect to this one %s: %s (accept); the limit on open files "
                           "(ulimit -n) may be in the way",
                           what, strerror(errno));
}

static unsigned accept_all(struct msp_network_queue *queue)
{
    unsigned count = 0;
    int fd;

    while ((fd = accept_one(queue)) >= 0) {
        if (msp_tcp_link_open(queue, fd, NULL) == NULL) {
            warn_of_refusal("are refused");
            close(fd);
        }
        count++;
    }
    queue->has_callers = (errno != EAGAIN);
    if (queue->has_callers && (errno != EBUSY)) {
        warn_of_refusal("wait");
    }
    return count;
}

/* ---- open, close ---- */

static memspan_status_t prepare_to_listen(struct msp_network_queue *queue)
{
    queue->own        = calloc(1, sizeof *queue->own);
    queue->listen_fds = calloc(MSP_TCP_PLACES, sizeof *queue->listen_fds);
    if ((queue->own == NULL) || (queue->listen_fds == NULL)) {
        return msp_tcp_fail(MEMSPAN_ERR_NO_MEMORY, NULL, 0, NULL, "no memory for a queue");
    }
    return msp_tcp_address_own(queue->own);
}

memspan_status_t msp_tcp_queue_open(bool is_main, struct msp_network_queue **queue_p)
{
    struct msp_network_queue *queue = calloc(1, sizeof *queue);
    const char *call                = "epoll_create1";
    memspan_status_t status;

    if (queue == NULL) {
        return msp_tcp_fail(MEMSPAN_ERR_NO_MEMORY, NULL, 0, NULL, "no memory for a queue");
    }
    queue->is_main  = is_main;
    queue->epoll_fd = -1;
    status          = is_main ? prepare_to_listen(queue) : MEMSPAN_OK;
    if (status == MEMSPAN_OK) {
        queue->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
        call            = (queue->epoll_fd >= 0) ? "listen" : call;
        if ((queue->epoll_fd >= 0) && (!is_main || open_listeners(queue))) {
            *queue_p = queue;
            return MEMSPAN_OK;
        }
        status = msp_tcp_fail(MEMSPAN_ERR_LIMIT, call, errno, NULL, "no sockets for a queue");
    }
    msp_tcp_queue_close(queue);
    return status;
}

/* Links that are lost; with @p all, every one. */
static void free_links(struct msp_network_queue *queue, bool all)
{
    struct msp_tcp_link **place = &queue->links;

    while (*place != NULL) {
        struct msp_tcp_link *link = *place;

        if (all) {
            msp_tcp_link_close(link);
        }
        if (link->fd < 0) {
            *place = link->next;
            free(link);
        } else {
            place = &link->next;
        }
    }
    queue->has_lost = false;
}

void msp_tcp_queue_close(struct msp_network_queue *queue)
{
    const struct msp_tcp_item bye = {.frame = {.kind = MSP_TCP_BYE}, .is_copied = true};
    struct msp_tcp_link *link;
    unsigned i;

    for (link = queue->links; link != NULL; link = link->next) {
        if ((link->fd >= 0) && link->is_open) {
            (void)msp_tcp_link_send(link, &bye);
        }
    }
    free_links(queue, true);
    for (i = 0; (queue->listen_fds != NULL) && (i < MSP_TCP_PLACES); i++) {
        if (queue->listen_fds[i] > 0) {
            close(queue->listen_fds[i]);
        }
    }
    if (queue->epoll_fd >= 0) {
        close(queue->epoll_fd);
    }
    free(queue->own);
    free(queue->listen_fds);
    free(queue);
}

memspan_status_t msp_tcp_queue_address(struct msp_network_queue *queue, void *address,
                                       size_t *address_bytes_p)
{
    if (*address_bytes_p < sizeof *queue->own) {
        return msp_tcp_fail(MEMSPAN_ERR_INVALID, NULL, 0, NULL, "no room for an address");
    }
    memcpy(address, queue->own, sizeof *queue->own);
    *address_bytes_p = sizeof *queue->own;
    return MEMSPAN_OK;
}

/* ---- polling ---- */

static unsigned look(struct msp_network_queue *queue)
{
    struct epoll_event events[EVENTS];
    const int ready = epoll_wait(queue->epoll_fd, events, EVENTS, 0);
    unsigned count  = 0;
    int i;

    for (i = 0; i < ready; i++) {
        struct msp_tcp_link *link = events[i].data.ptr;
        unsigned received;

        if (link == NULL) {
            queue->has_callers = true;
            continue;
        }
        received = msp_tcp_link_receive(link);
        if ((received != 0) && (link->fd >= 0)) {
            queue->recent = link;
        }
        count += received;
    }
    if (queue->strangers > 0) {
        (void)msp_tcp_strangers_close(queue, MSP_TCP_GREETING_MS);
    }
    return count + (queue->has_callers ? accept_all(queue) : 0);
}

static unsigned push_all(struct msp_network_queue *queue)
{
    struct msp_tcp_link *link;
    unsigned count = 0;

    for (link = queue->links; link != NULL; link = link->next) {
        count += msp_tcp_link_push(link);
    }
    return count;
}

unsigned msp_tcp_queue_progress(struct msp_network_queue *queue)
{
    unsigned count = (queue->rests != 0) ? push_all(queue) : 0;

    if (queue->recent != NULL) {
        count += msp_tcp_link_receive(queue->recent);
    }
    if ((queue->recent == NULL) || (queue->polls++ % POLLS_A_LOOK == 0)) {
        count += look(queue);
    }
    if (queue->has_lost) {
        free_links(queue, false);
    }
    return count;
}

int msp_tcp_queue_descriptor(struct msp_network_queue *queue)
{
    return queue->epoll_fd;
}

static void wake_within(int *timeout_ms_p, int64_t most_ms)
{
    if ((*timeout_ms_p < 0) || (*timeout_ms_p > most_ms)) {
        *timeout_ms_p = (int)most_ms;
    }
}

/* Level-triggered: the descriptor is readable as long as anything is to be received. */
bool msp_tcp_queue_arm(struct msp_network_queue *queue, int *timeout_ms_p)
{
    struct msp_tcp_link *link;
    int64_t left_ms;

    queue->polls = 0; /* the next one looks everywhere */
    if (queue->strangers > 0) {
        left_ms = msp_tcp_strangers_left(queue);
        if (left_ms <= 0) {
            return false;
        }
        wake_within(timeout_ms_p, left_ms);
    }
    if (queue->has_callers) {
        wake_within(timeout_ms_p, FULL_MS);
    }
    for (link = queue->links; (queue->rests != 0) && (link != NULL); link = link->next) {
        msp_tcp_link_watch(link);
    }
    return true;
}
