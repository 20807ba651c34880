/* SPDX-License-Identifier: BSD-3-Clause */
/* pointer.c: what the driver knows of an address that is not ours.
 *
 * The numbers of memory types changed with ROCm 6, under the same name of the call. And of an
 * address that HIP has never seen, ROCm 5 says that the value is invalid, newer ones say type 0. */

#include "backends/hip/hip.h"

/* The range; HIP tells it by another call, which older versions refuse for some memory. */
static void fill_range(const struct hip_state *state, const void *pointer,
                       struct hip_pointer *answer)
{
    hip_result_t code;
    void *base  = NULL;
    size_t size = 0;

    answer->base       = (void *)(uintptr_t)pointer;
    answer->size_bytes = 1;
    if (state->hip.hipMemGetAddressRange == NULL) {
        return;
    }
    code = state->hip.hipMemGetAddressRange(&base, &size, (void *)(uintptr_t)pointer);
    if (code != HIP_SUCCESS) {
        hip_log_failure(state, "hipMemGetAddressRange", code, "the range of an address");
        return;
    }
    answer->base       = base;
    answer->size_bytes = size;
}

memspan_status_t hip_pointer_ask(const struct hip_state *state, const void *pointer,
                                 struct hip_pointer *answer_p)
{
    struct hip_pointer answer           = {.ordinal = -1};
    struct hip_pointer_attributes asked = {.type = -1};
    hip_result_t code                   = state->hip.hipPointerGetAttributes(&asked, pointer);

    if ((code == HIP_ERROR_INVALID_VALUE) ||
        ((code == HIP_SUCCESS) && (asked.is_managed == 0) && (asked.type < state->type_host))) {
        hip_forget_error(state);
        *answer_p = answer;
        return MEMSPAN_OK;
    }
    if (code != HIP_SUCCESS) {
        return hip_error(state, "hipPointerGetAttributes", code,
                         "the driver does not tell what is at %p", pointer);
    }
    answer.known   = true;
    answer.managed = (asked.is_managed != 0);
    answer.on_host = (asked.type == state->type_host);
    answer.ordinal = asked.device;
    fill_range(state, pointer, &answer);
    *answer_p = answer;
    return MEMSPAN_OK;
}

/* Where it was last sent to, as far as anybody said. */
static int resident_of(const struct hip_state *state, const struct hip_pointer *p,
                       const void *pointer)
{
    int where         = HIP_CPU_DEVICE;
    hip_result_t code = HIP_SUCCESS;

    if (!p->managed) {
        where = p->on_host ? HIP_CPU_DEVICE : p->ordinal;
    } else if (state->hip.hipMemRangeGetAttribute != NULL) {
        code = state->hip.hipMemRangeGetAttribute(&where, sizeof(where),
                                                  HIP_RANGE_LAST_PREFETCH_LOCATION, pointer, 1);
    }
    if (code != HIP_SUCCESS) {
        hip_log_failure(state, "hipMemRangeGetAttribute", code, "where managed memory is");
        where = HIP_CPU_DEVICE;
    }
    return ((where >= 0) && (where < state->device_count)) ? where : MEMSPAN_HOST;
}

memspan_status_t hip_pointer_describe(void *opaque, const void *pointer,
                                      memspan_pointer_facts_t *facts_p)
{
    struct hip_state *state = opaque;
    struct hip_pointer p    = {0};
    struct hip_device *device;
    memspan_status_t status = hip_device_get(state, 0, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    /* Of ours the library knows better: it is spare room, or memory that nobody has now. */
    if (hip_block_is_ours(state, pointer)) {
        return hip_refuse(state, MEMSPAN_ERR_NOT_FOUND, NULL, "nobody's memory is at %p", pointer);
    }
    status = hip_pointer_ask(state, pointer, &p);
    if (status != MEMSPAN_OK) {
        return status;
    }
    if (!p.known) {
        return hip_refuse(state, MEMSPAN_ERR_NOT_FOUND, NULL, "%p is no memory that HIP knows of",
                          pointer);
    }
    *facts_p = (memspan_pointer_facts_t){
        .kind = p.managed ? MEMSPAN_KIND_MANAGED
                          : (p.on_host ? MEMSPAN_KIND_HOST_PINNED : MEMSPAN_KIND_DEVICE),
        .ordinal =
            ((p.ordinal >= 0) && (p.ordinal < state->device_count)) ? p.ordinal : MEMSPAN_HOST,
        .resident_ordinal = resident_of(state, &p, pointer),
        .base             = p.base,
        .size_bytes       = p.size_bytes,
    };
    return MEMSPAN_OK;
}
