/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c: registered memory of this PE, and keys of others'.
 *
 * A peer's key: where the memory starts, its size, and libfabric's key, which is a number (chosen
 * by the provider with FI_MR_PROV_KEY, else random) or, with FI_MR_RAW, bytes that the peer's
 * libfabric turns into a number. Peers name places by the owner's addresses; providers without
 * FI_MR_VIRT_ADDR count from the start of the memory. */

#include "shmem/network/ofi/ofi.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* On the wire; both ends are of one version and one byte order (the transport compares cards). */
struct key_blob {
    uint64_t base;
    uint64_t size_bytes;
    uint64_t key;
    uint64_t raw_bytes; /* 0: key is it */
    unsigned char raw[MSP_NETWORK_KEY_MAX - 32];
};

/* Guards the list of memories, which operations of every queue read. */
static pthread_rwlock_t memories_lock = PTHREAD_RWLOCK_INITIALIZER;

/* A stranger does not guess it. 0: no random number. */
static uint64_t random_key(void)
{
    const size_t bytes = ofi.info->domain_attr->mr_key_size;
    uint64_t key       = 0;

    if (getrandom(&key, sizeof key, 0) != sizeof key) {
        return 0;
    }
    return (bytes < sizeof key) ? (key & ((UINT64_C(1) << (8 * bytes)) - 1)) : key;
}

int ofi_local_register(void *base, size_t size_bytes, struct fid_mr **region_p)
{
    return fi_mr_reg(ofi.domain, base, size_bytes, FI_SEND | FI_RECV | FI_READ | FI_WRITE, 0,
                     random_key(), 0, region_p, NULL);
}

static const struct msp_network_memory *find(const void *buffer, size_t size_bytes)
{
    const char *first = buffer;

    for (const struct msp_network_memory *memory = ofi.memories; memory != NULL;
         memory                                  = memory->next) {
        if ((first >= memory->base) && (size_bytes <= memory->size_bytes) &&
            ((size_t)(first - memory->base) <= memory->size_bytes - size_bytes)) {
            return memory;
        }
    }
    return NULL;
}

void *ofi_memory_descriptor(const void *buffer, size_t size_bytes, bool *is_device_p)
{
    void *descriptor = NULL;

    *is_device_p = false;
    if (!ofi.needs_local && !ofi.takes_device) {
        return NULL;
    }
    (void)pthread_rwlock_rdlock(&memories_lock);
    const struct msp_network_memory *memory = find(buffer, size_bytes);
    if (memory != NULL) {
        descriptor   = fi_mr_desc(memory->region);
        *is_device_p = memory->is_device;
    }
    (void)pthread_rwlock_unlock(&memories_lock);
    return descriptor;
}

static memspan_status_t refuse_device(const char *backend, const char *why)
{
    return ofi.services->fail(MEMSPAN_ERR_UNSUPPORTED, NULL, 0, NULL, NULL,
                              "ofi: the provider %s does not register memory of %s: %s",
                              ofi.info->fabric_attr->prov_name, backend, why);
}

static memspan_status_t set_device(const struct msp_network_region *region, struct fi_mr_attr *attr)
{
    if (!ofi.takes_device) {
        return refuse_device(region->device_backend,
                             "it has no FI_HMEM, or this libfabric is built without that device");
    }
    if (strcmp(region->device_backend, "cuda") == 0) {
        attr->iface = FI_HMEM_CUDA;
    } else if (strcmp(region->device_backend, "hip") == 0) {
        attr->iface = FI_HMEM_ROCR;
    } else if (strcmp(region->device_backend, "level_zero") == 0) {
        attr->iface = FI_HMEM_ZE;
    } else {
        return refuse_device(region->device_backend, "libfabric does not know such memory");
    }
    return MEMSPAN_OK;
}

static memspan_status_t register_failed(int code, const struct msp_network_region *region)
{
    const double mib = (double)region->size_bytes / (1 << 20);

    if ((code == -FI_ENOMEM) || (code == -FI_EPERM) || (code == -FI_EAGAIN)) {
        return ofi_fail(MEMSPAN_ERR_LIMIT, "fi_mr_reg", code,
                        "raise the limit of locked memory (ulimit -l unlimited, or memlock in "
                        "limits.conf) or use a smaller heap",
                        "ofi: %.1f MiB at %p cannot be registered with %s", mib, region->base,
                        ofi.info->fabric_attr->prov_name);
    }
    const memspan_status_t status =
        (region->device_backend != NULL) ? MEMSPAN_ERR_UNSUPPORTED : MEMSPAN_ERR_DRIVER;
    return ofi_fail(status, "fi_mr_reg", code, NULL,
                    "ofi: %.1f MiB at %p cannot be registered with %s", mib, region->base,
                    ofi.info->fabric_attr->prov_name);
}

static int enable(struct fid_mr *region)
{
    if ((ofi.info->domain_attr->mr_mode & FI_MR_ENDPOINT) == 0) {
        return 0;
    }
    const int code = fi_mr_bind(region, &ofi.main_endpoint->fid, 0);
    return (code != 0) ? code : fi_mr_enable(region);
}

static int register_attr(const struct msp_network_region *region, struct fi_mr_attr *attr,
                         struct fid_mr **region_p)
{
    const struct iovec iov = {region->base, region->size_bytes};
    uint64_t flags         = 0;

    attr->mr_iov        = &iov;
    attr->iov_count     = 1;
    attr->access        = FI_REMOTE_READ | FI_REMOTE_WRITE | FI_READ | FI_WRITE | FI_SEND;
    attr->requested_key = random_key();
    if (attr->requested_key == 0) {
        return -FI_EIO;
    }
#if defined(FI_MR_DMABUF)
    const struct fi_mr_dmabuf dmabuf = {.fd        = region->dmabuf_fd,
                                        .offset    = region->dmabuf_offset_bytes,
                                        .len       = region->size_bytes,
                                        .base_addr = region->base};
    if ((region->device_backend != NULL) && (region->dmabuf_fd >= 0)) {
        attr->dmabuf = &dmabuf;
        flags |= FI_MR_DMABUF;
    }
#endif
    int code = fi_mr_regattr(ofi.domain, attr, flags, region_p);
    if (code == 0) {
        code = enable(*region_p);
        if (code != 0) {
            (void)fi_close(&(*region_p)->fid);
        }
    }
    return code;
}

/* The key of @p memory; negative: libfabric's code. */
static int pack_key(struct msp_network_memory *memory, struct key_blob *blob, size_t *bytes_p)
{
    size_t raw_bytes = sizeof blob->raw;

    memset(blob, 0, sizeof *blob);
    blob->base       = (uint64_t)(uintptr_t)memory->base;
    blob->size_bytes = memory->size_bytes;
    blob->key        = fi_mr_key(memory->region);
    if ((ofi.info->domain_attr->mr_mode & FI_MR_RAW) != 0) {
        const int code = fi_mr_raw_attr(memory->region, &blob->base, blob->raw, &raw_bytes, 0);
        if (code != 0) {
            return code;
        }
        blob->raw_bytes = raw_bytes;
    }
    *bytes_p = offsetof(struct key_blob, raw) + blob->raw_bytes;
    return 0;
}

memspan_status_t ofi_memory_register(const struct msp_network_region *region, void *key,
                                     size_t *key_bytes_p, struct msp_network_memory **memory_p)
{
    struct fi_mr_attr attr  = {0};
    memspan_status_t status = MEMSPAN_OK;
    struct key_blob blob;
    size_t bytes = 0;

    if (region->device_backend != NULL) {
        status = set_device(region, &attr);
        if (status != MEMSPAN_OK) {
            return status;
        }
    }
    struct msp_network_memory *memory = calloc(1, sizeof *memory);
    if (memory == NULL) {
        return ofi_fail(MEMSPAN_ERR_NO_MEMORY, NULL, -FI_ENOMEM, NULL,
                        "ofi: no memory for the record of a registration");
    }
    int code = register_attr(region, &attr, &memory->region);
    if (code != 0) {
        free(memory);
        return register_failed(code, region);
    }
    memory->base       = region->base;
    memory->size_bytes = region->size_bytes;
    memory->is_device  = (region->device_backend != NULL);
    code               = pack_key(memory, &blob, &bytes);
    if ((code != 0) || (bytes > *key_bytes_p)) {
        (void)fi_close(&memory->region->fid);
        free(memory);
        return ofi_fail(MEMSPAN_ERR_DRIVER, "fi_mr_raw_attr", code, NULL,
                        "ofi: the key of registered memory has %zu bytes, at most %zu", bytes,
                        *key_bytes_p);
    }
    memcpy(key, &blob, bytes);
    *key_bytes_p = bytes;
    (void)pthread_rwlock_wrlock(&memories_lock);
    memory->next = ofi.memories;
    ofi.memories = memory;
    (void)pthread_rwlock_unlock(&memories_lock);
    *memory_p = memory;
    return MEMSPAN_OK;
}

void ofi_memory_release(struct msp_network_memory *memory)
{
    (void)pthread_rwlock_wrlock(&memories_lock);
    struct msp_network_memory **link = &ofi.memories;
    while (*link != memory) {
        link = &(*link)->next;
    }
    *link = memory->next;
    (void)pthread_rwlock_unlock(&memories_lock);
    const int code = fi_close(&memory->region->fid);
    if (code != 0) {
        ofi.services->note("ofi: fi_close() of registered memory at %p: %s",
                           (const void *)memory->base, fi_strerror(-code));
    }
    free(memory);
}

memspan_status_t ofi_key_open(struct msp_network_peer *peer, const void *key, size_t key_bytes,
                              struct msp_network_key **key_p)
{
    struct key_blob blob = {0};

    if ((key_bytes < offsetof(struct key_blob, raw)) || (key_bytes > sizeof blob)) {
        return ofi_fail(MEMSPAN_ERR_INVALID, NULL, 0, NULL,
                        "ofi: the key of PE %d's memory has %zu bytes", peer->pe, key_bytes);
    }
    memcpy(&blob, key, key_bytes);
    struct msp_network_key *opened = calloc(1, sizeof *opened);
    if (opened == NULL) {
        return ofi_fail(MEMSPAN_ERR_NO_MEMORY, NULL, -FI_ENOMEM, NULL, "ofi: no memory for a key");
    }
    opened->base       = blob.base;
    opened->size_bytes = blob.size_bytes;
    opened->key        = blob.key;
    if (blob.raw_bytes != 0) {
        const int code =
            fi_mr_map_raw(ofi.domain, blob.base, blob.raw, blob.raw_bytes, &opened->key, 0);
        if (code != 0) {
            free(opened);
            return ofi_fail(MEMSPAN_ERR_DRIVER, "fi_mr_map_raw", code, NULL,
                            "ofi: the key of PE %d's memory is not taken", peer->pe);
        }
        opened->is_mapped = true;
    }
    *key_p = opened;
    return MEMSPAN_OK;
}

void ofi_key_close(struct msp_network_peer *peer, struct msp_network_key *key)
{
    (void)peer;
    if (key->is_mapped) {
        (void)fi_mr_unmap_key(ofi.domain, key->key);
    }
    free(key);
}
