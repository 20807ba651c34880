/* SPDX-License-Identifier: BSD-3-Clause */
#include "backends/gpu/ended.h"
#include <stdlib.h>

static atomic_bool ends;

bool gpu_process_ends(void)
{
    return atomic_load(&ends);
}

static void note_end(void)
{
    atomic_store(&ends, true);
}

void gpu_watch_end(atomic_flag *watched)
{
    if (!atomic_flag_test_and_set(watched)) {
        (void)atexit(note_end);
    }
}
