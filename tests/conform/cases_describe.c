/* SPDX-License-Identifier: BSD-3-Clause */
/* What a device says of itself is complete, and spaces, resources and reaches agree with it. */

#include "conform.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TERMINATED(field) (memchr((field), 0, sizeof(field)) != NULL)

static void describe_is_complete(void)
{
    const memspan_device_info_t *d = &conform_device()->info;

    CHECK(TERMINATED(d->backend) && (d->backend[0] != '\0'));
    CHECK(TERMINATED(d->name) && (d->name[0] != '\0'));
    CHECK(TERMINATED(d->vendor) && TERMINATED(d->driver) && TERMINATED(d->uid));
    CHECK(TERMINATED(d->pci_address) && TERMINATED(d->capacity_source));
    CHECK(d->number == conform_device()->number);
    CHECK(d->ordinal >= 0);
    CHECK(d->uid[0] != '\0', "a device has an identity that survives renumbering");
    CHECK((d->capacity_bytes == MEMSPAN_UNKNOWN) || (d->capacity_bytes > 0));
    CHECK((d->capacity_bytes == MEMSPAN_UNKNOWN) || (d->capacity_source[0] != '\0'),
          "a capacity has a source");
    CHECK((d->free_bytes == MEMSPAN_UNKNOWN) || (d->capacity_bytes == MEMSPAN_UNKNOWN) ||
          (d->free_bytes <= d->capacity_bytes));
    CHECK((d->page_size_bytes != 0) && (d->page_size_bytes != MEMSPAN_UNKNOWN));
    CHECK((d->page_size_bytes & (d->page_size_bytes - 1)) == 0);
    CHECK((d->alloc_max_bytes == MEMSPAN_UNKNOWN) || (d->alloc_max_bytes > 0));
}

static void every_kind_is_offered_or_explained(void)
{
    const memspan_device_info_t *d = &conform_device()->info;

    CHECK((d->kinds & ~(((1u << MEMSPAN_KIND_COUNT) - 1u) & ~1u)) == 0);
    CHECK((d->kinds_without_gain & ~d->kinds) == 0);
    for (int kind = MEMSPAN_KIND_HOST; kind < MEMSPAN_KIND_COUNT; kind++) {
        CHECK(TERMINATED(d->kind_note[kind]));
        CHECK(((d->kinds & (1u << kind)) != 0) || (d->kind_note[kind][0] != '\0'),
              "kind %s is neither offered nor explained", memspan_kind_name((memspan_kind_t)kind));
    }
    CHECK(d->kinds != 0, "a device without any memory");
}

/* Backends of this library do; one from outside may have been written before notes were. */
static bool must_tell_sources(void)
{
    memspan_backend_info_t info = {.struct_size = sizeof(info)};
    int i;

    for (i = 0; memspan_backend_name(i) != NULL; i++) {
        if (strcmp(memspan_backend_name(i), conform_device()->info.backend) == 0) {
            CHECK_OK(memspan_backend_describe(i, &info));
            return strcmp(info.origin, "built in") == 0;
        }
    }
    return false;
}

static void every_capability_has_a_source(void)
{
    const memspan_device_info_t *d = &conform_device()->info;
    bool must                      = must_tell_sources();
    int bit;

    for (bit = 0; (1u << bit) <= MEMSPAN_CAN_UNIFIED_PHYSICAL; bit++) {
        CHECK(TERMINATED(d->capability_note[bit]));
        CHECK(!must || (d->capability_note[bit][0] != '\0'), "no source for bit %d, which is %s",
              bit, conform_can(1u << bit) ? "set" : "clear");
    }
    CHECK((d->capabilities >> bit) == 0, "there is no bit %d", bit);
}

static void every_mode_is_on_or_has_a_remedy(void)
{
    const memspan_device_info_t *d = &conform_device()->info;
    bool ended                     = false;
    int i;

    for (i = 0; i < MEMSPAN_MODE_ROOM; i++) {
        const memspan_device_mode_t *mode = &d->modes[i];

        CHECK(TERMINATED(mode->name) && TERMINATED(mode->source) && TERMINATED(mode->remedy));
        CHECK(!ended || (mode->name[0] == '\0'), "mode %d follows the end of the list", i);
        ended = ended || (mode->name[0] == '\0');
        CHECK(ended || (mode->source[0] != '\0'), "no source for %s", mode->name);
        CHECK(ended || (mode->on > 0) || (mode->remedy[0] != '\0'),
              "%s is off, and no word how it "
              "is turned on, or why not",
              mode->name);
    }
}

static void every_reach_has_a_source(void)
{
    int device = conform_device()->number;
    char text[160];
    char room[4] = "???";
    int kind;

    for (kind = MEMSPAN_KIND_HOST; kind < MEMSPAN_KIND_COUNT; kind++) {
        text[0] = '\0';
        CHECK_OK(memspan_device_reach_source(device, (memspan_kind_t)kind, MEMSPAN_HOST, text,
                                             sizeof(text)));
        CHECK((text[0] != '\0') && TERMINATED(text));
        /* A plug-in may have none. */
        CHECK((getenv("MEMSPAN_BACKEND_PATH") != NULL) || (strcmp(text, "the backend's word") != 0),
              "no source for memory of kind %d", kind);
        text[0] = '\0';
        CHECK_OK(
            memspan_device_reach_source(device, (memspan_kind_t)kind, device, text, sizeof(text)));
        CHECK(text[0] != '\0');
    }
    CHECK_OK(memspan_device_reach_source(device, MEMSPAN_KIND_HOST, device, room, sizeof(room)));
    CHECK(TERMINATED(room), "it is cut where there is less room");
    CHECK(memspan_device_reach_source(device, MEMSPAN_KIND_NONE, device, text, sizeof(text)) ==
          MEMSPAN_ERR_INVALID);
    CHECK(memspan_device_reach_source(device, MEMSPAN_KIND_HOST, device, NULL, 0) ==
          MEMSPAN_ERR_INVALID);
}

static void describe_again_is_the_same(void)
{
    memspan_device_info_t again = {.struct_size = sizeof(again)};

    CHECK_OK(memspan_device_describe(conform_device()->number, &again));
    again.free_bytes = conform_device()->info.free_bytes;
    CHECK(memcmp(&again, &conform_device()->info, sizeof(again)) == 0);
}

static void backend_says_that_it_is_on(void)
{
    memspan_backend_info_t info = {.struct_size = sizeof(info)};
    int i;

    for (i = 0; i < memspan_backend_count(); i++) {
        if (strcmp(memspan_backend_name(i), conform_device()->info.backend) == 0) {
            break;
        }
    }
    CHECK_OK(memspan_backend_describe(i, &info));
    CHECK((info.on == 1) && (info.status == MEMSPAN_OK) && (info.device_count >= 1));
    CHECK(TERMINATED(info.name) && TERMINATED(info.title) && (info.title[0] != '\0'));
    CHECK(TERMINATED(info.origin) && (info.origin[0] != '\0'));
    CHECK(TERMINATED(info.reason) && TERMINATED(info.hint));
}

static void reaches_are_sane(void)
{
    int device = conform_device()->number;

    for (int kind = MEMSPAN_KIND_HOST; kind < MEMSPAN_KIND_COUNT; kind++) {
        memspan_reach_t own  = {0};
        memspan_reach_t host = {0};
        memspan_kind_t k     = (memspan_kind_t)kind;

        CHECK_OK(memspan_device_reach(device, k, device, &own));
        CHECK_OK(memspan_device_reach(device, k, MEMSPAN_HOST, &host));
        CHECK((unsigned)own.access <= MEMSPAN_ACCESS_LOCAL);
        CHECK((unsigned)own.coherence <= MEMSPAN_COHERENCE_ATOMIC);
        if (!conform_offers(k)) {
            continue;
        }
        CHECK(own.access >= MEMSPAN_ACCESS_FAULT, "a device reaches its own %s memory",
              memspan_kind_name(k));
        CHECK(host.access >= MEMSPAN_ACCESS_COPY, "the host reaches %s memory at least by copies",
              memspan_kind_name(k));
        if (k == MEMSPAN_KIND_COHERENT) {
            CHECK(host.access >= MEMSPAN_ACCESS_FAULT);
            CHECK(own.coherence >= MEMSPAN_COHERENCE_CONCURRENT);
            CHECK(host.coherence >= MEMSPAN_COHERENCE_CONCURRENT);
        }
        if ((k == MEMSPAN_KIND_MANAGED) || (k == MEMSPAN_KIND_HOST_PINNED)) {
            CHECK((host.access >= MEMSPAN_ACCESS_FAULT) &&
                  (host.coherence >= MEMSPAN_COHERENCE_SYNC));
        }
    }
}

static void check_resource(memspan_space_h space, size_t i)
{
    memspan_resource_info_t r = {.struct_size = sizeof(r)};
    memspan_reach_t from_home = {0};
    memspan_reach_t from_here = {0};

    CHECK_OK(memspan_space_resource(space, i, &r));
    CHECK((r.kind > MEMSPAN_KIND_NONE) && (r.kind < MEMSPAN_KIND_COUNT));
    CHECK(TERMINATED(r.name) && (r.name[0] != '\0'));
    CHECK(r.page_size_bytes > 0);
    CHECK_OK(memspan_device_reach(r.home, r.kind, conform_device()->number, &from_home));
    CHECK_OK(memspan_space_reach(space, i, conform_device()->number, &from_here));
    CHECK(from_here.access >= MEMSPAN_ACCESS_FAULT, "resource %s of a space of the device", r.name);
    CHECK(from_here.access >= from_home.access,
          "what a device promises, its spaces promise as well");
}

static void spaces_hold_what_the_device_reaches(void)
{
    memspan_space_info_t info = {.struct_size = sizeof(info)};
    memspan_space_h spaces[2] = {conform_own_space(), MEMSPAN_SPACE_NULL};
    int count                 = conform_shared_space(&spaces[1]) ? 2 : 1;

    for (int s = 0; s < count; s++) {
        size_t resources = memspan_space_resource_count(spaces[s]);

        CHECK(resources > 0);
        CHECK_OK(memspan_space_describe(spaces[s], &info));
        CHECK(TERMINATED(info.name) && (info.name[0] != '\0') && TERMINATED(info.note));
        CHECK(info.target == (conform_is_host() ? 0 : 1));
        CHECK(info.device_count == (conform_is_host() ? 0u : 1u));
        CHECK(conform_is_host() || (info.devices[0] == conform_device()->number));
        CHECK(memspan_space_page_size(spaces[s]) > 0);
        for (size_t i = 0; i < resources; i++) {
            check_resource(spaces[s], i);
        }
    }
}

static void space_handles_are_interned(void)
{
    int device        = conform_device()->number;
    int with_host[]   = {MEMSPAN_HOST, device};
    int turned[]      = {device, MEMSPAN_HOST, device, memspan_host_device()};
    memspan_space_h a = MEMSPAN_SPACE_NULL;
    memspan_space_h b = MEMSPAN_SPACE_NULL;

    for (int i = 0; i < 100; i++) {
        CHECK(conform_own_space() == conform_own_space());
    }
    if (conform_shared_space(&a)) {
        CHECK_OK(memspan_space_get(turned, 4, MEMSPAN_SPACE_DEFAULT, &b));
        CHECK(a == b, "order and repetition do not matter");
        CHECK_OK(memspan_space_get(with_host, 2, MEMSPAN_SPACE_HIGH_BW, &b));
        CHECK(a != b || conform_is_host(), "the hint makes a difference");
    }
}

const struct conform_case conform_describe_cases[] = {
    {"describe_is_complete", describe_is_complete},
    {"every_kind_is_offered_or_explained", every_kind_is_offered_or_explained},
    {"every_capability_has_a_source", every_capability_has_a_source},
    {"every_mode_is_on_or_has_a_remedy", every_mode_is_on_or_has_a_remedy},
    {"every_reach_has_a_source", every_reach_has_a_source},
    {"describe_again_is_the_same", describe_again_is_the_same},
    {"backend_says_that_it_is_on", backend_says_that_it_is_on},
    {"reaches_are_sane", reaches_are_sane},
    {"spaces_hold_what_the_device_reaches", spaces_hold_what_the_device_reaches},
    {"space_handles_are_interned", space_handles_are_interned},
    {NULL, NULL},
};
