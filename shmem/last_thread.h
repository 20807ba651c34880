/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_LAST_THREAD_H
#define MEMSPAN_SHMEM_LAST_THREAD_H

/* A process whose main thread has called pthread_exit() ends with its last thread. Threads of this
 * library, of networks and of launchers stay until shmem_finalize(), and must not keep it: when
 * only they are left, exit(0) is called, as the last thread would. */

/* Before and after the start of a job, by the thread that starts it: threads started meanwhile are
 * helpers. */
void msp_last_thread_before_start(void);
void msp_last_thread_after_start(void);

/* The calling thread is a helper that was started later. */
void msp_last_thread_add_helper(void);

#endif /* MEMSPAN_SHMEM_LAST_THREAD_H */
