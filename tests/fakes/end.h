/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_FAKES_END_H
#define MEMSPAN_TESTS_FAKES_END_H

/* A pretended driver's end. It goes when the process ends, by handlers of exit, as real ones do: it
 * registers one at the first call, and one more when it first gives memory. A call after that, or
 * one that is under way then, ends the process. One copy in each fake. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    atomic_bool is_over;
    atomic_int calls; /* under way */
    atomic_flag started;
    atomic_flag gives;
    pid_t pid;
} fake_life = {.started = ATOMIC_FLAG_INIT, .gives = ATOMIC_FLAG_INIT};

static inline void fake_end(void)
{
    atomic_store(&fake_life.is_over, true);
    if ((atomic_load(&fake_life.calls) != 0) && (getpid() == fake_life.pid)) {
        static const char text[] = "a pretended driver ends while it is called\n";

        (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
        abort();
    }
}

static inline void fake_call_begins(const char *name)
{
    if (atomic_load(&fake_life.is_over)) {
        fprintf(stderr, "%s is called after the driver has ended\n", name);
        abort();
    }
    if (!atomic_flag_test_and_set(&fake_life.started)) {
        fake_life.pid = getpid();
        (void)atexit(fake_end);
    }
    if (((strstr(name, "lloc") != NULL)) && !atomic_flag_test_and_set(&fake_life.gives)) {
        (void)atexit(fake_end);
    }
    atomic_fetch_add(&fake_life.calls, 1);
}

static inline void fake_call_ends(void)
{
    atomic_fetch_sub(&fake_life.calls, 1);
}

#endif /* MEMSPAN_TESTS_FAKES_END_H */
