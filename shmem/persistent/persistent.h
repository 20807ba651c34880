/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_PERSISTENT_PERSISTENT_H
#define MEMSPAN_SHMEM_PERSISTENT_PERSISTENT_H

/* Persistent partitions: symmetric memory that the next job finds.
 *
 * Each host has one file (file.h). Its root (root.h) has the blocks that the program has given a
 * symbol; the others end with the job. All hosts commit the same blocks by the same number. A job
 * that was killed between two of them leaves hosts that are one commit apart: the next one takes
 * the older commit, of which no call had returned, and takes the younger one away.
 *
 * Opening and commits are collective over the team of the partition, with the same outcome. */

#include "core/symmetric/symmetric_heap.h"
#include "shmem/partition/placement.h"
#include "shmem/team.h"

struct msp_persistent;

/* What is there, without making or changing it; and of a description. */
memspan_status_t msp_persistent_place(const struct msp_partition_request *request,
                                      struct msp_partition_placement *placement);
void msp_persistent_foresee(const struct msp_partition_request *request,
                            shmemx_partition_info_t *info);

/* The file of this host, as the last job left it, and its memory as segment *segment_p. */
memspan_status_t msp_persistent_open(struct msp_team *team,
                                     const struct msp_partition_request *request, int *segment_p,
                                     struct msp_persistent **persistent_p);
/* After the segment. NULL is allowed. */
void msp_persistent_close(struct msp_persistent *persistent);

/* The named blocks into a new heap. */
memspan_status_t msp_persistent_restore(const struct msp_persistent *persistent,
                                        struct msp_symmetric_heap *heap);

/* ---- blocks ---- */

/* The block of @p size_bytes at @p offset_bytes, whose contents become persistent first, gets the
 * symbol. 0 bytes: this PE has found no block, and has an error record. MEMSPAN_ERR_CONFLICT: the
 * symbol or the block has one. */
memspan_status_t msp_persistent_name(struct msp_persistent *persistent, struct msp_team *team,
                                     const char *symbol, const char *base, size_t offset_bytes,
                                     size_t size_bytes);
/* MEMSPAN_ERR_NOT_FOUND */
memspan_status_t msp_persistent_unname(struct msp_persistent *persistent, struct msp_team *team,
                                       const char *symbol);
/* Any thread. */
memspan_status_t msp_persistent_find(struct msp_persistent *persistent, const char *symbol,
                                     size_t *offset_p, size_t *size_p);
/* The symbol of the block at that offset, copied to @p symbol; false: it has none. */
bool msp_persistent_symbol(struct msp_persistent *persistent, size_t offset_bytes, char symbol[48]);
memspan_status_t msp_persistent_persist(const struct msp_persistent *persistent,
                                        const void *address, size_t size_bytes);

/* Its members of the description, and the sentence on where it is. */
void msp_persistent_describe(struct msp_persistent *persistent, shmemx_partition_info_t *info);
void msp_persistent_words(struct msp_persistent *persistent,
                          struct msp_partition_placement *placement);

#endif /* MEMSPAN_SHMEM_PERSISTENT_PERSISTENT_H */
