/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_JOB_H
#define MEMSPAN_SHMEM_JOB_H

/* The job as this process sees it, and its beginning and end.
 *
 * Everything is written while shmem_init() runs, and read without locks until shmem_finalize(). */

#include "core/base/platform.h"
#include "shmem/error.h"
#include <stdatomic.h>

struct msp_bootstrap;
struct msp_transport;

/* Children of a PE are none, also of _Fork() and clone(), which call no handler: whole pages of
 * what every call reads first are zero in them (MADV_WIPEONFORK). */
#if defined(__x86_64__)
#define MSP_WIPED_BYTES 4096
#else
#define MSP_WIPED_BYTES 65536 /* the largest page */
#endif

struct msp_job {
    _Alignas(MSP_WIPED_BYTES) int pe;
    int pe_count;
    int first_local; /* PEs of this host are first_local .. + direct_count - 1, where they are in */
    int direct_count;     /* one run of numbers; 0 otherwise (msp_job_local_index() always works) */
    int local_index;      /* this PE's number on its host */
    int local_count;      /* PEs on this host */
    const int *local_pes; /* by local index, ascending */
    int machine_count;    /* PEs of this node: more than local_count where it has several hosts */
    bool is_one_network;  /* all PEs of the job have one loopback interface */
    int thread_level;
    bool has_threads;       /* several threads of this PE may be in the library at once */
    bool is_tried;          /* it was started by shmemx_init_try() */
    bool is_on;             /* between init and finalize */
    bool checks;            /* every argument is checked */
    bool polls_yield;       /* words that are loaded again and again let others run; or checks */
    bool has_device_memory; /* an address that is given may be one that the host cannot touch */
    const char *launcher;
    const struct msp_bootstrap *bootstrap;
    const struct msp_transport *transport; /* to PEs of other hosts; NULL: there are none */
};

extern struct msp_job msp_job MSP_HIDDEN;

/* shmem_init_thread(): 0, or nonzero with an error record, which one PE of the job prints behind
 * @p what and @p call. Every PE of the job calls it. @p what NULL: shmemx_init_try(), which prints
 * nothing, and returns failures before the job team can vote. */
int msp_job_init(const char *what, const char *call, int requested_level, int *provided_p);

/* Of shmemx_init_try(), before the job team can vote: @p mine where it is a failure, else that of
 * another PE. Through the launcher: every PE calls it after the same step. */
memspan_status_t msp_job_settle(memspan_status_t mine);
void msp_job_finalize(void);
bool msp_job_is_initialized(void);

/* exit() finalizes a job that is still on. Handlers of exit run in reverse order: to be called
 * again whenever a driver may have registered one that ends it. */
void msp_job_watch_exit(const char *call);

/* There was a job in this process, and there is none now. */
bool msp_job_has_ended(void);

/* End the job, all PEs of it. */
_Noreturn void msp_job_abort(int status, const char *message);

/* In a child of fork(): it is no PE. */
void msp_job_forget(void);

/* The number of @p pe on this host, or -1 when it is on another one. */
int msp_job_local_index(int pe);

/* Set before a thread of the library works for the program (device/on_queue.c). */
static inline bool msp_job_has_threads(void)
{
    return __atomic_load_n(&msp_job.has_threads, __ATOMIC_RELAXED);
}

/* Threads of transports run while memory of devices is made. */
static inline bool msp_job_has_device_memory(void)
{
    return __atomic_load_n(&msp_job.has_device_memory, __ATOMIC_RELAXED);
}
/* The memory at @p address, of which other PEs, or calls of this one, are about to learn. */
void msp_job_add_device_memory(const void *address);

/* Fatal with "CALL was called before shmem_init()" (or after the last shmem_finalize()). */
void msp_job_refuse(const char *call) __attribute__((cold));
static inline void msp_job_require(const char *call)
{
    if (MSP_UNLIKELY(!msp_job.is_on)) {
        msp_job_refuse(call);
    }
}

#endif /* MEMSPAN_SHMEM_JOB_H */
