/* SPDX-License-Identifier: BSD-3-Clause */
/* option.c: the environment, read once.
 *
 * Every row is parsed at first use of any, those of backends when they are added. Problems are kept
 * for memquery --config and logged as errors, once: a misspelt variable is the commonest reason for
 * "it ignores my setting". */

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
#include <string.h>

enum { ADDED_MAX = 64, ROWS_MAX = MSP_OPTION_COUNT + ADDED_MAX };

/* The library's own, then those of backends: written once, before row_count counts them. */
static struct msp_variable rows[ROWS_MAX] = {MSP_OPTION_MAP(MSP_VARIABLE_ROW)};
static atomic_int row_count               = MSP_OPTION_COUNT;

static struct msp_value values[ROWS_MAX];

enum { PROBLEMS_KEPT = 32, PROBLEM_BYTES = 256 };
static char problems[PROBLEMS_KEPT][PROBLEM_BYTES] MSP_SPARSE;
static int problem_count;
static int logged_count; /* of these, the first that were logged */
static bool names_are_checked;
static msp_lock_t problem_lock =
    MSP_LOCK_INIT(MSP_RANK_OPTION_PROBLEMS); /* guards problems and the counts */

static atomic_bool ready;
static msp_lock_t ready_lock = MSP_LOCK_INIT(MSP_RANK_OPTIONS);

/* Keeps the sentence and returns where it is kept; NULL when no space is left. */
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

static bool is_in_range(int i)
{
    uint64_t size = values[i].number;

    return (i != MSP_OPTION_CHUNK_SIZE) ||
           (msp_is_power_of_two(size) && (size >= (UINT64_C(64) << 10)) &&
            (size <= (UINT64_C(1) << 30)));
}

/* The environment's value counts as unset. @p problem: NULL where no space was left for it. */
static void refuse_row(int i, const char *problem)
{
    msp_variable_reset(&rows[i], &values[i]);
    values[i].problem = (problem != NULL) ? problem : "refused";
}

static void read_row(int i)
{
    if (msp_variable_read(&rows[i], false, &values[i]) && is_in_range(i)) {
        msp_variable_keep(&values[i]);
        return;
    }
    refuse_row(i, note_problem("%s=%s is not of the form %s; it counts as unset (%s)", rows[i].name,
                               values[i].text, rows[i].form_text, rows[i].fallback));
}

static const char *row_name(size_t i)
{
    return ((int)i < atomic_load(&row_count)) ? rows[i].name : NULL;
}

static void find_unknown(void)
{
    static const char others[] = "MEMSPAN_SHMEM_"; /* shmem/option.c has a check of its own */
    size_t cursor              = 0;
    const char *entry;

    while ((entry = msp_variable_next("MEMSPAN_", &cursor)) != NULL) {
        const char *nearest;
        char name[64];

        snprintf(name, sizeof(name), "%.*s", (int)strcspn(entry, "="), entry);
        if ((strncmp(name, others, sizeof(others) - 1) == 0) || (msp_option_find(name) >= 0) ||
            (strcmp(name, "MEMSPAN_LIBRARY") == 0)) { /* of the Python module */
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

/* Ready, and its lock held. The mistake in the row; NULL: it was added. */
static const char *add_row(const char *backend, const memspan_backend_option_t *option)
{
    int i = atomic_load(&row_count);
    uint64_t number;

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
    rows[i] = (struct msp_variable){.name      = option->name,
                                    .alias     = "",
                                    .form      = (enum msp_form)option->form,
                                    .form_text = option->form_text,
                                    .fallback  = option->fallback,
                                    .help      = option->help};
    if (!msp_variable_parse(&rows[i], option->fallback, &number)) {
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

uint64_t msp_option_number(int option)
{
    ensure_ready();
    return values[option].number;
}

bool msp_option_is_set(int option)
{
    ensure_ready();
    return values[option].source != NULL;
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
    if (values[option].problem == NULL) {
        refuse_row(option,
                   note_problem("%s=%s: %s", rows[option].name, values[option].text, sentence));
        log_problems();
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
    info = msp_variable_info(&rows[index], &values[index]);
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
