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

/* Whether the program was told of the call, by a record or in the log. */
bool steps_told(const char *call);

/* Nothing is left, and no rule was broken. @p at: which call it was. */
void steps_check_rest(const char *what, int at);

/* A block, copies, fills, kernels over @p count elements, a queue, and all given back. */
void steps_work_on(void *state, int ordinal, const memspan_request_t *request, size_t count);

/* A host page for both devices. */
void steps_import(void *state);

/* Has @p work done with each call of the driver failing in turn (@p variable: FAKE_..._FAIL_AT) on
 * a machine of two settings: a record or the log names it, and nothing is left. */
void steps_fail_each(const char *variable, const char *machine, const char *more,
                     void (*work)(void));

/* The same with the device lost from each of the first @p most calls on (FAKE_..._LOST_AT). */
void steps_lose_at_each(const char *variable, int most, void (*work)(void));

/* The backend does not start, for a first call that fails with @p setting, and says @p words. */
void steps_check_start(const char *fail, const char *setting, memspan_status_t wanted,
                       const char *call, const char *words);

#endif /* MEMSPAN_TESTS_FAKES_SUITE_STEPS_H */
