/* SPDX-License-Identifier: BSD-3-Clause */
/* profile.c: files of one or several processes, added. */

#include "cmd/memspan-advise/profile.h"
#include "cmd/common/message.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char first_line[] = "memspan-profile 1";

/* "COUNT PEAK ... FRAMES". The frames are in @p text. */
static bool parse_site(char *text, struct site *site_p)
{
    int used = -1;

    /* sscanf() takes -1 for a large number. */
    if (text[strspn(text, "0123456789. ")] == '-') {
        return false;
    }
    (void)sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %lf %lf %" SCNu64 " %" SCNu64 " %n",
                 &site_p->count, &site_p->peak_bytes, &site_p->total_bytes, &site_p->lifetime_s,
                 &site_p->exposure_s, &site_p->hits, &site_p->edges, &used);
    if ((used < 0) || (text[used] == '\0') || !isfinite(site_p->lifetime_s) ||
        !isfinite(site_p->exposure_s) || (site_p->edges > site_p->hits)) {
        return false;
    }
    site_p->frames = text + used;
    return true;
}

static bool add_site(struct profile *profile, const struct site *site)
{
    struct site *sites = profile->sites;
    size_t i           = 0;

    while ((i < profile->site_count) && (strcmp(sites[i].frames, site->frames) != 0)) {
        i++;
    }
    if (i == profile->site_count) {
        sites = reallocarray(sites, i + 1, sizeof(*sites));
        if (sites == NULL) {
            return false;
        }
        profile->sites = sites;
        sites[i]       = (struct site){.frames = strdup(site->frames)};
        if (sites[i].frames == NULL) {
            return false;
        }
        profile->site_count++;
    }
    sites[i].count += site->count;
    sites[i].peak_bytes += site->peak_bytes;
    sites[i].total_bytes += site->total_bytes;
    sites[i].lifetime_s += site->lifetime_s;
    sites[i].exposure_s += site->exposure_s;
    sites[i].hits += site->hits;
    sites[i].edges += site->edges;
    return true;
}

/* One process's header, until its memory is known. */
struct process {
    char program[4096];
    char source[96];
    double seconds;
    uint64_t peak_bytes;
};

static bool parse_line(struct profile *profile, struct process *process, char *line)
{
    char *value      = strchrnul(line, ' ');
    struct site site = {0};

    value += (*value == ' ') ? 1 : 0;
    if (strncmp(line, "program ", 8) == 0) {
        (void)snprintf(process->program, sizeof(process->program), "%s", value);
        return true;
    }
    if (strncmp(line, "source ", 7) == 0) {
        (void)snprintf(process->source, sizeof(process->source), "%s", value);
        return true;
    }
    if (strncmp(line, "seconds ", 8) == 0) {
        process->seconds = strtod(value, NULL);
        return isfinite(process->seconds);
    }
    if ((strncmp(line, "site ", 5) != 0) || !parse_site(value, &site) ||
        !add_site(profile, &site)) {
        return false;
    }
    process->peak_bytes += site.peak_bytes;
    return true;
}

bool profile_read(struct profile *profile, const char *path)
{
    struct process process = {0};
    FILE *file             = fopen(path, "re");
    char *line             = NULL;
    size_t room            = 0;
    size_t number          = 0;
    bool good              = true;

    if (file == NULL) {
        cli_complain("%s: %s", path, strerror(errno));
        return false;
    }
    while (good && (getline(&line, &room, file) >= 0)) {
        line[strcspn(line, "\n")] = '\0';
        good =
            (number++ == 0) ? strcmp(line, first_line) == 0 : parse_line(profile, &process, line);
    }
    free(line);
    (void)fclose(file);
    if (!good || (number == 0)) {
        cli_complain("%s, line %zu: this is no profile of %s", path, number, cli_name);
        return false;
    }
    if ((profile->program[0] == '\0') || (process.peak_bytes > profile->peak_bytes)) {
        memcpy(profile->program, process.program, sizeof(process.program));
        memcpy(profile->source, process.source, sizeof(process.source));
        profile->seconds    = process.seconds;
        profile->peak_bytes = process.peak_bytes;
    }
    return true;
}

void profile_free(struct profile *profile)
{
    for (size_t i = 0; i < profile->site_count; i++) {
        free(profile->sites[i].frames);
        free(profile->sites[i].name);
    }
    free(profile->sites);
}
