/* SPDX-License-Identifier: BSD-3-Clause */
/* setup.c: beginning and end, who is who, what is reached. */

#include "shmem/api/routine.h"
#include "shmem/job.h"
#include "shmem/rma.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- beginning ---- */

/* A program that ends well without shmem_finalize() is finalized: launchers take it for a crash
 * otherwise. One that ends with an error must not wait for the others. */
static void finalize_at_exit(int status, void *unused)
{
    (void)unused;
    while ((status == 0) && memspan_job.is_on) {
        memspan_job_finalize();
    }
}

static void watch_exit(const char *call)
{
    static bool is_watched;

    if (!is_watched && (on_exit(finalize_at_exit, NULL) != 0)) {
        memspan_fatal("%s: the end of the program cannot be watched: on_exit() failed", call);
    }
    is_watched = true;
}

static void init(const char *call)
{
    if (memspan_job_init("", call, SHMEM_THREAD_SINGLE, NULL) != 0) {
        memspan_job_abort(1, memspan_error_text());
    }
    watch_exit(call);
}

MEMSPAN_ROUTINE(void, shmem_init, void)
{
    init(MEMSPAN_CALL);
}

MEMSPAN_ROUTINE(int, shmem_init_thread, int requested, int *provided)
{
    int status;

    if ((requested < SHMEM_THREAD_SINGLE) || (requested > SHMEM_THREAD_MULTIPLE)) {
        status = (int)memspan_error(MEMSPAN_ERR_INVALID,
                                    "requested %d is none of SHMEM_THREAD_SINGLE to MULTIPLE",
                                    requested);
        memspan_report("warning: ", MEMSPAN_CALL);
        return status;
    }
    status = memspan_job_init("warning: ", MEMSPAN_CALL, requested, provided);
    if (status == 0) {
        watch_exit(MEMSPAN_CALL);
    }
    return status;
}

/* Programs of that time end without a word, as all of them may here. */
MEMSPAN_ROUTINE(void, start_pes, int npes)
{
    (void)npes;
    if (memspan_job.is_on) {
        return;
    }
    init("start_pes");
}

/* ---- end ---- */

/* Once more than there were inits: nothing is left to be ended. */
MEMSPAN_ROUTINE(void, shmem_finalize, void)
{
    static int said;

    if (memspan_job_has_ended()) {
        memspan_warn_once(&said, "shmem_finalize was called once more than shmem_init");
        return;
    }
    memspan_job_require(MEMSPAN_CALL);
    memspan_job_finalize();
}

MEMSPAN_ROUTINE(void, shmem_global_exit, int status)
{
    memspan_job_require(MEMSPAN_CALL);
    memspan_flush();
    memspan_job_abort(status, NULL);
}

/* ---- questions that may be asked at any time ---- */

MEMSPAN_ROUTINE(void, shmem_query_initialized, int *initialized)
{
    memspan_require_pointer(MEMSPAN_CALL, "initialized", initialized);
    *initialized = memspan_job_is_initialized();
}

MEMSPAN_ROUTINE(void, shmem_query_thread, int *provided)
{
    memspan_require_pointer(MEMSPAN_CALL, "provided", provided);
    *provided = memspan_job.thread_level;
}

MEMSPAN_ROUTINE(void, shmem_info_get_version, int *major, int *minor)
{
    memspan_require_pointer(MEMSPAN_CALL, "major", major);
    memspan_require_pointer(MEMSPAN_CALL, "minor", minor);
    *major = SHMEM_MAJOR_VERSION;
    *minor = SHMEM_MINOR_VERSION;
}

MEMSPAN_ROUTINE(void, shmem_info_get_name, char *name)
{
    static const char vendor[SHMEM_MAX_NAME_LEN] = SHMEM_VENDOR_STRING;

    memspan_require_pointer(MEMSPAN_CALL, "name", name);
    memcpy(name, vendor, strlen(vendor) + 1);
}

MEMSPAN_ROUTINE(void, shmem_pcontrol, int level, ...)
{
    (void)level;
}

/* ---- who is who ---- */

MEMSPAN_ROUTINE(int, shmem_my_pe, void)
{
    memspan_job_require(MEMSPAN_CALL);
    return memspan_job.pe;
}

MEMSPAN_ROUTINE(int, shmem_n_pes, void)
{
    memspan_job_require(MEMSPAN_CALL);
    return memspan_job.pe_count;
}

MEMSPAN_ROUTINE(int, _my_pe, void)
{
    memspan_job_require(MEMSPAN_CALL);
    return memspan_job.pe;
}

MEMSPAN_ROUTINE(int, _num_pes, void)
{
    memspan_job_require(MEMSPAN_CALL);
    return memspan_job.pe_count;
}

/* ---- what is reached ---- */

MEMSPAN_ROUTINE(int, shmem_pe_accessible, int pe)
{
    memspan_job_require(MEMSPAN_CALL);
    return (unsigned)pe < (unsigned)memspan_job.pe_count;
}

MEMSPAN_ROUTINE(int, shmem_addr_accessible, const void *addr, int pe)
{
    memspan_job_require(MEMSPAN_CALL);
    return memspan_rma_reaches(addr, pe);
}

MEMSPAN_ROUTINE(void *, shmem_ptr, const void *dest, int pe)
{
    memspan_job_require(MEMSPAN_CALL);
    return memspan_rma_pointer(dest, pe);
}

MEMSPAN_ROUTINE(void *, shmem_team_ptr, shmem_team_t team, const void *dest, int pe)
{
    const struct memspan_team *of = memspan_team_of(team);

    memspan_job_require(MEMSPAN_CALL);
    if ((of == NULL) || ((unsigned)pe >= (unsigned)of->size)) {
        return NULL;
    }
    return memspan_rma_pointer(dest, memspan_team_world_pe(of, pe));
}
