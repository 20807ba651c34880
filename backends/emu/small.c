/* SPDX-License-Identifier: BSD-3-Clause */
/* small.c: the call stacks of blocks that share a page.
 *
 * The driver's record of a page has the call stack of the first block there. The others' come from
 * hooks, which are added once with the first memory: a table by address, 256 bytes a block. */

#include "backends/emu/emu.h"
#include "core/base/platform.h"
#include <execinfo.h>
#include <memspan/hook.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LISTS = 4096 };

struct small {
    struct small *next;
    const void *address;
    int caller_count;
    void *callers[EMU_CALLERS_MAX];
};

static _Atomic(const struct emu *) watched;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards lists */
static struct small *lists[LISTS];

static struct small **list_of(const void *address)
{
    return &lists[((uintptr_t)address / 16 * UINT64_C(0x9e3779b97f4a7c15)) >> 52];
}

/* In a child of fork() the lock may be held by a thread that is not there. */
static bool concerns(const memspan_hook_block_t *block)
{
    const struct emu *emu = atomic_load(&watched);

    return (emu != NULL) && (block->size_bytes < msp_page_size()) &&
           emu_arena_holds(emu, block->address) && (emu->pid == getpid());
}

/* Out of its list; NULL: it is not there. The lock held. */
static struct small *take(const void *address)
{
    struct small **link = list_of(address);
    struct small *small;

    while ((*link != NULL) && ((*link)->address != address)) {
        link = &(*link)->next;
    }
    small = *link;
    if (small != NULL) {
        *link = small->next;
    }
    return small;
}

static void forget(void *unused, const memspan_hook_block_t *block)
{
    struct small *small;

    (void)unused;
    if (concerns(block)) {
        pthread_mutex_lock(&lock);
        small = take(block->address);
        pthread_mutex_unlock(&lock);
        free(small);
    }
}

static void note(void *unused, const memspan_hook_block_t *block)
{
    struct small *small;

    (void)unused;
    if (!concerns(block)) {
        return;
    }
    small = malloc(sizeof(*small));
    if (small == NULL) {
        return;
    }
    small->address      = block->address;
    small->caller_count = backtrace(small->callers, EMU_CALLERS_MAX);
    pthread_mutex_lock(&lock);
    free(take(block->address));
    small->next              = *list_of(block->address);
    *list_of(block->address) = small;
    pthread_mutex_unlock(&lock);
}

static void note_again(void *unused, const memspan_hook_block_t *old,
                       const memspan_hook_block_t *block)
{
    forget(unused, old);
    note(unused, block);
}

static void add_hooks(void)
{
    const memspan_hooks_t hooks = {.struct_size = sizeof(hooks),
                                   .allocated   = note,
                                   .freeing     = forget,
                                   .reallocated = note_again};
    memspan_hooks_h handle;

    (void)memspan_hooks_add(&hooks, &handle); /* else the report says whose call stack it has */
}

void emu_small_watch(const struct emu *emu)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    if (emu != NULL) {
        pthread_once(&once, add_hooks);
    }
    atomic_store(&watched, emu);
}

int emu_small_callers(const void *address, void **callers)
{
    int count = 0;
    struct small *small;

    pthread_mutex_lock(&lock);
    small = *list_of(address);
    while ((small != NULL) && (small->address != address)) {
        small = small->next;
    }
    if (small != NULL) {
        count = small->caller_count;
        memcpy(callers, small->callers, sizeof(small->callers));
    }
    pthread_mutex_unlock(&lock);
    return count;
}
