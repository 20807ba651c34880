/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_QUEUE_JUDGE_H
#define MEMSPAN_TESTS_QUEUE_JUDGE_H

/* Whether streams use the same bytes in an order that something guarantees, by vector clocks: the
 * judge of pretended drivers, which does not depend on the order in which their work happens to be
 * done.
 *
 * Each stream numbers its commands. The clock of a stream has, for each other one, the number up to
 * which its next command follows that one's commands. Events carry clocks from stream to stream. A
 * wait of the host carries the stream's clock to the host's, which all later commands follow. Two
 * accesses conflict if one of them writes, their bytes overlap and the later one's clock lacks the
 * number of the earlier one.
 *
 * The pretended driver's lock guards all of it. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Streams beyond the last number have no accesses. */
enum { ORDER_STREAMS = 64 };

struct order_clock {
    uint64_t at[ORDER_STREAMS];
};

struct order_stream {
    struct order_clock clock;
    int number;       /* ORDER_STREAMS: none is left */
    bool by_barriers; /* numbers are of barriers: between two, no command follows another */
};

void order_open(struct order_stream *stream);
void order_close(const struct order_stream *stream);
/* The stream gets a command. */
void order_add(struct order_stream *stream);
/* What comes on the stream follows what the clock, as an event has it, follows. */
void order_join(struct order_stream *stream, const struct order_clock *clock);
/* The host knows that the work of the clock is complete. */
void order_complete(const struct order_clock *clock);
/* The last command of the stream uses the bytes. False: nothing orders this and an earlier use. */
bool order_use(const struct order_stream *stream, uintptr_t address, size_t size, bool writes);
/* The memory is given back: its address may be that of other memory from now on. */
void order_forget(uintptr_t address, size_t size);

#endif /* MEMSPAN_TESTS_QUEUE_JUDGE_H */
