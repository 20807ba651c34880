/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_DEVICE_H
#define MEMSPAN_DEVICE_H

#include <memspan/status.h>
#include <stddef.h>
#include <stdint.h>

/** @file device.h
 * Devices, the kinds of memory they offer, and how each device reaches which memory.
 *
 * A device is an OpenMP device number. MEMSPAN_HOST (-1) always means the host. In a program with
 * an OpenMP offload runtime, 0 .. n-1 are that runtime's devices and n is the host as well; devices
 * that only Memspan has follow (n+1 ..), and only when MEMSPAN_DEVICES names them. Without an
 * offload runtime devices are numbered from 0 in the order of MEMSPAN_DEVICES, else of the
 * backends; the number after the last is the host as well. OpenMP's routines then take them only
 * where MEMSPAN_DEVICES is set; else 0 is the host to them.
 *
 * Threads: every call may run on any thread. The first call that needs devices opens the drivers.
 * Errors of every call that takes a device: MEMSPAN_ERR_NOT_FOUND (no such device),
 * MEMSPAN_ERR_CONFIG (MEMSPAN_DEVICES or MEMSPAN_BACKENDS is malformed). */

MEMSPAN_BEGIN_DECLS

/** The host, in every list of devices (the same number as omp_initial_device). */
#define MEMSPAN_HOST (-1)

/** A byte count that is unknown. */
#define MEMSPAN_UNKNOWN UINT64_MAX

/** The kind of memory of an allocation. */
typedef enum memspan_kind {
    MEMSPAN_KIND_NONE        = 0,
    MEMSPAN_KIND_HOST        = 1, /**< ordinary host memory */
    MEMSPAN_KIND_HOST_PINNED = 2, /**< page-locked host memory; devices reach it over their link */
    MEMSPAN_KIND_MANAGED     = 3, /**< migrates to its user; one side at a time, synchronised */
    MEMSPAN_KIND_COHERENT    = 4, /**< host and devices at once, with atomics */
    MEMSPAN_KIND_DEVICE      = 5, /**< a device's own memory */
    MEMSPAN_KIND_COUNT       = 6
} memspan_kind_t;

/** "host", "host-pinned", "managed", "coherent", "device", or "none". Static. */
MEMSPAN_API const char *memspan_kind_name(memspan_kind_t kind);

/** How a device (or the host) reaches memory. Ordered: later is closer. */
typedef enum memspan_access {
    MEMSPAN_ACCESS_NONE = 0, /**< not at all */
    MEMSPAN_ACCESS_COPY,     /**< only by memspan_copy() */
    MEMSPAN_ACCESS_REGISTER, /**< after the memory has been imported into its driver */
    MEMSPAN_ACCESS_FAULT,    /**< loads and stores; pages move on first touch */
    MEMSPAN_ACCESS_REMOTE,   /**< loads and stores over a link */
    MEMSPAN_ACCESS_LOCAL     /**< loads and stores to its own memory */
} memspan_access_t;

/** Which concurrent accesses are allowed. Ordered: later promises more. */
typedef enum memspan_coherence {
    MEMSPAN_COHERENCE_NONE = 0,   /**< no promise */
    MEMSPAN_COHERENCE_SYNC,       /**< one side at a time, after memspan_device_synchronize() */
    MEMSPAN_COHERENCE_CONCURRENT, /**< both sides at once; atomics only on one side */
    MEMSPAN_COHERENCE_ATOMIC      /**< both sides at once, atomics included */
} memspan_coherence_t;

/** How one device reaches one block or resource. */
typedef struct memspan_reach {
    memspan_access_t access;
    memspan_coherence_t coherence;
} memspan_reach_t;

/** "none", "copy", "register", "fault", "remote", "local". Static. */
MEMSPAN_API const char *memspan_access_name(memspan_access_t access);

/** "none", "sync", "concurrent", "atomic". Static. */
MEMSPAN_API const char *memspan_coherence_name(memspan_coherence_t coherence);

/** Capabilities of a device; bits of memspan_device_info_t::capabilities. */
enum memspan_capability {
    MEMSPAN_CAN_SHARE_ADDRESSES   = 1u << 0, /**< one address means the same on host and device */
    MEMSPAN_CAN_ACCESS_CONCURRENT = 1u
                                    << 1,   /**< host and device may touch managed memory at once */
    MEMSPAN_CAN_ACCESS_PAGEABLE  = 1u << 2, /**< the device reaches plain malloc memory */
    MEMSPAN_CAN_HOST_ATOMICS     = 1u << 3, /**< atomics work between host and device */
    MEMSPAN_CAN_IMPORT           = 1u << 4, /**< host pages can be imported at the same address */
    MEMSPAN_CAN_PREFETCH         = 1u << 5, /**< managed memory can be moved ahead of use */
    MEMSPAN_CAN_IPC              = 1u << 6, /**< memory can be shared with another process */
    MEMSPAN_CAN_DMABUF           = 1u << 7, /**< memory can be exported as a dma-buf */
    MEMSPAN_CAN_RDMA             = 1u << 8, /**< a network card can reach its memory */
    MEMSPAN_CAN_KERNELS          = 1u << 9, /**< every built-in kernel works; else some may */
    MEMSPAN_CAN_UNIFIED_PHYSICAL = 1u << 10 /**< its memory is the host's memory */
};

/** Length of the array of capability notes: note i is that of bit (1u << i). */
#define MEMSPAN_CAPABILITY_ROOM 16

/** A mode of a device or its driver on which reachability depends. */
typedef struct memspan_device_mode {
    char name[32];    /**< "XNACK", "pageable memory access" */
    int on;           /**< 1 on; 0 off; -1 unknown */
    char source[112]; /**< the source of this fact, and its meaning */
    char remedy[192]; /**< how to turn it on, or why it cannot be; "" when on */
} memspan_device_mode_t;

/** Length of the array of modes; unused entries come last and have no name. */
#define MEMSPAN_MODE_ROOM 4

/** One device. Written by memspan_device_describe(); set struct_size first. An unknown
 * string is empty, an unknown byte count MEMSPAN_UNKNOWN, an unknown int -1. */
typedef struct memspan_device_info {
    size_t struct_size;          /**< in: sizeof(memspan_device_info_t) */
    int number;                  /**< OpenMP device number; MEMSPAN_HOST for the host */
    int ordinal;                 /**< number within its backend */
    char backend[16];            /**< "host", "opencl", ... */
    char name[96];               /**< as the driver names it */
    char vendor[64];             /**< manufacturer */
    char driver[96];             /**< driver and version */
    char uid[72];                /**< identity that survives renumbering */
    char pci_address[16];        /**< "0000:41:00.0", or "" */
    int numa_node;               /**< operating-system number of the nearest NUMA node, or -1 */
    uint64_t capacity_bytes;     /**< the device's own memory */
    char capacity_source[32];    /**< source: "driver", "sysfs", "cgroup limit" */
    uint64_t free_bytes;         /**< free now, over all processes */
    uint64_t alloc_max_bytes;    /**< largest single allocation */
    uint64_t page_size_bytes;    /**< granularity of its allocations */
    unsigned kinds;              /**< bit (1u << kind) for each kind that can be allocated for it */
    unsigned kinds_without_gain; /**< offered, but a stronger kind costs no more here */
    unsigned kinds_migratable;   /**< kinds whose pages the driver migrates */
    unsigned capabilities;       /**< bits of enum memspan_capability */
    char kind_note[MEMSPAN_KIND_COUNT][128]; /**< the provider of a kind, or why there is none */
    /** Source of a capability bit: a driver attribute and its value, a system file, a missing call.
     * "" where the backend gives none. */
    char capability_note[MEMSPAN_CAPABILITY_ROOM][112];
    memspan_device_mode_t modes[MEMSPAN_MODE_ROOM];
} memspan_device_info_t;

/** Number of devices that have a number, the host not counted. */
MEMSPAN_API int memspan_device_count(void);

/** Number of the @p index-th device (0 .. memspan_device_count() - 1). Numbers ascend without gaps,
 * but for the host's second number.
 * Errors: MEMSPAN_ERR_NOT_FOUND (index out of range), MEMSPAN_ERR_INVALID (device_p NULL),
 * MEMSPAN_ERR_CONFIG. */
MEMSPAN_API memspan_status_t memspan_device_at(int index, int *device_p);

/** The non-negative number that also means the host in this process: omp_get_initial_device()
 * where an offload runtime has devices, else the number after the last device. */
MEMSPAN_API int memspan_host_device(void);

/** Describe @p device (a number, MEMSPAN_HOST, or memspan_host_device()).
 * Errors: as above; MEMSPAN_ERR_INVALID (info_p NULL, struct_size not set), MEMSPAN_ERR_DRIVER,
 * MEMSPAN_ERR_FORKED. */
MEMSPAN_API memspan_status_t memspan_device_describe(int device, memspan_device_info_t *info_p);

/** How @p device reaches memory of @p kind whose home is @p home (both may be the host).
 * Errors: as above; MEMSPAN_ERR_INVALID (reach_p NULL, no such kind). */
MEMSPAN_API memspan_status_t memspan_device_reach(int home, memspan_kind_t kind, int device,
                                                  memspan_reach_t *reach_p);

/** Source of memspan_device_reach()'s result: "cuDeviceCanAccessPeer(1, 0): 1". Writes at most
 * @p size_bytes to @p text, with a null at the end.
 * Errors: as above; MEMSPAN_ERR_INVALID (text NULL, size_bytes 0, no such kind). */
MEMSPAN_API memspan_status_t memspan_device_reach_source(int home, memspan_kind_t kind, int device,
                                                         char *text, size_t size_bytes);

/** Wait until all copies, fills, prefetches and kernels that were started on @p device are
 * complete. Afterwards the host may access managed memory. On the host: no effect. Errors: as
 * above; MEMSPAN_ERR_DRIVER (it reports a failed kernel or copy), MEMSPAN_ERR_FORKED. */
MEMSPAN_API memspan_status_t memspan_device_synchronize(int device);

/** State of one backend; written by memspan_backend_describe(); set struct_size first. */
typedef struct memspan_backend_info {
    size_t struct_size;      /**< in: sizeof(memspan_backend_info_t) */
    char name[16];           /**< "opencl" */
    char title[64];          /**< "OpenCL through the ICD loader" */
    char origin[128];        /**< "built in", or the plug-in's path */
    int on;                  /**< 1 on; 0 off */
    int device_count;        /**< devices it found */
    memspan_status_t status; /**< MEMSPAN_OK, or why it is off */
    char reason[256];        /**< one sentence: why it is off, or its devices */
    char hint[192];          /**< how to turn it on; may be empty */
} memspan_backend_info_t;

/** Number of backends, with those that are off. Opens no driver. */
MEMSPAN_API int memspan_backend_count(void);

/** The name of backend @p index without opening any driver; NULL beyond the last. */
MEMSPAN_API const char *memspan_backend_name(int index);

/** Describe backend @p index (0 .. memspan_backend_count() - 1); opens its driver. A backend that
 * is off is described with its reason. Errors: MEMSPAN_ERR_INVALID (index out of range, info_p
 * NULL, struct_size not set). */
MEMSPAN_API memspan_status_t memspan_backend_describe(int index, memspan_backend_info_t *info_p);

/** The kind of memory of a NUMA node. */
typedef enum memspan_numa_node_kind {
    MEMSPAN_NUMA_NODE_DRAM = 0,
    MEMSPAN_NUMA_NODE_HBM,
    MEMSPAN_NUMA_NODE_PMEM,
    MEMSPAN_NUMA_NODE_CXL,
    MEMSPAN_NUMA_NODE_GPU,  /**< a device's memory as a node; never part of default host memory */
    MEMSPAN_NUMA_NODE_OTHER /**< memory without processors of unknown make */
} memspan_numa_node_kind_t;

/** "dram", "hbm", "pmem", "cxl", "gpu", "other". Static. */
MEMSPAN_API const char *memspan_numa_node_kind_name(memspan_numa_node_kind_t kind);

/** One NUMA node; written by memspan_numa_node_describe(); set struct_size first. */
typedef struct memspan_numa_node_info {
    size_t struct_size; /**< in: sizeof(memspan_numa_node_info_t) */
    int os_index;       /**< the operating system's number */
    int logical_index;  /**< hwloc's logical number */
    memspan_numa_node_kind_t kind;
    uint64_t capacity_bytes;      /**< memory of the node */
    uint64_t free_bytes;          /**< free now */
    uint64_t bandwidth_mib_per_s; /**< from its best initiator; or MEMSPAN_UNKNOWN */
    uint64_t latency_ns;          /**< from its best initiator; or MEMSPAN_UNKNOWN */
    char performance_source[32];  /**< "HMAT", "user", "" */
    int pu_count;                 /**< processing units local to it; 0 = memory only */
    char pus[128];                /**< local processing units as a list, "0-3,8"; "..." if cut */
    int bandwidth_rank;           /**< 0 = highest bandwidth on this machine; ties share a rank */
    int latency_rank;             /**< 0 = lowest latency */
    int capacity_rank;            /**< 0 = largest */
    char owner[32];               /**< PCI address of the device that owns it, or "" */
    char note[256];               /**< why the topology is incomplete, or "" */
    uint64_t side_cache_bytes; /**< memory-side cache in front of the node, the largest of several
                                    levels; 0 = the firmware reports none */
} memspan_numa_node_info_t;

/** Number of NUMA nodes with memory. Reads the topology on first use. */
MEMSPAN_API int memspan_numa_node_count(void);

/** Describe NUMA node @p index (0 .. memspan_numa_node_count() - 1).
 * Errors: MEMSPAN_ERR_INVALID (index out of range, info_p NULL, struct_size not set). */
MEMSPAN_API memspan_status_t memspan_numa_node_describe(int index,
                                                        memspan_numa_node_info_t *info_p);

/** Memory that is no NUMA node, or that a node was made of. */
typedef enum memspan_memory_device_kind {
    MEMSPAN_MEMORY_DEVICE_DAX = 0,    /**< a DAX device, /dev/dax0.0 */
    MEMSPAN_MEMORY_DEVICE_REGION,     /**< of NVDIMMs, in which namespaces are made */
    MEMSPAN_MEMORY_DEVICE_NAMESPACE,  /**< of NVDIMMs */
    MEMSPAN_MEMORY_DEVICE_BLOCK,      /**< a block device of persistent memory, /dev/pmem0 */
    MEMSPAN_MEMORY_DEVICE_CXL_REGION, /**< of CXL devices */
    MEMSPAN_MEMORY_DEVICE_CXL_MEMORY  /**< a CXL device on a machine without CXL regions */
} memspan_memory_device_kind_t;

/** "dax", "region", "namespace", "block", "cxl-region", "cxl-memory"; else "other". Static. */
MEMSPAN_API const char *memspan_memory_device_kind_name(memspan_memory_device_kind_t kind);

/** One memory device; written by memspan_memory_device_describe(); set struct_size first. */
typedef struct memspan_memory_device_info {
    size_t struct_size; /**< in: sizeof(memspan_memory_device_info_t) */
    memspan_memory_device_kind_t kind;
    char name[32]; /**< the system's: "dax0.0", "region0", "pmem0" */
    char path[64]; /**< the file that a program opens, "/dev/dax0.0"; or "" */
    char mode[16]; /**< "devdax", "system-ram", "fsdax", "sector", "raw", "ram", "pmem"; or
                        "": unknown */
    uint64_t capacity_bytes; /**< MEMSPAN_UNKNOWN: the system does not tell */
    uint64_t align_bytes;    /**< mappings begin and end at multiples of it; 0: unknown */
    int numa_node;           /**< operating-system number of the nearest NUMA node, or -1 */
    int target_node;         /**< number of the node that it is, or would be as memory; or -1 */
    int persistent; /**< 1: it keeps its contents without power; 0: it does not; -1: unknown */
    int usable;     /**< 1: as it is, a program can use it */
    char why[256];  /**< one sentence: how it is used, or why it is not and what would help */
} memspan_memory_device_info_t;

/** Number of memory devices: of this machine by /sys, or of the one that HWLOC_FSROOT or
 * HWLOC_XMLFILE describes. They are counted now: devices come and go. */
MEMSPAN_API int memspan_memory_device_count(void);

/** Describe memory device @p index (0 .. memspan_memory_device_count() - 1), as it is now.
 * Errors: MEMSPAN_ERR_INVALID (index out of range, info_p NULL, struct_size not set). */
MEMSPAN_API memspan_status_t memspan_memory_device_describe(int index,
                                                            memspan_memory_device_info_t *info_p);

MEMSPAN_END_DECLS
#endif /* MEMSPAN_DEVICE_H */
