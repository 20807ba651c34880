/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BACKENDS_CUDA_H
#define MEMSPAN_BACKENDS_CUDA_H

/* The records of the CUDA backend; backends/gpu has the parts shared with HIP's. Work is done in
 * the devices' primary contexts, the ones that the CUDA runtime and OpenMP offload runtimes use, so
 * that addresses mean the same to all of them. A context is retained when first needed, never by a
 * mere question, and pushed and popped around each call: the caller's thread keeps the context it
 * had. Meanwhile the thread's capture mode is relaxed, so that a program that captures a stream may
 * allocate. */

#include "backends/cuda/cuda_api.h"
#include "backends/gpu/gpu.h"

/* A compiled kernel: each is a module of its own, so that only the used ones are compiled. */
struct cuda_kernel {
    cuda_module_t module;
    cuda_function_t function;
};

/* The driver's facts about a device, read once, beside struct gpu_facts. */
struct cuda_facts {
    int capability; /* 10 * major + minor */
    bool vmm;
    bool makes_fd;  /* mapped memory can have a file descriptor */
    bool shares_fd; /* ... that other processes can fetch */
    bool shares_fabric;
    bool rdma;
    bool rdma_vmm;
};

struct cuda_device {
    struct gpu_device gpu;
    struct cuda_facts facts;
    _Atomic(cuda_context_t) context;       /* written under the lock: once, and after each reset */
    _Atomic unsigned long long context_id; /* the driver's number of it; 0 where it has none */
    atomic_uint synced; /* 1 + the epoch whose context completes synchronous copies; 0: none */
    struct cuda_kernel kernels[GPU_KERNEL_COUNT];
};

struct cuda_state {
    struct gpu_state gpu;
    struct cuda_calls cu;
};

static inline const struct cuda_calls *cuda_calls(const struct gpu_state *state)
{
    return &((const struct cuda_state *)state)->cu;
}

static inline struct cuda_device *cuda_device(const struct gpu_device *device)
{
    return (struct cuda_device *)(uintptr_t)device;
}

static inline cuda_address_t cuda_address(const void *pointer)
{
    return (cuda_address_t)(uintptr_t)pointer;
}

static inline bool cuda_has_peers(const struct gpu_state *state)
{
    return (cuda_calls(state)->cuDeviceCanAccessPeer != NULL) &&
           (cuda_calls(state)->cuCtxEnablePeerAccess != NULL);
}

#define CUDA_ANSWER(name, code) ((gpu_result_t){(name), (int)(code)})

/* context.c: primary contexts. */

memspan_status_t cuda_enter(struct gpu_device *device, enum gpu_purpose purpose, int *before_p);
void cuda_leave(struct gpu_device *device, int before);
bool cuda_is_awake(const struct gpu_device *device);
bool cuda_is_active(const struct gpu_device *device);
void cuda_close(struct gpu_device *device);
/* gpu_driver::sync_copies: by a flag of the primary context, before 12.1 by an attribute of the
 * memory, which memory that we map cannot have. */
bool cuda_syncs_mapped(const struct gpu_state *state);
void cuda_sync_copies(struct gpu_device *device, const void *address);
/* memspan_backend_t::connect: wake both devices, so that @p from has access from now on. */
memspan_status_t cuda_connect(void *state, int home, memspan_kind_t kind, int from);

/* describe.c: a device's properties. */

memspan_status_t cuda_fill(struct gpu_device *device);

/* kinds.c: the kinds of memory that it offers, and the devices that reach them. */

void cuda_offer(struct gpu_device *device);
memspan_reach_t cuda_reach_host(const struct gpu_device *home, memspan_kind_t kind);
memspan_reach_t cuda_reach_own(const struct gpu_device *from, memspan_kind_t kind);
memspan_reach_t cuda_reach_peer(const struct gpu_device *home, memspan_kind_t kind,
                                const struct gpu_device *from);

/* capability.c: its capabilities, and their sources. */

void cuda_fill_capabilities(struct gpu_device *device);
void cuda_peer_source(const struct gpu_device *from, const struct gpu_device *home, char *text,
                      size_t size);

/* mapped.c: device memory mapped by ourselves, to be shared or with pages of a size. */

memspan_status_t cuda_take_device(struct gpu_device *device, const memspan_request_t *request,
                                  struct gpu_block *block, memspan_block_t *given);
memspan_status_t cuda_give_mapped(struct gpu_device *device, struct gpu_block *block);
memspan_status_t cuda_export_mapped(const struct gpu_device *device, struct gpu_block *block,
                                    struct gpu_token *token);
memspan_status_t cuda_open_mapped(struct gpu_device *device, struct gpu_token *token,
                                  struct gpu_block *block);

/* ptx.c, kernel.c: the built-in kernels. */

enum { CUDA_PTX_BYTES = 4096 };

/* The text of a kernel of gpu_kernel_find() for a device of that compute capability. */
void cuda_ptx_write(int place, const char *name, int capability, char text[CUDA_PTX_BYTES]);

bool cuda_has_kernels(const struct gpu_device *device);
memspan_status_t cuda_check_kernels(const struct gpu_device *device);
memspan_status_t cuda_get_kernel(struct gpu_device *device, int place, const char *name,
                                 void **function_p);
void cuda_drop_kernels(struct gpu_device *device);

#endif /* MEMSPAN_BACKENDS_CUDA_H */
