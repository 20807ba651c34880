/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_PARTITION_MEMORY_H
#define MEMSPAN_SHMEM_PARTITION_MEMORY_H

/* The memory of a partition: taken as placed, or as it can be had, the same in all PEs. */

#include "shmem/partition/placement.h"
#include "shmem/persistent/persistent.h"
#include "shmem/team.h"

struct msp_partition_memory {
    int segment;
    struct msp_partition_placement placement; /* the result of the request */
    size_t align_bytes;                       /* of the segment's base, in every PE */
    void *block;                              /* libmemspan's; NULL: a file */
    void *imported;                    /* the address that imports were made with; NULL: none */
    struct msp_persistent *persistent; /* NULL: it ends with the job */
    bool fell_back;
};

/* Collective over the team: the same request, the same outcome. */
memspan_status_t msp_partition_memory_take(struct msp_team *team,
                                           const struct msp_partition_request *request,
                                           struct msp_partition_memory *memory_p);
void msp_partition_memory_give_back(struct msp_partition_memory *memory);

/* The request and the result: struct msp_partition's memory member. */
struct msp_partition_record {
    struct msp_partition_request request;
    struct msp_partition_memory memory;
};

#endif /* MEMSPAN_SHMEM_PARTITION_MEMORY_H */
