/* SPDX-License-Identifier: BSD-3-Clause */
/* check.c: --check EXPR, silent but for nonsense.
 *
 * An expression is words separated by commas. A subject (backend= device= space= devices=) says
 * what is spoken of; the conditions after it must hold of that. Each subject gathers facts, each
 * condition is judged on them, and the worst verdict is the exit code. Facts that cannot be known
 * do not hold. */

#include "capability.h"
#include "names.h"
#include "plan.h"
#include "report.h"
#include <stdlib.h>
#include <string.h>

/* One bit per word and quantity that the subject has something to say about. */
enum {
    FACT_KINDS        = 1u << 0, /* host host-pinned managed coherent device */
    FACT_COHERENCE    = 1u << 1, /* sync concurrent atomic */
    FACT_PLACEMENT    = 1u << 2, /* pinned migratable */
    FACT_CAPABILITIES = 1u << 3, /* share_addresses ... */
    FACT_EXACT        = 1u << 4
};

enum quantity { SIZE, FREE, ALLOC_MAX, PAGE_SIZE, DEVICES, NODES, QUANTITY_COUNT };

static const char *const quantity_names[QUANTITY_COUNT] = {"size",      "free",    "alloc_max",
                                                           "page_size", "devices", "nodes"};

struct facts {
    const char *subject;
    int verdict; /* exit_code of the subject by itself */
    unsigned known;
    unsigned kinds; /* bits of memspan_kind_t */
    unsigned capabilities;
    memspan_coherence_t coherence;
    bool pinned;
    bool migratable;
    bool exact;
    bool has[QUANTITY_COUNT];
    uint64_t quantity[QUANTITY_COUNT];
};

struct check {
    const struct request *request;
    const struct snapshot *snapshot;
    struct facts facts; /* of the last subject */
    struct plan plan;   /* of devices=: traits are added while they come */
    bool planning;
    int verdict;
};

/* ---- verdicts ---- */

static int rank_of(int verdict)
{
    static const int ranks[] = {[EXIT_YES]         = 0,
                                [EXIT_CONDITIONAL] = 1,
                                [EXIT_ABSENT]      = 2,
                                [EXIT_PROBE]       = 3,
                                [EXIT_USAGE]       = 4};

    return ranks[verdict];
}

static void judge(struct check *check, int verdict)
{
    if (rank_of(verdict) > rank_of(check->verdict)) {
        check->verdict = verdict;
    }
}

/* ---- facts ---- */

static void know(struct facts *facts, enum quantity quantity, uint64_t value)
{
    facts->has[quantity]      = true;
    facts->quantity[quantity] = value;
}

static struct facts facts_of_machine(const struct snapshot *snapshot)
{
    struct facts facts = {.subject = "the machine", .verdict = EXIT_YES};

    know(&facts, DEVICES, snapshot->device_count - ((snapshot->device_count > 0) ? 1 : 0));
    know(&facts, NODES, snapshot->node_count);
    return facts;
}

static struct facts facts_of_backend(const struct backend_row *row)
{
    struct facts facts = {.subject = "a backend", .verdict = EXIT_ABSENT};

    if (row->culprit != NULL) {
        facts.verdict = EXIT_PROBE;
    } else if (row->info.on) {
        facts.verdict = EXIT_YES;
    }
    know(&facts, DEVICES, (uint64_t)((row->info.device_count > 0) ? row->info.device_count : 0));
    return facts;
}

static struct facts facts_of_device(const struct device_row *row)
{
    struct facts facts = {.subject      = "a device",
                          .verdict      = EXIT_YES,
                          .known        = FACT_KINDS | FACT_CAPABILITIES,
                          .kinds        = row->info.kinds,
                          .capabilities = row->info.capabilities};

    know(&facts, SIZE, row->info.capacity_bytes);
    know(&facts, FREE, row->info.free_bytes);
    know(&facts, ALLOC_MAX, row->info.alloc_max_bytes);
    know(&facts, PAGE_SIZE, row->info.page_size_bytes);
    return facts;
}

static int verdict_of(enum lane_state state)
{
    return (state == LANE_OK) ? EXIT_YES : ((state == LANE_OFF) ? EXIT_ABSENT : EXIT_CONDITIONAL);
}

/* What a resource promises between the host and the device that is its home. */
static memspan_coherence_t promise_of(const struct snapshot *snapshot, const struct lane *lane)
{
    int home = snapshot_device_index(snapshot, lane->info.home);
    memspan_coherence_t host;

    if ((home < 0) || (snapshot->device_count == 0)) {
        return MEMSPAN_COHERENCE_NONE;
    }
    host = lane->reach[0].coherence;
    return (lane->reach[home].coherence < host) ? lane->reach[home].coherence : host;
}

static struct facts facts_of_lane(const struct snapshot *snapshot, const struct lane *lane,
                                  bool in_space)
{
    struct facts facts = {.subject    = "a space",
                          .verdict    = verdict_of(lane->state),
                          .known      = FACT_KINDS | FACT_COHERENCE | FACT_PLACEMENT,
                          .kinds      = 1u << lane->info.kind,
                          .coherence  = in_space ? lane->coherence : promise_of(snapshot, lane),
                          .pinned     = lane->planned && lane->plan.pinned,
                          .migratable = lane->planned && lane->plan.migratable};
    int home           = snapshot_device_index(snapshot, lane->info.home);

    know(&facts, SIZE, lane->info.capacity_bytes);
    know(&facts, PAGE_SIZE, lane->info.page_size_bytes);
    know(&facts, FREE, (home < 0) ? MEMSPAN_UNKNOWN : snapshot->devices[home].info.free_bytes);
    return facts;
}

/* Host memory may be taken from any of a space's nodes. */
static void add_host_sizes(const struct snapshot *snapshot, const struct space_row *row,
                           struct facts *facts)
{
    uint64_t most = snapshot->devices[0].info.capacity_bytes;
    uint64_t sum  = 0;
    size_t i;

    for (i = 0; i < row->lane_count; i++) {
        if ((row->lanes[i].info.home != MEMSPAN_HOST) ||
            (row->lanes[i].info.capacity_bytes == MEMSPAN_UNKNOWN)) {
            return;
        }
        sum += row->lanes[i].info.capacity_bytes;
    }
    know(facts, SIZE, (sum > most) ? most : sum);
}

/* A space is as good as its best resource, the first of equals. */
static struct facts facts_of_space(const struct snapshot *snapshot, const struct space_row *row)
{
    struct facts absent = {.subject = "a space",
                           .verdict = EXIT_ABSENT,
                           .known   = FACT_KINDS | FACT_COHERENCE | FACT_PLACEMENT};
    struct facts facts;
    unsigned kinds;
    size_t i;

    if ((row->status != MEMSPAN_OK) || (row->lane_count == 0)) {
        return absent;
    }
    facts = facts_of_lane(snapshot, &row->lanes[0], true);
    kinds = facts.kinds;
    for (i = 1; i < row->lane_count; i++) {
        struct facts other = facts_of_lane(snapshot, &row->lanes[i], true);

        kinds |= other.kinds;
        facts = (rank_of(other.verdict) < rank_of(facts.verdict)) ? other : facts;
    }
    facts.kinds = kinds;
    add_host_sizes(snapshot, row, &facts);
    return facts;
}

static struct facts facts_of_absent(const char *subject)
{
    struct facts facts = {.subject = subject, .verdict = EXIT_ABSENT, .known = ~0u};
    size_t i;

    for (i = 0; i < QUANTITY_COUNT; i++) {
        know(&facts, (enum quantity)i, MEMSPAN_UNKNOWN);
    }
    return facts;
}

static struct facts facts_of_plan(const struct snapshot *snapshot, struct plan *plan)
{
    struct facts facts               = {.subject   = "devices=",
                                        .verdict   = plan_make(plan),
                                        .known     = FACT_KINDS | FACT_COHERENCE | FACT_PLACEMENT | FACT_EXACT,
                                        .coherence = MEMSPAN_COHERENCE_ATOMIC};
    memspan_resource_info_t resource = {.struct_size = sizeof(resource)};
    uint64_t size                    = MEMSPAN_UNKNOWN;
    size_t i;

    know(&facts, SIZE, size);
    know(&facts, PAGE_SIZE, MEMSPAN_UNKNOWN);
    if (plan->status != MEMSPAN_OK) {
        facts.coherence = MEMSPAN_COHERENCE_NONE;
        return facts;
    }
    facts.kinds      = 1u << plan->info.kind_given;
    facts.pinned     = plan->info.pinned != 0;
    facts.migratable = plan->info.migratable != 0;
    facts.exact      = plan->info.exact != 0;
    know(&facts, PAGE_SIZE,
         (plan->info.page_size_bytes == 0) ? MEMSPAN_UNKNOWN : plan->info.page_size_bytes);
    for (i = 0; i < memspan_space_resource_count(plan->space); i++) {
        if ((memspan_space_resource(plan->space, i, &resource) == MEMSPAN_OK) &&
            (resource.kind == plan->info.kind_given) && (resource.home == plan->info.home)) {
            know(&facts, SIZE, resource.capacity_bytes);
            break;
        }
    }
    for (i = 0; i < plan->device_count; i++) {
        memspan_reach_t reach = {MEMSPAN_ACCESS_NONE, MEMSPAN_COHERENCE_NONE};

        memspan_device_reach(plan->info.home, plan->info.kind_given, plan->devices[i], &reach);
        facts.coherence = (reach.coherence < facts.coherence) ? reach.coherence : facts.coherence;
    }
    (void)snapshot;
    return facts;
}

/* ---- conditions ---- */

static int yes_if(bool holds)
{
    return holds ? EXIT_YES : EXIT_ABSENT;
}

static int complain_says_nothing(const struct facts *facts, const char *word)
{
    text_complain("\"%s\" cannot be asked of %s", word, facts->subject);
    return EXIT_USAGE;
}

static int complain_unknown(const char *word)
{
    static const char *const others[] = {"backend",    "device", "devices=",   "space",
                                         "sync",       "atomic", "concurrent", "pinned",
                                         "migratable", "exact"};
    struct text_list list             = {0};
    size_t i;
    int code;

    for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        text_list_add(&list, others[i]);
    }
    for (i = 0; i < QUANTITY_COUNT; i++) {
        text_list_add(&list, quantity_names[i]);
    }
    for (i = 0; i < capability_count; i++) {
        text_list_add(&list, capabilities[i].name);
    }
    for (i = MEMSPAN_KIND_HOST; i < MEMSPAN_KIND_COUNT; i++) {
        text_list_add(&list, memspan_kind_name((memspan_kind_t)i));
    }
    code = text_unknown("word of --check", word, &list);
    free(list.items);
    return code;
}

static int check_quantity(const struct facts *facts, const struct word *word)
{
    uint64_t wanted;
    uint64_t value;
    size_t i;

    for (i = 0; (i < QUANTITY_COUNT) && (strcmp(quantity_names[i], word->key) != 0); i++) {
    }
    if (i == QUANTITY_COUNT) {
        return complain_unknown(word->key);
    }
    if (!text_to_size(word->value, &wanted)) {
        text_complain("%s: \"%s\" is no number (digits, and k, m, g or t)", word->key, word->value);
        return EXIT_USAGE;
    }
    if (!facts->has[i]) {
        return complain_says_nothing(facts, word->key);
    }
    value = facts->quantity[i];
    if (value == MEMSPAN_UNKNOWN) {
        return EXIT_ABSENT;
    }
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

static int check_coherence(const struct facts *facts, const char *word, bool *found_p)
{
    memspan_coherence_t coherence;

    for (coherence = MEMSPAN_COHERENCE_SYNC; coherence <= MEMSPAN_COHERENCE_ATOMIC; coherence++) {
        if (strcmp(memspan_coherence_name(coherence), word) == 0) {
            *found_p = true;
            return ((facts->known & FACT_COHERENCE) == 0) ? complain_says_nothing(facts, word)
                                                          : yes_if(facts->coherence >= coherence);
        }
    }
    return EXIT_YES;
}

static int check_placement(const struct facts *facts, const char *word, bool *found_p)
{
    bool exact = strcmp(word, "exact") == 0;
    bool holds = (strcmp(word, "pinned") == 0) ? facts->pinned : facts->migratable;

    *found_p = exact || (strcmp(word, "pinned") == 0) || (strcmp(word, "migratable") == 0);
    if (!*found_p) {
        return EXIT_YES;
    }
    if ((facts->known & (exact ? FACT_EXACT : FACT_PLACEMENT)) == 0) {
        return complain_says_nothing(facts, word);
    }
    return yes_if(exact ? facts->exact : holds);
}

/* A word that stands alone: a kind, a coherence, a placement or a capability. */
static int check_alone(const struct facts *facts, const char *word)
{
    memspan_kind_t kind = name_kind(word);
    bool found          = false;
    int verdict;
    size_t i;

    if (kind != MEMSPAN_KIND_NONE) {
        return ((facts->known & FACT_KINDS) == 0) ? complain_says_nothing(facts, word)
                                                  : yes_if((facts->kinds & (1u << kind)) != 0);
    }
    verdict = check_coherence(facts, word, &found);
    if (!found) {
        verdict = check_placement(facts, word, &found);
    }
    if (found) {
        return verdict;
    }
    for (i = 0; i < capability_count; i++) {
        if (strcmp(capabilities[i].name, word) == 0) {
            return ((facts->known & FACT_CAPABILITIES) == 0)
                       ? complain_says_nothing(facts, word)
                       : yes_if((facts->capabilities & capabilities[i].bit) != 0);
        }
    }
    return complain_unknown(word);
}

/* ---- subjects ---- */

static struct facts facts_of_name(const struct check *check, const char *what, enum name_wish wish,
                                  const char *text)
{
    struct text_list names = {0};
    struct name name       = name_find(check->snapshot, text, wish, &names);
    struct facts facts     = facts_of_absent(what);

    switch (name.sort) {
    case NAME_BACKEND:
        /* of "opencl0.managed", where opencl has no device 0 */
        facts         = (name.kind == MEMSPAN_KIND_NONE) ? facts_of_backend(name.backend) : facts;
        facts.verdict = (name.backend->culprit != NULL) ? EXIT_PROBE : facts.verdict;
        break;
    case NAME_DEVICE:
        facts = facts_of_device(name.device);
        break;
    case NAME_SPACE:
        facts = facts_of_space(check->snapshot, name.space);
        break;
    case NAME_RESOURCE:
        facts = facts_of_lane(check->snapshot, name.lane, false);
        break;
    case NAME_UNKNOWN:
        facts.verdict = (probe_culprit(check->request, text) != NULL)
                            ? EXIT_PROBE
                            : text_unknown(what, text, &names);
        break;
    case NAME_KIND: /* not asked for */
    case NAME_MISSING_BACKEND:
    case NAME_MISSING_DEVICE:
    case NAME_OFFER:
        break;
    }
    free(names.items);
    return facts;
}

/* The plan's traits are complete: see what it gives, before its conditions are judged. */
static void finish_plan(struct check *check)
{
    if (!check->planning) {
        return;
    }
    check->planning = false;
    check->facts    = facts_of_plan(check->snapshot, &check->plan);
    if (check->facts.verdict == EXIT_USAGE) {
        text_complain("%s", check->plan.problem);
    }
    judge(check, check->facts.verdict);
}

static bool is_quantity(const struct word *word)
{
    size_t i;

    for (i = 0; i < QUANTITY_COUNT; i++) {
        if (strcmp(quantity_names[i], word->key) == 0) {
            /* page_size is a trait too */
            return (word->op != WORD_IS) || (i != PAGE_SIZE);
        }
    }
    return false;
}

/* A subject begins: returns false when the word is none. */
static bool begin_subject(struct check *check, const struct words *words, const struct word *word)
{
    if (word->op != WORD_IS) {
        return false;
    }
    if ((strcmp(word->key, "devices") == 0) || (strcmp(word->key, "base") == 0)) {
        if (!check->planning) {
            check->plan = (struct plan){0};
        }
        check->planning = true;
        judge(check, plan_add_word(&check->plan, words, word));
        return true;
    }
    if (strcmp(word->key, "backend") == 0) {
        check->facts = facts_of_name(check, "backend", NAME_A_BACKEND, word->value);
    } else if (strcmp(word->key, "space") == 0) {
        check->facts = facts_of_name(check, "space", NAME_A_SPACE, word->value);
    } else if (strcmp(word->key, "device") == 0) {
        check->facts = (strcmp(word->value, "host") == 0)
                           ? facts_of_device(&check->snapshot->devices[0])
                           : facts_of_name(check, "device", NAME_A_DEVICE, word->value);
    } else {
        return false;
    }
    judge(check, check->facts.verdict);
    return true;
}

static bool starts_subject(const struct word *word)
{
    return (word->op == WORD_IS) &&
           ((strcmp(word->key, "backend") == 0) || (strcmp(word->key, "space") == 0) ||
            (strcmp(word->key, "device") == 0) || (strcmp(word->key, "devices") == 0));
}

/* Traits and conditions may be mixed after devices=: the traits are gathered first. */
static void gather_traits(struct check *check, const struct words *words, size_t first)
{
    size_t i;

    for (i = first; (i < words->count) && !starts_subject(&words->list[i]); i++) {
        if ((words->list[i].op == WORD_IS) && !is_quantity(&words->list[i])) {
            judge(check, plan_add_word(&check->plan, words, &words->list[i]));
        }
    }
}

static void check_word(struct check *check, const struct words *words, size_t index,
                       bool *of_plan_p)
{
    const struct word *word = &words->list[index];

    if (starts_subject(word) || ((strcmp(word->key, "base") == 0) && !*of_plan_p)) {
        *of_plan_p = false;
        if (!begin_subject(check, words, word)) {
            return;
        }
        if (check->planning) {
            *of_plan_p = true;
            gather_traits(check, words, index + 1);
            finish_plan(check);
        }
        return;
    }
    if (*of_plan_p && (word->op == WORD_IS) && !is_quantity(word)) {
        return; /* a trait, gathered already */
    }
    judge(check, (word->op == WORD_ALONE) ? check_alone(&check->facts, word->key)
                                          : check_quantity(&check->facts, word));
}

int report_check(const struct request *request, FILE *out)
{
    static struct words words;
    static struct check check;
    struct snapshot snapshot;
    bool of_plan = false;
    int code     = words_parse(request->options->argument, &words);
    size_t i;

    (void)out; /* silent */
    if (code != EXIT_YES) {
        return code;
    }
    snapshot_take(&snapshot, request);
    check = (struct check){.request  = request,
                           .snapshot = &snapshot,
                           .facts    = facts_of_machine(&snapshot),
                           .verdict  = EXIT_YES};
    for (i = 0; i < words.count; i++) {
        check_word(&check, &words, i, &of_plan);
    }
    snapshot_free(&snapshot);
    if ((check.verdict == EXIT_ABSENT) && (request->culprit_count > 0)) {
        return EXIT_PROBE; /* what failed might have had it */
    }
    return check.verdict;
}
