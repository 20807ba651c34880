/* SPDX-License-Identifier: BSD-3-Clause */
/* pool_size to the byte, and what happens beyond it: the fallback trait, exactly. */

#include "conform.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { POOL = 65536, BLOCK = 1000, BLOCKS_MAX = POOL / BLOCK + 1 };

static memspan_allocator_h limited(size_t pool_size, memspan_trait_value_t fallback,
                                   memspan_allocator_h next)
{
    memspan_trait_t traits[] = {{MEMSPAN_TRAIT_POOL_SIZE, pool_size},
                                {MEMSPAN_TRAIT_FALLBACK, fallback},
                                {MEMSPAN_TRAIT_FB_DATA, (uintptr_t)next}};

    return conform_allocator(conform_own_space(), traits,
                             (fallback == MEMSPAN_VALUE_ALLOCATOR_FB) ? 3 : 2);
}

static size_t fill_pool(memspan_allocator_h allocator, void **blocks)
{
    size_t count = 0;

    while ((count < BLOCKS_MAX) && ((blocks[count] = memspan_alloc(allocator, BLOCK)) != NULL)) {
        count++;
    }
    return count;
}

static void pool_size_is_exact(void)
{
    memspan_allocator_h allocator = limited(POOL, MEMSPAN_VALUE_NULL_FB, NULL);
    void *blocks[BLOCKS_MAX];
    size_t count;
    uint64_t each;
    void *rest;

    blocks[0] = memspan_alloc(allocator, BLOCK);
    CHECK(blocks[0] != NULL);
    each = conform_stats(allocator).charged_bytes;
    CHECK((each > BLOCK) && (each <= BLOCK + 64), "%llu charged", (unsigned long long)each);
    CHECK_OK(memspan_free(blocks[0]));
    count = fill_pool(allocator, blocks);
    CHECK(count == POOL / each, "%zu blocks of %llu", count, (unsigned long long)each);
    CHECK(memspan_error_last()->status == MEMSPAN_ERR_LIMIT ||
          memspan_error_last()->status == MEMSPAN_ERR_NO_MEMORY);
    CHECK(strstr(memspan_error_last()->message, "pool_size") != NULL, "%s", memspan_error_text());
    /* The rest to the byte, and not one more. */
    rest = memspan_alloc(allocator, POOL % each - (each - BLOCK) + 1);
    CHECK(rest == NULL, "one byte more than is left");
    rest = memspan_alloc(allocator, POOL % each - (each - BLOCK));
    CHECK(rest != NULL, "all that is left");
    CHECK(conform_stats(allocator).charged_bytes == POOL);
    CHECK(memspan_alloc(allocator, 1) == NULL);
    CHECK_OK(memspan_free(blocks[0]));
    blocks[0] = memspan_alloc(allocator, BLOCK);
    CHECK(blocks[0] != NULL, "what was freed can be had again");
    for (size_t i = 0; i < count; i++) {
        CHECK_OK(memspan_free(blocks[i]));
    }
    CHECK_OK(memspan_free(rest));
    CHECK_OK(memspan_allocator_destroy(allocator));
}

static void realloc_charges_only_growth(void)
{
    memspan_allocator_h allocator = limited(4096, MEMSPAN_VALUE_NULL_FB, NULL);
    void *block                   = memspan_alloc(allocator, 3071);
    void *grown;

    CHECK(block != NULL);
    grown = memspan_realloc(allocator, block, 3072);
    CHECK(grown != NULL);
    CHECK(memspan_realloc(allocator, grown, 4097) == NULL);
    CHECK(conform_stats(allocator).live_bytes == 3072);
    CHECK_OK(memspan_free(grown));
    CHECK_OK(memspan_allocator_destroy(allocator));
}

struct filler {
    memspan_allocator_h allocator;
    void *blocks[BLOCKS_MAX];
    size_t count;
};

static void *fill_in_thread(void *argument)
{
    struct filler *filler = argument;

    filler->count = fill_pool(filler->allocator, filler->blocks);
    return NULL;
}

static void pool_size_is_exact_with_threads(void)
{
    enum { THREADS = 4 };
    static struct filler fillers[THREADS];
    memspan_allocator_h allocator = limited(POOL, MEMSPAN_VALUE_NULL_FB, NULL);
    pthread_t threads[THREADS];
    size_t total = 0;
    void *one    = memspan_alloc(allocator, BLOCK);
    uint64_t each;

    CHECK(one != NULL);
    each = conform_stats(allocator).charged_bytes;
    CHECK_OK(memspan_free(one));
    for (int t = 0; t < THREADS; t++) {
        fillers[t].allocator = allocator;
        CHECK(pthread_create(&threads[t], NULL, fill_in_thread, &fillers[t]) == 0);
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
        total += fillers[t].count;
    }
    CHECK(total == POOL / each, "%zu blocks instead of %llu", total,
          (unsigned long long)(POOL / each));
    for (int t = 0; t < THREADS; t++) {
        for (size_t i = 0; i < fillers[t].count; i++) {
            CHECK_OK(memspan_free(fillers[t].blocks[i]));
        }
    }
    CHECK(conform_stats(allocator).charged_bytes == 0);
    CHECK_OK(memspan_allocator_destroy(allocator));
}

static void null_fallback(void)
{
    memspan_allocator_h allocator = limited(4096, MEMSPAN_VALUE_NULL_FB, NULL);
    memspan_allocator_info_t info = {.struct_size = sizeof(info)};

    CHECK_OK(memspan_allocator_describe(allocator, &info));
    CHECK((info.fallback == MEMSPAN_ALLOCATOR_NULL) && (info.aborts == 0));
    CHECK(info.pool_size_bytes == 4096);
    CHECK(memspan_alloc(allocator, 5000) == NULL);
    CHECK(conform_stats(allocator).failed_count == 1);
    CHECK(conform_stats(allocator).fallback_count == 0);
    CHECK_OK(memspan_allocator_destroy(allocator));
}

static void default_fallback(void)
{
    memspan_trait_t traits[]      = {{MEMSPAN_TRAIT_POOL_SIZE, 4096},
                                     {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_DEFAULT_MEM_FB}};
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;
    memspan_allocator_info_t info = {.struct_size = sizeof(info)};
    memspan_pointer_info_t block  = {.struct_size = sizeof(block)};
    unsigned char *pointer;

    CHECK_OK(memspan_allocator_create(conform_own_space(), traits, 2, &allocator));
    CHECK_OK(memspan_allocator_describe(allocator, &info));
    CHECK(info.fallback == MEMSPAN_ALLOCATOR_DEFAULT);
    pointer = memspan_alloc(allocator, 5000);
    CHECK(pointer != NULL);
    memset(pointer, 1, 5000); /* default memory is the host's */
    CHECK_OK(memspan_pointer_describe(pointer, &block));
    CHECK((block.fallback == 1) && (block.allocator == MEMSPAN_ALLOCATOR_DEFAULT) &&
          (block.kind_given == MEMSPAN_KIND_HOST));
    CHECK(conform_stats(allocator).failed_count == 1);
    CHECK(conform_stats(allocator).fallback_count == 1);
    CHECK(conform_stats(allocator).live_count == 0, "it is not this allocator's");
    CHECK_OK(memspan_free(pointer));
    CHECK_OK(memspan_allocator_destroy(allocator));
}

static void a_chain_of_fallbacks(void)
{
    memspan_allocator_h last      = limited(20000, MEMSPAN_VALUE_NULL_FB, NULL);
    memspan_allocator_h middle    = limited(8192, MEMSPAN_VALUE_ALLOCATOR_FB, last);
    memspan_allocator_h first     = limited(4096, MEMSPAN_VALUE_ALLOCATOR_FB, middle);
    memspan_allocator_info_t info = {.struct_size = sizeof(info)};
    memspan_pointer_info_t block  = {.struct_size = sizeof(block)};
    void *in_middle               = memspan_alloc(first, 7000);
    void *in_last                 = memspan_calloc(first, 15, 1000);

    CHECK_OK(memspan_allocator_describe(first, &info));
    CHECK(info.fallback == middle);
    CHECK((in_middle != NULL) && (in_last != NULL));
    CHECK_OK(memspan_pointer_describe(in_middle, &block));
    CHECK((block.allocator == middle) && (block.fallback == 1));
    CHECK_OK(memspan_pointer_describe(in_last, &block));
    CHECK((block.allocator == last) && (block.fallback == 1));
    CHECK(memspan_alloc(first, 15000) == NULL, "the last one's fallback is null");
    CHECK(conform_stats(first).failed_count == 3);
    CHECK(conform_stats(first).fallback_count == 2);
    CHECK(conform_stats(middle).failed_count == 2);
    CHECK(conform_stats(last).failed_count == 1);
    CHECK_OK(memspan_free(in_middle));
    CHECK_OK(memspan_free(in_last));
    CHECK_OK(memspan_allocator_destroy(first));
    CHECK_OK(memspan_allocator_destroy(middle));
    CHECK_OK(memspan_allocator_destroy(last));
}

/* A driver does not survive fork: the whole of it happens in a child that starts anew. */
static void abort_fallback_ends_the_program(void)
{
    char self[4096];
    ssize_t length  = readlink("/proc/self/exe", self, sizeof(self) - 1);
    char said[2048] = "";
    size_t used     = 0;
    ssize_t n;
    int pipes[2];
    int status;
    pid_t child;

    CHECK((length > 0) && (pipe(pipes) == 0));
    self[length] = '\0';
    child        = fork();
    if (child == 0) {
        dup2(pipes[1], STDERR_FILENO);
        close(pipes[0]);
        setenv("CONFORM_ABORT", "1", 1);
        unsetenv("BXFI_MAP"); /* marks Criterion's workers */
        conform_restore_environment();
        execl(self, self, (char *)NULL);
        _exit(127);
    }
    close(pipes[1]);
    while ((n = read(pipes[0], said + used, sizeof(said) - 1 - used)) > 0) {
        used += (size_t)n;
    }
    close(pipes[0]);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && (WTERMSIG(status) == SIGABRT), "status %x, said: %s", status,
          said);
    CHECK(strstr(said, "abort_fb") != NULL, "said: %s", said);
}

void conform_abort_here(void)
{
    struct conform_device device;
    char reason[400];
    memspan_trait_t traits[]      = {{MEMSPAN_TRAIT_POOL_SIZE, 4096},
                                     {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_ABORT_FB}};
    memspan_allocator_info_t info = {.struct_size = sizeof(info)};
    memspan_allocator_h allocator;
    memspan_space_h space;

    if (!conform_find(&device, reason, sizeof(reason)) ||
        (memspan_space_get(&device.number, 1, MEMSPAN_SPACE_NULL, &space) != MEMSPAN_OK) ||
        (memspan_allocator_create(space, traits, 2, &allocator) != MEMSPAN_OK) ||
        (memspan_allocator_describe(allocator, &info) != MEMSPAN_OK) || (info.aborts != 1)) {
        _exit(1);
    }
    (void)memspan_alloc(allocator, 5000);
    _exit(2);
}

const struct conform_case conform_limit_cases[] = {
    {"pool_size_is_exact", pool_size_is_exact},
    {"realloc_charges_only_growth", realloc_charges_only_growth},
    {"pool_size_is_exact_with_threads", pool_size_is_exact_with_threads},
    {"null_fallback", null_fallback},
    {"default_fallback", default_fallback},
    {"a_chain_of_fallbacks", a_chain_of_fallbacks},
    {"abort_fallback_ends_the_program", abort_fallback_ends_the_program},
    {NULL, NULL},
};
