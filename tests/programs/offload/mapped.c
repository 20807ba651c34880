/* SPDX-License-Identifier: BSD-3-Clause */
/* mapped.c: mapped variables with memory of an allocator behave as with the runtime's. Each check
 * first asks that the memory is the allocator's, and in the end none is left. */

#include "check.h"
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 1000, BLOCKS_MAX = 64, PARTS = 40, THREADS = 4, SHARED = 20000, STRIDE = 2 };

static struct {
    char *begin;
    size_t size_bytes;
} blocks[BLOCKS_MAX];
static int live;
static int taken;
static int refusals; /* so many calls from now give NULL */

static void *take(size_t size_bytes)
{
    int i;

    if (refusals > 0) {
        refusals--;
        return NULL;
    }
    for (i = 0; (i < BLOCKS_MAX) && (blocks[i].begin != NULL); i++) {
    }
    CHECK(i < BLOCKS_MAX);
    blocks[i].begin      = omp_target_alloc(size_bytes, 0);
    blocks[i].size_bytes = size_bytes;
    live++;
    taken++;
    return blocks[i].begin;
}

static void give(void *pointer)
{
    int i;

    for (i = 0; (i < BLOCKS_MAX) && (blocks[i].begin != pointer); i++) {
    }
    CHECK(i < BLOCKS_MAX);
    omp_target_free(pointer, 0);
    blocks[i].begin = NULL;
    live--;
}

static bool is_taken(const void *pointer)
{
    int i;

    for (i = 0; i < BLOCKS_MAX; i++) {
        if ((blocks[i].begin != NULL) &&
            ((size_t)((const char *)pointer - blocks[i].begin) < blocks[i].size_bytes)) {
            return true;
        }
    }
    return false;
}

static void fill(int *values, int first)
{
    for (int i = 0; i < N; i++) {
        values[i] = first + i;
    }
}

static bool holds(const int *values, int first)
{
    for (int i = 0; i < N; i++) {
        if (values[i] != first + i) {
            return false;
        }
    }
    return true;
}

/* Every element grows by @p by on the device. */
static void add(int *values, int by)
{
#pragma omp target teams distribute parallel for map(tofrom : values [0:N])
    for (int i = 0; i < N; i++) {
        values[i] += by;
    }
}

static int *device_address(int *values)
{
    int *address;

#pragma omp target data use_device_ptr(values)
    address = values;
    return address;
}

static void one_region(void)
{
    int values[N];
    int sum    = 0;
    int before = taken;

    fill(values, 0);
    add(values, 1);
    CHECK(holds(values, 1) && (taken > before));
    before = taken;
#pragma omp target map(to : values) /* a copy in only */
    values[0] = 77;
    CHECK((values[0] == 1) && (taken == before + 1));
    memset(values, 0, sizeof(values));
#pragma omp target teams distribute parallel for map(from : values)
    for (int i = 0; i < N; i++) {
        values[i] = 5 + i;
    }
    CHECK(holds(values, 5));
    before = taken;
#pragma omp target teams distribute parallel for reduction(+ : sum) map(to : values)
    for (int i = 0; i < N; i++) {
        sum += values[i];
    }
    CHECK((sum == N * (N - 1) / 2 + 5 * N) && (taken > before));
#pragma omp target firstprivate(values) map(tofrom : sum)
    sum = values[N - 1];
    CHECK((sum == N + 4) && (live == 0));
}

static void nested_regions(void)
{
    int values[N];
    int *pointer = values;
    int *other   = NULL;

    fill(values, 0);
#pragma omp target data map(tofrom : values)
    {
        CHECK(is_taken(device_address(pointer)));
        CHECK(omp_get_mapped_ptr(values, 0) == device_address(pointer));
        CHECK(omp_target_is_present(values, 0));
#pragma omp target data use_device_addr(values)
        other = values;
        CHECK(is_taken(other));
        CHECK(omp_target_disassociate_ptr(values, 0) != 0);
        values[3] = 100;
        add(values, 10); /* neither copied in nor back */
        CHECK((values[3] == 100) && (values[4] == 4));
#pragma omp target update from(values [0:4])
        CHECK((values[3] == 13) && (values[4] == 4));
        values[5] = 1000;
#pragma omp target map(always, tofrom : values [5:1])
        values[5] += 1;
        CHECK(values[5] == 1001);
        values[5] = 15;
#pragma omp target update to(values [5:1])
#pragma omp target map(present, alloc : values)
        values[6] += 0;
    }
    CHECK(holds(values, 10) && (live == 0) && !omp_target_is_present(values, 0));
}

static void counted(void)
{
    int values[N];

    fill(values, 0);
#pragma omp target enter data map(to : values)
#pragma omp target enter data map(to : values [0:10])
    add(values, 1);
#pragma omp target exit data map(from : values [0:10])
    CHECK(holds(values, 0) && (live == 1));
#pragma omp target exit data map(from : values)
    CHECK(holds(values, 1) && (live == 0));
#pragma omp target enter data map(to : values)
#pragma omp target enter data map(to : values)
#pragma omp target exit data map(delete : values)
    CHECK(live == 0);
#pragma omp target exit data map(release : values) /* nothing to do */
#pragma omp target data map(ompx_hold, tofrom : values)
    {
#pragma omp target exit data map(delete : values)
#pragma omp target exit data map(release : values) /* no count is left to lower */
        CHECK(live == 1);
        add(values, 1);
    }
    CHECK(holds(values, 2) && (live == 0));
}

/* Sections of no bytes, after which the section of 10 elements is there or not: bits of the result.
 */
static int empty_sections(int device)
{
    int values[N];
    int *pointer = values;
    int seen     = 0;

    fill(values, 0);
#pragma omp target enter data device(device) map(to : pointer [100:10])
#pragma omp target enter data device(device) map(alloc : pointer [105:0])
#pragma omp target exit data device(device) map(release : pointer [100:10])
    seen |= omp_target_is_present(values + 100, device);
#pragma omp target exit data device(device) map(release : pointer [105:0])
    seen |= omp_target_is_present(values + 100, device) << 1;
#pragma omp target enter data device(device) map(to : pointer [100:10])
#pragma omp target enter data device(device) map(to : pointer [100:10])
#pragma omp target exit data device(device) map(delete : pointer [110:0]) /* behind it */
    seen |= omp_target_is_present(values + 100, device) << 2;
#pragma omp target exit data device(device) map(delete : pointer [0:0]) /* the array's begin */
    seen |= omp_target_is_present(values + 100, device) << 3;
#pragma omp target device(device) map(alloc : pointer [0:0]) /* mapped by nothing */
    {
    }
    seen |= omp_target_is_present(values + 100, device) << 4;
    return seen;
}

/* Of an array of which a section is mapped, regions and use_device_ptr have the address too. */
static void sections(int device)
{
    int values[N];
    int *pointer = values;
    int *after   = values + 200;

    fill(values, 0);
#pragma omp target data device(device) map(tofrom : pointer [100:10]) map(tofrom : after [10:5])
    {
#pragma omp target device(device)
        {
            pointer[101] = -1;
            after[11]    = -1;
        }
        CHECK((values[101] == 101) && (values[211] == 211));
#pragma omp target data device(device) use_device_ptr(pointer)
        CHECK(pointer + 100 == omp_get_mapped_ptr(values + 100, device));
    }
    CHECK((values[101] == -1) && (values[211] == -1) && (values[100] == 100));
}

/* As the runtime does it with its own memory, on device 1. */
static void empty(void)
{
    CHECK(empty_sections(0) == 5);
    sections(0);
    CHECK(live == 0);
    if (omp_get_num_devices() > 1) {
        CHECK(empty_sections(1) == 5);
        sections(1);
    }
}

struct list {
    _Alignas(16) int before;
    int *data;
    int length;
    int after;
};

static void structures(void)
{
    int values[N];
    struct list list = {1, values, N, 2};
    struct list *at  = &list;
    size_t offset    = 1;

    fill(values, 0);
#pragma omp target map(tofrom : list)
    list.after += list.before;
    CHECK((list.after == 3) && (live == 0));
#pragma omp target map(to : at->data) map(tofrom : at->data [0:N], at->length) map(from : offset)
    {
        for (int i = 0; i < at->length; i++) {
            at->data[i]++;
        }
        at->length = 7;
        offset     = (uintptr_t)&at->data % 16;
    }
    CHECK(offset == (uintptr_t)&at->data % 16); /* a long double has such members */
    CHECK((list.data == values) && holds(values, 1) && (list.length == 7) && (list.before == 1));
#pragma omp target enter data map(to : list)
#pragma omp target enter data map(to : list.data [0:N])
    CHECK(live == 2);
#pragma omp target
    list.data[0] = list.length;
#pragma omp target exit data map(from : list.data [0:N])
#pragma omp target exit data map(from : list)
    CHECK((values[0] == 7) && (list.data == values) && (live == 0));
#pragma omp target enter data map(to : list)
#pragma omp target enter data map(to : list.before, list.after)
#pragma omp target exit data map(release : list)
    CHECK(live == 1);
#pragma omp target exit data map(release : list) /* members have not counted */
    CHECK(live == 0);
}

typedef struct list list_t;
#pragma omp declare mapper(deep : list_t l) map(l, l.data [0:l.length])

static void with_mapper(void)
{
    int values[N];
    list_t list = {1, values, N, 2};

    fill(values, 0);
#pragma omp target map(mapper(deep), tofrom : list)
    for (int i = 0; i < list.length; i++) {
        list.data[i] += 3;
    }
    CHECK(holds(values, 3) && (live == 0));
    /* A reference by a mapper counts as one of a clause. */
#pragma omp target enter data map(to : values)
#pragma omp target enter data map(mapper(deep), to : list)
    CHECK(is_taken(omp_get_mapped_ptr(values, 0)));
    add(values, 1);
#pragma omp target exit data map(from : values)
    CHECK(holds(values, 3) && (live == 1));
#pragma omp target exit data map(mapper(deep), from : list)
    CHECK(holds(values, 4) && (live == 0) && (list.data == values));
}

#pragma omp declare target
extern int global[N];
int global[N];
#pragma omp end declare target
extern int linked[N];
int linked[N];
#pragma omp declare target link(linked)

static void globals(void)
{
    int before = taken;

    fill(global, 0);
#pragma omp target update to(global)
#pragma omp target map(tofrom : global)
    global[0] += 9;
    CHECK((global[0] == 0) && (taken == before)); /* it was there already */
#pragma omp target update from(global)
    CHECK((global[0] == 9) && holds(global + 1, 1) == false);
    fill(linked, 0);
#pragma omp target teams distribute parallel for map(tofrom : linked)
    for (int i = 0; i < N; i++) {
        linked[i] += 1;
    }
    CHECK(holds(linked, 1) && (live == 0));
}

static void deferred(void)
{
    int values[N];

    fill(values, 0);
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp target enter data map(to : values) nowait depend(out : values)
#pragma omp target teams distribute parallel for nowait depend(inout : values)
        for (int i = 0; i < N; i++) {
            values[i] += 1;
        }
#pragma omp target nowait depend(inout : values) map(tofrom : values)
        values[0] += 0;
#pragma omp target update from(values) nowait depend(inout : values)
#pragma omp target exit data map(delete : values) nowait depend(inout : values)
#pragma omp taskwait
        CHECK(holds(values, 1) && (live == 0));
#pragma omp target teams distribute parallel for nowait map(tofrom : values)
        for (int i = 0; i < N; i++) {
            values[i] += 1;
        }
#pragma omp taskwait
    }
    CHECK(holds(values, 2) && (live == 0));
}

/* All threads use one variable, each its own elements: the first copies it to the device before
 * the others begin, and the last copies it back. */
static void threads(void)
{
    static int values[SHARED];

    memset(values, 0, sizeof(values));
#pragma omp parallel num_threads(THREADS)
    for (int i = omp_get_thread_num(); i < SHARED; i += THREADS * STRIDE) {
#pragma omp target map(tofrom : values)
        values[i] += i;
    }
    for (int i = 0; i < SHARED; i++) {
        CHECK(values[i] == ((i % (THREADS * STRIDE) < THREADS) ? i : 0));
    }
    CHECK(live == 0);
}

/* Not on a device, and on another one. */
static void elsewhere(void)
{
    int values[N];
    int before = taken;

    fill(values, 0);
#pragma omp target if (0) map(tofrom : values)
    values[0] = 8;
    CHECK((values[0] == 8) && (taken == before));
#pragma omp target device(omp_get_initial_device()) map(tofrom : values)
    values[0] = 0;
    CHECK(holds(values, 0) && (taken == before));
    if (omp_get_num_devices() > 1) {
#pragma omp target device(1) map(tofrom : values)
        values[0] = 1;
        CHECK((values[0] == 1) && (taken == before));
        omp_set_default_device(1);
        values[0] = 0;
        add(values, 1);
        omp_set_default_device(0);
        CHECK(holds(values, 1) && (taken == before));
    }
}

/* What the program associated itself, and what the allocator has no memory for. */
static void left_alone(void)
{
    int values[N];
    int *own   = omp_target_alloc(sizeof(values), 0);
    int before = taken;

    fill(values, 0);
    CHECK(omp_target_associate_ptr(values, own, sizeof(values), 0, 0) == 0);
    CHECK(device_address(values) == own);
    add(values, 1);
    CHECK(holds(values, 0) && (taken == before));
    CHECK(omp_target_disassociate_ptr(values, 0) == 0);
    omp_target_free(own, 0);
    refusals = 1;
    add(values, 1);
    CHECK(holds(values, 1) && (taken == before) && (refusals == 0));
}

/* Neighbours, in another order than their addresses'. */
static void many(void)
{
    int values[PARTS * 10];

    memset(values, 0, sizeof(values));
    for (int i = 0; i < PARTS; i++) {
        int *part = values + (i * 7 % PARTS) * 10;
#pragma omp target enter data map(to : part [0:10])
        CHECK(live == i + 1);
    }
    for (int i = 0; i < PARTS; i++) {
        int *part = values + i * 10;
#pragma omp target
        part[9] = i;
    }
    for (int i = 0; i < PARTS; i++) {
        int k     = i * 11 % PARTS;
        int *part = values + k * 10;
#pragma omp target exit data map(from : part [0:10])
        CHECK((part[9] == k) && (live == PARTS - i - 1));
    }
}

/* The names that compilers used before. */
extern void __tgt_target_data_begin(int64_t device, int32_t count, void **bases, void **begins,
                                    int64_t *sizes, int64_t *types);
extern void __tgt_target_data_end(int64_t device, int32_t count, void **bases, void **begins,
                                  int64_t *sizes, int64_t *types);

static void old_names(void)
{
    int values[N];
    void *address  = values;
    int64_t size   = sizeof(values);
    int64_t tofrom = 3;

    fill(values, 0);
    __tgt_target_data_begin(-1, 1, &address, &address, &size, &tofrom);
    CHECK(is_taken(device_address(values)));
    add(values, 4);
    __tgt_target_data_end(-1, 1, &address, &address, &size, &tofrom);
    CHECK(holds(values, 4) && (live == 0));
}

/* While variables are named. */
static void under_allocator(void)
{
    omp_allocator_handle_t allocator = omp_init_allocator(omp_default_mem_space, 0, NULL);
    omp_allocator_handle_t other     = omp_init_allocator(omp_default_mem_space, 0, NULL);
    int *values                      = omp_alloc(N * sizeof(*values), allocator);
    int *others                      = omp_alloc(N * sizeof(*others), other);
    int before                       = taken;

    CHECK((values != NULL) && (others != NULL));
    fill(values, 0);
    fill(others, 0);
    add(values, 1);
    CHECK(holds(values, 1) && (taken == before));
    CHECK(memspan_map_symmetric_allocator(omp_null_allocator) != MEMSPAN_OK);
    CHECK(memspan_map_symmetric_allocator(allocator) == MEMSPAN_OK);
    add(values, 1);
    CHECK(holds(values, 2) && (taken == before + 1));
#pragma omp target data map(to : values [N - 2:2])
    CHECK(is_taken(device_address(values + N - 2)));
    add(others, 1);
    CHECK(holds(others, 1) && (taken == before + 2) && (live == 0));
    omp_free(values, allocator);
    omp_free(others, other);
    omp_destroy_allocator(allocator);
    omp_destroy_allocator(other);
}

static void named(void)
{
    static int values[N];
    static int others[N];
    int before = taken;

    CHECK(memspan_map_symmetric(NULL, 8) == MEMSPAN_ERR_INVALID);
    CHECK(memspan_map_symmetric(values, 0) == MEMSPAN_ERR_NOT_FOUND);
    CHECK(memspan_map_symmetric(values, sizeof(values)) == MEMSPAN_OK);
    CHECK(memspan_map_symmetric(values, sizeof(values)) == MEMSPAN_OK); /* once is enough */
    CHECK(memspan_map_symmetric(values, sizeof(values) / 2) == MEMSPAN_ERR_INVALID);
    fill(others, 0);
    fill(values, 0);
    add(others, 1);
    CHECK(holds(others, 1) && (taken == before));
    add(values, 1);
    CHECK(holds(values, 1) && (taken == before + 1));
#pragma omp target data map(to : values [N - 2:2])
    CHECK(is_taken(device_address(values + N - 2)));
    CHECK(memspan_map_symmetric(values, 0) == MEMSPAN_OK);
    before = taken;
    add(values, 1);
    CHECK(holds(values, 2) && (taken == before) && (live == 0));
    under_allocator();
    CHECK(memspan_map_symmetric(values, sizeof(values)) == MEMSPAN_OK);
#pragma omp target enter data map(to : values)
    CHECK(live == 1);
    CHECK(__tgt_reset_device_allocator(0) == 0); /* takes what is mapped yet */
    CHECK((live == 0) && !omp_target_is_present(values, 0));
#pragma omp target exit data map(from : values)
    CHECK(holds(values, 2));
    add(values, 1);
    CHECK(holds(values, 3) && (live == 0));
    CHECK(__tgt_reset_device_allocator(0) == -1);
}

/* A variable that must be present, and is not, is the runtime's error: it ends the process. */
static void missing(void)
{
    int value = 0;
    int status;

    if (fork() == 0) {
        fclose(stderr);
        CHECK(__tgt_set_device_allocator(0, take, give) == 0);
#pragma omp target data map(present, alloc : value)
        value = 1;
        _exit(0);
    }
    CHECK((wait(&status) > 0) && (status != 0));
}

int main(void)
{
    int values[N];

    missing();
    check_devices(1);
    fill(values, 0);
    CHECK(memspan_map_symmetric(values, sizeof(values)) == MEMSPAN_ERR_NOT_FOUND);
    CHECK(__tgt_set_device_allocator(-1, take, give) == -1);
    CHECK(__tgt_set_device_allocator(omp_get_num_devices(), take, give) == -1);
    CHECK(__tgt_set_device_allocator(0, NULL, give) == -1);
    CHECK(__tgt_set_device_allocator(0, take, give) == 0);
    one_region();
    nested_regions();
    counted();
    empty();
    structures();
    with_mapper();
    globals();
    deferred();
    threads();
    elsewhere();
    left_alone();
    many();
    old_names();
    named();
    printf("%d blocks\n", taken);
    return 0;
}
