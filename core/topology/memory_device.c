/* SPDX-License-Identifier: BSD-3-Clause */
/* memory_device.c: the buses dax, nd and cxl, and block devices of persistent memory. */

#include "core/topology/memory_device.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/option.h"
#include "core/base/platform.h"
#include "core/base/process.h"
#include "core/base/text.h"
#include "core/topology/topology.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 1024 };

/* One device's folder in /sys. */
struct entry {
    const char *root;
    const char *name;
    char folder[PATH_BYTES];
};

/* ---- attributes ---- */

/* The first line of a file; false where there is none. */
static bool read_text(const struct entry *e, const char *attribute, char *text, size_t size)
{
    char path[PATH_BYTES + 64];

    snprintf(path, sizeof(path), "%s/%s", e->folder, attribute);
    if (msp_file_read(path, text, size) < 0) {
        return false;
    }
    text[strcspn(text, "\n")] = '\0';
    return true;
}

/* Decimal, or with 0x. @p unknown where there is none. */
static uint64_t read_number(const struct entry *e, const char *attribute, uint64_t unknown)
{
    char text[64];
    char *end;
    uint64_t value;

    if (!read_text(e, attribute, text, sizeof(text)) || !isdigit((unsigned char)text[0])) {
        return unknown;
    }
    value = strtoull(text, &end, 0);
    return (*end == '\0') ? value : unknown;
}

static int read_node(const struct entry *e, const char *attribute)
{
    uint64_t node = read_number(e, attribute, MSP_NUMA_NODES_MAX);

    return (node < MSP_NUMA_NODES_MAX) ? (int)node : -1;
}

/* The last part of what a link names, "" where there is no link. */
static void read_link(const struct entry *e, const char *link, char *text, size_t size)
{
    char path[PATH_BYTES + 64];
    char target[PATH_BYTES];
    ssize_t length;
    const char *slash;

    snprintf(path, sizeof(path), "%s/%s", e->folder, link);
    length                            = readlink(path, target, sizeof(target) - 1);
    target[(length > 0) ? length : 0] = '\0';
    slash                             = strrchr(target, '/');
    snprintf(text, size, "%.*s", (int)size - 1, (slash == NULL) ? target : slash + 1);
}

static bool begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* ---- may this process open it ---- */

static bool may_open(const struct entry *e, memspan_memory_device_info_t *info)
{
    char path[PATH_BYTES + 64];

    snprintf(path, sizeof(path), "%s%s", e->root, info->path);
    if (faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0) {
        return true;
    }
    snprintf(info->why, sizeof(info->why), "%s cannot be opened to read and write (%s)%s",
             info->path, strerrordesc_np(errno),
             (errno == EACCES) ? "; its owner may give the rights, chmod or a rule of udev" : "");
    return false;
}

/* ---- DAX ---- */

/* A node of memory that is online. */
static bool node_has_memory(const struct entry *e, int node)
{
    struct msp_list_cursor cursor = {NULL, 0, -1};
    char path[PATH_BYTES + 64];
    char text[1024];
    int number;

    snprintf(path, sizeof(path), "%s/sys/devices/system/node/has_memory", e->root);
    msp_file_read(path, text, sizeof(text));
    cursor.text = text;
    while (msp_list_next(&cursor, &number)) {
        if (number == node) {
            return true;
        }
    }
    return false;
}

static void explain_system_ram(const struct entry *e, memspan_memory_device_info_t *info)
{
    info->usable = node_has_memory(e, info->target_node);
    if (info->usable) {
        snprintf(info->why, sizeof(info->why), "it is NUMA node %d", info->target_node);
    } else {
        snprintf(info->why, sizeof(info->why),
                 "the memory of node %d is offline: daxctl online-memory %s", info->target_node,
                 e->name);
    }
}

static void explain_devdax(const struct entry *e, memspan_memory_device_info_t *info)
{
    char align[32];

    snprintf(info->path, sizeof(info->path), "/dev/%.31s", e->name);
    if ((info->align_bytes != 0) && (info->capacity_bytes % info->align_bytes != 0)) {
        snprintf(info->why, sizeof(info->why),
                 "its size is no multiple of its alignment, so its end cannot be mapped");
        return;
    }
    info->usable = may_open(e, info);
    if (info->usable) {
        snprintf(info->why, sizeof(info->why), "programs map the file in multiples of %s",
                 msp_text_from_size(align, sizeof(align), info->align_bytes));
    }
}

/* Its parent on the bus nd is persistent memory. */
static int dax_persistent(const struct entry *e)
{
    char path[PATH_MAX];

    if (realpath(e->folder, path) == NULL) {
        return -1;
    }
    return (strstr(path, "/ndbus") != NULL) ? 1 : 0;
}

static bool read_dax(const struct entry *e, memspan_memory_device_info_t *info)
{
    char driver[32];

    info->kind           = MEMSPAN_MEMORY_DEVICE_DAX;
    info->capacity_bytes = read_number(e, "size", MEMSPAN_UNKNOWN);
    info->align_bytes    = read_number(e, "align", 0);
    info->target_node    = read_node(e, "target_node");
    info->persistent     = dax_persistent(e);
    read_link(e, "driver", driver, sizeof(driver));
    if (info->capacity_bytes == 0) {
        return false; /* a seed, of which devices are made */
    }
    if (strcmp(driver, "kmem") == 0) {
        snprintf(info->mode, sizeof(info->mode), "system-ram");
        explain_system_ram(e, info);
    } else if (strcmp(driver, "device_dax") == 0) {
        snprintf(info->mode, sizeof(info->mode), "devdax");
        explain_devdax(e, info);
    } else {
        snprintf(info->why, sizeof(info->why),
                 "no driver is bound to it: daxctl reconfigure-device -m devdax (or system-ram) %s",
                 e->name);
    }
    return true;
}

/* ---- NVDIMMs ---- */

/* The bytes of a region's namespaces. */
static uint64_t namespace_bytes(const struct entry *e)
{
    struct entry other = {e->root, e->name, ""};
    uint64_t bytes     = 0;
    char path[PATH_BYTES];
    char prefix[48];
    struct dirent *entry;
    DIR *bus;

    snprintf(prefix, sizeof(prefix), "namespace%.31s.", e->name + strlen("region"));
    snprintf(path, sizeof(path), "%.640s/sys/bus/nd/devices", e->root);
    bus = opendir(path);
    while ((bus != NULL) && ((entry = readdir(bus)) != NULL)) {
        if (begins(entry->d_name, prefix)) {
            snprintf(other.folder, sizeof(other.folder), "%.700s/%.255s", path, entry->d_name);
            bytes += read_number(&other, "size", 0);
        }
    }
    if (bus != NULL) {
        closedir(bus);
    }
    return bytes;
}

/* What no namespace has. The kernel counts by labels, which a namespace may lack. */
static uint64_t region_rest(const struct entry *e, uint64_t size_bytes)
{
    uint64_t rest = read_number(e, "available_size", 0);
    uint64_t used = (rest > 0) ? namespace_bytes(e) : 0;

    return (used >= size_bytes) ? 0 : ((rest < size_bytes - used) ? rest : size_bytes - used);
}

static void read_region(const struct entry *e, memspan_memory_device_info_t *info)
{
    uint64_t rest = region_rest(e, info->capacity_bytes);
    char size[32];

    info->kind        = MEMSPAN_MEMORY_DEVICE_REGION;
    info->align_bytes = read_number(e, "align", 0);
    if (read_number(e, "read_only", 0) != 0) {
        snprintf(info->why, sizeof(info->why),
                 "it is read-only: echo 0 >/sys/bus/nd/devices/%s/read_only, where its modules are "
                 "armed",
                 e->name);
    } else if (rest > 0) {
        snprintf(info->why, sizeof(info->why),
                 "%s of it is in no namespace: ndctl create-namespace -r %s -m devdax (or fsdax)",
                 msp_text_from_size(size, sizeof(size), rest), e->name);
    } else {
        info->usable = 1;
        snprintf(info->why, sizeof(info->why), "its namespaces have all of it");
    }
}

/* The kernel's word for the mode, and ndctl's. */
static const char *namespace_mode(const char *word)
{
    static const char *const words[][2] = {
        {"memory", "fsdax"}, {"dax", "devdax"}, {"safe", "sector"}, {"raw", "raw"}};
    size_t i;

    for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(word, words[i][0]) == 0) {
            return words[i][1];
        }
    }
    return "";
}

static bool read_namespace(const struct entry *e, memspan_memory_device_info_t *info)
{
    char word[16];
    char holder[32];

    info->kind = MEMSPAN_MEMORY_DEVICE_NAMESPACE;
    if (info->capacity_bytes == 0) {
        return false; /* a seed */
    }
    read_text(e, "mode", word, sizeof(word));
    read_text(e, "holder", holder, sizeof(holder));
    snprintf(info->mode, sizeof(info->mode), "%s", namespace_mode(word));
    info->usable = (strcmp(info->mode, "devdax") == 0) || (strcmp(info->mode, "fsdax") == 0);
    if (info->usable) {
        snprintf(info->why, sizeof(info->why), "%s has it",
                 (holder[0] == '\0') ? "its device" : holder);
    } else {
        snprintf(info->why, sizeof(info->why),
                 "no program maps mode %s: ndctl create-namespace -f -m devdax (or fsdax) -e %s "
                 "changes it and loses its contents",
                 (info->mode[0] == '\0') ? "(unknown)" : info->mode, e->name);
    }
    return true;
}

static bool read_nd(const struct entry *e, memspan_memory_device_info_t *info)
{
    info->capacity_bytes = read_number(e, "size", MEMSPAN_UNKNOWN);
    info->target_node    = read_node(e, "target_node");
    info->persistent     = 1;
    if (begins(e->name, "region")) {
        read_region(e, info);
        return true;
    }
    return begins(e->name, "namespace") && read_namespace(e, info);
}

/* ---- block devices ---- */

/* The folder at which the device is mounted, and its options. */
static bool find_mount(const struct entry *e, char *folder, size_t size, char *options,
                       size_t options_size)
{
    char path[PATH_BYTES + 64];
    char line[PATH_BYTES];
    char device[256];
    char at[256];
    char with[256];
    bool found = false;
    FILE *mounts;

    snprintf(path, sizeof(path), "%s/proc/self/mounts", e->root);
    mounts = fopen(path, "re");
    while ((mounts != NULL) && !found && (fgets(line, sizeof(line), mounts) != NULL)) {
        found = (sscanf(line, "%255s %255s %*s %255s", device, at, with) == 3) &&
                begins(device, "/dev/") && (strcmp(device + strlen("/dev/"), e->name) == 0);
    }
    if (mounts != NULL) {
        fclose(mounts);
    }
    snprintf(folder, size, "%.*s", (int)size - 1, found ? at : "");
    snprintf(options, options_size, ",%.*s,", (int)options_size - 3, found ? with : "");
    return found;
}

static void explain_mount(const struct entry *e, memspan_memory_device_info_t *info)
{
    char folder[96];
    char options[128];

    if (!find_mount(e, folder, sizeof(folder), options, sizeof(options))) {
        snprintf(info->why, sizeof(info->why),
                 "it is not mounted: a file system on it, mounted with -o dax, has files that "
                 "programs map");
    } else if ((strstr(options, ",dax") == NULL) || (strstr(options, ",dax=never,") != NULL)) {
        snprintf(info->why, sizeof(info->why),
                 "the file system at %s is mounted without dax, so its files are copied to page "
                 "cache: mount -o dax",
                 folder);
    } else {
        info->usable = 1;
        snprintf(info->why, sizeof(info->why), "programs map the files at %s", folder);
    }
}

static bool read_block(const struct entry *e, memspan_memory_device_info_t *info)
{
    uint64_t sectors;
    bool dax;

    if (!begins(e->name, "pmem") || (read_number(e, "partition", 0) != 0)) {
        return false;
    }
    sectors              = read_number(e, "size", MEMSPAN_UNKNOWN);
    dax                  = (read_number(e, "queue/dax", 0) != 0);
    info->kind           = MEMSPAN_MEMORY_DEVICE_BLOCK;
    info->capacity_bytes = (sectors == MEMSPAN_UNKNOWN) ? sectors : sectors * 512;
    info->align_bytes    = msp_page_size();
    info->numa_node      = read_node(e, "device/numa_node");
    info->target_node    = read_node(e, "device/target_node");
    info->persistent     = 1;
    snprintf(info->path, sizeof(info->path), "/dev/%.31s", e->name);
    snprintf(info->mode, sizeof(info->mode), "%s",
             dax ? "fsdax" : ((e->name[strlen(e->name) - 1] == 's') ? "sector" : "raw"));
    if (!dax) {
        snprintf(info->why, sizeof(info->why),
                 "it has no DAX (/sys/block/%s/queue/dax): its files are copied to page cache",
                 e->name);
    } else if (read_number(e, "ro", 0) != 0) {
        snprintf(info->why, sizeof(info->why), "it is read-only: blockdev --setrw %s", info->path);
    } else {
        explain_mount(e, info);
    }
    return true;
}

/* ---- CXL ---- */

static bool has_cxl_region(const struct entry *e)
{
    char path[PATH_BYTES + 64];
    struct dirent *entry;
    bool found = false;
    DIR *bus;

    snprintf(path, sizeof(path), "%s/sys/bus/cxl/devices", e->root);
    bus = opendir(path);
    while ((bus != NULL) && !found && ((entry = readdir(bus)) != NULL)) {
        found = begins(entry->d_name, "region");
    }
    if (bus != NULL) {
        closedir(bus);
    }
    return found;
}

static void read_cxl_region(const struct entry *e, memspan_memory_device_info_t *info)
{
    char driver[32];

    info->kind           = MEMSPAN_MEMORY_DEVICE_CXL_REGION;
    info->capacity_bytes = read_number(e, "size", MEMSPAN_UNKNOWN);
    read_text(e, "mode", info->mode, sizeof(info->mode));
    info->persistent = (info->mode[0] == '\0') ? -1 : (strcmp(info->mode, "pmem") == 0);
    read_link(e, "driver", driver, sizeof(driver));
    if (read_number(e, "commit", 0) == 0) {
        snprintf(info->why, sizeof(info->why),
                 "its decoders are not committed: cxl enable-region %s", e->name);
    } else if (driver[0] == '\0') {
        snprintf(info->why, sizeof(info->why), "no driver is bound to it: cxl enable-region %s",
                 e->name);
    } else {
        info->usable = 1;
        snprintf(info->why, sizeof(info->why), "%s",
                 (info->persistent == 1) ? "a region of NVDIMMs stands for it"
                                         : "a DAX device stands for it, or it is system memory");
    }
}

static bool read_cxl(const struct entry *e, memspan_memory_device_info_t *info)
{
    uint64_t ram;
    uint64_t persistent;

    if (begins(e->name, "region")) {
        read_cxl_region(e, info);
        return true;
    }
    if (!begins(e->name, "mem") || !isdigit((unsigned char)e->name[strlen("mem")]) ||
        has_cxl_region(e)) {
        return false;
    }
    ram                  = read_number(e, "ram/size", 0);
    persistent           = read_number(e, "pmem/size", 0);
    info->kind           = MEMSPAN_MEMORY_DEVICE_CXL_MEMORY;
    info->capacity_bytes = ram + persistent;
    info->persistent     = (ram == 0) ? 1 : ((persistent == 0) ? 0 : -1);
    snprintf(info->mode, sizeof(info->mode), "%s", (ram > 0) ? "ram" : "pmem");
    snprintf(
        info->why, sizeof(info->why),
        "the kernel shows no region of it: firmware has mapped it, or cxl create-region -m %s -t "
        "%s does",
        e->name, info->mode);
    return true;
}

/* ---- all ---- */

static const struct bus {
    const char *folder;
    bool (*read)(const struct entry *entry, memspan_memory_device_info_t *info);
} buses[] = {
    {"/sys/bus/dax/devices", read_dax},
    {"/sys/bus/nd/devices", read_nd},
    {"/sys/class/block", read_block},
    {"/sys/bus/cxl/devices", read_cxl},
};

/* False where the name is none of a memory device. */
static bool read_entry(const struct bus *bus, const char *root, const char *name,
                       memspan_memory_device_info_t *info)
{
    struct entry entry = {root, name, ""};

    if (name[0] == '.') {
        return false;
    }
    snprintf(entry.folder, sizeof(entry.folder), "%.640s%s/%.255s", root, bus->folder, name);
    *info = (memspan_memory_device_info_t){.struct_size    = sizeof(*info),
                                           .capacity_bytes = MEMSPAN_UNKNOWN,
                                           .numa_node      = read_node(&entry, "numa_node"),
                                           .target_node    = -1,
                                           .persistent     = -1};
    snprintf(info->name, sizeof(info->name), "%.31s", name);
    return bus->read(&entry, info);
}

static int scan_bus(const struct bus *bus, const char *root, int wanted,
                    memspan_memory_device_info_t *info_p)
{
    struct dirent **names;
    char path[PATH_BYTES];
    int found = 0;
    int count;
    int i;

    snprintf(path, sizeof(path), "%.640s%s", root, bus->folder);
    count = scandir(path, &names, NULL, versionsort);
    for (i = 0; i < count; i++) {
        memspan_memory_device_info_t info;

        if (read_entry(bus, root, names[i]->d_name, &info)) {
            if (found == wanted) {
                *info_p = info;
            }
            found++;
        }
        free(names[i]);
    }
    if (count >= 0) {
        free(names);
    }
    return found;
}

int msp_memory_device_scan(const char *root, int wanted, memspan_memory_device_info_t *info_p)
{
    int found = 0;
    size_t i;

    for (i = 0; i < sizeof(buses) / sizeof(buses[0]); i++) {
        found += scan_bus(&buses[i], root, wanted - found, info_p);
    }
    return found;
}

/* ---- the public view ---- */

struct scan {
    int wanted;
    int count;
    memspan_memory_device_info_t info;
};

static int scan_source(int wanted, memspan_memory_device_info_t *info_p)
{
    if (msp_option_is_set(MSP_OPTION_HWLOC_XMLFILE) ||
        msp_option_is_set(MSP_OPTION_HWLOC_SYNTHETIC)) {
        return msp_topology_memory_devices(wanted, info_p);
    }
    return msp_memory_device_scan(
        msp_option_is_set(MSP_OPTION_HWLOC_FSROOT) ? msp_option_text(MSP_OPTION_HWLOC_FSROOT) : "",
        wanted, info_p);
}

static void scan_now(void *argument)
{
    struct scan *scan = argument;

    scan->count = scan_source(scan->wanted, &scan->info);
}

const char *memspan_memory_device_kind_name(memspan_memory_device_kind_t kind)
{
    static const char *const names[] = {"dax",   "region",     "namespace",
                                        "block", "cxl-region", "cxl-memory"};

    return ((unsigned)kind < sizeof(names) / sizeof(names[0])) ? names[kind] : "other";
}

int memspan_memory_device_count(void)
{
    struct scan scan = {.wanted = -1};

    msp_stack_run(scan_now, &scan);
    return scan.count;
}

memspan_status_t memspan_memory_device_describe(int index, memspan_memory_device_info_t *info_p)
{
    struct scan scan = {.wanted = index};

    msp_stack_run(scan_now, &scan);
    if ((info_p == NULL) || (index < 0) || (index >= scan.count)) {
        return memspan_error(MEMSPAN_ERR_INVALID, "no memory device %d, or info_p is NULL", index);
    }
    return msp_struct_write(info_p, &scan.info, sizeof(scan.info));
}
