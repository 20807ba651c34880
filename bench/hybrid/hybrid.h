/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_HYBRID_H
#define MEMSPAN_BENCH_HYBRID_H

/* The experiments of "Extending OpenMP and OpenSHMEM for Efficient Heterogeneous Computing": the
 * mini-apps of this folder with device memory on the wire, beside the same staged in host memory,
 * by kernels that call OpenSHMEM, and by MPI. A peer is a form. */

#include "bench/common/bench.h"

/* X(symbol, name, only ours, help) */
#define HYBRID_ROW_MAP(X)                                                                          \
    X(PUT, "put", false, "half a round trip between two devices, by bytes; us")                    \
    X(ALLTOALL, "alltoall", false, "all-to-all exchange of 2 PEs, by bytes of a block; us")        \
    X(BROADCAST, "broadcast", false, "broadcast between 2 PEs, by bytes; us")                      \
    X(REDUCE, "reduce", false, "reduction over 2 PEs, by bytes; us")                               \
    X(RANDOM, "random", false, "HPC Challenge's random access: get, combine, put; us an update")   \
    X(ATOMIC, "random-atomic", false, "the same by atomic operations on device memory; us")        \
    X(FFT, "fft", false, "Fourier transform of a complex matrix; ms")                              \
    X(MATRIX, "matrix", false, "product of matrices, stripes around a ring; ms")                   \
    X(HEAT, "heat", false, "a step of the heat equation in three dimensions; ms")                  \
    X(RATE, "rate", false, "random access: millions of updates a second")                          \
    X(EFFICIENCY, "efficiency", false, "best time on 1 PE / (PEs x time), strong scaling")         \
    X(LINES, "lines", false, "lines of code of a form's communication, without comments")

enum hybrid_row {
#define HYBRID_ROW_ENUM(symbol, name, ours, help) HYBRID_##symbol,
    HYBRID_ROW_MAP(HYBRID_ROW_ENUM)
#undef HYBRID_ROW_ENUM
        HYBRID_ROW_COUNT
};

enum hybrid_placement { HYBRID_ONE_HOST, HYBRID_TWO_HOSTS };

enum hybrid_form { HYBRID_EXTENDED, HYBRID_STANDARD, HYBRID_DEVICE, HYBRID_MPI, HYBRID_FORM_COUNT };

/* --hosts: the words of a launcher over two hosts; "-n COUNT PROGRAM" is added. NULL: none. */
extern const char *hybrid_hosts;

bool hybrid_list(struct bench_run *run);
void hybrid_find(struct bench_run *run);
void hybrid_measure(struct bench_run *run);
void hybrid_print_peers(const struct bench_run *run);

extern const struct bench_suite hybrid_suite;

#endif /* MEMSPAN_BENCH_HYBRID_H */
