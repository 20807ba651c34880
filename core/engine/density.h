/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_ENGINE_DENSITY_H
#define MEMSPAN_CORE_ENGINE_DENSITY_H

/* Whether a provider's large blocks are touched in full, which decides about huge pages.
 *
 * Memory that is touched in full is there five times as fast with huge pages as without. Of memory
 * that is touched here and there each touched page costs 2 MiB, and its first touch 20 to 35 times
 * the time of a base page. The kernel decides at the first touch, so the advice has to come before:
 * the program's use of the last chunk predicts its use of the next one. While nothing is known,
 * blocks of less than direct_bytes have base pages, because many of them come at once and then cost
 * most; larger ones have huge pages. Each answer is measured again with the next chunk: of a
 * divided chunk with huge pages, 2 MiB keep base pages for that. */

#include <memspan/status.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct msp_chunk;
struct msp_request;

/* All zero: nothing is known. Threads that take chunks at once may mix up two of them: the answer
 * is about one or the other. */
struct msp_density {
    _Atomic(const unsigned char *) address; /* the next measurement; NULL: nothing */
    atomic_size_t size_bytes;
    atomic_bool
        huge; /* it has huge pages: full regions prove little, empty ones prove sparse use */
    atomic_int state;
};

/* msp_chunk_take() for a chunk of one block. */
memspan_status_t msp_density_take_block(const struct msp_request *request,
                                        struct msp_chunk **chunk_p);

/* msp_chunk_take() for a chunk that is divided, first of all for a block of @p need_bytes. */
memspan_status_t msp_density_take_divided(const struct msp_request *request, size_t need_bytes,
                                          struct msp_chunk **chunk_p);

/* Whether base pages are for a chunk of one block that gets @p size_bytes: it is advised to have
 * huge pages when it first has space for one, and its own touched pages count for more than other
 * blocks.
 */
bool msp_density_stays_sparse(const struct msp_chunk *chunk, size_t size_bytes);

#endif /* MEMSPAN_CORE_ENGINE_DENSITY_H */
