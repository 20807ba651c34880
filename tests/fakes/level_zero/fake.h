/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_FAKES_LEVEL_ZERO_FAKE_H
#define MEMSPAN_TESTS_FAKES_LEVEL_ZERO_FAKE_H

/* A pretended Level Zero driver, written against the driver's own headers and loaded by the real
 * loader: the front of tests/fakes/gpu. Work is done as late as it may be, and between two barriers
 * in the reverse of the order in which it was asked for, since no other is promised. Kernels are
 * run from the SPIR-V that they are given as. Its environment begins with FAKE_ZE_, and has
 * besides:
 *   DRIVERS=n, DEVICES=n (of each), TILES=n (of each device)
 *   LIMIT=bytes of one allocation
 *   ACCESS=host,device,single,cross,system: capabilities, in hexadecimal
 *   FLAGS=flags of each device, TYPE=type of each
 *   LACKS=word[,...] of: fp64 peers p2patomics relaxed bus ipc dmabuf alignment contexts (events
 *   in lists of another context)
 *   IMPORT=intel|memmap|none: how host pages get in
 *   IPC=plain|opaque: whether handles name their process, whose descriptor the driver then fetches
 *   itself
 *   ADDRESSES=low|dg2|pvc: device memory below 2^48, or at canonical addresses of 48 or 57 bits, as
 *   Intel's discrete devices have it
 *   LIES=pointer|alignment|dmabuf|null */

#include "tests/fakes/gpu/gpu.h"
#include "tests/queue/judge.h"
#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>

enum { FAKE_DRIVERS_MAX = 2, FAKE_GPUS_MAX = 4, FAKE_TILES_MAX = 4, FAKE_SPIRV_WORDS = 512 };

struct _ze_driver_handle_t {
    int index;
};

struct _ze_device_handle_t {
    struct _ze_driver_handle_t *driver;
    struct _ze_device_handle_t *parent; /* of a tile */
    int index;                          /* among the driver's, or the parent's */
    int number;                         /* among all */
};

struct _ze_context_handle_t {
    struct _ze_driver_handle_t *driver;
    int children; /* lists, pools, modules, memory */
};

struct _ze_event_pool_handle_t {
    ze_context_handle_t context;
    ze_device_handle_t device; /* whose lists may use its events; NULL: all of the driver's */
    uint32_t count;
    uint64_t used; /* bit for each event */
    int events;
};

struct _ze_event_handle_t {
    struct _ze_event_handle_t *next;
    ze_event_pool_handle_t pool;
    uint32_t index;
    ze_event_scope_flags_t signal; /* what sees its work when it is signalled */
    bool signalled;
    int pending;              /* commands that will signal it */
    int waits;                /* commands that wait for it */
    int queries;              /* without an answer */
    struct order_clock clock; /* of the barrier that signals it */
};

struct _ze_module_handle_t {
    ze_context_handle_t context;
    ze_device_handle_t device;
    uint32_t words[FAKE_SPIRV_WORDS];
    size_t count;
    int kernels;
};

struct _ze_module_build_log_handle_t {
    char text[64];
};

struct _ze_kernel_handle_t {
    ze_module_handle_t module;
    uint32_t group;
    uint32_t indirect;
    unsigned set; /* bit for each argument */
    uint64_t arguments[5];
};

struct fake_command {
    struct fake_command *next;
    enum { FAKE_COPY, FAKE_FILL, FAKE_LAUNCH, FAKE_MOVE, FAKE_BARRIER } what;
    uintptr_t to;
    uintptr_t from;
    size_t size;
    unsigned char byte;
    ze_module_handle_t module; /* a copy: the kernel may be destroyed by then */
    uint32_t indirect;
    uint64_t work_items;
    uint64_t arguments[5];
    ze_event_handle_t event;
    ze_event_handle_t awaited;
};

struct _ze_command_list_handle_t {
    struct _ze_command_list_handle_t *next;
    ze_context_handle_t context;
    ze_device_handle_t device;
    struct fake_command *first;
    struct order_stream order;
};

struct fake {
    int driver_count;
    int tile_count; /* of each device */
    size_t limit;
    uint32_t access[5];
    uint32_t flags;
    uint32_t type;
    char import[16];
    char ipc[16];
    uintptr_t high; /* bits of every address of device memory */
    struct _ze_driver_handle_t drivers[FAKE_DRIVERS_MAX];
    struct _ze_device_handle_t devices[FAKE_DRIVERS_MAX][FAKE_GPUS_MAX];
    struct _ze_device_handle_t tiles[FAKE_DRIVERS_MAX][FAKE_GPUS_MAX][FAKE_TILES_MAX];
    ze_command_list_handle_t lists;
    ze_event_handle_t events;
};
extern struct fake fake;

enum {
    FAKE_HOST_ACCESS,
    FAKE_DEVICE_ACCESS,
    FAKE_SINGLE_ACCESS,
    FAKE_CROSS_ACCESS,
    FAKE_SYSTEM_ACCESS
};

/* A descriptor must say what it is. */
void fake_check_type(uint32_t found, uint32_t wanted, const char *where);

/* An object of a context's or, for NULL, of another object's; and the end of the call by which it
 * goes. */
void *fake_fresh(size_t size, ze_context_handle_t context);
ze_result_t fake_gone(void *object, ze_context_handle_t context);

/* The device of that number; NULL: none. */
ze_device_handle_t fake_device(int number);

/* Memory. */
/* Where the fake reads what a kernel of that device reads at @p address; NULL: it may not. */
void *fake_reach(ze_device_handle_t device, uintptr_t address, size_t size);
/* Where a copy on that device reads or writes; unknown memory is the host's. NULL: it may not. */
void *fake_any(ze_device_handle_t device, uintptr_t address, size_t size);
/* Shared memory is the host's again, or not. */
void fake_shared_open(bool open);
bool fake_peers(ze_device_handle_t from, ze_device_handle_t home);

/* Work. */
bool fake_busy(void);
/* Some command that has not been done names that memory. */
bool fake_is_used(const struct fake_memory *memory);
/* Do what an event waits for. */
ze_result_t fake_run_until(ze_event_handle_t event);
/* event.c: whether a command of that list may name the event. */
bool fake_takes_event(ze_command_list_handle_t list, ze_event_handle_t event);

/* spirv.c: what is wrong with a module, or NULL; and one work-item of it. */
bool fake_spirv_has_fp64(const uint32_t *words, size_t count);
const char *fake_spirv_check(const uint32_t *words, size_t count, const char *name);
ze_result_t fake_spirv_run(ze_device_handle_t device, const struct fake_command *command,
                           uint64_t work_item);

/* The tables that the loader asks for. */
void fake_fill_global(ze_global_dditable_t *table);
void fake_fill_driver(ze_driver_dditable_t *table);
void fake_fill_device(ze_device_dditable_t *table);
void fake_fill_context(ze_context_dditable_t *table);
void fake_fill_list(ze_command_list_dditable_t *table);
void fake_fill_event_pool(ze_event_pool_dditable_t *table);
void fake_fill_event(ze_event_dditable_t *table);
void fake_fill_mem(ze_mem_dditable_t *table);
void fake_fill_module(ze_module_dditable_t *table);
void fake_fill_build_log(ze_module_build_log_dditable_t *table);
void fake_fill_kernel(ze_kernel_dditable_t *table);

/* Intel's own calls, found by name. */
ze_result_t fake_find_function(const char *name, void **address_p);

/* For the tests. */
/* An allocation that is not the backend's: of that type, on device 0 of driver 0. */
FAKE_API void *fake_ze_foreign(int type, size_t size);
FAKE_API void fake_ze_foreign_free(void *pointer);

#endif /* MEMSPAN_TESTS_FAKES_LEVEL_ZERO_FAKE_H */
