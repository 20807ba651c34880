/* SPDX-License-Identifier: BSD-3-Clause */
/* seen.c: a window that waits for T seconds before each access is accessed 1/T times a second. A
 * part of an array may never be used, as there is space for the worst case: its long waits do not
 * count for the others, once there are hits enough to tell the parts apart. */

#include "cmd/memspan-advise/preload/preload.h"

struct seen seen_of_site(const struct site *site)
{
    enum { HITS_FEW = 8 * SEGMENTS };
    struct seen seen = {0};
    double rates     = 0;
    int probed       = 0;

    for (size_t i = 0; i < SEGMENTS; i++) {
        seen.exposure_s += site->exposure_s[i];
        seen.hits += site->hits[i];
        if (site->exposure_s[i] > 0) {
            rates += (double)site->hits[i] / site->exposure_s[i];
            probed++;
        }
    }
    if (probed > 0) {
        seen.rate = (seen.hits < HITS_FEW) ? (double)seen.hits / seen.exposure_s : rates / probed;
    }
    return seen;
}
