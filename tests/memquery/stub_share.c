/* SPDX-License-Identifier: BSD-3-Clause */
/* stub_share.c: memory of the stub's devices, and its import by another process. The memory is
 * one page range that all processes share from the start. MEMQUERY_STUB_SHARE selects a fault:
 * "refuse" (no memory), "export", "import" (a driver's error), "crash", "hang", "exit" (in the
 * other process), "lie" (every call succeeds, nothing is shared). */

#include "stub.h"
#include <memspan/memspan.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BYTES = 65536, TOKEN_BYTES = 24 };

static unsigned char *shared;
static unsigned char elsewhere[BYTES];

static void __attribute__((constructor)) make_memory(void)
{
    shared = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static bool wanted(const char *what)
{
    const char *setting = getenv("MEMQUERY_STUB_SHARE");

    return (setting != NULL) && (strcmp(setting, what) == 0);
}

memspan_status_t memspan_allocator_create(memspan_space_h space, const memspan_trait_t *traits,
                                          size_t count, memspan_allocator_h *allocator_p)
{
    bool shareable = false;

    for (size_t i = 0; i < count; i++) {
        shareable = shareable || ((traits[i].key == MEMSPAN_TRAIT_SHAREABLE) &&
                                  (traits[i].value == MEMSPAN_VALUE_TRUE));
    }
    if (!shareable && (count > 0) && (traits[0].key == MEMSPAN_TRAIT_FALLBACK)) {
        return stub_measure_create(space, traits, count, allocator_p);
    }
    if (!shareable) {
        return stub_fail_native(MEMSPAN_ERR_INVALID, "shareable was not asked for", "", "", 0, "");
    }
    *allocator_p = (memspan_allocator_h)0x100;
    return MEMSPAN_OK;
}

memspan_status_t memspan_allocator_destroy(memspan_allocator_h allocator)
{
    (void)allocator;
    return MEMSPAN_OK;
}

void *memspan_alloc(memspan_allocator_h allocator, size_t size_bytes)
{
    if (stub_measure_is(allocator)) {
        return memspan_aligned_alloc(allocator, 64, size_bytes);
    }
    if (wanted("refuse") || (size_bytes > BYTES)) {
        stub_fail_native(MEMSPAN_ERR_NO_MEMORY, "the device is full", "wait", "cuMemCreate", 2,
                         "CUDA_ERROR_OUT_OF_MEMORY");
        return NULL;
    }
    return shared;
}

memspan_status_t memspan_free(void *pointer)
{
    if (pointer != shared) {
        stub_measure_free(pointer);
    }
    return MEMSPAN_OK;
}

size_t memspan_trim(void)
{
    return 0;
}

memspan_status_t memspan_copy(void *to, const void *from, size_t size_bytes)
{
    memcpy(to, from, size_bytes);
    return MEMSPAN_OK;
}

memspan_status_t memspan_share_export(const void *pointer, void *token, size_t *token_size_p)
{
    (void)pointer;
    if (wanted("export")) {
        return stub_fail_native(MEMSPAN_ERR_DRIVER, "memory cannot be shared", "ask the vendor",
                                "cuMemExportToShareableHandle", 801, "CUDA_ERROR_NOT_SUPPORTED");
    }
    memset(token, 7, TOKEN_BYTES);
    *token_size_p = TOKEN_BYTES;
    return MEMSPAN_OK;
}

memspan_status_t memspan_share_import(const void *token, size_t token_size, int device,
                                      void **address_p, size_t *size_p)
{
    if ((token_size != TOKEN_BYTES) || (((const char *)token)[3] != 7) || (device != 0)) {
        return stub_fail_native(MEMSPAN_ERR_INVALID, "no token", "", "", 0, "");
    }
    if (wanted("import")) {
        return stub_fail_native(MEMSPAN_ERR_PERMISSION, "the memory cannot be fetched",
                                "see kernel.yama.ptrace_scope", "pidfd_getfd", 1,
                                "Operation not permitted");
    }
    if (wanted("crash")) {
        abort();
    }
    if (wanted("exit")) {
        exit(3);
    }
    while (wanted("hang")) {
        pause();
    }
    *address_p = shared;
    if (wanted("lie")) {
        memcpy(elsewhere, shared, BYTES);
        *address_p = elsewhere;
    }
    *size_p = BYTES;
    return MEMSPAN_OK;
}

memspan_status_t memspan_share_close(void *address)
{
    (void)address;
    return MEMSPAN_OK;
}

memspan_status_t memspan_share_dmabuf(const void *pointer, size_t size_bytes, int *fd_p,
                                      uint64_t *offset_p)
{
    FILE *file = tmpfile();

    if (file == NULL) {
        return MEMSPAN_ERR_DRIVER;
    }
    /* Another offset than 0; "lie": other bytes. */
    fseek(file, 4096, SEEK_SET);
    fwrite(wanted("lie") ? elsewhere : pointer, 1, size_bytes, file);
    fflush(file);
    *fd_p     = dup(fileno(file));
    *offset_p = 4096;
    fclose(file);
    return MEMSPAN_OK;
}
