/* SPDX-License-Identifier: BSD-3-Clause */
/* placement.c: the file is read once; a call stack is compared with its sites once, and the answer
 * is kept in a table by the stack's record.
 *
 * Invariant: the sites do not change after the watch flag is set. */

#include "core/debug/placement.h"
#include "core/base/option.h"
#include "core/base/platform.h"
#include "core/base/text.h"
#include "core/debug/call_stack.h"
#include "core/debug/follow.h"
#include "core/debug/watch.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_BYTES_MAX = 4 << 20, KNOWN = 1 << 10, ALLOCATOR_MASK = 15 };

static const char first_line[] = "memspan-placement 1";

static const struct {
    const char *word;
    memspan_allocator_h allocator;
} spaces[] = {
    {"default", MEMSPAN_ALLOCATOR_DEFAULT},
    {"large_cap", MEMSPAN_ALLOCATOR_LARGE_CAP},
    {"high_bw", MEMSPAN_ALLOCATOR_HIGH_BW},
    {"low_lat", MEMSPAN_ALLOCATOR_LOW_LAT},
};

enum { SPACE_COUNT = sizeof(spaces) / sizeof(spaces[0]) };

static struct msp_placement placement;

/* By stack: its record's address, whose low bits are the number of its allocator. */
static atomic_uintptr_t known[KNOWN] MSP_SPARSE;

/* ---- the text ---- */

const char *msp_placement_word(size_t index)
{
    return (index < SPACE_COUNT) ? spaces[index].word : NULL;
}

__attribute__((format(printf, 4, 5))) static bool refuse(char *problem, size_t problem_bytes,
                                                         size_t line, const char *format, ...)
{
    size_t used = 0;
    char reason[256];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(reason, sizeof(reason), format, args);
    va_end(args);
    problem[0] = '\0';
    msp_text_append(problem, problem_bytes, &used, "line %zu: %s", line, reason);
    return false;
}

/* MODULE:BUILD+0xOFFSET, of @p length characters. */
static bool is_frame(const char *frame, size_t length)
{
    size_t digits = 0;

    while ((digits < length) && (strchr("0123456789abcdef", frame[length - 1 - digits]) != NULL)) {
        digits++;
    }
    length -= digits;
    return (digits > 0) && (length > 3) && (memcmp(frame + length - 3, "+0x", 3) == 0) &&
           (memchr(frame, ':', length - 3) != NULL);
}

/* "SPACE FRAME..." without a comment and blanks at its end. */
static bool parse_site(char *text, struct msp_placed_site *site_p, size_t line, char *problem,
                       size_t problem_bytes)
{
    size_t length = strcspn(text, " ");
    size_t space  = 0;

    while ((space < SPACE_COUNT) && ((strlen(spaces[space].word) != length) ||
                                     (memcmp(spaces[space].word, text, length) != 0))) {
        space++;
    }
    if (space == SPACE_COUNT) {
        return refuse(problem, problem_bytes, line,
                      "\"%.*s\" is no space: default, large_cap, high_bw or low_lat",
                      (length < 40) ? (int)length : 40, text);
    }
    site_p->allocator = spaces[space].allocator;
    site_p->frames    = text + length + ((text[length] == '\0') ? 0 : 1);
    for (const char *frame = site_p->frames;; frame += length + 1) {
        length = strcspn(frame, " ");
        if (!is_frame(frame, length)) {
            return refuse(problem, problem_bytes, line, "\"%.*s\" is no MODULE:BUILD+0xOFFSET",
                          (length < 80) ? (int)length : 80, frame);
        }
        if (frame[length] == '\0') {
            return true;
        }
    }
}

/* The line that begins at @p text without its comment and blanks at its end; @p next_p: the line
 * after it, or NULL. */
static char *cut_line(char *text, char **next_p)
{
    char *end = strchrnul(text, '\n');

    *next_p = (*end == '\0') ? NULL : end + 1;
    *end    = '\0';
    end     = strchrnul(text, '#');
    while ((end > text) && ((end[-1] == ' ') || (end[-1] == '\r') || (end[-1] == '\t'))) {
        end--;
    }
    *end = '\0';
    return text;
}

bool msp_placement_parse(char *text, struct msp_placement *placement_p, char *problem,
                         size_t problem_bytes)
{
    struct msp_placement made = {0};
    bool begun                = false;
    size_t number             = 1;
    size_t lines              = 1;
    char *next;

    for (const char *c = text; *c != '\0'; c++) {
        lines += (*c == '\n') ? 1 : 0;
    }
    made.sites = calloc(lines, sizeof(*made.sites));
    if (made.sites == NULL) {
        return refuse(problem, problem_bytes, 1, "no memory for %zu lines", lines);
    }
    for (; text != NULL; text = next, number++) {
        const char *line = cut_line(text, &next);

        if (line[0] == '\0') {
            continue;
        }
        if (!begun && (strcmp(line, first_line) != 0)) {
            (void)refuse(problem, problem_bytes, number, "\"%s\" is missing", first_line);
            goto err_free;
        }
        if (begun && !parse_site(text, &made.sites[made.count++], number, problem, problem_bytes)) {
            goto err_free;
        }
        begun = true;
    }
    if (begun) {
        *placement_p = made;
        return true;
    }
    (void)refuse(problem, problem_bytes, number - 1, "\"%s\" is missing", first_line);
err_free:
    free(made.sites);
    return false;
}

/* ---- the file ---- */

/* The whole file, and a null; NULL with the reason. */
static char *read_file(const char *path, const char **problem_p)
{
    int fd     = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe is refused below */
    char *text = NULL;
    struct stat facts;
    ssize_t n;

    if ((fd < 0) || (fstat(fd, &facts) != 0)) {
        *problem_p = strerror(errno);
    } else if (!S_ISREG(facts.st_mode)) {
        *problem_p = "it is no regular file; a pipe, for one, has been read by the first process";
    } else if (facts.st_size > FILE_BYTES_MAX) {
        *problem_p = strerror(EFBIG);
    } else {
        text = calloc((size_t)facts.st_size + 1, 1);
        n    = (text == NULL) ? -1 : read(fd, text, (size_t)facts.st_size);
        if (n < 0) {
            *problem_p = strerror(errno);
            free(text);
            text = NULL;
        }
    }
    if (fd >= 0) {
        close(fd);
    }
    return text;
}

/* A module of the file that is loaded in another build. */
struct stale {
    const char *frames;
    char module[MSP_MODULE_BYTES];
};

static void compare_module(void *data, const char *module)
{
    struct stale *stale = data;
    size_t name         = strcspn(module, ":") + 1;
    const char *frame   = stale->frames;

    while (frame[0] != '\0') {
        if ((strncmp(frame, module, name) == 0) && (strncmp(frame, module, strlen(module)) != 0)) {
            (void)snprintf(stale->module, sizeof(stale->module), "%.*s", (int)name - 1, module);
        }
        frame += strcspn(frame, " ");
        frame += strspn(frame, " ");
    }
}

void msp_placement_start(void)
{
    const char *path   = msp_option_text(MSP_OPTION_PLACEMENT);
    const char *reason = NULL;
    char problem[320];
    char *text;

    if (path[0] == '\0') {
        return;
    }
    if ((strcmp(path, "auto") == 0) || (strcmp(path, "auto,force") == 0)) {
        msp_follow_start(strcmp(path, "auto,force") == 0);
        return;
    }
    text = read_file(path, &reason);
    if (text == NULL) {
        msp_option_refuse(MSP_OPTION_PLACEMENT, "%s: %s", path, reason);
        return;
    }
    if (!msp_placement_parse(text, &placement, problem, sizeof(problem))) {
        msp_option_refuse(MSP_OPTION_PLACEMENT, "%s, %s", path, problem);
        free(text);
        return;
    }
    for (size_t i = 0; i < placement.count; i++) {
        struct stale stale = {.frames = placement.sites[i].frames};

        msp_call_site_modules(compare_module, &stale);
        if (stale.module[0] != '\0') {
            msp_option_refuse(MSP_OPTION_PLACEMENT, "%s was made for another build of %s", path,
                              stale.module);
            goto unused;
        }
    }
    if (placement.count > 0) {
        msp_watch_set(MSP_WATCH_PLACEMENT, true);
        return;
    }
unused:
    free(placement.sites);
    placement = (struct msp_placement){0};
    free(text);
}

/* ---- look-up ---- */

static memspan_allocator_h compare_sites(const struct msp_call_stack *stack)
{
    char site[MEMSPAN_CALL_SITE_BYTES];

    msp_call_site_print(stack, site, sizeof(site));
    for (size_t i = 0; i < placement.count; i++) {
        if (strcmp(site, placement.sites[i].frames) == 0) {
            return placement.sites[i].allocator;
        }
    }
    return MEMSPAN_ALLOCATOR_NULL;
}

memspan_allocator_h memspan_placement_find(void)
{
    const struct msp_call_stack *stack;
    atomic_uintptr_t *entry;
    uintptr_t value;

    msp_watch_start();
    if (msp_following()) {
        return MEMSPAN_ALLOCATOR_DEFAULT;
    }
    stack = msp_placing() ? msp_call_site_stack() : NULL;
    if (stack == NULL) {
        return MEMSPAN_ALLOCATOR_NULL;
    }
    entry = &known[stack->hash % KNOWN];
    value = atomic_load_explicit(entry, memory_order_relaxed);
    if ((value & ~(uintptr_t)ALLOCATOR_MASK) != (uintptr_t)stack) {
        value = (uintptr_t)stack | (uintptr_t)compare_sites(stack);
        atomic_store_explicit(entry, value, memory_order_relaxed);
    }
    return (memspan_allocator_h)(value & ALLOCATOR_MASK);
}
