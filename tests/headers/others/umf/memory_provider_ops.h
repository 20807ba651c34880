/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of UMF 1.0 that <memspan/umf.h> uses, to compile it where UMF is not. Whether it fits
 * UMF, ./cmake/bootstrap beside tests. */
#ifndef OTHERS_UMF_PROVIDER_H
#define OTHERS_UMF_PROVIDER_H
#include <stddef.h>
#include <stdint.h>

#define UMF_MAKE_VERSION(major, minor)   ((major << 16) | (minor))
#define UMF_PROVIDER_OPS_VERSION_CURRENT UMF_MAKE_VERSION(1, 0)

typedef enum umf_result_t {
    UMF_RESULT_SUCCESS,
    UMF_RESULT_ERROR_OUT_OF_HOST_MEMORY,
    UMF_RESULT_ERROR_MEMORY_PROVIDER_SPECIFIC,
    UMF_RESULT_ERROR_INVALID_ARGUMENT,
    UMF_RESULT_ERROR_INVALID_ALIGNMENT,
    UMF_RESULT_ERROR_NOT_SUPPORTED
} umf_result_t;
typedef struct umf_memory_provider_t *umf_memory_provider_handle_t;

typedef struct umf_memory_provider_ops_t {
    uint32_t version;
    umf_result_t (*initialize)(const void *, void **);
    umf_result_t (*finalize)(void *);
    umf_result_t (*alloc)(void *, size_t, size_t, void **);
    umf_result_t (*free)(void *, void *, size_t);
    umf_result_t (*get_last_native_error)(void *, const char **, int32_t *);
    umf_result_t (*get_recommended_page_size)(void *, size_t, size_t *);
    umf_result_t (*get_min_page_size)(void *, const void *, size_t *);
    umf_result_t (*get_name)(void *, const char **);
    umf_result_t (*ext_get_ipc_handle_size)(void *, size_t *);
    umf_result_t (*ext_get_ipc_handle)(void *, const void *, size_t, void *);
    umf_result_t (*ext_put_ipc_handle)(void *, void *);
    umf_result_t (*ext_open_ipc_handle)(void *, void *, void **);
    umf_result_t (*ext_close_ipc_handle)(void *, void *, size_t);
} umf_memory_provider_ops_t;

#endif /* OTHERS_UMF_PROVIDER_H */
