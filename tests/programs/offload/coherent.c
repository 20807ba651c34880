/* SPDX-License-Identifier: BSD-3-Clause */
/* coherent.c: host and device work on the same words at the same time, with atomics.
 *
 * A region with nowait adds on the device while the host adds; no addition may be lost. Then the
 * two hand a word back and forth, which only ends if each sees the other's stores while both run
 * (a pair that does not runs into a limit on turns, and the test fails). */

#include "check.h"

enum { ADDS = 200000, TURNS = 200 };

static void add_together(int *word)
{
    int i;

    *word = 0;
#pragma omp parallel num_threads(2) shared(word)
#pragma omp single
    {
#pragma omp target nowait is_device_ptr(word)
        for (int k = 0; k < ADDS; k++) {
            __atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST);
        }
        for (i = 0; i < ADDS; i++) {
            __atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST);
        }
#pragma omp taskwait
    }
    CHECK(*word == 2 * ADDS);
}

#pragma omp declare target
/* Turn by turn: @p mine says whose turns are played here. False when the other never answers. */
static int play(int *word, int mine)
{
    const long polls_max = 2000000000L;
    long waited          = 0;

    for (;;) {
        int turn = __atomic_load_n(word, __ATOMIC_ACQUIRE);
        if (turn >= TURNS) {
            return 1;
        }
        if ((turn & 1) == mine) {
            __atomic_store_n(word, turn + 1, __ATOMIC_RELEASE);
            waited = 0;
        } else if (++waited > polls_max) {
            return 0;
        }
    }
}
#pragma omp end declare target

static void hand_back_and_forth(int *word)
{
    int *answer = word + 1;

    word[0] = 0;
    word[1] = 0;
#pragma omp parallel num_threads(2) shared(word, answer)
#pragma omp single
    {
#pragma omp target nowait is_device_ptr(word, answer)
        *answer = play(word, 1);
        CHECK(offload_is_disabled() || (play(word, 0) == 1));
#pragma omp taskwait
    }
    CHECK(offload_is_disabled() || (word[1] == 1));
    CHECK(offload_is_disabled() || (word[0] == TURNS));
}

int main(void)
{
    int devices[]                = {0, -1};
    omp_alloctrait_t traits[]    = {{omp_atk_memory_access, omp_atv_coherent},
                                    {omp_atk_guarantee, omp_atv_required}};
    memspan_device_info_t info   = {.struct_size = sizeof(info)};
    omp_memspace_handle_t *space = omp_get_target_memspace(2, devices, omp_default_mem_space);
    omp_allocator_handle_t allocator;
    memspan_reach_t reach;
    int *word;

    check_devices(1);
    CHECK(memspan_device_describe(0, &info) == MEMSPAN_OK);
    if ((info.kinds & (1u << MEMSPAN_KIND_COHERENT)) == 0) {
        skip("the device has no coherent memory");
    }
    CHECK(space != NULL);
    allocator = omp_init_allocator(*space, 2, traits);
    CHECK(allocator != omp_null_allocator);
    word = omp_aligned_alloc(128, 128, allocator);
    CHECK(word != NULL);
    check_memory(word, MEMSPAN_KIND_COHERENT, 0);
    CHECK(memspan_pointer_reach(word, 0, &reach) == MEMSPAN_OK);
    CHECK(reach.coherence == MEMSPAN_COHERENCE_ATOMIC);
    CHECK(memspan_pointer_reach(word, MEMSPAN_HOST, &reach) == MEMSPAN_OK);
    CHECK(reach.coherence == MEMSPAN_COHERENCE_ATOMIC);

    add_together(word);
    if (!offload_is_disabled()) {
        hand_back_and_forth(word);
    }
    omp_free(word, allocator);
    omp_destroy_allocator(allocator);
    check_end();
    printf("coherent: %d concurrent additions, %d turns, nothing lost\n", 2 * ADDS, TURNS);
    return 0;
}
