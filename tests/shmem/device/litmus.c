/* SPDX-License-Identifier: BSD-3-Clause */
/* litmus.c: what other PEs may see of a kernel's operations, in pairs of PEs: a message behind a
 * fence, stores and loads of each other's words around quiet, a signal behind its data, a chain of
 * atomic operations. */

#include "tests/shmem/check.h"
#include "tests/shmem/device/host_view.h"
#include <omp.h>
#include <shmemx.h>
#include <shmemx_device.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 200, DATA = 40 };

static const shmemx_device_view_t *view;
static int rounds;
static int buddy; /* the other PE of the pair */
static int leads; /* of the pair */

/* Data, then a flag behind a fence: where the flag is seen, so is the data. */
static void message(long *data, long *flags)
{
    const shmemx_device_view_t *v = view;
    int pe                        = buddy;
    int first                     = leads;
    int count                     = rounds;
    long errors                   = 0;

#pragma omp target is_device_ptr(data, flags) firstprivate(v) map(tofrom : errors)
    for (long i = 1; i <= count; i++) {
        if (first) {
            for (int j = 0; j < DATA; j++) {
                shmemx_device_long_p(v, &data[j], i + j, pe);
            }
            (void)shmemx_device_fence(v);
            shmemx_device_long_p(v, &flags[0], i, pe);
            errors += shmemx_device_long_wait_until(v, &flags[1], SHMEMX_DEVICE_CMP_EQ, i);
        } else {
            errors += shmemx_device_long_wait_until(v, &flags[0], SHMEMX_DEVICE_CMP_EQ, i);
            for (int j = 0; j < DATA; j++) {
                errors += (data[j] == i + j) ? 0 : 1;
            }
            shmemx_device_long_atomic_set(v, &flags[1], i, pe);
        }
    }
    CHECK(errors == 0, "%ld words are not there when the flag is", errors);
}

/* Each stores its word and loads the other's behind quiet: one of them sees the other's store. */
static void store_buffering(long *words, long *seen)
{
    const shmemx_device_view_t *v = view;
    int home                      = leads ? shmem_my_pe() : buddy;
    int mine                      = leads ? 0 : 1;
    int count                     = rounds;
    int failed                    = 0;

#pragma omp target is_device_ptr(words, seen) firstprivate(v) map(tofrom : failed)
    for (int i = 0; i < count; i++) {
        shmemx_device_long_atomic_set(v, &words[(2 * i) + mine], 1, home);
        failed += shmemx_device_quiet(v);
        seen[i] = shmemx_device_long_atomic_fetch(v, &words[(2 * i) + 1 - mine], home);
    }
    CHECK(failed == 0, "%d", failed);
}

static void put_then_signal(long *data, uint64_t *signals)
{
    const shmemx_device_view_t *v = view;
    int pe                        = buddy;
    int first                     = leads;
    int count                     = (rounds < ROUNDS) ? 20 * rounds : rounds; /* few overtake */
    long errors                   = 0;

#pragma omp target is_device_ptr(data, signals) firstprivate(v) map(tofrom : errors)
    for (uint64_t i = 1; i <= (uint64_t)count; i++) {
        if (first) {
            long source[DATA];
            uint32_t arrived = 0;

            for (int j = 0; j < DATA; j++) {
                source[j] = (long)i * (j + 1);
            }
            if (i % 2 == 0) {
                shmemx_device_put_signal(v, data, source, sizeof source, &signals[0], 1,
                                         SHMEMX_DEVICE_SIGNAL_IS_ADD, pe);
            } else {
                shmemx_device_put_signal_group(v, data, source, sizeof source, &signals[0], i,
                                               SHMEMX_DEVICE_SIGNAL_IS_SET, pe, 0, 1, &arrived);
            }
            (void)shmemx_device_signal_wait_until(v, &signals[1], SHMEMX_DEVICE_CMP_GE, i);
        } else {
            uint64_t have =
                shmemx_device_signal_wait_until(v, &signals[0], SHMEMX_DEVICE_CMP_GE, i);

            errors += (have == i) ? 0 : 1;
            for (int j = 0; j < DATA; j++) {
                errors += (data[j] == (long)i * (j + 1)) ? 0 : 1;
            }
            shmemx_device_put_signal(v, data, data, 0, &signals[1], i, SHMEMX_DEVICE_SIGNAL_IS_SET,
                                     pe);
        }
    }
    CHECK(errors == 0, "%ld errors", errors);
}

/* A number passes through all PEs; each adds to a word of PE 0 before it passes it on. */
static void chain(long *words)
{
    const shmemx_device_view_t *v = view;
    long me                       = shmem_my_pe();
    long all                      = shmem_n_pes();
    int count                     = rounds / 4;
    long errors                   = 0;

#pragma omp target is_device_ptr(words) firstprivate(v) map(tofrom : errors)
    for (long i = 0; i < count; i++) {
        long number = (i * all) + me;

        errors += shmemx_device_long_wait_until(v, &words[0], SHMEMX_DEVICE_CMP_EQ, number + 1);
        errors += (shmemx_device_long_atomic_fetch_add(v, &words[1], 1, 0) == number) ? 0 : 1;
        shmemx_device_long_atomic_set(v, &words[0], number + 2, (int)((me + 1) % all));
        (void)shmemx_device_quiet(v);
    }
    CHECK(errors == 0, "%ld links are out of order", errors);
}

/* Kernels reach that memory of other PEs by requests, all other as before. */
static void set_apart(const void *memory)
{
    shmemx_device_segment_t *segment =
        (shmemx_device_segment_t *)(uintptr_t)shmemx_device_part(view, view->segments_at);

    while (((uintptr_t)memory - segment->base) >= segment->size_bytes) {
        segment++;
    }
    segment->reach_others = 0;
    segment->addresses_at = 0;
}

/* An argument: the device, or "by-thread": requests are the work of the view's own thread, as those
 * of a GPU. "apart": the same, for data, while kernels store the signals behind them. */
int main(int argc, char **argv)
{
    static uint64_t static_signals[2];
    bool apart     = (argc > 1) && (strcmp(argv[1], "apart") == 0);
    bool by_thread = apart || ((argc > 1) && (strcmp(argv[1], "by-thread") == 0));
    int number     = ((argc > 1) && !by_thread) ? atoi(argv[1]) : omp_get_default_device();
    const shmemx_device_view_t *opened = NULL;
    long *data;
    long *flags;
    uint64_t *signals;
    long *words;
    long *seen;

    shmem_init();
    rounds  = check_rounds(ROUNDS * 10) / 2;
    buddy   = shmem_my_pe() ^ 1;
    leads   = (shmem_my_pe() % 2 == 0);
    data    = shmem_calloc(DATA, sizeof *data);
    flags   = shmem_calloc(4, sizeof *flags);
    signals = apart ? static_signals : shmem_calloc(2, sizeof *signals);
    words   = shmem_calloc((size_t)rounds * 2, sizeof *words);
    seen    = shmem_calloc((size_t)rounds, sizeof *seen);
    CHECK(shmemx_device_open(number, &opened) == 0, "%s", memspan_error_text());
    view = host_view(opened);
    if (by_thread) {
        ((shmemx_device_view_t *)(uintptr_t)view)->serve = 0;
    }
    if (apart && (buddy < shmem_n_pes())) {
        CHECK(shmemx_device_ptr(view, data, buddy) != NULL, "the data are apart already");
        set_apart(data);
        CHECK((shmemx_device_ptr(view, data, buddy) == NULL) &&
                  (shmemx_device_ptr(view, signals, buddy) != NULL),
              "kernels store no signals");
    }
    if (buddy < shmem_n_pes()) {
        message(data, flags);
    }
    shmem_barrier_all();
    if (buddy < shmem_n_pes()) {
        store_buffering(words, seen);
    }
    shmem_barrier_all();
    for (int i = 0; (i < rounds) && (buddy < shmem_n_pes()); i++) {
        CHECK(seen[i] + shmem_long_g(&seen[i], buddy) > 0, "round %d: no PE saw the other", i);
    }
    if (buddy < shmem_n_pes()) {
        put_then_signal(data, signals);
    }
    flags[2] = (shmem_my_pe() == 0) ? 1 : 0;
    shmem_barrier_all();
    chain(&flags[2]);
    shmem_barrier_all();
    CHECK(shmemx_device_close(opened) == 0, "%s", memspan_error_text());
    shmem_finalize();
    return 0;
}
