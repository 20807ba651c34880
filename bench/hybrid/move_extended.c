/* SPDX-License-Identifier: BSD-3-Clause */
/* move_extended.c: transfers alone: half a round trip, all-to-all, broadcast, reduction.
 * Device memory is symmetric, and on the wire. */
#include "bench/hybrid/job.h"
#include <shmem.h>

static uint64_t arrived;

static void send(char *dest, const char *source, size_t size_bytes)
{
    shmem_putmem_signal(dest, source, size_bytes, &arrived, 1, SHMEM_SIGNAL_ADD, 1 - job_pe);
}

static void receive(void)
{
    shmem_signal_wait_until(&arrived, SHMEM_CMP_NE, 0);
    arrived = 0;
}

void move_ping_pong(char *dest, char *source, size_t size_bytes, size_t count)
{
#pragma omp target data use_device_ptr(dest, source)
    for (size_t i = 0; (i < count) && (job_pe < 2); i++) {
        if (job_pe == 0) {
            send(dest, source, size_bytes);
        }
        receive();
        if (job_pe == 1) {
            send(dest, source, size_bytes);
        }
    }
}

void move_blocks(char *dest, char *source, size_t size_bytes, size_t count)
{
#pragma omp target data use_device_ptr(dest, source)
    for (size_t i = 0; i < count; i++) {
        shmem_alltoallmem(SHMEM_TEAM_WORLD, dest, source, size_bytes);
    }
}

void move_to_all(char *dest, char *source, size_t size_bytes, size_t count)
{
#pragma omp target data use_device_ptr(dest, source)
    for (size_t i = 0; i < count; i++) {
        shmem_broadcastmem(SHMEM_TEAM_WORLD, dest, source, size_bytes,
                           (int)(i % (size_t)job_count));
    }
}

void move_combined(char *dest, char *source, size_t size_bytes, size_t count)
{
#pragma omp target data use_device_ptr(dest, source)
    for (size_t i = 0; i < count; i++) {
        shmem_uint64_xor_reduce(SHMEM_TEAM_WORLD, (uint64_t *)(void *)dest,
                                (uint64_t *)(void *)source, size_bytes / sizeof(uint64_t));
    }
}
