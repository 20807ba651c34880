/* SPDX-License-Identifier: BSD-3-Clause */
/* topology_system.c: NUMA by system calls and small files, without hwloc.
 *
 * libnuma would do, but it parses /proc and /sys when it is loaded, exits the process on some
 * errors, and hides the difference between "denied", "not there" and "full", a difference that
 * users need. mbind() and move_pages() have no wrapper in the C library. */

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/option.h"
#include "core/base/platform.h"
#include "core/topology/numa_kind.h"
#include <errno.h>
#include <limits.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#ifndef MPOL_PREFERRED_MANY
#define MPOL_PREFERRED_MANY 5 /* Linux 5.15; older headers lack it */
#endif

enum { WORD_BITS = CHAR_BIT * (int)sizeof(unsigned long) };

struct node_set {
    unsigned long words[MSP_NUMA_NODES_MAX / WORD_BITS];
};

/* Nodes with memory; memory may be plugged in later, but a node that has memory keeps it. */
static struct {
    struct node_set set;
    int count;
    bool plain;
    char list[128];
} memory;
static pthread_once_t memory_once = PTHREAD_ONCE_INIT;

static void set_add(struct node_set *set, int node)
{
    if ((node >= 0) && (node < MSP_NUMA_NODES_MAX)) {
        set->words[node / WORD_BITS] |= 1ul << (node % WORD_BITS);
    }
}

static bool set_has(const struct node_set *set, int node)
{
    return (node >= 0) && (node < MSP_NUMA_NODES_MAX) &&
           ((set->words[node / WORD_BITS] >> (node % WORD_BITS)) & 1ul);
}

static void set_parse(struct node_set *set, const char *text, int *count_p)
{
    struct msp_list_cursor cursor = {text, 0, -1};
    int node;

    *count_p = 0;
    while (msp_list_next(&cursor, &node)) {
        set_add(set, node);
        (*count_p)++;
    }
}

static void read_memory_nodes(void)
{
    struct node_set with_processors = {{0}};
    char text[sizeof(memory.list)];
    int ignored;
    int node;

    msp_file_read("/sys/devices/system/node/has_memory", memory.list, sizeof(memory.list));
    memory.list[strcspn(memory.list, "\n")] = '\0';
    set_parse(&memory.set, memory.list, &memory.count);
    if (memory.count == 0) {
        /* A kernel without NUMA, or no /sys: everything is node 0. */
        set_add(&memory.set, 0);
        memory.count = 1;
        memory.plain = true;
        snprintf(memory.list, sizeof(memory.list), "0");
        return;
    }
    if (memory.count == 1) {
        memory.plain = true; /* all there is */
        return;
    }
    msp_file_read("/sys/devices/system/node/has_cpu", text, sizeof(text));
    set_parse(&with_processors, text, &ignored);
    memory.plain = true;
    for (node = 0; node < MSP_NUMA_NODES_MAX; node++) {
        if (set_has(&memory.set, node) && !set_has(&with_processors, node)) {
            memory.plain = false;
        }
    }
}

bool msp_topology_foreign_asked(void)
{
    return msp_option_is_set(MSP_OPTION_HWLOC_XMLFILE) ||
           msp_option_is_set(MSP_OPTION_HWLOC_SYNTHETIC) ||
           msp_option_is_set(MSP_OPTION_HWLOC_FSROOT);
}

bool msp_topology_is_plain(void)
{
    enum { UNKNOWN, PLAIN, SPECIAL };
    static atomic_int answer; /* it never changes, and is needed for each allocator */
    int known = atomic_load_explicit(&answer, memory_order_relaxed);

    if (MSP_UNLIKELY(known == UNKNOWN)) {
        pthread_once(&memory_once, read_memory_nodes);
        known = (memory.plain && !msp_topology_foreign_asked()) ? PLAIN : SPECIAL;
        atomic_store_explicit(&answer, known, memory_order_relaxed);
    }
    return known == PLAIN;
}

bool msp_numa_node_exists(int node)
{
    pthread_once(&memory_once, read_memory_nodes);
    return set_has(&memory.set, node);
}

int msp_numa_memory_nodes(void)
{
    pthread_once(&memory_once, read_memory_nodes);
    return memory.count;
}

const char *msp_topology_memory_list(void)
{
    pthread_once(&memory_once, read_memory_nodes);
    return memory.list;
}

uint64_t msp_numa_node_free(int node)
{
    char path[64];
    char text[2048];
    uint64_t free_bytes;
    uint64_t cached = 0;
    uint64_t shared = 0;

    if (!msp_numa_node_exists(node)) {
        return MEMSPAN_UNKNOWN;
    }
    /* Where there is one node, the machine's own count is better: it includes memory that can be
     * reclaimed, and it also counts memory that a hypervisor plugged in without counting it for the
     * node. */
    if (msp_numa_memory_nodes() == 1) {
        msp_file_read("/proc/meminfo", text, sizeof(text));
        return msp_text_field(text, "MemAvailable", &free_bytes) ? free_bytes : MEMSPAN_UNKNOWN;
    }
    snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/meminfo", node);
    msp_file_read(path, text, sizeof(text));
    if (!msp_text_field(text, "MemFree", &free_bytes)) {
        return MEMSPAN_UNKNOWN;
    }
    msp_text_field(text, "FilePages", &cached);
    msp_text_field(text, "Shmem", &shared);
    return free_bytes + ((cached > shared) ? cached - shared : 0);
}

int msp_numa_node_here(void)
{
    unsigned processor;
    unsigned node;

    return (getcpu(&processor, &node) == 0) ? (int)node : -1;
}

/* Distance from @p from to node @p to; the file has one number for each node that is online, in
 * ascending order of their numbers. */
static long distance_to(const char *distances, const char *online, int to)
{
    struct msp_list_cursor cursor = {online, 0, -1};
    const char *at                = distances;
    int node;

    while (msp_list_next(&cursor, &node)) {
        char *end;
        long distance = strtol(at, &end, 10);
        if (end == at) {
            break;
        }
        if (node == to) {
            return distance;
        }
        at = end;
    }
    return LONG_MAX;
}

struct distances {
    char text[4096];
    char online[256];
};

static void read_distances(int from, struct distances *d)
{
    char path[64];

    snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/distance", from);
    msp_file_read(path, d->text, sizeof(d->text));
    msp_file_read("/sys/devices/system/node/online", d->online, sizeof(d->online));
}

int msp_numa_nearest(int from, const int *nodes, size_t node_count)
{
    struct distances distances;
    long best   = LONG_MAX;
    int nearest = (node_count > 0) ? nodes[0] : -1;
    size_t i;

    for (i = 0; i < node_count; i++) {
        if (nodes[i] == from) {
            return from;
        }
    }
    if ((node_count < 2) || (from < 0)) {
        return nearest;
    }
    read_distances(from, &distances);
    for (i = 0; i < node_count; i++) {
        long distance = distance_to(distances.text, distances.online, nodes[i]);
        if (distance < best) {
            best    = distance;
            nearest = nodes[i];
        }
    }
    return nearest;
}

void msp_numa_sort_by_distance(int from, int *nodes, size_t node_count)
{
    struct distances distances;
    size_t i;
    size_t j;

    if (node_count < 2) {
        return;
    }
    read_distances(from, &distances);
    for (i = 1; i < node_count; i++) { /* few, and equal ones stay in their order */
        int node      = nodes[i];
        long distance = (node == from) ? 0 : distance_to(distances.text, distances.online, node);

        for (j = i; (j > 0) && (nodes[j - 1] != from) &&
                    (distance_to(distances.text, distances.online, nodes[j - 1]) > distance);
             j--) {
            nodes[j] = nodes[j - 1];
        }
        nodes[j] = node;
    }
}

int msp_numa_processor_nodes(int *nodes, int capacity)
{
    struct msp_list_cursor cursor = {NULL, 0, -1};
    char text[1024];
    int count = 0;

    msp_file_read("/sys/devices/system/node/has_cpu", text, sizeof(text));
    cursor.text = text;
    while ((count < capacity) && msp_list_next(&cursor, &nodes[count])) {
        count++;
    }
    return count;
}

static memspan_status_t bind_failed(int error, const char *asked)
{
    static const char call[] = "mbind";
    const char *words        = strerrordesc_np(error);

    switch (error) {
    case EPERM:
    case EACCES:
        return msp_error_native(
            MEMSPAN_ERR_PERMISSION, "host", call, error, words,
            "containers deny mbind by default: grant CAP_SYS_NICE or allow it in the seccomp "
            "profile; or do not ask for a node",
            "binding memory to %s was denied", asked);
    case ENOSYS:
        return msp_error_native(MEMSPAN_ERR_UNSUPPORTED, "host", call, error, words,
                                "the kernel was built without NUMA support",
                                "memory cannot be bound to %s", asked);
    case EIO:
    case ENOMEM:
        return msp_error_native(MEMSPAN_ERR_NO_MEMORY, "host", call, error, words,
                                "free memory there, or ask without strict placement",
                                "pages could not be moved to %s", asked);
    default:
        return msp_error_native(MEMSPAN_ERR_DRIVER, "host", call, error, words,
                                "the process's cpuset may exclude the node",
                                "memory could not be bound to %s", asked);
    }
}

/* The kernel takes the mask for one bit longer than the part that it reads, by an old quirk of its
 * interface. */
static long bind_pages(void *address, size_t size_bytes, int mode, const struct node_set *set,
                       unsigned flags)
{
    return syscall(SYS_mbind, address, size_bytes, mode, set->words,
                   (unsigned long)MSP_NUMA_NODES_MAX + 1, flags);
}

static memspan_status_t check_nodes(const int *nodes, size_t node_count, struct node_set *set_p)
{
    size_t i;

    if (msp_topology_is_foreign()) {
        memspan_error(MEMSPAN_ERR_UNSUPPORTED,
                      "memory cannot be bound: the topology in force is not this machine's");
        return msp_error_hint("unset HWLOC_XMLFILE, HWLOC_SYNTHETIC and HWLOC_FSROOT");
    }
    for (i = 0; i < node_count; i++) {
        if (!msp_numa_node_exists(nodes[i])) {
            memspan_error(MEMSPAN_ERR_NOT_FOUND, "no memory on NUMA node %d", nodes[i]);
            return msp_error_hint("nodes with memory: %s", msp_topology_memory_list());
        }
        set_add(set_p, nodes[i]);
    }
    return MEMSPAN_OK;
}

memspan_status_t msp_topology_bind(void *address, size_t size_bytes, const int *nodes,
                                   size_t node_count, bool interleave, bool strict)
{
    struct node_set set = {{0}};
    memspan_status_t status;
    char asked[32];
    int mode;

    if ((address == NULL) || (size_bytes == 0) || (nodes == NULL) || (node_count == 0) ||
        ((uintptr_t)address % msp_page_size() != 0)) {
        return memspan_error(MEMSPAN_ERR_INVALID,
                             "nothing to bind, or not whole pages: %zu bytes at %p, %zu nodes",
                             size_bytes, address, (nodes == NULL) ? 0 : node_count);
    }
    status = check_nodes(nodes, node_count, &set);
    if (status != MEMSPAN_OK) {
        return status;
    }
    mode = interleave
               ? MPOL_INTERLEAVE
               : (strict ? MPOL_BIND : ((node_count == 1) ? MPOL_PREFERRED : MPOL_PREFERRED_MANY));
    if (bind_pages(address, size_bytes, mode, &set, MPOL_MF_MOVE | (strict ? MPOL_MF_STRICT : 0)) ==
        0) {
        return MEMSPAN_OK;
    }
    if ((errno == EINVAL) && (mode == MPOL_PREFERRED_MANY)) {
        /* One of them could be preferred; that would quietly be something else. */
        return msp_error_native(MEMSPAN_ERR_UNSUPPORTED, "host", "mbind", EINVAL,
                                strerrordesc_np(EINVAL), "Linux 5.15 and later can",
                                "the kernel cannot prefer %zu nodes at once", node_count);
    }
    snprintf(asked, sizeof(asked), (node_count == 1) ? "node %d" : "node %d and others", nodes[0]);
    return bind_failed(errno, asked);
}

bool msp_topology_prefer(void *address, size_t size_bytes, int node, bool odd, bool move)
{
    struct node_set set = {{0}};

    set_add(&set, node);
    /* The flag changes nothing while the process keeps its nodes, but policies that differ in it
     * are not equal. */
    return bind_pages(address, size_bytes, MPOL_PREFERRED | (odd ? MPOL_F_STATIC_NODES : 0), &set,
                      move ? MPOL_MF_MOVE : 0) == 0;
}

void msp_topology_hold(void *address, size_t size_bytes)
{
    if (msp_numa_memory_nodes() > 1) {
        /* An explicit policy, even this one, takes the pages out of NUMA balancing. */
        syscall(SYS_mbind, address, size_bytes, MPOL_LOCAL, NULL, 0ul, 0u);
    }
}

int msp_numa_node_of_page(const void *address)
{
    void *page = (void *)((uintptr_t)address & ~(uintptr_t)(msp_page_size() - 1));
    int status = -1;

    if ((address == NULL) || (syscall(SYS_move_pages, 0, 1ul, &page, NULL, &status, 0) != 0)) {
        return -1;
    }
    return (status >= 0) ? status : -1;
}

size_t msp_numa_pages_elsewhere(const void *address, size_t size_bytes, int node)
{
    enum { AT_ONCE = 512 };
    void *pages[AT_ONCE];
    int nodes[AT_ONCE];
    uintptr_t at     = (uintptr_t)address;
    uintptr_t end    = at + size_bytes;
    size_t elsewhere = 0;

    while (at < end) {
        size_t count;
        size_t i;

        for (count = 0; (count < AT_ONCE) && (at < end); count++, at += msp_page_size()) {
            pages[count] = (void *)at;
        }
        if (syscall(SYS_move_pages, 0, count, pages, NULL, nodes, 0) != 0) {
            break;
        }
        for (i = 0; i < count; i++) {
            elsewhere += ((nodes[i] >= 0) && (nodes[i] != node)) ? 1 : 0;
        }
    }
    return elsewhere;
}

void msp_numa_nodes_of_pages(const void *const *addresses, size_t count, int *nodes)
{
    enum { AT_ONCE = 512 };
    void *pages[AT_ONCE];
    size_t at;
    size_t i;

    for (at = 0; at < count; at += AT_ONCE) {
        size_t some = (count - at < AT_ONCE) ? count - at : (size_t)AT_ONCE;

        for (i = 0; i < some; i++) {
            pages[i] = (void *)((uintptr_t)addresses[at + i] & ~(uintptr_t)(msp_page_size() - 1));
            nodes[at + i] = -1;
        }
        if (syscall(SYS_move_pages, 0, some, pages, NULL, nodes + at, 0) != 0) {
            memset(nodes + at, 0xff, some * sizeof(*nodes));
        }
    }
}
