/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_NETWORK_UCX_RAIL_H
#define MEMSPAN_SHMEM_NETWORK_UCX_RAIL_H

/* The transports that an endpoint uses, its rails: read from the text that UCX prints of it, which
 * has stayed the same since 1.11. (ucp_ep_query() has it since 1.14 alone.) */

#include "shmem/network/ucx/ucx.h"

enum { MSP_UCX_RAILS = 16, MSP_UCX_RAIL_NAME = 32 };

struct msp_ucx_rail {
    char transport[MSP_UCX_RAIL_NAME]; /* "tcp" */
    char device[MSP_UCX_RAIL_NAME];    /* "eth0" */
};

struct msp_ucx_rails {
    unsigned count;
    struct msp_ucx_rail rails[MSP_UCX_RAILS];
};

void msp_ucx_rails_of(ucp_ep_h endpoint, struct msp_ucx_rails *rails_p);
/* "tcp over eth0, cma over memory" */
void msp_ucx_rails_describe(const struct msp_ucx_rails *rails, char *text, size_t text_bytes);

/* peer.c: an endpoint of @p worker. */
ucs_status_t msp_ucx_endpoint(ucp_worker_h worker, const void *address,
                              ucp_err_handling_mode_t mode, struct msp_network_peer *peer,
                              ucp_ep_h *endpoint_p);

#endif /* MEMSPAN_SHMEM_NETWORK_UCX_RAIL_H */
