/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that does one thing wrong: guard-victim WRONG. Ends with 0 when nothing stops it. With
 * VICTIM_KERNEL=old its kernel has no guard regions. */

#include <errno.h>
#include <memspan/memspan.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GUARD_INSTALL = 102, GUARD_REMOVE = 103 }; /* of Linux 6.13 */

/* The library's calls come here, too. */
__attribute__((visibility("default"))) int madvise(void *address, size_t bytes, int advice)
{
    const char *kernel = getenv("VICTIM_KERNEL");

    if ((kernel != NULL) && ((advice == GUARD_INSTALL) || (advice == GUARD_REMOVE))) {
        errno = EINVAL;
        return -1;
    }
    return (int)syscall(SYS_madvise, address, bytes, advice);
}

void __lsan_register_root_region(const void *address, size_t bytes) __attribute__((weak));

/* The rest is for kernels with guard regions. */
static void need_regions(void)
{
    if (__lsan_register_root_region != NULL) {
        fprintf(stderr, "victim: LeakSanitizer reads all memory that is mapped\n");
        exit(77);
    }
    void *page =
        mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (madvise(page, 1, GUARD_INSTALL) != 0) {
        fprintf(stderr, "victim: the kernel has no guard regions (Linux 6.13)\n");
        exit(77);
    }
}

#define ANY MEMSPAN_ALLOCATOR_NULL

static char *take(size_t size)
{
    char *p = memspan_alloc(ANY, size);

    if (p == NULL) {
        fprintf(stderr, "victim: no memory: %s\n", memspan_error_text());
        exit(3);
    }
    memset(p, 0, size);
    return p;
}

static memspan_allocator_h make(const char *text)
{
    static const int host[] = {MEMSPAN_HOST};
    memspan_trait_t traits[4];
    memspan_space_h space;
    memspan_allocator_h a;
    size_t count;

    if ((memspan_trait_parse(text, traits, 4, &count) != MEMSPAN_OK) ||
        (memspan_space_get(host, 1, MEMSPAN_SPACE_NULL, &space) != MEMSPAN_OK) ||
        (memspan_allocator_create(space, traits, count, &a) != MEMSPAN_OK)) {
        fprintf(stderr, "victim: %s\n", memspan_error_text());
        exit(77);
    }
    return a;
}

/* ---- frees ---- */

static void double_free(void)
{
    char *p = take(24);

    memspan_free(p);
    memspan_free(p);
}

static void free_inside(void)
{
    memspan_free(take(1000) + 16);
}

static void free_foreign(void)
{
    int here = 0;

    fprintf(stderr, "line %d\n", __LINE__ + 1);
    memspan_free(&here);
}

static void free_garbage(void)
{
    memspan_free((void *)0x123456789abcdef0);
}

static void realloc_freed(void)
{
    char *p = take(24);

    memspan_free(p);
    take(memspan_realloc(ANY, p, 100) != NULL);
}

static void *free_it(void *p)
{
    memspan_free(p);
    return NULL;
}

static void double_free_by_thread(void)
{
    char *p = take(24);
    pthread_t thread;

    pthread_create(&thread, NULL, free_it, p);
    pthread_join(thread, NULL);
    memspan_free(p);
}

/* ---- writes and reads outside ---- */

static void use_freed_by(char *p)
{
    memspan_free(p);
    exit(p[50] == 42 ? 0 : 1);
}

static void overrun_pattern(void)
{
    char *p = take(20);

    p[20] = 1;
    memspan_free(p);
}

static void overrun_page(void)
{
    char *p = take(4096);

    p[4096] = 1;
    memspan_free(p);
}

static void overrun_read(void)
{
    char *p = take(64);

    exit(p[64] == 42 ? 0 : 1);
}

static void overrun_until_realloc(void)
{
    char *p = take(20);

    p[21] = 1;
    memspan_free(memspan_realloc(ANY, p, 4000));
}

static void overrun_until_exit(void)
{
    take(20)[20] = 1;
}

static void underrun(void)
{
    char *p = take(64);

    p[-1] = 1;
    memspan_free(p);
}

static void overrun_large(void)
{
    size_t size = (size_t)5 << 20;
    char *p     = take(size);

    p[size] = 1;
}

static void overrun_aligned(void)
{
    char *p = memspan_aligned_alloc(ANY, 1024, 100);

    p[100] = 1;
    memspan_free(p);
}

static void underrun_far_aligned(void)
{
    char *p = memspan_aligned_alloc(ANY, 16384, 100);

    p[-8] = 1;
}

/* ---- signals ---- */

static void on_signal(int number)
{
    (void)number;
    if (write(STDERR_FILENO, "the program's own handler\n", 26) != 26) {
        _exit(3);
    }
    _exit(42);
}

/* The program has a handler of its own, from before. */
static void use_freed_with_handler(void)
{
    signal(SIGSEGV, on_signal);
    use_freed_by(take(100));
}

/* A fault that is none of ours goes to that handler at once, and without one ends the program. */
static void elsewhere_with_handler(void)
{
    signal(SIGSEGV, on_signal);
    take(100)[0] = *(volatile char *)(uintptr_t)4096;
}

static void elsewhere(void)
{
    take(100)[0] = *(volatile char *)(uintptr_t)4096;
}

static void sent(void)
{
    take(100);
    raise(SIGSEGV);
}

/* Locked pages have patterns as red zones. */
static void overrun_pinned(void)
{
    char *p = memspan_alloc(make("pinned=true"), 64);

    if (p == NULL) {
        exit(77);
    }
    p[64] = 1;
    memspan_free(p);
}

/* ---- after the free ---- */

/* At the load the unwinder is to find the caller's frame by the contents of address 8
 * (DW_CFA_def_cfa_expression, DW_OP_lit8, DW_OP_deref). */
static char read_unwindless(const volatile char *from)
{
    char value;

    __asm__ volatile(".cfi_remember_state\n\t.cfi_escape 0x0f, 2, 0x38, 0x06" ::: "memory");
    value = from[50];
    __asm__ volatile(".cfi_restore_state" ::: "memory");
    return value;
}

static void use_freed_unwinder_faults(void)
{
    char *p = take(100);

    memspan_free(p);
    (void)read_unwindless(p);
}

static void use_freed(void)
{
    use_freed_by(take(100));
}

static void write_freed_large(void)
{
    char *p = take((size_t)3 << 20);

    memspan_free(p);
    p[1 << 20] = 1;
}

static void write_freed_pinned(void)
{
    char *p = memspan_alloc(make("pinned=true"), 64);

    if (p == NULL) {
        exit(77);
    }
    memspan_free(p);
    p[7] = 1;
}

/* ---- what is not freed ---- */

static void keep_two(void)
{
    take(1000);
    take(1000);
}

static void leak(void)
{
    char *p = take(24);

    keep_two();
    memspan_free(p);
}

/* What the parent holds is no leak of the child. */
static void leak_of_parent(void)
{
    char *p     = take(24);
    pid_t child = fork();
    int status  = 0;

    if (child == 0) {
        memspan_free(take(100));
        exit(0);
    }
    waitpid(child, &status, 0);
    memspan_free(p);
    exit(WIFEXITED(status) ? WEXITSTATUS(status) : 4);
}

/* ---- nothing wrong ---- */

static void *work(void *unused)
{
    size_t i;

    (void)unused;
    for (i = 1; i < 2000; i++) {
        char *p = take(i);
        char *q = memspan_calloc(ANY, i, 3);

        if ((q[0] != 0) || (q[i * 3 - 1] != 0)) {
            exit(5);
        }
        memset(q, 1, i * 3);
        p            = memspan_realloc(ANY, p, i * 2);
        p[i * 2 - 1] = 1;
        memspan_free(p);
        memspan_free(q);
    }
    return NULL;
}

static void nothing_wrong(void)
{
    pthread_t threads[4];
    size_t i;

    for (i = 0; i < 4; i++) {
        pthread_create(&threads[i], NULL, work, NULL);
    }
    for (i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
}

enum { MANY = 40000 };
static char *blocks[MANY];

static void take_many(void)
{
    size_t i;

    for (i = 0; i < MANY; i++) {
        blocks[i] = take(40);
    }
}

/* More than may have mappings of their own. */
static void many(void)
{
    size_t i;

    take_many();
    free(malloc(1 << 24)); /* there must be mappings left for others */
    for (i = 0; i < MANY; i++) {
        memspan_free(blocks[i]);
    }
}

static int count_mappings(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    int lines  = 0;
    int c;

    while ((c = getc(maps)) != EOF) {
        lines += (c == '\n');
    }
    fclose(maps);
    return lines;
}

/* What many blocks cost, and what the statistics say of them. */
static void many_counted(void)
{
    take_many();
    memspan_stats_print(STDERR_FILENO);
    fprintf(stderr, "mappings=%d\n", count_mappings());
    memspan_free(blocks[1]);
    memspan_stats_print(STDERR_FILENO);
    _exit(0);
}

static void many_and_read(void)
{
    need_regions();
    take_many();
    exit(blocks[30000][48] == 42 ? 0 : 1);
}

/* A block in memory that the program locks when it has it. */
static void locked_then_used(void)
{
    char *p = take(100);
    long at = (long)p & -sysconf(_SC_PAGESIZE);

    if (mlock((void *)at, 1) != 0) {
        fprintf(stderr, "victim: mlock: %s\n", strerror(errno));
        exit(77);
    }
    use_freed_by(p);
}

/* The kernel refuses guard regions in memory that is locked at once. */
static void all_locked(void)
{
    if (mlockall(MCL_FUTURE) != 0) {
        fprintf(stderr, "victim: mlockall: %s\n", strerror(errno));
        exit(77);
    }
    overrun_page();
}

/* A child has its parent's closed pages. */
static void read_by_child(void)
{
    char *p    = take(64);
    int status = 0;

    if (fork() == 0) {
        exit(p[64] == 42 ? 0 : 1);
    }
    wait(&status);
    if (WIFSIGNALED(status)) {
        raise(WTERMSIG(status));
    }
    exit(WEXITSTATUS(status));
}

/* Memory that has been closed is whole for those who get it then. */
static void used_again(void)
{
    char *p;
    size_t i;
    size_t size;

    for (size = 100; size < (size_t)16 << 20; size *= 3) {
        for (i = 0; i < 8; i++) {
            p = take(size);
            memset(p, (int)i, size);
            memspan_free(p);
            memspan_trim();
        }
    }
}

static void many_and_overrun(void)
{
    many();
    overrun_pattern();
}

static void sizes_as_asked(void)
{
    memspan_allocator_h a           = make("pool_size=1004,fallback=null_fb");
    memspan_pointer_info_t info     = {.struct_size = sizeof(info)};
    memspan_allocator_stats_t stats = {.struct_size = sizeof(stats)};
    char *p                         = memspan_alloc(a, 1000);

    if ((p == NULL) || (memspan_alloc(a, 1) != NULL) ||
        (memspan_pointer_describe(p + 999, &info) != MEMSPAN_OK) || (info.base != p) ||
        (info.size_bytes != 1000) || (memspan_pointer_describe(p + 1000, &info) == MEMSPAN_OK) ||
        (memspan_allocator_get_stats(a, &stats) != MEMSPAN_OK) || (stats.live_bytes != 1000) ||
        (stats.charged_bytes != 1004) || (memspan_free(p) != MEMSPAN_OK) ||
        (memspan_pointer_describe(p, &info) == MEMSPAN_OK)) {
        exit(5);
    }
    p = memspan_alloc(a, 1000);
    if (p == NULL) {
        exit(6); /* the quarantine is charged to no account */
    }
    memspan_free(p);
}

static const struct {
    const char *name;
    void (*run)(void);
} wrongs[] = {
#define WRONG(name)                                                                                \
    {                                                                                              \
#name, name                                                                                \
    }
    WRONG(double_free),
    WRONG(free_inside),
    WRONG(free_foreign),
    WRONG(free_garbage),
    WRONG(realloc_freed),
    WRONG(double_free_by_thread),
    WRONG(overrun_pattern),
    WRONG(overrun_page),
    WRONG(overrun_read),
    WRONG(overrun_until_realloc),
    WRONG(overrun_until_exit),
    WRONG(underrun),
    WRONG(overrun_large),
    WRONG(overrun_aligned),
    WRONG(underrun_far_aligned),
    WRONG(overrun_pinned),
    WRONG(use_freed),
    WRONG(use_freed_unwinder_faults),
    WRONG(use_freed_with_handler),
    WRONG(elsewhere_with_handler),
    WRONG(elsewhere),
    WRONG(sent),
    WRONG(write_freed_large),
    WRONG(write_freed_pinned),
    WRONG(leak),
    WRONG(leak_of_parent),
    WRONG(nothing_wrong),
    WRONG(many),
    WRONG(many_counted),
    WRONG(many_and_read),
    WRONG(locked_then_used),
    WRONG(all_locked),
    WRONG(read_by_child),
    WRONG(used_again),
    WRONG(many_and_overrun),
    WRONG(sizes_as_asked),
#undef WRONG
};

int main(int argc, char **argv)
{
    size_t i;

    for (i = 0; (argc == 2) && (i < sizeof(wrongs) / sizeof(wrongs[0])); i++) {
        if (strcmp(argv[1], wrongs[i].name) == 0) {
            wrongs[i].run();
            return 0;
        }
    }
    fprintf(stderr, "usage: guard-victim WRONG\n");
    return 2;
}
