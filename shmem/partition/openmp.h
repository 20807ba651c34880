/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_PARTITION_OPENMP_H
#define MEMSPAN_SHMEM_PARTITION_OPENMP_H

/* OpenMP's mapped variables in symmetric memory: where the offload runtime of the process takes an
 * allocator for a device's mapped storage, it is given one over a partition. Every PE then maps the
 * same variables in the same order, as with any symmetric allocation; there is no barrier. */

/* Register, where there are both such a runtime and a partition for it (SHMEMX_LIBOMP_PARTITION, or
 * the first of KIND=LIBOMP). */
void msp_partition_openmp_open(void);
void msp_partition_openmp_close(void);

#endif /* MEMSPAN_SHMEM_PARTITION_OPENMP_H */
