/* SPDX-License-Identifier: BSD-3-Clause */
/* lock_pages.c: how much memory may be locked, and locking it. */

#include "core/base/file.h"
#include "core/base/process.h"
#include "core/base/text.h"
#include "core/topology/pages.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

void msp_lock_limits_read(struct msp_lock_limits *limits_p)
{
    enum { CAP_IPC_LOCK_BIT = 14 };
    struct msp_lock_limits limits = {UINT64_MAX, 0};
    struct rlimit limit;
    char text[4096];
    char word[32];
    unsigned long long capabilities = 0;

    if ((getrlimit(RLIMIT_MEMLOCK, &limit) == 0) && (limit.rlim_cur != RLIM_INFINITY)) {
        limits.limit_bytes = limit.rlim_cur;
    }
    msp_file_read("/proc/self/status", text, sizeof(text));
    msp_text_field(text, "VmLck", &limits.locked_bytes);
    msp_text_line(text, "CapEff", word, sizeof(word));
    if ((sscanf(word, "%llx", &capabilities) == 1) && ((capabilities >> CAP_IPC_LOCK_BIT) & 1u)) {
        limits.limit_bytes = UINT64_MAX;
    }
    *limits_p = limits;
}

static memspan_status_t refuse_limit(const memspan_services_t *services, const char *backend,
                                     size_t size_bytes, int error,
                                     const struct msp_lock_limits *lock)
{
    char limit[32];
    char locked[32];

    msp_text_from_size(limit, sizeof(limit), lock->limit_bytes);
    msp_text_from_size(locked, sizeof(locked), lock->locked_bytes);
    return services->fail(
        MEMSPAN_ERR_LIMIT, backend, "mlock", error, strerrordesc_np(error),
        "raise it (ulimit -l, LimitMEMLOCK= of a service, docker --ulimit memlock=), or grant "
        "CAP_IPC_LOCK",
        "pinning %zu bytes would pass the limit on locked memory (RLIMIT_MEMLOCK): it is %s, and "
        "%s are locked already",
        size_bytes, limit, locked);
}

memspan_status_t msp_lock_check_limit(const memspan_services_t *services, const char *backend,
                                      size_t size_bytes)
{
    enum { WORTH_A_LOOK = 1 << 20 };
    struct msp_memory_limits limits;
    char wanted[32];
    char free_size[32];

    if (size_bytes < WORTH_A_LOOK) {
        return MEMSPAN_OK;
    }
    msp_memory_limits_read(&limits);
    if (size_bytes <= limits.free_bytes) {
        return MEMSPAN_OK;
    }
    return services->fail(
        MEMSPAN_ERR_NO_MEMORY, backend, "", 0, "", "ask for less, or for memory that is not pinned",
        "pinning %s needs them at once; %s are free (%s)",
        msp_text_from_size(wanted, sizeof(wanted), size_bytes),
        msp_text_from_size(free_size, sizeof(free_size), limits.free_bytes), limits.source);
}

static memspan_status_t lock(const memspan_services_t *services, const char *backend,
                             const memspan_block_t *block)
{
    struct msp_lock_limits limits;
    memspan_status_t status = msp_lock_check_limit(services, backend, block->size_bytes);
    int error;

    if (status != MEMSPAN_OK) {
        return status;
    }
    if (msp_pages_lock(block->address, block->size_bytes) == 0) {
        return MEMSPAN_OK;
    }
    error = errno;
    msp_lock_limits_read(&limits);
    if ((error == EPERM) ||
        ((error == ENOMEM) && (limits.limit_bytes != UINT64_MAX) &&
         (block->size_bytes > limits.limit_bytes - ((limits.locked_bytes < limits.limit_bytes)
                                                        ? limits.locked_bytes
                                                        : limits.limit_bytes)))) {
        return refuse_limit(services, backend, block->size_bytes, error, &limits);
    }
    return services->fail(MEMSPAN_ERR_NO_MEMORY, backend, "mlock", error, strerrordesc_np(error),
                          "there may be too little free memory",
                          "%zu bytes could not be locked into memory", block->size_bytes);
}

memspan_status_t msp_lock_pages(const memspan_services_t *services, const char *backend,
                                bool is_required, memspan_block_t *block)
{
    memspan_status_t status = lock(services, backend, block);

    if (status == MEMSPAN_OK) {
        block->flags |= MEMSPAN_BLOCK_PINNED;
    } else if (!is_required) {
        services->log(MEMSPAN_LOG_INFO, backend, "%zu bytes of host-pinned memory are not locked",
                      block->size_bytes);
        status = MEMSPAN_OK;
    }
    return status;
}
