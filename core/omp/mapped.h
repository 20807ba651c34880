/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_OMP_MAPPED_H
#define MEMSPAN_CORE_OMP_MAPPED_H

#include "core/omp/abi.h"
#include "core/omp/runtime.h"
#include <memspan/allocator.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Mapped variables whose memory on the device comes from an allocator that the program has set, and
 * not from the OpenMP runtime. */

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

/* ---- entries ---- */

/* An entry of the arrays that Clang passes for mapped data: its bits, and their meaning. */

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

/* ---- counting references ---- */

/* Maps of variables that are there already, which is most of them in a loop of regions: only
 * references are counted, and the runtime need not be called. */

/* Add to the references of the variables of all entries (@p begins), or take from them. False, and
 * nothing has changed, where there is more to do: a variable begins or ends, is the runtime's, or
 * its map means more than its use. Bits of @p allowed may be set all the same; entries with bits of
 * @p ignored do not matter. Callers hold the lock of mapped.c. */
bool msp_omp_map_count(const struct msp_omp_data *data, bool begins, int64_t allowed,
                       int64_t ignored);

/* ---- variables with memory of an allocator ---- */

/* The mapped variables with memory of an allocator, by device and host address. They do not
 * overlap. Callers hold the lock of mapped.c; a pointer is valid until its variable is removed. */

struct msp_omp_variable {
    int device;
    uintptr_t base;  /* on the host: where the array begins of which this is a section */
    uintptr_t begin; /* on the host */
    size_t size_bytes;
    void *memory; /* on the device */
    msp_omp_map_free *release;
    size_t count;      /* references of map clauses */
    size_t hold_count; /* of those with ompx_hold */
    bool changes;      /* begins or ends with the present call */
    struct msp_omp_variable *next_changed;
    struct msp_omp_variable *before; /* of the tree in variable.c */
    struct msp_omp_variable *after;
    uint32_t priority;
};

/* The variable that holds all these bytes, or NULL. */
struct msp_omp_variable *msp_omp_variable_find(int device, const void *begin, size_t size_bytes);

/* The variable that a section of no bytes at this address belongs to, or NULL. The runtime's rule:
 * an address between the base and the begin of a variable counts as its own. */
struct msp_omp_variable *msp_omp_variable_find_empty(int device, const void *address);

/* True when a variable has one of these bytes. */
bool msp_omp_variable_overlaps(int device, const void *begin, size_t size_bytes);

/* One of the device's variables, or NULL. */
struct msp_omp_variable *msp_omp_variable_of(int device);

/* Add a copy of @p variable; NULL without memory. */
struct msp_omp_variable *msp_omp_variable_add(const struct msp_omp_variable *variable);
void msp_omp_variable_remove(struct msp_omp_variable *variable);

/* ---- variables that the program names ---- */

/* The mapped variables that take memory from the devices' allocators (mapped.h): all, until the
 * program names some. mapped.c holds its lock around these functions. */

bool msp_omp_named_has(const void *begin, size_t size_bytes);
memspan_status_t msp_omp_named_add(uintptr_t begin, size_t size_bytes);
memspan_status_t msp_omp_named_remove(uintptr_t begin);
/* Variables in its memory; until the end of the program. */
memspan_status_t msp_omp_named_add_allocator(memspan_allocator_h allocator);

/* ---- regions ---- */

/* The calling thread runs a target region that its program has yet to wait for (nowait). */
bool msp_region_is_unwaited(void);

#endif /* MEMSPAN_CORE_OMP_MAPPED_H */
