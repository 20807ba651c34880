/* SPDX-License-Identifier: BSD-3-Clause */
/* The job file of our own launcher, seen by a PE.
 *
 * A PE's exchange area is a list of entries whose complete length is one atomic word: a reader
 * that loads the length sees whole entries, and needs no lock. Nothing read from the file is
 * trusted beyond the file's bounds, which the seals keep from changing. */

#include "shmem/bootstrap/job_file.h"
#include "shmem/error.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LOOK_AROUND_MS 100 /* how long a waiting PE sleeps before it looks for its launcher */

static memspan_status_t refuse_file(const char *format, const char *what)
{
    memspan_error(MEMSPAN_ERR_INVALID, format, what);
    return msp_error_hint("start the program by oshrun; without a launcher, unset %s",
                          MEMSPAN_LAUNCH_VARIABLE);
}

/* The file must have the size in its header, and keep it: otherwise reading it could end the
 * process by SIGBUS. */
static memspan_status_t check_file(int fd, size_t *size_p)
{
    struct stat status;
    if (fstat(fd, &status) != 0) {
        return refuse_file(
            "the descriptor that %s names is not open: something between the launcher "
            "and this process has closed it",
            MEMSPAN_LAUNCH_VARIABLE);
    }
    int seals = fcntl(fd, F_GET_SEALS);
    if (!S_ISREG(status.st_mode) || seals < 0 || !(seals & F_SEAL_SHRINK)) {
        return refuse_file("the descriptor that %s names is open on something else than a job file",
                           MEMSPAN_LAUNCH_VARIABLE);
    }
    if ((uint64_t)status.st_size < sizeof(struct memspan_launch_header)) {
        return refuse_file("the job file that %s names is shorter than its header",
                           MEMSPAN_LAUNCH_VARIABLE);
    }
    *size_p = (size_t)status.st_size;
    return MEMSPAN_OK;
}

static memspan_status_t check_header(const struct memspan_launch_header *header, size_t size_bytes,
                                     uint32_t pe, uint64_t cookie)
{
    if (header->magic != MEMSPAN_LAUNCH_MAGIC) {
        return refuse_file("the file that %s names is not a job file", MEMSPAN_LAUNCH_VARIABLE);
    }
    if (header->version != MEMSPAN_LAUNCH_VERSION) {
        memspan_error(MEMSPAN_ERR_ABI, "the launcher's job file has version %u, this library %u",
                      header->version, MEMSPAN_LAUNCH_VERSION);
        return msp_error_hint("use the oshrun that was installed with this library");
    }
    if (header->cookie != cookie) {
        return refuse_file("%s is of another job than the file that it names",
                           MEMSPAN_LAUNCH_VARIABLE);
    }
    if (header->pe_count == 0 || header->pe_count > MEMSPAN_LAUNCH_PES_MAX ||
        header->exchange_size_bytes % 8 != 0 ||
        memspan_launch_size(header->pe_count, header->exchange_size_bytes) > size_bytes) {
        return refuse_file("the job file that %s names is smaller than its PEs need",
                           MEMSPAN_LAUNCH_VARIABLE);
    }
    if (pe >= header->pe_count) {
        return memspan_error(MEMSPAN_ERR_INVALID, "%s says PE %u of a job of %u PEs",
                             MEMSPAN_LAUNCH_VARIABLE, pe, header->pe_count);
    }
    return MEMSPAN_OK;
}

/* A process that a PE starts inherits descriptor and variable: it must not become the same PE. */
static memspan_status_t attach(const struct msp_job_file *file)
{
    struct memspan_launch_pe *record = memspan_launch_pe_record(file->header, file->pe);
    uint32_t state                   = __atomic_load_n(&record->state, __ATOMIC_ACQUIRE);
    uint32_t pid                     = __atomic_load_n(&record->pid, __ATOMIC_RELAXED);
    bool is_taken = state == MEMSPAN_LAUNCH_ATTACHED && pid != (uint32_t)getpid() &&
                    (kill((pid_t)pid, 0) == 0 || errno == EPERM);
    if (is_taken || !__atomic_compare_exchange_n(&record->state, &state, MEMSPAN_LAUNCH_ATTACHED,
                                                 false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        memspan_error(MEMSPAN_ERR_CONFLICT,
                      "PE %u of this job is process %u already: this one was started by it, or "
                      "beside it",
                      file->pe, pid);
        return msp_error_hint("unset %s for programs that a PE starts", MEMSPAN_LAUNCH_VARIABLE);
    }
    __atomic_store_n(&record->pid, (uint32_t)getpid(), __ATOMIC_RELEASE);
    __atomic_store_n(&record->exchange_used_bytes, 0, __ATOMIC_RELEASE);
    return MEMSPAN_OK;
}

memspan_status_t msp_job_file_open(int fd, uint32_t pe, uint64_t cookie,
                                   struct msp_job_file *file_p)
{
    size_t size_bytes       = 0;
    memspan_status_t status = check_file(fd, &size_bytes);
    if (status != MEMSPAN_OK) {
        return status;
    }
    void *map = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) {
        return msp_error_native(MEMSPAN_ERR_NO_MEMORY, "", "mmap", errno, strerror(errno), NULL,
                                "the launcher's job file cannot be mapped");
    }
    struct msp_job_file file = {map, size_bytes, fd, pe};
    status                   = check_header(file.header, size_bytes, pe, cookie);
    if (status == MEMSPAN_OK) {
        status = attach(&file);
    }
    if (status != MEMSPAN_OK) {
        munmap(map, size_bytes);
        return status;
    }
    *file_p = file;
    return MEMSPAN_OK;
}

void msp_job_file_close(struct msp_job_file *file)
{
    if (file->header == NULL) {
        return;
    }
    struct memspan_launch_pe *record = memspan_launch_pe_record(file->header, file->pe);
    __atomic_store_n(&record->state, MEMSPAN_LAUNCH_FINALIZED, __ATOMIC_RELEASE);
    munmap(file->header, file->size_bytes);
    file->header = NULL;
}

static size_t entry_size(size_t key_size_bytes, size_t data_size_bytes)
{
    size_t size = sizeof(struct memspan_launch_entry) + key_size_bytes + data_size_bytes;
    return (size + 7) & ~(size_t)7;
}

/* Never 0. */
static uint64_t digest_of(const char *key, const void *data, size_t size_bytes)
{
    uint64_t digest            = size_bytes;
    const unsigned char *bytes = data;

    for (; *key != '\0'; key++) {
        digest = (digest ^ (unsigned char)*key) * UINT64_C(0x9e3779b97f4a7c15);
        digest ^= digest >> 29;
    }
    for (size_t i = 0; i < size_bytes; i++) {
        digest = (digest ^ bytes[i]) * UINT64_C(0x9e3779b97f4a7c15);
        digest ^= digest >> 29;
    }
    return (digest != 0) ? digest : 1;
}

memspan_status_t msp_job_file_put(const struct msp_job_file *file, const char *key,
                                  const void *data, size_t size_bytes)
{
    struct memspan_launch_pe *record = memspan_launch_pe_record(file->header, file->pe);
    size_t used                      = record->exchange_used_bytes;
    size_t capacity                  = file->header->exchange_size_bytes;
    size_t key_size                  = strlen(key);
    if (size_bytes > capacity || key_size > capacity || used > capacity ||
        entry_size(key_size, size_bytes) > capacity - used) {
        return memspan_error(
            MEMSPAN_ERR_LIMIT,
            "%zu bytes for \"%s\" do not fit this PE's exchange area: %zu of %zu bytes "
            "are used",
            size_bytes, key, used, capacity);
    }
    char *at                          = memspan_launch_exchange(file->header, file->pe) + used;
    struct memspan_launch_entry entry = {(uint32_t)key_size, (uint32_t)size_bytes};
    memcpy(at, &entry, sizeof(entry));
    memcpy(at + sizeof(entry), key, key_size);
    if (size_bytes > 0) {
        memcpy(at + sizeof(entry) + key_size, data, size_bytes);
    }
    __atomic_store_n(&record->last_digest, digest_of(key, data, size_bytes), __ATOMIC_RELAXED);
    __atomic_store_n(&record->exchange_used_bytes,
                     (uint32_t)(used + entry_size(key_size, size_bytes)), __ATOMIC_RELEASE);
    return MEMSPAN_OK;
}

/* The data of the last entry with that key, or NULL. */
static const char *find(const struct msp_job_file *file, uint32_t pe, const char *key,
                        size_t *size_p)
{
    const struct memspan_launch_pe *record = memspan_launch_pe_record(file->header, pe);
    const char *text                       = memspan_launch_exchange(file->header, pe);
    size_t used = __atomic_load_n(&record->exchange_used_bytes, __ATOMIC_ACQUIRE);
    if (used > file->header->exchange_size_bytes) {
        used = 0;
    }
    const char *found = NULL;
    size_t key_size   = strlen(key);
    for (size_t at = 0; used - at >= sizeof(struct memspan_launch_entry);) {
        struct memspan_launch_entry entry;
        memcpy(&entry, text + at, sizeof(entry));
        size_t size = entry_size(entry.key_size_bytes, entry.data_size_bytes);
        if (size > used - at) {
            break;
        }
        const char *entry_key = text + at + sizeof(entry);
        if (entry.key_size_bytes == key_size && memcmp(entry_key, key, key_size) == 0) {
            found   = entry_key + key_size;
            *size_p = entry.data_size_bytes;
        }
        at += size;
    }
    return found;
}

/* Where each PE reads what all have distributed, that is one page of each other PE's area: as many
 * page faults as the square of their number. What is equal is read from the own area; the records
 * stand close together. */
static const char *find_equal(const struct msp_job_file *file, uint32_t pe, const char *key,
                              size_t *size_p)
{
    struct memspan_launch_pe *mine   = memspan_launch_pe_record(file->header, file->pe);
    struct memspan_launch_pe *theirs = memspan_launch_pe_record(file->header, pe);
    uint64_t digest                  = __atomic_load_n(&theirs->last_digest, __ATOMIC_ACQUIRE);
    const char *found;

    if ((digest == 0) || (digest != __atomic_load_n(&mine->last_digest, __ATOMIC_RELAXED))) {
        return NULL;
    }
    found = find(file, file->pe, key, size_p);
    return ((found != NULL) && (digest_of(key, found, *size_p) == digest)) ? found : NULL;
}

memspan_status_t msp_job_file_get(const struct msp_job_file *file, uint32_t pe, const char *key,
                                  void *data, size_t *size_p)
{
    if (pe >= file->header->pe_count) {
        return memspan_error(MEMSPAN_ERR_INVALID, "there is no PE %u in a job of %u", pe,
                             file->header->pe_count);
    }
    size_t size       = 0;
    const char *found = find_equal(file, pe, key, &size);
    found             = (found != NULL) ? found : find(file, pe, key, &size);
    if (found == NULL) {
        return memspan_error(MEMSPAN_ERR_NOT_FOUND, "PE %u has not distributed \"%s\"", pe, key);
    }
    if (size > *size_p) {
        return memspan_error(MEMSPAN_ERR_LIMIT,
                             "PE %u distributed %zu bytes as \"%s\", %zu are expected", pe, size,
                             key, *size_p);
    }
    memcpy(data, found, size);
    *size_p = size;
    return MEMSPAN_OK;
}

bool msp_job_file_is_orphaned(const struct msp_job_file *file)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
    return fcntl(file->fd, F_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
}

bool msp_job_file_is_ending(const struct msp_job_file *file)
{
    return ((__atomic_load_n(&file->header->is_ending, __ATOMIC_ACQUIRE) != 0) ||
            (__atomic_load_n(&file->header->abort_by, __ATOMIC_ACQUIRE) != 0)) &&
           !msp_job_file_is_orphaned(file);
}

memspan_status_t msp_job_file_barrier(const struct msp_job_file *file)
{
    struct memspan_launch_header *header = file->header;
    uint32_t *generation                 = &header->barrier_generation;
    uint32_t before                      = __atomic_load_n(generation, __ATOMIC_ACQUIRE);
    uint32_t arrived = __atomic_add_fetch(&header->barrier_arrived, 1, __ATOMIC_ACQ_REL);
    if (arrived == header->pe_count) {
        __atomic_store_n(&header->barrier_arrived, 0, __ATOMIC_RELAXED);
        __atomic_store_n(generation, before + 1, __ATOMIC_RELEASE);
        syscall(SYS_futex, generation, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
        return MEMSPAN_OK;
    }
    const struct timespec timeout = {.tv_nsec = LOOK_AROUND_MS * 1000000L};
    while (__atomic_load_n(generation, __ATOMIC_ACQUIRE) == before) {
        long rc = syscall(SYS_futex, generation, FUTEX_WAIT, before, &timeout, NULL, 0);
        if (rc != 0 && errno == ETIMEDOUT && msp_job_file_is_orphaned(file)) {
            return memspan_error(MEMSPAN_ERR_OFF, "the launcher (%s, process %u) has died",
                                 header->launcher, header->launcher_pid);
        }
    }
    return MEMSPAN_OK;
}

void msp_job_file_abort(const struct msp_job_file *file, int status, const char *message)
{
    struct memspan_launch_header *header = file->header;
    uint32_t no_pe                       = 0;
    if (__atomic_compare_exchange_n(&header->abort_by, &no_pe, file->pe + 1, false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
        header->abort_status = status;
        strncpy(header->abort_message, message != NULL ? message : "",
                sizeof(header->abort_message) - 1);
        __atomic_store_n(&header->abort_ready, 1, __ATOMIC_RELEASE);
    }
    if (header->launcher_pid > 1) {
        kill((pid_t)header->launcher_pid, SIGCHLD);
    }
}
