/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_GUARD_H
#define OSHRUN_GUARD_H

/* A process that does nothing until this one has died without ending its job, by kill -9 say: then
 * it ends the job. PEs die by the kernel's hand; what they have started would not. */

#include <stdbool.h>
#include <sys/types.h>

struct guard;

/* Before anything else is started. NULL, having said why. */
struct guard *guard_open(int group_count);

/* Process group number i; 0: no longer. */
void guard_note(struct guard *guard, int i, pid_t group);

/* A folder to remove as well (with the files in it). */
void guard_note_folder(struct guard *guard, const char *folder);

/* True when that process is the guard. */
bool guard_owns(const struct guard *guard, pid_t pid);

/* The job has ended. */
void guard_close(struct guard *guard);

/* Remove that folder and all that is in it. */
void guard_remove_folder(const char *folder);

#endif /* OSHRUN_GUARD_H */
