/* SPDX-License-Identifier: BSD-3-Clause */
/* message.c: lines on standard error, and suggestions for misspelt words. */

#include "cmd/common/cli.h"
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MESSAGE_MAX = 4096, WORD_MAX = 63 };

void cli_complain(const char *format, ...)
{
    char text[MESSAGE_MAX];
    size_t length = (size_t)snprintf(text, sizeof(text) - 1, "%s: ", cli_name);
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text + length, sizeof(text) - 1 - length, format, args);
    va_end(args);
    length         = strlen(text);
    text[length++] = '\n';
    if (write(STDERR_FILENO, text, length) < 0) {
        return; /* standard error is closed */
    }
}

static unsigned least(unsigned a, unsigned b)
{
    return (a < b) ? a : b;
}

/* Levenshtein distance, one row of the table at a time. */
static unsigned distance(const char *a, const char *b)
{
    unsigned row[WORD_MAX + 1];
    size_t a_length = strlen(a);
    size_t b_length = strlen(b);

    if ((a_length > WORD_MAX) || (b_length > WORD_MAX)) {
        return UINT_MAX;
    }
    for (size_t j = 0; j <= b_length; j++) {
        row[j] = (unsigned)j;
    }
    for (size_t i = 1; i <= a_length; i++) {
        unsigned diagonal = row[0];

        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b_length; j++) {
            unsigned above   = row[j];
            unsigned changed = diagonal + ((a[i - 1] == b[j - 1]) ? 0 : 1);

            row[j]   = least(changed, 1 + least(above, row[j - 1]));
            diagonal = above;
        }
    }
    return row[b_length];
}

const char *cli_nearest(const char *word, const char *const *candidates, size_t count)
{
    /* With more than a third of its letters wrong it is another word. */
    unsigned best_distance = 1 + (unsigned)((strlen(word) + 2) / 3);
    const char *best       = NULL;

    for (size_t i = 0; i < count; i++) {
        unsigned d = distance(word, candidates[i]);

        if (d < best_distance) {
            best_distance = d;
            best          = candidates[i];
        }
    }
    return best;
}
