/* SPDX-License-Identifier: BSD-3-Clause */
/* Started by a launcher with PMIx: mpirun, prterun, srun --mpi=pmix, oshrun --pmix=on.
 *
 * The library is opened when the environment shows a server, so that a job that was started
 * otherwise never loads it. The server has the list of the PEs on this host. The headers are those
 * of the build, the library that of the machine: only calls and keys that are the same since PMIx 3
 * are used, and structures of the library are freed by hand, because the headers' macros are not.
 */

#include "shmem/bootstrap/sources.h"
#include "shmem/option.h"

#ifdef MEMSPAN_HAVE_PMIX

#include <dlfcn.h>
#include <pmix.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The calls in use, by their prototypes in pmix.h. */
#define PMIX_CALLS(X)                                                                              \
    X(PMIx_Init)                                                                                   \
    X(PMIx_Finalize)                                                                               \
    X(PMIx_Abort)                                                                                  \
    X(PMIx_Put)                                                                                    \
    X(PMIx_Commit)                                                                                 \
    X(PMIx_Fence_nb)                                                                               \
    X(PMIx_Register_event_handler)                                                                 \
    X(PMIx_Get)                                                                                    \
    X(PMIx_Get_nb)                                                                                 \
    X(PMIx_Error_string)                                                                           \
    X(PMIx_Get_version)

static struct {
#define CALL_MEMBER(name) __typeof__(&name) name;
    PMIX_CALLS(CALL_MEMBER)
#undef CALL_MEMBER
} pmix;

static void *library;
static pmix_proc_t self;
static int *local_pes;
static int local_count;
static int job_pe_count;
static char launcher[96];
static unsigned job_number; /* of this process; the same in all PEs, which take part in all jobs */
static pid_t connected;     /* the process that has the connection; 0: none */
static atomic_bool is_open; /* a job is on, and the server is there */

/* In larger jobs a PE's values are fetched from its node by the PEs that need them: collected, it
 * would be sent to all nodes and kept there. */
enum { COLLECT_MAX = 128 };

enum {
    WATCH_MS      = 125,  /* in a barrier, between two looks at the other PEs */
    PROBE_S       = 2,    /* for keys that PMIx should return at once */
    ABORT_S       = 5,    /* of a launcher that is to end the job */
    VERSION_BYTES = 8192, /* of MPI libraries: MPICH's is the longest */
};

static memspan_status_t fail(const char *call, pmix_status_t rc, const char *what)
{
    return msp_error_native(MEMSPAN_ERR_DRIVER, "pmix", call, rc, pmix.PMIx_Error_string(rc), NULL,
                            "%s", what);
}

static memspan_status_t load_library(void)
{
    static const struct {
        const char *name;
        size_t offset;
    } calls[] = {
#define CALL_ROW(call) {#call, offsetof(__typeof__(pmix), call)},
        PMIX_CALLS(CALL_ROW)
#undef CALL_ROW
    };

    if (library != NULL) {
        return MEMSPAN_OK;
    }
    void *opened = dlopen("libpmix.so.2", RTLD_NOW | RTLD_GLOBAL);
    if (opened == NULL) {
        return memspan_error(MEMSPAN_ERR_OFF, "PMIx is not here: %s", dlerror());
    }
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        void *call = dlsym(opened, calls[i].name);
        if (call == NULL) {
            dlclose(opened);
            return memspan_error(MEMSPAN_ERR_OFF, "libpmix.so.2 has no %s", calls[i].name);
        }
        memcpy((char *)&pmix + calls[i].offset, &call, sizeof(call));
    }
    library = opened;
    return MEMSPAN_OK;
}

static void free_value(pmix_value_t *value)
{
    if (value->type == PMIX_STRING) {
        free(value->data.string);
    } else if (value->type == PMIX_BYTE_OBJECT) {
        free(value->data.bo.bytes);
    }
    free(value);
}

/* The server's value for that PE, or for the job; NULL when it does not. */
static pmix_value_t *get_fact(pmix_rank_t rank, const char *key)
{
    pmix_proc_t proc    = self;
    pmix_value_t *value = NULL;
    proc.rank           = rank;
    return pmix.PMIx_Get(&proc, key, NULL, 0, &value) == PMIX_SUCCESS ? value : NULL;
}

/* The numbers of "0,2-4" that are PEs, into pes (if not NULL); how many they are. */
static int read_list(const char *text, int pe_count, int *pes)
{
    int count = 0;
    while (*text != '\0') {
        char *end  = NULL;
        long first = strtol(text, &end, 10);
        long last  = *end == '-' ? strtol(end + 1, &end, 10) : first;
        if (end == text || first < 0 || last >= pe_count) {
            return -1;
        }
        for (long pe = first; pe <= last; pe++, count++) {
            if (pes != NULL) {
                pes[count] = (int)pe;
            }
        }
        text = *end == ',' ? end + 1 : end;
    }
    return count;
}

static int by_number(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static memspan_status_t fill_local(struct msp_bootstrap_job *job)
{
    pmix_value_t *peers = get_fact(PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS);
    const char *list    = peers != NULL && peers->type == PMIX_STRING ? peers->data.string : NULL;
    memspan_status_t status = MEMSPAN_OK;
    char alone[16];
    if (list == NULL) { /* nothing is known of others: each PE is reached as if on another node */
        snprintf(alone, sizeof(alone), "%d", job->pe);
        list = alone;
    }
    job->local_count = read_list(list, job->pe_count, NULL);
    local_count      = job->local_count;
    local_pes        = job->local_count > 0 ? malloc((size_t)job->local_count * sizeof(int)) : NULL;
    if (local_pes == NULL) {
        status =
            memspan_error(MEMSPAN_ERR_DRIVER, "PMIx says \"%s\" are the PEs on this node of %d",
                          list, job->pe_count);
        goto free_list;
    }
    read_list(list, job->pe_count, local_pes);
    qsort(local_pes, (size_t)job->local_count, sizeof(int), by_number);
    job->local_pes = local_pes;
    while (job->local_index < job->local_count && local_pes[job->local_index] != job->pe) {
        job->local_index++;
    }
    if (job->local_index == job->local_count) {
        free(local_pes);
        local_pes = NULL;
        status    = memspan_error(MEMSPAN_ERR_DRIVER,
                                  "PMIx says \"%s\" are the PEs on this node, PE %d not among them",
                                  list, job->pe);
    }
free_list:
    if (peers != NULL) {
        free_value(peers);
    }
    return status;
}

/* "mpirun, OpenPMIx 4.2.2": the launcher of this process, as far as it is known. */
static void name_launcher(void)
{
    struct msp_bootstrap_claim claim = msp_bootstrap_find_claim();
    const char *version              = pmix.PMIx_Get_version();
    int length                       = (int)strcspn(version, "(,");
    while (length > 0 && version[length - 1] == ' ') {
        length--;
    }
    snprintf(launcher, sizeof(launcher), "%s, %.*s",
             claim.launcher != NULL ? claim.launcher : "a PMIx launcher", length, version);
}

static memspan_status_t fill_job(struct msp_bootstrap_job *job_p)
{
    pmix_value_t *size = get_fact(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE);
    if (size == NULL || size->type != PMIX_UINT32 || size->data.uint32 <= self.rank) {
        if (size != NULL) {
            free_value(size);
        }
        return memspan_error(MEMSPAN_ERR_DRIVER, "PMIx does not say how large the job is");
    }
    struct msp_bootstrap_job job = {
        .pe = (int)self.rank, .pe_count = (int)size->data.uint32, .launcher = launcher};
    free_value(size);
    job_pe_count                     = job.pe_count;
    struct msp_bootstrap_claim claim = msp_bootstrap_find_claim();
    if (job.pe_count == 1 && claim.pe_count > 1) {
        return memspan_error(MEMSPAN_ERR_OFF, "PMIx says that the job has one process");
    }
    name_launcher();
    snprintf(job.job_id, sizeof(job.job_id), "%.*s", (int)sizeof(job.job_id) - 1, self.nspace);
    memspan_status_t status = fill_local(&job);
    if (status == MEMSPAN_OK) {
        *job_p = job;
    }
    return status;
}

/* Servers report PEs that they have lost, too. */
static void lose_server(size_t id, pmix_status_t status, const pmix_proc_t *source,
                        pmix_info_t info[], size_t info_count, pmix_info_t *results,
                        size_t result_count, pmix_event_notification_cbfunc_fn_t done, void *data)
{
    bool is_of_job = source != NULL && strcmp(source->nspace, self.nspace) == 0;
    (void)id, (void)status, (void)info, (void)info_count, (void)results, (void)result_count;
    if (!is_of_job && atomic_exchange(&is_open, false)) {
        msp_fatal("the launcher's daemon on this host has died (%s)", launcher);
    }
    if (done != NULL) {
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
    }
}

/* Without it a PE that computes would outlive its launcher. */
static void watch_server(void)
{
    static pmix_status_t codes[] = {PMIX_ERR_LOST_CONNECTION, PMIX_ERR_LOST_CONNECTION_TO_SERVER};
    (void)pmix.PMIx_Register_event_handler(codes, sizeof(codes) / sizeof(codes[0]), NULL, 0,
                                           lose_server, NULL, NULL);
}

/* A child of fork() has no connection. A job that has not ended is a failure for the launcher. */
static void disconnect(void)
{
    if (connected == getpid() && !atomic_load(&is_open)) {
        pmix.PMIx_Finalize(NULL, 0);
        connected = 0;
    }
}

/* Open MPI from 5 on takes its own name from PMIx_Init() only where no other library of the process
 * has called it: MPI_Init() ends the job then ("local rank: Not found"). Both calls are allowed
 * before MPI_Init(). */
static void warn_of_open_mpi(void)
{
    static int is_said;
    int (*is_initialized)(int *)       = NULL;
    int (*get_version)(char *, int *)  = NULL;
    static char version[VERSION_BYTES] = "";
    void *found[]                      = {dlsym(RTLD_DEFAULT, "MPI_Initialized"),
                                          dlsym(RTLD_DEFAULT, "MPI_Get_library_version")};
    int is_on                          = 1;
    int length                         = 0;
    int major                          = 0;

    if (found[0] == NULL || found[1] == NULL) {
        return;
    }
    memcpy(&is_initialized, &found[0], sizeof(is_initialized));
    memcpy(&get_version, &found[1], sizeof(get_version));
    if (is_initialized(&is_on) == 0 && !is_on && get_version(version, &length) == 0 &&
        sscanf(version, "Open MPI v%d", &major) == 1 && major >= 5 && self.rank == 0) {
        msp_warn_once(
            &is_said,
            "Open MPI %d does not start after another library has connected to PMIx: call "
            "MPI_Init() before shmem_init(), or start this program by oshrun",
            major);
    }
}

/* Once: a server takes a PE that leaves for one that is missing in the barriers of others, and
 * those of a process's next job may be in one already. */
static memspan_status_t connect_server(void)
{
    if (msp_variable_text("PMIX_NAMESPACE") == NULL || msp_variable_text("PMIX_RANK") == NULL) {
        return memspan_error(MEMSPAN_ERR_OFF, "no PMIx server is named in the environment");
    }
    memspan_status_t status = load_library();
    if (status != MEMSPAN_OK || connected != 0) {
        return status;
    }
    if (atexit(disconnect) != 0 || at_quick_exit(disconnect) != 0) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "the end of the program cannot be watched");
    }
    pmix_status_t rc = pmix.PMIx_Init(&self, NULL, 0);
    if (rc != PMIX_SUCCESS) {
        return msp_error_native(
            MEMSPAN_ERR_OFF, "pmix", "PMIx_Init", rc, pmix.PMIx_Error_string(rc), NULL,
            "no PMIx server answers (PMIx_Init: %s)", pmix.PMIx_Error_string(rc));
    }
    connected = getpid();
    warn_of_open_mpi();
    watch_server();
    return MEMSPAN_OK;
}

/* Servers keep the values that PEs have distributed in their earlier jobs. */
struct numbered {
    char key[64]; /* far below PMIX_MAX_KEYLEN */
};

static struct numbered number(const char *key)
{
    struct numbered numbered;
    snprintf(numbered.key, sizeof(numbered.key), "%s.%u", key, job_number);
    return numbered;
}

static memspan_status_t pmix_put(const char *key, const void *data, size_t size_bytes)
{
    pmix_value_t value;
    memset(&value, 0, sizeof(value));
    value.type = PMIX_BYTE_OBJECT;
    /* PMIx copies the value; its type has no const. */
    memcpy(&value.data.bo.bytes, &data, sizeof(data));
    value.data.bo.size = size_bytes;
    pmix_status_t rc   = pmix.PMIx_Put(PMIX_GLOBAL, number(key).key, &value);
    return rc == PMIX_SUCCESS ? MEMSPAN_OK : fail("PMIx_Put", rc, key);
}

static memspan_status_t commit(void)
{
    pmix_status_t rc = pmix.PMIx_Commit();
    return rc == PMIX_SUCCESS ? MEMSPAN_OK
                              : fail("PMIx_Commit", rc, "what this PE distributes cannot be sent");
}

/* ---- calls that PMIx completes in a thread of its own ---- */

/* A call under way. PMIx may end it after this PE has given up: it is leaked then. */
struct call {
    pthread_mutex_t lock; /* guards the others */
    pthread_cond_t changed;
    bool is_over;
    pmix_status_t rc;
};

static struct call *begin_call(void)
{
    struct call *call = calloc(1, sizeof(*call));
    if (call == NULL) {
        msp_fatal("no memory for a call of PMIx");
    }
    pthread_mutex_init(&call->lock, NULL);
    pthread_cond_init(&call->changed, NULL);
    return call;
}

static void finish(pmix_status_t rc, void *argument)
{
    struct call *call = argument;
    pthread_mutex_lock(&call->lock);
    call->is_over = true;
    call->rc      = rc;
    pthread_cond_signal(&call->changed);
    pthread_mutex_unlock(&call->lock);
}

static void finish_get(pmix_status_t rc, pmix_value_t *value, void *argument)
{
    (void)value; /* PMIx keeps a copy for PMIx_Get() */
    finish(rc, argument);
}

/* Frees the call, and returns PMIx's status. PMIX_ERR_TIMEOUT: it has not ended while this process
 * ran for limit_s seconds (0: no limit). @p watch (or NULL) is called now and then. */
static pmix_status_t wait_for(struct call *call, unsigned limit_s, void (*watch)(void))
{
    pmix_status_t rc = PMIX_ERR_TIMEOUT;
    bool is_over;
    pthread_mutex_lock(&call->lock);
    for (unsigned i = 0; !call->is_over && (limit_s == 0 || i < limit_s * 1000 / WATCH_MS); i++) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += WATCH_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        pthread_cond_timedwait(&call->changed, &call->lock, &until);
        if (!call->is_over && watch != NULL) {
            pthread_mutex_unlock(&call->lock);
            watch();
            pthread_mutex_lock(&call->lock);
        }
    }
    is_over = call->is_over;
    pthread_mutex_unlock(&call->lock);
    if (is_over) {
        rc = call->rc;
        free(call);
    }
    return rc;
}

/* Whether PMIx finds that PE's value; it waits limit_s seconds for the PE's node. */
static pmix_status_t request_value(int pe, const char *key, unsigned limit_s)
{
    pmix_proc_t peer  = self;
    struct call *call = begin_call();
    pmix_status_t rc;
    peer.rank = (pmix_rank_t)pe;
    rc        = pmix.PMIx_Get_nb(&peer, number(key).key, NULL, 0, finish_get, call);
    return rc == PMIX_SUCCESS ? wait_for(call, limit_s, NULL) : rc;
}

static bool is_local(int pe)
{
    int i = 0;
    while (i < local_count && local_pes[i] != pe) {
        i++;
    }
    return i < local_count;
}

static _Noreturn void miss(int pe, enum msp_shmem_option limit)
{
    pmix_value_t *host = get_fact((pmix_rank_t)pe, PMIX_HOSTNAME);
    bool is_known      = host != NULL && host->type == PMIX_STRING;
    msp_fatal(
        "PE %d on %s does not answer the launcher for %u s (link or host down, or a PE there is "
        "late; %s is the limit)",
        pe, is_known ? host->data.string : "another host", (unsigned)msp_shmem_option_number(limit),
        msp_shmem_option_name(limit));
}

/* ---- barriers ---- */

struct barrier {
    const pmix_proc_t *procs; /* NULL: all */
    int count;
    char arrival[32]; /* the values that its PEs distribute: PMIx does not report which are there */
};

/* PMIx does not report a cut link. */
static _Noreturn void miss_any(const struct barrier *barrier)
{
    for (int i = 0; i < barrier->count; i++) {
        int pe = barrier->procs != NULL ? (int)barrier->procs[i].rank : i;
        if (pe != (int)self.rank && request_value(pe, barrier->arrival, PROBE_S) != PMIX_SUCCESS) {
            miss(pe, MEMSPAN_SHMEM_START_TIMEOUT);
        }
    }
    msp_fatal("the PEs' barrier has not ended within SHMEMX_START_TIMEOUT");
}

/* The watcher (or NULL) has a limit of its own. */
static memspan_status_t wait_in_barrier(const struct barrier *barrier, const pmix_info_t *collect,
                                        void (*watch)(void))
{
    unsigned limit_s        = (unsigned)msp_shmem_option_number(MEMSPAN_SHMEM_START_TIMEOUT);
    memspan_status_t status = pmix_put(barrier->arrival, barrier->arrival, 1);
    status                  = status == MEMSPAN_OK ? commit() : status;
    if (status != MEMSPAN_OK) {
        return status;
    }
    struct call *call = begin_call();
    pmix_status_t rc =
        pmix.PMIx_Fence_nb(barrier->procs, barrier->procs != NULL ? (size_t)barrier->count : 0,
                           collect, collect != NULL ? 1 : 0, finish, call);
    if (rc == PMIX_SUCCESS) {
        rc = wait_for(call, watch != NULL ? 0 : limit_s, watch);
    }
    if (rc == PMIX_ERR_TIMEOUT) {
        miss_any(barrier);
    }
    return rc == PMIX_SUCCESS ? MEMSPAN_OK : fail("PMIx_Fence_nb", rc, "the PEs' barrier failed");
}

/* No other node takes part. */
static memspan_status_t pmix_node_barrier(void)
{
    static unsigned number;
    pmix_proc_t *procs = calloc((size_t)local_count, sizeof(*procs));
    if (procs == NULL) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for the names of %d PEs",
                             local_count);
    }
    for (int i = 0; i < local_count; i++) {
        procs[i]      = self;
        procs[i].rank = (pmix_rank_t)local_pes[i];
    }
    struct barrier barrier = {.procs = procs, .count = local_count};
    snprintf(barrier.arrival, sizeof(barrier.arrival), "memspan.node.%u", ++number);
    memspan_status_t status = wait_in_barrier(&barrier, NULL, NULL);
    free(procs);
    return status;
}

static memspan_status_t pmix_barrier(void)
{
    static unsigned number;
    static pmix_info_t collect; /* PMIx reads it until the end */
    struct barrier barrier = {.count = job_pe_count};
    snprintf(barrier.arrival, sizeof(barrier.arrival), "memspan.job.%u", ++number);
    memset(&collect, 0, sizeof(collect));
    snprintf(collect.key, sizeof(collect.key), "%s", PMIX_COLLECT_DATA);
    collect.value.type      = PMIX_BOOL;
    collect.value.data.flag = job_pe_count <= COLLECT_MAX;
    return wait_in_barrier(&barrier, &collect, msp_bootstrap_watch);
}

static memspan_status_t pmix_get(int pe, const char *key, void *data, size_t *size_p)
{
    pmix_proc_t peer    = self;
    pmix_value_t *value = NULL;
    peer.rank           = (pmix_rank_t)pe;
    unsigned limit_s    = (unsigned)msp_shmem_option_number(MEMSPAN_SHMEM_PEER_TIMEOUT);
    if (job_pe_count > COLLECT_MAX && !is_local(pe) &&
        request_value(pe, key, limit_s) == PMIX_ERR_TIMEOUT) {
        miss(pe, MEMSPAN_SHMEM_PEER_TIMEOUT);
    }
    pmix_status_t rc = pmix.PMIx_Get(&peer, number(key).key, NULL, 0, &value);
    if (rc != PMIX_SUCCESS) {
        return msp_error_native(MEMSPAN_ERR_NOT_FOUND, "pmix", "PMIx_Get", rc,
                                pmix.PMIx_Error_string(rc), NULL,
                                "PE %d has not distributed \"%s\"", pe, key);
    }
    memspan_status_t status = MEMSPAN_OK;
    if (value->type != PMIX_BYTE_OBJECT || value->data.bo.size > *size_p) {
        status = memspan_error(
            MEMSPAN_ERR_LIMIT, "PE %d distributed %zu bytes as \"%s\", %zu are expected", pe,
            value->type == PMIX_BYTE_OBJECT ? value->data.bo.size : 0, key, *size_p);
    } else {
        if (value->data.bo.size > 0) {
            memcpy(data, value->data.bo.bytes, value->data.bo.size);
        }
        *size_p = value->data.bo.size;
    }
    free_value(value);
    return status;
}

/* ---- the end of a job ---- */

static void *abort_job(void *code)
{
    pmix.PMIx_Abort((int)(intptr_t)code, "", NULL, 0); /* "": the message is printed already */
    return NULL;
}

/* In a thread: the call may never return. Its return means that the server has the request, not
 * that the job ends: a launcher that does not reach all of the job's hosts is ended with it. This
 * process waits to be ended: were it gone before the others, they would report that it has failed.
 */
static void pmix_abort(int status, const char *message)
{
    (void)message; /* has been printed */
    int code = msp_bootstrap_exit_code(status);
    pthread_t thread;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += ABORT_S;
    if (atomic_load(&is_open)) {
        msp_bootstrap_end_daemon(ABORT_S);
        if ((pthread_create(&thread, NULL, abort_job, (void *)(intptr_t)code) == 0) &&
            (pthread_timedjoin_np(thread, NULL, &until) == 0)) {
            clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL);
        }
    }
    _exit(code);
}

static memspan_status_t pmix_open(struct msp_bootstrap_job *job_p)
{
    memspan_status_t status = connect_server();
    if (status == MEMSPAN_OK) {
        status = fill_job(job_p);
    }
    if (status == MEMSPAN_OK) {
        job_number++;
        atomic_store(&is_open, true);
    }
    return status;
}

static void pmix_close(void)
{
    atomic_store(&is_open, false);
    free(local_pes);
    local_pes = NULL;
}

#else

static memspan_status_t pmix_open(struct msp_bootstrap_job *job_p)
{
    (void)job_p;
    return memspan_error(MEMSPAN_ERR_OFF,
                         "this library was built without PMIx (its headers were not found)");
}

#endif

const struct msp_bootstrap msp_bootstrap_pmix = {
    .name = "pmix",
    .open = pmix_open,
#ifdef MEMSPAN_HAVE_PMIX
    .put          = pmix_put,
    .barrier      = pmix_barrier,
    .node_barrier = pmix_node_barrier,
    .get          = pmix_get,
    .abort        = pmix_abort,
    .close        = pmix_close,
#endif
};
