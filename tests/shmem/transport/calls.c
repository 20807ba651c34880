/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.c: calls of handlers, against what each PE can compute of the others' calls. */

#include "tests/shmem/check.h"
#include <limits.h>
#include <memspan/status.h>
#include <shmemx.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIZES = 12, CHAIN = 6, FLOOD = 40, ANSWERS = 20 /* more than a queue holds */ };

struct word {
    uint64_t index;
    uint64_t value;
};

struct chain {
    int left;
    int origin;
};

static int me;
static int count;
static uint64_t sums[64];
static uint64_t calls;
static uint64_t executed[SIZES];
static uint64_t next_number[64]; /* by caller */
static uint64_t chains_ended;
static uint64_t flooded_bytes;
static long before_fence[64];
static long flag;
static int is_running;
static int add_id, bytes_id, number_id, chain_id, flood_id, flag_id;
static const size_t sizes[SIZES] = {0,   1,   7,   8,    9,    63,
                                    496, 497, 512, 1000, 2047, SHMEMX_CALL_MAX_BYTES};

/* ---- handlers ---- */

static void enter(const void *payload, int pe)
{
    CHECK(is_running++ == 0, "two handlers at a time");
    CHECK(((uintptr_t)payload % 8 == 0) && (pe >= 0) && (pe < count), "payload %p of PE %d",
          payload, pe);
}

static void add(const void *payload, size_t size, int pe, void *data)
{
    const struct word *word = payload;

    enter(payload, pe);
    CHECK((size == sizeof *word) && (data == (void *)sums), "%zu bytes", size);
    sums[word->index] += word->value;
    calls++;
    is_running--;
}

static void bytes(const void *payload, size_t size, int pe, void *data)
{
    const unsigned char *byte = payload;
    size_t at;
    int i;

    (void)data;
    enter(payload, pe);
    for (i = 0; (i < SIZES) && (sizes[i] != size); i++) {
    }
    CHECK(i < SIZES, "%zu bytes", size);
    for (at = 0; at < size; at++) {
        CHECK(byte[at] == check_byte((uint64_t)pe, at), "byte %zu of %zu", at, size);
    }
    executed[i]++;
    is_running--;
}

static void number(const void *payload, size_t size, int pe, void *data)
{
    uint64_t value;
    long put;

    (void)data;
    enter(payload, pe);
    CHECK(size == sizeof value, "%zu bytes", size);
    memcpy(&value, payload, sizeof value);
    CHECK(value == next_number[pe], "%lu, and %lu was next", (unsigned long)value,
          (unsigned long)next_number[pe]);
    put = __atomic_load_n(&before_fence[pe], __ATOMIC_ACQUIRE); /* that of a later call may come */
    CHECK(put >= (long)value, "the put before the fence: %ld", put);
    next_number[pe] = value + 1;
    is_running--;
}

/* To the next PE, until none is left. */
static void chain(const void *payload, size_t size, int pe, void *data)
{
    struct chain link;

    (void)data;
    enter(payload, pe);
    CHECK(size == sizeof link, "%zu bytes", size);
    memcpy(&link, payload, sizeof link);
    if (link.left == 0) {
        CHECK(me == (link.origin + CHAIN) % count, "it began at PE %d", link.origin);
        chains_ended++;
    } else {
        link.left--;
        shmemx_call(SHMEM_CTX_DEFAULT, chain_id, &link, sizeof link, (me + 1) % count);
    }
    is_running--;
}

/* Each call is answered by many of the same size, and those by none. */
static void flood(const void *payload, size_t size, int pe, void *data)
{
    static char answer[SHMEMX_CALL_MAX_BYTES];

    (void)data;
    enter(payload, pe);
    flooded_bytes += size;
    if (*(const char *)payload == 'q') {
        answer[0] = 'a';
        for (int i = 0; i < ANSWERS; i++) {
            shmemx_call(SHMEM_CTX_DEFAULT, flood_id, answer, size, pe);
        }
    }
    is_running--;
}

/* A handler may put, and use atomics. */
static void raise_flag(const void *payload, size_t size, int pe, void *data)
{
    (void)data;
    enter(payload, pe);
    CHECK((size == 0) && (shmem_long_atomic_fetch(&flag, pe) >= 0), "%zu bytes", size);
    shmem_long_p(&flag, 1, me);
    is_running--;
}

static void add_all(void)
{
    int again;

    CHECK(shmemx_handler_add(NULL, NULL, &again) == MEMSPAN_ERR_INVALID, "no handler");
    CHECK(shmemx_handler_add(add, NULL, NULL) == MEMSPAN_ERR_INVALID, "no number");
    CHECK((shmemx_handler_add(add, sums, &add_id) == 0) && (add_id == 0), "first %d", add_id);
    CHECK(shmemx_handler_add(bytes, NULL, &bytes_id) == 0, "second");
    CHECK(shmemx_handler_add(number, NULL, &number_id) == 0, "third");
    CHECK(shmemx_handler_add(chain, NULL, &chain_id) == 0, "fourth");
    CHECK(shmemx_handler_add(flood, NULL, &flood_id) == 0, "fifth");
    CHECK((shmemx_handler_add(raise_flag, NULL, &flag_id) == 0) && (flag_id == 5), "sixth");
    shmem_barrier_all();
}

/* ---- cases ---- */

/* Every PE computes what all have added here. */
static void sums_are_those_of_all_calls(void)
{
    const int rounds      = check_rounds(20000);
    uint64_t expected     = 0;
    uint64_t all_calls    = 0;
    uint64_t per_word[64] = {0};
    int pe;
    int i;

    for (pe = 0; pe < count; pe++) {
        uint64_t state = (uint64_t)pe;

        for (i = 0; i < rounds; i++) {
            const uint64_t draw    = check_random(&state);
            const struct word word = {.index = draw % 64, .value = draw >> 32};
            const int to           = (int)((draw >> 8) % (uint64_t)count);

            if (pe == me) {
                shmemx_call(SHMEM_CTX_DEFAULT, add_id, &word, sizeof word, to);
            }
            if (to == me) {
                per_word[word.index] += word.value;
                expected++;
            }
        }
        all_calls += (uint64_t)rounds;
    }
    shmem_barrier_all();
    CHECK(calls == expected, "%lu calls of %lu, and %lu of all", (unsigned long)calls,
          (unsigned long)expected, (unsigned long)all_calls);
    CHECK(memcmp(sums, per_word, sizeof sums) == 0, "sums");
}

static void payloads_arrive_whole(void)
{
    static unsigned char payload[SHMEMX_CALL_MAX_BYTES];
    const int rounds = check_rounds(100);
    size_t at;
    int i;
    int pe;
    int size;

    for (at = 0; at < sizeof payload; at++) {
        payload[at] = check_byte((uint64_t)me, at);
    }
    for (i = 0; i < rounds; i++) {
        for (size = 0; size < SIZES; size++) {
            for (pe = 0; pe < count; pe++) {
                shmemx_call(SHMEM_CTX_DEFAULT, bytes_id, (sizes[size] != 0) ? payload : NULL,
                            sizes[size], pe);
            }
        }
    }
    shmem_barrier_all();
    for (size = 0; size < SIZES; size++) {
        CHECK(executed[size] == (uint64_t)rounds * (uint64_t)count, "%lu of %zu bytes",
              (unsigned long)executed[size], sizes[size]);
    }
}

/* Quiet alone: the others wait in a barrier, and their words are read. */
static void quiet_waits_until_they_are_executed(void)
{
    const int rounds = check_rounds(400);
    struct word word = {.index = 3, .value = 1};
    uint64_t before;
    int i;
    int pe;

    shmem_barrier_all();
    for (i = 0; (me == 0) && (i < rounds); i++) {
        pe     = i % count;
        before = shmem_uint64_g(&sums[3], pe);
        shmemx_call(SHMEM_CTX_DEFAULT, add_id, &word, sizeof word, pe);
        shmem_quiet();
        CHECK(shmem_uint64_g(&sums[3], pe) == before + 1, "round %d", i);
    }
    shmem_barrier_all();
}

static void fence_orders(shmem_ctx_t ctx, int first, int rounds)
{
    int pe;
    int i;

    for (i = first; i < first + rounds; i++) {
        const uint64_t value = (uint64_t)i;
        static long put;

        put = i;
        for (pe = 0; pe < count; pe++) {
            shmem_ctx_long_put_nbi(ctx, &before_fence[me], &put, 1, pe);
        }
        shmem_ctx_fence(ctx);
        for (pe = 0; pe < count; pe++) {
            shmemx_call(ctx, number_id, &value, sizeof value, pe);
        }
        shmem_ctx_quiet(ctx);
    }
}

/* Also where the puts of a context have a queue of their own. */
static void fence_orders_calls_and_puts(void)
{
    const int rounds = check_rounds(1000);
    shmem_ctx_t ctx;
    int pe;

    CHECK(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) == 0, "a context");
    fence_orders(SHMEM_CTX_DEFAULT, 0, rounds);
    fence_orders(ctx, rounds, rounds);
    shmem_ctx_destroy(ctx);
    shmem_barrier_all();
    for (pe = 0; pe < count; pe++) {
        CHECK(next_number[pe] == 2 * (uint64_t)rounds, "%lu of PE %d",
              (unsigned long)next_number[pe], pe);
    }
}

/* Calls in their order, by fence alone. */
static void fence_orders_calls(void)
{
    const int rounds = check_rounds(1000);
    int pe;
    int i;

    for (pe = 0; pe < count; pe++) {
        shmem_long_p(&before_fence[me], LONG_MAX, pe);
    }
    shmem_barrier_all();
    memset(next_number, 0, sizeof next_number);
    shmem_barrier_all();
    for (i = 0; i < rounds; i++) {
        const uint64_t value = (uint64_t)i;

        for (pe = 0; pe < count; pe++) {
            shmemx_call(SHMEM_CTX_DEFAULT, number_id, &value, sizeof value, pe);
        }
        shmem_fence();
    }
    shmem_barrier_all();
    CHECK(next_number[me] == (uint64_t)rounds, "%lu", (unsigned long)next_number[me]);
}

/* A link of a chain takes a barrier. */
static void handlers_call_handlers(void)
{
    const int rounds  = check_rounds(200);
    struct chain link = {.left = CHAIN - 1, .origin = me};
    int i;

    for (i = 0; i < rounds; i++) {
        shmemx_call(SHMEM_CTX_DEFAULT, chain_id, &link, sizeof link, (me + 1) % count);
    }
    for (i = 0; i < CHAIN; i++) {
        shmem_barrier_all();
    }
    CHECK(chains_ended == (uint64_t)rounds, "%lu chains", (unsigned long)chains_ended);
}

/* All queues are full, in both directions, and every PE is in a call. */
static void full_queues_do_not_wait_for_each_other(void)
{
    static char question[SHMEMX_CALL_MAX_BYTES];
    const uint64_t rounds = (uint64_t)check_rounds(FLOOD);
    uint64_t i;
    int pe;

    question[0] = 'q';
    for (i = 0; i < rounds; i++) {
        for (pe = 0; pe < count; pe++) {
            shmemx_call(SHMEM_CTX_DEFAULT, flood_id, question, sizeof question, pe);
        }
    }
    shmem_barrier_all();
    shmem_barrier_all();
    CHECK(flooded_bytes == (1 + ANSWERS) * rounds * (uint64_t)count * sizeof question, "%lu bytes",
          (unsigned long)flooded_bytes);
}

/* PEs that sleep in a wait for their own memory, or in a barrier. */
static void sleepers_execute(void)
{
    int pe;

    if (me == 0) {
        usleep(50000);
        for (pe = 1; pe < count; pe++) {
            shmemx_call(SHMEM_CTX_DEFAULT, flag_id, NULL, 0, pe);
        }
        shmem_quiet();
    } else {
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
    }
    shmem_barrier_all();
    CHECK(flag == (me != 0), "flag %ld", flag);
    if (me == count - 1) {
        usleep(50000);
        shmemx_call(SHMEM_CTX_DEFAULT, flag_id, NULL, 0, 0);
        shmem_quiet();
        CHECK(shmem_long_g(&flag, 0) == 1, "it slept in a barrier");
    }
    shmem_barrier_all();
    flag = 0;
    shmem_barrier_all();
}

/* PE numbers are those of the context's team. */
static void contexts_translate(void)
{
    const struct word word = {.index = 5, .value = 1};
    const uint64_t before  = sums[5];
    shmem_team_t reversed  = SHMEM_TEAM_INVALID;
    shmem_ctx_t ctx        = SHMEM_CTX_INVALID;
    int i;

    if (count > 1) {
        CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, count - 1, -1, count, NULL, 0,
                                       &reversed) == 0,
              "a team");
        CHECK(shmem_team_create_ctx(reversed, SHMEM_CTX_PRIVATE, &ctx) == 0, "a context");
    } else {
        CHECK(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) == 0, "a context");
    }
    for (i = 0; i < 100; i++) {
        shmemx_call(ctx, add_id, &word, sizeof word, count - 1); /* PE 0 of the world */
        shmemx_call(SHMEM_CTX_DEFAULT, add_id, &word, sizeof word, 0);
    }
    shmem_ctx_quiet(ctx);
    shmem_ctx_destroy(ctx);
    shmem_barrier_all();
    CHECK(sums[5] == before + ((me == 0) ? 200u * (unsigned)count : 0), "%lu, and %lu before",
          (unsigned long)sums[5], (unsigned long)before);
    shmem_team_destroy(reversed);
}

static void run(void)
{
    me    = shmem_my_pe();
    count = shmem_n_pes();
    add_all();
    sums_are_those_of_all_calls();
    payloads_arrive_whole();
    quiet_waits_until_they_are_executed();
    fence_orders_calls_and_puts();
    fence_orders_calls();
    handlers_call_handlers();
    full_queues_do_not_wait_for_each_other();
    sleepers_execute();
    contexts_translate();
}

static void forget(void)
{
    memset(sums, 0, sizeof sums);
    memset(executed, 0, sizeof executed);
    memset(next_number, 0, sizeof next_number);
    memset(before_fence, 0, sizeof before_fence);
    calls         = 0;
    chains_ended  = 0;
    flooded_bytes = 0;
}

/* Handlers end with their job. */
int main(void)
{
    shmem_init();
    run();
    shmem_finalize();
    forget();
    shmem_init();
    run();
    shmem_finalize();
    return 0;
}
