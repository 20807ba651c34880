/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_PARTITION_MEMORY_H
#define MEMSPAN_SHMEM_PARTITION_MEMORY_H

/* The memory of a partition: taken as planned, or as it can be had, the same in all PEs. */

#include "shmem/partition_plan.h"
#include "shmem/team.h"

struct memspan_partition_memory {
    int segment;
    struct memspan_partition_plan plan; /* what became of the wish */
    size_t align_bytes;                 /* of the segment's base, in every PE */
    void *block;                        /* libmemspan's; NULL: a file */
    void *imported;                     /* the address that imports were made with; NULL: none */
    bool fell_back;
};

/* Collective over the team (NULL: all PEs of the node, while the job starts): the same wish, the
 * same outcome. @p number: for others to reach it by (remote.h). */
memspan_status_t memspan_partition_memory_take(struct memspan_team *team,
                                               const struct memspan_partition_wish *wish,
                                               unsigned number,
                                               struct memspan_partition_memory *memory_p);
void memspan_partition_memory_give_back(struct memspan_partition_memory *memory);

/* What was asked for and what was given: struct memspan_partition's memory member. */
struct memspan_partition_record {
    struct memspan_partition_wish wish;
    struct memspan_partition_memory memory;
};

#endif /* MEMSPAN_SHMEM_PARTITION_MEMORY_H */
