/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_PERSISTENT_PERSIST_H
#define MEMSPAN_SHMEM_PERSISTENT_PERSIST_H

/* How stores to a mapped file become persistent.
 *
 * Where the kernel promises that a cache line that has left the processor's caches is in the file
 * (MAP_SYNC, or a DAX device), lines are written back by libpmem, or else by the processor's own
 * instructions. Elsewhere the kernel writes pages (msync). Whether a power failure keeps what the
 * memory's controller has taken is the firmware's word, which is shown and not guessed. */

#include <memspan/status.h>
#include <stdbool.h>
#include <stddef.h>

struct msp_persist {
    int strength;                                          /* SHMEMX_PERSISTENCE_* */
    void (*flush)(const void *address, size_t size_bytes); /* NULL: msync() */
    char note[160];                                        /* by what, and how far that reaches */
};

/* @p is_direct: mapped with MAP_SYNC, or of a DAX device. @p is_device: of a DAX device, which the
 * kernel does not write. @p domain: the platform's persistence domain, "": not stated.
 * MEMSPAN_ERR_UNSUPPORTED: nothing would make stores persistent. */
memspan_status_t msp_persist_choose(struct msp_persist *persist, bool is_direct, bool is_device,
                                    const char *domain);

/* All stores to the range, by any PE of the host, that were made before are persistent afterwards.
 * Any thread. */
memspan_status_t msp_persist_range(const struct msp_persist *persist, const void *address,
                                   size_t size_bytes);

#endif /* MEMSPAN_SHMEM_PERSISTENT_PERSIST_H */
