/* SPDX-License-Identifier: BSD-3-Clause */
/* share.c: blocks for other processes of this node.
 *
 * A token names the memory file as the other process can open it, /proc/PID/fd/N, which takes the
 * same user, and the file's identity, so that a number that was used again is found out. In the
 * other process the block has addresses of that process's devices, whose pages are taken from this
 * file. Each process decides by itself which side has managed memory now. */

#include "backends/emu/emu.h"
#include "core/base/platform.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct token {
    char magic[8];
    int32_t process;
    int32_t file;
    uint64_t device; /* of the file's identity */
    uint64_t inode;
    uint64_t offset;
    uint64_t size_bytes;
    uint32_t kind;
    uint32_t reserved;
};

static const char magic[8] = "mspemu1";

memspan_status_t emu_ipc_export(void *state, int ordinal, const memspan_block_t *given, void *bytes,
                                size_t *token_size_p)
{
    struct emu *emu    = state;
    struct token token = {.reserved = 0};
    struct emu_device *device;
    struct emu_block *block;
    struct stat about;
    memspan_status_t status = emu_enter(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    if (bytes == NULL) {
        *token_size_p = sizeof(token);
        return MEMSPAN_OK;
    }
    if (*token_size_p < sizeof(token)) {
        return emu_refuse(emu, MEMSPAN_ERR_INVALID, NULL, "a token takes %zu bytes, not %zu",
                          sizeof(token), *token_size_p);
    }
    pthread_mutex_lock(&emu->lock);
    status = emu_arena_get(emu, given->address, given->size_bytes, &block);
    pthread_mutex_unlock(&emu->lock);
    if (status != MEMSPAN_OK) {
        return status;
    }
    if (block->imported) {
        return emu_refuse(emu, MEMSPAN_ERR_UNSUPPORTED, "ask the process that allocated it",
                          "memory of another process is not passed on");
    }
    if (fstat(emu->file, &about) != 0) {
        return emu_system_error(emu, "fstat", "the memory file has no identity");
    }
    memcpy(token.magic, magic, sizeof(magic));
    token.process    = (int32_t)emu->pid;
    token.file       = emu->file;
    token.device     = about.st_dev;
    token.inode      = about.st_ino;
    token.offset     = (uint64_t)(block->base - emu->arena);
    token.size_bytes = msp_round_up(block->size_bytes, msp_page_size());
    token.kind       = (uint32_t)block->kind;
    memcpy(bytes, &token, sizeof(token));
    *token_size_p = sizeof(token);
    return MEMSPAN_OK;
}

static memspan_status_t open_file(const struct emu *emu, const struct token *token, int *file_p)
{
    struct stat about;
    char path[64];
    int file;

    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)token->process, (int)token->file);
    file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) {
        return emu_system_error(emu, "open", "the memory of process %d cannot be opened (%s)",
                                (int)token->process, path);
    }
    if ((fstat(file, &about) != 0) || (about.st_dev != token->device) ||
        (about.st_ino != token->inode) ||
        ((uint64_t)about.st_size < token->offset + token->size_bytes)) {
        close(file);
        return emu_refuse(emu, MEMSPAN_ERR_NOT_FOUND, NULL,
                          "the memory of process %d that the token names has been freed",
                          (int)token->process);
    }
    *file_p = file;
    return MEMSPAN_OK;
}

/* Both of the program's views of [base, base + size) become pages of @p file, that at the promised
 * address closed. */
static memspan_status_t set_views(const struct emu *emu, char *base, size_t size, int file,
                                  off_t offset)
{
    char *window = emu_arena_window(emu, base);

    if ((mmap(base, size, PROT_NONE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file, offset) ==
         MAP_FAILED) ||
        (mmap(window, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file,
              offset) == MAP_FAILED)) {
        return emu_system_error(emu, "mmap", "%zu bytes of another process cannot be mapped", size);
    }
    madvise(base, size, MADV_DONTFORK);
    madvise(window, size, MADV_DONTFORK);
    return MEMSPAN_OK;
}

static memspan_status_t map_in_devices(struct emu *emu, const struct emu_block *block,
                                       const struct token *token)
{
    memspan_status_t status = MEMSPAN_OK;
    int i;

    pthread_mutex_lock(&emu->import_lock);
    for (i = 0; (i < emu->device_count) && (status == MEMSPAN_OK); i++) {
        struct emu_device *device = &emu->devices[i];

        if (emu_block_is_reached(block, device) && !atomic_load(&device->lost)) {
            status = emu_map_in_device(device, block->base, block->size_bytes, token->process,
                                       token->file, token->offset);
        }
    }
    pthread_mutex_unlock(&emu->import_lock);
    return status;
}

/* The addresses are the memory file's again, closed for all. */
static void undo(struct emu *emu, struct emu_block *block)
{
    const struct token own = {.process    = (int32_t)emu->pid,
                              .file       = emu->file,
                              .offset     = (uint64_t)(block->base - emu->arena),
                              .size_bytes = block->size_bytes};

    (void)map_in_devices(emu, block, &own);
    (void)emu_block_tell(emu, block, EMU_OP_CLOSE, true);
    (void)set_views(emu, block->base, block->size_bytes, emu->file, (off_t)own.offset);
    emu_block_give_back(emu, block);
}

static memspan_status_t check_token(const struct emu *emu, const struct token *token, size_t size)
{
    size_t page = msp_page_size();

    if ((size != sizeof(*token)) || (memcmp(token->magic, magic, sizeof(magic)) != 0) ||
        (token->kind <= MEMSPAN_KIND_HOST) || (token->kind >= MEMSPAN_KIND_COUNT) ||
        (token->size_bytes == 0) || (token->size_bytes % page != 0) ||
        (token->offset % page != 0) || (token->size_bytes > SIZE_MAX / 4) ||
        (token->offset > SIZE_MAX / 4)) {
        return emu_refuse(emu, MEMSPAN_ERR_INVALID, NULL,
                          "these bytes are no token of an emulated device's memory");
    }
    return MEMSPAN_OK;
}

memspan_status_t emu_ipc_import(void *state, int ordinal, const void *bytes, size_t token_size,
                                memspan_block_t *block_p)
{
    struct emu *emu = state;
    struct emu_device *device;
    struct emu_block *block;
    struct token token;
    int file                = -1;
    memspan_status_t status = emu_enter(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    memset(&token, 0, sizeof(token));
    memcpy(&token, bytes, (token_size < sizeof(token)) ? token_size : sizeof(token));
    status = check_token(emu, &token, token_size);
    if (status == MEMSPAN_OK) {
        status = open_file(emu, &token, &file);
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    pthread_mutex_lock(&emu->lock);
    block = emu_block_take(device, (memspan_kind_t)token.kind, token.size_bytes);
    pthread_mutex_unlock(&emu->lock);
    if (block == NULL) {
        close(file);
        return MEMSPAN_ERR_NO_MEMORY;
    }
    status = set_views(emu, block->base, token.size_bytes, file, (off_t)token.offset);
    close(file);
    if (status == MEMSPAN_OK) {
        pthread_mutex_lock(&emu->lock);
        status = emu_view_update(emu, block);
        pthread_mutex_unlock(&emu->lock);
    }
    if (status == MEMSPAN_OK) {
        status = map_in_devices(emu, block, &token);
    }
    if (status != MEMSPAN_OK) {
        undo(emu, block);
        return status;
    }
    *block_p = (memspan_block_t){.address         = block->base,
                                 .size_bytes      = block->size_bytes,
                                 .page_size_bytes = msp_page_size(),
                                 .node            = -1,
                                 .cookie          = block};
    return MEMSPAN_OK;
}

memspan_status_t emu_ipc_close(void *state, int ordinal, const memspan_block_t *given)
{
    struct emu *emu = state;
    struct emu_device *device;
    struct emu_block *block;
    uint32_t live           = EMU_BLOCK_LIVE;
    memspan_status_t status = emu_enter_lost(state, ordinal, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    block = emu_arena_find(emu, given->address);
    if ((block == NULL) || ((void *)block->base != given->address) || !block->imported ||
        !atomic_compare_exchange_strong(&block->state, &live, EMU_BLOCK_LEAVING)) {
        return emu_refuse(emu, MEMSPAN_ERR_INVALID, NULL,
                          "%p is no memory that another process shared", given->address);
    }
    undo(emu, block);
    return MEMSPAN_OK;
}
