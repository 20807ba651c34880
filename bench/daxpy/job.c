/* SPDX-License-Identifier: BSD-3-Clause */
/* One variant, once: allocate, fill, run, verify, free.
 *
 * Every intermediate value is a multiple of 1/8 below 2^53: no operation
 * rounds, fused or not, in any order, on any device. The right result is a formula, compared bit
 * by bit. */

#include "bench/daxpy/daxpy.h"
#include "cmd/common/clock.h"
#include <malloc.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Values have no short period: a block in the wrong place has wrong values. */
static uint32_t mix(size_t i)
{
    return (uint32_t)i * UINT32_C(2654435761) + (uint32_t)(i >> 32);
}

static double x_at(size_t i)
{
    return 0.25 * (mix(i) >> 24);
}

static double y_at(size_t i)
{
    return 0.5 * ((mix(i) >> 17) & 0x7f);
}

static double z_at(size_t i)
{
    return (double)((mix(i) >> 9) & 0xff);
}

static void fill(const struct daxpy_arrays *arrays, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        arrays->x[i] = x_at(i);
        arrays->y[i] = y_at(i);
        arrays->z[i] = z_at(i);
    }
}

/* True when every element is right; else @p reason says how many are not, and the first. */
static bool verify(const struct daxpy_job *job, char *reason)
{
    size_t wrong = 0;
    size_t first = 0;

    for (size_t i = 0; i < job->n; i++) {
        double expected = z_at(i) + (double)job->repetitions * (DAXPY_A * x_at(i) + y_at(i));
        if (memcmp(&job->host.z[i], &expected, sizeof(expected)) != 0) {
            first = (wrong++ == 0) ? i : first;
        }
    }
    if (wrong != 0) {
        (void)snprintf(reason, DAXPY_TEXT_SIZE,
                       "%zu of %zu elements are wrong, the first is z[%zu]: %.17g instead of %.17g",
                       wrong, job->n, first, job->host.z[first],
                       z_at(first) +
                           (double)job->repetitions * (DAXPY_A * x_at(first) + y_at(first)));
    }
    return wrong == 0;
}

bool daxpy_variant_shares(enum daxpy_variant variant)
{
    return (variant == DAXPY_HOST) || (variant == DAXPY_HOST_PINNED) ||
           (variant == DAXPY_MANAGED) || (variant == DAXPY_COHERENT);
}

static bool copies_once(enum daxpy_variant variant)
{
    return (variant == DAXPY_COPY_ONCE) || (variant == DAXPY_DEVICE_RESIDENT);
}

/* The program's own arrays where the device has others: the host memory of the baseline, so that
 * variants do not differ by their pages. */
static double *plain_alloc(struct daxpy_job *job, size_t size_bytes)
{
    double *array = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, size_bytes);

    if (array == NULL) {
        (void)daxpy_job_failed(job, "allocation of host memory");
    }
    return array;
}

static bool plain_free(struct daxpy_job *job, double *array)
{
    return (memspan_free(array) == MEMSPAN_OK) || daxpy_job_failed(job, "free of host memory");
}

static bool allocate(struct daxpy_job *job)
{
    bool shares       = daxpy_variant_shares(job->variant);
    double **hosts[]  = {&job->host.x, &job->host.y, &job->host.z};
    double **target[] = {&job->target.x, &job->target.y, &job->target.z};
    size_t size_bytes = job->n * sizeof(double);

    for (size_t i = 0; i < 3; i++) {
        *hosts[i] =
            shares ? daxpy_engine.memory_alloc(job, size_bytes) : plain_alloc(job, size_bytes);
        if (*hosts[i] == NULL) {
            return false;
        }
        if (shares) {
            *target[i] = *hosts[i];
        } else if (job->memory->allocator != MEMSPAN_ALLOCATOR_NULL) {
            *target[i] = daxpy_engine.memory_alloc(job, size_bytes);
            if (*target[i] == NULL) {
                return false;
            }
        }
    }
    return true;
}

/* Frees the arrays of allocate(), which may have failed halfway. */
static bool release(struct daxpy_job *job)
{
    bool shares      = daxpy_variant_shares(job->variant);
    double *hosts[]  = {job->host.x, job->host.y, job->host.z};
    double *target[] = {job->target.x, job->target.y, job->target.z};
    bool good        = true;

    for (size_t i = 0; i < 3; i++) {
        if (!shares && (target[i] != NULL)) {
            good = daxpy_engine.memory_free(job, target[i]) && good;
        }
        if (hosts[i] != NULL) {
            good = (shares ? daxpy_engine.memory_free(job, hosts[i]) : plain_free(job, hosts[i])) &&
                   good;
        }
    }
    memset(&job->host, 0, sizeof(job->host));
    memset(&job->target, 0, sizeof(job->target));
    return good;
}

/* Two clocks, a counter, and their readings for each phase. */
struct watch {
    int64_t wall_ns;
    int64_t cpu_ns;
    int64_t faults;
    struct daxpy_readings readings;
};

static void watch_start(struct watch *watch)
{
    watch->faults  = cli_clock_faults();
    watch->cpu_ns  = cli_clock_cpu_ns();
    watch->wall_ns = cli_clock_ns();
}

static void watch_stop(struct watch *watch, enum daxpy_phase phase)
{
    watch->readings.ns[phase]     = (double)(cli_clock_ns() - watch->wall_ns);
    watch->readings.cpu_ns[phase] = (double)(cli_clock_cpu_ns() - watch->cpu_ns);
    watch->readings.faults[phase] = (double)(cli_clock_faults() - watch->faults);
    watch_start(watch);
}

static bool measure(struct daxpy_job *job, struct watch *watch)
{
    watch_start(watch);
    if (!allocate(job)) {
        return false;
    }
    watch_stop(watch, DAXPY_ALLOCATE);
    fill(&job->host, job->n);
    watch_stop(watch, DAXPY_FILL);
    if (copies_once(job->variant)) {
        if (!daxpy_engine.copy_in(job)) {
            return false;
        }
        watch_stop(watch, DAXPY_COPY_IN);
    }
    if (!daxpy_engine.step(job, 1)) {
        return false;
    }
    watch_stop(watch, DAXPY_FIRST);
    if (job->repetitions > 1) {
        if (!daxpy_engine.step(job, job->repetitions - 1)) {
            return false;
        }
        watch_stop(watch, DAXPY_STEADY);
    }
    if (copies_once(job->variant)) {
        if (!daxpy_engine.copy_out(job)) {
            return false;
        }
        watch_stop(watch, DAXPY_COPY_OUT);
    }
    return true;
}

/* RUN and TOTAL, and STEADY by the repetition. For device-resident data, fill and copies are not in
 * the sums. */
static void sum_phases(double *phases, const struct daxpy_job *job)
{
    double copies =
        (job->variant == DAXPY_COPY_ONCE) ? phases[DAXPY_COPY_IN] + phases[DAXPY_COPY_OUT] : 0;
    double filling = (job->variant == DAXPY_DEVICE_RESIDENT) ? 0 : phases[DAXPY_FILL];

    phases[DAXPY_RUN]   = phases[DAXPY_FIRST] + phases[DAXPY_STEADY] + copies;
    phases[DAXPY_TOTAL] = phases[DAXPY_ALLOCATE] + filling + phases[DAXPY_RUN] + phases[DAXPY_FREE];
    phases[DAXPY_STEADY] =
        (job->repetitions > 1) ? phases[DAXPY_STEADY] / (double)(job->repetitions - 1) : NAN;
    if (!copies_once(job->variant)) {
        phases[DAXPY_COPY_IN]  = NAN;
        phases[DAXPY_COPY_OUT] = NAN;
    }
}

enum daxpy_state daxpy_job_run(struct daxpy_job *job, struct daxpy_readings *readings_p,
                               char *reason)
{
    struct watch watch = {0};
    bool measured      = measure(job, &watch);
    bool right         = true;

    if (!measured) {
        (void)snprintf(reason, DAXPY_TEXT_SIZE, "%s", job->problem); /* a free may fail as well */
    }
    if (measured && !daxpy.no_verify) {
        if (daxpy.inject_error) {
            job->host.z[job->n - 1] = nextafter(job->host.z[job->n - 1], INFINITY);
        }
        right = verify(job, reason);
    }
    watch_start(&watch);
    if (!release(job) && measured) {
        (void)snprintf(reason, DAXPY_TEXT_SIZE, "%s", job->problem);
        measured = false;
    }
    watch_stop(&watch, DAXPY_FREE);
    (void)memspan_trim(); /* the next run begins with as little memory as this one */
    (void)malloc_trim(0); /* drivers on the processor take their memory from malloc */
    if (!measured) {
        return DAXPY_FAILED;
    }
    sum_phases(watch.readings.ns, job);
    sum_phases(watch.readings.cpu_ns, job);
    sum_phases(watch.readings.faults, job);
    *readings_p = watch.readings;
    return right ? DAXPY_VERIFIED : DAXPY_WRONG;
}

double daxpy_copy_measure(int device, size_t n, const struct daxpy_memory *memory)
{
    enum { TIMES = 20 };
    struct daxpy_job job = {
        .variant = DAXPY_DEVICE_RESIDENT, .device = device, .n = n, .memory = memory};
    size_t size_bytes = n * sizeof(double);
    double best       = NAN;

    job.target.x = daxpy_engine.memory_alloc(&job, size_bytes);
    job.target.y = (job.target.x == NULL) ? NULL : daxpy_engine.memory_alloc(&job, size_bytes);
    for (int i = 0; (job.target.y != NULL) && (i < TIMES); i++) {
        int64_t begin = cli_clock_ns();
        double rate;
        if (!daxpy_engine.copy_within(&job)) {
            best = NAN;
            break;
        }
        rate = 2.0 * (double)size_bytes / (double)(cli_clock_ns() - begin);
        best = !(best >= rate) ? rate : best;
    }
    if (job.target.y != NULL) {
        (void)daxpy_engine.memory_free(&job, job.target.y);
    }
    if (job.target.x != NULL) {
        (void)daxpy_engine.memory_free(&job, job.target.x);
    }
    return best;
}
