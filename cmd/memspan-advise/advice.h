/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CMD_ADVISE_ADVICE_H
#define CMD_ADVISE_ADVICE_H

/* From how memory is used to where it should be. */

#include "cmd/memspan-advise/profile.h"

/* Set rate, stream, use and space of every site, and sort the sites by their memory, the largest
 * first. At most @p fast_bytes are proposed for high_bw: those that are used most for their size.
 */
void advice_make(struct profile *profile, uint64_t fast_bytes);

/* "bandwidth", "latency", "cold", "hot", "unknown". */
const char *advice_use(enum use use);

#endif /* CMD_ADVISE_ADVICE_H */
