/* SPDX-License-Identifier: BSD-3-Clause */
/* ucx.c: the driver's table, and its error records. */

#include "shmem/network/ucx/ucx.h"
#include <stdarg.h>
#include <stdio.h>

struct msp_ucx msp_ucx;

memspan_status_t msp_ucx_fail(ucs_status_t status, const char *call, const char *hint,
                              const char *format, ...)
{
    static const struct {
        ucs_status_t ucx;
        memspan_status_t status;
    } map[] = {
        {UCS_ERR_NO_MEMORY, MEMSPAN_ERR_NO_MEMORY},
        {UCS_ERR_UNREACHABLE, MEMSPAN_ERR_UNREACHABLE},
        {UCS_ERR_UNSUPPORTED, MEMSPAN_ERR_UNSUPPORTED},
        {UCS_ERR_EXCEEDS_LIMIT, MEMSPAN_ERR_LIMIT},
        {UCS_ERR_INVALID_PARAM, MEMSPAN_ERR_INVALID},
    };
    memspan_status_t found = MEMSPAN_ERR_DRIVER;
    char text[512];
    va_list list;
    size_t i;

    for (i = 0; i < sizeof map / sizeof map[0]; i++) {
        if (map[i].ucx == status) {
            found = map[i].status;
        }
    }
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return msp_ucx.services->fail(found, call, status, ucs_status_string(status), hint, "%s", text);
}

static const struct msp_network_driver driver = {
    .version          = MSP_NETWORK_DRIVER_VERSION,
    .name             = "ucx",
    .open             = msp_ucx_open,
    .close            = msp_ucx_close,
    .describe         = msp_ucx_describe,
    .queue_open       = msp_ucx_queue_open,
    .queue_close      = msp_ucx_queue_close,
    .queue_address    = msp_ucx_queue_address,
    .queue_progress   = msp_ucx_queue_progress,
    .queue_descriptor = msp_ucx_queue_descriptor,
    .queue_arm        = msp_ucx_queue_arm,
    .peer_open        = msp_ucx_peer_open,
    .peer_close       = msp_ucx_peer_close,
    .peer_describe    = msp_ucx_peer_describe,
    .memory_register  = msp_ucx_memory_register,
    .memory_release   = msp_ucx_memory_release,
    .key_open         = msp_ucx_key_open,
    .key_close        = msp_ucx_key_close,
    .put              = msp_ucx_put,
    .get              = msp_ucx_get,
    .send             = msp_ucx_send,
    .flush            = msp_ucx_flush,
    .order            = NULL, /* UCX orders no puts that it emulates by messages */
};

MEMSPAN_API const struct msp_network_driver *
memspan_network_driver(const struct msp_network_services *services);

const struct msp_network_driver *memspan_network_driver(const struct msp_network_services *services)
{
    if (services->version != MSP_NETWORK_DRIVER_VERSION) {
        return NULL;
    }
    msp_ucx.services = services;
    return &driver;
}
