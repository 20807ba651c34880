/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_PARTITION_PARTITION_H
#define MEMSPAN_SHMEM_PARTITION_PARTITION_H

#include "core/symmetric/symmetric_heap.h"
#include "shmem/team.h"
#include "shmem/transport/segment.h"
#include <shmemx.h>

/* Partitions: symmetric heaps of one kind of memory each.
 *
 * A partition is a segment (where its memory is) and a symmetric heap (which of it is in use). The
 * environment at shmem_init(), or a team at run time, decides which there are. */

enum {
    MSP_PARTITION_DEFAULT = -2, /* whichever shmem_malloc() uses */
    MSP_PARTITION_NONE    = -1,
    MSP_PARTITION_ID_MAX  = 1023,
    MSP_PARTITION_MAX     = 64,
};

struct msp_partition {
    int id;
    int segment; /* its index */
    int team;    /* index of the team that allocates from it; 1: the world */
    struct msp_symmetric_heap *heap;
    void *memory; /* memory.c's own: the request, and the result */
};

/* The partition with that number (or the default one); NULL when there is none. */
struct msp_partition *msp_partition_get(int id);

/* Why that one is the default: "it is partition 1". */
const char *msp_partition_default_why(void);

/* The one that an address lies in; NULL: none. */
struct msp_partition *msp_partition_of(const void *address);

/* True when no variable of its own made it: SHMEM_SYMMETRIC_SIZE is the variable to raise. */
bool msp_partition_is_default_sized(const struct msp_partition *partition);

/* What makes it persistent; NULL: nothing. */
struct msp_persistent *msp_partition_persistent(const struct msp_partition *partition);

/* All partitions of the environment; every PE calls. An error record and the same failure
 * everywhere, or partitions. Also opens the arena. */
memspan_status_t msp_partition_open(void);
void msp_partition_close(void);

/* Their numbers, ascending, at most @p capacity of them; how many there are. */
int msp_partition_ids(int *ids, int capacity);
/* Everything but the size of the structure. MEMSPAN_ERR_NOT_FOUND. */
memspan_status_t msp_partition_describe(int id, shmemx_partition_info_t *info_p);
/* The index-th request of the environment, as it would be placed: needs no job.
 * MEMSPAN_ERR_NOT_FOUND beyond the last; another error and the request where it cannot be had. */
memspan_status_t msp_partition_foresee(int index, shmemx_partition_info_t *info_p);
/* "SHMEM_SYMMETRIC_PARTITION1", or the name that a space was given. NULL: there is none. */
const char *msp_partition_name(int id);

/* One more, of a team, while the job runs (a space): collective over the team, whose PEs fail
 * together. And its end. */
memspan_status_t msp_partition_create(struct msp_team *team, const shmemx_space_config_t *config,
                                      int *id_p);
memspan_status_t msp_partition_destroy(int id);

/* The partitions, a line each, to standard output (SHMEM_INFO). */
void msp_partition_print(void);

/* ---- OpenMP ---- */

/* memspan_omp_symmetric_mem_alloc, and OpenMP's mapped variables in symmetric memory: libmemspan is
 * given an allocator over a partition for a device. Every PE then maps the same variables in the
 * same order, as with any symmetric allocation; there is no barrier. */

/* Give it, where SHMEMX_LIBOMP_PARTITION names the partition; programs may do so later. */
void msp_partition_openmp_open(void);
void msp_partition_openmp_close(void);

#endif /* MEMSPAN_SHMEM_PARTITION_PARTITION_H */
