/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_INTERLEAVE_SCHEDULE_H
#define MEMSPAN_TESTS_INTERLEAVE_SCHEDULE_H

/* One execution: its threads, of which one runs at a time, and its decisions. */

#include "scenario.h"
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* Thread 0 is main(), before and after the others. */
enum { THREADS_MAX = 8, STEPS_MAX = 20000, OBJECT_ALL = 1, OBJECT_BARRIER = 2 };

/* What a step does to its object. Two steps of different threads depend on each other when they
 * have one object, and one of them writes. */
enum access { ACCESS_NONE, ACCESS_READ, ACCESS_WRITE };

/* A decision: which thread goes on, or which of the values that it may see a load has. */
struct step {
    uint8_t is_choice;
    uint8_t chosen;
    uint8_t standard;  /* without an instruction */
    uint8_t options;   /* threads, a bit each; values, their number */
    uint8_t access;    /* of the chosen thread's next operation */
    uintptr_t object;  /* its; OBJECT_ALL: depends on all */
    const void *place; /* in the code */
};

/* Between the explorer and its executions. */
struct execution {
    unsigned told; /* decisions that are prescribed */
    uint8_t decisions[STEPS_MAX];
    unsigned count;
    struct step steps[STEPS_MAX];
    uint64_t random; /* decisions by chance, from this number; 0: the standard ones */
    unsigned preemptions_max;
    bool is_verbose;
    bool has_failed;
    char message[1024];
};

extern struct execution *execution; /* shared */

/* The calling thread is one of the execution's, and not inside of the model. */
bool schedule_is_on(void);
unsigned schedule_self(void);
void schedule_run(const struct scenario *scenario) __attribute__((noreturn));

/* Before an operation that others see: another thread may go on here. */
void schedule_point(enum access access, uintptr_t object, const void *place);
/* One of @p count, 0 where nothing else is prescribed. */
unsigned schedule_choose(unsigned count, const void *place);
/* The calling thread has done a step that changed something, or one that it may repeat for ever. */
void schedule_progress(void);
void schedule_spin(void);
/* It has loaded the same again and again: its loads are no steps, and have the newest values. */
bool schedule_is_spinning(void);
/* It gives up the processor, and looks again; at last when another thread has changed something. */
void schedule_yield(const void *place);

/* A condition that other threads make true. @p is_limited: a time limit ends the wait; false then.
 */
bool schedule_wait(bool (*is_over)(void *), void *argument, bool is_limited, enum access access,
                   uintptr_t object, const void *place);

/* Of threads that begin and end. */
int schedule_create(void *(*function)(void *), void *argument);
bool schedule_has_ended(unsigned thread);
/* The system's name of one, which pthread_self() has there; and the opposite. */
pthread_t schedule_handle(unsigned thread);
unsigned schedule_number(pthread_t handle);
/* In the child of a fork(): it has the calling thread alone, and no prescribed decisions. What
 * fails there is reported to the explorer. */
void schedule_keep_own(void);

#endif /* MEMSPAN_TESTS_INTERLEAVE_SCHEDULE_H */
