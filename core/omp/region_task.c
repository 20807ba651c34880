/* SPDX-License-Identifier: BSD-3-Clause */
/* region_task.c: target regions with nowait, for the watcher of
 * regions.
 *
 * Clang makes a task of such a region, and the runtime runs it some time on a thread of its own: a
 * host that does not wait would be caught by chance. So the thread that made a watched one stays
 * until it has ended, and the region's memory is the device's until the program has waited. Any way
 * to wait, by any thread, ends that for all regions, and so does a task with dependences, which may
 * be the one that waits: so a mistake may escape, but there are no false positives.
 *
 * Not for ever: a region may wait for the host's next step. One that takes longer than WAIT_MS
 * counts as waited for. So does every one in a parallel region, whose end waits for it as well, and
 * calls nothing of ours.
 *
 * Only objects that are loaded when watching begins, or when a task is made later, call these: a
 * program that is not watched keeps its runtime's own. */

#include "core/base/dl.h"
#include "core/base/lock.h"
#include "core/base/omp_hook.h"
#include "core/base/region.h"
#include "core/omp/mapped.h"
#include "core/omp/openmp.h"
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

/* For a region to end; and once one has not, for later ones. */
enum { WAIT_MS = 1000, WAIT_LATER_MS = 20 };

typedef int32_t entry_fn(int32_t thread, void *task);

/* A task whose region was not waited for yet, from its making to its end. */
struct pending {
    struct pending *next;
    void *task;
    entry_fn *entry;
    bool late; /* no thread waits for it any more */
};

static msp_lock_t lock = MSP_LOCK_INIT(MSP_RANK_OMP_TASKS); /* guards the members below */
static pthread_cond_t ended;
static pthread_once_t ended_once = PTHREAD_ONCE_INIT;
static struct pending *tasks;
static int wait_ms = WAIT_MS;

static _Thread_local const struct pending *running;
static _Thread_local struct pending *made; /* by this thread, and not handed over yet */

/* X(member, name, result, parameters): the calls of Clang that make tasks of regions, and that
 * wait. */
#define CALL_MAP(X)                                                                                \
    X(make, "__kmpc_omp_target_task_alloc", void *,                                                \
      (void *location, int32_t thread, int32_t flags, size_t task_bytes, size_t shared_bytes,      \
       entry_fn *entry, int64_t device))                                                           \
    X(start, "__kmpc_omp_task", int32_t, (void *location, int32_t thread, void *task))             \
    X(start_after, "__kmpc_omp_task_with_deps", int32_t,                                           \
      (void *location, int32_t thread, void *task, int32_t depend_count, void *depends,            \
       int32_t other_count, void *others))                                                         \
    X(wait, "__kmpc_omp_taskwait", int32_t, (void *location, int32_t thread))                      \
    X(wait_for, "__kmpc_omp_taskwait_deps_51", void,                                               \
      (void *location, int32_t thread, int32_t depend_count, void *depends, int32_t other_count,   \
       void *others, int32_t nowait))                                                              \
    X(wait_for_15, "__kmpc_omp_wait_deps", void,                                                   \
      (void *location, int32_t thread, int32_t depend_count, void *depends, int32_t other_count,   \
       void *others))                                                                              \
    X(end_group, "__kmpc_end_taskgroup", void, (void *location, int32_t thread))                   \
    X(barrier, "__kmpc_barrier", void, (void *location, int32_t thread))                           \
    X(end_reduce, "__kmpc_end_reduce", void, (void *location, int32_t thread, void *reduction))

/* The runtime's own. */
static struct {
#define MEMBER(member, name, result, parameters) result(*member) parameters;
    CALL_MAP(MEMBER)
#undef MEMBER
    int (*level)(void);
} real;

static void make_ended(void)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&ended, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* Lock held. */
static struct pending **find(const void *task)
{
    struct pending **link = &tasks;

    while ((*link != NULL) && ((*link)->task != task)) {
        link = &(*link)->next;
    }
    return link;
}

bool msp_region_is_unwaited(void)
{
    bool unwaited = false;

    if (running != NULL) {
        msp_lock(&lock);
        unwaited = !running->late;
        msp_unlock(&lock);
    }
    return unwaited;
}

static void note_wait(void)
{
    const struct msp_region_watcher *watcher = msp_region_watched();

    if (watcher != NULL) {
        watcher->waited(watcher->state);
    }
}

/* ---- the task ---- */

static int32_t run(int32_t thread, void *task)
{
    const struct pending *before = running;
    struct pending *own;
    struct pending **link;
    int32_t result;

    msp_lock(&lock);
    own = *find(task);
    msp_unlock(&lock);
    running = own;
    result  = own->entry(thread, task);
    running = before;
    msp_lock(&lock);
    link  = find(task);
    *link = own->next;
    pthread_cond_broadcast(&ended);
    msp_unlock(&lock);
    free(own);
    return result;
}

static void redirect(void);

static void *make(void *location, int32_t thread, int32_t flags, size_t task_bytes,
                  size_t shared_bytes, entry_fn *entry, int64_t device)
{
    bool watched        = (msp_region_watched() != NULL) && (real.level() == 0);
    struct pending *own = watched ? calloc(1, sizeof(*own)) : NULL;
    void *task;

    if (watched) {
        redirect(); /* an object loaded since may be the one that waits */
    }
    task = real.make(location, thread, flags, task_bytes, shared_bytes, (own == NULL) ? entry : run,
                     device);
    if (own != NULL) {
        own->task  = task;
        own->entry = entry;
        pthread_once(&ended_once, make_ended);
        msp_lock(&lock);
        own->next = tasks;
        tasks     = own;
        msp_unlock(&lock);
    }
    made = own;
    return task;
}

/* Whether @p task is the one that this thread made last. */
static bool is_made(const void *task)
{
    bool is = (made != NULL) && (made->task == task);

    made = NULL;
    return is;
}

/* The task at that address may have ended, and another begun: the thread stays for that one too. */
static void stay(const void *task)
{
    struct timespec until;
    int error = 0;

    clock_gettime(CLOCK_MONOTONIC, &until);
    msp_lock(&lock);
    until.tv_sec += wait_ms / 1000;
    until.tv_nsec += wait_ms % 1000 * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000L;
    }
    while ((*find(task) != NULL) && (error == 0)) {
        error = pthread_cond_timedwait(&ended, &lock.mutex, &until);
    }
    if (*find(task) != NULL) {
        (*find(task))->late = true;
        wait_ms             = WAIT_LATER_MS;
    }
    msp_unlock(&lock);
}

static int32_t start(void *location, int32_t thread, void *task)
{
    bool own       = is_made(task);
    int32_t result = real.start(location, thread, task);

    if (own) {
        stay(task);
    }
    return result;
}

static int32_t start_after(void *location, int32_t thread, void *task, int32_t depend_count,
                           void *depends, int32_t other_count, void *others)
{
    bool own = is_made(task);
    int32_t result;

    if (!own) {
        note_wait();
    }
    result = real.start_after(location, thread, task, depend_count, depends, other_count, others);
    if (own) {
        stay(task);
    }
    return result;
}

/* ---- the ways to wait ---- */

static int32_t wait(void *location, int32_t thread)
{
    note_wait();
    return real.wait(location, thread);
}

static void wait_for(void *location, int32_t thread, int32_t depend_count, void *depends,
                     int32_t other_count, void *others, int32_t nowait)
{
    note_wait();
    real.wait_for(location, thread, depend_count, depends, other_count, others, nowait);
}

/* Clang 15's name. */
static void wait_for_15(void *location, int32_t thread, int32_t depend_count, void *depends,
                        int32_t other_count, void *others)
{
    note_wait();
    real.wait_for_15(location, thread, depend_count, depends, other_count, others);
}

static void end_group(void *location, int32_t thread)
{
    note_wait();
    real.end_group(location, thread);
}

static void barrier(void *location, int32_t thread)
{
    note_wait();
    real.barrier(location, thread);
}

/* The barrier of a loop with a reduction. */
static void end_reduce(void *location, int32_t thread, void *reduction)
{
    note_wait();
    real.end_reduce(location, thread, reduction);
}

static void redirect(void)
{
    static const struct msp_redirect list[] = {
#define ROW(member, name, result, parameters) {(name), (void (*)(void))(member)},
        CALL_MAP(ROW)
#undef ROW
    };

    static atomic_ullong loads;

    atomic_store(&loads, msp_redirect(list, sizeof(list) / sizeof(list[0]), atomic_load(&loads)));
}

static void find_real(void)
{
#define FIND(member, name, result, parameters) *(void **)&real.member = msp_dl_next(name);
    CALL_MAP(FIND)
#undef FIND
    *(void **)&real.level = msp_dl_next("omp_get_level");
}

void msp_omp_watch_tasks(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, find_real);
    /* A function that the runtime lacks is never called. */
    if ((real.make != NULL) && (real.level != NULL)) {
        redirect();
    }
}
