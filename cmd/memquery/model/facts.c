/* SPDX-License-Identifier: BSD-3-Clause */
/* facts.c: the facts about a machine, backend, device, space, resource or list of devices. A
 * subject of several parts promises as much as the weakest of them, and a sum is at most the
 * machine's memory. */

#include "cmd/memquery/model/model.h"
#include <stdarg.h>

static const struct {
    const char *name;
    unsigned words;
    unsigned quantities; /* 1 << enum quantity */
} subjects[] = {
    [OF_MACHINE] = {"the machine", 0, (1u << DEVICES) | (1u << NODES)},
    [OF_BACKEND] = {"a backend", 0, 1u << DEVICES},
    [OF_DEVICE]  = {"a device", FACT_KINDS | FACT_CAPABILITIES,
                    (1u << SIZE) | (1u << FREE) | (1u << ALLOC_MAX) | (1u << PAGE_SIZE)},
    [OF_SPACE]   = {"a space", FACT_KINDS | FACT_COHERENCE | FACT_PLACEMENT,
                    (1u << SIZE) | (1u << FREE) | (1u << PAGE_SIZE)},
    [OF_LIST]    = {"devices=", FACT_KINDS | FACT_COHERENCE | FACT_PLACEMENT | FACT_EXACT,
                    (1u << SIZE) | (1u << PAGE_SIZE)},
};

const char *facts_subject_name(enum facts_subject subject)
{
    return subjects[subject].name;
}

bool facts_have(const struct facts *facts, unsigned words)
{
    return (subjects[facts->subject].words & words) != 0;
}

bool facts_have_quantity(const struct facts *facts, enum quantity quantity)
{
    return (subjects[facts->subject].quantities & (1u << quantity)) != 0;
}

void facts_explain(struct facts *facts, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(facts->why, sizeof(facts->why), format, args);
    va_end(args);
}

static struct facts begin(enum facts_subject subject, int verdict)
{
    struct facts facts = {
        .subject = subject, .verdict = verdict, .coherence = MEMSPAN_COHERENCE_NONE};

    for (size_t i = 0; i < QUANTITY_COUNT; i++) {
        facts.quantity[i] = MEMSPAN_UNKNOWN;
    }
    return facts;
}

struct facts facts_of_absent(enum facts_subject subject)
{
    struct facts facts = begin(subject, EXIT_ABSENT);

    facts_explain(&facts, "it is not there");
    return facts;
}

struct facts facts_of_machine(const struct snapshot *snapshot)
{
    struct facts facts = begin(OF_MACHINE, EXIT_YES);

    facts.quantity[DEVICES] = snapshot->device_count - ((snapshot->device_count > 0) ? 1 : 0);
    facts.quantity[NODES]   = snapshot->node_count;
    return facts;
}

struct facts facts_of_backend(const struct backend_row *row)
{
    struct facts facts = begin(OF_BACKEND, row->info.on ? EXIT_YES : EXIT_ABSENT);

    facts.quantity[DEVICES] = (uint64_t)((row->info.device_count > 0) ? row->info.device_count : 0);
    facts_explain(&facts, "%s", row->info.reason);
    if (row->failure != NULL) {
        facts.verdict = EXIT_PROBE;
        facts_explain(&facts, "%s", row->failure->what);
    }
    return facts;
}

struct facts facts_of_device(const struct device_row *row)
{
    struct facts facts = begin(OF_DEVICE, EXIT_YES);

    facts.kinds               = row->info.kinds;
    facts.capabilities        = row->info.capabilities;
    facts.quantity[SIZE]      = row->info.capacity_bytes;
    facts.quantity[FREE]      = row->info.free_bytes;
    facts.quantity[ALLOC_MAX] = row->info.alloc_max_bytes;
    facts.quantity[PAGE_SIZE] = row->info.page_size_bytes;
    facts_explain(&facts, "%s:%d, %s", row->info.backend, row->info.ordinal, row->info.name);
    return facts;
}

/* ---- spaces ---- */

/* The coherence between the host and the resource's home device. */
static memspan_coherence_t promise_of(const struct snapshot *snapshot,
                                      const struct resource *resource)
{
    int home = snapshot_device_index(snapshot, resource->info.home);
    memspan_coherence_t host;

    if ((home < 0) || (snapshot->device_count == 0)) {
        return MEMSPAN_COHERENCE_NONE;
    }
    host = resource->reach[0].coherence;
    return (resource->reach[home].coherence < host) ? resource->reach[home].coherence : host;
}

static struct facts facts_in_space(const struct snapshot *snapshot, const struct resource *resource)
{
    static const int verdicts[] = {[RESOURCE_OK]          = EXIT_YES,
                                   [RESOURCE_ALIAS]       = EXIT_CONDITIONAL,
                                   [RESOURCE_CONDITIONAL] = EXIT_CONDITIONAL,
                                   [RESOURCE_OFF]         = EXIT_ABSENT};
    struct facts facts          = begin(OF_SPACE, verdicts[resource->state]);
    int home                    = snapshot_device_index(snapshot, resource->info.home);

    facts.kinds               = (resource->state == RESOURCE_OFF) ? 0 : (1u << resource->info.kind);
    facts.coherence           = resource->coherence;
    facts.pinned              = resource->planned && resource->plan.pinned;
    facts.migratable          = resource->planned && resource->plan.migratable;
    facts.quantity[SIZE]      = resource->info.capacity_bytes;
    facts.quantity[PAGE_SIZE] = resource->info.page_size_bytes;
    facts.quantity[FREE] = (home < 0) ? MEMSPAN_UNKNOWN : snapshot->devices[home].info.free_bytes;
    facts_explain(&facts, "%s%s%s", resource->info.name, (resource->note[0] != '\0') ? ": " : "",
                  resource->note);
    return facts;
}

struct facts facts_of_resource(const struct snapshot *snapshot, const struct resource *resource)
{
    struct facts facts = facts_in_space(snapshot, resource);

    facts.coherence = promise_of(snapshot, resource);
    return facts;
}

/* Host memory may be taken from any of a space's nodes. */
static void add_host_sizes(const struct snapshot *snapshot, const struct space_row *row,
                           struct facts *facts)
{
    uint64_t most = snapshot->devices[0].info.capacity_bytes;
    uint64_t sum  = 0;

    for (size_t i = 0; i < row->resource_count; i++) {
        if (row->resources[i].state == RESOURCE_OFF) {
            continue;
        }
        if ((row->resources[i].info.home != MEMSPAN_HOST) ||
            (row->resources[i].info.capacity_bytes == MEMSPAN_UNKNOWN)) {
            return;
        }
        sum += row->resources[i].info.capacity_bytes;
    }
    facts->quantity[SIZE] = (sum > most) ? most : sum;
}

static int better(int verdict)
{
    return (verdict == EXIT_YES) ? 0 : ((verdict == EXIT_CONDITIONAL) ? 1 : 2);
}

/* A space is as good as its best resource, the first of equals. */
struct facts facts_of_space(const struct snapshot *snapshot, const struct space_row *row)
{
    struct facts facts = facts_of_absent(OF_SPACE);
    unsigned kinds     = 0;

    if ((row->status != MEMSPAN_OK) || (row->resource_count == 0)) {
        facts_explain(&facts, "%s", (row->problem[0] != '\0') ? row->problem : "it has no memory");
        return facts;
    }
    for (size_t i = 0; i < row->resource_count; i++) {
        struct facts other = facts_in_space(snapshot, &row->resources[i]);

        kinds |= other.kinds;
        if ((i == 0) || (better(other.verdict) < better(facts.verdict))) {
            facts = other;
        }
    }
    facts.kinds = kinds;
    add_host_sizes(snapshot, row, &facts);
    return facts;
}

/* ---- lists of devices ---- */

static void add_resource(const struct plan *plan, struct facts *facts)
{
    memspan_resource_info_t resource = {.struct_size = sizeof(resource)};

    for (size_t i = 0; i < memspan_space_resource_count(plan->space); i++) {
        if ((memspan_space_resource(plan->space, i, &resource) == MEMSPAN_OK) &&
            (resource.kind == plan->info.kind_given) && (resource.home == plan->info.home)) {
            facts->quantity[SIZE] = resource.capacity_bytes;
            return;
        }
    }
}

struct facts facts_of_plan(struct plan *plan)
{
    struct facts facts = begin(OF_LIST, plan_make(plan));

    if (plan->status != MEMSPAN_OK) {
        facts_explain(&facts, "%s", plan->problem);
        return facts;
    }
    facts.kinds      = 1u << plan->info.kind_given;
    facts.pinned     = plan->info.pinned != 0;
    facts.migratable = plan->info.migratable != 0;
    facts.exact      = plan->info.exact != 0;
    facts.coherence  = MEMSPAN_COHERENCE_ATOMIC;
    facts.quantity[PAGE_SIZE] =
        (plan->info.page_size_bytes == 0) ? MEMSPAN_UNKNOWN : plan->info.page_size_bytes;
    add_resource(plan, &facts);
    for (size_t i = 0; i < plan->device_count; i++) {
        memspan_reach_t reach = {MEMSPAN_ACCESS_NONE, MEMSPAN_COHERENCE_NONE};

        memspan_device_reach(plan->info.home, plan->info.kind_given, plan->devices[i], &reach);
        facts.coherence = (reach.coherence < facts.coherence) ? reach.coherence : facts.coherence;
    }
    facts_explain(&facts, "%s", plan->info.why);
    return facts;
}
