/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_BASE_STACK_H
#define MEMSPAN_CORE_BASE_STACK_H

/* Work that is done once and needs more stack than a small thread has: programs start threads with
 * 16 KiB, and hwloc and drivers use more than that. */

#include <stdbool.h>

/* Whether the calling thread's stack has 128 KiB left; true also when its bounds are not known. */
bool msp_stack_has_capacity(void);

typedef void msp_stack_body_t(void *argument);

/* Call @p body: on a thread made for it, which is waited for, where the calling thread's stack has
 * no such space. The calling thread has the error record that body leaves. Locks that the
 * caller holds stay the caller's: body takes none of them. */
void msp_stack_run(msp_stack_body_t *body, void *argument);

#endif /* MEMSPAN_CORE_BASE_STACK_H */
