/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c: the control memory of a host. */

#include "shmem/control/memory.h"
#include "shmem/bootstrap.h"
#include "shmem/bootstrap/sources.h"
#include "shmem/control/shared_file.h"
#include "shmem/control/wait.h"
#include "shmem/job.h"
#include <errno.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct header {
    _Alignas(MSP_CACHE_LINE_BYTES) atomic_uint arrived;
    _Alignas(MSP_CACHE_LINE_BYTES) atomic_uint epoch;
    atomic_int reporter; /* the process that reports why the job ends */
    atomic_bool has_reported;
    unsigned local_count;
};

enum { MASK_WORDS = sizeof(cpu_set_t) / sizeof(uint64_t) };

/* The record that each PE distributes at start. */
struct member {
    _Alignas(MSP_CACHE_LINE_BYTES) uint64_t processors[MASK_WORDS]; /* it may run on */
    uint64_t kernel;                                                /* 0: not known */
    int pid;
    bool has_barrier; /* membarrier() of others reaches it */
};

struct msp_control msp_control;

static struct {
    struct header *header;
    struct member *members;
    int *pids;
    void *memory;
    size_t size_bytes;
    int file; /* stays open: emulated devices, which import the pages, map it */
} control;

/* The file of this PE, where it is the first of its node or host. */
static struct {
    bool is_made; /* and not opened yet */
    memspan_status_t status;
    int fd;
} own;

static const char key[] = "memspan.control";

static size_t header_bytes(int count)
{
    size_t size = sizeof(struct header) +
                  ((size_t)count * (sizeof(struct member) + sizeof(struct msp_doorbell)));

    return msp_round_up(size, msp_page_size());
}

static size_t all_bytes(int count)
{
    return header_bytes(count) + ((size_t)count * sizeof(struct msp_control_offsets));
}

/* ---- opening ---- */

/* When this PE alone has failed, the others wait for it, and there is no control memory to inform
 * them by: the launcher ends the job, but where it informs them. */
static memspan_status_t alone(memspan_status_t status)
{
    if ((status != MEMSPAN_OK) && (msp_job.pe_count > 1) && !msp_job.is_tried) {
        msp_fatal_error("shmem_init");
    }
    return status;
}

memspan_status_t msp_control_make(int count)
{
    struct msp_shared_file ticket;

    memset(&ticket, 0, sizeof ticket);
    msp_shared_file_make(&ticket, "memspan-control", all_bytes(count), 0, &own.fd);
    own.status  = (memspan_status_t)ticket.status;
    own.is_made = true;
    return msp_job.bootstrap->put(key, &ticket, sizeof ticket);
}

/* The first PE's file, its ticket exchanged through the launcher. Where the node is one host, that
 * was done in the barrier that has found the host. */
static memspan_status_t share_control(int *fd_p)
{
    struct msp_shared_file ticket;
    size_t ticket_bytes     = sizeof ticket;
    memspan_status_t status = MEMSPAN_OK;

    if ((msp_job.local_index == 0) && !own.is_made) {
        status = alone(msp_control_make(msp_job.local_count));
    }
    if ((msp_job.local_count < msp_job.machine_count) || msp_job.bootstrap->is_joint) {
        memspan_status_t arrived = msp_job.bootstrap->node_barrier();

        status = (status == MEMSPAN_OK) ? arrived : status;
    }
    if ((status == MEMSPAN_OK) && own.is_made) {
        own.is_made = false;
        *fd_p       = own.fd;
        return own.status;
    }
    if (status != MEMSPAN_OK) {
        return status;
    }
    status = alone(msp_job.bootstrap->get(msp_job.local_pes[0], key, &ticket, &ticket_bytes));
    if (status != MEMSPAN_OK) {
        return status;
    }
    if ((ticket_bytes != sizeof ticket) || (ticket.status != MEMSPAN_OK)) {
        return msp_error_elsewhere(MEMSPAN_ERR_INTERNAL,
                                   "PE %d, the first of this host, has made no control memory",
                                   msp_job.local_pes[0]);
    }
    return alone(msp_shared_file_open(&ticket, "control memory", fd_p));
}

static uint64_t mix(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word ^ 1) * UINT64_C(0x9e3779b97f4a7c15);
    return sum ^ (sum >> 29);
}

static void introduce(struct member *member)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    (void)sched_getaffinity(0, sizeof set, &set);
    memcpy(member->processors, &set, sizeof set);
    member->kernel = msp_bootstrap_kernel();
    member->pid    = getpid();
    /* Without it, sleepers poll every MSP_WAIT_BACK_OFF_MS. */
    member->has_barrier =
        (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0);
}

static memspan_status_t map_control(int fd)
{
    int count  = msp_job.local_count;
    size_t all = all_bytes(count);
    void *memory;

    control.pids = calloc((size_t)count, sizeof *control.pids);
    if (control.pids == NULL) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for %d PEs", count);
    }
    memory = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (memory == MAP_FAILED) {
        return msp_error_native(MEMSPAN_ERR_NO_MEMORY, "", "mmap", errno, strerror(errno),
                                "a limit on address space (ulimit -v) may be in the way",
                                "%zu bytes of control memory cannot be mapped", all);
    }
    control.memory         = memory;
    control.size_bytes     = all;
    control.header         = control.memory;
    control.members        = (void *)(control.header + 1);
    msp_doorbells.by_index = (void *)(control.members + count);
    msp_control.slots      = (char *)control.memory + header_bytes(count);
    return MEMSPAN_OK;
}

/* All PEs of the host have mapped it. */
static void join_control(void)
{
    int count = msp_job.local_count;
    int i;

    control.header->local_count = (unsigned)count;
    introduce(&control.members[msp_job.local_index]);
    msp_host_barrier();
    msp_doorbells.is_ordered = true;
    for (i = 0; i < count; i++) {
        control.pids[i]          = control.members[i].pid;
        msp_doorbells.is_ordered = msp_doorbells.is_ordered && control.members[i].has_barrier;
    }
}

memspan_status_t msp_control_open(void)
{
    int fd                  = -1;
    memspan_status_t status = share_control(&fd);

    if (status == MEMSPAN_OK) {
        status = alone(map_control(fd));
    }
    if (msp_job.is_tried) {
        status = msp_job_settle(status);
    }
    if (status == MEMSPAN_OK) {
        control.file = fd;
        join_control();
    } else if (fd >= 0) {
        close(fd);
    }
    return status;
}

void msp_control_close(void)
{
    if (control.memory != NULL) {
        munmap(control.memory, control.size_bytes);
        if (control.file > 0) {
            close(control.file);
        }
    }
    if (own.is_made && (own.fd >= 0)) {
        close(own.fd);
    }
    own.is_made = false;
    free(control.pids);
    memset(&control, 0, sizeof control);
    memset(&msp_control, 0, sizeof msp_control);
    memset(&msp_doorbells, 0, sizeof msp_doorbells);
}

/* ---- the PEs of the host ---- */

void msp_host_barrier(void)
{
    struct header *header = control.header;
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
        msp_doorbell_notify((int)i);
    }
}

const int *msp_host_pids(void)
{
    return control.pids;
}

static uint64_t processors_of_all(int word)
{
    uint64_t mask = 0;
    int i;

    for (i = 0; i < msp_job.local_count; i++) {
        mask |= control.members[i].processors[word];
    }
    return mask;
}

unsigned msp_host_processor_count(void)
{
    unsigned count = 0;
    int word;

    for (word = 0; word < MASK_WORDS; word++) {
        count += (unsigned)__builtin_popcountll(processors_of_all(word));
    }
    return count;
}

uint64_t msp_host_machine(void)
{
    uint64_t sum = control.members[0].kernel;
    int word;

    for (word = 0; (sum != 0) && (word < MASK_WORDS); word++) {
        sum = mix(sum, processors_of_all(word));
    }
    return sum;
}

/* ---- the end of a job ---- */

bool msp_host_claim_report(void)
{
    enum { PAUSES = 300 };
    const struct timespec pause = {0, 10000000};
    int no_process              = 0;
    int i;

    if ((control.header == NULL) ||
        atomic_compare_exchange_strong(&control.header->reporter, &no_process, getpid())) {
        return true;
    }
    for (i = 0; (i < PAUSES) && !atomic_load(&control.header->has_reported); i++) {
        nanosleep(&pause, NULL);
    }
    return false;
}

void msp_host_finish_report(void)
{
    if (control.header != NULL) {
        atomic_store(&control.header->has_reported, true);
    }
}
