/* SPDX-License-Identifier: BSD-3-Clause */
/* queue.c: an endpoint, its completion queue and its addresses.
 *
 * The main queue has receive buffers for messages, posted again as soon as the transport has read
 * them. A buffer takes one message: a message that rxm sends in one piece fits, and nothing depends
 * on multi-receive buffers, which providers implement differently.
 *
 * The descriptor is the completion queue's. Puts of others leave no completion at their target, so
 * that the first progress after a sleep counts as an event. */

#include "shmem/network/ofi/ofi.h"
#include <stdlib.h>
#include <string.h>

enum {
    ENTRIES        = 16, /* completions read at once */
    UNPOSTED_MAX   = OFI_RECEIVES / 2,
    LOST_EVENTS_MS = 100, /* providers other than tcp: a descriptor may miss some */
    POLL_MS        = 1,   /* of a queue without descriptor */
    NAMES_MAX      = 16,
};

static memspan_status_t queue_failed(const char *call, int code)
{
    const char *hint =
        (code == -FI_EINVAL) ? "a queue may be over the device's limit: FI_UNIVERSE_SIZE=16" : NULL;

    return ofi_fail(MEMSPAN_ERR_DRIVER, call, code, hint, "ofi: no endpoint of %s over %s",
                    ofi.info->fabric_attr->prov_name, ofi.info->domain_attr->name);
}

/* With a descriptor where the provider has one. */
static int open_completions(struct msp_network_queue *queue)
{
    struct fi_cq_attr attr = {.format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_FD};

    attr.size         = ofi.info->tx_attr->size + OFI_RECEIVES;
    queue->descriptor = -1;

    int code = fi_cq_open(ofi.domain, &attr, &queue->completions, NULL);
    if (code == 0) {
        int fd = -1;
        if (fi_control(&queue->completions->fid, FI_GETWAIT, &fd) == 0) {
            queue->descriptor = fd;
        }
        return 0;
    }
    attr.wait_obj = FI_WAIT_NONE;
    return fi_cq_open(ofi.domain, &attr, &queue->completions, NULL);
}

/* @p part: NULL for one that is not open. */
static void close_part(struct fid *part)
{
    const int code = (part != NULL) ? fi_close(part) : 0;

    if (code != 0) {
        ofi.services->note("ofi: fi_close() of a queue: %s", fi_strerror(-code));
    }
}

static int enable(struct msp_network_queue *queue, const char **call_p)
{
    struct fi_av_attr av_attr = {.type = ofi.info->domain_attr->av_type};

    *call_p  = "fi_endpoint";
    int code = fi_endpoint(ofi.domain, ofi.info, &queue->endpoint, NULL);
    if (code == 0) {
        *call_p = "fi_cq_open";
        code    = open_completions(queue);
    }
    if (code == 0) {
        *call_p = "fi_av_open";
        code    = fi_av_open(ofi.domain, &av_attr, &queue->addresses, NULL);
    }
    if (code == 0) {
        *call_p = "fi_ep_bind";
        code    = fi_ep_bind(queue->endpoint, &queue->completions->fid, FI_TRANSMIT | FI_RECV);
    }
    if (code == 0) {
        code = fi_ep_bind(queue->endpoint, &queue->addresses->fid, 0);
    }
    if (code == 0) {
        *call_p = "fi_enable";
        code    = fi_enable(queue->endpoint);
    }
    return code;
}

static void close_endpoint(struct msp_network_queue *queue)
{
    /* First: nothing uses buffers and addresses afterwards. */
    close_part((queue->endpoint != NULL) ? &queue->endpoint->fid : NULL);
    close_part((queue->completions != NULL) ? &queue->completions->fid : NULL);
    close_part((queue->addresses != NULL) ? &queue->addresses->fid : NULL);
    queue->endpoint    = NULL;
    queue->completions = NULL;
    queue->addresses   = NULL;
}

/* shm names an endpoint by the process and a count. A killed process with the same number has left
 * its names; the next count may be free. */
static memspan_status_t open_endpoint(struct msp_network_queue *queue)
{
    const char *call = NULL;
    int code         = enable(queue, &call);

    for (int i = 0; (code == -FI_EBUSY) && (i < NAMES_MAX); i++) {
        close_endpoint(queue);
        code = enable(queue, &call);
    }
    return (code == 0) ? MEMSPAN_OK : queue_failed(call, code);
}

static int post(struct msp_network_queue *queue, struct ofi_receive *receive)
{
    void *descriptor   = (queue->receives_mr != NULL) ? fi_mr_desc(queue->receives_mr) : NULL;
    const ssize_t code = fi_recv(queue->endpoint, receive->bytes, sizeof receive->bytes, descriptor,
                                 FI_ADDR_UNSPEC, &receive->context);

    receive->is_posted = (code == 0);
    return (int)code;
}

static memspan_status_t open_receives(struct msp_network_queue *queue)
{
    const size_t bytes = OFI_RECEIVES * sizeof *queue->receives;
    int code           = -FI_ENOMEM;

    queue->receives = aligned_alloc(64, (bytes + 63) & ~(size_t)63);
    if (queue->receives == NULL) {
        return ofi_fail(MEMSPAN_ERR_NO_MEMORY, NULL, code, NULL, "ofi: no memory for messages");
    }
    if (ofi.needs_local) {
        code = ofi_local_register(queue->receives, bytes, &queue->receives_mr);
        if (code != 0) {
            return ofi_fail(MEMSPAN_ERR_LIMIT, "fi_mr_reg", code, "ulimit -l unlimited",
                            "ofi: %zu bytes for messages cannot be registered", bytes);
        }
    }
    for (size_t i = 0; i < OFI_RECEIVES; i++) {
        queue->receives[i].context.kind = OFI_RECEIVE;
        code                            = post(queue, &queue->receives[i]);
        if (code != 0) {
            return queue_failed("fi_recv", code);
        }
    }
    return MEMSPAN_OK;
}

memspan_status_t ofi_queue_open(bool is_main, struct msp_network_queue **queue_p)
{
    struct msp_network_queue *queue = calloc(1, sizeof *queue);

    if (queue == NULL) {
        return ofi_fail(MEMSPAN_ERR_NO_MEMORY, NULL, -FI_ENOMEM, NULL,
                        "ofi: no memory for a queue");
    }
    queue->is_main = is_main;
    ofi_pool_init(&queue->records, sizeof(struct ofi_record), OFI_RECORDS_MAX);
    ofi_pool_init(&queue->copies, sizeof(struct ofi_copy), OFI_COPIES_MAX);

    memspan_status_t status = open_endpoint(queue);
    if ((status == MEMSPAN_OK) && is_main) {
        status = open_receives(queue);
    }
    if (status != MEMSPAN_OK) {
        ofi_queue_close(queue);
        return status;
    }
    if (is_main) {
        ofi.main_endpoint = queue->endpoint;
    }
    *queue_p = queue;
    return MEMSPAN_OK;
}

void ofi_queue_close(struct msp_network_queue *queue)
{
    close_endpoint(queue);
    close_part((queue->receives_mr != NULL) ? &queue->receives_mr->fid : NULL);
    while (queue->closed != NULL) {
        struct msp_network_peer *peer = queue->closed;
        queue->closed                 = peer->next_closed;
        free(peer);
    }
    ofi_pool_release(&queue->records);
    ofi_pool_release(&queue->copies);
    free(queue->receives);
    free(queue);
}

memspan_status_t ofi_queue_address(struct msp_network_queue *queue, void *address,
                                   size_t *address_bytes_p)
{
    return ofi_address_pack(queue->endpoint, address, address_bytes_p);
}

/* A message: the size of its header, the header, the padding before the payload, the payload. */
static void deliver(const struct ofi_receive *receive, size_t bytes)
{
    uint64_t header_bytes = 0;

    if (bytes < OFI_PREFIX_BYTES) {
        ofi.services->note("ofi: a message of %zu bytes is not ours", bytes);
        return;
    }
    memcpy(&header_bytes, receive->bytes, sizeof header_bytes);
    const size_t start = ofi_message_payload(header_bytes);
    if ((header_bytes > OFI_COPY_BYTES) || (start > bytes)) {
        ofi.services->note("ofi: a message of %zu bytes has a header of %llu", bytes,
                           (unsigned long long)header_bytes);
        return;
    }
    ofi.services->receive(receive->bytes + OFI_PREFIX_BYTES, header_bytes, receive->bytes + start,
                          bytes - start);
}

/* Those whose messages are handled, as many as libfabric has space for. */
static void post_again(struct msp_network_queue *queue)
{
    for (size_t i = 0; (i < OFI_RECEIVES) && (queue->unposted != 0); i++) {
        if (!queue->receives[i].is_posted && (post(queue, &queue->receives[i]) == 0)) {
            queue->unposted--;
        }
    }
}

/* Its buffer is posted when no completion is left, off the path of an answer. */
static void received(struct msp_network_queue *queue, struct ofi_receive *receive, size_t bytes)
{
    receive->is_posted = false;
    queue->unposted++;
    deliver(receive, bytes);
}

static struct ofi_receive *receive_of(struct ofi_context *context)
{
    return (void *)((char *)context - offsetof(struct ofi_receive, context));
}

static struct ofi_record *record_of(struct ofi_context *context)
{
    return (void *)((char *)context - offsetof(struct ofi_record, context));
}

static void entry_done(struct msp_network_queue *queue, const struct fi_cq_msg_entry *entry)
{
    struct ofi_context *context = entry->op_context;

    if (context == NULL) {
        return;
    }
    if (context->kind == OFI_RECEIVE) {
        received(queue, receive_of(context), entry->len);
    } else {
        ofi_record_complete(record_of(context), 0, NULL);
    }
}

/* One error of the completion queue. */
static void entry_failed(struct msp_network_queue *queue)
{
    struct fi_cq_err_entry entry = {0};
    char text[128]               = "";

    if (fi_cq_readerr(queue->completions, &entry, 0) <= 0) {
        return;
    }
    const char *words =
        fi_cq_strerror(queue->completions, entry.prov_errno, entry.err_data, text, sizeof text);
    struct ofi_context *context = entry.op_context;
    if (context == NULL) {
        ofi.services->note("ofi: %s, of no operation", fi_strerror(entry.err));
        return;
    }
    if (context->kind != OFI_RECEIVE) {
        ofi_record_complete(record_of(context), entry.err, words);
        return;
    }
    /* A receive whose sender is gone, or whose queue closes. */
    if (entry.err != FI_ECANCELED) {
        ofi.services->note("ofi: a message is lost: %s", fi_strerror(entry.err));
    }
    receive_of(context)->is_posted = false;
    queue->unposted++;
}

unsigned ofi_queue_progress(struct msp_network_queue *queue)
{
    struct fi_cq_msg_entry entries[ENTRIES];
    unsigned events = queue->was_armed ? 1 : 0;

    queue->was_armed    = false;
    const ssize_t count = fi_cq_read(queue->completions, entries, ENTRIES);
    if (count > 0) {
        for (ssize_t i = 0; i < count; i++) {
            entry_done(queue, &entries[i]);
        }
        events += (unsigned)count;
    } else if (count == -FI_EAVAIL) {
        entry_failed(queue);
        events++;
    }
    if ((queue->unposted != 0) && ((count <= 0) || (queue->unposted >= UNPOSTED_MAX))) {
        post_again(queue);
    }
    return events;
}

int ofi_queue_descriptor(struct msp_network_queue *queue)
{
    return queue->descriptor;
}

bool ofi_queue_arm(struct msp_network_queue *queue, int *timeout_ms_p)
{
    struct fid *fids[1] = {&queue->completions->fid};

    if (!ofi.is_tcp && ((*timeout_ms_p < 0) || (*timeout_ms_p > LOST_EVENTS_MS))) {
        *timeout_ms_p = LOST_EVENTS_MS;
    }
    queue->was_armed = true;
    if (queue->descriptor < 0) {
        *timeout_ms_p = POLL_MS; /* shm's fi_trywait() needs a wait object */
        return true;
    }
    return fi_trywait(ofi.fabric, fids, 1) == FI_SUCCESS;
}
