/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_HYBRID_MATRIX_H
#define MEMSPAN_BENCH_HYBRID_MATRIX_H

/* A product of matrices whose rows are divided among the PEs. The stripes of the second matrix go
 * around the ring of PEs while the one that is there is multiplied: Cannon's algorithm on a ring.
 */

#include "bench/hybrid/job.h"

/* The form: begin to send @p stripe to the PE before this one, as its @p next ... */
void matrix_send(double *next, double *stripe, size_t count, bool is_first);

/* ... and wait until @p next is here and @p stripe may be written. */
void matrix_receive(double *next, size_t count);

#endif /* MEMSPAN_BENCH_HYBRID_MATRIX_H */
