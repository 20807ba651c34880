/* SPDX-License-Identifier: BSD-3-Clause */
/* peers.c: the allocators. Each is used as its users use it: malloc by LD_PRELOAD, the others by a
 * program that was linked with them. The worker says which library answered: a library that the
 * dynamic linker did not find is not measured as another. */

#include "bench/alloc/alloc.h"
#include "cmd/common/cli.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    ROWS_ANY = (1u << ALLOC_PAIR) | (1u << ALLOC_RANDOM) | (1u << ALLOC_THREADS) |
               (1u << ALLOC_PRODUCER) | (1u << ALLOC_FOOTPRINT) | (1u << ALLOC_RETENTION) |
               (1u << ALLOC_ARRAYS) | (1u << ALLOC_START) | (1u << ALLOC_MANY),
    ROWS_OMP = ROWS_ANY | (1u << ALLOC_LIMIT) | (1u << ALLOC_INIT) | (1u << ALLOC_GROWTH) |
               (1u << ALLOC_LARGE) | (1u << ALLOC_TEAM),
    ROWS_UMF    = ROWS_ANY | (1u << ALLOC_DEVICE) | (1u << ALLOC_LOOKUP) | (1u << ALLOC_FILL),
    ROWS_MALLOC = ROWS_ANY | (1u << ALLOC_DEVICE) | (1u << ALLOC_LOOKUP) | (1u << ALLOC_GROWTH) |
                  (1u << ALLOC_LARGE),
    ROWS_OURS = ROWS_OMP | (1u << ALLOC_DEVICE) | (1u << ALLOC_LOOKUP) | (1u << ALLOC_FILL)
};

/* "-custom" peers follow the peer that they are chosen with. */
static const struct {
    const char *name;
    struct alloc_peer facts;
} known[] = {
    {"memspan", {.worker = "memspan", .device = "memspan-api", .rows = ROWS_OURS}},
    {"memspan-custom", {.worker = "memspan", .custom = true, .rows = ROWS_ANY}},
    {"memspan-api", {.worker = "memspan-api", .rows = ROWS_ANY}},
    {"glibc", {.worker = "malloc", .rows = ROWS_MALLOC}},
    {"jemalloc", {.worker = "malloc", .rows = ROWS_MALLOC, .preload = "libjemalloc.so.2"}},
    {"mimalloc", {.worker = "malloc", .rows = ROWS_MALLOC, .preload = "libmimalloc.so.2"}},
    {"memkind", {.worker = "memkind", .rows = ROWS_MALLOC}},
    {"umf-disjoint", {.worker = "umf", .rows = ROWS_UMF}},
    {"libgomp", {.worker = "libgomp", .rows = ROWS_OMP}},
    {"libgomp-custom", {.worker = "libgomp", .custom = true, .rows = ROWS_ANY}},
    {"libomp", {.worker = "libomp", .rows = ROWS_OMP}},
    {"libomp-custom", {.worker = "libomp", .custom = true, .rows = ROWS_ANY}},
    {"libomp+mk", {.worker = "libomp", .with_memkind = true, .rows = ROWS_OMP}},
    {"libomp+mk-custom",
     {.worker = "libomp", .custom = true, .with_memkind = true, .rows = ROWS_ANY}},
};

enum { KNOWN_COUNT = sizeof(known) / sizeof(known[0]), ALSO_MAX = 6 };

_Static_assert((int)KNOWN_COUNT + (int)ALSO_MAX <= (int)BENCH_PEERS_MAX, "too many peers");

struct alloc_peer alloc_peers[BENCH_PEERS_MAX];

/* ---- the list ---- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return (slash == NULL) ? path : slash + 1;
}

/* A library that is no malloc is another version of one that workers are linked with: the dynamic
 * linker uses the preloaded one, since both have the same soname. */
static void choose_worker(struct alloc_peer *peer)
{
    static const struct {
        const char *prefix;
        const char *worker;
        const char *device;
        unsigned rows;
    } kinds[]        = {{"libmemspan", "memspan", "memspan-api", ROWS_OURS},
                        {"libgomp", "libgomp", NULL, ROWS_OMP},
                        {"libomp", "libomp", NULL, ROWS_OMP}};
    const char *name = base_name(peer->preload);

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strncmp(name, kinds[i].prefix, strlen(kinds[i].prefix)) == 0) {
            peer->worker = kinds[i].worker;
            peer->device = kinds[i].device;
            peer->rows   = kinds[i].rows;
        }
    }
}

static void add_peer(struct bench_run *run, const char *name, const struct alloc_peer *facts)
{
    struct bench_peer *peer = &run->peers[run->peer_count];

    alloc_peers[run->peer_count++] = *facts;
    (void)snprintf(peer->name, sizeof(peer->name), "%s", name);
    peer->follows = facts->custom;
    peer->unasked = strcmp(name, "memspan-api") == 0;
    peer->role    = (strncmp(name, "memspan", 7) == 0)            ? BENCH_OURS
                    : (strncmp(facts->worker, "memspan", 7) == 0) ? BENCH_BESIDE
                                                                  : BENCH_OTHER;
    peer->origin  = peer->version;
}

static bool add_also(struct bench_run *run, const char *word, size_t length)
{
    const char *equals      = memchr(word, '=', length);
    size_t name_length      = (equals == NULL) ? 0 : (size_t)(equals - word);
    struct alloc_peer facts = {.worker = "malloc", .rows = ROWS_MALLOC};
    char name[sizeof(run->peers[0].name)];

    if ((name_length == 0) || (name_length >= sizeof(name)) || (name_length + 1 == length) ||
        (length - name_length > sizeof(facts.preload))) {
        cli_complain("--also: \"%.*s\" is not NAME=LIBRARY", (int)length, word);
        return false;
    }
    (void)snprintf(name, sizeof(name), "%.*s", (int)name_length, word);
    (void)snprintf(facts.preload, sizeof(facts.preload), "%.*s", (int)(length - name_length - 1),
                   equals + 1);
    if (strpbrk(facts.preload, " :") != NULL) {
        cli_complain("--also: \"%s\" holds a blank or a colon, which separate the libraries of "
                     "LD_PRELOAD",
                     facts.preload);
        return false;
    }
    for (size_t i = 0; i < run->peer_count; i++) {
        if (strcmp(run->peers[i].name, name) == 0) {
            cli_complain("--also: the peer \"%s\" exists already", name);
            return false;
        }
    }
    if (run->peer_count == (size_t)KNOWN_COUNT + ALSO_MAX) {
        cli_complain("--also: \"%s\" is one too many: %d at most", name, ALSO_MAX);
        return false;
    }
    choose_worker(&facts);
    add_peer(run, name, &facts);
    return true;
}

bool alloc_peers_list(struct bench_run *run)
{
    const char *also = alloc_also;

    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        add_peer(run, known[i].name, &known[i].facts);
    }
    while ((also != NULL) && (*also != '\0')) {
        size_t length = strcspn(also, ",");
        if (!add_also(run, also, length)) {
            return false;
        }
        also += length + (also[length] == ',');
    }
    return true;
}

/* ---- what a worker needs ---- */

struct bench_command alloc_peer_command(const struct bench_run *run, const struct alloc_peer *peer,
                                        enum alloc_row row)
{
    bool device = (row == ALLOC_DEVICE) || (row == ALLOC_FILL) || (row == ALLOC_LOOKUP);
    struct bench_command command = {.arguments = {NULL, peer->custom ? "custom" : "default"},
                                    .timeout_s = run->timeout_s};
    const char *inherited        = cli_environment(CLI_LD_LIBRARY_PATH);

    (void)snprintf(command.path, sizeof(command.path), "%s/%s", run->workers,
                   (device && (peer->device != NULL)) ? peer->device : peer->worker);
    if (peer->preload[0] != '\0') {
        (void)snprintf(command.settings[0], sizeof(command.settings[0]), "LD_PRELOAD=%s",
                       peer->preload);
    }
    if (peer->with_memkind) {
        (void)snprintf(command.settings[1], sizeof(command.settings[1]),
                       "LD_LIBRARY_PATH=%s/with-memkind%s%s", run->workers,
                       (inherited == NULL) ? "" : ":", (inherited == NULL) ? "" : inherited);
    }
    if (device && (peer->device != NULL) && (row != ALLOC_LOOKUP)) {
        (void)snprintf(command.settings[2], sizeof(command.settings[2]),
                       "MEMSPAN_BACKEND_PATH=%s/box.so", run->workers);
        (void)snprintf(command.settings[3], sizeof(command.settings[3]),
                       "MEMSPAN_DEVICES=benchbox:0");
    }
    return command;
}

/* ---- which peers are here ---- */

/* The distribution's version of a library that does not report its own. */
static bool ask_distribution(const char *library, char *version, size_t version_size)
{
    struct bench_command command = {
        .path = "/usr/bin/dpkg-query", .arguments = {"-S", library}, .timeout_s = 10};
    char package[128];
    struct bench_child child;

    if ((library[0] != '/') || !bench_child_run(&command, &child)) {
        return false;
    }
    (void)snprintf(package, sizeof(package), "%.*s", (int)strcspn(child.output, ": ,\n"),
                   child.output);
    command.arguments[0] = "-W";
    command.arguments[1] = "-f=${Version}\n";
    command.arguments[2] = package;
    if (!bench_child_run(&command, &child) || (child.output[0] == '\0')) {
        return false;
    }
    (void)snprintf(version, version_size, "%.*s", (int)strcspn(child.output, "\n"), child.output);
    return true;
}

static void find_version(struct bench_peer *peer, const struct bench_child *child)
{
    char build_id[32] = "";

    bench_child_field(child, "version", peer->version, sizeof(peer->version));
    if (peer->version[0] != '\0') {
        return;
    }
    bench_child_field(child, "build-id", build_id, sizeof(build_id));
    if (!ask_distribution(peer->library, peer->version, sizeof(peer->version))) {
        (void)snprintf(peer->version, sizeof(peer->version), "build %s", build_id);
    }
}

/* A path names that file; a name, the file that the dynamic linker found for "libmimalloc" of
 * "libmimalloc.so.2". */
static bool same_library(const char *asked, const char *answered)
{
    const char *name = base_name(asked);
    char *path;
    bool same;

    if (name == asked) {
        return strncmp(name, base_name(answered), strcspn(name, ".")) == 0;
    }
    path = realpath(asked, NULL);
    same = (path != NULL) && (strcmp(path, answered) == 0);
    free(path);
    return same;
}

static void find_peer(const struct bench_run *run, struct bench_peer *peer,
                      struct alloc_peer *facts)
{
    struct bench_command command = alloc_peer_command(run, facts, ALLOC_PAIR);
    struct bench_child child;
    char memkind[8] = "";

    command.arguments[0] = "describe";
    if (access(command.path, X_OK) != 0) {
        (void)snprintf(peer->why, sizeof(peer->why),
                       "its library was not here when this program was built");
        return;
    }
    if (!bench_child_run(&command, &child)) {
        (void)snprintf(peer->why, sizeof(peer->why), "%s", child.failure);
        return;
    }
    bench_child_field(&child, "library", peer->library, sizeof(peer->library));
    bench_child_field(&child, "build", facts->build, sizeof(facts->build));
    bench_child_field(&child, "memkind", memkind, sizeof(memkind));
    if ((facts->preload[0] != '\0') && !same_library(facts->preload, peer->library)) {
        (void)snprintf(peer->why, sizeof(peer->why), "%.200s is not to be found", facts->preload);
        return;
    }
    if (facts->with_memkind && (strcmp(memkind, "1") != 0)) {
        (void)snprintf(peer->why, sizeof(peer->why), "it does not load libmemkind.so");
        return;
    }
    find_version(peer, &child);
    peer->present = true;
}

void alloc_peers_find(struct bench_run *run)
{
    for (size_t p = 0; p < run->peer_count; p++) {
        if ((run->chosen & (1u << p)) != 0) {
            find_peer(run, &run->peers[p], &alloc_peers[p]);
        }
    }
}
