/* SPDX-License-Identifier: BSD-3-Clause */
/* order.c: fence and quiet. An invalid context has nothing to order. */

#include "shmem/order.h"
#include "shmem/api/routine.h"

static const struct memspan_context *context_of(const char *call, shmem_ctx_t ctx)
{
    if (MEMSPAN_UNLIKELY(memspan_job.checks) && (ctx != SHMEM_CTX_INVALID)) {
        memspan_check_context(call, ctx, 0);
    }
    return memspan_context_of(ctx);
}

MEMSPAN_ROUTINE(void, shmem_fence, void)
{
    memspan_fence(memspan_context_default());
}

MEMSPAN_ROUTINE(void, shmem_ctx_fence, shmem_ctx_t ctx)
{
    memspan_fence(context_of(MEMSPAN_CALL, ctx));
}

MEMSPAN_ROUTINE(void, shmem_quiet, void)
{
    memspan_quiet(memspan_context_default());
}

MEMSPAN_ROUTINE(void, shmem_ctx_quiet, shmem_ctx_t ctx)
{
    memspan_quiet(context_of(MEMSPAN_CALL, ctx));
}

/* What can still be under way is completed for all PEs at once: some of them is no less work. */
static void quiet_some(const char *call, const struct memspan_context *context,
                       const int *target_pes, size_t npes)
{
    size_t i;

    if (npes == 0) {
        return;
    }
    if (MEMSPAN_UNLIKELY(memspan_job.checks)) {
        for (i = 0; i < npes; i++) {
            if ((unsigned)target_pes[i] >= (unsigned)context->size) {
                memspan_fatal("%s: target_pes[%zu] is %d: PEs are 0 to %d", call, i, target_pes[i],
                              context->size - 1);
            }
        }
    }
    memspan_quiet(context);
}

MEMSPAN_ROUTINE(void, shmem_pe_quiet, const int *target_pes, size_t npes)
{
    quiet_some(MEMSPAN_CALL, memspan_context_default(), target_pes, npes);
}

MEMSPAN_ROUTINE(void, shmem_ctx_pe_quiet, shmem_ctx_t ctx, const int *target_pes, size_t npes)
{
    quiet_some(MEMSPAN_CALL, context_of(MEMSPAN_CALL, ctx), target_pes, npes);
}

/* ---- caches, which are coherent wherever this runs ---- */

#define CACHE(name)                                                                                \
    MEMSPAN_ROUTINE(void, shmem_##name##_inv, void)                                                \
    {                                                                                              \
    }                                                                                              \
    MEMSPAN_ROUTINE(void, shmem_##name##_line_inv, void *dest)                                     \
    {                                                                                              \
        (void)dest;                                                                                \
    }
CACHE(set_cache)
CACHE(clear_cache)

MEMSPAN_ROUTINE(void, shmem_udcflush, void)
{
}

MEMSPAN_ROUTINE(void, shmem_udcflush_line, void *dest)
{
    (void)dest;
}
