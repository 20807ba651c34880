/* SPDX-License-Identifier: BSD-3-Clause */
/* platform.c: the platforms of the ICD loader, and their devices. A platform that is broken or has
 * no device is left out with a line in the log; the others still work. */

#include "backends/opencl/opencl.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PLATFORMS_MAX = 64, DEVICES_MAX = 256 };

static void read_name(struct opencl_platform *platform)
{
    const struct opencl_calls *cl = &platform->state->cl;
    char version[128]             = "";
    int major                     = 1;
    int minor                     = 0;

    if (cl->clGetPlatformInfo(platform->id, OPENCL_PLATFORM_NAME, sizeof(platform->name) - 1,
                              platform->name, NULL) != OPENCL_SUCCESS) {
        snprintf(platform->name, sizeof(platform->name), "unnamed platform");
    }
    if ((cl->clGetPlatformInfo(platform->id, OPENCL_PLATFORM_VERSION, sizeof(version) - 1, version,
                               NULL) != OPENCL_SUCCESS) ||
        (sscanf(version, "OpenCL %d.%d", &major, &minor) != 2)) {
        major = 1;
        minor = 0;
    }
    platform->version = 10 * major + minor;
}

/* Fills devices, device_count. False: leave the platform out. */
static bool read_devices(struct opencl_platform *platform, int first_ordinal)
{
    const struct opencl_state *state = platform->state;
    cl_device_id ids[DEVICES_MAX];
    cl_uint count = 0;
    cl_uint i;
    cl_int code =
        state->cl.clGetDeviceIDs(platform->id, OPENCL_DEVICE_TYPE_ALL, DEVICES_MAX, ids, &count);

    if (code != OPENCL_SUCCESS) {
        state->services->log((code == OPENCL_DEVICE_NOT_FOUND) ? MEMSPAN_LOG_INFO
                                                               : MEMSPAN_LOG_WARN,
                             OPENCL_NAME, "platform \"%s\" left out: clGetDeviceIDs: %d %s",
                             platform->name, code, opencl_status_text(code));
        return false;
    }
    count             = (count > DEVICES_MAX) ? DEVICES_MAX : count;
    platform->devices = calloc(count + 1, sizeof(platform->devices[0]));
    if (platform->devices == NULL) {
        return false;
    }
    for (i = 0; i < count; i++) {
        struct opencl_device *device = &platform->devices[platform->device_count];
        memset(device, 0, sizeof(*device));
        device->platform = platform;
        device->id       = ids[i];
        if (opencl_device_fill(device, first_ordinal + platform->device_count, (int)i)) {
            platform->device_count++;
        }
    }
    if (platform->device_count == 0) {
        free(platform->devices);
        platform->devices = NULL;
        return false;
    }
    return true;
}

static memspan_status_t number_devices(struct opencl_state *state)
{
    int ordinal = 0;
    int i;
    int j;

    state->devices = calloc((size_t)state->device_count + 1, sizeof(state->devices[0]));
    if (state->devices == NULL) {
        return opencl_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for devices");
    }
    for (i = 0; i < state->platform_count; i++) {
        for (j = 0; j < state->platforms[i].device_count; j++) {
            state->devices[ordinal++] = &state->platforms[i].devices[j];
        }
    }
    return MEMSPAN_OK;
}

/* @p names: of the platforms, all of which were left out. */
static memspan_status_t refuse_all(const struct opencl_state *state, unsigned count,
                                   const char *names)
{
    const char *hint = "a driver is there and shows no device: see clinfo, and the permissions of "
                       "/dev/dri/renderD*; pocl-opencl-icd has the processor";

    if (count == 0) {
        hint = "install an OpenCL driver: pocl-opencl-icd for processors, the maker's for a GPU";
    } else if (strstr(names, "rusticl") != NULL) {
        hint = "Mesa's rusticl shows the drivers that RUSTICL_ENABLE names: llvmpipe for the "
               "processor, iris, radeonsi, nouveau for GPUs";
    }
    return opencl_refuse(state, MEMSPAN_ERR_OFF, hint,
                         "%u OpenCL platform%s%s, none with a device that can be used", count,
                         (count == 1) ? "" : "s", names);
}

memspan_status_t opencl_platforms_find(struct opencl_state *state)
{
    cl_platform_id ids[PLATFORMS_MAX];
    char names[128] = "";
    cl_uint count   = 0;
    cl_uint i;
    cl_int code = state->cl.clGetPlatformIDs(PLATFORMS_MAX, ids, &count);

    if (code != OPENCL_SUCCESS) {
        return opencl_error(state, "clGetPlatformIDs", code, "no OpenCL platform");
    }
    count            = (count > PLATFORMS_MAX) ? PLATFORMS_MAX : count;
    state->platforms = calloc(count + 1, sizeof(state->platforms[0]));
    if (state->platforms == NULL) {
        return opencl_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for platforms");
    }
    for (i = 0; i < count; i++) {
        struct opencl_platform *platform = &state->platforms[state->platform_count];
        platform->state                  = state;
        platform->id                     = ids[i];
        read_name(platform);
        if (!read_devices(platform, state->device_count)) {
            size_t used = strlen(names);
            snprintf(names + used, sizeof(names) - used, "%s %s", (used == 0) ? ":" : ",",
                     platform->name);
            memset(platform, 0, sizeof(*platform));
            continue;
        }
        pthread_mutex_init(&platform->lock, NULL);
        state->device_count += platform->device_count;
        state->platform_count++;
    }
    if (state->device_count == 0) {
        return refuse_all(state, count, names);
    }
    return number_devices(state);
}

memspan_status_t opencl_platform_need_context(struct opencl_platform *platform)
{
    cl_device_id ids[DEVICES_MAX];
    cl_int code = OPENCL_SUCCESS;
    int i;

    if (platform->context != NULL) {
        return MEMSPAN_OK;
    }
    for (i = 0; i < platform->device_count; i++) {
        ids[i] = platform->devices[i].id;
    }
    platform->context = platform->state->cl.clCreateContext(NULL, (cl_uint)platform->device_count,
                                                            ids, NULL, NULL, &code);
    if (platform->context == NULL) {
        return opencl_error(platform->state, "clCreateContext", code,
                            "no context over the %d devices of \"%s\"", platform->device_count,
                            platform->name);
    }
    return MEMSPAN_OK;
}

static void drop_device(struct opencl_device *device)
{
    opencl_program_drop(device);
    if (device->host_queue != NULL) {
        device->platform->state->cl.clReleaseCommandQueue(device->host_queue);
        device->host_queue = NULL;
    }
    device->queue = NULL;
}

void opencl_platforms_drop(struct opencl_state *state)
{
    bool ours = (getpid() == state->pid);
    int i;
    int j;

    for (i = 0; i < state->platform_count; i++) {
        struct opencl_platform *platform = &state->platforms[i];
        if (ours) {
            while (platform->queues != NULL) {
                opencl_queue_unref(platform->queues);
            }
            for (j = 0; j < platform->device_count; j++) {
                drop_device(&platform->devices[j]);
            }
            if (platform->context != NULL) {
                state->cl.clReleaseContext(platform->context);
            }
            pthread_mutex_destroy(&platform->lock);
        }
        free(platform->blocks);
        free(platform->devices);
    }
    free(state->devices);
    free(state->platforms);
}
