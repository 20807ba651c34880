/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_DAXPY_MEMORY_H
#define MEMSPAN_BENCH_DAXPY_MEMORY_H

/* Devices and requests for memory, of both engines. */

#include "bench/daxpy/daxpy.h"

/* After a request for an allocator failed: DAXPY_WAIVED where the device or its driver has no such
 * thing, DAXPY_FAILED where it should have; the library's message goes to @p reason. */
enum daxpy_state daxpy_memory_refused(char *reason);

/* Fill in what was asked and given from memory->allocator. @p pinned: it was asked to be pinned. */
bool daxpy_memory_describe(struct daxpy_memory *memory, bool pinned, char *reason);

/* Why nothing but the host's own variants runs where the device is the host. True: waived. */
bool daxpy_memory_needs_device(enum daxpy_variant variant, int device, char *reason);

/* Write "WHAT: the library's last error" into the job's problem; returns false. */
bool daxpy_job_failed(struct daxpy_job *job, const char *what);

/* "cuda 'NAME', DRIVER"; else the library's message, and false. */
bool daxpy_device_title(int device, char *title, size_t title_size);

#endif /* MEMSPAN_BENCH_DAXPY_MEMORY_H */
