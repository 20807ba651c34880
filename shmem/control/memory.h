/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_CONTROL_MEMORY_H
#define MEMSPAN_SHMEM_CONTROL_MEMORY_H

/* The control memory of a host, which its PEs share: one memfd, a header, then a doorbell and a
 * slot for each PE. It is sparse: untouched pages cost nothing. The host's first PE makes it and
 * distributes its place; the others open it through /proc, and verify its inode.
 *
 * A slot is divided into areas, each the property of one file pair. All is zero at first. */

#include "shmem/control/doorbell.h"
#include "shmem/error.h"

enum {
    MSP_TEAM_MAX         = 1024,      /* teams alive at once, the predefined ones included */
    MSP_TEAM_SYNC_BYTES  = 1024,      /* of flags, for each team in each PE's slot */
    MSP_TEAM_WORK_BYTES  = 64 << 10,  /* of work area for small data, likewise */
    MSP_TEAM_MAIL_BYTES  = 8192,      /* of flags for PEs of other hosts, likewise */
    MSP_TEAM_INBOX_BYTES = 384 << 10, /* of data from them, likewise */
};

/* X(area, bytes in each slot): multiples of a page. */
#define MSP_CONTROL_AREA_MAP(X)                                                                    \
    X(SYNC, (size_t)MSP_TEAM_MAX *MSP_TEAM_SYNC_BYTES)   /* collective/ */                         \
    X(WORK, (size_t)MSP_TEAM_MAX *MSP_TEAM_WORK_BYTES)   /* collective/ */                         \
    X(MAIL, (size_t)MSP_TEAM_MAX *MSP_TEAM_MAIL_BYTES)   /* collective/ */                         \
    X(INBOX, (size_t)MSP_TEAM_MAX *MSP_TEAM_INBOX_BYTES) /* collective/ */                         \
    X(CALL, (size_t)33 << 20)  /* transport/call_inbox.c: calls of handlers */                     \
    X(OWNER, (size_t)4 << 20)  /* transport/owner.c: requests for memory that is not mapped */     \
    X(STAGE, (size_t)32 << 20) /* network/stage.c: data of other hosts for memory of devices */    \
    X(DEVICE, (size_t)4096)    /* device/view.c: barriers of kernels */

struct msp_control_offsets {
#define AREA_MEMBER(area, size_bytes) char area[size_bytes];
    MSP_CONTROL_AREA_MAP(AREA_MEMBER)
#undef AREA_MEMBER
};

struct msp_control {
    char *slots; /* NULL: there is no control memory */
};

extern struct msp_control msp_control MSP_HIDDEN;

/* An area of the PE with that local index. */
static inline void *msp_control_slot(int local_index)
{
    return msp_control.slots + ((size_t)local_index * sizeof(struct msp_control_offsets));
}
#define MSP_CONTROL_AREA(local_index, area)                                                        \
    ((void *)((char *)msp_control_slot(local_index) + offsetof(struct msp_control_offsets, area)))

/* Make control memory for @p count PEs, and return its place: of the first PE of a node, before it
 * is known which PEs share memory. The node's next barrier then serves both. */
memspan_status_t msp_control_make(int count);

/* Make or join the control memory; every PE of the job calls it. */
memspan_status_t msp_control_open(void);
void msp_control_close(void);

/* A barrier of the host's PEs, for start and end alone. */
void msp_host_barrier(void);

/* Process numbers of the PEs of the host, by local index. */
const int *msp_host_pids(void);

/* Processors that the PEs of the host may use, all together. */
unsigned msp_host_processor_count(void);
/* Equal on hosts that are containers of one machine and may use the same processors; 0: not known.
 * The same in all PEs of a host. */
uint64_t msp_host_machine(void);

/* Whether this PE is the one of the host that reports why the job ends; it calls the second one
 * when it has. In the others the first one returns false after that, or after a few seconds. */
bool msp_host_claim_report(void) __attribute__((cold));
void msp_host_finish_report(void) __attribute__((cold));

#endif /* MEMSPAN_SHMEM_CONTROL_MEMORY_H */
