/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_OUTPUT_H
#define OSHRUN_OUTPUT_H

/* What the PEs print, put together by whole lines, and what PE 0 reads.
 *
 * Where this process prints to a terminal, so do the PEs, unless their lines are to be marked:
 * terminals are written to by lines already, and programs see that there is one. Otherwise each PE
 * prints into a pipe, and no line of one PE is broken by another's. A destination that is slow
 * stops the reading of pipes, not this process. */

#include <poll.h>
#include <stdbool.h>

struct output;

/* Pipes for that many PEs. NULL, having said why. */
struct output *output_open(int pe_count, bool tag_output);

/* In a PE just forked: its standard input, output and error. */
void output_enter(const struct output *output, int pe);
/* In the launcher, when all PEs are forked: the PEs' ends are not its own. */
void output_start(struct output *output);

/* What to wait for: descriptors are appended to events (room for output_poll_max of them). Returns
 * how many; *patience_ms becomes less where something is to be done without an event. */
int output_poll_max(const struct output *output);
int output_poll(struct output *output, struct pollfd *events, int *patience_ms);
/* After poll(). */
void output_step(struct output *output, const struct pollfd *events, int count);

/* All PEs have ended: print what is left of what they printed. */
void output_finish(struct output *output);

/* Something that was printed could not be written, which was said. */
bool output_is_lost(const struct output *output);

/* Whoever read what is printed has gone. */
bool output_is_broken(const struct output *output);

#endif /* OSHRUN_OUTPUT_H */
