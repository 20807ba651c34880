/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters: of allocators, memory spaces and devices, and of what their pools have free. Each is
 * held to what the test did. */

#include "api.h"
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

TestSuite(stats, .fini = in_order);

typedef memspan_allocator_stats_t stats_t;

static stats_t of_allocator(memspan_allocator_h allocator)
{
    stats_t stats = {.struct_size = sizeof(stats)};

    DONE(memspan_allocator_get_stats(allocator, &stats));
    cr_expect_eq(stats.struct_size, sizeof(stats));
    return stats;
}

static stats_t of_space(memspan_space_h space)
{
    stats_t stats = {.struct_size = sizeof(stats)};

    DONE(memspan_space_get_stats(space, &stats));
    return stats;
}

static stats_t of_device(int device)
{
    stats_t stats = {.struct_size = sizeof(stats)};

    DONE(memspan_device_get_stats(device, &stats));
    return stats;
}

static memspan_allocator_h make(memspan_space_h space, size_t pool_size)
{
    memspan_trait_t traits[] = {{MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB},
                                {MEMSPAN_TRAIT_POOL_SIZE, pool_size}};
    memspan_allocator_h made = MEMSPAN_ALLOCATOR_NULL;

    DONE(memspan_allocator_create(space, traits, (pool_size == 0) ? 1 : 2, &made));
    return made;
}

/* Nothing is free in less than all, nor the largest piece larger than all pieces. */
static void check_sense(const stats_t *s)
{
    double want =
        (s->free_bytes == 0) ? 0 : 1 - (double)s->largest_free_bytes / (double)s->free_bytes;

    cr_expect_leq(s->free_bytes, s->held_bytes);
    cr_expect_leq(s->largest_free_bytes, s->free_bytes);
    cr_expect((s->largest_free_bytes > 0) == (s->free_bytes > 0));
    cr_expect_float_eq(s->fragmentation, want, 1e-9);
    cr_expect_eq(s->allocated_count, s->freed_count + s->live_count);
}

Test(stats, an_allocator_s_own)
{
    memspan_allocator_h a = make(MEMSPAN_SPACE_DEFAULT, 10000);
    void *first           = memspan_alloc(a, 1000);
    void *second          = memspan_alloc(a, 3000);
    stats_t s             = of_allocator(a);

    cr_expect_eq(s.live_bytes, 4000);
    cr_expect_eq(s.live_count, 2);
    cr_expect_eq(s.peak_bytes, 4000);
    cr_expect_gt(s.charged_bytes, 4000);
    cr_expect_eq(memspan_alloc(a, 20000), NULL);
    DONE(memspan_free(first));
    s = of_allocator(a);
    cr_expect_eq(s.live_bytes, 3000);
    cr_expect_eq(s.peak_bytes, 4000);
    cr_expect_eq(s.allocated_count, 2);
    cr_expect_eq(s.freed_count, 1);
    cr_expect_eq(s.failed_count, 1);
    cr_expect_eq(s.fallback_count, 0);
    check_sense(&s);
    DONE(memspan_free(second));
    DONE(memspan_allocator_destroy(a));
}

/* What is in a block is not free, and a block that is freed is. */
Test(stats, free_bytes_are_those_in_no_block)
{
    enum { BLOCK = 100 << 10, BLOCKS = 20 };
    memspan_allocator_h a = make(MEMSPAN_SPACE_DEFAULT, 0);
    stats_t full, holes, empty;
    void *blocks[BLOCKS];

    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = memspan_alloc(a, BLOCK);
        cr_assert_neq(blocks[i], NULL);
    }
    full = of_allocator(a);
    check_sense(&full);
    cr_expect_geq(full.held_bytes, BLOCK * BLOCKS);
    cr_expect_leq(full.free_bytes, full.held_bytes - BLOCK * BLOCKS);

    /* Every second block: none of the holes joins another. */
    for (int i = 0; i < BLOCKS; i += 2) {
        DONE(memspan_free(blocks[i]));
    }
    holes = of_allocator(a);
    check_sense(&holes);
    cr_expect_geq(holes.free_bytes, full.free_bytes + BLOCK * BLOCKS / 2);
    cr_expect_leq(holes.free_bytes, holes.held_bytes - BLOCK * BLOCKS / 2);
    cr_expect_geq(holes.largest_free_bytes, BLOCK);
    cr_expect_gt(holes.fragmentation, 0, "%llu of %llu",
                 (unsigned long long)holes.largest_free_bytes,
                 (unsigned long long)holes.free_bytes);

    for (int i = 1; i < BLOCKS; i += 2) {
        DONE(memspan_free(blocks[i]));
    }
    (void)memspan_trim();
    empty = of_allocator(a);
    check_sense(&empty);
    cr_expect_lt(empty.held_bytes, full.held_bytes);
    DONE(memspan_allocator_destroy(a));
}

/* A block that is a chunk of its own leaves nothing free in it. */
Test(stats, a_very_large_block)
{
    enum { LARGE = 64 << 20 };
    memspan_allocator_h a = make(MEMSPAN_SPACE_DEFAULT, 0);
    void *block           = memspan_alloc(a, LARGE);
    stats_t s             = of_allocator(a);

    cr_expect_geq(s.held_bytes, LARGE);
    cr_expect_leq(s.free_bytes, s.held_bytes - LARGE);
    check_sense(&s);
    DONE(memspan_free(block));
    DONE(memspan_allocator_destroy(a));
}

Test(stats, a_space_sums_its_allocators)
{
    memspan_allocator_h a    = make(MEMSPAN_SPACE_LARGE_CAP, 0);
    memspan_allocator_h b    = make(MEMSPAN_SPACE_LARGE_CAP, 0);
    memspan_allocator_h gone = make(MEMSPAN_SPACE_LARGE_CAP, 0);
    memspan_allocator_h c    = make(MEMSPAN_SPACE_DEFAULT, 0);
    stats_t before           = of_space(MEMSPAN_SPACE_DEFAULT);
    void *blocks[] = {memspan_alloc(a, 1000), memspan_alloc(b, 2000), memspan_alloc(gone, 4000),
                      memspan_alloc(c, 8000)};
    stats_t s;

    DONE(memspan_allocator_destroy(gone));
    s = of_space(MEMSPAN_SPACE_LARGE_CAP);
    cr_expect_eq(s.live_bytes, 7000, "%llu", (unsigned long long)s.live_bytes);
    cr_expect_eq(s.live_count, 3);
    cr_expect_eq(s.allocated_count, 3);
    cr_expect_gt(s.held_bytes, 7000);
    /* They share one pool, which counts once. */
    cr_expect_eq(s.held_bytes, of_allocator(a).held_bytes);
    check_sense(&s);
    s = of_space(MEMSPAN_SPACE_DEFAULT);
    cr_expect_eq(s.live_bytes - before.live_bytes, 8000);
    cr_expect_eq(of_space(MEMSPAN_SPACE_CONST).held_bytes, 0);
    for (int i = 0; i < 4; i++) {
        DONE(memspan_free(blocks[i]));
    }
    cr_expect_eq(of_space(MEMSPAN_SPACE_LARGE_CAP).live_count, 0);
    DONE(memspan_allocator_destroy(a));
    DONE(memspan_allocator_destroy(b));
    DONE(memspan_allocator_destroy(c));
}

Test(stats, the_host_sums_what_is_of_the_host)
{
    memspan_allocator_h a = make(MEMSPAN_SPACE_LARGE_CAP, 0);
    memspan_allocator_h b = make(MEMSPAN_SPACE_DEFAULT, 0);
    void *first           = memspan_alloc(a, 1000);
    void *second          = memspan_alloc(b, 64 << 20);
    stats_t s             = of_device(MEMSPAN_HOST);
    stats_t all           = of_allocator(MEMSPAN_ALLOCATOR_NULL);

    cr_expect_eq(s.live_bytes, 1000 + (64 << 20));
    cr_expect_eq(s.live_count, 2);
    cr_expect_geq(s.held_bytes, s.live_bytes);
    cr_expect_eq(s.held_bytes, all.held_bytes);
    cr_expect_eq(of_device(memspan_host_device()).live_bytes, s.live_bytes);
    check_sense(&s);
    DONE(memspan_free(first));
    DONE(memspan_free(second));
    DONE(memspan_allocator_destroy(a));
    DONE(memspan_allocator_destroy(b));
}

/* What comes from a device's driver is that device's and not the host's. */
Test(stats, a_device_s_own)
{
    memspan_space_h space         = MEMSPAN_SPACE_NULL;
    int device                    = 0;
    memspan_allocator_info_t info = {.struct_size = sizeof(info)};
    memspan_allocator_h a;
    stats_t of_it, of_host;
    void *block;

    if (memspan_device_count() == 0) {
        cr_skip("no device");
    }
    DONE(memspan_space_get(&device, 1, MEMSPAN_SPACE_NULL, &space));
    a = make(space, 0);
    DONE(memspan_allocator_describe(a, &info));
    of_host = of_device(MEMSPAN_HOST);
    of_it   = of_device(info.home);
    block   = memspan_alloc(a, 10000);
    cr_assert_neq(block, NULL, "%s", memspan_error_text());
    cr_expect_eq(of_device(info.home).live_bytes, of_it.live_bytes + 10000);
    cr_expect_geq(of_device(info.home).held_bytes, 10000);
    if (info.home != MEMSPAN_HOST) {
        cr_expect_eq(of_device(MEMSPAN_HOST).live_bytes, of_host.live_bytes);
        cr_expect_eq(of_device(MEMSPAN_HOST).held_bytes, of_host.held_bytes);
    }
    cr_expect_eq(of_space(space).live_bytes, 10000);
    DONE(memspan_free(block));
    DONE(memspan_allocator_destroy(a));
}

Test(stats, nothing_was_allocated)
{
    stats_t s = of_device(MEMSPAN_HOST);

    cr_expect_eq(s.held_bytes, 0);
    cr_expect_eq(s.live_count, 0);
    cr_expect_eq(s.fragmentation, 0);
    cr_expect_eq(of_space(MEMSPAN_SPACE_DEFAULT).allocated_count, 0);
}

/* A program built against the first version gets the members it knows, and not a byte more. */
Test(stats, an_older_structure)
{
    union {
        stats_t stats;
        unsigned char bytes[sizeof(stats_t)];
    } old;
    size_t size = offsetof(stats_t, free_bytes);
    void *block = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 500);

    memset(&old, 0xab, sizeof(old));
    old.stats.struct_size = size;
    DONE(memspan_allocator_get_stats(MEMSPAN_ALLOCATOR_DEFAULT, &old.stats));
    cr_expect_eq(old.stats.live_bytes, 500);
    cr_expect_gt(old.stats.held_bytes, 0);
    for (size_t i = size; i < sizeof(old); i++) {
        cr_assert_eq(old.bytes[i], 0xab, "byte %zu", i);
    }
    DONE(memspan_free(block));
}

Test(stats, nowhere_and_of_nothing)
{
    stats_t none  = {0};
    stats_t stats = {.struct_size = sizeof(stats)};

    REFUSED(memspan_space_get_stats(MEMSPAN_SPACE_DEFAULT, NULL), MEMSPAN_ERR_INVALID, "NULL");
    REFUSED(memspan_space_get_stats(MEMSPAN_SPACE_DEFAULT, &none), MEMSPAN_ERR_INVALID,
            "struct_size");
    REFUSED(memspan_space_get_stats((memspan_space_h)12345, &stats), MEMSPAN_ERR_NOT_FOUND,
            "memory space");
    REFUSED(memspan_device_get_stats(MEMSPAN_HOST, NULL), MEMSPAN_ERR_INVALID, "NULL");
    REFUSED(memspan_device_get_stats(MEMSPAN_HOST, &none), MEMSPAN_ERR_INVALID, "struct_size");
    REFUSED(memspan_device_get_stats(NO_DEVICE, &stats), MEMSPAN_ERR_NOT_FOUND, "12345");
}

/* ---- the dump ---- */

static char text[16384];

static void print(void)
{
    int file = memfd_create("stats", 0);
    ssize_t n;

    cr_assert_geq(file, 0);
    DONE(memspan_stats_print(file));
    n = pread(file, text, sizeof(text) - 1, 0);
    cr_assert_gt(n, 0);
    text[n] = '\0';
    close(file);
}

/* The number after " name=" in the line that begins with @p start. */
static unsigned long long number(const char *start, const char *name)
{
    char *line = strstr(text, start);
    char word[64];
    char *at;

    cr_assert_neq(line, NULL, "no line %s in\n%s", start, text);
    snprintf(word, sizeof(word), " %s=", name);
    at = strstr(line, word);
    cr_assert_neq(at, NULL, "no %s in\n%s", name, line);
    cr_assert_lt(at, strchr(line, '\n'), "no %s in\n%s", name, line);
    return strtoull(at + strlen(word), NULL, 10);
}

/* A request that is refused after it was charged has never been live. */
static void check_refused(memspan_allocator_h a, int blocks)
{
    memspan_allocator_stats_t before;
    memspan_allocator_stats_t after;
    static void *taken[1000];
    void *last = NULL;
    int i;

    for (i = 0; i < blocks; i++) {
        last     = memspan_alloc(a, 100);
        taken[i] = last;
        cr_assert_neq(last, NULL);
    }
    before = of_allocator(a);
    cr_expect_eq(memspan_alloc(a, (size_t)1 << 50), NULL);
    cr_expect_eq(memspan_realloc(a, last, (size_t)1 << 50), NULL);
    after = of_allocator(a);
    cr_expect_eq(after.peak_bytes, before.peak_bytes, "%llu after %d blocks",
                 (unsigned long long)after.peak_bytes, blocks);
    cr_expect_eq(after.live_bytes, before.live_bytes);
    cr_expect_eq(memspan_free(last), MEMSPAN_OK);
    cr_expect_eq(of_allocator(a).peak_bytes, before.peak_bytes);
    while (--i > 0) {
        cr_expect_eq(memspan_free(taken[i - 1]), MEMSPAN_OK);
    }
}

Test(stats, refused_requests_are_no_peak)
{
    static const int counts[] = {1, 3, 1000};
    size_t i;

    for (i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        memspan_allocator_h a = MEMSPAN_ALLOCATOR_NULL;

        cr_assert_eq(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, NULL, 0, &a), MEMSPAN_OK);
        check_refused(a, counts[i]);
        cr_expect_eq(memspan_allocator_destroy(a), MEMSPAN_OK);
    }
    check_refused(MEMSPAN_ALLOCATOR_DEFAULT, 10);
}

/* A thread that allocates from a heap has set aside more of each size than it uses. */
static void expect_peak(uint64_t found, uint64_t live_bytes, unsigned sizes)
{
    enum { ASIDE = 16 * 2052 };

    cr_expect_geq(found, live_bytes);
    cr_expect_leq(found, live_bytes + (uint64_t)sizes * ASIDE);
}

/* A peak that is over before any counter was read, of an allocator that has its first blocks
 * and of one that has served many. */
Test(stats, a_peak_before_the_first_reading)
{
    for (int before = 0; before <= 300; before += 300) {
        memspan_allocator_h a = make(MEMSPAN_SPACE_DEFAULT, 0);
        void *blocks[20];
        stats_t s;

        for (int i = 0; i < before; i++) {
            DONE(memspan_free(memspan_alloc(a, 64)));
        }
        for (int i = 0; i < 20; i++) {
            blocks[i] = memspan_alloc(a, 1000);
        }
        for (int i = 0; i < 20; i++) {
            DONE(memspan_free(blocks[i]));
        }
        blocks[0] = memspan_alloc(a, 500);
        s         = of_allocator(a);
        expect_peak(s.peak_bytes, 20000, (before == 0) ? 0 : 3);
        cr_expect_eq(s.live_bytes, 500);
        for (int i = 1; i < 12; i++) {
            blocks[i] = memspan_alloc(a, 2000);
        }
        for (int i = 0; i < 12; i++) {
            DONE(memspan_free(blocks[i]));
        }
        expect_peak(of_allocator(a).peak_bytes, 22500, (before == 0) ? 0 : 4);
        DONE(memspan_allocator_destroy(a));
    }
}

/* Allocators that have ended are in the dump as well: by name, or together. */
Test(stats, destroyed_allocators_are_in_the_dump)
{
    memspan_trait_t pinned        = {MEMSPAN_TRAIT_PARTITION, MEMSPAN_VALUE_INTERLEAVED};
    memspan_allocator_info_t info = {.struct_size = sizeof(info)};
    memspan_allocator_h a;
    void *block;

    for (int i = 0; i < 5; i++) {
        DONE(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, &pinned, 1, &a));
        if (i < 3) {
            DONE(memspan_allocator_set_name(a, "halo"));
            DONE(memspan_allocator_describe(a, &info));
            cr_expect_str_eq(info.name, "halo");
        }
        block = memspan_alloc(a, 3 << 20);
        if (i == 0) {
            print();
            cr_expect_eq(number("memspan stats halo ", "live_bytes"), 3 << 20);
            cr_expect(strstr(strstr(text, "memspan stats halo "), "live_bytes=3145728 (3 MiB)") !=
                          NULL,
                      "%s", text);
        }
        if (i == 2) {
            DONE(memspan_allocator_destroy(a)); /* ends with its block */
            DONE(memspan_free(block));
        } else {
            DONE(memspan_free(block));
            DONE(memspan_allocator_destroy(a));
        }
    }
    print();
    cr_expect_eq(number("memspan stats halo ", "allocated"), 3);
    cr_expect_eq(number("memspan stats halo ", "destroyed"), 3);
    cr_expect_eq(number("memspan stats halo ", "peak_bytes"), 9 << 20);
    cr_expect_eq(number("memspan stats destroyed kind=host ", "allocated"), 2);
    cr_expect_eq(number("memspan stats destroyed kind=host ", "destroyed"), 2);
    cr_expect_eq(number("memspan stats all ", "allocated"), 5);
}

Test(stats, names)
{
    memspan_allocator_h a         = make(MEMSPAN_SPACE_DEFAULT, 0);
    memspan_allocator_info_t info = {.struct_size = sizeof(info)};

    DONE(memspan_allocator_set_name(a, "solver/left:2"));
    DONE(memspan_allocator_set_name(a, "a-name_of.31+characters/exactly"));
    DONE(memspan_allocator_describe(a, &info));
    cr_expect_str_eq(info.name, "a-name_of.31+characters/exactly");
    REFUSED(memspan_allocator_set_name(a, "a-name_of.32+characters/exactly."), MEMSPAN_ERR_INVALID,
            "name");
    REFUSED(memspan_allocator_set_name(a, "two words"), MEMSPAN_ERR_INVALID, "two words");
    REFUSED(memspan_allocator_set_name(a, "a\"b"), MEMSPAN_ERR_INVALID, "name");
    REFUSED(memspan_allocator_set_name(a, NULL), MEMSPAN_ERR_INVALID, "NULL");
    DONE(memspan_allocator_describe(a, &info));
    cr_expect_str_eq(info.name, "a-name_of.31+characters/exactly", "a refusal changes nothing");
    DONE(memspan_allocator_set_name(a, ""));
    DONE(memspan_allocator_describe(a, &info));
    cr_expect_str_eq(info.name, "");
    DONE(memspan_allocator_describe(MEMSPAN_ALLOCATOR_DEFAULT, &info));
    cr_expect_str_eq(info.name, "omp_default_mem_alloc");
    REFUSED(memspan_allocator_set_name(MEMSPAN_ALLOCATOR_DEFAULT, "mine"), MEMSPAN_ERR_INVALID,
            "predefined");
    DONE(memspan_allocator_destroy(a));
    REFUSED(memspan_allocator_set_name(a, "late"), MEMSPAN_ERR_NOT_FOUND, "allocator");
}

Test(stats, the_dump_says_the_same)
{
    memspan_allocator_h a   = make(MEMSPAN_SPACE_DEFAULT, 0);
    void *block             = memspan_alloc(a, 5000);
    void *large             = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 64 << 20);
    stats_t all             = of_allocator(MEMSPAN_ALLOCATOR_NULL);
    unsigned long long held = 0;
    unsigned lines          = 0;

    print();
    cr_expect_eq(number("memspan stats allocator:", "live_bytes"), 5000);
    cr_expect_eq(number("memspan stats omp_default_mem_alloc", "live_bytes"), 64 << 20);
    cr_expect_eq(number("memspan stats all ", "live_bytes"), all.live_bytes);
    cr_expect_eq(number("memspan stats all ", "held_bytes"), all.held_bytes);
    cr_expect_eq(number("memspan stats all ", "free_bytes"), all.free_bytes);
    cr_expect_eq(number("memspan stats all ", "largest_free_bytes"), all.largest_free_bytes);
    for (char *line = strstr(text, "memspan stats provider:"); line != NULL;
         line       = strstr(line + 1, "memspan stats provider:")) {
        held += number(line, "held_bytes");
        lines++;
    }
    cr_expect_geq(lines, 1);
    cr_expect_eq(held, all.held_bytes);
    DONE(memspan_free(block));
    DONE(memspan_free(large));
    DONE(memspan_allocator_destroy(a));
}
