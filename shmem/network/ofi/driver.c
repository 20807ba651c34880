/* SPDX-License-Identifier: BSD-3-Clause */
/* driver.c: the table of the driver over libfabric; the objects that are opened once a process. */

#include "shmem/network/ofi/ofi.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct ofi_driver ofi;

memspan_status_t ofi_fail(memspan_status_t status, const char *call, long code, const char *hint,
                          const char *format, ...)
{
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return ofi.services->fail(status, call, code, (code < 0) ? fi_strerror((int)-code) : NULL, hint,
                              "%s", text);
}

/* Writes of any size to one peer take effect in order. */
static bool keeps_write_order(const struct fi_info *info)
{
    return ((info->tx_attr->msg_order & FI_ORDER_WAW) != 0) &&
           (info->ep_attr->max_order_waw_size >= info->ep_attr->max_msg_size);
}

static void set_properties(struct msp_network_limits *limits)
{
    const struct fi_info *info = ofi.info;
    const int mode             = info->domain_attr->mr_mode;
    const bool is_ordered      = keeps_write_order(info) &&
                            ((info->tx_attr->msg_order & FI_ORDER_SAW) != 0) &&
                            ((info->tx_attr->msg_order & FI_ORDER_SAS) != 0);

    ofi.inject_bytes = info->tx_attr->inject_size;
    if (ofi.inject_bytes > OFI_INLINE_BYTES) {
        ofi.inject_bytes = OFI_INLINE_BYTES;
    }
    ofi.needs_local  = (mode & FI_MR_LOCAL) != 0;
    ofi.is_virtual   = (mode & FI_MR_VIRT_ADDR) != 0;
    ofi.takes_device = (info->caps & FI_HMEM) != 0;
    ofi.is_tcp       = ofi_provider_is("tcp");
    /* Of hardware every completion of a write is the target's acknowledgement. */
    ofi.is_lazy = ofi.is_tcp && keeps_write_order(info);

    limits->put_done_max_bytes  = OFI_COPY_BYTES;
    limits->message_max_bytes   = OFI_MESSAGE_BYTES;
    limits->signalled_max_bytes = OFI_SIGNALLED_BYTES;
    limits->aggregate_max_bytes = ofi.is_tcp ? OFI_AGGREGATE_BYTES : 0;
    limits->is_ordered          = is_ordered;
    limits->puts_pass_messages  = true;
    limits->target_progresses =
        (info->domain_attr->data_progress != FI_PROGRESS_AUTO) && !ofi_provider_is("verbs");
    /* Over tcp the kernel copies a get's data, in pieces of its own choice (libfabric stages an
     * answer only behind others that wait). */
    limits->gets_words           = false;
    limits->pins_memory          = (mode & FI_MR_ALLOCATED) != 0;
    limits->takes_device_memory  = ofi.takes_device;
    limits->has_uncounted_puts   = limits->target_progresses;
    limits->is_open_to_strangers = ofi_provider_is_kernel();
}

static memspan_status_t open_domain(void)
{
    int code = fi_fabric(ofi.info->fabric_attr, &ofi.fabric, NULL);
    if (code != 0) {
        return ofi_fail(MEMSPAN_ERR_DRIVER, "fi_fabric", code, NULL, "ofi: %s cannot be opened",
                        ofi.info->fabric_attr->prov_name);
    }
    code = fi_domain(ofi.fabric, ofi.info, &ofi.domain, NULL);
    if (code != 0) {
        return ofi_fail(MEMSPAN_ERR_DRIVER, "fi_domain", code, NULL,
                        "ofi: %s cannot open its device %s", ofi.info->fabric_attr->prov_name,
                        ofi.info->domain_attr->name);
    }
    return MEMSPAN_OK;
}

static void driver_close(void)
{
    if (ofi.domain != NULL) {
        (void)fi_close(&ofi.domain->fid);
    }
    if (ofi.fabric != NULL) {
        (void)fi_close(&ofi.fabric->fid);
    }
    if (ofi.info != NULL) {
        fi_freeinfo(ofi.info);
    }
    ofi.domain = NULL;
    ofi.fabric = NULL;
    ofi.info   = NULL;
}

static memspan_status_t driver_open(const struct msp_network_job *job,
                                    struct msp_network_limits *limits_p)
{
    struct msp_network_limits limits = {0};

    ofi.job = *job;

    memspan_status_t status = ofi_provider_choose(&ofi.info);
    if (status == MEMSPAN_OK) {
        status = open_domain();
    }
    if (status != MEMSPAN_OK) {
        driver_close();
        return status;
    }
    set_properties(&limits);
    *limits_p = limits;
    return MEMSPAN_OK;
}

/* "libfabric 1.17, tcp;ofi_rxm over eth0" */
static void driver_describe(char *text, size_t text_bytes)
{
    const uint32_t version = fi_version();

    (void)snprintf(text, text_bytes, "libfabric %u.%u, %s over %s", FI_MAJOR(version),
                   FI_MINOR(version), ofi.info->fabric_attr->prov_name,
                   ofi.info->domain_attr->name);
}

static const struct msp_network_driver driver = {
    .version          = MSP_NETWORK_DRIVER_VERSION,
    .name             = "ofi",
    .open             = driver_open,
    .close            = driver_close,
    .describe         = driver_describe,
    .queue_open       = ofi_queue_open,
    .queue_close      = ofi_queue_close,
    .queue_address    = ofi_queue_address,
    .queue_progress   = ofi_queue_progress,
    .queue_descriptor = ofi_queue_descriptor,
    .queue_arm        = ofi_queue_arm,
    .peer_open        = ofi_peer_open,
    .peer_close       = ofi_peer_close,
    .peer_describe    = ofi_peer_describe,
    .memory_register  = ofi_memory_register,
    .memory_release   = ofi_memory_release,
    .key_open         = ofi_key_open,
    .key_close        = ofi_key_close,
    .put              = ofi_put,
    .get              = ofi_get,
    .send             = ofi_send,
    .flush            = ofi_flush,
    .order            = NULL, /* flush() where is_ordered is false */
};

/* The entry of the plug-in. */
__attribute__((visibility("default"))) const struct msp_network_driver *
memspan_network_driver(const struct msp_network_services *services);

const struct msp_network_driver *memspan_network_driver(const struct msp_network_services *services)
{
    if (services->version != MSP_NETWORK_DRIVER_VERSION) {
        return NULL;
    }
    ofi.services = services;
    return &driver;
}
