/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_SUMS_H
#define MEMSPAN_TESTS_SUMS_H

/* What adds up when a program has freed everything: the counters of all allocators, those of each
 * driver, and what pools hold. One copy for every suite, whose fixtures call it after each test. */

#include <memspan/memspan.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sums {
    memspan_allocator_stats_t all;     /* of the process */
    memspan_allocator_stats_t drivers; /* of each driver, added up */
};

static inline void sums_add_driver(struct sums *sums, int device)
{
    memspan_allocator_stats_t one = {.struct_size = sizeof(one)};

    if (memspan_device_get_stats(device, &one) == MEMSPAN_OK) {
        sums->drivers.live_bytes += one.live_bytes;
        sums->drivers.live_count += one.live_count;
        sums->drivers.charged_bytes += one.charged_bytes;
        sums->drivers.allocated_count += one.allocated_count;
        sums->drivers.freed_count += one.freed_count;
        sums->drivers.held_bytes += one.held_bytes;
        sums->drivers.free_bytes += one.free_bytes;
    }
}

/* A device's counters are those of its driver: one device of each is asked. */
static inline struct sums sums_now(void)
{
    struct sums sums             = {.all = {.struct_size = sizeof(sums.all)}};
    memspan_device_info_t info   = {.struct_size = sizeof(info)};
    memspan_device_info_t before = {.struct_size = sizeof(before)};
    int number;
    int earlier;
    int i;
    int j;

    (void)memspan_allocator_get_stats(MEMSPAN_ALLOCATOR_NULL, &sums.all);
    sums_add_driver(&sums, MEMSPAN_HOST);
    for (i = 0; i < memspan_device_count(); i++) {
        bool is_first = (memspan_device_at(i, &number) == MEMSPAN_OK) &&
                        (memspan_device_describe(number, &info) == MEMSPAN_OK);

        for (j = 0; is_first && (j < i); j++) {
            is_first = (memspan_device_at(j, &earlier) != MEMSPAN_OK) ||
                       (memspan_device_describe(earlier, &before) != MEMSPAN_OK) ||
                       (strcmp(info.backend, before.backend) != 0);
        }
        if (is_first) {
            sums_add_driver(&sums, number);
        }
    }
    return sums;
}

/* NULL, or the first sum that is wrong, when nothing is to be live any more. */
static inline const char *sums_problem(void)
{
    static char text[300];
    const char *debug = getenv("MEMSPAN_DEBUG");
    struct sums s;

    if ((debug != NULL) && (strstr(debug, "guard") != NULL)) {
        (void)memspan_trim(); /* what is in quarantine is held, and not free */
    }
    s = sums_now();
#define SUMS_EQUAL(one, other)                                                                     \
    if ((one) != (other)) {                                                                        \
        snprintf(text, sizeof(text), "%s is %llu and %s is %llu", #one, (unsigned long long)(one), \
                 #other, (unsigned long long)(other));                                             \
        return text;                                                                               \
    }
    SUMS_EQUAL(s.all.live_count, 0u)
    SUMS_EQUAL(s.all.live_bytes, 0u)
    SUMS_EQUAL(s.all.charged_bytes, 0u)
    SUMS_EQUAL(s.all.allocated_count, s.all.freed_count)
    SUMS_EQUAL(s.all.held_bytes, s.all.free_bytes)
    SUMS_EQUAL(s.all.held_bytes, s.drivers.held_bytes)
    SUMS_EQUAL(s.all.free_bytes, s.drivers.free_bytes)
    SUMS_EQUAL(s.drivers.live_count, 0u)
    SUMS_EQUAL(s.drivers.live_bytes, 0u)
    SUMS_EQUAL(s.drivers.charged_bytes, 0u)
    if (memspan_check() != MEMSPAN_OK) {
        return memspan_error_text();
    }
    (void)memspan_trim();
    s = sums_now();
    SUMS_EQUAL(s.all.held_bytes, 0u)
    SUMS_EQUAL(s.all.free_bytes, 0u)
    SUMS_EQUAL(s.drivers.held_bytes, 0u)
#undef SUMS_EQUAL
    return (memspan_check() == MEMSPAN_OK) ? NULL : memspan_error_text();
}

#endif /* MEMSPAN_TESTS_SUMS_H */
