/* SPDX-License-Identifier: BSD-3-Clause */
/* Emulated devices: host pages that they import, and blocks for another process. */

#include "emu.h"
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

/* ---- host pages ---- */

Test(emu_share, imported_pages_are_the_same_for_all)
{
    void *state     = open_two();
    size_t size     = 3 * 65536;
    double *pages   = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *seen      = NULL;
    void *cookie[2] = {NULL, NULL};
    int files       = count_entries("/proc/self/fd");

    cr_assert_neq((void *)pages, MAP_FAILED);
    pages[100] = 5.0;
    for (int d = 0; d < 2; d++) {
        cr_assert_eq(emu->import(state, d, pages, size, &seen, &cookie[d]), MEMSPAN_OK, "%s",
                     memspan_error_text());
        cr_assert_eq(seen, (void *)pages);
        cr_assert_eq(pages[100], 5.0 + d, "contents stay");
        cr_assert_eq(launch(state, d, NULL, MEMSPAN_KERNEL_FILL, 1, 6.0 + d, NULL, pages + 100),
                     MEMSPAN_OK);
        cr_assert_eq(emu->synchronize(state, d, NULL), MEMSPAN_OK);
        cr_assert_eq(pages[100], 6.0 + d, "the device's store is here");
    }
    cr_assert_eq(emu->import(state, 0, (char *)pages + 4096, 4096, &seen, &cookie[0]),
                 MEMSPAN_ERR_INVALID, "half of them");
    cr_assert_eq(emu->import(state, 0, (char *)pages + 1, 4096, &seen, &cookie[0]),
                 MEMSPAN_ERR_INVALID);
    for (int d = 0; d < 2; d++) {
        cr_assert_eq(emu->release(state, d, pages, size, cookie[d]), MEMSPAN_OK);
    }
    cr_assert_eq(pages[100], 7.0, "they stay the host's");
    cr_assert_eq(count_entries("/proc/self/fd"), files);
    cr_assert_eq(launch(state, 0, NULL, MEMSPAN_KERNEL_FILL, 1, 1.0, NULL, pages), MEMSPAN_OK);
    cr_assert_eq(emu->synchronize(state, 0, NULL), MEMSPAN_ERR_DRIVER, "released is released");
    munmap(pages, size);
    emu->close(state);
}

/* ---- another process ---- */

struct shared {
    unsigned char tokens[2][128];
    size_t sizes[2];
};

/* In a child, with devices of its own: one block is open for the host, one for kernels alone. */
static int use_shared(const struct shared *shared)
{
    void *state                = open_emu("emu:2", "64m", "all");
    memspan_device_info_t info = {.struct_size = sizeof(info)};
    memspan_block_t blocks[2];
    double value = 0;

    if (state == NULL) {
        return 1;
    }
    for (int i = 0; i < 2; i++) {
        if (emu->ipc_import(state, i, shared->tokens[i], shared->sizes[i], &blocks[i]) !=
            MEMSPAN_OK) {
            return 2;
        }
    }
    emu->device_describe(state, 0, &info);
    if (!is_open(blocks[0].address) || is_open(blocks[1].address) ||
        (info.free_bytes != info.capacity_bytes)) {
        return 3;
    }
    ((double *)blocks[0].address)[1] = 11.0;
    if ((launch(state, 0, NULL, MEMSPAN_KERNEL_SUM, 2, 0, blocks[0].address,
                (double *)blocks[0].address + 2) != MEMSPAN_OK) ||
        (launch(state, 1, NULL, MEMSPAN_KERNEL_FILL, 1, 12.0, NULL, blocks[1].address) !=
         MEMSPAN_OK) ||
        (emu->synchronize(state, 0, NULL) != MEMSPAN_OK) ||
        (emu->copy(state, 1, NULL, &value, blocks[1].address, 8) != MEMSPAN_OK) ||
        (value != 12.0)) {
        return 4;
    }
    if (emu->free(state, 0, &blocks[0]) != MEMSPAN_ERR_INVALID) {
        return 5;
    }
    for (int i = 0; i < 2; i++) {
        if ((emu->ipc_close(state, i, &blocks[i]) != MEMSPAN_OK) || is_open(blocks[i].address)) {
            return 6;
        }
    }
    if ((launch(state, 1, NULL, MEMSPAN_KERNEL_FILL, 1, 12.0, NULL, blocks[1].address) !=
         MEMSPAN_OK) ||
        (emu->synchronize(state, 1, NULL) != MEMSPAN_ERR_DRIVER)) {
        return 8;
    }
    for (int i = 0; i < 100; i++) { /* the same addresses serve again */
        memspan_block_t block = take(state, 0, MEMSPAN_KIND_MANAGED, 8 * MIB);
        if (((double *)block.address)[1] != 0) {
            return 7;
        }
        emu->free(state, 0, &block);
    }
    emu->close(state);
    return 0;
}

/* A child that waits for tokens: made while there is one thread, and no device. */
static pid_t make_user(int *tokens_p)
{
    struct shared shared;
    int ends[2];
    pid_t child;

    cr_assert_eq(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        close(ends[1]);
        _exit((read(ends[0], &shared, sizeof(shared)) == (ssize_t)sizeof(shared))
                  ? use_shared(&shared)
                  : 10);
    }
    close(ends[0]);
    *tokens_p = ends[1];
    return child;
}

Test(emu_share, blocks_are_shared_with_another_process)
{
    int tokens                = -1;
    pid_t child               = make_user(&tokens);
    void *state               = open_two();
    memspan_block_t blocks[2] = {take(state, 0, MEMSPAN_KIND_COHERENT, MIB),
                                 take(state, 1, MEMSPAN_KIND_DEVICE, MIB)};
    double *numbers           = blocks[0].address;
    struct shared shared      = {.sizes = {0, 0}};
    double value              = 0;
    int status;

    for (int i = 0; i < 2; i++) {
        cr_assert_eq(emu->ipc_export(state, i, &blocks[i], NULL, &shared.sizes[i]), MEMSPAN_OK);
        cr_assert_leq(shared.sizes[i], sizeof(shared.tokens[i]));
        cr_assert_eq(emu->ipc_export(state, i, &blocks[i], shared.tokens[i], &shared.sizes[i]),
                     MEMSPAN_OK);
    }
    numbers[0] = 5.0;
    cr_assert_eq(write(tokens, &shared, sizeof(shared)), (ssize_t)sizeof(shared));
    close(tokens);
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status) && (WEXITSTATUS(status) == 0), "status %x", (unsigned)status);
    cr_assert((numbers[1] == 11.0) && (numbers[2] == 16.0), "%g %g", numbers[1], numbers[2]);
    cr_assert_eq(emu->copy(state, 1, NULL, &value, blocks[1].address, 8), MEMSPAN_OK);
    cr_assert_eq(value, 12.0);
    emu->free(state, 0, &blocks[0]);
    emu->free(state, 1, &blocks[1]);
    emu->close(state);
}

Test(emu_share, tokens_that_are_none)
{
    void *state              = open_two();
    memspan_block_t block    = take(state, 0, MEMSPAN_KIND_COHERENT, MIB);
    unsigned char token[128] = {0};
    size_t size              = sizeof(token);
    memspan_block_t other    = {0};
    unsigned char changed[128];

    cr_assert_eq(emu->ipc_export(state, 0, &block, token, &size), MEMSPAN_OK);
    for (size_t i = 0; i < size; i++) {
        memspan_status_t result;

        memcpy(changed, token, size);
        changed[i] ^= 0x41;
        result = emu->ipc_import(state, 1, changed, size, &other);
        if (result == MEMSPAN_OK) { /* another place of the same file, or another kind */
            cr_assert_eq(emu->ipc_close(state, 1, &other), MEMSPAN_OK);
        }
    }
    cr_assert_eq(emu->ipc_import(state, 1, token, size - 1, &other), MEMSPAN_ERR_INVALID);
    size = 3;
    cr_assert_eq(emu->ipc_export(state, 0, &block, changed, &size), MEMSPAN_ERR_INVALID);
    cr_assert_eq(emu->ipc_close(state, 0, &block), MEMSPAN_ERR_INVALID, "it is our own");
    emu->free(state, 0, &block);
    emu->close(state);
}
