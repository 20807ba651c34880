/* SPDX-License-Identifier: BSD-3-Clause */
/* guard_table.c: a search tree by address that random priorities keep flat (a treap).
 *
 * Invariant: left of a block lie lower addresses, right of it higher ones, and below it none of
 * higher priority; the memory of two blocks never overlaps. */

#include "core/debug/guard_report.h"
#include <stdlib.h>
#include <string.h>

static struct msp_guard_block *root;

/* Records are kept for further use: a program that allocates and frees must not go through malloc
 * each time. */
static struct msp_guard_block *unused;

static uint32_t next_priority(void)
{
    static uint32_t state = 2463534242u;

    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

struct msp_guard_block *msp_guard_table_new(void)
{
    enum { AT_A_TIME = 64 };
    struct msp_guard_block *block = unused;
    size_t i;

    if (block == NULL) {
        block = calloc(AT_A_TIME, sizeof(*block));
        for (i = 1; (block != NULL) && (i < AT_A_TIME); i++) {
            msp_guard_table_drop(&block[i]);
        }
        return block;
    }
    unused = block->next;
    memset(block, 0, sizeof(*block));
    return block;
}

void msp_guard_table_drop(struct msp_guard_block *block)
{
    block->next = unused;
    unused      = block;
}

void msp_guard_table_insert(struct msp_guard_block *block)
{
    struct msp_guard_block **place = &root;
    struct msp_guard_block **lower = &block->left;
    struct msp_guard_block **upper = &block->right;
    struct msp_guard_block *rest;

    block->priority = next_priority();
    while ((*place != NULL) && ((*place)->priority >= block->priority)) {
        place = (block->zone.raw < (*place)->zone.raw) ? &(*place)->left : &(*place)->right;
    }
    /* The old subtree is cut in two along the new address. */
    rest   = *place;
    *place = block;
    while (rest != NULL) {
        if (rest->zone.raw < block->zone.raw) {
            *lower = rest;
            lower  = &rest->right;
            rest   = rest->right;
        } else {
            *upper = rest;
            upper  = &rest->left;
            rest   = rest->left;
        }
    }
    *lower = NULL;
    *upper = NULL;
}

void msp_guard_table_remove(struct msp_guard_block *block)
{
    struct msp_guard_block **place = &root;
    struct msp_guard_block *a      = block->left;
    struct msp_guard_block *b      = block->right;

    while (*place != block) {
        place = (block->zone.raw < (*place)->zone.raw) ? &(*place)->left : &(*place)->right;
    }
    while ((a != NULL) && (b != NULL)) {
        if (a->priority >= b->priority) {
            *place = a;
            place  = &a->right;
            a      = a->right;
        } else {
            *place = b;
            place  = &b->left;
            b      = b->left;
        }
    }
    *place = (a != NULL) ? a : b;
}

struct msp_guard_block *msp_guard_table_below(const void *address)
{
    const unsigned char *at       = address;
    struct msp_guard_block *block = root;
    struct msp_guard_block *best  = NULL;

    while (block != NULL) {
        if (block->zone.raw <= at) {
            best  = block;
            block = block->right;
        } else {
            block = block->left;
        }
    }
    return best;
}

struct msp_guard_block *msp_guard_table_above(const void *address)
{
    const unsigned char *at       = address;
    struct msp_guard_block *block = root;
    struct msp_guard_block *best  = NULL;

    while (block != NULL) {
        if (block->zone.raw > at) {
            best  = block;
            block = block->left;
        } else {
            block = block->right;
        }
    }
    return best;
}

struct msp_guard_block *msp_guard_table_find(const void *address)
{
    struct msp_guard_block *block = msp_guard_table_below(address);

    if ((block == NULL) ||
        ((size_t)((const unsigned char *)address - block->zone.raw) >= block->zone.raw_bytes)) {
        return NULL;
    }
    return block;
}
