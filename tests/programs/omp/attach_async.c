/* SPDX-License-Identifier: BSD-3-Clause */
/* memspan_omp_attach_async(): managed memory becomes a queue's in the order of tasks. The host has
 * it after those tasks, while work of another queue goes on; an emulated device stops a program
 * that has it earlier. */
#include <memspan/memspan.h>
#include <memspan/omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { COUNT = 100000, WAIT_US = 50000 };

#define NEED(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("%s: %s\n", #condition, memspan_error_text());                                  \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static memspan_queue_h own;
static memspan_queue_h other;

static double *take(void)
{
    const int devices[]            = {0, MEMSPAN_HOST};
    const memspan_trait_t traits[] = {{MEMSPAN_TRAIT_MEMORY_ACCESS, MEMSPAN_VALUE_MANAGED}};
    memspan_allocator_h allocator;
    memspan_space_h space;

    NEED(memspan_space_get(devices, 2, MEMSPAN_SPACE_DEFAULT, &space) == MEMSPAN_OK);
    NEED(memspan_allocator_create(space, traits, 1, &allocator) == MEMSPAN_OK);
    return memspan_alloc(allocator, COUNT * sizeof(double));
}

static void fill(memspan_queue_h queue, double *x, double value)
{
    memspan_kernel_call_t call = {.struct_size = sizeof(call),
                                  .kernel      = MEMSPAN_KERNEL_FILL,
                                  .count       = COUNT,
                                  .a           = value,
                                  .z           = x};

    NEED(memspan_kernel_launch_on(queue, &call) == MEMSPAN_OK);
}

static void run(double *x, double *y, omp_interop_t object)
{
    omp_depend_t work;

#pragma omp task depend(out : x[0])
    x[0] = 1; /* the host's until it is attached */
#pragma omp depobj(work) depend(inout : x[0])
    memspan_omp_attach_async(x, object, &work);
#pragma omp depobj(work) destroy
    NEED(memspan_omp_attach(y, omp_interop_none) == MEMSPAN_OK);
#pragma omp taskwait
    fill(other, y, 3); /* would close x, were it not attached */
#pragma omp task depend(inout : x[0])
    {
        fill(own, x, 2);
        NEED(memspan_queue_synchronize(own) == MEMSPAN_OK);
    }
#pragma omp taskwait depend(in : x[0])
    NEED(x[COUNT - 1] == 2); /* the other queue was not waited for */
    NEED(memspan_queue_synchronize(other) == MEMSPAN_OK);
    NEED(y[COUNT - 1] == 3);
#pragma omp task depend(inout : x[0])
    {
        fill(own, x, 5);
        usleep(WAIT_US); /* the detachment is made meanwhile */
        NEED(memspan_queue_synchronize(own) == MEMSPAN_OK);
    }
#pragma omp depobj(work) depend(inout : x[0])
    memspan_omp_attach_async(x, omp_interop_none, &work);
#pragma omp depobj(work) destroy
#pragma omp taskwait
    fill(other, x, 4);
    NEED(memspan_queue_synchronize(other) == MEMSPAN_OK);
    NEED(x[COUNT - 1] == 4);
}

int main(void)
{
    omp_interop_t object;
    double *x;
    double *y;

    setenv("MEMSPAN_DEVICES", "emu:1", 1);
    NEED(memspan_queue_open(0, MEMSPAN_QUEUE_OWN, NULL, 0, &own) == MEMSPAN_OK);
    NEED(memspan_queue_open(0, MEMSPAN_QUEUE_OWN, NULL, 0, &other) == MEMSPAN_OK);
    NEED(memspan_interop_of_queue(own, &object) == MEMSPAN_OK);
    x = take();
    y = take();
    NEED((x != NULL) && (y != NULL));
#pragma omp parallel num_threads(4)
#pragma omp single
    run(x, y, object);
    NEED(memspan_omp_attach(x + 1, object) == MEMSPAN_ERR_NOT_FOUND);
    NEED(memspan_free(x) == MEMSPAN_OK);
    NEED(memspan_free(y) == MEMSPAN_OK);
    NEED(memspan_queue_close(own) == MEMSPAN_OK);
    NEED(memspan_queue_close(other) == MEMSPAN_OK);
    return 0;
}
