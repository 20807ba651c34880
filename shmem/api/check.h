/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_API_CHECK_H
#define MEMSPAN_SHMEM_API_CHECK_H

/* Checks of arguments: every function returns when they are valid, and otherwise ends the job with
 * a message. Those named check are called in the checked mode alone. */

#include "shmem/team.h"

/* The handle is that of a live context, and it has that PE. */
void msp_check_context(const char *call, const void *handle, int pe) __attribute__((cold));

/* Always: the context of that handle has no such PE. */
_Noreturn void msp_refuse_context(const char *call, const void *handle, int pe)
    __attribute__((cold));

/* A put and a get of whole bytes: both ends, PE (the world's number), alignment to @p element_bytes
 * (1: none), overlap. */
void msp_check_put(const char *call, const void *dest, const void *source, size_t size_bytes,
                   size_t element_bytes, int pe) __attribute__((cold));
void msp_check_get(const char *call, const void *dest, const void *source, size_t size_bytes,
                   size_t element_bytes, int pe) __attribute__((cold));

/* @p count blocks: strides in elements, at least block_count; the symmetric end, dest or source, is
 * on that PE. */
void msp_check_strided(const char *call, const void *symmetric, ptrdiff_t dest_stride,
                       ptrdiff_t source_stride, size_t block_count, size_t count,
                       size_t element_bytes, int pe, bool is_dest) __attribute__((cold));

/* A symmetric word of that PE, aligned. */
void msp_check_word(const char *call, const char *argument, const void *address, size_t size_bytes,
                    int pe) __attribute__((cold));

/* A symmetric array of this PE. */
void msp_check_symmetric(const char *call, const char *argument, const void *address,
                         size_t size_bytes) __attribute__((cold));

/* All members of the team have given the same @p value (sizes, roots). */
void msp_check_agreement(const char *call, struct msp_team *team, const char *argument,
                         uint64_t value) __attribute__((cold));

/* Always, in infrequent calls: the pointer for the result is not NULL. */
void msp_require_result(const char *call, const char *argument, const void *pointer);

/* The same in calls that may come before shmem_init(). */
void msp_require_pointer(const char *call, const char *argument, const void *pointer);

/* Always: the live team of a handle. The second one notes the call, which its messages name: calls
 * of other threads on the team are not under way. */
struct msp_team *msp_check_team(const char *call, const char *argument, const void *handle);
struct msp_team *msp_require_team(const char *call, const char *argument, const void *handle);

/* Always: the comparison or the signal operator is unknown. */
_Noreturn void msp_refuse_comparison(const char *call, int comparison) __attribute__((cold));
_Noreturn void msp_refuse_signal_operator(const char *call, int operator_) __attribute__((cold));

#endif /* MEMSPAN_SHMEM_API_CHECK_H */
