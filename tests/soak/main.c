/* SPDX-License-Identifier: BSD-3-Clause */
/* main.c: memspan-soak [--seconds N] [--threads T] [--seed S] [--no-forks]
 *
 * A round: every thread lives a few times, one life after the other, each a thread of its own that
 * starts, takes some steps and exits, so that blocks outlive the threads that took them. After a
 * round nothing runs and the counters are compared; after every fourth everything is given back
 * and nothing may be held. */

#include "soak.h"
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LIVES = 4, STEPS_MAX = 3000, ROUNDS_TO_EMPTY = 4 };

struct soak_options soak_options = {10, 4, 1, true};
struct soak_thread soak_threads[SOAK_THREADS_MAX];
static time_t deadline;

void soak_fail(const struct soak_thread *t, const char *format, ...)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    char what[1024];
    char line[1400];
    va_list args;
    int n;

    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    n = snprintf(line, sizeof(line),
                 "soak: --seed %" PRIu64 " --threads %u, thread %d, step %" PRIu64 ": %s\n",
                 soak_options.seed, soak_options.threads, (t == NULL) ? -1 : (int)t->index,
                 (t == NULL) ? 0 : t->step, what);
    if (!atomic_flag_test_and_set(&said) && (write(STDERR_FILENO, line, (size_t)n) < 0)) {
        /* Nowhere left to say so. */
    }
    _exit(EXIT_FAILURE);
}

/* ---- random numbers: splitmix64 ---- */

uint64_t soak_random_next(struct soak_random *r)
{
    uint64_t z = (r->state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

struct soak_random soak_random_at(uint64_t seed, unsigned thread, uint64_t step)
{
    struct soak_random r = {seed * UINT64_C(0xd1342543de82ef95) + thread};

    r.state = soak_random_next(&r) + step * UINT64_C(0xda942042e4dd58b5);
    return r;
}

size_t soak_random_below(struct soak_random *r, size_t limit)
{
    return (size_t)(soak_random_next(r) >> 16) % limit;
}

bool soak_random_once_in(struct soak_random *r, size_t n)
{
    return soak_random_below(r, n) == 0;
}

/* ---- threads ---- */

static bool time_is_up(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec >= deadline;
}

static void *live_once(void *argument)
{
    struct soak_thread *t = argument;
    struct soak_random r  = soak_random_at(soak_options.seed, 1000 + t->index, t->step);
    size_t steps          = 1 + soak_random_below(&r, STEPS_MAX);

    for (size_t i = 0; (i < steps) && ((i % 64 != 0) || !time_is_up()); i++) {
        soak_step(t);
    }
    soak_end_life(t);
    return NULL;
}

static void run_thread(void *(*work)(void *), struct soak_thread *t, pthread_t *thread_p)
{
    int code = pthread_create(thread_p, NULL, work, t);

    if (code != 0) {
        soak_fail(NULL, "no thread: %s", strerror(code));
    }
}

/* Makes the thread's lives, and calls the library itself never. */
static void *keep(void *argument)
{
    pthread_t life;

    for (int i = 0; i < LIVES; i++) {
        run_thread(live_once, argument, &life);
        pthread_join(life, NULL);
    }
    return NULL;
}

static void *empty(void *argument)
{
    soak_empty(argument);
    return NULL;
}

static void run_all(void *(*work)(void *))
{
    pthread_t threads[SOAK_THREADS_MAX];

    for (unsigned i = 0; i < soak_options.threads; i++) {
        run_thread(work, &soak_threads[i], &threads[i]);
    }
    for (unsigned i = 0; i < soak_options.threads; i++) {
        pthread_join(threads[i], NULL);
    }
}

/* Everything is freed, half of the time by other threads than before: nothing may be held. */
static void give_all_back(unsigned round)
{
    memspan_allocator_stats_t stats = {.struct_size = sizeof(stats)};

    if (round % 2 == 0) {
        run_all(empty);
    } else {
        for (unsigned i = 0; i < soak_options.threads; i++) {
            soak_empty(&soak_threads[i]);
        }
    }
    soak_compare_all();
    memspan_trim();
    soak_compare_all();
    if ((memspan_allocator_get_stats(MEMSPAN_ALLOCATOR_NULL, &stats) != MEMSPAN_OK) ||
        (stats.held_bytes != 0)) {
        soak_fail(NULL, "%" PRIu64 " bytes are held although nothing is live and all was trimmed",
                  stats.held_bytes);
    }
}

static unsigned run_rounds(void)
{
    unsigned round = 0;

    while (!time_is_up()) {
        run_all(keep);
        soak_compare_all();
        round++;
        if (round % ROUNDS_TO_EMPTY == 0) {
            give_all_back(round / ROUNDS_TO_EMPTY);
        }
        for (unsigned i = 0; i < soak_options.threads; i++) {
            soak_world_forget(&soak_threads[i]);
        }
    }
    return round;
}

/* ---- options ---- */

static uint64_t number(const char *text)
{
    char *end;
    uint64_t value = strtoull(text, &end, 0);

    if ((*text == '\0') || (*end != '\0')) {
        fprintf(stderr, "memspan-soak: \"%s\" is no number\n", text);
        exit(2);
    }
    return value;
}

static void read_options(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--no-forks") == 0) {
            soak_options.forks = false;
        } else if ((strcmp(argv[i], "--seconds") == 0) && (i + 1 < argc)) {
            soak_options.seconds = (unsigned)number(argv[++i]);
        } else if ((strcmp(argv[i], "--threads") == 0) && (i + 1 < argc)) {
            soak_options.threads = (unsigned)number(argv[++i]);
        } else if ((strcmp(argv[i], "--seed") == 0) && (i + 1 < argc)) {
            soak_options.seed = number(argv[++i]);
        } else {
            fprintf(stderr,
                    "usage: memspan-soak [--seconds N] [--threads T] [--seed S] [--no-forks]\n");
            exit(2);
        }
    }
    if ((soak_options.threads == 0) || (soak_options.threads > SOAK_THREADS_MAX)) {
        fprintf(stderr, "memspan-soak: 1 to %d threads\n", SOAK_THREADS_MAX);
        exit(2);
    }
}

int main(int argc, char **argv)
{
    struct timespec now;
    uint64_t steps = 0;
    unsigned rounds;

    read_options(argc, argv);
    /* The pretended devices, unless the caller wants another machine. */
    setenv("MEMSPAN_BACKEND_PATH", FAKES, 0);
    setenv("FAKEA_DEVICES", "discrete,unified", 0);
    setenv("FAKEB_DEVICES", "managed,import", 0);
    setenv("FAKE_CAPACITY", "17179869184", 0);
    setenv("MEMSPAN_LOG", "error", 0);
    clock_gettime(CLOCK_MONOTONIC, &now);
    deadline = now.tv_sec + (time_t)soak_options.seconds;
    soak_world_make();
    for (unsigned i = 0; i < soak_options.threads; i++) {
        soak_threads[i].index = i;
    }
    rounds = run_rounds();
    for (unsigned i = 0; i < soak_options.threads; i++) {
        soak_world_end_own(&soak_threads[i]);
    }
    give_all_back(0);
    soak_world_end();
    for (unsigned i = 0; i < soak_options.threads; i++) {
        soak_world_forget(&soak_threads[i]);
        steps += soak_threads[i].step;
    }
    printf("%zu allocators, %u threads, %u rounds, %" PRIu64 " steps: nothing wrong\n",
           soak_shared_count, soak_options.threads, rounds, steps);
    return 0;
}
