/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_NETWORK_UCX_SETTING_H
#define MEMSPAN_SHMEM_NETWORK_UCX_SETTING_H

/* Our changes to UCX's settings, each where the user has not set its variable.
 *
 * - TCP_TX_SEG_SIZE, TCP_RX_SEG_SIZE: gets over TCP, and puts, are messages of UCX's of so many
 *   bytes, each acknowledged. 8 KiB make a get of 1 MiB three times as long as 128 KiB.
 * - WARN_UNUSED_ENV_VARS: a variable for the verbs is no mistake where TCP is chosen.
 * - TLS: no shared memory of UCX's, which takes 4 MB a PE where smp reaches the host.
 * - TLS again: TCP, whose port serves anyone, only where it is requested.
 * - NET_DEVICES: TCP of a job of one host listens on its loopback interface, that of several hosts
 *   on all others.
 * - ADAPTIVE_PROGRESS: an interface of TCP stays in use without an endpoint.
 * - HANDLE_ERRORS, DEBUG_SIGNO: UCX's handlers of signals replace the program's.
 * - LOG_LEVEL, LOG_FILE: UCX prints to standard output; its messages go to our log. */

#include "shmem/network/ucx/ucx.h"

/* Of the process, before the context. */
void msp_ucx_settings_apply(void);
/* The opposite, where UCX would call us. */
void msp_ucx_settings_revert(void);
/* The user has chosen transports. */
bool msp_ucx_settings_choose(void);
/* TCP, and no other network beside it: "tcp", "tcp,self", "cuda_copy,tcp". */
bool msp_ucx_settings_choose_tcp(void);
/* The user has chosen devices, of which TCP alone may be there. */
bool msp_ucx_settings_choose_devices(void);

/* Networks that a context may use where the user has not chosen. */
enum msp_ucx_networks {
    MSP_UCX_RDMA,     /* and no listener of UCX's TCP */
    MSP_UCX_LOOPBACK, /* TCP over lo alone */
    MSP_UCX_ANY,      /* TCP between hosts */
};
void msp_ucx_settings_configure(ucp_config_t *config, enum msp_ucx_networks networks);

#endif /* MEMSPAN_SHMEM_NETWORK_UCX_SETTING_H */
