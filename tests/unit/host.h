/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_UNIT_HOST_H
#define MEMSPAN_TESTS_UNIT_HOST_H

/* The host's backend by its table. */

#include "core/base/file.h"
#include "core/base/platform.h"
#include "core/device/backend.h"
#include <criterion/criterion.h>
#include <stdio.h>

extern const memspan_backend_t msp_backend_host;
static const memspan_backend_t *const table = &msp_backend_host;

enum { MIB = 1 << 20 };

static inline void *open_host(void)
{
    void *state = NULL;

    cr_assert_eq(table->open(&memspan_services, &state), MEMSPAN_OK);
    return state;
}

static inline memspan_request_t ask(memspan_kind_t kind, size_t size_bytes)
{
    return (memspan_request_t){
        .struct_size      = sizeof(memspan_request_t),
        .kind             = kind,
        .size_bytes       = size_bytes,
        .align_bytes      = msp_page_size(),
        .resident_ordinal = MEMSPAN_HOST,
    };
}

static inline uint64_t status_bytes(const char *field)
{
    char text[4096];
    uint64_t value = UINT64_MAX;

    msp_file_read("/proc/self/status", text, sizeof(text));
    msp_text_field(text, field, &value);
    return value;
}

/* The page at @p address is mapped. */
static inline bool is_mapped(const void *address)
{
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "re");
    bool found = false;

    while (!found && (fgets(line, sizeof(line), maps) != NULL)) {
        unsigned long from;
        unsigned long to;
        found = (sscanf(line, "%lx-%lx", &from, &to) == 2) && ((uintptr_t)address >= from) &&
                ((uintptr_t)address < to);
    }
    fclose(maps);
    return found;
}

#endif /* MEMSPAN_TESTS_UNIT_HOST_H */
