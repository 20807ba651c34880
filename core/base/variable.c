/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/base/variable.h"
#include "core/base/text.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

extern char **environ;

/* Index of the word among "a|b|c", or -1. */
static int find_choice(const char *choices, const char *word)
{
    size_t length = strlen(word);
    int index     = 0;
    const char *c;

    if (strchr(word, '|') != NULL) {
        return -1;
    }
    for (c = choices; c != NULL; c = strchr(c, '|')) {
        c += (*c == '|') ? 1 : 0;
        if ((strncmp(c, word, length) == 0) && ((c[length] == '|') || (c[length] == '\0'))) {
            return index;
        }
        index++;
    }
    return -1;
}

static bool flag_is_on(const char *text)
{
    return (strcmp(text, "0") != 0) && (strcasecmp(text, "no") != 0) &&
           (strcasecmp(text, "off") != 0) && (strcasecmp(text, "false") != 0);
}

bool msp_variable_parse(const struct msp_variable *variable, const char *text, uint64_t *number_p)
{
    size_t length = strlen(text);
    int choice;

    *number_p = 0;
    switch (variable->form) {
    case MSP_FORM_CHOICE:
        choice    = find_choice(variable->form_text, text);
        *number_p = (uint64_t)choice;
        return choice >= 0;
    case MSP_FORM_SIZE:
        return msp_text_to_size(text, length, number_p);
    case MSP_FORM_NUMBER:
        return (strspn(text, "0123456789") == length) && msp_text_to_size(text, length, number_p) &&
               (*number_p <= UINT32_MAX);
    case MSP_FORM_FLAG:
        *number_p = flag_is_on(text) ? 1 : 0;
        return true;
    default:
        return true;
    }
}

bool msp_variable_read(const struct msp_variable *variable, bool takes_empty,
                       struct msp_value *value)
{
    const char *const names[] = {variable->name, variable->alias};
    size_t i;

    msp_variable_reset(variable, value);
    value->problem = NULL;
    for (i = 0; i < 2; i++) {
        const char *text =
            (variable->form == MSP_FORM_SECURE_TEXT) ? secure_getenv(names[i]) : getenv(names[i]);

        if ((text != NULL) && (takes_empty || (text[0] != '\0'))) {
            value->text   = text;
            value->source = names[i];
            return msp_variable_parse(variable, text, &value->number);
        }
    }
    return true;
}

void msp_variable_keep(struct msp_value *value)
{
    free(value->copy);
    value->copy = (value->source != NULL) ? strdup(value->text) : NULL;
    /* Without memory for a copy the environment's text must do. */
    value->text = (value->copy != NULL) ? value->copy : value->text;
}

void msp_variable_reset(const struct msp_variable *variable, struct msp_value *value)
{
    value->text   = variable->fallback;
    value->source = NULL;
    value->number = 0;
    if (variable->fallback[0] != '\0') {
        (void)msp_variable_parse(variable, variable->fallback, &value->number);
    }
}

memspan_option_info_t msp_variable_info(const struct msp_variable *variable,
                                        const struct msp_value *value)
{
    const char *source = (value->source != NULL) ? "environment" : "default";

    return (memspan_option_info_t){
        .struct_size = sizeof(memspan_option_info_t),
        .name        = variable->name,
        .form        = variable->form_text,
        .fallback    = variable->fallback,
        .help        = variable->help,
        .value       = value->text,
        .source      = (value->problem != NULL) ? "refused" : source,
        .problem     = (value->problem != NULL) ? value->problem : "",
    };
}

const char *msp_variable_text(const char *name)
{
    return getenv(name);
}

const char *msp_variable_next(const char *prefix, size_t *cursor)
{
    size_t length = strlen(prefix);

    while ((environ != NULL) && (environ[*cursor] != NULL)) {
        const char *text = environ[(*cursor)++];

        if (strncmp(text, prefix, length) == 0) {
            return text;
        }
    }
    return NULL;
}
