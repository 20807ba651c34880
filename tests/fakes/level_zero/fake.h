/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_TESTS_FAKES_LEVEL_ZERO_FAKE_H
#define MEMSPAN_TESTS_FAKES_LEVEL_ZERO_FAKE_H

/* A pretended Level Zero driver, written against the driver's own headers and loaded by the real
 * loader: what it keeps. Device memory has two views: the one whose address is returned cannot be
 * touched by the host, the other is the fake's. Work is done as late as it may be, and between two
 * barriers in the reverse of the order in which it was asked for, since no other is promised.
 * Kernels are run from the SPIR-V that they are given as. One lock guards everything.
 *
 * Environment, read by fake_ze_reset() and at the first call:
 *   FAKE_ZE_DRIVERS=n, FAKE_ZE_DEVICES=n (of each), FAKE_ZE_TILES=n (of each device)
 *   FAKE_ZE_MEMORY=bytes of each device, FAKE_ZE_LIMIT=bytes of one allocation
 *   FAKE_ZE_ACCESS=host,device,single,cross,system: capabilities, in hexadecimal
 *   FAKE_ZE_FLAGS=flags of each device, FAKE_ZE_TYPE=type of each
 *   FAKE_ZE_LACKS=word[,...] of: fp64 peers p2patomics relaxed bus ipc dmabuf alignment
 *   FAKE_ZE_IMPORT=intel|memmap|none: how host pages get in
 *   FAKE_ZE_IPC=plain|opaque: whether handles name their process, whose descriptor the driver then
 *   fetches itself
 *   FAKE_ZE_ADDRESSES=low|dg2|pvc: device memory below 2^48, or at canonical addresses of 48 or 57
 *   bits, as Intel's discrete devices have it
 *   FAKE_ZE_FAIL_AT=n: the n-th call fails; FAKE_ZE_FAIL_CALL=name: that call always fails;
 *   FAKE_ZE_FAIL_CODE=code: with what (unknown)
 *   FAKE_ZE_LOST_AT=n: from the n-th call on the device is lost
 *   FAKE_ZE_LIES=pointer|alignment|dmabuf|null: the driver promises that, and then it cannot
 *   FAKE_ZE_HANG=1: zeInit() does not return */

#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>
#include <stdbool.h>
#include <stdint.h>

enum { FAKE_DRIVERS_MAX = 2, FAKE_DEVICES_MAX = 4, FAKE_TILES_MAX = 4, FAKE_SPIRV_WORDS = 512 };

struct _ze_driver_handle_t {
    int index;
};

struct _ze_device_handle_t {
    struct _ze_driver_handle_t *driver;
    struct _ze_device_handle_t *parent; /* of a tile */
    int index;                          /* among the driver's, or the parent's */
    size_t used;
};

struct _ze_context_handle_t {
    struct _ze_driver_handle_t *driver;
    int children; /* lists, pools, modules, memory */
};

enum fake_kind { FAKE_DEVICE = 1, FAKE_HOST, FAKE_SHARED, FAKE_IMPORTED };

struct fake_memory {
    struct fake_memory *next;
    enum fake_kind kind;
    ze_context_handle_t context; /* NULL: pages in the driver's table */
    ze_driver_handle_t driver;
    ze_device_handle_t device; /* whose it is, or NULL */
    uintptr_t base;            /* the address that is returned */
    void *room;                /* what keeps others away from it: the address below 2^48 */
    size_t size;
    size_t mapped; /* bytes of the views */
    char *bytes;   /* the fake's own view of base */
    int fd;        /* what both views show, or -1 */
    int shared_fd; /* exported in a handle, or -1: the driver's */
    int export_fd; /* exported as a dma-buf, or -1: the driver's */
    bool exports;
    bool opened; /* another process's */
};

struct _ze_event_pool_handle_t {
    ze_context_handle_t context;
    uint32_t count;
    int events;
};

struct _ze_event_handle_t {
    ze_event_pool_handle_t pool;
    bool signalled;
    int pending; /* commands that will signal it */
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
};

struct _ze_command_list_handle_t {
    struct _ze_command_list_handle_t *next;
    ze_context_handle_t context;
    ze_device_handle_t device;
    struct fake_command *first;
};

struct fake {
    bool ready;
    bool initialised;
    bool lost;
    bool hang;
    int driver_count;
    int device_count; /* of each driver */
    int tile_count;   /* of each device */
    size_t capacity;
    size_t limit;
    uint32_t access[5];
    uint32_t flags;
    uint32_t type;
    char lacks[96];
    char import[16];
    char lies[32];
    char ipc[16];
    uintptr_t high; /* bits of every address of device memory */
    int calls;
    int fail_at;
    int lost_at;
    char fail_call[64];
    uint32_t fail_code;
    ze_result_t forced; /* what the call that is being done will answer in spite of it */
    char failed[64];
    char violation[256];
    struct _ze_driver_handle_t drivers[FAKE_DRIVERS_MAX];
    struct _ze_device_handle_t devices[FAKE_DRIVERS_MAX][FAKE_DEVICES_MAX];
    struct _ze_device_handle_t tiles[FAKE_DRIVERS_MAX][FAKE_DEVICES_MAX][FAKE_TILES_MAX];
    struct fake_memory *memory;
    ze_command_list_handle_t lists;
    int objects; /* contexts, pools, events, modules, logs, kernels */
    int imports; /* pages in a driver's table */
    bool shared_closed;
};
extern struct fake fake;

enum {
    FAKE_HOST_ACCESS,
    FAKE_DEVICE_ACCESS,
    FAKE_SINGLE_ACCESS,
    FAKE_CROSS_ACCESS,
    FAKE_SYSTEM_ACCESS
};

/* Every driver call: BEGIN first, and return fake_leave(code). */
ze_result_t fake_enter(const char *name, bool releases);
ze_result_t fake_leave(ze_result_t code);
#define BEGIN(name)                                                                                \
    do {                                                                                           \
        ze_result_t code_ = fake_enter((name), false);                                             \
        if (code_ != ZE_RESULT_SUCCESS) {                                                          \
            return code_;                                                                          \
        }                                                                                          \
    } while (0)
/* A call that gives something back does it even when it is made to fail: what it answers then is
 * the failure of something earlier. */
#define BEGIN_RELEASE(name) (void)fake_enter((name), true)

void fake_broken(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool fake_lies(const char *about);
bool fake_lacks(const char *what);
/* A descriptor must say what it is. */
void fake_check_type(uint32_t found, uint32_t wanted, const char *where);

/* Memory. */
struct fake_memory *fake_find(uintptr_t address);
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
#define FAKE_API __attribute__((visibility("default")))
FAKE_API void fake_ze_reset(void);
FAKE_API const char *fake_ze_failed_call(void);
FAKE_API const char *fake_ze_violation(void);
FAKE_API int fake_ze_live(void);
FAKE_API unsigned fake_ze_calls(const char *name);
FAKE_API unsigned long long fake_ze_used(int device);
/* An allocation that is not the backend's: of that type, on device 0 of driver 0. */
FAKE_API void *fake_ze_foreign(int type, size_t size);
FAKE_API void fake_ze_foreign_free(void *pointer);

#endif /* MEMSPAN_TESTS_FAKES_LEVEL_ZERO_FAKE_H */
