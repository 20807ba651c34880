/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_BASE_DRIVER_H
#define MEMSPAN_CORE_BASE_DRIVER_H

/* What the backends of GPU drivers do alike, whatever the driver: what a device offers, which
 * requests are sound, what the system knows of a device and of host memory. */

#include <memspan/backend.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Note that a device has, or has not, memory of a kind, and why or by what. */
void msp_driver_offer(memspan_device_info_t *info, memspan_kind_t kind, bool offered,
                      const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The most that may be asked of a device at once. Managed memory can be taken beyond what there is,
 * and so can any on a device whose memory is the host's; the process dies when it is touched.
 * @p managed_bytes: of managed memory that the device has given already. */
uint64_t msp_driver_most_bytes(const memspan_device_info_t *info, memspan_kind_t kind,
                               bool integrated, uint64_t managed_bytes);

/* Refuse a request for a kind that @p info does not offer, of no size, with an alignment that is no
 * power of two, or for more than @p most_bytes. */
memspan_status_t msp_driver_check(const memspan_services_t *services, const char *backend,
                                  const memspan_device_info_t *info,
                                  const memspan_request_t *request, uint64_t most_bytes);

/* Answer device_describe() with what was found out once, and what is free now. */
void msp_driver_describe(const memspan_device_info_t *info, uint64_t free_bytes,
                         memspan_device_info_t *info_p);

/* The NUMA node near a PCI address, or -1. */
int msp_driver_numa_node_at(const char *pci_address);

/* What the kernel estimates that the host can still give: where a device's memory is the host's,
 * drivers count the page cache as used, and promise what is not there. */
uint64_t msp_driver_host_available(void);

/* Whether other processes of this user can fetch descriptors of this one, once it has called
 * msp_driver_offer_fds(): the kernel has the call, and neither Yama, a seccomp filter nor the
 * process's own state (not dumpable) is in the way. Capabilities of the other are not counted on.
 */
bool msp_driver_offers_fds(void);

/* Let them: where Yama allows only processes that were named, every process of this user is named
 * (PR_SET_PTRACER_ANY). That also lets them trace this one, as they may where Yama is absent; so it
 * is called when memory is exported by a descriptor, and not before. */
void msp_driver_offer_fds(void);

/* Yama's setting in @p path permits it; true where there is none. */
bool msp_driver_scope_allows(const char *path);

/* A descriptor of our own for what process @p pid has open as @p theirs. */
memspan_status_t msp_driver_fetch_fd(const memspan_services_t *services, const char *backend,
                                     pid_t pid, int theirs, int *fd_p);

#endif /* MEMSPAN_CORE_BASE_DRIVER_H */
