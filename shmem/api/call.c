/* SPDX-License-Identifier: BSD-3-Clause */
/* call.c: handlers, and calls of them. */

#include "shmem/transport/call.h"
#include "shmem/api/check.h"

int shmemx_handler_add(shmemx_handler_t handler, void *data, int *id)
{
    msp_job_require(__func__);
    if ((handler == NULL) || (id == NULL)) {
        return (int)msp_refuse(MEMSPAN_ERR_INVALID, "%s: %s is NULL", __func__,
                               (handler == NULL) ? "handler" : "id");
    }
    return (int)msp_call_handler_add(handler, data, id);
}

static __attribute__((noinline, cold)) _Noreturn void refuse(const char *call, int id, size_t size)
{
    if (size > SHMEMX_CALL_MAX_BYTES) {
        msp_fatal("%s: size is %zu, and at most %d: put more than that, then call", call, size,
                  SHMEMX_CALL_MAX_BYTES);
    }
    msp_fatal("%s: id %d is no handler of this PE, which has added %d", call, id,
              msp_call_handler_count());
}

void shmemx_call(shmem_ctx_t ctx, int id, const void *payload, size_t size, int pe)
{
    const struct msp_context *context = msp_context_of(ctx);

    if (MSP_UNLIKELY(msp_job.checks)) {
        msp_check_context(__func__, ctx, pe);
    }
    if (MSP_UNLIKELY((unsigned)pe >= (unsigned)msp_context_size(context))) {
        msp_refuse_context(__func__, ctx, pe);
    }
    if (MSP_UNLIKELY(((unsigned)id >= (unsigned)msp_call_handler_count()) ||
                     (size > SHMEMX_CALL_MAX_BYTES))) {
        refuse(__func__, id, size);
    }
    msp_call_post(__func__, id, payload, size, msp_context_pe(context, pe));
}
