/* SPDX-License-Identifier: BSD-3-Clause */
/* wrong_memory CASE: a program that makes one mistake with blocks of the symmetric heap. wrong.sh
 * says what must be answered. */

#include <memspan/omp.h>
#include <shmem.h>
#include <string.h>

static long *heap; /* of 4096 bytes */
static long source[64];

static void sizes_differ(void)
{
    (void)shmem_malloc(4321 * (size_t)(shmem_my_pe() + 1));
}

static void frees_differ(void)
{
    long *other = shmem_malloc(4096);

    shmem_free((shmem_my_pe() == 0) ? heap : other);
}

static void malloc_alone(void)
{
    if (shmem_my_pe() == 0) {
        (void)shmem_malloc(64);
    }
    shmem_barrier_all();
}

static void malloc_at_end(void)
{
    if (shmem_my_pe() == 0) {
        (void)shmem_malloc(64);
    }
}

static void free_at_end(void)
{
    if (shmem_my_pe() == 1) {
        shmem_free(heap);
    }
}

static void past_the_block(void)
{
    shmem_putmem((char *)heap + 4090, source, 8, 1);
}

static void get_past_the_block(void)
{
    shmem_getmem(source, (char *)heap + 4096, 8, 1);
}

static void stride_past_the_block(void)
{
    shmem_long_iput(heap + 1, source, 8, 1, 65, 1);
}

static void atomic_in_freed(void)
{
    shmem_free(heap);
    shmem_long_atomic_inc(heap, 1);
}

/* To the last byte of the block, and of one that is smaller than its place. */
static void whole_blocks(void)
{
    char *small = shmem_malloc(13);

    shmem_putmem((char *)heap + 4000, source, 96, 1);
    shmem_long_iput(heap + 7, source, 8, 1, 64, 1);
    shmem_long_iget(source, heap + 7, 1, 8, 64, 1);
    shmem_putmem(small + 8, source, 5, 1);
    shmem_free(small);
}

static void omp_sizes_differ(void)
{
    (void)omp_alloc(8 * (size_t)(shmem_my_pe() + 1), memspan_omp_symmetric_mem_alloc);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"sizes_differ", sizes_differ},
    {"frees_differ", frees_differ},
    {"malloc_alone", malloc_alone},
    {"malloc_at_end", malloc_at_end},
    {"free_at_end", free_at_end},
    {"past_the_block", past_the_block},
    {"get_past_the_block", get_past_the_block},
    {"stride_past_the_block", stride_past_the_block},
    {"atomic_in_freed", atomic_in_freed},
    {"whole_blocks", whole_blocks},
    {"omp_sizes_differ", omp_sizes_differ},
};

int main(int argc, char **argv)
{
    size_t i;

    shmem_init();
    heap = shmem_malloc(4096);
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if ((argc == 2) && (strcmp(argv[1], cases[i].name) == 0)) {
            cases[i].run();
            shmem_finalize();
            return 0;
        }
    }
    return 2;
}
