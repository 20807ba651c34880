/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_LABEL_H
#define MEMSPAN_CORE_LABEL_H

/* What allocators and providers are called in statistics and traces. Both return the buffer. */

#include "core/allocator_record.h"

enum { MEMSPAN_LABEL_BYTES = 96 };

/* "omp_default_mem_alloc", or "allocator:INDEX.GENERATION". */
const char *memspan_allocator_label(const struct memspan_allocator *allocator,
                                    char buffer[MEMSPAN_LABEL_BYTES]);

/* "provider:NUMBER", in the order in which they were made. */
const char *memspan_provider_label(const struct memspan_provider *provider,
                                   char buffer[MEMSPAN_LABEL_BYTES]);

#endif /* MEMSPAN_CORE_LABEL_H */
