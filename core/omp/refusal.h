/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_OMP_REFUSAL_H
#define MEMSPAN_CORE_OMP_REFUSAL_H

/* OpenMP calls that are refused. A null handle or pointer is all that the program sees, and few
 * programs look: the log names the call, with the sentence of memspan_error_text(). */

#include "core/omp/abi.h"

/* Log that @p routine (a literal) gives nothing, for the reason in the thread's error record: a
 * warning, at most three for each routine and status unless level info is on. */
void msp_omp_refused(const char *routine) __attribute__((cold));

/* The same for memory. Where the allocator has no more and its fallback is null_fb, NULL is the
 * requested result: that is level info. */
void msp_omp_refused_memory(const char *routine, msp_omp_allocator_t allocator)
    __attribute__((cold));

#endif /* MEMSPAN_CORE_OMP_REFUSAL_H */
