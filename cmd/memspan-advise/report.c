/* SPDX-License-Identifier: BSD-3-Clause */
/* report.c: sites by the line of source that tells them apart. */

#include "cmd/memspan-advise/report.h"
#include "cmd/common/child.h"
#include "cmd/memspan-advise/advice.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static double mebibytes(uint64_t bytes)
{
    return (double)bytes / (1 << 20);
}

/* Is a frame (of @p length characters) in the call stack of a site? */
static bool has_frame(const struct site *site, const char *frame, size_t length)
{
    for (const char *at = site->frames; *at != '\0'; at += strspn(at, " ")) {
        if ((strcspn(at, " ") == length) && (memcmp(at, frame, length) == 0)) {
            return true;
        }
        at += strcspn(at, " ");
    }
    return false;
}

/* The innermost frame that no other site has, of the program where there is one of it. */
static const char *own_frame(const struct profile *profile, const struct site *site)
{
    const char *module = strrchr(profile->program, '/');
    const char *best   = NULL;

    module = (module == NULL) ? profile->program : module + 1;
    for (const char *frame = site->frames; *frame != '\0'; frame += strspn(frame, " ")) {
        size_t length   = strcspn(frame, " ");
        bool of_program = (strncmp(frame, module, strlen(module)) == 0);
        size_t sharing  = 0;

        for (size_t i = 0; i < profile->site_count; i++) {
            sharing += has_frame(&profile->sites[i], frame, length) ? 1 : 0;
        }
        if ((sharing == 1) && of_program) {
            return frame;
        }
        best = ((best == NULL) && (sharing == 1)) ? frame : best;
        frame += length;
    }
    return (best == NULL) ? site->frames : best;
}

/* What addr2line says of a frame of the program, a line "FUNCTION at FILE:LINE" for each function
 * that was inlined there, the innermost first; NULL: nothing. */
static char *ask_addr2line(const char *program, const char *offset)
{
    char address[32];
    char *arguments[] = {"env", "addr2line", "-Cpsfie", (char *)(uintptr_t)program, address, NULL};
    const struct cli_child child = {.path = "/usr/bin/env", .arguments = arguments, .limit_s = 20};
    struct cli_result result;
    char *text = NULL;

    (void)snprintf(address, sizeof(address), "%.*s", (int)strcspn(offset, " "), offset);
    cli_child_run(&child, &result);
    if ((result.end == CLI_EXITED) && (result.code == 0) && (result.out.data != NULL) &&
        (strncmp(result.out.data, "??", 2) != 0)) {
        text = strdup(result.out.data);
    }
    cli_result_free(&result);
    return text;
}

/* The innermost line that is not in the text of another site, else the outermost. */
static char *own_line(char *const *texts, size_t count, size_t own)
{
    static const char inlined[] = " (inlined by) ";
    char *copy                  = strdup(texts[own]);
    const char *best            = "";
    char *name;

    for (char *line = strtok(copy, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        size_t sharing = 0;

        best = line + ((strncmp(line, inlined, strlen(inlined)) == 0) ? strlen(inlined) : 0);
        for (size_t i = 0; i < count; i++) {
            sharing += ((texts[i] != NULL) && (strstr(texts[i], best) != NULL)) ? 1 : 0;
        }
        if (sharing == 1) {
            break;
        }
    }
    name = strdup(best);
    free(copy);
    return name;
}

void report_name(struct profile *profile)
{
    char **texts       = calloc(profile->site_count + 1, sizeof(char *));
    const char *module = strrchr(profile->program, '/');

    module = (module == NULL) ? profile->program : module + 1;
    for (size_t i = 0; (texts != NULL) && (i < profile->site_count); i++) {
        const char *frame  = own_frame(profile, &profile->sites[i]);
        const char *offset = strchr(frame, '+');

        if ((offset != NULL) && (strncmp(frame, module, strlen(module)) == 0)) {
            texts[i] = ask_addr2line(profile->program, offset + 1);
        }
    }
    for (size_t i = 0; (texts != NULL) && (i < profile->site_count); i++) {
        const char *frame = own_frame(profile, &profile->sites[i]);

        profile->sites[i].name = (texts[i] != NULL) ? own_line(texts, profile->site_count, i)
                                                    : strndup(frame, strcspn(frame, " "));
    }
    for (size_t i = 0; (texts != NULL) && (i < profile->site_count); i++) {
        free(texts[i]);
    }
    free(texts);
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
