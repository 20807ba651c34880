/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEMX_DEVICE_H
#define MEMSPAN_SHMEMX_DEVICE_H

/** @file shmemx_device.h
 * OpenSHMEM inside kernels: puts, gets, atomic operations, signals, waits and barriers that the
 * threads of a device call, in target regions of OpenMP or in kernels of other languages that Clang
 * compiles. The host opens the device (shmemx_device_open() of <shmemx.h>) and passes the view to
 * the kernel; the operations are in this header alone, and need no library on the device.
 *
 * Memory that the device maps is loaded and stored by the device. Everything else travels as
 * requests to the host, which kernels of its own processors execute themselves, and a thread of the
 * view for others. shmemx_device_open(3) has the table of the order of operations. Symmetric
 * addresses are those of this PE on the host; PEs are the world's. */

#include <shmem/device_view.h>

#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#endif
#if defined(_OPENMP)
#pragma omp declare target
#endif

/* ---- from an address to memory ---- */

#define SHMEMX_DEVICE_BARRIER_ROUNDS 32

/* Where an operation goes: [to] where the device maps it, else a request for [where]. */
typedef struct shmemx_device_place {
    char *to;
    uint64_t where;
    int32_t place;
    uint32_t direct;
} shmemx_device_place_t;

/* The copy of the PE with that place; NULL: the device does not reach it. */
SHMEMX_DEVICE_FUNCTION char *shmemx_device_of_other(const shmemx_device_view_t *view,
                                                    const shmemx_device_segment_t *segment,
                                                    uintptr_t address, uintptr_t place)
{
    uint64_t start = 0;

    if (segment->reach_others != 0) {
        return (char *)(address + (uintptr_t)segment->to_window +
                        (place * (uintptr_t)segment->stride_bytes));
    }
    if (segment->addresses_at != 0) {
        start = ((const uint64_t *)(const void *)shmemx_device_part(view,
                                                                    segment->addresses_at))[place];
    }
    return (start != 0) ? (char *)((uintptr_t)start + (address - (uintptr_t)segment->base)) : NULL;
}

SHMEMX_DEVICE_FUNCTION shmemx_device_place_t shmemx_device_resolve(const shmemx_device_view_t *view,
                                                                   const void *address,
                                                                   size_t size_bytes, int pe)
{
    const shmemx_device_segment_t *segment =
        (const shmemx_device_segment_t *)(const void *)shmemx_device_part(view, view->segments_at);
    const int32_t *places =
        (const int32_t *)(const void *)shmemx_device_part(view, view->places_at);
    shmemx_device_place_t place = {NULL, 0, -1, 0};
    uint32_t i;

    place.where = (uint64_t)(uintptr_t)address | ((uint64_t)SHMEMX_DEVICE_RAW << 48);
    for (i = 0; i < view->segment_count; i++, segment++) {
        uint64_t offset = (uint64_t)(uintptr_t)address - segment->base;

        if ((offset < segment->size_bytes) && (size_bytes <= segment->size_bytes - offset)) {
            place.where  = ((uint64_t)segment->number << 48) | offset;
            place.place  = ((uint32_t)pe < (uint32_t)view->n_pes) ? places[pe] : -1;
            place.direct = segment->direct;
            if ((pe == view->my_pe) && (segment->reach_own != 0)) {
                place.to = (char *)(uintptr_t)address;
            } else if ((place.place >= 0) && (pe != view->my_pe)) {
                place.to = shmemx_device_of_other(view, segment, (uintptr_t)address,
                                                  (uintptr_t)(uint32_t)place.place);
            }
            return place;
        }
    }
    return place;
}

/* ---- requests ---- */

/* Threads are divided among the queues; order does not depend on it. */
SHMEMX_DEVICE_FUNCTION shmemx_device_queue_t *
shmemx_device_own_queue(const shmemx_device_view_t *view)
{
#if defined(__AMDGCN__)
    return shmemx_device_queue_at(view, __builtin_amdgcn_workgroup_id_x());
#elif SHMEMX_DEVICE_IS_PTX
    uint32_t block;

    __asm__("mov.u32 %0, %%ctaid.x;" : "=r"(block));
    return shmemx_device_queue_at(view, block);
#else
    char here; /* threads have stacks apart */

    return shmemx_device_queue_at(view, (uint32_t)((uintptr_t)&here >> 22));
#endif
}

SHMEMX_DEVICE_FUNCTION void shmemx_device_copy(void *to, const void *from, size_t size_bytes)
{
    uintptr_t both = (uintptr_t)to | (uintptr_t)from;

    if ((size_bytes == 8) && (both % 8 == 0)) {
        SHMEMX_DEVICE_POKE((uint64_t *)to, *(const uint64_t *)from);
    } else if ((size_bytes == 4) && (both % 4 == 0)) {
        SHMEMX_DEVICE_POKE((uint32_t *)to, *(const uint32_t *)from);
    } else {
#if SHMEMX_DEVICE_IS_GPU
        size_t done = 0;

        for (; (both % 8 == 0) && (size_bytes - done >= 8); done += 8) {
            *(uint64_t *)(void *)((char *)to + done) =
                *(const uint64_t *)(const void *)((const char *)from + done);
        }
        for (; done < size_bytes; done++) {
            ((char *)to)[done] = ((const char *)from)[done];
        }
#else
        __builtin_memcpy(to, from, size_bytes);
#endif
    }
}

/* At most 8 bytes, within the request. */
SHMEMX_DEVICE_FUNCTION void shmemx_device_move_by_cell(const shmemx_device_view_t *view,
                                                       shmemx_device_queue_t *queue,
                                                       uint32_t operation, uint64_t where,
                                                       char *own, size_t size_bytes, int pe)
{
    uint64_t value = 0;

    if (size_bytes == 0) {
        return;
    }
    if (operation == SHMEMX_DEVICE_PUT) {
        shmemx_device_copy(&value, own, size_bytes);
    }
    value = shmemx_device_ask(view, queue, operation, where, size_bytes, value, 0, pe);
    if ((operation != SHMEMX_DEVICE_PUT) && !shmemx_device_has_seen_failure(view)) {
        shmemx_device_copy(own, &value, size_bytes);
    }
}

/* One piece of data, in the loop of shmemx_device_ask(). 1 where a peer has failed. */
SHMEMX_DEVICE_FUNCTION int shmemx_device_move_piece(const shmemx_device_view_t *view,
                                                    shmemx_device_queue_t *queue,
                                                    uint32_t operation, uint64_t where, char *own,
                                                    size_t size_bytes, int pe)
{
    uint64_t ticket            = shmemx_device_draw_ticket(queue);
    shmemx_device_cell_t *cell = shmemx_device_cell_of(queue, ticket);
    char *data                 = shmemx_device_data_of(queue, ticket);
    unsigned polls             = 0;
    int ends;

    do {
        uint64_t turn = SHMEMX_DEVICE_LOAD_ACQUIRE(&cell->turn);

        if (turn == ticket) {
            cell->operation  = operation;
            cell->pe         = pe;
            cell->where      = where;
            cell->size_bytes = size_bytes;
            ends             = (operation == SHMEMX_DEVICE_PUT);
            shmemx_device_copy(data, own, ends ? size_bytes : 0);
            shmemx_device_submit(view, cell, ticket);
        } else if (turn == ticket + 2) {
            shmemx_device_copy(own, data, size_bytes);
            shmemx_device_release(queue, cell, ticket);
            ends = 1;
        } else {
            ends = SHMEMX_DEVICE_POLL(view, &polls) * 2;
        }
        SHMEMX_DEVICE_CONVERGE(ends);
    } while (!ends);
    return ends == 2;
}

/* Data by requests: of every size-th piece, from piece [rank] on. */
SHMEMX_DEVICE_FUNCTION void shmemx_device_move_by_queue(const shmemx_device_view_t *view,
                                                        shmemx_device_queue_t *queue,
                                                        uint32_t operation, uint64_t where,
                                                        char *own, size_t size_bytes, int pe,
                                                        uint32_t rank, uint32_t size)
{
    size_t at = (size_t)rank * SHMEMX_DEVICE_PIECE_BYTES;

    if (size_bytes <= sizeof(uint64_t)) {
        shmemx_device_move_by_cell(view, queue, operation, where, own, (rank == 0) ? size_bytes : 0,
                                   pe);
        return;
    }
    for (; at < size_bytes; at += (size_t)size * SHMEMX_DEVICE_PIECE_BYTES) {
        size_t piece = size_bytes - at;

        piece = (piece < SHMEMX_DEVICE_PIECE_BYTES) ? piece : (size_t)SHMEMX_DEVICE_PIECE_BYTES;
        if (shmemx_device_move_piece(view, queue, operation, where + at, own + at, piece, pe)) {
            return;
        }
    }
}

/* A PE of this host that sleeps is notified by the host. */
SHMEMX_DEVICE_FUNCTION void shmemx_device_notify(const shmemx_device_view_t *view,
                                                 const shmemx_device_place_t *place,
                                                 size_t size_bytes, int pe)
{
    if ((view->sleepers != 0) && (place->place >= 0)) {
        uintptr_t word = (uintptr_t)view->sleepers + ((uintptr_t)(uint32_t)place->place *
                                                      (uintptr_t)view->sleepers_stride_bytes);

        if (SHMEMX_DEVICE_PEEK((const uint32_t *)word) != 0) {
            (void)shmemx_device_ask(view, shmemx_device_own_queue(view), SHMEMX_DEVICE_NOTIFY,
                                    place->where, size_bytes, 0, 0, pe);
        }
    }
}

/* ---- this PE and the others ---- */

SHMEMX_DEVICE_FUNCTION int shmemx_device_my_pe(const shmemx_device_view_t *view)
{
    return view->my_pe;
}

SHMEMX_DEVICE_FUNCTION int shmemx_device_n_pes(const shmemx_device_view_t *view)
{
    return view->n_pes;
}

/** Where the device loads and stores that memory of @p pe; NULL: nowhere. */
SHMEMX_DEVICE_FUNCTION void *shmemx_device_ptr(const shmemx_device_view_t *view, const void *dest,
                                               int pe)
{
    return shmemx_device_resolve(view, dest, 1, pe).to;
}

/* ---- order ---- */

/* Where requests were made since the last one: the host orders, or completes, all before. The
 * device has a copy of the progress that it loaded last: without requests it loads nothing else. */
SHMEMX_DEVICE_FUNCTION void shmemx_device_order(const shmemx_device_view_t *view, int completes)
{
    uint32_t i;

    for (i = 0; i < view->queue_count; i++) {
        shmemx_device_queue_t *queue       = shmemx_device_queue_at(view, i);
        shmemx_device_progress_t *progress = shmemx_device_progress_of(queue);
        uint64_t *known                    = completes ? &queue->complete : &queue->ordered;
        uint32_t operation                 = completes ? SHMEMX_DEVICE_QUIET : SHMEMX_DEVICE_FENCE;
        uint64_t next                      = SHMEMX_DEVICE_LOAD_RELAXED(&queue->next);
        uint64_t now                       = SHMEMX_DEVICE_LOAD_ACQUIRE(known);

        if (now < next) {
            now = SHMEMX_DEVICE_LOAD_ACQUIRE(completes ? &progress->complete : &progress->ordered);
            SHMEMX_DEVICE_STORE_RELEASE(known, now);
        }
        if (now < next) {
            (void)shmemx_device_ask(view, queue, operation | SHMEMX_DEVICE_REPLIES, 0, 0, 0, 0, 0);
        }
    }
}

/** Operations of this thread before it are delivered to each PE before those after it. 0, or 1
 * where a peer has failed. */
SHMEMX_DEVICE_FUNCTION int shmemx_device_fence(const shmemx_device_view_t *view)
{
    SHMEMX_DEVICE_ORDER(__ATOMIC_RELEASE);
    shmemx_device_order(view, 0);
    return shmemx_device_has_seen_failure(view);
}

/** Operations of this thread are complete, and visible to all PEs. 0, or 1 where a peer has failed.
 */
SHMEMX_DEVICE_FUNCTION int shmemx_device_quiet(const shmemx_device_view_t *view)
{
    SHMEMX_DEVICE_ORDER(__ATOMIC_SEQ_CST);
    shmemx_device_order(view, 1);
    return shmemx_device_has_seen_failure(view);
}

/* ---- put and get; the _group forms are called by all threads of a group ----
 * Thread [rank] of [size] moves its part. The group synchronises before the call, when threads
 * other than those that read them wrote the data, and behind it, before one of its threads orders
 * or completes the operation. */

SHMEMX_DEVICE_FUNCTION size_t shmemx_device_cut(size_t size_bytes, uint32_t rank, uint32_t size)
{
    size_t words = (size_bytes + 63) / 64;
    size_t at    = words * rank / size * 64;

    return (at < size_bytes) ? at : size_bytes;
}

typedef struct shmemx_device_quad {
    uint32_t words[4];
} __attribute__((aligned(16))) shmemx_device_quad_t;

/* The part of one thread. Those of a GPU load and store neighbouring words together. */
SHMEMX_DEVICE_FUNCTION void shmemx_device_copy_part(char *to, const char *from, size_t size_bytes,
                                                    uint32_t rank, uint32_t size)
{
    size_t at = 0;

#if SHMEMX_DEVICE_IS_GPU
    if ((size > 1) && ((((uintptr_t)to | (uintptr_t)from) % 16) == 0)) {
        size_t i;

        at = size_bytes / 16 * 16;
        for (i = rank; i < at / 16; i += size) {
            ((shmemx_device_quad_t *)(void *)to)[i] =
                ((const shmemx_device_quad_t *)(const void *)from)[i];
        }
        if (rank + 1 != size) {
            return;
        }
        size = 1; /* the last thread has the rest */
        rank = 0;
    }
#endif
    to += at;
    from += at;
    size_bytes -= at;
    at = shmemx_device_cut(size_bytes, rank, size);
    shmemx_device_copy(to + at, from + at, shmemx_device_cut(size_bytes, rank + 1, size) - at);
}

SHMEMX_DEVICE_FUNCTION void shmemx_device_putmem_group(const shmemx_device_view_t *view, void *dest,
                                                       const void *source, size_t size_bytes,
                                                       int pe, uint32_t rank, uint32_t size)
{
    shmemx_device_place_t place = shmemx_device_resolve(view, dest, size_bytes, pe);

    if (place.to != NULL) {
        shmemx_device_copy_part(place.to, (const char *)source, size_bytes, rank, size);
        if (rank + 1 == size) {
            shmemx_device_notify(view, &place, size_bytes, pe);
        }
        return;
    }
    shmemx_device_move_by_queue(view, shmemx_device_own_queue(view), SHMEMX_DEVICE_PUT, place.where,
                                (char *)(uintptr_t)source, size_bytes, pe, rank, size);
}

SHMEMX_DEVICE_FUNCTION void shmemx_device_getmem_group(const shmemx_device_view_t *view, void *dest,
                                                       const void *source, size_t size_bytes,
                                                       int pe, uint32_t rank, uint32_t size)
{
    shmemx_device_place_t place = shmemx_device_resolve(view, source, size_bytes, pe);

    if (place.to != NULL) {
        shmemx_device_copy_part((char *)dest, place.to, size_bytes, rank, size);
        SHMEMX_DEVICE_ORDER(__ATOMIC_ACQUIRE);
        return;
    }
    shmemx_device_move_by_queue(view, shmemx_device_own_queue(view),
                                SHMEMX_DEVICE_GET | SHMEMX_DEVICE_REPLIES, place.where,
                                (char *)dest, size_bytes, pe, rank, size);
}

SHMEMX_DEVICE_FUNCTION void shmemx_device_putmem(const shmemx_device_view_t *view, void *dest,
                                                 const void *source, size_t size_bytes, int pe)
{
    shmemx_device_putmem_group(view, dest, source, size_bytes, pe, 0, 1);
}

SHMEMX_DEVICE_FUNCTION void shmemx_device_getmem(const shmemx_device_view_t *view, void *dest,
                                                 const void *source, size_t size_bytes, int pe)
{
    shmemx_device_getmem_group(view, dest, source, size_bytes, pe, 0, 1);
}

/* ---- atomic operations, on 4 and 8 bytes as bits ---- */

#define SHMEMX_DEVICE_DEFINE_ATOMIC(WORD)                                                          \
    SHMEMX_DEVICE_FUNCTION WORD shmemx_device_atomic_##WORD(uint32_t operation, WORD *to,          \
                                                            WORD value, WORD condition)            \
    {                                                                                              \
        switch (operation) {                                                                       \
        case SHMEMX_DEVICE_SET:                                                                    \
        case SHMEMX_DEVICE_SIGNAL_SET:                                                             \
            shmemx_device_store_##WORD(to, value);                                                 \
            return 0;                                                                              \
        case SHMEMX_DEVICE_SWAP:                                                                   \
            return shmemx_device_swap_##WORD(to, value);                                           \
        case SHMEMX_DEVICE_COMPARE_SWAP:                                                           \
            return shmemx_device_compare_swap_##WORD(to, condition, value);                        \
        case SHMEMX_DEVICE_ADD:                                                                    \
        case SHMEMX_DEVICE_SIGNAL_ADD:                                                             \
            return shmemx_device_add_##WORD(to, value);                                            \
        case SHMEMX_DEVICE_AND:                                                                    \
            return shmemx_device_and_##WORD(to, value);                                            \
        case SHMEMX_DEVICE_OR:                                                                     \
            return shmemx_device_or_##WORD(to, value);                                             \
        case SHMEMX_DEVICE_XOR:                                                                    \
            return shmemx_device_xor_##WORD(to, value);                                            \
        default:                                                                                   \
            return shmemx_device_load_##WORD(to);                                                  \
        }                                                                                          \
    }
SHMEMX_DEVICE_DEFINE_ATOMIC(uint32_t)
SHMEMX_DEVICE_DEFINE_ATOMIC(uint64_t)

/* The old bits, where the operation has SHMEMX_DEVICE_REPLIES or the device executes it. */
SHMEMX_DEVICE_FUNCTION uint64_t shmemx_device_atomic(const shmemx_device_view_t *view,
                                                     uint32_t operation, void *dest,
                                                     size_t size_bytes, uint64_t value,
                                                     uint64_t condition, int pe)
{
    shmemx_device_place_t place = shmemx_device_resolve(view, dest, size_bytes, pe);
    uint32_t what               = operation & ~(uint32_t)SHMEMX_DEVICE_REPLIES;
    uint64_t old;

    if ((place.to == NULL) || (((place.direct >> what) & 1) == 0)) {
        return shmemx_device_ask(view, shmemx_device_own_queue(view), operation, place.where,
                                 size_bytes, value, condition, pe);
    }
    if (what == SHMEMX_DEVICE_SIGNAL_ADD) {
        SHMEMX_DEVICE_ORDER(__ATOMIC_RELEASE); /* behind the data */
    }
    old = (size_bytes == 4)
              ? shmemx_device_atomic_uint32_t(what, (uint32_t *)(void *)place.to, (uint32_t)value,
                                              (uint32_t)condition)
              : shmemx_device_atomic_uint64_t(what, (uint64_t *)(void *)place.to, value, condition);
    if (what != SHMEMX_DEVICE_FETCH) {
        shmemx_device_notify(view, &place, size_bytes, pe);
    }
    return old;
}

/* ---- put with signal ---- */

#define SHMEMX_DEVICE_SIGNAL_IS_SET 0 /* the values of SHMEM_SIGNAL_SET and SHMEM_SIGNAL_ADD */
#define SHMEMX_DEVICE_SIGNAL_IS_ADD 1

/* Behind data that this thread has put to [pe], by the queue where data_by_queue. */
SHMEMX_DEVICE_FUNCTION void shmemx_device_signal(const shmemx_device_view_t *view, uint64_t *signal,
                                                 uint64_t value, int op, int pe, int data_by_queue)
{
    uint32_t operation =
        (op == SHMEMX_DEVICE_SIGNAL_IS_ADD) ? SHMEMX_DEVICE_SIGNAL_ADD : SHMEMX_DEVICE_SIGNAL_SET;

    if (data_by_queue && (shmemx_device_ptr(view, signal, pe) != NULL)) {
        (void)shmemx_device_quiet(view); /* a store overtakes requests */
    }
    (void)shmemx_device_atomic(view, operation, signal, sizeof *signal, value, 0, pe);
}

/** @p op: SHMEM_SIGNAL_SET or SHMEM_SIGNAL_ADD. */
SHMEMX_DEVICE_FUNCTION void shmemx_device_put_signal(const shmemx_device_view_t *view, void *dest,
                                                     const void *source, size_t size_bytes,
                                                     uint64_t *signal, uint64_t value, int op,
                                                     int pe)
{
    int is_direct = (shmemx_device_ptr(view, dest, pe) != NULL);

    shmemx_device_putmem(view, dest, source, size_bytes, pe);
    shmemx_device_signal(view, signal, value, op, pe, !is_direct && (size_bytes != 0));
}

/** @p arrived: a word that the group shares, 0 before and after. The last thread signals. */
SHMEMX_DEVICE_FUNCTION void
shmemx_device_put_signal_group(const shmemx_device_view_t *view, void *dest, const void *source,
                               size_t size_bytes, uint64_t *signal, uint64_t value, int op, int pe,
                               uint32_t rank, uint32_t size, uint32_t *arrived)
{
    int is_direct = (shmemx_device_ptr(view, dest, pe) != NULL);

    shmemx_device_putmem_group(view, dest, source, size_bytes, pe, rank, size);
    SHMEMX_DEVICE_ORDER_GROUP();
    if (shmemx_device_add_uint32_t(arrived, 1) + 1 != size) {
        return;
    }
    SHMEMX_DEVICE_POKE(arrived, 0);
    if (!is_direct) {
        (void)shmemx_device_fence(view); /* the other threads' queues */
    }
    shmemx_device_signal(view, signal, value, op, pe, !is_direct && (size_bytes != 0));
}

/* ---- waiting ---- */

#define SHMEMX_DEVICE_CMP_EQ 1 /* the values of SHMEM_CMP_EQ to SHMEM_CMP_LE */
#define SHMEMX_DEVICE_CMP_NE 2
#define SHMEMX_DEVICE_CMP_GT 3
#define SHMEMX_DEVICE_CMP_GE 4
#define SHMEMX_DEVICE_CMP_LT 5
#define SHMEMX_DEVICE_CMP_LE 6

#define SHMEMX_DEVICE_COMPARE(have, cmp, value)                                                    \
    (((cmp) == SHMEMX_DEVICE_CMP_EQ)   ? ((have) == (value))                                       \
     : ((cmp) == SHMEMX_DEVICE_CMP_NE) ? ((have) != (value))                                       \
     : ((cmp) == SHMEMX_DEVICE_CMP_GT) ? ((have) > (value))                                        \
     : ((cmp) == SHMEMX_DEVICE_CMP_LE) ? ((have) <= (value))                                       \
     : ((cmp) == SHMEMX_DEVICE_CMP_LT) ? ((have) < (value))                                        \
                                       : ((have) >= (value)))

/* The bits of a word of this PE, relaxed. A device that does not load it asks the host. */
SHMEMX_DEVICE_FUNCTION uint64_t shmemx_device_look(const shmemx_device_view_t *view,
                                                   const void *word, size_t size_bytes)
{
    if ((view->asks_for_own != 0) &&
        (shmemx_device_resolve(view, word, size_bytes, view->my_pe).to == NULL)) {
        return shmemx_device_atomic(view, (uint32_t)SHMEMX_DEVICE_FETCH | SHMEMX_DEVICE_REPLIES,
                                    (void *)(uintptr_t)word, size_bytes, 0, 0, view->my_pe);
    }
    return (size_bytes == 4) ? SHMEMX_DEVICE_PEEK((const uint32_t *)word)
                             : SHMEMX_DEVICE_PEEK((const uint64_t *)word);
}

/** The signal's value; where a peer has failed, it may not satisfy the comparison. */
SHMEMX_DEVICE_FUNCTION uint64_t shmemx_device_signal_wait_until(const shmemx_device_view_t *view,
                                                                const uint64_t *signal, int cmp,
                                                                uint64_t value)
{
    unsigned polls = 0;
    uint64_t have  = shmemx_device_look(view, signal, sizeof *signal);

    while (!SHMEMX_DEVICE_COMPARE(have, cmp, value) && !SHMEMX_DEVICE_POLL(view, &polls)) {
        have = shmemx_device_look(view, signal, sizeof *signal);
    }
    SHMEMX_DEVICE_ORDER(__ATOMIC_ACQUIRE);
    return have;
}

/* ---- types ---- */

/** X(name, type): of atomic operations and waits. */
#define SHMEMX_DEVICE_AMO_TYPES(X)                                                                 \
    X(int, int)                                                                                    \
    X(long, long)                                                                                  \
    X(longlong, long long)                                                                         \
    X(uint, unsigned int)                                                                          \
    X(ulong, unsigned long)                                                                        \
    X(ulonglong, unsigned long long)                                                               \
    X(int32, int32_t)                                                                              \
    X(int64, int64_t)                                                                              \
    X(uint32, uint32_t)                                                                            \
    X(uint64, uint64_t)                                                                            \
    X(size, size_t)                                                                                \
    X(ptrdiff, ptrdiff_t)

/** Of puts and gets, besides. */
#define SHMEMX_DEVICE_RMA_TYPES(X)                                                                 \
    X(float, float)                                                                                \
    X(double, double)                                                                              \
    X(char, char)                                                                                  \
    X(schar, signed char)                                                                          \
    X(short, short)                                                                                \
    X(uchar, unsigned char)                                                                        \
    X(ushort, unsigned short)                                                                      \
    X(int8, int8_t)                                                                                \
    X(int16, int16_t)                                                                              \
    X(uint8, uint8_t)                                                                              \
    X(uint16, uint16_t)

#define SHMEMX_DEVICE_DEFINE_RMA(NAME, TYPE)                                                       \
    SHMEMX_DEVICE_FUNCTION void shmemx_device_##NAME##_p(const shmemx_device_view_t *view,         \
                                                         TYPE *dest, TYPE value, int pe)           \
    {                                                                                              \
        shmemx_device_putmem(view, dest, &value, sizeof value, pe);                                \
    }                                                                                              \
    SHMEMX_DEVICE_FUNCTION TYPE shmemx_device_##NAME##_g(const shmemx_device_view_t *view,         \
                                                         const TYPE *source, int pe)               \
    {                                                                                              \
        TYPE value = 0;                                                                            \
        shmemx_device_getmem(view, &value, source, sizeof value, pe);                              \
        return value;                                                                              \
    }

#define SHMEMX_DEVICE_REPLYING(OPERATION) ((uint32_t)(OPERATION) | SHMEMX_DEVICE_REPLIES)

#define SHMEMX_DEVICE_DEFINE_AMO(NAME, TYPE)                                                       \
    SHMEMX_DEVICE_FUNCTION TYPE shmemx_device_##NAME##_atomic_fetch(                               \
        const shmemx_device_view_t *view, const TYPE *source, int pe)                              \
    {                                                                                              \
        return (TYPE)shmemx_device_atomic(view, SHMEMX_DEVICE_REPLYING(SHMEMX_DEVICE_FETCH),       \
                                          (void *)(uintptr_t)source, sizeof(TYPE), 0, 0, pe);      \
    }                                                                                              \
    SHMEMX_DEVICE_FUNCTION void shmemx_device_##NAME##_atomic_set(                                 \
        const shmemx_device_view_t *view, TYPE *dest, TYPE value, int pe)                          \
    {                                                                                              \
        (void)shmemx_device_atomic(view, SHMEMX_DEVICE_SET, dest, sizeof(TYPE), (uint64_t)value,   \
                                   0, pe);                                                         \
    }                                                                                              \
    SHMEMX_DEVICE_FUNCTION TYPE shmemx_device_##NAME##_atomic_swap(                                \
        const shmemx_device_view_t *view, TYPE *dest, TYPE value, int pe)                          \
    {                                                                                              \
        return (TYPE)shmemx_device_atomic(view, SHMEMX_DEVICE_REPLYING(SHMEMX_DEVICE_SWAP), dest,  \
                                          sizeof(TYPE), (uint64_t)value, 0, pe);                   \
    }                                                                                              \
    SHMEMX_DEVICE_FUNCTION TYPE shmemx_device_##NAME##_atomic_compare_swap(                        \
        const shmemx_device_view_t *view, TYPE *dest, TYPE cond, TYPE value, int pe)               \
    {                                                                                              \
        return (TYPE)shmemx_device_atomic(                                                         \
            view, SHMEMX_DEVICE_REPLYING(SHMEMX_DEVICE_COMPARE_SWAP), dest, sizeof(TYPE),          \
            (uint64_t)value, (uint64_t)cond, pe);                                                  \
    }                                                                                              \
    SHMEMX_DEVICE_FUNCTION TYPE shmemx_device_##NAME##_atomic_fetch_add(                           \
        const shmemx_device_view_t *view, TYPE *dest, TYPE value, int pe)                          \
    {                                                                                              \
        return (TYPE)shmemx_device_atomic(view, SHMEMX_DEVICE_REPLYING(SHMEMX_DEVICE_ADD), dest,   \
                                          sizeof(TYPE), (uint64_t)value, 0, pe);                   \
    }                                                                                              \
    SHMEMX_DEVICE_FUNCTION void shmemx_device_##NAME##_atomic_add(                                 \
        const shmemx_device_view_t *view, TYPE *dest, TYPE value, int pe)                          \
    {                                                                                              \
        (void)shmemx_device_atomic(view, SHMEMX_DEVICE_ADD, dest, sizeof(TYPE), (uint64_t)value,   \
                                   0, pe);                                                         \
    }                                                                                              \
    SHMEMX_DEVICE_FUNCTION TYPE shmemx_device_##NAME##_atomic_fetch_inc(                           \
        const shmemx_device_view_t *view, TYPE *dest, int pe)                                      \
    {                                                                                              \
        return shmemx_device_##NAME##_atomic_fetch_add(view, dest, (TYPE)1, pe);                   \
    }                                                                                              \
    SHMEMX_DEVICE_FUNCTION void shmemx_device_##NAME##_atomic_inc(                                 \
        const shmemx_device_view_t *view, TYPE *dest, int pe)                                      \
    {                                                                                              \
        shmemx_device_##NAME##_atomic_add(view, dest, (TYPE)1, pe);                                \
    }                                                                                              \
    SHMEMX_DEVICE_FUNCTION void shmemx_device_##NAME##_atomic_xor(                                 \
        const shmemx_device_view_t *view, TYPE *dest, TYPE value, int pe)                          \
    {                                                                                              \
        (void)shmemx_device_atomic(view, SHMEMX_DEVICE_XOR, dest, sizeof(TYPE), (uint64_t)value,   \
                                   0, pe);                                                         \
    }                                                                                              \
    /** 0, or 1 where a peer has failed before the comparison held. */                             \
    SHMEMX_DEVICE_FUNCTION int shmemx_device_##NAME##_wait_until(                                  \
        const shmemx_device_view_t *view, const TYPE *ivar, int cmp, TYPE value)                   \
    {                                                                                              \
        unsigned polls = 0;                                                                        \
        TYPE have      = (TYPE)shmemx_device_look(view, ivar, sizeof(TYPE));                       \
        while (!SHMEMX_DEVICE_COMPARE(have, cmp, value)) {                                         \
            if (SHMEMX_DEVICE_POLL(view, &polls)) {                                                \
                return 1;                                                                          \
            }                                                                                      \
            have = (TYPE)shmemx_device_look(view, ivar, sizeof(TYPE));                             \
        }                                                                                          \
        SHMEMX_DEVICE_ORDER(__ATOMIC_ACQUIRE);                                                     \
        return 0;                                                                                  \
    }

SHMEMX_DEVICE_AMO_TYPES(SHMEMX_DEVICE_DEFINE_RMA)
SHMEMX_DEVICE_RMA_TYPES(SHMEMX_DEVICE_DEFINE_RMA)
SHMEMX_DEVICE_AMO_TYPES(SHMEMX_DEVICE_DEFINE_AMO)

/* ---- barrier ---- */

/** Of all PEs, called by one thread of each at a time, of one device; quiet for that thread first.
 * Dissemination over words of the library's that only rise. 0, or 1 where a peer has failed. */
SHMEMX_DEVICE_FUNCTION int shmemx_device_barrier_all(const shmemx_device_view_t *view)
{
    uint64_t *words = (uint64_t *)(uintptr_t)view->barrier;
    uint64_t *last  = &words[SHMEMX_DEVICE_BARRIER_ROUNDS];
    uint64_t number = 1 + shmemx_device_look(view, last, sizeof *last);
    int distance    = 1;
    int round       = 0;

    shmemx_device_uint64_atomic_set(view, last, number, view->my_pe);
    if (shmemx_device_quiet(view)) {
        return 1;
    }
    for (; distance < view->n_pes; distance *= 2, round++) {
        int peer = (view->my_pe + distance) % view->n_pes;

        shmemx_device_uint64_atomic_set(view, &words[round], number, peer);
        if (shmemx_device_uint64_wait_until(view, &words[round], SHMEMX_DEVICE_CMP_GE, number)) {
            return 1;
        }
    }
    return 0;
}

#if defined(_OPENMP)
#pragma omp end declare target
#endif
#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#if defined(SHMEMX_DEVICE_NAMES)
#include <shmem/device_names.h>
#endif

#endif /* MEMSPAN_SHMEMX_DEVICE_H */
