/* SPDX-License-Identifier: BSD-3-Clause */
/* monitor.c: the verdict of --check as the one line of a monitoring plug-in: the status, what holds
 * or why not, and behind a "|" the compared quantities with their limits. */

#include "cmd/memquery/model/model.h"
#include <inttypes.h>
#include <string.h>

static const struct {
    enum monitor_status status;
    const char *name; /* of a word with that verdict */
} verdicts[] = {
    [EXIT_YES]         = {MONITOR_OK, "yes"},
    [EXIT_CONDITIONAL] = {MONITOR_WARNING, "conditional"},
    [EXIT_ABSENT]      = {MONITOR_CRITICAL, "absent"},
    [EXIT_PROBE]       = {MONITOR_CRITICAL, "a driver failed"},
    [EXIT_UNKNOWN]     = {MONITOR_UNKNOWN, "not known"},
    [EXIT_USAGE]       = {MONITOR_UNKNOWN, "malformed"},
};

void monitor_add_word(struct monitor *monitor, const char *word, int verdict, const char *why)
{
    bool explained = (verdict != EXIT_USAGE) && (why[0] != '\0');

    if (verdict != EXIT_YES) {
        cli_append(monitor->text, sizeof(monitor->text), "%s%s %s%s%s",
                   (monitor->text[0] == '\0') ? "" : "; ", word, verdicts[verdict].name,
                   explained ? ": " : "", explained ? why : "");
    }
}

/* The range of good values, START:END with both ends, "~" for no start. */
static void add_range(struct monitor *monitor, enum words_operator op, uint64_t wanted)
{
    char *text  = monitor->figures;
    size_t size = sizeof(monitor->figures);

    switch (op) {
    case WORD_AT_LEAST:
        cli_append(text, size, "%" PRIu64 ":", wanted);
        break;
    case WORD_MORE:
        cli_append(text, size, "%" PRIu64 ":", wanted + 1);
        break;
    case WORD_AT_MOST:
        cli_append(text, size, "~:%" PRIu64, wanted);
        break;
    case WORD_LESS: /* than 0 is nothing */
        cli_append(text, size, (wanted == 0) ? "~:-1" : "~:%" PRIu64, wanted - 1);
        break;
    case WORD_IS:
    case WORD_ALONE:
        cli_append(text, size, "%" PRIu64 ":%" PRIu64, wanted, wanted);
        break;
    }
}

void monitor_add_figure(struct monitor *monitor, const char *subject, const struct word *word,
                        bool is_count, uint64_t value)
{
    char label[256];
    size_t wanted = 0;

    snprintf(label, sizeof(label), "%s %s", subject, word->key);
    for (char *at = label; *at != '\0'; at++) {
        *at = (strchr("='|", *at) != NULL) ? ' ' : *at; /* these end a label */
    }
    (void)cli_read_size(word->value, strlen(word->value), &wanted);
    cli_append(monitor->figures, sizeof(monitor->figures), " '%s'=", label);
    if (value == MEMSPAN_UNKNOWN) {
        cli_append(monitor->figures, sizeof(monitor->figures), "U");
    } else {
        cli_append(monitor->figures, sizeof(monitor->figures), "%" PRIu64 "%s", value,
                   is_count ? "" : "B");
    }
    cli_append(monitor->figures, sizeof(monitor->figures), ";;");
    add_range(monitor, word->op, wanted);
    cli_append(monitor->figures, sizeof(monitor->figures), ";0");
}

enum monitor_status monitor_print(struct monitor *monitor, const char *expression, int verdict,
                                  FILE *out)
{
    static const char *const names[] = {"OK", "WARNING", "CRITICAL", "UNKNOWN"};
    enum monitor_status status       = verdicts[verdict].status;

    if (monitor->text[0] == '\0') {
        snprintf(monitor->text, sizeof(monitor->text), "%s", expression);
    }
    for (char *at = monitor->text; *at != '\0'; at++) {
        *at = (*at == '|') ? '/' : *at; /* figures follow a "|" */
    }
    cli_clean(monitor->text);
    cli_clean(monitor->figures);
    fprintf(out, "MEMSPAN %s - %s%s%s\n", names[status], monitor->text,
            (monitor->figures[0] == '\0') ? "" : " |", monitor->figures);
    return status;
}
