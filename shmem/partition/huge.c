/* SPDX-License-Identifier: BSD-3-Clause */
/* huge.c: states of ranges, and what barriers do about them.
 *
 * Every range of 2 MiB of a segment has a state, which outlives the blocks: their memory stays in
 * the file. The lock guards all. */

#include "shmem/partition/huge.h"
#include "core/base/file.h"
#include "core/base/process.h"
#include "shmem/option.h"
#include "shmem/partition/memory.h"
#include <errno.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

enum {
    RANGE_BYTES       = 2 << 20,
    LEAST_RANGES      = 2,
    FULL_PERCENT      = 95,      /* holes that become memory are a twentieth at most */
    PARTLY_MAX        = 64,      /* ranges touched in part that a look passes */
    UNTOUCHED_AT_ONCE = 64,      /* untouched ranges that become huge in one call */
    FULL_AT_ONCE      = 4,       /* full ranges that become huge in one call */
    REFUSALS_MAX      = 16,      /* of a block's; then it is left alone */
    SHARE             = 32,      /* of the time since the first block that full ranges may take */
    CREDIT_TURNS      = 16,      /* barriers until full ranges are tried again */
    BARRIERS_MAX      = 1 << 20, /* without a full range among them; then no more are looked at */
};

/* The words of SHMEMX_HUGE_PAGES. */
enum { OFF, FILLED, ALL };

#define FIRST_CREDIT_NS INT64_C(20000000)

enum state {
    BASE,
    FULL, /* seen touched in full */
    HUGE,
    LEFT, /* the kernel has refused it */
};

struct block {
    struct block *next;
    char *first;  /* of the whole ranges */
    size_t count; /* of ranges */
    size_t at;    /* the next one to look at */
    size_t refusals;
    const char *address;  /* of the block */
    unsigned char *state; /* by range */
    off_t offset;         /* of first, in the file */
    int fd;
    int segment;
};

atomic_bool msp_huge_is_on;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all that follows */
static struct block *blocks;
static bool may_touch;   /* before the program does */
static bool has_worked;  /* in this process */
static int refused_with; /* errno with which the kernel refuses all; 0: it does not */
static int64_t first_ns; /* the first block; 0: none yet */
static atomic_uint
    barriers;               /* since the last block or full range, roughly: threads may share one */
static atomic_uint next_at; /* the next one that does anything */
static unsigned look_at;    /* the next one that looks */
static size_t proven_ranges; /* seen touched in full, less those made huge unseen for that */
static int64_t full_ns;      /* spent on full ranges */
static unsigned char *states[MSP_SEGMENT_MAX]; /* NULL: no block yet */
static size_t huge_bytes[MSP_SEGMENT_MAX];

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* ---- one block; lock held ---- */

static char *range_at(const struct block *b, size_t i)
{
    return b->first + i * RANGE_BYTES;
}

/* The first range from @p i on with a touched page; count: none. */
static size_t next_touched(const struct block *b, size_t i)
{
    off_t at = (i < b->count) ? lseek(b->fd, b->offset + (off_t)(i * RANGE_BYTES), SEEK_DATA) : -1;
    size_t range = (at >= b->offset) ? (size_t)(at - b->offset) / RANGE_BYTES : b->count;

    return (range < b->count) ? range : b->count;
}

static bool is_full(const struct block *b, size_t i)
{
    unsigned char resident[RANGE_BYTES / 4096];
    size_t pages = RANGE_BYTES / msp_page_size();
    size_t count = 0;
    size_t page;

    if (mincore(range_at(b, i), RANGE_BYTES, resident) != 0) {
        return false;
    }
    for (page = 0; page < pages; page++) {
        count += resident[page] & 1;
    }
    return count * 100 >= pages * FULL_PERCENT;
}

static bool is_over(const struct block *b)
{
    return (refused_with != 0) || (b->refusals >= REFUSALS_MAX);
}

/* Makes ranges huge. EINVAL at the first one: the kernel does not do that at all. */
static bool collapse_once(struct block *b, size_t i, size_t count)
{
    bool done = madvise(range_at(b, i), count * RANGE_BYTES, MADV_COLLAPSE) == 0;

    if (done) {
        has_worked = true;
        huge_bytes[b->segment] += count * RANGE_BYTES;
    } else if ((errno == EINVAL) && !has_worked) {
        refused_with = errno;
    } else {
        b->refusals += (count == 1) || (errno == ENOMEM);
    }
    memset(&b->state[i], done ? HUGE : LEFT, count);
    return done;
}

/* Of several ranges the kernel may refuse some, for pages that are locked or in use by a driver. */
static bool collapse(struct block *b, size_t i, size_t count)
{
    bool done = collapse_once(b, i, count);
    size_t at;

    if (!done && (count > 1) && (errno != ENOMEM) && (refused_with == 0)) {
        for (at = i; (at < i + count) && !is_over(b); at++) {
            done |= collapse_once(b, at, 1);
        }
    }
    return done;
}

static bool has_credit(void)
{
    return (full_ns < FIRST_CREDIT_NS) || (full_ns < (now_ns() - first_ns) / SHARE);
}

/* Untouched ranges become huge: a page of each is made first. */
static void collapse_untouched(struct block *b)
{
    size_t i = 0;

    while ((i < b->count) && !is_over(b)) {
        size_t touched = next_touched(b, i);
        size_t count   = 0;

        while ((count < UNTOUCHED_AT_ONCE) && (i + count < touched) &&
               (madvise(range_at(b, i + count), msp_page_size(), MADV_POPULATE_WRITE) == 0)) {
            count++;
        }
        if (count > 0) {
            (void)collapse(b, i, count);
        }
        i += (count > 0) ? count : 1;
    }
}

/* Looks at ranges with base pages, in turn. True where one was full. */
static bool look(struct block *b)
{
    bool found    = false;
    size_t partly = 0;
    size_t i      = b->at;

    while ((partly < PARTLY_MAX) && (i < b->count) && !is_over(b)) {
        if (b->state[i] != BASE) {
            i++;
        } else if (next_touched(b, i) != i) {
            i = next_touched(b, i);
        } else if (is_full(b, i)) {
            b->state[i++] = FULL;
            proven_ranges++;
            found = true;
        } else {
            partly++;
            i++;
        }
    }
    b->at = (i < b->count) ? i : 0;
    return found;
}

/* Full ranges become huge while there is credit. True where some wait. */
static bool collapse_full(struct block *b)
{
    int64_t began_ns;
    size_t i = 0;

    for (;;) {
        size_t count = 0;

        while ((i < b->count) && (b->state[i] != FULL)) {
            i++;
        }
        while ((i + count < b->count) && (count < FULL_AT_ONCE) && (b->state[i + count] == FULL)) {
            count++;
        }
        if ((count == 0) || is_over(b) || !has_credit()) {
            return (count > 0) && !is_over(b);
        }
        began_ns = now_ns();
        (void)collapse(b, i, count);
        full_ns += now_ns() - began_ns;
    }
}

/* ---- barriers ---- */

/* Lock held. */
static void look_again(void)
{
    look_at = 1;
    atomic_store_explicit(&next_at, 1, memory_order_relaxed);
    atomic_store_explicit(&barriers, 0, memory_order_relaxed);
    atomic_store_explicit(&msp_huge_is_on, (blocks != NULL) && (refused_with == 0),
                          memory_order_relaxed);
}

/* The first barriers look, then ever fewer. Full ranges wait for credit alone. */
static void work(unsigned now)
{
    bool is_due = (now >= look_at);
    bool found  = false;
    bool waits  = false;
    struct block *b;

    look_at = is_due ? now + 1 + now / 4 : look_at;
    for (b = blocks; b != NULL; b = b->next) {
        if (!is_over(b)) {
            found |= is_due && look(b);
            waits |= collapse_full(b);
        }
    }
    atomic_store_explicit(&next_at,
                          (waits && (now + CREDIT_TURNS < look_at)) ? now + CREDIT_TURNS : look_at,
                          memory_order_relaxed);
    if (found) {
        look_again();
    } else if ((refused_with != 0) || (!waits && (now > BARRIERS_MAX))) {
        atomic_store_explicit(&msp_huge_is_on, false, memory_order_relaxed);
    }
}

void msp_huge_look(void)
{
    unsigned now = atomic_load_explicit(&barriers, memory_order_relaxed) + 1;

    atomic_store_explicit(&barriers, now, memory_order_relaxed);
    if ((now >= atomic_load_explicit(&next_at, memory_order_relaxed)) &&
        (pthread_mutex_trylock(&lock) == 0)) {
        work(now);
        pthread_mutex_unlock(&lock);
    }
}

/* ---- blocks ---- */

static bool is_ordinary(const struct msp_partition_request *request,
                        const struct msp_partition_placement *placement)
{
    return !placement->is_block && !placement->is_file && !placement->is_locked &&
           (placement->import_count == 0) && (placement->page_size_bytes <= msp_page_size()) &&
           (request->page_size_bytes == 0);
}

/* A huge page would be on one node. */
static bool is_interleaved(const struct msp_partition_placement *placement)
{
    return placement->bind_mode == MPOL_INTERLEAVE;
}

static bool takes_all(void)
{
    return msp_shmem_option_number(MEMSPAN_SHMEM_HUGE_PAGES) == ALL;
}

static bool is_wanted(const struct msp_partition_request *request,
                      const struct msp_partition_placement *placement)
{
    return (msp_shmem_option_number(MEMSPAN_SHMEM_HUGE_PAGES) != OFF) &&
           is_ordinary(request, placement) && !is_interleaved(placement);
}

/* What was refused before is tried again. NULL: it is small, or there is no memory. Lock held. */
static struct block *new_block(int index, char *address, size_t size_bytes)
{
    const struct msp_segment *segment = &msp_segments[index];
    uintptr_t base                    = (uintptr_t)segment->base;
    size_t first    = msp_round_up((uintptr_t)address - base, RANGE_BYTES) / RANGE_BYTES;
    size_t end      = ((uintptr_t)address - base + size_bytes) / RANGE_BYTES;
    struct block *b = (end >= first + LEAST_RANGES) ? calloc(1, sizeof *b) : NULL;
    size_t i;

    if ((b != NULL) && (states[index] == NULL)) {
        states[index] = calloc(segment->stride_bytes / RANGE_BYTES, 1);
    }
    if ((b == NULL) || (states[index] == NULL)) {
        free(b);
        return NULL;
    }
    b->first   = segment->base + first * RANGE_BYTES;
    b->count   = end - first;
    b->address = address;
    b->state   = states[index] + first;
    b->offset  = (off_t)(segment->stride_bytes * (size_t)msp_job.local_index + first * RANGE_BYTES);
    b->fd      = segment->fd;
    b->segment = index;
    for (i = 0; i < b->count; i++) {
        b->state[i] = (b->state[i] == LEFT) ? BASE : b->state[i];
    }
    return b;
}

/* Where memory has several nodes, a range is on the node of its first toucher, and that is for the
 * program to choose. Lock held. */
static void begin(void)
{
    char nodes[64];

    if (first_ns == 0) {
        first_ns  = now_ns();
        may_touch = (msp_file_read("/sys/devices/system/node/online", nodes, sizeof nodes) <= 0) ||
                    (strpbrk(nodes, "-,") == NULL);
    }
}

/* Whether so much was seen touched in full that this block may be huge unseen, and three times as
 * much is free. Lock held. */
static bool is_proven(const struct block *b)
{
    struct msp_memory_limits limits;
    struct block *other;

    for (other = blocks; other != NULL; other = other->next) {
        (void)look(other);
    }
    if (!may_touch || (b->count > proven_ranges)) {
        return false;
    }
    msp_memory_limits_read(&limits);
    if (b->count * RANGE_BYTES >= limits.free_bytes / 4 / (uint64_t)msp_job.local_count) {
        return false;
    }
    proven_ranges -= b->count;
    return true;
}

void msp_huge_enter(const struct msp_partition *partition, char *block, size_t size_bytes,
                    bool filled)
{
    const struct msp_partition_record *record = partition->memory;
    const struct msp_segment *segment         = &msp_segments[partition->segment];
    struct block *b;

    if ((size_bytes < RANGE_BYTES) || (segment->fd < 0) ||
        !is_wanted(&record->request, &record->memory.placement)) {
        return;
    }
    pthread_mutex_lock(&lock);
    b = new_block(partition->segment, block, size_bytes);
    if (b != NULL) {
        begin();
        if (filled || takes_all() || is_proven(b)) {
            collapse_untouched(b);
        }
        b->next = blocks;
        blocks  = b;
        look_again();
    }
    pthread_mutex_unlock(&lock);
}

/* Those of a segment, or one. Lock held. */
static void leave(const char *address, int segment)
{
    struct block **place = &blocks;
    struct block *b;

    while ((b = *place) != NULL) {
        if ((b->address == address) || (b->segment == segment)) {
            *place = b->next;
            free(b);
        } else {
            place = &b->next;
        }
    }
}

void msp_huge_leave(const char *block)
{
    pthread_mutex_lock(&lock);
    leave(block, -1);
    pthread_mutex_unlock(&lock);
}

void msp_huge_leave_segment(int segment)
{
    pthread_mutex_lock(&lock);
    leave(NULL, segment);
    free(states[segment]);
    states[segment]     = NULL;
    huge_bytes[segment] = 0;
    pthread_mutex_unlock(&lock);
}

void msp_huge_close(void)
{
    atomic_store(&msp_huge_is_on, false);
    refused_with  = 0;
    first_ns      = 0;
    full_ns       = 0;
    proven_ranges = 0;
}

/* ---- what came of it ---- */

void msp_huge_foresee(const struct msp_partition_request *request,
                      const struct msp_partition_placement *placement, char *text, size_t text_size)
{
    if (!is_ordinary(request, placement)) {
        snprintf(text, text_size, "no: pages as they were asked for, or of a driver");
    } else if (is_interleaved(placement)) {
        snprintf(text, text_size, "no: page by page over the nodes");
    } else if (!is_wanted(request, placement)) {
        snprintf(text, text_size, "no: SHMEMX_HUGE_PAGES=off");
    } else {
        snprintf(text, text_size, "blocks of 4 MiB and more, %s",
                 takes_all() ? "at once" : "where they are filled");
    }
}

size_t msp_huge_describe(const struct msp_partition *partition, char *text, size_t text_size)
{
    const struct msp_partition_record *record = partition->memory;
    size_t bytes;
    int error;

    pthread_mutex_lock(&lock);
    bytes = huge_bytes[partition->segment];
    error = refused_with;
    pthread_mutex_unlock(&lock);
    if ((error != 0) && is_wanted(&record->request, &record->memory.placement)) {
        snprintf(text, text_size,
                 "no: the kernel refuses (madvise: %d %s); Linux 6.1 with transparent huge pages "
                 "has them",
                 error, strerrordesc_np(error));
    } else {
        msp_huge_foresee(&record->request, &record->memory.placement, text, text_size);
    }
    return bytes;
}
