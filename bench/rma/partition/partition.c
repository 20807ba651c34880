/* SPDX-License-Identifier: BSD-3-Clause */
/* partition COUNT [quick]: 10,000 puts of 8 bytes, each with its quiet, to places drawn at random
 * beforehand: first the partition, out of COUNT, then the word in it. COUNT times as many
 * partitions have that much less memory each, so that the footprint in caches is the same.
 * Partitions 1 to COUNT must be there. */

#include "batch.h"
#include <shmem.h>
#include <shmemx.h>
#include <stdlib.h>
#include <string.h>

enum { PUTS = 10000, PARTITIONS_MAX = 64, WORDS = 65536, ROUNDS = 40, ROUNDS_QUICK = 2 };

static long *blocks[PARTITIONS_MAX];
static long *targets[PUTS];

static bool allocate(int count)
{
    for (int i = 0; i < count; i++) {
        blocks[i] = shmemx_partition_malloc(WORDS / (size_t)count * sizeof(long), i + 1);
        if (blocks[i] == NULL) {
            fprintf(stderr, "no memory in partition %d\n", i + 1);
            return false;
        }
        if (shmemx_partition_of(blocks[i]) != i + 1) {
            fprintf(stderr, "a block of partition %d is in partition %d\n", i + 1,
                    shmemx_partition_of(blocks[i]));
            return false;
        }
        memset(blocks[i], 0, WORDS / (size_t)count * sizeof(long));
    }
    return true;
}

static void draw(int count)
{
    uint64_t dice = 1;

    for (int i = 0; i < PUTS; i++) {
        uint32_t partition;
        uint32_t word;

        dice       = dice * 6364136223846793005u + 1442695040888963407u;
        partition  = (uint32_t)(dice >> 33) % (uint32_t)count;
        dice       = dice * 6364136223846793005u + 1442695040888963407u;
        word       = (uint32_t)(dice >> 33) % (WORDS / (uint32_t)count);
        targets[i] = blocks[partition] + word;
    }
}

static double put_all(long value, int peer)
{
    double began_ns = batch_now_ns();

    for (int i = 0; i < PUTS; i++) {
        shmem_putmem(targets[i], &value, sizeof(value), peer);
        shmem_quiet();
    }
    return (batch_now_ns() - began_ns) / PUTS;
}

/* The last round wrote its number to every target of the other PE. */
static bool all_arrived(long value)
{
    for (int i = 0; i < PUTS; i++) {
        if (*targets[i] != value) {
            fprintf(stderr, "a put did not arrive where it was sent\n");
            return false;
        }
    }
    return true;
}

static void measure(int pe, int count, int rounds)
{
    double best_ns = 1e30;
    double sum_ns[ROUNDS];
    struct batches batches = {.count = 0};
    char point[32];

    for (int round = 0; (pe == 0) && (round < rounds); round++) {
        sum_ns[round] = put_all(round + 1, 1);
        best_ns       = (sum_ns[round] < best_ns) ? sum_ns[round] : best_ns;
    }
    shmem_barrier_all();
    if (pe == 0) {
        /* the median of those evenly spread over the run */
        for (int i = 0; i < rounds; i += 1 + rounds / BATCHES_MAX) {
            batches_add(&batches, sum_ns[i]);
        }
        (void)snprintf(point, sizeof(point), "partition-%d", count);
        batch_print(point, best_ns, batches_median(&batches));
    }
}

int main(int argument_count, char **arguments)
{
    int count = (argument_count > 1) ? atoi(arguments[1]) : 0;
    int rounds =
        ((argument_count > 2) && (strcmp(arguments[2], "quick") == 0)) ? ROUNDS_QUICK : ROUNDS;
    cpu_set_t allowed;
    bool good;

    shmem_init();
    good = (count >= 1) && (count <= PARTITIONS_MAX) && (shmem_n_pes() == 2) && allocate(count);
    if (good) {
        (void)sched_getaffinity(0, sizeof(allowed), &allowed);
        batch_bind(&allowed, shmem_my_pe());
        draw(count);
        shmem_barrier_all();
        measure(shmem_my_pe(), count, rounds);
        good = (shmem_my_pe() == 0) || all_arrived(rounds);
    }
    shmem_finalize();
    return good ? 0 : 1;
}
