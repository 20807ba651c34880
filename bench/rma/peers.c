/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is measured. A peer is used as its own users use it: a program is compiled by its wrapper and
 * started by its launcher. Which library answered is asked of the program itself, so that a
 * wrapper of the same name does not stand in for the one that is meant. */

#include "bench/rma/rma.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What every peer's worker is compiled with, above what the wrapper adds. */
#define COMPILE_OPTIONS "-O3 -std=gnu11 -Wno-deprecated-declarations"

#define OPENMPI                                                                                    \
    "mpirun --allow-run-as-root --oversubscribe --bind-to none "                                   \
    "--mca opal_common_ucx_opal_mem_hooks 0" /* without it, finalize crashes on Debian 12 */

/* ---- the list ---- */

static void add_known(struct rma_peers *peers)
{
    struct rma_peer *ours  = &peers->list[RMA_MEMSPAN];
    struct rma_peer *limit = &peers->list[RMA_LIMIT];
    struct rma_peer *other = &peers->list[RMA_LIMIT + 1];

    (void)snprintf(ours->name, sizeof(ours->name), "memspan");
    (void)snprintf(ours->compiler, sizeof(ours->compiler), "'%s/oshcc'", peers->tools);
    (void)snprintf(ours->launcher, sizeof(ours->launcher), "'%s/oshrun'", peers->tools);
    (void)snprintf(limit->name, sizeof(limit->name), "limit");
    (void)snprintf(limit->program, sizeof(limit->program), "%s/limit", peers->workers);
    (void)snprintf(other->name, sizeof(other->name), "ompi");
    (void)snprintf(other->compiler, sizeof(other->compiler), "oshcc");
    (void)snprintf(other->launcher, sizeof(other->launcher), OPENMPI);
    other->family = "liboshmem";
    peers->count  = RMA_LIMIT + 2;
}

static struct rma_peer *find_place(struct rma_peers *peers, const char *name, size_t length)
{
    for (size_t i = 0; i < peers->count; i++) {
        if ((strlen(peers->list[i].name) == length) &&
            (strncmp(peers->list[i].name, name, length) == 0)) {
            return &peers->list[i];
        }
    }
    if (peers->count == RMA_PEERS_MAX) {
        fprintf(stderr, "--peer: '%.*s' is one too many: %d in all\n", (int)length, name,
                RMA_PEERS_MAX);
        return NULL;
    }
    return &peers->list[peers->count++];
}

/* NAME=COMPILER,LAUNCHER: the launcher may hold commas, the compiler may not. */
static bool add_more(struct rma_peers *peers, const char *text)
{
    size_t name          = strcspn(text, "=,");
    const char *compiler = text + name + (text[name] == '=');
    size_t length        = strcspn(compiler, ",");
    const char *launcher = compiler + length + (compiler[length] == ',');
    struct rma_peer *peer;

    if ((text[name] != '=') || (name == 0) || (name >= sizeof(peer->name)) || (length == 0) ||
        (length >= sizeof(peer->compiler)) || (launcher[0] == '\0') ||
        (strlen(launcher) >= sizeof(peer->launcher))) {
        fprintf(stderr, "--peer: '%s' is not NAME=COMPILER,LAUNCHER\n", text);
        return false;
    }
    if ((strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.+") <
         name) ||
        ((name == 5) && (strncmp(text, "limit", 5) == 0))) {
        fprintf(stderr, "--peer: '%.*s' cannot be a peer's name\n", (int)name, text);
        return false;
    }
    peer = find_place(peers, text, name);
    if (peer == NULL) {
        return false;
    }
    memset(peer, 0, sizeof(*peer));
    (void)snprintf(peer->name, sizeof(peer->name), "%.*s", (int)name, text);
    (void)snprintf(peer->compiler, sizeof(peer->compiler), "%.*s", (int)length, compiler);
    (void)snprintf(peer->launcher, sizeof(peer->launcher), "%s", launcher);
    return true;
}

static bool find_folders(struct rma_peers *peers, const char *workers)
{
    ssize_t length = readlink("/proc/self/exe", peers->tools, sizeof(peers->tools) - 1);

    if (length <= 0) {
        fprintf(stderr, "cannot find the folder of this program: %s\n", strerror(errno));
        return false;
    }
    peers->tools[length]        = '\0';
    *strrchr(peers->tools, '/') = '\0';
    if (workers != NULL) {
        (void)snprintf(peers->workers, sizeof(peers->workers), "%s", workers);
        return true;
    }
    (void)snprintf(peers->workers, sizeof(peers->workers), "%s/rma", peers->tools);
    if (access(peers->workers, X_OK) != 0) { /* not in a build tree: installed */
        (void)snprintf(peers->workers, sizeof(peers->workers), "%s/../libexec/memspan/bench",
                       peers->tools);
    }
    return true;
}

bool rma_peers_list(struct rma_peers *peers_p, const struct bench_texts *more, const char *workers)
{
    memset(peers_p, 0, sizeof(*peers_p));
    if (!find_folders(peers_p, workers)) {
        return false;
    }
    add_known(peers_p);
    for (size_t i = 0; i < more->count; i++) {
        if (!add_more(peers_p, more->values[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < peers_p->count; i++) {
        peers_p->names[i] = peers_p->list[i].name;
    }
    return true;
}

/* ---- running ---- */

static void use_shell(struct bench_command *command, const char *words)
{
    (void)snprintf(command->path, sizeof(command->path), "/bin/sh");
    command->arguments[0] = "-c";
    command->arguments[1] = words;
}

bool rma_peer_run(const struct rma_peer *peer, const struct rma_job *job,
                  struct bench_child *child_p)
{
    struct bench_command command = {
        .one_processor = job->one_processor, .is_launcher = true, .timeout_s = job->timeout_s};
    const char *program = (job->program == NULL) ? peer->program : job->program;
    char words[2048];

    if (peer->launcher[0] == '\0') {
        (void)snprintf(words, sizeof(words), "exec '%s' %s", program, job->words);
    } else {
        (void)snprintf(words, sizeof(words), "exec env %s %s -n %zu '%s' %s",
                       (job->settings == NULL) ? "" : job->settings, peer->launcher, job->pe_count,
                       program, job->words);
    }
    use_shell(&command, words);
    return bench_child_run(&command, child_p);
}

bool rma_peer_compile(const struct rma_peers *peers, const struct rma_peer *peer,
                      const char *sources, const char *program, size_t timeout_s,
                      struct bench_child *child_p)
{
    struct bench_command command = {.timeout_s = timeout_s};
    char words[2048];

    (void)snprintf(words, sizeof(words), "%s %s -I '%s' -o '%s' '%s/%s/'*.c", peer->compiler,
                   COMPILE_OPTIONS, peers->workers, program, peers->workers, sources);
    use_shell(&command, words);
    return bench_child_run(&command, child_p);
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

static void ask(struct rma_peer *peer, size_t timeout_s)
{
    const struct rma_job job = {.words = "describe", .pe_count = 2, .timeout_s = timeout_s};
    const char *file_name;
    char name[64]     = "";
    char standard[16] = "";
    struct bench_child child;

    if (!rma_peer_run(peer, &job, &child)) {
        (void)snprintf(peer->why, sizeof(peer->why), "it does not start: %s", child.failure);
        return;
    }
    read_field(child.output, "library", peer->library, sizeof(peer->library));
    read_field(child.output, "compiler", peer->built_by, sizeof(peer->built_by));
    read_field(child.output, "name", name, sizeof(name));
    read_field(child.output, "standard", standard, sizeof(standard));
    (void)snprintf(peer->version, sizeof(peer->version), "%s, OpenSHMEM %s", name, standard);
    file_name = strrchr(peer->library, '/');
    file_name = (file_name == NULL) ? peer->library : file_name + 1;
    if ((peer->family != NULL) && (strncmp(file_name, peer->family, strlen(peer->family)) != 0)) {
        (void)snprintf(peer->why, sizeof(peer->why), "its compiler wrapper links %.160s",
                       peer->library);
        return;
    }
    peer->present = true;
}

static void build(struct rma_peers *peers, struct rma_peer *peer, size_t timeout_s)
{
    struct bench_child child;

    if (peer->compiler[0] == '\0') {
        peer->present = access(peer->program, X_OK) == 0;
        (void)snprintf(peer->why, sizeof(peer->why), "it was not built");
        (void)snprintf(peer->version, sizeof(peer->version), "the machine itself");
        return;
    }
    (void)snprintf(peer->program, sizeof(peer->program), "%s/%s", peers->folder, peer->name);
    if (!rma_peer_compile(peers, peer, "worker", peer->program, timeout_s, &child)) {
        (void)snprintf(peer->why, sizeof(peer->why), "its compiler does not build a program: %s",
                       child.failure);
        return;
    }
    ask(peer, timeout_s);
}

void rma_peers_build(struct rma_peers *peers, unsigned mask, size_t timeout_s)
{
    (void)snprintf(peers->folder, sizeof(peers->folder), "/tmp/memspan-rma-XXXXXX");
    if (mkdtemp(peers->folder) == NULL) {
        fprintf(stderr, "cannot make a folder in /tmp: %s\n", strerror(errno));
        peers->folder[0] = '\0';
        return;
    }
    for (size_t i = 0; i < peers->count; i++) {
        if ((mask & (1u << i)) != 0) {
            build(peers, &peers->list[i], timeout_s);
        }
    }
}

/* Compilers may leave more there than the programs that they were asked for. */
void rma_peers_release(struct rma_peers *peers)
{
    DIR *folder = (peers->folder[0] == '\0') ? NULL : opendir(peers->folder);
    const struct dirent *entry;

    if (folder == NULL) {
        return;
    }
    while ((entry = readdir(folder)) != NULL) {
        (void)unlinkat(dirfd(folder), entry->d_name, 0); /* "." and ".." are refused */
    }
    (void)closedir(folder);
    (void)rmdir(peers->folder);
    peers->folder[0] = '\0';
}
