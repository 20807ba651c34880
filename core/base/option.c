/* SPDX-License-Identifier: BSD-3-Clause */
/* option.c: the environment, read once.
 *
 * Every row is parsed at first use of any. Problems are kept for memquery --config and logged as
 * errors, once: a misspelt variable is the commonest reason for "it ignores what I set". */

#include "core/base/option.h"
#include "core/base/error.h"
#include "core/base/lock.h"
#include "core/base/log.h"
#include "core/base/platform.h"
#include "core/base/text.h"
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum form { CHOICE, SIZE, TEXT, SECURE_TEXT };

struct row {
    const char *variable;
    enum form form;
    const char *form_text;
    const char *fallback;
    const char *help;
};

static const struct row rows[MSP_OPTION_COUNT] = {
#define OPTION_ROW(symbol, variable, form, form_text, fallback, help)                              \
    {(variable), (form), (form_text), (fallback), (help)},
    MSP_OPTION_MAP(OPTION_ROW)
#undef OPTION_ROW
};

static struct {
    const char *text; /* value in force */
    const char *source;
    const char *problem;
    uint64_t size;
    int choice;
} values[MSP_OPTION_COUNT];

static char *copies[MSP_OPTION_COUNT]; /* of the environment's texts, until it is read again */

enum { PROBLEMS_KEPT = 32, PROBLEM_BYTES = 256 };
static char problems[PROBLEMS_KEPT][PROBLEM_BYTES] MSP_SPARSE;
static int problem_count;
static msp_lock_t problem_lock =
    MSP_LOCK_INIT(MSP_RANK_OPTION_PROBLEMS); /* guards problems, problem_count */

static atomic_bool ready;
static msp_lock_t ready_lock = MSP_LOCK_INIT(MSP_RANK_OPTIONS);

extern char **environ;

/* Keeps the sentence and returns where it is kept; NULL when no room is left. */
static const char *add_problem(const char *format, va_list args)
{
    char *problem = NULL;

    msp_lock(&problem_lock);
    if (problem_count < PROBLEMS_KEPT) {
        problem = problems[problem_count++];
        vsnprintf(problem, PROBLEM_BYTES, format, args);
    }
    msp_unlock(&problem_lock);
    return problem;
}

__attribute__((format(printf, 1, 2))) static const char *note_problem(const char *format, ...)
{
    const char *problem;
    va_list args;

    va_start(args, format);
    problem = add_problem(format, args);
    va_end(args);
    return problem;
}

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

static bool set_value(int i, const char *text)
{
    switch (rows[i].form) {
    case CHOICE:
        values[i].choice = find_choice(rows[i].form_text, text);
        if (values[i].choice < 0) {
            return false;
        }
        break;
    case SIZE:
        if (!msp_text_to_size(text, strlen(text), &values[i].size)) {
            return false;
        }
        if ((i == MSP_OPTION_CHUNK_SIZE) &&
            (!msp_is_power_of_two(values[i].size) || (values[i].size < (UINT64_C(64) << 10)) ||
             (values[i].size > (UINT64_C(1) << 30)))) {
            return false;
        }
        break;
    case TEXT:
    case SECURE_TEXT:
        break;
    }
    values[i].text = text;
    return true;
}

static void read_row(int i)
{
    const char *text =
        (rows[i].form == SECURE_TEXT) ? secure_getenv(rows[i].variable) : getenv(rows[i].variable);

    values[i].source  = "default";
    values[i].problem = "";
    set_value(i, rows[i].fallback);
    free(copies[i]);
    copies[i] = NULL;
    if ((text == NULL) || (text[0] == '\0')) {
        return;
    }
    /* setenv() may free what getenv() returned; without memory for a copy that must do. */
    copies[i] = strdup(text);
    text      = (copies[i] != NULL) ? copies[i] : text;
    if (set_value(i, text)) {
        values[i].source = "environment";
        return;
    }
    values[i].source  = "refused";
    values[i].problem = note_problem("%s=%s is not of the form %s; it counts as unset (%s)",
                                     rows[i].variable, text, rows[i].form_text, rows[i].fallback);
    if (values[i].problem == NULL) {
        values[i].problem = "refused";
    }
    set_value(i, rows[i].fallback);
}

static const char *row_name(size_t i)
{
    return (i < MSP_OPTION_COUNT) ? rows[i].variable : NULL;
}

static void find_unknown(void)
{
    static const char prefix[] = "MEMSPAN_";
    char **entry;

    for (entry = environ; (entry != NULL) && (*entry != NULL); entry++) {
        const char *end = strchr(*entry, '=');
        const char *nearest;
        char name[64];

        if ((strncmp(*entry, prefix, sizeof(prefix) - 1) != 0) || (end == NULL)) {
            continue;
        }
        snprintf(name, sizeof(name), "%.*s", (int)(end - *entry), *entry);
        if (msp_option_find(name) != MSP_OPTION_COUNT) {
            continue;
        }
        nearest = msp_text_nearest(name, row_name);
        note_problem("%s is no variable of Memspan%s%s%s", name, nearest ? "; perhaps " : "",
                     nearest ? nearest : "", nearest ? "?" : "");
    }
}

static void load(void)
{
    int i;

    for (i = 0; i < MSP_OPTION_COUNT; i++) {
        read_row(i);
    }
    find_unknown();
}

static void ensure_ready(void)
{
    bool first = false;
    int i;

    if (MSP_LIKELY(atomic_load_explicit(&ready, memory_order_acquire))) {
        return;
    }
    msp_lock(&ready_lock);
    if (!atomic_load_explicit(&ready, memory_order_relaxed)) {
        load();
        first = true;
        /* Pairs with the acquire above: a thread that sees ready sees the values. */
        atomic_store_explicit(&ready, true, memory_order_release);
    }
    msp_unlock(&ready_lock);
    for (i = 0; first && (i < problem_count); i++) {
        msp_log(MEMSPAN_LOG_ERROR, "config", "%s", problems[i]);
    }
}

const char *msp_option_text(enum msp_option option)
{
    ensure_ready();
    return values[option].text;
}

int msp_option_choice(enum msp_option option)
{
    ensure_ready();
    return values[option].choice;
}

uint64_t msp_option_size(enum msp_option option)
{
    ensure_ready();
    return values[option].size;
}

bool msp_option_is_set(enum msp_option option)
{
    ensure_ready();
    return values[option].source[0] == 'e'; /* "environment" */
}

enum msp_option msp_option_find(const char *variable)
{
    int i;

    for (i = 0; (i < MSP_OPTION_COUNT) && (strcmp(rows[i].variable, variable) != 0); i++) {
    }
    return (enum msp_option)i;
}

memspan_status_t msp_option_refuse(enum msp_option option, const char *format, ...)
{
    char sentence[PROBLEM_BYTES];
    va_list args;

    ensure_ready();
    va_start(args, format);
    vsnprintf(sentence, sizeof(sentence), format, args);
    va_end(args);

    if (strcmp(values[option].source, "refused") != 0) {
        const char *problem =
            note_problem("%s=%s: %s", rows[option].variable, values[option].text, sentence);
        values[option].problem = (problem == NULL) ? "refused" : problem;
        values[option].source  = "refused";
        msp_log(MEMSPAN_LOG_ERROR, "config", "%s", values[option].problem);
        set_value((int)option, rows[option].fallback);
    }
    memspan_error(MEMSPAN_ERR_CONFIG, "%s", values[option].problem);
    return msp_error_hint("the form is %s", rows[option].form_text);
}

void msp_option_reload(void)
{
    msp_lock(&ready_lock);
    problem_count = 0;
    atomic_store(&ready, false);
    msp_log_level_in_force = -1;
    msp_unlock(&ready_lock);
}

int memspan_option_count(void)
{
    return MSP_OPTION_COUNT;
}

memspan_status_t memspan_option_describe(int index, memspan_option_info_t *info_p)
{
    memspan_option_info_t info;

    if ((info_p == NULL) || (index < 0) || (index >= MSP_OPTION_COUNT)) {
        return memspan_error(MEMSPAN_ERR_INVALID, "no option %d, or nowhere to describe it", index);
    }
    ensure_ready();
    info = (memspan_option_info_t){
        .struct_size = sizeof(info),
        .name        = rows[index].variable,
        .form        = rows[index].form_text,
        .fallback    = rows[index].fallback,
        .help        = rows[index].help,
        .value       = values[index].text,
        .source      = values[index].source,
        .problem     = values[index].problem,
    };
    return msp_struct_write(info_p, &info, sizeof(info));
}

int memspan_option_problem_count(void)
{
    ensure_ready();
    return problem_count;
}

const char *memspan_option_problem(int index)
{
    ensure_ready();
    return ((index >= 0) && (index < problem_count)) ? problems[index] : NULL;
}
