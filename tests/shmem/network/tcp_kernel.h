/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_SHMEM_TCP_KERNEL_H
#define MEMSPAN_TESTS_SHMEM_TCP_KERNEL_H

/* A kernel with little room, and a C library without memory. */

#include <stdbool.h>
#include <stddef.h>

extern size_t tcp_kernel_room_bytes;  /* that each sendmsg() takes; SIZE_MAX: as many as it will */
extern bool tcp_kernel_has_no_memory; /* malloc() returns NULL */

#endif /* MEMSPAN_TESTS_SHMEM_TCP_KERNEL_H */
