/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_SHMEM_DEVICE_NAMES_H
#define MEMSPAN_TESTS_SHMEM_DEVICE_NAMES_H

/* Twice the number of this PE, by a region of a second file. */
int names_twice(void);

#endif /* MEMSPAN_TESTS_SHMEM_DEVICE_NAMES_H */
