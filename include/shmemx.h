/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEMX_H
#define MEMSPAN_SHMEMX_H

/** @file shmemx.h
 * What Memspan has beyond OpenSHMEM 1.6: partitions of the symmetric heap, spaces that a team makes
 * at run time, buffers of the program's own as symmetric memory, and names that other
 * implementations gave to the same things.
 *
 * Every call that allocates, frees or creates is collective over the world, unless a team is named,
 * and returns after a barrier of those who called, unless its name or a hint says otherwise.
 * Queries are local and may run on any thread.
 *
 * Errors: NULL, -1 or nonzero, the reason in memspan_error_text() (<memspan/status.h>).
 *
 * Structures begin with their size: set struct_size to sizeof, and the rest to 0, before the call.
 * Members added later read as 0 for programs that know less of them. */

#include <shmem.h>

MEMSPAN_BEGIN_DECLS

/* ----------------------------------------------------------------------------- partitions
 * A partition is a symmetric heap of its own, of one kind of memory, by a number. The environment
 * makes them: SHMEM_SYMMETRIC_PARTITION<number>=size=<bytes>[:kind=][:policy=][:pgsize=].
 * shmem_malloc() is partition 1. memspan-shmem(7) has all of it.
 * Source: "Symmetric Memory Partitions in OpenSHMEM" (2017). */

/** How many there may be, and the largest number that one may have. */
#define SHMEM_MAX_PARTITIONS    64
#define SHMEM_MAX_PARTITION_ID  1023
#define SHMEMX_PARTITION_NONE   (-1)
#define SHMEMX_PARTITION_STATIC (-3) /* shmemx_partition_of() the data segment */

/** From partition @p id. NULL, without a barrier, when there is none of that number. */
MEMSPAN_API void *shmemx_partition_malloc(size_t size, int id);
MEMSPAN_API void *shmemx_partition_calloc(size_t count, size_t size, int id);
MEMSPAN_API void *shmemx_partition_align(size_t alignment, size_t size, int id);
/** @p ptr NULL: shmemx_partition_malloc(). Otherwise it stays in its partition, whatever @p id. */
MEMSPAN_API void *shmemx_partition_realloc(void *ptr, size_t size, int id);
/** The same as shmem_free(), of any partition. */
MEMSPAN_API void shmemx_partition_free(void *ptr);
/** No barrier: the PEs make the same calls in the same order, and synchronise before they use what
 * they get. For allocator callbacks. */
MEMSPAN_API void *shmemx_partition_malloc_nosync(size_t size, int id);

/** The papers' spellings, which the standard reserves: declared when they are asked for. */
#ifdef SHMEMX_PARTITION_NAMES
MEMSPAN_API void *shmem_partition_malloc(size_t size, int id);
MEMSPAN_API void *shmem_partition_align(size_t alignment, size_t size, int id);
MEMSPAN_API void shmem_partition_free(void *ptr);
#endif

/** Cray's. */
MEMSPAN_API void *shmemx_kind_malloc(size_t size, int id);
MEMSPAN_API void *shmemx_kind_align(size_t alignment, size_t size, int id);

/** X(name, number, word of the environment): what memory it is. */
#define SHMEMX_KIND_MAP(X)                                                                         \
    X(SHMEMX_KIND_SYSDEFAULT, 0, "SYSDEFAULT") /* wherever the system puts it */                   \
    X(SHMEMX_KIND_NORMALMEM, 1, "NORMALMEM")   /* the node's ordinary memory */                    \
    X(SHMEMX_KIND_FASTMEM, 2, "FASTMEM")       /* of the highest bandwidth */                      \
    X(SHMEMX_KIND_LIBOMP, 3, "LIBOMP")         /* omp_target_alloc() of the default device */      \
    X(SHMEMX_KIND_PINNED, 4, "PINNED")         /* host memory, locked, known to drivers */         \
    X(SHMEMX_KIND_MANAGED, 5, "MANAGED")       /* moves between host and device */                 \
    X(SHMEMX_KIND_COHERENT, 6, "COHERENT")     /* host and device see each other's stores */       \
    X(SHMEMX_KIND_DEVICE, 7, "DEVICE")         /* a device's own */
typedef enum shmemx_kind {
#define SHMEMX_KIND_ENUM(name, number, word) name = (number),
    SHMEMX_KIND_MAP(SHMEMX_KIND_ENUM)
#undef SHMEMX_KIND_ENUM
} shmemx_kind_t;

/** X(name, number, word): how much the kind is insisted on. */
#define SHMEMX_POLICY_MAP(X)                                                                       \
    X(SHMEMX_POLICY_SYSDEFAULT, 0, "SYSDEFAULT")   /* the process's own policy */                  \
    X(SHMEMX_POLICY_MANDATORY, 1, "MANDATORY")     /* that kind or failure */                      \
    X(SHMEMX_POLICY_PREFERRED, 2, "PREFERRED")     /* that kind if there is enough */              \
    X(SHMEMX_POLICY_INTERLEAVED, 3, "INTERLEAVED") /* page by page over the nodes of the kind */
typedef enum shmemx_policy {
#define SHMEMX_POLICY_ENUM(name, number, word) name = (number),
    SHMEMX_POLICY_MAP(SHMEMX_POLICY_ENUM)
#undef SHMEMX_POLICY_ENUM
} shmemx_policy_t;

/** What can be done with a partition's memory: bits. */
#define SHMEMX_CAP_RMA           (1L << 0) /* put and get */
#define SHMEMX_CAP_COLLECTIVES   (1L << 1)
#define SHMEMX_CAP_ATOMICS       (1L << 2)
#define SHMEMX_CAP_DIRECT_ACCESS (1L << 3) /* the host may load and store it */
#define SHMEMX_CAP_WORLD_ACCESS  (1L << 4) /* PEs outside its team reach it */
#define SHMEMX_CAP_IDENT_ADDR    (1L << 5) /* the same addresses in every PE */
#define SHMEMX_CAP_PEER_ACCESS   (1L << 6) /* shmem_ptr() works for PEs of this node */
#define SHMEMX_CAP_WAIT          (1L << 7) /* waits, tests, locks, signals */
#define SHMEMX_CAP_PEER_COPY     (1L << 8) /* PEs of this node put and get by its driver's copies */

/** One partition, as it was given. Bytes are of one PE. */
typedef struct shmemx_partition_traits {
    size_t struct_size; /**< in: sizeof(shmemx_partition_info_t) */
    int id;
    int is_default;           /**< shmem_malloc() allocates from it */
    shmemx_kind_t kind_asked; /**< what was asked for */
    shmemx_kind_t kind;       /**< what it is */
    shmemx_policy_t policy;
    int device;        /**< Memspan's number of the device, -1: the host */
    long capabilities; /**< SHMEMX_CAP_* */
    void *base;        /**< its first address here */
    size_t size_bytes;
    size_t used_bytes;    /**< in blocks, with what the heap adds to each */
    size_t largest_bytes; /**< the largest block to be had now */
    size_t page_size_bytes;
    shmem_team_t team;            /**< who allocates from it */
    char kind_name[32];           /**< "NORMALMEM", "DEVICE@0" */
    char resource[48];            /**< the memory space's resource: "node0", "opencl0.coherent" */
    size_t page_size_asked_bytes; /**< 0: the kind's own */
    char why[256];                /**< one sentence: why this memory, and who reaches it how */
} shmemx_partition_info_t;

/** How many there are; their numbers, ascending, at most @p capacity of them into @p ids (returns
 * how many there are in all). */
MEMSPAN_API int shmemx_partition_count(void);
MEMSPAN_API int shmemx_partition_ids(int *ids, int capacity);
/** 0 and *info; nonzero when there is none of that number. */
MEMSPAN_API int shmemx_partition_info(int id, shmemx_partition_info_t *info);
/** Before or without shmem_init(): the @p index-th partition, by ascending number, that this
 * process's environment asks for, and what the machine has for it: no memory is taken. 0; an error
 * code beyond the last one (MEMSPAN_ERR_NOT_FOUND), for an environment that is refused
 * (MEMSPAN_ERR_CONFIG), or where that partition cannot be had: then *info says what was asked for
 * and why not. Opens the drivers of the devices that are named. */
MEMSPAN_API int shmemx_partition_plan(int index, shmemx_partition_info_t *info);
/** The number of the one that @p address lies in; SHMEMX_PARTITION_STATIC; SHMEMX_PARTITION_NONE.
 */
MEMSPAN_API int shmemx_partition_of(const void *address);
/** "SHMEM_SYMMETRIC_PARTITION1", or what a space was called; NULL when there is none of that
 * number. The library's, until the partition ends. */
MEMSPAN_API const char *shmemx_partition_name(int id);

/* --------------------------------------------------------------------------------- spaces
 * A space is a partition that a team makes at run time: the same numbers, the same queries. A
 * handle is a name, never dereferenced. Members of the team allocate from it; PEs outside may put
 * and get where SHMEMX_CAP_WORLD_ACCESS says so.
 * Source: the proposals for memory spaces of the OpenSHMEM committee (2017, 2020, 2025). */

typedef struct shmemx_space_name *shmemx_space_t;

#define SHMEMX_SPACE_INVALID MEMSPAN_CONSTANT(shmemx_space_t, 0)
#define SHMEMX_SPACE_DEFAULT                                                                       \
    MEMSPAN_CONSTANT(shmemx_space_t, 1) /* what shmem_malloc() allocates from */

/** What is wanted. Zeros are the defaults. */
typedef struct shmemx_space_config {
    size_t struct_size; /**< in: sizeof(shmemx_space_config_t) */
    size_t size;        /**< bytes of every PE */
    size_t pgsize;      /**< bytes of a page; 0: the kind's own */
    shmemx_kind_t kind;
    shmemx_policy_t policy;
    int has_device;   /**< 1: device says which one; 0: the PE's current one */
    int device;       /**< Memspan's number of the device */
    int num_contexts; /**< contexts that shmemx_space_create_ctx() will be asked for */
    long hints;       /**< SHMEMX_SPACE_* */
    const char *name; /**< for shmemx_name_to_index(); NULL: "space<number>" */
} shmemx_space_config_t;
#define SHMEMX_SPACE_LAT_PREFERRED (1L << 0) /* small and often */
#define SHMEMX_SPACE_MR_PREFERRED  (1L << 1) /* many messages from many threads */

/** Make one for @p team: collective over it, with the same wishes. 0, or nonzero in all members
 * with SHMEMX_SPACE_INVALID in *space. With SHMEM_TEAM_INVALID the call is local, and the space has
 * no memory before shmemx_space_attach(). */
MEMSPAN_API int shmemx_space_create(shmem_team_t team, const shmemx_space_config_t *config,
                                    shmemx_space_t *space);
/** Give it memory, for @p team; take the memory away. Collective over the team. */
MEMSPAN_API int shmemx_space_attach(shmem_team_t team, shmemx_space_t space);
MEMSPAN_API int shmemx_space_detach(shmemx_space_t space);
/** Detach, and forget it. SHMEMX_SPACE_INVALID: nothing. The default space: refused. */
MEMSPAN_API int shmemx_space_destroy(shmemx_space_t space);

/** Collective over the space's team. */
MEMSPAN_API void *shmemx_space_malloc(shmemx_space_t space, size_t size);
MEMSPAN_API void *shmemx_space_calloc(shmemx_space_t space, size_t count, size_t size);
MEMSPAN_API void *shmemx_space_align(shmemx_space_t space, size_t alignment, size_t size);
/** @p ptr is of that space: the checked mode looks. */
MEMSPAN_API void shmemx_space_free(shmemx_space_t space, void *ptr);

/** A context of the space's team. */
MEMSPAN_API int shmemx_space_create_ctx(shmemx_space_t space, long options, shmem_ctx_t *ctx);
MEMSPAN_API int shmemx_space_get_team(shmemx_space_t space, shmem_team_t *team);
MEMSPAN_API int shmemx_space_get_device_type(shmemx_space_t space, shmemx_kind_t *kind);
MEMSPAN_API int shmemx_space_get_caps(shmemx_space_t space, long *capabilities);
/** 0: it has memory. */
MEMSPAN_API int shmemx_space_is_available(shmemx_space_t space);
/** Its number among the partitions; SHMEMX_PARTITION_NONE while it has no memory. */
MEMSPAN_API int shmemx_space_partition(shmemx_space_t space);
/** The space of an address; SHMEMX_SPACE_INVALID. */
MEMSPAN_API shmemx_space_t shmemx_space_of(const void *address);
/** As shmem_ptr(), with the PE numbers of the space's team. */
MEMSPAN_API void *shmemx_space_ptr(shmemx_space_t space, const void *dest, int pe);

/* ------------------------------------------------------------- heaps by number and by name
 * The same partitions, as OSSS-UCX spells it. */

typedef int shmemx_heap_index_t;

MEMSPAN_API void *shmemx_malloc_by_index(shmemx_heap_index_t index, size_t size);
MEMSPAN_API void *shmemx_calloc_by_index(shmemx_heap_index_t index, size_t count, size_t size);
MEMSPAN_API void *shmemx_realloc_by_index(shmemx_heap_index_t index, void *ptr, size_t size);
MEMSPAN_API void *shmemx_align_by_index(shmemx_heap_index_t index, size_t alignment, size_t size);
MEMSPAN_API void shmemx_free_by_index(shmemx_heap_index_t index, void *ptr);
/** By the name of the variable or of the space, or by the number as text. */
MEMSPAN_API void *shmemx_malloc_by_name(const char *name, size_t size);
MEMSPAN_API void *shmemx_calloc_by_name(const char *name, size_t count, size_t size);
MEMSPAN_API void *shmemx_realloc_by_name(const char *name, void *ptr, size_t size);
MEMSPAN_API void *shmemx_align_by_name(const char *name, size_t alignment, size_t size);
MEMSPAN_API void shmemx_free_by_name(const char *name, void *ptr);
/** -1 and NULL when there is none. */
MEMSPAN_API shmemx_heap_index_t shmemx_name_to_index(const char *name);
MEMSPAN_API const char *shmemx_index_to_name(shmemx_heap_index_t index);

/* ------------------------------------------------------------------- memory of the program's
 * Buffers that the program has are made known to the transports (local), or made symmetric
 * (collective): then they are put to and got from like any other. They stay the program's. */

/** 0, or nonzero. Unregister with the same address. */
MEMSPAN_API int shmemx_buffer_register(void *address, size_t size_bytes);
MEMSPAN_API int shmemx_buffer_unregister(void *address);
MEMSPAN_API void shmemx_buffer_unregister_all(void);
/** The symmetric address, which may differ from @p address; NULL. @p flags: 0. */
MEMSPAN_API void *shmemx_buffer_register_symmetric(void *address, size_t size_bytes, int flags);
MEMSPAN_API int shmemx_buffer_unregister_symmetric(void *address, size_t size_bytes);

/** One heap of the program's, given between two halves of shmem_init(): Sandia OpenSHMEM's way,
 * which device libraries use. 0, or nonzero. */
#define SHMEMX_EXTERNAL_HEAP_ZE   0
#define SHMEMX_EXTERNAL_HEAP_CUDA 1
#define SHMEMX_EXTERNAL_HEAP_HIP  2
#define SHMEMX_EXTERNAL_HEAP_HOST 3
MEMSPAN_API void shmemx_heap_preinit(void);
MEMSPAN_API int shmemx_heap_preinit_thread(int requested, int *provided);
MEMSPAN_API int shmemx_heap_create(void *base, size_t size, int device_type, int device_index);
MEMSPAN_API void shmemx_heap_postinit(void);

/* ---------------------------------------------------------------------------------- other */

/** For shmem_malloc_with_hints(). The first: no barrier, as shmemx_partition_malloc_nosync(). The
 * others: from the first partition of such memory, if there is one with room. */
#define SHMEMX_MALLOC_NO_BARRIER (1L << 8)
#define SHMEMX_MALLOC_HIGH_BW    (1L << 9)
#define SHMEMX_MALLOC_LOW_LAT    (1L << 10)
#define SHMEMX_MALLOC_NEAR_NIC   (1L << 11)
#define SHMEMX_MALLOC_DEVICE     (1L << 12)

#define SHMEMX_TEAM_NODE SHMEM_TEAM_SHARED

/** What 1.6 took up, by the names from before: the same routines. */
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

/** The names without a type, as shmem.h has them; shmemx_malloc(heap, size) and the like by the
 * type of the heap, a number or a name. */
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
