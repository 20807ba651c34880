/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_ENGINE_SIZE_CLASS_H
#define MEMSPAN_CORE_ENGINE_SIZE_CLASS_H

/* The sizes of small objects: every 16 bytes up to 128, then four a power of two up to 8 KiB. */

#include <stddef.h>
#include <stdint.h>

enum {
    MSP_CLASS_COUNT      = 32,
    MSP_CLASS_STEP_SHIFT = 4,
    MSP_SMALL_MAX_BYTES  = 8192,
    MSP_SMALL_STEPS      = (MSP_SMALL_MAX_BYTES >> MSP_CLASS_STEP_SHIFT) + 1,
    MSP_SMALL_ALIGN_MAX  = 4096,
    MSP_SMALL_ALIGNS     = 9, /* 16 .. 4096 */
};

struct msp_class {
    uint64_t divisor; /* 2^64 / size_bytes, rounded up: msp_slab_index() */
    uint32_t size_bytes;
    uint32_t slab_bytes; /* of a slab of such objects, and its alignment */
    uint16_t capacity;   /* objects in it */
};

extern struct msp_class msp_classes[MSP_CLASS_COUNT];

/* By alignment and size in steps of 16, rounded up: the smallest class whose objects are that large
 * and all stand on such a boundary. No bytes have the class that no heap has a slab of. */
extern uint8_t msp_class_tables[MSP_SMALL_ALIGNS][MSP_SMALL_STEPS];

/* Fill the tables. Again and at the same time does no harm. */
void msp_class_prepare(void);

/* The table for a boundary, a power of two up to MSP_SMALL_ALIGN_MAX. */
static inline const uint8_t *msp_class_table(size_t align_bytes)
{
    unsigned log = (align_bytes <= 16) ? 4 : (unsigned)__builtin_ctzll(align_bytes);

    return msp_class_tables[log - 4];
}

#endif /* MEMSPAN_CORE_ENGINE_SIZE_CLASS_H */
