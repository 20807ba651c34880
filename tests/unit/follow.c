/* SPDX-License-Identifier: BSD-3-Clause */
/* MEMSPAN_PLACEMENT=auto on a machine of one node: the calls that place pages, and those that
 * sample use, are those of a pretended machine of two (--wrap). Each test is a process. */

#include "core/debug/follow.h"
#include "core/base/platform.h"
#include "core/debug/use_sample.h"
#include "core/debug/watcher.h"
#include "core/topology/topology.h"
#include <criterion/criterion.h>
#include <memspan/memspan.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MIB = 1 << 20, SLOW = 0, FAST = 1, FAST_BYTES = 64 * MIB, RANGES_MAX = 1 << 14 };

/* ---- the pretended machine ---- */

struct range {
    uintptr_t start;
    uintptr_t end;
    int node;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct range placed[RANGES_MAX]; /* the last one of an address counts */
static size_t placed_count;
static struct range allowed[64]; /* live blocks that may be placed */
static size_t allowed_count;
static struct range used[8]; /* what the program uses */
static size_t used_count;
static bool sticks; /* no page moves */
static size_t move_calls;
static size_t outside_calls; /* for memory that is no live block of those */

bool __wrap_msp_topology_prefer(void *address, size_t size_bytes, int node, bool odd, bool move);
size_t __wrap_msp_numa_pages_elsewhere(const void *address, size_t size_bytes, int node);
int __wrap_msp_numa_node_of_page(const void *address);
uint64_t __wrap_msp_numa_node_free(int node);
int __wrap_msp_numa_memory_nodes(void);
bool __wrap_msp_use_begin(const char **problem_p);
bool __wrap_msp_use_end(struct msp_use_range *ranges, size_t count, const char **problem_p);

static int node_at(uintptr_t address)
{
    for (size_t i = placed_count; i-- > 0;) {
        if ((address >= placed[i].start) && (address < placed[i].end)) {
            return placed[i].node;
        }
    }
    return SLOW;
}

static bool is_allowed(uintptr_t start, uintptr_t end)
{
    for (size_t i = 0; i < allowed_count; i++) {
        if ((start >= allowed[i].start) && (end <= allowed[i].end)) {
            return true;
        }
    }
    return false;
}

bool __wrap_msp_topology_prefer(void *address, size_t size_bytes, int node, bool odd, bool move)
{
    uintptr_t start = (uintptr_t)address;

    (void)odd;
    pthread_mutex_lock(&lock);
    move_calls += move ? 1 : 0;
    /* A block is announced to the tests when it has been allocated: its first policy is earlier. */
    outside_calls += (move && !is_allowed(start, start + size_bytes)) ? 1 : 0;
    if ((placed_count < RANGES_MAX) &&
        ((move && !sticks) || (!move && (node_at(start) == SLOW) && (move_calls == 0)))) {
        placed[placed_count++] = (struct range){start, start + size_bytes, node};
    }
    pthread_mutex_unlock(&lock);
    return true;
}

size_t __wrap_msp_numa_pages_elsewhere(const void *address, size_t size_bytes, int node)
{
    size_t count = 0;

    pthread_mutex_lock(&lock);
    for (uintptr_t at = (uintptr_t)address; at < (uintptr_t)address + size_bytes;
         at += msp_page_size()) {
        count += (node_at(at) != node) ? 1 : 0;
    }
    pthread_mutex_unlock(&lock);
    return count;
}

int __wrap_msp_numa_node_of_page(const void *address)
{
    int node;

    pthread_mutex_lock(&lock);
    node = node_at((uintptr_t)address);
    pthread_mutex_unlock(&lock);
    return node;
}

static size_t bytes_on_fast(uintptr_t start, uintptr_t end)
{
    size_t bytes = 0;

    for (uintptr_t at = start; at < end; at += MIB) {
        bytes += (node_at(at) == FAST) ? MIB : 0;
    }
    return bytes;
}

uint64_t __wrap_msp_numa_node_free(int node)
{
    uint64_t bytes = FAST_BYTES;

    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < allowed_count; i++) {
        bytes -= bytes_on_fast(allowed[i].start, allowed[i].end);
    }
    pthread_mutex_unlock(&lock);
    return (node == FAST) ? bytes : UINT64_C(1) << 40;
}

int __wrap_msp_numa_memory_nodes(void)
{
    return 1;
}

bool __wrap_msp_use_begin(const char **problem_p)
{
    (void)problem_p;
    return true;
}

bool __wrap_msp_use_end(struct msp_use_range *ranges, size_t count, const char **problem_p)
{
    (void)problem_p;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count; i++) {
        ranges[i].resident_bytes = (double)(ranges[i].end - ranges[i].start);
        ranges[i].used_bytes     = 0;
        for (size_t k = 0; k < used_count; k++) {
            if ((ranges[i].start < used[k].end) && (ranges[i].end > used[k].start)) {
                ranges[i].used_bytes = ranges[i].resident_bytes / 2;
            }
        }
    }
    pthread_mutex_unlock(&lock);
    return true;
}

/* ---- the program ---- */

static const struct msp_follow_tiers two = {
    .tier  = {{.nodes = {FAST}, .node_count = 1, .ns_per_byte = 0.02, .name = "fast (node 1)"},
              {.nodes = {SLOW}, .node_count = 1, .ns_per_byte = 0.1, .name = "slow (node 0)"}},
    .count = 2};

static struct range announce(char *block, size_t size_bytes)
{
    struct range range = {(uintptr_t)block, (uintptr_t)block + size_bytes, 0};

    cr_assert(block != NULL, "%s", memspan_error_text());
    pthread_mutex_lock(&lock);
    allowed[allowed_count++] = range;
    pthread_mutex_unlock(&lock);
    return range;
}

static char *take(size_t size_bytes)
{
    char *block = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, size_bytes);

    (void)announce(block, size_bytes);
    return block;
}

static void use(const char *start, size_t size_bytes)
{
    used[used_count++] = (struct range){(uintptr_t)start, (uintptr_t)start + size_bytes, 0};
}

static size_t fast_of(const char *start, size_t size_bytes)
{
    return bytes_on_fast((uintptr_t)start, (uintptr_t)start + size_bytes);
}

static void run_rounds(int count)
{
    while (count-- > 0) {
        (void)msp_follow_round();
    }
}

/* The value of a field in the statistics. */
static double stat_of(const char *field)
{
    char text[2048] = "";
    char name[64];
    const char *at;
    FILE *file = tmpfile();

    cr_assert((file != NULL) && msp_follow_print(fileno(file)));
    rewind(file);
    (void)fread(text, 1, sizeof text - 1, file);
    fclose(file);
    snprintf(name, sizeof name, " %s=", field);
    at = strstr(text, name);
    cr_assert(at != NULL, "no %s in: %s", field, text);
    return strtod(at + strlen(name), NULL);
}

Test(follow, what_is_used_goes_to_the_fast_node)
{
    memspan_pointer_info_t info = {.struct_size = sizeof info};
    char *cold;
    char *hot;

    msp_follow_begin(&two, false);
    cold = take(48 * MIB);
    hot  = take(32 * MIB);
    cr_expect_geq(fast_of(cold, 48 * MIB), 40 * MIB, "it was empty");
    use(hot, 32 * MIB);
    run_rounds(60);
    cr_expect_geq(fast_of(hot, 32 * MIB), 30 * MIB);
    cr_expect_leq(fast_of(cold, 48 * MIB), 34 * MIB);
    cr_expect_eq(outside_calls, 0);
    cr_expect_gt(stat_of("moves"), 0);
    cr_expect_eq(memspan_pointer_describe(hot + MIB, &info), MEMSPAN_OK);
    cr_expect(strstr(info.why, "placed by its use: on fast (node 1)") != NULL, "%s", info.why);
    cr_expect_eq(memspan_free(cold), MEMSPAN_OK);
    cr_expect_eq(memspan_free(hot), MEMSPAN_OK);
    cr_expect_eq((int)stat_of("pieces"), 0);
}

/* Each move is an event of the trace, with its reason. */
Test(follow, the_trace_has_the_moves)
{
    char path[] = "/tmp/memspan-follow-XXXXXX";
    static char text[1 << 16];
    int file = mkstemp(path);
    char *cold;
    char *hot;

    cr_assert_geq(file, 0);
    setenv("MEMSPAN_TRACE", path, 1);
    cold = take(1);
    msp_follow_begin(&two, false);
    hot = take(16 * MIB);
    cr_expect_eq(fast_of(hot, 16 * MIB), 16 * MIB);
    pthread_mutex_lock(&lock);
    placed_count = 0; /* the kernel has put them elsewhere */
    pthread_mutex_unlock(&lock);
    use(hot, 16 * MIB);
    run_rounds(40);
    memspan_free(hot);
    memspan_free(cold);
    msp_trace_flush();
    cr_assert_gt(read(file, text, sizeof text - 1), 0);
    cr_expect(strstr(text, "\"from\":\"slow (node 0)\",\"to\":\"fast (node 1)\"") != NULL);
    unlink(path);
    close(file);
}

Test(follow, the_used_part_of_a_block_that_is_too_large_goes)
{
    char *block;

    msp_follow_begin(&two, false);
    block = take(256 * MIB);
    use(block + 192 * MIB, 32 * MIB);
    run_rounds(60);
    cr_expect_geq(fast_of(block + 192 * MIB, 32 * MIB), 28 * MIB);
    cr_expect_leq(fast_of(block, 256 * MIB), (size_t)FAST_BYTES);
    memspan_free(block);
}

/* Whether memory of a provider like the default one, but for these members, is followed. */
static bool wants(unsigned flags, memspan_spread_t spread, size_t node_count, size_t importer_count,
                  size_t page_size_bytes)
{
    static const int node       = 0;
    struct msp_provider changed = {.spec = {.device          = msp_device_of_host(),
                                            .kind            = MEMSPAN_KIND_HOST,
                                            .flags           = flags,
                                            .spread          = spread,
                                            .nodes           = &node,
                                            .node_count      = node_count,
                                            .importer_count  = importer_count,
                                            .page_size_bytes = page_size_bytes}};

    return msp_follow_wants(&changed, 2 * MIB);
}

Test(follow, memory_whose_place_the_program_chose_stays)
{
    const memspan_trait_t pinned = {MEMSPAN_TRAIT_PINNED, MEMSPAN_VALUE_TRUE};
    memspan_allocator_h allocator;
    char *block;

    msp_follow_begin(&two, false);
    cr_expect(wants(0, MEMSPAN_SPREAD_ANY, 0, 0, 0));
    cr_expect(wants(0, MEMSPAN_SPREAD_TOUCHED, 1, 0, 0));
    cr_expect(!wants(MEMSPAN_REQUEST_STRICT, MEMSPAN_SPREAD_ANY, 0, 0, 0));
    cr_expect(!wants(MEMSPAN_REQUEST_PINNED, MEMSPAN_SPREAD_ANY, 0, 0, 0));
    cr_expect(!wants(MEMSPAN_REQUEST_SHARED, MEMSPAN_SPREAD_ANY, 0, 0, 0));
    cr_expect(!wants(0, MEMSPAN_SPREAD_ANY, 1, 0, 0));
    cr_expect(!wants(0, MEMSPAN_SPREAD_INTERLEAVED, 1, 0, 0));
    cr_expect(!wants(0, MEMSPAN_SPREAD_BLOCKED, 1, 0, 0));
    cr_expect(!wants(0, MEMSPAN_SPREAD_NEAREST, 1, 0, 0));
    cr_expect(!wants(0, MEMSPAN_SPREAD_ANY, 0, 1, 0));
    cr_expect(!wants(0, MEMSPAN_SPREAD_ANY, 0, 0, 2 * MIB));
    cr_assert_eq(memspan_allocator_create(MEMSPAN_SPACE_DEFAULT, &pinned, 1, &allocator),
                 MEMSPAN_OK);
    block = memspan_alloc(allocator, 2 * MIB);
    cr_expect_eq((int)stat_of("blocks"), 0);
    memspan_free(block);
    block = take(1 * MIB); /* too small */
    cr_expect_eq((int)stat_of("blocks"), 0);
    memspan_free(block);
    cr_expect_eq(placed_count, 0);
}

Test(follow, pages_that_do_not_move_are_left_alone)
{
    char *cold;
    char *hot;
    size_t calls;

    msp_follow_begin(&two, false);
    cold   = take(64 * MIB);
    hot    = take(16 * MIB);
    sticks = true;
    use(hot, 16 * MIB);
    run_rounds(30);
    cr_expect_gt(stat_of("failed"), 0);
    cr_expect_eq((int)stat_of("moves"), 0);
    calls = move_calls;
    run_rounds(10);
    cr_expect_leq(move_calls, calls + 16);
    memspan_free(cold);
    memspan_free(hot);
}

/* A block that is freed, has another size or is moved by the program is not touched afterwards. */
Test(follow, blocks_that_go_are_forgotten)
{
    char *block;

    msp_follow_begin(&two, false);
    for (int i = 0; i < 20; i++) {
        block = take(8 * MIB);
        use(block, 8 * MIB);
        used_count = 1;
        run_rounds(2);
        allowed_count = 0;
        if (i % 2 == 0) {
            memspan_free(block);
        } else {
            char *moved = memspan_realloc(MEMSPAN_ALLOCATOR_DEFAULT, block, 24 * MIB);

            (void)announce(moved, 24 * MIB);
            run_rounds(2);
            allowed_count = 0;
            memspan_free(moved);
        }
        run_rounds(1);
    }
    cr_expect_eq(outside_calls, 0);
    cr_expect_eq((int)stat_of("pieces"), 0);
    block = take(8 * MIB);
    cr_expect_gt(stat_of("pieces"), 0);
    (void)memspan_move(block, MEMSPAN_SPACE_DEFAULT);
    cr_expect_eq((int)stat_of("pieces"), 0);
    memspan_free(block);
}

/* Nothing to place: no thread, no flag, no block apart, and no line of statistics. */
Test(follow, a_machine_of_one_node_pays_nothing)
{
    char *block;

    msp_follow_start(true);
    cr_expect(!msp_following());
    block = take(8 * MIB);
    cr_expect_eq(placed_count, 0);
    memspan_free(block);
}

/* The account is of the processor's time of the rounds; pauses keep it within a fiftieth. */
Test(follow, sampling_keeps_its_budget)
{
    double cost_s  = 0;
    double pause_s = 0;

    for (double each_s = 1e-6; each_s < 100; each_s *= 3) {
        cost_s += each_s;
        pause_s += msp_follow_pause_s(each_s);
        cr_expect_leq(cost_s, 0.0201 * pause_s);
    }
}

/* ---- the thread ---- */

static void *churn(void *data)
{
    (void)data;
    for (int i = 0; i < 100; i++) {
        char *block = memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, (size_t)(2 + i % 7) * MIB);

        if (i % 3 == 0) {
            block = memspan_realloc(MEMSPAN_ALLOCATOR_DEFAULT, block, 12 * MIB);
        }
        usleep(3000);
        memspan_free(block);
    }
    return NULL;
}

Test(follow, threads_a_fork_and_the_end)
{
    pthread_t threads[3];
    char *block;
    pid_t child;
    int status = -1;

    msp_follow_begin(&two, true);
    block = take(8 * MIB);
    for (size_t i = 0; i < 3; i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, churn, NULL), 0);
    }
    child = fork();
    if (child == 0) {
        bool off = !msp_following();

        memspan_free(memspan_alloc(MEMSPAN_ALLOCATOR_DEFAULT, 4 * MIB));
        memspan_free(block);
        msp_follow_stop();
        _exit(off ? 0 : 1);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0);
    for (size_t i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    msp_follow_stop();
    memspan_free(block);
    cr_expect_eq((int)stat_of("pieces"), 0);
    cr_expect_eq(memspan_check(), MEMSPAN_OK);
}

/* ---- the machine's tiers, and the kernel's ---- */

Test(follow, tiers_are_in_the_order_of_their_cost)
{
    static const char *const names[] = {"hbm (node 1)", "dram (node 0)", "cxl (node 2)",
                                        "pmem (node 3)"};
    struct msp_follow_tiers found;

    setenv("HWLOC_XMLFILE", MEMSPAN_TEST_MACHINES "/tiers.xml", 1);
    msp_follow_tiers_find(&found);
    cr_assert_eq(found.count, 4);
    for (int t = 0; t < 4; t++) {
        cr_expect_str_eq(found.tier[t].name, names[t]);
        cr_expect((t == 0) || (found.tier[t].ns_per_byte > found.tier[t - 1].ns_per_byte));
    }
}

static void write_file(const char *root, const char *folders, const char *name, const char *text)
{
    char command[1024];

    snprintf(command, sizeof command, "mkdir -p '%s/%s' && printf '%s\\n' >'%s/%s/%s'", root,
             folders, text, root, folders, name);
    cr_assert_eq(system(command), 0);
}

Test(follow, the_kernel_s_own_tiering_is_seen)
{
    char root[]        = "/tmp/memspan-follow-XXXXXX";
    const char damon[] = "sys/kernel/mm/damon/admin/kdamonds/0";
    char command[128];
    char text[96];

    cr_assert(mkdtemp(root) != NULL);
    msp_follow_tiers_kernel(root, text, sizeof text);
    cr_expect_str_eq(text, "");
    write_file(root, "proc/sys/kernel", "numa_balancing", "1");
    msp_follow_tiers_kernel(root, text, sizeof text);
    cr_expect_str_eq(text, "");
    write_file(root, damon, "state", "on");
    write_file(root, "sys/kernel/mm/damon/admin/kdamonds/0/contexts/0/schemes/0", "action", "stat");
    msp_follow_tiers_kernel(root, text, sizeof text);
    cr_expect_str_eq(text, "");
    write_file(root, "sys/kernel/mm/damon/admin/kdamonds/0/contexts/0/schemes/1", "action",
               "migrate_hot");
    msp_follow_tiers_kernel(root, text, sizeof text);
    cr_expect(strstr(text, "DAMON") != NULL, "%s", text);
    write_file(root, "proc/sys/kernel", "numa_balancing", "2");
    msp_follow_tiers_kernel(root, text, sizeof text);
    cr_expect(strstr(text, "numa_balancing is 2") != NULL, "%s", text);
    snprintf(command, sizeof command, "rm -r '%s'", root);
    cr_expect_eq(system(command), 0);
}
