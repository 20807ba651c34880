/* SPDX-License-Identifier: BSD-3-Clause */
/* fortran.c: the routines that Fortran does not bind to C names, as gfortran calls them: a trailing
 * underscore, arguments by reference. libomp's own routines of these names take handles by value;
 * no compiler in use calls them so. omp_get_num_devices_ and omp_get_initial_device_ are beside
 * their C forms. */

#include "core/base/error.h"
#include "core/omp/abi.h"
#include "core/omp/runtime.h"
#include <limits.h>

msp_omp_allocator_t omp_init_allocator_(const msp_omp_space_t *space, const int32_t *trait_count,
                                        const memspan_trait_t *traits)
{
    MSP_OMP_CALL();
    return omp_init_allocator(*space, *trait_count, traits);
}

msp_omp_allocator_t omp_init_allocator_8_(const msp_omp_space_t *space, const int64_t *trait_count,
                                          const memspan_trait_t *traits)
{
    MSP_OMP_CALL();
    if ((*trait_count < 0) || (*trait_count > INT_MAX)) {
        memspan_error(MEMSPAN_ERR_INVALID, "ntraits is %lld", (long long)*trait_count);
        return 0;
    }
    return omp_init_allocator(*space, (int)*trait_count, traits);
}

void omp_destroy_allocator_(const msp_omp_allocator_t *allocator)
{
    omp_destroy_allocator(*allocator);
}

void omp_set_default_allocator_(const msp_omp_allocator_t *allocator)
{
    MSP_OMP_CALL();
    omp_set_default_allocator(*allocator);
}

msp_omp_allocator_t omp_get_default_allocator_(void)
{
    MSP_OMP_CALL();
    return omp_get_default_allocator();
}

msp_omp_space_t omp_get_devices_memspace_(const int32_t *device_count, const int32_t *devices,
                                          const msp_omp_space_t *space)
{
    MSP_OMP_CALL();
    return omp_get_devices_memspace(*device_count, devices, *space);
}

msp_omp_space_t omp_get_device_memspace_(const int32_t *device, const msp_omp_space_t *space)
{
    MSP_OMP_CALL();
    return omp_get_device_memspace(*device, *space);
}

msp_omp_space_t omp_get_devices_and_host_memspace_(const int32_t *device_count,
                                                   const int32_t *devices,
                                                   const msp_omp_space_t *space)
{
    MSP_OMP_CALL();
    return omp_get_devices_and_host_memspace(*device_count, devices, *space);
}

msp_omp_space_t omp_get_device_and_host_memspace_(const int32_t *device,
                                                  const msp_omp_space_t *space)
{
    MSP_OMP_CALL();
    return omp_get_device_and_host_memspace(*device, *space);
}

msp_omp_space_t omp_get_devices_all_memspace_(const msp_omp_space_t *space)
{
    MSP_OMP_CALL();
    return omp_get_devices_all_memspace(*space);
}

msp_omp_allocator_t omp_get_devices_allocator_(const int32_t *device_count, const int32_t *devices,
                                               const msp_omp_space_t *space)
{
    MSP_OMP_CALL();
    return omp_get_devices_allocator(*device_count, devices, *space);
}

msp_omp_allocator_t omp_get_device_allocator_(const int32_t *device, const msp_omp_space_t *space)
{
    MSP_OMP_CALL();
    return omp_get_device_allocator(*device, *space);
}

msp_omp_allocator_t omp_get_devices_and_host_allocator_(const int32_t *device_count,
                                                        const int32_t *devices,
                                                        const msp_omp_space_t *space)
{
    MSP_OMP_CALL();
    return omp_get_devices_and_host_allocator(*device_count, devices, *space);
}

msp_omp_allocator_t omp_get_device_and_host_allocator_(const int32_t *device,
                                                       const msp_omp_space_t *space)
{
    MSP_OMP_CALL();
    return omp_get_device_and_host_allocator(*device, *space);
}

msp_omp_allocator_t omp_get_devices_all_allocator_(const msp_omp_space_t *space)
{
    MSP_OMP_CALL();
    return omp_get_devices_all_allocator(*space);
}

int32_t omp_get_memspace_num_resources_(const msp_omp_space_t *space)
{
    MSP_OMP_CALL();
    return omp_get_memspace_num_resources(*space);
}

msp_omp_space_t omp_get_submemspace_(const msp_omp_space_t *space, const int32_t *resource_count,
                                     const int32_t *resources)
{
    MSP_OMP_CALL();
    return omp_get_submemspace(*space, *resource_count, resources);
}

void omp_init_mempartitioner_(msp_omp_partitioner_t *partitioner, const int32_t *lifetime,
                              msp_omp_compute_t *compute, msp_omp_release_t *release)
{
    omp_init_mempartitioner(partitioner, *lifetime, compute, release);
}

void omp_destroy_mempartitioner_(const msp_omp_partitioner_t *partitioner)
{
    omp_destroy_mempartitioner(partitioner);
}

void omp_destroy_mempartition_(const struct msp_omp_partition *partition)
{
    omp_destroy_mempartition(partition);
}
