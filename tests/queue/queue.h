/* SPDX-License-Identifier: BSD-3-Clause */
/* queue.h: what the tests of queues share, in queue.c. */

#ifndef MEMSPAN_TESTS_QUEUE_QUEUE_H
#define MEMSPAN_TESTS_QUEUE_QUEUE_H

#include "tests/api/api.h"
#include "tests/queue/late.h"

/* A chunk of its own: the pool holds no other memory for such a block. */
enum { BYTES = 1 << 20 };

/* A part of a chunk, which has memory for more of them. */
enum { SMALL = 1000 };

/* Of memory of device 0, ten blocks of BYTES; from set_up() to tear_down(), which finds that no
 * object of the driver is left. */
extern memspan_allocator_h allocator;

void set_up(void);
void tear_down(void);
memspan_queue_h open_on(int device);
memspan_queue_info_t info_of(memspan_queue_h queue);

/* Calls of the driver until now. */
unsigned calls(void);

/* Those of enum late_call fail from now on. */
void refuse(unsigned calls_refused);

#endif
