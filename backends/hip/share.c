/* SPDX-License-Identifier: BSD-3-Clause */
/* share.c: blocks for other processes of this node, and dma-buf descriptors for network cards. */

#include "backends/hip/hip.h"
#include "core/base/platform.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct token {
    char magic[8];
    uint64_t mapped_bytes;
    uint64_t offset; /* of the block in what is shared */
    uint64_t size_bytes;
    char uid[72]; /* the device's */
    struct hip_ipc_handle handle;
};

static const char magic[8] = "msp-hip";

static memspan_status_t check_block(const struct hip_device *device, const struct hip_block *own)
{
    if ((own->made != HIP_MADE_DEVICE) && (own->made != HIP_MADE_FINE)) {
        return hip_refuse(device->state, MEMSPAN_ERR_UNSUPPORTED, "share device memory",
                          "%s shares only memory of its own", device->info.name);
    }
    if ((device->info.capabilities & MEMSPAN_CAN_IPC) == 0) {
        return hip_refuse(device->state, MEMSPAN_ERR_UNSUPPORTED, NULL,
                          "%s shares no memory: the driver has no hipIpcGetMemHandle",
                          device->info.name);
    }
    return MEMSPAN_OK;
}

memspan_status_t hip_ipc_export(void *state, int ordinal, const memspan_block_t *block, void *bytes,
                                size_t *token_size_p)
{
    const struct hip_block *own = block->cookie;
    struct hip_device *device;
    struct token token;
    hip_result_t code;
    int before;
    memspan_status_t status = hip_device_get(state, ordinal, &device);

    if ((status != MEMSPAN_OK) || (bytes == NULL)) {
        *token_size_p = sizeof(token);
        return status;
    }
    if (*token_size_p < sizeof(token)) {
        return hip_refuse(state, MEMSPAN_ERR_INVALID, NULL,
                          "%zu bytes are not enough for a token: %zu", *token_size_p,
                          sizeof(token));
    }
    status = check_block(device, own);
    if (status == MEMSPAN_OK) {
        status = hip_enter(state, ordinal, &device, &before);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    memset(&token, 0, sizeof(token));
    memcpy(token.magic, magic, sizeof(token.magic));
    memcpy(token.uid, device->info.uid, sizeof(token.uid));
    token.mapped_bytes = own->size_bytes;
    token.size_bytes   = block->size_bytes;
    token.offset       = (uint64_t)((char *)block->address - own->base);
    code               = device->state->hip.hipIpcGetMemHandle(&token.handle, own->base);
    if (code != HIP_SUCCESS) {
        status = hip_error(state, "hipIpcGetMemHandle", code, "memory of %s cannot be shared",
                           device->info.name);
    }
    hip_leave(device, before);
    if (status == MEMSPAN_OK) {
        memcpy(bytes, &token, sizeof(token));
        *token_size_p = sizeof(token);
    }
    return status;
}

static memspan_status_t check_token(const struct hip_device *device, const struct token *token)
{
    if ((memcmp(token->magic, magic, sizeof(magic)) != 0) ||
        (token->offset > token->mapped_bytes) ||
        (token->size_bytes > token->mapped_bytes - token->offset)) {
        return hip_refuse(device->state, MEMSPAN_ERR_INVALID, NULL,
                          "these bytes are no token of HIP memory");
    }
    if (strncmp(token->uid, device->info.uid, sizeof(token->uid)) != 0) {
        return hip_refuse(device->state, MEMSPAN_ERR_CONFLICT, "open it on the same device",
                          "the memory is of device %.40s, not %.40s", token->uid, device->info.uid);
    }
    if ((device->info.capabilities & MEMSPAN_CAN_IPC) == 0) {
        return hip_refuse(device->state, MEMSPAN_ERR_UNSUPPORTED, NULL,
                          "%s opens no memory: the driver has no hipIpcOpenMemHandle",
                          device->info.name);
    }
    return MEMSPAN_OK;
}

static memspan_status_t open_block(struct hip_device *device, const struct token *token,
                                   struct hip_block *own)
{
    const struct hip_state *state = device->state;
    unsigned flags    = (state->version >= HIP_VERSION_6) ? HIP_IPC_LAZY_6 : HIP_IPC_LAZY_5;
    void *base        = NULL;
    hip_result_t code = state->hip.hipIpcOpenMemHandle(&base, token->handle, flags);

    own->made       = HIP_MADE_OPENED;
    own->base       = base;
    own->size_bytes = token->mapped_bytes;
    return (code == HIP_SUCCESS)
               ? MEMSPAN_OK
               : hip_error(state, "hipIpcOpenMemHandle", code,
                           "memory of another process cannot be opened on %s (nor can a process's "
                           "own)",
                           device->info.name);
}

memspan_status_t hip_ipc_import(void *state, int ordinal, const void *bytes, size_t token_size,
                                memspan_block_t *block_p)
{
    struct hip_device *device;
    struct hip_block *own;
    struct token token;
    memspan_status_t status;
    int before;
    int mode;

    if ((bytes == NULL) || (token_size != sizeof(token))) {
        return hip_refuse(state, MEMSPAN_ERR_INVALID, NULL,
                          "a token of HIP memory has %zu bytes, not %zu", sizeof(token),
                          token_size);
    }
    memcpy(&token, bytes, sizeof(token));
    own = calloc(1, sizeof(*own));
    if (own == NULL) {
        return hip_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for a block");
    }
    status = hip_enter(state, ordinal, &device, &before);
    if (status == MEMSPAN_OK) {
        status = check_token(device, &token);
        mode   = hip_relax(state);
        status = (status == MEMSPAN_OK) ? open_block(device, &token, own) : status;
        hip_restore(state, mode);
        hip_leave(device, before);
    }
    if (status != MEMSPAN_OK) {
        free(own);
        return status;
    }
    hip_block_insert(state, own);
    *block_p = (memspan_block_t){.address    = own->base + token.offset,
                                 .size_bytes = token.size_bytes,
                                 .flags      = MEMSPAN_BLOCK_PINNED,
                                 .node       = -1,
                                 .cookie     = own};
    return MEMSPAN_OK;
}

memspan_status_t hip_ipc_close(void *state, int ordinal, const memspan_block_t *block)
{
    return hip_free(state, ordinal, block);
}

/* ---- dma-buf ---- */

/* HIP's own call: whole host pages. It has no word for where in the buffer they start, and drivers
 * export the whole allocation: from its first byte on the two are the same. */
static memspan_status_t export_by_hip(struct hip_device *device, const void *address,
                                      size_t size_bytes, int *fd_p, uint64_t *offset_p)
{
    uintptr_t page    = msp_page_size();
    uintptr_t base    = (uintptr_t)hip_block_base(device->state, address);
    uintptr_t start   = ((base != 0) ? base : (uintptr_t)address) & ~(page - 1);
    size_t whole      = msp_round_up((uintptr_t)address - start + size_bytes, page);
    int fd            = -1;
    hip_result_t code = device->state->hip.hipMemGetHandleForAddressRange(
        &fd, (void *)start, whole, HIP_RANGE_HANDLE_DMA_BUF_FD, 0);

    if (code != HIP_SUCCESS) {
        return hip_error(device->state, "hipMemGetHandleForAddressRange", code,
                         "no dma-buf for %zu bytes at %p", size_bytes, address);
    }
    *fd_p     = fd;
    *offset_p = (uintptr_t)address - start;
    return MEMSPAN_OK;
}

static memspan_status_t export_by_hsa(const struct hip_device *device, const void *address,
                                      size_t size_bytes, int *fd_p, uint64_t *offset_p)
{
    const struct hip_state *state = device->state;
    const char *words             = NULL;
    uint64_t offset               = 0;
    int fd                        = -1;
    hip_result_t code =
        state->hsa.hsa_amd_portable_export_dmabuf(address, size_bytes, &fd, &offset);

    if (code != HIP_SUCCESS) {
        (void)state->hsa.hsa_status_string(code, &words);
        return state->services->fail(MEMSPAN_ERR_DRIVER, HIP_NAME, "hsa_amd_portable_export_dmabuf",
                                     code, (words == NULL) ? "unknown answer" : words, NULL,
                                     "no dma-buf for %zu bytes at %p", size_bytes, address);
    }
    *fd_p     = fd;
    *offset_p = offset;
    return MEMSPAN_OK;
}

memspan_status_t hip_dmabuf_export(void *state, int ordinal, const void *address, size_t size_bytes,
                                   int *fd_p, uint64_t *offset_p)
{
    struct hip_device *device;
    int before;
    memspan_status_t status = hip_device_get(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    if (!device->state->has_dmabuf) {
        return hip_refuse(state, MEMSPAN_ERR_UNSUPPORTED,
                          "it takes ROCm 5.6 and a kernel with DMABUF_MOVE_NOTIFY and PCI_P2PDMA",
                          "%s exports no dma-buf", device->info.name);
    }
    status = hip_enter(state, ordinal, &device, &before);
    if (status != MEMSPAN_OK) {
        return status;
    }
    /* HSA's says where in the buffer the memory starts. */
    status = (device->state->hsa.hsa_amd_portable_export_dmabuf != NULL)
                 ? export_by_hsa(device, address, size_bytes, fd_p, offset_p)
                 : export_by_hip(device, address, size_bytes, fd_p, offset_p);
    hip_leave(device, before);
    return status;
}
