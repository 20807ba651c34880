/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is measured. Every peer is used as its own users use it: malloc's by LD_PRELOAD, the others
 * by a program that was linked with them. Which library answered is asked of the worker itself, so
 * that a name that the dynamic linker passed over is not measured as another's. */

#include "bench/alloc/alloc.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    ROWS_ANY = (1u << ALLOC_PAIR) | (1u << ALLOC_RANDOM) | (1u << ALLOC_THREADS) |
               (1u << ALLOC_PRODUCER) | (1u << ALLOC_FOOTPRINT) | (1u << ALLOC_RETENTION) |
               (1u << ALLOC_START),
    ROWS_OMP    = ROWS_ANY | (1u << ALLOC_LIMIT) | (1u << ALLOC_INIT) | (1u << ALLOC_GROWTH),
    ROWS_UMF    = ROWS_ANY | (1u << ALLOC_DEVICE) | (1u << ALLOC_LOOKUP) | (1u << ALLOC_FILL),
    ROWS_MALLOC = ROWS_ANY | (1u << ALLOC_DEVICE) | (1u << ALLOC_LOOKUP) | (1u << ALLOC_GROWTH),
    ROWS_OURS   = ROWS_OMP | (1u << ALLOC_DEVICE) | (1u << ALLOC_LOOKUP) | (1u << ALLOC_FILL),
    /* what neither allocator of a family changes is measured for the default one */
    ROWS_CUSTOM = ROWS_ANY
};

static const struct alloc_peer known[] = {
    [ALLOC_MEMSPAN]        = {.name   = "memspan",
                              .worker = "memspan",
                              .device = "memspan-api",
                              .rows   = ROWS_OURS},
    [ALLOC_MEMSPAN_CUSTOM] = {.name   = "memspan-custom",
                              .worker = "memspan",
                              .custom = true,
                              .rows   = ROWS_CUSTOM},
    {.name = "memspan-api", .worker = "memspan-api", .rows = ROWS_ANY},
    {.name = "glibc", .worker = "malloc", .rows = ROWS_MALLOC},
    {.name = "jemalloc", .worker = "malloc", .rows = ROWS_MALLOC, .preload = "libjemalloc.so.2"},
    {.name = "mimalloc", .worker = "malloc", .rows = ROWS_MALLOC, .preload = "libmimalloc.so.2"},
    {.name = "memkind", .worker = "memkind", .rows = ROWS_MALLOC},
    {.name = "umf-disjoint", .worker = "umf", .rows = ROWS_UMF},
    {.name = "libgomp", .worker = "libgomp", .rows = ROWS_OMP},
    {.name = "libgomp-custom", .worker = "libgomp", .custom = true, .rows = ROWS_CUSTOM},
    {.name = "libomp", .worker = "libomp", .rows = ROWS_OMP},
    {.name = "libomp-custom", .worker = "libomp", .custom = true, .rows = ROWS_CUSTOM},
    {.name = "libomp+mk", .worker = "libomp", .with_memkind = true, .rows = ROWS_OMP},
    {.name         = "libomp+mk-custom",
     .worker       = "libomp",
     .custom       = true,
     .with_memkind = true,
     .rows         = ROWS_CUSTOM},
};

enum { KNOWN_COUNT = sizeof(known) / sizeof(known[0]) };

_Static_assert((int)KNOWN_COUNT + (int)ALLOC_ALSO_MAX <= (int)ALLOC_PEERS_MAX, "too many peers");

/* ---- the list ---- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return (slash == NULL) ? path : slash + 1;
}

/* A library that is no malloc is one of those that workers are linked with, in another version: the
 * dynamic linker takes the preloaded one for the other, because both have one name inside. */
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

static bool add_also(struct alloc_peers *peers, const char *word, size_t length)
{
    const char *equals     = memchr(word, '=', length);
    size_t name_length     = (equals == NULL) ? 0 : (size_t)(equals - word);
    struct alloc_peer peer = {.worker = "malloc", .rows = ROWS_MALLOC};

    if ((name_length == 0) || (name_length >= sizeof(peer.name)) || (name_length + 1 == length) ||
        (length - name_length > sizeof(peer.preload))) {
        fprintf(stderr, "--also: '%.*s' is not NAME=LIBRARY\n", (int)length, word);
        return false;
    }
    (void)snprintf(peer.name, sizeof(peer.name), "%.*s", (int)name_length, word);
    (void)snprintf(peer.preload, sizeof(peer.preload), "%.*s", (int)(length - name_length - 1),
                   equals + 1);
    if (strpbrk(peer.preload, " :") != NULL) {
        fprintf(stderr, "--also: '%s' holds a blank or a colon, which LD_PRELOAD takes for two\n",
                peer.preload);
        return false;
    }
    for (size_t i = 0; i < peers->count; i++) {
        if (strcmp(peers->list[i].name, peer.name) == 0) {
            fprintf(stderr, "--also: there is a '%s' already\n", peer.name);
            return false;
        }
    }
    if (peers->count == (size_t)KNOWN_COUNT + ALLOC_ALSO_MAX) {
        fprintf(stderr, "--also: '%s' is one too many: %d at most\n", peer.name, ALLOC_ALSO_MAX);
        return false;
    }
    choose_worker(&peer);
    peers->list[peers->count++] = peer;
    return true;
}

static bool find_workers(char *folder, size_t folder_size)
{
    ssize_t length = readlink("/proc/self/exe", folder, folder_size - 32);
    char *slash;

    if (length <= 0) {
        fprintf(stderr, "cannot find the folder of this program: %s\n", strerror(errno));
        return false;
    }
    folder[length] = '\0';
    slash          = strrchr(folder, '/') + 1;
    (void)snprintf(slash, folder_size - (size_t)(slash - folder), "alloc");
    if (access(folder, X_OK) != 0) { /* not in a build tree: installed */
        (void)snprintf(slash, folder_size - (size_t)(slash - folder), "../libexec/memspan/bench");
    }
    return true;
}

bool alloc_peers_list(struct alloc_peers *peers_p, const char *also, const char *workers)
{
    memset(peers_p, 0, sizeof(*peers_p));
    memcpy(peers_p->list, known, sizeof(known));
    peers_p->count = KNOWN_COUNT;
    while ((also != NULL) && (*also != '\0')) {
        size_t length = strcspn(also, ",");
        if (!add_also(peers_p, also, length)) {
            return false;
        }
        also += length + (also[length] == ',');
    }
    for (size_t i = 0; i < peers_p->count; i++) {
        peers_p->names[i] = peers_p->list[i].name;
    }
    if (workers != NULL) {
        (void)snprintf(peers_p->workers, sizeof(peers_p->workers), "%s", workers);
        return true;
    }
    return find_workers(peers_p->workers, sizeof(peers_p->workers));
}

/* ---- what a worker needs ---- */

struct bench_command alloc_peer_command(const struct alloc_peers *peers,
                                        const struct alloc_peer *peer, enum alloc_row row)
{
    static char box[sizeof(peers->workers) + 8];
    static char links[sizeof(peers->workers) + 16];
    bool device = (row == ALLOC_DEVICE) || (row == ALLOC_FILL) || (row == ALLOC_LOOKUP);
    struct bench_command command = {.arguments = {NULL, peer->custom ? "custom" : "default"}};

    (void)snprintf(command.path, sizeof(command.path), "%s/%s", peers->workers,
                   (device && (peer->device != NULL)) ? peer->device : peer->worker);
    command.preload = (peer->preload[0] != '\0') ? peer->preload : NULL;
    if (peer->with_memkind) {
        (void)snprintf(links, sizeof(links), "%s/with-memkind", peers->workers);
        command.library_folder = links;
    }
    if (device && (peer->device != NULL) && (row != ALLOC_LOOKUP)) {
        (void)snprintf(box, sizeof(box), "%s/box.so", peers->workers);
        command.backend_path = box;
        command.devices      = "benchbox:0";
    }
    return command;
}

/* ---- who is here ---- */

static void read_field(const char *output, const char *key, char *value, size_t value_size)
{
    size_t length = strlen(key);

    for (const char *line = output; line != NULL; line = strchr(line, '\n')) {
        line += (*line == '\n');
        if ((strncmp(line, key, length) == 0) && (line[length] == ' ')) {
            (void)snprintf(value, value_size, "%.*s", (int)strcspn(line + length + 1, "\n"),
                           line + length + 1);
            return;
        }
    }
}

/* The distribution's version of a library that has none to tell. */
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

static void find_version(struct alloc_peer *peer, const char *output)
{
    char build_id[32] = "";

    read_field(output, "version", peer->version, sizeof(peer->version));
    if (peer->version[0] != '\0') {
        return;
    }
    read_field(output, "build-id", build_id, sizeof(build_id));
    if (!ask_distribution(peer->library, peer->version, sizeof(peer->version))) {
        (void)snprintf(peer->version, sizeof(peer->version), "build %s", build_id);
    }
}

/* A path: that file. A name: whatever the dynamic linker found under "libmimalloc" of
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

static void look(struct alloc_peers *peers, struct alloc_peer *peer, size_t timeout_s)
{
    struct bench_command command = alloc_peer_command(peers, peer, ALLOC_PAIR);
    struct bench_child child;
    char memkind[8] = "";

    command.arguments[0] = "describe";
    command.timeout_s    = timeout_s;
    if (access(command.path, X_OK) != 0) {
        (void)snprintf(peer->why, sizeof(peer->why),
                       "its library was not here when this program was built");
        return;
    }
    if (!bench_child_run(&command, &child)) {
        (void)snprintf(peer->why, sizeof(peer->why), "%s", child.failure);
        return;
    }
    read_field(child.output, "library", peer->library, sizeof(peer->library));
    read_field(child.output, "build", peer->build, sizeof(peer->build));
    read_field(child.output, "memkind", memkind, sizeof(memkind));
    if ((peer->preload[0] != '\0') && !same_library(peer->preload, peer->library)) {
        (void)snprintf(peer->why, sizeof(peer->why), "%.200s is not to be found", peer->preload);
        return;
    }
    if (peer->with_memkind && (strcmp(memkind, "1") != 0)) {
        (void)snprintf(peer->why, sizeof(peer->why), "it does not load libmemkind.so");
        return;
    }
    find_version(peer, child.output);
    peer->present = true;
}

void alloc_peers_look(struct alloc_peers *peers, unsigned mask, size_t timeout_s)
{
    for (size_t i = 0; i < peers->count; i++) {
        struct alloc_peer *peer = &peers->list[i];
        if ((mask & (1u << i)) == 0) {
            continue;
        }
        look(peers, peer, timeout_s);
    }
}
