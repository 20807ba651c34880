/* SPDX-License-Identifier: BSD-3-Clause */
/* What memspan-advise makes of hits and exposures, by numbers: what a watched program shows depends
 * on how much of the processor it gets. */

#include "cmd/memspan-advise/preload/preload.h"
#include <criterion/criterion.h>

/* Six segments are hit after 10 ms each, two never. */
static struct site used_in_part(unsigned hits)
{
    struct site site = {0};

    for (unsigned i = 0; i < SEGMENTS; i++) {
        site.hits[i]       = (i < 6) ? hits : 0;
        site.exposure_s[i] = (i < 6) ? 0.01 * hits : 100;
    }
    return site;
}

Test(advise_seen, unused_part_does_not_hide_used_one)
{
    struct site site = used_in_part(100);
    struct seen seen = seen_of_site(&site);

    cr_expect_eq(seen.hits, 600);
    cr_expect_float_eq(seen.exposure_s, 206, 1e-9);
    cr_expect_float_eq(seen.rate, 75, 1e-9);
}

Test(advise_seen, few_hits_do_not_tell_parts_apart)
{
    struct site site = used_in_part(10);
    struct seen seen = seen_of_site(&site);

    cr_expect_float_eq(seen.rate, 60 / 200.6, 1e-9);
}

Test(advise_seen, segments_without_probes_do_not_count)
{
    struct site site       = {.hits = {100}, .exposure_s = {2}};
    const struct site none = {0};

    cr_expect_float_eq(seen_of_site(&site).rate, 50, 1e-9);
    cr_expect_float_eq(seen_of_site(&none).rate, 0, 1e-9);
}
