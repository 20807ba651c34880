/* SPDX-License-Identifier: BSD-3-Clause */
/* offload.c MODE: a program with target regions, built by Clang for the processor's own offload
 * devices, where emulated devices stand in for them (MEMSPAN_DEVICES=emu:1). Its memory is checked
 * around the regions: wrong modes are stopped before they print "went on". */

#include <memspan/memspan.h>
#include <memspan/omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 5000 };

static void need(bool condition, const char *what)
{
    if (!condition) {
        printf("%s: %s\n", what, memspan_error_text());
        exit(1);
    }
}

static omp_allocator_handle_t make_allocator(bool shared, omp_uintptr_t access)
{
    int devices[]             = {0, omp_get_initial_device()};
    omp_alloctrait_t traits[] = {{omp_atk_memory_access, access},
                                 {omp_atk_fallback, omp_atv_null_fb}};
    omp_memspace_handle_t *space =
        omp_get_target_memspace(shared ? 2 : 1, devices, omp_default_mem_space);
    omp_allocator_handle_t allocator = omp_null_allocator;

    need(space != NULL, "space");
    allocator = omp_init_allocator(*space, shared ? 2 : 0, traits);
    need(allocator != omp_null_allocator, "allocator");
    return allocator;
}

static double *take(bool shared)
{
    double *block = omp_alloc(N * sizeof(double), make_allocator(shared, omp_atv_managed));
    memspan_pointer_info_t info = {.struct_size = sizeof(info)};

    need(block != NULL, "memory");
    need(memspan_pointer_describe(block, &info) == MEMSPAN_OK, "pointer");
    need(info.home == 0, "it is memory of device 0");
    need(info.kind_given == (shared ? MEMSPAN_KIND_MANAGED : MEMSPAN_KIND_DEVICE), "its kind");
    return block;
}

static void store_on_device(double *z, double value)
{
#pragma omp target teams distribute parallel for is_device_ptr(z)
    for (int i = 0; i < N; i++) {
        z[i] = value + i;
    }
}

static __attribute__((noinline)) double read_it(const volatile double *from)
{
    return from[3];
}

/* ---- wrong ---- */

static void read_device(void)
{
    double *z = take(false);

    store_on_device(z, 1.0);
    printf("%g\n", read_it(z));
}

static void read_target_alloc(void)
{
    double *z = omp_target_alloc(N * sizeof(double), 0);

    need(z != NULL, "omp_target_alloc");
    store_on_device(z, 1.0);
    printf("%g\n", read_it(z));
}

/* LLVM's own names. */
static void read_llvm_alloc(void)
{
    double *z = llvm_omp_target_alloc_device(N * sizeof(double), 0);

    need(z != NULL, "llvm_omp_target_alloc_device");
    store_on_device(z, 1.0);
    printf("%g\n", read_it(z));
}

static void read_managed(void)
{
    double *z                  = take(true);
    memspan_kernel_call_t call = {
        .struct_size = sizeof(call), .kernel = MEMSPAN_KERNEL_FILL, .count = N, .a = 2.0, .z = z};

    store_on_device(z, 1.0);
    need(read_it(z) == 4.0, "a region that has ended is waited for");
    need(memspan_kernel_launch(0, &call) == MEMSPAN_OK, "launch");
    printf("%g\n", read_it(z)); /* no memspan_device_synchronize() */
}

static void no_taskwait(void)
{
    double *z = take(true);

#pragma omp target nowait is_device_ptr(z)
    for (int i = 0; i < N; i++) {
        z[i] = i;
    }
    usleep(50000); /* the region has long ended: that is not what counts */
    printf("%g\n", read_it(z));
}

/* A depend makes an order among tasks; the host has not waited for any. */
static void no_taskwait_after_depend(void)
{
    double *z = take(true);

    for (int turn = 0; turn < 2; turn++) {
#pragma omp target nowait is_device_ptr(z) depend(inout : z[0])
        for (int i = 0; i < N; i++) {
            z[i] = i;
        }
    }
    printf("%g\n", read_it(z));
}

/* ---- right ---- */

static void device_memory(void)
{
    double host[N];
    double *x = take(false);
    double *y = omp_target_alloc(sizeof(host), 0);

    need(y != NULL, "omp_target_alloc");
    for (int turn = 0; turn < 5; turn++) {
        store_on_device(x, turn);
        need(omp_target_memcpy(y, x, sizeof(host), 0, 0, 0, 0) == 0, "device to device");
        need(omp_target_memcpy(host, y, sizeof(host), 0, 0, omp_get_initial_device(), 0) == 0,
             "device to host");
        need((host[0] == turn) && (host[N - 1] == turn + N - 1), "values");
        host[7] = -1.0;
        need(omp_target_memcpy(x, host, sizeof(host), 0, 0, 0, omp_get_initial_device()) == 0,
             "host to device");
        need(memspan_copy(host, x, sizeof(host)) == MEMSPAN_OK, "copy");
        need(host[7] == -1.0, "values");
    }
    omp_target_free(y, 0);
    omp_free(x, omp_null_allocator);
}

static void shared_memory(void)
{
    double *z = llvm_omp_target_alloc_shared(N * sizeof(double), 0);
    double *h = llvm_omp_target_alloc_host(N * sizeof(double), 0);

    need((z != NULL) && (h != NULL), "llvm_omp_target_alloc_shared and _host");
    for (int turn = 0; turn < 5; turn++) {
        store_on_device(z, turn);
        store_on_device(h, turn + 1);
        need((z[N - 1] == turn + N - 1) && (h[0] == turn + 1), "values");
        z[0] = h[0] = -1.0;
    }
    llvm_omp_target_free_shared(z, 0);
    llvm_omp_target_free_host(h, 0);
}

static void take_turns(void)
{
    double *z = take(true);

    for (int turn = 0; turn < 20; turn++) {
        z[0] = turn;
#pragma omp target is_device_ptr(z)
        for (int i = 1; i < N; i++) {
            z[i] = z[i - 1] + 1.0;
        }
        need(z[N - 1] == turn + N - 1, "values");
    }
    omp_free(z, omp_null_allocator);
}

/* What has nothing to do with us: mapped data, and regions that are not waited for at once. */
static void mapped_data(void)
{
    double *a  = malloc(N * sizeof(double));
    double *z  = take(true);
    double sum = 0;

    need(a != NULL, "memory");
    for (int i = 0; i < N; i++) {
        a[i] = z[i] = i;
    }
#pragma omp target data map(to : a [0:N]) map(tofrom : z [0:N])
    {
#pragma omp target teams distribute parallel for reduction(+ : sum) map(tofrom : sum)
        for (int i = 0; i < N; i++) {
            sum += a[i] + z[i];
        }
#pragma omp target update from(z [0:N])
    }
    need(sum == N * (N - 1.0), "sum of mapped data");
    sum = 0;
#pragma omp target nowait is_device_ptr(z) map(tofrom : sum) depend(out : sum)
    for (int i = 0; i < N; i++) {
        sum += z[i];
    }
#pragma omp taskwait
    need(sum == N * (N - 1.0) / 2.0, "sum of a region that was waited for");
    omp_free(z, omp_null_allocator);
    free(a);
}

#define SET_ALL_TO(value)                                                                          \
    for (int i = 0; i < N; i++) {                                                                  \
        z[i] = (value);                                                                            \
    }

/* A loop of the whole team, which is one thread here: its end is a barrier. */
static void sum_waits(double *z)
{
    static double sum;

    sum = 0;
#pragma omp target nowait is_device_ptr(z)
    SET_ALL_TO(6)
#pragma omp for reduction(+ : sum)
    for (int i = 0; i < 10; i++) {
        sum += i;
    }
    need((sum == 45) && (read_it(z) == 6), "the end of a loop");
}

/* Every way to wait, and what need not be waited for. */
static void nowait_waited_for(void)
{
    double *z    = take(true);
    double *rest = take(true);

    rest[3] = 0;
#pragma omp target nowait is_device_ptr(z)
    SET_ALL_TO(1)
    rest[3] += 1; /* no region has it */
#pragma omp taskwait
    need(read_it(z) == 1, "taskwait");
#pragma omp taskgroup
    {
#pragma omp target nowait is_device_ptr(z)
        SET_ALL_TO(2)} need(read_it(z) == 2, "the end of a taskgroup");
#pragma omp target nowait is_device_ptr(z) depend(out : z[0])
    SET_ALL_TO(3)
#pragma omp taskwait depend(in : z[0])
    need(read_it(z) == 3, "taskwait with depend");
#pragma omp target nowait is_device_ptr(z) depend(out : z[0])
    SET_ALL_TO(4)
#pragma omp task depend(inout : z[0])
    z[3] += rest[3];
#pragma omp target nowait is_device_ptr(z) depend(inout : z[0])
    z[3] += 10;
#pragma omp target is_device_ptr(z) depend(inout : z[0])
    z[3] += 100;
    need(read_it(z) == 115, "tasks that depend on each other");
#pragma omp target nowait is_device_ptr(z)
    SET_ALL_TO(5)
#pragma omp barrier
    need(read_it(z) == 5, "barrier");
    sum_waits(z);
    omp_free(rest, omp_null_allocator);
    omp_free(z, omp_null_allocator);
}

/* The end of a parallel region waits for what was begun in it. */
static void nowait_in_parallel(void)
{
    double *z = take(true);

    for (int turn = 0; turn < 5; turn++) {
#pragma omp parallel num_threads(2)
        if (omp_get_thread_num() == 0) {
#pragma omp target nowait is_device_ptr(z)
            SET_ALL_TO(turn)
        }
        need(read_it(z) == turn, "the end of a parallel region");
#pragma omp parallel num_threads(2)
        {
#pragma omp single
#pragma omp target nowait is_device_ptr(z)
            SET_ALL_TO(turn + 1)
            need(read_it(z) == turn + 1, "the end of single");
        }
    }
    omp_free(z, omp_null_allocator);
}

/* A region may wait for what the host does after it. */
static void region_waits(void)
{
    int *word = omp_alloc(sizeof(*word), make_allocator(true, omp_atv_coherent));

    need(word != NULL, "memory");
    *word = 0;
#pragma omp target nowait is_device_ptr(word)
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != 1) {
    }
    __atomic_store_n(word, 1, __ATOMIC_RELEASE);
#pragma omp taskwait
    omp_free(word, omp_null_allocator);
}

/* Two halves in turn: one is the device's while the host fills the other. */
static void two_buffers(void)
{
    double *half[2] = {take(true), take(true)};

    for (int turn = 0; turn < 10; turn++) {
        double *z = half[turn % 2];
        z[3]      = turn;
#pragma omp taskwait
        need((turn == 0) || (half[(turn + 1) % 2][3] == turn), "what the device did");
#pragma omp target nowait is_device_ptr(z)
        z[3] += 1;
    }
#pragma omp taskwait
    omp_free(half[0], omp_null_allocator);
    omp_free(half[1], omp_null_allocator);
}

static const struct mode {
    const char *name;
    void (*run)(void);
    bool right;
} modes[] = {
    {"read_device", read_device, false},
    {"read_target_alloc", read_target_alloc, false},
    {"read_managed", read_managed, false},
    {"read_llvm_alloc", read_llvm_alloc, false},
    {"no_taskwait", no_taskwait, false},
    {"no_taskwait_after_depend", no_taskwait_after_depend, false},
    {"nowait_waited_for", nowait_waited_for, true},
    {"nowait_in_parallel", nowait_in_parallel, true},
    {"two_buffers", two_buffers, true},
    {"region_waits", region_waits, true},
    {"shared_memory", shared_memory, true},
    {"device_memory", device_memory, true},
    {"take_turns", take_turns, true},
    {"mapped_data", mapped_data, true},
};

int main(int argc, char **argv)
{
    const char *name = (argc > 1) ? argv[1] : "";

    setvbuf(stdout, NULL, _IONBF, 0);
    need(omp_get_num_devices() > 0, "offload devices");
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        if (strcmp(modes[i].name, name) == 0) {
            modes[i].run();
            puts(modes[i].right ? "right" : "went on");
            return modes[i].right ? 0 : 1;
        }
    }
    fprintf(stderr, "no mode \"%s\"\n", name);
    return 2;
}
