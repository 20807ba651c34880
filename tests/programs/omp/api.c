/* SPDX-License-Identifier: BSD-3-Clause */
/* The routines of OpenMP 5.0 and 5.1, as any program may use them. Nothing here knows Memspan. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

static int aligned(const void *p, uintptr_t boundary)
{
    return (p != NULL) && ((uintptr_t)p % boundary == 0);
}

static int all_bytes(const unsigned char *p, size_t n, unsigned char value)
{
    size_t i;
    for (i = 0; (i < n) && (p[i] == value); i++) {
    }
    return i == n;
}

static void predefined(void)
{
    omp_allocator_handle_t handles[] = {
        omp_default_mem_alloc, omp_large_cap_mem_alloc, omp_const_mem_alloc,
        omp_high_bw_mem_alloc, omp_low_lat_mem_alloc,   omp_cgroup_mem_alloc,
        omp_pteam_mem_alloc,   omp_thread_mem_alloc,    omp_null_allocator};
    int i;

    for (i = 0; i < COUNT(handles); i++) {
        unsigned char *p = (unsigned char *)omp_alloc(1000, handles[i]);
        memset(p, i, 1000);
        printf("predefined %d: %d\n", i, all_bytes(p, 1000, (unsigned char)i));
        omp_free(p, handles[i]);
    }
}

static void alignment(void)
{
    omp_alloctrait_t traits[] = {{omp_atk_alignment, 256}};
    omp_allocator_handle_t a  = omp_init_allocator(omp_default_mem_space, 1, traits);
    void *p                   = omp_alloc(10, a);
    void *q                   = omp_aligned_alloc(4096, 8192, a);
    void *r                   = omp_aligned_alloc(8, 24, a);

    printf("alignment: %d %d %d\n", aligned(p, 256), aligned(q, 4096), aligned(r, 256));
    omp_free(p, a);
    omp_free(q, omp_null_allocator);
    omp_free(r, a);
    omp_destroy_allocator(a);
}

static void zeroed(void)
{
    unsigned char *p = (unsigned char *)omp_alloc(5000, omp_default_mem_alloc);
    memset(p, 0xaa, 5000);
    omp_free(p, omp_default_mem_alloc);
    p = (unsigned char *)omp_calloc(100, 50, omp_default_mem_alloc);
    printf("calloc: %d\n", all_bytes(p, 5000, 0));
    omp_free(p, omp_default_mem_alloc);
    p = (unsigned char *)omp_aligned_calloc(128, 64, 64, omp_default_mem_alloc);
    printf("aligned_calloc: %d %d\n", aligned(p, 128), all_bytes(p, 4096, 0));
    omp_free(p, omp_default_mem_alloc);
#ifdef _OMP_H /* libomp wraps round and crashes */
    {
        volatile size_t half = SIZE_MAX / 2;
        printf("overflow: %d\n", omp_calloc(half, 3, omp_default_mem_alloc) == NULL);
    }
#endif
}

static void nothing(void)
{
    void *p = omp_alloc(64, omp_default_mem_alloc);

    printf("zero sizes: %d %d %d\n", omp_alloc(0, omp_default_mem_alloc) == NULL,
           omp_calloc(0, 8, omp_default_mem_alloc) == NULL,
           omp_calloc(8, 0, omp_default_mem_alloc) == NULL);
    omp_free(NULL, omp_default_mem_alloc);
    omp_destroy_allocator(omp_null_allocator);
    p = omp_realloc(p, 0, omp_default_mem_alloc, omp_default_mem_alloc);
    printf("realloc to nothing: %d\n", p == NULL);
}

static void reallocation(void)
{
    omp_alloctrait_t traits[] = {{omp_atk_alignment, 64}};
    omp_allocator_handle_t a  = omp_init_allocator(omp_large_cap_mem_space, 1, traits);
    size_t sizes[]            = {100, 5000, 200000, 300, 4};
    unsigned char *p          = (unsigned char *)omp_realloc(NULL, 10, a, omp_null_allocator);
    int i;

    memset(p, 7, 4);
    for (i = 0; i < COUNT(sizes); i++) {
        p = (unsigned char *)omp_realloc(p, sizes[i], (i % 2) ? omp_null_allocator : a, a);
        printf("realloc %d: %d\n", (int)sizes[i], all_bytes(p, 4, 7));
        memset(p + 4, 9, sizes[i] - 4);
    }
    p = (unsigned char *)omp_realloc(p, 1000, omp_default_mem_alloc, omp_null_allocator);
    printf("to another allocator: %d\n", all_bytes(p, 4, 7));
    omp_free(p, omp_null_allocator);
    omp_destroy_allocator(a);
}

static void fallback(void)
{
    omp_alloctrait_t small_null[]    = {{omp_atk_pool_size, 4096},
                                        {omp_atk_fallback, omp_atv_null_fb}};
    omp_alloctrait_t small_default[] = {{omp_atk_pool_size, 4096},
                                        {omp_atk_fallback, omp_atv_default_mem_fb}};
    omp_allocator_handle_t none      = omp_init_allocator(omp_default_mem_space, 2, small_null);
    omp_allocator_handle_t deflt     = omp_init_allocator(omp_default_mem_space, 2, small_default);
    omp_alloctrait_t chain[]         = {{omp_atk_pool_size, 64},
                                        {omp_atk_fallback, omp_atv_allocator_fb},
                                        {omp_atk_fb_data, (omp_uintptr_t)none}};
    omp_allocator_handle_t chained   = omp_init_allocator(omp_default_mem_space, 3, chain);
    void *a                          = omp_alloc(2000, none);
    void *b                          = omp_alloc(3000, none);
    void *c                          = omp_alloc(100000, deflt);
    void *d                          = omp_alloc(1000, chained);
    void *e                          = omp_alloc(5000, chained);
    void *f;

    printf("pool: %d %d\n", a != NULL, b == NULL);
    printf("fallback: %d %d %d\n", c != NULL, d != NULL, e == NULL);
    omp_free(a, none);
    f = omp_alloc(2500, none);
    printf("pool again: %d\n", f != NULL);
    omp_free(c, deflt);
    omp_free(d, chained);
    omp_free(f, none);
    omp_destroy_allocator(chained);
    omp_destroy_allocator(deflt);
    omp_destroy_allocator(none);
}

static void refused(void)
{
    omp_alloctrait_t odd[] = {{omp_atk_alignment, 48}};
#ifdef _OMP_H /* libomp aborts */
    printf("odd alignment: %d\n",
           omp_init_allocator(omp_default_mem_space, 1, odd) == omp_null_allocator);
#else
    (void)odd;
#endif
    printf("huge: %d\n", omp_alloc(SIZE_MAX / 2, omp_default_mem_alloc) == NULL);
}

int main(void)
{
    predefined();
    alignment();
    zeroed();
    nothing();
    reallocation();
    fallback();
    refused();
    return 0;
}
