/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_FAKES_SUITE_GPU_RULES_H
#define MEMSPAN_TESTS_FAKES_SUITE_GPU_RULES_H

/* gpu_rules.c has tests of what CUDA and HIP do alike (backends/gpu). This is what they need of the
 * driver; pretended_find() fills it. */

#include "backends/gpu/gpu.h"
#include "tests/fakes/suite/pretended.h"

extern struct gpu_names {
    const char *all_reached; /* a machine whose devices reach all memory of the host */
    const char *no_memory;   /* the driver's words */
    /* Calls of the driver, as records name them. */
    const char *alloc;
    const char *host_alloc;
    const char *host_free;
    const char *register_pages;
    const char *unregister_pages;
    const char *wait;
    const char *open_handle;
    const char *drop_stream;
    const char *query_event;
} gpu_names;

/* The program's own use of the driver, in a visit of the device; each answers with the driver's
 * code. */
extern struct gpu_program {
    int (*register_pages)(void *pages, size_t size);
    int (*unregister_pages)(void *pages);
    int (*take)(memspan_kind_t kind, size_t size, void **address_p);
    int (*give_back)(memspan_kind_t kind, void *address);
    int (*exchange_capture_mode)(int *mode); /* NULL: an old driver has none */
    bool (*capture)(bool begin);
    int (*make_stream)(void **stream_p);
    int (*make_blocking_stream)(void **stream_p);
    int (*drop_stream)(void *stream);
    memspan_queue_type_t queue_type;
    bool knows_owners; /* of streams, and whether they are captured */
    bool has_dmabuf;
    bool has_attach; /* to streams */
} gpu_program;

/* gpu_failures.c: all that a backend can do, for steps_fail_each() and its like. */
void gpu_failures_work(void);

#endif /* MEMSPAN_TESTS_FAKES_SUITE_GPU_RULES_H */
