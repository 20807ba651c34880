/* SPDX-License-Identifier: BSD-3-Clause */
/* names.c: look a name up among backends, devices, spaces, resources and kinds. A well-formed
 * name of something absent ("cuda", "device7", "opencl0.managed") is an answer; any other
 * unknown name is a mistake. */

#include "cmd/memquery/model/model.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Drivers that users look for, with or without a backend in this library. */
static const char *const known_drivers[] = {"host", "opencl",     "openmp", "cuda",
                                            "hip",  "level_zero", "emu"};

memspan_kind_t name_kind(const char *text)
{
    for (int kind = MEMSPAN_KIND_HOST; kind < MEMSPAN_KIND_COUNT; kind++) {
        if (strcmp(memspan_kind_name((memspan_kind_t)kind), text) == 0) {
            return (memspan_kind_t)kind;
        }
    }
    return MEMSPAN_KIND_NONE;
}

static bool find_backend(const struct snapshot *snapshot, const char *text, struct name *name)
{
    for (size_t i = 0; i < snapshot->backend_count; i++) {
        if (strcmp(snapshot->backends[i].info.name, text) == 0) {
            name->sort    = NAME_BACKEND;
            name->backend = &snapshot->backends[i];
            return true;
        }
    }
    for (size_t i = 0; i < sizeof(known_drivers) / sizeof(known_drivers[0]); i++) {
        if (strcmp(known_drivers[i], text) == 0) {
            name->sort = NAME_MISSING_BACKEND;
            return true;
        }
    }
    return false;
}

/* "device0", "d0", "0", "opencl:0", "opencl0"; "host" is a backend and a space first. */
static bool find_device(const struct snapshot *snapshot, const char *text, struct name *name)
{
    const char *digits = text;
    char other[64];
    int number;

    for (size_t i = 0; i < snapshot->device_count; i++) {
        const memspan_device_info_t *info = &snapshot->devices[i].info;

        snprintf(other, sizeof(other), "%s:%d", info->backend, info->ordinal);
        if (strcmp(other, text) != 0) {
            snprintf(other, sizeof(other), "%s%d", info->backend, info->ordinal);
        }
        if (strcmp(other, text) == 0) {
            name->sort   = NAME_DEVICE;
            name->device = &snapshot->devices[i];
            return true;
        }
    }
    digits += (strncmp(text, "device", 6) == 0) ? 6 : ((text[0] == 'd') ? 1 : 0);
    if (!text_to_int(digits, &number)) {
        return false;
    }
    /* The number after the last device means the host, but the user means a device. */
    if ((number == snapshot->host_number) || (snapshot_device_index(snapshot, number) < 0)) {
        name->sort = NAME_MISSING_DEVICE;
    } else {
        name->sort   = NAME_DEVICE;
        name->device = &snapshot->devices[snapshot_device_index(snapshot, number)];
    }
    return true;
}

static bool find_space(const struct snapshot *snapshot, const char *text, struct name *name)
{
    for (size_t i = 0; i < snapshot->space_count; i++) {
        if (strcmp(snapshot->spaces[i].info.name, text) == 0) {
            name->sort  = NAME_SPACE;
            name->space = &snapshot->spaces[i];
            return true;
        }
    }
    for (size_t i = 0; i < snapshot->space_count; i++) {
        for (size_t j = 0; j < snapshot->spaces[i].resource_count; j++) {
            const struct resource *resource = &snapshot->spaces[i].resources[j];
            int home                        = snapshot_device_index(snapshot, resource->info.home);

            if (strcmp(resource->info.name, text) == 0) {
                name->sort     = NAME_RESOURCE;
                name->space    = &snapshot->spaces[i];
                name->resource = resource;
                name->kind     = resource->info.kind;
                name->device   = (home < 0) ? NULL : &snapshot->devices[home];
                return true;
            }
        }
    }
    return false;
}

/* "opencl0.managed": a kind that a device does not offer, or of an absent device, so that a
 * question has the same form on every machine. */
static bool find_offer(const struct snapshot *snapshot, const char *text, struct name *name)
{
    const char *point = strchr(text, '.');
    char part[64];

    if ((point == NULL) || ((size_t)(point - text) >= sizeof(part)) ||
        (name_kind(point + 1) == MEMSPAN_KIND_NONE)) {
        return false;
    }
    snprintf(part, sizeof(part), "%.*s", (int)(point - text), text);
    if (find_device(snapshot, part, name)) {
        name->sort = (name->device != NULL) ? NAME_OFFER : NAME_MISSING_DEVICE;
        name->kind = name_kind(point + 1);
        return true;
    }
    for (size_t length = strlen(part); (length > 0) && isdigit((unsigned char)part[length - 1]);) {
        part[--length] = '\0';
    }
    if (find_backend(snapshot, part, name)) {
        name->sort = (name->backend != NULL) ? NAME_BACKEND : NAME_MISSING_BACKEND;
        name->kind = name_kind(point + 1);
        return true;
    }
    return false;
}

/* "{host,0}" with an absent device: absent, no mistake. */
static bool find_list(const struct snapshot *snapshot, const char *text, struct name *name)
{
    char copy[256];
    char *next = copy;
    char *item;
    int number;
    size_t length = strlen(text);

    if ((length < 3) || (length >= sizeof(copy)) || (text[0] != '{') || (text[length - 1] != '}')) {
        return false;
    }
    snprintf(copy, sizeof(copy), "%.*s", (int)(length - 2), text + 1);
    while ((item = strsep(&next, ",")) != NULL) {
        if (strcmp(item, "host") == 0) {
            continue;
        }
        if (!text_to_int(item, &number)) {
            return false;
        }
        if ((number == snapshot->host_number) || (snapshot_device_index(snapshot, number) < 0)) {
            name->sort = NAME_MISSING_DEVICE;
        }
    }
    return name->sort == NAME_MISSING_DEVICE;
}

static void list_backends(const struct snapshot *snapshot, struct text_list *list)
{
    for (size_t i = 0; i < snapshot->backend_count; i++) {
        text_list_add(list, snapshot->backends[i].info.name);
    }
}

static void list_devices(const struct snapshot *snapshot, struct text_list *list)
{
    static char labels[256][24];

    for (size_t i = 0; (i < snapshot->device_count) && (i < 256); i++) {
        if (i == 0) {
            snprintf(labels[i], sizeof(labels[i]), "host");
        } else {
            snprintf(labels[i], sizeof(labels[i]), "device%d", snapshot->devices[i].info.number);
        }
        text_list_add(list, labels[i]);
    }
}

static void list_spaces(const struct snapshot *snapshot, struct text_list *list)
{
    for (size_t i = 0; i < snapshot->space_count; i++) {
        if (!text_list_has(list, snapshot->spaces[i].info.name)) {
            text_list_add(list, snapshot->spaces[i].info.name);
        }
        for (size_t j = 0; j < snapshot->spaces[i].resource_count; j++) {
            if (!text_list_has(list, snapshot->spaces[i].resources[j].info.name)) {
                text_list_add(list, snapshot->spaces[i].resources[j].info.name);
            }
        }
    }
}

static void list_names(const struct snapshot *snapshot, enum name_sought request,
                       struct text_list *list)
{
    if ((request == NAME_ANY) || (request == NAME_A_BACKEND)) {
        list_backends(snapshot, list);
    }
    if ((request == NAME_ANY) || (request == NAME_A_DEVICE)) {
        list_devices(snapshot, list);
    }
    if ((request == NAME_ANY) || (request == NAME_A_SPACE)) {
        list_spaces(snapshot, list);
    }
    for (int kind = MEMSPAN_KIND_HOST_PINNED; (request == NAME_ANY) && (kind < MEMSPAN_KIND_COUNT);
         kind++) {
        text_list_add(list, memspan_kind_name((memspan_kind_t)kind));
    }
}

static bool find_kind(const char *text, struct name *name)
{
    name->kind = name_kind(text);
    name->sort = (name->kind != MEMSPAN_KIND_NONE) ? NAME_KIND : NAME_UNKNOWN;
    return name->kind != MEMSPAN_KIND_NONE;
}

struct name name_find(const struct snapshot *snapshot, const char *text, enum name_sought request,
                      struct text_list *list_p)
{
    struct name name = {.sort = NAME_UNKNOWN};
    bool found       = false;

    list_names(snapshot, request, list_p);
    if ((request == NAME_ANY) || (request == NAME_A_BACKEND)) {
        found = find_backend(snapshot, text, &name);
    }
    if (!found && ((request == NAME_ANY) || (request == NAME_A_SPACE))) {
        found = find_space(snapshot, text, &name);
    }
    if (!found && (request == NAME_ANY)) {
        found = find_kind(text, &name);
    }
    if (!found && ((request == NAME_ANY) || (request == NAME_A_DEVICE))) {
        found = find_device(snapshot, text, &name);
    }
    if (!found && ((request == NAME_ANY) || (request == NAME_A_SPACE))) {
        found = find_offer(snapshot, text, &name) || find_list(snapshot, text, &name);
    }
    return name;
}
