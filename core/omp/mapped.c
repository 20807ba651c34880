/* SPDX-License-Identifier: BSD-3-Clause */
/* mapped.c: memory for mapped variables, on runtimes that have no call to set its allocator.
 *
 * A variable that is about to be mapped gets memory from the allocator and is associated with it
 * (omp_target_associate_ptr). To the runtime it is then present for ever: its addresses are right
 * everywhere, but it neither counts references nor copies. So the references are counted here, and
 * a map that begins or ends a variable is passed on with the bit that makes the runtime copy: it
 * alone knows which words of a structure are pointers of the device.
 *
 * A region's maps begin before it and end after it, by calls of their own: another thread's region
 * may use the variable as soon as it is counted, when its values must be there.
 *
 * Left to the runtime: what is present already (global variables of the device, associations of the
 * program), what overlaps that, what has a mapper, and every variable where the device works in
 * the host's memory (requires unified_shared_memory). */

#include "core/omp/mapped.h"
#include "core/allocator.h"
#include "core/base/error.h"
#include "core/base/fork.h"
#include "core/base/log.h"
#include "core/base/region.h"
#include "core/omp/abi.h"
#include "core/omp/devices.h"
#include "core/omp/named.h"
#include "core/omp/refusal.h"
#include "core/omp/variable.h"
#include <stdlib.h>
#include <string.h>

/* Bits of a map's type. */
#define MAP_TO       0x1
#define MAP_FROM     0x2
#define MAP_ALWAYS   0x4
#define MAP_DELETE   0x8
#define MAP_POINTEE  0x10 /* of a pointer that is mapped too */
#define MAP_PRIVATE  0x80
#define MAP_LITERAL  0x100
#define MAP_PRESENT  0x1000
#define MAP_HOLD     0x2000
#define MAP_ATTACH   0x4000
#define MAP_NO_DATA  (MAP_PRIVATE | MAP_LITERAL | MAP_ATTACH)
#define MEMBER_SHIFT 48 /* above: 1 + the index of the structure's entry; 0: no member */

enum { DEVICES_MAX = 256, KERNEL_HAS_FLAGS = 2, KERNEL_NOWAIT = 1 };

/* Members of a structure keep their alignment when it is mapped from the middle. */
enum { STRUCTURE_ALIGN_BYTES = 16 };

typedef void data_fn(void *, int64_t, int32_t, void **, void **, int64_t *, int64_t *, void **,
                     void **);
typedef int associate_fn(const void *, const void *, size_t, size_t, int);
typedef int disassociate_fn(const void *, int);
typedef int is_present_fn(const void *, int);
typedef void *mapped_ptr_fn(const void *, int);
typedef int set_allocator_fn(int64_t, msp_omp_map_alloc *, msp_omp_map_free *);
typedef int reset_allocator_fn(int64_t);

atomic_bool msp_omp_mapped_set;

/* Guards what follows, and is held while the runtime begins and ends maps: a variable must be there
 * when it is counted, and must not be used again before it has gone. */
MSP_LOCK_STATIC(lock, MSP_RANK_OMP_MAPPED);

static struct {
    msp_omp_map_alloc *alloc;
    msp_omp_map_free *release;
    bool sees_maps; /* or has only what is named, from then on */
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

static bool is_member(int64_t type)
{
    return ((uint64_t)type >> MEMBER_SHIFT) != 0;
}

/* The entry is of data, of no bytes too. The runtime maps what mappers name, in a way that is not
 * seen. */
static bool has_data(const struct msp_omp_data *d, int i)
{
    return ((d->types[i] & MAP_NO_DATA) == 0) && ((d->mappers == NULL) || (d->mappers[i] == NULL));
}

/* The entry is what references are counted of: members are in the structure's. */
static bool is_counted(const struct msp_omp_data *d, int i)
{
    return has_data(d, i) && (!is_member(d->types[i]) || ((d->types[i] & MAP_POINTEE) != 0));
}

/* An entry of no bytes is the runtime's where it has a variable of its own there. */
static struct msp_omp_variable *variable_of(const struct msp_omp_data *d, int i)
{
    is_present_fn *present = (is_present_fn *)msp_omp_real(MSP_OMP_REAL_TARGET_IS_PRESENT);
    const void *begin      = d->begins[i];
    struct msp_omp_variable *v;

    if (d->sizes[i] > 0) {
        return msp_omp_variable_find(d->number, begin, (size_t)d->sizes[i]);
    }
    v = msp_omp_variable_find_empty(d->number, begin);
    if ((v != NULL) && (msp_omp_variable_find(d->number, begin, 1) != v) &&
        present(begin, d->number)) {
        return NULL;
    }
    return v;
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
        if (is_counted(d, i) && ((wanted && is_wanted(d, i)) || (variable_of(d, i) != NULL))) {
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
    is_present_fn *present = (is_present_fn *)msp_omp_real(MSP_OMP_REAL_TARGET_IS_PRESENT);
    const char *begin      = d->begins[i];

    return present(begin, d->number) || present(begin + d->sizes[i] - 1, d->number) ||
           msp_omp_variable_overlaps(d->number, begin, (size_t)d->sizes[i]);
}

/* Bytes in front of a structure's memory: none where the next entry is no member of it. */
static size_t padding(const struct msp_omp_data *d, int i)
{
    bool is_structure = !is_member(d->types[i]) && (i + 1 < d->count) &&
                        ((uint64_t)d->types[i + 1] >> MEMBER_SHIFT == (uint64_t)i + 1);

    return is_structure ? (uintptr_t)d->begins[i] % STRUCTURE_ALIGN_BYTES : 0;
}

static uintptr_t base_of(const struct msp_omp_data *d, int i)
{
    bool is_pointee = (d->types[i] & MAP_POINTEE) != 0;

    return (uintptr_t)(is_pointee ? *(void **)d->bases[i] : d->bases[i]);
}

static void give_memory(const struct msp_omp_data *d, int i)
{
    associate_fn *associate   = (associate_fn *)msp_omp_real(MSP_OMP_REAL_TARGET_ASSOCIATE_PTR);
    size_t size_bytes         = (size_t)d->sizes[i];
    size_t pad                = padding(d, i);
    struct msp_omp_variable v = {.device     = d->number,
                                 .base       = base_of(d, i),
                                 .begin      = (uintptr_t)d->begins[i],
                                 .size_bytes = size_bytes,
                                 .release    = allocators[d->number].release,
                                 .changes    = true};

    v.memory = allocators[d->number].alloc(size_bytes + pad);
    if (v.memory == NULL) {
        msp_log(MEMSPAN_LOG_WARN, "omp",
                "no memory for a mapped variable of %zu bytes from the allocator of device %d: it "
                "has the runtime's",
                size_bytes, d->number);
    } else if (!msp_omp_variable_add(&v)) {
        v.release(v.memory);
    } else if (associate(d->begins[i], v.memory, size_bytes, pad, d->number) != 0) {
        msp_omp_variable_remove(variable_of(d, i));
        v.release(v.memory);
    }
}

static void begin_entry(const struct msp_omp_data *d, int i)
{
    struct msp_omp_variable *v = variable_of(d, i);

    if ((v == NULL) && has_allocator(d->number) && ((d->types[i] & MAP_PRESENT) == 0) &&
        is_wanted(d, i) && has_memory(d->number) && !is_present(d, i)) {
        give_memory(d, i);
        v = variable_of(d, i);
    }
    if (v != NULL) {
        *(((d->types[i] & MAP_HOLD) != 0) ? &v->hold_count : &v->count) += 1;
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
    count      = ((d->types[i] & MAP_HOLD) != 0) ? &v->hold_count : &v->count;
    *count     = (((d->types[i] & MAP_DELETE) != 0) || (*count == 0)) ? 0 : *count - 1;
    v->changes = (v->count == 0) && (v->hold_count == 0);
}

static void take_memory(struct msp_omp_variable *v)
{
    disassociate_fn *disassociate =
        (disassociate_fn *)msp_omp_real(MSP_OMP_REAL_TARGET_DISASSOCIATE_PTR);

    if (disassociate((const void *)v->begin, v->device) != 0) {
        msp_log(MEMSPAN_LOG_WARN, "omp", "the runtime keeps a mapped variable of device %d",
                v->device);
    } else {
        v->release(v->memory);
    }
    msp_omp_variable_remove(v);
}

/* ---- the calls ---- */

/* Runtimes from LLVM 22 set a pointer of the device when it or what it points to is new, which they
 * cannot see of variables here. */
static bool attaches(const struct msp_omp_data *d, int i)
{
    const struct msp_omp_variable *pointer = NULL;
    const struct msp_omp_variable *pointee = NULL;

    if ((d->types[i] & (MAP_ATTACH | MAP_PRIVATE)) == MAP_ATTACH) {
        pointer = msp_omp_variable_find(d->number, d->bases[i], sizeof(void *));
        pointee = msp_omp_variable_find(d->number, d->begins[i], 1);
    }
    return ((pointer != NULL) && pointer->changes) || ((pointee != NULL) && pointee->changes);
}

/* An entry of the runtime's call: it has bits of its own and, where it has no bytes, the begin of
 * its variable, which to the runtime has no base. */
static void change_entry(struct msp_omp_data *changed, int i, bool begins)
{
    struct msp_omp_variable *v = has_data(changed, i) ? variable_of(changed, i) : NULL;
    int64_t copied             = begins ? MAP_TO : MAP_FROM;

    if ((v != NULL) && (changed->sizes[i] == 0)) {
        changed->begins[i] = (void *)v->begin;
    } else if (((v != NULL) && v->changes && ((changed->types[i] & copied) != 0)) ||
               (begins && attaches(changed, i))) {
        changed->types[i] |= MAP_ALWAYS;
    }
}

/* Lock held. The runtime copies what begins or ends here, and nothing else. */
static void move(enum msp_omp_real which, const struct msp_omp_data *d,
                 struct msp_omp_data *changed)
{
    bool begins  = (which == MSP_OMP_REAL_TGT_DATA_BEGIN);
    size_t count = (size_t)d->count;
    struct msp_omp_variable *v;
    int i;

    memcpy(changed->types, d->types, count * sizeof *d->types);
    memcpy(changed->begins, d->begins, count * sizeof *d->begins);
    for (i = 0; i < d->count; i++) {
        if (is_counted(d, i)) {
            (begins ? begin_entry : end_entry)(d, i);
        }
    }
    for (i = 0; i < d->count; i++) {
        change_entry(changed, i, begins);
    }
    msp_omp_data_forward(which, changed);
    for (i = 0; i < d->count; i++) {
        v = is_counted(d, i) ? variable_of(d, i) : NULL;
        if ((v != NULL) && v->changes && begins) {
            v->changes = false;
        } else if ((v != NULL) && v->changes) {
            take_memory(v);
        }
    }
}

/* For the runtime, with arrays of its own for what changes; NULL when the call is the runtime's
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
    struct msp_omp_data *changed;

    msp_lock(&lock);
    changed = copy_if_concerned(d);
    if (changed != NULL) {
        move(which, d, changed);
    }
    msp_unlock(&lock);
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
        if ((types[i] & MAP_NO_DATA) == 0) {
            types[i] &= ~(int64_t)(MAP_TO | MAP_FROM | MAP_ALWAYS | MAP_DELETE);
        }
    }
}

int msp_omp_mapped_kernel(msp_omp_kernel_fn *real, int number, void *location, int64_t device,
                          int32_t teams, int32_t threads, void *region,
                          struct msp_omp_kernel *arguments)
{
    struct msp_omp_data d = {.location = location,
                             .device   = device,
                             .number   = number,
                             .count    = (int32_t)arguments->count,
                             .bases    = arguments->bases,
                             .begins   = arguments->begins,
                             .sizes    = arguments->sizes,
                             .types    = arguments->types,
                             .names    = arguments->names,
                             .mappers  = arguments->mappers};
    bool has_flags        = (arguments->version >= KERNEL_HAS_FLAGS);
    uint64_t flags        = has_flags ? arguments->flags : 0;
    struct msp_omp_data *changed;
    int result;

    msp_lock(&lock);
    changed = copy_if_concerned(&d);
    if (changed != NULL) {
        move(MSP_OMP_REAL_TGT_DATA_BEGIN, &d, changed);
    }
    msp_unlock(&lock);
    if (changed == NULL) {
        return real(location, device, teams, threads, region, arguments);
    }
    /* The arguments are the caller's, on its stack, and their length differs by version. */
    strip(changed->types, d.count);
    arguments->types  = changed->types;
    arguments->begins = changed->begins;
    if (has_flags) {
        arguments->flags = flags & ~(uint64_t)KERNEL_NOWAIT;
    }
    result            = real(location, device, teams, threads, region, arguments);
    arguments->types  = d.types;
    arguments->begins = d.begins;
    if (has_flags) {
        arguments->flags = flags;
    }
    msp_lock(&lock);
    move(MSP_OMP_REAL_TGT_DATA_END, &d, changed);
    msp_unlock(&lock);
    free(changed);
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

/* ---- what programs call ---- */

static int refuse(const char *routine)
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
        return refuse(__func__);
    }
    if (!can_associate(device)) {
        return refuse(__func__);
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
        return refuse(__func__);
    }
    for (v = msp_omp_variable_of((int)device); v != NULL; v = msp_omp_variable_of((int)device)) {
        take_memory(v);
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

/* Lock held. */
static memspan_status_t name_elsewhere(void *pointer, size_t size_bytes)
{
    memspan_status_t status = MEMSPAN_OK;
    struct msp_omp_variable *v;
    int i;

    for (i = 0; (i < DEVICES_MAX) && (status == MEMSPAN_OK); i++) {
        v = msp_omp_variable_find(i, pointer, 1);
        if (!has_allocator(i) || allocators[i].sees_maps) {
            continue;
        }
        if (size_bytes != 0) {
            status = associate_named(i, pointer, size_bytes);
        } else if (v != NULL) {
            take_memory(v);
        }
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

memspan_status_t memspan_map_symmetric(const void *pointer, size_t size_bytes)
{
    MSP_OMP_CALL();
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
    status = (size_bytes == 0) ? msp_omp_named_remove((uintptr_t)pointer)
                               : msp_omp_named_add((uintptr_t)pointer, size_bytes);
    if (status == MEMSPAN_OK) {
        status = name_elsewhere((void *)pointer, size_bytes);
        if (status != MEMSPAN_OK) {
            (void)msp_omp_named_remove((uintptr_t)pointer);
        }
    }
    msp_unlock(&lock);
    return status;
}

memspan_status_t memspan_map_symmetric_allocator(msp_omp_allocator_t allocator)
{
    MSP_OMP_CALL();
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
