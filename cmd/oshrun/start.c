/* SPDX-License-Identifier: BSD-3-Clause */
/* Each PE is a process group of its own: its children are signalled and ended with it. The
 * kernel kills it when the launcher dies; guard.c ends its children then. */

#include "cmd/common/cli.h"
#include "cmd/oshrun/oshrun.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Variables of other launchers for their own processes. Users' variables for MPI (OMPI_MCA_*) stay.
 */
static const char *const foreign[] = {"PMIX_NAMESPACE=",
                                      "PMIX_RANK=",
                                      "PMIX_SERVER_",
                                      "PMIX_SECURITY_MODE=",
                                      "PMIX_PTL_MODULE=",
                                      "PMIX_BFROP_BUFFER_TYPE=",
                                      "PMIX_GDS_MODULE=",
                                      "PMIX_DSTORE_",
                                      "PMIX_HOSTNAME=",
                                      "PMIX_VERSION=",
                                      "PMIX_SYSTEM_TMPDIR=",
                                      "PMI_",
                                      "OMPI_COMM_WORLD_",
                                      "OMPI_UNIVERSE_SIZE=",
                                      "OMPI_APP_CTX_NUM_PROCS=",
                                      "OMPI_FIRST_RANKS=",
                                      "OMPI_FILE_LOCATION=",
                                      "OMPI_MCA_ess",
                                      "OMPI_MCA_orte_",
                                      "OMPI_MCA_pmix=",
                                      "PRTE_",
                                      "MPI_LOCALRANKID=",
                                      "MPI_LOCALNRANKS=",
                                      "FLUX_JOB_SIZE=",
                                      "FLUX_TASK_",
                                      "SLURM_STEP_NUM_TASKS=",
                                      "SLURM_PROCID=",
                                      "SLURM_LOCALID=",
                                      "OSHRUN_PE=",
                                      "OSHRUN_PES=",
                                      MEMSPAN_LAUNCH_VARIABLE "=",
                                      NULL};

char **start_environment(char **settings)
{
    return cli_environment_make(NULL, foreign, settings);
}

const char *start_seen(const char *path, const char *folder)
{
    static char seen[8192];
    if (folder == NULL || path[0] == '/') {
        return path;
    }
    snprintf(seen, sizeof(seen), "%s/%s", folder, path);
    return seen;
}

static bool is_program(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

const char *start_find(const char *program, const char *folder)
{
    static char path[4096];
    if (folder != NULL && access(folder, X_OK) != 0) {
        cli_complain("--wdir: cannot run %s in %s: %s", program, folder, strerror(errno));
        exit(errno == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN);
    }
    if (strchr(program, '/') != NULL) {
        if (access(start_seen(program, folder), X_OK) != 0) {
            cli_complain("cannot run %s%s%s: %s", program, folder != NULL ? " in " : "",
                         folder != NULL ? folder : "", strerror(errno));
            exit(errno == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN);
        }
        return program;
    }
    const char *folders = cli_environment(CLI_PATH);
    folders             = folders != NULL ? folders : "/usr/local/bin:/usr/bin:/bin";
    while (*program != '\0') {
        int length = (int)strcspn(folders, ":");
        snprintf(path, sizeof(path), "%.*s%s%s", length, folders, length > 0 ? "/" : "./", program);
        if (is_program(start_seen(path, folder))) {
            return path;
        }
        if (folders[length] == '\0') {
            break;
        }
        folders += length + 1;
    }
    bool is_here = access(start_seen(program, folder), F_OK) == 0;
    cli_complain("no program %s in PATH%s%s", program, is_here ? "; did you mean ./" : "",
                 is_here ? program : "");
    exit(EXIT_NOT_FOUND);
}

/* In the child: undo the changes that the launcher has made for itself. */
static void restore(const struct starter *starter)
{
    setrlimit(RLIMIT_NOFILE, &starter->files);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    signal(SIGTTIN, SIG_DFL);
    sigprocmask(SIG_SETMASK, &starter->signals, NULL);
}

static void run(const struct starter *starter, int pe, char *const *variables, pid_t launcher)
{
    const struct options *options = starter->job->options;
    struct start_error error      = {pe, 0};
    if (!cli_follow_parent(launcher)) {
        _exit(EXIT_CANNOT_RUN);
    }
    output_enter(starter->output, pe);
    fcntl(starter->job->fd, F_SETFD, 0);
    place_pe(options->binding, pe);
    restore(starter);
    char **environment = cli_environment_make(starter->environment, NULL, variables);
    if (environment != NULL && (options->folder == NULL || chdir(options->folder) == 0)) {
        environ = environment;
        execvp(starter->path, options->program); /* the shell runs a script without #! */
    }
    error.code = errno;
    if (write(starter->error_pe_fd, &error, sizeof(error)) < 0) {
        _exit(EXIT_CANNOT_RUN);
    }
    _exit(EXIT_NOT_FOUND);
}

bool start_pe(const struct starter *starter, struct pe *record, int pe, char *const *variables)
{
    const struct memspan_launch_header *header = starter->job->header;
    char launch[96];
    char number[32];
    char count[32];
    char *all[68] = {launch, number, count};
    snprintf(launch, sizeof(launch), "%s=%d:%d:%llx:%d", MEMSPAN_LAUNCH_VARIABLE, starter->job->fd,
             pe, (unsigned long long)header->cookie, (int)getpid());
    snprintf(number, sizeof(number), "OSHRUN_PE=%d", pe);
    snprintf(count, sizeof(count), "OSHRUN_PES=%d", starter->job->pe_count);
    for (size_t i = 3; variables != NULL && *variables != NULL && i + 1 < 68; i++) {
        all[i] = *variables++;
    }
    pid_t launcher = getpid();
    pid_t pid      = fork();
    if (pid == 0) {
        run(starter, pe, all, launcher);
    }
    if (pid < 0) {
        cli_complain("cannot start PE %d of %d: %s%s", pe, starter->job->pe_count, strerror(errno),
                     errno == EAGAIN ? " (limit: ulimit -u, or pids.max of the cgroup)" : "");
        return false;
    }
    setpgid(pid, pid); /* parent and child: the first call counts */
    record->pid = record->last_pid = pid;
    return true;
}
