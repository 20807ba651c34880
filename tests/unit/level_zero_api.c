/* SPDX-License-Identifier: BSD-3-Clause */
/* What backends/level_zero/level_zero_api.h declares, against the headers of Level Zero: numbers,
 * layouts, and the form of every call. A row whose arguments differ does not compile. */

#include <stdbool.h> /* newer ze_loader.h uses it and does not include it */

#if __has_include(<level_zero/ze_api.h>) && __has_include(<level_zero/zes_api.h>)
#include <level_zero/loader/ze_loader.h>
#include <level_zero/ze_api.h>
#include <level_zero/zes_api.h>
#define MEMSPAN_LEVEL_ZERO_HEADER_TYPES
#define HAVE_HEADER 1
#else
#define HAVE_HEADER 0
#endif

#include "backends/level_zero/level_zero_api.h"
#include <criterion/criterion.h>
#include <stddef.h>

#if HAVE_HEADER

Test(level_zero_api, numbers)
{
#define CHECK(name, value)                                                                         \
    cr_assert_eq((unsigned long long)(value), (unsigned long long)ZE_##name,                       \
                 "ZE_" #name " is %#llx", (unsigned long long)ZE_##name);
    LZ_CONSTANT_MAP(CHECK)
#undef CHECK
#define CHECK(name, value)                                                                         \
    cr_assert_eq((unsigned long)(value), (unsigned long)(name), #name " is %#lx",                  \
                 (unsigned long)(name));
    LZ_RESULT_MAP(CHECK)
#undef CHECK
    cr_assert_eq((int)LZ_HANDLE_DRIVER, (int)ZEL_HANDLE_DRIVER);
    cr_assert_eq((int)LZ_SYSMAN_STRUCTURE_TYPE_DEVICE_PROPERTIES,
                 (int)ZES_STRUCTURE_TYPE_DEVICE_PROPERTIES);
    cr_assert_eq((int)LZ_SYSMAN_STRUCTURE_TYPE_MEM_PROPERTIES,
                 (int)ZES_STRUCTURE_TYPE_MEM_PROPERTIES);
    cr_assert_eq((int)LZ_SYSMAN_STRUCTURE_TYPE_MEM_STATE, (int)ZES_STRUCTURE_TYPE_MEM_STATE);
}

Test(level_zero_api, layouts)
{
#define SAME_SIZE(ours, theirs)                                                                    \
    cr_assert_eq(sizeof(struct lz_##ours), sizeof(theirs), #theirs " has %zu bytes",               \
                 sizeof(theirs));
#define SAME_PLACE(ours, theirs, member)                                                           \
    cr_assert_eq(offsetof(struct lz_##ours, member), offsetof(theirs, member),                     \
                 #theirs "." #member " is elsewhere");
#define CHECK(ours, theirs, first, last)                                                           \
    SAME_SIZE(ours, theirs)                                                                        \
    SAME_PLACE(ours, theirs, first)                                                                \
    SAME_PLACE(ours, theirs, last)
    LZ_STRUCT_MAP(CHECK)
#undef CHECK
}

Test(level_zero_api, calls)
{
#define CHECK(name, optional, arguments)                                                           \
    _Static_assert(__builtin_types_compatible_p(__typeof__(&(name)),                               \
                                                __typeof__(((struct lz_calls *)NULL)->name)),      \
                   "the form of " #name " differs");
    LZ_CALL_MAP(CHECK)
#ifdef ZE_EXTERNAL_MEMORY_MAPPING_EXT_NAME
    LZ_NEWER_CALL_MAP(CHECK)
    cr_assert_eq(sizeof(struct lz_memmap_desc), sizeof(ze_external_memmap_sysmem_ext_desc_t));
    cr_assert_eq((int)LZ_STRUCTURE_TYPE_EXTERNAL_MEMMAP_SYSMEM_EXT_DESC,
                 (int)ZE_STRUCTURE_TYPE_EXTERNAL_MEMMAP_SYSMEM_EXT_DESC);
#endif
#undef CHECK
}

#else

Test(level_zero_api, header)
{
    cr_skip_test("no <level_zero/ze_api.h> to compare with");
}

#endif
