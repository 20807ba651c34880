/* SPDX-License-Identifier: BSD-3-Clause */
/* limit.c: how much memory may be locked, and locking it. */

#include "backends/host/host.h"
#include "core/base/file.h"
#include "core/base/memory_limit.h"
#include "core/base/text.h"
#include "core/topology/pages.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

void host_lock_limits_read(struct host_lock_limits *limits_p)
{
    enum { CAP_IPC_LOCK_BIT = 14 };
    struct host_lock_limits limits = {UINT64_MAX, 0};
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

static memspan_status_t refuse_limit(const struct host *host, const memspan_block_t *block,
                                     int error, const struct host_lock_limits *lock)
{
    char limit[32];
    char locked[32];
    char hint[160];

    msp_text_from_size(limit, sizeof(limit), lock->limit_bytes);
    msp_text_from_size(locked, sizeof(locked), lock->locked_bytes);
    snprintf(hint, sizeof(hint),
             "raise it (ulimit -l, LimitMEMLOCK= of a service, docker --ulimit memlock=), or grant "
             "CAP_IPC_LOCK");
    return host->services->fail(MEMSPAN_ERR_LIMIT, "host", "mlock", error, strerrordesc_np(error),
                                hint,
                                "pinning %zu bytes would pass the limit on locked memory "
                                "(RLIMIT_MEMLOCK): it is %s, and %s are locked already",
                                block->size_bytes, limit, locked);
}

memspan_status_t host_check_room(const struct host *host, size_t size_bytes)
{
    enum { WORTH_A_LOOK = 1 << 20 };
    struct msp_memory_limits limits;
    char wanted[32];
    char room[32];

    if (size_bytes < WORTH_A_LOOK) {
        return MEMSPAN_OK;
    }
    msp_memory_limits_read(&limits);
    if (size_bytes <= limits.free_bytes) {
        return MEMSPAN_OK;
    }
    return host->services->fail(
        MEMSPAN_ERR_NO_MEMORY, "host", "", 0, "", "ask for less, or for memory that is not pinned",
        "pinning %s needs them at once; %s are free (%s)",
        msp_text_from_size(wanted, sizeof(wanted), size_bytes),
        msp_text_from_size(room, sizeof(room), limits.free_bytes), limits.source);
}

memspan_status_t host_lock(const struct host *host, const memspan_block_t *block)
{
    struct host_lock_limits lock;
    memspan_status_t status = host_check_room(host, block->size_bytes);
    int error;

    if (status != MEMSPAN_OK) {
        return status;
    }
    if (msp_pages_lock(block->address, block->size_bytes) == 0) {
        return MEMSPAN_OK;
    }
    error = errno;
    host_lock_limits_read(&lock);
    if ((error == EPERM) ||
        ((error == ENOMEM) && (lock.limit_bytes != UINT64_MAX) &&
         (block->size_bytes >
          lock.limit_bytes -
              ((lock.locked_bytes < lock.limit_bytes) ? lock.locked_bytes : lock.limit_bytes)))) {
        return refuse_limit(host, block, error, &lock);
    }
    return host->services->fail(MEMSPAN_ERR_NO_MEMORY, "host", "mlock", error,
                                strerrordesc_np(error), "there may be too little free memory",
                                "%zu bytes could not be locked into memory", block->size_bytes);
}
