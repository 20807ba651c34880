/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_HYBRID_HEAT_H
#define MEMSPAN_BENCH_HYBRID_HEAT_H

/* The heat equation in three dimensions, periodic, explicit in time, by the 7-point stencil. The
 * PEs are boxes of a grid; each exchanges six faces with its neighbours while it computes the
 * points that need none. Face 2 a is the lower one of axis a, face 2 a + 1 the upper one. */

#include "bench/hybrid/job.h"

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

#endif /* MEMSPAN_BENCH_HYBRID_HEAT_H */
