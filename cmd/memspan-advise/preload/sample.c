/* SPDX-License-Identifier: BSD-3-Clause */
/* sample.c: every 10 ms the accesses are counted, and as many windows become probes.
 *
 * Accesses are known from the kernel's software event of page faults, which gives address and time;
 * no processor's counters are needed. Where the kernel refuses it, from the page tables: the probes
 * that are mapped again, without the address and the exact time.
 *
 * The kernel limits the memory that all processes of a user may lock for queues of events, so these
 * are small.
 *
 * A probe that is not accessed for a while is taken elsewhere, so that memory without accesses does
 * not collect all probes. */

#include "cmd/common/clock.h"
#include "cmd/memspan-advise/preload/preload.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    PROBES       = 64,
    QUEUES_MAX   = 1024,
    QUEUE_MOST   = 16, /* pages: all probes' faults of a tick; a user may lock 129 by default */
    QUEUE_LEAST  = 4,
    PAGE_BYTES   = 4096,
    WINDOW_PAGES = WINDOW_BYTES / PAGE_BYTES,
    EDGE_BYTES   = 1024, /* where a stream enters: a structure's member, an uneven start */
    TICK_NS      = 10000000,
};

static const double probe_max_s = 0.1;
static const double save_max_s  = 60; /* a profile that is left is at most so old, or half as old */

/* Guarded by the tables' lock. */
static struct probe {
    uintptr_t window; /* 0: none */
    struct site *site;
    size_t segment;
    double armed_s;
    double hit_s; /* 0: not yet */
    uintptr_t hit_at;
} probes[PROBES];

static struct perf_event_mmap_page *queues[QUEUES_MAX]; /* one a processor */
static size_t queue_count;
static int page_table = -1;
static char source[96];
static void (*save)(void);
static atomic_bool stopping;
static pthread_t sampler;
static bool started;

const char *sample_source(void)
{
    return source;
}

/* ---- page faults ---- */

static bool open_queue(int processor)
{
    struct perf_event_attr attr = {
        .type           = PERF_TYPE_SOFTWARE,
        .size           = sizeof(attr),
        .config         = PERF_COUNT_SW_PAGE_FAULTS,
        .sample_period  = 1,
        .sample_type    = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR,
        .inherit        = 1,
        .exclude_kernel = 1,
        .exclude_hv     = 1,
        .use_clockid    = 1,
        .clockid        = CLOCK_MONOTONIC,
    };
    int fd      = (int)syscall(SYS_perf_event_open, &attr, 0, processor, -1, PERF_FLAG_FD_CLOEXEC);
    void *queue = MAP_FAILED;
    int problem = errno;

    for (size_t pages = QUEUE_MOST; (fd >= 0) && (queue == MAP_FAILED) && (pages >= QUEUE_LEAST);
         pages /= 2) {
        queue   = mmap(NULL, (pages + 1) * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        problem = errno;
    }
    if (fd >= 0) {
        (void)close(fd); /* the mapping holds the event; the program may need its descriptors */
    }
    if (queue != MAP_FAILED) {
        queues[queue_count++] = queue;
    }
    errno = problem;
    return queue != MAP_FAILED;
}

static void close_queues(void)
{
    while (queue_count > 0) {
        struct perf_event_mmap_page *queue = queues[--queue_count];

        (void)munmap(queue, PAGE_BYTES + queue->data_size);
    }
}

/* False where accesses cannot be known. */
static bool open_source(void)
{
    long processors = sysconf(_SC_NPROCESSORS_CONF);
    int problem;

    (void)snprintf(source, sizeof(source), "page faults");
    for (int i = 0; (i < processors) && (i < QUEUES_MAX); i++) {
        if (!open_queue(i) && (errno != ENODEV)) { /* ENODEV: it is off */
            problem = errno;
            close_queues();
            page_table = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
            (void)snprintf(source, sizeof(source), "%s: perf_event_open: %s",
                           (page_table < 0) ? "nothing" : "page tables", strerror(problem));
            return page_table >= 0;
        }
    }
    return true;
}

struct fault {
    uint32_t process, thread;
    uint64_t time_ns;
    uint64_t address;
};

static void take_fault(const struct fault *fault)
{
    uintptr_t window = fault->address & ~(uintptr_t)(WINDOW_BYTES - 1);
    double time_s    = 1e-9 * (double)fault->time_ns;

    for (size_t i = 0; i < PROBES; i++) {
        struct probe *probe = &probes[i];

        if ((probe->window == window) && (time_s >= probe->armed_s) &&
            ((probe->hit_s == 0) || (time_s < probe->hit_s))) {
            probe->hit_s  = time_s;
            probe->hit_at = fault->address;
        }
    }
}

static void copy_out(const struct perf_event_mmap_page *queue, uint64_t from, void *to,
                     size_t bytes)
{
    const char *data = (const char *)queue + PAGE_BYTES;

    for (size_t i = 0; i < bytes; i++) {
        ((char *)to)[i] = data[(from + i) % queue->data_size];
    }
}

static void read_queue(struct perf_event_mmap_page *queue)
{
    uint64_t head = __atomic_load_n(&queue->data_head, __ATOMIC_ACQUIRE);
    uint64_t tail = queue->data_tail;

    while (tail < head) {
        struct perf_event_header record;
        struct fault fault;

        copy_out(queue, tail, &record, sizeof(record));
        if (record.type == PERF_RECORD_SAMPLE) {
            copy_out(queue, tail + sizeof(record), &fault, sizeof(fault));
            if (fault.process == (uint32_t)getpid()) {
                take_fault(&fault);
            }
        }
        tail += record.size;
    }
    __atomic_store_n(&queue->data_tail, tail, __ATOMIC_RELEASE);
}

/* ---- page tables ---- */

/* Some page of the window is mapped. The access was at any time since the last look. */
static void look_up(struct probe *probe, double now_s)
{
    uint64_t entries[WINDOW_PAGES] = {0};

    if (pread(page_table, entries, sizeof(entries), (off_t)(probe->window / PAGE_BYTES * 8)) <= 0) {
        return;
    }
    for (size_t i = 0; i < WINDOW_PAGES; i++) {
        if ((entries[i] >> 63) != 0) {
            probe->hit_s  = now_s - 0.5e-9 * TICK_NS;
            probe->hit_s  = (probe->hit_s < probe->armed_s) ? now_s : probe->hit_s;
            probe->hit_at = probe->window + WINDOW_BYTES / 2;
        }
    }
}

/* ---- probes ---- */

static void retire(struct probe *probe, double now_s)
{
    uintptr_t from_start = probe->hit_at - probe->window;
    struct site *site    = probe->site;

    if (probe->window == 0) {
        return;
    }
    if (probe->hit_s != 0) {
        site->hits[probe->segment]++;
        site->edges +=
            (from_start < EDGE_BYTES) || (from_start >= WINDOW_BYTES - EDGE_BYTES) ? 1 : 0;
        now_s = probe->hit_s;
    }
    site->exposure_s[probe->segment] += now_s - probe->armed_s;
    probe->window = 0;
}

void sample_forget(uintptr_t start, uintptr_t end)
{
    for (size_t i = 0; i < PROBES; i++) {
        if ((probes[i].window >= start) && (probes[i].window < end)) {
            retire(&probes[i], cli_clock_s());
        }
    }
}

static uint64_t next_chance(void)
{
    static uint64_t state = UINT64_C(0x2545f4914f6cdd1d);

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static bool is_probed(uintptr_t window)
{
    for (size_t i = 0; i < PROBES; i++) {
        if (probes[i].window == window) {
            return true;
        }
    }
    return false;
}

/* Sites take turns, so that each is known as well as the others. False: none has a window. */
static bool arm(struct probe *probe)
{
    static size_t turn;
    struct site *sites;
    size_t site_count = block_sites(&sites);
    uintptr_t window  = 0;

    for (size_t i = 0; (i < site_count) && (window == 0); i++) {
        probe->site = &sites[turn++ % site_count];
        window      = block_window(probe->site, next_chance(), &probe->segment);
    }
    if ((window == 0) || is_probed(window)) {
        return window != 0;
    }
    probe->hit_s   = 0;
    probe->armed_s = cli_clock_s();
    if (madvise((void *)window, WINDOW_BYTES, MADV_DONTNEED) == 0) {
        probe->window = window;
    }
    return true;
}

static void tick(void)
{
    bool available = true;
    double now_s;

    block_lock();
    for (size_t i = 0; i < queue_count; i++) {
        read_queue(queues[i]);
    }
    now_s = cli_clock_s();
    for (size_t i = 0; i < PROBES; i++) {
        struct probe *probe = &probes[i];

        if ((page_table >= 0) && (probe->window != 0)) {
            look_up(probe, now_s);
        }
        if ((probe->hit_s != 0) || (now_s - probe->armed_s > probe_max_s)) {
            retire(probe, now_s);
        }
        if (available && (probe->window == 0)) {
            available = arm(probe);
        }
    }
    block_unlock();
}

static void *run(void *data)
{
    const struct timespec pause = {.tv_nsec = TICK_NS};
    double began_s              = cli_clock_s();
    double save_s               = began_s + 1;

    (void)data;
    while (!atomic_load(&stopping)) {
        double now_s;

        (void)nanosleep(&pause, NULL);
        tick();
        now_s = cli_clock_s();
        if (now_s >= save_s) {
            save();
            save_s = now_s + ((now_s - began_s < save_max_s) ? now_s - began_s : save_max_s);
        }
    }
    return NULL;
}

void sample_start(void (*save_profile)(void))
{
    sigset_t all;
    sigset_t before;
    int problem;

    save = save_profile;
    if (!open_source()) {
        return;
    }
    if (!block_open()) {
        (void)snprintf(source, sizeof(source), "nothing: a memory file: %s", strerror(errno));
        close_queues();
        return;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the program's */
    problem = pthread_create(&sampler, NULL, run, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    started = problem == 0;
    if (!started) {
        (void)snprintf(source, sizeof(source), "nothing: a thread: %s", strerror(problem));
    }
}

void sample_stop(void)
{
    if (!started) {
        return;
    }
    started = false;
    atomic_store(&stopping, true);
    pthread_join(sampler, NULL);
    block_lock();
    for (size_t i = 0; i < PROBES; i++) {
        retire(&probes[i], cli_clock_s());
    }
    block_unlock();
}
