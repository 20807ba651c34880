/* SPDX-License-Identifier: BSD-3-Clause */
/* matrix.c: the kernel, and its verification after Freivalds: C x = A (B x) for a vector. All
 * elements are small integers, so that sums are exact in any order. */

#include "bench/hybrid/job.h"
#include <stdlib.h>

enum { RUNS = 3, FIRST = 1, SECOND = 2, VECTOR = 3 };

struct matrix {
    size_t rows; /* of this PE, in the first matrix and the product */
    size_t side; /* columns of all, rows of the second matrix */
    size_t stripe_rows;
    double *first;
    double *stripes[2];
    double *product;
};

#pragma omp begin declare target
/* -2 .. 2, irregular */
static double element(int matrix, size_t row, size_t column)
{
    uint64_t mixed =
        (row * 0x9e3779b97f4a7c15u) ^ (column * 0xc2b2ae3d27d4eb4fu) ^ (uint64_t)matrix;

    mixed = (mixed ^ (mixed >> 29)) * 0xbf58476d1ce4e5b9u;
    return (double)((mixed >> 32) % 5) - 2;
}
#pragma omp end declare target

static void fill(double *to, int matrix, size_t first_row, size_t rows, size_t columns)
{
#pragma omp target teams distribute parallel for
    for (size_t i = 0; i < rows * columns; i++) {
        to[i] = (matrix == 0) ? 0 : element(matrix, first_row + i / columns, i % columns);
    }
}

/* product += the columns of the first matrix from @p from on, times the stripe. */
static void multiply(const struct matrix *matrix, const double *stripe, size_t from)
{
    size_t rows         = matrix->rows;
    size_t side         = matrix->side;
    size_t inner        = matrix->stripe_rows;
    const double *first = matrix->first;
    double *product     = matrix->product;

#pragma omp target teams distribute parallel for
    for (size_t i = 0; i < rows; i++) {
        double *to = product + i * side;

        for (size_t k = 0; k < inner; k++) {
            double factor     = first[i * side + from + k];
            const double *row = stripe + k * side;

#pragma omp simd
            for (size_t j = 0; j < side; j++) {
                to[j] += factor * row[j];
            }
        }
    }
}

static void run_once(const struct matrix *matrix)
{
    size_t pes   = (size_t)job_count;
    size_t count = matrix->stripe_rows * matrix->side;

    for (size_t step = 0; step < pes; step++) {
        double *stripe = matrix->stripes[step % 2];
        double *next   = matrix->stripes[(step + 1) % 2];
        bool is_last   = step + 1 == pes;

        if (!is_last) {
            matrix_send(next, stripe, count, step == 0);
        }
        multiply(matrix, stripe, ((size_t)job_pe + step) % pes * matrix->stripe_rows);
        if (!is_last) {
            matrix_receive(next, count);
        }
    }
}

/* Rows of the product that are wrong. */
static size_t count_errors(const struct matrix *matrix)
{
    size_t side     = matrix->side;
    size_t count    = matrix->rows * side;
    double *product = matrix->product;
    double *inner   = calloc(side, sizeof(*inner));
    size_t errors   = (inner == NULL) ? matrix->rows : 0;

#pragma omp target update from(product [0:count])
    for (size_t i = 0; (inner != NULL) && (i < side * side); i++) {
        inner[i / side] += element(SECOND, i / side, i % side) * element(VECTOR, i % side, 0);
    }
    for (size_t r = 0; (inner != NULL) && (r < matrix->rows); r++) {
        size_t row    = (size_t)job_pe * matrix->rows + r;
        double sum    = 0;
        double wanted = 0;

        for (size_t j = 0; j < side; j++) {
            sum += product[r * side + j] * element(VECTOR, j, 0);
            wanted += element(FIRST, row, j) * inner[j];
        }
        errors += (sum == wanted) ? 0 : 1;
    }
    free(inner);
    return errors;
}

bool matrix_run(size_t side, bool weak)
{
    size_t pes           = (size_t)job_count;
    struct matrix matrix = {
        .rows = weak ? side : side / pes, .side = side, .stripe_rows = side / pes};
    size_t count           = matrix.rows * side;
    size_t stripe_bytes    = matrix.stripe_rows * side * sizeof(double);
    struct batches batches = {.count = 0};
    size_t errors;

    matrix.first   = job_array(count * sizeof(double));
    matrix.product = job_array(count * sizeof(double));
    for (size_t i = 0; i < 2; i++) {
        matrix.stripes[i] = job_array(stripe_bytes);
    }
    fill(matrix.first, FIRST, (size_t)job_pe * matrix.rows, matrix.rows, side);
    for (size_t i = 0; i < RUNS; i++) {
        double began_ns;

        job_progress("matrix", i, RUNS);
        fill(matrix.product, 0, 0, matrix.rows, side);
        fill(matrix.stripes[0], SECOND, (size_t)job_pe * matrix.stripe_rows, matrix.stripe_rows,
             side);
        job_barrier();
        began_ns = batch_now_ns();
        run_once(&matrix);
        batches_add(&batches, job_max(batch_now_ns() - began_ns));
    }
    job_progress("matrix", RUNS, RUNS);
    job_print("matrix", weak, &batches, 1e6);
    errors = count_errors(&matrix);
    for (size_t i = 2; i > 0; i--) {
        job_array_free(matrix.stripes[i - 1]);
    }
    job_array_free(matrix.product);
    job_array_free(matrix.first);
    return job_verify("matrix", job_sum((double)errors), 0);
}
