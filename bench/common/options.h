/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_OPTIONS_H
#define MEMSPAN_BENCH_OPTIONS_H

/* Command-line options as a table: one row an option, from which the parser and --help are made.
 * "--name value" and "--name=value" are the same; the order of options never matters; the last of
 * two settles it, but for those that collect texts. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define BENCH_COUNTS_MAX 16

/* A list of counts: "1m,10m". */
struct bench_counts {
    size_t values[BENCH_COUNTS_MAX];
    size_t count;
};

#define BENCH_TEXTS_MAX 8

/* Texts of an option that may be given several times. */
struct bench_texts {
    const char *values[BENCH_TEXTS_MAX];
    size_t count;
};

/* A choice of words out of a list, as bits. */
struct bench_choice {
    const char *const *words;
    size_t word_count;
    unsigned mask;
};

enum bench_option_form {
    BENCH_OPTION_SET,    /* bool: true when given, takes no value */
    BENCH_OPTION_CLEAR,  /* bool: false when given, takes no value */
    BENCH_OPTION_COUNT,  /* size_t, with k m g t (powers of 1024), within min .. max */
    BENCH_OPTION_COUNTS, /* struct bench_counts, each within min .. max, none twice */
    BENCH_OPTION_DEVICE, /* int: a device number, or "host" (-1) */
    BENCH_OPTION_CHOICE, /* struct bench_choice: words separated by commas */
    BENCH_OPTION_TEXT,   /* const char *: not empty */
    BENCH_OPTION_TEXTS   /* struct bench_texts: each time one more, not empty */
};

struct bench_option {
    const char *name; /* without the dashes */
    enum bench_option_form form;
    void *value;       /* what the form says */
    const char *shape; /* how --help shows the value; NULL where there is none */
    const char *help;  /* NULL hides the option from --help */
    size_t min;
    size_t max;
    bool given; /* out: it was on the command line */
};

/* Read @p arguments into the values of @p options. False after writing to standard error which
 * argument is wrong and why; some values may then have been set. */
bool bench_options_parse(struct bench_option *options, size_t option_count, int argument_count,
                         char *const *arguments);

/* The option with that name, or NULL. */
struct bench_option *bench_options_find(struct bench_option *options, size_t option_count,
                                        const char *name);

/* A line for each option that has a help text. */
void bench_options_print(FILE *stream, const struct bench_option *options, size_t option_count);

#endif /* MEMSPAN_BENCH_OPTIONS_H */
