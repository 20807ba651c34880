/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTS_SHMEM_NETWORK_DRIVER_UNKIND_OFI_H
#define TESTS_SHMEM_NETWORK_DRIVER_UNKIND_OFI_H

/* Included before each file of the driver: functions of libfabric are inline, and cannot be wrapped
 * by the linker. */

#include <rdma/fi_eq.h>

ssize_t unkind_cq_read(struct fid_cq *cq, void *buffer, size_t count);
ssize_t unkind_cq_readerr(struct fid_cq *cq, struct fi_cq_err_entry *entry, uint64_t flags);

#ifndef UNKIND_OFI_ITSELF
#define fi_cq_read    unkind_cq_read
#define fi_cq_readerr unkind_cq_readerr
#endif

#endif /* TESTS_SHMEM_NETWORK_DRIVER_UNKIND_OFI_H */
