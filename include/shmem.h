/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_H
#define MEMSPAN_SHMEM_H

/** @file shmem.h
 * OpenSHMEM 1.6: processing elements (PEs) that put into and get from each other's memory.
 *
 *     #include <shmem.h>
 *     static long seen;
 *     int main(void)
 *     {
 *         shmem_init();
 *         shmem_p(&seen, 1L, (shmem_my_pe() + 1) % shmem_n_pes());
 *         shmem_wait_until(&seen, SHMEM_CMP_EQ, 1L);
 *         shmem_finalize();
 *     }
 *
 * oshcc compiles it, oshrun -n 4 runs it. In reading order: */

#include <shmem/routines.h> /* every routine, typed ones by list */
#include <shmem/types.h>    /* handles, constants */

#if defined(__cplusplus)
#include <shmem/overload.hpp> /* shmem_put() for every type, as an extension */
#elif defined(__STDC_VERSION__) && (__STDC_VERSION__ >= 201112L)
#include <shmem/generic.h> /* shmem_put() for every type, as the standard has it */
#endif

MEMSPAN_BEGIN_DECLS
/** shmemx_partition_malloc(), shmemx_partition_align() and shmemx_partition_free() of <shmemx.h> by
 * the papers' names. Here, because their programs include no other header, and a call without a
 * declaration cuts the address. */
MEMSPAN_API void *shmem_partition_malloc(size_t size, int id);
MEMSPAN_API void *shmem_partition_align(size_t alignment, size_t size, int id);
MEMSPAN_API void shmem_partition_free(void *ptr);
MEMSPAN_END_DECLS

#endif /* MEMSPAN_SHMEM_H */
