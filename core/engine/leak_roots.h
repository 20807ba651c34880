/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_ENGINE_LEAK_ROOTS_H
#define MEMSPAN_CORE_ENGINE_LEAK_ROOTS_H

/* LeakSanitizer follows pointers from static data, stacks and malloc's blocks. Chunks are none of
 * these: each is a root of its search, so that what the program reaches through them is no leak.
 * Without the sanitizer these functions do not exist. A range that was never added must not be
 * dropped: the sanitizer ends the process then. */

#include "core/base/platform.h"
#include <stdbool.h>
#include <stddef.h>

void __lsan_register_root_region(const void *address, size_t size_bytes) __attribute__((weak));
void __lsan_unregister_root_region(const void *address, size_t size_bytes) __attribute__((weak));
void __lsan_ignore_object(const void *block) __attribute__((weak));

/* True where the sanitizer reads whole chunks: it leaves out the mappings that cannot be read, and
 * strikes a page that is closed in another way. */
static inline bool msp_leak_roots_are_read(void)
{
    return __lsan_register_root_region != NULL;
}

static inline void msp_leak_root_add(const void *address, size_t size_bytes)
{
    if (MSP_UNLIKELY(__lsan_register_root_region != NULL)) {
        __lsan_register_root_region(address, size_bytes);
    }
}

static inline void msp_leak_root_drop(const void *address, size_t size_bytes)
{
    if (MSP_UNLIKELY(__lsan_unregister_root_region != NULL)) {
        __lsan_unregister_root_region(address, size_bytes);
    }
}

/* A block of malloc's to which only memory leads that is not searched. */
static inline void msp_leak_ignore(const void *block)
{
    if (MSP_UNLIKELY(__lsan_ignore_object != NULL) && (block != NULL)) {
        __lsan_ignore_object(block);
    }
}

#endif /* MEMSPAN_CORE_ENGINE_LEAK_ROOTS_H */
