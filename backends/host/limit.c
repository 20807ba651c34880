/* SPDX-License-Identifier: BSD-3-Clause */
/* limit.c: how much memory there is for this process, and how much of it may be locked.
 *
 * The machine's total means little inside a container: the smallest limit of the control groups
 * that enclose the process counts, of version 1 and of version 2, from its own group up to the
 * root. Inside a container the path in /proc/self/cgroup may name groups that are not visible; then
 * the root of what is mounted is the container's own group. */

#include "backends/host/host.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Where a version of control groups keeps things. */
struct cgroup_form {
    const char *root;
    const char *limit;
    const char *usage;
    const char *inactive; /* the field of memory.stat for page cache that would be given up */
};

static const struct cgroup_form version_1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                                             "memory.usage_in_bytes", "total_inactive_file"};
static const struct cgroup_form version_2 = {"/sys/fs/cgroup", "memory.max", "memory.current",
                                             "inactive_file"};

enum { PATH_BYTES = 512 };

/* Takes one group into account, if it exists. */
static void apply_group(const struct cgroup_form *form, const char *group,
                        struct host_limits *limits)
{
    char path[PATH_BYTES + 64];
    char statistics[4096];
    uint64_t limit;
    uint64_t usage    = 0;
    uint64_t inactive = 0;
    uint64_t room;

    snprintf(path, sizeof(path), "%s%s/%s", form->root, group, form->limit);
    if (!memspan_file_number(path, &limit)) {
        return;
    }
    if (limit >= limits->total_bytes) {
        return; /* "no limit" is a very large number in version 1 */
    }
    if (limit < limits->capacity_bytes) {
        limits->capacity_bytes = limit;
        limits->source         = "cgroup limit";
    }
    snprintf(path, sizeof(path), "%s%s/%s", form->root, group, form->usage);
    memspan_file_number(path, &usage);
    snprintf(path, sizeof(path), "%s%s/memory.stat", form->root, group);
    if (memspan_file_read(path, statistics, sizeof(statistics)) > 0) {
        memspan_text_field(statistics, form->inactive, &inactive);
    }
    usage -= (inactive < usage) ? inactive : usage;
    room = (limit > usage) ? limit - usage : 0;
    if (room < limits->free_bytes) {
        limits->free_bytes = room;
    }
}

static void apply_groups(const struct cgroup_form *form, const char *own,
                         struct host_limits *limits)
{
    char group[PATH_BYTES];
    char *slash;

    snprintf(group, sizeof(group), "%s", own);
    while ((slash = strrchr(group, '/')) != NULL) {
        if (slash[1] != '\0') {
            apply_group(form, group, limits);
        }
        *slash = '\0';
    }
    apply_group(form, "", limits);
}

/* The group's path in a line "4:memory:/path" (version 1) or "0::/path" (version 2). */
static bool find_group(const char *text, const char *controller, char *group, size_t group_size)
{
    const char *line = text;

    while (*line != '\0') {
        size_t length    = strcspn(line, "\n");
        const char *name = memchr(line, ':', length);
        const char *path =
            (name == NULL) ? NULL : memchr(name + 1, ':', length - (size_t)(name + 1 - line));

        if (path != NULL) {
            size_t name_length = (size_t)(path - name - 1);
            if ((name_length == strlen(controller)) &&
                (strncmp(name + 1, controller, name_length) == 0)) {
                snprintf(group, group_size, "%.*s", (int)(length - (size_t)(path + 1 - line)),
                         path + 1);
                return true;
            }
        }
        line += length + ((line[length] == '\n') ? 1 : 0);
    }
    return false;
}

void host_limits_read(struct host_limits *limits_p)
{
    char text[4096];
    char group[PATH_BYTES];
    struct host_limits limits = {MEMSPAN_UNKNOWN, MEMSPAN_UNKNOWN, MEMSPAN_UNKNOWN,
                                 "/proc/meminfo"};

    if (memspan_file_read("/proc/meminfo", text, sizeof(text)) > 0) {
        memspan_text_field(text, "MemTotal", &limits.total_bytes);
        memspan_text_field(text, "MemAvailable", &limits.free_bytes);
    }
    limits.capacity_bytes = limits.total_bytes;
    memspan_file_read("/proc/self/cgroup", text, sizeof(text));
    if (find_group(text, "memory", group, sizeof(group))) {
        apply_groups(&version_1, group, &limits);
    } else if (find_group(text, "", group, sizeof(group))) {
        apply_groups(&version_2, group, &limits);
    }
    *limits_p = limits;
}

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
    memspan_file_read("/proc/self/status", text, sizeof(text));
    memspan_text_field(text, "VmLck", &limits.locked_bytes);
    memspan_text_line(text, "CapEff", word, sizeof(word));
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

    memspan_text_from_size(limit, sizeof(limit), lock->limit_bytes);
    memspan_text_from_size(locked, sizeof(locked), lock->locked_bytes);
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
    struct host_limits limits;
    char wanted[32];
    char room[32];

    if (size_bytes < WORTH_A_LOOK) {
        return MEMSPAN_OK;
    }
    host_limits_read(&limits);
    if (size_bytes <= limits.free_bytes) {
        return MEMSPAN_OK;
    }
    return host->services->fail(
        MEMSPAN_ERR_NO_MEMORY, "host", "", 0, "", "ask for less, or for memory that is not pinned",
        "pinning %s needs them at once; %s are free (%s)",
        memspan_text_from_size(wanted, sizeof(wanted), size_bytes),
        memspan_text_from_size(room, sizeof(room), limits.free_bytes), limits.source);
}

memspan_status_t host_lock(const struct host *host, const memspan_block_t *block)
{
    struct host_lock_limits lock;
    memspan_status_t status = host_check_room(host, block->size_bytes);
    int error;

    if (status != MEMSPAN_OK) {
        return status;
    }
    /* Not by mlock(): the sanitizers' does nothing and says that it did. */
    if (syscall(SYS_mlock, block->address, block->size_bytes) == 0) {
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
