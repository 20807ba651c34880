/* SPDX-License-Identifier: BSD-3-Clause */
/* profile.c: files of one or several processes, added. */

#include "cmd/common/cli.h"
#include "cmd/memspan-advise/advise.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char first_line[] = "memspan-profile 1";

/* "COUNT PEAK ... FRAMES". The frames are in @p text. */
static bool parse_site(char *text, struct site *site_p)
{
    int used = -1;

    /* sscanf() takes -1 for a large number. */
    if (text[strspn(text, "0123456789. ")] == '-') {
        return false;
    }
    (void)sscanf(text, "%" SCNu64 " %" SCNu64 " %lf %lf %lf %lf %" SCNu64 " %" SCNu64 " %n",
                 &site_p->count, &site_p->peak_bytes, &site_p->lifetime_s, &site_p->byte_seconds,
                 &site_p->accessed, &site_p->exposure_s, &site_p->hits, &site_p->edges, &used);
    if ((used < 0) || (text[used] == '\0') || (site_p->count == 0) || (site_p->peak_bytes == 0) ||
        !isfinite(site_p->lifetime_s + site_p->byte_seconds) ||
        !isfinite(site_p->accessed + site_p->exposure_s) || (site_p->edges > site_p->hits)) {
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
    sites[i].lifetime_s += site->lifetime_s;
    sites[i].byte_seconds += site->byte_seconds;
    sites[i].accessed += site->accessed;
    sites[i].exposure_s += site->exposure_s;
    sites[i].hits += site->hits;
    sites[i].located += site->located;
    sites[i].edges += site->edges;
    return true;
}

static bool add_module(struct profile *profile, const char *path)
{
    char **modules;

    for (size_t i = 0; i < profile->module_count; i++) {
        if (strcmp(profile->modules[i], path) == 0) {
            return true;
        }
    }
    modules = reallocarray(profile->modules, profile->module_count + 1, sizeof(*modules));
    if (modules == NULL) {
        return false;
    }
    profile->modules               = modules;
    modules[profile->module_count] = strdup(path);
    return modules[profile->module_count++] != NULL;
}

static bool add_memory(struct profile *profile, const char *text)
{
    uint64_t resident = 0;
    uint64_t watched  = 0;

    if ((strchr(text, '-') != NULL) ||
        (sscanf(text, "%" SCNu64 " %" SCNu64, &resident, &watched) != 2)) {
        return false;
    }
    profile->resident_bytes += resident;
    profile->watched_bytes += watched;
    return true;
}

/* One process's header, until its memory is known. */
struct process {
    char program[4096];
    char source[96];
    char allocator[4096];
    double seconds;
    double weight;
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
    if (strncmp(line, "allocator ", 10) == 0) {
        (void)snprintf(process->allocator, sizeof(process->allocator), "%s", value);
        return true;
    }
    if (strncmp(line, "memory ", 7) == 0) {
        return add_memory(profile, value);
    }
    if (strncmp(line, "module ", 7) == 0) {
        return add_module(profile, value);
    }
    if ((strncmp(line, "site ", 5) != 0) || !parse_site(value, &site)) {
        return false;
    }
    if (strncmp(process->source, "page faults", 11) == 0) {
        site.located = site.hits;
    } else {
        site.edges = 0;
    }
    if (!add_site(profile, &site)) {
        return false;
    }
    process->weight += (double)site.peak_bytes * ((site.hits > 0) ? 1000 : 1);
    return true;
}

/* A pipe would be waited for. */
static FILE *open_file(const char *path)
{
    struct stat facts;
    FILE *file = NULL;

    if ((stat(path, &facts) == 0) && !S_ISREG(facts.st_mode)) {
        cli_complain("%s: a profile is a file, and this is none", path);
        return NULL;
    }
    file = fopen(path, "re");
    if (file == NULL) {
        cli_complain("%s: %s", path, strerror(errno));
    }
    return file;
}

bool profile_read(struct profile *profile, const char *path)
{
    struct process process = {0};
    FILE *file             = open_file(path);
    char *line             = NULL;
    size_t capacity        = 0;
    size_t number          = 0;
    bool good              = true;

    if (file == NULL) {
        return false;
    }
    while (good && (getline(&line, &capacity, file) >= 0)) {
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
    if ((profile->program[0] == '\0') || (process.weight > profile->weight)) {
        memcpy(profile->program, process.program, sizeof(process.program));
        memcpy(profile->source, process.source, sizeof(process.source));
        memcpy(profile->allocator, process.allocator, sizeof(process.allocator));
        profile->seconds = process.seconds;
        profile->weight  = process.weight;
    }
    return true;
}

void profile_free(struct profile *profile)
{
    for (size_t i = 0; i < profile->site_count; i++) {
        free(profile->sites[i].frames);
        free(profile->sites[i].name);
    }
    for (size_t i = 0; i < profile->module_count; i++) {
        free(profile->modules[i]);
    }
    free(profile->sites);
    free(profile->modules);
}
