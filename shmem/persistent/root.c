/* SPDX-License-Identifier: BSD-3-Clause */
/* root.c: two slots, of which one is whole at any time. */

#include "shmem/persistent/root.h"
#include <ctype.h>
#include <string.h>

static const uint64_t magic_number = UINT64_C(0x314d454d504d534d); /* "MSMPMEM1" */

/* ---- the checksum ---- */

/* CRC-64 of ECMA-182, from the lowest bit: every burst of up to 64 bits is found. */
static uint64_t crc64(uint64_t crc, const void *data, size_t size)
{
    const uint64_t polynomial = UINT64_C(0xc96c5795d7870f42);
    const unsigned char *byte = data;
    uint64_t table[16]; /* by half a byte */
    size_t i;

    for (i = 0; i < 16; i++) {
        uint64_t value = i;
        int bit;

        for (bit = 0; bit < 4; bit++) {
            value = (value >> 1) ^ ((value & 1) * polynomial);
        }
        table[i] = value;
    }
    crc = ~crc;
    for (i = 0; i < size; i++) {
        crc = (crc >> 4) ^ table[(crc ^ byte[i]) & 15];
        crc = (crc >> 4) ^ table[(crc ^ (byte[i] >> 4)) & 15];
    }
    return ~crc;
}

static size_t blocks_bytes(const struct msp_root *root)
{
    return root->block_count * sizeof root->blocks[0];
}

uint64_t msp_root_checksum(const struct msp_root *root)
{
    uint64_t crc = crc64(0, root, offsetof(struct msp_root, checksum));

    return crc64(crc, root->blocks, blocks_bytes(root));
}

/* ---- reading ---- */

/* Text that ends within its place, in zeros. */
static bool is_text(const char *text, size_t size)
{
    size_t length = strnlen(text, size);
    size_t i;

    if ((length == 0) || (length == size)) {
        return false;
    }
    for (i = 0; i < size; i++) {
        if ((i < length) ? !isprint((unsigned char)text[i]) : (text[i] != '\0')) {
            return false;
        }
    }
    return true;
}

bool msp_root_is_symbol(const char *symbol)
{
    char text[MSP_ROOT_SYMBOL_BYTES] = "";
    size_t length                    = strnlen(symbol, sizeof text);

    if (length == sizeof text) {
        return false;
    }
    memcpy(text, symbol, length);
    return is_text(text, sizeof text);
}

static bool are_blocks_right(const struct msp_root *root)
{
    uint64_t end = 0; /* of the blocks before */
    uint32_t i;
    uint32_t k;

    for (i = 0; i < root->block_count; i++) {
        const struct msp_root_block *block = &root->blocks[i];

        if (!is_text(block->symbol, sizeof block->symbol) || (block->size_bytes == 0) ||
            (block->offset_bytes < end) || (block->offset_bytes % MSP_ROOT_BLOCK_ALIGN != 0) ||
            (block->offset_bytes > root->layout.size_bytes) ||
            (block->size_bytes > root->layout.size_bytes - block->offset_bytes)) {
            return false;
        }
        end = msp_round_up(block->offset_bytes + block->size_bytes, MSP_ROOT_BLOCK_ALIGN);
        for (k = 0; k < i; k++) {
            if (strcmp(root->blocks[k].symbol, block->symbol) == 0) {
                return false;
            }
        }
    }
    return true;
}

static bool is_layout_right(const struct msp_root_layout *layout)
{
    const uint64_t most = (uint64_t)1 << 40; /* of a symmetric heap */

    return is_text(layout->name, sizeof layout->name) && (layout->size_bytes != 0) &&
           (layout->size_bytes <= most) && (layout->size_bytes % MSP_ROOT_BLOCK_ALIGN == 0) &&
           (layout->stride_bytes >= layout->size_bytes) && (layout->stride_bytes <= 2 * most) &&
           (layout->data_bytes >= MSP_ROOT_AREA_BYTES) && (layout->data_bytes <= most) &&
           (layout->local_count != 0) && (layout->local_count <= layout->pe_count) &&
           (layout->pe_count <= INT32_MAX);
}

static bool is_zero(const void *data, size_t size)
{
    static const unsigned char zero[256];
    const unsigned char *byte = data;

    for (; size > sizeof zero; size -= sizeof zero, byte += sizeof zero) {
        if (memcmp(byte, zero, sizeof zero) != 0) {
            return false;
        }
    }
    return memcmp(byte, zero, size) == 0;
}

enum msp_root_state msp_root_check(const struct msp_root *slot, unsigned index)
{
    if (slot->magic == 0) {
        return is_zero(slot, sizeof *slot) ? MSP_ROOT_BLANK : MSP_ROOT_TORN;
    }
    if (slot->magic != magic_number) {
        return MSP_ROOT_FOREIGN;
    }
    if (slot->version != MSP_ROOT_VERSION) {
        return MSP_ROOT_OTHER;
    }
    if ((slot->block_count > MSP_ROOT_BLOCKS_MAX) || (slot->checksum != msp_root_checksum(slot))) {
        return MSP_ROOT_TORN;
    }
    return ((slot->sequence != 0) && (slot->sequence != UINT64_MAX) &&
            (slot->sequence % 2 == index) && is_zero(slot->reserved, sizeof slot->reserved) &&
            is_layout_right(&slot->layout) && are_blocks_right(slot))
               ? MSP_ROOT_WHOLE
               : MSP_ROOT_WRONG;
}

const char *msp_root_state_text(enum msp_root_state state)
{
    static const char *const texts[] = {
        [MSP_ROOT_WHOLE]   = "is whole",
        [MSP_ROOT_BLANK]   = "is empty",
        [MSP_ROOT_TORN]    = "is torn",
        [MSP_ROOT_FOREIGN] = "is no root of a partition",
        [MSP_ROOT_OTHER]   = "is of another version",
        [MSP_ROOT_WRONG]   = "has contents that no job writes",
    };

    return texts[state];
}

const struct msp_root *msp_root_newest(const struct msp_root slots[2], uint64_t sequence_max)
{
    const struct msp_root *newest = NULL;
    unsigned i;

    for (i = 0; i < 2; i++) {
        if ((msp_root_check(&slots[i], i) == MSP_ROOT_WHOLE) &&
            (slots[i].sequence <= sequence_max) &&
            ((newest == NULL) || (slots[i].sequence > newest->sequence))) {
            newest = &slots[i];
        }
    }
    return newest;
}

/* Commit 1 is of slot 1, and has no blocks. */
bool msp_root_is_blank(const struct msp_root slots[2])
{
    return is_zero(&slots[0], sizeof slots[0]) && (slots[1].magic == 0) &&
           is_zero(slots[1].blocks, sizeof slots[1].blocks) &&
           ((slots[1].sequence == 0) || (slots[1].sequence == 1));
}

/* ---- blocks ---- */

const struct msp_root_block *msp_root_find(const struct msp_root *root, const char *symbol)
{
    uint32_t i;

    for (i = 0; i < root->block_count; i++) {
        if (strncmp(root->blocks[i].symbol, symbol, MSP_ROOT_SYMBOL_BYTES) == 0) {
            return &root->blocks[i];
        }
    }
    return NULL;
}

const struct msp_root_block *msp_root_at(const struct msp_root *root, uint64_t offset_bytes)
{
    uint32_t i;

    for (i = 0; i < root->block_count; i++) {
        if (root->blocks[i].offset_bytes == offset_bytes) {
            return &root->blocks[i];
        }
    }
    return NULL;
}

void msp_root_insert(struct msp_root *root, const char *symbol, uint64_t offset_bytes,
                     uint64_t size_bytes)
{
    struct msp_root_block block = {.offset_bytes = offset_bytes, .size_bytes = size_bytes};
    uint32_t at                 = root->block_count++;

    MSP_ASSERT(at < MSP_ROOT_BLOCKS_MAX);
    memcpy(block.symbol, symbol, strnlen(symbol, sizeof block.symbol - 1));
    while ((at > 0) && (root->blocks[at - 1].offset_bytes > offset_bytes)) {
        root->blocks[at] = root->blocks[at - 1];
        at--;
    }
    root->blocks[at] = block;
}

void msp_root_remove(struct msp_root *root, const struct msp_root_block *block)
{
    size_t at = (size_t)(block - root->blocks);

    root->block_count--;
    memmove(&root->blocks[at], &root->blocks[at + 1],
            (root->block_count - at) * sizeof root->blocks[0]);
}

/* The layout's last members differ between hosts. */
uint64_t msp_root_digest(const struct msp_root *root)
{
    const uint64_t numbers[] = {root->identity,        root->generation,  root->layout.size_bytes,
                                root->layout.pe_count, root->block_count, root->sequence};

    return crc64(crc64(0, numbers, sizeof numbers), root->blocks, blocks_bytes(root));
}

/* ---- writing ---- */

static size_t slot_offset(uint64_t sequence)
{
    return (sequence % 2) * MSP_ROOT_SLOT_BYTES;
}

void msp_root_advance(struct msp_root *root)
{
    root->magic   = magic_number;
    root->version = MSP_ROOT_VERSION;
    root->sequence++;
    root->checksum = msp_root_checksum(root);
}

static memspan_status_t write_magic(struct msp_root_medium *medium, uint64_t sequence,
                                    uint64_t magic)
{
    size_t offset = slot_offset(sequence) + offsetof(struct msp_root, magic);

    medium->store(medium, offset, &magic, sizeof magic);
    return medium->persist(medium, offset, sizeof magic);
}

memspan_status_t msp_root_write(struct msp_root_medium *medium, const struct msp_root *root)
{
    const size_t first      = sizeof root->magic;
    size_t offset           = slot_offset(root->sequence);
    size_t size             = MSP_ROOT_HEADER_BYTES + blocks_bytes(root);
    memspan_status_t status = write_magic(medium, root->sequence, 0);

    if (status == MEMSPAN_OK) {
        medium->store(medium, offset + first, (const char *)root + first, size - first);
        status = medium->persist(medium, offset, size);
    }
    return (status == MEMSPAN_OK) ? write_magic(medium, root->sequence, root->magic) : status;
}

memspan_status_t msp_root_discard(struct msp_root_medium *medium, uint64_t sequence)
{
    return write_magic(medium, sequence, 0);
}
