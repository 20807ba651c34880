/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that the host may not touch: a stray access of the library itself ends the test. */

#include "control.h"
#include "machine.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Test(blocks, random_sizes_never_touched_never_overlapping)
{
    enum { LIVE = 300, STEPS = 20000 };
    struct {
        char *address;
        size_t size;
    } live[LIVE]       = {{NULL, 0}};
    unsigned long seed = 12345;
    memspan_allocator_h a;
    int step;
    int i;

    machine_pretend("discrete", NULL);
    cr_assert_eq(machine_allocator(DEVICES(0), "", &a), MEMSPAN_OK);
    for (step = 0; step < STEPS; step++) {
        int k = (int)((seed = seed * 6364136223846793005UL + 1442695040888963407UL) >> 33) % LIVE;

        if (live[k].address != NULL) {
            cr_assert_eq(memspan_free(live[k].address), MEMSPAN_OK, "%s", memspan_error_text());
            live[k].address = NULL;
        } else {
            size_t align    = (size_t)1 << (seed >> 60);
            live[k].size    = 1 + (size_t)((seed >> 20) % ((step % 10 == 0) ? 300000 : 3000));
            live[k].address = memspan_aligned_alloc(a, align, live[k].size);
            cr_assert(live[k].address != NULL, "%s", memspan_error_text());
            cr_assert_eq((uintptr_t)live[k].address % align, 0);
            for (i = 0; i < LIVE; i++) {
                cr_assert((i == k) || (live[i].address == NULL) ||
                              (live[i].address + live[i].size <= live[k].address) ||
                              (live[k].address + live[k].size <= live[i].address),
                          "two blocks overlap");
            }
        }
        if (step % 1000 == 0) {
            cr_assert_eq(memspan_check(), MEMSPAN_OK, "%s", memspan_error_text());
        }
    }
    for (i = 0; i < LIVE; i++) {
        cr_assert_eq(memspan_free(live[i].address), MEMSPAN_OK);
    }
    machine_expect_clean();
}

Test(blocks, cleared_on_the_device)
{
    memspan_allocator_h a;
    char host[5000];
    char *dirty;
    char *block;
    size_t i;

    machine_pretend("discrete", NULL);
    cr_assert_eq(machine_allocator(DEVICES(0), "", &a), MEMSPAN_OK);
    dirty = memspan_alloc(a, sizeof(host));
    cr_assert_eq(memspan_fill(dirty, 0xff, sizeof(host)), MEMSPAN_OK);
    memspan_free(dirty);
    block = memspan_calloc(a, 50, 100);
    cr_assert(block != NULL);
    cr_expect_eq(block, dirty, "the same bytes are needed for this to be a test");
    cr_assert_eq(memspan_copy(host, block, sizeof(host)), MEMSPAN_OK);
    for (i = 0; i < sizeof(host); i++) {
        cr_assert_eq(host[i], 0, "byte %zu", i);
    }
    memspan_free(block);
    machine_expect_clean();
}

Test(blocks, resized_on_the_device)
{
    memspan_allocator_h a;
    char host[1000];
    char *block;

    machine_pretend("discrete", NULL);
    cr_assert_eq(machine_allocator(DEVICES(0), "", &a), MEMSPAN_OK);
    memset(host, 42, sizeof(host));
    block = memspan_alloc(a, sizeof(host));
    cr_assert_eq(memspan_copy(block, host, sizeof(host)), MEMSPAN_OK);
    block = memspan_realloc(MEMSPAN_ALLOCATOR_NULL, block, 500000);
    cr_assert(block != NULL, "%s", memspan_error_text());
    memset(host, 0, sizeof(host));
    cr_assert_eq(memspan_copy(host, block, sizeof(host)), MEMSPAN_OK);
    cr_expect_eq(host[0], 42);
    cr_expect_eq(host[999], 42);
    memspan_free(block);
    machine_expect_clean();
}

Test(blocks, past_the_end_is_refused)
{
    memspan_allocator_h a;
    char host[256] = {0};
    char *block;

    machine_pretend("discrete", NULL);
    cr_assert_eq(machine_allocator(DEVICES(0), "", &a), MEMSPAN_OK);
    block = memspan_alloc(a, 128);
    cr_expect_eq(memspan_copy(block, host, 256), MEMSPAN_ERR_INVALID);
    cr_expect(strstr(memspan_error_text(), "destination") != NULL, "%s", memspan_error_text());
    cr_expect_eq(memspan_fill(block + 100, 0, 29), MEMSPAN_ERR_INVALID);
    memspan_free(block);
}

Test(blocks, full_device_follows_the_fallback)
{
    memspan_allocator_stats_t stats = {.struct_size = sizeof(stats)};
    memspan_pointer_info_t info     = {.struct_size = sizeof(info)};
    memspan_allocator_h null_fb;
    memspan_allocator_h default_fb;
    void *block;

    machine_pretend("discrete", NULL);
    setenv("FAKE_CAPACITY", "1048576", 1);
    cr_assert_eq(machine_allocator(DEVICES(0), "", &null_fb), MEMSPAN_OK);
    cr_expect(memspan_alloc(null_fb, 2 << 20) == NULL);
    cr_expect_eq(memspan_error_last()->status, MEMSPAN_ERR_NO_MEMORY);
    cr_expect_str_eq(memspan_error_last()->call, "fakeMalloc");
    cr_expect_eq(memspan_error_last()->native_code, 2);
    cr_assert_eq(machine_allocator(DEVICES(0), "fallback=default_mem_fb", &default_fb), MEMSPAN_OK);
    block = memspan_alloc(default_fb, 2 << 20);
    cr_assert(block != NULL);
    cr_assert_eq(memspan_pointer_describe(block, &info), MEMSPAN_OK);
    cr_expect_eq(info.kind_given, MEMSPAN_KIND_HOST);
    cr_expect(info.fallback);
    cr_assert_eq(memspan_allocator_get_stats(default_fb, &stats), MEMSPAN_OK);
    cr_expect_eq(stats.failed_count, 1);
    cr_expect_eq(stats.fallback_count, 1);
    memspan_free(block);
    machine_expect_clean();
}

/* A chunk of the usual size does not fit any more; a smaller one does. */
Test(blocks, a_small_device_is_filled_with_smaller_chunks)
{
    memspan_allocator_h a;
    char *blocks[64];
    int count = 0;

    machine_pretend("discrete", NULL);
    setenv("FAKE_CAPACITY", "6291456", 1);
    cr_assert_eq(machine_allocator(DEVICES(0), "", &a), MEMSPAN_OK);
    while ((count < 64) && ((blocks[count] = memspan_alloc(a, 100000)) != NULL)) {
        count++;
    }
    cr_expect_geq(count, 61, "only %d blocks of 100000 bytes in 6 MiB", count);
    while (count > 0) {
        memspan_free(blocks[--count]);
    }
    machine_expect_clean();
}

Test(blocks, out_of_memory_at_every_chunk_loses_nothing)
{
    int at;

    machine_pretend("discrete", NULL);
    setenv("FAKE_FAIL_AT", "3", 1);
    {
        memspan_allocator_h a;
        void *got[16] = {NULL};

        cr_assert_eq(machine_allocator(DEVICES(0), "", &a), MEMSPAN_OK);
        for (at = 0; at < 16; at++) {
            got[at] = memspan_alloc(a, 3 << 20); /* each a chunk of its own */
            cr_expect_eq(got[at] != NULL, at < 2, "allocation %d", at);
        }
        for (at = 0; at < 16; at++) {
            cr_expect_eq(memspan_free(got[at]), MEMSPAN_OK);
        }
    }
    machine_expect_clean();
}

/* Zero bytes of a device are made by the device, once, and not where its driver gave zero pages. */
static long fills_for(memspan_allocator_h a, size_t size)
{
    struct fake_control *control = machine_control(0);
    long before                  = atomic_load(&control->count[FAKE_FILL]);
    unsigned char *block         = memspan_calloc(a, 1, size);
    unsigned char bytes[2]       = {1, 1};
    long fills                   = atomic_load(&control->count[FAKE_FILL]) - before;

    cr_assert(block != NULL, "%s", memspan_error_text());
    cr_assert_eq(memspan_copy(&bytes[0], block, 1), MEMSPAN_OK);
    cr_assert_eq(memspan_copy(&bytes[1], block + size - 1, 1), MEMSPAN_OK);
    cr_expect_eq(bytes[0], 0);
    cr_expect_eq(bytes[1], 0);
    cr_assert_eq(memspan_fill(block, 0xff, size), MEMSPAN_OK);
    cr_assert_eq(memspan_free(block), MEMSPAN_OK);
    return fills;
}

Test(blocks, zero_bytes_are_made_by_the_device)
{
    static const size_t sizes[] = {64, 1000, 8192, 100000, 8 << 20};
    memspan_allocator_h a;

    machine_pretend("discrete", NULL);
    cr_assert_eq(machine_allocator(DEVICES(0), "", &a), MEMSPAN_OK);
    for (int again = 0; again < 2; again++) { /* the second time the bytes are surely dirty */
        for (int i = 0; i < 5; i++) {
            cr_expect_eq(fills_for(a, sizes[i]), 1, "%zu bytes", sizes[i]);
        }
    }
    machine_expect_clean();
}

Test(blocks, zero_pages_of_the_driver_are_not_cleared)
{
    enum { BLOCKS = 200 };
    unsigned char bytes[1000];
    void *blocks[BLOCKS];
    memspan_allocator_h a;

    setenv("FAKE_ZEROED", "1", 1);
    machine_pretend("discrete", NULL);
    cr_assert_eq(machine_allocator(DEVICES(0), "", &a), MEMSPAN_OK);
    memspan_trim();
    cr_expect_eq(fills_for(a, 16 << 20), 0, "fresh pages were cleared");
    memspan_trim();
    cr_expect_eq(fills_for(a, 16 << 20), 0, "fresh pages were cleared");
    for (int again = 0; again < 2; again++) { /* the second time they are dirty */
        for (int i = 0; i < BLOCKS; i++) {
            blocks[i] = memspan_calloc(a, 1, 1000);
            cr_assert_eq(memspan_copy(bytes, blocks[i], 1000), MEMSPAN_OK);
            for (int k = 0; k < 1000; k++) {
                cr_assert_eq(bytes[k], 0);
            }
            cr_assert_eq(memspan_fill(blocks[i], 0xff, 1000), MEMSPAN_OK);
        }
        for (int i = 0; i < BLOCKS; i++) {
            cr_assert_eq(memspan_free(blocks[i]), MEMSPAN_OK);
        }
    }
    machine_expect_clean();
}
