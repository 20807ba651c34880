/* SPDX-License-Identifier: BSD-3-Clause */
/* space.c: spaces, and memory that the program brings. */

#include "shmem/partition/space.h"
#include "shmem/api/check.h"
#include "shmem/context.h"
#include "shmem/memory.h"
#include "shmem/transport/rma.h"
#include <string.h>

/* ---- making ---- */

static int refuse_team(const char *call)
{
    return (int)msp_refuse(MEMSPAN_ERR_INVALID, "%s: team is no team of this PE's", call);
}

/* Fields of the caller's version; the others are 0, the default. */
static int read_config(const char *call, const shmemx_space_config_t *config,
                       shmemx_space_config_t *config_p)
{
    if (config == NULL) {
        return (int)msp_refuse(MEMSPAN_ERR_INVALID, "%s: config is NULL", call);
    }
    if (config->struct_size < offsetof(shmemx_space_config_t, pgsize)) {
        return (int)msp_refuse(MEMSPAN_ERR_INVALID, "%s: struct_size of config is not set", call);
    }
    memset(config_p, 0, sizeof *config_p);
    memcpy(config_p, config,
           (config->struct_size < sizeof *config_p) ? config->struct_size : sizeof *config_p);
    config_p->struct_size = sizeof *config_p;
    return 0;
}

int shmemx_space_create(shmem_team_t team, const shmemx_space_config_t *config,
                        shmemx_space_t *space)
{
    struct msp_team *of = msp_team_of(team);
    shmemx_space_config_t requests;
    int status;

    msp_require_result(__func__, "space", space);
    *space = SHMEMX_SPACE_INVALID;
    if ((of == NULL) && (team != SHMEM_TEAM_INVALID)) {
        return refuse_team(__func__);
    }
    status = read_config(__func__, config, &requests);
    return (status != 0) ? status : msp_symmetric_space_create(of, &requests, space);
}

int shmemx_space_attach(shmem_team_t team, shmemx_space_t space)
{
    struct msp_team *of = msp_team_of(team);

    msp_job_require(__func__);
    return (of == NULL) ? refuse_team(__func__) : msp_symmetric_space_attach(of, space);
}

int shmemx_space_detach(shmemx_space_t space)
{
    msp_job_require(__func__);
    return msp_symmetric_space_detach(space);
}

int shmemx_space_destroy(shmemx_space_t space)
{
    msp_job_require(__func__);
    return (space == SHMEMX_SPACE_INVALID) ? 0 : msp_symmetric_space_destroy(space);
}

/* ---- allocating: without a partition there is nothing to allocate from ---- */

static void *allocate(const char *call, shmemx_space_t space, size_t align_bytes, size_t size_bytes,
                      unsigned flags)
{
    int partition;

    msp_job_require(call);
    partition = msp_symmetric_space_partition(space);
    if (partition == MSP_PARTITION_NONE) {
        return NULL;
    }
    return msp_memory_alloc(call, partition, align_bytes, size_bytes, flags);
}

void *shmemx_space_malloc(shmemx_space_t space, size_t size)
{
    return allocate(__func__, space, 0, size, 0);
}

void *shmemx_space_calloc(shmemx_space_t space, size_t count, size_t size)
{
    size_t all_bytes;

    if (__builtin_mul_overflow(count, size, &all_bytes)) {
        all_bytes = SIZE_MAX;
    }
    return allocate(__func__, space, 0, all_bytes, MSP_MEMORY_ZEROED);
}

void *shmemx_space_align(shmemx_space_t space, size_t alignment, size_t size)
{
    msp_job_require(__func__);
    if (!msp_is_power_of_two(alignment)) {
        msp_refuse(MEMSPAN_ERR_INVALID, "%s: alignment %zu is no power of two", __func__,
                   alignment);
        return NULL;
    }
    return allocate(__func__, space, alignment, size, 0);
}

void shmemx_space_free(shmemx_space_t space, void *ptr)
{
    const struct msp_partition *partition;

    msp_job_require(__func__);
    partition = msp_partition_of(ptr);
    if (msp_job.checks && (partition != NULL) &&
        (partition->id != msp_symmetric_space_partition(space))) {
        msp_fatal("%s: %p is of partition %d, not of that space", __func__, ptr, partition->id);
    }
    msp_memory_free(__func__, ptr, 0);
}

/* ---- questions ---- */

/* The partition of a space as it is described; nonzero when it has none. */
static int describe(const char *call, shmemx_space_t space, shmemx_partition_info_t *info_p)
{
    int partition;

    msp_job_require(call);
    partition = msp_symmetric_space_partition(space);
    if (partition == MSP_PARTITION_NONE) {
        return (int)MEMSPAN_ERR_NOT_FOUND;
    }
    *info_p = (shmemx_partition_info_t){.struct_size = sizeof *info_p};
    return (int)msp_partition_describe(partition, info_p);
}

int shmemx_space_create_ctx(shmemx_space_t space, long options, shmem_ctx_t *ctx)
{
    shmemx_partition_info_t info;
    void *handle = NULL;
    int status;

    msp_require_result(__func__, "ctx", ctx);
    *ctx   = SHMEM_CTX_INVALID;
    status = describe(__func__, space, &info);
    if (status != 0) {
        return status;
    }
    status = msp_context_create(msp_team_of(info.team)->index, options, &handle);
    if (status == 0) {
        *ctx = (shmem_ctx_t)handle;
    }
    return status;
}

int shmemx_space_get_team(shmemx_space_t space, shmem_team_t *team)
{
    shmemx_partition_info_t info;
    int status = describe(__func__, space, &info);

    msp_require_result(__func__, "team", team);
    *team = (status == 0) ? info.team : SHMEM_TEAM_INVALID;
    return status;
}

/* Before it has memory: as requested. */
int shmemx_space_get_device_type(shmemx_space_t space, shmemx_kind_t *kind)
{
    const shmemx_space_config_t *config;
    shmemx_partition_info_t info;
    int status = describe(__func__, space, &info);

    msp_require_result(__func__, "kind", kind);
    if (status == 0) {
        *kind = info.kind;
        return 0;
    }
    config = msp_symmetric_space_config(space);
    if (config != NULL) {
        *kind = config->kind;
        return 0;
    }
    return status;
}

int shmemx_space_get_caps(shmemx_space_t space, long *capabilities)
{
    shmemx_partition_info_t info;
    int status = describe(__func__, space, &info);

    msp_require_result(__func__, "capabilities", capabilities);
    if (status == 0) {
        *capabilities = info.capabilities;
    }
    return status;
}

int shmemx_space_is_available(shmemx_space_t space)
{
    msp_job_require(__func__);
    return (msp_symmetric_space_partition(space) == MSP_PARTITION_NONE) ? (int)MEMSPAN_ERR_NOT_FOUND
                                                                        : 0;
}

int shmemx_space_partition(shmemx_space_t space)
{
    msp_job_require(__func__);
    return msp_symmetric_space_partition(space);
}

shmemx_space_t shmemx_space_of(const void *address)
{
    const struct msp_partition *partition;

    msp_job_require(__func__);
    partition = msp_partition_of(address);
    return (partition != NULL) ? msp_symmetric_space_of(partition->id) : SHMEMX_SPACE_INVALID;
}

void *shmemx_space_ptr(shmemx_space_t space, const void *dest, int pe)
{
    shmemx_partition_info_t info;
    const struct msp_team *team;

    if (describe(__func__, space, &info) != 0) {
        return NULL;
    }
    team = msp_team_of(info.team);
    if ((team == NULL) || ((unsigned)pe >= (unsigned)team->size)) {
        return NULL;
    }
    return msp_rma_pointer(dest, msp_team_world_pe(team, pe));
}

/* ---- memory that the program brings ---- */

int shmemx_buffer_register(void *address, size_t size_bytes)
{
    msp_job_require(__func__);
    return msp_buffer_register(address, size_bytes);
}

int shmemx_buffer_unregister(void *address)
{
    msp_job_require(__func__);
    return msp_buffer_unregister(address);
}

void shmemx_buffer_unregister_all(void)
{
    msp_job_require(__func__);
    msp_buffer_unregister_all();
}

void *shmemx_buffer_register_symmetric(void *address, size_t size_bytes, int flags)
{
    msp_job_require(__func__);
    if (flags != 0) {
        msp_refuse(MEMSPAN_ERR_INVALID, "%s: flags must be 0, not %d", __func__, flags);
        return NULL;
    }
    return msp_buffer_register_symmetric(address, size_bytes);
}

int shmemx_buffer_unregister_symmetric(void *address, size_t size_bytes)
{
    msp_job_require(__func__);
    return msp_buffer_unregister_symmetric(address, size_bytes);
}

/* ---- a heap that the program brings: calls before shmem_init() are noted ---- */

static int preinit_level = -1; /* of shmemx_heap_preinit_thread(); -1: it was not called */

void shmemx_heap_preinit(void)
{
    int provided;

    if (shmemx_heap_preinit_thread(SHMEM_THREAD_SINGLE, &provided) != 0) {
        msp_fatal_error(__func__);
    }
}

int shmemx_heap_preinit_thread(int requested, int *provided)
{
    if (msp_job.is_on) {
        return (int)msp_refuse(MEMSPAN_ERR_CONFLICT,
                               "%s: shmem_init() is over: its heap exists already", __func__);
    }
    if ((requested < SHMEM_THREAD_SINGLE) || (requested > SHMEM_THREAD_MULTIPLE)) {
        return (int)msp_refuse(MEMSPAN_ERR_INVALID,
                               "%s: requested %d is none of SHMEM_THREAD_SINGLE to MULTIPLE",
                               __func__, requested);
    }
    preinit_level = requested;
    if (provided != NULL) {
        *provided = requested;
    }
    return 0;
}

int shmemx_heap_create(void *base, size_t size, int device_type, int device_index)
{
    if (preinit_level < 0) {
        return (int)msp_refuse(MEMSPAN_ERR_CONFLICT, "%s was called before shmemx_heap_preinit()",
                               __func__);
    }
    return msp_partition_use_external(base, size, device_type, device_index);
}

void shmemx_heap_postinit(void)
{
    if (preinit_level < 0) {
        msp_fatal("%s was called before shmemx_heap_preinit()", __func__);
    }
    if (msp_job_init("", __func__, preinit_level, NULL) != 0) {
        msp_job_abort(1, memspan_error_text());
    }
    preinit_level = -1;
}
