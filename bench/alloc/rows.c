/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows and points. A worker names the points; their order here is that of tables and files. */

#include "bench/alloc/alloc.h"
#include <string.h>

const struct alloc_row_facts alloc_rows[ALLOC_ROW_COUNT] = {
#define ROW(symbol, name, second, help) {name, help, {name, second}},
    ALLOC_ROW_MAP(ROW)
#undef ROW
};

const char *const alloc_row_names[ALLOC_ROW_COUNT] = {
#define NAME(symbol, name, second, help) name,
    ALLOC_ROW_MAP(NAME)
#undef NAME
};

const struct alloc_point alloc_points[] = {
    {ALLOC_PAIR, "pair-16", "16 B", "ns", false},
    {ALLOC_PAIR, "pair-64", "64 B", "ns", false},
    {ALLOC_PAIR, "pair-256", "256 B", "ns", false},
    {ALLOC_PAIR, "pair-1k", "1 KiB", "ns", false},
    {ALLOC_PAIR, "pair-4k", "4 KiB", "ns", false},
    {ALLOC_PAIR, "pair-64k", "64 KiB", "ns", false},
    {ALLOC_PAIR, "pair-1m", "1 MiB", "ns", false},
    {ALLOC_RANDOM, "random", "not touched", "ns", false},
    {ALLOC_RANDOM, "random-write", "written", "ns", false},
    {ALLOC_THREADS, "threads", "random, CPU", "Mops/s", true},
    {ALLOC_THREADS, "threads-wall", "random, clock", "Mops/s", true},
    {ALLOC_THREADS, "threads-pair", "pair 64 B, CPU", "Mops/s", true},
    {ALLOC_PRODUCER, "producer-consumer", "M a second", "Mops/s", true},
    {ALLOC_PRODUCER, "producer-consumer-cpu", "CPU, ns", "ns", false},
    {ALLOC_FOOTPRINT, "footprint", "B per object", "B", false},
    {ALLOC_FOOTPRINT, "footprint-kept", "kept, %", "percent", false},
    {ALLOC_FOOTPRINT, "footprint-alloc", "alloc, ns", "ns", false},
    {ALLOC_FOOTPRINT, "footprint-free", "free, ns", "ns", false},
    {ALLOC_LIMIT, "limit-usable", "usable, %", "percent", true},
    {ALLOC_LIMIT, "limit-usable-threads", "by 2 threads, %", "percent", true},
    {ALLOC_LIMIT, "limit-refusal", "refusal, ns", "ns", false},
    {ALLOC_LIMIT, "limit-refusal-large", "of all of it, ns", "ns", false},
    {ALLOC_LIMIT, "limit-wrong", "wrong, per M", "per M", false},
    {ALLOC_LIMIT, "limit-overshoot", "overshoot, B", "B", false},
    {ALLOC_INIT, "init-destroy", "init + destroy", "ns", false},
    {ALLOC_INIT, "init-alloc-destroy", "with one block", "ns", false},
    {ALLOC_START, "start-up", "median", "ms", false},
    {ALLOC_START, "start-up-min", "minimum", "ms", false},
    {ALLOC_START, "start-up-added", "added to glibc", "ms", false},
    {ALLOC_DEVICE, "device-mix-64k", "mix to 64 KiB", "ns", false},
    {ALLOC_DEVICE, "device-mix-1m", "mix to 1 MiB", "ns", false},
    {ALLOC_DEVICE, "device-pair-256", "pair 256 B", "ns", false},
    {ALLOC_DEVICE, "device-pair-4k", "4 KiB", "ns", false},
    {ALLOC_DEVICE, "device-pair-1m", "1 MiB", "ns", false},
    {ALLOC_FILL, "fill", "uniform, %", "percent", true},
    {ALLOC_FILL, "fill-largest", "largest, MiB", "MiB", true},
    {ALLOC_FILL, "fill-log", "log-uniform, %", "percent", true},
    {ALLOC_FILL, "fill-log-largest", "largest, MiB", "MiB", true},
    {ALLOC_LOOKUP, "lookup-1", "1 region", "ns", false},
    {ALLOC_LOOKUP, "lookup-64", "64", "ns", false},
    {ALLOC_LOOKUP, "lookup-10000", "10,000", "ns", false},
    {ALLOC_RETENTION, "kept-peak", "threads: peak", "MiB", false},
    {ALLOC_RETENTION, "kept", "freed", "MiB", false},
    {ALLOC_RETENTION, "kept-later", "3 s later", "MiB", false},
    {ALLOC_RETENTION, "phases-peak", "phases: peak", "MiB", false},
    {ALLOC_RETENTION, "phases", "99 % freed", "MiB", false},
    {ALLOC_RETENTION, "phases-later", "3 s later", "MiB", false},
    {ALLOC_GROWTH, "growth", "not touched", "us", false},
    {ALLOC_GROWTH, "growth-write", "written", "us", false},
};

const size_t alloc_point_count = sizeof(alloc_points) / sizeof(alloc_points[0]);

_Static_assert(sizeof(alloc_points) / sizeof(alloc_points[0]) <= ALLOC_POINTS_MAX,
               "samples have no room for so many points");

size_t alloc_point_find(const char *name, size_t name_length)
{
    for (size_t i = 0; i < alloc_point_count; i++) {
        if ((strlen(alloc_points[i].name) == name_length) &&
            (strncmp(alloc_points[i].name, name, name_length) == 0)) {
            return i;
        }
    }
    return alloc_point_count;
}
