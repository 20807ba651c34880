/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BACKENDS_HIP_H
#define MEMSPAN_BACKENDS_HIP_H

/* The records of the HIP backend. HIP has one context for each device, shared by all of a process,
 * so addresses mean the same to the program, to OpenMP offload runtimes and to us. What a thread
 * has is a current device and a last error: the first is set for each call and put back, the second
 * is taken away again when it was ours.
 *
 * Locks: hip_device::lock guards what is made later on (queue, modules), hip_state::lock the
 * registered host pages, the list of blocks and what peers reach. A thread that holds a device's
 * lock takes no other; the driver is called under both, and never calls back. */

#include "backends/hip/hip_api.h"
#include <memspan/backend.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define HIP_NAME "hip"

/* How a block was made, and so how it is given back. */
enum hip_made {
    HIP_MADE_DEVICE,  /* hipMalloc: coarse-grained */
    HIP_MADE_FINE,    /* hipExtMallocWithFlags: fine-grained memory of the device */
    HIP_MADE_MANAGED, /* hipMallocManaged */
    HIP_MADE_HOST,    /* hipHostMalloc */
    HIP_MADE_PAGES,   /* pages of ours, registered or not */
    HIP_MADE_OPENED   /* hipIpcOpenMemHandle */
};

struct hip_registration;

/* The backend's own about a block: memspan_block_t::cookie. */
struct hip_block {
    struct hip_block *next; /* hip_state::blocks */
    enum hip_made made;
    char *base; /* what the driver gave; the block may start later */
    size_t size_bytes;
    struct hip_registration *registration; /* PAGES: or NULL */
};

/* A stream, and room for the partial sums of a reduction on it. */
struct hip_queue {
    struct hip_device *device;
    hip_stream_t stream;
    void *scratch; /* NULL until first needed; the device's lock */
};

/* The built-in kernels are one text; its two halves are compiled when first used. */
enum hip_part { HIP_PART_BASIC, HIP_PART_COMBINE, HIP_PARTS };
enum { HIP_KERNELS = MEMSPAN_KERNEL_ADD_ATOMIC + 1, HIP_BLOCK_THREADS = 256 };

/* What the driver answered about a device, once. */
struct hip_facts {
    int multiprocessors;
    unsigned target; /* 90010 for gfx90a; 0 where the kernel does not tell */
    bool host_xgmi;  /* it is linked to the processor by xGMI, not by PCI Express alone */
    bool unified_addressing;
    bool integrated;
    bool managed;
    bool concurrent;       /* host and device may use managed memory at once */
    bool pageable;         /* it reaches any host memory: XNACK is on */
    bool host_page_tables; /* ... through the host's page tables; else by faults */
    bool host_atomics;
    bool large_bar;    /* the host reaches all of its memory */
    bool fine_grain;   /* ... and fine-grained memory of it can be had */
    bool same_address; /* registered host pages are seen at the host's address */
};

struct hip_device {
    struct hip_state *state;
    hip_device_t id;
    int ordinal;
    memspan_device_info_t info; /* all but free_bytes */
    struct hip_facts facts;
    _Atomic uint64_t managed_bytes; /* given and not given back */
    pthread_mutex_t lock;
    struct hip_queue *queue; /* the device's own, made when first needed */
    hip_module_t modules[HIP_PARTS];
};

/* How a device reaches another's memory. */
enum hip_peer {
    HIP_PEER_NO = 0,
    HIP_PEER_MAY,     /* the driver says that it can be enabled */
    HIP_PEER_ENABLED, /* it is */
    HIP_PEER_BROKEN   /* the driver said so, and then it could not be enabled */
};

/* Host pages in the driver's table, for all devices at once. */
struct hip_registration {
    struct hip_registration *next;
    char *address;
    size_t size_bytes;
    int references;
    bool ours; /* somebody else had registered them otherwise */
};

struct hip_state {
    const memspan_services_t *services;
    struct hip_calls hip;
    struct hip_compiler_calls rtc;
    struct hip_hsa_calls hsa;
    bool has_compiler;
    bool has_dmabuf;
    bool coarse; /* MEMSPAN_HIP_GRAIN */
    pid_t pid;   /* whoever opened it: the driver does not survive fork() */
    int version;
    int type_host;              /* the number of host memory in pointer attributes */
    atomic_bool host_unaligned; /* hipHostMalloc has answered an address on a page only */
    struct hip_device *devices;
    int device_count;
    _Atomic(enum hip_peer) *peers; /* [from * device_count + home] */
    bool *peer_atomics;            /* the same; written when the devices are found */
    pthread_mutex_t lock;
    struct hip_registration *registrations;
    struct hip_block *blocks; /* all of ours */
};

/* status.c: errors. */

/* Record that @p call answered @p code while doing what the format says; returns the status that
 * fits the code. The thread's last error in HIP is taken away: it was not the program's. */
memspan_status_t hip_error(const struct hip_state *state, const char *call, hip_result_t code,
                           const char *format, ...) __attribute__((format(printf, 4, 5), cold));

/* Record a failure that no driver call reported. */
memspan_status_t hip_refuse(const struct hip_state *state, memspan_status_t status,
                            const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5), cold));

/* Log that a call failed whose failure the caller need not know of. */
void hip_log_failure(const struct hip_state *state, const char *call, hip_result_t code,
                     const char *what);

/* Log the thread's error record: a failure that the caller need not know of. */
void hip_log_record(const struct hip_state *state, enum memspan_log_level level, const char *what);

/* A call answered what was expected and is no failure: HIP keeps it as the last error none the
 * less. */
void hip_forget_error(const struct hip_state *state);

/* library.c: what is opened at run time. */

memspan_status_t hip_library_open(struct hip_state *state);

/* True when the process is ending and the runtime may have gone, which crashes when it is called
 * then: nothing is asked of it. */
bool hip_gone(void);

/* device.c: current devices and peers. */

/* The device of an ordinal, without touching it; refuses unknown ones, and forked children. */
memspan_status_t hip_device_get(void *state, int ordinal, struct hip_device **device_p);

/* The same, current on this thread until hip_leave(), which is told what was current before. */
memspan_status_t hip_enter(void *state, int ordinal, struct hip_device **device_p, int *before_p);
void hip_leave(const struct hip_device *device, int before);

/* Calls that allocate or free invalidate what the program captures, unless the thread's capture
 * mode is relaxed: it is between these two. */
int hip_relax(const struct hip_state *state);
void hip_restore(const struct hip_state *state, int before);

/* Wait for all work of all devices. The first failure. */
hip_result_t hip_wait_for_all(struct hip_state *state);
/* That failure: a stream is being captured, and waiting is not possible. */
bool hip_is_captured(hip_result_t code);

/* Let every device that can reach the memory of @p home. */
void hip_peers_enable(struct hip_device *home);
enum hip_peer hip_peer_get(const struct hip_state *state, int from, int home);

/* Give up what was made on the devices. In a forked child only our own records. */
void hip_devices_drop(struct hip_state *state);

/* describe.c: what a device is. */

memspan_status_t hip_devices_find(struct hip_state *state);
memspan_status_t hip_device_describe(void *state, int ordinal, memspan_device_info_t *info_p);

/* What the kernel's description of the GPUs in @p folder has of the one at that PCI address: its
 * target (90010 for gfx90a) and how it is linked to a processor. All 0 where it is not there. */
struct hip_node {
    unsigned target;
    bool host_xgmi;
};
struct hip_node hip_node_find(const char *folder, const char *pci_address);
/* "gfx90a", or "" for 0. Returns @p name. */
const char *hip_target_name(unsigned target, char *name, size_t size);

/* kinds.c: which kinds of memory it offers, and who reaches them. */

void hip_device_fill_kinds(struct hip_device *device);

/* capability.c: what it can do, and who says so. */

void hip_device_fill_capabilities(struct hip_device *device);
void hip_reach_source(void *state, int home, memspan_kind_t kind, int from, char *text,
                      size_t size);

/* kinds.c, continued. */

/* XNACK: whether the device can take page faults, and how that is turned on. Returns @p text. */
const char *hip_xnack_words(const struct hip_device *device, char *text, size_t size);
/* True where managed memory is coarse-grained: one side at a time. */
bool hip_managed_is_coarse(const struct hip_device *device);
memspan_reach_t hip_reach(void *state, int home, memspan_kind_t kind, int from);

/* block.c: the list of our blocks, so that the driver's knowledge of one is not taken for knowledge
 * of somebody else's memory. */

void hip_block_insert(struct hip_state *state, struct hip_block *block);
void hip_block_remove(struct hip_state *state, const struct hip_block *block);
bool hip_block_is_ours(struct hip_state *state, const void *address);
/* What the driver gave for the block that holds @p address, or NULL. */
char *hip_block_base(struct hip_state *state, const void *address);

/* alloc.c: memory. */

memspan_status_t hip_alloc(void *state, int ordinal, const memspan_request_t *request,
                           memspan_block_t *block_p);
memspan_status_t hip_free(void *state, int ordinal, const memspan_block_t *block);

/* import.c: host pages in the driver's table. Device current for the first two. */

memspan_status_t hip_register(struct hip_device *device, void *address, size_t size_bytes,
                              void **seen_at_p, struct hip_registration **registration_p);
/* @p registration as hip_register() gave it; once for each time. */
memspan_status_t hip_unregister(struct hip_device *device,
                                const struct hip_registration *registration);
memspan_status_t hip_import(void *state, int ordinal, void *address, size_t size_bytes,
                            void **address_p, void **cookie_p);
memspan_status_t hip_release(void *state, int ordinal, void *address, size_t size_bytes,
                             void *cookie);
/* Register a page of ours, and find out where each device sees it and which numbers this driver
 * gives to the types of memory. What cannot be found out is left as it is. */
void hip_try_page(struct hip_state *state);

/* pointer.c: what the driver knows of an address. */

struct hip_pointer {
    bool known;
    bool managed;
    bool on_host; /* meaningless for managed memory */
    int ordinal;
    void *base;
    size_t size_bytes;
};
memspan_status_t hip_pointer_ask(const struct hip_state *state, const void *pointer,
                                 struct hip_pointer *answer_p);
memspan_status_t hip_pointer_describe(void *state, const void *pointer,
                                      memspan_pointer_facts_t *facts_p);

/* queue.c, transfer.c: work. */

/* @p queue, or the device's own for NULL. Device current. */
memspan_status_t hip_queue_get(struct hip_device *device, void *queue, struct hip_queue **queue_p);
memspan_status_t hip_queue_wait(const struct hip_queue *queue);
void hip_queue_drop(struct hip_queue *queue);
memspan_status_t hip_queue_create(void *state, int ordinal, void **queue_p);
memspan_status_t hip_queue_destroy(void *state, int ordinal, void *queue);
memspan_status_t hip_copy(void *state, int ordinal, void *queue, void *to, const void *from,
                          size_t size_bytes);
memspan_status_t hip_fill(void *state, int ordinal, void *queue, void *to, unsigned char byte,
                          size_t size_bytes);
memspan_status_t hip_synchronize(void *state, int ordinal, void *queue);
memspan_status_t hip_prefetch(void *state, int ordinal, void *queue, const void *pointer,
                              size_t size_bytes, int to);

/* source.c, kernel.c: the built-in kernels. */

extern const char hip_kernel_source[];
/* The name of a kernel's function and the part that holds it. False: there is none. */
bool hip_kernel_name(memspan_kernel_t kernel, char name[48], enum hip_part *part_p);
memspan_status_t hip_launch(void *state, int ordinal, void *queue,
                            const memspan_kernel_call_t *call);
void hip_kernels_drop(struct hip_device *device);
bool hip_has_kernels(const struct hip_state *state);

/* share.c: other processes and network cards. */

memspan_status_t hip_ipc_export(void *state, int ordinal, const memspan_block_t *block, void *token,
                                size_t *token_size_p);
memspan_status_t hip_ipc_import(void *state, int ordinal, const void *token, size_t token_size,
                                memspan_block_t *block_p);
memspan_status_t hip_ipc_close(void *state, int ordinal, const memspan_block_t *block);
memspan_status_t hip_dmabuf_export(void *state, int ordinal, const void *address, size_t size_bytes,
                                   int *fd_p, uint64_t *offset_p);

#endif /* MEMSPAN_BACKENDS_HIP_H */
