/* SPDX-License-Identifier: BSD-3-Clause */
/* check.c: --check EXPR, silent unless the expression is malformed; --verbose prints each word with
 * its verdict.
 *
 * An expression is words separated by commas. A subject (backend= device= space= devices=) is
 * followed by conditions on it. Each subject has facts (facts.c), each condition is judged on
 * them, and the worst verdict is the exit code. A comparison with an unknown quantity is neither
 * true nor false: EXIT_UNKNOWN. */

#include "cmd/memquery/model/model.h"
#include <stdlib.h>
#include <string.h>

static const char *const quantity_names[QUANTITY_COUNT] = {"size",      "free",    "alloc_max",
                                                           "page_size", "devices", "nodes"};

struct check {
    const struct request *request;
    const struct snapshot *snapshot;
    struct facts facts; /* of the last subject */
    struct plan plan;   /* of devices=; traits are added as they are read */
    bool planning;
    int verdict;
    struct cli_table table; /* the output of --verbose */
    struct monitor monitor; /* that of --format nagios */
    char subject[176];      /* the last one, as the expression has it; "machine" without one */
};

/* ---- verdicts ---- */

static int rank_of(int verdict)
{
    static const int ranks[] = {[EXIT_YES] = 0,    [EXIT_CONDITIONAL] = 1, [EXIT_UNKNOWN] = 2,
                                [EXIT_ABSENT] = 3, [EXIT_PROBE] = 4,       [EXIT_USAGE] = 5};

    return ranks[verdict];
}

static const char *name_of(int verdict)
{
    static const char *const names[] = {
        [EXIT_YES] = "yes",       [EXIT_CONDITIONAL] = "conditional", [EXIT_UNKNOWN] = "not known",
        [EXIT_ABSENT] = "absent", [EXIT_PROBE] = "a driver failed",   [EXIT_USAGE] = "usage"};

    return names[verdict];
}

static void judge(struct check *check, int verdict)
{
    if (rank_of(verdict) > rank_of(check->verdict)) {
        check->verdict = verdict;
    }
}

/* A word has its verdict; facts.why is the reason. */
static void judge_word(struct check *check, const struct words *words, const struct word *word,
                       int verdict)
{
    static const char *const operators[] = {
        [WORD_ALONE] = "",     [WORD_IS] = "=",   [WORD_AT_LEAST] = ">=",
        [WORD_AT_MOST] = "<=", [WORD_MORE] = ">", [WORD_LESS] = "<"};
    char text[1024] = "";

    judge(check, verdict);
    cli_append(text, sizeof(text), "%s%s%s", word->key, operators[word->op], word->value);
    for (size_t i = 1; i < word->device_count; i++) {
        int device = words->devices[word->device_first + i];

        cli_append(text, sizeof(text), (device == MEMSPAN_HOST) ? ",host" : ",%d", device);
    }
    cli_table_add(&check->table, "%s", text);
    cli_table_add(&check->table, "%s", name_of(verdict));
    cli_table_add(&check->table, "%s", check->facts.why);
    monitor_add_word(&check->monitor, text, verdict, check->facts.why);
}

/* ---- conditions ---- */

static int yes_if(bool holds)
{
    return holds ? EXIT_YES : EXIT_ABSENT;
}

static int complain_says_nothing(struct facts *facts, const char *word)
{
    facts_explain(facts, "it does not apply to %s", facts_subject_name(facts->subject));
    cli_complain("\"%s\" does not apply to %s", word, facts_subject_name(facts->subject));
    return EXIT_USAGE;
}

/* A known word in another form than its own. */
static bool complain_misused(const char *word, const struct text_list *known)
{
    static const char *const subjects[] = {"backend", "device", "space"};
    size_t i;

    for (i = 0; i < QUANTITY_COUNT; i++) {
        if (strcmp(word, quantity_names[i]) == 0) {
            cli_complain("\"%s\" is a quantity: compare it, as in %s>=1", word, word);
            return true;
        }
    }
    for (i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++) {
        if (strcmp(word, subjects[i]) == 0) {
            cli_complain("\"%s\" needs a value: %s=NAME, which memquery lists", word, word);
            return true;
        }
    }
    for (i = 0; (i < known->count) && (strcmp(word, known->items[i]) != 0); i++) {
    }
    if (i < known->count) {
        cli_complain("\"%s\" stands alone: it holds or not, and is not compared", word);
    }
    return i < known->count;
}

static int complain_unknown(const char *word)
{
    static const char *const others[] = {"backend",    "device", "devices=",   "space",
                                         "sync",       "atomic", "concurrent", "pinned",
                                         "migratable", "exact"};
    struct text_list list             = {0};
    int code;

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        text_list_add(&list, others[i]);
    }
    for (size_t i = 0; i < QUANTITY_COUNT; i++) {
        text_list_add(&list, quantity_names[i]);
    }
    for (size_t i = 0; i < capability_count; i++) {
        text_list_add(&list, capabilities[i].name);
    }
    for (size_t i = MEMSPAN_KIND_HOST; i < MEMSPAN_KIND_COUNT; i++) {
        text_list_add(&list, memspan_kind_name((memspan_kind_t)i));
    }
    code = EXIT_USAGE;
    if (!complain_misused(word, &list)) {
        code = text_unknown("word of --check", word, &list);
    }
    free(list.items);
    return code;
}

static size_t find_quantity(const char *name)
{
    size_t i;

    for (i = 0; (i < QUANTITY_COUNT) && (strcmp(quantity_names[i], name) != 0); i++) {
    }
    return i;
}

static int check_quantity(struct facts *facts, const struct word *word)
{
    size_t i = find_quantity(word->key);
    size_t wanted;
    uint64_t value;

    if (i == QUANTITY_COUNT) {
        return complain_unknown(word->key);
    }
    if (!cli_read_size(word->value, strlen(word->value), &wanted) || (wanted == SIZE_MAX)) {
        cli_complain("%s: \"%s\" is not a count: digits, then k, m, g or t", word->key,
                     word->value);
        return EXIT_USAGE;
    }
    if (!facts_have_quantity(facts, (enum quantity)i)) {
        return complain_says_nothing(facts, word->key);
    }
    value = facts->quantity[i];
    if (value == MEMSPAN_UNKNOWN) {
        facts_explain(facts, "it is not known");
        return EXIT_UNKNOWN;
    }
    facts_explain(facts, "it is %s",
                  (i >= DEVICES) ? text_from_int((long long)value).text
                                 : cli_size_text(value).text);
    switch (word->op) {
    case WORD_AT_LEAST:
        return yes_if(value >= wanted);
    case WORD_AT_MOST:
        return yes_if(value <= wanted);
    case WORD_MORE:
        return yes_if(value > wanted);
    case WORD_LESS:
        return yes_if(value < wanted);
    case WORD_IS:
    case WORD_ALONE:
        break;
    }
    return yes_if(value == wanted);
}

static int check_coherence(struct facts *facts, const char *word, bool *found_p)
{
    memspan_coherence_t coherence;

    for (coherence = MEMSPAN_COHERENCE_SYNC; coherence <= MEMSPAN_COHERENCE_ATOMIC; coherence++) {
        if (strcmp(memspan_coherence_name(coherence), word) != 0) {
            continue;
        }
        *found_p = true;
        if (!facts_have(facts, FACT_COHERENCE)) {
            return complain_says_nothing(facts, word);
        }
        facts_explain(facts, "the weakest promise is %s", memspan_coherence_name(facts->coherence));
        return yes_if(facts->coherence >= coherence);
    }
    return EXIT_YES;
}

static int check_placement(struct facts *facts, const char *word, bool *found_p)
{
    bool exact = strcmp(word, "exact") == 0;
    bool holds = (strcmp(word, "pinned") == 0) ? facts->pinned : facts->migratable;

    *found_p = exact || (strcmp(word, "pinned") == 0) || (strcmp(word, "migratable") == 0);
    if (!*found_p) {
        return EXIT_YES;
    }
    if (!facts_have(facts, exact ? FACT_EXACT : FACT_PLACEMENT)) {
        return complain_says_nothing(facts, word);
    }
    holds = exact ? facts->exact : holds;
    facts_explain(facts, "it is %s%s", holds ? "" : "not ", word);
    return yes_if(holds);
}

static int check_kind(struct facts *facts, const char *word, memspan_kind_t kind)
{
    if (!facts_have(facts, FACT_KINDS)) {
        return complain_says_nothing(facts, word);
    }
    facts_explain(facts, "kinds:");
    for (size_t i = MEMSPAN_KIND_HOST; i < MEMSPAN_KIND_COUNT; i++) {
        if ((facts->kinds & (1u << i)) != 0) {
            cli_append(facts->why, sizeof(facts->why), " %s", memspan_kind_name((memspan_kind_t)i));
        }
    }
    return yes_if((facts->kinds & (1u << kind)) != 0);
}

/* A word without a value: a kind, a coherence, a placement or a capability. */
static int check_alone(struct facts *facts, const char *word)
{
    memspan_kind_t kind = name_kind(word);
    bool found          = false;
    int verdict;

    if (kind != MEMSPAN_KIND_NONE) {
        return check_kind(facts, word, kind);
    }
    verdict = check_coherence(facts, word, &found);
    if (!found) {
        verdict = check_placement(facts, word, &found);
    }
    if (found) {
        return verdict;
    }
    for (size_t i = 0; i < capability_count; i++) {
        if (strcmp(capabilities[i].name, word) != 0) {
            continue;
        }
        if (!facts_have(facts, FACT_CAPABILITIES)) {
            return complain_says_nothing(facts, word);
        }
        found = (facts->capabilities & capabilities[i].bit) != 0;
        facts_explain(facts, "the device %s", found ? "can" : "cannot");
        return yes_if(found);
    }
    return complain_unknown(word);
}

/* ---- subjects ---- */

static struct facts facts_of_name(const struct check *check, const char *what,
                                  enum name_sought request, enum facts_subject subject,
                                  const char *text)
{
    struct text_list names = {0};
    struct name name       = name_find(check->snapshot, text, request, &names);
    struct facts facts     = facts_of_absent(subject);

    switch (name.sort) {
    case NAME_BACKEND:
        /* "opencl0.managed" without a device opencl:0 is an absent space */
        facts = (name.kind == MEMSPAN_KIND_NONE) ? facts_of_backend(name.backend) : facts;
        if (name.backend->failure != NULL) {
            facts.verdict = EXIT_PROBE;
            facts_explain(&facts, "%s", name.backend->failure->what);
        }
        break;
    case NAME_DEVICE:
        facts = facts_of_device(name.device);
        break;
    case NAME_SPACE:
        facts = facts_of_space(check->snapshot, name.space);
        break;
    case NAME_RESOURCE:
        facts = facts_of_resource(check->snapshot, name.resource);
        break;
    case NAME_UNKNOWN:
        facts.verdict = (probe_failure(check->request, text) != NULL)
                            ? EXIT_PROBE
                            : text_unknown(what, text, &names);
        break;
    case NAME_KIND: /* not sought */
    case NAME_MISSING_BACKEND:
    case NAME_MISSING_DEVICE:
    case NAME_OFFER:
        break;
    }
    free(names.items);
    return facts;
}

static bool is_quantity(const struct word *word)
{
    for (size_t i = 0; i < QUANTITY_COUNT; i++) {
        if (strcmp(quantity_names[i], word->key) == 0) {
            /* page_size is a trait too */
            return (word->op != WORD_IS) || (i != PAGE_SIZE);
        }
    }
    return false;
}

static bool starts_plan(const struct word *word)
{
    return (word->op == WORD_IS) &&
           ((strcmp(word->key, "devices") == 0) || (strcmp(word->key, "base") == 0));
}

static bool starts_subject(const struct word *word)
{
    return (word->op == WORD_IS) &&
           ((strcmp(word->key, "backend") == 0) || (strcmp(word->key, "space") == 0) ||
            (strcmp(word->key, "device") == 0) || (strcmp(word->key, "devices") == 0));
}

/* devices= or base=: traits may stand among the conditions, and are collected first. */
static void begin_plan(struct check *check, const struct words *words, size_t index)
{
    int code;

    check->plan = (struct plan){0};
    code        = plan_add_word(&check->plan, words, &words->list[index]);
    for (size_t i = index + 1; (i < words->count) && !starts_subject(&words->list[i]); i++) {
        if ((words->list[i].op == WORD_IS) && !is_quantity(&words->list[i]) && (code == EXIT_YES)) {
            code = plan_add_word(&check->plan, words, &words->list[i]);
        }
    }
    if (code != EXIT_YES) {
        check->facts         = facts_of_absent(OF_LIST);
        check->facts.verdict = code; /* a message is printed already */
        return;
    }
    check->facts = facts_of_plan(&check->plan);
    if (check->facts.verdict == EXIT_USAGE) {
        plan_complain(&check->plan);
    }
}

static void begin_subject(struct check *check, const struct words *words, size_t index)
{
    const struct word *word = &words->list[index];

    check->planning = starts_plan(word);
    if (check->planning) {
        begin_plan(check, words, index);
    } else if (strcmp(word->key, "backend") == 0) {
        check->facts = facts_of_name(check, "backend", NAME_A_BACKEND, OF_BACKEND, word->value);
    } else if (strcmp(word->key, "space") == 0) {
        check->facts = facts_of_name(check, "space", NAME_A_SPACE, OF_SPACE, word->value);
    } else if (strcmp(word->value, "host") == 0) {
        check->facts = facts_of_device(&check->snapshot->devices[0]);
    } else {
        check->facts = facts_of_name(check, "device", NAME_A_DEVICE, OF_DEVICE, word->value);
    }
    snprintf(check->subject, sizeof(check->subject), "%s %s", word->key, word->value);
    judge_word(check, words, word, check->facts.verdict);
}

/* For a monitor, where the word is one. */
static void add_figure(struct check *check, const struct word *word, int verdict)
{
    size_t i = find_quantity(word->key);

    if (verdict != EXIT_USAGE) {
        monitor_add_figure(&check->monitor, check->subject, word, i >= DEVICES,
                           check->facts.quantity[i]);
    }
}

static void check_word(struct check *check, const struct words *words, size_t index)
{
    const struct word *word = &words->list[index];
    int verdict;

    if (check->planning && (word->op == WORD_IS) && !is_quantity(word) && !starts_subject(word)) {
        return; /* a trait, collected before */
    }
    if (starts_subject(word) || starts_plan(word)) {
        begin_subject(check, words, index);
        return;
    }
    if (word->op == WORD_ALONE) {
        verdict = check_alone(&check->facts, word->key);
    } else {
        verdict = check_quantity(&check->facts, word);
        add_figure(check, word, verdict);
    }
    judge_word(check, words, word, verdict);
}

int report_check(const struct request *request, FILE *out)
{
    static struct words words;
    static struct check check;
    struct snapshot snapshot;
    FILE *report = request->options->verbose ? out : NULL;
    int code     = words_parse(request->options->argument, &words);

    if (code != EXIT_YES) {
        return code;
    }
    snapshot_take(&snapshot, request);
    check = (struct check){.request  = request,
                           .snapshot = &snapshot,
                           .facts    = facts_of_machine(&snapshot),
                           .verdict  = EXIT_YES,
                           .subject  = "machine"};
    cli_table_open(&check.table, "lll");
    for (size_t i = 0; i < words.count; i++) {
        check_word(&check, &words, i);
    }
    snapshot_free(&snapshot);
    if ((check.verdict == EXIT_ABSENT) && (request->failure_count > 0)) {
        check.verdict = EXIT_PROBE; /* the failed backend may have it */
    }
    if (request->options->format == FORMAT_NAGIOS) {
        cli_table_free(&check.table);
        return MONITOR_PRINTED +
               (int)monitor_print(&check.monitor, request->options->argument, check.verdict, out);
    }
    if (report != NULL) {
        cli_table_close(&check.table, report);
        fprintf(report, "answer: %s (exit code %d)\n", name_of(check.verdict), check.verdict);
    } else {
        cli_table_free(&check.table);
    }
    return check.verdict;
}
