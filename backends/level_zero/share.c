/* SPDX-License-Identifier: BSD-3-Clause */
/* share.c: blocks for other processes of this node, and dma-buf descriptors for network cards.
 *
 * A handle of Intel's drivers begins with a file descriptor of the process that made it, which
 * means nothing to another. So the other process fetches the descriptor from this one, which needs
 * the right to trace it, and writes its own over it. Newer drivers' handles name the process that
 * made them as well, and fetch the descriptor themselves: these handles are passed on as they are.
 * The calls that turn handles into descriptors and back are of no use: the one back knows only what
 * this process has exported, and drivers before 2023 have neither. The handle stays valid here
 * while the block lives. */

#include "backends/gpu/common.h"
#include "backends/level_zero/level_zero.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

_Static_assert(sizeof(lz_ipc_handle_t) == sizeof(((struct gpu_token *)NULL)->handle),
               "a token holds a handle");

/* Where a handle that names its process does so. Others have zero there. */
enum { HANDLE_PID_AT = 16 };

static bool names_its_process(const struct gpu_token *token)
{
    return memcmp(token->handle + HANDLE_PID_AT, &token->pid, sizeof(token->pid)) == 0;
}

void lz_unshare(struct gpu_block *block)
{
    const struct gpu_state *state = block->device->state;
    lz_result_t code;

    if (!lz_block(block)->has_handle || (lz_calls(state)->zeMemPutIpcHandle == NULL)) {
        return;
    }
    code = lz_calls(state)->zeMemPutIpcHandle(lz_device(block->device)->driver->context,
                                              lz_block(block)->handle);
    (void)gpu_log_failure(state, LZ_ANSWER("zeMemPutIpcHandle", code),
                          "giving back what was shared");
}

/* ---- out ---- */

static memspan_status_t need_handle(const struct gpu_device *device, struct lz_block *own)
{
    pthread_mutex_t *lock = &lz_state(device->state)->lock;
    lz_result_t code      = ZE_RESULT_SUCCESS;
    lz_ipc_handle_t handle;

    pthread_mutex_lock(lock);
    if (!own->has_handle) {
        code = lz_calls(device->state)
                   ->zeMemGetIpcHandle(lz_device(device)->driver->context, own->gpu.base, &handle);
        if (code == ZE_RESULT_SUCCESS) {
            own->handle     = handle;
            own->has_handle = true;
        }
    }
    pthread_mutex_unlock(lock);
    return (code == ZE_RESULT_SUCCESS)
               ? MEMSPAN_OK
               : gpu_error(device->state, LZ_ANSWER("zeMemGetIpcHandle", code),
                           "memory of %s cannot be shared", device->info.name);
}

memspan_status_t lz_export(const struct gpu_device *device, struct gpu_block *block,
                           struct gpu_token *token)
{
    bool shares = lz_device(device)->driver->shares;
    memspan_status_t status;

    if (shares && !gpu_offers_fds()) {
        return gpu_refuse(device->state, MEMSPAN_ERR_UNSUPPORTED,
                          "kernel.yama.ptrace_scope must be 0 or 1, and a container must allow "
                          "pidfd_getfd (SYS_PTRACE)",
                          "no process can fetch the descriptor that shares memory of %s",
                          device->info.name);
    }
    if (!shares || (block->made != GPU_MADE_DEVICE)) {
        return gpu_refuse(device->state, MEMSPAN_ERR_UNSUPPORTED, "share device memory",
                          "%s shares only memory of its own, where its driver shares at all",
                          device->info.name);
    }
    status = need_handle(device, lz_block(block));
    if (status != MEMSPAN_OK) {
        return status;
    }
    gpu_offer_fds();
    token->forms = GPU_FORM_DESCRIPTOR;
    token->pid   = (int32_t)getpid();
    memcpy(token->handle, &lz_block(block)->handle, sizeof(token->handle));
    memcpy(&token->fd, token->handle, sizeof(token->fd));
    return MEMSPAN_OK;
}

/* ---- in ---- */

memspan_status_t lz_open(struct gpu_device *device, struct gpu_token *token,
                         struct gpu_block *block)
{
    const struct lz_device *own = lz_device(device);
    void *base                  = NULL;
    int fd                      = -1;
    lz_ipc_handle_t handle;
    lz_result_t code;
    memspan_status_t status;

    if (!own->driver->shares) {
        return gpu_refuse(device->state, MEMSPAN_ERR_UNSUPPORTED, NULL,
                          "the driver of %s shares no memory", device->info.name);
    }
    status = gpu_fetch_fd(device->state->services, device->state->driver->name, token->pid,
                          token->fd, &fd);
    if (status != MEMSPAN_OK) {
        return status;
    }
    /* Fetched in any case: where that is forbidden, a driver that tries it itself falls back to its
     * own descriptor of that number, which is other memory. */
    if (!names_its_process(token)) {
        memcpy(token->handle, &fd, sizeof(fd));
    }
    memcpy(&handle, token->handle, sizeof(handle));
    code = LZ(own)->zeMemOpenIpcHandle(own->driver->context, own->handle, handle, 0, &base);
    close(fd);
    if (code != ZE_RESULT_SUCCESS) {
        return gpu_error(device->state, LZ_ANSWER("zeMemOpenIpcHandle", code),
                         "memory of process %d cannot be opened on %s", (int)token->pid,
                         device->info.name);
    }
    block->made       = GPU_MADE_OPENED;
    block->base       = base;
    block->size_bytes = token->mapped_bytes;
    return MEMSPAN_OK;
}

/* ---- dma-buf ---- */

/* The descriptor is of the whole allocation; what starts within it is found by the offset. The
 * driver's own is closed when the memory is given back, and its number may have another owner by
 * then: the caller gets a duplicate. */
memspan_status_t lz_dmabuf(const struct gpu_device *device, const void *address, size_t size_bytes,
                           int *fd_p, uint64_t *offset_p)
{
    struct gpu_state *state          = device->state;
    lz_export_fd_t descriptor        = {.stype = LZ_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD,
                                        .flags = LZ_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF,
                                        .fd    = -1};
    lz_alloc_properties_t properties = {.stype = LZ_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES,
                                        .pNext = &descriptor};
    struct gpu_block *own            = gpu_block_find(state, address);
    lz_device_h owner                = NULL;
    lz_result_t code;
    int fd;

    if (!lz_device(device)->facts.dmabuf) {
        return gpu_refuse(state, MEMSPAN_ERR_UNSUPPORTED, NULL,
                          "%s exports no dma-buf (memoryAllocationExportTypes)", device->info.name);
    }
    if ((own == NULL) || !lz_block(own)->exportable) {
        return gpu_refuse(state, MEMSPAN_ERR_UNSUPPORTED, "ask for memory that is to be shared",
                          "memory at %p was not taken to be exported", address);
    }
    if ((size_t)((const char *)address - own->base) + size_bytes > own->size_bytes) {
        return gpu_refuse(state, MEMSPAN_ERR_INVALID, NULL, "%zu bytes at %p run past their block",
                          size_bytes, address);
    }
    code = lz_calls(state)->zeMemGetAllocProperties(lz_device(own->device)->driver->context,
                                                    own->base, &properties, &owner);
    if (code != ZE_RESULT_SUCCESS) {
        return gpu_error(state, LZ_ANSWER("zeMemGetAllocProperties", code),
                         "no dma-buf for %zu bytes at %p", size_bytes, address);
    }
    if (descriptor.fd < 0) {
        return gpu_error(state, LZ_ANSWER("zeMemGetAllocProperties", code),
                         "the driver gave no descriptor for %zu bytes at %p", size_bytes, address);
    }
    fd = fcntl(descriptor.fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0) {
        return state->services->fail(MEMSPAN_ERR_NO_MEMORY, state->driver->name, "fcntl", errno,
                                     strerror(errno), "raise the limit (ulimit -n)",
                                     "no file descriptor for a dma-buf");
    }
    *fd_p     = fd;
    *offset_p = (uint64_t)((const char *)address - own->base);
    return MEMSPAN_OK;
}
