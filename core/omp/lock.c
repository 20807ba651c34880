/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/omp/lock.h"
#include "core/allocator.h"
#include "core/fork.h"

static pthread_mutex_t maker_lock        = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
pthread_mutex_t msp_omp_partitioner_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t msp_omp_table_lock       = PTHREAD_MUTEX_INITIALIZER;

void msp_omp_lock(void)
{
    msp_fork_prepare();
    pthread_mutex_lock(&maker_lock);
}

void msp_omp_unlock(void)
{
    pthread_mutex_unlock(&maker_lock);
}

void msp_omp_before_fork_outer(void)
{
    pthread_mutex_lock(&maker_lock);
}

void msp_omp_before_fork_inner(void)
{
    pthread_mutex_lock(&msp_omp_partitioner_lock);
    pthread_mutex_lock(&msp_omp_table_lock);
}

void msp_omp_after_fork_inner(void)
{
    pthread_mutex_unlock(&msp_omp_table_lock);
    pthread_mutex_unlock(&msp_omp_partitioner_lock);
}

void msp_omp_after_fork_outer(void)
{
    /* A recursive lock knows its owner by thread number, and the child has another. */
    if (pthread_mutex_unlock(&maker_lock) != 0) {
        maker_lock = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    }
}
