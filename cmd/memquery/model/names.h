/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_NAMES_H
#define MEMQUERY_NAMES_H

/* Lookup of names for --why and --check. */

#include "cmd/memquery/model/snapshot.h"
#include "cmd/memquery/output/text.h"

enum name_sort {
    NAME_UNKNOWN,
    NAME_BACKEND,
    NAME_MISSING_BACKEND, /* a known driver without a backend in this library */
    NAME_DEVICE,
    NAME_MISSING_DEVICE, /* "device7" on a machine with two */
    NAME_SPACE,
    NAME_RESOURCE,
    NAME_OFFER, /* "opencl0.managed" where the device does not offer it */
    NAME_KIND
};

struct name {
    enum name_sort sort;
    const struct backend_row *backend;
    const struct device_row *device; /* of a device; the home of a resource or offer */
    const struct space_row *space;   /* of a space; the first that has the resource */
    const struct resource *resource;
    memspan_kind_t kind;
};

/* What is sought: "host" is both a backend and a device, and "opencl" is no space. */
enum name_sought { NAME_ANY, NAME_A_BACKEND, NAME_A_DEVICE, NAME_A_SPACE };

/* Find @p text; *list_p receives all names of what is sought (the caller frees its items). */
struct name name_find(const struct snapshot *snapshot, const char *text, enum name_sought request,
                      struct text_list *list_p);

/* The kind with that name, or MEMSPAN_KIND_NONE. */
memspan_kind_t name_kind(const char *text);

#endif /* MEMQUERY_NAMES_H */
