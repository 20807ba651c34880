/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_NETWORK_UCX_SETTING_H
#define MEMSPAN_SHMEM_NETWORK_UCX_SETTING_H

/* What we change of UCX's settings, each where the user has not set its variable:
 *
 *     TCP_TX_SEG_SIZE, TCP_RX_SEG_SIZE   gets over TCP, and puts, are messages of UCX's of so many
 *                                        bytes, each acknowledged. 8 KiB make a get of 1 MiB three
 *                                        times as long as 128 KiB
 *     WARN_UNUSED_ENV_VARS               a variable for the verbs is no mistake where TCP is chosen
 *     HANDLE_ERRORS, DEBUG_SIGNO         UCX's handlers of signals, which replace the program's
 *     LOG_LEVEL, LOG_FILE                UCX prints to standard output: its messages go to our log
 */

#include "shmem/network/ucx/ucx.h"

/* Of the process, before the context. */
void msp_ucx_settings_apply(void);
/* The opposite, where UCX would call us. */
void msp_ucx_settings_revert(void);
/* The user has chosen transports or devices. */
bool msp_ucx_settings_choose(void);
/* Of a context. */
void msp_ucx_settings_configure(ucp_config_t *config);

#endif /* MEMSPAN_SHMEM_NETWORK_UCX_SETTING_H */
