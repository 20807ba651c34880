/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/base/fork.h"
#include "core/omp/openmp.h"

static msp_lock_t maker_lock = MSP_LOCK_INIT_RECURSIVE(MSP_RANK_OMP_MAKER);
static int maker_depth; /* under maker_lock */
msp_lock_t msp_omp_partitioner_lock = MSP_LOCK_INIT(MSP_RANK_OMP_PARTITIONERS);
msp_lock_t msp_omp_table_lock       = MSP_LOCK_INIT(MSP_RANK_OMP_TABLES);

MSP_FORK_LOCK(msp_omp_partitioner_lock, MSP_RANK_OMP_PARTITIONERS);
MSP_FORK_LOCK(msp_omp_table_lock, MSP_RANK_OMP_TABLES);

void msp_omp_lock(void)
{
    msp_fork_prepare();
    pthread_mutex_lock(&maker_lock.mutex);
    if (maker_depth++ == 0) {
        msp_rank_check(MSP_RANK_OMP_MAKER);
        msp_rank_enter(MSP_RANK_OMP_MAKER);
    }
}

void msp_omp_unlock(void)
{
    if (--maker_depth == 0) {
        msp_rank_leave(MSP_RANK_OMP_MAKER);
    }
    pthread_mutex_unlock(&maker_lock.mutex);
}

static void take_maker(void)
{
    pthread_mutex_lock(&maker_lock.mutex);
}

static void release_maker(void)
{
    /* A recursive lock has its owner's thread number, and the child has another. */
    if (pthread_mutex_unlock(&maker_lock.mutex) != 0) {
        maker_lock = (msp_lock_t)MSP_LOCK_INIT_RECURSIVE(MSP_RANK_OMP_MAKER);
    }
}

MSP_FORK_ITEM(maker) = {.rank         = MSP_RANK_OMP_MAKER,
                        .before       = take_maker,
                        .after_parent = release_maker,
                        .after_child  = release_maker};
