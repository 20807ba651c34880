/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_CXX_CHECK_HPP
#define MEMSPAN_TESTS_CXX_CHECK_HPP

/* What the programs of this room share: a check that says where it failed, and what the library
 * counts. A program ends with check_result(). */

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memspan/memspan.hpp>

inline int failures = 0;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                   \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

/* The exception's own type or one that is derived from it; anything else fails the program. */
template <class Exception, class Call> bool throws(Call call, const char *word = "")
{
    try {
        call();
    } catch (const Exception &e) {
        if (std::strstr(e.what(), word) == nullptr) {
            std::fprintf(stderr, "\"%s\" does not name %s\n", e.what(), word);
            return false;
        }
        return true;
    }
    return false;
}

inline memspan_allocator_stats_t stats_of(memspan_allocator_h allocator)
{
    memspan_allocator_stats_t stats = {};

    stats.struct_size = sizeof(stats);
    CHECK(memspan_allocator_get_stats(allocator, &stats) == MEMSPAN_OK);
    return stats;
}

/* Whose memory an address is. */
inline memspan_allocator_h owner_of(const void *pointer)
{
    memspan_pointer_info_t info = {};

    info.struct_size = sizeof(info);
    return (memspan_pointer_describe(pointer, &info) == MEMSPAN_OK) ? info.allocator
                                                                    : MEMSPAN_ALLOCATOR_NULL;
}

inline bool is_empty(memspan_allocator_h allocator)
{
    memspan_allocator_stats_t stats = stats_of(allocator);

    return (stats.live_count == 0) && (stats.allocated_count == stats.freed_count);
}

inline int check_result()
{
    if (memspan_check() != MEMSPAN_OK) {
        std::fprintf(stderr, "%s\n", memspan_error_text());
        failures++;
    }
    return (failures == 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif /* MEMSPAN_TESTS_CXX_CHECK_HPP */
