/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CMD_COMMON_OPTIONS_H
#define CMD_COMMON_OPTIONS_H

/* The command line as a table: a row an option, from which parser and --help are made. Not
 * getopt_long(), which guesses abbreviations and cannot say which option was probably meant.
 *
 * "--name value" and "--name=value" are the same; a single letter may have its value attached
 * ("-n4"). The order of options does not matter; the last of two counts. */

#include <stdbool.h>
#include <stddef.h>

/* The form of an option's value, and the type behind cli_option.value. */
enum cli_form {
    CLI_CONSTANT, /* int: becomes cli_option.constant; takes no value */
    CLI_SET,      /* bool: becomes true; takes no value */
    CLI_CLEAR,    /* bool: becomes false; takes no value */
    CLI_NUMBER,   /* int, within min .. max */
    CLI_DEVICE,   /* int: a device number, or "host" (-1) */
    CLI_COUNT,    /* size_t, with k m g t (powers of 1024), within min .. max */
    CLI_COUNTS,   /* struct cli_counts: a list of such, none twice */
    CLI_SECONDS,  /* double, within min .. max */
    CLI_WORD,     /* int: the index of one of the words */
    CLI_WORDS,    /* unsigned: a list of words, as bits */
    CLI_TEXT,     /* const char *, not empty */
    CLI_TEXTS,    /* struct cli_texts: each time one more, not empty */
    CLI_CALL,     /* read() takes the value */
    CLI_IGNORED,  /* accepted, without effect; takes no value */
    CLI_VERSION,  /* prints the program's name and version */
    CLI_HELP,     /* prints the help text */
    CLI_TITLE     /* no option: its help is a heading */
};

enum { CLI_COUNTS_MAX = 16, CLI_TEXTS_MAX = 8 };

struct cli_counts {
    size_t values[CLI_COUNTS_MAX];
    size_t count;
};

struct cli_texts {
    const char *values[CLI_TEXTS_MAX];
    size_t count;
};

struct cli_option {
    const char *names; /* "-o --output"; spellings behind a "|" are accepted, not shown */
    enum cli_form form;
    void *value;
    const char
        *shape;       /* the value in --help; "[=WORDS]": it may be left out; NULL: there is none */
    const char *help; /* NULL keeps the option out of --help */
    const char *const *words; /* NULL at their end */
    double min;
    double max;
    int constant;
    bool *given; /* set when the option is on the command line; or NULL */
    /* CLI_CALL: false after a message. The value is NULL where the option takes none. */
    bool (*read)(const struct cli_option *option, const char *value);
};

struct cli_usage {
    const char *synopsis; /* behind "usage: " */
    const char *summary;  /* what the program does; NULL: none */
    const struct cli_option *options;
    size_t option_count;
    const char *version;
    const char *notes;        /* at the end of --help; NULL: none */
    bool has_operands;        /* options end at the first word that is none, or at "--" */
    const char *operand_hint; /* without operands: the option that takes such a word; NULL: none */
};

enum cli_outcome {
    CLI_PARSED,
    CLI_SHOWN,  /* --help, --version or --complete (for shells): its text is on standard output */
    CLI_REFUSED /* a message has said which word is wrong and why; some values may be set */
};

/* Read @p argv from element 1. With operands, *@p operand_p is the index of the first one;
 * otherwise it may be NULL. */
enum cli_outcome cli_parse(const struct cli_usage *usage, int argc, char *const *argv,
                           int *operand_p);

/* Read the value of one option: what cli_parse() does with the word behind it. */
bool cli_read_value(const struct cli_option *option, const char *value);

/* False after the message "--name: "VALUE" REASON". */
bool cli_refuse(const struct cli_option *option, const char *value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The help text. */
void cli_print_help(const struct cli_usage *usage);

#endif /* CMD_COMMON_OPTIONS_H */
