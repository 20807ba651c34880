/* SPDX-License-Identifier: BSD-3-Clause */
/* adapt.c [apart, bound, machine]: how long a PE polls, yields and sleeps after turns that it lost.
 * The clock and the processor's number are the test's, yields and sleeps are counted (sleeps.h), so
 * that no result depends on the machine's load.
 *
 *     apart      each PE is alone on its host, and yields while it polls
 *     bound      the same, on a processor of its own
 *     machine    each host has a processor for each of its PEs, and all hosts are on one machine */

#include "tests/shmem/check.h"
#include "tests/shmem/core/sleeps.h"
#include <dlfcn.h>
#include <memspan/status.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { US = 1000, TURN_US = 3000, BUSY_US = 200000, FEW = 3, MANY = 49, ANY = 1000 };

static long word;
static _Thread_local bool is_ours;          /* the clock, for the thread that waits */
static int64_t clock_ns = INT64_C(1) << 60; /* behind all that the true one says */
static int64_t yield_ns;                    /* what each yield takes */
static int processor;                       /* that sched_getcpu() says */

static void set_flag(void)
{
    shmem_long_atomic_set(&word, 1, shmem_my_pe());
}

/* Stand in front of the C library's. */
MEMSPAN_API int clock_gettime(clockid_t id, struct timespec *time_p);
MEMSPAN_API int sched_getcpu(void);

int clock_gettime(clockid_t id, struct timespec *time_p)
{
    int (*next)(clockid_t id_, struct timespec * time_p_);

    if (!is_ours) {
        *(void **)&next = dlsym(RTLD_NEXT, "clock_gettime");
        return next(id, time_p);
    }
    clock_ns += US;
    *time_p = (struct timespec){clock_ns / 1000000000, clock_ns % 1000000000};
    return 0;
}

int sched_getcpu(void)
{
    return processor;
}

static void yielded(void)
{
    clock_ns += yield_ns;
}

struct seen {
    unsigned yields;
    unsigned sleeps;
};

/* Of a wait with yields that take so long. The flag is set during the first sleep. */
static struct seen wait_for_flag(int64_t yield_us)
{
    struct seen before = {atomic_load(&yields_made), atomic_load(&sleeps_begun)};

    word     = 0;
    yield_ns = yield_us * US;
    is_ours  = true;
    atomic_store(&on_yield, yielded);
    atomic_store(&on_sleep, set_flag);
    shmem_long_wait_until(&word, SHMEM_CMP_EQ, 1);
    atomic_store(&on_yield, NULL);
    atomic_store(&on_sleep, NULL);
    is_ours = false;
    return (struct seen){atomic_load(&yields_made) - before.yields,
                         atomic_load(&sleeps_begun) - before.sleeps};
}

static void expect(const char *when, int64_t yield_us, unsigned least, unsigned most)
{
    struct seen seen = wait_for_flag(yield_us);

    CHECK((seen.yields >= least) && (seen.yields <= most) && (seen.sleeps != 0),
          "%s: %u yields, %u sleeps", when, seen.yields, seen.sleeps);
}

static void alone(void)
{
    expect("at first", 1, MANY, 2 * MANY);
    expect("a yield that is answered", 100, 1, MANY);
    expect("the next one", 100, FEW, FEW);
    expect("one that is not", 1, MANY, 2 * MANY);
    expect("a turn is lost", TURN_US, 1, 1);
    expect("soon after it", 1, 0, 0);
    clock_ns += BUSY_US * (int64_t)US;
    expect("long after it", 1, MANY, 2 * MANY);
}

/* All PEs are on one processor, says sched_getcpu(). */
static void together(void)
{
    (void)wait_for_flag(1);
    shmem_barrier_all();
    expect("together", 1, 0, FEW);
    shmem_barrier_all();
}

/* Of 2 PEs, by the variable of oshrun. False: they have one processor. */
static bool have_processors(bool binds)
{
    const char *number = getenv("OSHRUN_PE");
    cpu_set_t set;
    cpu_set_t own;
    int cpu = 0;

    if ((sched_getaffinity(0, sizeof set, &set) != 0) || (CPU_COUNT(&set) < 2)) {
        printf("skipped: PEs without a processor each poll less\n");
        return false;
    }
    if (binds) {
        while (!CPU_ISSET(cpu, &set)) {
            cpu++;
        }
        if ((number != NULL) && (strcmp(number, "0") != 0)) {
            do {
                cpu++;
            } while (!CPU_ISSET(cpu, &set));
        }
        CPU_ZERO(&own);
        CPU_SET(cpu, &own);
        (void)sched_setaffinity(0, sizeof own, &own);
    }
    return true;
}

/* Of every 128 polls the last one yields. */
static void apart(void)
{
    (void)wait_for_flag(1);
    expect("apart", 1, MANY, ANY);
    expect("apart, a yield that is answered", 100, 1, ANY);
    expect("apart, the next one", 100, FEW, MANY - 1); /* on a busy machine a turn may be lost */
    expect("apart, one that is not", 1, MANY, ANY);
    expect("apart, a turn is lost", TURN_US, 1, 1);
    expect("apart, soon after it", 1, 0, 0);
    clock_ns += BUSY_US * (int64_t)US;
    expect("apart, long after it", 1, MANY, ANY);
    shmem_barrier_all();
}

/* PEs of other hosts want this one's processors. */
static void machine(void)
{
    (void)wait_for_flag(1);
    shmem_barrier_all();
    expect("on one machine", 1, 0, FEW);
    shmem_barrier_all();
}

int main(int argc, char **argv)
{
    const char *how     = (argc > 1) ? argv[1] : "";
    const bool is_apart = (strcmp(how, "apart") == 0) || (strcmp(how, "bound") == 0);

    if (is_apart && !have_processors(how[0] == 'b')) {
        return 77;
    }
    processor = (strcmp(how, "machine") == 0) ? getpid() : 0; /* its own, or one for all */
    shmem_init();
    if (is_apart) {
        apart();
    } else if (strcmp(how, "machine") == 0) {
        machine();
    } else if (shmem_n_pes() == 1) {
        alone();
    } else {
        together();
    }
    shmem_finalize();
    return 0;
}
