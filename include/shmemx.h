/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEMX_H
#define MEMSPAN_SHMEMX_H

/** @file shmemx.h
 * Extensions to OpenSHMEM 1.6: a start that may fail, partitions of the symmetric heap, spaces that
 * a team makes at run time, teams by color, the program's own buffers as symmetric memory, and
 * other implementations' names for these.
 *
 * Calls that allocate, free or create are collective over the world, or over the team that they
 * name. They return after a barrier of these PEs, unless the name or a hint excludes it. Queries
 * are local and may run on any thread.
 *
 * Errors: NULL, or a negative MEMSPAN_ERR_* code (0 is success); the reason is in
 * memspan_error_text() (<memspan/status.h>). Before shmem_init(), and with a NULL output, a call
 * ends the job with a message unless stated otherwise.
 *
 * Structures begin with their size: set struct_size to sizeof, and the rest to 0, before the call.
 * Members are added at the end; a program built before them is served without them. */

#include <memspan/config.h>
#include <shmem.h>

MEMSPAN_BEGIN_DECLS

/* ---------------------------------------------------------------------------------- start */

/** shmem_init_thread() for programs that can run without OpenSHMEM. It prints nothing. A job that
 * cannot come up is an error in all its PEs, with the reason in memspan_error_text(), and nothing
 * is left of it: a later call may succeed. Collective over the job. shmem_init(3) lists the
 * failures that still end the job.
 *
 * Errors: MEMSPAN_ERR_INVALID (no such thread level), MEMSPAN_ERR_CONFLICT (a launcher has no
 * channel to this process; versions differ), MEMSPAN_ERR_CONFIG (a variable is malformed, or
 * differs between PEs), MEMSPAN_ERR_UNREACHABLE (no transport reaches the other hosts),
 * MEMSPAN_ERR_NO_MEMORY, MEMSPAN_ERR_LIMIT, MEMSPAN_ERR_DRIVER (the launcher's, a transport's), and
 * for partitions those of shmemx_space_create(). */
MEMSPAN_API int shmemx_init_try(int requested, int *provided);

/* ----------------------------------------------------------------------------- partitions
 * A partition is a separate symmetric heap of one kind of memory, identified by a number. The
 * environment defines it:
 * SHMEM_SYMMETRIC_PARTITION<number>=size=<bytes>[:kind=][:policy=][:pgsize=][:path=][:name=].
 * shmem_malloc()
 * allocates from partition 1. memspan-shmem(7) has the grammar. Source: "Symmetric Memory
 * Partitions in OpenSHMEM" (2017). */

/** Limits: number of partitions, largest number of one. */
#define SHMEM_MAX_PARTITIONS    64
#define SHMEM_MAX_PARTITION_ID  1023
#define SHMEMX_PARTITION_NONE   (-1)
#define SHMEMX_PARTITION_STATIC (-3) /* shmemx_partition_of() the data segment */

/** Allocate from partition @p id. NULL, without a barrier, when there is no such partition. */
MEMSPAN_API void *shmemx_partition_malloc(size_t size, int id);
MEMSPAN_API void *shmemx_partition_calloc(size_t count, size_t size, int id);
MEMSPAN_API void *shmemx_partition_align(size_t alignment, size_t size, int id);
/** @p ptr NULL: shmemx_partition_malloc(). Otherwise the block stays in its partition; @p id has no
 * effect. */
MEMSPAN_API void *shmemx_partition_realloc(void *ptr, size_t size, int id);
/** The same as shmem_free(): a block of any partition. */
MEMSPAN_API void shmemx_partition_free(void *ptr);
/** Without a barrier: PEs make the same calls in the same order, and synchronise before they access
 * a peer's block. For allocator callbacks. */
MEMSPAN_API void *shmemx_partition_malloc_nosync(size_t size, int id);

#ifdef SHMEMX_PARTITION_NAMES /* a paper's name, whose prefix is the compiler's: on request */
/** OpenMP map clauses take the memory of variables on device @p device_num from a partition: the
 * one that SHMEMX_LIBOMP_PARTITION names, else the first of KIND=LIBOMP on that device. @p alloc
 * and
 * @p release: shmem_partition_malloc and shmem_partition_free, which do not synchronise then; or
 * functions of the program, called with the size and the partition's number. Local; every PE maps
 * the same sizes in the same order, and unmaps all before shmem_finalize(). memspan_map_symmetric()
 * of <memspan/omp.h> excludes variables. 0, or -1: no such partition, variables are mapped by other
 * functions, or __tgt_set_device_allocator() of <memspan/omp.h> refuses the call. Source:
 * "Extending OpenMP and OpenSHMEM for efficient heterogeneous computing" (2022). */
MEMSPAN_API int __tgt_set_shmem_allocator(void *(*alloc)(size_t size, int id),
                                          void (*release)(void *ptr), int device_num);
#endif

/** Cray's names of the same. */
MEMSPAN_API void *shmemx_kind_malloc(size_t size, int id);
MEMSPAN_API void *shmemx_kind_align(size_t alignment, size_t size, int id);

/** X(name, number, word of the environment): kind of memory. */
#define SHMEMX_KIND_MAP(X)                                                                         \
    X(SHMEMX_KIND_SYSDEFAULT, 0, "SYSDEFAULT") /* placed by the system */                          \
    X(SHMEMX_KIND_NORMALMEM, 1, "NORMALMEM")   /* the node's ordinary memory */                    \
    X(SHMEMX_KIND_FASTMEM, 2, "FASTMEM")       /* of the highest bandwidth */                      \
    X(SHMEMX_KIND_LIBOMP, 3, "LIBOMP")         /* omp_target_alloc() of the default device */      \
    X(SHMEMX_KIND_PINNED, 4, "PINNED")         /* host memory, locked, registered with drivers */  \
    X(SHMEMX_KIND_MANAGED, 5, "MANAGED")       /* moves between host and device */                 \
    X(SHMEMX_KIND_COHERENT, 6, "COHERENT")     /* host and device see each other's stores */       \
    X(SHMEMX_KIND_DEVICE, 7, "DEVICE")         /* a device's own */                                \
    X(SHMEMX_KIND_LARGEMEM, 8, "LARGEMEM")     /* of the largest capacity: CXL, kmem */            \
    X(SHMEMX_KIND_PMEM, 9, "PMEM")             /* outlives the job: a file, a DAX device */
typedef enum shmemx_kind {
#define SHMEMX_KIND_ENUM(name, number, word) name = (number),
    SHMEMX_KIND_MAP(SHMEMX_KIND_ENUM)
#undef SHMEMX_KIND_ENUM
} shmemx_kind_t;

/** X(name, number, word): how strict the kind is. */
#define SHMEMX_POLICY_MAP(X)                                                                       \
    X(SHMEMX_POLICY_SYSDEFAULT, 0, "SYSDEFAULT") /* the process's own policy */                    \
    X(SHMEMX_POLICY_MANDATORY, 1, "MANDATORY")   /* that kind or failure */                        \
    X(SHMEMX_POLICY_PREFERRED, 2, "PREFERRED")   /* that kind if there is enough */                \
    X(SHMEMX_POLICY_INTERLEAVED, 3,                                                                \
      "INTERLEAVED") /* page by page over the NUMA nodes of the kind */
typedef enum shmemx_policy {
#define SHMEMX_POLICY_ENUM(name, number, word) name = (number),
    SHMEMX_POLICY_MAP(SHMEMX_POLICY_ENUM)
#undef SHMEMX_POLICY_ENUM
} shmemx_policy_t;

/** Operations that a partition's memory supports: bits. */
#define SHMEMX_CAP_RMA           (1L << 0) /* put and get */
#define SHMEMX_CAP_COLLECTIVES   (1L << 1)
#define SHMEMX_CAP_ATOMICS       (1L << 2)
#define SHMEMX_CAP_DIRECT_ACCESS (1L << 3) /* the host loads and stores it */
#define SHMEMX_CAP_WORLD_ACCESS  (1L << 4) /* PEs outside its team reach it */
#define SHMEMX_CAP_IDENT_ADDR    (1L << 5) /* the same addresses in every PE */
#define SHMEMX_CAP_PEER_ACCESS   (1L << 6) /* shmem_ptr() works for PEs of this host */
#define SHMEMX_CAP_WAIT          (1L << 7) /* waits, tests, locks, signals */
#define SHMEMX_CAP_PEER_COPY     (1L << 8) /* PEs of this host put and get by driver copies */

/** One partition: its request and its placement. Bytes are per PE. */
typedef struct shmemx_partition_traits {
    size_t struct_size; /**< in: sizeof(shmemx_partition_info_t) */
    int id;
    int is_default;           /**< 1: shmem_malloc() allocates from it */
    shmemx_kind_t kind_asked; /**< requested */
    shmemx_kind_t kind;       /**< given */
    shmemx_policy_t policy;
    int device;        /**< Memspan's number of the device, -1: the host */
    long capabilities; /**< SHMEMX_CAP_* */
    void *base;        /**< its first address in this PE */
    size_t size_bytes;
    size_t used_bytes;    /**< in blocks, with the heap's overhead */
    size_t largest_bytes; /**< the largest block that can be allocated now */
    size_t page_size_bytes;
    shmem_team_t team;            /**< its members allocate from it */
    char kind_name[32];           /**< "NORMALMEM", "DEVICE@0" */
    char resource[48];            /**< the memory space's resource: "node0", "opencl0.coherent" */
    size_t page_size_asked_bytes; /**< 0: the kind's own */
    char why[256];                /**< one sentence: why this memory, and how peers reach it */
    size_t registered_bytes;      /**< registered with the network between hosts so far, here */
    int registered_count;         /**< in so many chunks, each with a key */
    int refused_count;            /**< chunks that could not be registered */
    /** How PEs of other hosts reach it; "": there are none. shmemx_partition_plan(): how they
     * would; "messages" where the network does not register such memory. */
    char remote[256];
    size_t huge_bytes;    /**< of this PE's copy, made huge pages so far though it has base pages */
    char huge_pages[128]; /**< which blocks become so, or why none does */
    int persistence;      /**< SHMEMX_PERSISTENCE_*: what shmemx_persist() reaches */
    int named_count;      /**< blocks with a symbol */
    size_t generation;    /**< jobs that have opened it, this one included; 0: not persistent */
    char persistent_name[32];   /**< "": not persistent */
    char persistence_note[160]; /**< how stores become persistent, and what the platform says */
} shmemx_partition_info_t;

/** The number of partitions; the second call also writes their numbers, ascending, at most
 * @p capacity of them, to @p ids (may be NULL). Neither fails. */
MEMSPAN_API int shmemx_partition_count(void);
MEMSPAN_API int shmemx_partition_ids(int *ids, int capacity);
/** Describe partition @p id.
 * Errors: MEMSPAN_ERR_NOT_FOUND (no such partition), MEMSPAN_ERR_INVALID (info NULL, struct_size
 * not set). */
MEMSPAN_API int shmemx_partition_info(int id, shmemx_partition_info_t *info);
/** Describe the @p index-th partition, by ascending number, that this process's environment
 * requests, with the placement that this machine would give it. Allocates nothing; needs no
 * shmem_init(). Opens the drivers of the requested devices. Errors: MEMSPAN_ERR_NOT_FOUND (index
 * beyond the last), MEMSPAN_ERR_CONFIG (malformed environment), MEMSPAN_ERR_INVALID (info NULL,
 * struct_size not set), MEMSPAN_ERR_NO_MEMORY, MEMSPAN_ERR_NOT_GUARANTEED or
 * MEMSPAN_ERR_UNSUPPORTED (no placement: *info then has the request and the reason). */
MEMSPAN_API int shmemx_partition_plan(int index, shmemx_partition_info_t *info);
/** The number of the partition that holds @p address; SHMEMX_PARTITION_STATIC for the data segment.
 * Errors: SHMEMX_PARTITION_NONE (not symmetric). */
MEMSPAN_API int shmemx_partition_of(const void *address);
/** "SHMEM_SYMMETRIC_PARTITION1", or the name of a space; NULL when there is no such partition. The
 * library's, for the life of the partition. */
MEMSPAN_API const char *shmemx_partition_name(int id);

/* ------------------------------------------------------------------- persistent partitions
 * A partition of KIND=PMEM is a file, or a DAX device, of each host. The next job with as many PEs
 * on the same hosts finds the blocks that have a symbol; blocks without one end with the job.
 * memspan-partition(7) has the rules. A symbol is 1 to 47 bytes that print. */

/** What shmemx_persist() reaches: nothing outlives the job; the file system has the pages; the
 * persistent memory itself has the cache lines. */
#define SHMEMX_PERSISTENCE_NONE   0
#define SHMEMX_PERSISTENCE_FILE   1
#define SHMEMX_PERSISTENCE_MEMORY 2

/** Make the block that begins at @p block persistent in every PE, then give it @p symbol. When the
 * call has returned 0, later jobs find the block with these bytes or later ones; a job that is
 * killed in the call leaves all of that or nothing. Collective over the world; one thread.
 * Errors: MEMSPAN_ERR_INVALID (no block of a persistent partition, no symbol), MEMSPAN_ERR_CONFLICT
 * (the symbol is taken, the block has one, PEs differ), MEMSPAN_ERR_LIMIT (1,020 have one),
 * MEMSPAN_ERR_DRIVER (not written: later calls fail too). */
MEMSPAN_API int shmemx_persistent_name(void *block, const char *symbol);
/** Take @p symbol away; the block is an ordinary one then. shmem_free() does it, too;
 * shmem_realloc() refuses blocks that have one. Collective over the world; one thread. Errors:
 * MEMSPAN_ERR_NOT_FOUND (no such symbol, no partition @p id), otherwise as above. */
MEMSPAN_API int shmemx_persistent_unname(int id, const char *symbol);
/** The block of partition @p id with @p symbol, in this PE, and its bytes to @p size (may be NULL).
 * The address may be another one in each job. Local, any thread. Errors: NULL (no such partition,
 * or no such symbol). */
MEMSPAN_API void *shmemx_persistent_find(int id, const char *symbol, size_t *size);
/** Make all stores to @p size bytes at @p address, of a persistent partition in this PE, persistent
 * that were made before, also by other PEs of the host; after shmem_barrier_all() those of all PEs.
 * Local, any thread. Errors: MEMSPAN_ERR_INVALID (not within one persistent partition),
 * MEMSPAN_ERR_DRIVER (not written). */
MEMSPAN_API int shmemx_persist(const void *address, size_t size);

/* ---------------------------------------------------------------------------------- teams */

/** Make a team of the parent's PEs that give the same @p color. Their numbers rise with their
 * @p key, and with their number in the parent where keys are equal. Collective over the parent; all
 * PEs of a color give the same configuration. A PE with a color below 0 is in no new team: the call
 * returns 0, and *new_team is SHMEM_TEAM_INVALID. On failure all PEs of the parent get an error and
 * SHMEM_TEAM_INVALID. shmem_team_destroy() ends the team. A config of NULL with a config_mask ends
 * the job.
 * Source: Cray's shmem_team_split_color(), with a configuration as of shmem_team_split_strided().
 * Errors: MEMSPAN_ERR_INVALID (the parent is no team of this PE's), MEMSPAN_ERR_LIMIT (all teams
 * are in use, in some PE of the parent), MEMSPAN_ERR_NO_MEMORY. */
MEMSPAN_API int shmemx_team_split_color(shmem_team_t parent_team, int color, int key,
                                        const shmem_team_config_t *config, long config_mask,
                                        shmem_team_t *new_team);
#define SHMEMX_TEAM_NO_COLOR (-1)

/* ------------------------------------------------------------------------- other hosts */

/** This PE's use of the network between hosts. Written by shmemx_network_info(). */
typedef struct shmemx_network_facts {
    size_t struct_size;
    char driver[128]; /**< "UCX 1.13.1, tcp"; "": the job has one host */
    int peer_count;   /**< PEs of other hosts that it has exchanged data with */
    int queue_count;  /**< of the driver: one, and one for each private context with operations */
    /** The rest without private contexts. */
    uint64_t key_count;        /**< keys of the peers' memory */
    uint64_t registered_bytes; /**< of its own memory, at present */
    uint64_t message_count;    /**< operations that the peer executed */
    uint64_t message_bytes;
    uint64_t put_count; /**< by the driver, as gets */
    uint64_t put_bytes;
    uint64_t get_count;
    uint64_t get_bytes;
} shmemx_network_info_t;

/** Errors: MEMSPAN_ERR_INVALID (info NULL, struct_size not set). */
MEMSPAN_API int shmemx_network_info(shmemx_network_info_t *info);

/** A transport, as a job with PEs on several hosts would find it here. Written by
 * shmemx_transport_plan(). */
typedef struct shmemx_transport_traits {
    size_t struct_size;
    char name[32];    /**< "smp", "ucx" */
    int is_available; /**< its plug-in and library load, and find a device */
    int is_chosen;    /**< a job would use it */
    int is_network;   /**< atomic operations are the service's of the PE that owns the memory */
    int target_progresses;   /**< puts and gets need the library in the target */
    int takes_device_memory; /**< it registers memory of devices; else that is staged on the host */
    char reaches[32];        /**< "PEs of other hosts" */
    char path[128];          /**< "UCX 1.13.1, tcp"; "": it is not available */
    char why[320];           /**< why it is chosen, or not */
} shmemx_transport_info_t;

/** Describe the @p index-th transport, by the order of preference in this process's environment.
 * For that, index 0 loads, opens and closes the network drivers of that order; one thread at a
 * time.
 * Errors: MEMSPAN_ERR_NOT_FOUND (index beyond the last), MEMSPAN_ERR_CONFIG (malformed
 * environment), MEMSPAN_ERR_CONFLICT (a job uses the drivers), MEMSPAN_ERR_INVALID (info NULL,
 * struct_size not set). */
MEMSPAN_API int shmemx_transport_plan(int index, shmemx_transport_info_t *info);

/** Describe the @p index-th variable of OpenSHMEM, as memspan_option_describe() does the library's
 * own: each that is read, those of partitions that are set, and those that look like a misspelt one
 * (source "refused"). The texts are valid until this thread's next call of either library; one
 * thread calls it at a time. Errors: MEMSPAN_ERR_NOT_FOUND (index beyond the last),
 * MEMSPAN_ERR_INVALID (info NULL, struct_size not set). */
MEMSPAN_API int shmemx_option_describe(int index, memspan_option_info_t *info);

/* --------------------------------------------------------------------------------- spaces
 * A space is a partition that a team makes at run time: same numbers, same queries. A handle is a
 * number, never dereferenced. Members of the team allocate from it; other PEs may put and get with
 * SHMEMX_CAP_WORLD_ACCESS.
 * Source: the proposals for memory spaces of the OpenSHMEM committee (2017, 2020, 2025). */

typedef struct shmemx_space_name *shmemx_space_t;

#define SHMEMX_SPACE_INVALID MEMSPAN_CONSTANT(shmemx_space_t, 0)
#define SHMEMX_SPACE_DEFAULT                                                                       \
    MEMSPAN_CONSTANT(shmemx_space_t, 1) /* shmem_malloc() allocates from it */

/** Request for a space. Zeros are the defaults. */
typedef struct shmemx_space_config {
    size_t struct_size; /**< in: sizeof(shmemx_space_config_t) */
    size_t size;        /**< bytes per PE */
    size_t pgsize;      /**< bytes of a page; 0: the kind's own */
    shmemx_kind_t kind;
    shmemx_policy_t policy;
    int has_device;   /**< 1: device is set; 0: the PE's current device */
    int device;       /**< Memspan's number of the device */
    int num_contexts; /**< number of shmemx_space_create_ctx() calls to expect */
    long hints;       /**< SHMEMX_SPACE_* */
    const char *name; /**< for shmemx_name_to_index(); NULL: "space<number>" */
} shmemx_space_config_t;
#define SHMEMX_SPACE_LAT_PREFERRED (1L << 0) /* small frequent operations */
#define SHMEMX_SPACE_MR_PREFERRED  (1L << 1) /* many messages from many threads */

/** Make a space for @p team. Collective over the team, with equal requests. On failure every member
 * gets an error and SHMEMX_SPACE_INVALID in *space. With SHMEM_TEAM_INVALID the call is local, and
 * the space has no memory before shmemx_space_attach().
 * Errors: MEMSPAN_ERR_INVALID (no team, config NULL or not valid), MEMSPAN_ERR_CONFLICT (requests
 * differ between PEs), MEMSPAN_ERR_LIMIT (too many spaces or partitions), MEMSPAN_ERR_NO_MEMORY,
 * MEMSPAN_ERR_NOT_FOUND (no such device), MEMSPAN_ERR_NOT_GUARANTEED, MEMSPAN_ERR_UNSUPPORTED,
 * MEMSPAN_ERR_DRIVER. */
MEMSPAN_API int shmemx_space_create(shmem_team_t team, const shmemx_space_config_t *config,
                                    shmemx_space_t *space);
/** Give a space memory, for @p team. Collective over the team.
 * Errors: those of shmemx_space_create(); MEMSPAN_ERR_NOT_FOUND (no such space),
 * MEMSPAN_ERR_CONFLICT (attached already). */
MEMSPAN_API int shmemx_space_attach(shmem_team_t team, shmemx_space_t space);
/** Free a space's memory. Collective over its team.
 * Errors: MEMSPAN_ERR_NOT_FOUND (no such space), MEMSPAN_ERR_CONFLICT (not attached),
 * MEMSPAN_ERR_INVALID (the default space). */
MEMSPAN_API int shmemx_space_detach(shmemx_space_t space);
/** Detach and release the handle. SHMEMX_SPACE_INVALID: no effect.
 * Errors: MEMSPAN_ERR_NOT_FOUND (no such space), MEMSPAN_ERR_INVALID (the default space). */
MEMSPAN_API int shmemx_space_destroy(shmemx_space_t space);

/** Collective over the space's team. NULL without enough memory, and for a space without any. */
MEMSPAN_API void *shmemx_space_malloc(shmemx_space_t space, size_t size);
MEMSPAN_API void *shmemx_space_calloc(shmemx_space_t space, size_t count, size_t size);
MEMSPAN_API void *shmemx_space_align(shmemx_space_t space, size_t alignment, size_t size);
/** @p ptr must be of that space; SHMEMX_CHECK=1 checks it. */
MEMSPAN_API void shmemx_space_free(shmemx_space_t space, void *ptr);

/** Make a context of the space's team; on failure *ctx is SHMEM_CTX_INVALID.
 * Errors: MEMSPAN_ERR_NOT_FOUND (no such space, or it has no memory), MEMSPAN_ERR_LIMIT. */
MEMSPAN_API int shmemx_space_create_ctx(shmemx_space_t space, long options, shmem_ctx_t *ctx);
/** The space's team, kind (the requested one while it has no memory) and SHMEMX_CAP_* bits.
 * Errors: MEMSPAN_ERR_NOT_FOUND (no such space, or it has no memory). */
MEMSPAN_API int shmemx_space_get_team(shmemx_space_t space, shmem_team_t *team);
MEMSPAN_API int shmemx_space_get_device_type(shmemx_space_t space, shmemx_kind_t *kind);
MEMSPAN_API int shmemx_space_get_caps(shmemx_space_t space, long *capabilities);
/** 0 when it has memory.
 * Errors: MEMSPAN_ERR_NOT_FOUND (no such space, or it has none). */
MEMSPAN_API int shmemx_space_is_available(shmemx_space_t space);
/** Its number among the partitions.
 * Errors: SHMEMX_PARTITION_NONE (no such space, or it has no memory). */
MEMSPAN_API int shmemx_space_partition(shmemx_space_t space);
/** The space that holds an address, or SHMEMX_SPACE_INVALID. */
MEMSPAN_API shmemx_space_t shmemx_space_of(const void *address);
/** As shmem_ptr(), with the PE numbers of the space's team; or NULL. */
MEMSPAN_API void *shmemx_space_ptr(shmemx_space_t space, const void *dest, int pe);

/* ------------------------------------------------------------- heaps by number and by name
 * The same partitions under OSSS-UCX's names. */

typedef int shmemx_heap_index_t;

MEMSPAN_API void *shmemx_malloc_by_index(shmemx_heap_index_t index, size_t size);
MEMSPAN_API void *shmemx_calloc_by_index(shmemx_heap_index_t index, size_t count, size_t size);
MEMSPAN_API void *shmemx_realloc_by_index(shmemx_heap_index_t index, void *ptr, size_t size);
MEMSPAN_API void *shmemx_align_by_index(shmemx_heap_index_t index, size_t alignment, size_t size);
MEMSPAN_API void shmemx_free_by_index(shmemx_heap_index_t index, void *ptr);
/** By the name of the variable or space, or by the number as text. */
MEMSPAN_API void *shmemx_malloc_by_name(const char *name, size_t size);
MEMSPAN_API void *shmemx_calloc_by_name(const char *name, size_t count, size_t size);
MEMSPAN_API void *shmemx_realloc_by_name(const char *name, void *ptr, size_t size);
MEMSPAN_API void *shmemx_align_by_name(const char *name, size_t alignment, size_t size);
MEMSPAN_API void shmemx_free_by_name(const char *name, void *ptr);
/** -1 and NULL when there is no such partition. */
MEMSPAN_API shmemx_heap_index_t shmemx_name_to_index(const char *name);
MEMSPAN_API const char *shmemx_index_to_name(shmemx_heap_index_t index);

/* ------------------------------------------------------------------- memory of the program's
 * A buffer of the program is registered with the transports (local), or made symmetric
 * (collective), for puts and gets as to any symmetric memory. It stays the program's. */

/** Register a local buffer; unregister it by the same address.
 * Errors: MEMSPAN_ERR_INVALID (NULL or empty), MEMSPAN_ERR_CONFLICT (it overlaps a registered one),
 * MEMSPAN_ERR_LIMIT, MEMSPAN_ERR_NOT_FOUND (unregister: no such buffer). */
MEMSPAN_API int shmemx_buffer_register(void *address, size_t size_bytes);
MEMSPAN_API int shmemx_buffer_unregister(void *address);
MEMSPAN_API void shmemx_buffer_unregister_all(void);
/** The symmetric address, which may differ from @p address; NULL on failure. @p flags: 0. */
MEMSPAN_API void *shmemx_buffer_register_symmetric(void *address, size_t size_bytes, int flags);
/** Errors: MEMSPAN_ERR_NOT_FOUND (no such symmetric buffer). */
MEMSPAN_API int shmemx_buffer_unregister_symmetric(void *address, size_t size_bytes);

/** One heap of the program, given between preinit and postinit, which replace shmem_init(): Sandia
 * OpenSHMEM's interface for device libraries.
 * Errors: MEMSPAN_ERR_CONFLICT (wrong order of calls, or a heap was given before),
 * MEMSPAN_ERR_INVALID (thread level, heap or type not valid), MEMSPAN_ERR_UNSUPPORTED (no such
 * device memory). */
#define SHMEMX_EXTERNAL_HEAP_ZE   0
#define SHMEMX_EXTERNAL_HEAP_CUDA 1
#define SHMEMX_EXTERNAL_HEAP_HIP  2
#define SHMEMX_EXTERNAL_HEAP_HOST 3
MEMSPAN_API void shmemx_heap_preinit(void);
MEMSPAN_API int shmemx_heap_preinit_thread(int requested, int *provided);
MEMSPAN_API int shmemx_heap_create(void *base, size_t size, int device_type, int device_index);
MEMSPAN_API void shmemx_heap_postinit(void);

/* --------------------------------------------------------------------- calls of handlers
 * Active messages: a PE runs a function of another one. Calls to a PE travel together, so many
 * small ones cost less than puts. shmemx_call(3) says when they are sent, complete and executed. */

/** A function of the program that PEs call. @p payload: @p size bytes, aligned to 8, valid until it
 * returns; @p pe: the caller's number in the world; @p data: as given to shmemx_handler_add().
 *
 * Handlers run one at a time, in threads of the program that call OpenSHMEM, while those wait (in
 * barriers, quiet, waits and tests) or call. Below SHMEM_THREAD_MULTIPLE that is the program's one
 * thread, so their data needs no atomics. A handler may put, get, use atomics and signals, and call
 * handlers; such calls are sent after it has returned. It may not wait for a PE, order or complete
 * operations, or call routines that are collective: that ends the job with a message, or never
 * returns. */
typedef void (*shmemx_handler_t)(const void *payload, size_t size, int pe, void *data);

#define SHMEMX_CALL_MAX_BYTES 2048 /* of a payload */

/** Add a handler, and return its number in *id: 0 for the first. Local. All PEs add the same
 * handlers in the same order, and synchronise before a PE calls one. They exist until
 * shmem_finalize().
 * Errors: MEMSPAN_ERR_INVALID (handler or id NULL), MEMSPAN_ERR_LIMIT (1,024 handlers, or more
 * than 1,024 PEs on a host), MEMSPAN_ERR_NO_MEMORY. */
MEMSPAN_API int shmemx_handler_add(shmemx_handler_t handler, void *data, int *id);
/** Call handler @p id on @p pe of the context's team. The payload, at most SHMEMX_CALL_MAX_BYTES,
 * is copied before the return; NULL where @p size is 0. The call is sent when several are together,
 * when this thread waits, and by fence; quiet returns when the context's calls are executed. Calls
 * of one context to one PE are executed in their order where shmem_fence() separates them; an
 * operation before the fence is delivered before the call after it. Any thread. Ends the job where
 * an argument is wrong. */
MEMSPAN_API void shmemx_call(shmem_ctx_t ctx, int id, const void *payload, size_t size, int pe);

/* --------------------------------------------------------------------- inside kernels */

/** const shmemx_device_view_t * of <shmemx_device.h>. */
typedef const struct shmemx_device_view *shmemx_device_handle_t;

/** Make a view of the job for the kernels of @p device (MEMSPAN_HOST, or Memspan's number), which
 * <shmemx_device.h> uses, and start the thread that executes their requests. Local. The view has
 * the segments of the time; those made later are reached by requests. It is the library's, and
 * valid until shmemx_device_close() or shmem_finalize(). Any thread.
 * Errors: MEMSPAN_ERR_NOT_FOUND (no such device), MEMSPAN_ERR_UNSUPPORTED (it has no memory that
 * device and host load and store at once, with atomics: the message has the reason),
 * MEMSPAN_ERR_LIMIT (16 views are open, no context or thread), MEMSPAN_ERR_NO_MEMORY,
 * MEMSPAN_ERR_CONFIG. */
MEMSPAN_API int shmemx_device_open(int device, shmemx_device_handle_t *view);
/** Execute the requests that are left, and end the view. No kernel uses it any more.
 * Errors: MEMSPAN_ERR_NOT_FOUND (no view that is open). */
MEMSPAN_API int shmemx_device_close(shmemx_device_handle_t view);

/** How kernels of a device reach memory of PEs. Written by shmemx_device_plan(). */
typedef struct shmemx_device_traits {
    size_t struct_size;
    int device;       /**< Memspan's number; MEMSPAN_HOST */
    int is_available; /**< shmemx_device_open() makes a view */
    char name[96];    /**< as the driver names it */
    /** "load/store", "request" (of the host's thread), "partitions" (load/store where a partition
     * is of the device's memory, else request), "" (not available): memory of this PE, and that
     * which the host maps of PEs of the host; memory of PEs of other hosts. */
    char own[16];
    char peers[16];
    char others[16];
    char why[256]; /**< one sentence */
} shmemx_device_info_t;

/** Describe the @p index-th device, the host first. Allocates nothing; needs no shmem_init(). Opens
 * the drivers. Errors: MEMSPAN_ERR_NOT_FOUND (index beyond the last), MEMSPAN_ERR_INVALID (info
 * NULL, struct_size not set), MEMSPAN_ERR_CONFIG (malformed environment). */
MEMSPAN_API int shmemx_device_plan(int index, shmemx_device_info_t *info);

/* ------------------------------------------------------------------------- on a queue
 * Operations in the order of a queue of <memspan/queue.h>: a CUDA or HIP stream, an OpenCL command
 * queue. Each starts after the work that is on the queue now, and later work of the queue starts
 * after it; the host does not wait in the call where the driver can hold a queue. The operation is
 * that of the routine without "_on_queue", on the default context; a blocking one is complete in
 * the sense of that routine. Buffers stay as they are until the queue has passed the operation.
 *
 * Any thread, at every thread level. Wrong arguments end the job. shmem_finalize() waits for the
 * operations. Two collective operations of one team, on queues or by the host, are not under way at
 * the same time in a PE: the program orders them, alike in all members. A collective operation that
 * fails on a queue is the error of all later calls. */

/** memspan_queue_h */
typedef struct memspan_queue_name *shmemx_queue_t;

/** One-sided. Errors: MEMSPAN_ERR_NOT_FOUND (no such queue), MEMSPAN_ERR_LIMIT (no thread),
 * MEMSPAN_ERR_NO_MEMORY, MEMSPAN_ERR_DRIVER (the queue's). */
MEMSPAN_API int shmemx_putmem_on_queue(void *dest, const void *source, size_t nelems, int pe,
                                       shmemx_queue_t queue);
MEMSPAN_API int shmemx_getmem_on_queue(void *dest, const void *source, size_t nelems, int pe,
                                       shmemx_queue_t queue);
MEMSPAN_API int shmemx_putmem_signal_on_queue(void *dest, const void *source, size_t nelems,
                                              uint64_t *sig_addr, uint64_t signal, int sig_op,
                                              int pe, shmemx_queue_t queue);
MEMSPAN_API int shmemx_signal_op_on_queue(uint64_t *sig_addr, uint64_t signal, int sig_op, int pe,
                                          shmemx_queue_t queue);
MEMSPAN_API int shmemx_signal_wait_until_on_queue(uint64_t *sig_addr, int cmp, uint64_t cmp_value,
                                                  shmemx_queue_t queue);
MEMSPAN_API int shmemx_quiet_on_queue(shmemx_queue_t queue);

/** Collective, as without a queue. shmemx_barrier_on_queue(): quiet, and shmem_team_sync(). Errors:
 * MEMSPAN_ERR_NOT_FOUND, MEMSPAN_ERR_LIMIT, MEMSPAN_ERR_NO_MEMORY, MEMSPAN_ERR_DRIVER, as above. */
MEMSPAN_API int shmemx_barrier_all_on_queue(shmemx_queue_t queue);
MEMSPAN_API int shmemx_sync_all_on_queue(shmemx_queue_t queue);
MEMSPAN_API int shmemx_barrier_on_queue(shmem_team_t team, shmemx_queue_t queue);
MEMSPAN_API int shmemx_team_sync_on_queue(shmem_team_t team, shmemx_queue_t queue);
MEMSPAN_API int shmemx_broadcastmem_on_queue(shmem_team_t team, void *dest, const void *source,
                                             size_t nelems, int PE_root, shmemx_queue_t queue);
MEMSPAN_API int shmemx_collectmem_on_queue(shmem_team_t team, void *dest, const void *source,
                                           size_t nelems, shmemx_queue_t queue);
MEMSPAN_API int shmemx_fcollectmem_on_queue(shmem_team_t team, void *dest, const void *source,
                                            size_t nelems, shmemx_queue_t queue);
MEMSPAN_API int shmemx_alltoallmem_on_queue(shmem_team_t team, void *dest, const void *source,
                                            size_t nelems, shmemx_queue_t queue);

/** A reduction, by its operation and the type of its elements: int32_t is SHMEMX_TYPE_INT32,
 * whatever its C type. */
typedef enum shmemx_reduction {
    SHMEMX_REDUCE_SUM,
    SHMEMX_REDUCE_PROD,
    SHMEMX_REDUCE_MIN,
    SHMEMX_REDUCE_MAX,
    SHMEMX_REDUCE_AND,
    SHMEMX_REDUCE_OR,
    SHMEMX_REDUCE_XOR
} shmemx_reduction_t;
typedef enum shmemx_type {
    SHMEMX_TYPE_INT8,
    SHMEMX_TYPE_UINT8,
    SHMEMX_TYPE_INT16,
    SHMEMX_TYPE_UINT16,
    SHMEMX_TYPE_INT32,
    SHMEMX_TYPE_UINT32,
    SHMEMX_TYPE_INT64,
    SHMEMX_TYPE_UINT64,
    SHMEMX_TYPE_FLOAT,
    SHMEMX_TYPE_DOUBLE,
    SHMEMX_TYPE_LONGDOUBLE,
    SHMEMX_TYPE_COMPLEXF,
    SHMEMX_TYPE_COMPLEXD
} shmemx_type_t;
/** Errors: also MEMSPAN_ERR_INVALID (no such operation on that type). */
MEMSPAN_API int shmemx_reduce_on_queue(shmem_team_t team, void *dest, const void *source,
                                       size_t nreduce, shmemx_type_t type, shmemx_reduction_t op,
                                       shmemx_queue_t queue);

/* ---------------------------------------------------------------------------------- other */

/** For shmem_malloc_with_hints(). The first: no barrier, as shmemx_partition_malloc_nosync(). The
 * others: from the first partition of such memory with enough free, if any. */
#define SHMEMX_MALLOC_NO_BARRIER (1L << 8)
#define SHMEMX_MALLOC_HIGH_BW    (1L << 9)
#define SHMEMX_MALLOC_LOW_LAT    (1L << 10)
#define SHMEMX_MALLOC_NEAR_NIC   (1L << 11)
#define SHMEMX_MALLOC_DEVICE     (1L << 12)

#define SHMEMX_TEAM_NODE SHMEM_TEAM_SHARED

/** Properties of a program that uses another model too, by the names of OSHMPI and OSSS-UCX. */
#define SHMEMX_PROGRESS_MPI           0 /* a wait in OpenSHMEM advances MPI */
#define SHMEMX_UPC_THREADS_ARE_PES    1
#define SHMEMX_FORTRAN_IMAGES_ARE_PES 2
#define SHMEMX_MPI_PROCESSES_ARE_PES  3 /* the rank in MPI_COMM_WORLD is the number of the PE */
#define SHMEMX_INITIALIZES_MPI        4
#define SHMEMX_MPI_INITIALIZES        5

/** 1 if the job has that property, else 0. SHMEMX_MPI_PROCESSES_ARE_PES holds where the launcher
 * serves MPI too (by PMIx or PMI-1), the others do not. Any thread. Errors: MEMSPAN_ERR_INVALID (no
 * such property). */
MEMSPAN_API int shmemx_query_interoperability(int property);

/** Routines that 1.6 adopted, under their names before that. */
#define MEMSPAN_SHMEMX_TWINS(result, name, ...)                                                    \
    MEMSPAN_API result shmemx_##name(__VA_ARGS__);                                                 \
    MEMSPAN_API result shmemx_ctx_##name(shmem_ctx_t ctx, __VA_ARGS__);
#define MEMSPAN_SHMEMX_BLOCKS(NAME, TYPE, OP)                                                      \
    MEMSPAN_SHMEMX_TWINS(void, NAME##_##OP, TYPE *dest, const TYPE *source, ptrdiff_t dst,         \
                         ptrdiff_t sst, size_t bsize, size_t nblocks, int pe)
#define MEMSPAN_SHMEMX_BLOCKS_SIZE(BITS, OP, SUFFIX)                                               \
    MEMSPAN_SHMEMX_TWINS(void, OP##BITS##SUFFIX, void *dest, const void *source, ptrdiff_t dst,    \
                         ptrdiff_t sst, size_t bsize, size_t nblocks, int pe)
MEMSPAN_SHMEM_RMA_TYPES(MEMSPAN_SHMEMX_BLOCKS, ibput)
MEMSPAN_SHMEM_RMA_SIZES(MEMSPAN_SHMEMX_BLOCKS_SIZE, ibput, )
MEMSPAN_SHMEM_RMA_TYPES(MEMSPAN_SHMEMX_BLOCKS, ibget)
MEMSPAN_SHMEM_RMA_SIZES(MEMSPAN_SHMEMX_BLOCKS_SIZE, ibget, )
MEMSPAN_SHMEMX_TWINS(void, signal_add, uint64_t *sig_addr, uint64_t signal, int pe)
MEMSPAN_SHMEMX_TWINS(void, signal_set, uint64_t *sig_addr, uint64_t signal, int pe)
MEMSPAN_SHMEMX_TWINS(void, pe_quiet, const int *target_pes, size_t npes)
#define MEMSPAN_SHMEMX_SCAN(NAME, TYPE, OP)                                                        \
    MEMSPAN_API int shmemx_##NAME##_##OP(shmem_team_t team, TYPE *dest, const TYPE *source,        \
                                         size_t nelems);
MEMSPAN_SHMEM_REDUCE_SUM_TYPES(MEMSPAN_SHMEMX_SCAN, sum_inscan)
MEMSPAN_SHMEM_REDUCE_SUM_TYPES(MEMSPAN_SHMEMX_SCAN, sum_exscan)
typedef shmem_ctx_session_config_t shmemx_ctx_session_config_t;
#define SHMEMX_CTX_SESSION_TOTAL_OPS SHMEM_CTX_SESSION_TOTAL_OPS
#define SHMEMX_CTX_SESSION_BATCH     SHMEM_CTX_SESSION_BATCH
MEMSPAN_API void shmemx_ctx_session_start(shmem_ctx_t ctx, long options,
                                          const shmem_ctx_session_config_t *config,
                                          long config_mask);
MEMSPAN_API void shmemx_ctx_session_stop(shmem_ctx_t ctx);

MEMSPAN_END_DECLS

/** Generic names, as in shmem.h; shmemx_malloc(heap, size) and the like select by the type of heap,
 * a number or a name. */
#if !defined(__cplusplus) && defined(__STDC_VERSION__) && (__STDC_VERSION__ >= 201112L)
#define shmemx_ibput(...)      shmem_ibput(__VA_ARGS__)
#define shmemx_ibget(...)      shmem_ibget(__VA_ARGS__)
#define shmemx_sum_inscan(...) shmem_sum_inscan(__VA_ARGS__)
#define shmemx_sum_exscan(...) shmem_sum_exscan(__VA_ARGS__)
#define shmemx_signal_add(...) shmem_signal_add(__VA_ARGS__)
#define shmemx_signal_set(...) shmem_signal_set(__VA_ARGS__)

#define MEMSPAN_SHMEMX_HEAP(OP, ...)                                                               \
    _Generic(MEMSPAN_SHMEM_FIRST(__VA_ARGS__), char * : shmemx_##OP##_by_name, const char *        \
             : shmemx_##OP##_by_name, default                                                      \
             : shmemx_##OP##_by_index)(__VA_ARGS__)
#define shmemx_malloc(...)  MEMSPAN_SHMEMX_HEAP(malloc, __VA_ARGS__)
#define shmemx_calloc(...)  MEMSPAN_SHMEMX_HEAP(calloc, __VA_ARGS__)
#define shmemx_realloc(...) MEMSPAN_SHMEMX_HEAP(realloc, __VA_ARGS__)
#define shmemx_align(...)   MEMSPAN_SHMEMX_HEAP(align, __VA_ARGS__)
#define shmemx_free(...)    MEMSPAN_SHMEMX_HEAP(free, __VA_ARGS__)
#endif

#endif /* MEMSPAN_SHMEMX_H */
