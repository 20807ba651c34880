/* SPDX-License-Identifier: BSD-3-Clause */
/* The allocator of the symmetric heap, and the resident memory of a PE. */

#include "batch.h"
#include "worker.h"
#include <stdio.h>
#include <string.h>

enum { LIVE = 256, MIX_MAX = 6144 };

static void *live[LIVE];
static uint32_t dice;
static long resident_kib[2];
static long highest_kib[2];

static void malloc_free(const struct worker *worker, const struct worker_job *job,
                        size_t operations)
{
    (void)worker;
    for (size_t i = 0; i < operations; i++) {
        shmem_free(shmem_malloc(job->size_bytes));
    }
}

/* One of many live blocks is freed, another of a random size allocated: the same on every PE. */
static void malloc_mix(const struct worker *worker, const struct worker_job *job, size_t operations)
{
    (void)worker;
    (void)job;
    for (size_t i = 0; i < operations; i++) {
        dice           = dice * 1664525u + 1013904223u;
        uint32_t which = (dice >> 8) % LIVE;
        shmem_free(live[which]);
        live[which] = shmem_malloc(16 + (dice >> 16) % MIX_MAX);
    }
}

/* Every PE gets the same offset: a put to our address arrives at theirs. */
static bool is_symmetric(const struct worker *worker)
{
    bool good   = true;
    long *words = shmem_malloc(64 * sizeof(long));

    if (words == NULL) {
        return worker_agree(worker, false);
    }
    words[63] = 0;
    shmem_barrier_all();
    shmem_long_p(&words[63], 1 + worker->pe, worker->peer);
    shmem_barrier_all();
    good = words[63] == 1 + (worker->pe + worker->pe_count - 1) % worker->pe_count;
    shmem_free(words);
    return worker_agree(worker, good);
}

bool worker_malloc(const struct worker *worker)
{
    const struct worker_job pair = {
        .point = "malloc-64", .run = malloc_free, .size_bytes = 64, .all = true};
    const struct worker_job mix = {.point = "malloc-mix", .run = malloc_mix, .all = true};

    if (!is_symmetric(worker)) {
        return worker_complain(worker, "malloc-64", "a block is not the same for all PEs");
    }
    worker_measure(worker, &pair);
    dice = 1;
    worker_measure(worker, &mix);
    for (int i = 0; i < LIVE; i++) {
        shmem_free(live[i]);
        live[i] = NULL;
    }
    return true;
}

/* "NAME:   1234 kB" of a file in /proc/self. */
static long read_kib(const char *path, const char *name)
{
    FILE *file = fopen(path, "r");
    long kib   = -1;
    char line[256];

    if (file == NULL) {
        return -1;
    }
    while ((kib < 0) && (fgets(line, sizeof(line), file) != NULL)) {
        if (strncmp(line, name, strlen(name)) == 0) {
            (void)sscanf(line + strlen(name), "%ld", &kib);
        }
    }
    (void)fclose(file);
    return kib;
}

/* Resident after start-up and one barrier, of the largest PE. The second figure divides shared
 * pages among their users. */
bool worker_memory(const struct worker *worker)
{
    long mine[2];

    shmem_barrier_all();
    mine[0] = read_kib("/proc/self/status", "VmRSS:");
    mine[1] = read_kib("/proc/self/smaps_rollup", "Pss:");
    for (int i = 0; i < 2; i++) {
        resident_kib[i] = mine[i];
        highest_kib[i]  = 0;
    }
    shmem_barrier_all();
    for (int pe = 0; (worker->pe == 0) && (pe < worker->pe_count); pe++) {
        for (int i = 0; i < 2; i++) {
            long value     = shmem_long_g(&resident_kib[i], pe);
            highest_kib[i] = (value > highest_kib[i]) ? value : highest_kib[i];
        }
    }
    shmem_barrier_all();
    if ((worker->pe == 0) && (highest_kib[0] > 0)) {
        batch_print("rss", (double)highest_kib[0] / 1024, (double)highest_kib[0] / 1024);
    }
    if ((worker->pe == 0) && (highest_kib[1] > 0)) {
        batch_print("pss", (double)highest_kib[1] / 1024, (double)highest_kib[1] / 1024);
    }
    return true;
}
