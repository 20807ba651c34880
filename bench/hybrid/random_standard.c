/* SPDX-License-Identifier: BSD-3-Clause */
/* random_standard.c: a word of another device is got by a request, which a thread of its PE serves:
 * it copies the word to the host, sends it, waits for the new value, and copies that to the device.
 * No update is lost: the own words take the same path. */

#include "bench/hybrid/job.h"
#include <pthread.h>
#include <shmem.h>

enum { PES_MAX = 64 };

static const uint64_t stop = UINT64_MAX;

/* By the PE that asks; all are 0 between requests. */
static uint64_t request[PES_MAX]; /* 1 + the word's index */
static uint64_t updated[PES_MAX]; /* the new value is there */
static uint64_t value[PES_MAX];   /* the new value */

static uint64_t replied; /* the old value is there */
static uint64_t reply;   /* the old value */

static void serve_one(uint64_t *word, int pe)
{
    request[pe] = 0;
#pragma omp target update from(word [0:1])
    shmem_uint64_put_signal(&reply, word, 1, &replied, 1, SHMEM_SIGNAL_SET, pe);
    shmem_signal_wait_until(&updated[pe], SHMEM_CMP_NE, 0);
    updated[pe] = 0;
    *word       = value[pe];
#pragma omp target update to(word [0:1])
}

static void *serve(void *table)
{
    size_t count = (size_t)job_count;

    job_bind(true);
    while (true) {
        size_t pe = shmem_uint64_wait_until_any(request, count, NULL, SHMEM_CMP_NE, 0);

        if (request[pe] == stop) {
            request[pe] = 0;
            return NULL;
        }
        serve_one((uint64_t *)table + request[pe] - 1, (int)pe);
    }
}

static void update_one(uint64_t number)
{
    int pe = random_pe(number);

    shmem_uint64_atomic_set(&request[job_pe], random_word(number) + 1, pe);
    shmem_signal_wait_until(&replied, SHMEM_CMP_NE, 0);
    replied = 0;
    number ^= reply;
    shmem_uint64_put_signal(&value[job_pe], &number, 1, &updated[job_pe], 1, SHMEM_SIGNAL_SET, pe);
}

void random_update(uint64_t *table, uint64_t number, size_t count, bool atomic)
{
    pthread_t server;

    (void)atomic;
    if (pthread_create(&server, NULL, serve, table) != 0) {
        shmem_global_exit(1);
    }
    for (size_t i = 0; i < count; i++, number = random_next(number)) {
        update_one(number);
    }
    job_barrier();
    shmem_uint64_atomic_set(&request[job_pe], stop, job_pe);
    (void)pthread_join(server, NULL);
}
