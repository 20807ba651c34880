/* SPDX-License-Identifier: BSD-3-Clause */
/* The PMIx server process. All PEs are on one node, so a collected PMIx_Fence is returned as it
 * is. Structures are filled by hand: the headers' macros call functions that differ between
 * versions of the library, which is that of the machine. */

#include "cmd/oshrun/oshrun.h"

#ifdef MEMSPAN_HAVE_PMIX

#include <dlfcn.h>
#include <errno.h>
#include <pmix.h>
#include <pmix_server.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define PMIX_CALLS(X)                                                                              \
    X(PMIx_server_init)                                                                            \
    X(PMIx_server_register_nspace)                                                                 \
    X(PMIx_server_register_client)                                                                 \
    X(PMIx_server_setup_fork)                                                                      \
    X(PMIx_server_deregister_nspace)                                                               \
    X(PMIx_server_finalize)                                                                        \
    X(PMIx_generate_regex)                                                                         \
    X(PMIx_generate_ppn)                                                                           \
    X(PMIx_Error_string)

static struct {
#define CALL_MEMBER(name) __typeof__(&name) name;
    PMIX_CALLS(CALL_MEMBER)
#undef CALL_MEMBER
} pmix;

static int answers = -1;
static int events  = -1;

static void fail(const char *what, const char *why) __attribute__((noreturn));
static void fail(const char *what, const char *why)
{
    dprintf(answers, "!%s: %s", what, why);
    _exit(1);
}

static void require(pmix_status_t rc, const char *what)
{
    if (rc != PMIX_SUCCESS && rc != PMIX_OPERATION_SUCCEEDED) {
        fail(what, pmix.PMIx_Error_string(rc));
    }
}

static void load_library(void)
{
    static const struct {
        const char *name;
        size_t offset;
    } calls[] = {
#define CALL_ROW(call) {#call, offsetof(__typeof__(pmix), call)},
        PMIX_CALLS(CALL_ROW)
#undef CALL_ROW
    };
    void *library = dlopen("libpmix.so.2", RTLD_NOW | RTLD_GLOBAL);
    if (library == NULL) {
        dprintf(answers, "-cannot open libpmix.so.2: %s", dlerror());
        _exit(1);
    }
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        void *call = dlsym(library, calls[i].name);
        if (call == NULL) {
            fail("libpmix.so.2 lacks", calls[i].name);
        }
        memcpy((char *)&pmix + calls[i].offset, &call, sizeof(call));
    }
}

/* ---- requests of PEs ---- */

static void send_event(enum server_event_kind kind, const pmix_proc_t *proc, int status)
{
    struct server_event event = {kind, (int)proc->rank, status};
    if (write(events, &event, sizeof(event)) < 0) {
        return; /* the launcher is ending */
    }
}

static pmix_status_t on_connected(const pmix_proc_t *proc, void *object, pmix_info_t info[],
                                  size_t info_count, pmix_op_cbfunc_t done, void *context)
{
    (void)object, (void)info, (void)info_count, (void)done, (void)context;
    send_event(SERVER_EVENT_CONNECTED, proc, 0);
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_finalized(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t done,
                                  void *context)
{
    (void)object, (void)done, (void)context;
    send_event(SERVER_EVENT_FINALIZED, proc, 0);
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_abort(const pmix_proc_t *proc, void *object, int status,
                              const char message[], pmix_proc_t procs[], size_t proc_count,
                              pmix_op_cbfunc_t done, void *context)
{
    (void)object, (void)message, (void)procs, (void)proc_count, (void)done, (void)context;
    send_event(SERVER_EVENT_ABORT, proc, status);
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_pmix_fence(const pmix_proc_t procs[], size_t proc_count,
                                   const pmix_info_t info[], size_t info_count, char *data,
                                   size_t size, pmix_modex_cbfunc_t done, void *context)
{
    (void)procs, (void)proc_count, (void)info, (void)info_count;
    if (done != NULL) {
        done(PMIX_SUCCESS, data, size, context, free, data);
    }
    return PMIX_SUCCESS;
}

static pmix_status_t on_direct_modex(const pmix_proc_t *proc, const pmix_info_t info[],
                                     size_t info_count, pmix_modex_cbfunc_t done, void *context)
{
    (void)proc, (void)info, (void)info_count, (void)done, (void)context;
    return PMIX_ERR_NOT_FOUND; /* there is no other node */
}

static pmix_status_t on_connect(const pmix_proc_t procs[], size_t proc_count,
                                const pmix_info_t info[], size_t info_count, pmix_op_cbfunc_t done,
                                void *context)
{
    (void)procs, (void)proc_count, (void)info, (void)info_count;
    done(PMIX_SUCCESS, context);
    return PMIX_SUCCESS;
}

/* The library removes files of PEs (PMIX_REGISTER_CLEANUP) only where this call exists. */
static pmix_status_t on_job_control(const pmix_proc_t *proc, const pmix_proc_t targets[],
                                    size_t target_count, const pmix_info_t directives[],
                                    size_t directive_count, pmix_info_cbfunc_t done, void *context)
{
    (void)proc, (void)targets, (void)target_count, (void)directives, (void)directive_count;
    (void)done, (void)context;
    return PMIX_ERR_NOT_SUPPORTED;
}

/* ---- data for PEs ---- */

static void set_key(pmix_info_t *info, const char *key)
{
    memset(info, 0, sizeof(*info));
    snprintf(info->key, sizeof(info->key), "%s", key);
}

static void set_string(pmix_info_t *info, const char *key, const char *text)
{
    set_key(info, key);
    info->value.type        = PMIX_STRING;
    info->value.data.string = strdup(text);
}

static void set_number(pmix_info_t *info, const char *key, uint32_t number)
{
    set_key(info, key);
    info->value.type        = PMIX_UINT32;
    info->value.data.uint32 = number;
}

static void set_short(pmix_info_t *info, const char *key, uint16_t number)
{
    set_key(info, key);
    info->value.type        = PMIX_UINT16;
    info->value.data.uint16 = number;
}

static void set_rank(pmix_info_t *info, const char *key, uint32_t rank)
{
    set_key(info, key);
    info->value.type      = PMIX_PROC_RANK;
    info->value.data.rank = rank;
}

/* The PMIx data of one PE. */
static void set_pe(pmix_info_t *info, uint32_t pe, const char *host)
{
    enum { FACTS = 9 };
    pmix_info_t *facts      = calloc(FACTS, sizeof(*facts));
    pmix_data_array_t *list = calloc(1, sizeof(*list));
    if (facts == NULL || list == NULL) {
        fail("out of memory", "calloc");
    }
    set_rank(&facts[0], PMIX_RANK, pe);
    set_number(&facts[1], PMIX_APPNUM, 0);
    set_rank(&facts[2], PMIX_GLOBAL_RANK, pe);
    set_rank(&facts[3], PMIX_APP_RANK, pe);
    set_short(&facts[4], PMIX_LOCAL_RANK, (uint16_t)pe);
    set_short(&facts[5], PMIX_NODE_RANK, (uint16_t)pe);
    set_number(&facts[6], PMIX_NODEID, 0);
    set_string(&facts[7], PMIX_HOSTNAME, host);
    set_number(&facts[8], PMIX_REINCARNATION, 0);
    *list = (pmix_data_array_t){.type = PMIX_INFO, .size = FACTS, .array = facts};
    set_key(info, PMIX_PROC_DATA);
    info->value.type        = PMIX_DATA_ARRAY;
    info->value.data.darray = list;
}

static char *list_of_pes(uint32_t count)
{
    size_t size = (size_t)count * 8 + 1;
    size_t used = 0;
    char *text  = malloc(size);
    if (text == NULL) {
        fail("out of memory", "malloc");
    }
    for (uint32_t pe = 0; pe < count; pe++) {
        used += (size_t)snprintf(text + used, size - used, "%s%u", pe > 0 ? "," : "", pe);
    }
    return text;
}

/* PMIx completes some calls on its own thread. */
static volatile int is_done;
static pmix_status_t done_status;

static void on_done(pmix_status_t status, void *context)
{
    (void)context;
    done_status = status;
    __atomic_store_n(&is_done, 1, __ATOMIC_RELEASE);
}

static void wait_for(pmix_status_t rc, const char *what)
{
    if (rc == PMIX_SUCCESS) {
        while (!__atomic_load_n(&is_done, __ATOMIC_ACQUIRE)) {
            usleep(20);
        }
        rc = done_status;
    }
    is_done = 0;
    require(rc, what);
}

static void register_job(const char *job_id, uint32_t count, const char *folder)
{
    enum { FACTS = 15 };
    char host[256] = "localhost";
    char *nodes    = NULL;
    char *pes      = list_of_pes(count);
    char *map      = NULL;
    gethostname(host, sizeof(host) - 1);
    require(pmix.PMIx_generate_regex(host, &nodes), "PMIx_generate_regex");
    require(pmix.PMIx_generate_ppn(pes, &map), "PMIx_generate_ppn");
    pmix_info_t *info = calloc(FACTS + (size_t)count, sizeof(*info));
    if (info == NULL) {
        fail("out of memory", "calloc");
    }
    set_string(&info[0], PMIX_NODE_MAP, nodes);
    set_string(&info[1], PMIX_PROC_MAP, map);
    set_string(&info[2], PMIX_LOCAL_PEERS, pes);
    set_string(&info[3], PMIX_JOBID, job_id);
    set_string(&info[4], PMIX_TMPDIR, folder);
    set_string(&info[5], PMIX_NSDIR, folder);
    set_number(&info[6], PMIX_UNIV_SIZE, count);
    set_number(&info[7], PMIX_JOB_SIZE, count);
    set_number(&info[8], PMIX_APP_SIZE, count);
    set_number(&info[9], PMIX_LOCAL_SIZE, count);
    set_number(&info[10], PMIX_NODE_SIZE, count);
    set_number(&info[11], PMIX_MAX_PROCS, count);
    set_number(&info[12], PMIX_NUM_NODES, 1);
    set_number(&info[13], PMIX_JOB_NUM_APPS, 1);
    set_rank(&info[14], PMIX_LOCALLDR, 0);
    for (uint32_t pe = 0; pe < count; pe++) {
        set_pe(&info[FACTS + pe], pe, host);
    }
    wait_for(
        pmix.PMIx_server_register_nspace(job_id, (int)count, info, FACTS + count, on_done, NULL),
        "PMIx_server_register_nspace");
}

/* The variables that PMIx sets for one PE. */
static void answer_pe(FILE *answer, const char *job_id, uint32_t pe)
{
    pmix_proc_t proc;
    char **variables = NULL;
    memset(&proc, 0, sizeof(proc));
    snprintf(proc.nspace, sizeof(proc.nspace), "%s", job_id);
    proc.rank = pe;
    wait_for(pmix.PMIx_server_register_client(&proc, getuid(), getgid(), NULL, on_done, NULL),
             "PMIx_server_register_client");
    require(pmix.PMIx_server_setup_fork(&proc, &variables), "PMIx_server_setup_fork");
    for (char **variable = variables; variable != NULL && *variable != NULL; variable++) {
        fwrite(*variable, 1, strlen(*variable) + 1, answer);
    }
    /* Open MPI 4 looks for a PMIx server only if a daemon seems to have started it. */
    static const char daemon[] = "OMPI_MCA_orte_local_daemon_uri=0.0;tcp://127.0.0.1:0";
    fwrite(daemon, 1, sizeof(daemon), answer);
    fputc('\0', answer);
}

/* The launcher's end of the socket closes when it is done, or dies. Then the leftovers of PEs are
 * removed; the process is ended if the library hangs. */
static void wait_for_end(const char *job_id) __attribute__((noreturn));
static void wait_for_end(const char *job_id)
{
    char byte;
    prctl(PR_SET_PDEATHSIG, 0);
    while (read(events, &byte, 1) < 0 && errno == EINTR) {
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    alarm(1);
    pmix.PMIx_server_deregister_nspace(job_id, on_done, NULL);
    while (!__atomic_load_n(&is_done, __ATOMIC_ACQUIRE)) {
        usleep(100);
    }
    pmix.PMIx_server_finalize();
    _exit(0);
}

/* hwloc's device discovery would dominate the start time; long maps would arrive compressed, not
 * as text. What is not wanted is named: PMIx 7 has no plug-in "native" any more, and 4 has no
 * "raw". The PEs do not see these settings. */
static void quicken(void)
{
    setenv("HWLOC_COMPONENTS", "linux,stop", 0);
    setenv("PMIX_MCA_gds", "hash", 0);
    setenv("PMIX_MCA_preg", "^compress", 0);
}

void server_run(const char *job_id, int pe_count, const char *folder, int answer_fd, int event_fd)
{
    static pmix_server_module_t module = {.client_connected2 = on_connected,
                                          .client_finalized  = on_finalized,
                                          .abort             = on_abort,
                                          .fence_nb          = on_pmix_fence,
                                          .direct_modex      = on_direct_modex,
                                          .connect           = on_connect,
                                          .job_control       = on_job_control,
                                          .disconnect        = on_connect};
    answers                            = answer_fd;
    events                             = event_fd;
    quicken();
    load_library();
    gate_set_name(job_id);
    pmix_info_t info[1];
    set_string(&info[0], PMIX_SERVER_TMPDIR, folder);
    require(pmix.PMIx_server_init(&module, info, 1), "PMIx_server_init");
    register_job(job_id, (uint32_t)pe_count, folder);
    FILE *answer = fdopen(answer_fd, "w");
    if (answer == NULL) {
        fail("cannot answer", "fdopen");
    }
    for (int pe = 0; pe < pe_count; pe++) {
        answer_pe(answer, job_id, (uint32_t)pe);
    }
    fclose(answer);
    wait_for_end(job_id);
}

#else

#include <stdio.h>
#include <unistd.h>

void server_run(const char *job_id, int pe_count, const char *folder, int answer_fd, int event_fd)
{
    (void)job_id, (void)pe_count, (void)folder, (void)event_fd;
    dprintf(answer_fd, "-this oshrun was built without PMIx (its headers were not found)");
    _exit(1);
}

#endif
