/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_OMP_LOCK_H
#define MEMSPAN_CORE_OMP_LOCK_H

/* The locks of the OpenMP room. Slow paths only. */

#include "core/base/lock.h"

/* Held while something that is made once is made; the maker may call the core and may come back
 * here (recursive). */
void msp_omp_lock(void);
void msp_omp_unlock(void);

/* Guards the partitioners' lists. No callback of the program runs under it. */
extern msp_lock_t msp_omp_partitioner_lock;

/* Guards every struct msp_omp_table and the list of runtimes. Nothing is called under it. */
extern msp_lock_t msp_omp_table_lock;

#endif /* MEMSPAN_CORE_OMP_LOCK_H */
