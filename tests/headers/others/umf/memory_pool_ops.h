/* SPDX-License-Identifier: BSD-3-Clause */
/* As memory_provider_ops.h beside it. */
#ifndef OTHERS_UMF_POOL_H
#define OTHERS_UMF_POOL_H
#include "memory_provider_ops.h"

typedef struct umf_memory_pool_ops_t {
    uint32_t version;
    umf_result_t (*initialize)(umf_memory_provider_handle_t, const void *, void **);
    umf_result_t (*finalize)(void *);
    void *(*malloc)(void *, size_t);
    void *(*calloc)(void *, size_t, size_t);
    void *(*realloc)(void *, void *, size_t);
    void *(*aligned_malloc)(void *, size_t, size_t);
    umf_result_t (*malloc_usable_size)(void *, const void *, size_t *);
    umf_result_t (*free)(void *, void *);
    umf_result_t (*get_last_allocation_error)(void *);
    umf_result_t (*get_name)(void *, const char **);
} umf_memory_pool_ops_t;

#endif /* OTHERS_UMF_POOL_H */
