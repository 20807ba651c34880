/* SPDX-License-Identifier: BSD-3-Clause */
/* records.c: queues whose driver fails to record one event, each in its turn.
 *
 *     queue-records DRIVER VARIABLE
 *
 * A fixed scenario runs in a child process, once without a failure and then with the first, the
 * second, ... recording failing, up to the last one that there is. VARIABLE makes the pretended
 * driver, the library DRIVER, fail so. Each call of the library must succeed, since it can wait on
 * the host instead. The bytes must be right, no rule of the driver broken, and as many of its
 * objects left as without a failure. */

#include <dlfcn.h>
#include <memspan/memspan.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { QUEUES = 4, ROUNDS = 3, COPIES = QUEUES * ROUNDS, BYTES = 10000, SECONDS = 20 };
enum { GOOD, WRONG, NONE_FAILED };

#define DO(call)                                                                                   \
    do {                                                                                           \
        if ((call) != MEMSPAN_OK) {                                                                \
            fprintf(stderr, "%s: %s\n", #call, memspan_error_text());                              \
            _exit(WRONG);                                                                          \
        }                                                                                          \
    } while (0)

static memspan_queue_h queues[QUEUES];
static memspan_allocator_h allocator;
static unsigned char *copies;
static int *live; /* objects of the driver, without a failure */

static void *find(void *driver, const char *name)
{
    void *address = (driver == NULL) ? NULL : dlsym(driver, name);

    if (address == NULL) {
        fprintf(stderr, "no %s: %s\n", name, dlerror());
        _exit(WRONG);
    }
    return address;
}

static void *allocate(int queue)
{
    void *address = memspan_alloc_on(allocator, BYTES, queues[queue]);

    if (address == NULL) {
        fprintf(stderr, "no memory: %s\n", memspan_error_text());
        _exit(WRONG);
    }
    return address;
}

/* The last queue is the program's own, where the driver has such a function: each free on it
 * records an event. */
static void open_all(void *driver)
{
    void *(*native_new)(void);
    int i;

    *(void **)&native_new = dlsym(driver, "late_native_new");
    for (i = 0; i < QUEUES; i++) {
        bool own = (native_new == NULL) || (i + 1 < QUEUES);
        DO(memspan_queue_open(0, own ? MEMSPAN_QUEUE_OWN : MEMSPAN_QUEUE_CUDA,
                              own ? NULL : native_new(), 0, &queues[i]));
    }
}

/* A block of one queue is copied on the next one, and its memory serves the one after that. */
static void use(int i, unsigned char byte, unsigned char *copy)
{
    int user    = (i + 1) % QUEUES;
    int heir    = (i + 2) % QUEUES;
    void *block = allocate(i);

    DO(memspan_fill_on(queues[i], block, byte, BYTES));
    DO(memspan_queue_wait(queues[user], queues[i]));
    DO(memspan_copy_on(queues[user], copy, block, BYTES));
    DO(memspan_used_on(block, queues[user]));
    DO(memspan_free_on(block, queues[i]));
    block = allocate(heir);
    DO(memspan_fill_on(queues[heir], block, 0xee, BYTES));
    DO(memspan_free_on(block, queues[heir]));
}

static bool are_right(void)
{
    static unsigned char bytes[COPIES * BYTES];
    int i;

    for (i = 0; i < QUEUES; i++) {
        DO(memspan_queue_synchronize(queues[i]));
    }
    DO(memspan_copy(bytes, copies, sizeof(bytes)));
    for (i = 0; i < COPIES * BYTES; i++) {
        if (bytes[i] != 1 + i / BYTES) {
            fprintf(stderr, "byte %d of copy %d is %u\n", i % BYTES, i / BYTES, bytes[i]);
            return false;
        }
    }
    return true;
}

static void end_all(void)
{
    memspan_allocator_stats_t stats = {.struct_size = sizeof(stats)};
    int i;

    DO(memspan_free(copies));
    for (i = 0; i < QUEUES; i++) {
        DO(memspan_queue_close(queues[i]));
    }
    DO(memspan_check());
    DO(memspan_allocator_get_stats(allocator, &stats));
    if (stats.live_bytes != 0) {
        fprintf(stderr, "%llu bytes are live\n", (unsigned long long)stats.live_bytes);
        _exit(WRONG);
    }
    DO(memspan_allocator_destroy(allocator));
    (void)memspan_trim();
}

/* record: the number of the recording that fails; 0: none. */
static int judge(void *driver, int record)
{
    const char *(*failed)(void);
    const char *(*violation)(void);
    int (*left)(void);

    *(void **)&failed    = find(driver, "fake_gpu_failed_call");
    *(void **)&violation = find(driver, "fake_gpu_violation");
    *(void **)&left      = find(driver, "fake_gpu_live");
    if (violation()[0] != '\0') {
        fprintf(stderr, "%s\n", violation());
        return WRONG;
    }
    if (record == 0) {
        *live = left();
    } else if (left() != *live) {
        fprintf(stderr, "%d objects of the driver are left, not %d\n", left(), *live);
        return WRONG;
    }
    return ((record == 0) || (failed()[0] != '\0')) ? GOOD : NONE_FAILED;
}

static int run(const char *name, int record)
{
    memspan_trait_t trait = {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB};
    int device            = 0;
    memspan_space_h space;
    void *driver;
    int i;

    alarm(SECONDS);
    DO(memspan_space_get(&device, 1, MEMSPAN_SPACE_DEFAULT, &space));
    DO(memspan_allocator_create(space, &trait, 1, &allocator));
    copies = memspan_alloc(allocator, COPIES * BYTES);
    driver = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    if ((copies == NULL) || (driver == NULL)) {
        fprintf(stderr, "%s: %s\n", name, (copies == NULL) ? memspan_error_text() : dlerror());
        return WRONG;
    }
    open_all(driver);
    for (i = 0; i < COPIES; i++) {
        use(i % QUEUES, (unsigned char)(1 + i), copies + (size_t)i * BYTES);
    }
    if (!are_right()) {
        return WRONG;
    }
    end_all();
    return judge(driver, record);
}

/* The code of a child; WRONG if a signal ended it. */
static int run_apart(const char *driver, const char *variable, int record)
{
    char number[16];
    int status = 0;
    pid_t child;

    snprintf(number, sizeof(number), "%d", (record == 0) ? -1 : record);
    child = fork();
    if (child == 0) {
        setenv(variable, number, 1);
        _exit(run(driver, record));
    }
    if ((child < 0) || (waitpid(child, &status, 0) != child) || !WIFEXITED(status)) {
        fprintf(stderr, "ended by signal %d\n", WTERMSIG(status));
        return WRONG;
    }
    return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
    int code   = GOOD;
    int record = 0;

    if (argc != 3) {
        fprintf(stderr, "usage: queue-records DRIVER VARIABLE\n");
        return 2;
    }
    live = mmap(NULL, sizeof(*live), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    while (code == GOOD) {
        code = run_apart(argv[1], argv[2], record++);
    }
    if ((code != NONE_FAILED) || (record < COPIES)) {
        fprintf(stderr, "queue-records: with recording %d failing\n", record - 1);
        return 1;
    }
    printf("%d recordings, each failing in its turn\n", record - 2);
    return 0;
}
