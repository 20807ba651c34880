/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_NETWORK_TCP_PROOF_H
#define MEMSPAN_SHMEM_NETWORK_TCP_PROOF_H

/* Proofs of the greeting: SipHash-2-4 (Aumasson and Bernstein, 2012) of both ends' random numbers,
 * by the key that the card of the listening PE has. */

#include <stddef.h>
#include <stdint.h>

struct msp_tcp_key {
    uint64_t words[2];
};

uint64_t msp_tcp_siphash(const struct msp_tcp_key *key, const void *bytes, size_t size_bytes);

/* The results of a greeting. */
struct msp_tcp_greeting {
    uint64_t asked;    /* random, of the PE that connects */
    uint64_t answered; /* random, of the one that listens */
    uint32_t pe;       /* that connects, */
    uint32_t to;       /* to that one */
    uint64_t shares;   /* the connection is for both directions */
};

enum msp_tcp_end { MSP_TCP_LISTENER = 1, MSP_TCP_CALLER = 2 };

/* That @p end has the key. */
uint64_t msp_tcp_prove(const struct msp_tcp_key *key, enum msp_tcp_end end,
                       const struct msp_tcp_greeting *greeting);

#endif /* MEMSPAN_SHMEM_NETWORK_TCP_PROOF_H */
