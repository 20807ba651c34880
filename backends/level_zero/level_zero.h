/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BACKENDS_LEVEL_ZERO_H
#define MEMSPAN_BACKENDS_LEVEL_ZERO_H

/* The records of the Level Zero backend; backends/gpu has what it shares with others. A loader may
 * have several drivers, and each has a context of ours; memory belongs to its driver's context, and
 * reaches all of that driver's devices that the driver says it does. Between drivers there are only
 * copies, through host memory.
 *
 * A queue is an immediate command list. Level Zero promises no order between the commands of a
 * list, so each command of ours is followed by a barrier. Waiting is a barrier that signals an
 * event.
 *
 * Locks: lz_stream::lock guards a list (the driver wants one thread at a time); gpu_device::lock
 * guards a kernel's arguments until it is started, too, and comes before it. lz_driver::lock guards
 * the events. lz_state::lock comes last. */

#include "backends/gpu/gpu.h"
#include "backends/level_zero/level_zero_api.h"

struct lz_block {
    struct gpu_block gpu;
    bool exportable; /* taken to be exported as a dma-buf */
    bool has_handle; /* given to others while the block lives; lz_state::lock */
    lz_ipc_handle_t handle;
};

/* gpu_queue::stream: an immediate command list. */
struct lz_stream {
    struct lz_stream *next; /* lz_state::streams, the newest first */
    unsigned long long id;  /* they ascend */
    struct lz_device *device;
    lz_list_h list;
    bool adopted;        /* the list is the program's */
    void *scratch_event; /* adopted: the end of the last kernel that uses the scratch, or NULL */
    atomic_ullong asked; /* commands so far */
    atomic_ullong done;  /* of these, how many were waited for */
    int users;           /* who waits for it without owning it; lz_state::lock */
    pthread_mutex_t lock;
    pthread_cond_t unused; /* with lz_state::lock */
};

/* A compiled kernel: each is a module of its own, so that only what is used is compiled. */
struct lz_kernel {
    lz_module_h module;
    lz_kernel_h kernel;
};

/* What the driver answered about a device, once. */
struct lz_facts {
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
    struct gpu_device gpu;
    struct lz_driver *driver;
    lz_device_h handle;
    uint8_t uuid[16];
    struct lz_facts facts;
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
enum lz_import_method { LZ_IMPORT_NO = 0, LZ_IMPORT_MEMMAP, LZ_IMPORT_INTEL };

struct lz_pool;

/* An event of the driver, for one barrier at a time. */
struct lz_signal {
    struct lz_signal *next;    /* lz_driver::unused, or ::watched */
    struct lz_signal *older;   /* lz_driver::signals */
    struct lz_signal *awaited; /* not reset before this one is signalled; or NULL */
    lz_event_h handle;
    int users; /* the event that names it, and waits for it */
};

struct lz_driver {
    struct gpu_state *state;
    lz_driver_h handle;
    lz_driver_h own_handle; /* the same, by the driver's own word; NULL: unknown */
    lz_context_h context;
    uint32_t version; /* of the interface */
    uint32_t build;   /* the driver's own number */
    bool shares;      /* memory, with other processes */
    bool relaxed;     /* blocks above its usual limit can be asked for */
    bool tells_bus;
    enum lz_import_method import_method;
    struct lz_import_calls import;
    pthread_mutex_t lock; /* what follows: event.c */
    struct lz_pool *pools;
    struct lz_signal *signals; /* all of them */
    struct lz_signal *unused;
    struct lz_signal *watched; /* until they are signalled; in turns */
    struct lz_signal *last;    /* of these */
};

/* A device that is listed before its record is made. */
struct lz_found {
    struct lz_driver *driver;
    lz_device_h handle;
};

struct lz_state {
    struct gpu_state gpu;
    struct lz_calls ze;
    struct lz_driver *drivers;
    uint32_t driver_count;
    struct lz_found *found; /* in the devices' order */
    int found_count;
    bool *peer_atomics;        /* [from * device_count + home] */
    pthread_mutex_t lock;      /* the streams, and what blocks are shared by */
    struct lz_stream *streams; /* all of ours */
    unsigned long long stream_ids;
};

static inline struct lz_state *lz_state(const struct gpu_state *state)
{
    return (struct lz_state *)(uintptr_t)state;
}

static inline const struct lz_calls *lz_calls(const struct gpu_state *state)
{
    return &lz_state(state)->ze;
}

static inline struct lz_device *lz_device(const struct gpu_device *device)
{
    return (struct lz_device *)(uintptr_t)device;
}

/* The calls, of a device of ours. */
#define LZ(device) lz_calls((device)->gpu.state)

static inline struct lz_block *lz_block(struct gpu_block *block)
{
    return (struct lz_block *)block;
}

#define LZ_ANSWER(name, code) ((gpu_result_t){(name), (int)(code)})
/* Of an operation that has recorded its own failure. */
#define LZ_RECORDED(status)                                                                        \
    ((gpu_result_t){"", ((status) == MEMSPAN_OK) ? GPU_SUCCESS : GPU_RECORDED})

/* status.c: the meaning of answers. */

extern const struct gpu_meaning lz_meanings[];
void lz_explain(const struct gpu_state *state, int code, const char **name_p, const char **words_p);

/* device.c: drivers and their devices; these are rows of gpu_driver. */

memspan_status_t lz_devices_find(struct gpu_state *state);
/* Record the answer: the loader answers alike without a driver, and where a driver has no device.
 */
memspan_status_t lz_no_driver(const struct gpu_state *state, gpu_result_t answer, const char *what);
gpu_result_t lz_devices_count(const struct gpu_state *state, int *count_p);
gpu_result_t lz_can_reach(const struct gpu_device *from, const struct gpu_device *home, int *can_p);
void lz_probe(struct gpu_state *state);
void lz_drop(struct gpu_state *state);
bool lz_peer_atomics(const struct gpu_device *from, const struct gpu_device *home);
/* The ordinal of a driver's handle, or MEMSPAN_HOST. */
int lz_device_find(const struct gpu_state *state, lz_device_h handle);

/* describe.c: a device's properties. */

gpu_result_t lz_total(const struct gpu_device *device, size_t *bytes_p);
memspan_status_t lz_fill(struct gpu_device *device);

/* sysman.c: free memory. */

/* Find the handles to ask; without any, free memory is unknown. */
void lz_sysman_find(struct gpu_state *state);
uint64_t lz_sysman_free(const struct gpu_device *device);

/* kinds.c: the kinds of memory of a device, and access to them. */

void lz_offer(struct gpu_device *device);
memspan_reach_t lz_reach_host(const struct gpu_device *home, memspan_kind_t kind);
memspan_reach_t lz_reach_own(const struct gpu_device *from, memspan_kind_t kind);
memspan_reach_t lz_reach_peer(const struct gpu_device *home, memspan_kind_t kind,
                              const struct gpu_device *from);

/* capability.c: the capabilities of a device, and their sources. */

void lz_fill_capabilities(struct gpu_device *device);
void lz_peer_source(const struct gpu_device *from, const struct gpu_device *home, char *text,
                    size_t size);

/* alloc.c: memory. */

uint64_t lz_most_bytes(const struct gpu_device *device, memspan_kind_t kind);
memspan_status_t lz_check(const struct gpu_device *device, const memspan_request_t *request);
memspan_status_t lz_take_block(struct gpu_device *device, const memspan_request_t *request,
                               struct gpu_block *block, memspan_block_t *given);
gpu_result_t lz_take(const struct gpu_device *device, enum gpu_made made, size_t size_bytes,
                     void **base_p);
gpu_result_t lz_give(const struct gpu_device *device, enum gpu_made made, void *base);

/* import.c: host pages in the driver's tables. */

void lz_import_find(struct lz_driver *driver, const struct gpu_state *state, bool has_memmap);
/* The source of whether a device takes them. */
const char *lz_import_source(const struct gpu_device *device);
gpu_result_t lz_register_pages(struct gpu_device *device, void *address, size_t size_bytes);
gpu_result_t lz_unregister_pages(const struct gpu_device *home, void *address);
memspan_status_t lz_check_reuse(const struct gpu_registration *r, const void *address,
                                size_t size_bytes);

/* pointer.c: what the driver knows of an address. */

struct lz_pointer {
    uint32_t type; /* ZE_MEMORY_TYPE_* */
    lz_device_h device;
};
/* Of one driver. */
memspan_status_t lz_pointer_ask(const struct lz_driver *driver, const void *pointer,
                                struct lz_pointer *answer_p);
/* gpu_driver::ask(). */
memspan_status_t lz_query_pointer(const struct gpu_state *state, const void *pointer,
                                  struct gpu_pointer *answer_p);

/* queue.c: command lists. */

gpu_result_t lz_make_stream(struct gpu_device *device, void **stream_p);
gpu_result_t lz_drop_stream(const struct gpu_state *state, void *stream);
/* A list of the program's as a stream, and its end. */
memspan_status_t lz_stream_adopt(struct gpu_device *device, lz_list_h list, void **stream_p);
void lz_stream_end_adoption(struct lz_stream *stream);
/* Before and after a command is appended: the list is locked, unless begin() fails; the next
 * command is ordered after it if @p answer is of success. */
gpu_result_t lz_stream_begin(const struct gpu_queue *queue, lz_list_h *list_p);
gpu_result_t lz_stream_end(const struct gpu_queue *queue, gpu_result_t answer);
/* A barrier that signals @p signal: after all earlier work or, if that is not NULL, after
 * @p awaited. Later work starts after it. It is command *asked_p of the stream. */
gpu_result_t lz_stream_barrier(struct lz_stream *stream, lz_event_h signal, lz_event_h *awaited,
                               unsigned long long *asked_p);
gpu_result_t lz_wait(const struct gpu_state *state, void *stream);
gpu_result_t lz_wait_for_device(const struct gpu_device *device);
/* The answer of a device that does no work any more. */
bool lz_is_lost(long code);
memspan_status_t lz_settle(struct gpu_device *device, bool *idle_p);

/* event.c: events, and command lists of the program. */

/* A signal for one barrier; its user is the caller. */
memspan_status_t lz_signal_take(struct lz_driver *driver, struct lz_signal **signal_p);
/* One that is not signalled, and will not be. */
void lz_signal_put_back(struct lz_driver *driver, struct lz_signal *signal);
/* One that is, or will be; NULL: no effect. */
void lz_signal_leave(struct lz_driver *driver, struct lz_signal *signal);
/* Rows of gpu_driver. */

gpu_result_t lz_make_event(struct gpu_device *device, void **event_p);
gpu_result_t lz_drop_event(const struct gpu_state *state, void *event);
gpu_result_t lz_record_event(const struct gpu_queue *queue, void *event);
gpu_result_t lz_wait_event(const struct gpu_queue *queue, void *event);
bool lz_can_wait(const struct gpu_device *device, const struct gpu_device *other);
gpu_result_t lz_query_event(const struct gpu_state *state, void *event);
memspan_status_t lz_adopt_stream(struct gpu_device *device, void *native, void **stream_p);
gpu_result_t lz_release_stream(const struct gpu_state *state, void *stream);
/* Kernels that use the scratch of the queue end its work. */
memspan_status_t lz_note_scratch(const struct gpu_queue *queue);
/* @p ours: not in a forked child. */
void lz_drop_events(struct lz_driver *driver, bool ours);

/* transfer.c: work. */

gpu_result_t lz_copy(const struct gpu_queue *queue, void *to, const void *from, size_t size_bytes);
gpu_result_t lz_fill_bytes(const struct gpu_queue *queue, void *to, unsigned char byte,
                           size_t size_bytes);
gpu_result_t lz_prefetch(const struct gpu_queue *queue, const void *pointer, size_t size_bytes,
                         int to);
/* Advise the driver that shared memory is to live on @p where. */
memspan_status_t lz_prefer(struct gpu_device *device, const struct gpu_device *where, void *pointer,
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

memspan_status_t lz_get_kernel(struct gpu_device *device, int place, const char *name,
                               void **function_p);
memspan_status_t lz_start_call(struct gpu_queue *queue, void *function,
                               const memspan_kernel_call_t *call);
void lz_drop_kernels(struct gpu_device *device);

/* share.c: other processes and network cards. */

/* The driver is done with what was given to others of this block. */
void lz_unshare(struct gpu_block *block);
memspan_status_t lz_export(const struct gpu_device *device, struct gpu_block *block,
                           struct gpu_token *token);
memspan_status_t lz_open(struct gpu_device *device, struct gpu_token *token,
                         struct gpu_block *block);
memspan_status_t lz_dmabuf(const struct gpu_device *device, const void *address, size_t size_bytes,
                           int *fd_p, uint64_t *offset_p);

#endif /* MEMSPAN_BACKENDS_LEVEL_ZERO_H */
