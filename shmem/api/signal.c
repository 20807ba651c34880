/* SPDX-License-Identifier: BSD-3-Clause */
/* signal.c: signals without data. Waiting for one is in wait.c. */

#include "shmem/api/routine.h"
#include "shmem/remote.h"
#include "shmem/wait.h"

static inline void send(const char *call, const struct memspan_context *context, uint64_t *signal,
                        uint64_t value, bool adds, int pe)
{
    if (MEMSPAN_UNLIKELY(memspan_job.checks)) {
        memspan_check_word(call, "sig_addr", signal, sizeof *signal, pe);
    }
    memspan_signal(call, context, signal, value, adds, pe);
}

MEMSPAN_ROUTINE_TWINS(void, signal_add, send(MEMSPAN_CALL, context, sig_addr, signal, true, pe),
                      uint64_t *sig_addr, uint64_t signal, int pe)
MEMSPAN_ROUTINE_TWINS(void, signal_set, send(MEMSPAN_CALL, context, sig_addr, signal, false, pe),
                      uint64_t *sig_addr, uint64_t signal, int pe)

/* Of this PE: programs ask in a loop. */
MEMSPAN_ROUTINE(uint64_t, shmem_signal_fetch, const uint64_t *sig_addr)
{
    uint64_t far;

    if (MEMSPAN_UNLIKELY(memspan_job.checks)) {
        memspan_check_word(MEMSPAN_CALL, "sig_addr", sig_addr, sizeof *sig_addr, memspan_job.pe);
    }
    memspan_wait_poll();
    if (MEMSPAN_UNLIKELY(memspan_job.has_device_memory) &&
        memspan_remote_load(sig_addr, sizeof *sig_addr, &far)) {
        return far;
    }
    return __atomic_load_n(sig_addr, __ATOMIC_ACQUIRE);
}
