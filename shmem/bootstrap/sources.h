/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_BOOTSTRAP_SOURCES_H
#define MEMSPAN_SHMEM_BOOTSTRAP_SOURCES_H

#include "core/base/variable.h"
#include "shmem/bootstrap.h"

/* Sources of the PEs of a job, in the order in which they are tried: the channel of our own
 * launcher (memspan/launch.h), PMIx (mpirun, prterun, Slurm), PMI-1 (MPICH's and Intel MPI's
 * mpiexec, Slurm, Flux), none: a job of one. */

extern const struct msp_bootstrap msp_bootstrap_launch;
extern const struct msp_bootstrap msp_bootstrap_pmix;
extern const struct msp_bootstrap msp_bootstrap_pmi;
extern const struct msp_bootstrap msp_bootstrap_single;

/* The exit status of a process for that status: its low byte, but never 0 for a status other than
 * 0. */
static inline int msp_bootstrap_exit_code(int status)
{
    int code = status & 0xff;
    return status != 0 && code == 0 ? 1 : code;
}

/* ---- launchers' variables ---- */

/* Launchers' variables in the environment. These variables are theirs, not ours: they are in no
 * table of options, and are read when a job is opened, never kept. */

/* The description of the job by a launcher without a channel to this process. */
struct msp_bootstrap_claim {
    const char *variable; /* where it has it so; NULL: no launcher left a trace */
    const char *launcher; /* in words */
    const char *remedy;   /* how to start programs by it so that they find each other */
    int pe_count;         /* 0: not given */
};
struct msp_bootstrap_claim msp_bootstrap_find_claim(void);

/* ---- the mapping of PMI-1 ---- */

enum {
    MSP_PMI_MAPPING_UNKNOWN   = -1, /* the launcher says that it does not know */
    MSP_PMI_MAPPING_MALFORMED = -2,
};

/* The node of a PE by PMI_process_mapping, a text that ends with a blank or a null; or one of the
 * above. */
int msp_pmi_mapping_node(const char *mapping, int pe);

/* ---- hosts ---- */

/* Which PEs of a node are of one host. Launchers name the PEs of a node; those of them share memory
 * that are under one kernel, in one PID namespace (they open each other's files through /proc) and
 * in one IPC namespace. Containers with namespaces of their own are hosts of their own. */

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

/* ---- daemons ---- */

/* The process that has started this PE: a launcher's daemon, or the launcher. */

/* Ask it to end, when it has not ended the job, or itself, after so many seconds, and kill it when
 * it has not after as many again. A daemon that has lost its launcher waits for it, and a launcher
 * for its daemons, until TCP gives up after a quarter of an hour. Nothing happens where there is no
 * process of a known name. */
void msp_bootstrap_end_daemon(unsigned after_s);

#endif /* MEMSPAN_SHMEM_BOOTSTRAP_SOURCES_H */
