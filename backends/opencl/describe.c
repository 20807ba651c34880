/* SPDX-License-Identifier: BSD-3-Clause */
/* describe.c: a device's properties, read once when the backend is opened. OpenCL has no query for
 * free memory. */

#include "backends/gpu/common.h"
#include "backends/opencl/opencl.h"
#include "core/base/platform.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool query_info(const struct opencl_device *device, cl_uint what, size_t size, void *answer)
{
    return device->platform->state->cl.clGetDeviceInfo(device->id, what, size, answer, NULL) ==
           OPENCL_SUCCESS;
}

/* A text of any length, cut to @p size; "" when the driver does not report it. */
static void query_text(const struct opencl_device *device, cl_uint what, char *text, size_t size)
{
    const struct opencl_calls *cl = &device->platform->state->cl;
    size_t length                 = 0;
    char *all;

    text[0] = '\0';
    if ((cl->clGetDeviceInfo(device->id, what, 0, NULL, &length) != OPENCL_SUCCESS) ||
        (length == 0)) {
        return;
    }
    all = calloc(length + 1, 1);
    if (all == NULL) {
        return;
    }
    if (cl->clGetDeviceInfo(device->id, what, length, all, NULL) == OPENCL_SUCCESS) {
        snprintf(text, size, "%s", all + strspn(all, " "));
    }
    free(all);
}

static cl_ulong ask_long(const struct opencl_device *device, cl_uint what)
{
    cl_ulong answer = 0;

    return query_info(device, what, sizeof(answer), &answer) ? answer : 0;
}

static bool ask_bool(const struct opencl_device *device, cl_uint what)
{
    cl_bool answer = 0;

    return query_info(device, what, sizeof(answer), &answer) && (answer != 0);
}

static void fill_names(struct opencl_device *device)
{
    memspan_device_info_t *info = &device->info;
    char driver[64];
    char version[64];

    query_text(device, OPENCL_DEVICE_NAME, info->name, sizeof(info->name));
    query_text(device, OPENCL_DEVICE_VENDOR, info->vendor, sizeof(info->vendor));
    query_text(device, OPENCL_DRIVER_VERSION, driver, sizeof(driver));
    query_text(device, OPENCL_DEVICE_VERSION, version, sizeof(version));
    snprintf(info->driver, sizeof(info->driver), "%.40s %.24s (%.10s)", device->platform->name,
             driver, version);
}

static void fill_uid(struct opencl_device *device, int index)
{
    memspan_device_info_t *info = &device->info;
    unsigned char uuid[OPENCL_UUID_SIZE_KHR];

    if (!query_info(device, OPENCL_DEVICE_UUID_KHR, sizeof(uuid), uuid) ||
        !gpu_write_uid(uuid, info->uid, sizeof(info->uid))) {
        snprintf(info->uid, sizeof(info->uid), "opencl:%.24s:%.32s:%d", device->platform->name,
                 info->name, index);
    }
}

static void fill_bus(struct opencl_device *device)
{
    memspan_device_info_t *info = &device->info;
    struct opencl_pci_bus_info bus;

    info->numa_node = -1;
    if (!query_info(device, OPENCL_DEVICE_PCI_BUS_INFO_KHR, sizeof(bus), &bus)) {
        return;
    }
    snprintf(info->pci_address, sizeof(info->pci_address), "%04x:%02x:%02x.%x", bus.domain & 0xffff,
             bus.bus & 0xff, bus.device & 0xff, bus.function & 0xf);
    gpu_fill_numa_node(info);
}

static void fill_sizes(struct opencl_device *device)
{
    memspan_device_info_t *info = &device->info;
    uint64_t page               = msp_page_size();
    cl_ulong capacity           = ask_long(device, OPENCL_DEVICE_GLOBAL_MEM_SIZE);
    size_t group                = 0;

    device->alloc_max_bytes = ask_long(device, OPENCL_DEVICE_MAX_MEM_ALLOC_SIZE);
    info->capacity_bytes    = (capacity == 0) ? MEMSPAN_UNKNOWN : capacity;
    snprintf(info->capacity_source, sizeof(info->capacity_source), "%s",
             (capacity == 0) ? "" : "driver");
    info->free_bytes      = MEMSPAN_UNKNOWN;
    info->page_size_bytes = page;
    /* A page is spent on the alignment: OpenCL itself promises 128 bytes. */
    info->alloc_max_bytes =
        (device->alloc_max_bytes < 2 * page) ? 0 : ((device->alloc_max_bytes - page) & ~(page - 1));
    device->work_group_size_max =
        query_info(device, OPENCL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(group), &group) ? group : 1;
}

static void fill_abilities(struct opencl_device *device)
{
    char version[64];
    int major = 1;
    int minor = 0;

    query_text(device, OPENCL_DEVICE_VERSION, version, sizeof(version));
    if (sscanf(version, "OpenCL %d.%d", &major, &minor) == 2) {
        snprintf(device->language, sizeof(device->language), "%s",
                 (major >= 3) ? "-cl-std=CL3.0" : ((major == 2) ? "-cl-std=CL2.0" : ""));
    }
    if (device->platform->version >= 20) {
        device->svm_has = (unsigned)ask_long(device, OPENCL_DEVICE_SVM_CAPABILITIES) & 15u;
    }
    device->svm          = device->svm_has & device->platform->state->allowed;
    device->processor    = (ask_long(device, OPENCL_DEVICE_TYPE) & OPENCL_DEVICE_TYPE_CPU) != 0;
    device->unified      = device->processor || ask_bool(device, OPENCL_DEVICE_HOST_UNIFIED_MEMORY);
    device->has_compiler = ask_bool(device, OPENCL_DEVICE_COMPILER_AVAILABLE);
    device->has_doubles  = ask_long(device, OPENCL_DEVICE_DOUBLE_FP_CONFIG) != 0;
}

bool opencl_device_fill(struct opencl_device *device, int ordinal, int index)
{
    const memspan_services_t *services = device->platform->state->services;
    cl_uint bits                       = 0;

    fill_names(device);
    if (!ask_bool(device, OPENCL_DEVICE_AVAILABLE)) {
        services->log(MEMSPAN_LOG_WARN, OPENCL_NAME, "device \"%s\" left out: %s",
                      device->info.name, "the driver calls it not available");
        return false;
    }
    if (!query_info(device, OPENCL_DEVICE_ADDRESS_BITS, sizeof(bits), &bits) || (bits != 64)) {
        services->log(MEMSPAN_LOG_WARN, OPENCL_NAME, "device \"%s\" left out: %u-bit addresses",
                      device->info.name, bits);
        return false;
    }
    device->info.struct_size = sizeof(device->info);
    device->info.ordinal     = ordinal;
    fill_uid(device, index);
    fill_bus(device);
    fill_sizes(device);
    fill_abilities(device);
    opencl_device_fill_kinds(device);
    services->log(MEMSPAN_LOG_INFO, OPENCL_NAME, "device %d: %s, %s, SVM %#x of %#x", ordinal,
                  device->info.name, device->info.driver, device->svm, device->svm_has);
    return true;
}

memspan_status_t opencl_device_describe(void *state, int ordinal, memspan_device_info_t *info_p)
{
    struct opencl_device *device;
    memspan_status_t status = opencl_enter(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    pthread_mutex_lock(&device->platform->lock);
    opencl_device_fill_kinds(device);
    gpu_describe_device(&device->info, MEMSPAN_UNKNOWN, info_p);
    pthread_mutex_unlock(&device->platform->lock);
    return MEMSPAN_OK;
}
