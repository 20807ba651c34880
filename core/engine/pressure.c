/* SPDX-License-Identifier: BSD-3-Clause */
/* pressure.c: the limit is read every PERIOD_MS by one thread. A process without a limit reads it
 * every UNLIMITED_MS: an administrator may set one. */

#include "core/engine/pressure.h"
#include "core/base/process.h"
#include "core/engine/provider.h"

enum {
    HELD_LEAST     = 8 << 20, /* pools below that need no limit */
    PERIOD_MS      = 50,
    UNLIMITED_MS   = 5000,
    IN_VAIN_MS     = 1000,
    SHARE          = 16, /* of the limit: what a cache may keep */
    NEAR_SHARE     = 8,  /* of the limit, and less is free: it is near */
    FLOOR_BYTES    = 1 << 20,
    RELIEVED_LEAST = 1 << 20,
};

static _Atomic uint64_t due_ms;
static _Atomic uint64_t free_bytes      = UINT64_MAX;
static _Atomic uint64_t retention_bytes = SIZE_MAX;

size_t msp_pressure_retention_bytes(void)
{
    return atomic_load_explicit(&retention_bytes, memory_order_relaxed);
}

uint64_t msp_pressure_free_bytes(void)
{
    return atomic_load_explicit(&free_bytes, memory_order_relaxed);
}

/* Returns whether the limit is near. */
static bool read_limits(uint64_t *next_ms)
{
    struct msp_memory_limits limits;
    uint64_t kept = SIZE_MAX;
    bool is_near  = false;

    msp_memory_limits_read(&limits);
    if (limits.capacity_bytes < limits.total_bytes) {
        is_near  = limits.free_bytes < limits.capacity_bytes / NEAR_SHARE;
        kept     = is_near ? 0 : limits.capacity_bytes / SHARE;
        kept     = (kept < FLOOR_BYTES) ? FLOOR_BYTES : kept;
        *next_ms = PERIOD_MS;
    }
    atomic_store_explicit(&free_bytes, limits.free_bytes, memory_order_relaxed);
    atomic_store_explicit(&retention_bytes, kept, memory_order_relaxed);
    return is_near;
}

bool msp_pressure_look(uint64_t now_ms)
{
    uint64_t due     = atomic_load_explicit(&due_ms, memory_order_relaxed);
    uint64_t next_ms = UNLIMITED_MS;
    bool is_near;

    if ((now_ms < due) || (msp_provider_held_bytes() < HELD_LEAST) ||
        !atomic_compare_exchange_strong_explicit(&due_ms, &due, now_ms + PERIOD_MS,
                                                 memory_order_relaxed, memory_order_relaxed)) {
        return false;
    }
    is_near = read_limits(&next_ms);
    atomic_store_explicit(&due_ms, now_ms + next_ms, memory_order_relaxed);
    return is_near;
}

void msp_pressure_relieved(uint64_t now_ms, size_t bytes)
{
    if (bytes < RELIEVED_LEAST) {
        atomic_store_explicit(&due_ms, now_ms + IN_VAIN_MS, memory_order_relaxed);
    }
}
