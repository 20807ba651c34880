/* SPDX-License-Identifier: BSD-3-Clause */
/* threads.c: a queue of four cells, threads that make requests, and one that executes them: nothing
 * is lost, replies are their own. Built for the host, so that the thread sanitizer sees the
 * protocol. */

#include <pthread.h>
#include <shmem/device_view.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 3, REQUESTS = 4000, CELLS = 4 };

static shmemx_device_view_t view;
static struct {
    _Alignas(64) shmemx_device_queue_t queue;
    shmemx_device_progress_t progress; /* cells follow it */
    shmemx_device_cell_t cells[CELLS];
} queue;
static shmemx_device_state_t state;

/* The number of wrong replies. */
static void *produce(void *number)
{
    uint64_t first   = (uint64_t)(uintptr_t)number * REQUESTS;
    uintptr_t errors = 0;

    for (uint64_t i = 0; i < REQUESTS; i++) {
        uint32_t replies = (i % 3 == 0) ? SHMEMX_DEVICE_REPLIES : 0;
        uint64_t reply   = shmemx_device_ask(&view, &queue.queue, SHMEMX_DEVICE_ADD | replies, 0, 8,
                                             first + i, first + i, 0);

        errors += ((replies != 0) && (reply != 2 * (first + i))) ? 1 : 0;
    }
    return (void *)errors;
}

int main(void)
{
    static uint64_t next[THREADS];
    pthread_t threads[THREADS];
    uint64_t ticket;
    int failed = 0;

    view.state             = (uint64_t)(uintptr_t)&state;
    queue.queue.progress   = (uint64_t)(uintptr_t)&queue.progress;
    queue.queue.cell_count = CELLS;
    for (ticket = 0; ticket < shmemx_device_lap(&queue.queue); ticket += SHMEMX_DEVICE_STEP) {
        shmemx_device_cell_of(&queue.queue, ticket)->turn = ticket;
    }
    for (uintptr_t i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, produce, (void *)i) != 0) {
            return 1;
        }
    }
    for (ticket = 0; ticket < (uint64_t)THREADS * REQUESTS * SHMEMX_DEVICE_STEP;
         ticket += SHMEMX_DEVICE_STEP) {
        shmemx_device_cell_t *cell = shmemx_device_cell_of(&queue.queue, ticket);
        unsigned polls             = 0;
        uint64_t producer;

        while (!shmemx_device_is_requested(cell, ticket)) {
            (void)shmemx_device_poll(&view, &polls);
        }
        producer = cell->condition / REQUESTS;
        failed += (cell->condition % REQUESTS == next[producer]++) ? 0 : 1;
        cell->value += cell->condition;
        shmemx_device_answer(&queue.queue, cell, ticket);
    }
    for (int i = 0; i < THREADS; i++) {
        void *errors;

        pthread_join(threads[i], &errors);
        failed += (int)(uintptr_t)errors;
    }
    if (failed != 0) {
        fprintf(stderr, "%d requests out of order, or with the reply of another\n", failed);
    }
    return (failed == 0) ? 0 : 1;
}
