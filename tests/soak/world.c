/* SPDX-License-Identifier: BSD-3-Clause */
/* world.c: the allocators. Shared ones for every kind of every device, unlimited and limited, live
 * as long as the run; each thread makes, derives and destroys others as it goes. */

#include "soak.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHARE_BYTES = 96 << 10, TRAITS_MAX = 12 };

#define NO_LIMIT SIZE_MAX

struct soak_pool soak_shared[SOAK_SHARED_MAX];
size_t soak_shared_count;

static void set_shares(struct soak_pool *p, unsigned first, unsigned count)
{
    p->share = (p->pool_size == NO_LIMIT) ? 0 : (int64_t)(p->pool_size / count);
    for (unsigned i = first; i < first + count; i++) {
        atomic_store(&p->left[i], p->share);
    }
}

/* What the library says of the allocator's memory. */
static void learn(struct soak_pool *p)
{
    memspan_allocator_info_t info = {.struct_size = sizeof(info)};
    memspan_reach_t reach;

    if ((memspan_allocator_describe(p->handle, &info) != MEMSPAN_OK) ||
        (memspan_allocator_reach(p->handle, MEMSPAN_HOST, &reach) != MEMSPAN_OK)) {
        soak_fail(NULL, "%s: %s", p->name, memspan_error_text());
    }
    p->kind        = info.kind_given;
    p->device      = info.home;
    p->touch       = reach.access >= MEMSPAN_ACCESS_FAULT;
    p->align_bytes = info.align_bytes;
    if (info.pool_size_bytes != p->pool_size) {
        soak_fail(NULL, "%s: pool_size %zu is described as %zu", p->name, p->pool_size,
                  info.pool_size_bytes);
    }
}

static struct soak_pool *add(memspan_allocator_h handle, size_t pool_size, size_t size_max,
                             const char *name)
{
    struct soak_pool *p = &soak_shared[soak_shared_count];

    if (soak_shared_count == SOAK_SHARED_MAX) {
        soak_fail(NULL, "more allocators than the test has room for");
    }
    soak_shared_count++;
    *p = (struct soak_pool){.handle = handle, .pool_size = pool_size, .size_max = size_max};
    snprintf(p->name, sizeof(p->name), "%s", name);
    set_shares(p, 0, soak_options.threads);
    learn(p);
    return p;
}

static struct soak_pool *add_new(memspan_space_h space, const char *text, size_t size_max,
                                 const char *name)
{
    memspan_trait_t traits[TRAITS_MAX];
    memspan_allocator_h handle;
    size_t pool_size = NO_LIMIT;
    size_t count;

    if ((memspan_trait_parse(text, traits, TRAITS_MAX, &count) != MEMSPAN_OK) ||
        (memspan_allocator_create(space, traits, count, &handle) != MEMSPAN_OK)) {
        soak_fail(NULL, "%s (%s): %s", name, text, memspan_error_text());
    }
    for (size_t i = 0; i < count; i++) {
        pool_size = (traits[i].key == MEMSPAN_TRAIT_POOL_SIZE) ? traits[i].value : pool_size;
    }
    return add(handle, pool_size, size_max, name);
}

static void add_host(void)
{
    static const struct {
        const char *name, *traits;
        size_t size_max;
    } custom[] = {
        {"host aligned", "fallback=null_fb,alignment=64", 8 << 20},
        {"host pages", "fallback=null_fb,alignment=4096", 1 << 20},
        {"host interleaved", "fallback=null_fb,partition=interleaved", 1 << 20},
        {"host nearest", "fallback=null_fb,partition=nearest", 1 << 20},
        {"host blocked", "fallback=null_fb,partition=blocked", 1 << 20},
        {"host uncontended", "fallback=null_fb,sync_hint=uncontended", 1 << 20},
    };
    struct soak_pool *p;
    char text[96];
    char name[32];

    for (uintptr_t i = 1; i <= 8; i++) {
        snprintf(name, sizeof(name), "predefined %" PRIuPTR, i);
        p = add((memspan_allocator_h)i, NO_LIMIT, 8 << 20, name);
        /* A thread that no OpenMP construct made is a team of its own. */
        p->life = (p->handle == MEMSPAN_ALLOCATOR_THREAD) || (p->handle == MEMSPAN_ALLOCATOR_PTEAM);
        p->keep = p->life;
    }
    for (size_t i = 0; i < sizeof(custom) / sizeof(*custom); i++) {
        add_new(MEMSPAN_SPACE_DEFAULT, custom[i].traits, custom[i].size_max, custom[i].name);
    }
    for (unsigned i = 1; i <= 2; i++) {
        snprintf(text, sizeof(text), "fallback=null_fb,pool_size=%zu",
                 i * (size_t)SHARE_BYTES * soak_options.threads);
        add_new(MEMSPAN_SPACE_DEFAULT, text, SHARE_BYTES, "host limited");
    }
    for (size_t i = 0; i < soak_shared_count; i++) {
        soak_shared[i].host = true;
    }
    add_new(MEMSPAN_SPACE_DEFAULT, "fallback=null_fb,pinned=true", 40000, "host pinned")
        ->may_run_out = true;
}

/* The part of @p space that is of this kind and the device's own. */
static bool find_part(memspan_space_h space, memspan_kind_t kind, int device,
                      memspan_space_h *part_p)
{
    memspan_resource_info_t resource = {.struct_size = sizeof(resource)};
    size_t count                     = memspan_space_resource_count(space);

    for (size_t i = 0; i < count; i++) {
        int index = (int)i;

        if ((memspan_space_resource(space, i, &resource) == MEMSPAN_OK) &&
            (resource.kind == kind) && (resource.home == device)) {
            return memspan_space_get_sub(space, &index, 1, part_p) == MEMSPAN_OK;
        }
    }
    return false;
}

static void add_kind(int device, memspan_kind_t kind, const char *device_name)
{
    const char *managed = (kind == MEMSPAN_KIND_MANAGED) ? "memory_access=managed,fallback=null_fb"
                                                         : "fallback=null_fb";
    int list[2]         = {device, MEMSPAN_HOST};
    memspan_space_h space;
    memspan_space_h part;
    char name[128];
    char text[128];

    for (size_t n = 1; n <= 2; n++) {
        if ((memspan_space_get(list, n, MEMSPAN_SPACE_NULL, &space) == MEMSPAN_OK) &&
            find_part(space, kind, device, &part)) {
            snprintf(name, sizeof(name), "%s %s", device_name, memspan_kind_name(kind));
            add_new(part, managed, 3 << 20, name);
            snprintf(name, sizeof(name), "%s %s limited", device_name, memspan_kind_name(kind));
            snprintf(text, sizeof(text), "%s,pool_size=%zu", managed,
                     (size_t)SHARE_BYTES * soak_options.threads);
            add_new(part, text, SHARE_BYTES, name);
            return;
        }
    }
    soak_fail(NULL, "%s offers %s memory, but it is in no space", device_name,
              memspan_kind_name(kind));
}

static void add_device(int device)
{
    memspan_device_info_t info = {.struct_size = sizeof(info)};
    int list[2]                = {device, MEMSPAN_HOST};
    memspan_space_h space;
    char name[48];

    if (memspan_device_describe(device, &info) != MEMSPAN_OK) {
        soak_fail(NULL, "device %d: %s", device, memspan_error_text());
    }
    for (unsigned kind = 0; kind < 32; kind++) {
        if (((info.kinds >> kind) & 1) != 0) {
            snprintf(name, sizeof(name), "%.11s %d", info.backend, device);
            add_kind(device, (memspan_kind_t)kind, name);
        }
    }
    /* Host pages that the device has imported. */
    if (((info.capabilities & MEMSPAN_CAN_IMPORT) != 0) &&
        (memspan_space_get(list, 2, MEMSPAN_SPACE_NULL, &space) == MEMSPAN_OK)) {
        snprintf(name, sizeof(name), "%.11s %d shared", info.backend, device);
        add_new(space, "fallback=null_fb", 1 << 20, name);
    }
}

void soak_world_make(void)
{
    int device;

    add_host();
    for (int i = 0; i < memspan_device_count(); i++) {
        if ((memspan_device_at(i, &device) == MEMSPAN_OK) && (device != MEMSPAN_HOST)) {
            add_device(device);
        }
    }
}

void soak_world_end(void)
{
    for (size_t i = 0; i < soak_shared_count; i++) {
        if (memspan_allocator_destroy(soak_shared[i].handle) != MEMSPAN_OK) {
            soak_fail(NULL, "%s: %s", soak_shared[i].name, memspan_error_text());
        }
    }
}

/* ---- allocators of a thread's own ---- */

struct request {
    memspan_trait_t traits[TRAITS_MAX];
    size_t count;
    size_t pool_size;
    struct soak_pool *next;
};

static void request_trait(struct request *w, memspan_trait_key_t key, uintptr_t value)
{
    w->traits[w->count++] = (memspan_trait_t){key, value};
}

static void request_fallback(struct soak_thread *t, struct request *w)
{
    struct soak_pool *other = t->own[soak_random_below(&t->random, SOAK_OWN)];

    switch (soak_random_below(&t->random, 3)) {
    case 0:
        request_trait(w, MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB);
        break;
    case 1:
        request_trait(w, MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_DEFAULT_MEM_FB);
        w->next = &soak_shared[0];
        break;
    default:
        /* One that may itself be limited and have a fallback, but that stays as long as this. */
        if ((other == NULL) || other->life ||
            ((other->next != NULL) && (other->next->next != NULL))) {
            other = &soak_shared[soak_random_below(&t->random, 6)];
        }
        w->next = other;
        request_trait(w, MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_ALLOCATOR_FB);
        request_trait(w, MEMSPAN_TRAIT_FB_DATA, (uintptr_t)w->next->handle);
    }
}

static bool fallback_of_another(const struct soak_thread *t, const struct soak_pool *p)
{
    for (size_t i = 0; i < SOAK_OWN; i++) {
        if ((t->own[i] != NULL) && (t->own[i]->next == p)) {
            return true;
        }
    }
    return false;
}

void soak_world_make_own(struct soak_thread *t, size_t place)
{
    struct soak_random *r        = &t->random;
    const struct soak_pool *base = &soak_shared[soak_random_below(r, soak_shared_count)];
    static const memspan_trait_value_t hints[] = {MEMSPAN_VALUE_CONTENDED,
                                                  MEMSPAN_VALUE_UNCONTENDED,
                                                  MEMSPAN_VALUE_SERIALIZED, MEMSPAN_VALUE_PRIVATE};
    struct request w                           = {.pool_size = NO_LIMIT};
    size_t hint                                = soak_random_below(r, 4);
    size_t align                               = (size_t)1 << soak_random_below(r, 14);
    bool derive                                = soak_random_once_in(r, 2);
    struct soak_pool *p                        = calloc(1, sizeof(*p));
    memspan_status_t status;

    request_trait(&w, MEMSPAN_TRAIT_SYNC_HINT, hints[hint]);
    request_trait(&w, MEMSPAN_TRAIT_ALIGNMENT, align);
    if (!soak_random_once_in(r, 4)) {
        w.pool_size = 1000 + soak_random_below(r, 100000);
        request_trait(&w, MEMSPAN_TRAIT_POOL_SIZE, w.pool_size);
    } else if (derive) {
        request_trait(&w, MEMSPAN_TRAIT_POOL_SIZE, MEMSPAN_VALUE_DEFAULT);
    }
    request_fallback(t, &w);
    if (derive) {
        status = memspan_allocator_derive(base->handle, w.traits, w.count, &p->handle);
    } else {
        base   = &soak_shared[0];
        status = memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, w.traits, w.count, &p->handle);
    }
    if (status != MEMSPAN_OK) {
        soak_fail(t, "an allocator like %s: %s", base->name, memspan_error_text());
    }
    snprintf(p->name, sizeof(p->name), "own %u.%zu like %.24s", t->index, place, base->name);
    p->pool_size   = w.pool_size;
    p->size_max    = (base->size_max < (128 << 10)) ? base->size_max : 128 << 10;
    p->next        = w.next;
    p->keep        = (hint >= 2) || base->keep;
    p->life        = (hints[hint] == MEMSPAN_VALUE_PRIVATE) || base->life;
    p->may_run_out = base->may_run_out;
    p->host        = base->host;
    set_shares(p, t->index, 1);
    learn(p);
    if (p->align_bytes < align) {
        soak_fail(t, "%s: alignment %zu became %zu", p->name, align, p->align_bytes);
    }
    p->older      = t->made;
    t->made       = p;
    t->own[place] = p;
}

void soak_world_destroy_own(struct soak_thread *t, size_t place)
{
    struct soak_pool *p = t->own[place];

    if (fallback_of_another(t, p)) {
        return;
    }
    p->dead = true;
    if (memspan_allocator_destroy(p->handle) != MEMSPAN_OK) {
        soak_fail(t, "destroy %s: %s", p->name, memspan_error_text());
    }
    t->stale      = p->handle;
    t->own[place] = NULL;
}

void soak_world_end_own(struct soak_thread *t)
{
    for (size_t round = 0; round < SOAK_OWN; round++) { /* those that are fallbacks come last */
        for (size_t i = 0; i < SOAK_OWN; i++) {
            if (t->own[i] != NULL) {
                soak_world_destroy_own(t, i);
            }
        }
    }
}

struct soak_pool *soak_world_pick(struct soak_thread *t)
{
    if (soak_random_once_in(&t->random, 3)) {
        struct soak_pool *own = t->own[soak_random_below(&t->random, SOAK_OWN)];
        if (own != NULL) {
            return own;
        }
    }
    return &soak_shared[soak_random_below(&t->random, soak_shared_count)];
}

static bool is_named(const struct soak_thread *t, const struct soak_pool *pool)
{
    const struct soak_pool *p;

    for (p = t->made; (p != NULL) && (p->next != pool); p = p->older) {
    }
    return p != NULL;
}

void soak_world_forget(struct soak_thread *t)
{
    struct soak_pool **link = &t->made;

    while (*link != NULL) {
        struct soak_pool *p = *link;

        if (p->dead && (atomic_load(&p->live_count) == 0) && !is_named(t, p)) {
            soak_model_gone(p);
            *link = p->older;
            free(p);
        } else {
            link = &p->older;
        }
    }
}
