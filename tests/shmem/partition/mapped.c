/* SPDX-License-Identifier: BSD-3-Clause */
/* mapped.c: a runtime that takes an allocator for mapped variables, here a function of the
 * program's own, is given one over the partition that the environment names. It may call that
 * allocator after OpenSHMEM has ended too. */

#include "tests/shmem/check.h"
#include <shmemx.h>

static void *(*alloc)(size_t size);
static void (*release)(void *pointer);
static int64_t device = -1;
static int was_reset;

int __tgt_set_device_allocator(int64_t number, void *alloc_fn, void *free_fn);
int __tgt_reset_device_allocator(int64_t number);

__attribute__((visibility("default"))) int __tgt_set_device_allocator(int64_t number,
                                                                      void *alloc_fn, void *free_fn)
{
    device             = number;
    *(void **)&alloc   = alloc_fn;
    *(void **)&release = free_fn;
    return 0;
}

__attribute__((visibility("default"))) int __tgt_reset_device_allocator(int64_t number)
{
    was_reset = (number == device);
    return 0;
}

int main(void)
{
    long *memory;
    void *left;

    shmem_init();
    CHECK((alloc != NULL) && (release != NULL) && (device == 0), "nothing was registered");
    memory = alloc(sizeof *memory);
    CHECK(shmemx_partition_of(memory) == 3, "%d", shmemx_partition_of(memory));
    *memory = -1;
    shmem_barrier_all();
    shmem_long_p(memory, shmem_my_pe(), (shmem_my_pe() + 1) % shmem_n_pes());
    shmem_barrier_all();
    CHECK(*memory == (shmem_my_pe() + shmem_n_pes() - 1) % shmem_n_pes(), "%ld", *memory);
    release(memory);
    left = alloc(sizeof *memory);
    shmem_finalize();
    release(left);
    return (was_reset && (left != NULL) && (alloc(sizeof *memory) == NULL)) ? 0 : 1;
}
