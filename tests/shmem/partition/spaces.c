/* SPDX-License-Identifier: BSD-3-Clause */
/* spaces.c: partitions that teams make while the job runs, and the program's own memory as
 * symmetric memory. */

#include "tests/shmem/check.h"
#include <memspan/status.h>
#include <shmemx.h>
#include <stdlib.h>
#include <string.h>

enum { N = 5000 };

static int me;
static int count;

/* Every member gives every other one its numbers. */
static void use(shmem_team_t team, long *memory)
{
    int pe = shmem_team_my_pe(team);
    int n  = shmem_team_n_pes(team);
    int to = shmem_team_translate_pe(team, (pe + 1) % n, SHMEM_TEAM_WORLD);
    long got[N];
    long sent[N];

    for (int i = 0; i < N; i++) {
        sent[i] = (me * 100000L) + i;
    }
    shmem_long_put(memory, sent, N, to);
    shmem_quiet();
    shmem_team_sync(team);
    shmem_long_get(got, memory, N, me);
    for (int i = 0; i < N; i++) {
        int from = shmem_team_translate_pe(team, (pe + n - 1) % n, SHMEM_TEAM_WORLD);

        CHECK(got[i] == (from * 100000L) + i, "element %d is %ld", i, got[i]);
    }
    shmem_team_sync(team);
    shmem_long_atomic_add(memory, 1, to);
    shmem_quiet();
    shmem_team_sync(team);
}

static void team_space(shmem_team_t team, const char *name)
{
    shmemx_space_config_t config = {.struct_size = sizeof config,
                                    .size        = 1 << 20,
                                    .kind        = SHMEMX_KIND_NORMALMEM,
                                    .policy      = SHMEMX_POLICY_PREFERRED,
                                    .name        = name};
    shmemx_partition_info_t info = {.struct_size = sizeof info};
    shmemx_space_t space;
    shmem_team_t owner;
    long *memory;
    int id;

    CHECK(shmemx_space_create(team, &config, &space) == 0, "%s", memspan_error_text());
    CHECK(space != SHMEMX_SPACE_INVALID, "no handle");
    CHECK(shmemx_space_is_available(space) == 0, "no memory");
    CHECK((shmemx_space_get_team(space, &owner) == 0) && (owner == team), "of another team");
    id = shmemx_space_partition(space);
    CHECK(shmemx_partition_info(id, &info) == 0, "%s", memspan_error_text());
    CHECK(info.kind == SHMEMX_KIND_NORMALMEM, "%s", info.kind_name);
    CHECK(shmemx_name_to_index(name) == id, "not found by its name");
    memory = shmemx_space_malloc(space, N * sizeof *memory);
    CHECK(memory != NULL, "%s", memspan_error_text());
    CHECK(shmemx_space_of(memory) == space, "in another space");
    CHECK(shmemx_partition_of(memory) == id, "%d", shmemx_partition_of(memory));
    use(team, memory);
    CHECK(shmemx_space_malloc(space, 2 << 20) == NULL, "more than there is");
    shmemx_space_free(space, memory);
    CHECK(shmemx_space_destroy(space) == 0, "%s", memspan_error_text());
    CHECK(shmemx_space_destroy(space) != 0, "destroyed twice");
    CHECK(shmemx_partition_info(id, &info) != 0, "still there");
}

/* Two halves make spaces at the same time, again and again. */
static void halves(void)
{
    shmem_team_t half = SHMEM_TEAM_INVALID;
    shmem_team_t halves_of[2];

    for (int i = 0; i < 2; i++) {
        shmem_team_split_strided(SHMEM_TEAM_WORLD, i, 2, (count - i + 1) / 2, NULL, 0,
                                 &halves_of[i]);
        half = (halves_of[i] != SHMEM_TEAM_INVALID) ? halves_of[i] : half;
    }
    for (int round = 0; round < 5 + (me % 2); round++) {
        team_space(half, (me % 2 == 0) ? "even" : "odd");
    }
    shmem_barrier_all();
    team_space(SHMEM_TEAM_WORLD, "all");
    shmem_team_destroy(half);
}

static void attach_and_detach(void)
{
    shmemx_space_config_t config = {.struct_size = sizeof config, .size = 256 << 10};
    shmemx_space_t space;

    CHECK(shmemx_space_create(SHMEM_TEAM_INVALID, &config, &space) == 0, "%s",
          memspan_error_text());
    CHECK(shmemx_space_is_available(space) != 0, "memory without a team");
    CHECK(shmemx_space_partition(space) == SHMEMX_PARTITION_NONE, "a number without memory");
    for (int i = 0; i < 3; i++) {
        long *memory;

        CHECK(shmemx_space_attach(SHMEM_TEAM_WORLD, space) == 0, "%s", memspan_error_text());
        memory = shmemx_space_align(space, 4096, N * sizeof *memory);
        CHECK((memory != NULL) && ((uintptr_t)memory % 4096 == 0), "%p", (void *)memory);
        use(SHMEM_TEAM_WORLD, memory);
        CHECK(shmemx_space_detach(space) == 0, "%s", memspan_error_text());
    }
    CHECK(shmemx_space_destroy(space) == 0, "%s", memspan_error_text());
}

static void refusals(void)
{
    shmemx_space_config_t none   = {.struct_size = sizeof none};
    shmemx_space_config_t device = {.struct_size = sizeof device,
                                    .size        = 4096,
                                    .kind        = SHMEMX_KIND_DEVICE,
                                    .policy      = SHMEMX_POLICY_MANDATORY,
                                    .has_device  = 1,
                                    .device      = 99};
    shmemx_space_config_t differ = {.struct_size = sizeof differ, .size = 4096 * (size_t)(me + 1)};
    /* Of a program that knows no later fields: there may be anything. */
    shmemx_space_config_t older = {.struct_size = offsetof(shmemx_space_config_t, hints),
                                   .size        = 4096,
                                   .hints       = -1,
                                   .name        = (const char *)(uintptr_t)1};
    shmemx_space_t space        = (shmemx_space_t)5;

    CHECK(shmemx_space_create(SHMEM_TEAM_WORLD, &older, &space) == 0, "%s", memspan_error_text());
    CHECK(shmemx_space_destroy(space) == 0, "%s", memspan_error_text());
    CHECK(shmemx_space_create(SHMEM_TEAM_WORLD, &none, &space) != 0, "no size");
    CHECK(space == SHMEMX_SPACE_INVALID, "a handle of nothing");
    CHECK(shmemx_space_create(SHMEM_TEAM_WORLD, &device, &space) != 0, "there is no device 99");
    CHECK((count == 1) || (shmemx_space_create(SHMEM_TEAM_WORLD, &differ, &space) != 0),
          "sizes differ");
    CHECK(shmemx_space_destroy(SHMEMX_SPACE_INVALID) == 0, "nothing to destroy");
    CHECK(shmemx_space_destroy(SHMEMX_SPACE_DEFAULT) != 0, "the default one");
    CHECK(shmemx_space_destroy((shmemx_space_t)0x7777) != 0, "a wild handle");
}

static void own_buffers(void)
{
    static long global[4];
    long *buffer = malloc(N * sizeof *buffer);
    long *symmetric;

    symmetric = shmemx_buffer_register_symmetric(buffer, N * sizeof *buffer, 0);
    CHECK(symmetric != NULL, "%s", memspan_error_text());
    use(SHMEM_TEAM_WORLD, symmetric);
    CHECK(shmemx_buffer_unregister_symmetric(symmetric, N * sizeof *buffer) == 0, "%s",
          memspan_error_text());
    CHECK(shmemx_buffer_register_symmetric(global, sizeof global, 0) == NULL, "symmetric twice");
    CHECK(shmemx_buffer_register(buffer, 100) == 0, "%s", memspan_error_text());
    CHECK(shmemx_buffer_register(buffer, 100) != 0, "registered twice");
    CHECK(shmemx_buffer_unregister(buffer) == 0, "%s", memspan_error_text());
    CHECK(shmemx_buffer_unregister(buffer) != 0, "unregistered twice");
    CHECK(shmemx_buffer_register(NULL, 8) != 0, "no address");
    shmem_barrier_all();
    free(buffer);
}

/* A heap that is there before the job, and symmetric in it. */
int main(void)
{
    long *heap = malloc(N * sizeof *heap);
    int brought;

    shmemx_heap_preinit();
    brought = shmemx_heap_create(heap, N * sizeof *heap, SHMEMX_EXTERNAL_HEAP_HOST, 0);
    shmemx_heap_postinit();
    me    = shmem_my_pe();
    count = shmem_n_pes();
    CHECK(brought == 0, "%s", memspan_error_text());
    use(SHMEM_TEAM_WORLD, heap);
    halves();
    attach_and_detach();
    refusals();
    own_buffers();
    shmem_finalize();
    free(heap);
    return 0;
}
