/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_CAPABILITY_H
#define MEMQUERY_CAPABILITY_H

/* The names of device capabilities in --json and --check. */

#include <stddef.h>

struct capability {
    const char *name;
    unsigned bit; /* enum memspan_capability */
};

extern const struct capability capabilities[];
extern const size_t capability_count;

#endif /* MEMQUERY_CAPABILITY_H */
