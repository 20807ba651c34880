/* SPDX-License-Identifier: BSD-3-Clause */
/* request.c: the kinds of memory of a device, and checks of requests. */

#include "backends/gpu/common.h"
#include "core/base/file.h"
#include "core/base/platform.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void gpu_offer_kind(memspan_device_info_t *info, memspan_kind_t kind, bool offered,
                    const char *format, ...)
{
    va_list args;

    if (offered) {
        info->kinds |= 1u << kind;
    }
    va_start(args, format);
    vsnprintf(info->kind_note[kind], sizeof(info->kind_note[kind]), format, args);
    va_end(args);
}

uint64_t gpu_host_available(void)
{
    uint64_t available = MEMSPAN_UNKNOWN;
    char text[4096];

    if (msp_file_read("/proc/meminfo", text, sizeof(text)) > 0) {
        (void)msp_text_field(text, "MemAvailable", &available);
    }
    return available;
}

static uint64_t less(uint64_t bytes, uint64_t taken_bytes)
{
    return (bytes > taken_bytes) ? bytes - taken_bytes : 0;
}

uint64_t gpu_most_bytes(const memspan_device_info_t *info, memspan_kind_t kind, bool integrated,
                        uint64_t managed_bytes)
{
    uint64_t own  = info->capacity_bytes;
    uint64_t host = (uint64_t)sysconf(_SC_PHYS_PAGES) * msp_page_size();

    if (integrated) {
        /* Memory that was given and not touched yet is still available. */
        uint64_t available = gpu_host_available();
        uint64_t left      = less(own, managed_bytes);
        return (available < left) ? available : left;
    }
    if ((own == MEMSPAN_UNKNOWN) || (kind == MEMSPAN_KIND_DEVICE)) {
        return own;
    }
    return (kind == MEMSPAN_KIND_MANAGED) ? less(own + host, managed_bytes) : host;
}

memspan_status_t gpu_check_request(const memspan_services_t *services, const char *backend,
                                   const memspan_device_info_t *info,
                                   const memspan_request_t *request, uint64_t most_bytes)
{
    bool known = (request->kind > MEMSPAN_KIND_NONE) && (request->kind < MEMSPAN_KIND_COUNT);

    if (!known || ((info->kinds & (1u << request->kind)) == 0)) {
        return services->fail(MEMSPAN_ERR_UNSUPPORTED, backend, "", 0, "", NULL,
                              "no %s memory on %s: %s", memspan_kind_name(request->kind),
                              info->name, known ? info->kind_note[request->kind] : "no such kind");
    }
    if ((request->size_bytes == 0) || !msp_is_power_of_two(request->align_bytes)) {
        return services->fail(MEMSPAN_ERR_INVALID, backend, "", 0, "", NULL,
                              "size %zu or alignment %zu is not valid", request->size_bytes,
                              request->align_bytes);
    }
    if ((request->size_bytes > most_bytes) || (request->size_bytes > SIZE_MAX / 4) ||
        (request->align_bytes > SIZE_MAX / 4)) {
        return services->fail(MEMSPAN_ERR_NO_MEMORY, backend, "", 0, "", "ask for less",
                              "%zu bytes of %s memory are more than %s gives at once: %llu",
                              request->size_bytes, memspan_kind_name(request->kind), info->name,
                              (unsigned long long)most_bytes);
    }
    return MEMSPAN_OK;
}

void gpu_describe_device(const memspan_device_info_t *info, uint64_t free_bytes,
                         memspan_device_info_t *info_p)
{
    memspan_device_info_t answer = *info;

    answer.free_bytes = free_bytes;
    if ((free_bytes != MEMSPAN_UNKNOWN) && (free_bytes > info->capacity_bytes)) {
        answer.free_bytes = info->capacity_bytes;
    }
    /* These three are the library's. */
    answer.struct_size = info_p->struct_size;
    answer.number      = info_p->number;
    memcpy(answer.backend, info_p->backend, sizeof(answer.backend));
    *info_p = answer;
}

void gpu_fill_numa_node(memspan_device_info_t *info)
{
    char path[96];
    char text[16];

    if (strspn(info->pci_address, "0:.") == strlen(info->pci_address)) {
        info->pci_address[0] = '\0';
    }
    snprintf(path, sizeof(path), "/sys/bus/pci/devices/%.40s/numa_node", info->pci_address);
    info->numa_node = (msp_file_read(path, text, sizeof(text)) > 0) ? atoi(text) : -1;
}

bool gpu_write_uid(const void *uuid, char *uid, size_t size)
{
    static const unsigned char none[16];
    const unsigned char *bytes = uuid;
    size_t used                = 0;
    int i;

    if (memcmp(bytes, none, sizeof(none)) == 0) {
        return false;
    }
    for (i = 0; i < 16; i++) {
        bool dash = (i == 4) || (i == 6) || (i == 8) || (i == 10);
        used += (size_t)snprintf(uid + used, size - used, "%s%02x", dash ? "-" : "", bytes[i]);
    }
    return true;
}
