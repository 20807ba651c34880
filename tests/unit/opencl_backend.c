/* SPDX-License-Identifier: BSD-3-Clause */
/* The OpenCL backend by its table, on the first device that the machine has (PoCL where there is no
 * GPU). Each test is a process of its own. What only another sort of device does is tested with the
 * pretended driver in tests/fakes/opencl. */

#include "backends/opencl/opencl.h"
#include "core/base/error.h"
#include "core/base/option.h"
#include "core/base/platform.h"
#include "core/device/backend.h"
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern const memspan_backend_t msp_backend_opencl;
static const memspan_backend_t *const table = &msp_backend_opencl;

enum { KIB = 1024, ELEMENTS = 1003, BYTES = 16 * KIB };

static struct opencl_state *state;
static memspan_device_info_t info;

static memspan_status_t open_with(const char *svm)
{
    void *opened            = NULL;
    memspan_status_t status = MEMSPAN_OK;

    if (svm == NULL) {
        unsetenv("MEMSPAN_OPENCL_SVM");
    } else {
        setenv("MEMSPAN_OPENCL_SVM", svm, 1);
    }
    msp_option_reload();
    status = table->open(&memspan_services, &opened);
    if (status == MEMSPAN_OK) {
        state = opened;
        memset(&info, 0, sizeof(info));
        info.struct_size = sizeof(info);
        cr_assert_eq(table->device_describe(state, 0, &info), MEMSPAN_OK);
    }
    return status;
}

static void need_opencl(void)
{
    memspan_status_t status = open_with(NULL);

    if (status == MEMSPAN_ERR_OFF) {
        cr_skip_test("no OpenCL: %s", memspan_error_text());
    }
    cr_assert_eq(status, MEMSPAN_OK, "%s", memspan_error_text());
}

static void need_kind(memspan_kind_t kind)
{
    if ((info.kinds & (1u << kind)) == 0) {
        cr_skip_test("the first device has no %s memory", memspan_kind_name(kind));
    }
}

static void finish(void)
{
    if (state != NULL) {
        table->close(state);
        state = NULL;
    }
}

static memspan_request_t ask(memspan_kind_t kind, size_t size_bytes)
{
    return (memspan_request_t){
        .struct_size      = sizeof(memspan_request_t),
        .kind             = kind,
        .size_bytes       = size_bytes,
        .align_bytes      = msp_page_size(),
        .resident_ordinal = MEMSPAN_HOST,
    };
}

static memspan_block_t take(memspan_kind_t kind, size_t size_bytes)
{
    memspan_request_t request = ask(kind, size_bytes);
    memspan_block_t block     = {0};

    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_OK, "%s", memspan_error_text());
    cr_assert_not_null(block.address);
    cr_assert_geq(block.size_bytes, size_bytes);
    return block;
}

static void give(memspan_block_t block)
{
    cr_assert_eq(table->free(state, 0, &block), MEMSPAN_OK, "%s", memspan_error_text());
}

static void ok(memspan_status_t status)
{
    cr_assert_eq(status, MEMSPAN_OK, "%s", memspan_error_text());
}

static void synchronize(void)
{
    ok(table->synchronize(state, 0, NULL));
}

static memspan_status_t launch(memspan_kernel_t kernel, size_t count, double a, const void *x,
                               const void *y, void *z)
{
    memspan_kernel_call_t call = {sizeof(call), kernel, count, a, x, y, z};

    return table->launch(state, 0, NULL, &call);
}

/* z += 2x + y by a kernel, values in and out by copies only: what every kind must do. */
static void check_daxpy(memspan_kind_t kind)
{
    memspan_block_t x = take(kind, BYTES);
    memspan_block_t y = take(kind, BYTES);
    memspan_block_t z = take(kind, BYTES);
    double values[ELEMENTS];
    double sum = 0;
    int i;

    for (i = 0; i < ELEMENTS; i++) {
        values[i] = i;
        sum += i;
    }
    ok(table->copy(state, 0, NULL, x.address, values, sizeof(values)));
    ok(table->copy(state, 0, NULL, y.address, x.address, sizeof(values)));
    ok(table->fill(state, 0, NULL, z.address, 0, BYTES));
    ok(launch(MEMSPAN_KERNEL_DAXPY, ELEMENTS, 2.0, x.address, y.address, z.address));
    ok(launch(MEMSPAN_KERNEL_SUM, ELEMENTS, 0, x.address, NULL, y.address));
    ok(table->copy(state, 0, NULL, values, z.address, sizeof(values)));
    synchronize();
    for (i = 0; i < ELEMENTS; i++) {
        cr_assert_eq(values[i], 3.0 * i, "%s: element %d is %g", memspan_kind_name(kind), i,
                     values[i]);
    }
    ok(launch(MEMSPAN_KERNEL_FILL, ELEMENTS - 1, 7.0, NULL, NULL, (double *)z.address + 1));
    ok(table->copy(state, 0, NULL, values, z.address, sizeof(values)));
    ok(table->copy(state, 0, NULL, &values[1], y.address, sizeof(double)));
    synchronize();
    cr_assert_eq(values[0], 0.0);
    cr_assert_eq(values[1], sum);
    cr_assert_eq(values[ELEMENTS - 1], 7.0);
    give(x);
    give(y);
    give(z);
}

TestSuite(opencl, .init = need_opencl, .fini = finish, .timeout = 60);

Test(opencl, every_kind)
{
    int kind;

    for (kind = MEMSPAN_KIND_HOST_PINNED; kind < MEMSPAN_KIND_COUNT; kind++) {
        if ((info.kinds & (1u << kind)) != 0) {
            check_daxpy((memspan_kind_t)kind);
        }
    }
    cr_assert_eq(state->devices[0]->platform->block_count, 0);
}

Test(opencl, describes)
{
    int kind;

    cr_assert_geq(table->device_count(state), 1);
    cr_assert_neq(info.name[0], '\0');
    cr_assert_neq(info.uid[0], '\0');
    cr_assert_eq(info.free_bytes, MEMSPAN_UNKNOWN);
    cr_assert_gt(info.alloc_max_bytes, 0);
    cr_assert_leq(info.alloc_max_bytes, state->devices[0]->alloc_max_bytes);
    for (kind = MEMSPAN_KIND_HOST; kind < MEMSPAN_KIND_COUNT; kind++) {
        bool offered = (info.kinds & (1u << kind)) != 0;
        cr_assert_eq(strncmp(info.kind_note[kind], "not offered", 11) != 0, offered, "%s: %s",
                     memspan_kind_name((memspan_kind_t)kind), info.kind_note[kind]);
    }
    cr_assert_eq(info.kinds & (1u << MEMSPAN_KIND_HOST), 0);
}

Test(opencl, aligns)
{
    static const memspan_kind_t kinds[] = {MEMSPAN_KIND_DEVICE, MEMSPAN_KIND_COHERENT};
    size_t i;

    for (i = 0; i < 2; i++) {
        memspan_request_t request = ask(kinds[i], 64 * KIB);
        memspan_block_t block;
        need_kind(kinds[i]);
        request.align_bytes = 1024 * KIB;
        ok(table->alloc(state, 0, &request, &block));
        cr_assert_eq((uintptr_t)block.address % (1024 * KIB), 0);
        ok(table->fill(state, 0, NULL, (char *)block.address + 1, 3, 64 * KIB - 1));
        synchronize();
        give(block);
    }
}

static const struct opencl_block *record(const memspan_block_t *block)
{
    return block->cookie;
}

Test(opencl, maps_and_unmaps)
{
    memspan_block_t a;
    memspan_block_t b;
    double *x;

    need_kind(MEMSPAN_KIND_MANAGED);
    a = take(MEMSPAN_KIND_MANAGED, BYTES);
    b = take(MEMSPAN_KIND_MANAGED, BYTES);
    x = a.address;
    cr_assert(record(&a)->coarse && record(&a)->mapped, "new managed memory is the host's");
    x[0] = 5;
    x[1] = 0;
    ok(launch(MEMSPAN_KERNEL_FILL, 1, 3.0, NULL, NULL, x + 1));
    cr_assert_not(record(&a)->mapped);
    cr_assert_not(record(&b)->mapped, "a kernel may follow pointers into it");
    ok(launch(MEMSPAN_KERNEL_DAXPY, 1, 1.0, x, x, x + 1));
    cr_assert_not(record(&a)->mapped);
    synchronize();
    cr_assert(record(&a)->mapped && record(&b)->mapped);
    cr_assert_eq(x[1], 13.0);
    ok(table->copy(state, 0, NULL, b.address, a.address, BYTES));
    cr_assert_not(record(&b)->mapped);
    synchronize();
    cr_assert_eq(((double *)b.address)[1], 13.0);
    give(a);
    give(b);
}

/* The host links nodes of two blocks; a kernel follows them. */
static void check_chase(memspan_kind_t kind)
{
    memspan_block_t a = take(kind, BYTES);
    memspan_block_t b = take(kind, BYTES);
    void **from       = a.address;
    void **to         = b.address;
    int i;

    for (i = 0; i < 100; i++) {
        from[i] = &to[i];
        to[i]   = &from[i + 1];
    }
    ok(launch(MEMSPAN_KERNEL_CHASE, 200, 0, from, NULL, &to[200]));
    synchronize();
    cr_assert_eq(to[200], &from[100]);
    ok(launch(MEMSPAN_KERNEL_CHASE, 1, 0, from, NULL, &to[200]));
    synchronize();
    cr_assert_eq(to[200], &to[0]);
    give(a);
    give(b);
}

Test(opencl, follows_pointers)
{
    int kind;

    for (kind = MEMSPAN_KIND_HOST_PINNED; kind < MEMSPAN_KIND_DEVICE; kind++) {
        if ((info.kinds & (1u << kind)) != 0) {
            check_chase((memspan_kind_t)kind);
        }
    }
}

Test(opencl, adds_atomically_with_the_host)
{
    enum { TIMES = 200000 };
    memspan_block_t block;
    atomic_int *word;
    int i;

    need_kind(MEMSPAN_KIND_COHERENT);
    if ((info.capabilities & MEMSPAN_CAN_HOST_ATOMICS) == 0) {
        cr_assert_eq(launch(MEMSPAN_KERNEL_ADD_ATOMIC, 1, 1, NULL, NULL, &i),
                     MEMSPAN_ERR_UNSUPPORTED);
        cr_skip_test("no atomics between host and device");
    }
    block = take(MEMSPAN_KIND_COHERENT, BYTES);
    word  = block.address;
    atomic_init(word, 0);
    ok(launch(MEMSPAN_KERNEL_ADD_ATOMIC, 1, 1, NULL, NULL, word)); /* compiled before the race */
    synchronize();
    ok(launch(MEMSPAN_KERNEL_ADD_ATOMIC, TIMES, 3, NULL, NULL, word));
    for (i = 0; i < TIMES; i++) {
        atomic_fetch_add(word, 1);
    }
    synchronize();
    cr_assert_eq(atomic_load(word), 1 + 4 * TIMES);
    give(block);
}

Test(opencl, imports_host_pages)
{
    void *pages = mmap(NULL, 64 * KIB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    double *x   = pages;
    void *address;
    void *cookie;
    void *again;

    if ((info.capabilities & MEMSPAN_CAN_IMPORT) == 0) {
        cr_skip_test("the first device does not work on host pages");
    }
    x[0] = 11;
    ok(table->import(state, 0, pages, 64 * KIB, &address, &cookie));
    cr_assert_eq(address, pages);
    cr_assert_eq(x[0], 11, "importing changes nothing");
    ok(table->import(state, 0, pages, 64 * KIB, &address, &again));
    cr_assert_eq(table->import(state, 0, (char *)pages + 4096, 4096, &address, &again),
                 MEMSPAN_ERR_INVALID);
    ok(table->release(state, 0, pages, 64 * KIB, cookie));
    x[101] = 1;
    ok(launch(MEMSPAN_KERNEL_DAXPY, 1, 2.0, x, x, x + 101));
    synchronize();
    cr_assert_eq(x[101], 34);
    ok(table->release(state, 0, pages, 64 * KIB, cookie));
    /* With system SVM any host memory is a kernel's. */
    cr_assert_eq(launch(MEMSPAN_KERNEL_FILL, 1, 2.0, NULL, NULL, x),
                 ((info.capabilities & MEMSPAN_CAN_ACCESS_PAGEABLE) != 0) ? MEMSPAN_OK
                                                                          : MEMSPAN_ERR_INVALID);
    synchronize();
    cr_assert_eq(table->release(state, 0, pages, 64 * KIB, cookie), MEMSPAN_ERR_NOT_FOUND);
    munmap(pages, 64 * KIB);
}

Test(opencl, orders_queues)
{
    memspan_block_t block;
    memspan_kernel_call_t call = {sizeof(call), MEMSPAN_KERNEL_FILL, ELEMENTS, 4.0, NULL, NULL,
                                  NULL};
    void *queues[2];
    double *x;
    int i;

    need_kind(MEMSPAN_KIND_MANAGED);
    block = take(MEMSPAN_KIND_MANAGED, BYTES);
    x     = block.address;
    for (i = 0; i < 2; i++) {
        ok(table->queue_create(state, 0, &queues[i]));
    }
    call.z = x;
    x[0]   = 1;
    ok(table->launch(state, 0, queues[0], &call));
    call.z = x + 1003;
    ok(table->launch(state, 0, queues[1], &call));
    /* One of them brings the memory back, when both are done. */
    ok(table->synchronize(state, 0, queues[0]));
    cr_assert_eq(x[0], 4.0);
    cr_assert_eq(x[2005], 4.0);
    for (i = 0; i < 2; i++) {
        ok(table->queue_destroy(state, 0, queues[i]));
    }
    give(block);
}

/* On two queues, one of which may be the program's. */
static void check_event(void *const queues[2])
{
    enum { LARGE = 4 << 20 };
    memspan_block_t source = take(MEMSPAN_KIND_DEVICE, LARGE);
    memspan_block_t target = take(MEMSPAN_KIND_DEVICE, LARGE);
    static char bytes[LARGE];
    void *event = NULL;
    int done    = 0;
    int i;

    for (i = 1; i <= 5; i++) {
        ok(table->fill(state, 0, queues[0], source.address, (unsigned char)i, LARGE));
        ok(table->event_record(state, 0, queues[0], &event));
        ok(table->event_wait(state, 0, queues[1], event));
        ok(table->copy(state, 0, queues[1], target.address, source.address, LARGE));
        ok(table->event_record(state, 0, queues[1], &event));
        ok(table->event_wait(state, 0, queues[0], event));
    }
    ok(table->copy(state, 0, queues[1], bytes, target.address, LARGE));
    ok(table->synchronize(state, 0, queues[1]));
    cr_assert((bytes[0] == 5) && (bytes[LARGE - 1] == 5));
    ok(table->event_done(state, 0, event, &done));
    cr_assert_eq(done, 1);
    ok(table->event_destroy(state, 0, event));
    for (i = 0; i < 2; i++) {
        ok(table->synchronize(state, 0, queues[i]));
        ok(table->queue_destroy(state, 0, queues[i]));
    }
    give(source);
    give(target);
}

Test(opencl, orders_queues_by_events)
{
    void *queues[2];

    need_kind(MEMSPAN_KIND_DEVICE);
    ok(table->queue_create(state, 0, &queues[0]));
    ok(table->queue_create(state, 0, &queues[1]));
    check_event(queues);
}

Test(opencl, orders_a_queue_of_the_program)
{
    struct opencl_platform *platform = state->devices[0]->platform;
    const struct opencl_calls *cl    = &state->cl;
    cl_device_id ids[16];
    cl_command_queue handle;
    cl_context context;
    void *queues[2];
    cl_int code = 0;
    int i;

    need_kind(MEMSPAN_KIND_DEVICE);
    for (i = 0; (i < platform->device_count) && (i < 16); i++) {
        ids[i] = platform->devices[i].id;
    }
    context = cl->clCreateContext(NULL, (cl_uint)i, ids, NULL, NULL, &code);
    handle  = cl->clCreateCommandQueue(context, state->devices[0]->id, 0, &code);
    cr_assert_not_null(handle);
    ok(table->queue_adopt(state, 0, MEMSPAN_QUEUE_OPENCL, handle, &queues[0]));
    ok(table->queue_create(state, 0, &queues[1]));
    check_event(queues);
    cr_assert_eq(cl->clFinish(handle), OPENCL_SUCCESS);
    cr_assert_eq(cl->clReleaseCommandQueue(handle), OPENCL_SUCCESS);
    cr_assert_eq(cl->clReleaseContext(context), OPENCL_SUCCESS);
}

Test(opencl, refuses_nonsense)
{
    memspan_request_t request = ask(MEMSPAN_KIND_DEVICE, info.alloc_max_bytes + 2 * BYTES);
    memspan_block_t block     = {.address = &request};
    char outside[64];

    need_kind(MEMSPAN_KIND_DEVICE);
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_NO_MEMORY);
    snprintf(outside, sizeof(outside), "%llu",
             (unsigned long long)state->devices[0]->alloc_max_bytes);
    cr_assert_not_null(strstr(memspan_error_last()->message, outside), "%s", memspan_error_text());
    request.size_bytes = SIZE_MAX - 4095;
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_NO_MEMORY);
    request.size_bytes = 0;
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_INVALID);
    request = ask(MEMSPAN_KIND_HOST, BYTES);
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_UNSUPPORTED);
    request.kind = (memspan_kind_t)77;
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_UNSUPPORTED);
    cr_assert_eq(table->free(state, 0, &block), MEMSPAN_ERR_NOT_FOUND);
    cr_assert_eq(table->alloc(state, 1000, &request, &block), MEMSPAN_ERR_NOT_FOUND);
    cr_assert_eq(table->synchronize(state, -1, NULL), MEMSPAN_ERR_NOT_FOUND);
}

Test(opencl, refuses_launches_out_of_reach)
{
    memspan_block_t block;
    double here[2] = {1, 2};

    need_kind(MEMSPAN_KIND_DEVICE);
    block = take(MEMSPAN_KIND_DEVICE, BYTES);
    cr_assert_eq(launch((memspan_kernel_t)99, 1, 0, NULL, NULL, NULL), MEMSPAN_ERR_UNSUPPORTED);
    cr_assert_eq(launch(MEMSPAN_KERNEL_FILL, 1, 0, NULL, NULL, NULL), MEMSPAN_ERR_INVALID);
    cr_assert_eq(launch(MEMSPAN_KERNEL_FILL, BYTES / 8 + 1, 0, NULL, NULL, block.address),
                 MEMSPAN_ERR_INVALID);
    cr_assert_eq(launch(MEMSPAN_KERNEL_FILL, SIZE_MAX / 4, 0, NULL, NULL, block.address),
                 MEMSPAN_ERR_INVALID);
    if ((info.capabilities & MEMSPAN_CAN_ACCESS_PAGEABLE) == 0) {
        cr_assert_eq(launch(MEMSPAN_KERNEL_SUM, 2, 0, here, NULL, block.address),
                     MEMSPAN_ERR_INVALID);
        cr_assert_not_null(strstr(memspan_error_last()->message, "argument x"));
    }
    give(block);
}

static int in_child(void)
{
    memspan_request_t request = ask(MEMSPAN_KIND_DEVICE, BYTES);
    memspan_block_t block;

    alarm(10);
    if (table->alloc(state, 0, &request, &block) != MEMSPAN_ERR_FORKED) {
        return 1;
    }
    if (table->synchronize(state, 0, NULL) != MEMSPAN_ERR_FORKED) {
        return 2;
    }
    table->close(state);
    return 0;
}

Test(opencl, refuses_a_forked_child)
{
    int status = -1;
    pid_t child;

    synchronize();
    child = fork();
    if (child == 0) {
        _exit(in_child());
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(status, 0);
}

static void *work_alone(void *unused)
{
    int round;

    (void)unused;
    for (round = 0; round < 10; round++) {
        memspan_block_t block = take(MEMSPAN_KIND_DEVICE, BYTES);
        double value          = 0;
        ok(launch(MEMSPAN_KERNEL_FILL, ELEMENTS, round, NULL, NULL, block.address));
        ok(table->copy(state, 0, NULL, &value, (double *)block.address + ELEMENTS - 1, 8));
        synchronize();
        cr_assert_eq(value, round);
        give(block);
    }
    return NULL;
}

Test(opencl, works_from_many_threads)
{
    pthread_t threads[4];
    int i;

    need_kind(MEMSPAN_KIND_DEVICE);
    for (i = 0; i < 4; i++) {
        pthread_create(&threads[i], NULL, work_alone, NULL);
    }
    for (i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
}

Test(opencl, pins)
{
    memspan_request_t request = ask(MEMSPAN_KIND_HOST_PINNED, BYTES);
    memspan_block_t block;
    memspan_status_t status;

    need_kind(MEMSPAN_KIND_HOST_PINNED);
    request.flags = MEMSPAN_REQUEST_PINNED;
    status        = table->alloc(state, 0, &request, &block);
    if (status == MEMSPAN_OK) {
        cr_assert((block.flags & MEMSPAN_BLOCK_PINNED) != 0);
        give(block);
    } else {
        cr_assert(status == MEMSPAN_ERR_LIMIT, "%s", memspan_error_text());
    }
}

Test(opencl, places)
{
    memspan_request_t request = ask(MEMSPAN_KIND_HOST_PINNED, BYTES);
    memspan_block_t block;
    int node = 0;

    need_kind(MEMSPAN_KIND_HOST_PINNED);
    if ((info.capabilities & MEMSPAN_CAN_UNIFIED_PHYSICAL) == 0) {
        cr_skip_test("the first device has memory of its own");
    }
    request.nodes      = &node;
    request.node_count = 1;
    request.flags      = MEMSPAN_REQUEST_STRICT;
    ok(table->alloc(state, 0, &request, &block));
    cr_assert_eq(block.node, 0);
    cr_assert_eq(block.page_size_bytes, msp_page_size());
    give(block);
    node = 1000;
    cr_assert_neq(table->alloc(state, 0, &request, &block), MEMSPAN_OK);
    request.flags = 0;
    ok(table->alloc(state, 0, &request, &block));
    cr_assert_eq(block.node, -1);
    give(block);
}

Test(opencl, says_who_reaches_what)
{
    memspan_reach_t reach;
    int kind;

    for (kind = 0; kind < MEMSPAN_KIND_COUNT; kind++) {
        bool offered = (info.kinds & (1u << kind)) != 0;
        reach        = table->reach(state, 0, (memspan_kind_t)kind, 0);
        cr_assert_eq(reach.access >= MEMSPAN_ACCESS_FAULT, offered);
        reach = table->reach(state, 0, (memspan_kind_t)kind, MEMSPAN_HOST);
        cr_assert_eq(reach.access != MEMSPAN_ACCESS_NONE, offered);
    }
    reach = table->reach(state, 0, MEMSPAN_KIND_COHERENT, MEMSPAN_HOST);
    if ((info.kinds & (1u << MEMSPAN_KIND_COHERENT)) != 0) {
        bool atomics = (info.capabilities & MEMSPAN_CAN_HOST_ATOMICS) != 0;
        cr_assert_eq(reach.coherence,
                     atomics ? MEMSPAN_COHERENCE_ATOMIC : MEMSPAN_COHERENCE_CONCURRENT);
    }
    reach = table->reach(state, 0, MEMSPAN_KIND_MANAGED, 0);
    cr_assert_leq(reach.coherence, MEMSPAN_COHERENCE_SYNC);
    reach = table->reach(state, 999, MEMSPAN_KIND_MANAGED, 0);
    cr_assert_eq(reach.access, MEMSPAN_ACCESS_NONE);
}

TestSuite(opencl_option, .init = need_opencl, .timeout = 60);

Test(opencl_option, restricts_what_is_used)
{
    static const struct {
        const char *value;
        unsigned svm;
    } cases[] = {{"none", 0},
                 {"coarse", OPENCL_SVM_COARSE},
                 {"coarse,fine", OPENCL_SVM_COARSE | OPENCL_SVM_FINE | OPENCL_SVM_SYSTEM},
                 {"{fine,atomics}", OPENCL_SVM_FINE | OPENCL_SVM_SYSTEM | OPENCL_SVM_ATOMICS}};
    size_t i;

    finish();
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cr_assert_eq(open_with(cases[i].value), MEMSPAN_OK, "%s", memspan_error_text());
        cr_assert_eq(state->devices[0]->svm, state->devices[0]->svm_has & cases[i].svm);
        cr_assert_eq((info.kinds & (1u << MEMSPAN_KIND_DEVICE)) != 0,
                     (state->devices[0]->svm & OPENCL_SVM_COARSE) != 0);
        if ((info.kinds & (1u << MEMSPAN_KIND_COHERENT)) == 0) {
            cr_assert_eq(info.kinds_without_gain, 0);
        }
        if ((info.kinds & (1u << MEMSPAN_KIND_HOST_PINNED)) != 0) {
            check_daxpy(MEMSPAN_KIND_HOST_PINNED);
        }
        if ((info.kinds & (1u << MEMSPAN_KIND_MANAGED)) != 0) {
            check_daxpy(MEMSPAN_KIND_MANAGED);
            check_chase(MEMSPAN_KIND_MANAGED);
        }
        finish();
    }
}

Test(opencl_option, refuses_what_it_does_not_know)
{
    static const char *const values[] = {"course", "fine,", "atomics", "{coarse", ",", "{}", "All"};
    size_t i;

    finish();
    for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        cr_assert_eq(open_with(values[i]), MEMSPAN_ERR_CONFIG, "%s", values[i]);
        cr_assert_not_null(strstr(memspan_error_text(), "MEMSPAN_OPENCL_SVM"), "%s",
                           memspan_error_text());
    }
}
