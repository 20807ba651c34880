/* SPDX-License-Identifier: BSD-3-Clause */
/* rect.c: copy a box of elements from one array to another.
 *
 * The innermost dimensions that are whole in both arrays make one run of bytes; the outer ones
 * count like an odometer. */

#include "core/base/error.h"
#include "core/omp/openmp.h"
#include <memspan/transfer.h>

/* Does the box lie in the array, and does the array fit the address space? */
static bool box_fits(const size_t *volume, const size_t *offsets, const size_t *sizes,
                     int dimensions, size_t element_bytes)
{
    size_t bytes = element_bytes;
    int i;

    for (i = 0; i < dimensions; i++) {
        if ((offsets[i] > sizes[i]) || (volume[i] > sizes[i] - offsets[i]) ||
            __builtin_mul_overflow(bytes, sizes[i], &bytes)) {
            return false;
        }
    }
    return true;
}

/* Bytes between neighbours in each dimension. */
static void strides_of(const size_t *sizes, int dimensions, size_t element_bytes, size_t *strides)
{
    size_t stride = element_bytes;
    int i;

    for (i = dimensions - 1; i >= 0; i--) {
        strides[i] = stride;
        stride *= sizes[i];
    }
}

static size_t offset_of(const size_t *offsets, const size_t *strides, int dimensions)
{
    size_t offset = 0;
    int i;

    for (i = 0; i < dimensions; i++) {
        offset += offsets[i] * strides[i];
    }
    return offset;
}

/* How many outer dimensions are left when whole inner ones are merged into one run. */
static int outer_dimensions(const struct msp_omp_rect *rect, size_t *run_bytes_p)
{
    int outer = rect->dimensions - 1;

    *run_bytes_p = rect->element_bytes * rect->volume[outer];
    while ((outer > 0) && (rect->volume[outer] == rect->to_dimensions[outer]) &&
           (rect->volume[outer] == rect->from_dimensions[outer])) {
        outer--;
        *run_bytes_p *= rect->volume[outer];
    }
    return outer;
}

static memspan_status_t copy_runs(const struct msp_omp_rect *rect, const size_t *to_strides,
                                  const size_t *from_strides)
{
    size_t counters[MSP_OMP_RECT_DIMENSIONS] = {0};
    size_t run_bytes;
    int outer        = outer_dimensions(rect, &run_bytes);
    char *to         = rect->to + offset_of(rect->to_offsets, to_strides, rect->dimensions);
    const char *from = rect->from + offset_of(rect->from_offsets, from_strides, rect->dimensions);

    for (;;) {
        memspan_status_t status = memspan_copy(to, from, run_bytes);
        int i                   = outer - 1;

        if (status != MEMSPAN_OK) {
            return status;
        }
        while ((i >= 0) && (++counters[i] == rect->volume[i])) {
            counters[i] = 0;
            to -= (rect->volume[i] - 1) * to_strides[i];
            from -= (rect->volume[i] - 1) * from_strides[i];
            i--;
        }
        if (i < 0) {
            return MEMSPAN_OK;
        }
        to += to_strides[i];
        from += from_strides[i];
    }
}

memspan_status_t msp_omp_rect_copy(const struct msp_omp_rect *rect)
{
    size_t to_strides[MSP_OMP_RECT_DIMENSIONS];
    size_t from_strides[MSP_OMP_RECT_DIMENSIONS];
    int i;

    if ((rect->dimensions < 1) || (rect->dimensions > MSP_OMP_RECT_DIMENSIONS)) {
        return memspan_error(MEMSPAN_ERR_INVALID, "num_dims is %d, not 1 .. %d", rect->dimensions,
                             (int)MSP_OMP_RECT_DIMENSIONS);
    }
    if ((rect->to == NULL) || (rect->from == NULL) || (rect->element_bytes == 0) ||
        (rect->volume == NULL) || (rect->to_offsets == NULL) || (rect->from_offsets == NULL) ||
        (rect->to_dimensions == NULL) || (rect->from_dimensions == NULL)) {
        return memspan_error(MEMSPAN_ERR_INVALID,
                             "an array of the copy is NULL, or its elements have no size");
    }
    if (!box_fits(rect->volume, rect->to_offsets, rect->to_dimensions, rect->dimensions,
                  rect->element_bytes) ||
        !box_fits(rect->volume, rect->from_offsets, rect->from_dimensions, rect->dimensions,
                  rect->element_bytes)) {
        return memspan_error(MEMSPAN_ERR_INVALID, "the volume leaves one of the arrays");
    }
    for (i = 0; i < rect->dimensions; i++) {
        if (rect->volume[i] == 0) {
            return MEMSPAN_OK;
        }
    }
    strides_of(rect->to_dimensions, rect->dimensions, rect->element_bytes, to_strides);
    strides_of(rect->from_dimensions, rect->dimensions, rect->element_bytes, from_strides);
    return copy_runs(rect, to_strides, from_strides);
}
