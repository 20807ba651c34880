/* SPDX-License-Identifier: BSD-3-Clause */
/* heat.c: the kernels and the grid. The field is the product of one cosine for each axis, an
 * eigenvector of the stencil: a step multiplies it by a constant. */

#include "bench/hybrid/job.h"
#include <math.h>

enum { AXES = 3, RUNS = 3, STEPS = 20 };

static const double coefficient = 0.1; /* of diffusion, time step and distance; stable below 1/6 */

struct heat {
    size_t side[AXES];   /* of the box; its field has a layer of neighbours' points around */
    size_t first[AXES];  /* its first point in the whole field */
    size_t whole[AXES];  /* of the whole field */
    size_t stride[AXES]; /* between neighbours, in doubles */
    double *fields[2];
    double *waves[AXES]; /* by coordinate in the whole field */
    size_t field_bytes;
    size_t halo_bytes;
    struct heat_halo halo;
};

/* Points of the box from @p low to below @p high, of the axes. */
struct box {
    size_t low[AXES];
    size_t high[AXES];
};

/* ---- kernels ---- */

static void update(double *new_field, const double *old, const struct heat *heat, struct box box)
{
    size_t sz   = heat->stride[0];
    size_t sy   = heat->stride[1];
    size_t rows = box.high[1] - box.low[1];
    size_t all  = rows * (box.high[0] - box.low[0]);
    size_t from = (box.low[0] + 1) * sz + (box.low[1] + 1) * sy + box.low[2] + 1;
    size_t side = box.high[2] - box.low[2];

#pragma omp target teams distribute parallel for
    for (size_t i = 0; i < all; i++) {
        size_t row = from + i / rows * sz + i % rows * sy;

#pragma omp simd
        for (size_t at = row; at < row + side; at++) {
            new_field[at] =
                old[at] + coefficient * (old[at - 1] + old[at + 1] + old[at - sy] + old[at + sy] +
                                         old[at - sz] + old[at + sz] - 6 * old[at]);
        }
    }
}

/* A plane of the field into a face (@p out), or a face into the plane. */
static void copy_face(double *field, double *face, size_t from, const size_t counts[2],
                      const size_t strides[2], bool out)
{
    size_t rows          = counts[0];
    size_t columns       = counts[1];
    size_t row_stride    = strides[0];
    size_t column_stride = strides[1];

#pragma omp target teams distribute parallel for
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < columns; c++) {
            double *point = field + from + r * row_stride + c * column_stride;

            if (out) {
                face[r * columns + c] = *point;
            } else {
                *point = face[r * columns + c];
            }
        }
    }
}

/* Set the field to @p scale times the waves; or, with @p compare, return the largest difference. */
static double visit(double *field, const struct heat *heat, double scale, bool compare)
{
    size_t ny       = heat->side[1];
    size_t nx       = heat->side[2];
    size_t rows     = heat->side[0] * ny;
    size_t sz       = heat->stride[0];
    size_t sy       = heat->stride[1];
    const double *z = heat->waves[0];
    const double *y = heat->waves[1];
    const double *x = heat->waves[2];
    double most     = 0;

#pragma omp target teams distribute parallel for map(tofrom : most) reduction(max : most)
    for (size_t i = 0; i < rows; i++) {
        double *row = field + (i / ny + 1) * sz + (i % ny + 1) * sy + 1;

        for (size_t c = 0; c < nx; c++) {
            double wanted = scale * z[i / ny] * y[i % ny] * x[c];

            most   = compare ? fmax(most, fabs(row[c] - wanted)) : 0;
            row[c] = compare ? row[c] : wanted;
        }
    }
    return most;
}

/* ---- a step ---- */

/* All six faces: the box's outer planes out, or the layer around it in. */
static void copy_faces(const struct heat *heat, double *field, double *faces, bool out)
{
    for (size_t f = 0; f < HEAT_FACES; f++) {
        size_t axis            = f / 2;
        size_t one             = (axis == 0) ? 1 : 0;
        size_t two             = (axis == 2) ? 1 : 2;
        const size_t counts[]  = {heat->side[one], heat->side[two]};
        const size_t strides[] = {heat->stride[one], heat->stride[two]};
        size_t lower           = out ? 1 : 0;
        size_t upper           = heat->side[axis] + (out ? 0 : 1);

        copy_face(field, faces + f * heat->halo.face_count,
                  heat->stride[one] + heat->stride[two] +
                      heat->stride[axis] * ((f % 2 == 0) ? lower : upper),
                  counts, strides, out);
    }
}

/* The points that touch a face: of each axis its two planes, without those of the axes before. */
static void update_shell(const struct heat *heat, double *new_field, const double *old)
{
    struct box box = {{0}, {heat->side[0], heat->side[1], heat->side[2]}};

    for (size_t axis = 0; axis < AXES; axis++) {
        struct box plane = box;

        plane.high[axis] = 1;
        update(new_field, old, heat, plane);
        plane.low[axis]  = heat->side[axis] - 1;
        plane.high[axis] = heat->side[axis];
        update(new_field, old, heat, plane);
        box.low[axis]++;
        box.high[axis]--;
    }
}

static void run_step(const struct heat *heat, size_t step)
{
    double *old       = heat->fields[step % 2];
    double *new_field = heat->fields[(step + 1) % 2];
    struct box inner  = {{1, 1, 1}, {heat->side[0] - 1, heat->side[1] - 1, heat->side[2] - 1}};

    copy_faces(heat, old, heat->halo.send, true);
    heat_send(&heat->halo, step);
    update(new_field, old, heat, inner);
    heat_receive(&heat->halo, step);
    copy_faces(heat, old, heat->halo.receive[step % 2], false);
    update_shell(heat, new_field, old);
}

/* ---- the grid ---- */

/* PEs by axis: a power of two, halved axis by axis. */
static void divide(struct heat *heat, size_t side, bool weak)
{
    size_t grid[AXES]  = {1, 1, 1};
    size_t place[AXES] = {0, 0, 0};
    size_t pe          = (size_t)job_pe;

    for (size_t left = (size_t)job_count, axis = 0; left > 1; left /= 2, axis = (axis + 1) % AXES) {
        grid[axis] *= 2;
    }
    for (size_t axis = 0; axis < AXES; axis++, pe /= grid[axis - 1]) {
        place[axis]       = pe % grid[axis];
        heat->side[axis]  = weak ? side : side / grid[axis];
        heat->whole[axis] = heat->side[axis] * grid[axis];
        heat->first[axis] = heat->side[axis] * place[axis];
    }
    for (size_t f = 0; f < HEAT_FACES; f++) {
        size_t axis     = f / 2;
        size_t other    = (place[axis] + ((f % 2 == 0) ? grid[axis] - 1 : 1)) % grid[axis];
        size_t weight   = (axis > 0 ? grid[0] : 1) * (axis > 1 ? grid[1] : 1);
        size_t distance = other * weight + (size_t)job_pe - place[axis] * weight;

        heat->halo.neighbours[f] = (int)distance;
        heat->halo.counts[f]     = heat->side[0] * heat->side[1] * heat->side[2] / heat->side[axis];
        heat->halo.face_count    = (heat->halo.counts[f] > heat->halo.face_count)
                                       ? heat->halo.counts[f]
                                       : heat->halo.face_count;
    }
    heat->stride[2] = 1;
    heat->stride[1] = heat->side[2] + 2;
    heat->stride[0] = heat->stride[1] * (heat->side[1] + 2);
}

static void open_heat(struct heat *heat)
{
    heat->field_bytes = heat->stride[0] * (heat->side[0] + 2) * sizeof(double);
    heat->halo_bytes  = HEAT_FACES * heat->halo.face_count * sizeof(double);
    for (size_t i = 0; i < 2; i++) {
        heat->fields[i]       = job_array(heat->field_bytes);
        heat->halo.receive[i] = job_array(heat->halo_bytes);
    }
    heat->halo.send = job_array(heat->halo_bytes);
    for (size_t axis = 0; axis < AXES; axis++) {
        size_t count = heat->side[axis];
        double *wave = job_array(count * sizeof(double));

        for (size_t i = 0; i < count; i++) {
            wave[i] = cos(2 * M_PI * (double)(heat->first[axis] + i) / (double)heat->whole[axis]);
        }
#pragma omp target update to(wave [0:count])
        heat->waves[axis] = wave;
    }
}

static void close_heat(const struct heat *heat)
{
    for (size_t axis = AXES; axis > 0; axis--) {
        job_array_free(heat->waves[axis - 1]);
    }
    job_array_free(heat->halo.send);
    for (size_t i = 2; i > 0; i--) {
        job_array_free(heat->halo.receive[i - 1]);
        job_array_free(heat->fields[i - 1]);
    }
}

/* What a step multiplies the field by. */
static double growth(const struct heat *heat)
{
    double sum = 0;

    for (size_t axis = 0; axis < AXES; axis++) {
        sum += 2 * cos(2 * M_PI / (double)heat->whole[axis]) - 2;
    }
    return 1 + coefficient * sum;
}

bool heat_run(size_t side, bool weak)
{
    struct heat heat       = {.halo.face_count = 0};
    struct batches batches = {.count = 0};
    size_t step            = 0;
    double error;

    divide(&heat, side, weak);
    open_heat(&heat);
    (void)visit(heat.fields[0], &heat, 1, false);
    for (size_t run = 0; run < RUNS; run++) {
        double began_ns;

        job_barrier();
        began_ns = batch_now_ns();
        for (size_t i = 0; i < STEPS; i++, step++) {
            job_progress("heat", step, (size_t)RUNS * STEPS);
            run_step(&heat, step);
        }
        batches_add(&batches, job_max(batch_now_ns() - began_ns) / STEPS);
    }
    job_progress("heat", step, step);
    job_print("heat", weak, &batches, 1e6);
    error = visit(heat.fields[step % 2], &heat, pow(growth(&heat), (double)step), true);
    close_heat(&heat);
    return job_verify("heat", job_max(error), 1e-12);
}
