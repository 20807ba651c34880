/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_LAUNCH_H
#define MEMSPAN_LAUNCH_H

/** @file launch.h
 * How a launcher starts the PEs (processes) of an OpenSHMEM job on one node without any library in
 * between: oshrun does, and any other program may.
 *
 * The launcher makes one shared memory file, the *job file* (memfd_create, grown to
 * memspan_launch_size() bytes and sealed against shrinking and growing), fills in the header, and
 * starts every PE with that file open and with
 *
 *     SHMEMX_LAUNCH=FD:PE:COOKIE:PID       (decimal but for the cookie, which is hexadecimal)
 *
 * in its environment. PID is the launcher: where something in between has closed the descriptor,
 * the file is found as /proc/PID/fd/FD. A PE that calls shmem_init maps the file and finds in it
 * who it is, how many there are, a board on which every PE publishes what the others must know, and
 * a fence.
 *
 *     | header | one record per PE | one board per PE |
 *
 * The launcher keeps a lock (F_SETLK, writing) on the first byte of the file for as long as it
 * lives: a PE that finds none there knows that nobody will end the job for it.
 *
 * Ownership: the launcher writes the header's first part before it starts the first PE, nobody
 *            after that. A PE's record and board are written by that PE alone.
 * Threads:   words marked "atomic" are read and written by __atomic builtins; a PE that stores
 *            fence_generation or abort_ready wakes those who sleep on it (futex, not private).
 * Trust:     all of it belongs to one user. A launcher still believes nothing that PEs wrote beyond
 *            its own bounds: it signals the processes that it started, not the pid of a record. */

#include <memspan/status.h> /* MEMSPAN_BEGIN_DECLS */
#include <stddef.h>
#include <stdint.h>

#define MEMSPAN_LAUNCH_VARIABLE "SHMEMX_LAUNCH"
#define MEMSPAN_LAUNCH_MAGIC    UINT64_C(0x626f6a7370616e31)
#define MEMSPAN_LAUNCH_VERSION  1u /**< changes when the layout does */

#define MEMSPAN_LAUNCH_PES_MAX          65536u
#define MEMSPAN_LAUNCH_BOARD_BYTES      65536u /**< of each PE; pages not written to cost nothing */
#define MEMSPAN_LAUNCH_MESSAGE_SIZE_MAX 1024u

MEMSPAN_BEGIN_DECLS

/** Where a PE is in its life. */
enum memspan_launch_state {
    MEMSPAN_LAUNCH_STARTED,   /**< has not called shmem_init yet */
    MEMSPAN_LAUNCH_ATTACHED,  /**< between shmem_init and shmem_finalize */
    MEMSPAN_LAUNCH_FINALIZED, /**< after its last shmem_finalize; may attach again */
};

/** What a PE tells of itself. */
struct memspan_launch_pe {
    uint32_t pid;              /**< atomic: the process that attached */
    uint32_t state;            /**< atomic: enum memspan_launch_state */
    uint32_t board_used_bytes; /**< atomic: entries beyond are not yet published */
    uint32_t reserved[13];
};

/** An entry of a board: this, the key, the data; then up to the next multiple of 8. Of several
 * entries with one key the last is meant. */
struct memspan_launch_entry {
    uint32_t key_size_bytes; /**< without a null at the end */
    uint32_t data_size_bytes;
};

struct memspan_launch_header {
    uint64_t magic;
    uint32_t version;
    uint32_t pe_count;
    uint64_t cookie; /**< that of SHMEMX_LAUNCH: the descriptor leads to the file that is meant */
    uint64_t size_bytes;
    uint32_t board_size_bytes; /**< of each PE */
    uint32_t launcher_pid;     /**< gets SIGCHLD when a PE has set abort_ready */
    char job_id[64];   /**< of this job and of no other on this machine; a null at the end */
    char launcher[32]; /**< "oshrun 0.1.0": for messages */

    /** The fence: the last PE to arrive sets fence_arrived to 0 and adds 1 to fence_generation. */
    uint32_t fence_arrived;    /**< atomic */
    uint32_t fence_generation; /**< atomic, futex */

    /** The launcher is ending the job: who waits for another PE need not look for a culprit. */
    uint32_t is_ending; /**< atomic */

    /** shmem_global_exit and fatal errors: the first PE wins. It stores its number + 1 in abort_by
     * (which must be 0), then status and message, then 1 in abort_ready. The launcher prints the
     * message, ends every PE and makes the status its own. */
    uint32_t abort_by;    /**< atomic */
    uint32_t abort_ready; /**< atomic */
    int32_t abort_status;
    char abort_message[MEMSPAN_LAUNCH_MESSAGE_SIZE_MAX]; /**< "" for none */
    uint32_t reserved[32];
};

/** Size of the job file. */
static inline uint64_t memspan_launch_size(uint32_t pe_count, uint32_t board_size_bytes)
{
    return sizeof(struct memspan_launch_header) +
           pe_count * (sizeof(struct memspan_launch_pe) + board_size_bytes);
}

/** The record of a PE in [0, pe_count). */
static inline struct memspan_launch_pe *
memspan_launch_pe_record(struct memspan_launch_header *header, uint32_t pe)
{
    void *first = header + 1;

    return MEMSPAN_CAST(struct memspan_launch_pe *, first) + pe;
}

/** The board of a PE in [0, pe_count): board_size_bytes bytes. */
static inline char *memspan_launch_board(struct memspan_launch_header *header, uint32_t pe)
{
    void *first = memspan_launch_pe_record(header, header->pe_count);

    return MEMSPAN_CAST(char *, first) + sizeof(char) * header->board_size_bytes * pe;
}

MEMSPAN_END_DECLS
#endif /* MEMSPAN_LAUNCH_H */
