/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.c: the collectives, with operands by which a wrong, missing, repeated or misplaced one
 * shows in the result. Those of reductions are strings by their hashes: combining appends one to
 * another, so that the order shows, too. */

#include "calls.h"
#include "shmem/collective/combine.h"
#include "shmem/collective/exchange.h"
#include "shmem/collective/hosts.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    STRIDED_COUNT   = 2,
    STRIDED_BYTES   = 4,
    DEST_STRIDE     = 2,
    SOURCE_STRIDE   = 3,
    LARGE_EVERY     = 97, /* PEs of which one has a large part to collect */
    LARGE_BYTES     = 300,
    MEMORY_BYTES    = 1 << 30, /* address space of source, and of dest */
    PIECES_GROUPS   = 16384,   /* where the same is repeated */
    GATHERED_GROUPS = 8192,    /* more have no space of 8 bytes each in an inbox */
};

const struct call *call_now;

/* A string's hash: appending multiplies by the second one's power. */
struct fold {
    uint64_t hash;
    uint64_t power;
};

static struct fold *sums; /* of all PEs; of scans, of those before each */
static char *expected;    /* of collect and fcollect */
static size_t expected_bytes;
static uint64_t most; /* of the vote */
static uint64_t vote;

static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static uint64_t number_of(int from, int to)
{
    return mix(((uint64_t)(unsigned)from << 32) | (unsigned)to);
}

/* No byte is 0, which memory is that nothing was written to. */
static uint64_t bytes_of(int from, int to)
{
    return number_of(from, to) | UINT64_C(0x0101010101010101);
}

int call_root(void)
{
    return (call_now->closure == REPLAY_ROOT) ? (tape.pes / 3) : -1;
}

/* ---- reductions ---- */

static struct fold operand(int pe, size_t i)
{
    uint64_t x = number_of(pe, (int)i);

    return (struct fold){x, mix(x) | 1};
}

static struct fold append(struct fold x, struct fold y)
{
    return (struct fold){(x.hash * y.power) + y.hash, x.power * y.power};
}

static void combine(void *to, const void *x, const void *y, size_t count)
{
    const struct fold *a = x;
    const struct fold *b = y;
    struct fold *sum     = to;
    size_t i;

    for (i = 0; tape.has_values && (i < count); i++) {
        sum[i] = append(a[i], b[i]);
    }
}

static size_t elements(void)
{
    return call_now->bytes / sizeof(struct fold);
}

static void reduce_run(struct msp_team *team)
{
    msp_hosts_reduce(team, combine, tape.dest, tape.source, sizeof(struct fold), elements());
}

static void scan_run(struct msp_team *team)
{
    msp_hosts_scan(team, combine, false, tape.dest, tape.source, sizeof(struct fold), elements());
}

static void inscan_run(struct msp_team *team)
{
    msp_hosts_scan(team, combine, true, tape.dest, tape.source, sizeof(struct fold), elements());
}

static void reduce_prepare(int pe)
{
    struct fold *source = (struct fold *)(void *)tape.source;
    size_t i;

    memset(tape.dest, 0, call_now->bytes);
    for (i = 0; i < elements(); i++) {
        source[i] = operand(pe, i);
    }
}

static void sum_up(void)
{
    size_t count = elements();
    int pe;

    sums = calloc(count * ((size_t)tape.pes + 1), sizeof *sums);
    for (pe = 0; (sums != NULL) && (pe < tape.pes); pe++) {
        size_t i;

        for (i = 0; i < count; i++) {
            struct fold own                      = operand(pe, i);
            const struct fold *sum               = &sums[((size_t)pe * count) + i];
            sums[((size_t)(pe + 1) * count) + i] = (pe == 0) ? own : append(*sum, own);
        }
    }
}

static bool has_sum(int pe)
{
    return memcmp(tape.dest, &sums[(size_t)pe * elements()], call_now->bytes) == 0;
}

static bool reduce_check(int pe)
{
    (void)pe;
    return has_sum(tape.pes);
}

static bool inscan_check(int pe)
{
    return has_sum(pe + 1);
}

/* ---- barriers ---- */

static void sync_run(struct msp_team *team)
{
    msp_exchange_barrier(team, NULL);
}

static void vote_run(struct msp_team *team)
{
    msp_exchange_barrier(team, &vote);
}

static void vote_prepare(int pe)
{
    vote = number_of(pe, 0);
    most = (vote > most) ? vote : most;
}

static bool vote_check(int pe)
{
    (void)pe;
    return vote == most;
}

/* ---- movement ---- */

static void fill(char *to, int from, size_t bytes)
{
    size_t i;

    for (i = 0; i < bytes; i += sizeof(uint64_t)) {
        uint64_t number = bytes_of(from, (int)i);

        memcpy(to + i, &number, (bytes - i < sizeof number) ? (bytes - i) : sizeof number);
    }
}

static size_t lesser(size_t a, size_t b)
{
    return (a < b) ? a : b;
}

static size_t size_of(int pe)
{
    bool is_large = (call_now->bytes > sizeof(uint64_t)) && (pe % LARGE_EVERY == 0);

    return is_large ? (size_t)LARGE_BYTES : (size_t)(1 + (pe % 7));
}

static void broadcast_run(struct msp_team *team)
{
    msp_hosts_broadcast(team, tape.dest, tape.source, call_now->bytes, tape.pes / 3);
}

static void broadcast_prepare(int pe)
{
    memset(tape.dest, 0, call_now->bytes);
    fill(tape.source, pe, call_now->bytes);
}

static bool broadcast_check(int pe)
{
    (void)pe;
    fill(tape.source, tape.pes / 3, call_now->bytes);
    return memcmp(tape.dest, tape.source, call_now->bytes) == 0;
}

static void fcollect_run(struct msp_team *team)
{
    msp_hosts_fcollect(team, tape.dest, tape.source, call_now->bytes);
}

static void fcollect_prepare(int pe)
{
    memset(tape.dest, 0, expected_bytes);
    fill(tape.source, pe, call_now->bytes);
}

static void collect_run(struct msp_team *team)
{
    msp_hosts_collect(team, tape.dest, tape.source, size_of(team->pe));
}

static void collect_prepare(int pe)
{
    memset(tape.dest, 0, expected_bytes);
    fill(tape.source, pe, size_of(pe));
}

static bool collect_check(int pe)
{
    (void)pe;
    return memcmp(tape.dest, expected, expected_bytes) == 0;
}

static size_t part_bytes(int pe)
{
    return (call_now->run == fcollect_run) ? call_now->bytes : size_of(pe);
}

static size_t all_bytes(void)
{
    size_t bytes = 0;
    int pe;

    for (pe = 0; pe < tape.pes; pe++) {
        bytes += part_bytes(pe);
    }
    return bytes;
}

static void expect(void)
{
    size_t at = 0;
    int pe;

    expected_bytes = all_bytes();
    expected       = malloc(expected_bytes);
    for (pe = 0; (expected != NULL) && (pe < tape.pes); pe++) {
        fill(expected + at, pe, part_bytes(pe));
        at += part_bytes(pe);
    }
}

static void alltoall_run(struct msp_team *team)
{
    msp_hosts_alltoall(team, tape.dest, tape.source, call_now->bytes);
}

static void alltoall_prepare(int pe)
{
    int to;

    memset(tape.dest, 0, (size_t)tape.pes * call_now->bytes);
    for (to = 0; to < tape.pes; to++) {
        uint64_t number = bytes_of(pe, to);

        memcpy(tape.source + ((size_t)to * call_now->bytes), &number, call_now->bytes);
    }
}

static bool alltoall_check(int pe)
{
    int from;

    for (from = 0; from < tape.pes; from++) {
        uint64_t number = bytes_of(from, pe);

        if (memcmp(tape.dest + ((size_t)from * call_now->bytes), &number, call_now->bytes) != 0) {
            return false;
        }
    }
    return true;
}

static void alltoalls_run(struct msp_team *team)
{
    msp_hosts_alltoalls(team, tape.dest, tape.source, DEST_STRIDE, SOURCE_STRIDE, STRIDED_BYTES,
                        STRIDED_COUNT);
}

static char *strided(char *first, int pe, int i, int stride)
{
    return first + (((size_t)((pe * STRIDED_COUNT) + i) * (size_t)stride) * STRIDED_BYTES);
}

static void alltoalls_prepare(int pe)
{
    int to;
    int i;

    memset(tape.dest, 0, (size_t)tape.pes * STRIDED_COUNT * STRIDED_BYTES * DEST_STRIDE);
    for (to = 0; to < tape.pes; to++) {
        uint64_t number = bytes_of(pe, to);

        for (i = 0; i < STRIDED_COUNT; i++) {
            memcpy(strided(tape.source, to, i, SOURCE_STRIDE), (char *)&number + (i * 4), 4);
        }
    }
}

static bool alltoalls_check(int pe)
{
    int from;
    int i;

    for (from = 0; from < tape.pes; from++) {
        uint64_t number = bytes_of(from, pe);

        for (i = 0; i < STRIDED_COUNT; i++) {
            if (memcmp(strided(tape.dest, from, i, DEST_STRIDE), (char *)&number + (i * 4), 4) !=
                0) {
                return false;
            }
        }
    }
    return true;
}

/* ---- all ---- */

#define REDUCE .run = reduce_run, .prepare = reduce_prepare, .check = reduce_check
#define SCAN   .run = scan_run, .prepare = reduce_prepare, .check = has_sum, .closure = REPLAY_BEFORE
#define INSCAN                                                                                     \
    .run = inscan_run, .prepare = reduce_prepare, .check = inscan_check, .closure = REPLAY_BEFORE
#define BROADCAST                                                                                  \
    .run = broadcast_run, .prepare = broadcast_prepare, .check = broadcast_check,                  \
    .closure = REPLAY_ROOT
#define FCOLLECT  .run = fcollect_run, .prepare = fcollect_prepare, .check = collect_check
#define COLLECT   .run = collect_run, .prepare = collect_prepare, .check = collect_check
#define ALLTOALL  .run = alltoall_run, .prepare = alltoall_prepare, .check = alltoall_check
#define ALLTOALLS .run = alltoalls_run, .prepare = alltoalls_prepare, .check = alltoalls_check
#define WIDE      .is_wide = true
#define UNIFORM   .is_uniform = true

const struct call calls[] = {
    {"barrier", "", 2, INT_MAX, 0, 0, .run = sync_run, UNIFORM},
    {"vote", "", 2, INT_MAX, 8, 0, .run = vote_run, .prepare = vote_prepare, .check = vote_check,
     UNIFORM},
    {"broadcast", "", 2, INT_MAX, 8, 0, BROADCAST, UNIFORM},
    {"broadcast", "broadcast=scatter", 3, 256, 65472, 0, BROADCAST, .rounds = CALL_TWO, WIDE},
    {"reduce", "", 2, INT_MAX, 16, 0, REDUCE, .rounds = CALL_FOLD, UNIFORM},
    {"reduce", "reduce=doubling", 2, INT_MAX, 1024, 0, REDUCE, .rounds = CALL_FOLD, UNIFORM},
    {"reduce", "reduce=doubling", 2, PIECES_GROUPS, 12288, 0, REDUCE, .rounds = CALL_FOLD,
     .is_piped = true},
    {"reduce", "reduce=gather", 2, 1024, 64, 64, REDUCE, UNIFORM},
    {"reduce", "reduce=scatter", 2, 256, 65536, 0, REDUCE, .rounds = CALL_TWO, WIDE,
     .is_piped = true},
    {"scan", "scan=gather", 2, 1024, 16, 64, SCAN, UNIFORM},
    {"scan", "scan=doubling", 2, INT_MAX, 16, 0, INSCAN, .rounds = CALL_SCAN, UNIFORM},
    {"scan", "scan=doubling", 2, PIECES_GROUPS, 1024, 0, SCAN, .rounds = CALL_SCAN, UNIFORM},
    {"fcollect", "", 2, GATHERED_GROUPS, 8, 8, FCOLLECT, UNIFORM},
    {"fcollect", "fcollect=pairwise", 2, INT_MAX, 8, 0, FCOLLECT, .rounds = CALL_ONE, WIDE,
     UNIFORM},
    {"collect", "", 2, GATHERED_GROUPS / 2, 8, 256, COLLECT, UNIFORM},
    {"collect", "", 2, 256, LARGE_BYTES, 256 + LARGE_BYTES, COLLECT, .rounds = CALL_SCAN, WIDE,
     .has_sizes = true},
    {"collect", "collect=pairwise", 2, INT_MAX, 8, 64 + 8, COLLECT, .rounds = CALL_SCAN, WIDE},
    {"alltoall", "alltoall=leaders", 2, GATHERED_GROUPS / 2, 8, 0, ALLTOALL, .rounds = CALL_ONE,
     WIDE, UNIFORM},
    {"alltoall", "alltoall=bruck", 2, 1024, 8, 0, ALLTOALL, UNIFORM},
    {"alltoall", "alltoall=bruck", 2, 4096, 2, 0, ALLTOALL, UNIFORM},
    {"alltoall", "alltoall=pairwise", 2, INT_MAX, 8, 0, ALLTOALL, .rounds = CALL_ONE, WIDE,
     UNIFORM},
    {"alltoalls", "alltoalls=leaders", 2, GATHERED_GROUPS / 2, 8, 0, ALLTOALLS, .rounds = CALL_ONE,
     WIDE, UNIFORM, .is_piped = true},
    {"alltoalls", "alltoalls=pairwise", 2, INT_MAX, 8, 0, ALLTOALLS, WIDE},
};
const int call_count = (int)(sizeof calls / sizeof calls[0]);

static void *address_space(void)
{
    void *memory = mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED) {
        abort();
    }
    return memory;
}

void calls_open(void)
{
    most            = 0;
    tape.source     = address_space();
    tape.dest       = address_space();
    tape.dest_bytes = MEMORY_BYTES;
}

void calls_expect(void)
{
    if (call_now->prepare == reduce_prepare) {
        sum_up();
    } else if (call_now->check == collect_check) {
        expect();
    }
}

void calls_close(void)
{
    munmap(tape.source, MEMORY_BYTES);
    munmap(tape.dest, MEMORY_BYTES);
    free(sums);
    free(expected);
    sums     = NULL;
    expected = NULL;
}

uint64_t call_least_bytes(void)
{
    uint64_t others = (uint64_t)tape.pes - 1;

    if (call_now->closure == REPLAY_BEFORE) {
        return 0; /* the first PE needs none */
    }
    if (call_now->run == collect_run) {
        return all_bytes() -
               ((size_of(0) > 7) ? size_of(0) : lesser(7, (size_t)tape.pes)); /* its own */
    }
    return ((call_now->run == fcollect_run) || (call_now->run == alltoall_run) ||
            (call_now->run == alltoalls_run))
               ? (others * call_now->bytes)
               : call_now->bytes;
}

uint64_t call_most_bytes(uint64_t messages)
{
    uint64_t blocks =
        (strstr(call_now->rule, "bruck") != NULL) ? (((uint64_t)tape.pes + 1) / 2) : 1;

    return (call_now->block != 0) ? (((uint64_t)tape.pes - 1) * call_now->block)
                                  : (messages * blocks * call_now->bytes);
}

int call_most_rounds(void)
{
    int down = 31 - __builtin_clz((unsigned)tape.groups);
    int up   = ((tape.groups & (tape.groups - 1)) == 0) ? down : (down + 1);

    switch (call_now->rounds) {
    case CALL_FOLD:
        return (up == down) ? down : (down + 2);
    case CALL_ONE:
        return 1;
    case CALL_TWO:
        return 2;
    case CALL_SCAN:
        return (2 * up) + 2;
    default:
        return up;
    }
}
