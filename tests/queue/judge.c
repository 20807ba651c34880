/* SPDX-License-Identifier: BSD-3-Clause */
/* judge.c: clocks, and the uses of memory that the host does not know to be complete. */

#include "judge.h"
#include <stdlib.h>

struct use {
    uintptr_t low;
    uintptr_t high;
    uint64_t position; /* of the command in its stream */
    int number;        /* of the stream */
    bool writes;
};

static struct order_clock host;
static uint64_t last[ORDER_STREAMS]; /* positions; a stream goes on where an earlier one ended */
static bool taken[ORDER_STREAMS];
static struct use *uses;
static size_t use_count;
static size_t use_places;

static void join(struct order_clock *clock, const struct order_clock *other)
{
    int i;

    for (i = 0; i < ORDER_STREAMS; i++) {
        clock->at[i] = (other->at[i] > clock->at[i]) ? other->at[i] : clock->at[i];
    }
}

void order_open(struct order_stream *stream)
{
    int i = 0;

    while ((i < ORDER_STREAMS) && taken[i]) {
        i++;
    }
    *stream = (struct order_stream){.clock = host, .number = i};
    if (i < ORDER_STREAMS) {
        taken[i] = true;
    }
}

void order_close(const struct order_stream *stream)
{
    if (stream->number < ORDER_STREAMS) {
        taken[stream->number] = false;
    }
}

void order_add(struct order_stream *stream)
{
    if (stream->number < ORDER_STREAMS) {
        stream->clock.at[stream->number] = ++last[stream->number];
    }
}

void order_join(struct order_stream *stream, const struct order_clock *clock)
{
    join(&stream->clock, clock);
}

void order_complete(const struct order_clock *clock)
{
    join(&host, clock);
}

static bool conflicts(const struct use *earlier, const struct use *later,
                      const struct order_clock *clock)
{
    return (earlier->low < later->high) && (later->low < earlier->high) &&
           (earlier->writes || later->writes) && (clock->at[earlier->number] < earlier->position);
}

bool order_use(const struct order_stream *stream, uintptr_t address, size_t size, bool writes)
{
    struct use now = {.low = address, .high = address + size, .number = stream->number};
    bool ordered   = true;
    size_t kept    = 0;
    size_t i;

    now.writes = writes;
    for (i = 0; i < use_count; i++) {
        if (uses[i].position > host.at[uses[i].number]) {
            ordered      = ordered && !conflicts(&uses[i], &now, &stream->clock);
            uses[kept++] = uses[i];
        }
    }
    use_count = kept;
    if (stream->number == ORDER_STREAMS) {
        return ordered;
    }
    if (use_count == use_places) {
        use_places = 2 * use_places + 64;
        uses       = realloc(uses, use_places * sizeof(*uses));
    }
    now.position      = stream->clock.at[stream->number] + (stream->by_barriers ? 1 : 0);
    uses[use_count++] = now;
    return ordered;
}

void order_forget(uintptr_t address, size_t size)
{
    size_t kept = 0;
    size_t i;

    for (i = 0; i < use_count; i++) {
        if ((uses[i].low >= address + size) || (uses[i].high <= address)) {
            uses[kept++] = uses[i];
        }
    }
    use_count = kept;
}
