/* SPDX-License-Identifier: BSD-3-Clause */
/* awkward.c CASE: a program that does what a watching library may not expect. Status 1 when it sees
 * a difference to running alone. */

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <memspan/memspan.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    BYTES       = 1 << 20,
    BLOCKS      = 34000,
    BLOCK_BYTES = 200000,
    ENDED       = 20000,
    STEPS       = 1000,
    PART_BYTES  = 8 << 20
};

static void *filled(size_t size_bytes, int byte)
{
    void *memory = malloc(size_bytes);

    return (memory == NULL) ? NULL : memset(memory, byte, size_bytes);
}

static bool holds(const char *memory, size_t size_bytes, int byte)
{
    size_t i = 0;

    while ((i < size_bytes) && (memory[i] == byte)) {
        i++;
    }
    return i == size_bytes;
}

/* A child's memory is its own. */
static bool fork_and_change(char *memory, size_t size_bytes)
{
    int byte    = memory[0];
    pid_t child = fork();
    int status;

    if (child == 0) {
        memset(memory, byte + 1, size_bytes);
        _exit(0);
    }
    return (child > 0) && (waitpid(child, &status, 0) == child) && (status == 0) &&
           holds(memory, size_bytes, byte);
}

static int change(void *memory)
{
    memset(memory, 9, BYTES);
    return 0;
}

static pid_t by_fork_call(void *memory)
{
    (void)memory;
#ifdef SYS_fork
    return (pid_t)syscall(SYS_fork);
#else
    return _Fork();
#endif
}

static pid_t by_clone_call(void *memory)
{
    (void)memory;
    return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static pid_t by_clone3_call(void *memory)
{
    struct clone_args arguments = {.exit_signal = SIGCHLD};
    pid_t made                  = (pid_t)syscall(SYS_clone3, &arguments, sizeof(arguments));

    return ((made < 0) && (errno == ENOSYS)) ? by_clone_call(memory) : made;
}

static pid_t by_clone(void *memory)
{
    static char stack[1 << 16];

    return clone(change, stack + sizeof(stack), SIGCHLD, memory, NULL, NULL, NULL);
}

static pid_t by_fork_without_handlers(void *memory)
{
    (void)memory;
    return _Fork();
}

/* Does a child that changes @p memory leave this process's as it is? */
static bool copy(pid_t (*make)(void *memory), char *memory)
{
    int status  = 1;
    pid_t child = make(memory);

    if (child == 0) {
        _exit(change(memory));
    }
    return (child > 0) && (waitpid(child, &status, 0) == child) && (status == 0) &&
           holds(memory, BYTES, 1);
}

/* Children that are made without fork(), so without its handlers. */
static bool copies(void)
{
    static const struct {
        const char *name;
        pid_t (*make)(void *memory);
    } ways[]  = {{"_Fork", by_fork_without_handlers},
                 {"SYS_fork", by_fork_call},
                 {"SYS_clone", by_clone_call},
                 {"SYS_clone3", by_clone3_call},
                 {"clone", by_clone}};
    bool good = true;

    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        char *memory = filled(BYTES, 1);

        if ((memory == NULL) || !copy(ways[i].make, memory)) {
            fprintf(stderr, "%s: the child's changes are here\n", ways[i].name);
            good = false;
        }
        free(memory);
    }
    return good;
}

/* A child that is made while the library's thread has long been at work. */
static bool late_copy(void)
{
    static const struct timespec pause = {.tv_nsec = 500000000};
    char *memory                       = filled(BYTES, 1);
    bool good;

    (void)nanosleep(&pause, NULL);
    good = (memory != NULL) && copy(by_fork_without_handlers, memory);
    free(memory);
    return good;
}

/* What a call that makes no process says of it, where the library's descriptor is not there. */
static bool failures(void)
{
    char *memory = filled(BYTES, 1);
    bool good;

    for (int i = 3; i < 64; i++) {
        (void)close(i);
    }
    errno = 0;
    good  = (syscall(SYS_clone, CLONE_THREAD, 0, 0, 0, 0) == -1) && (errno == EINVAL);
    free(memory);
    return good;
}

/* The calls of the loader and of a program that allocates and writes; others end it. */
static bool forbid(void)
{
    static const int allowed[] = {
#ifdef SYS_arch_prctl
        SYS_arch_prctl, SYS_access,
#endif
        SYS_read,       SYS_write,           SYS_close,
        SYS_mmap,       SYS_munmap,          SYS_mremap,
        SYS_brk,        SYS_exit_group,      SYS_futex,
        SYS_execve,     SYS_openat,          SYS_pread64,
        SYS_fstat,      SYS_newfstatat,      SYS_mprotect,
        SYS_faccessat,  SYS_set_tid_address, SYS_set_robust_list,
        SYS_rseq,       SYS_prlimit64,       SYS_getrandom};
    enum { COUNT = sizeof(allowed) / sizeof(allowed[0]) };
    struct sock_filter code[COUNT + 3];
    struct sock_fprog program = {COUNT + 3, code};

    code[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0);
    for (int i = 0; i < COUNT; i++) {
        code[i + 1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[i],
                                                   (unsigned char)(COUNT - i), 0);
    }
    code[COUNT + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    code[COUNT + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    return (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) &&
           (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) ==
            0);
}

/* Blocks of before and after the filter. */
static bool filtered(void)
{
    static const struct timespec pause = {.tv_nsec = 200000000};
    char *before                       = filled(BYTES, 1);
    char *grown                        = filled(BYTES, 2);
    char *after;
    bool good;

    (void)nanosleep(&pause, NULL);
    if ((before == NULL) || (grown == NULL) || !forbid()) {
        return false;
    }
    after = filled(BYTES, 3);
    grown = realloc(grown, 2 * BYTES);
    good  = (after != NULL) && (grown != NULL) && holds(before, BYTES, 1) &&
           holds(grown, BYTES, 2) && holds(after, BYTES, 3);
    free(before);
    free(grown);
    free(after);
    return good;
}

/* A program that the filter is there before. */
static bool filtered_start(void)
{
    return forbid() && (execl("/bin/true", "true", (char *)NULL) == 0);
}

/* What the files of memory that are open here hold. */
static size_t memory_files_bytes(void)
{
    size_t bytes = 0;

    for (int i = 3; i < 64; i++) {
        struct stat facts;
        char link[32];
        char name[16];

        (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", i);
        if ((readlink(link, name, sizeof(name)) > 7) && (memcmp(name, "/memfd:", 7) == 0) &&
            (fstat(i, &facts) == 0)) {
            bytes += (size_t)facts.st_blocks * 512;
        }
    }
    return bytes;
}

/* Many children, each of which has a block that its parent frees. */
static bool forks(void)
{
    char *kept = filled(BYTES, 1);
    bool good  = true;

    for (int i = 0; i < 20; i++) {
        char *block = filled(BYTES, i);

        good = fork_and_change(block, BYTES) && good;
        free(block);
    }
    good = good && holds(kept, BYTES, 1);
    free(kept);
    return good && (memory_files_bytes() < 4 * BYTES);
}

/* Descriptors that it does not know are closed, and their numbers are its own files'. */
static bool descriptors(void)
{
    static char text[4096];
    char *blocks[8];
    char *early = filled(BYTES, 1);
    struct stat facts;
    bool good = true;
    int fd    = -1;

    for (int i = 3; i < 64; i++) {
        (void)close(i);
    }
    memset(text, 'x', sizeof(text));
    for (int i = 3; i < 64; i++) {
        fd = open("own", O_RDWR | O_CREAT, S_IRUSR | S_IWUSR);
    }
    good = good && (write(fd, text, sizeof(text)) == sizeof(text));
    for (int i = 0; i < 8; i++) {
        blocks[i] = filled(BYTES, i);
    }
    for (int i = 0; i < 8; i++) {
        good = good && holds(blocks[i], BYTES, i);
        free(blocks[i]);
    }
    good = good && fork_and_change(early, BYTES);
    free(early);
    return good && (fstat(fd, &facts) == 0) && (facts.st_size == sizeof(text)) &&
           (pread(fd, text, sizeof(text), 0) == sizeof(text)) && holds(text, sizeof(text), 'x');
}

/* A block from one of 1 << depth call sites. */
static char *take_by(size_t path, int depth)
{
    static volatile size_t turns[2]; /* keep the two calls apart */
    char *memory;

    if (depth == 0) {
        return malloc(BLOCK_BYTES);
    }
    if (path % 2 == 0) {
        memory = take_by(path / 2, depth - 1);
        turns[0]++;
    } else {
        memory = take_by(path / 2, depth - 1);
        turns[1]++;
    }
    return memory;
}

/* More blocks than a process may have mappings, of many call sites. */
static bool many(void)
{
    static char *blocks[BLOCKS];
    bool good = true;

    for (size_t i = 0; good && (i < BLOCKS); i++) {
        blocks[i] = take_by(i, 9);
        good      = blocks[i] != NULL;
        if (good) {
            blocks[i][BLOCK_BYTES / 2] = (char)i;
        }
    }
    for (size_t i = 0; good && (i < BLOCKS); i++) {
        good = blocks[i][BLOCK_BYTES / 2] == (char)i;
    }
    for (size_t i = 0; i < BLOCKS; i++) {
        free(blocks[i]);
    }
    return good;
}

/* As many blocks as are sampled at a time, which end or shrink. */
static void ended(void)
{
    for (size_t i = 0; i < ENDED; i++) {
        char *block = take_by(i, 9);

        free((i % 2 == 0) ? block : realloc(block, BLOCK_BYTES / 2));
    }
}

static bool grow(void)
{
    unsigned char *memory = NULL;
    bool good             = true;

    for (size_t i = 1; i <= STEPS; i++) {
        memory                = realloc(memory, i * 65536);
        memory[i * 65536 - 1] = (unsigned char)i;
    }
    for (size_t i = 1; i <= STEPS; i++) {
        good = good && (memory[i * 65536 - 1] == (unsigned char)i);
    }
    free(memory);
    return good;
}

/* What is behind a block that has shrunk is others' memory. */
static bool shrink(void)
{
    char *memory = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, BYTES);
    char *others[32];
    bool good = true;

    memory = memspan_realloc(MEMSPAN_ALLOCATOR_NULL, memset(memory, 1, BYTES), BYTES / 4);
    for (int i = 0; i < 32; i++) {
        others[i] = memset(memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 20000), 2, 20000);
    }
    good = holds(memory, BYTES / 4, 1) && (memspan_free(memory) == MEMSPAN_OK);
    for (int i = 0; i < 32; i++) {
        good = good && holds(others[i], 20000, 2);
        (void)memspan_free(others[i]);
    }
    return good;
}

/* All of malloc's relatives belong together; placed blocks may come from any of them. */
static bool family(void)
{
    void *memory[] = {filled(BYTES, 1), memalign(4096, BYTES), valloc(BYTES), pvalloc(BYTES - 1),
                      realloc(filled(100, 1), BYTES)};
    bool good      = true;

    for (size_t i = 0; i < sizeof(memory) / sizeof(memory[0]); i++) {
        good = good && (malloc_usable_size(memory[i]) >= BYTES);
        memset(memory[i], 7, BYTES);
        memory[i] = realloc(memory[i], 2 * BYTES);
        good      = good && holds(memory[i], BYTES, 7);
        memory[i] = realloc(memory[i], 1000);
        good      = good && holds(memory[i], 1000, 7);
        good      = good && (realloc(memory[i], 0) == NULL);
    }
    memory[0] = filled(BYTES, 1);
    return good && (realloc(memory[0], 0) == NULL) && (malloc_usable_size(NULL) == 0);
}

/* Blocks that are too small to be watched, until the profile has them. */
static bool small(void)
{
    for (int i = 0; i < 512; i++) {
        (void)filled(32 << 10, 1);
    }
    free(filled(BYTES, 1));
    return true;
}

static double now_s(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Three quarters of an array are used, and all of another one a tenth as often. */
static void use_part(double seconds)
{
    volatile char *part = filled(4 * PART_BYTES, 1);
    volatile char *all  = filled(PART_BYTES, 1);
    double began_s      = now_s();

    for (size_t pass = 0; now_s() - began_s < seconds; pass++) {
        for (size_t i = 0; i < 3 * PART_BYTES; i += 64) {
            part[i]++;
        }
        for (size_t i = 0; (pass % 10 == 0) && (i < PART_BYTES); i += 64) {
            all[i]++;
        }
    }
    free((void *)(uintptr_t)part);
    free((void *)(uintptr_t)all);
}

int main(int argument_count, char **arguments)
{
    static const struct {
        const char *name;
        bool (*run)(void);
    } cases[]        = {{"descriptors", descriptors},
                        {"forks", forks},
                        {"many", many},
                        {"grow", grow},
                        {"shrink", shrink},
                        {"family", family},
                        {"small", small},
                        {"copies", copies},
                        {"late_copy", late_copy},
                        {"failures", failures},
                        {"filtered", filtered},
                        {"filtered_start", filtered_start}};
    const char *name = (argument_count > 1) ? arguments[1] : "";

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (strcmp(cases[i].name, name) == 0) {
            return cases[i].run() ? 0 : 1;
        }
    }
    if (strcmp(name, "ended") == 0) {
        ended();
    }
    use_part((strcmp(name, "long") == 0) ? 60 : 2);
    if (strcmp(name, "killed") == 0) {
        (void)raise(SIGKILL);
    }
    return 0;
}
