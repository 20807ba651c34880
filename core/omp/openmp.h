/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_OMP_OPENMP_H
#define MEMSPAN_CORE_OMP_OPENMP_H

/* The functions that the files of this room give each other. */

#include "core/base/lock.h"
#include "core/omp/abi.h"
#include "core/omp/runtime.h"
#include <memspan/allocator.h>
#include <memspan/status.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- locks ---- */

/* The locks of the OpenMP room. Slow paths only. */

/* Held while something that is made once is made; the maker may call the core and may come back
 * here (recursive). */
void msp_omp_lock(void);
void msp_omp_unlock(void);

/* Guards the partitioners' lists. No callback of the program runs under it. */
extern msp_lock_t msp_omp_partitioner_lock;

/* Guards every struct msp_omp_table and the list of runtimes. Nothing is called under it. */
extern msp_lock_t msp_omp_table_lock;

/* ---- tables ---- */

/* A small map from one word to another, for things that the program names by address: blocks of
 * the real runtime, partitions, partitioners. Slow paths only: one mutex. An empty table answers
 * without it. */

/* Everything is guarded by msp_omp_table_lock. */
struct msp_omp_table {
    struct msp_omp_entry {
        uintptr_t key; /* 0 free, 1 removed */
        uintptr_t value;
    } * slots;
    size_t capacity;      /* a power of two, or 0 */
    size_t used;          /* slots that are not free */
    _Atomic(size_t) live; /* entries */
};

/* Keys 0 and 1 are not allowed. */
#define MSP_OMP_TABLE_INIT                                                                         \
    {                                                                                              \
        .slots = NULL                                                                              \
    }

/* Add or replace. False when there is no memory for it. */
bool msp_omp_table_put(struct msp_omp_table *table, uintptr_t key, uintptr_t value);

/* The value of @p key; false when there is none. */
bool msp_omp_table_get(struct msp_omp_table *table, uintptr_t key, uintptr_t *value_p);

/* The same, and the entry is removed: of several callers only one gets true. */
bool msp_omp_table_take(struct msp_omp_table *table, uintptr_t key, uintptr_t *value_p);

/* ---- refused calls ---- */

/* OpenMP calls that are refused. A null handle or pointer is all that the program sees, and few
 * programs look: the log names the call, with the sentence of memspan_error_text(). */

/* Log that @p routine (a literal) gives nothing, for the reason in the thread's error record: a
 * warning, at most three for each routine and status unless level info is on. */
void msp_omp_refused(const char *routine) __attribute__((cold));

/* The same for memory. Where the allocator has no more and its fallback is null_fb, NULL is the
 * requested result: that is level info. */
void msp_omp_refused_memory(const char *routine, msp_omp_allocator_t allocator)
    __attribute__((cold));

/* ---- internal control variables ---- */

/* def-allocator-var. msp_omp_default_allocator() (base/omp_hook.h) is the reading side. */

/* The value stored in a runtime where omp_default_mem_alloc was set on purpose while OMP_ALLOCATOR
 * names another initial value that the runtime itself did not understand. Means handle 1. */
#define MSP_OMP_EXPLICIT_DEFAULT ((msp_omp_allocator_t)0x4d656d7370616e31)

/* ---- OMP_ALLOCATOR ---- */

/* The text of OMP_ALLOCATOR, and the names of predefined allocators and spaces. */

enum { MSP_OMP_TRAITS_MAX = 32 };

/* The allocator that a text describes. */
struct msp_omp_request {
    msp_omp_allocator_t allocator; /* a predefined one, vendors' included; else 0 and: */
    msp_omp_space_t space;
    memspan_trait_t traits[MSP_OMP_TRAITS_MAX];
    size_t trait_count;
};

/* Parse "omp_high_bw_mem_alloc", "omp_high_bw_mem_space" (the predefined allocator of that space),
 * or "omp_high_bw_mem_space:pinned=true,alignment=64". Case and blanks do not matter.
 * MEMSPAN_ERR_INVALID with the word at fault. */
memspan_status_t msp_omp_request_parse(const char *text, struct msp_omp_request *request_p);

/* The allocator with that name; 0 when there is none. */
msp_omp_allocator_t msp_omp_allocator_named(const char *name);

/* The predefined allocator of a predefined space, vendors' included; 0 for any other space. */
msp_omp_allocator_t msp_omp_allocator_of_space(msp_omp_space_t space);

/* ---- vendors' memory kinds ---- */

/* The memory kinds that vendors name: LLVM's and Intel's target_host, target_shared and
 * target_device; GCC's pinned and managed. */

enum msp_omp_vendor {
    MSP_OMP_TARGET_HOST   = 100, /* host memory that the device reaches */
    MSP_OMP_TARGET_SHARED = 101, /* moves between host and device */
    MSP_OMP_TARGET_DEVICE = 102, /* the device's own */
    MSP_OMP_GNU_PINNED    = 200, /* (allocator) host memory that is locked */
    MSP_OMP_GNU_MANAGED   = 201  /* (allocator; its space is 200) as target_shared */
};

/* The allocator of such memory for one device, made on first use; the default allocator where
 * @p device is the host, since then there is nothing special to reach. 0 with an error record when
 * the device has no such memory. */
memspan_allocator_h msp_omp_vendor_allocator(enum msp_omp_vendor kind, int device);

/* ---- device numbers ---- */

/* Device numbers as the OpenMP calls have them.
 *
 * They are the runtime's: a program means the same wherever drivers that it does not use are
 * installed. Where the runtime has no devices, 0 is its host, and devices of ours have no numbers,
 * unless MEMSPAN_DEVICES is set: with it, the user has opted in, and omp_get_num_devices() and
 * omp_get_initial_device() answer our numbers. All this holds without any runtime as well: linkers
 * drop one that has become unneeded because we come first, and the program must not notice. */

/* The real runtime's result; 0 devices where there is no runtime. */
int msp_omp_runtime_device_count(void);
int msp_omp_runtime_host(void);

/* True when omp_get_num_devices() answers our numbers. */
bool msp_omp_numbers_are_ours(void);

/* The device that a number given to an OpenMP call means: MEMSPAN_HOST or a number of ours.
 * MEMSPAN_ERR_NOT_FOUND for a device that the runtime does not have; MEMSPAN_ERR_INVALID for
 * numbers of no device. */
memspan_status_t msp_omp_device_from(int number, int *device_p);

/* GCC 16's omp_default_device: whichever device is the calling task's default. */
enum { MSP_OMP_DEFAULT_DEVICE = -5 };

/* @p number, or the default device's where it stands for that. The first step of routines that take
 * devices. */
int msp_omp_device_number(int number);

/* True when this number is a device of the real runtime. */
bool msp_omp_runtime_has(int number);

/* The default device as memspan numbers it; MEMSPAN_HOST where there are no devices. */
int msp_omp_default_device(void);

/* The runtime's number of the default device: one call, where the other needs the count of devices
 * too, for which LLVM's runtimes look up symbols. The host's number is no device's. */
int msp_omp_region_device(void);

/* ---- allocators ---- */

/* From the arguments of OpenMP calls to those of the core. */

/* omp_init_allocator() for every caller (C, Fortran, compilers, OMP_ALLOCATOR). Calls no OpenMP
 * routine when the space is a host space: a runtime may be initialising itself, under its lock.
 * 0 with an error record on failure. */
msp_omp_allocator_t msp_omp_allocator_make(msp_omp_space_t space, int trait_count,
                                           const memspan_trait_t *traits);

/* Whose an allocator handle is. */
enum msp_omp_owner {
    MSP_OMP_OURS,   /* *allocator_p is a live allocator of ours */
    MSP_OMP_THEIRS, /* it may be the real runtime's own */
    MSP_OMP_UNKNOWN /* stale or impossible; the error record has which */
};

/* Resolve null, vendors' and special handles; the slow half of allocating calls. */
enum msp_omp_owner msp_omp_allocator_resolve(msp_omp_allocator_t allocator,
                                             memspan_allocator_h *allocator_p);

/* Add traits that a vendor's space or allocator implies, unless the program gave the same key.
 * @p traits has space for @p capacity; returns the new count. */
size_t msp_omp_vendor_traits(msp_omp_space_t space, memspan_trait_t *traits, size_t count,
                             size_t capacity);

/* The space of ours behind a handle given to an OpenMP call: 0 is the default, vendors' spaces
 * stand for target spaces with the default device. MEMSPAN_ERR_* when that cannot be had. */
memspan_status_t msp_omp_space_from(msp_omp_space_t space, memspan_space_h *space_p);

bool msp_omp_space_is_vendor(msp_omp_space_t space);

/* The allocator, made once, for a whole space with all traits at their default; it outlives every
 * omp_destroy_allocator(). */
msp_omp_allocator_t msp_omp_allocator_for_space(memspan_space_h space);

/* True for those. */
bool msp_omp_allocator_is_shared(msp_omp_allocator_t allocator);

/* Run the release callbacks of partitions whose allocator is destroyed. No lock held. */
void msp_omp_partitions_collect(void);

/* ---- device memory ---- */

/* The library that serves a device-memory routine. */

/* True when device memory of the runtime's device @p number comes from a backend that watches its
 * use (core/base/region.h), and not from the runtime. */
bool msp_omp_alloc_is_watched(int number);

/* The real routine when every device in the call is the runtime's, with the host's numbers
 * replaced by the one that all runtimes accept; 0 when the call is ours to serve.
 * MEMSPAN_ERR_INVALID for an unknown number (real runtimes end the process for some). */
memspan_status_t msp_omp_target_route(enum msp_omp_real real, int *device_a, int *device_b,
                                      uintptr_t *routine_p);

/* Before an asynchronous call is served at once: its dependences may be on sibling tasks. */
void msp_omp_target_wait(int depend_count);

/* A block of boxes; see omp_target_memcpy_rect(). */
struct msp_omp_rect {
    char *to;
    const char *from;
    size_t element_bytes;
    int dimensions;
    const size_t *volume;
    const size_t *to_offsets;
    const size_t *from_offsets;
    const size_t *to_dimensions;
    const size_t *from_dimensions;
};

/* Most dimensions that msp_omp_rect_copy() takes. */
enum { MSP_OMP_RECT_DIMENSIONS = 32 };

/* Copy the boxes, run by run. MEMSPAN_ERR_INVALID when a box leaves its array or a product
 * overflows. */
memspan_status_t msp_omp_rect_copy(const struct msp_omp_rect *rect);

/* ---- the runtime's own handles and blocks ---- */

/* Handles and blocks of the real OpenMP runtime. They come from paths that cannot be interposed:
 * its own start-up, static copies, routines found with dlsym(). They are recognised and handed
 * back to it, never dereferenced. */

/* Read @p size bytes at any address; false when they cannot be read. Never faults. */
bool msp_omp_read_safely(const void *address, void *buffer, size_t size);

/* The space and the allocator of symmetric memory. It is the same as with a runtime's: the handle
 * is passed on to its runtime, and blocks are recorded. */
enum { MSP_OMP_SYMMETRIC = 300 };

/* A block of a real runtime. */
struct msp_omp_block {
    enum msp_omp_family family; /* MSP_OMP_FAMILY_COUNT: whichever comes next */
    size_t size_bytes;          /* that were requested; SIZE_MAX when unknown */
    msp_omp_allocator_t allocator;
};

/* True when the handle can be one that a runtime made: it is the address of bytes that look like
 * its record. False for predefined handles. */
bool msp_omp_foreign_is_allocator(msp_omp_allocator_t allocator);

/* The words before @p pointer, for tests: true when they are the record that the family writes
 * before its blocks. */
bool msp_omp_block_is_libgomp(const void *pointer, struct msp_omp_block *block_p);
bool msp_omp_block_is_libomp(const void *pointer, struct msp_omp_block *block_p);

/* True when @p pointer is the start of a live block that a real runtime made. */
bool msp_omp_foreign_recognise(const void *pointer, struct msp_omp_block *block_p);

/* Ask the real runtime for memory with a handle that is not ours. NULL with an error record when
 * the handle cannot be one of a runtime's, or there is no runtime. align_bytes 0: none requested.
 */
void *msp_omp_foreign_alloc(msp_omp_allocator_t allocator, size_t align_bytes, size_t size_bytes,
                            bool zeroed);

/* Give a block back to the runtime it came from. False, with an error record, when it is no block
 * of a runtime's. */
bool msp_omp_foreign_free(void *pointer);

/* ---- redirected calls ---- */

struct msp_redirect {
    const char *name;
    void (*to)(void);
};

/* From now on every object that is loaded calls @p to where it called the function @p name of
 * another: its entries in the linker table (PLT or GOT) are changed. Code that looks names up by
 * itself is not concerned, and so msp_dl_next() finds the earlier function. For tools that check a
 * program at its user's request. @p loads is 0, or the result of the last call for the list:
 * nothing is done when nothing has been loaded since. */
unsigned long long msp_redirect(const struct msp_redirect *list, size_t count,
                                unsigned long long loads);

#endif /* MEMSPAN_CORE_OMP_OPENMP_H */
