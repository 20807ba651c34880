/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_HYBRID_MOVE_H
#define MEMSPAN_BENCH_HYBRID_MOVE_H

/* What it takes to move data from one device to another. */

#include "bench/hybrid/job.h"

/* @p count times: PE 0's source into PE 1's dest, then PE 1's into PE 0's. */
void move_ping_pong(char *dest, char *source, size_t size_bytes, size_t count);

/* @p count times: a block of that size from every PE to every PE. */
void move_blocks(char *dest, char *source, size_t size_bytes, size_t count);

/* @p count times: PE i's source, i going around, to the dest of all. */
void move_to_all(char *dest, char *source, size_t size_bytes, size_t count);

/* @p count times: all sources, combined by exclusive or of 64-bit words, to the dest of all. */
void move_combined(char *dest, char *source, size_t size_bytes, size_t count);

#endif /* MEMSPAN_BENCH_HYBRID_MOVE_H */
