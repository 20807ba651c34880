/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_NODE_H
#define MEMSPAN_SHMEM_NODE_H

/* The control memory that the PEs of a node share: one memfd, a header, then a bell and a slot for
 * each PE. It is sparse: what nobody touches costs nothing. The first PE of the node makes it and
 * tells the others where it is; they open it through /proc, and know it by its inode.
 *
 * A slot is divided into areas, each the property of one file pair. All is zero at first.
 *
 * Sleeping. A thread that has waited long enough counts itself among its PE's sleepers, makes every
 * processor of the job pass a barrier (membarrier), looks once more at what it waits for, and
 * sleeps on the bell. Whoever stores something that a PE may wait for looks at the sleepers
 * afterwards, by a plain load: either that load sees the sleeper, or the barrier has made the store
 * visible before the sleeper's last look. Flags of the library and memory of the program are waited
 * for apart, and of the latter the bell says which addresses: a PE that sleeps in a barrier is not
 * woken by puts. */

#include "core/base/platform.h"
#include "shmem/error.h"
#include <stdatomic.h>

enum {
    MSP_TEAM_MAX        = 1024,     /* teams alive at once, the predefined ones included */
    MSP_TEAM_SYNC_BYTES = 1024,     /* of flags, for each team in each PE's slot */
    MSP_TEAM_WORK_BYTES = 64 << 10, /* of room for small data, likewise */
};

/* X(area, bytes in each slot): multiples of a page. */
#define MSP_NODE_AREA_MAP(X)                                                                       \
    X(SYNC, (size_t)MSP_TEAM_MAX *MSP_TEAM_SYNC_BYTES) /* collective/ */                           \
    X(WORK, (size_t)MSP_TEAM_MAX *MSP_TEAM_WORK_BYTES) /* collective/ */                           \
    X(REMOTE, (size_t)4 << 20) /* remote.c: requests for memory that only its owner reaches */

struct msp_node_offsets {
#define AREA_MEMBER(area, size_bytes) char area[size_bytes];
    MSP_NODE_AREA_MAP(AREA_MEMBER)
#undef AREA_MEMBER
};

/* What is written when somebody sleeps, and read by everybody who stores to this PE. */
struct msp_bell {
    _Alignas(MSP_CACHE_LINE_BYTES) atomic_uint sleepers; /* that wait for flags of the library */
    atomic_uint memory_sleepers;                         /* that wait for memory of the program, */
    _Atomic uint64_t watch_first;                        /* from here (segment << 48 | offset) */
    _Atomic uint64_t watch_last;                         /* to here */
    atomic_uint rings;                                   /* futex word */
    atomic_uint has_left; /* in its last meeting: it starts nothing any more */
};

struct msp_node {
    struct msp_bell *bells; /* by local index */
    char *slots;
    bool is_ordered; /* membarrier() reaches every PE: no ring is ever lost */
};

extern struct msp_node msp_node MSP_HIDDEN;

/* An area of the PE with that local index. */
static inline void *msp_node_slot(int local_index)
{
    return msp_node.slots + ((size_t)local_index * sizeof(struct msp_node_offsets));
}
#define MSP_NODE_AREA(local_index, area)                                                           \
    ((void *)((char *)msp_node_slot(local_index) + offsetof(struct msp_node_offsets, area)))

/* Make or join the control memory; every PE of the job calls it. */
memspan_status_t msp_node_open(void);
void msp_node_close(void);

/* All PEs of the node have come here, and see what the others stored before. For start and end:
 * collectives have something faster. */
void msp_node_fence(void);

/* A memfd that all PEs of the node share: the first of them makes it of @p size_bytes and the
 * others open it; everybody calls in the same order. *fd_p is the caller's to close. @p
 * huge_page_bytes: 0, or the size of reserved huge pages to take it from. All fail where one fails.
 */
memspan_status_t msp_node_share_file(const char *name, size_t size_bytes, size_t huge_page_bytes,
                                     int *fd_p);

/* The same in two steps: made by one PE, whose ticket the others open. */
struct msp_node_ticket {
    int pid;
    int fd;
    uint64_t inode;
    uint64_t device;
    uint64_t size_bytes;
    int status; /* memspan_status_t of making it */
};
void msp_node_ticket_make(struct msp_node_ticket *ticket, const char *name, size_t size_bytes,
                          size_t huge_page_bytes, int *fd_p);
memspan_status_t msp_node_ticket_open(const struct msp_node_ticket *ticket, const char *name,
                                      int *fd_p);

/* True everywhere when it is true on every PE of the node. Everybody calls. */
bool msp_node_all(bool mine);

/* The largest of what the PEs of the node say. Everybody calls. */
uint64_t msp_node_max(uint64_t mine);

/* Process numbers of the PEs of the node, by local index. */
const int *msp_node_pids(void);

/* Processors that the PEs of the node may use, all together. */
unsigned msp_node_processor_count(void);

/* Whether this PE is the one of the node that says why the job ends; it calls the second one when
 * it has. In the others the first one returns false after that, or after a few seconds. */
bool msp_node_speak(void) __attribute__((cold));
void msp_node_spoken(void) __attribute__((cold));

void msp_node_ring_slow(int local_index) __attribute__((cold));
void msp_node_ring_at_slow(int local_index, const void *address, size_t size_bytes)
    __attribute__((cold));

/* Tell the PE with that local index that a flag of the library was changed for it. */
static inline void msp_node_ring(int local_index)
{
    struct msp_bell *bell = &msp_node.bells[local_index];

    if (MSP_UNLIKELY(atomic_load_explicit(&bell->sleepers, memory_order_relaxed) != 0)) {
        msp_node_ring_slow(local_index);
    }
}

/* Tell it that [@p address, + @p size_bytes) of its memory was stored to; this PE's address. */
static MSP_ALWAYS_INLINE void msp_node_ring_at(int local_index, const void *address,
                                               size_t size_bytes)
{
    struct msp_bell *bell = &msp_node.bells[local_index];

    if (MSP_UNLIKELY(atomic_load_explicit(&bell->memory_sleepers, memory_order_relaxed) != 0)) {
        msp_node_ring_at_slow(local_index, address, size_bytes);
    }
}

#endif /* MEMSPAN_SHMEM_NODE_H */
