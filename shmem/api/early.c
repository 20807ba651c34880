/* SPDX-License-Identifier: BSD-3-Clause */
/* early.c: routines that were extensions before OpenSHMEM 1.6, by their old names. */

#include <shmemx.h>

/* The early name calls the standard one, which profiling tools intercept. */
#define EARLY_TWINS(NAME, ARGUMENTS, ...)                                                          \
    void(shmemx_##NAME)(__VA_ARGS__)                                                               \
    {                                                                                              \
        (shmem_##NAME) ARGUMENTS;                                                                  \
    }                                                                                              \
    EARLY_CTX(NAME, EARLY_WITH_CTX ARGUMENTS, __VA_ARGS__)
#define EARLY_WITH_CTX(...) (ctx, __VA_ARGS__)
#define EARLY_CTX(NAME, ARGUMENTS, ...)                                                            \
    void shmemx_ctx_##NAME(shmem_ctx_t ctx, __VA_ARGS__)                                           \
    {                                                                                              \
        (shmem_ctx_##NAME) ARGUMENTS;                                                              \
    }

#define BLOCKS(NAME, TYPE, OP)                                                                     \
    EARLY_TWINS(NAME##_##OP, (dest, source, dst, sst, bsize, nblocks, pe), TYPE *dest,             \
                const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks,    \
                int pe)
#define BLOCKS_SIZE(BITS, OP, SUFFIX)                                                              \
    EARLY_TWINS(OP##BITS, (dest, source, dst, sst, bsize, nblocks, pe), void *dest,                \
                const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, size_t nblocks,    \
                int pe)
MEMSPAN_SHMEM_RMA_TYPES(BLOCKS, ibput)
MEMSPAN_SHMEM_RMA_SIZES(BLOCKS_SIZE, ibput, )
MEMSPAN_SHMEM_RMA_TYPES(BLOCKS, ibget)
MEMSPAN_SHMEM_RMA_SIZES(BLOCKS_SIZE, ibget, )

EARLY_TWINS(signal_add, (sig_addr, signal, pe), uint64_t *sig_addr, uint64_t signal, int pe)
EARLY_TWINS(signal_set, (sig_addr, signal, pe), uint64_t *sig_addr, uint64_t signal, int pe)
EARLY_TWINS(pe_quiet, (target_pes, npes), const int *target_pes, size_t npes)

#define SCAN(NAME, TYPE, OP)                                                                       \
    int shmemx_##NAME##_##OP(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems)     \
    {                                                                                              \
        return (shmem_##NAME##_##OP)(team, dest, source, nelems);                                  \
    }
MEMSPAN_SHMEM_REDUCE_SUM_TYPES(SCAN, sum_inscan)
MEMSPAN_SHMEM_REDUCE_SUM_TYPES(SCAN, sum_exscan)

void shmemx_ctx_session_start(shmem_ctx_t ctx, long options,
                              const shmem_ctx_session_config_t *config, long config_mask)
{
    shmem_ctx_session_start(ctx, options, config, config_mask);
}

void shmemx_ctx_session_stop(shmem_ctx_t ctx)
{
    shmem_ctx_session_stop(ctx);
}
