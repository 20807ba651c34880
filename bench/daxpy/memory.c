/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/daxpy/daxpy.h"
#include <stdio.h>

enum daxpy_state daxpy_memory_refused(char *reason)
{
    (void)snprintf(reason, DAXPY_TEXT_SIZE, "%s", memspan_error_text());
    switch (memspan_error_last()->status) {
    case MEMSPAN_ERR_UNREACHABLE:
    case MEMSPAN_ERR_UNSUPPORTED:
    case MEMSPAN_ERR_NOT_GUARANTEED:
    case MEMSPAN_ERR_LIMIT:
    case MEMSPAN_ERR_PERMISSION:
    case MEMSPAN_ERR_OFF:
        return DAXPY_WAIVED;
    default:
        return DAXPY_FAILED;
    }
}

/* "coherent pinned": pinned is a trait of any kind, and the name of one. */
static void name_kind(char *text, size_t text_size, memspan_kind_t kind, bool pinned)
{
    bool tell = pinned && (kind != MEMSPAN_KIND_HOST_PINNED);

    (void)snprintf(text, text_size, "%s%s", memspan_kind_name(kind), tell ? " pinned" : "");
}

bool daxpy_memory_describe(struct daxpy_memory *memory, bool pinned, char *reason)
{
    memspan_allocator_info_t info = {.struct_size = sizeof(info)};

    if (memspan_allocator_describe(memory->allocator, &info) != MEMSPAN_OK) {
        (void)snprintf(reason, DAXPY_TEXT_SIZE, "%s", memspan_error_text());
        return false;
    }
    name_kind(memory->asked, sizeof(memory->asked), info.kind_asked, pinned);
    name_kind(memory->given, sizeof(memory->given), info.kind_given, info.pinned != 0);
    (void)snprintf(memory->why, sizeof(memory->why), "%s", info.why);
    memory->page_size_bytes = (info.page_size_bytes == 0) ? -1 : (int64_t)info.page_size_bytes;
    memory->numa_node       = info.numa_node;
    return true;
}

bool daxpy_memory_needs_device(enum daxpy_variant variant, int device, char *reason)
{
    if ((device != MEMSPAN_HOST) || (variant == DAXPY_HOST) || (variant == DAXPY_HOST_PINNED)) {
        return false;
    }
    (void)snprintf(reason, DAXPY_TEXT_SIZE,
                   "the device is the host: there is nothing to copy to or to share with");
    return true;
}

bool daxpy_job_failed(struct daxpy_job *job, const char *what)
{
    (void)snprintf(job->problem, sizeof(job->problem), "%s: %s", what, memspan_error_text());
    return false;
}

bool daxpy_device_title(int device, char *title, size_t title_size)
{
    memspan_device_info_t info = {.struct_size = sizeof(info)};

    if (memspan_device_describe(device, &info) != MEMSPAN_OK) {
        (void)snprintf(title, title_size, "%s", memspan_error_text());
        return false;
    }
    (void)snprintf(title, title_size, "%s '%s'%s%s", info.backend, info.name,
                   (info.driver[0] == '\0') ? "" : ", ", info.driver);
    return true;
}
