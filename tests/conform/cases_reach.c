/* SPDX-License-Identifier: BSD-3-Clause */
/* What the queries promise is done: loads, stores, shared addresses and atomics, by the host and by
 * kernels on the device. */

#include "conform.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void need_kernels(void)
{
    if (!conform_has_kernels()) {
        conform_skip("the device runs no kernels");
    }
}

static void need_built_in_kernels(void)
{
    if (!conform_can(MEMSPAN_CAN_KERNELS)) {
        conform_skip("the backend has no built-in kernels");
    }
}

static void fill_kernel_writes(void)
{
    static const size_t counts[] = {0, 1, 2, 255, 256, 257, 10007};
    struct conform_memory m;
    double *out = calloc(10010, sizeof(double));

    need_kernels();
    CHECK(out != NULL);
    for (int k = 0; conform_kind(k, &m); k++) {
        double *z = memspan_alloc(m.allocator, 10010 * sizeof(double));

        CHECK(z != NULL);
        for (size_t c = 0; conform_kernels_run_on(&m) && (c < 7); c++) {
            CHECK_OK(memspan_fill(z, 0, 10010 * sizeof(double)));
            CHECK_OK(conform_launch(MEMSPAN_KERNEL_FILL, counts[c], 2.5, NULL, NULL, z));
            conform_read(&m, out, z, 10010 * sizeof(double));
            for (size_t i = 0; i < 10010; i++) {
                CHECK_BYTES(out[i] == ((i < counts[c]) ? 2.5 : 0.0), "%s: element %zu of %zu is %g",
                            memspan_kind_name(m.kind), i, counts[c], out[i]);
            }
        }
        CHECK_OK(memspan_free(z));
        conform_done(&m);
    }
    free(out);
}

static void put_doubles(const struct conform_memory *m, double *to, size_t count, double scale)
{
    double *from = malloc(count * sizeof(double));

    CHECK(from != NULL);
    for (size_t i = 0; i < count; i++) {
        from[i] = scale * (double)(i % 1000);
    }
    if (conform_host_touches(m)) {
        memcpy(to, from, count * sizeof(double));
    } else {
        CHECK_OK(memspan_copy(to, from, count * sizeof(double)));
    }
    free(from);
}

static void daxpy_and_sum(void)
{
    enum { N = 20011 };
    struct conform_memory m;
    double *out = calloc(N, sizeof(double));

    need_kernels();
    CHECK(out != NULL);
    for (int k = 0; conform_kind(k, &m); k++) {
        double *x = memspan_alloc(m.allocator, N * sizeof(double));
        double *y = memspan_alloc(m.allocator, N * sizeof(double));
        double *z = memspan_calloc(m.allocator, N, sizeof(double));
        double total;

        CHECK((x != NULL) && (y != NULL) && (z != NULL));
        put_doubles(&m, x, N, 1.0);
        put_doubles(&m, y, N, 0.5);
        if (conform_kernels_run_on(&m)) {
            for (int repeat = 1; repeat <= 2; repeat++) {
                CHECK_OK(conform_launch(MEMSPAN_KERNEL_DAXPY, N, 3.0, x, y, z));
            }
            conform_read(&m, out, z, N * sizeof(double));
            for (size_t i = 0; i < N; i++) {
                CHECK_BYTES(out[i] == 7.0 * (double)(i % 1000), "%s: z[%zu] = %g",
                            memspan_kind_name(m.kind), i, out[i]);
            }
            CHECK_OK(conform_launch(MEMSPAN_KERNEL_SUM, N, 0, x, NULL, z));
            conform_read(&m, &total, z, sizeof(total));
            CHECK_BYTES(total == 20.0 * 499500.0 + 55.0, "%s: sum is %.17g",
                        memspan_kind_name(m.kind), total);
            CHECK_OK(conform_launch(MEMSPAN_KERNEL_SUM, 0, 0, x, NULL, z));
            conform_read(&m, &total, z, sizeof(total));
            CHECK_BYTES(total == 0.0, "the sum of nothing is 0");
        }
        CHECK_OK(memspan_free(x));
        CHECK_OK(memspan_free(y));
        CHECK_OK(memspan_free(z));
        conform_done(&m);
    }
    free(out);
}

/* A list whose nodes lie in several blocks, made by the host, followed by the device. */
static void one_address_is_the_same_everywhere(void)
{
    enum { BLOCKS = 5, NODES = 200 };
    struct conform_memory m;

    need_kernels();
    for (int k = 0; conform_kind(k, &m); k++) {
        void **nodes[BLOCKS];
        void **result   = memspan_calloc(m.allocator, 1, 64);
        void *reached   = NULL;
        void **previous = NULL;
        void *first     = NULL;
        bool possible   = conform_kernels_run_on(&m) && conform_host_touches(&m) &&
                        conform_can(MEMSPAN_CAN_SHARE_ADDRESSES);

        CHECK(result != NULL);
        for (int b = 0; b < BLOCKS; b++) {
            nodes[b] = memspan_alloc(m.allocator, NODES * sizeof(void *));
            CHECK(nodes[b] != NULL);
        }
        for (int i = 0; possible && (i < NODES); i++) {
            void **node = &nodes[i % BLOCKS][(i * 7) % NODES];

            /* 7 and 200 share no factor: no node comes twice */
            if (previous != NULL) {
                *previous = node;
            } else {
                first = node;
            }
            *node    = NULL;
            previous = node;
        }
        if (possible) {
            size_t steps = NODES - 50;

            CHECK_OK(conform_launch(MEMSPAN_KERNEL_CHASE, steps, 0, first, NULL, result));
            conform_read(&m, &reached, result, sizeof(reached));
            CHECK_BYTES(reached == (void *)&nodes[steps % BLOCKS][(steps * 7) % NODES], "%s: %p",
                        memspan_kind_name(m.kind), reached);
        }
        for (int b = 0; b < BLOCKS; b++) {
            CHECK_OK(memspan_free(nodes[b]));
        }
        CHECK_OK(memspan_free(result));
        conform_done(&m);
    }
}

static void atomics_on_the_device(void)
{
    struct conform_memory m;

    need_kernels();
    for (int k = 0; conform_kind(k, &m); k++) {
        uint32_t *word = memspan_calloc(m.allocator, 1, 64);
        uint32_t value = 0;
        memspan_status_t status;

        CHECK(word != NULL);
        if (conform_kernels_run_on(&m)) {
            status = conform_launch(MEMSPAN_KERNEL_ADD_ATOMIC, 10000, 3, NULL, NULL, word);
            if (status == MEMSPAN_ERR_UNSUPPORTED) {
                CHECK((m.device.coherence < MEMSPAN_COHERENCE_ATOMIC) ||
                      (m.host.coherence < MEMSPAN_COHERENCE_ATOMIC) || !conform_host_touches(&m));
                CHECK_OK(memspan_free(word));
                conform_done(&m);
                continue;
            }
            CHECK_OK(status);
            conform_read(&m, &value, word, sizeof(value));
            CHECK_BYTES(value == 30000, "%s: %u", memspan_kind_name(m.kind), value);
            CHECK_OK(conform_launch(MEMSPAN_KERNEL_ADD_ATOMIC, 10000, -2, NULL, NULL, word));
            conform_read(&m, &value, word, sizeof(value));
            CHECK_BYTES(value == 10000, "%s: %u", memspan_kind_name(m.kind), value);
        }
        CHECK_OK(memspan_free(word));
        conform_done(&m);
    }
}

struct adder {
    _Atomic uint32_t *word;
    uint32_t count;
    atomic_int *go;
};

static void *add_from_host(void *argument)
{
    struct adder *adder = argument;

    while (!atomic_load(adder->go)) {
    }
    for (uint32_t i = 0; i < adder->count; i++) {
        atomic_fetch_add(adder->word, 1);
    }
    return NULL;
}

/* Both sides add to one word at once. On the host's own backend the kernel is the other side. */
static void both_sides_at_once(void)
{
    enum { ADDS = 100000 };
    struct conform_memory m;
    int tried = 0;

    need_kernels();
    for (int k = 0; conform_kind(k, &m); k++) {
        bool promised = (m.host.coherence == MEMSPAN_COHERENCE_ATOMIC) &&
                        (m.device.coherence == MEMSPAN_COHERENCE_ATOMIC) &&
                        conform_kernels_run_on(&m) && conform_host_touches(&m);

        if (promised) {
            atomic_int go      = 0;
            struct adder adder = {memspan_calloc(m.allocator, 1, 64), ADDS, &go};
            pthread_t thread;
            uint32_t total;

            CHECK(adder.word != NULL);
            CHECK(pthread_create(&thread, NULL, add_from_host, &adder) == 0);
            atomic_store(&go, 1);
            CHECK_OK(
                conform_launch(MEMSPAN_KERNEL_ADD_ATOMIC, ADDS, 1, NULL, NULL, (void *)adder.word));
            pthread_join(thread, NULL);
            total = atomic_load(adder.word);
            CHECK_BYTES(total == 2 * ADDS, "%s: %u of %u", memspan_kind_name(m.kind), total,
                        2 * ADDS);
            CHECK_OK(memspan_free((void *)adder.word));
            tried++;
        }
        conform_done(&m);
    }
    if (tried == 0) {
        conform_skip("no memory of this device promises atomics between its sides");
    }
}

/* CONCURRENT: the host writes one half while a kernel writes the other; no synchronisation between.
 */
static void halves_at_once(void)
{
    enum { N = 4096 };
    struct conform_memory m;

    need_kernels();
    for (int k = 0; conform_kind(k, &m); k++) {
        double *z     = memspan_calloc(m.allocator, 2 * N, sizeof(double));
        bool promised = (m.host.coherence >= MEMSPAN_COHERENCE_CONCURRENT) &&
                        (m.device.coherence >= MEMSPAN_COHERENCE_CONCURRENT) &&
                        conform_kernels_run_on(&m) && conform_host_touches(&m);
        memspan_kernel_call_t call = {.struct_size = sizeof(call),
                                      .kernel      = MEMSPAN_KERNEL_FILL,
                                      .count       = N,
                                      .a           = 1.0,
                                      .z           = z};

        CHECK(z != NULL);
        if (promised) {
            CHECK_OK(conform_start(&call));
            for (int i = N; i < 2 * N; i++) {
                z[i] = 2.0;
            }
            conform_wait();
            for (int i = 0; i < 2 * N; i++) {
                CHECK_BYTES(z[i] == ((i < N) ? 1.0 : 2.0), "%s: element %d",
                            memspan_kind_name(m.kind), i);
            }
        }
        CHECK_OK(memspan_free(z));
        conform_done(&m);
    }
}

/* SYNC: host, kernel, host, kernel, with a synchronise after each kernel. */
static void turns_are_taken(void)
{
    enum { N = 3000 };
    struct conform_memory m;

    need_kernels();
    for (int k = 0; conform_kind(k, &m); k++) {
        double *x = memspan_calloc(m.allocator, N, sizeof(double));

        CHECK(x != NULL);
        if (conform_kernels_run_on(&m) && conform_host_touches(&m)) {
            for (int round = 0; round < 4; round++) {
                for (int i = 0; i < N; i++) {
                    x[i] += 1.0;
                }
                /* x += 1 * x + x: three times */
                CHECK_OK(conform_launch(MEMSPAN_KERNEL_DAXPY, N, 1.0, x, x, x));
            }
            for (int i = 0; i < N; i++) {
                CHECK_BYTES(x[i] == 120.0, "%s: element %d is %g", memspan_kind_name(m.kind), i,
                            x[i]);
            }
        }
        CHECK_OK(memspan_free(x));
        conform_done(&m);
    }
}

static void kernels_refuse_what_they_cannot_reach(void)
{
    memspan_kernel_call_t call = {
        .struct_size = sizeof(call), .kernel = MEMSPAN_KERNEL_FILL, .count = 4};
    int device            = conform_device()->number;
    memspan_reach_t reach = {0};
    void *host            = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 64);

    need_built_in_kernels();
    CHECK(host != NULL);
    CHECK_STATUS(memspan_kernel_launch(device, NULL), MEMSPAN_ERR_INVALID);
    CHECK_STATUS(memspan_kernel_launch(device, &call), MEMSPAN_ERR_INVALID); /* z is NULL */
    call.kernel = (memspan_kernel_t)99;
    call.z      = host;
    CHECK(memspan_kernel_launch(device, &call) != MEMSPAN_OK);
    call.kernel      = MEMSPAN_KERNEL_FILL;
    call.struct_size = 0;
    CHECK_STATUS(memspan_kernel_launch(device, &call), MEMSPAN_ERR_INVALID);
    call.struct_size = sizeof(call);
    CHECK_OK(memspan_pointer_reach(host, device, &reach));
    if (reach.access < MEMSPAN_ACCESS_FAULT) {
        CHECK_STATUS(memspan_kernel_launch(device, &call), MEMSPAN_ERR_INVALID);
        CHECK(memspan_error_last()->message[0] != '\0');
    } else {
        CHECK_OK(memspan_kernel_launch(device, &call));
        conform_wait();
    }
    CHECK_OK(memspan_free(host));
}

static void kernels_stay_within_blocks(void)
{
    struct conform_memory m;

    need_built_in_kernels();
    for (int k = 0; conform_kind(k, &m); k++) {
        double *z = memspan_alloc(m.allocator, 10 * sizeof(double));

        CHECK(z != NULL);
        if (conform_device_touches(&m)) {
            memspan_kernel_call_t call = {
                .struct_size = sizeof(call), .kernel = MEMSPAN_KERNEL_FILL, .count = 11, .z = z};

            CHECK_STATUS(memspan_kernel_launch(conform_device()->number, &call),
                         MEMSPAN_ERR_INVALID);
            call.count = SIZE_MAX / 4;
            CHECK_STATUS(memspan_kernel_launch(conform_device()->number, &call),
                         MEMSPAN_ERR_INVALID);
        }
        CHECK_OK(memspan_free(z));
        conform_done(&m);
    }
}

/* A device may have some of them: daxpy is the one that asks for most. */
static void no_kernels_is_said(void)
{
    memspan_kernel_call_t call = {.struct_size = sizeof(call), .kernel = MEMSPAN_KERNEL_DAXPY};

    if (conform_can(MEMSPAN_CAN_KERNELS)) {
        conform_skip("the device runs kernels");
    }
    CHECK_STATUS(memspan_kernel_launch(conform_device()->number, &call), MEMSPAN_ERR_UNSUPPORTED);
}

const struct conform_case conform_reach_cases[] = {
    {"fill_kernel_writes", fill_kernel_writes},
    {"daxpy_and_sum", daxpy_and_sum},
    {"one_address_is_the_same_everywhere", one_address_is_the_same_everywhere},
    {"atomics_on_the_device", atomics_on_the_device},
    {"both_sides_at_once", both_sides_at_once},
    {"halves_at_once", halves_at_once},
    {"turns_are_taken", turns_are_taken},
    {"kernels_refuse_what_they_cannot_reach", kernels_refuse_what_they_cannot_reach},
    {"kernels_stay_within_blocks", kernels_stay_within_blocks},
    {"no_kernels_is_said", no_kernels_is_said},
    {NULL, NULL},
};
