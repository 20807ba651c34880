/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_UMF_H
#define MEMSPAN_UMF_H

#include <memspan/allocator.h>
#include <memspan/share.h>
#include <string.h>
#include <umf/memory_pool_ops.h>
#include <umf/memory_provider_ops.h>

/** @file umf.h
 * Memspan's allocators in the Unified Memory Framework (UMF), as a memory provider and as a pool.
 * Header only; it needs UMF's headers, 1.0 or newer. memspan-beside(7) has an example.
 *
 * Parameter of umfMemoryProviderCreate() and umfPoolCreate(): the allocator's handle itself (a
 * memspan_allocator_h, not its address); NULL is the default allocator. The handle stays the
 * caller's, who destroys it after the provider or the pool.
 *
 * The provider serves UMF's own pools, which know each allocation by its address: umfPoolByPtr(),
 * umfFree(). The pool calls Memspan for each block and takes nothing from the provider that
 * umfPoolCreate() requires; UMF does not find its blocks by address.
 *
 * Invariant: there is no state but the handle. The error is the thread's record of Memspan. The
 * tables have version 1.0 of UMF's contract, which has every operation that Memspan serves; later
 * versions of UMF take it. Purge, split and merge are not served.
 *
 * Threads: as memspan_alloc(). */

#if UMF_PROVIDER_OPS_VERSION_CURRENT < UMF_MAKE_VERSION(1, 0)
#error "memspan/umf.h needs UMF 1.0 or newer"
#endif

MEMSPAN_BEGIN_DECLS

/** UMF's code for a status. */
static inline umf_result_t memspan_umf_result(memspan_status_t status)
{
    switch (status) {
    case MEMSPAN_OK:
        return UMF_RESULT_SUCCESS;
    case MEMSPAN_ERR_NO_MEMORY:
    case MEMSPAN_ERR_LIMIT:
        return UMF_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    case MEMSPAN_ERR_INVALID:
    case MEMSPAN_ERR_NOT_FOUND:
        return UMF_RESULT_ERROR_INVALID_ARGUMENT;
    case MEMSPAN_ERR_UNSUPPORTED:
        return UMF_RESULT_ERROR_NOT_SUPPORTED;
    default:
        return UMF_RESULT_ERROR_MEMORY_PROVIDER_SPECIFIC;
    }
}

/* Members of the tables. */

/* params is the handle; the copy is a cast in C and in C++. */
static inline umf_result_t memspan_umf_open(const void *params, void **object_p)
{
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_DEFAULT;
    memspan_allocator_info_t info;
    memspan_status_t status;

    if (params != NULL) {
        memcpy(&allocator, &params, sizeof(allocator));
    }
    info.struct_size = sizeof(info);
    status           = memspan_allocator_describe(allocator, &info);
    if (status == MEMSPAN_OK) {
        *object_p = allocator;
    }
    return memspan_umf_result(status);
}

static inline umf_result_t memspan_umf_provider_initialize(const void *params, void **provider_p)
{
    return memspan_umf_open(params, provider_p);
}

static inline umf_result_t memspan_umf_finalize(void *object)
{
    (void)object;
    return UMF_RESULT_SUCCESS;
}

static inline umf_result_t memspan_umf_get_name(void *object, const char **name_p)
{
    (void)object;
    *name_p = "memspan";
    return UMF_RESULT_SUCCESS;
}

static inline void *memspan_umf_aligned_malloc(void *pool, size_t size_bytes, size_t align_bytes)
{
    memspan_allocator_h allocator = MEMSPAN_CAST(memspan_allocator_h, pool);

    return (align_bytes == 0) ? memspan_alloc(allocator, size_bytes)
                              : memspan_aligned_alloc(allocator, align_bytes, size_bytes);
}

static inline umf_result_t memspan_umf_last_error(void *pool)
{
    (void)pool;
    return memspan_umf_result(memspan_error_last()->status);
}

static inline umf_result_t memspan_umf_alloc(void *provider, size_t size_bytes, size_t align_bytes,
                                             void **pointer_p)
{
    if ((align_bytes & (align_bytes - 1)) != 0) {
        return UMF_RESULT_ERROR_INVALID_ALIGNMENT;
    }
    *pointer_p = memspan_umf_aligned_malloc(provider, size_bytes, align_bytes);
    return (*pointer_p != NULL) ? UMF_RESULT_SUCCESS
           : (size_bytes == 0)  ? UMF_RESULT_ERROR_INVALID_ARGUMENT
                                : memspan_umf_last_error(provider);
}

static inline umf_result_t memspan_umf_pool_free(void *pool, void *pointer)
{
    (void)pool;
    return memspan_umf_result(memspan_free(pointer));
}

static inline umf_result_t memspan_umf_free(void *provider, void *pointer, size_t size_bytes)
{
    (void)size_bytes;
    return memspan_umf_pool_free(provider, pointer);
}

static inline umf_result_t memspan_umf_native_error(void *provider, const char **text_p,
                                                    int32_t *code_p)
{
    (void)provider;
    *text_p = memspan_error_text();
    *code_p = MEMSPAN_CONSTANT(int32_t, memspan_error_last()->status);
    return UMF_RESULT_SUCCESS;
}

static inline umf_result_t memspan_umf_page_size(void *provider, size_t size_bytes, size_t *page_p)
{
    memspan_allocator_info_t info;
    memspan_status_t status;

    (void)size_bytes;
    info.struct_size = sizeof(info);
    status = memspan_allocator_describe(MEMSPAN_CAST(memspan_allocator_h, provider), &info);
    if (status == MEMSPAN_OK) {
        *page_p = (info.page_size_bytes != 0) ? info.page_size_bytes
                                              : memspan_space_page_size(info.space);
    }
    return memspan_umf_result(status);
}

static inline umf_result_t memspan_umf_min_page_size(void *provider, const void *pointer,
                                                     size_t *page_p)
{
    memspan_pointer_info_t info;
    memspan_status_t status;

    if (pointer == NULL) {
        return memspan_umf_page_size(provider, 0, page_p);
    }
    info.struct_size = sizeof(info);
    status           = memspan_pointer_describe(pointer, &info);
    if (status != MEMSPAN_OK) {
        return memspan_umf_result(status);
    }
    if (info.page_size_bytes == 0) {
        return memspan_umf_page_size(provider, 0, page_p);
    }
    *page_p = info.page_size_bytes;
    return UMF_RESULT_SUCCESS;
}

/* A handle of UMF's IPC: a token of memspan_share_export(), with its size before it. */
typedef struct memspan_umf_ipc {
    size_t size_bytes;
    unsigned char token[MEMSPAN_SHARE_TOKEN_MAX_BYTES];
} memspan_umf_ipc_t;

static inline umf_result_t memspan_umf_ipc_size(void *provider, size_t *size_p)
{
    memspan_allocator_info_t info;
    memspan_status_t status;

    info.struct_size = sizeof(info);
    status = memspan_allocator_describe(MEMSPAN_CAST(memspan_allocator_h, provider), &info);
    if ((status == MEMSPAN_OK) && !info.shareable) {
        return UMF_RESULT_ERROR_NOT_SUPPORTED;
    }
    *size_p = sizeof(memspan_umf_ipc_t);
    return memspan_umf_result(status);
}

static inline umf_result_t memspan_umf_ipc_get(void *provider, const void *pointer,
                                               size_t size_bytes, void *data)
{
    memspan_umf_ipc_t ipc;
    memspan_status_t status;

    (void)provider;
    (void)size_bytes;
    memset(&ipc, 0, sizeof(ipc));
    ipc.size_bytes = sizeof(ipc.token);
    status         = memspan_share_export(pointer, ipc.token, &ipc.size_bytes);
    if (status == MEMSPAN_OK) {
        memcpy(data, &ipc, sizeof(ipc));
    }
    return memspan_umf_result(status);
}

static inline umf_result_t memspan_umf_ipc_put(void *provider, void *data)
{
    (void)provider;
    (void)data; /* a token holds no resource */
    return UMF_RESULT_SUCCESS;
}

static inline umf_result_t memspan_umf_ipc_open(void *provider, void *data, void **pointer_p)
{
    memspan_umf_ipc_t *ipc = MEMSPAN_CAST(memspan_umf_ipc_t *, data);

    (void)provider;
    if (ipc->size_bytes > sizeof(ipc->token)) {
        return UMF_RESULT_ERROR_INVALID_ARGUMENT;
    }
    return memspan_umf_result(memspan_share_import(ipc->token, ipc->size_bytes,
                                                   MEMSPAN_SHARE_ITS_DEVICE, pointer_p, NULL));
}

static inline umf_result_t memspan_umf_ipc_close(void *provider, void *pointer, size_t size_bytes)
{
    (void)provider;
    (void)size_bytes;
    return memspan_umf_result(memspan_share_close(pointer));
}

static inline umf_result_t memspan_umf_pool_initialize(umf_memory_provider_handle_t provider,
                                                       const void *params, void **pool_p)
{
    (void)provider;
    return memspan_umf_open(params, pool_p);
}

static inline void *memspan_umf_malloc(void *pool, size_t size_bytes)
{
    return memspan_alloc(MEMSPAN_CAST(memspan_allocator_h, pool), size_bytes);
}

static inline void *memspan_umf_calloc(void *pool, size_t count, size_t size_bytes)
{
    return memspan_calloc(MEMSPAN_CAST(memspan_allocator_h, pool), count, size_bytes);
}

static inline void *memspan_umf_realloc(void *pool, void *pointer, size_t size_bytes)
{
    return memspan_realloc(MEMSPAN_CAST(memspan_allocator_h, pool), pointer, size_bytes);
}

/* UMF lets callers use all of it, so it is what was requested: the guard checks that. */
static inline umf_result_t memspan_umf_usable_size(void *pool, const void *pointer, size_t *size_p)
{
    memspan_pointer_info_t info;
    memspan_status_t status;

    (void)pool;
    *size_p = 0;
    if (pointer == NULL) {
        return UMF_RESULT_SUCCESS;
    }
    info.struct_size = sizeof(info);
    status           = memspan_pointer_describe(pointer, &info);
    if (status == MEMSPAN_OK) {
        *size_p = info.size_bytes;
    }
    return memspan_umf_result(status);
}

/** The operations of umfMemoryProviderCreate(), which copies them. Never fails. */
static inline umf_memory_provider_ops_t memspan_umf_provider_ops(void)
{
    umf_memory_provider_ops_t ops;

    memset(&ops, 0, sizeof(ops));
    ops.version                   = UMF_MAKE_VERSION(1, 0);
    ops.initialize                = memspan_umf_provider_initialize;
    ops.finalize                  = memspan_umf_finalize;
    ops.alloc                     = memspan_umf_alloc;
    ops.free                      = memspan_umf_free;
    ops.get_last_native_error     = memspan_umf_native_error;
    ops.get_recommended_page_size = memspan_umf_page_size;
    ops.get_min_page_size         = memspan_umf_min_page_size;
    ops.get_name                  = memspan_umf_get_name;
    ops.ext_get_ipc_handle_size   = memspan_umf_ipc_size;
    ops.ext_get_ipc_handle        = memspan_umf_ipc_get;
    ops.ext_put_ipc_handle        = memspan_umf_ipc_put;
    ops.ext_open_ipc_handle       = memspan_umf_ipc_open;
    ops.ext_close_ipc_handle      = memspan_umf_ipc_close;
    return ops;
}

/** The operations of umfPoolCreate(), which copies them. Never fails. */
static inline umf_memory_pool_ops_t memspan_umf_pool_ops(void)
{
    umf_memory_pool_ops_t ops;

    memset(&ops, 0, sizeof(ops));
    ops.version                   = UMF_MAKE_VERSION(1, 0);
    ops.initialize                = memspan_umf_pool_initialize;
    ops.finalize                  = memspan_umf_finalize;
    ops.malloc                    = memspan_umf_malloc;
    ops.calloc                    = memspan_umf_calloc;
    ops.realloc                   = memspan_umf_realloc;
    ops.aligned_malloc            = memspan_umf_aligned_malloc;
    ops.malloc_usable_size        = memspan_umf_usable_size;
    ops.free                      = memspan_umf_pool_free;
    ops.get_last_allocation_error = memspan_umf_last_error;
    ops.get_name                  = memspan_umf_get_name;
    return ops;
}

MEMSPAN_END_DECLS
#endif /* MEMSPAN_UMF_H */
