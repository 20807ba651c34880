/* SPDX-License-Identifier: BSD-3-Clause */
/* operations.c: every operation of kernels, from the threads of target regions, on this PE and the
 * next one; results as the host sees them. Over a network the same operations are requests. */

#include "tests/shmem/check.h"
#include "tests/shmem/device/host_view.h"
#include <memspan/device.h>
#include <omp.h>
#include <shmemx.h>
#include <shmemx_device.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 20, LOCKS = 2, BYTES = 50000, WORDS = 64 };

static const shmemx_device_view_t *view;
static int pe_count;
static int next_pe;
static int previous_pe;

static void put_and_get(void)
{
    const shmemx_device_view_t *v = view;
    long *words                   = shmem_calloc(WORDS, sizeof *words);
    char *bytes                   = shmem_calloc(1, BYTES);
    char *source                  = malloc(BYTES);
    char *back                    = calloc(1, BYTES);
    int pe                        = next_pe;
    long mine                     = shmem_my_pe();
    int failed                    = 0;

    for (size_t i = 0; i < BYTES; i++) {
        source[i] = (char)check_byte((uint64_t)mine, i);
    }
#pragma omp target parallel for num_threads(THREADS) is_device_ptr(words) firstprivate(v)
    for (int i = 0; i < WORDS; i++) {
        shmemx_device_long_p(v, &words[i], mine * 1000 + i, pe);
    }
#pragma omp target is_device_ptr(bytes, source, back) firstprivate(v) map(tofrom : failed)
    {
        shmemx_device_putmem(v, bytes, source, BYTES, pe);
        failed += shmemx_device_quiet(v);
        shmemx_device_getmem(v, back, bytes, BYTES, pe);
        failed += shmemx_device_barrier_all(v);
        failed += (shmemx_device_my_pe(v) != mine) ? 100 : 0;
    }
    CHECK(failed == 0, "%d", failed);
    CHECK(memcmp(back, source, BYTES) == 0, "a get has other bytes than the put");
    for (size_t i = 0; i < BYTES; i++) {
        CHECK(bytes[i] == (char)check_byte((uint64_t)previous_pe, i), "byte %zu", i);
    }
    for (int i = 0; i < WORDS; i++) {
        CHECK(words[i] == previous_pe * 1000L + i, "word %d is %ld", i, words[i]);
    }
    failed = 0;
#pragma omp target parallel for num_threads(THREADS) is_device_ptr(words) firstprivate(v)          \
    reduction(+ : failed) map(tofrom : failed)
    for (int i = 0; i < WORDS; i++) {
        failed += (shmemx_device_long_g(v, &words[i], pe) == mine * 1000 + i) ? 0 : 1;
    }
    CHECK(failed == 0, "%d gets", failed);
    shmem_barrier_all();
    free(source);
    free(back);
    shmem_free(bytes);
    shmem_free(words);
}

/* All threads of a region copy together, each thread several rounds: the last thread signals. */
static void groups(void)
{
    const shmemx_device_view_t *v = view;
    char *bytes                   = shmem_calloc(1, BYTES);
    uint64_t *signals             = shmem_calloc(2, sizeof *signals);
    char *source                  = malloc(BYTES);
    int pe                        = next_pe;
    int back_pe                   = previous_pe;
    long mine                     = shmem_my_pe();
    size_t errors                 = 0;
    uint32_t arrived              = 0;

    for (size_t i = 0; i < BYTES; i++) {
        source[i] = (char)check_byte((uint64_t)mine, i);
    }
#pragma omp target parallel num_threads(4) is_device_ptr(bytes, source, signals) firstprivate(v)   \
    map(tofrom : errors, arrived) reduction(+ : errors)
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        uint32_t rank = (uint32_t)omp_get_thread_num();
        uint32_t size = (uint32_t)omp_get_num_threads();

        shmemx_device_put_signal_group(v, bytes, source, BYTES, &signals[0], 1,
                                       SHMEMX_DEVICE_SIGNAL_IS_ADD, pe, rank, size, &arrived);
        if (rank == 0) {
            (void)shmemx_device_signal_wait_until(v, &signals[0], SHMEMX_DEVICE_CMP_GE, round);
            for (size_t i = 0; i < BYTES; i++) {
                errors += (bytes[i] == (char)((back_pe * 131) + (i * 7) + (i >> 8))) ? 0 : 1;
                bytes[i] = 0;
            }
            shmemx_device_put_signal(v, &signals[1], &round, 0, &signals[1], round,
                                     SHMEMX_DEVICE_SIGNAL_IS_SET, back_pe);
            (void)shmemx_device_signal_wait_until(v, &signals[1], SHMEMX_DEVICE_CMP_GE, round);
        }
#pragma omp barrier
    }
    CHECK(errors == 0, "%zu bytes are not there when the signal is", errors);
    shmem_barrier_all();
    CHECK(signals[0] == ROUNDS, "%d signals", (int)signals[0]);
    free(source);
    shmem_free(signals);
    shmem_free(bytes);
}

/* Every thread of every PE adds to a counter of PE 0, takes a lock there, and swaps. */
static void atomics(void)
{
    const shmemx_device_view_t *v = view;
    long *counter                 = shmem_calloc(8, sizeof *counter);
    int *half                     = shmem_calloc(2, sizeof *half);
    long all                      = (long)THREADS * ROUNDS * pe_count;
    long mine                     = shmem_my_pe();
    long sum                      = 0;

#pragma omp target parallel num_threads(THREADS) is_device_ptr(counter, half) firstprivate(v)      \
    map(tofrom : sum) reduction(+ : sum)
    for (int i = 0; i < ROUNDS; i++) {
        long old;

        sum += shmemx_device_long_atomic_fetch_inc(v, &counter[0], 0);
        shmemx_device_long_atomic_add(v, &counter[1], 3, 0);
        shmemx_device_int_atomic_inc(v, &half[0], 0);
        if (i >= LOCKS) {
            (void)shmemx_device_quiet(v);
            continue;
        }
        while (shmemx_device_long_atomic_compare_swap(v, &counter[2], 0, mine + 1, 0) != 0) {
            if (shmemx_device_failed(v)) {
                break;
            }
        }
        old = shmemx_device_long_g(v, &counter[3], 0); /* under the lock */
        shmemx_device_long_p(v, &counter[3], old + 1, 0);
        (void)shmemx_device_quiet(v);
        shmemx_device_long_atomic_set(v, &counter[2], 0, 0);
        (void)shmemx_device_quiet(v);
    }
    shmem_long_atomic_add(&counter[4], sum, 0);
    shmem_barrier_all();
    if (mine == 0) {
        CHECK(counter[0] == all, "%ld increments of %ld", counter[0], all);
        CHECK(counter[4] == all * (all - 1) / 2, "fetched values are not 0 to %ld, once each", all);
        CHECK(counter[1] == 3 * all, "%ld", counter[1]);
        CHECK(half[0] == all, "%d increments of %ld", half[0], all);
        all = (long)THREADS * LOCKS * pe_count;
        CHECK(counter[3] == all, "%ld under a lock, of %ld", counter[3], all);
    }
    shmem_barrier_all();
    counter[5 + 0] = 7;
    shmem_barrier_all();
#pragma omp target is_device_ptr(counter) firstprivate(v) map(from : sum)
    {
        int peer = (int)((mine + 1) % shmemx_device_n_pes(v));

        sum = shmemx_device_long_atomic_swap(v, &counter[5], mine, peer) * 10;
        (void)shmemx_device_barrier_all(v);
        sum += shmemx_device_long_atomic_fetch(v, &counter[5], peer) - mine;
        shmemx_device_long_atomic_xor(v, &counter[6], 5, peer);
        (void)shmemx_device_barrier_all(v);
    }
    CHECK((sum == 70) && (counter[6] == 5), "%ld, %ld", sum, counter[6]);
    shmem_free(half);
    shmem_free(counter);
}

/* A host thread that sleeps is notified by a kernel, a kernel sees the host's put. */
static void host_and_kernel(void)
{
    const shmemx_device_view_t *v = view;
    uint64_t *flags               = shmem_calloc(2, sizeof *flags);
    int pe                        = next_pe;
    int failed                    = 0;

    if (shmem_my_pe() % 2 == 0) {
#pragma omp target is_device_ptr(flags) firstprivate(v) map(tofrom : failed)
        {
            shmemx_device_uint64_atomic_set(v, &flags[0], 5, pe);
            failed = shmemx_device_uint64_wait_until(v, &flags[1], SHMEMX_DEVICE_CMP_EQ, 6);
        }
    } else {
        shmem_uint64_wait_until(&flags[0], SHMEM_CMP_EQ, 5);
        shmem_uint64_p(&flags[1], 6, previous_pe);
        shmem_quiet();
    }
    CHECK(failed == 0, "%d", failed);
    shmem_barrier_all();
    shmem_free(flags);
}

/* A space that is made after the view was. */
static void later_space(void)
{
    const shmemx_device_view_t *v = view;
    shmemx_space_config_t config  = {.struct_size = sizeof config, .size = 1 << 20};
    shmemx_space_t space;
    int pe = next_pe;
    long *word;

    CHECK(shmemx_space_create(SHMEM_TEAM_WORLD, &config, &space) == 0, "no space");
    word = shmemx_space_calloc(space, 1, sizeof *word);
#pragma omp target is_device_ptr(word) firstprivate(v)
    {
        shmemx_device_long_p(v, word, pe + 1, pe);
        (void)shmemx_device_barrier_all(v);
    }
    CHECK(*word == shmem_my_pe() + 1, "%ld", *word);
    shmem_barrier_all();
    CHECK(shmemx_space_destroy(space) == 0, "the space stays");
}

static bool is_in_region;
static int handled;

static void handle(const void *payload, size_t size_bytes, int pe, void *data)
{
    (void)payload;
    (void)size_bytes;
    (void)pe;
    (void)data;
    CHECK(!is_in_region, "a handler runs in the thread of a kernel");
    handled++;
}

/* Handlers run when the host calls the library again; kernels do not wait for them. */
static void no_handlers(void)
{
    const shmemx_device_view_t *v = view;
    long *word                    = shmem_calloc(1, sizeof *word);
    int pe                        = next_pe;
    int failed                    = 0;
    int id;

    CHECK(shmemx_handler_add(handle, NULL, &id) == 0, "%s", memspan_error_text());
    shmem_barrier_all();
    shmemx_call(SHMEM_CTX_DEFAULT, id, NULL, 0, next_pe);
    shmem_fence();
    is_in_region = true;
#pragma omp target is_device_ptr(word) firstprivate(v) map(tofrom : failed)
    for (int i = 0; i < 20; i++) {
        shmemx_device_long_atomic_add(v, word, 1, pe);
        failed += shmemx_device_barrier_all(v);
        failed += (shmemx_device_long_g(v, word, pe) == i + 1) ? 0 : 100;
        failed += shmemx_device_barrier_all(v);
    }
    is_in_region = false;
    CHECK(failed == 0, "%d", failed);
    shmem_barrier_all();
    CHECK(handled == 1, "%d", handled);
    shmem_free(word);
}

static void plan(void)
{
    shmemx_device_info_t info = {.struct_size = sizeof info};

    CHECK(shmemx_device_plan(0, &info) == 0, "%s", memspan_error_text());
    CHECK((info.device == MEMSPAN_HOST) && (info.is_available == 1), "%d", info.device);
    CHECK((strcmp(info.own, "load/store") == 0) && (strcmp(info.others, "request") == 0), "%s",
          info.own);
    CHECK(shmemx_device_plan(99, &info) == MEMSPAN_ERR_NOT_FOUND, "device 98 is there");
    CHECK(shmemx_device_plan(0, NULL) == MEMSPAN_ERR_INVALID, "NULL");
    info.struct_size = 0;
    CHECK(shmemx_device_plan(0, &info) == MEMSPAN_ERR_INVALID, "no struct_size");
}

/* The device of target regions; -1: the host, which is 0 where the runtime has no devices. */
static int default_device(void)
{
    int number = omp_get_default_device();

    return (number == omp_get_initial_device()) ? -1 : number;
}

/* An argument: the device, or "by-thread": requests are the work of the view's own thread, as those
 * of a GPU. */
/* operations [by-thread | imported | DEVICE [refused]]. refused: the driver imports a part of the
 * memory, so that kernels ask the host for words of the rest, their own PE's too. */
int main(int argc, char **argv)
{
    bool by_thread = (argc > 1) && (strcmp(argv[1], "by-thread") == 0);
    bool imported  = (argc > 1) && (strcmp(argv[1], "imported") == 0);
    bool refused   = (argc > 2) && (strcmp(argv[2], "refused") == 0);
    int number     = ((argc > 1) && !by_thread && !imported) ? atoi(argv[1]) : default_device();
    const shmemx_device_view_t *opened = NULL;
    const shmemx_device_view_t *other  = NULL;

    shmem_init();
    pe_count    = shmem_n_pes();
    next_pe     = (shmem_my_pe() + 1) % pe_count;
    previous_pe = (shmem_my_pe() + pe_count - 1) % pe_count;
    CHECK(shmemx_device_open(number, &opened) == 0, "%s", memspan_error_text());
    CHECK(shmemx_device_open(-1, &other) == 0, "%s", memspan_error_text());
    CHECK(shmemx_device_open(99, &other) != 0, "device 99 was opened");
    view = host_view(opened);
    /* Kernels of a GPU, and of devices that import pages, do not execute their requests. */
    CHECK((view->serve != 0) == ((argc < 2) || by_thread), "%d", number);
    CHECK((view->asks_for_own != 0) == refused, "%d", number);
    if (by_thread) {
        ((shmemx_device_view_t *)(uintptr_t)view)->serve = 0;
    }
    view = imported ? opened : view;
    plan();
    put_and_get();
    groups();
    atomics();
    if (pe_count % 2 == 0) {
        host_and_kernel();
    }
    no_handlers();
    later_space();
    CHECK(shmemx_device_close(opened) == 0, "%s", memspan_error_text());
    CHECK(shmemx_device_close(opened) != 0, "a view was closed twice");
    shmem_finalize(); /* closes the other one */
    return 0;
}
