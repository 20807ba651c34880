/* SPDX-License-Identifier: BSD-3-Clause */
/* name.c: a site is named by the innermost frame that no other site has, and whose line is the
 * program's own: standard containers allocate in headers of the system. Where no such frame has a
 * line of source, by its innermost functions, as many as tell it apart. */

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
    char *function; /* without a line of source; NULL: not known */
    char *label;    /* for people; NULL: nothing is known */
};

enum { MERIT_OWN_LINE = 4 };

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

/* Of the frame in its file, behind the '+'; NULL: it has none. */
static const char *offset_in(const struct frame *frame)
{
    const char *plus = memrchr(frame->text, '+', frame->length);

    return (plus == NULL) ? NULL : plus + 1;
}

/* ---- lines of source ---- */

/* An entry is "0xADDRESS: " and lines, of which all but the first begin with a blank. Without a
 * line of source the function is the nearest that has a symbol: of libraries any of their
 * interface, which the sizes of symbols tell better. */
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
        const char *offset  = offset_in(frame);

        if ((offset != NULL) && is_of(frame, path)) {
            arguments[used++] = strndup(offset, frame->length - (size_t)(offset - frame->text));
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

/* How well a frame locates its site: MERIT_OWN_LINE and more, by a line of the program's own. */
static int merit_of(const struct frame *frame, const char *program)
{
    const char *outermost = (frame->lines == NULL) ? NULL : strrchr(frame->lines, '\n');
    bool known            = frame->lines != NULL;

    outermost = (outermost == NULL) ? frame->lines : outermost;
    return ((known && (path_in(outermost)[0] != '?') && !is_of_system(outermost)) ? MERIT_OWN_LINE
                                                                                  : 0) +
           (is_of(frame, program) ? 2 : 0) + (known ? 1 : 0);
}

/* ---- functions ---- */

static bool has_line(const struct frame *frame)
{
    return (frame->lines != NULL) && (path_in(frame->lines)[0] != '?');
}

/* Those of the file's dynamic linkage, for frames without a line. It is read when there is one: a
 * program loads many files that allocate nothing. */
static void find_functions(struct frames *frames, const char *path)
{
    struct symbols *symbols = NULL;
    bool is_read            = false;

    for (size_t i = 0; i < frames->count; i++) {
        struct frame *frame = &frames->list[i];
        const char *offset  = offset_in(frame);
        const char *found   = NULL;

        if ((offset == NULL) || has_line(frame) || (frame->function != NULL) ||
            !is_of(frame, path)) {
            continue;
        }
        symbols = is_read ? symbols : symbols_read(path);
        is_read = true;
        found   = (symbols == NULL) ? NULL : symbols_find(symbols, strtoull(offset, NULL, 16));
        frame->function = (found != NULL) ? strdup(found) : frame->function;
    }
    symbols_free(symbols);
}

/* Without arguments and parameters of templates, which hide the name. */
static void shorten(char *function)
{
    char *to  = function;
    int depth = 0;

    if (strstr(function, "operator") != NULL) {
        return;
    }
    for (const char *at = function; *at != '\0'; at++) {
        depth += ((*at == '<') || (*at == '(')) ? 1 : 0;
        if (depth == 0) {
            *to++ = *at;
        }
        depth -= ((*at == '>') || (*at == ')')) ? 1 : 0;
    }
    *to = '\0';
}

/* The last word of a shortened function: its name, without the type of its result. */
static const char *name_in(const char *function)
{
    const char *blank = strrchr(function, ' ');

    return (blank == NULL) ? function : blank + 1;
}

/* Functions that allocate for others, and those in which every program begins. */
static bool is_plumbing(const char *function)
{
    static const char *const names[] = {
        "std::",          "__gnu_cxx::", "_M_",   "malloc",        "calloc",      "realloc",
        "posix_memalign", "_start",      "clone", "aligned_alloc", "start_thread"};
    const char *name = name_in(function);

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strncmp(name, names[i], strlen(names[i])) == 0) {
            return true;
        }
    }
    return (strstr(function, "operator new") != NULL) || (strstr(function, "__libc_start") != NULL);
}

/* "FUNCTION at FILE:LINE" of the innermost line that is not the system's; NULL: there is none. */
static char *label_by_line(const struct frame *frame)
{
    static const char inlined[] = " (inlined by) ";
    char *copy                  = strdup(frame->lines);
    char *label                 = NULL;

    for (char *line = strtok(copy, "\n"); (line != NULL) && (label == NULL);
         line       = strtok(NULL, "\n")) {
        line += (strncmp(line, inlined, strlen(inlined)) == 0) ? strlen(inlined) : 0;
        label = is_of_system(line) ? NULL : short_name(line, frame);
    }
    free(copy);
    return label;
}

/* The function's name; NULL: it is not known, or says nothing. */
static char *label_by_function(const struct frame *frame)
{
    char *function = NULL;
    char *label    = NULL;

    if (frame->function != NULL) {
        function = strdup(frame->function);
    } else if (frame->lines != NULL) {
        function = strndup(frame->lines, (size_t)(path_in(frame->lines) - 4 - frame->lines));
    }
    if (function != NULL) {
        shorten(function);
        label = is_plumbing(function) ? NULL : strdup(name_in(function));
    }
    free(function);
    return label;
}

/* ---- paths ---- */

enum { PATH_LABELS = 6 };

/* The innermost frames of a site that have labels, each label once. */
struct path {
    const struct frame *frames[PATH_LABELS];
    size_t count;
};

static const struct frame *find_frame(const struct frames *frames, const struct frame *frame)
{
    return bsearch(frame, frames->list, frames->count, sizeof(*frame), by_text);
}

static bool has_label(const struct path *path, const char *label)
{
    size_t i = 0;

    while ((i < path->count) && (strcmp(path->frames[i]->label, label) != 0)) {
        i++;
    }
    return i < path->count;
}

static struct path path_of(const struct frames *frames, const struct site *site)
{
    struct path path = {.count = 0};
    struct frame frame;

    for (const char *at = site->frames; (path.count < PATH_LABELS) && next_frame(&at, &frame);) {
        const struct frame *found = find_frame(frames, &frame);

        if ((found->label != NULL) && !has_label(&path, found->label)) {
            path.frames[path.count++] = found;
        }
    }
    return path;
}

static bool begins_alike(const struct path *a, const struct path *b, size_t count)
{
    size_t i = 0;

    while ((i < count) && (i < a->count) && (i < b->count) &&
           (strcmp(a->frames[i]->label, b->frames[i]->label) == 0)) {
        i++;
    }
    return (i == count) || ((i == a->count) && (i == b->count));
}

static size_t module_length(const struct frame *frame)
{
    const char *colon = memrchr(frame->text, ':', frame->length);

    return (colon == NULL) ? frame->length : (size_t)(colon - frame->text);
}

static bool is_of_same(const struct frame *a, const struct frame *b)
{
    return (module_length(a) == module_length(b)) &&
           (strncmp(a->text, b->text, module_length(a)) == 0);
}

/* "A < B in MODULE < C in ANOTHER"; where that is not enough, with the offsets of its frames. */
static char *join(const struct path *path, size_t count, bool with_offsets)
{
    char *name   = NULL;
    size_t bytes = 0;
    FILE *out    = open_memstream(&name, &bytes);

    for (size_t i = 0; (out != NULL) && (i < count); i++) {
        const struct frame *frame = path->frames[i];
        const char *offset        = with_offsets ? offset_in(frame) : NULL;

        fprintf(out, "%s%s", (i > 0) ? " < " : "", frame->label);
        if (offset != NULL) {
            fprintf(out, "+%.*s", (int)(frame->text + frame->length - offset), offset);
        }
        if (!has_line(frame) && ((i + 1 == count) || !is_of_same(frame, path->frames[i + 1]))) {
            fprintf(out, " in %.*s", (int)module_length(frame), frame->text);
        }
    }
    if (out != NULL) {
        (void)fclose(out);
    }
    return name;
}

/* As many labels as no other site begins with; of one that has all labels of another a few, with
 * offsets. NULL: it has none. */
static char *path_name(const struct path *paths, size_t path_count, size_t site)
{
    enum { OFFSET_LABELS = 3 };
    const struct path *own = &paths[site];
    size_t count           = 1;
    bool alike             = false;

    for (size_t i = 0; i < path_count; i++) {
        while ((i != site) && (count < own->count) && begins_alike(own, &paths[i], count)) {
            count++;
        }
        alike = alike || ((i != site) && begins_alike(own, &paths[i], own->count));
    }
    if (own->count == 0) {
        return NULL;
    }
    if (alike) {
        count = (own->count < OFFSET_LABELS) ? own->count : OFFSET_LABELS;
    }
    return join(own, count, alike);
}

/* ---- names ---- */

/* The frame that no other site has, and that locates it best; NULL: none. */
static const struct frame *best_frame(const struct frames *frames, const struct site *site,
                                      const char *program, int *merit_p)
{
    const struct frame *best = NULL;
    struct frame frame;

    *merit_p = -1;
    for (const char *at = site->frames; next_frame(&at, &frame);) {
        const struct frame *found = find_frame(frames, &frame);

        if ((found->sites == 1) && (merit_of(found, program) > *merit_p)) {
            *merit_p = merit_of(found, program);
            best     = found;
        }
    }
    return best;
}

static char *name_of(const struct frames *frames, const struct profile *profile,
                     const struct path *paths, size_t i)
{
    const struct site *site = &profile->sites[i];
    int merit;
    const struct frame *best = best_frame(frames, site, profile->program, &merit);
    char *name               = NULL;

    if (merit >= MERIT_OWN_LINE) {
        return own_line(frames, best);
    }
    if (paths != NULL) {
        name = path_name(paths, profile->site_count, i);
    }
    if (name != NULL) {
        return name;
    }
    return (best != NULL) ? strndup(best->text, best->length)
                          : strndup(site->frames, strcspn(site->frames, " "));
}

void name_sites(struct profile *profile)
{
    struct frames frames;
    struct path *paths;

    if (!collect(profile, &frames)) {
        return;
    }
    for (size_t i = 0; i < profile->module_count; i++) {
        ask_addr2line(&frames, profile->modules[i],
                      strcmp(profile->modules[i], profile->program) == 0);
        find_functions(&frames, profile->modules[i]);
    }
    for (size_t i = 0; i < frames.count; i++) {
        struct frame *frame = &frames.list[i];

        frame->label = has_line(frame) ? label_by_line(frame) : label_by_function(frame);
    }
    paths = calloc(profile->site_count + 1, sizeof(*paths));
    for (size_t i = 0; (paths != NULL) && (i < profile->site_count); i++) {
        paths[i] = path_of(&frames, &profile->sites[i]);
    }
    for (size_t i = 0; i < profile->site_count; i++) {
        profile->sites[i].name = name_of(&frames, profile, paths, i);
    }
    for (size_t i = 0; i < frames.count; i++) {
        free(frames.list[i].lines);
        free(frames.list[i].function);
        free(frames.list[i].label);
    }
    free(paths);
    free(frames.list);
}
