/* SPDX-License-Identifier: BSD-3-Clause */
/* limit [quick] ROW...: the limit of the machine for the points of an OpenSHMEM library. Two
 * processes map two memory objects, each its own and the other's; plain copies, flags and atomic
 * operations, without checks, look-ups or notifications.
 *
 * A barrier's limit is two round trips of a flag. */

#include "batch.h"
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROOM = 4 << 20, SPINS = 50, WINDOW = 64 };

/* A process's memory, as both see it: the flag on a line of its own. */
struct side {
    _Alignas(128) _Atomic long flag;
    _Alignas(128) _Atomic long next; /* turns of the next batch; 0: none */
    _Alignas(128) _Atomic long word;
    _Alignas(4096) char source[ROOM];
    _Alignas(4096) char target[ROOM];
};

static struct side *mine;
static struct side *theirs;
static bool quick;
static long turn;
static volatile long seen; /* keeps the loops */

/* Few polls: the line stays with its writer longer, and flags arrive sooner. */
static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" : : : "memory");
#endif
}

/* Polls, then yields: both may be on one processor. */
static void wait_for(_Atomic long *flag, long value)
{
    for (int spins = 0; atomic_load_explicit(flag, memory_order_acquire) < value; spins++) {
        relax();
        if (spins > SPINS) {
            (void)sched_yield();
        }
    }
}

static void notify(_Atomic long *flag, long value)
{
    atomic_store_explicit(flag, value, memory_order_release);
}

/* ---- what process 0 does alone ---- */

static void copy_there(size_t size, size_t operations)
{
    for (size_t i = 0; i < operations; i++) {
        memcpy(theirs->target, mine->source, size);
        __asm__ volatile("" : : : "memory");
    }
}

static void copy_here(size_t size, size_t operations)
{
    for (size_t i = 0; i < operations; i++) {
        memcpy(mine->source, theirs->target, size);
        __asm__ volatile("" : : : "memory");
    }
}

static void store(size_t size, size_t operations)
{
    (void)size;
    for (size_t i = 0; i < operations; i++) {
        notify(&theirs->word, (long)i);
    }
}

static void load(size_t size, size_t operations)
{
    (void)size;
    for (size_t i = 0; i < operations; i++) {
        seen = atomic_load_explicit(&theirs->word, memory_order_relaxed);
    }
}

static void fetch_add(size_t size, size_t operations)
{
    (void)size;
    for (size_t i = 0; i < operations; i++) {
        seen = atomic_fetch_add(&theirs->word, 1);
    }
}

/* ---- what both do ---- */

static void there_and_back(bool first, size_t operations)
{
    for (size_t i = 0; i < operations; i++) {
        turn++;
        if (first) {
            notify(&theirs->flag, turn);
            wait_for(&mine->flag, turn);
        } else {
            wait_for(&mine->flag, turn);
            notify(&theirs->flag, turn);
        }
    }
}

enum unit { NS, RATE, BANDWIDTH };

struct point {
    const char *row;
    const char *name;
    void (*run)(size_t size, size_t operations); /* NULL: flags there and back */
    size_t size_bytes;
    double factor; /* times one copy, or one round trip */
    enum unit unit;
};

static const struct point points[] = {{"put", "put-8", copy_there, 8, 1, NS},
                                      {"put", "put-64", copy_there, 64, 1, NS},
                                      {"put", "put-1k", copy_there, 1024, 1, NS},
                                      {"put", "put-8k", copy_there, 8192, 1, NS},
                                      {"put", "put-64k", copy_there, 65536, 1, NS},
                                      {"put", "put-1m", copy_there, 1 << 20, 1, NS},
                                      {"put", "put-4m", copy_there, 4 << 20, 1, NS},
                                      {"put", "put-data-8", copy_there, 8, 1, NS},
                                      {"put", "put-data-1k", copy_there, 1024, 1, NS},
                                      {"put", "put-data-8k", copy_there, 8192, 1, NS},
                                      {"put", "put-data-64k", copy_there, 65536, 1, NS},
                                      {"put", "put-data-1m", copy_there, 1 << 20, 1, NS},
                                      {"get", "get-8", copy_here, 8, 1, NS},
                                      {"get", "get-64", copy_here, 64, 1, NS},
                                      {"get", "get-1k", copy_here, 1024, 1, NS},
                                      {"get", "get-8k", copy_here, 8192, 1, NS},
                                      {"get", "get-64k", copy_here, 65536, 1, NS},
                                      {"get", "get-1m", copy_here, 1 << 20, 1, NS},
                                      {"get", "get-4m", copy_here, 4 << 20, 1, NS},
                                      {"get", "get-data-8", copy_here, 8, 1, NS},
                                      {"get", "get-data-1k", copy_here, 1024, 1, NS},
                                      {"get", "get-data-8k", copy_here, 8192, 1, NS},
                                      {"get", "get-data-64k", copy_here, 65536, 1, NS},
                                      {"get", "get-data-1m", copy_here, 1 << 20, 1, NS},
                                      {"scalar", "p", store, 0, 1, NS},
                                      {"scalar", "p-64", store, 0, 1, NS},
                                      {"scalar", "p-data", store, 0, 1, NS},
                                      {"scalar", "g", load, 0, 1, NS},
                                      {"scalar", "g-data", load, 0, 1, NS},
                                      {"nbi", "nbi-8", copy_there, 8, 1, RATE},
                                      {"nbi", "nbi-1k", copy_there, 1024, 1, RATE},
                                      {"nbi", "nbi-get-8", copy_here, 8, 1, RATE},
                                      {"nbi", "nbi-64k", copy_there, 65536, 1, BANDWIDTH},
                                      {"nbi", "nbi-1m", copy_there, 1 << 20, 1, BANDWIDTH},
                                      {"nbi", "nbi-4m", copy_there, 4 << 20, 1, BANDWIDTH},
                                      {"atomic", "fetch-add", fetch_add, 0, 1, NS},
                                      {"atomic", "fetch-add-data", fetch_add, 0, 1, NS},
                                      {"atomic", "add", fetch_add, 0, 1, NS},
                                      {"atomic", "add-64", fetch_add, 0, 1, NS},
                                      {"atomic", "fetch", load, 0, 1, NS},
                                      {"barrier", "barrier", NULL, 0, 2, NS},
                                      {"barrier", "sync", NULL, 0, 2, NS},
                                      {"visible", "visible-p", NULL, 0, 0.5, NS},
                                      {"visible", "visible-data", NULL, 0, 0.5, NS},
                                      {"visible", "visible-put", NULL, 0, 0.5, NS}};

static double convert(const struct point *point, double ns)
{
    switch (point->unit) {
    case RATE:
        return 1e3 / ns;
    case BANDWIDTH:
        return (double)point->size_bytes / ns * 1e9 / (1 << 30);
    case NS:
        break;
    }
    return point->factor * ns;
}

static void print(const struct point *point, const struct batches *batches)
{
    batch_print(point->name, convert(point, batches->per_operation_ns[0]),
                convert(point, batches_median(batches)));
}

static void measure_alone(const struct point *point)
{
    struct batches batches = {.count = 0};
    size_t operations      = 1;

    while (operations > 0) {
        double took_ns = batch_now_ns();

        point->run(point->size_bytes, operations);
        took_ns    = batch_now_ns() - took_ns;
        operations = batches_next(&batches, operations, took_ns, quick);
    }
    print(point, &batches);
}

static void measure_both(const struct point *point, bool first)
{
    struct batches batches = {.count = 0};
    size_t operations      = 1;

    while (operations > 0) {
        double took_ns;

        there_and_back(first, 1); /* together */
        took_ns = batch_now_ns();
        there_and_back(first, operations);
        took_ns = batch_now_ns() - took_ns;
        if (first) {
            operations = batches_next(&batches, operations, took_ns, quick);
            notify(&theirs->next, (long)operations);
        }
        there_and_back(first, 1);
        if (!first) {
            operations = (size_t)atomic_load(&mine->next);
        }
    }
    if (first) {
        print(point, &batches);
    }
}

static bool is_asked_for(const char *row, char **rows)
{
    for (; *rows != NULL; rows++) {
        if (strcmp(*rows, row) == 0) {
            return true;
        }
    }
    return false;
}

static struct side *map(int file)
{
    void *address = mmap(NULL, sizeof(struct side), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

    return (address == MAP_FAILED) ? NULL : address;
}

static void run(bool first, const int files[2], char **rows)
{
    cpu_set_t allowed;

    mine   = map(files[first ? 0 : 1]);
    theirs = map(files[first ? 1 : 0]);
    if ((mine == NULL) || (theirs == NULL)) {
        fprintf(stderr, "cannot map memory: %s\n", strerror(errno));
        exit(1);
    }
    if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) {
        batch_bind(&allowed, first ? 0 : 1);
    }
    memset(mine->source, 1, ROOM);
    memset(mine->target, 1, ROOM);
    there_and_back(first, 1);
    for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
        if (!is_asked_for(points[i].row, rows)) {
            continue;
        }
        if (first && ((i == 0) || (strcmp(points[i].row, points[i - 1].row) != 0))) {
            printf("row %s\n", points[i].row);
        }
        if (points[i].run == NULL) {
            measure_both(&points[i], first);
        } else if (first) {
            measure_alone(&points[i]);
        }
    }
}

int main(int argument_count, char **arguments)
{
    int files[2];
    pid_t other;
    int status;

    quick = (argument_count > 1) && (strcmp(arguments[1], "quick") == 0);
    for (int i = 0; i < 2; i++) {
        files[i] = memfd_create("rma-limit", MFD_CLOEXEC);
        if ((files[i] < 0) || (ftruncate(files[i], sizeof(struct side)) != 0)) {
            fprintf(stderr, "cannot make a memory object: %s\n", strerror(errno));
            return 1;
        }
    }
    other = fork();
    if (other == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        run(false, files, arguments + 1);
        return 0;
    }
    if (other < 0) {
        fprintf(stderr, "cannot fork: %s\n", strerror(errno));
        return 1;
    }
    run(true, files, arguments + 1);
    return ((waitpid(other, &status, 0) == other) && (status == 0)) ? 0 : 1;
}
