/* SPDX-License-Identifier: BSD-3-Clause */
/* snapshot.c: devices, nodes, backends and limits; spaces are in space.c.
 *
 * Everything here is the library's answer; where it has none, its reason is kept. */

#include "cmd/memquery/model/model.h"
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

void snapshot_error(char *text, size_t size)
{
    const memspan_error_t *error = memspan_error_last();

    snprintf(text, size, "%s",
             (error->message[0] != '\0') ? error->message : memspan_status_text(error->status));
    if (error->call[0] != '\0') {
        cli_append(text, size, " (%s: %ld %s)", error->call, error->native_code,
                   error->native_text);
    }
    cli_clean(text);
}

static void warn(struct snapshot *snapshot, const char *text)
{
    snapshot->warnings =
        cli_grow(snapshot->warnings, snapshot->warning_count, sizeof(snapshot->warnings[0]));
    snprintf(snapshot->warnings[snapshot->warning_count++], sizeof(snapshot->warnings[0]), "%s",
             text);
}

/* ---- backends ---- */

/* The driver's own error: in the thread's record if this call opened the driver; otherwise at
 * the end of the reason, "... (opencl: clGetPlatformIDs: -1001 ...)". */
static void take_native(struct backend_row *row)
{
    const memspan_error_t *error = memspan_error_last();
    size_t length                = strlen(row->info.reason);
    char mark[24];
    const char *at;

    if ((error->call[0] != '\0') || (error->native_code != 0)) {
        snprintf(row->native, sizeof(row->native), "%s: %ld %s", error->call, error->native_code,
                 error->native_text);
    } else if ((length > 0) && (row->info.reason[length - 1] == ')')) {
        snprintf(mark, sizeof(mark), "(%s: ", row->info.name);
        at = strstr(row->info.reason, mark);
        if (at != NULL) {
            at += strlen(mark);
            snprintf(row->native, sizeof(row->native), "%.*s", (int)(strlen(at) - 1), at);
        }
    }
    cli_clean(row->native);
}

static void take_backend(struct snapshot *snapshot, const struct request *request, int index)
{
    struct backend_row *row;

    snapshot->backends =
        cli_grow(snapshot->backends, snapshot->backend_count, sizeof(snapshot->backends[0]));
    row                   = &snapshot->backends[snapshot->backend_count++];
    row->info.struct_size = sizeof(row->info);
    memspan_error_clear();
    if (memspan_backend_describe(index, &row->info) != MEMSPAN_OK) {
        row->info.status = memspan_error_last()->status;
        snprintf(row->info.name, sizeof(row->info.name), "%s", memspan_backend_name(index));
        snapshot_error(row->info.reason, sizeof(row->info.reason));
    }
    if (!row->info.on) {
        take_native(row);
    }
    row->failure = probe_failure(request, row->info.name);
    cli_clean(row->info.reason);
    cli_clean(row->info.hint);
}

static bool has_backend(const struct snapshot *snapshot, const char *name)
{
    for (size_t i = 0; i < snapshot->backend_count; i++) {
        if (strcmp(snapshot->backends[i].info.name, name) == 0) {
            return true;
        }
    }
    return false;
}

static void take_backends(struct snapshot *snapshot, const struct request *request)
{
    int count = memspan_backend_count();

    for (int i = 0; i < count; i++) {
        take_backend(snapshot, request, i);
    }
    for (size_t c = 0; c < request->failure_count; c++) {
        char text[512];

        if (has_backend(snapshot, request->failures[c].backend)) {
            continue; /* shown with the backends */
        }
        snprintf(text, sizeof(text), "%s FAILED: %s; it is not used here",
                 request->failures[c].backend, request->failures[c].what);
        warn(snapshot, text);
    }
}

/* ---- devices ---- */

/* Another device of its backend has its PCI address: both are parts of one card. */
static bool is_part(const struct snapshot *snapshot, const memspan_device_info_t *info)
{
    size_t count = 0;

    for (size_t i = 0; i < snapshot->device_count; i++) {
        const memspan_device_info_t *other = &snapshot->devices[i].info;

        count += (strcmp(other->backend, info->backend) == 0) &&
                 (strcmp(other->pci_address, info->pci_address) == 0);
    }
    return count > 1;
}

/* Devices of two backends with one PCI address, or one identity, are the same hardware. Those of
 * one backend never are: it would not list them twice. The address of parts is the card's, so
 * their identity decides. */
static bool is_same(const struct snapshot *snapshot, const memspan_device_info_t *a,
                    const memspan_device_info_t *b)
{
    bool addressed = (a->pci_address[0] != '\0') && (b->pci_address[0] != '\0');

    if (strcmp(a->backend, b->backend) == 0) {
        return false;
    }
    if (addressed && ((strcmp(a->pci_address, b->pci_address) != 0) ||
                      (!is_part(snapshot, a) && !is_part(snapshot, b)))) {
        return strcmp(a->pci_address, b->pci_address) == 0;
    }
    return (a->uid[0] != '\0') && (strcmp(a->uid, b->uid) == 0);
}

/* Once all are known. */
static void find_same(struct snapshot *snapshot)
{
    for (size_t j = 0; j < snapshot->device_count; j++) {
        size_t i = 0;

        while ((i < j) &&
               !is_same(snapshot, &snapshot->devices[i].info, &snapshot->devices[j].info)) {
            i++;
        }
        snapshot->devices[j].same_as = (int)i;
    }
}

static void take_device(struct snapshot *snapshot, int number)
{
    memspan_device_info_t info = {.struct_size = sizeof(info)};
    struct device_row *row;
    size_t i;

    if (memspan_device_describe(number, &info) != MEMSPAN_OK) {
        char text[512];
        char problem[400];

        snapshot_error(problem, sizeof(problem));
        snprintf(text, sizeof(text), "device %d cannot be described: %s", number, problem);
        warn(snapshot, text);
        return;
    }
    cli_clean(info.name);
    cli_clean(info.vendor);
    cli_clean(info.driver);
    cli_clean(info.uid);
    for (i = 0; i < MEMSPAN_CAPABILITY_ROOM; i++) {
        cli_clean(info.capability_note[i]);
    }
    for (i = 0; i < MEMSPAN_MODE_ROOM; i++) {
        cli_clean(info.modes[i].name);
        cli_clean(info.modes[i].source);
        cli_clean(info.modes[i].remedy);
    }
    snapshot->devices =
        cli_grow(snapshot->devices, snapshot->device_count, sizeof(snapshot->devices[0]));
    row       = &snapshot->devices[snapshot->device_count];
    row->info = info;
    if (number == MEMSPAN_HOST) {
        snprintf(row->label, sizeof(row->label), "h");
    } else {
        snprintf(row->label, sizeof(row->label), "d%d", number);
    }
    snapshot->device_count++;
}

static void take_devices(struct snapshot *snapshot)
{
    int count = memspan_device_count();
    int number;

    snapshot->host_number = memspan_host_device();
    take_device(snapshot, MEMSPAN_HOST);
    for (int i = 0; i < count; i++) {
        if (memspan_device_at(i, &number) == MEMSPAN_OK) {
            take_device(snapshot, number);
        }
    }
    find_same(snapshot);
}

int snapshot_device_index(const struct snapshot *snapshot, int number)
{
    number = (number == snapshot->host_number) ? MEMSPAN_HOST : number;
    for (size_t i = 0; i < snapshot->device_count; i++) {
        if (snapshot->devices[i].info.number == number) {
            return (int)i;
        }
    }
    return -1;
}

void snapshot_device_names(const struct snapshot *snapshot, size_t index, char *text, size_t size)
{
    text[0] = '\0';
    for (size_t i = 0; i < snapshot->device_count; i++) {
        const struct device_row *row = &snapshot->devices[i];

        if (row->same_as == snapshot->devices[index].same_as) {
            cli_append(text, size, "%s%s:%d", (text[0] == '\0') ? "" : " ", row->info.backend,
                       row->info.ordinal);
        }
    }
}

/* ---- nodes, limits, warnings ---- */

static void take_nodes(struct snapshot *snapshot)
{
    int count = memspan_numa_node_count();

    for (int i = 0; i < count; i++) {
        memspan_numa_node_info_t info = {.struct_size = sizeof(info)};

        if (memspan_numa_node_describe(i, &info) == MEMSPAN_OK) {
            snapshot->nodes =
                cli_grow(snapshot->nodes, snapshot->node_count, sizeof(snapshot->nodes[0]));
            snapshot->nodes[snapshot->node_count++] = info;
            if (info.note[0] != '\0') {
                cli_clean(info.note);
                warn(snapshot, info.note);
            }
        }
    }
}

static void take_memory_devices(struct snapshot *snapshot)
{
    int count = memspan_memory_device_count();

    for (int i = 0; i < count; i++) {
        memspan_memory_device_info_t info = {.struct_size = sizeof(info)};

        if (memspan_memory_device_describe(i, &info) == MEMSPAN_OK) {
            cli_clean(info.name);
            cli_clean(info.mode);
            cli_clean(info.why);
            snapshot->memory_devices =
                cli_grow(snapshot->memory_devices, snapshot->memory_device_count, sizeof(info));
            snapshot->memory_devices[snapshot->memory_device_count++] = info;
        }
    }
}

/* The limit does not bind root and processes with CAP_IPC_LOCK (bit 14). */
static bool may_lock_all(void)
{
    FILE *status            = fopen("/proc/self/status", "re");
    unsigned long long bits = 0;
    bool known              = false;
    char line[128];

    while ((status != NULL) && (fgets(line, sizeof(line), status) != NULL)) {
        known = known || (sscanf(line, "CapEff: %llx", &bits) == 1);
    }
    if (status != NULL) {
        fclose(status);
    }
    return known ? (((bits >> 14) & 1) != 0) : (geteuid() == 0);
}

static void take_limits(struct snapshot *snapshot)
{
    struct rlimit limit;
    char text[512];

    snapshot->lock_limit_bytes = MEMSPAN_UNKNOWN;
    if ((getrlimit(RLIMIT_MEMLOCK, &limit) != 0) || (limit.rlim_cur == RLIM_INFINITY) ||
        may_lock_all()) {
        return;
    }
    snapshot->lock_limit_bytes = limit.rlim_cur;
    snprintf(text, sizeof(text),
             "locked-memory limit %s: more pinned host memory than that is refused (remedy: "
             "ulimit -l unlimited, or memlock in /etc/security/limits.conf)",
             cli_size_text(limit.rlim_cur).text);
    warn(snapshot, text);
}

static void take_problems(struct snapshot *snapshot)
{
    memspan_option_info_t info;
    const char *problem;
    char text[512];

    for (int i = 0; (problem = memspan_option_problem(i)) != NULL; i++) {
        snprintf(text, sizeof(text), "environment: %s", problem);
        cli_clean(text);
        warn(snapshot, text);
    }
    for (int i = 0; shmem_variable(i, &info); i++) {
        if (info.problem[0] != '\0') {
            snprintf(text, sizeof(text), "environment: %s", info.problem);
            cli_clean(text);
            warn(snapshot, text);
        }
    }
}

void snapshot_take(struct snapshot *snapshot, const struct request *request)
{
    struct utsname system;

    *snapshot = (struct snapshot){.request = request};
    if (uname(&system) == 0) {
        snprintf(snapshot->host_name, sizeof(snapshot->host_name), "%.60s", system.nodename);
        cli_clean(snapshot->host_name);
    }
    take_backends(snapshot, request);
    take_devices(snapshot);
    share_take_all(snapshot, request->options);
    peer_take_all(snapshot);
    take_nodes(snapshot);
    take_memory_devices(snapshot);
    take_limits(snapshot);
    space_take_all(snapshot);
    take_problems(snapshot); /* last: a value is checked when it is first read */
}

void snapshot_free(struct snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->space_count; i++) {
        for (size_t j = 0; j < snapshot->spaces[i].resource_count; j++) {
            free(snapshot->spaces[i].resources[j].reach);
        }
        free(snapshot->spaces[i].resources);
    }
    free(snapshot->spaces);
    free(snapshot->nodes);
    free(snapshot->memory_devices);
    free(snapshot->peers);
    free(snapshot->devices);
    free(snapshot->backends);
    free(snapshot->warnings);
}
