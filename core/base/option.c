/* SPDX-License-Identifier: BSD-3-Clause */
/* option.c: the environment, read once.
 *
 * Every row is parsed at first use of any, those of backends when they are added. Problems are kept
 * for memquery --config and logged as errors, once: a misspelt variable is the commonest reason for
 * "it ignores what I set". */

#include "core/base/option.h"
#include "core/base/error.h"
#include "core/base/lock.h"
#include "core/base/log.h"
#include "core/base/platform.h"
#include "core/base/text.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ADDED_MAX = 64, ROWS_MAX = MSP_OPTION_COUNT + ADDED_MAX };

/* The library's own, then those of backends: written once, before row_count counts them. */
static memspan_backend_option_t rows[ROWS_MAX] = {
#define OPTION_ROW(symbol, variable, form, form_text, fallback, help)                              \
    {(variable), (MEMSPAN_OPTION_##form), (form_text), (fallback), (help)},
    MSP_OPTION_MAP(OPTION_ROW)
#undef OPTION_ROW
};
static atomic_int row_count = MSP_OPTION_COUNT;

static struct {
    const char *text; /* value in force */
    const char *source;
    const char *problem;
    uint64_t size;
    int choice;
} values[ROWS_MAX];

static char *copies[ROWS_MAX]; /* of the environment's texts, until it is read again */

enum { PROBLEMS_KEPT = 32, PROBLEM_BYTES = 256 };
static char problems[PROBLEMS_KEPT][PROBLEM_BYTES] MSP_SPARSE;
static int problem_count;
static int logged_count; /* of these, the first that were logged */
static bool names_are_checked;
static msp_lock_t problem_lock =
    MSP_LOCK_INIT(MSP_RANK_OPTION_PROBLEMS); /* guards problems and the counts */

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
    case MEMSPAN_OPTION_CHOICE:
        values[i].choice = find_choice(rows[i].form_text, text);
        if (values[i].choice < 0) {
            return false;
        }
        break;
    case MEMSPAN_OPTION_SIZE:
        if (!msp_text_to_size(text, strlen(text), &values[i].size)) {
            return false;
        }
        if ((i == MSP_OPTION_CHUNK_SIZE) &&
            (!msp_is_power_of_two(values[i].size) || (values[i].size < (UINT64_C(64) << 10)) ||
             (values[i].size > (UINT64_C(1) << 30)))) {
            return false;
        }
        break;
    case MEMSPAN_OPTION_TEXT:
    case MEMSPAN_OPTION_SECURE_TEXT:
        break;
    }
    values[i].text = text;
    return true;
}

static void read_row(int i)
{
    const char *text = (rows[i].form == MEMSPAN_OPTION_SECURE_TEXT) ? secure_getenv(rows[i].name)
                                                                    : getenv(rows[i].name);

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
                                     rows[i].name, text, rows[i].form_text, rows[i].fallback);
    if (values[i].problem == NULL) {
        values[i].problem = "refused";
    }
    set_value(i, rows[i].fallback);
}

static const char *row_name(size_t i)
{
    return ((int)i < atomic_load(&row_count)) ? rows[i].name : NULL;
}

static void find_unknown(void)
{
    static const char prefix[] = "MEMSPAN_";
    static const char others[] = "MEMSPAN_SHMEM_"; /* shmem/option.c has a check of its own */
    char **entry;

    for (entry = environ; (entry != NULL) && (*entry != NULL); entry++) {
        const char *end = strchr(*entry, '=');
        const char *nearest;
        char name[64];

        if ((strncmp(*entry, prefix, sizeof(prefix) - 1) != 0) || (end == NULL) ||
            (strncmp(*entry, others, sizeof(others) - 1) == 0)) {
            continue;
        }
        snprintf(name, sizeof(name), "%.*s", (int)(end - *entry), *entry);
        if (msp_option_find(name) >= 0) {
            continue;
        }
        nearest = msp_text_nearest(name, row_name);
        note_problem("%s is no variable of Memspan%s%s%s", name, nearest ? "; perhaps " : "",
                     nearest ? nearest : "", nearest ? "?" : "");
    }
}

static void log_problems(void)
{
    const char *problem;

    do {
        msp_lock(&problem_lock);
        problem = (logged_count < problem_count) ? problems[logged_count++] : NULL;
        msp_unlock(&problem_lock);
        if (problem != NULL) {
            msp_log(MEMSPAN_LOG_ERROR, "config", "%s", problem);
        }
    } while (problem != NULL);
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
        for (i = 0; i < atomic_load(&row_count); i++) {
            read_row(i);
        }
        first = true;
        /* Pairs with the acquire above: a thread that sees ready sees the values. */
        atomic_store_explicit(&ready, true, memory_order_release);
    }
    msp_unlock(&ready_lock);
    if (first) {
        log_problems();
    }
}

void msp_option_check_names(void)
{
    ensure_ready();
    msp_lock(&ready_lock);
    if (!names_are_checked) {
        names_are_checked = true;
        find_unknown();
    }
    msp_unlock(&ready_lock);
    log_problems();
}

/* ---- rows of backends ---- */

/* MEMSPAN_NAME_... */
static bool is_name_of(const char *name, const char *backend)
{
    static const char prefix[] = "MEMSPAN_";
    size_t length              = sizeof(prefix) - 1;
    size_t i;

    if ((name == NULL) || (strncmp(name, prefix, length) != 0)) {
        return false;
    }
    for (i = 0; backend[i] != '\0'; i++) {
        if (name[length + i] != toupper((unsigned char)backend[i])) {
            return false;
        }
    }
    return (name[length + i] == '_') && (name[length + i + 1] != '\0');
}

/* Ready, and its lock held. What is wrong with the row; NULL: it was added. */
static const char *add_row(const char *backend, const memspan_backend_option_t *option)
{
    int i = atomic_load(&row_count);

    if (!is_name_of(option->name, backend)) {
        return "its name does not begin with MEMSPAN_ and the backend's name";
    }
    if (msp_option_find(option->name) >= 0) {
        return "there is one of that name";
    }
    if ((option->form_text == NULL) || (option->fallback == NULL) || (option->help == NULL)) {
        return "a text is missing";
    }
    if (i == ROWS_MAX) {
        return "there are too many";
    }
    rows[i] = *option;
    if (!set_value(i, option->fallback)) {
        return "its default is not of its form";
    }
    read_row(i);
    /* Pairs with the loads of other threads: a row that is counted is there. */
    atomic_store(&row_count, i + 1);
    return NULL;
}

void msp_option_add(const char *backend, const memspan_backend_option_t *options, size_t count)
{
    size_t i;

    ensure_ready();
    for (i = 0; (options != NULL) && (i < count); i++) {
        const char *problem;

        msp_lock(&ready_lock);
        problem = add_row(backend, &options[i]);
        msp_unlock(&ready_lock);
        if (problem != NULL) {
            msp_log(MEMSPAN_LOG_WARN, backend, "option %s is left out: %s",
                    (options[i].name != NULL) ? options[i].name : "without a name", problem);
        }
    }
    log_problems();
}

const char *msp_option_text(int option)
{
    ensure_ready();
    return values[option].text;
}

int msp_option_choice(int option)
{
    ensure_ready();
    return values[option].choice;
}

uint64_t msp_option_size(int option)
{
    ensure_ready();
    return values[option].size;
}

uint64_t msp_option_number(int option)
{
    switch (rows[option].form) {
    case MEMSPAN_OPTION_SIZE:
        return msp_option_size(option);
    case MEMSPAN_OPTION_CHOICE:
        return (uint64_t)msp_option_choice(option);
    default:
        return 0;
    }
}

bool msp_option_is_set(int option)
{
    ensure_ready();
    return values[option].source[0] == 'e'; /* "environment" */
}

int msp_option_find(const char *variable)
{
    int i = atomic_load(&row_count) - 1;

    while ((i >= 0) && (strcmp(rows[i].name, variable) != 0)) {
        i--;
    }
    return i;
}

memspan_status_t msp_option_refuse_text(int option, const char *sentence)
{
    ensure_ready();
    if (strcmp(values[option].source, "refused") != 0) {
        const char *problem =
            note_problem("%s=%s: %s", rows[option].name, values[option].text, sentence);
        values[option].problem = (problem == NULL) ? "refused" : problem;
        values[option].source  = "refused";
        log_problems();
        set_value(option, rows[option].fallback);
    }
    memspan_error(MEMSPAN_ERR_CONFIG, "%s", values[option].problem);
    return msp_error_hint("the form is %s", rows[option].form_text);
}

memspan_status_t msp_option_refuse(int option, const char *format, ...)
{
    char sentence[PROBLEM_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(sentence, sizeof(sentence), format, args);
    va_end(args);
    return msp_option_refuse_text(option, sentence);
}

void msp_option_reload(void)
{
    msp_lock(&ready_lock);
    problem_count     = 0;
    logged_count      = 0;
    names_are_checked = false;
    atomic_store(&ready, false);
    msp_log_level_in_force = -1;
    msp_unlock(&ready_lock);
}

int msp_option_known(void)
{
    return atomic_load(&row_count);
}

memspan_status_t msp_option_describe(int index, memspan_option_info_t *info_p)
{
    memspan_option_info_t info;

    if ((info_p == NULL) || (index < 0) || (index >= msp_option_known())) {
        return memspan_error(MEMSPAN_ERR_INVALID, "no option %d, or info_p is NULL", index);
    }
    ensure_ready();
    info = (memspan_option_info_t){
        .struct_size = sizeof(info),
        .name        = rows[index].name,
        .form        = rows[index].form_text,
        .fallback    = rows[index].fallback,
        .help        = rows[index].help,
        .value       = values[index].text,
        .source      = values[index].source,
        .problem     = values[index].problem,
    };
    return msp_struct_write(info_p, &info, sizeof(info));
}

int msp_option_problem_count(void)
{
    ensure_ready();
    return problem_count;
}

const char *msp_option_problem(int index)
{
    ensure_ready();
    return ((index >= 0) && (index < problem_count)) ? problems[index] : NULL;
}
