/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_GUARD_H
#define OSHRUN_GUARD_H

/* A process that ends the job when the launcher dies without doing so (kill -9). The kernel
 * kills the PEs then, but not what they have started. */

#include <stdbool.h>
#include <sys/types.h>

struct guard;

/* Call before anything else is started. NULL after a message. */
struct guard *guard_open(int group_count);

/* Process group number i; 0: it has ended. */
void guard_note(struct guard *guard, int i, pid_t group);

/* A folder to remove, with its files; before it is made. "": none. */
void guard_note_folder(struct guard *guard, const char *folder);

/* That process ends by itself and may use the folder until then. */
void guard_note_server(struct guard *guard, pid_t pid);

/* Is that process the guard? */
bool guard_owns(const struct guard *guard, pid_t pid);

/* The job has ended. */
void guard_close(struct guard *guard);

#endif /* OSHRUN_GUARD_H */
