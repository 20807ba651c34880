/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_TRANSPORT_DRIVER_SHARE_H
#define MEMSPAN_SHMEM_TRANSPORT_DRIVER_SHARE_H

/* Memory of devices that others cannot map, but whose driver opens it for them: their puts and gets
 * are then copies of the driver's, without the owner. Atomics remain the owner's. */

#include "core/base/platform.h"
#include <memspan/share.h>
#include <stdatomic.h>

enum { MSP_REMOTE_SHARE_MAX = 64 }; /* memories of lower numbers; others are served */

/* What the owner tells: in its slot of the node's control memory, by number. */
struct msp_remote_token {
    atomic_uint size_bytes; /* 0: it shares nothing */
    char bytes[MEMSPAN_SHARE_TOKEN_MAX_BYTES];
};

/* Tell the others how to open @p base, if its driver has a way. */
void msp_remote_share_offer(struct msp_remote_token *token, const void *base, int device);

/* Where memspan_copy() reaches what the token is of; NULL: in no way. Opened when first asked.
 * @p number, @p local_index: whose it is. */
char *msp_remote_share_open(const struct msp_remote_token *token, unsigned number, int local_index);
/* Nothing of that number is used any more. */
void msp_remote_share_close(unsigned number);

#endif /* MEMSPAN_SHMEM_TRANSPORT_DRIVER_SHARE_H */
