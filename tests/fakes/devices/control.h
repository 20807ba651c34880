/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_FAKE_CONTROL_H
#define MEMSPAN_TESTS_FAKE_CONTROL_H

/* What a test can see and set in a pretended driver: the plug-in exports a struct fake_control
 * under the name FAKE_CONTROL, found with dlsym() in the plug-in's file. */

#include <stdatomic.h>

enum fake_call {
    FAKE_ALLOC,
    FAKE_FREE,
    FAKE_IMPORT,
    FAKE_RELEASE,
    FAKE_COPY,
    FAKE_FILL,
    FAKE_SYNCHRONIZE,
    FAKE_CALLS
};

/* What is wrong with the memory that an allocation gives. */
enum fake_gift { FAKE_RIGHT, FAKE_NOWHERE, FAKE_SMALL, FAKE_CROOKED, FAKE_WILD, FAKE_UNMAPPED };

struct fake_control {
    atomic_long count[FAKE_CALLS];   /* calls so far, those that failed included */
    atomic_long fail_in[FAKE_CALLS]; /* n > 0: the n-th call from now fails, once; 0: none does */
    atomic_long fail_any_in;         /* the same over calls of every sort */
    atomic_int go_on_failing;        /* 1: and so do all calls after it, until fail_* is set to 0 */
    atomic_long blocks;              /* allocated and not freed */
    atomic_long bytes;               /* of them */
    atomic_long imports;             /* imported and not released */
    atomic_int import_ms;            /* that an import takes */
    atomic_long closed;              /* how often the driver was closed */
    atomic_int gives;                /* enum fake_gift */
    atomic_int resizes_to;           /* the same of the range that resize() names */
    atomic_long resized;             /* ranges that were accepted */
    atomic_long limit_bytes; /* of one allocation, which the device does not tell; 0: none */
    atomic_int blocks_term;  /* the thread that open() started does: 1, or -1 */
};

#define FAKE_CONTROL "fake_control"

#endif /* MEMSPAN_TESTS_FAKE_CONTROL_H */
