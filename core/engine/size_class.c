/* SPDX-License-Identifier: BSD-3-Clause */
/* size_class.c: tables of the small sizes, computed once. */

#include "core/engine/size_class.h"
#include "core/engine/pointer_map.h"
#include <pthread.h>
#include <string.h>

struct msp_class msp_classes[MSP_CLASS_COUNT];
uint8_t msp_class_tables[MSP_SMALL_ALIGNS][MSP_SMALL_STEPS];

enum { STEPS_OF_16 = 8, CLASSES_A_DOUBLING = 4 };

static uint32_t size_of(unsigned c)
{
    unsigned octave = (c - STEPS_OF_16) / CLASSES_A_DOUBLING;
    unsigned step   = (c - STEPS_OF_16) % CLASSES_A_DOUBLING;

    return (c < STEPS_OF_16) ? (c + 1) * 16
                             : (UINT32_C(32) << octave) * (CLASSES_A_DOUBLING + 1 + step);
}

/* Objects above 1 KiB share larger slabs, so that filling one is worth the making. */
static void fill_class(unsigned c)
{
    struct msp_class *class = &msp_classes[c];

    class->size_bytes = size_of(c);
    class->divisor    = UINT64_MAX / class->size_bytes + 1;
    class->slab_bytes = (uint32_t)MSP_GRANULE_BYTES * ((class->size_bytes > 1024) ? 4 : 1);
    class->capacity   = (uint16_t)(class->slab_bytes / class->size_bytes);
}

/* Class by class, not step by step: this is part of the cost of a process's first allocation. */
static void fill_table(unsigned align)
{
    uint8_t *table = msp_class_tables[align];
    uint32_t mask  = (UINT32_C(16) << align) - 1;
    unsigned step  = 1; /* the first that no class serves yet */
    unsigned c;

    table[0] = MSP_CLASS_COUNT;
    for (c = 0; c < MSP_CLASS_COUNT; c++) {
        unsigned end = (msp_classes[c].size_bytes >> MSP_CLASS_STEP_SHIFT) + 1;
        if ((msp_classes[c].size_bytes & mask) == 0) {
            memset(table + step, (int)c, end - step);
            step = end;
        }
    }
}

static void fill(void)
{
    unsigned i;

    for (i = 0; i < MSP_CLASS_COUNT; i++) {
        fill_class(i);
    }
    for (i = 0; i < MSP_SMALL_ALIGNS; i++) {
        fill_table(i);
    }
}

void msp_class_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, fill);
}
