/* SPDX-License-Identifier: BSD-3-Clause */
/* silent_driver.c: a network driver whose puts, as those of RDMA hardware, change the target's
 * memory while no processor of the target does anything. All else is the driver's that it is built
 * with. PEs are processes of one machine. */

#include "tests/shmem/network/wrapped.h"
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PEERS_MAX = 64 };

static const struct msp_network_services *services;
static const struct msp_network_driver *real;
static struct msp_network_driver silent;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    struct msp_network_peer *peer;
    pid_t pid;
} known[PEERS_MAX];

/* The entry of the peer; of NULL: a free one. */
static int find(const struct msp_network_peer *peer)
{
    int i;

    for (i = 0; (i < PEERS_MAX - 1) && (known[i].peer != peer); i++) {
    }
    return i;
}

static memspan_status_t open_real(const struct msp_network_job *job,
                                  struct msp_network_limits *limits_p)
{
    memspan_status_t status = real->open(job, limits_p);

    (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    limits_p->target_progresses     = false;
    limits_p->put_message_max_bytes = 0;
    return status;
}

/* The process's number stands behind the driver's own address. */
static memspan_status_t tell_address(struct msp_network_queue *queue, void *address,
                                     size_t *address_bytes_p)
{
    const pid_t pid         = getpid();
    size_t room             = *address_bytes_p;
    memspan_status_t status = real->queue_address(queue, address, address_bytes_p);

    if ((status != MEMSPAN_OK) || (room - *address_bytes_p < sizeof pid)) {
        return (status != MEMSPAN_OK) ? status : MEMSPAN_ERR_LIMIT;
    }
    memcpy((char *)address + *address_bytes_p, &pid, sizeof pid);
    *address_bytes_p += sizeof pid;
    return MEMSPAN_OK;
}

static memspan_status_t open_peer(struct msp_network_queue *queue, int pe, const void *address,
                                  size_t address_bytes, struct msp_network_peer **peer_p)
{
    size_t own              = address_bytes - sizeof(pid_t);
    memspan_status_t status = real->peer_open(queue, pe, address, own, peer_p);

    if (status == MEMSPAN_OK) {
        pthread_mutex_lock(&lock);
        int at         = find(NULL);
        known[at].peer = *peer_p;
        memcpy(&known[at].pid, (const char *)address + own, sizeof(pid_t));
        pthread_mutex_unlock(&lock);
    }
    return status;
}

static void close_peer(struct msp_network_peer *peer, bool is_failed)
{
    pthread_mutex_lock(&lock);
    known[find(peer)].peer = NULL;
    pthread_mutex_unlock(&lock);
    real->peer_close(peer, is_failed);
}

static enum msp_network_result put(struct msp_network_peer *peer, struct msp_network_key *key,
                                   uint64_t address, const void *source, size_t size_bytes,
                                   struct msp_network_request *request)
{
    struct iovec from = {(void *)(uintptr_t)source, size_bytes};
    struct iovec to   = {(void *)(uintptr_t)address, size_bytes};

    (void)key;
    (void)request;
    pthread_mutex_lock(&lock);
    pid_t pid = known[find(peer)].pid;
    pthread_mutex_unlock(&lock);
    if (process_vm_writev(pid, &from, 1, &to, 1, 0) != (ssize_t)size_bytes) {
        (void)services->fail(MEMSPAN_ERR_DRIVER, "process_vm_writev", errno, strerror(errno), NULL,
                             "process %d cannot be written to", (int)pid);
        return MSP_NETWORK_FAILED;
    }
    return MSP_NETWORK_DONE;
}

const struct msp_network_driver *memspan_network_driver(const struct msp_network_services *given)
{
    services = given;
    real     = open_wrapped(given);
    if (real == NULL) {
        return NULL;
    }
    silent      = *real;
    silent.open = open_real;

    silent.queue_address = tell_address;
    silent.peer_open     = open_peer;
    silent.peer_close    = close_peer;
    silent.put           = put;
    return &silent;
}
