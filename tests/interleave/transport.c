/* SPDX-License-Identifier: BSD-3-Clause */
/* transport.c: calls between PEs of a host, and requests to the owner of memory. */

#include "shmem/transport/transport.h"
#include "pe.h"
#include "shmem/control/memory.h"
#include "shmem/control/wait.h"
#include "shmem/transport/call.h"
#include "shmem/transport/owner.h"
#include <stdatomic.h>
#include <string.h>

struct page {
    atomic_uint is_served;
    unsigned sums[PE_COUNT];
    _Alignas(64) uint64_t words[PE_COUNT][8]; /* the segment of each PE */
};

static struct page *page(void)
{
    return pe_place.page;
}

/* ---- calls ---- */

static int handler;
static unsigned received, sum;

static void add(const void *payload, size_t size_bytes, int pe, void *data)
{
    unsigned value;

    (void)pe;
    (void)data;
    EXPECT(size_bytes >= sizeof value);
    memcpy(&value, payload, sizeof value);
    sum += value;
    received++;
}

static void begin_calls(void)
{
    pe_begin(2);
    EXPECT(msp_call_handler_add(add, NULL, &handler) == MEMSPAN_OK);
}

static void call_other(unsigned value)
{
    msp_call_post("shmemx_call", handler, &value, sizeof value, 1 - pe_place.number);
}

static void call_twice(void)
{
    call_other(3);
    call_other(4);
    msp_call_order(NULL, true);
}

static void be_called_twice(void)
{
    MSP_WAIT(received == 2);
    EXPECT(sum == 7);
}

static void call_and_be_called(void)
{
    call_other(5);
    MSP_WAIT(received == 1);
    EXPECT(sum == 5);
    msp_call_order(NULL, true);
}

/* Two records fill the queue: each caller waits for space, and executes meanwhile. */
static void fill_and_be_called(void)
{
    static char large[SHMEMX_CALL_MAX_BYTES] = {1};
    enum { RECORDS = 9 };
    int i;

    for (i = 0; i < RECORDS; i++) {
        msp_call_post("shmemx_call", handler, large, sizeof large, 1 - pe_place.number);
    }
    MSP_WAIT(received == RECORDS);
    EXPECT(sum == RECORDS);
}

/* ---- calls that two threads of a PE execute, and the end ---- */

static atomic_uint executed;

/* What handlers share needs no atomics. */
static void count(const void *payload, size_t size_bytes, int pe, void *data)
{
    add(payload, size_bytes, pe, data);
    atomic_fetch_add_explicit(&executed, 1, memory_order_relaxed);
}

static void begin_counted_calls(void)
{
    pe_begin(2);
    EXPECT(msp_call_handler_add(count, NULL, &handler) == MEMSPAN_OK);
}

static void execute(void)
{
    /* A thread of this PE changes it, without a notification. */
    MSP_WAIT_UNNOTIFIED(atomic_load_explicit(&executed, memory_order_relaxed) == 2);
}

static void idle(void)
{
}

/* A handler that stores to memory of the host's PEs, and its caller, which looks after quiet. */
static void store(const void *payload, size_t size_bytes, int pe, void *data)
{
    add(payload, size_bytes, pe, data);
    page()->sums[pe] = sum;
}

static void begin_stores(void)
{
    pe_begin(2);
    EXPECT(msp_call_handler_add(store, NULL, &handler) == MEMSPAN_OK);
}

static void call_and_look(void)
{
    call_other(6);
    msp_call_order(NULL, true);
    EXPECT(page()->sums[pe_place.number] == 6);
}

static void execute_one(void)
{
    MSP_WAIT(received == 1);
}

/* As the end of a job: quiet, a barrier, and what is left is dropped. */
static void finalize(void)
{
    msp_call_order(NULL, true);
    msp_host_barrier();
    EXPECT((pe_place.number == 1) || (sum == 3));
    msp_call_close();
}

static void call_and_finalize(void)
{
    call_other(3);
    finalize();
}

/* ---- the owner ---- */

static void begin_owner(void)
{
    pe_begin(2);
    msp_segments[MSP_SEGMENT_FIRST] =
        (struct msp_segment){.base         = (char *)page()->words[pe_place.number],
                             .size_bytes   = sizeof page()->words[0],
                             .partition    = 0,
                             .fd           = -1,
                             .host_touches = true};
}

static void serve(void)
{
    EXPECT(msp_owner_serve(MSP_SEGMENT_FIRST) == MEMSPAN_OK);
    atomic_store_explicit(&page()->is_served, 1, memory_order_release);
    msp_doorbell_notify(1);
    msp_owner_close();
}

static struct msp_target target(void)
{
    return (struct msp_target){.call      = "shmem_putmem",
                               .transport = &msp_transport_owner,
                               .segment   = &msp_segments[MSP_SEGMENT_FIRST],
                               .pe        = 0};
}

/* Each PE serves, as with memory of a partition. */
static void begin_requests(void)
{
    EXPECT(msp_owner_serve(MSP_SEGMENT_FIRST) == MEMSPAN_OK);
    MSP_WAIT(atomic_load_explicit(&page()->is_served, memory_order_acquire) == 1);
}

static void put_and_get(void)
{
    struct msp_target there = target();
    uint64_t value          = 9;
    uint64_t back           = 0;

    begin_requests();
    msp_transport_owner.put(&there, &value, sizeof value, 0);
    msp_transport_owner.order(NULL, true);
    EXPECT(__atomic_load_n(&page()->words[0][0], __ATOMIC_RELAXED) == 9);
    msp_transport_owner.get(&there, &back, sizeof back, 0);
    EXPECT(back == 9);
    msp_owner_close();
}

static void fetch_and_add(void)
{
    struct msp_target there           = target();
    uint64_t old                      = 0;
    struct msp_atomic_request request = {
        .operation = MSP_ATOMIC_ADD, .size_bytes = 8, .value = 1, .fetch = &old};
    int i;

    begin_requests();
    for (i = 0; i < 2; i++) {
        msp_transport_owner.atomic(&there, &request, 0);
        EXPECT(old == (uint64_t)i);
    }
    msp_owner_close();
}

static const struct scenario scenarios[] = {
    {"calls",
     "each call is executed once, before quiet returns",
     begin_calls,
     {call_twice, be_called_twice},
     NULL,
     0,
     false,
     NULL},
    {"calls-both",
     "PEs that call each other both end",
     begin_calls,
     {call_and_be_called, call_and_be_called},
     NULL,
     0,
     false,
     NULL},
    {"calls-full",
     "PEs whose queues are full do not wait for each other",
     begin_calls,
     {fill_and_be_called, fill_and_be_called},
     NULL,
     0,
     false,
     NULL},
    {"calls-threads",
     "one handler runs at a time, in any thread",
     begin_counted_calls,
     {execute, call_twice, idle, execute},
     NULL,
     0,
     true,
     NULL},
    {"calls-stores",
     "what a handler stores is seen after quiet",
     begin_stores,
     {call_and_look, execute_one},
     NULL,
     0,
     false,
     NULL},
    {"calls-finalize",
     "a call that was made before the end is executed",
     begin_calls,
     {finalize, call_and_finalize},
     NULL,
     0,
     false,
     NULL},
    {"owner-put",
     "quiet returns when the put is there",
     begin_owner,
     {serve, put_and_get},
     NULL,
     0,
     false,
     NULL},
    {"owner-atomic",
     "each update is made once",
     begin_owner,
     {serve, fetch_and_add},
     NULL,
     0,
     false,
     NULL},
};
PE_SCENARIOS(scenarios)
