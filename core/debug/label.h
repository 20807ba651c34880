/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_DEBUG_LABEL_H
#define MEMSPAN_CORE_DEBUG_LABEL_H

/* The names of allocators and providers in statistics and traces. Both return the buffer. */

#include "core/engine/allocator_record.h"

enum { MSP_LABEL_BYTES = 96 };

/* "omp_default_mem_alloc", or "allocator:INDEX.GENERATION". */
const char *msp_allocator_label(const struct msp_allocator *allocator,
                                char buffer[MSP_LABEL_BYTES]);

/* "provider:NUMBER", in the order in which they were made. */
const char *msp_provider_label(const struct msp_provider *provider, char buffer[MSP_LABEL_BYTES]);

#endif /* MEMSPAN_CORE_DEBUG_LABEL_H */
