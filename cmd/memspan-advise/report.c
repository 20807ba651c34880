/* SPDX-License-Identifier: BSD-3-Clause */
/* report.c: the table, and the placement file. */

#include "cmd/memspan-advise/advise.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static double mebibytes(uint64_t bytes)
{
    return (double)bytes / (1 << 20);
}

static void print_unseen(const struct profile *profile, FILE *out)
{
    uint64_t resident = profile->resident_bytes;
    uint64_t watched  = profile->watched_bytes;

    if (profile->allocator[0] != '\0') {
        fprintf(out, "# malloc() is that of %s: its blocks are not seen\n", profile->allocator);
    }
    fprintf(out, "# not seen: blocks below 64 KiB, static arrays, stacks, mapped files");
    if (resident > watched) {
        fprintf(out, "; in all %.1f of %.1f MiB resident", mebibytes(resident - watched),
                mebibytes(resident));
    }
    fprintf(out, "\n");
}

void report_print(const struct profile *profile, size_t most, FILE *out)
{
    uint64_t rest = 0;
    char stream[8];

    fprintf(out, "# %s, %.1f s; accesses are known from %s\n", profile->program, profile->seconds,
            profile->source);
    fprintf(out, "%12s %8s %11s %11s %8s  %-9s  %-9s  %s\n", "MiB at most", "blocks", "lifetime, s",
            "accesses/s", "streams", "use", "space", "allocated by");
    for (size_t i = 0; i < profile->site_count; i++) {
        const struct site *s = &profile->sites[i];

        if (i >= most) {
            rest += s->peak_bytes;
            continue;
        }
        (void)snprintf(stream, sizeof(stream), (s->located == 0) ? "-" : "%.0f%%", 100 * s->stream);
        fprintf(out, "%12.1f %8" PRIu64 " %11.3g %11.3g %8s  %-9s  %-9s  %s\n",
                mebibytes(s->peak_bytes), s->count, s->lifetime_s / (double)s->count, s->rate,
                stream, advice_use(s->use), (s->space == NULL) ? "-" : s->space, s->name);
    }
    if (profile->site_count > most) {
        fprintf(out, "%12.1f          at %zu more sites\n", mebibytes(rest),
                profile->site_count - most);
    }
    if (profile->site_count == 0) {
        fprintf(out, "# it allocated no block of 64 KiB or more\n");
    }
    print_unseen(profile, out);
}

void report_write(const struct profile *profile, FILE *out)
{
    fprintf(out, "memspan-placement 1 # %s\n", profile->program);
    for (size_t i = 0; i < profile->site_count; i++) {
        const struct site *s = &profile->sites[i];

        if (s->space != NULL) {
            fprintf(out, "# %.1f MiB, %s: %s\n%s %s\n", mebibytes(s->peak_bytes),
                    advice_use(s->use), s->name, s->space, s->frames);
        }
    }
}
