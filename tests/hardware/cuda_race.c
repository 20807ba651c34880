/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_race.c [ROUNDS [KIB]]: each PE copies to its partition by the driver's own synchronous copy,
 * device to device, and at once puts from there to the next PE, which reads that memory as well. A
 * copy that is under way when its call returns sends what was there before. The device is 0, the
 * partition 5. 77 without a driver. */

#include "tests/hardware/cuda.h"
#include "tests/shmem/check.h"
#include <memspan/memspan.h>
#include <shmemx.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTITION = 5 };

static char *take_plain(size_t size)
{
    static const int device[]     = {0};
    memspan_space_h space         = MEMSPAN_SPACE_NULL;
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;

    CHECK(memspan_space_get(device, 1, MEMSPAN_SPACE_NULL, &space) == MEMSPAN_OK, "%s",
          memspan_error_text());
    CHECK(memspan_allocator_create(space, NULL, 0, &allocator) == MEMSPAN_OK, "%s",
          memspan_error_text());
    return memspan_alloc(allocator, size);
}

/* Each byte is the first one's, which is right. */
static bool is_all(const char *got, char wanted, size_t size)
{
    return (got[0] == wanted) && (memcmp(got, got + 1, size - 1) == 0);
}

int main(int argc, char **argv)
{
    int rounds       = (argc > 1) ? atoi(argv[1]) : 40;
    size_t size      = ((argc > 2) ? (size_t)atoi(argv[2]) : 65536u) * 1024;
    size_t wrong_put = 0;
    size_t wrong_get = 0;
    void *context    = NULL;
    char *host       = malloc(2 * size);
    int me;
    int next;
    int before;
    int i;

    shmem_init();
    me     = shmem_my_pe();
    next   = (me + 1) % shmem_n_pes();
    before = (me + shmem_n_pes() - 1) % shmem_n_pes();
    if (!find_driver()) {
        shmem_finalize();
        return 77;
    }
    char *mine   = shmemx_partition_calloc(size, 1, PARTITION);
    char *theirs = shmemx_partition_calloc(size, 1, PARTITION);
    char *plain  = take_plain(size);
    CHECK((mine != NULL) && (theirs != NULL) && (plain != NULL) && (host != NULL), "%s",
          memspan_error_text());
    CHECK((cu.retain(&context, 0) == 0) && (cu.push(context) == 0), "no context");
    for (i = 0; i < rounds; i++) {
        char value = (char)(1 + (i + me) % 100);
        CHECK(memspan_fill(plain, (unsigned char)value, size) == MEMSPAN_OK, "%s",
              memspan_error_text());
        CHECK(memspan_device_synchronize(0) == MEMSPAN_OK, "%s", memspan_error_text());
        CHECK(cu.copy_within((unsigned long long)(uintptr_t)mine,
                             (unsigned long long)(uintptr_t)plain, size) == 0,
              "the driver does not copy");
        shmem_putmem(theirs, mine, size, next);
        shmem_barrier_all();
        shmem_getmem(host, theirs, size, me);
        shmem_getmem(host + size, mine, size, before);
        value = (char)(1 + (i + before) % 100);
        wrong_put += !is_all(host, value, size);
        wrong_get += !is_all(host + size, value, size);
        shmem_barrier_all();
    }
    printf("PE %d: %d copies of %zu KiB: %zu puts and %zu gets of old data\n", me, rounds,
           size / 1024, wrong_put, wrong_get);
    CHECK(wrong_put + wrong_get == 0, "a copy was under way when it had returned");
    (void)memspan_free(plain);
    free(host);
    shmem_finalize();
    return 0;
}
