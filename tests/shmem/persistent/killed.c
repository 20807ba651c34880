/* SPDX-License-Identifier: BSD-3-Clause */
/* killed.c: jobs that are killed at random points, and what the next one finds.
 *
 *     killed drive KILLS LEDGER FOLDER COMMAND...    start COMMAND again and again, and kill it
 *     killed work LEDGER                             a PE of it: checks, then works until killed
 *
 * The ledger is a file that outlives the jobs: for each of some symbols what the job was about to
 * do and what it has done. A block that was named must be there with its bytes; one whose call had
 * not returned is there whole, or not at all. COMMAND works alone or in several PEs and hosts. */

#include "tests/shmem/check.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <shmemx.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SYMBOLS = 12, PARTITION = 2, FRESH_EVERY = 16 };

enum { NONE, NAMING, NAMED, UNNAMING };

struct ledger {
    struct {
        atomic_int state;
        atomic_long value; /* of the block's bytes, and its size */
    } symbol[SYMBOLS];
    atomic_long next_value;
    atomic_ulong starts; /* jobs that have checked */
    atomic_ulong calls;  /* that have returned */
    atomic_ulong generation;
};

static struct ledger *open_ledger(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    void *ledger;

    if ((fd < 0) || (ftruncate(fd, sizeof(struct ledger)) != 0)) {
        perror(path);
        exit(1);
    }
    ledger = mmap(NULL, sizeof(struct ledger), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (ledger == MAP_FAILED) {
        perror(path);
        exit(1);
    }
    return ledger;
}

static uint64_t random_number(void)
{
    static uint64_t state;

    if (state == 0) {
        struct timespec now;

        clock_gettime(CLOCK_REALTIME, &now);
        state = ((uint64_t)now.tv_nsec << 20) ^ (uint64_t)getpid() ^ 88172645463325252u;
    }
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state >> 16;
}

/* ---- a PE ---- */

static size_t size_of(long value)
{
    return (size_t)(1 + (value * 7919 % 900)) * sizeof(long);
}

static long word_of(long value, size_t i)
{
    return (value * 1000003) ^ (long)i ^ ((long)shmem_my_pe() << 40);
}

static void fill(long *block, long value)
{
    for (size_t i = 0; i < size_of(value) / sizeof(long); i++) {
        block[i] = word_of(value, i);
    }
}

static void check_block(const char *symbol, const long *block, size_t size, long value)
{
    CHECK(size == size_of(value), "%s has %zu bytes instead of %zu", symbol, size, size_of(value));
    for (size_t i = 0; i < size / sizeof(long); i++) {
        CHECK(block[i] == word_of(value, i), "%s: word %zu of %zu, value %ld: %lx instead of %lx",
              symbol, i, size / sizeof(long), value, block[i], word_of(value, i));
    }
}

/* What the last job left is what the ledger says. */
static void check_all(struct ledger *ledger, long **blocks)
{
    shmemx_partition_info_t info = {.struct_size = sizeof info};

    for (int i = 0; i < SYMBOLS; i++) {
        int state = atomic_load(&ledger->symbol[i].state);
        char symbol[16];
        size_t size = 0;

        snprintf(symbol, sizeof symbol, "block %d", i);
        blocks[i] = shmemx_persistent_find(PARTITION, symbol, &size);
        CHECK((state != NONE) || (blocks[i] == NULL), "%s was taken away, and is there", symbol);
        CHECK((state != NAMED) || (blocks[i] != NULL), "%s is lost", symbol);
        if (blocks[i] != NULL) {
            check_block(symbol, blocks[i], size, atomic_load(&ledger->symbol[i].value));
        }
    }
    CHECK(shmemx_partition_info(PARTITION, &info) == 0, "%s", memspan_error_text());
    CHECK(info.generation > atomic_load(&ledger->generation), "generation %zu after %lu",
          info.generation, atomic_load(&ledger->generation));
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        for (int i = 0; i < SYMBOLS; i++) {
            atomic_store(&ledger->symbol[i].state, (blocks[i] != NULL) ? NAMED : NONE);
        }
        atomic_store(&ledger->generation, info.generation);
        printf("job %lu has checked: generation %zu, %d blocks\n",
               atomic_fetch_add(&ledger->starts, 1) + 1, info.generation, info.named_count);
        fflush(stdout);
    }
    shmem_barrier_all();
}

static void set(struct ledger *ledger, int i, int state)
{
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        atomic_store(&ledger->symbol[i].state, state);
        atomic_fetch_add(&ledger->calls, 1);
    }
    shmem_barrier_all();
}

static void work(struct ledger *ledger)
{
    static long values[SHMEM_BCAST_SYNC_SIZE];
    static long choice[2];
    long *blocks[SYMBOLS];

    check_all(ledger, blocks);
    for (;;) {
        char symbol[16];
        int i;

        if (shmem_my_pe() == 0) {
            choice[0] = (long)(random_number() % SYMBOLS);
            choice[1] = atomic_fetch_add(&ledger->next_value, 1);
        }
        shmem_broadcastmem(SHMEM_TEAM_WORLD, values, choice, sizeof choice, 0);
        i = (int)values[0];
        snprintf(symbol, sizeof symbol, "block %d", i);
        if (blocks[i] == NULL) {
            blocks[i] = shmemx_partition_malloc(size_of(values[1]), PARTITION);
            CHECK(blocks[i] != NULL, "%s", memspan_error_text());
            fill(blocks[i], values[1]);
            if (shmem_my_pe() == 0) {
                atomic_store(&ledger->symbol[i].value, values[1]);
            }
            set(ledger, i, NAMING);
            CHECK(shmemx_persistent_name(blocks[i], symbol) == 0, "%s", memspan_error_text());
            set(ledger, i, NAMED);
        } else {
            set(ledger, i, UNNAMING);
            shmem_free(blocks[i]);
            set(ledger, i, NONE);
            blocks[i] = NULL;
        }
    }
}

/* ---- the one who kills ---- */

static void sleep_us(uint64_t us)
{
    struct timespec time = {(time_t)(us / 1000000), (long)(us % 1000000) * 1000};

    nanosleep(&time, NULL);
}

/* Until the last PE has gone: it has a lock on the file. */
static bool wait_for_lock(const char *path)
{
    int fd  = open(path, O_RDWR | O_CLOEXEC);
    int try = 0;

    while ((fd >= 0) && (flock(fd, LOCK_EX | LOCK_NB) != 0) && (try < 6000)) {
        sleep_us(5000);
        try++;
    }
    if (fd >= 0) {
        close(fd);
    }
    return try < 6000;
}

/* Of all files in the folder, or of a device; @p removes: the files go then. */
static bool settle(const char *folder, bool removes)
{
    DIR *files = opendir(folder);
    struct dirent *entry;
    bool done = (files != NULL) || wait_for_lock(folder);

    while ((files != NULL) && done && ((entry = readdir(files)) != NULL)) {
        char path[4096];

        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (strstr(entry->d_name, ".memspan") != NULL) {
            done = wait_for_lock(path) && (!removes || (unlink(path) == 0));
        }
    }
    if (files != NULL) {
        closedir(files);
    }
    return done;
}

static pid_t start(char **command)
{
    pid_t pid = fork();

    if (pid == 0) {
        setpgid(0, 0);
        execvp(command[0], command);
        perror(command[0]);
        _exit(127);
    }
    if (pid > 0) {
        (void)setpgid(pid, pid);
    }
    return pid;
}

/* One job: killed some time after it has begun, or, every fourth, while it begins. */
static bool round_of(struct ledger *ledger, char **command, int number)
{
    unsigned long starts = atomic_load(&ledger->starts);
    pid_t pid            = start(command);
    int status           = 0;
    int tries            = 0;

    if (number % 4 == 3) {
        sleep_us(random_number() % 30000);
    } else {
        while ((atomic_load(&ledger->starts) == starts) && (tries < 30000) &&
               (waitpid(pid, &status, WNOHANG) == 0)) {
            sleep_us(2000);
            tries++;
        }
        sleep_us(random_number() % 20000);
    }
    kill(-pid, SIGKILL);
    if ((waitpid(pid, &status, 0) != pid) && (errno != ECHILD)) {
        return false;
    }
    if ((tries == 30000) || !WIFSIGNALED(status)) {
        fprintf(stderr, "job %d has ended by itself: status %d\n", number, status);
        return false;
    }
    return true;
}

static int drive(int kills, const char *path, const char *folder, char **command)
{
    struct ledger *ledger = open_ledger(path);
    bool is_folder        = open(folder, O_DIRECTORY | O_CLOEXEC) >= 0;

    for (int i = 0; i < kills; i++) {
        bool begins_anew = is_folder && (i % FRESH_EVERY == FRESH_EVERY - 2);

        if (!round_of(ledger, command, i) || !settle(folder, begins_anew)) {
            return 1;
        }
        for (int k = 0; begins_anew && (k < SYMBOLS); k++) {
            atomic_store(&ledger->symbol[k].state, NONE);
        }
        if (begins_anew) {
            atomic_store(&ledger->generation, 0);
        }
    }
    printf("%d kills, %lu jobs that have checked, %lu calls\n", kills, atomic_load(&ledger->starts),
           atomic_load(&ledger->calls));
    return ((long)atomic_load(&ledger->starts) * 2 >= kills) ? 0 : 1;
}

int main(int count, char **arguments)
{
    if ((count > 5) && (strcmp(arguments[1], "drive") == 0)) {
        return drive(atoi(arguments[2]), arguments[3], arguments[4], &arguments[5]);
    }
    if ((count == 3) && (strcmp(arguments[1], "work") == 0)) {
        shmem_init();
        work(open_ledger(arguments[2]));
    }
    return 2;
}
