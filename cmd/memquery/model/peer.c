/* SPDX-License-Identifier: BSD-3-Clause */
/* peer.c: the matrix of devices: a row for the device whose own memory it is, a column for the
 * device that reaches it. A device's own memory is its device memory; the host's is ordinary
 * host memory. */

#include "cmd/memquery/model/model.h"
#include <stdlib.h>
#include <string.h>

static memspan_kind_t own_kind(const struct snapshot *snapshot, size_t home)
{
    return (snapshot->devices[home].info.number == MEMSPAN_HOST) ? MEMSPAN_KIND_HOST
                                                                 : MEMSPAN_KIND_DEVICE;
}

static void read_reach(const struct snapshot *snapshot, size_t home, size_t from, struct peer *peer)
{
    memspan_kind_t kind = own_kind(snapshot, home);
    int owner           = snapshot->devices[home].info.number;
    int user            = snapshot->devices[from].info.number;

    if ((memspan_device_reach(owner, kind, user, &peer->reach) != MEMSPAN_OK) ||
        (memspan_device_reach_source(owner, kind, user, peer->source, sizeof(peer->source)) !=
         MEMSPAN_OK)) {
        snapshot_error(peer->source, sizeof(peer->source));
    }
    cli_clean(peer->source);
}

void peer_take_all(struct snapshot *snapshot)
{
    size_t count = snapshot->device_count;

    snapshot->peers = cli_calloc(count * count + 1, sizeof(*snapshot->peers));
    for (size_t home = 0; home < count; home++) {
        for (size_t from = 0; from < count; from++) {
            read_reach(snapshot, home, from, &snapshot->peers[home * count + from]);
        }
    }
}

const struct peer *peer_of(const struct snapshot *snapshot, size_t home, size_t from)
{
    return &snapshot->peers[home * snapshot->device_count + from];
}

/* "R+a": loads and stores over a link, with atomics. */
static void add_cell(struct cli_table *table, const memspan_reach_t *reach)
{
    static const char letters[]      = ".crPRL";
    static const char *const marks[] = {"", "+s", "+c", "+a"};
    size_t access                    = (size_t)reach->access;
    size_t coherence                 = (size_t)reach->coherence;

    cli_table_add(table, "%c%s", (access < sizeof(letters) - 1) ? letters[access] : '?',
                  (coherence < sizeof(marks) / sizeof(marks[0])) ? marks[coherence] : "");
}

/* Each source once, before its pairs; a device's own memory needs none. */
static void print_sources(const struct snapshot *snapshot, FILE *out)
{
    size_t count = snapshot->device_count;

    for (size_t i = 0; i < count * count; i++) {
        bool said = (i / count == i % count);

        for (size_t j = 0; (j < i) && !said; j++) {
            said = (j / count != j % count) &&
                   (strcmp(snapshot->peers[j].source, snapshot->peers[i].source) == 0);
        }
        if (said) {
            continue;
        }
        fprintf(out, "%s (device>home):", snapshot->peers[i].source);
        for (size_t j = i; j < count * count; j++) {
            if ((j / count != j % count) &&
                (strcmp(snapshot->peers[j].source, snapshot->peers[i].source) == 0)) {
                fprintf(out, " %s>%s", snapshot->devices[j % count].label,
                        snapshot->devices[j / count].label);
            }
        }
        fputc('\n', out);
    }
}

void peer_print(const struct snapshot *snapshot, bool sources, FILE *out)
{
    size_t count = snapshot->device_count;
    char *align  = cli_calloc(count + 3, 1);
    struct cli_table table;

    memset(align, 'l', count + 2);
    cli_table_open(&table, align);
    cli_table_add(&table, "PEER");
    cli_table_add(&table, "memory");
    for (size_t from = 0; from < count; from++) {
        cli_table_add(&table, "%s", snapshot->devices[from].label);
    }
    for (size_t home = 0; home < count; home++) {
        cli_table_add(&table, "%s", snapshot->devices[home].label);
        cli_table_add(&table, "%s", memspan_kind_name(own_kind(snapshot, home)));
        for (size_t from = 0; from < count; from++) {
            add_cell(&table, &peer_of(snapshot, home, from)->reach);
        }
    }
    cli_table_close(&table, out);
    if (sources) {
        fprintf(out,
                "a row's own memory as each column reaches it: L local  R remote load/store  P by "
                "page fault  r after registering  c copy only  . none  +a atomics too  +c all at "
                "once  +s one side at a time\n");
        print_sources(snapshot, out);
    }
    free(align);
}

json_t *peer_json(const struct snapshot *snapshot)
{
    json_t *array = json_array();

    for (size_t home = 0; home < snapshot->device_count; home++) {
        for (size_t from = 0; from < snapshot->device_count; from++) {
            const struct peer *peer = peer_of(snapshot, home, from);
            json_t *object          = json_object();

            json_put_int(object, "home", snapshot->devices[home].info.number);
            json_put_text(object, "kind", memspan_kind_name(own_kind(snapshot, home)));
            json_put_int(object, "device", snapshot->devices[from].info.number);
            json_put_text(object, "access", memspan_access_name(peer->reach.access));
            json_put_text(object, "coherence", memspan_coherence_name(peer->reach.coherence));
            json_put_bool(object, "load_store", peer->reach.access >= MEMSPAN_ACCESS_FAULT);
            json_put_bool(object, "copy", peer->reach.access >= MEMSPAN_ACCESS_COPY);
            json_put_bool(object, "atomics", peer->reach.coherence == MEMSPAN_COHERENCE_ATOMIC);
            json_put_text_or(object, "source", peer->source, "the backend says nothing");
            json_array_append_new(array, object);
        }
    }
    return array;
}
