/* SPDX-License-Identifier: BSD-3-Clause */
/* allocate clauses (and for clang, which has them, directives), wherever the compiler emits calls
 * for them. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>

enum { N = 1000 };

static long parallel_private(omp_allocator_handle_t a)
{
    long total = 0;
    int x[64];
    int y = 5;

#pragma omp parallel num_threads(4) private(x) firstprivate(y) allocate(a : x, y)                  \
    reduction(+ : total)
    {
        int i;
        for (i = 0; i < 64; i++) {
            x[i] = omp_get_thread_num() + y;
        }
        for (i = 0; i < 64; i++) {
            total += x[i];
        }
    }
    return total;
}

static long no_allocator(void)
{
    long total = 0;
    int x[3]   = {1, 2, 3}; /* libomp aligns to 8, and clang counts on 16 from 16 bytes on */

#pragma omp parallel num_threads(3) firstprivate(x) allocate(x) reduction(+ : total)
    {
        total += x[0] + x[1] + x[2];
    }
    return total;
}

static long worksharing(omp_allocator_handle_t a)
{
    long total = 0;
    long last  = -1;
    double t   = 0.5;
    int i;

#pragma omp parallel for num_threads(4) firstprivate(t) lastprivate(last) allocate(a : t, last)    \
    reduction(+ : total) allocate(a : total)
    for (i = 0; i < N; i++) {
        total += (long)(t * 2 * i);
        last = i;
    }
    return total + last;
}

static int sections_and_single(omp_allocator_handle_t a)
{
    int x   = 3;
    int sum = 0;

#pragma omp parallel num_threads(2)
    {
#pragma omp sections firstprivate(x) allocate(a : x)
        {
#pragma omp section
            {
#pragma omp atomic
                sum += x;
    }
#pragma omp section
    {
#pragma omp atomic
        sum += 2 * x;
    }
}
#pragma omp single firstprivate(x) allocate(a : x)
{
#pragma omp atomic
    sum += 10 * x;
}
}
return sum;
}

static int tasks(omp_allocator_handle_t a)
{
    int sum = 0;
    int i;
    (void)a;

#pragma omp parallel num_threads(2)
#pragma omp single
    for (i = 0; i < 20; i++) {
#pragma omp task firstprivate(i) allocate(a : i) shared(sum)
        {
#pragma omp atomic
            sum += i;
        }
    }
    return sum;
}

#ifdef __clang__
static int directives(omp_allocator_handle_t a)
{
    int x[32];
    double y;
    int z[8];
    int i;
#pragma omp allocate(x) allocator(a)
#pragma omp allocate(y)
#pragma omp allocate(z) align(512)

    for (i = 0; i < 32; i++) {
        x[i] = i;
    }
    y    = 2.5;
    z[7] = 3;
    return x[31] + (int)(y * 2) + z[7] + (((uintptr_t)z % 512 == 0) ? 1000 : 0);
}

static int used_in_target(void)
{
    int sum = 0;
    int x   = 4;

#pragma omp target map(tofrom                                                                      \
                       : sum) firstprivate(x) uses_allocators(omp_large_cap_mem_alloc)             \
    allocate(omp_large_cap_mem_alloc                                                               \
             : x)
    {
        sum += x;
    }
    return sum;
}

static const omp_alloctrait_t target_traits[1] = {{omp_atk_alignment, 128}};

static int used_with_traits(void)
{
    omp_allocator_handle_t own = omp_null_allocator;
    int sum                    = 0;
    int x                      = 6;

#pragma omp target map(tofrom                                                                      \
                       : sum) firstprivate(x) uses_allocators(own(target_traits)) allocate(own     \
                                                                                           : x)
    {
        sum += x + ((uintptr_t)&x % 128 == 0 ? 100 : 0);
    }
    return sum;
}
#endif

int main(void)
{
    omp_alloctrait_t traits[]        = {{omp_atk_alignment, 128}};
    omp_allocator_handle_t handles[] = {omp_init_allocator(omp_default_mem_space, 1, traits),
                                        omp_large_cap_mem_alloc, omp_thread_mem_alloc};
    int i;

    for (i = 0; i < 3; i++) {
        printf("%d: %ld %ld %d %d\n", i, parallel_private(handles[i]), worksharing(handles[i]),
               sections_and_single(handles[i]), tasks(handles[i]));
#ifdef __clang__
        printf("%d: directives %d\n", i, directives(handles[i]));
#endif
    }
    printf("no allocator: %ld\n", no_allocator());
#ifdef __clang__
    printf("uses_allocators: %d %d\n", used_in_target(), used_with_traits());
#endif
    omp_destroy_allocator(handles[0]);
    return 0;
}
