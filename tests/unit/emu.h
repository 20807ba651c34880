/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_UNIT_EMU_H
#define MEMSPAN_TESTS_UNIT_EMU_H

/* What the suites of the emulated devices' table share: devices, blocks, launches, and whether the
 * host's view of an address is open. */

#include "backends/emu/emu.h"
#include "core/base/option.h"
#include "core/device/backend.h"
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

extern const memspan_backend_t msp_backend_emu;
static const memspan_backend_t *const emu = &msp_backend_emu;

enum { MIB = 1 << 20 };

static inline void *open_emu(const char *devices, const char *memory, const char *peers)
{
    void *state = NULL;

    setenv("MEMSPAN_DEVICES", devices, 1);
    setenv("MEMSPAN_EMU_MEMORY", memory, 1);
    setenv("MEMSPAN_EMU_PEERS", peers, 1);
    msp_option_reload();
    return (emu->open(&memspan_services, &state) == MEMSPAN_OK) ? state : NULL;
}

static inline void *open_two(void)
{
    void *state = open_emu("emu:2", "64m", "all");

    cr_assert_not_null(state, "%s", memspan_error_text());
    cr_assert_eq(emu->device_count(state), 2);
    return state;
}

static inline memspan_block_t take(void *state, int ordinal, memspan_kind_t kind, size_t size)
{
    memspan_request_t request = {.struct_size      = sizeof(request),
                                 .kind             = kind,
                                 .size_bytes       = size,
                                 .align_bytes      = 65536,
                                 .resident_ordinal = ordinal};
    memspan_block_t block     = {0};

    cr_assert_eq(emu->alloc(state, ordinal, &request, &block), MEMSPAN_OK, "%s",
                 memspan_error_text());
    return block;
}

/* Whether the host's view is open, asked of the kernel and not by a fault. */
static inline bool is_open(const void *address)
{
    int ends[2];
    bool open;

    cr_assert_eq(pipe(ends), 0);
    open = (write(ends[1], address, 1) == 1);
    close(ends[0]);
    close(ends[1]);
    return open;
}

static inline memspan_status_t launch(void *state, int ordinal, void *queue,
                                      memspan_kernel_t kernel, size_t count, double a,
                                      const void *x, void *z)
{
    memspan_kernel_call_t call = {
        .struct_size = sizeof(call), .kernel = kernel, .count = count, .a = a, .x = x, .z = z};

    return emu->launch(state, ordinal, queue, &call);
}

static inline int count_entries(const char *path)
{
    DIR *folder = opendir(path);
    int count   = 0;

    cr_assert_not_null(folder);
    while (readdir(folder) != NULL) {
        count++;
    }
    closedir(folder);
    return count;
}

#endif /* MEMSPAN_TESTS_UNIT_EMU_H */
