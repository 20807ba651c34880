/* SPDX-License-Identifier: BSD-3-Clause */
/* many_contexts.c: operations of more contexts than a PE remembers to acknowledge arrive at it at
 * once, and the quiet of each context ends. Contexts that are destroyed leave no open files. */

#include "tests/shmem/check.h"
#include <dirent.h>

enum { CONTEXTS = 12, ROUNDS = 400, LATER = 40 };

static long counters[CONTEXTS];
static shmem_ctx_t contexts[CONTEXTS];

static int count_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int files   = 0;

    CHECK(folder != NULL, "no /proc");
    while (readdir(folder) != NULL) {
        files++;
    }
    closedir(folder);
    return files;
}

static void make_and_destroy(int next)
{
    const int before = count_files();

    for (int i = 0; i < LATER; i++) {
        shmem_ctx_t context;

        CHECK(shmem_ctx_create(SHMEM_CTX_PRIVATE, &context) == 0, "context %d", i);
        shmem_ctx_long_atomic_add(context, &counters[0], 1, next);
        shmem_ctx_destroy(context);
    }
    CHECK(count_files() < before + (LATER / 2), "%d files are open, of %d before", count_files(),
          before);
}

int main(void)
{
    int next;
    int round;
    int i;

    shmem_init();
    next = (shmem_my_pe() + 1) % shmem_n_pes();
    for (i = 0; i < CONTEXTS; i++) {
        CHECK(shmem_ctx_create(SHMEM_CTX_PRIVATE, &contexts[i]) == 0, "context %d", i);
    }
    for (round = 1; round <= ROUNDS; round++) {
        for (i = 0; i < CONTEXTS; i++) {
            shmem_ctx_long_atomic_add(contexts[i], &counters[i], 1, next);
        }
        for (i = 0; i < CONTEXTS; i++) {
            shmem_ctx_quiet(contexts[i]);
        }
        for (i = 0; i < CONTEXTS; i++) {
            long there = shmem_long_atomic_fetch(&counters[i], next);

            CHECK(there == round, "context %d, round %d: %ld", i, round, there);
        }
    }
    for (i = 0; i < CONTEXTS; i++) {
        shmem_ctx_destroy(contexts[i]);
    }
    make_and_destroy(next);
    shmem_finalize();
    return 0;
}
