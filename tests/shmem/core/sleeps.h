/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_SHMEM_CORE_SLEEPS_H
#define MEMSPAN_TESTS_SHMEM_CORE_SLEEPS_H

/* The sleeps of waiting PEs, seen and changed: syscall() and sched_yield() of this program stand in
 * front of the C library's, for libmemspan-shmem.so too. */

#include <stdatomic.h>
#include <stdbool.h>

/* While it is set, a sleep has no end but being woken: a store without a notification is never
 * seen, and the alarm of the test goes off. */
extern atomic_bool sleeps_are_endless;

/* How often a thread of this process began to sleep, and gave its processor away. */
extern atomic_uint sleeps_begun;
extern atomic_uint yields_made;

/* Called at each of them, unless NULL. */
extern void (*_Atomic on_sleep)(void);
extern void (*_Atomic on_yield)(void);

#endif /* MEMSPAN_TESTS_SHMEM_CORE_SLEEPS_H */
