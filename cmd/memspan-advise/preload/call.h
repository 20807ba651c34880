/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CMD_ADVISE_PRELOAD_CALL_H
#define CMD_ADVISE_PRELOAD_CALL_H

/* Calls of the program that this library has to know of, in the C library's place: processes made
 * without fork()'s handlers (_Fork(), clone(), syscall()), and filters of system calls, which would
 * kill the program for what this library does.
 *
 * System calls that the program makes by instructions of its own are not seen. */

#include <stdbool.h>

/* Find the C library's functions. @p leave is called before the program's first filter. */
void call_open(void (*leave)(void));

/* Has the program more filters than the process that started it was under? */
bool call_is_filtered(void);

#endif /* CMD_ADVISE_PRELOAD_CALL_H */
