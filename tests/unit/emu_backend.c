/* SPDX-License-Identifier: BSD-3-Clause */
/* The emulated devices' table, called directly: who may touch what when, queues, capacity, lost
 * devices, fork, and that nothing stays behind. What stops the program is in tests/emu. */

#include "core/topology/pages.h"
#include "emu.h"
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

/* ---- what the host may touch ---- */

Test(emu, views_follow_the_kind)
{
    void *state            = open_two();
    memspan_block_t device = take(state, 0, MEMSPAN_KIND_DEVICE, MIB);
    memspan_kind_t open[] = {MEMSPAN_KIND_MANAGED, MEMSPAN_KIND_COHERENT, MEMSPAN_KIND_HOST_PINNED};

    cr_assert(!is_open(device.address));
    for (int i = 0; i < 3; i++) {
        memspan_block_t block = take(state, 1, open[i], MIB);

        cr_assert(is_open(block.address), "%s", memspan_kind_name(open[i]));
        cr_assert_eq(((char *)block.address)[MIB - 1], 0);
        ((char *)block.address)[MIB - 1] = 1;
        cr_assert_eq(emu->free(state, 1, &block), MEMSPAN_OK);
        cr_assert(!is_open(block.address), "freed memory is closed");
    }
    cr_assert_eq(emu->free(state, 0, &device), MEMSPAN_OK);
    cr_assert_eq(emu->free(state, 0, &device), MEMSPAN_ERR_INVALID, "once is enough");
    emu->close(state);
}

Test(emu, a_launch_closes_managed_memory_until_it_is_waited_for)
{
    void *state           = open_two();
    memspan_block_t mine  = take(state, 0, MEMSPAN_KIND_MANAGED, MIB);
    memspan_block_t other = take(state, 1, MEMSPAN_KIND_MANAGED, MIB);
    memspan_block_t both  = take(state, 0, MEMSPAN_KIND_COHERENT, MIB);

    cr_assert_eq(launch(state, 0, NULL, MEMSPAN_KERNEL_FILL, 10, 1.0, NULL, both.address),
                 MEMSPAN_OK);
    cr_assert(!is_open(mine.address), "kernels follow pointers");
    cr_assert(is_open(other.address));
    cr_assert(is_open(both.address));
    cr_assert_eq(emu->synchronize(state, 1, NULL), MEMSPAN_OK);
    cr_assert(!is_open(mine.address), "another device was waited for");
    cr_assert_eq(emu->synchronize(state, 0, NULL), MEMSPAN_OK);
    cr_assert(is_open(mine.address));
    cr_assert_eq(*(double *)both.address, 1.0);
    /* an operand in another device's memory */
    cr_assert_eq(
        launch(state, 0, NULL, MEMSPAN_KERNEL_FILL, 10, 2.0, NULL, (char *)other.address + 80),
        MEMSPAN_OK);
    cr_assert(!is_open(other.address));
    cr_assert_eq(emu->synchronize(state, 0, NULL), MEMSPAN_OK);
    cr_assert(is_open(other.address) && is_open(mine.address));
    cr_assert_eq(((double *)other.address)[19], 2.0);
    cr_assert_eq(((double *)other.address)[20], 0.0);
    emu->free(state, 0, &mine);
    emu->free(state, 1, &other);
    emu->free(state, 0, &both);
    emu->close(state);
}

Test(emu, every_queue_with_a_launch_must_be_waited_for)
{
    void *state           = open_two();
    memspan_block_t block = take(state, 0, MEMSPAN_KIND_MANAGED, MIB);
    void *queues[2]       = {NULL, NULL};

    for (int i = 0; i < 2; i++) {
        cr_assert_eq(emu->queue_create(state, 0, &queues[i]), MEMSPAN_OK);
        cr_assert_eq(launch(state, 0, queues[i], MEMSPAN_KERNEL_FILL, 4, 1.0, NULL, block.address),
                     MEMSPAN_OK);
    }
    cr_assert_eq(emu->synchronize(state, 0, queues[1]), MEMSPAN_OK);
    cr_assert(!is_open(block.address), "the other queue's launch was not waited for");
    cr_assert_eq(emu->synchronize(state, 0, queues[0]), MEMSPAN_OK);
    cr_assert(is_open(block.address));
    cr_assert_eq(launch(state, 0, queues[0], MEMSPAN_KERNEL_FILL, 4, 1.0, NULL, block.address),
                 MEMSPAN_OK);
    cr_assert_eq(emu->queue_destroy(state, 0, queues[0]), MEMSPAN_OK);
    cr_assert(!is_open(block.address), "a queue's end is no synchronise");
    cr_assert_eq(emu->synchronize(state, 0, NULL), MEMSPAN_OK);
    cr_assert(is_open(block.address));
    cr_assert_eq(emu->queue_destroy(state, 0, queues[1]), MEMSPAN_OK);
    emu->free(state, 0, &block);
    emu->close(state);
}

Test(emu, copies_and_fills_go_by_order_and_not_by_the_view)
{
    void *state       = open_two();
    memspan_block_t a = take(state, 0, MEMSPAN_KIND_DEVICE, MIB);
    memspan_block_t b = take(state, 0, MEMSPAN_KIND_DEVICE, MIB);
    memspan_block_t m = take(state, 0, MEMSPAN_KIND_MANAGED, MIB);
    double value      = 0.0;

    for (int i = 1; i <= 700; i++) { /* more than the ring holds */
        cr_assert_eq(launch(state, 0, NULL, MEMSPAN_KERNEL_FILL, 100, i, NULL, a.address),
                     MEMSPAN_OK);
    }
    cr_assert_eq(emu->copy(state, 0, NULL, b.address, a.address, 800), MEMSPAN_OK);
    cr_assert_eq(emu->fill(state, 0, NULL, a.address, 0xff, 800), MEMSPAN_OK);
    cr_assert_eq(emu->copy(state, 0, NULL, (char *)m.address + 3, (char *)b.address + 792, 8),
                 MEMSPAN_OK, "closed for the host, open for copies");
    cr_assert(!is_open(m.address));
    cr_assert_eq(emu->copy(state, 0, NULL, &value, (char *)m.address + 3, 8), MEMSPAN_OK);
    cr_assert_eq(value, 700.0);
    cr_assert_eq(emu->copy(state, 0, NULL, a.address, &value, MIB + 1), MEMSPAN_ERR_INVALID);
    cr_assert_eq(emu->fill(state, 0, NULL, (char *)a.address + 1, 0, MIB), MEMSPAN_ERR_INVALID);
    cr_assert_eq(emu->copy(state, 0, NULL, NULL, &value, 8), MEMSPAN_ERR_INVALID);
    cr_assert_eq(emu->prefetch(state, 0, NULL, a.address, 8, MEMSPAN_HOST),
                 MEMSPAN_ERR_UNSUPPORTED);
    cr_assert_eq(emu->prefetch(state, 0, NULL, m.address, 8, 1), MEMSPAN_OK);
    emu->free(state, 0, &a);
    emu->free(state, 0, &b);
    emu->free(state, 0, &m);
    emu->close(state);
}

Test(emu, a_copy_waits_for_the_other_devices_work)
{
    enum { COUNT = MIB };
    void *state           = open_two();
    memspan_block_t mine  = take(state, 0, MEMSPAN_KIND_DEVICE, COUNT * sizeof(double));
    memspan_block_t other = take(state, 1, MEMSPAN_KIND_DEVICE, COUNT * sizeof(double));
    double value          = 0;

    for (int i = 1; i <= 20; i++) {
        cr_assert_eq(launch(state, 1, NULL, MEMSPAN_KERNEL_FILL, COUNT, i, NULL, other.address),
                     MEMSPAN_OK);
        cr_assert_eq(emu->copy(state, 0, NULL, mine.address, (double *)other.address + COUNT - 1,
                               sizeof(double)),
                     MEMSPAN_OK);
        cr_assert_eq(emu->copy(state, 0, NULL, &value, mine.address, sizeof(double)), MEMSPAN_OK);
        cr_assert_eq(value, i);
    }
    emu->free(state, 0, &mine);
    emu->free(state, 1, &other);
    emu->close(state);
}

Test(emu, a_target_region_opens_what_its_device_reaches)
{
    void *state             = open_emu("emu:2", "64m", "none");
    memspan_block_t mine    = take(state, 0, MEMSPAN_KIND_DEVICE, MIB);
    memspan_block_t other   = take(state, 1, MEMSPAN_KIND_DEVICE, MIB);
    memspan_block_t managed = take(state, 0, MEMSPAN_KIND_MANAGED, MIB);
    memspan_block_t late;

    cr_assert_eq(launch(state, 0, NULL, MEMSPAN_KERNEL_FILL, MIB / 8, 2.0, NULL, mine.address),
                 MEMSPAN_OK);
    emu_region_begin(state, 0);
    cr_assert(is_open(mine.address) && !is_open(other.address));
    cr_assert_eq(((double *)mine.address)[MIB / 8 - 1], 2.0, "what was asked before is done");
    cr_assert(is_open(managed.address));
    emu_region_begin(state, 0); /* another thread's */
    late = take(state, 0, MEMSPAN_KIND_DEVICE, MIB);
    cr_assert(is_open(late.address));
    emu_region_end(state, 0);
    cr_assert(is_open(mine.address));
    emu_region_end(state, 0);
    cr_assert(!is_open(mine.address) && !is_open(late.address));
    cr_assert(!is_open(managed.address), "the launch was not waited for by the host");
    cr_assert_eq(emu->synchronize(state, 0, NULL), MEMSPAN_OK);
    cr_assert(is_open(managed.address));
    emu->free(state, 0, &late);
    emu->free(state, 0, &mine);
    emu->free(state, 1, &other);
    emu->free(state, 0, &managed);
    emu->close(state);
}

/* ---- addresses and capacity ---- */

Test(emu, capacity_is_a_limit_and_is_told)
{
    void *state                = open_two();
    memspan_device_info_t info = {.struct_size = sizeof(info)};
    memspan_block_t first      = take(state, 0, MEMSPAN_KIND_DEVICE, 40 * MIB);
    memspan_block_t second     = take(state, 0, MEMSPAN_KIND_MANAGED, 20 * MIB);
    memspan_block_t pinned     = take(state, 0, MEMSPAN_KIND_HOST_PINNED, 50 * MIB);
    memspan_request_t request  = {
         .struct_size = sizeof(request), .kind = MEMSPAN_KIND_DEVICE, .size_bytes = 4 * MIB + 4096};
    memspan_block_t none = {0};

    cr_assert_eq(emu->alloc(state, 0, &request, &none), MEMSPAN_ERR_NO_MEMORY);
    cr_assert(strstr(memspan_error_text(), "4194304 of 67108864 bytes are left") != NULL, "%s",
              memspan_error_text());
    cr_assert_eq(emu->device_describe(state, 0, &info), MEMSPAN_OK);
    cr_assert_eq(info.free_bytes, 4 * MIB);
    cr_assert_eq(info.capacity_bytes, 64 * MIB);
    request.size_bytes = 4 * MIB;
    cr_assert_eq(emu->alloc(state, 0, &request, &none), MEMSPAN_OK, "to the byte");
    cr_assert_eq(emu->free(state, 0, &none), MEMSPAN_OK);
    cr_assert_eq(emu->free(state, 0, &first), MEMSPAN_OK);
    cr_assert_eq(emu->device_describe(state, 0, &info), MEMSPAN_OK);
    cr_assert_eq(info.free_bytes, 44 * MIB);
    emu->free(state, 0, &second);
    emu->free(state, 0, &pinned);
    emu->close(state);
}

static uint64_t locked_bytes(void)
{
    struct msp_lock_limits lock;

    msp_lock_limits_read(&lock);
    return lock.locked_bytes;
}

Test(emu, pinned_pages_are_locked_until_they_are_freed)
{
    enum { BYTES = 1 << 16 };
    void *state         = open_two();
    uint64_t before     = locked_bytes();
    memspan_block_t one = take(state, 0, MEMSPAN_KIND_HOST_PINNED, BYTES);
    memspan_block_t two;

    cr_expect_eq(one.flags & MEMSPAN_BLOCK_PINNED, MEMSPAN_BLOCK_PINNED);
    cr_expect_eq(locked_bytes() - before, BYTES);
    two = take(state, 0, MEMSPAN_KIND_COHERENT, BYTES);
    cr_expect_eq(two.flags & MEMSPAN_BLOCK_PINNED, 0, "coherent memory was not requested pinned");
    cr_expect_eq(locked_bytes() - before, BYTES);
    cr_expect_eq(emu->free(state, 0, &one), MEMSPAN_OK);
    cr_expect_eq(emu->free(state, 0, &two), MEMSPAN_OK);
    cr_expect_eq(locked_bytes(), before);
}

Test(emu, imported_pages_stay_locked)
{
    enum { BYTES = 1 << 16 };
    void *state     = open_two();
    uint64_t before = locked_bytes();
    char *pages = mmap(NULL, 2 * BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *address;
    void *cookies[2];

    cr_assert_neq(pages, MAP_FAILED);
    cr_assert_eq(msp_pages_lock(pages, BYTES), 0);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(emu->import(state, 0, pages + i * BYTES, BYTES, &address, &cookies[i]),
                     MEMSPAN_OK, "%s", memspan_error_text());
        cr_expect_eq(locked_bytes() - before, BYTES, "the first half alone was locked");
    }
    for (int i = 0; i < 2; i++) {
        cr_expect_eq(emu->release(state, 0, pages + i * BYTES, BYTES, cookies[i]), MEMSPAN_OK);
    }
    munmap(pages, 2 * BYTES);
}

Test(emu, freed_addresses_come_back_late_and_zeroed)
{
    void *state = open_two();
    void *last  = NULL;
    char byte   = 1;

    for (int i = 0; i < 100; i++) { /* several times round the device's addresses */
        memspan_block_t block = take(state, 0, MEMSPAN_KIND_DEVICE, 8 * MIB);
        memspan_block_t next  = take(state, 0, MEMSPAN_KIND_DEVICE, 4096);

        cr_assert_neq(block.address, last);
        cr_assert_geq(labs((char *)next.address - (char *)block.address), (long)EMU_GRANULE_BYTES);
        cr_assert((char *)next.address < (char *)block.address ||
                      (char *)next.address >
                          (char *)block.address + 8 * MIB + EMU_GRANULE_BYTES - 1,
                  "a granule between");
        cr_assert_eq(emu->copy(state, 0, NULL, &byte, (char *)block.address + i, 1), MEMSPAN_OK);
        cr_assert_eq(byte, 0);
        cr_assert_eq(emu->fill(state, 0, NULL, block.address, 7, 8 * MIB), MEMSPAN_OK);
        last = block.address;
        cr_assert_eq(emu->free(state, 0, &block), MEMSPAN_OK);
        cr_assert_eq(emu->free(state, 0, &next), MEMSPAN_OK);
    }
    emu->close(state);
}

Test(emu, variables_that_make_no_sense)
{
    static const char *const devices[] = {"emu:0", "emu:33", "emu:-1",
                                          "emu:x", "emu",    "emu:1,emu:1"};

    for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
        cr_assert_null(open_emu(devices[i], "64m", "all"), "%s", devices[i]);
        cr_assert_eq(memspan_error_last()->status, MEMSPAN_ERR_CONFIG, "%s", devices[i]);
    }
    cr_assert_null(open_emu("emu:2", "4k", "all"));
    cr_assert_null(open_emu("emu:2", "9000t", "all"));
    cr_assert_null(open_emu("emu:2", "64m", "0-2"));
    cr_assert_null(open_emu("emu:2", "64m", "some"));
    cr_assert_null(open_emu("emu:2", "64m",
                            "0-1,"
                            "1>x"));
}

Test(emu, a_limit_on_files_is_an_error_and_no_signal)
{
    struct rlimit before = {0, 0};
    struct rlimit tight  = {MIB, RLIM_INFINITY};

    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    tight.rlim_max = before.rlim_max;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &tight), 0);
    cr_assert_null(open_emu("emu:1", "64m", "all"));
    setrlimit(RLIMIT_FSIZE, &before);
    cr_assert_eq(memspan_error_last()->status, MEMSPAN_ERR_LIMIT, "%s", memspan_error_text());
}

/* ---- peers, and devices that are lost ---- */

Test(emu, peers_reach_what_the_variable_says)
{
    void *state = open_emu("emu:3", "64m", "0>1,1-2");
    /* reaches[from][home] */
    static const bool reaches[3][3] = {{1, 1, 0}, {0, 1, 1}, {0, 1, 1}};

    cr_assert_not_null(state, "%s", memspan_error_text());
    for (int home = 0; home < 3; home++) {
        for (int from = 0; from < 3; from++) {
            memspan_reach_t reach = emu->reach(state, home, MEMSPAN_KIND_DEVICE, from);

            cr_assert_eq(reach.access >= MEMSPAN_ACCESS_FAULT, reaches[from][home], "%d of %d",
                         from, home);
        }
    }
    emu->close(state);
}

static void expect_lost(void *state, int ordinal, const char *words)
{
    memspan_request_t request = {
        .struct_size = sizeof(request), .kind = MEMSPAN_KIND_DEVICE, .size_bytes = 4096};
    memspan_block_t block;

    for (int i = 0; i < 2; i++) {
        cr_assert_eq(emu->synchronize(state, ordinal, NULL), MEMSPAN_ERR_DRIVER);
        cr_assert(strstr(memspan_error_text(), words) != NULL, "%s", memspan_error_text());
    }
    cr_assert_eq(emu->alloc(state, ordinal, &request, &block), MEMSPAN_ERR_DRIVER);
}

/* Memory that leads to itself: its owner, or a copy from before, can walk it for ever. */
static void **make_node(void)
{
    void **node = calloc(1, 4096);

    cr_assert_not_null(node);
    node[0] = node;
    return node;
}

Test(emu, a_kernel_that_breaks_a_rule_loses_its_device)
{
    void **node             = make_node();
    void *state             = open_emu("emu:3", "64m", "none");
    memspan_block_t foreign = take(state, 0, MEMSPAN_KIND_DEVICE, MIB);
    memspan_block_t mine    = take(state, 1, MEMSPAN_KIND_DEVICE, MIB);
    memspan_block_t managed = take(state, 1, MEMSPAN_KIND_MANAGED, MIB);
    memspan_block_t theirs  = take(state, 2, MEMSPAN_KIND_DEVICE, MIB);
    double value            = 0;

    cr_assert_eq(launch(state, 1, NULL, MEMSPAN_KERNEL_CHASE, 3, 0, node, mine.address),
                 MEMSPAN_OK);
    expect_lost(state, 1, "kernels do not reach ordinary host memory");
    cr_assert(is_open(managed.address), "nothing works on it any more");
    cr_assert_eq(emu->free(state, 1, &mine), MEMSPAN_OK, "what is lost can be given back");
    cr_assert_eq(emu->free(state, 1, &managed), MEMSPAN_OK);
    cr_assert_eq(launch(state, 2, NULL, MEMSPAN_KERNEL_FILL, 1, 4.0, NULL, foreign.address),
                 MEMSPAN_OK);
    expect_lost(state, 2, "wrote to");
    expect_lost(state, 2, "device memory of emu0, which emu2 does not reach");
    cr_assert_eq(launch(state, 0, NULL, MEMSPAN_KERNEL_FILL, 1, 5.0, NULL, foreign.address),
                 MEMSPAN_OK, "other devices go on");
    cr_assert_eq(emu->copy(state, 0, NULL, &value, foreign.address, 8), MEMSPAN_OK);
    cr_assert_eq(value, 5.0);
    emu->free(state, 2, &theirs);
    emu->free(state, 0, &foreign);
    free(node);
    emu->close(state);
}

Test(emu, a_kernel_that_uses_freed_memory)
{
    void *state             = open_two();
    memspan_block_t block   = take(state, 0, MEMSPAN_KIND_MANAGED, MIB);
    memspan_block_t result  = take(state, 0, MEMSPAN_KIND_MANAGED, MIB);
    memspan_block_t dropped = block;

    cr_assert_eq(emu->free(state, 0, &block), MEMSPAN_OK);
    cr_assert_eq(launch(state, 0, NULL, MEMSPAN_KERNEL_SUM, 3, 0, dropped.address, result.address),
                 MEMSPAN_OK);
    expect_lost(state, 0, "memory that was freed");
    emu->free(state, 0, &result);
    emu->close(state);
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* A device that sleeps in SIGSTOP does no work. */
static void hold(void *state, int ordinal, bool stop)
{
    pid_t process = ((struct emu *)state)->devices[ordinal].process;

    cr_assert_eq(kill(process, stop ? SIGSTOP : SIGCONT), 0);
}

static bool is_done(void *state, int ordinal, void *event)
{
    int done = -1;

    cr_assert_eq(emu->event_done(state, ordinal, event, &done), MEMSPAN_OK, "%s",
                 memspan_error_text());
    return done == 1;
}

Test(emu, events_end_with_the_work_before_them)
{
    void *state           = open_two();
    memspan_block_t block = take(state, 0, MEMSPAN_KIND_COHERENT, MIB);
    void *event           = NULL;
    void *queue           = NULL;
    void *first;

    cr_assert_eq(emu->queue_create(state, 0, &queue), MEMSPAN_OK);
    cr_assert_eq(emu->event_record(state, 0, queue, &event), MEMSPAN_OK);
    cr_assert(is_done(state, 0, event), "the queue has no work");
    hold(state, 0, true);
    cr_assert_eq(launch(state, 0, queue, MEMSPAN_KERNEL_FILL, 10, 1.0, NULL, block.address),
                 MEMSPAN_OK);
    cr_assert(is_done(state, 0, event), "it was not recorded again");
    first = event;
    cr_assert_eq(emu->event_record(state, 0, queue, &event), MEMSPAN_OK);
    cr_assert_eq(event, first);
    cr_assert(!is_done(state, 0, event));
    cr_assert_eq(emu->event_record(state, 0, NULL, &event), MEMSPAN_OK);
    cr_assert(!is_done(state, 0, event), "the device's own queue stands for all");
    memspan_error_clear();
    cr_assert_eq(emu->event_wait(state, 1, NULL, event), MEMSPAN_ERR_UNSUPPORTED);
    cr_assert_eq(memspan_error_last()->status, MEMSPAN_OK);
    cr_assert_eq(emu->event_wait(state, 0, NULL, event), MEMSPAN_OK);
    hold(state, 0, false);
    cr_assert_eq(emu->synchronize(state, 0, queue), MEMSPAN_OK);
    cr_assert(is_done(state, 0, event));
    cr_assert_eq(emu->event_wait(state, 1, NULL, event), MEMSPAN_OK, "it is over");
    cr_assert_eq(emu->queue_destroy(state, 0, queue), MEMSPAN_OK);
    cr_assert_eq(emu->event_destroy(state, 0, event), MEMSPAN_OK);
    emu->free(state, 0, &block);
    emu->close(state);
}

Test(emu, work_of_a_device_that_dies_is_done)
{
    void *state           = open_two();
    memspan_block_t block = take(state, 0, MEMSPAN_KIND_COHERENT, MIB);
    void *event           = NULL;

    hold(state, 0, true);
    cr_assert_eq(launch(state, 0, NULL, MEMSPAN_KERNEL_FILL, 10, 1.0, NULL, block.address),
                 MEMSPAN_OK);
    cr_assert_eq(emu->event_record(state, 0, NULL, &event), MEMSPAN_OK);
    cr_assert(!is_done(state, 0, event));
    cr_assert_eq(kill(((struct emu *)state)->devices[0].process, SIGKILL), 0);
    while (!is_done(state, 0, event)) {
        usleep(1000);
    }
    cr_assert_eq(emu->synchronize(state, 0, NULL), MEMSPAN_ERR_DRIVER);
    cr_assert(is_done(state, 0, event));
    cr_assert_eq(emu->event_destroy(state, 0, event), MEMSPAN_OK);
    emu->free(state, 0, &block);
    emu->close(state);
}

Test(emu, a_device_process_that_dies_is_an_error_and_no_hang)
{
    void *state           = open_two();
    struct emu *records   = state;
    memspan_block_t block = take(state, 0, MEMSPAN_KIND_DEVICE, MIB);
    double start          = seconds();

    cr_assert_gt(records->devices[0].process, 0);
    cr_assert_eq(kill(records->devices[0].process, SIGKILL), 0);
    (void)launch(state, 0, NULL, MEMSPAN_KERNEL_FILL, 1, 1.0, NULL, block.address);
    expect_lost(state, 0, "its process");
    cr_expect((kill(records->devices[0].process, 0) != 0) && (errno == ESRCH), "it is a zombie");
    cr_assert_eq(emu->free(state, 0, &block), MEMSPAN_OK);
    cr_assert_lt(seconds() - start, 10.0);
    block = take(state, 1, MEMSPAN_KIND_DEVICE, MIB);
    cr_assert_eq(emu->free(state, 1, &block), MEMSPAN_OK);
    emu->close(state);
}

Test(emu, a_program_that_closes_all_files_gets_errors)
{
    void *state           = open_two();
    struct emu *records   = state;
    memspan_block_t block = take(state, 0, MEMSPAN_KIND_COHERENT, MIB);
    int file              = dup(records->devices[0].doorbell);

    cr_assert_eq(emu->synchronize(state, 0, NULL), MEMSPAN_OK);
    usleep(20000); /* it sleeps again */
    close(records->devices[0].doorbell);
    cr_assert_eq(launch(state, 0, NULL, MEMSPAN_KERNEL_FILL, 1, 1.0, NULL, block.address),
                 MEMSPAN_OK);
    expect_lost(state, 0, "the program closed its descriptor");
    close(file);
    emu->free(state, 0, &block);
    emu->close(state);
}

Test(emu, a_device_is_no_child_that_the_program_would_notice)
{
    void *state = open_two();

    cr_assert_eq(waitpid(-1, NULL, WNOHANG), -1);
    cr_assert_eq(errno, ECHILD);
    emu->close(state);
}

Test(emu, a_forked_child_has_no_devices)
{
    void *state           = open_two();
    memspan_block_t block = take(state, 0, MEMSPAN_KIND_COHERENT, MIB);
    int status;
    pid_t child = fork();

    if (child == 0) {
        memspan_device_info_t info = {.struct_size = sizeof(info)};
        char byte                  = 0;
        bool right = (emu->copy(state, 0, NULL, &byte, block.address, 1) == MEMSPAN_ERR_FORKED) &&
                     (emu->synchronize(state, 0, NULL) == MEMSPAN_ERR_FORKED) &&
                     (emu->free(state, 0, &block) == MEMSPAN_ERR_FORKED) &&
                     (emu->device_describe(state, 0, &info) == MEMSPAN_ERR_FORKED) &&
                     (msync(block.address, 4096, MS_ASYNC) == -1);
        _exit(right ? 0 : 1);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status) && (WEXITSTATUS(status) == 0), "status %x", (unsigned)status);
    cr_assert_eq(launch(state, 0, NULL, MEMSPAN_KERNEL_FILL, 1, 3.0, NULL, block.address),
                 MEMSPAN_OK, "the parent goes on");
    cr_assert_eq(emu->synchronize(state, 0, NULL), MEMSPAN_OK);
    cr_assert_eq(*(double *)block.address, 3.0);
    emu->free(state, 0, &block);
    emu->close(state);
}

/* ---- the signal ---- */

static sigjmp_buf back;
static volatile sig_atomic_t strikes;

static void jump_back(int number)
{
    (void)number;
    strikes++;
    siglongjmp(back, 1);
}

Test(emu, other_addresses_are_for_who_came_before)
{
    struct sigaction own = {.sa_handler = jump_back};
    struct sigaction now;
    volatile char *nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *state;

    cr_assert_eq(sigaction(SIGSEGV, &own, NULL), 0);
    state = open_two();
    for (int i = 0; i < 3; i++) {
        if (sigsetjmp(back, 1) == 0) {
            (void)*nowhere;
            cr_assert_fail("that address can be read");
        }
    }
    cr_assert_eq(strikes, 3);
    emu->close(state);
    cr_assert_eq(sigaction(SIGSEGV, NULL, &now), 0);
    cr_assert_eq(now.sa_handler, jump_back, "as found");
}

/* ---- nothing stays behind ---- */

static int count_devices(void)
{
    char path[64];
    FILE *file;
    int count = 0;
    int c;

    snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    file = fopen(path, "re");
    while ((file != NULL) && ((c = fgetc(file)) != EOF)) {
        count += (c == ' ') ? 1 : 0;
    }
    if (file != NULL) {
        fclose(file);
    }
    return count;
}

Test(emu, open_that_fails_leaves_nothing)
{
    int files              = count_entries("/proc/self/fd");
    int lowest             = dup(STDERR_FILENO);
    struct rlimit before   = {0, 0};
    memspan_status_t other = MEMSPAN_OK;
    int failures           = 0;
    void *state            = open_two();

    close(lowest);
    emu->close(state); /* what is loaded once is loaded */
    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    for (int spare = 0; spare < 12; spare++) {
        struct rlimit tight = {(rlim_t)(lowest + spare), before.rlim_max};

        cr_assert_eq(setrlimit(RLIMIT_NOFILE, &tight), 0);
        state = open_emu("emu:2", "64m", "all");
        other = memspan_error_last()->status;
        setrlimit(RLIMIT_NOFILE, &before);
        if (state != NULL) {
            emu->close(state);
            break;
        }
        failures++;
        cr_assert_eq(other, MEMSPAN_ERR_DRIVER, "%s", memspan_error_text());
        cr_assert(memspan_error_last()->call[0] != '\0');
        cr_assert_eq(count_entries("/proc/self/fd"), files);
        cr_assert_eq(count_devices(), 0);
    }
    cr_assert_not_null(state);
    cr_assert_geq(failures, 1); /* four, where no number below is free: memory file, doorbells */
    cr_assert_eq(count_entries("/proc/self/fd"), files);
    cr_assert_eq(count_devices(), 0);
}

/* The least and the most that devices may have. */
Test(emu, limits_of_memory)
{
    static const struct {
        const char *devices;
        const char *memory;
        const char *refused; /* NULL: it opens */
    } cases[] = {{"emu:1", "65535", "1 devices of 65535 bytes"},
                 {"emu:1", "65536", NULL},
                 {"emu:2", "65537", NULL},
                 {"emu:1", "4398046511105", "1 devices of 4398046511105 bytes"},
                 {"emu:2", "2199023255553", "2 devices of 2199023255553 bytes"}};
    char said[200];

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        void *state = open_emu(cases[i].devices, cases[i].memory, "all");

        cr_assert_eq(state == NULL, cases[i].refused != NULL, "%s", memspan_error_text());
        if (state != NULL) {
            emu->close(state);
            continue;
        }
        snprintf(said, sizeof(said), "%s: a device has 64 KiB or more, and all have 4 TiB or less",
                 cases[i].refused);
        cr_expect_eq(memspan_error_last()->status, MEMSPAN_ERR_CONFIG);
        cr_expect_str_eq(memspan_error_last()->message, said);
        cr_expect_str_eq(memspan_error_last()->hint, "MEMSPAN_EMU_MEMORY=1g is the default");
    }
}
