/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_HYBRID_JOB_H
#define MEMSPAN_BENCH_HYBRID_JOB_H

#include "bench/rma/batch.h"

/* job.c: the PEs of a mini-app, and arrays on the device. A form is a program of its own:
 *
 *   standard: OpenSHMEM reaches host memory alone, so data is staged there (target update)
 *   extended: device memory is symmetric, OpenSHMEM gets its addresses (use_device_ptr)
 *   device:   kernels call OpenSHMEM (shmemx_device.h); move and matrix are the extended ones
 *   mpi:      messages, an MPI that takes addresses of the device
 *
 * APP.c has the kernels and the rest that the forms of an app share; APP_FORM.c is the
 * communication. */

extern int job_pe;
extern int job_count;

void job_start(void);
void job_end(void);
void job_barrier(void);

/* Of all PEs. */
double job_sum(double value);
double job_max(double value);

/* The calling thread on the processor of its PE, which main() chooses, or on any. */
void job_bind(bool any);

/* An array that is mapped on the device, of every PE; its values are not set. The form's
 * communication takes it. Ends the program where there is no memory. */
void *job_array(size_t size_bytes);
void job_array_free(void *array);

/* Print "APP-SCALING-COUNT best median", of times in ns, in units of @p unit_ns. */
void job_print(const char *app, bool weak, const struct batches *times, double unit_ns);

/* False, after a message of PE 0, where @p error (of all PEs) is more than @p most. */
bool job_verify(const char *app, double error, double most);

/* A line for the terminal once a second, from the first one on. */
void job_progress(const char *app, size_t done, size_t total);

/* The apps; they return whether the results are right. @p size is that of the whole problem, or
 * @p weak: of each PE's part. */
bool move_put(size_t size_bytes, bool weak);
bool move_alltoall(size_t size_bytes, bool weak);
bool move_broadcast(size_t size_bytes, bool weak);
bool move_reduce(size_t size_bytes, bool weak);
bool random_run(size_t updates, bool weak);
bool random_atomic_run(size_t updates, bool weak);
bool fft_run(size_t side, bool weak);
bool matrix_run(size_t side, bool weak);
bool heat_run(size_t side, bool weak);

/* move.c: what it takes to move data from one device to another. */

/* @p count times: PE 0's source into PE 1's dest, then PE 1's into PE 0's. */
void move_ping_pong(char *dest, char *source, size_t size_bytes, size_t count);

/* @p count times: a block of that size from every PE to every PE. */
void move_blocks(char *dest, char *source, size_t size_bytes, size_t count);

/* @p count times: PE i's source, i going around, to the dest of all. */
void move_to_all(char *dest, char *source, size_t size_bytes, size_t count);

/* @p count times: all sources, combined by exclusive or of 64-bit words, to the dest of all. */
void move_combined(char *dest, char *source, size_t size_bytes, size_t count);

/* random.c: HPC Challenge's random access: words of a table over all PEs are combined with random
 * numbers by exclusive or. */

enum { RANDOM_TABLE_BITS = 20 }; /* words of a PE's part, as a power of two */

/* The number after @p number: HPCC's sequence, x^n modulo x^63 + x^2 + x + 1 over GF(2). */
static inline uint64_t random_next(uint64_t number)
{
    return (number << 1) ^ (((number >> 63) != 0) ? 7 : 0);
}

/* The number's word: of which PE, and which of its words. */
static inline int random_pe(uint64_t number)
{
    return (int)((number >> RANDOM_TABLE_BITS) & (uint64_t)(job_count - 1));
}

static inline size_t random_word(uint64_t number)
{
    return (size_t)(number & (((uint64_t)1 << RANDOM_TABLE_BITS) - 1));
}

/* On the device: combine words of this PE's part with @p count numbers. */
void random_apply(uint64_t *table, const uint64_t *numbers, size_t count);

/* The form: combine the words of the @p count numbers from @p number on, of any PE. Done when all
 * PEs have returned and met in a barrier. @p atomic: by an atomic operation for each, where the
 * form has one; else a word is got, combined and put. */
void random_update(uint64_t *table, uint64_t number, size_t count, bool atomic);

/* fft.c: the Fourier transform of a complex matrix, rows divided among the PEs: transforms of rows,
 * a transposition, transforms of rows. */

/* The form: block i of @p send, of that size, becomes block job_pe of @p receive of PE i. Both are
 * arrays on the device. */
void fft_exchange(char *receive, char *send, size_t block_bytes);

/* matrix.c: a product of matrices whose rows are divided among the PEs. The stripes of the second
 * matrix go around the ring of PEs while the one that is there is multiplied: Cannon's algorithm on
 * a ring.
 */

/* The form: begin to send @p stripe to the PE before this one, as its @p next ... */
void matrix_send(double *next, double *stripe, size_t count, bool is_first);

/* ... and wait until @p next is here and @p stripe may be written. */
void matrix_receive(double *next, size_t count);

/* heat.c: the heat equation in three dimensions, periodic, explicit in time, by the 7-point
 * stencil. The PEs are boxes of a grid; each exchanges six faces with its neighbours while it
 * computes the points that need none. Face 2 a is the lower one of axis a, face 2 a + 1 the upper
 * one. */

enum { HEAT_FACES = 6 };

struct heat_halo {
    double *send;       /* face by face, of face_count doubles each; arrays on the device */
    double *receive[2]; /* likewise, for even and odd steps: a neighbour may be one step ahead */
    size_t face_count;
    size_t counts[HEAT_FACES]; /* doubles of the face that are used */
    int neighbours[HEAT_FACES];
};

/* The form: begin to send all faces. Face i arrives as face i ^ 1 of that neighbour. */
void heat_send(const struct heat_halo *halo, size_t step);

/* Wait until all faces of the step are here and those that were sent may be written. */
void heat_receive(const struct heat_halo *halo, size_t step);

#endif /* MEMSPAN_BENCH_HYBRID_JOB_H */
