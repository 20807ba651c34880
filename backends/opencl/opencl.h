/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_BACKENDS_OPENCL_H
#define MEMSPAN_BACKENDS_OPENCL_H

/* The records of the OpenCL backend. A platform has one context over all its devices, so memory of
 * one of its devices is memory of all; contexts, queues and programs are made when first needed.
 *
 * Locks: opencl_platform::lock guards everything that changes after open(). No function takes the
 * locks of two platforms at once. */

#include "backends/gpu/common.h"
#include "backends/opencl/opencl_api.h"
#include <memspan/backend.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define OPENCL_NAME "opencl"

/* The forms of memory, as bits of opencl_state::allowed and opencl_device::svm. */
enum opencl_svm {
    OPENCL_SVM_COARSE  = OPENCL_DEVICE_SVM_COARSE_GRAIN_BUFFER,
    OPENCL_SVM_FINE    = OPENCL_DEVICE_SVM_FINE_GRAIN_BUFFER,
    OPENCL_SVM_SYSTEM  = OPENCL_DEVICE_SVM_FINE_GRAIN_SYSTEM,
    OPENCL_SVM_ATOMICS = OPENCL_DEVICE_SVM_ATOMICS
};

/* A piece of memory that kernels may be given: shared virtual memory of ours, or imported pages.
 * base and size are those given to the library; the driver's own range may start earlier. */
struct opencl_block {
    char *base;
    size_t size_bytes;
    memspan_kind_t kind; /* MEMSPAN_KIND_HOST: imported pages */
    void *svm;           /* start of the driver's range; NULL: host pages */
    size_t svm_size_bytes;
    cl_mem buffer;   /* host pages: the object for kernels; NULL: they take the address */
    int references;  /* imports of the same pages */
    bool coarse;     /* the host may touch it only while it is mapped */
    bool mapped;     /* coarse: it is the host's now */
    bool own_pages;  /* host pages that we mapped */
    bool own_locked; /* we locked its pages */
};

/* A command queue, in order. Counters are the platform's, under its lock. */
struct opencl_queue {
    struct opencl_queue *next;
    struct opencl_device *device;
    cl_command_queue handle;
    int references;            /* its owner, and those who wait for it without the lock */
    uint64_t enqueued;         /* commands so far */
    uint64_t finished;         /* of those, known to be done */
    bool adopted;              /* the program's, with commands that are not counted */
    cl_event handed_over;      /* last unmap on this queue since the host last had the memory */
    uint64_t handover_seen;    /* the platform's handovers that this queue is ordered after */
    struct opencl_hold *holds; /* oldest first; hold.c */
};

/* Kernels are numbered by gpu_kernel_find(); one more serves the backend itself. */
enum { OPENCL_KERNEL_REPORT = GPU_KERNEL_COUNT, OPENCL_KERNEL_COUNT };

/* The text that a kernel comes from. Combining kernels are compiled apart: few programs use them.
 */
enum opencl_part { OPENCL_PART_BASIC, OPENCL_PART_COMBINE, OPENCL_PARTS };

/* Does the device see host pages at the host's address, at once, both ways? */
enum opencl_same { OPENCL_SAME_UNKNOWN = 0, OPENCL_SAME_YES, OPENCL_SAME_NO };

struct opencl_device {
    struct opencl_platform *platform;
    cl_device_id id;
    memspan_device_info_t info; /* all but those that depend on `same` */
    unsigned svm;               /* enum opencl_svm: has, and the option allows */
    unsigned svm_has;           /* enum opencl_svm: has */
    uint64_t alloc_max_bytes;   /* the driver's word */
    size_t work_group_size_max;
    atomic_uint kinds; /* info.kinds, for those who do not hold the lock */
    bool unified;      /* its memory is the host's */
    bool processor;    /* it is the host's processors: its memory is this process's own */
    bool has_compiler;
    bool has_doubles;
    char language[20]; /* option of its compiler, or "" */
    /* Below: under the platform's lock. */
    struct opencl_queue *queue;     /* the device's own, made when first needed */
    cl_command_queue host_queue;    /* maps and probes: they must not wait for kernels */
    _Atomic(enum opencl_same) same; /* written under the lock, read by anyone */
    cl_program programs[OPENCL_PARTS];
    cl_kernel kernels[OPENCL_KERNEL_COUNT];
    uint64_t kernels_told[OPENCL_KERNEL_COUNT]; /* opencl_platform::generation when they were last
                                                   checked */
    bool kernels_hold[OPENCL_KERNEL_COUNT];     /* they hold a list of blocks */
};

struct opencl_platform {
    struct opencl_state *state;
    cl_platform_id id;
    char name[64];
    int version; /* 10 * major + minor */
    struct opencl_device *devices;
    int device_count;
    pthread_mutex_t lock;
    cl_context context;
    struct opencl_queue *queues;  /* without the host queues, which are always idle */
    struct opencl_block **blocks; /* live, by ascending base */
    size_t block_count;
    size_t block_capacity;
    uint64_t generation; /* changes with the set of blocks */
    uint64_t handovers;  /* times that blocks were unmapped */
};

struct opencl_state {
    const memspan_services_t *services;
    struct opencl_calls cl;
    void *library;
    pid_t pid;        /* the process that opened it: drivers do not survive fork() */
    unsigned allowed; /* enum opencl_svm: the bits that MEMSPAN_OPENCL_SVM leaves */
    struct opencl_platform *platforms;
    int platform_count;
    struct opencl_device **devices; /* by ordinal */
    int device_count;
};

/* status.c: errors. */

/* "CL_OUT_OF_RESOURCES", or "" for a number that is not in the list. */
const char *opencl_status_text(cl_int code);

/* Record that @p call answered @p code during the work that the format describes; returns the
 * status that fits the code. */
memspan_status_t opencl_error(const struct opencl_state *state, const char *call, cl_int code,
                              const char *format, ...) __attribute__((format(printf, 4, 5), cold));

/* Record a failure that no driver call reported. */
memspan_status_t opencl_refuse(const struct opencl_state *state, memspan_status_t status,
                               const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5), cold));

/* The device of an ordinal; refuses unknown ones, and everything in a forked child. */
memspan_status_t opencl_enter(void *state, int ordinal, struct opencl_device **device_p);

/* platform.c: finding platforms and devices. */

memspan_status_t opencl_platforms_find(struct opencl_state *state);
/* Give up everything that was made on them. In a forked child only our own records. */
void opencl_platforms_drop(struct opencl_state *state);
/* The context, made when first needed. Lock held. */
memspan_status_t opencl_platform_need_context(struct opencl_platform *platform);

/* describe.c: a device's properties. */

/* Ask the driver everything about a device, once. False: leave it out (the log has the reason). */
bool opencl_device_fill(struct opencl_device *device, int ordinal, int index);
memspan_status_t opencl_device_describe(void *state, int ordinal, memspan_device_info_t *info_p);

/* notes.c: the kinds of memory that a device offers, in bits and words, and the devices that reach
 * them. */

void opencl_device_fill_kinds(struct opencl_device *device);
/* capability.c: its capabilities, and their sources. The platform's lock is held. */
void opencl_device_fill_capabilities(struct opencl_device *device);
void opencl_reach_source(void *state, int home, memspan_kind_t kind, int from, char *text,
                         size_t size);
memspan_reach_t opencl_reach(void *state, int home, memspan_kind_t kind, int from);
/* True when host-pinned memory of @p device is host pages given to the driver. */
bool opencl_pins_host_pages(const struct opencl_device *device);
bool opencl_may_import(const struct opencl_device *device);
/* True when its device memory is fine-grain: the host copies it without its driver. */
bool opencl_device_is_fine(const struct opencl_device *device);

/* queue.c: command queues and waiting. All with the lock held unless noted. */

memspan_status_t opencl_queue_new(struct opencl_device *device, struct opencl_queue **queue_p);
void opencl_queue_unref(struct opencl_queue *queue);
/* One of the program's. */
memspan_status_t opencl_queue_hold(struct opencl_device *device, cl_command_queue handle,
                                   struct opencl_queue **queue_p);
/* It has commands, or may have. */
bool opencl_queue_is_busy(const struct opencl_queue *queue);
/* @p queue, or the device's own for NULL. */
memspan_status_t opencl_queue_get(struct opencl_device *device, void *queue,
                                  struct opencl_queue **queue_p);
memspan_status_t opencl_queue_need_host(struct opencl_device *device);
/* Wait for the commands of @p queue. Lets go of the lock meanwhile. */
memspan_status_t opencl_queue_finish(struct opencl_queue *queue);
/* Wait until no queue of the platform has work. Lets go of the lock meanwhile. */
memspan_status_t opencl_platform_quiesce(struct opencl_platform *platform);
memspan_status_t opencl_queue_create(void *state, int ordinal, void **queue_p);
memspan_status_t opencl_queue_destroy(void *state, int ordinal, void *queue);

/* event.c. opencl_event_mark(): lock held; complete with all earlier work of the queue. */

memspan_status_t opencl_event_mark(struct opencl_queue *queue, cl_event *handle_p);
memspan_status_t opencl_event_record(void *state, int ordinal, void *queue, void **event_p);
memspan_status_t opencl_event_wait(void *state, int ordinal, void *queue, void *event);
memspan_status_t opencl_event_done(void *state, int ordinal, void *event, int *done_p);
memspan_status_t opencl_event_destroy(void *state, int ordinal, void *event);
memspan_status_t opencl_queue_adopt(void *state, int ordinal, memspan_queue_type_t type,
                                    void *native, void **queue_p);

/* hold.c. opencl_platform_is_held(): lock held. */

bool opencl_queue_is_held(const struct opencl_queue *queue);
bool opencl_platform_is_held(const struct opencl_platform *platform);
memspan_status_t opencl_queue_hold_back(void *state, int ordinal, void *queue);
memspan_status_t opencl_queue_release(void *state, int ordinal, void *queue);

/* block.c: the table of live blocks. Lock held. */

struct opencl_block *opencl_block_find(const struct opencl_platform *platform, const void *address);
/* Put it in; MEMSPAN_ERR_INVALID when it overlaps another. */
memspan_status_t opencl_block_insert(struct opencl_platform *platform, struct opencl_block *block);
void opencl_block_remove(struct opencl_platform *platform, const struct opencl_block *block);

/* svm.c: the owner of coarse memory, host or devices. Lock held. */

/* Before a command on @p queue uses them: unmap those of @p blocks that the host has. */
memspan_status_t opencl_hand_over(struct opencl_queue *queue, struct opencl_block *const *blocks,
                                  size_t count);
/* Make managed memory the host's again: waits for all queues, then maps all blocks that are not
 * mapped. */
memspan_status_t opencl_take_back(struct opencl_queue *queue);
/* Map one block now, for the host. */
memspan_status_t opencl_map_now(struct opencl_device *device, struct opencl_block *block);

/* alloc.c */

memspan_status_t opencl_alloc(void *state, int ordinal, const memspan_request_t *request,
                              memspan_block_t *block_p);
memspan_status_t opencl_free(void *state, int ordinal, const memspan_block_t *block);

/* host.c: device memory that the host and its network may use while kernels run. */

memspan_status_t opencl_host_open(void *state, int ordinal, const void *address, size_t size_bytes,
                                  void **host_p);
memspan_status_t opencl_host_close(void *state, int ordinal, const void *address,
                                   size_t size_bytes);

/* place.c: pages of memory that is the host's. */

/* Bind and lock as requested; the block records the result. */
memspan_status_t opencl_place(struct opencl_device *device, const memspan_request_t *request,
                              struct opencl_block *block, memspan_block_t *given);

/* import.c: host pages. */

memspan_status_t opencl_import(void *state, int ordinal, void *address, size_t size_bytes,
                               void **address_p, void **cookie_p);
memspan_status_t opencl_release(void *state, int ordinal, void *address, size_t size_bytes,
                                void *cookie);
/* Make a buffer of the block's pages and let a kernel confirm their address. Lock held. */
memspan_status_t opencl_pages_attach(struct opencl_device *device, struct opencl_block *block);

/* program.c: the kernels' text. kernel.c: running them. */

/* A kernel of @p device by its number and the name of its function, compiled when first needed.
 * Lock held. */
memspan_status_t opencl_kernel_get(struct opencl_device *device, int which, const char *name,
                                   cl_kernel *kernel_p);
/* Give back programs and kernels. Lock held. */
void opencl_program_drop(struct opencl_device *device);
/* Why @p device cannot run @p kernel; NULL when it can. */
const char *opencl_kernel_missing(const struct opencl_device *device, memspan_kernel_t kernel);
memspan_status_t opencl_launch(void *state, int ordinal, void *queue,
                               const memspan_kernel_call_t *call);

/* transfer.c */

memspan_status_t opencl_copy(void *state, int ordinal, void *queue, void *to, const void *from,
                             size_t size_bytes);
memspan_status_t opencl_fill(void *state, int ordinal, void *queue, void *to, unsigned char byte,
                             size_t size_bytes);
memspan_status_t opencl_synchronize(void *state, int ordinal, void *queue);
memspan_status_t opencl_prefetch(void *state, int ordinal, void *queue, const void *pointer,
                                 size_t size_bytes, int to);

#endif /* MEMSPAN_BACKENDS_OPENCL_H */
