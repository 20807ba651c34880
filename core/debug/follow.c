/* SPDX-License-Identifier: BSD-3-Clause */
/* follow.c: pieces are in arrays without gaps, since the policy ranks them all. The thread copies
 * what it samples, and finds a piece again by its key: a block may be freed at any time between.
 *
 * Invariant: pages are moved under the lock, a slice at a time, so a block's pages do not move, and
 * no policy is set on its addresses, once its end was reported. */

#include "core/debug/follow.h"
#include "core/base/fork.h"
#include "core/base/log.h"
#include "core/base/platform.h"
#include "core/base/text.h"
#include "core/debug/call_stack.h"
#include "core/debug/use_sample.h"
#include "core/debug/watcher.h"
#include "core/topology/topology.h"
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    PIECES_MAX      = 1 << 13,
    SITES_MAX       = 1 << 10, /* the last one is that of all others */
    PIECES_OF_BLOCK = 64,
    PIECE_BYTES     = 2 << 20, /* at least, but for the last of a block */
    MOVES_MAX       = 256,     /* in a round */
    SLICE_BYTES     = 4 << 20,
    CHECKED         = 64, /* pieces whose place is verified in a round */
    STUCK_ROUNDS    = 64, /* after a move that failed */
};

static const double time_share  = 0.02; /* of one processor, for sampling and deciding */
static const double move_share  = 0.1;  /* of the slowest tier's bandwidth */
static const double pause_least = 0.1;  /* seconds */
static const double decay_s     = 5;
static const double window_min  = 0.001;
static const double window_max  = 0.2;

/* Beside the policy's record of a piece. */
struct place {
    uintptr_t start;
    uintptr_t end;
    const void *block;
    int home;       /* the node of the thread that allocated it */
    int from;       /* the tier before its last move */
    unsigned moves; /* that it made */
    unsigned stuck; /* rounds for which it stays: its pages did not move */
    bool odd;
    bool sampled; /* in this round */
};

MSP_LOCK_STATIC(follow_lock, MSP_RANK_FOLLOW); /* guards all that follows */

static struct msp_follow_tiers tiers;
static struct msp_policy policy;
static struct msp_piece pieces[PIECES_MAX + SITES_MAX] MSP_SPARSE;
static struct place places[PIECES_MAX] MSP_SPARSE;
static size_t piece_count;
static struct msp_policy_site sites[SITES_MAX] MSP_SPARSE;
static const struct msp_call_stack *stacks[SITES_MAX] MSP_SPARSE;
static struct {
    uint64_t keys;
    uint64_t blocks;
    uint64_t unfollowed; /* blocks for which there was no piece left */
    uint64_t rounds;
    uint64_t moves;
    uint64_t failed_moves;
    double moved_bytes;
    double sampling_s; /* of the processor */
    double elapsed_s;
    double best_ns;
} counts;

/* The thread's own. */
static struct msp_use_range ranges[PIECES_MAX] MSP_SPARSE;
static size_t order[PIECES_MAX + SITES_MAX] MSP_SPARSE;
static struct msp_policy_move moves[MOVES_MAX];
static uint64_t moved_keys[MOVES_MAX];
static double window_s = 0.01;
static double last_s;

static pthread_t thread;
static atomic_bool thread_wanted;
static atomic_bool thread_runs;
static sem_t stopping; /* posted once: the thread is to end */

static double clock_s(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- blocks ---- */

/* Its place is open: the default memory, of no size of pages of its own. */
static bool is_open(const struct msp_provider *provider)
{
    const struct msp_provider_spec *spec = &provider->spec;

    return (spec->kind == MEMSPAN_KIND_HOST) && (spec->device->number == MEMSPAN_HOST) &&
           (spec->importer_count == 0) && (spec->page_size_bytes == 0) &&
           ((spec->flags &
             (MEMSPAN_REQUEST_STRICT | MEMSPAN_REQUEST_PINNED | MEMSPAN_REQUEST_SHARED)) == 0) &&
           ((spec->spread == MEMSPAN_SPREAD_TOUCHED) ||
            ((spec->spread == MEMSPAN_SPREAD_ANY) && (spec->node_count == 0)));
}

bool msp_follow_wants(const struct msp_provider *provider, size_t size_bytes)
{
    return msp_following() && (size_bytes >= MSP_FOLLOW_BYTES) && !msp_guarding() &&
           is_open(provider);
}

static uint32_t site_of(const struct msp_call_stack *stack)
{
    size_t at = (stack == NULL) ? SITES_MAX - 1 : stack->hash % (SITES_MAX - 1);

    for (size_t i = 0; (i < 16) && (at < SITES_MAX - 1); i++, at++) {
        if (stacks[at] == NULL) {
            stacks[at] = stack;
        }
        if (stacks[at] == stack) {
            return (uint32_t)at;
        }
    }
    return SITES_MAX - 1;
}

static int node_of(int tier, int home)
{
    return msp_numa_nearest(home, tiers.tier[tier].nodes, tiers.tier[tier].node_count);
}

static void add_piece(const struct msp_block_view *block, uintptr_t start, uintptr_t end,
                      uint32_t site)
{
    struct place *place = &places[piece_count];
    size_t bytes        = end - start;
    int tier            = msp_policy_place(&policy, &sites[site], bytes);

    *place                = (struct place){.start = start,
                                           .end   = end,
                                           .block = block->address,
                                           .home  = msp_numa_node_here(),
                                           .from  = tier,
                                           .odd   = (counts.keys % 2) != 0};
    pieces[piece_count++] = (struct msp_piece){.key    = counts.keys++,
                                               .bytes  = bytes,
                                               .site   = site,
                                               .tier   = tier,
                                               .recent = sites[site].density * (double)bytes};
    policy.room[tier] -= (double)bytes;
    (void)msp_topology_prefer((void *)start, bytes, node_of(tier, place->home), place->odd, false);
}

static void start_thread(void);

void msp_follow_allocated(const struct msp_block_view *block)
{
    const struct msp_chunk *chunk = block->chunk;
    uintptr_t page                = msp_page_size();
    uintptr_t start               = ((uintptr_t)block->address + page - 1) & ~(page - 1);
    uintptr_t end                 = (start + block->owner.requested_bytes) & ~(page - 1);
    uintptr_t step                = (end - start) / PIECES_OF_BLOCK;
    const struct msp_call_stack *stack;
    uint32_t site;

    if (!msp_follow_wants(chunk->provider, block->owner.requested_bytes) || !chunk->is_direct ||
        ((chunk->block.flags & MEMSPAN_BLOCK_PINNED) != 0)) {
        return;
    }
    stack = msp_call_site_stack();
    step =
        ((step < PIECE_BYTES) ? PIECE_BYTES : step + PIECE_BYTES) & ~(uintptr_t)(PIECE_BYTES - 1);
    msp_lock(&follow_lock);
    site = site_of(stack);
    counts.blocks++;
    if (piece_count + PIECES_OF_BLOCK > PIECES_MAX) {
        counts.unfollowed++;
        start = end;
    }
    while (start < end) {
        /* Between two huge pages. */
        uintptr_t next = (start + step) & ~(uintptr_t)(PIECE_BYTES - 1);

        next = (end - start < step + PIECE_BYTES / 2) ? end : next;
        add_piece(block, start, next, site);
        start = next;
    }
    msp_unlock(&follow_lock);
    start_thread();
}

static void drop_piece(size_t i)
{
    msp_policy_freed(&policy, &pieces[i], &sites[pieces[i].site]);
    piece_count--;
    pieces[i] = pieces[piece_count];
    places[i] = places[piece_count];
}

void msp_follow_forget(const void *address)
{
    if (!msp_following()) {
        return;
    }
    msp_lock(&follow_lock);
    for (size_t i = 0; i < piece_count;) {
        if (places[i].block == address) {
            drop_piece(i);
        } else {
            i++;
        }
    }
    msp_unlock(&follow_lock);
}

/* ---- samples ---- */

static int by_start(const void *a, const void *b)
{
    const struct msp_use_range *left  = a;
    const struct msp_use_range *right = b;

    return (left->start > right->start) - (left->start < right->start);
}

static size_t copy_ranges(void)
{
    size_t count;

    msp_lock(&follow_lock);
    count = piece_count;
    for (size_t i = 0; i < count; i++) {
        ranges[i]         = (struct msp_use_range){.start = places[i].start, .end = places[i].end};
        places[i].sampled = true;
    }
    msp_unlock(&follow_lock);
    qsort(ranges, count, sizeof(ranges[0]), by_start);
    return count;
}

/* A page that was seen in a short window is used often: about half of the pages that are used at
 * all should be seen. */
static void adapt_window(size_t count)
{
    double used     = 0;
    double resident = 0;

    for (size_t i = 0; i < count; i++) {
        used += ranges[i].used_bytes;
        resident += (ranges[i].used_bytes > 0) ? ranges[i].resident_bytes : 0;
    }
    if ((used > 0.6 * resident) && (window_s > window_min)) {
        window_s /= 2;
    } else if ((used < 0.2 * resident + 1) && (window_s < window_max)) {
        window_s *= 2;
    }
}

/* Locked. A piece that is new, or was freed and another one is there now, has no sample. */
static void take_samples(size_t count, double seen_s, double seconds)
{
    for (size_t i = 0; i < piece_count; i++) {
        struct msp_use_range key = {.start = places[i].start};
        const struct msp_use_range *range =
            places[i].sampled ? bsearch(&key, ranges, count, sizeof(key), by_start) : NULL;

        pieces[i].use_bytes = (range == NULL) ? -1 : msp_use_estimate(range) / seen_s * seconds;
        places[i].sampled   = false;
        places[i].stuck -= (places[i].stuck > 0) ? 1 : 0;
        pieces[i].fixed = places[i].stuck > 0;
    }
}

/* Locked. Some pieces in each round: first touch, and others, may have put them elsewhere. */
static void check_tiers(void)
{
    for (size_t n = 0; (n < CHECKED) && (n < piece_count); n++) {
        size_t i = (counts.rounds * CHECKED + n) % piece_count;
        int node = msp_numa_node_of_page((void *)((places[i].start + places[i].end) / 2));

        for (int t = 0; (node >= 0) && (t < tiers.count); t++) {
            for (size_t k = 0; k < tiers.tier[t].node_count; k++) {
                pieces[i].tier = (tiers.tier[t].nodes[k] == node) ? t : pieces[i].tier;
            }
        }
    }
}

/* Locked. What we have there, and what is free beyond the reserve. */
static void measure_room(void)
{
    for (int t = 0; t < tiers.count; t++) {
        uint64_t bytes = 0;

        for (size_t k = 0; k < tiers.tier[t].node_count; k++) {
            uint64_t free_bytes = msp_numa_node_free(tiers.tier[t].nodes[k]);

            bytes += (free_bytes == MEMSPAN_UNKNOWN) ? 0 : free_bytes;
        }
        bytes -= (bytes > tiers.tier[t].spare_bytes) ? tiers.tier[t].spare_bytes : bytes;
        for (size_t i = 0; i < piece_count; i++) {
            bytes += (pieces[i].tier == t) ? pieces[i].bytes : 0;
        }
        policy.tiers[t].capacity_bytes = bytes;
    }
}

/* ---- moves ---- */

/* Locked. The piece's index; piece_count: it is gone. */
static size_t find_key(uint64_t key)
{
    size_t i = 0;

    while ((i < piece_count) && (pieces[i].key != key)) {
        i++;
    }
    return i;
}

static void note_move(size_t i, int to, double saves)
{
    struct place *place = &places[i];

    msp_log(MEMSPAN_LOG_DEBUG, "core",
            "placement: %zu bytes at %p from %s to %s: used %.3g times a second, saves %.3g s/s",
            (size_t)(place->end - place->start), (void *)place->start,
            tiers.tier[pieces[i].tier].name, tiers.tier[to].name,
            pieces[i].recent / (double)pieces[i].bytes, saves);
    if ((atomic_load_explicit(&msp_watch_flags, memory_order_relaxed) & MSP_WATCH_TRACE) != 0) {
        msp_trace_placement((void *)place->start, place->end - place->start,
                            tiers.tier[pieces[i].tier].name, tiers.tier[to].name,
                            pieces[i].recent / (double)pieces[i].bytes, saves);
    }
    counts.moves++;
    counts.moved_bytes += (double)pieces[i].bytes;
    place->from = pieces[i].tier;
    place->moves++;
    msp_policy_moved(&policy, &pieces[i], to);
}

/* Slice by slice, so that no thread waits for long to free a block. */
static void make_move(uint64_t key, const struct msp_policy_move *move)
{
    size_t elsewhere = 0;
    bool more        = true;

    for (uintptr_t done = 0; more; done += SLICE_BYTES) {
        size_t i;
        uintptr_t bytes;
        int node;

        msp_lock(&follow_lock);
        i    = find_key(key);
        more = (i < piece_count) && (done < places[i].end - places[i].start);
        if (more) {
            node  = node_of(move->to, places[i].home);
            bytes = places[i].end - places[i].start;
            if (done == 0) {
                (void)msp_topology_prefer((void *)places[i].start, bytes, node, places[i].odd,
                                          false);
            }
            bytes = (bytes - done < SLICE_BYTES) ? bytes - done : SLICE_BYTES;
            (void)msp_topology_prefer((void *)(places[i].start + done), bytes, node, places[i].odd,
                                      true);
            elsewhere += msp_numa_pages_elsewhere((void *)(places[i].start + done), bytes, node);
        } else if (i < piece_count) {
            if (elsewhere * msp_page_size() * 2 <= pieces[i].bytes) {
                note_move(i, move->to, move->saves);
            } else {
                counts.failed_moves++;
                places[i].stuck = STUCK_ROUNDS;
            }
        }
        msp_unlock(&follow_lock);
    }
}

/* ---- rounds ---- */

double msp_follow_pause_s(double cost_s)
{
    double pause_s = cost_s / time_share;

    return (pause_s < pause_least) ? pause_least : pause_s;
}

static void give_up(const char *problem)
{
    msp_log(MEMSPAN_LOG_WARN, "core",
            "MEMSPAN_PLACEMENT=auto ends: the use of memory cannot be sampled here (%s)", problem);
    msp_watch_set(MSP_WATCH_FOLLOW, false);
}

/* True when the thread is to end. */
static bool pause_for(double seconds)
{
    struct timespec until;
    int result;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (time_t)seconds;
    until.tv_nsec += (long)((seconds - (double)(time_t)seconds) * 1e9);
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (((result = sem_timedwait(&stopping, &until)) != 0) && (errno == EINTR)) {
    }
    if (result == 0) {
        sem_post(&stopping); /* also for the next pause */
    }
    return result == 0;
}

/* Locked. */
static size_t decide(size_t count, double seen_s, double seconds)
{
    const struct msp_policy_input input = {pieces, piece_count, sites,    SITES_MAX,
                                           order,  moves,       MOVES_MAX};
    double budget = move_share * seconds * 1e9 / tiers.tier[tiers.count - 1].ns_per_byte;
    size_t made;

    take_samples(count, seen_s, seconds);
    check_tiers();
    measure_room();
    made = msp_policy_step(&policy, &input, seconds, budget);
    for (size_t i = 0; i < made; i++) {
        moved_keys[i] = pieces[moves[i].piece].key;
    }
    counts.best_ns = msp_policy_best_ns(&policy, pieces, piece_count, order);
    counts.rounds++;
    counts.elapsed_s += seconds;
    return made;
}

double msp_follow_round(void)
{
    double began_cpu_s  = clock_s(CLOCK_THREAD_CPUTIME_ID);
    const char *problem = "";
    size_t made         = 0;
    size_t count        = copy_ranges();
    double opened_s;
    double now_s;
    double cost_s;

    if (count == 0) {
        last_s = clock_s(CLOCK_MONOTONIC);
        return pause_least;
    }
    if (!msp_use_begin(&problem)) {
        give_up(problem);
        return pause_least;
    }
    opened_s = clock_s(CLOCK_MONOTONIC);
    if (pause_for(window_s)) {
        return pause_least;
    }
    if (!msp_use_end(ranges, count, &problem)) {
        give_up(problem);
        return pause_least;
    }
    now_s = clock_s(CLOCK_MONOTONIC);
    adapt_window(count);
    msp_lock(&follow_lock);
    if (last_s > 0) {
        made = decide(count, now_s - opened_s, now_s - last_s);
    }
    last_s = now_s;
    cost_s = clock_s(CLOCK_THREAD_CPUTIME_ID) - began_cpu_s;
    counts.sampling_s += cost_s;
    msp_unlock(&follow_lock);
    for (size_t i = 0; i < made; i++) {
        make_move(moved_keys[i], &moves[i]);
    }
    return msp_follow_pause_s(cost_s);
}

static void *run(void *data)
{
    double seconds = pause_least;

    (void)data;
    while (!pause_for(seconds) && msp_following()) {
        seconds = msp_follow_round();
    }
    return NULL;
}

/* ---- beginning and end ---- */

/* With all signals blocked: they are the program's. */
static void start_thread(void)
{
    sigset_t all;
    sigset_t before;
    int error;

    if (!atomic_exchange(&thread_wanted, false)) {
        return;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&thread, NULL, run, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) {
        give_up(strerror(error));
        return;
    }
    atomic_store(&thread_runs, true);
}

void msp_follow_begin(const struct msp_follow_tiers *given, bool threaded)
{
    (void)sem_init(&stopping, 0, 0);
    msp_lock(&follow_lock);
    tiers  = *given;
    policy = (struct msp_policy){.tier_count = tiers.count, .decay_s = decay_s};
    for (int t = 0; t < tiers.count; t++) {
        policy.tiers[t].ns_per_byte = tiers.tier[t].ns_per_byte;
    }
    measure_room();
    for (int t = 0; t < tiers.count; t++) {
        policy.room[t] = (double)policy.tiers[t].capacity_bytes;
    }
    msp_unlock(&follow_lock);
    atomic_store(&thread_wanted, threaded);
    msp_call_stack_start();
    msp_watch_set(MSP_WATCH_FOLLOW, true);
}

void msp_follow_start(bool forced)
{
    static struct msp_follow_tiers found;
    char kernel[96];

    if (msp_numa_memory_nodes() < 2) {
        msp_log(MEMSPAN_LOG_INFO, "core",
                "MEMSPAN_PLACEMENT=auto: nothing to place, the machine has one NUMA node");
        return;
    }
    if (msp_topology_is_foreign()) {
        msp_log(MEMSPAN_LOG_WARN, "core",
                "MEMSPAN_PLACEMENT=auto: the topology in force is not this machine's");
        return;
    }
    msp_follow_tiers_find(&found);
    if (found.count < 2) {
        msp_log(MEMSPAN_LOG_INFO, "core",
                "MEMSPAN_PLACEMENT=auto: nothing to place, all NUMA nodes are of one tier");
        return;
    }
    msp_follow_tiers_kernel("", kernel, sizeof(kernel));
    if ((kernel[0] != '\0') && !forced) {
        msp_log(MEMSPAN_LOG_WARN, "core",
                "MEMSPAN_PLACEMENT=auto leaves the placement to the kernel: %s; "
                "auto,force places memory all the same",
                kernel);
        return;
    }
    for (int t = 0; t < found.count; t++) {
        msp_log(MEMSPAN_LOG_INFO, "core",
                "MEMSPAN_PLACEMENT=auto: tier %d is %s, %.3g ns for 1 KiB", t, found.tier[t].name,
                1024 * found.tier[t].ns_per_byte);
    }
    msp_follow_begin(&found, true);
}

void msp_follow_stop(void)
{
    if (atomic_exchange(&thread_runs, false)) {
        sem_post(&stopping);
        (void)pthread_join(thread, NULL);
    }
}

__attribute__((destructor)) static void stop_at_exit(void)
{
    msp_follow_stop();
}

/* The child has no such thread. Its blocks stay where they are. */
static void end_in_child(void)
{
    atomic_store(&thread_runs, false);
    atomic_store(&thread_wanted, false);
    piece_count = 0;
    if (msp_following()) {
        msp_watch_set(MSP_WATCH_FOLLOW, false);
    }
}

MSP_FORK_ITEM(follow) = {.rank = MSP_RANK_FOLLOW, .after_child = end_in_child};

/* ---- the account ---- */

bool msp_follow_why(const void *address, char *text, size_t size_bytes)
{
    bool found = false;

    if (!msp_following()) {
        return false;
    }
    msp_lock(&follow_lock);
    for (size_t i = 0; !found && (i < piece_count); i++) {
        const struct place *place = &places[i];

        found = ((uintptr_t)address >= place->start) && ((uintptr_t)address < place->end);
        if (found) {
            (void)snprintf(text, size_bytes,
                           "host memory, placed by its use: on %s, used %.3g times a second of "
                           "late; %u moves%s%s",
                           tiers.tier[pieces[i].tier].name,
                           pieces[i].recent / (double)pieces[i].bytes, place->moves,
                           (place->moves > 0) ? ", the last from " : "",
                           (place->moves > 0) ? tiers.tier[place->from].name : "");
        }
    }
    msp_unlock(&follow_lock);
    return found;
}

static void add_tier(char *line, size_t size, size_t *used, int t)
{
    double bytes = 0;

    for (size_t i = 0; i < piece_count; i++) {
        bytes += (pieces[i].tier == t) ? (double)pieces[i].bytes : 0;
    }
    msp_text_append(line, size, used, " tier%d=\"%s\",%.0f", t, tiers.tier[t].name, bytes);
}

bool msp_follow_print(int fd)
{
    char line[1024];
    size_t used = 0;

    msp_lock(&follow_lock);
    if (!msp_following() && (counts.rounds == 0)) {
        msp_unlock(&follow_lock);
        return true;
    }
    msp_text_append(line, sizeof(line), &used,
                    "memspan stats placement mode=%s blocks=%llu unfollowed=%llu pieces=%zu "
                    "rounds=%llu moves=%llu failed=%llu moved_bytes=%.0f sampling_percent=%.3f",
                    !msp_following()  ? "off"
                    : policy.settling ? "settled"
                                      : "following",
                    (unsigned long long)counts.blocks, (unsigned long long)counts.unfollowed,
                    piece_count, (unsigned long long)counts.rounds,
                    (unsigned long long)counts.moves, (unsigned long long)counts.failed_moves,
                    counts.moved_bytes,
                    (counts.elapsed_s > 0) ? 100 * counts.sampling_s / counts.elapsed_s : 0);
    msp_text_append(line, sizeof(line), &used,
                    " model_ms=%.0f settled_ms=%.0f unmoved_ms=%.0f best_ms=%.0f",
                    policy.followed_ns / 1e6, policy.settled_ns / 1e6, policy.stayed_ns / 1e6,
                    counts.best_ns / 1e6);
    for (int t = 0; t < tiers.count; t++) {
        add_tier(line, sizeof(line), &used, t);
    }
    msp_text_append(line, sizeof(line), &used, "\n");
    msp_unlock(&follow_lock);
    return write(fd, line, used) == (ssize_t)used;
}
