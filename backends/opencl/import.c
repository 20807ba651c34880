/* SPDX-License-Identifier: BSD-3-Clause */
/* import.c: host pages for kernels, as a USE_HOST_PTR buffer.
 *
 * OpenCL leaves open whether the driver works on a copy at another address. A kernel that reports
 * the address it sees decides, for each piece of memory; and once for each device, on a page of our
 * own, a kernel's store and the host's must be seen by the other side without any mapping. */

#include "backends/opencl/opencl.h"
#include "core/base/platform.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct report {
    cl_ulong address; /* where the kernel sees the page */
    cl_ulong value;   /* the value that it reads there */
};

/* Run the reporting kernel on @p page; with @p store it then writes that value there. */
static memspan_status_t run_report(struct opencl_device *device, cl_mem page, cl_mem seen,
                                   cl_ulong store, struct report *report_p)
{
    const struct opencl_state *state = device->platform->state;
    const struct opencl_calls *cl    = &state->cl;
    const char *call                 = "clSetKernelArg";
    size_t one                       = 1;
    cl_kernel kernel;
    cl_int code;
    memspan_status_t status =
        opencl_kernel_get(device, OPENCL_KERNEL_REPORT, "memspan_report", &kernel);

    if (status != MEMSPAN_OK) {
        return status;
    }
    code = cl->clSetKernelArg(kernel, 0, sizeof(page), &page);
    if (code == OPENCL_SUCCESS) {
        code = cl->clSetKernelArg(kernel, 1, sizeof(seen), &seen);
    }
    if (code == OPENCL_SUCCESS) {
        code = cl->clSetKernelArg(kernel, 2, sizeof(store), &store);
    }
    if (code == OPENCL_SUCCESS) {
        call = "clEnqueueNDRangeKernel";
        code = cl->clEnqueueNDRangeKernel(device->host_queue, kernel, 1, NULL, &one, &one, 0, NULL,
                                          NULL);
    }
    if (code == OPENCL_SUCCESS) {
        call = "clEnqueueReadBuffer";
        code = cl->clEnqueueReadBuffer(device->host_queue, seen, 1, 0, sizeof(*report_p), report_p,
                                       0, NULL, NULL);
        if (code != OPENCL_SUCCESS) {
            /* The pages may be unmapped as soon as we return: the kernel must be done with them. */
            cl->clFinish(device->host_queue);
        }
    }
    return (code == OPENCL_SUCCESS)
               ? MEMSPAN_OK
               : opencl_error(state, call, code, "%s cannot confirm the address of host pages",
                              device->info.name);
}

static memspan_status_t make_buffer(struct opencl_device *device, cl_bitfield flags, size_t size,
                                    void *pages, cl_mem *buffer_p)
{
    const struct opencl_platform *platform = device->platform;
    cl_int code                            = OPENCL_SUCCESS;
    cl_mem buffer                          = platform->state->cl.clCreateBuffer(
                                 platform->context, OPENCL_MEM_READ_WRITE | flags, size, pages, &code);

    if (buffer == NULL) {
        return opencl_error(platform->state, "clCreateBuffer", code,
                            "cannot make a buffer of %zu bytes at %p", size, pages);
    }
    *buffer_p = buffer;
    return MEMSPAN_OK;
}

/* Both directions, on a page whose contents are not needed. */
static memspan_status_t try_device(struct opencl_device *device, volatile cl_ulong *page,
                                   cl_mem buffer, cl_mem seen, bool *same_p)
{
    struct report report = {0, 0};
    bool same;
    memspan_status_t status;

    page[0] = 17;
    status  = run_report(device, buffer, seen, 23, &report);
    if (status != MEMSPAN_OK) {
        return status;
    }
    same = (report.address == (cl_ulong)(uintptr_t)page) && (report.value == 17) && (page[0] == 23);
    page[0] = 42;
    status  = run_report(device, buffer, seen, 0, &report);
    if (status != MEMSPAN_OK) {
        return status;
    }
    *same_p = same && (report.value == 42);
    return MEMSPAN_OK;
}

static memspan_status_t prove_device(struct opencl_device *device, cl_mem seen)
{
    const struct opencl_state *state = device->platform->state;
    size_t page                      = msp_page_size();
    cl_mem buffer                    = NULL;
    bool same                        = false;
    memspan_status_t status;
    void *scratch;

    if (device->same != OPENCL_SAME_UNKNOWN) {
        return MEMSPAN_OK;
    }
    scratch = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (scratch == MAP_FAILED) {
        return opencl_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no page of host memory");
    }
    status = make_buffer(device, OPENCL_MEM_USE_HOST_PTR, page, scratch, &buffer);
    if (status == MEMSPAN_OK) {
        status = try_device(device, scratch, buffer, seen, &same);
        state->cl.clReleaseMemObject(buffer);
    }
    munmap(scratch, page);
    if (status == MEMSPAN_OK) {
        device->same = same ? OPENCL_SAME_YES : OPENCL_SAME_NO;
        opencl_device_fill_kinds(device);
    }
    return status;
}

static memspan_status_t confirm(struct opencl_device *device, struct opencl_block *block,
                                cl_mem seen)
{
    const struct opencl_state *state = device->platform->state;
    struct report report             = {0, 0};
    memspan_status_t status          = prove_device(device, seen);

    if (status != MEMSPAN_OK) {
        return status;
    }
    if (device->same == OPENCL_SAME_NO) {
        return opencl_refuse(state, MEMSPAN_ERR_UNSUPPORTED, NULL,
                             "%s does not work on host pages in place", device->info.name);
    }
    if (block->buffer == NULL) {
        status = make_buffer(device, OPENCL_MEM_USE_HOST_PTR, block->size_bytes, block->base,
                             &block->buffer);
        if (status != MEMSPAN_OK) {
            return status;
        }
    }
    status = run_report(device, block->buffer, seen, 0, &report);
    if ((status == MEMSPAN_OK) && (report.address != (cl_ulong)(uintptr_t)block->base)) {
        status = opencl_refuse(state, MEMSPAN_ERR_UNSUPPORTED, NULL,
                               "kernels of %s see the pages at %p at another address: %#llx",
                               device->info.name, (void *)block->base,
                               (unsigned long long)report.address);
    }
    return status;
}

memspan_status_t opencl_pages_attach(struct opencl_device *device, struct opencl_block *block)
{
    cl_mem seen             = NULL;
    memspan_status_t status = opencl_platform_need_context(device->platform);

    if (status == MEMSPAN_OK) {
        status = opencl_queue_need_host(device);
    }
    if (status == MEMSPAN_OK) {
        status = make_buffer(device, 0, sizeof(struct report), NULL, &seen);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    status = confirm(device, block, seen);
    device->platform->state->cl.clReleaseMemObject(seen);
    return status;
}

/* A block for pages that are not in the table yet. Lock held. */
static memspan_status_t import_new(struct opencl_device *device, void *address, size_t size_bytes,
                                   struct opencl_block **block_p)
{
    const struct opencl_state *state = device->platform->state;
    struct opencl_block *block       = calloc(1, sizeof(*block));
    memspan_status_t status          = MEMSPAN_OK;

    if (block == NULL) {
        return opencl_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for a record");
    }
    block->base       = address;
    block->size_bytes = size_bytes;
    block->kind       = MEMSPAN_KIND_HOST;
    block->references = 1;
    if ((device->svm & OPENCL_SVM_SYSTEM) == 0) {
        status = opencl_pages_attach(device, block);
    }
    if (status == MEMSPAN_OK) {
        status = opencl_block_insert(device->platform, block);
    }
    if (status != MEMSPAN_OK) {
        if (block->buffer != NULL) {
            state->cl.clReleaseMemObject(block->buffer);
        }
        free(block);
        return status;
    }
    *block_p = block;
    return MEMSPAN_OK;
}

/* The same pages for another device of the platform, or again. Lock held. */
static memspan_status_t import_again(struct opencl_device *device, struct opencl_block *block)
{
    memspan_status_t status = MEMSPAN_OK;

    if ((device->svm & OPENCL_SVM_SYSTEM) == 0) {
        status = opencl_pages_attach(device, block);
    }
    block->references += (status == MEMSPAN_OK) ? 1 : 0;
    return status;
}

memspan_status_t opencl_import(void *state, int ordinal, void *address, size_t size_bytes,
                               void **address_p, void **cookie_p)
{
    struct opencl_device *device;
    struct opencl_block *block;
    memspan_status_t status = opencl_enter(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    if ((address == NULL) || (size_bytes == 0)) {
        return opencl_refuse(state, MEMSPAN_ERR_INVALID, NULL, "no host pages to import: %zu at %p",
                             size_bytes, address);
    }
    pthread_mutex_lock(&device->platform->lock);
    block = opencl_block_find(device->platform, address);
    if (!opencl_may_import(device)) {
        status = opencl_refuse(state, MEMSPAN_ERR_UNSUPPORTED, NULL,
                               "%s cannot work on host pages in place", device->info.name);
    } else if ((block != NULL) && (block->kind == MEMSPAN_KIND_HOST) && (block->base == address) &&
               (block->size_bytes == size_bytes)) {
        status = import_again(device, block);
    } else {
        status = import_new(device, address, size_bytes, &block);
    }
    pthread_mutex_unlock(&device->platform->lock);
    if (status == MEMSPAN_OK) {
        *address_p = address;
        *cookie_p  = block;
    }
    return status;
}

memspan_status_t opencl_release(void *state, int ordinal, void *address, size_t size_bytes,
                                void *cookie)
{
    struct opencl_device *device;
    struct opencl_block *block = cookie;
    memspan_status_t status    = opencl_enter(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    pthread_mutex_lock(&device->platform->lock);
    status = opencl_platform_quiesce(device->platform);
    if ((block == NULL) || (opencl_block_find(device->platform, address) != block) ||
        (block->size_bytes != size_bytes) || (block->kind != MEMSPAN_KIND_HOST)) {
        pthread_mutex_unlock(&device->platform->lock);
        return opencl_refuse(state, MEMSPAN_ERR_NOT_FOUND, NULL,
                             "%zu bytes at %p were not imported", size_bytes, address);
    }
    block->references--;
    if (block->references == 0) {
        opencl_block_remove(device->platform, block);
        if (block->buffer != NULL) {
            device->platform->state->cl.clReleaseMemObject(block->buffer);
        }
        free(block);
    }
    pthread_mutex_unlock(&device->platform->lock);
    return status;
}
