/* SPDX-License-Identifier: BSD-3-Clause */
/* pointer.c: what the driver knows of an address that is not ours. The plural question is asked:
 * the singular one fails for addresses that the driver has never seen. */

#include "backends/cuda/cuda.h"

memspan_status_t cuda_pointer_ask(const struct cuda_state *state, const void *pointer,
                                  struct cuda_pointer *answer_p)
{
    struct cuda_pointer answer           = {.ordinal = -1};
    cuda_pointer_attribute_t questions[] = {
        CUDA_POINTER_ATTRIBUTE_MEMORY_TYPE, CUDA_POINTER_ATTRIBUTE_IS_MANAGED,
        CUDA_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CUDA_POINTER_ATTRIBUTE_RANGE_START_ADDR,
        CUDA_POINTER_ATTRIBUTE_RANGE_SIZE};
    void *answers[] = {&answer.memory_type, &answer.managed, &answer.ordinal, &answer.base,
                       &answer.size_bytes};
    cuda_result_t code =
        state->cu.cuPointerGetAttributes(sizeof(questions) / sizeof(questions[0]), questions,
                                         answers, (cuda_address_t)(uintptr_t)pointer);

    /* A thread without a context, and a driver that has not started or has ended, know nothing. */
    if ((code == CUDA_ERROR_INVALID_CONTEXT) || (code == CUDA_ERROR_NOT_INITIALIZED) ||
        (code == CUDA_ERROR_DEINITIALIZED)) {
        *answer_p = (struct cuda_pointer){0};
        return MEMSPAN_OK;
    }
    if (code != CUDA_SUCCESS) {
        return cuda_error(state, "cuPointerGetAttributes", code,
                          "the driver does not tell what is at %p", pointer);
    }
    answer.managed &= 0xff; /* a truth value: the driver writes one byte of it */
    *answer_p = answer;
    return MEMSPAN_OK;
}

/* Any context will do; one is made for this question by nobody. */
static struct cuda_device *find_awake(struct cuda_state *state)
{
    int i;

    for (i = 0; i < state->device_count; i++) {
        if (atomic_load(&state->devices[i].context) != NULL) {
            return &state->devices[i];
        }
    }
    return NULL;
}

/* Where it was last sent to, as far as anybody said. */
static int resident_of(const struct cuda_state *state, const struct cuda_pointer *p,
                       const void *pointer)
{
    int where          = CUDA_DEVICE_CPU;
    cuda_result_t code = CUDA_SUCCESS;

    if (p->managed == 0) {
        where = (p->memory_type == CUDA_MEMORYTYPE_DEVICE) ? p->ordinal : CUDA_DEVICE_CPU;
    } else if (state->cu.cuMemRangeGetAttribute != NULL) {
        code = state->cu.cuMemRangeGetAttribute(&where, sizeof(where),
                                                CUDA_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION,
                                                (cuda_address_t)(uintptr_t)pointer, 1);
    }
    if (code != CUDA_SUCCESS) {
        cuda_log_failure(state, "cuMemRangeGetAttribute", code, "where managed memory is");
        where = CUDA_DEVICE_CPU;
    }
    return ((where >= 0) && (where < state->device_count)) ? where : MEMSPAN_HOST;
}

memspan_status_t cuda_pointer_describe(void *opaque, const void *pointer,
                                       memspan_pointer_facts_t *facts_p)
{
    struct cuda_state *state    = opaque;
    struct cuda_device *awake   = find_awake(state);
    struct cuda_pointer p       = {0};
    struct cuda_device *entered = NULL;
    memspan_pointer_facts_t facts;
    memspan_status_t status;
    int before = 0;

    status = (awake != NULL) ? cuda_enter(state, awake->ordinal, &entered, &before)
                             : cuda_device_get(state, 0, &entered);
    if (status != MEMSPAN_OK) {
        return status;
    }
    status = cuda_pointer_ask(state, pointer, &p);
    if ((status == MEMSPAN_OK) && (p.memory_type == 0)) {
        status = cuda_refuse(state, MEMSPAN_ERR_NOT_FOUND, NULL,
                             "%p is no memory that CUDA knows of", pointer);
    }
    /* Of ours the library knows better: it is spare room, or memory that nobody has now. */
    if ((status == MEMSPAN_OK) && cuda_block_is_ours(state, p.base)) {
        status =
            cuda_refuse(state, MEMSPAN_ERR_NOT_FOUND, NULL, "nobody's memory is at %p", pointer);
    }
    if (status == MEMSPAN_OK) {
        facts.kind = (p.managed != 0)
                         ? MEMSPAN_KIND_MANAGED
                         : ((p.memory_type == CUDA_MEMORYTYPE_HOST) ? MEMSPAN_KIND_HOST_PINNED
                                                                    : MEMSPAN_KIND_DEVICE);
        facts.ordinal =
            ((p.ordinal >= 0) && (p.ordinal < state->device_count)) ? p.ordinal : MEMSPAN_HOST;
        facts.resident_ordinal = resident_of(state, &p, pointer);
        facts.base             = (void *)(uintptr_t)p.base;
        facts.size_bytes       = p.size_bytes;
        *facts_p               = facts;
    }
    if (awake != NULL) {
        cuda_leave(entered, before);
    }
    return status;
}
