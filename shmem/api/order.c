/* SPDX-License-Identifier: BSD-3-Clause */
/* order.c: fence and quiet. An invalid context has nothing to order. */

#include "shmem/transport/order.h"
#include "shmem/api/routine.h"

static const struct msp_context *context_of(const char *call, shmem_ctx_t ctx)
{
    if (MSP_UNLIKELY(msp_job.checks) && (ctx != SHMEM_CTX_INVALID)) {
        msp_check_context(call, ctx, 0);
    }
    return msp_context_of(ctx);
}

MSP_ROUTINE(void, shmem_fence, void)
{
    msp_fence(msp_context_default());
}

MSP_ROUTINE(void, shmem_ctx_fence, shmem_ctx_t ctx)
{
    msp_fence(context_of(MSP_CALL, ctx));
}

MSP_ROUTINE(void, shmem_quiet, void)
{
    msp_quiet(msp_context_default());
}

MSP_ROUTINE(void, shmem_ctx_quiet, shmem_ctx_t ctx)
{
    msp_quiet(context_of(MSP_CALL, ctx));
}

/* Outstanding operations are completed for all PEs: completing those for some costs no less. */
static void quiet_some(const char *call, const struct msp_context *context, const int *target_pes,
                       size_t npes)
{
    size_t i;

    if (npes == 0) {
        return;
    }
    if (MSP_UNLIKELY(msp_job.checks)) {
        for (i = 0; i < npes; i++) {
            if ((unsigned)target_pes[i] >= (unsigned)msp_context_size(context)) {
                msp_fatal("%s: target_pes[%zu] is %d: PEs are 0 to %d", call, i, target_pes[i],
                          msp_context_size(context) - 1);
            }
        }
    }
    msp_quiet(context);
}

MSP_ROUTINE(void, shmem_pe_quiet, const int *target_pes, size_t npes)
{
    quiet_some(MSP_CALL, msp_context_default(), target_pes, npes);
}

MSP_ROUTINE(void, shmem_ctx_pe_quiet, shmem_ctx_t ctx, const int *target_pes, size_t npes)
{
    quiet_some(MSP_CALL, context_of(MSP_CALL, ctx), target_pes, npes);
}

/* ---- caches, which are coherent wherever this runs ---- */

#define CACHE(name)                                                                                \
    MSP_ROUTINE(void, shmem_##name##_inv, void)                                                    \
    {                                                                                              \
    }                                                                                              \
    MSP_ROUTINE(void, shmem_##name##_line_inv, void *dest)                                         \
    {                                                                                              \
        (void)dest;                                                                                \
    }
CACHE(set_cache)
CACHE(clear_cache)

MSP_ROUTINE(void, shmem_udcflush, void)
{
}

MSP_ROUTINE(void, shmem_udcflush_line, void *dest)
{
    (void)dest;
}
