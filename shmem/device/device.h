/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEMSPAN_SHMEM_DEVICE_DEVICE_H
#define MEMSPAN_SHMEM_DEVICE_DEVICE_H

/* OpenSHMEM inside kernels: the views that devices have of the job (include/shmem/device_view.h),
 * and the threads that execute their requests, one for each view.
 *
 * Threads: views are opened and closed under one lock; everything else is the view's own thread's,
 * or atomic. */

#include "shmem/context.h"
#include "shmem/control/memory.h"
#include <memspan/device.h>
#include <pthread.h>
#include <shmem/device_view.h>

enum {
    MSP_DEVICE_MAX           = 16,  /* views open at once */
    MSP_DEVICE_QUEUES        = 4,   /* in a view */
    MSP_DEVICE_CELLS         = 128, /* in a queue */
    MSP_DEVICE_BARRIER_WORDS = 40,
};

/* In the control memory's slot of each PE. */
struct msp_device_words {
    uint64_t barrier[MSP_DEVICE_BARRIER_WORDS]; /* rounds, then the number of the last one */
    atomic_uint open_count;                     /* views: kernels of that PE may run */
    atomic_uint silent_count; /* in the first slot: views of PEs of this host that do not notify */
};

/* Atomic operations that a device executes itself, of shmemx_device_segment_t.direct. All updates
 * of a word need one place that makes them atomic: the processors' memory, or the owner, which
 * executes those of words that the host cannot touch on a copy, under a lock (own.h). A store
 * between its load and its store is lost. Signals are atomic with those of the same operator alone,
 * so a signal that is set stays a store. */
#define MSP_DEVICE_BIT(operation) (1u << SHMEMX_DEVICE_##operation)
enum {
    MSP_DEVICE_DIRECT_COPIES = MSP_DEVICE_BIT(FETCH) | MSP_DEVICE_BIT(SIGNAL_SET),
    MSP_DEVICE_DIRECT_STORES = MSP_DEVICE_DIRECT_COPIES | MSP_DEVICE_BIT(SET),
    MSP_DEVICE_DIRECT_ALL    = MSP_DEVICE_DIRECT_STORES | MSP_DEVICE_BIT(SWAP) |
                            MSP_DEVICE_BIT(COMPARE_SWAP) | MSP_DEVICE_BIT(ADD) |
                            MSP_DEVICE_BIT(AND) | MSP_DEVICE_BIT(OR) | MSP_DEVICE_BIT(XOR) |
                            MSP_DEVICE_BIT(SIGNAL_ADD),
};

/* How kernels reach memory of this host. */
enum msp_device_way {
    MSP_DEVICE_AS_IS,     /* all of it, as it is, with atomics */
    MSP_DEVICE_BY_IMPORT, /* pages that are imported into the device's driver first */
    MSP_DEVICE_APART,     /* memory of the device's driver alone */
};

struct msp_device_reach {
    int number; /* the device's */
    enum msp_device_way way;
    bool is_host;        /* the host's own threads */
    bool runs_here;      /* its kernels are threads of this process */
    bool has_atomics;    /* on host memory, with the host */
    memspan_kind_t kind; /* APART: of memory that device and host load and store at once */
    char name[96];
    char why[256]; /* one sentence; of a failure too */
};

struct msp_device {
    shmemx_device_view_t *view; /* the host's; shared memory follows it. NULL: not open */
    void *copy; /* of the view, in the device's memory: its kernels do not notify; or NULL */
    struct msp_device_reach reach;
    size_t size_bytes;      /* from the view on: a mapping; APART: a block of libmemspan's */
    atomic_bool is_claimed; /* a thread serves it */
    atomic_bool ends;
    bool is_slow; /* the device cannot wake the thread */
    pthread_t thread;
    void *context;
    uint64_t tickets[MSP_DEVICE_QUEUES]; /* the next to execute */
};

/* ---- view.c ---- */

/* The view with its tables. */
memspan_status_t msp_device_open(int device, const struct shmemx_device_view **view_p);
/* Its requests are executed first. No kernel uses it any more. */
memspan_status_t msp_device_close(const struct shmemx_device_view *view);
void msp_device_close_all(void);

/* The job ends: kernels that wait stop. Any thread, also one that holds locks. */
void msp_device_fail(void) __attribute__((cold));

/* Kernels of this host store to memory of sleepers and do not notify them: the threads of their
 * views compare the words, and sleepers look every 2 ms. */
bool msp_device_is_silent(void);

/* The words of barriers of a PE of this host. */
struct msp_device_words *msp_device_words_of(int local_index);

/* Kernels of the PE with that local index may run: it is not idle, whatever its threads do. */
bool msp_device_is_open(int local_index);

/* ---- reach.c ---- */

/* MEMSPAN_ERR_UNSUPPORTED for a device whose kernels cannot have a view. */
memspan_status_t msp_device_reach_find(int number, struct msp_device_reach *reach_p);

/* Make the pages of a range of host memory reachable, once. An error where they are not. */
memspan_status_t msp_device_reach_pages(const struct msp_device_reach *reach, void *address,
                                        size_t size_bytes);
/* The opposite, of the range that begins there; NULL: of all. */
void msp_device_reach_release(void *address);

/* The entry of a segment, without addresses_at. */
void msp_device_reach_segment(const struct msp_device_reach *reach, unsigned number,
                              struct shmemx_device_segment *entry);

/* Where device memory of each PE of the host is for the device; false: nowhere. */
bool msp_device_reach_addresses(const struct msp_device_reach *reach, unsigned number,
                                uint64_t *addresses);

/* SHMEM_INFO: the paths to each segment, as the view has them. */
void msp_device_reach_print(const struct msp_device *device);

/* ---- service.c ---- */

memspan_status_t msp_device_service_start(struct msp_device *device);
void msp_device_service_stop(struct msp_device *device);

/* Called by kernels on the host's processors, behind a request. */
void msp_device_serve(struct msp_device *device);

/* The one that no thread serves yet; NULL: there is none. */
struct msp_device *msp_device_claim(void);

#endif /* MEMSPAN_SHMEM_DEVICE_DEVICE_H */
