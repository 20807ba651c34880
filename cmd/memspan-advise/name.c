/* SPDX-License-Identifier: BSD-3-Clause */
/* name.c: a site is named by the innermost frame that no other site has, and whose line is the
 * program's own: standard containers allocate in headers of the system. */

#include "cmd/common/cli.h"
#include "cmd/memspan-advise/advise.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A frame, with the number of the site that has it or, each only once, of all sites that have. */
struct frame {
    const char *text;
    size_t length;
    size_t sites;
    char *lines; /* addr2line's output: one "FUNCTION at PATH:LINE" for each inlined function, the
                    innermost first; NULL: nothing */
};

struct frames {
    struct frame *list;
    size_t count;
};

/* ---- frames ---- */

static int by_text(const void *a, const void *b)
{
    const struct frame *left  = a;
    const struct frame *right = b;
    size_t length             = (left->length < right->length) ? left->length : right->length;
    int order                 = strncmp(left->text, right->text, length);

    return (order != 0) ? order : (left->length > right->length) - (left->length < right->length);
}

static int by_text_and_site(const void *a, const void *b)
{
    const struct frame *left  = a;
    const struct frame *right = b;
    int order                 = by_text(a, b);

    return (order != 0) ? order : (left->sites > right->sites) - (left->sites < right->sites);
}

/* The next frame of a call stack; false at its end. */
static bool next_frame(const char **at, struct frame *frame_p)
{
    *at += strspn(*at, " ");
    *frame_p = (struct frame){.text = *at, .length = strcspn(*at, " ")};
    *at += frame_p->length;
    return frame_p->length > 0;
}

static void count_sites(struct frames *frames)
{
    size_t count = 0;
    size_t last  = 0;

    qsort(frames->list, frames->count, sizeof(struct frame), by_text_and_site);
    for (size_t i = 0; i < frames->count; i++) {
        struct frame frame = frames->list[i];
        size_t site        = frame.sites;

        if ((count == 0) || (by_text(&frames->list[count - 1], &frame) != 0)) {
            frame.sites           = 1;
            frames->list[count++] = frame;
        } else if (site != last) {
            frames->list[count - 1].sites++;
        }
        last = site;
    }
    frames->count = count;
}

static bool collect(const struct profile *profile, struct frames *frames_p)
{
    size_t most = 1;
    struct frame frame;

    for (size_t i = 0; i < profile->site_count; i++) {
        for (const char *at = profile->sites[i].frames; next_frame(&at, &frame);) {
            most++;
        }
    }
    *frames_p = (struct frames){.list = calloc(most, sizeof(struct frame))};
    if (frames_p->list == NULL) {
        return false;
    }
    for (size_t i = 0; i < profile->site_count; i++) {
        for (const char *at = profile->sites[i].frames; next_frame(&at, &frame);) {
            frame.sites                       = i;
            frames_p->list[frames_p->count++] = frame;
        }
    }
    count_sites(frames_p);
    return true;
}

/* Is it code of the file @p path? Frames have its name, with other characters for some. */
static bool is_of(const struct frame *frame, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name  = (slash == NULL) ? path : slash + 1;
    const char *colon = memrchr(frame->text, ':', frame->length);
    size_t length     = (colon == NULL) ? 0 : (size_t)(colon - frame->text);

    for (size_t i = 0; i < length; i++) {
        if ((name[i] == '\0') || ((frame->text[i] != name[i]) && (frame->text[i] != '_'))) {
            return false;
        }
    }
    return (length > 0) && ((name[length] == '\0') || (length >= MODULE_NAME_BYTES));
}

/* ---- lines of source ---- */

/* An entry is "0xADDRESS: " and lines, of which all but the first begin with a blank. Without a
 * line of source the function is the nearest that has a symbol: of libraries any of their
 * interface. */
static void take_lines(struct frame **asked, size_t count, bool of_program, char *text)
{
    for (size_t i = 0; (i < count) && (text != NULL); i++) {
        char *next  = strstr(text, "\n0x");
        char *lines = strstr(text, ": ");

        next = (next == NULL) ? strrchr(text, '\n') : next;
        if (next != NULL) {
            *next++ = '\0';
        }
        if ((lines != NULL) && (strncmp(lines, ": ??", 4) != 0) &&
            (of_program || (strstr(lines, " at ?") == NULL))) {
            asked[i]->lines = strdup(lines + 2);
        }
        text = next;
    }
}

/* Ask once for all frames of a file: it takes seconds to read the debug information of a large one.
 */
static void ask_addr2line(struct frames *frames, const char *path, bool of_program)
{
    char **arguments       = calloc(frames->count + 5, sizeof(char *));
    struct frame **asked   = calloc(frames->count + 1, sizeof(struct frame *));
    size_t count           = 0;
    size_t used            = 0;
    struct cli_child child = {.path = "/usr/bin/env", .arguments = arguments, .limit_s = 120};
    struct cli_result result;

    if ((arguments == NULL) || (asked == NULL)) {
        goto out_free;
    }
    arguments[used++] = "env";
    arguments[used++] = "addr2line";
    arguments[used++] = "-Capfie";
    arguments[used++] = (char *)(uintptr_t)path;
    for (size_t i = 0; i < frames->count; i++) {
        struct frame *frame = &frames->list[i];
        const char *plus    = memrchr(frame->text, '+', frame->length);

        if ((plus != NULL) && (frame->sites == 1) && is_of(frame, path)) {
            arguments[used++] = strndup(plus + 1, frame->length - (size_t)(plus + 1 - frame->text));
            asked[count++]    = frame;
        }
    }
    if (count > 0) {
        cli_child_run(&child, &result);
        if ((result.end == CLI_EXITED) && (result.code == 0)) {
            take_lines(asked, count, of_program, result.out.data);
        }
        cli_result_free(&result);
    }
    while (used > 4) {
        free(arguments[--used]);
    }
out_free:
    free(arguments);
    free(asked);
}

/* Of "FUNCTION at PATH:LINE"; "?" where it is not known. */
static const char *path_in(const char *line)
{
    const char *path = "?";

    for (const char *at = strstr(line, " at "); at != NULL; at = strstr(at + 1, " at ")) {
        path = at + 4;
    }
    return path;
}

static bool is_of_system(const char *line)
{
    return strncmp(path_in(line), "/usr/", 5) == 0;
}

/* "FUNCTION at FILE:LINE"; where no line is known "FUNCTION at FRAME". */
static char *short_name(const char *line, const struct frame *frame)
{
    const char *path  = path_in(line);
    const char *slash = strrchr(path, '/');
    int function      = (int)strlen(line) - (int)strlen(path);
    char *name        = NULL;
    int length;

    if (path[0] == '?') {
        length = asprintf(&name, "%.*s%.*s", function, line, (int)frame->length, frame->text);
    } else {
        length = asprintf(&name, "%.*s%s", function, line, (slash == NULL) ? path : slash + 1);
    }
    return (length < 0) ? NULL : name;
}

/* The innermost line of the program's own that is not in the text of another frame, else the
 * outermost. */
static char *own_line(const struct frames *frames, const struct frame *own)
{
    static const char inlined[] = " (inlined by) ";
    char *copy                  = strdup(own->lines);
    const char *best            = "";
    char *name;

    for (char *line = strtok(copy, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        size_t sharing = 0;
        char *more;

        best = line + ((strncmp(line, inlined, strlen(inlined)) == 0) ? strlen(inlined) : 0);
        more = strstr(line, " (discriminator");
        if (more != NULL) {
            *more = '\0';
        }
        for (size_t i = 0; (i < frames->count) && (sharing < 2); i++) {
            const char *lines = frames->list[i].lines;

            sharing += ((lines != NULL) && (strstr(lines, best) != NULL)) ? 1 : 0;
        }
        if ((sharing == 1) && !is_of_system(best)) {
            break;
        }
    }
    name = short_name(best, own);
    free(copy);
    return name;
}

/* ---- names ---- */

/* How well a frame locates its site. */
static int merit_of(const struct frame *frame, const char *program)
{
    const char *outermost = (frame->lines == NULL) ? NULL : strrchr(frame->lines, '\n');
    bool known            = frame->lines != NULL;

    outermost = (outermost == NULL) ? frame->lines : outermost;
    return ((known && !is_of_system(outermost)) ? 4 : 0) + (is_of(frame, program) ? 2 : 0) +
           (known ? 1 : 0);
}

static char *name_of(const struct frames *frames, const struct site *site, const char *program)
{
    const struct frame *best = NULL;
    int merit                = -1;
    struct frame frame;

    for (const char *at = site->frames; next_frame(&at, &frame);) {
        const struct frame *found =
            bsearch(&frame, frames->list, frames->count, sizeof(frame), by_text);

        if ((found->sites == 1) && (merit_of(found, program) > merit)) {
            merit = merit_of(found, program);
            best  = found;
        }
    }
    if ((best != NULL) && (best->lines != NULL)) {
        return own_line(frames, best);
    }
    return (best != NULL) ? strndup(best->text, best->length)
                          : strndup(site->frames, strcspn(site->frames, " "));
}

void name_sites(struct profile *profile)
{
    struct frames frames;

    if (!collect(profile, &frames)) {
        return;
    }
    for (size_t i = 0; i < profile->module_count; i++) {
        ask_addr2line(&frames, profile->modules[i],
                      strcmp(profile->modules[i], profile->program) == 0);
    }
    for (size_t i = 0; i < profile->site_count; i++) {
        profile->sites[i].name = name_of(&frames, &profile->sites[i], profile->program);
    }
    for (size_t i = 0; i < frames.count; i++) {
        free(frames.list[i].lines);
    }
    free(frames.list);
}
