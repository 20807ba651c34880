/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_MEMQUERY_STUB_H
#define MEMSPAN_TESTS_MEMQUERY_STUB_H

#include <memspan/memspan.h>
#include <stdbool.h>

/* Set the error record of a failed driver call; returns @p status. */
memspan_status_t stub_fail_native(memspan_status_t status, const char *message, const char *hint,
                                  const char *call, long code, const char *text);

/* Memory that memquery measures: an allocator whose handle says the kind, and whether it is one. */
memspan_status_t stub_measure_create(memspan_space_h space, const memspan_trait_t *traits,
                                     size_t count, memspan_allocator_h *allocator_p);
bool stub_measure_is(memspan_allocator_h allocator);
void stub_measure_free(void *pointer);
memspan_kind_t stub_measure_kind(memspan_allocator_h allocator);

#endif /* MEMSPAN_TESTS_MEMQUERY_STUB_H */
