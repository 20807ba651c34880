/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_TRANSPORT_SEGMENT_H
#define MEMSPAN_SHMEM_TRANSPORT_SEGMENT_H

/* Symmetric memory: from an address of this PE's to the same place of another PE.
 *
 * A segment is the data segment of the executable, or a partition. Of memory that processes can
 * share, a host has one file a segment: the PE with local index i has its copy at i * stride_bytes.
 * Each PE maps its own copy where its addresses are, and once more the whole file as a window:
 *
 *     peer's address = address + to_window + i * stride_bytes
 *
 * Segments other than the data segment lie in the arena: one range of addresses, the same in every
 * PE where that can be had, divided into units; a byte a unit names its owner. So the segment of an
 * address costs the same however many there are. Memory at addresses of its driver's choice is
 * outside, and found by comparing (msp_segment_find).
 *
 * Threads: segments are made and ended by collective calls; everything else only reads. */

#include "shmem/control/memory.h"
#include "shmem/job.h"

enum {
    MSP_SEGMENT_DATA    = 0,   /* the data segment's index */
    MSP_SEGMENT_NONE    = 1,   /* an index whose segment is empty */
    MSP_SEGMENT_CONTROL = 2,   /* this PE's slot of the control memory; of no address */
    MSP_SEGMENT_FIRST   = 3,   /* of partitions, spaces, registered buffers */
    MSP_SEGMENT_MAX     = 160, /* all of these */
    MSP_ARENA_UNITS     = 4096,
};

struct msp_segment {
    char *base;           /* of this PE's copy */
    size_t size_bytes;    /* 0: not in use */
    unsigned reach_count; /* PEs from job.first_local on whose copies are in the window; 0: none */
    intptr_t to_window;
    size_t stride_bytes;
    int partition;     /* its number; -1: none */
    bool host_touches; /* the host may load and store its own copy */
    bool host_updates; /* ... may not, but its atomic instructions work there: a device's memory
                          that is the host's */
    int team_start;    /* PEs that have it, by the world's numbers or by places of a table: */
    int team_stride;   /* team_size of them, team_stride apart; team_size 0: all of the job */
    int team_size;
    int fd;                /* of the file, -1: none */
    atomic_bool is_served; /* its owner serves PEs of the host (owner.h); stored last */
};

struct msp_arena {
    uintptr_t base;
    unsigned shift; /* of a unit's size */
    unsigned unit_count;
    bool is_common;            /* the same addresses in every PE */
    unsigned char *segment_of; /* by unit */
};

extern struct msp_arena msp_arena MSP_HIDDEN;
extern struct msp_segment msp_segments[MSP_SEGMENT_MAX] MSP_HIDDEN;

/* Reserve the arena for partitions of @p total_bytes in all, the largest @p largest_bytes, and
 * space for others later. Every PE calls it with the same sizes. */
memspan_status_t msp_arena_open(size_t total_bytes, size_t largest_bytes);
void msp_arena_close(void);

/* A segment of @p size_bytes in the arena, zeros, for the members of a team; collective over it,
 * with the same arguments. Those of one host share a file. @p page_bytes: size of pages (0:
 * ordinary). */
struct msp_team;
memspan_status_t msp_segment_create(struct msp_team *team, const char *name, size_t size_bytes,
                                    size_t page_bytes, int *index_p);

/* The same in a file that outlives the job: open in all members, the same on a host, with a copy
 * for each of its PEs. The descriptor becomes the segment's; on failure it stays the caller's. */
struct msp_segment_file {
    int fd;
    int map_flags;       /* MAP_SHARED, or what mmap() takes in its place */
    size_t offset_bytes; /* of the first copy */
    size_t stride_bytes; /* whole pages, and boundaries of align_bytes where mmap() wants them */
    size_t align_bytes;  /* of mappings; at most a unit of the arena */
};
memspan_status_t msp_segment_create_in(struct msp_team *team, const char *name, size_t size_bytes,
                                       const struct msp_segment_file *file, int *index_p);

/* A segment around memory of each member's own, which others cannot map; collective. */
memspan_status_t msp_segment_adopt(struct msp_team *team, void *base, size_t size_bytes,
                                   bool host_touches, int *index_p);

/* The last step of making one: keys for the transport are exchanged, and all fail with the PE whose
 * @p status is a failure. */
memspan_status_t msp_segment_finish(struct msp_team *team, unsigned index, const char *name,
                                    memspan_status_t status);

/* Only the members of that team have it: PEs that are none are refused. */
void msp_segment_limit(int index, const struct msp_team *team);
bool msp_segment_has_pe(const struct msp_segment *segment, int pe);

/* End it; all who made it call. Unmaps the mappings of msp_segment_create(). */
void msp_segment_destroy(int index);

/* The executable's data as segment MSP_SEGMENT_DATA; undone at the end. */
memspan_status_t msp_data_segment_open(void);
void msp_data_segment_close(void);

/* Of an address outside the arena and the data segment; the empty segment when it is in none. */
const struct msp_segment *msp_segment_find(const void *address);

/* From now on children of this process find no job and no segments, by whichever call they are
 * forked. */
void msp_segment_wipe_in_children(void);

/* A number for a symmetric address that is the same in every PE: segment << 48 | offset. */
uint64_t msp_segment_key(const void *address);

/* The segment that holds @p address if it is one of those that are shared: in the arena, or the
 * data segment; else NULL. */
static MSP_ALWAYS_INLINE const struct msp_segment *msp_segment_near(const void *address)
{
    uintptr_t unit                 = ((uintptr_t)address - msp_arena.base) >> msp_arena.shift;
    const struct msp_segment *data = &msp_segments[MSP_SEGMENT_DATA];

    if (MSP_LIKELY(unit < msp_arena.unit_count)) {
        return &msp_segments[msp_arena.segment_of[unit]];
    }
    if (MSP_LIKELY((uintptr_t)address - (uintptr_t)data->base < data->size_bytes)) {
        return data;
    }
    return NULL;
}

/* The segment that holds @p address, or an empty one. */
static inline const struct msp_segment *msp_segment_of(const void *address)
{
    const struct msp_segment *segment = msp_segment_near(address);

    return MSP_LIKELY(segment != NULL) ? segment : msp_segment_find(address);
}

#endif /* MEMSPAN_SHMEM_TRANSPORT_SEGMENT_H */
