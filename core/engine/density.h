/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_CORE_ENGINE_DENSITY_H
#define MEMSPAN_CORE_ENGINE_DENSITY_H

/* Whether large blocks are touched in full, which decides about huge pages.
 *
 * Memory that is touched in full is there five times as fast with huge pages as without. Of memory
 * that is touched here and there each touched page costs 2 MiB, and a process with a limit dies of
 * that. The kernel decides at the first touch, so the advice has to come before; and pages of
 * 2 MiB hide afterwards what was touched. So huge pages are for what base pages have proven:
 *
 * A block that is a chunk of its own has base pages until blocks of about its size (a power of two)
 * were seen touched in full. How much was seen so at once is what may have huge pages at once:
 * whatever the program does with them, they cost no more than was in use before. One block in
 * PROBE_TURNS has base pages all the same, to be measured, and a block that was sparse when it was
 * freed takes its bytes off. A live block that is full is advised, too: the kernel's daemon
 * collapses its pages.
 *
 * A chunk that blocks of 1 MiB and more are cut from has huge pages once the last one was full; 2
 * MiB of it keep base pages, to be measured. */

#include <memspan/status.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct msp_chunk;
struct msp_request;

/* Of the chunks of one provider that are divided. All zero: nothing is known. Threads that take
 * chunks at once may mix up two of them: the answer is about one or the other. */
struct msp_density {
    _Atomic(const unsigned char *) address; /* the next measurement; NULL: nothing */
    atomic_size_t size_bytes;
    atomic_int state;
};

/* The pages of a chunk that is one block. */
enum msp_chunk_pages {
    MSP_PAGES_GIVEN, /* there was no choice */
    MSP_PAGES_SMALL, /* to be measured */
    MSP_PAGES_FULL,  /* small, and seen touched in full */
    MSP_PAGES_HUGE,
};

/* msp_chunk_take() for a chunk of one block. */
memspan_status_t msp_density_take_block(const struct msp_request *request,
                                        struct msp_chunk **chunk_p);

/* The chunk of one block goes back, or gets another record: it is measured a last time. */
void msp_density_leave(struct msp_chunk *chunk);

/* msp_chunk_take() for a chunk that is divided, first of all for a block of @p need_bytes. */
memspan_status_t msp_density_take_divided(const struct msp_request *request, size_t need_bytes,
                                          struct msp_chunk **chunk_p);

/* Pages of a divided chunk may be huge again, but for those that are to be measured. */
void msp_density_allow_again(const struct msp_chunk *chunk);

/* Whether base pages are for a chunk of one block that gets @p size_bytes: it is advised to have
 * huge pages when it first has space for one, and its own touched pages count. */
bool msp_density_stays_sparse(const struct msp_chunk *chunk, size_t size_bytes);

#endif /* MEMSPAN_CORE_ENGINE_DENSITY_H */
