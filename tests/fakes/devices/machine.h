/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_MACHINE_H
#define MEMSPAN_TESTS_MACHINE_H

#include <memspan/memspan.h>

/* Pretend a machine: fakea's devices then fakeb's, numbered from 0 (NULL: that driver is absent).
 * Before the library's first use; each test is a process of its own. */
void machine_pretend(const char *fakea, const char *fakeb);

/* An allocator over these devices, or the status why not. */
memspan_status_t machine_allocator(const int *devices, size_t device_count, const char *traits,
                                   memspan_allocator_h *allocator_p);

/* What fakea (0) or fakeb (1) counted, and what it is to fail at: control.h. */
struct fake_control *machine_control(int vendor);

/* Nothing is live and every invariant holds. */
void machine_expect_clean(void);

#define DEVICES(...) (const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int)

#endif /* MEMSPAN_TESTS_MACHINE_H */
