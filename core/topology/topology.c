/* SPDX-License-Identifier: BSD-3-Clause */
/* topology.c: the machine's NUMA nodes, loaded once from hwloc.
 *
 * Readers see a table that never changes. When a backend reports a device whose memory shows as a
 * node, a new table takes its place, and the old one is kept, because a reader may hold it; that
 * happens at most once for each such device. hwloc's own objects are only touched under the lock.
 */

#include "core/topology/topology.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/fork.h"
#include "core/base/log.h"
#include "core/base/option.h"
#include "core/base/platform.h"
#include "core/base/process.h"
#include "core/topology/hwloc.h"
#include "core/topology/memory_device.h"
#include "core/topology/numa_kind.h"
#include "core/topology/place.h"
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node_table {
    int count;
    struct node_table *older;
    memspan_numa_node_info_t nodes[];
};

struct device_note {
    char pci_address[32];
    int node;
};

enum { NOTES_MAX = 256 };

/* Guards everything here; the table's pointer is also read without it. */
MSP_LOCK_STATIC(lock, MSP_RANK_TOPOLOGY);
static struct {
    _Atomic(struct node_table *) table;
    struct node_table *raw; /* as hwloc has it, before notes and comparisons */
    hwloc_topology_t hwloc; /* NULL where it could not be loaded, and */
    char problem[96];       /* the reason */
    bool foreign;
    bool places_ready;
    struct msp_places places;
    struct device_note notes[NOTES_MAX];
    int note_count;
} topology MSP_SPARSE;

/* hwloc would load these to look for devices; drivers are opened by their backends alone, and a
 * node's kind follows without any device. */
static void forbid_device_components(hwloc_topology_t hwloc)
{
    static const char *const names[] = {"opencl", "cuda", "nvml", "rsmi", "levelzero", "gl", "pci"};
    size_t i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        /* Fails for types that this hwloc does not have, which is as good. */
        hwloc_topology_set_components(hwloc, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, names[i]);
    }
}

/* hwloc reads these variables itself, and takes this machine, without a word, where it cannot parse
 * their values: so they are tried here first. */
static void check_foreign(hwloc_topology_t hwloc)
{
    if (msp_option_is_set(MSP_OPTION_HWLOC_XMLFILE) &&
        (hwloc_topology_set_xml(hwloc, msp_option_text(MSP_OPTION_HWLOC_XMLFILE)) != 0)) {
        msp_option_refuse(MSP_OPTION_HWLOC_XMLFILE,
                          "hwloc cannot read it, and describes this machine instead");
    }
    if (msp_option_is_set(MSP_OPTION_HWLOC_SYNTHETIC) &&
        (hwloc_topology_set_synthetic(hwloc, msp_option_text(MSP_OPTION_HWLOC_SYNTHETIC)) != 0)) {
        msp_option_refuse(MSP_OPTION_HWLOC_SYNTHETIC,
                          "hwloc cannot parse it, and describes this machine instead");
    }
}

/* No machine can be made up, and this one's memory is not forbidden for its sake. */
static void refuse_foreign(const char *why)
{
    static const enum msp_option options[] = {MSP_OPTION_HWLOC_XMLFILE, MSP_OPTION_HWLOC_SYNTHETIC,
                                              MSP_OPTION_HWLOC_FSROOT};
    size_t i;

    for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        if (msp_option_is_set(options[i])) {
            msp_option_refuse(options[i], "%s", why);
        }
    }
}

/* hwloc opened a file that it cannot load, one of a later format perhaps, and it reads the variable
 * again whatever is asked of it: then there is no topology. */
static void explain_failure(int error)
{
    unsigned version = hwloc_get_api_version();
    char why[128];

    snprintf(topology.problem, sizeof(topology.problem), "hwloc (API %u.%u) loads no topology: %s",
             version >> 16, (version >> 8) & 0xff, strerror(error));
    if (msp_topology_foreign_asked()) {
        snprintf(why, sizeof(why), "%.63s; HWLOC_XML_VERBOSE=1 prints its reason",
                 topology.problem);
        refuse_foreign(why);
    }
}

static hwloc_topology_t load_hwloc(void)
{
    hwloc_topology_t hwloc;
    unsigned long flags = HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING;

    if (!msp_hwloc_open() || (hwloc_topology_init(&hwloc) != 0)) {
        return NULL;
    }
#if HWLOC_API_VERSION >= 0x00020800
    if (hwloc_get_api_version() >= 0x00020800) {
        flags |= HWLOC_TOPOLOGY_FLAG_NO_DISTANCES | HWLOC_TOPOLOGY_FLAG_NO_CPUKINDS;
    }
#endif
    hwloc_topology_set_io_types_filter(hwloc, HWLOC_TYPE_FILTER_KEEP_NONE);
    if (msp_option_is_set(MSP_OPTION_HWLOC_XMLFILE)) {
        /* NVDIMMs of a recorded machine; looking for them in /sys would take long. */
        hwloc_topology_set_type_filter(hwloc, HWLOC_OBJ_OS_DEVICE, HWLOC_TYPE_FILTER_KEEP_ALL);
    }
    hwloc_topology_set_type_filter(hwloc, HWLOC_OBJ_MISC, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_type_filter(hwloc, HWLOC_OBJ_MEMCACHE, HWLOC_TYPE_FILTER_KEEP_ALL);
    forbid_device_components(hwloc);
    check_foreign(hwloc);
    if ((hwloc_topology_set_flags(hwloc, flags) != 0) || (hwloc_topology_load(hwloc) != 0)) {
        explain_failure(errno);
        hwloc_topology_destroy(hwloc);
        return NULL;
    }
    return hwloc;
}

static struct node_table *make_table(int capacity)
{
    struct node_table *table =
        calloc(1, sizeof(*table) + (size_t)capacity * sizeof(table->nodes[0]));

    return table;
}

/* The topology when hwloc fails: one node of ordinary memory, and the processors. */
static struct node_table *make_fallback(const char *why)
{
    struct node_table *table = make_table(1);
    char text[2048];

    if (table != NULL) {
        msp_file_read("/proc/meminfo", text, sizeof(text));
        table->count    = 1;
        table->nodes[0] = (memspan_numa_node_info_t){
            .struct_size         = sizeof(table->nodes[0]),
            .kind                = MEMSPAN_NUMA_NODE_DRAM,
            .capacity_bytes      = MEMSPAN_UNKNOWN,
            .free_bytes          = msp_numa_node_free(0),
            .bandwidth_mib_per_s = MEMSPAN_UNKNOWN,
            .latency_ns          = MEMSPAN_UNKNOWN,
            .pu_count            = (int)sysconf(_SC_NPROCESSORS_ONLN),
        };
        msp_text_field(text, "MemTotal", &table->nodes[0].capacity_bytes);
        msp_file_read("/sys/devices/system/cpu/online", table->nodes[0].pus,
                      sizeof(table->nodes[0].pus));
        table->nodes[0].pus[strcspn(table->nodes[0].pus, "\n")] = '\0';
        snprintf(table->nodes[0].note, sizeof(table->nodes[0].note),
                 "%s; the machine is taken for one node of DRAM", why);
        msp_log(MEMSPAN_LOG_WARN, "topology", "%s", table->nodes[0].note);
    }
    return table;
}

static struct node_table *read_nodes(hwloc_topology_t hwloc, bool foreign)
{
    int found                = hwloc_get_nbobjs_by_type(hwloc, HWLOC_OBJ_NUMANODE);
    int capacity             = (found < MSP_NUMA_NODES_MAX) ? found : MSP_NUMA_NODES_MAX;
    struct node_table *table = (found > 0) ? make_table(capacity) : NULL;
    hwloc_obj_t node         = NULL;

    if (table == NULL) {
        return NULL;
    }
    while ((table->count < capacity) &&
           ((node = hwloc_get_next_obj_by_type(hwloc, HWLOC_OBJ_NUMANODE, node)) != NULL)) {
        if (node->attr->numanode.local_memory > 0) {
            msp_numa_node_read(hwloc, node, foreign, &table->nodes[table->count++]);
        }
    }
    if (table->count == 0) {
        free(table);
        return NULL;
    }
    return table;
}

/* True when the note concerns a node without processors that nothing else explains. Memory that
 * came as a DAX device is no GPU's, even where a driver names it as its nearest node. */
static bool note_applies(const struct device_note *note, const memspan_numa_node_info_t *node)
{
    return (note->node == node->os_index) && (node->pu_count == 0) &&
           (node->kind != MEMSPAN_NUMA_NODE_PMEM) && (node->kind != MEMSPAN_NUMA_NODE_CXL);
}

/* The raw table with notes applied, kinds settled and ranks. */
static struct node_table *derive_table(void)
{
    struct node_table *table = make_table(topology.raw->count);
    int i;
    int j;

    if (table == NULL) {
        return NULL;
    }
    table->count = topology.raw->count;
    memcpy(table->nodes, topology.raw->nodes, (size_t)table->count * sizeof(table->nodes[0]));
    for (i = 0; i < table->count; i++) {
        for (j = 0; j < topology.note_count; j++) {
            if (note_applies(&topology.notes[j], &table->nodes[i])) {
                table->nodes[i].kind = MEMSPAN_NUMA_NODE_GPU;
                snprintf(table->nodes[i].owner, sizeof(table->nodes[i].owner), "%s",
                         topology.notes[j].pci_address);
            }
        }
    }
    msp_numa_nodes_settle(table->nodes, table->count);
    return table;
}

static void publish(struct node_table *table)
{
    table->older = atomic_load_explicit(&topology.table, memory_order_relaxed);
    /* Pairs with the acquire in get_table(): a thread that sees the table sees its contents. */
    atomic_store_explicit(&topology.table, table, memory_order_release);
}

static bool add_note(const char *pci_address, int node)
{
    int i;

    for (i = 0; i < topology.note_count; i++) {
        if ((topology.notes[i].node == node) &&
            (strcmp(topology.notes[i].pci_address, pci_address) == 0)) {
            return false;
        }
    }
    if (topology.note_count == NOTES_MAX) {
        return false;
    }
    snprintf(topology.notes[i].pci_address, sizeof(topology.notes[i].pci_address), "%.31s",
             pci_address);
    topology.notes[i].node = node;
    topology.note_count++;
    return true;
}

/* NVIDIA's kernel driver has the node that a GPU's memory became, without its library. */
static void read_nvidia_nodes(void)
{
    static const char folder[] = "/proc/driver/nvidia/gpus";
    DIR *gpus                  = opendir(folder);
    struct dirent *entry;

    while ((gpus != NULL) && ((entry = readdir(gpus)) != NULL)) {
        char path[64 + sizeof(entry->d_name)];
        char text[256];
        uint64_t node;

        snprintf(path, sizeof(path), "%s/%s/numa_status", folder, entry->d_name);
        if ((msp_file_read(path, text, sizeof(text)) > 0) && msp_text_field(text, "Node", &node) &&
            (node < MSP_NUMA_NODES_MAX)) {
            add_note(entry->d_name, (int)node);
        }
    }
    if (gpus != NULL) {
        closedir(gpus);
    }
}

static void load(void *unused)
{
    struct node_table *table = NULL;

    (void)unused;
    topology.hwloc = load_hwloc();
    if (topology.hwloc != NULL) {
        topology.foreign = (hwloc_topology_is_thissystem(topology.hwloc) == 0);
        topology.raw     = read_nodes(topology.hwloc, topology.foreign);
    }
    if (!msp_hwloc_open()) {
        refuse_foreign(msp_hwloc_problem());
        topology.raw = make_fallback(msp_hwloc_problem());
    } else if (topology.raw == NULL) {
        topology.raw =
            make_fallback((topology.hwloc == NULL) ? topology.problem : "hwloc finds no NUMA node");
    }
    if (topology.raw == NULL) {
        return;
    }
    if (!topology.foreign && !msp_topology_is_plain()) {
        read_nvidia_nodes();
    }
    table = derive_table();
    if (table != NULL) {
        publish(table);
    }
}

/* NULL only when there was no memory for it; then the next call tries again. */
static const struct node_table *get_table(void)
{
    struct node_table *table = atomic_load_explicit(&topology.table, memory_order_acquire);

    if (MSP_LIKELY(table != NULL)) {
        return table;
    }
    msp_lock(&lock);
    table = atomic_load_explicit(&topology.table, memory_order_relaxed);
    if (table == NULL) {
        if (topology.raw == NULL) {
            msp_stack_run(load, NULL);
        }
        table = atomic_load_explicit(&topology.table, memory_order_relaxed);
    }
    msp_unlock(&lock);
    return table;
}

int msp_numa_node_count(void)
{
    const struct node_table *table = get_table();

    return (table == NULL) ? 0 : table->count;
}

const memspan_numa_node_info_t *msp_numa_node(int index)
{
    const struct node_table *table = get_table();

    return ((table != NULL) && (index >= 0) && (index < table->count)) ? &table->nodes[index]
                                                                       : NULL;
}

int msp_numa_nodes_for(enum msp_base_hint hint, int *nodes, int capacity, bool *alias_p, char *note,
                       size_t note_size)
{
    const struct node_table *table = get_table();

    if (note_size > 0) {
        note[0] = '\0';
    }
    if (table == NULL) {
        *alias_p = true;
        return 0;
    }
    return msp_numa_nodes_order(table->nodes, table->count, hint, nodes, capacity, alias_p, note,
                                note_size);
}

bool msp_topology_is_foreign(void)
{
    if ((atomic_load_explicit(&topology.table, memory_order_acquire) == NULL) &&
        !msp_topology_foreign_asked()) {
        return false;
    }
    get_table();
    return topology.foreign;
}

void msp_topology_note_device(const char *pci_address, int numa_node)
{
    struct node_table *table;
    bool changes = false;
    int i;

    if ((pci_address == NULL) || (pci_address[0] == '\0') || (numa_node < 0)) {
        return;
    }
    msp_lock(&lock);
    if (add_note(pci_address, numa_node) && (topology.raw != NULL)) {
        for (i = 0; i < topology.raw->count; i++) {
            changes = changes || note_applies(&topology.notes[topology.note_count - 1],
                                              &topology.raw->nodes[i]);
        }
        table = changes ? derive_table() : NULL;
        if (table != NULL) {
            publish(table);
        }
    }
    msp_unlock(&lock);
}

/* False where it is no memory. hwloc counts Size in KiB. */
static bool read_memory_device(hwloc_obj_t object, memspan_memory_device_info_t *info)
{
    const char *name = (object->name == NULL) ? "" : object->name;
    const char *size = hwloc_obj_get_info_by_name(object, "Size");
    const char *type = (object->subtype == NULL) ? "" : object->subtype;
    bool is_dax      = (strncmp(name, "dax", 3) == 0);

    if (!is_dax && (strcmp(type, "NVDIMM") != 0) && (strncmp(name, "pmem", 4) != 0)) {
        return false;
    }
    *info = (memspan_memory_device_info_t){
        .struct_size    = sizeof(*info),
        .kind           = is_dax ? MEMSPAN_MEMORY_DEVICE_DAX : MEMSPAN_MEMORY_DEVICE_BLOCK,
        .capacity_bytes = (size == NULL) ? MEMSPAN_UNKNOWN : strtoull(size, NULL, 10) << 10,
        .numa_node      = -1,
        .target_node    = -1,
        .persistent     = is_dax ? -1 : 1};
    snprintf(info->name, sizeof(info->name), "%.31s", name);
    snprintf(info->path, sizeof(info->path), "/dev/%.31s", name);
    snprintf(info->why, sizeof(info->why), "%s; the recording of hwloc does not tell its mode",
             is_dax ? "programs map the file in mode devdax"
                    : "a file system on it, mounted with -o dax, has files that programs map");
    return true;
}

/* -1: near to several. */
static int near_node(hwloc_obj_t object)
{
    hwloc_obj_t near = hwloc_get_non_io_ancestor_obj(topology.hwloc, object);

    return ((near != NULL) && (hwloc_bitmap_weight(near->nodeset) == 1))
               ? hwloc_bitmap_next(near->nodeset, -1)
               : -1;
}

int msp_topology_memory_devices(int wanted, memspan_memory_device_info_t *info_p)
{
    hwloc_obj_t object = NULL;
    int count          = 0;

    if (get_table() == NULL) {
        return 0;
    }
    msp_lock(&lock);
    while ((topology.hwloc != NULL) &&
           ((object = hwloc_get_next_osdev(topology.hwloc, object)) != NULL)) {
        memspan_memory_device_info_t info;

        if (read_memory_device(object, &info)) {
            info.numa_node = near_node(object);
            *info_p        = (count == wanted) ? info : *info_p;
            count++;
        }
    }
    msp_unlock(&lock);
    return count;
}

static bool is_refused(enum msp_option option)
{
    memspan_option_info_t info = {.struct_size = sizeof(info)};

    return (msp_option_describe((int)option, &info) == MEMSPAN_OK) &&
           (strcmp(info.source, "refused") == 0);
}

/* By the text of OMP_PLACES. The lock is held. */
static memspan_status_t parse_places(void)
{
    hwloc_bitmap_t allowed = topology.foreign ? NULL : msp_places_allowed();
    char problem[128];

    topology.places_ready = msp_places_parse(msp_option_text(MSP_OPTION_OMP_PLACES), topology.hwloc,
                                             allowed, &topology.places, problem, sizeof(problem));
    hwloc_bitmap_free(allowed);
    return topology.places_ready ? MEMSPAN_OK
                                 : msp_option_refuse(MSP_OPTION_OMP_PLACES, "%s", problem);
}

/* @p own: places of the runtime, which are taken; else there are none. The lock is held. */
static memspan_status_t ensure_places(struct msp_places *own)
{
    if (topology.places_ready) {
        msp_places_free(own);
        return MEMSPAN_OK;
    }
    if (is_refused(MSP_OPTION_OMP_PLACES)) {
        /* The default is in force now, but places that were not requested are no answer. */
        return msp_option_refuse(MSP_OPTION_OMP_PLACES, "refused before");
    }
    if (topology.hwloc == NULL) {
        memspan_error(MEMSPAN_ERR_UNSUPPORTED,
                      "hwloc did not find this machine's processors, so there are no places");
        return msp_error_hint("%s", msp_hwloc_problem());
    }
    if (own->count == 0) {
        return parse_places();
    }
    topology.places       = *own;
    topology.places_ready = true;
    return MEMSPAN_OK;
}

/* Takes the lock, which is held afterwards. The runtime is asked without it. */
static memspan_status_t lock_places(void)
{
    struct msp_places own = {NULL, 0};
    bool asks_runtime;

    msp_lock(&lock);
    asks_runtime = !topology.places_ready && !topology.foreign && (topology.hwloc != NULL);
    msp_unlock(&lock);
    if (asks_runtime) {
        (void)msp_places_of_runtime(&own);
    }
    msp_lock(&lock);
    return ensure_places(&own);
}

/* For processors without memory of their own: by the firmware's distances from their node, or, on a
 * described machine, the node that shares the smallest part of it. @p usual: nodes with memory. */
static int nearest_by_distance(const int *usual, int count, hwloc_const_bitmap_t place)
{
    hwloc_obj_t node = NULL;
    int best_weight  = INT_MAX;
    int nearest      = -1;
    int i;

    while (!topology.foreign && ((node = hwloc_get_next_obj_by_type(
                                      topology.hwloc, HWLOC_OBJ_NUMANODE, node)) != NULL)) {
        if (hwloc_bitmap_intersects(node->cpuset, place)) {
            return msp_numa_nearest((int)node->os_index, usual, (size_t)count);
        }
    }
    for (i = 0; i < count; i++) {
        hwloc_obj_t o = hwloc_get_numanode_obj_by_os_index(topology.hwloc, (unsigned)usual[i]);

        while ((o != NULL) && !hwloc_bitmap_intersects(o->cpuset, place)) {
            o = o->parent;
        }
        if ((o != NULL) && (hwloc_bitmap_weight(o->cpuset) < best_weight)) {
            best_weight = hwloc_bitmap_weight(o->cpuset);
            nearest     = usual[i];
        }
    }
    return nearest;
}

/* Overlap with the place, processors of its own, then the usual order; without any, distance. */
static int nearest_node(const struct node_table *table, hwloc_const_bitmap_t place)
{
    int usual[MSP_NUMA_NODES_MAX];
    bool alias;
    int count = msp_numa_nodes_order(table->nodes, table->count, MSP_HINT_DEFAULT, usual,
                                     MSP_NUMA_NODES_MAX, &alias, NULL, 0);
    hwloc_bitmap_t overlap = hwloc_bitmap_alloc();
    int best_weight        = 0;
    int nearest            = -1;
    int i;

    for (i = 0; (overlap != NULL) && (i < count); i++) {
        hwloc_obj_t node = hwloc_get_numanode_obj_by_os_index(topology.hwloc, (unsigned)usual[i]);
        int weight       = 0;

        if (node != NULL) {
            hwloc_bitmap_and(overlap, node->cpuset, place);
            weight = hwloc_bitmap_weight(overlap);
        }
        if (weight > best_weight) {
            best_weight = weight;
            nearest     = usual[i];
        }
    }
    hwloc_bitmap_free(overlap);
    return (nearest >= 0) ? nearest : nearest_by_distance(usual, count, place);
}

static memspan_status_t find_node_of_place(const struct node_table *table, int place, int *node_p)
{
    int node;

    if ((place < 0) || (place >= topology.places.count)) {
        memspan_error(MEMSPAN_ERR_NOT_FOUND, "no place %d: OMP_PLACES has %d (0 to %d) on %s",
                      place, topology.places.count, topology.places.count - 1,
                      topology.foreign ? "the machine described"
                                       : "the processors that this process may use");
        return msp_error_hint("omp_get_num_places() counts the same places");
    }
    node = nearest_node(table, topology.places.sets[place]);
    if (node < 0) {
        return memspan_error(MEMSPAN_ERR_NOT_FOUND,
                             "place %d of OMP_PLACES names no processor of this machine", place);
    }
    *node_p = node;
    return MEMSPAN_OK;
}

memspan_status_t msp_numa_node_of_place(int place, int *node_p)
{
    const struct node_table *table = get_table();
    memspan_status_t status;

    if ((node_p == NULL) || (table == NULL)) {
        return memspan_error(MEMSPAN_ERR_INVALID, "place %d: its output is NULL", place);
    }
    status = lock_places();
    if (status == MEMSPAN_OK) {
        status = find_node_of_place(table, place, node_p);
    }
    msp_unlock(&lock);
    return status;
}

int msp_topology_place_count(void)
{
    int count = 0;

    if (get_table() == NULL) {
        return 0;
    }
    if (lock_places() == MEMSPAN_OK) {
        count = topology.places.count;
    }
    msp_unlock(&lock);
    return count;
}

void msp_topology_reload(void)
{
    struct node_table *table;

    msp_lock(&lock);
    table = atomic_exchange(&topology.table, NULL);
    while (table != NULL) {
        struct node_table *older = table->older;
        free(table);
        table = older;
    }
    free(topology.raw);
    topology.raw = NULL;
    if (topology.hwloc != NULL) {
        hwloc_topology_destroy(topology.hwloc);
    }
    topology.hwloc        = NULL;
    topology.foreign      = false;
    topology.places_ready = false;
    msp_places_free(&topology.places);
    topology.note_count = 0;
    msp_unlock(&lock);
}
