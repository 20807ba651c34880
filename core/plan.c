/* SPDX-License-Identifier: BSD-3-Clause */
/* plan.c: the kind of memory, the driver and the place for a space and traits.
 *
 * The ladder. A request names one kind; each kind has a list of kinds that are right wherever it is
 * right, in the order in which they are tried. A program that is right on managed memory (one side
 * at a time) is right on coherent memory (both at once) and on pinned host memory; never the other
 * way round, so the list of coherent memory does not hold managed memory. Every step away from the
 * request makes the plan inexact and has its reason in `why`.
 *
 *   device       device, coherent, host-pinned, managed   (one device alone: all are its own)
 *   managed      managed, coherent, host-pinned, host
 *   coherent     coherent, host-pinned, host
 *   host-pinned  host-pinned, coherent (where it cannot move)
 *
 * (host: plain host memory, where every listed device reaches it as it is.) */

#include "core/plan.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/option.h"
#include "core/base/platform.h"
#include "core/base/text.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LADDER_MAX = 4 };

static const memspan_kind_t ladders[MEMSPAN_KIND_COUNT][LADDER_MAX] = {
    [MEMSPAN_KIND_DEVICE]  = {MEMSPAN_KIND_DEVICE, MEMSPAN_KIND_COHERENT, MEMSPAN_KIND_HOST_PINNED,
                              MEMSPAN_KIND_MANAGED},
    [MEMSPAN_KIND_MANAGED] = {MEMSPAN_KIND_MANAGED, MEMSPAN_KIND_COHERENT, MEMSPAN_KIND_HOST_PINNED,
                              MEMSPAN_KIND_HOST},
    [MEMSPAN_KIND_COHERENT] = {MEMSPAN_KIND_COHERENT, MEMSPAN_KIND_HOST_PINNED, MEMSPAN_KIND_HOST},
    [MEMSPAN_KIND_HOST_PINNED] = {MEMSPAN_KIND_HOST_PINNED, MEMSPAN_KIND_COHERENT},
    [MEMSPAN_KIND_HOST]        = {MEMSPAN_KIND_HOST, MEMSPAN_KIND_HOST_PINNED},
};

__attribute__((format(printf, 2, 3))) static void say(struct msp_plan *plan, const char *format,
                                                      ...)
{
    size_t used = strlen(plan->why);
    char text[sizeof(plan->why)];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    msp_text_append(plan->why, sizeof(plan->why), &used, "%s%s", (used > 0) ? "; " : "", text);
}

/* Some request is not kept; a stronger kind of memory alone keeps all of it. */
static void weaken(struct msp_plan *plan)
{
    plan->exact  = false;
    plan->serves = false;
    plan->warns  = true;
}

/* ---- the request ---- */

static bool wants_host_residence(const struct msp_traits *t)
{
    return (t->preferred_location == MEMSPAN_HOST) || (t->preferred_location == MSP_NO_DEVICE);
}

static memspan_kind_t kind_asked(const struct msp_space *space, const struct msp_traits *t)
{
    if (!space->target) {
        return t->pinned ? MEMSPAN_KIND_HOST_PINNED : MEMSPAN_KIND_HOST;
    }
    if (space->partial && !t->memory_access_given && !t->pinned) {
        return space->resources[0].kind; /* a request for a resource is for its kind */
    }
    if (!space->host && (space->device_count == 1) && !t->memory_access_given) {
        return MEMSPAN_KIND_DEVICE;
    }
    if (t->pinned && !t->memory_access_given && wants_host_residence(t)) {
        return MEMSPAN_KIND_HOST_PINNED;
    }
    return (t->memory_access == MEMSPAN_VALUE_MANAGED) ? MEMSPAN_KIND_MANAGED
                                                       : MEMSPAN_KIND_COHERENT;
}

static memspan_status_t node_of_place(const struct msp_traits *t, int *node_p)
{
    memspan_status_t status = msp_numa_node_of_place(t->preferred_place, node_p);

    return (status == MEMSPAN_ERR_NOT_FOUND)
               ? memspan_error(MEMSPAN_ERR_INVALID, "trait preferred_place: %s",
                               memspan_error_last()->message)
               : status;
}

/* ---- target spaces ---- */

static const struct msp_device *member(const struct msp_space *space, size_t i)
{
    return (i < space->device_count) ? msp_device_find(space->devices[i]) : msp_device_of_host();
}

static size_t member_count(const struct msp_space *space)
{
    return space->device_count + (space->host ? 1 : 0);
}

static memspan_coherence_t weakest(const struct msp_space *space,
                                   const struct msp_resource *resource)
{
    memspan_coherence_t coherence = MEMSPAN_COHERENCE_ATOMIC;
    size_t i;

    for (i = 0; i < member_count(space); i++) {
        memspan_reach_t reach = msp_resource_reach(resource, member(space, i));
        coherence             = (reach.coherence < coherence) ? reach.coherence : coherence;
    }
    return coherence;
}

static bool is_migratable(memspan_kind_t kind, const struct msp_device *home)
{
    return (home->info.kinds_migratable & (1u << kind)) != 0;
}

/* Memory that other processes or network cards can get: a driver shares its devices' own. */
static bool is_shareable(const struct msp_resource *r)
{
    unsigned ways = MEMSPAN_CAN_IPC | MEMSPAN_CAN_DMABUF | MEMSPAN_CAN_RDMA;

    return (r->kind == MEMSPAN_KIND_DEVICE) && !r->imported &&
           ((r->home->info.capabilities & ways) != 0);
}

/* Whether a resource of the space keeps the promise of the requested kind. */
static bool keeps_promise(const struct msp_space *space, const struct msp_traits *t,
                          const struct msp_resource *r, memspan_kind_t asked)
{
    if ((t->pinned || t->shareable) && is_migratable(r->kind, r->home)) {
        return false;
    }
    if (t->shareable && !is_shareable(r)) {
        return false;
    }
    if (member_count(space) == 1) {
        return true;
    }
    return weakest(space, r) >= ((asked == MEMSPAN_KIND_MANAGED) ? MEMSPAN_COHERENCE_SYNC
                                                                 : MEMSPAN_COHERENCE_CONCURRENT);
}

/* The best resource of one kind: of the device where it should live, else the first. */
static const struct msp_resource *of_kind(const struct msp_space *space, const struct msp_traits *t,
                                          memspan_kind_t kind, memspan_kind_t asked)
{
    const struct msp_resource *first = NULL;
    size_t i;

    for (i = 0; i < space->resource_count; i++) {
        const struct msp_resource *r = &space->resources[i];

        if ((r->kind != kind) || !keeps_promise(space, t, r, asked)) {
            continue;
        }
        if (r->home->number == t->preferred_location) {
            return r;
        }
        first = (first == NULL) ? r : first;
    }
    return first;
}

static bool has_gain(const struct msp_resource *r)
{
    return (r->home->info.kinds_without_gain & (1u << r->kind)) == 0;
}

static const struct msp_resource *climb(const struct msp_space *space, const struct msp_traits *t,
                                        memspan_kind_t asked)
{
    const struct msp_resource *without_gain = NULL;
    size_t i;

    for (i = 0; (i < LADDER_MAX) && (ladders[asked][i] != MEMSPAN_KIND_NONE); i++) {
        const struct msp_resource *r = of_kind(space, t, ladders[asked][i], asked);

        if ((r != NULL) && (has_gain(r) || (t->guarantee == MEMSPAN_VALUE_REQUIRED))) {
            return r;
        }
        without_gain = (without_gain == NULL) ? r : without_gain;
    }
    return without_gain;
}

/* The reason of the first device that is to have it; where it could, the list is in the way. */
static memspan_status_t nothing_to_share(const struct msp_space *space)
{
    const struct msp_device *d = (space->device_count > 0) ? member(space, 0) : NULL;

    memspan_error(
        MEMSPAN_ERR_UNSUPPORTED,
        "trait shareable=true: space %s has no memory that can be given to other processes "
        "or network cards",
        space->name);
    if (d == NULL) {
        return msp_error_hint("only device memory is shared: use a space of one device alone");
    }
    if ((d->info.capabilities & (MEMSPAN_CAN_IPC | MEMSPAN_CAN_DMABUF | MEMSPAN_CAN_RDMA)) == 0) {
        const char *note = d->info.capability_note[__builtin_ctz(MEMSPAN_CAN_IPC)];

        return msp_error_hint("%s", (note[0] != '\0') ? note : "its backend shares no memory");
    }
    if (member_count(space) == 1) {
        return msp_error_hint("a device's own memory is shared: leave out memory_access");
    }
    return msp_error_hint("a device's own memory is shared: use the space of device %d alone",
                          d->number);
}

static memspan_status_t nothing_serves(const struct msp_space *space, const struct msp_traits *t,
                                       memspan_kind_t asked)
{
    bool sharing = (asked != MEMSPAN_KIND_MANAGED) && (member_count(space) > 1);
    char label[48];

    if (t->shareable) {
        return nothing_to_share(space);
    }

    memspan_error(MEMSPAN_ERR_UNREACHABLE, "space %s has no %s%s memory%s, and nothing stronger",
                  space->name, (t->pinned && (asked != MEMSPAN_KIND_HOST_PINNED)) ? "pinned " : "",
                  memspan_kind_name(asked), sharing ? " that all may use at once" : "");
    if (asked != MEMSPAN_KIND_MANAGED) {
        return msp_error_hint(
            "its first resource is %s; ask for memory_access=managed and synchronise",
            msp_resource_label(&space->resources[0], label, sizeof(label)));
    }
    return msp_error_hint("its first resource is %s",
                          msp_resource_label(&space->resources[0], label, sizeof(label)));
}

static void explain_kind(struct msp_plan *plan, const struct msp_resource *r)
{
    const struct msp_device *home = r->home;
    const char *note              = home->info.kind_note[r->kind];
    const struct msp_device *first =
        (plan->space->device_count > 0) ? msp_device_find(plan->space->devices[0]) : NULL;
    char label[48];

    msp_resource_label(r, label, sizeof(label));
    if (r->kind == plan->kind_asked) {
        say(plan, "%s as asked, from %s%s%s%s", memspan_kind_name(r->kind), label,
            (note[0] != '\0') ? " (" : "", note, (note[0] != '\0') ? ")" : "");
        return;
    }
    say(plan, "%s memory was asked for, %s serves it by %s memory%s%s%s",
        memspan_kind_name(plan->kind_asked), label, memspan_kind_name(r->kind),
        (note[0] != '\0') ? " (" : "", note, (note[0] != '\0') ? ")" : "");
    if ((first != NULL) && (first->info.kind_note[plan->kind_asked][0] != '\0')) {
        say(plan, "%s: %s", memspan_kind_name(plan->kind_asked),
            first->info.kind_note[plan->kind_asked]);
    }
}

static void explain_coherence(struct msp_plan *plan, const struct msp_traits *t,
                              const struct msp_resource *r)
{
    bool is_promised = (plan->kind_asked == MEMSPAN_KIND_COHERENT) ||
                       (t->pinned && (t->memory_access == MEMSPAN_VALUE_COHERENT));

    if (!is_promised || (member_count(plan->space) == 1) ||
        (t->atomic_scope == MEMSPAN_VALUE_DEVICE)) {
        return;
    }
    if (weakest(plan->space, r) < MEMSPAN_COHERENCE_ATOMIC) {
        weaken(plan);
        plan->warns = t->memory_access_given; /* else it is the default that is not kept */
        say(plan, "atomics between its sides are not promised");
    }
}

static void place_on_device(struct msp_plan *plan, const struct msp_traits *t,
                            const struct msp_resource *r)
{
    const struct msp_device *host = msp_device_of_host();
    const struct msp_device *wanted;
    bool moves = is_migratable(r->kind, r->home);
    size_t i;

    plan->resident = (r->kind == MEMSPAN_KIND_DEVICE) ? r->home : host;
    if (t->preferred_location == MSP_NO_DEVICE) {
        return;
    }
    wanted = msp_device_find(t->preferred_location);
    for (i = 0; i < member_count(plan->space); i++) {
        if ((wanted != NULL) && (wanted == member(plan->space, i)) &&
            (moves || (wanted == plan->resident))) {
            plan->resident = wanted;
            return;
        }
    }
    if ((wanted != NULL) && (r->home->info.capabilities & MEMSPAN_CAN_UNIFIED_PHYSICAL) != 0) {
        return; /* one memory: every preferred location is the same place */
    }
    weaken(plan);
    say(plan, "preferred_location %d cannot be followed: it stays on %s", t->preferred_location,
        (plan->resident == host) ? "the host" : plan->resident->info.name);
}

/* A place on the host for memory of a device's driver: a hint, which drivers of host memory follow.
 */
static memspan_status_t hint_place(struct msp_plan *plan, const struct msp_traits *t)
{
    int node                = -1;
    memspan_status_t status = node_of_place(t, &node);

    if (status != MEMSPAN_OK) {
        return status;
    }
    if (plan->kind_given == MEMSPAN_KIND_DEVICE) {
        weaken(plan);
        say(plan, "preferred_place is for host memory and was not followed");
        return MEMSPAN_OK;
    }
    plan->nodes = malloc(sizeof(*plan->nodes));
    if (plan->nodes == NULL) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for a plan");
    }
    plan->nodes[0]        = node;
    plan->spec.nodes      = plan->nodes;
    plan->spec.node_count = 1;
    if (msp_numa_node_count() > 1) {
        weaken(plan); /* the contract has no way of promising it */
        say(plan, "node %d, nearest to place %d, is a hint to the driver", node,
            t->preferred_place);
    } else {
        say(plan, "node %d is nearest to place %d", node, t->preferred_place);
    }
    return MEMSPAN_OK;
}

static memspan_status_t use_importers(struct msp_plan *plan)
{
    size_t i;

    plan->importers = calloc(plan->space->device_count, sizeof(*plan->importers));
    if (plan->importers == NULL) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for a plan");
    }
    for (i = 0; i < plan->space->device_count; i++) {
        plan->importers[i] = msp_device_find(plan->space->devices[i]);
    }
    plan->spec.importers      = plan->importers;
    plan->spec.importer_count = plan->space->device_count;
    say(plan, "host pages imported into every listed driver at one address");
    return MEMSPAN_OK;
}

static memspan_status_t plan_target(struct msp_plan *plan, const struct msp_traits *t)
{
    const struct msp_resource *r = climb(plan->space, t, plan->kind_asked);

    if (r == NULL) {
        return nothing_serves(plan->space, t, plan->kind_asked);
    }
    plan->kind_given  = r->kind;
    plan->exact       = (r->kind == plan->kind_asked);
    plan->migratable  = is_migratable(r->kind, r->home);
    plan->spec.device = r->home;
    plan->spec.kind   = r->kind;
    explain_kind(plan, r);
    explain_coherence(plan, t, r);
    place_on_device(plan, t, r);
    plan->spec.resident_ordinal =
        (plan->resident->number == MEMSPAN_HOST) ? MEMSPAN_HOST : plan->resident->ordinal;
    if (t->pinned) {
        plan->spec.flags |= MEMSPAN_REQUEST_PINNED;
    }
    if (t->shareable) {
        plan->spec.flags |= MEMSPAN_REQUEST_SHARED;
        say(plan, "taken to be shared with other processes and network cards");
    }
    if (t->preferred_place != MSP_NO_PLACE) {
        memspan_status_t status = hint_place(plan, t);
        if (status != MEMSPAN_OK) {
            return status;
        }
    }
    return r->imported ? use_importers(plan) : MEMSPAN_OK;
}

/* ---- host spaces ---- */

static memspan_status_t use_place(struct msp_plan *plan, const struct msp_traits *t)
{
    int node                = -1;
    memspan_status_t status = node_of_place(t, &node);
    size_t i;

    if (status != MEMSPAN_OK) {
        return status;
    }
    for (i = 0; i < plan->space->resource_count; i++) {
        if (plan->space->resources[i].node == node) {
            plan->nodes[0]        = node;
            plan->spec.node_count = 1;
            say(plan, "node %d is nearest to place %d", node, t->preferred_place);
            return MEMSPAN_OK;
        }
    }
    weaken(plan);
    say(plan, "place %d is nearest to node %d, which is not one of space %s", t->preferred_place,
        node, plan->space->name);
    return MEMSPAN_OK;
}

static void use_partition(struct msp_plan *plan, const struct msp_traits *t)
{
    static const char *const words[]        = {"nearest", "blocked", "interleaved"};
    static const memspan_spread_t spreads[] = {MEMSPAN_SPREAD_NEAREST, MEMSPAN_SPREAD_BLOCKED,
                                               MEMSPAN_SPREAD_INTERLEAVED};
    int i                                   = t->partition - MEMSPAN_VALUE_NEAREST;

    if ((i < 0) || (i > 2)) {
        return;
    }
    if (plan->spec.node_count == 1) {
        say(plan, "partition=%s over one node is that node", words[i]);
        return;
    }
    plan->spec.spread          = spreads[i];
    plan->spec.part_size_bytes = t->part_size;
    if (spreads[i] == MEMSPAN_SPREAD_BLOCKED) {
        plan->blocked_bytes = plan->spec.node_count * msp_page_size();
    }
    say(plan, "%s over %zu nodes", words[i], plan->spec.node_count);
}

/* Binding is requested only where it has an effect: several nodes, or some of them left out. */
static bool needs_nodes(const struct msp_plan *plan)
{
    bool tier = (plan->space->hint != MSP_HINT_DEFAULT) && !plan->space->alias;

    return plan->space->partial || tier || !msp_topology_is_plain();
}

/* Default memory is where it is touched first: programs initialise their arrays in parallel for
 * that. The nodes only keep it out of a device's memory that shows as a node. */
static void choose_usual_nodes(struct msp_plan *plan)
{
    const struct msp_space *space = plan->space;

    if (!needs_nodes(plan)) {
        plan->spec.node_count = 0;
    } else if (!space->partial && (space->alias || (space->hint == MSP_HINT_DEFAULT))) {
        plan->spec.spread = MEMSPAN_SPREAD_TOUCHED;
    }
}

static void use_pin_device(struct msp_plan *plan, const struct msp_traits *t)
{
    const struct msp_device *d = msp_device_find(t->pin_device);

    if ((d == NULL) || (d->number == MEMSPAN_HOST)) {
        return;
    }
    if ((d->info.kinds & (1u << MEMSPAN_KIND_HOST_PINNED)) == 0) {
        weaken(plan);
        say(plan, "device %d has no pinned host memory of its own; the host pins it", d->number);
        return;
    }
    plan->spec.device     = d;
    plan->spec.node_count = 0;
    say(plan, "pinned by the driver of device %d", d->number);
}

static memspan_status_t plan_host(struct msp_plan *plan, const struct msp_traits *t)
{
    const struct msp_space *space = plan->space;
    memspan_status_t status       = MEMSPAN_OK;
    size_t i;

    if (t->shareable) {
        return nothing_to_share(space);
    }
    plan->nodes = calloc(space->resource_count, sizeof(*plan->nodes));
    if (plan->nodes == NULL) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for a plan");
    }
    for (i = 0; (i < space->resource_count) && (space->resources[i].node >= 0); i++) {
        plan->nodes[i] = space->resources[i].node;
    }
    plan->spec.node_count = i;
    plan->spec.nodes      = plan->nodes;
    plan->spec.device     = msp_device_of_host();
    plan->spec.kind       = plan->kind_asked;
    plan->kind_given      = plan->kind_asked;
    plan->resident        = plan->spec.device;
    plan->exact           = !space->alias;
    if (t->pinned) {
        plan->spec.flags |= MEMSPAN_REQUEST_PINNED;
    }
    if (space->note[0] != '\0') {
        say(plan, "%s", space->note);
    }
    if (t->preferred_place != MSP_NO_PLACE) {
        status = use_place(plan, t);
    }
    use_partition(plan, t);
    if ((plan->spec.spread == MEMSPAN_SPREAD_ANY) &&
        (plan->spec.node_count == space->resource_count)) {
        choose_usual_nodes(plan);
    }
    if ((t->pin_device != MSP_NO_DEVICE) && (status == MEMSPAN_OK)) {
        use_pin_device(plan, t);
    }
    if ((t->preferred_location != MSP_NO_DEVICE) && (t->preferred_location != MEMSPAN_HOST) &&
        (msp_device_find(t->preferred_location) != plan->resident)) {
        weaken(plan);
        say(plan, "preferred_location %d is no place for a space of host memory",
            t->preferred_location);
    }
    plan->migratable = is_migratable(plan->kind_given, plan->spec.device);
    if (plan->why[0] == '\0') {
        say(plan, "%s memory as asked", memspan_kind_name(plan->kind_given));
    }
    return status;
}

/* ---- both ---- */

/* Another kind than requested instead of a device's own memory; host memory, which a device reaches
 * over its link, instead of memory that moves to it. No link, nothing is slower. */
static bool is_slower(const struct msp_plan *plan)
{
    if ((plan->spec.device->info.capabilities & MEMSPAN_CAN_UNIFIED_PHYSICAL) != 0) {
        return false;
    }
    if (plan->kind_asked == MEMSPAN_KIND_DEVICE) {
        return plan->kind_given != MEMSPAN_KIND_DEVICE;
    }
    return (plan->kind_asked == MEMSPAN_KIND_MANAGED) &&
           ((plan->kind_given == MEMSPAN_KIND_HOST_PINNED) ||
            (plan->kind_given == MEMSPAN_KIND_HOST));
}

static memspan_status_t check_guarantee(struct msp_plan *plan, const struct msp_traits *t)
{
    bool is_required = (t->guarantee == MEMSPAN_VALUE_REQUIRED) && !plan->exact;
    bool is_strict   = (msp_option_choice(MSP_OPTION_FALLBACK) == MSP_FALLBACK_STRICT) &&
                     (!plan->serves || plan->space->alias || is_slower(plan));

    if (!is_required && !is_strict) {
        return MEMSPAN_OK;
    }
    memspan_error(MEMSPAN_ERR_NOT_GUARANTEED, "%.480s", plan->why);
    return msp_error_hint("it is refused because of %s",
                          is_required ? "guarantee=required" : "MEMSPAN_FALLBACK=strict");
}

void msp_plan_report(const struct msp_plan *plan)
{
    if (!plan->exact && (msp_option_choice(MSP_OPTION_FALLBACK) != MSP_FALLBACK_QUIET)) {
        msp_log(plan->warns ? MEMSPAN_LOG_WARN : MEMSPAN_LOG_INFO, "core", "space %s: %s",
                plan->space->name, plan->why);
    }
}

static memspan_status_t check_devices(const struct msp_traits *t)
{
    if ((t->preferred_location != MSP_NO_DEVICE) &&
        (msp_device_find(t->preferred_location) == NULL)) {
        return memspan_error(MEMSPAN_ERR_INVALID, "trait preferred_location: %s",
                             memspan_error_last()->message);
    }
    if ((t->pin_device != MSP_NO_DEVICE) && (msp_device_find(t->pin_device) == NULL)) {
        return memspan_error(MEMSPAN_ERR_INVALID, "trait pin_device: %s",
                             memspan_error_last()->message);
    }
    return MEMSPAN_OK;
}

memspan_status_t msp_plan_make(const struct msp_space *space, const struct msp_traits *given,
                               struct msp_plan *plan_p)
{
    struct msp_plan *plan           = plan_p;
    struct msp_traits own           = *given;
    const struct msp_traits *traits = &own;
    memspan_status_t status         = check_devices(given);

    if ((own.preferred_location != MSP_NO_DEVICE) && (status == MEMSPAN_OK)) {
        /* The host's other number means the host. */
        own.preferred_location = msp_device_find(given->preferred_location)->number;
    }

    if (status != MEMSPAN_OK) {
        return status;
    }
    memset(plan, 0, sizeof(*plan));
    plan->space                 = space;
    plan->kind_asked            = kind_asked(space, traits);
    plan->blocked_bytes         = SIZE_MAX;
    plan->serves                = true;
    plan->spec.resident_ordinal = MEMSPAN_HOST;
    plan->spec.page_size_bytes  = traits->page_size;
    if (msp_device_find(MEMSPAN_HOST) == NULL) { /* described, too */
        return memspan_error_last()->status;
    }
    if (traits->guarantee == MEMSPAN_VALUE_REQUIRED) {
        plan->spec.flags |= MEMSPAN_REQUEST_STRICT;
    }
    status = space->target ? plan_target(plan, traits) : plan_host(plan, traits);
    if (status == MEMSPAN_OK) {
        status = check_guarantee(plan, traits);
    }
    if (status != MEMSPAN_OK) {
        msp_plan_clear(plan);
    }
    return status;
}

bool msp_plan_is_plain(const struct msp_space *space, const struct msp_traits *t)
{
#define CHECK_PLAIN(key, member, form, initial, plain, words)                                      \
    if (!MSP_TRAIT_PLAIN_##plain(t->member, initial)) {                                            \
        return false;                                                                              \
    }
    MSP_TRAIT_TABLE(CHECK_PLAIN)
#undef CHECK_PLAIN
    return !space->target && !space->partial && (space->hint == MSP_HINT_DEFAULT) &&
           msp_topology_is_plain();
}

memspan_status_t msp_plan_make_plain(const struct msp_space *space, struct msp_plan *plan_p)
{
    const struct msp_device *host = msp_device_of_host();

    memset(plan_p, 0, sizeof(*plan_p));
    if (host == NULL) {
        return memspan_error_last()->status;
    }
    plan_p->space                 = space;
    plan_p->spec.device           = host;
    plan_p->spec.kind             = MEMSPAN_KIND_HOST;
    plan_p->spec.resident_ordinal = MEMSPAN_HOST;
    plan_p->kind_asked            = MEMSPAN_KIND_HOST;
    plan_p->kind_given            = MEMSPAN_KIND_HOST;
    plan_p->resident              = host;
    plan_p->blocked_bytes         = SIZE_MAX;
    plan_p->exact                 = true;
    plan_p->serves                = true;
    plan_p->migratable            = is_migratable(MEMSPAN_KIND_HOST, host);
    say(plan_p, "host memory as asked");
    return MEMSPAN_OK;
}

memspan_status_t msp_plan_provide(struct msp_plan *plan)
{
    memspan_status_t status = msp_space_connect(plan->space, plan->spec.device, plan->spec.kind);

    if (status != MEMSPAN_OK) {
        return status;
    }
    if (plan->provider == NULL) {
        plan->provider = msp_provider_get(&plan->spec);
    }
    return (plan->provider == NULL) ? memspan_error_last()->status : MEMSPAN_OK;
}

struct msp_provider *msp_plan_provider_here(const struct msp_plan *plan)
{
    struct msp_provider_spec spec;
    int here;
    size_t i;

    if (MSP_LIKELY(plan->spec.spread != MEMSPAN_SPREAD_NEAREST)) {
        return plan->provider;
    }
    here = msp_numa_node_here();
    for (i = 0; i < plan->spec.node_count; i++) {
        if (plan->spec.nodes[i] == here) {
            spec            = plan->spec;
            spec.spread     = MEMSPAN_SPREAD_ANY;
            spec.nodes      = &here;
            spec.node_count = 1;
            return msp_provider_get(&spec);
        }
    }
    /* The thread runs on a node that is not one of the space's: the backend chooses. */
    return plan->provider;
}
