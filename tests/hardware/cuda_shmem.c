/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_shmem.c IMAGE [THREADS]: OpenSHMEM called by kernels of a GPU. IMAGE has the kernels of
 * cuda_shmem_kernels.c, as PTX. Each partition that there is: 1, and 5 to 7. The kernels of all PEs
 * exchange data, and find mistakes themselves; then figures of PE 0. The device is 0. Ends with 1
 * when something is not as it should be, 77 without a driver. */

#include "tests/hardware/cuda.h"
#include "tests/shmem/check.h"
#include <memspan/memspan.h>
#include <shmemx.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS = 256, BLOCKS = 264, BYTES = 100000, LARGE_BYTES = 32 << 20, WORDS = 1 << 20 };

static void *module;
static void *stream;
static const struct shmemx_device_view *view;
static uint64_t *results;             /* pinned */
static unsigned exchangers = THREADS; /* of the exchange */

static void load(const char *path)
{
    FILE *file  = fopen(path, "r");
    char *image = calloc(1, 4 << 20);
    int code;

    CHECK((file != NULL) && (image != NULL) && (fread(image, 1, (4 << 20) - 1, file) > 0),
          "%s cannot be read", path);
    fclose(file);
    code = cu.load(&module, image, 0, NULL, NULL);
    CHECK(code == 0, "%s is no image for this device: %d", path, code);
    free(image);
}

static void run(const char *name, unsigned blocks, unsigned threads, void **arguments)
{
    void *kernel = NULL;
    int code     = cu.function(&kernel, module, name);

    CHECK(code == 0, "there is no kernel %s: %d", name, code);
    code = cu.launch(kernel, blocks, 1, 1, threads, 1, 1, 0, stream, arguments, NULL);
    CHECK(code == 0, "%s does not start: %d", name, code);
    code = cu.wait(stream);
    CHECK(code == 0, "%s has failed: %d", name, code);
}

static double now_s(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void *take(int partition, size_t size_bytes)
{
    void *memory = shmemx_partition_malloc(size_bytes, partition);

    CHECK(memory != NULL, "partition %d has no %zu bytes", partition, size_bytes);
    CHECK((memspan_fill(memory, 0, size_bytes) == MEMSPAN_OK) &&
              (memspan_device_synchronize(0) == MEMSPAN_OK),
          "%s", memspan_error_text());
    shmem_barrier_all();
    return memory;
}

static void try_exchange(int partition)
{
    long *words       = take(partition, 2048 * sizeof(long));
    char *bytes       = take(partition, BYTES);
    char *source      = take(partition, BYTES);
    uint64_t *signals = take(partition, 2 * sizeof *signals);
    uint32_t *arrived = take(partition, sizeof *arrived);
    uint64_t *errors  = &results[0];
    size_t size       = BYTES;
    double from       = now_s();

    *errors = 0;
    run("exchange", 1, exchangers,
        (void *[]){&view, &words, &bytes, &source, &signals, &size, &arrived, &errors});
    CHECK(*errors == 0, "partition %d: %d mistakes", partition, (int)*errors);
    if (shmem_my_pe() == 0) {
        printf("partition %d: kernels of %d PEs exchange data: right, %.1f ms\n", partition,
               shmem_n_pes(), 1e3 * (now_s() - from));
    }
    shmem_barrier_all();
}

static void measure_latency(int partition)
{
    long *words    = take(partition, 64 * sizeof *words);
    int pe         = 1 % shmem_n_pes();
    uint32_t count = 2000;
    uint64_t *t    = results;

    if (shmem_my_pe() == 0) {
        run("latency", 1, 1, (void *[]){&view, &words, &pe, &count, &t});
        printf("partition %d, a thread, ns: put %d, get %d, add %d, fetch-add %d, put and quiet "
               "%d\n",
               partition, (int)t[0], (int)t[1], (int)t[2], (int)t[3], (int)t[4]);
    }
    shmem_barrier_all();
}

static void measure_put(int partition)
{
    char *dest   = take(partition, LARGE_BYTES);
    char *source = take(partition, LARGE_BYTES);
    size_t size  = LARGE_BYTES;
    int pe       = 1 % shmem_n_pes();
    double from  = 0;
    double host;
    int i;

    if (shmem_my_pe() == 0) {
        for (i = -2; i < 10; i++) {
            from = (i == 0) ? now_s() : from;
            run("put_all", BLOCKS, THREADS, (void *[]){&view, &dest, &source, &size, &pe});
        }
        from = (now_s() - from) / 10;
        host = now_s();
        for (i = 0; i < 10; i++) {
            shmem_putmem(dest, source, size, pe);
        }
        shmem_quiet();
        host = (now_s() - host) / 10;
        printf("partition %d, a put of 32 MiB, GB/s: by a kernel %.1f, by the host %.1f\n",
               partition, 1e-9 * LARGE_BYTES / from, 1e-9 * LARGE_BYTES / host);
    }
    shmem_barrier_all();
}

static void measure_random(int partition)
{
    uint64_t *words     = take(partition, WORDS * sizeof *words);
    uint64_t word_count = WORDS;
    uint32_t count      = (partition == 5) ? 1000 : 2;
    uint64_t state      = (uint64_t)shmem_my_pe() + 1;
    double from;
    double host;
    int i;

    shmem_barrier_all();
    from = now_s();
    run("random_access", BLOCKS, THREADS, (void *[]){&view, &words, &word_count, &count});
    shmem_barrier_all();
    from = now_s() - from;
    host = now_s();
    for (i = 0; i < 2000; i++) {
        state = (state * UINT64_C(6364136223846793005)) + 1442695040888963407u;
        shmem_uint64_atomic_xor(&words[(state >> 20) & (WORDS - 1)], state,
                                (int)((state >> 50) % (uint64_t)shmem_n_pes()));
    }
    shmem_barrier_all();
    host = now_s() - host;
    if (shmem_my_pe() == 0) {
        printf("partition %d, random atomic updates, million a second, %d PEs: by kernels %.2f, by "
               "the host %.2f\n",
               partition, shmem_n_pes(), 1e-6 * BLOCKS * THREADS * count * shmem_n_pes() / from,
               1e-6 * 2000 * shmem_n_pes() / host);
    }
    shmem_barrier_all();
}

int main(int argc, char **argv)
{
    static const int devices[]    = {0, MEMSPAN_HOST};
    memspan_trait_t pinned        = {MEMSPAN_TRAIT_PINNED, MEMSPAN_VALUE_TRUE};
    memspan_space_h space         = MEMSPAN_SPACE_NULL;
    memspan_allocator_h allocator = MEMSPAN_ALLOCATOR_NULL;
    void *context                 = NULL;
    int partition;

    shmem_init();
    setvbuf(stdout, NULL, _IOLBF, 0);
    if ((argc < 2) || !find_driver() || (memspan_device_count() == 0) ||
        (cu.retain(&context, 0) != 0)) {
        printf("no CUDA device: %s\n", memspan_error_text());
        shmem_finalize();
        return 77;
    }
    CHECK((cu.push(context) == 0) && (cu.stream_create(&stream, 1) == 0), "no stream");
    CHECK((memspan_space_get(devices, 2, MEMSPAN_SPACE_NULL, &space) == MEMSPAN_OK) &&
              (memspan_allocator_create(space, &pinned, 1, &allocator) == MEMSPAN_OK),
          "%s", memspan_error_text());
    results = memspan_calloc(allocator, 8, sizeof *results);
    CHECK(results != NULL, "%s", memspan_error_text());
    load(argv[1]);
    exchangers = (argc > 2) ? (unsigned)atoi(argv[2]) : exchangers;
    CHECK(shmemx_device_open(0, &view) == 0, "%s", memspan_error_text());
    for (partition = 1; partition <= 7; partition++) {
        shmemx_partition_info_t info = {.struct_size = sizeof info};

        if (shmemx_partition_info(partition, &info) == 0) {
            try_exchange(partition);
            measure_latency(partition);
            measure_put(partition);
            measure_random(partition);
        }
    }
    CHECK(shmemx_device_close(view) == 0, "%s", memspan_error_text());
    shmem_finalize();
    return 0;
}
