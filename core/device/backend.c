/* SPDX-License-Identifier: BSD-3-Clause */
/* backend.c: the list of backends, and the reasons why some are off.
 *
 * The list is fixed at first use: the built-in tables, then those that MEMSPAN_BACKEND_PATH names.
 * A slot is opened when something first needs its devices, under open_lock, and never closed:
 * memory of it may outlive every handle. Opening a driver can take seconds, so nothing else is done
 * under that lock, and the host's backend is opened without any other. */

#include "core/device/backend.h"
#include "core/base/error.h"
#include "core/base/fork.h"
#include "core/base/log.h"
#include "core/base/option.h"
#include "core/base/platform.h"
#include "core/base/process.h"
#include "core/base/text.h"
#include "core/device/driver.h"
#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SLOTS_MAX = 32 };

struct entry {
    struct msp_backend_slot slot; /* first: a slot pointer is an entry pointer */
    struct msp_driver driver;     /* the table of the slot, but for the host's */
    atomic_bool opened;
    bool is_plugin;
};

static struct entry entries[SLOTS_MAX] MSP_SPARSE;
static int entry_count;
static memspan_status_t list_status; /* MEMSPAN_ERR_CONFIG when a variable was refused */
static char list_problem[256];
static pthread_once_t list_once = PTHREAD_ONCE_INIT;
MSP_LOCK_STATIC(open_lock, MSP_RANK_BACKENDS); /* guards opening a slot */

/* ---- a backend's services ---- */

static void service_log(enum memspan_log_level level, const char *backend, const char *format, ...)
{
    char line[512];
    va_list args;

    if (!msp_log_on(level)) {
        return;
    }
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    msp_log_line(level, backend, "%s", line);
}

static void ensure_list(void);
static atomic_bool list_is_loading;

/* An option, also of a backend that is opened without the list. -1: there is none. */
static int find_option(const char *name)
{
    int option = msp_option_find(name);

    if ((option < 0) && !atomic_load(&list_is_loading)) {
        ensure_list();
        option = msp_option_find(name);
    }
    return option;
}

static const char *service_option(const char *name)
{
    int option = find_option(name);

    return (option < 0) ? "" : msp_option_text(option);
}

static uint64_t service_option_number(const char *name)
{
    int option = find_option(name);

    return (option < 0) ? 0 : msp_option_number(option);
}

static memspan_status_t service_option_refuse(const char *name, const char *format, ...)
{
    int option = find_option(name);
    char sentence[256];
    va_list args;

    va_start(args, format);
    vsnprintf(sentence, sizeof(sentence), format, args);
    va_end(args);
    return (option < 0) ? memspan_error(MEMSPAN_ERR_CONFIG, "%s: %s", name, sentence)
                        : msp_option_refuse_text(option, sentence);
}

static _Atomic(msp_describe_fn *) teller;

void msp_backend_set_describe(msp_describe_fn *tell)
{
    atomic_store(&teller, tell);
}

static void service_tell(const void *address)
{
    msp_describe_fn *tell = atomic_load(&teller);

    if (tell != NULL) {
        tell(address);
    }
}

const memspan_services_t memspan_services = {
    .struct_size   = sizeof(memspan_services_t),
    .fail          = msp_error_native,
    .log           = service_log,
    .option        = service_option,
    .tell          = service_tell,
    .option_number = service_option_number,
    .option_refuse = service_option_refuse,
};

const memspan_services_t *memspan_services_get(void)
{
    return &memspan_services;
}

/* ---- the list ---- */

static bool name_is_valid(const char *name)
{
    size_t i;

    if ((name == NULL) || !islower((unsigned char)name[0]) || (strlen(name) > 15)) {
        return false;
    }
    for (i = 0; name[i] != '\0'; i++) {
        if (!islower((unsigned char)name[i]) && !isdigit((unsigned char)name[i]) &&
            (name[i] != '_')) {
            return false;
        }
    }
    return true;
}

/* Whether the table has a function there: it may end before. */
static bool has_function(const memspan_backend_t *t, size_t offset)
{
    void (*function)(void) = NULL;

    if (offset + sizeof(function) <= t->struct_size) {
        memcpy(&function, (const char *)t + offset, sizeof(function));
    }
    return function != NULL;
}

/* The same, of the members that a table may end before. */
static const char *find_late_fault(const memspan_backend_t *t)
{
#define MEMBER(name, group)                                                                        \
    {                                                                                              \
        offsetof(memspan_backend_t, name), #group,                                                 \
            #name " is NULL, and others of the group " #group " are set"                           \
    }
    static const struct {
        size_t offset;
        const char *group;
        const char *fault;
    } members[] = {MEMBER(event_record, event),    MEMBER(event_wait, event),
                   MEMBER(event_done, event),      MEMBER(event_destroy, event),
                   MEMBER(queue_hold, hold),       MEMBER(queue_release, hold),
                   MEMBER(queue_allocated, order), MEMBER(queue_freed, order),
                   MEMBER(host_open, host),        MEMBER(host_close, host)};
#undef MEMBER
    const size_t count = sizeof(members) / sizeof(members[0]);
    size_t i;
    size_t j;

    for (i = 0; i < count; i++) {
        for (j = 0; (j < count) && has_function(t, members[i].offset); j++) {
            if ((strcmp(members[i].group, members[j].group) == 0) &&
                !has_function(t, members[j].offset)) {
                return members[j].fault;
            }
        }
    }
    if (has_function(t, offsetof(memspan_backend_t, queue_adopt)) && (t->queue_destroy == NULL)) {
        return "queue_destroy is NULL, and queue_adopt is set";
    }
    return NULL;
}

/* The first thing that is wrong with a table, or NULL. */
static const char *find_fault(const memspan_backend_t *t)
{
#define ALL_OR_NONE(a, b) (((a) == NULL) == ((b) == NULL))
    /* Members newer than the first version are NULL in the core's table (driver.h). */
    if (t->struct_size < offsetof(memspan_backend_t, reach_source)) {
        return "its table is shorter than the contract's";
    }
    if (t->title == NULL) {
        return "title is NULL";
    }
    if ((t->open == NULL) || (t->close == NULL)) {
        return "open or close is NULL";
    }
    if ((t->device_count == NULL) || (t->device_describe == NULL) || (t->reach == NULL)) {
        return "device_count, device_describe or reach is NULL";
    }
    if ((t->alloc == NULL) || (t->free == NULL)) {
        return "alloc or free is NULL";
    }
    if (((t->flags & MEMSPAN_BACKEND_KNOWS_MEMORY) != 0) && (t->pointer_describe == NULL)) {
        return "pointer_describe is NULL, and the flags say that it knows memory";
    }
    if (!ALL_OR_NONE(t->import, t->release)) {
        return "of import and release only one is set";
    }
    if (!ALL_OR_NONE(t->copy, t->fill) || !ALL_OR_NONE(t->copy, t->synchronize)) {
        return "of copy, fill and synchronize only some are set";
    }
    if (!ALL_OR_NONE(t->queue_create, t->queue_destroy)) {
        return "of queue_create and queue_destroy only one is set";
    }
    if (!ALL_OR_NONE(t->ipc_export, t->ipc_import) || !ALL_OR_NONE(t->ipc_export, t->ipc_close)) {
        return "of ipc_export, ipc_import and ipc_close only some are set";
    }
    return find_late_fault(t);
#undef ALL_OR_NONE
}

static struct entry *find_entry(const char *name)
{
    int i;

    for (i = 0; i < entry_count; i++) {
        if (strcmp(entries[i].slot.name, name) == 0) {
            return &entries[i];
        }
    }
    return NULL;
}

static struct entry *add_entry(const char *name, const char *origin)
{
    struct entry *e;

    if (entry_count == SLOTS_MAX) {
        msp_log(MEMSPAN_LOG_WARN, "core", "%s is left out: more than %d backends", origin,
                SLOTS_MAX);
        return NULL;
    }
    e = &entries[entry_count++];
    snprintf(e->slot.name, sizeof(e->slot.name), "%s", name);
    snprintf(e->slot.origin, sizeof(e->slot.origin), "%s", origin);
    return e;
}

/* The slot is off for good; it will not be opened. */
__attribute__((format(printf, 4, 5))) static void
turn_off(struct entry *e, memspan_status_t status, const char *hint, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(e->slot.reason, sizeof(e->slot.reason), format, args);
    va_end(args);
    snprintf(e->slot.hint, sizeof(e->slot.hint), "%s", (hint == NULL) ? "" : hint);
    e->slot.status = status;
    e->slot.on     = false;
    atomic_store_explicit(&e->opened, true, memory_order_release);
}

static void add_table(const memspan_backend_t *table, const char *origin, const char *fallback_name,
                      bool is_plugin)
{
    bool named       = name_is_valid(table->name);
    const char *name = named ? table->name : fallback_name;
    struct entry *twin;
    struct entry *e;
    const char *fault;
    bool is_host;

    if (table->abi != MEMSPAN_BACKEND_ABI) {
        e = add_entry(fallback_name, origin);
        if (e != NULL) {
            turn_off(e, MEMSPAN_ERR_ABI, "build the plug-in against this version's headers",
                     "%s was built for contract version %u; this library has version %u", origin,
                     table->abi, MEMSPAN_BACKEND_ABI);
        }
        return;
    }
    fault = named ? find_fault(table) : "its name is not of the form [a-z][a-z0-9_]*";
    twin  = find_entry(name);
    e     = add_entry((twin == NULL) ? name : fallback_name, origin);
    if (e == NULL) {
        return;
    }
    e->is_plugin = is_plugin;
    if (fault != NULL) {
        turn_off(e, MEMSPAN_ERR_ABI, NULL, "%s was refused: %s", origin, fault);
    } else if (twin != NULL) {
        turn_off(e, MEMSPAN_ERR_CONFLICT, NULL,
                 "%s was refused: there is a backend %s already (%s)", origin, name,
                 twin->slot.origin);
    } else {
        msp_driver_init(&e->driver, table);
        is_host       = (table->flags & MEMSPAN_BACKEND_IS_HOST) != 0;
        e->slot.table = is_host ? table : &e->driver.table;
        msp_option_add(name, e->driver.table.options, e->driver.table.option_count);
    }
}

/* The file's name without folder and ".so", as a stand-in for a backend that has no valid name. */
static void name_of_file(const char *path, char *name, size_t size)
{
    const char *slash = strrchr(path, '/');
    const char *base  = (slash == NULL) ? path : slash + 1;
    const char *dot   = strstr(base, ".so");
    int length        = (dot == NULL) ? (int)strlen(base) : (int)(dot - base);

    snprintf(name, size, "%.*s", length, base);
}

/* Asks a plug-in for its table. *problem_p: the reason where there is none; *hangs_p: it runs
 * still, and must stay loaded. */
static const memspan_backend_t *ask_plugin(void *handle, const char *name, const char **problem_p,
                                           bool *hangs_p)
{
    const memspan_backend_t *table = NULL;
    memspan_backend_entry_t entry;
    struct msp_error_saved callers;
    static char late[256];
    void *symbol = dlsym(handle, MEMSPAN_BACKEND_ENTRY);

    if (symbol == NULL) {
        *problem_p = "it exports no " MEMSPAN_BACKEND_ENTRY;
        return NULL;
    }
    memcpy(&entry, &symbol, sizeof(entry));
    msp_error_save(&callers);
    *problem_p = MEMSPAN_BACKEND_ENTRY "() returned NULL";
    if (msp_opening_ask(entry, name, &table) != MEMSPAN_OK) {
        snprintf(late, sizeof(late), "%s", memspan_error_last()->message);
        *problem_p = late;
        *hangs_p   = true;
    }
    msp_error_restore(&callers);
    return table;
}

static void add_plugin(const char *path)
{
    char name[16];
    struct entry *e;
    const memspan_backend_t *table = NULL;
    const char *problem            = "";
    bool hangs                     = false;
    void *handle                   = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    name_of_file(path, name, sizeof(name));
    if (handle == NULL) {
        problem = dlerror();
    } else {
        table = ask_plugin(handle, name, &problem, &hangs);
    }
    if (table != NULL) {
        add_table(table, path, name, true);
        return;
    }
    e = add_entry(name, path);
    if (e != NULL) {
        turn_off(e, hangs ? MEMSPAN_ERR_DRIVER : MEMSPAN_ERR_ABI,
                 "MEMSPAN_BACKEND_PATH names files or folders of plug-ins", "%s was not loaded: %s",
                 path, problem);
    }
    if ((handle != NULL) && !hangs) {
        dlclose(handle);
    }
}

static int is_shared_object(const struct dirent *d)
{
    const char *dot = strrchr(d->d_name, '.');

    return (d->d_name[0] != '.') && (dot != NULL) && (strcmp(dot, ".so") == 0);
}

static void add_plugins_of(const char *path)
{
    struct dirent **names = NULL;
    struct stat about;
    int count;
    int i;

    if ((stat(path, &about) != 0) || !S_ISDIR(about.st_mode)) {
        add_plugin(path);
        return;
    }
    count = scandir(path, &names, is_shared_object, alphasort);
    for (i = 0; i < count; i++) {
        char file[1024];
        snprintf(file, sizeof(file), "%s/%s", path, names[i]->d_name);
        add_plugin(file);
        free(names[i]);
    }
    free(names);
}

static const char *entry_name(size_t i)
{
    return ((int)i < entry_count) ? entries[i].slot.name : NULL;
}

/* MEMSPAN_BACKENDS: "a,b" keeps only those, "^a,b" leaves those out; the host always stays. */
static void apply_filter(const char *text)
{
    bool exclude          = (text[0] == '^');
    bool named[SLOTS_MAX] = {false};
    const char *word      = exclude ? text + 1 : text;
    int i;

    while (*word != '\0') {
        size_t length = strcspn(word, ",");
        char name[64];
        struct entry *e;

        snprintf(name, sizeof(name), "%.*s", (int)length, word);
        e = find_entry(name);
        if (e == NULL) {
            const char *nearest = msp_text_nearest(name, entry_name);
            list_status = msp_option_refuse(MSP_OPTION_BACKENDS, "no backend \"%s\"%s%s%s", name,
                                            nearest ? "; perhaps " : "", nearest ? nearest : "",
                                            nearest ? "?" : "");
            return;
        }
        named[e - entries] = true;
        word += length + ((word[length] == ',') ? 1 : 0);
    }
    for (i = 0; i < entry_count; i++) {
        const memspan_backend_t *table = entries[i].slot.table;
        if ((named[i] == exclude) && (table != NULL) &&
            ((table->flags & MEMSPAN_BACKEND_IS_HOST) == 0)) {
            turn_off(&entries[i], MEMSPAN_ERR_OFF, "change or unset MEMSPAN_BACKENDS",
                     "left out by MEMSPAN_BACKENDS=%.64s", text);
        }
    }
}

static void load_list_now(void *unused)
{
    const char *path = msp_option_text(MSP_OPTION_BACKEND_PATH);
    const char *filter;
    int i;

    (void)unused;
    atomic_store(&list_is_loading, true);
    for (i = 0; msp_backends_built_in[i] != NULL; i++) {
        add_table(msp_backends_built_in[i], "built in", "built_in", false);
    }
    while (*path != '\0') {
        size_t length = strcspn(path, ":");
        char one[512];
        snprintf(one, sizeof(one), "%.*s", (int)length, path);
        if (length > 0) {
            add_plugins_of(one);
        }
        path += length + ((path[length] == ':') ? 1 : 0);
    }
    filter = msp_option_text(MSP_OPTION_BACKENDS);
    if (filter[0] != '\0') {
        apply_filter(filter);
    }
    if (list_status != MEMSPAN_OK) {
        snprintf(list_problem, sizeof(list_problem), "%s", memspan_error_last()->message);
    }
    msp_option_check_names();
    atomic_store(&list_is_loading, false);
}

static void load_list(void)
{
    msp_stack_run(load_list_now, NULL);
}

static void ensure_list(void)
{
    pthread_once(&list_once, load_list);
}

/* ---- opening ---- */

static bool wanted_by_name(const char *name)
{
    const char *text = msp_option_text(MSP_OPTION_DEVICES);
    size_t length    = strlen(name);
    const char *at   = text;

    while ((at = strstr(at, name)) != NULL) {
        bool starts = (at == text) || (at[-1] == ',');
        if (starts && ((at[length] == ':') || (at[length] == ',') || (at[length] == '\0'))) {
            return true;
        }
        at += length;
    }
    return false;
}

static void open_entry(struct entry *e)
{
    const memspan_backend_t *table = e->slot.table;
    struct msp_error_saved callers;
    memspan_status_t status;
    int count = 0;

    if (((table->flags & MEMSPAN_BACKEND_OPT_IN) != 0) && !wanted_by_name(table->name)) {
        turn_off(e, MEMSPAN_ERR_OFF, "name it in MEMSPAN_DEVICES", "not asked for");
        return;
    }
    if (((table->flags & MEMSPAN_BACKEND_IS_HOST) == 0) && !msp_environment_is_trusted()) {
        turn_off(e, MEMSPAN_ERR_OFF, MSP_UNTRUSTED_HINT,
                 "not opened: " MSP_UNTRUSTED_REASON
                 ", and drivers load what its user's environment names");
        return;
    }
    msp_error_save(&callers);
    memspan_error_clear(); /* a driver that fails without a word gets no one else's */
    status = msp_opening_run(&e->driver, e->is_plugin, &count);
    if (status != MEMSPAN_OK) {
        const memspan_error_t *error = memspan_error_last();
        char hint[192];
        snprintf(hint, sizeof(hint), "%.180s", error->hint);
        msp_error_hint("%s", ""); /* kept apart from the reason */
        turn_off(e, status, hint, "%s", memspan_error_text());
        msp_log((status == MEMSPAN_ERR_OFF) ? MEMSPAN_LOG_INFO : MEMSPAN_LOG_WARN, table->name,
                "off: %s", e->slot.reason);
        msp_error_restore(&callers);
        return;
    }
    msp_error_restore(&callers); /* failures on the way to success */
    if (count <= 0) {
        turn_off(e, MEMSPAN_ERR_OFF, NULL, "its driver has no devices");
        return;
    }
    if (count > MSP_OPENING_DEVICES_MAX) {
        turn_off(e, MEMSPAN_ERR_DRIVER, "repair or remove the driver",
                 "its driver claims %d devices; more than %d are not believed", count,
                 MSP_OPENING_DEVICES_MAX);
        msp_log(MEMSPAN_LOG_WARN, table->name, "off: %s", e->slot.reason);
        return;
    }
    e->slot.state        = (e->slot.table == &e->driver.table) ? &e->driver : e->driver.state;
    e->slot.device_count = count;
    e->slot.on           = true;
    e->slot.status       = MEMSPAN_OK;
    snprintf(e->slot.reason, sizeof(e->slot.reason), "%d device%s", count, (count == 1) ? "" : "s");
    msp_log(MEMSPAN_LOG_INFO, table->name, "on: %s", e->slot.reason);
    /* Pairs with the acquire in ensure_open(): a thread that sees opened sees the slot. */
    atomic_store_explicit(&e->opened, true, memory_order_release);
}

static void ensure_open(struct entry *e)
{
    if (MSP_LIKELY(atomic_load_explicit(&e->opened, memory_order_acquire))) {
        return;
    }
    msp_lock(&open_lock);
    if (!atomic_load_explicit(&e->opened, memory_order_relaxed)) {
        open_entry(e);
    }
    msp_unlock(&open_lock);
}

const struct msp_backend_slot *msp_backend_of_host(void)
{
    int i;

    ensure_list();
    for (i = 0; i < entry_count; i++) {
        const memspan_backend_t *table = entries[i].slot.table;
        if ((table != NULL) && ((table->flags & MEMSPAN_BACKEND_IS_HOST) != 0)) {
            ensure_open(&entries[i]);
            if (!entries[i].slot.on) {
                memspan_error(MEMSPAN_ERR_OFF, "no host memory: %s", entries[i].slot.reason);
                return NULL;
            }
            return &entries[i].slot;
        }
    }
    memspan_error(MEMSPAN_ERR_INTERNAL, "no backend serves the host");
    return NULL;
}

int msp_backend_slots(void)
{
    ensure_list();
    return entry_count;
}

const struct msp_backend_slot *msp_backend_slot(int index)
{
    ensure_list();
    ensure_open(&entries[index]);
    return &entries[index].slot;
}

unsigned msp_backend_slot_flags(int index)
{
    ensure_list();
    return (entries[index].slot.table != NULL) ? entries[index].slot.table->flags : 0;
}

const struct msp_backend_slot *msp_backend_slot_if_open(int index)
{
    ensure_list();
    return atomic_load_explicit(&entries[index].opened, memory_order_acquire) ? &entries[index].slot
                                                                              : NULL;
}

memspan_status_t msp_backend_list_status(void)
{
    ensure_list();
    return (list_status == MEMSPAN_OK) ? MEMSPAN_OK
                                       : memspan_error(list_status, "%s", list_problem);
}

/* ---- public ---- */

int memspan_backend_count(void)
{
    return msp_backend_slots();
}

const char *memspan_backend_name(int index)
{
    ensure_list();
    return ((index >= 0) && (index < entry_count)) ? entries[index].slot.name : NULL;
}

memspan_status_t memspan_backend_describe(int index, memspan_backend_info_t *info_p)
{
    memspan_backend_info_t info = {.struct_size = sizeof(info)};
    const struct msp_backend_slot *slot;

    if ((info_p == NULL) || (index < 0) || (index >= msp_backend_slots())) {
        return memspan_error(MEMSPAN_ERR_INVALID, "no backend %d, or info_p is NULL", index);
    }
    slot = msp_backend_slot(index);
    snprintf(info.name, sizeof(info.name), "%s", slot->name);
    snprintf(info.title, sizeof(info.title), "%s", (slot->table != NULL) ? slot->table->title : "");
    snprintf(info.origin, sizeof(info.origin), "%s", slot->origin);
    snprintf(info.reason, sizeof(info.reason), "%s", slot->reason);
    snprintf(info.hint, sizeof(info.hint), "%s", slot->hint);
    info.on           = slot->on;
    info.device_count = slot->device_count;
    info.status       = slot->status;
    return msp_struct_write(info_p, &info, sizeof(info));
}

/* Options are complete when the backends are loaded, which have some of them. */
int memspan_option_count(void)
{
    ensure_list();
    return msp_option_known();
}

memspan_status_t memspan_option_describe(int index, memspan_option_info_t *info_p)
{
    ensure_list();
    return msp_option_describe(index, info_p);
}

int memspan_option_problem_count(void)
{
    ensure_list();
    msp_option_check_names();
    return msp_option_problem_count();
}

const char *memspan_option_problem(int index)
{
    ensure_list();
    msp_option_check_names();
    return msp_option_problem(index);
}
