/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_NETWORK_RECORD_H
#define MEMSPAN_SHMEM_NETWORK_RECORD_H

/* Records of requests that wait for replies. A message names its record by a number, never by an
 * address, so a reply that no record awaits is recognised, with any contents.
 *
 * A number is an index and a generation, which changes with each use of the index. A record counts
 * its replies twice: `due` is decremented before a reply is handled, `left` behind it. So a reply
 * that comes once more finds nothing due, and the caller that waits for `left` may give the record
 * back. Any thread takes, queries and gives; finding is under the main channel's lock. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct msp_network_record {
    char *dest;            /* memory of the host */
    uint64_t size_bytes;   /* of the data of all replies */
    ptrdiff_t block_bytes; /* of data that is scattered there; 0: it is not; */
    ptrdiff_t stride_bytes;
    int pe;                        /* that replies */
    bool is_unwaited;              /* no caller waits: given back with the last reply */
    _Atomic uint64_t *outstanding; /* of the stream; decremented with each reply; or NULL */
    _Atomic uint32_t left;
    _Atomic uint32_t due;
    uint32_t index;
    _Atomic uint32_t generation; /* 1 .. MSP_NETWORK_GENERATIONS - 1 */
    _Atomic uint32_t next;       /* of the unused: its index + 1 */
};

enum {
    MSP_NETWORK_RECORD_BITS = 20, /* of an index */
    MSP_NETWORK_GENERATIONS = 1 << (32 - MSP_NETWORK_RECORD_BITS),
};

/* Fatal, for @p call, without memory. */
struct msp_network_record *msp_network_record_take(const char *call, int pe, void *dest,
                                                   uint64_t size_bytes);
/* Nothing is left. */
void msp_network_record_give(struct msp_network_record *record);

/* One more reply is awaited: its number, which is not 0. */
uint32_t msp_network_record_ask(struct msp_network_record *record);

/* The record of a reply with @p data_bytes for place @p at of its data; NULL: it awaits no such
 * reply of that PE. */
struct msp_network_record *msp_network_record_find(uint32_t number, int pe, uint64_t at,
                                                   uint64_t data_bytes);

/* Without the peers' help. */
void msp_network_record_close(void);

#endif /* MEMSPAN_SHMEM_NETWORK_RECORD_H */
