/* SPDX-License-Identifier: BSD-3-Clause */
/* setup.c: start and end, PE numbers, accessibility. */

#include "shmem/api/routine.h"
#include "shmem/bootstrap/sources.h"
#include "shmem/job.h"
#include "shmem/last_thread.h"
#include "shmem/transport/rma.h"
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- start ---- */

/* Once for each job: drivers that it has opened have registered handlers of exit. */
static void watch_end(const char *call)
{
    msp_job_watch_exit(call);
    msp_last_thread_after_start();
}

static void init(const char *call)
{
    msp_last_thread_before_start();
    if (msp_job_init("", call, SHMEM_THREAD_SINGLE, NULL) != 0) {
        msp_job_abort(1, memspan_error_text());
    }
    watch_end(call);
}

MSP_ROUTINE(void, shmem_init, void)
{
    init(MSP_CALL);
}

/* @p what NULL: prints nothing. */
static int init_thread(const char *what, const char *call, int requested, int *provided)
{
    int status;

    if ((requested < SHMEM_THREAD_SINGLE) || (requested > SHMEM_THREAD_MULTIPLE)) {
        status = (int)memspan_error(MEMSPAN_ERR_INVALID,
                                    "requested %d is none of SHMEM_THREAD_SINGLE to MULTIPLE",
                                    requested);
        if (what != NULL) {
            memspan_report(what, call);
        }
        return status;
    }
    msp_last_thread_before_start();
    status = msp_job_init(what, call, requested, provided);
    if (status == 0) {
        watch_end(call);
    }
    return status;
}

MSP_ROUTINE(int, shmem_init_thread, int requested, int *provided)
{
    return init_thread("warning: ", MSP_CALL, requested, provided);
}

int shmemx_init_try(int requested, int *provided)
{
    return init_thread(NULL, __func__, requested, provided);
}

/* Programs of that time do not finalize; exit does it. */
MSP_ROUTINE(void, start_pes, int npes)
{
    (void)npes;
    if (msp_job.is_on) {
        return;
    }
    init("start_pes");
}

/* ---- end ---- */

/* One call more than there were inits is a warning. */
MSP_ROUTINE(void, shmem_finalize, void)
{
    static int said;

    if (msp_job_has_ended()) {
        msp_warn_once(&said, "shmem_finalize was called once more than shmem_init");
        return;
    }
    msp_job_require(MSP_CALL);
    msp_job_finalize();
}

MSP_ROUTINE(void, shmem_global_exit, int status)
{
    msp_job_require(MSP_CALL);
    msp_flush();
    msp_job_abort(status, NULL);
}

/* ---- queries that may be made at any time ---- */

MSP_ROUTINE(void, shmem_query_initialized, int *initialized)
{
    msp_require_pointer(MSP_CALL, "initialized", initialized);
    *initialized = msp_job_is_initialized();
}

MSP_ROUTINE(void, shmem_query_thread, int *provided)
{
    msp_require_pointer(MSP_CALL, "provided", provided);
    *provided = msp_job.thread_level;
}

MSP_ROUTINE(void, shmem_info_get_version, int *major, int *minor)
{
    msp_require_pointer(MSP_CALL, "major", major);
    msp_require_pointer(MSP_CALL, "minor", minor);
    *major = SHMEM_MAJOR_VERSION;
    *minor = SHMEM_MINOR_VERSION;
}

MSP_ROUTINE(void, shmem_info_get_name, char *name)
{
    static const char vendor[SHMEM_MAX_NAME_LEN] = SHMEM_VENDOR_STRING;

    msp_require_pointer(MSP_CALL, "name", name);
    memcpy(name, vendor, strlen(vendor) + 1);
}

MSP_ROUTINE(void, shmem_pcontrol, int level, ...)
{
    (void)level;
}

int shmemx_query_interoperability(int property)
{
    msp_job_require(__func__);
    if ((property < SHMEMX_PROGRESS_MPI) || (property > SHMEMX_MPI_INITIALIZES)) {
        return (int)memspan_error(MEMSPAN_ERR_INVALID, "%s: %d is no property", __func__, property);
    }
    return (property == SHMEMX_MPI_PROCESSES_ARE_PES) &&
           ((msp_job.bootstrap == &msp_bootstrap_pmix) ||
            (msp_job.bootstrap == &msp_bootstrap_pmi));
}

/* ---- PE numbers ---- */

MSP_ROUTINE(int, shmem_my_pe, void)
{
    msp_job_require(MSP_CALL);
    return msp_job.pe;
}

MSP_ROUTINE(int, shmem_n_pes, void)
{
    msp_job_require(MSP_CALL);
    return msp_job.pe_count;
}

MSP_ROUTINE(int, _my_pe, void)
{
    msp_job_require(MSP_CALL);
    return msp_job.pe;
}

MSP_ROUTINE(int, _num_pes, void)
{
    msp_job_require(MSP_CALL);
    return msp_job.pe_count;
}

/* ---- accessibility ---- */

MSP_ROUTINE(int, shmem_pe_accessible, int pe)
{
    msp_job_require(MSP_CALL);
    return (unsigned)pe < (unsigned)msp_job.pe_count;
}

MSP_ROUTINE(int, shmem_addr_accessible, const void *addr, int pe)
{
    msp_job_require(MSP_CALL);
    return msp_rma_reaches(addr, pe);
}

MSP_ROUTINE(void *, shmem_ptr, const void *dest, int pe)
{
    msp_job_require(MSP_CALL);
    return msp_rma_pointer(dest, pe);
}

MSP_ROUTINE(void *, shmem_team_ptr, shmem_team_t team, const void *dest, int pe)
{
    const struct msp_team *of = msp_team_of(team);

    msp_job_require(MSP_CALL);
    if ((of == NULL) || ((unsigned)pe >= (unsigned)of->size)) {
        return NULL;
    }
    return msp_rma_pointer(dest, msp_team_world_pe(of, pe));
}
