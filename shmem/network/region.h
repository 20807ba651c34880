/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_NETWORK_REGION_H
#define MEMSPAN_SHMEM_NETWORK_REGION_H

/* Memory of this PE that is registered with the network, so that PEs of other hosts put and get
 * without this processor.
 *
 * A segment is registered when a peer first requests it, chunk by chunk: a network card pins the
 * pages of registered memory, and a heap must not be pinned because it exists. Where the driver
 * pins nothing, the first chunk is the whole segment. Chunks are multiples of a size that depends
 * on the segment's size and SHMEMX_REGISTER alone, so that both ends divide a segment alike.
 *
 * A chunk that cannot be registered is reached by messages for as long as the segment exists, since
 * peers remember that.
 *
 * Threads: any. One lock serializes the driver's calls. */

#include "shmem/error.h"
#include "shmem/network/driver.h"

/* The part of a segment that one key is for. */
struct msp_network_chunk {
    uint64_t offset_bytes; /* of its first byte in the segment */
    uint64_t size_bytes;
    uint64_t address; /* of that byte, in the form of the driver's put() and get() */
    size_t key_bytes; /* 0: it is not registered */
    unsigned char key[MSP_NETWORK_KEY_MAX];
};

/* The result of the query for a segment. */
struct msp_network_region_facts {
    uint64_t registered_bytes;
    unsigned chunk_count;   /* registered */
    unsigned refused_count; /* cannot be registered: reached by messages */
    uint64_t chunk_bytes;   /* of a chunk that is not the last */
    bool is_dmabuf;         /* device memory, by the file descriptor of its driver */
    bool is_host;           /* device memory, as the pages of the host that it consists of */
    char downgrade[160];    /* why it is not registered in a better way; may be empty */
    char why[256];          /* why memory is reached by messages; may be empty */
};

/* Before the first segment, with the opened driver. Reads SHMEMX_REGISTER. */
memspan_status_t msp_network_region_open(const struct msp_network_driver *driver,
                                         const struct msp_network_limits *limits);
/* Releases all. Nothing uses registered memory any more. */
void msp_network_region_close(void);

/* The segment exists from now on. With SHMEMX_REGISTER=all it is registered here. */
memspan_status_t msp_network_region_add(unsigned segment);
/* Releases its chunks, before its memory is unmapped. No peer uses them any more. */
void msp_network_region_remove(unsigned segment);

/* The chunk that holds @p offset_bytes, registered now if it is not yet. MEMSPAN_ERR_UNSUPPORTED,
 * with the reason as error record: by messages alone; *chunk_p then has the range that this answer
 * is for. MEMSPAN_ERR_NOT_FOUND: the segment has no such place. Fatal where it fails and
 * SHMEMX_STRICT_PARTITIONS is on. */
memspan_status_t msp_network_region_find(unsigned segment, uint64_t offset_bytes,
                                         struct msp_network_chunk *chunk_p);

/* The unit in which both ends divide the segment: no key is for less, but at the end. */
uint64_t msp_network_region_chunk_bytes(unsigned segment);

void msp_network_region_describe(unsigned segment, struct msp_network_region_facts *facts_p);
/* The same in words: how PEs of other hosts reach it. "" without a network driver. */
void msp_network_region_text(unsigned segment, char *text, size_t text_bytes);
/* Bytes that are registered, of all segments. */
uint64_t msp_network_region_total(void);

#endif /* MEMSPAN_SHMEM_NETWORK_REGION_H */
