/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_OMP_MAP_ENTRY_H
#define MEMSPAN_CORE_OMP_MAP_ENTRY_H

/* An entry of the arrays that Clang passes for mapped data: its bits, and their meaning. */

#include "core/omp/mapped.h"

/* Bits of a map's type. */
#define MSP_MAP_TO        0x1
#define MSP_MAP_FROM      0x2
#define MSP_MAP_ALWAYS    0x4
#define MSP_MAP_DELETE    0x8
#define MSP_MAP_POINTEE   0x10 /* of a pointer that is mapped too */
#define MSP_MAP_PARAMETER 0x20 /* its address is an argument of the region */
#define MSP_MAP_PRIVATE   0x80
#define MSP_MAP_LITERAL   0x100
#define MSP_MAP_IMPLICIT  0x200 /* the program wrote no clause */
#define MSP_MAP_PRESENT   0x1000
#define MSP_MAP_HOLD      0x2000
#define MSP_MAP_ATTACH    0x4000
#define MSP_MAP_NO_DATA   (MSP_MAP_PRIVATE | MSP_MAP_LITERAL | MSP_MAP_ATTACH)
#define MSP_MEMBER_SHIFT  48 /* above: 1 + the index of the structure's entry; 0: no member */

/* Members of a structure keep their alignment when it is mapped from the middle. */
enum { MSP_STRUCTURE_ALIGN_BYTES = 16 };

static inline bool msp_omp_entry_is_member(int64_t type)
{
    return ((uint64_t)type >> MSP_MEMBER_SHIFT) != 0;
}

static inline bool msp_omp_entry_has_mapper(const struct msp_omp_data *d, int i)
{
    return (d->mappers != NULL) && (d->mappers[i] != NULL);
}

/* The entry is of data, of no bytes too. */
static inline bool msp_omp_entry_has_data(const struct msp_omp_data *d, int i)
{
    return ((d->types[i] & MSP_MAP_NO_DATA) == 0) && !msp_omp_entry_has_mapper(d, i);
}

/* References are counted for this entry: members are in the structure's. */
static inline bool msp_omp_entry_is_counted(const struct msp_omp_data *d, int i)
{
    return msp_omp_entry_has_data(d, i) &&
           (!msp_omp_entry_is_member(d->types[i]) || ((d->types[i] & MSP_MAP_POINTEE) != 0));
}

/* Bytes in front of a structure's memory: none where the next entry is no member of it. */
static inline size_t msp_omp_entry_padding(const struct msp_omp_data *d, int i)
{
    bool is_structure = !msp_omp_entry_is_member(d->types[i]) && (i + 1 < d->count) &&
                        ((uint64_t)d->types[i + 1] >> MSP_MEMBER_SHIFT == (uint64_t)i + 1);

    return is_structure ? (uintptr_t)d->begins[i] % MSP_STRUCTURE_ALIGN_BYTES : 0;
}

static inline uintptr_t msp_omp_entry_base(const struct msp_omp_data *d, int i)
{
    bool is_pointee = (d->types[i] & MSP_MAP_POINTEE) != 0;

    return (uintptr_t)(is_pointee ? *(void **)d->bases[i] : d->bases[i]);
}

#endif /* MEMSPAN_CORE_OMP_MAP_ENTRY_H */
