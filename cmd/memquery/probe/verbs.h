/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_VERBS_H
#define MEMQUERY_VERBS_H

/* Whether a network card's driver takes memory behind a dma-buf. libibverbs is opened when asked.
 */

#include <stddef.h>
#include <stdint.h>

enum verbs_end {
    VERBS_NO_CARD,   /* there is none, or no library to ask */
    VERBS_REFUSED,   /* text and native say by which card, and how */
    VERBS_REGISTERED /* text says by which card */
};

struct verbs_answer {
    enum verbs_end end;
    char text[200];
    char native[200];
};

/* Have the first card that can register @p size_bytes from @p offset of the descriptor, which are
 * at @p address here, and take it back. */
void verbs_try(int fd, uint64_t offset, size_t size_bytes, const void *address,
               struct verbs_answer *answer_p);

#endif /* MEMQUERY_VERBS_H */
