/* SPDX-License-Identifier: BSD-3-Clause */
/* option.c: OpenSHMEM's environment, read at every shmem_init(). */

#include "shmem/option.h"
#include "core/base/platform.h"
#include "core/base/text.h"
#include "shmem/job.h"
#include <ctype.h>
#include <memspan/launch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum form { FLAG, SIZE, NUMBER, TEXT };

static const struct row {
    const char *name;
    const char *twin;
    enum form form;
    const char *form_text;
    const char *fallback;
    const char *help;
} rows[MEMSPAN_SHMEM_OPTION_COUNT] = {
#define OPTION_ROW(symbol, variable, twin, form, form_text, fallback, help)                        \
    {(variable), (twin), (form), (form_text), (fallback), (help)},
    MEMSPAN_SHMEM_OPTION_MAP(OPTION_ROW)
#undef OPTION_ROW
};

enum { NAME_BYTES = 64, TEXT_BYTES = 512 };

static struct {
    const char *source; /* the variable that set it */
    const char *text;   /* NULL before it is read */
    char *copy;         /* of the variable: programs may change it */
    uint64_t number;
    bool is_on;
} values[MEMSPAN_SHMEM_OPTION_COUNT];

extern char **environ;

static bool number_parse(const char *text, uint64_t *number_p)
{
    char *end;
    unsigned long long number;

    if (!isdigit((unsigned char)text[0])) {
        return false;
    }
    number = strtoull(text, &end, 10);
    if ((*end != '\0') || (number > UINT32_MAX)) {
        return false;
    }
    *number_p = number;
    return true;
}

/* The suffix's factor as a power of two; -1: nothing that may stand there. */
static int suffix_shift(const char *suffix, bool strict)
{
    static const char letters[] = "kmgt";
    const char *letter;
    int shift = 0;

    if (suffix[0] == '\0') {
        return 0;
    }
    letter = strchr(letters, tolower((unsigned char)suffix[0]));
    if (letter != NULL) {
        shift = 10 * (int)(letter - letters + 1);
        suffix++;
    } else if (tolower((unsigned char)suffix[0]) != 'b') {
        return -1;
    }
    if (strict && (suffix[0] != '\0') && (strcasecmp(suffix, "b") != 0) &&
        (strcasecmp(suffix, "ib") != 0)) {
        return -1;
    }
    return shift;
}

bool msp_shmem_size_parse(const char *text, bool strict, uint64_t *size_p)
{
    size_t length = strspn(text, "0123456789.");
    char digits[48];
    long double number;
    char *end;
    int shift;

    /* strtold() alone would take "inf", "0x1" and exponents. */
    if ((length == 0) || (length >= sizeof digits)) {
        return false;
    }
    memcpy(digits, text, length);
    digits[length] = '\0';
    number         = strtold(digits, &end);
    shift          = suffix_shift(text + length, strict);
    if ((*end != '\0') || (end == digits) || (shift < 0)) {
        return false;
    }
    number *= (long double)(UINT64_C(1) << shift);
    if (number > (long double)(UINT64_C(1) << 62)) {
        return false;
    }
    *size_p = (uint64_t)number;
    *size_p += ((long double)*size_p < number) ? 1 : 0;
    return true;
}

static const char *lookup(const struct row *row, const char **source_p)
{
    const char *text = getenv(row->name);

    *source_p = row->name;
    if ((text == NULL) && (row->twin[0] != '\0')) {
        text      = getenv(row->twin);
        *source_p = row->twin;
    }
    return text;
}

static bool flag_is_on(const char *text)
{
    return (strcmp(text, "0") != 0) && (strcasecmp(text, "no") != 0) &&
           (strcasecmp(text, "off") != 0) && (strcasecmp(text, "false") != 0);
}

/* The table is touched by every PE of a job, and rooms for texts of any length take pages. */
static bool keep_text(int i, const char *text)
{
    free(values[i].copy);
    values[i].copy = (text != NULL) ? strndup(text, TEXT_BYTES - 1) : NULL;
    values[i].text = (text != NULL) ? values[i].copy : rows[i].fallback;
    return values[i].text != NULL;
}

/* @p text: of the environment, from @p source; NULL: the default. Else the reason is the thread's
 * error. */
static memspan_status_t check_value(const struct row *row, const char *source, const char *text,
                                    uint64_t *number_p)
{
    const char *value = (text != NULL) ? text : row->fallback;
    bool is_valid     = true;

    *number_p = 0;
    switch (row->form) {
    case FLAG:
        break;
    case SIZE:
        is_valid = msp_shmem_size_parse(value, false, number_p);
        break;
    case TEXT:
        is_valid = (strlen(value) < TEXT_BYTES);
        break;
    case NUMBER:
        is_valid = (value[0] == '\0' && text == NULL) || number_parse(value, number_p);
        break;
    }
    if (is_valid) {
        return MEMSPAN_OK;
    }
    if (row->form == TEXT) {
        return memspan_error(MEMSPAN_ERR_CONFIG, "%s has %zu characters, more than %d", source,
                             strlen(value), TEXT_BYTES - 1);
    }
    memspan_error(MEMSPAN_ERR_CONFIG, "%s=%s is no %s", source, value,
                  (row->form == SIZE) ? "size" : "number");
    return msp_error_hint("give it as %s", (row->form == SIZE)
                                               ? "a number with k, m, g or t, such as 1.5g"
                                               : row->form_text);
}

static memspan_status_t read_row(int i)
{
    const struct row *row = &rows[i];
    const char *source;
    const char *text = lookup(row, &source);

    values[i].source = (text != NULL) ? source : NULL;
    values[i].is_on  = (row->form == FLAG) && (text != NULL) && flag_is_on(text);
    if (!keep_text(i, text)) {
        values[i].number = 0;
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for the text of %s", source);
    }
    return check_value(row, source, text, &values[i].number);
}

/* ---- names that are none ---- */

/* Those that are in no table here. */
static const char *const other_names[] = {"SHMEM_SYMMETRIC_PARTITION", "SMA_SYMMETRIC_PARTITION",
                                          MEMSPAN_LAUNCH_VARIABLE};

/* Every name that counts; partitions without their number. */
static const char *name_at(size_t i)
{
    const size_t others = sizeof other_names / sizeof other_names[0];

    if (i < MEMSPAN_SHMEM_OPTION_COUNT) {
        return rows[i].name;
    }
    i -= MEMSPAN_SHMEM_OPTION_COUNT;
    if (i < MEMSPAN_SHMEM_OPTION_COUNT) {
        return rows[i].twin;
    }
    i -= MEMSPAN_SHMEM_OPTION_COUNT;
    return (i < others) ? other_names[i] : NULL;
}

static bool is_known(const char *name)
{
    const char *known;
    size_t i;

    for (i = 0; (known = name_at(i)) != NULL; i++) {
        if (strcmp(known, name) == 0) {
            return true;
        }
    }
    /* What follows is looked at where partitions are read. */
    return (strncmp(name, other_names[0], strlen(other_names[0])) == 0) ||
           (strncmp(name, other_names[1], strlen(other_names[1])) == 0);
}

/* The name of a variable without the number that a partition's ends in. */
static void copy_name(const char *entry, char *name, size_t name_size)
{
    size_t length = strcspn(entry, "=");

    while ((length > 0) && isdigit((unsigned char)entry[length - 1])) {
        length--;
    }
    snprintf(name, name_size, "%.*s", (int)((length < name_size) ? length : name_size), entry);
}

/* The next variable of the environment, from *cursor on, that is none of ours and like one of them.
 * Other libraries have variables that begin so, too: those that are like none of ours are theirs.
 */
static const char *next_misspelt(size_t *cursor, const char **nearest_p)
{
    static const char *const starts[] = {"SHMEM_", "SHMEMX_", "SMA_", "MEMSPAN_SHMEM_"};
    char name[NAME_BYTES];
    const char *entry;

    while ((entry = msp_shmem_option_next("", cursor)) != NULL) {
        for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
            if (strncmp(entry, starts[i], strlen(starts[i])) != 0) {
                continue;
            }
            copy_name(entry, name, sizeof name);
            *nearest_p = is_known(name) ? NULL : msp_text_nearest(name, name_at);
            if (*nearest_p != NULL) {
                return entry;
            }
        }
    }
    return NULL;
}

static const char misspelt_format[] = "%.*s is no variable of Memspan; perhaps %s?";

void msp_shmem_option_warn(void)
{
    size_t cursor = 0;
    const char *nearest;
    const char *entry;

    while ((entry = next_misspelt(&cursor, &nearest)) != NULL) {
        int key = 0;

        msp_warn_once(&key, misspelt_format, (int)strcspn(entry, "="), entry, nearest);
    }
}

/* ---- for memquery ---- */

static void describe_row(const struct row *row, memspan_option_info_t *info_p)
{
    const char *source;
    const char *text = lookup(row, &source);
    uint64_t number;

    *info_p = (memspan_option_info_t){.name     = row->name,
                                      .form     = row->form_text,
                                      .fallback = row->fallback,
                                      .help     = row->help,
                                      .value    = (text != NULL) ? text : row->fallback,
                                      .source   = (text != NULL) ? "environment" : "default",
                                      .problem  = ""};
    if (check_value(row, source, text, &number) != MEMSPAN_OK) {
        info_p->source  = "refused";
        info_p->problem = memspan_error_text();
    }
}

/* A variable of a partition, or with @p nearest one that is misspelt. */
static void describe_entry(const char *entry, const char *nearest, memspan_option_info_t *info_p)
{
    static char name[NAME_BYTES] MSP_SPARSE;
    static char problem[4 * NAME_BYTES] MSP_SPARSE;
    int length = (int)strcspn(entry, "=");

    snprintf(name, sizeof name, "%.*s", length, entry);
    problem[0] = '\0';
    if (nearest != NULL) {
        snprintf(problem, sizeof problem, misspelt_format, length, entry, nearest);
    }
    *info_p = (memspan_option_info_t){
        .name     = name,
        .form     = (nearest != NULL) ? "none" : "size=BYTES[:kind=][:policy=][:pgsize=]",
        .fallback = "",
        .help     = (nearest != NULL) ? "not read" : "a symmetric heap of one kind of memory",
        .value    = entry + length + ((entry[length] == '=') ? 1 : 0),
        .source   = (nearest != NULL) ? "refused" : "environment",
        .problem  = problem};
}

memspan_status_t msp_shmem_option_describe(int index, memspan_option_info_t *info_p)
{
    const char *entry;
    size_t cursor = 0;
    size_t i;

    if ((index >= 0) && (index < MEMSPAN_SHMEM_OPTION_COUNT)) {
        describe_row(&rows[index], info_p);
        return MEMSPAN_OK;
    }
    index -= MEMSPAN_SHMEM_OPTION_COUNT;
    for (i = 0; (i < 2) && (index >= 0); i++, cursor = 0) {
        while ((entry = msp_shmem_option_next(other_names[i], &cursor)) != NULL) {
            if (index-- == 0) {
                describe_entry(entry, NULL, info_p);
                return MEMSPAN_OK;
            }
        }
    }
    while (index >= 0) {
        const char *nearest;

        entry = next_misspelt(&cursor, &nearest);
        if (entry == NULL) {
            break;
        }
        if (index-- == 0) {
            describe_entry(entry, nearest, info_p);
            return MEMSPAN_OK;
        }
    }
    return memspan_error(MEMSPAN_ERR_NOT_FOUND, "there is no variable of that index");
}

memspan_status_t msp_shmem_option_read(void)
{
    memspan_status_t first = MEMSPAN_OK;
    int i;

    for (i = 0; i < MEMSPAN_SHMEM_OPTION_COUNT; i++) {
        memspan_status_t status = read_row(i);

        first = (first == MEMSPAN_OK) ? status : first;
    }
    return first;
}

const char *msp_shmem_option_source(enum msp_shmem_option option)
{
    return values[option].source;
}

bool msp_shmem_option_is_on(enum msp_shmem_option option)
{
    return values[option].is_on;
}

const char *msp_shmem_option_text(enum msp_shmem_option option)
{
    return (values[option].text != NULL) ? values[option].text : "";
}

uint64_t msp_shmem_option_number(enum msp_shmem_option option)
{
    return values[option].number;
}

const char *msp_shmem_option_name(enum msp_shmem_option option)
{
    return rows[option].name;
}

const char *msp_shmem_option_next(const char *prefix, size_t *cursor)
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

uint64_t msp_shmem_option_digest(enum msp_shmem_option option)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325);
    const char *c;

    for (c = msp_shmem_option_text(option); *c != '\0'; c++) {
        digest = (digest ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    }
    return digest ^ ((values[option].source != NULL) ? 1 : 0);
}

void msp_shmem_option_print(void)
{
    int i;

    for (i = 0; i < MEMSPAN_SHMEM_OPTION_COUNT; i++) {
        bool is_set      = (values[i].source != NULL);
        const char *text = msp_shmem_option_text((enum msp_shmem_option)i);

        printf("%-26s %-10s %s\n", rows[i].name, (is_set && (text[0] == '\0')) ? "on" : text,
               is_set ? "(environment)" : "(default)");
        printf("    %s: %s%s%s\n", rows[i].form_text, rows[i].help,
               (rows[i].twin[0] != '\0') ? "; formerly " : "", rows[i].twin);
    }
}
