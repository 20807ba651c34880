/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_PERSISTENT_FILE_H
#define MEMSPAN_SHMEM_PERSISTENT_FILE_H

/* The file or the DAX device of a persistent partition, one for each host: the root, then a copy of
 * the partition for each PE of the host. In a folder its name is NAME.FIRST.memspan, where FIRST is
 * the host's first PE, so that hosts may share the folder. Files are hostile until checked. */

#include "shmem/partition/option.h"
#include "shmem/persistent/root.h"
#include <sys/mman.h>

#ifndef MAP_SHARED_VALIDATE
#define MAP_SHARED_VALIDATE 3
#endif
#ifndef MAP_SYNC
#define MAP_SYNC 0x80000
#endif

struct msp_persistent_file {
    int fd; /* -1: none; of the first PE: it holds the lock */
    bool is_device;
    bool is_new;                               /* the file was made just now */
    uint64_t align_bytes;                      /* of mappings; of a device's, else of huge pages */
    uint64_t device_bytes;                     /* of a device */
    char where[MSP_PARTITION_PATH_BYTES + 64]; /* of the file itself */
    char kind[24];                             /* "ext4", "device DAX" */
    char domain[32];                           /* the platform's persistence domain; "": unknown */
};

/* Open it, or make it where @p makes; checked and locked. MEMSPAN_ERR_NOT_FOUND: there is none yet;
 * the rest of *file_p is right. @p first_pe: of this host. */
memspan_status_t msp_persistent_file_open(const struct msp_partition_request *request, int first_pe,
                                          bool makes, struct msp_persistent_file *file_p);
/* Close it; a file that was made just now is taken away. */
void msp_persistent_file_undo(struct msp_persistent_file *file);

/* All bytes that @p layout needs are the file's own: no store can fail later. */
memspan_status_t msp_persistent_file_fill(const struct msp_persistent_file *file,
                                          const struct msp_root_layout *layout);
/* The file, or the device, is as large as that. */
memspan_status_t msp_persistent_file_compare(const struct msp_persistent_file *file,
                                             const struct msp_root_layout *layout);

/* A mapping of the root; NULL with an error record. @p writes: it may be stored to. *is_direct_p: a
 * line that has left the caches is in the file. */
void *msp_persistent_file_map(const struct msp_persistent_file *file, bool writes,
                              bool *is_direct_p);
void msp_persistent_file_unmap(const struct msp_persistent_file *file, void *area);

/* One of other PEs at a time, while this one lives. */
memspan_status_t msp_persistent_file_share_lock(const struct msp_persistent_file *file);

#endif /* MEMSPAN_SHMEM_PERSISTENT_FILE_H */
