/* SPDX-License-Identifier: BSD-3-Clause */
/* staging.c: large blocks of memory that the network does not register are the driver's puts and
 * gets, in pieces, each time; also from several threads at once, and with such memory at both ends.
 */

#include "tests/shmem/check.h"
#include <memspan/status.h>
#include <pthread.h>
#include <shmemx.h>
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
