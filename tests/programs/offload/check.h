/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_OFFLOAD_CHECK_H
#define MEMSPAN_TESTS_OFFLOAD_CHECK_H

/* What the programs of this room share: a check that ends the program with what failed and what
 * the library last said, and the questions that all of them ask of their memory. */

#include <memspan/memspan.h>
#include <memspan/omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not true: %s\n    last error: %s\n", __FILE__, __LINE__,       \
                    #condition, memspan_error_text());                                             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* True when a target region of @p device runs on a device. With OMP_TARGET_OFFLOAD=DISABLED it does
 * not, and everything must hold as well. */
static inline bool runs_on_device(int device)
{
    int on_host = 1;

#pragma omp target device(device) map(from : on_host)
    on_host = omp_is_initial_device();
    return !on_host;
}

static inline bool offload_is_disabled(void)
{
    const char *word = getenv("OMP_TARGET_OFFLOAD");

    return (word != NULL) && ((word[0] == 'd') || (word[0] == 'D')) &&
           ((word[1] == 'i') || (word[1] == 'I'));
}

/* From LLVM 22 on there are no devices where offloading is disabled: the numbers of lists are the
 * host's, and so is the memory. */
static inline bool has_host_alone(void)
{
    return offload_is_disabled() && (omp_get_num_devices() == 0);
}

/* Ends the program: there is nothing for it on this machine. */
static inline void skip(const char *what)
{
    printf("skipped: %s\n", what);
    exit(77);
}

/* Every program begins with this: there is a device, and regions really run there. */
static inline void check_devices(int at_least)
{
    CHECK(has_host_alone() || (omp_get_num_devices() >= 1));
    if ((omp_get_num_devices() < at_least) && !(has_host_alone() && (at_least == 1))) {
        skip("there are not devices enough");
    }
    if (has_host_alone()) {
        CHECK(omp_get_initial_device() == 0);
        CHECK(!runs_on_device(0));
        return;
    }
    CHECK(memspan_device_count() >= omp_get_num_devices());
    CHECK(memspan_host_device() == omp_get_num_devices());
    CHECK(omp_get_initial_device() == omp_get_num_devices());
    CHECK(runs_on_device(0) == !offload_is_disabled());
}

/* The memory is ours, of that kind, and from the OpenMP runtime of that device (or any: -2). */
static inline void check_memory(const void *pointer, memspan_kind_t kind, int home)
{
    memspan_pointer_info_t info = {.struct_size = sizeof(info)};

    CHECK(memspan_pointer_describe(pointer, &info) == MEMSPAN_OK);
    if (info.kind_given != kind) {
        fprintf(stderr, "given: %s memory (%s)\n", memspan_kind_name(info.kind_given), info.why);
    }
    CHECK(info.kind_given == kind);
    CHECK((home == -2) || (info.home == home));
}

/* Nothing may be left behind, and the library's own records must be sound. */
static inline void check_end(void)
{
    memspan_allocator_stats_t stats = {.struct_size = sizeof(stats)};

    CHECK(memspan_check() == MEMSPAN_OK);
    CHECK(memspan_allocator_get_stats(MEMSPAN_ALLOCATOR_NULL, &stats) == MEMSPAN_OK);
    CHECK(stats.live_count == 0);
    CHECK(stats.allocated_count > 0);
}

#endif /* MEMSPAN_TESTS_OFFLOAD_CHECK_H */
