/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_DAXPY_H
#define MEMSPAN_BENCH_DAXPY_H

#include "bench/common/bench.h"
#include <memspan/memspan.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The experiment of "OpenMP device memory spaces" §5: z[i] += a * x[i] + y[i], repeated, on
 * data that begins and ends in host memory. A variant is a path of the data to the device; an
 * engine does the work, and a program has exactly one:
 *   engine_kernels.c   the library's built-in kernels, on any device that has them
 *   engine_offload.c   OpenMP target regions, in a program built for offloading
 * Everything else (options, rounds, clocks, verification, output) is the same for both. */

#define DAXPY_TEXT_SIZE 320

/* X(symbol, name, what it is) */
#define DAXPY_VARIANT_MAP(X)                                                                       \
    X(HOST, "host", "no device: the host's own memory, the kernel on the host (baseline)")         \
    X(NAIVE, "naive", "all data copied to the device before and back after every repetition")      \
    X(COPY_ONCE, "copy-once", "copied to the device once, all repetitions, copied back once")      \
    X(HOST_PINNED, "host-pinned", "one address: host memory that does not move")                   \
    X(MANAGED, "managed", "one address: memory that migrates to its user")                         \
    X(COHERENT, "coherent", "one address: host and device at once")                                \
    X(DEVICE_RESIDENT, "device-resident", "data that stays on the device; copies are not counted")

enum daxpy_variant {
#define DAXPY_VARIANT_ENUM(symbol, name, help) DAXPY_##symbol,
    DAXPY_VARIANT_MAP(DAXPY_VARIANT_ENUM)
#undef DAXPY_VARIANT_ENUM
        DAXPY_VARIANT_COUNT
};

/* What is timed; see README.md. RUN and TOTAL are sums of the others. */
#define DAXPY_PHASE_MAP(X)                                                                         \
    X(ALLOCATE, "allocate")                                                                        \
    X(FILL, "fill")                                                                                \
    X(COPY_IN, "copy-in")                                                                          \
    X(FIRST, "first-use")                                                                          \
    X(STEADY, "steady")                                                                            \
    X(COPY_OUT, "copy-out")                                                                        \
    X(FREE, "free")                                                                                \
    X(RUN, "run")                                                                                  \
    X(TOTAL, "total")

enum daxpy_phase {
#define DAXPY_PHASE_ENUM(symbol, name) DAXPY_##symbol,
    DAXPY_PHASE_MAP(DAXPY_PHASE_ENUM)
#undef DAXPY_PHASE_ENUM
        DAXPY_PHASE_COUNT
};

extern const char *const daxpy_variant_names[];
extern const char *const daxpy_phase_names[];

enum daxpy_state {
    DAXPY_VERIFIED,   /* measured, and every element is right */
    DAXPY_UNVERIFIED, /* measured, not compared (--no-verify) */
    DAXPY_WAIVED,     /* the device does not have it, for the given reason */
    DAXPY_WRONG,      /* the device's result is not the host's */
    DAXPY_FAILED      /* an error */
};

/* "verified", "unverified", "waived", "WRONG", "FAILED". */
extern const char *const daxpy_state_names[];

/* The memory of one variant: what was asked for and what was given. */
struct daxpy_memory {
    memspan_allocator_h allocator; /* 0: the variant takes no memory from the library */
    char asked[24];
    char given[24];
    int64_t page_size_bytes; /* -1 unknown */
    int numa_node;           /* -1 unknown */
    char why[512];
};

struct daxpy_arrays {
    double *x;
    double *y;
    double *z;
};

/* One run of one variant. Where host and device share the arrays, both are the same. */
struct daxpy_job {
    enum daxpy_variant variant;
    int device;
    size_t n;
    size_t repetitions;
    const struct daxpy_memory *memory;
    struct daxpy_arrays host;
    struct daxpy_arrays target; /* NULLs where the engine needs none */
    char problem[DAXPY_TEXT_SIZE];
};

/* A function that returns false has written the reason into the job's problem (or @p reason). */
struct daxpy_engine {
    const char *name;  /* "kernels": in the rows */
    const char *title; /* for the header */
    const char *naive; /* what the naive variant does here */

    /* Before anything else; NULL where there is nothing to prepare. */
    void (*prepare)(void);
    /* The device for a run where none was named; MEMSPAN_HOST when there is no other. */
    int (*device_default)(void);
    /* Title of @p device, or false: there is no such device. */
    bool (*device_title)(int device, char *title, size_t title_size);
    /* The memory of a variant: DAXPY_VERIFIED when it can be used. */
    enum daxpy_state (*memory_open)(enum daxpy_variant variant, int device,
                                    struct daxpy_memory *memory_p, char *reason);
    void (*memory_close)(struct daxpy_memory *memory);
    double *(*memory_alloc)(struct daxpy_job *job, size_t size_bytes);
    bool (*memory_free)(struct daxpy_job *job, double *array);
    /* Host arrays to the device and z back; only called for variants that copy once. */
    bool (*copy_in)(struct daxpy_job *job);
    bool (*copy_out)(struct daxpy_job *job);
    /* x to y, both on the device; it is done on return. */
    bool (*copy_within)(struct daxpy_job *job);
    /* @p count repetitions; they are done, and z is the host's where it is shared, on return. */
    bool (*step)(struct daxpy_job *job, size_t count);
    /* One sentence under the table (what mapping does), or false; NULL: there is none. */
    bool (*remark)(int device, char *text, size_t text_size);
};

extern const struct daxpy_engine daxpy_engine;

/* z[i] += DAXPY_A * x[i] + y[i] */
#define DAXPY_A 0.5

/* Host and device are the same arrays, of the variant's memory. */
bool daxpy_variant_shares(enum daxpy_variant variant);

/* A variant at one size and number of repetitions, beside its times in the run. */
struct daxpy_cell {
    enum daxpy_state state;
    char reason[DAXPY_TEXT_SIZE];
    struct bench_samples cpu_ns[DAXPY_PHASE_COUNT];
    struct bench_samples faults[DAXPY_PHASE_COUNT]; /* page faults */
};

/* Everything about one variant that does not depend on size and repetitions. */
struct daxpy_subject {
    struct daxpy_memory memory;
    enum daxpy_state state; /* VERIFIED: may be run */
    char reason[DAXPY_TEXT_SIZE];
    double warm_up_ns; /* its first use, with the build of the kernel; NAN where there was none */
};

/* What daxpy was asked to do, and what it knows beside the run. There a size is a placement, a
 * number of repetitions a row, a phase of these a point, a variant a peer. */
extern struct daxpy {
    struct cli_counts sizes;       /* elements of each array */
    struct cli_counts repetitions; /* in any order */
    int device;
    bool no_verify;
    bool inject_error;
    char device_title[160];
    struct daxpy_subject subjects[DAXPY_VARIANT_COUNT];
    struct daxpy_cell cells[CLI_COUNTS_MAX][CLI_COUNTS_MAX][DAXPY_VARIANT_COUNT];
    double copy_gb_per_s; /* the device within its own memory; NAN: not measured */
} daxpy;

extern struct bench_suite daxpy_suite;

/* A measured variant: the indices of its size, repetitions and variant. */
struct daxpy_place {
    unsigned size;
    size_t repetitions;
    enum daxpy_variant variant;
};

static inline struct daxpy_cell *daxpy_cell(struct daxpy_place place)
{
    return &daxpy.cells[place.size][place.repetitions][place.variant];
}

static inline size_t daxpy_point(size_t repetitions, enum daxpy_phase phase)
{
    return repetitions * DAXPY_PHASE_COUNT + (size_t)phase;
}

/* Its median time of a phase; NAN where there is none. */
double daxpy_ns(const struct bench_run *run, struct daxpy_place place, enum daxpy_phase phase);

/* Readings of all phases; NAN where the variant has no such phase. */
struct daxpy_readings {
    double ns[DAXPY_PHASE_COUNT];
    double cpu_ns[DAXPY_PHASE_COUNT];
    double faults[DAXPY_PHASE_COUNT];
};

/* Run the variant of @p job once. DAXPY_VERIFIED, or what is wrong, and the reason. */
enum daxpy_state daxpy_job_run(struct daxpy_job *job, struct daxpy_readings *readings_p,
                               char *reason);

/* GB/s, read and written, of the device's copies of @p n doubles within its own memory; NAN where
 * it cannot. */
double daxpy_copy_measure(int device, size_t n, const struct daxpy_memory *memory);

/* Bytes copied between host and device in the timed part, by the program or the runtime's map. */
double daxpy_copied_bytes(struct daxpy_place place);

/* Bytes that one repetition of the kernel reads and writes: three loads and a store an element. */
double daxpy_kernel_bytes(struct daxpy_place place);

/* Time of a warm repetition: steady, or first use where there is only one. */
double daxpy_repetition_ns(const struct bench_run *run, struct daxpy_place place);

/* "10 Mi", "256 Ki", "1000". */
struct bench_text daxpy_count_text(size_t count);

/* notes.c: what was given or waived and why, and how the variants compare. */
void daxpy_make_notes(const struct bench_run *run, bench_note_fn emit, void *context);

/* text.c: the text and the columns of a report. */
void daxpy_print_device(const struct bench_run *run);
void daxpy_print_size(const struct bench_run *run, unsigned size);
void daxpy_put_head(struct bench_report *report, const struct bench_run *run);
bool daxpy_has_row(const struct bench_run *run, unsigned size, size_t point, size_t variant);
void daxpy_put_row(struct bench_report *report, const struct bench_run *run, unsigned size,
                   size_t point, size_t variant);

/* memory.c: devices and requests for memory, of both engines. */

/* After a request for an allocator failed: DAXPY_WAIVED where the device or its driver has no such
 * thing, DAXPY_FAILED where it should have; the library's message goes to @p reason. */
enum daxpy_state daxpy_memory_refused(char *reason);

/* Fill in what was asked and given from memory->allocator. @p pinned: it was asked to be pinned. */
bool daxpy_memory_describe(struct daxpy_memory *memory, bool pinned, char *reason);

/* Why nothing but the host's own variants runs where the device is the host. True: waived. */
bool daxpy_memory_needs_device(enum daxpy_variant variant, int device, char *reason);

/* Write "WHAT: the library's last error" into the job's problem; returns false. */
bool daxpy_job_failed(struct daxpy_job *job, const char *what);

/* "cuda 'NAME', DRIVER"; else the library's message, and false. */
bool daxpy_device_title(int device, char *title, size_t title_size);

#endif /* MEMSPAN_BENCH_DAXPY_H */
