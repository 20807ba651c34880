/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BACKENDS_GPU_GPU_H
#define MEMSPAN_BACKENDS_GPU_GPU_H

/* The code shared by backends whose driver has one address space for host and devices, and streams
 * in order; some make something current on a thread (CUDA's context, HIP's device). The driver
 * fills struct gpu_driver, a table of its calls in neutral words; decisions from its results are
 * written here once. HIP took over CUDA's numbers, so the answers that decide are enum gpu_code; a
 * driver with other numbers has none of them but 0.
 *
 * A program may reset a device (cudaDeviceReset), and all that was made in its context goes with
 * it: streams, modules, memory. Each reset that is found begins an epoch of the device; handles of
 * an earlier one are forgotten, not given back, because another owner may have its handles by now.
 *
 * Locks: gpu_device::lock guards the objects that are made later on (contexts, queues, modules),
 * gpu_state::lock the registered host pages and the list of blocks. A thread that holds a device's
 * lock takes no other of these; the driver is called under both, and never calls back. */

#include "backends/gpu/common.h"
#include <memspan/backend.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum gpu_code {
    GPU_RECORDED                 = -1, /* the failure is in the thread's record already */
    GPU_SUCCESS                  = 0,
    GPU_INVALID_VALUE            = 1,
    GPU_DEINITIALIZED            = 4,
    GPU_NO_DEVICE                = 100,
    GPU_INVALID_CONTEXT          = 201,
    GPU_INVALID_HANDLE           = 400,
    GPU_NOT_READY                = 600,
    GPU_PEER_ALREADY_ENABLED     = 704,
    GPU_PAGES_ALREADY_REGISTERED = 712,
    GPU_NOT_SUPPORTED            = 801,
    GPU_CAPTURED_FIRST           = 900,
    GPU_CAPTURED_LAST            = 908
};

/* The answer of a call, and its name for the record. */
typedef struct gpu_result {
    const char *call;
    int code;
} gpu_result_t;

/* The meaning of a driver's code. Codes without a row: MEMSPAN_ERR_DRIVER, no hint. */
struct gpu_meaning {
    int code;
    memspan_status_t status;
    const char *hint; /* or NULL */
};

/* How a block was made, and so how it is given back. */
enum gpu_made {
    GPU_MADE_DEVICE,  /* memory of the device */
    GPU_MADE_FINE,    /* fine-grained memory of the device */
    GPU_MADE_MAPPED,  /* physical memory that we mapped */
    GPU_MADE_MANAGED, /* moved by the driver */
    GPU_MADE_HOST,    /* the driver's pinned host pages */
    GPU_MADE_PAGES,   /* host pages of ours, registered or not */
    GPU_MADE_OPENED   /* another process's */
};

struct gpu_registration;

/* memspan_block_t::cookie. */
struct gpu_block {
    struct gpu_block *next; /* gpu_state::blocks, or kept */
    struct gpu_device *device;
    enum gpu_made made;
    char *base; /* the driver's memory; the block may start later */
    size_t size_bytes;
    unsigned epoch;                        /* of the device when it was made */
    struct gpu_registration *registration; /* PAGES: or NULL */
    unsigned long long handle;             /* MAPPED, as the rest */
    int handle_types;                      /* how it may be shared */
    int fd;                                /* exported; open while the block lives, or -1 */
};

/* A stream, and space for the partial sums of a reduction on it. */
struct gpu_queue {
    struct gpu_queue *next; /* gpu_device::forgotten */
    struct gpu_device *device;
    unsigned epoch; /* of the device when it was made */
    void *stream;
    void *scratch;  /* NULL until first needed; the device's lock */
    bool adopted;   /* the stream is the program's */
    uint64_t *word; /* of host memory: its releases; NULL until first held */
    uint64_t held;  /* its holds */
};

/* What a closed queue left. */
struct gpu_spare {
    struct gpu_spare *next;
    enum gpu_made made; /* HOST: a word; DEVICE: space for partial sums */
    unsigned epoch;     /* of the device */
    bool is_used;       /* work of a stream of the program may use it */
    void *memory;
};

/* The driver's facts about a device, read once. */
struct gpu_facts {
    int multiprocessors;
    bool unified_addressing;
    bool integrated;
    bool managed;
    bool concurrent;       /* host and device may use managed memory at once */
    bool pageable;         /* it reaches any host memory */
    bool host_page_tables; /* ... through the host's page tables; else by faults */
    bool host_atomics;
    bool registers;       /* host pages can be registered */
    bool same_address;    /* ... and are seen at the host's address */
    bool needs_no_import; /* it reaches all host pages, with atomics and of any size */
    bool ipc;             /* another process opens its plain memory */
    bool dmabuf;
    int node; /* its memory as a NUMA node of the operating system, or -1 */
};

struct gpu_device {
    struct gpu_state *state;
    int id; /* the driver's */
    int ordinal;
    int group;                  /* host pages are registered for all devices of a group at once */
    memspan_device_info_t info; /* all but free_bytes */
    struct gpu_facts facts;
    _Atomic uint64_t managed_bytes; /* given and not given back */
    pthread_mutex_t lock;
    atomic_uint epoch;           /* how often it was reset, as far as detected */
    struct gpu_queue *queue;     /* the device's own, made when first needed */
    struct gpu_queue *forgotten; /* such of earlier epochs */
    struct gpu_spare *spares;
    int used_spares; /* of these, those that may be in use */
};

/* How a device reaches another's memory. */
enum gpu_peer {
    GPU_PEER_NO = 0,
    GPU_PEER_MAY,     /* the driver reports that it can be enabled */
    GPU_PEER_ENABLED, /* it is */
    GPU_PEER_BROKEN   /* the driver reported so, and then it could not be enabled */
};

/* Host pages in the driver's table, for all devices of home's group at once. */
struct gpu_registration {
    struct gpu_registration *next;
    char *address;
    size_t size_bytes;
    struct gpu_device *home; /* whose context they are registered in */
    unsigned epoch;          /* of home when they were */
    int references;
    bool ours; /* another owner had registered them otherwise */
};

struct gpu_state {
    const memspan_services_t *services;
    const struct gpu_driver *driver;
    pid_t pid; /* of the process that opened it: drivers do not survive fork() */
    int version;
    struct gpu_device **devices;
    int device_count;
    _Atomic(enum gpu_peer) *peers; /* [from * device_count + home] */
    atomic_bool ended;             /* the driver reported it: the process ends */
    atomic_bool no_captures;       /* the driver reported it: capture modes do not exist */
    atomic_bool host_unaligned;    /* pinned host memory came with the alignment of a page only */
    pthread_mutex_t lock;
    struct gpu_registration *registrations;
    struct gpu_block *blocks; /* all of ours */
    struct gpu_block *kept;   /* given back to us while a device may still use them */
};

/* The driver's record of an address. */
struct gpu_pointer {
    bool known;
    bool managed;
    bool on_host; /* meaningless for managed memory */
    int ordinal;
    char *base;
    size_t size_bytes; /* 0: not reported */
};

/* The purpose for which a device is entered. */
enum gpu_purpose {
    GPU_TO_WORK,
    GPU_TO_ORDER,    /* an event and a queue that are there: no capture forbids it */
    GPU_TO_ALLOCATE, /* also frees: must not spoil the program's capture */
    GPU_TO_ASK,      /* about addresses */
    GPU_TO_WAIT,
    GPU_TO_GIVE_BACK /* there is no later time for it: a call that fails once is tried again */
};

/* A device that is current on this thread until gpu_leave(). */
struct gpu_visit {
    struct gpu_device *device;
    int before; /* the driver's word for the earlier current one */
    int mode;   /* the thread's capture mode of before */
};

/* The data that another process needs to open a block. */
struct gpu_token {
    char magic[8];
    uint32_t forms; /* enum gpu_form; HANDLE is alone */
    int32_t pid;
    int32_t fd;
    uint32_t reserved;
    uint64_t mapped_bytes;
    uint64_t offset; /* of the block in the shared memory */
    uint64_t size_bytes;
    char uid[72]; /* the device's */
    char handle[64];
};
enum gpu_form { GPU_FORM_HANDLE = 1, GPU_FORM_FABRIC = 2, GPU_FORM_DESCRIPTOR = 4 };

/* Blocks with a stride on each side, at most GPU_STRIDE_MAX. */
struct gpu_blocks {
    void *to;
    const void *from;
    size_t to_stride_bytes;
    size_t from_stride_bytes;
    size_t block_bytes;
    size_t block_count;
};

/* The largest that drivers take: an int. */
#define GPU_STRIDE_MAX ((size_t)INT32_MAX)

/* A driver. Functions that answer a gpu_result_t make one call, or record the failure themselves
 * (GPU_RECORDED); a call that this version of the driver lacks has the name NULL and code 0. Those
 * that return a status have recorded their failure. A device is current where no comment denies it.
 */
struct gpu_driver {
    const char *name;                   /* the backend's */
    const char *title;                  /* in messages: "CUDA" */
    const char *magic;                  /* of its tokens, 7 characters */
    const char *names[7];               /* enum gpu_name */
    size_t state_size;                  /* of the record that begins with struct gpu_state */
    size_t device_size;                 /* ... with struct gpu_device */
    size_t block_size;                  /* ... with struct gpu_block */
    const struct gpu_meaning *meanings; /* ended by hint and status 0 */
    bool registers_twice;  /* takes registered pages again, and forgets both with the first */
    bool opens_hidden;     /* opens memory of devices that this process does not see */
    bool moves_integrated; /* managed memory of an integrated device is not pinned either */
    bool moves_any;        /* prefetches managed memory that is used by one side at a time, too */
    bool hex_codes;        /* its documents have its answers in base 16 */
    memspan_queue_type_t queue_type; /* of the program's streams; OWN: none are adopted */

    /* No device is current. load() opens the library and starts it; fill() describes a device that
     * has its ordinal; probe() takes measurements that need all devices; words() are for the log.
     */
    memspan_status_t (*load)(struct gpu_state *state);
    gpu_result_t (*count)(const struct gpu_state *state, int *count_p);
    memspan_status_t (*fill)(struct gpu_device *device);
    void (*probe)(struct gpu_state *state);                                  /* or NULL */
    void (*words)(const struct gpu_device *device, char *text, size_t size); /* or NULL */
    void (*drop)(struct gpu_state *state); /* or NULL; the devices are closed and still there */
    void (*explain)(const struct gpu_state *state, int code, const char **name_p,
                    const char **words_p);
    void (*forget_error)(const struct gpu_state *state); /* or NULL */

    /* The current context or device; both NULL: there is none. leave() gets the earlier one, which
     * enter() returned. */
    memspan_status_t (*enter)(struct gpu_device *device, enum gpu_purpose purpose, int *before_p);
    void (*leave)(struct gpu_device *device, int before);
    gpu_result_t (*exchange_capture)(const struct gpu_state *state, int *mode);
    /* Used through us, and used by anyone in this process. NULL: always. */
    bool (*is_awake)(const struct gpu_device *device);
    bool (*is_active)(const struct gpu_device *device);
    void (*close)(struct gpu_device *device); /* or NULL */
    bool relaxes_always;                      /* not only to allocate and to give back */

    /* A device's properties. */
    gpu_result_t (*attribute)(const struct gpu_device *device, int which, int *value_p);
    gpu_result_t (*total)(const struct gpu_device *device, size_t *bytes_p);
    gpu_result_t (*available)(const struct gpu_device *device, size_t *bytes_p);
    /* In place of available(); or NULL. No device is current. */
    uint64_t (*free_bytes)(const struct gpu_device *device);
    gpu_result_t (*can_reach)(const struct gpu_device *from, const struct gpu_device *home,
                              int *can_p);
    gpu_result_t (*enable_peer)(struct gpu_device *from, struct gpu_device *home);
    /* The source of whether one reaches the other. */
    void (*peer_source)(const struct gpu_device *from, const struct gpu_device *home, char *text,
                        size_t size);
    void (*offer)(struct gpu_device *device);
    void (*fill_capabilities)(struct gpu_device *device);
    memspan_reach_t (*reach_host)(const struct gpu_device *home, memspan_kind_t kind);
    memspan_reach_t (*reach_own)(const struct gpu_device *from, memspan_kind_t kind);
    /* Not the device's own memory; NONE: by reach_own() of both. */
    memspan_reach_t (*reach_peer)(const struct gpu_device *home, memspan_kind_t kind,
                                  const struct gpu_device *from);

    /* Memory. */
    uint64_t (*most_bytes)(const struct gpu_device *device, memspan_kind_t kind); /* or NULL */
    memspan_status_t (*check)(const struct gpu_device *device, const memspan_request_t *request);
    /* gpu_take_block(), or the driver's own: then there are no take_device(), take_coherent(),
     * give_mapped() and advise(). */
    memspan_status_t (*take_block)(struct gpu_device *device, const memspan_request_t *request,
                                   struct gpu_block *block, memspan_block_t *given);
    gpu_result_t (*take)(const struct gpu_device *device, enum gpu_made made, size_t size,
                         void **base_p);
    gpu_result_t (*give)(const struct gpu_device *device, enum gpu_made made, void *base);
    memspan_status_t (*take_device)(struct gpu_device *device, const memspan_request_t *request,
                                    struct gpu_block *block, memspan_block_t *given);
    memspan_status_t (*take_coherent)(struct gpu_device *device, const memspan_request_t *request,
                                      struct gpu_block *block, memspan_block_t *given);
    memspan_status_t (*give_mapped)(struct gpu_device *device, struct gpu_block *block);
    /* NULL: give() waits for the memory's users. Else this waits for all work that may use memory
     * of the device, and returns the first failure; *idle_p: nothing runs any more, or ever will.
     */
    memspan_status_t (*settle)(struct gpu_device *device, bool *idle_p);
    void (*unshare)(struct gpu_block *block); /* before give(); or NULL */
    memspan_status_t (*advise)(struct gpu_device *device, const memspan_request_t *request,
                               const struct gpu_block *block);
    gpu_result_t (*register_pages)(struct gpu_device *device, void *address, size_t size);
    gpu_result_t (*unregister_pages)(const struct gpu_device *home, void *address);
    /* Whether @p r, which has some pages of a range, may serve the range. NULL: it must have all of
     * them. */
    memspan_status_t (*check_reuse)(const struct gpu_registration *r, const void *address,
                                    size_t size);
    /* Where the device sees registered pages; NULL: at the host's address. */
    gpu_result_t (*seen_at)(const struct gpu_device *device, void *address, void **seen_at_p);
    memspan_status_t (*query_pointer)(const struct gpu_state *state, const void *pointer,
                                      struct gpu_pointer *answer_p);
    /* A device's ordinal, or a negative number. */
    gpu_result_t (*last_prefetch)(const struct gpu_state *state, const void *pointer,
                                  int *where_p); /* or NULL */

    /* Work. */
    gpu_result_t (*make_stream)(struct gpu_device *device, void **stream_p);
    gpu_result_t (*drop_stream)(const struct gpu_state *state, void *stream);
    gpu_result_t (*wait)(const struct gpu_state *state, void *stream);
    gpu_result_t (*wait_for_device)(const struct gpu_device *device);
    gpu_result_t (*copy)(const struct gpu_queue *queue, void *to, const void *from, size_t size);
    gpu_result_t (*copy_blocks)(const struct gpu_queue *queue, const struct gpu_blocks *blocks);
    gpu_result_t (*fill_bytes)(const struct gpu_queue *queue, void *to, unsigned char byte,
                               size_t size);
    gpu_result_t (*prefetch)(const struct gpu_queue *queue, const void *pointer, size_t size,
                             int to);
    /* Managed memory as a whole to the queue alone, or to all. */
    gpu_result_t (*attach)(const struct gpu_queue *queue, void *base, bool alone); /* or NULL */

    /* Events and streams of the program; NULL where the backend's table has none of them. An event
     * measures no time; its handle is free for others once drop_event() has returned. */
    gpu_result_t (*make_event)(struct gpu_device *device, void **event_p);
    gpu_result_t (*drop_event)(const struct gpu_state *state, void *event);
    gpu_result_t (*record_event)(const struct gpu_queue *queue, void *event);
    gpu_result_t (*wait_event)(const struct gpu_queue *queue, void *event);
    /* Whether queues of one device can wait for events of the other's; NULL: they can. No device is
     * current. */
    bool (*can_wait)(const struct gpu_device *device, const struct gpu_device *other);
    gpu_result_t (*query_event)(const struct gpu_state *state, void *event);
    /* Whether streams wait for memory. Later work of the stream starts when the word, of host
     * memory, is at least @p value. */
    bool (*waits_for_words)(const struct gpu_device *device);
    gpu_result_t (*wait_word)(const struct gpu_queue *queue, uint64_t *word, uint64_t value);
    /* Whether a stream is of the device, and of the context in which we work. */
    gpu_result_t (*owns_stream)(struct gpu_device *device, void *stream, bool *ours_p);
    /* In place of owns_stream(): a record for a stream of the program's, and its end, when no work
     * uses the queue's scratch any more; or NULL. */
    memspan_status_t (*adopt_stream)(struct gpu_device *device, void *native, void **stream_p);
    gpu_result_t (*release_stream)(const struct gpu_state *state, void *stream);
    gpu_result_t (*query_capture)(const struct gpu_queue *queue, bool *captured_p); /* or NULL */

    /* Kernels; the device's lock held for get_kernel(), start() and start_call(). */
    memspan_status_t (*check_kernels)(const struct gpu_device *device); /* or NULL */
    /* @p place, @p name: of gpu_kernel_find(). */
    memspan_status_t (*get_kernel)(struct gpu_device *device, int place, const char *name,
                                   void **function_p);
    gpu_result_t (*start)(const struct gpu_queue *queue, void *function, unsigned blocks,
                          unsigned threads, void **arguments);
    /* In place of start(), of whatever that kernel takes; or NULL. */
    memspan_status_t (*start_call)(struct gpu_queue *queue, void *function,
                                   const memspan_kernel_call_t *call);
    void (*drop_kernels)(struct gpu_device *device);

    /* Other processes and network cards. sync_copies(): from now on the program's synchronous
     * copies to and from memory at @p address are complete when they return; or NULL. */
    void (*sync_copies)(struct gpu_device *device, const void *address);
    gpu_result_t (*ipc_get)(const struct gpu_state *state, void *base, void *handle);
    gpu_result_t (*ipc_open)(const struct gpu_state *state, const void *handle, void **base_p);
    /* NULL: it maps nothing. Where ipc_get() is NULL, these two share all memory. */
    memspan_status_t (*export_mapped)(const struct gpu_device *device, struct gpu_block *block,
                                      struct gpu_token *token);
    memspan_status_t (*open_mapped)(struct gpu_device *device, struct gpu_token *token,
                                    struct gpu_block *block);
    memspan_status_t (*dmabuf)(const struct gpu_device *device, const void *address, size_t size,
                               int *fd_p, uint64_t *offset_p);
};

/* Words of messages in which the driver's own names stand. */
enum gpu_name {
    GPU_NAME_UNIFIED,     /* the attribute of unified addressing */
    GPU_NAME_CONCURRENT,  /* ... of concurrent managed access */
    GPU_NAME_NO_REGISTER, /* why host pages are not taken */
    GPU_NAME_NO_DMABUF,   /* memory that dma-buf takes */
    GPU_NAME_COPY,        /* the call that copies */
    GPU_NAME_EARLY,       /* the hint for a forked child; NULL: the usual one */
    GPU_NAME_ACCESS       /* the source of how memory is reached; NULL: the device's attributes */
};

/* status.c: errors. */

/* Record that a call failed during the work that the format describes; returns the status that
 * fits. The thread's last error in the driver is taken away: it was not the program's. */
memspan_status_t gpu_error(const struct gpu_state *state, gpu_result_t answer, const char *format,
                           ...) __attribute__((format(printf, 3, 4), cold));
/* Record a failure that no call of the driver reported. */
memspan_status_t gpu_refuse(const struct gpu_state *state, memspan_status_t status,
                            const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5), cold));
/* Log a failure that does not concern the caller, as a warning; true for an answer of success. */
bool gpu_log_failure(const struct gpu_state *state, gpu_result_t answer, const char *what);
/* The same for a call that a driver may lack, where that changes nothing: information. */
bool gpu_log_lack(const struct gpu_state *state, gpu_result_t answer, const char *what);
/* The same for a failure that is in the thread's record. */
void gpu_log_record(const struct gpu_state *state, enum memspan_log_level level, const char *what);
/* An answer was expected and is no failure. */
void gpu_forget_error(const struct gpu_state *state);
/* A stream is being captured, and waiting is not possible. */
bool gpu_is_captured(int code);

/* state.c: opening, devices, the current context. */

memspan_status_t gpu_open(const struct gpu_driver *driver, const memspan_services_t *services,
                          void **state_p);
void gpu_close(void *state);
int gpu_device_count(void *state);
/* The device of an ordinal, without touching it; refuses unknown ones, and forked children. */
memspan_status_t gpu_device_get(void *state, int ordinal, struct gpu_device **device_p);
/* The same, current until gpu_leave(). GPU_TO_GIVE_BACK: MEMSPAN_ERR_OFF, and nothing recorded,
 * where the driver has ended with all that was its own. */
memspan_status_t gpu_enter(void *state, int ordinal, enum gpu_purpose purpose,
                           struct gpu_visit *visit_p);
void gpu_leave(const struct gpu_visit *visit);
/* The thread's capture mode becomes relaxed; returns the earlier mode. */
int gpu_relax(struct gpu_state *state);
void gpu_restore(const struct gpu_state *state, int mode);
/* Wait for all work of the devices that are awake and may use memory of @p device: all of them for
 * host pages, its peers for device memory. The first failure. */
gpu_result_t gpu_wait_for_users(struct gpu_device *device, bool host_pages);

bool gpu_is_awake(const struct gpu_device *device);
bool gpu_is_active(const struct gpu_device *device);

/* torch.c: the open driver for PyTorch's functions, and its end. */
void gpu_torch_offer(struct gpu_state *state);
void gpu_torch_withdraw(struct gpu_state *state);

/* torch_pool.c: memory of captured graphs. A note keeps a block from being freed; *_WAITS: it is
 * freed after all work on its device. False: no memory for the note. */

enum { GPU_TORCH_WAITS = -1 };
bool gpu_torch_is_captured(int device);
bool gpu_torch_note(void *address, int device, bool freed);
enum gpu_torch_fate { GPU_TORCH_FREE, GPU_TORCH_WAIT, GPU_TORCH_KEEP };
enum gpu_torch_fate gpu_torch_free_noted(void *address);
/* True: its last use. gpu_torch_release() follows when no work uses its memory. */
struct memspan_torch_pool;
bool gpu_torch_leave_pool(int device, const struct memspan_torch_pool *pool);
void gpu_torch_release(int device, const struct memspan_torch_pool *pool);

enum gpu_peer gpu_peer_get(const struct gpu_state *state, int from, int home);
bool gpu_peer_can(const struct gpu_state *state, int from, int home);
void gpu_peer_enable(struct gpu_device *from, struct gpu_device *home);
/* Let every device that can, and that is in use, reach the memory of @p home. */
void gpu_peers_enable(struct gpu_device *home);

/* describe.c: a device's properties, and the devices that reach its memory. */

memspan_status_t gpu_devices_find(struct gpu_state *state);
/* An attribute; @p unknown where the driver lacks the attribute. */
int gpu_attribute(const struct gpu_device *device, int which, int unknown);
bool gpu_has(const struct gpu_device *device, int which);
memspan_status_t gpu_device_describe(void *state, int ordinal, memspan_device_info_t *info_p);
memspan_reach_t gpu_reach(void *state, int home, memspan_kind_t kind, int from);
void gpu_reach_source(void *state, int home, memspan_kind_t kind, int from, char *text,
                      size_t size);

/* alloc.c: memory. */

memspan_status_t gpu_alloc(void *state, int ordinal, const memspan_request_t *request,
                           memspan_block_t *block_p);
memspan_status_t gpu_free(void *state, int ordinal, const memspan_block_t *block);
memspan_status_t gpu_give_back(struct gpu_device *device, struct gpu_block *block);
/* Give back what was kept, when nothing can be running. */
void gpu_kept_drop(struct gpu_state *state);
memspan_status_t gpu_take_block(struct gpu_device *device, const memspan_request_t *request,
                                struct gpu_block *block, memspan_block_t *given);
/* Parts of gpu_driver::take_device() and take_coherent(). */
memspan_status_t gpu_take(struct gpu_device *device, enum gpu_made made,
                          const memspan_request_t *request, struct gpu_block *block);
memspan_status_t gpu_take_pinned(struct gpu_device *device, const memspan_request_t *request,
                                 struct gpu_block *block, memspan_block_t *given);
memspan_status_t gpu_take_pages(struct gpu_device *device, const memspan_request_t *request,
                                struct gpu_block *block, memspan_block_t *given);

/* block.c: the list of our blocks, so that the driver's knowledge of one is not taken for
 * knowledge of another owner's memory. */

void gpu_block_insert(struct gpu_state *state, struct gpu_block *block);
void gpu_block_remove(struct gpu_state *state, const struct gpu_block *block);
/* The block that holds @p address, or NULL; it stays while the memory is in use. */
struct gpu_block *gpu_block_find(struct gpu_state *state, const void *address);

/* import.c: host pages in the driver's table. */

memspan_status_t gpu_register(struct gpu_device *device, void *address, size_t size_bytes,
                              void **seen_at_p, struct gpu_registration **registration_p);
/* @p registration as gpu_register() gave it; once for each time. */
memspan_status_t gpu_unregister(struct gpu_state *state,
                                const struct gpu_registration *registration);
/* Without a call of the driver. */
void gpu_registration_forget(struct gpu_state *state, const struct gpu_registration *registration);
memspan_status_t gpu_import(void *state, int ordinal, void *address, size_t size_bytes,
                            void **address_p, void **cookie_p);
memspan_status_t gpu_release(void *state, int ordinal, void *address, size_t size_bytes,
                             void *cookie);

/* work.c: queues, copies, facts about an address. */

/* @p queue, or the device's own for NULL. Device current. */
memspan_status_t gpu_queue_get(struct gpu_device *device, void *queue, struct gpu_queue **queue_p);
memspan_status_t gpu_queue_wait(const struct gpu_queue *queue);
/* Room for partial sums on it. The device's lock held. */
memspan_status_t gpu_queue_need_scratch(struct gpu_queue *queue, size_t size_bytes);
void gpu_queue_drop(struct gpu_queue *queue);
memspan_status_t gpu_queue_create(void *state, int ordinal, void **queue_p);
memspan_status_t gpu_queue_destroy(void *state, int ordinal, void *queue);
memspan_status_t gpu_copy(void *state, int ordinal, void *queue, void *to, const void *from,
                          size_t size_bytes);
memspan_status_t gpu_copy_blocks(void *state, int ordinal, void *queue, void *to,
                                 size_t to_stride_bytes, const void *from, size_t from_stride_bytes,
                                 size_t block_bytes, size_t block_count);
memspan_status_t gpu_fill(void *state, int ordinal, void *queue, void *to, unsigned char byte,
                          size_t size_bytes);
memspan_status_t gpu_synchronize(void *state, int ordinal, void *queue);
memspan_status_t gpu_prefetch(void *state, int ordinal, void *queue, const void *pointer,
                              size_t size_bytes, int to);
memspan_status_t gpu_attach(void *state, int ordinal, void *queue, const memspan_block_t *block);
memspan_status_t gpu_pointer_describe(void *state, const void *pointer,
                                      memspan_pointer_facts_t *facts_p);

/* spare.c: what closed queues leave, for the next ones. */

/* NULL: there is none. The device's lock held. */
void *gpu_spare_take(struct gpu_device *device, enum gpu_made made);
/* NULL has no effect. */
void gpu_spare_leave(struct gpu_device *device, enum gpu_made made, void *memory, bool is_used);
/* Back to the driver, which may wait for all streams: what may be in use, or all of them. */
void gpu_spares_give(struct gpu_device *device, bool unused_too);

/* event.c: events, and streams of the program. */

memspan_status_t gpu_event_record(void *state, int ordinal, void *queue, void **event_p);
memspan_status_t gpu_event_wait(void *state, int ordinal, void *queue, void *event);
memspan_status_t gpu_event_done(void *state, int ordinal, void *event, int *done_p);
memspan_status_t gpu_event_destroy(void *state, int ordinal, void *event);
memspan_status_t gpu_queue_hold(void *state, int ordinal, void *queue);
memspan_status_t gpu_queue_release(void *state, int ordinal, void *queue);
memspan_status_t gpu_queue_adopt(void *state, int ordinal, memspan_queue_type_t type, void *native,
                                 void **queue_p);

/* kernel.c: the built-in kernels. */

enum { GPU_BLOCK_THREADS = 256 };

memspan_status_t gpu_launch(void *state, int ordinal, void *queue,
                            const memspan_kernel_call_t *call);

/* share.c: other processes and network cards. */

memspan_status_t gpu_ipc_export(void *state, int ordinal, const memspan_block_t *block, void *token,
                                size_t *token_size_p);
memspan_status_t gpu_ipc_import(void *state, int ordinal, const void *token, size_t token_size,
                                memspan_block_t *block_p);
memspan_status_t gpu_ipc_close(void *state, int ordinal, const memspan_block_t *block);
memspan_status_t gpu_dmabuf_export(void *state, int ordinal, const void *address, size_t size_bytes,
                                   int *fd_p, uint64_t *offset_p);

/* ---- for the drivers' tables ---- */

/* An operation that is one call. */
#define GPU_CALL(prototype, name, call)                                                            \
    static gpu_result_t prototype                                                                  \
    {                                                                                              \
        return (gpu_result_t){(name), (int)(call)};                                                \
    }

/* The operations that each driver has under the same names. */
#define GPU_DRIVER_CALLS                                                                           \
    .block_size = sizeof(struct gpu_block), .take_block = gpu_take_block, .count = count,          \
    .explain = explain, .exchange_capture = exchange_capture, .attribute = attribute,              \
    .total = total, .available = available, .can_reach = can_reach, .enable_peer = enable_peer,    \
    .take = take_memory, .give = give, .advise = advise, .register_pages = register_pages,         \
    .unregister_pages = unregister_pages, .seen_at = seen_at, .query_pointer = query_pointer,      \
    .last_prefetch = last_prefetch, .make_stream = make_stream, .drop_stream = drop_stream,        \
    .wait = wait_for_stream, .wait_for_device = wait_for_device, .copy = copy, .attach = attach,   \
    .copy_blocks = copy_blocks, .fill_bytes = fill_bytes, .prefetch = prefetch, .start = start,    \
    .make_event = make_event, .drop_event = drop_event, .record_event = record_event,              \
    .wait_event = wait_event, .query_event = query_event, .waits_for_words = waits_for_words,      \
    .wait_word = wait_word, .owns_stream = owns_stream, .query_capture = query_capture,            \
    .ipc_get = ipc_get, .ipc_open = ipc_open, .dmabuf = dmabuf

/* The members of a backend's table for drivers that have events. */
#define GPU_EVENT_TABLE                                                                            \
    .event_record = gpu_event_record, .event_wait = gpu_event_wait, .event_done = gpu_event_done,  \
    .event_destroy = gpu_event_destroy, .queue_adopt = gpu_queue_adopt,                            \
    .queue_hold = gpu_queue_hold, .queue_release = gpu_queue_release

/* The members of a backend's table that are the same for all drivers; copy_blocks is for those that
 * have it. */
#define GPU_BACKEND_TABLE                                                                          \
    .abi = MEMSPAN_BACKEND_ABI, .struct_size = sizeof(memspan_backend_t), .close = gpu_close,      \
    .device_count = gpu_device_count, .device_describe = gpu_device_describe, .reach = gpu_reach,  \
    .alloc = gpu_alloc, .free = gpu_free, .import = gpu_import, .release = gpu_release,            \
    .pointer_describe = gpu_pointer_describe, .copy = gpu_copy, .fill = gpu_fill,                  \
    .synchronize = gpu_synchronize, .queue_create = gpu_queue_create,                              \
    .queue_destroy = gpu_queue_destroy, .prefetch = gpu_prefetch, .launch = gpu_launch,            \
    .ipc_export = gpu_ipc_export, .ipc_import = gpu_ipc_import, .ipc_close = gpu_ipc_close,        \
    .dmabuf_export = gpu_dmabuf_export, .reach_source = gpu_reach_source

#endif /* MEMSPAN_BACKENDS_GPU_GPU_H */
