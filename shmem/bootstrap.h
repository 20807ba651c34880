/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_BOOTSTRAP_H
#define MEMSPAN_SHMEM_BOOTSTRAP_H

/* The PEs of the job, and how they find each other: one table for each kind of launcher. */

#include "core/base/platform.h"
#include "shmem/error.h"
#include <stdbool.h>

struct msp_bootstrap_job {
    int pe;
    int pe_count;
    int local_index; /* of this PE among local_pes */
    int local_count;
    const int *local_pes; /* PEs on this node, ascending; then on this host (bootstrap/sources.h) */
    bool is_one_network;  /* all PEs are under one kernel, in one network namespace */
    char job_id[64];
    const char *launcher; /* for messages */
};

struct msp_bootstrap {
    const char *name;
    /* node_barrier() is one of all PEs: those that are alone on their node call it, too. */
    bool is_joint;
    /* MEMSPAN_ERR_OFF when the process was not started this way. */
    memspan_status_t (*open)(struct msp_bootstrap_job *job_p);
    memspan_status_t (*put)(const char *key, const void *data, size_t size_bytes);
    /* Every put before it is seen by every get after it; all PEs of the job call.
     * MEMSPAN_ERR_OFF: the launcher serves no more. */
    memspan_status_t (*barrier)(void);
    /* The same for the PEs that open() has put into local_pes; they alone call. */
    memspan_status_t (*node_barrier)(void);
    /* *size_p: in, capacity; out, size. */
    memspan_status_t (*get)(int pe, const char *key, void *data, size_t *size_p);
    /* The launcher ends the job already: a PE that is gone is not the reason. NULL: not known. */
    bool (*is_ending)(void);
    /* Ends the whole job; does not return. */
    void (*abort)(int status, const char *message);
    void (*close)(void);
};

/* Called now and then while a barrier of all PEs waits: fatal when a PE is missed. NULL: nothing is
 * known of the others. */
extern void (*msp_bootstrap_watch)(void) MSP_HIDDEN;

/* The first way that fits. Fatal where a launcher has started several PEs and this process finds
 * itself alone. */
memspan_status_t msp_bootstrap_open(const struct msp_bootstrap **bootstrap_p,
                                    struct msp_bootstrap_job *job_p);

/* True when a PE of this host has ended without finalizing; cheap enough to be called ten times a
 * second.
 * @p pids: of the host's PEs, by local index. */
bool msp_bootstrap_peer_died(const int *pids, int count, int *local_index_p);

/* Before this PE ends the job because another one is gone: two seconds in which the launcher, which
 * has the reason, may end it. A killed PE's connections close before the launcher has detected it.
 */
void msp_bootstrap_let_launcher_speak(void);

#endif /* MEMSPAN_SHMEM_BOOTSTRAP_H */
