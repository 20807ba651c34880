/* SPDX-License-Identifier: BSD-3-Clause */
/* open LIBRARY local|global: opens a library that this program is not linked with, uses it,
 * closes it, and does so again, as plug-ins and interpreters do. The first use is in a thread that
 * was there before the library was. */

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { TIMES = 3, BLOCKS = 100 };

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);              \
            return false;                                                                          \
        }                                                                                          \
    } while (0)

struct routines {
    void *(*alloc)(size_t size_bytes, uintptr_t allocator);
    void (*free)(void *pointer, uintptr_t allocator);
    const char *(*error_text)(void);
    void (*init)(void);
    void (*finalize)(void);
    int (*n_pes)(void);
    void *(*shmem_malloc)(size_t size_bytes);
    void (*shmem_free)(void *pointer);
    void (*putmem)(void *to, const void *from, size_t size_bytes, int pe);
};

/* Without a cast that ISO C does not have. */
static bool find(void *library, const char *name, void *routine_p)
{
    void *address = dlsym(library, name);

    memcpy(routine_p, &address, sizeof(address));
    return address != NULL;
}

static bool use_memory(void *library)
{
    struct routines r;
    void *blocks[BLOCKS];
    size_t i;

    REQUIRE(find(library, "omp_alloc", &r.alloc) && find(library, "omp_free", &r.free) &&
            find(library, "memspan_error_text", &r.error_text));
    for (i = 0; i < BLOCKS; i++) {
        blocks[i] = r.alloc(64 * (i + 1), 1);
        REQUIRE(blocks[i] != NULL);
        memset(blocks[i], (int)i, 64 * (i + 1));
    }
    for (i = 0; i < BLOCKS; i++) {
        REQUIRE(((unsigned char *)blocks[i])[64 * i] == (unsigned char)i);
        r.free(blocks[i], 1);
    }
    REQUIRE(r.alloc(SIZE_MAX / 2, 1) == NULL);
    REQUIRE(strstr(r.error_text(), "bytes") != NULL);
    return true;
}

/* Once a process: OpenSHMEM 1.5 ends with its last finalize. */
static bool use_symmetric_memory(void *library)
{
    static bool done;
    struct routines r;
    uint64_t word = 42;
    uint64_t *symmetric;

    if (done || (dlsym(library, "shmem_init") == NULL)) {
        return true;
    }
    done = true;
    REQUIRE(find(library, "shmem_init", &r.init) && find(library, "shmem_n_pes", &r.n_pes) &&
            find(library, "shmem_malloc", &r.shmem_malloc) &&
            find(library, "shmem_free", &r.shmem_free) &&
            find(library, "shmem_putmem", &r.putmem) &&
            find(library, "shmem_finalize", &r.finalize));
    r.init();
    REQUIRE(r.n_pes() == 1);
    symmetric = r.shmem_malloc(sizeof(*symmetric));
    REQUIRE(symmetric != NULL);
    r.putmem(symmetric, &word, sizeof(word), 0);
    REQUIRE(*symmetric == 42);
    r.shmem_free(symmetric);
    r.finalize();
    return true;
}

static struct {
    sem_t opened;
    sem_t used;
    void *library;
    bool good;
} early; /* a thread that is older than the library */

static void *run_early(void *unused)
{
    (void)unused;
    sem_wait(&early.opened);
    early.good = use_memory(early.library);
    sem_post(&early.used);
    return NULL;
}

static void *run_late(void *library)
{
    return use_memory(library) ? library : NULL;
}

static bool open_and_use(const char *path, int mode, int time)
{
    void *library = dlopen(path, RTLD_NOW | mode);
    pthread_t thread;
    void *result = NULL;

    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return false;
    }
    REQUIRE((mode == RTLD_LOCAL) == (dlsym(RTLD_DEFAULT, "omp_alloc") == NULL));
    if (time == 0) {
        early.library = library;
        sem_post(&early.opened);
        sem_wait(&early.used);
        REQUIRE(early.good);
    }
    REQUIRE(use_memory(library) && use_symmetric_memory(library));
    REQUIRE(pthread_create(&thread, NULL, run_late, library) == 0);
    REQUIRE((pthread_join(thread, &result) == 0) && (result == library));
    REQUIRE(dlclose(library) == 0);
    return true;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    bool good;
    int i;

    if (argc != 3) {
        fprintf(stderr, "usage: open LIBRARY local|global\n");
        return 2;
    }
    sem_init(&early.opened, 0, 0);
    sem_init(&early.used, 0, 0);
    if (pthread_create(&thread, NULL, run_early, NULL) != 0) {
        return 1;
    }
    for (i = 0, good = true; good && (i < TIMES); i++) {
        good = open_and_use(argv[1], (strcmp(argv[2], "local") == 0) ? RTLD_LOCAL : RTLD_GLOBAL, i);
    }
    if (!good) {
        return 1;
    }
    pthread_join(thread, NULL); /* ends, after the library was closed, in its destructors */
    return 0;
}
