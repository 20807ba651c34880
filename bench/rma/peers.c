/* SPDX-License-Identifier: BSD-3-Clause */
/* peers.c: the libraries. Each is used as its users use it: its wrapper compiles a program, its
 * launcher starts it. The program says which library it runs with: another wrapper of the same name
 * is not measured in its place. */

#include "bench/rma/rma.h"
#include "cmd/common/cli.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PEERS_MAX = 12 };

/* Of every peer's worker, besides what the wrapper adds. */
#define COMPILE_OPTIONS "-O3 -std=gnu11 -D_GNU_SOURCE -Wno-deprecated-declarations"

#define OPENMPI                                                                                    \
    "mpirun --allow-run-as-root --oversubscribe --bind-to none "                                   \
    "--mca opal_common_ucx_opal_mem_hooks 0" /* without it, finalize crashes on Debian 12 */

struct rma_peer rma_peers[BENCH_PEERS_MAX];

static char folder[64]; /* where programs are built; "" before and after */

/* ---- the list ---- */

static void set_words(struct bench_run *run, size_t p, const char *compiler, size_t length,
                      const char *launcher)
{
    struct rma_peer *facts = &rma_peers[p];

    *facts = (struct rma_peer){.family = NULL};
    (void)snprintf(facts->compiler, sizeof(facts->compiler), "%.*s", (int)length, compiler);
    (void)snprintf(facts->launcher, sizeof(facts->launcher), "%s", launcher);
    (void)snprintf(facts->origin, sizeof(facts->origin), "%.*s; %s", (int)length, compiler,
                   launcher);
    run->peers[p].origin = facts->origin;
    if (strncmp(run->peers[p].name, "memspan", 7) == 0) { /* also "memspan-ucx" */
        run->peers[p].role = BENCH_OURS;
    }
}

static size_t add_peer(struct bench_run *run, const char *name, size_t length)
{
    struct bench_peer *peer = &run->peers[run->peer_count];

    (void)snprintf(peer->name, sizeof(peer->name), "%.*s", (int)length, name);
    return run->peer_count++;
}

static void add_known(struct bench_run *run)
{
    char compiler[300];
    char launcher[300];

    (void)add_peer(run, "memspan", 7);
    (void)snprintf(compiler, sizeof(compiler), "'%s/oshcc'", run->tools);
    (void)snprintf(launcher, sizeof(launcher), "'%s/oshrun'", run->tools);
    set_words(run, RMA_MEMSPAN, compiler, strlen(compiler), launcher);
    run->peers[add_peer(run, "limit", 5)].role = BENCH_BESIDE;
    set_words(run, RMA_LIMIT, "", 0, "");
    (void)snprintf(rma_peers[RMA_LIMIT].program, sizeof(rma_peers[RMA_LIMIT].program), "%s/limit",
                   run->workers);
    set_words(run, add_peer(run, "ompi", 4), "oshcc", 5, OPENMPI);
    rma_peers[RMA_LIMIT + 1].family = "liboshmem";
}

/* The peer with that name, or a new one; PEERS_MAX after a message. */
static size_t find_place(struct bench_run *run, const char *name, size_t length)
{
    for (size_t p = 0; p < run->peer_count; p++) {
        if ((strlen(run->peers[p].name) == length) &&
            (strncmp(run->peers[p].name, name, length) == 0)) {
            return p;
        }
    }
    if (run->peer_count == PEERS_MAX) {
        cli_complain("\"%.*s\" is one peer too many: %d in all", (int)length, name, PEERS_MAX);
        return PEERS_MAX;
    }
    return add_peer(run, name, length);
}

/* A program of --beside: one without a folder is ours. */
static void set_program(struct bench_run *run, size_t p, const char *program, size_t length)
{
    struct rma_peer *facts = &rma_peers[p];
    bool ours              = memchr(program, '/', length) == NULL;

    facts->compiler[0] = '\0';
    (void)snprintf(facts->program, sizeof(facts->program), "%s%s%.*s", ours ? run->workers : "",
                   ours ? "/" : "", (int)length, program);
    run->peers[p].role = BENCH_BESIDE;
}

/* NAME=COMPILER,LAUNCHER, or with a program for --beside: the launcher may hold commas. */
static bool add_more(struct bench_run *run, const char *option, const char *text)
{
    bool beside          = strcmp(option, "--beside") == 0;
    size_t name          = strcspn(text, "=,");
    const char *compiler = text + name + (text[name] == '=');
    size_t length        = strcspn(compiler, ",");
    const char *launcher = compiler + length + (compiler[length] == ',');
    size_t p;

    if ((text[name] != '=') || (name == 0) || (name >= sizeof(run->peers[0].name)) ||
        (length == 0) || (length >= sizeof(rma_peers[0].compiler)) || (launcher[0] == '\0') ||
        (strlen(launcher) >= sizeof(rma_peers[0].launcher))) {
        cli_complain("%s: \"%s\" is not NAME=%s,LAUNCHER", option, text,
                     beside ? "PROGRAM" : "COMPILER");
        return false;
    }
    if ((strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.+") <
         name) ||
        ((name == 5) && (strncmp(text, "limit", 5) == 0))) {
        cli_complain("%s: \"%.*s\" cannot be a peer's name", option, (int)name, text);
        return false;
    }
    p = find_place(run, text, name);
    if (p == PEERS_MAX) {
        return false;
    }
    set_words(run, p, compiler, length, launcher);
    if (beside) {
        set_program(run, p, compiler, length);
    }
    return true;
}

bool rma_peers_list(struct bench_run *run)
{
    add_known(run);
    for (size_t i = 0; i < rma_more.count; i++) {
        if (!add_more(run, "--peer", rma_more.values[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < rma_beside.count; i++) {
        if (!add_more(run, "--beside", rma_beside.values[i])) {
            return false;
        }
    }
    return true;
}

/* ---- running ---- */

static bool run_shell(const char *words, const struct bench_run *run, bool is_launcher,
                      bool one_processor, struct bench_child *child_p)
{
    const struct bench_command command = {.path          = "/bin/sh",
                                          .arguments     = {"-c", words},
                                          .one_processor = one_processor,
                                          .is_launcher   = is_launcher,
                                          .timeout_s     = run->timeout_s};

    return bench_child_run(&command, child_p);
}

bool rma_peer_run(const struct bench_run *run, size_t peer, const struct rma_job *job,
                  struct bench_child *child_p)
{
    const struct rma_peer *facts = &rma_peers[peer];
    const char *program          = (job->program == NULL) ? facts->program : job->program;
    char words[2048];

    if (facts->launcher[0] == '\0') {
        (void)snprintf(words, sizeof(words), "exec '%s' %s", program, job->words);
    } else {
        (void)snprintf(words, sizeof(words), "exec env %s %s -n 2 '%s' %s",
                       (job->settings == NULL) ? "" : job->settings, facts->launcher, program,
                       job->words);
    }
    return run_shell(words, run, true, job->one_processor, child_p);
}

static bool compile(const struct bench_run *run, const char *compiler, const char *sources,
                    const char *name, char *program, size_t program_size,
                    struct bench_child *child_p)
{
    char words[2048];

    (void)snprintf(program, program_size, "%s/%s", folder, name);
    (void)snprintf(words, sizeof(words), "%s %s -I '%s' -o '%s' '%s/%s/'*.c", compiler,
                   COMPILE_OPTIONS, run->workers, program, run->workers, sources);
    return run_shell(words, run, false, false, child_p);
}

bool rma_peer_compile(const struct bench_run *run, size_t peer, const char *sources,
                      const char *name, char *program, size_t program_size,
                      struct bench_child *child_p)
{
    return compile(run, rma_peers[peer].compiler, sources, name, program, program_size, child_p);
}

/* MEMSPAN_BENCH_OFFLOAD: of the build, "COMPILER OPTION..."; not defined: it has none. */
bool rma_peer_compile_regions(const struct bench_run *run, size_t peer, const char *sources,
                              const char *name, char *program, size_t program_size,
                              struct bench_child *child_p)
{
#if defined(MEMSPAN_BENCH_OFFLOAD)
    char words[1024];

    (void)snprintf(words, sizeof(words), "OSH_CC='" MEMSPAN_BENCH_OFFLOAD "' %s",
                   rma_peers[peer].compiler);
    return compile(run, words, sources, name, program, program_size, child_p);
#else
    (void)run, (void)peer, (void)sources, (void)name, (void)program, (void)program_size;
    (void)snprintf(child_p->failure, sizeof(child_p->failure),
                   "built without a compiler of target regions");
    return false;
#endif
}

/* ---- which peers are here ---- */

static void describe_peer(const struct bench_run *run, struct bench_peer *peer, size_t p)
{
    const struct rma_job job = {.words = "describe"};
    const char *family       = rma_peers[p].family;
    const char *file_name;
    char name[64]     = "";
    char standard[16] = "";
    struct bench_child child;

    if (!rma_peer_run(run, p, &job, &child)) {
        (void)snprintf(peer->why, sizeof(peer->why), "it does not start: %.200s", child.failure);
        return;
    }
    bench_child_field(&child, "library", peer->library, sizeof(peer->library));
    bench_child_field(&child, "compiler", rma_peers[p].built_by, sizeof(rma_peers[p].built_by));
    bench_child_field(&child, "name", name, sizeof(name));
    bench_child_field(&child, "standard", standard, sizeof(standard));
    (void)snprintf(peer->version, sizeof(peer->version), "%s%s%s", name,
                   (standard[0] == '\0') ? "" : ", OpenSHMEM ", standard);
    file_name = strrchr(peer->library, '/');
    file_name = (file_name == NULL) ? peer->library : file_name + 1;
    if ((family != NULL) && (strncmp(file_name, family, strlen(family)) != 0)) {
        (void)snprintf(peer->why, sizeof(peer->why), "its compiler wrapper links %.160s",
                       peer->library);
        return;
    }
    peer->present = true;
}

static void build(const struct bench_run *run, struct bench_peer *peer, size_t p)
{
    struct rma_peer *facts = &rma_peers[p];
    struct bench_child child;

    if (facts->compiler[0] == '\0') {
        peer->present = access(facts->program, X_OK) == 0;
        (void)snprintf(peer->why, sizeof(peer->why), "it was not built");
        (void)snprintf(peer->version, sizeof(peer->version), "the machine itself");
        if (peer->present && (facts->launcher[0] != '\0')) {
            peer->present = false;
            describe_peer(run, peer, p);
        }
        return;
    }
    if (!rma_peer_compile(run, p, "worker", peer->name, facts->program, sizeof(facts->program),
                          &child)) {
        (void)snprintf(peer->why, sizeof(peer->why),
                       "its compiler does not build a program: %.200s", child.failure);
        return;
    }
    describe_peer(run, peer, p);
}

void rma_peers_find(struct bench_run *run)
{
    (void)snprintf(folder, sizeof(folder), "/tmp/memspan-rma-XXXXXX");
    if (!cli_folder_make(folder)) {
        cli_complain("cannot make a folder in /tmp: %s", strerror(errno));
        folder[0] = '\0';
        return;
    }
    for (size_t p = 0; p < run->peer_count; p++) {
        if ((run->chosen & (1u << p)) != 0) {
            build(run, &run->peers[p], p);
        }
    }
}

void rma_peers_release(void)
{
    if (folder[0] != '\0') {
        cli_folder_remove(folder);
        folder[0] = '\0';
    }
}
