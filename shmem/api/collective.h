/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_API_COLLECTIVE_H
#define MEMSPAN_SHMEM_API_COLLECTIVE_H

/* What the collectives by teams and by active sets share: their arguments. */

#include "shmem/collective/collective.h"
#include "shmem/rma.h"

/* Bytes of that many elements; fatal when those of all members are more than there can be. */
size_t memspan_part_bytes(const char *call, const struct memspan_team *team, size_t count,
                          size_t element_bytes);

/* The checked mode: both ends symmetric and apart (or the same, if they may be), and of the same
 * size in all members. */
void memspan_check_parts(const char *call, struct memspan_team *team, const void *dest,
                         size_t dest_bytes, const void *source, size_t source_bytes,
                         bool may_be_same) __attribute__((cold));

/* What a C type is to a reduction. */
#define MEMSPAN_NUMBER_OF(TYPE)                                                                    \
    _Generic((TYPE)0, char                                                                         \
             : ((char)-1 < 0) ? MEMSPAN_NUMBER_S8 : MEMSPAN_NUMBER_U8, signed char                 \
             : MEMSPAN_NUMBER_S8, unsigned char                                                    \
             : MEMSPAN_NUMBER_U8, short                                                            \
             : MEMSPAN_NUMBER_S16, unsigned short                                                  \
             : MEMSPAN_NUMBER_U16, int                                                             \
             : MEMSPAN_NUMBER_S32, unsigned int                                                    \
             : MEMSPAN_NUMBER_U32, long                                                            \
             : MEMSPAN_NUMBER_S64, unsigned long                                                   \
             : MEMSPAN_NUMBER_U64, long long                                                       \
             : MEMSPAN_NUMBER_S64, unsigned long long                                              \
             : MEMSPAN_NUMBER_U64, float                                                           \
             : MEMSPAN_NUMBER_F32, double                                                          \
             : MEMSPAN_NUMBER_F64, long double                                                     \
             : MEMSPAN_NUMBER_F80, float _Complex                                                  \
             : MEMSPAN_NUMBER_C32, double _Complex                                                 \
             : MEMSPAN_NUMBER_C64)

/* What the words of a routine's name stand for. */
#define MEMSPAN_REDUCTION_and  MEMSPAN_REDUCE_AND
#define MEMSPAN_REDUCTION_or   MEMSPAN_REDUCE_OR
#define MEMSPAN_REDUCTION_xor  MEMSPAN_REDUCE_XOR
#define MEMSPAN_REDUCTION_max  MEMSPAN_REDUCE_MAX
#define MEMSPAN_REDUCTION_min  MEMSPAN_REDUCE_MIN
#define MEMSPAN_REDUCTION_sum  MEMSPAN_REDUCE_SUM
#define MEMSPAN_REDUCTION_prod MEMSPAN_REDUCE_PROD

#endif /* MEMSPAN_SHMEM_API_COLLECTIVE_H */
