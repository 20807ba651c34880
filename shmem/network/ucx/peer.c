/* SPDX-License-Identifier: BSD-3-Clause */
/* peer.c: endpoints, and how they fail. */

#include "shmem/network/ucx/rail.h"
#include "shmem/network/ucx/ucx.h"
#include <stdlib.h>

/* From ucp_worker_progress(). Requests of the endpoint complete with a status, but not here. */
static void fail_peer(void *argument, ucp_ep_h endpoint, ucs_status_t status)
{
    struct msp_network_peer *peer = argument;

    (void)endpoint;
    if (!peer->is_failed) {
        peer->is_failed = true;
        peer->failure   = status;
        msp_ucx.services->peer_failed(peer->pe, ucs_status_string(status));
    }
}

ucs_status_t msp_ucx_endpoint(ucp_worker_h worker, const void *address,
                              ucp_err_handling_mode_t mode, struct msp_network_peer *peer,
                              ucp_ep_h *endpoint_p)
{
    const ucp_ep_params_t param = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .address     = address,
        .err_mode    = mode,
        .err_handler = {.cb = fail_peer, .arg = peer},
    };

    return ucp_ep_create(worker, &param, endpoint_p);
}

memspan_status_t msp_ucx_peer_open(struct msp_network_queue *queue, int pe, const void *address,
                                   size_t address_bytes, struct msp_network_peer **peer_p)
{
    struct msp_network_peer *peer = calloc(1, sizeof *peer);
    ucs_status_t status;

    (void)address_bytes;
    if (peer == NULL) {
        return msp_ucx_fail(UCS_ERR_NO_MEMORY, NULL, NULL, "no memory for PE %d", pe);
    }
    peer->queue = queue;
    peer->pe    = pe;
    status = msp_ucx_endpoint(queue->worker, address, msp_ucx.error_mode, peer, &peer->endpoint);
    if (status != UCS_OK) {
        free(peer);
        return msp_ucx_fail(status, "ucp_ep_create",
                            "the same UCX_TLS and UCX_NET_DEVICES on all hosts, and a network that "
                            "joins them",
                            "UCX does not reach PE %d", pe);
    }
    *peer_p = peer;
    return MEMSPAN_OK;
}

/* The peer is freed when its endpoint is, because that may still name it. */
static void closed(void *request, ucs_status_t status, void *argument)
{
    struct msp_network_peer *peer = argument;

    (void)status;
    ucp_request_free(request);
    peer->queue->closing--;
    free(peer);
}

/* By force is only for endpoints that detect failures; others end with their worker. */
void msp_ucx_peer_close(struct msp_network_peer *peer, bool is_failed)
{
    const bool is_forced            = is_failed || peer->is_failed;
    const ucp_request_param_t param = {
        .op_attr_mask =
            UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
        .flags     = is_forced ? UCP_EP_CLOSE_FLAG_FORCE : 0,
        .cb.send   = closed,
        .user_data = peer,
    };

    peer->is_failed = true; /* failures from now on are of no interest */
    if (is_forced && (msp_ucx.error_mode == UCP_ERR_HANDLING_MODE_NONE)) {
        return;
    }
    if (UCS_PTR_IS_PTR(ucp_ep_close_nbx(peer->endpoint, &param))) {
        peer->queue->closing++;
    } else {
        free(peer);
    }
}

void msp_ucx_peer_describe(struct msp_network_peer *peer, char *text, size_t text_bytes)
{
    struct msp_ucx_rails rails;

    msp_ucx_rails_of(peer->endpoint, &rails);
    msp_ucx_rails_describe(&rails, text, text_bytes);
}
