/* SPDX-License-Identifier: BSD-3-Clause */
/* fork() finds the OpenMP room's locks free, whatever other threads hold. */

#include "core/allocator.h"
#include "core/omp/abi.h"
#include "core/omp/openmp.h"
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

static struct msp_omp_table table = MSP_OMP_TABLE_INIT;
static atomic_bool stop;

static void *keep_locking(void *unused)
{
    uintptr_t value;

    while (!stop) {
        msp_omp_lock();
        msp_omp_lock();
        msp_omp_table_put(&table, 4096, 1);
        msp_omp_table_take(&table, 4096, &value);
        msp_omp_unlock();
        msp_omp_unlock();
        omp_destroy_allocator(omp_init_allocator(0, 0, NULL));
    }
    return unused;
}

static void use_everything(void)
{
    msp_omp_partitioner_t partitioner = 0;
    msp_omp_allocator_t a             = omp_init_allocator(0, 0, NULL);

    msp_omp_lock();
    msp_omp_table_put(&table, 8192, 1);
    msp_omp_unlock();
    omp_destroy_mempartitioner(&partitioner);
    omp_free(omp_alloc(100, a), a);
    omp_destroy_allocator(a);
}

Test(omp_lock, a_child_can_go_on, .timeout = 60)
{
    pthread_t thread;
    int i;

    use_everything();
    pthread_create(&thread, NULL, keep_locking, NULL);
    for (i = 0; i < 50; i++) {
        int status  = -1;
        pid_t child = fork();

        cr_assert_geq(child, 0);
        if (child == 0) {
            alarm(10); /* a lock that no thread holds ends in a signal, not a hang */
            use_everything();
            _exit(0);
        }
        waitpid(child, &status, 0);
        cr_assert_eq(status, 0, "child %d ended with %#x", i, (unsigned)status);
    }
    stop = true;
    pthread_join(thread, NULL);
}
