/* SPDX-License-Identifier: BSD-3-Clause */
/* memory_limit.c: the machine's total means little inside a container: the smallest limit of the
 * control groups that enclose the process counts, of version 1 and of version 2, from its own group
 * up to the root. Inside a container the path in /proc/self/cgroup may name groups that are not
 * visible; then the root of the mount is the container's own group. */

#include "core/base/file.h"
#include "core/base/process.h"
#include <memspan/device.h>
#include <stdio.h>
#include <string.h>

/* Where a version of control groups keeps things. */
struct cgroup_form {
    const char *root;
    const char *limit;
    const char *high; /* from here on the kernel slows the group down; or NULL */
    const char *usage;
    const char *inactive; /* the field of memory.stat for page cache that would be given up */
};

static const struct cgroup_form version_1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes", NULL,
                                             "memory.usage_in_bytes", "total_inactive_file"};
static const struct cgroup_form version_2 = {"/sys/fs/cgroup", "memory.max", "memory.high",
                                             "memory.current", "inactive_file"};

enum { PATH_BYTES = 512 };

/* The number in a file of a group that says "max", or is not there, does not count. */
static uint64_t read_limit(const char *root, const char *group, const char *name)
{
    char path[PATH_BYTES + 64];
    uint64_t limit = UINT64_MAX;

    if (name != NULL) {
        snprintf(path, sizeof(path), "%s%s/%s", root, group, name);
        (void)msp_file_number(path, &limit);
    }
    return limit;
}

/* Takes one group into account, if it exists. */
static void apply_group(const struct cgroup_form *form, const char *group,
                        struct msp_memory_limits *limits)
{
    char path[PATH_BYTES + 64];
    char statistics[4096];
    uint64_t limit    = read_limit(form->root, group, form->limit);
    uint64_t high     = read_limit(form->root, group, form->high);
    uint64_t usage    = 0;
    uint64_t inactive = 0;
    uint64_t free_bytes;

    limit = (high < limit) ? high : limit;
    if (limit >= limits->total_bytes) {
        return; /* "no limit" is a very large number in version 1 */
    }
    if (limit < limits->capacity_bytes) {
        limits->capacity_bytes = limit;
        limits->source         = "cgroup limit";
    }
    snprintf(path, sizeof(path), "%s%s/%s", form->root, group, form->usage);
    msp_file_number(path, &usage);
    snprintf(path, sizeof(path), "%s%s/memory.stat", form->root, group);
    if (msp_file_read(path, statistics, sizeof(statistics)) > 0) {
        msp_text_field(statistics, form->inactive, &inactive);
    }
    usage -= (inactive < usage) ? inactive : usage;
    free_bytes = (limit > usage) ? limit - usage : 0;
    if (free_bytes < limits->free_bytes) {
        limits->free_bytes = free_bytes;
    }
}

static void apply_groups(const struct cgroup_form *form, const char *own,
                         struct msp_memory_limits *limits)
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

void msp_memory_limits_read(struct msp_memory_limits *limits_p)
{
    char text[4096];
    char group[PATH_BYTES];
    struct msp_memory_limits limits = {MEMSPAN_UNKNOWN, MEMSPAN_UNKNOWN, MEMSPAN_UNKNOWN,
                                       "/proc/meminfo"};

    if (msp_file_read("/proc/meminfo", text, sizeof(text)) > 0) {
        msp_text_field(text, "MemTotal", &limits.total_bytes);
        msp_text_field(text, "MemAvailable", &limits.free_bytes);
    }
    limits.capacity_bytes = limits.total_bytes;
    msp_file_read("/proc/self/cgroup", text, sizeof(text));
    if (find_group(text, "memory", group, sizeof(group))) {
        apply_groups(&version_1, group, &limits);
    } else if (find_group(text, "", group, sizeof(group))) {
        apply_groups(&version_2, group, &limits);
    }
    *limits_p = limits;
}
