/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_PARTITION_PLACEMENT_H
#define MEMSPAN_SHMEM_PARTITION_PLACEMENT_H

/* From a request to a placement on this machine: nodes, device, pages. Takes no memory and needs no
 * job, so that it can be queried beforehand. Drivers are opened for kinds of devices alone. */

#include "shmem/partition/option.h"

enum { MSP_PARTITION_NODES_MAX = 64, MSP_PARTITION_NODE_WORDS = 16 };

struct msp_partition_placement {
    shmemx_kind_t kind;
    shmemx_policy_t policy;
    bool is_block;  /* from libmemspan, at an address of its choice; else the host's shared file */
    bool is_locked; /* pages stay where they are */
    int import_count; /* devices into whose drivers the pages are imported */
    int imports[16];
    int device;           /* Memspan's number; -1: the host */
    bool is_shareable;    /* of a block: its driver opens it for other processes */
    unsigned device_kind; /* memspan_kind_t, of a block */
    size_t page_size_bytes;
    int bind_mode; /* mbind()'s; 0: pages go by the process's policy */
    unsigned long bind_nodes[MSP_PARTITION_NODE_WORDS];
    char resource[48];
    char why[256]; /* one sentence */
};

/* @p local_index: the PE's place on its host; @p local_count: PEs of the host that will use it. An
 * error record where the request cannot be satisfied. */
memspan_status_t msp_partition_place(const struct msp_partition_request *request, int local_index,
                                     int local_count, struct msp_partition_placement *placement_p);

/* What else will do where the request allows that: ordinary memory, ordinary pages. @p reason: why,
 * of the error record. MEMSPAN_ERR_* of the record (untouched) where the request insists. */
memspan_status_t msp_partition_place_fallback(const struct msp_partition_request *request,
                                              const char *reason,
                                              struct msp_partition_placement *placement_p);

#endif /* MEMSPAN_SHMEM_PARTITION_PLACEMENT_H */
