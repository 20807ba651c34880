/* SPDX-License-Identifier: BSD-3-Clause */
/* view.c: making a view: the tables of segments and of PEs, and empty queues. The segments are
 * those of the time; addresses of later ones travel in requests as they are. */

#include "shmem/device/device.h"
#include "shmem/job.h"
#include "shmem/partition/placement.h"
#include "shmem/transport/segment.h"
#include <memspan/allocator.h>
#include <memspan/transfer.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static struct msp_device devices[MSP_DEVICE_MAX];
static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER; /* guards devices[].view */

struct msp_device_words *msp_device_words_of(int local_index)
{
    return MSP_CONTROL_AREA(local_index, DEVICE);
}

_Static_assert(sizeof(struct msp_device_words) <= sizeof(((struct msp_control_offsets *)0)->DEVICE),
               "words of device barriers fit into their area");

bool msp_device_is_open(int local_index)
{
    return atomic_load_explicit(&msp_device_words_of(local_index)->open_count,
                                memory_order_relaxed) != 0;
}

bool msp_device_is_silent(void)
{
    return atomic_load_explicit(&msp_device_words_of(0)->silent_count, memory_order_relaxed) != 0;
}

/* ---- tables ---- */

/* The words of barriers, in the control memory, which all PEs of the host map. */
static shmemx_device_segment_t entry_of_words(bool is_reached)
{
    const size_t slot_bytes = sizeof(struct msp_control_offsets);

    return (shmemx_device_segment_t){
        .base         = (uintptr_t)msp_device_words_of(msp_job.local_index),
        .size_bytes   = sizeof(struct msp_device_words),
        .to_window    = 0 - ((uint64_t)msp_job.local_index * slot_bytes),
        .stride_bytes = slot_bytes,
        .reach_own    = is_reached,
        .reach_others = is_reached,
        .direct       = MSP_DEVICE_DIRECT_STORES,
        .number       = MSP_SEGMENT_CONTROL,
    };
}

/* Of device memory, whose copies the driver of the device opens: their tables. */
static size_t address_bytes(void)
{
    size_t tables = 0;
    unsigned i;

    for (i = MSP_SEGMENT_FIRST; i < MSP_SEGMENT_MAX; i++) {
        tables += ((msp_segments[i].size_bytes != 0) && !msp_segments[i].host_touches) ? 1 : 0;
    }
    return tables * (size_t)msp_job.local_count * sizeof(uint64_t);
}

static void fill_segment(shmemx_device_view_t *view, const struct msp_device_reach *reach,
                         unsigned number, shmemx_device_segment_t *entry)
{
    msp_device_reach_segment(reach, number, entry);
    view->asks_for_own |= (entry->reach_own == 0);
}

/* Partitions first: most addresses are theirs. */
static void fill_segments(shmemx_device_view_t *view, const struct msp_device_reach *reach,
                          uint64_t addresses_at)
{
    shmemx_device_segment_t *entry = (void *)((char *)view + view->segments_at);
    unsigned i;

    for (i = MSP_SEGMENT_FIRST; i < MSP_SEGMENT_MAX; i++) {
        if (msp_segments[i].size_bytes == 0) {
            continue;
        }
        fill_segment(view, reach, i, entry);
        if (!msp_segments[i].host_touches) {
            if (msp_device_reach_addresses(reach, i, (void *)((char *)view + addresses_at))) {
                entry->addresses_at = addresses_at;
            }
            addresses_at += (size_t)msp_job.local_count * sizeof(uint64_t);
        }
        entry++;
    }
    if (msp_segments[MSP_SEGMENT_DATA].size_bytes != 0) {
        fill_segment(view, reach, MSP_SEGMENT_DATA, entry++);
    }
    view->asks_for_own |= (reach->way == MSP_DEVICE_APART); /* the library's words */
    *entry++ = entry_of_words(reach->way != MSP_DEVICE_APART);
    view->segment_count =
        (uint32_t)(entry - (shmemx_device_segment_t *)(void *)((char *)view + view->segments_at));
}

/* What a kernel cannot do without: the view, the words of all PEs' barriers, their doorbells. */
static memspan_status_t reach_control(const struct msp_device_reach *reach,
                                      shmemx_device_view_t *view, size_t size_bytes)
{
    memspan_status_t status;
    int i;

    if (reach->way == MSP_DEVICE_APART) { /* the view is its memory, the rest requests */
        return MEMSPAN_OK;
    }
    status = msp_device_reach_pages(reach, view, size_bytes);
    if (status == MEMSPAN_OK) {
        status = msp_device_reach_pages(reach, msp_doorbells.by_index,
                                        (size_t)msp_job.local_count * sizeof(struct msp_doorbell));
    }
    for (i = 0; (status == MEMSPAN_OK) && (i < msp_job.local_count); i++) {
        status =
            msp_device_reach_pages(reach, msp_device_words_of(i), sizeof(struct msp_device_words));
    }
    return status;
}

static void fill_places(int32_t *places)
{
    int i;

    for (i = 0; i < msp_job.pe_count; i++) {
        places[i] = msp_job_local_index(i);
    }
}

/* Of a queue: its part of the memory that device and host share. */
static size_t cell_bytes(void)
{
    return sizeof(shmemx_device_progress_t) +
           (MSP_DEVICE_CELLS * (sizeof(shmemx_device_cell_t) + SHMEMX_DEVICE_PIECE_BYTES));
}

static void fill_queues(shmemx_device_view_t *view)
{
    shmemx_device_queue_t *queue = shmemx_device_queue_at(view, 0);
    uint64_t progress            = view->state + sizeof(shmemx_device_state_t);
    uint32_t i;
    uint64_t ticket;

    for (i = 0; i < MSP_DEVICE_QUEUES; i++, queue++, progress += cell_bytes()) {
        queue->progress   = progress;
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

static void fill_view(shmemx_device_view_t *view, const struct msp_device *device)
{
    view->version     = SHMEMX_DEVICE_VIEW_VERSION;
    view->device      = device->reach.number;
    view->my_pe       = msp_job.pe;
    view->n_pes       = msp_job.pe_count;
    view->queue_count = MSP_DEVICE_QUEUES;
    view->barrier     = (uintptr_t)msp_device_words_of(msp_job.local_index)->barrier;
    view->is_apart    = (device->reach.way == MSP_DEVICE_APART);
    if ((view->is_apart == 0) && (device->copy == NULL)) {
        view->sleepers              = (uintptr_t)&msp_doorbells.by_index[0].memory_sleepers;
        view->sleepers_stride_bytes = sizeof(struct msp_doorbell);
    }
    if (device->reach.runs_here) {
        view->serve  = (uintptr_t)msp_device_serve;
        view->server = (uintptr_t)device;
    }
    fill_places((void *)((char *)view + view->places_at));
    fill_queues(view);
}

/* In the device's own memory, for kernels that other processors than the host's execute. NULL:
 * there is none, and kernels load the host's view. So do those of OpenCL, which wants the memory
 * declared that a kernel finds by pointers: cells and state stay in one block with the view. */
static void *allocate_copy(const struct msp_device_reach *reach, size_t size_bytes)
{
    memspan_space_h space;

    if (reach->runs_here || (reach->way == MSP_DEVICE_APART) ||
        (msp_device_memory_space(reach->number, MEMSPAN_KIND_DEVICE, &space) != MEMSPAN_OK)) {
        return NULL;
    }
    return msp_device_memory_alloc(space, size_bytes, false);
}

/* Zeros that the device loads and stores, or will after an import. */
static shmemx_device_view_t *allocate(const struct msp_device_reach *reach, size_t size_bytes)
{
    memspan_space_h space;
    void *block = NULL;

    if (reach->way != MSP_DEVICE_APART) {
        block = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return (block != MAP_FAILED) ? block : NULL;
    }
    if (msp_device_memory_space(reach->number, reach->kind, &space) == MEMSPAN_OK) {
        block = msp_device_memory_alloc(space, size_bytes, false);
    }
    return (block != NULL) ? memset(block, 0, size_bytes) : NULL;
}

static memspan_status_t make_view(struct msp_device *device)
{
    const size_t segments_at = aligned(sizeof(shmemx_device_view_t));
    const size_t addresses_at =
        segments_at + aligned(MSP_SEGMENT_MAX * sizeof(shmemx_device_segment_t));
    const size_t places_at = addresses_at + aligned(address_bytes());
    const size_t queues_at = places_at + aligned((size_t)msp_job.pe_count * sizeof(int32_t));
    const size_t state_at  = queues_at + aligned(MSP_DEVICE_QUEUES * sizeof(shmemx_device_queue_t));
    const size_t size =
        state_at + sizeof(shmemx_device_state_t) + (MSP_DEVICE_QUEUES * cell_bytes());
    shmemx_device_view_t *view = allocate(&device->reach, size);
    memspan_status_t status;

    if (view == NULL) {
        return memspan_error(MEMSPAN_ERR_NO_MEMORY, "no memory for a view of %zu bytes", size);
    }
    view->segments_at  = segments_at;
    view->places_at    = places_at;
    view->queues_at    = queues_at;
    view->state        = (uintptr_t)view + state_at;
    device->view       = view;
    device->size_bytes = size;
    device->copy       = allocate_copy(&device->reach, state_at);
    fill_view(view, device);
    status = reach_control(&device->reach, view, size);
    if (status == MEMSPAN_OK) {
        fill_segments(view, &device->reach, addresses_at);
    }
    if ((status == MEMSPAN_OK) && (device->copy != NULL)) {
        status = memspan_copy(device->copy, view, state_at);
    }
    return status;
}

/* ---- open and close ---- */

/* What kernels are given. */
static const shmemx_device_view_t *view_of(const struct msp_device *device)
{
    return (device->copy != NULL) ? device->copy : device->view;
}

/* NULL: of one that is not open. */
static struct msp_device *find(const shmemx_device_view_t *view)
{
    int i;

    for (i = 0; i < MSP_DEVICE_MAX; i++) {
        if (view_of(&devices[i]) == view) {
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

static bool any_is_open(void)
{
    int i;

    for (i = 0; i < MSP_DEVICE_MAX; i++) {
        if (devices[i].view != NULL) {
            return true;
        }
    }
    return false;
}

/* The last view ends all imports. */
static void drop_view(struct msp_device *device)
{
    shmemx_device_view_t *view = device->view;

    __atomic_store_n(&device->view, NULL, __ATOMIC_RELEASE);
    if (device->copy != NULL) {
        (void)memspan_free(device->copy);
        device->copy = NULL;
    }
    if (view != NULL) {
        msp_device_reach_release(any_is_open() ? (void *)view : NULL);
        if (device->reach.way == MSP_DEVICE_APART) {
            (void)memspan_free(view);
        } else {
            munmap(view, device->size_bytes);
        }
    }
}

static memspan_status_t open_locked(int number, const shmemx_device_view_t **view_p)
{
    struct msp_device *device = find(NULL);
    struct msp_device_reach reach;
    memspan_status_t status = msp_device_reach_find(number, &reach);

    if (status != MEMSPAN_OK) {
        return status;
    }
    if (device == NULL) {
        return memspan_error(MEMSPAN_ERR_LIMIT, "%d views of devices are open already",
                             MSP_DEVICE_MAX);
    }
    *device = (struct msp_device){.reach = reach};
    status  = make_view(device);
    if (status == MEMSPAN_OK) {
        status = msp_device_service_start(device);
    }
    if (status != MEMSPAN_OK) {
        drop_view(device);
        return status;
    }
    atomic_fetch_add(&msp_device_words_of(msp_job.local_index)->open_count, 1);
    atomic_fetch_add(&msp_device_words_of(0)->silent_count, (device->copy != NULL) ? 1 : 0);
    *view_p = view_of(device);
    msp_device_reach_print(device);
    return MEMSPAN_OK;
}

memspan_status_t msp_device_open(int number, const shmemx_device_view_t **view_p)
{
    memspan_status_t status;

    pthread_mutex_lock(&open_lock);
    status = open_locked(number, view_p);
    pthread_mutex_unlock(&open_lock);
    return status;
}

static void close_locked(struct msp_device *device)
{
    msp_device_service_stop(device);
    atomic_fetch_sub(&msp_device_words_of(msp_job.local_index)->open_count, 1);
    atomic_fetch_sub(&msp_device_words_of(0)->silent_count, (device->copy != NULL) ? 1 : 0);
    drop_view(device);
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
            __atomic_store_n(&shmemx_device_state_of(view)->failed, 1, __ATOMIC_RELEASE);
            any = true;
        }
    }
    if (any) {
        (void)nanosleep(&moment, NULL);
    }
}
