/* SPDX-License-Identifier: BSD-3-Clause */
/* The job file as a PE sees it: what it distributes and reads, the barrier of processes, and every
 * way in which the file may not be what a launcher meant. */

#include "shmem/bootstrap/job_file.h"
#include "shmem/error.h"
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define COOKIE 0x1234abcdu

/* A job file as a launcher makes it, locked as a launcher locks it. */
static int make_file(uint32_t pe_count, uint32_t exchange_size_bytes)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    uint64_t size     = memspan_launch_size(pe_count, exchange_size_bytes);
    int fd            = memfd_create("file", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    cr_assert(fd >= 0 && ftruncate(fd, (off_t)size) == 0);
    cr_assert(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0);
    cr_assert(fcntl(fd, F_SETLK, &lock) == 0);
    struct memspan_launch_header header = {.magic               = MEMSPAN_LAUNCH_MAGIC,
                                           .version             = MEMSPAN_LAUNCH_VERSION,
                                           .pe_count            = pe_count,
                                           .cookie              = COOKIE,
                                           .size_bytes          = size,
                                           .exchange_size_bytes = exchange_size_bytes};
    cr_assert(pwrite(fd, &header, sizeof(header), 0) == (ssize_t)sizeof(header));
    return fd;
}

static struct msp_job_file open_job_file(int fd, uint32_t pe)
{
    struct msp_job_file file = {0};
    cr_assert(msp_job_file_open(fd, pe, COOKIE, &file) == MEMSPAN_OK, "%s", memspan_error_text());
    return file;
}

/* Opening fails with that status and those words. */
static void expect_refused(int fd, uint32_t pe, uint64_t cookie, memspan_status_t expected,
                           const char *words)
{
    struct msp_job_file file = {0};
    memspan_status_t status  = msp_job_file_open(fd, pe, cookie, &file);
    cr_assert(status == expected, "%d is not %d", status, expected);
    cr_assert(strstr(memspan_error_text(), words) != NULL, "\"%s\" does not say \"%s\"",
              memspan_error_text(), words);
    cr_assert(file.header == NULL, "an output was written on failure");
}

static void overwrite(int fd, size_t offset, uint32_t value)
{
    cr_assert(pwrite(fd, &value, sizeof(value), (off_t)offset) == (ssize_t)sizeof(value));
}

Test(job_file, what_is_put_is_got)
{
    struct msp_job_file file = open_job_file(make_file(1, 4096), 0);
    char data[64];
    size_t size = sizeof(data);
    cr_assert(msp_job_file_put(&file, "color", "red", 3) == MEMSPAN_OK);
    cr_assert(msp_job_file_put(&file, "colo", "x", 1) == MEMSPAN_OK);
    cr_assert(msp_job_file_put(&file, "nothing", NULL, 0) == MEMSPAN_OK);
    cr_assert(msp_job_file_get(&file, 0, "color", data, &size) == MEMSPAN_OK);
    cr_assert(size == 3 && memcmp(data, "red", 3) == 0);
    size = sizeof(data);
    cr_assert(msp_job_file_get(&file, 0, "nothing", data, &size) == MEMSPAN_OK);
    cr_assert(size == 0);
    msp_job_file_close(&file);
}

Test(job_file, the_last_of_several_counts)
{
    struct msp_job_file file = open_job_file(make_file(1, 4096), 0);
    char data[8];
    size_t size = sizeof(data);
    cr_assert(msp_job_file_put(&file, "k", "first", 5) == MEMSPAN_OK);
    cr_assert(msp_job_file_put(&file, "k", "second", 6) == MEMSPAN_OK);
    cr_assert(msp_job_file_get(&file, 0, "k", data, &size) == MEMSPAN_OK);
    cr_assert(size == 6 && memcmp(data, "second", 6) == 0);
}

/* A reader takes what is equal from its own area: never anything else. */
Test(job_file, equal_and_different_values_are_got)
{
    int fd                    = make_file(2, 4096);
    struct msp_job_file first = open_job_file(fd, 0);
    struct msp_job_file other = first; /* the same mapping, as the other PE */
    char data[8];
    size_t size = sizeof(data);

    other.pe = 1;
    cr_assert(msp_job_file_put(&first, "k", "equal", 5) == MEMSPAN_OK);
    cr_assert(msp_job_file_put(&other, "k", "equal", 5) == MEMSPAN_OK);
    cr_assert(msp_job_file_get(&first, 1, "k", data, &size) == MEMSPAN_OK && size == 5 &&
              memcmp(data, "equal", 5) == 0);
    size = sizeof(data);
    cr_assert(msp_job_file_get(&first, 1, "j", data, &size) == MEMSPAN_ERR_NOT_FOUND);
    cr_assert(msp_job_file_put(&first, "j", "mine", 4) == MEMSPAN_OK);
    cr_assert(msp_job_file_get(&first, 1, "j", data, &size) == MEMSPAN_ERR_NOT_FOUND);
    cr_assert(msp_job_file_put(&other, "j", "its", 3) == MEMSPAN_OK);
    size = sizeof(data);
    cr_assert(msp_job_file_get(&first, 1, "j", data, &size) == MEMSPAN_OK && size == 3 &&
              memcmp(data, "its", 3) == 0);
    cr_assert(msp_job_file_put(&first, "j", "its", 3) == MEMSPAN_OK);
    cr_assert(msp_job_file_put(&first, "k", "mine", 4) == MEMSPAN_OK);
    size = sizeof(data);
    cr_assert(msp_job_file_get(&first, 1, "k", data, &size) == MEMSPAN_OK && size == 5 &&
              memcmp(data, "equal", 5) == 0);
    msp_job_file_close(&first);
}

Test(job_file, what_is_not_there_is_said)
{
    struct msp_job_file file = open_job_file(make_file(2, 4096), 0);
    char data[4];
    size_t size = sizeof(data);
    cr_assert(msp_job_file_get(&file, 1, "k", data, &size) == MEMSPAN_ERR_NOT_FOUND);
    cr_assert(strstr(memspan_error_text(), "PE 1 has not distributed \"k\"") != NULL);
    cr_assert(msp_job_file_get(&file, 2, "k", data, &size) == MEMSPAN_ERR_INVALID);
    cr_assert(msp_job_file_put(&file, "k", "12345", 5) == MEMSPAN_OK);
    cr_assert(msp_job_file_get(&file, 0, "k", data, &size) == MEMSPAN_ERR_LIMIT);
    cr_assert(size == sizeof(data), "an output was written on failure");
}

Test(job_file, a_full_exchange_area_is_said_and_stays_whole)
{
    struct msp_job_file file = open_job_file(make_file(1, 256), 0);
    char large[256]          = {0};
    char data[8];
    size_t size = sizeof(data);
    cr_assert(msp_job_file_put(&file, "large", large, sizeof(large)) == MEMSPAN_ERR_LIMIT);
    cr_assert(msp_job_file_put(&file, "huge", large, SIZE_MAX - 64) == MEMSPAN_ERR_LIMIT);
    int count = 0;
    while (msp_job_file_put(&file, "k", &count, sizeof(count)) == MEMSPAN_OK) {
        count++;
    }
    cr_assert(count == 256 / 16, "%d", count);
    cr_assert(msp_job_file_get(&file, 0, "k", data, &size) == MEMSPAN_OK);
    cr_assert(memcmp(data, &(int){count - 1}, sizeof(int)) == 0);
}

Test(job_file, another_file_is_refused)
{
    int fd = make_file(2, 4096);
    expect_refused(fd, 0, COOKIE + 1, MEMSPAN_ERR_INVALID, "another job");
    expect_refused(fd, 2, COOKIE, MEMSPAN_ERR_INVALID, "PE 2 of a job of 2");
    expect_refused(STDIN_FILENO, 0, COOKIE, MEMSPAN_ERR_INVALID, "something else than a job file");
    overwrite(fd, offsetof(struct memspan_launch_header, magic), 1);
    expect_refused(fd, 0, COOKIE, MEMSPAN_ERR_INVALID, "not a job file");
    close(fd);
    expect_refused(fd, 0, COOKIE, MEMSPAN_ERR_INVALID, "not open");
}

Test(job_file, another_version_is_refused)
{
    int fd = make_file(2, 4096);
    overwrite(fd, offsetof(struct memspan_launch_header, version), MEMSPAN_LAUNCH_VERSION + 1);
    expect_refused(fd, 0, COOKIE, MEMSPAN_ERR_ABI, "version 2");
}

Test(job_file, a_file_that_is_too_small_is_refused)
{
    int fd = make_file(2, 4096);
    overwrite(fd, offsetof(struct memspan_launch_header, pe_count), 3);
    expect_refused(fd, 0, COOKIE, MEMSPAN_ERR_INVALID, "smaller than its PEs need");
    overwrite(fd, offsetof(struct memspan_launch_header, pe_count), 0);
    expect_refused(fd, 0, COOKIE, MEMSPAN_ERR_INVALID, "smaller than its PEs need");

    int tiny = memfd_create("tiny", MFD_ALLOW_SEALING);
    cr_assert(ftruncate(tiny, 100) == 0);
    expect_refused(tiny, 0, COOKIE, MEMSPAN_ERR_INVALID, "something else than a job file");
    cr_assert(fcntl(tiny, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
    expect_refused(tiny, 0, COOKIE, MEMSPAN_ERR_INVALID, "shorter than its header");
}

/* What a PE has scribbled over its own exchange area is no danger to the others. */
Test(job_file, nonsense_in_an_exchange_area_is_not_followed)
{
    int fd                   = make_file(2, 4096);
    struct msp_job_file file = open_job_file(fd, 0);
    char data[8];
    size_t size = sizeof(data);
    memset(memspan_launch_exchange(file.header, 1), 0xff, 4096);
    memspan_launch_pe_record(file.header, 1)->exchange_used_bytes = 4096;
    cr_assert(msp_job_file_get(&file, 1, "k", data, &size) == MEMSPAN_ERR_NOT_FOUND);
    memspan_launch_pe_record(file.header, 1)->exchange_used_bytes = UINT32_MAX;
    cr_assert(msp_job_file_get(&file, 1, "k", data, &size) == MEMSPAN_ERR_NOT_FOUND);
}

Test(job_file, a_pe_is_one_process_at_a_time)
{
    int fd                   = make_file(1, 4096);
    struct msp_job_file file = open_job_file(fd, 0);
    int status               = 0;
    pid_t child              = fork();
    if (child == 0) {
        struct msp_job_file second;
        bool refused = msp_job_file_open(fd, 0, COOKIE, &second) == MEMSPAN_ERR_CONFLICT &&
                       strstr(memspan_error_text(), "already") != NULL;
        _exit(refused ? 0 : 1);
    }
    cr_assert(waitpid(child, &status, 0) == child && WIFEXITED(status));
    cr_assert(WEXITSTATUS(status) == 0, "a child became the same PE");
    msp_job_file_close(&file);
    file = open_job_file(fd, 0); /* after finalize, once more */
    msp_job_file_close(&file);
}

Test(job_file, a_dead_process_gives_its_place_free)
{
    int fd      = make_file(1, 4096);
    pid_t child = fork();
    if (child == 0) {
        struct msp_job_file file;
        _exit(msp_job_file_open(fd, 0, COOKIE, &file) == MEMSPAN_OK ? 0 : 1);
    }
    int status = 0;
    cr_assert(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    open_job_file(fd, 0);
}

#define PES    6
#define ROUNDS 200

/* In each round, every PE distributes the round's number and finds that of all. */
static int be_pe(int fd, uint32_t pe)
{
    struct msp_job_file file = {0};
    if (msp_job_file_open(fd, pe, COOKIE, &file) != MEMSPAN_OK) {
        return 1;
    }
    for (int round = 0; round < ROUNDS; round++) {
        char key[16];
        snprintf(key, sizeof(key), "%d", round);
        if (msp_job_file_put(&file, key, &round, sizeof(round)) != MEMSPAN_OK ||
            msp_job_file_barrier(&file) != MEMSPAN_OK) {
            return 2;
        }
        for (uint32_t peer = 0; peer < PES; peer++) {
            int theirs  = -1;
            size_t size = sizeof(theirs);
            if (msp_job_file_get(&file, peer, key, &theirs, &size) != MEMSPAN_OK ||
                theirs != round) {
                return 3;
            }
        }
    }
    msp_job_file_close(&file);
    return 0;
}

Test(job_file, a_barrier_waits_for_all, .timeout = 60)
{
    int fd = make_file(PES, 65536);
    pid_t children[PES];
    for (uint32_t pe = 0; pe < PES; pe++) {
        children[pe] = fork();
        if (children[pe] == 0) {
            _exit(be_pe(fd, pe));
        }
    }
    for (int pe = 0; pe < PES; pe++) {
        int status = 0;
        cr_assert(waitpid(children[pe], &status, 0) == children[pe]);
        cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "PE %d: %d", pe,
                  WEXITSTATUS(status));
    }
}

/* The file's lock goes with the process that made it. */
Test(job_file, a_barrier_ends_when_the_launcher_has_died, .timeout = 20)
{
    int pipes[2];
    cr_assert(pipe(pipes) == 0);
    pid_t launcher = fork();
    if (launcher == 0) {
        int fd    = make_file(2, 4096);
        pid_t one = fork();
        if (one == 0) {
            struct msp_job_file file;
            memspan_status_t status = msp_job_file_open(fd, 0, COOKIE, &file);
            status                  = status == MEMSPAN_OK ? msp_job_file_barrier(&file) : status;
            _exit(write(pipes[1], &status, sizeof(status)) > 0 ? 0 : 1);
        }
        usleep(250000);
        _exit(0);
    }
    memspan_status_t status = MEMSPAN_OK;
    cr_assert(read(pipes[0], &status, sizeof(status)) == (ssize_t)sizeof(status));
    cr_assert(status == MEMSPAN_ERR_OFF, "%d", status);
    waitpid(launcher, NULL, 0);
}

Test(job_file, the_first_abort_wins)
{
    int fd                     = make_file(2, 4096);
    struct msp_job_file first  = open_job_file(fd, 0);
    struct msp_job_file second = open_job_file(fd, 1);
    char message[2 * MEMSPAN_LAUNCH_MESSAGE_SIZE_MAX];
    memset(message, 'x', sizeof(message) - 1);
    message[sizeof(message) - 1] = '\0';
    cr_assert(first.header->abort_ready == 0);
    msp_job_file_abort(&second, 7, message);
    msp_job_file_abort(&first, 8, "late");
    cr_assert(first.header->abort_ready == 1);
    cr_assert(first.header->abort_by == 2 && first.header->abort_status == 7);
    cr_assert(strlen(first.header->abort_message) == MEMSPAN_LAUNCH_MESSAGE_SIZE_MAX - 1);
}
