/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/allocator.h"
#include "core/base/error.h"
#include "core/base/log.h"
#include "core/engine/allocator_record.h"
#include "core/omp/openmp.h"

enum { KEYS_MAX = 256, LINES_MAX = 3 };

/* How often each routine was refused with each status. A key is the routine's name and the status;
 * slots are claimed and never given back. */
static struct {
    _Atomic(uintptr_t) key;
    atomic_uint count;
} refusals[KEYS_MAX];

/* This refusal's number among those with the key, from 1; 1 where there is no slot left. */
static unsigned count(uintptr_t key)
{
    size_t i;

    for (i = 0; i < KEYS_MAX; i++) {
        uintptr_t known = atomic_load_explicit(&refusals[i].key, memory_order_relaxed);

        if ((known == key) ||
            ((known == 0) &&
             (atomic_compare_exchange_strong(&refusals[i].key, &known, key) || (known == key)))) {
            return atomic_fetch_add_explicit(&refusals[i].count, 1, memory_order_relaxed) + 1;
        }
    }
    return 1;
}

static void report(const char *routine, memspan_status_t status)
{
    unsigned number = count((uintptr_t)routine * 32 + (uintptr_t)-status);

    if ((number > LINES_MAX) && !msp_log_on(MEMSPAN_LOG_INFO)) {
        return;
    }
    msp_log(MEMSPAN_LOG_WARN, "omp", "%s is refused: %s%s", routine, memspan_error_text(),
            (number == LINES_MAX) ? " (further ones like it are logged at MEMSPAN_LOG=info)" : "");
}

void msp_omp_refused(const char *routine)
{
    if (msp_log_on(MEMSPAN_LOG_WARN)) {
        report(routine, msp_error_status());
    }
}

/* The fallback of an allocator that a program passed. */
static bool has_null_fallback(msp_omp_allocator_t allocator)
{
    const struct msp_allocator *a = NULL;
    memspan_allocator_h own;

    if (msp_omp_allocator_resolve(allocator, &own) == MSP_OMP_OURS) {
        a = msp_allocator_find(own);
    }
    return (a != NULL) && (a->traits.fallback == MEMSPAN_VALUE_NULL_FB);
}

void msp_omp_refused_memory(const char *routine, msp_omp_allocator_t allocator)
{
    memspan_status_t status = msp_error_status();
    bool exhausted          = (status == MEMSPAN_ERR_LIMIT) || (status == MEMSPAN_ERR_NO_MEMORY);

    /* A limit is reached in inner loops, and only after the fallbacks were tried. */
    if (!msp_log_on(exhausted ? MEMSPAN_LOG_INFO : MEMSPAN_LOG_WARN) &&
        ((status == MEMSPAN_ERR_LIMIT) || !msp_log_on(MEMSPAN_LOG_WARN))) {
        return;
    }
    if (exhausted && has_null_fallback(allocator)) {
        msp_log(MEMSPAN_LOG_INFO, "omp", "%s returns NULL: %s", routine, memspan_error_text());
    } else {
        report(routine, status);
    }
}
