/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_FAKES_SUITE_GPU_RULES_H
#define MEMSPAN_TESTS_FAKES_SUITE_GPU_RULES_H

/* Rules that are the same for CUDA and HIP (backends/gpu). @p setting: the fake's machine. */

#include "tests/fakes/suite/pretended.h"

/* Every kind has any alignment. */
void gpu_rules_alignment(const char *setting);
/* Drivers give managed memory beyond what there is, and the process dies when it touches it. */
void gpu_rules_managed_memory_ends(const char *setting);
/* Success, and no address. */
void gpu_rules_memory_without_address(const char *setting);
/* Pinned memory begins on a page, chunks begin on 64 KiB: @p call is tried once more in all. */
void gpu_rules_pinned_memory_is_taken_once(const char *setting, const char *call);

#endif /* MEMSPAN_TESTS_FAKES_SUITE_GPU_RULES_H */
