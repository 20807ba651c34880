/* SPDX-License-Identifier: BSD-3-Clause */
/* scale.c: what a PE needs (shmem/SCALE.md): memory, sockets, peers, messages, after each step of a
 * program. PE 0 prints the largest of all PEs, a line each: STEP QUANTITY VALUE. */

#include "tests/shmem/check.h"
#include <dirent.h>
#include <memspan/status.h>
#include <shmemx.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEAMS = 16, CONTEXTS = 4, CHUNK_BYTES = 16 << 20, CHUNKS = 4 };

enum quantity {
    MEMORY,
    MAPPED,
    SOCKETS,
    PEERS,
    KEYS,
    REGISTERED,
    MESSAGES,
    PUTS,
    GETS,
    QUANTITIES
};
static const char *const names[QUANTITIES] = {"memory_bytes", "mapped_bytes", "sockets",
                                              "peers",        "keys",         "registered_bytes",
                                              "messages",     "puts",         "gets"};

static long mine[QUANTITIES];
static long largest[QUANTITIES];
static long word;

/* The sum of a line of /proc/self/smaps_rollup or status, in bytes. */
static long kilobytes(const char *file, const char *name)
{
    FILE *stream = fopen(file, "r");
    char line[256];
    long sum = 0;

    while ((stream != NULL) && (fgets(line, sizeof line, stream) != NULL)) {
        if (strncmp(line, name, strlen(name)) == 0) {
            sum += strtol(line + strlen(name), NULL, 10) * 1024;
        }
    }
    if (stream != NULL) {
        fclose(stream);
    }
    return sum;
}

static long count_sockets(void)
{
    DIR *folder = opendir("/proc/self/fd");
    const struct dirent *entry;
    long count = 0;

    while ((folder != NULL) && ((entry = readdir(folder)) != NULL)) {
        char target[64] = "";

        (void)!readlinkat(dirfd(folder), entry->d_name, target, sizeof target - 1);
        count += (strncmp(target, "socket:", 7) == 0);
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return count;
}

static void measure(void)
{
    shmemx_network_info_t info = {.struct_size = sizeof info};

    CHECK(shmemx_network_info(&info) == 0, "%s", memspan_error_text());
    CHECK((info.driver[0] != '\0') || (info.peer_count == 0), "peers, and no network");
    mine[MEMORY] = kilobytes("/proc/self/smaps_rollup", "Pss_Anon:") +
                   kilobytes("/proc/self/smaps_rollup", "Pss_Shmem:");
    mine[MAPPED]     = kilobytes("/proc/self/status", "VmSize:");
    mine[SOCKETS]    = count_sockets();
    mine[PEERS]      = info.peer_count;
    mine[KEYS]       = (long)info.key_count;
    mine[REGISTERED] = (long)info.registered_bytes;
    mine[MESSAGES]   = (long)info.message_count;
    mine[PUTS]       = (long)info.put_count;
    mine[GETS]       = (long)info.get_count;
}

/* What it costs to print is not in the next step: it is measured before and after. */
static void print(const char *step, const long *before)
{
    static long change[QUANTITIES];

    for (int i = 0; i < QUANTITIES; i++) {
        change[i] = mine[i] - before[i];
    }
    shmem_long_max_reduce(SHMEM_TEAM_WORLD, largest, change, QUANTITIES);
    if (shmem_my_pe() == 0) {
        for (int i = 0; i < QUANTITIES; i++) {
            printf("%s %s %ld\n", step, names[i], largest[i]);
        }
    }
    shmem_barrier_all();
}

static void run(const char *step, void (*work)(void))
{
    long before[QUANTITIES];

    measure();
    memcpy(before, mine, sizeof before);
    shmem_barrier_all();
    work();
    measure();
    print(step, before);
}

static void nothing(void)
{
    shmem_barrier_all();
}

/* All other PEs, for the first time. */
static void contact_all(void)
{
    for (int i = 1; i < shmem_n_pes(); i++) {
        shmem_long_p(&word, 1, (shmem_my_pe() + i) % shmem_n_pes());
        shmem_quiet();
    }
}

/* Other chunks of the next PE's memory. */
static void touch_chunks(void)
{
    static char block[256 << 10];
    char *memory = shmem_malloc((size_t)CHUNKS * CHUNK_BYTES);

    CHECK(memory != NULL, "%s", memspan_error_text());
    for (int i = 0; i < CHUNKS; i++) {
        shmem_putmem(memory + ((size_t)i * CHUNK_BYTES), block, sizeof block,
                     (shmem_my_pe() + 1) % shmem_n_pes());
        shmem_quiet();
    }
    shmem_barrier_all();
    shmem_free(memory);
}

static shmem_team_t teams[TEAMS];
static shmem_ctx_t contexts[CONTEXTS];

static void make_teams(void)
{
    for (int i = 0; i < TEAMS; i++) {
        CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), NULL, 0, &teams[i]) ==
                  0,
              "no team");
        shmem_team_sync(teams[i]);
    }
}

static void make_contexts(void)
{
    for (int i = 0; i < CONTEXTS; i++) {
        CHECK(shmem_ctx_create(SHMEM_CTX_PRIVATE, &contexts[i]) == 0, "no context");
        shmem_ctx_long_p(contexts[i], &word, 1, (shmem_my_pe() + 1) % shmem_n_pes());
        shmem_ctx_quiet(contexts[i]);
    }
}

int main(void)
{
    long zero[QUANTITIES] = {0};

    shmem_init();
    measure();
    print("start", zero);
    run("nothing", nothing);
    run("barriers", nothing);
    run("contact", contact_all);
    run("chunks", touch_chunks);
    run("teams", make_teams);
    run("contexts", make_contexts);
    for (int i = 0; i < CONTEXTS; i++) {
        shmem_ctx_destroy(contexts[i]);
    }
    for (int i = 0; i < TEAMS; i++) {
        shmem_team_destroy(teams[i]);
    }
    shmem_finalize();
    return 0;
}
