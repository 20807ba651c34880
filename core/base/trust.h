/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_BASE_TRUST_H
#define MEMSPAN_CORE_BASE_TRUST_H

/* Whether the environment may decide which code this process loads. It may not where the process
 * has more rights than the user who started it (set-user-id, set-group-id, file capabilities; the
 * kernel marks it by AT_SECURE): drivers, hwloc and PMIx load libraries that the environment names,
 * so such a process opens none of them. Header only, because both libraries use it. */

#include <stdbool.h>
#include <sys/auxv.h>

#define MSP_UNTRUSTED_REASON "the program runs with more rights than its user (set-user-id)"
#define MSP_UNTRUSTED_HINT   "start it without set-user-id, set-group-id and file capabilities"

/* Any thread. */
static inline bool msp_environment_is_trusted(void)
{
    return getauxval(AT_SECURE) == 0;
}

#endif /* MEMSPAN_CORE_BASE_TRUST_H */
