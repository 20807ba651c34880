/* SPDX-License-Identifier: BSD-3-Clause */
/* space.c: from a list of devices to the resources that all of them reach.
 *
 * The five predefined spaces are static; their resources are looked for when something first needs
 * more of them than a name, because that walks the topology. All others are made by get() and
 * get_sub() and found again by comparing their requests: a space is never freed, so a pointer to
 * one, once seen, stays good without any lock. space_lock guards the table's growth. */

#include "core/device/space.h"
#include "core/base/error.h"
#include "core/base/fork.h"
#include "core/base/platform.h"
#include "core/base/process.h"
#include "core/base/text.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPACES_MAX = 4096, PREDEFINED = 5, DEVICES_LISTED_MAX = 1024 };

/* Marks our handles: no user-space address has these top bits, so the OpenMP runtime's own handles,
 * which are addresses or small numbers, never look like one. */
static const uintptr_t handle_mark = UINT64_C(0x4d53530000000000);

static struct msp_space predefined[PREDEFINED] = {
    {.handle = MEMSPAN_SPACE_DEFAULT, .hint = MSP_HINT_DEFAULT, .host = true, .name = "default"},
    {.handle = MEMSPAN_SPACE_LARGE_CAP,
     .hint   = MSP_HINT_LARGE_CAP,
     .host   = true,
     .name   = "large_cap"},
    {.handle = MEMSPAN_SPACE_CONST, .hint = MSP_HINT_CONST, .host = true, .name = "const"},
    {.handle = MEMSPAN_SPACE_HIGH_BW, .hint = MSP_HINT_HIGH_BW, .host = true, .name = "high_bw"},
    {.handle = MEMSPAN_SPACE_LOW_LAT, .hint = MSP_HINT_LOW_LAT, .host = true, .name = "low_lat"},
};
static atomic_bool predefined_ready[PREDEFINED];

static struct msp_space *spaces[SPACES_MAX] MSP_SPARSE;
static atomic_int space_count; /* entries below it never change */
MSP_LOCK_STATIC(space_lock, MSP_RANK_SPACES);

/* ---- names ---- */

const char *msp_resource_label(const struct msp_resource *resource, char *buffer, size_t size)
{
    char device[32];

    if (resource->imported) {
        snprintf(buffer, size, "host.imported");
    } else if ((resource->home->number == MEMSPAN_HOST) && (resource->node >= 0)) {
        snprintf(buffer, size, "node%d", resource->node);
    } else {
        snprintf(buffer, size, "%s.%s", msp_device_label(resource->home, device, sizeof(device)),
                 memspan_kind_name(resource->kind));
    }
    return buffer;
}

memspan_reach_t msp_resource_reach(const struct msp_resource *resource,
                                   const struct msp_device *from)
{
    memspan_reach_t reach = msp_device_reach_of(resource->home, resource->kind, from);

    if (resource->imported && (from->number != MEMSPAN_HOST) &&
        (reach.access == MEMSPAN_ACCESS_REGISTER)) {
        bool atomics    = (from->info.capabilities & MEMSPAN_CAN_HOST_ATOMICS) != 0;
        reach.access    = MEMSPAN_ACCESS_REMOTE;
        reach.coherence = atomics ? MEMSPAN_COHERENCE_ATOMIC : MEMSPAN_COHERENCE_CONCURRENT;
    }
    return reach;
}

static void name_space(struct msp_space *space)
{
    size_t used = 0;
    size_t i;

    msp_text_append(space->name, sizeof(space->name), &used, "{%s", space->host ? "host" : "");
    for (i = 0; i < space->device_count; i++) {
        msp_text_append(space->name, sizeof(space->name), &used, "%s%d", (used > 1) ? "," : "",
                        space->devices[i]);
    }
    msp_text_append(space->name, sizeof(space->name), &used, "}");
    if (space->hint != MSP_HINT_DEFAULT) {
        msp_text_append(space->name, sizeof(space->name), &used, "/%s",
                        predefined[space->hint].name);
    }
}

/* ---- finding ---- */

const struct msp_space *msp_space_find(memspan_space_h handle)
{
    uintptr_t value = (uintptr_t)handle;
    uintptr_t index;

    if ((handle == MEMSPAN_SPACE_NULL) || (handle == MEMSPAN_SPACE_DEFAULT)) {
        return &predefined[0];
    }
    if (value < PREDEFINED) {
        return &predefined[value];
    }
    index = value - handle_mark;
    if ((value < handle_mark) ||
        (index >= (uintptr_t)atomic_load_explicit(&space_count, memory_order_acquire))) {
        return NULL;
    }
    return spaces[index];
}

static memspan_status_t no_space(memspan_space_h handle)
{
    return memspan_error(MEMSPAN_ERR_NOT_FOUND, "0x%llx names no memory space",
                         (unsigned long long)(uintptr_t)handle);
}

/* Large memory that no space has: a DAX device, or a block device of persistent memory. */
static void note_memory_device(struct msp_space *space)
{
    memspan_memory_device_info_t info = {.struct_size = sizeof(info)};
    size_t used                       = strlen(space->note);
    int count                         = memspan_memory_device_count();
    int i;

    for (i = 0; i < count; i++) {
        if ((memspan_memory_device_describe(i, &info) == MEMSPAN_OK) &&
            (strcmp(info.mode, "system-ram") != 0) &&
            ((info.kind == MEMSPAN_MEMORY_DEVICE_DAX) ||
             (info.kind == MEMSPAN_MEMORY_DEVICE_BLOCK))) {
            snprintf(space->note + used, sizeof(space->note) - used,
                     "; %s is no NUMA node: memquery lists it", info.name);
            return;
        }
    }
}

/* Fills a predefined space's resources, once. */
static memspan_status_t load_predefined(struct msp_space *space)
{
    const struct msp_device *host = msp_device_find(MEMSPAN_HOST);
    int *nodes;
    int count;
    int i;

    if (host == NULL) {
        return memspan_error_last()->status;
    }
    nodes            = calloc(MSP_NUMA_NODES_MAX, sizeof(*nodes));
    space->resources = calloc(MSP_NUMA_NODES_MAX, sizeof(*space->resources));
    if ((nodes == NULL) || (space->resources == NULL)) {
        free(nodes);
        free(space->resources);
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for the resources of space %s",
                             space->name);
    }
    count = msp_numa_nodes_for(space->hint, nodes, MSP_NUMA_NODES_MAX, &space->alias, space->note,
                               sizeof(space->note));
    if ((space->hint == MSP_HINT_LARGE_CAP) && space->alias) {
        note_memory_device(space);
    }
    for (i = 0; i < count; i++) {
        space->resources[i] = (struct msp_resource){host, MEMSPAN_KIND_HOST, nodes[i], false};
    }
    if (count == 0) {
        space->resources[0] = (struct msp_resource){host, MEMSPAN_KIND_HOST, -1, false};
        count               = 1;
    }
    space->resource_count = (size_t)count;
    free(nodes);
    return MEMSPAN_OK;
}

struct loading {
    struct msp_space *space;
    memspan_status_t status;
};

static void load_now(void *argument)
{
    struct loading *loading = argument;

    loading->status = load_predefined(loading->space);
}

const struct msp_space *msp_space_resolve(memspan_space_h handle)
{
    const struct msp_space *space = msp_space_find(handle);
    memspan_status_t status       = MEMSPAN_OK;
    atomic_bool *ready;

    if (space == NULL) {
        no_space(handle);
        return NULL;
    }
    if ((space < predefined) || (space >= predefined + PREDEFINED)) {
        return space;
    }
    ready = &predefined_ready[space - predefined];
    if (MSP_LIKELY(atomic_load_explicit(ready, memory_order_acquire))) {
        return space;
    }
    msp_lock(&space_lock);
    if (!atomic_load_explicit(ready, memory_order_relaxed)) {
        struct loading loading = {&predefined[space - predefined], MEMSPAN_OK};
        msp_stack_run(load_now, &loading);
        status = loading.status;
        /* Pairs with the acquire above: a thread that sees ready sees the resources. */
        atomic_store_explicit(ready, status == MEMSPAN_OK, memory_order_release);
    }
    msp_unlock(&space_lock);
    return (status == MEMSPAN_OK) ? space : NULL;
}

/* ---- making ---- */

struct request {
    enum msp_base_hint hint;
    bool host;
    int devices[DEVICES_LISTED_MAX];
    const struct msp_device *found[DEVICES_LISTED_MAX]; /* same order; the host, if any, last */
    size_t device_count;
};

static memspan_status_t read_request(const int *list, size_t count, struct request *r)
{
    size_t i;
    size_t j;

    for (i = 0; i < count; i++) {
        const struct msp_device *device = msp_device_find(list[i]);

        if (device == NULL) {
            return memspan_error_last()->status;
        }
        if (device->number == MEMSPAN_HOST) {
            r->host = true;
            continue;
        }
        for (j = 0; (j < r->device_count) && (r->devices[j] < device->number); j++) {
        }
        if ((j < r->device_count) && (r->devices[j] == device->number)) {
            continue;
        }
        if (r->device_count == DEVICES_LISTED_MAX - 1) {
            return memspan_error(MEMSPAN_ERR_INVALID, "more than %d devices listed",
                                 DEVICES_LISTED_MAX - 1);
        }
        memmove(&r->devices[j + 1], &r->devices[j], (r->device_count - j) * sizeof(r->devices[0]));
        memmove(&r->found[j + 1], &r->found[j], (r->device_count - j) * sizeof(r->found[0]));
        r->devices[j] = device->number;
        r->found[j]   = device;
        r->device_count++;
    }
    if (r->host) {
        r->found[r->device_count] = msp_device_find(MEMSPAN_HOST);
    }
    return MEMSPAN_OK;
}

static size_t member_count(const struct request *r)
{
    return r->device_count + (r->host ? 1 : 0);
}

/* The first member that cannot use the resource by loads and stores, or NULL. */
static const struct msp_device *find_unreached(const struct msp_resource *resource,
                                               const struct request *r)
{
    size_t i;

    for (i = 0; i < member_count(r); i++) {
        if (msp_resource_reach(resource, r->found[i]).access < MEMSPAN_ACCESS_FAULT) {
            return r->found[i];
        }
    }
    return NULL;
}

/* Kinds in the order in which a space lists them: closest to the device first. */
static const memspan_kind_t kind_order[] = {MEMSPAN_KIND_DEVICE, MEMSPAN_KIND_COHERENT,
                                            MEMSPAN_KIND_MANAGED, MEMSPAN_KIND_HOST_PINNED};
enum { KIND_ORDER = sizeof(kind_order) / sizeof(kind_order[0]) };

/* Candidates: every kind of every listed device; then the host's own pages, plain where devices
 * reach pageable memory, imported where they can be. Fills @p out with those that all reach. */
static size_t find_resources(const struct request *r, struct msp_resource *out)
{
    const struct msp_device *host = msp_device_find(MEMSPAN_HOST);
    struct msp_resource candidate;
    size_t count = 0;
    size_t k;
    size_t i;

    for (k = 0; k < KIND_ORDER; k++) {
        for (i = 0; i < r->device_count; i++) {
            candidate = (struct msp_resource){r->found[i], kind_order[k], -1, false};
            if (((r->found[i]->info.kinds & (1u << kind_order[k])) != 0) &&
                (find_unreached(&candidate, r) == NULL)) {
                out[count++] = candidate;
            }
        }
    }
    if (host == NULL) {
        return count;
    }
    candidate = (struct msp_resource){host, MEMSPAN_KIND_HOST, -1, false};
    if (find_unreached(&candidate, r) == NULL) {
        out[count++] = candidate;
    }
    candidate = (struct msp_resource){host, MEMSPAN_KIND_HOST_PINNED, -1, true};
    if ((count == 0) && (find_unreached(&candidate, r) == NULL)) {
        out[count++] = candidate;
    }
    return count;
}

static memspan_status_t unreachable(const struct request *r)
{
    char label[48];
    char home[48];
    size_t k;
    size_t i;

    for (i = 0; i < r->device_count; i++) {
        for (k = 0; k < KIND_ORDER; k++) {
            struct msp_resource c = {r->found[i], kind_order[k], -1, false};
            const struct msp_device *missing;

            if ((r->found[i]->info.kinds & (1u << kind_order[k])) == 0) {
                continue;
            }
            missing = find_unreached(&c, r);
            if ((missing == NULL) ||
                ((kind_order[k] == MEMSPAN_KIND_DEVICE) && (missing->number == MEMSPAN_HOST))) {
                continue; /* that the host cannot touch device memory explains nothing */
            }
            memspan_error(
                MEMSPAN_ERR_UNREACHABLE,
                "no memory reaches all of the %zu devices listed: %s is not reached by %s",
                member_count(r), msp_resource_label(&c, home, sizeof(home)),
                msp_device_label(missing, label, sizeof(label)));
            return msp_error_hint("list fewer devices; memquery --why %s tells more",
                                  msp_device_label(missing, label, sizeof(label)));
        }
    }
    memspan_error(
        MEMSPAN_ERR_UNREACHABLE,
        "no memory reaches all of the %zu devices listed: %s offers none that others reach",
        member_count(r), msp_device_label(r->found[0], label, sizeof(label)));
    return msp_error_hint("memquery --why %s tells more", label);
}

static bool same(const struct msp_space *s, const struct request *r)
{
    return s->target && !s->partial && (s->hint == r->hint) && (s->host == r->host) &&
           (s->device_count == r->device_count) &&
           (memcmp(s->devices, r->devices, r->device_count * sizeof(r->devices[0])) == 0);
}

/* Adds a space under space_lock; takes over @p space. */
static memspan_status_t add(struct msp_space *space, memspan_space_h *space_p)
{
    int index = atomic_load_explicit(&space_count, memory_order_relaxed);

    if (index == SPACES_MAX) {
        return memspan_error(MEMSPAN_ERR_LIMIT, "there are %d memory spaces already", SPACES_MAX);
    }
    space->handle = (memspan_space_h)(handle_mark + (uintptr_t)index);
    spaces[index] = space;
    /* Pairs with the acquire in find(): a thread that may use the index sees the space. */
    atomic_store_explicit(&space_count, index + 1, memory_order_release);
    *space_p = space->handle;
    return MEMSPAN_OK;
}

static void destroy(struct msp_space *space)
{
    if (space != NULL) {
        free(space->devices);
        free(space->resources);
        free(space);
    }
}

static struct msp_space *create(size_t device_count, size_t resource_count)
{
    struct msp_space *space = calloc(1, sizeof(*space));

    if (space != NULL) {
        space->devices   = calloc(device_count + 1, sizeof(*space->devices));
        space->resources = calloc(resource_count + 1, sizeof(*space->resources));
        if ((space->devices == NULL) || (space->resources == NULL)) {
            destroy(space);
            space = NULL;
        }
    }
    if (space == NULL) {
        memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for a memory space's record");
    }
    return space;
}

static memspan_status_t make(const struct request *r, memspan_space_h *space_p)
{
    struct msp_space *space = create(r->device_count, r->device_count * KIND_ORDER + 2);
    memspan_status_t status;

    if (space == NULL) {
        return MEMSPAN_ERR_NO_MEMORY;
    }
    space->target         = true;
    space->hint           = r->hint;
    space->host           = r->host;
    space->device_count   = r->device_count;
    space->resource_count = find_resources(r, space->resources);
    memcpy(space->devices, r->devices, r->device_count * sizeof(r->devices[0]));
    name_space(space);
    status = (space->resource_count == 0) ? unreachable(r) : add(space, space_p);
    if (status != MEMSPAN_OK) {
        destroy(space);
    }
    return status;
}

memspan_status_t memspan_space_get(const int *list, size_t count, memspan_space_h base,
                                   memspan_space_h *space_p)
{
    const struct msp_space *base_space = msp_space_find(base);
    struct request *request;
    memspan_status_t status;
    int i;

    if ((list == NULL) || (count == 0) || (space_p == NULL)) {
        return memspan_error(MEMSPAN_ERR_INVALID, "%s",
                             (list == NULL)      ? "the list of devices is NULL"
                             : (space_p == NULL) ? "space_p is NULL"
                                                 : "the list of devices is empty");
    }
    if (base_space == NULL) {
        no_space(base);
        return memspan_error(MEMSPAN_ERR_INVALID, "base 0x%llx names no memory space",
                             (unsigned long long)(uintptr_t)base);
    }
    request = calloc(1, sizeof(*request));
    if (request == NULL) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for a list of devices");
    }
    request->hint = base_space->hint;
    status        = read_request(list, count, request);
    if (status != MEMSPAN_OK) {
        goto out_free_request;
    }
    if (request->device_count == 0) {
        *space_p = predefined[request->hint].handle;
        goto out_free_request;
    }
    msp_lock(&space_lock);
    for (i = 0; i < atomic_load_explicit(&space_count, memory_order_relaxed); i++) {
        if (same(spaces[i], request)) {
            *space_p = spaces[i]->handle;
            goto out_unlock;
        }
    }
    status = make(request, space_p);
out_unlock:
    msp_unlock(&space_lock);
out_free_request:
    free(request);
    return status;
}

/* ---- sub-spaces ---- */

static memspan_status_t check_indices(const struct msp_space *parent, const int *indices,
                                      size_t count)
{
    size_t i;
    size_t j;

    for (i = 0; i < count; i++) {
        if ((indices[i] < 0) || ((size_t)indices[i] >= parent->resource_count)) {
            return memspan_error(MEMSPAN_ERR_INVALID, "resource %d: space %s has %zu", indices[i],
                                 parent->name, parent->resource_count);
        }
        for (j = 0; j < i; j++) {
            if (indices[i] == indices[j]) {
                return memspan_error(MEMSPAN_ERR_INVALID, "resource %d is listed twice",
                                     indices[i]);
            }
        }
    }
    return MEMSPAN_OK;
}

static int compare_resources(const void *a, const void *b)
{
    const struct msp_resource *const *x = a;
    const struct msp_resource *const *y = b;

    return (*x > *y) - (*x < *y);
}

static bool same_sub(const struct msp_space *s, const struct msp_space *candidate)
{
    size_t i;

    if (!s->partial || (s->hint != candidate->hint) || (s->host != candidate->host) ||
        (s->target != candidate->target) || (s->device_count != candidate->device_count) ||
        (s->resource_count != candidate->resource_count) ||
        (memcmp(s->devices, candidate->devices, s->device_count * sizeof(int)) != 0)) {
        return false;
    }
    for (i = 0; i < s->resource_count; i++) {
        const struct msp_resource *x = &s->resources[i];
        const struct msp_resource *y = &candidate->resources[i];
        if ((x->home != y->home) || (x->kind != y->kind) || (x->node != y->node)) {
            return false;
        }
    }
    return true;
}

static struct msp_space *make_sub(const struct msp_space *parent, const int *indices, size_t count)
{
    const struct msp_resource **chosen = calloc(count, sizeof(*chosen));
    struct msp_space *space            = create(parent->device_count, count);
    size_t used                        = 0;
    size_t i;

    if ((chosen == NULL) || (space == NULL)) {
        free(chosen);
        destroy(space);
        memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for a sub-space's record");
        return NULL;
    }
    for (i = 0; i < count; i++) {
        chosen[i] = &parent->resources[indices[i]];
    }
    /* In the parent's order, so that equal sets make equal spaces. */
    qsort(chosen, count, sizeof(*chosen), compare_resources);
    space->partial        = true;
    space->target         = parent->target;
    space->host           = parent->host;
    space->hint           = parent->hint;
    space->alias          = parent->alias;
    space->device_count   = parent->device_count;
    space->resource_count = count;
    if (parent->device_count > 0) {
        memcpy(space->devices, parent->devices, parent->device_count * sizeof(int));
    }
    memcpy(space->note, parent->note, sizeof(space->note));
    msp_text_append(space->name, sizeof(space->name), &used, "%.24s[", parent->name);
    for (i = 0; i < count; i++) {
        char label[48];
        space->resources[i] = *chosen[i];
        msp_text_append(space->name, sizeof(space->name), &used, "%s%s", (i > 0) ? "," : "",
                        msp_resource_label(chosen[i], label, sizeof(label)));
    }
    msp_text_append(space->name, sizeof(space->name), &used, "]");
    free(chosen);
    return space;
}

memspan_status_t memspan_space_get_sub(memspan_space_h handle, const int *indices, size_t count,
                                       memspan_space_h *space_p)
{
    const struct msp_space *parent = msp_space_resolve(handle);
    struct msp_space *space;
    memspan_status_t status;
    int i;

    if (parent == NULL) {
        return memspan_error_last()->status;
    }
    if ((indices == NULL) || (count == 0) || (space_p == NULL)) {
        return memspan_error(MEMSPAN_ERR_INVALID, "a sub-space needs at least one resource%s",
                             (space_p == NULL) ? ", and somewhere to put it" : "");
    }
    status = check_indices(parent, indices, count);
    if (status != MEMSPAN_OK) {
        return status;
    }
    if (count == parent->resource_count) {
        *space_p = parent->handle;
        return MEMSPAN_OK;
    }
    space = make_sub(parent, indices, count);
    if (space == NULL) {
        return MEMSPAN_ERR_NO_MEMORY;
    }
    msp_lock(&space_lock);
    for (i = 0; i < atomic_load_explicit(&space_count, memory_order_relaxed); i++) {
        if (same_sub(spaces[i], space)) {
            *space_p = spaces[i]->handle;
            destroy(space);
            goto out_unlock;
        }
    }
    status = add(space, space_p);
    if (status != MEMSPAN_OK) {
        destroy(space);
    }
out_unlock:
    msp_unlock(&space_lock);
    return status;
}

memspan_space_h msp_space_of_hint(enum msp_base_hint hint)
{
    return predefined[hint].handle;
}

memspan_status_t msp_space_connect(const struct msp_space *space, const struct msp_device *home,
                                   memspan_kind_t kind)
{
    const memspan_backend_t *table = home->table;
    memspan_status_t status        = MEMSPAN_OK;
    size_t i;

    if (table->connect == NULL) {
        return MEMSPAN_OK;
    }
    for (i = 0; (status == MEMSPAN_OK) && (i < space->device_count); i++) {
        const struct msp_device *d = msp_device_find(space->devices[i]);
        if ((d != NULL) && (d != home) && (d->table == table)) {
            status = table->connect(home->state, home->ordinal, kind, d->ordinal);
        }
    }
    return status;
}
