/* SPDX-License-Identifier: BSD-3-Clause */
/* context.c: UCX's context, and the guarantees of its transports.
 *
 * UCX chooses transports by peer. Its choice for a peer on another host is found once: an endpoint
 * to this process, by an address of network devices alone, has the same rails. */

#include "shmem/network/ucx/rail.h"
#include "shmem/network/ucx/setting.h"
#include <stdio.h>
#include <string.h>

/* ---- guarantees of the transports ---- */

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* A network device that reads and writes registered memory without its owner. */
static bool is_remote_dma(const char *transport)
{
    return starts_with(transport, "rc") || starts_with(transport, "dc") ||
           starts_with(transport, "gga");
}

static bool is_verbs(const char *transport)
{
    return is_remote_dma(transport) || starts_with(transport, "ud");
}

static void add_transport(const char *name)
{
    const size_t used = strlen(msp_ucx.transports);

    if (strstr(msp_ucx.transports, name) == NULL) {
        snprintf(msp_ucx.transports + used, sizeof msp_ucx.transports - used, "%s%s",
                 (used == 0) ? "" : ", ", name);
    }
}

static bool is_tcp(const struct msp_ucx_rails *rails)
{
    return (rails->count == 1) && (strcmp(rails->rails[0].transport, "tcp") == 0);
}

static bool has_tcp(const struct msp_ucx_rails *rails)
{
    unsigned i;

    for (i = 0; i < rails->count; i++) {
        if (strcmp(rails->rails[i].transport, "tcp") == 0) {
            return true;
        }
    }
    return false;
}

static void judge(const struct msp_ucx_rails *rails)
{
    struct msp_network_limits *limits = &msp_ucx.limits;
    bool is_dma                       = false;
    unsigned i;

    limits->pins_memory   = false;
    msp_ucx.loses_events  = false;
    msp_ucx.transports[0] = '\0';
    for (i = 0; i < rails->count; i++) {
        add_transport(rails->rails[i].transport);
        is_dma               = is_dma || is_remote_dma(rails->rails[i].transport);
        limits->pins_memory  = limits->pins_memory || is_verbs(rails->rails[i].transport);
        msp_ucx.loses_events = msp_ucx.loses_events || is_verbs(rails->rails[i].transport);
    }
    limits->target_progresses = !is_dma;
    /* UCX emulates puts over TCP by messages, and one rail keeps its messages in order. */
    limits->is_ordered         = is_tcp(rails);
    limits->put_done_max_bytes = MSP_UCX_COPY_MAX;
    limits->message_max_bytes  = MSP_UCX_MESSAGE_MAX;
    /* Over TCP a flush is a message and its acknowledgement, behind those of the put. */
    limits->put_message_max_bytes = is_tcp(rails) ? MSP_UCX_PUT_MESSAGE_MAX : 0;
    limits->signalled_max_bytes   = is_tcp(rails) ? MSP_UCX_PUT_MESSAGE_MAX : MSP_UCX_SIGNALLED_MAX;
    limits->get_message_max_bytes = 0;
    limits->aggregate_max_bytes   = is_tcp(rails) ? MSP_UCX_AGGREGATE_MAX : 0;
    /* The target copies its answer, by memcpy(). */
    limits->gets_words           = is_tcp(rails);
    limits->takes_device_memory  = (msp_ucx.memory_types & ~UINT64_C(1)) != 0;
    limits->is_open_to_strangers = has_tcp(rails);
}

/* ---- queries of UCX ---- */

static void finish(ucp_worker_h worker, void *request)
{
    if (UCS_PTR_IS_PTR(request)) {
        while (ucp_request_check_status(request) == UCS_INPROGRESS) {
            ucp_worker_progress(worker);
        }
        ucp_request_free(request);
    }
}

/* Over verbs an endpoint connects by messages, and UCX ends the process when it is closed before
 * they have been sent (1.13): a flush waits for them. */
static void close_endpoint(ucp_worker_h worker, ucp_ep_h endpoint)
{
    const ucp_request_param_t none  = {.op_attr_mask = 0};
    const ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags = (msp_ucx.error_mode == UCP_ERR_HANDLING_MODE_PEER) ? UCP_EP_CLOSE_FLAG_FORCE : 0,
    };

    finish(worker, ucp_ep_flush_nbx(endpoint, &none));
    finish(worker, ucp_ep_close_nbx(endpoint, &param));
}

/* The endpoint with the best address and mode that has transports at all. A transport that reaches
 * this host alone counts where the user has chosen it. */
static ucs_status_t reach_self(ucp_worker_h worker, ucp_ep_h *endpoint_p)
{
    static const struct {
        uint32_t address;
        ucp_err_handling_mode_t mode;
    } tries[] = {
        {UCP_WORKER_ADDRESS_FLAG_NET_ONLY, UCP_ERR_HANDLING_MODE_PEER},
        {UCP_WORKER_ADDRESS_FLAG_NET_ONLY, UCP_ERR_HANDLING_MODE_NONE},
        {0, UCP_ERR_HANDLING_MODE_PEER},
        {0, UCP_ERR_HANDLING_MODE_NONE},
    };
    const size_t count = msp_ucx_settings_choose() ? 4 : 2;
    static struct msp_network_peer self;
    ucs_status_t status = UCS_ERR_UNREACHABLE;
    ucp_worker_attr_t attributes;
    size_t i;

    for (i = 0; (status != UCS_OK) && (i < count); i++) {
        attributes = (ucp_worker_attr_t){
            .field_mask    = UCP_WORKER_ATTR_FIELD_ADDRESS | UCP_WORKER_ATTR_FIELD_ADDRESS_FLAGS,
            .address_flags = tries[i].address,
        };
        status = ucp_worker_query(worker, &attributes);
        if (status != UCS_OK) {
            return status;
        }
        self.is_failed     = true; /* its end is of no interest */
        msp_ucx.error_mode = tries[i].mode;
        status = msp_ucx_endpoint(worker, attributes.address, tries[i].mode, &self, endpoint_p);
        ucp_worker_release_address(worker, attributes.address);
    }
    return status;
}

static memspan_status_t find_limits(void)
{
    const ucp_worker_params_t param = {.field_mask = 0};
    struct msp_ucx_rails rails;
    ucp_worker_h worker;
    ucp_ep_h endpoint;
    ucs_status_t status = ucp_worker_create(msp_ucx.context, &param, &worker);

    if (status != UCS_OK) {
        return msp_ucx_fail(status, "ucp_worker_create", NULL, "UCX opens no queue");
    }
    msp_ucx.is_trying = true;
    status            = reach_self(worker, &endpoint);
    msp_ucx.is_trying = false;
    if (status == UCS_OK) {
        msp_ucx_rails_of(endpoint, &rails);
        judge(&rails);
        close_endpoint(worker, endpoint);
    }
    ucp_worker_destroy(worker);
    return (status == UCS_OK)
               ? MEMSPAN_OK
               : msp_ucx_fail(status, "ucp_ep_create",
                              "other transports or devices, by UCX_TLS and UCX_NET_DEVICES",
                              "UCX has no transport for messages");
}

/* ---- open, close ---- */

static ucs_status_t make_context(const struct msp_network_job *job, ucp_config_t *config)
{
    const ucp_params_t param = {
        .field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED |
                      UCP_PARAM_FIELD_ESTIMATED_NUM_EPS | UCP_PARAM_FIELD_ESTIMATED_NUM_PPN,
        .features          = UCP_FEATURE_RMA | UCP_FEATURE_AM | UCP_FEATURE_WAKEUP,
        .mt_workers_shared = 1,
        .estimated_num_eps = (size_t)job->pe_count,
        .estimated_num_ppn = (size_t)job->local_count,
    };

    return ucp_init(&param, config, &msp_ucx.context);
}

static memspan_status_t start_with(const struct msp_network_job *job,
                                   enum msp_ucx_networks networks)
{
    ucp_context_attr_t attributes = {.field_mask = UCP_ATTR_FIELD_MEMORY_TYPES};
    memspan_status_t result;
    ucp_config_t *config;
    ucs_status_t status = ucp_config_read(NULL, NULL, &config);

    if (status != UCS_OK) {
        return msp_ucx_fail(status, "ucp_config_read", "the variables UCX_*",
                            "UCX does not take its configuration");
    }
    msp_ucx_settings_configure(config, networks);
    status = make_context(job, config);
    ucp_config_release(config);
    if (status != UCS_OK) {
        return msp_ucx_fail(status, "ucp_init",
                            "ucx_info -d lists what it finds; UCX_TLS and UCX_NET_DEVICES restrict "
                            "it",
                            "UCX does not start");
    }
    status               = ucp_context_query(msp_ucx.context, &attributes);
    msp_ucx.memory_types = (status == UCS_OK) ? attributes.memory_types : 1;
    result               = find_limits();
    if (result != MEMSPAN_OK) {
        ucp_cleanup(msp_ucx.context);
    }
    return result;
}

/* TCP after RDMA where it is requested, by devices too. */
static memspan_status_t start(const struct msp_network_job *job)
{
    const enum msp_ucx_networks tcp = job->is_one_network ? MSP_UCX_LOOPBACK : MSP_UCX_ANY;
    memspan_status_t result = start_with(job, msp_ucx_settings_choose_tcp() ? tcp : MSP_UCX_RDMA);

    if ((result != MEMSPAN_OK) && !msp_ucx_settings_choose() &&
        (job->takes_kernel_tcp || msp_ucx_settings_choose_devices())) {
        result = start_with(job, tcp);
    }
    return result;
}

memspan_status_t msp_ucx_open(const struct msp_network_job *job,
                              struct msp_network_limits *limits_p)
{
    memspan_status_t result;

    msp_ucx_settings_apply();
    result = start(job);
    if (result != MEMSPAN_OK) {
        msp_ucx_settings_revert();
        return result;
    }
    *limits_p = msp_ucx.limits;
    return MEMSPAN_OK;
}

void msp_ucx_close(void)
{
    ucp_cleanup(msp_ucx.context);
    msp_ucx_settings_revert();
}

void msp_ucx_describe(char *text, size_t text_bytes)
{
    unsigned major;
    unsigned minor;
    unsigned release;

    ucp_get_version(&major, &minor, &release);
    snprintf(text, text_bytes, "UCX %u.%u.%u, %s%s", major, minor, release, msp_ucx.transports,
             (msp_ucx.error_mode == UCP_ERR_HANDLING_MODE_PEER)
                 ? ""
                 : ", without detection of failed PEs");
}
