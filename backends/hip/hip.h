/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BACKENDS_HIP_H
#define MEMSPAN_BACKENDS_HIP_H

/* The records of the HIP backend; backends/gpu has the parts shared with CUDA's. HIP has one
 * context for each device, shared by all of a process, so addresses mean the same to the program,
 * to OpenMP offload runtimes and to us. A thread has a current device and a last error: the first
 * is set for each call and put back, the second is taken away again when it was ours. */

#include "backends/gpu/gpu.h"
#include "backends/hip/hip_api.h"

/* The built-in kernels are one text; its two halves are compiled when first used. */
enum hip_part { HIP_PART_BASIC, HIP_PART_COMBINE, HIP_PARTS };

/* The driver's facts about a device, read once, beside struct gpu_facts. */
struct hip_facts {
    unsigned target;      /* 90010 for gfx90a; 0 where the kernel does not report it */
    bool host_xgmi;       /* it is linked to the processor by xGMI, not by PCI Express alone */
    bool waits_for_words; /* its streams wait for a word of host memory */
    bool large_bar;       /* the host reaches all of its memory */
    bool fine_grain;      /* ... and fine-grained memory of it can be had */
};

struct hip_device {
    struct gpu_device gpu;
    struct hip_facts facts;
    hip_module_t modules[HIP_PARTS];
};

struct hip_state {
    struct gpu_state gpu;
    struct hip_calls hip;
    struct hip_compiler_calls rtc;
    struct hip_hsa_calls hsa;
    bool has_compiler;
    bool has_dmabuf;
    bool coarse;        /* MEMSPAN_HIP_GRAIN */
    bool host_is_loose; /* the runtime has no flag for coherent pinned memory */
    int type_host;      /* the number of host memory in pointer attributes */
    bool *peer_atomics; /* [from * device_count + home] */
};

static inline struct hip_state *hip_state(const struct gpu_state *state)
{
    return (struct hip_state *)(uintptr_t)state;
}

static inline const struct hip_calls *hip_calls(const struct gpu_state *state)
{
    return &hip_state(state)->hip;
}

static inline struct hip_device *hip_device(const struct gpu_device *device)
{
    return (struct hip_device *)(uintptr_t)device;
}

static inline bool hip_has_peers(const struct gpu_state *state)
{
    return (hip_calls(state)->hipDeviceCanAccessPeer != NULL) &&
           (hip_calls(state)->hipDeviceEnablePeerAccess != NULL);
}

static inline bool hip_has_ipc(const struct gpu_state *state)
{
    return (hip_calls(state)->hipIpcGetMemHandle != NULL) &&
           (hip_calls(state)->hipIpcOpenMemHandle != NULL) &&
           (hip_calls(state)->hipIpcCloseMemHandle != NULL);
}

#define HIP_ANSWER(name, code) ((gpu_result_t){(name), (int)(code)})

/* library.c: the libraries that are opened at run time. */

memspan_status_t hip_load(struct gpu_state *state);

/* describe.c: a device's properties. */

memspan_status_t hip_fill(struct gpu_device *device);

/* The facts about the GPU at that PCI address in the kernel's description in @p folder: its target
 * (90010 for gfx90a) and how it is linked to a processor. All 0 where it is not there. */
struct hip_node {
    unsigned target;
    bool host_xgmi;
};
struct hip_node hip_node_find(const char *folder, const char *pci_address);
/* "gfx90a", or "" for 0. Returns @p name. */
const char *hip_target_name(unsigned target, char *name, size_t size);
/* Register a page of ours, and find out where each device sees it and which numbers this driver
 * gives to the types of memory; and which peers have atomics. Facts that cannot be found out are
 * left. */
void hip_probe(struct gpu_state *state);

/* kinds.c: the kinds of memory that it offers, and the devices that reach them. */

void hip_offer(struct gpu_device *device);
/* XNACK: whether the device can take page faults, and how that is turned on. */
void hip_xnack_words(const struct gpu_device *device, char *text, size_t size);
/* True where managed memory is coarse-grained: one side at a time. */
bool hip_managed_is_coarse(const struct gpu_device *device);
memspan_reach_t hip_reach_host(const struct gpu_device *home, memspan_kind_t kind);
memspan_reach_t hip_reach_own(const struct gpu_device *from, memspan_kind_t kind);
memspan_reach_t hip_reach_peer(const struct gpu_device *home, memspan_kind_t kind,
                               const struct gpu_device *from);

/* capability.c: its capabilities, and their sources. */

void hip_fill_capabilities(struct gpu_device *device);
void hip_peer_source(const struct gpu_device *from, const struct gpu_device *home, char *text,
                     size_t size);

/* source.c, kernel.c: the built-in kernels. */

extern const char hip_kernel_source[];
bool hip_has_kernels(const struct gpu_state *state);
memspan_status_t hip_check_kernels(const struct gpu_device *device);
memspan_status_t hip_get_kernel(struct gpu_device *device, int place, const char *name,
                                void **function_p);
void hip_drop_kernels(struct gpu_device *device);

#endif /* MEMSPAN_BACKENDS_HIP_H */
