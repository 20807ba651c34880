/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_LAUNCH_H
#define MEMSPAN_LAUNCH_H

/** @file launch.h
 * How a launcher starts the PEs (processes) of an OpenSHMEM job on one node without a library
 * between them: oshrun does, and any other program may.
 *
 * The launcher makes one shared memory file, the *job file* (memfd_create, grown to
 * memspan_launch_size() bytes and sealed against shrinking and growing), fills in the header, and
 * starts every PE with that file open and with
 *
 *     SHMEMX_LAUNCH=FD:PE:COOKIE:PID       (decimal but for the cookie, which is hexadecimal)
 *
 * in its environment. PID is the launcher's: if a process between them has closed the descriptor,
 * the PE opens /proc/PID/fd/FD. A PE that calls shmem_init maps the file. It finds in it its
 * number, the number of PEs, an exchange area per PE (the entries that this PE distributes to the
 * others) and a barrier.
 *
 *     | header | one record per PE | one exchange area per PE |
 *
 * The launcher holds a lock (F_SETLK, writing) on the first byte of the file for as long as it
 * lives: without that lock, the launcher is dead and PEs end the job themselves.
 *
 * Ownership: the launcher writes the header's first part before it starts the first PE; then that
 *            part is constant. A PE's record and exchange area are written by that PE alone.
 * Threads:   words marked "atomic" are accessed by __atomic builtins; a PE that stores
 *            barrier_generation or abort_ready wakes the waiters (futex, not private).
 * Trust:     the file belongs to one user. A launcher trusts no content from PEs beyond its bounds:
 * it signals the processes that it started, not the pid of a record. */

#include <memspan/status.h> /* MEMSPAN_BEGIN_DECLS */
#include <stddef.h>
#include <stdint.h>

#define MEMSPAN_LAUNCH_VARIABLE "SHMEMX_LAUNCH"
#define MEMSPAN_LAUNCH_MAGIC    UINT64_C(0x626f6a7370616e31)
#define MEMSPAN_LAUNCH_VERSION  1u /**< changes when the layout does */

#define MEMSPAN_LAUNCH_PES_MAX          65536u
#define MEMSPAN_LAUNCH_EXCHANGE_BYTES   65536u /**< of each PE; untouched pages take no memory */
#define MEMSPAN_LAUNCH_MESSAGE_SIZE_MAX 1024u

MEMSPAN_BEGIN_DECLS

/** State of a PE. */
enum memspan_launch_state {
    MEMSPAN_LAUNCH_STARTED,   /**< has not called shmem_init yet */
    MEMSPAN_LAUNCH_ATTACHED,  /**< between shmem_init and shmem_finalize */
    MEMSPAN_LAUNCH_FINALIZED, /**< after its last shmem_finalize; may attach again */
};

/** Record of one PE. */
struct memspan_launch_pe {
    uint32_t pid;                 /**< atomic: the process that attached */
    uint32_t state;               /**< atomic: enum memspan_launch_state */
    uint32_t exchange_used_bytes; /**< atomic: end of the complete entries */
    uint32_t reserved;
    uint64_t last_digest; /**< atomic: of key and data of the last entry; 0: unknown */
    uint32_t reserved_too[10];
};

/** An entry of an exchange area: this, the key, the data, padding to a multiple of 8. Of several
 * entries with one key the last counts. */
struct memspan_launch_entry {
    uint32_t key_size_bytes; /**< without a null at the end */
    uint32_t data_size_bytes;
};

struct memspan_launch_header {
    uint64_t magic;
    uint32_t version;
    uint32_t pe_count;
    uint64_t cookie; /**< equals that of SHMEMX_LAUNCH: this is the right file */
    uint64_t size_bytes;
    uint32_t exchange_size_bytes; /**< of each PE */
    uint32_t launcher_pid;        /**< gets SIGCHLD when a PE has set abort_ready */
    char job_id[64];              /**< unique on this machine; null-terminated */
    char launcher[32];            /**< "oshrun 0.1.0": for messages */

    /** The barrier: the last PE to arrive sets barrier_arrived to 0, then adds 1 to
     * barrier_generation. */
    uint32_t barrier_arrived;    /**< atomic */
    uint32_t barrier_generation; /**< atomic, futex */

    /** The launcher is ending the job: a PE that waits for another reports no failed peer. */
    uint32_t is_ending; /**< atomic */

    /** shmem_global_exit and fatal errors: the first PE wins. It changes abort_by from 0 to its
     * number + 1, then stores status and message, then 1 in abort_ready. The launcher prints the
     * message, ends every PE and exits with the status. */
    uint32_t abort_by;    /**< atomic */
    uint32_t abort_ready; /**< atomic */
    int32_t abort_status;
    char abort_message[MEMSPAN_LAUNCH_MESSAGE_SIZE_MAX]; /**< "" for none */
    uint32_t reserved[32];
};

/** Size of the job file. */
static inline uint64_t memspan_launch_size(uint32_t pe_count, uint32_t exchange_size_bytes)
{
    return sizeof(struct memspan_launch_header) +
           pe_count * (sizeof(struct memspan_launch_pe) + exchange_size_bytes);
}

/** The record of a PE in [0, pe_count). */
static inline struct memspan_launch_pe *
memspan_launch_pe_record(struct memspan_launch_header *header, uint32_t pe)
{
    void *first = header + 1;

    return MEMSPAN_CAST(struct memspan_launch_pe *, first) + pe;
}

/** The exchange area of a PE in [0, pe_count): exchange_size_bytes bytes. */
static inline char *memspan_launch_exchange(struct memspan_launch_header *header, uint32_t pe)
{
    void *first = memspan_launch_pe_record(header, header->pe_count);

    return MEMSPAN_CAST(char *, first) + sizeof(char) * header->exchange_size_bytes * pe;
}

MEMSPAN_END_DECLS
#endif /* MEMSPAN_LAUNCH_H */
