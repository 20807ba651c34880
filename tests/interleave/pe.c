/* SPDX-License-Identifier: BSD-3-Clause */
/* pe.c: what shmem_init() would have found, in a copy. */

#include "pe.h"
#include "shmem/control/memory.h"
#include "shmem/control/wait.h"
#include "shmem/job.h"
#include "shmem/option.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/types.h>

enum { PE_BARRIER = 4000 /* number of a word of the page */ };

struct pe_place pe_place;

/* libgcc has a function of this name, for split stacks, which the linker would find first. */
int schedule_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __wrap_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*function)(void *), void *argument)
{
    return schedule_pthread_create(thread, attributes, function, argument);
}

/* In place of the control memory's header, which no scenario has. */
unsigned __wrap_msp_host_processor_count(void);
unsigned __wrap_msp_host_processor_count(void)
{
    return 1; /* fewer than PEs: they sleep soon */
}

/* No process of an execution ends alone. */
bool __wrap_msp_bootstrap_peer_died(const pid_t *pids, int count, int *index_p);
bool __wrap_msp_bootstrap_peer_died(const pid_t *pids, int count, int *index_p)
{
    (void)pids;
    (void)count;
    (void)index_p;
    return false;
}

pid_t *__wrap_msp_host_pids(void);
pid_t *__wrap_msp_host_pids(void)
{
    static pid_t pids[PE_COUNT];

    return pids;
}

/* Of the control memory's header too. */
void __wrap_msp_host_barrier(void);
void __wrap_msp_host_barrier(void)
{
    atomic_uint *arrived = &((atomic_uint *)pe_place.page)[PE_BARRIER];
    unsigned count       = (unsigned)msp_job.local_count;
    unsigned goal        = atomic_fetch_add(arrived, 1) / count * count + count;
    int i;

    for (i = 0; i < msp_job.local_count; i++) {
        msp_doorbell_notify(i);
    }
    MSP_WAIT(atomic_load(arrived) >= goal);
}

void pe_begin(int count)
{
    static const int pes[PE_COUNT] = {0, 1, 2};

    msp_job                  = (struct msp_job){.pe            = pe_place.number,
                                                .pe_count      = count,
                                                .direct_count  = count,
                                                .local_index   = pe_place.number,
                                                .local_count   = count,
                                                .local_pes     = pes,
                                                .machine_count = count,
                                                .is_on         = true};
    msp_control.slots        = pe_place.slots;
    msp_doorbells.by_index   = pe_place.doorbells;
    msp_doorbells.is_ordered = true;
    setenv("MEMSPAN_SHMEM_SPIN", "0", 1);
    EXPECT(msp_shmem_option_read() == MEMSPAN_OK);
    msp_wait_init();
}
