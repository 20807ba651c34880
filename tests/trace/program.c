/* SPDX-License-Identifier: BSD-3-Clause */
/* program.c MODE: allocates and frees, and prints how much it did of what as "NAME=NUMBER" lines,
 * for trace.sh to compare with the trace. */

#include <memspan/memspan.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BIG = 3 << 20, THREADS = 2, ROUNDS = 300, MANY = 2000 };

static void check(int ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "program: %s: %s\n", what, memspan_error_text());
        exit(1);
    }
}

static memspan_allocator_h make(size_t pool_size, uintptr_t fallback)
{
    memspan_trait_t traits[] = {{MEMSPAN_TRAIT_POOL_SIZE, pool_size},
                                {MEMSPAN_TRAIT_FALLBACK, fallback}};
    memspan_allocator_h a    = MEMSPAN_ALLOCATOR_NULL;
    memspan_status_t status  = memspan_allocator_create(MEMSPAN_SPACE_LARGE_CAP, traits, 2, &a);

    check(status == MEMSPAN_OK, "create");
    return a;
}

/* One of each kind of event. */
static void counts(void)
{
    memspan_allocator_h own   = make(1 << 20, MEMSPAN_VALUE_NULL_FB);
    memspan_allocator_h falls = make(64, MEMSPAN_VALUE_DEFAULT_MEM_FB);
    void *blocks[10];
    void *big;

    for (int i = 0; i < 10; i++) {
        blocks[i] = memspan_alloc(own, 100 * (size_t)(i + 1));
        check(blocks[i] != NULL, "alloc");
    }
    blocks[0] = memspan_realloc(MEMSPAN_ALLOCATOR_NULL, blocks[0], 50000);
    blocks[1] = memspan_realloc(MEMSPAN_ALLOCATOR_DEFAULT, blocks[1], 77);
    check((blocks[0] != NULL) && (blocks[1] != NULL), "realloc");
    big = memspan_calloc(MEMSPAN_ALLOCATOR_DEFAULT, 1, BIG);
    check(big != NULL, "calloc");
    check(memspan_free(big) == MEMSPAN_OK, "free");
    big = memspan_alloc(falls, 1000);
    check(big != NULL, "fallback");
    check(memspan_free(big) == MEMSPAN_OK, "free");
    check(memspan_alloc(own, 2 << 20) == NULL, "limit");
    check(memspan_free(&big) != MEMSPAN_OK, "no block");
    for (int i = 0; i < 9; i++) {
        check(memspan_free(blocks[i]) == MEMSPAN_OK, "free");
    }
    memspan_trim();
    /* The last of the ten, 1000 bytes, is left. */
    printf("alloc=12\nfree=11\nrealloc=2\nfallback=1\nfailed=1\nleft=1000\nsum=%d\nbig=1\n",
           5500 + BIG + 1000);
}

static void *churn(void *unused)
{
    (void)unused;
    pthread_setname_np(pthread_self(), "\"a\\b\n\x80\"");
    for (int i = 0; i < ROUNDS; i++) {
        void *block = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, (size_t)i + 1);
        check(memspan_free(block) == MEMSPAN_OK, "free");
    }
    return NULL;
}

static void threads(void)
{
    pthread_t all[THREADS];

    for (int i = 0; i < THREADS; i++) {
        check(pthread_create(&all[i], NULL, churn, NULL) == 0, "thread");
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(all[i], NULL);
    }
    printf("alloc=%d\nfree=%d\nthreads=%d\n", THREADS * ROUNDS, THREADS * ROUNDS, THREADS);
}

static void many(void)
{
    for (int i = 0; i < MANY; i++) {
        check(memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 10) != NULL, "alloc");
    }
    printf("alloc=%d\n", MANY);
    fflush(stdout);
}

static void forked(void)
{
    void *block = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 100);
    int status  = 0;
    pid_t child = fork();

    check(child >= 0, "fork");
    if (child == 0) {
        check(memspan_free(block) == MEMSPAN_OK, "free in the child");
        check(memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 200) != NULL, "alloc in the child");
        exit(0);
    }
    check((waitpid(child, &status, 0) == child) && (status == 0), "child");
    check(memspan_free(block) == MEMSPAN_OK, "free");
    printf("parent=%d\nchild=%d\n", (int)getpid(), (int)child);
}

/* Another program is started while this one records. */
static void shared(const char *self)
{
    char command[4096];
    void *block = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 100);

    snprintf(command, sizeof(command), "'%s' many", self);
    check(system(command) == 0, "the other program");
    check(memspan_free(block) == MEMSPAN_OK, "free");
}

/* A program that closes descriptors it knows nothing of, and opens files of its own. */
static void closed(const char *file)
{
    FILE *own;

    check(memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 100) != NULL, "alloc");
    for (int fd = 3; fd < 100; fd++) {
        close(fd);
    }
    own = fopen(file, "w");
    check(own != NULL, file);
    many();
    fprintf(own, "untouched\n");
    fclose(own);
}

int main(int argc, char **argv)
{
    const char *mode = (argc > 1) ? argv[1] : "";

    if (strcmp(mode, "counts") == 0) {
        counts();
    } else if (strcmp(mode, "threads") == 0) {
        threads();
    } else if (strcmp(mode, "many") == 0) {
        many();
    } else if (strcmp(mode, "killed") == 0) {
        many();
        raise(SIGKILL);
    } else if (strcmp(mode, "aborted") == 0) {
        check(memspan_alloc(make(1000, MEMSPAN_VALUE_NULL_FB), 10) != NULL, "alloc");
        (void)memspan_alloc(make(1000, MEMSPAN_VALUE_ABORT_FB), 5000);
    } else if (strcmp(mode, "forked") == 0) {
        forked();
    } else if (strcmp(mode, "shared") == 0) {
        shared(argv[0]);
    } else if ((strcmp(mode, "closed") == 0) && (argc > 2)) {
        closed(argv[2]);
    } else {
        fprintf(stderr, "program: no mode %s\n", mode);
        return 2;
    }
    return 0;
}
