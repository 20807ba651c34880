/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_ENGINE_PRESSURE_H
#define MEMSPAN_CORE_ENGINE_PRESSURE_H

/* How near the process is to the memory limit of its control group, and what the caches may keep.
 *
 * Memory that the library keeps unused counts against the limit, and the kernel ends a process that
 * needs it elsewhere. So under a limit the caches keep a small share of it, and next to nothing
 * where the limit is near. The files of the control group are read now and then, on slow paths,
 * once the pools hold more than a few MiB; the answers here are what was read last. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most unused bytes that a cache of all threads, and a pool, may keep; SIZE_MAX: no limit
 * counts. Never below 1 MiB, so that a process at its limit still runs. */
size_t msp_pressure_retention_bytes(void);

/* Bytes that the process can still have, or UINT64_MAX while nothing has been read. */
uint64_t msp_pressure_free_bytes(void);

/* Read again, where that is due at @p now_ms. True: the limit is near, and all unused memory is to
 * go back at once. No lock is held that others need. */
bool msp_pressure_look(uint64_t now_ms);

/* What came back after a look that was true: with next to nothing, the next one is later. */
void msp_pressure_relieved(uint64_t now_ms, size_t bytes);

#endif /* MEMSPAN_CORE_ENGINE_PRESSURE_H */
