/* SPDX-License-Identifier: BSD-3-Clause */
/* queue.c: workers. A worker is used by one thread at a time, so it needs no lock of UCX's. */

#include "shmem/network/ucx/ucx.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

static ucs_status_t receive(void *queue, const void *header, size_t header_bytes, void *data,
                            size_t data_bytes, const ucp_am_recv_param_t *param)
{
    (void)queue;
    if (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) {
        msp_ucx.services->note("UCX: a message of %zu bytes came as a rendezvous, though it was "
                               "sent eager",
                               data_bytes);
        return UCS_OK;
    }
    msp_ucx.services->receive(header, header_bytes, data, data_bytes);
    return UCS_OK;
}

static ucs_status_t set_receiver(struct msp_network_queue *queue)
{
    const ucp_am_handler_param_t param = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                      UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG,
        .id    = MSP_UCX_MESSAGE,
        .flags = UCP_AM_FLAG_WHOLE_MSG,
        .cb    = receive,
        .arg   = queue,
    };

    return ucp_worker_set_am_recv_handler(queue->worker, &param);
}

memspan_status_t msp_ucx_queue_open(bool is_main, struct msp_network_queue **queue_p)
{
    const ucp_worker_params_t param = {
        .field_mask  = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
        .thread_mode = UCS_THREAD_MODE_SERIALIZED,
    };
    struct msp_network_queue *queue = calloc(1, sizeof *queue);
    const char *call                = "ucp_worker_create";
    ucs_status_t status;

    if (queue == NULL) {
        return msp_ucx_fail(UCS_ERR_NO_MEMORY, NULL, NULL, "no memory for a queue of UCX");
    }
    queue->is_main    = is_main;
    queue->descriptor = -1;
    status            = ucp_worker_create(msp_ucx.context, &param, &queue->worker);
    if (status != UCS_OK) {
        free(queue);
        return msp_ucx_fail(status, call, NULL, "UCX opens no queue");
    }
    if (is_main) {
        call   = "ucp_worker_set_am_recv_handler";
        status = set_receiver(queue);
    }
    if (status == UCS_OK) {
        call   = "ucp_worker_get_efd";
        status = ucp_worker_get_efd(queue->worker, &queue->descriptor);
    }
    if (status != UCS_OK) {
        msp_ucx_queue_close(queue);
        return msp_ucx_fail(status, call, NULL, "UCX opens no queue");
    }
    *queue_p = queue;
    return MEMSPAN_OK;
}

/* A peer that does not answer must not hold its closer up. */
static void wait_for_closes(struct msp_network_queue *queue)
{
    struct timespec start;
    struct timespec now;
    long passed_ms = 0;

    clock_gettime(CLOCK_MONOTONIC, &start);
    while ((queue->closing != 0) && (passed_ms < MSP_UCX_CLOSE_MAX_MS)) {
        ucp_worker_progress(queue->worker);
        clock_gettime(CLOCK_MONOTONIC, &now);
        passed_ms =
            ((now.tv_sec - start.tv_sec) * 1000) + ((now.tv_nsec - start.tv_nsec) / 1000000);
    }
}

void msp_ucx_queue_close(struct msp_network_queue *queue)
{
    wait_for_closes(queue);
    ucp_worker_destroy(queue->worker);
    free(queue->copies);
    free(queue);
}

/* With many devices the address of all of them is too long; devices of this host alone are left
 * out then. */
memspan_status_t msp_ucx_queue_address(struct msp_network_queue *queue, void *address,
                                       size_t *address_bytes_p)
{
    static const uint32_t flags[] = {0, UCP_WORKER_ADDRESS_FLAG_NET_ONLY};
    ucp_worker_attr_t attributes;
    ucs_status_t status;
    size_t i;

    for (i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        attributes = (ucp_worker_attr_t){
            .field_mask    = UCP_WORKER_ATTR_FIELD_ADDRESS | UCP_WORKER_ATTR_FIELD_ADDRESS_FLAGS,
            .address_flags = flags[i],
        };
        status = ucp_worker_query(queue->worker, &attributes);
        if (status != UCS_OK) {
            return msp_ucx_fail(status, "ucp_worker_query", NULL, "UCX has no address");
        }
        if (attributes.address_length <= *address_bytes_p) {
            memcpy(address, attributes.address, attributes.address_length);
            *address_bytes_p = attributes.address_length;
            ucp_worker_release_address(queue->worker, attributes.address);
            return MEMSPAN_OK;
        }
        ucp_worker_release_address(queue->worker, attributes.address);
    }
    return msp_ucx_fail(UCS_ERR_EXCEEDS_LIMIT, "ucp_worker_query",
                        "fewer devices, by UCX_NET_DEVICES or UCX_TLS",
                        "the address of UCX has %zu bytes, and there is room for %zu",
                        attributes.address_length, *address_bytes_p);
}

unsigned msp_ucx_queue_progress(struct msp_network_queue *queue)
{
    return ucp_worker_progress(queue->worker);
}

int msp_ucx_queue_descriptor(struct msp_network_queue *queue)
{
    return queue->descriptor;
}

bool msp_ucx_queue_arm(struct msp_network_queue *queue, int *timeout_ms_p)
{
    const ucs_status_t status = ucp_worker_arm(queue->worker);
    const bool is_unsure      = msp_ucx.loses_events || (status != UCS_OK);

    if (status == UCS_ERR_BUSY) {
        return false;
    }
    if (is_unsure && ((*timeout_ms_p < 0) || (*timeout_ms_p > MSP_UCX_ARM_INTERVAL_MS))) {
        *timeout_ms_p = MSP_UCX_ARM_INTERVAL_MS;
    }
    return true;
}
