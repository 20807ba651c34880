/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_PERSISTENT_ROOT_H
#define MEMSPAN_SHMEM_PERSISTENT_ROOT_H

/* The root of a persistent partition: the job that it belongs to, and its named blocks.
 *
 * A file or a device begins with two slots. Commit number n is written to slot n % 2, so that
 * commit n - 1 is whole until n is. The magic number of a slot is taken away before its bytes
 * change, and comes back, as one store of 8 bytes, when all others are persistent: a slot with a
 * magic number is whole whenever the power fails. The checksum is for what stores do not explain:
 * worn media, other programs, hostile files. Everything is offsets: a partition may have other
 * addresses in each run.
 *
 * Numbers are those of the processor: little-endian on all that are supported.
 *
 * Threads: nothing here locks. */

#include "core/base/platform.h"
#include <memspan/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MSP_ROOT_VERSION      = 1,
    MSP_ROOT_SLOT_BYTES   = 65536,
    MSP_ROOT_AREA_BYTES   = 2 * MSP_ROOT_SLOT_BYTES,
    MSP_ROOT_SYMBOL_BYTES = 48,
    MSP_ROOT_NAME_BYTES   = 32,
    MSP_ROOT_HEADER_BYTES = 256,
    MSP_ROOT_BLOCK_ALIGN  = 256, /* offsets of blocks */
};

struct msp_root_block {
    char symbol[MSP_ROOT_SYMBOL_BYTES]; /* unused bytes are 0 */
    uint64_t offset_bytes;              /* in each PE's copy */
    uint64_t size_bytes;
};

enum {
    MSP_ROOT_BLOCKS_MAX =
        (MSP_ROOT_SLOT_BYTES - MSP_ROOT_HEADER_BYTES) / sizeof(struct msp_root_block),
};

/* Job, host and sizes: what a job that comes again must have, too. */
struct msp_root_layout {
    uint64_t size_bytes;   /* of the partition in each PE */
    uint64_t stride_bytes; /* from one PE's copy to the next */
    uint64_t data_bytes;   /* where the first copy begins */
    uint64_t pes_digest;   /* of the numbers of the host's PEs */
    uint32_t pe_count;     /* of the job */
    uint32_t local_count;  /* of this host */
    char name[MSP_ROOT_NAME_BYTES];
};

struct msp_root {
    uint64_t magic;
    uint32_t version;
    uint32_t block_count;
    uint64_t sequence;   /* of commits, from 1 */
    uint64_t generation; /* jobs that have opened it; 0: it was made, and never opened by all PEs */
    uint64_t identity;   /* the same in the files of all hosts; 0 in generation 0 */
    struct msp_root_layout layout;
    uint64_t reserved[17];
    uint64_t checksum; /* of the header before it, and of the blocks */
    struct msp_root_block blocks[MSP_ROOT_BLOCKS_MAX]; /* by ascending offset */
};

_Static_assert(offsetof(struct msp_root, blocks) == MSP_ROOT_HEADER_BYTES, "the format");
_Static_assert(sizeof(struct msp_root) == MSP_ROOT_SLOT_BYTES, "the format");

/* ---- reading ---- */

enum msp_root_state {
    MSP_ROOT_WHOLE,
    MSP_ROOT_BLANK,   /* zeros */
    MSP_ROOT_TORN,    /* no magic number, or a checksum that is not its bytes' */
    MSP_ROOT_FOREIGN, /* another magic number */
    MSP_ROOT_OTHER,   /* another version */
    MSP_ROOT_WRONG,   /* a checksum that holds over what no commit writes */
};

/* What slot @p index is. The bytes must not change meanwhile: they are a copy. */
enum msp_root_state msp_root_check(const struct msp_root *slot, unsigned index);

/* "is torn", "is of another version": of a slot in that state. */
const char *msp_root_state_text(enum msp_root_state state);

/* The newest whole slot whose commit is not above @p sequence_max, of a copy of both; NULL: none.
 */
const struct msp_root *msp_root_newest(const struct msp_root slots[2], uint64_t sequence_max);

/* True where no root was ever written whole: zeros, or the first one was being written. */
bool msp_root_is_blank(const struct msp_root slots[2]);

/* ---- blocks ---- */

/* 1 to 47 bytes that print. */
bool msp_root_is_symbol(const char *symbol);
const struct msp_root_block *msp_root_find(const struct msp_root *root, const char *symbol);
/* The block that begins at that offset; NULL: it has no symbol. */
const struct msp_root_block *msp_root_at(const struct msp_root *root, uint64_t offset_bytes);
/* In memory. The caller has looked: the symbol and the block are new, and there is room. */
void msp_root_insert(struct msp_root *root, const char *symbol, uint64_t offset_bytes,
                     uint64_t size_bytes);
void msp_root_remove(struct msp_root *root, const struct msp_root_block *block);

/* A number that differs where identity, generation, layout or blocks do; the same on all hosts. */
uint64_t msp_root_digest(const struct msp_root *root);

/* ---- writing ---- */

/* Memory that holds both slots, and how its stores become persistent. */
struct msp_root_medium {
    void (*store)(struct msp_root_medium *medium, size_t offset_bytes, const void *data,
                  size_t size_bytes);
    memspan_status_t (*persist)(struct msp_root_medium *medium, size_t offset_bytes,
                                size_t size_bytes);
};

/* The next commit in memory: its number and checksum. All PEs of a host do this; one writes. */
void msp_root_advance(struct msp_root *root);
/* Write it to its slot. On failure the other slot is whole. */
memspan_status_t msp_root_write(struct msp_root_medium *medium, const struct msp_root *root);
/* Take a commit away for ever. */
memspan_status_t msp_root_discard(struct msp_root_medium *medium, uint64_t sequence);

uint64_t msp_root_checksum(const struct msp_root *root);

#endif /* MEMSPAN_SHMEM_PERSISTENT_ROOT_H */
