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

static const struct mode {
    const char *name;
    void (*run)(void);
    bool right;
} modes[] = {
    {"read_device", read_device, false},    {"read_target_alloc", read_target_alloc, false},
    {"read_managed", read_managed, false},  {"read_llvm_alloc", read_llvm_alloc, false},
    {"shared_memory", shared_memory, true}, {"device_memory", device_memory, true},
    {"take_turns", take_turns, true},       {"mapped_data", mapped_data, true},
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
