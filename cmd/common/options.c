/* SPDX-License-Identifier: BSD-3-Clause */
/* options.c: the parser of command lines. */

#include "cmd/common/cli.h"
#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE_SHOWN_MAX = 80, LEFT_MAX = 26, LINE_MAX_COLUMNS = 100 };

/* ---- names ---- */

/* The next spelling at or behind *@p at_p, which moves on; its length, 0 at the end. */
static size_t next_name(const char **at_p, const char **name_p)
{
    *at_p += strspn(*at_p, " |");
    *name_p = *at_p;
    *at_p += strcspn(*at_p, " |");
    return (size_t)(*at_p - *name_p);
}

static bool has_name(const struct cli_option *option, const char *word, size_t length)
{
    const char *at = (option->names != NULL) ? option->names : "";
    const char *name;
    size_t name_length;

    while ((name_length = next_name(&at, &name)) != 0) {
        if ((name_length == length) && (strncmp(name, word, length) == 0)) {
            return true;
        }
    }
    return false;
}

/* The spelling in messages: the last one shown, which is the long one. */
static const char *main_name(const struct cli_option *option, int *length_p)
{
    const char *at    = option->names;
    const char *end   = at + strcspn(at, "|");
    const char *first = at;
    const char *name;
    size_t length;

    *length_p = (int)next_name(&at, &first);
    while (((length = next_name(&at, &name)) != 0) && (name < end)) {
        if (strncmp(name, "--", 2) == 0) {
            first     = name;
            *length_p = (int)length;
        }
    }
    return first;
}

static bool takes_value(const struct cli_option *option)
{
    return (option->shape != NULL) && (option->form != CLI_TITLE);
}

static bool needs_value(const struct cli_option *option)
{
    return takes_value(option) && (option->shape[0] != '[');
}

/* ---- values ---- */

/* A part of a value: from a comma to the next. */
struct word {
    const char *text;
    size_t length;
};

static bool refuse_word(const struct cli_option *option, struct word word, const char *reason)
{
    int name_length;
    const char *name = main_name(option, &name_length);

    cli_complain("%.*s: \"%.*s\" %s", name_length, name,
                 (int)((word.length < VALUE_SHOWN_MAX) ? word.length : VALUE_SHOWN_MAX), word.text,
                 reason);
    return false;
}

bool cli_refuse(const struct cli_option *option, const char *value, const char *format, ...)
{
    char reason[512];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(reason, sizeof(reason), format, args);
    va_end(args);
    return refuse_word(option, (struct word){value, strlen(value)}, reason);
}

static bool check_range(const struct cli_option *option, struct word word, double value)
{
    char reason[96];

    if ((value >= option->min) && (value <= option->max)) {
        return true;
    }
    (void)snprintf(reason, sizeof(reason), "is out of range: %.10g to %.10g", option->min,
                   option->max);
    return refuse_word(option, word, reason);
}

/* Digits at the start of @p word; false where there are none. More than fit become SIZE_MAX. */
static bool read_digits(struct word word, size_t *value_p, size_t *used_p)
{
    size_t value = 0;
    size_t i;

    for (i = 0; (i < word.length) && isdigit((unsigned char)word.text[i]); i++) {
        size_t digit = (size_t)(word.text[i] - '0');
        value        = (value > (SIZE_MAX - digit) / 10) ? SIZE_MAX : (value * 10 + digit);
    }
    *value_p = value;
    *used_p  = i;
    return i > 0;
}

bool cli_read_size(const char *text, size_t length, size_t *size_p)
{
    static const char units[] = "kmgt";
    struct word word          = {text, length};
    const char *unit          = NULL;
    size_t value;
    size_t used;

    if (!read_digits(word, &value, &used)) {
        return false;
    }
    if (used + 1 == length) {
        unit = memchr(units, tolower((unsigned char)text[used]), sizeof(units) - 1);
    }
    if ((used != length) && (unit == NULL)) {
        return false;
    }
    if (unit != NULL) {
        unsigned shift = 10 * (unsigned)(unit - units + 1);
        value          = (value > (SIZE_MAX >> shift)) ? SIZE_MAX : (value << shift);
    }
    *size_p = value;
    return true;
}

static bool read_count(const struct cli_option *option, struct word word, size_t *count_p)
{
    size_t value;

    if (!cli_read_size(word.text, word.length, &value)) {
        return refuse_word(option, word, "is not a count: digits, then k, m, g or t");
    }
    if (!check_range(option, word, (double)value)) {
        return false;
    }
    *count_p = value;
    return true;
}

static bool read_number(const struct cli_option *option, const char *text, int *number_p)
{
    struct word word = {text, strlen(text)};
    size_t value;
    size_t used;

    if (!read_digits(word, &value, &used) || (used != word.length)) {
        return refuse_word(option, word, "is not a number");
    }
    if (!check_range(option, word, (double)value)) {
        return false;
    }
    *number_p = (int)value;
    return true;
}

static bool read_device(const struct cli_option *option, const char *text, int *device_p)
{
    struct cli_option bounded = *option;

    if ((strcmp(text, "host") == 0) || (strcmp(text, "-1") == 0)) {
        *device_p = -1;
        return true;
    }
    bounded.max = INT_MAX;
    return read_number(&bounded, text, device_p);
}

static bool read_seconds(const struct cli_option *option, const char *text, double *seconds_p)
{
    struct word word = {text, strlen(text)};
    char *end;
    double seconds = strtod(text, &end);

    if ((end == text) || (*end != '\0') || !isfinite(seconds)) {
        return refuse_word(option, word, "is not a time in seconds");
    }
    if (!check_range(option, word, seconds)) {
        return false;
    }
    *seconds_p = seconds;
    return true;
}

static bool add_count(const struct cli_option *option, struct word word, struct cli_counts *counts)
{
    size_t value;

    if (!read_count(option, word, &value)) {
        return false;
    }
    for (size_t i = 0; i < counts->count; i++) {
        if (counts->values[i] == value) {
            return refuse_word(option, word, "is listed twice");
        }
    }
    if (counts->count == CLI_COUNTS_MAX) {
        return refuse_word(option, word, "is one too many: 16 at most");
    }
    counts->values[counts->count++] = value;
    return true;
}

static bool find_word(const struct cli_option *option, struct word word, int *index_p)
{
    char reason[1024] = "is not one of ";

    for (int i = 0; option->words[i] != NULL; i++) {
        size_t used = strlen(reason);

        if ((strlen(option->words[i]) == word.length) &&
            (strncmp(option->words[i], word.text, word.length) == 0)) {
            *index_p = i;
            return true;
        }
        (void)snprintf(reason + used, sizeof(reason) - used, "%s%s", (i == 0) ? "" : ", ",
                       option->words[i]);
    }
    return refuse_word(option, word, reason);
}

static bool add_word(const struct cli_option *option, struct word word, unsigned *mask)
{
    int index;

    if (!find_word(option, word, &index)) {
        return false;
    }
    *mask |= 1u << index;
    return true;
}

static bool read_list(const struct cli_option *option, const char *text)
{
    const char *rest = text;

    if (option->form == CLI_COUNTS) {
        ((struct cli_counts *)option->value)->count = 0;
    } else {
        *(unsigned *)option->value = 0;
    }
    while (rest != NULL) {
        struct word word = {rest, strcspn(rest, ",")};

        rest = (rest[word.length] == ',') ? (rest + word.length + 1) : NULL;
        if (!((option->form == CLI_COUNTS) ? add_count(option, word, option->value)
                                           : add_word(option, word, option->value))) {
            return false;
        }
    }
    return true;
}

static bool read_text(const struct cli_option *option, const char *text)
{
    struct cli_texts *texts = option->value;
    struct word word        = {text, strlen(text)};

    if (word.length == 0) {
        return refuse_word(option, word, "is empty");
    }
    if (option->form == CLI_TEXT) {
        *(const char **)option->value = text;
        return true;
    }
    if (texts->count == CLI_TEXTS_MAX) {
        return refuse_word(option, word, "is one too many: 8 at most");
    }
    texts->values[texts->count++] = text;
    return true;
}

bool cli_read_value(const struct cli_option *option, const char *value)
{
    if (option->given != NULL) {
        *option->given = true;
    }
    if ((value == NULL) && takes_value(option)) {
        return true; /* a value that may be left out */
    }
    switch (option->form) {
    case CLI_CONSTANT:
        *(int *)option->value = option->constant;
        return true;
    case CLI_SET:
    case CLI_CLEAR:
        *(bool *)option->value = (option->form == CLI_SET);
        return true;
    case CLI_NUMBER:
        return read_number(option, value, option->value);
    case CLI_DEVICE:
        return read_device(option, value, option->value);
    case CLI_COUNT:
        return read_count(option, (struct word){value, strlen(value)}, option->value);
    case CLI_SECONDS:
        return read_seconds(option, value, option->value);
    case CLI_WORD:
        return find_word(option, (struct word){value, strlen(value)}, option->value);
    case CLI_COUNTS:
    case CLI_WORDS:
        return read_list(option, value);
    case CLI_TEXT:
    case CLI_TEXTS:
        return read_text(option, value);
    case CLI_CALL:
        return option->read(option, value);
    case CLI_IGNORED:
    case CLI_VERSION:
    case CLI_HELP:
    case CLI_TITLE:
        break;
    }
    return true;
}

/* ---- help ---- */

/* The words of @p text in lines that begin at column @p indent. */
static void print_wrapped(const char *text, int indent)
{
    while (*text != '\0') {
        size_t length = cli_line(text, strlen(text), (size_t)(LINE_MAX_COLUMNS - indent));

        printf("%.*s\n", (int)length, text);
        text += length;
        text += strspn(text, " ");
        printf("%*s", (*text == '\0') ? 0 : indent, "");
    }
}

/* The text left of an option's help; its length. */
static int format_left(const struct cli_option *option, bool has_letters, char *left, size_t size)
{
    const char *at  = option->names;
    const char *end = at + strcspn(at, "|");
    const char *separator;
    const char *name;
    size_t length;
    int used;

    used = snprintf(left, size, "  %s",
                    (has_letters && (strncmp(option->names, "--", 2) == 0)) ? "    " : "");
    for (separator = ""; ((length = next_name(&at, &name)) != 0) && (name < end);
         separator = ", ") {
        used += snprintf(left + used, size - (size_t)used, "%s%.*s", separator, (int)length, name);
    }
    if (takes_value(option)) {
        used += snprintf(left + used, size - (size_t)used, "%s%s",
                         (option->shape[0] == '[') ? "" : " ", option->shape);
    }
    return used;
}

static void print_options(const struct cli_usage *usage)
{
    bool has_letters = false;
    int indent       = 0;
    char left[128];

    for (size_t i = 0; i < usage->option_count; i++) {
        const struct cli_option *option = &usage->options[i];

        has_letters = has_letters || ((option->help != NULL) && (option->names != NULL) &&
                                      (option->names[1] != '-'));
    }
    for (size_t i = 0; i < usage->option_count; i++) {
        const struct cli_option *option = &usage->options[i];

        if ((option->help != NULL) && (option->form != CLI_TITLE)) {
            int used = format_left(option, has_letters, left, sizeof(left)) + 2;
            indent   = ((used > indent) && (used <= LEFT_MAX)) ? used : indent;
        }
    }
    for (size_t i = 0; i < usage->option_count; i++) {
        const struct cli_option *option = &usage->options[i];
        int used;

        if (option->help == NULL) {
            continue;
        }
        if (option->form == CLI_TITLE) {
            printf("\n%s\n", option->help);
            continue;
        }
        used = format_left(option, has_letters, left, sizeof(left));
        printf("%s%s%*s", left, (used + 2 > indent) ? "\n" : "",
               (used + 2 > indent) ? indent : (indent - used), "");
        print_wrapped(option->help, indent);
    }
}

void cli_print_help(const struct cli_usage *usage)
{
    printf("usage: %s %s\n", cli_name, usage->synopsis);
    if (usage->summary != NULL) {
        printf("%s\n", usage->summary);
    }
    if ((usage->option_count > 0) && (usage->options[0].form != CLI_TITLE)) {
        printf("\nOptions:\n");
    }
    print_options(usage);
    cli_environment_print();
    if (usage->notes != NULL) {
        printf("\n%s", usage->notes);
    }
}

/* --complete, which shells call for completions: NAMES|SHAPE|WORDS|HELP of each option. */
static void print_completions(const struct cli_usage *usage)
{
    for (size_t i = 0; i < usage->option_count; i++) {
        const struct cli_option *option = &usage->options[i];

        if ((option->help == NULL) || (option->form == CLI_TITLE)) {
            continue;
        }
        printf("%.*s|%s|",
               (int)(strstr(option->names, " |") != NULL ? strcspn(option->names, "|") - 1
                                                         : strlen(option->names)),
               option->names, takes_value(option) ? option->shape : "");
        for (size_t k = 0; (option->words != NULL) && (option->words[k] != NULL); k++) {
            printf("%s%s", (k == 0) ? "" : " ", option->words[k]);
        }
        printf("|%s\n", option->help);
    }
}

/* ---- the command line ---- */

static const struct cli_option *find_option(const struct cli_usage *usage, const char *word,
                                            size_t length)
{
    for (size_t i = 0; i < usage->option_count; i++) {
        if (has_name(&usage->options[i], word, length)) {
            return &usage->options[i];
        }
    }
    return NULL;
}

static enum cli_outcome refuse_unknown(const struct cli_usage *usage, const char *word,
                                       size_t length)
{
    enum { NAMES_MAX = 64 };
    char texts[NAMES_MAX][32];
    const char *names[NAMES_MAX];
    const char *nearest;
    size_t count = 0;
    char unknown[64];

    if (word[0] != '-') {
        char hint[256] = "";

        if (usage->operand_hint != NULL) {
            int used = snprintf(hint, sizeof(hint), "; did you mean ");
            (void)snprintf(hint + used, sizeof(hint) - (size_t)used, "%s %s?", usage->operand_hint,
                           word);
        }
        cli_complain("unexpected argument \"%s\"%s (see --help)", word, hint);
        return CLI_REFUSED;
    }
    for (size_t i = 0; (i < usage->option_count) && (count < NAMES_MAX); i++) {
        if ((usage->options[i].names != NULL) && (usage->options[i].help != NULL)) {
            int name_length;
            const char *name = main_name(&usage->options[i], &name_length);

            (void)snprintf(texts[count], sizeof(texts[0]), "%.*s", name_length, name);
            names[count] = texts[count];
            count++;
        }
    }
    (void)snprintf(unknown, sizeof(unknown), "%.*s", (int)length, word);
    nearest = cli_nearest(unknown, names, count);
    cli_complain("unknown option %s%s%s%s (see --help)", unknown,
                 (nearest != NULL) ? "; did you mean " : "", (nearest != NULL) ? nearest : "",
                 (nearest != NULL) ? "?" : "");
    return CLI_REFUSED;
}

/* The words behind the first one, of an option that takes several. */
static bool read_others(const struct cli_option *option, int argc, char *const *argv, int *at_p)
{
    for (int i = 1; i < option->values; i++) {
        if (*at_p + 1 == argc) {
            int length;
            const char *name = main_name(option, &length);

            cli_complain("%.*s needs %d values: %s (see --help)", length, name, option->values,
                         option->shape);
            return false;
        }
        if (!cli_read_value(option, argv[++*at_p])) {
            return false;
        }
    }
    return true;
}

/* One option and its value; *@p at_p moves on when the value is the next word. */
static enum cli_outcome parse_one(const struct cli_usage *usage, int argc, char *const *argv,
                                  int *at_p)
{
    const char *word                = argv[*at_p];
    size_t length                   = strcspn(word, "=");
    const char *value               = (word[length] == '=') ? (word + length + 1) : NULL;
    const struct cli_option *option = find_option(usage, word, length);

    if ((option == NULL) && (word[0] == '-') && (word[1] != '-') && (word[1] != '\0')) {
        option = find_option(usage, word, 2);
        option = ((option != NULL) && needs_value(option)) ? option : NULL;
        value  = word + 2;
        length = (option != NULL) ? 2 : length;
    }
    if (option == NULL) {
        return refuse_unknown(usage, word, length);
    }
    if ((value != NULL) && !takes_value(option)) {
        cli_complain("%.*s takes no value", (int)length, word);
        return CLI_REFUSED;
    }
    if ((value == NULL) && needs_value(option)) {
        if (*at_p + 1 == argc) {
            cli_complain("%s needs a value: %s (see --help)", word, option->shape);
            return CLI_REFUSED;
        }
        value = argv[++*at_p];
    }
    if (option->form == CLI_HELP) {
        cli_print_help(usage);
        return CLI_SHOWN;
    }
    if (option->form == CLI_VERSION) {
        printf("%s %s\n", cli_name, usage->version);
        return CLI_SHOWN;
    }
    return (cli_read_value(option, value) && read_others(option, argc, argv, at_p)) ? CLI_PARSED
                                                                                    : CLI_REFUSED;
}

enum cli_outcome cli_parse(const struct cli_usage *usage, int argc, char *const *argv,
                           int *operand_p)
{
    int i;

    if ((argc == 2) && (strcmp(argv[1], "--complete") == 0)) {
        print_completions(usage);
        return CLI_SHOWN;
    }
    for (i = 1; i < argc; i++) {
        enum cli_outcome outcome;

        if (usage->has_operands && (strcmp(argv[i], "--") == 0)) {
            i++;
            break;
        }
        if (usage->has_operands && (argv[i][0] != '-')) {
            break;
        }
        outcome = parse_one(usage, argc, argv, &i);
        if (outcome != CLI_PARSED) {
            return outcome;
        }
    }
    if (operand_p != NULL) {
        *operand_p = i;
    }
    return CLI_PARSED;
}
