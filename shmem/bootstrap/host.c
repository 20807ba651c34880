/* SPDX-License-Identifier: BSD-3-Clause */
/* host.c: which PEs of a node share memory. */

#include "core/base/file.h"
#include "shmem/bootstrap/sources.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The record that a PE distributes to those of its node. */
struct identity {
    char version[32]; /* of Memspan; first in all versions */
    uint64_t kernel;
    uint64_t pid_namespace;
    uint64_t ipc_namespace;
    uint64_t net_namespace;
    uint64_t order;
};
static const char key[] = "memspan.host";

static int *host_pes;

/* 0 where the kernel does not report it: then all are of one. */
static uint64_t namespace_of(const char *path)
{
    struct stat facts;

    return (stat(path, &facts) == 0) ? (uint64_t)facts.st_ino : 0;
}

uint64_t msp_bootstrap_kernel(void)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    char text[64];
    const char *c;

    if (msp_file_read("/proc/sys/kernel/random/boot_id", text, sizeof text) <= 0) {
        return 0;
    }
    for (c = text; *c != '\0'; c++) {
        hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
    }
    return hash | 1;
}

uint64_t msp_bootstrap_network_namespace(void)
{
    return ((msp_bootstrap_kernel() ^ namespace_of("/proc/self/ns/net")) *
            UINT64_C(1099511628211)) |
           1;
}

static struct identity identify(uint64_t order)
{
    struct identity mine = {.order = order, .kernel = msp_bootstrap_kernel()};

    snprintf(mine.version, sizeof mine.version, "%s", MEMSPAN_VERSION_STRING);
    mine.pid_namespace = namespace_of("/proc/self/ns/pid");
    mine.ipc_namespace = namespace_of("/proc/self/ns/ipc");
    mine.net_namespace = namespace_of("/proc/self/ns/net");
    return mine;
}

/* A PE without a free descriptor cannot read the kernel's. */
static bool shares_memory(const struct identity *a, const struct identity *b)
{
    bool is_one_kernel = (a->kernel == 0) || (b->kernel == 0) || (a->kernel == b->kernel);

    return is_one_kernel && (a->pid_namespace == b->pid_namespace) &&
           (a->ipc_namespace == b->ipc_namespace);
}

/* An unknown value counts as another one. */
static bool shares_network(const struct identity *a, const struct identity *b)
{
    return (a->kernel != 0) && (a->kernel == b->kernel) && (a->net_namespace != 0) &&
           (a->net_namespace == b->net_namespace);
}

static memspan_status_t compare(int pe, int peer, const struct identity *mine,
                                struct identity *theirs)
{
    theirs->version[sizeof theirs->version - 1] = '\0';
    if (strcmp(mine->version, theirs->version) != 0) {
        memspan_error(MEMSPAN_ERR_CONFLICT, "PE %d runs Memspan %s, PE %d runs Memspan %s", pe,
                      mine->version, peer, theirs->version);
        return msp_error_hint("run one version in all PEs of a job");
    }
    if (mine->order != theirs->order) {
        memspan_error(MEMSPAN_ERR_CONFIG, "MEMSPAN_SHMEM_TRANSPORT differs between PE %d and PE %d",
                      pe, peer);
        return msp_error_hint("hand the same environment to all of them (mpirun -x)");
    }
    return MEMSPAN_OK;
}

/* Fills host_pes. */
static memspan_status_t gather(const struct msp_bootstrap *bootstrap,
                               struct msp_bootstrap_job *job_p, const struct identity *mine)
{
    bool is_one_network = (job_p->local_count == job_p->pe_count);
    int count           = 0;
    int index           = 0;
    int i;

    for (i = 0; i < job_p->local_count; i++) {
        int peer               = job_p->local_pes[i];
        struct identity theirs = *mine;
        size_t size_bytes      = sizeof theirs;
        memspan_status_t status;

        if (peer == job_p->pe) {
            index = count;
        } else {
            status = bootstrap->get(peer, key, &theirs, &size_bytes);
            status = (status == MEMSPAN_OK) ? compare(job_p->pe, peer, mine, &theirs) : status;
            if (status != MEMSPAN_OK) {
                return status;
            }
        }
        is_one_network = is_one_network && shares_network(mine, &theirs);
        if (shares_memory(mine, &theirs)) {
            host_pes[count++] = peer;
        }
    }
    job_p->local_pes      = host_pes;
    job_p->local_count    = count;
    job_p->local_index    = index;
    job_p->is_one_network = is_one_network;
    return MEMSPAN_OK;
}

memspan_status_t msp_bootstrap_find_host(const struct msp_bootstrap *bootstrap,
                                         struct msp_bootstrap_job *job_p, uint64_t order)
{
    struct identity mine;
    memspan_status_t arrived;
    memspan_status_t status;

    if (job_p->local_count == 1) {
        return bootstrap->is_joint ? bootstrap->node_barrier() : MEMSPAN_OK;
    }
    mine = identify(order);
    free(host_pes);
    host_pes = calloc((size_t)job_p->local_count, sizeof *host_pes);
    status   = (host_pes != NULL)
                   ? bootstrap->put(key, &mine, sizeof mine)
                   : memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for the numbers of %d PEs",
                                   job_p->local_count);
    arrived  = bootstrap->node_barrier(); /* also of a PE that has failed: others wait in it */
    status   = (status == MEMSPAN_OK) ? arrived : status;
    return (status == MEMSPAN_OK) ? gather(bootstrap, job_p, &mine) : status;
}

void msp_bootstrap_forget_host(void)
{
    free(host_pes);
    host_pes = NULL;
}
