/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of every kind that the device offers: taken, written, read back, given back. */

#include "conform.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t sizes[] = {1,
                               2,
                               7,
                               8,
                               15,
                               16,
                               17,
                               63,
                               64,
                               100,
                               1000,
                               4095,
                               4096,
                               4097,
                               65535,
                               65536,
                               100003,
                               (size_t)1 << 20,
                               ((size_t)5 << 20) + 12345};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static void sizes_of_all_sorts(void)
{
    struct conform_memory m;
    void *blocks[SIZES];

    for (int k = 0; conform_kind(k, &m); k++) {
        for (size_t i = 0; i < SIZES; i++) {
            blocks[i] = memspan_alloc(m.allocator, sizes[i]);
            CHECK(blocks[i] != NULL, "%s: %zu bytes", memspan_kind_name(m.kind), sizes[i]);
            CHECK((uintptr_t)blocks[i] % 16 == 0, "%s: at least 16", memspan_kind_name(m.kind));
            conform_write(&m, blocks[i], sizes[i], (unsigned)i);
        }
        /* All at once, so that a block that overlaps another would show. */
        for (size_t i = 0; i < SIZES; i++) {
            CHECK_BYTES(conform_holds(&m, blocks[i], sizes[i], (unsigned)i), "%s: %zu bytes",
                        memspan_kind_name(m.kind), sizes[i]);
        }
        for (size_t i = 0; i < SIZES; i++) {
            CHECK_OK(memspan_free(blocks[i]));
        }
        conform_done(&m);
    }
}

static void many_small_blocks(void)
{
    enum { COUNT = 500 };
    struct conform_memory m;
    void *blocks[COUNT];

    for (int k = 0; conform_kind(k, &m); k++) {
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < COUNT; i++) {
                size_t size = 1 + (size_t)(i * 37 + round) % 300;

                blocks[i] = memspan_alloc(m.allocator, size);
                CHECK(blocks[i] != NULL);
                conform_write(&m, blocks[i], size, (unsigned)i);
            }
            for (int i = 0; i < COUNT; i++) {
                /* every second one first, so that neighbours are reused in between */
                int j       = (i < COUNT / 2) ? 2 * i : 2 * (i - COUNT / 2) + 1;
                size_t size = 1 + (size_t)(j * 37 + round) % 300;

                CHECK_BYTES(conform_holds(&m, blocks[j], size, (unsigned)j));
                CHECK_OK(memspan_free(blocks[j]));
            }
        }
        conform_done(&m);
    }
}

static void freed_memory_is_used_again(void)
{
    struct conform_memory m;

    for (int k = 0; conform_kind(k, &m); k++) {
        memspan_allocator_stats_t first = {0};

        for (int i = 0; i < 200; i++) {
            void *block = memspan_alloc(m.allocator, (size_t)256 << 10);

            CHECK(block != NULL);
            CHECK_OK(memspan_free(block));
            if (i == 0) {
                first = conform_stats(m.allocator);
            }
        }
        CHECK(conform_stats(m.allocator).held_bytes <= first.held_bytes,
              "%s: %llu bytes held, then %llu", memspan_kind_name(m.kind),
              (unsigned long long)first.held_bytes,
              (unsigned long long)conform_stats(m.allocator).held_bytes);
        conform_done(&m);
    }
}

static void alignments(void)
{
    static const size_t aligns[] = {1, 8, 16, 32, 64, 128, 256, 1024, 4096, 65536, (size_t)2 << 20};
    enum { ALIGNS = sizeof(aligns) / sizeof(aligns[0]) };
    struct conform_memory m;

    for (int k = 0; conform_kind(k, &m); k++) {
        for (size_t i = 0; i < ALIGNS; i++) {
            void *odd   = memspan_alloc(m.allocator, 24);
            void *block = memspan_aligned_alloc(m.allocator, aligns[i], 100);

            CHECK((odd != NULL) && (block != NULL), "%s: alignment %zu", memspan_kind_name(m.kind),
                  aligns[i]);
            CHECK((uintptr_t)block % aligns[i] == 0, "%s: %p on %zu", memspan_kind_name(m.kind),
                  block, aligns[i]);
            conform_write(&m, block, 100, 5);
            CHECK_BYTES(conform_holds(&m, block, 100, 5));
            CHECK_OK(memspan_free(block));
            CHECK_OK(memspan_free(odd));
        }
        conform_done(&m);
    }
}

static void alignment_trait(void)
{
    memspan_space_h space = conform_own_space();

    for (size_t align = 1; align <= 4096; align *= 8) {
        memspan_trait_t trait         = {MEMSPAN_TRAIT_ALIGNMENT, align};
        memspan_allocator_h allocator = conform_allocator(space, &trait, 1);
        memspan_allocator_info_t info = {.struct_size = sizeof(info)};
        void *a                       = memspan_alloc(allocator, 3);
        void *b                       = memspan_calloc(allocator, 3, 5);

        CHECK((a != NULL) && (b != NULL));
        CHECK(((uintptr_t)a % align == 0) && ((uintptr_t)b % align == 0));
        CHECK_OK(memspan_allocator_describe(allocator, &info));
        CHECK(info.align_bytes >= align);
        CHECK_OK(memspan_free(a));
        CHECK_OK(memspan_free(b));
        CHECK_OK(memspan_allocator_destroy(allocator));
    }
}

static void zero_bytes_are_nothing(void)
{
    struct conform_memory m;

    for (int k = 0; conform_kind(k, &m); k++) {
        CHECK(memspan_alloc(m.allocator, 0) == NULL);
        CHECK(memspan_aligned_alloc(m.allocator, 64, 0) == NULL);
        CHECK(memspan_calloc(m.allocator, 0, 8) == NULL);
        CHECK(memspan_calloc(m.allocator, 8, 0) == NULL);
        CHECK(conform_stats(m.allocator).allocated_count == 0);
        conform_done(&m);
    }
}

static void impossible_sizes_are_refused(void)
{
    static const size_t huge[] = {SIZE_MAX, SIZE_MAX - 15, SIZE_MAX - 4096, SIZE_MAX / 2,
                                  (size_t)1 << 62};
    struct conform_memory m;

    for (int k = 0; conform_kind(k, &m); k++) {
        for (size_t i = 0; i < sizeof(huge) / sizeof(huge[0]); i++) {
            memspan_error_clear();
            CHECK(memspan_alloc(m.allocator, huge[i]) == NULL);
            CHECK(memspan_error_last()->status != MEMSPAN_OK);
            CHECK(memspan_error_last()->message[0] != '\0');
            CHECK(memspan_aligned_alloc(m.allocator, 4096, huge[i]) == NULL);
        }
        CHECK(memspan_calloc(m.allocator, SIZE_MAX / 2, 3) == NULL);
        CHECK(memspan_calloc(m.allocator, (size_t)1 << 33, (size_t)1 << 33) == NULL);
        CHECK(memspan_aligned_alloc(m.allocator, (size_t)1 << 63, 64) == NULL);
        CHECK(conform_stats(m.allocator).live_bytes == 0);
        CHECK(conform_stats(m.allocator).failed_count > 0);
        conform_done(&m);
    }
}

static void more_than_there_is(void)
{
    const memspan_device_info_t *d = &conform_device()->info;
    memspan_device_info_t host     = {.struct_size = sizeof(host)};
    uint64_t most                  = d->alloc_max_bytes;
    struct conform_memory m;

    if ((d->alloc_max_bytes == MEMSPAN_UNKNOWN) || (d->alloc_max_bytes > SIZE_MAX / 4)) {
        conform_skip("the driver names no largest allocation");
    }
    /* Some kinds of a device's memory are the host's. */
    CHECK_OK(memspan_device_describe(MEMSPAN_HOST, &host));
    if ((host.capacity_bytes != MEMSPAN_UNKNOWN) && (host.capacity_bytes > most)) {
        most = host.capacity_bytes;
    }
    for (int k = 0; conform_kind(k, &m); k++) {
        if (m.kind == MEMSPAN_KIND_HOST) {
            conform_done(&m);
            continue; /* the system may promise more host memory than there is */
        }
        memspan_error_clear();
        CHECK(memspan_alloc(m.allocator, (size_t)most * 4) == NULL);
        CHECK(memspan_error_last()->status == MEMSPAN_ERR_NO_MEMORY ||
                  memspan_error_last()->status == MEMSPAN_ERR_LIMIT,
              "%s", memspan_status_name(memspan_error_last()->status));
        conform_done(&m);
    }
}

static void calloc_is_zero(void)
{
    struct conform_memory m;
    unsigned char bytes[5000];

    for (int k = 0; conform_kind(k, &m); k++) {
        for (int round = 0; round < 3; round++) {
            size_t size          = (round == 1) ? 64 : sizeof(bytes);
            unsigned char *block = memspan_calloc(m.allocator, size / 8, 8);

            CHECK(block != NULL);
            conform_read(&m, bytes, block, size);
            for (size_t i = 0; i < size; i++) {
                CHECK_BYTES(bytes[i] == 0, "%s: byte %zu", memspan_kind_name(m.kind), i);
            }
            CHECK_OK(memspan_fill(block, 0xff, size)); /* dirty for the next round */
            CHECK_OK(memspan_free(block));
        }
        conform_done(&m);
    }
}

static void realloc_keeps_contents(void)
{
    static const size_t steps[] = {1, 100, 90, 4000, 5000, 300000, 100, 2000000, 17};
    enum { STEPS = sizeof(steps) / sizeof(steps[0]) };
    struct conform_memory m;

    for (int k = 0; conform_kind(k, &m); k++) {
        unsigned char *block = memspan_realloc(m.allocator, NULL, steps[0]);

        CHECK(block != NULL);
        conform_write(&m, block, steps[0], 9);
        for (size_t i = 1; i < STEPS; i++) {
            size_t kept = (steps[i] < steps[i - 1]) ? steps[i] : steps[i - 1];

            block = memspan_realloc(MEMSPAN_ALLOCATOR_NULL, block, steps[i]);
            CHECK(block != NULL);
            CHECK_BYTES(conform_holds(&m, block, kept, 9), "%s: %zu to %zu",
                        memspan_kind_name(m.kind), steps[i - 1], steps[i]);
            CHECK(conform_stats(m.allocator).live_bytes == steps[i]);
            conform_write(&m, block, steps[i], 9);
        }
        CHECK(memspan_realloc(m.allocator, block, 0) == NULL);
        CHECK(conform_stats(m.allocator).live_count == 0);
        conform_done(&m);
    }
}

/* In place where the pool has room behind the block; copied seldom where it has none. */
static void realloc_in_steps_moves_seldom(void)
{
    enum { STEP = 64 << 10, STEPS = 80, KEPT = 5000 };
    struct conform_memory m;

    for (int k = 0; conform_kind(k, &m); k++) {
        char *block = memspan_alloc(m.allocator, STEP);
        int moves   = 0;

        CHECK(block != NULL);
        conform_write(&m, block, KEPT, 11);
        for (int i = 2; i <= STEPS; i++) {
            char *now = memspan_realloc(m.allocator, block, (size_t)i * STEP);

            if (now == NULL) { /* a small device, or a limit on locked pages */
                break;
            }
            moves += (now != block);
            block = now;
        }
        CHECK_BYTES(conform_holds(&m, block, KEPT, 11), "%s", memspan_kind_name(m.kind));
        CHECK(moves <= STEPS / 2, "%s: %d moves in %d steps", memspan_kind_name(m.kind), moves,
              STEPS);
        CHECK_OK(memspan_free(block));
        conform_done(&m);
    }
}

static void realloc_that_fails_changes_nothing(void)
{
    struct conform_memory m;

    for (int k = 0; conform_kind(k, &m); k++) {
        void *block = memspan_alloc(m.allocator, 1000);

        CHECK(block != NULL);
        conform_write(&m, block, 1000, 3);
        CHECK(memspan_realloc(m.allocator, block, SIZE_MAX / 2) == NULL);
        CHECK_BYTES(conform_holds(&m, block, 1000, 3));
        CHECK(conform_stats(m.allocator).live_bytes == 1000);
        CHECK_OK(memspan_free(block));
        conform_done(&m);
    }
}

static void realloc_moves_between_allocators(void)
{
    struct conform_memory m;

    for (int k = 0; conform_kind(k, &m); k++) {
        struct conform_memory host = {.kind = MEMSPAN_KIND_HOST,
                                      .host = {MEMSPAN_ACCESS_LOCAL, MEMSPAN_COHERENCE_ATOMIC}};
        void *block                = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 3000);

        CHECK(block != NULL);
        conform_write(&host, block, 3000, 21);
        block = memspan_realloc(m.allocator, block, 5000);
        CHECK(block != NULL);
        CHECK(conform_stats(m.allocator).live_bytes == 5000);
        CHECK_BYTES(conform_holds(&m, block, 3000, 21));
        block = memspan_realloc(MEMSPAN_ALLOCATOR_DEFAULT, block, 2000);
        CHECK(block != NULL);
        CHECK(conform_stats(m.allocator).live_bytes == 0);
        CHECK_BYTES(conform_holds(&host, block, 2000, 21));
        CHECK_OK(memspan_free(block));
        conform_done(&m);
    }
}

static void live_memory_survives_its_allocator(void)
{
    struct conform_memory m;

    for (int k = 0; conform_kind(k, &m); k++) {
        void *block = memspan_alloc(m.allocator, 777);

        CHECK(block != NULL);
        conform_write(&m, block, 777, 4);
        CHECK_OK(memspan_allocator_destroy(m.allocator));
        CHECK(memspan_alloc(m.allocator, 16) == NULL, "a destroyed handle");
        CHECK_BYTES(conform_holds(&m, block, 777, 4));
        CHECK_OK(memspan_free(block));
    }
}

static void trim_gives_back(void)
{
    struct conform_memory m;

    for (int k = 0; conform_kind(k, &m); k++) {
        void *block = memspan_alloc(m.allocator, (size_t)3 << 20);
        void *kept  = memspan_alloc(m.allocator, 100);
        uint64_t held;

        CHECK((block != NULL) && (kept != NULL));
        conform_write(&m, kept, 100, 8);
        CHECK_OK(memspan_free(block));
        held = conform_stats(m.allocator).held_bytes;
        (void)memspan_trim();
        CHECK(conform_stats(m.allocator).held_bytes <= held);
        CHECK_BYTES(conform_holds(&m, kept, 100, 8), "trim touches nothing that is in use");
        CHECK_OK(memspan_free(kept));
        (void)memspan_trim();
        CHECK(conform_stats(m.allocator).held_bytes == 0, "%s: %llu bytes held after trim",
              memspan_kind_name(m.kind), (unsigned long long)conform_stats(m.allocator).held_bytes);
        block = memspan_alloc(m.allocator, 100);
        CHECK(block != NULL, "and there is more to be had");
        CHECK_OK(memspan_free(block));
        conform_done(&m);
    }
}

static uint64_t held_by(memspan_allocator_h allocator, uint64_t before)
{
    uint64_t held = conform_stats(allocator).held_bytes;

    return (held > before) ? held - before : 0;
}

/* A driver's memory is there when it is taken: large blocks cost what they are. */
static void large_blocks_take_little_more_than_their_size(void)
{
    static const size_t tenths[] = {10, 13, 20, 37, 40, 80, 93, 160, 215, 310}; /* of a MiB */
    struct conform_memory m;

    for (int k = 0; conform_kind(k, &m); k++) {
        (void)memspan_trim();
        for (size_t i = 0; (m.kind != MEMSPAN_KIND_HOST) && (i < sizeof(tenths) / sizeof(*tenths));
             i++) {
            size_t size = tenths[i] * 1048576 / 10;
            bool power  = (tenths[i] % 10 == 0) && ((tenths[i] / 10 & (tenths[i] / 10 - 1)) == 0);
            size_t most = size + size / (power ? 20 : 10);
            uint64_t before = conform_stats(m.allocator).held_bytes;
            void *blocks[3];
            int count;
            uint64_t held;

            for (count = 0; count < 3; count++) {
                blocks[count] = memspan_alloc(m.allocator, size);
                if (blocks[count] == NULL) { /* a small device */
                    break;
                }
                held = held_by(m.allocator, before);
                CHECK(held <= most * ((size_t)count + 1), "%s: %llu bytes for %d of %zu",
                      memspan_kind_name(m.kind), (unsigned long long)held, count + 1, size);
            }
            held = held_by(m.allocator, before);
            if (count > 0) { /* the place of one that was freed serves the next */
                CHECK_OK(memspan_free(blocks[count - 1]));
                blocks[count - 1] = memspan_alloc(m.allocator, size);
                CHECK(blocks[count - 1] != NULL);
                CHECK(held_by(m.allocator, before) <= held, "%s: %zu bytes are taken again",
                      memspan_kind_name(m.kind), size);
            }
            while (count > 0) {
                CHECK_OK(memspan_free(blocks[--count]));
            }
            (void)memspan_trim();
        }
        conform_done(&m);
    }
}

/* Of the mapping that holds @p address: whether it is memory of this process alone, and whether
 * huge pages are advised. */
static bool read_mapping(const void *address, bool *own_p, bool *advised_p)
{
    FILE *file  = fopen("/proc/self/smaps", "re");
    bool within = false;
    bool found  = false;
    char line[512];

    *own_p = false;
    while ((file != NULL) && !found && (fgets(line, sizeof(line), file) != NULL)) {
        unsigned long from;
        unsigned long to;
        unsigned long inode;

        if (sscanf(line, "%lx-%lx %*s %*x %*s %lu", &from, &to, &inode) == 3) {
            within = ((uintptr_t)address >= from) && ((uintptr_t)address < to);
            *own_p = within ? (inode == 0) : *own_p;
        }
        found = within && (strncmp(line, "VmFlags:", 8) == 0);
    }
    *advised_p = found && (strstr(line, " hg") != NULL);
    if (file != NULL) {
        (void)fclose(file);
    }
    return found;
}

/* The second of two blocks, the first of which was filled; NULL without memory. */
static char *take_after_full(const struct conform_memory *m, size_t size_bytes)
{
    char *block = memspan_alloc(m->allocator, size_bytes);

    if (block != NULL) {
        memset(block, 1, size_bytes);
        CHECK_OK(memspan_free(block));
        block = memspan_alloc(m->allocator, size_bytes);
    }
    return block;
}

/* Filling what is the host's own takes as long whichever kind it is: huge pages are advised. */
static void large_memory_has_huge_pages(void)
{
    const char *backend = conform_device()->info.backend;
    FILE *setting       = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "re");
    struct conform_memory m;
    int looked_at = 0;

    if (setting == NULL) {
        conform_skip("this kernel has no transparent huge pages");
    }
    (void)fclose(setting);
    if ((strcmp(backend, "host") != 0) && (strcmp(backend, "opencl") != 0) &&
        (strcmp(backend, "openmp") != 0)) {
        conform_skip("the memory of %s is its driver's", backend);
    }
    for (int k = 0; conform_kind(k, &m); k++) {
        char *block = conform_host_touches(&m) ? take_after_full(&m, (size_t)40 << 20) : NULL;
        bool own;
        bool advised;

        if ((block != NULL) && read_mapping(block + ((size_t)20 << 20), &own, &advised) && own) {
            CHECK(advised, "%s memory", memspan_kind_name(m.kind));
            looked_at++;
        }
        if (block != NULL) {
            CHECK_OK(memspan_free(block));
        }
        conform_done(&m);
    }
    if (looked_at == 0) {
        conform_skip("no memory that is this process's own");
    }
}

const struct conform_case conform_memory_cases[] = {
    {"large_memory_has_huge_pages", large_memory_has_huge_pages},
    {"sizes_of_all_sorts", sizes_of_all_sorts},
    {"many_small_blocks", many_small_blocks},
    {"freed_memory_is_used_again", freed_memory_is_used_again},
    {"alignments", alignments},
    {"alignment_trait", alignment_trait},
    {"zero_bytes_are_nothing", zero_bytes_are_nothing},
    {"impossible_sizes_are_refused", impossible_sizes_are_refused},
    {"more_than_there_is", more_than_there_is},
    {"calloc_is_zero", calloc_is_zero},
    {"realloc_keeps_contents", realloc_keeps_contents},
    {"realloc_in_steps_moves_seldom", realloc_in_steps_moves_seldom},
    {"realloc_that_fails_changes_nothing", realloc_that_fails_changes_nothing},
    {"realloc_moves_between_allocators", realloc_moves_between_allocators},
    {"live_memory_survives_its_allocator", live_memory_survives_its_allocator},
    {"trim_gives_back", trim_gives_back},
    {"large_blocks_take_little_more_than_their_size",
     large_blocks_take_little_more_than_their_size},
    {NULL, NULL},
};
