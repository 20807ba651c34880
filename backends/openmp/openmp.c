/* SPDX-License-Identifier: BSD-3-Clause */
/* openmp.c: the table of the OpenMP backend.
 *
 * Any device that the program's OpenMP offload runtime has, through its public calls. Device
 * numbers are the runtime's, so a handle made for device 2 is for the device of `target device(2)`.
 */

#include "backends/openmp/openmp.h"
#include <dlfcn.h>
#include <stdlib.h>

memspan_status_t openmp_check_ordinal(const struct openmp *openmp, int ordinal)
{
    if ((ordinal >= 0) && (ordinal < openmp->count)) {
        return MEMSPAN_OK;
    }
    return openmp->services->fail(MEMSPAN_ERR_INVALID, "openmp", "", 0, "", NULL,
                                  "the OpenMP runtime has no device %d, only %d devices", ordinal,
                                  openmp->count);
}

static memspan_status_t probe_devices(struct openmp *openmp)
{
    int i;

    openmp->is_host = calloc((size_t)openmp->count, sizeof(*openmp->is_host));
    if (openmp->is_host == NULL) {
        return openmp->services->fail(MEMSPAN_ERR_NO_MEMORY, "openmp", "calloc", 0, "", NULL,
                                      "no memory for the records of %d devices", openmp->count);
    }
    for (i = 0; i < openmp->count; i++) {
        openmp->is_host[i] = openmp_probe_is_host(openmp, i);
        openmp->services->log(MEMSPAN_LOG_INFO, "openmp", "device %d of %s: its memory is %s", i,
                              openmp->runtime,
                              openmp->is_host[i] ? "the host's" : "not seen to be the host's");
    }
    return MEMSPAN_OK;
}

static memspan_status_t openmp_open(const memspan_services_t *services, void **state_p)
{
    struct openmp *openmp = calloc(1, sizeof(*openmp));
    memspan_status_t status;

    if ((openmp == NULL) || !openmp_blocks_init(&openmp->blocks)) {
        free(openmp);
        return services->fail(MEMSPAN_ERR_NO_MEMORY, "openmp", "calloc", 0, "", NULL,
                              "no memory for the backend's own record");
    }
    openmp->services = services;
    status           = openmp_runtime_find(openmp);
    if (status != MEMSPAN_OK) {
        goto err_free_blocks;
    }
    status = probe_devices(openmp);
    if (status != MEMSPAN_OK) {
        goto err_close_library;
    }
    *state_p = openmp;
    return MEMSPAN_OK;

err_close_library:
    dlclose(openmp->library);
err_free_blocks:
    openmp_blocks_free(&openmp->blocks);
    free(openmp);
    return status;
}

static void openmp_close(void *state)
{
    struct openmp *openmp = state;

    free(openmp->is_host);
    dlclose(openmp->library);
    openmp_blocks_free(&openmp->blocks);
    free(openmp);
}

static int openmp_device_count(void *state)
{
    const struct openmp *openmp = state;

    return openmp->count;
}

extern const memspan_backend_t msp_backend_openmp;
const memspan_backend_t msp_backend_openmp = {
    .abi             = MEMSPAN_BACKEND_ABI,
    .struct_size     = sizeof(memspan_backend_t),
    .name            = "openmp",
    .title           = "the program's OpenMP offload runtime",
    .flags           = MEMSPAN_BACKEND_NUMBERS_DEVICES,
    .open            = openmp_open,
    .close           = openmp_close,
    .device_count    = openmp_device_count,
    .device_describe = openmp_describe,
    .reach           = openmp_reach,
    .reach_source    = openmp_reach_source,
    .alloc           = openmp_alloc,
    .free            = openmp_free,
    .import          = openmp_import,
    .release         = openmp_release,
    .copy            = openmp_copy,
    .fill            = openmp_fill,
    .synchronize     = openmp_synchronize,
    .host_open       = openmp_host_open,
    .host_close      = openmp_host_close,
};
