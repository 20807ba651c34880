/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_VERBS_H
#define MEMQUERY_VERBS_H

/* Does the driver of a network card accept memory behind a dma-buf? libibverbs is opened on
 * demand. */

#include <stddef.h>
#include <stdint.h>

enum verbs_end {
    VERBS_NO_CARD,   /* no card, or no libibverbs */
    VERBS_REFUSED,   /* text and native: which card, and the error */
    VERBS_REGISTERED /* text: which card */
};

struct verbs_answer {
    enum verbs_end end;
    char text[200];
    char native[200];
};

/* Register @p size_bytes from @p offset of the descriptor, which are at @p address here, with
 * the first card that accepts them, and deregister them. */
void verbs_try(int fd, uint64_t offset, size_t size_bytes, const void *address,
               struct verbs_answer *answer_p);

#endif /* MEMQUERY_VERBS_H */
