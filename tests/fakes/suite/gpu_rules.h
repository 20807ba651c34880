/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_FAKES_SUITE_GPU_RULES_H
#define MEMSPAN_TESTS_FAKES_SUITE_GPU_RULES_H

/* Rules that are the same for CUDA and HIP (backends/gpu); the last two for Level Zero too. @p
 * setting: the fake's machine. */

#include "tests/fakes/suite/pretended.h"

/* Every kind has any alignment. */
void gpu_rules_alignment(const char *setting, const char *other);
/* Drivers give managed memory beyond what there is, and the process dies when it touches it. */
void gpu_rules_managed_memory_ends(const char *setting);
/* Success, and no address. */
void gpu_rules_memory_without_address(const char *setting);
/* Pinned memory begins on a page, chunks begin on 64 KiB: @p call is tried once more in all. */
void gpu_rules_pinned_memory_is_taken_once(const char *setting, const char *call);
/* Work on a queue is done when the queue is destroyed. */
void gpu_rules_busy_queues_are_waited_for(const char *setting);
/* Managed memory of device 0 goes to device @p to, of its queue or not. */
void gpu_rules_memory_moves_after_work_on_it(const char *setting, int to);

#endif /* MEMSPAN_TESTS_FAKES_SUITE_GPU_RULES_H */
