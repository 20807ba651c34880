/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_PARTITION_SPACE_H
#define MEMSPAN_SHMEM_PARTITION_SPACE_H

/* Spaces: handles of partitions that a team makes while the job runs, and for the default one. A
 * space is requests first; attached to a team it has a partition, whose number it answers to
 * everywhere else.
 *
 * And memory of the program's own: registered (a record), or made symmetric (a segment without a
 * heap), or the whole heap, given before shmem_init() is over.
 *
 * Returns: 0, or nonzero with an error record. Handles are numbers, index | generation << 12. */

#include "shmem/partition/partition.h"

/* @p team NULL: local, without memory until it is attached. */
int msp_symmetric_space_create(struct msp_team *team, const shmemx_space_config_t *config,
                               shmemx_space_t *space_p);
/* Collective over the team, and over the team that it was attached to. */
int msp_symmetric_space_attach(struct msp_team *team, shmemx_space_t space);
int msp_symmetric_space_detach(shmemx_space_t space);
int msp_symmetric_space_destroy(shmemx_space_t space);

/* The number of its partition (SHMEMX_SPACE_DEFAULT: the default one's);
 * MSP_PARTITION_NONE, with an error record, when it has none or there is no such space. */
int msp_symmetric_space_partition(shmemx_space_t space);
/* The space of a partition: SHMEMX_SPACE_DEFAULT for the default one, SHMEMX_SPACE_INVALID for
 * those of the environment. */
shmemx_space_t msp_symmetric_space_of(int partition);
/* The requests it was made with; NULL: there is no such space (any more), or it is the default one.
 */
const shmemx_space_config_t *msp_symmetric_space_config(shmemx_space_t space);

/* By the name of its variable, its space's name, or its number as text; MSP_PARTITION_NONE. */
int msp_partition_by_name(const char *name);

/* Local: recorded by the library, no more; device memory is found by its driver anyway. */
int msp_buffer_register(void *address, size_t size_bytes);
int msp_buffer_unregister(void *address);
void msp_buffer_unregister_all(void);
/* Collective over the world: @p address of every PE becomes symmetric. NULL with an error record,
 * in all PEs. */
void *msp_buffer_register_symmetric(void *address, size_t size_bytes);
int msp_buffer_unregister_symmetric(void *address, size_t size_bytes);

/* Memory that becomes symmetric when the job starts, beside the partitions and without a heap of
 * ours: the program divides it. @p type: SHMEMX_EXTERNAL_HEAP_*; @p index: of the device. */
int msp_partition_use_external(void *base, size_t size_bytes, int type, int index);

/* At the start: the memory given (all PEs the same size, 0: none) becomes symmetric. */
size_t msp_symmetric_space_external(void);
memspan_status_t msp_symmetric_space_open(void);
void msp_symmetric_space_close(void); /* at the end: those that are left */

#endif /* MEMSPAN_SHMEM_PARTITION_SPACE_H */
