/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_PARTITION_OPENMP_H
#define MEMSPAN_SHMEM_PARTITION_OPENMP_H

/* omp_shmem_mem_alloc, and OpenMP's mapped variables in symmetric memory: libmemspan is given an
 * allocator over a partition for a device. Every PE then maps the same variables in the same order,
 * as with any symmetric allocation; there is no barrier. */

/* Give it, where SHMEMX_LIBOMP_PARTITION names the partition; programs may do so later. */
void msp_partition_openmp_open(void);
void msp_partition_openmp_close(void);

#endif /* MEMSPAN_SHMEM_PARTITION_OPENMP_H */
