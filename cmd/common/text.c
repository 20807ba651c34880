/* SPDX-License-Identifier: BSD-3-Clause */
/* text.c: texts on their way out. */

#include "cmd/common/cli.h"
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { INDENT = 4, WIDTH_LEAST = 20, NO_MEMORY = 3 };

/* ---- memory ---- */

static void *check(void *memory)
{
    if (memory == NULL) {
        cli_complain("out of memory");
        exit(NO_MEMORY);
    }
    return memory;
}

void *cli_calloc(size_t count, size_t size_bytes)
{
    return check(calloc((count == 0) ? 1 : count, size_bytes));
}

void *cli_grow(void *array, size_t count, size_t size_bytes)
{
    size_t capacity = (count == 0) ? 4 : (2 * count);

    if ((count != 0) && ((count < 4) || ((count & (count - 1)) != 0))) {
        return array;
    }
    array = check(reallocarray(array, capacity, size_bytes));
    memset((char *)array + (count * size_bytes), 0, (capacity - count) * size_bytes);
    return array;
}

/* ---- one text ---- */

void cli_append(char *text, size_t size_bytes, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;

    va_start(args, format);
    vsnprintf(text + used, size_bytes - used, format, args);
    va_end(args);
}

void cli_clean(char *text)
{
    for (; *text != '\0'; text++) {
        if (((unsigned char)*text < ' ') || ((unsigned char)*text > '~')) {
            *text = '?';
        }
    }
}

struct cli_size cli_size_text(uint64_t size_bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    struct cli_size size;
    double value = (double)size_bytes;
    size_t unit  = 0;

    if (size_bytes == UINT64_MAX) {
        snprintf(size.text, sizeof(size.text), "?");
        return size;
    }
    while ((value >= 1024) && (unit + 1 < sizeof(units) / sizeof(units[0]))) {
        value /= 1024;
        unit++;
    }
    snprintf(size.text, sizeof(size.text), "%.*f %s", (value == (double)(uint64_t)value) ? 0 : 1,
             value, units[unit]);
    return size;
}

/* ---- files ---- */

void cli_put_csv(FILE *file, const char *text)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        fputs(text, file);
        return;
    }
    fputc('"', file);
    for (; *text != '\0'; text++) {
        if (*text == '"') {
            fputc('"', file);
        }
        fputc(*text, file);
    }
    fputc('"', file);
}

void cli_put_xml(FILE *file, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '&':
            fputs("&amp;", file);
            break;
        case '<':
            fputs("&lt;", file);
            break;
        case '>':
            fputs("&gt;", file);
            break;
        case '"':
            fputs("&quot;", file);
            break;
        default:
            fputc(((*text < ' ') || (*text > '~')) ? '?' : *text, file);
        }
    }
}

/* ---- lines ---- */

int cli_width(FILE *file)
{
    const char *columns = cli_environment(CLI_COLUMNS);
    struct winsize size = {0};
    char *end           = NULL;
    long width          = 0;

    if (!isatty(fileno(file))) {
        return 0;
    }
    if (columns != NULL) {
        width = strtol(columns, &end, 10);
    }
    if ((end == columns) || (*end != '\0') || (width > INT_MAX)) {
        width = (ioctl(fileno(file), TIOCGWINSZ, &size) == 0) ? size.ws_col : 0;
    }
    return (width < WIDTH_LEAST) ? ((width <= 0) ? 0 : WIDTH_LEAST) : (int)width;
}

size_t cli_line(const char *text, size_t length, size_t columns)
{
    size_t end = columns;

    if (length <= columns) {
        return length;
    }
    while ((end > 0) && (text[end] != ' ')) {
        end--;
    }
    while ((end > 0) && (text[end - 1] == ' ')) {
        end--;
    }
    return (end == 0) ? columns : end;
}

/* Start of the text in the last column: after the last two blanks before @p end. */
static size_t last_column(const char *line, size_t end)
{
    for (size_t i = end; i > 2; i--) {
        if ((line[i - 1] == ' ') && (line[i - 2] == ' ') && (line[i] != ' ')) {
            return i;
        }
    }
    return 0;
}

static void fold_line(FILE *file, const char *line, size_t length, size_t width)
{
    size_t done   = cli_line(line, length, width);
    size_t indent = last_column(line, done);

    if ((indent == 0) || (indent > width * 2 / 3)) {
        indent = INDENT;
    }
    fwrite(line, 1, done, file);
    for (;;) {
        size_t part;

        while ((done < length) && (line[done] == ' ')) {
            done++;
        }
        if (done == length) {
            break;
        }
        part = cli_line(line + done, length - done, width - indent);
        fprintf(file, "\n%*s", (int)indent, "");
        fwrite(line + done, 1, part, file);
        done += part;
    }
    fputc('\n', file);
}

void cli_fold(FILE *file, const char *text, size_t size_bytes, int width)
{
    size_t at = 0;

    if (width <= 0) {
        fwrite(text, 1, size_bytes, file);
        return;
    }
    while (at < size_bytes) {
        const char *end = memchr(text + at, '\n', size_bytes - at);
        size_t length   = (end != NULL) ? (size_t)(end - (text + at)) : (size_bytes - at);

        fold_line(file, text + at, length, (size_t)width);
        at += length + 1;
    }
}
