/* SPDX-License-Identifier: BSD-3-Clause */
/* share.c: blocks for other processes of this node, and dma-buf descriptors for network cards. A
 * token lists its forms: plain memory has the driver's own handle, mapped memory has others. */

#include "backends/gpu/gpu.h"
#include <stdlib.h>
#include <string.h>

static memspan_status_t export_plain(const struct gpu_device *device, const struct gpu_block *own,
                                     struct gpu_token *token)
{
    const struct gpu_state *state = device->state;
    gpu_result_t answer;

    if (((own->made != GPU_MADE_DEVICE) && (own->made != GPU_MADE_FINE)) || !device->facts.ipc) {
        return gpu_refuse(state, MEMSPAN_ERR_UNSUPPORTED, "share device memory",
                          "%s shares only memory of its own, where its driver can",
                          device->info.name);
    }
    token->forms = GPU_FORM_HANDLE;
    answer       = state->driver->ipc_get(state, own->base, token->handle);
    return (answer.code == GPU_SUCCESS)
               ? MEMSPAN_OK
               : gpu_error(state, answer, "memory of %s cannot be shared", device->info.name);
}

/* Another process or a network card cannot wait for the streams of this one's program. */
static void sync_copies(struct gpu_device *device, const void *address)
{
    if (device->state->driver->sync_copies != NULL) {
        device->state->driver->sync_copies(device, address);
    }
}

memspan_status_t gpu_ipc_export(void *opaque, int ordinal, const memspan_block_t *block,
                                void *bytes, size_t *token_size_p)
{
    const struct gpu_state *state   = opaque;
    const struct gpu_driver *driver = state->driver;
    struct gpu_block *own           = block->cookie;
    struct gpu_token token          = {0};
    struct gpu_visit visit;
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
    status = gpu_enter(opaque, ordinal, GPU_TO_WORK, &visit);
    if (status != MEMSPAN_OK) {
        return status;
    }
    sync_copies(visit.device, own->base);
    memcpy(token.magic, driver->magic, sizeof(token.magic));
    memcpy(token.uid, visit.device->info.uid, sizeof(token.uid));
    token.mapped_bytes = own->size_bytes;
    token.size_bytes   = block->size_bytes;
    token.offset       = (uint64_t)((char *)block->address - own->base);
    status             = ((own->made == GPU_MADE_MAPPED) || (driver->ipc_get == NULL))
                             ? driver->export_mapped(visit.device, own, &token)
                             : export_plain(visit.device, own, &token);
    gpu_leave(&visit);
    if (status == MEMSPAN_OK) {
        memcpy(bytes, &token, sizeof(token));
        *token_size_p = sizeof(token);
    }
    return status;
}

static bool is_uid_of(const struct gpu_device *device, const char *uid)
{
    return strncmp(uid, device->info.uid, sizeof(device->info.uid)) == 0;
}

/* Of a device that is hidden from this process, some drivers decide themselves. */
static bool is_of_another(const struct gpu_device *device, const char *uid)
{
    const struct gpu_state *state = device->state;
    bool seen                     = !state->driver->opens_hidden;
    int i;

    for (i = 0; i < state->device_count; i++) {
        seen = seen || is_uid_of(state->devices[i], uid);
    }
    return seen && !is_uid_of(device, uid);
}

static memspan_status_t check_token(const struct gpu_device *device, const struct gpu_token *token)
{
    const struct gpu_state *state   = device->state;
    const struct gpu_driver *driver = state->driver;

    if ((memcmp(token->magic, driver->magic, sizeof(token->magic)) != 0) ||
        (token->offset > token->mapped_bytes) ||
        (token->size_bytes > token->mapped_bytes - token->offset)) {
        return gpu_refuse(state, MEMSPAN_ERR_INVALID, NULL, "these bytes are no token of %s memory",
                          driver->title);
    }
    if (is_of_another(device, token->uid)) {
        return gpu_refuse(state, MEMSPAN_ERR_CONFLICT, "open it on the same device",
                          "the memory is of device %.40s, not %.40s", token->uid, device->info.uid);
    }
    if ((token->forms == GPU_FORM_HANDLE)
            ? !device->facts.ipc
            : ((token->forms == 0) || (driver->open_mapped == NULL) ||
               ((token->forms & ~(unsigned)(GPU_FORM_DESCRIPTOR | GPU_FORM_FABRIC)) != 0))) {
        return gpu_refuse(state, MEMSPAN_ERR_UNSUPPORTED, NULL,
                          "%s opens no memory of that form (%u)", device->info.name, token->forms);
    }
    return MEMSPAN_OK;
}

static memspan_status_t open_plain(struct gpu_device *device, const struct gpu_token *token,
                                   struct gpu_block *own)
{
    const struct gpu_state *state = device->state;
    void *base                    = NULL;
    gpu_result_t answer           = state->driver->ipc_open(state, token->handle, &base);

    own->made       = GPU_MADE_OPENED;
    own->base       = base;
    own->size_bytes = token->mapped_bytes;
    return (answer.code == GPU_SUCCESS)
               ? MEMSPAN_OK
               : gpu_error(state, answer,
                           "memory of another process cannot be opened on %s (nor can a process's "
                           "own)",
                           device->info.name);
}

memspan_status_t gpu_ipc_import(void *opaque, int ordinal, const void *bytes, size_t token_size,
                                memspan_block_t *block_p)
{
    struct gpu_state *state = opaque;
    struct gpu_block *own;
    struct gpu_token token;
    struct gpu_visit visit;
    memspan_status_t status;

    if ((bytes == NULL) || (token_size != sizeof(token))) {
        return gpu_refuse(state, MEMSPAN_ERR_INVALID, NULL,
                          "a token of %s memory has %zu bytes, not %zu", state->driver->title,
                          sizeof(token), token_size);
    }
    memcpy(&token, bytes, sizeof(token));
    own = calloc(1, state->driver->block_size);
    if (own == NULL) {
        return gpu_refuse(state, MEMSPAN_ERR_NO_MEMORY, NULL, "no host memory for a block");
    }
    own->fd = -1;
    status  = gpu_enter(state, ordinal, GPU_TO_ALLOCATE, &visit);
    if (status == MEMSPAN_OK) {
        status = check_token(visit.device, &token);
        if (status == MEMSPAN_OK) {
            status = (token.forms == GPU_FORM_HANDLE)
                         ? open_plain(visit.device, &token, own)
                         : state->driver->open_mapped(visit.device, &token, own);
        }
        if (status == MEMSPAN_OK) {
            sync_copies(visit.device, own->base);
        }
        own->device = visit.device;
        own->epoch  = atomic_load(&visit.device->epoch);
        gpu_leave(&visit);
    }
    if (status != MEMSPAN_OK) {
        free(own);
        return status;
    }
    gpu_block_insert(state, own);
    *block_p = (memspan_block_t){.address    = own->base + token.offset,
                                 .size_bytes = token.size_bytes,
                                 .flags      = MEMSPAN_BLOCK_PINNED,
                                 .node       = -1,
                                 .cookie     = own};
    return MEMSPAN_OK;
}

memspan_status_t gpu_ipc_close(void *state, int ordinal, const memspan_block_t *block)
{
    return gpu_free(state, ordinal, block);
}

memspan_status_t gpu_dmabuf_export(void *opaque, int ordinal, const void *address,
                                   size_t size_bytes, int *fd_p, uint64_t *offset_p)
{
    const struct gpu_state *state = opaque;
    struct gpu_device *device;
    struct gpu_visit visit;
    memspan_status_t status = gpu_device_get(opaque, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    if (!device->facts.dmabuf) {
        return gpu_refuse(state, MEMSPAN_ERR_UNSUPPORTED, state->driver->names[GPU_NAME_NO_DMABUF],
                          "%s exports no dma-buf", device->info.name);
    }
    status = gpu_enter(opaque, ordinal, GPU_TO_WORK, &visit);
    if (status != MEMSPAN_OK) {
        return status;
    }
    sync_copies(device, address);
    status = state->driver->dmabuf(device, address, size_bytes, fd_p, offset_p);
    gpu_leave(&visit);
    return status;
}
