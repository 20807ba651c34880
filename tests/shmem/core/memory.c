/* SPDX-License-Identifier: BSD-3-Clause */
/* Symmetric allocation: the same offsets everywhere, contents kept, zeros, alignments, what is
 * asked for in vain. */

#include "tests/shmem/check.h"
#include <shmemx.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t offsets[64];
static char *first;

/* The same distance from the first block on every PE. */
static void expect_symmetric(const void *block, int slot)
{
    int me        = shmem_my_pe();
    int count     = shmem_n_pes();
    uint64_t mine = (uint64_t)((const char *)block - first);

    offsets[slot] = mine;
    shmem_barrier_all();
    CHECK(shmem_uint64_g(&offsets[slot], (me + 1) % count) == mine, "slot %d", slot);
    shmem_barrier_all();
}

static void shapes(void)
{
    char *dirty = shmem_malloc(3000);
    char *zeros;
    char *at;
    int i;

    CHECK(dirty != NULL, "allocation");
    memset(dirty, 7, 3000);
    shmem_free(dirty);
    zeros = shmem_calloc(1000, 3);
    at    = shmem_align(4096, 100);
    CHECK(zeros != NULL && at != NULL, "allocation");
    for (i = 0; i < 3000; i++) {
        CHECK(zeros[i] == 0, "byte %d", i);
    }
    CHECK((uintptr_t)at % 4096 == 0, "%p", (void *)at);
    expect_symmetric(zeros, 0);
    expect_symmetric(at, 1);
    memset(zeros, 5, 3000);
    zeros = shmem_realloc(zeros, 300000);
    CHECK(zeros != NULL && zeros[0] == 5 && zeros[2999] == 5, "grown");
    expect_symmetric(zeros, 2);
    zeros = shmem_realloc(zeros, 10);
    CHECK(zeros != NULL && zeros[9] == 5, "shrunk");
    shmem_free(zeros);
    shmem_free(at);
}

static void in_vain(void)
{
    char *block = shmem_malloc(100);
    char *kept;

    memset(block, 9, 100);
    CHECK(shmem_malloc(0) == NULL && shmem_calloc(0, 4) == NULL && shmem_calloc(4, 0) == NULL,
          "nothing asked for");
    CHECK(shmem_malloc(SIZE_MAX) == NULL, "all there is");
    CHECK(shmem_malloc((size_t)1 << 46) == NULL, "too much");
    CHECK(shmem_calloc(SIZE_MAX / 2, 4) == NULL, "a product that overflows");
    kept = shmem_realloc(block, (size_t)1 << 46);
    CHECK(kept == NULL && block[99] == 9, "a failed realloc leaves the block");
    shmem_free(NULL);
    CHECK(shmem_realloc(block, 0) == NULL, "realloc to nothing frees");
}

static size_t largest_bytes(void)
{
    shmemx_partition_info_t info = {.struct_size = sizeof info};

    CHECK(shmemx_partition_info(1, &info) == 0, "no partition 1");
    return info.largest_bytes;
}

/* A block that ends where the partition ends grows: it moves, and is freed. */
static void grows_at_the_end(void)
{
    size_t all    = largest_bytes();
    char *low     = shmem_malloc(all / 2);
    size_t rest   = largest_bytes();
    char *high    = shmem_malloc(rest);
    size_t larger = rest + (rest / 4);

    CHECK(low != NULL && high != NULL, "all there is");
    shmem_free(low);
    low = shmem_malloc(all / 8);
    memset(high, 6, rest);
    CHECK(shmem_realloc(high, larger) == NULL, "there is no room for %zu bytes", larger);
    shmem_free(low);
    high = shmem_realloc(high, rest + 64);
    CHECK(high != NULL && high[0] == 6 && high[rest - 1] == 6, "grown");
    shmem_free(high);
    CHECK(largest_bytes() == all, "%zu bytes of %zu are left", largest_bytes(), all);
}

/* Freeing waits for all: the next block is not put to while another PE still has this one. */
static void free_waits(void)
{
    const struct timespec pause = {0, 50000000};
    int last                    = shmem_n_pes() - 1;
    char *block                 = shmem_malloc(1000);
    char *next;

    memset(block, 3, 1000);
    if (shmem_my_pe() == last) {
        nanosleep(&pause, NULL);
        CHECK(block[0] == 3 && block[999] == 3, "it is another block already");
    }
    shmem_free(block);
    next = shmem_malloc(1000);
    memset(next, 4, 1000);
    shmem_putmem(next, next, 1000, last);
    shmem_barrier_all();
    shmem_free(next);
}

/* The same random calls everywhere; blocks do not overlap. */
static void churn(void)
{
    enum { BLOCKS = 64, STEPS = 2000 };
    unsigned char *blocks[BLOCKS] = {0};
    size_t sizes[BLOCKS]          = {0};
    uint64_t state                = 17;
    int i;

    for (i = 0; i < STEPS; i++) {
        int slot = (int)(check_random(&state) % BLOCKS);

        if (blocks[slot] != NULL) {
            CHECK(blocks[slot][0] == (unsigned char)slot &&
                      blocks[slot][sizes[slot] - 1] == (unsigned char)slot,
                  "block %d at step %d", slot, i);
            shmem_free(blocks[slot]);
            blocks[slot] = NULL;
        } else {
            sizes[slot]  = 1 + (size_t)(check_random(&state) % (1u << (check_random(&state) % 16)));
            blocks[slot] = shmem_malloc(sizes[slot]);
            CHECK(blocks[slot] != NULL, "%zu bytes at step %d", sizes[slot], i);
            CHECK((uintptr_t)blocks[slot] % 16 == 0, "%zu bytes at %p", sizes[slot],
                  (void *)blocks[slot]);
            memset(blocks[slot], slot, sizes[slot]);
        }
    }
    for (i = 0; i < BLOCKS; i++) {
        if (blocks[i] != NULL) {
            expect_symmetric(blocks[i], i);
            shmem_free(blocks[i]);
        }
    }
}

int main(void)
{
    CHECK(setenv("SHMEM_SYMMETRIC_SIZE", "16m", 1) == 0, "no variable");
    shmem_init();
    first = shmem_malloc(8);
    CHECK(first != NULL, "first");
    shapes();
    in_vain();
    grows_at_the_end();
    free_waits();
    churn();
    shmem_free(first);
    shmem_finalize();
    return 0;
}
