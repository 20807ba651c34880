/* SPDX-License-Identifier: BSD-3-Clause */
/* queue.c: polling links, and accepting new ones.
 *
 * A poll looks at the link on which something arrived last, which is where the next answer comes
 * from, by one call of the kernel. Every few polls it asks epoll for all the others. */

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

/* IPv6 with IPv4 mapped, or IPv4 where the kernel has no IPv6. */
static int listen_anywhere(void)
{
    const struct sockaddr_in6 any6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT};
    const struct sockaddr_in any   = {.sin_family = AF_INET};
    const int off                  = 0;
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);

    if ((fd >= 0) &&
        ((setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) != 0) ||
         (bind(fd, (const void *)&any6, sizeof any6) != 0) || (listen(fd, SOMAXCONN) != 0))) {
        close(fd);
        fd = -1;
    }
    if (fd >= 0) {
        return fd;
    }
    fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
    if ((fd >= 0) &&
        ((bind(fd, (const void *)&any, sizeof any) != 0) || (listen(fd, SOMAXCONN) != 0))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static bool open_listener(struct msp_network_queue *queue)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data = {.ptr = NULL}};

    queue->listen_fd = listen_anywhere();
    return (queue->listen_fd >= 0) &&
           (epoll_ctl(queue->epoll_fd, EPOLL_CTL_ADD, queue->listen_fd, &event) == 0);
}

/* The oldest connection of which nothing is known, as PEs greet at once. False: there is none. */
static bool drop_silent(struct msp_network_queue *queue)
{
    struct msp_tcp_link *oldest = NULL;
    struct msp_tcp_link *link;

    for (link = queue->links; link != NULL; link = link->next) {
        oldest = ((link->fd >= 0) && (link->pe < 0)) ? link : oldest;
    }
    if (oldest == NULL) {
        return false;
    }
    (void)msp_tcp_link_receive(oldest);
    if (oldest->pe < 0) {
        msp_tcp_link_close(oldest);
    }
    return true;
}

static int accept_one(struct msp_network_queue *queue)
{
    int fd;

    do {
        fd = accept4(queue->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    } while ((fd < 0) && ((errno == EINTR) || (errno == ECONNABORTED) ||
                          ((errno != EAGAIN) && drop_silent(queue))));
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
        if (msp_tcp_link_open(queue, fd, -1, 0) == NULL) {
            warn_of_refusal("are refused");
            close(fd);
        }
        count++;
    }
    queue->has_callers = (errno != EAGAIN);
    if (queue->has_callers) {
        warn_of_refusal("wait");
    }
    return count;
}

/* ---- open, close ---- */

memspan_status_t msp_tcp_queue_open(bool is_main, struct msp_network_queue **queue_p)
{
    struct msp_network_queue *queue = calloc(1, sizeof *queue);
    const char *call                = "epoll_create1";

    if (queue == NULL) {
        return msp_tcp_fail(MEMSPAN_ERR_NO_MEMORY, NULL, 0, NULL, "no memory for a queue");
    }
    queue->is_main   = is_main;
    queue->listen_fd = -1;
    queue->epoll_fd  = epoll_create1(EPOLL_CLOEXEC);
    if (queue->epoll_fd >= 0) {
        call = "listen";
        if (!is_main || open_listener(queue)) {
            *queue_p = queue;
            return MEMSPAN_OK;
        }
    }
    (void)msp_tcp_fail(MEMSPAN_ERR_LIMIT, call, errno, NULL, "no sockets for a queue");
    msp_tcp_queue_close(queue);
    return MEMSPAN_ERR_LIMIT;
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

    for (link = queue->links; link != NULL; link = link->next) {
        if ((link->fd >= 0) && link->is_open) {
            (void)msp_tcp_link_send(link, &bye);
        }
    }
    free_links(queue, true);
    if (queue->listen_fd >= 0) {
        close(queue->listen_fd);
    }
    if (queue->epoll_fd >= 0) {
        close(queue->epoll_fd);
    }
    free(queue);
}

memspan_status_t msp_tcp_queue_address(struct msp_network_queue *queue, void *address,
                                       size_t *address_bytes_p)
{
    struct msp_tcp_address own;
    struct sockaddr_in6 bound;
    socklen_t bound_bytes   = sizeof bound;
    memspan_status_t status = msp_tcp_address_own(&own);

    if (status != MEMSPAN_OK) {
        return status;
    }
    if ((getsockname(queue->listen_fd, (void *)&bound, &bound_bytes) != 0) ||
        (*address_bytes_p < sizeof own)) {
        return msp_tcp_fail(MEMSPAN_ERR_DRIVER, "getsockname", errno, NULL, "no address");
    }
    own.port = ntohs(bound.sin6_port); /* where sockaddr_in has it, too */
    memcpy(address, &own, sizeof own);
    *address_bytes_p = sizeof own;
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

/* Level-triggered: the descriptor is readable as long as anything is to be received. */
bool msp_tcp_queue_arm(struct msp_network_queue *queue, int *timeout_ms_p)
{
    struct msp_tcp_link *link;

    if (queue->has_callers && ((*timeout_ms_p < 0) || (*timeout_ms_p > FULL_MS))) {
        *timeout_ms_p = FULL_MS;
    }
    queue->polls = 0; /* the next one looks everywhere */
    for (link = queue->links; (queue->rests != 0) && (link != NULL); link = link->next) {
        msp_tcp_link_watch(link);
    }
    return true;
}
