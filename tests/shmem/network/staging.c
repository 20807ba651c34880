/* SPDX-License-Identifier: BSD-3-Clause */
/* staging.c: large blocks of memory that the network does not register are the driver's puts and
 * gets, in pieces, each time; also from several threads at once, and with such memory at both ends.
 */

#include "tests/shmem/check.h"
#include <memspan/status.h>
#include <pthread.h>
#include <shmemx.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { PARTITION = 5, BYTES = (1 << 20) + 24, ROUNDS = 20, THREADS = 3 };

static char *memory;
static int next;

static shmemx_network_info_t counters(void)
{
    shmemx_network_info_t info = {.struct_size = sizeof info};

    CHECK(shmemx_network_info(&info) == 0, "%s", memspan_error_text());
    return info;
}

static void fill(char *data, int seed)
{
    for (int i = 0; i < BYTES; i++) {
        data[i] = (char)((i * 7) + (i >> 8) + seed);
    }
}

static void move(char *there, int seed)
{
    char *data = malloc(BYTES);
    char *back = malloc(BYTES);

    fill(data, seed);
    shmem_putmem(there, data, BYTES, next);
    shmem_quiet();
    memset(back, 0, BYTES);
    shmem_getmem(back, there, BYTES, next);
    CHECK(memcmp(data, back, BYTES) == 0, "round %d", seed);
    free(back);
    free(data);
}

/* From this PE's device to the next one's and back to another place of this one's. */
static void move_devices(size_t size, int seed)
{
    char *from = memory + BYTES;
    char *to   = memory + ((size_t)2 * BYTES);
    char *data = malloc(BYTES);
    char *back = malloc(BYTES);
    int me     = shmem_my_pe();

    fill(data, seed);
    memset(back, 0, BYTES);
    shmem_putmem(to, back, BYTES, me);
    shmem_putmem(from, data, size, me);
    shmem_quiet();
    shmem_putmem(memory, from, size, next);
    shmem_quiet();
    shmem_getmem(to, memory, size, next);
    shmem_getmem(back, to, BYTES, me);
    CHECK(memcmp(data, back, size) == 0, "%zu bytes", size);
    for (size_t i = size; i < BYTES; i++) {
        CHECK(back[i] == 0, "%zu bytes: byte %zu is written", size, i);
    }
    free(back);
    free(data);
}

static void *run_thread(void *argument)
{
    int thread = (int)(intptr_t)argument;

    for (int i = 0; i < ROUNDS / 4; i++) {
        move(memory + ((size_t)thread * BYTES), (100 * thread) + i);
    }
    return NULL;
}

/* ---- when it is there ---- */

static char block[BYTES]; /* of the host */
static long told;
static uint64_t signal_word;

static void put_and_quiet(const char *from, long round)
{
    shmem_putmem(block, from, BYTES, 1);
    shmem_quiet();
    shmem_long_p(&told, round, 2);
}

static void put_nbi_and_quiet(const char *from, long round)
{
    shmem_putmem_nbi(block, from, BYTES, 1);
    shmem_quiet();
    shmem_long_p(&told, round, 2);
}

static void put_in_order(const char *from, long round)
{
    shmem_putmem(block, from, BYTES, 1);
    shmem_fence();
    shmem_long_p(&told, round, 1);
}

static void put_with_signal(const char *from, long round)
{
    shmem_putmem_signal(block, from, BYTES, &signal_word, (uint64_t)round, SHMEM_SIGNAL_SET, 1);
}

static void put_and_barrier(const char *from, long round)
{
    (void)round;
    shmem_putmem(block, from, BYTES, 1);
}

/* PE 0 puts from its device to PE 1's host memory, and tells the reader: PE 1, or PE 2, which has
 * an order with PE 1 by PE 0 alone. */
static const struct {
    void (*put)(const char *from, long round);
    int reader;
    char tells; /* by a (w)ord, a (s)ignal or a (b)arrier */
} ways[] = {{put_and_quiet, 2, 'w'},
            {put_nbi_and_quiet, 2, 'w'},
            {put_in_order, 1, 'w'},
            {put_with_signal, 1, 's'},
            {put_and_barrier, 2, 'b'}};

static void read_when_told(int way, long round)
{
    char *data = malloc(BYTES);
    char *back = malloc(BYTES);

    if (ways[way].tells == 'w') {
        shmem_long_wait_until(&told, SHMEM_CMP_EQ, round);
    } else if (ways[way].tells == 's') {
        (void)shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, (uint64_t)round);
    }
    shmem_getmem(back, block, BYTES, 1);
    fill(data, (int)round);
    CHECK(memcmp(data, back, BYTES) == 0, "way %d, round %ld", way, round);
    free(back);
    free(data);
}

static void tell_others(void)
{
    int ways_count = (int)(sizeof ways / sizeof ways[0]);

    for (long round = 1; round <= (long)2 * ways_count; round++) {
        int way    = (int)(round % ways_count);
        bool waits = (ways[way].tells == 'b');

        if (shmem_my_pe() == 0) {
            char *data = malloc(BYTES);

            fill(data, (int)round);
            shmem_putmem(memory, data, BYTES, 0);
            shmem_quiet();
            free(data);
            ways[way].put(memory, round);
        }
        if (waits) {
            shmem_barrier_all();
        }
        if (shmem_my_pe() == ways[way].reader) {
            read_when_told(way, round);
        }
        shmem_barrier_all();
    }
}

int main(void)
{
    pthread_t threads[THREADS];
    int provided;

    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    next   = (shmem_my_pe() + 1) % shmem_n_pes();
    memory = shmemx_partition_malloc((size_t)THREADS * BYTES, PARTITION);
    CHECK(memory != NULL, "%s", memspan_error_text());
    for (int i = 0; i < ROUNDS; i++) {
        shmemx_network_info_t before = counters();
        shmemx_network_info_t after;

        move(memory, i);
        after = counters();
        CHECK(after.put_count - before.put_count >= 2, "round %d: %lu puts", i,
              (unsigned long)(after.put_count - before.put_count));
        CHECK(after.get_count - before.get_count >= 2, "round %d: %lu gets", i,
              (unsigned long)(after.get_count - before.get_count));
        CHECK(after.message_bytes - before.message_bytes < BYTES / 2, "round %d: %lu bytes", i,
              (unsigned long)(after.message_bytes - before.message_bytes));
        shmem_barrier_all();
    }
    for (int i = 1; i <= 16; i++) {
        move_devices(((size_t)i << 16) + (size_t)(i % 3), i);
    }
    shmem_barrier_all();
    if (shmem_n_pes() > 2) {
        tell_others();
    }
    for (intptr_t i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, run_thread, (void *)i) == 0, "no thread");
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
