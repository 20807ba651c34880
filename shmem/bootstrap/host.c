/* SPDX-License-Identifier: BSD-3-Clause */
/* host.c: which PEs of a node share memory. */

#include "shmem/bootstrap/host.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a PE tells those of its node. */
struct identity {
    char version[32]; /* of Memspan; first in all versions */
    char boot[40];    /* the kernel's: a virtual machine on the node has its own */
    uint64_t pid_namespace;
    uint64_t ipc_namespace;
    uint64_t net_namespace;
    uint64_t order;
};
static const char key[] = "memspan.host";

static int *host_pes;

/* 0 where the kernel does not say: then all are of one. */
static uint64_t namespace_of(const char *path)
{
    struct stat facts;

    return (stat(path, &facts) == 0) ? (uint64_t)facts.st_ino : 0;
}

static struct identity identify(uint64_t order)
{
    struct identity mine = {.order = order};
    int fd               = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

    snprintf(mine.version, sizeof mine.version, "%s", MEMSPAN_VERSION_STRING);
    if (fd >= 0) {
        ssize_t length = read(fd, mine.boot, sizeof mine.boot - 1);

        mine.boot[(length > 0) ? length : 0] = '\0';
        close(fd);
    }
    mine.pid_namespace = namespace_of("/proc/self/ns/pid");
    mine.ipc_namespace = namespace_of("/proc/self/ns/ipc");
    mine.net_namespace = namespace_of("/proc/self/ns/net");
    return mine;
}

/* A PE without a free descriptor cannot read the kernel's. */
static bool shares_memory(const struct identity *a, const struct identity *b)
{
    bool is_one_kernel =
        (a->boot[0] == '\0') || (b->boot[0] == '\0') || (strcmp(a->boot, b->boot) == 0);

    return is_one_kernel && (a->pid_namespace == b->pid_namespace) &&
           (a->ipc_namespace == b->ipc_namespace);
}

/* What is not known is another one. */
static bool shares_network(const struct identity *a, const struct identity *b)
{
    return (a->boot[0] != '\0') && (strcmp(a->boot, b->boot) == 0) && (a->net_namespace != 0) &&
           (a->net_namespace == b->net_namespace);
}

static memspan_status_t compare(int pe, int peer, const struct identity *mine,
                                struct identity *theirs)
{
    theirs->version[sizeof theirs->version - 1] = '\0';
    theirs->boot[sizeof theirs->boot - 1]       = '\0';
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
    memspan_status_t status;

    if (job_p->local_count == 1) {
        return MEMSPAN_OK;
    }
    mine = identify(order);
    free(host_pes);
    host_pes = calloc((size_t)job_p->local_count, sizeof *host_pes);
    if (host_pes == NULL) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for the numbers of %d PEs",
                             job_p->local_count);
    }
    status = bootstrap->put(key, &mine, sizeof mine);
    if (status == MEMSPAN_OK) {
        status = bootstrap->node_barrier();
    }
    return (status == MEMSPAN_OK) ? gather(bootstrap, job_p, &mine) : status;
}

void msp_bootstrap_forget_host(void)
{
    free(host_pes);
    host_pes = NULL;
}
