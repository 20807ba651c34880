/* SPDX-License-Identifier: BSD-3-Clause */
/* table.c: thresholds of algorithms. */

#include "core/base/text.h"
#include "shmem/collective/hosts.h"
#include "shmem/error.h"
#include "shmem/job.h"
#include "shmem/option.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Up to so many bytes and groups. */
struct row {
    enum msp_table_call call;
    enum msp_algorithm algorithm;
    size_t most_bytes;
    int most_groups;
};

#define ROW(call, algorithm, bytes, groups)                                                        \
    {                                                                                              \
        MSP_TABLE_##call, MSP_ALGORITHM_##algorithm, bytes, groups                                 \
    }
enum { KIB = 1 << 10, ANY = INT_MAX };

/* Measured by bench/collective/collective.sh with 2 hosts of 1 and 2 PEs, and 4 hosts of 1, over
 * TCP (bench/results). Limits beyond 4 groups count messages. Two PEs send each other everything
 * at every size: 13 us instead of 16 at 32 KiB, 169 instead of 209 at 512 KiB. With 2 PEs a host,
 * leaders win up to 32 KiB of a reduction (28 us, 45) and 8 KiB of an alltoall (30 us, 35); above,
 * their copies cost more than messages. Between 4 hosts a scattered broadcast loses still at 512
 * KiB, and a scattered reduction wins from 32 KiB on. A collect by pairs crosses the network once
 * for each PE of a host, so that it is faster only where hosts have one. */
static const struct row rows[] = {
    ROW(BROADCAST, TREE, 64 * KIB, ANY),    ROW(BROADCAST, TREE, SIZE_MAX, 4),
    ROW(BROADCAST, SCATTER, SIZE_MAX, 64),  ROW(BROADCAST, TREE, SIZE_MAX, ANY),
    ROW(REDUCE, PAIRWISE, SIZE_MAX, 2),     ROW(REDUCE, GATHER, 32 * KIB, 2),
    ROW(REDUCE, DOUBLING, 8 * KIB, ANY),    ROW(REDUCE, SCATTER, SIZE_MAX, 64),
    ROW(REDUCE, DOUBLING, SIZE_MAX, ANY),   ROW(SCAN, GATHER, SIZE_MAX, ANY),
    ROW(FCOLLECT, GATHER, 8 * KIB, ANY),    ROW(FCOLLECT, PAIRWISE, SIZE_MAX, ANY),
    ROW(COLLECT, GATHER, SIZE_MAX, ANY),    ROW(ALLTOALL, LEADERS, 8 * KIB, 16),
    ROW(ALLTOALL, BRUCK, 256, ANY),         ROW(ALLTOALL, LEADERS, 1 * KIB, ANY),
    ROW(ALLTOALL, PAIRWISE, SIZE_MAX, ANY), ROW(ALLTOALLS, LEADERS, SIZE_MAX, ANY),
};

static const char *const call_names[] = {
#define CALL_NAME(symbol, name) name,
    MSP_TABLE_CALL_MAP(CALL_NAME)
#undef CALL_NAME
};
static const char *const algorithm_names[] = {
#define ALGORITHM_NAME(symbol, name) name,
    MSP_ALGORITHM_MAP(ALGORITHM_NAME)
#undef ALGORITHM_NAME
};

/* The algorithms of each call. */
#define CAN(algorithm) (1u << MSP_ALGORITHM_##algorithm)
static const unsigned algorithms_of[MSP_TABLE_CALL_COUNT] = {
    [MSP_TABLE_BROADCAST] = CAN(TREE) | CAN(SCATTER),
    [MSP_TABLE_REDUCE]    = CAN(GATHER) | CAN(DOUBLING) | CAN(SCATTER) | CAN(PAIRWISE),
    [MSP_TABLE_SCAN]      = CAN(GATHER) | CAN(DOUBLING),
    [MSP_TABLE_FCOLLECT]  = CAN(GATHER) | CAN(PAIRWISE),
    [MSP_TABLE_COLLECT]   = CAN(GATHER) | CAN(PAIRWISE),
    [MSP_TABLE_ALLTOALL]  = CAN(LEADERS) | CAN(BRUCK) | CAN(PAIRWISE),
    [MSP_TABLE_ALLTOALLS] = CAN(LEADERS) | CAN(PAIRWISE),
};

enum { FIRST_MAX = 32 };
static struct row first[FIRST_MAX]; /* of the variable */
static int first_count;
static unsigned said[MSP_TABLE_CALL_COUNT]; /* algorithms that SHMEM_DEBUG has named */

/* ---- the variable ---- */

/* The number of the name that is @p length long; -1: there is none. */
static int find(const char *const *names, int count, const char *text, size_t length)
{
    int i;

    for (i = 0; i < count; i++) {
        if ((strlen(names[i]) == length) && (strncmp(names[i], text, length) == 0)) {
            return i;
        }
    }
    return -1;
}

/* "BYTES" or "BYTES:HOSTS", of that length. */
static bool read_limits(const char *text, size_t length, struct row *row)
{
    size_t bytes_length = strcspn(text, ":,");
    uint64_t number;
    int parsed = 0;

    bytes_length = (bytes_length < length) ? bytes_length : length;
    if (!msp_text_to_size(text, bytes_length, &number)) {
        return false;
    }
    row->most_bytes = (size_t)number;
    return (bytes_length == length) ||
           ((sscanf(text + bytes_length, ":%d%n", &row->most_groups, &parsed) == 1) &&
            (bytes_length + (size_t)parsed == length) && (row->most_groups > 0));
}

static bool read_row(const char *text, size_t length, struct row *row)
{
    size_t call_length      = strcspn(text, "=");
    size_t algorithm_length = 0;
    int call                = find(call_names, MSP_TABLE_CALL_COUNT, text, call_length);
    const char *algorithm_at;
    int algorithm;

    if ((call < 0) || (call_length >= length)) {
        return false;
    }
    algorithm_at     = text + call_length + 1;
    algorithm_length = strcspn(algorithm_at, ":,");
    algorithm        = find(algorithm_names, MSP_ALGORITHM_COUNT, algorithm_at, algorithm_length);
    if ((algorithm < 0) || ((algorithms_of[call] & (1u << algorithm)) == 0)) {
        return false;
    }
    *row = (struct row){(enum msp_table_call)call, (enum msp_algorithm)algorithm, SIZE_MAX, ANY};
    length -= call_length + 1 + algorithm_length;
    return (length == 0) || read_limits(algorithm_at + algorithm_length + 1, length - 1, row);
}

memspan_status_t msp_table_open(void)
{
    const char *all  = msp_shmem_option_text(MEMSPAN_SHMEM_COLLECTIVE);
    const char *text = all;

    first_count = 0;
    memset(said, 0, sizeof said);
    while (*text != '\0') {
        size_t length = strcspn(text, ",");

        if ((first_count == FIRST_MAX) || !read_row(text, length, &first[first_count])) {
            memspan_error(MEMSPAN_ERR_CONFIG, "SHMEMX_COLLECTIVE=%s: \"%.*s\" is no rule", all,
                          (int)length, text);
            return msp_error_hint("give CALL=ALGORITHM[:BYTES[:HOSTS]], as in "
                                  "reduce=doubling:4k,alltoall=pairwise; memspan-shmem(7)");
        }
        first_count++;
        text += length + ((text[length] == ',') ? 1 : 0);
    }
    return MEMSPAN_OK;
}

/* ---- choosing ---- */

static bool matches(const struct row *row, enum msp_table_call call, size_t size_bytes,
                    int group_count, unsigned possible)
{
    return (row->call == call) && (size_bytes <= row->most_bytes) &&
           (group_count <= row->most_groups) && ((possible & (1u << row->algorithm)) != 0);
}

static void say(enum msp_table_call call, enum msp_algorithm algorithm, size_t size_bytes,
                int group_count)
{
    unsigned bit = 1u << algorithm;

    if (msp_job.checks && ((__atomic_fetch_or(&said[call], bit, __ATOMIC_RELAXED) & bit) == 0)) {
        msp_debug_note("%s by %s: first with %zu bytes of a PE, on %d hosts", call_names[call],
                       algorithm_names[algorithm], size_bytes, group_count);
    }
}

enum msp_algorithm msp_table_choose(enum msp_table_call call, size_t size_bytes, int group_count,
                                    unsigned possible)
{
    const int all                = first_count + (int)(sizeof rows / sizeof rows[0]);
    enum msp_algorithm algorithm = (enum msp_algorithm)(31 - __builtin_clz(possible));
    int i;

    for (i = 0; i < all; i++) {
        const struct row *row = (i < first_count) ? &first[i] : &rows[i - first_count];

        if (matches(row, call, size_bytes, group_count, possible)) {
            algorithm = row->algorithm;
            break;
        }
    }
    say(call, algorithm, size_bytes, group_count);
    return algorithm;
}
