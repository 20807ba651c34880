/* SPDX-License-Identifier: BSD-3-Clause */
/* node.c: the control memory of a node, files that its PEs share, and its bells.
 *
 * The maker keeps a file open until the others have it; they open it through /proc/PID/fd and know
 * it by its number on the file system. Nothing has a name, so nothing stays behind. */

#include "shmem/node.h"
#include "shmem/bootstrap.h"
#include "shmem/job.h"
#include "shmem/transport/segment.h"
#include "shmem/wait.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct header {
    _Alignas(MSP_CACHE_LINE_BYTES) atomic_uint arrived;
    _Alignas(MSP_CACHE_LINE_BYTES) atomic_uint epoch;
    struct msp_node_ticket file; /* of msp_node_share_file(): written by the first PE */
    atomic_int speaker;          /* its process number: it says why the job ends */
    atomic_bool has_spoken;
    unsigned local_count;
};

enum { MASK_WORDS = sizeof(cpu_set_t) / sizeof(uint64_t) };

/* What each PE says at start and in votes. */
struct voter {
    _Alignas(MSP_CACHE_LINE_BYTES) _Atomic uint64_t vote;
    uint64_t processors[MASK_WORDS]; /* it may run on */
    int pid;
    bool has_barrier; /* membarrier() of others reaches it */
};

struct msp_node msp_node;

static struct {
    struct header *header;
    struct voter *voters;
    int *pids;
    void *memory;
    size_t size_bytes;
} node;

static size_t header_bytes(int count)
{
    size_t size =
        sizeof(struct header) + ((size_t)count * (sizeof(struct voter) + sizeof(struct msp_bell)));

    return msp_round_up(size, msp_page_size());
}

/* ---- files ---- */

/* Not where a program that was started without them expects its standard streams: what it prints
 * would be written to the file. */
static int above_streams(int fd)
{
    int above = fd;

    if ((fd >= 0) && (fd <= STDERR_FILENO)) {
        above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        close(fd);
    }
    return above;
}

/* ftruncate() beyond the limit would not fail, but end the process by a signal. */
static bool refuse_size(struct msp_node_ticket *ticket, const char *name, size_t size_bytes)
{
    struct rlimit limit;

    if ((getrlimit(RLIMIT_FSIZE, &limit) != 0) || (size_bytes <= limit.rlim_cur)) {
        return false;
    }
    ticket->status = MEMSPAN_ERR_LIMIT;
    memspan_error(MEMSPAN_ERR_LIMIT,
                  "no shared file of %zu bytes for %s: files may have %llu bytes", size_bytes, name,
                  (unsigned long long)limit.rlim_cur);
    msp_error_hint("raise the limit (ulimit -f)");
    return true;
}

void msp_node_ticket_make(struct msp_node_ticket *ticket, const char *name, size_t size_bytes,
                          size_t huge_page_bytes, int *fd_p)
{
    unsigned flags = MFD_CLOEXEC;
    struct stat facts;
    int fd;

    *fd_p = -1;
    if (refuse_size(ticket, name, size_bytes)) {
        return;
    }
    if (huge_page_bytes != 0) {
        flags |= MFD_HUGETLB | ((unsigned)__builtin_ctzll(huge_page_bytes) << MAP_HUGE_SHIFT);
    }
    fd             = above_streams(memfd_create(name, flags));
    ticket->status = MEMSPAN_OK;
    if ((fd < 0) || (ftruncate(fd, (off_t)size_bytes) != 0) || (fstat(fd, &facts) != 0)) {
        ticket->status = MEMSPAN_ERR_NO_MEMORY;
        msp_error_native(MEMSPAN_ERR_NO_MEMORY, "", (fd < 0) ? "memfd_create" : "ftruncate", errno,
                         strerror(errno), NULL, "no shared file of %zu bytes for %s can be made",
                         size_bytes, name);
        if (fd >= 0) {
            close(fd);
        }
        *fd_p = -1;
        return;
    }
    *ticket = (struct msp_node_ticket){.pid        = getpid(),
                                       .fd         = fd,
                                       .inode      = facts.st_ino,
                                       .device     = facts.st_dev,
                                       .size_bytes = size_bytes};
    *fd_p   = fd;
}

memspan_status_t msp_node_ticket_open(const struct msp_node_ticket *ticket, const char *name,
                                      int *fd_p)
{
    char path[64];
    struct stat facts;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/fd/%d", ticket->pid, ticket->fd);
    fd = above_streams(open(path, O_RDWR | O_CLOEXEC));
    if (fd < 0) {
        int error = errno;

        /* Its maker may have died: then the launcher ends the job, and says who it was. */
        if (error == ENOENT) {
            sleep(1);
        }
        errno = error;
        return msp_error_native(
            MEMSPAN_ERR_PERMISSION, "", "open", errno, strerror(errno),
            ((errno == EMFILE) || (errno == ENFILE))
                ? "the limit on open files (ulimit -n) is in the way"
                : "the PEs of a node must run as one user, see each other in one /proc, and be "
                  "dumpable",
            "%s of the node's first PE cannot be opened as %s", name, path);
    }
    if ((fstat(fd, &facts) != 0) || (facts.st_ino != ticket->inode) ||
        (facts.st_dev != ticket->device) || ((uint64_t)facts.st_size != ticket->size_bytes)) {
        close(fd);
        memspan_error(MEMSPAN_ERR_UNREACHABLE, "%s is another file than the first PE's %s", path,
                      name);
        return msp_error_hint("PEs of one node must be in one PID namespace: start them in one "
                              "container, or tell the launcher that they are on several nodes");
    }
    *fd_p = fd;
    return MEMSPAN_OK;
}

memspan_status_t msp_node_share_file(const char *name, size_t size_bytes, size_t huge_page_bytes,
                                     int *fd_p)
{
    bool is_first           = (msp_job.local_index == 0);
    memspan_status_t status = MEMSPAN_OK;
    int fd                  = -1;

    if (is_first) {
        msp_node_ticket_make(&node.header->file, name, size_bytes, huge_page_bytes, &fd);
    }
    msp_node_fence();
    if (node.header->file.status != MEMSPAN_OK) {
        status = (memspan_status_t)node.header->file.status;
        if (!is_first) {
            msp_error_elsewhere(status, "the node's first PE could not make %s of %zu bytes", name,
                                size_bytes);
        }
    } else if (!is_first) {
        status = msp_node_ticket_open(&node.header->file, name, &fd);
    }
    if (!msp_node_all(status == MEMSPAN_OK)) {
        if (fd >= 0) {
            close(fd);
        }
        return (status != MEMSPAN_OK) ? status
                                      : msp_error_elsewhere(MEMSPAN_ERR_UNREACHABLE,
                                                            "another PE cannot open %s", name);
    }
    *fd_p = fd;
    return MEMSPAN_OK;
}

/* ---- opening ---- */

/* When this PE alone has failed, the others wait for it, and control memory is what they would be
 * told through: the launcher ends the job. */
static memspan_status_t alone(memspan_status_t status)
{
    if ((status != MEMSPAN_OK) && (msp_job.local_count > 1)) {
        msp_fatal_error("shmem_init");
    }
    return status;
}

/* The first PE's file, told through the launcher: the control memory is what everything else is
 * told through. */
static memspan_status_t share_control(size_t size_bytes, int *fd_p)
{
    const char *key = "memspan.node";
    struct msp_node_ticket ticket;
    size_t ticket_bytes = sizeof ticket;
    memspan_status_t status;

    memset(&ticket, 0, sizeof ticket);
    if (msp_job.local_index == 0) {
        msp_node_ticket_make(&ticket, "memspan-control", size_bytes, 0, fd_p);
        status = alone(msp_job.bootstrap->put(key, &ticket, sizeof ticket));
        if (status != MEMSPAN_OK) {
            return status;
        }
    }
    status = msp_job.bootstrap->fence();
    if ((status != MEMSPAN_OK) || (msp_job.local_index == 0)) {
        return (status != MEMSPAN_OK) ? status : (memspan_status_t)ticket.status;
    }
    status = alone(msp_job.bootstrap->get(msp_job.local_pes[0], key, &ticket, &ticket_bytes));
    if (status != MEMSPAN_OK) {
        return status;
    }
    if ((ticket_bytes != sizeof ticket) || (ticket.status != MEMSPAN_OK)) {
        return msp_error_elsewhere(MEMSPAN_ERR_INTERNAL,
                                   "PE %d, the first of this node, has made no control memory",
                                   msp_job.local_pes[0]);
    }
    return alone(msp_node_ticket_open(&ticket, "control memory", fd_p));
}

static void introduce(struct voter *voter)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    (void)sched_getaffinity(0, sizeof set, &set);
    memcpy(voter->processors, &set, sizeof set);
    voter->pid = getpid();
    /* Where the kernel does not have it, sleepers wake up by themselves now and then. */
    voter->has_barrier =
        (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0);
}

memspan_status_t msp_node_open(void)
{
    int count  = msp_job.local_count;
    size_t top = header_bytes(count);
    size_t all = top + ((size_t)count * sizeof(struct msp_node_offsets));
    memspan_status_t status;
    int fd = -1;
    int i;

    node.pids = calloc((size_t)count, sizeof *node.pids);
    status    = (node.pids != NULL)
                    ? share_control(all, &fd)
                    : alone(memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for %d PEs", count));
    if (status != MEMSPAN_OK) {
        return status;
    }
    node.memory = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (node.memory == MAP_FAILED) {
        status = msp_error_native(MEMSPAN_ERR_NO_MEMORY, "", "mmap", errno, strerror(errno),
                                  "a limit on address space (ulimit -v) may be in the way",
                                  "%zu bytes of control memory cannot be mapped", all);
        close(fd);
        node.memory = NULL;
        return alone(status);
    }
    node.size_bytes          = all;
    node.header              = node.memory;
    node.voters              = (void *)(node.header + 1);
    msp_node.bells           = (void *)(node.voters + count);
    msp_node.slots           = (char *)node.memory + top;
    node.header->local_count = (unsigned)count;
    introduce(&node.voters[msp_job.local_index]);
    msp_node_fence();
    msp_node.is_ordered = true;
    for (i = 0; i < count; i++) {
        node.pids[i]        = node.voters[i].pid;
        msp_node.is_ordered = msp_node.is_ordered && node.voters[i].has_barrier;
    }
    close(fd); /* all have opened it: they have come past the fence */
    return MEMSPAN_OK;
}

void msp_node_close(void)
{
    if (node.memory != NULL) {
        munmap(node.memory, node.size_bytes);
    }
    free(node.pids);
    memset(&node, 0, sizeof node);
    memset(&msp_node, 0, sizeof msp_node);
}

/* ---- meeting ---- */

void msp_node_fence(void)
{
    struct header *header = node.header;
    unsigned count        = (unsigned)msp_job.local_count;
    unsigned epoch        = atomic_load_explicit(&header->epoch, memory_order_acquire);
    unsigned i;

    if (atomic_fetch_add_explicit(&header->arrived, 1, memory_order_acq_rel) + 1 < count) {
        MSP_WAIT(atomic_load_explicit(&header->epoch, memory_order_acquire) != epoch);
        return;
    }
    atomic_store_explicit(&header->arrived, 0, memory_order_relaxed);
    atomic_store_explicit(&header->epoch, epoch + 1, memory_order_release);
    for (i = 0; i < count; i++) {
        msp_node_ring((int)i);
    }
}

uint64_t msp_node_max(uint64_t mine)
{
    uint64_t most = 0;
    int i;

    atomic_store(&node.voters[msp_job.local_index].vote, mine);
    msp_node_fence();
    for (i = 0; i < msp_job.local_count; i++) {
        uint64_t vote = atomic_load(&node.voters[i].vote);

        most = (vote > most) ? vote : most;
    }
    msp_node_fence();
    return most;
}

bool msp_node_all(bool mine)
{
    return msp_node_max(mine ? 0 : 1) == 0;
}

const int *msp_node_pids(void)
{
    return node.pids;
}

unsigned msp_node_processor_count(void)
{
    unsigned count = 0;
    int word;
    int i;

    for (word = 0; word < MASK_WORDS; word++) {
        uint64_t mask = 0;

        for (i = 0; i < msp_job.local_count; i++) {
            mask |= node.voters[i].processors[word];
        }
        count += (unsigned)__builtin_popcountll(mask);
    }
    return count;
}

/* ---- the end of a job ---- */

bool msp_node_speak(void)
{
    enum { PATIENCE = 300 };
    const struct timespec pause = {0, 10000000};
    int nobody                  = 0;
    int i;

    if ((node.header == NULL) ||
        atomic_compare_exchange_strong(&node.header->speaker, &nobody, getpid())) {
        return true;
    }
    for (i = 0; (i < PATIENCE) && !atomic_load(&node.header->has_spoken); i++) {
        nanosleep(&pause, NULL);
    }
    return false;
}

void msp_node_spoken(void)
{
    if (node.header != NULL) {
        atomic_store(&node.header->has_spoken, true);
    }
}

/* ---- bells ---- */

static void ring(struct msp_bell *bell)
{
    atomic_fetch_add_explicit(&bell->rings, 1, memory_order_release);
    syscall(SYS_futex, &bell->rings, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

void msp_node_ring_slow(int local_index)
{
    ring(&msp_node.bells[local_index]);
}

void msp_node_ring_at_slow(int local_index, const void *address, size_t size_bytes)
{
    struct msp_bell *bell = &msp_node.bells[local_index];
    uint64_t key          = msp_segment_key(address);

    if ((key + size_bytes > atomic_load(&bell->watch_first)) &&
        (key <= atomic_load(&bell->watch_last))) {
        ring(bell);
    }
}
