/* SPDX-License-Identifier: BSD-3-Clause */
/* What is allocated and freed again and again takes no lock and asks the kernel nothing, whichever
 * call it is and whosever the pool is. Locks and system calls are counted, for a test cannot rely
 * on times. */

#include <criterion/criterion.h>
#include <memspan/memspan.h>
#include <memspan/omp.h>
#include <pthread.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { PAIRS = 2000 };

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
pid_t __real_gettid(void);

static int lock_count;
static int call_count;

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    lock_count++;
    return __real_pthread_mutex_lock(mutex);
}

pid_t __wrap_gettid(void)
{
    call_count++;
    return __real_gettid();
}

static omp_allocator_handle_t make(omp_alloctrait_key_t key, uintptr_t value)
{
    omp_alloctrait_t traits[] = {
        {omp_atk_pool_size, 1 << 20}, {omp_atk_fallback, omp_atv_null_fb}, {key, value}};
    omp_allocator_handle_t allocator = omp_init_allocator(omp_default_mem_space, 3, traits);

    cr_assert(allocator != omp_null_allocator, "%s", memspan_error_text());
    return allocator;
}

static void expect_none(const char *what)
{
    cr_expect(lock_count == 0, "%s: %d locks", what, lock_count);
    cr_expect(call_count == 0, "%s: %d system calls", what, call_count);
}

static void expect_fast(const char *what, omp_allocator_handle_t allocator, size_t size_bytes)
{
    void *pointer;
    int i;

    for (i = 0; i < 2 * PAIRS; i++) {
        if (i == PAIRS) {
            lock_count = call_count = 0;
        }
        pointer = omp_alloc(size_bytes, allocator);
        cr_assert(pointer != NULL, "%s", memspan_error_text());
        omp_free(pointer, allocator);
    }
    expect_none(what);
}

Test(fast_path, small_objects)
{
    expect_fast("default", omp_default_mem_alloc, 64);
    expect_fast("null", omp_null_allocator, 64);
    expect_fast("large classes", omp_default_mem_alloc, 8192);
    expect_fast("aligned", make(omp_atk_alignment, 64), 64);
    expect_fast("of each thread", make(omp_atk_access, omp_atv_thread), 64);
    expect_fast("of each team", make(omp_atk_access, omp_atv_pteam), 64);
    expect_fast("of each team, medium", make(omp_atk_access, omp_atv_pteam), 20000);
    expect_fast("of each group", make(omp_atk_access, omp_atv_cgroup), 64);
}

/* Few steps of a block that grows need more than the room that it has. */
Test(fast_path, growth_in_steps)
{
    omp_allocator_handle_t allocators[] = {omp_default_mem_alloc, make(omp_atk_alignment, 64),
                                           make(omp_atk_access, omp_atv_pteam)};
    enum { STEP = 1024, STEPS = 400, LOCKS_MOST = 100 };
    size_t n;
    int round;
    size_t i;

    for (n = 0; n < sizeof(allocators) / sizeof(allocators[0]); n++) {
        for (round = 0; round < 2; round++) {
            void *block = omp_alloc(STEP, allocators[n]);

            lock_count = call_count = 0;
            for (i = 2; i <= STEPS; i++) {
                block = omp_realloc(block, i * STEP, allocators[n], allocators[n]);
                cr_assert(block != NULL, "%s", memspan_error_text());
            }
            omp_free(block, allocators[n]);
        }
        cr_expect(lock_count < LOCKS_MOST, "allocator %zu: %d locks", n, lock_count);
    }
}

Test(fast_path, allocators_for_one_block)
{
    int i;

    for (i = 0; i < 2 * PAIRS; i++) {
        omp_allocator_handle_t allocator;
        void *block;

        if (i == PAIRS) {
            lock_count = call_count = 0;
        }
        allocator = make(omp_atk_alignment, 64);
        block     = omp_alloc(64, allocator);
        cr_assert(block != NULL);
        omp_free(block, allocator);
        omp_destroy_allocator(allocator);
    }
    expect_none("allocators");
}

Test(fast_path, refusals)
{
    omp_allocator_handle_t allocator = make(omp_atk_alignment, 64);
    int i;

    while (omp_alloc(64, allocator) != NULL) {
    }
    lock_count = call_count = 0;
    for (i = 0; i < PAIRS; i++) {
        cr_assert(omp_alloc(64, allocator) == NULL);
    }
    expect_none("refusals");
}

Test(fast_path, cleared_memory)
{
    static const size_t sizes[] = {64, 1000, 20000, 500000};
    unsigned char *pointer;
    size_t n;
    int i;

    for (n = 0; n < sizeof(sizes) / sizeof(sizes[0]); n++) {
        for (i = 0; i < 200; i++) {
            if (i == 100) {
                lock_count = call_count = 0;
            }
            pointer = omp_calloc(1, sizes[n], omp_default_mem_alloc);
            cr_assert(pointer != NULL);
            cr_assert(pointer[0] == 0);
            cr_assert(memcmp(pointer, pointer + 1, sizes[n] - 1) == 0, "%zu: not zero", sizes[n]);
            memset(pointer, 0xff, sizes[n]);
            omp_free(pointer, omp_default_mem_alloc);
        }
        expect_none("calloc");
    }
}
