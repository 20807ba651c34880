/* SPDX-License-Identifier: BSD-3-Clause */
/* fft.c: the kernels. The matrix is the sum of two waves, whose transform is two values; the
 * inverse transform must give the matrix again. Complex numbers are pairs of doubles. */

#include "bench/hybrid/job.h"
#include <math.h>

enum { RUNS = 3, WAVE_ROW = 3, WAVE_COLUMN = 5, WEAK_ROW = 1, WEAK_COLUMN = 2 };

struct fft {
    size_t rows; /* of the whole matrix; powers of two */
    size_t columns;
    size_t size_bytes;  /* of this PE's part */
    double *matrix;     /* this PE's rows */
    double *transposed; /* its rows of the transposed matrix */
    char *send;
    char *receive;
    double *roots; /* exp(-2 pi i k / root_count) */
    size_t root_count;
};

#pragma omp begin declare target
/* In place, by halves; @p sign -1: the inverse. */
static void transform_row(double *row, size_t count, const double *roots, size_t root_count,
                          double sign)
{
    for (size_t i = 1, j = 0; i < count; i++) { /* bits reversed */
        size_t bit = count >> 1;

        for (; (j & bit) != 0; bit >>= 1) {
            j ^= bit;
        }
        j ^= bit;
        for (size_t part = 0; (i < j) && (part < 2); part++) {
            double kept       = row[2 * i + part];
            row[2 * i + part] = row[2 * j + part];
            row[2 * j + part] = kept;
        }
    }
    for (size_t half = 1; half < count; half *= 2) {
        size_t step = root_count / (2 * half);

        for (size_t start = 0; start < count; start += 2 * half) {
            for (size_t k = 0; k < half; k++) {
                double *low  = row + 2 * (start + k);
                double *high = low + 2 * half;
                double re    = roots[2 * k * step];
                double im    = roots[2 * k * step + 1] * sign;
                double a     = high[0] * re - high[1] * im;
                double b     = high[0] * im + high[1] * re;

                high[0] = low[0] - a;
                high[1] = low[1] - b;
                low[0] += a;
                low[1] += b;
            }
        }
    }
}
#pragma omp end declare target

static void transform_rows(double *rows, size_t count, size_t length, const struct fft *fft,
                           double sign)
{
    const double *roots = fft->roots;
    size_t root_count   = fft->root_count;

#pragma omp target teams distribute parallel for
    for (size_t i = 0; i < count; i++) {
        transform_row(rows + 2 * length * i, length, roots, root_count, sign);
    }
}

/* Block by block, transposed: a block is what a PE gets. */
static void pack(double *send, const double *matrix, size_t rows, size_t columns)
{
#pragma omp target teams distribute parallel for
    for (size_t c = 0; c < columns; c++) {
        for (size_t r = 0; r < rows; r++) {
            send[2 * (c * rows + r)]     = matrix[2 * (r * columns + c)];
            send[2 * (c * rows + r) + 1] = matrix[2 * (r * columns + c) + 1];
        }
    }
}

/* Rows of all blocks side by side. */
static void unpack(double *matrix, const double *receive, size_t rows, size_t width, size_t blocks)
{
#pragma omp target teams distribute parallel for
    for (size_t r = 0; r < rows; r++) {
        for (size_t b = 0; b < blocks; b++) {
            for (size_t i = 0; i < 2 * width; i++) {
                matrix[2 * (r * blocks + b) * width + i] = receive[2 * (b * rows + r) * width + i];
            }
        }
    }
}

static void transform(const struct fft *fft, double *from, double *to, size_t rows, size_t columns,
                      double sign)
{
    size_t pes      = (size_t)job_count;
    size_t own      = rows / pes;
    size_t own_then = columns / pes;

    transform_rows(from, own, columns, fft, sign);
    pack((double *)(void *)fft->send, from, own, columns);
    fft_exchange(fft->receive, fft->send, own * own_then * 2 * sizeof(double));
    unpack(to, (const double *)(void *)fft->receive, own_then, own, pes);
    transform_rows(to, own_then, rows, fft, sign);
}

/* ---- what is transformed ---- */

static void fill(const struct fft *fft)
{
    size_t own          = fft->rows / (size_t)job_count;
    size_t first        = own * (size_t)job_pe;
    size_t columns      = fft->columns;
    size_t count        = fft->root_count;
    size_t row_step     = count / fft->rows;
    size_t column_step  = count / columns;
    double *matrix      = fft->matrix;
    const double *roots = fft->roots;

#pragma omp target teams distribute parallel for
    for (size_t r = 0; r < own; r++) {
        for (size_t c = 0; c < columns; c++) {
            size_t strong = WAVE_ROW * (first + r) * row_step + WAVE_COLUMN * c * column_step;
            size_t weak   = WEAK_ROW * (first + r) * row_step + WEAK_COLUMN * c * column_step;
            double *to    = matrix + 2 * (r * columns + c);

            to[0] = roots[2 * (strong % count)] + 0.5 * roots[2 * (weak % count)];
            to[1] = -roots[2 * (strong % count) + 1] - 0.5 * roots[2 * (weak % count) + 1];
        }
    }
}

/* The largest deviation of the transform, which is transposed, from the two values. */
static double deviation(const struct fft *fft)
{
    size_t own         = fft->columns / (size_t)job_count;
    size_t first       = own * (size_t)job_pe;
    size_t rows        = fft->rows;
    double all         = (double)(rows * fft->columns);
    double most        = 0;
    const double *from = fft->transposed;

#pragma omp target teams distribute parallel for map(tofrom : most) reduction(max : most)
    for (size_t c = 0; c < own; c++) {
        for (size_t r = 0; r < rows; r++) {
            bool strong   = (r == WAVE_ROW) && (first + c == WAVE_COLUMN);
            bool weak     = (r == WEAK_ROW) && (first + c == WEAK_COLUMN);
            double wanted = strong ? 1 : weak ? 0.5 : 0;

            most = fmax(most, fabs(from[2 * (c * rows + r)] / all - wanted));
            most = fmax(most, fabs(from[2 * (c * rows + r) + 1] / all));
        }
    }
    return most;
}

/* The largest difference between the matrix and @p kept times the number of elements. */
static double difference(const struct fft *fft, const double *kept)
{
    size_t count         = 2 * fft->rows * fft->columns / (size_t)job_count;
    double all           = (double)(fft->rows * fft->columns);
    double most          = 0;
    const double *matrix = fft->matrix;

#pragma omp target teams distribute parallel for map(tofrom : most) reduction(max : most)
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, fabs(matrix[i] / all - kept[i]));
    }
    return most;
}

static void open_fft(struct fft *fft)
{
    double *roots;
    size_t count;

    fft->root_count = (fft->rows > fft->columns) ? fft->rows : fft->columns;
    fft->size_bytes = fft->rows * fft->columns / (size_t)job_count * 2 * sizeof(double);
    fft->matrix     = job_array(fft->size_bytes);
    fft->transposed = job_array(fft->size_bytes);
    fft->send       = job_array(fft->size_bytes);
    fft->receive    = job_array(fft->size_bytes);
    fft->roots      = job_array(fft->root_count * 2 * sizeof(double));
    roots           = fft->roots;
    count           = 2 * fft->root_count;
    for (size_t i = 0; i < fft->root_count; i++) {
        roots[2 * i]     = cos(2 * M_PI * (double)i / (double)fft->root_count);
        roots[2 * i + 1] = -sin(2 * M_PI * (double)i / (double)fft->root_count);
    }
#pragma omp target update to(roots [0:count])
}

static void close_fft(const struct fft *fft)
{
    job_array_free(fft->roots);
    job_array_free(fft->receive);
    job_array_free(fft->send);
    job_array_free(fft->transposed);
    job_array_free(fft->matrix);
}

static bool verify(const struct fft *fft)
{
    struct fft kept = *fft;
    double error    = job_max(deviation(fft));
    bool good       = job_verify("fft, transform", error, 1e-12);

    transform(fft, fft->transposed, fft->matrix, fft->columns, fft->rows, -1);
    kept.matrix = fft->transposed;
    fill(&kept);
    error = job_max(difference(fft, kept.matrix));
    return job_verify("fft, inverse", error, 1e-12) && good;
}

bool fft_run(size_t side, bool weak)
{
    struct fft fft         = {.rows = side, .columns = side};
    struct batches batches = {.count = 0};
    bool good;

    for (size_t pes = (size_t)job_count; weak && (pes > 1); pes /= 2) { /* of equal parts */
        *((fft.rows > fft.columns) ? &fft.columns : &fft.rows) *= 2;
    }
    open_fft(&fft);
    for (size_t i = 0; i < RUNS; i++) {
        double began_ns;

        job_progress("fft", i, RUNS);
        fill(&fft);
        job_barrier();
        began_ns = batch_now_ns();
        transform(&fft, fft.matrix, fft.transposed, fft.rows, fft.columns, 1);
        batches_add(&batches, job_max(batch_now_ns() - began_ns));
    }
    job_progress("fft", RUNS, RUNS);
    job_print("fft", weak, &batches, 1e6);
    good = verify(&fft);
    close_fft(&fft);
    return good;
}
