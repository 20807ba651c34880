/* SPDX-License-Identifier: BSD-3-Clause */
/* shmem.c: --shmem, the symmetric partitions that an OpenSHMEM program would have here with this
 * environment, and what its peers could do with them.
 *
 * The OpenSHMEM library is opened when it is asked, and no job is started: memquery links neither
 * it nor anything that it may need. */

#include "cmd/memquery/model/report.h"
#include "cmd/memquery/output/grid.h"
#include "cmd/memquery/output/json.h"
#include "cmd/memquery/output/text.h"
#include <dlfcn.h>
#include <shmemx.h>
#include <string.h>

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
    bool had; /* it can be had */
};

static bool can(const struct row *row, long capability)
{
    return row->had && ((row->info.capabilities & capability) != 0);
}

/* How a PE of this node gets at another's memory of that partition. */
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

/* Who does an atomic on it. */
static const char *atomic_word(const struct row *row)
{
    return !row->had ? "none" : (can(row, SHMEMX_CAP_PEER_ACCESS) ? "processor" : "service");
}

static void add_row(struct grid *grid, const struct row *row)
{
    const shmemx_partition_info_t *info = &row->info;

    grid_add(grid, "%d%s", info->id, info->is_default ? "*" : "");
    grid_add(grid, "%s", text_from_size(info->size_bytes).text);
    grid_add(grid, "%s", kind_word(info->kind_asked));
    grid_add(grid, "%s", policy_word(info->policy));
    grid_add(grid, "%s", row->had ? info->kind_name : "NONE");
    grid_add(grid, "%s", info->resource);
    grid_add(grid, "%s",
             (info->page_size_bytes != 0) ? text_from_size(info->page_size_bytes).text : "");
    grid_add(grid, "%s", can(row, SHMEMX_CAP_DIRECT_ACCESS) ? "load/store" : "copy");
    grid_add(grid, "%s", peer_word(row));
    grid_add(grid, "%s", atomic_word(row));
    grid_add(grid, "%s", info->why);
}

static json_t *object_of(const struct row *row)
{
    const shmemx_partition_info_t *info = &row->info;
    static const char not_had[]         = "it cannot be had";
    json_t *object                      = json_object();

    json_put_int(object, "id", info->id);
    json_put_bool(object, "default", info->is_default != 0);
    json_put_bool(object, "available", row->had);
    json_put_int(object, "size", (long long)info->size_bytes);
    json_put_text(object, "kind_asked", kind_word(info->kind_asked));
    json_put_text_or(object, "kind_given", row->had ? info->kind_name : "", not_had);
    json_put_text(object, "policy", policy_word(info->policy));
    json_put_int(object, "page_size_asked", (long long)info->page_size_asked_bytes);
    json_put_size_or(object, "page_size",
                     (row->had && (info->page_size_bytes != 0)) ? info->page_size_bytes
                                                                : MEMSPAN_UNKNOWN,
                     row->had ? "the driver decides" : not_had);
    json_put_text_or(object, "resource", info->resource, not_had);
    json_put_int_or(object, "device", info->device, "it is the host's");
    json_put_bool(object, "host_load_store", can(row, SHMEMX_CAP_DIRECT_ACCESS));
    json_put_text(object, "peers", peer_word(row));
    json_put_text(object, "atomics", atomic_word(row));
    json_put_bool(object, "wait", can(row, SHMEMX_CAP_WAIT));
    json_put_text(object, "why", info->why);
    return object;
}

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
        fprintf(out,
                "\nID of shmem_malloc(): *  PEERS of this node: load/store through shmem_ptr(), "
                "by its driver, or asked of the PE's service\n");
    }
    return code;
}

int report_shmem(const struct request *request, FILE *out)
{
    static const char *const heads[] = {"ID",   "SIZE", "ASKED", "POLICY",  "GIVEN", "RESOURCE",
                                        "PAGE", "HOST", "PEERS", "ATOMICS", "WHY"};
    plan_call *plan                  = open_library();
    json_t *partitions;
    struct grid grid;
    int code = EXIT_YES;
    size_t i;
    int index;

    if (plan == NULL) {
        return EXIT_ABSENT;
    }
    partitions = json_array();
    grid_open(&grid, "lrlllllllll");
    for (i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        grid_add(&grid, "%s", heads[i]);
    }
    for (index = 0;; index++) {
        struct row row = {.info = {.struct_size = sizeof(row.info), .id = -1}};
        int status     = plan(index, &row.info);

        if ((status != MEMSPAN_OK) && (row.info.id < 0)) {
            if (status != MEMSPAN_ERR_NOT_FOUND) {
                cli_complain("--shmem: %s", memspan_error_text());
                code = EXIT_USAGE;
            }
            break;
        }
        row.had = (status == MEMSPAN_OK);
        code    = row.had ? code : EXIT_ABSENT;
        add_row(&grid, &row);
        json_array_append_new(partitions, object_of(&row));
    }
    return finish(request, partitions, &grid, code, out);
}
