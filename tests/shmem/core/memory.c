/* SPDX-License-Identifier: BSD-3-Clause */
/* Symmetric allocation: the same offsets everywhere, contents kept, zeros, alignments, what is
 * asked for in vain. */

#include "tests/shmem/check.h"
#include <stdlib.h>
#include <string.h>

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
    char *zeros = shmem_calloc(1000, 3);
    char *at    = shmem_align(4096, 100);
    int i;

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
    shmem_init();
    first = shmem_malloc(8);
    CHECK(first != NULL, "first");
    shapes();
    in_vain();
    churn();
    shmem_free(first);
    shmem_finalize();
    return 0;
}
