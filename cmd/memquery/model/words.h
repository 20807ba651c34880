/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_WORDS_H
#define MEMQUERY_WORDS_H

/* The words of --plan and --check: "devices=0,host,memory_access=managed,size>=1g". */

#include <stdbool.h>
#include <stddef.h>

enum words_operator { WORD_ALONE, WORD_IS, WORD_AT_LEAST, WORD_AT_MOST, WORD_MORE, WORD_LESS };

enum { WORDS_MAX = 64, WORDS_DEVICES_MAX = 256 };

struct word {
    char key[64];
    enum words_operator op;
    char value[96];      /* "" without a value; of devices=: its first device */
    size_t device_first; /* of devices=: start of its list in words.devices */
    size_t device_count;
    bool every_device; /* devices=all */
};

struct words {
    struct word list[WORDS_MAX];
    size_t count;
    int devices[WORDS_DEVICES_MAX]; /* all lists, concatenated */
    size_t device_count;
};

/* EXIT_YES, or EXIT_USAGE after a message. Commas within braces do not separate (space names
 * have them); numbers and "host" after devices= belong to its list. */
int words_parse(const char *text, struct words *words_p);

#endif /* MEMQUERY_WORDS_H */
