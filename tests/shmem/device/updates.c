/* SPDX-License-Identifier: BSD-3-Clause */
/* updates.c [DEVICE]: kernels and hosts change the same words of PE 0, in memory of a device.
 *
 * The host of PE 1 makes a number of updates. Meanwhile a kernel of PE 0, which loads and stores
 * these words, and kernels of PEs from 2 on make theirs without a pause, until PE 1 says that it
 * has finished. So every update of PE 1 has others beside it, and some are lost where one path
 * loads and stores what another changes. Each update returns what the sum, or the exclusive or, of
 * all must have made of the word; or an error, where its PE alone changes the bits that it looks
 * at. */

#include "tests/shmem/check.h"
#include "tests/shmem/device/host_view.h"
#include <omp.h>
#include <shmemx.h>
#include <shmemx_device.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { HOST_UPDATES = 2000, PARTITION = 2, WORDS = 16 };

enum update {
    ADD,
    INC_INT,
    COMPARE_SWAP_INT,
    SWAP,
    SIGNAL_ADD,
    XOR,
    OR_AND, /* from here on, errors */
    SET,
    UPDATES
};

#pragma omp begin declare target
/* A bit of the PE's alone. */
static uint64_t bit_of(uint64_t count, int pe)
{
    return (uint64_t)1 << ((count % 10) + ((uint64_t)(pe % 3) * 10));
}

/* Different ones, at each PE. */
static uint64_t value_of(uint64_t count, int pe)
{
    return (count * 64) + (uint64_t)pe + 1;
}

static uint64_t or_and(const shmemx_device_view_t *v, uint64_t *word, uint64_t count, int pe)
{
    uint64_t bit = bit_of(0, pe);
    int sets     = (count % 2 == 0);

    (void)shmemx_device_atomic(v, sets ? SHMEMX_DEVICE_OR : SHMEMX_DEVICE_AND, word, sizeof *word,
                               sets ? bit : ~bit, 0, 0);
    (void)shmemx_device_quiet(v);
    return ((shmemx_device_uint64_atomic_fetch(v, word, 0) & bit) == (sets ? bit : 0)) ? 0 : 1;
}

/* PE 0 sets the upper half, the others count in the lower one. */
static uint64_t set(const shmemx_device_view_t *v, uint64_t *word, uint64_t count, int pe)
{
    if (pe != 0) {
        shmemx_device_uint64_atomic_add(v, word, 1, 0);
        return 0;
    }
    shmemx_device_uint64_atomic_set(v, word, count << 32, 0);
    (void)shmemx_device_quiet(v);
    return (shmemx_device_uint64_atomic_fetch(v, word, 0) >> 32 == count) ? 0 : 1;
}

static uint64_t compare_swap(const shmemx_device_view_t *v, int *word)
{
    int old;

    do {
        old = shmemx_device_int_atomic_fetch(v, word, 0);
    } while (shmemx_device_int_atomic_compare_swap(v, word, old, old + 1, 0) != old);
    return 1;
}

/* Update [count] of a kernel. */
static uint64_t update(const shmemx_device_view_t *v, int which, uint64_t *word, uint64_t count,
                       int pe)
{
    uint64_t value = value_of(count, pe);

    switch (which) {
    case ADD:
        shmemx_device_uint64_atomic_add(v, word, value, 0);
        return value;
    case INC_INT:
        (void)shmemx_device_int_atomic_fetch_inc(v, (int *)(void *)word, 0);
        return 1;
    case COMPARE_SWAP_INT:
        return compare_swap(v, (int *)(void *)word);
    case SWAP:
        return value - shmemx_device_uint64_atomic_swap(v, word, value, 0);
    case SIGNAL_ADD:
        shmemx_device_put_signal(v, word + 1 + (pe % 7), &value, sizeof value, word, value,
                                 SHMEMX_DEVICE_SIGNAL_IS_ADD, 0);
        return value;
    case XOR:
        shmemx_device_uint64_atomic_xor(v, word, bit_of(count, pe), 0);
        return bit_of(count, pe);
    case OR_AND:
        return or_and(v, word, count, pe);
    default:
        return set(v, word, count, pe);
    }
}
#pragma omp end declare target

/* The same of the host. */
static uint64_t update_by_host(int which, uint64_t *word, uint64_t count, int pe)
{
    uint64_t value = value_of(count, pe);
    uint64_t bit   = bit_of(0, pe);
    int *half      = (int *)(void *)word;
    int old;

    switch (which) {
    case ADD:
        shmem_uint64_atomic_add(word, value, 0);
        return value;
    case INC_INT:
        shmem_int_atomic_inc(half, 0);
        return 1;
    case COMPARE_SWAP_INT:
        do {
            old = shmem_int_atomic_fetch(half, 0);
        } while (shmem_int_atomic_compare_swap(half, old, old + 1, 0) != old);
        return 1;
    case SWAP:
        return value - shmem_uint64_atomic_swap(word, value, 0);
    case SIGNAL_ADD:
        shmem_putmem_signal(word + 1 + (pe % 7), &value, sizeof value, word, value,
                            SHMEM_SIGNAL_ADD, 0);
        return value;
    case XOR:
        shmem_uint64_atomic_xor(word, bit_of(count, pe), 0);
        return bit_of(count, pe);
    case OR_AND:
        if (count % 2 == 0) {
            shmem_uint64_atomic_or(word, bit, 0);
        } else {
            shmem_uint64_atomic_and(word, ~bit, 0);
        }
        return ((shmem_uint64_atomic_fetch(word, 0) & bit) == ((count % 2 == 0) ? bit : 0)) ? 0 : 1;
    default:
        shmem_uint64_atomic_inc(word, 0);
        return 0;
    }
}

static uint64_t combined(int which, uint64_t a, uint64_t b)
{
    return (which == XOR) ? a ^ b : a + b;
}

/* All updates of this PE: what they must have made of the word. */
static uint64_t update_all(const shmemx_device_view_t *v, int which, uint64_t *word, uint64_t *done)
{
    int pe       = shmem_my_pe();
    uint64_t all = 0;

    if (pe == 1) {
        for (uint64_t i = 0; i < HOST_UPDATES; i++) {
            all = combined(which, all, update_by_host(which, word, i, pe));
        }
        for (int i = 0; i < shmem_n_pes(); i++) {
            shmem_uint64_atomic_set(done, 1, i);
        }
        return all;
    }
#pragma omp target is_device_ptr(word, done) firstprivate(v, which, pe) map(tofrom : all)
    {
        for (uint64_t i = 0; shmemx_device_uint64_atomic_fetch(v, done, pe) == 0; i++) {
            uint64_t one = update(v, which, word, i, pe);

            all = (which == XOR) ? all ^ one : all + one;
        }
        (void)shmemx_device_quiet(v);
    }
    return all;
}

/* Pretended drivers close memory of their devices to the host, which executes the kernels here. */
static void open_to_host(const shmemx_device_view_t *v, uint64_t *words)
{
    int owners[] = {shmem_my_pe(), 0};

    for (int i = 0; i < 2; i++) {
        uintptr_t at = (uintptr_t)shmemx_device_ptr(v, words, owners[i]) & ~(uintptr_t)4095;

        CHECK((at == 0) || (mprotect((void *)at, 4096, PROT_READ | PROT_WRITE) == 0), "%p",
              (void *)at);
    }
}

static void check(const shmemx_device_view_t *v, int which, uint64_t *words, uint64_t *expected)
{
    uint64_t value = 0;
    uint64_t all   = update_all(v, which, words, words + WORDS - 1);

    if (which == XOR) {
        shmem_uint64_atomic_xor(&expected[which], all, 0);
    } else {
        shmem_uint64_atomic_add(&expected[which], all, 0);
    }
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        shmem_getmem(&value, words, sizeof value, 0);
        value = (which < OR_AND) ? value : 0;
        CHECK(value == expected[which], "update %d: the word is 0x%llx, all updates make 0x%llx",
              which, (unsigned long long)value, (unsigned long long)expected[which]);
    }
}

/* The device of target regions, where no number is an argument. */
int main(int argc, char **argv)
{
    int number = (argc > 1) ? atoi(argv[1]) : omp_get_default_device();
    uint64_t *expected;
    const shmemx_device_view_t *opened;
    const shmemx_device_view_t *v;

    shmem_init();
    expected = shmem_calloc(UPDATES, sizeof *expected);
    CHECK(shmemx_device_open(number, &opened) == 0, "%s", memspan_error_text());
    v = (argc > 1) ? host_view(opened) : opened;
    for (int which = 0; which < UPDATES; which++) {
        uint64_t *words = shmemx_partition_calloc(WORDS, sizeof *words, PARTITION);

        CHECK(words != NULL, "%s", memspan_error_text());
        CHECK(memspan_pointer_kind(words) == MEMSPAN_KIND_DEVICE, "no memory of a device");
        if (argc > 1) {
            open_to_host(v, words);
            shmem_barrier_all();
        }
        check(v, which, words, expected);
        shmemx_partition_free(words);
    }
    CHECK(shmemx_device_close(opened) == 0, "%s", memspan_error_text());
    shmem_finalize();
    return 0;
}
