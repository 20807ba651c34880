/* SPDX-License-Identifier: BSD-3-Clause */
/* late.h: the calls of late.c that late_refuse() has fail. */

#ifndef MEMSPAN_TESTS_QUEUE_LATE_H
#define MEMSPAN_TESTS_QUEUE_LATE_H

enum late_call {
    LATE_SYNCHRONIZE  = 1,
    LATE_EVENT_RECORD = 2,
    LATE_EVENT_WAIT   = 4,
    LATE_EVENT_DONE   = 8,
    LATE_ALL          = 15,
};

#endif
