/* SPDX-License-Identifier: BSD-3-Clause */
/* sample.c: every 10 ms what has been accessed is counted, and as many windows become probes.
 *
 * Accesses are known from the kernel's software event of page faults, which gives address and time;
 * no processor's counters are needed. Where the kernel refuses it, from the page tables: which
 * probes are mapped again, without the address and the exact time.
 *
 * A probe that is not accessed for a second is taken elsewhere: it counts as time without an
 * access. */

#include "cmd/memspan-advise/preload/sample.h"
#include "cmd/memspan-advise/preload/block.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
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
    QUEUE_PAGES  = 128, /* and one: what perf_event_mlock_kb grants by default */
    PAGE_BYTES   = 4096,
    WINDOW_PAGES = WINDOW_BYTES / PAGE_BYTES,
    EDGE_BYTES   = 1024, /* where a stream enters: a structure's member, an uneven start */
    TICK_NS      = 10000000,
};

static const double probe_max_s = 1;

/* Guarded by block_lock. */
static struct probe {
    uintptr_t window; /* 0: none */
    struct site *site;
    double armed_s;
    double hit_s; /* 0: not yet */
    uintptr_t hit_at;
} probes[PROBES];

static struct perf_event_mmap_page *queues[QUEUES_MAX]; /* one a processor */
static size_t queue_count;
static int page_table  = -1;
static char source[96] = "nothing: no block was large enough";
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

    if (fd >= 0) {
        queue =
            mmap(NULL, (QUEUE_PAGES + 1) * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    if (queue == MAP_FAILED) {
        (void)snprintf(source, sizeof(source), "page tables: perf_event_open: %s", strerror(errno));
        return false;
    }
    queues[queue_count++] = queue; /* the descriptor stays open */
    return true;
}

static void open_source(void)
{
    long processors = sysconf(_SC_NPROCESSORS_CONF);

    (void)snprintf(source, sizeof(source), "page faults");
    for (int i = 0; (i < processors) && (i < QUEUES_MAX); i++) {
        if (!open_queue(i) && (errno != ENODEV)) { /* ENODEV: it is off */
            queue_count = 0;
            page_table  = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
            return;
        }
    }
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
        ((char *)to)[i] = data[(from + i) % (QUEUE_PAGES * PAGE_BYTES)];
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

    if (probe->window == 0) {
        return;
    }
    if (probe->hit_s != 0) {
        probe->site->hits++;
        probe->site->edges +=
            (from_start < EDGE_BYTES) || (from_start >= WINDOW_BYTES - EDGE_BYTES) ? 1 : 0;
        now_s = probe->hit_s;
    }
    probe->site->exposure_s += now_s - probe->armed_s;
    probe->window = 0;
}

void sample_forget(uintptr_t start, uintptr_t end)
{
    for (size_t i = 0; i < PROBES; i++) {
        if ((probes[i].window >= start) && (probes[i].window < end)) {
            retire(&probes[i], block_now_s());
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

/* Sites take turns, so that each is known as well as the others. */
static void arm(struct probe *probe)
{
    static size_t turn;
    struct site *sites;
    struct block *block = NULL;
    size_t site_count   = block_sites(&sites);
    uintptr_t window    = 0;

    for (size_t i = 0; (i < site_count) && (window == 0); i++) {
        struct site *site = &sites[turn++ % site_count];

        window      = (site->live_bytes == 0) ? 0 : block_window(site, next_chance(), &block);
        probe->site = site;
    }
    if ((window == 0) || is_probed(window)) {
        return;
    }
    probe->hit_s   = 0;
    probe->armed_s = block_now_s();
    if (madvise((void *)window, WINDOW_BYTES, MADV_DONTNEED) == 0) {
        probe->window = window;
    }
}

static void tick(void)
{
    double now_s;

    pthread_mutex_lock(&block_lock);
    for (size_t i = 0; i < queue_count; i++) {
        read_queue(queues[i]);
    }
    now_s = block_now_s();
    for (size_t i = 0; i < PROBES; i++) {
        if ((page_table >= 0) && (probes[i].window != 0)) {
            look_up(&probes[i], now_s);
        }
        if ((probes[i].hit_s != 0) || (now_s - probes[i].armed_s > probe_max_s)) {
            retire(&probes[i], now_s);
        }
        if (probes[i].window == 0) {
            arm(&probes[i]);
        }
    }
    pthread_mutex_unlock(&block_lock);
}

static void *run(void *data)
{
    const struct timespec pause = {.tv_nsec = TICK_NS};

    (void)data;
    while (!atomic_load(&stopping)) {
        (void)nanosleep(&pause, NULL);
        tick();
    }
    return NULL;
}

void sample_start(void)
{
    sigset_t all;
    sigset_t before;

    open_source();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the program's */
    started = pthread_create(&sampler, NULL, run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void sample_stop(void)
{
    if (!started) {
        return;
    }
    atomic_store(&stopping, true);
    pthread_join(sampler, NULL);
    pthread_mutex_lock(&block_lock);
    for (size_t i = 0; i < PROBES; i++) {
        retire(&probes[i], block_now_s());
    }
    pthread_mutex_unlock(&block_lock);
}
