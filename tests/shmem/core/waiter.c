/* SPDX-License-Identifier: BSD-3-Clause */
/* waiter.c: a thread sleeps only after a poll that follows its transport's last step. */

#include "shmem/bootstrap.h"
#include "shmem/control/doorbell.h"
#include "shmem/control/memory.h"
#include "shmem/control/wait.h"
#include "shmem/device/device.h"
#include "shmem/error.h"
#include "shmem/option.h"
#include "shmem/transport/call.h"
#include "shmem/transport/segment.h"
#include "shmem/transport/transport.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>

struct msp_job msp_job;
struct msp_arena msp_arena;
struct msp_segment msp_segments[MSP_SEGMENT_MAX];

static struct msp_doorbell doorbell;
static struct msp_waiter *current;
static long word;
static unsigned sleeps;
static unsigned steps_until_stored; /* of a sleeper, by the transport */

/* ---- what wait.c needs of the rest ---- */

atomic_bool msp_call_is_on;

bool msp_call_progress_slow(void)
{
    return false;
}

bool msp_device_is_open(int local_index)
{
    (void)local_index;
    return false;
}

bool msp_device_is_silent(void)
{
    return false;
}

long __wrap_syscall(long number, ...);

long __wrap_syscall(long number, ...)
{
    if (number == SYS_futex) {
        cr_assert_eq(word, 0, "it sleeps though the word has come");
        sleeps++;
        errno = ETIMEDOUT;
        return -1;
    }
    return 0;
}

const int *msp_host_pids(void)
{
    return NULL;
}

unsigned msp_host_processor_count(void)
{
    return 1;
}

bool msp_bootstrap_peer_died(const int *pids, int count, int *local_index_p)
{
    (void)pids;
    (void)count;
    (void)local_index_p;
    return false;
}

uint64_t msp_segment_key(const void *address)
{
    return (uint64_t)(uintptr_t)address;
}

void msp_fatal(const char *format, ...)
{
    cr_assert_fail("%s", format);
    abort();
}

bool msp_shmem_option_is_set(enum msp_shmem_option option)
{
    (void)option;
    return false;
}

uint64_t msp_shmem_option_number(enum msp_shmem_option option)
{
    (void)option;
    return 0;
}

/* ---- a transport that stores, and counts nothing ---- */

static bool progress(bool is_wait)
{
    (void)is_wait;
    if (current->announced && (steps_until_stored > 0) && (--steps_until_stored == 0)) {
        word = 1;
    }
    return false;
}

static void nothing(void)
{
}

static void await(unsigned steps)
{
    static const struct msp_transport transport = {
        .progress = progress, .sleeping = nothing, .watch = nothing, .left = nothing};
    static const int pes[]   = {0};
    struct msp_waiter waiter = {.address = &word, .size_bytes = sizeof word};

    msp_job            = (struct msp_job){.pe_count      = 2,
                                          .local_count   = 1,
                                          .local_pes     = pes,
                                          .machine_count = 1,
                                          .transport     = &transport};
    msp_doorbells      = (struct msp_doorbells){.by_index = &doorbell, .is_ordered = true};
    current            = &waiter;
    word               = 0;
    sleeps             = 0;
    steps_until_stored = steps;
    msp_wait_init();
    while (word == 0) {
        msp_wait_step(&waiter);
    }
    msp_wait_end(&waiter);
    cr_expect_eq(atomic_load(&doorbell.memory_sleepers), 0);
}

Test(waiter, polls_before_each_sleep)
{
    for (unsigned steps = 1; steps <= 5; steps++) {
        await(steps);
        cr_expect_eq(sleeps, steps - 1, "%u sleeps, %u steps of the transport", sleeps, steps);
    }
}
