/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMQUERY_SPACE_H
#define MEMQUERY_SPACE_H

/* The spaces of the snapshot, and their resources. */

#include "cmd/memquery/model/snapshot.h"

/* The extra resource for locked host memory, which is not one of the library's. */
#define SPACE_PINNED_NAME "host.pinned"

/* Fill snapshot->spaces: the predefined ones, each device alone, each with the host, and all.
 * Needs snapshot->devices. */
void space_take_all(struct snapshot *snapshot);

/* Name and handle of a predefined space; NULL after the last. */
const char *space_predefined(size_t index, memspan_space_h *space_p);

#endif /* MEMQUERY_SPACE_H */
