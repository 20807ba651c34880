/* SPDX-License-Identifier: BSD-3-Clause */
/* call_stack.c: stacks are walked by the C library's backtrace() and kept in a table by hash.
 *
 * Invariant: a record is whole before it is in the table, and is never changed or freed. */

#include "core/debug/call_stack.h"
#include "core/base/fork.h"
#include "core/base/platform.h"
#include <execinfo.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

enum { BUCKETS = 1 << 14, FRAMES_WALKED = 48 };

static struct msp_call_stack *buckets[BUCKETS] MSP_SPARSE;
MSP_LOCK_STATIC(stack_lock, MSP_RANK_CALL_STACKS); /* guards buckets */

/* Where the library's own code lies. Empty when it is part of a program: then its frames cannot be
 * distinguished from the program's. Written once, before the first stack is taken. */
static uintptr_t own_start;
static uintptr_t own_end;

static int find_own(struct dl_phdr_info *info, size_t size, void *data)
{
    uintptr_t here  = (uintptr_t)msp_call_stack_here;
    uintptr_t start = UINTPTR_MAX;
    uintptr_t end   = 0;
    uintptr_t entry = (uintptr_t)getauxval(AT_ENTRY);
    int i;

    (void)size;
    (void)data;
    for (i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t at           = info->dlpi_addr + part->p_vaddr;

        if (part->p_type == PT_LOAD) {
            start = (at < start) ? at : start;
            end   = (at + part->p_memsz > end) ? at + part->p_memsz : end;
        }
    }
    if ((here < start) || (here >= end)) {
        return 0;
    }
    if ((entry < start) || (entry >= end)) {
        own_start = start;
        own_end   = end;
    }
    return 1;
}

void msp_call_stack_start(void)
{
    void *frames[2];

    dl_iterate_phdr(find_own, NULL);
    backtrace(frames, 2);
}

static uint64_t hash_of(void *const *frames, size_t depth)
{
    uint64_t hash = depth;
    size_t i;

    for (i = 0; i < depth; i++) {
        hash = (hash ^ (uintptr_t)frames[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return hash;
}

static const struct msp_call_stack *keep(void *const *frames, size_t depth)
{
    uint64_t hash                  = hash_of(frames, depth);
    struct msp_call_stack **bucket = &buckets[hash % BUCKETS];
    struct msp_call_stack *s;

    msp_lock(&stack_lock);
    for (s = *bucket; s != NULL; s = s->next) {
        if ((s->hash == hash) && (s->depth == depth) &&
            (memcmp(s->frames, frames, depth * sizeof(*frames)) == 0)) {
            goto out_unlock;
        }
    }
    s = malloc(sizeof(*s) + depth * sizeof(*frames));
    if (s != NULL) {
        s->next  = *bucket;
        s->hash  = hash;
        s->depth = depth;
        memcpy(s->frames, frames, depth * sizeof(*frames));
        *bucket = s;
    }
out_unlock:
    msp_unlock(&stack_lock);
    return s;
}

__attribute__((noinline)) const struct msp_call_stack *msp_call_stack_here(void)
{
    void *frames[FRAMES_WALKED];
    int walked   = backtrace(frames, FRAMES_WALKED);
    int first    = (walked > 0) ? 1 : 0; /* this function */
    size_t depth = 0;

    while ((first < walked) && ((uintptr_t)frames[first] >= own_start) &&
           ((uintptr_t)frames[first] < own_end)) {
        first++;
    }
    depth = (size_t)(walked - first);
    if (depth > MSP_CALL_STACK_FRAMES_MAX) {
        depth = MSP_CALL_STACK_FRAMES_MAX;
    }
    return keep(frames + first, depth);
}
