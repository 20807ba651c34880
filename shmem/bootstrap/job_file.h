/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_BOOTSTRAP_JOB_FILE_H
#define MEMSPAN_SHMEM_BOOTSTRAP_JOB_FILE_H

/* A PE's side of the job file that memspan/launch.h describes: map it, exchange data, a barrier,
 * end the job. */

#include <memspan/launch.h>
#include <stdbool.h>

struct msp_job_file {
    struct memspan_launch_header *header; /* NULL: not open */
    size_t size_bytes;
    int fd; /* the launcher's; stays open, so that a PE may finalize and initialize again */
    uint32_t pe;
};

/* Map the file behind @p fd as PE @p pe and mark in its record that this process is that PE. The
 * message names the way in which the file is not a launcher's. */
memspan_status_t msp_job_file_open(int fd, uint32_t pe, uint64_t cookie,
                                   struct msp_job_file *file_p);

/* This PE has finalized; unmap. */
void msp_job_file_close(struct msp_job_file *file);

memspan_status_t msp_job_file_put(const struct msp_job_file *file, const char *key,
                                  const void *data, size_t size_bytes);
/* @p size_p: capacity in, bytes written out. */
memspan_status_t msp_job_file_get(const struct msp_job_file *file, uint32_t pe, const char *key,
                                  void *data, size_t *size_p);

/* Wait until every PE has arrived as often as this one. MEMSPAN_ERR_OFF when the launcher dies. */
memspan_status_t msp_job_file_barrier(const struct msp_job_file *file);

/* Leave status and message for the launcher, unless another PE was first, and wake it. */
void msp_job_file_abort(const struct msp_job_file *file, int status, const char *message);

/* True where the launcher ends the job, or a PE has asked it to and it is alive. */
bool msp_job_file_is_ending(const struct msp_job_file *file);

/* True when the launcher has died. False, too, where that cannot be known. */
bool msp_job_file_is_orphaned(const struct msp_job_file *file);

#endif /* MEMSPAN_SHMEM_BOOTSTRAP_JOB_FILE_H */
