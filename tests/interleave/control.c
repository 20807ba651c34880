/* SPDX-License-Identifier: BSD-3-Clause */
/* control.c: PEs of a host that wait for each other: doorbells, the launcher's barrier. */

#include "pe.h"
#include "shmem/bootstrap/job_file.h"
#include "shmem/control/wait.h"
#include "shmem/job.h"
#include "shmem/transport/segment.h"
#include <stdatomic.h>
#include <string.h>

/* What all PEs share. */
struct page {
    atomic_uint flags[2];
    unsigned data;
    _Alignas(64) struct memspan_launch_header header;
    struct memspan_launch_pe records[PE_COUNT];
};

static struct page *page(void)
{
    return pe_place.page;
}

static void begin(void)
{
    pe_begin(2);
}

/* ---- a flag of the library ---- */

static void wait_for(unsigned flag)
{
    MSP_WAIT(atomic_load_explicit(&page()->flags[flag], memory_order_acquire) == 1);
}

static void tell(unsigned flag, int local_index)
{
    atomic_store_explicit(&page()->flags[flag], 1, memory_order_release);
    msp_doorbell_notify(local_index);
}

static void receive(void)
{
    wait_for(0);
    EXPECT(page()->data == 5);
}

static void send(void)
{
    page()->data = 5;
    tell(0, 0);
}

static void ask(void)
{
    page()->data = 5;
    tell(0, 1);
    wait_for(1);
    EXPECT(page()->data == 6);
}

static void answer(void)
{
    wait_for(0);
    page()->data++;
    tell(1, 0);
}

/* ---- memory of the program, of which the doorbell has the addresses ---- */

static void begin_with_memory(void)
{
    pe_begin(2);
    msp_segments[MSP_SEGMENT_DATA] =
        (struct msp_segment){.base = pe_place.page, .size_bytes = 4096, .host_touches = true};
}

static void wait_until(void)
{
    MSP_WAIT_AT(&page()->flags[0], sizeof page()->flags[0],
                atomic_load_explicit(&page()->flags[0], memory_order_acquire) == 1);
    EXPECT(page()->data == 5);
}

static void put(void)
{
    page()->data = 5;
    atomic_store_explicit(&page()->flags[0], 1, memory_order_release);
    msp_doorbell_notify_at(0, &page()->flags[0], sizeof page()->flags[0]);
}

/* ---- the launcher's barrier ---- */

static void begin_file(void)
{
    pe_begin(PE_COUNT);
    page()->header.pe_count = PE_COUNT;
}

static void barrier_twice(void)
{
    struct msp_job_file file = {&page()->header, sizeof(struct page), -1,
                                (uint32_t)pe_place.number};
    int i;

    for (i = 0; i < 2; i++) {
        if (pe_place.number == i) {
            page()->data = (unsigned)i + 1;
        }
        EXPECT(msp_job_file_barrier(&file) == MEMSPAN_OK);
        EXPECT(page()->data == (unsigned)i + 1);
        EXPECT(msp_job_file_barrier(&file) == MEMSPAN_OK);
    }
}

static const struct scenario scenarios[] = {
    {"doorbell",
     "a PE that sleeps is woken, and sees the data",
     begin,
     {receive, send},
     NULL,
     0,
     false,
     NULL},
    {"doorbell-both",
     "both PEs end, with each other's data",
     begin,
     {ask, answer},
     NULL,
     0,
     false,
     NULL},
    {"doorbell-memory",
     "a put wakes who waits for its address",
     begin_with_memory,
     {wait_until, put},
     NULL,
     0,
     false,
     NULL},
    {"launch-barrier",
     "no PE leaves before the last has come",
     begin_file,
     {barrier_twice, barrier_twice, barrier_twice},
     NULL,
     0,
     false,
     NULL},
};
PE_SCENARIOS(scenarios)
