/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks and allocators that the real runtime made behind our back (routines found with
 * dlsym in its own library), then freed, resized and used by the program's ordinary calls. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef void *alloc_fn(size_t, omp_allocator_handle_t);
typedef void *aligned_fn(size_t, size_t, omp_allocator_handle_t);
typedef omp_allocator_handle_t init_fn(omp_memspace_handle_t, int, const omp_alloctrait_t *);

static void *find(void *library, const char *name)
{
    void *address = dlsym(library, name);
    if (address == NULL) {
        printf("no %s\n", name);
    }
    return address;
}

int main(void)
{
#ifdef _OMP_H
    void *library = dlopen("libgomp.so.1", RTLD_LAZY);
#else
    void *library = dlopen("libomp.so.5", RTLD_LAZY);
#endif
    alloc_fn *real_alloc           = (alloc_fn *)(uintptr_t)find(library, "omp_alloc");
    aligned_fn *real_aligned_alloc = (aligned_fn *)(uintptr_t)find(library, "omp_aligned_alloc");
    omp_alloctrait_t traits[]      = {{omp_atk_alignment, 64}, {omp_atk_pool_size, 1 << 20}};
    omp_allocator_handle_t theirs  = omp_null_allocator;
    unsigned char *p;
    int i;

    for (i = 0; i < 100; i++) {
        p = (unsigned char *)real_alloc((size_t)i * 37 + 1, omp_default_mem_alloc);
        memset(p, i, (size_t)i * 37 + 1);
        omp_free(p, omp_null_allocator);
        p = (unsigned char *)real_aligned_alloc(1024, 2048, omp_default_mem_alloc);
        omp_free(p, omp_default_mem_alloc);
    }
    printf("freed\n");
    p = (unsigned char *)real_alloc(100, omp_default_mem_alloc);
    memset(p, 42, 100);
    p = (unsigned char *)omp_realloc(p, 5000, omp_default_mem_alloc, omp_null_allocator);
    printf("moved: %d %d\n", p[0], p[99]);
    omp_free(p, omp_null_allocator);
    p = (unsigned char *)real_alloc(100, omp_default_mem_alloc);
    memset(p, 43, 100);
    p = (unsigned char *)omp_realloc(p, 50, omp_null_allocator, omp_null_allocator);
    printf("shrunk: %d %d\n", p[0], p[49]);
    omp_free(p, omp_null_allocator);
#ifdef _OMP_H
    /* libomp's own end in entry points that can be interposed, so the other runtime would see this.
     */
    theirs = ((init_fn *)(uintptr_t)find(library, "omp_init_allocator"))(omp_default_mem_space, 2,
                                                                         traits);
#else
    theirs        = omp_init_allocator(omp_default_mem_space, 2, traits);
#endif
    for (i = 0; i < 10; i++) {
        p = (unsigned char *)omp_alloc(100, theirs);
        printf("%d", (p != NULL) && ((uintptr_t)p % 64 == 0));
        memset(p, i, 100);
        p = (unsigned char *)omp_realloc(p, 200, theirs, theirs);
        printf("%d", p[99] == i);
        omp_free(p, theirs);
    }
    p = (unsigned char *)omp_alloc(100, omp_default_mem_alloc);
    memset(p, 44, 100);
    p = (unsigned char *)omp_realloc(p, 300, theirs, omp_default_mem_alloc);
    printf(" given over: %d", p[99]); /* and the old block is freed: run.sh counts what lives */
    omp_free(p, theirs);
    printf("\n");
    omp_set_default_allocator(theirs);
    p = (unsigned char *)omp_alloc(100, omp_null_allocator);
    printf("as default: %d\n", (p != NULL) && (omp_get_default_allocator() == theirs));
    omp_free(p, omp_null_allocator);
    omp_set_default_allocator(omp_default_mem_alloc);
    p = (unsigned char *)omp_alloc(10, omp_default_mem_alloc);
    omp_free(p, omp_default_mem_alloc);
    omp_destroy_allocator(theirs);
    printf("done\n");
    return 0;
}
