/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c: registered memory and the keys of peers' memory. */

#include "shmem/network/ucx/ucx.h"
#include <string.h>

/* UCX's name of a backend's memory. */
static const char *type_name(const char *backend)
{
    static const struct {
        const char *backend;
        const char *type;
    } map[] = {{"cuda", "cuda"}, {"hip", "rocm"}, {"level_zero", "ze-device"}};
    size_t i;

    for (i = 0; i < sizeof map / sizeof map[0]; i++) {
        if (strcmp(map[i].backend, backend) == 0) {
            return map[i].type;
        }
    }
    return NULL;
}

/* The type of @p region's memory; UCS_MEMORY_TYPE_UNKNOWN: this UCX does not take it. */
static ucs_memory_type_t type_of(const struct msp_network_region *region)
{
    const char *name;
    int type;

    if (region->device_backend == NULL) {
        return UCS_MEMORY_TYPE_HOST;
    }
    name = type_name(region->device_backend);
    for (type = UCS_MEMORY_TYPE_HOST; (name != NULL) && (type < UCS_MEMORY_TYPE_LAST); type++) {
        if ((msp_ucx.memory_types & (UINT64_C(1) << type)) &&
            (strcmp(ucs_memory_type_names[type], name) == 0)) {
            return (ucs_memory_type_t)type;
        }
    }
    return UCS_MEMORY_TYPE_UNKNOWN;
}

static memspan_status_t pack_key(ucp_mem_h memory, void *key, size_t *key_bytes_p)
{
    void *packed;
    size_t packed_bytes;
    ucs_status_t status = ucp_rkey_pack(msp_ucx.context, memory, &packed, &packed_bytes);

    if (status != UCS_OK) {
        return msp_ucx_fail(status, "ucp_rkey_pack", NULL, "UCX has no key of registered memory");
    }
    if (packed_bytes <= *key_bytes_p) {
        memcpy(key, packed, packed_bytes);
    } else {
        status = UCS_ERR_EXCEEDS_LIMIT;
    }
    ucp_rkey_buffer_release(packed);
    if (status != UCS_OK) {
        return msp_ucx_fail(status, "ucp_rkey_pack", "fewer devices, by UCX_NET_DEVICES",
                            "a key of UCX has %zu bytes, and there is room for %zu", packed_bytes,
                            *key_bytes_p);
    }
    *key_bytes_p = packed_bytes;
    return MEMSPAN_OK;
}

/* A registration that pins pages fails with an input-output error where the limit is reached. */
static memspan_status_t refuse_registration(ucs_status_t status, size_t size_bytes)
{
    const bool is_limit = msp_ucx.limits.pins_memory &&
                          ((status == UCS_ERR_IO_ERROR) || (status == UCS_ERR_NO_MEMORY));

    return msp_ucx_fail(is_limit ? UCS_ERR_EXCEEDS_LIMIT : status, "ucp_mem_map",
                        is_limit ? "a larger limit of locked memory (ulimit -l)" : NULL,
                        "UCX registers no memory of %zu bytes", size_bytes);
}

memspan_status_t msp_ucx_memory_register(const struct msp_network_region *region, void *key,
                                         size_t *key_bytes_p, struct msp_network_memory **memory_p)
{
    const ucp_mem_map_params_t param = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                      UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE,
        .address     = region->base,
        .length      = region->size_bytes,
        .memory_type = type_of(region),
    };
    memspan_status_t result;
    ucs_status_t status;
    ucp_mem_h memory;

    if (param.memory_type == UCS_MEMORY_TYPE_UNKNOWN) {
        return msp_ucx_fail(UCS_ERR_UNSUPPORTED, NULL, "a UCX that was built for such devices",
                            "this UCX does not register memory of %s", region->device_backend);
    }
    status = ucp_mem_map(msp_ucx.context, &param, &memory);
    if (status != UCS_OK) {
        return refuse_registration(status, region->size_bytes);
    }
    result = pack_key(memory, key, key_bytes_p);
    if (result != MEMSPAN_OK) {
        ucp_mem_unmap(msp_ucx.context, memory);
        return result;
    }
    *memory_p = (struct msp_network_memory *)memory;
    return MEMSPAN_OK;
}

void msp_ucx_memory_release(struct msp_network_memory *memory)
{
    ucp_mem_unmap(msp_ucx.context, (ucp_mem_h)memory);
}

memspan_status_t msp_ucx_key_open(struct msp_network_peer *peer, const void *key, size_t key_bytes,
                                  struct msp_network_key **key_p)
{
    ucp_rkey_h opened;
    ucs_status_t status;

    (void)key_bytes;
    status = ucp_ep_rkey_unpack(peer->endpoint, key, &opened);
    if (status != UCS_OK) {
        return msp_ucx_fail(status, "ucp_ep_rkey_unpack", NULL,
                            "UCX does not take the key of memory of PE %d", peer->pe);
    }
    *key_p = (struct msp_network_key *)opened;
    return MEMSPAN_OK;
}

void msp_ucx_key_close(struct msp_network_peer *peer, struct msp_network_key *key)
{
    (void)peer;
    ucp_rkey_destroy((ucp_rkey_h)key);
}
