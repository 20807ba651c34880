/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BACKENDS_GPU_COMMON_H
#define MEMSPAN_BACKENDS_GPU_COMMON_H

#include <memspan/backend.h>
#include <memspan/transfer.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The code that the backends of all GPU drivers share: kinds of memory of a device, checks of
 * requests, and the system's facts about devices and host memory. */

/* Note that a device has, or has not, memory of a kind, and the reason or the source. */
void gpu_offer_kind(memspan_device_info_t *info, memspan_kind_t kind, bool offered,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The largest request to a device. Managed memory can be taken beyond the existing memory, and so
 * can any on a device whose memory is the host's; the process dies when it is touched.
 * @p managed_bytes: of managed memory that the device has given already. */
uint64_t gpu_most_bytes(const memspan_device_info_t *info, memspan_kind_t kind, bool integrated,
                        uint64_t managed_bytes);

/* Refuse a request for a kind that @p info does not offer, of no size, with an alignment that is no
 * power of two, or for more than @p most_bytes. */
memspan_status_t gpu_check_request(const memspan_services_t *services, const char *backend,
                                   const memspan_device_info_t *info,
                                   const memspan_request_t *request, uint64_t most_bytes);

/* Answer device_describe() with the properties read once, and the memory that is free now. */
void gpu_describe_device(const memspan_device_info_t *info, uint64_t free_bytes,
                         memspan_device_info_t *info_p);

/* The 16 bytes of a uuid as text ("5a5a5a5a-5a5a-..."), equal in all backends: so the same device
 * is recognised. False, and nothing is written, where all are 0: the driver has no uuid. */
bool gpu_write_uid(const void *uuid, char *uid, size_t size);

/* The NUMA node near info->pci_address. An address of zeros, where no device but the host bridge
 * is, means that the driver has none: it is cleared. */
void gpu_fill_numa_node(memspan_device_info_t *info);

/* The kernel's estimate of the memory that the host can still give: where a device's memory is the
 * host's, drivers count the page cache as used, and promise memory that is not there. */
uint64_t gpu_host_available(void);

/* ---- kernels ---- */

/* The built-in kernels of GPUs, and the names of their functions. */

enum {
    GPU_KERNELS      = MEMSPAN_KERNEL_ADD_ATOMIC + 1, /* those that combine nothing come first */
    GPU_KERNEL_COUNT = GPU_KERNELS + MEMSPAN_OPERATION_COUNT * MEMSPAN_ELEMENT_COUNT
};

/* The place of a kernel among GPU_KERNEL_COUNT, and the name of its function ("memspan_sum_f64");
 * -1: there is none. */
int gpu_kernel_find(memspan_kernel_t kernel, char name[48]);

/* Operation and element of a combining kernel, by its place; false: it is none. */
bool gpu_kernel_combines(int place, int *operation_p, int *element_p);

/* ---- descriptors ---- */

/* File descriptors of other processes, by which drivers share memory. */

/* Whether other processes of this user can fetch descriptors of this one, once it has called
 * gpu_offer_fds(): the kernel has the call, and neither Yama, a seccomp filter nor the
 * process's own state (not dumpable) is in the way. Capabilities of the other are not counted on.
 */
bool gpu_offers_fds(void);

/* Let them: where Yama allows only processes that were named, every process of this user is named
 * (PR_SET_PTRACER_ANY). That also lets them trace this one, as they may where Yama is absent; so it
 * is called when memory is exported by a descriptor, and not before. */
void gpu_offer_fds(void);

/* Yama's setting in @p path permits it; true where there is none. */
bool gpu_scope_allows(const char *path);

/* A descriptor of our own for the file that process @p pid has open as @p theirs. */
memspan_status_t gpu_fetch_fd(const memspan_services_t *services, const char *backend, pid_t pid,
                              int theirs, int *fd_p);

#endif /* MEMSPAN_BACKENDS_GPU_COMMON_H */
