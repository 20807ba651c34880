/* SPDX-License-Identifier: BSD-3-Clause */
/* device_reduce.c: reductions by devices, on one host or several.
 *
 * Each PE reduces one chunk of the vector, then all read the others' chunks. The operands of a
 * chunk are got from the other PEs piece by piece, into memory of this PE's device, whose kernel
 * combines them in the order of PEs. The kernel of one piece runs while the network moves the next:
 * calls on a device run in order, so neither waits for the other. The result is in dest at once.
 *
 * Where hosts have equal numbers of PEs, those of a host reduce among themselves first. Then the
 * PEs with the same chunk, one of each host, reduce its sums in the same way, so that a sum of the
 * host crosses the network, and not each operand.
 *
 * A device without that kernel is replaced by the host's loops; the other PEs see no difference. */

#include "shmem/collective/combine.h"
#include "shmem/collective/group.h"
#include "shmem/collective/peer.h"
#include "shmem/partition/placement.h"
#include <memspan/allocator.h>
#include <memspan/transfer.h>
#include <stdlib.h>

enum {
    MIN_BYTES   = 256 << 10, /* below it the work areas are faster (emulated device, UCX) */
    PIECE_BYTES = 2 << 20,   /* of an operand on its way */
};

/* The part of one PE. */
struct reduction {
    struct msp_team *team; /* whose PEs have the operands */
    msp_combine_t combine; /* the host's */
    memspan_kernel_t kernel;
    int device; /* that combines; MEMSPAN_HOST */
    size_t element_bytes;
    char *sum; /* PIECE_BYTES each, of the device or the host */
    char *term;
};

bool msp_device_reduce_takes(const void *dest, const void *source, size_t bytes)
{
    return MSP_UNLIKELY(msp_job_has_device_memory()) && (bytes >= MIN_BYTES) &&
           !msp_rma_host_touches(dest) && !msp_rma_host_touches(source);
}

/* ---- who combines ---- */

/* False: there is no such kernel. */
static bool find_kernel(enum msp_reduction operation, enum msp_number type,
                        memspan_kernel_t *kernel_p)
{
    int element = (type < MSP_NUMBER_F80) ? (int)type : (int)type - 1;

    *kernel_p = MEMSPAN_KERNEL_COMBINE(operation, element);
    return type != MSP_NUMBER_F80;
}

static memspan_status_t launch(const struct reduction *r, void *z, const void *x, const void *y,
                               size_t count)
{
    const memspan_kernel_call_t call = {
        .struct_size = sizeof call, .kernel = r->kernel, .count = count, .x = x, .y = y, .z = z};

    return memspan_kernel_launch(r->device, &call);
}

static void note(int device)
{
    static atomic_bool is_noted;

    if (msp_job.checks && !atomic_exchange(&is_noted, true)) {
        msp_debug_note("reduce by kernels of device %d", device);
    }
}

/* Both buffers; whether the device has the kernel is tried out on them. */
static bool open_device(struct reduction *r, int device)
{
    memspan_space_h space;

    r->device = device;
    if ((device < 0) ||
        (msp_device_memory_space(device, MEMSPAN_KIND_DEVICE, &space) != MEMSPAN_OK)) {
        return false;
    }
    r->sum  = msp_device_memory_alloc(space, 2 * PIECE_BYTES, false);
    r->term = r->sum + PIECE_BYTES;
    if (r->sum == NULL) {
        return false;
    }
    if (launch(r, r->sum, r->sum, r->term, 1) != MEMSPAN_OK) {
        (void)memspan_free(r->sum);
        return false;
    }
    note(device);
    return true;
}

static void open_host(struct reduction *r)
{
    r->device = MEMSPAN_HOST;
    r->sum    = malloc(2 * PIECE_BYTES);
    r->term   = r->sum + PIECE_BYTES;
    if (r->sum == NULL) {
        msp_fatal("%s: no memory for %d bytes", msp_peer_call(r->team), 2 * PIECE_BYTES);
    }
}

static void close_buffers(const struct reduction *r)
{
    if (r->device == MEMSPAN_HOST) {
        free(r->sum);
    } else {
        (void)memspan_free(r->sum);
    }
}

static void combine(const struct reduction *r, void *z, const void *x, const void *y, size_t count)
{
    if (r->device == MEMSPAN_HOST) {
        r->combine(z, x, y, count);
    } else if (launch(r, z, x, y, count) != MEMSPAN_OK) {
        msp_fatal_error(msp_peer_call(r->team));
    }
}

/* ---- a chunk ---- */

/* PE @p pe's operands at @p source, where they can be combined: in @p buffer, or in place. */
static const char *operand(const struct reduction *r, int pe, const char *source, char *buffer,
                           size_t bytes)
{
    if ((pe == r->team->pe) && (r->device != MEMSPAN_HOST)) {
        return source;
    }
    msp_peer_read(r->team, pe, source, buffer, bytes);
    return buffer;
}

/* Dest may be source: this PE's own term has been used when the last kernel writes. */
static void reduce_piece(const struct reduction *r, char *dest, const char *source, size_t count)
{
    size_t bytes  = count * r->element_bytes;
    const char *x = operand(r, 0, source, r->sum, bytes);
    int pe;

    for (pe = 1; pe < r->team->size; pe++) {
        bool is_last  = (pe == r->team->size - 1) && (r->device != MEMSPAN_HOST);
        const char *y = operand(r, pe, source, r->term, bytes);

        combine(r, is_last ? dest : r->sum, x, y, count);
        x = is_last ? dest : r->sum;
    }
    msp_peer_copy(dest, x, bytes);
}

static void reduce_chunk(const struct reduction *r, char *dest, const char *source, size_t count)
{
    size_t most = PIECE_BYTES / r->element_bytes;
    size_t first;
    size_t end;
    size_t at;

    msp_chunk_of(r->team->pe, r->team->size, r->element_bytes, count, &first, &end);
    for (at = first; at < end; at += most) {
        size_t part = (end - at < most) ? end - at : most;

        reduce_piece(r, dest + (at * r->element_bytes), source + (at * r->element_bytes), part);
    }
    /* Calls of this process run in order; others read by drivers of their own. */
    if ((r->device != MEMSPAN_HOST) && (memspan_device_synchronize(r->device) != MEMSPAN_OK)) {
        msp_fatal_error(msp_peer_call(r->team));
    }
}

/* ---- the call ---- */

/* The PEs that have this PE's place on their hosts. False: hosts have one PE, or different numbers.
 */
static bool find_row(const struct msp_team *team, struct msp_team *row_p)
{
    const struct msp_groups *groups = team->groups;

    if ((groups == NULL) || (groups->shape != MSP_GROUP_BLOCK) || (groups->count < 2) ||
        (groups->least != groups->most) || (groups->most < 2)) {
        return false;
    }
    *row_p = (struct msp_team){.start  = msp_team_world_pe(team, groups->local.pe),
                               .stride = team->stride * groups->most,
                               .size   = groups->count,
                               .pe     = groups->own,
                               .call   = team->call};
    return true;
}

static void reduce_flat(const struct reduction *r, char *dest, const char *source, size_t count)
{
    reduce_chunk(r, dest, source, count);
    msp_collective_sync(r->team);
    msp_chunk_read_others(r->team, dest, r->element_bytes, count);
}

/* Both levels are a reduction of their own: in the host, of all; in the row, of this PE's chunk in
 * place. */
static void reduce_by_hosts(const struct reduction *r, struct msp_team *row, char *dest,
                            const char *source, size_t count)
{
    struct reduction level = *r;
    size_t first;
    size_t end;

    level.team = &r->team->groups->local;
    msp_chunk_of(level.team->pe, level.team->size, r->element_bytes, count, &first, &end);
    reduce_chunk(&level, dest, source, count);
    msp_collective_sync(r->team);
    level.team = row;
    reduce_chunk(&level, dest + (first * r->element_bytes), dest + (first * r->element_bytes),
                 end - first);
    msp_collective_sync(r->team);
    msp_chunk_read_others(row, dest + (first * r->element_bytes), r->element_bytes, end - first);
    msp_collective_sync(r->team);
    msp_chunk_read_others(&r->team->groups->local, dest, r->element_bytes, count);
}

void msp_device_reduce(struct msp_team *team, enum msp_reduction operation, enum msp_number type,
                       void *dest, const void *source, size_t count)
{
    struct reduction r = {.team          = team,
                          .combine       = msp_combine_of(operation, type),
                          .element_bytes = msp_number_bytes(type)};
    struct msp_team row;

    if (!find_kernel(operation, type, &r.kernel) ||
        !open_device(&r, msp_device_memory_home(source))) {
        open_host(&r);
    }
    msp_collective_sync(team);
    if (find_row(team, &row)) {
        reduce_by_hosts(&r, &row, dest, source, count);
    } else {
        reduce_flat(&r, dest, source, count);
    }
    close_buffers(&r);
    msp_collective_sync(team);
}
