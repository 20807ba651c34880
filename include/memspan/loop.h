/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_LOOP_H
#define MEMSPAN_LOOP_H

#include <memspan/status.h>
#include <stddef.h>

/** @file loop.h Work that follows memory. OpenMP's runtimes place no task by its affinity clause:
 * here a thread, or a task, takes the work whose memory is near to where it runs.
 *
 * Threads: every call may run on any thread. */

MEMSPAN_BEGIN_DECLS

/** The place, a number in the order of OMP_PLACES, whose processors are nearest to the page at
 * @p pointer; the first of several. The page has been touched. Nothing to release.
 * Errors: MEMSPAN_ERR_INVALID (place_p NULL), MEMSPAN_ERR_NOT_FOUND (no page there, or it was not
 * touched, or there are no places), MEMSPAN_ERR_CONFIG (OMP_PLACES is malformed),
 * MEMSPAN_ERR_UNSUPPORTED (without hwloc). */
MEMSPAN_API memspan_status_t memspan_pointer_place(const void *pointer, int *place_p);

/** Handle of a loop: a number, never dereferenced. */
typedef struct memspan_loop_name *memspan_loop_h;

/** A loop of @p count iterations, each over the memory at one of @p pointers: the NUMA node of the
 * page there, now, decides which threads take it first. Pages that were not touched, and memory of
 * devices, are near to none. The array is not kept. One system call for 512 pointers.
 * Released by memspan_loop_destroy().
 * Errors: MEMSPAN_ERR_INVALID (pointers NULL and count above 0, loop_p NULL),
 * MEMSPAN_ERR_NO_MEMORY, MEMSPAN_ERR_LIMIT (4096 loops exist). */
MEMSPAN_API memspan_status_t memspan_loop_create(const void *const *pointers, size_t count,
                                                 memspan_loop_h *loop_p);

/** The calling thread's next iteration: one of the NUMA node that it runs on, else of the nearest
 * node that has some left, else one that is near to none. All threads together get each iteration
 * once, in the order of the array on each node. 1: *index_p is its number in the array; 0: none is
 * left, or there is no such loop (MEMSPAN_ERR_NOT_FOUND in the record), or index_p is NULL
 * (MEMSPAN_ERR_INVALID). */
MEMSPAN_API int memspan_loop_next(memspan_loop_h loop, size_t *index_p);

/** Begin anew with the same iterations and nodes, after all threads have ended the loop.
 * Errors: MEMSPAN_ERR_NOT_FOUND (no such loop). */
MEMSPAN_API memspan_status_t memspan_loop_restart(memspan_loop_h loop);

/** NULL: no effect. Errors: MEMSPAN_ERR_NOT_FOUND (no such loop). */
MEMSPAN_API memspan_status_t memspan_loop_destroy(memspan_loop_h loop);

MEMSPAN_END_DECLS
#endif /* MEMSPAN_LOOP_H */
