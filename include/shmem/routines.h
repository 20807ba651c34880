/* SPDX-License-Identifier: BSD-3-Clause */
/** @file routines.h
 * Every routine of OpenSHMEM 1.6. Programs include <shmem.h>; <pshmem.h> includes this a second
 * time for the names that profiling tools call, which is why there is no guard.
 *
 * Typed routines are written once: a shape has the arguments for one TYPE, a list (types.h) the
 * types. A shmem_ctx_ twin takes the context first; without one it is SHMEM_CTX_DEFAULT.
 *
 * For all routines:
 * - dest of a put, source of a get, and every object of an atomic operation are symmetric addresses
 *   of the caller: in its data segment, the symmetric heap, or any partition. The two ends of a
 * call may be in different ones.
 * - nelems counts elements of TYPE, of BITS bits, or bytes (mem). 0 is valid, with any address.
 * - Memory stays the caller's. The library keeps no pointer after a call returns, but for _nbi
 * calls until shmem_quiet().
 * - Threads: any, at SHMEM_THREAD_MULTIPLE; one collective per team at a time.
 * - Errors: a routine without a status ends the job with a message when an argument is not valid.
 *   SHMEMX_CHECK=1 in the environment checks every argument.
 *
 * Section numbers are those of OpenSHMEM 1.5; 1.6 has the same titles. */
#include <shmem/types.h>

#ifndef MEMSPAN_SHMEM
#define MEMSPAN_SHMEM(result, name, ...) MEMSPAN_API result name(__VA_ARGS__)
#endif
/* The routine and its twin that takes a context. */
#define MEMSPAN_SHMEM_TWINS(result, name, ...)                                                     \
    MEMSPAN_SHMEM(result, shmem_##name, __VA_ARGS__);                                              \
    MEMSPAN_SHMEM(result, shmem_ctx_##name, shmem_ctx_t ctx, __VA_ARGS__);

MEMSPAN_BEGIN_DECLS

/* ------- 9.1 "Library Setup, Exit, and Query Routines", 9.2 "Thread Support" */

/** Initialise. Collective. May be called again; the last of as many shmem_finalize() calls ends. */
MEMSPAN_SHMEM(void, shmem_init, void);
/** The same with a thread level. 0; on failure nonzero, with the reason on standard error. */
MEMSPAN_SHMEM(int, shmem_init_thread, int requested, int *provided);
/** Finalise: complete all transfers, free all teams and heaps. Collective. */
MEMSPAN_SHMEM(void, shmem_finalize, void);
/** End all PEs of the job with @p status, from any one of them. */
MEMSPAN_SHMEM(MEMSPAN_SHMEM_NORETURN void, shmem_global_exit, int status);
/** Whether the library is initialised (1 or 0), and its thread level: any time, any thread. */
MEMSPAN_SHMEM(void, shmem_query_initialized, int *initialized);
MEMSPAN_SHMEM(void, shmem_query_thread, int *provided);

/** This PE's number, and the number of PEs, in the world. */
MEMSPAN_SHMEM(int, shmem_my_pe, void);
MEMSPAN_SHMEM(int, shmem_n_pes, void);
/** 1 when that PE exists, or when @p addr is symmetric and can be accessed on it; else 0. */
MEMSPAN_SHMEM(int, shmem_pe_accessible, int pe);
MEMSPAN_SHMEM(int, shmem_addr_accessible, const void *addr, int pe);
/** Address for loads and stores of PE @p pe's @p dest; NULL where it is not mapped. The result is
 * no symmetric address. With a team: its PE numbers; NULL for SHMEM_TEAM_INVALID. */
MEMSPAN_SHMEM(void *, shmem_ptr, const void *dest, int pe);
MEMSPAN_SHMEM(void *, shmem_team_ptr, shmem_team_t team, const void *dest, int pe);

/** Version of the standard; SHMEM_VENDOR_STRING, into SHMEM_MAX_NAME_LEN bytes at @p name. */
MEMSPAN_SHMEM(void, shmem_info_get_version, int *major, int *minor);
MEMSPAN_SHMEM(void, shmem_info_get_name, char *name);
/** For profiling tools to intercept; no effect in the library. 10 "Profiling Interface". */
MEMSPAN_SHMEM(void, shmem_pcontrol, int level, ...);

/** Names before 1.2. start_pes() ignores its argument; exit finalises. */
MEMSPAN_SHMEM(void, start_pes, int npes);
MEMSPAN_SHMEM(int, _my_pe, void);
MEMSPAN_SHMEM(int, _num_pes, void);

/* -------------------------------------------------------- 9.3 "Memory Management Routines"
 * Collective over the world, with equal arguments in every PE. Sizes are bytes; size 0 gives NULL.
 * NULL without enough memory: standard error then has the request, the free bytes, and the variable
 * to raise. A block is the program's until shmem_free(). */

MEMSPAN_SHMEM(void *, shmem_malloc, size_t size);
MEMSPAN_SHMEM(void *, shmem_calloc, size_t count, size_t size); /* zeros */
/** @p alignment: a power of two and a multiple of sizeof(void *). */
MEMSPAN_SHMEM(void *, shmem_align, size_t alignment, size_t size);
/** @p hints: SHMEM_MALLOC_* and SHMEMX_MALLOC_*, or 0. Unknown hints have no effect. */
MEMSPAN_SHMEM(void *, shmem_malloc_with_hints, size_t size, long hints);
/** Contents are kept; the block stays in its partition. After NULL the old block is unchanged. */
MEMSPAN_SHMEM(void *, shmem_realloc, void *ptr, size_t size);
/** Free a block of any partition. NULL: no effect. An address that is no live block ends the job.
 */
MEMSPAN_SHMEM(void, shmem_free, void *ptr);

/** Names before 1.2. */
MEMSPAN_SHMEM(void *, shmalloc, size_t size);
MEMSPAN_SHMEM(void *, shmemalign, size_t alignment, size_t size);
MEMSPAN_SHMEM(void *, shrealloc, void *ptr, size_t size);
MEMSPAN_SHMEM(void, shfree, void *ptr);

/* --------------------------------------------------------- 9.4 "Team Management Routines"
 * A member's number is its index in the team. Handles belong to the program until destroyed.
 * Splitting and destroying are collective over the (parent) team; the rest is local. */

/** -1 for SHMEM_TEAM_INVALID, and for PEs that are not in both teams. */
MEMSPAN_SHMEM(int, shmem_team_my_pe, shmem_team_t team);
MEMSPAN_SHMEM(int, shmem_team_n_pes, shmem_team_t team);
MEMSPAN_SHMEM(int, shmem_team_translate_pe, shmem_team_t src_team, int src_pe,
              shmem_team_t dest_team);
/** 0, and the members of *config in @p config_mask; nonzero for SHMEM_TEAM_INVALID. */
MEMSPAN_SHMEM(int, shmem_team_get_config, shmem_team_t team, long config_mask,
              shmem_team_config_t *config);
/** The @p size PEs start, start + stride ... of @p parent_team. 0, or nonzero in all its PEs.
 * *new_team is SHMEM_TEAM_INVALID on failure, and in PEs that are no members. */
MEMSPAN_SHMEM(int, shmem_team_split_strided, shmem_team_t parent_team, int start, int stride,
              int size, const shmem_team_config_t *config, long config_mask,
              shmem_team_t *new_team);
/** Rows of @p xrange PEs, and their columns. Results as above. */
MEMSPAN_SHMEM(int, shmem_team_split_2d, shmem_team_t parent_team, int xrange,
              const shmem_team_config_t *xaxis_config, long xaxis_mask, shmem_team_t *xaxis_team,
              const shmem_team_config_t *yaxis_config, long yaxis_mask, shmem_team_t *yaxis_team);
MEMSPAN_SHMEM(void, shmem_team_destroy, shmem_team_t team);

/* ---------------------------------------------- 9.5 "Communication Management Routines"
 * A context orders and completes its own operations. PE numbers are those of its team. */

/** 0, or nonzero with SHMEM_CTX_INVALID in *ctx; a later try may succeed.
 * @p options: SHMEM_CTX_PRIVATE | SHMEM_CTX_SERIALIZED | SHMEM_CTX_NOSTORE, or 0. */
MEMSPAN_SHMEM(int, shmem_ctx_create, long options, shmem_ctx_t *ctx);
MEMSPAN_SHMEM(int, shmem_team_create_ctx, shmem_team_t team, long options, shmem_ctx_t *ctx);
MEMSPAN_SHMEM(int, shmem_ctx_get_team, shmem_ctx_t ctx, shmem_team_t *team);
/** Complete its operations and free it. SHMEM_CTX_INVALID: no effect. */
MEMSPAN_SHMEM(void, shmem_ctx_destroy, shmem_ctx_t ctx);
/** Hint that many operations follow; their semantics do not change. Since 1.6. */
MEMSPAN_SHMEM(void, shmem_ctx_session_start, shmem_ctx_t ctx, long options,
              const shmem_ctx_session_config_t *config, long config_mask);
MEMSPAN_SHMEM(void, shmem_ctx_session_stop, shmem_ctx_t ctx);

/* --------------------------------------------- 9.6 "Remote Memory Access Routines" */

/** put copies @p nelems elements from this PE to @p pe, get from @p pe to this PE. When a put
 * returns, source may be reused; dest has the data after shmem_quiet(). When a get returns, dest
 * has the data. */
#define MEMSPAN_SHMEM_COPY(NAME, TYPE, OP)                                                         \
    MEMSPAN_SHMEM_TWINS(void, NAME##_##OP, TYPE *dest, const TYPE *source, size_t nelems, int pe)
#define MEMSPAN_SHMEM_COPY_SIZE(BITS, OP, SUFFIX)                                                  \
    MEMSPAN_SHMEM_TWINS(void, OP##BITS##SUFFIX, void *dest, const void *source, size_t nelems,     \
                        int pe)
MEMSPAN_SHMEM_RMA_TYPES(MEMSPAN_SHMEM_COPY, put)
MEMSPAN_SHMEM_RMA_SIZES(MEMSPAN_SHMEM_COPY_SIZE, put, )
MEMSPAN_SHMEM_COPY_SIZE(mem, put, )
MEMSPAN_SHMEM_RMA_TYPES(MEMSPAN_SHMEM_COPY, get)
MEMSPAN_SHMEM_RMA_SIZES(MEMSPAN_SHMEM_COPY_SIZE, get, )
MEMSPAN_SHMEM_COPY_SIZE(mem, get, )

/** Non-blocking: source and dest must not be reused before shmem_quiet(). */
MEMSPAN_SHMEM_RMA_TYPES(MEMSPAN_SHMEM_COPY, put_nbi)
MEMSPAN_SHMEM_RMA_SIZES(MEMSPAN_SHMEM_COPY_SIZE, put, _nbi)
MEMSPAN_SHMEM_COPY_SIZE(mem, put, _nbi)
MEMSPAN_SHMEM_RMA_TYPES(MEMSPAN_SHMEM_COPY, get_nbi)
MEMSPAN_SHMEM_RMA_SIZES(MEMSPAN_SHMEM_COPY_SIZE, get, _nbi)
MEMSPAN_SHMEM_COPY_SIZE(mem, get, _nbi)

/** Strided: dest has every @p dst-th element, source every @p sst-th (both at least 1). */
#define MEMSPAN_SHMEM_STRIDED(NAME, TYPE, OP)                                                      \
    MEMSPAN_SHMEM_TWINS(void, NAME##_##OP, TYPE *dest, const TYPE *source, ptrdiff_t dst,          \
                        ptrdiff_t sst, size_t nelems, int pe)
#define MEMSPAN_SHMEM_STRIDED_SIZE(BITS, OP, SUFFIX)                                               \
    MEMSPAN_SHMEM_TWINS(void, OP##BITS##SUFFIX, void *dest, const void *source, ptrdiff_t dst,     \
                        ptrdiff_t sst, size_t nelems, int pe)
MEMSPAN_SHMEM_RMA_TYPES(MEMSPAN_SHMEM_STRIDED, iput)
MEMSPAN_SHMEM_RMA_SIZES(MEMSPAN_SHMEM_STRIDED_SIZE, iput, )
MEMSPAN_SHMEM_RMA_TYPES(MEMSPAN_SHMEM_STRIDED, iget)
MEMSPAN_SHMEM_RMA_SIZES(MEMSPAN_SHMEM_STRIDED_SIZE, iget, )

/** @p nblocks blocks of @p bsize elements; block starts are @p dst and @p sst elements apart (both
 * at least @p bsize). Since 1.6. */
#define MEMSPAN_SHMEM_BLOCKS(NAME, TYPE, OP)                                                       \
    MEMSPAN_SHMEM_TWINS(void, NAME##_##OP, TYPE *dest, const TYPE *source, ptrdiff_t dst,          \
                        ptrdiff_t sst, size_t bsize, size_t nblocks, int pe)
#define MEMSPAN_SHMEM_BLOCKS_SIZE(BITS, OP, SUFFIX)                                                \
    MEMSPAN_SHMEM_TWINS(void, OP##BITS##SUFFIX, void *dest, const void *source, ptrdiff_t dst,     \
                        ptrdiff_t sst, size_t bsize, size_t nblocks, int pe)
MEMSPAN_SHMEM_RMA_TYPES(MEMSPAN_SHMEM_BLOCKS, ibput)
MEMSPAN_SHMEM_RMA_SIZES(MEMSPAN_SHMEM_BLOCKS_SIZE, ibput, )
MEMSPAN_SHMEM_RMA_TYPES(MEMSPAN_SHMEM_BLOCKS, ibget)
MEMSPAN_SHMEM_RMA_SIZES(MEMSPAN_SHMEM_BLOCKS_SIZE, ibget, )

/** One element. */
#define MEMSPAN_SHMEM_P(NAME, TYPE, OP)                                                            \
    MEMSPAN_SHMEM_TWINS(void, NAME##_##OP, TYPE *dest, TYPE value, int pe)
#define MEMSPAN_SHMEM_G(NAME, TYPE, OP)                                                            \
    MEMSPAN_SHMEM_TWINS(TYPE, NAME##_##OP, const TYPE *source, int pe)
MEMSPAN_SHMEM_RMA_TYPES(MEMSPAN_SHMEM_P, p)
MEMSPAN_SHMEM_RMA_TYPES(MEMSPAN_SHMEM_G, g)

/* ------------------------------------------------ 9.7 "Atomic Memory Operations"
 * Atomic with each other for one TYPE, and with waits and tests of the target PE. A fetching
 * operation returns the old value; the others are complete after shmem_quiet(). *fetch of an _nbi
 * is valid after shmem_quiet(). */

#define MEMSPAN_SHMEM_AMO_FETCH(NAME, TYPE, OP)                                                    \
    MEMSPAN_SHMEM_TWINS(TYPE, NAME##_atomic_##OP, const TYPE *source, int pe)
#define MEMSPAN_SHMEM_AMO_UPDATE(NAME, TYPE, OP)                                                   \
    MEMSPAN_SHMEM_TWINS(void, NAME##_atomic_##OP, TYPE *dest, TYPE value, int pe)
#define MEMSPAN_SHMEM_AMO_SWAP(NAME, TYPE, OP)                                                     \
    MEMSPAN_SHMEM_TWINS(TYPE, NAME##_atomic_##OP, TYPE *dest, TYPE value, int pe)
#define MEMSPAN_SHMEM_AMO_COMPARE(NAME, TYPE, OP)                                                  \
    MEMSPAN_SHMEM_TWINS(TYPE, NAME##_atomic_##OP, TYPE *dest, TYPE cond, TYPE value, int pe)
#define MEMSPAN_SHMEM_AMO_INC(NAME, TYPE, OP)                                                      \
    MEMSPAN_SHMEM_TWINS(void, NAME##_atomic_##OP, TYPE *dest, int pe)
#define MEMSPAN_SHMEM_AMO_FETCH_INC(NAME, TYPE, OP)                                                \
    MEMSPAN_SHMEM_TWINS(TYPE, NAME##_atomic_##OP, TYPE *dest, int pe)
MEMSPAN_SHMEM_AMO_EXTENDED_TYPES(MEMSPAN_SHMEM_AMO_FETCH, fetch)
MEMSPAN_SHMEM_AMO_EXTENDED_TYPES(MEMSPAN_SHMEM_AMO_UPDATE, set)
MEMSPAN_SHMEM_AMO_EXTENDED_TYPES(MEMSPAN_SHMEM_AMO_SWAP, swap)
MEMSPAN_SHMEM_AMO_TYPES(MEMSPAN_SHMEM_AMO_COMPARE, compare_swap)
MEMSPAN_SHMEM_AMO_TYPES(MEMSPAN_SHMEM_AMO_FETCH_INC, fetch_inc)
MEMSPAN_SHMEM_AMO_TYPES(MEMSPAN_SHMEM_AMO_INC, inc)
MEMSPAN_SHMEM_AMO_TYPES(MEMSPAN_SHMEM_AMO_SWAP, fetch_add)
MEMSPAN_SHMEM_AMO_TYPES(MEMSPAN_SHMEM_AMO_UPDATE, add)
MEMSPAN_SHMEM_AMO_BITS_TYPES(MEMSPAN_SHMEM_AMO_SWAP, fetch_and)
MEMSPAN_SHMEM_AMO_BITS_TYPES(MEMSPAN_SHMEM_AMO_UPDATE, and)
MEMSPAN_SHMEM_AMO_BITS_TYPES(MEMSPAN_SHMEM_AMO_SWAP, fetch_or)
MEMSPAN_SHMEM_AMO_BITS_TYPES(MEMSPAN_SHMEM_AMO_UPDATE, or)
MEMSPAN_SHMEM_AMO_BITS_TYPES(MEMSPAN_SHMEM_AMO_SWAP, fetch_xor)
MEMSPAN_SHMEM_AMO_BITS_TYPES(MEMSPAN_SHMEM_AMO_UPDATE, xor)

#define MEMSPAN_SHMEM_AMO_FETCH_NBI(NAME, TYPE, OP)                                                \
    MEMSPAN_SHMEM_TWINS(void, NAME##_atomic_##OP, TYPE *fetch, const TYPE *source, int pe)
#define MEMSPAN_SHMEM_AMO_SWAP_NBI(NAME, TYPE, OP)                                                 \
    MEMSPAN_SHMEM_TWINS(void, NAME##_atomic_##OP, TYPE *fetch, TYPE *dest, TYPE value, int pe)
#define MEMSPAN_SHMEM_AMO_COMPARE_NBI(NAME, TYPE, OP)                                              \
    MEMSPAN_SHMEM_TWINS(void, NAME##_atomic_##OP, TYPE *fetch, TYPE *dest, TYPE cond, TYPE value,  \
                        int pe)
#define MEMSPAN_SHMEM_AMO_INC_NBI(NAME, TYPE, OP)                                                  \
    MEMSPAN_SHMEM_TWINS(void, NAME##_atomic_##OP, TYPE *fetch, TYPE *dest, int pe)
MEMSPAN_SHMEM_AMO_EXTENDED_TYPES(MEMSPAN_SHMEM_AMO_FETCH_NBI, fetch_nbi)
MEMSPAN_SHMEM_AMO_EXTENDED_TYPES(MEMSPAN_SHMEM_AMO_SWAP_NBI, swap_nbi)
MEMSPAN_SHMEM_AMO_TYPES(MEMSPAN_SHMEM_AMO_COMPARE_NBI, compare_swap_nbi)
MEMSPAN_SHMEM_AMO_TYPES(MEMSPAN_SHMEM_AMO_INC_NBI, fetch_inc_nbi)
MEMSPAN_SHMEM_AMO_TYPES(MEMSPAN_SHMEM_AMO_SWAP_NBI, fetch_add_nbi)
MEMSPAN_SHMEM_AMO_BITS_TYPES(MEMSPAN_SHMEM_AMO_SWAP_NBI, fetch_and_nbi)
MEMSPAN_SHMEM_AMO_BITS_TYPES(MEMSPAN_SHMEM_AMO_SWAP_NBI, fetch_or_nbi)
MEMSPAN_SHMEM_AMO_BITS_TYPES(MEMSPAN_SHMEM_AMO_SWAP_NBI, fetch_xor_nbi)

/** Names before 1.4. */
#define MEMSPAN_SHMEM_OLD_FETCH(NAME, TYPE, OP)                                                    \
    MEMSPAN_SHMEM(TYPE, shmem_##NAME##_##OP, const TYPE *source, int pe);
#define MEMSPAN_SHMEM_OLD_SET(NAME, TYPE, OP)                                                      \
    MEMSPAN_SHMEM(void, shmem_##NAME##_##OP, TYPE *dest, TYPE value, int pe);
#define MEMSPAN_SHMEM_OLD_SWAP(NAME, TYPE, OP)                                                     \
    MEMSPAN_SHMEM(TYPE, shmem_##NAME##_##OP, TYPE *dest, TYPE value, int pe);
#define MEMSPAN_SHMEM_OLD_COMPARE(NAME, TYPE, OP)                                                  \
    MEMSPAN_SHMEM(TYPE, shmem_##NAME##_##OP, TYPE *dest, TYPE cond, TYPE value, int pe);
#define MEMSPAN_SHMEM_OLD_INC(NAME, TYPE, OP)                                                      \
    MEMSPAN_SHMEM(void, shmem_##NAME##_##OP, TYPE *dest, int pe);
#define MEMSPAN_SHMEM_OLD_FETCH_INC(NAME, TYPE, OP)                                                \
    MEMSPAN_SHMEM(TYPE, shmem_##NAME##_##OP, TYPE *dest, int pe);
MEMSPAN_SHMEM_OLD_AMO_EXTENDED_TYPES(MEMSPAN_SHMEM_OLD_FETCH, fetch)
MEMSPAN_SHMEM_OLD_AMO_EXTENDED_TYPES(MEMSPAN_SHMEM_OLD_SET, set)
MEMSPAN_SHMEM_OLD_AMO_EXTENDED_TYPES(MEMSPAN_SHMEM_OLD_SWAP, swap)
MEMSPAN_SHMEM_OLD_AMO_TYPES(MEMSPAN_SHMEM_OLD_COMPARE, cswap)
MEMSPAN_SHMEM_OLD_AMO_TYPES(MEMSPAN_SHMEM_OLD_FETCH_INC, finc)
MEMSPAN_SHMEM_OLD_AMO_TYPES(MEMSPAN_SHMEM_OLD_INC, inc)
MEMSPAN_SHMEM_OLD_AMO_TYPES(MEMSPAN_SHMEM_OLD_SWAP, fadd)
MEMSPAN_SHMEM_OLD_AMO_TYPES(MEMSPAN_SHMEM_OLD_SET, add)

/* --------------------------------------------------------- 9.8 "Signaling Operations"
 * A signal is a symmetric uint64_t. @p sig_op: SHMEM_SIGNAL_SET or SHMEM_SIGNAL_ADD. */

/** A put, then a signal update: a PE that sees the signal sees this put's data, but not earlier
 * puts'. */
#define MEMSPAN_SHMEM_PUT_SIGNAL(NAME, TYPE, OP)                                                   \
    MEMSPAN_SHMEM_TWINS(void, NAME##_##OP, TYPE *dest, const TYPE *source, size_t nelems,          \
                        uint64_t *sig_addr, uint64_t signal, int sig_op, int pe)
#define MEMSPAN_SHMEM_PUT_SIGNAL_SIZE(BITS, OP, SUFFIX)                                            \
    MEMSPAN_SHMEM_TWINS(void, OP##BITS##SUFFIX, void *dest, const void *source, size_t nelems,     \
                        uint64_t *sig_addr, uint64_t signal, int sig_op, int pe)
MEMSPAN_SHMEM_RMA_TYPES(MEMSPAN_SHMEM_PUT_SIGNAL, put_signal)
MEMSPAN_SHMEM_RMA_SIZES(MEMSPAN_SHMEM_PUT_SIGNAL_SIZE, put, _signal)
MEMSPAN_SHMEM_PUT_SIGNAL_SIZE(mem, put, _signal)
MEMSPAN_SHMEM_RMA_TYPES(MEMSPAN_SHMEM_PUT_SIGNAL, put_signal_nbi)
MEMSPAN_SHMEM_RMA_SIZES(MEMSPAN_SHMEM_PUT_SIGNAL_SIZE, put, _signal_nbi)
MEMSPAN_SHMEM_PUT_SIGNAL_SIZE(mem, put, _signal_nbi)
/** The signal alone. Since 1.6. */
MEMSPAN_SHMEM_TWINS(void, signal_add, uint64_t *sig_addr, uint64_t signal, int pe)
MEMSPAN_SHMEM_TWINS(void, signal_set, uint64_t *sig_addr, uint64_t signal, int pe)
/** This PE's own signal; the value that ended the wait. @p cmp: SHMEM_CMP_*. */
MEMSPAN_SHMEM(uint64_t, shmem_signal_fetch, const uint64_t *sig_addr);
MEMSPAN_SHMEM(uint64_t, shmem_signal_wait_until, uint64_t *sig_addr, int cmp, uint64_t cmp_value);

/* ---------------------------------------- 9.9 "Collective Routines", over teams
 * Every member calls. dest and source are symmetric and disjoint (reductions and scans: or equal).
 * 0, or nonzero when an argument is not valid. */

/** barrier: all PEs have arrived, and puts on SHMEM_CTX_DEFAULT are complete. sync: only the
 * arrival. */
MEMSPAN_SHMEM(void, shmem_barrier_all, void);
MEMSPAN_SHMEM(void, shmem_sync_all, void);
MEMSPAN_SHMEM(int, shmem_team_sync, shmem_team_t team);

/** Copy the root's source to every dest. @p PE_root: its number in the team. */
#define MEMSPAN_SHMEM_BROADCAST(NAME, TYPE, OP)                                                    \
    MEMSPAN_SHMEM(int, shmem_##NAME##_##OP, shmem_team_t team, TYPE *dest, const TYPE *source,     \
                  size_t nelems, int PE_root);
MEMSPAN_SHMEM_RMA_TYPES(MEMSPAN_SHMEM_BROADCAST, broadcast)
MEMSPAN_SHMEM(int, shmem_broadcastmem, shmem_team_t team, void *dest, const void *source,
              size_t nelems, int PE_root);

/** collect: concatenate all sources; @p nelems may differ. fcollect: equal @p nelems. alltoall:
 * block j of member i's source goes to block i of member j's dest. */
#define MEMSPAN_SHMEM_COLLECTIVE(NAME, TYPE, OP)                                                   \
    MEMSPAN_SHMEM(int, shmem_##NAME##_##OP, shmem_team_t team, TYPE *dest, const TYPE *source,     \
                  size_t nelems);
#define MEMSPAN_SHMEM_COLLECTIVE_MEM(OP)                                                           \
    MEMSPAN_SHMEM(int, shmem_##OP, shmem_team_t team, void *dest, const void *source,              \
                  size_t nelems);
MEMSPAN_SHMEM_RMA_TYPES(MEMSPAN_SHMEM_COLLECTIVE, collect)
MEMSPAN_SHMEM_COLLECTIVE_MEM(collectmem)
MEMSPAN_SHMEM_RMA_TYPES(MEMSPAN_SHMEM_COLLECTIVE, fcollect)
MEMSPAN_SHMEM_COLLECTIVE_MEM(fcollectmem)
MEMSPAN_SHMEM_RMA_TYPES(MEMSPAN_SHMEM_COLLECTIVE, alltoall)
MEMSPAN_SHMEM_COLLECTIVE_MEM(alltoallmem)
/** The same with strides of @p dst and @p sst elements. */
#define MEMSPAN_SHMEM_ALLTOALLS(NAME, TYPE, OP)                                                    \
    MEMSPAN_SHMEM(int, shmem_##NAME##_##OP, shmem_team_t team, TYPE *dest, const TYPE *source,     \
                  ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
MEMSPAN_SHMEM_RMA_TYPES(MEMSPAN_SHMEM_ALLTOALLS, alltoalls)
MEMSPAN_SHMEM(int, shmem_alltoallsmem, shmem_team_t team, void *dest, const void *source,
              ptrdiff_t dst, ptrdiff_t sst, size_t nelems);

/** Reduce element i of all sources to element i of every dest. */
MEMSPAN_SHMEM_REDUCE_BITS_TYPES(MEMSPAN_SHMEM_COLLECTIVE, and_reduce)
MEMSPAN_SHMEM_REDUCE_BITS_TYPES(MEMSPAN_SHMEM_COLLECTIVE, or_reduce)
MEMSPAN_SHMEM_REDUCE_BITS_TYPES(MEMSPAN_SHMEM_COLLECTIVE, xor_reduce)
MEMSPAN_SHMEM_RMA_TYPES(MEMSPAN_SHMEM_COLLECTIVE, max_reduce)
MEMSPAN_SHMEM_RMA_TYPES(MEMSPAN_SHMEM_COLLECTIVE, min_reduce)
MEMSPAN_SHMEM_REDUCE_SUM_TYPES(MEMSPAN_SHMEM_COLLECTIVE, sum_reduce)
MEMSPAN_SHMEM_REDUCE_SUM_TYPES(MEMSPAN_SHMEM_COLLECTIVE, prod_reduce)
/** The sum over members up to this one (inscan), or before it (exscan; member 0: zeros). Since 1.6.
 */
MEMSPAN_SHMEM_REDUCE_SUM_TYPES(MEMSPAN_SHMEM_COLLECTIVE, sum_inscan)
MEMSPAN_SHMEM_REDUCE_SUM_TYPES(MEMSPAN_SHMEM_COLLECTIVE, sum_exscan)

/* ---------------------- 9.9 "Collective Routines", over active sets, deprecated in 1.5
 * The PEs PE_start + i * 2^logPE_stride, PE_size of them. pSync: symmetric, SHMEM_*_SYNC_SIZE
 * words, SHMEM_SYNC_VALUE in all of them before the call and again after it. */

MEMSPAN_SHMEM(void, shmem_barrier, int PE_start, int logPE_stride, int PE_size, long *pSync);
MEMSPAN_SHMEM(void, shmem_sync, int PE_start, int logPE_stride, int PE_size, long *pSync);
#define MEMSPAN_SHMEM_ACTIVE_BROADCAST(BITS, OP)                                                   \
    MEMSPAN_SHMEM(void, shmem_##OP##BITS, void *dest, const void *source, size_t nelems,           \
                  int PE_root, int PE_start, int logPE_stride, int PE_size, long *pSync);
#define MEMSPAN_SHMEM_ACTIVE_COLLECTIVE(BITS, OP)                                                  \
    MEMSPAN_SHMEM(void, shmem_##OP##BITS, void *dest, const void *source, size_t nelems,           \
                  int PE_start, int logPE_stride, int PE_size, long *pSync);
#define MEMSPAN_SHMEM_ACTIVE_ALLTOALLS(BITS, OP)                                                   \
    MEMSPAN_SHMEM(void, shmem_##OP##BITS, void *dest, const void *source, ptrdiff_t dst,           \
                  ptrdiff_t sst, size_t nelems, int PE_start, int logPE_stride, int PE_size,       \
                  long *pSync);
MEMSPAN_SHMEM_ACTIVE_SIZES(MEMSPAN_SHMEM_ACTIVE_BROADCAST, broadcast) /* not to the root's dest */
MEMSPAN_SHMEM_ACTIVE_SIZES(MEMSPAN_SHMEM_ACTIVE_COLLECTIVE, collect)
MEMSPAN_SHMEM_ACTIVE_SIZES(MEMSPAN_SHMEM_ACTIVE_COLLECTIVE, fcollect)
MEMSPAN_SHMEM_ACTIVE_SIZES(MEMSPAN_SHMEM_ACTIVE_COLLECTIVE, alltoall)
MEMSPAN_SHMEM_ACTIVE_SIZES(MEMSPAN_SHMEM_ACTIVE_ALLTOALLS, alltoalls)
/** pWrk: at least max(nreduce / 2 + 1, SHMEM_REDUCE_MIN_WRKDATA_SIZE) elements. */
#define MEMSPAN_SHMEM_TO_ALL(NAME, TYPE, OP)                                                       \
    MEMSPAN_SHMEM(void, shmem_##NAME##_##OP##_to_all, TYPE *dest, const TYPE *source, int nreduce, \
                  int PE_start, int logPE_stride, int PE_size, TYPE *pWrk, long *pSync);
MEMSPAN_SHMEM_ACTIVE_BITS_TYPES(MEMSPAN_SHMEM_TO_ALL, and)
MEMSPAN_SHMEM_ACTIVE_BITS_TYPES(MEMSPAN_SHMEM_TO_ALL, or)
MEMSPAN_SHMEM_ACTIVE_BITS_TYPES(MEMSPAN_SHMEM_TO_ALL, xor)
MEMSPAN_SHMEM_ACTIVE_TYPES(MEMSPAN_SHMEM_TO_ALL, max)
MEMSPAN_SHMEM_ACTIVE_TYPES(MEMSPAN_SHMEM_TO_ALL, min)
MEMSPAN_SHMEM_ACTIVE_SUM_TYPES(MEMSPAN_SHMEM_TO_ALL, sum)
MEMSPAN_SHMEM_ACTIVE_SUM_TYPES(MEMSPAN_SHMEM_TO_ALL, prod)

/* ------------------------------ 9.10 "Point-To-Point Synchronization Routines"
 * Waits and tests on this PE's symmetric words, which peers change by atomics, signals or puts.
 * @p cmp: SHMEM_CMP_*; @p status: a nonzero word excludes its element; NULL excludes none. */

#define MEMSPAN_SHMEM_WAIT(NAME, TYPE, OP)                                                         \
    MEMSPAN_SHMEM(void, shmem_##NAME##_##OP, TYPE *ivar, int cmp, TYPE cmp_value);
#define MEMSPAN_SHMEM_TEST(NAME, TYPE, OP)                                                         \
    MEMSPAN_SHMEM(int, shmem_##NAME##_##OP, TYPE *ivar, int cmp, TYPE cmp_value);
MEMSPAN_SHMEM_AMO_TYPES(MEMSPAN_SHMEM_WAIT, wait_until)
MEMSPAN_SHMEM_AMO_TYPES(MEMSPAN_SHMEM_TEST, test) /* 1 or 0 */

/** all: every element. any: index of one that satisfies cmp; SIZE_MAX if none does or all are
 * excluded. some: indices of those that satisfy cmp, in indices[0 ..], and their number. _vector
 * has a value per element. */
#define MEMSPAN_SHMEM_MULTIPLE(RESULT, NAME, TYPE, OP)                                             \
    MEMSPAN_SHMEM(RESULT, shmem_##NAME##_##OP, TYPE *ivars, size_t nelems, const int *status,      \
                  int cmp, TYPE cmp_value);                                                        \
    MEMSPAN_SHMEM(RESULT, shmem_##NAME##_##OP##_vector, TYPE *ivars, size_t nelems,                \
                  const int *status, int cmp, const TYPE *cmp_values);
#define MEMSPAN_SHMEM_WAIT_ALL(NAME, TYPE, OP) MEMSPAN_SHMEM_MULTIPLE(void, NAME, TYPE, OP)
#define MEMSPAN_SHMEM_TEST_ALL(NAME, TYPE, OP) MEMSPAN_SHMEM_MULTIPLE(int, NAME, TYPE, OP)
#define MEMSPAN_SHMEM_ANY(NAME, TYPE, OP)      MEMSPAN_SHMEM_MULTIPLE(size_t, NAME, TYPE, OP)
#define MEMSPAN_SHMEM_SOME(NAME, TYPE, OP)                                                         \
    MEMSPAN_SHMEM(size_t, shmem_##NAME##_##OP, TYPE *ivars, size_t nelems, size_t *indices,        \
                  const int *status, int cmp, TYPE cmp_value);                                     \
    MEMSPAN_SHMEM(size_t, shmem_##NAME##_##OP##_vector, TYPE *ivars, size_t nelems,                \
                  size_t *indices, const int *status, int cmp, const TYPE *cmp_values);
MEMSPAN_SHMEM_AMO_TYPES(MEMSPAN_SHMEM_WAIT_ALL, wait_until_all)
MEMSPAN_SHMEM_AMO_TYPES(MEMSPAN_SHMEM_ANY, wait_until_any)
MEMSPAN_SHMEM_AMO_TYPES(MEMSPAN_SHMEM_SOME, wait_until_some)
MEMSPAN_SHMEM_AMO_TYPES(MEMSPAN_SHMEM_TEST_ALL, test_all)
MEMSPAN_SHMEM_AMO_TYPES(MEMSPAN_SHMEM_ANY, test_any)
MEMSPAN_SHMEM_AMO_TYPES(MEMSPAN_SHMEM_SOME, test_some)

/** Sandia OpenSHMEM's additional types. */
MEMSPAN_SHMEM_OLD_WAIT_TYPES(MEMSPAN_SHMEM_WAIT_ALL, wait_until_all)
MEMSPAN_SHMEM_OLD_WAIT_TYPES(MEMSPAN_SHMEM_ANY, wait_until_any)
MEMSPAN_SHMEM_OLD_WAIT_TYPES(MEMSPAN_SHMEM_SOME, wait_until_some)
MEMSPAN_SHMEM_OLD_WAIT_TYPES(MEMSPAN_SHMEM_TEST_ALL, test_all)
MEMSPAN_SHMEM_OLD_WAIT_TYPES(MEMSPAN_SHMEM_ANY, test_any)
MEMSPAN_SHMEM_OLD_WAIT_TYPES(MEMSPAN_SHMEM_SOME, test_some)

/** Names before 1.5 and 1.4. wait: until it differs from @p cmp_value. */
MEMSPAN_SHMEM_OLD_WAIT_TYPES(MEMSPAN_SHMEM_WAIT, wait_until)
MEMSPAN_SHMEM_OLD_WAIT_TYPES(MEMSPAN_SHMEM_TEST, test)
#define MEMSPAN_SHMEM_OLD_WAIT(NAME, TYPE, OP)                                                     \
    MEMSPAN_SHMEM(void, shmem_##NAME##_##OP, TYPE *ivar, TYPE cmp_value);
MEMSPAN_SHMEM_ACTIVE_BITS_TYPES(MEMSPAN_SHMEM_OLD_WAIT, wait)
MEMSPAN_SHMEM(void, shmem_wait_until, long *ivar, int cmp, long cmp_value);
MEMSPAN_SHMEM(void, shmem_wait, long *ivar, long cmp_value);

/* ------------------ 9.11 "Memory Ordering Routines", 9.12 "Distributed Locking Routines" */

/** fence: earlier puts to each PE are delivered before later ones. quiet: all are complete. Both
 * for one context; SHMEM_CTX_INVALID: no effect. */
MEMSPAN_SHMEM(void, shmem_fence, void);
MEMSPAN_SHMEM(void, shmem_ctx_fence, shmem_ctx_t ctx);
MEMSPAN_SHMEM(void, shmem_quiet, void);
MEMSPAN_SHMEM(void, shmem_ctx_quiet, shmem_ctx_t ctx);
/** Complete all operations to these PEs. Since 1.6. */
MEMSPAN_SHMEM_TWINS(void, pe_quiet, const int *target_pes, size_t npes)

/** A lock is a symmetric long, initially 0. PEs acquire it in the order of requests. Clearing it
 * completes earlier puts. test: 0 when acquired, 1 when another PE holds it. */
MEMSPAN_SHMEM(void, shmem_set_lock, long *lock);
MEMSPAN_SHMEM(void, shmem_clear_lock, long *lock);
MEMSPAN_SHMEM(int, shmem_test_lock, long *lock);

/** 9.13 "Cache Management": removed after 1.4. No effect. */
MEMSPAN_SHMEM(void, shmem_set_cache_inv, void);
MEMSPAN_SHMEM(void, shmem_set_cache_line_inv, void *dest);
MEMSPAN_SHMEM(void, shmem_clear_cache_inv, void);
MEMSPAN_SHMEM(void, shmem_clear_cache_line_inv, void *dest);
MEMSPAN_SHMEM(void, shmem_udcflush, void);
MEMSPAN_SHMEM(void, shmem_udcflush_line, void *dest);

MEMSPAN_END_DECLS

#undef MEMSPAN_SHMEM
#undef MEMSPAN_SHMEM_TWINS
