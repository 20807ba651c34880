/* SPDX-License-Identifier: BSD-3-Clause */
/* job_view.c: the view that kernels have of the job; its arrays are those of job_extended.c. */

#include "bench/hybrid/job_view.h"
#include <omp.h>
#include <stdlib.h>

shmemx_device_handle_t job_view(void)
{
    static shmemx_device_handle_t view;

    if ((view == NULL) && (shmemx_device_open(omp_get_default_device(), &view) != 0)) {
        fprintf(stderr, "no view for the device: %s\n", memspan_error_text());
        exit(1);
    }
    return view;
}
