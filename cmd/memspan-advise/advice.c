/* SPDX-License-Identifier: BSD-3-Clause */
/* advice.c: the traffic of a window is proportional to the number of its accesses, so memory that
 * is accessed more often has more use of each byte of the fast memory. */

#include "cmd/memspan-advise/advise.h"
#include <stdlib.h>
#include <string.h>

/* A window's edges (preload/sample.c) are 2 of its 64 KiB: accesses in no order are there so
 * often. */
static const double edge_share = 2.0 / 64;

static const double cold_share   = 0.05;    /* of the mean rate */
static const double uses_least   = 4;       /* more than set once and read at the end */
static const double hits_least   = 3;       /* that were to be expected where there are none */
static const double stream_share = 1.0 / 3; /* an array may be used in both ways */

const char *advice_use(enum use use)
{
    static const char *const words[USE_COUNT] = {[USE_UNKNOWN]   = "unknown",
                                                 [USE_COLD]      = "cold",
                                                 [USE_LATENCY]   = "latency",
                                                 [USE_BANDWIDTH] = "bandwidth",
                                                 [USE_HOT]       = "hot"};

    return words[use];
}

/* How often each part of the site's memory was used: blocks that follow each other have the same
 * memory, blocks that live together (in one process or several) have not. */
static double uses_of(const struct site *site)
{
    return site->accessed / (double)site->peak_bytes;
}

static enum use use_of(const struct site *site, double mean_rate)
{
    if ((site->exposure_s <= 0) ||
        ((site->hits == 0) && (site->exposure_s * mean_rate < hits_least))) {
        return USE_UNKNOWN;
    }
    if ((site->rate < cold_share * mean_rate) || (uses_of(site) < uses_least)) {
        return USE_COLD;
    }
    if (site->located == 0) {
        return USE_HOT;
    }
    return (site->stream >= stream_share) ? USE_BANDWIDTH : USE_LATENCY;
}

static int by_rate(const void *a, const void *b)
{
    const struct site *const *left  = a;
    const struct site *const *right = b;

    return ((*left)->rate < (*right)->rate) - ((*left)->rate > (*right)->rate);
}

static int by_size(const void *a, const void *b)
{
    const struct site *left  = a;
    const struct site *right = b;

    return (left->peak_bytes < right->peak_bytes) - (left->peak_bytes > right->peak_bytes);
}

static void propose(struct profile *profile, uint64_t fast_bytes)
{
    struct site **order = calloc(profile->site_count + 1, sizeof(struct site *));

    if (order == NULL) {
        return;
    }
    for (size_t i = 0; i < profile->site_count; i++) {
        order[i] = &profile->sites[i];
    }
    qsort(order, profile->site_count, sizeof(struct site *), by_rate);
    for (size_t i = 0; i < profile->site_count; i++) {
        struct site *site = order[i];

        if ((site->use == USE_BANDWIDTH) || (site->use == USE_HOT)) {
            site->space = (site->peak_bytes <= fast_bytes) ? "high_bw" : NULL;
            fast_bytes -= (site->space != NULL) ? site->peak_bytes : 0;
        } else if (site->use == USE_LATENCY) {
            site->space = "low_lat";
        } else if (site->use == USE_COLD) {
            site->space = "large_cap";
        }
    }
    free(order);
}

void advice_make(struct profile *profile, uint64_t fast_bytes)
{
    double bytes = 0;
    double used  = 0;

    for (size_t i = 0; i < profile->site_count; i++) {
        struct site *site = &profile->sites[i];
        double edges      = (site->located == 0) ? 0 : (double)site->edges / (double)site->located;

        site->rate   = (site->byte_seconds <= 0) ? 0 : site->accessed / site->byte_seconds;
        site->stream = (edges < edge_share) ? 0 : (edges - edge_share) / (1 - edge_share);
        bytes += (double)site->peak_bytes;
        used += site->rate * (double)site->peak_bytes;
    }
    for (size_t i = 0; i < profile->site_count; i++) {
        profile->sites[i].use = use_of(&profile->sites[i], used / bytes);
    }
    propose(profile, fast_bytes);
    qsort(profile->sites, profile->site_count, sizeof(*profile->sites), by_size);
}
