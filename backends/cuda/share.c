/* SPDX-License-Identifier: BSD-3-Clause */
/* share.c: blocks for other processes of this node, and dma-buf descriptors for network cards.
 *
 * A token says which forms it has. Plain memory has the driver's own handle. Memory that we mapped
 * has a file descriptor, which stays open here while the block lives and is fetched by the other
 * process (core/base/driver.h says what that needs), a fabric handle, which is mere bytes, or both.
 * The descriptor is tried first: fabric handles open only where IMEX runs. */

#include "backends/cuda/cuda.h"
#include "core/base/driver.h"
#include "core/base/platform.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum token_form { TOKEN_LEGACY = 1, TOKEN_FABRIC = 2, TOKEN_DESCRIPTOR = 4 };

struct token {
    char magic[8];
    uint32_t forms; /* enum token_form; LEGACY is alone */
    int32_t pid;
    int32_t fd;
    uint32_t reserved;
    uint64_t mapped_bytes;
    uint64_t offset; /* of the block in what is shared */
    uint64_t size_bytes;
    char uid[72]; /* the device's */
    cuda_ipc_handle_t handle;
};

static const char magic[8] = "mspcuda";

/* The descriptor of a block, made once whoever asks first. */
static cuda_result_t need_descriptor(struct cuda_state *state, struct cuda_block *own,
                                     int32_t *fd_p)
{
    cuda_result_t code = CUDA_SUCCESS;
    int fd             = -1;

    pthread_mutex_lock(&state->lock);
    if (own->fd < 0) {
        code = state->cu.cuMemExportToShareableHandle(
            &fd, own->handle, CUDA_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
        own->fd = (code == CUDA_SUCCESS) ? fd : -1;
    }
    *fd_p = own->fd;
    pthread_mutex_unlock(&state->lock);
    return code;
}

/* Each form that the memory was made for. One is enough; the first failure is told if none works.
 */
static memspan_status_t export_mapped(const struct cuda_device *device, struct cuda_block *own,
                                      struct token *token)
{
    const struct cuda_calls *cu = &device->state->cu;
    cuda_result_t first         = CUDA_SUCCESS;
    cuda_result_t code;

    if (own->handle_types == CUDA_MEM_HANDLE_TYPE_NONE) {
        return cuda_refuse(device->state, MEMSPAN_ERR_UNSUPPORTED,
                           "ask for memory that is to be shared",
                           "this memory of %s was not taken to be shared", device->info.name);
    }
    token->pid = (int32_t)getpid();
    token->fd  = -1;
    if ((own->handle_types & CUDA_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != 0) {
        first = need_descriptor(device->state, own, &token->fd);
        if (first == CUDA_SUCCESS) {
            msp_driver_offer_fds();
            token->forms |= TOKEN_DESCRIPTOR;
        }
    }
    if ((own->handle_types & CUDA_MEM_HANDLE_TYPE_FABRIC) != 0) {
        code = cu->cuMemExportToShareableHandle(&token->handle, own->handle,
                                                CUDA_MEM_HANDLE_TYPE_FABRIC, 0);
        if (code == CUDA_SUCCESS) {
            token->forms |= TOKEN_FABRIC;
        } else if (token->forms != 0) {
            cuda_log_failure(device->state, "cuMemExportToShareableHandle", code,
                             "memory is shared without a fabric handle");
        }
        first = (first == CUDA_SUCCESS) ? code : first;
    }
    return (token->forms != 0) ? MEMSPAN_OK
                               : cuda_error(device->state, "cuMemExportToShareableHandle", first,
                                            "memory of %s cannot be shared", device->info.name);
}

static memspan_status_t export_plain(const struct cuda_device *device, const struct cuda_block *own,
                                     struct token *token)
{
    cuda_result_t code;

    if ((own->made != CUDA_MADE_PLAIN) || (device->state->cu.cuIpcGetMemHandle == NULL)) {
        return cuda_refuse(device->state, MEMSPAN_ERR_UNSUPPORTED, "share device memory",
                           "%s shares only memory of its own", device->info.name);
    }
    token->forms = TOKEN_LEGACY;
    code         = device->state->cu.cuIpcGetMemHandle(&token->handle, own->base);
    return (code == CUDA_SUCCESS) ? MEMSPAN_OK
                                  : cuda_error(device->state, "cuIpcGetMemHandle", code,
                                               "memory of %s cannot be shared", device->info.name);
}

memspan_status_t cuda_ipc_export(void *state, int ordinal, const memspan_block_t *block,
                                 void *bytes, size_t *token_size_p)
{
    struct cuda_block *own = block->cookie;
    struct cuda_device *device;
    struct token token;
    memspan_status_t status;
    int before;

    if (bytes == NULL) {
        *token_size_p = sizeof(token);
        return MEMSPAN_OK;
    }
    if (*token_size_p < sizeof(token)) {
        return cuda_refuse(state, MEMSPAN_ERR_INVALID, NULL,
                           "%zu bytes are not enough for a token: %zu", *token_size_p,
                           sizeof(token));
    }
    status = cuda_enter(state, ordinal, &device, &before);
    if (status != MEMSPAN_OK) {
        return status;
    }
    memset(&token, 0, sizeof(token));
    memcpy(token.magic, magic, sizeof(token.magic));
    memcpy(token.uid, device->info.uid, sizeof(token.uid));
    token.mapped_bytes = own->size_bytes;
    token.size_bytes   = block->size_bytes;
    token.offset       = (uint64_t)(uintptr_t)block->address - own->base;
    status             = (own->made == CUDA_MADE_MAPPED) ? export_mapped(device, own, &token)
                                                         : export_plain(device, own, &token);
    cuda_leave(device, before);
    if (status == MEMSPAN_OK) {
        memcpy(bytes, &token, sizeof(token));
        *token_size_p = sizeof(token);
    }
    return status;
}

/* The uid is of another device that this process sees. */
static bool is_another(const struct cuda_device *device, const char *uid)
{
    const struct cuda_state *state = device->state;
    int i;

    for (i = 0; i < state->device_count; i++) {
        const struct cuda_device *d = &state->devices[i];
        if ((d != device) && (strncmp(uid, d->info.uid, sizeof(d->info.uid)) == 0)) {
            return strncmp(uid, device->info.uid, sizeof(device->info.uid)) != 0;
        }
    }
    return false;
}

static memspan_status_t check_token(const struct cuda_device *device, const struct token *token)
{
    if ((memcmp(token->magic, magic, sizeof(magic)) != 0) ||
        (token->offset > token->mapped_bytes) ||
        (token->size_bytes > token->mapped_bytes - token->offset)) {
        return cuda_refuse(device->state, MEMSPAN_ERR_INVALID, NULL,
                           "these bytes are no token of CUDA memory");
    }
    /* Of a device that is hidden from this process, the driver decides. */
    if (is_another(device, token->uid)) {
        return cuda_refuse(device->state, MEMSPAN_ERR_CONFLICT, "open it on the same device",
                           "the memory is of device %.40s, not %.40s", token->uid,
                           device->info.uid);
    }
    if ((token->forms == 0) || (token->forms > (TOKEN_DESCRIPTOR | TOKEN_FABRIC)) ||
        ((token->forms == TOKEN_LEGACY) ? (device->state->cu.cuIpcOpenMemHandle_v2 == NULL)
                                        : !device->facts.vmm)) {
        return cuda_refuse(device->state, MEMSPAN_ERR_UNSUPPORTED, NULL,
                           "%s opens no memory of that form (%u)", device->info.name, token->forms);
    }
    return MEMSPAN_OK;
}

static memspan_status_t import_handle(const struct cuda_device *device, const struct token *token,
                                      void *from, int type, struct cuda_block *own)
{
    cuda_result_t code = device->state->cu.cuMemImportFromShareableHandle(&own->handle, from, type);

    return (code == CUDA_SUCCESS)
               ? MEMSPAN_OK
               : cuda_error(device->state, "cuMemImportFromShareableHandle", code,
                            "memory of process %d cannot be opened", (int)token->pid);
}

static memspan_status_t import_descriptor(const struct cuda_device *device,
                                          const struct token *token, struct cuda_block *own)
{
    int fd = -1;
    memspan_status_t status =
        msp_driver_fetch_fd(device->state->services, CUDA_NAME, token->pid, token->fd, &fd);

    if (status == MEMSPAN_OK) {
        status = import_handle(device, token, (void *)(uintptr_t)fd,
                               CUDA_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, own);
        close(fd); /* the driver keeps one of its own */
    }
    return status;
}

static memspan_status_t open_mapped(struct cuda_device *device, struct token *token,
                                    struct cuda_block *own)
{
    memspan_status_t status = MEMSPAN_ERR_UNSUPPORTED;

    if ((token->forms & TOKEN_DESCRIPTOR) != 0) {
        status = import_descriptor(device, token, own);
    }
    if ((status != MEMSPAN_OK) && ((token->forms & TOKEN_FABRIC) != 0)) {
        status = import_handle(device, token, &token->handle, CUDA_MEM_HANDLE_TYPE_FABRIC, own);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    own->made       = CUDA_MADE_MAPPED;
    own->size_bytes = token->mapped_bytes;
    status          = cuda_mapped_map(device, own, 0);
    if (status != MEMSPAN_OK) {
        (void)device->state->cu.cuMemRelease(own->handle);
    }
    return status;
}

static memspan_status_t open_plain(struct cuda_device *device, const struct token *token,
                                   struct cuda_block *own)
{
    cuda_result_t code = device->state->cu.cuIpcOpenMemHandle_v2(
        &own->base, token->handle, CUDA_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);

    own->made       = CUDA_MADE_OPENED;
    own->size_bytes = token->mapped_bytes;
    return (code == CUDA_SUCCESS)
               ? MEMSPAN_OK
               : cuda_error(device->state, "cuIpcOpenMemHandle", code,
                            "memory of another process cannot be opened on %s (nor can a "
                            "process's own)",
                            device->info.name);
}

memspan_status_t cuda_ipc_import(void *state, int ordinal, const void *bytes, size_t token_size,
                                 memspan_block_t *block_p)
{
    struct cuda_device *device;
    struct cuda_block *own;
    struct token token;
    memspan_status_t status;
    int before;

    if ((bytes == NULL) || (token_size != sizeof(token))) {
        return cuda_refuse(state, MEMSPAN_ERR_INVALID, NULL,
                           "a token of CUDA memory has %zu bytes, not %zu", sizeof(token),
                           token_size);
    }
    memcpy(&token, bytes, sizeof(token));
    own = calloc(1, sizeof(*own));
    if (own == NULL) {
        return cuda_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for a block");
    }
    own->fd = -1;
    status  = cuda_enter(state, ordinal, &device, &before);
    if (status != MEMSPAN_OK) {
        free(own);
        return status;
    }
    status = check_token(device, &token);
    if (status == MEMSPAN_OK) {
        status = (token.forms == TOKEN_LEGACY) ? open_plain(device, &token, own)
                                               : open_mapped(device, &token, own);
    }
    own->epoch = atomic_load(&device->epoch);
    cuda_leave(device, before);
    if (status != MEMSPAN_OK) {
        free(own);
        return status;
    }
    cuda_block_insert(state, own);
    *block_p = (memspan_block_t){.address    = (void *)(uintptr_t)(own->base + token.offset),
                                 .size_bytes = token.size_bytes,
                                 .flags      = MEMSPAN_BLOCK_PINNED,
                                 .node       = -1,
                                 .cookie     = own};
    return MEMSPAN_OK;
}

memspan_status_t cuda_ipc_close(void *state, int ordinal, const memspan_block_t *block)
{
    return cuda_free(state, ordinal, block);
}

/* The range must be whole host pages; what starts within one is found by the offset. */
memspan_status_t cuda_dmabuf_export(void *state, int ordinal, const void *address,
                                    size_t size_bytes, int *fd_p, uint64_t *offset_p)
{
    uintptr_t page  = msp_page_size();
    uintptr_t start = (uintptr_t)address & ~(page - 1);
    size_t whole    = msp_round_up((uintptr_t)address - start + size_bytes, page);
    struct cuda_device *device;
    cuda_result_t code;
    int fd                  = -1;
    int before              = 0;
    memspan_status_t status = cuda_device_get(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    if (!device->facts.dmabuf) {
        return cuda_refuse(state, MEMSPAN_ERR_UNSUPPORTED,
                           "it takes the open kernel modules and a kernel from 5.12 on",
                           "%s exports no dma-buf (DMA_BUF_SUPPORTED 0)", device->info.name);
    }
    status = cuda_enter(state, ordinal, &device, &before);
    if (status != MEMSPAN_OK) {
        return status;
    }
    code = device->state->cu.cuMemGetHandleForAddressRange(
        &fd, start, whole, CUDA_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
    if (code != CUDA_SUCCESS) {
        status = cuda_error(state, "cuMemGetHandleForAddressRange", code,
                            "no dma-buf for %zu bytes at %p", size_bytes, address);
    }
    cuda_leave(device, before);
    if (status == MEMSPAN_OK) {
        *fd_p     = fd;
        *offset_p = (uintptr_t)address - start;
    }
    return status;
}
