/* SPDX-License-Identifier: BSD-3-Clause */
/* First calls of a process, each in a child of its own, on a thread with the least stack that the
 * system gives: 16 KiB on x86-64, 128 KiB on aarch64. */
#define _GNU_SOURCE
#include <memspan/omp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static omp_alloctrait_t interleaved[] = {{omp_atk_partition, omp_atv_interleaved}};
static omp_alloctrait_t pinned[]      = {{omp_atk_pinned, omp_atv_true}};
static omp_alloctrait_t limited[]     = {{omp_atk_pool_size, 1024}};

static void *with(omp_memspace_handle_t space, const omp_alloctrait_t *traits, size_t size)
{
    omp_allocator_handle_t allocator = omp_init_allocator(space, 1, (omp_alloctrait_t *)traits);

    return omp_alloc(size, allocator);
}

static void *call(int which)
{
    static int host = omp_initial_device;
    void *p         = NULL;

    switch (which) {
    case 0:
        return omp_alloc(100, omp_null_allocator);
    case 1:
        return omp_alloc(100, omp_default_mem_alloc);
    case 2:
        return omp_alloc(100, omp_large_cap_mem_alloc);
    case 3:
        return omp_alloc(100, omp_const_mem_alloc);
    case 4:
        return omp_alloc(100, omp_high_bw_mem_alloc);
    case 5:
        return omp_alloc(100, omp_low_lat_mem_alloc);
    case 6:
        return omp_alloc(100, omp_pteam_mem_alloc);
    case 7:
        return omp_alloc(8 << 20, omp_high_bw_mem_alloc);
    case 8:
        return omp_aligned_alloc(4096, 100, omp_default_mem_alloc);
    case 9:
        return omp_calloc(10, 10, omp_default_mem_alloc);
    case 10:
        return with(omp_default_mem_space, interleaved, 100);
    case 11:
        return with(omp_default_mem_space, pinned, 100);
    case 12:
        return with(omp_high_bw_mem_space, limited, 100000);
    case 13:
        p = omp_realloc(omp_alloc(10, omp_default_mem_alloc), 100000, omp_high_bw_mem_alloc,
                        omp_default_mem_alloc);
        omp_free(p, omp_null_allocator);
        return p;
    case 14:
        omp_set_default_allocator(omp_high_bw_mem_alloc);
        return omp_alloc(100, omp_null_allocator);
    case 15:
        return omp_target_alloc(100, omp_initial_device);
    case 16:
        return (omp_get_num_devices() >= 0) ? &host : NULL;
    case 17:
        return (omp_get_target_memspace(1, &host, omp_default_mem_space) != NULL) ? &host : NULL;
    case 18: /* refused, and told */
        return (omp_alloc(100, (omp_allocator_handle_t)777) == NULL) ? &host : NULL;
    case 19:
        return (omp_target_memcpy(&p, &host, 4, 0, 0, omp_initial_device, omp_initial_device) == 0)
                   ? &host
                   : NULL;
    case 20:
        return (omp_get_uid_from_device(omp_initial_device) != NULL) ? &host : NULL;
    default:
        return NULL;
    }
}

enum { CALLS = 21 };

static void *run(void *which)
{
    if (call((int)(intptr_t)which) == NULL) {
        printf("call %d gives nothing\n", (int)(intptr_t)which);
        fflush(stdout);
        _exit(1);
    }
    return NULL;
}

/* A stack of our own: the library's smallest has room for thread-local storage added. */
static int run_on_small_stack(int which)
{
    size_t guard = 64 << 10;
    size_t bytes = (size_t)sysconf(_SC_THREAD_STACK_MIN);
    char *memory = mmap(NULL, guard + bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_t attributes;
    pthread_t thread;

    if ((memory == MAP_FAILED) || (mprotect(memory + guard, bytes, PROT_READ | PROT_WRITE) != 0) ||
        (pthread_attr_init(&attributes) != 0) ||
        (pthread_attr_setstack(&attributes, memory + guard, bytes) != 0) ||
        (pthread_create(&thread, &attributes, run, (void *)(intptr_t)which) != 0)) {
        return 2;
    }
    pthread_join(thread, NULL);
    return 0;
}

/* With a number: that call alone, in this process, for a debugger. */
int main(int argc, char **argv)
{
    int failures = 0;
    int i;

    if (argc > 1) {
        return run_on_small_stack(atoi(argv[1]));
    }
    for (i = 0; i < CALLS; i++) {
        pid_t child = fork();
        int status  = 0;

        if (child == 0) {
            _exit(run_on_small_stack(i));
        }
        if ((child < 0) || (waitpid(child, &status, 0) != child) || (status != 0)) {
            printf("call %d on a small stack: status %#x\n", i, (unsigned)status);
            failures++;
        }
    }
    return (failures == 0) ? 0 : 1;
}
