/* SPDX-License-Identifier: BSD-3-Clause */
/* tcp_proof.c: the keyed hash with which PEs prove that they are of one job. */

#include "shmem/network/tcp/tcp.h"
#include <criterion/criterion.h>

/* The vectors of the paper's appendix, and of its reference for 8 bytes. */
Test(tcp_proof, vectors)
{
    const struct msp_tcp_key known = {{UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)}};
    unsigned char text[15];
    unsigned i;

    for (i = 0; i < sizeof text; i++) {
        text[i] = (unsigned char)i;
    }
    cr_expect_eq(msp_tcp_siphash(&known, text, 15), UINT64_C(0xa129ca6149be45e5));
    cr_expect_eq(msp_tcp_siphash(&known, text, 0), UINT64_C(0x726fdb47dd0e0e31));
    cr_expect_eq(msp_tcp_siphash(&known, text, 8), UINT64_C(0x93f5f5799a932462));
}
