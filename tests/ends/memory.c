/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c: a program's use of device memory: its main thread, a team, and a pool of threads that a
 * destructor joins, as OpenMP runtimes do. */

#include "ends.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { POOL = 2, DECAY_WAIT_US = 30000 };

/* llvm_omp_target_shared_mem_alloc, which not every omp.h names. */
static const uintptr_t shared_memory = 101;
static const uintptr_t host_memory   = 1; /* omp_default_mem_alloc */
static const size_t sizes[]          = {100, 40000, (size_t)3 << 20};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

void *omp_alloc(size_t size, uintptr_t allocator);
void omp_free(void *pointer, uintptr_t allocator);

void *memory_take(size_t bytes)
{
    char *block = omp_alloc(bytes, shared_memory);

    if (block != NULL) {
        block[0]         = 1;
        block[bytes - 1] = 2;
    }
    return block;
}

void *memory_take_of_host(size_t bytes)
{
    return omp_alloc(bytes, host_memory);
}

void memory_give(void *block)
{
    omp_free(block, 0);
}

void memory_copy(void *block)
{
    static int (*copy)(void *to, const void *from, size_t bytes);
    void *symbol = dlsym(RTLD_DEFAULT, "memspan_copy");
    char bytes[64];

    if ((symbol != NULL) && (block != NULL)) {
        memcpy(&copy, &symbol, sizeof(copy));
        (void)copy(bytes, block, sizeof(bytes));
        (void)copy(block, bytes, sizeof(bytes));
    }
}

void memory_turn(void)
{
    size_t i;

    for (i = 0; i < SIZES; i++) {
        void *block = memory_take(sizes[i]);

        memory_copy(block);
        memory_give(block);
    }
}

/* ---- a pool ---- */

static pthread_t pool[POOL];
static bool pool_is_on;
static bool pool_ends;
static pthread_mutex_t lock  = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;

static void *serve(void *unused)
{
    memory_turn();
    pthread_mutex_lock(&lock);
    while (!pool_ends) {
        pthread_cond_wait(&change, &lock);
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

static void start_pool(void)
{
    int i;

    for (i = 0; i < POOL; i++) {
        (void)pthread_create(&pool[i], NULL, serve, NULL);
    }
    pool_is_on = true;
}

/* Not in a child of fork, which has none of them. */
static void leave_pool(void)
{
    pool_is_on = false;
}

__attribute__((destructor)) static void join_pool(void)
{
    int i;

    if (!pool_is_on) {
        return;
    }
    pthread_mutex_lock(&lock);
    pool_ends = true;
    pthread_cond_broadcast(&change);
    pthread_mutex_unlock(&lock);
    for (i = 0; i < POOL; i++) {
        pthread_join(pool[i], NULL);
    }
}

/* ---- all of it ---- */

static void *find(const char *name)
{
    return dlsym(RTLD_DEFAULT, name);
}

static void need_device(void)
{
    void *symbol = find("memspan_device_count");
    int (*count)(void);

    memcpy(&count, &symbol, sizeof(count));
    if ((symbol != NULL) && (count() <= 0)) {
        printf("SKIP there is no such device\n");
        exit(77);
    }
}

/* Memory of the host would end well in every way. */
static void expect_of_device(const void *block)
{
    static const int host = 1; /* MEMSPAN_KIND_HOST */
    void *symbol          = find("memspan_pointer_kind");
    int (*kind)(const void *);

    memcpy(&kind, &symbol, sizeof(kind));
    if ((block == NULL) || ((symbol != NULL) && (kind(block) <= host))) {
        printf("no memory of the device\n");
        exit(1);
    }
}

void memory_use(enum state state)
{
    static void *blocks[SIZES];
    size_t i;

    (void)pthread_atfork(NULL, NULL, leave_pool);
#pragma omp target /* without one there is no device code, and there are no devices */
    {
    }
    need_device();
    for (i = 0; i < SIZES; i++) {
        blocks[i] = memory_take(sizes[i]);
        expect_of_device(blocks[i]);
    }
    start_pool();
#pragma omp parallel num_threads(3)
    memory_turn();
    for (i = 0; (state != STATE_KEPT) && (i < SIZES); i++) {
        memory_give(blocks[i]);
    }
    if (state == STATE_DECAYED) {
        usleep(DECAY_WAIT_US);
    }
}
