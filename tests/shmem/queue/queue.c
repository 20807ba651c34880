/* SPDX-License-Identifier: BSD-3-Clause */
/* queue.c: OpenSHMEM in the order of a queue of device 0. Arguments: "holds", the host waits in no
 * call; "direct", copies between devices of a host are work of the queue alone. */

#include "tests/shmem/check.h"
#include <memspan/memspan.h>
#include <shmem.h>
#include <shmemx.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 70000, ROUNDS = 12, PES_MAX = 8, WORDS = 300, DEVICE_PARTITION = 5 };

static unsigned char slots[ROUNDS][BYTES]; /* from the PE before, by round */
static unsigned char back[ROUNDS][BYTES];
static uint64_t arrived;
static uint64_t gate;
static uint32_t in[WORDS];
static uint32_t out[WORDS * PES_MAX];
static double numbers[WORDS];
static double results[WORDS];

static memspan_queue_h queue;
static unsigned char *block; /* of the device */
static int me;
static int count;

static void done(int status, int line)
{
    if (status != 0) {
        fprintf(stderr, "line %d: %s\n", line, memspan_error_text());
        shmem_global_exit(1);
    }
}
#define HOLDS(condition) CHECK(condition, "rounds of %d bytes", BYTES)
#define DONE(call)       done((int)(call), __LINE__)

static memspan_queue_info_t info(void)
{
    memspan_queue_info_t all = {.struct_size = sizeof all};

    DONE(memspan_queue_describe(queue, &all));
    return all;
}

static bool is_filled(const void *bytes, unsigned char value, size_t size)
{
    const unsigned char *at = bytes;
    size_t i;

    for (i = 0; (i < size) && (at[i] == value); i++) {
    }
    return i == size;
}

/* A row of operations without the host: the block is filled again for each round, so that a put
 * which starts early, or ends late, sends the bytes of another one. */
static void ring(void)
{
    const int right = (me + 1) % count;
    const int left  = (me + count - 1) % count;
    int r;

    for (r = 0; r < ROUNDS; r++) {
        DONE(memspan_fill_on(queue, block, (unsigned char)(1 + r + (16 * me)), BYTES));
        DONE(shmemx_putmem_signal_on_queue(slots[r], block, BYTES, &arrived, 1, SHMEM_SIGNAL_ADD,
                                           right, queue));
        DONE(shmemx_signal_wait_until_on_queue(&arrived, SHMEM_CMP_GE, (uint64_t)r + 1, queue));
        DONE(memspan_fill_on(queue, block, 0xee, BYTES));
        DONE(shmemx_getmem_on_queue(block, slots[r], BYTES, me, queue));
        DONE(memspan_copy_on(queue, back[r], block, BYTES));
    }
    DONE(memspan_queue_synchronize(queue));
    for (r = 0; r < ROUNDS; r++) {
        unsigned char value = (unsigned char)(1 + r + (16 * left));

        HOLDS(is_filled(slots[r], value, BYTES));
        HOLDS(is_filled(back[r], value, BYTES));
    }
}

/* The queue, and the operation behind it, wait for a store that the host does after the call. */
static void host_is_free(void)
{
    DONE(shmemx_signal_wait_until_on_queue(&gate, SHMEM_CMP_EQ, 7, queue));
    DONE(shmemx_signal_op_on_queue(&gate, 2, SHMEM_SIGNAL_ADD, me, queue));
    HOLDS(shmem_signal_fetch(&gate) == 0);
    shmem_signal_set(&gate, 7, me);
    DONE(memspan_queue_synchronize(queue));
    HOLDS(shmem_signal_fetch(&gate) == 9);
    HOLDS(info().called_after_wait == 0);
    HOLDS(info().waited_ns == 0);
}

/* Behind the queue's own work: each word of `in` is me + 1 four times. */
static void give_input(void)
{
    DONE(memspan_fill_on(queue, block, (unsigned char)(me + 1), sizeof in));
    DONE(shmemx_putmem_on_queue(in, block, sizeof in, me, queue));
}

static void check_words(const uint32_t *words, int first_pe, int pes)
{
    int i;

    DONE(memspan_queue_synchronize(queue));
    for (i = 0; i < pes; i++) {
        HOLDS(is_filled(words + (WORDS * i), (unsigned char)(first_pe + i + 1), sizeof in));
    }
}

static void collectives(void)
{
    const size_t share = sizeof in / (size_t)count / 4 * 4;
    const int root     = count - 1;
    int i;

    give_input();
    DONE(shmemx_barrier_all_on_queue(queue));
    DONE(shmemx_broadcastmem_on_queue(SHMEM_TEAM_WORLD, out, in, sizeof in, root, queue));
    check_words(out, root, 1);
    DONE(shmemx_fcollectmem_on_queue(SHMEM_TEAM_WORLD, out, in, sizeof in, queue));
    check_words(out, 0, count);
    memset(out, 0, sizeof out);
    DONE(shmemx_collectmem_on_queue(SHMEM_TEAM_WORLD, out, in, sizeof in, queue));
    check_words(out, 0, count);
    DONE(shmemx_sync_all_on_queue(queue));
    DONE(shmemx_alltoallmem_on_queue(SHMEM_TEAM_WORLD, out, in, share, queue));
    DONE(shmemx_team_sync_on_queue(SHMEM_TEAM_WORLD, queue));
    DONE(memspan_queue_synchronize(queue));
    for (i = 0; i < count; i++) {
        HOLDS(is_filled((char *)out + (share * (size_t)i), (unsigned char)(i + 1), share));
    }
    DONE(shmemx_reduce_on_queue(SHMEM_TEAM_WORLD, out, in, WORDS, SHMEMX_TYPE_UINT32,
                                SHMEMX_REDUCE_MAX, queue));
    check_words(out, count - 1, 1);
    DONE(shmemx_barrier_on_queue(SHMEM_TEAM_WORLD, queue));
    DONE(shmemx_reduce_on_queue(SHMEM_TEAM_WORLD, out, in, WORDS, SHMEMX_TYPE_INT32,
                                SHMEMX_REDUCE_MIN, queue));
    check_words(out, 0, 1);
    for (i = 0; i < WORDS; i++) {
        numbers[i] = i + (0.5 * me);
    }
    DONE(shmemx_barrier_all_on_queue(queue));
    DONE(shmemx_reduce_on_queue(SHMEM_TEAM_WORLD, results, numbers, WORDS, SHMEMX_TYPE_DOUBLE,
                                SHMEMX_REDUCE_SUM, queue));
    DONE(memspan_queue_synchronize(queue));
    HOLDS(results[3] == (3.0 * count) + (0.25 * count * (count - 1)));
}

/* Symmetric memory of the device: to each other PE and back. */
static void device_partition(bool is_direct)
{
    unsigned char *there = shmemx_partition_malloc((size_t)PES_MAX * BYTES, DEVICE_PARTITION);
    unsigned char *here  = calloc(1, BYTES);
    const uint64_t calls = info().called_count;
    unsigned far         = 0;
    int pe;

    for (pe = 0; pe < count; pe++) {
        far += (check_is_near(pe) == 0) ? 1 : 0;
        DONE(memspan_fill_on(queue, block, (unsigned char)((16 * me) + pe + 1), BYTES));
        DONE(shmemx_putmem_on_queue(there + ((size_t)me * BYTES), block, BYTES, pe, queue));
    }
    HOLDS(!is_direct || (info().called_count == calls + far));
    DONE(shmemx_quiet_on_queue(queue));
    DONE(shmemx_barrier_all_on_queue(queue));
    for (pe = 0; pe < count; pe++) {
        DONE(memspan_fill_on(queue, block, 0, BYTES));
        DONE(shmemx_getmem_on_queue(block, there + ((size_t)me * BYTES), BYTES, pe, queue));
        DONE(memspan_copy_on(queue, here, block, BYTES));
        DONE(memspan_queue_synchronize(queue));
        HOLDS(is_filled(here, (unsigned char)((16 * me) + pe + 1), BYTES));
    }
    free(here);
    shmem_free(there);
}

static void refusals(void)
{
    shmemx_queue_t none = NULL;

    HOLDS(shmemx_quiet_on_queue(none) == MEMSPAN_ERR_NOT_FOUND);
    HOLDS(shmemx_putmem_on_queue(in, out, 8, me, none) == MEMSPAN_ERR_NOT_FOUND);
    HOLDS(shmemx_reduce_on_queue(SHMEM_TEAM_WORLD, out, in, 1, SHMEMX_TYPE_DOUBLE,
                                 SHMEMX_REDUCE_XOR, queue) == MEMSPAN_ERR_INVALID);
    HOLDS(shmemx_reduce_on_queue(SHMEM_TEAM_WORLD, out, in, 1, (shmemx_type_t)99, SHMEMX_REDUCE_SUM,
                                 queue) == MEMSPAN_ERR_INVALID);
}

static memspan_allocator_h make_allocator(void)
{
    const int device = 0;
    memspan_allocator_h allocator;
    memspan_space_h space;

    DONE(memspan_space_get(&device, 1, MEMSPAN_SPACE_DEFAULT, &space));
    DONE(memspan_allocator_create(space, NULL, 0, &allocator));
    return allocator;
}

int main(int argc, char **argv)
{
    bool holds  = false;
    bool direct = false;
    memspan_allocator_h allocator;
    int i;

    for (i = 1; i < argc; i++) {
        holds  = holds || (strcmp(argv[i], "holds") == 0);
        direct = direct || (strcmp(argv[i], "direct") == 0);
    }
    shmem_init();
    me    = shmem_my_pe();
    count = shmem_n_pes();
    if (memspan_queue_open(0, MEMSPAN_QUEUE_OWN, NULL, 0, &queue) != MEMSPAN_OK) {
        fprintf(stderr, "skipped: %s\n", memspan_error_text());
        shmem_finalize();
        return 77;
    }
    HOLDS(!holds || (info().has_events == 1)); /* not a queue of the host, which would never end */
    allocator = make_allocator();
    block     = memspan_alloc(allocator, BYTES);
    HOLDS(block != NULL);
    shmem_barrier_all();
    if (holds) {
        host_is_free();
    }
    ring();
    collectives();
    if (getenv("SHMEM_SYMMETRIC_PARTITION5") != NULL) {
        device_partition(direct);
    }
    refusals();
    HOLDS(!holds || (info().called_after_wait == 0));
    memspan_free(block);
    DONE(shmemx_barrier_all_on_queue(queue)); /* shmem_finalize() waits for it */
    shmem_finalize();
    DONE(memspan_queue_close(queue));
    return 0;
}
