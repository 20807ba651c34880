/* SPDX-License-Identifier: BSD-3-Clause */
/* persistent.c: blocks of persistent partitions. */

#include "shmem/persistent/persistent.h"
#include "shmem/partition/partition.h"
#include <string.h>

/* NULL with an error record: no partition, or one that ends with the job. */
static struct msp_persistent *persistent_of(const char *call, const struct msp_partition *partition)
{
    struct msp_persistent *found = (partition != NULL) ? msp_partition_persistent(partition) : NULL;

    if (found == NULL) {
        memspan_error(MEMSPAN_ERR_INVALID, "%s: that is no persistent partition", call);
        msp_error_hint("SHMEM_SYMMETRIC_PARTITIONn=size=...:kind=PMEM:path=... makes one");
    }
    return found;
}

static size_t offset_of(const struct msp_partition *partition, const void *address)
{
    return (size_t)((const char *)address - msp_segments[partition->segment].base);
}

/* A PE with a wrong block comes to the vote, too: the others wait for it. */
int shmemx_persistent_name(void *block, const char *symbol)
{
    struct msp_partition *partition;
    struct msp_persistent *persistent;
    size_t size_bytes = 0;

    msp_job_require(__func__);
    partition  = msp_partition_of(block);
    persistent = persistent_of(__func__, partition);
    if (persistent == NULL) {
        return (int)MEMSPAN_ERR_INVALID;
    }
    if (msp_symmetric_heap_size(partition->heap, offset_of(partition, block), &size_bytes) !=
        MEMSPAN_OK) {
        memspan_error(MEMSPAN_ERR_INVALID, "%s: no block begins at %p", __func__, block);
    }
    return (int)msp_persistent_name(persistent, &msp_teams[partition->team], symbol,
                                    msp_segments[partition->segment].base,
                                    offset_of(partition, block), size_bytes);
}

int shmemx_persistent_unname(int id, const char *symbol)
{
    struct msp_partition *partition;
    struct msp_persistent *persistent;

    msp_job_require(__func__);
    partition = (id >= 0) ? msp_partition_get(id) : NULL;
    if (partition == NULL) {
        return (int)memspan_error(MEMSPAN_ERR_NOT_FOUND, "there is no partition %d", id);
    }
    persistent = persistent_of(__func__, partition);
    return (persistent != NULL)
               ? (int)msp_persistent_unname(persistent, &msp_teams[partition->team], symbol)
               : (int)MEMSPAN_ERR_INVALID;
}

void *shmemx_persistent_find(int id, const char *symbol, size_t *size)
{
    struct msp_partition *partition;
    struct msp_persistent *persistent;
    size_t offset;
    size_t size_bytes;

    msp_job_require(__func__);
    partition  = (id >= 0) ? msp_partition_get(id) : NULL;
    persistent = persistent_of(__func__, partition);
    if ((persistent == NULL) || (symbol == NULL) ||
        (msp_persistent_find(persistent, symbol, &offset, &size_bytes) != MEMSPAN_OK)) {
        return NULL;
    }
    if (size != NULL) {
        *size = size_bytes;
    }
    return msp_segments[partition->segment].base + offset;
}

int shmemx_persist(const void *address, size_t size)
{
    struct msp_partition *partition;
    struct msp_persistent *persistent;

    msp_job_require(__func__);
    partition  = msp_partition_of(address);
    persistent = persistent_of(__func__, partition);
    if (persistent == NULL) {
        return (int)MEMSPAN_ERR_INVALID;
    }
    if (size > msp_segments[partition->segment].size_bytes - offset_of(partition, address)) {
        return (int)memspan_error(MEMSPAN_ERR_INVALID,
                                  "%s: %zu bytes at %p are not within partition %d", __func__, size,
                                  address, partition->id);
    }
    return (size != 0) ? (int)msp_persistent_persist(persistent, address, size) : 0;
}
