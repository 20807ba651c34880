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

#include "backends/gpu/descriptor.h"
#include "backends/level_zero/level_zero.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct token {
    char magic[8];
    int32_t pid;
    int32_t fd;
    uint64_t base_bytes; /* of what is shared */
    uint64_t offset;     /* of the block in it */
    uint64_t size_bytes;
    char uid[72]; /* the device's */
    lz_ipc_handle_t handle;
};

static const char magic[8] = "msp-ze1";

/* Where a handle that names its process does so. Others have zero there. */
enum { HANDLE_PID_AT = 16 };

static bool names_its_process(const struct token *token)
{
    return memcmp(token->handle.data + HANDLE_PID_AT, &token->pid, sizeof(token->pid)) == 0;
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

static memspan_status_t need_handle(struct lz_device *device, struct lz_block *own)
{
    struct gpu_state *state = device->gpu.state;
    lz_ipc_handle_t handle;
    lz_result_t code = ZE_RESULT_SUCCESS;

    pthread_mutex_lock(&lz_state(state)->import_lock);
    if (!own->has_handle) {
        code = lz_calls(state)->zeMemGetIpcHandle(device->driver->context, own->gpu.base, &handle);
        if (code == ZE_RESULT_SUCCESS) {
            own->handle     = handle;
            own->has_handle = true;
        }
    }
    pthread_mutex_unlock(&lz_state(state)->import_lock);
    return (code == ZE_RESULT_SUCCESS)
               ? MEMSPAN_OK
               : gpu_error(state, LZ_ANSWER("zeMemGetIpcHandle", code),
                           "memory of %s cannot be shared", device->gpu.info.name);
}

memspan_status_t lz_ipc_export(void *state, int ordinal, const memspan_block_t *block, void *bytes,
                               size_t *token_size_p)
{
    struct lz_block *own = block->cookie;
    struct lz_device *device;
    struct token token;
    memspan_status_t status;

    if (bytes == NULL) {
        *token_size_p = sizeof(token);
        return MEMSPAN_OK;
    }
    if (*token_size_p < sizeof(token)) {
        return gpu_refuse(state, MEMSPAN_ERR_INVALID, NULL,
                          "%zu bytes are not enough for a token: %zu", *token_size_p,
                          sizeof(token));
    }
    status = lz_device_get(state, ordinal, &device);
    if (status != MEMSPAN_OK) {
        return status;
    }
    if (device->driver->shares && !gpu_offers_fds()) {
        return gpu_refuse(state, MEMSPAN_ERR_UNSUPPORTED,
                          "kernel.yama.ptrace_scope must be 0 or 1, and a container must allow "
                          "pidfd_getfd (SYS_PTRACE)",
                          "no process can fetch the descriptor that shares memory of %s",
                          device->gpu.info.name);
    }
    if (!device->driver->shares || (own->gpu.made != GPU_MADE_DEVICE)) {
        return gpu_refuse(state, MEMSPAN_ERR_UNSUPPORTED, "share device memory",
                          "%s shares only memory of its own, where its driver shares at all",
                          device->gpu.info.name);
    }
    memset(&token, 0, sizeof(token));
    status = need_handle(device, own);
    if (status != MEMSPAN_OK) {
        return status;
    }
    gpu_offer_fds();
    memcpy(&token.fd, own->handle.data, sizeof(token.fd));
    memcpy(token.magic, magic, sizeof(token.magic));
    memcpy(token.uid, device->gpu.info.uid, sizeof(token.uid));
    token.pid        = (int32_t)getpid();
    token.base_bytes = own->gpu.size_bytes;
    token.offset     = (uint64_t)((const char *)block->address - own->gpu.base);
    token.size_bytes = block->size_bytes;
    token.handle     = own->handle;
    memcpy(bytes, &token, sizeof(token));
    *token_size_p = sizeof(token);
    return MEMSPAN_OK;
}

/* ---- in ---- */

static memspan_status_t check_token(const struct lz_device *device, const struct token *token)
{
    if ((memcmp(token->magic, magic, sizeof(magic)) != 0) || (token->offset > token->base_bytes) ||
        (token->size_bytes > token->base_bytes - token->offset)) {
        return gpu_refuse(device->gpu.state, MEMSPAN_ERR_INVALID, NULL,
                          "these bytes are no token of Level Zero memory");
    }
    if (strncmp(token->uid, device->gpu.info.uid, sizeof(token->uid)) != 0) {
        return gpu_refuse(device->gpu.state, MEMSPAN_ERR_CONFLICT, "open it on the same device",
                          "the memory is of device %.40s, not %.40s", token->uid,
                          device->gpu.info.uid);
    }
    if (!device->driver->shares) {
        return gpu_refuse(device->gpu.state, MEMSPAN_ERR_UNSUPPORTED, NULL,
                          "the driver of %s shares no memory", device->gpu.info.name);
    }
    return MEMSPAN_OK;
}

static memspan_status_t open_handle(const struct lz_device *device, struct token *token,
                                    struct lz_block *own)
{
    const struct lz_calls *ze = LZ(device);
    lz_context_h context      = device->driver->context;
    void *base                = NULL;
    int fd                    = -1;
    lz_result_t code;
    memspan_status_t status =
        gpu_fetch_fd(device->gpu.state->services, "level_zero", token->pid, token->fd, &fd);

    if (status != MEMSPAN_OK) {
        return status;
    }
    /* Fetched in any case: where that is forbidden, a driver that tries it itself falls back to its
     * own descriptor of that number, which is other memory. */
    if (!names_its_process(token)) {
        memcpy(token->handle.data, &fd, sizeof(fd));
    }
    code = ze->zeMemOpenIpcHandle(context, device->handle, token->handle, 0, &base);
    close(fd);
    if (code != ZE_RESULT_SUCCESS) {
        return gpu_error(device->gpu.state, LZ_ANSWER("zeMemOpenIpcHandle", code),
                         "memory of process %d cannot be opened on %s", (int)token->pid,
                         device->gpu.info.name);
    }
    own->gpu.base = base;
    return MEMSPAN_OK;
}

memspan_status_t lz_ipc_import(void *state, int ordinal, const void *bytes, size_t token_size,
                               memspan_block_t *block_p)
{
    struct lz_device *device;
    struct lz_block *own;
    struct token token;
    memspan_status_t status = lz_device_get(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    if ((bytes == NULL) || (token_size != sizeof(token))) {
        return gpu_refuse(state, MEMSPAN_ERR_INVALID, NULL,
                          "a token of Level Zero memory has %zu bytes, not %zu", sizeof(token),
                          token_size);
    }
    memcpy(&token, bytes, sizeof(token));
    status = check_token(device, &token);
    if (status != MEMSPAN_OK) {
        return status;
    }
    own = calloc(1, sizeof(*own));
    if (own == NULL) {
        return gpu_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for a block");
    }
    own->gpu.device     = &device->gpu;
    own->gpu.fd         = -1;
    own->gpu.made       = GPU_MADE_OPENED;
    own->gpu.size_bytes = token.base_bytes;
    status              = open_handle(device, &token, own);
    if (status != MEMSPAN_OK) {
        free(own);
        return status;
    }
    gpu_block_insert(state, &own->gpu);
    *block_p = (memspan_block_t){.address    = own->gpu.base + token.offset,
                                 .size_bytes = token.size_bytes,
                                 .flags      = MEMSPAN_BLOCK_PINNED,
                                 .node       = -1,
                                 .cookie     = own};
    return MEMSPAN_OK;
}

/* ---- dma-buf ---- */

/* The descriptor is of the whole allocation; what starts within it is found by the offset. The
 * driver's own is closed when the memory is given back, and its number may have another owner by
 * then: the caller gets a duplicate. */
memspan_status_t lz_dmabuf_export(void *state, int ordinal, const void *address, size_t size_bytes,
                                  int *fd_p, uint64_t *offset_p)
{
    lz_export_fd_t descriptor        = {.stype = LZ_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD,
                                        .flags = LZ_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF,
                                        .fd    = -1};
    lz_alloc_properties_t properties = {.stype = LZ_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES,
                                        .pNext = &descriptor};
    struct lz_device *device;
    struct gpu_block *own;
    lz_device_h owner = NULL;
    lz_result_t code;
    int fd;
    memspan_status_t status = lz_device_get(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    if (!device->facts.dmabuf) {
        return gpu_refuse(state, MEMSPAN_ERR_UNSUPPORTED, NULL,
                          "%s exports no dma-buf (memoryAllocationExportTypes)",
                          device->gpu.info.name);
    }
    own = gpu_block_find(state, address);
    if ((own == NULL) || !lz_block(own)->exportable) {
        return gpu_refuse(state, MEMSPAN_ERR_UNSUPPORTED, "ask for memory that is to be shared",
                          "memory at %p was not taken to be exported", address);
    }
    if ((size_t)((const char *)address - own->base) + size_bytes > own->size_bytes) {
        return gpu_refuse(state, MEMSPAN_ERR_INVALID, NULL, "%zu bytes at %p run past their block",
                          size_bytes, address);
    }
    code = LZ(device)->zeMemGetAllocProperties(lz_device(own->device)->driver->context, own->base,
                                               &properties, &owner);
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
        return device->gpu.state->services->fail(
            MEMSPAN_ERR_NO_MEMORY, "level_zero", "fcntl", errno, strerror(errno),
            "raise the limit (ulimit -n)", "no file descriptor for a dma-buf");
    }
    *fd_p     = fd;
    *offset_p = (uint64_t)((const char *)address - own->base);
    return MEMSPAN_OK;
}
