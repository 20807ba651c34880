/* SPDX-License-Identifier: BSD-3-Clause */
/* workload.c: signals, locks, collectives, memory and threads; the order of phases. */

#include "workload.h"
#include <dirent.h>
#include <shmemx.h>
#include <stdlib.h>
#include <string.h>

static long static_words[WORDS]; /* in the executable's variables */
struct world world;

uint64_t workload_draw(uint64_t below)
{
    return (sim_mix(&world.random) >> 8) % below;
}

void workload_be_late(void)
{
    const int late    = (int)workload_draw((uint64_t)world.count * 2);
    const uint64_t ns = workload_draw(2) ? workload_draw(100000) : workload_draw(400 * SIM_MS);

    if (late == world.pe) {
        sim_sleep(ns);
    }
}

void workload_synchronise(void)
{
    switch (workload_draw(3)) {
    case 0:
        shmem_barrier_all();
        break;
    case 1:
        shmem_quiet();
        shmem_sync_all();
        break;
    default:
        shmem_quiet();
        CHECK_EQUAL(shmem_team_sync(SHMEM_TEAM_WORLD), 0);
    }
}

/* ---- signals, flags and waits ---- */

/* A program that polls for a PE that has left is no deadlock that can be found. */
static void give_up(void)
{
    if (sim->has_struck && (sim->profile.fault == SIM_LEAVES)) {
        shmem_barrier_all();
    }
}

static void wait_for(uint64_t *signal, uint64_t value, int kind)
{
    size_t index;

    switch (kind) {
    case 0:
        CHECK(shmem_signal_wait_until(signal, SHMEM_CMP_GE, value) >= value);
        break;
    case 1:
        shmem_uint64_wait_until(signal, SHMEM_CMP_EQ, value);
        break;
    case 2:
        while (!shmem_uint64_test(signal, SHMEM_CMP_GE, value)) {
            give_up();
        }
        break;
    case 3:
        shmem_uint64_wait_until_all(signal, 1, NULL, SHMEM_CMP_GE, value);
        break;
    case 4:
        CHECK_EQUAL(shmem_uint64_wait_until_any(signal, 1, NULL, SHMEM_CMP_GE, value), 0);
        break;
    default:
        CHECK_EQUAL(shmem_uint64_wait_until_some(signal, 1, &index, NULL, SHMEM_CMP_GE, value), 1);
    }
}

/* Data, and then the signal that says so: by one call, or by shmem_fence() between. */
static void send_block(int kind, const long *source, size_t count, uint64_t value, int to)
{
    long *dest       = world.block + (size_t)world.pe * LONG;
    uint64_t *signal = world.signals + world.pe;

    switch (kind) {
    case 0:
        shmem_long_put_signal(dest, source, count, signal, value, SHMEM_SIGNAL_SET, to);
        break;
    case 1:
        shmem_long_put_signal_nbi(dest, source, count, signal, 1, SHMEM_SIGNAL_ADD, to);
        break;
    case 2:
        shmem_long_put(dest, source, count, to);
        shmem_fence();
        shmem_uint64_p(signal, value, to);
        break;
    case 3:
        shmem_long_put_nbi(dest, source, count, to);
        shmem_fence();
        shmem_uint64_atomic_inc(signal, to);
        break;
    default:
        shmem_long_put_nbi(dest, source, count, to);
        shmem_quiet();
        shmem_uint64_atomic_set(signal, value, to);
    }
}

/* Each PE sends to the next by @p shift, which waits, checks, and answers by its own next block. */
static void signals(void)
{
    const int shift  = (int)workload_draw((uint64_t)world.count);
    const int to     = (world.pe + shift) % world.count;
    const int from   = (world.pe + world.count - shift) % world.count;
    const int rounds = 1 + (int)workload_draw(ROUNDS);
    static long source[ROUNDS][LONG];
    int round;

    for (round = 0; round < rounds; round++) {
        const size_t count = 1 + workload_draw((workload_draw(3) == 0) ? LONG : 20);
        const int kind     = (int)workload_draw(5);
        const int waiting  = (int)workload_draw(6);
        const long value   = (long)workload_draw(1u << 30);
        size_t i;
        int pe;

        for (pe = 0; pe < world.count; pe++) {
            world.sent[(pe + shift) % world.count][pe]++;
        }
        for (i = 0; i < count; i++) {
            source[round][i] = value + (long)i + world.pe * 7;
        }
        send_block(kind, source[round], count, world.sent[to][world.pe], to);
        wait_for(world.signals + from, world.sent[world.pe][from], waiting);
        for (i = 0; i < count; i++) {
            CHECK_EQUAL(world.block[(size_t)from * LONG + i], value + (long)i + from * 7);
        }
        CHECK_EQUAL(shmem_signal_fetch(world.signals + from), world.sent[world.pe][from]);
        if (workload_draw(2) == 0) {
            workload_be_late();
        }
        shmem_barrier_all(); /* the block may be written again */
    }
}

/* PE 0 collects a signal of each other by wait_until_any(). */
static void gather(void)
{
    int status[SIM_PES] = {0};
    const int home      = (int)workload_draw((uint64_t)world.count);
    int left            = world.count - 1;
    int pe;

    workload_be_late();
    for (pe = 0; pe < world.count; pe++) {
        world.sent[home][pe] += (pe != home);
        status[pe] = (pe == home);
    }
    if (world.pe != home) {
        shmem_uint64_atomic_inc(world.signals + world.pe, home);
    }
    while ((world.pe == home) && (left-- > 0)) {
        uint64_t wanted[SIM_PES] = {0};
        size_t i;

        memcpy(wanted, world.sent[home], sizeof wanted);
        i = shmem_uint64_wait_until_any_vector(world.signals, (size_t)world.count, status,
                                               SHMEM_CMP_EQ, wanted);
        CHECK(i < (size_t)world.count);
        CHECK_EQUAL(status[i], 0);
        status[i] = 1;
    }
    shmem_barrier_all();
}

static void locks(void)
{
    const int home  = (int)workload_draw((uint64_t)world.count);
    const int each  = 1 + (int)workload_draw(5);
    const bool asks = workload_draw(3) == 0;
    int i;

    for (i = 0; i < each; i++) {
        if (asks) {
            while (shmem_test_lock(world.lock) != 0) {
                give_up();
            }
        } else {
            shmem_set_lock(world.lock);
        }
        shmem_long_p(world.locked, shmem_long_g(world.locked, home) + 1, home);
        shmem_clear_lock(world.lock); /* has a quiet */
    }
    shmem_barrier_all();
    CHECK_EQUAL(shmem_long_g(world.locked, home), world.held + (long)each * world.count);
    shmem_barrier_all();
    if (world.pe == home) {
        *world.locked = world.held;
    }
    shmem_barrier_all();
}

/* ---- collectives ---- */

static void reduce(shmem_team_t team, int size, size_t count)
{
    const int kind = (int)workload_draw(4);
    const int mine = shmem_team_my_pe(team);
    size_t i;
    int pe;

    for (i = 0; i < count; i++) {
        world.in[i] = (long)((i * 31 + (size_t)mine * 17) % 1001);
    }
    CHECK_EQUAL((kind == 0)   ? shmem_long_sum_reduce(team, world.out, world.in, count)
                : (kind == 1) ? shmem_long_max_reduce(team, world.out, world.in, count)
                : (kind == 2) ? shmem_long_min_reduce(team, world.out, world.in, count)
                              : shmem_long_prod_reduce(team, world.out, world.in, count),
                0);
    for (i = 0; i < count; i++) {
        long expected = (long)((i * 31) % 1001);

        for (pe = 1; pe < size; pe++) {
            const long next = (long)((i * 31 + (size_t)pe * 17) % 1001);

            expected = (kind == 0)   ? expected + next
                       : (kind == 1) ? ((next > expected) ? next : expected)
                       : (kind == 2) ? ((next < expected) ? next : expected)
                                     : expected * next;
        }
        CHECK_EQUAL(world.out[i], expected);
    }
}

static void move(shmem_team_t team, int size, size_t count)
{
    const int kind = (int)workload_draw(4);
    const int root = (int)workload_draw((uint64_t)size);
    const int mine = shmem_team_my_pe(team);
    size_t i;
    int pe;

    for (i = 0; i < count * (size_t)size; i++) {
        world.in[i] = (long)i + 100000 * mine;
    }
    CHECK_EQUAL((kind == 0)   ? shmem_long_broadcast(team, world.out, world.in, count, root)
                : (kind == 1) ? shmem_long_fcollect(team, world.out, world.in, count)
                : (kind == 2) ? shmem_long_collect(team, world.out, world.in, count)
                              : shmem_long_alltoall(team, world.out, world.in, count),
                0);
    for (pe = 0; pe < ((kind == 0) ? 1 : size); pe++) {
        const int from     = (kind == 0) ? root : pe;
        const size_t first = (kind == 3) ? (size_t)mine * count : 0;

        for (i = 0; i < count; i++) {
            CHECK_EQUAL(world.out[(size_t)pe * count + i], (long)(first + i) + 100000 * from);
        }
    }
}

static void collectives_of(shmem_team_t team)
{
    const int size = shmem_team_n_pes(team);
    int calls      = 1 + (int)workload_draw(4);

    while (calls-- > 0) {
        const size_t count = 1 + workload_draw((workload_draw(3) == 0) ? LONG : 12);

        CHECK_EQUAL(shmem_team_sync(team), 0); /* the buffers may be written again */
        if (workload_draw(2) == 0) {
            move(team, size, count);
        } else {
            reduce(team, size, count);
        }
    }
}

static void collectives(void)
{
    workload_be_late();
    collectives_of(SHMEM_TEAM_WORLD);
    shmem_barrier_all();
}

/* More in a row than any of their counters has places, by roots that may be far ahead. */
static void broadcasts(void)
{
    const int count    = 1 + (int)workload_draw(40);
    const uint64_t one = workload_draw(UINT64_MAX);
    int i;

    for (i = 0; i < count; i++) {
        world.in[i] = i + 1000 * world.pe;
    }
    memset(world.out, 0, (size_t)count * sizeof *world.out);
    shmem_barrier_all();
    workload_be_late();
    for (i = 0; i < count; i++) {
        const int root = (int)((one >> (i % 60)) % (uint64_t)world.count);

        CHECK_EQUAL(shmem_long_broadcast(SHMEM_TEAM_WORLD, world.out + i, world.in + i, 1, root),
                    0);
        CHECK_EQUAL(world.out[i], i + 1000 * root);
    }
    shmem_barrier_all();
}

/* Teams of every second PE: both halves do the same. */
static void teams(void)
{
    const int stride  = (world.count > 2) ? 1 + (int)workload_draw(2) : 1;
    const int size    = (world.count + stride - 1) / stride;
    shmem_team_t team = SHMEM_TEAM_INVALID;
    uint64_t random;

    CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, stride, size, NULL, 0, &team), 0);
    random = world.random;
    if (team != SHMEM_TEAM_INVALID) {
        CHECK_EQUAL(shmem_team_n_pes(team), size);
        CHECK_EQUAL(shmem_team_translate_pe(team, shmem_team_my_pe(team), SHMEM_TEAM_WORLD),
                    world.pe);
        collectives_of(team);
        shmem_team_destroy(team);
    }
    world.random = random + 1; /* those outside have drawn nothing */
    shmem_barrier_all();
}

/* ---- memory ---- */

static void allocations(void)
{
    enum { BLOCKS = 6 };
    long *blocks[BLOCKS];
    const int to    = (world.pe + 1) % world.count;
    const int from  = (world.pe + world.count - 1) % world.count;
    const int count = 1 + (int)workload_draw(BLOCKS);
    int i;

    for (i = 0; i < count; i++) {
        const size_t words = 1 + workload_draw(4000);

        blocks[i] = (workload_draw(2) == 0) ? shmem_calloc(words, sizeof(long))
                                            : shmem_align(256, words * sizeof(long));
        CHECK(blocks[i] != NULL);
        shmem_long_p(blocks[i] + words - 1, 1000 * i + world.pe, to);
        if (workload_draw(3) == 0) {
            shmem_barrier_all();
            CHECK_EQUAL(blocks[i][words - 1], 1000 * i + from);
            blocks[i] = shmem_realloc(blocks[i], (words + 100) * sizeof(long));
            CHECK((blocks[i] != NULL) && (blocks[i][words - 1] == 1000 * i + from));
        }
    }
    for (i = 0; i < count; i++) {
        shmem_free(blocks[(i + 1) % count]); /* has a barrier */
    }
}

/* A partition made while the job runs; the next one has its place. */
static void spaces(void)
{
    const shmemx_space_config_t config = {.struct_size = sizeof config, .size = 1 << 20};
    const int to                       = (world.pe + 1) % world.count;
    const int from                     = (world.pe + world.count - 1) % world.count;
    int left                           = 1 + (int)workload_draw(3);

    while (left-- > 0) {
        shmemx_space_t space = SHMEMX_SPACE_INVALID;
        const size_t count   = 1 + workload_draw(3000);
        const long value     = (long)workload_draw(1000) + 1;
        long *block;

        CHECK_EQUAL(shmemx_space_create(SHMEM_TEAM_WORLD, &config, &space), 0);
        block = shmemx_space_calloc(space, count, sizeof(long));
        CHECK(block != NULL);
        world.in[0] = value + world.pe;
        shmem_long_put(block + count - 1, world.in, 1, to);
        shmem_long_put(block, block, count - 1, to); /* zeros */
        shmem_barrier_all();
        CHECK_EQUAL(block[count - 1], value + from);
        shmemx_space_free(space, block);
        CHECK_EQUAL(shmemx_space_destroy(space), 0);
    }
}

/* ---- threads ---- */

static void *add_in_thread(void *number_p)
{
    const int number    = *(int *)number_p;
    shmem_ctx_t context = SHMEM_CTX_DEFAULT;
    int i;

    if (number > 0) {
        CHECK_EQUAL(shmem_ctx_create(SHMEM_CTX_SERIALIZED, &context), 0);
    }
    for (i = 0; i < 10; i++) {
        const int pe = (world.pe + i) % world.count;
        long *words  = world.block + (size_t)world.pe * LONG + (size_t)number * 200;
        long read[200], source[200];
        int k;

        (void)workload_add(context, i % 4, world.counters + 1 + number, i, pe);
        for (k = 0; k < 200; k++) {
            source[k] = 1000 * i + k;
        }
        shmem_ctx_long_put_nbi(context, words, source, 200, pe);
        shmem_ctx_quiet(context);
        shmem_ctx_long_get(context, read, words, 200, pe);
        for (k = 0; k < 200; k++) {
            CHECK_EQUAL(read[k], source[k]);
        }
    }
    shmem_ctx_quiet(context);
    if (number > 0) {
        shmem_ctx_destroy(context);
    }
    return NULL;
}

/* Two threads of each PE at once. */
static void threads(void)
{
    int numbers[] = {0, 1};
    pthread_t thread;
    int pe, i;

    CHECK_EQUAL(sim_thread_start(&thread, add_in_thread, &numbers[1]), 0);
    (void)add_in_thread(&numbers[0]);
    sim_thread_join(thread);
    for (pe = 0; pe < world.count; pe++) {
        for (i = 0; i < 20; i++) {
            world.sums[(pe + i % 10) % world.count][1 + i / 10] += i % 10;
        }
    }
    workload_synchronise();
    for (i = 0; i < COUNTERS; i++) {
        CHECK_EQUAL(world.counters[i], world.sums[world.pe][i]);
    }
    shmem_sync_all();
}

/* ---- the program ---- */

static void begin(void)
{
    static const size_t words = (size_t)SIM_PES * LONG;

    memset(world.model, 0, sizeof world.model);
    memset(world.sums, 0, sizeof world.sums);
    memset(world.sent, 0, sizeof world.sent);
    memset(static_words, 0, sizeof static_words);
    world.is_static = workload_draw(2) != 0;
    world.words     = world.is_static ? static_words : shmem_calloc(WORDS, sizeof(long));
    world.counters  = shmem_calloc(COUNTERS, sizeof(long));
    world.signals   = shmem_calloc(SIM_PES, sizeof(uint64_t));
    world.block     = shmem_calloc(words, sizeof(long));
    world.lock      = shmem_calloc(1, sizeof(long));
    world.locked    = shmem_calloc(1, sizeof(long));
    world.in        = shmem_calloc(words, sizeof(long));
    world.out       = shmem_calloc(words, sizeof(long));
    world.held      = 0;
    shmem_barrier_all();
}

static void end(void)
{
    void *const blocks[] = {world.counters, world.signals, world.block, world.lock,
                            world.locked,   world.in,      world.out};
    size_t i;

    if (!world.is_static) {
        shmem_free(world.words);
    }
    for (i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        shmem_free(blocks[i]);
    }
}

/* The faults of programs: before one of the phases. True: this PE leaves the others, which all wait
 * then. */
static bool is_struck(int left)
{
    const struct sim_profile *profile = &sim->profile;

    if ((world.pe != profile->victim) || sim->has_struck ||
        (profile->fault_step % 8 != (uint64_t)left % 8)) {
        return false;
    }
    if (profile->fault == SIM_EXITS) {
        sim_strike(SIM_GRACE);
        shmem_global_exit(SIM_STATUS);
    }
    if ((profile->fault == SIM_LEAVES) && !world.has_threads) {
        sim_strike(SIM_GRACE);
        return true;
    }
    return false;
}

/* From shmem_init() to shmem_finalize(). */
static void job(int pe)
{
    static void (*const phases[])(void) = {workload_puts,    workload_puts,   workload_atomics,
                                           workload_tickets, workload_values, signals,
                                           signals,          gather,          locks,
                                           collectives,      broadcasts,      teams,
                                           spaces,           allocations};
    int left                            = 2 + (int)workload_draw(8);
    int provided;

    world.has_threads = (workload_draw(4) == 0);
    if (world.has_threads) {
        CHECK_EQUAL(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0);
    } else {
        shmem_init();
    }
    sim->pes[pe].is_on = true;
    world.pe           = shmem_my_pe();
    world.count        = shmem_n_pes();
    CHECK_EQUAL(world.pe, pe);
    CHECK_EQUAL(world.count, sim->profile.pe_count);
    begin();
    while (left-- > 0) {
        if (is_struck(left)) {
            break;
        }
        if (world.has_threads && (workload_draw(2) == 0)) {
            threads();
        } else {
            phases[workload_draw(sizeof phases / sizeof phases[0])]();
        }
    }
    if (left < 0) {
        end();
    }
    workload_be_late();
    if (workload_draw(2) == 0) { /* shmem_finalize() completes it */
        shmem_long_put_nbi(static_words, world.model[0], 1 + workload_draw(500),
                           (pe + 1) % world.count);
    }
    sim->pes[pe].is_on = false;
    shmem_finalize();
}

static unsigned count_descriptors(void)
{
    DIR *folder    = opendir("/proc/self/fd");
    unsigned count = 0;

    while ((folder != NULL) && (readdir(folder) != NULL)) {
        count++;
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return count;
}

int workload_run(int pe)
{
    unsigned descriptors = 0;
    int rounds;
    int i;

    world.pe     = pe;
    world.count  = sim->profile.pe_count;
    world.random = sim->seed ^ UINT64_C(0x776f726b);
    rounds       = (workload_draw(4) == 0) ? 3 : 1;
    workload_be_late();
    for (i = 0; i < rounds; i++) {
        job(pe);
        CHECK((i == 0) || (count_descriptors() == descriptors));
        descriptors = count_descriptors();
    }
    return 0;
}
