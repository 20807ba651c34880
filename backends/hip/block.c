/* SPDX-License-Identifier: BSD-3-Clause */
/* block.c: the list of our blocks. */

#include "backends/hip/hip.h"

void hip_block_insert(struct hip_state *state, struct hip_block *block)
{
    pthread_mutex_lock(&state->lock);
    block->next   = state->blocks;
    state->blocks = block;
    pthread_mutex_unlock(&state->lock);
}

void hip_block_remove(struct hip_state *state, const struct hip_block *block)
{
    struct hip_block **link = &state->blocks;

    pthread_mutex_lock(&state->lock);
    while ((*link != NULL) && (*link != block)) {
        link = &(*link)->next;
    }
    if (*link != NULL) {
        *link = block->next;
    }
    pthread_mutex_unlock(&state->lock);
}

char *hip_block_base(struct hip_state *state, const void *address)
{
    const struct hip_block *block;
    char *base = NULL;

    pthread_mutex_lock(&state->lock);
    for (block = state->blocks; (block != NULL) && (base == NULL); block = block->next) {
        if (((const char *)address >= block->base) &&
            ((const char *)address < block->base + block->size_bytes)) {
            base = block->base;
        }
    }
    pthread_mutex_unlock(&state->lock);
    return base;
}

bool hip_block_is_ours(struct hip_state *state, const void *address)
{
    return hip_block_base(state, address) != NULL;
}
