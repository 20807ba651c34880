/* SPDX-License-Identifier: BSD-3-Clause */
/* order.c: the judge of pretended drivers finds accesses that nothing orders, and no others. */

#include "tests/queue/judge.h"
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 0x1000, BYTES = 256 };

static struct order_stream one;
static struct order_stream two;
static struct order_stream three;

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "order: line %d: %s\n", __LINE__, #condition);                         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static bool use(struct order_stream *stream, uintptr_t address, bool writes)
{
    order_add(stream);
    return order_use(stream, address, BYTES, writes);
}

/* The host has waited for all. */
static void begin(void)
{
    order_complete(&one.clock);
    order_complete(&two.clock);
    order_complete(&three.clock);
}

/* What is enqueued after the event was recorded is not covered by it. */
static void judge_events(void)
{
    struct order_clock event;

    begin();
    EXPECT(use(&one, BLOCK, true));
    event = one.clock;
    EXPECT(use(&one, BLOCK + BYTES, true));
    order_join(&two, &event);
    EXPECT(use(&two, BLOCK, true));
    EXPECT(!use(&two, BLOCK + BYTES, true));
    event = two.clock;
    order_join(&three, &event);
    EXPECT(use(&three, BLOCK, true)); /* through the second one */
}

/* Commands between two barriers, and behind the second one. */
static void judge_barriers(void)
{
    struct order_stream list;

    order_open(&list);
    list.by_barriers = true;
    EXPECT(order_use(&list, BLOCK, BYTES, true));
    EXPECT(!order_use(&list, BLOCK, BYTES, false));
    order_add(&list);
    EXPECT(order_use(&list, BLOCK, BYTES, true));
    EXPECT(!use(&one, BLOCK, false));
    order_add(&list);
    order_join(&one, &list.clock);
    EXPECT(use(&one, BLOCK, true));
    order_close(&list);
}

int main(void)
{
    order_open(&one);
    order_open(&two);
    order_open(&three);
    EXPECT(use(&one, BLOCK, true) && use(&one, BLOCK, true));
    EXPECT(!use(&two, BLOCK + BYTES - 1, false));
    begin();
    EXPECT(use(&one, BLOCK, false) && use(&two, BLOCK, false));
    EXPECT(!use(&three, BLOCK, true));
    begin();
    EXPECT(use(&one, BLOCK, true) && use(&two, BLOCK + BYTES, true));
    order_complete(&one.clock); /* the host has waited for it */
    EXPECT(use(&two, BLOCK, true));
    judge_events();
    order_forget(BLOCK, BYTES);
    EXPECT(use(&one, BLOCK, true) && !use(&one, BLOCK + BYTES, true));
    order_close(&three);
    begin();
    order_open(&three);
    EXPECT(use(&one, BLOCK, true));
    EXPECT(!use(&three, BLOCK, true));
    begin();
    judge_barriers();
    return 0;
}
