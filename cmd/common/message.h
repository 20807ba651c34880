/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CMD_COMMON_MESSAGE_H
#define CMD_COMMON_MESSAGE_H

/* Messages to the user. */

#include <stddef.h>

/* The program's name, which begins each message; every program defines it. */
extern const char cli_name[];

/* One line on standard error, "NAME: ...", in one write: lines of several processes stay whole. */
void cli_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The candidate that @p word is probably a misspelling of, or NULL. */
const char *cli_nearest(const char *word, const char *const *candidates, size_t count);

#endif /* CMD_COMMON_MESSAGE_H */
