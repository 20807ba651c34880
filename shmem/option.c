/* SPDX-License-Identifier: BSD-3-Clause */
/* option.c: OpenSHMEM's environment, read at every shmem_init(). */

#include "shmem/option.h"
#include "core/base/platform.h"
#include "core/base/text.h"
#include "shmem/job.h"
#include <ctype.h>
#include <memspan/launch.h>
#include <stdio.h>
#include <string.h>

static const struct msp_variable rows[] = {MEMSPAN_SHMEM_OPTION_MAP(MSP_VARIABLE_ROW)};
static struct msp_value values[MEMSPAN_SHMEM_OPTION_COUNT];

enum { NAME_BYTES = 64 };

static memspan_status_t refuse_value(const struct msp_variable *row, const struct msp_value *value)
{
    bool is_size = (row->form == MSP_FORM_SIZE);

    memspan_error(MEMSPAN_ERR_CONFIG, "%s=%s is no %s", value->source, value->text,
                  is_size ? "size" : ((row->form == MSP_FORM_CHOICE) ? "known word" : "number"));
    return msp_error_hint("give it as %s",
                          is_size ? "a number with k, m, g or t, such as 1.5g" : row->form_text);
}

/* ---- names that are none ---- */

/* Those that are in no table here. */
static const char *const other_names[] = {"SHMEM_SYMMETRIC_PARTITION", "SMA_SYMMETRIC_PARTITION",
                                          MEMSPAN_LAUNCH_VARIABLE};

/* Every name that counts; partitions without their number. */
static const char *name_at(size_t i)
{
    const size_t others = sizeof other_names / sizeof other_names[0];
    size_t row          = i / 2;

    if (row < MEMSPAN_SHMEM_OPTION_COUNT) {
        return (i % 2 == 0) ? rows[row].name : rows[row].alias;
    }
    i -= 2 * (size_t)MEMSPAN_SHMEM_OPTION_COUNT;
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
    /* The text behind it is checked where partitions are read. */
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

    while ((entry = msp_variable_next("", cursor)) != NULL) {
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

static void warn_of_alias(const struct msp_variable *row)
{
    const char *text  = msp_variable_text(row->name);
    const char *other = msp_variable_text(row->alias);
    int key           = 0;

    if ((text != NULL) && (other != NULL) && (strcmp(text, other) != 0)) {
        msp_warn_once(&key, "%s and %s differ: the former counts", row->name, row->alias);
    } else if ((text == NULL) && (other != NULL)) {
        memspan_services_get()->log(MEMSPAN_LOG_INFO, "shmem", "%s is another name of %s",
                                    row->alias, row->name);
    }
}

void msp_shmem_option_warn(void)
{
    size_t cursor = 0;
    const char *nearest;
    const char *entry;
    int i;

    for (i = 0; i < MEMSPAN_SHMEM_OPTION_COUNT; i++) {
        warn_of_alias(&rows[i]);
    }
    while ((entry = next_misspelt(&cursor, &nearest)) != NULL) {
        int key = 0;

        msp_warn_once(&key, misspelt_format, (int)strcspn(entry, "="), entry, nearest);
    }
}

/* ---- for memquery ---- */

static memspan_option_info_t describe_row(const struct msp_variable *row)
{
    struct msp_value value = {0};

    if (!msp_variable_read(row, true, &value)) {
        refuse_value(row, &value);
        value.problem = memspan_error_text();
    }
    return msp_variable_info(row, &value);
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
        *info_p = describe_row(&rows[index]);
        return MEMSPAN_OK;
    }
    index -= MEMSPAN_SHMEM_OPTION_COUNT;
    for (i = 0; (i < 2) && (index >= 0); i++, cursor = 0) {
        while ((entry = msp_variable_next(other_names[i], &cursor)) != NULL) {
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
        if (!msp_variable_read(&rows[i], true, &values[i]) && (first == MEMSPAN_OK)) {
            first = refuse_value(&rows[i], &values[i]);
        }
        msp_variable_keep(&values[i]);
    }
    return first;
}

const char *msp_shmem_option_name(enum msp_shmem_option option)
{
    return (values[option].source != NULL) ? values[option].source : rows[option].name;
}

bool msp_shmem_option_is_set(enum msp_shmem_option option)
{
    return values[option].source != NULL;
}

const char *msp_shmem_option_text(enum msp_shmem_option option)
{
    return (values[option].text != NULL) ? values[option].text : "";
}

uint64_t msp_shmem_option_number(enum msp_shmem_option option)
{
    return values[option].number;
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
               (rows[i].alias[0] != '\0') ? "; formerly " : "", rows[i].alias);
    }
}
