/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_OMP_MAPPED_H
#define MEMSPAN_CORE_OMP_MAPPED_H

/* Mapped variables whose memory on the device comes from an allocator that the program has set, and
 * not from the OpenMP runtime. */

#include "core/omp/runtime.h"

/* The arguments that Clang passes to the runtime for mapped data. */
struct msp_omp_data {
    void *location;
    int64_t device; /* as given: -1 is the default device */
    int number;     /* the device, resolved */
    int32_t count;  /* of entries, the length of each array */
    void **bases;
    void **begins;
    int64_t *sizes; /* in bytes */
    int64_t *types; /* of the maps, bits; constant data of the program */
    void **names;   /* NULL, or an array */
    void **mappers; /* NULL, or an array */
};

/* How every version of the ABI begins its description of a region. */
struct msp_omp_kernel {
    uint32_t version;
    uint32_t count;
    void **bases;
    void **begins;
    int64_t *sizes;
    int64_t *types;
    void **names;
    void **mappers;
    uint64_t trip_count;
    uint64_t flags; /* from version 2; bit 0: the call may return before the region has ended */
};

typedef int msp_omp_kernel_fn(void *location, int64_t device, int32_t teams, int32_t threads,
                              void *region, void *arguments);

/* Set with the first allocator, for the rest of the process. */
extern atomic_bool msp_omp_mapped_set;

static inline bool msp_omp_mapped_is_set(void)
{
    return atomic_load_explicit(&msp_omp_mapped_set, memory_order_acquire);
}

/* The runtime's routine @p which for @p data; nothing without a runtime. */
void msp_omp_data_forward(enum msp_omp_real which, const struct msp_omp_data *data);

/* The same for MSP_OMP_REAL_TGT_DATA_BEGIN and _END, with memory from the allocators. */
void msp_omp_mapped_move(enum msp_omp_real which, const struct msp_omp_data *data);

/* Of a mapper, whose entries for the runtime begin with the present call: changes these entries. */
void msp_omp_mapped_component(void *base, void **begin, int64_t size_bytes, int64_t *type);

/* The runtime's routine @p real for a region on device @p number, likewise. The region has ended
 * when this returns, where one of its variables has memory from an allocator. */
int msp_omp_mapped_kernel(msp_omp_kernel_fn *real, int number, void *location, int64_t device,
                          int32_t teams, int32_t threads, void *region,
                          struct msp_omp_kernel *arguments);

/* True when the memory of the variable at @p pointer comes from an allocator. */
bool msp_omp_mapped_has(const void *pointer, int number);

#endif /* MEMSPAN_CORE_OMP_MAPPED_H */
