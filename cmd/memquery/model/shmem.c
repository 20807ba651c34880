/* SPDX-License-Identifier: BSD-3-Clause */
/* shmem.c: --shmem, the symmetric partitions that an OpenSHMEM program would get here with this
 * environment, its peers' access to them, the transports that would reach the peers, and how
 * kernels reach them.
 *
 * The OpenSHMEM library is opened on demand, and no job is started: memquery does not link it. */

#include "cmd/memquery/model/model.h"
#include <dlfcn.h>
#include <shmemx.h>
#include <string.h>

static const char not_available[] = "it is not available";
static const char library_name[]  = "libmemspan-shmem.so.0";

struct library {
    int (*partition_plan)(int index, shmemx_partition_info_t *info);
    int (*transport_plan)(int index, shmemx_transport_info_t *info);
    int (*device_plan)(int index, shmemx_device_info_t *info);
};

static const char *kind_word(shmemx_kind_t kind)
{
    switch (kind) {
#define KIND_CASE(name, number, word)                                                              \
    case name:                                                                                     \
        return (word);
        SHMEMX_KIND_MAP(KIND_CASE)
#undef KIND_CASE
    }
    return "?";
}

static const char *policy_word(shmemx_policy_t policy)
{
    switch (policy) {
#define POLICY_CASE(name, number, word)                                                            \
    case name:                                                                                     \
        return (word);
        SHMEMX_POLICY_MAP(POLICY_CASE)
#undef POLICY_CASE
    }
    return "?";
}

/* ---- one partition ---- */

struct row {
    shmemx_partition_info_t info;
    int had; /* it is available */
};

static bool can(const struct row *row, long capability)
{
    return row->had && ((row->info.capabilities & capability) != 0);
}

/* How another PE of this node accesses that partition. */
static const char *peer_word(const struct row *row)
{
    if (!row->had) {
        return "none";
    }
    if (can(row, SHMEMX_CAP_PEER_ACCESS)) {
        return "load/store";
    }
    return can(row, SHMEMX_CAP_PEER_COPY) ? "driver copy" : "service";
}

/* The processor or driver that executes an atomic on it. */
static const char *atomic_word(const struct row *row)
{
    return !row->had ? "none" : (can(row, SHMEMX_CAP_PEER_ACCESS) ? "processor" : "service");
}

FIELD_READ(read_id)
{
    const struct row *row = record->row;

    value->number = row->info.id;
    snprintf(value->buffer, sizeof(value->buffer), "%d%s", row->info.id,
             row->info.is_default ? "*" : "");
    value->shown = value->buffer;
}

FIELD_READ_AS(read_kind_asked, text, struct row, kind_word(row->info.kind_asked))

FIELD_READ(read_kind_given)
{
    const struct row *row = record->row;

    value->text  = row->had ? row->info.kind_name : "";
    value->shown = row->had ? NULL : "NONE";
}

FIELD_READ_AS(read_policy, text, struct row, policy_word(row->info.policy))

FIELD_READ(read_page_size)
{
    const struct row *row = record->row;
    bool known            = (row->info.page_size_bytes != 0);

    value->size   = (row->had && known) ? row->info.page_size_bytes : MEMSPAN_UNKNOWN;
    value->reason = row->had ? "the driver decides" : not_available;
    value->shown  = known ? NULL : "-";
}

FIELD_READ(read_direct)
{
    const struct row *row = record->row;

    value->number = can(row, SHMEMX_CAP_DIRECT_ACCESS);
    value->shown  = value->number ? "load/store" : "copy";
}

FIELD_READ_AS(read_peers, text, struct row, peer_word(row))
FIELD_READ_AS(read_atomics, text, struct row, atomic_word(row))
FIELD_READ_AS(read_remote, text, struct row, row->had ? row->info.remote : "none")
FIELD_READ_AS(read_wait, number, struct row, can(row, SHMEMX_CAP_WAIT))

#define ROW(name) FIELD_AT(struct row, name)
static const struct field partition_fields[] = {
    FIELD("id", INT, 1, "ID", FIELD_BY(read_id), NULL),
    FIELD("default", BOOL, 0, NULL, ROW(info.is_default), NULL),
    FIELD("available", BOOL, 0, NULL, ROW(had), NULL),
    FIELD_QUANTITY("size", 2, "SIZE", UNIT_AUTO, ROW(info.size_bytes), NULL),
    FIELD("kind_asked", TEXT, 3, "ASKED", FIELD_BY(read_kind_asked), NULL),
    FIELD("kind_given", TEXT, 5, "GIVEN", FIELD_BY(read_kind_given), not_available),
    FIELD("policy", TEXT, 4, "POLICY", FIELD_BY(read_policy), NULL),
    FIELD("page_size_asked", SIZE, 0, NULL, ROW(info.page_size_asked_bytes), NULL),
    FIELD("page_size", SIZE, 7, "PAGE", FIELD_BY(read_page_size), NULL),
    FIELD("huge_pages", TEXT, 0, NULL, ROW(info.huge_pages), not_available),
    FIELD("persistence", TEXT, 0, NULL, ROW(info.persistence_note), "it ends with the job"),
    FIELD("resource", TEXT, 6, "RESOURCE", ROW(info.resource), not_available),
    FIELD("device", INT, 0, NULL, ROW(info.device), "it is the host's"),
    FIELD("host_load_store", BOOL, 8, "HOST", FIELD_BY(read_direct), NULL),
    FIELD("peers", TEXT, 9, "PEERS", FIELD_BY(read_peers), NULL),
    FIELD("atomics", TEXT, 10, "ATOMICS", FIELD_BY(read_atomics), NULL),
    FIELD("wait", BOOL, 0, NULL, FIELD_BY(read_wait), NULL),
    FIELD("other_hosts", TEXT, 11, "OTHER HOSTS", FIELD_BY(read_remote), NULL),
    FIELD("why", TEXT, 12, "WHY", ROW(info.why), NULL),
};
static const struct field_list partition_list = FIELD_LIST(partition_fields);

/* ---- one transport ---- */

static const char not_there[] = "it is not available";

#define TRANSPORT(name) FIELD_AT(shmemx_transport_info_t, name)

FIELD_READ(read_transport)
{
    const shmemx_transport_info_t *info = record->row;

    snprintf(value->buffer, sizeof(value->buffer), "%s%s", info->name, info->is_chosen ? "*" : "");
    value->text  = info->name;
    value->shown = value->buffer;
}

/* The processor or driver that executes a put. */
FIELD_READ_AS(read_puts, text, shmemx_transport_info_t,
              !row->is_available       ? ""
              : !row->is_network       ? "load/store"
              : row->target_progresses ? "service"
                                       : "network")
FIELD_READ_AS(read_transport_atomics, text, shmemx_transport_info_t,
              !row->is_available ? "" : (row->is_network ? "service" : "processor"))

FIELD_READ(read_device_memory)
{
    const shmemx_transport_info_t *info = record->row;

    value->text   = !info->is_available         ? ""
                    : !info->is_network         ? ""
                    : info->takes_device_memory ? "registered"
                                                : "staged";
    value->reason = info->is_available ? "each partition has it" : not_there;
}

static const struct field transport_fields[] = {
    FIELD("name", TEXT, 1, "TRANSPORT", FIELD_BY(read_transport), NULL),
    FIELD("available", BOOL, 0, NULL, TRANSPORT(is_available), NULL),
    FIELD("chosen", BOOL, 0, NULL, TRANSPORT(is_chosen), NULL),
    FIELD("reaches", TEXT, 2, "REACHES", TRANSPORT(reaches), NULL),
    FIELD("path", TEXT, 3, "BY", TRANSPORT(path), not_there),
    FIELD("puts", TEXT, 4, "PUTS", FIELD_BY(read_puts), not_there),
    FIELD("atomics", TEXT, 5, "ATOMICS", FIELD_BY(read_transport_atomics), not_there),
    FIELD("device_memory", TEXT, 6, "DEVICE MEMORY", FIELD_BY(read_device_memory), not_there),
    FIELD("why", TEXT, 7, "WHY", TRANSPORT(why), NULL),
};
static const struct field_list transport_list = FIELD_LIST(transport_fields);

/* ---- kernels of one device ---- */

static const char no_view[] = "they cannot call OpenSHMEM";

#define DEVICE(name) FIELD_AT(shmemx_device_info_t, name)

FIELD_READ(read_device)
{
    const shmemx_device_info_t *info = record->row;

    value->number = info->device;
    value->shown  = (info->device == MEMSPAN_HOST) ? "h" : NULL;
}

static const struct field device_fields[] = {
    FIELD("device", INT, 1, "KERNELS OF", FIELD_BY(read_device), NULL),
    FIELD("name", TEXT, 2, "NAME", DEVICE(name), NULL),
    FIELD("available", BOOL, 0, NULL, DEVICE(is_available), NULL),
    FIELD("own", TEXT, 3, "OWN MEMORY", DEVICE(own), no_view),
    FIELD("peers", TEXT, 4, "PEERS", DEVICE(peers), no_view),
    FIELD("other_hosts", TEXT, 5, "OTHER HOSTS", DEVICE(others), no_view),
    FIELD("why", TEXT, 6, "WHY", DEVICE(why), NULL),
};
static const struct field_list device_list = FIELD_LIST(device_fields);

/* ---- all of them ---- */

static bool open_library(struct library *library_p)
{
    void *handle = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);

    if (handle == NULL) {
        cli_complain("--shmem: %s; it is installed with Memspan's OpenSHMEM", dlerror());
        return false;
    }
    *(void **)&library_p->partition_plan = dlsym(handle, "shmemx_partition_plan");
    *(void **)&library_p->transport_plan = dlsym(handle, "shmemx_transport_plan");
    *(void **)&library_p->device_plan    = dlsym(handle, "shmemx_device_plan");
    if ((library_p->partition_plan == NULL) || (library_p->transport_plan == NULL) ||
        (library_p->device_plan == NULL)) {
        cli_complain("--shmem: %s is of another version", library_name);
        return false;
    }
    return true;
}

bool shmem_variable(int index, memspan_option_info_t *info_p)
{
    void *handle = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
    int (*describe)(int index, memspan_option_info_t *info) = NULL;

    if (handle != NULL) {
        *(void **)&describe = dlsym(handle, "shmemx_option_describe");
    }
    *info_p = (memspan_option_info_t){.struct_size = sizeof(*info_p)};
    return (describe != NULL) && (describe(index, info_p) == MEMSPAN_OK);
}

/* Rows of either list: one table, and the list of objects. */
struct rows {
    const struct field_list *list;
    struct cli_table table;
    json_t *objects;
};

static void rows_open(struct rows *rows, const struct field_list *list)
{
    rows->list    = list;
    rows->objects = json_array();
    field_open(list, NULL, &rows->table);
}

static void rows_add(struct rows *rows, const void *row)
{
    const struct record record = {.row = row};

    field_row(rows->list, &record, &rows->table);
    json_array_append_new(rows->objects, field_object(rows->list, &record));
}

/* The error that a call without such a row leaves; EXIT_YES: it was the last one. */
static int finish_calls(int status)
{
    if (status == MEMSPAN_ERR_NOT_FOUND) {
        return EXIT_YES;
    }
    cli_complain("--shmem: %s", memspan_error_text());
    return EXIT_USAGE;
}

static int add_partitions(const struct library *library, struct rows *rows)
{
    int code = EXIT_YES;

    for (int index = 0;; index++) {
        struct row row = {.info = {.struct_size = sizeof(row.info), .id = -1}};
        int status     = library->partition_plan(index, &row.info);

        if ((status != MEMSPAN_OK) && (row.info.id < 0)) {
            int last = finish_calls(status);

            return (last == EXIT_YES) ? code : last;
        }
        row.had = (status == MEMSPAN_OK);
        code    = row.had ? code : EXIT_ABSENT;
        rows_add(rows, &row);
    }
}

static int add_transports(const struct library *library, struct rows *rows)
{
    for (int index = 0;; index++) {
        shmemx_transport_info_t info = {.struct_size = sizeof(info)};
        int status                   = library->transport_plan(index, &info);

        if (status != MEMSPAN_OK) {
            return finish_calls(status);
        }
        rows_add(rows, &info);
    }
}

static int add_devices(const struct library *library, struct rows *rows)
{
    for (int index = 0;; index++) {
        shmemx_device_info_t info = {.struct_size = sizeof(info)};
        int status                = library->device_plan(index, &info);

        if (status != MEMSPAN_OK) {
            return finish_calls(status);
        }
        rows_add(rows, &info);
    }
}

/* The problems of its variables: to @p out, or, where that is NULL, as a list. */
static json_t *print_problems(FILE *out)
{
    memspan_option_info_t info;
    json_t *problems = json_array();

    for (int i = 0; shmem_variable(i, &info); i++) {
        char text[512];

        if (info.problem[0] == '\0') {
            continue;
        }
        snprintf(text, sizeof(text), "%s", info.problem);
        cli_clean(text);
        json_array_append_new(problems, json_string(text));
        if (out != NULL) {
            fprintf(out, "warning: environment: %s\n", text);
        }
    }
    return problems;
}

static void finish(const struct request *request, struct rows *partitions, struct rows *transports,
                   struct rows *devices, FILE *out)
{
    if (request->options->format == FORMAT_JSON) {
        json_t *document = json_document();

        json_put(document, "partitions", partitions->objects);
        json_put(document, "transports", transports->objects);
        json_put(document, "kernel_reach", devices->objects);
        json_put(document, "problems", print_problems(NULL));
        json_finish(document, out);
        cli_table_free(&partitions->table);
        cli_table_free(&transports->table);
        cli_table_free(&devices->table);
        return;
    }
    json_decref(print_problems(out));
    cli_table_close(&partitions->table, out);
    fprintf(out,
            "\nID of shmem_malloc(): *  PEERS of this node: load/store through shmem_ptr(), "
            "by its driver, or asked of the PE's service\n"
            "OTHER HOSTS put and get memory that is registered with the network when they first "
            "touch it; messages are executed by the PE\n\n");
    cli_table_close(&transports->table, out);
    fprintf(out, "\nTRANSPORT that a job would use: *  PUTS and ATOMICS of the service are "
                 "executed by the PE that owns the memory\n"
                 "DEVICE MEMORY that the network does not register is staged on the host\n\n");
    cli_table_close(&devices->table, out);
    fprintf(out, "\nKERNELS that call OpenSHMEM: load/store where the host maps the memory, else a "
                 "request, which a thread of the host executes; partitions: load/store in those of "
                 "the device\n");
    json_decref(partitions->objects);
    json_decref(transports->objects);
    json_decref(devices->objects);
}

int report_shmem(const struct request *request, FILE *out)
{
    struct library library;
    struct rows partitions;
    struct rows transports;
    struct rows devices;
    int partition_code;
    int code = EXIT_YES;

    if (!open_library(&library)) {
        return EXIT_ABSENT;
    }
    rows_open(&partitions, &partition_list);
    rows_open(&transports, &transport_list);
    rows_open(&devices, &device_list);
    partition_code = add_partitions(&library, &partitions);
    if (partition_code != EXIT_USAGE) {
        code = add_transports(&library, &transports);
    }
    if ((partition_code != EXIT_USAGE) && (code == EXIT_YES)) {
        code = add_devices(&library, &devices);
    }
    finish(request, &partitions, &transports, &devices, out);
    return (code != EXIT_YES) ? code : partition_code;
}
