/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BACKENDS_GPU_DESCRIPTOR_H
#define MEMSPAN_BACKENDS_GPU_DESCRIPTOR_H

/* File descriptors of other processes, by which drivers share memory. */

#include <memspan/backend.h>
#include <stdbool.h>
#include <sys/types.h>

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

#endif /* MEMSPAN_BACKENDS_GPU_DESCRIPTOR_H */
