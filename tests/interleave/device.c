/* SPDX-License-Identifier: BSD-3-Clause */
/* device.c: kernels of PE 0, whose device runs on the host's processors, and the host of PE 1.
 *
 * The device is pretended here, in place of the library's calls: it loads and stores its memory,
 * the host copies that by words, and nothing orders the two. */

#include "shmem/device/device.h"
#include "pe.h"
#include "shmem/control/wait.h"
#include "shmem/transport/owner.h"
#include "shmem/transport/transport.h"
#include <shmemx_device.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { DEVICE = 1, UPDATES = 2, UNIT_SHIFT = 12 };

struct page {
    atomic_uint has_view, has_finished;
    uint64_t view;                             /* PE 0's */
    _Alignas(1 << UNIT_SHIFT) uint64_t word;   /* of PE 0, in memory of its device */
    _Alignas(1 << UNIT_SHIFT) uint64_t target; /* of PE 0, in memory of the host */
};

static struct page *page(void)
{
    return pe_place.page;
}

/* ---- the device ---- */

memspan_status_t __wrap_memspan_device_describe(int device, memspan_device_info_t *info_p);
memspan_status_t __wrap_memspan_device_describe(int device, memspan_device_info_t *info_p)
{
    info_p->number       = device;
    info_p->capabilities = MEMSPAN_CAN_SHARE_ADDRESSES | MEMSPAN_CAN_ACCESS_PAGEABLE |
                           MEMSPAN_CAN_HOST_ATOMICS | MEMSPAN_CAN_UNIFIED_PHYSICAL;
    snprintf(info_p->name, sizeof info_p->name, "pretended");
    snprintf(info_p->backend, sizeof info_p->backend, "openmp");
    return MEMSPAN_OK;
}

int __wrap_memspan_host_device(void);
int __wrap_memspan_host_device(void)
{
    return MEMSPAN_HOST;
}

memspan_status_t __wrap_memspan_pointer_reach(const void *pointer, int from,
                                              memspan_reach_t *reach_p);
memspan_status_t __wrap_memspan_pointer_reach(const void *pointer, int from,
                                              memspan_reach_t *reach_p)
{
    (void)pointer;
    (void)from;
    *reach_p = (memspan_reach_t){MEMSPAN_ACCESS_LOCAL, MEMSPAN_COHERENCE_ATOMIC};
    return MEMSPAN_OK;
}

/* By words, as drivers do. */
memspan_status_t __wrap_memspan_copy(void *to, const void *from, size_t size_bytes);
memspan_status_t __wrap_memspan_copy(void *to, const void *from, size_t size_bytes)
{
    EXPECT(size_bytes == sizeof(uint64_t));
    __atomic_store_n((uint64_t *)to, __atomic_load_n((const uint64_t *)from, __ATOMIC_RELAXED),
                     __ATOMIC_RELAXED);
    return MEMSPAN_OK;
}

/* ---- PE 0 ---- */

static void begin(void)
{
    static unsigned char segments[] = {MSP_SEGMENT_FIRST, MSP_SEGMENT_FIRST + 1};
    struct page *p                  = page();

    pe_begin(2);
    if (pe_place.number >= 2) {
        return;
    }
    msp_job.has_device_memory = true;
    *msp_team_world() =
        (struct msp_team){.index = MSP_TEAM_WORLD, .stride = 1, .size = 2, .pe = pe_place.number};
    msp_arena = (struct msp_arena){
        .base = (uintptr_t)&p->word, .shift = UNIT_SHIFT, .unit_count = 2, .segment_of = segments};
    msp_segments[MSP_SEGMENT_FIRST] = (struct msp_segment){
        .base = (char *)&p->word, .size_bytes = sizeof p->word, .partition = 0, .fd = -1};
    msp_segments[MSP_SEGMENT_FIRST + 1] = (struct msp_segment){.base         = (char *)&p->target,
                                                               .size_bytes   = sizeof p->target,
                                                               .partition    = 1,
                                                               .reach_count  = 1,
                                                               .fd           = -1,
                                                               .host_touches = true};
}

static const shmemx_device_view_t *view(void)
{
    return (const shmemx_device_view_t *)(uintptr_t)page()->view;
}

static void wait_for(const atomic_uint *word)
{
    MSP_WAIT(atomic_load_explicit(word, memory_order_acquire) != 0);
}

static void tell(atomic_uint *word)
{
    atomic_fetch_add_explicit(word, 1, memory_order_release);
    msp_doorbell_notify(0);
    msp_doorbell_notify(1);
}

static void open_view(void)
{
    const shmemx_device_view_t *opened;

    EXPECT(msp_owner_serve(MSP_SEGMENT_FIRST) == MEMSPAN_OK);
    EXPECT(msp_device_open(DEVICE, &opened) == MEMSPAN_OK);
    page()->view = (uintptr_t)opened;
    tell(&page()->has_view);
}

/* When the others have ended. */
static void close_view(void)
{
    wait_for(&page()->has_finished);
    EXPECT(msp_device_close(view()) == MEMSPAN_OK);
    msp_owner_close();
}

/* Requests of kernels, by one queue. */
static uint64_t ask(uint32_t operation, void *where, uint64_t value)
{
    unsigned segment = (where == &page()->word) ? MSP_SEGMENT_FIRST : MSP_SEGMENT_FIRST + 1;

    return shmemx_device_ask(view(), shmemx_device_queue_at(view(), 0), operation,
                             (uint64_t)segment << 48, sizeof(uint64_t), value, 0, 0);
}

static void add_by_kernel(void)
{
    int i;

    for (i = 0; i < UPDATES; i++) {
        (void)shmemx_device_atomic(view(), SHMEMX_DEVICE_ADD, &page()->word, sizeof(uint64_t), 1, 0,
                                   0);
    }
}

/* Its view closes when the kernels have ended, and its memory is served until PE 1 has. */
static void serve_and_add(void)
{
    open_view();
    add_by_kernel();
    close_view();
    EXPECT(page()->word == 2 * UPDATES);
}

static void add_by_host(void)
{
    struct msp_target target          = {.call      = "shmem_atomic_add",
                                         .transport = &msp_transport_owner,
                                         .segment   = &msp_segments[MSP_SEGMENT_FIRST],
                                         .pe        = 0};
    struct msp_atomic_request request = {.operation = MSP_ATOMIC_ADD, .size_bytes = 8, .value = 1};
    int i;

    EXPECT(msp_owner_serve(MSP_SEGMENT_FIRST) == MEMSPAN_OK);
    wait_for(&page()->has_view);
    for (i = 0; i < UPDATES; i++) {
        msp_transport_owner.atomic(&target, &request, 0);
    }
    msp_transport_owner.order(NULL, true);
    tell(&page()->has_finished);
    msp_owner_close();
}

/* ---- two kernels of PE 0, that ask ---- */

static void idle(void)
{
}

/* PEs of a host end together. */
static void end(void)
{
    EXPECT(msp_owner_serve(MSP_SEGMENT_FIRST) == MEMSPAN_OK);
    msp_owner_close();
}

/* Another thread of PE 0. */
static void fetch(void)
{
    uint64_t first  = ask(SHMEMX_DEVICE_ADD | SHMEMX_DEVICE_REPLIES, &page()->word, 1);
    uint64_t second = ask(SHMEMX_DEVICE_ADD | SHMEMX_DEVICE_REPLIES, &page()->word, 1);

    EXPECT(first < second);
}

static void open_and_fetch(void)
{
    open_view();
    fetch();
    close_view();
    EXPECT(page()->word == 4);
}

static void fetch_beside(void)
{
    wait_for(&page()->has_view);
    fetch();
    tell(&page()->has_finished);
}

/* What was requested before is there after quiet. */
static void put_and_quiet(void)
{
    uint64_t *target = &page()->target;

    open_view();
    (void)ask(SHMEMX_DEVICE_SET, target, 5);
    (void)shmemx_device_quiet(view());
    EXPECT(__atomic_load_n(target, __ATOMIC_RELAXED) == 5);
    close_view();
}

/* A kernel waits for what never comes. */
static void open_and_fail(void)
{
    open_view();
    msp_device_fail();
    wait_for(&page()->has_finished);
}

static void wait_in_vain(void)
{
    wait_for(&page()->has_view);
    (void)shmemx_device_signal_wait_until(view(), &page()->target, SHMEMX_DEVICE_CMP_EQ, 1);
    EXPECT(shmemx_device_has_seen_failure(view()));
    tell(&page()->has_finished);
}

static const struct scenario scenarios[] = {
    {"view-updates",
     "no update of a word is lost, of a kernel or of the host",
     begin,
     {serve_and_add, add_by_host},
     NULL,
     0,
     true,
     NULL},
    {"view-tickets",
     "each request is executed once, and its thread has the reply",
     begin,
     {open_and_fetch, end, idle, fetch_beside},
     NULL,
     0,
     true,
     NULL},
    {"view-quiet",
     "quiet returns when what was requested is there",
     begin,
     {put_and_quiet, end, idle, fetch_beside},
     NULL,
     0,
     true,
     NULL},
    {"view-failure",
     "a kernel that waits ends when the job has failed",
     begin,
     {open_and_fail, idle, idle, wait_in_vain},
     NULL,
     0,
     true,
     NULL},
};
PE_SCENARIOS(scenarios)
