/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_BOOTSTRAP_DAEMON_H
#define MEMSPAN_SHMEM_BOOTSTRAP_DAEMON_H

/* The process that has started this PE: a launcher's daemon, or the launcher. */

/* Ask it to end, when it has not ended the job, or itself, after so many seconds, and kill it when
 * it has not after as many again. A daemon that has lost its launcher waits for it, and a launcher
 * for its daemons, until TCP gives up after a quarter of an hour. Nothing happens where there is no
 * process of a known name. */
void msp_bootstrap_end_daemon(unsigned after_s);

#endif /* MEMSPAN_SHMEM_BOOTSTRAP_DAEMON_H */
