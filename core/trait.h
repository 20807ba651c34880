/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_TRAIT_H
#define MEMSPAN_CORE_TRAIT_H

/* All traits of an allocator, checked: every field holds a value that means something. */

#include <memspan/allocator.h>
#include <stdbool.h>

#define MSP_NO_DEVICE (-1000) /* a device trait that was not given */
#define MSP_NO_PLACE  (-1)

struct msp_traits {
    size_t alignment;
    size_t pool_size; /* SIZE_MAX: no limit */
    size_t part_size; /* 0: a page */
    size_t page_size; /* 0: as the system likes */
    uintptr_t partitioner;
    uintptr_t partitioner_arg;
    memspan_allocator_h fb_data;
    int sync_hint; /* these and what follows: enum memspan_trait_value */
    int access;
    int fallback;
    int partition;
    int target_access;
    int atomic_scope;
    int memory_access;
    int guarantee;
    int pin_device; /* device numbers, or MSP_NO_DEVICE */
    int preferred_location;
    int preferred_place;
    bool pinned;
    bool shareable;
    bool memory_access_given;
};

/* The defaults; a target memory space fails with null, others fall back to default memory. */
void msp_traits_default(struct msp_traits *traits, bool target);

/* Put @p given over @p traits. Nothing is changed on error: MEMSPAN_ERR_INVALID names the trait and
 * the value, MEMSPAN_ERR_CONFLICT names both traits. */
memspan_status_t msp_traits_apply(struct msp_traits *traits, bool target,
                                  const memspan_trait_t *given, size_t count);

/* The same where @p traits are worth nothing after an error. */
memspan_status_t msp_traits_set(struct msp_traits *traits, bool target,
                                const memspan_trait_t *given, size_t count);

#endif /* MEMSPAN_CORE_TRAIT_H */
