/* SPDX-License-Identifier: BSD-3-Clause */
/* operation.c: put, get, messages, flush.
 *
 * UCX queues operations that it cannot send at once and completes them later. The caller's request
 * is the argument of that completion; UCX's own request is freed there. */

#include "shmem/network/ucx/ucx.h"
#include <stdlib.h>
#include <string.h>

static memspan_status_t failed(ucs_status_t status)
{
    return msp_ucx_fail(status, NULL, NULL, "an operation on a PE of another host has failed");
}

static void complete(void *request, ucs_status_t status, void *argument)
{
    struct msp_network_request *mine = argument;

    ucp_request_free(request);
    mine->complete(mine, (status == UCS_OK) ? MEMSPAN_OK : failed(status));
}

static enum msp_network_result result_of(struct msp_network_peer *peer, ucs_status_ptr_t pointer,
                                         const char *call, const char *what)
{
    const ucs_status_t status = UCS_PTR_IS_ERR(pointer) ? UCS_PTR_STATUS(pointer) : UCS_OK;

    if (pointer == NULL) {
        return MSP_NETWORK_DONE;
    }
    if (!UCS_PTR_IS_ERR(pointer)) {
        return MSP_NETWORK_STARTED;
    }
    if ((status == UCS_ERR_NO_RESOURCE) || (status == UCS_ERR_NO_MEMORY)) {
        return MSP_NETWORK_BUSY;
    }
    msp_ucx_fail(status, call, NULL, "%s PE %d has failed", what, peer->pe);
    return MSP_NETWORK_FAILED;
}

static enum msp_network_result refuse_peer(struct msp_network_peer *peer)
{
    msp_ucx_fail(peer->failure, NULL, NULL, "PE %d cannot be reached any more", peer->pe);
    return MSP_NETWORK_FAILED;
}

static ucp_request_param_t parameters(struct msp_network_request *request)
{
    return (ucp_request_param_t){
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.send      = complete,
        .user_data    = request,
    };
}

/* ---- puts that are copied ---- */

static struct msp_ucx_copy *take_copy(struct msp_network_queue *queue)
{
    struct msp_ucx_copy *copy;
    unsigned i;

    if (queue->copies == NULL) {
        queue->copies = calloc(MSP_UCX_COPIES, sizeof *queue->copies);
        for (i = 0; (queue->copies != NULL) && (i < MSP_UCX_COPIES); i++) {
            queue->copies[i].next = queue->unused;
            queue->unused         = &queue->copies[i];
        }
    }
    copy = queue->unused;
    if (copy != NULL) {
        queue->unused = copy->next;
    }
    return copy;
}

static void return_copy(struct msp_network_queue *queue, struct msp_ucx_copy *copy)
{
    copy->next    = queue->unused;
    queue->unused = copy;
}

/* A put that fails is one whose peer has failed, which flush() reports. */
static void complete_copy(void *request, ucs_status_t status, void *argument)
{
    struct msp_ucx_copy *copy = argument;

    (void)status;
    ucp_request_free(request);
    return_copy(copy->queue, copy);
}

static enum msp_network_result put_copy(struct msp_network_peer *peer, ucp_rkey_h key,
                                        uint64_t address, const void *source, size_t size_bytes)
{
    struct msp_ucx_copy *copy       = take_copy(peer->queue);
    const ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.send      = complete_copy,
        .user_data    = copy,
    };
    ucs_status_ptr_t pointer;

    if (copy == NULL) {
        return MSP_NETWORK_BUSY;
    }
    copy->queue = peer->queue;
    memcpy(copy->bytes, source, size_bytes);
    pointer = ucp_put_nbx(peer->endpoint, copy->bytes, size_bytes, address, key, &param);
    if (UCS_PTR_IS_PTR(pointer)) {
        return MSP_NETWORK_DONE;
    }
    return_copy(peer->queue, copy);
    return result_of(peer, pointer, "ucp_put_nbx", "a put to");
}

enum msp_network_result msp_ucx_put(struct msp_network_peer *peer, struct msp_network_key *key,
                                    uint64_t address, const void *source, size_t size_bytes,
                                    struct msp_network_request *request)
{
    const ucp_request_param_t param = parameters(request);

    if (peer->is_failed) {
        return refuse_peer(peer);
    }
    if (peer->queue->is_main && (size_bytes <= MSP_UCX_COPY_MAX)) {
        return put_copy(peer, (ucp_rkey_h)key, address, source, size_bytes);
    }
    return result_of(
        peer, ucp_put_nbx(peer->endpoint, source, size_bytes, address, (ucp_rkey_h)key, &param),
        "ucp_put_nbx", "a put to");
}

enum msp_network_result msp_ucx_get(struct msp_network_peer *peer, struct msp_network_key *key,
                                    uint64_t address, void *dest, size_t size_bytes,
                                    struct msp_network_request *request)
{
    const ucp_request_param_t param = parameters(request);

    if (peer->is_failed) {
        return refuse_peer(peer);
    }
    return result_of(
        peer, ucp_get_nbx(peer->endpoint, dest, size_bytes, address, (ucp_rkey_h)key, &param),
        "ucp_get_nbx", "a get from");
}

enum msp_network_result msp_ucx_send(struct msp_network_peer *peer, const void *header,
                                     size_t header_bytes, const void *payload, size_t payload_bytes,
                                     struct msp_network_request *request)
{
    const ucp_request_param_t param = {
        .op_attr_mask =
            UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS,
        .flags     = UCP_AM_SEND_FLAG_EAGER,
        .cb.send   = complete,
        .user_data = request,
    };

    if (peer->is_failed) {
        return refuse_peer(peer);
    }
    return result_of(peer,
                     ucp_am_send_nbx(peer->endpoint, MSP_UCX_MESSAGE, header, header_bytes, payload,
                                     payload_bytes, &param),
                     "ucp_am_send_nbx", "a message to");
}

enum msp_network_result msp_ucx_flush(struct msp_network_peer *peer,
                                      struct msp_network_request *request)
{
    const ucp_request_param_t param = parameters(request);

    if (peer->is_failed) {
        return refuse_peer(peer);
    }
    return result_of(peer, ucp_ep_flush_nbx(peer->endpoint, &param), "ucp_ep_flush_nbx",
                     "a flush of puts to");
}
