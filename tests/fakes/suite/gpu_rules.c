/* SPDX-License-Identifier: BSD-3-Clause */
/* gpu_rules.c: what CUDA and HIP do alike: memory, host pages, what the program does meanwhile, and
 * other processes. */

#include "tests/fakes/suite/gpu_rules.h"
#include "core/base/error.h"
#include "tests/fakes/suite/sharing.h"
#include "tests/fakes/suite/tracing.h"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, ILLEGAL_ADDRESS = 700 };

struct gpu_names gpu_names;
struct gpu_program gpu_program;
static const memspan_backend_t *table;

static void find(void)
{
    pretended_find();
    table = pretended.table;
}

static char *map_pages(size_t count)
{
    void *pages =
        mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    cr_assert_neq(pages, MAP_FAILED);
    return pages;
}

TestSuite(gpu_rules, .init = find, .timeout = 60);

/* ---- memory ---- */

/* Blocks are whole also where addresses are less aligned than any driver documents. */
Test(gpu_rules, alignment_is_got_one_way_or_the_other)
{
    rules_check_alignment(gpu_names.all_reached, NULL);
    rules_check_alignment(gpu_names.all_reached, "LIES=align");
}

/* Drivers give managed memory beyond what there is, and the process dies when it touches it. */
Test(gpu_rules, managed_memory_ends_where_memory_does)
{
    size_t most = (size_t)sysconf(_SC_PHYS_PAGES) / 4 * 3 * (size_t)sysconf(_SC_PAGESIZE);
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_MANAGED, most);
    memspan_block_t block;
    memspan_block_t other;
    int turn;
    void *state = PRETENDED_OPEN("DEVICES=1");

    for (turn = 0; turn < 2; turn++) {
        OK(table->alloc(state, 0, &request, &block));
        cr_assert_eq(table->alloc(state, 0, &request, &other), MEMSPAN_ERR_NO_MEMORY);
        cr_assert_str_empty(memspan_error_last()->call, "the driver was asked");
        pretended_give_back(state, 0, &block);
    }
    pretended_close(state);
}

/* Success, and no address. */
Test(gpu_rules, memory_without_an_address)
{
    static const memspan_kind_t kinds[] = {MEMSPAN_KIND_DEVICE, MEMSPAN_KIND_HOST_PINNED,
                                           MEMSPAN_KIND_MANAGED};
    memspan_block_t block;
    size_t i;
    void *state = PRETENDED_OPEN("LIES=null");

    for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        memspan_request_t request = pretended_ask(kinds[i], PRETENDED_BYTES);
        cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_DRIVER);
        cr_assert_not_null(strstr(memspan_error_text(), "gave no address"));
    }
    pretended_close(state);
}

/* Pinned memory begins on a page, chunks begin on 64 KiB: one more is tried in all. */
Test(gpu_rules, pinned_memory_is_taken_once)
{
    enum { BLOCKS = 8 };
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_HOST_PINNED, 1 << 20);
    memspan_block_t blocks[BLOCKS];
    unsigned taken; /* when it was opened */
    unsigned freed;
    int i;
    void *state = PRETENDED_OPEN("DEVICES=1");

    taken               = pretended.calls(gpu_names.host_alloc);
    freed               = pretended.calls(gpu_names.host_free);
    request.align_bytes = 1 << 16;
    for (i = 0; i < BLOCKS; i++) {
        OK(table->alloc(state, 0, &request, &blocks[i]));
        cr_assert_eq((uintptr_t)blocks[i].address & 0xffff, 0u);
    }
    cr_assert_leq(pretended.calls(gpu_names.host_alloc), taken + BLOCKS + 1);
    for (i = 0; i < BLOCKS; i++) {
        pretended_give_back(state, 0, &blocks[i]);
    }
    pretended_close(state);
    cr_assert_leq(pretended.calls(gpu_names.host_free), freed + BLOCKS + 1,
                  "the first one was given back");
}

Test(gpu_rules, out_of_memory_in_the_drivers_words)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_DEVICE, 600 << 10);
    memspan_block_t block;
    memspan_block_t other;
    unsigned calls;
    void *state = PRETENDED_OPEN("MEMORY=1048576");

    calls = pretended.calls(gpu_names.alloc);
    OK(table->alloc(state, 0, &request, &block));
    cr_assert_eq(table->alloc(state, 0, &request, &other), MEMSPAN_ERR_NO_MEMORY);
    cr_assert_str_eq(memspan_error_last()->call, gpu_names.alloc);
    cr_assert_eq(memspan_error_last()->native_code, 2);
    cr_assert_str_eq(memspan_error_last()->native_text, gpu_names.no_memory);
    /* Another device has its own; and more than there is at all is not even asked for. */
    OK(table->alloc(state, 1, &request, &other));
    pretended_give_back(state, 1, &other);
    pretended_give_back(state, 0, &block);
    request.size_bytes = 2u << 20;
    cr_assert_eq(table->alloc(state, 0, &request, &other), MEMSPAN_ERR_NO_MEMORY);
    cr_assert_eq(pretended.calls(gpu_names.alloc), calls + 3u);
    pretended_close(state);
}

/* ---- registered pages ---- */

/* "Already registered" is the answer for a part as well. */
Test(gpu_rules, a_part_that_others_registered_is_no_registration)
{
    char *pages = map_pages(4);
    struct gpu_visit visit;
    void *cookie;
    void *seen;
    int at;
    void *state = PRETENDED_OPEN("DEVICES=1");

    OK(gpu_enter(state, 0, GPU_TO_WORK, &visit));
    for (at = 0; at < 3; at++) {
        cr_assert_eq(gpu_program.register_pages(pages + at * PAGE, PAGE), 0);
        cr_assert_eq(table->import(state, 0, pages, 3 * PAGE, &seen, &cookie),
                     (at < 2) ? MEMSPAN_ERR_CONFLICT : MEMSPAN_OK, "%d of 3 pages", at + 1);
    }
    OK(table->release(state, 0, pages, 3 * PAGE, cookie));
    cr_assert_eq(gpu_program.unregister_pages(pages + PAGE), 0);
    cr_assert_eq(table->import(state, 0, pages, 3 * PAGE, &seen, &cookie), MEMSPAN_ERR_CONFLICT,
                 "the first and the last are, the middle is not");
    cr_assert_eq(gpu_program.unregister_pages(pages), 0);
    cr_assert_eq(table->import(state, 0, pages, 3 * PAGE, &seen, &cookie), MEMSPAN_ERR_CONFLICT,
                 "its end is registered");
    cr_assert_eq(gpu_program.unregister_pages(pages + 2 * PAGE), 0);
    gpu_leave(&visit);
    pretended_close(state);
    munmap(pages, 4 * PAGE);
}

Test(gpu_rules, a_part_of_an_import_is_counted_with_it)
{
    char *pages = map_pages(4);
    unsigned before; /* when it was opened */
    void *whole;
    void *part;
    void *seen;
    void *state = PRETENDED_OPEN("DEVICES=1");

    before = pretended.calls(gpu_names.register_pages);
    OK(table->import(state, 0, pages, 2 * PAGE, &seen, &whole));
    OK(table->import(state, 0, pages + PAGE, PAGE, &seen, &part));
    cr_assert_eq(seen, pages + PAGE);
    cr_assert_eq(table->import(state, 0, pages + PAGE, 2 * PAGE, &seen, &(void *){NULL}),
                 MEMSPAN_ERR_CONFLICT);
    cr_assert_eq(pretended.calls(gpu_names.register_pages), before + 1);
    OK(table->release(state, 0, pages, 2 * PAGE, whole));
    cr_assert_eq(pretended.calls(gpu_names.unregister_pages), before, "a part is in use");
    OK(pretended_fill(state, 0, pages + PAGE));
    OK(table->release(state, 0, pages + PAGE, PAGE, part));
    cr_assert_eq(pretended.calls(gpu_names.unregister_pages), before + 1);
    pretended_close(state);
    munmap(pages, 4 * PAGE);
}

Test(gpu_rules, pages_seen_elsewhere_are_given_back)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_HOST_PINNED, PRETENDED_BYTES);
    int node                  = 0;
    memspan_block_t block;
    unsigned before;
    void *state = PRETENDED_OPEN("LIES=large");

    before             = pretended.calls(gpu_names.unregister_pages);
    request.nodes      = &node;
    request.node_count = 1;
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_UNSUPPORTED);
    cr_assert_not_null(strstr(memspan_error_text(), "at another address"));
    cr_assert_eq(pretended.calls(gpu_names.register_pages), before + 1);
    cr_assert_eq(pretended.calls(gpu_names.unregister_pages), before + 1);
    pretended_close(state);
}

/* And the program's registration is used, and left. */
Test(gpu_rules, pages_are_registered_once_for_all_devices)
{
    char *pages = map_pages(2);
    struct gpu_visit visit;
    void *seen[2];
    void *cookies[2];
    unsigned before;
    int i;
    void *state = PRETENDED_OPEN("DEVICES=2");

    before = pretended.calls(gpu_names.register_pages);
    for (i = 0; i < 2; i++) {
        OK(table->import(state, i, pages, 2 * PAGE, &seen[i], &cookies[i]));
        cr_assert_eq(seen[i], pages);
        OK(pretended_fill(state, i, pages));
    }
    cr_assert_eq(pretended.calls(gpu_names.register_pages), before + 1);
    OK(table->release(state, 0, pages, 2 * PAGE, cookies[0]));
    OK(pretended_fill(state, 1, pages)); /* the other still has them */
    cr_assert_eq(pretended.calls(gpu_names.unregister_pages), before);
    OK(table->release(state, 1, pages, 2 * PAGE, cookies[1]));
    cr_assert_eq(pretended.calls(gpu_names.unregister_pages), before + 1);
    cr_assert_eq(table->release(state, 1, pages, 2 * PAGE, cookies[1]), MEMSPAN_ERR_NOT_FOUND);
    OK(gpu_enter(state, 0, GPU_TO_WORK, &visit));
    cr_assert_eq(gpu_program.register_pages(pages, PAGE), 0);
    OK(table->import(state, 0, pages, PAGE, &seen[0], &cookies[0]));
    OK(table->release(state, 0, pages, PAGE, cookies[0]));
    cr_assert_eq(gpu_program.unregister_pages(pages), 0);
    gpu_leave(&visit);
    pretended_close(state);
    munmap(pages, 2 * PAGE);
}

/* ---- pages that the device reaches by itself ---- */

/* The driver does not know that they go. */
Test(gpu_rules, coherent_pages_wait_for_the_work_on_them)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_COHERENT, PRETENDED_BYTES);
    void *queue               = NULL;
    memspan_block_t block;
    void *state = PRETENDED_OPEN(gpu_names.all_reached);

    OK(table->alloc(state, 0, &request, &block));
    OK(table->queue_create(state, 0, &queue));
    OK(pretended_launch_fill(state, 0, queue, block.address));
    pretended_give_back(state, 0, &block);
    cr_assert_geq(pretended.calls(gpu_names.wait), 1u, "a kernel writes to what is unmapped");
    OK(table->queue_destroy(state, 0, queue));
    pretended_close(state);
}

/* What was queued before a fill is done before it, on host or device. */
Test(gpu_rules, a_fill_of_pageable_memory_keeps_the_order)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_COHERENT, PRETENDED_BYTES);
    void *queue               = NULL;
    memspan_block_t block;
    void *state = PRETENDED_OPEN(gpu_names.all_reached);

    OK(table->alloc(state, 0, &request, &block));
    OK(table->queue_create(state, 0, &queue));
    OK(pretended_launch_fill(state, 0, queue, block.address));
    OK(table->fill(state, 0, queue, block.address, 0, 4096));
    OK(table->synchronize(state, 0, queue));
    cr_assert_eq(((double *)block.address)[99], 0.0, "the kernel came after the fill");
    OK(table->queue_destroy(state, 0, queue));
    pretended_end(state, 0, &block);
}

/* ---- what the program does meanwhile ---- */

Test(gpu_rules, a_program_that_captures_may_allocate)
{
    static const memspan_kind_t kinds[] = {MEMSPAN_KIND_DEVICE, MEMSPAN_KIND_HOST_PINNED,
                                           MEMSPAN_KIND_MANAGED};
    void *pages                         = map_pages(1);
    int mode                            = 0;
    void *cookie;
    void *seen;
    void *state;
    int i;

    if (gpu_program.exchange_capture_mode == NULL) {
        cr_skip_test("an old driver, without captures by thread");
    }
    state = PRETENDED_OPEN("DEVICES=2");
    gpu_program.capture(true);
    for (i = 0; i < 3; i++) {
        memspan_block_t block = pretended_take(state, 0, kinds[i]);
        pretended_give_back(state, 0, &block);
    }
    OK(table->import(state, 1, pages, PAGE, &seen, &cookie));
    OK(table->release(state, 1, pages, PAGE, cookie));
    cr_assert(gpu_program.capture(false), "the program's graph is invalid");
    cr_assert_eq(gpu_program.exchange_capture_mode(&mode), 0);
    cr_assert_eq(mode, 0, "the thread's mode is the program's");
    pretended_close(state);
    munmap(pages, PAGE);
}

/* Destroying a stream does not wait, and does not tell. */
Test(gpu_rules, a_queue_that_is_destroyed_tells_of_its_last_work)
{
    static char host_page[PAGE];
    void *queue = NULL;
    void *state = PRETENDED_OPEN("DEVICES=1");

    OK(table->queue_create(state, 0, &queue));
    OK(pretended_launch_fill(state, 0, queue, host_page));
    cr_assert_eq(table->queue_destroy(state, 0, queue), MEMSPAN_ERR_DRIVER);
    cr_assert_eq(memspan_error_last()->native_code, ILLEGAL_ADDRESS);
    pretended_close(state);
}

static memspan_pointer_facts_t describe(void *state, const void *address, memspan_kind_t kind)
{
    memspan_pointer_facts_t facts;

    OK(table->pointer_describe(state, (void *)(uintptr_t)address, &facts));
    cr_assert_eq(facts.kind, kind);
    return facts;
}

Test(gpu_rules, memory_of_the_program_is_described)
{
    static const memspan_kind_t kinds[] = {MEMSPAN_KIND_DEVICE, MEMSPAN_KIND_HOST_PINNED,
                                           MEMSPAN_KIND_MANAGED};
    memspan_pointer_facts_t facts;
    struct gpu_visit visit;
    memspan_block_t ours;
    void *theirs[3];
    int on_stack = 0;
    int i;
    void *state = PRETENDED_OPEN("DEVICES=2");

    cr_assert_eq(table->pointer_describe(state, &on_stack, &facts), MEMSPAN_ERR_NOT_FOUND);
    OK(gpu_enter(state, 1, GPU_TO_WORK, &visit));
    for (i = 0; i < 3; i++) {
        cr_assert_eq(gpu_program.take(kinds[i], 5000, &theirs[i]), 0);
    }
    facts = describe(state, (char *)theirs[0] + 17, MEMSPAN_KIND_DEVICE);
    cr_assert((facts.ordinal == 1) && (facts.resident_ordinal == 1));
    cr_assert((facts.base == theirs[0]) && (facts.size_bytes == 5000));
    facts = describe(state, theirs[1], MEMSPAN_KIND_HOST_PINNED);
    cr_assert_eq(facts.resident_ordinal, MEMSPAN_HOST);
    facts = describe(state, theirs[2], MEMSPAN_KIND_MANAGED);
    cr_assert_eq(facts.resident_ordinal, MEMSPAN_HOST);
    for (i = 0; i < 2; i++) {
        OK(table->prefetch(state, 1, NULL, theirs[2], 5000, i));
        cr_assert_eq(describe(state, theirs[2], MEMSPAN_KIND_MANAGED).resident_ordinal, i);
    }
    cr_assert_eq(table->prefetch(state, 1, NULL, theirs[0], 5000, 0), MEMSPAN_ERR_UNSUPPORTED);
    ours = pretended_take(state, 1, MEMSPAN_KIND_DEVICE);
    cr_assert_eq(table->pointer_describe(state, ours.address, &facts), MEMSPAN_ERR_NOT_FOUND);
    cr_assert_eq(table->prefetch(state, 1, NULL, ours.address, 5000, 0), MEMSPAN_ERR_UNSUPPORTED);
    pretended_give_back(state, 1, &ours);
    for (i = 0; i < 3; i++) {
        cr_assert_eq(gpu_program.give_back(kinds[i], theirs[i]), 0);
    }
    gpu_leave(&visit);
    pretended_close(state);
}

/* ---- other processes ---- */

Test(gpu_rules, plain_memory_of_two_processes)
{
    sharing_two_processes(0, "DEVICES=2", gpu_names.alloc);
    cr_assert(!tracing_is_offered(), "a handle of the driver's needs no right to trace");
}

Test(gpu_rules, a_process_does_not_open_its_own_plain_memory)
{
    char token[512];
    size_t size = sizeof(token);
    memspan_block_t opened;
    void *state           = PRETENDED_OPEN("DEVICES=2");
    memspan_block_t block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);

    OK(table->ipc_export(state, 0, &block, NULL, &size));
    cr_assert_leq(size, sizeof(token));
    cr_assert_eq(table->ipc_export(state, 0, &block, token, &(size_t){8}), MEMSPAN_ERR_INVALID);
    OK(table->ipc_export(state, 0, &block, token, &size));
    cr_assert_eq(table->ipc_import(state, 0, token, size, &opened), MEMSPAN_ERR_DRIVER);
    cr_assert_str_eq(memspan_error_last()->call, gpu_names.open_handle);
    cr_assert_eq(table->ipc_import(state, 1, token, size, &opened), MEMSPAN_ERR_CONFLICT,
                 "it is another device's");
    cr_assert_eq(table->ipc_import(state, 0, token, size - 1, &opened), MEMSPAN_ERR_INVALID);
    token[0] ^= 1;
    cr_assert_eq(table->ipc_import(state, 0, token, size, &opened), MEMSPAN_ERR_INVALID);
    pretended_give_back(state, 0, &block);
    block = pretended_take(state, 0, MEMSPAN_KIND_MANAGED);
    cr_assert_eq(table->ipc_export(state, 0, &block, token, &size), MEMSPAN_ERR_UNSUPPORTED);
    pretended_end(state, 0, &block);
}
