/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_PARTITION_PLACEMENT_H
#define MEMSPAN_SHMEM_PARTITION_PLACEMENT_H

#include "core/base/platform.h"
#include "shmem/partition/option.h"
#include <memspan/device.h>
#include <memspan/space.h>
#include <shmemx.h>
#include <stdbool.h>

/* The kinds of memory that a partition may have, a row each. A new kind is a number in
 * SHMEMX_KIND_MAP (shmemx.h), a row here, and its lines in the manual. */

/* How memory of the kind is had (placement.c). */
enum msp_kind_source {
    MSP_KIND_PAGES,  /* host pages, bound to NUMA nodes */
    MSP_KIND_LOCKED, /* host pages, locked and imported into drivers */
    MSP_KIND_SHARED, /* host pages where the device reaches them, else a block of its driver's */
    MSP_KIND_BLOCK,  /* a block of a device's driver, which the host does not touch */
    MSP_KIND_FILE,   /* pages of a file that outlives the job (persistent.h) */
};

struct msp_partition_kind {
    const char *name;
    const char *letters; /* one of them alone means this kind although other names begin so */
    const char *backend; /* whose devices its number counts; "": Memspan's numbers */
    shmemx_kind_t kind;
    enum msp_kind_source source;
    memspan_kind_t memory; /* of MSP_KIND_SHARED and MSP_KIND_BLOCK */
    long hint;             /* of shmem_malloc_with_hints() that it suits; 0: none */
};

/* In the order of the numbers, then the other names of some; ends at name NULL. */
extern const struct msp_partition_kind msp_partition_kinds[] MSP_HIDDEN;

/* The row of a kind; NULL: there is none. */
const struct msp_partition_kind *msp_partition_kind(shmemx_kind_t kind, const char *backend);

/* ---- memory of devices ---- */

/* Memory of one kind of a device, from libmemspan. */

enum { MSP_DEVICE_MEMORY_ALIGN_BYTES = 4096 };

/* The device's resource of that kind, by itself. MEMSPAN_ERR_NOT_FOUND: it has none. */
memspan_status_t msp_device_memory_space(int device, memspan_kind_t kind, memspan_space_h *space_p);

/* @p size_bytes, freed with memspan_free(); NULL: there is none, or none left. @p is_shared: other
 * processes are to open it. */
void *msp_device_memory_alloc(memspan_space_h space, size_t size_bytes, bool is_shared);

/* Whose memory it is; -1: unknown. */
int msp_device_memory_home(const void *address);

/* ---- placement ---- */

/* From a request to a placement on this machine: nodes, device, pages. Takes no memory and needs no
 * job, so that it can be queried beforehand. Drivers are opened for kinds of devices alone. */

enum { MSP_PARTITION_NODES_MAX = 64, MSP_PARTITION_NODE_WORDS = 16 };

struct msp_partition_placement {
    shmemx_kind_t kind;
    shmemx_policy_t policy;
    bool is_block;  /* from libmemspan, at an address of its choice; else the host's shared file */
    bool is_file;   /* a file that outlives the job */
    bool is_locked; /* pages stay where they are */
    int import_count; /* devices into whose drivers the pages are imported */
    int imports[16];
    int device;           /* Memspan's number; -1: the host */
    bool is_shareable;    /* of a block: its driver opens it for other processes */
    unsigned device_kind; /* memspan_kind_t, of a block */
    size_t page_size_bytes;
    int bind_mode; /* mbind()'s; 0: pages go by the process's policy */
    unsigned long bind_nodes[MSP_PARTITION_NODE_WORDS];
    char resource[48];
    char why[256]; /* one sentence */
};

/* @p local_index: the PE's place on its host; @p local_count: PEs of the host that will use it. An
 * error record where the request cannot be satisfied. */
memspan_status_t msp_partition_place(const struct msp_partition_request *request, int local_index,
                                     int local_count, struct msp_partition_placement *placement_p);

/* What else will do where the request allows that: ordinary memory, ordinary pages. @p reason: why,
 * of the error record. MEMSPAN_ERR_* of the record (untouched) where the request insists. */
memspan_status_t msp_partition_place_fallback(const struct msp_partition_request *request,
                                              const char *reason,
                                              struct msp_partition_placement *placement_p);

/* ---- capacity ---- */

/* Whether the host has the memory that a partition's PEs would use together. The kernel would not
 * refuse: pages that are not there when they are touched, or locked, end a process. */

/* The partition as placed, for @p pe_count PEs of this host. An error record where pages that are
 * locked are more than are free, or pages that are insisted on more than there are. */
memspan_status_t msp_partition_capacity_check(const struct msp_partition_request *request,
                                              int pe_count,
                                              const struct msp_partition_placement *placement);

/* The host's ordinary pages that one PE touches when it uses all of the partition, in bytes; 0 for
 * a driver's block and for reserved huge pages. */
uint64_t msp_partition_capacity_use(const struct msp_partition_request *request,
                                    const struct msp_partition_placement *placement);

/* True where @p pe_count times @p bytes are more than this machine, or the control group, has. */
bool msp_partition_capacity_is_exceeded(uint64_t bytes, int pe_count, uint64_t *capacity_p,
                                        const char **source_p);

#endif /* MEMSPAN_SHMEM_PARTITION_PLACEMENT_H */
