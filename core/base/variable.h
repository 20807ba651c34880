/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_BASE_VARIABLE_H
#define MEMSPAN_CORE_BASE_VARIABLE_H

/* Environment variables: a row of a table, the value of one, and the only reader of the
 * environment. No state: the tables of both libraries (core/base/option.h, shmem/option.h) keep the
 * values, and decide when they are read and how a malformed one is handled. */

#include <memspan/backend.h>
#include <memspan/config.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum msp_form {
    MSP_FORM_CHOICE      = MEMSPAN_OPTION_CHOICE,      /* one of the words of the form */
    MSP_FORM_SIZE        = MEMSPAN_OPTION_SIZE,        /* msp_text_to_size() */
    MSP_FORM_TEXT        = MEMSPAN_OPTION_TEXT,        /* checked by the code that reads it */
    MSP_FORM_SECURE_TEXT = MEMSPAN_OPTION_SECURE_TEXT, /* ignored in a set-user-id process: it loads
                                                          code, or names a file */
    MSP_FORM_FLAG,  /* on when set, even if empty, but for 0, no, off and false */
    MSP_FORM_NUMBER /* decimal, of 32 bits */
};

struct msp_variable {
    const char *name;
    const char *alias; /* another name, which counts while the first is unset; "": none */
    enum msp_form form;
    const char *form_text; /* the form as shown */
    const char *fallback;  /* the value when unset */
    const char *help;
};

/* Tables are lists X(symbol, name, alias, FORM, form as shown, value when unset, help). */
#define MSP_VARIABLE_ROW(symbol, name, alias, form, form_text, fallback, help)                     \
    {(name), (alias), MSP_FORM_##form, (form_text), (fallback), (help)},

struct msp_value {
    const char *text;    /* in force */
    const char *source;  /* the name that set it; NULL: the default is in force */
    const char *problem; /* why the environment's value is not in force; NULL: none */
    char *copy;
    /* Of a SIZE or NUMBER; the index of a CHOICE's word; 1 for a FLAG that is on. */
    uint64_t number;
};

/* Whether @p text is of the variable's form, and the number that it means. */
bool msp_variable_parse(const struct msp_variable *variable, const char *text, uint64_t *number_p);

/* Read the environment; @p takes_empty: an empty text counts as set. False: the text is malformed.
 * The text is the environment's until msp_variable_keep(): programs change their environment. */
bool msp_variable_read(const struct msp_variable *variable, bool takes_empty,
                       struct msp_value *value);
void msp_variable_keep(struct msp_value *value);

/* The default is in force. */
void msp_variable_reset(const struct msp_variable *variable, struct msp_value *value);

/* For memspan_option_describe() and its like. */
memspan_option_info_t msp_variable_info(const struct msp_variable *variable,
                                        const struct msp_value *value);

/* The environment's own text of any variable; NULL: it is unset. */
const char *msp_variable_text(const char *name);

/* The next variable of the environment whose name starts with @p prefix, as "NAME=value"; *cursor
 * is 0 at first. NULL: no more. */
const char *msp_variable_next(const char *prefix, size_t *cursor);

#endif /* MEMSPAN_CORE_BASE_VARIABLE_H */
