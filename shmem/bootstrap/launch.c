/* SPDX-License-Identifier: BSD-3-Clause */
/* Started by a launcher with the interface of memspan/launch.h: all of the job is on this host, and
 * everything that start-up needs is in one file that is mapped already. */

#include "shmem/bootstrap/job_file.h"
#include "shmem/bootstrap/sources.h"
#include "shmem/error.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct msp_job_file file;
static int *local_pes;
static int own_fd = -1; /* when the inherited one could not be used */

static memspan_status_t fill_job(struct msp_bootstrap_job *job_p)
{
    int pe_count = (int)file.header->pe_count;
    local_pes    = malloc((size_t)pe_count * sizeof(*local_pes));
    if (local_pes == NULL) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for the numbers of %d PEs",
                             pe_count);
    }
    for (int pe = 0; pe < pe_count; pe++) {
        local_pes[pe] = pe;
    }
    static char launcher[sizeof(file.header->launcher)];
    snprintf(launcher, sizeof(launcher), "%.*s", (int)sizeof(launcher) - 1, file.header->launcher);

    struct msp_bootstrap_job job = {.pe          = (int)file.pe,
                                    .pe_count    = pe_count,
                                    .local_index = (int)file.pe,
                                    .local_count = pe_count,
                                    .local_pes   = local_pes,
                                    .launcher    = launcher};
    snprintf(job.job_id, sizeof(job.job_id), "%.*s", (int)sizeof(job.job_id) - 1,
             file.header->job_id);
    *job_p = job;
    return MEMSPAN_OK;
}

static void launch_close(void)
{
    msp_job_file_close(&file);
    free(local_pes);
    local_pes = NULL;
    if (own_fd >= 0) {
        close(own_fd);
        own_fd = -1;
    }
}

/* Some programs that start others (Python's subprocess, sudo) close inherited descriptors. */
static memspan_status_t find_job_file(int fd, int pe, uint64_t cookie, int launcher_pid)
{
    memspan_status_t status = msp_job_file_open(fd, (uint32_t)pe, cookie, &file);
    if (status != MEMSPAN_ERR_INVALID) {
        return status;
    }
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", launcher_pid, fd);
    int found = open(path, O_RDWR | O_CLOEXEC);
    if (found < 0) {
        return status;
    }
    status = msp_job_file_open(found, (uint32_t)pe, cookie, &file);
    if (status != MEMSPAN_OK) {
        close(found);
        return status;
    }
    own_fd = found;
    return MEMSPAN_OK;
}

static memspan_status_t launch_open(struct msp_bootstrap_job *job_p)
{
    const char *text = msp_variable_text(MEMSPAN_LAUNCH_VARIABLE);
    if (text == NULL) {
        return memspan_error(MEMSPAN_ERR_OFF, "%s is not set", MEMSPAN_LAUNCH_VARIABLE);
    }
    int fd                    = -1;
    int pe                    = -1;
    int launcher_pid          = 0;
    unsigned long long cookie = 0;
    int end                   = -1;
    if (sscanf(text, "%9d:%9d:%16llx:%9d%n", &fd, &pe, &cookie, &launcher_pid, &end) != 4 ||
        end < 0 || text[end] != '\0' || fd < 0 || pe < 0) {
        memspan_error(MEMSPAN_ERR_CONFIG, "%s=%s is not FD:PE:COOKIE:PID", MEMSPAN_LAUNCH_VARIABLE,
                      text);
        return msp_error_hint("it is oshrun that sets it; without oshrun, unset it");
    }
    memspan_status_t status = find_job_file(fd, pe, cookie, launcher_pid);
    if (status != MEMSPAN_OK) {
        return status;
    }
    status = fill_job(job_p);
    if (status != MEMSPAN_OK) {
        launch_close();
    }
    return status;
}

static memspan_status_t launch_put(const char *key, const void *data, size_t size_bytes)
{
    return msp_job_file_put(&file, key, data, size_bytes);
}

static memspan_status_t launch_barrier(void)
{
    return msp_job_file_barrier(&file);
}

static memspan_status_t launch_get(int pe, const char *key, void *data, size_t *size_p)
{
    return msp_job_file_get(&file, (uint32_t)pe, key, data, size_p);
}

static bool launch_is_ending(void)
{
    return msp_job_file_is_ending(&file);
}

/* The launcher ends the others. The caller has printed the message: it is kept for tools. */
static void launch_abort(int status, const char *message)
{
    msp_job_file_abort(&file, status, message);
    _exit(msp_bootstrap_exit_code(status));
}

const struct msp_bootstrap msp_bootstrap_launch = {
    .name         = "launch",
    .open         = launch_open,
    .put          = launch_put,
    .barrier      = launch_barrier,
    .node_barrier = launch_barrier,
    .get          = launch_get,
    .is_ending    = launch_is_ending,
    .abort        = launch_abort,
    .close        = launch_close,
};
