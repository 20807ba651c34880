/* SPDX-License-Identifier: BSD-3-Clause */
/* cell.c: use one memory from one device.
 *
 * Bandwidth is that of z[i] += a * x[i] + y[i]: three loads and a store an element, 32 bytes.
 * Latency is that of dependent loads over a chain of pointers in random order. A device that
 * cannot load and store copies: bandwidth of copies in and out together, latency of a copy of
 * eight bytes. Results are verified: work that was not done gives no figure. */

#include "cmd/common/clock.h"
#include "cmd/memquery/measure/measure.h"
#include <stdlib.h>
#include <string.h>

enum {
    REPETITIONS        = 5,  /* that share the time of a figure; more when they do not agree */
    SMALL_COPIES       = 10, /* in each timing of a copy of eight bytes */
    ARRAY_LEAST_BYTES  = 64 << 10,
    COUNT_LEAST        = 8192,
    COPY_MOST_BYTES    = 32 << 20,
    CHAIN_LEAST_BYTES  = 32 << 10,
    CHAIN_MOST_BYTES   = 256 << 20,
    STEPS_MOST         = 1 << 24,
    PASSES_MOST        = 1 << 20,
    MOVING_CHAIN_BYTES = 4 << 20 /* managed memory moves page by page: it is walked once */
};

static const double factor = 0.5;

/* ---- the memory ---- */

static memspan_status_t make_allocator(const struct space_row *row, const struct resource *resource,
                                       memspan_allocator_h *allocator_p)
{
    memspan_trait_t traits[3] = {{MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB}};
    memspan_space_h space     = row->handle;
    size_t count              = 1;
    int index                 = (int)(resource - row->resources);
    memspan_status_t status   = MEMSPAN_OK;

    if (strcmp(resource->info.name, SPACE_PINNED_NAME) == 0) {
        traits[count++] = (memspan_trait_t){MEMSPAN_TRAIT_PINNED, MEMSPAN_VALUE_TRUE};
    } else {
        status = memspan_space_get_sub(row->handle, &index, 1, &space);
    }
    if (resource->info.kind == MEMSPAN_KIND_MANAGED) {
        traits[count++] = (memspan_trait_t){MEMSPAN_TRAIT_MEMORY_ACCESS, MEMSPAN_VALUE_MANAGED};
    }
    return (status == MEMSPAN_OK) ? memspan_allocator_create(space, traits, count, allocator_p)
                                  : status;
}

/* Larger than caches, small beside the memory that is free. */
static size_t array_bytes(const struct snapshot *snapshot, const struct resource *resource,
                          bool full)
{
    bool host      = (resource->info.home == MEMSPAN_HOST);
    size_t least   = (size_t)(full ? 128 : 24) << 20;
    size_t most    = (size_t)(full ? 1024 : 64) << 20;
    size_t wanted  = host ? (4 * measure_cache_bytes() / 3) : 0;
    uint64_t there = resource->info.capacity_bytes;
    int home       = snapshot_device_index(snapshot, resource->info.home);

    if ((home >= 0) && (snapshot->devices[home].info.free_bytes < there)) {
        there = snapshot->devices[home].info.free_bytes;
    }
    if ((resource->info.kind == MEMSPAN_KIND_HOST_PINNED) && (snapshot->lock_limit_bytes < there)) {
        there = snapshot->lock_limit_bytes;
    }
    wanted = (wanted < least) ? least : ((wanted > most) ? most : wanted);
    if ((there != MEMSPAN_UNKNOWN) && (wanted > there / 8)) {
        wanted = (size_t)(there / 8);
    }
    return (wanted < ARRAY_LEAST_BYTES) ? ARRAY_LEAST_BYTES : (wanted & ~(size_t)4095);
}

/* The chain, built here and copied there. */
static bool make_chain(struct measure_memory *memory, size_t size_bytes)
{
    size_t nodes = size_bytes / MEASURE_STRIDE_BYTES;
    void *image  = calloc(nodes, MEASURE_STRIDE_BYTES);
    bool good    = false;

    memory->nodes = memspan_aligned_alloc(memory->allocator, 4096, size_bytes);
    if ((image != NULL) && (memory->nodes != NULL)) {
        good = measure_chain_make(&memory->chain, memory->nodes, nodes, image) &&
               (memspan_copy(memory->nodes, image, nodes * MEASURE_STRIDE_BYTES) == MEMSPAN_OK);
    }
    free(image);
    return good;
}

static bool take_memory(struct measure_memory *memory, size_t wanted_bytes)
{
    size_t array = wanted_bytes;
    size_t chain;

    do {
        memory->arrays = memspan_aligned_alloc(memory->allocator, 4096, 3 * array);
    } while ((memory->arrays == NULL) && ((array /= 2) >= ARRAY_LEAST_BYTES));
    if (memory->arrays == NULL) {
        return false;
    }
    memory->count = array / sizeof(double);
    chain         = (array < CHAIN_MOST_BYTES) ? array : CHAIN_MOST_BYTES;
    if ((memory->kind == MEMSPAN_KIND_MANAGED) && (chain > MOVING_CHAIN_BYTES)) {
        chain = MOVING_CHAIN_BYTES;
    }
    memory->result = memspan_aligned_alloc(memory->allocator, 64, 64);
    return (memory->result != NULL) && (memspan_fill(memory->arrays, 0, 3 * array) == MEMSPAN_OK) &&
           make_chain(memory, (chain < CHAIN_LEAST_BYTES) ? CHAIN_LEAST_BYTES : chain);
}

void measure_memory_open(struct measure_memory *memory, const struct snapshot *snapshot,
                         const struct space_row *row, const struct resource *resource, bool full,
                         int64_t budget_ns)
{
    memspan_allocator_info_t info = {.struct_size = sizeof(info)};

    *memory = (struct measure_memory){
        .kind = resource->info.kind, .home = resource->info.home, .budget_ns = budget_ns};
    memspan_error_clear();
    if ((make_allocator(row, resource, &memory->allocator) != MEMSPAN_OK) ||
        (memspan_allocator_describe(memory->allocator, &info) != MEMSPAN_OK)) {
        snapshot_error(memory->problem, sizeof(memory->problem));
    } else if (info.kind_given != resource->info.kind) {
        snprintf(memory->problem, sizeof(memory->problem), "an allocator gives %s memory instead",
                 memspan_kind_name(info.kind_given));
    } else if (!take_memory(memory, array_bytes(snapshot, resource, full))) {
        snapshot_error(memory->problem, sizeof(memory->problem));
    }
}

void measure_memory_close(struct measure_memory *memory)
{
    measure_chain_free(&memory->chain);
    (void)memspan_free(memory->result);
    (void)memspan_free(memory->nodes);
    (void)memspan_free(memory->arrays);
    if (memory->allocator != MEMSPAN_ALLOCATOR_NULL) {
        (void)memspan_allocator_destroy(memory->allocator);
    }
    (void)memspan_trim();
    *memory = (struct measure_memory){0};
}

/* ---- kernels of a device, loops of the host ---- */

static bool run_kernel(int device, memspan_kernel_t kernel, size_t count, double a, const void *x,
                       const void *y, void *z, size_t passes)
{
    memspan_kernel_call_t call = {sizeof(call), kernel, count, a, x, y, z};

    for (size_t i = 0; i < passes; i++) {
        if (memspan_kernel_launch(device, &call) != MEMSPAN_OK) {
            return false;
        }
    }
    return memspan_device_synchronize(device) == MEMSPAN_OK;
}

static bool set_arrays(const struct measure_memory *memory, int device, size_t count)
{
    static const double values[] = {1, 2, 0};

    for (size_t i = 0; i < 3; i++) {
        double *array = memory->arrays + i * memory->count;

        if (device == MEMSPAN_HOST) {
            measure_fill(array, count, values[i]);
        } else if (!run_kernel(device, MEMSPAN_KERNEL_FILL, count, values[i], NULL, NULL, array,
                               1)) {
            return false;
        }
    }
    return true;
}

/* Nanoseconds of so many passes; -1 on failure. */
static int64_t time_passes(const struct measure_memory *memory, int device, size_t count,
                           size_t passes)
{
    const double *x = memory->arrays;
    const double *y = x + memory->count;
    double *z       = memory->arrays + 2 * memory->count;
    int64_t begin_ns;

    if (device == MEMSPAN_HOST) {
        return measure_daxpy(factor, x, y, z, count, passes);
    }
    begin_ns = cli_clock_ns();
    if (!run_kernel(device, MEMSPAN_KERNEL_DAXPY, count, factor, x, y, z, passes)) {
        return -1;
    }
    return cli_clock_ns() - begin_ns;
}

/* A sample of elements: each pass added the same. */
static bool is_right(const struct measure_memory *memory, size_t count, size_t passes, char *reason,
                     size_t size)
{
    double *z   = memory->arrays + 2 * memory->count;
    double want = (double)passes * (factor * 1 + 2);

    for (size_t i = 0; i <= 8; i++) {
        size_t at   = (count - 1) * i / 8;
        double have = -1;

        if (memspan_copy(&have, &z[at], sizeof(have)) != MEMSPAN_OK) {
            snapshot_error(reason, size);
            return false;
        }
        if (!((have >= want) && (have <= want))) { /* false for NaN too */
            snprintf(reason, size, "wrong result: element %zu is %g instead of %g", at, have, want);
            return false;
        }
    }
    return true;
}

/* How many elements a pass has: all, unless the device is so slow that one would take longer than
 * all passes together should. 0 when it fails. The first pass builds the kernel. */
static size_t choose_count(const struct measure_memory *memory, int device)
{
    size_t count = (memory->count < COUNT_LEAST) ? memory->count : COUNT_LEAST;
    int64_t ns;

    if (!set_arrays(memory, device, count) || (time_passes(memory, device, count, 1) < 0)) {
        return 0;
    }
    ns = time_passes(memory, device, count, 1);
    if (ns < 0) {
        return 0;
    }
    while ((count < memory->count) && (ns < 2 * memory->budget_ns)) {
        count = (count < memory->count / 2) ? (2 * count) : memory->count;
        ns *= 2;
    }
    return count;
}

/* The nanoseconds that the repetitions of a figure come to, at least one. */
static double settle(const struct measure_series *series, double *spread_p,
                     struct measure_cell *cell)
{
    double median = measure_series_median(series);

    *spread_p     = measure_series_spread(series);
    cell->settled = cell->settled && measure_series_agree(series);
    return (median < 1) ? 1 : median;
}

static bool measure_bandwidth(const struct measure_memory *memory, int device,
                              struct measure_cell *cell)
{
    struct measure_series series = {0};
    size_t size                  = sizeof(cell->bandwidth_reason);
    char *reason                 = cell->bandwidth_reason;
    size_t count                 = choose_count(memory, device);
    size_t passes                = 1;
    size_t done                  = 0;
    bool more                    = true;

    if ((count == 0) || !set_arrays(memory, device, count)) {
        snapshot_error(reason, size);
        return false;
    }
    while (more) { /* the first, of one pass, warms up and gives the number of passes */
        int64_t ns = time_passes(memory, device, count, passes);

        if (ns < 0) {
            snapshot_error(reason, size);
            return false;
        }
        ns = (ns < 1) ? 1 : ns;
        if (done == 0) {
            done   = 1;
            passes = (size_t)(memory->budget_ns / REPETITIONS / ns);
            passes = (passes < 1) ? 1 : ((passes > PASSES_MOST) ? PASSES_MOST : passes);
            continue;
        }
        done += passes;
        more = measure_series_add(&series, (double)ns / (double)passes);
    }
    if (!is_right(memory, count, done, reason, size)) {
        return false;
    }
    cell->bandwidth_bytes_per_s =
        32e9 * (double)count / settle(&series, &cell->bandwidth_spread, cell);
    return true;
}

/* Nanoseconds of a walk of so many steps from where the last one ended; -1 with the reason. */
static int64_t time_walk(struct measure_memory *memory, int device, size_t steps, char *reason,
                         size_t size)
{
    void *first    = measure_chain_begin(&memory->chain);
    void *want     = measure_chain_end(&memory->chain, steps);
    void *have     = NULL;
    int64_t end_ns = 0;
    int64_t begin_ns;

    begin_ns = cli_clock_ns();
    if (device == MEMSPAN_HOST) {
        have   = measure_walk(first, steps);
        end_ns = cli_clock_ns();
    } else {
        bool good =
            run_kernel(device, MEMSPAN_KERNEL_CHASE, steps, 0, first, NULL, memory->result, 1);

        end_ns = cli_clock_ns();
        if (!good || (memspan_copy(&have, memory->result, sizeof(have)) != MEMSPAN_OK)) {
            snapshot_error(reason, size);
            return -1;
        }
    }
    if (have != want) {
        snprintf(reason, size, "wrong result: %zu steps ended at %p instead of %p", steps, have,
                 want);
        return -1;
    }
    memory->chain.at = (memory->chain.at + steps) % memory->chain.count;
    return end_ns - begin_ns;
}

static bool measure_latency(struct measure_memory *memory, int device, struct measure_cell *cell)
{
    size_t size                  = sizeof(cell->latency_reason);
    char *reason                 = cell->latency_reason;
    bool moves                   = (memory->kind == MEMSPAN_KIND_MANAGED);
    int64_t launch_ns            = INT64_MAX;
    int64_t ns                   = 0;
    size_t steps                 = 500;
    struct measure_series series = {0};

    if (moves && (time_walk(memory, device, memory->chain.count, reason, size) < 0)) {
        return false;
    }
    for (size_t i = 0; i < 3; i++) { /* the cost of a kernel that does nothing */
        ns = time_walk(memory, device, 1, reason, size);
        if (ns < 0) {
            return false;
        }
        launch_ns = (ns < launch_ns) ? ns : launch_ns;
    }
    for (;;) {
        ns = time_walk(memory, device, steps, reason, size);
        if (ns < 0) {
            return false;
        }
        if (((ns >= memory->budget_ns / REPETITIONS) && (ns >= 4 * launch_ns)) ||
            (steps >= STEPS_MOST)) {
            break;
        }
        steps *= (ns < memory->budget_ns / (10 * REPETITIONS)) ? 8 : 3;
    }
    while (measure_series_add(&series, (double)(ns - launch_ns) / (double)steps)) {
        ns = time_walk(memory, device, steps, reason, size);
        if (ns < 0) {
            return false;
        }
    }
    if (measure_series_median(&series) <= 0) {
        snprintf(reason, size, "too fast for this clock");
        return false;
    }
    cell->latency_spread = measure_series_spread(&series);
    cell->latency_ns     = measure_series_median(&series);
    cell->settled        = cell->settled && measure_series_agree(&series);
    return true;
}

/* ---- copies and fills ---- */

/* Copy between @p mine and the memory and back; false with the reason. */
static bool time_copies(const struct measure_memory *memory, unsigned char *mine, size_t size_bytes,
                        struct measure_cell *cell)
{
    struct measure_series blocks = {0};
    struct measure_series words  = {0};
    bool more                    = true;
    int64_t begin_ns;

    while (more) {
        begin_ns = cli_clock_ns();
        if ((memspan_copy(memory->arrays, mine, size_bytes) != MEMSPAN_OK) ||
            (memspan_copy(mine, memory->arrays, size_bytes) != MEMSPAN_OK)) {
            return false;
        }
        more = measure_series_add(&blocks, (double)(cli_clock_ns() - begin_ns));
    }
    for (more = true; more;) {
        begin_ns = cli_clock_ns();
        for (size_t i = 0; i < SMALL_COPIES; i++) {
            if (memspan_copy(mine, memory->arrays, 8) != MEMSPAN_OK) {
                return false;
            }
        }
        more = measure_series_add(&words, (double)(cli_clock_ns() - begin_ns) / SMALL_COPIES);
    }
    cell->bandwidth_bytes_per_s =
        2e9 * (double)size_bytes / settle(&blocks, &cell->bandwidth_spread, cell);
    cell->latency_ns = settle(&words, &cell->latency_spread, cell);
    return true;
}

/* The device's own memory, or the host's: the other end of a copy. */
static unsigned char *own_memory(int device, size_t size_bytes, memspan_allocator_h *allocator_p)
{
    static const memspan_trait_t null_fb = {MEMSPAN_TRAIT_FALLBACK, MEMSPAN_VALUE_NULL_FB};
    memspan_space_h space;
    unsigned char *memory;

    if ((memspan_space_get(&device, 1, MEMSPAN_SPACE_NULL, &space) != MEMSPAN_OK) ||
        (memspan_allocator_create(space, &null_fb, 1, allocator_p) != MEMSPAN_OK)) {
        return NULL;
    }
    memory = memspan_alloc(*allocator_p, size_bytes);
    if (memory == NULL) {
        memspan_allocator_destroy(*allocator_p);
        *allocator_p = MEMSPAN_ALLOCATOR_NULL;
    }
    return memory;
}

/* Whether the pattern that was copied in came out again; @p mine may be no memory of the host. */
static bool copies_are_right(const struct measure_memory *memory, unsigned char *mine,
                             size_t size_bytes)
{
    static const unsigned char pattern[16] = "memquery-sample";
    unsigned char seen[sizeof(pattern)]    = {0};
    size_t last                            = size_bytes - sizeof(pattern);

    return (memspan_copy(mine + last, pattern, sizeof(pattern)) == MEMSPAN_OK) &&
           (memspan_copy(memory->arrays, mine, size_bytes) == MEMSPAN_OK) &&
           (memspan_fill(mine, 0, size_bytes) == MEMSPAN_OK) &&
           (memspan_copy(mine, memory->arrays, size_bytes) == MEMSPAN_OK) &&
           (memspan_copy(seen, mine + last, sizeof(seen)) == MEMSPAN_OK) &&
           (memcmp(seen, pattern, sizeof(seen)) == 0);
}

static void measure_copies(const struct measure_memory *memory, int device,
                           struct measure_cell *cell)
{
    size_t size_bytes             = 3 * memory->count * sizeof(double);
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;
    unsigned char *mine;

    cell->method = MEASURE_COPY;
    size_bytes   = (size_bytes > COPY_MOST_BYTES) ? COPY_MOST_BYTES : size_bytes;
    memspan_error_clear();
    mine = own_memory(device, size_bytes, &allocator);
    if ((mine == NULL) || (memspan_fill(mine, 1, size_bytes) != MEMSPAN_OK) ||
        !time_copies(memory, mine, size_bytes, cell)) {
        snapshot_error(cell->bandwidth_reason, sizeof(cell->bandwidth_reason));
        cell->state = MEASURE_FAILED;
    } else if (!copies_are_right(memory, mine, size_bytes)) {
        snprintf(cell->bandwidth_reason, sizeof(cell->bandwidth_reason),
                 "wrong result: what was copied in did not come out");
        cell->bandwidth_bytes_per_s = 0;
        cell->latency_ns            = 0;
        cell->state                 = MEASURE_FAILED;
    } else {
        cell->state = MEASURE_DONE;
    }
    if (cell->state == MEASURE_FAILED) {
        strcpy(cell->latency_reason, cell->bandwidth_reason);
    }
    (void)memspan_free(mine);
    if (allocator != MEMSPAN_ALLOCATOR_NULL) {
        (void)memspan_allocator_destroy(allocator);
    }
}

static void measure_fills(const struct measure_memory *memory, struct measure_cell *cell)
{
    size_t size_bytes            = 3 * memory->count * sizeof(double);
    struct measure_series series = {0};
    bool more                    = true;

    cell->method = MEASURE_FILL;
    cell->state  = MEASURE_DONE;
    while (more) {
        int64_t begin_ns = cli_clock_ns();

        if (memspan_fill(memory->arrays, (unsigned char)series.count, size_bytes) != MEMSPAN_OK) {
            snapshot_error(cell->bandwidth_reason, sizeof(cell->bandwidth_reason));
            cell->state = MEASURE_FAILED;
            break;
        }
        more = measure_series_add(&series, (double)(cli_clock_ns() - begin_ns));
    }
    if (cell->state == MEASURE_DONE) {
        cell->bandwidth_bytes_per_s =
            1e9 * (double)size_bytes / settle(&series, &cell->bandwidth_spread, cell);
    }
    snprintf(cell->latency_reason, sizeof(cell->latency_reason),
             "the device has no built-in kernel that could follow a chain");
}

/* ---- which ---- */

static void measure_loads(struct measure_memory *memory, const struct device_row *device,
                          struct measure_cell *cell)
{
    int number = device->info.number;
    bool host  = (number == MEMSPAN_HOST);
    bool any;

    cell->method = host ? MEASURE_LOADS : MEASURE_KERNEL;
    memspan_error_clear();
    any = measure_bandwidth(memory, number, cell);
    memspan_error_clear();
    if (!host && ((device->info.capabilities & MEMSPAN_CAN_SHARE_ADDRESSES) == 0)) {
        snprintf(cell->latency_reason, sizeof(cell->latency_reason),
                 "addresses mean something else on the device: no chain of them can be followed");
    } else {
        any = measure_latency(memory, number, cell) || any;
    }
    cell->state = any ? MEASURE_DONE : MEASURE_FAILED;
}

void measure_memory_use(struct measure_memory *memory, const struct device_row *device,
                        const memspan_reach_t *reach, struct measure_cell *cell)
{
    int number = device->info.number;

    if (memory->problem[0] != '\0') {
        cell->state = MEASURE_FAILED;
        snprintf(cell->bandwidth_reason, sizeof(cell->bandwidth_reason), "%s", memory->problem);
        snprintf(cell->latency_reason, sizeof(cell->latency_reason), "%s", memory->problem);
    } else if (reach->access == MEMSPAN_ACCESS_COPY) {
        measure_copies(memory, number, cell);
    } else if ((number == MEMSPAN_HOST) ||
               ((device->info.capabilities & MEMSPAN_CAN_KERNELS) != 0)) {
        measure_loads(memory, device, cell);
    } else {
        measure_fills(memory, cell);
    }
}
