/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_SHMEM_SCALE_VALUES_H
#define MEMSPAN_TESTS_SHMEM_SCALE_VALUES_H

/* The data of messages. PEs run one after another, so that a PE's wait finds what was sent when all
 * ran the last time: after as many times as messages depend on one another, all data is what it
 * is in a job. */

#include "tape.h"

void values_open(void);
void values_close(void);
/* All PEs have run. True: they have sent what they had sent the last time. */
bool values_turn(void);
/* Strided puts to the PE. */
void values_deliver_puts(int pe);

#endif /* MEMSPAN_TESTS_SHMEM_SCALE_VALUES_H */
