/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BENCH_DAXPY_H
#define MEMSPAN_BENCH_DAXPY_H

#include "bench/common/bench.h"
#include "cmd/common/cli.h"
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

const char *daxpy_variant_name(enum daxpy_variant variant);
const char *daxpy_phase_name(enum daxpy_phase phase);

enum daxpy_state {
    DAXPY_VERIFIED,   /* measured, and every element is right */
    DAXPY_UNVERIFIED, /* measured, not compared (--no-verify) */
    DAXPY_WAIVED,     /* the device does not have it, for the given reason */
    DAXPY_WRONG,      /* the device's result is not the host's */
    DAXPY_FAILED      /* an error */
};

/* "verified", "unverified", "waived", "WRONG", "FAILED". */
const char *daxpy_state_name(enum daxpy_state state);

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
    /* One sentence under the table (what mapping does), or false. */
    bool (*remark)(int device, char *text, size_t text_size);
};

extern const struct daxpy_engine daxpy_engine;

/* z[i] += DAXPY_A * x[i] + y[i] */
#define DAXPY_A 0.5

/* Host and device are the same arrays, of the variant's memory. */
bool daxpy_variant_shares(enum daxpy_variant variant);

/* What daxpy was asked to do. */
struct daxpy_plan {
    struct cli_counts sizes;       /* elements of each array */
    struct cli_counts repetitions; /* in any order */
    size_t rounds;
    int device;
    unsigned variants; /* bits */
    bool verify;
    bool inject_error;
    bool quick;
    struct bench_output output;
};

/* A variant at one size and number of repetitions: its samples, one a round. */
struct daxpy_row {
    enum daxpy_variant variant;
    size_t n;
    size_t repetitions;
    enum daxpy_state state;
    char reason[DAXPY_TEXT_SIZE];
    struct bench_samples ns[DAXPY_PHASE_COUNT];
    struct bench_samples cpu_ns[DAXPY_PHASE_COUNT];
    struct bench_samples faults[DAXPY_PHASE_COUNT]; /* page faults */
};

/* Everything about one variant that does not depend on size and repetitions. */
struct daxpy_subject {
    struct daxpy_memory memory;
    bool chosen;
    enum daxpy_state state; /* VERIFIED: may be run */
    char reason[DAXPY_TEXT_SIZE];
    double warm_up_ns; /* its first use, with the build of the kernel; NAN where there was none */
};

/* A whole run. rows: size by size, repetitions by repetitions, variant by variant. */
struct daxpy_run {
    const struct daxpy_plan *plan;
    char device_title[160];
    struct daxpy_subject subjects[DAXPY_VARIANT_COUNT];
    struct daxpy_row *rows;
    size_t row_count;
    double copy_gb_per_s; /* the device within its own memory; NAN: not measured */
};

/* Run the variant of @p job once and add a sample to each phase of @p row; after an error its state
 * and reason change. */
void daxpy_job_run(struct daxpy_job *job, const struct daxpy_plan *plan, struct daxpy_row *row);

/* GB/s, read and written, of the device's copies of @p n doubles within its own memory; NAN where
 * it cannot. */
double daxpy_copy_measure(int device, size_t n, const struct daxpy_memory *memory);

/* The row, or NULL where it was not asked for. */
struct daxpy_row *daxpy_run_row(const struct daxpy_run *run, size_t n, size_t repetitions,
                                enum daxpy_variant variant);

/* Bytes copied between host and device in the timed part, by the program or the runtime's map. */
double daxpy_row_copied_bytes(const struct daxpy_row *row);

/* Bytes that one repetition of the kernel reads and writes: three loads and a store an element. */
double daxpy_row_kernel_bytes(const struct daxpy_row *row);

/* Time of a warm repetition: steady, or first use where there is only one. */
double daxpy_row_repetition_ns(const struct daxpy_row *row);

/* The rate of a repetition as a share of the device's own copies; NAN: not measured, or the
 * host. */
double daxpy_row_copy_share(const struct daxpy_run *run, const struct daxpy_row *row);

/* "10 Mi", "256 Ki", "1000". Returns @p text. */
const char *daxpy_count_text(char *text, size_t text_size, size_t count);

/* The sentences under the table, one by one, for the text and the report: what was given or waived
 * and why, and how the variants compare. */
typedef void (*daxpy_note_fn)(void *context, const char *text);
void daxpy_make_notes(const struct daxpy_run *run, daxpy_note_fn emit, void *context);

/* The text: head before the first round, a table after each size, the rest at the end. */
void daxpy_print_head(const struct daxpy_run *run);
void daxpy_print_size(const struct daxpy_run *run, size_t n);
void daxpy_print_foot(const struct daxpy_run *run);

/* CSV, JSON and SVG where they were asked for. False after a message. */
bool daxpy_write_files(const struct daxpy_run *run);

/* "memspan-bench daxpy": exit code 0 all verified or waived, 1 not, 2 wrong arguments. */
int daxpy_main(int argument_count, char *const *arguments);

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
