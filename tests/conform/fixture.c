/* SPDX-License-Identifier: BSD-3-Clause */
/* fixture.c: which device is under test, an allocator for each kind of its memory, and bytes. */

#include "conform.h"
#include "sums.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- the device ---- */

static const char *backend_name(void)
{
    const char *name = getenv("CONFORM_BACKEND");

    return ((name == NULL) || (name[0] == '\0')) ? "host" : name;
}

static void explain_absence(const char *name, char *reason, size_t reason_size)
{
    memspan_backend_info_t info = {.struct_size = sizeof(info)};

    for (int i = 0; i < memspan_backend_count(); i++) {
        if ((memspan_backend_describe(i, &info) == MEMSPAN_OK) && (strcmp(info.name, name) == 0)) {
            snprintf(reason, reason_size, "backend %s: %s", name, info.reason);
            return;
        }
    }
    snprintf(reason, reason_size, "there is no backend %s", name);
}

bool conform_find(struct conform_device *device_p, char *reason, size_t reason_size)
{
    const char *name = backend_name();

    device_p->info.struct_size = sizeof(device_p->info);
    if (strcmp(name, "host") == 0) {
        device_p->number = MEMSPAN_HOST;
        if (memspan_device_describe(MEMSPAN_HOST, &device_p->info) == MEMSPAN_OK) {
            return true;
        }
        snprintf(reason, reason_size, "%s", memspan_error_text());
        return false;
    }
    for (int i = 0; i < memspan_device_count(); i++) {
        if ((memspan_device_at(i, &device_p->number) == MEMSPAN_OK) &&
            (memspan_device_describe(device_p->number, &device_p->info) == MEMSPAN_OK) &&
            (strcmp(device_p->info.backend, name) == 0)) {
            return true;
        }
    }
    explain_absence(name, reason, reason_size);
    return false;
}

const struct conform_device *conform_device(void)
{
    static struct conform_device device;
    static bool found;
    char reason[400] = "";

    if (!found) {
        if (!conform_find(&device, reason, sizeof(reason))) {
            conform_skip("%s", reason);
        }
        found = true;
    }
    return &device;
}

memspan_allocator_stats_t conform_stats(memspan_allocator_h allocator)
{
    memspan_allocator_stats_t stats = {.struct_size = sizeof(stats)};

    CHECK_OK(memspan_allocator_get_stats(allocator, &stats));
    return stats;
}

bool conform_promises(memspan_kind_t kind, memspan_coherence_t coherence)
{
    memspan_reach_t host   = {0};
    memspan_reach_t device = {0};

    CHECK_OK(memspan_device_reach(conform_device()->number, kind, MEMSPAN_HOST, &host));
    CHECK_OK(
        memspan_device_reach(conform_device()->number, kind, conform_device()->number, &device));
    return (host.coherence >= coherence) && (device.coherence >= coherence);
}

void conform_begin(void)
{
    (void)conform_device();
    CHECK_OK(memspan_check());
}

void conform_end(void)
{
    const char *problem = sums_problem();

    CHECK(problem == NULL, "%s", problem);
}

/* ---- spaces and kinds ---- */

bool conform_shared_space(memspan_space_h *space_p)
{
    int list[2] = {MEMSPAN_HOST, conform_device()->number};
    memspan_status_t status;

    if (conform_is_host()) {
        *space_p = MEMSPAN_SPACE_DEFAULT;
        return true;
    }
    status = memspan_space_get(list, 2, MEMSPAN_SPACE_NULL, space_p);
    if (status != MEMSPAN_OK) {
        CHECK(status == MEMSPAN_ERR_UNREACHABLE, "%s", memspan_status_name(status));
        CHECK(memspan_error_last()->message[0] != '\0');
        return false;
    }
    return true;
}

memspan_space_h conform_own_space(void)
{
    memspan_space_h space = MEMSPAN_SPACE_NULL;

    CHECK_OK(memspan_space_get(&conform_device()->number, 1, MEMSPAN_SPACE_NULL, &space));
    return space;
}

memspan_allocator_h conform_allocator(memspan_space_h space, const memspan_trait_t *traits,
                                      size_t count)
{
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;

    CHECK_OK(memspan_allocator_create(space, traits, count, &allocator));
    CHECK(allocator != MEMSPAN_ALLOCATOR_NULL);
    return allocator;
}

/* The part of @p space that is of this kind and the device's own (the host's for the host). */
static bool find_part(memspan_space_h space, memspan_kind_t kind, memspan_space_h *part_p)
{
    memspan_resource_info_t resource = {.struct_size = sizeof(resource)};
    size_t count                     = memspan_space_resource_count(space);

    for (size_t i = 0; i < count; i++) {
        int index = (int)i;

        CHECK_OK(memspan_space_resource(space, i, &resource));
        if ((resource.kind == kind) && (resource.home == conform_device()->number)) {
            CHECK_OK(memspan_space_get_sub(space, &index, 1, part_p));
            return true;
        }
    }
    return false;
}

static memspan_allocator_h host_kind_allocator(memspan_kind_t kind)
{
    memspan_trait_t traits[] = {{MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB},
                                {MEMSPAN_TRAIT_PINNED, MEMSPAN_VALUE_TRUE}};

    return conform_allocator(MEMSPAN_SPACE_DEFAULT, traits,
                             (kind == MEMSPAN_KIND_HOST_PINNED) ? 2 : 1);
}

static memspan_allocator_h kind_allocator(memspan_kind_t kind)
{
    memspan_trait_t traits[] = {{MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB},
                                {MEMSPAN_TRAIT_MEMORY_ACCESS, MEMSPAN_VALUE_MANAGED}};
    memspan_space_h shared   = MEMSPAN_SPACE_NULL;
    memspan_space_h part     = MEMSPAN_SPACE_NULL;
    size_t count             = (kind == MEMSPAN_KIND_MANAGED) ? 2 : 1;

    if (conform_is_host()) {
        return host_kind_allocator(kind);
    }
    if (find_part(conform_own_space(), kind, &part) ||
        (conform_shared_space(&shared) && find_part(shared, kind, &part))) {
        return conform_allocator(part, traits, count);
    }
    conform_fail(__FILE__, __LINE__, "an allocator", ": kind %s is offered but is in no space",
                 memspan_kind_name(kind));
}

/* As much as a case takes of one kind; users may lock 8 MiB by default. */
static bool may_lock(void)
{
    static int may    = -1;
    const size_t size = (size_t)16 << 20;
    void *memory;

    if (may < 0) {
        memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        may    = (memory != MAP_FAILED) && (mlock(memory, size) == 0);
        if (!may) {
            printf("left out: host-pinned, as locked memory is limited (ulimit -l)\n");
        }
        (void)munmap(memory, size);
    }
    return may != 0;
}

bool conform_kind(int i, struct conform_memory *m_p)
{
    memspan_allocator_info_t info = {.struct_size = sizeof(info)};
    int kind;

    for (kind = 0; kind < MEMSPAN_KIND_COUNT; kind++) {
        if (conform_offers((memspan_kind_t)kind) &&
            ((kind != MEMSPAN_KIND_HOST_PINNED) || may_lock()) && (i-- == 0)) {
            break;
        }
    }
    if (kind == MEMSPAN_KIND_COUNT) {
        return false;
    }
    m_p->kind      = (memspan_kind_t)kind;
    m_p->allocator = kind_allocator(m_p->kind);
    CHECK_OK(memspan_allocator_describe(m_p->allocator, &info));
    CHECK(info.kind_given == m_p->kind, "asked for a part of kind %s, given %s (%s)",
          memspan_kind_name(m_p->kind), memspan_kind_name(info.kind_given), info.why);
    CHECK_OK(memspan_allocator_reach(m_p->allocator, MEMSPAN_HOST, &m_p->host));
    CHECK_OK(memspan_allocator_reach(m_p->allocator, conform_device()->number, &m_p->device));
    return true;
}

void conform_done(struct conform_memory *m)
{
    memspan_allocator_stats_t stats = conform_stats(m->allocator);

    CHECK(stats.live_count == 0, "%s: %llu blocks left", memspan_kind_name(m->kind),
          (unsigned long long)stats.live_count);
    CHECK_OK(memspan_allocator_destroy(m->allocator));
}

/* ---- bytes ---- */

bool conform_executes(void)
{
    return getenv("CONFORM_UNEXECUTED") == NULL;
}

void conform_wait(void)
{
    CHECK_OK(memspan_device_synchronize(conform_device()->number));
}

void conform_write(const struct conform_memory *m, void *to, size_t size_bytes, unsigned seed)
{
    unsigned char *bytes = conform_host_touches(m) ? to : malloc(size_bytes);

    CHECK(bytes != NULL);
    for (size_t i = 0; i < size_bytes; i++) {
        bytes[i] = conform_byte(seed, i);
    }
    if (bytes != to) {
        memspan_status_t status = memspan_copy(to, bytes, size_bytes);

        free(bytes);
        CHECK_OK(status);
    }
}

void conform_read(const struct conform_memory *m, void *to, const void *from, size_t size_bytes)
{
    if (conform_host_touches(m)) {
        memcpy(to, from, size_bytes);
    } else {
        CHECK_OK(memspan_copy(to, from, size_bytes));
    }
}

bool conform_holds(const struct conform_memory *m, const void *at, size_t size_bytes, unsigned seed)
{
    unsigned char *bytes = malloc(size_bytes);
    bool same            = true;

    CHECK(bytes != NULL);
    conform_read(m, bytes, at, size_bytes);
    for (size_t i = 0; conform_executes() && same && (i < size_bytes); i++) {
        same = (bytes[i] == conform_byte(seed, i));
        if (!same) {
            fprintf(stderr, "%s: byte %zu of %zu is %u, not %u\n", memspan_kind_name(m->kind), i,
                    size_bytes, bytes[i], conform_byte(seed, i));
        }
    }
    free(bytes);
    return same;
}

bool conform_has_kernels(void)
{
    return conform_can(MEMSPAN_CAN_KERNELS) || (conform_own_kernels != NULL);
}

memspan_status_t conform_start(const memspan_kernel_call_t *call)
{
    return conform_can(MEMSPAN_CAN_KERNELS) ? memspan_kernel_launch(conform_device()->number, call)
                                            : conform_own_kernels(conform_device()->number, call);
}

memspan_status_t conform_launch(memspan_kernel_t kernel, size_t count, double a, const void *x,
                                const void *y, void *z)
{
    memspan_kernel_call_t call = {.struct_size = sizeof(call),
                                  .kernel      = kernel,
                                  .count       = count,
                                  .a           = a,
                                  .x           = x,
                                  .y           = y,
                                  .z           = z};
    memspan_status_t status    = conform_start(&call);

    return (status == MEMSPAN_OK) ? memspan_device_synchronize(conform_device()->number) : status;
}
