/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_MEMQUERY_STUB_H
#define MEMSPAN_TESTS_MEMQUERY_STUB_H

#include <memspan/status.h>

/* Leave a record with a driver's words, as if it had failed; returns @p status. */
memspan_status_t stub_fail_native(memspan_status_t status, const char *message, const char *hint,
                                  const char *call, long code, const char *text);

#endif /* MEMSPAN_TESTS_MEMQUERY_STUB_H */
