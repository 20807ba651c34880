/* SPDX-License-Identifier: BSD-3-Clause */
/* stencil POINT PARTITION [quick]: a five-point stencil on a field that is divided among the PEs by
 * rows, on memory of that partition. Each step puts the first and the last row into the
 * neighbours' halos and notifies them.
 *
 * Where the host can access the partition, the field is in it. Else the field is host memory and
 * only the halos are in it: a step then gets them from its own PE.
 *
 * The field is x + 2 y + t, which a step (the mean of four neighbours, and 1) takes to t + 1
 * without rounding: the right result is a formula, which an old halo would break. */

#include "batch.h"
#include <shmem.h>
#include <shmemx.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 512, STEPS = 200, STEPS_QUICK = 10, WIDTH = SIDE + 2, ROW_BYTES = WIDTH * 8 };

struct stencil {
    int pe;
    int pe_count;
    bool direct;
    double *fields[2]; /* (SIDE + 2) rows of WIDTH */
    double *halos;     /* not direct: [step % 2][above, below][WIDTH], in the partition */
};

/* Incremented by the neighbours; on the default heap, where waits work. */
static long *arrived;

static double exact(const struct stencil *stencil, int row, int column, int step)
{
    return column + 2.0 * (row + SIDE * stencil->pe) + step;
}

static void fill(const struct stencil *stencil, double *field, int step, bool inner)
{
    for (int row = 0; row < WIDTH; row++) {
        for (int column = 0; column < WIDTH; column++) {
            bool edge = (column == 0) || (column == WIDTH - 1) ||
                        ((row == 0) && (stencil->pe == 0)) ||
                        ((row == WIDTH - 1) && (stencil->pe == stencil->pe_count - 1));
            field[row * WIDTH + column] = (edge || (inner && (row > 0) && (row < WIDTH - 1)))
                                              ? exact(stencil, row, column, step)
                                              : -1;
        }
    }
}

/* Our row @p from of the field into the halo of @p pe: its row @p to (0 or SIDE + 1). */
static void send(const struct stencil *stencil, int step, int from, int pe, int to)
{
    double *field = stencil->fields[step % 2];
    double *halo  = stencil->direct ? field + to * WIDTH
                                    : stencil->halos + (2 * (step % 2) + (to == 0 ? 0 : 1)) * WIDTH;

    shmem_putmem(halo, field + from * WIDTH, ROW_BYTES, pe);
    shmem_fence();
    shmem_long_atomic_inc(&arrived[to == 0 ? 0 : 1], pe);
}

static void receive(const struct stencil *stencil, int step, int to)
{
    int side = (to == 0) ? 0 : 1;

    shmem_long_wait_until(&arrived[side], SHMEM_CMP_GE, step + 1);
    if (!stencil->direct) {
        shmem_getmem(stencil->fields[step % 2] + to * WIDTH,
                     stencil->halos + (2 * (step % 2) + side) * WIDTH, ROW_BYTES, stencil->pe);
    }
}

static void exchange(const struct stencil *stencil, int step)
{
    bool above = stencil->pe > 0;
    bool below = stencil->pe < stencil->pe_count - 1;

    if (above) {
        send(stencil, step, 1, stencil->pe - 1, SIDE + 1);
    }
    if (below) {
        send(stencil, step, SIDE, stencil->pe + 1, 0);
    }
    if (above) {
        receive(stencil, step, 0);
    }
    if (below) {
        receive(stencil, step, SIDE + 1);
    }
}

/* The outer columns and rows are the boundary: they follow the formula. */
static void set_edges(const struct stencil *stencil, double *field, int step)
{
    for (int row = 1; row <= SIDE; row++) {
        field[row * WIDTH]            = exact(stencil, row, 0, step);
        field[row * WIDTH + SIDE + 1] = exact(stencil, row, SIDE + 1, step);
    }
    for (int column = 0; column < WIDTH; column++) {
        if (stencil->pe == 0) {
            field[column] = exact(stencil, 0, column, step);
        }
        if (stencil->pe == stencil->pe_count - 1) {
            field[(SIDE + 1) * WIDTH + column] = exact(stencil, SIDE + 1, column, step);
        }
    }
}

static void step_once(const struct stencil *stencil, int step)
{
    const double *restrict old = stencil->fields[step % 2];
    double *restrict new       = stencil->fields[(step + 1) % 2];

    exchange(stencil, step);
    for (int row = 1; row <= SIDE; row++) {
        for (int column = 1; column <= SIDE; column++) {
            int at  = row * WIDTH + column;
            new[at] = 0.25 * (old[at - 1] + old[at + 1] + old[at - WIDTH] + old[at + WIDTH]) + 1;
        }
    }
    set_edges(stencil, new, step + 1);
}

static bool is_exact(const struct stencil *stencil, int step)
{
    const double *field = stencil->fields[step % 2];

    for (int row = 1; row <= SIDE; row++) {
        for (int column = 1; column <= SIDE; column++) {
            if (field[row * WIDTH + column] != exact(stencil, row, column, step)) {
                fprintf(stderr, "PE %d: row %d, column %d is %g and not %g\n", stencil->pe, row,
                        column, field[row * WIDTH + column], exact(stencil, row, column, step));
                return false;
            }
        }
    }
    return true;
}

static bool prepare(struct stencil *stencil, int partition)
{
    shmemx_partition_info_t info = {.struct_size = sizeof(info)};
    size_t bytes                 = (size_t)WIDTH * ROW_BYTES;

    if (shmemx_partition_info(partition, &info) != 0) {
        fprintf(stderr, "there is no partition %d\n", partition);
        return false;
    }
    stencil->direct = (info.capabilities & SHMEMX_CAP_DIRECT_ACCESS) != 0;
    if (stencil->pe == 0) {
        printf("given %s, %s, pages of %zu%s\n", info.kind_name, info.resource,
               info.page_size_bytes, stencil->direct ? "" : ", halos alone");
    }
    stencil->halos = stencil->direct ? NULL : shmemx_partition_malloc(4 * ROW_BYTES, partition);
    for (int i = 0; i < 2; i++) {
        stencil->fields[i] =
            stencil->direct ? shmemx_partition_align(4096, bytes, partition) : malloc(bytes);
        if (stencil->fields[i] == NULL) {
            fprintf(stderr, "no memory in partition %d\n", partition);
            return false;
        }
        fill(stencil, stencil->fields[i], i, i == 0);
    }
    arrived = shmem_calloc(2, sizeof(long));
    return (arrived != NULL) && (stencil->direct || (stencil->halos != NULL));
}

/* With OpenMP the program has a runtime and its devices, which KIND=LIBOMP is of. */
static void have_devices(void)
{
#if defined(_OPENMP)
    int value = 0;
#pragma omp target map(tofrom : value)
    value++;
#endif
}

int main(int argument_count, char **arguments)
{
    struct stencil stencil = {.direct = true};
    struct batches batches = {.count = 0};
    bool quick             = (argument_count > 3) && (strcmp(arguments[3], "quick") == 0);
    int steps              = quick ? STEPS_QUICK : STEPS;
    bool good              = false;

    have_devices();
    shmem_init();
    stencil.pe       = shmem_my_pe();
    stencil.pe_count = shmem_n_pes();
    if ((argument_count > 2) && prepare(&stencil, atoi(arguments[2]))) {
        int step = 0;

        shmem_barrier_all();
        for (int batch = 0; batch < 5; batch++) {
            double began_ns = batch_now_ns();
            for (int i = 0; i < steps; i++, step++) {
                step_once(&stencil, step);
            }
            batches_add(&batches, (batch_now_ns() - began_ns) / steps / 1e3);
        }
        good = is_exact(&stencil, step);
        shmem_barrier_all();
        if (stencil.pe == 0) {
            batch_print(arguments[1], batches.per_operation_ns[0], batches_median(&batches));
        }
    }
    shmem_finalize();
    return good ? 0 : 1;
}
