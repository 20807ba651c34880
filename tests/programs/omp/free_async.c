/* SPDX-License-Identifier: BSD-3-Clause */
/* memspan_omp_free_async(): the memory is live until the task that uses it has ended, also where
 * the depend object is destroyed before, and is free after that. */
#include <memspan/memspan.h>
#include <memspan/omp.h>
#include <stdio.h>
#include <unistd.h>

enum { BYTES = 1 << 20, WAIT_US = 50000 };

static int is_live(const void *pointer)
{
    memspan_pointer_info_t info = {.struct_size = sizeof(info)};

    return memspan_pointer_describe(pointer, &info) == MEMSPAN_OK;
}

static int free_after_use(void)
{
    char *block     = omp_alloc(BYTES, omp_default_mem_alloc);
    int used        = 0;
    int live_in_use = 0;
    omp_depend_t use_ends;

#pragma omp task shared(used, live_in_use) firstprivate(block) depend(out : used)
    {
        usleep(WAIT_US); /* the free is made meanwhile */
        live_in_use = is_live(block);
        block[0]    = 1;
        used        = 1;
    }
#pragma omp depobj(use_ends) depend(inout : used)
    memspan_omp_free_async(block, &use_ends);
#pragma omp depobj(use_ends) destroy
#pragma omp taskwait
    if (!live_in_use) {
        printf("wrong: the block is free while a task uses it\n");
    }
    if (is_live(block)) {
        printf("wrong: the block is live after its free\n");
    }
    return (live_in_use && !is_live(block)) ? 0 : 1;
}

int main(void)
{
    int failures = 0;

#pragma omp parallel num_threads(4)
#pragma omp single
    failures = free_after_use();
    return failures;
}
