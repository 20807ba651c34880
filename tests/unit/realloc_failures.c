/* SPDX-License-Identifier: BSD-3-Clause */
/* What a reallocation calls fails, the n-th call in the n-th round: the old block is whole, where
 * it was, and counted once. The linker leads the calls of the library's objects through here
 * (tests/unit/CMakeLists.txt). */

#include "core/base/platform.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <memspan/memspan.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

static bool copies_fail;
static int fail_at; /* which system call fails, and all after it; 0: none */
static int calls;

static bool fails_now(void)
{
    if ((fail_at == 0) || (++calls < fail_at)) {
        return false;
    }
    errno = ENOMEM;
    return true;
}

memspan_status_t __real_memspan_copy(void *to, const void *from, size_t size_bytes);
memspan_status_t __wrap_memspan_copy(void *to, const void *from, size_t size_bytes);
memspan_status_t __wrap_memspan_copy(void *to, const void *from, size_t size_bytes)
{
    return copies_fail ? MEMSPAN_ERR_DRIVER : __real_memspan_copy(to, from, size_bytes);
}

void *__real_mmap(void *at, size_t size, int access, int flags, int file, off_t from);
void *__wrap_mmap(void *at, size_t size, int access, int flags, int file, off_t from);
void *__wrap_mmap(void *at, size_t size, int access, int flags, int file, off_t from)
{
    return fails_now() ? MAP_FAILED : __real_mmap(at, size, access, flags, file, from);
}

void *__real_mremap(void *at, size_t from, size_t to, int flags, void *where);
void *__wrap_mremap(void *at, size_t from, size_t to, int flags, void *where);
void *__wrap_mremap(void *at, size_t from, size_t to, int flags, void *where)
{
    return fails_now() ? MAP_FAILED : __real_mremap(at, from, to, flags, where);
}

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
    long arguments[6];
    va_list list;

    va_start(list, number);
    for (int i = 0; i < 6; i++) {
        arguments[i] = va_arg(list, long);
    }
    va_end(list);
    if ((number == SYS_mremap) && fails_now()) {
        return -1;
    }
    return __real_syscall(number, arguments[0], arguments[1], arguments[2], arguments[3],
                          arguments[4], arguments[5]);
}

static memspan_allocator_h make(memspan_trait_value_t pinned)
{
    memspan_trait_t traits[]      = {{MEMSPAN_TRAIT_POOL_SIZE, 100 << 20},
                                     {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB},
                                     {MEMSPAN_TRAIT_PINNED, pinned}};
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;

    cr_assert_eq(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, traits, 3, &allocator),
                 MEMSPAN_OK);
    return allocator;
}

static void expect_counted(memspan_allocator_h allocator, uint64_t count, uint64_t bytes)
{
    memspan_allocator_stats_t s = {.struct_size = sizeof(s)};

    cr_assert_eq(memspan_allocator_get_stats(allocator, &s), MEMSPAN_OK);
    cr_expect_eq(s.live_count, count, "%llu live", (unsigned long long)s.live_count);
    cr_expect_eq(s.live_bytes, bytes);
    cr_expect_eq(s.charged_bytes, bytes + 4 * count);
    cr_expect_eq(s.allocated_count - s.freed_count, count);
}

static void expect_whole(const unsigned char *block, size_t size)
{
    for (size_t i = 0; i < size; i += 512) {
        cr_assert_eq(block[i], (unsigned char)(i >> 9), "byte %zu", i);
    }
}

static void write_all(unsigned char *block, size_t size)
{
    for (size_t i = 0; i < size; i += 512) {
        block[i] = (unsigned char)(i >> 9);
    }
}

/* The driver's copy fails: as if nothing had been asked, also for the number of live blocks, which
 * decides when a destroyed allocator ends. */
Test(realloc_failures, copy)
{
    static const size_t sizes[][2] = {{100, 9000}, {20000, 700000}, {700000, 3 << 20}};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        memspan_allocator_h allocator = make(MEMSPAN_VALUE_FALSE);
        unsigned char *block          = memspan_alloc(allocator, sizes[i][0]);
        void *behind                  = memspan_alloc(allocator, sizes[i][0]);
        uint64_t both                 = 2 * sizes[i][0];

        cr_assert((block != NULL) && (behind != NULL));
        write_all(block, sizes[i][0]);
        for (int times = 0; times < 3; times++) {
            copies_fail = true;
            cr_expect_eq(memspan_realloc(allocator, block, sizes[i][1]), NULL);
            copies_fail = false;
            expect_counted(allocator, 2, both);
            expect_whole(block, sizes[i][0]);
        }
        cr_expect_eq(memspan_free(behind), MEMSPAN_OK);
        cr_expect_eq(memspan_allocator_destroy(allocator), MEMSPAN_OK);
        cr_expect_eq(memspan_free(block), MEMSPAN_OK);
        expect_counted(MEMSPAN_ALLOCATOR_NULL, 0, 0);
    }
}

/* Host and pinned memory by its pages; each call that fails is followed by copying, which may fail
 * as well. */
static void fail_in_turn(memspan_trait_value_t pinned)
{
    enum { BEFORE = 2 << 20, STEP = 512 << 10 };
    memspan_allocator_h allocator = make(pinned);
    int given                     = 0;

    for (int n = 1; n <= 12; n++) {
        unsigned char *block = memspan_alloc(allocator, BEFORE);
        size_t size          = BEFORE;

        if ((n == 1) && (block == NULL)) {
            cr_skip_test("%s", memspan_error_text());
        }
        write_all(block, BEFORE);
        fail_at = n;
        calls   = 0;
        for (int step = 1; step <= 6; step++) {
            unsigned char *now = memspan_realloc(allocator, block, BEFORE + (size_t)step * STEP);

            if (now != NULL) {
                block = now;
                size  = BEFORE + (size_t)step * STEP;
                given++;
            }
            expect_whole(block, BEFORE);
            cr_expect_eq(memspan_pointer_kind(block + size - 1), memspan_pointer_kind(block));
        }
        fail_at = 0;
        expect_counted(allocator, 1, size);
        block = memspan_realloc(allocator, block, BEFORE + 8 * STEP);
        cr_assert_neq(block, NULL, "%s", memspan_error_text());
        expect_whole(block, BEFORE);
        memset(block, 1, BEFORE + 8 * STEP);
        expect_counted(allocator, 1, BEFORE + 8 * STEP);
        cr_expect_eq(memspan_free(block), MEMSPAN_OK);
        cr_expect_eq(memspan_check(), MEMSPAN_OK, "%s", memspan_error_text());
    }
    cr_expect_gt(given, 0);
    cr_expect_eq(memspan_allocator_destroy(allocator), MEMSPAN_OK);
}

Test(realloc_failures, host_pages)
{
    fail_in_turn(MEMSPAN_VALUE_FALSE);
}

Test(realloc_failures, pinned_pages)
{
    fail_in_turn(MEMSPAN_VALUE_TRUE);
}
