/* SPDX-License-Identifier: BSD-3-Clause */
/* hook.c: tables of hooks, called without a lock and taken away safely.
 *
 * A table stands in a slot. A thread that is about to call it counts itself in (running), then
 * looks whether the slot is active; remove() clears active, then waits until no thread is counted
 * in. One of the two sees the other: both use the one order of all sequentially consistent
 * operations. A slot is filled again only when no thread is counted in. */

#include "core/base/error.h"
#include "core/base/fork.h"
#include "core/debug/watch.h"
#include "core/debug/watcher.h"
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

enum { SLOTS = 16, SLOT_BITS = 8, WAIT_NS = 50000 };

struct slot {
    memspan_hooks_t hooks; /* written only while inactive with no thread counted in */
    atomic_bool active;
    atomic_uint running;
    _Atomic uint32_t generation;
};

static const uintptr_t handle_mark      = UINT64_C(0x4d53480000000000);
static const uintptr_t handle_mark_bits = UINT64_C(0xffffff0000000000);

static struct slot slots[SLOTS];
static msp_lock_t slot_lock = MSP_LOCK_INIT(MSP_RANK_HOOKS); /* guards which slots are active */

/* The slot whose hook the thread is in, and whether that is a chunk hook. */
static _Thread_local struct slot *inside;
static _Thread_local bool inside_chunk_hook;

/* ---- calling ---- */

static void call(const memspan_hooks_t *h, enum msp_hook hook, const void *first,
                 const void *second)
{
#define CALL(member, ...)                                                                          \
    if (h->member != NULL) {                                                                       \
        h->member(h->data, __VA_ARGS__);                                                           \
    }                                                                                              \
    break
    switch (hook) {
    case MSP_HOOK_ALLOCATED:
        CALL(allocated, first);
    case MSP_HOOK_FREEING:
        CALL(freeing, first);
    case MSP_HOOK_REALLOCATED:
        CALL(reallocated, first, second);
    case MSP_HOOK_CHUNK_TAKEN:
        CALL(chunk_taken, first);
    case MSP_HOOK_CHUNK_GIVING_BACK:
        CALL(chunk_giving_back, first);
    case MSP_HOOK_FALLBACK_USED:
        CALL(fallback_used, first);
    case MSP_HOOK_FAILED:
        CALL(failed, first);
    }
#undef CALL
}

void msp_hook_call(enum msp_hook hook, const void *first, const void *second)
{
    int i;

    if (inside != NULL) {
        return;
    }
    msp_rank_check_wait("a hook of the program");
    inside_chunk_hook = (hook == MSP_HOOK_CHUNK_TAKEN) || (hook == MSP_HOOK_CHUNK_GIVING_BACK);
    for (i = 0; i < SLOTS; i++) {
        if (!atomic_load_explicit(&slots[i].active, memory_order_relaxed)) {
            continue;
        }
        atomic_fetch_add(&slots[i].running, 1);
        inside = &slots[i];
        if (atomic_load(&slots[i].active)) {
            call(&slots[i].hooks, hook, first, second);
        }
        inside = NULL;
        atomic_fetch_sub(&slots[i].running, 1);
    }
    inside_chunk_hook = false;
}

bool msp_hook_in_chunk_hook(void)
{
    return inside_chunk_hook;
}

/* ---- adding and removing ---- */

/* The table in this version's form, from one that may be older or newer. */
static memspan_status_t read_table(const memspan_hooks_t *given, memspan_hooks_t *table_p)
{
    memspan_hooks_t table  = {.struct_size = sizeof(table)};
    const unsigned char *c = (const unsigned char *)given;
    size_t i;

    if ((given == NULL) || (given->struct_size < offsetof(memspan_hooks_t, freeing))) {
        return memspan_error(MEMSPAN_ERR_INVALID,
                             "no table of hooks (NULL, or struct_size is not set)");
    }
    for (i = sizeof(table); i < given->struct_size; i++) {
        if (c[i] != 0) {
            return memspan_error(MEMSPAN_ERR_UNSUPPORTED,
                                 "the table of hooks has members that Memspan %s does not know",
                                 memspan_version());
        }
    }
    memcpy(&table, given,
           (given->struct_size < sizeof(table)) ? given->struct_size : sizeof(table));
    if ((table.allocated == NULL) && (table.freeing == NULL) && (table.reallocated == NULL) &&
        (table.chunk_taken == NULL) && (table.chunk_giving_back == NULL) &&
        (table.fallback_used == NULL) && (table.failed == NULL)) {
        return memspan_error(MEMSPAN_ERR_INVALID, "no hook is in the table");
    }
    *table_p = table;
    return MEMSPAN_OK;
}

memspan_status_t memspan_hooks_add(const memspan_hooks_t *hooks, memspan_hooks_h *hooks_p)
{
    memspan_hooks_t table;
    memspan_status_t status;
    uint32_t generation;
    int i;

    if (hooks_p == NULL) {
        return memspan_error(MEMSPAN_ERR_INVALID, "hooks_p is NULL");
    }
    status = read_table(hooks, &table);
    if (status != MEMSPAN_OK) {
        return status;
    }
    msp_watch_start();
    msp_lock(&slot_lock);
    for (i = 0;
         (i < SLOTS) && (atomic_load(&slots[i].active) || (atomic_load(&slots[i].running) != 0));
         i++) {
    }
    if (i == SLOTS) {
        msp_unlock(&slot_lock);
        return memspan_error(MEMSPAN_ERR_LIMIT, "%d tables of hooks are installed already", SLOTS);
    }
    slots[i].hooks = table;
    generation     = atomic_fetch_add(&slots[i].generation, 1) + 1;
    atomic_store(&slots[i].active, true);
    msp_watch_set(MSP_WATCH_HOOKS, true);
    msp_unlock(&slot_lock);
    *hooks_p = (memspan_hooks_h)(handle_mark | ((uintptr_t)generation << SLOT_BITS) | (uintptr_t)i);
    return MEMSPAN_OK;
}

static bool any_active(void)
{
    int i;

    for (i = 0; (i < SLOTS) && !atomic_load(&slots[i].active); i++) {
    }
    return i < SLOTS;
}

/* Until no thread is counted in, or the slot holds other hooks. */
static void wait_until_left(struct slot *slot, uint32_t generation)
{
    const struct timespec a_moment = {.tv_nsec = WAIT_NS};

    msp_rank_check_wait("a hook of another thread");
    while ((atomic_load(&slot->running) != 0) && (atomic_load(&slot->generation) == generation)) {
        nanosleep(&a_moment, NULL);
    }
}

memspan_status_t memspan_hooks_remove(memspan_hooks_h hooks)
{
    uintptr_t value     = (uintptr_t)hooks;
    uint32_t generation = (uint32_t)(value >> SLOT_BITS);
    size_t i            = value & ((1u << SLOT_BITS) - 1);
    bool found          = ((value & handle_mark_bits) == handle_mark) && (i < SLOTS);

    msp_lock(&slot_lock);
    found = found && (atomic_load(&slots[i].generation) == generation) &&
            atomic_exchange(&slots[i].active, false);
    if (found && !any_active()) {
        msp_watch_set(MSP_WATCH_HOOKS, false);
    }
    msp_unlock(&slot_lock);
    if (!found) {
        return memspan_error(MEMSPAN_ERR_NOT_FOUND, "0x%llx names no hooks that are installed",
                             (unsigned long long)value);
    }
    if (inside == NULL) {
        wait_until_left(&slots[i], generation);
    }
    return MEMSPAN_OK;
}

/* The child has no thread that is inside a hook but its own. */
static void forget_threads(void)
{
    int i;

    for (i = 0; i < SLOTS; i++) {
        atomic_store(&slots[i].running, (inside == &slots[i]) ? 1 : 0);
    }
}

MSP_FORK_ITEM(hooks) = {.rank = MSP_RANK_HOOKS, .lock = &slot_lock, .after_child = forget_threads};
