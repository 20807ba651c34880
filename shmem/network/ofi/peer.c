/* SPDX-License-Identifier: BSD-3-Clause */
/* peer.c: addresses of peers, and peers that are lost.
 *
 * The errors of libfabric 1.17 for a peer that was killed, over tcp;ofi_rxm: operations that it has
 * not answered complete with an error, as soon as the kernel has closed its sockets. Where none are
 * outstanding it reports nothing. It forgets the connection, and each later operation connects
 * anew, is refused, and returns -FI_EAGAIN for ever. So a peer whose operations find no space for a
 * while is probed: a connect() of our own to its address shows whether a process listens there. A
 * host that is gone answers nothing at all: liveness messages find it (alive.c).
 *
 * Runs over the provider shm that were killed leave files in /dev/shm, named PID:N:N; libfabric
 * removes them at the next start of a process with that number. */

#include "shmem/network/ofi/ofi.h"
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    PROBE_FIRST_MS = 200,  /* of operations that find no space */
    PROBE_NEXT_MS  = 1000, /* after one that was answered */
};

struct ofi_probe {
    int64_t due_ns;
    int fd; /* -1: none under way */
};

/* An address on the wire. */
struct address_blob {
    char provider[56];
    uint64_t host; /* where an address of the loopback interface or of shm holds; 0: everywhere */
    uint64_t raw_bytes;
    unsigned char raw[OFI_NAME_BYTES];
};

static int64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec * INT64_C(1000000000)) + now.tv_nsec;
}

/* An address that means another place on each host. */
static bool is_local_address(const void *address)
{
    const struct sockaddr *any = address;

    if (ofi_provider_is("shm")) {
        return true;
    }
    if (ofi.info->addr_format > FI_SOCKADDR_IN6) {
        return false;
    }
    if (any->sa_family == AF_INET) {
        const struct sockaddr_in *in = address;
        return (ntohl(in->sin_addr.s_addr) >> 24) == IN_LOOPBACKNET;
    }
    const struct sockaddr_in6 *in = address;
    return (any->sa_family == AF_INET6) && IN6_IS_ADDR_LOOPBACK(&in->sin6_addr);
}

memspan_status_t ofi_address_pack(struct fid_ep *endpoint, void *address, size_t *address_bytes_p)
{
    struct address_blob blob = {0};
    _Alignas(8) char raw[OFI_NAME_BYTES];
    size_t raw_bytes = sizeof raw;

    const int code     = fi_getname(&endpoint->fid, raw, &raw_bytes);
    const size_t bytes = offsetof(struct address_blob, raw) + raw_bytes;
    if ((code != 0) || (bytes > *address_bytes_p)) {
        return ofi_fail(MEMSPAN_ERR_DRIVER, "fi_getname", code, NULL,
                        "ofi: the address of the main queue has %zu bytes, at most %zu", bytes,
                        *address_bytes_p);
    }
    (void)snprintf(blob.provider, sizeof blob.provider, "%s", ofi.info->fabric_attr->prov_name);
    blob.host      = is_local_address(raw) ? ofi.job.network_namespace : 0;
    blob.raw_bytes = raw_bytes;
    memcpy(blob.raw, raw, raw_bytes);
    memcpy(address, &blob, bytes);
    *address_bytes_p = bytes;
    return MEMSPAN_OK;
}

static memspan_status_t check_address(int pe, const struct address_blob *blob, size_t bytes)
{
    const char *own = ofi.info->fabric_attr->prov_name;

    if ((bytes < offsetof(struct address_blob, raw)) || (blob->raw_bytes > sizeof blob->raw) ||
        (bytes != offsetof(struct address_blob, raw) + blob->raw_bytes)) {
        return ofi_fail(MEMSPAN_ERR_INVALID, NULL, 0, NULL,
                        "ofi: the address of PE %d has %zu bytes", pe, bytes);
    }
    if (strcmp(blob->provider, own) != 0) {
        return ofi_fail(
            MEMSPAN_ERR_UNREACHABLE, NULL, 0, "name one that both hosts have, in FI_PROVIDER",
            "ofi: PE %d uses libfabric's provider %s, this PE %s", pe, blob->provider, own);
    }
    if ((blob->host != 0) && (blob->host != ofi.job.network_namespace)) {
        return ofi_fail(MEMSPAN_ERR_UNREACHABLE, NULL, 0,
                        "name an interface that other hosts reach, in FI_TCP_IFACE",
                        "ofi: the address of PE %d, by the provider %s, holds on its host alone",
                        pe, own);
    }
    return MEMSPAN_OK;
}

memspan_status_t ofi_peer_open(struct msp_network_queue *queue, int pe, const void *address,
                               size_t address_bytes, struct msp_network_peer **peer_p)
{
    struct address_blob blob = {0};

    memcpy(&blob, address, (address_bytes < sizeof blob) ? address_bytes : sizeof blob);
    memspan_status_t status = check_address(pe, &blob, address_bytes);
    if (status != MEMSPAN_OK) {
        return status;
    }
    struct msp_network_peer *peer = calloc(1, sizeof *peer);
    if (peer == NULL) {
        return ofi_fail(MEMSPAN_ERR_NO_MEMORY, NULL, -FI_ENOMEM, NULL, "ofi: no memory for a peer");
    }
    peer->queue     = queue;
    peer->pe        = pe;
    peer->raw_bytes = blob.raw_bytes;
    memcpy(peer->raw, blob.raw, blob.raw_bytes);
    const int count = fi_av_insert(queue->addresses, peer->raw, 1, &peer->address, 0, NULL);
    if (count != 1) {
        free(peer);
        return ofi_fail(MEMSPAN_ERR_DRIVER, "fi_av_insert", (count < 0) ? count : -FI_EINVAL, NULL,
                        "ofi: the address of PE %d is not taken", pe);
    }
    *peer_p = peer;
    return MEMSPAN_OK;
}

static void probe_end(struct msp_network_peer *peer)
{
    if (peer->probe != NULL) {
        if (peer->probe->fd >= 0) {
            (void)close(peer->probe->fd);
        }
        free(peer->probe);
        peer->probe = NULL;
    }
}

void ofi_peer_close(struct msp_network_peer *peer, bool is_failed)
{
    struct msp_network_queue *queue = peer->queue;

    probe_end(peer);
    free(peer->reason);
    peer->reason = NULL;
    if (is_failed) {
        ofi_records_abandon(peer, MEMSPAN_ERR_UNREACHABLE);
        /* Closes the connection, if there still is one. Without a failure it stays: the peer may
         * have operations on it. */
        (void)fi_av_remove(queue->addresses, &peer->address, 1, 0);
    }
    if (peer->outstanding == NULL) {
        free(peer);
        return;
    }
    peer->is_failed   = true;
    peer->next_closed = queue->closed;
    queue->closed     = peer;
}

void ofi_peer_describe(struct msp_network_peer *peer, char *text, size_t text_bytes)
{
    char address[128];

    ofi_address_text(peer->raw, peer->raw_bytes, address, sizeof address);
    (void)snprintf(text, text_bytes, "%s over %s%s%s", ofi.info->fabric_attr->prov_name,
                   ofi.info->domain_attr->name, (address[0] != '\0') ? " to " : "", address);
}

bool ofi_error_is_connection(int error)
{
    switch (error) {
    case FI_ECANCELED: /* rxm's error for operations on a connection that was closed */
    case FI_ECONNABORTED:
    case FI_ECONNREFUSED:
    case FI_ECONNRESET:
    case FI_EHOSTDOWN:
    case FI_EHOSTUNREACH:
    case FI_EIO:
    case FI_ENETUNREACH:
    case FI_ENOTCONN:
    case FI_ESHUTDOWN:
    case FI_ETIMEDOUT:
    case EPIPE:
        return true;
    default:
        return false;
    }
}

void ofi_peer_fail(struct msp_network_peer *peer, int error)
{
    char text[96];
    char path[160];

    if (peer->is_failed) {
        return;
    }
    peer->is_failed = true;
    ofi_peer_describe(peer, path, sizeof path);
    /* rxm's words are the kernel's last error, which may be another operation's. */
    (void)snprintf(text, sizeof text, "%s",
                   (error == FI_ECANCELED) ? "connection lost" : fi_strerror(error));
    if (asprintf(&peer->reason, "%s, %s", text, path) < 0) {
        peer->reason = NULL;
    }
    probe_end(peer);
    ofi.services->peer_failed(peer->pe, (peer->reason != NULL) ? peer->reason : text);
    ofi_records_abandon(peer, MEMSPAN_ERR_UNREACHABLE);
}

/* Asks the kernel of the peer's host whether something listens at its address. */
static void probe_start(struct msp_network_peer *peer)
{
    const struct sockaddr *address = (const void *)peer->raw;

    peer->probe->fd =
        socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
    if (peer->probe->fd < 0) {
        peer->probe->due_ns = now_ns() + (PROBE_NEXT_MS * INT64_C(1000000));
        return;
    }
    if ((connect(peer->probe->fd, address, (socklen_t)peer->raw_bytes) != 0) &&
        (errno != EINPROGRESS)) {
        ofi_peer_fail(peer, errno);
    }
}

static void probe_look(struct msp_network_peer *peer)
{
    struct pollfd ready = {.fd = peer->probe->fd, .events = POLLOUT};
    socklen_t bytes     = sizeof(int);
    int error           = 0;

    if (poll(&ready, 1, 0) <= 0) {
        return;
    }
    (void)getsockopt(peer->probe->fd, SOL_SOCKET, SO_ERROR, &error, &bytes);
    if (error != 0) {
        ofi_peer_fail(peer, error);
        return;
    }
    (void)close(peer->probe->fd);
    peer->probe->fd     = -1;
    peer->probe->due_ns = now_ns() + (PROBE_NEXT_MS * INT64_C(1000000));
}

void ofi_peer_stalls(struct msp_network_peer *peer)
{
    if (!ofi.is_tcp || peer->is_failed) {
        return;
    }
    if (peer->probe == NULL) {
        peer->probe = malloc(sizeof *peer->probe);
        if (peer->probe != NULL) {
            peer->probe->fd     = -1;
            peer->probe->due_ns = now_ns() + (PROBE_FIRST_MS * INT64_C(1000000));
        }
    } else if (peer->probe->fd >= 0) {
        probe_look(peer);
    } else if (now_ns() >= peer->probe->due_ns) {
        probe_start(peer);
    }
}

void ofi_peer_proceeds(struct msp_network_peer *peer)
{
    probe_end(peer);
}
