/* SPDX-License-Identifier: BSD-3-Clause */
/* pointer.c: what the drivers know of an address. One that a driver has never seen is no error: its
 * type is unknown then. */

#include "backends/level_zero/level_zero.h"

memspan_status_t lz_pointer_ask(const struct lz_driver *driver, const void *pointer,
                                struct lz_pointer *answer_p)
{
    lz_alloc_properties_t properties = {.stype = LZ_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    lz_device_h device               = NULL;
    lz_result_t code =
        lz_calls(driver->state)
            ->zeMemGetAllocProperties(driver->context, pointer, &properties, &device);

    if (code != ZE_RESULT_SUCCESS) {
        return gpu_error(driver->state, LZ_ANSWER("zeMemGetAllocProperties", code),
                         "the driver does not tell what is at %p", pointer);
    }
    *answer_p = (struct lz_pointer){properties.type, device};
    return MEMSPAN_OK;
}

static memspan_status_t fill_answer(const struct lz_driver *driver, const void *pointer,
                                    const struct lz_pointer *p, struct gpu_pointer *answer_p)
{
    const struct gpu_state *state = driver->state;
    void *base                    = NULL;
    size_t size                   = 0;
    lz_result_t code =
        lz_calls(state)->zeMemGetAddressRange(driver->context, pointer, &base, &size);

    if (code != ZE_RESULT_SUCCESS) {
        return gpu_error(state, LZ_ANSWER("zeMemGetAddressRange", code),
                         "the driver does not tell how far memory at %p goes", pointer);
    }
    *answer_p = (struct gpu_pointer){.known      = true,
                                     .managed    = (p->type == LZ_MEMORY_TYPE_SHARED),
                                     .on_host    = (p->type != LZ_MEMORY_TYPE_DEVICE),
                                     .ordinal    = lz_device_find(state, p->device),
                                     .base       = base,
                                     .size_bytes = size};
    return MEMSPAN_OK;
}

memspan_status_t lz_query_pointer(const struct gpu_state *state, const void *pointer,
                                  struct gpu_pointer *answer_p)
{
    const struct lz_state *own = lz_state(state);
    memspan_status_t status    = MEMSPAN_OK;
    struct lz_pointer p        = {0};
    uint32_t i;

    *answer_p = (struct gpu_pointer){.known = false};
    for (i = 0; (status == MEMSPAN_OK) && (i < own->driver_count); i++) {
        status = lz_pointer_ask(&own->drivers[i], pointer, &p);
        if ((status == MEMSPAN_OK) && (p.type != LZ_MEMORY_TYPE_UNKNOWN)) {
            return fill_answer(&own->drivers[i], pointer, &p, answer_p);
        }
    }
    return status;
}
