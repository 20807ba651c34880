/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_HYBRID_FFT_H
#define MEMSPAN_BENCH_HYBRID_FFT_H

/* The Fourier transform of a complex matrix, rows divided among the PEs: transforms of rows, a
 * transposition, transforms of rows. */

#include "bench/hybrid/job.h"

/* The form: block i of @p send, of that size, becomes block job_pe of @p receive of PE i. Both are
 * arrays on the device. */
void fft_exchange(char *receive, char *send, size_t block_bytes);

#endif /* MEMSPAN_BENCH_HYBRID_FFT_H */
