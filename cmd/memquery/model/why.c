/* SPDX-License-Identifier: BSD-3-Clause */
/* why.c: --why NAME, the chain from the probe to the remedy.
 *
 * Every answer has the same four parts, so that programs can read it: the result of the probe,
 * the driver's own error, the cause, the remedy. */

#include "cmd/memquery/model/model.h"
#include <stdlib.h>
#include <string.h>

struct link {
    char probe[640];
    char native[320];
    char cause[896];
    char remedy[320];
};

struct answer {
    const char *subject; /* the object of that name */
    struct link *links;  /* a kind has one per device */
    size_t link_count;
    int code;
};

static struct link *add_link(struct answer *answer)
{
    answer->links = cli_grow(answer->links, answer->link_count, sizeof(answer->links[0]));
    return &answer->links[answer->link_count++];
}

/* ---- one of each sort ---- */

static void explain_backend(struct answer *answer, const struct backend_row *row)
{
    struct link *link = add_link(answer);

    answer->subject = "backend";
    snprintf(link->native, sizeof(link->native), "%s", row->native);
    snprintf(link->remedy, sizeof(link->remedy), "%s", row->info.hint);
    if (row->failure != NULL) {
        answer->code = EXIT_PROBE;
        snprintf(link->probe, sizeof(link->probe), "FAILED: %s", row->failure->what);
        snprintf(link->cause, sizeof(link->cause), "the driver under %s is broken",
                 (row->info.title[0] == '\0') ? row->info.name : row->info.title);
        snprintf(link->remedy, sizeof(link->remedy),
                 "repair or remove the driver, or leave the backend out: MEMSPAN_BACKENDS=^%s",
                 row->info.name);
        return;
    }
    answer->code = row->info.on ? EXIT_YES : EXIT_ABSENT;
    snprintf(link->probe, sizeof(link->probe), "%s (%s) is %s; devices: %d", row->info.title,
             row->info.origin, row->info.on ? "on" : "off", row->info.device_count);
    snprintf(link->cause, sizeof(link->cause), "%s", row->info.reason);
}

static void explain_missing_backend(struct answer *answer, const char *name)
{
    struct link *link = add_link(answer);

    answer->subject = "backend";
    answer->code    = EXIT_ABSENT;
    snprintf(link->probe, sizeof(link->probe), "not probed");
    snprintf(link->cause, sizeof(link->cause), "this library has no backend for %s", name);
    snprintf(link->remedy, sizeof(link->remedy),
             "a plug-in on MEMSPAN_BACKEND_PATH, or the openmp backend in an offload program");
}

static void explain_kind(struct answer *answer, const struct device_row *row, memspan_kind_t kind)
{
    struct link *link = add_link(answer);
    bool offered      = (row->info.kinds & (1u << kind)) != 0;
    bool gain         = (row->info.kinds_without_gain & (1u << kind)) == 0;

    snprintf(link->probe, sizeof(link->probe), "%s (%s:%d, %s) %s %s memory", row->label,
             row->info.backend, row->info.ordinal, row->info.name,
             offered ? "offers" : "does not offer", memspan_kind_name(kind));
    snprintf(link->cause, sizeof(link->cause), "%s%s", row->info.kind_note[kind],
             (offered && !gain && (strstr(row->info.kind_note[kind], "gain") == NULL))
                 ? " (a stronger kind costs nothing more here)"
                 : "");
    if (!offered && (row->info.number != MEMSPAN_HOST)) {
        snprintf(link->remedy, sizeof(link->remedy),
                 "a kind that it offers: see memquery --plan devices=%d,host", row->info.number);
    }
    if (offered) {
        answer->code = EXIT_YES;
    }
}

/* A mode decides which memory a device reaches; if it is off, the remedy turns it on. */
static void explain_modes(struct answer *answer, const struct device_row *row)
{
    for (size_t i = 0; (i < MEMSPAN_MODE_ROOM) && (row->info.modes[i].name[0] != '\0'); i++) {
        const memspan_device_mode_t *mode = &row->info.modes[i];
        struct link *link                 = add_link(answer);

        snprintf(link->probe, sizeof(link->probe), "%s (%s:%d): %s is %s", row->label,
                 row->info.backend, row->info.ordinal, mode->name,
                 (mode->on < 0) ? "not known" : ((mode->on > 0) ? "on" : "off"));
        snprintf(link->cause, sizeof(link->cause), "%s", mode->source);
        snprintf(link->remedy, sizeof(link->remedy), "%s", mode->remedy);
    }
}

static void explain_sharing(struct answer *answer, const struct device_row *row, const char *way,
                            const struct sharing *sharing)
{
    struct link *link = add_link(answer);

    snprintf(link->probe, sizeof(link->probe), "%s (%s:%d): sharing by %s is %s", row->label,
             row->info.backend, row->info.ordinal, way, share_state_name(sharing->state));
    snprintf(link->native, sizeof(link->native), "%s", sharing->native);
    snprintf(link->cause, sizeof(link->cause), "%s", sharing->detail);
    snprintf(link->remedy, sizeof(link->remedy), "%s", sharing->remedy);
}

static void explain_device(struct answer *answer, const struct device_row *row)
{
    const memspan_device_info_t *info = &row->info;

    answer->subject = "device";
    snprintf(add_link(answer)->probe, sizeof(answer->links[0].probe),
             "%s:%d is device %d: %s, driver %s", info->backend, info->ordinal, info->number,
             info->name, (info->driver[0] == '\0') ? "unknown" : info->driver);
    for (int kind = MEMSPAN_KIND_HOST; kind < MEMSPAN_KIND_COUNT; kind++) {
        explain_kind(answer, row, (memspan_kind_t)kind);
    }
    explain_modes(answer, row);
    if (info->number != MEMSPAN_HOST) {
        explain_sharing(answer, row, "ipc", &row->ipc);
        explain_sharing(answer, row, "dmabuf", &row->dmabuf);
        explain_sharing(answer, row, "rdma", &row->rdma);
    }
    answer->code = EXIT_YES;
}

static void explain_missing_device(struct answer *answer, const struct snapshot *snapshot)
{
    struct link *link = add_link(answer);

    answer->subject = "device";
    answer->code    = EXIT_ABSENT;
    snprintf(link->probe, sizeof(link->probe), "no such device; devices besides the host: %zu",
             snapshot->device_count - 1);
    if (snapshot->device_count == 1) {
        cli_append(link->probe, sizeof(link->probe), " (%d means the host then)",
                   snapshot->host_number);
    }
    for (size_t i = 1; i < snapshot->device_count; i++) {
        cli_append(link->probe, sizeof(link->probe), " %s", snapshot->devices[i].label);
    }
    for (size_t i = 0; i < snapshot->backend_count; i++) {
        const struct backend_row *row = &snapshot->backends[i];

        if (!row->info.on) {
            cli_append(link->cause, sizeof(link->cause), "%s%s: %s",
                       (link->cause[0] == '\0') ? "" : "; ", row->info.name,
                       (row->failure != NULL) ? row->failure->what : row->info.reason);
        }
    }
    snprintf(link->remedy, sizeof(link->remedy), "MEMSPAN_DEVICES chooses and orders devices");
}

static int code_of_state(enum resource_state state)
{
    switch (state) {
    case RESOURCE_OK:
        return EXIT_YES;
    case RESOURCE_OFF:
        return EXIT_ABSENT;
    case RESOURCE_ALIAS:
    case RESOURCE_CONDITIONAL:
        break;
    }
    return EXIT_CONDITIONAL;
}

static void explain_resource(struct answer *answer, const struct snapshot *snapshot,
                             const struct space_row *space, const struct resource *resource)
{
    struct link *link = add_link(answer);
    char home[48];
    int code = code_of_state(resource->state);
    bool reason =
        resource->planned && (resource->plan.why[0] != '\0') &&
        ((resource->note[0] == '\0') || (strstr(resource->plan.why, resource->note) == NULL));

    resource_home(snapshot, resource, home, sizeof(home));
    snprintf(link->probe, sizeof(link->probe), "%s in %s: %s memory, home %s, %s",
             resource->info.name, space->info.name, memspan_kind_name(resource->info.kind), home,
             cli_size_text(resource->info.capacity_bytes).text);
    snprintf(link->cause, sizeof(link->cause), "%s%s%s%s%s", resource_state_name(resource->state),
             (resource->note[0] == '\0') ? "" : ": ", resource->note, reason ? "; " : "",
             reason ? resource->plan.why : "");
    if (resource->state == RESOURCE_CONDITIONAL) {
        snprintf(link->remedy, sizeof(link->remedy), "%s",
                 (snapshot->lock_limit_bytes != MEMSPAN_UNKNOWN)
                     ? "raise memlock (ulimit -l unlimited)"
                     : "guarantee=required refuses what is conditional");
    }
    /* One usable resource suffices. */
    if ((answer->link_count == 1) || (code == EXIT_YES)) {
        answer->code = code;
    }
}

static void explain_space(struct answer *answer, const struct snapshot *snapshot,
                          const struct space_row *row)
{
    answer->subject = "space";
    if ((row->status != MEMSPAN_OK) || (row->resource_count == 0)) {
        struct link *link = add_link(answer);

        answer->code = EXIT_ABSENT;
        snprintf(link->probe, sizeof(link->probe), "%s is not available (%s)", row->info.name,
                 memspan_status_name(row->status));
        snprintf(link->cause, sizeof(link->cause), "%s", row->problem);
        return;
    }
    for (size_t i = 0; i < row->resource_count; i++) {
        explain_resource(answer, snapshot, row, &row->resources[i]);
    }
}

static void explain_every_kind(struct answer *answer, const struct snapshot *snapshot,
                               memspan_kind_t kind)
{
    answer->subject = "kind";
    answer->code    = EXIT_ABSENT;
    for (size_t i = 0; i < snapshot->device_count; i++) {
        explain_kind(answer, &snapshot->devices[i], kind);
    }
}

/* ---- printing ---- */

static void print_text(const struct answer *answer, const char *name, FILE *out)
{
    fprintf(out, "%s (%s)\n", name, answer->subject);
    for (size_t i = 0; i < answer->link_count; i++) {
        const struct link *link = &answer->links[i];
        struct cli_table table;

        cli_table_open(&table, "lll");
        cli_table_add(&table, " ");
        cli_table_add(&table, "probe");
        cli_table_add(&table, "%s", link->probe);
        cli_table_add(&table, " ");
        cli_table_add(&table, "native");
        cli_table_add(&table, "%s", link->native);
        cli_table_add(&table, " ");
        cli_table_add(&table, "cause");
        cli_table_add(&table, "%s", link->cause);
        cli_table_add(&table, " ");
        cli_table_add(&table, "remedy");
        cli_table_add(&table, "%s", link->remedy);
        cli_table_close(&table, out);
    }
}

static void print_json(const struct answer *answer, const char *name, FILE *out)
{
    json_t *document = json_document();
    json_t *chain    = json_array();

    json_put_text(document, "name", name);
    json_put_text(document, "subject", answer->subject);
    json_put_int(document, "exit_code", answer->code);
    for (size_t i = 0; i < answer->link_count; i++) {
        const struct link *link = &answer->links[i];
        json_t *object          = json_object();

        json_put_text(object, "probe", link->probe);
        json_put_text_or(object, "native", link->native, "no driver reported an error");
        json_put_text_or(object, "cause", link->cause, "nothing is wrong");
        json_put_text_or(object, "remedy", link->remedy, "there is nothing to do");
        json_array_append_new(chain, object);
    }
    json_put(document, "chain", chain);
    json_finish(document, out);
}

static void explain(struct answer *answer, const struct snapshot *snapshot, const struct name *name,
                    const char *text)
{
    switch (name->sort) {
    case NAME_BACKEND:
        explain_backend(answer, name->backend);
        break;
    case NAME_MISSING_BACKEND:
        explain_missing_backend(answer, text);
        break;
    case NAME_DEVICE:
        explain_device(answer, name->device);
        break;
    case NAME_MISSING_DEVICE:
        explain_missing_device(answer, snapshot);
        break;
    case NAME_SPACE:
        explain_space(answer, snapshot, name->space);
        break;
    case NAME_RESOURCE:
        answer->subject = "resource";
        explain_resource(answer, snapshot, name->space, name->resource);
        break;
    case NAME_OFFER:
        answer->subject = "resource";
        answer->code    = EXIT_ABSENT;
        explain_kind(answer, name->device, name->kind);
        break;
    case NAME_KIND:
        explain_every_kind(answer, snapshot, name->kind);
        break;
    case NAME_UNKNOWN:
        break;
    }
}

int report_why(const struct request *request, FILE *out)
{
    const char *text           = request->options->argument;
    const struct failure *fail = probe_failure(request, text);
    struct answer answer       = {.subject = "", .code = EXIT_ABSENT};
    struct text_list names     = {0};
    struct snapshot snapshot;
    struct name name;

    snapshot_take(&snapshot, request);
    name = name_find(&snapshot, text, NAME_ANY, &names);
    if ((name.sort == NAME_UNKNOWN) && (fail != NULL)) {
        struct backend_row row = {.failure = fail};

        snprintf(row.info.name, sizeof(row.info.name), "%.15s", text);
        explain_backend(&answer, &row);
    } else if (name.sort == NAME_UNKNOWN) {
        answer.code = text_unknown("backend, device, space or kind", text, &names);
        goto free_snapshot;
    } else {
        explain(&answer, &snapshot, &name, text);
    }
    if ((answer.code == EXIT_ABSENT) && (request->failure_count > 0)) {
        answer.code = EXIT_PROBE; /* the failed backend may have it */
    }
    if (request->options->format == FORMAT_JSON) {
        print_json(&answer, text, out);
    } else {
        print_text(&answer, text, out);
    }

free_snapshot:
    free(answer.links);
    free(names.items);
    snapshot_free(&snapshot);
    return answer.code;
}
