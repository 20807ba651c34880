/* SPDX-License-Identifier: BSD-3-Clause */
/* interop.c: the interop construct of Clang: its objects have a queue, and its dependences order
 * tasks and the work of that queue. */

#include "check.h"

enum { N = 1 << 15, RUNS = 1000 };

static bool has_kernels;

static void check_object(void)
{
    omp_interop_t object = omp_interop_none;
    memspan_queue_h queue;
    int code = omp_irc_other;

#pragma omp interop init(targetsync : object) device(0)
    CHECK(object != omp_interop_none);
    CHECK(omp_get_interop_int(object, omp_ipr_fr_id, &code) == (int)omp_ifr_memspan);
    CHECK(code == omp_irc_success);
    CHECK(omp_get_interop_int(object, omp_ipr_device_num, &code) == 0);
    CHECK(memspan_queue_of_interop(object, &queue) == MEMSPAN_OK);
    CHECK(omp_get_interop_ptr(object, omp_ipr_targetsync, &code) == (void *)queue);
#pragma omp interop use(object)
    CHECK(object != omp_interop_none);
#pragma omp interop destroy(object)
    CHECK(object == omp_interop_none);
    CHECK(memspan_queue_synchronize(queue) == MEMSPAN_ERR_NOT_FOUND);
}

/* Every device, and the host. */
static void check_devices_of_objects(void)
{
    omp_interop_t object = omp_interop_none;
    int device;

    for (device = 0; device <= omp_get_num_devices(); device++) {
#pragma omp interop init(target, targetsync : object) device(device)
        CHECK(omp_get_interop_int(object, omp_ipr_device_num, NULL) == device);
#pragma omp interop destroy(object)
    }
#pragma omp interop init(target : object)
    CHECK(object != omp_interop_none);
#pragma omp interop destroy(object)
}

static double *pinned(omp_allocator_handle_t *allocator)
{
    omp_alloctrait_t traits[]    = {{omp_atk_pinned, omp_atv_true}};
    int devices[]                = {0, omp_initial_device};
    omp_memspace_handle_t *space = omp_get_target_memspace(2, devices, omp_default_mem_space);

    CHECK(space != NULL);
    *allocator = omp_init_allocator(*space, 1, traits);
    CHECK(*allocator != omp_null_allocator);
    return omp_alloc((N + 1) * sizeof(double), *allocator);
}

static void fill(double *x, double value)
{
    int i;

    for (i = 0; i < N; i++) {
        x[i] = value;
    }
}

static void launch(memspan_queue_h queue, memspan_kernel_t kernel, double a, const double *x,
                   double *z)
{
    memspan_kernel_call_t call = {
        .struct_size = sizeof(call), .kernel = kernel, .count = N, .a = a, .x = x, .z = z};

    CHECK(memspan_kernel_launch_on(queue, &call) == MEMSPAN_OK);
}

/* Foreign work: the sum of x (where there are no kernels: of one element) and then a value for x.
 * An emulated device runs kernels in a process of its own, after the calls have returned. */
static void work(omp_interop_t object, double *x, double *sum, double value)
{
    static double values[N];
    memspan_queue_h queue;

    CHECK(memspan_queue_of_interop(object, &queue) == MEMSPAN_OK);
    if (has_kernels) {
        launch(queue, MEMSPAN_KERNEL_SUM, 0, x, sum);
        launch(queue, MEMSPAN_KERNEL_FILL, value, NULL, x);
        return;
    }
    fill(values, value);
    CHECK(memspan_copy_on(queue, sum, &x[N - 1], sizeof(*x)) == MEMSPAN_OK);
    CHECK(memspan_copy_on(queue, x, values, sizeof(values)) == MEMSPAN_OK);
}

static bool is_done(const double *x, const double *sum, double before, double after)
{
    return (x[N - 1] == after) && (sum[0] == (has_kernels ? N * before : before));
}

/* A task writes x; the queue reads and overwrites it; later tasks read both. */
static int run(double *x, double *sum, double i)
{
    omp_interop_t object = omp_interop_none;
    int wrong            = 0;

#pragma omp task depend(out : x[0])
    fill(x, i);
#pragma omp interop init(targetsync : object) device(0) depend(inout : x[0])
    work(object, x, sum, i + 1);
#pragma omp interop use(object) nowait depend(inout : x[0])
#pragma omp task depend(inout : x[0]) shared(wrong)
    {
        wrong += !is_done(x, sum, i, i + 1);
        fill(x, i + 2);
    }
#pragma omp interop use(object) depend(inout : x[0])
    work(object, x, sum, i + 3);
#pragma omp interop destroy(object) nowait depend(inout : x[0])
    CHECK(object == omp_interop_none);
#pragma omp task depend(in : x[0]) shared(wrong)
    wrong += !is_done(x, sum, i + 2, i + 3);
#pragma omp taskwait
    return wrong;
}

/* Without nowait the construct waits for the queue. */
static int run_waiting(double *x, double *sum, double i)
{
    omp_interop_t object = omp_interop_none;
    int wrong            = 0;

    fill(x, i);
#pragma omp interop init(targetsync : object) device(0)
    work(object, x, sum, i + 1);
#pragma omp interop use(object)
    wrong += !is_done(x, sum, i, i + 1);
    work(object, x, sum, i + 2);
#pragma omp interop destroy(object)
    return wrong + !is_done(x, sum, i + 1, i + 2);
}

int main(void)
{
    memspan_device_info_t info = {.struct_size = sizeof(info)};
    omp_allocator_handle_t allocator;
    double *x;
    int wrong = 0;
    int i;

    check_devices(1);
    CHECK(memspan_device_describe(0, &info) == MEMSPAN_OK);
    has_kernels = (info.capabilities & MEMSPAN_CAN_KERNELS) != 0;
    check_object();
    check_devices_of_objects();
    x = pinned(&allocator);
    CHECK(x != NULL);
#pragma omp parallel num_threads(4)
#pragma omp single
    for (i = 0; i < RUNS; i++) {
        wrong += run(x, x + N, i) + run_waiting(x, x + N, i);
    }
    printf("%d wrong values in %d runs on %s:%d\n", wrong, RUNS, info.backend, info.ordinal);
    CHECK(wrong == 0);
    omp_free(x, allocator);
    omp_destroy_allocator(allocator);
    check_end();
    return 0;
}
