/* SPDX-License-Identifier: BSD-3-Clause */
/* view.c: making a view: the tables of segments and of PEs, and empty queues. The segments are
 * those of the time; addresses of later ones travel in requests as they are. */

#include "shmem/device/device.h"
#include "shmem/job.h"
#include "shmem/option.h"
#include "shmem/transport/segment.h"
#include <memspan/device.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static struct msp_device devices[MSP_DEVICE_MAX];
static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER; /* guards devices[].view */

static struct msp_device_words *words_of(int local_index)
{
    return MSP_CONTROL_AREA(local_index, DEVICE);
}

_Static_assert(sizeof(struct msp_device_words) <= sizeof(((struct msp_control_offsets *)0)->DEVICE),
               "words of device barriers fit into their area");

bool msp_device_is_open(int local_index)
{
    return atomic_load_explicit(&words_of(local_index)->open_count, memory_order_relaxed) != 0;
}

/* ---- the device ---- */

/* Its kernels load and store the host's memory, with atomics. */
static memspan_status_t require_host_memory(int device)
{
    const unsigned needs =
        MEMSPAN_CAN_SHARE_ADDRESSES | MEMSPAN_CAN_ACCESS_PAGEABLE | MEMSPAN_CAN_HOST_ATOMICS;
    memspan_device_info_t info = {.struct_size = sizeof info};
    memspan_status_t status;

    if ((device == MEMSPAN_HOST) || (device == memspan_host_device())) {
        return MEMSPAN_OK;
    }
    status = memspan_device_describe(device, &info);
    if ((status == MEMSPAN_OK) && ((info.capabilities & needs) != needs)) {
        return memspan_error(MEMSPAN_ERR_UNSUPPORTED,
                             "device %d (%s) does not load and store the host's memory with "
                             "atomics, which kernels that call OpenSHMEM need",
                             device, info.name);
    }
    return status;
}

/* ---- tables ---- */

static shmemx_device_segment_t entry_of(unsigned number)
{
    const struct msp_segment *segment = &msp_segments[number];

    return (shmemx_device_segment_t){.base         = (uintptr_t)segment->base,
                                     .size_bytes   = segment->size_bytes,
                                     .to_window    = (uint64_t)segment->to_window,
                                     .stride_bytes = segment->stride_bytes,
                                     .reach_own    = segment->host_touches,
                                     .reach_others = segment->host_touches && (segment->fd >= 0) &&
                                                     (segment->team_size == 0),
                                     .number = number};
}

/* The words of barriers, in the control memory, which all PEs of the host map. */
static shmemx_device_segment_t entry_of_words(void)
{
    const size_t slot_bytes = sizeof(struct msp_control_offsets);

    return (shmemx_device_segment_t){
        .base         = (uintptr_t)words_of(msp_job.local_index),
        .size_bytes   = sizeof(struct msp_device_words),
        .to_window    = 0 - ((uint64_t)msp_job.local_index * slot_bytes),
        .stride_bytes = slot_bytes,
        .reach_own    = 1,
        .reach_others = 1,
        .number       = MSP_SEGMENT_CONTROL,
    };
}

/* Partitions first: most addresses are theirs. */
static uint32_t fill_segments(shmemx_device_segment_t *table)
{
    uint32_t count = 0;
    unsigned i;

    for (i = MSP_SEGMENT_FIRST; i < MSP_SEGMENT_MAX; i++) {
        if (msp_segments[i].size_bytes != 0) {
            table[count++] = entry_of(i);
        }
    }
    if (msp_segments[MSP_SEGMENT_DATA].size_bytes != 0) {
        table[count++] = entry_of(MSP_SEGMENT_DATA);
    }
    table[count++] = entry_of_words();
    return count;
}

static void fill_places(int32_t *places)
{
    int i;

    for (i = 0; i < msp_job.pe_count; i++) {
        places[i] = msp_job_local_index(i);
    }
}

static size_t queue_bytes(void)
{
    return sizeof(shmemx_device_queue_t) +
           (MSP_DEVICE_CELLS * (sizeof(shmemx_device_cell_t) + SHMEMX_DEVICE_PIECE_BYTES));
}

static void fill_queues(shmemx_device_view_t *view)
{
    uint32_t i;
    uint64_t ticket;

    for (i = 0; i < MSP_DEVICE_QUEUES; i++) {
        shmemx_device_queue_t *queue =
            (void *)((char *)view + view->queues_at + (i * view->queue_bytes));

        queue->cell_count = MSP_DEVICE_CELLS;
        for (ticket = 0; ticket < shmemx_device_lap(queue); ticket += SHMEMX_DEVICE_STEP) {
            shmemx_device_cell_of(queue, ticket)->turn = ticket;
        }
    }
}

static size_t aligned(size_t size_bytes)
{
    return (size_bytes + MSP_CACHE_LINE_BYTES - 1) / MSP_CACHE_LINE_BYTES * MSP_CACHE_LINE_BYTES;
}

static memspan_status_t make_view(int number, struct msp_device *device)
{
    const size_t segments_at = aligned(sizeof(shmemx_device_view_t));
    const size_t places_at =
        segments_at + aligned(MSP_SEGMENT_MAX * sizeof(shmemx_device_segment_t));
    const size_t queues_at = places_at + aligned((size_t)msp_job.pe_count * sizeof(int32_t));
    const size_t size      = queues_at + (MSP_DEVICE_QUEUES * queue_bytes());
    shmemx_device_view_t *view =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (view == MAP_FAILED) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for a view of %zu bytes", size);
    }
    view->version               = SHMEMX_DEVICE_VIEW_VERSION;
    view->device                = number;
    view->my_pe                 = msp_job.pe;
    view->n_pes                 = msp_job.pe_count;
    view->segments_at           = segments_at;
    view->places_at             = places_at;
    view->queues_at             = queues_at;
    view->queue_count           = MSP_DEVICE_QUEUES;
    view->queue_bytes           = queue_bytes();
    view->barrier               = (uintptr_t)words_of(msp_job.local_index)->barrier;
    view->sleepers              = (uintptr_t)&msp_doorbells.by_index[0].memory_sleepers;
    view->sleepers_stride_bytes = sizeof(struct msp_doorbell);
    view->segment_count         = fill_segments((void *)((char *)view + segments_at));
    fill_places((void *)((char *)view + places_at));
    fill_queues(view);
    *device = (struct msp_device){.view = view, .size_bytes = size};
    return MEMSPAN_OK;
}

/* ---- open and close ---- */

static void print(int number)
{
    if ((msp_job.pe == 0) && msp_shmem_option_is_on(MEMSPAN_SHMEM_INFO)) {
        printf("device %d, in kernels: PEs of this host, %d, by loads and stores where their "
               "memory is mapped; other memory, and PEs of other hosts, %d, by %d queues of %d "
               "requests\n",
               number, msp_job.local_count, msp_job.pe_count - msp_job.local_count,
               MSP_DEVICE_QUEUES, MSP_DEVICE_CELLS);
        fflush(stdout);
    }
}

static struct msp_device *find(const shmemx_device_view_t *view)
{
    int i;

    for (i = 0; i < MSP_DEVICE_MAX; i++) {
        if (devices[i].view == view) {
            return &devices[i];
        }
    }
    return NULL;
}

struct msp_device *msp_device_claim(void)
{
    int i;

    for (i = 0; i < MSP_DEVICE_MAX; i++) {
        if ((__atomic_load_n(&devices[i].view, __ATOMIC_ACQUIRE) != NULL) &&
            !atomic_exchange(&devices[i].is_claimed, true)) {
            return &devices[i];
        }
    }
    return NULL;
}

static memspan_status_t open_locked(int number, const shmemx_device_view_t **view_p)
{
    struct msp_device *device = find(NULL);
    memspan_status_t status;

    if (device == NULL) {
        return memspan_error(MEMSPAN_ERR_LIMIT, "%d views of devices are open already",
                             MSP_DEVICE_MAX);
    }
    status = make_view(number, device);
    if (status == MEMSPAN_OK) {
        status = msp_device_service_start(device);
        if (status != MEMSPAN_OK) {
            munmap(device->view, device->size_bytes);
            device->view = NULL;
        }
    }
    if (status == MEMSPAN_OK) {
        atomic_fetch_add(&words_of(msp_job.local_index)->open_count, 1);
        *view_p = device->view;
        print(number);
    }
    return status;
}

memspan_status_t msp_device_open(int number, const shmemx_device_view_t **view_p)
{
    memspan_status_t status = require_host_memory(number);

    if (status != MEMSPAN_OK) {
        return status;
    }
    pthread_mutex_lock(&open_lock);
    status = open_locked(number, view_p);
    pthread_mutex_unlock(&open_lock);
    return status;
}

static void close_locked(struct msp_device *device)
{
    shmemx_device_view_t *view = device->view;

    msp_device_service_stop(device);
    atomic_fetch_sub(&words_of(msp_job.local_index)->open_count, 1);
    __atomic_store_n(&device->view, NULL, __ATOMIC_RELEASE);
    munmap(view, device->size_bytes);
}

memspan_status_t msp_device_close(const shmemx_device_view_t *view)
{
    memspan_status_t status = MEMSPAN_OK;
    struct msp_device *device;

    pthread_mutex_lock(&open_lock);
    device = (view != NULL) ? find(view) : NULL;
    if (device != NULL) {
        close_locked(device);
    } else {
        status =
            memspan_error(MEMSPAN_ERR_NOT_FOUND, "%p is no view that is open", (const void *)view);
    }
    pthread_mutex_unlock(&open_lock);
    return status;
}

void msp_device_close_all(void)
{
    int i;

    pthread_mutex_lock(&open_lock);
    for (i = 0; i < MSP_DEVICE_MAX; i++) {
        if (devices[i].view != NULL) {
            close_locked(&devices[i]);
        }
    }
    pthread_mutex_unlock(&open_lock);
}

/* A process that ends while a kernel waits may not come to its end in the driver: kernels have a
 * moment to return. A view that is closed at the same time belongs to no kernel. */
void msp_device_fail(void)
{
    const struct timespec moment = {0, 200 * 1000000L};
    bool any                     = false;
    int i;

    for (i = 0; i < MSP_DEVICE_MAX; i++) {
        shmemx_device_view_t *view = __atomic_load_n(&devices[i].view, __ATOMIC_ACQUIRE);

        if (view != NULL) {
            __atomic_store_n(&view->failed, 1, __ATOMIC_RELEASE);
            any = true;
        }
    }
    if (any) {
        (void)nanosleep(&moment, NULL);
    }
}
