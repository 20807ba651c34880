/* SPDX-License-Identifier: BSD-3-Clause */
/* offload.c: the calls of LLVM's host runtime (from release 21) to an offload library for its
 * OpenMP 6.0 memory spaces. It gets the resources that devices have in common, makes a space of its
 * own of their numbers, and gets memory with an allocator handle of its own, which is an address in
 * its memory: no argument names the devices. The memory therefore reaches them all. Programs that
 * call the routines themselves get ours, and never come here. */

#include "core/allocator.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/platform.h"
#include "core/omp/abi.h"
#include "core/omp/openmp.h"
#include "core/omp/runtime.h"
#include <memspan/space.h>
#include <string.h>

enum { RESOURCES_MAX = 1024 };

/* Resources that were requested, by name: the index is the number that the runtime is given. Under
 * msp_omp_lock(). */
static char resource_names[RESOURCES_MAX]
                          [sizeof(((memspan_resource_info_t *)NULL)->name)] MSP_SPARSE;
static int resource_count;

/* The number of a resource, the same in each call; -1 when there are too many. */
static int number_of(const char *name)
{
    int i;

    msp_omp_lock();
    for (i = 0; (i < resource_count) && (strcmp(resource_names[i], name) != 0); i++) {
    }
    if ((i == resource_count) && (i < RESOURCES_MAX)) {
        memcpy(resource_names[i], name, strlen(name) + 1);
        resource_count++;
    } else if (i == RESOURCES_MAX) {
        i = -1;
    }
    msp_omp_unlock();
    return i;
}

int __tgt_get_mem_resources(int device_count, const int *devices, int host, msp_omp_space_t space,
                            int *resources)
{
    MSP_OMP_CALL();
    msp_omp_space_t found = host ? omp_get_devices_and_host_memspace(device_count, devices, space)
                                 : omp_get_devices_memspace(device_count, devices, space);
    int count             = (found == 0) ? 0 : omp_get_memspace_num_resources(found);
    int i;

    for (i = 0; (resources != NULL) && (i < count); i++) {
        memspan_resource_info_t info = {.struct_size = sizeof(info)};
        resources[i]                 = -1;
        if (memspan_space_resource((memspan_space_h)found, (size_t)i, &info) == MEMSPAN_OK) {
            resources[i] = number_of(info.name);
        }
    }
    return count;
}

void *__tgt_omp_alloc(size_t size_bytes, msp_omp_allocator_t allocator)
{
    MSP_OMP_CALL();
    msp_omp_allocator_t own = allocator;

    if (!msp_allocator_known((memspan_allocator_h)allocator)) {
        own = omp_get_devices_all_allocator(0);
    }
    return (own == 0) ? NULL : memspan_alloc((memspan_allocator_h)own, size_bytes);
}

void __tgt_omp_free(void *pointer, msp_omp_allocator_t allocator)
{
    MSP_OMP_CALL();
    (void)allocator;
    if ((pointer != NULL) && (memspan_free(pointer) != MEMSPAN_OK)) {
        msp_log(MEMSPAN_LOG_ERROR, "omp", "__tgt_omp_free: %s", memspan_error_text());
    }
}
