/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_ENGINE_TRAIT_TABLE_H
#define MEMSPAN_CORE_ENGINE_TRAIT_TABLE_H

/* The row of each trait: its member, its form, its default. The public table
 * (MEMSPAN_TRAIT_KEY_MAP) has its number and its text. The effect of a trait is in core/plan.c.
 */

#include <memspan/allocator.h>
#include <stdbool.h>

#define MSP_NO_DEVICE (-1000) /* a device trait that was not given */
#define MSP_NO_PLACE  (-1)

/* Forms of values, and the type that keeps one. */
#define MSP_TRAIT_TYPE_WORD      int    /* one of the words of its row (memspan_trait_value_t) */
#define MSP_TRAIT_TYPE_BOOL      bool   /* true, false */
#define MSP_TRAIT_TYPE_SIZE      size_t /* bytes above 0 */
#define MSP_TRAIT_TYPE_POWER     size_t /* a power of two */
#define MSP_TRAIT_TYPE_DEVICE    int    /* a device number; -1: the host, hence never "default" */
#define MSP_TRAIT_TYPE_PLACE     int    /* a place number */
#define MSP_TRAIT_TYPE_HANDLE    uintptr_t
#define MSP_TRAIT_TYPE_ALLOCATOR memspan_allocator_h

/* Whether the plan of a host space stays that of plain host memory (msp_plan_is_plain()). */
#define MSP_TRAIT_PLAIN_ALWAYS(value, initial)  true /* enforced elsewhere, or of targets alone */
#define MSP_TRAIT_PLAIN_DEFAULT(value, initial) ((value) == (initial))
#define MSP_TRAIT_PLAIN_HOST(value, initial)    (((value) == (initial)) || ((value) == MEMSPAN_HOST))

/* X(key, member, form, default, plain, words that it can be). A part_size or page_size of 0 is the
 * system's, a pool_size of SIZE_MAX no limit. Larger types first. */
#define MSP_TRAIT_TABLE(X)                                                                         \
    X(ALIGNMENT, alignment, POWER, 1, ALWAYS, (0))                                                 \
    X(POOL_SIZE, pool_size, SIZE, SIZE_MAX, ALWAYS, (0))                                           \
    X(PART_SIZE, part_size, SIZE, 0, ALWAYS, (0))                                                  \
    X(PAGE_SIZE, page_size, POWER, 0, DEFAULT, (0))                                                \
    X(PARTITIONER, partitioner, HANDLE, 0, ALWAYS, (0))                                            \
    X(PARTITIONER_ARG, partitioner_arg, HANDLE, 0, ALWAYS, (0))                                    \
    X(FB_DATA, fb_data, ALLOCATOR, 0, ALWAYS, (0))                                                 \
    X(SYNC_HINT, sync_hint, WORD, MEMSPAN_VALUE_CONTENDED, ALWAYS,                                 \
      (MEMSPAN_VALUE_CONTENDED, MEMSPAN_VALUE_UNCONTENDED, MEMSPAN_VALUE_SERIALIZED,               \
       MEMSPAN_VALUE_PRIVATE))                                                                     \
    X(ACCESS, access, WORD, MEMSPAN_VALUE_MEMSPACE, ALWAYS,                                        \
      (MEMSPAN_VALUE_ALL, MEMSPAN_VALUE_MEMSPACE, MEMSPAN_VALUE_DEVICE, MEMSPAN_VALUE_CGROUP,      \
       MEMSPAN_VALUE_PTEAM, MEMSPAN_VALUE_THREAD))                                                 \
    X(FALLBACK, fallback, WORD, MEMSPAN_VALUE_DEFAULT_MEM_FB, ALWAYS,                              \
      (MEMSPAN_VALUE_DEFAULT_MEM_FB, MEMSPAN_VALUE_NULL_FB, MEMSPAN_VALUE_ABORT_FB,                \
       MEMSPAN_VALUE_ALLOCATOR_FB))                                                                \
    X(PARTITION, partition, WORD, MEMSPAN_VALUE_ENVIRONMENT, DEFAULT,                              \
      (MEMSPAN_VALUE_ENVIRONMENT, MEMSPAN_VALUE_NEAREST, MEMSPAN_VALUE_BLOCKED,                    \
       MEMSPAN_VALUE_INTERLEAVED, MEMSPAN_VALUE_PARTITIONER))                                      \
    X(DEVICE_ACCESS, device_access, WORD, MEMSPAN_VALUE_SINGLE, ALWAYS,                            \
      (MEMSPAN_VALUE_SINGLE, MEMSPAN_VALUE_MULTIPLE))                                              \
    X(TARGET_ACCESS, target_access, WORD, MEMSPAN_VALUE_SINGLE, ALWAYS,                            \
      (MEMSPAN_VALUE_SINGLE, MEMSPAN_VALUE_MULTIPLE))                                              \
    X(ATOMIC_SCOPE, atomic_scope, WORD, MEMSPAN_VALUE_ALL, ALWAYS,                                 \
      (MEMSPAN_VALUE_ALL, MEMSPAN_VALUE_DEVICE))                                                   \
    X(MEMORY_ACCESS, memory_access, WORD, MEMSPAN_VALUE_COHERENT, ALWAYS,                          \
      (MEMSPAN_VALUE_MANAGED, MEMSPAN_VALUE_COHERENT))                                             \
    X(GUARANTEE, guarantee, WORD, MEMSPAN_VALUE_PREFERRED, ALWAYS,                                 \
      (MEMSPAN_VALUE_PREFERRED, MEMSPAN_VALUE_REQUIRED))                                           \
    X(PIN_DEVICE, pin_device, DEVICE, MSP_NO_DEVICE, ALWAYS, (0))                                  \
    X(PREFERRED_LOCATION, preferred_location, DEVICE, MSP_NO_DEVICE, HOST, (0))                    \
    X(PREFERRED_PLACE, preferred_place, PLACE, MSP_NO_PLACE, DEFAULT, (0))                         \
    X(PINNED, pinned, BOOL, false, DEFAULT, (0))                                                   \
    X(SHAREABLE, shareable, BOOL, false, DEFAULT, (0))

/* All traits of an allocator, checked. */
struct msp_traits {
#define MSP_TRAIT_MEMBER(key, member, form, initial, plain, words) MSP_TRAIT_TYPE_##form member;
    MSP_TRAIT_TABLE(MSP_TRAIT_MEMBER)
#undef MSP_TRAIT_MEMBER
    bool memory_access_given;
};

#endif /* MEMSPAN_CORE_ENGINE_TRAIT_TABLE_H */
