/* SPDX-License-Identifier: BSD-3-Clause */
/* greeting.c: how links open, and strangers leave. */

#include "shmem/network/tcp/tcp.h"
#include <errno.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

int64_t msp_tcp_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return ((int64_t)now.tv_sec * 1000) + (now.tv_nsec / 1000000);
}

/* A number that no other greeting has. False: the link is lost. */
static bool make_number(struct msp_tcp_link *link, uint64_t *number_p)
{
    if (getrandom(number_p, sizeof *number_p, 0) != sizeof *number_p) {
        msp_tcp_link_lose(link, EIO);
        return false;
    }
    return true;
}

/* ---- the end that connects ---- */

int msp_tcp_call(const struct sockaddr_storage *to)
{
    const int fd = socket(to->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
    int code;

    if (fd < 0) {
        return -1;
    }
    if ((connect(fd, (const void *)to, sizeof *to) != 0) && (errno != EINPROGRESS)) {
        code = errno;
        close(fd);
        errno = code;
        return -1;
    }
    return fd;
}

bool msp_tcp_call_again(struct msp_tcp_link *link, int code)
{
    const bool may_be_dropped = (code == 0) || (code == ECONNRESET) || (code == EPIPE);
    int fd;

    if (!link->is_own || link->is_open || !may_be_dropped || (link->peer == NULL) ||
        (link->calls >= MSP_TCP_CALLS_MAX)) {
        return false;
    }
    fd = msp_tcp_call(&link->peer->to);
    if (fd < 0) {
        return false;
    }
    (void)epoll_ctl(link->queue->epoll_fd, EPOLL_CTL_DEL, link->fd, NULL);
    close(link->fd);
    link->fd = fd;
    link->queue->rests += link->hello_pending ? 0 : 1;
    link->hello_pending = true;
    link->stage         = MSP_TCP_CALLED;
    link->start         = 0;
    link->end           = 0;
    link->calls++;
    (void)msp_tcp_link_listen(link, EPOLL_CTL_ADD, true);
    return true;
}

unsigned msp_tcp_hello(struct msp_tcp_link *link)
{
    const bool shares          = link->queue->is_main && (link->pe != msp_tcp.job.pe);
    struct msp_tcp_frame hello = {
        .kind = MSP_TCP_HELLO, .asks = shares, .size_bytes = (uint64_t)msp_tcp.job.pe};

    if (!make_number(link, &hello.place) || !msp_tcp_link_say(link, &hello)) {
        return 0;
    }
    link->greeting      = (struct msp_tcp_greeting){.asked  = hello.place,
                                                    .pe     = (uint32_t)msp_tcp.job.pe,
                                                    .to     = (uint32_t)link->pe,
                                                    .shares = shares};
    link->hello_pending = false;
    link->queue->rests--;
    msp_tcp_link_watch(link);
    return 1;
}

/* The listener's proof comes first: the caller's would show another process that the PE has gone.
 */
static void take_challenge(struct msp_tcp_link *link, const struct msp_tcp_frame *frame)
{
    struct msp_tcp_frame proof = {.kind = MSP_TCP_PROOF};

    link->greeting.answered = frame->place;
    if ((link->peer == NULL) ||
        (frame->size_bytes != msp_tcp_prove(&link->peer->key, MSP_TCP_LISTENER, &link->greeting))) {
        msp_tcp_link_refuse(link, "a challenge of a process that is no PE of the job");
        return;
    }
    link->stage = MSP_TCP_PROVED;
    proof.place = msp_tcp_prove(&link->peer->key, MSP_TCP_CALLER, &link->greeting);
    (void)msp_tcp_link_say(link, &proof);
}

/* ---- the end that listens ---- */

static void challenge(struct msp_tcp_link *link, const struct msp_tcp_frame *frame)
{
    struct msp_tcp_frame challenge = {.kind = MSP_TCP_CHALLENGE};

    if (frame->size_bytes >= (uint64_t)msp_tcp.job.pe_count) {
        msp_tcp_link_refuse(link, "a greeting of another job");
        return;
    }
    if (!make_number(link, &challenge.place)) {
        return;
    }
    link->greeting       = (struct msp_tcp_greeting){.asked    = frame->place,
                                                     .answered = challenge.place,
                                                     .pe       = (uint32_t)frame->size_bytes,
                                                     .to       = (uint32_t)msp_tcp.job.pe,
                                                     .shares   = frame->asks};
    challenge.size_bytes = msp_tcp_prove(&msp_tcp.key, MSP_TCP_LISTENER, &link->greeting);
    link->stage          = MSP_TCP_CHALLENGED;
    (void)msp_tcp_link_say(link, &challenge);
}

static void check_proof(struct msp_tcp_link *link, uint64_t proof)
{
    if (proof != msp_tcp_prove(&msp_tcp.key, MSP_TCP_CALLER, &link->greeting)) {
        msp_tcp_link_refuse(link, "a wrong proof");
        return;
    }
    msp_tcp_link_welcome(link);
}

/* Milliseconds of its time that are left; INT64_MAX: it is no stranger. */
static int64_t left_of(const struct msp_tcp_link *link, int64_t limit_ms)
{
    const bool is_stranger = (link->fd >= 0) && !link->is_own && (link->stage != MSP_TCP_PROVED);

    return is_stranger ? (link->born_ms + limit_ms - msp_tcp_now_ms()) : INT64_MAX;
}

int64_t msp_tcp_strangers_left(const struct msp_network_queue *queue)
{
    int64_t least_ms = INT64_MAX;
    const struct msp_tcp_link *link;

    for (link = queue->links; link != NULL; link = link->next) {
        const int64_t left_ms = left_of(link, MSP_TCP_GREETING_MS);

        least_ms = (left_ms < least_ms) ? left_ms : least_ms;
    }
    return least_ms;
}

unsigned msp_tcp_strangers_close(struct msp_network_queue *queue, int64_t limit_ms)
{
    unsigned count = 0;
    struct msp_tcp_link *link;

    for (link = queue->links; link != NULL; link = link->next) {
        if (left_of(link, limit_ms) > 0) {
            continue;
        }
        (void)msp_tcp_link_receive(link); /* this PE may not have looked */
        if (left_of(link, limit_ms) <= 0) {
            msp_tcp_link_close(link);
        }
        count++;
    }
    return count;
}

/* ---- both ---- */

void msp_tcp_greet(struct msp_tcp_link *link, const struct msp_tcp_frame *frame)
{
    if (link->is_own) {
        if ((frame->kind == MSP_TCP_CHALLENGE) && (link->stage == MSP_TCP_CALLED) &&
            !link->hello_pending) {
            take_challenge(link, frame);
        } else if ((frame->kind == MSP_TCP_WELCOME) && (link->stage == MSP_TCP_PROVED)) {
            link->is_open = true;
            (void)msp_tcp_link_push(link);
        } else {
            msp_tcp_link_refuse(link, "something else than a greeting");
        }
    } else if ((frame->kind == MSP_TCP_HELLO) && (link->stage == MSP_TCP_CALLED)) {
        challenge(link, frame);
    } else if ((frame->kind == MSP_TCP_PROOF) && (link->stage == MSP_TCP_CHALLENGED)) {
        check_proof(link, frame->place);
    } else {
        msp_tcp_link_refuse(link, "something before a greeting");
    }
}
