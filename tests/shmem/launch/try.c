/* SPDX-License-Identifier: BSD-3-Clause */
/* try PES: jobs that cannot come up, in all PEs or in one of them, are errors in all, leave
 * nothing, and a later start succeeds. */

#include "tests/shmem/check.h"
#include <dirent.h>
#include <memspan/status.h>
#include <shmemx.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

static int me;
static int last; /* the last PE */
static long word;

/* By a signal: a launcher lets others wait for a PE that leaves between two jobs. */
static void fail(const char *what, int status)
{
    fprintf(stderr, "PE %d: %s: status %d: %s\n", me, what, status, memspan_error_text());
    raise(SIGKILL);
}

/* ---- what stays of a failed start ---- */

static int descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int number  = 0;

    if (folder == NULL) {
        fail("/proc/self/fd", 0);
    }
    while (readdir(folder) != NULL) {
        number++;
    }
    closedir(folder);
    return number;
}

static size_t mapped_bytes(void)
{
    FILE *file   = fopen("/proc/self/statm", "r");
    size_t pages = 0;

    if ((file == NULL) || (fscanf(file, "%zu", &pages) != 1)) {
        fail("statm", 0);
    }
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* ---- attempts ---- */

static void set_limit(int resource, rlim_t soft)
{
    struct rlimit limit;

    getrlimit(resource, &limit);
    limit.rlim_cur = (soft == RLIM_INFINITY) ? limit.rlim_max : soft;
    setrlimit(resource, &limit);
}

/* The launcher finds no channel. */
static void close_channel(bool is_closed)
{
    static char channel[128];

    if (is_closed) {
        snprintf(channel, sizeof channel, "%s", getenv("SHMEMX_LAUNCH"));
        unsetenv("SHMEMX_LAUNCH");
        setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
    } else {
        setenv("SHMEMX_LAUNCH", channel, 1);
        unsetenv("OMPI_COMM_WORLD_SIZE");
    }
}

static void limit_addresses(bool is_on)
{
    set_limit(RLIMIT_AS, is_on ? (rlim_t)(mapped_bytes() + (64 << 20)) : RLIM_INFINITY);
}

static void limit_files(bool is_on)
{
    set_limit(RLIMIT_FSIZE, is_on ? 4096 : RLIM_INFINITY);
}

/* A variable with a value, or a limit: of all PEs, of the first or of the last one. */
static const struct attempt {
    enum { ALL, FIRST, LAST } whose;
    const char *variable;
    const char *value;
    void (*limit)(bool is_on);
    const char *words; /* of the error */
} attempts[] = {
    {ALL, NULL, NULL, close_channel, "OMPI_COMM_WORLD_SIZE"},
    {ALL, "SHMEM_SYMMETRIC_SIZE", "lots", NULL, "SHMEM_SYMMETRIC_SIZE"},
    {LAST, "SHMEM_SYMMETRIC_SIZE", "lots", NULL, ""},
    {LAST, "SHMEM_SYMMETRIC_SIZE", "3m", NULL, "SHMEM_SYMMETRIC_SIZE differs"},
    {ALL, "SHMEM_SYMMETRIC_PARTITION2", "1m:kind=DEVICE@77", NULL, "DEVICE@77"},
    {LAST, "SHMEM_SYMMETRIC_PARTITION2", "1m", NULL, "SHMEM_SYMMETRIC_PARTITION2 differs"},
    {LAST, "MEMSPAN_SHMEM_TRANSPORT", "tcp:1", NULL, "MEMSPAN_SHMEM_TRANSPORT differs"},
    {FIRST, NULL, NULL, limit_files, "of 4096 bytes|has made no control memory|may have 4096"},
    {LAST, NULL, NULL, limit_addresses, "control memory"},
};

/* Between hosts. */
static const struct attempt hosts[] = {
    {ALL, "SHMEMX_TCP_INTERFACE", "none0", NULL, "SHMEMX_TCP_INTERFACE=none0"},
    {LAST, "SHMEMX_TCP_INTERFACE", "none0", NULL, "SHMEMX_TCP_INTERFACE=none0"},
    {FIRST, NULL, NULL, limit_files, ""},
};

static bool has_words(const char *words)
{
    char copy[128];
    char *rest = copy;
    const char *word_of;
    bool found = (words[0] == '\0');

    snprintf(copy, sizeof copy, "%s", words);
    while (!found && ((word_of = strsep(&rest, "|")) != NULL)) {
        found = strstr(memspan_error_text(), word_of) != NULL;
    }
    return found;
}

static void attempt(const struct attempt *given)
{
    bool is_mine = (given->whose == ALL) || ((given->whose == FIRST) && (me == 0)) ||
                   ((given->whose == LAST) && (me == last));
    bool is_set  = is_mine && (given->variable != NULL);
    int provided = -1;
    int status;

    if (is_set) {
        setenv(given->variable, given->value, 1);
    }
    if (is_mine && (given->limit != NULL)) {
        given->limit(true);
    }
    status = shmemx_init_try(SHMEM_THREAD_MULTIPLE, &provided);
    if (is_mine && (given->limit != NULL)) {
        given->limit(false);
    }
    if (is_set) {
        unsetenv(given->variable);
    }
    if ((status >= 0) || (provided != -1) || !has_words(given->words)) {
        fail((given->variable != NULL) ? given->variable : given->words, status);
    }
    shmem_query_initialized(&provided);
    if (provided != 0) {
        fail("it is initialised", status);
    }
}

/* Each twice: the second one leaves no more than the first. */
static void attempt_twice(const struct attempt *given)
{
    int open_before;
    size_t mapped_before;

    if (((given->whose != ALL) && (last == 0)) ||
        (SANITIZED && (given->limit == limit_addresses)) ||
        ((getenv("SHMEMX_LAUNCH") == NULL) && (given->limit == close_channel))) {
        return;
    }
    attempt(given);
    open_before   = descriptors();
    mapped_before = mapped_bytes();
    attempt(given);
    if (descriptors() > open_before) {
        fail("descriptors are left", descriptors() - open_before);
    }
    if (!SANITIZED && (mapped_bytes() > mapped_before + (100 << 20))) {
        fail("memory is left", 0);
    }
}

/* ---- what succeeds ---- */

static void run(void)
{
    int provided = -1;
    long *heap;
    int pe = 0;

    if ((shmemx_init_try(SHMEM_THREAD_SERIALIZED, &provided) != 0) ||
        (provided != SHMEM_THREAD_SERIALIZED)) {
        fail("no job", provided);
    }
    CHECK(shmem_my_pe() == me && shmem_n_pes() == last + 1, "PE %d", shmem_my_pe());
    CHECK(shmemx_init_try(SHMEM_THREAD_SINGLE, &provided) == 0, "again");
    CHECK(provided == SHMEM_THREAD_SERIALIZED, "%d", provided);
    shmem_finalize();
    heap  = shmem_malloc(sizeof *heap);
    word  = 0;
    *heap = 0;
    shmem_barrier_all();
    for (pe = 0; pe <= last; pe++) {
        shmem_long_atomic_add(&word, me + 1, pe);
        shmem_long_atomic_inc(heap, pe);
    }
    shmem_barrier_all();
    CHECK(word == (long)(last + 1) * (last + 2) / 2, "%ld", word);
    CHECK(*heap == last + 1, "%ld", *heap);
    shmem_finalize();
}

/* This PE's number and the job's size, before the start. */
static void find_place(int argc, char **argv)
{
    const char *channel = getenv("SHMEMX_LAUNCH");
    const char *rank    = (getenv("PMIX_RANK") != NULL) ? getenv("PMIX_RANK") : getenv("PMI_RANK");

    last = (argc > 1) ? atoi(argv[1]) - 1 : 0;
    if ((channel != NULL) ? (sscanf(channel, "%*d:%d:", &me) != 1)
                          : ((rank == NULL) || (sscanf(rank, "%d", &me) != 1))) {
        fail("not started by a launcher", 0);
    }
}

int main(int argc, char **argv)
{
    const char *transport = getenv("SHMEMX_TRANSPORT");
    size_t i;

    signal(SIGXFSZ, SIG_IGN);
    find_place(argc, argv);
    if (shmemx_init_try(SHMEM_THREAD_MULTIPLE + 1, NULL) != MEMSPAN_ERR_INVALID) {
        fail("a level that is none", 0);
    }
    for (i = 0; (transport == NULL) && (i < sizeof attempts / sizeof attempts[0]); i++) {
        attempt_twice(&attempts[i]);
    }
    for (i = 0; (transport != NULL) && (i < sizeof hosts / sizeof hosts[0]); i++) {
        attempt_twice(&hosts[i]);
        run();
    }
    run();
    attempt_twice(&attempts[1]);
    run();
    return 0;
}
