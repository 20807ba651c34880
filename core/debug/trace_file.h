/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_DEBUG_TRACE_FILE_H
#define MEMSPAN_CORE_DEBUG_TRACE_FILE_H

/* The file of a trace: a JSON document that is whole after every write, so that a process that dies
 * leaves all writes so far. No locking here; the trace does. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum msp_trace_file_result {
    MSP_TRACE_FILE_OK,
    MSP_TRACE_FILE_FULL,   /* the limit is reached */
    MSP_TRACE_FILE_FAILED, /* a write failed; msp_trace_file_problem() has the reason */
};

/* Create the file that @p pattern names: %p is the process, %% a percent sign. @p child: of a fork,
 * so that the name must not be the parent's. limit_bytes 0: none. False: why is the problem. */
bool msp_trace_file_open(const char *pattern, bool child, uint64_t limit_bytes);

bool msp_trace_file_is_open(void);

/* Why the last open or write failed: "NAME: reason". */
const char *msp_trace_file_problem(void);

/* Append one event's text, without comma. Written when enough has come together. */
enum msp_trace_file_result msp_trace_file_append(const char *text, size_t length, uint64_t now_ns);

enum msp_trace_file_result msp_trace_file_flush(void);

/* Write the rest and close. */
void msp_trace_file_close(void);

/* In a forked child: the file and the buffered events are the parent's. */
void msp_trace_file_forget(void);

#endif /* MEMSPAN_CORE_DEBUG_TRACE_FILE_H */
