/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_CONTROL_SHARED_FILE_H
#define MEMSPAN_SHMEM_CONTROL_SHARED_FILE_H

/* Files without a name that PEs of one host share: one makes it, the others open it by its ticket.
 */

#include "shmem/error.h"
#include <stdbool.h>
#include <stdint.h>

struct msp_shared_file {
    int pid;
    int fd;
    uint64_t inode;
    uint64_t device;
    uint64_t size_bytes;
    int status; /* memspan_status_t of making it */
};

/* *fd_p is the caller's to close. @p huge_page_bytes: 0, or the size of reserved huge pages to take
 * it from. The ticket's status shows a failure, and *fd_p is -1. */
void msp_shared_file_make(struct msp_shared_file *file, const char *name, size_t size_bytes,
                          size_t huge_page_bytes, int *fd_p);
/* A ticket for a file that is open already. */
memspan_status_t msp_shared_file_offer(struct msp_shared_file *file, int fd);
/* True, with an error record and its status, where the process may not have files of that size: a
 * call that extends one would end it by a signal. */
bool msp_shared_file_is_beyond_limit(struct msp_shared_file *file, const char *name,
                                     size_t size_bytes);
/* The maker keeps its descriptor until all have called this. */
memspan_status_t msp_shared_file_open(const struct msp_shared_file *file, const char *name,
                                      int *fd_p);

/* A descriptor (or -1) moved above the standard streams: a program that was started without them
 * would print into it. */
int msp_fd_above_streams(int fd);
/* Standard streams that are closed become descriptors that cannot be written to: libraries that
 * open files and sockets of their own (PMIx, UCX, libfabric) do not get their numbers. */
void msp_fd_occupy_streams(void);

#endif /* MEMSPAN_SHMEM_CONTROL_SHARED_FILE_H */
