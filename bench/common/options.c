/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/common/options.h"
#include <ctype.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

/* A part of an argument: from a comma to the next. */
struct word {
    const char *text;
    size_t length;
};

static bool complain(const struct bench_option *option, struct word word, const char *reason)
{
    fprintf(stderr, "--%s: '%.*s' %s\n", option->name, (int)(word.length < 80 ? word.length : 80),
            word.text, reason);
    return false;
}

static bool read_count(const struct bench_option *option, struct word word, size_t *count_p)
{
    static const char units[] = "kmgt";
    size_t value              = 0;
    unsigned shift            = 0;
    size_t i;

    for (i = 0; (i < word.length) && isdigit((unsigned char)word.text[i]); i++) {
        size_t digit = (size_t)(word.text[i] - '0');
        if (value > (SIZE_MAX - digit) / 10) {
            return complain(option, word, "is too large");
        }
        value = value * 10 + digit;
    }
    if (i == 0) {
        return complain(option, word, "is no count (digits, then k, m, g or t)");
    }
    if (i + 1 == word.length) {
        const char *unit = memchr(units, tolower((unsigned char)word.text[i]), sizeof(units) - 1);
        if (unit == NULL) {
            return complain(option, word, "ends in no unit: k, m, g and t are powers of 1024");
        }
        shift = 10 * (unsigned)(unit - units + 1);
        i++;
    }
    if (i != word.length) {
        return complain(option, word, "is no count (digits, then k, m, g or t)");
    }
    if (value > (SIZE_MAX >> shift)) {
        return complain(option, word, "is too large");
    }
    value <<= shift;
    if ((value < option->min) || (value > option->max)) {
        fprintf(stderr, "--%s: %.*s is not within %zu and %zu\n", option->name, (int)word.length,
                word.text, option->min, option->max);
        return false;
    }
    *count_p = value;
    return true;
}

static bool read_device(const struct bench_option *option, struct word word, int *device_p)
{
    struct bench_option bounded = *option;
    size_t number;

    if (strcmp(word.text, "host") == 0 || strcmp(word.text, "-1") == 0) {
        *device_p = -1;
        return true;
    }
    bounded.min = 0;
    bounded.max = INT_MAX;
    if (!read_count(&bounded, word, &number)) {
        return false;
    }
    *device_p = (int)number;
    return true;
}

static bool add_count(const struct bench_option *option, struct word word,
                      struct bench_counts *counts)
{
    size_t value;

    if (!read_count(option, word, &value)) {
        return false;
    }
    for (size_t i = 0; i < counts->count; i++) {
        if (counts->values[i] == value) {
            return complain(option, word, "is in the list twice");
        }
    }
    if (counts->count == BENCH_COUNTS_MAX) {
        return complain(option, word, "is one too many: 16 at most");
    }
    counts->values[counts->count++] = value;
    return true;
}

static bool add_word(const struct bench_option *option, struct word word,
                     struct bench_choice *choice)
{
    for (size_t i = 0; i < choice->word_count; i++) {
        if ((strlen(choice->words[i]) == word.length) &&
            (strncmp(choice->words[i], word.text, word.length) == 0)) {
            choice->mask |= 1u << i;
            return true;
        }
    }
    (void)complain(option, word, "is none of:");
    for (size_t i = 0; i < choice->word_count; i++) {
        fprintf(stderr, "%s %s", (i == 0) ? "   " : ",", choice->words[i]);
    }
    fprintf(stderr, "\n");
    return false;
}

static bool add_text(const struct bench_option *option, struct word word, struct bench_texts *texts)
{
    if (word.length == 0) {
        return complain(option, word, "is empty");
    }
    if (texts->count == BENCH_TEXTS_MAX) {
        return complain(option, word, "is one too many: 8 at most");
    }
    texts->values[texts->count++] = word.text;
    return true;
}

static struct word next_word(const char **rest)
{
    struct word word = {*rest, strcspn(*rest, ",")};

    *rest = (word.text[word.length] == ',') ? word.text + word.length + 1 : NULL;
    return word;
}

static bool read_list(struct bench_option *option, const char *text)
{
    const char *rest = text;

    if (option->form == BENCH_OPTION_COUNTS) {
        ((struct bench_counts *)option->value)->count = 0;
    } else {
        ((struct bench_choice *)option->value)->mask = 0;
    }
    while (rest != NULL) {
        struct word word = next_word(&rest);
        bool good = (option->form == BENCH_OPTION_COUNTS) ? add_count(option, word, option->value)
                                                          : add_word(option, word, option->value);
        if (!good) {
            return false;
        }
    }
    return true;
}

static bool takes_value(const struct bench_option *option)
{
    return (option->form != BENCH_OPTION_SET) && (option->form != BENCH_OPTION_CLEAR);
}

static bool read_value(struct bench_option *option, const char *text)
{
    struct word whole = {text, (text == NULL) ? 0 : strlen(text)};

    option->given = true;
    switch (option->form) {
    case BENCH_OPTION_SET:
    case BENCH_OPTION_CLEAR:
        *(bool *)option->value = (option->form == BENCH_OPTION_SET);
        return true;
    case BENCH_OPTION_COUNT:
        return read_count(option, whole, option->value);
    case BENCH_OPTION_DEVICE:
        return read_device(option, whole, option->value);
    case BENCH_OPTION_COUNTS:
    case BENCH_OPTION_CHOICE:
        return read_list(option, text);
    case BENCH_OPTION_TEXT:
        if (whole.length == 0) {
            return complain(option, whole, "is empty");
        }
        *(const char **)option->value = text;
        return true;
    case BENCH_OPTION_TEXTS:
        return add_text(option, whole, option->value);
    }
    return false;
}

static struct bench_option *find(struct bench_option *options, size_t option_count,
                                 struct word name)
{
    for (size_t i = 0; i < option_count; i++) {
        if ((strlen(options[i].name) == name.length) &&
            (strncmp(options[i].name, name.text, name.length) == 0)) {
            return &options[i];
        }
    }
    return NULL;
}

struct bench_option *bench_options_find(struct bench_option *options, size_t option_count,
                                        const char *name)
{
    return find(options, option_count, (struct word){name, strlen(name)});
}

/* One option and its value; *index_p moves on when the value is the next argument. */
static bool parse_one(struct bench_option *options, size_t option_count, int argument_count,
                      char *const *arguments, int *index_p)
{
    const char *argument = arguments[*index_p];
    const char *equals   = strchr(argument, '=');
    struct word name     = {argument + 2, 0};
    struct bench_option *option;

    if (strncmp(argument, "--", 2) != 0) {
        fprintf(stderr, "'%s' is no option: options begin with --\n", argument);
        return false;
    }
    name.length = (equals == NULL) ? strlen(name.text) : (size_t)(equals - name.text);
    option      = find(options, option_count, name);
    if (option == NULL) {
        fprintf(stderr, "there is no option --%.*s; --help shows them all\n", (int)name.length,
                name.text);
        return false;
    }
    if (!takes_value(option)) {
        if (equals != NULL) {
            fprintf(stderr, "--%s takes no value\n", option->name);
            return false;
        }
        return read_value(option, NULL);
    }
    if (equals != NULL) {
        return read_value(option, equals + 1);
    }
    if (*index_p + 1 == argument_count) {
        fprintf(stderr, "--%s needs a value: %s\n", option->name, option->shape);
        return false;
    }
    ++*index_p;
    return read_value(option, arguments[*index_p]);
}

bool bench_options_parse(struct bench_option *options, size_t option_count, int argument_count,
                         char *const *arguments)
{
    for (int i = 0; i < argument_count; i++) {
        if (!parse_one(options, option_count, argument_count, arguments, &i)) {
            return false;
        }
    }
    return true;
}

void bench_options_print(FILE *stream, const struct bench_option *options, size_t option_count)
{
    for (size_t i = 0; i < option_count; i++) {
        const struct bench_option *option = &options[i];
        if (option->help == NULL) {
            continue;
        }
        fprintf(stream, "  --%s%s%-*s %s\n", option->name, takes_value(option) ? " " : "",
                (int)(22 - strlen(option->name) - (takes_value(option) ? 1 : 0)),
                takes_value(option) ? option->shape : "", option->help);
    }
}
