/* SPDX-License-Identifier: BSD-3-Clause */
/* omp_target_memcpy_rect() against the obvious loops. */

#include "core/omp/openmp.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 5, DIMS = 4, CELLS = SIDE * SIDE * SIDE * SIDE };

static size_t cell(const size_t at[DIMS], const size_t offset[DIMS], const size_t size[DIMS])
{
    size_t index = 0;
    int d;

    for (d = 0; d < DIMS; d++) {
        index = index * size[d] + at[d] + offset[d];
    }
    return index;
}

static void copy_slowly(short *to, const short *from, const size_t volume[DIMS],
                        const size_t to_offset[DIMS], const size_t from_offset[DIMS],
                        const size_t to_size[DIMS], const size_t from_size[DIMS])
{
    size_t at[DIMS] = {0};
    size_t n;
    size_t count = 1;
    int d;

    for (d = 0; d < DIMS; d++) {
        count *= volume[d];
    }
    for (n = 0; n < count; n++) {
        size_t rest = n;
        for (d = DIMS - 1; d >= 0; d--) {
            at[d] = rest % volume[d];
            rest /= volume[d];
        }
        to[cell(at, to_offset, to_size)] = from[cell(at, from_offset, from_size)];
    }
}

Test(omp_rect, random_boxes)
{
    static short from[CELLS];
    static short to[CELLS];
    static short expected[CELLS];
    int round;
    int i;

    srand(7);
    for (i = 0; i < CELLS; i++) {
        from[i] = (short)(i + 1);
    }
    for (round = 0; round < 2000; round++) {
        size_t volume[DIMS];
        size_t to_offset[DIMS];
        size_t from_offset[DIMS];
        size_t to_size[DIMS];
        size_t from_size[DIMS];
        struct msp_omp_rect rect = {(char *)to, (const char *)from, sizeof(short), DIMS,     volume,
                                    to_offset,  from_offset,        to_size,       from_size};
        for (i = 0; i < DIMS; i++) {
            /* Often whole, so that runs are merged. */
            to_size[i]     = 1 + (size_t)rand() % SIDE;
            from_size[i]   = (rand() % 2) ? to_size[i] : 1 + (size_t)rand() % SIDE;
            volume[i]      = (to_size[i] < from_size[i]) ? to_size[i] : from_size[i];
            volume[i]      = (rand() % 2) ? volume[i] : 1 + (size_t)rand() % volume[i];
            to_offset[i]   = (size_t)rand() % (to_size[i] - volume[i] + 1);
            from_offset[i] = (size_t)rand() % (from_size[i] - volume[i] + 1);
        }
        memset(to, 0, sizeof(to));
        memset(expected, 0, sizeof(expected));
        cr_assert_eq(msp_omp_rect_copy(&rect), MEMSPAN_OK, "%s", memspan_error_text());
        copy_slowly(expected, from, volume, to_offset, from_offset, to_size, from_size);
        cr_assert_arr_eq(to, expected, sizeof(to), "round %d", round);
    }
}

static memspan_status_t copy_box(size_t volume, size_t offset, size_t size, size_t element_bytes,
                                 int dimensions)
{
    static char memory[64];
    size_t volumes[2]        = {volume, 1};
    size_t offsets[2]        = {offset, 0};
    size_t zeros[2]          = {0, 0};
    size_t sizes[2]          = {size, 1};
    struct msp_omp_rect rect = {memory,  memory + 32, element_bytes, dimensions, volumes,
                                offsets, zeros,       sizes,         sizes};

    return msp_omp_rect_copy(&rect);
}

Test(omp_rect, what_does_not_fit)
{
    cr_expect_eq(copy_box(4, 0, 4, 1, 1), MEMSPAN_OK);
    cr_expect_eq(copy_box(4, 1, 4, 1, 1), MEMSPAN_ERR_INVALID);
    cr_expect_eq(copy_box(5, 0, 4, 1, 2), MEMSPAN_ERR_INVALID);
    cr_expect_eq(copy_box(1, SIZE_MAX, 4, 1, 1), MEMSPAN_ERR_INVALID);
    cr_expect_eq(copy_box(1, 0, SIZE_MAX, 2, 1), MEMSPAN_ERR_INVALID);
    cr_expect_eq(copy_box(1, 0, 4, 0, 1), MEMSPAN_ERR_INVALID);
    cr_expect_eq(copy_box(1, 0, 4, 1, 0), MEMSPAN_ERR_INVALID);
    cr_expect_eq(copy_box(1, 0, 4, 1, -3), MEMSPAN_ERR_INVALID);
    cr_expect_eq(copy_box(1, 0, 4, 1, MSP_OMP_RECT_DIMENSIONS + 1), MEMSPAN_ERR_INVALID);
    cr_expect_eq(copy_box(0, 0, 4, 1, 2), MEMSPAN_OK, "nothing to copy");
}
