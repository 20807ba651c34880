/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies, fills and prefetches, at every small offset, between every two kinds. */

#include "conform.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 8192 };

/* host -> device -> device -> host, at odd places; the bytes around stay as they were. */
static void check_round_trip(const struct conform_memory *m, unsigned char *near,
                             unsigned char *far, size_t offset, size_t size)
{
    static unsigned char out[ROOM];
    static unsigned char back[ROOM];
    size_t far_offset = (offset * 7) % 64 + 1;

    for (size_t i = 0; i < size; i++) {
        out[offset + i] = conform_byte((unsigned)offset, i);
    }
    memset(back, 0x5a, sizeof(back));
    CHECK_OK(memspan_fill(near, 0xee, ROOM));
    CHECK_OK(memspan_fill(far, 0xdd, ROOM));
    CHECK_OK(memspan_copy(near + offset, out + offset, size));
    CHECK_OK(memspan_copy(far + far_offset, near + offset, size));
    CHECK_OK(memspan_copy(back + offset, far + far_offset - 1, size + 2));
    CHECK_BYTES(back[offset] == 0xdd, "%s: the byte before", memspan_kind_name(m->kind));
    CHECK_BYTES(back[offset + size + 1] == 0xdd, "%s: the byte after", memspan_kind_name(m->kind));
    CHECK_BYTES(memcmp(back + offset + 1, out + offset, size) == 0, "%s: %zu bytes at %zu and %zu",
                memspan_kind_name(m->kind), size, offset, far_offset);
    CHECK_BYTES(back[offset - 1] == 0x5a && back[offset + size + 2] == 0x5a);
}

static void copies_at_odd_places(void)
{
    static const size_t sizes[] = {1, 2, 3, 7, 8, 9, 63, 64, 65, 511, 4095, 4097, 7777};
    struct conform_memory m;

    for (int k = 0; conform_kind(k, &m); k++) {
        unsigned char *near = memspan_alloc(m.allocator, ROOM);
        unsigned char *far  = memspan_alloc(m.allocator, ROOM);

        CHECK((near != NULL) && (far != NULL));
        for (size_t offset = 1; offset <= 64; offset++) {
            check_round_trip(&m, near, far, offset, sizes[offset % 13]);
        }
        CHECK_OK(memspan_free(near));
        CHECK_OK(memspan_free(far));
        conform_done(&m);
    }
}

static void copies_between_kinds(void)
{
    struct conform_memory from;
    struct conform_memory to;

    for (int i = 0; conform_kind(i, &from); i++) {
        void *source = memspan_alloc(from.allocator, 70001);

        CHECK(source != NULL);
        conform_write(&from, source, 70001, 1);
        for (int j = 0; conform_kind(j, &to); j++) {
            void *target = memspan_alloc(to.allocator, 70001);

            CHECK(target != NULL);
            conform_write(&to, target, 70001, 2);
            CHECK_OK(memspan_copy(target, source, 70001));
            CHECK_BYTES(conform_holds(&to, target, 70001, 1), "%s to %s",
                        memspan_kind_name(from.kind), memspan_kind_name(to.kind));
            CHECK_OK(memspan_free(target));
            conform_done(&to);
        }
        CHECK_BYTES(conform_holds(&from, source, 70001, 1));
        CHECK_OK(memspan_free(source));
        conform_done(&from);
    }
}

static void a_large_copy(void)
{
    const size_t size = ((size_t)9 << 20) + 3;
    struct conform_memory m;

    for (int k = 0; conform_kind(k, &m); k++) {
        unsigned char *block = memspan_alloc(m.allocator, size);
        unsigned char *host  = malloc(size);

        CHECK((block != NULL) && (host != NULL));
        for (size_t i = 0; i < size; i++) {
            host[i] = conform_byte(17, i);
        }
        CHECK_OK(memspan_copy(block, host, size));
        memset(host, 0, size);
        CHECK_OK(memspan_copy(host, block, size));
        for (size_t i = 0; i < size; i++) {
            CHECK_BYTES(host[i] == conform_byte(17, i), "%s: byte %zu", memspan_kind_name(m.kind),
                        i);
        }
        free(host);
        CHECK_OK(memspan_free(block));
        conform_done(&m);
    }
}

/* Blocks of host -> device -> device -> host, each with other strides; what is between stays. */
static void check_blocks(const struct conform_memory *m, unsigned char *near, unsigned char *far,
                         size_t block_bytes, size_t block_count)
{
    static unsigned char out[ROOM];
    static unsigned char back[ROOM];
    size_t wide   = block_bytes + 5;
    size_t narrow = block_bytes + 1;

    for (size_t i = 0; i < ROOM; i++) {
        out[i] = conform_byte((unsigned)block_bytes, i);
    }
    CHECK_OK(memspan_fill(near, 0xee, ROOM));
    CHECK_OK(memspan_fill(far, 0xdd, ROOM));
    CHECK_OK(memspan_copy_blocks(near + 3, wide, out, block_bytes, block_bytes, block_count));
    CHECK_OK(memspan_copy_blocks(far + 1, narrow, near + 3, wide, block_bytes, block_count));
    CHECK_OK(memspan_copy(back, near, ROOM));
    CHECK_BYTES((back[2] == 0xee) && (back[3 + block_bytes] == 0xee), "%zu bytes", block_bytes);
    memset(back, 0x5a, ROOM);
    CHECK_OK(memspan_copy_blocks(back, wide, far + 1, narrow, block_bytes, block_count));
    for (size_t i = 0; i < wide * (block_count - 1) + block_bytes; i++) {
        size_t block         = i / wide;
        size_t at            = i % wide;
        unsigned char wanted = (at < block_bytes) ? out[block * block_bytes + at] : 0x5a;

        CHECK_BYTES(back[i] == wanted, "%s: byte %zu of blocks of %zu is %d",
                    memspan_kind_name(m->kind), i, block_bytes, back[i]);
    }
}

static void blocks_keep_their_gaps(void)
{
    static unsigned char host[ROOM];
    struct conform_memory m;

    for (int k = 0; conform_kind(k, &m); k++) {
        unsigned char *near = memspan_alloc(m.allocator, ROOM);
        unsigned char *far  = memspan_alloc(m.allocator, ROOM);

        CHECK((near != NULL) && (far != NULL));
        check_blocks(&m, near, far, 1, 1);
        check_blocks(&m, near, far, 1, 200);
        check_blocks(&m, near, far, 8, 61);
        check_blocks(&m, near, far, 1001, 8);
        CHECK_OK(memspan_copy_blocks(near, 0, host, 0, 16, 0));
        CHECK_OK(memspan_copy_blocks(near, 0, host, 0, 16, 1));
        CHECK_STATUS(memspan_copy_blocks(near, 15, host, 16, 16, 2), MEMSPAN_ERR_INVALID);
        CHECK_STATUS(memspan_copy_blocks(near, 16, host, SIZE_MAX / 2, 16, 4), MEMSPAN_ERR_INVALID);
        CHECK_STATUS(memspan_copy_blocks(near, ROOM / 4, host, 16, 16, 5), MEMSPAN_ERR_INVALID);
        CHECK_OK(memspan_free(near));
        CHECK_OK(memspan_free(far));
        conform_done(&m);
    }
}

static void fills_touch_only_their_range(void)
{
    unsigned char bytes[2000];
    struct conform_memory m;

    for (int k = 0; conform_kind(k, &m); k++) {
        unsigned char *block = memspan_alloc(m.allocator, sizeof(bytes));

        CHECK(block != NULL);
        for (size_t offset = 0; offset <= 64; offset += 9) {
            size_t size = 1000 + offset * 3;

            CHECK_OK(memspan_fill(block, 0x11, sizeof(bytes)));
            CHECK_OK(memspan_fill(block + offset, 0xa5, size));
            conform_read(&m, bytes, block, sizeof(bytes));
            for (size_t i = 0; i < sizeof(bytes); i++) {
                bool inside = (i >= offset) && (i < offset + size);

                CHECK_BYTES(bytes[i] == (inside ? 0xa5 : 0x11), "%s: byte %zu, fill at %zu of %zu",
                            memspan_kind_name(m.kind), i, offset, size);
            }
        }
        CHECK_OK(memspan_free(block));
        conform_done(&m);
    }
}

static void nothing_is_nothing(void)
{
    struct conform_memory m;
    char byte = 1;

    for (int k = 0; conform_kind(k, &m); k++) {
        char *block = memspan_alloc(m.allocator, 16);

        CHECK(block != NULL);
        CHECK_OK(memspan_fill(block, 7, 16));
        CHECK_OK(memspan_copy(block, &byte, 0));
        CHECK_OK(memspan_fill(block, 9, 0));
        CHECK_OK(memspan_copy(&byte, block + 3, 1));
        CHECK_BYTES(byte == 7);
        CHECK_OK(memspan_free(block));
        conform_done(&m);
    }
}

static void ranges_past_the_block_are_refused(void)
{
    static char buffer[300];
    struct conform_memory m;

    for (int k = 0; conform_kind(k, &m); k++) {
        char *block = memspan_alloc(m.allocator, 100);

        CHECK(block != NULL);
        CHECK_STATUS(memspan_copy(block, buffer, 101), MEMSPAN_ERR_INVALID);
        CHECK_STATUS(memspan_copy(buffer, block, 101), MEMSPAN_ERR_INVALID);
        CHECK_STATUS(memspan_copy(block + 60, buffer, 41), MEMSPAN_ERR_INVALID);
        CHECK_STATUS(memspan_fill(block, 0, 101), MEMSPAN_ERR_INVALID);
        CHECK_STATUS(memspan_fill(block + 1, 0, SIZE_MAX), MEMSPAN_ERR_INVALID);
        CHECK_STATUS(memspan_copy(NULL, block, 1), MEMSPAN_ERR_INVALID);
        CHECK_STATUS(memspan_copy(block, NULL, 1), MEMSPAN_ERR_INVALID);
        CHECK_STATUS(memspan_fill(NULL, 0, 1), MEMSPAN_ERR_INVALID);
        CHECK_OK(memspan_copy(block + 60, buffer, 40));
        CHECK_OK(memspan_free(block));
        conform_done(&m);
    }
}

static void prefetch_moves_or_says_why_not(void)
{
    struct conform_memory m;

    for (int k = 0; conform_kind(k, &m); k++) {
        void *block = memspan_alloc(m.allocator, 100000);
        memspan_status_t status;

        CHECK(block != NULL);
        conform_write(&m, block, 100000, 6);
        status = memspan_prefetch(block, 100000, conform_device()->number);
        CHECK((status == MEMSPAN_OK) || (status == MEMSPAN_ERR_UNSUPPORTED), "%s: %s",
              memspan_kind_name(m.kind), memspan_status_name(status));
        CHECK((status == MEMSPAN_OK) || (memspan_error_last()->message[0] != '\0'));
        CHECK((m.kind != MEMSPAN_KIND_MANAGED) || (status == MEMSPAN_OK) ||
              !conform_can(MEMSPAN_CAN_PREFETCH));
        conform_wait();
        status = memspan_prefetch(block, 100000, MEMSPAN_HOST);
        CHECK((status == MEMSPAN_OK) || (status == MEMSPAN_ERR_UNSUPPORTED));
        conform_wait();
        CHECK_BYTES(conform_holds(&m, block, 100000, 6), "nothing is lost");
        CHECK_OK(memspan_free(block));
        conform_done(&m);
    }
}

const struct conform_case conform_transfer_cases[] = {
    {"copies_at_odd_places", copies_at_odd_places},
    {"copies_between_kinds", copies_between_kinds},
    {"a_large_copy", a_large_copy},
    {"blocks_keep_their_gaps", blocks_keep_their_gaps},
    {"fills_touch_only_their_range", fills_touch_only_their_range},
    {"nothing_is_nothing", nothing_is_nothing},
    {"ranges_past_the_block_are_refused", ranges_past_the_block_are_refused},
    {"prefetch_moves_or_says_why_not", prefetch_moves_or_says_why_not},
    {NULL, NULL},
};
