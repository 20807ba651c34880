/* SPDX-License-Identifier: BSD-3-Clause */
/* signal.c: signals without data. Waiting for one is in wait.c. */

#include "shmem/api/routine.h"
#include "shmem/control/wait.h"
#include "shmem/transport/atomic.h"
#include "shmem/transport/own.h"

static inline void send(const char *call, const struct msp_context *context, uint64_t *signal,
                        uint64_t value, bool adds, int pe)
{
    if (MSP_UNLIKELY(msp_job.checks)) {
        msp_check_word(call, "sig_addr", signal, sizeof *signal, pe);
    }
    msp_signal(call, context, signal, value, adds, pe);
}

MSP_ROUTINE_TWINS(void, signal_add, send(MSP_CALL, context, sig_addr, signal, true, pe),
                  uint64_t *sig_addr, uint64_t signal, int pe)
MSP_ROUTINE_TWINS(void, signal_set, send(MSP_CALL, context, sig_addr, signal, false, pe),
                  uint64_t *sig_addr, uint64_t signal, int pe)

/* Of this PE: programs poll in a loop. */
MSP_ROUTINE(uint64_t, shmem_signal_fetch, const uint64_t *sig_addr)
{
    uint64_t far;

    if (MSP_UNLIKELY(msp_job.checks)) {
        msp_check_word(MSP_CALL, "sig_addr", sig_addr, sizeof *sig_addr, msp_job.pe);
    }
    msp_wait_poll();
    if (MSP_UNLIKELY(msp_job_has_device_memory()) &&
        msp_own_load(sig_addr, sizeof *sig_addr, &far)) {
        return far;
    }
    return __atomic_load_n(sig_addr, __ATOMIC_ACQUIRE);
}
