/* SPDX-License-Identifier: BSD-3-Clause */
/* proof.c: SipHash-2-4. */

#include "shmem/network/tcp/proof.h"
#include <string.h>

enum { ROUNDS = 2, LAST_ROUNDS = 4 };

static uint64_t rotate(uint64_t word, unsigned bits)
{
    return (word << bits) | (word >> (64 - bits));
}

static void mix(uint64_t v[4], unsigned rounds)
{
    while (rounds-- > 0) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotate(v[1], 13) ^ v[0];
        v[3] = rotate(v[3], 16) ^ v[2];
        v[0] = rotate(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = rotate(v[1], 17) ^ v[2];
        v[3] = rotate(v[3], 21) ^ v[0];
        v[2] = rotate(v[2], 32);
    }
}

static void take_word(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    mix(v, ROUNDS);
    v[0] ^= word;
}

/* Words are little-endian, the last one with the size in its highest byte. */
uint64_t msp_tcp_siphash(const struct msp_tcp_key *key, const void *bytes, size_t size_bytes)
{
    const unsigned char *at = bytes;
    uint64_t last           = (uint64_t)size_bytes << 56;
    uint64_t v[4]           = {
                  key->words[0] ^ UINT64_C(0x736f6d6570736575), key->words[1] ^ UINT64_C(0x646f72616e646f6d),
                  key->words[0] ^ UINT64_C(0x6c7967656e657261), key->words[1] ^ UINT64_C(0x7465646279746573)};
    size_t left;

    for (left = size_bytes; left >= sizeof(uint64_t); left -= sizeof(uint64_t)) {
        uint64_t word = 0;
        unsigned i;

        for (i = 0; i < sizeof word; i++) {
            word |= (uint64_t)*at++ << (8 * i);
        }
        take_word(v, word);
    }
    while (left > 0) {
        left--;
        last |= (uint64_t)at[left] << (8 * left);
    }
    take_word(v, last);
    v[2] ^= 0xff;
    mix(v, LAST_ROUNDS);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t msp_tcp_prove(const struct msp_tcp_key *key, enum msp_tcp_end end,
                       const struct msp_tcp_greeting *greeting)
{
    const uint64_t text[] = {end, greeting->asked, greeting->answered,
                             ((uint64_t)greeting->pe << 32) | greeting->to, greeting->shares};

    return msp_tcp_siphash(key, text, sizeof text);
}
