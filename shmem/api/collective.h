/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_API_COLLECTIVE_H
#define MEMSPAN_SHMEM_API_COLLECTIVE_H

/* Arguments that collectives of teams and of active sets share. */

#include "shmem/collective/collective.h"
#include "shmem/transport/rma.h"

/* Bytes of that many elements; fatal when those of all members exceed the address space. */
size_t msp_part_bytes(const char *call, const struct msp_team *team, size_t count,
                      size_t element_bytes);

/* The checked mode: both ends symmetric and apart (or the same, if they may be), and of the same
 * size in all members. */
void msp_check_parts(const char *call, struct msp_team *team, const void *dest, size_t dest_bytes,
                     const void *source, size_t source_bytes, bool may_be_same)
    __attribute__((cold));

/* The type of a reduction, by C type. */
#define MSP_NUMBER_OF(TYPE)                                                                        \
    _Generic((TYPE)0, char                                                                         \
             : ((char)-1 < 0) ? MSP_NUMBER_S8 : MSP_NUMBER_U8, signed char                         \
             : MSP_NUMBER_S8, unsigned char                                                        \
             : MSP_NUMBER_U8, short                                                                \
             : MSP_NUMBER_S16, unsigned short                                                      \
             : MSP_NUMBER_U16, int                                                                 \
             : MSP_NUMBER_S32, unsigned int                                                        \
             : MSP_NUMBER_U32, long                                                                \
             : MSP_NUMBER_S64, unsigned long                                                       \
             : MSP_NUMBER_U64, long long                                                           \
             : MSP_NUMBER_S64, unsigned long long                                                  \
             : MSP_NUMBER_U64, float                                                               \
             : MSP_NUMBER_F32, double                                                              \
             : MSP_NUMBER_F64, long double                                                         \
             : MSP_NUMBER_F80, float _Complex                                                      \
             : MSP_NUMBER_C32, double _Complex                                                     \
             : MSP_NUMBER_C64)

/* The operation, by the word in a routine's name. */
#define MSP_REDUCTION_and  MSP_REDUCE_AND
#define MSP_REDUCTION_or   MSP_REDUCE_OR
#define MSP_REDUCTION_xor  MSP_REDUCE_XOR
#define MSP_REDUCTION_max  MSP_REDUCE_MAX
#define MSP_REDUCTION_min  MSP_REDUCE_MIN
#define MSP_REDUCTION_sum  MSP_REDUCE_SUM
#define MSP_REDUCTION_prod MSP_REDUCE_PROD

#endif /* MEMSPAN_SHMEM_API_COLLECTIVE_H */
