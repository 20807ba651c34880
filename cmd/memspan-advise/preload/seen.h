/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CMD_ADVISE_PRELOAD_SEEN_H
#define CMD_ADVISE_PRELOAD_SEEN_H

#include "cmd/memspan-advise/preload/block.h"

/* What the probes of a site saw, over all segments of its blocks. */
struct seen {
    double exposure_s;
    uint64_t hits;
    double rate; /* accesses of a window a second */
};

/* The caller holds the tables' lock, or has a copy. */
struct seen seen_of_site(const struct site *site);

#endif
