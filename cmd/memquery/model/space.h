/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_SPACE_H
#define MEMQUERY_SPACE_H

/* The snapshot's spaces: which are looked at, and what each of their resources is worth. */

#include "cmd/memquery/model/snapshot.h"

/* The name of the extra resource for locked host memory, which is no resource of its own. */
#define SPACE_PINNED_NAME "host.pinned"

/* Fill snapshot->spaces: the predefined ones, each device alone, each with the host, and all. Needs
 * snapshot->devices. */
void space_take_all(struct snapshot *snapshot);

/* The predefined spaces' names and handles; NULL after the last. */
const char *space_predefined(size_t index, memspan_space_h *space_p);

#endif /* MEMQUERY_SPACE_H */
