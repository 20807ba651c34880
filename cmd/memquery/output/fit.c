/* SPDX-License-Identifier: BSD-3-Clause */
/* fit.c: folding of lines. Tables are as wide as their words; only this file knows the terminal. */

#include "cmd/memquery/output/output.h"
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { INDENT = 4, WIDTH_LEAST = 20 };

int fit_width(void)
{
    const char *columns = cli_environment(CLI_COLUMNS);
    struct winsize size = {0};
    int width           = 0;

    if (!isatty(STDOUT_FILENO)) {
        return 0;
    }
    if ((columns == NULL) || !text_to_int(columns, &width)) {
        width = (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) ? size.ws_col : 0;
    }
    return (width < WIDTH_LEAST) ? ((width <= 0) ? 0 : WIDTH_LEAST) : width;
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

/* Bytes of the text that fit that many columns; a longer word is cut. */
static size_t take(const char *text, size_t length, size_t room)
{
    size_t end = room;

    if (length <= room) {
        return length;
    }
    while ((end > 0) && (text[end] != ' ')) {
        end--;
    }
    while ((end > 0) && (text[end - 1] == ' ')) {
        end--;
    }
    return (end == 0) ? room : end;
}

static void write_line(FILE *file, const char *line, size_t length, size_t width)
{
    size_t done   = take(line, length, width);
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
        part = take(line + done, length - done, width - indent);
        fprintf(file, "\n%*s", (int)indent, "");
        fwrite(line + done, 1, part, file);
        done += part;
    }
    fputc('\n', file);
}

void fit_write(FILE *file, const char *text, size_t size_bytes, int width)
{
    size_t at = 0;

    if (width <= 0) {
        fwrite(text, 1, size_bytes, file);
        return;
    }
    while (at < size_bytes) {
        const char *end = memchr(text + at, '\n', size_bytes - at);
        size_t length   = (end != NULL) ? (size_t)(end - (text + at)) : (size_bytes - at);

        write_line(file, text + at, length, (size_t)width);
        at += length + 1;
    }
}
