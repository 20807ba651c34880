/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BACKENDS_CUDA_H
#define MEMSPAN_BACKENDS_CUDA_H

/* The records of the CUDA backend. Work is done in the devices' primary contexts, the ones that the
 * CUDA runtime and OpenMP offload runtimes use, so that addresses mean the same to all of them. A
 * context is retained when first needed, never by a mere question, and pushed and popped around
 * each call: the caller's thread keeps the context it had. Meanwhile the thread's capture mode is
 * relaxed, so that a program that captures a stream may allocate.
 *
 * A program may reset a device (cudaDeviceReset), and all that was made in its context goes with
 * it: streams, modules, memory. Each reset that is found begins an epoch of the device; what is of
 * an earlier one is forgotten, not given back, because its handles may be somebody else's by now.
 *
 * Locks: cuda_device::lock guards what is made later on (context, queues, modules, peers),
 * cuda_state::lock the registered host pages and the list of blocks. A thread that holds a device's
 * lock takes no other; the driver is called under both, and never calls back. */

#include "backends/cuda/cuda_api.h"
#include <memspan/backend.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CUDA_NAME "cuda"

/* How a block was made, and so how it is given back. */
enum cuda_made {
    CUDA_MADE_PLAIN,   /* cuMemAlloc */
    CUDA_MADE_MAPPED,  /* cuMemCreate, mapped by us */
    CUDA_MADE_MANAGED, /* cuMemAllocManaged */
    CUDA_MADE_HOST,    /* cuMemHostAlloc */
    CUDA_MADE_PAGES,   /* pages of ours, registered or not */
    CUDA_MADE_OPENED   /* cuIpcOpenMemHandle */
};

struct cuda_registration;

/* The backend's own about a block: memspan_block_t::cookie. */
struct cuda_block {
    struct cuda_block *next; /* cuda_state::blocks */
    enum cuda_made made;
    cuda_address_t base; /* what the driver gave; the block may start later */
    size_t size_bytes;   /* from base on */
    cuda_handle_t handle;
    int handle_types; /* MAPPED: how it may be shared */
    int fd;           /* MAPPED: given to others while the block lives, or -1 */
    unsigned epoch;   /* of the device when it was made */
    struct cuda_registration *registration; /* PAGES: or NULL */
};

/* A stream, and room for the partial sums of a reduction on it. */
struct cuda_queue {
    struct cuda_queue *next; /* cuda_device::forgotten */
    struct cuda_device *device;
    unsigned epoch; /* of the device when it was made */
    cuda_stream_t stream;
    cuda_address_t scratch; /* 0 until first needed; the device's lock */
};

enum { CUDA_KERNELS = MEMSPAN_KERNEL_ADD_ATOMIC + 1, CUDA_OPERATIONS = 7, CUDA_ELEMENTS = 12 };

/* A compiled kernel: each is a module of its own, so that only what is used is compiled. */
struct cuda_kernel {
    cuda_module_t module;
    cuda_function_t function;
};

/* What the driver answered about a device, once. */
struct cuda_facts {
    int capability; /* 10 * major + minor */
    int multiprocessors;
    bool unified_addressing;
    bool integrated;
    bool managed;
    bool concurrent;       /* host and device may use managed memory at once */
    bool pageable;         /* it reaches any host memory */
    bool host_page_tables; /* ... through the host's page tables; else by moving pages */
    bool host_atomics;
    bool registers;    /* host pages can be registered */
    bool same_address; /* ... and are seen at the host's address */
    bool vmm;
    bool makes_fd;  /* mapped memory can have a file descriptor */
    bool shares_fd; /* ... which other processes can fetch */
    bool shares_fabric;
    bool rdma;
    bool rdma_vmm;
    bool dmabuf;
    int node; /* its memory as a NUMA node of the operating system, or -1 */
};

struct cuda_device {
    struct cuda_state *state;
    cuda_device_t id;
    int ordinal;
    memspan_device_info_t info; /* all but free_bytes */
    struct cuda_facts facts;
    _Atomic uint64_t managed_bytes; /* given and not given back */
    pthread_mutex_t lock;
    _Atomic(cuda_context_t) context;       /* written under the lock: once, and after each reset */
    _Atomic unsigned long long context_id; /* the driver's number of it; 0 where it has none */
    atomic_uint epoch;                     /* how often it was reset, as far as we know */
    struct cuda_queue *queue;              /* the device's own, made when first needed */
    struct cuda_queue *forgotten;          /* such of earlier epochs */
    struct cuda_kernel kernels[CUDA_KERNELS];
    struct cuda_kernel combine[CUDA_OPERATIONS][CUDA_ELEMENTS];
};

/* How a device reaches another's memory. */
enum cuda_peer {
    CUDA_PEER_NO = 0,
    CUDA_PEER_MAY,     /* the driver says that it can be enabled */
    CUDA_PEER_ENABLED, /* it is */
    CUDA_PEER_BROKEN   /* the driver said so, and then it could not be enabled */
};

/* Host pages in the driver's table, for all devices at once. */
struct cuda_registration {
    struct cuda_registration *next;
    char *address;
    size_t size_bytes;
    struct cuda_device *home; /* whose context they are registered in */
    unsigned epoch;           /* of home when they were */
    int references;
    bool ours; /* somebody else had registered them otherwise */
};

struct cuda_state {
    const memspan_services_t *services;
    struct cuda_calls cu;
    void *library;
    pid_t pid; /* whoever opened it: the driver does not survive fork() */
    int version;
    struct cuda_device *devices;
    int device_count;
    _Atomic(enum cuda_peer) *peers; /* [from * device_count + home] */
    atomic_bool gone;               /* the process ends, and the driver has ended already */
    atomic_bool host_unaligned;     /* cuMemHostAlloc has answered an address on a page only */
    pthread_mutex_t lock;
    struct cuda_registration *registrations;
    struct cuda_block *blocks; /* all of ours */
};

/* status.c: errors. */

/* Record that @p call answered @p code while doing what the format says; returns the status that
 * fits the code. */
memspan_status_t cuda_error(const struct cuda_state *state, const char *call, cuda_result_t code,
                            const char *format, ...) __attribute__((format(printf, 4, 5), cold));

/* Record a failure that no driver call reported. */
memspan_status_t cuda_refuse(const struct cuda_state *state, memspan_status_t status,
                             const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5), cold));

/* Log that a call failed whose failure the caller need not know of. */
void cuda_log_failure(const struct cuda_state *state, const char *call, cuda_result_t code,
                      const char *what);

/* The same for a failure that is in the thread's record. */
void cuda_log_last(const struct cuda_state *state, const char *what);

/* context.c: primary contexts. */

/* The device of an ordinal, without touching it; refuses unknown ones, and forked children. */
memspan_status_t cuda_device_get(void *state, int ordinal, struct cuda_device **device_p);

/* The same, with its primary context current until cuda_leave(), which is told the thread's capture
 * mode of before. */
memspan_status_t cuda_enter(void *state, int ordinal, struct cuda_device **device_p, int *before_p);
void cuda_leave(struct cuda_device *device, int before);

/* To give something back. MEMSPAN_ERR_OFF, and nothing recorded: the driver has ended before us, as
 * it does at the end of a process, with all that was its own. */
memspan_status_t cuda_enter_to_give_back(void *state, int ordinal, struct cuda_device **device_p,
                                         int *before_p);

/* True when its primary context exists already, whoever made it. */
bool cuda_context_is_active(const struct cuda_device *device);

/* Let every device that can, and that somebody uses, reach the memory of @p home. */
void cuda_peers_enable(struct cuda_device *home);

/* memspan_backend_t::connect: wake both devices, so that @p from has access from now on. */
memspan_status_t cuda_connect(void *state, int home, memspan_kind_t kind, int from);

/* Wait for all work of the devices that are awake and may use memory of @p device: all of them for
 * host pages, its peers for device memory. The first failure. */
cuda_result_t cuda_wait_for_users(struct cuda_device *device, bool host_pages);
/* That failure: a stream is being captured, and waiting is not possible. */
bool cuda_is_captured(cuda_result_t code);

enum cuda_peer cuda_peer_get(const struct cuda_state *state, int from, int home);

/* Give up what was made on the devices. In a forked child only our own records. */
void cuda_devices_drop(struct cuda_state *state);

/* describe.c: what a device is. */

memspan_status_t cuda_devices_find(struct cuda_state *state);
memspan_status_t cuda_device_describe(void *state, int ordinal, memspan_device_info_t *info_p);

/* kinds.c: which kinds of memory it offers, and who reaches them. */

void cuda_device_fill_kinds(struct cuda_device *device);
memspan_reach_t cuda_reach(void *state, int home, memspan_kind_t kind, int from);

/* capability.c: what it can do, and who says so. */

void cuda_device_fill_capabilities(struct cuda_device *device);
void cuda_reach_source(void *state, int home, memspan_kind_t kind, int from, char *text,
                       size_t size);

/* alloc.c, mapped.c: memory. */

memspan_status_t cuda_alloc(void *state, int ordinal, const memspan_request_t *request,
                            memspan_block_t *block_p);
memspan_status_t cuda_free(void *state, int ordinal, const memspan_block_t *block);

/* Every block of ours is in one list, so that the driver's knowledge of it is not taken for
 * knowledge of somebody else's memory. */
void cuda_block_insert(struct cuda_state *state, struct cuda_block *block);
void cuda_block_remove(struct cuda_state *state, const struct cuda_block *block);
bool cuda_block_is_ours(struct cuda_state *state, cuda_address_t base);

/* Device memory mapped by ourselves, to be shared or with pages of a size. Context current. */
memspan_status_t cuda_mapped_take(struct cuda_device *device, const memspan_request_t *request,
                                  struct cuda_block *block, memspan_block_t *given);
memspan_status_t cuda_mapped_give_back(struct cuda_device *device, struct cuda_block *block);
/* Map @p block->handle somewhere on a boundary of @p align_bytes for all devices that can. */
memspan_status_t cuda_mapped_map(struct cuda_device *device, struct cuda_block *block,
                                 size_t align_bytes);

/* import.c: host pages in the driver's table. Context current for the first two. */

memspan_status_t cuda_register(struct cuda_device *device, void *address, size_t size_bytes,
                               void **seen_at_p, struct cuda_registration **registration_p);
/* @p registration as cuda_register() gave it; once for each time. */
memspan_status_t cuda_unregister(struct cuda_device *device,
                                 const struct cuda_registration *registration);
/* Without a call of the driver. */
void cuda_registration_forget(struct cuda_state *state,
                              const struct cuda_registration *registration);
memspan_status_t cuda_import(void *state, int ordinal, void *address, size_t size_bytes,
                             void **address_p, void **cookie_p);
memspan_status_t cuda_release(void *state, int ordinal, void *address, size_t size_bytes,
                              void *cookie);

/* pointer.c: what the driver knows of an address. */

struct cuda_pointer {
    unsigned memory_type; /* 0: the driver does not know it */
    unsigned managed;
    int ordinal;
    cuda_address_t base;
    size_t size_bytes;
};
memspan_status_t cuda_pointer_ask(const struct cuda_state *state, const void *pointer,
                                  struct cuda_pointer *answer_p);
memspan_status_t cuda_pointer_describe(void *state, const void *pointer,
                                       memspan_pointer_facts_t *facts_p);

/* queue.c, transfer.c: work. */

/* @p queue, or the device's own for NULL. Context current. */
memspan_status_t cuda_queue_get(struct cuda_device *device, void *queue,
                                struct cuda_queue **queue_p);
memspan_status_t cuda_queue_need_scratch(struct cuda_queue *queue, size_t size_bytes);
void cuda_queue_drop(struct cuda_queue *queue);
/* The same after a reset, or without a driver: the record alone. */
void cuda_queue_forget(struct cuda_queue *queue);
memspan_status_t cuda_queue_create(void *state, int ordinal, void **queue_p);
memspan_status_t cuda_queue_destroy(void *state, int ordinal, void *queue);
memspan_status_t cuda_copy(void *state, int ordinal, void *queue, void *to, const void *from,
                           size_t size_bytes);
memspan_status_t cuda_fill(void *state, int ordinal, void *queue, void *to, unsigned char byte,
                           size_t size_bytes);
memspan_status_t cuda_synchronize(void *state, int ordinal, void *queue);
memspan_status_t cuda_prefetch(void *state, int ordinal, void *queue, const void *pointer,
                               size_t size_bytes, int to);

/* ptx.c, kernel.c: the built-in kernels. */

enum { CUDA_PTX_BYTES = 4096, CUDA_BLOCK_THREADS = 256 };

/* The text of a kernel for a device of that compute capability, and the name of its function. For
 * a combining kernel, operation and element say which. False: there is none. */
bool cuda_ptx_write(memspan_kernel_t kernel, int capability, char text[CUDA_PTX_BYTES],
                    char name[48]);
bool cuda_ptx_write_combine(int operation, int element, char text[CUDA_PTX_BYTES], char name[48]);

memspan_status_t cuda_launch(void *state, int ordinal, void *queue,
                             const memspan_kernel_call_t *call);
void cuda_kernels_drop(struct cuda_device *device);
void cuda_kernels_forget(struct cuda_device *device);
bool cuda_has_kernels(const struct cuda_device *device);

/* share.c: other processes and network cards. */

memspan_status_t cuda_ipc_export(void *state, int ordinal, const memspan_block_t *block,
                                 void *token, size_t *token_size_p);
memspan_status_t cuda_ipc_import(void *state, int ordinal, const void *token, size_t token_size,
                                 memspan_block_t *block_p);
memspan_status_t cuda_ipc_close(void *state, int ordinal, const memspan_block_t *block);
memspan_status_t cuda_dmabuf_export(void *state, int ordinal, const void *address,
                                    size_t size_bytes, int *fd_p, uint64_t *offset_p);

#endif /* MEMSPAN_BACKENDS_CUDA_H */
