/* SPDX-License-Identifier: BSD-3-Clause */
/* words.c: split an expression at its commas. The callers interpret the words. */

#include "cmd/memquery/model/model.h"
#include <stdio.h>
#include <string.h>

/* Length of the word at the start of @p text. */
static size_t word_length(const char *text)
{
    int depth = 0;
    size_t i;

    for (i = 0; (text[i] != '\0') && ((text[i] != ',') || (depth > 0)); i++) {
        depth += (text[i] == '{') ? 1 : ((text[i] == '}') ? -1 : 0);
    }
    return i;
}

static bool is_device(const char *text, int *device_p)
{
    if (strcmp(text, "host") == 0) {
        *device_p = MEMSPAN_HOST;
        return true;
    }
    return text_to_int(text, device_p);
}

static enum words_operator find_operator(const char *text, size_t *at_p, size_t *length_p)
{
    size_t at = strcspn(text, "=<>");

    *at_p     = at;
    *length_p = (text[at] == '\0') ? 0 : 1;
    if (text[at] == '\0') {
        return WORD_ALONE;
    }
    if (text[at] == '=') {
        return WORD_IS;
    }
    if (text[at + 1] == '=') {
        *length_p = 2;
        return (text[at] == '>') ? WORD_AT_LEAST : WORD_AT_MOST;
    }
    return (text[at] == '>') ? WORD_MORE : WORD_LESS;
}

static int add_device(struct words *words, struct word *word, const char *text)
{
    int device;

    if (strcmp(text, "all") == 0) {
        word->every_device = true;
        return EXIT_YES;
    }
    if (!is_device(text, &device)) {
        cli_complain("devices=%s: give device numbers, \"host\" or \"all\"", text);
        return EXIT_USAGE;
    }
    if (words->device_count == WORDS_DEVICES_MAX) {
        cli_complain("more than %d devices in one expression", WORDS_DEVICES_MAX);
        return EXIT_USAGE;
    }
    words->devices[words->device_count++] = device;
    word->device_count++;
    return EXIT_YES;
}

/* Parse one word of the expression. */
static int add_word(struct words *words, const char *text)
{
    struct word *word = (words->count > 0) ? &words->list[words->count - 1] : NULL;
    size_t at;
    size_t length;
    int device;
    enum words_operator op = find_operator(text, &at, &length);

    if ((word != NULL) && (strcmp(word->key, "devices") == 0) && (word->op == WORD_IS) &&
        (op == WORD_ALONE) && is_device(text, &device)) {
        return add_device(words, word, text);
    }
    if (words->count == WORDS_MAX) {
        cli_complain("more than %d words in one expression", WORDS_MAX);
        return EXIT_USAGE;
    }
    word  = &words->list[words->count++];
    *word = (struct word){.op = op, .device_first = words->device_count};
    if ((at == 0) || (at >= sizeof(word->key)) ||
        (strlen(text + at + length) >= sizeof(word->value)) ||
        ((op != WORD_ALONE) && (text[at + length] == '\0'))) {
        cli_complain("\"%.80s\" is neither WORD, KEY=VALUE nor KEY>=VALUE", text);
        return EXIT_USAGE;
    }
    memcpy(word->key, text, at);
    strcpy(word->value, text + at + length);
    if ((strcmp(word->key, "devices") == 0) && (op == WORD_IS)) {
        return add_device(words, word, word->value);
    }
    return EXIT_YES;
}

int words_parse(const char *text, struct words *words_p)
{
    char word[256];

    memset(words_p, 0, sizeof(*words_p));
    for (;;) {
        size_t length = word_length(text);
        int code;

        if (length >= sizeof(word)) {
            cli_complain("\"%.40s...\" is too long for a word", text);
            return EXIT_USAGE;
        }
        memcpy(word, text, length);
        word[length] = '\0';
        if (length == 0) {
            cli_complain("a word is missing%s%s", (*text == ',') ? " before " : "",
                         (*text == ',') ? text : "");
            return EXIT_USAGE;
        }
        code = add_word(words_p, word);
        if ((code != EXIT_YES) || (text[length] == '\0')) {
            return code;
        }
        text += length + 1;
    }
}
