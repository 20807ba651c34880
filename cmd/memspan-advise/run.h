/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CMD_ADVISE_RUN_H
#define CMD_ADVISE_RUN_H

/* The program as it is, with our libraries before its own. */

enum { RUN_NOT_STARTED = 127 };

/* Run @p arguments to its end; its status as a shell has it. @p folder: the profiles are written
 * there. Or NULL: @p placement is applied. RUN_NOT_STARTED after a message when it cannot be
 * started. */
int run_program(char *const *arguments, const char *folder, const char *placement);

#endif /* CMD_ADVISE_RUN_H */
