/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that takes the runtime's routines by the runtime's own handle, as interpreters and
 * plug-ins do: what the runtime makes for it is the runtime's, from the first call to the last,
 * also where the runtime's routines end in each other by exported names. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef omp_allocator_handle_t init_fn(omp_memspace_handle_t, int, const omp_alloctrait_t *);
typedef void destroy_fn(omp_allocator_handle_t);
typedef omp_allocator_handle_t get_fn(void);
typedef void *alloc_fn(size_t, omp_allocator_handle_t);
typedef void free_fn(void *, omp_allocator_handle_t);

static int failures;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("line %d: %s\n", __LINE__, #condition);                                         \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

static void *routine(const char *name)
{
    static void *runtime;
    Dl_info where;

    /* The object of a routine that no other library defines. */
    if ((runtime == NULL) && (dladdr((void *)(uintptr_t)omp_get_thread_num, &where) != 0)) {
        runtime = dlopen(where.dli_fname, RTLD_NOW);
    }
    return (runtime == NULL) ? NULL : dlsym(runtime, name);
}

static size_t locked_kib(void)
{
    char line[128];
    size_t kib   = 0;
    FILE *status = fopen("/proc/self/status", "r");

    while ((status != NULL) && (fgets(line, sizeof(line), status) != NULL)) {
        (void)sscanf(line, "VmLck: %zu kB", &kib);
    }
    if (status != NULL) {
        fclose(status);
    }
    return kib;
}

/* The runtime's own locked memory, which omp_realloc() and omp_free() by name take too. libomp
 * unlocks it, libgomp keeps it for the next blocks. */
static void check_pinned(init_fn *init, alloc_fn *alloc)
{
    const omp_alloctrait_t traits[] = {{omp_atk_pinned, omp_atv_true}};
    omp_allocator_handle_t pinned   = init(omp_default_mem_space, 1, traits);
    size_t before                   = locked_kib();
    char *blocks[16];
    int i;

    if (pinned == omp_null_allocator) {
        return; /* libgomp before 14 */
    }
    for (i = 0; i < 8; i++) {
        omp_free(alloc(100000, pinned), omp_null_allocator);
    }
    CHECK((routine("__kmpc_fork_call") == NULL) || (locked_kib() == before));
    for (i = 0; i < 16; i++) {
        blocks[i] = (char *)alloc(64, pinned);
        CHECK(blocks[i] != NULL);
        if (blocks[i] != NULL) {
            memset(blocks[i], i, 64);
            blocks[i] = (char *)omp_realloc(blocks[i], 128, pinned, pinned);
            CHECK((blocks[i] != NULL) && (blocks[i][63] == i));
        }
    }
    for (i = 0; i < 16; i++) {
        omp_free(blocks[i], pinned);
    }
}

int main(void)
{
    init_fn *init                = (init_fn *)routine("omp_init_allocator");
    destroy_fn *destroy          = (destroy_fn *)routine("omp_destroy_allocator");
    get_fn *get                  = (get_fn *)routine("omp_get_default_allocator");
    alloc_fn *alloc              = (alloc_fn *)routine("omp_alloc");
    free_fn *give                = (free_fn *)routine("omp_free");
    const omp_alloctrait_t one[] = {{omp_atk_alignment, 64}};
    omp_allocator_handle_t own;
    char *block;
    int i;

    if ((init == NULL) || (destroy == NULL) || (get == NULL) || (alloc == NULL) || (give == NULL)) {
        puts("the runtime's routines were not found");
        return 1;
    }
    own   = init(omp_default_mem_space, 1, one);
    block = (char *)alloc(100, own);
    CHECK((own != omp_null_allocator) && (block != NULL) && ((uintptr_t)block % 64 == 0));
    if (block != NULL) {
        memset(block, 1, 100);
    }
    give(block, own);
    block = (char *)alloc(100, get());
    CHECK(block != NULL);
    give(block, omp_null_allocator);
    /* The handle and the blocks also where the same names are another library's. */
    for (i = 0; i < 2; i++) {
        block = (char *)omp_alloc(100, own);
        CHECK((block != NULL) && ((uintptr_t)block % 64 == 0));
        omp_free(block, own);
        block = (char *)alloc(100, own);
        CHECK(block != NULL);
        omp_free(block, omp_null_allocator);
    }
    destroy(own);
    check_pinned(init, alloc);
    return failures != 0;
}
