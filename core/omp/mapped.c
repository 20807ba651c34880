/* SPDX-License-Identifier: BSD-3-Clause */
/* mapped.c: memory for mapped variables, on runtimes that have no call to set its allocator.
 *
 * A variable that is about to be mapped gets memory from the allocator and is associated with it
 * (omp_target_associate_ptr). To the runtime it is then present for ever: its addresses are right
 * everywhere, but it neither counts references nor copies. So the references are counted here, and
 * a map that begins or ends a variable is passed on with the bit that makes the runtime copy: it
 * alone can tell the words of a structure that are pointers of the device.
 *
 * A region's maps begin before it and end after it, by calls of their own: another thread's region
 * may use the variable as soon as it is counted, when its values must be there.
 *
 * Entries of a mapper are seen in its calls of the runtime (__tgt_push_mapper_component). The
 * structure itself is the runtime's, which does not count it.
 *
 * Left to the runtime: variables that are present already (global variables of the device,
 * associations of the program), those that overlap them, and every variable where the device works
 * in the host's memory (requires unified_shared_memory). */

#include "core/omp/mapped.h"
#include "core/allocator.h"
#include "core/base/error.h"
#include "core/base/fork.h"
#include "core/base/log.h"
#include "core/base/region.h"
#include "core/omp/abi.h"
#include "core/omp/openmp.h"
#include <stdlib.h>
#include <string.h>

enum { DEVICES_MAX = 256, KERNEL_HAS_FLAGS = 2, KERNEL_NOWAIT = 1 };

typedef void data_fn(void *, int64_t, int32_t, void **, void **, int64_t *, int64_t *, void **,
                     void **);
typedef int associate_fn(const void *, const void *, size_t, size_t, int);
typedef int disassociate_fn(const void *, int);
typedef int is_present_fn(const void *, int);
typedef void *mapped_ptr_fn(const void *, int);
typedef int set_allocator_fn(int64_t, msp_omp_map_alloc *, msp_omp_map_free *);
typedef int reset_allocator_fn(int64_t);

atomic_bool msp_omp_mapped_set;

/* Guards the data below, and is held while the runtime begins and ends maps: a variable must be
 * there when it is counted, and must not be used again before it has gone. */
MSP_LOCK_STATIC(lock, MSP_RANK_OMP_MAPPED);

/* The variables that begin or end with the present call. */
static struct msp_omp_variable *changed_variables;

/* The present call of this thread, while the runtime is in it. */
static _Thread_local struct {
    const struct msp_omp_data *data; /* NULL: none */
    bool begins;
} moving;

static struct {
    msp_omp_map_alloc *alloc;
    msp_omp_map_free *release;
    bool sees_maps; /* or has only the named ones, from then on */
    bool asked;     /* whether it has memory of its own: that is the next member */
    bool has_memory;
} allocators[DEVICES_MAX];

void msp_omp_data_forward(enum msp_omp_real which, const struct msp_omp_data *d)
{
    uintptr_t real = msp_omp_real(which);

    if (real != 0) {
        ((data_fn *)real)(d->location, d->device, d->count, d->bases, d->begins, d->sizes, d->types,
                          d->names, d->mappers);
    }
}

/* ---- which entries ---- */

static bool is_mapped(const void *pointer, int number)
{
    return ((is_present_fn *)msp_omp_real(MSP_OMP_REAL_TARGET_IS_PRESENT))(pointer, number);
}

/* An entry of no bytes is the runtime's where it has a variable of its own there. */
static struct msp_omp_variable *variable_of(const struct msp_omp_data *d, int i)
{
    const void *begin = d->begins[i];
    struct msp_omp_variable *v;

    if (d->sizes[i] > 0) {
        return msp_omp_variable_find(d->number, begin, (size_t)d->sizes[i]);
    }
    v = msp_omp_variable_find_empty(d->number, begin);
    return ((v == NULL) || (msp_omp_variable_find(d->number, begin, 1) == v) ||
            !is_mapped(begin, d->number))
               ? v
               : NULL;
}

static bool is_wanted(const struct msp_omp_data *d, int i)
{
    return (d->sizes[i] > 0) && msp_omp_named_has(d->begins[i], (size_t)d->sizes[i]);
}

static bool has_allocator(int64_t number)
{
    return (number >= 0) && (number < DEVICES_MAX) && (allocators[number].alloc != NULL);
}

static bool concerns(const struct msp_omp_data *d)
{
    bool wanted = has_allocator(d->number);
    int i;

    for (i = 0; i < d->count; i++) {
        if ((wanted && msp_omp_entry_has_mapper(d, i)) ||
            (msp_omp_entry_is_counted(d, i) &&
             ((wanted && is_wanted(d, i)) || (variable_of(d, i) != NULL)))) {
            return true;
        }
    }
    return false;
}

/* ---- a variable's begin ---- */

/* A byte is mapped to see whether it gets another address. */
static bool has_memory(int number)
{
    char byte                = 0;
    void *address            = &byte;
    int64_t size             = 1;
    int64_t type             = 0;
    struct msp_omp_data d    = {.device = number,
                                .number = number,
                                .count  = 1,
                                .bases  = &address,
                                .begins = &address,
                                .sizes  = &size,
                                .types  = &type};
    mapped_ptr_fn *mapped_to = (mapped_ptr_fn *)msp_omp_real(MSP_OMP_REAL_GET_MAPPED_PTR);
    void *there;

    if (!allocators[number].asked) {
        msp_omp_data_forward(MSP_OMP_REAL_TGT_DATA_BEGIN, &d);
        there = mapped_to(&byte, number);
        msp_omp_data_forward(MSP_OMP_REAL_TGT_DATA_END, &d);
        allocators[number].has_memory = (there != NULL) && (there != &byte);
        allocators[number].asked      = true;
    }
    return allocators[number].has_memory;
}

static bool is_present(const struct msp_omp_data *d, int i)
{
    const char *begin = d->begins[i];

    return is_mapped(begin, d->number) || is_mapped(begin + d->sizes[i] - 1, d->number) ||
           msp_omp_variable_overlaps(d->number, begin, (size_t)d->sizes[i]);
}

static void take_memory(const struct msp_omp_variable *v)
{
    disassociate_fn *disassociate =
        (disassociate_fn *)msp_omp_real(MSP_OMP_REAL_TARGET_DISASSOCIATE_PTR);

    if (disassociate((const void *)v->begin, v->device) != 0) {
        msp_log(MEMSPAN_LOG_WARN, "omp", "the runtime keeps a mapped variable of device %d",
                v->device);
    } else {
        v->release(v->memory);
    }
}

static void end_variable(struct msp_omp_variable *v)
{
    take_memory(v);
    msp_omp_variable_remove(v);
}

/* NULL: it has none. */
static struct msp_omp_variable *give_memory(const struct msp_omp_data *d, int i)
{
    associate_fn *associate   = (associate_fn *)msp_omp_real(MSP_OMP_REAL_TARGET_ASSOCIATE_PTR);
    size_t size_bytes         = (size_t)d->sizes[i];
    size_t pad                = msp_omp_entry_padding(d, i);
    struct msp_omp_variable v = {.device     = d->number,
                                 .base       = msp_omp_entry_base(d, i),
                                 .begin      = (uintptr_t)d->begins[i],
                                 .size_bytes = size_bytes,
                                 .release    = allocators[d->number].release};
    struct msp_omp_variable *added = NULL;

    v.memory = allocators[d->number].alloc(size_bytes + pad);
    if (v.memory == NULL) {
        msp_log(MEMSPAN_LOG_WARN, "omp",
                "no memory for a mapped variable of %zu bytes from the allocator of device %d: it "
                "has the runtime's",
                size_bytes, d->number);
    } else if (associate(d->begins[i], v.memory, size_bytes, pad, d->number) != 0) {
        v.release(v.memory);
    } else {
        added = msp_omp_variable_add(&v);
        if (added == NULL) {
            take_memory(&v);
        }
    }
    return added;
}

static void mark_changed(struct msp_omp_variable *v)
{
    if (!v->changes) {
        v->changes        = true;
        v->next_changed   = changed_variables;
        changed_variables = v;
    }
}

static void begin_entry(const struct msp_omp_data *d, int i)
{
    struct msp_omp_variable *v = variable_of(d, i);

    if ((v == NULL) && has_allocator(d->number) && ((d->types[i] & MSP_MAP_PRESENT) == 0) &&
        is_wanted(d, i) && has_memory(d->number) && !is_present(d, i)) {
        v = give_memory(d, i);
        if (v != NULL) {
            mark_changed(v);
        }
    }
    if (v != NULL) {
        *(((d->types[i] & MSP_MAP_HOLD) != 0) ? &v->hold_count : &v->count) += 1;
    }
}

/* ---- its end ---- */

static void end_entry(const struct msp_omp_data *d, int i)
{
    struct msp_omp_variable *v = variable_of(d, i);
    size_t *count;

    if (v == NULL) {
        return;
    }
    count  = ((d->types[i] & MSP_MAP_HOLD) != 0) ? &v->hold_count : &v->count;
    *count = (((d->types[i] & MSP_MAP_DELETE) != 0) || (*count == 0)) ? 0 : *count - 1;
    if ((v->count == 0) && (v->hold_count == 0)) {
        mark_changed(v);
    }
}

/* ---- the calls ---- */

/* Runtimes from LLVM 22 set a pointer of the device when it or its target is new, which they cannot
 * see of variables here. */
static bool attaches(const struct msp_omp_data *d, int i)
{
    const struct msp_omp_variable *pointer = NULL;
    const struct msp_omp_variable *pointee = NULL;

    if ((d->types[i] & (MSP_MAP_ATTACH | MSP_MAP_PRIVATE)) == MSP_MAP_ATTACH) {
        pointer = msp_omp_variable_find(d->number, d->bases[i], sizeof(void *));
        pointee = msp_omp_variable_find(d->number, d->begins[i], 1);
    }
    return ((pointer != NULL) && pointer->changes) || ((pointee != NULL) && pointee->changes);
}

/* An entry of the runtime's call: it has bits of its own and, where it has no bytes, the begin of
 * its variable, which to the runtime has no base. */
static void change_entry(struct msp_omp_data *changed, int i, bool begins)
{
    struct msp_omp_variable *v =
        msp_omp_entry_has_data(changed, i) ? variable_of(changed, i) : NULL;
    int64_t copied = begins ? MSP_MAP_TO : MSP_MAP_FROM;

    if ((v != NULL) && (changed->sizes[i] == 0)) {
        changed->begins[i] = (void *)v->begin;
    } else if (((v != NULL) && v->changes && ((changed->types[i] & copied) != 0)) ||
               (begins && attaches(changed, i))) {
        changed->types[i] |= MSP_MAP_ALWAYS;
    }
}

static void finish_changes(bool begins)
{
    struct msp_omp_variable *v;

    while (changed_variables != NULL) {
        v                 = changed_variables;
        changed_variables = v->next_changed;
        v->changes        = false;
        if (!begins) {
            end_variable(v);
        }
    }
}

/* Lock held. The runtime copies variables that begin or end here, and nothing else. */
static void move(enum msp_omp_real which, const struct msp_omp_data *d,
                 struct msp_omp_data *changed)
{
    bool begins  = (which == MSP_OMP_REAL_TGT_DATA_BEGIN);
    size_t count = (size_t)d->count;
    int i;

    memcpy(changed->types, d->types, count * sizeof *d->types);
    memcpy(changed->begins, d->begins, count * sizeof *d->begins);
    for (i = 0; i < d->count; i++) {
        if (msp_omp_entry_is_counted(d, i)) {
            (begins ? begin_entry : end_entry)(d, i);
        }
    }
    for (i = 0; i < d->count; i++) {
        change_entry(changed, i, begins);
    }
    moving.data   = d;
    moving.begins = begins;
    msp_omp_data_forward(which, changed);
    moving.data = NULL;
    finish_changes(begins);
}

void msp_omp_mapped_component(void *base, void **begin, int64_t size_bytes, int64_t *type)
{
    struct msp_omp_data d = {
        .count = 1, .bases = &base, .begins = begin, .sizes = &size_bytes, .types = type};

    if (moving.data == NULL) {
        return;
    }
    d.number = moving.data->number;
    if (((*type & (MSP_MAP_POINTEE | MSP_MAP_DELETE)) != 0) && msp_omp_entry_is_counted(&d, 0)) {
        (moving.begins ? begin_entry : end_entry)(&d, 0);
    }
    change_entry(&d, 0, moving.begins);
}

/* For the runtime, with arrays of its own for changed entries; NULL when the call is the runtime's
 * alone. */
static struct msp_omp_data *copy_if_concerned(const struct msp_omp_data *d)
{
    size_t count              = (size_t)d->count;
    struct msp_omp_data *copy = NULL;

    if (concerns(d)) {
        copy = malloc(sizeof *copy + count * (sizeof *d->types + sizeof *d->begins));
        if (copy == NULL) {
            msp_log(MEMSPAN_LOG_ERROR, "omp", "no memory to map %zu variables from an allocator",
                    count);
            return NULL;
        }
        *copy        = *d;
        copy->types  = (int64_t *)(copy + 1);
        copy->begins = (void **)(copy->types + count);
    }
    return copy;
}

void msp_omp_mapped_move(enum msp_omp_real which, const struct msp_omp_data *d)
{
    struct msp_omp_data *changed = NULL;
    bool counted;

    msp_lock(&lock);
    counted = msp_omp_map_count(d, which == MSP_OMP_REAL_TGT_DATA_BEGIN, 0, 0);
    changed = counted ? NULL : copy_if_concerned(d);
    if (changed != NULL) {
        move(which, d, changed);
    }
    msp_unlock(&lock);
    if (counted) {
        return;
    }
    if (changed == NULL) {
        msp_omp_data_forward(which, d);
    }
    free(changed);
}

/* The maps of a region whose variables are there, so that it neither copies nor deletes. */
static void strip(int64_t *types, int32_t count)
{
    int i;

    for (i = 0; i < count; i++) {
        if ((types[i] & MSP_MAP_NO_DATA) == 0) {
            types[i] &= ~(int64_t)(MSP_MAP_TO | MSP_MAP_FROM | MSP_MAP_ALWAYS | MSP_MAP_DELETE);
        }
    }
}

/* Of a region all of whose variables are there: it neither begins nor ends one, and the runtime
 * copies the entries with the bit for always. False: see to it. */
static bool use_in_region(const struct msp_omp_data *d, bool begins)
{
    return msp_omp_map_count(d, begins, MSP_MAP_ALWAYS, MSP_MAP_NO_DATA);
}

/* The maps of a region end. @p changed: as they began, or NULL where they were only counted. */
static void end_region(const struct msp_omp_data *d, struct msp_omp_data *changed)
{
    msp_lock(&lock);
    if ((changed == NULL) && !use_in_region(d, false)) {
        changed = copy_if_concerned(d); /* another thread has left the last reference here */
    }
    if (changed != NULL) {
        move(MSP_OMP_REAL_TGT_DATA_END, d, changed);
    }
    msp_unlock(&lock);
    free(changed);
}

int msp_omp_mapped_kernel(msp_omp_kernel_fn *real, int number, void *location, int64_t device,
                          int32_t teams, int32_t threads, void *region,
                          struct msp_omp_kernel *arguments)
{
    struct msp_omp_data d        = {.location = location,
                                    .device   = device,
                                    .number   = number,
                                    .count    = (int32_t)arguments->count,
                                    .bases    = arguments->bases,
                                    .begins   = arguments->begins,
                                    .sizes    = arguments->sizes,
                                    .types    = arguments->types,
                                    .names    = arguments->names,
                                    .mappers  = arguments->mappers};
    bool has_flags               = (arguments->version >= KERNEL_HAS_FLAGS);
    uint64_t flags               = has_flags ? arguments->flags : 0;
    struct msp_omp_data *changed = NULL;
    bool counted;
    int result;

    msp_lock(&lock);
    counted = use_in_region(&d, true);
    changed = counted ? NULL : copy_if_concerned(&d);
    if (changed != NULL) {
        move(MSP_OMP_REAL_TGT_DATA_BEGIN, &d, changed);
    }
    msp_unlock(&lock);
    if (!counted && (changed == NULL)) {
        return real(location, device, teams, threads, region, arguments);
    }
    /* The arguments are the caller's, on its stack, and their length differs by version. */
    if (changed != NULL) {
        strip(changed->types, d.count);
        arguments->types  = changed->types;
        arguments->begins = changed->begins;
    }
    if (has_flags) {
        arguments->flags = flags & ~(uint64_t)KERNEL_NOWAIT;
    }
    result            = real(location, device, teams, threads, region, arguments);
    arguments->types  = d.types;
    arguments->begins = d.begins;
    if (has_flags) {
        arguments->flags = flags;
    }
    end_region(&d, changed);
    return result;
}

bool msp_omp_mapped_has(const void *pointer, int number)
{
    bool has = false;

    if (msp_omp_mapped_is_set()) {
        msp_lock(&lock);
        has = (msp_omp_variable_find(number, pointer, 1) != NULL);
        msp_unlock(&lock);
    }
    return has;
}

/* ---- calls of programs ---- */

static int refuse_call(const char *routine)
{
    msp_omp_refused(routine);
    return -1;
}

static bool can_associate(int64_t device)
{
    if ((device < 0) || (device >= DEVICES_MAX) || (device >= msp_omp_runtime_device_count())) {
        memspan_error(MEMSPAN_ERR_NOT_FOUND, "the OpenMP runtime has no device %lld",
                      (long long)device);
        return false;
    }
    if (msp_omp_real(MSP_OMP_REAL_TARGET_ASSOCIATE_PTR) == 0) {
        memspan_error(MEMSPAN_ERR_UNSUPPORTED, "the runtime has no omp_target_associate_ptr()");
        return false;
    }
    return true;
}

/* The calls above have all that they need of the runtime: it is Clang's, and behind this library.
 */
static bool sees_maps(void)
{
    return (msp_omp_real(MSP_OMP_REAL_TGT_DATA_BEGIN) != 0) &&
           (msp_omp_real(MSP_OMP_REAL_GET_MAPPED_PTR) != 0) && msp_region_is_seen();
}

int __tgt_set_device_allocator(int64_t device, msp_omp_map_alloc *alloc, msp_omp_map_free *release)
{
    MSP_OMP_CALL();
    uintptr_t real = msp_omp_real(MSP_OMP_REAL_TGT_SET_DEVICE_ALLOCATOR);

    if (real != 0) {
        return ((set_allocator_fn *)real)(device, alloc, release);
    }
    if ((alloc == NULL) || (release == NULL)) {
        memspan_error(MEMSPAN_ERR_INVALID, "an allocator's function is NULL");
        return refuse_call(__func__);
    }
    if (!can_associate(device)) {
        return refuse_call(__func__);
    }
    msp_lock(&lock);
    allocators[device].alloc     = alloc;
    allocators[device].release   = release;
    allocators[device].sees_maps = sees_maps();
    msp_unlock(&lock);
    if (!allocators[device].sees_maps) {
        msp_log(MEMSPAN_LOG_WARN, "omp",
                "map clauses do not pass through libmemspan: on device %lld only variables that "
                "memspan_map_symmetric() names take memory from the allocator",
                (long long)device);
    }
    atomic_store_explicit(&msp_omp_mapped_set, true, memory_order_release);
    return 0;
}

int __tgt_reset_device_allocator(int64_t device)
{
    MSP_OMP_CALL();
    uintptr_t real = msp_omp_real(MSP_OMP_REAL_TGT_RESET_DEVICE_ALLOCATOR);
    size_t count   = 0;
    struct msp_omp_variable *v;

    if (real != 0) {
        return ((reset_allocator_fn *)real)(device);
    }
    msp_lock(&lock);
    if (!has_allocator(device)) {
        msp_unlock(&lock);
        memspan_error(MEMSPAN_ERR_NOT_FOUND, "device %lld has no allocator", (long long)device);
        return refuse_call(__func__);
    }
    for (v = msp_omp_variable_of((int)device); v != NULL; v = msp_omp_variable_of((int)device)) {
        end_variable(v);
        count++;
    }
    allocators[device].alloc   = NULL;
    allocators[device].release = NULL;
    msp_unlock(&lock);
    if (count > 0) {
        msp_log(MEMSPAN_LOG_INFO, "omp", "%zu variables were still mapped to device %lld", count,
                (long long)device);
    }
    return 0;
}

/* Lock held. The variable gets its memory now: its map clauses are not seen. */
static memspan_status_t associate_named(int device, void *pointer, size_t size_bytes)
{
    int64_t size          = (int64_t)size_bytes;
    int64_t type          = 0;
    struct msp_omp_data d = {.number = device,
                             .count  = 1,
                             .bases  = &pointer,
                             .begins = &pointer,
                             .sizes  = &size,
                             .types  = &type};

    if (!is_present(&d, 0)) {
        give_memory(&d, 0);
    }
    return (variable_of(&d, 0) != NULL)
               ? MEMSPAN_OK
               : memspan_error(MEMSPAN_ERR_NO_MEMORY,
                               "%zu bytes at %p get no memory on device %d, or are mapped",
                               size_bytes, pointer, device);
}

static bool sees_no_maps(int device)
{
    return has_allocator(device) && !allocators[device].sees_maps;
}

/* Lock held. A variable that another name has given its memory keeps it. */
static memspan_status_t withdraw(void *pointer)
{
    memspan_status_t status = msp_omp_named_remove((uintptr_t)pointer);
    int i;

    for (i = 0; (i < DEVICES_MAX) && (status == MEMSPAN_OK); i++) {
        struct msp_omp_variable *v = msp_omp_variable_find(i, pointer, 1);

        if (sees_no_maps(i) && (v != NULL) && (v->begin == (uintptr_t)pointer)) {
            end_variable(v);
        }
    }
    return status;
}

/* Lock held. */
static memspan_status_t name(void *pointer, size_t size_bytes)
{
    memspan_status_t status = msp_omp_named_add((uintptr_t)pointer, size_bytes);
    int i;

    for (i = 0; (i < DEVICES_MAX) && (status == MEMSPAN_OK); i++) {
        if (sees_no_maps(i)) {
            status = associate_named(i, pointer, size_bytes);
            if (status != MEMSPAN_OK) {
                (void)withdraw(pointer);
            }
        }
    }
    return status;
}

static memspan_status_t told(const char *routine, memspan_status_t status)
{
    if (status != MEMSPAN_OK) {
        msp_omp_refused(routine);
    }
    return status;
}

static memspan_status_t check_set(void)
{
    if (msp_omp_mapped_is_set()) {
        return MEMSPAN_OK;
    }
    memspan_error(MEMSPAN_ERR_NOT_FOUND, "mapped variables have no allocator");
    return msp_error_hint("call __tgt_set_shmem_allocator() first");
}

static memspan_status_t map_symmetric(const void *pointer, size_t size_bytes)
{
    memspan_status_t status;

    if ((pointer == NULL) || ((uintptr_t)pointer + size_bytes < (uintptr_t)pointer)) {
        return memspan_error(MEMSPAN_ERR_INVALID, "%zu bytes at %p are no variable", size_bytes,
                             pointer);
    }
    status = check_set();
    if (status != MEMSPAN_OK) {
        return status;
    }
    msp_lock(&lock);
    status = (size_bytes == 0) ? withdraw((void *)pointer) : name((void *)pointer, size_bytes);
    msp_unlock(&lock);
    return status;
}

memspan_status_t memspan_map_symmetric(const void *pointer, size_t size_bytes)
{
    MSP_OMP_CALL();

    return told(__func__, map_symmetric(pointer, size_bytes));
}

static memspan_status_t map_allocator(msp_omp_allocator_t allocator)
{
    memspan_allocator_h handle = (memspan_allocator_h)allocator;
    struct msp_allocator *a;
    memspan_status_t status;

    status = check_set();
    if (status != MEMSPAN_OK) {
        return status;
    }
    if (!sees_maps()) {
        memspan_error(MEMSPAN_ERR_UNSUPPORTED, "map clauses do not pass through libmemspan");
        return msp_error_hint("name each variable: memspan_map_symmetric()");
    }
    if (handle == MEMSPAN_ALLOCATOR_NULL) {
        return memspan_error(MEMSPAN_ERR_INVALID, "omp_null_allocator names no allocator");
    }
    a = msp_allocator_acquire(handle);
    if (a == NULL) {
        return memspan_error_last()->status;
    }
    msp_allocator_release(a);
    msp_lock(&lock);
    status = msp_omp_named_add_allocator(handle);
    msp_unlock(&lock);
    return status;
}

memspan_status_t memspan_map_symmetric_allocator(msp_omp_allocator_t allocator)
{
    MSP_OMP_CALL();

    return told(__func__, map_allocator(allocator));
}
