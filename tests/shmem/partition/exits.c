/* SPDX-License-Identifier: BSD-3-Clause */
/* exits.c [buffer]: PE 0 leaves main() without shmem_finalize() and waits in exit() for the others,
 * which still use its memory of a driver that came up after shmem_init(): the calls of that driver
 * end in exit(), too, but later. The memory is a space's, or a buffer of the program's. */

#include "tests/shmem/check.h"
#include <memspan/memspan.h>
#include <shmemx.h>
#include <string.h>
#include <time.h>

enum { N = 1000, ROUNDS = 20 };

/* Of a space, or of a buffer that the program brings. */
static long *make_memory(int is_buffer)
{
    shmemx_space_config_t config = {.struct_size = sizeof config,
                                    .size        = 1 << 20,
                                    .kind        = SHMEMX_KIND_DEVICE,
                                    .policy      = SHMEMX_POLICY_MANDATORY,
                                    .name        = "late"};
    const int device             = 0;
    memspan_allocator_h allocator;
    memspan_space_h of_device;
    shmemx_space_t space;
    long *memory;

    if (!is_buffer) {
        CHECK(shmemx_space_create(SHMEM_TEAM_WORLD, &config, &space) == 0, "%s",
              memspan_error_text());
        return shmemx_space_malloc(space, N * sizeof(long));
    }
    CHECK(memspan_space_get(&device, 1, MEMSPAN_SPACE_NULL, &of_device) == MEMSPAN_OK, "%s",
          memspan_error_text());
    CHECK(memspan_allocator_create(of_device, NULL, 0, &allocator) == MEMSPAN_OK, "%s",
          memspan_error_text());
    memory = memspan_alloc(allocator, 1 << 16);
    CHECK(memory != NULL, "%s", memspan_error_text());
    return shmemx_buffer_register_symmetric(memory, 1 << 16, 0);
}

int main(int argc, char **argv)
{
    static const struct timespec meanwhile = {0, 20000000};
    const int is_buffer                    = (argc > 1) && (strcmp(argv[1], "buffer") == 0);
    static long sent[N];
    static long got[N];
    long *memory;

    shmem_init();
    memory = make_memory(is_buffer);
    CHECK(memory != NULL, "%s", memspan_error_text());
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        return 0;
    }
    for (long round = 1; round <= ROUNDS; round++) {
        nanosleep(&meanwhile, NULL);
        for (int i = 0; i < N; i++) {
            sent[i] = round + i;
        }
        shmem_long_put(memory, sent, N, 0);
        shmem_quiet();
        shmem_long_get(got, memory, N, 0);
        CHECK(memcmp(got, sent, sizeof got) == 0, "round %ld", round);
    }
    shmem_finalize();
    return 0;
}
