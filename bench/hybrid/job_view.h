/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_HYBRID_JOB_VIEW_H
#define MEMSPAN_BENCH_HYBRID_JOB_VIEW_H

#include "bench/hybrid/job.h"
#include <shmemx.h>
#include <shmemx_device.h>

/* Of the default device; ends the program where there is none. */
shmemx_device_handle_t job_view(void);

#endif /* MEMSPAN_BENCH_HYBRID_JOB_VIEW_H */
