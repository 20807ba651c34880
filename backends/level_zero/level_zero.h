/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BACKENDS_LEVEL_ZERO_H
#define MEMSPAN_BACKENDS_LEVEL_ZERO_H

/* The records of the Level Zero backend. A loader may have several drivers, and each has a context
 * of ours; memory belongs to its driver's context, and reaches all of that driver's devices that
 * the driver says it does. Between drivers there are only copies, through host memory.
 *
 * A queue is an immediate command list. Level Zero promises no order between the commands of a
 * list, so each command of ours is followed by a barrier. Waiting is a barrier that signals an
 * event, of which each queue has a few.
 *
 * Locks: lz_queue::lock guards a list (the driver wants one thread at a time) and its events,
 * lz_device::lock what is made later on (the device's own queue, kernels) and a kernel's arguments
 * until it is started; it comes before a queue's. lz_state::lock guards the lists of blocks and of
 * queues and comes last. The driver is called under the first two, and never calls back. */

#include "backends/gpu/kernel_name.h"
#include "backends/level_zero/level_zero_api.h"
#include <memspan/backend.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define LZ_NAME "level_zero"

/* How a block was made, and so how it is given back. */
enum lz_made {
    LZ_MADE_DEVICE, /* zeMemAllocDevice */
    LZ_MADE_HOST,   /* zeMemAllocHost */
    LZ_MADE_SHARED, /* zeMemAllocShared */
    LZ_MADE_OPENED  /* zeMemOpenIpcHandle */
};

/* The backend's own about a block: memspan_block_t::cookie. */
struct lz_block {
    struct lz_block *next; /* lz_state::blocks */
    struct lz_driver *driver;
    struct lz_device *device;
    enum lz_made made;
    char *base; /* what the driver gave; the block may start later */
    size_t size_bytes;
    bool exportable; /* taken to be exported as a dma-buf */
    bool has_handle; /* given to others while the block lives; lz_state::lock */
    lz_ipc_handle_t handle;
};

enum { LZ_QUEUE_EVENTS = 8 };

/* An immediate command list, and the events by which it is waited for. */
struct lz_queue {
    struct lz_queue *next; /* lz_state::queues, the newest first */
    unsigned long long id; /* they ascend */
    struct lz_device *device;
    lz_list_h list;
    lz_event_pool_h pool;
    lz_event_h events[LZ_QUEUE_EVENTS];
    bool taken[LZ_QUEUE_EVENTS];
    int broken;          /* taken for good: the driver failed during a wait */
    atomic_ullong asked; /* commands so far */
    atomic_ullong done;  /* of these, how many were waited for */
    int users;           /* who waits for it without owning it; lz_state::lock */
    void *scratch;       /* partial sums; NULL until first needed; the device's lock */
    pthread_mutex_t lock;
    pthread_cond_t event_free;
    pthread_cond_t unused; /* with lz_state::lock */
};

/* A compiled kernel: each is a module of its own, so that only what is used is compiled. */
struct lz_kernel {
    lz_module_h module;
    lz_kernel_h kernel;
};

/* What the driver answered about a device, once. */
struct lz_facts {
    bool integrated;
    bool fp64;
    bool dmabuf; /* its memory can be exported as one */
    uint64_t alloc_max_bytes;
    uint32_t group_size_max;
    uint32_t group_count_max;
    uint32_t queue_group; /* ordinal of the group that queues are made in */
    bool host_claimed;    /* some of the next comes from MEMSPAN_LEVEL_ZERO_PINNED */
    uint32_t host_access; /* ZE_MEMORY_ACCESS_CAP_FLAG_*, by where the memory is from */
    uint32_t device_access;
    uint32_t shared_access;
    uint32_t cross_access; /* shared memory whose home is another device */
    uint32_t system_access;
};

struct lz_device {
    struct lz_state *state;
    struct lz_driver *driver;
    lz_device_h handle;
    int ordinal;
    int parent;                 /* position of its root device among the driver's; for messages */
    memspan_device_info_t info; /* all but free_bytes */
    uint8_t uuid[16];
    struct lz_facts facts;
    _Atomic uint64_t managed_bytes; /* shared memory: given and not given back */
    pthread_mutex_t lock;
    struct lz_queue *queue; /* the device's own, made when first needed */
    struct lz_kernel kernels[GPU_KERNEL_COUNT];
    lz_sysman_memory_h *memories; /* what is asked for free memory; NULL: unknown */
    uint32_t memory_count;
};

/* Intel's calls for host pages, which are no part of the specification: taken from the driver
 * itself, so that they want the driver's own handle. */
struct lz_import_calls {
    lz_driver_h handle;
    lz_result_t (*import)(lz_driver_h, void *, size_t);
    lz_result_t (*release)(lz_driver_h, void *);
    lz_result_t (*base)(lz_driver_h, void *, void **);
};

/* How host pages get into a driver's tables. */
enum lz_import_way { LZ_IMPORT_NO = 0, LZ_IMPORT_MEMMAP, LZ_IMPORT_INTEL };

struct lz_driver {
    struct lz_state *state;
    lz_driver_h handle;
    lz_driver_h own_handle; /* the same, by the driver's own word; NULL: unknown */
    lz_context_h context;
    uint32_t version; /* of the interface */
    uint32_t build;   /* the driver's own number */
    bool shares;      /* memory, with other processes */
    bool relaxed;     /* blocks above its usual limit can be asked for */
    bool tells_bus;
    enum lz_import_way import_way;
    struct lz_import_calls import;
};

/* Host pages in a driver's tables, for all its devices at once. */
struct lz_import {
    struct lz_import *next; /* lz_state::imports */
    struct lz_driver *driver;
    char *address;
    size_t size_bytes;
    int references;
};

/* How a device reaches another's memory. */
enum lz_peer { LZ_PEER_NO = 0, LZ_PEER_YES, LZ_PEER_ATOMIC };

struct lz_state {
    const memspan_services_t *services;
    struct lz_calls ze;
    void *library;
    pid_t pid; /* the process that opened it: drivers do not survive fork() */
    struct lz_driver *drivers;
    uint32_t driver_count;
    struct lz_device *devices;
    int device_count;
    int device_room;
    enum lz_peer *peers;         /* [from * device_count + home] */
    pthread_mutex_t import_lock; /* before lock; the driver is called under it */
    struct lz_import *imports;
    pthread_mutex_t lock;
    struct lz_block *blocks; /* all of ours */
    struct lz_block *kept;   /* given back by the library, and perhaps still used by a device */
    struct lz_queue *queues; /* all of ours */
    unsigned long long queue_ids;
};

/* status.c: errors. */

/* Record that @p call answered @p code while doing what the format says; returns the status that
 * fits the code. */
memspan_status_t lz_error(const struct lz_state *state, const char *call, lz_result_t code,
                          const char *format, ...) __attribute__((format(printf, 4, 5), cold));

/* Record a failure that no driver call reported. */
memspan_status_t lz_refuse(const struct lz_state *state, memspan_status_t status, const char *hint,
                           const char *format, ...) __attribute__((format(printf, 4, 5), cold));

/* Log that a call failed whose failure the caller need not know of. */
void lz_log_failure(const struct lz_state *state, const char *call, lz_result_t code,
                    const char *what);

/* device.c: drivers and what devices they show. */

/* The device of an ordinal; refuses unknown ones, and forked children. */
memspan_status_t lz_device_get(void *state, int ordinal, struct lz_device **device_p);

memspan_status_t lz_devices_find(struct lz_state *state);
/* Give up what was made on the devices. In a forked child only our own records. */
void lz_devices_drop(struct lz_state *state);
enum lz_peer lz_peer_get(const struct lz_state *state, int from, int home);
/* The ordinal of a driver's handle, or MEMSPAN_HOST. */
int lz_device_find(const struct lz_state *state, lz_device_h handle);

/* describe.c: what a device is. */

memspan_status_t lz_device_fill(struct lz_device *device);
memspan_status_t lz_device_describe(void *state, int ordinal, memspan_device_info_t *info_p);

/* sysman.c: how much memory is free. */

/* Find the handles to ask; without any, free memory is unknown. */
void lz_sysman_find(struct lz_state *state);
uint64_t lz_sysman_free(const struct lz_device *device);

/* kinds.c: which kinds of memory it offers, and who reaches them. */

void lz_device_fill_kinds(struct lz_device *device);

/* capability.c: what it can do, and who says so. */

void lz_device_fill_capabilities(struct lz_device *device);
void lz_reach_source(void *state, int home, memspan_kind_t kind, int from, char *text, size_t size);

/* kinds.c, continued. */

memspan_reach_t lz_reach(void *state, int home, memspan_kind_t kind, int from);

/* alloc.c: memory. */

memspan_status_t lz_alloc(void *state, int ordinal, const memspan_request_t *request,
                          memspan_block_t *block_p);
memspan_status_t lz_free(void *state, int ordinal, const memspan_block_t *block);

/* Give back what was kept, when no queue is left. */
void lz_kept_drop(struct lz_state *state);

void lz_block_insert(struct lz_state *state, struct lz_block *block);
/* Which block of ours holds @p pointer: a copy of its record; false where none does. */
bool lz_block_find(struct lz_state *state, const void *pointer, struct lz_block *block_p);

/* import.c: host pages in the driver's tables. */

void lz_import_find(struct lz_driver *driver, const struct lz_state *state, bool has_memmap);
bool lz_import_can(const struct lz_device *device);
/* The source of that. */
const char *lz_import_words(const struct lz_device *device);
memspan_status_t lz_import(void *state, int ordinal, void *address, size_t size_bytes,
                           void **address_p, void **cookie_p);
memspan_status_t lz_release(void *state, int ordinal, void *address, size_t size_bytes,
                            void *cookie);

/* pointer.c: what the driver knows of an address. */

struct lz_pointer {
    uint32_t type; /* ZE_MEMORY_TYPE_* */
    uint64_t page_size_bytes;
    lz_device_h device;
};
memspan_status_t lz_pointer_ask(const struct lz_state *state, const struct lz_driver *driver,
                                const void *pointer, struct lz_pointer *answer_p);
memspan_status_t lz_pointer_describe(void *state, const void *pointer,
                                     memspan_pointer_facts_t *facts_p);

/* queue.c: command lists. */

/* @p queue, or the device's own for NULL. */
memspan_status_t lz_queue_get(struct lz_device *device, void *queue, struct lz_queue **queue_p);
/* A command of ours is in the list: order the next one after it. The queue's lock held. */
memspan_status_t lz_queue_order(struct lz_queue *queue);
memspan_status_t lz_queue_wait(struct lz_queue *queue);
/* Wait for all queues of a driver, or only those of a device if that is not NULL. */
memspan_status_t lz_queues_wait(const struct lz_driver *driver, const struct lz_device *device);
/* True when nothing of a driver's runs any more, or ever will; *status_p is what waiting for it
 * said first. */
bool lz_queues_settle(const struct lz_driver *driver, memspan_status_t *status_p);
/* Room for partial sums on it. The device's lock held. */
memspan_status_t lz_queue_need_scratch(struct lz_queue *queue, size_t size_bytes);
void lz_queue_drop(struct lz_queue *queue);
memspan_status_t lz_queue_create(void *state, int ordinal, void **queue_p);
memspan_status_t lz_queue_destroy(void *state, int ordinal, void *queue);

/* transfer.c: work. */

memspan_status_t lz_copy(void *state, int ordinal, void *queue, void *to, const void *from,
                         size_t size_bytes);
memspan_status_t lz_fill(void *state, int ordinal, void *queue, void *to, unsigned char byte,
                         size_t size_bytes);
memspan_status_t lz_synchronize(void *state, int ordinal, void *queue);
memspan_status_t lz_prefetch(void *state, int ordinal, void *queue, const void *pointer,
                             size_t size_bytes, int to);
/* Tell the driver where shared memory is to live. */
memspan_status_t lz_advise(struct lz_device *device, const struct lz_device *where, void *pointer,
                           size_t size_bytes);

/* spirv.c, kernel.c: the built-in kernels. */

enum { LZ_SPIRV_WORDS = 512, LZ_GROUP_THREADS = 256 };

/* A module, and the name of its one kernel. */
struct lz_spirv {
    uint32_t words[LZ_SPIRV_WORDS];
    size_t count;
    bool fp64; /* the device must compute in double precision */
    char name[48];
};

/* The module of the kernel at that place, whose name is set. False: it does not fit. */
bool lz_spirv_write(int place, struct lz_spirv *module_p);

memspan_status_t lz_launch(void *state, int ordinal, void *queue,
                           const memspan_kernel_call_t *call);
void lz_kernels_drop(struct lz_device *device);

/* share.c: other processes and network cards. */

/* The driver is done with what was given to others of this block. */
void lz_share_forget(struct lz_block *block);
memspan_status_t lz_ipc_export(void *state, int ordinal, const memspan_block_t *block, void *token,
                               size_t *token_size_p);
memspan_status_t lz_ipc_import(void *state, int ordinal, const void *token, size_t token_size,
                               memspan_block_t *block_p);
memspan_status_t lz_ipc_close(void *state, int ordinal, const memspan_block_t *block);
memspan_status_t lz_dmabuf_export(void *state, int ordinal, const void *address, size_t size_bytes,
                                  int *fd_p, uint64_t *offset_p);

#endif /* MEMSPAN_BACKENDS_LEVEL_ZERO_H */
