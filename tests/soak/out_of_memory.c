/* SPDX-License-Identifier: BSD-3-Clause */
/* The library's own memory runs out, at each place where it asks for any: calls are refused with a
 * record that says so, nothing is lost, and once there is memory again everything works.
 *
 * The linker sends every malloc(), calloc(), mmap() ... of the library to this file (--wrap), which
 * fails the n-th of them, or all from the n-th on. Each n is a process of its own, so that what the
 * library makes on its first use is among them. */

#include <criterion/criterion.h>
#include <errno.h>
#include <memspan/memspan.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PLACES_MAX = 3000, BLOCKS = 30, NOT_REACHED = 99, BAD_MAX = 4 };

/* ---- memory that runs out ---- */

static long left_now; /* 0: off; 1: the next fails */
static int go_on_failing;

static int must_fail(void)
{
    if (left_now == 0) {
        return 0;
    }
    if (left_now > 1) {
        left_now--;
        return 0;
    }
    left_now = go_on_failing;
    errno    = ENOMEM;
    return 1;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *pointer, size_t size);
void *__real_aligned_alloc(size_t align, size_t size);
int __real_posix_memalign(void **pointer, size_t align, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t size);
void *__real_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *pointer, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);
int __wrap_posix_memalign(void **pointer, size_t align, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t size);
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);

void *__wrap_malloc(size_t size)
{
    return must_fail() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return must_fail() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *pointer, size_t size)
{
    return must_fail() ? NULL : __real_realloc(pointer, size);
}

void *__wrap_aligned_alloc(size_t align, size_t size)
{
    return must_fail() ? NULL : __real_aligned_alloc(align, size);
}

int __wrap_posix_memalign(void **pointer, size_t align, size_t size)
{
    return must_fail() ? ENOMEM : __real_posix_memalign(pointer, align, size);
}

char *__wrap_strdup(const char *text)
{
    return must_fail() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t size)
{
    return must_fail() ? NULL : __real_strndup(text, size);
}

void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    return must_fail() ? MAP_FAILED : __real_mmap(at, size, protection, flags, fd, offset);
}

/* ---- a program ---- */

/* In the child: says what does not hold, and ends. */
#define HOLDS(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: does not hold: %s; last error: %s\n", __FILE__, __LINE__,      \
                    #condition, memspan_error_text());                                             \
            _exit(EXIT_FAILURE);                                                                   \
        }                                                                                          \
    } while (0)

struct program {
    memspan_allocator_h allocators[5];
    unsigned char *blocks[BLOCKS];
    size_t sizes[BLOCKS];
    int refused;
};

/* A refusal says why. */
static void refuse(struct program *p)
{
    HOLDS(memspan_error_last()->status != MEMSPAN_OK);
    HOLDS(memspan_error_last()->message[0] != '\0');
    p->refused++;
}

static void make_allocator(struct program *p, int i, memspan_space_h space, const char *text)
{
    memspan_trait_t traits[8];
    size_t count;

    memspan_error_clear();
    HOLDS(memspan_trait_parse(text, traits, 8, &count) == MEMSPAN_OK);
    p->allocators[i] = MEMSPAN_ALLOCATOR_DEFAULT;
    if (memspan_allocator_create(space, traits, count, &p->allocators[i]) != MEMSPAN_OK) {
        HOLDS(p->allocators[i] == MEMSPAN_ALLOCATOR_DEFAULT); /* outputs only on success */
        refuse(p);
    }
}

static void make_allocators(struct program *p)
{
    int host              = MEMSPAN_HOST;
    memspan_space_h space = MEMSPAN_SPACE_DEFAULT;

    p->allocators[0] = MEMSPAN_ALLOCATOR_DEFAULT;
    make_allocator(p, 1, MEMSPAN_SPACE_DEFAULT, "fallback=null_fb,pool_size=16g,alignment=64");
    make_allocator(p, 2, MEMSPAN_SPACE_HIGH_BW, "fallback=null_fb,partition=interleaved");
    memspan_error_clear();
    if (memspan_space_get(&host, 1, MEMSPAN_SPACE_LARGE_CAP, &space) != MEMSPAN_OK) {
        refuse(p);
    }
    make_allocator(p, 3, space, "fallback=null_fb,partition=nearest");
    memspan_error_clear();
    p->allocators[4] = MEMSPAN_ALLOCATOR_DEFAULT;
    if (memspan_allocator_derive(p->allocators[1], NULL, 0, &p->allocators[4]) != MEMSPAN_OK) {
        refuse(p);
    }
}

static void use_block(struct program *p, int i, memspan_allocator_h allocator)
{
    static const size_t sizes[] = {24, 300, 5000, 70000, 3 << 20, 40 << 20};
    size_t size                 = sizes[(i / 5) % 6];

    memspan_error_clear();
    p->blocks[i] =
        (i % 3 == 0) ? memspan_calloc(allocator, 1, size) : memspan_alloc(allocator, size);
    p->sizes[i] = size;
    if (p->blocks[i] == NULL) {
        refuse(p);
        return;
    }
    if (i % 3 == 0) {
        HOLDS((p->blocks[i][0] == 0) && (p->blocks[i][size - 1] == 0));
    }
    p->blocks[i][0]        = (unsigned char)i;
    p->blocks[i][size - 1] = (unsigned char)i;
}

static void resize(struct program *p, int i, size_t size)
{
    unsigned char *now;

    if (p->blocks[i] == NULL) {
        return;
    }
    memspan_error_clear();
    now = memspan_realloc(MEMSPAN_ALLOCATOR_NULL, p->blocks[i], size);
    if (now == NULL) {
        refuse(p);
        HOLDS(p->blocks[i][p->sizes[i] - 1] == (unsigned char)i);
        return;
    }
    HOLDS(now[0] == (unsigned char)i);
    p->blocks[i]  = now;
    p->sizes[i]   = size;
    now[size - 1] = (unsigned char)i;
}

static void ask(struct program *p)
{
    memspan_allocator_info_t info   = {.struct_size = sizeof(info)};
    memspan_allocator_stats_t stats = {.struct_size = sizeof(stats)};
    memspan_pointer_info_t block    = {.struct_size = sizeof(block)};
    memspan_device_info_t device    = {.struct_size = sizeof(device)};

    for (int i = 0; i < 5; i++) {
        memspan_error_clear();
        if (memspan_allocator_describe(p->allocators[i], &info) != MEMSPAN_OK) {
            refuse(p);
        }
        HOLDS(memspan_allocator_get_stats(p->allocators[i], &stats) == MEMSPAN_OK);
    }
    memspan_error_clear();
    if ((p->blocks[0] != NULL) && (memspan_pointer_describe(p->blocks[0], &block) != MEMSPAN_OK)) {
        refuse(p);
    }
    memspan_error_clear();
    if (memspan_device_describe(MEMSPAN_HOST, &device) != MEMSPAN_OK) {
        refuse(p);
    }
}

static void end(struct program *p)
{
    for (int i = 0; i < BLOCKS; i++) {
        HOLDS((p->blocks[i] == NULL) || ((p->blocks[i][0] == (unsigned char)i) &&
                                         (p->blocks[i][p->sizes[i] - 1] == (unsigned char)i)));
        HOLDS(memspan_free(p->blocks[i]) == MEMSPAN_OK); /* giving back needs no memory */
    }
    for (int i = 4; i >= 0; i--) {
        HOLDS(memspan_allocator_destroy(p->allocators[i]) == MEMSPAN_OK);
    }
    memspan_trim();
}

static int run_program(void)
{
    struct program p = {0};

    make_allocators(&p);
    for (int i = 0; i < BLOCKS; i++) {
        use_block(&p, i, p.allocators[i % 5]);
    }
    for (int i = 0; i < BLOCKS; i++) {
        resize(&p, i, (i % 2 == 0) ? p.sizes[i] * 2 : 1 + p.sizes[i] / 3);
    }
    ask(&p);
    end(&p);
    return p.refused;
}

static void expect_nothing_lost(void)
{
    memspan_allocator_stats_t stats = {.struct_size = sizeof(stats)};

    HOLDS(memspan_allocator_get_stats(MEMSPAN_ALLOCATOR_NULL, &stats) == MEMSPAN_OK);
    HOLDS((stats.live_count == 0) && (stats.live_bytes == 0) && (stats.charged_bytes == 0));
    HOLDS(stats.allocated_count == stats.freed_count);
    HOLDS(stats.held_bytes == 0);
    HOLDS(memspan_check() == MEMSPAN_OK);
}

/* ---- the sweep ---- */

/* Ends with exit(), so that leak checkers see what leaked. */
__attribute__((noreturn)) static void run_with_failure(long place)
{
    bool reached;

    alarm(60);
    left_now = place;
    (void)run_program();
    reached  = (left_now <= 1) && ((left_now == 0) || (go_on_failing != 0));
    left_now = 0;
    expect_nothing_lost();
    HOLDS(run_program() == 0); /* there is memory again */
    expect_nothing_lost();
    exit(reached ? EXIT_SUCCESS : NOT_REACHED);
}

static void sweep(int go_on)
{
    long place;
    int status = 0;
    int bad    = 0;

    setenv("MEMSPAN_LOG", "error", 1);
    setenv("MEMSPAN_BACKENDS", "host", 1);
    go_on_failing = go_on;
    for (place = 1; place < PLACES_MAX; place++) {
        pid_t child = fork();

        if (child == 0) {
            run_with_failure(place);
        }
        cr_assert(child > 0);
        cr_assert(waitpid(child, &status, 0) == child);
        if (WIFEXITED(status) && (WEXITSTATUS(status) == NOT_REACHED)) {
            break;
        }
        bad += (status != 0);
        cr_expect(status == 0, "request %ld of the library's own: status %#x", place, status);
        if (bad == BAD_MAX) {
            break;
        }
    }
    cr_expect((place > 10) && (place < PLACES_MAX), "%ld places", place);
    printf("%ld places\n", place - 1);
}

Test(out_of_memory, one_request_fails)
{
    sweep(0);
}

Test(out_of_memory, all_requests_from_one_on_fail)
{
    sweep(1);
}
