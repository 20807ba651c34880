/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_FAKES_SUITE_STEPS_H
#define MEMSPAN_TESTS_FAKES_SUITE_STEPS_H

/* What a backend is asked to do while its driver is made to fail. */

#include "tests/fakes/suite/pretended.h"

/* One run: whether anything failed, and whether a record names the call that was made to. */
struct steps {
    int failures;
    bool named;
};
extern struct steps steps;
void steps_begin(void);

/* True for MEMSPAN_OK; else the failure is counted. */
bool steps_fine(memspan_status_t status);

/* The thread's record may name the call that was made to fail. */
void steps_look(void);

/* A call of the test's own; if it was made to fail, this is the record. */
void steps_own(bool fine);

/* Whether the program was told of the call, by a record or in the log. */
bool steps_told(const char *call);

/* Nothing is left, and no rule was broken. @p at: which call it was. */
void steps_check_rest(const char *what, int at);

/* A block, copies, fills, kernels over @p count elements, a queue, and all given back. */
void steps_work_on(void *state, int ordinal, const memspan_request_t *request, size_t count);

/* An event of a queue, for which the device's own waits. */
void steps_events(void *state, int ordinal, void *queue);

/* A host page for both devices. */
void steps_import(void *state);

/* steps_work_on() for each kind of device 1; @p on_nodes: on host pages of a node too. */
void steps_all_kinds(void *state, size_t count, bool on_nodes);

/* Has @p work done with each call of the driver failing in turn on a machine of two settings: a
 * record or the log names it, and nothing is left. */
void steps_fail_each(const char *machine, const char *more, void (*work)(void));

/* The same with each call of a list but one failing always. */
void steps_fail_always(const char *const *names, size_t count, const char *except,
                       void (*work)(void));

/* The same with the device lost from each of the first @p most calls on; lost from call @p at on,
 * the last record has the driver's code and words. */
void steps_lose(int most, int at, long code, const char *words, void (*work)(void));

/* The backend does not start, for a first call that fails with @p code, and says @p words. */
void steps_check_start(const char *call, const char *code, memspan_status_t wanted,
                       const char *words, const char *hint);

#endif /* MEMSPAN_TESTS_FAKES_SUITE_STEPS_H */
