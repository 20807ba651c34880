/* SPDX-License-Identifier: BSD-3-Clause */
/* raw-ucx: UCP. */

#include "raw.h"
#include <stdio.h>
#include <string.h>
#include <ucp/api/ucp.h>

enum { TAG = 7, WAIT_PROGRESS_MAX = 1000 };

static ucp_context_h context;
static ucp_worker_h worker;
static ucp_mem_h memory;
static ucp_ep_h endpoint;
static ucp_rkey_h key;
static uint64_t peer_base;
static void *expected; /* the receive that is posted */

/* What the other process gets, followed by the address and the key. */
struct card {
    uint64_t base;
    uint32_t address_bytes;
    uint32_t key_bytes;
};

static void check(ucs_status_t status, const char *call)
{
    if (status != UCS_OK) {
        raw_fail(call, ucs_status_string(status));
    }
}

unsigned raw_progress(void)
{
    return ucp_worker_progress(worker);
}

static void await(void *request, const char *call)
{
    if (request == NULL) {
        return;
    }
    if (UCS_PTR_IS_ERR(request)) {
        check(UCS_PTR_STATUS(request), call);
    }
    while (ucp_request_check_status(request) == UCS_INPROGRESS) {
        raw_wait_step();
    }
    check(ucp_request_check_status(request), call);
    ucp_request_free(request);
}

static void open_worker(void)
{
    const ucp_params_t params               = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                                               .features = UCP_FEATURE_RMA | UCP_FEATURE_AMO64 | UCP_FEATURE_TAG};
    const ucp_worker_params_t worker_params = {.field_mask  = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                               .thread_mode = UCS_THREAD_MODE_SINGLE};
    ucp_config_t *config;

    check(ucp_config_read(NULL, NULL, &config), "ucp_config_read");
    check(ucp_init(&params, config, &context), "ucp_init");
    ucp_config_release(config);
    check(ucp_worker_create(context, &worker_params, &worker), "ucp_worker_create");
}

void raw_open(struct raw_side *side, void *card, size_t *card_bytes_p)
{
    const ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                                                    UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                      .address = side,
                                      .length  = sizeof(*side)};
    struct card head               = {.base = (uintptr_t)side};
    ucp_address_t *address;
    size_t address_bytes;
    void *packed;
    size_t packed_bytes;

    open_worker();
    check(ucp_mem_map(context, &map, &memory), "ucp_mem_map");
    check(ucp_rkey_pack(context, memory, &packed, &packed_bytes), "ucp_rkey_pack");
    check(ucp_worker_get_address(worker, &address, &address_bytes), "ucp_worker_get_address");
    if (sizeof(head) + address_bytes + packed_bytes > *card_bytes_p) {
        raw_fail("raw-ucx", "the address and the key are too large");
    }
    head.address_bytes = (uint32_t)address_bytes;
    head.key_bytes     = (uint32_t)packed_bytes;
    memcpy(card, &head, sizeof(head));
    memcpy((char *)card + sizeof(head), address, address_bytes);
    memcpy((char *)card + sizeof(head) + address_bytes, packed, packed_bytes);
    *card_bytes_p = sizeof(head) + address_bytes + packed_bytes;
    ucp_rkey_buffer_release(packed);
    ucp_worker_release_address(worker, address);
}

void raw_connect(const void *card, size_t card_bytes)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS};
    const char *bytes      = card;
    struct card head;

    (void)card_bytes;
    memcpy(&head, bytes, sizeof(head));
    params.address = (const ucp_address_t *)(const void *)(bytes + sizeof(head));
    peer_base      = head.base;
    check(ucp_ep_create(worker, &params, &endpoint), "ucp_ep_create");
    check(ucp_ep_rkey_unpack(endpoint, bytes + sizeof(head) + head.address_bytes, &key),
          "ucp_ep_rkey_unpack");
}

void raw_describe(char *text, size_t text_bytes)
{
    (void)snprintf(text, text_bytes, "UCX %s", ucp_get_version_string());
}

void raw_put(size_t offset, const void *source, size_t size_bytes)
{
    const ucp_request_param_t none = {.op_attr_mask = 0};
    void *request = ucp_put_nbx(endpoint, source, size_bytes, peer_base + offset, key, &none);

    if (UCS_PTR_IS_PTR(request)) {
        ucp_request_free(request); /* it ends by itself; the flush waits for it */
    } else {
        check(UCS_PTR_STATUS(request), "ucp_put_nbx");
    }
}

void raw_flush(void)
{
    const ucp_request_param_t none = {.op_attr_mask = 0};

    await(ucp_ep_flush_nbx(endpoint, &none), "ucp_ep_flush_nbx");
}

void raw_get(size_t offset, void *dest, size_t size_bytes)
{
    const ucp_request_param_t none = {.op_attr_mask = 0};

    await(ucp_get_nbx(endpoint, dest, size_bytes, peer_base + offset, key, &none), "ucp_get_nbx");
}

long raw_fetch_add(size_t offset, long value)
{
    long old                        = 0;
    const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE |
                                                       UCP_OP_ATTR_FIELD_REPLY_BUFFER,
                                       .datatype     = ucp_dt_make_contig(sizeof(value)),
                                       .reply_buffer = &old};

    await(
        ucp_atomic_op_nbx(endpoint, UCP_ATOMIC_OP_ADD, &value, 1, peer_base + offset, key, &param),
        "ucp_atomic_op_nbx");
    return old;
}

void raw_expect(void *buffer, size_t size_bytes)
{
    const ucp_request_param_t flags = {.op_attr_mask = UCP_OP_ATTR_FLAG_NO_IMM_CMPL};

    expected = ucp_tag_recv_nbx(worker, buffer, size_bytes, TAG, UINT64_MAX, &flags);
}

void raw_receive(void)
{
    await(expected, "ucp_tag_recv_nbx");
}

void raw_send(const void *source, size_t size_bytes)
{
    const ucp_request_param_t none = {.op_attr_mask = 0};

    await(ucp_tag_send_nbx(endpoint, source, size_bytes, TAG, &none), "ucp_tag_send_nbx");
}

/* The other process may be gone already: a bounded number of steps. */
void raw_close(void)
{
    const ucp_request_param_t force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                       .flags        = UCP_EP_CLOSE_FLAG_FORCE};
    void *request;

    ucp_rkey_destroy(key);
    request = ucp_ep_close_nbx(endpoint, &force);
    for (int i = 0; UCS_PTR_IS_PTR(request) && (i < WAIT_PROGRESS_MAX); i++) {
        (void)ucp_worker_progress(worker);
    }
    (void)ucp_mem_unmap(context, memory);
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
}
