/* SPDX-License-Identifier: BSD-3-Clause */
/* strided.c: elements, and blocks of elements, that lie apart. */

#include "shmem/api/routine.h"
#include "shmem/transport/rma.h"

/* A stride in bytes. An offset too far for any segment stays so. */
static ptrdiff_t stride_of(ptrdiff_t stride, size_t element_bytes)
{
    ptrdiff_t stride_bytes;

    return __builtin_mul_overflow(stride, (ptrdiff_t)element_bytes, &stride_bytes) ? PTRDIFF_MAX
                                                                                   : stride_bytes;
}

static void put_blocks(const char *call, const struct msp_context *context, void *dest,
                       const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t block_count,
                       size_t count, size_t element_bytes, int pe)
{
    if (MSP_UNLIKELY(msp_job.checks)) {
        msp_check_strided(call, dest, dst, sst, block_count, count, element_bytes, pe, true);
    }
    msp_put_strided(call, context, dest, source, stride_of(dst, element_bytes),
                    stride_of(sst, element_bytes), msp_bytes_of(block_count, element_bytes), count,
                    pe);
}

static void get_blocks(const char *call, const struct msp_context *context, void *dest,
                       const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t block_count,
                       size_t count, size_t element_bytes, int pe)
{
    if (MSP_UNLIKELY(msp_job.checks)) {
        msp_check_strided(call, source, dst, sst, block_count, count, element_bytes, pe, false);
    }
    msp_get_strided(call, context, dest, source, stride_of(dst, element_bytes),
                    stride_of(sst, element_bytes), msp_bytes_of(block_count, element_bytes), count,
                    pe);
}

#define STRIDED_CALL(COPY, ELEMENT_BYTES)                                                          \
    COPY(MSP_CALL, context, dest, source, dst, sst, 1, nelems, ELEMENT_BYTES, pe)
#define STRIDED(NAME, TYPE, OP)                                                                    \
    MSP_ROUTINE_TWINS(void, NAME##_i##OP, STRIDED_CALL(OP##_blocks, sizeof(TYPE)), TYPE *dest,     \
                      const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe)
#define STRIDED_SIZE(BITS, OP, SUFFIX)                                                             \
    MSP_ROUTINE_TWINS(void, i##OP##BITS, STRIDED_CALL(OP##_blocks, (BITS) / 8), void *dest,        \
                      const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe)
MEMSPAN_SHMEM_RMA_TYPES(STRIDED, put)
MEMSPAN_SHMEM_RMA_SIZES(STRIDED_SIZE, put, )
MEMSPAN_SHMEM_RMA_TYPES(STRIDED, get)
MEMSPAN_SHMEM_RMA_SIZES(STRIDED_SIZE, get, )

#define BLOCKS_CALL(COPY, ELEMENT_BYTES)                                                           \
    COPY(MSP_CALL, context, dest, source, dst, sst, bsize, nblocks, ELEMENT_BYTES, pe)
#define BLOCKS(NAME, TYPE, OP)                                                                     \
    MSP_ROUTINE_TWINS(void, NAME##_ib##OP, BLOCKS_CALL(OP##_blocks, sizeof(TYPE)), TYPE *dest,     \
                      const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize,              \
                      size_t nblocks, int pe)
#define BLOCKS_SIZE(BITS, OP, SUFFIX)                                                              \
    MSP_ROUTINE_TWINS(void, ib##OP##BITS, BLOCKS_CALL(OP##_blocks, (BITS) / 8), void *dest,        \
                      const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize,              \
                      size_t nblocks, int pe)
MEMSPAN_SHMEM_RMA_TYPES(BLOCKS, put)
MEMSPAN_SHMEM_RMA_SIZES(BLOCKS_SIZE, put, )
MEMSPAN_SHMEM_RMA_TYPES(BLOCKS, get)
MEMSPAN_SHMEM_RMA_SIZES(BLOCKS_SIZE, get, )
