/* SPDX-License-Identifier: BSD-3-Clause */
/* access.c: puts, gets and atomic operations. */

#include "workload.h"
#include <string.h>

/* ---- put and get ---- */

struct writer {
    int pe;
    shmem_ctx_t context;
    long source[OPS_MAX][WORDS];
    char is_written[SIM_PES][WORDS]; /* since they were last ordered */
};

/* What @p writer writes at its part of the memory of @p pe, from place @p at. */
struct put {
    int kind, pe;
    size_t at, count;
};

static struct put draw_put(int writer, bool is_burst)
{
    const size_t part = WORDS / (size_t)world.count;
    struct put put    = {.kind = (int)workload_draw(is_burst ? 3 : 7),
                         .pe   = (int)workload_draw((uint64_t)world.count)};
    size_t at         = workload_draw((workload_draw(2) == 0) ? 8 : part);

    put.count = 1 + workload_draw((!is_burst && (workload_draw(3) == 0)) ? part - at
                                  : is_burst                             ? 1 + (part - at) / 64
                                                                         : 1 + (part - at) / 16);
    put.at    = (size_t)writer * part + at;
    return put;
}

static void order_puts(struct writer *writer, bool is_quiet)
{
    if (writer->pe == world.pe) {
        if (is_quiet) {
            shmem_ctx_quiet(writer->context);
        } else {
            shmem_ctx_fence(writer->context);
        }
    }
    memset(writer->is_written, 0, sizeof writer->is_written);
}

/* Its own words of that PE, after a quiet: no other PE writes them. */
static void read_back(struct writer *writer, const struct put *put, bool is_later)
{
    static long read[WORDS];
    size_t i;

    if (writer->pe != world.pe) {
        return;
    }
    if (is_later) {
        shmem_ctx_long_get_nbi(writer->context, read, world.words + put->at, put->count, put->pe);
        shmem_ctx_quiet(writer->context);
    } else {
        shmem_ctx_long_get(writer->context, read, world.words + put->at, put->count, put->pe);
    }
    for (i = 0; i < put->count; i++) {
        CHECK_EQUAL(read[i], world.model[put->pe][put->at + i]);
    }
    CHECK_EQUAL(shmem_ctx_long_g(writer->context, world.words + put->at, put->pe), read[0]);
}

static void issue_put(struct writer *writer, const struct put *put, const long *source)
{
    long *dest = world.words + put->at;

    switch (put->kind) {
    case 0:
        shmem_ctx_long_p(writer->context, dest, source[0], put->pe);
        break;
    case 1:
    case 2:
        shmem_ctx_long_put_nbi(writer->context, dest, source, put->count, put->pe);
        break;
    case 3:
        shmem_ctx_long_iput(writer->context, dest, source, 2, 1, (put->count + 1) / 2, put->pe);
        break;
    default:
        shmem_ctx_long_put(writer->context, dest, source, put->count, put->pe);
    }
}

static void put_once(struct writer *writer, int number, bool is_burst)
{
    const struct put put = draw_put(writer->pe, is_burst);
    const size_t step    = (put.kind == 3) ? 2 : 1;
    const size_t count   = (put.kind == 0) ? 1 : put.count;
    const long value     = (long)workload_draw(1u << 30);
    bool is_again        = false;
    size_t i;

    for (i = 0; i < count; i += step) {
        is_again = is_again || writer->is_written[put.pe][put.at + i];
    }
    if (is_again || (workload_draw(8) == 0)) {
        order_puts(writer, workload_draw(2) != 0);
    }
    for (i = 0; i < count; i += step) {
        writer->source[number][i / step]       = value + (long)i;
        writer->is_written[put.pe][put.at + i] = 1;
        world.model[put.pe][put.at + i]        = value + (long)i;
    }
    if (writer->pe == world.pe) {
        issue_put(writer, &put, writer->source[number]);
    }
    if (workload_draw(is_burst ? 40 : 6) == 0) {
        order_puts(writer, true);
        read_back(writer, &put, workload_draw(2) != 0);
    }
}

static void check_words(void)
{
    static long read[WORDS];
    const int pe = (int)((world.pe + (int)workload_draw((uint64_t)world.count)) % world.count);
    size_t i;

    shmem_long_get(read, world.words, WORDS, pe);
    for (i = 0; i < WORDS; i++) {
        CHECK_EQUAL(world.words[i], world.model[world.pe][i]);
        CHECK_EQUAL(read[i], world.model[pe][i]);
    }
}

void workload_puts(void)
{
    static struct writer writer;
    const bool has_context = (workload_draw(3) == 0);
    const long option      = (workload_draw(2) == 0) ? SHMEM_CTX_PRIVATE : 0;
    shmem_ctx_t context    = SHMEM_CTX_DEFAULT;
    int pe;

    if (has_context) {
        CHECK_EQUAL(shmem_ctx_create(option, &context), 0);
    }
    for (pe = 0; pe < world.count; pe++) {
        const bool is_burst = (workload_draw(3) == 0);
        const int ops       = is_burst ? OPS_MAX : 1 + (int)workload_draw(OPS_MAX - 1);
        int i;

        /* The sources of its own puts stay until the barrier. */
        static struct writer others;
        struct writer *one = (pe == world.pe) ? &writer : &others;

        one->pe      = pe;
        one->context = context;
        memset(one->is_written, 0, sizeof one->is_written);
        for (i = 0; i < ops; i++) {
            put_once(one, i, is_burst);
        }
    }
    if (has_context && (workload_draw(2) == 0)) {
        shmem_ctx_quiet(context);
        workload_synchronise();
        shmem_ctx_destroy(context);
    } else if (has_context) {
        shmem_ctx_destroy(context);
        workload_synchronise();
    } else {
        workload_synchronise();
    }
    check_words();
    shmem_sync_all();
}

/* ---- atomic operations ---- */

long workload_add(shmem_ctx_t context, int kind, long *counter, long value, int pe)
{
    static long unused[8];
    long old;

    switch (kind) {
    case 0:
        shmem_ctx_long_atomic_add(context, counter, value, pe);
        return 0;
    case 1:
        return shmem_ctx_long_atomic_fetch_add(context, counter, value, pe);
    case 2:
        shmem_ctx_long_atomic_fetch_add_nbi(context, unused, counter, value, pe);
        return 0;
    default:
        do {
            old = shmem_ctx_long_atomic_fetch(context, counter, pe);
        } while (shmem_ctx_long_atomic_compare_swap(context, counter, old, old + value, pe) != old);
        return old;
    }
}

/* All PEs add to the counters of all. */
void workload_atomics(void)
{
    int writer;
    int i;

    for (writer = 0; writer < world.count; writer++) {
        const int ops = (int)workload_draw(OPS_MAX);

        for (i = 0; i < ops; i++) {
            const int kind    = (int)workload_draw(4);
            const int counter = (int)workload_draw(COUNTERS);
            const int pe      = (int)workload_draw((uint64_t)world.count);
            const long value  = 1 + (long)workload_draw(1000);

            world.sums[pe][counter] += value;
            if (writer == world.pe) {
                CHECK(workload_add(SHMEM_CTX_DEFAULT, kind, world.counters + counter, value, pe) >=
                      0);
            }
        }
    }
    workload_synchronise();
    for (i = 0; i < COUNTERS; i++) {
        CHECK_EQUAL(world.counters[i], world.sums[world.pe][i]);
    }
    shmem_sync_all();
}

/* Each ticket of a counter is drawn once. */
void workload_tickets(void)
{
    const int home  = (int)workload_draw((uint64_t)world.count);
    const int each  = 1 + (int)workload_draw(8);
    const int total = each * world.count;
    long first      = world.sums[home][0];
    int i;

    memset(world.out, 0, (size_t)total * sizeof *world.out);
    shmem_barrier_all();
    for (i = 0; i < each; i++) {
        const long ticket = shmem_long_atomic_fetch_inc(world.counters, home) - first;

        CHECK((ticket >= 0) && (ticket < total));
        shmem_long_atomic_inc(world.out + ticket, home);
    }
    world.sums[home][0] += total;
    workload_synchronise();
    for (i = 0; (home == world.pe) && (i < total); i++) {
        CHECK_EQUAL(world.out[i], 1);
    }
    shmem_sync_all();
}

/* Atomic operations of all kinds on a word, which only this PE changes: each is seen by the next.
 */
void workload_values(void)
{
    const int shift = (int)workload_draw((uint64_t)world.count);
    const int pe    = (world.pe + shift) % world.count;
    uint64_t *word  = (uint64_t *)world.out;
    uint64_t value  = 0;
    int ops         = 1 + (int)workload_draw(20);

    world.out[0] = 0;
    shmem_barrier_all();
    while (ops-- > 0) {
        const int kind          = (int)workload_draw(7);
        const uint64_t argument = workload_draw(UINT64_C(1) << 40);

        switch (kind) {
        case 0:
            shmem_uint64_atomic_set(word, argument, pe);
            value = argument;
            break;
        case 1:
            CHECK_EQUAL(shmem_uint64_atomic_swap(word, argument, pe), value);
            value = argument;
            break;
        case 2:
            CHECK_EQUAL(shmem_uint64_atomic_fetch_and(word, argument, pe), value);
            value &= argument;
            break;
        case 3:
            CHECK_EQUAL(shmem_uint64_atomic_fetch_or(word, argument, pe), value);
            value |= argument;
            break;
        case 4:
            shmem_uint64_atomic_xor(word, argument, pe);
            value ^= argument;
            break;
        case 5:
            shmem_fence(); /* a put may pass atomic operations */
            shmem_uint64_p(word, argument, pe);
            shmem_quiet();
            value = argument;
            break;
        default:
            CHECK_EQUAL(shmem_uint64_atomic_compare_swap(word, value, argument, pe), value);
            value = argument;
        }
    }
    CHECK_EQUAL(shmem_uint64_atomic_fetch(word, pe), value);
    shmem_barrier_all();
}
