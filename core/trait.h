/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_TRAIT_H
#define MEMSPAN_CORE_TRAIT_H

/* From a caller's request to checked traits. */

#include "core/engine/allocator_record.h"

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
