/* SPDX-License-Identifier: BSD-3-Clause */
/* space.c: spaces and their resources.
 *
 * Migration, pinning and page size of a resource are the library's answer, not derived from its
 * kind: an allocator over the sub-space of that resource alone is planned. */

#include "cmd/memquery/model/model.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *name;
    memspan_space_h space;
} predefined[] = {
    {"default", MEMSPAN_SPACE_DEFAULT}, {"large_cap", MEMSPAN_SPACE_LARGE_CAP},
    {"const", MEMSPAN_SPACE_CONST},     {"high_bw", MEMSPAN_SPACE_HIGH_BW},
    {"low_lat", MEMSPAN_SPACE_LOW_LAT},
};

const char *space_predefined(size_t index, memspan_space_h *space_p)
{
    if (index >= sizeof(predefined) / sizeof(predefined[0])) {
        return NULL;
    }
    if (space_p != NULL) {
        *space_p = predefined[index].space;
    }
    return predefined[index].name;
}

const char *resource_state_name(enum resource_state state)
{
    static const char *const names[] = {"ok", "ALIAS", "COND", "OFF"};

    return names[state];
}

void resource_home(const struct snapshot *snapshot, const struct resource *resource, char *text,
                   size_t size)
{
    int home = snapshot_device_index(snapshot, resource->info.home);

    if ((resource->info.home == MEMSPAN_HOST) && (resource->info.numa_node >= 0)) {
        snprintf(text, size, "node%d", resource->info.numa_node);
        if (resource->node_last != resource->info.numa_node) {
            cli_append(text, size, "-%d", resource->node_last);
        }
        return;
    }
    snprintf(text, size, "%s", (home < 0) ? "?" : snapshot->devices[home].label);
}

const char *resource_capacity_source(const struct snapshot *snapshot,
                                     const struct resource *resource)
{
    int home = snapshot_device_index(snapshot, resource->info.home);

    if ((strcmp(resource->info.name, SPACE_PINNED_NAME) == 0) &&
        (snapshot->lock_limit_bytes != MEMSPAN_UNKNOWN)) {
        return "memlock";
    }
    if ((resource->info.home == MEMSPAN_HOST) && (resource->info.numa_node >= 0) &&
        !resource->limited) {
        return "node";
    }
    return (home < 0) ? "" : snapshot->devices[home].info.capacity_source;
}

/* Does the space promise anything to that device? */
static bool is_listed(const struct space_row *row, int number)
{
    if (number == MEMSPAN_HOST) {
        return !row->info.target || row->info.host;
    }
    for (size_t i = 0; (i < row->info.device_count) && (i < 32); i++) {
        if (row->info.devices[i] == number) {
            return true;
        }
    }
    return row->info.device_count > 32;
}

/* The promises to the listed devices, and their conditions. */
static void judge_reach(const struct snapshot *snapshot, const struct space_row *row,
                        struct resource *resource)
{
    resource->coherence = MEMSPAN_COHERENCE_ATOMIC;
    for (size_t i = 0; i < snapshot->device_count; i++) {
        const struct device_row *device = &snapshot->devices[i];
        const memspan_reach_t *reach    = &resource->reach[i];

        if (!is_listed(row, device->info.number)) {
            continue;
        }
        if (reach->coherence < resource->coherence) {
            resource->coherence = reach->coherence;
        }
        if (resource->state != RESOURCE_OK) {
            continue;
        }
        if ((reach->access == MEMSPAN_ACCESS_REGISTER) || (reach->access == MEMSPAN_ACCESS_FAULT)) {
            resource->state = RESOURCE_CONDITIONAL;
            snprintf(resource->note, sizeof(resource->note),
                     (reach->access == MEMSPAN_ACCESS_REGISTER)
                         ? "%s reaches it once it is imported into its driver"
                         : "%s reaches it by page faults",
                     device->label);
        }
    }
}

static void note_plan_error(struct resource *resource)
{
    memspan_status_t status = memspan_error_last()->status;

    resource->state = ((status == MEMSPAN_ERR_LIMIT) || (status == MEMSPAN_ERR_PERMISSION) ||
                       (status == MEMSPAN_ERR_NOT_GUARANTEED))
                          ? RESOURCE_CONDITIONAL
                          : RESOURCE_OFF;
    snapshot_error(resource->note, sizeof(resource->note));
}

static void plan(memspan_space_h space, struct resource *resource, const memspan_trait_t *traits,
                 size_t trait_count)
{
    resource->plan.struct_size = sizeof(resource->plan);
    if (memspan_allocator_plan(space, traits, trait_count, &resource->plan) != MEMSPAN_OK) {
        note_plan_error(resource);
        return;
    }
    resource->planned = true;
}

static void plan_resource(const struct space_row *row, int index, struct resource *resource)
{
    static const memspan_trait_t managed = {MEMSPAN_TRAIT_MEMORY_ACCESS, MEMSPAN_VALUE_MANAGED};
    memspan_space_h sub                  = row->handle;

    if (memspan_space_get_sub(row->handle, &index, 1, &sub) != MEMSPAN_OK) {
        note_plan_error(resource);
        return;
    }
    plan(sub, resource, &managed, (resource->info.kind == MEMSPAN_KIND_MANAGED) ? 1 : 0);
}

/* The backend's note on the resource's kind, where it has one. */
static void note_kind(const struct snapshot *snapshot, struct resource *resource)
{
    int home = snapshot_device_index(snapshot, resource->info.home);

    if ((resource->note[0] == '\0') && (home > 0) && (resource->info.kind < MEMSPAN_KIND_COUNT)) {
        snprintf(resource->note, sizeof(resource->note), "%s",
                 snapshot->devices[home].info.kind_note[resource->info.kind]);
    }
    cli_clean(resource->note);
}

static void take_reach(const struct snapshot *snapshot, const struct space_row *row, size_t index,
                       struct resource *resource)
{
    resource->reach = cli_calloc(snapshot->device_count, sizeof(resource->reach[0]));
    for (size_t i = 0; i < snapshot->device_count; i++) {
        memspan_space_reach(row->handle, index, snapshot->devices[i].info.number,
                            &resource->reach[i]);
    }
}

/* A container may have less than the machine's nodes hold. */
static void limit_resource(const struct snapshot *snapshot, struct resource *resource)
{
    uint64_t most =
        (snapshot->device_count > 0) ? snapshot->devices[0].info.capacity_bytes : MEMSPAN_UNKNOWN;

    if ((resource->info.home == MEMSPAN_HOST) && (most != MEMSPAN_UNKNOWN) &&
        (resource->info.capacity_bytes != MEMSPAN_UNKNOWN) &&
        (resource->info.capacity_bytes > most)) {
        resource->info.capacity_bytes = most;
        resource->limited             = true;
    }
}

static void add_resource(struct space_row *row, const struct resource *resource)
{
    row->resources = cli_grow(row->resources, row->resource_count, sizeof(row->resources[0]));
    row->resources[row->resource_count++] = *resource;
}

static bool is_next_node(const struct resource *last, const struct resource *resource)
{
    return (last->info.home == MEMSPAN_HOST) && (resource->info.home == MEMSPAN_HOST) &&
           (last->info.kind == resource->info.kind) && (last->state == resource->state) &&
           (last->info.numa_node >= 0) && (resource->info.numa_node == last->node_last + 1) &&
           (last->info.capacity_bytes != MEMSPAN_UNKNOWN) &&
           (resource->info.capacity_bytes != MEMSPAN_UNKNOWN);
}

size_t resource_merge(const struct snapshot *snapshot, const struct space_row *row, size_t first,
                      struct resource *resource_p)
{
    char name[48];
    size_t i;

    *resource_p = row->resources[first];
    for (i = first + 1; (i < row->resource_count) && is_next_node(resource_p, &row->resources[i]);
         i++) {
        resource_p->node_last = row->resources[i].info.numa_node;
        resource_p->info.capacity_bytes += row->resources[i].info.capacity_bytes;
    }
    if (i > first + 1) {
        snprintf(name, sizeof(name), "%.20s..%.20s", row->resources[first].info.name,
                 row->resources[i - 1].info.name);
        strcpy(resource_p->info.name, name);
        limit_resource(snapshot, resource_p);
    }
    return i - first;
}

static void take_resource(const struct snapshot *snapshot, struct space_row *row, size_t index)
{
    struct resource resource = {.info = {.struct_size = sizeof(resource.info)}};

    if (memspan_space_resource(row->handle, index, &resource.info) != MEMSPAN_OK) {
        return;
    }
    resource.node_last = resource.info.numa_node;
    if (row->info.alias) {
        resource.state = RESOURCE_ALIAS;
        snprintf(resource.note, sizeof(resource.note), "%s", row->info.note);
    }
    plan_resource(row, (int)index, &resource);
    take_reach(snapshot, row, index, &resource);
    judge_reach(snapshot, row, &resource);
    note_kind(snapshot, &resource);
    limit_resource(snapshot, &resource);
    add_resource(row, &resource);
}

static struct space_row *add_row(struct snapshot *snapshot, const char *name)
{
    struct space_row *row;

    snapshot->spaces =
        cli_grow(snapshot->spaces, snapshot->space_count, sizeof(snapshot->spaces[0]));
    row                   = &snapshot->spaces[snapshot->space_count++];
    row->info.struct_size = sizeof(row->info);
    snprintf(row->info.name, sizeof(row->info.name), "%s", name);
    return row;
}

static void fail_row(struct space_row *row)
{
    row->status = memspan_error_last()->status;
    snapshot_error(row->problem, sizeof(row->problem));
}

static void take_space(struct snapshot *snapshot, const char *name, memspan_space_h space)
{
    struct space_row *row = add_row(snapshot, name);
    size_t count;

    row->handle = space;
    if (memspan_space_describe(space, &row->info) != MEMSPAN_OK) {
        fail_row(row);
        return;
    }
    count = memspan_space_resource_count(space);
    for (size_t i = 0; i < count; i++) {
        take_resource(snapshot, row, i);
    }
}

/* Locked host memory: not a resource, but users look for it. */
static void take_pinned(struct snapshot *snapshot)
{
    static const memspan_trait_t pinned = {MEMSPAN_TRAIT_PINNED, MEMSPAN_VALUE_TRUE};
    struct resource resource            = {.info = {.numa_node = -1}, .node_last = -1};
    struct space_row *row;

    if (snapshot->device_count == 0) {
        return;
    }
    row                          = add_row(snapshot, SPACE_PINNED_NAME);
    row->handle                  = MEMSPAN_SPACE_DEFAULT;
    resource.info.kind           = MEMSPAN_KIND_HOST_PINNED;
    resource.info.home           = MEMSPAN_HOST;
    resource.info.capacity_bytes = snapshot->devices[0].info.capacity_bytes;
    resource.reach               = cli_calloc(snapshot->device_count, sizeof(resource.reach[0]));
    snprintf(resource.info.name, sizeof(resource.info.name), SPACE_PINNED_NAME);
    for (size_t i = 0; i < snapshot->device_count; i++) {
        memspan_device_reach(MEMSPAN_HOST, MEMSPAN_KIND_HOST_PINNED,
                             snapshot->devices[i].info.number, &resource.reach[i]);
    }
    plan(MEMSPAN_SPACE_DEFAULT, &resource, &pinned, 1);
    resource.info.page_size_bytes = resource.planned ? resource.plan.page_size_bytes : 0;
    if ((resource.state == RESOURCE_OK) && (snapshot->lock_limit_bytes != MEMSPAN_UNKNOWN)) {
        resource.state               = RESOURCE_CONDITIONAL;
        resource.info.capacity_bytes = snapshot->lock_limit_bytes;
        snprintf(resource.note, sizeof(resource.note), "locked-memory limit %s",
                 cli_size_text(snapshot->lock_limit_bytes).text);
    }
    judge_reach(snapshot, row, &resource);
    add_resource(row, &resource);
}

static bool is_taken(const struct snapshot *snapshot, memspan_space_h space)
{
    for (size_t i = 0; i < snapshot->space_count; i++) {
        if ((snapshot->spaces[i].status == MEMSPAN_OK) && (snapshot->spaces[i].handle == space)) {
            return true;
        }
    }
    return false;
}

static void take_target(struct snapshot *snapshot, const int *devices, size_t count)
{
    memspan_space_h space;
    char name[64] = "{";

    for (size_t i = 0; i < count; i++) {
        if (devices[i] == MEMSPAN_HOST) {
            cli_append(name, sizeof(name), "%shost", (i == 0) ? "" : ",");
        } else {
            cli_append(name, sizeof(name), "%s%d", (i == 0) ? "" : ",", devices[i]);
        }
    }
    cli_append(name, sizeof(name), "}");
    if (memspan_space_get(devices, count, MEMSPAN_SPACE_NULL, &space) != MEMSPAN_OK) {
        fail_row(add_row(snapshot, name));
    } else if (!is_taken(snapshot, space)) {
        take_space(snapshot, name, space);
    }
}

void space_take_all(struct snapshot *snapshot)
{
    int *all = cli_calloc(snapshot->device_count, sizeof(all[0]));
    memspan_space_h space;
    const char *name;

    for (size_t i = 0; (name = space_predefined(i, &space)) != NULL; i++) {
        take_space(snapshot, name, space);
        if (i == 0) {
            take_pinned(snapshot);
        }
    }
    for (size_t i = 0; i < snapshot->device_count; i++) {
        all[i] = snapshot->devices[i].info.number; /* the host first */
    }
    for (size_t i = 1; i < snapshot->device_count; i++) {
        take_target(snapshot, &all[i], 1);
    }
    for (size_t i = 1; i < snapshot->device_count; i++) {
        take_target(snapshot, (int[]){MEMSPAN_HOST, all[i]}, 2);
    }
    if (snapshot->device_count > 1) {
        take_target(snapshot, all, snapshot->device_count);
    }
    free(all);
}
