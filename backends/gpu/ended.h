/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BACKENDS_GPU_ENDED_H
#define MEMSPAN_BACKENDS_GPU_ENDED_H

/* The end of the process. Destructors of some drivers run at exit, and calling those drivers after
 * that crashes: from the first exit handler on nothing is asked of them, and what is left goes with
 * the process. */

#include <stdatomic.h>
#include <stdbool.h>

/* To be called when a driver is loaded: a handler that is registered later runs before its
 * destructors. @p watched: the driver's, so that it is done once. */
void gpu_watch_end(atomic_flag *watched);

bool gpu_process_ends(void);

#endif /* MEMSPAN_BACKENDS_GPU_ENDED_H */
