/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_PSHMEM_H
#define MEMSPAN_PSHMEM_H

/** @file pshmem.h
 * For profiling tools: every routine by a second name, pshmem_put() for shmem_put() and, for names
 * that do not begin with shmem, p and the name (pstart_pes, pshmalloc).
 *
 * A tool defines shmem_putmem() in place of the library's, and calls pshmem_putmem() for the work.
 * The selecting macros of C11 choose a shmem_ name, so a tool sees the typed routines and needs
 * nothing for the macros. Where a name is also such a macro (shmem_sync, shmem_wait_until,
 * shmem_signal_add, shmem_signal_set), put it in parentheses to define it.
 *
 * Source: OpenSHMEM 1.5 and 1.6, "Profiling Interface". */

#include <shmem/types.h>

#define MEMSPAN_SHMEM(result, name, ...) MEMSPAN_API result p##name(__VA_ARGS__)
#include <shmem/routines.h>

#endif /* MEMSPAN_PSHMEM_H */
