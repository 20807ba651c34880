/* SPDX-License-Identifier: BSD-3-Clause */
/* move_standard.c: transfers alone: half a round trip, all-to-all, broadcast, reduction.
 * OpenSHMEM reaches host memory alone, copies on both sides. */
#include "bench/hybrid/job.h"
#include <shmem.h>

static uint64_t arrived;

static void send(char *dest, char *source, size_t size_bytes)
{
#pragma omp target update from(source [0:size_bytes])
    shmem_putmem_signal(dest, source, size_bytes, &arrived, 1, SHMEM_SIGNAL_ADD, 1 - job_pe);
}

static void receive(char *dest, size_t size_bytes)
{
    shmem_signal_wait_until(&arrived, SHMEM_CMP_NE, 0);
    arrived = 0;
#pragma omp target update to(dest [0:size_bytes])
}

void move_ping_pong(char *dest, char *source, size_t size_bytes, size_t count)
{
    for (size_t i = 0; (i < count) && (job_pe < 2); i++) {
        if (job_pe == 0) {
            send(dest, source, size_bytes);
        }
        receive(dest, size_bytes);
        if (job_pe == 1) {
            send(dest, source, size_bytes);
        }
    }
}

void move_blocks(char *dest, char *source, size_t size_bytes, size_t count)
{
    size_t all_bytes = size_bytes * (size_t)job_count;

    for (size_t i = 0; i < count; i++) {
#pragma omp target update from(source [0:all_bytes])
        shmem_alltoallmem(SHMEM_TEAM_WORLD, dest, source, size_bytes);
#pragma omp target update to(dest [0:all_bytes])
    }
}

void move_to_all(char *dest, char *source, size_t size_bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int root = (int)(i % (size_t)job_count);

        if (job_pe == root) {
#pragma omp target update from(source [0:size_bytes])
        }
        shmem_broadcastmem(SHMEM_TEAM_WORLD, dest, source, size_bytes, root);
#pragma omp target update to(dest [0:size_bytes])
    }
}

void move_combined(char *dest, char *source, size_t size_bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
#pragma omp target update from(source [0:size_bytes])
        shmem_uint64_xor_reduce(SHMEM_TEAM_WORLD, (uint64_t *)(void *)dest,
                                (uint64_t *)(void *)source, size_bytes / sizeof(uint64_t));
#pragma omp target update to(dest [0:size_bytes])
    }
}
