/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_TRANSPORT_DATA_SEGMENT_H
#define MEMSPAN_SHMEM_TRANSPORT_DATA_SEGMENT_H

/* What the files of the data segment share: where the variables are, and in which file. */

#include "shmem/transport/executable.h"
#include <sys/types.h>

struct msp_data {
    struct msp_executable range;
    int fd; /* of the file that the host's PEs share; -1: closed */
    off_t offset;
};

extern struct msp_data msp_data MSP_HIDDEN;

/* The next run of pages from @p *first on (addresses) that the file has contents of; false: there
 * is none before the end. */
bool msp_data_next_run(uintptr_t *first, uintptr_t *end);

/* Replace the shared pages by a copy, in one step; false with errno where there is no space for it.
 */
bool msp_data_copy_private(void);

/* Forks from now on give the child variables of its own (data_fork.c). */
void msp_data_fork_watch(void);

#endif /* MEMSPAN_SHMEM_TRANSPORT_DATA_SEGMENT_H */
