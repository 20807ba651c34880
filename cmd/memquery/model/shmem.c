/* SPDX-License-Identifier: BSD-3-Clause */
/* shmem.c: --shmem, the symmetric partitions that an OpenSHMEM program would get here with this
 * environment, and what its peers can do with them.
 *
 * The OpenSHMEM library is opened on demand, and no job is started: memquery does not link it. */

#include "cmd/memquery/model/report.h"
#include "cmd/memquery/output/field.h"
#include "cmd/memquery/output/text.h"
#include <dlfcn.h>
#include <shmemx.h>
#include <string.h>

static const char not_had[]      = "it cannot be had";
static const char library_name[] = "libmemspan-shmem.so.0";

typedef int plan_call(int index, shmemx_partition_info_t *info);

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

/* What executes an atomic on it. */
static const char *atomic_word(const struct row *row)
{
    return !row->had ? "none" : (can(row, SHMEMX_CAP_PEER_ACCESS) ? "processor" : "service");
}

FIELD_READ(read_id)
{
    const struct row *row = record->row;

    value->number = row->info.id;
    snprintf(value->room, sizeof(value->room), "%d%s", row->info.id,
             row->info.is_default ? "*" : "");
    value->shown = value->room;
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
    value->reason = row->had ? "the driver decides" : not_had;
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
    FIELD("kind_given", TEXT, 5, "GIVEN", FIELD_BY(read_kind_given), not_had),
    FIELD("policy", TEXT, 4, "POLICY", FIELD_BY(read_policy), NULL),
    FIELD("page_size_asked", SIZE, 0, NULL, ROW(info.page_size_asked_bytes), NULL),
    FIELD("page_size", SIZE, 7, "PAGE", FIELD_BY(read_page_size), NULL),
    FIELD("resource", TEXT, 6, "RESOURCE", ROW(info.resource), not_had),
    FIELD("device", INT, 0, NULL, ROW(info.device), "it is the host's"),
    FIELD("host_load_store", BOOL, 8, "HOST", FIELD_BY(read_direct), NULL),
    FIELD("peers", TEXT, 9, "PEERS", FIELD_BY(read_peers), NULL),
    FIELD("atomics", TEXT, 10, "ATOMICS", FIELD_BY(read_atomics), NULL),
    FIELD("wait", BOOL, 0, NULL, FIELD_BY(read_wait), NULL),
    FIELD("other_hosts", TEXT, 11, "OTHER HOSTS", FIELD_BY(read_remote), NULL),
    FIELD("why", TEXT, 12, "WHY", ROW(info.why), NULL),
};
static const struct field_list fields = FIELD_LIST(partition_fields);

/* ---- all of them ---- */

static plan_call *open_library(void)
{
    void *library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
    plan_call *plan;

    if (library == NULL) {
        cli_complain("--shmem: %s; it is installed with Memspan's OpenSHMEM", dlerror());
        return NULL;
    }
    *(void **)&plan = dlsym(library, "shmemx_partition_plan");
    if (plan == NULL) {
        cli_complain("--shmem: %s is of another version", library_name);
    }
    return plan;
}

static int finish(const struct request *request, json_t *partitions, struct grid *grid, int code,
                  FILE *out)
{
    if (request->options->format == FORMAT_JSON) {
        json_t *document = json_document();

        json_put(document, "partitions", partitions);
        json_finish(document, out);
    } else {
        grid_close(grid, out);
        json_decref(partitions);
        fprintf(
            out,
            "\nID of shmem_malloc(): *  PEERS of this node: load/store through shmem_ptr(), "
            "by its driver, or asked of the PE's service\n"
            "OTHER HOSTS put and get memory that is registered with the network when they first "
            "touch it; messages are executed by the PE\n");
    }
    return code;
}

int report_shmem(const struct request *request, FILE *out)
{
    plan_call *plan = open_library();
    json_t *partitions;
    struct grid grid;
    int code = EXIT_YES;

    if (plan == NULL) {
        return EXIT_ABSENT;
    }
    partitions = json_array();
    field_open(&fields, NULL, &grid);
    for (int index = 0;; index++) {
        struct row row       = {.info = {.struct_size = sizeof(row.info), .id = -1}};
        struct record record = {.row = &row};
        int status           = plan(index, &row.info);

        if ((status != MEMSPAN_OK) && (row.info.id < 0)) {
            if (status != MEMSPAN_ERR_NOT_FOUND) {
                cli_complain("--shmem: %s", memspan_error_text());
                code = EXIT_USAGE;
            }
            break;
        }
        row.had = (status == MEMSPAN_OK);
        code    = row.had ? code : EXIT_ABSENT;
        field_row(&fields, &record, &grid);
        json_array_append_new(partitions, field_object(&fields, &record));
    }
    return finish(request, partitions, &grid, code, out);
}
