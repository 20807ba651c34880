/* SPDX-License-Identifier: BSD-3-Clause */
/* rules.c: what is offered, which calls of the driver are made, and which are not. */

#include "core/base/error.h"
#include "tests/fakes/level_zero/pretended.h"
#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const memspan_backend_t *const table = &msp_backend_level_zero;

static void *map_pages(size_t size)
{
    return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

TestSuite(level_zero_rules, .init = pretended_find, .timeout = 60);

struct component { /* zel_component_version_t */
    char name[64];
    int rest[4];
};

Test(level_zero_rules, the_real_loader_validates)
{
    void *loader = dlopen("libze_loader.so.1", RTLD_NOW | RTLD_NOLOAD);
    int (*versions)(size_t *, struct component *);
    struct component all[8];
    size_t count = 8;
    bool found   = false;

    cr_assert_not_null(loader);
    *(void **)&versions = dlsym(loader, "zelLoaderGetVersions");
    cr_assert_not_null(versions, "this loader is not the real one");
    cr_assert_eq(versions(&count, all), 0);
    for (size_t i = 0; i < count; i++) {
        found = found || (strstr(all[i].name, "validation") != NULL);
    }
    cr_assert(found, "the validation layer is off");
}

/* ---- what is offered ---- */

enum {
    PINNED   = 1u << MEMSPAN_KIND_HOST_PINNED,
    MANAGED  = 1u << MEMSPAN_KIND_MANAGED,
    COHERENT = 1u << MEMSPAN_KIND_COHERENT,
    DEVICE   = 1u << MEMSPAN_KIND_DEVICE
};

Test(level_zero_rules, properties_decide_what_is_offered)
{
    static const struct {
        const char *setting;
        unsigned kinds;
        unsigned without; /* of what the first row has */
        unsigned with;    /* besides */
    } rows[] = {
        {"ACCESS=f,3,3,1,0", PINNED | MANAGED | DEVICE, 0, 0},
        {"ACCESS=1,3,3,1,0", PINNED | MANAGED | DEVICE, MEMSPAN_CAN_HOST_ATOMICS, 0},
        {"ACCESS=f,3,7,1,0", PINNED | MANAGED | DEVICE, 0, MEMSPAN_CAN_ACCESS_CONCURRENT},
        {"ACCESS=f,3,f,1,0", PINNED | MANAGED | COHERENT | DEVICE, 0,
         MEMSPAN_CAN_ACCESS_CONCURRENT},
        {"ACCESS=f,3,0,0,0", PINNED | DEVICE, MEMSPAN_CAN_PREFETCH, 0},
        {"ACCESS=0,3,3,1,0", MANAGED | DEVICE, MEMSPAN_CAN_HOST_ATOMICS, 0},
        {"ACCESS=f,0,3,1,0", PINNED | MANAGED, MEMSPAN_CAN_IPC, 0},
        {"ACCESS=f,3,3,1,f", PINNED | MANAGED | DEVICE, 0, MEMSPAN_CAN_ACCESS_PAGEABLE},
        {"LACKS=fp64", PINNED | MANAGED | DEVICE, MEMSPAN_CAN_KERNELS, 0},
        {"LACKS=ipc", PINNED | MANAGED | DEVICE, MEMSPAN_CAN_IPC, 0},
        {"LACKS=dmabuf", PINNED | MANAGED | DEVICE, MEMSPAN_CAN_DMABUF, 0},
        {"IMPORT=none", PINNED | MANAGED | DEVICE, MEMSPAN_CAN_IMPORT, 0},
        {"IMPORT=memmap", PINNED | MANAGED | DEVICE, 0, 0},
        {"FLAGS=1", PINNED | MANAGED | DEVICE, 0, MEMSPAN_CAN_UNIFIED_PHYSICAL},
    };
    unsigned usual = MEMSPAN_CAN_SHARE_ADDRESSES | MEMSPAN_CAN_HOST_ATOMICS | MEMSPAN_CAN_IMPORT |
                     MEMSPAN_CAN_PREFETCH | MEMSPAN_CAN_IPC | MEMSPAN_CAN_DMABUF |
                     MEMSPAN_CAN_KERNELS;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        memspan_device_info_t info;
        void *state;
        int kind;

        state = PRETENDED_OPEN(rows[i].setting);
        info  = pretended_describe(state, 0);
        cr_assert_eq(info.kinds, rows[i].kinds, "%s: %#x", rows[i].setting, info.kinds);
        cr_assert_eq(info.capabilities, (usual & ~rows[i].without) | rows[i].with, "%s: %#x",
                     rows[i].setting, info.capabilities);
        for (kind = MEMSPAN_KIND_HOST; kind < MEMSPAN_KIND_COUNT; kind++) {
            bool told = strncmp(info.kind_note[kind], "not offered", 11) == 0;
            cr_assert_eq(told, (info.kinds & (1u << kind)) == 0, "%s", info.kind_note[kind]);
        }
        pretended_close(state);
    }
}

Test(level_zero_rules, a_device_is_described)
{
    memspan_device_info_t info;
    void *state = PRETENDED_OPEN("DEVICES=2");

    info = pretended_describe(state, 1);
    cr_assert_str_eq(info.name, "Pretended GPU 1");
    cr_assert_str_eq(info.vendor, "Intel Corporation");
    cr_assert_str_eq(info.pci_address, "0000:82:00.0");
    cr_assert_str_eq(info.uid, "6b6b6b6b-6b6b-6b6b-6b6b-6b6b6b000100");
    cr_assert_str_eq(info.driver, "Level Zero 1.3, driver 4711");
    cr_assert_eq(info.capacity_bytes, 256u << 20);
    cr_assert_eq(info.free_bytes, MEMSPAN_UNKNOWN, "this loader does not tell");
    pretended_close(state);
    state = PRETENDED_OPEN("LACKS=bus");
    cr_assert_str_empty(pretended_describe(state, 0).pci_address);
    cr_assert_eq(pretended.calls("zeDevicePciGetPropertiesExt"), 0u);
    pretended_close(state);
}

static void check_reach(const char *setting, memspan_kind_t kind, int from, memspan_access_t access,
                        memspan_coherence_t coherence)
{
    memspan_reach_t reach;
    void *state = PRETENDED_OPEN(setting);

    reach = table->reach(state, 0, kind, from);
    cr_assert((reach.access == access) && (reach.coherence == coherence), "%s, %s from %d: %s, %s",
              setting, memspan_kind_name(kind), from, memspan_access_name(reach.access),
              memspan_coherence_name(reach.coherence));
    pretended_close(state);
}

Test(level_zero_rules, who_reaches_what)
{
    check_reach("LACKS=", MEMSPAN_KIND_DEVICE, MEMSPAN_HOST, MEMSPAN_ACCESS_COPY,
                MEMSPAN_COHERENCE_NONE);
    check_reach("LACKS=", MEMSPAN_KIND_DEVICE, 0, MEMSPAN_ACCESS_LOCAL, MEMSPAN_COHERENCE_ATOMIC);
    check_reach("LACKS=", MEMSPAN_KIND_DEVICE, 1, MEMSPAN_ACCESS_REMOTE, MEMSPAN_COHERENCE_ATOMIC);
    check_reach("LACKS=p2patomics", MEMSPAN_KIND_DEVICE, 1, MEMSPAN_ACCESS_REMOTE,
                MEMSPAN_COHERENCE_CONCURRENT);
    check_reach("LACKS=peers", MEMSPAN_KIND_DEVICE, 1, MEMSPAN_ACCESS_COPY, MEMSPAN_COHERENCE_NONE);
    check_reach("ACCESS=f,3,3,1,0", MEMSPAN_KIND_MANAGED, MEMSPAN_HOST, MEMSPAN_ACCESS_FAULT,
                MEMSPAN_COHERENCE_SYNC);
    check_reach("ACCESS=f,3,f,7,0", MEMSPAN_KIND_MANAGED, 1, MEMSPAN_ACCESS_FAULT,
                MEMSPAN_COHERENCE_CONCURRENT);
    check_reach("ACCESS=f,3,f,0,0", MEMSPAN_KIND_MANAGED, 1, MEMSPAN_ACCESS_COPY,
                MEMSPAN_COHERENCE_NONE);
    check_reach("ACCESS=f,3,f,f,0", MEMSPAN_KIND_COHERENT, 1, MEMSPAN_ACCESS_FAULT,
                MEMSPAN_COHERENCE_ATOMIC);
    check_reach("ACCESS=7,3,f,f,0", MEMSPAN_KIND_HOST_PINNED, 1, MEMSPAN_ACCESS_REMOTE,
                MEMSPAN_COHERENCE_CONCURRENT);
    check_reach("FLAGS=1", MEMSPAN_KIND_HOST_PINNED, 0, MEMSPAN_ACCESS_LOCAL,
                MEMSPAN_COHERENCE_ATOMIC);
    check_reach("LACKS=", MEMSPAN_KIND_COHERENT, 0, MEMSPAN_ACCESS_NONE, MEMSPAN_COHERENCE_NONE);
}

/* Every GPU of Intel's seen so far reports 0x1 or 0x3, and keeps this memory coherent. */
Test(level_zero_rules, pinned_memory_by_the_users_word)
{
    static const struct {
        const char *reported;
        const char *choice;
        memspan_coherence_t coherence;
        unsigned atomics;
    } rows[] = {
        {"ACCESS=3,3,3,1,0", "MEMSPAN_LEVEL_ZERO_PINNED=reported", MEMSPAN_COHERENCE_SYNC, 0},
        {"ACCESS=1,3,3,1,0", "MEMSPAN_LEVEL_ZERO_PINNED=concurrent", MEMSPAN_COHERENCE_CONCURRENT,
         0},
        {"ACCESS=3,3,3,1,0", "MEMSPAN_LEVEL_ZERO_PINNED=atomic", MEMSPAN_COHERENCE_ATOMIC,
         MEMSPAN_CAN_HOST_ATOMICS},
        {"ACCESS=0,3,3,1,0", "MEMSPAN_LEVEL_ZERO_PINNED=atomic", MEMSPAN_COHERENCE_NONE, 0},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        memspan_device_info_t info;
        const char *note;
        void *state;

        state = PRETENDED_OPEN(rows[i].reported, rows[i].choice);
        info  = pretended_describe(state, 0);
        note  = info.kind_note[MEMSPAN_KIND_HOST_PINNED];
        cr_assert_eq(table->reach(state, 0, MEMSPAN_KIND_HOST_PINNED, MEMSPAN_HOST).coherence,
                     rows[i].coherence, "%s", rows[i].choice);
        cr_assert_eq(info.capabilities & MEMSPAN_CAN_HOST_ATOMICS, rows[i].atomics);
        /* How it is turned on, or the source. */
        cr_assert_eq(strstr(note, "MEMSPAN_LEVEL_ZERO_PINNED") != NULL, i < 3, "%s", note);
        pretended_close(state);
    }
}

Test(level_zero_rules, tiles_are_devices_when_asked)
{
    void *state = PRETENDED_OPEN("TILES=2");

    cr_assert_eq(table->device_count(state), 2);
    cr_assert_eq(pretended.calls("zeDeviceGetSubDevices"), 0u);
    pretended_close(state);
    state = PRETENDED_OPEN("TILES=2", "MEMSPAN_LEVEL_ZERO_TILES=each");
    cr_assert_eq(table->device_count(state), 4);
    cr_assert_str_neq(pretended_describe(state, 0).uid, pretended_describe(state, 1).uid);
    cr_assert_eq(table->reach(state, 0, MEMSPAN_KIND_DEVICE, 1).access, MEMSPAN_ACCESS_REMOTE);
    pretended_close(state);
    state = PRETENDED_OPEN("TILES=0", "MEMSPAN_LEVEL_ZERO_TILES=each");
    cr_assert_eq(table->device_count(state), 2, "a device without tiles stays one");
    pretended_close(state);
}

/* ---- allocating ---- */

Test(level_zero_rules, alignment_is_got_one_way_or_the_other)
{
    rules_check_alignment("LACKS=", "ACCESS=f,f,f,f,0");
    rules_check_alignment("LACKS=alignment", "ACCESS=f,f,f,f,0");
    rules_check_alignment("LIES=alignment", "ACCESS=f,f,f,f,0");
}

/* Drivers give shared memory beyond what there is, and the process dies when it touches it. */
Test(level_zero_rules, shared_memory_ends_where_memory_does)
{
    uint64_t host             = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_MANAGED, PRETENDED_BYTES);
    _Atomic uint64_t *given;
    memspan_block_t block;
    void *state = PRETENDED_OPEN("DEVICES=1");

    given = &((struct gpu_state *)state)->devices[0]->managed_bytes;
    OK(table->alloc(state, 0, &request, &block));
    cr_assert_geq(atomic_load(given), PRETENDED_BYTES);
    atomic_fetch_add(given, host);
    request.size_bytes = (size_t)1 << 28;
    cr_assert_eq(table->alloc(state, 0, &request, &(memspan_block_t){0}), MEMSPAN_ERR_NO_MEMORY);
    cr_assert_str_empty(memspan_error_last()->call, "the driver was asked");
    atomic_fetch_sub(given, host);
    pretended_give_back(state, 0, &block);
    cr_assert_eq(atomic_load(given), 0u);
    pretended_close(state);
}

Test(level_zero_rules, out_of_memory_in_the_drivers_words)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_DEVICE, 1 << 20);
    memspan_block_t none;
    void *state           = PRETENDED_OPEN("MEMORY=1048576");
    memspan_block_t block = pretended_take(state, 0, MEMSPAN_KIND_DEVICE);

    cr_assert_eq(table->alloc(state, 0, &request, &none), MEMSPAN_ERR_NO_MEMORY);
    cr_assert_str_eq(memspan_error_last()->call, "zeMemAllocDevice");
    cr_assert_eq(memspan_error_last()->native_code, 0x70000003);
    cr_assert_str_eq(memspan_error_last()->native_text, "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
    pretended_give_back(state, 0, &block);
    cr_assert_eq(driver.used(0), 0u);
    pretended_close(state);
}

Test(level_zero_rules, the_limit_is_relaxed_where_it_may_be)
{
    static const memspan_kind_t kinds[] = {MEMSPAN_KIND_DEVICE, MEMSPAN_KIND_HOST_PINNED,
                                           MEMSPAN_KIND_MANAGED};
    memspan_block_t block;
    void *state;

    for (size_t i = 0; i < 3; i++) {
        memspan_request_t request = pretended_ask(kinds[i], 1 << 20);

        state = PRETENDED_OPEN("LIMIT=65536");
        cr_assert_eq(pretended_describe(state, 0).alloc_max_bytes, 256u << 20);
        OK(table->alloc(state, 0, &request, &block));
        pretended_give_back(state, 0, &block);
        pretended_close(state);
        state = PRETENDED_OPEN("LIMIT=65536", "LACKS=relaxed");
        cr_assert_eq(pretended_describe(state, 0).alloc_max_bytes, 65536u);
        cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_NO_MEMORY);
        cr_assert_not_null(strstr(memspan_error_text(), "65536"), "%s", memspan_error_text());
        cr_assert_eq(pretended.calls("zeMemAllocDevice") + pretended.calls("zeMemAllocHost") +
                         pretended.calls("zeMemAllocShared"),
                     0u);
        pretended_close(state);
    }
}

Test(level_zero_rules, what_cannot_be_there_is_not_asked_for)
{
    static const memspan_kind_t kinds[] = {MEMSPAN_KIND_MANAGED, MEMSPAN_KIND_HOST_PINNED,
                                           MEMSPAN_KIND_COHERENT, MEMSPAN_KIND_DEVICE};
    int node                            = 0;
    memspan_block_t block;
    void *state = PRETENDED_OPEN("ACCESS=f,f,f,f,0");

    for (size_t i = 0; i < 4; i++) {
        memspan_request_t request = pretended_ask(kinds[i], (size_t)1 << 46);
        cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_NO_MEMORY);
        request            = pretended_ask(kinds[i], PRETENDED_BYTES);
        request.nodes      = &node;
        request.node_count = 1;
        request.flags      = MEMSPAN_REQUEST_STRICT;
        cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_UNSUPPORTED);
        request.flags = 0;
        OK(table->alloc(state, 0, &request, &block));
        pretended_give_back(state, 0, &block);
    }
    pretended_close(state);
}

Test(level_zero_rules, a_driver_that_gives_no_address)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_DEVICE, PRETENDED_BYTES);
    memspan_block_t block;
    void *state = PRETENDED_OPEN("LIES=null");

    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_DRIVER);
    cr_assert_str_eq(memspan_error_last()->call, "zeMemAllocDevice");
    cr_assert_not_null(strstr(memspan_error_text(), "no address"));
    table->close(state);
}

Test(level_zero_rules, preferred_location_is_advised)
{
    memspan_request_t request = pretended_ask(MEMSPAN_KIND_MANAGED, PRETENDED_BYTES);
    memspan_block_t block;
    void *state = PRETENDED_OPEN("DEVICES=2");

    OK(table->alloc(state, 0, &request, &block));
    cr_assert_eq(pretended.calls("zeCommandListAppendMemAdvise"), 0u);
    cr_assert((block.flags & MEMSPAN_BLOCK_MIGRATABLE) != 0);
    pretended_give_back(state, 0, &block);
    request.resident_ordinal = 1;
    OK(table->alloc(state, 0, &request, &block));
    cr_assert_eq(pretended.calls("zeCommandListAppendMemAdvise"), 1u);
    pretended_give_back(state, 0, &block);
    request.flags = MEMSPAN_REQUEST_PINNED;
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_ERR_UNSUPPORTED);
    pretended_close(state);
    state = PRETENDED_OPEN("FLAGS=1");
    cr_assert_eq(table->alloc(state, 0, &request, &block), MEMSPAN_OK,
                 "in the host's memory all stays");
    cr_assert((block.flags & MEMSPAN_BLOCK_PINNED) != 0);
    pretended_end(state, 0, &block);
}

/* ---- host pages ---- */

static void import_once(const char *setting, const char *call)
{
    void *pages = map_pages(8192);
    void *seen[2];
    void *cookies[2];
    void *cookie;
    int i;
    void *state = PRETENDED_OPEN(setting);

    cr_assert_eq(pretended_fill(state, 0, pages), MEMSPAN_ERR_DRIVER, "not in reach before");
    for (i = 0; i < 2; i++) {
        OK(table->import(state, i, pages, 8192, &seen[i], &cookies[i]));
        cr_assert_eq(seen[i], pages);
        OK(pretended_fill(state, i, pages));
    }
    cr_assert_eq(pretended.calls(call), 1u);
    cr_assert_eq(table->import(state, 0, (char *)pages + 4096, 4096, &seen[0], &cookie),
                 MEMSPAN_ERR_CONFLICT);
    OK(table->release(state, 0, pages, 8192, cookies[0]));
    cr_assert_eq(pretended_fill(state, 1, pages), MEMSPAN_OK, "the other still has them");
    OK(table->release(state, 1, pages, 8192, cookies[1]));
    cr_assert_eq(table->release(state, 1, pages, 8192, cookies[1]), MEMSPAN_ERR_NOT_FOUND);
    pretended_close(state);
    munmap(pages, 8192);
}

Test(level_zero_rules, pages_are_imported_once_for_all)
{
    import_once("IMPORT=intel", "zexDriverImportExternalPointer");
    import_once("IMPORT=memmap", "zeMemAllocHost");
}

static void import_elsewhere(const char *setting)
{
    void *pages = map_pages(4096);
    void *cookie;
    void *seen;
    void *state = PRETENDED_OPEN(setting, "LIES=pointer");

    cr_assert_eq(table->import(state, 0, pages, 4096, &seen, &cookie), MEMSPAN_ERR_UNSUPPORTED);
    cr_assert_not_null(strstr(memspan_error_text(), "sees host pages at"));
    pretended_close(state);
    munmap(pages, 4096);
}

Test(level_zero_rules, pages_seen_elsewhere_are_given_back)
{
    import_elsewhere("IMPORT=intel");
    import_elsewhere("IMPORT=memmap");
}

Test(level_zero_rules, pages_need_no_import_or_cannot_be_imported)
{
    void *pages  = map_pages(4096);
    void *cookie = pages;
    void *seen   = NULL;
    void *state  = PRETENDED_OPEN("ACCESS=f,3,3,1,f");

    OK(table->import(state, 0, pages, 4096, &seen, &cookie));
    cr_assert((seen == pages) && (cookie == NULL));
    cr_assert_eq(pretended.calls("zexDriverImportExternalPointer"), 0u);
    OK(pretended_fill(state, 0, pages));
    cr_assert_eq(table->fill(state, 0, NULL, pages, 9, 4096), MEMSPAN_OK, "by the host");
    cr_assert_eq(((char *)pages)[4095], 9);
    OK(table->release(state, 0, pages, 4096, cookie));
    pretended_close(state);
    state = PRETENDED_OPEN("IMPORT=none");
    cr_assert_eq(table->import(state, 0, pages, 4096, &seen, &cookie), MEMSPAN_ERR_UNSUPPORTED);
    pretended_close(state);
    munmap(pages, 4096);
}

/* ---- addresses ---- */

Test(level_zero_rules, what_is_at_an_address)
{
    static const memspan_kind_t kinds[] = {MEMSPAN_KIND_NONE, MEMSPAN_KIND_HOST_PINNED,
                                           MEMSPAN_KIND_DEVICE, MEMSPAN_KIND_MANAGED};
    memspan_pointer_facts_t facts;
    memspan_block_t ours;
    int on_stack = 0;
    int type;
    void *state = PRETENDED_OPEN("DEVICES=2");

    cr_assert_eq(table->pointer_describe(state, &on_stack, &facts), MEMSPAN_ERR_NOT_FOUND);
    for (type = LZ_MEMORY_TYPE_HOST; type <= LZ_MEMORY_TYPE_SHARED; type++) {
        char *theirs = driver.foreign(type, 5000);
        OK(table->pointer_describe(state, theirs + 17, &facts));
        cr_assert_eq(facts.kind, kinds[type]);
        cr_assert_eq(facts.ordinal, (type == LZ_MEMORY_TYPE_HOST) ? MEMSPAN_HOST : 0);
        cr_assert_eq(facts.resident_ordinal, (type == LZ_MEMORY_TYPE_DEVICE) ? 0 : MEMSPAN_HOST);
        cr_assert((facts.base == theirs) && (facts.size_bytes == 5000));
        driver.foreign_free(theirs);
    }
    ours = pretended_take(state, 1, MEMSPAN_KIND_DEVICE);
    cr_assert_eq(table->pointer_describe(state, ours.address, &facts), MEMSPAN_ERR_NOT_FOUND);
    cr_assert_eq(table->prefetch(state, 1, NULL, ours.address, 5000, 0), MEMSPAN_ERR_UNSUPPORTED);
    pretended_end(state, 1, &ours);
}

Test(level_zero_rules, memory_moves_to_devices_only)
{
    void *state           = PRETENDED_OPEN("DEVICES=2");
    memspan_block_t block = pretended_take(state, 0, MEMSPAN_KIND_MANAGED);

    OK(table->prefetch(state, 0, NULL, block.address, 4096, 0));
    OK(table->prefetch(state, 0, NULL, block.address, 4096, 1));
    cr_assert_eq(table->prefetch(state, 0, NULL, block.address, 4096, 2), MEMSPAN_ERR_NOT_FOUND);
    cr_assert_eq(table->prefetch(state, 0, NULL, block.address, 4096, MEMSPAN_HOST),
                 MEMSPAN_ERR_UNSUPPORTED);
    pretended_end(state, 0, &block);
}
