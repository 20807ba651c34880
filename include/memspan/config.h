/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CONFIG_H
#define MEMSPAN_CONFIG_H

#include <memspan/status.h>
#include <stddef.h>

/** @file config.h
 * Every environment variable that the library reads, as a table.
 *
 * Variables are read once, at first use. A misspelt MEMSPAN_* variable is logged with the nearest
 * valid name. A malformed value is logged and counts as unset; where it selects devices or
 * backends, calls that depend on it fail with MEMSPAN_ERR_CONFIG. A set-user-id process ignores
 * variables that load code or write files.
 *
 * Threads: every call may run on any thread. */

MEMSPAN_BEGIN_DECLS

/** One variable. The strings belong to the library and live as long as the process. */
typedef struct memspan_option_info {
    size_t struct_size;   /**< in: sizeof(memspan_option_info_t) */
    const char *name;     /**< "MEMSPAN_LOG" */
    const char *form;     /**< "error|warn|info|debug|trace", "size in bytes", "list" */
    const char *fallback; /**< value when unset, as text */
    const char *help;     /**< one sentence */
    const char *value;    /**< value in force, as text */
    const char *source;   /**< "default", "environment", "refused" */
    const char *problem;  /**< why the environment's value was refused; "" otherwise */
} memspan_option_info_t;

/** Number of variables. */
MEMSPAN_API int memspan_option_count(void);

/** Describe variable @p index (0 .. memspan_option_count() - 1).
 * Errors: MEMSPAN_ERR_INVALID (index out of range, info_p NULL, struct_size not set). */
MEMSPAN_API memspan_status_t memspan_option_describe(int index, memspan_option_info_t *info_p);

/** Number of problems found in the environment: unknown names and malformed values. */
MEMSPAN_API int memspan_option_problem_count(void);

/** Problem @p index (from 0) as one sentence; NULL beyond the last. The library's, for the life of
 * the process. */
MEMSPAN_API const char *memspan_option_problem(int index);

MEMSPAN_END_DECLS
#endif /* MEMSPAN_CONFIG_H */
