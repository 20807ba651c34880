/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_TYPES_H
#define MEMSPAN_SHMEM_TYPES_H

#include <memspan/status.h> /* MEMSPAN_API, MEMSPAN_BEGIN_DECLS */
#include <stddef.h>
#include <stdint.h>

/** @file types.h
 * Handles, constants and type lists of OpenSHMEM. Programs include <shmem.h>.
 *
 * Names that the standard does not have begin with MEMSPAN_SHMEM_ or memspan_shmem_.
 * Source: OpenSHMEM 1.6, "Library Constants" and "Library Handles". */

#if defined(__STDC_VERSION__) && (__STDC_VERSION__ >= 201112L)
#define MEMSPAN_SHMEM_NORETURN _Noreturn
#else
#define MEMSPAN_SHMEM_NORETURN __attribute__((__noreturn__))
#endif

MEMSPAN_BEGIN_DECLS

/* ------------------------------------------------------------------------------- handles */

/** A context and a team. A handle is a number: never dereferenced, comparable with ==, recognised
 * when stale. */
typedef struct shmem_ctx_name *shmem_ctx_t;
typedef struct shmem_team_name *shmem_team_t;

#define SHMEM_CTX_INVALID MEMSPAN_CONSTANT(shmem_ctx_t, 0)
#define SHMEM_CTX_DEFAULT MEMSPAN_CONSTANT(shmem_ctx_t, 1)

#define SHMEM_TEAM_INVALID MEMSPAN_CONSTANT(shmem_team_t, 0)
#define SHMEM_TEAM_WORLD   MEMSPAN_CONSTANT(shmem_team_t, 1)
#define SHMEM_TEAM_SHARED  MEMSPAN_CONSTANT(shmem_team_t, 2)

/** Configuration of a team; a mask selects the members. OpenSHMEM 1.5 §9.4. */
typedef struct shmem_team_config {
    int num_contexts; /**< SHMEM_TEAM_NUM_CONTEXTS: contexts that the team will have; 0 */
} shmem_team_config_t;
#define SHMEM_TEAM_NUM_CONTEXTS (1L << 0)

/** Configuration of a session of a context; a mask selects the members. OpenSHMEM 1.6. */
typedef struct shmem_ctx_session_config {
    size_t total_ops; /**< SHMEM_CTX_SESSION_TOTAL_OPS: number of operations; SIZE_MAX */
} shmem_ctx_session_config_t;
#define SHMEM_CTX_SESSION_TOTAL_OPS (1L << 0)
#define SHMEM_CTX_SESSION_BATCH     (1L << 0) /* an option, not a mask */

/* ----------------------------------------------------------------------------- constants */

#define SHMEM_MAJOR_VERSION 1
#define SHMEM_MINOR_VERSION 6
#define SHMEM_MAX_NAME_LEN  256 /* bytes, the terminating zero among them */
#define SHMEM_VENDOR_STRING "Memspan " MEMSPAN_VERSION_STRING

#define SHMEM_THREAD_SINGLE     0
#define SHMEM_THREAD_FUNNELED   1
#define SHMEM_THREAD_SERIALIZED 2
#define SHMEM_THREAD_MULTIPLE   3

#define SHMEM_CTX_PRIVATE    (1L << 0)
#define SHMEM_CTX_SERIALIZED (1L << 1)
#define SHMEM_CTX_NOSTORE    (1L << 2)

#define SHMEM_SIGNAL_SET 0
#define SHMEM_SIGNAL_ADD 1

#define SHMEM_MALLOC_ATOMICS_REMOTE (1L << 0)
#define SHMEM_MALLOC_SIGNAL_REMOTE  (1L << 1)

#define SHMEM_CMP_EQ 1
#define SHMEM_CMP_NE 2
#define SHMEM_CMP_GT 3
#define SHMEM_CMP_GE 4
#define SHMEM_CMP_LT 5
#define SHMEM_CMP_LE 6

/** Active sets. Programs have arrays of these sizes, so they are part of the ABI: one word per
 * round of the deepest tree. */
#define SHMEM_SYNC_VALUE              0L
#define SHMEM_SYNC_SIZE               32
#define SHMEM_BARRIER_SYNC_SIZE       SHMEM_SYNC_SIZE
#define SHMEM_BCAST_SYNC_SIZE         SHMEM_SYNC_SIZE
#define SHMEM_COLLECT_SYNC_SIZE       SHMEM_SYNC_SIZE
#define SHMEM_REDUCE_SYNC_SIZE        SHMEM_SYNC_SIZE
#define SHMEM_ALLTOALL_SYNC_SIZE      SHMEM_SYNC_SIZE
#define SHMEM_ALLTOALLS_SYNC_SIZE     SHMEM_SYNC_SIZE
#define SHMEM_REDUCE_MIN_WRKDATA_SIZE 8

/** The names before 1.3. */
#define _SHMEM_SYNC_VALUE              SHMEM_SYNC_VALUE
#define _SHMEM_BARRIER_SYNC_SIZE       SHMEM_BARRIER_SYNC_SIZE
#define _SHMEM_BCAST_SYNC_SIZE         SHMEM_BCAST_SYNC_SIZE
#define _SHMEM_COLLECT_SYNC_SIZE       SHMEM_COLLECT_SYNC_SIZE
#define _SHMEM_REDUCE_SYNC_SIZE        SHMEM_REDUCE_SYNC_SIZE
#define _SHMEM_REDUCE_MIN_WRKDATA_SIZE SHMEM_REDUCE_MIN_WRKDATA_SIZE
#define _SHMEM_MAJOR_VERSION           SHMEM_MAJOR_VERSION
#define _SHMEM_MINOR_VERSION           SHMEM_MINOR_VERSION
#define _SHMEM_MAX_NAME_LEN            SHMEM_MAX_NAME_LEN
#define _SHMEM_VENDOR_STRING           SHMEM_VENDOR_STRING
#define _SHMEM_CMP_EQ                  SHMEM_CMP_EQ
#define _SHMEM_CMP_NE                  SHMEM_CMP_NE
#define _SHMEM_CMP_GT                  SHMEM_CMP_GT
#define _SHMEM_CMP_GE                  SHMEM_CMP_GE
#define _SHMEM_CMP_LT                  SHMEM_CMP_LT
#define _SHMEM_CMP_LE                  SHMEM_CMP_LE

/* ------------------------------------------------------------------------------ type lists
 * X(TYPENAME, TYPE, A): TYPENAME as in routine names, TYPE as C has it, A passed through: the
 * operation, usually. OpenSHMEM 1.6, the tables of "Standard RMA Types and Names" and following. */

/* C++ has these two as an extension of the compilers. */
__extension__ typedef double _Complex memspan_shmem_complexd;
__extension__ typedef float _Complex memspan_shmem_complexf;

/** Atomic AND, OR, XOR. */
#define MEMSPAN_SHMEM_AMO_BITS_TYPES(X, A)                                                         \
    X(uint, unsigned int, A)                                                                       \
    X(ulong, unsigned long, A)                                                                     \
    X(ulonglong, unsigned long long, A)                                                            \
    X(int32, int32_t, A)                                                                           \
    X(int64, int64_t, A)                                                                           \
    X(uint32, uint32_t, A)                                                                         \
    X(uint64, uint64_t, A)

/** Atomic arithmetic; waits and tests. */
#define MEMSPAN_SHMEM_AMO_TYPES(X, A)                                                              \
    X(int, int, A)                                                                                 \
    X(long, long, A)                                                                               \
    X(longlong, long long, A)                                                                      \
    X(size, size_t, A)                                                                             \
    X(ptrdiff, ptrdiff_t, A)                                                                       \
    MEMSPAN_SHMEM_AMO_BITS_TYPES(X, A)

/** Atomic fetch, set, swap. */
#define MEMSPAN_SHMEM_AMO_EXTENDED_TYPES(X, A)                                                     \
    X(float, float, A)                                                                             \
    X(double, double, A)                                                                           \
    MEMSPAN_SHMEM_AMO_TYPES(X, A)

/** Reductions by AND, OR, XOR. */
#define MEMSPAN_SHMEM_REDUCE_BITS_TYPES(X, A)                                                      \
    X(uchar, unsigned char, A)                                                                     \
    X(ushort, unsigned short, A)                                                                   \
    X(int8, int8_t, A)                                                                             \
    X(int16, int16_t, A)                                                                           \
    X(uint8, uint8_t, A)                                                                           \
    X(uint16, uint16_t, A)                                                                         \
    X(size, size_t, A)                                                                             \
    MEMSPAN_SHMEM_AMO_BITS_TYPES(X, A)

/** Puts, gets, signals with data, data movement of teams; reductions by MAX, MIN. */
#define MEMSPAN_SHMEM_RMA_TYPES(X, A)                                                              \
    X(float, float, A)                                                                             \
    X(double, double, A)                                                                           \
    X(longdouble, long double, A)                                                                  \
    X(char, char, A)                                                                               \
    X(schar, signed char, A)                                                                       \
    X(short, short, A)                                                                             \
    X(int, int, A)                                                                                 \
    X(long, long, A)                                                                               \
    X(longlong, long long, A)                                                                      \
    X(ptrdiff, ptrdiff_t, A)                                                                       \
    MEMSPAN_SHMEM_REDUCE_BITS_TYPES(X, A)

/** Reductions by SUM, PROD; scans. */
#define MEMSPAN_SHMEM_REDUCE_SUM_TYPES(X, A)                                                       \
    MEMSPAN_SHMEM_RMA_TYPES(X, A)                                                                  \
    X(complexd, memspan_shmem_complexd, A)                                                         \
    X(complexf, memspan_shmem_complexf, A)

/** Reductions over active sets: AND, OR, XOR; with floating point, MAX, MIN; with complex numbers,
 * SUM, PROD. The first are the types of shmem_TYPE_wait, too. */
#define MEMSPAN_SHMEM_ACTIVE_BITS_TYPES(X, A)                                                      \
    X(short, short, A)                                                                             \
    X(int, int, A)                                                                                 \
    X(long, long, A)                                                                               \
    X(longlong, long long, A)
#define MEMSPAN_SHMEM_ACTIVE_TYPES(X, A)                                                           \
    MEMSPAN_SHMEM_ACTIVE_BITS_TYPES(X, A)                                                          \
    X(float, float, A)                                                                             \
    X(double, double, A)                                                                           \
    X(longdouble, long double, A)
#define MEMSPAN_SHMEM_ACTIVE_SUM_TYPES(X, A)                                                       \
    MEMSPAN_SHMEM_ACTIVE_TYPES(X, A)                                                               \
    X(complexd, memspan_shmem_complexd, A)                                                         \
    X(complexf, memspan_shmem_complexf, A)

/** Atomics by the names before 1.4: arithmetic; fetch, set, swap. */
#define MEMSPAN_SHMEM_OLD_AMO_TYPES(X, A)                                                          \
    X(int, int, A)                                                                                 \
    X(long, long, A)                                                                               \
    X(longlong, long long, A)
#define MEMSPAN_SHMEM_OLD_AMO_EXTENDED_TYPES(X, A)                                                 \
    X(float, float, A)                                                                             \
    X(double, double, A)                                                                           \
    MEMSPAN_SHMEM_OLD_AMO_TYPES(X, A)

/** Waits and tests that only older programs have. */
#define MEMSPAN_SHMEM_OLD_WAIT_TYPES(X, A)                                                         \
    X(short, short, A)                                                                             \
    X(ushort, unsigned short, A)

/** The same with every C type once (int32_t is int): to choose a routine by the type of an
 * argument. Waits and tests here have the types of older programs, too. */
#define MEMSPAN_SHMEM_AMO_BITS_BASE(X, A)                                                          \
    X(uint, unsigned int, A)                                                                       \
    X(ulong, unsigned long, A)                                                                     \
    X(ulonglong, unsigned long long, A)                                                            \
    X(int32, int32_t, A)                                                                           \
    X(int64, int64_t, A)
#define MEMSPAN_SHMEM_AMO_BASE(X, A)                                                               \
    X(int, int, A)                                                                                 \
    X(long, long, A)                                                                               \
    X(longlong, long long, A)                                                                      \
    X(uint, unsigned int, A)                                                                       \
    X(ulong, unsigned long, A)                                                                     \
    X(ulonglong, unsigned long long, A)
#define MEMSPAN_SHMEM_AMO_EXTENDED_BASE(X, A)                                                      \
    X(float, float, A)                                                                             \
    X(double, double, A)                                                                           \
    MEMSPAN_SHMEM_AMO_BASE(X, A)
#define MEMSPAN_SHMEM_REDUCE_BITS_BASE(X, A)                                                       \
    X(uchar, unsigned char, A)                                                                     \
    X(ushort, unsigned short, A)                                                                   \
    X(int8, int8_t, A)                                                                             \
    X(int16, int16_t, A)                                                                           \
    MEMSPAN_SHMEM_AMO_BITS_BASE(X, A)
#define MEMSPAN_SHMEM_RMA_BASE(X, A)                                                               \
    X(longdouble, long double, A)                                                                  \
    X(char, char, A)                                                                               \
    X(schar, signed char, A)                                                                       \
    X(short, short, A)                                                                             \
    X(uchar, unsigned char, A)                                                                     \
    X(ushort, unsigned short, A)                                                                   \
    MEMSPAN_SHMEM_AMO_EXTENDED_BASE(X, A)
#define MEMSPAN_SHMEM_REDUCE_SUM_BASE(X, A)                                                        \
    X(complexd, memspan_shmem_complexd, A)                                                         \
    X(complexf, memspan_shmem_complexf, A)                                                         \
    MEMSPAN_SHMEM_RMA_BASE(X, A)
#define MEMSPAN_SHMEM_WAIT_BASE(X, A)                                                              \
    X(short, short, A)                                                                             \
    X(ushort, unsigned short, A)                                                                   \
    MEMSPAN_SHMEM_AMO_BASE(X, A)

/** Sizes in bits: X(BITS, OPERATION, SUFFIX); the suffix may be empty. */
#define MEMSPAN_SHMEM_RMA_SIZES(X, A, B) X(8, A, B) X(16, A, B) X(32, A, B) X(64, A, B) X(128, A, B)
#define MEMSPAN_SHMEM_ACTIVE_SIZES(X, A) X(32, A) X(64, A)

MEMSPAN_END_DECLS
#endif /* MEMSPAN_SHMEM_TYPES_H */
