/* SPDX-License-Identifier: BSD-3-Clause */
/* mapped.c: listing 4 of "Extending OpenMP and OpenSHMEM for Efficient Heterogeneous Computing": a
 * put and a reduction between mapped variables, by their addresses on the device. PEs put in a
 * ring. Then one variable alone, by name. In the end the partition holds what it held before. */

#define SHMEMX_PARTITION_NAMES
#include "tests/shmem/check.h"
#include <memspan/omp.h>
#include <shmemx.h>
#include <stdlib.h>
#include <string.h>

enum { PARTITION = 5, M = 50000, N = 3000 };

static long psync[SHMEM_REDUCE_SYNC_SIZE];
static float pwork[N / 2 + 1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE];

static size_t used_bytes(void)
{
    shmemx_partition_info_t info = {.struct_size = sizeof(info)};

    CHECK(shmemx_partition_info(PARTITION, &info) == 0, "%s", memspan_error_text());
    return info.used_bytes;
}

/* Bytes that have left for other hosts. */
static uint64_t sent_bytes(void)
{
    shmemx_network_info_t info = {.struct_size = sizeof(info)};

    CHECK(shmemx_network_info(&info) == 0, "%s", memspan_error_text());
    return (info.driver[0] == '\0') ? UINT64_MAX : info.put_bytes + info.message_bytes;
}

static void put_to_next(float *x)
{
    uint64_t before = sent_bytes();
    int to          = (shmem_my_pe() + 1) % shmem_n_pes();
    int from        = (shmem_my_pe() + shmem_n_pes() - 1) % shmem_n_pes();

#pragma omp target data use_device_ptr(x)
    {
        CHECK(shmemx_partition_of(x) == PARTITION, "%d", shmemx_partition_of(x));
        shmem_float_put(x, x + M, M, to);
    }
    shmem_barrier_all();
    CHECK(check_is_near(to) || (before == UINT64_MAX) || (sent_bytes() - before >= M * sizeof(*x)),
          "%zu bytes", (size_t)(sent_bytes() - before));
#pragma omp target teams distribute parallel for
    for (int i = 0; i < M; i++) {
        x[i] += 1;
    }
#pragma omp target update from(x [0:M])
    for (int i = 0; i < M; i++) {
        CHECK(x[i] == (float)(from * M + i + 1), "%d: %g", i, x[i]);
    }
}

static void reduce(float *u, float *v)
{
    int me = shmem_my_pe();

#pragma omp target teams distribute parallel for
    for (int i = 0; i < N; i++) {
        v[i] = (float)(me + i);
    }
    shmem_barrier_all();
#pragma omp target data use_device_ptr(u, v)
    shmem_float_sum_to_all(u, v, N, 0, 0, shmem_n_pes(), pwork, psync);
#pragma omp target teams distribute parallel for
    for (int i = 0; i < N; i++) {
        u[i] *= 2;
    }
}

static void listing(void)
{
    int count = shmem_n_pes();
    float *x  = malloc(2 * M * sizeof(*x));
    float *u  = calloc(N, sizeof(*u));
    float *v  = calloc(N, sizeof(*v));

    for (int i = 0; i < M; i++) {
        x[i]     = -1;
        x[M + i] = (float)(shmem_my_pe() * M + i);
    }
#pragma omp target data map(tofrom : x [0:2 * M]) map(from : u [0:N], v [0:N])
    {
        shmem_barrier_all(); /* mapping does not synchronise, and copies */
        put_to_next(x);
        reduce(u, v);
        shmem_barrier_all();
    }
    for (int i = 0; i < N; i++) {
        CHECK(v[i] == (float)(shmem_my_pe() + i), "%d: %g", i, v[i]);
        CHECK(u[i] == (float)(count * (count - 1) + 2 * count * i), "%d: %g", i, u[i]);
    }
    free(x);
    free(u);
    free(v);
}

static void by_name(void)
{
    static long ours[4];
    static long theirs[4];

    CHECK(memspan_map_symmetric(ours, sizeof(ours)) == MEMSPAN_OK, "%s", memspan_error_text());
#pragma omp target data map(tofrom : ours, theirs)
    {
#pragma omp target data use_device_addr(theirs)
        CHECK(shmemx_partition_of(theirs) == SHMEMX_PARTITION_NONE, "%d",
              shmemx_partition_of(theirs));
        shmem_barrier_all();
#pragma omp target data use_device_addr(ours)
        shmem_long_atomic_add(ours, shmem_my_pe() + 1, 0);
        shmem_barrier_all();
    }
    CHECK(ours[0] == ((shmem_my_pe() == 0) ? shmem_n_pes() * (shmem_n_pes() + 1) / 2 : 0), "%ld",
          ours[0]);
}

/* Not unmapped when OpenSHMEM ends, which takes its memory: later maps have the runtime's. */
static long left[4] = {1, 2, 3, 4};

static int is_mapped_anew(void)
{
    int was_present = omp_target_is_present(left, 0);

#pragma omp target map(tofrom : left)
    left[3] += 1;
    return !was_present && (left[3] == 5);
}

static void *own_alloc(size_t size, int id)
{
    return shmemx_partition_malloc_nosync(size, id);
}

/* With an argument the environment has named the partition, and the program asks for nothing. */
int main(int argc, char **argv)
{
    size_t before;

    (void)argv;
    shmem_init();
    if (omp_get_num_devices() == 0) {
        shmem_finalize();
        return 77;
    }
    for (size_t i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++) {
        psync[i] = SHMEM_SYNC_VALUE;
    }
    before = used_bytes();
    if (argc == 1) {
        CHECK(__tgt_set_shmem_allocator(own_alloc, NULL, 0) == -1, "no function to free");
        CHECK(__tgt_set_shmem_allocator(own_alloc, shmem_partition_free, 999) == -1, "device 999");
        CHECK(__tgt_set_shmem_allocator(own_alloc, shmem_free, 0) == 0, "%s", memspan_error_text());
        listing();
#pragma omp target enter data map(to : left)
        CHECK(__tgt_set_shmem_allocator(NULL, NULL, 0) == -1, "whose blocks are mapped");
        CHECK(__tgt_set_shmem_allocator(own_alloc, shmem_free, 0) == 0, "%s", memspan_error_text());
#pragma omp target exit data map(release : left)
        CHECK(__tgt_set_shmem_allocator(shmem_partition_malloc, shmem_partition_free, 0) == 0, "%s",
              memspan_error_text());
    }
    listing();
    by_name();
    shmem_barrier_all();
    CHECK(used_bytes() == before, "%zu bytes, before it %zu", used_bytes(), before);
    CHECK(memspan_map_symmetric(left, sizeof(left)) == MEMSPAN_OK, "%s", memspan_error_text());
#pragma omp target enter data map(to : left)
    CHECK(used_bytes() > before, "%zu bytes", used_bytes());
    shmem_finalize();
    return is_mapped_anew() ? 0 : 1;
}
