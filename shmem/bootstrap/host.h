/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_BOOTSTRAP_HOST_H
#define MEMSPAN_SHMEM_BOOTSTRAP_HOST_H

/* Which PEs of a node are of one host. Launchers name the PEs of a node; those of them share memory
 * that are under one kernel, in one PID namespace (they open each other's files through /proc) and
 * in one IPC namespace. Containers with namespaces of their own are hosts of their own. */

#include "shmem/bootstrap.h"

/* Reduces job_p->local_pes to the PEs that share memory with this one, and finds whether all of the
 * job have one loopback interface. Every PE of the node calls it. @p order: a digest of the
 * variable that divides hosts; it, and the version of Memspan, must be the same in all PEs of a
 * node: an error record names the PE that differs. */
memspan_status_t msp_bootstrap_find_host(const struct msp_bootstrap *bootstrap,
                                         struct msp_bootstrap_job *job_p, uint64_t order);
void msp_bootstrap_forget_host(void);

/* The identity of a kernel's boot: containers share it, a virtual machine has its own. 0: unknown.
 */
uint64_t msp_bootstrap_kernel(void);

/* Equal in processes that have one loopback interface; not 0. */
uint64_t msp_bootstrap_network_namespace(void);

#endif /* MEMSPAN_SHMEM_BOOTSTRAP_HOST_H */
