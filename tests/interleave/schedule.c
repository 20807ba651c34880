/* SPDX-License-Identifier: BSD-3-Clause */
/* schedule.c: the threads of an execution are real ones, so that they have their own storage and
 * their own ends, and pass one turn among them. */

#include "schedule.h"
#include "memory.h"
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    /* Loads in a row that change nothing: those after so many are no steps, and after so many the
     * thread waits for another. */
    SPINS_SHOWN = 24,
    SPINS_MAX   = 30000,
    YIELDS_MAX  = 6,  /* likewise */
    IDLE_MAX    = 50, /* looks of all, one after the other */
};

struct thread {
    pthread_t handle;
    sem_t turn;
    bool exists, has_ended, waits, is_limited, has_timed_out, yields;
    bool (*is_over)(void *);
    void *argument;
    void *(*function)(void *);
    void *data;
    enum access access; /* of the next operation */
    uintptr_t object;
    const void *place;
    unsigned spins, yield_count;
    uint64_t own_changes, seen_changes; /* its own; those of others that it has seen */
};

struct execution *execution;
static struct execution *reported; /* the parent's, in a child; else NULL */
static const struct scenario *running;
static struct thread threads[THREADS_MAX];
static unsigned thread_count;
static unsigned scenario_end; /* the scenario's are those from 1 to here; the library's may wait */
static unsigned current;      /* whose turn it is */
static uint64_t changes;
static unsigned idle;
static unsigned preemptions_left; /* of an execution by chance */
static pthread_key_t end_key;
static __thread unsigned self;

void *__real_memcpy(void *, const void *, size_t);
int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

void scenario_fail(const char *format, ...)
{
    struct execution *to = (reported != NULL) ? reported : execution;
    va_list arguments;

    va_start(arguments, format);
    if (!to->has_failed) { /* else in a child, with the reason */
        vsnprintf(to->message, sizeof to->message, format, arguments);
    }
    va_end(arguments);
    to->has_failed = true;
    _exit(1);
}

bool schedule_is_on(void)
{
    return self != 0;
}

unsigned schedule_self(void)
{
    return self;
}

static unsigned draw(unsigned count)
{
    execution->random = execution->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (unsigned)(execution->random >> 33) % count;
}

/* What is prescribed for this step; else the standard, or by chance: one of @p options. A thread
 * that could go on is one time in eight stopped, @p is_preemption, as often as the bound allows. */
static unsigned decide(unsigned standard, unsigned options, bool is_mask, bool is_preemption)
{
    unsigned chosen = standard;

    if ((execution->count < execution->told) && (execution->decisions[execution->count] != 0xff)) {
        chosen = execution->decisions[execution->count];
    } else if ((execution->random != 0) && !is_mask) {
        chosen = (draw(2) == 0) ? draw(options) : 0;
    } else if ((execution->random != 0) &&
               (!is_preemption || ((preemptions_left > 0) && (draw(8) == 0)))) {
        do {
            chosen = draw(THREADS_MAX);
        } while (((options >> chosen) & 1) == 0);
        preemptions_left -= is_preemption && (chosen != standard);
    }
    execution->count++;
    return chosen;
}

static uint64_t changes_of_others(const struct thread *t)
{
    return changes - t->own_changes;
}

static bool can_run(const struct thread *t)
{
    if (!t->exists || t->has_ended) {
        return false;
    }
    if (t->waits) {
        return t->has_timed_out || t->is_over(t->argument);
    }
    return !t->yields || (changes_of_others(t) != t->seen_changes);
}

static unsigned mask_of_all(bool (*is)(const struct thread *))
{
    unsigned mask = 0;
    unsigned i;

    for (i = 1; i < thread_count; i++) {
        mask |= is(&threads[i]) ? 1u << i : 0;
    }
    return mask;
}

static bool is_yielding(const struct thread *t)
{
    return t->exists && !t->has_ended && !t->waits && t->yields;
}

static bool is_limited(const struct thread *t)
{
    return t->exists && !t->has_ended && t->waits && t->is_limited;
}

static bool is_alive(const struct thread *t)
{
    return t->exists && !t->has_ended;
}

/* Where the threads are, for a message. */
static const char *waits_of_all(void)
{
    static char text[600];
    size_t used = 0;
    unsigned i;

    for (i = 1; i < thread_count; i++) {
        if (is_alive(&threads[i]) && (used < sizeof text)) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%sthread %u at %s",
                                     (used == 0) ? "" : ", ", i, memory_place(threads[i].place));
        }
    }
    return text;
}

/* Threads that look again and again, each in locks and stores of its own, wait for each other, too.
 */
static struct step *add_step(void)
{
    if (execution->count == STEPS_MAX) {
        scenario_fail("deadlock: no end within %d steps: %s", STEPS_MAX, waits_of_all());
    }
    return &execution->steps[execution->count];
}

/* All threads wait. What helps: those that look again, then the time limits. */
static unsigned find_way_out(void)
{
    unsigned mask = mask_of_all(is_yielding);
    unsigned i;

    if ((mask != 0) && (idle++ < IDLE_MAX)) {
        return mask;
    }
    mask = mask_of_all(is_limited);
    if (mask == 0) {
        scenario_fail("deadlock: %s", waits_of_all());
    }
    if (!running->limit_ends_waits) {
        scenario_fail("a notification is lost: only a time limit ends a wait: %s", waits_of_all());
    }
    i                        = (unsigned)__builtin_ctz(mask);
    idle                     = 0;
    threads[i].has_timed_out = true;
    return 1u << i;
}

/* The same thread, or the next in turn: two that look again and again do not keep out a third. */
static unsigned next_of(unsigned mask, unsigned thread)
{
    while (((mask >> thread) & 1) == 0) {
        thread = (thread + 1) % THREADS_MAX;
    }
    return thread;
}

/* The caller's turn ends, and it waits for the next unless it goes on. */
static void pass_turn(void)
{
    struct step *step = add_step();
    unsigned mask     = mask_of_all(can_run);
    unsigned mine     = self;
    unsigned next;

    if (mask == 0) {
        if ((mask_of_all(is_alive) & ((1u << scenario_end) - 1)) == 0) {
            sem_post(&threads[0].turn);
            if (!threads[mine].has_ended) {
                sem_wait(&threads[mine].turn); /* for ever: the process ends */
            }
            return;
        }
        mask = find_way_out();
    }
    step->is_choice = 0;
    step->options   = (uint8_t)mask;
    step->standard  = (uint8_t)next_of(mask, mine);
    next            = decide(step->standard, mask, true, ((mask >> mine) & 1) != 0);
    if (((mask >> next) & 1) == 0) {
        scenario_fail("the schedule does not fit: thread %u cannot go on at step %u", next,
                      execution->count - 1);
    }
    step->chosen = (uint8_t)next;
    step->access = (uint8_t)threads[next].access;
    step->object = threads[next].object;
    step->place  = threads[next].place;
    current      = next;
    if (execution->is_verbose && (threads[next].access != ACCESS_NONE)) {
        printf("%5u  thread %u  %s %#lx  %s\n", execution->count - 1, next,
               (step->access == ACCESS_READ) ? "reads " : "writes", (unsigned long)step->object,
               memory_place(step->place));
        fflush(stdout);
    }
    if (next != mine) {
        sem_post(&threads[next].turn);
        if ((mine == 0) || !threads[mine].has_ended) {
            sem_wait(&threads[mine].turn);
        }
    }
    if (mine != 0) {
        threads[mine].yields = false;
    }
}

static void set_next(enum access access, uintptr_t object, const void *place)
{
    threads[self].access = access;
    threads[self].object = object;
    threads[self].place  = place;
}

bool schedule_is_spinning(void)
{
    const struct thread *t = &threads[self];

    return !t->yields && (t->spins > SPINS_SHOWN) && (changes_of_others(t) == t->seen_changes);
}

void schedule_point(enum access access, uintptr_t object, const void *place)
{
    if ((access == ACCESS_READ) && schedule_is_spinning()) {
        return;
    }
    set_next(access, object, place);
    pass_turn();
    memory_tick(self);
}

unsigned schedule_choose(unsigned count, const void *place)
{
    struct step *step = add_step();
    unsigned chosen;

    *step  = (struct step){.is_choice = 1, .options = (uint8_t)count, .place = place};
    chosen = decide(0, count, false, false);
    if (chosen >= count) {
        scenario_fail("the schedule does not fit: value %u of %u at step %u", chosen, count,
                      execution->count - 1);
    }
    step->chosen = (uint8_t)chosen;
    if (execution->is_verbose && (chosen != 0)) {
        printf("               thread %u sees a value that is %u older\n", self, chosen);
    }
    return chosen;
}

void schedule_progress(void)
{
    changes++;
    threads[self].own_changes++;
    idle                = 0;
    threads[self].spins = 0;
}

void schedule_spin(void)
{
    struct thread *t = &threads[self];

    if (changes_of_others(t) != t->seen_changes) {
        t->seen_changes = changes_of_others(t);
        t->spins        = 0;
    } else if (++t->spins > SPINS_MAX) {
        t->spins  = 0;
        t->yields = true;
    }
}

void schedule_yield(const void *place)
{
    struct thread *t = &threads[self];

    t->yield_count = (changes_of_others(t) == t->seen_changes) ? t->yield_count + 1 : 0;
    if (changes_of_others(t) != t->seen_changes) {
        t->seen_changes = changes_of_others(t);
        t->spins        = 0;
    }
    t->yields = (t->yield_count >= YIELDS_MAX);
    schedule_point(ACCESS_NONE, 0, place);
    memory_refresh(self);
}

bool schedule_wait(bool (*is_over)(void *), void *argument, bool limited, enum access access,
                   uintptr_t object, const void *place)
{
    struct thread *t = &threads[self];

    t->is_over       = is_over;
    t->argument      = argument;
    t->is_limited    = limited;
    t->has_timed_out = false;
    t->waits         = true;
    schedule_point(access, object, place);
    t->waits = false;
    return !t->has_timed_out;
}

/* ---- threads ---- */

/* After the destructors of the product's keys: the system calls those that are set again up to
 * four times. */
static void end(void *round)
{
    if ((uintptr_t)round < 3) {
        pthread_setspecific(end_key, (void *)((uintptr_t)round + 1));
        return;
    }
    threads[self].has_ended = true;
    changes++;
    memory_thread_end(self);
    pass_turn();
    self = 0;
}

static void *start(void *argument)
{
    struct thread *t = argument;

    self = (unsigned)(t - threads);
    sem_wait(&t->turn);
    pthread_setspecific(end_key, (void *)1);
    memory_tick(self);
    return t->function(t->data);
}

int schedule_create(void *(*function)(void *), void *argument)
{
    struct thread *t = &threads[thread_count];

    if (thread_count == THREADS_MAX) {
        scenario_fail("more than %d threads", THREADS_MAX - 1);
    }
    *t = (struct thread){.exists = true, .function = function, .data = argument};
    sem_init(&t->turn, 0, 0);
    memory_thread_start(thread_count, self);
    if (__real_pthread_create(&t->handle, NULL, start, t) != 0) {
        scenario_fail("no thread could be started");
    }
    return (int)thread_count++;
}

bool schedule_has_ended(unsigned thread)
{
    return threads[thread].has_ended;
}

pthread_t schedule_handle(unsigned thread)
{
    return threads[thread].handle;
}

unsigned schedule_number(pthread_t handle)
{
    unsigned i = 1;

    while ((i < thread_count) && (pthread_equal(threads[i].handle, handle) == 0)) {
        i++;
    }
    return i;
}

void schedule_keep_own(void)
{
    struct execution *own = malloc(sizeof *own);
    unsigned i;

    if (own == NULL) {
        scenario_fail("no memory for a child's execution");
    }
    __real_memcpy(own, execution, sizeof *own); /* not as the product's */
    own->told   = 0;
    own->random = 0;
    reported    = execution;
    execution   = own;
    for (i = 1; i < thread_count; i++) {
        threads[i].has_ended = threads[i].has_ended || (i != self);
    }
}

static void *call(void *function_p)
{
    (*(void (**)(void))function_p)();
    return NULL;
}

void schedule_run(const struct scenario *scenario)
{
    unsigned i;

    running          = scenario;
    preemptions_left = execution->preemptions_max;
    thread_count     = 1;
    pthread_key_create(&end_key, end);
    sem_init(&threads[0].turn, 0, 0);
    for (i = 0; (i < SCENARIO_THREADS) && (scenario->threads[i] != NULL); i++) {
        schedule_create(call, (void *)&scenario->threads[i]);
    }
    scenario_end = thread_count;
    pass_turn();
    if (scenario->check != NULL) {
        scenario->check();
    }
    _exit(0);
}
