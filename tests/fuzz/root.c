/* SPDX-License-Identifier: BSD-3-Clause */
/* The root of a persistent partition, from a file that anyone may have written. The first byte says
 * which checksums are made to hold, since chance finds none. What is taken must be what a job could
 * have written: it is written again, by the calls that jobs use, and must come out the same. */

#include "shmem/persistent/root.h"
#include "fuzz.h"

enum { SIGN_0 = 1, SIGN_1 = 2, FAR = 4 };

static struct msp_root slots[2];

static void sign(struct msp_root *slot)
{
    if (slot->block_count <= MSP_ROOT_BLOCKS_MAX) {
        slot->checksum = msp_root_checksum(slot);
    }
}

static void write_again(const struct msp_root *found)
{
    static struct msp_root again;
    uint32_t i;

    again             = *found;
    again.block_count = 0;
    for (i = found->block_count; i > 0; i--) {
        const struct msp_root_block *block = &found->blocks[i - 1];

        HOLDS(msp_root_is_symbol(block->symbol));
        HOLDS(msp_root_find(found, block->symbol) == block);
        HOLDS(msp_root_at(found, block->offset_bytes) == block);
        HOLDS(block->offset_bytes + block->size_bytes <= found->layout.size_bytes);
        msp_root_insert(&again, block->symbol, block->offset_bytes, block->size_bytes);
    }
    again.sequence--;
    msp_root_advance(&again);
    HOLDS(memcmp(&again, found, MSP_ROOT_HEADER_BYTES) == 0);
    HOLDS(msp_root_digest(&again) == msp_root_digest(found));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct msp_root *found;
    size_t half;

    if (size == 0) {
        return 0;
    }
    memset(slots, 0, sizeof slots);
    half = ((data[0] & FAR) != 0) ? (size - 1) / 2 : size - 1;
    half = (half < sizeof slots[0]) ? half : sizeof slots[0];
    memcpy(&slots[1], data + 1, half);
    memcpy(&slots[0], data + 1 + half,
           ((size - 1 - half) < sizeof slots[0]) ? size - 1 - half : sizeof slots[0]);
    if ((data[0] & SIGN_0) != 0) {
        sign(&slots[0]);
    }
    if ((data[0] & SIGN_1) != 0) {
        sign(&slots[1]);
    }
    found = msp_root_newest(slots, UINT64_MAX);
    HOLDS((found == NULL) || !msp_root_is_blank(slots));
    if (found != NULL) {
        write_again(found);
        HOLDS(msp_root_newest(slots, found->sequence - 1) != found);
    }
    return 0;
}
