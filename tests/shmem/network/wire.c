/* SPDX-License-Identifier: BSD-3-Clause */
/* wire.c: messages that no PE sends are dropped or refused; records. */

#include "shmem/network/record.h"
#include "shmem/network/stream.h"
#include "shmem/transport/segment.h"
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const struct msp_network_wire_limits limits = {.pe_count = 4, .answer_max_bytes = 8192};

void msp_fatal(const char *format, ...)
{
    (void)format;
    abort();
}

/* ---- messages ---- */

static const char *judge(struct msp_network_header header, size_t payload_bytes)
{
    struct msp_network_header read;

    return msp_network_wire_read(&limits, false, &header, msp_network_header_bytes(&header),
                                 payload_bytes, &read);
}

#define MESSAGE(...) ((struct msp_network_header){__VA_ARGS__})

Test(wire, token)
{
    const struct msp_network_header header = {.token = 0x1234567890abcdef};

    cr_expect(msp_network_wire_is_ours(&header, 32, 0x1234567890abcdef));
    cr_expect_not(msp_network_wire_is_ours(&header, 32, 0x1234567890abcdee));
    cr_expect_not(msp_network_wire_is_ours(&header, 32, 0x9234567890abcdef));
    cr_expect_not(msp_network_wire_is_ours(&header, 7, 0x1234567890abcdef));
    cr_expect_not(msp_network_wire_is_ours(&header, 0, 0));
}

/* 64 bytes with the size of its header, which libfabric puts before it. */
Test(wire, word_is_short)
{
    const struct msp_network_header fetch = {
        .kind = MSP_NETWORK_ATOMIC, .record = 1, .offset_bytes = 1, .value = 1};
    const struct msp_network_header signal = {
        .kind = MSP_NETWORK_PUT, .offset_bytes = 1, .value = 1, .signal_offset_bytes = 1};

    cr_expect_leq(msp_network_header_bytes(&fetch) + 8, 64);
    cr_expect_leq(msp_network_header_bytes(&signal) + 8, 64);
}

Test(wire, sound)
{
    cr_expect_null(judge(MESSAGE(.kind = MSP_NETWORK_PUT, .size_bytes = 8), 8));
    cr_expect_null(judge(
        MESSAGE(.kind = MSP_NETWORK_PUT, .size_bytes = 8, .more_blocks = 2, .stride_bytes = 64),
        24));
    cr_expect_null(judge(MESSAGE(.kind = MSP_NETWORK_PUT, .operation = MSP_ATOMIC_SET), 0));
    cr_expect_null(judge(MESSAGE(.kind = MSP_NETWORK_GET, .size_bytes = 8192, .record = 1), 0));
    cr_expect_null(judge(MESSAGE(.kind = MSP_NETWORK_ATOMIC, .word_bytes = 4), 0));
    cr_expect_null(judge(MESSAGE(.kind = MSP_NETWORK_REPLY, .record = 1), 100));
    cr_expect_null(judge(MESSAGE(.kind = MSP_NETWORK_ACK, .ack_count = 9), 0));
    cr_expect_null(judge(MESSAGE(.kind = MSP_NETWORK_AGGREGATE), 100));
    cr_expect_null(judge(MESSAGE(.kind = MSP_NETWORK_PONG, .pe = 3), 0));
    cr_expect_null(judge(MESSAGE(.kind = MSP_NETWORK_CALL), 16));
}

Test(wire, refused)
{
    /* Senders and places. */
    cr_expect_not_null(judge(MESSAGE(.kind = MSP_NETWORK_PING, .pe = -1), 0));
    cr_expect_not_null(judge(MESSAGE(.kind = MSP_NETWORK_PING, .pe = 4), 0));
    cr_expect_not_null(judge(MESSAGE(.kind = MSP_NETWORK_PING, .context = MSP_CONTEXT_MAX), 0));
    cr_expect_not_null(judge(MESSAGE(.kind = MSP_NETWORK_ACK, .ack_context = UINT16_MAX), 0));
    cr_expect_not_null(
        judge(MESSAGE(.kind = MSP_NETWORK_KEY, .record = 1, .segment = MSP_SEGMENT_MAX), 0));
    cr_expect_not_null(
        judge(MESSAGE(.kind = MSP_NETWORK_PUT, .size_bytes = 8, .operation = MSP_ATOMIC_ADD,
                      .signal_segment = MSP_SEGMENT_MAX),
              8));
    /* Sizes. */
    cr_expect_not_null(judge(MESSAGE(.kind = MSP_NETWORK_PUT, .size_bytes = 9), 8));
    cr_expect_not_null(judge(MESSAGE(.kind = MSP_NETWORK_PUT, .size_bytes = 7), 8));
    cr_expect_not_null(judge(MESSAGE(.kind = MSP_NETWORK_PUT, .more_blocks = 1), 0));
    cr_expect_not_null(
        judge(MESSAGE(.kind = MSP_NETWORK_PUT, .size_bytes = 8, .more_blocks = UINT64_MAX), 0));
    cr_expect_not_null(judge(
        MESSAGE(.kind = MSP_NETWORK_PUT, .size_bytes = 8, .more_blocks = UINT64_C(1) << 61), 8));
    cr_expect_not_null(judge(MESSAGE(.kind = MSP_NETWORK_GET, .record = 1, .size_bytes = 8193), 0));
    cr_expect_not_null(judge(
        MESSAGE(.kind = MSP_NETWORK_GET, .record = 1, .size_bytes = 8, .more_blocks = 1024), 0));
    cr_expect_not_null(judge(MESSAGE(.kind = MSP_NETWORK_GET, .record = 1), 0));
    cr_expect_not_null(judge(MESSAGE(.kind = MSP_NETWORK_ATOMIC, .word_bytes = 16), 0));
    cr_expect_not_null(judge(MESSAGE(.kind = MSP_NETWORK_ATOMIC), 0));
    cr_expect_not_null(judge(MESSAGE(.kind = MSP_NETWORK_UNSTAGE, .record = 1), 0));
    /* Kinds and operations. */
    cr_expect_not_null(judge(
        MESSAGE(.kind = MSP_NETWORK_ATOMIC, .word_bytes = 8, .operation = MSP_ATOMIC_XOR + 1), 0));
    cr_expect_not_null(judge(MESSAGE(.kind = MSP_NETWORK_PONG + 1), 0));
    cr_expect_not_null(judge(MESSAGE(.kind = MSP_NETWORK_CALL), 0));
    cr_expect_not_null(judge(MESSAGE(.kind = 255), 0));
    cr_expect_not_null(judge(MESSAGE(.kind = MSP_NETWORK_REPLY), 8));
    cr_expect_not_null(judge(MESSAGE(.kind = MSP_NETWORK_LEASE), 0));
    cr_expect_not_null(judge(MESSAGE(.kind = MSP_NETWORK_ATOMIC, .word_bytes = 8), 8));
}

Test(wire, header_sizes)
{
    const struct msp_network_header header = {.kind = MSP_NETWORK_PING};
    struct msp_network_header read;
    size_t bytes;

    for (bytes = 0; bytes < 256; bytes++) {
        const bool is_sound = (bytes >= MSP_NETWORK_HEADER_MIN_BYTES) && (bytes <= sizeof header);
        char text[256]      = {0};

        memcpy(text, &header, sizeof header);
        cr_expect_eq(msp_network_wire_read(&limits, false, text, bytes, 0, &read) == NULL, is_sound,
                     "%zu", bytes);
    }
}

/* ---- several in one ---- */

static size_t add(char *to, struct msp_network_header header, size_t payload_bytes)
{
    const struct msp_network_aggregate_item item = {
        .header_bytes  = (uint32_t)(msp_network_header_bytes(&header) - sizeof header.token),
        .payload_bytes = (uint32_t)payload_bytes};

    memcpy(to, &item, sizeof item);
    memcpy(to + sizeof item, &header.token + 1, item.header_bytes);
    return msp_network_aggregate_item_bytes(&item);
}

static const char *judge_items(const char *items, size_t bytes, unsigned *count_p)
{
    struct msp_network_wire_item item;
    const char *wrong = NULL;
    size_t at         = 0;

    *count_p = 0;
    while ((at < bytes) && (wrong == NULL)) {
        wrong = msp_network_wire_next(&limits, items, bytes, &at, &item);
        *count_p += (wrong == NULL) ? 1 : 0;
        cr_expect(at <= bytes);
    }
    return wrong;
}

Test(wire, aggregate)
{
    _Alignas(8) char items[512] = {0};
    unsigned count;
    size_t bytes = add(items, MESSAGE(.kind = MSP_NETWORK_PUT, .size_bytes = 8), 8);
    size_t cut;

    bytes += add(items + bytes, MESSAGE(.kind = MSP_NETWORK_ATOMIC, .word_bytes = 8), 0);
    cr_expect_null(judge_items(items, bytes, &count));
    cr_expect_eq(count, 2);
    for (cut = 1; cut < bytes; cut++) {
        char *exact = malloc(bytes - cut);

        memcpy(exact, items, bytes - cut);
        (void)judge_items(exact, bytes - cut, &count);
        cr_expect_lt(count, 2);
        free(exact);
    }
    (void)add(items, MESSAGE(.kind = MSP_NETWORK_AGGREGATE), 0);
    cr_expect_not_null(judge_items(items, bytes, &count));
    memset(items, 0xff, 8);
    cr_expect_not_null(judge_items(items, bytes, &count));
}

/* ---- records ---- */

Test(records, once)
{
    char data[16];
    struct msp_network_record *record = msp_network_record_take("call", 2, data, sizeof data);
    uint32_t number                   = msp_network_record_ask(record);
    uint32_t later;

    cr_expect_neq(number, 0);
    cr_expect_null(msp_network_record_find(number, 1, 0, 16), "of another PE");
    cr_expect_null(msp_network_record_find(number, 2, 1, 16), "beyond its end");
    cr_expect_null(msp_network_record_find(number, 2, UINT64_MAX, 1), "before its start");
    cr_expect_null(msp_network_record_find(number, 2, 0, 0), "without data");
    cr_expect_null(msp_network_record_find(number + 1, 2, 0, 16), "of another index");
    cr_expect_null(msp_network_record_find(number ^ (1u << 31), 2, 0, 16), "of another use");
    cr_expect_null(msp_network_record_find(UINT32_MAX, 2, 0, 16));
    cr_expect_eq(msp_network_record_find(number, 2, 0, 16), record);
    cr_expect_null(msp_network_record_find(number, 2, 0, 16), "for the second time");
    atomic_fetch_sub(&record->left, 1);
    msp_network_record_give(record);
    record = msp_network_record_take("call", 2, data, sizeof data);
    later  = msp_network_record_ask(record);
    cr_expect_neq(later, number);
    cr_expect_null(msp_network_record_find(number, 2, 0, 16), "of the use before");
    msp_network_record_close();
}

Test(records, scattered)
{
    struct msp_network_record *record = msp_network_record_take("call", 0, NULL, 64);
    uint32_t number;

    record->block_bytes = 8;
    number              = msp_network_record_ask(record);
    cr_expect_null(msp_network_record_find(number, 0, 4, 8));
    cr_expect_null(msp_network_record_find(number, 0, 8, 12));
    cr_expect_null(msp_network_record_find(number, 0, 8, 64));
    cr_expect_eq(msp_network_record_find(number, 0, 8, 56), record);
    msp_network_record_close();
}

enum { ROUNDS = 20000, HELD = 100 };

/* Records of several threads are different ones. */
static void *take_and_give(void *pe)
{
    struct msp_network_record *held[HELD];
    unsigned round;
    unsigned i;

    for (round = 0; round < ROUNDS / HELD; round++) {
        for (i = 0; i < HELD; i++) {
            held[i] = msp_network_record_take("call", *(int *)pe, &held[i], i);
        }
        for (i = 0; i < HELD; i++) {
            cr_assert_eq(held[i]->pe, *(int *)pe);
            cr_assert_eq(held[i]->dest, (char *)&held[i]);
            msp_network_record_give(held[i]);
        }
    }
    return NULL;
}

Test(records, threads)
{
    int pes[] = {0, 1, 2};
    pthread_t threads[3];
    unsigned i;

    for (i = 0; i < 3; i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, take_and_give, &pes[i]), 0);
    }
    for (i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    msp_network_record_close();
}
