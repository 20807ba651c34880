/* SPDX-License-Identifier: BSD-3-Clause */
/* block.c: the list of our blocks. */

#include "backends/gpu/gpu.h"

void gpu_block_insert(struct gpu_state *state, struct gpu_block *block)
{
    pthread_mutex_lock(&state->lock);
    block->next   = state->blocks;
    state->blocks = block;
    pthread_mutex_unlock(&state->lock);
}

void gpu_block_remove(struct gpu_state *state, const struct gpu_block *block)
{
    struct gpu_block **link = &state->blocks;

    pthread_mutex_lock(&state->lock);
    while ((*link != NULL) && (*link != block)) {
        link = &(*link)->next;
    }
    if (*link != NULL) {
        *link = block->next;
    }
    pthread_mutex_unlock(&state->lock);
}

struct gpu_block *gpu_block_find(struct gpu_state *state, const void *address)
{
    struct gpu_block *block;

    pthread_mutex_lock(&state->lock);
    for (block = state->blocks; block != NULL; block = block->next) {
        if (((const char *)address >= block->base) &&
            ((const char *)address < block->base + block->size_bytes)) {
            break;
        }
    }
    pthread_mutex_unlock(&state->lock);
    return block;
}
