/* SPDX-License-Identifier: BSD-3-Clause */
/* to_region.h: included before a program whose calls to_region.py moves into target regions. What
 * opens the library opens the view of the device as well. */

#pragma omp requires unified_shared_memory

#define SHMEMX_DEVICE_NAMES
#include <memspan/memspan.h>
#include <omp.h>
#include <shmem.h>
#include <shmemx_device.h>
#include <stdio.h>
#include <stdlib.h>

static __attribute__((unused)) int region_ended;

static __attribute__((unused)) void region_open(void)
{
    int device = (omp_get_num_devices() > 0) ? omp_get_default_device() : MEMSPAN_HOST;
    shmemx_device_handle_t view;

    if (shmemx_device_open(device, &view) != 0) {
        fprintf(stderr, "FAILED: no view: %s\n", memspan_error_text());
        exit(1);
    }
    region_ended = 0;
}

static __attribute__((unused)) void region_init(void)
{
    shmem_init();
    region_open();
}

static __attribute__((unused)) int region_init_thread(int requested, int *provided)
{
    int status = shmem_init_thread(requested, provided);

    region_open();
    return status;
}

static __attribute__((unused)) void region_start(int pe_count)
{
    start_pes(pe_count);
    region_open();
}

/* Programs may finalize twice: the view is closed by then. */
static __attribute__((unused)) void region_finalize(void)
{
    if (!region_ended) {
#pragma omp target
        shmem_quiet();
    }
    region_ended = 1;
    shmem_finalize();
}

#define shmem_finalize    region_finalize
#define shmem_init        region_init
#define shmem_init_thread region_init_thread
#define start_pes         region_start
