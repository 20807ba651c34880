/* SPDX-License-Identifier: BSD-3-Clause */
/* pmix_model.c: the calls of PMIx that the library makes, for many processes in this one. */

#include "pmix_model.h"
#include <dlfcn.h>
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { VALUES_MAX = 24, KEYS_MAX = 64, REPORTED_MAX = 5 };

struct value {
    int key; /* + 1 */
    bool is_committed;
    uint32_t bytes;
    uint64_t barriers; /* that its process had left when it was committed */
    uint64_t node_barriers;
    char *data;
};

struct process {
    struct model_counts counts;
    struct value values[VALUES_MAX];
    int value_count;
};

/* The program restores its variables before each process runs: the model's are elsewhere. */
struct model {
    int processes;
    int of_node;
    int pe;
    bool verifies;
    enum model_fault fault;
    int fault_pe;
    int failures;
    int key_count;
    char keys[KEYS_MAX][64];
    char *arena;
    size_t used;
    struct process *process;
};
static struct model *model;

static void *pages(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED) {
        abort();
    }
    return memory;
}

static size_t arena_bytes(void)
{
    return (size_t)model->processes * VALUES_MAX * 512;
}

void model_open(int processes, int of_node)
{
    model            = pages(sizeof *model);
    model->processes = processes;
    model->of_node   = of_node;
    model->fault_pe  = -1;
    model->arena     = pages(arena_bytes());
    model->process   = pages((size_t)processes * sizeof *model->process);
}

void model_close(void)
{
    munmap(model->process, (size_t)model->processes * sizeof *model->process);
    munmap(model->arena, arena_bytes());
    munmap(model, sizeof *model);
}

void model_fault(enum model_fault fault, int pe)
{
    model->fault    = fault;
    model->fault_pe = pe;
}

static bool is_faulty(enum model_fault fault)
{
    return (model->fault == fault) && (model->pe == model->fault_pe);
}

void model_become(int pe, bool verifies)
{
    memset(&model->process[pe].counts, 0, sizeof model->process[pe].counts);
    model->pe       = pe;
    model->verifies = verifies;
}

const struct model_counts *model_counts(int pe)
{
    return &model->process[pe].counts;
}

int model_failures(void)
{
    return model->failures;
}

static void fail(const char *what, int pe, const char *key)
{
    if ((model->failures++ < REPORTED_MAX) && (model->fault == MODEL_CORRECT)) {
        printf("FAILED: PE %d: %s, PE %d's %s\n", model->pe, what, pe, key);
    }
}

static struct process *self(void)
{
    return &model->process[model->pe];
}

static int key_of(const char *name)
{
    int i = 0;

    while ((i < model->key_count) && (strcmp(model->keys[i], name) != 0)) {
        i++;
    }
    if (i == KEYS_MAX) {
        abort();
    }
    if (i == model->key_count) {
        snprintf(model->keys[model->key_count++], sizeof model->keys[0], "%s", name);
    }
    return i + 1;
}

static struct value *find(int pe, const char *name)
{
    struct process *process = &model->process[pe];
    int key                 = key_of(name);
    int i;

    for (i = 0; i < process->value_count; i++) {
        if (process->values[i].key == key) {
            return &process->values[i];
        }
    }
    return NULL;
}

/* ---- the calls ---- */

static pmix_status_t init(pmix_proc_t *proc, pmix_info_t info[], size_t count)
{
    (void)info, (void)count;
    memset(proc, 0, sizeof *proc);
    snprintf(proc->nspace, sizeof proc->nspace, "model");
    proc->rank = (pmix_rank_t)model->pe;
    return PMIX_SUCCESS;
}

static pmix_status_t put(pmix_scope_t scope, const pmix_key_t key, pmix_value_t *data)
{
    struct process *process = self();
    struct value *value     = find(model->pe, key);

    (void)scope;
    if (value == NULL) {
        if (process->value_count == VALUES_MAX) {
            abort();
        }
        value       = &process->values[process->value_count++];
        *value      = (struct value){.key = key_of(key), .bytes = (uint32_t)data->data.bo.size};
        value->data = model->arena + model->used;
        model->used += (data->data.bo.size + 7) & ~(size_t)7;
    }
    memcpy(value->data, data->data.bo.bytes, value->bytes);
    if (is_faulty(MODEL_STALE)) {
        memset(value->data, 0x5a, value->bytes);
    }
    value->is_committed = false;
    process->counts.puts++;
    process->counts.put_bytes += value->bytes;
    return PMIX_SUCCESS;
}

static pmix_status_t commit(void)
{
    struct process *process = self();
    int i;

    for (i = 0; i < process->value_count; i++) {
        struct value *value = &process->values[i];

        if (!value->is_committed && !is_faulty(MODEL_UNCOMMITTED)) {
            value->is_committed  = true;
            value->barriers      = process->counts.barriers;
            value->node_barriers = process->counts.node_barriers;
        }
    }
    return PMIX_SUCCESS;
}

/* Of all, or of the node: others would not end in a job. */
static pmix_status_t barrier(const pmix_proc_t procs[], size_t count, const pmix_info_t info[],
                             size_t info_count, pmix_op_cbfunc_t done, void *data)
{
    int first  = model->pe / model->of_node * model->of_node;
    int left   = model->processes - first;
    int expect = (left < model->of_node) ? left : model->of_node;

    (void)info, (void)info_count;
    if (procs == NULL) {
        self()->counts.barriers++;
    } else {
        if (((int)count != expect) || ((int)procs[0].rank != first)) {
            fail("barriers with other PEs than those of its node", first, "barrier");
        }
        self()->counts.node_barriers++;
    }
    done(PMIX_SUCCESS, data);
    return PMIX_SUCCESS;
}

static pmix_value_t *fact(const char *key)
{
    pmix_value_t *value = calloc(1, sizeof *value);
    int first           = model->pe / model->of_node * model->of_node;
    int end             = first + model->of_node;

    if (value == NULL) {
        abort();
    }
    end = (end < model->processes) ? end : model->processes;
    if (strcmp(key, PMIX_JOB_SIZE) == 0) {
        value->type        = PMIX_UINT32;
        value->data.uint32 = (uint32_t)model->processes;
    } else if (strcmp(key, PMIX_LOCAL_PEERS) == 0) {
        char list[64];

        if (is_faulty(MODEL_LIST)) {
            first += (model->pe == end - 1) ? 1 : 0;
            end -= (model->pe == end - 1) ? 0 : 1;
        }
        snprintf(list, sizeof list, "%d-%d", first, end - 1);
        value->type        = PMIX_STRING;
        value->data.string = strdup(list);
    } else {
        free(value);
        return NULL;
    }
    return value;
}

static void check_get(int pe, const char *key, const struct value *value)
{
    bool is_near = (pe / model->of_node == model->pe / model->of_node);

    if ((value == NULL) || !value->is_committed ||
        ((value->barriers >= self()->counts.barriers) &&
         !(is_near && (value->node_barriers < self()->counts.node_barriers)))) {
        fail("no barrier is between the commit and the get of", pe, key);
    }
}

static pmix_status_t get(const pmix_proc_t *proc, const pmix_key_t key, const pmix_info_t info[],
                         size_t count, pmix_value_t **value_p)
{
    int pe       = (int)proc->rank;
    bool is_near = (pe / model->of_node == model->pe / model->of_node);
    int from     = is_faulty(MODEL_OTHER) ? ((pe + model->of_node) % model->processes) : pe;
    struct value *value;
    pmix_value_t *copy;

    (void)info, (void)count;
    if (proc->rank == PMIX_RANK_WILDCARD) {
        *value_p = fact(key);
        return (*value_p != NULL) ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
    }
    value = find(from, key);
    if (model->verifies) {
        check_get(pe, key, value);
    }
    value = (value != NULL) ? value : find(model->pe, key);
    copy  = calloc(1, sizeof *copy);
    if ((value == NULL) || (copy == NULL)) {
        free(copy);
        return PMIX_ERR_NOT_FOUND;
    }
    copy->type          = PMIX_BYTE_OBJECT;
    copy->data.bo.size  = value->bytes;
    copy->data.bo.bytes = malloc(value->bytes);
    if (copy->data.bo.bytes == NULL) {
        abort();
    }
    memcpy(copy->data.bo.bytes, value->data, value->bytes);
    self()->counts.gets += is_near ? 0 : 1;
    self()->counts.node_gets += is_near ? 1 : 0;
    self()->counts.got_bytes += value->bytes;
    *value_p = copy;
    return PMIX_SUCCESS;
}

/* The value is then at this node: the PMIx_Get() that follows is the one that counts. */
static pmix_status_t get_nb(const pmix_proc_t *proc, const pmix_key_t key, const pmix_info_t info[],
                            size_t count, pmix_value_cbfunc_t done, void *data)
{
    (void)proc, (void)key, (void)info, (void)count;
    done(PMIX_SUCCESS, NULL, data);
    return PMIX_SUCCESS;
}

static pmix_status_t finalize(const pmix_info_t info[], size_t count)
{
    (void)info, (void)count;
    return PMIX_SUCCESS;
}

static pmix_status_t end_job(int status, const char message[], pmix_proc_t procs[], size_t count)
{
    (void)status, (void)message, (void)procs, (void)count;
    abort();
}

static pmix_status_t watch(pmix_status_t codes[], size_t code_count, pmix_info_t info[],
                           size_t count, pmix_notification_fn_t handler,
                           pmix_hdlr_reg_cbfunc_t done, void *data)
{
    (void)codes, (void)code_count, (void)info, (void)count, (void)handler, (void)done, (void)data;
    return PMIX_SUCCESS;
}

static const char *text_of(pmix_status_t status)
{
    (void)status;
    return "of the model";
}

static const char *version(void)
{
    return "a model of PMIx";
}

/* ---- instead of the library ---- */

void *__wrap_dlopen(const char *name, int flags);
void *__wrap_dlsym(void *library, const char *name);

void *__wrap_dlopen(const char *name, int flags)
{
    (void)flags;
    return (strcmp(name, "libpmix.so.2") == 0) ? model : NULL;
}

void *__wrap_dlsym(void *library, const char *name)
{
    static const struct {
        const char *name;
        void (*call)(void);
    } calls[] = {
        {"PMIx_Init", (void (*)(void))init},
        {"PMIx_Finalize", (void (*)(void))finalize},
        {"PMIx_Abort", (void (*)(void))end_job},
        {"PMIx_Put", (void (*)(void))put},
        {"PMIx_Commit", (void (*)(void))commit},
        {"PMIx_Fence_nb", (void (*)(void))barrier},
        {"PMIx_Register_event_handler", (void (*)(void))watch},
        {"PMIx_Get", (void (*)(void))get},
        {"PMIx_Get_nb", (void (*)(void))get_nb},
        {"PMIx_Error_string", (void (*)(void))text_of},
        {"PMIx_Get_version", (void (*)(void))version},
    };
    size_t i;
    void *call = NULL;

    (void)library;
    for (i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        if (strcmp(name, calls[i].name) == 0) {
            memcpy(&call, &calls[i].call, sizeof call);
        }
    }
    return call;
}
