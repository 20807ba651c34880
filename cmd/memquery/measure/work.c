/* SPDX-License-Identifier: BSD-3-Clause */
/* work.c: the host's own loops. This file is compiled with optimisation in every build: an
 * unoptimised loop would measure the loop. */

#include "cmd/common/clock.h"
#include "cmd/memquery/measure/measure.h"
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS_MAX = 256 };

/* ---- chain ---- */

static void *node_at(const struct measure_chain *chain, size_t position)
{
    return (char *)chain->nodes +
           (size_t)chain->order[position % chain->count] * MEASURE_STRIDE_BYTES;
}

bool measure_chain_make(struct measure_chain *chain, void *nodes, size_t count, void *image)
{
    uint64_t state = UINT64_C(0x9e3779b97f4a7c15);

    *chain       = (struct measure_chain){.nodes = nodes, .count = count};
    chain->order = malloc(count * sizeof(chain->order[0]));
    if (chain->order == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        chain->order[i] = (uint32_t)i;
    }
    for (size_t i = count - 1; i > 0; i--) { /* Fisher and Yates, with xorshift */
        uint32_t kept = chain->order[i];
        size_t j;

        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        j               = (size_t)(state % (i + 1));
        chain->order[i] = chain->order[j];
        chain->order[j] = kept;
    }
    for (size_t i = 0; i < count; i++) {
        size_t offset = (size_t)chain->order[i] * MEASURE_STRIDE_BYTES;

        *(void **)((char *)image + offset) = node_at(chain, i + 1);
    }
    return true;
}

void measure_chain_free(struct measure_chain *chain)
{
    free(chain->order);
    chain->order = NULL;
}

void *measure_chain_begin(const struct measure_chain *chain)
{
    return node_at(chain, chain->at);
}

void *measure_chain_end(const struct measure_chain *chain, size_t steps)
{
    return node_at(chain, chain->at + steps);
}

void *measure_walk(void *first, size_t steps)
{
    void *volatile *next = first;

    for (size_t i = 0; i < steps; i++) {
        next = *next;
    }
    return (void *)next;
}

/* ---- vectors ---- */

struct team {
    pthread_mutex_t gate;
    pthread_barrier_t barrier;
    double a;
    const double *x; /* NULL: fill z with a */
    const double *y;
    double *z;
    size_t passes;
};

struct member {
    pthread_t thread;
    struct team *team;
    size_t first;
    size_t end;
};

static void *work(void *argument)
{
    const struct member *member = argument;
    struct team *team           = member->team;
    const double *restrict x    = team->x;
    const double *restrict y    = team->y;
    double *restrict z          = team->z;

    pthread_mutex_lock(&team->gate);
    pthread_mutex_unlock(&team->gate);
    pthread_barrier_wait(&team->barrier);
    for (size_t pass = 0; pass < team->passes; pass++) {
        for (size_t i = member->first; (x == NULL) && (i < member->end); i++) {
            z[i] = team->a;
        }
        for (size_t i = member->first; (x != NULL) && (i < member->end); i++) {
            z[i] += team->a * x[i] + y[i];
        }
    }
    pthread_barrier_wait(&team->barrier);
    return NULL;
}

static size_t thread_count(void)
{
    cpu_set_t set;
    int count = (sched_getaffinity(0, sizeof(set), &set) == 0) ? CPU_COUNT(&set)
                                                               : (int)sysconf(_SC_NPROCESSORS_ONLN);

    return (count < 1) ? 1 : ((count > THREADS_MAX) ? THREADS_MAX : (size_t)count);
}

/* As many members as threads could be started; they wait at the gate until their number, and
 * with it their chunks, are known. */
static int64_t run_team(struct team *team, struct member *members, size_t count)
{
    size_t threads = thread_count();
    size_t started = 0;
    int64_t begin_ns;

    pthread_mutex_init(&team->gate, NULL);
    pthread_mutex_lock(&team->gate);
    for (size_t i = 0; i < threads; i++) {
        members[i].team = team;
    }
    while ((started + 1 < threads) &&
           (pthread_create(&members[started].thread, NULL, work, &members[started]) == 0)) {
        started++;
    }
    threads = started + 1;
    for (size_t i = 0; i < threads; i++) {
        members[i].first = count * i / threads;
        members[i].end   = count * (i + 1) / threads;
    }
    pthread_barrier_init(&team->barrier, NULL, (unsigned)threads);
    pthread_mutex_unlock(&team->gate);
    begin_ns = cli_clock_ns();
    work(&members[started]);
    begin_ns = cli_clock_ns() - begin_ns;
    for (size_t i = 0; i < started; i++) {
        pthread_join(members[i].thread, NULL);
    }
    pthread_barrier_destroy(&team->barrier);
    pthread_mutex_destroy(&team->gate);
    return begin_ns;
}

int64_t measure_daxpy(double a, const double *x, const double *y, double *z, size_t count,
                      size_t passes)
{
    struct team team = {.a = a, .x = x, .y = y, .z = z, .passes = passes};
    struct member members[THREADS_MAX];

    return run_team(&team, members, count);
}

void measure_fill(double *array, size_t count, double value)
{
    struct team team = {.a = value, .z = array, .passes = 1};
    struct member members[THREADS_MAX];

    run_team(&team, members, count);
}

size_t measure_cache_bytes(void)
{
    long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);

    return (bytes > 0) ? (size_t)bytes : (size_t)32 << 20;
}
