/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_HYBRID_JOB_H
#define MEMSPAN_BENCH_HYBRID_JOB_H

/* The PEs of a mini-app, and arrays on the device. A form is a program of its own:
 *
 *   standard: OpenSHMEM reaches host memory alone, so data is staged there (target update)
 *   extended: device memory is symmetric, OpenSHMEM gets its addresses (use_device_ptr)
 *   mpi:      messages, an MPI that takes addresses of the device
 *
 * APP.c has the kernels and the rest that the forms of an app share; APP_FORM.c is the
 * communication. */

#include "bench/rma/batch.h"

extern int job_pe;
extern int job_count;

void job_start(void);
void job_end(void);
void job_barrier(void);

/* Of all PEs. */
double job_sum(double value);
double job_max(double value);

/* The calling thread on the processor of its PE, which main() chooses, or on any. */
void job_bind(bool any);

/* An array that is mapped on the device, of every PE; its values are not set. The form's
 * communication takes it. Ends the program where there is no memory. */
void *job_array(size_t size_bytes);
void job_array_free(void *array);

/* Print "APP-SCALING-COUNT best median", of times in ns, in units of @p unit_ns. */
void job_print(const char *app, bool weak, const struct batches *times, double unit_ns);

/* False, after a message of PE 0, where @p error (of all PEs) is more than @p most. */
bool job_verify(const char *app, double error, double most);

/* A line for the terminal once a second, from the first one on. */
void job_progress(const char *app, size_t done, size_t total);

/* The apps; they return whether the results are right. @p size is that of the whole problem, or
 * @p weak: of each PE's part. */
bool move_put(size_t size_bytes, bool weak);
bool move_alltoall(size_t size_bytes, bool weak);
bool move_broadcast(size_t size_bytes, bool weak);
bool move_reduce(size_t size_bytes, bool weak);
bool random_run(size_t updates, bool weak);
bool random_atomic_run(size_t updates, bool weak);
bool fft_run(size_t side, bool weak);
bool matrix_run(size_t side, bool weak);
bool heat_run(size_t side, bool weak);

#endif /* MEMSPAN_BENCH_HYBRID_JOB_H */
