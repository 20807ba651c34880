/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_OUTPUT_H
#define OSHRUN_OUTPUT_H

/* Output of the PEs in whole lines, and input of PE 0.
 *
 * If the launcher prints to a terminal, so do the PEs, except with --tag-output: terminals are
 * written by lines, and programs can detect the terminal. Otherwise each PE prints into a pipe,
 * and lines are not mixed. A slow destination stops the reading of pipes, not the launcher. */

#include <poll.h>
#include <stdbool.h>

struct output;

/* Pipes for that many PEs. NULL after a message. */
struct output *output_open(int pe_count, bool tag_output);

/* In a new PE: set its standard input, output and error. */
void output_enter(const struct output *output, int pe);
/* In the launcher, after all forks: close the PEs' ends. */
void output_start(struct output *output);

/* Append descriptors to events (room for output_poll_max of them); returns their number.
 * *timeout_ms is lowered where something is due without an event. */
int output_poll_max(const struct output *output);
int output_poll(struct output *output, struct pollfd *events, int *timeout_ms);
/* After poll(). */
void output_step(struct output *output, const struct pollfd *events, int count);

/* All PEs have ended: print the rest of their output. */
void output_finish(struct output *output);

/* Output could not be written, which was reported. */
bool output_is_lost(const struct output *output);

/* The reader of the output is gone. */
bool output_is_broken(const struct output *output);

#endif /* OSHRUN_OUTPUT_H */
