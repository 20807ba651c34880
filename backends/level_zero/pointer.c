/* SPDX-License-Identifier: BSD-3-Clause */
/* pointer.c: what the drivers know of an address that is not ours. An address that a driver has
 * never seen is no error: its type is unknown then. */

#include "backends/level_zero/level_zero.h"

memspan_status_t lz_pointer_ask(const struct gpu_state *state, const struct lz_driver *driver,
                                const void *pointer, struct lz_pointer *answer_p)
{
    lz_alloc_properties_t properties = {.stype = LZ_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    lz_device_h device               = NULL;
    lz_result_t code =
        lz_calls(state)->zeMemGetAllocProperties(driver->context, pointer, &properties, &device);

    if (code != ZE_RESULT_SUCCESS) {
        return gpu_error(state, LZ_ANSWER("zeMemGetAllocProperties", code),
                         "the driver does not tell what is at %p", pointer);
    }
    *answer_p = (struct lz_pointer){properties.type, properties.pageSize, device};
    return MEMSPAN_OK;
}

static memspan_status_t write_facts(const struct gpu_state *state, const struct lz_driver *driver,
                                    const void *pointer, const struct lz_pointer *p,
                                    memspan_pointer_facts_t *facts_p)
{
    int ordinal = lz_device_find(state, p->device);
    void *base  = NULL;
    size_t size = 0;
    lz_result_t code =
        lz_calls(state)->zeMemGetAddressRange(driver->context, pointer, &base, &size);

    if (code != ZE_RESULT_SUCCESS) {
        return gpu_error(state, LZ_ANSWER("zeMemGetAddressRange", code),
                         "the driver does not tell how far memory at %p goes", pointer);
    }
    *facts_p = (memspan_pointer_facts_t){
        .kind             = (p->type == LZ_MEMORY_TYPE_DEVICE)   ? MEMSPAN_KIND_DEVICE
                            : (p->type == LZ_MEMORY_TYPE_SHARED) ? MEMSPAN_KIND_MANAGED
                                                                 : MEMSPAN_KIND_HOST_PINNED,
        .ordinal          = ordinal,
        .resident_ordinal = (p->type == LZ_MEMORY_TYPE_DEVICE) ? ordinal : MEMSPAN_HOST,
        .base             = base,
        .size_bytes       = size};
    return MEMSPAN_OK;
}

memspan_status_t lz_pointer_describe(void *opaque, const void *pointer,
                                     memspan_pointer_facts_t *facts_p)
{
    struct gpu_state *state = opaque;
    struct lz_pointer p     = {0};
    struct lz_block own;
    struct lz_device *device;
    uint32_t i;
    memspan_status_t status = lz_device_get(state, 0, &device);

    if (status != MEMSPAN_OK) {
        return status;
    }
    /* Of ours the library knows better: it is spare room, or memory that is not in use now. */
    if (lz_block_find(state, pointer, &own)) {
        return gpu_refuse(state, MEMSPAN_ERR_NOT_FOUND, NULL, "no memory in use is at %p", pointer);
    }
    for (i = 0; i < lz_state(state)->driver_count; i++) {
        status = lz_pointer_ask(state, &lz_state(state)->drivers[i], pointer, &p);
        if (status != MEMSPAN_OK) {
            return status;
        }
        if (p.type != LZ_MEMORY_TYPE_UNKNOWN) {
            return write_facts(state, &lz_state(state)->drivers[i], pointer, &p, facts_p);
        }
    }
    return gpu_refuse(state, MEMSPAN_ERR_NOT_FOUND, NULL,
                      "%p is no memory that Level Zero knows of", pointer);
}
