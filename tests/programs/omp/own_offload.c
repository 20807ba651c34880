/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that brings the offload library which LLVM's host runtime asks for memory spaces: two
 * devices, one resource each. Its spaces are the program's, also where a library could make some.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int __tgt_get_num_devices(void);
int __tgt_get_mem_resources(int count, const int *devices, int host, omp_memspace_handle_t space,
                            int *resources);
void *__tgt_omp_alloc(size_t size, omp_allocator_handle_t allocator);
void __tgt_omp_free(void *pointer, omp_allocator_handle_t allocator);

static int live;

int __tgt_get_num_devices(void)
{
    return 2;
}

int __tgt_get_mem_resources(int count, const int *devices, int host, omp_memspace_handle_t space,
                            int *resources)
{
    int i;

    (void)host;
    (void)space;
    for (i = 0; (resources != NULL) && (i < count); i++) {
        resources[i] = devices[i];
    }
    return count;
}

void *__tgt_omp_alloc(size_t size, omp_allocator_handle_t allocator)
{
    (void)allocator;
    live++;
    return malloc(size);
}

void __tgt_omp_free(void *pointer, omp_allocator_handle_t allocator)
{
    (void)allocator;
    live--;
    free(pointer);
}

static int works(omp_allocator_handle_t allocator)
{
    void *p;

    if (allocator == omp_null_allocator) {
        return 0;
    }
    p = omp_alloc(1000, allocator);
    if ((p == NULL) || (live != 1)) {
        return 0;
    }
    omp_free(p, allocator);
    omp_destroy_allocator(allocator);
    return live == 0;
}

int main(void)
{
    int devices[]               = {0, 1};
    omp_memspace_handle_t one   = omp_get_device_memspace(1, omp_default_mem_space);
    omp_memspace_handle_t both  = omp_get_devices_memspace(2, devices, omp_default_mem_space);
    omp_allocator_handle_t some = omp_get_devices_allocator(1, devices, omp_default_mem_space);

    if ((omp_get_num_devices() != 2) || (one == omp_null_mem_space) ||
        (both == omp_null_mem_space) || (omp_get_memspace_num_resources(both) != 2) ||
        (omp_get_submemspace(both, 1, devices) == omp_null_mem_space)) {
        printf("not the program's spaces\n");
        return 1;
    }
    if (!works(omp_init_allocator(one, 0, NULL)) || !works(some) ||
        !works(omp_get_device_and_host_allocator(0, omp_default_mem_space)) ||
        !works(omp_get_devices_all_allocator(omp_default_mem_space))) {
        printf("not the program's memory\n");
        return 1;
    }
    return 0;
}
